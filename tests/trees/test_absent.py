"""Absent-minded decisions: random trees against a twin in fractions, bounds and their proofs."""

import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

import hogeq
from hogeq.solvers import dags
from hogeq.support.aliases import Floats
from hogeq.support.deadline import Deadline
from hogeq.trees import absent
from hogeq.trees.absent import Decision
from hogeq.trees.building import Node, flatten
from hogeq.trees.flat import TERMINAL, FlatTree, payoff, reach
from hogeq.trees.strategies import meeting_probabilities, tree_strategy
from tests.cli.calls import ok
from tests.slow import fast_and_slow
from tests.trees.absent_games import DRIVER, EXTENDED, FIGURE_3, drawn, game, tree_of
from tests.trees.absent_twin import Problem

pytestmark = pytest.mark.usefixtures("in_folder")


def random_policy(tree: FlatTree, random: Any) -> Floats:
    weights = random.random((tree.num_rows, tree.num_actions)) * tree.legal
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("seed", fast_and_slow(range(4), range(4, 20)))
def test_a_play_meets_a_row_or_does_not(seed: int, problems: Any) -> None:
    """By the list of all plays, each with the set of rows that it meets."""
    tree = drawn(problems, seed, most=5, sets=2)
    policy = random_policy(tree, np.random.default_rng(seed))
    come, expected = reach(tree, policy), np.zeros(tree.num_rows)
    for end in np.flatnonzero(tree.player == TERMINAL).tolist():
        rows, node = set[int](), int(tree.parent[end])
        while node >= 0:
            rows.add(int(tree.row[node]))
            node = int(tree.parent[node])
        expected[[*(rows - {-1})]] += come[end]
    one = tree_strategy(tree, policy)
    assert meeting_probabilities(tree, one, one) == pytest.approx(expected, abs=1e-12)
    visits = np.bincount(tree.row[tree.row >= 0], come[tree.row >= 0], tree.num_rows)
    assert (expected <= visits + 1e-12).all()
    assert seed or (expected < visits - 1e-3).any()


def both(
    seed: int, most: int = 2, depth: int = 4, sets: int = 1, scale: float = 1.0, above: float = 0.0
) -> FlatTree:
    """Draw a game of players who see the number of actions and one of some sets, no more."""

    def look(path: tuple[int, ...]) -> Node:
        draw = np.random.default_rng([seed, *(1 + place for place in path)])
        if len(path) == depth:
            payoff = above + scale * float(draw.integers(9))
            return Node(TERMINAL, payoffs=(payoff, -payoff))
        mover, width, key = (int(draw.integers(*one)) for one in ((-1, 2), (2, most + 1), (sets,)))
        moves = [(place, 1 / width, (*path, place)) for place in range(width)]
        return Node(mover, f"{width}, {key}" if mover >= 0 else None, moves=moves)

    return flatten("both", (), look, lambda moves: [*map(str, moves)])


@pytest.mark.parametrize("seed", fast_and_slow(range(1), range(1, 20)))
def test_no_policy_of_a_grid_beats_an_equilibrium(seed: int) -> None:
    """The twin: every policy of a grid against each mixture, and the program of the whole grid."""
    tree = both(seed)
    if {*tree.seat.tolist()} != {0, 1}:
        return
    solved = dags.solve_tree(tree, Deadline(10.0, time.process_time))  # some 4 s
    shares = np.linspace(0.0, 1.0, 41)
    every = [np.array([[one, 1.0 - one]] * 2) for one in shares]
    worth = np.array([[payoff(tree, one, two) for two in every] for one in every])
    first, second = solved.strategies
    drawn = [*zip(first.chances, first.policies, strict=True)]
    for policy in every:
        assert sum(w * payoff(tree, one, policy) for w, one in drawn) >= solved.lower - 1e-12
    drawn = [*zip(second.chances, second.policies, strict=True)]
    for policy in every:
        assert sum(w * payoff(tree, policy, one) for w, one in drawn) <= solved.upper + 1e-12
    ends = np.append(np.zeros(41), -1.0), np.append(np.ones(41), 0.0)[None]
    limits = [*[(0.0, None)] * 41, (None, None)]
    above = np.column_stack([-worth.T, np.ones(41)])
    found = linprog(ends[0], above, np.zeros(41), *(ends[1], [1.0]), limits)
    assert solved.lower - 1e-2 <= -found.fun <= solved.upper + 1e-2
    assert solved.upper - solved.lower <= 1e-6


