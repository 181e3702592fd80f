"""Free solvers on instances of the benchmark: they find and prove the best of all strategies."""

from argparse import Namespace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import peers
import pytest
from peers import by_cp_sat, by_scip, by_toulbar2, lines

import hogeq
from hogeq.support.deadline import Deadline
from hogeq.trees.absent import Decision
from hogeq.trees.flat import FlatTree
from hogeq.trees.sequences import sequence_form
from tests.benchmark.tiny_problems import TINY
from tests.trees.absent_games import DRIVER


@pytest.mark.parametrize(
    ("package", "solver"),
    [("ortools", by_cp_sat), ("pytoulbar2", by_toulbar2)],
    ids=lambda one: one,
)
@pytest.mark.parametrize("tree", TINY, ids=lambda tree: tree.name)
def test_solvers_prove_the_best_pure_strategy(tree: FlatTree, package: str, solver: Any) -> None:
    pytest.importorskip(package)
    original = sequence_form(tree, 0)
    form, payoffs = original.inflated, original.payoffs_against(tree.uniform())
    every = map(np.array, product(*(range(legal) for legal in form.tree.num_legal)))
    best = max(form.pure_realisation(actions) @ payoffs for actions in every)
    found = solver(form, payoffs, 20.0)
    assert form.pure_realisation(found.strategy) @ payoffs == pytest.approx(best, abs=1e-12)
    assert best <= found.bound <= best + 1e-8


def test_scip_proves_the_best_policy_of_an_absent_minded_driver(tmp_path: Path) -> None:
    """Payoff 4x(1 - x), most at 1/2."""
    pytest.importorskip("pyscipopt")
    (tmp_path / "driver.txt").write_text(DRIVER.format(last=0))
    driver = hogeq.Game(str(tmp_path / "driver.txt")).tree
    decision = Decision.of(driver, driver.uniform())
    found = by_scip(decision, 20.0)
    assert found.strategy[0] == pytest.approx([0.5, 0.5], abs=1e-3)
    assert decision.value(found.strategy) == pytest.approx(1.0, abs=1e-5)  # SCIP's tolerance
    assert found.bound == pytest.approx(1.0, abs=1e-5)


def test_a_solver_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers, "find_spec", lambda _: None)
    monkeypatch.setattr(Deadline, "usual_clock", Deadline.usual_clock)  # it is set back afterwards
    own, *others = lines(Namespace(only=["random-4x3x8"], seconds=5.0))
    assert own[:5] == ["random-4x3x8", "hogeq", "0.8878173", "0.8878174", "0"]
    missing = ["not installed", "", "", "", ""]
    assert others == [["random-4x3x8", name, *missing] for name in ("toulbar2", "CP-SAT")]
