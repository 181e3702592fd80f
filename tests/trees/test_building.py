"""Building of trees: the same as level by level, limits that are met soon, and files of trees."""

import os
import re
import time
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyspiel
import pytest

import hogeq
from hogeq.support.aliases import Ints
from hogeq.trees import building, flat
from hogeq.trees.building import flatten
from hogeq.trees.flat import FlatTree
from hogeq.trees.openspiel import _node, from_openspiel
from hogeq.trees.rules import GameRules, from_rules, node_of
from hogeq.trees.saved import FIELDS, load_tree_file, save_tree
from tests.processes import python
from tests.refusals import refuses
from tests.slow import fast_and_slow
from tests.toys import _look, tree_of
from tests.trees.random_games import random_game
from tests.twin.build import tree_hash

OPENSPIEL: Final = (
    *("kuhn_poker", "leduc_poker", "liars_dice(dice_sides=3)", "liars_dice_ir(dice_sides=3)"),
    *("goofspiel(num_cards=3)", "matrix_rps", "catch(rows=3,columns=2)", "nim(pile_sizes=2;2)"),
    *("blotto(coins=3,fields=2)", "python_hog(goal=3,max_dice=2)"),
)


def seen(name: str) -> tuple[Any, Callable[[Any], Any]]:
    """Give the first state of a game of OpenSpiel, and the nodes of states."""
    game = pyspiel.load_game(name)
    has_states = game.get_type().provides_information_state_string
    if game.get_type().dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
        game = pyspiel.convert_to_turn_based(game)
    return game.new_initial_state(), partial(_node, has_states)


@pytest.mark.filterwarnings("ignore:python_hog has imperfect recall")
@pytest.mark.parametrize("name", OPENSPIEL)
def test_games_of_openspiel_are_built_as_level_by_level(name: str) -> None:
    assert from_openspiel(name).digest() == tree_hash(*seen(name))


@pytest.mark.parametrize("seed", range(60))
def test_random_games_are_built_as_level_by_level(seed: int) -> None:
    root = random_game(seed, depth=3 + seed % 4)
    tree = flatten("toy", root, _look, lambda moves: [*map(str, moves)])
    assert tree.digest() == tree_hash(root, _look)


def test_what_can_be_computed_is_right() -> None:
    tree = from_openspiel("leduc_poker")
    for node in range(1, tree.num_nodes, 97):
        siblings = np.flatnonzero(tree.parent == tree.parent[node])
        assert tree.action[node] == node - siblings[0]
        state = pyspiel.load_game("leduc_poker").new_initial_state()
        for step in flat._path(tree.parent, node):
            assert state.legal_actions()[tree.action[step]] == tree.incoming_number[step]
            state.apply_action(int(tree.incoming_number[step]))
    assert (tree.action[0], tree.incoming_number[0]) == (0, 0)


# --- limits ---------------------------------------------------------------------------------------


class Counting(GameRules):
    """One player alone, who chooses among some numbers for some moves."""

    players = 1

    def __init__(self, numbers: int, moves: int) -> None:
        self.numbers, self.moves = numbers, moves

    def initial(self) -> int:
        return 0

    def to_move(self, state: int) -> int:
        return hogeq.END if state == self.moves else 0

    def actions(self, state: int) -> range:  # noqa: ARG002 - always
        return range(self.numbers)

    def next(self, state: int, action: int) -> int:  # noqa: ARG002 - whatever it is
        return state + 1

    def payoffs(self, state: int) -> list[float]:
        return [1.0 * state]


def asked(rules: GameRules) -> tuple[int, str]:
    """Give how many nodes are looked at until a game is refused, and why it is."""
    calls = [0]

    def look(state: Any) -> building.Node:
        calls[0] += 1
        return node_of(rules, state)

    with pytest.raises(ValueError, match="has more than") as refused:
        flatten("counting", rules.initial(), look, lambda moves: [*map(str, moves)])
    return calls[0], str(refused.value)


