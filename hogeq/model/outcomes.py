"""The outcomes of rolls, and where the afterstates that they leave land, as arrays."""

from fractions import Fraction
from itertools import groupby, product
from typing import Any, NamedTuple

import numpy as np

from hogeq.kernels.recurrence import Dice, Target
from hogeq.model.layout import Layout, Tables, TurnKind
from hogeq.rules.memory import record
from hogeq.rules.outcomes import TurnTable
from hogeq.rules.points import sums_without_ones
from hogeq.support.aliases import Floats, Ints


class Term(NamedTuple):
    """One afterstate that a roll leaves, and how much it counts."""

    kind: int
    roll: int
    points: int
    gift: int
    record: int
    prob: float


class FreeTurns(NamedTuple):
    """What rolling no dice does, by the mover's score and the opponent's: int64 (G, G) each."""

    points: Ints
    gift: Ints
    record: Ints

    @classmethod
    def of(cls, turns: TurnTable) -> "FreeTurns":
        """Ask once for every pair of scores."""
        goal = turns.rules.goal
        found = [turns.free(own, opponent) for own, opponent in product(range(goal), repeat=2)]
        columns = list(zip(*found, strict=True))[:3]
        return cls(*(np.array(column, np.int64).reshape(goal, goal) for column in columns))

    @property
    def own_counts(self) -> bool:
        """Whether any of it depends on the mover's own score."""
        return any((column != column[0]).any() for column in self)


