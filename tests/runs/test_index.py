"""The index of runs: what is there is found, and what is broken is named."""

import math
import sys
from pathlib import Path
from typing import Any

import pytest

from hogeq.runs.config import config_from
from hogeq.runs.directory import RunDirectory
from hogeq.runs.files import CONFIG, MANIFEST, METRICS, HeldError, Metrics, ResultsError, figures_in
from hogeq.runs.index import differing_keys, find_runs, read_run, select_runs, sort_runs
from tests.cli.calls import ask, ok, refused

FIGURES = {
    "average_policy": {"attack": 0.52, "bound": 0.6},
    "matrix": {"attack": 0.54, "bound": 0.61},
}


def made(
    root: Path,
    name: str,
    solver: str = "cfr",
    edition: str = "su20",
    figures: dict[str, Any] | None = FIGURES,
    **manifest: Any,
) -> Path:
    """Leave a run directory as a run does."""
    given = {"rules": {"edition": edition, "goal": 50}, "solver": {"name": solver, "iterations": 7}}
    config = config_from({"name": name, **given})
    with RunDirectory.create(root, name) as directory:
        directory.write(CONFIG, config.to_yaml())
        directory.write_metrics([Metrics(3, 0.1, 0.57, 0.65, math.nan, 0.2, 0.58)])
        directory.write_manifest(
            {
                "status": "complete",
                "iterations": 7,
                "solver_seconds": 1.5,
                "elapsed_seconds": 2,
                "started": "2026-01-01T00:00:00+00:00",
                "environment": {"hogeq": "0.1", "git": {"commit": "abc"}},
                "figures": figures,
                **manifest,
            }
        )
    return root / name


@pytest.fixture
def root(tmp_path: Path) -> Path:
    better = {**FIGURES, "average_policy": {"attack": 0.51, "bound": 0.59}}
    made(tmp_path, "b")
    made(tmp_path / "deep" / "er", "a", "dcfr", "fa22", better)
    made(tmp_path, "c", status="interrupted", figures=None, solver_seconds=9.0)
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "config.yaml").write_text("mine")
    return tmp_path


def test_a_run_is_read_from_its_files(root: Path) -> None:
    run = read_run(root / "deep" / "er" / "a")
    assert (run.name, run.status, run.solver) == ("a", "complete", "dcfr")
    assert run.edition == "fa22 with goal=50"
    assert (run.attack, run.bound) == (0.51, 0.59)
    assert (run.matrix_attack, run.matrix_bound) == (0.54, 0.61)
    assert (run.seed, run.iterations, run.seconds, run.elapsed) == (0, 7, 1.5, 2.0)
    assert (run.version, run.commit) == ("0.1", "abc")
    assert run.config["solver.alpha"] == 1.5


def test_a_run_under_way_shows_its_last_measurement(root: Path) -> None:
    run = read_run(root / "c")
    assert (run.attack, run.bound, run.matrix_attack, run.matrix_bound) == (0.57, 0.65, 0.58, None)
    assert (run.iterations, run.seconds) == (7, 9.0)
    begun = read_run(
        made(root, "d", status="running", figures=None, iterations=0, solver_seconds=0.0)
    )
    assert (begun.iterations, begun.seconds) == (3, 0.1)


def test_a_champion_has_its_config_in_its_manifest(root: Path) -> None:
    config = {"name": "best", "rules": "su20", "solver": {"name": "cfr_br"}}
    champion = made(root, "champion", config=config)
    (champion / CONFIG).unlink()
    (champion / METRICS).unlink()
    run = read_run(champion)
    assert (run.name, run.edition, run.solver, run.attack) == ("best", "su20", "cfr_br", 0.52)


def test_running_and_cut_off_are_told_apart(root: Path) -> None:
    path = made(root, "d", status="running", figures=None)
    with RunDirectory.resume(path):
        assert read_run(path).status == "running"
    assert read_run(path).status == "cut off"


def test_looking_at_a_run_does_not_stop_it(root: Path) -> None:
    with (root / "b" / ".lock").open("rb") as handle:
        fcntl = pytest.importorskip("fcntl")
        fcntl.flock(handle, fcntl.LOCK_SH)
        with pytest.raises(HeldError):
            RunDirectory.resume(root / "b")
    RunDirectory.resume(root / "b").close()


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_lock_that_is_a_link_is_not_followed(root: Path) -> None:
    target, lock_file = root / "elsewhere", root / "b" / ".lock"
    lock_file.unlink()
    lock_file.symlink_to(target)
    with pytest.raises(ResultsError, match=r"cannot be written"):
        RunDirectory.resume(root / "b")
    assert not target.exists()
    assert read_run(root / "b").status == "complete"


