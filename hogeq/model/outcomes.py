"""The outcomes of rolls, as arrays."""

from fractions import Fraction
from itertools import groupby, product
from typing import Any, NamedTuple

import numpy as np

from hogeq.model.layout import Layout
from hogeq.model.modes import TurnKind
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
    offset: int
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
    points, record, offset : int64 (n,)
        Its points, its record, and the distance of its afterstate from that of no points.
    gift : int64 (D, K)
        Points that the first outcome of a roll gives to the opponent.
    zero_points, zero_gift, zero_record : int64 (D, G, G)
        The same of rolling no dice, by the cell; a bonus of the kind of turn is among the points.
    zero_offset, zero_stop : int64 (D, 1 or G, G)
        Its afterstate, and the mover's score from which on the turn ends the game; one row will do
        where the mover's score does not count.
    """

    def __init__(
        self, layout: Layout, turns: TurnTable, kinds: list[TurnKind], free: FreeTurns
    ) -> None:
        rules, goal = layout.rules, layout.goal
        rolls = rules.max_dice + 1
        self.layout = layout
        self.turns = turns
        self.sides = sides = [kind.sides for kind in kinds]
        self.start = np.zeros((len(sides), rolls), np.int64)
        self.end = np.zeros((len(sides), rolls), np.int64)
        self.gift = np.zeros((len(sides), rolls), np.int64)
        prob: list[float] = []
        offset: list[int] = []
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
                offset.append(layout.offset(gained, gift, recorded))
            self.end[kind, roll] = len(prob)
        self.prob = np.array(prob)
        self.points = np.array(points, np.int64)
        self.record = np.array(records, np.int64)
        self.offset = np.array(offset, np.int64)
        extra = np.array([kind.extra for kind in kinds])[:, None, None]
        self.zero_points = free.points + extra
        self.zero_gift, self.zero_record = (
            np.broadcast_to(column, self.zero_points.shape).copy()
            for column in (free.gift, free.record)
        )
        rows = slice(goal if free.own_counts else 1)
        own, other = self.zero_points[:, rows], self.zero_gift[:, rows]
        self.zero_offset = layout.offset(own, other, self.zero_record[:, rows])
        self.zero_stop = np.where(np.arange(goal) + other < goal, goal - own, 0)

    def most(self) -> tuple[int, int]:
        """Most points that a turn can score, and most that it can give."""
        points = max(self.points.max(), self.zero_points.max())
        return int(points), int(max(self.gift.max(), self.zero_gift.max()))

    def reach(self) -> Ints:
        """Most points of a turn that leaves each record, at least 1."""
        found = np.ones(self.layout.records, np.int64)
        np.maximum.at(found, self.record, self.points)
        np.maximum.at(found, self.zero_record, self.zero_points)
        return found

    def targets(self) -> dict[str, Any]:
        """Group the outcomes once more, by kind of turn and afterstate instead of roll."""
        kinds, rolls = self.start.shape
        terms = [
            Term(
                kind,
                roll,
                int(self.points[i]),
                0 if self.points[i] else int(self.gift[kind, roll]),
                int(self.offset[i]),
                float(self.prob[i]),
            )
            for kind, roll in product(range(kinds), range(1, rolls))
            for i in range(self.start[kind, roll], self.end[kind, roll])
        ]
        return dict(
            zip(
                (
                    "target_points",
                    "target_gift",
                    "target_offset",
                    "target_start",
                    "source_start",
                    "source_prob",
                    "source_offset",
                ),
                self._by_afterstate(terms),
                strict=True,
            )
        )

    def _by_afterstate(self, terms: list[Term]) -> tuple[Ints | Floats, ...]:
        """Points, gift, offset and starts of each afterstate, then its sources."""
        kinds = len(self.start)
        found = sorted(terms, key=lambda x: (x.kind, x.points, x.gift, x.offset, x.roll))
        groups = groupby(found, key=lambda x: (x.kind, x.points, x.gift, x.offset))
        sizes = {afterstate: len(list(run)) for afterstate, run in groups}
        rows = np.array(list(sizes), np.int64).reshape(-1, 4)
        return (
            rows[:, 1].copy(),
            rows[:, 2].copy(),
            rows[:, 3].copy(),
            np.searchsorted(rows[:, 0], np.arange(kinds + 1)).astype(np.int64),
            np.cumsum([0, *sizes.values()]).astype(np.int64),
            np.array([term.prob for term in found], np.float64),
            np.array([term.roll * self.layout.width for term in found], np.int64),
        )

    def sums(self, ring: int) -> dict[str, Any]:
        """Find which rolls are cheaper as the sum of one die and the dice before it.

        Summing takes all outcomes to leave one record, and no points to be boosted; the terms that
        correct this are found by comparison with the true outcomes, so wherever an edition has
        other ideas there are too many of them, and its rolls are summed directly. One term more
        still pays, since other rolls correct the same afterstates.
        """
        layout = self.layout
        rules, goal = layout.rules, layout.goal
        kinds, rolls = self.start.shape
        many = layout.offset(0, 0, record(rules, rolls - 1, int(self.points.max(initial=0))))
        used = np.zeros((kinds, rolls), np.uint8)
        depth = np.zeros(kinds, np.int64)
        start = np.zeros((kinds, rolls), np.int64)
        stop = np.zeros((kinds, rolls, goal + ring - 1), np.int64)
        left = goal - np.arange(goal + ring - 1)
        terms: list[Term] = []
        costs = np.zeros((kinds, 3), np.int64)
        for kind in range(kinds):
            found = {roll: self._corrected(kind, roll, many) for roll in range(1, rolls)}
            sums = {
                roll: corrected
                for roll, (true, corrected) in found.items()
                if len(corrected) <= len(true) + 1
            }
            deepest = max(sums, default=0)
            chain = deepest * (self.sides[kind] - 1)
            true_terms = sum(len(true) for true, _ in found.values())
            kept = sum(len(sums.get(roll, true)) for roll, (true, _) in found.items())
            if chain + kept >= true_terms:
                sums, deepest, chain, kept = {}, 0, 0, true_terms
            depth[kind] = deepest
            costs[kind] = true_terms, chain, kept
            for roll, (true, _) in found.items():
                used[kind, roll] = roll in sums
                chosen = sums.get(roll, true)
                start[kind, roll] = len(terms)
                points = [term.points for term in chosen]
                stop[kind, roll] = len(terms) + np.searchsorted(points, left)
                terms.extend(chosen)
        names = ("points", "gift", "offset", "start", "first", "prob", "source")
        corrections = zip(names, self._by_afterstate(terms), strict=True)
        direct, chain, kept = costs.mean(axis=0).round().astype(int).tolist()
        return {
            "sides": np.array(self.sides, np.int64),
            "sum_ring": max(self.sides) + 1,
            "sum_depth": depth,
            "is_sum": used,
            "many_offset": many,
            "direct_terms": direct,
            "sum_terms": chain,
            "corrections": kept,
            "term_prob": np.array([term.prob for term in terms], np.float64),
            "term_offset": np.array([term.offset for term in terms], np.int64),
            "term_start": start,
            "term_stop": stop,
            **{f"correction_{name}": column for name, column in corrections},
        }

    def _corrected(self, kind: int, roll: int, many: int) -> tuple[list[Term], list[Term]]:
        """List the outcomes of a roll, and what is left of them when its sum is taken away."""
        layout, sides = self.layout, self.sides[kind]
        true = {
            (gained, gift, layout.offset(gained, gift, recorded)): chance
            for gained, gift, recorded, chance in self.turns.branches(roll, sides)
        }
        left = dict(true)
        for total, ways in enumerate(sums_without_ones(roll, sides)):
            if ways:
                key = (total, 0, many + total * layout.strides.scores)
                left[key] = left.get(key, Fraction(0)) - Fraction(ways, sides**roll)

        def listed(chances: dict[tuple[int, int, int], Fraction]) -> list[Term]:
            return [
                Term(kind, roll, *key, float(chance))
                for key, chance in sorted(chances.items())
                if chance
            ]

        return listed(true), listed(left)

    def stop(self, ring: int) -> Ints:
        """One past the last outcome that stays below the goal, by (kind of turn, roll, base)."""
        goal = self.layout.goal
        kinds, rolls = self.start.shape
        stop = np.zeros((kinds, rolls, goal + ring - 1), np.int64)
        left = goal - np.arange(goal + ring - 1)
        for kind, roll in product(range(kinds), range(1, rolls)):
            start, end = self.start[kind, roll], self.end[kind, roll]
            stop[kind, roll] = start + np.searchsorted(self.points[start:end], left)
        return stop
