"""Every way in which a turn can end, cell by cell, for the passes of certificates."""

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from hogeq.graph.turns import Landings, decided, free_turns, landings, lanes_of, ways_of
from hogeq.kernels.turns import AGAIN, OTHER, STEP, WIN, Scratch, TurnLists
from hogeq.rules import Rules
from hogeq.rules.turn import TurnTable

__all__ = ["AGAIN", "WIN", "TurnLists", "scratch_for", "turn_lists"]


def scratch_for(turns: TurnLists, opponents: int = 1) -> Scratch:
    """Fresh arrays for passes against so many opponents."""
    ways, lanes = len(turns.dice), turns.following.shape[2]
    flows, ends = np.zeros((2, len(turns.end_lanes) * lanes))
    wanted = np.zeros(ways, np.uint8)
    rolled = np.zeros((opponents, ways * lanes))
    return Scratch(np.zeros(ways * lanes), flows, ends, rolled, wanted)


@lru_cache(maxsize=2)
def turn_lists(rules: Rules) -> TurnLists:
    """List every way in which a turn can end."""
    goals, seats = rules.goals, 2 if isinstance(rules.goal, tuple) else 1
    rules = replace(rules, goal=rules.size)
    turns, size, land = TurnTable(rules), rules.size, landings(rules)
    seat, own, opponent = (axis.ravel() for axis in np.indices((seats, size, size)))
    goal, other_goal = np.array(goals)[seat], np.array(goals[::-1])[seat]
    situation, way, ways = ways_of(rules)
    first, chances, end = [0], list[float](), list[int]()
    ends: dict[tuple[Any, ...], int] = {}
    no_dice = {
        scores: [np.tile(column.ravel(), seats) for column in free_turns(rules, scores)]
        for scores in {way.throw.scores for way in ways}
    }
    columns = []
    for one in ways:
        branches = turns.branches(rules.choices[one.action], one.throw) if one.action else [None]
        for branch in branches:
            # No dice score by the cell; what else ends with the same scores and record is one end.
            points, gift, recorded = branch[:3] if branch else no_dice[one.throw.scores]
            points = points + one.bonus
            free = -1, one.throw.scores, one.bonus, one.forced
            key = (points, gift, recorded, one.forced) if branch else free
            if key not in ends:
                ends[key] = len(ends)
                here = Landings(*(table[own + points, opponent + gift] for table in land))
                after = decided(here, goal, other_goal)
                after = np.where(after == OTHER, AGAIN * one.forced, after)
                over, stays, mine, yours = after >= WIN, after == AGAIN, here.own, here.opponent
                there = np.where(stays, mine * size + yours, yours * size + mine)
                there += np.where(stays, seat, seats - 1 - seat) * size**2
                there = np.where(over, 0, there)
                columns.append((np.broadcast_to(recorded, after.shape), after, there))
            end.append(ends[key])
            chances.append(float(branch.probability) if branch else 1.0)
        first.append(len(end))
    record, kind, there = (
        np.stack(column, axis=1).astype(dtype)
        for column, dtype in zip(
            zip(*columns, strict=True), (np.uint16, np.uint8, np.uint32), strict=True
        )
    )
    lane, following = lanes_of(rules)
    usable = np.zeros((len(way), len(ways)), np.uint8)
    usable[np.arange(len(way))[:, None, None], way] = 1
    lanes = following.shape[2]
    width = -(-lanes // len(STEP)) * len(STEP)
    can = np.zeros((len(ways), width), bool)  # way, lane
    can[way, lane[:, None]] = True
    ranges = np.stack([can.argmax(axis=1), width - can[:, ::-1].argmax(axis=1)], axis=1)
    way_of = np.repeat(np.arange(len(ways)), np.diff(first))
    end_lanes = np.repeat([[width, 0]], len(ends), axis=0)
    np.minimum.at(end_lanes[:, 0], end, ranges[way_of, 0])
    np.maximum.at(end_lanes[:, 1], end, ranges[way_of, 1])
    # Lanes are taken a vector at a time, which must not reach beyond a way's own.
    ranges[:, 0] -= np.maximum(
        0, ranges[:, 0] + -(-(ranges[:, 1] - ranges[:, 0]) // len(STEP)) * len(STEP) - width
    )
    padded = np.zeros((*following.shape[:2], width), np.uint32)
    padded[:, :, :lanes] = following
    low, high = np.minimum(own, opponent), np.maximum(own, opponent)
    order = np.lexsort((low, high, low // 2, high // 2)).astype(np.int64)
    return TurnLists(
        # Cells near each other follow the same cells, so they are looked up while still in cache.
        order=order[((own < goal) & (opponent < other_goal))[order]],
        scores=np.stack([low, high], axis=1),
        situation=np.tile(situation.ravel(), seats).astype(np.int64),
        place=(way * width + lane[:, None]).transpose(0, 2, 1).astype(np.uint32, order="C"),
        usable=usable,
        dice=np.array([one.action for one in ways], np.int64),
        lanes=ranges,
        following=padded,
        first=np.array(first, np.int64),
        chance=np.array(chances),
        end=np.array(end, np.int64),
        end_lanes=end_lanes,
        record=record,
        kind=kind,
        cell=there,
    )
