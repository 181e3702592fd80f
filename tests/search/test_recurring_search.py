"""Searches where positions recur, and play may come to almost nothing or never end."""

from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from hogeq.evaluation import enclosures
from hogeq.model import graph_passes
from hogeq.model.game import HogEngine, compile_game
from hogeq.model.protocol import Passes, Role
from hogeq.model.shared import quick_workspace
from hogeq.rules import rules_from
from hogeq.search.attack import attack
from hogeq.search.bounds import full_memory_bound, respond_in_hog
from hogeq.search.results import Budget
from hogeq.strategies.conversion import strategy_of
from hogeq.support.aliases import Floats
from hogeq.support.messages import digits

# Nothing is hidden in it, so the best response that remembers all is one that does not.
RECURS = {"edition": "sp22", "goal": 8, "max_dice": 3}


def small(**changes: object) -> HogEngine:
    return compile_game(rules_from(RECURS | changes))


def random_matrix(game: HogEngine, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(game.num_actions, size=(game.goal, game.goal))


# From the third and the eighteenth annealing came to cells of reach 1e-308, and to no end.
@pytest.mark.parametrize("seed", [0, 3, 18])
def test_an_annealed_attack_with_kicks_ends_with_the_best_response(seed: int) -> None:
    game = small()
    matrix = random_matrix(game, seed)
    found = attack(game, matrix, Budget(2, 10, kicks=40, seed=seed))
    assert found.win_rate == pytest.approx(full_memory_bound(game, matrix), abs=1e-9)


@pytest.mark.parametrize("least", [1e-307, 1e-320])
@pytest.mark.parametrize(
    "rules",
    [
        RECURS,
        {"edition": "su20"},  # compiled for it
        {"edition": "su20", "goal": 20, "max_dice": 4},
        {"edition": "fa22", "goal": 20, "max_dice": 4},  # by diagonals
        {"edition": "su20", "goal": 8, "max_dice": 2, "pig_out": 0},
    ],
)
@pytest.mark.parametrize("passes", [HogEngine.workspace, quick_workspace])
def test_rows_that_are_hardly_ever_reached_stay_policies(
    passes: Callable[[HogEngine, int], Passes], rules: dict[str, object], least: float
) -> None:
    game = compile_game(rules_from(rules))
    policies = np.full((2, *game.shape), 1.0 / game.num_actions)
    # Only these first rolls lead to some of the cells.
    policies[:, 0, 0] = least
    policies[:, 0, 0, 0] = 1.0 - least * (game.num_actions - 1)
    work = passes(game, 2)
    work.backward(work.forward(policies), policies, Role.SOFTMAX, temperature=3e-4, damping=0.5)
    assert policies[0].min() >= 0.0
    assert policies[0].sum(axis=-1) == pytest.approx(1.0, abs=1e-12)


def test_an_interval_of_games_that_never_end_is_one() -> None:
    game = compile_game(rules_from({"goal": 12, "max_dice": 3, "zero_dice": [0] * 12}))
    found = respond_in_hog(game, np.zeros((12, 12), int), Budget(1, 0, kicks=0))
    assert found.value <= found.bound


RECURRING = [
    {"edition": "sp13", "goal": 6, "max_dice": 2, "pig_out": 0},
    {"edition": "fa25", "goal": 5, "max_dice": 2, "pig_out": 0},
    {"edition": "fa15", "goal": 6, "max_dice": 2, "piggy_back": False},
]


def win_rate_in_fractions(game: HogEngine, policies: Sequence[Floats]) -> Fraction:
    """Win rate of policies (2, R, K) of whole numbers, by a linear system over all states."""
    graph, memories = game.graph, game.graph.memories
    states = graph.positions * memories
    system = [[Fraction(0)] * states + [Fraction(0)] for _ in range(states)]
    for position in range(graph.positions):
        row = policies[graph.player[position]][graph.row[position]]
        for memory in range(memories):
            equation = system[position * memories + memory]
            equation[position * memories + memory] += 1
            way = graph.way[graph.situation[position], memory, int(row.argmax())]
            for outcome in range(graph.first[way], graph.first[way + 1]):
                chance = Fraction(float(graph.chance[outcome])).limit_denominator(6**3)
                entry = graph.place[position] + graph.end[outcome]
                there = graph.next[entry]
                if there < 0:
                    equation[-1] += chance * Fraction(float(graph.payoff[-1 - there]))
                else:
                    learned = graph.following[graph.label[entry], graph.lane[memory]]
                    equation[there * memories + learned] -= chance
    values = solved(system)
    starts = [values[position * memories + memory] for position, memory in graph.start]
    return sum(starts, Fraction(0)) / len(starts)


def solved(system: list[list[Fraction]]) -> list[Fraction]:
    size = len(system)
    for column in range(size):
        pivot = next(row for row in range(column, size) if system[row][column])
        system[column], system[pivot] = system[pivot], system[column]
        first = system[column]
        for other in range(column + 1, size):
            factor = system[other][column] / first[column]
            if factor:
                system[other] = [
                    one - factor * two for one, two in zip(system[other], first, strict=True)
                ]
    values = [Fraction(0)] * size
    for row in reversed(range(size)):
        known = sum(system[row][later] * values[later] for later in range(row + 1, size))
        values[row] = (system[row][-1] - known) / system[row][row]
    return values


@pytest.mark.parametrize("rules", RECURRING, ids=lambda rules: rules["edition"])
@pytest.mark.parametrize("decimals", [2, 9, 10])
def test_a_response_that_is_called_exact_is_so_in_every_digit(
    rules: dict[str, object], decimals: int
) -> None:
    game = compile_game(rules_from(rules))
    assert game.positions_recur
    target = strategy_of(game, np.full((game.goal, game.goal), 1))
    before = digits.set(decimals)
    try:
        found = respond_in_hog(game, target, Budget(2, 10, kicks=4))
        (_, written, meaning), *_ = found.rows()
    finally:
        digits.reset(before)
    policies = [one.policies[0].reshape(-1, game.num_actions) for one in (found.strategy, target)]
    exact = win_rate_in_fractions(game, policies)
    lower, upper = (Fraction(end) for end in found.ends)
    assert lower <= exact <= upper < lower + Fraction(1, 10**12)
    assert "exact" in meaning
    shown = Decimal(exact.numerator) / Decimal(exact.denominator) * 100
    assert written == f"{shown:.{decimals}f} %"


def test_seats_of_a_best_response_have_the_digits_that_are_true() -> None:
    rules = {"goal": 3, "max_dice": 1, "sides": 2, "zero_dice": 0, "pig_out": 0}
    found = respond_in_hog(compile_game(rules_from(rules)), np.ones((3, 3), int))
    seats = found.to_json()["seats"]
    for seat, exact in zip(seats, (Fraction(16, 27), Fraction(11, 27)), strict=True):
        places = len(str(seat)) - len("0.")
        assert 12 <= places <= 15
        assert seat == round(float(exact), places)


def test_ends_that_rounding_may_part_are_not_one(monkeypatch: pytest.MonkeyPatch) -> None:
    game = compile_game(rules_from({"edition": "fa25", "goal": 12, "max_dice": 2, "pig_out": 0}))
    monkeypatch.setattr(enclosures, "MOST_ROUNDS", 3)
    found = respond_in_hog(game, np.full((game.goal, game.goal), 1), Budget(2, 10, kicks=4))
    assert found.bound - found.value < 1e-12
    assert not found.is_proved


def test_bounds_hold_where_an_iteration_ends_early(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seventeen coins without a 1 are rare, and any other throw leaves the scores as they are."""
    monkeypatch.setattr(graph_passes, "MOST_DENSE", 0)  # by iteration, as large blocks are
    coins = {"max_dice": 17, "min_dice": 17, "sides": 2}
    rules = {"goal": 2, **coins, "pig_out": 0, "zero_dice": [0, 0]}
    game = compile_game(rules_from(rules))
    # Both players can do nothing else, so that each wins half of the games.
    target = np.full((2, 2), 17)
    found = respond_in_hog(game, target, Budget(1, 0, kicks=0))
    assert full_memory_bound(game, target) >= 0.5
    assert found.value <= 0.5 <= found.bound <= found.full_memory
    assert not found.is_proved
