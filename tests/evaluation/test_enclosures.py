"""Bounds on values where positions recur, and answers made of them, over random walks."""

from dataclasses import replace
from fractions import Fraction
from itertools import count, product
from typing import Any

import numpy as np
import pytest

import hogeq
from hogeq.evaluation import enclosures
from hogeq.evaluation.enclosures import enclose, start_of
from hogeq.graph.graph import Graph
from hogeq.support.aliases import Floats
from hogeq.support.deadline import Deadline
from hogeq.trees import full_information
from hogeq.trees.positions import of_rules
from tests.graph.test_graph import evaluate


class Walk(hogeq.GameRules):
    """Random rules over few states, by a table; most come back to where they were."""

    def __init__(self, seed: int, endless: float | None = 0.0) -> None:
        random = np.random.default_rng(seed)
        self.endless, count = endless, int(random.integers(2, 6))
        self.movers = [0, *random.integers(-1, 2, count - 1).tolist()]
        ends, on = random.integers(-3, 0, (count, 2)), random.integers(0, count, (count, 2))
        self.moves = np.where(random.random((count, 2)) < 0.3, ends, on).tolist()
        self.odds = random.uniform(0.2, 0.8, count).tolist()

    def initial(self) -> Any:
        return 0

    def to_move(self, state: Any) -> int:
        return hogeq.END if state < 0 else self.movers[state]

    def actions(self, state: Any) -> Any:  # noqa: ARG002 - always two
        return [0, 1]

    def chances(self, state: Any) -> Any:
        return [(0, self.odds[state]), (1, 1.0 - self.odds[state])]

    def next(self, state: Any, action: Any) -> Any:
        return self.moves[state][action]

    def payoffs(self, state: Any) -> Any:
        paid = (-1.0, 0.25, 1.0)[state]
        return paid, -paid


def pure(graph: Graph, player: int) -> list[Floats]:
    """All pure strategies of a player; rows of the other play at random."""
    rows = graph.rows_of(player)
    found = []
    for actions in product(range(2), repeat=len(rows)):
        table = graph.legal / np.maximum(graph.legal.sum(axis=1, keepdims=True), 1)
        table[rows] = np.eye(2)[list(actions)]
        found.append(table)
    return found


@pytest.mark.slow
def test_bounds_enclose_the_value_of_random_games() -> None:
    """Both play stationary pure strategies in games of perfect information: all pairs say it."""
    closed = recurs = 0
    for seed in range(100):
        try:
            held = of_rules(Walk(seed, endless=(-0.5, 0.0, 0.5)[seed % 3]))
        except ValueError:
            continue  # the game is over at the start
        graph = held.graph
        pairs = [[evaluate(graph, [a, b], 1000) for b in pure(graph, 1)] for a in pure(graph, 0)]
        value, least = max(map(min, pairs)), min(map(max, zip(*pairs, strict=True)))
        found = enclose(graph)
        lower, upper = start_of(graph, found)
        assert value == pytest.approx(least, abs=1e-9), seed
        assert lower <= value + 1e-9, seed
        assert upper >= value - 1e-9, seed
        closed += upper - lower < 1e-9
        recurs += bool(graph.recurring.any())
        policies = [np.random.default_rng(seed).dirichlet(np.full(2, 20.0), graph.rows)] * 2
        lower, upper = start_of(graph, enclose(graph, policies))
        assert lower - 1e-6 <= evaluate(graph, policies, 1000) <= upper + 1e-6
        lower, upper = start_of(graph, enclose(graph, (None, policies[1])))
        closed += upper - lower < 1e-9
        if seed % 10 == 0:  # the others take long
            best = max(evaluate(graph, [one, policies[1]], 1000) for one in pure(graph, 0))
            assert lower - 1e-6 <= best <= upper + 1e-6
    assert recurs > 50
    assert closed > 190  # of 200; 140 where no bound falls


def test_bounds_hold_whenever_they_are_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A look at the clock comes after each round, and each of them may be the last."""
    monkeypatch.setattr(enclosures, "STATES_PER_LOOK", 1)
    stopped = 0
    for seed in range(0, 100, 3):
        try:
            graph = of_rules(Walk(seed, endless=(-0.5, 0.0, 0.5)[seed % 3])).graph
        except ValueError:
            continue  # the game is over at the start
        clock = count()
        whole = enclose(graph, deadline=Deadline(1e9, clock.__next__))
        for looks in range(min(next(clock), 250)):
            found = enclose(graph, deadline=Deadline(float(looks), count().__next__))
            assert (found.lower <= whole.upper).all(), (seed, looks)
            assert (found.upper >= whole.lower).all(), (seed, looks)
            assert found.rounds <= looks + 2 * len(graph.level)
            stopped += found.rounds < whole.rounds
    assert stopped > 500


def test_answers_hold_whenever_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock counts how often it is asked; the value is known from answers without a limit."""
    monkeypatch.setattr(enclosures, "STATES_PER_LOOK", 1)
    for seed in (1, 2, 4, 5):
        game = hogeq.Game(Walk(seed))
        value, response = game.equilibrium(1e9), game.attack("uniform")
        monkeypatch.setattr(Deadline, "usual_clock", staticmethod(count().__next__))
        for looks in (0, 1, 2, 5, 10, 30):
            found = game.equilibrium(looks)
            assert found.lower <= value.upper
            assert found.upper >= value.lower
            answer = game.attack("uniform", hogeq.Budget(seconds=looks))
            assert answer.value <= response.bound
            assert answer.bound >= response.value
        monkeypatch.undo()
        monkeypatch.setattr(enclosures, "STATES_PER_LOOK", 1)


