"""The graph of a game of Hog: both players live, and a fair coin says who moves first."""

from dataclasses import replace
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hogeq.graph.graph import Graph
from hogeq.graph.levels import Levels, levels_of
from hogeq.graph.turns import (
    AGAIN,
    OTHER,
    WIN,
    Landings,
    decided,
    free_turns,
    landings,
    lanes_of,
    ways_of,
)
from hogeq.rules import Rules
from hogeq.rules.memory import Memory, all_memories
from hogeq.rules.turn import TurnTable
from hogeq.support.aliases import Floats, Ints

ENDLESS: Final = 0.5  # what a game that never ends is worth: it is a draw


@lru_cache(maxsize=4)
def of_hog(rules: Rules) -> Graph:
    """Compile rules to a graph.

    Player 0 has the first goal, if there are two. A position is a cell, scores of who moves and of
    the other, and the player who moves; its row is the cell, own score * G + opponent's score, so
    that one table (G, G) plays both seats. The payoff of a win is 1, of a loss 0.
    """
    goals, size = rules.goals, rules.size
    rules = replace(rules, goal=size)
    (situation, way, _), lanes = ways_of(rules), lanes_of(rules)
    first, chance, end, ends = _outcomes(rules)
    used = _used_ends(way, first, end, len(ends))
    own, opponent = (axis.ravel() for axis in np.indices((size, size)))
    seats = [_ends_of_seat(rules, goals[seat], goals[1 - seat], ends) for seat in (0, 1)]
    met = [(own < goals[seat]) & (opponent < goals[1 - seat]) for seat in (0, 1)]
    order, begins = _cells(own + opponent, seats, used[situation.ravel()], met)
    is_met = np.stack(met, axis=1)[order]
    index, mover = np.nonzero(is_met)
    cell = order[index]
    number = np.zeros((2, size**2), np.int64)
    number[mover, cell] = np.arange(len(cell))
    kind, there, record = (np.stack(column)[mover, cell] for column in zip(*seats, strict=True))
    again = kind == AGAIN
    goes_on = number[np.where(again, mover[:, None], 1 - mover[:, None]), there]
    won = (kind == WIN) == (mover[:, None] == 0)  # payoff 1 of two, else payoff 0
    label = record + again * lanes.following.shape[1]
    before = np.append(0, np.cumsum(is_met.sum(axis=1)))  # positions before each cell
    level = np.unique(before[begins])
    following = lanes.following.reshape(-1, lanes.following.shape[2])
    nothing = all_memories(rules).index(Memory())
    arrays: dict[str, Any] = {
        "level": level,
        "player": mover,
        "row": cell,
        "fixed": np.zeros((0, rules.num_actions)),
        "situation": situation.ravel()[cell],
        "way": way,
        "lane": lanes.lane,
        "following": following,
        "first": first,
        "chance": chance,
        "end": end,
        "place": np.arange(len(cell)) * len(ends),
        "next": np.where(kind >= WIN, -1 - won, goes_on).ravel(),
        "label": np.where(kind >= WIN, 0, label).ravel(),
        "payoff": np.array([0.0, 1.0]),
        "start": np.stack([number[:, 0], [nothing, nothing]], axis=1),
        "start_chance": np.array([0.5, 0.5]),
        "total": 1.0,
    }
    level_of = np.repeat(np.arange(len(level) - 1), np.diff(level))
    stays = (kind < WIN) & used[arrays["situation"]] & (level_of[goes_on] == level_of[:, None])
    return Graph(**arrays, endless=ENDLESS if stays.any() else None)


End = tuple[int, int, int, bool]
"""An end, wherever a turn with it begins: points, gift and record of the turn, and whether the turn
forces another. No dice have -1, how the memory changes points, and a bonus in their place."""


@lru_cache(maxsize=4)
def _outcomes(rules: Rules) -> tuple[Ints, Floats, Ints, list[End]]:
    """List the outcomes of every way to roll: the first of each way, chances, and ends."""
    turns = TurnTable(rules)
    first, chances, end = [0], list[float](), list[int]()
    ends: dict[End, int] = {}
    for one in ways_of(rules).ways:
        branches = turns.branches(rules.choices[one.action], one.throw) if one.action else [None]
        for branch in branches:
            # No dice score by the cell; what else ends with the same scores and record is one end.
            key = -1, one.throw.scores, one.bonus, one.forced
            if branch is not None:
                key = branch.points + one.bonus, branch.gift, branch.record, one.forced
            end.append(ends.setdefault(key, len(ends)))
            chances.append(float(branch.probability) if branch else 1.0)
        first.append(len(end))
    return np.array(first), np.array(chances), np.array(end), [*ends]


def _used_ends(way: Ints, first: Ints, end: Ints, count: int) -> NDArray[np.bool_]:
    """Which ends the ways of a situation have, (S, E)."""
    of_way = np.zeros((len(first) - 1, count), bool)
    of_way[np.repeat(np.arange(len(first) - 1), np.diff(first)), end] = True
    return np.stack([of_way[np.unique(ways)].any(axis=0) for ways in way])


def _ends_of_seat(rules: Rules, goal: int, other_goal: int, ends: list[End]) -> tuple[Ints, ...]:
    """Kind of landing, next cell and record of each end at each cell, (G * G, E) each.

    The goals are of the player to move and of the other.
    """
    size, land = rules.size, landings(rules)
    own, opponent = (axis.ravel() for axis in np.indices((size, size)))
    columns = []
    for points, gift, recorded, forced in ends:
        record: Ints | int = recorded
        earned: Ints | int = points
        given: Ints | int = gift
        if points < 0:  # no dice, which score by the cell
            free = free_turns(rules, gift)
            earned, given, record = (column.ravel() for column in free)
            earned = earned + recorded  # the bonus
        here = Landings(*(table[own + earned, opponent + given] for table in land))
        kind = decided(here, goal, other_goal)
        kind = np.where(kind == OTHER, AGAIN * forced, kind)
        stays, mine, yours = kind == AGAIN, here.own, here.opponent
        cell = np.where(stays, mine * size + yours, yours * size + mine)
        cell = np.where(kind >= WIN, 0, cell)
        columns.append((kind, cell, np.broadcast_to(record, kind.shape)))
    kind, cell, record = (np.stack(column, axis=1) for column in zip(*columns, strict=True))
    return kind, cell, record


def _cells(
    total: Ints, seats: list[tuple[Ints, ...]], used: NDArray[np.bool_], met: list[Any]
) -> Levels:
    """Sort cells into levels: by the total, which never falls, then by where turns that stay lead.

    `used` (G * G, E) are the ends of a cell, `met` (G * G,) the cells of each player.
    """
    edges = []
    for (kind, there, _), is_met in zip(seats, met, strict=True):
        stays = used & is_met[:, None] & (kind < WIN) & (total[there] == total[:, None])
        source, end = np.nonzero(stays)
        edges.append((source, there[source, end]))
    return levels_of(total, *(np.concatenate(ends) for ends in zip(*edges, strict=True)))
