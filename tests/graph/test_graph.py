"""The graph of a game: its meaning by the page's own evaluator, its files, what it refuses."""

import re
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hogeq
from hogeq.evaluation.values import win_rate
from hogeq.graph.graph import FORM, NATURE, NUMBERS, Graph, GraphError
from hogeq.graph.hog import of_hog
from hogeq.graph.levels import levels_of
from hogeq.model.game import compile_game
from hogeq.rules import EDITIONS, rules_from
from hogeq.support.aliases import Floats
from hogeq.trees.flat import FlatTree, payoff
from hogeq.trees.graphs import of_tree
from tests import toys
from tests.evaluation.players import RECURRING
from tests.test_wide_games import hide_and_seek

PAGE = Path(__file__).parents[2] / "docs" / "graph.md"


def page_evaluator() -> Callable[..., float]:
    """Make a function of the thirty lines of the page."""
    page = PAGE.read_text("utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert len([line for line in code.splitlines() if line.strip()]) <= 34
    names: dict[str, Any] = {}
    exec(compile(code, "graph.md", "exec"), names)  # noqa: S102 - our own
    evaluator: Callable[..., float] = names["evaluate"]
    return evaluator


evaluate = page_evaluator()
HOG = {
    "memory": {"edition": "su20", "goal": 5, "max_dice": 2},
    "extra turns": {"edition": "su21", "goal": 4, "max_dice": 2},
    "minus one": {"edition": "fa13", "goal": 6, "max_dice": 2},
}


def drawn(graph: Graph, count: int, seed: int = 0) -> Floats:
    """Draw strategies (n, R, K) of legal actions."""
    random = np.random.default_rng(seed)
    chances = random.dirichlet(np.ones(graph.num_actions), (count, graph.rows)) * graph.legal
    found: Floats = chances / np.maximum(chances.sum(axis=-1, keepdims=True), 1e-300)
    return found


def small(name: str) -> Graph:
    """Make a small graph of a kind."""
    if name == "tree":
        return of_tree(toys.kuhn().tree)
    if name == "recurs":
        return of_hog(RECURRING["points"])
    return of_hog(rules_from(HOG[name]))


SMALL = ("tree", "recurs", *HOG)


@pytest.mark.parametrize("name", HOG)
def test_the_thirty_lines_give_the_win_rates_of_hog(name: str) -> None:
    game = compile_game(rules_from(HOG[name]))
    graph = of_hog(game.rules)
    one, two = drawn(graph, 2)
    rate = win_rate(game, one.reshape(game.shape), two.reshape(game.shape)).win_rate
    assert evaluate(graph, [one, two]) == pytest.approx(rate, abs=1e-12)
    assert evaluate(graph, [two, one]) == pytest.approx(1.0 - rate, abs=1e-12)
    assert evaluate(graph.against(two), [one, None]) == pytest.approx(rate, abs=1e-12)
    assert evaluate(graph.against(two, 1), [one, None]) == pytest.approx(rate, abs=1e-12)


@pytest.mark.parametrize("name", ["points", "double swap", "everything"])
def test_positions_that_recur_are_levels_that_are_iterated(name: str) -> None:
    game = compile_game(RECURRING[name])
    graph = of_hog(game.rules)
    assert graph.recurring.any()
    assert graph.endless == 0.5
    one, two = drawn(graph, 2)
    rate = win_rate(game, one.reshape(game.shape), two.reshape(game.shape)).win_rate
    assert evaluate(graph, [one, two]) == pytest.approx(rate, abs=1e-12)


CHECKED = {f"edition {name}": {"edition": name, "max_dice": 3} for name in EDITIONS}


@pytest.mark.parametrize("goal", [9, 12, [7, 5], [4, 9]])
@pytest.mark.parametrize("name", [*CHECKED, *RECURRING])
def test_what_is_made_unchecked_passes_every_check(name: str, goal: int | list[int]) -> None:
    if name in RECURRING:
        rules = replace(RECURRING[name], goal=goal if isinstance(goal, int) else (goal[0], goal[1]))
    else:
        rules = rules_from({**CHECKED[name], "goal": goal})
    graph = of_hog(rules)
    checked = replace(graph)
    assert checked.digest == graph.digest
    assert (checked.recurring == graph.recurring).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", EDITIONS)
def test_whole_games_that_are_made_unchecked_pass_every_check(name: str) -> None:
    graph = of_hog(rules_from(name))
    assert replace(graph).digest == graph.digest


def test_who_makes_a_graph_unchecked_is_known() -> None:
    """Files, and graphs of users, are checked: only what a test above holds to the check is not."""
    sources = Path(hogeq.__file__).parent.rglob("*.py")
    asking = {one.name for one in sources if "Graph.unchecked(" in one.read_text("utf-8")}
    assert asking == {"hog.py"}


def test_two_who_stay_for_ever_have_a_draw() -> None:
    graph = of_hog(rules_from({"goal": 3, "max_dice": 1, "zero_dice": [0, 0, 0]}))
    none, one = np.eye(2)[np.repeat([[0], [1]], 9, axis=1)]
    assert evaluate(graph, [none, none]) == 0.5
    assert evaluate(graph, [one, none]) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize(("goal", "lower"), [(7, 5), (10, 3)])
def test_each_player_has_a_goal_of_its_own(goal: int, lower: int) -> None:
    """With 10 and 3 there are fewer positions than rows: nobody comes to most of them."""
    game = hogeq.Game({"edition": "su20", "goal": [goal, lower], "max_dice": 2})
    graph, rows = game.graph, game.rules.size**2
    one, two = np.random.default_rng(3).dirichlet(np.ones(3), (2, rows))
    shape = (goal, goal, 3)
    rate = game.win_rate(one.reshape(shape), two.reshape(shape)).win_rate
    assert evaluate(graph, [one, two]) == pytest.approx(rate, abs=1e-12)
    assert graph.rows_of(0).max() < rows
    theirs = graph.rows_of(1)
    own, other = np.divmod(theirs, goal)
    assert (own < lower).all()
    assert other.max() == goal - 1


@pytest.mark.parametrize("tree", [toys.kuhn().tree, toys.bits().tree], ids=lambda tree: tree.name)
def test_a_tree_has_the_rows_of_both_seats(tree: FlatTree) -> None:
    graph = of_tree(tree)
    joint = drawn(graph, 1)[0]
    both = payoff(tree, joint, joint)
    assert evaluate(graph, [joint, joint]) == pytest.approx(both, abs=1e-12)
    rows = [graph.rows_of(seat) for seat in (0, 1)]
    assert sorted(np.concatenate(rows)) == [*range(tree.num_rows)]
    np.testing.assert_array_equal(graph.legal, tree.legal)
    for seat in (0, 1):
        alone = graph.against(joint, seat)
        won = evaluate(alone, [joint[rows[seat]], None])
        assert won == pytest.approx(both if seat == 0 else graph.total - both, abs=1e-12)


def test_components_are_levels_by_the_longest_path() -> None:
    # 0 leads to 1 and 3; 1 and 2 to each other; 2 to 4, 3 to 4; 4 to itself.
    source, target = np.array([[0, 0, 1, 2, 2, 3, 4], [1, 3, 2, 1, 4, 4, 4]])
    level = levels_of(np.zeros(5, np.int64), source, target)
    levels = [np.flatnonzero(level == number).tolist() for number in range(4)]
    assert levels in ([[0], [3], [1, 2], [4]], [[0], [1, 2], [3], [4]])


@pytest.mark.parametrize("name", SMALL)
def test_files_hold_the_same_graph(name: str, tmp_path: Path) -> None:
    graph = small(name)
    graph.save(tmp_path / "game.npz")
    again = Graph.load(tmp_path / "game.npz")
    assert again.digest == graph.digest
    assert (again.total, again.endless) == (graph.total, graph.endless)
    with pytest.raises(GraphError, match=r"names ending in .npz"):
        graph.save(tmp_path / "game.json")


def test_arrays_cannot_be_written_to() -> None:
    graph = small("tree")
    with pytest.raises(ValueError, match="read-only"):
        graph.payoff[0] = 1.0
    given = graph.payoff.copy()
    made = Graph(**{**graph.arrays(), "payoff": given})
    given[0] = 7.0  # the caller's own array stays writable
    assert isinstance(made, Graph)


CHANGES: dict[str, tuple[str, Any, str]] = {
    "a row of another number of actions": ("way", lambda a: np.where(a == a.max(), -1, a), "way"),
    "no payoff": ("payoff", lambda a: a[:0], "payoff: allowed: at least one number"),
    "payoffs that are no numbers": (
        "payoff",
        lambda a: a * np.nan,
        r"payoff\[0\]: allowed: finite",
    ),
    "a position beyond the last": ("next", lambda a: a + 10_000, r"next\[\d+\]: allowed: numbers"),
    "an earlier level": ("next", lambda a: np.where(a > 1, 0, a), "next"),
    "negative places": ("place", lambda a: a - 1, r"place\[0\]"),
    "places beyond all ends": ("place", lambda a: a * 0 + a.max(), "place"),
    "chances over 1": ("chance", lambda a: a * 1.1, r"chance\[0\]: allowed: probabilities"),
    "chances below 0": ("chance", lambda a: -a, r"chance\[0\]: allowed: probabilities"),
    "a start too many": ("start", lambda a: a + 10_000, r"start\[0, 0\]"),
    "another axis": ("level", lambda a: a[None], r"level: has type .* allowed: numbers with 1"),
    "halves": ("row", lambda a: a + 0.5, "row: allowed: numbers of type int32"),
    "texts": ("row", lambda a: a.astype(str), "row: has type"),
    "too large for the type": ("row", lambda a: a.astype(np.int64) + 2**40, "row: allowed"),
    "rows of one player more": ("row", lambda a: a[:-1], "row: allowed: "),
    "unknown players": ("player", lambda a: a + 2, r"player\[\d+\]"),
    "levels that fall": ("level", lambda a: a[::-1], "level: allowed: numbers that rise"),
    "a draw where nothing recurs": ("endless", lambda _: 0.5, "endless: allowed"),
    "no finite sum": ("total", lambda _: np.nan, "total"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_no_graph_is_refused_in_a_line(change: str) -> None:
    name, edit, message = CHANGES[change]
    graph = small("tree")
    arrays: dict[str, Any] = {**graph.arrays(), "total": graph.total}
    with pytest.raises(GraphError, match=message) as refusal:
        Graph(**{**arrays, name: edit(arrays.get(name))})
    assert "\n" not in str(refusal.value)


def test_what_recurs_without_a_draw_is_refused() -> None:
    arrays: dict[str, Any] = small("recurs").arrays()
    arrays.pop("endless")
    with pytest.raises(GraphError, match="endless: allowed: a payoff where a level recurs"):
        Graph(**{**arrays, "total": 1.0})


@pytest.mark.parametrize("name", SMALL)
def test_changed_numbers_are_refused_or_can_be_played(name: str) -> None:
    """No change of a few numbers gives arrays in which a loop leaves an array."""
    graph, random, refused = small(name), np.random.default_rng(4), 0
    for _ in range(40):
        arrays = {key: array.copy() for key, array in graph.arrays().items()}
        key = random.choice([*FORM])
        array = arrays[key].reshape(-1)
        if not array.size:
            continue
        for place in random.integers(array.size, size=random.integers(1, 4)):
            array[place] = random.choice([0, -1, 1, array[place] + 1, array.max(), 127])
        for one in NUMBERS & arrays.keys():
            arrays[one] = float(arrays[one][0])
        try:
            made = Graph(**arrays)
        except GraphError:
            refused += 1
            continue
        one, two = drawn(made, 2)
        worth = evaluate(made, [one, two], rounds=1)
        assert abs(worth) <= max(np.abs(made.payoff).max(), abs(made.endless or 0.0)) * (1 + 1e-6)
    assert refused > 5


HOSTILE: dict[str, tuple[Callable[[Path], object], str]] = {
    "no archive": (lambda path: path.write_bytes(b"PK\x03\x04nothing"), "not an .npz file"),
    "another file": (lambda path: np.savez(path, matrix=np.zeros(3)), "allowed: the arrays of"),
    "one more array": (
        lambda path: np.savez(path, **small("tree").arrays(), more=np.zeros(1)),
        "allowed: the arrays of",
    ),
    "objects": (
        lambda path: np.savez(
            path, **{**small("tree").arrays(), "level": np.array([None, {}], dtype=object)}
        ),
        "level: has type",
    ),
    "another type": (
        lambda path: np.savez(
            path, **{**small("tree").arrays(), "row": small("tree").row.astype(np.int64)}
        ),
        "row: has type <i8",
    ),
    "two draws": (
        lambda path: np.savez(path, **small("tree").arrays(), endless=np.zeros(2)),
        r"endless: has shape \(2,\)",
    ),
    "a situation of no position": (
        lambda path: np.savez(path, **padded("way", 1)),
        r"way\[\d+\]: allowed: situations that positions have",
    ),
    "zeros by the gigabyte": (
        lambda path: np.savez_compressed(path, **padded("level", 2**25)),
        r"allowed: arrays at most 100 times as large as the file",
    ),
}


def padded(name: str, more: int) -> dict[str, Any]:
    """Arrays of a small tree, one of which begins again after its end, `more` entries long."""
    arrays = small("tree").arrays()
    return arrays | {
        name: np.append(
            arrays[name], np.resize(arrays[name][:1], (more, *arrays[name].shape[1:])), axis=0
        )
    }


@pytest.mark.parametrize("name", ["way", "row", "situation", "label", "chance", "lane"])
def test_sizes_that_do_not_fit_are_refused_before_arrays_are_read(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "game.npz"
    np.savez(path, **padded(name, 1000))
    monkeypatch.setattr("hogeq.graph.graph.read_member", None)
    with pytest.raises(GraphError, match=f"{name}: allowed: "):
        Graph.load(path)


@pytest.mark.parametrize("name", HOSTILE)
def test_files_that_hold_no_graph_are_refused_in_a_line(name: str, tmp_path: Path) -> None:
    write, message = HOSTILE[name]
    path = tmp_path / "game.npz"
    write(path)
    with pytest.raises(GraphError, match=message) as refusal:
        Graph.load(path)
    assert str(refusal.value).startswith(str(path))
    assert "\n" not in str(refusal.value)


def test_a_file_that_is_cut_or_flipped_is_refused_or_a_graph(tmp_path: Path) -> None:
    path, random = tmp_path / "game.npz", np.random.default_rng(5)
    small("tree").save(path)
    whole, refused = path.read_bytes(), 0
    for _ in range(60):
        data = bytearray(whole)
        if random.random() < 0.3:
            data = data[: random.integers(len(data))]
        else:
            for place in random.integers(len(data), size=3):
                data[place] ^= int(random.integers(1, 256))
        path.write_bytes(bytes(data))
        try:
            Graph.load(path)
        except GraphError:
            refused += 1
    assert refused > 30


def test_missing_files_and_strategies_are_refused_in_a_line(tmp_path: Path) -> None:
    with pytest.raises(GraphError, match="cannot be read"):
        Graph.load(tmp_path / "none.npz")
    graph = small("memory")
    for policy, message in (
        (np.zeros((25, 3)), r"policy\[0\]: allowed: probabilities"),
        (np.ones(3), r"policy: has shape \(3,\)"),
        (np.full((7, 3), 1 / 3), "policy: has 7 rows"),
        ([["a"] * 3] * 25, "policy: has shape"),
    ):
        with pytest.raises(GraphError, match=message):
            graph.against(policy)
    with pytest.raises(GraphError, match="seat: got 2"):
        graph.against(np.full((25, 3), 1 / 3), 2)
    fixed = graph.against(np.full((25, 3), 1 / 3))
    assert set(np.unique(fixed.player)) == {0, NATURE}


def test_legal_actions_of_a_wide_graph_take_little_memory(tmp_path: Path) -> None:
    """A position for each of 10,000 actions: a table of both had 100 MB."""
    graph = hogeq.Game(hide_and_seek(tmp_path / "wide.efg", 10_000)).graph
    tracemalloc.start()
    legal, problem = graph.legal, graph.against(graph.legal / graph.legal.sum(axis=1)[:, None])
    most_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert legal.sum(axis=1).tolist() == [10_000, 2]
    assert problem.legal.sum(axis=1).tolist() == [10_000]
    assert most_bytes < 30_000_000
