"""Games of one's own by their positions: the graph, its values between bounds, what is refused."""

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple, get_args

import numpy as np
import pytest

import hogeq
from hogeq.evaluation.counterfactual import RegretWeight
from hogeq.evaluation.enclosures import enclose, start_of
from hogeq.games import positions as position_games
from hogeq.graph.graph import NATURE
from hogeq.solvers.solving import Candidate
from hogeq.support.aliases import Floats
from hogeq.trees import building, full_information, loading, positions
from hogeq.trees.flat import payoff
from hogeq.trees.positions import of_rules
from hogeq.trees.rules import from_rules
from tests.graph.test_graph import evaluate
from tests.own_rules import Moves, States
from tests.refusals import refuses
from tests.trees.own_hog import OwnHog
from tests.trees.test_example_games import example
from tests.trees.test_rules import kuhn

# --- Hog itself -----------------------------------------------------------------------------------


class SameHog(NamedTuple):
    """A game of Hog, and the same by rules of one's own: a position is a state, a row a `knows`."""

    game: hogeq.Hog
    own: Any

    def rows(self, table: Floats) -> Floats:
        """Rows of the own game, (R, K), of a table (G, G, K) that plays in both seats."""
        return np.array([table[name] for name in self.own.positions.names])


@pytest.fixture(scope="module", params=[(6, 2), pytest.param((20, 4), marks=pytest.mark.slow)])
def hogs(request: pytest.FixtureRequest) -> SameHog:
    rules = OwnHog()
    rules.goal, rules.max_dice = request.param
    rule = {"edition": "su20", "goal": rules.goal, "max_dice": rules.max_dice}
    return SameHog(hogeq.Hog(rule), hogeq.Game(of_rules(rules)))


def tables(hogs: SameHog) -> tuple[Floats, Floats]:
    *scores, dice = hogs.game.engine.shape
    one, two = np.random.default_rng(0).dirichlet(np.ones(dice), (2, *scores))
    return one, two


def test_hog_as_rules_of_ones_own_has_its_win_rates_and_bounds(hogs: SameHog) -> None:
    one, two = tables(hogs)
    value = hogs.own.value(hogs.rows(one), hogs.rows(two))
    assert value.mean == pytest.approx(hogs.game.win_rate(one, two).win_rate, abs=1e-12)
    assert hogs.own.bound(hogs.rows(two)) == pytest.approx(hogs.game.bound(two), abs=1e-12)
    mixed = hogeq.Mixture([0.25, 0.75], [hogs.rows(one), hogs.rows(two)])
    told = hogs.game.bound(hogeq.Mixture([0.25, 0.75], [one, two]), resolution=1)
    assert hogs.own.bound(mixed) == pytest.approx(told, abs=1e-12)
    assert not hogs.own.positions.is_open
    assert hogs.own.engine.has_memory


def test_hog_as_rules_of_ones_own_has_its_values_and_reach(hogs: SameHog) -> None:
    one, two = tables(hogs)
    pair, graph = (hogs.rows(one), hogs.rows(two)), hogs.own.graph
    values, start = hogs.own.values(*pair), graph.start[0, 0]
    assert values[start] == pytest.approx(hogs.own.value(*pair).first, abs=1e-12)
    scores = [(0, 0), (0, 0), 0, 0]  # after the coin
    rate = hogs.game.win_rate(one, two)
    for first, won in ((0, rate.first), (1, rate.second)):
        scores[2] = first
        there = hogs.own.positions.numbers[tuple(scores)]
        assert values[there] == pytest.approx(won, abs=1e-12)
    visits = np.zeros(graph.rows)
    moves = graph.player == 0
    np.add.at(visits, graph.row[moves], hogs.own.reach(*pair)[moves])
    mine = hogs.own.positions.seat == 0
    expected = hogs.rows(hogs.game.reach(one, two).sum(axis=2))
    np.testing.assert_allclose(visits[mine], expected[mine], atol=1e-12)
    weights: tuple[RegretWeight, ...] = get_args(RegretWeight)
    for weight in weights:
        expected = hogs.game.action_values(one, two, weight)
        found = hogs.own.action_values(hogs.rows(one), hogs.rows(two), weight)
        np.testing.assert_allclose(found, hogs.rows(expected), atol=1e-12)


