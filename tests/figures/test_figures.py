"""Figures: what is drawn can be read at column width, and is written whole."""

import io
import itertools
import json
import re
import threading
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Text
from PIL import Image

import hogeq
from hogeq import figures
from hogeq.figures.style import LOSS, number_log_axis
from hogeq.pages import frame
from tests.figures.samples import BEGUN, EFFORTS, METRICS, MIXED, RESULT, SOLVED
from tests.slow import mostly_slow

RANDOM = np.random.default_rng(0)
MATRIX = RANDOM.integers(0, 11, (100, 100))
POLICY = RANDOM.dirichlet(np.full(11, 0.1), (100, 100))
# Two kinds of entries, mixed up: all of a kind win the same.
KINDS = [0, 1, 0, 1, 1, 0]
RATES = np.array([[0.5 + 0.3 * (a - b) for b in KINDS] for a in KINDS])
REACH = RANDOM.random((100, 100)) * (RANDOM.random((100, 100)) > 0.3)
GAINS = REACH * 10.0 ** RANDOM.uniform(-9, -3, (100, 100)) * (MATRIX != 5)
SWEEP = (
    ["su20, dcfr", "fa22, dcfr"],
    [[0.514, 0.516, 0.515], [0.50003, 0.50003, 0.50004]],
    [[0.529, 0.531, 0.530], [0.50003, 0.50003, 0.50004]],
)
LONG = "results/champions/su20/a_folder_of_a_long_name"

FIGURES: dict[str, Callable[[Path], Figure]] = {
    "exploitability": lambda path: figures.convergence(METRICS, path, "su20, cfr_plus"),
    "exploitability of a mixture": lambda path: figures.convergence(
        MIXED, path, "su20", {**RESULT, "mixture": (0.51, 0.52)}, EFFORTS
    ),
    "exploitability that is 0": lambda path: figures.convergence(SOLVED, path, "fa22, dcfr"),
    "policy": lambda path: figures.policy(POLICY, path, "su20, average"),
    "policy and where it comes": lambda path: figures.policy(POLICY, path, "su20", REACH),
    "matrix and where it comes": lambda path: figures.matrix(MATRIX, path, "su20", 11, REACH),
    "intervals": lambda path: figures.intervals(*SWEEP, path, "sweep"),
    "counter": lambda path: figures.counter(MATRIX - 5, GAINS, REACH, path, "counter to a$b, su20"),
    "counter of nothing": lambda path: figures.counter(0 * MATRIX, 0 * GAINS, REACH, path),
    "matrix of long names": lambda path: figures.matrix(MATRIX, path, f"{LONG}/one.csv, su20"),
    "win_rates of many": lambda path: figures.win_rates(
        np.tile(POLICY[:60, :60, 0], (7, 7)), 420 * ["long "], path
    ),
    "win_rates of long names": lambda path: figures.win_rates(RATES, 6 * ["long " * 20], path),
}


AXES = {
    "exploitability": {"iterations", "exploitability (win rate $-$ 1/2)"},
    "matrix and where it comes": {
        "own score (points)",
        "opponent score (points)\ngrey: never reached; pale: rarely",
    },
    "policy and where it comes": {
        "most probable roll",
        "its probability",
        "opponent score (points)\ngrey: never reached",
    },
    "intervals": {"exploitability (win rate $-$ 1/2)"},
    "win_rates": {"strategy", "opponent", "win rate of row against column (%)"},
    "counter": {
        "own score (points)",
        "opponent score (points)\ngrey: never reached",
        "what the rolls of rival lose",
        "loss (pp of win rate)",
    },
    "map": {"own score (points)", "opponent score (points)"},
}


def texts(figure: Figure) -> list[Text]:
    return [text for text in figure.findobj(Text) if isinstance(text, Text) and _shows(text)]


def _shows(text: Text) -> bool:
    return text.get_visible() and bool(text.get_text().strip())


