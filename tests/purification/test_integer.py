"""Rounding by integer programs: the program, its models, and what the search keeps."""

import os
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hogeq
from hogeq.model.game import HogEngine
from hogeq.purification import argmax, linear_models, purify
from hogeq.purification.integer import IntegerRounding, RoundingState
from hogeq.purification.linear_models import EXCESS_PRICE, nearest_choice
from hogeq.runs.directory import Checkpoint, saved_rounds, write_checkpoint
from hogeq.runs.files import ResultsError
from hogeq.search import population
from hogeq.search.attack import attack
from hogeq.search.population import CounterPool, read_counters
from hogeq.search.results import Budget
from hogeq.solvers.regret import DiscountedCFR
from hogeq.strategies.arrays import StrategyError, one_hot
from hogeq.strategies.conversion import strategy_of_shape
from hogeq.support.deadline import Deadline

QUICK: dict[str, Any] = {
    "anew": 2,
    "trails": 2,
    "kicks": 2,
    "life": 2,
    "trials": 1,
    "long_kicks": 2,
    "long_life": 6,
    "warm": 2,
    "seed": 3,
}


# --- the program ----------------------------------------------------------------------------------


@pytest.mark.parametrize("level", [0.0, 0.45, 0.6, 0.9])
@pytest.mark.parametrize("seed", range(3))
def test_a_program_finds_the_best_of_all_choices(seed: int, level: float) -> None:
    random = np.random.default_rng(seed)
    rates, changes = random.uniform(0.4, 0.5, 6), random.uniform(-0.05, 0.15, (6, 12))
    rows = np.repeat(np.arange(4), 3)
    dear = random.uniform(size=12) * (random.uniform(size=12) < 0.5) * (level > 0.0)
    found, bound = nearest_choice(rates, changes, rows, dear, level, 1000)

    def cost(chosen: Any) -> float:
        excess = max(level, (rates + changes @ chosen).max()) - level
        return EXCESS_PRICE * float(excess) - float(dear @ chosen) / (dear.sum() or 1.0)

    every = [np.eye(3)[list(rolls)].ravel() for rolls in product(range(3), repeat=4)]
    assert (found.reshape(4, 3).sum(axis=1) == 1).all()
    least = min(map(cost, every))
    assert cost(found) == pytest.approx(least, abs=2e-4 * max(1.0, abs(least)))
    if level == 0.0:
        assert bound <= min((rates + changes @ one).max() for one in every) + 1e-9


def test_without_nodes_rows_are_free_to_mix_and_then_make_the_likeliest_roll() -> None:
    """Matching pennies as a program: a half of either is best, and no choice is as good."""
    rates, changes, rows = np.zeros(2), np.array([[0.9, 0.2], [0.1, 0.6]]), np.zeros(2, int)
    found, bound = nearest_choice(rates, changes, rows, np.zeros(2), 0.0, 0)
    assert bound == pytest.approx((0.9 * 0.6 - 0.1 * 0.2) / (0.9 + 0.6 - 0.1 - 0.2))
    np.testing.assert_array_equal(found, [False, True])


def test_a_program_without_an_answer_in_time_gives_its_relaxation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from scipy.optimize import milp

    def late(*given: Any, integrality: Any, **more: Any) -> Any:
        result = milp(*given, integrality=integrality, **more)
        if integrality.any():
            result.x = None
        return result

    random = np.random.default_rng(7)
    rates, changes = random.uniform(0.4, 0.5, 6), random.uniform(-0.05, 0.15, (6, 12))
    program = (rates, changes, np.repeat(np.arange(4), 3), np.zeros(12), 0.0)
    relaxed, least = nearest_choice(*program, 0)
    monkeypatch.setattr("scipy.optimize.milp", late)
    found, bound = nearest_choice(*program, 1000)
    assert found.tolist() == relaxed.tolist()
    assert bound == least


def test_without_rows_there_is_nothing_to_choose() -> None:
    empty = np.zeros(0)
    rates, changes = np.array([0.3, 0.4]), np.zeros((2, 0))
    found, bound = nearest_choice(rates, changes, np.zeros(0, int), empty, 0.0, 1)
    assert (bound, len(found)) == (0.4, 0)


# --- the models -----------------------------------------------------------------------------------


def test_models_are_exact_where_one_row_is_open(game: HogEngine) -> None:
    """A win rate is linear in one row, whatever the others are."""
    pure = np.random.default_rng(1).integers(3, size=(10, 10)).astype(np.int8)
    policy = one_hot(pure, 3)
    policy[0, 0] = 0.5, 0.2, 0.3
    state = IntegerRounding(**QUICK).init(game, policy)
    np.testing.assert_array_equal(state.choices, [0, 1, 2])
    for roll in range(3):
        matrix = pure.copy()
        matrix[0, 0] = roll
        exact = CounterPool(game, state.pool).rates_against(one_hot(matrix, 3))
        np.testing.assert_allclose(state.rates + state.changes[:, roll], exact, atol=1e-7)


