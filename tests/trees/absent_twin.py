"""Absent-minded decisions by plain recursion over the nodes: payoffs, recall, bounds of boxes.

All in fractions, and without sequence forms: nodes of one own past are kept together.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from hogeq.trees.flat import CHANCE, TERMINAL, FlatTree

Row = tuple[list[Fraction], list[Fraction]]  # lower and upper ends of its probabilities
Box = dict[int, Row]
Nodes = list[tuple[int, Fraction]]  # with chance's probability since the last own move
Range = tuple[Fraction, Fraction]


class Problem:
    """A tree as one player decides in it, the other playing fixed rows."""

    def __init__(self, tree: FlatTree, player: int, others: Any) -> None:
        self.tree, self.player, self.others = tree, player, others
        self.children: list[list[int]] = [[] for _ in range(tree.num_nodes)]
        for node, parent in enumerate(tree.parent.tolist()):
            if node:
                self.children[parent].append(node)
        self.sign = 1 if player == 0 else -1

    def paid(self, node: int) -> Fraction:
        """Give what the player gets at an end, to the game's own units."""
        own = Fraction(float(self.tree.payoff[node])) + Fraction(self.tree.centre)
        return Fraction(self.tree.shift) + self.sign * own

    def value(self, policy: Any, node: int = 0) -> Fraction:
        """Compute the payoff from a node on."""
        tree, mover = self.tree, int(self.tree.player[node])
        if mover == TERMINAL:
            return self.paid(node)
        total = Fraction()
        for action, child in enumerate(self.children[node]):
            rows = policy if mover == self.player else self.others
            if mover == CHANCE:
                chance = Fraction(float(tree.chance[child]))
            else:
                chance = Fraction(float(rows[tree.row[node]][action]))
            total += chance * self.value(policy, child)
        return total

    def visits(self, node: int = 0, met: Sequence[int] = ()) -> dict[int, int]:
        """Count how often a play can meet each row of the player."""
        found: dict[int, int] = {row: list(met).count(row) for row in met}
        row = int(self.tree.row[node])
        own = [row] if self.tree.player[node] == self.player else []
        for one in own:
            found[one] = found.get(one, 0) + 1
        for child in self.children[node]:
            for one, count in self.visits(child, [*met, *own]).items():
                found[one] = max(found.get(one, 0), count)
        return found

    def spread(self, nodes: Nodes) -> tuple[Fraction, dict[int, Nodes]]:
        """Follow chance and the other; give what ends pay, and the own nodes by row."""
        paid, own = Fraction(), defaultdict[int, Nodes](list)
        waiting = list(nodes)
        while waiting:
            node, weight = waiting.pop()
            mover, row = int(self.tree.player[node]), int(self.tree.row[node])
            if mover == TERMINAL:
                paid += weight * self.paid(node)
            elif mover == self.player:
                own[row].append((node, weight))
            else:
                for action, child in enumerate(self.children[node]):
                    chance = (
                        self.tree.chance[child] if mover == CHANCE else self.others[row][action]
                    )
                    waiting.append((child, weight * Fraction(float(chance))))
        return paid, own

    def after(self, nodes: Nodes, action: int) -> Nodes:
        """Move all nodes of one past by an action."""
        return [(self.children[node][action], weight) for node, weight in nodes]

    def range(self, box: Box, nodes: Nodes) -> Range:
        """Least and most that a player with perfect recall gets within a box, from one past on."""
        paid, own = self.spread(nodes)
        least = most = paid
        for row, among in own.items():
            each = [self.range(box, self.after(among, one)) for one in range(len(box[row][0]))]
            least -= best([-one[0] for one in each], box[row])
            most += best([one[1] for one in each], box[row])
        return least, most

    def slopes(
        self, box: Box, centre: dict[int, list[Fraction]], nodes: Nodes, come: Range
    ) -> Iterator[tuple[int, int, Range]]:
        """Enclose what each past adds to the derivative of a row by an action."""
        for row, among in self.spread(nodes)[1].items():
            afters = [self.after(among, one) for one in range(len(box[row][0]))]
            each = [self.range(box, after) for after in afters]
            level = sum((a + b) / 2 * c for (a, b), c in zip(each, centre[row], strict=True))
            for action, (after, worth) in enumerate(zip(afters, each, strict=True)):
                ends = [one * (two - level) for one in come for two in worth]
                yield row, action, (min(ends), max(ends))
                lower, upper = (box[row][side][action] for side in (0, 1))
                yield from self.slopes(box, centre, after, (come[0] * lower, come[1] * upper))

    def bound(self, box: Box) -> Fraction:
        """Bound the payoff in a box, by both inequalities of the module's docstring."""
        root: Nodes = [(0, Fraction(1))]
        first = self.range(box, root)[1]
        centre = {row: middle(*ends) for row, ends in box.items()}
        slopes: dict[tuple[int, int], list[Fraction]] = defaultdict(
            lambda: [Fraction(), Fraction()]
        )
        for row, action, (low, high) in self.slopes(box, centre, root, (Fraction(1), Fraction(1))):
            slopes[row, action][0] += low
            slopes[row, action][1] += high
        again = [row for row, count in self.visits().items() if count > 1]
        pinned = {row: (centre[row],) * 2 if row in again else ends for row, ends in box.items()}
        second = self.range(pinned, root)[1]
        for row in again:
            lower, upper = box[row]
            mean = [sum(slopes[row, one], Fraction()) / 2 for one in range(len(lower))]
            half = [(slopes[row, one][1] - slopes[row, one][0]) / 2 for one in range(len(lower))]
            second += best(mean, box[row])
            for one, c in enumerate(centre[row]):
                second += max(upper[one] - c, c - lower[one]) * half[one] - mean[one] * c
        return min(first, second)

    def root(self, fixed: dict[int, list[Fraction]]) -> Box:
        """Give the box of all policies, rows that are fixed aside."""
        box: Box = {}
        for row in self.visits():
            count = int(self.tree.num_legal[row])
            ends = [Fraction(count == 1)] * count, [Fraction(1)] * count
            box[row] = (fixed[row], fixed[row]) if row in fixed else ends
        return box

    def proved(self, steps: Sequence[Any]) -> Fraction:
        """Replay the splits of the whole; give the largest bound of a leaf. ValueError if false."""
        visits, number = self.visits(), 1
        leaves: dict[int, tuple[Fraction, Box]] = {}
        box = self.root({})
        leaves[0] = self.bound(box), box
        for place, (leaf, row, action, cut) in enumerate(steps):
            if leaf not in leaves or row not in box:
                raise ValueError(f"step {place}: of leaf {leaf}, row {row}; one is not there")
            above, box = leaves.pop(leaf)
            lower, upper = box[row]
            children: list[Row] = []
            if 0 <= action < len(lower):
                if not lower[action] < cut < upper[action]:
                    raise ValueError(f"step {place}: the cut {cut} is outside")
                at = Fraction(cut)
                ends = [*upper], [*lower]
                ends[0][action] = ends[1][action] = at
                children = [tight(lower, ends[0]), tight(ends[1], upper)]
            else:
                if action != -1 or visits[row] > 1:  # then pure is not enough
                    raise ValueError(f"step {place}: action {action} of row {row}")
                left = [one for one, most in enumerate(upper) if most > 0]
                if len(left) == 1:
                    raise ValueError(f"step {place}: row {row} has one action left")
                middle_of = (len(left) + 1) // 2
                for half in (left[:middle_of], left[middle_of:]):
                    most = [Fraction(one in half) for one in range(len(lower))]
                    least = most if len(half) == 1 else [Fraction()] * len(lower)
                    children.append((least, most))
            for child in children:
                made = {**box, row: child}
                leaves[number] = min(above, self.bound(made)), made
                number += 1
        return max(bound for bound, _ in leaves.values())


def best(worth: list[Fraction], ends: Row) -> Fraction:
    """Most that probabilities between ends are worth."""
    left = 1 - sum(ends[0])
    total = sum((low * one for low, one in zip(ends[0], worth, strict=True)), Fraction())
    for one, low, high in sorted(zip(worth, *ends, strict=True), reverse=True):
        total += one * min(left, high - low)
        left -= min(left, high - low)
    return total


def middle(lower: list[Fraction], upper: list[Fraction]) -> list[Fraction]:
    """Go from all lower ends towards the upper ones, as far as probabilities go."""
    room = [high - low for low, high in zip(lower, upper, strict=True)]
    total = sum(room, Fraction())
    share = (1 - sum(lower, Fraction())) / total if total else Fraction()
    return [low + share * one for low, one in zip(lower, room, strict=True)]


def tight(lower: list[Fraction], upper: list[Fraction]) -> Row:
    """Leave out what no probabilities reach."""
    least = [max(low, 1 - sum(upper) + high) for low, high in zip(lower, upper, strict=True)]
    most = [min(high, 1 - sum(lower) + low) for low, high in zip(lower, upper, strict=True)]
    return least, most
