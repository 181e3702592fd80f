"""Trees in files of numpy, ``.npz``, not compressed: they are read at the speed of the disk.

========== ===== ================================================================================
array      type  of N nodes, R information sets with A actions, C steps of chance and E ends
========== ===== ================================================================================
about      <i8   version of the format, number of players, 1 if there are OpenSpiel's names; and 1
                 if numbers of the game were rounded, or nothing
units      <f8   `FlatTree.shift` and `FlatTree.centre`
parent     <i4   (N,), the node before, -1 for the root; nodes lie by depth, siblings side by side
row        <i4   (N,), information set of the player to move, -1 where none moves
chance     <f8   (C,), probability of each step of chance, in the order of the nodes after it
drawn      <i4   (C,), its number in the game that the tree was made of
said       <i4   (C,), which of the words names it
payoff     <f8   (E,), to player 0
seat       i1    (R,), whose information set it is; those of player 0 come first
num_legal  <i4   (R,)
moves      <i4   (A,), numbers of the actions, one information set after another
labels     <i4   (A,), which of the words names each
text       u1    name, names of sets, OpenSpiel's names if any, and words, in UTF-8 without a break
ends       <i8   where each of these texts ends
sides      i1    (P,), which team each player is in; only of teams, whose names of sets begin with
                 the member, "player 2:"
========== ===== ================================================================================

A file is read with suspicion: whatever its bytes are, they give a tree that rules could have, or
are refused in a line. Nothing is unpickled or decompressed, and no array is larger than the file.
"""

import os
import re
import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.support.aliases import Floats, Ints
from hogeq.support.archives import member_shape, open_archive, read_member
from hogeq.support.files import opened, write_arrays
from hogeq.support.messages import HogeqError, one_line, printable, shown, unreadable
from hogeq.support.progress import phase
from hogeq.trees import building, flat
from hogeq.trees.flat import CHANCE, LARGEST, TERMINAL, FlatTree, Indices, MoveNames
from hogeq.trees.rows import ROW_SUM
from hogeq.trees.teams import Known, Sides

VERSION: Final = 1
FIELDS: Final = {
    **dict.fromkeys(("about", "ends"), "<i8"),
    **dict.fromkeys(("units", "chance", "payoff"), "<f8"),
    **dict.fromkeys(("parent", "row", "drawn", "said", "num_legal", "moves", "labels"), "<i4"),
    "seat": "|i1",
    "text": "|u1",
}
TEAMS: Final = {**FIELDS, "sides": "|i1"}
MEMBER: Final = re.compile(r"player (\d{1,3}): ")
MOST_BYTES: Final = 2**33  # of a file

Arrays = dict[str, NDArray[Any]]


def save_tree(tree: FlatTree, path: str | os.PathLike[str]) -> None:
    """Write a tree to a file, whole or not at all; the tree read from it has the same hash."""
    after_actions = tree.first_node_after_action  # a node after each action of each information set
    word, words = tree.words(np.concatenate([after_actions, tree.nodes_after_chance]))
    _require_names(tree.seat, [*map(str, tree.names)], f"{tree.name}: ")
    texts = [tree.name, *map(str, tree.names), *map(str, tree.states or ()), *words]
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    about = [VERSION, tree.num_players, tree.states is not None]
    if tree.is_rounded:
        about.append(1)
    arrays = {
        "about": about,
        "units": [tree.shift, tree.centre],
        "parent": tree.parent,
        "row": tree.row,
        "chance": tree.chance_probabilities,
        "drawn": tree.chance_numbers,
        "said": word[len(after_actions) :],
        "payoff": tree.terminal_payoffs,
        "seat": tree.seat,
        "num_legal": tree.num_legal,
        "moves": tree.action_numbers,
        "labels": word[: len(after_actions)],
        "text": np.frombuffer(b"".join(encoded), np.uint8),
        "ends": np.cumsum([len(text) for text in encoded]),
    }
    fields = FIELDS
    if tree.sides is not None:
        arrays["sides"] = tree.sides
        fields = TEAMS
    typed_arrays = {name: np.asarray(arrays[name], fields[name]) for name in fields}
    write_arrays(path, compress=False, **typed_arrays)


def load_tree_file(path: str | os.PathLike[str]) -> FlatTree:
    """Read a tree; `ValueError` says in one line the fault of a file."""
    path = Path(path)
    try:
        with opened(path, MOST_BYTES) as (file, size), open_archive(file) as archive:
            arrays = _read_arrays(archive, size)
        return _build_tree(arrays)
    except HogeqError as error:
        raise HogeqError(f"{printable(path)}: {error}") from None
    except (OSError, ValueError) as error:
        raise HogeqError(unreadable(path, error)) from None


