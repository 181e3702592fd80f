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
from itertools import groupby, product
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.kernels.recurrence import Dice, Target
from hogeq.kernels.turns import AGAIN, LOSS, OTHER, WIN
from hogeq.rules import Rules
from hogeq.rules.memory import (
    all_memories,
    memory_of_dice,
    next_memory,
    record,
    records_left,
    remembered,
)
from hogeq.rules.rules import Throw, sums_without_ones
from hogeq.rules.turn import Branch, TurnTable, effect, land, throw_of
from hogeq.support.aliases import Floats, Ints

MOST_SITUATIONS: Final = 256  # most kinds of cells that differ in how rolls play


class Way(NamedTuple):
    """How a turn plays."""

    action: int
    throw: Throw  # of no dice only how the memory changes points counts
    bonus: int
    forced: bool


class Ways(NamedTuple):
    """How every roll plays."""

    situation: NDArray[np.uint8]  # (G, G)
    number: Ints  # (S, H, K), in the list of ways
    ways: tuple[Way, ...]


class FreeTurns(NamedTuple):
    """Outcome of rolling no dice, by the mover's score and the opponent's: (G, G) each."""

    points: Ints
    gift: Ints
    record: Ints


class Landings(NamedTuple):
    """Where a turn ends, by the scores that it leaves: the mover's, then the opponent's."""

    kind: Ints  # OTHER, AGAIN, WIN or LOSS
    own: Ints  # the mover's score after it
    opponent: Ints


class Lanes(NamedTuple):
    """The next mover's memory, by the memory and the turn."""

    lane: Ints  # (H,)
    following: Ints  # (2, W, J), memory of whoever moves next, by again and record


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


# --- one turn, part by part -----------------------------------------------------------------------


@lru_cache(maxsize=2)
def ways_of(rules: Rules) -> Ways:
    """List the ways to roll, and which is played where: asked for every pair of scores."""
    memories, found = all_memories(rules), dict[Way, int]()
    looks = [memory_of_dice(rules, memory) for memory in memories]
    examples = dict(zip(looks, memories, strict=True))
    pairs = list(product(range(rules.size), range(rules.size)))
    effects = map(remembered(rules).effects_at, *zip(*pairs, strict=True))
    kinds = [
        (tuple([throw_of(rules, *pair, one) for one in examples.values()]), added)
        for pair, added in zip(pairs, effects, strict=True)
    ]
    examples_of = sorted(dict(zip(kinds, pairs, strict=True)).items())
    order = {kind: place for place, (kind, _) in enumerate(examples_of)}
    if len(order) > MOST_SITUATIONS:
        raise ValueError(
            f"rules: effects make {len(order)} kinds of positions; allowed: {MOST_SITUATIONS}"
        )
    number = np.zeros((len(order), len(memories), rules.num_actions), np.int64)
    for kind, index, action in np.ndindex(number.shape):
        (throws, _), pair = examples_of[kind]
        throw = throws[list(examples).index(looks[index])]
        added = effect(rules, *pair, memories[index], throw.dice(rules.choices[action]))
        way = Way(action, throw if action else Throw(0, scores=throw.scores), *added)
        number[kind, index, action] = found.setdefault(way, len(found))
    situation = np.array([order[kind] for kind in kinds], np.uint8)
    return Ways(situation.reshape(rules.size, rules.size), number, tuple(found))


@lru_cache(maxsize=8)
def free_turns(rules: Rules, scores: int = 0) -> FreeTurns:
    """Ask for no dice at every pair of scores; `scores` as in a throw."""
    turns, goal = TurnTable(rules), rules.size
    branches = [turns.free(own, other, scores)[:3] for own, other in np.ndindex(goal, goal)]
    return FreeTurns(*np.array(branches, np.int64).T.reshape(3, goal, goal))


def _counts_own(free: FreeTurns) -> bool:
    """Whether the outcome of no dice depends on the mover's own score."""
    return any((column != column[0]).any() for column in free)


@lru_cache(maxsize=2)
def landings(rules: Rules) -> Landings:
    """Land every pair of scores that a turn can leave."""
    turns, free, goal = TurnTable(rules), free_turns(rules), rules.size
    most, given = turns.most()
    bonus = max(way.bonus for way in ways_of(rules).ways) * (1 + _counts_own(free))
    found = np.zeros((3, goal + most + bonus, goal + given), np.int64)
    for score, opponent in np.ndindex(found.shape[1:]):
        there = land(rules, score, opponent)
        lowers = ""
        if there.winner is None and max(score, opponent) >= goal:
            lowers = f"past the goal {goal} back below it"
        elif there.winner is None and there.score + there.opponent < score + opponent:
            lowers = f"to {there.score}, {there.opponent}"
        if lowers:
            raise ValueError(
                f"rules: a landing lowers scores {score}, {opponent} {lowers}, which no edition "
                "does and the kernels cannot play"
            )
        kind = {None: AGAIN if there.again else OTHER, 0: WIN, 1: LOSS}[there.winner]
        found[:, score, opponent] = kind, there.score, there.opponent
    return Landings(*found)


def decided(ends: Landings, goal: Ints | int, other_goal: Ints | int) -> Ints:
    """Next mover, or winner, where each player has a goal: the one further past it wins."""
    past, other_past = ends.own - goal, ends.opponent - other_goal
    over = np.where(past >= other_past, WIN, LOSS)
    return np.where(np.maximum(past, other_past) >= 0, over, ends.kind)


@lru_cache(maxsize=2)
def lanes_of(rules: Rules) -> Lanes:
    """Sort memories into lanes."""
    memories = all_memories(rules)
    number = {memory: index for index, memory in enumerate(memories)}
    records = records_left(rules)
    rows: dict[tuple[int, ...], int] = {}
    lanes = []
    for memory in memories:
        row = tuple(
            [
                number[next_memory(rules, memory, recorded, again)]
                for again, recorded in product((False, True), range(records))
            ]
        )
        lanes.append(rows.setdefault(row, len(rows)))
    following = np.array(list(rows), np.int64).reshape(-1, 2, records)
    return Lanes(np.array(lanes), following.transpose(1, 2, 0))


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
    played, bonus = _played(ways, own_counts=_counts_own(free))
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
