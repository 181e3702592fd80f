"""One Game for every game: the same lines on Hog, games of OpenSpiel, files and own rules."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hogeq
from hogeq.strategies.arrays import StrategyError
from hogeq.support.aliases import Floats
from tests.own_rules import Moves, Pennies
from tests.refusals import refuses

pytest.importorskip("pyspiel", reason="needs the extra 'openspiel'")

SU20 = {"edition": "su20", "goal": 12, "max_dice": 3}
TINY = {"edition": "su20", "goal": 5, "max_dice": 2}
QUICK = hogeq.Budget(starts=2, kicks=2)
FORGETFUL = """EFG 2 R "two rooms" { "hider" "seeker" }
c "" 1 "" { "left" 1/2 "right" 1/2 } 0
p "" 1 1 "dark" { "stay" "go" } 0
p "" 2 1 "door" { "here" "there" } 0
t "" 1 "" { 1, -1 }
t "" 2 "" { -1, 1 }
p "" 2 1 "door" { "here" "there" } 0
t "" 2 "" { -1, 1 }
t "" 1 "" { 1, -1 }
p "" 1 1 "dark" { "stay" "go" } 0
p "" 2 2 "window" { "here" "there" } 0
t "" 2 "" { -1, 1 }
t "" 1 "" { 1, -1 }
p "" 2 2 "window" { "here" "there" } 0
t "" 1 "" { 1, -1 }
t "" 2 "" { -1, 1 }
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "rooms.efg"
    path.write_text(FORGETFUL)
    return str(path)


def ten_lines(given: Any, **options: Any) -> hogeq.Game:
    """Solve, evaluate, attack, purify and bound: nothing in here says which kind of game it is."""
    game = hogeq.Game(given, **options)
    solved = game.solve("cfr_plus", iterations=5)
    alike = game.value(solved.policy, solved.policy)
    response = game.attack(solved.policy, QUICK)
    interval = game.exploitability(solved.policy, QUICK)
    matrix = game.purify(solved.policy)
    against = game.value(response.strategy, solved.policy)
    equilibrium = game.equilibrium(seconds=5)
    players = game.audit()
    again = game.strategy(hogeq.Mixture([0.25, 0.75], [matrix, solved.policy]))
    assert alike.mean == pytest.approx(game.units.even, abs=1e-12)
    assert against.mean == pytest.approx(response.value, abs=1e-9)
    assert response.seats == pytest.approx((against.first, against.second), abs=1e-9)
    assert response.value <= response.bound == game.attack(solved.policy, QUICK).bound
    lower, upper = response.ends
    assert (interval.lower, interval.upper) == pytest.approx(
        (lower - game.units.even, upper - game.units.even), abs=1e-12
    )
    assert equilibrium.lower <= equilibrium.upper
    assert matrix.kind == "matrix"
    assert {one.findings.keys() == players[0].findings.keys() for one in players} == {True}
    mixed = game.value(again, solved.policy).mean
    parts = game.value(matrix, solved.policy).mean, alike.mean
    assert mixed == pytest.approx(0.25 * parts[0] + 0.75 * parts[1], abs=1e-12)
    for result in (response, interval, equilibrium, solved):
        assert result.rows()
        json.dumps(result.to_json(), allow_nan=False)
    return game


def test_the_same_lines_run_on_hog_with_hidden_memory() -> None:
    game = ten_lines(SU20)
    assert isinstance(game, hogeq.Hog)
    assert not hasattr(game, "tree")
    assert repr(game).startswith("Game(su20")


def test_the_same_lines_run_on_a_game_of_openspiel() -> None:
    game = ten_lines("kuhn_poker")
    assert repr(game) == "Game(kuhn_poker(): 58 nodes, 12 infosets)"
    assert not isinstance(game, hogeq.Hog)
    allowed = "games of Hog and games held by their positions"
    refuses(lambda: game.reach("uniform"), rf"^kuhn_poker\(\): has no reach; allowed: {allowed}$")


@pytest.mark.parametrize("forget", [None, "own_actions"])
def test_the_same_lines_run_on_a_file(file: str, forget: str | None) -> None:
    ten_lines(file, forget=forget)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["fa25", "leduc_poker", "liars_dice_ir(dice_sides=3)"])
def test_the_same_lines_run_on_games_of_full_size(name: str) -> None:
    ten_lines(name)


