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
from contextlib import ExitStack
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
from hogeq.trees.building import LEAST, Node, NodeError, flatten, require_memory
from hogeq.trees.flat import CHANCE, TERMINAL, FlatTree, Forget
from hogeq.trees.forgetting import coarser
from hogeq.trees.gambit import number_of
from hogeq.trees.rows import ROW_SUM
from hogeq.trees.teams import sides_of

MOST_BYTES: Final = 2**36  # of a file
NODE_BYTES: Final = 50  # of a node, while paths are sorted
LONGEST: Final = 1000  # bytes of a line that is refused, as far as they are shown
BLOCK: Final = 2**14  # bytes of the file that are read at once, ...
BLOCKS: Final = 256  # ... and how often they are kept: a walk returns to all depths
PART: Final = 2**20  # bytes of a line that are read at once
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
_number: Final = lru_cache(2**16)(number_of)  # of which files have few different ones
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
    with ExitStack() as stack:
        try:
            file, size = stack.enter_context(opened(path, MOST_BYTES))
        except (OSError, ValueError) as error:
            raise HogeqError(unreadable(path, error)) from None
        try:
            return _tree(_Text(file, size, path), path, forget, teams)
        except OSError as error:
            raise HogeqError(unreadable(path, error)) from None
        except ValueError as error:
            if isinstance(error.__cause__, OSError):  # at a node
                raise HogeqError(unreadable(path, error.__cause__)) from None
            raise


def _tree(text: "_Text", path: Path, forget: str | Forget | None, teams: Teams) -> FlatTree:
    """Build the tree of a file whose paths are known; refuse paths that it does not come to."""
    numbers = text.numbers  # the tree keeps these alone
    tree = flatten(
        printable(path.name),
        b"/",
        text.look,
        lambda moves: [*map([*numbers].__getitem__, moves)],
        deepest=len(text.hashes),
        forget=forget,
        sides=sides_of(teams, text.players, text.where),
    )
    unknown = text.unknown or len(text.hashes) - tree.num_nodes
    if unknown:
        raise HogeqError(f"{text.where}: {counted(unknown, 'path')} of no node, or after no action")
    text.require_unchanged()
    return coarser(tree, forget)