def test_a_responder_to_hog_as_rules_of_ones_own_wins_at_least_as_much(hogs: SameHog) -> None:
    """It has a table for each seat, one of which is that of Hog."""
    _, two = tables(hogs)
    budget = hogeq.Budget(starts=2, kicks=0)
    counter, found = hogs.game.attack(two, budget), hogs.own.attack(hogs.rows(two), budget)
    assert found.value >= counter.value - 1e-9
    assert found.value <= found.bound == pytest.approx(hogs.game.bound(two), abs=1e-12)
    assert hogs.own.value(found.strategy, hogs.rows(two)).mean == pytest.approx(found.value)
    table = hogs.rows(np.eye(hogs.game.engine.num_actions)[counter.matrix])
    same = hogs.own.value(table, hogs.rows(two))
    assert same.mean == pytest.approx(counter.value, abs=1e-12)


def test_solvers_solve_hog_as_rules_of_ones_own(hogs: SameHog) -> None:
    budget = hogeq.Budget(starts=1, kicks=0)
    # Where seats take turns, Hog learns a table for each, and rules of one's own one for both.
    games = hogs.own, hogs.game
    solved, same = (game.solve("cfr", 10, alternating=False) for game in games)
    np.testing.assert_allclose(solved.policy.policy, hogs.rows(same.policy.policy), atol=1e-9)
    upper = hogs.game.exploitability(same, budget).upper
    assert hogs.own.exploitability(solved, budget).upper == pytest.approx(upper, abs=1e-9)


def test_what_a_responder_to_positions_is_told_is_said() -> None:
    rules = OwnHog()
    rules.goal, rules.max_dice = 6, 2
    game: Any = hogeq.Game(of_rules(rules))
    found = game.attack(np.zeros(game.positions.num_rows, int), hogeq.Budget(starts=1, kicks=0))
    assert found.method == "full information"
    assert found.search is not None
    if not found.is_proved:
        assert found.rows()[-1][2] == "best responder that sees everything"
    with pytest.raises(ValueError, match=r"^OwnHog: exact seconds: allowed: .* no integer program"):
        game.attack("uniform", hogeq.Budget(exact_seconds=1.0))


def test_solvers_look_for_an_equilibrium_where_something_is_hidden() -> None:
    rules = OwnHog()
    rules.goal, rules.max_dice = 5, 1
    by_positions: Any = hogeq.Game(of_rules(rules))
    unrolled: Any = hogeq.Game(from_rules(rules))
    solved, known = by_positions.equilibrium(2.0), unrolled.equilibrium(20.0)
    assert known.is_proved
    assert solved.method in {"dcfr", "cfr_plus", "mixture_bundle"}
    assert solved.lower - 1e-9 <= known.lower <= known.upper <= solved.upper + 1e-9
    assert solved.upper - solved.lower < 0.01
    uniform = by_positions.equilibrium(0.0)
    assert uniform.lower <= known.lower <= known.upper <= uniform.upper
    refuses(lambda: by_positions.equilibrium(1.0, "lp"), r"^method: got 'lp'; allowed: auto")


def test_each_candidate_is_bounded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    # Bounds may take the time that is left: a second time there would be none for them.
    rules = OwnHog()
    rules.goal, rules.max_dice = 4, 1
    game: Any = hogeq.Game(of_rules(rules))
    candidates = [
        Candidate(game.strategy("uniform"), "uniform"),
        Candidate(game.solve("cfr_plus", 20).strategy, "cfr_plus", 20),
    ]
    bounds = []

    def secured(*arguments: Any) -> Any:
        bounds.append(bound(*arguments))
        return bounds[-1]

    bound = full_information.secured
    monkeypatch.setattr(full_information, "secured", secured)
    monkeypatch.setattr(position_games, "by_solvers", lambda *_: candidates)
    solved = game.equilibrium(5.0)
    uniform, better = bounds
    assert better.upper - better.lower < uniform.upper - uniform.lower
    assert (solved.lower, solved.upper) == better
    assert (solved.method, solved.effort["iterations"]) == ("cfr_plus", 20)


class Lotteries(Moves):
    """Both players choose a lottery whose large prizes cancel; one prize is left."""

    movers: tuple[int, ...] = (0, 1, hogeq.CHANCE)
    knows = hogeq.GameRules.knows

    def __init__(self, lots: int, size: float) -> None:
        self.choices, self.size = range(lots), size

    def chances(self, state: Any) -> list[tuple[int, float]]:
        more = 2.0**-30 * state[1] * (state[0] > 0)
        return [(0, 0.25 - more), (1, 0.25 - more), (2, 0.5 + 2.0 * more)]

    def payoffs(self, state: Any) -> tuple[float, float]:
        first, second, prize = state
        paid = (self.size, -self.size, (first + second) / 8.0)[prize]
        return paid, -paid


