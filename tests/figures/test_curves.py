"""Curves of exploitability: what they end at, what is 0, and how iterations are numbered."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from hogeq import figures
from hogeq.runs.files import Metrics
from tests.figures.samples import EFFORTS, METRICS, MIXED, RESULT, SOLVED


def test_exploitability_is_log_log_and_exact(tmp_path: Path, drawn: list[Figure]) -> None:
    figures.convergence(METRICS, tmp_path / "figure.png")
    (axes,) = drawn[0].axes
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    lines = {str(line.get_label()): line for line in axes.lines}
    for label, field in (
        ("its attack found", "attack"),
        ("its upper bound", "bound"),
        ("purified: attack found", "purified_attack"),
    ):
        line = lines[label]
        np.testing.assert_array_equal(line.get_xdata(), [row.iteration for row in METRICS])
        heights = [getattr(row, field) - 0.5 for row in METRICS]
        np.testing.assert_array_equal(line.get_ydata(), heights)
    (band,) = axes.collections
    low = band.get_paths()[0].get_extents().y0
    assert low == pytest.approx(min(row.attack for row in METRICS) - 0.5)
    # Without colour, markers and dashes still tell the lines apart.
    assert len({(line.get_marker(), line.get_linestyle()) for line in lines.values()}) == 3


@pytest.mark.slow
def test_the_end_of_a_curve_is_not_the_result(tmp_path: Path, drawn: list[Figure]) -> None:
    figures.convergence(METRICS, tmp_path / "figure.png", "su20", RESULT, EFFORTS)
    (axes,) = drawn[0].axes
    for marker, place in (("*", 0), ("v", 1)):
        found = [line.get_xydata() for line in axes.lines if line.get_marker() == marker]
        points = np.concatenate([points for points in found if points is not None])
        assert set(points[:, 0]) == {200.0}
        want = sorted(ends[place] - 0.5 for ends in RESULT.values())
        np.testing.assert_allclose(np.sort(points[:, 1]), want)
    (legend,) = drawn[0].legends
    assert legend.get_title().get_text().splitlines() == [
        f"curves: attacks of {EFFORTS[0]}",
        f"result: attacks of {EFFORTS[1]}",
    ]
    assert {"result: attack found", "result: upper bound"} <= {
        text.get_text() for text in legend.get_texts()
    }
    # The interval ends at what is known, the curve at what was measured.
    (band,) = axes.collections
    ends: Any = band.get_paths()[0].vertices
    assert min(ends[ends[:, 0] == 200.0, 1]) == pytest.approx(0.03) != METRICS[-1].attack - 0.5


@pytest.mark.slow
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("ends", [(0.5, 0.95), (0.5 + 1e-8, 0.95)])
def test_a_result_far_from_the_curves_lies_on_the_axis(
    tmp_path: Path, drawn: list[Figure], ends: tuple[float, float]
) -> None:
    figures.convergence(METRICS, tmp_path / "figure.png", result={"matrix": ends})
    (axes,) = drawn[0].axes
    low, high = axes.get_ylim()
    assert low <= ends[0] - 0.5 < ends[1] - 0.5 <= high


def test_what_is_0_stands_at_the_lower_edge(tmp_path: Path, drawn: list[Figure]) -> None:
    figures.convergence(SOLVED, tmp_path / "figure.png")
    (axes,) = drawn[0].axes
    zero, _ = axes.get_ylim()
    positions: Any = axes.get_yticks()
    labels = dict(zip(positions, (text.get_text() for text in axes.get_yticklabels()), strict=True))
    assert (zero, labels.pop(zero)) == (0.0, "0")
    assert "0" not in labels.values()
    assert min(labels) > 0.003  # labels do not touch
    (curve,) = [line for line in axes.lines if line.get_label() == "purified: attack found"]
    heights: Any = curve.get_ydata()
    np.testing.assert_allclose(heights, [0.4, 0.1, 0.0, 0.0, 0.0], atol=1e-15)
    assert not curve.get_clip_on()


@pytest.mark.parametrize(
    ("iterations", "labels"),
    [
        ([3, 4], ["3", "4"]),
        ([199, 200], ["200"]),
        ([1, 2, 3, 5, 8, 13, 21, 34], ["1", "2", "5", "10", "20", "34"]),
        ([10, 100, 1000, 40_000], ["10", "100", "1000", "10000", "40000"]),
    ],
)
def test_iterations_are_whole_numbers(
    tmp_path: Path, drawn: list[Figure], iterations: list[int], labels: list[str]
) -> None:
    rows = [replace(METRICS[0], iteration=iteration) for iteration in iterations]
    figures.convergence(rows, tmp_path / "figure.png")
    (axes,) = drawn[0].axes
    assert [text.get_text() for text in axes.get_xticklabels()] == labels
    ticks: Any = axes.get_xticks(minor=True)
    assert all(tick == int(tick) for tick in ticks)


def test_one_measurement_is_drawn_as_intervals(tmp_path: Path, drawn: list[Figure]) -> None:
    result = {**RESULT, "mixture": (0.51, 0.52)}
    rows = [replace(MIXED[0], iteration=3)]
    figures.convergence(rows, tmp_path / "figure.png", "su20", result, EFFORTS)
    (axes,) = drawn[0].axes
    assert [text.get_text() for text in axes.get_yticklabels()] == list(result)
    assert axes.get_title() == "su20, after 3 iterations"
    assert axes.get_xlabel() == "exploitability (win rate $-$ 1/2)"
    found: list[Any] = [line.get_xdata() for line in axes.lines]
    attacks, bounds = zip(*result.values(), strict=True)
    np.testing.assert_allclose(found, np.array([bounds, attacks]) - 0.5)
    (legend,) = drawn[0].legends
    assert legend.get_title().get_text() == f"attacks of {EFFORTS[1]}"


def test_where_all_is_0_that_is_seen(tmp_path: Path, drawn: list[Figure]) -> None:
    rows = [Metrics(t, 0.0, 0.5, 0.5, 0.1, 0.1, 0.5) for t in (1, 2)]
    figures.convergence(rows, tmp_path / "curves.png")
    figures.convergence(rows[1:], tmp_path / "only.png")
    for figure, column in zip(drawn, (1, 0), strict=True):
        (axes,) = figure.axes
        axis = axes.yaxis if column else axes.xaxis
        assert axis.get_ticklabels()[0].get_text() == "0"
        assert axis.get_view_interval()[0] == 0.0
        points: list[Any] = [line.get_xydata() for line in axes.lines]
        places = np.concatenate(points)[:, column]
        assert set(places[np.isfinite(places)]) == {0.0}
