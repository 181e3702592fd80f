"""Games as files that Gambit reads: the extensive-form format ``.efg``, version 2.

The format is that of R. D. McKelvey, A. M. McLennan and T. L. Turocy, "Gambit: the package for
computation in game theory". Nodes come in the order of a walk through the tree; probabilities are
written as fractions, so nothing is rounded.
"""

from collections.abc import Hashable, Iterator
from fractions import Fraction
from pathlib import Path

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


def flat_efg(tree: FlatTree) -> str:
    """Text of the file of a flat tree; probabilities that are no short fractions are decimal."""
    lines = [f'EFG 2 R {_quoted(tree.name)} {{ "0" "1" }}']
    starts = np.searchsorted(tree.parent, np.arange(tree.num_nodes + 1)).tolist()
    first = int((tree.seat == 0).sum())  # rows of player 0 come first
    outcomes: dict[float, int] = {}
    waiting, chances = [0], 0
    while waiting:
        node = waiting.pop()
        children = range(starts[node], starts[node + 1])
        waiting.extend(reversed(children))
        player, row = int(tree.player[node]), int(tree.row[node])
        if player == TERMINAL:
            payoff = float(tree.payoff[node])
            outcome = outcomes.setdefault(payoff, len(outcomes) + 1)
            lines.append(f't "" {outcome} "" {{ {payoff!r}, {-payoff!r} }}')
            continue
        labels = [_quoted(tree.history(child)[-1].action.partition(": ")[2]) for child in children]
        if player == CHANCE:
            chances += 1
            both = zip(
                labels, map(_number, tree.chance[children.start : children.stop]), strict=True
            )
            actions = " ".join(f"{label} {chance}" for label, chance in both)
            lines.append(f'c "" {chances} "" {{ {actions} }} 0')
        else:
            name = _quoted(str(tree.names[row]))
            actions = " ".join(labels)
            lines.append(f'p "" {player + 1} {row + 1 - first * player} {name} {{ {actions} }} 0')
    return "\n".join(lines) + "\n"


def _number(value: float) -> str:
    fraction = Fraction(value).limit_denominator(10**6)
    return str(fraction) if float(fraction) == value else repr(float(value))


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