@pytest.mark.slow
@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_is_fit_for_a_column(tmp_path: Path, drawn: list[Figure], name: str) -> None:
    path = tmp_path / "figure.png"
    FIGURES[name](path)
    with Image.open(path) as image:
        assert image.format == "PNG"
        assert image.width == round(figures.WIDTH * 300)
        assert image.info["dpi"] == pytest.approx((300, 300), abs=0.1)
        colours = np.asarray(image.convert("RGB")).reshape(-1, 3)
    assert len(np.unique(colours, axis=0)) > 5
    assert path.stat().st_size < 300_000
    (figure,) = drawn
    figure.set_dpi(300)
    figure.draw_without_rendering()
    assert min(float(text.get_fontsize()) for text in texts(figure)) >= 7
    for part in (*figure.axes, *figure.legends):
        box = part.get_tightbbox()
        assert box is not None
        overhang = (-box.x0, -box.y0, box.x1 - figure.bbox.x1, box.y1 - figure.bbox.y1)
        assert max(overhang) < 3  # dots, of 300 an inch: blank edges of letters
    found = {text.get_text() for text in texts(figure)}
    kind = name.partition(" ")[0]
    assert AXES.get(name, AXES.get(kind, AXES["map"])) <= found
    assert ("dice to roll" in found) is (kind in {"matrix", "policy"})


@pytest.mark.slow
def test_a_matrix_is_grey_where_play_never_comes(tmp_path: Path, drawn: list[Figure]) -> None:
    figures.matrix(MATRIX, tmp_path / "figure.png", "su20", 11, REACH)
    above, below = drawn[0].axes
    np.testing.assert_array_equal(above.images[0].get_array(), MATRIX)
    images: list[Any] = [image.get_array() for image in below.images]
    rolls, grey = map(np.ma.masked_invalid, images)
    assert np.array_equal(rolls.mask, REACH == 0.0)
    assert np.array_equal(rolls.compressed(), MATRIX[REACH > 0.0])
    assert np.array_equal(grey.mask, REACH > 0.0)
    opacity: Any = below.images[0].get_alpha()
    usual = np.median(REACH[REACH > 0.0])
    assert (opacity[usual <= REACH] == 1.0).all()
    order = np.argsort(REACH, axis=None)
    assert (np.diff(opacity.ravel()[order]) >= 0.0).all()  # the rarer, the paler
    assert opacity.min() > 0.1


@pytest.mark.slow
def test_the_choice_minus_one_is_so_labelled(tmp_path: Path, drawn: list[Figure]) -> None:
    game = hogeq.Game({"edition": "fa13", "goal": 10, "max_dice": 2})
    choices = np.resize([2, -1, 0, 1, -1, 2, 2], (10, 10))
    matrix = game.strategy(choices)
    policy = game.strategy(np.eye(4)[choices])
    figures.matrix(matrix, tmp_path / "a.png", rolls=4)
    figures.policy(policy, tmp_path / "b.png")
    for figure in drawn:
        axes = figure.axes[0]
        np.testing.assert_array_equal(axes.images[0].get_array(), choices)
        (bar,) = axes.child_axes
        labels = [
            label.get_text().replace("\N{MINUS SIGN}", "-") for label in bar.get_yticklabels()
        ]
        assert labels == ["-1", "0", "1", "2"]


def _draw_mixture(path: Path, parts: int, reach: Any = None) -> None:
    weights = np.arange(1.0, parts + 1.0) / (parts * (parts + 1) / 2)
    usual = np.stack([MATRIX] * parts)
    figures.mixture(weights, usual, np.full((100, 100), 2.0), GAINS, path, "su20", 11, reach)


@pytest.mark.slow
def test_a_mixture_says_which_parts_are_drawn(tmp_path: Path, drawn: list[Figure]) -> None:
    _draw_mixture(tmp_path / "a.png", 16, REACH)
    titles = [axes.get_title() for axes in drawn[0].axes]
    assert drawn[0].get_suptitle() == "su20\nthe 6 likeliest of 16 components"
    assert titles[0] == "component 16: 11.76 %"
    assert titles[6:] == ["decided by the draw", "left to the components", "uncertain in all"]
    assert all(axes.get_visible() for axes in drawn[0].axes)  # no hole
    left: Any = drawn[0].axes[7].images[0].get_array()
    np.testing.assert_allclose(left.compressed(), 2.0 - GAINS[REACH > 0.0])
    shown: Any = drawn[0].axes[0].images[0].get_array()
    assert np.array_equal(shown.mask, REACH == 0.0)
    assert sum("grey: never reached" in text.get_text() for text in texts(drawn[0])) == 3


def test_every_seed_of_a_sweep_is_seen(tmp_path: Path, drawn: list[Figure]) -> None:
    figures.intervals(*SWEEP, tmp_path / "figure.png", "sweep")
    axes = drawn[0].axes[0]
    lines: list[Any] = list(axes.lines)
    heights = {float(y) for line in lines for y in line.get_ydata()}
    assert len(heights) == 6
    first, second = (sorted(y for y in heights if round(y) == row) for row in (0, 1))
    assert second[0] - first[-1] > 1.2 * (first[1] - first[0])  # rows are told apart
    sizes = {line.get_marker(): line.get_markersize() for line in lines}
    assert sizes["s"] > 1.4 * sizes["o"]  # the dot is seen inside the square
    assert "a line for each of 3 seeds" in {text.get_text() for text in texts(drawn[0])}


