"""Games as files that Gambit reads: the extensive-form format ``.efg``, version 2.

The format is that of R. D. McKelvey, A. M. McLennan and T. L. Turocy, "Gambit: the package for
computation in game theory". Nodes come in the order of a walk through the tree; probabilities are
written as fractions, so nothing is rounded.
"""

from collections.abc import Hashable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from hogeq.rules import Rules
from hogeq.support.files import write_whole
from hogeq.trees.flat import CHANCE, TERMINAL, FlatTree
from hogeq.trees.tree import (
    PLAYERS,
    Chance,
    Choice,
    End,
    HogTree,
    Node,
    Sizes,
    Tree,
    count,
    refuse_endless,
)

MOST_NODES = 2_000_000
"""Most nodes of a file: some 100 MB, and more memory than most programs that read it have."""


def tree_sizes(rules: Rules, *, memory: bool = False) -> Sizes:
    """Sizes of the tree of a game, counted up to `MOST_NODES` nodes."""
    refuse_endless(rules, "export")
    return count(HogTree(rules, memory=memory), most=MOST_NODES)


def write_efg(path: str | Path, rules: Rules, *, memory: bool = False) -> Sizes:
    """Write a game as a file of Gambit's."""
    counted = tree_sizes(rules, memory=memory)
    if not counted.exact or counted.nodes > MOST_NODES:
        size = counted if counted.exact else f"more than {MOST_NODES:,} nodes"
        raise ValueError(
            f"export: {rules.name} to {rules.goal} with 0 to {rules.max_dice} dice is a tree of "
            f"{size}; allowed: at most {MOST_NODES:,}: lower goal or max_dice"
        )
    what = "everything remembered" if memory else "only the scores seen"
    title = f"Hog, {rules.name}, to {rules.goal} with 0 to {rules.max_dice} dice, {what}"
    text = "".join(efg_lines(HogTree(rules, memory=memory), title))
    write_whole(Path(path), text.encode())
    return counted


def efg_lines(tree: Tree, title: str, players: tuple[str, str] = PLAYERS) -> Iterator[str]:
    """Lines of the file of any game tree of two players."""
    yield f"EFG 2 R {_quoted(title)} {{ {' '.join(map(_quoted, players))} }}\n"
    chances = 0
    outcomes: dict[float, int] = {}
    numbers: tuple[dict[Hashable, int], dict[Hashable, int]] = {}, {}
    waiting: list[Hashable] = [tree.root]
    while waiting:
        node = tree.node(waiting.pop())
        if isinstance(node, End):
            outcome = outcomes.setdefault(node.payoff, len(outcomes) + 1)
            payoffs = f"{_short(node.payoff)}, {_short(-node.payoff)}"
            yield f't "" {outcome} "" {{ {payoffs} }}\n'
            continue
        waiting.extend(branch[-1] for branch in reversed(node.branches))
        if isinstance(node, Chance):
            chances += 1
            actions = " ".join(f"{_quoted(label)} {chance}" for chance, label, _ in node.branches)
            yield f'c "" {chances} "" {{ {actions} }} 0\n'
        else:
            known = numbers[node.player]
            number = known.setdefault(node.infoset, len(known) + 1)
            actions = " ".join(_quoted(label) for label, _ in node.branches)
            name = _quoted(str(node.infoset))
            yield f'p "" {node.player + 1} {number} {name} {{ {actions} }} 0\n'


class _Nodes:
    """A flat tree, one node at a time."""

    root = 0

    def __init__(self, tree: FlatTree) -> None:
        self.tree = tree
        self.starts = np.searchsorted(tree.parent, np.arange(tree.num_nodes + 1)).tolist()

    def node(self, state: Any) -> Node:
        tree, player = self.tree, int(self.tree.player[state])
        if player == TERMINAL:
            return End(float(tree.payoff[state]))
        after = range(self.starts[state], self.starts[state + 1])
        labels = [tree.history(child)[-1].action.partition(": ")[2] for child in after]
        if player == CHANCE:
            chances = [_short(float(tree.chance[child])) for child in after]
            return Chance(tuple(zip(chances, labels, after, strict=True)))
        return Choice(player, tree.names[tree.row[state]], tuple(zip(labels, after, strict=True)))


def flat_efg(tree: FlatTree) -> str:
    """Text of the file of a flat tree; probabilities that are no short fractions are decimal."""
    return "".join(efg_lines(_Nodes(tree), tree.name, ("0", "1")))


def _short(value: float) -> Fraction | float:
    fraction = Fraction(value).limit_denominator(10**6)
    return fraction if float(fraction) == value else value


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