# --- the search -----------------------------------------------------------------------------------


def end(game: HogEngine, policy: Any, rounds: int, **parameters: Any) -> RoundingState:
    search = IntegerRounding(**{**QUICK, "rounds": rounds, **parameters})
    state = search.init(game, policy)
    for _ in range(rounds):
        state = search.step(game, state)
    return state


def test_a_search_knows_what_its_candidates_lose(game: HogEngine, policy: Any) -> None:
    state = end(game, policy, 5, kept=3)
    assert 1 <= len(state.tried) <= 3
    for matrix, worst in zip(state.tried, state.worst, strict=True):
        rates = CounterPool(game, state.pool).rates_against(one_hot(matrix, 3))
        assert worst == rates.max()
    assert state.rate == state.worst.min()
    assert any(np.array_equal(state.matrix, matrix) for matrix in state.tried)
    assert len(state.rates) == len(state.changes) == len(state.pool)
    assert int(state.iteration) == 5


def test_a_matrix_is_its_own_only_candidate(game: HogEngine, policy: Any) -> None:
    matrix = argmax(game, policy)
    np.testing.assert_array_equal(purify(game, matrix, "integer", rounds=2, **QUICK), matrix)


@pytest.mark.slow
def test_it_loses_less_than_the_likeliest_rolls(larger: HogEngine) -> None:
    """By attacks with another seed, from a policy that is mixed in many rows."""
    game = larger
    solver = DiscountedCFR(average_weight="reach", regret_weight="reach", alternating=False)
    state = solver.init(game)
    for _ in range(100):
        state = solver.step(game, state)
    policy = solver.average(game, state)
    judge = Budget(4, kicks=20, seed=9)
    rounded = purify(game, policy, "integer", rounds=15, seed=1)
    ours, argmaxed = (attack(game, one, judge).win_rate for one in (rounded, argmax(game, policy)))
    assert ours < argmaxed - 0.002


# --- with known counters --------------------------------------------------------------------------


def test_a_search_begins_with_the_counters_of_a_file(
    game: HogEngine, policy: Any, tmp_path: Any
) -> None:
    known = np.random.default_rng(2).integers(0, 3, (4, 10, 10)).astype(np.int8)
    np.savez(tmp_path / "search.npz", pool=known)
    of_run = Checkpoint("bundle", "", 1, 0.0, 0.0, (), {"pool": known})
    write_checkpoint(tmp_path / "checkpoint.npz", of_run)
    strategy_of_shape(None, known[0]).write(tmp_path / "one.csv")
    for name, held in (("search.npz", known), ("checkpoint.npz", known), ("one.csv", known[:1])):
        np.testing.assert_array_equal(read_counters(tmp_path / name, game), held)
        state = IntegerRounding(**QUICK, counters=str(tmp_path / name)).init(game, policy)
        np.testing.assert_array_equal(state.pool[: len(held)], held)


def test_files_without_counters_of_the_game_are_refused(
    game: HogEngine, larger: HogEngine, policy: Any, tmp_path: Any
) -> None:
    pools: dict[str, Any] = {
        "wide": np.zeros((2, 10, 9), np.int8),
        "floats": np.zeros((2, 10, 10)),
        "high": np.full((2, 10, 10), 3, np.int8),
    }
    for name, pool in pools.items():
        np.savez(tmp_path / f"{name}.npz", pool=pool)
    strategy_of_shape(None, policy).write(tmp_path / "policy.npz")
    (tmp_path / "text.npz").write_text("pool")
    os.mkfifo(tmp_path / "pipe.npz")
    for name, says in (
        ("wide", r"allowed: int8 \(n, 10, 10\)"),
        ("floats", r"type <f8 .*; allowed: \|i1"),
        ("high", "allowed: 0 to 2"),
        ("policy", "allowed: matrices"),
        ("text", r"is not an \.npz file"),  # and not to be loaded as a pickle
        ("pipe", "cannot be read: is not a file"),  # nobody writes to it
        ("none", "cannot be read"),
    ):
        with pytest.raises(StrategyError, match=says) as refusal:
            read_counters(tmp_path / f"{name}.npz", game)
        assert "\n" not in str(refusal.value)


def same(one: Any, other: Any) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def last(states: Iterator[RoundingState]) -> RoundingState:
    *_, state = states
    return state