def test_gaps_of_two_players_sum_to_nash_conv() -> None:
    """NashConv is what both gain by best responses (Lanctot et al., NIPS 2017)."""
    game = hogeq.Game("kuhn_poker")
    first, second = game.gaps("uniform")
    gained = first.ex_ante[0] + second.ex_ante[0]
    assert gained == pytest.approx(2.0 * game.exploitability("uniform").lower)
    assert first.kkt == pytest.approx(first.edt[1])  # no row is met twice
    nothing = game.gaps(game.joined(*game.equilibrium().strategies))[0]
    assert max(nothing.kkt, nothing.edt[1], nothing.ex_ante[1]) < 1e-8


@pytest.mark.parametrize("chance", [1e-322, 3e-323, 7e-323, 1.3e-322])
def test_gaps_below_the_smallest_double_lie_between_their_ends(chance: float) -> None:
    """Where the second player comes with a tiny chance, the first one loses 2/3 of its payoff."""
    lines = [
        'EFG 2 R "tiny" { "P1" "P2" }',
        'p "" 2 1 "second" { "on" "end" } 0',
        'p "" 1 1 "first" { "best" "worst" } 0',
        't "" 1 "" { 1, -1 }',
        't "" 2 "" { 0, 0 }',
        't "" 3 "" { 0, 0 }',
    ]
    Path("tiny.efg").write_text("\n".join(lines))
    tree = hogeq.TreeGame("tiny.efg").tree
    rows = {seat: [1.0 / 3.0, 2.0 / 3.0] if seat == 0 else [chance, 1.0] for seat in (0, 1)}
    found = hogeq.Game(tree).gaps(np.array([rows[seat] for seat in tree.seat.tolist()]))[0]
    total = Fraction(repr(chance)) + 1  # rows are divided by their sums
    gain = Fraction(2, 3) * Fraction(repr(chance)) / total
    for least, most in (found.edt, found.ex_ante, found.cdt):
        assert Fraction(least) <= gain * (1 + Fraction(1, 2**100))
        assert gain * (1 - Fraction(1, 2**100)) <= Fraction(most)


@pytest.mark.parametrize("seed", fast_and_slow(range(5), range(5, 15)))
def test_payoffs_and_derivatives(seed: int, problems: Any) -> None:
    random, tree = np.random.default_rng(seed), drawn(problems, seed, most=5)
    policy = random_policy(tree, random)
    decision, twin = Decision.of(tree, policy), Problem(tree, 0, policy)
    assert decision.value(policy) == pytest.approx(float(twin.value(policy)))
    _, slopes, gaps = decision.values(policy[..., None])
    step = 1e-6
    for row in decision.own_rows:
        assert decision.visits[row] == twin.visits()[row]
        for action in np.flatnonzero(tree.legal[row]):
            moved = [policy.copy(), policy.copy()]
            for sign, one in zip((-1, 1), moved, strict=True):
                one[row, action] += sign * step
            down, up = map(decision.value, moved)
            assert slopes[row, action, 0] == pytest.approx((up - down) / (2 * step), abs=1e-6)
        best = slopes[row, tree.legal[row], 0].max()
        assert gaps[row, 0] == pytest.approx(best - policy[row] @ slopes[row, :, 0])


def grid(tree: FlatTree, parts: int) -> Iterator[Floats]:
    """Policies whose probabilities are multiples of 1 / parts."""
    rows = [
        [one for one in product(range(parts + 1), repeat=int(count)) if sum(one) == parts]
        for count in tree.num_legal
    ]
    for chosen in product(*rows):
        policy = np.zeros((tree.num_rows, tree.num_actions))
        for row, one in enumerate(chosen):
            policy[row, : len(one)] = np.array(one) / parts
        yield policy


