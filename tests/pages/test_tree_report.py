"""The report on runs of a game other than Hog, on a phone and on a dark screen."""

from pathlib import Path
from typing import Any

import pytest

from hogeq.runs.config import config_from
from hogeq.runs.runner import run_experiment as run
from tests.cli.calls import ask

pytestmark = pytest.mark.slow

CONFIG: dict[str, Any] = {
    "game": "kuhn(players=2,ranks=3)",
    "solver": {"name": "cfr_plus", "iterations": 8},
    "measure": {"every": "log"},
}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the report of two runs, one of them with a long name."""
    root = tmp_path_factory.mktemp("runs")
    names = "one", "another_run_with_a_very_long_name_indeed"
    for name in names:
        run(config_from({**CONFIG, "name": name}), root)
    out = root / "report.html"
    ask("report", *(str(root / name) for name in names), "--out", str(out), "--against", "uniform")
    return out


def test_curves_of_several_runs_lie_over_each_other(written: Path) -> None:
    assert written.read_text("utf-8").count("<img ") == 1


@pytest.mark.parametrize("width", [380, 1280])
def test_it_fits_and_is_dark_in_the_dark(browser: Any, written: Path, width: int) -> None:
    size = {"width": width, "height": 800}
    page = browser.new_context(offline=True, viewport=size, color_scheme="dark").new_page()
    page.goto(written.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") == width
    shades = page.evaluate(
        "['backgroundColor', 'color'].map((one) => getComputedStyle(document.body)[one]"
        ".match(/\\d+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0))"
    )
    assert shades[0] < 100
    assert shades[1] > 600
    # Pictures are drawn on white: the dark has them inverted.
    assert "invert" in page.evaluate("getComputedStyle(document.querySelector('img')).filter")
    page.context.close()