class OutcomeArrays:
    """What rolling can score: outcomes grouped by kind of turn and roll, points ascending.

    Attributes
    ----------
    start, end : int64 (D, K)
        Range of the outcomes of a roll; empty for no dice.
    prob : float64 (n,)
        Probability of every outcome.
    points, record : int64 (n,)
    gift : int64 (D, K)
        Points that the first outcome of a roll gives to the opponent.
    zero_points, zero_gift, zero_record : int64 (D, G, G)
        The same of rolling no dice, by the cell; a bonus of the kind of turn is among the points.
    """

    def __init__(
        self, layout: Layout, turns: TurnTable, kinds: list[TurnKind], free: FreeTurns
    ) -> None:
        rolls = layout.rules.max_dice + 1
        self.layout = layout
        self.turns = turns
        self.sides = sides = [kind.sides for kind in kinds]
        self.start = np.zeros((len(sides), rolls), np.int64)
        self.end = np.zeros((len(sides), rolls), np.int64)
        self.gift = np.zeros((len(sides), rolls), np.int64)
        prob: list[float] = []
        points: list[int] = []
        records: list[int] = []
        for kind, roll in product(range(len(sides)), range(1, rolls)):
            self.start[kind, roll] = len(prob)
            for gained, gift, recorded, chance in turns.branches(roll, sides[kind]):
                if gift:
                    self.gift[kind, roll] = gift
                prob.append(float(chance))
                points.append(gained)
                records.append(recorded)
            self.end[kind, roll] = len(prob)
        self.prob = np.array(prob)
        self.points = np.array(points, np.int64)
        self.record = np.array(records, np.int64)
        extra = np.array([kind.extra for kind in kinds])[:, None, None]
        self.zero_points = free.points + extra
        self.zero_gift, self.zero_record = (
            np.broadcast_to(column, self.zero_points.shape).copy()
            for column in (free.gift, free.record)
        )

    def most(self) -> tuple[int, int]:
        """Most points that a turn can score, and most that it can give."""
        points = max(self.points.max(), self.zero_points.max())
        return int(points), int(max(self.gift.max(), self.zero_gift.max()))

    def sums(self) -> dict[str, Any]:
        """Find which rolls are cheaper as the sum of one die and the dice before it.

        Summing takes all outcomes to leave one record, and no points to be boosted; the terms that
        correct this are found by comparison with the true outcomes, so wherever an edition has
        other ideas there are too many of them, and its rolls are summed directly. One term more
        still pays, since other rolls correct the same afterstates.
        """
        rules = self.layout.rules
        kinds, rolls = self.start.shape
        many = record(rules, rolls - 1, int(self.points.max(initial=0)))
        used = np.zeros((kinds, rolls), np.uint8)
        depth = np.zeros(kinds, np.int64)
        terms: list[Term] = []
        for kind in range(kinds):
            found = {roll: self._corrected(kind, roll, many) for roll in range(1, rolls)}
            sums = {
                roll: corrected
                for roll, (true, corrected) in found.items()
                if len(corrected) <= len(true) + 1
            }
            chain = max(sums, default=0) * (self.sides[kind] - 1)
            true_terms = sum(len(true) for true, _ in found.values())
            kept = sum(len(sums.get(roll, true)) for roll, (true, _) in found.items())
            if chain + kept >= true_terms:
                sums = {}
            depth[kind] = max(sums, default=0)
            used[kind, list(sums)] = 1
            terms.extend(x for roll, (true, _) in found.items() for x in sums.get(roll, true))
        terms.sort(key=lambda x: (*_afterstate(x), x.roll))
        sizes = {key: len(list(run)) for key, run in groupby(terms, key=_afterstate)}
        rows = np.array(list(sizes), np.int64).reshape(-1, 4).T.copy()
        return {
            "sides": np.array(self.sides, np.int64),
            "sum_depth": depth,
            "is_sum": used,
            "sum_record": many,
            "target_points": rows[1],
            "target_gift": rows[2],
            "target_record": rows[3],
            "target_start": np.searchsorted(rows[0], np.arange(kinds + 1)).astype(np.int64),
            "way_start": np.cumsum([0, *sizes.values()]).astype(np.int64),
            "way_prob": np.array([term.prob for term in terms], np.float64),
            "way_roll": np.array([term.roll for term in terms], np.int64),
        }

    def _corrected(self, kind: int, roll: int, many: int) -> tuple[list[Term], list[Term]]:
        """List the outcomes of a roll, and what is left of them when its sum is taken away."""
        sides = self.sides[kind]
        true = {
            (gained, gift, recorded): chance
            for gained, gift, recorded, chance in self.turns.branches(roll, sides)
        }
        left = dict(true)
        for total, ways in enumerate(sums_without_ones(roll, sides)):
            if ways:
                key = (total, 0, many)
                left[key] = left.get(key, Fraction(0)) - Fraction(ways, sides**roll)

        def listed(chances: dict[tuple[int, int, int], Fraction]) -> list[Term]:
            return [
                Term(kind, roll, *key, float(chance))
                for key, chance in sorted(chances.items())
                if chance
            ]

        return listed(true), listed(left)

    def stop(self) -> Ints:
        """One past the last outcome that stays below the goal, by (kind of turn, roll, score)."""
        goal = self.layout.goal
        kinds, rolls = self.start.shape
        stop = np.zeros((kinds, rolls, goal), np.int64)
        for kind, roll in product(range(kinds), range(1, rolls)):
            start, end = self.start[kind, roll], self.end[kind, roll]
            left = goal - np.arange(goal)
            stop[kind, roll] = start + np.searchsorted(self.points[start:end], left)
        return stop


def _afterstate(term: Term) -> tuple[int, int, int, int]:
    return term.kind, term.points, term.gift, term.record


def dice_of(tables: Tables, kind: int) -> Dice:
    """Gather the terms of a kind of dice."""
    targets = []
    for x in range(*tables.target_start[kind : kind + 2].tolist()):
        ways = slice(*tables.way_start[x : x + 2].tolist())
        chances = zip(tables.way_roll[ways].tolist(), tables.way_prob[ways].tolist(), strict=True)
        points, gift, record = (
            int(column[x])
            for column in (tables.target_points, tables.target_gift, tables.target_record)
        )
        targets.append(Target(points, gift, record, tuple(chances)))
    return Dice(
        sides=int(tables.sides[kind]),
        depth=int(tables.sum_depth[kind]),
        is_sum=tuple(map(bool, tables.is_sum[kind])),
        record=tables.sum_record,
        targets=tuple(targets),
    )


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