def test_a_name_is_a_path_before_an_edition_before_a_game_of_openspiel(
    file: str, in_folder: Path
) -> None:
    assert hogeq.Game("fa22").rules.name == "fa22"
    (in_folder / "kuhn_poker").write_text("{edition: su20, goal: 6, max_dice: 2}")
    assert hogeq.Game("kuhn_poker").rules.goal == 6
    assert hogeq.Game("openspiel:kuhn_poker").name == "kuhn_poker()"
    (in_folder / "UPPER.EFG").write_text(FORGETFUL)
    assert hogeq.Game("UPPER.EFG").tree.num_nodes == 15
    for wrong, near in (("leduc_pokr", "leduc_poker"), ("su2", "su2")):
        with pytest.raises(ValueError, match=f"got '{wrong}'; allowed: .*{near}") as refused:
            hogeq.Game(wrong)
        assert "\n" not in str(refused.value)
    with pytest.raises(ValueError, match="forget: got 'order'; allowed: for games other than Hog"):
        hogeq.Game("fa22", forget="order")


# --- Hog, exactly ---------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_program_finds_the_best_response_in_hog(seed: int) -> None:
    """In a tiny game all matrices can be listed."""
    game = hogeq.Game({"edition": "su20", "goal": 3, "max_dice": 1})
    random = np.random.default_rng(seed)
    target = game.strategy(random.dirichlet(np.ones(2), (3, 3)))
    rates = [
        game.win_rate(np.array(list(f"{number:09b}"), int).reshape(3, 3), target).win_rate
        for number in range(2**9)
    ]
    found = game.attack(target, hogeq.Budget(starts=1, anneal_steps=0, kicks=0, exact_seconds=20.0))
    assert found.is_proved
    assert found.value == pytest.approx(max(rates), abs=1e-9)
    assert game.win_rate(found.strategy, target).win_rate == pytest.approx(found.value, abs=1e-9)
    assert found.bound <= found.full_memory + 1e-12


def test_a_program_narrows_an_interval_of_hog() -> None:
    game = hogeq.Game(TINY)
    target = game.strategy("always_roll:1")
    searched = game.attack(target)
    exact = game.attack(target, hogeq.Budget(exact_seconds=30.0))
    assert exact.value >= searched.value
    assert exact.bound <= searched.bound
    assert exact.is_proved


