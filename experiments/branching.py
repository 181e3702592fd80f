"""What branching takes off a certified bound, and what the same seconds take off without it.

    python experiments/branching.py --sizes 14x2 16x3 20x4 24x5 --seconds 30

A branch fixes what is rolled in some cells. Its bound is that of steps
(hogeq/search/lifted_bound.py) for responders who make these rolls, and the bound on all is the
largest of the branches: the one that has it is branched on next, in the cell where forgetting costs
most and most is refunded. A branch takes over the steps of the branch that it comes from, but for
those of fixed cells, and looks for more. Steps are claims alone: revisions of them are so many that
to take them anew for every branch leaves no time for others. Branches in which nobody wins more
than the attack are closed.

"steps" is the bound where steps end, "more steps" what they come to when they are looked for again
for so long, "branches" is branching for so long. Against 100 iterations of discounted CFR; seconds
are the processor's. Prints a Markdown table and writes results/branching.md.
"""

import argparse
import heapq
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import NamedTuple

from common import arguments, publish, small_game, solved

from hogeq.rules import Rules
from hogeq.search.attack import SearchBudget, attack
from hogeq.search.certifying import improve
from hogeq.search.lifted_bound import LiftedBound, Revision, Step
from hogeq.support.aliases import Floats

clock = time.process_time
HEADER = ["goal", "dice", "attack", "full memory", "steps", "more steps", "branches"]
COUNTED = ["branched on", "left open", "cells fixed", "seconds"]


class Branch(NamedTuple):
    """Responders that make some rolls."""

    fixed: Mapping[int, int]
    """Rolls by cell."""
    steps: Sequence[Step | Revision]
    """Of the branch that it comes from."""


def main() -> None:
    """Print and write the table."""
    given = arguments(
        __doc__,
        edition="su20",
        sizes=("14x2", "16x3", "20x4", "24x5"),
        seconds=30.0,
        each=0.5,
        iterations=100,
        kicks=20,
    )
    publish(given.out, "branching", [*HEADER, *COUNTED], lines(given))


def lines(given: argparse.Namespace) -> Iterator[list[object]]:
    """Measure games, a line each."""
    for size in given.sizes:
        goal, dice = map(int, size.split("x"))
        game = small_game(given.edition, goal, dice)
        policy = solved(
            game, "dcfr", given.iterations, alpha=1.0, gamma=1.0, average_weight="reach"
        )
        won = attack(game, policy, SearchBudget(perturbations=given.kicks)).win_rate
        LiftedBound(game.rules, policy).take(Step(1, 1, 1, 0.5, 0.25, 1.0, 1.0))  # compiles
        found = LiftedBound(game.rules, policy)
        improve(found, given.seconds, clock, revises=False)
        steps, full = found.bound(), found.full_memory
        more = again(found, given.seconds)
        began = clock()
        bound, *counted = branched(game.rules, policy, found.steps, won, given.seconds, given.each)
        spent = clock() - began

        def shown(rate: float, won: float = won, full: float = full) -> str:
            return f"{rate:.6f} ({(full - rate) / (full - won):.0%})"

        rates = [f"{won:.6f}", f"{full:.6f}", *map(shown, (steps, more, bound))]
        yield [goal, dice, *rates, *counted, f"{spent:.0f}"]


def again(found: LiftedBound, seconds: float) -> float:
    """Look for steps again and again, until there are none or time is up: the bound."""
    began, before = clock(), -1
    while len(found.steps) > before and clock() < began + seconds:
        before = len(found.steps)
        improve(found, began + seconds - clock(), clock, revises=False)
    return found.bound()


def branched(
    rules: Rules,
    policy: Floats,
    steps: Sequence[Step | Revision],
    won: float,
    seconds: float,
    each: float,
) -> tuple[float, int, int, int]:
    """Bound by branches, how many were branched on and are open, and the most cells fixed.

    Parameters
    ----------
    steps : sequence of Step
        Of the first branch, which fixes nothing.
    won : float
        What some matrix wins.
    seconds, each : float
        For all, and at most for the steps of a branch.
    """
    began, ticket, number, depth = clock(), count(), 0, 0
    heap = [(-1.0, next(ticket), Branch({}, steps))]
    while heap and clock() < began + seconds:
        most, _, branch = heapq.heappop(heap)
        found = retaken(rules, policy, branch)
        if branch.fixed:
            improve(found, each, clock, revises=False)
        bound = min(-most, found.bound())
        worth = found.losses().min(axis=1) + found.refunds()
        worth[list(branch.fixed)] = -1.0
        cell = int(worth.argmax())
        for roll in range(rules.max_dice + 1):
            rate = min(bound, found.bound_with(cell, roll))
            if rate > won:
                child = Branch({**branch.fixed, cell: roll}, found.steps)
                heapq.heappush(heap, (-rate, next(ticket), child))
        number, depth = number + 1, max(depth, len(branch.fixed) + 1)
    return max(won, -heap[0][0]) if heap else won, number, len(heap), depth


def retaken(rules: Rules, policy: Floats, branch: Branch) -> LiftedBound:
    """Take a branch's steps at cells that are not fixed."""
    found = LiftedBound(rules, policy, branch.fixed)
    for step in branch.steps:
        if step.score * rules.goal + step.opponent not in branch.fixed:
            found.take(step)
    return found


if __name__ == "__main__":
    main()