def test_a_vast_tree_is_refused_at_once() -> None:
    for numbers, moves in ((2, 10**9), (30, 300), (10, 60)):
        calls, why = asked(Counting(numbers, moves))
        assert calls < 1000
        assert why == "counting: has more than 20,000,000 nodes"


def test_a_tree_ten_times_too_large_is_refused_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "MOST_NODES", 1_000_000)
    calls, _ = asked(Counting(3, 15))  # 3**15 ends are 14 million
    assert calls < 200_000


def test_no_tree_within_the_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = tree_of(random_game(3, depth=9))
    monkeypatch.setattr(building, "MOST_NODES", tree.num_nodes)
    assert tree_of(random_game(3, depth=9)).num_nodes == tree.num_nodes > 1000
    monkeypatch.setattr(building, "MOST_NODES", tree.num_nodes - 1)
    refuses(lambda: tree_of(random_game(3, depth=9)), "has more than")


def test_chess_is_refused_in_seconds() -> None:
    begun = time.process_time()
    refuses(lambda: hogeq.Game("chess"), r"^chess\(\): has more than 20,000,000 nodes$")
    assert time.process_time() - begun < 5.0


def test_the_mean_of_the_estimates_is_the_number_of_nodes() -> None:
    estimate = building._Estimate(*seen("leduc_poker"))
    sums = [estimate.play() for _ in range(2000)]
    error = np.std(sums) / np.sqrt(len(sums))
    assert abs(np.mean(sums) - 9457) < 4.0 * error
    assert error < 1000


@pytest.mark.slow
def test_openspiel_writes_no_lines_of_its_own() -> None:
    asking = (
        "import hogeq\ntry: hogeq.Game('kuhn_poker(')\nexcept ValueError as error: print(error)"
    )
    done = python("-c", asking)
    assert done.stdout == "game: got 'kuhn_poker(': Missing closing bracket ')'.\n"
    assert (done.returncode, done.stderr) == (0, "")


# --- files of trees -------------------------------------------------------------------------------


def same(one: FlatTree, two: FlatTree) -> bool:
    """Whether trees are the same, in words too."""
    names = "player", "parent", "row", "chance", "payoff", "seat"
    numbers = "action_numbers", "chance_numbers"
    pairs = ((getattr(one, name), getattr(two, name)) for name in names + numbers)
    arrays = all(np.array_equal(*pair) for pair in pairs)
    words = one.labels == two.labels and [*map(str, one.names)] == [*two.names]
    histories = all(
        [*map(str, one.history(node))] == [*map(str, two.history(node))]
        for node in range(0, one.num_nodes, 1 + one.num_nodes // 50)
    )
    facts = (one.name, one.num_players, one.shift, one.centre, one.digest())
    return (
        arrays and words and histories
        and facts == (two.name, two.num_players, two.shift, two.centre, two.digest())
        and (one.states is None) == (two.states is None)
    )  # fmt: skip


@pytest.mark.filterwarnings("ignore:python_hog has imperfect recall")
@pytest.mark.parametrize("name", [*OPENSPIEL, "own"])
def test_a_tree_is_read_as_it_was_saved(name: str, tmp_path: Path) -> None:
    tree = from_rules(Counting(3, 4)) if name == "own" else from_openspiel(name)
    hogeq.Game(tree).write(tmp_path / "tree.npz")
    read = hogeq.Game(tmp_path / "tree.npz")
    assert read.tree is not None
    assert same(tree, read.tree)
    # It may be saved again, and players may forget.
    read.write(tmp_path / "again.npz")
    assert same(tree, load_tree_file(tmp_path / "again.npz"))
    forgetful = hogeq.Game(tmp_path / "tree.npz", forget="order")
    other = from_rules(Counting(3, 4), forget="order") if name == "own" else None
    other = other or from_openspiel(name, forget="order")
    assert forgetful.tree is not None
    assert forgetful.tree.digest() == other.digest()


def test_a_file_of_gambit_keeps_its_names(tmp_path: Path) -> None:
    hogeq.Game("kuhn_poker").write(tmp_path / "kuhn.efg")
    tree = hogeq.Game(tmp_path / "kuhn.efg")
    tree.write(tmp_path / "kuhn.npz")
    read = hogeq.Game(tmp_path / "kuhn.npz")
    assert tree.tree is not None
    assert read.tree is not None
    assert same(tree.tree, read.tree)
    assert read.tree.states == tree.tree.states


def test_other_suffixes_and_games_are_not_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"allowed: names ending in \.efg or \.npz"):
        hogeq.Game("kuhn_poker").write(tmp_path / "kuhn.txt")
    with pytest.raises(ValueError, match=r"forget: got .* allowed: texts, where a tree was saved"):
        hogeq.Game(tmp_path / "tree.npz", forget=lambda *_: 0)


