"""Policies and their win rates in rational numbers."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from math import lcm

import numpy as np

from hogeq.search.branching import ResponseGraph, Responses
from hogeq.support.aliases import Floats, Ints
from hogeq.support.deadline import FOREVER, Deadline
from hogeq.support.messages import HogeqError

Policy = list[list[Fraction]]
"""Probabilities of the actions of each row."""


def rational(policy: Floats, largest: int) -> Policy:
    """Round probabilities (R, K) to fractions of denominators up to `largest`.

    The most probable action takes the rest to 1.
    """
    rows = [
        [Fraction(share).limit_denominator(largest) for share in row] for row in policy.tolist()
    ]
    for row, action in zip(rows, policy.argmax(axis=1).tolist(), strict=True):
        row[action] += 1 - sum(row)
    return rows


def floats(policy: Policy) -> Floats:
    """Round to floating point, (R, K)."""
    return np.array([[float(share) for share in row] for row in policy])


class ExactStates:
    """Passes over states in whole numbers; chances are multiples of 1 / `denominator`.

    The worth of a state that has h turns ahead at most is a whole number of (D d)**-h, where d is
    the common denominator of the policy.
    """

    def __init__(self, graph: ResponseGraph, denominator: int) -> None:
        states, self.legal, self.denominator = graph.states, graph.legal, denominator
        self.row, self.is_own = states.row.tolist(), states.is_own.tolist()
        self.start, self.actions = states.start.tolist(), states.won.shape[1]
        scaled = states.chance * denominator
        won = states.won * denominator
        off = [np.abs(one - np.round(one)).max(initial=0.0) for one in (scaled, won)]
        if max(off) > 1e-3 or not (states.start_chance == 1 / len(self.start)).all():
            raise HogeqError(f"denominator: got {denominator}; allowed: one of all chances")
        chances, after = np.round(scaled).astype(np.int64).tolist(), states.after.tolist()
        first, self.won = states.first.tolist(), np.round(won).astype(np.int64).tolist()
        self.edges = [
            list(zip(chances[low:high], after[low:high], strict=True))
            for low, high in pairwise(first)
        ]
        self.height = [0] * len(self.row)
        for state in range(len(self.row) - 1, -1, -1):
            edges = self.edges[state * self.actions : (state + 1) * self.actions]
            later = [self.height[then] for edge in edges for _, then in edge]
            self.height[state] = 1 + max(later, default=0)

    def value(self, others: Policy, member: Sequence[int], fixed: Sequence[int]) -> Fraction:
        """Payoff against a policy: rows play action `fixed`, (R,), and the best one where -1."""
        common = lcm(*(one.denominator for row in others for one in row))
        shares = [[int(one * common) for one in row] for row in others]
        base = self.denominator * common
        power = [base**height for height in range(max(self.height) + 1)]
        worth = [0] * len(self.row)
        for state in reversed(member):
            row, height = self.row[state], self.height[state] - 1
            if self.is_own[state]:
                legal = np.flatnonzero(self.legal[row]).tolist() if fixed[row] < 0 else [fixed[row]]
                weighted = [(common, action) for action in legal]
            else:
                weighted = [(share, action) for action, share in enumerate(shares[row]) if share]
            found = []
            for share, action in weighted:
                total = self.won[state][action] * power[height]
                for chance, then in self.edges[state * self.actions + action]:
                    total += chance * worth[then] * power[height - self.height[then]]
                found.append(share * total)
            worth[state] = max(found) if self.is_own[state] else sum(found)
        ends = [Fraction(worth[state], power[self.height[state]]) for state in self.start]
        return sum(ends, Fraction(0)) / len(ends)

    def reach(self, own: Sequence[int], others: Policy) -> list[Fraction]:
        """How often a pure strategy (R,) comes to each of its rows."""
        mass, met = [Fraction(0)] * len(self.row), [Fraction(0)] * len(own)
        for state in self.start:
            mass[state] += Fraction(1, len(self.start))
        for state, here in enumerate(mass):
            if not here:
                continue
            row, plays = self.row[state], [Fraction(0)] * self.actions
            if self.is_own[state]:
                met[row] += here
                plays[own[row]] = Fraction(1)
            else:
                plays = others[row]
            for action, share in enumerate(plays):
                if share:
                    for chance, then in self.edges[state * self.actions + action]:
                        mass[then] += here * share * Fraction(chance, self.denominator)
        return met

    def is_at_most(
        self,
        bound: Fraction,
        others: Policy,
        problem: Responses,
        tree: Ints,
        deadline: Deadline = FOREVER,
    ) -> bool:
        """Whether no leaf of a proof gets more than a bound, exactly: those that are near it.

        False, too, if the time is over before.
        """
        fixed, count = problem.free, np.diff(problem.corners.first)
        stack, member = list[int](), problem.others.member.tolist()
        for row in tree.tolist():
            if row >= 0:
                stack.append(row)
                fixed[row] = 0
                continue
            is_near = problem.value(fixed) + problem.error >= bound
            if is_near and deadline.is_over:
                return False
            if is_near and self.value(others, member, fixed.tolist()) > bound:
                return False
            while stack:
                fixed[stack[-1]] += 1
                if fixed[stack[-1]] < count[stack[-1]]:
                    break
                fixed[stack.pop()] = -1
        return True


def exact_kuhn(exact: ExactStates, matrices: Ints, deadline: Deadline = FOREVER) -> Policy | None:
    """Policy of the mixture in which all these matrices win 1/2, in rational numbers.

    None if there is no such mixture or several, if weights are negative, or without time.
    """
    count, half = len(matrices), Fraction(1, 2)
    every = range(len(exact.row))
    pure = [[[Fraction(int(a == one)) for a in range(exact.actions)] for one in matrix]
            for matrix in matrices]  # fmt: skip
    rates = [[half] * count for _ in range(count)]
    for one in range(count):
        for two in range(one):
            if deadline.is_over:
                return None
            rates[one][two] = exact.value(pure[two], every, matrices[one].tolist())
            rates[two][one] = 1 - rates[one][two]
    lines = [[rate - half for rate in row] + [Fraction(0)] for row in rates]
    weights = solved([*lines, [Fraction(1)] * (count + 1)])
    if weights is None or min(weights) <= 0:
        return None
    mean = [[sum((one[row][a] for one in pure), Fraction(0)) / count for a in range(exact.actions)]
            for row in range(len(pure[0]))]  # fmt: skip
    policy = [[Fraction(0)] * exact.actions for _ in mean]
    for weight, matrix in zip(weights, matrices, strict=True):
        for row, met in enumerate(exact.reach(matrix.tolist(), mean)):
            policy[row][matrix[row]] += weight * met
    return [
        [one / sum(row) for one in row] if any(row) else pure[0][number]
        for number, row in enumerate(policy)
    ]


def solved(lines: list[list[Fraction]]) -> list[Fraction] | None:
    """Solve equations, each its coefficients and right side; None unless one solution exists."""
    lines, count = [list(line) for line in lines], len(lines[0]) - 1
    for column in range(count):
        place = next((at for at in range(column, len(lines)) if lines[at][column]), None)
        if place is None:
            return None
        lines[column], lines[place] = lines[place], lines[column]
        pivot = lines[column][column]
        lines[column] = [one / pivot for one in lines[column]]
        for at, line in enumerate(lines):
            if at != column and line[column]:
                factor = line[column]
                lines[at] = [a - factor * b for a, b in zip(line, lines[column], strict=True)]
    if any(line[-1] for line in lines[count:]):
        return None
    return [line[-1] for line in lines[:count]]
