"""The page of `hogeq report`: the numbers in it, and what is refused."""

import json
import re
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from hogeq.cli import app
from hogeq.model.game import HogEngine
from hogeq.pages import report as page
from hogeq.runs.files import MANIFEST, MATRIX, METRICS, POLICY, read_metrics
from hogeq.runs.index import load_runs
from hogeq.support.workers import workers
from tests.pages.runs import CONFIG, data_of


def test_the_counter_is_the_attack_of_the_last_checkpoint(folder: Path, written: Path) -> None:
    answer = json.loads((folder / "answer.json").read_text())
    last = read_metrics(folder / "first" / METRICS)[-1]
    found = answer["counters"]
    assert found["first: average policy"]["attack"] == pytest.approx(last.attack, abs=1e-12)
    assert found["first: average policy"]["bound"] == pytest.approx(last.bound, abs=1e-12)
    assert found["first: matrix"]["attack"] == pytest.approx(last.purified_attack, abs=1e-12)
    assert answer["bytes"] == written.stat().st_size < page.MOST_BYTES


def test_the_same_runs_give_the_same_page(folder: Path, game: HogEngine) -> None:
    runs = load_runs([folder / "first"])
    pages = []
    for jobs in (1, 2):
        with workers(jobs):
            pages.append(page.make(game, runs, page.entries(game, runs, matrices=False)).html)
    assert pages[0] == pages[1]


def test_a_run_given_twice_is_on_the_page_once(folder: Path, tmp_path: Path) -> None:
    first = folder / "first"
    given = ["report", str(first), f"{first}/", str(folder / "second" / ".." / "first")]
    options = ["--out", str(tmp_path / "r.html"), "--no-matrices", "--json"]
    result = CliRunner().invoke(app, [*given, *options])
    assert result.exit_code == 0, result.stderr
    answer = json.loads(result.stdout)
    assert (answer["runs"], list(answer["counters"])) == (["first"], ["first: average policy"])


def test_options_change_the_effort_behind_the_final_figures(folder: Path, tmp_path: Path) -> None:
    final = {"starts": 1, "anneal_steps": 2, "kicks": 3}
    measured = CONFIG["measure"] | {"final_attack": final}  # type: ignore[operator]
    for name in (POLICY, MATRIX):
        shutil.copy(folder / "first" / name, tmp_path)
    (tmp_path / MANIFEST).write_text(json.dumps({"config": CONFIG | {"measure": measured}}))
    given = ["report", str(tmp_path), "--out", str(tmp_path / "r.html"), "--no-matrices"]
    for options, changed in (
        ([], {}),
        (["--kicks", "0", "--anneal-steps", "4"], {"kicks": 0, "anneal_steps": 4}),
    ):
        result = CliRunner().invoke(app, [*given, *options])
        assert result.exit_code == 0, result.stderr
        spent = data_of(tmp_path / "r.html")["strategies"][0]["explored"]["counter"]["effort"]
        assert {key: spent[key] for key in final} == final | changed


# --- bad input ------------------------------------------------------------------------------------


def refused(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["report", *arguments])
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert re.fullmatch(r"hogeq: [^\n]+\n", result.stderr), result.stderr
    return result.stderr


@pytest.mark.parametrize(
    "figures",
    [
        *(3, {"average_policy": 3, "matrix": {}}),
        {"average_policy": {"attack": "0.6", "bound": 0.7}, "matrix": {"attack": 0.6}},
        {"average_policy": {"attack": float("nan"), "bound": 0.7}, "effort": [1]},
        {"matrix": {"attack": 0.6, "bound": 7}, "average_policy": None},
    ],
)
def test_figures_that_no_run_wrote_count_as_missing(folder: Path, figures: Any) -> None:
    (good,) = load_runs([folder / "first"])
    one = replace(good, manifest={**good.manifest, "figures": figures})
    none = replace(good, manifest={**good.manifest, "figures": None})
    assert page._summary([good], {}) != ""
    assert page._summary([one], {}) == page._summary([none], {}) == ""
    assert page._run(one) == page._run(none) | {"manifest": page._run(one)["manifest"]}


def test_what_no_page_can_be_made_of_is_refused(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, out = str(folder / "first"), str(tmp_path / "r.html")
    (tmp_path / "empty").mkdir()
    assert "No such file" in refused(str(tmp_path / "none"), "--out", out)
    assert "no policy.npz" in refused(str(tmp_path / "empty"), "--out", out)
    assert "runs of one game" in refused(first, str(folder / "other"), "--out", out)
    assert "kicks: got -1" in refused(first, "--out", out, "--kicks", "-1")
    monkeypatch.setattr(page, "MOST_BYTES", 10**6)
    assert "give fewer runs, or --no-matrices" in refused(first, "--out", out)
    assert not (tmp_path / "r.html").exists()


def test_a_page_without_plotly_is_refused(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "plotly", None)
    told = refused(str(folder / "first"), "--out", str(tmp_path / "r.html"))
    assert "plotly: not installed, and needed for the page; pip install plotly brings it" in told
