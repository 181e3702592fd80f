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
from hogeq.rules.memory import all_memories, memory_of_dice, next_memory, records_left, remembered
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
        raise HogeqError(
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


def counts_own(free: FreeTurns) -> bool:
    """Whether the outcome of no dice depends on the mover's own score."""
    return any((column != column[0]).any() for column in free)


@lru_cache(maxsize=2)
def landings(rules: Rules) -> Landings:
    """Land every pair of scores that a turn can leave."""
    turns, free, goal = TurnTable(rules), free_turns(rules), rules.size
    most, given = turns.most()
    bonus = max(way.bonus for way in ways_of(rules).ways) * (1 + counts_own(free))
    found = np.zeros((3, goal + most + bonus, goal + given), np.int64)
    for score, opponent in np.ndindex(found.shape[1:]):
        there = land(rules, score, opponent)
        lowers = ""
        if there.winner is None and max(score, opponent) >= goal:
            lowers = f"past the goal {goal} back below it"
        elif there.winner is None and there.score + there.opponent < score + opponent:
            lowers = f"to {there.score}, {there.opponent}"
        if lowers:
            raise HogeqError(
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