def test_runs_are_found_below_and_broken_ones_are_named(root: Path) -> None:
    for name, file, text in (
        ("e", MANIFEST, '{"status": "compl'),
        ("f", MANIFEST, "[1]"),
        ("g", CONFIG, "a: [b"),
        ("h", MANIFEST, '{"iterations": "many"}'),
    ):
        (made(root, name) / file).write_text(text)
    made(root, "i").joinpath(CONFIG).unlink()
    unmeasured = made(root, "j", figures=None)
    (unmeasured / METRICS).write_bytes(b"\xff")
    found, broken = find_runs(root)
    assert [run.name for run in found] == ["b", "c", "a"]
    words = {
        "e": "manifest.json: line 1, column ",
        "f": "not what a run writes",
        "g": "not plain YAML",
        "h": "iterations: got 'many'; allowed: whole numbers or null",
        "i": "config.yaml: cannot be read: No such file",
        "j": "metrics.csv: is not UTF-8 text at byte 0",
    }
    assert [path.name for path in broken] == list(words)
    for path, why in broken.items():
        assert words[path.name] in why
        assert str(path) in why
        assert why.isprintable()


def test_links_are_followed_once(root: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "below").mkdir()
    made(elsewhere / "below", "k")
    (root / "link").symlink_to(elsewhere)
    (elsewhere / "circle").symlink_to(root)
    found, broken = find_runs(root)
    paths = [str(run.path.relative_to(root)) for run in found]
    assert paths == ["b", "c", "deep/er/a", "link/below/k"]
    assert not broken


def test_order_and_difference(root: Path) -> None:
    found, _ = find_runs(root)
    assert [run.name for run in sort_runs(found, "seconds")] == ["b", "a", "c"]
    assert [run.name for run in sort_runs(found, "matrix_bound")][-1] == "c"
    keys = differing_keys(found)
    assert {"solver.alpha", "rules.zero_dice"} <= set(keys)
    assert not {"name", "rules.goal", "solver.iterations"} & set(keys)


def test_a_switch_is_not_the_number_that_equals_it(root: Path) -> None:
    runs = [read_run(root / "b"), read_run(root / "c")]
    runs[0].config["flag"], runs[1].config["flag"] = True, 1
    for value, names in ((True, ["b"]), (1, ["c"]), (1.0, ["c"]), (False, [])):
        assert [run.name for run in select_runs(runs, where=[("flag", value)])] == names


def shown(*arguments: object) -> list[str]:
    return [run["name"] for run in ask("runs", *map(str, arguments))["runs"]]


def test_the_command_filters_sorts_and_compares(root: Path) -> None:
    assert shown(root) == ["b", "c", "a"]
    assert shown(root, "--sort", "attack") == ["a", "b", "c"]
    assert shown(root, "--where", "solver=cfr", "--where", "status=complete") == ["b"]
    assert shown(root, "--where", "edition=su20") == []  # changed: its name says goal=50
    assert shown(root, "--where", "solver.alpha=1.5", "--where", "rules.goal=50") == ["a"]
    assert shown(root, "--where", "rules.goal=true") == []
    (root / "b" / MANIFEST).write_text("")
    head, first, second, *rest = ok("runs", str(root), "--compare").splitlines()
    assert "solver.alpha" in head
    assert first.split()[0] == "c"
    assert second.split()[0] == "deep/er/a"
    assert "50.99 %" in second  # the attack of 0.51 is rounded down, and passes may have rounded it
    assert f"{root / 'b'}: {root / 'b' / 'manifest.json'}: line 1, column 1" in rest[-1]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["none"], "none cannot be read: No such file"),
        (["b/config.yaml"], "b/config.yaml cannot be read: Not a directory"),
        ([".", "--sort", "atack"], "--sort: got 'atack'; allowed: path, name"),
        ([".", "--where", "goal"], "--where goal: not understood"),
        ([".", "--where", "foo.bar=1"], "--where foo.bar: no run has it; allowed: a key of"),
        ([".", "--where", "solver.alhpa=1"], "configs; nearest: solver.alpha"),
    ],
)
def test_bad_input_is_one_line(
    root: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], words: str
) -> None:
    monkeypatch.chdir(root)
    assert words in refused("runs", *arguments)


def test_each_figure_keeps_the_effort_that_found_it() -> None:
    effort = {"starts": 16, "anneal_steps": 60, "kicks": 320}
    known = {"attack": 0.6, "bound": 0.7}
    figures = {
        "average_policy": known | {"effort": effort},
        "mixture": known | {"effort": "much"},
        "effort": {"starts": 1},
    }
    assert figures_in({"figures": figures}) == figures | {"mixture": known}
