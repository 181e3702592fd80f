"""Games in the text format of LiteEFG, in which the suite of 61 absent-minded problems is written.

M. Liu, G. Farina and A. Ozdaglar, "LiteEFG", 2024: nodes by their paths, then information sets::

    node / player 1 actions exit on
    node /P1:exit leaf payoffs 1=0
    node /P1:on chance actions near=1/2 far=0.5
    infoset highway nodes / /P1:on/C:near

Numbers of chance are weights. Lines with ``#`` are comments. Names in place of paths are refused.
A node of a player that no information set names is one by itself. ``experiments/problems.py``
writes such files.

All paths may need more memory than there is. So hashes of them are sorted, each with its place in
the file; what is looked up is compared with what stands there. The file is read in blocks: were it
mapped, somebody who cuts it short would end the process.
"""

import errno
import os
import re
from array import array
from bisect import bisect, bisect_left
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import IO, Any, Final

import numpy as np

from hogeq.support.aliases import Ints
from hogeq.support.files import opened
from hogeq.support.kinds import require_unpacked
from hogeq.support.messages import HogeqError, counted, printable, refusal, refusals_of, unreadable
from hogeq.support.progress import phase
from hogeq.support.teams import Teams
from hogeq.trees.building import LEAST, Moves, Node, NodeError, flatten, require_memory
from hogeq.trees.efg import fraction_of_text
from hogeq.trees.flat import CHANCE, TERMINAL, FlatTree, Forget, NumberedNames
from hogeq.trees.forgetting import forget_by_name
from hogeq.trees.rows import ROW_SUM
from hogeq.trees.teams import sides_of

MOST_BYTES: Final = 2**36  # of a file
NODE_BYTES: Final = 50  # of a node, while paths are sorted
SHOWN_BYTES: Final = 1000  # bytes of a line that a message shows
BLOCK_SIZE: Final = 2**14  # bytes of the file that are read at once
BLOCKS_CACHED: Final = 256  # blocks that a cache holds: a walk returns to all depths
LINE_PART: Final = 2**20  # bytes of a line that are read at first
LONGEST_LINE: Final = 2**28  # bytes of a line that is not an information set
CHANGED: Final = "was changed while it was read"
BOM: Final = b"\xef\xbb\xbf"  # before UTF-8
_START: Final = re.compile(
    rb"\s*(?:node\s+(?P<node>\S+)(?P<leaf>\s+leaf\s)?|infoset\s+(?P<infoset>\S+)\s+nodes[ \t]|#|$)"
)
_PATH: Final = re.compile(rb"\S+")
_NODE: Final = re.compile(rb"(\S+)([^\n]*)")
_SPACE: Final = re.compile(rb"\s")
_BREAK: Final = re.compile(rb"\n")
_number: Final = lru_cache(2**16)(fraction_of_text)  # of which files have few different ones
_LINE: Final = re.compile(r"(?:player ([1-9]) actions|(chance) actions|leaf payoffs) (.+)")
_ALLOWED: Final = (
    "node PATH player 1 actions NAME ...; node PATH chance actions NAME=WEIGHT ...; "
    "node PATH leaf payoffs 1=PAYOFF ...; infoset NAME nodes PATH ..."
)


def from_text(
    path: str | os.PathLike[str], *, forget: str | Forget | None = None, teams: Teams = None
) -> FlatTree:
    """Read a game of one player, or a constant-sum game of two players or teams.

    `ValueError` says in one line what is wrong, with the number of the line or the history.
    """
    path = Path(path)
    try:
        with opened(path, MOST_BYTES) as (file, size):
            return _build_tree(_Text(file, size, path), path, forget, teams)
    except HogeqError as error:
        # The builder names the history in its error, also where reading the file had failed.
        if isinstance(error.__cause__, OSError):
            raise HogeqError(unreadable(path, error.__cause__)) from None
        raise
    except (OSError, ValueError) as error:
        raise HogeqError(unreadable(path, error)) from None


def _build_tree(text: "_Text", path: Path, forget: str | Forget | None, teams: Teams) -> FlatTree:
    """Build the tree of a file whose paths are indexed; refuse paths that no move leads to."""
    tree = flatten(
        printable(path.name),
        b"/",
        text.node_at,
        NumberedNames(text.numbers),  # the tree keeps these, and not the whole text
        deepest=len(text.hashes),
        forget=forget,
        sides=sides_of(teams, text.players, text.where),
    )
    num_unreached = text.unknown or len(text.hashes) - tree.num_nodes
    if num_unreached:
        paths = counted(num_unreached, "path")
        raise HogeqError(f"{text.where}: {paths} of no node, or after no action")
    text.require_unchanged()
    return forget_by_name(tree, forget)