def _read_arrays(archive: zipfile.ZipFile, size: int) -> Arrays:
    """Read the arrays of a file of `size` bytes, each of its type and with one axis.

    Raises `HogeqError` if their names, or their sizes, are not those of an uncompressed tree.
    """
    members = archive.infolist()
    names = [member.filename.removesuffix(".npy") for member in members]
    if sorted(names) not in (sorted(FIELDS), sorted(TEAMS)):
        raise HogeqError(
            f"holds {shown(names)}; allowed: the arrays of a tree, {one_line(', '.join(FIELDS))}"
        )
    if sum(member.file_size for member in members) > size:
        raise HogeqError("holds more than its size; allowed: arrays that are not compressed")
    building.require_memory(f"has {size:,} bytes", 3 * size)
    lengths = {
        name: member_shape(archive, member, TEAMS[name], axes=1)[0]
        for name, member in zip(names, members, strict=True)
    }
    _check_lengths(lengths)
    arrays = {}
    with phase("reading the tree", size, "bytes") as progress:
        for name, member in zip(names, members, strict=True):
            arrays[name] = read_member(archive, member, TEAMS[name], axes=1)
            progress.step(member.file_size)
    return arrays


def _check_lengths(lengths: Mapping[str, int]) -> None:
    """Refuse arrays, by their lengths alone, that do not fit each other; none is read before."""
    size = lengths["parent"]
    _require("parent", 0 < size <= building.MOST_NODES, f"1 to {building.MOST_NODES:,} nodes")
    _require("row", lengths["row"] == size, f"{size}, as many as in parent")
    num_infosets = lengths["seat"]
    allowed = f"{num_infosets}, as many as in seat"
    _require("num_legal", lengths["num_legal"] == num_infosets, allowed)
    _require("seat", num_infosets <= size, "as many information sets as nodes, or fewer")
    for name in ("moves", "labels"):
        _require(name, lengths[name] <= size, "one for each action of a set")
    for name in ("chance", "drawn", "said"):
        _require(name, lengths[name] <= size, "one for each step of chance")
    _require("payoff", lengths["payoff"] <= size, "one for each end")
    _require("units", lengths["units"] == 2, "two numbers")


# --- checks ---------------------------------------------------------------------------------------


def _require(name: str, holds: NDArray[np.bool_] | bool, allowed: str) -> None:
    """Raise `HogeqError`, naming the first index at which a condition on an array is False."""
    if not np.all(holds):
        index = f"[{int(np.argmin(holds))}]" if isinstance(holds, np.ndarray) else ""
        raise HogeqError(f"{name}{index}: allowed: {allowed}")


def _build_tree(arrays: Arrays) -> FlatTree:
    """Check the arrays of a file, each of which may hold anything, and build their tree.

    Raises `HogeqError` with the first fault: an array's name, an index, and what is allowed.
    """
    num_players, has_states, is_rounded = _read_about(arrays["about"])
    shift, centre = _read_units(arrays["units"])
    parent = arrays["parent"]
    row = arrays["row"]
    num_moves = _count_moves(parent, row)
    seat = arrays["seat"]
    num_legal = arrays["num_legal"].astype(np.int64)
    player = _find_players(row, seat, num_legal, num_moves, num_players)
    _check_actions(arrays, num_legal)
    _check_payoffs(arrays["payoff"], int(np.count_nonzero(player == TERMINAL)))
    _check_chances(arrays, player, num_moves)
    texts = _split_texts(_decode_texts(arrays["text"], arrays["ends"]), len(seat), has_states)
    labels = _check_labels(arrays, texts.words)
    _require_names(seat, texts.row_names, "text: ")
    sides, infosets = _read_members(arrays.get("sides"), seat, texts.row_names)
    tree = FlatTree(
        name=printable(texts.game),
        player=player,
        parent=parent,
        row=row,
        terminal_payoffs=arrays["payoff"],
        seat=seat,
        num_legal=num_legal,
        action_numbers=arrays["moves"],
        chance_numbers=arrays["drawn"],
        chance_probabilities=arrays["chance"],
        names=infosets,
        describe=labels,
        states=texts.states,
        num_players=num_players,
        shift=shift,
        centre=centre,
        sides=sides,
        is_rounded=is_rounded,
    )
    labels.tree = tree
    least = 1.0 / LARGEST
    _require("payoff", tree.largest_payoff >= least, f"the largest {least:g} or more")
    return tree


def _read_units(units: Floats) -> tuple[float, float]:
    """Read the array ``units``: the shift and the centre of payoffs."""
    _require("units", len(units) == 2, "two numbers")
    _require("units", np.abs(units) <= LARGEST, flat.IN_RANGE.removeprefix("allowed: "))
    return float(units[0]), float(units[1])