@pytest.mark.parametrize(("method", "proves"), [("integer program", False), ("belief DAG", True)])
def test_what_highs_alone_bounds_is_not_proved_in_hog(
    method: str, proves: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = hogeq.Game(TINY)
    searched = game.attack("always_roll:1", QUICK)
    loose = replace(searched, bound=searched.value + 0.1, is_proved=False)
    payoff = 2.0 * searched.value - 1.0
    tight = replace(searched, value=payoff, bound=payoff, method=method)
    monkeypatch.setattr("hogeq.search.bounds.respond_in_hog", lambda *_: loose)
    monkeypatch.setattr("hogeq.trees.responses.respond_in_both_seats", lambda *_, **__: tight)
    found = game.attack("always_roll:1", hogeq.Budget(exact_seconds=30.0))
    assert found.method == method
    assert found.bound == pytest.approx(searched.value, abs=1e-12)
    assert found.is_proved is proves


@pytest.mark.slow
def test_a_game_of_hog_with_too_many_histories_is_refused() -> None:
    with pytest.raises(ValueError, match="exact_seconds: a game to 100 has too many histories"):
        hogeq.Game("su20").attack("always_roll:6", hogeq.Budget(1, 1, kicks=0, exact_seconds=1.0))


@pytest.mark.parametrize(
    ("rules", "method"), [(TINY, "double oracle"), ({"edition": "fa22", "goal": 20}, "tablebase")]
)
def test_an_equilibrium_of_hog_is_worth_a_half(rules: dict[str, Any], method: str) -> None:
    game = hogeq.Game(rules)
    solved = game.equilibrium(seconds=30)
    assert (solved.method, solved.is_proved) == (method, True)
    assert solved.lower == pytest.approx(0.5, abs=1e-9)
    assert solved.upper == pytest.approx(0.5, abs=1e-9)
    for one in solved.strategies:
        assert game.attack(one).value == pytest.approx(0.5, abs=1e-9)


# --- other games ----------------------------------------------------------------------------------


def test_a_search_begins_where_the_responder_forgets_and_a_program_goes_on(file: str) -> None:
    game = hogeq.Game("liars_dice_ir(dice_sides=3)")
    searched = game.attack("uniform", hogeq.Budget(starts=1, kicks=1, exact_seconds=0.0))
    exact = game.attack("uniform", hogeq.Budget(starts=1, kicks=1, exact_seconds=30.0))
    assert searched.value <= exact.value + 1e-12
    assert exact.bound <= searched.bound + 1e-12
    assert exact.is_proved


def test_both_seats_draw_from_one_mixture() -> None:
    game = hogeq.Game("leduc_poker", forget="own_actions")
    first, second = (game.strategy("uniform").policy, np.eye(3)[game.tree.num_legal - 1])
    one = game.strategy(hogeq.Mixture([0.3, 0.7], [first, second]))
    two = game.strategy(hogeq.Mixture([0.6, 0.3, 0.1], [second, first, second]))
    both = game.joined(one, two)
    for rival in ("uniform", second):
        assert game.value(both, rival).first == pytest.approx(game.value(one, rival).first)
        assert game.value(both, rival).second == pytest.approx(game.value(two, rival).second)


def test_strategies_of_a_tree_are_actions_policies_and_mixtures(tmp_path: Path) -> None:
    game = hogeq.Game("leduc_poker")
    pure = game.strategy(np.zeros(936, int))
    assert (pure.kind, pure.array.shape) == ("matrix", (936,))
    mixed = game.strategy(hogeq.Mixture([0.5, 0.5], ["uniform", pure]))
    for number, one in enumerate((pure, game.strategy("uniform"), mixed)):
        one.write(tmp_path / f"{number}.npz")
        again = game.strategy(tmp_path / f"{number}.npz")
        assert again.kind == one.kind
        np.testing.assert_array_equal(again.array, one.array)
        np.testing.assert_array_equal(again.weights, one.weights)
    refuses(lambda: game.strategy(np.full(936, 2)), "allowed: probabilities of legal actions")
    with pytest.raises(StrategyError, match=r"of shape \(936, 3\); allowed: \(12, 2\)"):
        hogeq.Game("kuhn_poker").strategy(pure)


def test_payoffs_with_a_constant_sum_are_given_back(tmp_path: Path) -> None:
    """Matching pennies for 1 or 0, von Neumann 1928: half for each."""
    path = tmp_path / "pennies.efg"
    path.write_text(
        'EFG 2 R "pennies" { "a" "b" }\np "" 1 1 "" { "h" "t" } 0\np "" 2 1 "" { "h" "t" } 0\n'
        't "" 1 "" { 1 0 }\nt "" 2 "" { 0 1 }\np "" 2 1 "" { "h" "t" } 0\n'
        't "" 2 "" { 0 1 }\nt "" 1 "" { 1 0 }\n'
    )
    game = hogeq.Game(path)
    solved = game.equilibrium()
    assert (solved.lower, solved.upper) == pytest.approx((0.5, 0.5))
    assert game.units.even == 0.5
    assert game.value("uniform", "uniform") == pytest.approx((0.5, 0.5, 0.5))
    heads = game.strategy([[1.0, 0.0], [1.0, 0.0]])
    assert game.value("uniform", heads) == pytest.approx((0.5, 0.5, 0.5))
    response = game.attack(heads)
    assert response.value == pytest.approx(1.0)
    assert response.seats == pytest.approx((1.0, 1.0))
    assert game.exploitability(heads).lower == pytest.approx(0.5)


def test_rules_of_ones_own_are_a_game_too() -> None:

    assert hogeq.Game(Pennies()).equilibrium().lower == pytest.approx(0.0)


# --- runs -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("forget", [None, "own_actions"])
def test_changes_of_a_strategy_are_worth_what_they_are_alone(forget: str | None) -> None:
    game = hogeq.Game("kuhn_poker", forget=forget)
    uniform, draw = game.strategy("uniform").policy, np.random.default_rng(3)
    policies = draw.dirichlet(np.ones(2), (3, len(uniform)))
    policies[1, 4] = policies[0, 4]
    first, second, rival = policies
    against = [rival, hogeq.Mixture([0.3, 0.7], [uniform, second])]

    def mean(policy: Floats) -> float:
        return sum(game.value(policy, one).mean for one in against) / 2

    found = game.diff(first, second, against)
    assert (found.before, found.after) == pytest.approx((mean(first), mean(second)), abs=1e-12)
    assert found.match == pytest.approx(game.value(second, first).mean, abs=1e-12)
    assert len(found.changes) == len(uniform) - 1
    assert found.gains[4] == 0.0
    for row in range(len(uniform)):
        changed = np.where((np.arange(len(uniform)) == row)[:, None], second, first)
        assert found.gains[row] == pytest.approx(mean(changed) - mean(first), abs=1e-12)
    gains = [one.gain for one in found.changes]
    assert gains == sorted(gains, reverse=True)
    best = found.changes[0]
    row = list(game.tree.names).index(best.infoset)
    assert best.gain == found.gains[row]
    assert [share for _, share in best.after] == second[row].tolist()
    # Against itself by default: a third of the deals give each card, to either seat.
    itself = game.diff(first, second)
    assert itself.before == pytest.approx(0.0, abs=1e-12)
    assert itself.after == pytest.approx(itself.match, abs=1e-12)
    cards = [one.reach for one in itself.changes if one.infoset in {"0", "1", "2"}]
    assert cards == pytest.approx([1 / 3] * len(cards))
    assert cards


# --- a constant sum that dwarfs the stakes; other games under an old name ------------------------


@pytest.mark.parametrize("constant", [0.0, 1e6, 1e10])
def test_a_large_constant_sum_hides_no_stakes(constant: float) -> None:
    """A player sees a coin, and forgets it before the next choice: brute force gives the value."""

    class Forgetful(Moves):
        """One who guesses a coin twice, the second time having forgotten it."""

        movers = (hogeq.CHANCE, 0, 0)

        def knows(self, state: Any, player: int) -> Any:  # noqa: ARG002 - there is one
            return state[0] if len(state) == 1 else "later"

        def payoffs(self, state: Any) -> tuple[float, float]:
            won = 1.0 * (state[0] == state[1]) + 2.0 * (state[2] == "h") * (state[0] == "h")
            return won, constant - won

    solved = hogeq.Game(Forgetful()).equilibrium()
    assert solved.is_proved
    assert (solved.lower, solved.upper) == pytest.approx((2.0, 2.0), abs=1e-5)
    response = hogeq.Game(Forgetful()).attack("uniform")
    assert response.is_proved
    assert response.seats[0] == pytest.approx(2.0, abs=1e-5)
    assert response.seats[1] == pytest.approx(constant - 1.0, abs=1e-5)


def test_sums_that_differ_are_no_constant(tmp_path: Path) -> None:
    paid = "1e10 0", "5 1e10", "2 1e10", "1 1e10"
    ends = [f't "" {number} "" {{ {one} }}\n' for number, one in enumerate(paid, 1)]
    path = tmp_path / "sums.efg"
    path.write_text(
        'EFG 2 R "sums" { "a" "b" }\np "" 1 1 "" { "h" "t" } 0\np "" 2 1 "" { "h" "t" } 0\n'
        + "".join(ends[:2])
        + 'p "" 2 1 "" { "h" "t" } 0\n'
        + "".join(ends[2:])
    )
    refuses(lambda: hogeq.Game(path), "is not zero-sum")


def test_rows_in_either_order_are_attacked_by_a_program(tmp_path: Path) -> None:
    """Chance says in which order two rows come; both forget it."""
    path = tmp_path / "orders.efg"
    path.write_text(
        'EFG 2 R "orders" { "a" "b" }\nc "" 1 "" { "x" 1/2 "y" 1/2 } 0\n'
        'p "" 1 1 "X" { "0" "1" } 0\np "" 1 2 "Y" { "0" "1" } 0\n'
        't "" 1 "" { 3, -3 }\nt "" 2 "" { 0, 0 }\np "" 1 2 "Y" { "0" "1" } 0\n'
        't "" 3 "" { 0, 0 }\nt "" 4 "" { 1, -1 }\n'
        'p "" 1 2 "Y" { "0" "1" } 0\np "" 1 1 "X" { "0" "1" } 0\n'
        't "" 5 "" { 0, 0 }\nt "" 6 "" { 2, -2 }\np "" 1 1 "X" { "0" "1" } 0\n'
        't "" 7 "" { 2, -2 }\nt "" 8 "" { 1, -1 }\n'
    )
    game = hogeq.Game(path)
    worth = {
        (x, y): ((3, 0), (0, 1))[x][y] / 2 + ((0, 2), (2, 1))[y][x] / 2
        for x in (0, 1)
        for y in (0, 1)
    }
    response = game.attack("uniform")
    assert response.is_proved
    assert response.seats[0] == pytest.approx(max(worth.values()))
    assert game.exploitability("uniform").lower == pytest.approx(response.value)


def test_a_large_common_payoff_hides_no_stakes() -> None:
    """Two rows and two columns, solved by hand, in a zero-sum game far from 0."""

    class Far(Moves):
        """A game of two rows and two columns."""

        choices = (0, 1)

        def payoffs(self, state: Any) -> tuple[float, float]:
            won = 1e6 + {(0, 0): 1.0, (1, 1): 2.0}.get(state, -1.0)
            return won, -won

    game = hogeq.Game(Far())
    solved = game.equilibrium()
    assert solved.is_proved
    assert (solved.lower - 1e6, solved.upper - 1e6) == pytest.approx((0.2, 0.2), abs=1e-8)
    assert game.value("uniform", "uniform") == pytest.approx((0.0, 1e6 + 0.25, -1e6 - 0.25))
    assert game.attack("uniform").seats == pytest.approx((1e6 + 0.5, -1e6), abs=1e-8)
