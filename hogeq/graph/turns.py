"""One turn of Hog, part by part, for every pair of scores: how it plays, where it ends.

Sizes: G goal, K actions, H memories, J lanes (memories in one lane hand over the same), W records
(what is remembered of one turn), S situations (kinds of cells that differ in how rolls play).

A *cell* is ``own score * G + opponent's score`` of the player to move.
"""

from functools import lru_cache
from itertools import product
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.rules import Rules
from hogeq.rules.memory import (
    all_memories,
    count_records,
    memory_of_dice,
    memory_tables,
    next_memory,
)
from hogeq.rules.rules import Throw
from hogeq.rules.turn import TurnTable, effect, land, throw_of
from hogeq.support.aliases import Ints
from hogeq.support.messages import HogeqError

MOST_SITUATIONS: Final = 256  # most kinds of cells that differ in how rolls play

OTHER, AGAIN, WIN, LOSS = range(4)
"""Kinds of landing: the other player moves next, or the same; or the mover has won, or lost."""


class Way(NamedTuple):
    """How a turn plays."""

    action: int
    throw: Throw  # of no dice only how the memory changes points counts
    bonus: int
    forced: bool


class Ways(NamedTuple):
    """How every roll plays."""

    situation: NDArray[np.uint8]  # (G, G)
    way_number: Ints  # (S, H, K), in the list of ways
    ways: tuple[Way, ...]


class NoDiceTurns(NamedTuple):
    """Outcome of rolling no dice, by the mover's score and the opponent's: (G, G) each."""

    points: Ints
    gift: Ints
    record: Ints


class Landings(NamedTuple):
    """Where a turn ends, by the scores that it leaves: the mover's, then the opponent's."""

    kind: Ints  # OTHER, AGAIN, WIN or LOSS
    own_score: Ints  # the mover's, after it
    opponent_score: Ints


class Lanes(NamedTuple):
    """The next mover's memory, by the memory and the turn."""

    memory_lane: Ints  # (H,)
    next_memory: Ints  # (2, W, J), of whoever moves next, by again and record


@lru_cache(maxsize=2)
def ways_of(rules: Rules) -> Ways:
    """List the ways to roll, and which is played where.

    1. Ask for throws and effects at every pair of scores; pairs with the same are one situation.
    2. In each situation, at one pair, ask how every memory plays every action.
    """
    memories = all_memories(rules)
    # Memories of which the same part counts for dice throw alike: one of each is asked.
    dice_memories = [memory_of_dice(rules, memory) for memory in memories]
    examples = dict(zip(dice_memories, memories, strict=True))
    throw_number = [list(examples).index(part) for part in dice_memories]  # (H,)
    pairs = list(product(range(rules.size), range(rules.size)))
    effects_at = memory_tables(rules).effects_at
    features = [
        (tuple([throw_of(rules, *pair, memory) for memory in examples.values()]), effects_at(*pair))
        for pair in pairs
    ]
    # Each situation, with one pair of scores that has it.
    situations = sorted(dict(zip(features, pairs, strict=True)).items())
    if len(situations) > MOST_SITUATIONS:
        raise HogeqError(
            f"rules: effects make {len(situations)} kinds of positions; allowed: {MOST_SITUATIONS}"
        )
    numbers: dict[Way, int] = {}
    number = np.zeros((len(situations), len(memories), rules.num_actions), np.int64)
    for situation, memory, action in np.ndindex(number.shape):
        (throws, _), pair = situations[situation]
        throw = throws[throw_number[memory]]
        added = effect(rules, *pair, memories[memory], throw.dice(rules.choices[action]))
        if action == 0:  # no dice: of the throw, only how the memory changes points counts
            throw = Throw(0, way_to_score=throw.way_to_score)
        way = Way(action, throw, *added)
        number[situation, memory, action] = numbers.setdefault(way, len(numbers))
    situation_of = {feature: index for index, (feature, _) in enumerate(situations)}
    situation_at = np.array([situation_of[feature] for feature in features], np.uint8)
    return Ways(situation_at.reshape(rules.size, rules.size), number, tuple(numbers))