@pytest.mark.parametrize("seed", range(6))
def test_what_would_not_end_in_time_is_not_begun(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a step of annealing takes longer than the search has, it only ascends."""

    class Blind(Walk):
        def knows(self, state: Any, player: int) -> Any:  # noqa: ARG002
            return "the same"

    game = hogeq.Game(Blind(seed))
    monkeypatch.setattr(full_information, "_annealing_step", lambda *_: 61.0)
    found = game.attack("uniform", hogeq.Budget(seconds=60.0))
    if found.search is not None:  # else nobody has a choice
        assert found.search.budget.anneal_steps == 0
    assert found.value >= game.units.even - 1e-9  # the strategy itself gets as much
    assert found.value <= found.bound


def test_a_response_without_a_choice_needs_no_search() -> None:
    """Each row has one action and is met at two positions, so that it hides something."""

    class Waits(Walk):
        def __init__(self) -> None:
            super().__init__(0)
            self.movers, self.moves, self.odds = [0, 1, -1], [[1, 1], [2, 2], [0, -3]], [0.5] * 3

        def actions(self, state: Any) -> Any:
            return [0, 1] if self.movers[state] < 0 else [0]

        def knows(self, state: Any, player: int) -> Any:  # noqa: ARG002
            return "the same"

    found = hogeq.Game(Waits()).attack("uniform")
    assert found.value <= 0.0 <= found.bound
    assert found.bound - found.value <= 1e-9


def test_ends_of_a_constant_sum_hold_for_who_is_second() -> None:
    class Second(Walk):
        def __init__(self) -> None:
            super().__init__(0)
            self.movers, self.moves, self.odds = [1], [[-1, -1]], [0.5]

        def payoffs(self, state: Any) -> Any:  # noqa: ARG002 - there is one end
            return -1.0, 2.3

    solved = hogeq.Game(of_rules(Second())).tablebase()
    assert isinstance(solved, full_information.FullInformation)
    lower, upper = solved.ends
    assert Fraction(lower) <= Fraction(23, 10) <= Fraction(upper)
    assert abs(Fraction(solved.value) - Fraction(23, 10)) <= Fraction(solved.error)


def test_chance_that_moves_first_and_players_that_wait() -> None:
    """Who is about to lose goes round for ever, which is the draw that the rules name."""

    class Round(Walk):
        def __init__(self) -> None:
            super().__init__(0, endless=0.5)
            self.movers, self.odds = [0, 1], [0.5, 0.5]
            self.moves = [[1, -1], [0, -3]]  # on, or an end: of 1.0 and of -1.0

    held = of_rules(Round())
    paid = [held.graph.payoff[-1 - there] for there in held.graph.next if there < 0]
    assert sorted(paid) == [-1.0, 1.0]
    assert start_of(held.graph, enclose(held.graph)) in {(1.0, 1.0), (0.5, 0.5)}


@pytest.mark.parametrize("paid", [Fraction(4, 3), Fraction(1, 10), Fraction(-6, 7), Fraction(1, 4)])
def test_ends_are_those_of_the_fractions_that_were_given(paid: Fraction) -> None:
    class One(Walk):
        def __init__(self) -> None:
            super().__init__(0)
            self.movers, self.odds, self.moves = [0], [0.5], [[-1, -1]]

        def payoffs(self, state: Any) -> Any:  # noqa: ARG002 - there is one end
            return paid, -paid

    graph = of_rules(One()).graph
    lower, upper = start_of(graph, enclose(graph))
    assert Fraction(lower) <= paid <= Fraction(upper)
    assert upper - lower <= 1e-15


def test_an_error_is_written_rounded_up() -> None:
    solved = hogeq.Game("kuhn(players=2,ranks=3)").tablebase()
    assert isinstance(solved, full_information.FullInformation)
    assert ("error", "1.3e-07") in [row[:2] for row in replace(solved, missed=1.24e-7).table().rows]


def test_a_proved_response_is_proved_in_either_seat() -> None:
    """In the second seat payoffs of 1e299 cancel, and nothing is left but rounding."""

    class Huge(Walk):
        def __init__(self) -> None:
            super().__init__(0)
            self.movers, self.moves, self.odds = [0, 1], [[-1, 1], [-3, -3]], [0.5, 0.5]

        def payoffs(self, state: Any) -> Any:
            first, second = super().payoffs(state)
            return 1e299 * first, 1e299 * second

    game = hogeq.Game(of_rules(Huge()))
    found = game.attack("uniform")
    assert found.seat_bounds is not None
    assert found.seats[1] < 0.0 < found.seat_bounds[1]
    assert game.units.are_one(found.value, found.bound)
    assert not found.is_proved
