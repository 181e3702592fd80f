"""A game of two players and nature as arrays: positions, hidden memory, ways to end a turn.

A *state* is a position and a value of the memory. Who moves sees the row of the position alone.
``docs/graph.md`` describes every array.
"""

import hashlib
import math
import os
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hogeq.graph.levels import distinct, spans
from hogeq.support.aliases import Floats, Ints
from hogeq.support.archives import member_shape, open_archive, read_member
from hogeq.support.files import opened, write_arrays
from hogeq.support.messages import HogeqError, printable, refusal, shown, unreadable

NATURE: Final = 2  # who moves where all probabilities are fixed
ROW_SUM: Final = 1e-9  # by which probabilities may miss a sum of 1
LARGEST: Final = 1e300  # no payoff is larger
MOST_BYTES: Final = 2**31  # of a file, and of its arrays
FREE_BYTES: Final = 2**26  # of arrays that may be compressed to any size
MOST_COMPRESSED: Final = 100  # how many times smaller other files may be; games are 10 times

Indices = NDArray[np.int32]


class GraphError(HogeqError):
    """Arrays that are no graph, or a file that holds none; one line."""


class Ends(NamedTuple):
    """Every end that a turn can have, n of them, by position."""

    position: Ints  # (n,), ascending
    entry: Ints  # (n,), an index of `next` and `label`


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """A game as arrays, which are checked and cannot be written to.

    Sizes: C positions, L levels, H memories, K actions, S situations, W ways, T payoffs.

    Raises
    ------
    ValueError
        If an array has another type or shape, or something that a graph cannot have.

    Examples
    --------
    >>> import hogeq
    >>> game = hogeq.Game({"edition": "su20", "goal": 10, "max_dice": 2})
    >>> game.graph
    Graph(200 positions, 36 memories, 100 rows, 3 actions)
    >>> game.graph.against(game.strategy("always_roll:2").policy)
    Graph(200 positions, 36 memories, 100 rows, 3 actions)
    """

    level: Indices  # (L + 1,), first position of each level; a turn ends in it or in a later one
    player: NDArray[np.int8]  # (C,), who moves at a position: 0, 1 or `NATURE`
    row: Indices  # (C,), row of the player's strategy, or of `fixed`
    fixed: Floats  # (F, K), probabilities of nature's actions
    situation: Indices  # (C,), which of the S lists of actions and their ways a position has
    way: Indices  # (S, H, K), way of each action: a distribution of outcomes; -1 if not legal
    lane: Indices  # (H,), part of the memory that is handed on
    following: Indices  # (labels, lanes), memory after a turn
    first: Indices  # (W + 1,), first outcome of each way
    chance: Floats  # (outcomes,)
    end: Indices  # (outcomes,), number of an end, counted at each position anew
    place: Indices  # (C,), index in `next` and `label` of end 0 of a position
    next: Indices  # (ends,), next position, or -1 - t for payoff t
    label: NDArray[np.int16]  # (ends,), what memory learns
    payoff: Floats  # (T,), to player 0
    start: Indices  # (n, 2), position and memory
    start_chance: Floats  # (n,)
    total: float = 0.0  # what the payoffs of both players sum to
    endless: float | None = None  # payoff to player 0 of a play that never ends, if there can be

    def __post_init__(self) -> None:
        """Take the arrays in the types of the form, and check them."""
        self._take()
        _check(self)

    @classmethod
    def unchecked(cls, **arrays: Any) -> Self:
        """Make a graph of all arrays by name, which fit each other: tests check whoever asks."""
        graph = object.__new__(cls)
        for name, array in arrays.items():
            object.__setattr__(graph, name, array)
        graph._take()
        return graph

    def _take(self) -> None:
        for name, (dtype, axes) in FORM.items():
            object.__setattr__(self, name, _array(name, getattr(self, name), dtype, axes))
        object.__setattr__(self, "total", float(self.total))
        if self.endless is not None:
            object.__setattr__(self, "endless", float(self.endless))

    def __repr__(self) -> str:
        """Say the sizes."""
        sizes = {
            "positions": self.positions,
            "memories": self.memories,
            "rows": self.rows,
            "actions": self.num_actions,
        }
        return f"Graph({', '.join(f'{size:,} {name}' for name, size in sizes.items())})"

    # --- sizes ------------------------------------------------------------------------------------

    @property
    def positions(self) -> int:
        """Number of positions, C."""
        return len(self.player)

    @property
    def memories(self) -> int:
        """Number of values of the hidden memory, H."""
        return len(self.lane)

    @property
    def num_actions(self) -> int:
        """Most actions of a row, K."""
        return int(self.way.shape[2])

    @property
    def states(self) -> int:
        """Number of states in which a player moves."""
        return int((self.player != NATURE).sum()) * self.memories

    @property
    def rows(self) -> int:
        """Number of rows of a strategy, R, which covers what both players see."""
        return int(self.row[self.player != NATURE].max(initial=-1)) + 1

    def rows_of(self, player: int) -> Ints:
        """Rows in which a player moves, ascending; in Hog one table has those of both."""
        return np.unique(self.row[self.player == player]).astype(np.int64)

    # --- what follows from the arrays -------------------------------------------------------------

    @cached_property
    def legal(self) -> NDArray[np.bool_]:
        """Legal actions of each row, (R, K); all False where a number is no row."""
        legal = np.zeros((self.rows, self.num_actions), bool)
        moves = self.player != NATURE
        exists: NDArray[np.bool_] = np.logical_and.reduce(self.way >= 0, axis=1)
        # By one position of each: all positions times all actions may be too many.
        rows, first = np.unique(self.row[moves], return_index=True)
        legal[rows] = exists[self.situation[moves][first]]
        return legal

    @property
    def paid(self) -> Floats:
        """All that player 0 can be paid: `payoff`, and `endless` if there is one."""
        return self.payoff if self.endless is None else np.append(self.payoff, self.endless)

    @cached_property
    def ends_of_situation(self) -> tuple[Ints, Ints]:
        """Numbers of the ends that a turn can have, by situation, a kind of position.

        A situation has ways, distributions over outcomes; each outcome has an end. Returns where
        those of each situation begin, (S + 1,), then all of them, (n,), ascending.
        """
        num_situations, _, _ = self.way.shape
        # Distinct pairs of a situation and a way of it, as one number: situation * base + way + 1,
        # since way -1 stands for none.
        base = len(self.first)
        pairs = distinct(np.arange(num_situations)[:, None, None] * base + self.way + 1)
        situation = pairs // base
        way = pairs % base - 1
        situation, way = situation[way >= 0], way[way >= 0]
        num_outcomes = self.first[way + 1] - self.first[way]
        end = self.end[spans(self.first[way], self.first[way + 1])]
        # Distinct pairs of a situation and an end that it can have: situation * base + end.
        base = int(self.end.max(initial=0)) + 1
        pairs = distinct(np.repeat(situation, num_outcomes) * base + end)
        return np.searchsorted(pairs // base, np.arange(num_situations + 1)), pairs % base

    @cached_property
    def ends(self) -> Ends:
        """Every end that a turn from a position can have, position by position."""
        start, numbers = self.ends_of_situation
        first, stop = start[self.situation], start[self.situation + 1]  # (C,), indices of numbers
        position = np.repeat(np.arange(self.positions), stop - first)
        return Ends(position, self.place[position] + numbers[spans(first, stop)])

    @cached_property
    def level_of(self) -> Ints:
        """Level of each position, (C,)."""
        return np.repeat(np.arange(len(self.level) - 1), np.diff(self.level))

    @cached_property
    def recurring(self) -> NDArray[np.bool_]:
        """Which levels recur: a turn can end in the level that it began in, (L,)."""
        recurs: NDArray[np.bool_] = np.zeros(len(self.level) - 1, bool)
        if self.endless is not None:
            position, entry = self.ends
            after = self.next[entry]
            goes_on = after >= 0  # else it is a payoff
            level_before = self.level_of[position[goes_on]]
            level_after = self.level_of[after[goes_on]]
            recurs[level_before[level_before == level_after]] = True
        return recurs

    @cached_property
    def digest(self) -> str:
        """SHA-256 of names, types, shapes and bytes of all arrays, in their order.

        `total` is among them unless it is 0, and `endless` if there is one.
        """
        sha256 = hashlib.sha256()
        for name, array in self.arrays().items():
            sha256.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
            sha256.update(np.ascontiguousarray(array).tobytes())
        return sha256.hexdigest()

    def arrays(self) -> dict[str, Any]:
        """Every array by name, as files have them: `total` unless it is 0, `endless` if any."""
        arrays: dict[str, Any] = {name: getattr(self, name) for name in FORM}
        if self.total:
            arrays["total"] = np.array([self.total])
        if self.endless is not None:
            arrays["endless"] = np.array([self.endless])
        return arrays

    # --- other graphs -----------------------------------------------------------------------------

    def against(self, policy: ArrayLike, seat: int = 0) -> "Graph":
        """Fix the strategy of the other player: the problem of the player in a seat.

        That one becomes player 0, its rows are numbered anew in their order, and payoffs are its
        own. Rows of the other follow those of `fixed`.

        Parameters
        ----------
        policy : array_like of float (..., K)
            Probabilities of the actions of every row; those of the other player alone count.
        seat : {0, 1}
            Who responds.
        """
        if seat not in (0, 1):
            raise GraphError(refusal("seat", seat, "0 or 1"))
        is_own, is_other = self.player == seat, self.player == 1 - seat  # (C,)
        own_rows, other_rows = np.unique(self.row[is_own]), np.unique(self.row[is_other])
        probabilities = self._policy_rows(policy, other_rows)
        row = self.row.astype(np.int64)
        row[is_own] = np.searchsorted(own_rows, row[is_own])
        row[is_other] = len(self.fixed) + np.searchsorted(other_rows, row[is_other])
        payoff, endless = self.payoff, self.endless
        if seat == 1:
            payoff = self.total - payoff if self.total else -payoff
            endless = None if endless is None else self.total - endless
        return replace(
            self,
            player=np.where(is_own, 0, NATURE),
            row=row.astype(np.int32),
            fixed=np.concatenate([self.fixed, probabilities]),
            payoff=payoff,
            total=0.0,
            endless=endless,
        )

    def _policy_rows(self, policy: ArrayLike, rows: Ints) -> Floats:
        """Check a policy, (..., K), in n rows; return its probabilities there, (n, K)."""
        table = np.asarray(policy)
        actions = self.num_actions
        if table.dtype.kind not in "iuf" or table.ndim < 2 or table.shape[-1] != actions:
            allowed = f"numbers of shape (..., {actions})"
            raise GraphError(f"policy: has shape {table.shape}; allowed: {allowed}")
        table = table.astype(np.float64).reshape(-1, actions)
        if len(table) < self.rows:
            raise GraphError(f"policy: has {len(table)} rows; allowed: at least {self.rows}")
        probabilities = table[rows]
        _check_chances("policy", probabilities, self.legal[rows])
        return probabilities

    # --- files ------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the arrays to an ``.npz`` file, whole or not at all."""
        if Path(path).suffix.lower() != ".npz":
            raise GraphError(refusal("path", str(path), "names ending in .npz"))
        write_arrays(path, **self.arrays())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a file that `save` wrote, or an instance of the benchmark; nothing is unpickled.

        Raises `GraphError`, with the fault in one line, for a file of any other content.
        """
        try:
            with opened(path, MOST_BYTES) as (file, size), open_archive(file) as archive:
                arrays = _read_arrays(archive, size)
            for name in NUMBERS & arrays.keys():
                arrays[name] = float(arrays[name][0])
            return cls(**arrays)
        except OSError as error:
            raise GraphError(unreadable(Path(path), error)) from None
        except HogeqError as error:
            raise GraphError(f"{printable(path)}: {error}") from None


def _form() -> dict[str, tuple[Any, int]]:
    """Type and number of axes of every array of a graph; most are int32 with one axis."""
    dtypes: dict[str, Any] = {"player": np.int8, "label": np.int16}
    dtypes |= dict.fromkeys(("fixed", "chance", "payoff", "start_chance"), np.float64)
    axes = {"way": 3} | dict.fromkeys(("fixed", "following", "start"), 2)
    names = [field.name for field in fields(Graph) if field.name not in NUMBERS]
    return {name: (dtypes.get(name, np.int32), axes.get(name, 1)) for name in names}


NUMBERS: Final = {"total", "endless"}  # fields that are no arrays
FORM: Final = _form()


def _read_arrays(archive: zipfile.ZipFile, size: int) -> dict[str, Any]:
    """Read the arrays of a file of `size` bytes, each of its type and number of axes.

    Sizes are checked before arrays are read, and `situation` before `way`: a small file may hold
    large arrays that no position uses.
    """
    members = archive.infolist()
    names = [member.filename.removesuffix(".npy") for member in members]
    missing, unknown = {*FORM} - {*names}, {*names} - {*FORM, *NUMBERS}
    if missing or unknown or len({*names}) < len(names):
        raise GraphError(f"holds {shown(sorted(names))}; allowed: the arrays of a graph")
    num_bytes = sum(member.file_size for member in members)
    if num_bytes > MOST_BYTES:
        raise GraphError(f"holds more than the {MOST_BYTES >> 20} MiB allowed")
    if num_bytes > max(FREE_BYTES, MOST_COMPRESSED * size):
        allowed = f"arrays at most {MOST_COMPRESSED} times as large as the file"
        raise GraphError(f"has {size:,} bytes, and arrays of {num_bytes:,}; allowed: {allowed}")
    forms = {name: FORM.get(name, (np.float64, 1)) for name in names}
    member_of = dict(zip(names, members, strict=True))
    shapes = {name: member_shape(archive, member_of[name], *forms[name]) for name in names}
    for name in NUMBERS & shapes.keys():
        if shapes[name] != (1,):
            raise GraphError(f"{name}: has shape {shapes[name]}; allowed: (1,)")
    _check_shapes(shapes)
    situation = read_member(archive, member_of["situation"], *forms["situation"])
    _check_situations(situation, shapes["way"][0])
    arrays = {"situation": situation}
    for name in names:
        if name not in arrays:
            arrays[name] = read_member(archive, member_of[name], *forms[name])
    return arrays


# --- checks ---------------------------------------------------------------------------------------


def _array(name: str, given: ArrayLike, dtype: Any, axes: int) -> NDArray[Any]:
    """Convert an array to a type, read-only; refuse other shapes, and numbers that do not fit."""
    array = np.asarray(given)
    if array.ndim != axes or array.dtype.kind not in "biuf":
        raise GraphError(
            f"{name}: has type {array.dtype.str} and shape {array.shape}; "
            f"allowed: numbers with {axes} {'axis' if axes == 1 else 'axes'}"
        )
    with np.errstate(invalid="ignore"):  # NaN as an integer: the comparison below finds it
        typed = np.ascontiguousarray(array, dtype)
    if array.dtype != dtype and not (typed == array).all():
        raise GraphError(f"{name}: allowed: numbers of type {np.dtype(dtype).name}")
    typed = typed.view()  # so that the caller's own array stays writeable
    typed.flags.writeable = False
    return typed


def _require(name: str, holds: NDArray[np.bool_] | bool, allowed: str) -> None:
    """Refuse an array, by its name, at the first place where the condition `holds` is False."""
    if not np.all(holds):
        place = ""
        if isinstance(holds, np.ndarray) and holds.ndim:
            index = np.unravel_index(int(np.argmin(holds)), holds.shape)
            place = f"[{', '.join(map(str, index))}]"
        raise GraphError(f"{name}{place}: allowed: {allowed}")


def _check(graph: Graph) -> None:
    """Raise `GraphError` for arrays that do not fit each other: sizes, ranges and sums.

    Compiled loops check no index, and would read or write beyond such arrays.
    """
    _check_shapes({name: getattr(graph, name).shape for name in FORM})
    _check_situations(graph.situation, len(graph.way))
    _check_ranges(graph)
    _check_rises("level", graph.level, len(graph.player))
    _check_rises("first", graph.first, len(graph.end))
    _require("first", np.diff(graph.first) > 0, "at least one outcome of each way")
    for name in ("payoff", "fixed", "chance", "start_chance"):
        array = getattr(graph, name)
        _require(name, np.abs(array) <= LARGEST, "finite numbers")
    numbers = [graph.total] if graph.endless is None else [graph.total, graph.endless]
    _require("total, endless", bool(np.all(np.abs(numbers) <= LARGEST)), "finite numbers")
    _check_rows(graph)
    _check_outcomes(graph)
    _check_ends(graph)


def _check_ranges(graph: Graph) -> None:
    """Refuse numbers that are no index of the array that they are to be read from."""
    positions = len(graph.player)
    _, memories, _ = graph.way.shape
    labels, lanes = graph.following.shape
    limits = {  # by array: the smallest number allowed, and the first that is too large
        "player": (0, 3),
        "way": (-1, len(graph.first) - 1),
        "lane": (0, lanes),
        "following": (0, memories),
        "end": (0, len(graph.next)),
        "place": (0, len(graph.next)),
        "next": (-len(graph.payoff), positions),
        "label": (0, labels),
        "row": (0, 2**31 - 1),
        "start": (0, np.array([positions, memories])),
    }
    for name, (smallest, too_large) in limits.items():
        array = getattr(graph, name)
        is_in_range = (array >= smallest) & (array < too_large)
        _require(name, is_in_range, f"numbers in range, from {smallest} on")


def _check_shapes(shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Refuse arrays, by their shapes alone, whose sizes do not fit each other."""
    lengths = {name: shape[0] for name, shape in shapes.items()}
    positions = lengths["player"]
    situations, memories, num_actions = shapes["way"]
    for name in ("player", "way", "lane", "following", "start", "payoff"):
        _require(name, math.prod(shapes[name]) > 0, "at least one number")
    sizes = {
        "row": positions,
        "situation": positions,
        "place": positions,
        "lane": memories,
        "chance": lengths["end"],
        "label": lengths["next"],
        "start_chance": lengths["start"],
    }
    for name, size in sizes.items():
        _require(name, lengths[name] == size, f"{size} numbers")
    _require("fixed", shapes["fixed"][1] == num_actions, f"{num_actions} columns")
    _require("start", shapes["start"][1] == 2, "2 columns")
    _require("way", situations <= positions, "at most one situation for each position")


def _check_situations(situation: Indices, situations: int) -> None:
    """Require numbers of situations, (C,), each of which some position has."""
    is_in_range = (situation >= 0) & (situation < situations)
    _require("situation", is_in_range, f"numbers from 0 to {situations - 1}")
    is_used = np.bincount(situation, minlength=situations) > 0
    _require("way", is_used, "situations that positions have")


def _check_rises(name: str, array: Indices, last: int) -> None:
    """Refuse numbers that do not rise from 0 to the last."""
    ends = len(array) > 1 and array[0] == 0 and array[-1] == last
    _require(name, ends, f"numbers that rise from 0 to {last}")
    _require(name, array[1:] >= array[:-1], f"numbers that rise from 0 to {last}")


def _check_chances(name: str, chances: Floats, legal: NDArray[np.bool_]) -> None:
    """Require that each row holds probabilities that sum to 1, and 0 where not `legal`."""
    is_valid = (chances >= 0.0) & np.isfinite(chances) & (legal | (chances == 0.0))
    sums = np.where(is_valid, chances, 0.0).sum(axis=-1)
    is_distribution = np.asarray(is_valid.all(axis=-1) & (np.abs(sums - 1.0) <= ROW_SUM))
    _require(name, is_distribution, "probabilities of legal actions that sum to 1")


def _check_rows(graph: Graph) -> None:
    """Require that a row has the same actions in every memory and position; check nature's rows.

    A row is what the player to move sees, an information set in all memories. A situation is a kind
    of position, a way the distribution over outcomes of an action there, -1 if it is not legal.
    """
    nature: NDArray[np.bool_] = graph.player == NATURE
    exists: NDArray[np.bool_] = np.greater_equal(graph.way, 0)  # actions, by situation and memory
    in_all_memories: NDArray[np.bool_] = np.logical_and.reduce(exists, axis=1)  # by situation
    in_some_memory: NDArray[np.bool_] = np.logical_or.reduce(exists, axis=1)
    same_actions: NDArray[np.bool_] = np.logical_and.reduce(
        in_all_memories == in_some_memory, axis=1
    )
    _require("way", same_actions, "the same actions in every memory")
    _require("way", np.logical_or.reduce(in_all_memories, axis=1), "at least one action")
    _require("row", ~nature | (graph.row < len(graph.fixed)), "rows of `fixed`")
    # Numbers of rows may have gaps (in Hog, scores beyond the lower of two goals), but a policy,
    # a float64 table of all rows and actions, must fit into memory.
    most = MOST_BYTES // (8 * graph.num_actions)
    _require("row", nature | (graph.row < most), f"numbers below {most:,}")
    # Sets of actions are compared by number: all positions times all actions may be too many.
    action_sets, set_of_situation = np.unique(in_all_memories, axis=0, return_inverse=True)
    set_at = set_of_situation.ravel()[graph.situation]  # (C,)
    player_row, player_set = graph.row[~nature], set_at[~nature]
    set_of_row = np.zeros(1 + graph.row.max(initial=0), np.int64)
    set_of_row[player_row] = player_set
    is_same = set_of_row[player_row] == player_set
    _require("row", is_same, "the same actions wherever a player sees a row")
    pairs = distinct(graph.row[nature].astype(np.int64) * len(action_sets) + set_at[nature])
    fixed_rows, sets = pairs // len(action_sets), pairs % len(action_sets)
    _check_chances("fixed", graph.fixed[fixed_rows], action_sets[sets])


def _check_outcomes(graph: Graph) -> None:
    """Require that the outcomes of each way, and the starts, have probabilities that sum to 1."""
    sums = np.add.reduceat(graph.chance, graph.first[:-1])  # (W,)
    is_not_negative = np.minimum.reduceat(graph.chance, graph.first[:-1]) >= 0.0
    is_one = np.abs(sums - 1.0) <= ROW_SUM
    _require("chance", is_not_negative & is_one, "probabilities that sum to 1")
    _check_chances("start_chance", graph.start_chance[None], np.ones((1, 1), bool))


def _check_ends(graph: Graph) -> None:
    """Refuse a turn that does not end in its level (a set of positions) or a later one.

    `next` has the position after each end of a turn, or -1 - t for payoff t.
    """
    position, entry = graph.ends
    _require("place", bool(entry.max() < len(graph.next)), "places of as many ends as ways have")
    after = graph.next[entry]
    goes_on = after >= 0  # else it is a payoff
    level_change = graph.level_of[after[goes_on]] - graph.level_of[position[goes_on]]
    allowed = "positions of the same level or of a later one"
    _require("next", bool((level_change >= 0).all()), allowed)
    recurs = bool((level_change == 0).any())
    allowed = "a payoff where a level recurs, and None elsewhere"
    _require("endless", recurs == (graph.endless is not None), allowed)
