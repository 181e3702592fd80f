"""The value in policies: branch and bound against all pure responses, node by node."""

import itertools
import time
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from numpy.typing import NDArray

import hogeq
from hogeq.search.results import Equilibrium
from hogeq.support.aliases import Floats
from hogeq.support.deadline import Deadline
from hogeq.trees import maxmin, policy_values
from hogeq.trees.beliefs import BeliefDag
from hogeq.trees.boxes import Box, Constraints, Optimum, PolicyPrograms
from hogeq.trees.flat import CHANCE, TERMINAL, FlatTree
from hogeq.trees.maxmin import Maxmin
from hogeq.trees.restricted import Mixed
from hogeq.trees.sequence_payoffs import stakes
from hogeq.trees.sequences import sequence_form
from tests.cli.calls import ask
from tests.slow import fast_and_slow, mostly_slow
from tests.toys import Choice, tree_of
from tests.trees.absent_games import DRIVER
from tests.trees.absent_games import game as text_game
from tests.trees.random_games import random_game
from tests.trees.test_teams import Bits

# --- a second way: every pure response, node by node ----------------------------------------------


def children(tree: FlatTree) -> list[list[int]]:
    found: list[list[int]] = [[] for _ in range(tree.num_nodes)]
    for node, parent in enumerate(tree.parent.tolist()[1:], 1):
        found[parent].append(node)
    return found


def pure_responses(tree: FlatTree, player: int) -> NDArray[np.int64]:
    """Actions of each pure strategy, (m, R); 0 in the other player's rows."""
    ranges = [
        range(int(many) if seat == player else 1)
        for seat, many in zip(tree.seat, tree.num_legal, strict=True)
    ]
    return np.array([*itertools.product(*ranges)])


def secured(tree: FlatTree, policies: Floats, player: int = 0, *, is_whole: bool = False) -> Floats:
    """Least payoff of each policy, (n, R, K), to its player; of game's shares of the stakes.

    Without what comes without a move, unless it is to be the whole payoff.
    """
    below, theirs = children(tree), pure_responses(tree, 1 - player)

    def value(node: int) -> Any:
        mover, row = int(tree.player[node]), int(tree.row[node])
        if mover == TERMINAL:
            return tree.payoff[node] * (1 - 2 * player)
        after = [value(child) for child in below[node]]
        if mover == CHANCE:
            return sum(tree.chance[c] * one for c, one in zip(below[node], after, strict=True))
        if mover == player:
            return sum(policies[:, row, a, None] * one for a, one in enumerate(after))
        return sum((theirs[:, row] == a) * one for a, one in enumerate(after))

    def unmoved(node: int) -> float:
        """Value what nobody can change, which is left out."""
        if tree.player[node] == TERMINAL:
            return float(tree.payoff[node]) * (1 - 2 * player)
        if tree.player[node] != CHANCE:
            return 0.0
        return sum(float(tree.chance[c]) * unmoved(c) for c in below[node])

    left_out = 0.0 if is_whole else unmoved(0)
    every = np.broadcast_to(value(0) - left_out, (len(policies), len(theirs)))
    return np.asarray(every.min(axis=1) / stakes(tree))


def drawn_policies(tree: FlatTree, seed: int, many: int) -> Floats:
    """Policies, of whose rows some are pure."""
    draw = np.random.default_rng(seed)
    rows = draw.exponential(size=(many, *tree.legal.shape)) * tree.legal
    rows /= rows.sum(axis=2, keepdims=True)
    acts = (draw.random((many, tree.num_rows)) * tree.num_legal).astype(int)
    is_pure = draw.random((many, tree.num_rows, 1)) < draw.choice([0.0, 0.3, 0.8], (many, 1, 1))
    return np.where(is_pure, np.eye(tree.num_actions)[acts], rows)


def improved(tree: FlatTree, player: int, seed: int) -> float:
    """Most that a slow search finds: the best of many policies, then ever smaller changes."""
    policies = drawn_policies(tree, seed, 400)
    values = secured(tree, policies, player)
    best, most = policies[values.argmax()], values.max()
    draw = np.random.default_rng(seed)
    for size in np.repeat([0.3, 0.1, 0.03, 0.01, 0.003], 3):
        near = (1.0 - size) * best + size * drawn_policies(tree, int(draw.integers(2**32)), 100)
        values = secured(tree, near, player)
        if values.max() > most:
            best, most = near[values.argmax()], values.max()
    return float(most)