class _Text:
    """Paths of nodes in a file, by hashes: where each stands, and where in an information set."""

    def __init__(self, file: IO[bytes], size: int, path: Path) -> None:
        self.file, self.size, self.where = file, size, printable(path)
        self.players = 1
        self.modified = os.fstat(file.fileno()).st_mtime_ns
        self.block = lru_cache(BLOCKS)(self._block)
        self.hashes, self.places = array("q"), array("q")  # of paths of nodes; sorted below
        self.starts, self.names = array("q"), list[bytes]()  # of lines of information sets
        self.numbers = dict[str, int]()  # of actions by their names
        self.owners = dict[Any, int]()  # players of information sets
        members = array("q"), array("q")  # hashes and places of paths in information sets
        start = file.read(BLOCK)
        with refusals_of(self.where, HogeqError):
            require_unpacked(start)
        begin = len(BOM) if start.startswith(BOM) else 0
        file.seek(begin)
        with phase(f"paths of {path.name}", size) as progress:
            while begin < size:
                progress.reach(begin)
                begin = self._read(begin, *members)
        require_memory(
            f"{self.where}: has {len(self.hashes):,} nodes", NODE_BYTES * len(self.hashes)
        )
        nodes, _ = self._sorted(self.hashes, self.places)
        inside, places = self._sorted(*members)
        node = nodes.searchsorted(inside)
        is_node = nodes.searchsorted(inside, "right") > node
        self.unknown = int(np.count_nonzero(~is_node))
        # Place of each node's path in an information set, 0 if it is in none.
        self.members = array("q", bytes(8 * len(nodes)))
        np.asarray(self.members)[node[is_node]] = places[is_node]

    # --- the file ---------------------------------------------------------------------------------

    def _block(self, number: int) -> bytes:
        """Read a block of the file; the last few are kept."""
        begin = number * BLOCK
        size = min(BLOCK, self.size - begin)
        self.file.seek(begin)
        data = self.file.read(size)
        if len(data) < size:
            raise OSError(errno.EBUSY, CHANGED)
        return data

    def _until(self, stop: re.Pattern[bytes], place: int) -> bytes:
        """Give the text from a place to a pattern, `stop`, or to the end of the file."""
        number, begin = divmod(place, BLOCK)
        block = self.block(number)
        found = stop.search(block, begin)
        if found:
            return block[begin : found.start()]
        parts = [block[begin:]]
        while not found and (number + 1) * BLOCK < self.size:
            number += 1
            block = self.block(number)
            found = stop.search(block)
            parts.append(block[: found.start()] if found else block)
        return b"".join(parts)

    def _stands(self, path: bytes, place: int) -> bool:
        """Whether a path stands at a place."""
        number, begin = divmod(place, BLOCK)
        end = begin + len(path) + 1
        if end < BLOCK:  # so this block tells
            return self.block(number)[begin:end].rstrip() == path
        return self._until(_SPACE, place) == path

    def _line(self, place: int) -> str:
        """Name the line of a place."""
        last, rest = divmod(place, BLOCK)
        before = sum(self._block(number).count(b"\n") for number in range(last))
        inside = self.block(last).count(b"\n", 0, rest) if rest else 0
        return f"line {1 + before + inside}"

    def require_unchanged(self) -> None:
        """Refuse a file that somebody wrote to while it was read."""
        status = os.fstat(self.file.fileno())
        if (status.st_size, status.st_mtime_ns) != (self.size, self.modified):
            raise OSError(errno.EBUSY, CHANGED)

    # --- paths ------------------------------------------------------------------------------------

    def _next(self, begin: int) -> tuple[bytes, bool]:
        """Read on to the end of a line, or a part of it; tell whether the line ends there."""
        line = self.file.readline(min(PART, self.size - begin))
        if not line:
            raise OSError(errno.EBUSY, CHANGED)
        return line, line[-1:] == b"\n" or begin + len(line) == self.size

    def _read(self, begin: int, hashes: "array[int]", places: "array[int]") -> int:
        """Note the paths of a line, of a node or an information set; give the start of the next."""
        line, is_whole = self._next(begin)
        if b"\r" in line.rstrip():
            allowed = "LF or CR LF at the end of a line"
            raise HogeqError(f"{self.where}: {self._line(begin)}: got CR alone; allowed: {allowed}")
        start = _START.match(line)
        while not (is_whole or (start and start["infoset"])) and len(line) < LONGEST_LINE:
            more, is_whole = self._next(begin + len(line))
            line += more
            start = _START.match(line)
        if start and start["infoset"]:
            self.starts.append(begin)
            self.names.append(start["infoset"])
            return self._note(begin, line, is_whole, start.end(), hashes, places)
        if start is None or not is_whole:
            given = line[:LONGEST].decode(errors="replace")
            raise HogeqError(refusal(f"{self.where}: {self._line(begin)}", given.strip(), _ALLOWED))
        if start["node"]:
            self.hashes.append(hash(start["node"]))
            self.places.append(begin + start.start("node"))
            if start["leaf"]:  # it has one payoff for each player
                self.players = max(self.players, line.count(b"=", start.end()))
        return begin + len(line)

    def _note(
        self,
        begin: int,
        line: bytes,
        is_whole: bool,
        first: int,
        hashes: "array[int]",
        places: "array[int]",
    ) -> int:
        """Note the paths of an information set, from `first` in its line on, part by part."""
        while True:
            rest = b""
            for path in _PATH.finditer(line, first):
                if path.end() == len(line) and not is_whole:
                    rest = path[0]  # which may go on
                else:
                    hashes.append(hash(path[0]))
                    places.append(begin + path.start())
            begin, first = begin + len(line), 0
            if is_whole:
                return begin
            if len(rest) >= LONGEST_LINE:
                raise HogeqError(
                    f"{self.where}: {self._line(begin - len(rest))}: has a path too long"
                )
            line, is_whole = self._next(begin)
            line, begin = rest + line, begin - len(rest)

    def _sorted(self, hashes: "array[int]", places: "array[int]") -> tuple[Ints, Ints]:
        """Sort paths by their hashes, in place; refuse equal ones."""
        keys, key_places = np.asarray(hashes), np.asarray(places)  # which write to the arrays
        order = keys.argsort(kind="stable")
        keys[:] = keys[order]
        key_places[:] = key_places[order]
        repeated = np.flatnonzero(keys[1:] == keys[:-1]) + 1
        if len(repeated):
            second = repeated[key_places[repeated].argmin()]
            place = int(key_places[second])
            before = _shown(self._until(_SPACE, int(key_places[second - 1])))
            path = _shown(self._until(_SPACE, place))
            reason = "is there twice" if path == before else "has another's hash: read it again"
            raise HogeqError(f"{self.where}: {self._line(place)}: {path} {reason}")
        return keys, key_places

    def look(self, at: bytes) -> Node:
        """Read the node of a path."""
        number = bisect_left(self.hashes, hash(at))
        is_known = number < len(self.hashes)
        found = _NODE.match(self._until(_BREAK, self.places[number])) if is_known else None
        if not found or found[1] != at:
            raise NodeError(f"no node {_shown(at)}")
        try:
            infoset, member = None, self.members[number]
            if member:
                if not self._stands(at, member):
                    path = _shown(self._until(_SPACE, member))
                    raise HogeqError(f"{path} has another's hash: read it again")
                infoset = self.names[bisect(self.starts, member) - 1].decode()
            node = _node(at, found[2].decode().strip(), infoset, self.numbers, self.players)
            if infoset and self.owners.setdefault(infoset, node.player) != node.player:
                named = printable(infoset)
                raise HogeqError(f"infoset {named} is of two players; allowed: one")
        except UnicodeDecodeError:
            line = self._line(self.places[number])
            raise NodeError(f"{line}: is not UTF-8 text; allowed: UTF-8") from None
        except (ValueError, ArithmeticError) as error:
            raise NodeError(f"{self._line(self.places[number])}: {error}") from None
        return node