class _Text:
    """Index of the paths of nodes in a file, so that the text need not be in memory.

    A path, ``/P1:on/P1:exit`` say, names a node by its moves. Node number i, of those sorted by
    the hash of their path, has ``hashes[i]``; its line has the path at the place ``places[i]``, a
    byte's offset in the file; and the line of its information set at ``members[i]``, or 0 if it is
    in none. Line k of an information set begins at ``starts[k]``, and has the name ``names[k]``.
    """

    def __init__(self, file: IO[bytes], size: int, path: Path) -> None:
        """Read the file once from `path`, opened as `file`, of `size` bytes, and index its paths.

        Raises `HogeqError` for lines that are no line of such a file, and for paths given twice.
        """
        self.file = file
        self.size = size  # of the file in bytes
        self.where = printable(path)
        self.players = 1
        self.modified = os.fstat(file.fileno()).st_mtime_ns
        self.block = lru_cache(BLOCKS_CACHED)(self._read_block)
        self.hashes, self.places = array("q"), array("q")  # of paths of nodes
        self.starts, self.names = array("q"), list[bytes]()  # of lines of information sets
        self.numbers = dict[str, int]()  # of actions by their names
        self.owners = dict[Any, int]()  # players of information sets
        # Hashes and places of the paths that information sets list.
        member_hashes = array("q")
        member_places = array("q")
        beginning = file.read(BLOCK_SIZE)
        with refusals_of(self.where, HogeqError):
            require_unpacked(beginning)
        begin = len(BOM) if beginning.startswith(BOM) else 0
        file.seek(begin)
        with phase(f"paths of {path.name}", size) as progress:
            while begin < size:
                progress.reach(begin)
                begin = self._index_line(begin, member_hashes, member_places)
        require_memory(
            f"{self.where}: has {len(self.hashes):,} nodes", NODE_BYTES * len(self.hashes)
        )
        self._join_members(member_hashes, member_places)

    def _join_members(self, hashes: "array[int]", places: "array[int]") -> None:
        """Sort the index of nodes by hash; find the place where an information set lists each.

        `hashes` and `places` are those of the paths that information sets list.
        """
        node_hashes, _ = self._sort_by_hash(self.hashes, self.places)
        sorted_hashes, sorted_places = self._sort_by_hash(hashes, places)
        node = node_hashes.searchsorted(sorted_hashes)  # number of the node of each listed path
        is_node = node_hashes.searchsorted(sorted_hashes, "right") > node
        self.unknown = int(np.count_nonzero(~is_node))  # paths of information sets without a node
        self.members = array("q", bytes(8 * len(node_hashes)))  # 0: no path can be there
        np.asarray(self.members)[node[is_node]] = sorted_places[is_node]

    # --- the file ---------------------------------------------------------------------------------

    def _read_block(self, number: int) -> bytes:
        """Read a block of the file by its number; raise `OSError` if the file was cut short."""
        begin = number * BLOCK_SIZE
        size = min(BLOCK_SIZE, self.size - begin)
        self.file.seek(begin)
        data = self.file.read(size)
        if len(data) < size:
            raise OSError(errno.EBUSY, CHANGED)
        return data

    def _read_until(self, stop: re.Pattern[bytes], place: int) -> bytes:
        """Read from a place to the first match of `stop`, a byte, or to the end of the file."""
        number, begin = divmod(place, BLOCK_SIZE)
        block = self.block(number)
        match = stop.search(block, begin)
        if match:
            return block[begin : match.start()]
        parts = [block[begin:]]
        while not match and (number + 1) * BLOCK_SIZE < self.size:
            number += 1
            block = self.block(number)
            match = stop.search(block)
            parts.append(block[: match.start()] if match else block)
        return b"".join(parts)

    def _is_path_at(self, path: bytes, place: int) -> bool:
        """Whether a path stands at a place, a byte's offset in the file."""
        number, begin = divmod(place, BLOCK_SIZE)
        end = begin + len(path) + 1
        if end < BLOCK_SIZE:  # the path and the byte after it are in one block
            return self.block(number)[begin:end].rstrip() == path
        return self._read_until(_SPACE, place) == path

    def _name_line(self, place: int) -> str:
        """Name the line of a place, a byte's offset in the file: ``line 3``."""
        block_number, offset = divmod(place, BLOCK_SIZE)
        breaks_before = sum(self._read_block(number).count(b"\n") for number in range(block_number))
        breaks_inside = self.block(block_number).count(b"\n", 0, offset) if offset else 0
        return f"line {1 + breaks_before + breaks_inside}"

    def require_unchanged(self) -> None:
        """Refuse a file that somebody wrote to while it was read."""
        status = os.fstat(self.file.fileno())
        if (status.st_size, status.st_mtime_ns) != (self.size, self.modified):
            raise OSError(errno.EBUSY, CHANGED)

    # --- paths ------------------------------------------------------------------------------------

    def _read_part(self, begin: int, size: int) -> tuple[bytes, bool]:
        """Read on to the end of a line, or a part of it; tell whether the line ends there.

        `size` is the most bytes of a part.
        """
        line = self.file.readline(min(size, self.size - begin))
        if not line:
            raise OSError(errno.EBUSY, CHANGED)
        return line, line[-1:] == b"\n" or begin + len(line) == self.size

    def _index_line(self, begin: int, hashes: "array[int]", places: "array[int]") -> int:
        """Read the line at `begin`, of a node or an information set, and index its paths.

        The index has the hash of each path and its place, a byte's offset in the file: a node's
        path goes to `self.hashes` and `self.places`, the paths that an information set lists to
        `hashes` and `places`. Returns the place of the next line. Raises `HogeqError` for any other
        line.
        """
        line, is_whole = self._read_part(begin, LINE_PART)
        if b"\r" in line.rstrip():
            allowed = "LF or CR LF at the end of a line"
            raise HogeqError(
                f"{self.where}: {self._name_line(begin)}: got CR alone; allowed: {allowed}"
            )
        start = _START.match(line)
        while not (is_whole or (start and start["infoset"])) and len(line) < LONGEST_LINE:
            # Parts double, since each time the line is copied and searched anew.
            next_part, is_whole = self._read_part(begin + len(line), len(line))
            line += next_part
            start = _START.match(line)
        if start and start["infoset"]:
            self.starts.append(begin)
            self.names.append(start["infoset"])
            return self._read_members(begin, line, is_whole, start.end(), hashes, places)
        if start is None or not is_whole:
            shown_line = line[:SHOWN_BYTES].decode(errors="replace").strip()
            raise HogeqError(
                refusal(f"{self.where}: {self._name_line(begin)}", shown_line, _ALLOWED)
            )
        if start["node"]:
            self.hashes.append(hash(start["node"]))
            self.places.append(begin + start.start("node"))
            if start["leaf"]:  # it has one payoff for each player
                self.players = max(self.players, line.count(b"=", start.end()))
        return begin + len(line)

    def _read_members(
        self,
        begin: int,
        line: bytes,
        is_whole: bool,
        first: int,
        hashes: "array[int]",
        places: "array[int]",
    ) -> int:
        """Append the paths that an information set lists to `hashes` and `places`, side by side.

        A place is a byte's offset in the file. The line may be long, so it is read in parts: `line`
        is the first, at `begin` in the file, with paths from index `first` on; `is_whole` says that
        it is the only one. Returns the place of the next line.
        """
        while True:
            cut_path = b""  # the last path of a part, which may go on in the next
            for path in _PATH.finditer(line, first):
                if path.end() == len(line) and not is_whole:
                    cut_path = path[0]
                else:
                    hashes.append(hash(path[0]))
                    places.append(begin + path.start())
            begin += len(line)
            first = 0
            if is_whole:
                return begin
            if len(cut_path) >= LONGEST_LINE:
                raise HogeqError(
                    f"{self.where}: {self._name_line(begin - len(cut_path))}: has a path too long"
                )
            line, is_whole = self._read_part(begin, LINE_PART)
            line = cut_path + line
            begin -= len(cut_path)

    def _sort_by_hash(self, hashes: "array[int]", places: "array[int]") -> tuple[Ints, Ints]:
        """Sort hashes and places of paths by hash, in place; return both as numpy arrays.

        A place is a byte's offset in the file. Raises `HogeqError` if two hashes are equal: a path
        is repeated, or two paths collide.
        """
        # These arrays share the memory of the arguments.
        sorted_hashes = np.asarray(hashes)
        sorted_places = np.asarray(places)
        order = sorted_hashes.argsort(kind="stable")
        sorted_hashes[:] = sorted_hashes[order]
        sorted_places[:] = sorted_places[order]
        repeated = np.flatnonzero(sorted_hashes[1:] == sorted_hashes[:-1]) + 1
        if len(repeated):
            second = repeated[sorted_places[repeated].argmin()]  # the first in the file
            place = int(sorted_places[second])
            earlier_path = _shown(self._read_until(_SPACE, int(sorted_places[second - 1])))
            path = _shown(self._read_until(_SPACE, place))
            is_same = path == earlier_path
            # Python's hashes of bytes are salted: another process has others.
            reason = "is there twice" if is_same else "has another's hash: read it again"
            raise HogeqError(f"{self.where}: {self._name_line(place)}: {path} {reason}")
        return sorted_hashes, sorted_places

    def node_at(self, path: bytes) -> Node:
        """Read the node of a path from its line of the file.

        The path's hash leads to the line of the node, and to that of its information set, if it has
        one. As another path may have the same hash, the text at both places is compared. Raises
        `NodeError` if there is no such node, or its line is wrong.
        """
        number = bisect_left(self.hashes, hash(path))  # of the node, in the index
        is_known = number < len(self.hashes)
        match = _NODE.match(self._read_until(_BREAK, self.places[number])) if is_known else None
        if not match or match[1] != path:
            raise NodeError(f"no node {_shown(path)}")
        try:
            infoset = None
            member_place = self.members[number]
            if member_place:
                if not self._is_path_at(path, member_place):
                    listed_path = _shown(self._read_until(_SPACE, member_place))
                    raise HogeqError(f"{listed_path} has another's hash: read it again")
                # The information set's line is the last that starts before the path.
                infoset = self.names[bisect(self.starts, member_place) - 1].decode()
            node = _parse_node(path, match[2].decode().strip(), infoset, self.numbers, self.players)
            if infoset and self.owners.setdefault(infoset, node.player) != node.player:
                named = printable(infoset)
                raise HogeqError(f"infoset {named} is of two players; allowed: one")
        except UnicodeDecodeError:
            line = self._name_line(self.places[number])
            raise NodeError(f"{line}: is not UTF-8 text; allowed: UTF-8") from None
        except (ValueError, ArithmeticError) as error:
            raise NodeError(f"{self._name_line(self.places[number])}: {error}") from None
        return node