def _check_payoffs(payoffs: Floats, num_ends: int) -> None:
    """Refuse payoffs unless there is one in range for each terminal node."""
    _require("payoff", len(payoffs) == num_ends, "one for each end")
    _require("payoff", np.abs(payoffs) <= LARGEST, flat.IN_RANGE.removeprefix("allowed: "))


def _check_labels(arrays: Arrays, words: list[str]) -> "_Labels":
    """Check the numbers of the words that name actions and moves of chance."""
    num_words = len(words)
    for name in ("labels", "said"):
        is_word = (arrays[name] >= 0) & (arrays[name] < num_words)
        _require(name, is_word, f"0 to {num_words - 1}")
    return _Labels(arrays["labels"], arrays["said"], list(map(printable, words)))


class _Texts(NamedTuple):
    """The texts of a tree, in the order in which a file has them."""

    game: str  # its name
    row_names: list[str]  # of the R information sets
    states: list[str] | None  # OpenSpiel's names of these, if the file has them
    words: list[str]  # of actions and moves of chance


def _split_texts(texts: list[str], rows: int, has_states: bool) -> _Texts:
    """Split the texts of a file into the name of the game, names of rows and of states, and words.

    Raises `HogeqError` if there are too few.
    """
    states_begin = 1 + rows
    words_begin = states_begin + (rows if has_states else 0)
    allowed = "a name, one for each information set, and words"
    _require("ends", len(texts) >= words_begin, allowed)
    return _Texts(
        game=texts[0],
        row_names=texts[1:states_begin],
        states=texts[states_begin:words_begin] if has_states else None,
        words=texts[words_begin:],
    )


def _read_about(about: Ints) -> tuple[int, bool, bool]:
    """Read the array ``about``, whose first entry is the version of the format.

    Returns the number of players, whether the file has OpenSpiel's names of states, and whether
    numbers of the game were rounded; the last entry is missing in older files.
    """
    is_known = len(about) in (3, 4) and about[0] == VERSION and about[1] in (1, 2)
    are_flags = set(about[2:].tolist()) <= {0, 1}
    _require("about", bool(is_known and are_flags), f"version {VERSION}, 1 or 2 players, 0 or 1")
    return int(about[1]), bool(about[2]), len(about) == 4 and bool(about[3])


def _find_players(
    row: Indices, seat: NDArray[np.int8], num_legal: Ints, num_moves: Indices, num_players: int
) -> NDArray[np.int8]:
    """Find the player who moves at each node, (N,); refuse rows that do not fit their nodes.

    `row` and `num_moves` are by node, (N,), `seat` and `num_legal` by information set, (R,). A node
    without a row is chance's, or terminal if it has no moves.
    """
    _require("num_legal", len(num_legal) == len(seat), f"{len(seat)}, as many as in seat")
    _require("num_legal", num_legal > 0, "1 or more")
    _require("seat", (seat >= 0) & (seat < num_players), f"players from 0 to {num_players - 1}")
    _require("seat", np.diff(seat, prepend=np.int8(0)) >= 0, "those of player 0 first")
    _require("row", (row >= -1) & (row < len(seat)), f"-1 to {len(seat) - 1}")
    is_decision = row >= 0
    has_nodes = np.bincount(row[is_decision], minlength=len(seat)) > 0
    _require("row", has_nodes, "every information set")
    has_all_moves = num_moves[is_decision] == num_legal[row[is_decision]]
    _require("parent", has_all_moves, "as many moves as the set has actions")
    player = np.append(seat, np.int8(CHANCE))[row]  # index -1, no row, takes the last entry
    player[num_moves == 0] = TERMINAL
    return player


def _require_names(seat: NDArray[np.int8], names: Sequence[str], where: str) -> None:
    """Refuse information sets of one player that have one name; `seat` (R,) is that of each."""
    counts = Counter(zip(seat.tolist(), names, strict=True))
    for (player, name), count in counts.items():
        if count > 1:
            what = f"{count} information sets of player {player} are named {shown(name)}"
            raise HogeqError(f"{where}{what}; allowed: different names")


def _read_members(
    teams: NDArray[np.int8] | None, seat: NDArray[np.int8], texts: list[str]
) -> tuple[Sides | None, Sequence[Any]]:
    """Read the team of each player, None without teams, and the names of rows, (R,).

    `teams`, (P,), holds 0 or 1 for each player, `seat`, (R,), the team that moves at each row. With
    teams the text of a row begins with the member who moves there: ``player 2: ...``.
    """
    if teams is None:
        return None, texts
    _require("sides", (teams == 0) | (teams == 1), "0 or 1")
    sides: Sides = tuple(teams.tolist())
    names = []
    for text, team in zip(texts, seat.tolist(), strict=True):
        match = MEMBER.match(text)
        if match is None or int(match[1]) >= len(sides) or sides[int(match[1])] != team:
            _require("text", False, "names of sets that begin with a member of the team")
        else:
            names.append(Known(int(match[1]), text[match.end() :]))
    return sides, names


