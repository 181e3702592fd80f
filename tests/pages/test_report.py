"""The page of `hogeq report`: the numbers in it, and what is refused."""

import base64
import json
import re
import shutil
import sys
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from hogeq import Hog
from hogeq.cli import app
from hogeq.evaluation.values import belief, hidden_action_values, reach
from hogeq.model.game import compile_game
from hogeq.pages import frame
from hogeq.pages import report as page
from hogeq.pages.report import explore
from hogeq.rules import memory, rules_from
from hogeq.runs.files import MANIFEST, MATRIX, METRICS, POLICY, read_metrics
from hogeq.runs.index import load_runs
from hogeq.search.results import Budget
from hogeq.support.workers import workers
from tests.cli.calls import ask, ok, refused
from tests.pages.runs import CONFIG, data_of


def test_the_counter_is_the_attack_of_the_last_checkpoint(folder: Path, written: Path) -> None:
    answer = json.loads((folder / "answer.json").read_text())
    last = read_metrics(folder / "first" / METRICS)[-1]
    found = answer["counters"]
    assert found["first: average policy"]["attack"] == pytest.approx(last.attack, abs=1e-12)
    assert found["first: average policy"]["bound"] == pytest.approx(last.bound, abs=1e-12)
    assert found["first: matrix"]["attack"] == pytest.approx(last.purified_attack, abs=1e-12)
    assert answer["bytes"] == written.stat().st_size < page.MOST_BYTES


def test_the_same_runs_give_the_same_page(folder: Path) -> None:
    runs = load_runs([folder / "first"])
    game = runs[0].game
    assert isinstance(game, Hog)
    pages = []
    for jobs in (1, 2):
        with workers(jobs):
            pages.append(page.make(game, runs, page.entries(game, runs, matrices=False))[0])
    assert pages[0] == pages[1]


def test_a_run_given_twice_is_on_the_page_once(folder: Path, tmp_path: Path) -> None:
    first = folder / "first"
    given = ["report", str(first), f"{first}/", str(folder / "second" / ".." / "first")]
    answer = ask(*given, "--out", str(tmp_path / "r.html"), "--no-matrices")
    assert (answer["runs"], list(answer["counters"])) == (["first"], ["first: average policy"])


def test_files_beside_runs_are_left_out(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "summary.png").touch()
    given = ["report", str(folder / "first"), str(tmp_path / "summary.png")]
    done = CliRunner().invoke(app, [*given, "--out", str(tmp_path / "r.html"), "--no-matrices"])
    assert done.exit_code == 0
    assert re.search(
        r"^hogeq: left out, files and no runs: \S+summary.png$", done.stderr, re.MULTILINE
    )


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
        ok(*given, *options, "--overwrite")
        spent = data_of(tmp_path / "r.html")["strategies"][0]["explored"]["counter"]["effort"]
        assert {key: spent[key] for key in final} == final | changed


# --- bad input ------------------------------------------------------------------------------------


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
    assert page._run_data(good)["found"]
    assert not page._run_data(none)["found"]
    manifest = page._run_data(one)["manifest"]
    assert page._run_data(one) == page._run_data(none) | {"manifest": manifest}


def test_what_no_page_can_be_made_of_is_refused(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, out = str(folder / "first"), str(tmp_path / "r.html")
    (tmp_path / "empty").mkdir()
    assert "No such file" in refused("report", str(tmp_path / "none"), "--out", out)
    (tmp_path / "table.csv").touch()
    line = refused("report", str(tmp_path / "table.csv"), "--out", out)
    assert "table.csv: is a file; allowed: directories of finished runs" in line
    assert "no policy.npz" in refused("report", str(tmp_path / "empty"), "--out", out)
    assert "runs of one game" in refused("report", first, str(folder / "other"), "--out", out)
    assert "kicks: got -1" in refused("report", first, "--out", out, "--kicks", "-1")
    monkeypatch.setattr(page, "MOST_BYTES", 10**6)
    assert "give fewer runs, or --no-matrices" in refused("report", first, "--out", out)
    assert not (tmp_path / "r.html").exists()


def test_a_page_without_plotly_is_refused(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "plotly", None)
    told = refused("report", str(folder / "first"), "--out", str(tmp_path / "r.html"))
    assert (
        "plotly: not installed, and needed for the page; pip install 'hogeq[report]' brings" in told
    )


# --- the numbers, before they are on the page -----------------------------------------------------


def unpacked(packed: dict[str, Any]) -> Any:
    """Unpack number by number, as slowly as can be."""
    data = zlib.decompress(base64.b64decode(packed["data"]))
    planes, length = packed["planes"], len(data) // packed["planes"]
    found = []
    for i in range(length):
        whole = int.from_bytes(bytes(data[p * length + i] for p in range(planes)), "little")
        found.append(np.nan if whole == 256**planes - 1 else whole / packed["per"])
    return np.array(found)


@pytest.mark.parametrize(
    ("values", "digits", "planes"),
    [([0.0, 254.0], 0, 1), ([0.0, 255.0], 0, 2), ([0.1234567, 1.0, np.nan], 6, 3), ([], 2, 1)],
)
def test_fractions_come_back_rounded(values: list[float], digits: int, planes: int) -> None:
    packed = frame.pack_fractions(values, digits)
    assert packed["planes"] == planes
    np.testing.assert_array_equal(unpacked(packed), np.round(values, digits))


@pytest.mark.parametrize("edition", ["su20", "su21"])
def test_explored_values_are_those_of_every_position(edition: str) -> None:
    game = compile_game(rules_from({"edition": edition, "goal": 12, "max_dice": 2}))
    policy = np.random.default_rng(1).dirichlet(np.ones(game.num_actions), game.shape[:2])
    policy[:, :, 1] = 0.0  # so that some positions are out of reach
    policy /= policy.sum(axis=2, keepdims=True)
    hog = Hog(game.rules)
    found = explore(hog, hog.strategy(policy), Budget(1, 3, kicks=0))
    rows, columns = memory.axes(game.rules)
    assert found.belief.shape[2:] == (len(rows.ticks), len(columns.ticks))
    unreached = 0
    for own in range(game.goal):
        for other in range(game.goal):
            shares = belief(game, policy, None, own, other)
            if shares is None:
                unreached += 1
                assert np.isnan(found.values[own, other]).all()
                assert not found.belief[own, other].any()
                continue
            by_memory = hidden_action_values(game, policy, None, [(own, other)])[0]
            np.testing.assert_allclose(found.values[own, other], shares @ by_memory, atol=1e-12)
            for index, row in enumerate(found.belief[own, other].sum(axis=1)):
                part = "own" if edition == "su20" else "turn"
                told = [getattr(state, part) == index for state in game.memories]
                assert row == pytest.approx(shares[told].sum(), abs=1e-12)
    assert unreached > 0
    np.testing.assert_allclose(found.reach, reach(game, policy).sum(axis=2), atol=1e-15)
