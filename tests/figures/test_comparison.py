"""Curves of several solvers and runs, over each other."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

import hogeq
from hogeq import figures
from hogeq.search.results import WIN_RATES, Measurement, Units
from tests.runs.trials import trial

COURSE = [Measurement(t, 0.1 * t, 0.1 / t, 0.2 / t) for t in (1, 2, 5, 10)]


def solved(curve: list[Measurement], units: Units = WIN_RATES) -> SimpleNamespace:
    return SimpleNamespace(curve=curve, units=units)


def test_every_curve_is_an_upper_bound_above_a_band(drawn: list[Figure], tmp_path: Path) -> None:
    names = [f"solver {number}" for number in range(16)]
    figures.exploitability({name: solved(COURSE) for name in names}, tmp_path / "many.png", "su20")
    (axes,) = drawn[0].axes
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert [line.get_label() for line in axes.lines] == names
    for line, band in zip(axes.lines, axes.collections, strict=True):
        np.testing.assert_array_equal(line.get_ydata(), [at.upper for at in COURSE])
        extents = band.get_paths()[0].get_extents()
        assert (extents.y0, extents.y1) == pytest.approx((0.01, 0.2))
    looks = [(line.get_color(), line.get_linestyle()) for line in axes.lines]
    assert len({*looks}) == 16
    assert len({colour for colour, _ in looks[:4]}) == len({style for _, style in looks[:4]}) == 4
    assert (tmp_path / "many.png").stat().st_size > 1000


@pytest.mark.slow
def test_solutions_and_runs_are_laid_over_each_other(tmp_path: Path) -> None:
    hogeq.run_experiment(trial(), tmp_path)
    run = hogeq.load_run(next(tmp_path.iterdir()))
    solution = run.game.solve("dcfr", 5)
    figure = figures.exploitability({"run": run, "dcfr": solution})
    first, second = figure.axes[0].lines
    wanted = [row.bound - 0.5 for row in run.metrics if row.iteration]
    np.testing.assert_array_equal(first.get_ydata(), wanted)
    np.testing.assert_array_equal(second.get_xdata(), [1, 2, 3, 5])
    assert second.get_ydata()[-1] == solution.exploitability.upper  # type: ignore[index]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, "0 curves; allowed: 1 to 16"),
        ({str(one): solved(COURSE) for one in range(17)}, "17 curves; allowed: 1 to 16"),
        ({"a": solved(COURSE[:1]), "b": solved([])}, "b has no measurement; allowed: one after"),
        (
            {"a": solved(COURSE), "b": solved(COURSE, Units.of_payoffs(0.0, 1.0, 1.0))},
            r"exploitability: .*1/2.* and .*NashConv.*; allowed: games in which",
        ),
    ],
)
def test_what_cannot_be_drawn_is_refused(given: dict[str, SimpleNamespace], says: str) -> None:
    with pytest.raises(hogeq.HogeqError, match=says):
        figures.exploitability(given)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (
            [1, 2],
            r"^solved: got a list; allowed: a Solution or Run, or a mapping of names to them$",
        ),
        ({"a": solved(COURSE), "b": 2}, r"^solved\['b'\]: got an int; allowed: a Solution or Run"),
    ],
)
def test_what_has_no_curve_is_refused(given: Any, says: str, tmp_path: Path) -> None:
    with pytest.raises(hogeq.HogeqError, match=says):
        figures.exploitability(given, tmp_path / "curve.png")


def test_one_solution_needs_no_name() -> None:
    (line,) = figures.exploitability(solved(COURSE)).axes[0].lines
    (named,) = figures.exploitability({"any": solved(COURSE)}).axes[0].lines
    np.testing.assert_array_equal(line.get_ydata(), named.get_ydata())
    assert line.get_label() == "upper bound"


def test_one_measurement_is_drawn() -> None:
    (line,) = figures.exploitability({"one": solved(COURSE[:1])}).axes[0].lines
    assert line.get_marker() == "o"
