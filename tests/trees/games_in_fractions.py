"""Random games whose chances and payoffs are fractions, and their values by plain recursion."""

import itertools
from fractions import Fraction
from typing import Any

import numpy as np

from hogeq.trees.building import Node as TreeNode
from hogeq.trees.building import flatten
from hogeq.trees.flat import CHANCE, TERMINAL, FlatTree

Node = tuple[Any, ...]  # ("end", payoff), ("chance", [(chance, node)]), (seat, infoset, [node])


def drawn(draw: np.random.Generator, depth: int, moved: tuple[int, int] = (0, 0)) -> Node:
    """Draw a game; a seat knows how often it has moved and one bit, so that it forgets."""
    who = int(draw.choice([-1, 0, 0, 1, 1])) if depth else -2
    if who == -2 or draw.random() < 0.1:
        return "end", Fraction(int(draw.integers(-3, 4)), int(draw.choice([1, 1, 3, 10])))
    if who == -1:
        weights = draw.integers(0, 4, 3)
        weights[0] += not weights.any()
        after = [drawn(draw, depth - 1, moved) for _ in weights]
        return "chance", [
            (Fraction(int(weight), int(weights.sum())), one)
            for weight, one in zip(weights, after, strict=True)
        ]
    known = 2 * moved[who] + int(draw.integers(2)) if moved[who] == 0 else 2
    more = (moved[0] + (who == 0), moved[1] + (who == 1))
    if moved[who] > 1:  # an information set is met once
        return "end", Fraction(int(draw.integers(-3, 4)))
    return who, known, [drawn(draw, depth - 1, more) for _ in range(2)]


def changed(node: Node, number: list[int], payoff: Fraction) -> Node:
    """Give the end that is met after so many others another payoff."""
    if node[0] == "end":
        number[0] -= 1
        return ("end", payoff) if number[0] == -1 else node
    if node[0] == "chance":
        return "chance", [(chance, changed(one, number, payoff)) for chance, one in node[1]]
    return *node[:2], [changed(one, number, payoff) for one in node[2]]


def dominated(draw: np.random.Generator) -> Node:
    """Draw a game that one payoff dominates: by chance, after an action, where nobody comes."""
    game, kind = drawn(draw, 4), int(draw.integers(4))
    huge = Fraction(int(10 ** draw.integers(5, 13))) * int(draw.choice([-1, 1]))
    if kind == 0:  # a lottery beside the game
        odds = Fraction(1, int(draw.choice([3, 4, 7, 10])))
        return "chance", [(odds, ("end", huge)), (odds, ("end", -huge)), (1 - 2 * odds, game)]
    if kind == 1:  # an action that nobody takes
        seat = int(draw.integers(2))
        return seat, 9, [game, ("end", abs(huge) * (2 * seat - 1))]
    if kind == 2:  # a branch that chance never takes
        return "chance", [(Fraction(0), ("end", huge)), (Fraction(1), game)]
    return changed(game, [int(draw.integers(6))], huge)


def laid_out(root: Node) -> FlatTree:
    def look(node: Node) -> TreeNode:
        if node[0] == "end":
            return TreeNode(TERMINAL, payoffs=(node[1], -node[1]))
        if node[0] == "chance":
            return TreeNode(CHANCE, moves=[(at, *one) for at, one in enumerate(node[1])])
        return TreeNode(node[0], node[1], moves=[(at, 1.0, one) for at, one in enumerate(node[2])])

    return flatten("drawn", root, look, lambda moves: [*map(str, moves)])


def infosets(node: Node, seat: int) -> set[int]:
    after = [one for _, one in node[1]] if node[0] == "chance" else node[2] if node[2:] else []
    own = {node[1]} if node[0] == seat else set()
    return own.union(*(infosets(one, seat) for one in after))


def worth(
    node: Node, rows: tuple[dict[int, list[Fraction]], dict[int, list[Fraction]]]
) -> Fraction:
    if node[0] == "end":
        return Fraction(node[1])
    if node[0] == "chance":
        return sum((chance * worth(one, rows) for chance, one in node[1] if chance), Fraction())
    pairs = zip(rows[node[0]][node[1]], node[2], strict=True)
    return sum((share * worth(one, rows) for share, one in pairs if share), Fraction())


def pure(node: Node, seat: int) -> list[dict[int, list[Fraction]]]:
    known = sorted(infosets(node, seat))
    acts = [Fraction(1), Fraction(0)], [Fraction(0), Fraction(1)]
    return [
        dict(zip(known, rows, strict=True)) for rows in itertools.product(acts, repeat=len(known))
    ]