# Of 31 the bound is loose until a row that is met once is pinned.
@pytest.mark.parametrize("seed", [31, *fast_and_slow(range(6), range(6, 31))])
def test_no_policy_of_a_grid_is_better(seed: int, problems: Any) -> None:
    width, sets = (3, 1) if seed == 0 else (2, 1 + seed % 2)
    tree = drawn(problems, seed, width=width, sets=sets, most=5)
    decision, twin = Decision.of(tree, tree.uniform()), Problem(tree, 0, tree.uniform())
    solved = decision.solve(5.0)
    assert solved.value == pytest.approx(float(twin.value(solved.policy)), abs=1e-12)
    best = max(map(decision.value, grid(tree, 12 if tree.num_rows > 1 else 200)))
    assert best - 1e-12 <= solved.value <= solved.bound
    assert solved.bound <= solved.value + 1e-3  # most are closed, and all nearly
    assert decision.solve(0.0).bound >= solved.value - 1e-12


@pytest.mark.parametrize("seed", fast_and_slow(range(8), range(8, 40)))
def test_no_policy_in_a_box_exceeds_its_bound(seed: int, problems: Any) -> None:
    """Pinned rows that are met once bound all of their free selves, too."""
    random = np.random.default_rng(seed)
    tree = drawn(problems, seed, most=5, width=3, sets=1 + seed % 3)
    decision = Decision.of(tree, tree.uniform())
    for size in (1.0, 0.3, 0.01):
        points = np.stack([random_policy(tree, random) for _ in range(50)], axis=2)
        points = points[..., :1] + size * (points - points[..., :1])
        lower, upper = points.min(axis=2), points.max(axis=2)
        bound = decision.bound_boxes(lower[..., None], upper[..., None])[0][0]
        worth = decision.values(points)[0]
        assert worth.max() <= bound + 1e-12
        if size < 0.1:  # by the square of the width
            assert bound <= worth.max() + 0.1


@pytest.mark.parametrize("seed", fast_and_slow(range(8), range(8, 40)))
def test_steps_prove_the_bound_in_fractions(seed: int, problems: Any) -> None:
    tree = drawn(problems, seed, width=2 + seed % 2, sets=1 + seed % 2)
    decision = Decision.of(tree, tree.uniform())
    solved = decision.solve(0.05)
    assert len(solved.steps) < 2000
    steps = solved.steps[:40]
    proved = float(Problem(tree, 0, tree.uniform()).proved(steps))
    # A part of the steps proves less.
    assert (proved <= solved.bound + 1e-12) or len(steps) < len(solved.steps)
    assert proved >= solved.value - 1e-12


def scaled(seed: int) -> tuple[FlatTree, Floats, Any]:
    """Draw a game with payoffs of any size, a policy of both players, and a generator."""
    random = np.random.default_rng([1, seed])
    most, sets = int(random.integers(2, 4)), int(random.integers(1, 3))
    scale = float(10.0 ** random.integers(-6, 7))
    above = float(random.choice([0.0, -4.0, 100.0])) * scale
    depth = int(random.integers(3, 6 if most == 2 else 5))
    tree = both(seed + 1000, most, depth, sets, scale, above)
    return (tree, random_policy(tree, random), random) if tree.num_rows else scaled(seed + 10_000)


def climbed(worth: Callable[[Floats], float], policy: Floats, rows: Any, legal: Any) -> float:
    """Climb by differences, one action of one row at a time: the best payoff on the way."""
    best, step = worth(policy), 0.5
    while step > 1e-3:
        moves = []
        for row in rows:
            for action in np.flatnonzero(legal[row]):
                moved = policy.copy()
                moved[row] *= 1.0 - step
                moved[row, action] += step
                moves.append((worth(moved), moved))
        top, moved = max(moves, key=lambda one: one[0])
        policy, step = (moved, step) if top > best else (policy, step / 2.0)
        best = max(best, top)
    return best