# --- saved ----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_search_that_was_cut_off_ends_with_the_same_bits(
    game: HogEngine, policy: Any, tmp_path: Path
) -> None:
    search = IntegerRounding(**QUICK, rounds=3)
    whole = last(saved_rounds(hogeq.Hog(game.rules), search, policy, tmp_path / "whole.npz"))
    for state in saved_rounds(hogeq.Hog(game.rules), search, policy, tmp_path / "cut.npz"):
        if int(state.iteration) == 2:
            break  # as a process that is killed
    rounds = [
        int(state.iteration)
        for state in saved_rounds(hogeq.Hog(game.rules), search, policy, tmp_path / "cut.npz")
    ]
    assert rounds == [2, 3]
    assert same(
        last(saved_rounds(hogeq.Hog(game.rules), search, policy, tmp_path / "cut.npz")), whole
    )
    assert same(last(search.rounds_from(game, search.init(game, policy))), whole)


def test_a_checkpoint_of_another_search_is_refused(
    game: HogEngine, policy: Any, tmp_path: Path
) -> None:
    path, parameters = tmp_path / "state.npz", {**QUICK, "rounds": 1}
    last(saved_rounds(hogeq.Hog(game.rules), IntegerRounding(**parameters), policy, path))
    last(
        saved_rounds(
            hogeq.Hog(game.rules), IntegerRounding(**{**parameters, "rounds": 2}), policy, path
        )
    )
    for search, strategy in (
        (IntegerRounding(**{**parameters, "kicks": 1}), policy),
        (IntegerRounding(**parameters), argmax(game, policy)),
    ):
        with pytest.raises(ResultsError, match="another search"):
            last(saved_rounds(hogeq.Hog(game.rules), search, strategy, path))
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(ResultsError, match="not a checkpoint"):
        last(saved_rounds(hogeq.Hog(game.rules), IntegerRounding(**parameters), policy, path))


# --- in time --------------------------------------------------------------------------------------


class Looked(Deadline):
    """A deadline that is over when it was asked so many times."""

    looks_left = 0

    @property
    def is_over(self) -> bool:
        self.looks_left -= 1
        return self.looks_left < 0

    @property
    def left(self) -> float:
        return 60.0


def test_a_limit_of_time_leaves_the_rounds_that_ended(game: HogEngine, policy: Any) -> None:
    """A round that is cut short does not count: the matrix is that of so many whole rounds."""
    search = IntegerRounding(**QUICK, rounds=3)
    by_rounds = [argmax(game, policy)]
    by_rounds += [state.matrix for state in search.rounds_from(game, search.init(game, policy))]
    begin = search.init(game, policy).matrix
    np.testing.assert_array_equal(
        search.matrix_in_time(game, policy, Deadline(0.0)), argmax(game, policy)
    )
    for looks in (1, 3, 10, 30, 100, 1000):
        deadline = Looked()
        deadline.looks_left = looks
        matrix = search.matrix_in_time(game, policy, deadline)
        assert any(np.array_equal(matrix, one) for one in [begin, *by_rounds]), looks
    np.testing.assert_array_equal(search.matrix_in_time(game, policy, Deadline()), by_rounds[-1])


def test_purify_keeps_to_its_seconds(game: HogEngine, policy: Any) -> None:
    hog = hogeq.Hog(game.rules)
    started = time.process_time()
    matrix = hog.purify(policy, "integer", seconds=1.0, rounds=100_000, **QUICK)
    assert matrix.kind == "matrix"
    assert time.process_time() - started < 5.0
    np.testing.assert_array_equal(
        hog.purify(policy, "threshold", seconds=0.0, samples=100_000).array.shape, (10, 10)
    )
    with pytest.raises(hogeq.HogeqError, match=r"^seconds: got -1"):
        hog.purify(policy, "integer", seconds=-1.0)


def test_a_file_of_many_counters_keeps_to_the_time(
    game: HogEngine, policy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pool that a file brings is as long as its author likes: it is played in batches."""
    played = 0
    win_rate = population._win_rate_of_member

    def counted(*arguments: Any) -> float:
        nonlocal played
        played += 1
        return win_rate(*arguments)

    monkeypatch.setattr(population, "_win_rate_of_member", counted)
    counters = np.zeros((1000, *game.shape[:-1]), np.int8)
    np.savez_compressed(tmp_path / "pool.npz", pool=counters)
    search = IntegerRounding(**{**QUICK, "counters": str(tmp_path / "pool.npz")})
    deadline = Looked()
    deadline.looks_left = 3
    np.testing.assert_array_equal(
        search.matrix_in_time(game, policy, deadline), argmax(game, policy)
    )
    assert played <= 3 * population.MEMBERS_PER_BATCH


def test_models_that_no_memory_holds_are_refused(
    game: HogEngine, policy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(linear_models, "MOST_MODELLED", 100)
    np.savez_compressed(tmp_path / "pool.npz", pool=np.zeros((50, *game.shape[:-1]), np.int8))
    search = IntegerRounding(**{**QUICK, "counters": str(tmp_path / "pool.npz")})
    with pytest.raises(hogeq.HogeqError, match=r"^counters: [0-9]+ with models of [0-9,]+ rolls"):
        search.matrix(game, policy)