@lru_cache(maxsize=8)
def no_dice_turns(rules: Rules, way_to_score: int = 0) -> NoDiceTurns:
    """Outcome of no dice at every pair of scores.

    `way_to_score` says how the memory changes points, as in :class:`hogeq.rules.rules.Throw`.
    """
    turns, goal = TurnTable(rules), rules.size
    branches = [
        turns.branch_of_no_dice(own, other, way_to_score) for own, other in np.ndindex(goal, goal)
    ]
    outcomes = [(branch.points, branch.gift, branch.record) for branch in branches]
    return NoDiceTurns(*np.array(outcomes, np.int64).T.reshape(3, goal, goal))


def depends_on_own_score(no_dice: NoDiceTurns) -> bool:
    """Whether the outcome of no dice depends on the mover's own score, the first axis."""
    return any((table != table[0]).any() for table in no_dice)


@lru_cache(maxsize=2)
def landings(rules: Rules) -> Landings:
    """Apply the landing rules to every pair of scores that a turn can leave.

    Raises `HogeqError` if a landing lowers the sum of both scores: levels of positions follow it.
    """
    goal = rules.size
    most_points, most_gift = TurnTable(rules).most_points_and_gift()
    most_bonus = max(way.bonus for way in ways_of(rules).ways)
    if depends_on_own_score(no_dice_turns(rules)):
        most_bonus *= 2  # kernels add it to the scores, and to the points of no dice
    table = np.zeros((3, goal + most_points + most_bonus, goal + most_gift), np.int64)
    for score, opponent in np.ndindex(table.shape[1:]):
        landing = land(rules, score, opponent)
        change = ""  # how the landing lowers the scores, if it does
        if landing.winner is None and max(score, opponent) >= goal:
            change = f"past the goal {goal} back below it"
        elif landing.winner is None and landing.score + landing.opponent < score + opponent:
            change = f"to {landing.score}, {landing.opponent}"
        if change:
            raise HogeqError(
                f"rules: a landing lowers scores {score}, {opponent} {change}, which no edition "
                "does and the kernels cannot play"
            )
        if landing.winner is None:
            kind = AGAIN if landing.again else OTHER
        else:
            kind = WIN if landing.winner == 0 else LOSS
        table[:, score, opponent] = kind, landing.score, landing.opponent
    return Landings(*table)


def landing_kinds(landings: Landings, goal: Ints | int, other_goal: Ints | int) -> Ints:
    """Kind of each landing where each player has a goal: the one further past it wins."""
    past, other_past = landings.own_score - goal, landings.opponent_score - other_goal
    winner = np.where(past >= other_past, WIN, LOSS)
    is_over = np.maximum(past, other_past) >= 0
    return np.where(is_over, winner, landings.kind)


@lru_cache(maxsize=2)
def lanes_of(rules: Rules) -> Lanes:
    """Sort memories into lanes: those after which every turn leads to the same memories.

    A turn is here its record, what is remembered of it, and whether the same player moves again.
    """
    memories = all_memories(rules)
    number = {memory: index for index, memory in enumerate(memories)}
    records = count_records(rules)
    lanes: dict[tuple[int, ...], int] = {}  # by the next memories, of again and record
    lane_of = []
    for memory in memories:
        next_memories = [
            number[next_memory(rules, memory, recorded, again)]
            for again, recorded in product((False, True), range(records))
        ]
        lane_of.append(lanes.setdefault(tuple(next_memories), len(lanes)))
    by_lane = np.array(list(lanes), np.int64).reshape(-1, 2, records)  # lane, again, record
    return Lanes(np.array(lane_of), by_lane.transpose(1, 2, 0))  # again, record, lane