GAMES: Final = [
    tree
    for tree in (tree_of(random_game(seed)) for seed in range(400) if seed != 20)
    if tree.num_rows and {*tree.seat.tolist()} == {0, 1}
]
UNKNOWN: Final = 1e3  # no bound is known


def test_there_are_games_by_the_hundred() -> None:
    forgetful = [tree for tree in GAMES if len(sequence_form(tree, 0).shared_rows)]
    assert len(GAMES) > 200
    assert len(forgetful) > 80


@pytest.mark.parametrize("batch", mostly_slow(range(40), 0))
def test_no_policy_secures_more_than_the_upper_bound(batch: int) -> None:
    proved = 0
    for number, tree in enumerate(GAMES[batch::40]):
        for player in (0, 1):
            found = Maxmin(tree, player, 60.0).solve([], UNKNOWN)
            proved += found.upper - found.lower <= maxmin.SMALL_GAP
            (value,) = secured(tree, found.policy[None], player)
            assert found.lower <= value <= found.lower + 1e-9
            assert improved(tree, player, number) <= found.upper
    assert proved == 2 * len(GAMES[batch::40])


def boxes(search: Maxmin, seed: int) -> tuple[Box, Floats]:
    """Draw a box, and policies in it."""
    share = (0.0, 0.5, 0.9)[seed % 3]
    policies = drawn_policies(search.tree, seed, 30)
    policies = share * policies[:1] + (1.0 - share) * policies
    own = np.where(search.is_own_row[:, None], policies, 0.0)
    return Box(own.min(axis=0), own.max(axis=0)), policies


