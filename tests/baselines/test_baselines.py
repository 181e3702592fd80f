"""Baselines: published figures, and a plain recursion in the style of Huan (2020) [1]."""

from collections import Counter
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from second_place import entries, huan2020, over_seats, respond_to_beliefs

from hogeq.baselines import ignore_memory, optimal
from hogeq.baselines.registry import builtin
from hogeq.baselines.simple import always_roll
from hogeq.evaluation.tablebase import solve
from hogeq.evaluation.values import win_rate
from hogeq.model.game import HogEngine, compile_game
from hogeq.model.rows import TIE
from hogeq.rules import EDITIONS, Rules
from hogeq.rules.memory import Memory, record
from hogeq.rules.rules import points_distribution, zero_points
from hogeq.rules.turn import effect, land
from hogeq.strategies.arrays import StrategyError
from tests.baselines.small_games import SMALL, game
from tests.slow import fast_and_slow

SHORT = {**SMALL, "goal": 9}
OTHER = {"edition": "fa19", "goal": 13, "max_dice": 4}
SHORT_OTHER = {**OTHER, "goal": 9}


# --- the same, one call at a time -----------------------------------------------------------------


Key = tuple[int, int, int, int, int]  # own score, opponent's, seat, own record, opponent's


class Recursion:
    """The way of Huan (2020) [1]: recursions that remember results, and a count of their calls."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.rolls = range(rules.max_dice + 1)
        self.perfect = cache(self._perfect)
        self.seen: dict[tuple[int, int, int], set[tuple[int, int]]] = {}
        self.perfect(0, 0, 0, 0, 0)

    def outcomes(self, opponent: int, roll: int) -> dict[int, float]:
        if roll == 0:
            return {zero_points(self.rules, 0, opponent): 1.0}
        found = points_distribution(self.rules, roll, self.rules.sides)
        return {points: float(chance) for points, chance in found.items()}

    def after(self, own: int, opponent: int, points: int, extra: int) -> tuple[bool, int, int]:
        """Whether the mover has won, and the scores of the next."""
        landing = land(self.rules, own + points + extra, opponent)
        return landing.winner == 0, landing.opponent, landing.score

    def over(self, own: int, opponent: int) -> bool:
        return max(own, opponent) >= self.rules.size

    def _perfect(self, own: int, opponent: int, seat: int, mine: int, theirs: int) -> Any:
        self.seen.setdefault((own, opponent, seat), set()).add((mine, theirs))
        values = []
        for roll in self.rolls:
            extra = effect(self.rules, 0, 0, Memory(own=mine), roll).bonus
            value = 0.0
            for points, chance in self.outcomes(opponent, roll).items():
                won, *scores = self.after(own, opponent, points, extra)
                if self.over(*scores):
                    value += chance * won
                else:
                    kept = record(self.rules, roll, points)
                    value += chance * (1 - self.perfect(*scores, 1 - seat, theirs, kept)[1])
            values.append(value)
        best = next(roll for roll in self.rolls if values[roll] >= max(values) - TIE)
        return best, max(values)

    def count(self, play: Any) -> Counter[Key]:
        """Count the calls for every state, as `deltas` of Huan (2020) does; `play` lists rolls."""
        calls: Counter[Key] = Counter()

        def call(state: Key) -> None:
            own, opponent, seat, mine, theirs = state
            if self.over(own, opponent):
                return
            calls[state] += 1
            if calls[state] > 1:
                return
            for roll in play(state):
                extra = effect(self.rules, 0, 0, Memory(own=mine), roll).bonus
                for points in self.outcomes(opponent, roll):
                    _, *scores = self.after(own, opponent, points, extra)
                    kept = record(self.rules, roll, points)
                    call((scores[0], scores[1], 1 - seat, theirs, kept))

        call((0, 0, 0, 0, 0))
        return calls

    def second_place(self, weight: float, epsilon: float, rounds: int, draft: float) -> Any:
        perfect = self.count(lambda state: [self.perfect(*state)[0]])
        matrix = self.final(perfect, Counter(), draft, epsilon)
        for _ in range(rounds):
            own = self.count(lambda state, now=matrix: [now[state[:2]]])
            matrix = self.final(perfect, own, weight, epsilon)
        return matrix

    def final(self, first: Counter[Key], backup: Counter[Key], default: float, eps: float) -> Any:
        def weight(key: Key) -> float:
            # Both seats are played in turn, which counts everything twice.
            return 2 * first[key] or 2 * backup[key] or default

        @cache
        def feral(own: int, opponent: int, roll: int) -> float:
            shares = []
            for seat in (0, 1):
                found = self.seen.get((own, opponent, seat), set())
                every = {pair: weight((own, opponent, seat, *pair)) for pair in found}
                if sum(every.values()):
                    fed = [
                        every[pair]
                        for pair in every
                        if effect(self.rules, 0, 0, Memory(own=pair[0]), roll).bonus
                    ]
                    shares.append(sum(fed) / sum(every.values()))
            return sum(shares) / len(shares) if shares else 0.0

        @cache
        def best(own: int, opponent: int, erring: bool) -> tuple[int, float]:
            values = []
            for roll in self.rolls:
                value = 0.0
                p = feral(own, opponent, roll)
                for extra, share in ((3, p), (0, 1 - p)):
                    for points, chance in self.outcomes(opponent, roll).items() if share else ():
                        won, *scores = self.after(own, opponent, points, extra)
                        then = won if self.over(*scores) else 1 - best(*scores, not erring)[1]
                        value += share * chance * then
                values.append(value)
            top = max(values)
            roll = next(roll for roll in self.rolls if values[roll] >= top - TIE)
            return roll, (1 - eps) * top + eps * sum(values) / len(values) if erring else top

        goal = self.rules.size
        return np.array(
            [[best(own, other, False)[0] for other in range(goal)] for own in range(goal)]
        )


@pytest.fixture(scope="module", params=fast_and_slow([SHORT, SHORT_OTHER], [SMALL, OTHER]))
def both(request: pytest.FixtureRequest) -> tuple[HogEngine, Recursion]:
    of = game(request.param)
    return of, Recursion(of.rules)


def tabulate(of: HogEngine, calls: Counter[Key]) -> NDArray[np.float64]:
    records = round(of.memory_size**0.5)
    found = np.zeros((2, of.goal, of.goal, records, records))
    for (own, opponent, seat, mine, theirs), number in calls.items():
        found[seat, own, opponent, mine, theirs] = number
    return found.reshape(2, of.goal, of.goal, -1)


def test_entries_are_calls_of_the_recursion(both: tuple[HogEngine, Recursion]) -> None:
    of, recursion = both
    matrix = np.random.default_rng(0).integers(0, of.num_actions, (of.goal, of.goal))
    policy = np.random.default_rng(1).dirichlet(np.full(of.num_actions, 0.05), (of.goal, of.goal))
    policy[policy < 0.01] = 0.0
    policy /= policy.sum(axis=2, keepdims=True)
    assert ((policy > 0).sum(axis=2) > 1).any()

    perfect = recursion.count(lambda state: [recursion.perfect(*state)[0]])
    assert np.array_equal(entries(of, solve(of).rolls), tabulate(of, perfect))
    fixed = recursion.count(lambda state: [matrix[state[:2]]])
    assert np.array_equal(entries(of, matrix), tabulate(of, fixed))
    mixed = recursion.count(lambda state: np.flatnonzero(policy[state[:2]]))
    assert np.array_equal(entries(of, policy), tabulate(of, mixed))


@pytest.mark.parametrize(
    ("weight", "epsilon", "rounds", "draft"),
    [
        (0.25, 0.01, 0, 0.5),
        (3.0, 0.0, 2, 0.0),
        pytest.param(0.25, 0.01, 1, 1.0, marks=pytest.mark.slow),
        pytest.param(0.25, 0.3, 3, 0.25, marks=pytest.mark.slow),
    ],
)
def test_second_place_is_the_recursion(
    both: tuple[HogEngine, Recursion], weight: float, epsilon: float, rounds: int, draft: float
) -> None:
    of, recursion = both
    found = huan2020(of, weight=weight, epsilon=epsilon, rounds=rounds, draft_weight=draft)
    want = recursion.second_place(weight, epsilon, rounds, draft)
    # Where no play leads there is no guess; every other cell must agree.
    possible = entries(of).sum(axis=(0, 3)) > 0
    assert np.array_equal(found[possible], want[possible])


# --- the second place -----------------------------------------------------------------------------


# Row 1 of the official results of summer 2020, docs/sources.md [7].
OFFICIAL = {
    0: 0.9511758418557836,
    1: 0.9355528820397551,
    3: 0.858606956500955,
    6: 0.80124742981107,
    7: 0.8011531360015995,
    10: 0.8211999978116069,
}


@pytest.fixture(scope="module")
def su20() -> HogEngine:
    return compile_game(EDITIONS["su20"])


@pytest.fixture(scope="module")
def second(su20: HogEngine) -> NDArray[np.int8]:
    return builtin("huan2020", su20).array


def worst(of: HogEngine, matrix: NDArray[np.int8]) -> float:
    return max(
        abs(win_rate(of, matrix, always_roll(of, dice)).win_rate - rate)
        for dice, rate in OFFICIAL.items()
    )


@pytest.mark.slow
def test_second_place_wins_what_it_won(su20: HogEngine, second: NDArray[np.int8]) -> None:
    # The submission itself is unknown. The issue asks for 1e-3, an earlier rebuild had 5e-4.
    assert worst(su20, second) < 1.2e-4


@pytest.mark.slow
def test_the_table_shipped_is_the_one_made(su20: HogEngine, second: NDArray[np.int8]) -> None:
    assert np.array_equal(huan2020(su20), second)


@pytest.mark.slow
def test_second_place_needs_all_of_its_parts(su20: HogEngine) -> None:
    # docs/huan2020.md: each of these is farther from the official results.
    for wrong in ({"rounds": 0}, {"epsilon": 0.0}, {"weight": 1.0}, {"draft_weight": 0.25}):
        assert worst(su20, huan2020(su20, **wrong)) > 5e-4


def test_second_place_without_a_memory_to_guess_is_optimal() -> None:
    for edition in ("hw13", "fa22"):
        of = game({"edition": edition, "goal": 20, "max_dice": 4})
        assert np.array_equal(huan2020(of, epsilon=0.0), optimal(of))


@pytest.mark.parametrize("edition", ["su21", "fa18", "sp21", "fa15"])
def test_second_place_is_refused_where_it_means_nothing(edition: str) -> None:
    of = game({"edition": edition, "goal": 12, "max_dice": 3})
    with pytest.raises(ValueError, match=f"rules {edition}.*allowed:"):
        huan2020(of)
    with pytest.raises(
        StrategyError, match=f"'huan2020': .*for {edition}.*; allowed: su20, with no"
    ):
        builtin("huan2020", of)


# --- guesses and the truth ------------------------------------------------------------------------


def test_a_response_to_certainty_is_the_best_roll() -> None:
    # Everyone is known to have scored 13 or more: no bonus ever, which is the game without it.
    of = game(SMALL)
    certain = np.zeros((of.goal, of.goal, of.memory_size))
    certain[:, :, -1] = 1.0
    assert np.array_equal(respond_to_beliefs(of, certain), ignore_memory(of))
    assert np.array_equal(respond_to_beliefs(of, 0.0 * certain), ignore_memory(of))


def test_seats_count_alike_where_both_have_weight() -> None:
    weights = np.array([[[2.0, 2.0], [1.0, 0.0], [0.0, 0.0]], [[0.0, 5.0], [0.0, 0.0], [0.0, 0.0]]])
    assert over_seats(weights).tolist() == [[0.25, 0.75], [1.0, 0.0], [0.0, 0.0]]
