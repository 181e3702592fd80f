"""Hog as a file that Gambit reads: the extensive-form format ``.efg``, version 2.

The format is that of R. D. McKelvey, A. M. McLennan and T. L. Turocy, "Gambit: the package for
computation in game theory". Nodes come in the order of a walk through the tree; probabilities are
written as fractions, so nothing is rounded.
"""

from collections.abc import Hashable, Iterator
from pathlib import Path

from hogeq.rules import Rules
from hogeq.support.files import write_whole
from hogeq.trees.tree import (
    PLAYERS,
    Chance,
    Choice,
    End,
    HogTree,
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


def efg_lines(tree: Tree, title: str) -> Iterator[str]:
    """Lines of the file of any game tree of two players; the winner gets 1, the loser -1."""
    players = " ".join(map(_quoted, PLAYERS))
    yield f"EFG 2 R {_quoted(title)} {{ {players} }}\n"
    chances = 0
    numbers: dict[tuple[int, Hashable], int] = {}
    counts = [0] * len(PLAYERS)
    waiting: list[Hashable] = [tree.root]
    while waiting:
        node = tree.node(waiting.pop())
        if isinstance(node, End):
            payoffs = "1, -1" if node.winner == 0 else "-1, 1"
            yield f't "" {node.winner + 1} "{PLAYERS[node.winner]} wins" {{ {payoffs} }}\n'
            continue
        waiting.extend(branch[-1] for branch in reversed(node.branches))
        if isinstance(node, Chance):
            chances += 1
            actions = " ".join(f"{_quoted(label)} {chance}" for chance, label, _ in node.branches)
            yield f'c "" {chances} "" {{ {actions} }} 0\n'
        elif isinstance(node, Choice):
            key = node.player, node.infoset
            if key not in numbers:
                counts[node.player] += 1
                numbers[key] = counts[node.player]
            actions = " ".join(_quoted(label) for label, _ in node.branches)
            name = _quoted(str(node.infoset))
            yield f'p "" {node.player + 1} {numbers[key]} {name} {{ {actions} }} 0\n'


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
