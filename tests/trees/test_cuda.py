"""The loops on a GPU give what the loops on a core give; without a GPU numba simulates one."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hogeq
from hogeq.model.protocol import Role
from hogeq.solvers import SOLVERS
from hogeq.support.aliases import Floats
from hogeq.support.devices import has_gpu
from hogeq.trees.engine import TreeEngine
from hogeq.trees.flat import FlatTree
from tests import toys
from tests.trees.test_scale import random_game

ROOT = Path(__file__).parents[2]
NEAR = 1e-10
needs_gpu = pytest.mark.skipif(not has_gpu(), reason="no GPU, nor one that numba simulates")


def trees() -> list[FlatTree]:
    """List games of two players, with rows of several pasts and with chances of 0 among them."""
    drawn = [toys.tree_of(random_game(seed, depth=3 + seed % 3)) for seed in range(12)]
    ranked = [tree for tree in drawn if tree.num_rows and _has_order(tree)]
    assert len(ranked) > 5
    return [toys.kuhn().tree, toys.bits().tree, toys.forgetful_rock_paper_scissors().tree, *ranked]


def _has_order(tree: FlatTree) -> bool:
    try:
        TreeEngine(tree)
    except ValueError:
        return False
    return True


def close(one: Any, other: Any) -> None:
    np.testing.assert_allclose(np.asarray(one), np.asarray(other), rtol=0.0, atol=NEAR)


def passed(engine: TreeEngine, policies: Floats, role: Role) -> list[Any]:
    """Do a pass there and back; all that comes of it."""
    now, work = policies.copy(), engine.workspace(len(policies))
    reach = work.forward(now, np.arange(1.0, len(now)) / max(1, sum(range(len(now)))))
    rows = reach.rows.copy()
    met = work.backward(reach, now, role, temperature=0.05, damping=0.5)
    known = work.win_rate(policies, Role.FULL_MEMORY)
    return [rows, met.first, met.other, met.changes, met.values, now, known]


@needs_gpu
@pytest.mark.parametrize("players", [1, 2, 4])
@pytest.mark.parametrize("role", [Role.COUNTERFACTUAL, Role.ASCEND, Role.SOFTMAX])
def test_passes_are_those_of_a_core(role: Role, players: int) -> None:
    for seed, tree in enumerate(trees()):
        core, device = TreeEngine(tree), TreeEngine(tree, "cuda")
        random = np.random.default_rng(seed)
        policies = random.dirichlet(np.ones(core.num_actions), (players, core.shape[0]))
        for one, other in zip(
            passed(core, policies, role), passed(device, policies, role), strict=True
        ):
            close(one, other)


@needs_gpu
@pytest.mark.parametrize("alternating", [False, True])
@pytest.mark.parametrize("name", ["cfr", "dcfr", "pcfr_plus"])
def test_regret_minimisers_are_those_of_a_core(name: str, alternating: bool) -> None:
    solver: Any = SOLVERS[name](alternating=alternating, epsilon=0.01)
    for tree in trees():
        states = []
        for engine in (TreeEngine(tree), TreeEngine(tree, "cuda")):
            state, done = solver.steps(engine, solver.init(engine), 5)
            again, more = solver.steps(engine, state, 3)
            assert (done, more) == (5, 3)
            states.append(again)
        for one, other in zip(*states, strict=True):
            close(one, other)


@needs_gpu
def test_a_game_is_solved_and_attacked_on_a_gpu() -> None:
    here, there = (hogeq.Game("kuhn_poker", device=name) for name in ("cpu", "cuda"))
    solved = [game.solve("cfr_plus", 30).policy for game in (here, there)]
    close(solved[0].array, solved[1].array)
    forgets = hogeq.Game("kuhn_poker", forget="own_actions", device="cuda")
    assert forgets.attack("uniform").value > 0.1


@pytest.mark.skipif(has_gpu(), reason="a GPU is there")
def test_a_gpu_that_is_not_there_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^device: got 'cuda'; allowed: cpu, for numba finds no"):
        hogeq.Game("kuhn_poker", device="cuda")


def test_other_devices_and_games_of_hog_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^device: got 'gpu'; allowed: cpu or cuda"):
        hogeq.Game("kuhn_poker", device="gpu")
    if has_gpu():
        with pytest.raises(ValueError, match=r"^device: got 'cuda'; allowed: cpu for games of Hog"):
            hogeq.Game("su20", device="cuda")


@pytest.mark.skipif(has_gpu(), reason="all the tests ran on it")
@pytest.mark.parametrize(
    ("chosen", "least"),
    [
        (["tests/trees/test_cuda.py", "-k", "attacked"], 1),
        pytest.param(
            ["tests/test_engines.py", "tests/trees/test_cuda.py", "-k", "cuda"],
            81,
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_simulated_gpu_keeps_every_promise_of_the_protocol(chosen: list[str], least: int) -> None:
    done = subprocess.run(  # noqa: S603 - this Python
        [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", *chosen],
        cwd=ROOT,
        env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert int(done.stdout.split(" passed")[0].split()[-1]) >= least
