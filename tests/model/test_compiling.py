"""Kernels that a command needs are compiled side by side, and no process starts without need."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hogeq.kernels import cache, graph_passes
from hogeq.model.compiling import compile_now, missing
from hogeq.model.expecting import expect
from hogeq.model.game import HogEngine, compile_game
from hogeq.model.protocol import Reach, Role
from hogeq.rules import rules_from


def game_of(period: int) -> HogEngine:
    """Give a tiny game, with lanes of a width of its own."""
    parts = {"edition": "su21", "goal": 6, "max_dice": 2, "time_trot_period": period}
    return compile_game(rules_from(parts))


@pytest.fixture(autouse=True)
def helpers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Have two cores, a cache of one's own, and nothing loaded; the processes that are started."""
    for kernel in (graph_passes.forward, graph_passes.value):
        kernel._make_finalizer()()
        kernel._reset_overloads()
    started, popen = list[Any](), subprocess.Popen

    def start(*arguments: Any, **options: Any) -> Any:
        started.append(popen(*arguments, **options))
        return started[-1]

    monkeypatch.setattr(subprocess, "Popen", start)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(cache, "cores", lambda: 2)
    monkeypatch.setattr(cache, "FEWEST", 1)
    cache.tell_once.cache_clear()
    return started


def reach_and_values(game: HogEngine) -> tuple[Any, Any]:
    """Call two kernels."""
    passes = game.graph_layout(2)
    passes.forward(np.full((2, *game.shape), 1.0 / game.num_actions))
    reach, plays = passes.passes.reach, np.zeros((2, *game.shape))
    passes.backward(Role.FULL_MEMORY, plays, Reach(np.zeros(0), np.ones(1)), 1.0, 1.0)
    return reach, passes.passes.values[0]


def hits(kernel: Any) -> int:
    return sum(kernel.stats.cache_hits.values())


def test_a_helper_compiles_what_is_needed_next(
    helpers: list[Any], caplog: pytest.LogCaptureFixture
) -> None:
    game = game_of(37)
    before = hits(graph_passes.value)
    expect(game, "hidden states")
    reach, values = reach_and_values(game)
    assert hits(graph_passes.value) == before + 1  # read, not compiled here
    assert [helper.returncode for helper in helpers] == [0]
    assert caplog.messages == ["hogeq: compiling kernels, once"]
    assert not list(missing(game, "hidden states"))
    assert reach[0, :2, 0].tolist() == [0.5, 0.5]  # of who begins
    assert values.shape == (2 * game.goal**2, game.memory_size)
    assert np.isfinite(values).all()


@pytest.mark.slow
def test_no_process_is_started_for_few_kernels(
    helpers: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "FEWEST", 3)
    game = game_of(61)
    expect(game, "hidden states")
    reach_and_values(game)
    assert not helpers
    assert len(cache.stored()) == 2


@pytest.mark.slow
def test_no_process_is_started_where_all_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    game = game_of(45)
    reach_and_values(game)

    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError

    monkeypatch.setattr(subprocess, "Popen", refuse)
    monkeypatch.setattr("hogeq.model.compiling.missing", refuse)
    expect(game, "hidden states")
    reach_and_values(game)


@pytest.mark.slow
@pytest.mark.parametrize("starts", [False, True])
def test_what_helpers_do_not_deliver_is_compiled_here(
    starts: bool, helpers: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    if not starts:
        monkeypatch.setattr(sys, "executable", "/no/such/python")
    monkeypatch.setattr(cache, "PROGRAM", "raise SystemExit(1)")
    game = game_of(53 if starts else 29)
    expect(game, "hidden states")
    reach_and_values(game)
    assert len(helpers) == starts
    assert len(cache.stored()) == 2


@pytest.mark.slow
def test_what_several_processes_need_is_compiled_before(helpers: list[Any]) -> None:
    rules = game_of(21).rules
    compile_now([rules, rules], ["hidden states"])
    assert not list(missing(compile_game(rules), "hidden states"))
    assert {file.name.partition("-")[0] for file in cache.stored()} == {
        "graph_passes.forward",
        "graph_passes.value",
    }
    assert len(helpers) == 1
