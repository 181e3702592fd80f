"""Games in the text format of LiteEFG, in which the suite of 61 absent-minded problems is written.

M. Liu, G. Farina and A. Ozdaglar, "LiteEFG", 2024: nodes by their paths, then information sets::

    node / player 1 actions exit on
    node /P1:exit leaf payoffs 1=0
    node /P1:on chance actions near=1/2 far=0.5
    infoset highway nodes / /P1:on/C:near

Numbers of chance are weights. Lines with ``#`` are comments. Names in place of paths are refused.
``experiments/problems.py`` writes such files.
"""

import os
import re
from pathlib import Path
from typing import Any, Final

from hogeq.support.files import read_whole
from hogeq.support.messages import counted, printable, refusal, unreadable
from hogeq.trees.building import Node, NodeError, flatten
from hogeq.trees.flat import CHANCE, ROW_SUM, TERMINAL, FlatTree, Forget
from hogeq.trees.forgetting import coarser
from hogeq.trees.gambit import number_of
from hogeq.trees.teams import Teams, sides_of

MOST_BYTES: Final = 2**34  # of a file
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
    where = printable(path)
    try:
        text = read_whole(path, MOST_BYTES).decode("utf-8-sig")
    except (OSError, ValueError) as error:
        raise ValueError(unreadable(Path(path), error)) from None
    nodes: dict[str, Any] = {}  # number and rest of the line, by path
    sets: dict[str, Any] = {}
    among: dict[str, Any] = {}
    players = 1
    for number, line in enumerate(text.splitlines(), 1):
        first, name, rest = [*line.split(None, 2), "", "", ""][:3]
        if first == "infoset" and rest.startswith("nodes "):
            among, known = dict.fromkeys(rest.split()[1:], name), sets
        elif first == "node":
            among, known = {name: (number, rest.strip())}, nodes
            players = max(players, rest.count("=")) if rest.startswith("leaf") else players
        elif not first or first.startswith("#"):
            continue
        else:
            raise ValueError(refusal(f"{where}: line {number}", line, _ALLOWED))
        if twice := among.keys() & known.keys():
            raise ValueError(f"{where}: line {number}: {printable(min(twice))} is there twice")
        known.update(among)
    numbers: dict[str, int] = {}
    owners: dict[Any, int] = {}

    def look(at: str) -> Node:
        number, line = nodes.get(at, (0, ""))
        try:
            return _owned(_node(at, line, sets, numbers, players), owners)
        except (ValueError, ArithmeticError) as error:
            raise NodeError(f"line {number}: {error}" if number else f"no node {at}") from None

    tree = flatten(
        printable(Path(path).name),
        "/",
        look,
        lambda moves: [*map([*numbers].__getitem__, moves)],
        forget=forget,
        sides=sides_of(teams, players, where),
    )
    if unknown := len(sets.keys() - nodes.keys()) or len(nodes) - tree.num_nodes:
        raise ValueError(f"{where}: {counted(unknown, 'path')} of no node, or after no action")
    return coarser(tree, forget)


def _owned(node: Node, owners: dict[Any, int]) -> Node:
    """Refuse an information set of two players."""
    if node.player >= 0 and owners.setdefault(node.infoset, node.player) != node.player:
        raise ValueError(f"infoset {printable(node.infoset)} is of two players; allowed: one")
    return node


def _node(at: str, line: str, sets: Any, numbers: dict[str, int], players: int) -> Node:
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
    if player < 0 and at in sets:
        raise ValueError(f"is in infoset {printable(sets[at])}; allowed there: nodes of players")
    try:
        weights = [1.0 if player >= 0 else float(number_of(value)) for value in values]
    except ValueError as error:
        raise ValueError(refusal("", line, str(error))) from None
    if player == TERMINAL:
        if [*names] != [str(one + 1) for one in range(players)]:
            raise ValueError(refusal("", line, f"payoffs to players 1 to {players}"))
        return Node(TERMINAL, payoffs=weights)
    if player >= 0 and at not in sets:
        raise ValueError("the node is in no infoset; allowed: each node of a player in one")
    total = 1.0 if player >= 0 or abs(sum(weights) - 1.0) <= ROW_SUM else abs(sum(weights))
    step = f"{at.rstrip('/')}/{'C' if player == CHANCE else f'P{player + 1}'}:"
    moves = [
        (numbers.setdefault(name, len(numbers)), weight / total, step + name)
        for name, weight in zip(names, weights, strict=True)
    ]
    return Node(player, sets.get(at), moves=moves)
