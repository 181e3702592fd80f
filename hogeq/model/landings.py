"""Where afterstates land, as arrays."""

from itertools import product
from typing import Any

import numpy as np

from hogeq.model.layout import Layout
from hogeq.model.outcomes import OutcomeArrays
from hogeq.rules.outcomes import TurnTable
from hogeq.support.aliases import Floats


class LandingArrays:
    """Where afterstates land: arrays over all pairs of scores that a turn can leave.

    Rows are the mover's score, columns the opponent's.

    Attributes
    ----------
    inside : bool
        Whether the game goes on; only then `cell`, `forced` and `again` mean anything.
    cell : int64
        Cell of the next mover.
    forced : int64
        The same if the roll forces an extra turn.
    again : bool
        Whether More Boar gives the mover an extra turn.
    wins : bool
        Whether the mover has won.

    Raises
    ------
    ValueError
        If a landing lowers the sum of the scores, or scores past the goal can land below it.
    """

    def __init__(self, layout: Layout, turns: TurnTable, points: OutcomeArrays, ring: int) -> None:
        self.layout, self.points, self.ring = layout, points, ring
        goal = layout.goal
        most_points, most_given = points.most()
        own = goal + ring + most_points
        opponent = goal + most_given
        self.cell, self.forced = np.zeros((2, own, opponent), np.int64)
        self.inside, self.again, self.wins = np.zeros((3, own, opponent), bool)
        for score, other in product(range(own), range(opponent)):
            after = turns.land(score, other)
            if after.winner is not None:
                self.wins[score, other] = after.winner == 0
                continue
            if max(score, other) >= goal:
                raise ValueError(
                    f"rules: a landing lowers scores {score}, {other} past the goal {goal} back "
                    "below it, which no edition does and the kernels cannot play"
                )
            mine, yours = after.score, after.opponent
            if mine + yours < score + other:
                raise ValueError(
                    f"rules: a landing lowers scores {score}, {other} to {mine}, {yours}, which no "
                    "edition does and the kernels cannot play"
                )
            self.inside[score, other] = True
            self.again[score, other] = after.again
            self.forced[score, other] = mine * goal + yours
            self.cell[score, other] = mine * goal + yours if after.again else yours * goal + mine

    def terminal_win(self) -> Floats:
        """Probability that a roll wins at once past the board, by (kind of turn, base, roll)."""
        points, goal = self.points, self.layout.goal
        kinds, rolls = points.start.shape
        bases = goal + self.ring - 1
        win = np.zeros((kinds, bases, goal, rolls))
        outside = self.wins.copy()
        outside[:goal, :goal] = False
        own, other = np.ogrid[:bases, :goal]
        zero = points.zero_points, points.zero_gift
        for kind in range(kinds):
            # From the goal on no cell is: there what no dice score does not depend on the base.
            free, gift = (x[kind][np.minimum(own, goal - 1), other] for x in zero)
            win[kind, :, :, 0] = outside[own + free, other + gift]
            for roll in range(1, rolls):
                for i in range(points.start[kind, roll], points.end[kind, roll]):
                    gift = points.gift[kind, roll] if points.points[i] == 0 else 0
                    gained = points.points[i]
                    if gained == 0 or gift or bases + gained > goal:
                        win[kind, :, :, roll] += (
                            points.prob[i] * outside[own + gained, other + gift]
                        )
        return win

    def arrivals(self, ends: int) -> dict[str, Any]:
        """Afterstates by the cell on which they land."""
        goal = self.layout.goal
        rows: list[tuple[int, int, int, bool]] = []
        for end, own, other in product(range(ends), range(goal), range(goal)):
            if self.inside[own, other]:
                cell = self.forced[own, other] if end else self.cell[own, other]
                again = bool(end or self.again[own, other])
                rows.append((int(cell), end, other * goal + own, again))
        columns = np.array(sorted(rows), np.int64).reshape(-1, 4).T.copy()
        return {
            "arrival_start": np.searchsorted(columns[0], np.arange(goal**2 + 1)).astype(np.int64),
            "arrival_end": columns[1],
            "arrival_row": columns[2],
            "arrival_again": columns[3].astype(np.uint8),
        }