@pytest.mark.parametrize("games", fast_and_slow([70], [200]))
@pytest.mark.parametrize("is_forged", [False, True])
def test_bounds_and_narrower_boxes_hold_whatever_the_program_says(
    is_forged: bool, games: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Multipliers and the opponent's plan are forged; no policy is lost, and none is above."""
    draw, solve, narrower = np.random.default_rng(0), PolicyPrograms.solve, 0

    def forged(
        self: PolicyPrograms, constraints: Constraints, dag: BeliefDag, seconds: float
    ) -> Optimum | None:
        found = solve(self, constraints, dag, seconds)
        if found is None:
            return None
        size = 10.0 ** draw.integers(-3, 2)
        plan = draw.exponential(size=dag.num_choices)
        return found._replace(
            value=float(draw.normal()),
            opponent_weights=Mixed.of(dag, plan).plan,
            coupling_prices=size * draw.exponential(size=found.coupling_prices.shape),
            equation_prices=size * draw.normal(size=found.equation_prices.shape),
        )

    if is_forged:
        monkeypatch.setattr(PolicyPrograms, "solve", forged)
    for seed, tree in enumerate(GAMES[:games]):
        search = Maxmin(tree, seed % 2, 30.0)
        box, policies = boxes(search, seed)
        found = search.bound_box(box)
        assert found is not None
        values = secured(tree, policies, seed % 2)
        assert values.max() <= found.bound
        search.best_value = float(np.quantile(values, 0.9))
        better = np.where(search.is_own_row[:, None], policies, 0.0)[values > search.best_value]
        left = search.narrow(box, found)
        if left is None:
            assert not len(better)
            continue
        narrower += bool((left.upper - left.lower < box.upper - box.lower - 1e-9).any())
        assert (left.lower <= better).all()
        assert (better <= left.upper).all()
    assert is_forged or narrower > games / 10


def test_a_program_that_fails_leaves_the_bound_that_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tree = next(tree for tree in GAMES if len(sequence_form(tree, 0).shared_rows))
    monkeypatch.setattr(PolicyPrograms, "solve", lambda *_args, **_options: None)
    found = Maxmin(tree, 0, 0.2).solve([], 2.0)
    assert found.upper == 2.0
    assert found.lower <= secured(tree, found.policy[None])[0]


def test_a_lottery_beside_a_game_counts(tmp_path: Path) -> None:
    """Half of the plays pay 9 without a move, the others matching pennies for 1: 9/2."""
    path = tmp_path / "lottery.efg"
    path.write_text(
        'EFG 2 R "lottery" { "a" "b" }\nc "" 1 "" { "l" 1/2 "g" 1/2 } 0\nt "" 1 "" { 9 -9 }\n'
        'p "" 1 1 "" { "h" "t" } 0\np "" 2 1 "" { "h" "t" } 0\nt "" 2 "" { 1 -1 }\n'
        't "" 3 "" { -1 1 }\np "" 2 1 "" { "h" "t" } 0\nt "" 3\nt "" 2\n'
    )
    found = hogeq.Game(path).in_policies(20.0)
    assert found.second is not None
    for side in (found, found.second):
        assert side.lower <= 4.5 <= side.upper
        assert side.upper - side.lower <= 1e-5


@pytest.mark.slow
def test_bounds_hold_whenever_the_time_ends() -> None:
    """The clock stops after so many looks at it."""
    tree = next(tree for tree in GAMES if len(sequence_form(tree, 0).shared_rows) > 1)
    whole = Maxmin(tree, 0, 20.0).solve([], UNKNOWN)
    for looks in range(1, 60, 3):
        ticks = map(float, itertools.count())
        limit = Deadline(float(looks), ticks.__next__)
        found = Maxmin(tree, 0, limit).solve([], UNKNOWN)
        assert found.lower <= whole.upper
        assert found.upper >= whole.lower


@pytest.mark.parametrize("games", fast_and_slow([8], [20]))
def test_an_opponent_without_a_dag_answers_by_a_growing_pool(
    games: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = [Maxmin(tree, 0, 5.0).solve([], UNKNOWN) for tree in GAMES[:games]]
    monkeypatch.setattr(maxmin, "whole_dag", lambda *_args, **_options: None)
    for tree, whole in zip(GAMES, known, strict=False):
        found = Maxmin(tree, 0, 5.0).solve([], UNKNOWN)
        assert found.upper - found.lower <= maxmin.SMALL_GAP
        assert found.lower == pytest.approx(whole.lower, abs=2e-6)


# --- games with known values ----------------------------------------------------------------------


def wichardt() -> hogeq.Game:
    """Game of P. C. Wichardt, GEB 63, 2008: who picks another side the second time loses 5."""

    def last(first: int, second: int) -> Any:
        won = 1.0 if first else -1.0
        ends = (won, -won) if first == second else (-5.0, -5.0)
        return Choice(1, 0, ends)

    seconds = (Choice(0, 1, (last(first, 0), last(first, 1))) for first in (0, 1))
    return hogeq.Game(tree_of(Choice(0, 0, tuple(seconds))))


def test_wichardts_player_secures_less_than_1_by_no_policy() -> None:
    """By hand: pure policies lose 1. Picking R with p, then with q, both others lose 5 at times."""
    found = wichardt().in_policies(10.0)
    assert found.is_proved
    assert (found.lower, found.upper) == pytest.approx((-1.0, -1.0), abs=1e-5)
    assert found.price == pytest.approx((1.0, 1.0), abs=1e-5)
    assert found.mixtures.lower == pytest.approx(0.0, abs=1e-9)
    assert found.second is not None
    assert found.second.is_proved
    assert found.second.upper == pytest.approx(0.0, abs=1e-5)  # matching pennies
    assert found.second.price == pytest.approx((0.0, 0.0), abs=1e-5)


@pytest.mark.slow
def test_a_team_of_bits_secures_a_quarter() -> None:
    """By hand: both say 1 with chance p, and the last player the rarer bit: 1/4 at most."""
    found = hogeq.Game(Bits(), teams="01/2").in_policies(60.0)
    assert found.is_proved
    assert found.lower <= 0.25 + 1e-12 <= found.upper + 2e-12
    assert found.price == pytest.approx((0.25, 0.25), abs=1e-5)
    assert found.method == "branch and bound"
    assert found.effort["boxes"] > 0


def test_two_coins() -> None:
    """1/2 - 1/216, by hand in docs/mixtures.md."""
    rules = {
        "goal": 4,
        "max_dice": 2,
        "sides": 2,
        "zero_dice": "alternating_cube_digits",
        "time_trot": True,
        "time_trot_period": 2,
    }
    game = hogeq.Game(rules)
    found = game.in_policies(60.0)
    assert found.is_proved
    assert found.lower <= 1 / 2 - 1 / 216 <= found.upper
    assert found.price == pytest.approx((1 / 216, 1 / 216), abs=1e-6)
    assert found.second is None
    attack = game.attack(found.strategy)
    assert attack.win_rate == pytest.approx(1.0 - found.lower, abs=1e-9)


@pytest.mark.usefixtures("in_folder")
def test_an_absent_minded_driver() -> None:
    """4/3: Piccione and Rubinstein 1997."""
    found = text_game(DRIVER.format(last=1)).in_policies(10.0)
    assert found.lower == pytest.approx(4 / 3, abs=1e-5)
    assert found.upper == pytest.approx(4 / 3, abs=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ranks", "teams", "value", "price"),
    [
        (3, "01/2", 0.0, 0.0),
        (3, "02/1", 0.0, 0.0),
        (3, "12/0", 0.0, 0.0),
        (4, "01/2", -1 / 24, 0.0),
        (4, "02/1", 0.026515152, 0.0028323),
        (4, "12/0", 5 / 132, 1 / 704),
    ],
)
def test_kuhn_poker_of_three(ranks: int, teams: str, value: float, price: float) -> None:
    """Values in mixtures are those of docs/teams.md; policies are checked by another response."""
    game = hogeq.Game(f"3K{ranks}", teams=teams)
    found = game.in_policies(300.0)
    assert found.is_proved
    assert found.mixtures.lower == pytest.approx(value, abs=1e-8)
    assert found.price == pytest.approx((price, price), abs=3e-6)
    answer = game.attack(found.profile)
    assert -answer.seats[1] == pytest.approx(found.lower, abs=1e-9)


# --- as users meet it -----------------------------------------------------------------------------


@pytest.mark.slow
def test_the_time_is_kept() -> None:
    game = hogeq.Game("3K6", teams="02/1")
    game.in_policies(0.5)  # compiles, and lays the game out
    begun = time.perf_counter()
    found = game.in_policies(4.0)
    assert time.perf_counter() - begun < 1.5 * 4.0  # others use the machine too
    assert found.lower < found.upper


def test_the_command_says_both_sides() -> None:
    found = ask("equilibrium", "--game", "kuhn_poker", "--policies", "--seconds", "5")
    one, two = found["in_policies"], found["in_policies"]["second"]
    for side in (one, two):
        assert side["proved"] is True
        assert side["lower"] <= -1 / 18 + 1e-9
        assert side["upper"] >= -1 / 18 - 1e-9
        assert side["price"][0] == 0.0
        assert side["price"][1] < 1e-6
        assert side["boxes"] >= 0
    assert "second" not in two


@pytest.mark.slow
def test_games_of_hog_that_are_too_large_are_refused() -> None:
    with pytest.raises(
        ValueError, match=r"too many histories.*allowed: games of at most 1,000,000"
    ):
        hogeq.Game("su20").in_policies(1.0)
    with pytest.raises(ValueError, match="seconds"):
        hogeq.Game("kuhn_poker").in_policies(-1.0)


def test_results_lie_in_order() -> None:
    found = hogeq.Game("kuhn_poker").in_policies(5.0)
    assert isinstance(found.mixtures, Equilibrium)
    assert [name for name, *_ in found.rows()] == 2 * [
        "lower, policies",
        "upper, policies",
        "price",
    ]
    assert "in_policies" not in found.to_json()
    assert repr(found).startswith("InPolicies(-0.05")


def test_ends_are_proved_by_themselves_and_not_by_the_search(
    in_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A payoff of 1e300 beside chance 0 put the upper end at 5e283, and both were called proved."""
    (in_folder / "never.efg").write_text(
        """EFG 2 R "never" { "a" "b" } c "" 1 "" { "x" 0 "y" 1 } 0
        p "" 1 1 "" { "l" "r" } 0 t "" 1 "" { 1e300 -1e300 } t "" 2 "" { 5 -5 }
        p "" 1 2 "" { "l" "r" } 0 t "" 3 "" { 1/7 -1/7 } t "" 4 "" { 1/3 -1/3 }"""
    )
    game = hogeq.Game("never.efg")
    found = game.in_policies(5.0)
    assert found.is_proved
    assert 1 / 3 <= found.upper <= 1 / 3 + 1e-7
    assert game.certify("uniform", 0.1, "never.efg").bound < 1.0
    monkeypatch.setattr(policy_values, "_missed_by_centring", lambda _: Fraction(1))
    found = game.in_policies(5.0)
    assert found.upper > 1.3
    assert not found.is_proved