@pytest.mark.parametrize("seed", fast_and_slow(range(6), range(6, 400)))
def test_no_policy_beats_a_bound(seed: int) -> None:
    """The attack: random policies, pure ones and climbs, in payoffs of the tree itself."""
    tree, policy, random = scaled(seed)
    player = int(random.choice(tree.seat))
    own = np.flatnonzero(tree.seat == player)
    decision = Decision.of(tree, policy, player)

    def worth(one: Floats) -> float:
        first, second = (one, policy) if player == 0 else (policy, one)
        paid = payoff(tree, first, second)
        return paid if player == 0 else 2.0 * tree.shift - paid

    def moved(rows: Floats) -> Floats:
        return np.where(tree.seat[:, None] == player, rows, policy)

    tries = [moved(random_policy(tree, random)) for _ in range(40)]
    eye = np.eye(tree.num_actions)
    tries += [moved(eye[random.integers(tree.num_legal)]) for _ in range(40)]
    best = max(map(worth, tries))
    for one in (max(tries, key=worth), tries[0], moved(tree.uniform())):
        best = max(best, climbed(worth, one, own, tree.legal))
    slack = 1e-12 * decision.unit + 1e-15 * float(np.abs(decision.payoffs).max())
    for seconds in (0.0, 0.1):
        solved = decision.solve(seconds)
        assert worth(moved(solved.policy)) == pytest.approx(solved.value, abs=slack, rel=1e-12)
        assert max(best, solved.value) <= solved.bound + slack
    rows = own[random.random(len(own)) < 0.5]  # the others stay as they are
    found = decision.solve(0.05, policy, rows)
    assert climbed(worth, policy, rows, tree.legal) <= found.bound + slack if len(rows) else True


@pytest.mark.parametrize("seed", fast_and_slow(range(3), range(3, 150)))
def test_steps_prove_the_bound_of_payoffs_of_any_size(seed: int) -> None:
    """Against others' policies, and far from 0: in fractions no more is proved than the bound."""
    tree, policy, random = scaled(seed)
    twin = Problem(tree, int(random.choice(tree.seat)), policy)
    if tree.num_nodes > 120:
        return
    decision = Decision.of(tree, policy, twin.player)
    solved = decision.solve(0.05)
    steps = solved.steps[:12]
    true = twin.proved(steps)
    assert true >= twin.value(solved.policy)
    if len(steps) == len(solved.steps):
        assert float(true) <= solved.bound + 1e-12 * max(decision.unit, abs(solved.bound))


def test_a_twin_finds_a_false_proof() -> None:
    tree = tree_of(DRIVER.format(last=1))
    solved = Decision.of(tree, tree.uniform()).solve(5.0)
    twin = Problem(tree, 0, tree.uniform())
    assert float(twin.proved(solved.steps)) == pytest.approx(solved.bound, abs=1e-12)
    assert float(twin.proved(solved.steps[:-5])) > solved.bound + 1e-10
    first, *others = solved.steps
    for wrong in (
        [first._replace(action=-1)],  # pure is not enough
        [first._replace(action=-2)],
        [first._replace(action=2)],
        [first._replace(cut=1.0)],
        [first._replace(cut=np.nan)],
        [first._replace(row=1)],
        [first._replace(leaf=-1)],
        [first, first],
        others,
    ):
        with pytest.raises(ValueError, match="step "):
            twin.proved(wrong)


def test_leaves_too_thin_to_halve_keep_their_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing is halved the bound of the root is all that is proved."""
    tree = tree_of(DRIVER.format(last=1))
    decision = Decision.of(tree, tree.uniform())
    root = float(Problem(tree, 0, tree.uniform()).proved([]))
    monkeypatch.setattr(absent, "THIN", 1.0)
    solved = decision.solve(1.0)
    assert solved.steps == []
    assert solved.bound == pytest.approx(root, abs=1e-11)
    assert solved.bound > solved.value + 0.1
    monkeypatch.setattr(absent, "THIN", 0.3)
    thin = decision.solve(1.0)
    assert 4 / 3 < thin.bound < solved.bound
    assert thin.bound > thin.value + 1e-6


def test_two_players_answer_each_other() -> None:
    """The driver meets a second player, who blocks the second exit or not and sees nothing."""
    text = """node / player 1 actions exit on