def _shown(path: bytes) -> str:
    return printable(path.decode(errors="replace"))


def _parse_node(
    path: bytes, line: str, infoset: str | None, numbers: dict[str, int], players: int
) -> Node:
    """Parse the node of a path from the rest of its line, ``player 1 actions exit on`` say.

    `infoset` is the information set that lists the path, if any; `numbers` are those of actions by
    name, to which new ones are added; `players` is how many the game has.
    """
    match = _LINE.fullmatch(line)  # groups: player's number, "chance", words
    if match is None or int(match[1] or 1) > players:
        raise HogeqError(refusal("", line, _ALLOWED))
    player = CHANCE if match[2] else TERMINAL
    if match[1]:
        player = int(match[1]) - 1
    is_decision = player >= 0
    # Words are NAME=WEIGHT, PLAYER=PAYOFF, or at a decision NAME alone.
    names, signs, values = zip(*(word.partition("=") for word in match[3].split()), strict=True)
    if any((sign == "=") == is_decision for sign in signs):
        raise HogeqError(refusal("", line, _ALLOWED))
    if is_decision and any("/" in name for name in names):
        raise HogeqError(refusal("", line, "names of actions without /"))
    if not is_decision and infoset is not None:
        raise HogeqError(f"is in infoset {printable(infoset)}; allowed there: nodes of players")
    try:
        parsed_values = [Fraction(1) if is_decision else _number(value) for value in values]
    except ValueError as error:
        raise HogeqError(refusal("", line, str(error))) from None
    if player == TERMINAL:
        if [*names] != [*map(str, range(1, players + 1))]:
            raise HogeqError(refusal("", line, f"payoffs to players 1 to {players}"))
        return Node(TERMINAL, payoffs=parsed_values)
    if infoset is None and is_decision:
        infoset = f"node {path.decode()}"  # with a space, so it differs from all names in a file
    chances = parsed_values if is_decision else _scale_weights(parsed_values)
    return Node(player, infoset, moves=_moves_of_names(path, player, names, chances, numbers))


