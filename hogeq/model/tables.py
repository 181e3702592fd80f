"""The flat form of a game: how rolls play, where they land, and the memory of them.

Sizes: G goal, T = G + largest bonus, K actions (0 to the most dice), H memories, J lanes (memories
in one lane hand over the same), W records (what is remembered of one turn), D kinds of turn (the
dice, and what no dice score), M modes (a kind of turn together with whether the roll forces an
extra turn), S situations (kinds of cells that differ in how rolls play).

A *cell* is ``own score * G + opponent's score`` of the player to move. An *afterstate* is what a
roll leaves behind before landing rules: the mover's score ``t`` with points and bonus, the
opponent's ``u``, and the record of the turn.
"""

from collections.abc import Iterable
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
    depends_on_own_score,
    landings,
    lanes_of,
    no_dice_turns,
    ways_of,
)
from hogeq.kernels.arrays import Dice, Target
from hogeq.rules import Rules
from hogeq.rules.memory import count_records, record
from hogeq.rules.rules import Throw, sums_without_ones
from hogeq.rules.turn import Branch, TurnTable
from hogeq.support.aliases import Floats, Ints

KindBranches = tuple[tuple[Branch, ...], ...]
"""Results of every roll, (K,), of one kind of turn; none of no dice."""


class Tables(NamedTuple):
    """One compiled game."""

    goal: int
    num_actions: int
    num_records: int  # W
    most_bonus: int

    dice_of_kind: tuple[Dice, ...]  # (D,)
    branches_of_kind: tuple[KindBranches, ...]  # (D,)
    gives_points: bool  # a turn can give points to the opponent
    no_dice_points: Ints  # (D, G, G) for rolling no dice, by the mover's score and the other's
    no_dice_gift: Ints  # (D, G, G) points that this gives to the opponent
    no_dice_record: Ints  # (D, G, G) record that this leaves
    win_at_once: Floats  # (D, T, G, K) probability that a roll wins at once, past the board

    mode_kind: Ints  # (M,) kind of turn
    mode_forces_turn: Ints  # (M,) 1 if the roll forces an extra turn
    situation: NDArray[np.uint8]  # (G, G)
    roll_mode: Ints  # (S, H, K) in which a roll plays, by situation and memory
    roll_bonus: Ints  # (S, H, K) points added after the roll

    landings: Landings
    memory_lane: Ints  # (H,)
    next_memory: Ints  # (2, W, J), by whether the same player moves, record and lane


# --- all together ---------------------------------------------------------------------------------


class _TurnKind(NamedTuple):
    """A kind of turn."""

    throw: Throw
    extra: int
    """Bonus that no dice earn: where what they score depends on the mover's own score, a bonus on
    them is not the same as a base further on."""


_Mode = tuple[_TurnKind, bool]
"""A kind of turn, and whether the roll forces an extra turn."""


@lru_cache(maxsize=2)
def tables_of(rules: Rules) -> Tables:
    """Compile rules to tables: kinds of turn, modes, dice, landings and memories."""
    turns = TurnTable(rules)
    no_dice = no_dice_turns(rules)
    landing_table = landings(rules)
    ways = ways_of(rules)
    roll_modes, roll_bonuses = _modes_and_bonuses(
        ways, own_score_counts=depends_on_own_score(no_dice)
    )
    modes = sorted(set(roll_modes))
    kinds = sorted({kind for kind, _ in modes})
    shape = ways.way_number.shape  # (S, H, K)
    most_bonus = max(roll_bonuses)
    branches = tuple(
        ((), *(turns.branches(choice, kind.throw) for choice in rules.choices[1:]))
        for kind in kinds
    )
    points = np.stack(
        [no_dice_turns(rules, kind.throw.way_to_score).points + kind.extra for kind in kinds]
    )
    gift = np.broadcast_to(no_dice.gift, points.shape).copy()
    dice_give = any(branch.gift for kind in branches for roll in kind for branch in roll)
    return Tables(
        goal=rules.size,
        num_actions=rules.num_actions,
        num_records=count_records(rules),
        most_bonus=most_bonus,
        dice_of_kind=tuple(
            dice_of(rules, kind.throw.sides, rolls)
            for kind, rolls in zip(kinds, branches, strict=True)
        ),
        branches_of_kind=branches,
        gives_points=dice_give or bool(gift.any()),
        no_dice_points=points,
        no_dice_gift=gift,
        no_dice_record=np.broadcast_to(no_dice.record, points.shape).copy(),
        win_at_once=_win_at_once(rules.size, most_bonus, landing_table, branches, points, gift),
        mode_kind=np.array([kinds.index(kind) for kind, _ in modes], np.int64),
        mode_forces_turn=np.array([int(forces) for _, forces in modes], np.int64),
        situation=ways.situation,
        roll_mode=np.reshape([modes.index(mode) for mode in roll_modes], shape),
        roll_bonus=np.reshape(roll_bonuses, shape),
        landings=landing_table,
        **lanes_of(rules)._asdict(),
    )


def _modes_and_bonuses(ways: Ways, *, own_score_counts: bool) -> tuple[list[_Mode], list[int]]:
    """List mode and bonus of every roll, by situation, memory and roll: (S * H * K,).

    A mode is a kind of turn (the dice) and whether the roll forces another turn, a way how a roll
    is played in a situation and a memory. A bonus, points that memory adds, is taken as a higher
    score before the roll. On no dice that is not the same if what they score depends on the mover's
    own score, `own_score_counts`: then the bonus belongs to the kind of turn, and 0 is listed.
    """
    modes: list[_Mode] = []
    bonuses: list[int] = []
    for way_numbers in ways.way_number.reshape(-1, ways.way_number.shape[-1]):
        throw = ways.ways[way_numbers[1]].throw  # that of one die, since no dice have none
        for way_number in way_numbers:
            way = ways.ways[way_number]
            extra = way.bonus if own_score_counts and way.action == 0 else 0
            modes.append((_TurnKind(throw, extra), way.forced))
            bonuses.append(way.bonus - extra)
    return modes, bonuses