def arrays_of(tree: FlatTree, folder: Path) -> dict[str, Any]:
    save_tree(tree, folder / "good.npz")
    with np.load(folder / "good.npz") as held:
        return dict(held)


def refused(arrays: dict[str, Any], path: Path) -> str:
    """Write arrays, and give the line by which the file is refused."""
    np.savez(path, **arrays)
    with pytest.raises(ValueError, match=f"^{re.escape(str(path))}: [^\n]*$") as error:
        load_tree_file(path)
    return str(error.value)


KUHN_CHANGES: Final[tuple[tuple[str, Any, str], ...]] = (
    ("about", lambda a: a + np.eye(3)[0], "about: allowed: version 1, 1 or 2 players"),
    ("about", lambda a: a + np.eye(3)[1], "about: allowed: version 1, 1 or 2 players"),
    ("about", lambda a: a[:2], "about: allowed: version 1"),
    ("units", lambda a: a * np.nan, "units[0]: allowed: numbers from"),
    ("units", lambda a: a[:1], "units: allowed: two numbers"),
    ("parent", lambda a: a[:0], "parent: allowed: 1 to 20,000,000 nodes"),
    ("parent", lambda a: np.where(a == -1, 0, a), "parent: allowed: -1 for the root"),
    ("parent", lambda a: put(a, 1, 1), "parent[0]: allowed: nodes before"),
    ("parent", lambda a: put(a, 57, -1), "parent[56]: allowed: nodes before"),
    ("parent", lambda a: put(a, 57, 57), "parent[56]: allowed: nodes before"),
    ("parent", lambda a: put(a, 57, 3), "parent[56]: allowed: rising numbers"),
    ("parent", lambda a: put(a, 57, -(2**31)), "parent[56]: allowed: nodes before"),
    ("row", lambda a: a[:-1], "row: allowed: 58, as many as in parent"),
    ("row", lambda a: put(a, 57, 3), "parent["),
    ("row", lambda a: put(a, 57, 12), "row[57]: allowed: -1 to 11"),
    ("row", lambda a: put(a, 0, -2), "row[0]: allowed: -1 to 11"),
    ("row", lambda a: np.where(a == 11, 10, a), "row[11]: allowed: every information set"),
    ("chance", lambda a: a[:-1], "chance: allowed: one for each step of chance"),
    ("chance", lambda a: put(a, 3, np.nan), "chance[3]: allowed: 0 to 1"),
    ("chance", lambda a: put(a, 3, -0.5), "chance[3]: allowed: 0 to 1"),
    ("chance", lambda a: put(a, 3, 0.6), "chance[1]: allowed: sums of 1"),
    ("chance", lambda a: a * (1.0 - 1e-9), "chance[0]: allowed: sums of 1"),
    ("drawn", lambda a: a[:-1], "drawn: allowed: one for each step of chance"),
    ("drawn", lambda a: a * 0, "drawn[0]: allowed: different numbers at a node"),
    ("said", lambda a: put(a, 0, 10**6), "said[0]: allowed: 0 to"),
    ("said", lambda a: put(a, 0, -1), "said[0]: allowed: 0 to"),
    ("payoff", lambda a: put(a, 0, np.inf), "payoff[0]: allowed: numbers from"),
    ("payoff", lambda a: put(a, 0, np.nan), "payoff[0]: allowed: numbers from"),
    ("payoff", lambda a: a * 1e-320, "payoff: allowed: the largest 1e-300 or more"),
    ("payoff", lambda a: a[1:], "payoff: allowed: one for each end"),
    ("seat", lambda a: put(a, 0, 2), "seat[0]: allowed: players from 0 to 1"),
    ("seat", lambda a: put(a, 0, -1), "seat[0]: allowed: players from 0 to 1"),
    ("seat", lambda a: put(a, 0, 1), "seat[1]: allowed: those of player 0 first"),
    ("seat", lambda a: a[:-1], "num_legal: allowed: 11, as many as in seat"),
    ("num_legal", lambda a: put(a, 0, 0), "num_legal[0]: allowed: 1 or more"),
    ("num_legal", lambda a: put(a, 0, 3), "parent["),
    ("num_legal", lambda a: put(a, 0, 2**31 - 1), "parent["),
    ("moves", lambda a: a[1:], "moves: allowed: one for each action of a set"),
    ("moves", lambda a: a * 0, "moves[0]: allowed: different numbers"),
    ("labels", lambda a: put(a, 1, -1), "labels[1]: allowed: 0 to"),
    ("text", lambda a: a[:-1], "ends: allowed: the last at the end of text"),
    ("text", lambda a: a * 0 + 255, "text: "),
    ("text", lambda a: np.where(a == 49, 48, a), "text: 2 information sets of player 0 are named"),
    ("ends", lambda a: a[::-1], "ends[1]: allowed: rising numbers"),
    ("ends", lambda a: put(a, 0, -1), "ends[0]: allowed: rising numbers"),
    ("ends", lambda a: a[-1:], "ends: allowed: a name, one for each information set, and words"),
    ("ends", lambda a: a[:0], "ends: allowed: the last at the end of text"),
)