@pytest.mark.parametrize("size", [1.0, 1e9, 1e15])
def test_values_keep_their_digits_beside_lotteries_that_cancel(size: float) -> None:
    game: Any = hogeq.Game(of_rules(Lotteries(3, size)))
    last = {(0, two): Fraction(1, 2) for two in range(3)}
    last |= {
        (one, two): Fraction(1, 2) + Fraction(two, 2**29) for one in (1, 2) for two in range(3)
    }
    known = sum(chance * Fraction(sum(pair), 8) for pair, chance in last.items()) / 9
    value = game.value("uniform")
    assert value.first == pytest.approx(float(known), abs=1e-15)
    assert value.second == pytest.approx(-float(known), abs=1e-15)


def test_chances_of_too_many_kinds_are_refused_in_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hogeq.trees.rows.MOST_CELLS", 1000)

    class Coins(Lotteries):
        """Whoever chooses a coin may choose any: each has chances of its own."""

        movers = (0, hogeq.CHANCE)

        def chances(self, state: Any) -> list[tuple[int, float]]:
            share = state[0] / len(self.choices)
            return [(0, 1.0 - share), (1, share)] if state[0] else [(0, 1.0)]

        def payoffs(self, state: Any) -> tuple[float, float]:
            return float(state[1]), -float(state[1])

    says = r"^Coins: 41 kinds of positions, and one has 40 actions; allowed: a product of 1,000$"
    refuses(lambda: of_rules(Coins(40, 1.0)), says)


# --- which of the two -----------------------------------------------------------------------------


