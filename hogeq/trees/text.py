"""Games in the text format of LiteEFG, in which the suite of 61 absent-minded problems is written.

M. Liu, G. Farina and A. Ozdaglar, "LiteEFG", 2024: nodes by their paths, then information sets::

    node / player 1 actions exit on
    node /P1:exit leaf payoffs 1=0
    node /P1:on chance actions near=1/2 far=0.5
    infoset highway nodes / /P1:on/C:near

Numbers of chance are weights. Lines with ``#`` are comments. Names in place of paths are refused.
``experiments/problems.py`` writes such files.

All paths may need more memory than there is. So hashes of them are sorted, each with its place in
the file; what is looked up is compared with what stands there.
"""

import os
import re
from array import array
from bisect import bisect, bisect_left
from fractions import Fraction
from functools import lru_cache
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any, Final

import numpy as np

from hogeq.support.aliases import Ints
from hogeq.support.files import opened
from hogeq.support.messages import counted, printable, refusal, unreadable
from hogeq.support.progress import phase
from hogeq.trees.building import Node, NodeError, flatten, require_memory
from hogeq.trees.flat import CHANCE, ROW_SUM, TERMINAL, FlatTree, Forget
from hogeq.trees.forgetting import coarser
from hogeq.trees.gambit import number_of
from hogeq.trees.teams import Teams, sides_of

MOST_BYTES: Final = 2**36  # of a file
NODE_BYTES: Final = 50  # of a node, while paths are sorted
LEAST: Final = 1e-300  # probability of chance other than 0
LONGEST: Final = 1000  # bytes of a line that is refused, as far as they are shown
BOM: Final = b"\xef\xbb\xbf"  # before UTF-8
_START: Final = re.compile(rb"\s*(?:node\s+(\S+)(\s+leaf\s)?|infoset\s+(\S+)\s+nodes[ \t]|#|$)")
_PATH: Final = re.compile(rb"\S+")
_NODE: Final = re.compile(rb"(\S+)([^\n]*)")
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
    text = _Text(Path(path), printable(path))
    numbers = text.numbers  # the tree keeps these alone
    tree = flatten(
        printable(Path(path).name),
        b"/",
        text.look,
        lambda moves: [*map([*numbers].__getitem__, moves)],
        deepest=len(text.hashes),
        forget=forget,
        sides=sides_of(teams, text.players, text.where),
    )
    if unknown := text.unknown or len(text.hashes) - tree.num_nodes:
        raise ValueError(f"{text.where}: {counted(unknown, 'path')} of no node, or after no action")
    return coarser(tree, forget)