def put(array: Any, place: int, value: Any) -> Any:
    array = array.copy()
    array[place] = value
    return array


@pytest.mark.parametrize("number", range(len(KUHN_CHANGES)))
def test_a_wrong_array_is_refused_by_its_name(number: int, tmp_path: Path) -> None:
    name, change, why = KUHN_CHANGES[number]
    arrays = arrays_of(from_openspiel("kuhn_poker"), tmp_path)
    arrays[name] = change(arrays[name]).astype(arrays[name].dtype)
    assert refused(arrays, tmp_path / "bad.npz").startswith(f"{tmp_path / 'bad.npz'}: {why}")


@pytest.mark.parametrize("name", FIELDS)
def test_types_axes_and_names_are_those_of_a_tree(name: str, tmp_path: Path) -> None:
    arrays = arrays_of(from_openspiel("kuhn_poker"), tmp_path)
    right, path = arrays[name], tmp_path / "bad.npz"
    for wrong in (right.astype(">f4"), right.astype(np.complex64), right[None], right[0]):
        assert f"{name}: has type " in refused(arrays | {name: wrong}, path)
    # Numpy would unpickle it.
    assert f"{name}: has type |O" in refused(arrays | {name: np.array([{}, "x"], object)}, path)
    assert "; allowed: the arrays of a tree" in refused(
        {key: one for key, one in arrays.items() if key != name}, path
    )
    assert "; allowed: the arrays of a tree" in refused(arrays | {"more": right}, path)


