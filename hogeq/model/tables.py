"""The flat form of a game: how rolls play, where they land, and the memory of them.

Sizes: G goal, T = G + largest bonus, K actions (0 to the most dice), H memories, J lanes (memories
in one lane hand over the same), W records (what is remembered of one turn), D kinds of turn (the
dice, and what no dice score), P planes (a kind of turn together with whether the roll forces an
extra turn), S situations (kinds of cells that differ in how rolls play).

A *cell* is ``own score * G + opponent's score`` of the player to move. An *afterstate* is what a
roll leaves behind before landing rules: the mover's score ``t`` with points and bonus, the
opponent's ``u``, and the record of the turn.
"""

from fractions import Fraction
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.graph.turns import (
    WIN,
    Landings,
    Ways,
    counts_own,
    free_turns,
    landings,
    lanes_of,
    ways_of,
)
from hogeq.kernels.arrays import Dice, Target
from hogeq.rules import Rules
from hogeq.rules.memory import record, records_left
from hogeq.rules.rules import Throw, sums_without_ones
from hogeq.rules.turn import Branch, TurnTable
from hogeq.support.aliases import Floats, Ints


class Tables(NamedTuple):
    """One compiled game."""

    goal: int
    num_actions: int
    records: int  # W
    most_bonus: int

    dice: tuple[Dice, ...]  # by kind of turn
    branches: tuple[
        tuple[tuple[Branch, ...], ...], ...
    ]  # by kind of turn and roll, none of no dice
    gives: bool  # a turn can give points to the opponent
    zero_points: Ints  # (D, G, G) points for rolling no dice, by the mover's score and the other's
    zero_gift: Ints  # (D, G, G) points that this gives to the opponent
    zero_record: Ints  # (D, G, G) record that this leaves
    terminal_win: Floats  # (D, T, G, K) probability that the roll wins past the board, from (t, o)

    plane_kind: Ints  # (P,) kind of turn
    plane_forces: Ints  # (P,) 1 if the roll forces an extra turn
    situation: NDArray[np.uint8]  # (G, G)
    plane: Ints  # (S, H, K)
    bonus: Ints  # (S, H, K) points added after the roll

    landings: Landings
    lane: Ints
    following: Ints


# --- all together ---------------------------------------------------------------------------------


class _Kind(NamedTuple):
    """A kind of turn."""

    throw: Throw
    extra: int
    """Bonus that no dice earn: where what they score depends on the mover's own score, a bonus on
    them is not the same as a base further on."""


@lru_cache(maxsize=2)
def tables_of(rules: Rules) -> Tables:
    """Compile rules."""
    turns, free, ends, ways = TurnTable(rules), free_turns(rules), landings(rules), ways_of(rules)
    played, bonus = _played(ways, own_counts=counts_own(free))
    planes = sorted(set(played.values()))
    kinds = sorted({kind for kind, _ in planes})
    plane, bonuses = np.zeros((2, *ways.number.shape), np.int64)
    for index, found in played.items():
        plane[index], bonuses[index] = planes.index(found), bonus[index]
    branches = tuple(
        ((), *(turns.branches(choice, kind.throw) for choice in rules.choices[1:]))
        for kind in kinds
    )
    points = np.stack([free_turns(rules, kind.throw.scores).points + kind.extra for kind in kinds])
    gift, recorded = (np.broadcast_to(x, points.shape).copy() for x in (free.gift, free.record))
    given = any(branch.gift for kind in branches for roll in kind for branch in roll)
    most = int(bonuses.max())
    return Tables(
        goal=rules.size,
        num_actions=rules.num_actions,
        records=records_left(rules),
        most_bonus=most,
        dice=tuple(
            dice_of(rules, kind.throw.sides, rolls)
            for kind, rolls in zip(kinds, branches, strict=True)
        ),
        branches=branches,
        gives=given or bool(gift.any()),
        zero_points=points,
        zero_gift=gift,
        zero_record=recorded,
        terminal_win=_terminal_win(rules.size, most, ends, branches, points, gift),
        plane_kind=np.array([kinds.index(kind) for kind, _ in planes], np.int64),
        plane_forces=np.array([int(forced) for _, forced in planes], np.int64),
        situation=ways.situation,
        plane=plane,
        bonus=bonuses,
        landings=ends,
        **lanes_of(rules)._asdict(),
    )