class _Text:
    """Paths of nodes in a file, by hashes: where each stands, and where in an information set."""

    def __init__(self, path: Path, where: str) -> None:
        self.where, self.players = where, 1
        try:
            with opened(path, MOST_BYTES) as (file, size):
                self.data: Any = mmap(file.fileno(), size, access=ACCESS_READ) if size else b""
        except (OSError, ValueError) as error:
            raise ValueError(unreadable(path, error)) from None
        self.hashes, self.places = array("q"), array("q")
        self.starts, self.names = array("q"), list[bytes]()  # of lines of information sets
        self.numbers, self.owners = dict[str, int](), dict[Any, int]()  # of actions, of sets
        members = array("q"), array("q")  # hashes and places of paths in information sets
        begin = len(BOM) if self.data[: len(BOM)] == BOM else 0
        with phase(f"paths of {path.name}", size) as progress:
            while begin < size:
                progress.reach(begin)
                begin = self._read(begin, *members)
        require_memory(f"{where}: has {len(self.hashes):,} nodes", NODE_BYTES * len(self.hashes))
        nodes, _ = self._sorted(self.hashes, self.places)
        inside, places = self._sorted(*members)
        at = nodes.searchsorted(inside)
        is_node = nodes.searchsorted(inside, "right") > at
        self.unknown = int(np.count_nonzero(~is_node))
        self.members = array("q", bytes(8 * len(nodes)))  # 0 in none
        np.asarray(self.members)[at[is_node]] = places[is_node]

    def _read(self, begin: int, hashes: "array[int]", places: "array[int]") -> int:
        """Note the paths of a line; give the start of the next one."""
        end = self.data.find(b"\n", begin)
        end = end if end >= 0 else len(self.data)
        found = _START.match(self.data, begin, end)
        if found is None:
            line = self.data[begin : min(end, begin + LONGEST)].decode(errors="replace")
            raise ValueError(refusal(f"{self.where}: {self._line(begin)}", line.strip(), _ALLOWED))
        if found[1]:
            self.hashes.append(hash(found[1]))
            self.places.append(found.start(1))
            if found[2]:
                self.players = max(self.players, self.data[found.end() : end].count(b"="))
        elif found[3]:
            self.starts.append(begin)
            self.names.append(found[3])
            for word in _PATH.finditer(self.data, found.end(), end):
                hashes.append(hash(word[0]))
                places.append(word.start())
        return end + 1

    def _sorted(self, hashes: "array[int]", places: "array[int]") -> tuple[Ints, Ints]:
        """Sort paths by their hashes, in place; refuse equal ones."""
        keys, at = np.asarray(hashes), np.asarray(places)
        order = keys.argsort(kind="stable")
        keys[:], at[:] = keys[order], at[order]
        again = np.flatnonzero(keys[1:] == keys[:-1]) + 1
        if len(again):
            second = again[at[again].argmin()]
            both = [_PATH.match(self.data, place) for place in at[second - 1 :][:2].tolist()]
            first, path = (printable(one[0].decode(errors="replace")) for one in both if one)
            reason = "is there twice" if path == first else "has another's hash: read it again"
            raise ValueError(f"{self.where}: {self._line(int(at[second]))}: {path} {reason}")
        return keys, at

    def _line(self, place: int) -> str:
        """Name the line of a place."""
        return f"line {1 + sum(1 for _ in _BREAK.finditer(self.data, 0, place))}"

    def look(self, at: bytes) -> Node:
        """Read the node of a path."""
        number = bisect_left(self.hashes, hash(at))
        found = number < len(self.hashes) and _NODE.match(self.data, self.places[number])
        if not found or found[1] != at:
            raise NodeError(f"no node {printable(at.decode(errors='replace'))}")
        try:
            infoset, member = None, self.members[number]
            if member and self.data[member : member + len(at) + 1].rstrip() == at:
                infoset = self.names[bisect(self.starts, member) - 1].decode()
            node = _node(at, found[2].decode().strip(), infoset, self.numbers, self.players)
            if node.player >= 0 and self.owners.setdefault(infoset, node.player) != node.player:
                named = printable(infoset)
                raise ValueError(f"infoset {named} is of two players; allowed: one")  # noqa: TRY301
        except (ValueError, ArithmeticError) as error:
            raise NodeError(f"{self._line(found.start())}: {error}") from None
        return node


def _node(at: bytes, line: str, infoset: str | None, numbers: dict[str, int], players: int) -> Node:
    """Read the rest of the line of a node."""
    found = _LINE.fullmatch(line)
    if found is None or int(found[1] or 1) > players:
        raise ValueError(refusal("", line, _ALLOWED))
    player = int(found[1]) - 1 if found[1] else CHANCE if found[2] else TERMINAL
    names, equal, values = zip(*(word.partition("=") for word in found[3].split()), strict=True)
    if any((sign == "=") != (player < 0) for sign in equal):
        raise ValueError(refusal("", line, _ALLOWED))
    if player >= 0 and any("/" in name for name in names):
        raise ValueError(refusal("", line, "names of actions without /"))
    if player < 0 and infoset is not None:
        raise ValueError(f"is in infoset {printable(infoset)}; allowed there: nodes of players")
    try:
        numbers_read = [Fraction(1) if player >= 0 else _number(value) for value in values]
    except ValueError as error:
        raise ValueError(refusal("", line, str(error))) from None
    weights = [*map(float, numbers_read)]
    if player == TERMINAL:
        if [*names] != [str(one + 1) for one in range(players)]:
            raise ValueError(refusal("", line, f"payoffs to players 1 to {players}"))
        return Node(TERMINAL, payoffs=weights)
    if player >= 0 and infoset is None:
        raise ValueError("the node is in no infoset; allowed: each node of a player in one")
    if player == CHANCE and abs(sum(weights) - 1.0) > ROW_SUM:
        weights = _shares(numbers_read)
    step = at.rstrip(b"/") + (b"/C:" if player == CHANCE else b"/P%d:" % (player + 1))
    moves = [
        (numbers.setdefault(name, len(numbers)), weight, step + name.encode())
        for name, weight in zip(names, weights, strict=True)
    ]
    return Node(player, infoset, moves=moves)


def _shares(weights: list[Fraction]) -> list[float]:
    """Scale weights of chance to a sum of 1; refuse those of which one would be lost."""
    total = abs(sum(weights, Fraction()))
    if not total:
        raise ValueError("weights of chance sum to 0; allowed: one above 0 at least")
    shares = [float(one / total) for one in weights]
    if any(one and abs(share) < LEAST for one, share in zip(weights, shares, strict=True)):
        allowed = f"0, or {LEAST:g} of their sum and more"
        raise ValueError(f"weights of chance are too far apart; allowed: {allowed}")
    return shares