def test_positions_take_the_place_of_a_large_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few nodes are a tree, few positions no tree; of many of both it is the tree if it can be."""
    rules = OwnHog()
    rules.goal, rules.max_dice = 5, 1  # 1,715 nodes, 297 positions
    assert of_rules(rules).num_histories == from_rules(rules).num_nodes == 1715
    monkeypatch.setattr(positions, "CHECK_INTERVAL", 16)
    kinds = []
    for nodes, few, most in ((2000, 100, 9999), (500, 300, 9999), (500, 100, 9999), (99, 100, 99)):
        monkeypatch.setattr(loading, "FEW_NODES", nodes)
        monkeypatch.setattr(loading, "FEW_POSITIONS", few)
        monkeypatch.setattr(building, "MOST_NODES", most)
        kinds.append(hasattr(hogeq.Game(rules), "tree"))
    assert kinds == [True, False, True, False]
    refuses(lambda: hogeq.Game(rules, forget="last:1"), r"has more than 99 nodes$")


# --- trees and graphs -----------------------------------------------------------------------------


def test_kuhn_poker_by_positions_is_that_of_the_tree() -> None:
    held, tree = of_rules(kuhn()), from_rules(kuhn())
    assert held.names == tree.names
    np.testing.assert_array_equal(held.seat, tree.seat)
    assert held.labels == tree.labels
    policy = np.random.default_rng(1).dirichlet(np.ones(2), tree.num_rows)
    paid = payoff(tree, policy, policy)
    assert evaluate(held.graph, [policy, policy]) == pytest.approx(paid, abs=1e-14)
    lower, upper = start_of(held.graph, enclose(held.graph, (policy, policy)))
    assert lower <= paid + 1e-15
    assert upper >= paid - 1e-15


class Tosses(States):
    """Chance ends play once in many rounds: 3 of 4 times player 0 wins."""

    def __init__(self, rounds: int = 10**9, endless: Any = None) -> None:
        self.endless = endless
        win, lose = Fraction(3, rounds), Fraction(1, rounds)
        coin = {"on": "toss", "win": "win", "lose": "lose"}
        super().__init__(
            {"toss": (0, {"toss": "coin"}), "coin": (hogeq.CHANCE, coin)},
            {"win": (1, -1), "lose": (0, 0)},
            {"coin": {"on": 1 - win - lose, "win": win, "lose": lose}},
        )


def test_a_payoff_is_valued_however_long_play_stays() -> None:
    found = hogeq.Game(Tosses()).value("uniform")
    assert found.first == pytest.approx(0.75, abs=1e-9)
    assert found.second == pytest.approx(-0.75, abs=1e-9)


@pytest.mark.parametrize(
    "endless", [10**30 + 1, 2**53 + 1, float("nan"), True, "0", Fraction(10**400)]
)
def test_what_is_no_payoff_of_play_without_end_is_refused(endless: Any) -> None:
    with pytest.raises(hogeq.HogeqError, match=r"endless: got .*; allowed: a payoff to player 0"):
        hogeq.Game(Tosses(10, endless))


# --- what is refused ------------------------------------------------------------------------------


class Line(hogeq.GameRules):
    """A player goes back and forth on a line until its end."""

    def initial(self) -> Any:
        return 1, 0

    def to_move(self, state: Any) -> int:
        return state[1] if state[0] < 9 else hogeq.END

    def actions(self, state: Any) -> Any:  # noqa: ARG002 - everywhere
        return ["back", "on"]

    def next(self, state: Any, action: Any) -> Any:
        return max(0, state[0] + (1 if action == "on" else -1)), 1 - state[1]

    def payoffs(self, state: Any) -> Any:
        return (1, -1) if state[1] else (-1, 1)


def test_certain_loops_need_a_payoff() -> None:
    refuses(lambda: hogeq.Game(Line()), r"^Line: at the start: play can go on for ever; allowed")
    rules = Line()
    for wrong in ("draw", float("nan"), True):
        rules.endless = wrong  # type: ignore[assignment]
        refuses(lambda: hogeq.Game(rules), r"^Line: endless: got .*; allowed: a payoff")
    rules.endless = 0
    game: Any = hogeq.Game(rules)
    assert game.graph.endless == 0.0
    assert game.tablebase().ends == (0.0, 0.0)  # one goes on, and the other comes back


class Waiting(States):
    """A player stops and loses 1, or waits; chance leads from there out, to a bonus, and on."""

    players = 1

    def __init__(self, leave: Any, endless: Any = None) -> None:
        self.endless = endless
        moves = {
            "choose": (0, {"stop": "stop", "wait": "wait"}),
            "wait": (hogeq.CHANCE, {"bonus": "bonus", "again": "again"}),
            "bonus": (0, {"take": "take"}),
            "again": (0, {"wait": "wait"}),
        }
        odds = {"wait": {"bonus": leave, "again": 1 - leave}}
        super().__init__(moves, {"stop": [-1], "take": [5]}, odds)


@pytest.mark.parametrize("never", [0, 0.0, Fraction(0), Decimal(0)])
def test_a_branch_of_probability_0_is_no_way_out(never: Any) -> None:
    refuses(lambda: hogeq.Game(Waiting(never)), r"^Waiting: .*play can go on for ever; allowed")
    for endless, value in ((-2, -1.0), (3, 3.0)):
        game: Any = hogeq.Game(Waiting(never, endless))
        assert {*game.positions.states} == {"choose", "wait", "again"}
        assert not game.positions.is_rounded
        found = game.tablebase()
        assert found.ends[0] <= value <= found.ends[1]
        assert found.value == pytest.approx(value)
    assert hogeq.Game(Waiting(0.25)).tablebase().value == pytest.approx(5.0)


class Beside(Waiting):
    """Payoffs are beside a constant that is large, and of which doubles miss a part."""

    players = 2

    def payoffs(self, state: Any) -> Any:
        own = 5 * 10**8 + Fraction({"stop": 1, "take": 4}[state], 10)
        return [own, 10**9 + Fraction(1, 10) - own]


def test_what_a_change_gains_has_no_digit_of_a_constant_sum() -> None:
    game = hogeq.Game(Beside(0.5))
    actions = [["stop", "wait"], ["take"], ["wait"]]  # of the rows, by what they are called
    rows = {key: row for row, key in enumerate(game.rows.keys)}
    stop = game.strategy("uniform").policy.copy()
    stop[rows["choose"]] = [1.0, 0.0]
    wait = stop.copy()
    wait[rows["choose"]] = [0.0, 1.0]
    assert [[*game.strategy(stop)[key]] for key in ("choose", "bonus", "again")] == actions
    assert game.diff(stop, wait).gains[rows["choose"]] == pytest.approx(0.15, rel=1e-10)
    found = game.exploitability(stop)
    assert found.lower <= Fraction(3, 20) <= found.upper


class Dear(Waiting):
    """Payoffs are so large that doubles miss a part of what a change gains."""

    players = 2

    def payoffs(self, state: Any) -> Any:
        own = 10**10 + Fraction({"stop": 1, "take": 4}[state], 10)
        return [own, -own]


def test_what_a_change_gains_by_positions_is_true_as_written() -> None:
    game = hogeq.Game(Dear(0.5))
    row = [*game.rows.keys].index("choose")
    stop = game.strategy("uniform").policy.copy()
    stop[row] = [1.0, 0.0]
    wait = stop.copy()
    wait[row] = [0.0, 1.0]
    found = game.diff(stop, wait)
    for seat, number in enumerate((Fraction(3, 20), 10**10 + Fraction(2, 5))):
        ends = game.value(wait, stop).ends[seat]  # doubles there are whole in units of 2**-20
        assert ends[0] <= number <= ends[1]
    (change,), ((lower, upper),) = found.changes, found.gain_ends
    assert lower <= Fraction(3, 20) <= upper
    assert lower <= change.gain <= upper
    before, after = found.ends[:2]
    assert before[0] <= 0 <= before[1]
    assert after[0] <= Fraction(3, 20) <= after[1]
    told = found.text("stop", "wait", "dear", ["stop"], game.units)
    assert any(" to " in str(line) for line in told)


class Small(Waiting):
    """Player 1, of small payoffs, waits or stops beside a large sum of both players'."""

    players = 2

    def to_move(self, state: Any) -> int:
        return 1 if state == "choose" else super().to_move(state)

    def payoffs(self, state: Any) -> Any:
        own = Fraction({"stop": 1, "take": 2}[state], 10)
        return [10**11 + Fraction(3, 10) - own, own]