Index = tuple[int, ...]


def _played(
    ways: Ways, *, own_counts: bool
) -> tuple[dict[Index, tuple[_Kind, bool]], dict[Index, int]]:
    """Find plane and bonus of every roll, by situation, memory and roll."""
    planes, bonuses = {}, {}
    for index in np.ndindex(ways.number.shape):
        way, one_die = (ways.ways[ways.number[index[:2]][roll]] for roll in (index[2], 1))
        moved = way.bonus if own_counts and way.action == 0 else 0
        planes[index] = _Kind(one_die.throw, moved), way.forced
        bonuses[index] = way.bonus - moved
    return planes, bonuses


def _terminal_win(
    goal: int,
    bonus: int,
    land: Landings,
    branches: tuple[tuple[tuple[Branch, ...], ...], ...],
    zero_points: Ints,
    zero_gift: Ints,
) -> Floats:
    """Probability that a roll wins at once past the board, by (kind of turn, base, roll)."""
    win = np.zeros((len(branches), goal + bonus, goal, len(branches[0])))
    outside = land.kind == WIN
    outside[:goal, :goal] = False
    own, other = np.ogrid[: goal + bonus, :goal]
    for kind, rolls in enumerate(branches):
        # From the goal on no cell is: there what no dice score does not depend on the base.
        points, gift = (x[kind][np.minimum(own, goal - 1), other] for x in (zero_points, zero_gift))
        win[kind, :, :, 0] = outside[own + points, other + gift]
        for roll, results in enumerate(rolls):
            for branch in results:
                here = outside[own + branch.points, other + branch.gift]
                win[kind, :, :, roll] += float(branch.probability) * here
    return win


# --- sums of dice ---------------------------------------------------------------------------------


class _Term(NamedTuple):
    """One afterstate that a roll leaves, and how much it counts."""

    points: int
    gift: int
    record: int
    roll: int
    chance: float


def dice_of(rules: Rules, sides: int, branches: tuple[tuple[Branch, ...], ...]) -> Dice:
    """Find which rolls are cheaper as the sum of one die and the dice before it.

    Summing takes all outcomes to leave one record, and no points to be boosted; the terms that
    correct this are found by comparison with the true outcomes, so wherever an edition has other
    ideas there are too many of them, and its rolls are summed directly. One term more still pays,
    since other rolls correct the same afterstates.
    """
    most = max(branch.points for results in branches for branch in results)
    many = record(rules, rules.max_dice, most)
    true, sums = {}, {}
    for roll, results in enumerate(branches[1:], 1):
        chances = {branch[:3]: branch.probability for branch in results}
        true[roll] = _terms(roll, chances)
        for total, ways in enumerate(sums_without_ones(roll, sides)):
            if ways:
                key = total, 0, many
                chances[key] = chances.get(key, Fraction(0)) - Fraction(ways, sides**roll)
        corrections = _terms(roll, chances)
        if len(corrections) <= len(true[roll]) + 1:
            sums[roll] = corrections
    chain = max(sums, default=0) * (sides - 1)
    if chain + sum(map(len, (true | sums).values())) >= sum(map(len, true.values())):
        sums = {}
    terms = sorted(term for listed in (true | sums).values() for term in listed)
    return Dice(
        sides=sides,
        depth=max(sums, default=0),
        is_sum=tuple(roll in sums for roll in range(len(branches))),
        record=many,
        targets=tuple(
            Target(points, gift, recorded, tuple((term.roll, term.chance) for term in some))
            for (points, gift, recorded), some in groupby(terms, key=lambda term: term[:3])
        ),
    )


def _terms(roll: int, chances: dict[tuple[int, int, int], Fraction]) -> list[_Term]:
    return [_Term(*key, roll, float(chance)) for key, chance in chances.items() if chance]