def _count_moves(parent: Indices, row: Indices) -> Indices:
    """Count the moves of each node, (N,); refuse arrays that are no tree in breadth-first order."""
    size = len(parent)
    _require("parent", 0 < size <= building.MOST_NODES, f"1 to {building.MOST_NODES:,} nodes")
    _require("row", len(row) == size, f"{size}, as many as in parent")
    _require("parent", bool(parent[0] == -1), "-1 for the root")
    _require("parent", (parent[1:] >= 0) & (parent[1:] < np.arange(1, size)), "nodes before")
    # Parents come first, so there is no cycle; rising, so siblings are neighbours, by depth.
    _require("parent", parent[1:] >= parent[:-1], "rising numbers")
    return np.bincount(parent[1:], minlength=size).astype(np.int32)


def _check_actions(arrays: Arrays, num_legal: Ints) -> None:
    """Refuse wrong numbers or words of actions; `num_legal`, (R,), counts those of each row."""
    rows = len(num_legal)
    size = rows * building.ROW_BYTES + int(num_legal.sum()) * building.ACTION_BYTES
    building.require_memory(f"has {rows:,} information sets", size)
    for name in ("moves", "labels"):
        _require(name, len(arrays[name]) == num_legal.sum(), "one for each action of a set")
    _require_different("moves", arrays["moves"], num_legal)


def _require_different(name: str, numbers: Indices, sizes: Ints) -> None:
    """Refuse an array in which a group has two equal numbers; groups have `sizes`, in order."""
    group = np.repeat(np.arange(len(sizes)), sizes)
    order = np.lexsort((numbers, group))
    by_group = np.stack([group, numbers])[:, order]
    differs_from_last = np.any(by_group[:, 1:] != by_group[:, :-1], axis=0)
    _require(name, differs_from_last, "different numbers at a node")


def _check_chances(arrays: Arrays, player: NDArray[np.int8], num_moves: Indices) -> None:
    """Refuse wrong probabilities, numbers or words of the moves of chance.

    `player` and `num_moves`, (N,), are those of each node.
    """
    chances = arrays["chance"]
    sizes = num_moves[player == CHANCE].astype(np.int64)  # number of moves of each chance node
    for name in ("chance", "drawn", "said"):
        _require(name, len(arrays[name]) == sizes.sum(), "one for each step of chance")
    _require("chance", (chances >= 0.0) & (chances <= 1.0 + ROW_SUM), "0 to 1")
    _require_different("drawn", arrays["drawn"], sizes)
    if len(sizes):
        sum_errors = np.abs(np.add.reduceat(chances, np.cumsum(sizes) - sizes) - 1.0)
        # The builder's rounding; twice that, since a sum depends on the order of its terms.
        _require("chance", sum_errors <= 2.0 * np.finfo(float).eps * (sizes + 1), "sums of 1")


def _decode_texts(text: NDArray[np.uint8], ends: Ints) -> list[str]:
    """Decode bytes in UTF-8 into texts, of which `ends` holds the index after each one's last."""
    starts = np.append(0, ends)
    _require("ends", ends >= starts[:-1], "rising numbers")
    _require("ends", len(ends) > 0 and bool(ends[-1] == len(text)), "the last at the end of text")
    data = text.tobytes()
    try:
        return [
            data[first:last].decode("utf-8", "surrogatepass")
            for first, last in zip(starts.tolist(), ends.tolist(), strict=False)
        ]
    except UnicodeDecodeError as error:
        raise HogeqError(f"text: {error.reason}; allowed: UTF-8") from None


class _Labels(MoveNames):
    """Writes moves in the words of a file, by the nodes that they lead to."""

    tree: FlatTree  # that the file had, whatever its players forget since

    def __init__(self, labels: Indices, said: Indices, words: Sequence[str]) -> None:
        self.labels = labels  # (A,), which word names each action
        self.said = said  # (C,), and each step of chance
        self.words = words

    @cached_property
    def word(self) -> Indices:
        """Which word names the step to each node."""
        return self.tree.by_incoming_move(self.labels, self.said, 0)

    def of_steps(self, moves: Sequence[int], nodes: Sequence[int]) -> list[str]:  # noqa: ARG002
        """Write moves by the nodes that they lead to, which forgetting does not change."""
        return [self.words[word] for word in self.word[nodes].tolist()]