@pytest.mark.slow
def test_what_a_rival_loses_is_told_from_what_is_not_reached(
    tmp_path: Path, drawn: list[Figure]
) -> None:
    figures.counter(MATRIX - 5, GAINS, REACH, tmp_path / "figure.png")
    above, below = drawn[0].axes
    shown: Any = above.images[0].get_array()
    assert np.array_equal(shown.mask, REACH == 0.0)
    assert np.array_equal(shown.data[REACH > 0.0], (MATRIX - 5)[REACH > 0.0])
    low, high = above.images[0].get_clim()
    assert low == -high == (MATRIX - 5).min()  # no difference lies in the middle
    losses: Any = below.images[0].get_array()
    unreached: Any = below.images[1].get_array()
    np.testing.assert_array_equal(losses, 100.0 * GAINS)
    assert np.array_equal(unreached.mask, REACH > 0.0)


def colour_of(image: Any, loss: float) -> str:
    return to_hex(image.to_rgba(np.array([[loss]]))[0, 0])


@pytest.mark.parametrize("gain", [0.0, 0.5])
def test_a_loss_has_one_rule_of_colour(tmp_path: Path, drawn: list[Figure], gain: float) -> None:
    won = np.zeros((10, 10))
    won[1, 2], won[3, 4], won[5, 6] = 0.8, 0.1, -gain
    figures.counter(0 * won, won, np.ones((10, 10)), tmp_path / "figure.png")
    image: Any = drawn[0].axes[1].images[0]
    for loss, wanted in zip((0.0, 80.0), LOSS, strict=True):
        np.testing.assert_allclose(to_rgb(colour_of(image, loss)), to_rgb(wanted), atol=0.005)
    # A thousandth of the most lies at a tenth of the way.
    paper, red = (np.array(to_rgb(colour)) for colour in LOSS)
    tenth = np.array(to_rgb(colour_of(image, 0.08)))
    np.testing.assert_allclose(tenth, paper + 0.1 * (red - paper), atol=0.012)
    assert (to_rgb(colour_of(image, -40.0))[0] < 0.5) is (gain > 0.0)  # blue
    noted = {text.get_text().partition("\n")[2] for text in texts(drawn[0])}
    assert ("grey: never reached; blue: a gain" in noted) is (gain > 0.0)


def test_pages_have_the_same_rule_of_colour() -> None:
    (light,) = re.findall(r"const LOSS = { light: (\[.*?\])", frame.part("grid.js"))
    assert tuple(json.loads(light)) == LOSS


@pytest.mark.slow
def test_a_figure_is_returned_and_shows_itself(tmp_path: Path) -> None:
    names = ["a", "b"]
    made = {
        "matrix": figures.matrix(MATRIX),
        "matrix and reach": figures.matrix(MATRIX, reach=REACH),
        "policy": figures.policy(POLICY),
        "counter": figures.counter(MATRIX, GAINS, REACH),
        "win rates": figures.win_rates(RATES[:2, :2], names),
        "mixture": figures.mixture([1.0], MATRIX[None], GAINS, GAINS),
        "beliefs": figures.beliefs({"one": [[1.0]]}, None, ("r", "1"), ("c", "1")),
        "exploitability": figures.convergence(METRICS),
        "one measurement": figures.convergence(METRICS[:1]),
        "intervals": figures.intervals(names, [[0.6], [0.7]], [[0.7], [0.8]]),
    }
    for name, figure in made.items():
        assert isinstance(figure, Figure), name
        with Image.open(io.BytesIO(figure._repr_png_())) as image:  # type: ignore[attr-defined]
            assert image.format == "PNG"
    assert not list(tmp_path.iterdir())
    assert isinstance(figures.matrix(MATRIX, tmp_path / "a.png"), Figure)
    assert (tmp_path / "a.png").exists()


