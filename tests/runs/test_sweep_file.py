"""The file of a sweep: which points it asks for, and what is refused."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from hogeq.runs.config import config_from
from hogeq.runs.sweep import load_sweep
from hogeq.support.yaml import ConfigError
from tests.runs.sweeps import BASE, GRID, ROOT, written


def test_a_grid_is_every_combination_and_points_are_crossed_with_it(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        grid={"seed": [0, 3]},
        points=[
            {"solver.name": "cfr"},
            {"solver": {"name": "dcfr", "alpha": 2.0, "iterations": 4}},
        ],
    )
    found = load_sweep(path, ["rules.goal=9"])
    assert found.keys == ("solver.name", "solver", "seed")
    settings = [
        (point.config.solver.name, point.config.solver.iterations, point.config.seed)
        for point in found.points
    ]
    assert settings == [("cfr", 6, 0), ("cfr", 6, 3), ("dcfr", 4, 0), ("dcfr", 4, 3)]
    assert {point.config.rules.goal for point in found.points} == {9}
    assert len({point.name for point in found.points}) == 4
    first = found.points[0]
    want = {**BASE, "name": first.name, "seed": 0}
    want = {
        **want,
        "rules": {**BASE["rules"], "goal": 9},
        "solver": {"name": "cfr", "iterations": 6},
    }
    assert first.config == config_from(want)


def test_names_say_what_is_set_and_stay_when_a_sweep_grows(tmp_path: Path) -> None:
    names = [point.name for point in load_sweep(written(tmp_path, grid=GRID)).points]
    assert names == [
        f"edition={edition},seed={seed}" for edition in ("su20", "fa22") for seed in (0, 1)
    ]
    grown = {"rules.edition": ["fa22", "sp21", "su20"], "seed": [0, 1, 2]}
    more = load_sweep(written(tmp_path, grid=grown)).points
    assert set(names) < {point.name for point in more}
    odd = load_sweep(written(tmp_path, grid={"rules": [{"edition": "su20", "goal": 9}, "fa22"]}))
    for point in odd.points:
        assert len(point.name) < 100


def test_the_base_may_be_a_file_beside(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text(yaml.safe_dump({**BASE, "name": "base"}))
    path = written(tmp_path, base="base.yaml", grid=GRID)
    assert load_sweep(path) == load_sweep(written(tmp_path, grid=GRID))
    assert len(load_sweep(ROOT / "configs" / "sweep.yaml").points) == 8
    assert len(load_sweep(ROOT / "configs" / "averaging.yaml").points) == 6


def test_the_page_shows_the_sweep_that_is_there() -> None:
    text = (ROOT / "docs" / "sweeps.md").read_text("utf-8")
    shown, slurm = (
        re.search(rf"```{kind}\n(.*?)```", text, re.DOTALL) for kind in ("yaml", "python")
    )
    assert shown is not None
    assert slurm is not None
    assert yaml.safe_load(shown[1]) == yaml.safe_load((ROOT / "configs/sweep.yaml").read_text())
    compile(slurm[1], "slurm.py", "exec")


REFUSED = [
    ({}, ["grid, points: both missing"]),
    ({"grid": {"seed": []}}, ["grid", "none empty"]),
    ({"grids": {"seed": [1]}}, ["grids", "unknown key", "nearest: grid"]),
    ({"grid": {"name": ["a"]}}, ["a sweep names its points itself"]),
    ({"grid": {"solver.iteratons": [1]}}, ["iteratons=1", "nearest: iterations"]),
    ({"grid": {"seed": [0, 0]}}, ["seed=0 and seed=0", "same run"]),
    ({"grid": {"solver..name": ["cfr"]}}, ["solver..name", "not a key's path"]),
    ({"points": [{"rules.goal": 2000, "rules.max_dice": 50}]}, ["goal=2000", "GiB"]),
    ({"grid": {"seed": [*range(400)], "rules.goal": [*range(400)]}}, ["160,000 points"]),
    ({"grid": GRID, "base": "none.yaml"}, ["none.yaml", "cannot be read"]),
]


@pytest.mark.parametrize(("parts", "words"), REFUSED, ids=lambda part: str(part)[:40])
def test_what_cannot_be_run_is_refused_in_one_line_before_anything_runs(
    tmp_path: Path, parts: dict[str, Any], words: list[str]
) -> None:
    with pytest.raises(ConfigError) as caught:
        load_sweep(written(tmp_path, **parts))
    message = str(caught.value)
    assert message.isprintable()
    assert str(tmp_path) in message
    for word in words:
        assert word in message


@pytest.mark.parametrize(
    ("override", "parts"),
    [
        ("solver.name=cfr", {"grid": {"solver.name": ["cfr", "dcfr"]}}),
        ("rules.goal=9", {"grid": {"rules": [{"edition": "fa22", "goal": 8}]}}),
    ],
)
def test_what_every_point_sets_again_is_not_set_in_the_base(
    tmp_path: Path, override: str, parts: dict[str, Any]
) -> None:
    with pytest.raises(ConfigError, match=f"^--set {override}: without effect") as caught:
        load_sweep(written(tmp_path, **parts), [override])
    assert caught.value.args[0].isprintable()


def test_what_some_points_set_is_set_in_the_base_for_the_others(tmp_path: Path) -> None:
    path = written(tmp_path, points=[{"seed": 1}, {"rules.goal": 7}])
    seeds = [point.config.seed for point in load_sweep(path, ["seed=5"]).points]
    assert seeds == [1, 5]
