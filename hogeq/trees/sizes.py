"""How big a tree is, counted without walking it."""

from collections.abc import Hashable, Mapping
from typing import NamedTuple

from hogeq.trees.tree import Chance, Choice, End, Tree, children


class Sizes(NamedTuple):
    """How big a tree is."""

    nodes: int
    choices: int
    """Nodes at which a player moves."""
    chances: int
    """Nodes at which chance moves."""
    ends: int
    """Terminal nodes."""
    infosets: tuple[int, ...]
    """Information sets, by player."""
    depth: int
    """Most moves, of players and chance, in one play."""
    exact: bool
    """Whether everything was counted; otherwise the figures are lower bounds."""

    def __str__(self) -> str:
        if not self.exact:
            return f"more than {_number(self.nodes)} nodes"
        sets = " + ".join(f"{number:,}" for number in self.infosets)
        return (
            f"{_number(self.nodes)} nodes ({_number(self.choices)} choices, "
            f"{_number(self.chances)} of chance, {_number(self.ends)} ends), {sets} information "
            f"sets, at most {self.depth} moves deep"
        )


def count(tree: Tree, most: int = 2_000_000) -> Sizes:
    """Count the nodes of a tree without walking it: equal states are looked at once."""
    level: dict[Hashable, int] = {tree.root: 1}
    totals = {Chance: 0, Choice: 0, End: 0}
    infosets: dict[int, set[Hashable]] = {0: set(), 1: set()}
    depth = 0
    nodes = 1
    while level:
        following: dict[Hashable, int] = {}
        for state, histories in level.items():
            node = tree.node(state)
            totals[type(node)] += histories
            if isinstance(node, Choice):
                infosets.setdefault(node.player, set()).add(node.infoset)
            for child in children(node):
                following[child] = following.get(child, 0) + histories
                nodes += histories
            if nodes > most:
                return _sizes(totals, infosets, nodes, depth, exact=False)
        level = following
        depth += bool(level)
    return _sizes(totals, infosets, nodes, depth, exact=True)


def _sizes(
    totals: Mapping[type, int],
    infosets: Mapping[int, set[Hashable]],
    nodes: int,
    depth: int,
    *,
    exact: bool,
) -> Sizes:
    sets = tuple(len(infosets[player]) for player in sorted(infosets))
    return Sizes(nodes, totals[Choice], totals[Chance], totals[End], sets, depth, exact)


def _number(value: int) -> str:
    return f"{value:,}" if value < 10**9 else f"{float(value):.1e}"