def _lightness(colour: tuple[float, float, float]) -> float:
    # Relative luminance of sRGB, IEC 61966-2-1.
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_matrix_colours_rise_in_lightness_and_every_roll_is_labelled(
    tmp_path: Path, drawn: list[Figure]
) -> None:
    figures.matrix(MATRIX, tmp_path / "figure.png")
    (axes,) = drawn[0].axes
    (image,) = axes.images
    light = [_lightness(to_rgb(image.to_rgba(np.array([[roll]]))[0, 0])) for roll in range(11)]
    # Lightness alone tells rolls apart, whatever the reader's colour vision.
    assert all(after > before for before, after in itertools.pairwise(light))
    (bar,) = axes.child_axes
    assert [label.get_text() for label in bar.get_yticklabels()] == [str(k) for k in range(11)]
    np.testing.assert_array_equal(image.get_array(), MATRIX)
    assert image.origin == "lower"


def test_a_field_has_its_best_on_top_and_its_win_rates_in_per_cent(
    tmp_path: Path, drawn: list[Figure]
) -> None:
    rates = np.array([[0.5, 0.2, 0.35], [0.8, 0.5, 0.4], [0.65, 0.6, 0.5]])
    figures.win_rates(rates, ["low", "high", "mid"], tmp_path / "figure.png")
    axes = drawn[0].axes[0]
    for labels in (axes.get_yticklabels(), axes.get_xticklabels()):
        assert [text.get_text() for text in labels] == ["mid", "high", "low"]
    shown = np.array([[50, 60, 65], [40, 50, 80], [35, 20, 50]])
    assert np.asarray(axes.images[0].get_array()) == pytest.approx(shown, abs=1e-12)
    assert axes.images[0].origin == "upper"
    assert [text.get_text() for text in axes.texts] == [f"{one:.1f}" for one in shown.ravel()]


@pytest.mark.parametrize("count", mostly_slow([22, 80], 22))
def test_names_of_a_field_do_not_overlap(tmp_path: Path, drawn: list[Figure], count: int) -> None:
    rates = np.random.default_rng(0).uniform(0.3, 0.7, (count, count))
    names = [f"An entry called {entry}" for entry in range(count)]
    figures.win_rates(rates, names, tmp_path / "figure.png")
    drawn[0].draw_without_rendering()  # in the figure's own resolution, not the file's
    axes = drawn[0].axes[0]
    for axis, side in ((axes.xaxis, "x"), (axes.yaxis, "y")):
        boxes = [label.get_window_extent() for label in axis.get_ticklabels()]
        spans = sorted((getattr(box, f"{side}0"), getattr(box, f"{side}1")) for box in boxes)
        assert all(end <= start for (_, end), (start, _) in pairwise(spans))


@pytest.mark.slow
def test_small_games_and_single_checkpoints(tmp_path: Path, drawn: list[Figure]) -> None:
    figures.matrix(np.zeros((1, 1), np.int8), tmp_path / "a.png", rolls=2)
    figures.matrix(MATRIX[:10, :10] % 3, tmp_path / "b.png", rolls=3)
    figures.matrix(MATRIX * 3, tmp_path / "c.png", rolls=51)
    figures.policy(
        POLICY[:5, :5, :2] / POLICY[:5, :5, :2].sum(axis=2, keepdims=True), tmp_path / "d.png"
    )
    figures.convergence(METRICS[:1], tmp_path / "e.png")
    names = [text.get_text() for text in drawn[-1].axes[0].get_yticklabels()]
    assert names == ["average policy", "matrix"]
    assert len(list(tmp_path.glob("*.png"))) == 5


