"""Single turns as flat arrays, for the passes of :mod:`hogeq.kernels.turns`.

They come from the table of turns, not from the compiled game: what is proved with them does not
rest on its kernels.
"""

from functools import lru_cache
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.kernels.turns import AGAIN, LOSS, OTHER, WIN, TurnLists
from hogeq.rules import Rules
from hogeq.rules.memory import Memory
from hogeq.rules.outcomes import TurnTable, total_rises
from hogeq.support.aliases import Ints


class Way(NamedTuple):
    """How a turn plays."""

    dice: int
    sides: int
    bonus: int
    forced: bool


@lru_cache(maxsize=1)
def turn_lists(rules: Rules) -> TurnLists:
    """List every way in which a turn can end.

    Raises
    ------
    ValueError
        If a turn can leave the sum of scores as it was.
    """
    if not total_rises(rules):
        raise ValueError(
            f"rules {rules.name}: a turn can leave the total score as it was; allowed: "
            "rules under which it rises"
        )
    turns, goal = TurnTable(rules), rules.goal
    own, opponent = (axis.ravel() for axis in np.indices((goal, goal)))
    situation, way, ways = _ways(turns)
    landing = _landings(turns, max(one.bonus for one in ways))
    free = np.array(
        [turns.free(*scores)[:3] for scores in product(range(goal), repeat=2)], np.int64
    )
    first, chances = [0], []
    columns: list[tuple[Ints, Ints]] = []
    for one in ways:
        if one.dice:
            for branch in turns.branches(one.dice, one.sides):
                lands = landing[own + branch.points + one.bonus, opponent + branch.gift]
                columns.append((lands, np.full(goal**2, branch.record)))
                chances.append(float(branch.probability))
        else:
            lands = landing[own + free[:, 0] + one.bonus, opponent + free[:, 1]]
            columns.append((lands, free[:, 2]))
            chances.append(1.0)
        for lands, _ in columns[first[-1] :]:
            lands[:, 0] = np.where(lands[:, 0] == OTHER, AGAIN * one.forced, lands[:, 0])
        first.append(len(columns))
    lands = np.stack([lands for lands, _ in columns], axis=1)
    record = np.stack([records for _, records in columns], axis=1)
    again = lands[:, :, 0] == AGAIN
    there = np.where(
        again, lands[:, :, 1] * goal + lands[:, :, 2], lands[:, :, 2] * goal + lands[:, :, 1]
    )
    lane, following = _lanes(turns, int(record.max()) + 1)
    kind = lands[:, :, 0].astype(np.int8)
    there = np.where(lands[:, :, 0] >= WIN, 0, there).astype(np.int32)
    ends, end = _ends(kind, there, record)
    low, high = np.minimum(own, opponent), np.maximum(own, opponent)
    return TurnLists(
        # Cells near each other follow the same cells, so they are looked up while still in cache.
        order=np.lexsort((low, high, low // 2, high // 2)).astype(np.int64),
        total=own + opponent,
        low=low,
        high=high,
        situation=situation,
        way=way,
        dice=np.array([one.dice for one in ways], np.int64),
        lane=lane,
        by_lane=np.argsort(lane, kind="stable").astype(np.int64),
        following=following,
        first=np.array(first, np.int64),
        chance=np.array(chances),
        end=end,
        record=np.ascontiguousarray(record[:, ends], np.int16),
        kind=np.ascontiguousarray(kind[:, ends]),
        cell=np.ascontiguousarray(there[:, ends]),
    )


def _ways(turns: TurnTable) -> tuple[Ints, Ints, list[Way]]:
    """Situation of every cell, way of every situation, memory and roll, and the ways."""
    rules, found = turns.rules, dict[Way, int]()
    usually = sorted({memory.extra for memory in turns.memories})
    dice = {
        (own, opponent): tuple(
            [turns.dice_sides(own, opponent, Memory(extra=extra)) for extra in usually]
        )
        for own, opponent in product(range(rules.goal), repeat=2)
    }
    kinds = sorted(set(dice.values()))
    way = np.zeros((len(kinds), len(turns.memories), rules.max_dice + 1), np.int64)
    for kind, number, roll in np.ndindex(way.shape):
        memory = turns.memories[number]
        sides = kinds[kind][usually.index(memory.extra)] if roll else 0
        one = Way(roll, sides, *turns.memory_effect(memory, roll))
        way[kind, number, roll] = found.setdefault(one, len(found))
    return np.array([kinds.index(kind) for kind in dice.values()]), way, list(found)


def _landings(turns: TurnTable, bonus: int) -> Ints:
    """Kind of end, the mover's score and the other's, by the scores that a turn leaves."""
    points, gift = turns.most()
    found = np.zeros((turns.rules.goal + points + bonus, turns.rules.goal + gift, 3), np.int64)
    for score, opponent in np.ndindex(found.shape[:2]):
        land = turns.land(score, opponent)
        ends = {None: AGAIN if land.again else OTHER, 0: WIN, 1: LOSS}
        found[score, opponent] = ends[land.winner], land.score, land.opponent
    return found


def _ends(*columns: NDArray[np.generic]) -> tuple[Ints, Ints]:
    """Outcomes that end unlike all before them in some cell, and which of these each outcome is."""
    found: dict[bytes, int] = {}
    number = [
        found.setdefault(b"".join(column[:, x].tobytes() for column in columns), len(found))
        for x in range(columns[0].shape[1])
    ]
    return np.unique(number, return_index=True)[1], np.array(number, np.int64)


def _lanes(turns: TurnTable, records: int) -> tuple[Ints, Ints]:
    """Lane of every memory, and the next memory by lane, again and record."""
    number = {memory: index for index, memory in enumerate(turns.memories)}
    rows: dict[tuple[int, ...], int] = {}
    lanes = []
    for memory in turns.memories:
        row = tuple(
            [
                number[turns.next_memory(memory, record, again)]
                for again in (False, True)
                for record in range(records)
            ]
        )
        lanes.append(rows.setdefault(row, len(rows)))
    return np.array(lanes), np.array(list(rows), np.int64).reshape(-1, 2, records)