def _shown(path: bytes) -> str:
    return printable(path.decode(errors="replace"))


def _node(at: bytes, line: str, infoset: str | None, numbers: dict[str, int], players: int) -> Node:
    """Read the node of a path from the rest of its line; `numbers` are those of actions."""
    found = _LINE.fullmatch(line)
    if found is None or int(found[1] or 1) > players:
        raise HogeqError(refusal("", line, _ALLOWED))
    player = CHANCE if found[2] else TERMINAL
    if found[1]:
        player = int(found[1]) - 1
    names, signs, values = zip(*(word.partition("=") for word in found[3].split()), strict=True)
    has_values = player < 0
    if any((sign == "=") != has_values for sign in signs):
        raise HogeqError(refusal("", line, _ALLOWED))
    if player >= 0 and any("/" in name for name in names):
        raise HogeqError(refusal("", line, "names of actions without /"))
    if player < 0 and infoset is not None:
        raise HogeqError(f"is in infoset {printable(infoset)}; allowed there: nodes of players")
    try:
        numbers_read = [Fraction(1) if player >= 0 else _number(value) for value in values]
    except ValueError as error:
        raise HogeqError(refusal("", line, str(error))) from None
    if player == TERMINAL:
        if [*names] != [*map(str, range(1, players + 1))]:
            raise HogeqError(refusal("", line, f"payoffs to players 1 to {players}"))
        return Node(TERMINAL, payoffs=numbers_read)
    if infoset is None and player >= 0:
        infoset = f"node {at.decode()}"  # no name in a file has a space
    weights = _shares(numbers_read) if player == CHANCE else numbers_read
    step = at.rstrip(b"/") + (b"/C:" if player == CHANCE else b"/P%d:" % (player + 1))
    moves = [
        (numbers.setdefault(name, len(numbers)), weight, step + name.encode())
        for name, weight in zip(names, weights, strict=True)
    ]
    return Node(player, infoset, moves=moves)


def _shares(weights: list[Fraction]) -> list[Fraction]:
    """Scale weights of chance to a sum of 1; refuse those of which one would be lost."""
    total = abs(sum(weights, Fraction()))
    if abs(total - 1) <= ROW_SUM:
        total = Fraction(1)
    if not total:
        raise HogeqError("weights of chance sum to 0; allowed: one above 0 at least")
    shares = [weight / total for weight in weights]
    if any(share and abs(float(share)) < LEAST for share in shares):
        allowed = f"0, or {LEAST:g} of their sum and more"
        raise HogeqError(f"weights of chance are too far apart; allowed: {allowed}")
    return shares