@pytest.mark.slow
def test_no_settings_are_touched_even_by_many_threads(tmp_path: Path) -> None:
    before = dict(mpl.rcParams)
    one = tmp_path / "one.png"
    figures.convergence(METRICS, one)
    threads = [
        threading.Thread(target=figures.convergence, args=(METRICS, tmp_path / f"{i}.png"))
        for i in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all((tmp_path / f"{i}.png").read_bytes() == one.read_bytes() for i in range(2))
    assert dict(mpl.rcParams) == before


KUHN = hogeq.Game("kuhn(players=2,ranks=3)")
OF_ANOTHER_GAME = r": has no scores; allowed: strategies of Hog; figures\.exploitability takes any"
HOLE = np.where(np.arange(MATRIX.size).reshape(MATRIX.shape) == 2 * len(MATRIX) + 1, np.nan, 0.0)


@pytest.mark.parametrize(
    ("draw", "words"),
    [
        (lambda path: figures.convergence([], path), "no metrics"),
        (lambda path: figures.matrix(np.zeros((2, 3)), path), r"\(2, 3\).*\(G, G\)"),
        (lambda path: figures.matrix(np.full((2, 2), 3), path, rolls=3), r"outside 0\.\.2"),
        (
            lambda path: figures.policy(MATRIX, path),
            r"\(G, G, K\); a matrix is drawn by figures\.matrix$",
        ),
        (
            lambda path: figures.matrix(POLICY, path),
            r"\(G, G\); a policy is drawn by figures\.policy, or purify it first$",
        ),
        (lambda path: figures.matrix(KUHN.strategy("uniform"), path), OF_ANOTHER_GAME),
        (
            lambda path: figures.policy(cast("Any", KUHN.solve("cfr", 1)), path),
            r"^policy: got Solution; allowed: its \.strategy, or arrays$",
        ),
        (
            lambda path: figures.policy(cast("Any", KUHN.equilibrium(1.0)), path),
            r"^policy: got Equilibrium; allowed: its \.profile, or arrays$",
        ),
        (
            lambda path: figures.policy(KUHN.strategy("uniform"), path, reach=REACH),
            r"^reach: allowed for strategies of Hog, which are drawn by scores$",
        ),
        (lambda path: figures.matrix(MATRIX, path, reach=REACH[:5, :5]), "allowed: the same"),
        (lambda path: figures.matrix(MATRIX + HOLE, path), r"^matrix: cell \(2, 1\) is nan"),
        (lambda path: figures.matrix([["a"]], path), "^matrix: holds <U1 values; allowed: numbers"),
        (lambda path: figures.matrix(MATRIX, path, reach=REACH + HOLE), r"^reach: cell \(2, 1\)"),
        (lambda path: figures.counter(MATRIX + HOLE, GAINS, REACH, path), r"^gap: cell \(2, 1\)"),
        (lambda path: figures.convergence(BEGUN, path), "a line at iteration 0; allowed: 1"),
        (lambda path: figures.intervals(["a"], [[]], [[]], path), "a setting without runs"),
        (lambda path: figures.win_rates(RATES, ["a"], path), "1 names, shape"),
        (
            lambda path: figures.beliefs({"exact": [[1.0, 0.0]]}, path, ("own", "1"), ("a", "1")),
            r"beliefs: exact has shape \(1, 2\); allowed: \(1, 1\)",
        ),
        (lambda path: figures.beliefs({}, path, ("own", "1"), ("a", "1")), "nothing to draw"),
    ],
)
def test_what_cannot_be_drawn(tmp_path: Path, draw: Callable[[Path], None], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        draw(tmp_path / "figure.png")
    assert not list(tmp_path.iterdir())


def test_only_a_png_is_written(tmp_path: Path) -> None:
    for name in ("figure.xyz", "figure.svg", "figure"):
        with pytest.raises(ValueError, match=rf"^path: got '.*{name}'; .* ends in \.png$"):
            figures.matrix(MATRIX, tmp_path / name)
    assert not list(tmp_path.iterdir())
    figures.matrix(MATRIX, tmp_path / "figure.PNG")


@pytest.mark.slow
def test_a_name_is_no_formula(tmp_path: Path, drawn: list[Figure]) -> None:
    name = "a$x^2$b"
    figures.matrix(MATRIX, tmp_path / "a.png", name)
    figures.policy(POLICY, tmp_path / "b.png", name)
    figures.beliefs({name: [[1.0]]}, tmp_path / "c.png", ("r", "1"), ("c", "1"), name)
    figures.win_rates(RATES, len(RATES) * [name], tmp_path / "d.png", name)
    figures.intervals([name], [[0.6]], [[0.7]], tmp_path / "e.png", name)
    for figure in drawn:
        shown = [text.get_text() for text in texts(figure) if "x^2" in text.get_text()]
        assert shown
        assert all(r"a\$x^2\$b" in text for text in shown)


def test_a_logarithmic_axis_has_plain_digits_and_a_place_for_0() -> None:
    axis = Figure().subplots().xaxis
    number_log_axis(axis, np.array([0.1, 0.2, np.nan]), 1.0)
    assert axis.get_scale() == "log"
    assert list(map(axis.get_major_formatter(), (0.1, 0.2, 2.0))) == ["0.1", "0.2", "2"]
    number_log_axis(axis, np.array([0.0, 0.1, 0.2, np.nan]), 1.0)
    assert axis.get_ticklabels()[0].get_text() == "0"
    assert axis.get_view_interval()[0] == axis.get_majorticklocs()[0] == 0.0


def test_characters_that_the_font_lacks_are_boxes_without_a_warning(tmp_path: Path) -> None:
    figures.matrix(MATRIX, tmp_path / "figure.png", "\u6f22\u5b57 \u0e01")  # warnings are errors
    assert (tmp_path / "figure.png").stat().st_size > 1000