@pytest.mark.parametrize("name", sorted({*FIELDS} - {"about", "text", "ends", "parent"}))
def test_lengths_that_do_not_fit_are_refused_before_arrays_are_read(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arrays = arrays_of(from_openspiel("kuhn_poker"), tmp_path)
    arrays[name] = np.resize(arrays[name], 1000)
    monkeypatch.setattr("hogeq.trees.saved.read_member", None)
    why = refused(arrays, tmp_path / "bad.npz")
    assert f"{'num_legal' if name == 'seat' else name}: allowed: " in why


def test_archives_that_cheat_are_refused(tmp_path: Path) -> None:
    arrays, path = arrays_of(from_openspiel("kuhn_poker"), tmp_path), tmp_path / "bad.npz"

    def line(data: bytes) -> str:
        path.write_bytes(data)
        with pytest.raises(ValueError, match=r"^[^\n]*bad\.npz[^\n]*$") as error:
            load_tree_file(path)
        return str(error.value)

    assert "is not an .npz file" in line(b"")
    assert "is not an .npz file" in line(b"PK\x03\x04" + b"\0" * 100)
    np.savez_compressed(path, **(arrays | {"text": np.zeros(10**6, np.uint8)}))
    assert "allowed: arrays that are not compressed" in line(path.read_bytes())
    with zipfile.ZipFile(path, "w") as archive, zipfile.ZipFile(tmp_path / "good.npz") as held:
        for one in held.namelist():  # an array that promises more than there is
            data = held.read(one).replace(b"(58,), }       ", b"(99999999,), } ")
            archive.writestr(one, data)
    assert "has shape (99999999,), but 232 bytes" in line(path.read_bytes())
    with zipfile.ZipFile(path, "w") as archive, zipfile.ZipFile(tmp_path / "good.npz") as held:
        for one in held.namelist():
            archive.writestr(one, held.read(one))
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("row.npy", held.read("row.npy"))
    assert "allowed: the arrays of a tree" in line(path.read_bytes())
    os.mkfifo(tmp_path / "pipe.npz")
    refuses(lambda: load_tree_file(tmp_path / "pipe.npz"), "is not a file")
    refuses(lambda: load_tree_file(tmp_path / "none.npz"), "No such file")


def given(path: Path) -> tuple[FlatTree | None, str]:
    """Give the tree of a file, or why it is refused."""
    try:
        return load_tree_file(path), ""
    except ValueError as error:
        return None, str(error)


@pytest.mark.parametrize("files", fast_and_slow([200], [800]))
def test_files_by_the_hundred_give_a_tree_or_a_line(files: int, tmp_path: Path) -> None:
    """Bytes and numbers are changed at random: nothing but a line or a whole tree comes of it."""
    random, path = np.random.default_rng(0), tmp_path / "bad.npz"
    arrays = arrays_of(from_openspiel("kuhn_poker"), tmp_path)
    good, read = (tmp_path / "good.npz").read_bytes(), 0
    extremes = [0, 1, -1, 2, 57, 2**31 - 1, -(2**31), 2**62, -(2**62), 1e308, np.nan, np.inf, 0.3]
    for number in range(files):
        if number % 2:
            data = bytearray(good)
            for _ in range(int(random.integers(1, 4))):
                data[random.integers(len(data))] = random.integers(256)
            path.write_bytes(
                bytes(data[: random.integers(1, len(data)) if number % 7 == 0 else None])
            )
        else:
            name = str(random.choice([*FIELDS]))
            changed: Ints = arrays[name].copy()
            with np.errstate(all="ignore"):
                value = np.array(random.choice(np.array(extremes, object)), float)
                changed[random.integers(len(changed))] = value.astype(changed.dtype)
            np.savez(path, **(arrays | {name: changed}))
        tree, why = given(path)
        assert "\n" not in why
        if tree is None:
            continue
        read += 1
        uniform = tree.uniform()
        assert abs(flat.payoff(tree, uniform, uniform)) <= abs(tree.shift) + abs(tree.centre) + (
            tree.largest_payoff * (1.0 + 1e-9)
        )
        ends = flat.reach(tree, uniform)[tree.player == flat.TERMINAL]
        assert ends.sum() == pytest.approx(1.0)
        tree.labels, tree.history(tree.num_nodes - 1), tree.digest(), repr(tree)
    assert files / 40 < read < files / 1.6


@pytest.mark.slow
def test_a_saved_tree_is_read_fast(tmp_path: Path) -> None:
    tree = from_rules(Counting(4, 9))
    save_tree(tree, tmp_path / "tree.npz")
    begun = time.process_time()
    assert load_tree_file(tmp_path / "tree.npz").num_nodes == 349_525
    assert time.process_time() - begun < 0.5
    assert (tmp_path / "tree.npz").stat().st_size < 20 * 349_525