node /P1:exit leaf payoffs 1=0 2=0
node /P1:on player 1 actions exit on
node /P1:on/P1:exit player 2 actions block open
node /P1:on/P1:exit/P2:block leaf payoffs 1=-2 2=2
node /P1:on/P1:exit/P2:open leaf payoffs 1=4 2=-4
node /P1:on/P1:on leaf payoffs 1=1 2=-1
infoset highway nodes / /P1:on
infoset gate nodes /P1:on/P1:exit
"""
    made = game(text)
    assert made.tree is not None
    found = made.attack(np.array([[0.5, 0.5], [0.0, 1.0]]))
    # The driver meets an open gate: 4/3. The gatekeeper meets 1/2: 2/4 - 1/4.
    assert found.is_proved
    assert found.seats == pytest.approx((4 / 3, 1 / 4))
    assert found.strategy.policy[0] == pytest.approx([1 / 3, 2 / 3], abs=1e-5)
    assert found.strategy.policy[1] == pytest.approx([1.0, 0.0])
    # Against a gate that is open half of the time, the middle of both payoffs counts: 1.
    half = made.attack(hogeq.Mixture([0.5, 0.5], [[[1, 0], [1, 0]], [[1, 0], [0, 1]]]))
    assert half.seats[0] == pytest.approx(1.0)  # x(1 - x) + xx: on for ever
    # On for ever gets 1; a gate blocked with 1/3 or more allows x(1 - x)c + xx, c <= 2: no more.
    solved = made.equilibrium(5.0)
    assert solved.is_proved
    assert (solved.lower, solved.upper) == pytest.approx((1.0, 1.0), abs=1e-8)
    with pytest.raises(
        ValueError, match="allowed: auto or columns, where an information set can be met twice"
    ):
        made.equilibrium(1.0, "cfr")


LINEAR: list[Callable[[hogeq.Game], Any]] = [
    lambda made: made.solve("cfr", 1),
    lambda made: made.solve("bundle", 1),
    lambda made: made.purify("uniform"),
    lambda made: made.diff("uniform", "uniform"),
    lambda made: made.engine,
]


@pytest.mark.parametrize("ask", LINEAR)
def test_what_needs_linear_rows_refuses(ask: Callable[[hogeq.Game], Any]) -> None:
    with pytest.raises(ValueError, match="allowed: games without absent-mindedness"):
        ask(game(DRIVER.format(last=1)))


def test_payoffs_far_from_0_keep_their_digits() -> None:
    text = DRIVER.format(last=1).replace("1=0", "1=1000000000000").replace("1=4", "1=1000000000004")
    found = game(text.replace("1=1\n", "1=1000000000001\n")).equilibrium(2.0)
    assert found.is_proved
    assert found.strategies[0].policies[0, 0] == pytest.approx([1 / 3, 2 / 3], abs=1e-4)


def test_an_audit_names_the_rows_that_are_met_again() -> None:
    found = game(EXTENDED).audit()[0]
    assert found.met_again == {"highway": 3}
    assert found.to_json()["absent_minded"]["infosets"] == {"highway": 3}
    text = ok("audit", "--game", "problem.txt")
    assert "Player 0 can meet again in a play, at most so often: highway (3 times)\n" in text
    assert game(FIGURE_3).audit()[0].met_again == {}


@pytest.mark.parametrize("seed", fast_and_slow(range(4), range(4, 20)))
def test_absent_minded_players_answer_a_policy(seed: int) -> None:
    """In games of two who may meet anything again, each response is as good as a grid's."""
    random, tree = np.random.default_rng(seed), both(seed)
    if {*tree.seat.tolist()} != {0, 1}:
        return
    target = random_policy(tree, random)
    found = hogeq.Game(tree).attack(target)
    assert found.is_proved
    for player in (0, 1):
        policies = []
        for share in np.linspace(0.0, 1.0, 501):
            policy = target.copy()
            policy[tree.seat == player] = share, 1.0 - share
            policies.append(policy)
        sign = 1 - 2 * player
        worth = [sign * payoff(tree, one, one) + 2 * player * tree.shift for one in policies]
        assert max(worth) - 1e-9 <= found.seats[player] <= max(worth) + 1e-3