def _win_at_once(
    goal: int,
    bonus: int,
    land: Landings,
    branches: tuple[KindBranches, ...],
    no_dice_points: Ints,
    no_dice_gift: Ints,
) -> Floats:
    """Probability that a roll wins at once, by an afterstate past the board: (D, T, G, K).

    An afterstate is the scores that a roll leaves, before landing rules. By kind of turn, the
    mover's score with the bonus, the opponent's score, and roll. `no_dice_points` and
    `no_dice_gift` are those of :class:`Tables`.
    """
    win_probability = np.zeros((len(branches), goal + bonus, goal, len(branches[0])))
    wins_outside = land.kind == WIN  # by scores of an afterstate
    wins_outside[:goal, :goal] = False
    own, other = np.ogrid[: goal + bonus, :goal]
    # From the goal on no cell is: there what no dice score does not depend on the mover's score.
    own_cell = np.minimum(own, goal - 1)
    for kind, rolls in enumerate(branches):
        points = no_dice_points[kind][own_cell, other]
        gift = no_dice_gift[kind][own_cell, other]
        win_probability[kind, :, :, 0] = wins_outside[own + points, other + gift]
        for roll, results in enumerate(rolls):
            for branch in results:
                wins = wins_outside[own + branch.points, other + branch.gift]
                win_probability[kind, :, :, roll] += float(branch.probability) * wins
    return win_probability


# --- sums of dice ---------------------------------------------------------------------------------


class _Term(NamedTuple):
    """One afterstate that a roll leaves, and how much it counts."""

    points: int
    gift: int
    record: int
    roll: int
    weight: float  # probability, or what corrects a sum of dice


def dice_of(rules: Rules, sides: int, branches: KindBranches) -> Dice:
    """Find which rolls are cheaper as sums, of one die and the dice before it, and all targets.

    A target is an afterstate (points, gift, record) with the probabilities of the rolls that lead
    there, or what corrects their sums. A sum is right for outcomes that leave one record, by points
    that are not changed. The terms that correct it elsewhere are found by comparison with the true
    outcomes, so that rules of any kind are served: where these are too many, a roll is the sum of
    all its outcomes instead. One term more still pays, since other rolls correct the same
    afterstates.
    """
    most_points = max(branch.points for results in branches for branch in results)
    sum_record = record(rules, rules.max_dice, most_points)
    direct: dict[int, list[_Term]] = {}  # by roll: its outcomes
    corrections: dict[int, list[_Term]] = {}  # by roll that is summed: what corrects the sum
    for roll, results in enumerate(branches[1:], 1):
        # By afterstate: points, gift and record.
        chances = {branch[:3]: branch.probability for branch in results}
        direct[roll] = _terms(roll, chances)
        differences = _terms(roll, _less_sum(chances, roll, sides, sum_record))
        if len(differences) <= len(direct[roll]) + 1:
            corrections[roll] = differences
    # Summing costs a term for each face but 1, of every roll up to the last one that is summed.
    terms_of_sums = max(corrections, default=0) * (sides - 1)
    terms_with_sums = sum(len(terms) for terms in (direct | corrections).values())
    if terms_of_sums + terms_with_sums >= sum(len(terms) for terms in direct.values()):
        corrections = {}
    terms_by_roll = direct | corrections
    return Dice(
        sides=sides,
        most_summed=max(corrections, default=0),
        is_sum=tuple(roll in corrections for roll in range(len(branches))),
        sum_record=sum_record,
        targets=_targets(term for terms in terms_by_roll.values() for term in terms),
    )


_Afterstate = tuple[int, int, int]
"""Points, gift and record."""


def _less_sum(
    chances: dict[_Afterstate, Fraction], roll: int, sides: int, sum_record: int
) -> dict[_Afterstate, Fraction]:
    """Subtract the probabilities of a sum of dice without ones from those of a roll's afterstates.

    An afterstate is points, gift and record; those of a sum have the record `sum_record`.
    """
    differences = dict(chances)
    for total, count in enumerate(sums_without_ones(roll, sides)):
        if count:
            afterstate = total, 0, sum_record
            probability_in_sum = Fraction(count, sides**roll)
            differences[afterstate] = differences.get(afterstate, Fraction(0)) - probability_in_sum
    return differences


def _targets(terms: Iterable[_Term]) -> tuple[Target, ...]:
    """Join the terms of rolls that lead to one afterstate: a target, in order of afterstates."""
    targets = []
    by_afterstate = groupby(sorted(terms), key=lambda term: term[:3])
    for (points, gift, end_record), same_afterstate in by_afterstate:
        weights_by_roll = tuple((term.roll, term.weight) for term in same_afterstate)
        targets.append(Target(points, gift, end_record, weights_by_roll))
    return tuple(targets)


def _terms(roll: int, weights: dict[_Afterstate, Fraction]) -> list[_Term]:
    """List terms of a roll by afterstate, (points, gift, record): those that count."""
    return [
        _Term(*afterstate, roll, float(weight)) for afterstate, weight in weights.items() if weight
    ]