def test_values_of_actions_are_true_beside_a_large_sum() -> None:
    found = hogeq.Game(Small(0.5)).analyze("choose")
    values = {one.action: one.value for one in found.actions}
    assert values["stop"] == 0.1  # 0.100006104 before: what a double of the large sum leaves
    assert abs(Fraction(values["wait"]) - Fraction(1, 5)) <= found.error


@pytest.mark.parametrize("least", [Fraction(1, 10**400), Fraction(7, 10**324), 5e-324, 1e-310])
def test_a_way_out_whose_chance_loses_its_digits_is_refused(least: Any) -> None:
    """It was no way out, so that waiting was worth -2 or 3, proved, in place of the bonus, 5."""
    for endless in (None, 3):
        with pytest.raises(hogeq.HogeqError, match="below 1e-300; allowed: 0, or 1e-300 and more"):
            hogeq.Game(Waiting(least, endless))
    assert hogeq.Game(Waiting(Fraction(1, 10**20), 3)).tablebase().value == pytest.approx(5.0)


def test_a_decimal_chance_that_no_double_stands_for_is_no_other_number() -> None:
    assert not of_rules(Waiting(Decimal("0.1"))).is_rounded
    assert of_rules(Waiting(Decimal("0.12345678901234567890123"))).is_rounded


REFUSED: dict[str, tuple[str, Callable[..., Any], str]] = {
    "states": ("next", lambda *_: [1, 2], r"at the start: state: got \[1, 2\]; allowed: states"),
    "errors": ("actions", lambda *_: 1 / 0, "at the start: ZeroDivisionError"),
    "knows": ("knows", lambda *_: [1], r"at the start: knows: got \[1\]; allowed: what a dic"),
    "actions": ("actions", lambda state: range(1 + state[0]), "legal actions"),
    "players": ("to_move", lambda *_: 7, "at the start: to_move: got 7"),
    "over": ("to_move", lambda *_: hogeq.END, "at the start: the game is over"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_faults_of_rules_are_refused_in_a_line(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    method, answer, message = REFUSED[name]
    rules = Line()
    monkeypatch.setattr(rules, method, answer, raising=False)
    if name == "actions":
        monkeypatch.setattr(rules, "knows", lambda *_: "nothing")
    with pytest.raises(ValueError, match=message) as error:
        of_rules(rules)
    assert "\n" not in str(error.value)
    assert str(error.value).startswith("Line: ")


def test_too_many_positions_are_refused_in_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(positions, "CHECK_INTERVAL", 16)
    monkeypatch.setattr(positions, "MOST_POSITIONS", 100)
    monkeypatch.setattr(building, "MOST_NODES", 1000)
    with pytest.raises(ValueError, match=r"^pig\(goal=30\): has .*, and more than 100 positions$"):
        hogeq.Game(f"{example('pig')}(goal=30)")


def test_bad_states_and_strategies_are_refused_in_a_line() -> None:
    game = hogeq.Game(f"{example('pig')}(goal=8)")
    for state in ("nowhere", [1], (0, 0, 0, 0, True)):
        with pytest.raises(ValueError, match=r"^state: got .*; allowed: a state at which"):
            game.analyze(state)
    refuses(lambda: game.strategy(np.ones((3, 2))), "strategy: has shape")
    assert set(np.unique(game.graph.player)) == {0, 1, NATURE}
