"""What the pictures of `hogeq show` and of a run say of themselves."""

from pathlib import Path

import pytest
from matplotlib.figure import Figure
from typer.testing import CliRunner

from hogeq.cli import app

RULES = "--rules", "small.yaml"
RUN = """
name: drawn
rules: {edition: su20, goal: 10, max_dice: 3}
solver: {name: dcfr, iterations: 3}
measure:
  every: 1
  attack: {starts: 1, anneal_steps: 0, kicks: 0}
  final_attack: {starts: 4, kicks: 2}
"""


@pytest.fixture(autouse=True)
def _small_game(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("small.yaml").write_text("{edition: su20, goal: 10, max_dice: 3}")
    Path("run.yaml").write_text(RUN)


def _call(*arguments: str) -> None:
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.stderr


@pytest.mark.slow
def test_a_run_draws_its_result_and_both_efforts(drawn: list[Figure]) -> None:
    _call("run", "run.yaml")
    curves, matrix = drawn
    (legend,) = curves.legends
    assert legend.get_title().get_text().splitlines() == [
        "curves: attacks of 1 start, 0 anneal steps, 0 kicks",
        "result: attacks of 4 starts, 60 anneal steps, 2 kicks",
    ]
    stars = [line for line in curves.axes[0].lines if line.get_marker() == "*"]
    assert len(stars) == 3  # of the policy, of the matrix, and in the legend
    assert [axes.get_title() for axes in matrix.axes] == ["all positions", "where its play comes"]
