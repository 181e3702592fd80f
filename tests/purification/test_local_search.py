"""Local search answered by trails, begun with known counters, and saved on its way."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hogeq.baselines.solved import ignore_memory
from hogeq.model.game import HogEngine
from hogeq.purification import argmax
from hogeq.purification.local_search import LocalSearch, LocalState
from hogeq.runs.directory import Checkpoint, saved_rounds, write_checkpoint
from hogeq.runs.files import ResultsError
from hogeq.search.population import CounterPool, read_counters
from hogeq.strategies.arrays import StrategyError, one_hot
from hogeq.strategies.files import write_strategy
from hogeq.support.workers import workers

TRAILS: dict[str, Any] = {"trails": 2, "kicks": 2, "life": 4, "rounds": 3, "seed": 4}


def same(one: LocalState, two: LocalState) -> bool:
    others = two._asdict()
    return all(np.array_equal(array, others[name]) for name, array in one._asdict().items())


def end(states: Iterator[LocalState]) -> LocalState:
    *_, last = states
    return last


# --- trails ----------------------------------------------------------------------------------


def test_counters_of_trails_stay_in_the_pool(game: HogEngine, policy: Any) -> None:
    search = LocalSearch(**TRAILS)
    state = search.init(game, policy)
    assert len(state.trails) == len(state.kicks_left) == 2
    for done in range(1, 4):
        state = search.step(game, state)
        assert int(state.iteration) == done
        pool = {matrix.tobytes() for matrix in state.pool}
        assert {matrix.tobytes() for matrix in state.trails} <= pool
        rates = CounterPool(game, state.pool).rates_against(one_hot(state.matrix, 3))
        assert float(state.rate) == rates.max()


def test_the_radius_grows_after_a_step_and_shrinks_without_one(
    game: HogEngine, policy: Any
) -> None:
    search = LocalSearch(**{**TRAILS, "radius": 4})
    state, went = search.init(game, policy), set[bool]()
    for _ in range(8):
        after = search.step(game, state)
        better = after.rate < state.rate and not np.array_equal(after.matrix, state.matrix)
        if better or (after.rate >= state.rate and np.array_equal(after.former, state.former)):
            ratio = 1.5 if better else 0.95
            assert float(after.radius) == max(1.0, float(state.radius) * ratio)
            went.add(bool(better))
        state = after
    assert went == {True, False}


def test_a_matrix_that_was_accepted_too_soon_is_given_up(game: HogEngine, policy: Any) -> None:
    """Counters found since win more against it than the matrix before lost."""
    search = LocalSearch(**TRAILS)
    former = ignore_memory(game)
    poor = np.zeros((10, 10), np.int8)
    begun = search.init(game, former)
    state = begun._replace(matrix=poor, rate=np.array(0.0), former=former, former_rate=begun.rate)
    after = search.step(game, state)
    np.testing.assert_array_equal(after.matrix, former)
    rates = CounterPool(game, after.pool).rates_against(one_hot(former, 3))
    assert float(after.rate) == rates.max()


def test_threads_change_no_bit_of_trails(game: HogEngine, policy: Any) -> None:
    search = LocalSearch(**TRAILS)
    one = end(search.rounds_from(game, search.init(game, policy)))
    with workers(2):
        two = end(search.rounds_from(game, search.init(game, policy)))
    assert same(one, two)


# --- with known counters --------------------------------------------------------------------------


def test_a_search_begins_with_the_counters_of_a_file(
    game: HogEngine, policy: Any, tmp_path: Any
) -> None:
    known = np.random.default_rng(2).integers(0, 3, (4, 10, 10)).astype(np.int8)
    np.savez(tmp_path / "search.npz", pool=known)
    of_run = Checkpoint("bundle", "", 1, 0.0, 0.0, (), {"pool": known})
    write_checkpoint(tmp_path / "checkpoint.npz", of_run)
    write_strategy(tmp_path / "one.csv", known[0])
    for name, held in (("search.npz", known), ("checkpoint.npz", known), ("one.csv", known[:1])):
        np.testing.assert_array_equal(read_counters(tmp_path / name, game), held)
        state = LocalSearch(counters=str(tmp_path / name), **TRAILS).init(game, policy)
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
    write_strategy(tmp_path / "policy.npz", policy)
    (tmp_path / "text.npz").write_text("pool")
    for name, says in (
        ("wide", r"allowed: int8 \(n, 10, 10\)"),
        ("floats", "float64"),
        ("high", "allowed: 0 to 2"),
        ("policy", "allowed: matrices"),
        ("text", "cannot be read"),
        ("none", "cannot be read"),
    ):
        with pytest.raises(StrategyError, match=says) as refusal:
            read_counters(tmp_path / f"{name}.npz", game)
        assert "\n" not in str(refusal.value)


# --- saved ----------------------------------------------------------------------------------------


def test_a_search_that_was_cut_off_ends_with_the_same_bits(
    game: HogEngine, policy: Any, tmp_path: Path
) -> None:
    search = LocalSearch(**TRAILS)
    whole = end(saved_rounds(game, search, policy, tmp_path / "whole.npz"))
    for state in saved_rounds(game, search, policy, tmp_path / "cut.npz"):
        if int(state.iteration) == 2:
            break  # as a process that is killed
    rounds = [
        int(state.iteration) for state in saved_rounds(game, search, policy, tmp_path / "cut.npz")
    ]
    assert rounds == [2, 3]
    assert same(end(saved_rounds(game, search, policy, tmp_path / "cut.npz")), whole)
    assert same(end(search.rounds_from(game, search.init(game, policy))), whole)


def test_a_checkpoint_of_another_search_is_refused(
    game: HogEngine, policy: Any, tmp_path: Path
) -> None:
    path, parameters = tmp_path / "state.npz", {**TRAILS, "rounds": 1}
    end(saved_rounds(game, LocalSearch(**parameters), policy, path))
    end(saved_rounds(game, LocalSearch(**{**parameters, "rounds": 2}), policy, path))
    for search, strategy in (
        (LocalSearch(**{**parameters, "kicks": 1}), policy),
        (LocalSearch(**parameters), argmax(game, policy)),
    ):
        with pytest.raises(ResultsError, match="another search"):
            end(saved_rounds(game, search, strategy, path))
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(ResultsError, match="not a checkpoint"):
        end(saved_rounds(game, LocalSearch(**parameters), policy, path))