def _moves_of_names(
    path: bytes,
    player: int,
    names: Sequence[str],
    chances: Sequence[Fraction],
    numbers: dict[str, int],
) -> Moves:
    """List the moves of a node at a path by the names of its actions: each leads to a longer path.

    `numbers` are those of actions by name, to which new ones are added.
    """
    mover = b"C" if player == CHANCE else b"P%d" % (player + 1)
    prefix = path.rstrip(b"/") + b"/" + mover + b":"
    return [
        (numbers.setdefault(name, len(numbers)), chance, prefix + name.encode())
        for name, chance in zip(names, chances, strict=True)
    ]


def _scale_weights(weights: list[Fraction]) -> list[Fraction]:
    """Scale weights of chance to a sum of 1; refuse those of which one would round to 0."""
    total = abs(sum(weights, Fraction()))  # negative weights stay negative, and are refused
    if abs(total - 1) <= ROW_SUM:  # rounded decimals: the builder scales these itself
        total = Fraction(1)
    if not total:
        raise HogeqError("weights of chance sum to 0; allowed: one above 0 at least")
    shares = [weight / total for weight in weights]
    if any(share and abs(float(share)) < LEAST for share in shares):
        allowed = f"0, or {LEAST:g} of their sum and more"
        raise HogeqError(f"weights of chance are too far apart; allowed: {allowed}")
    return shares
