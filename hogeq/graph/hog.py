"""The graph of a game of Hog: both players live, and a fair coin says who moves first."""

from dataclasses import replace
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hogeq.graph.graph import Graph
from hogeq.graph.levels import levels_of
from hogeq.graph.turns import (
    AGAIN,
    OTHER,
    WIN,
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
AT_ONCE: Final = 1024  # positions whose ends are found at once


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
    own, opponent = (axis.ravel() for axis in np.indices((size, size)))
    places, records, far = _places(rules, ends)
    seats = [_landed(rules, goals[seat], goals[1 - seat]) for seat in (0, 1)]
    met = [(own < goals[seat]) & (opponent < goals[1 - seat]) for seat in (0, 1)]
    used = _used_ends(way, first, end, len(ends))[:, far]
    edges = [
        _edges(own + opponent, *seat, places[:, far], used[situation.ravel()] & is_met[:, None])
        for seat, is_met in zip(seats, met, strict=True)
    ]
    source, target = (np.concatenate(cells) for cells in zip(*edges, strict=True))
    order, begins = levels_of(own + opponent, source, target)
    is_met = np.stack(met, axis=1)[order]
    index, mover = np.nonzero(is_met)
    cell = order[index]
    number = np.zeros((2, size**2), np.int32)
    number[mover, cell] = np.arange(len(cell))
    there, again = (
        np.concatenate(tables)
        for tables in zip(*map(_following, seats, (0, 1), (number, number[::-1])), strict=True)
    )
    after = np.empty((len(cell), len(ends)), np.int32)
    label = np.empty((len(cell), len(ends)), np.int16)
    for low in range(0, len(cell), AT_ONCE):
        some = slice(low, low + AT_ONCE)
        at = places[cell[some]] + (mover[some] * (len(there) // 2))[:, None]
        after[some] = there[at]
        learned = records[cell[some]] + again[at] * lanes.following.shape[1]
        label[some] = np.where(after[some] < 0, 0, learned)
    before = np.append(0, np.cumsum(is_met.sum(axis=1)))  # positions before each cell
    level_of = np.zeros(size**2, np.int64)
    level_of[order] = np.repeat(np.arange(len(begins) - 1), np.diff(begins))
    recurs = bool((level_of[source] == level_of[target]).any())
    nothing = all_memories(rules).index(Memory())
    return Graph.unchecked(
        level=np.unique(before[begins]),
        player=mover,
        row=cell,
        fixed=np.zeros((0, rules.num_actions)),
        situation=situation.ravel()[cell],
        way=way,
        lane=lanes.lane,
        following=lanes.following.reshape(-1, lanes.following.shape[2]),
        first=first,
        chance=chance,
        end=end,
        place=np.arange(len(cell)) * len(ends),
        next=after.ravel(),
        label=label.ravel(),
        payoff=np.array([0.0, 1.0]),
        start=np.stack([number[:, 0], [nothing, nothing]], axis=1),
        start_chance=np.array([0.5, 0.5]),
        total=1.0,
        endless=ENDLESS if recurs else None,
    )


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


def _places(rules: Rules, ends: list[End]) -> tuple[NDArray[np.int32], NDArray[np.int16], Ints]:
    """Where each end of each cell leads in flat tables of landings: (G * G, E).

    A second table follows the first, for turns that force another. Then the records of ends,
    likewise, and which ends can leave the total score as it was, (n,).
    """
    height, width = landings(rules).kind.shape
    own, opponent = (axis.ravel() for axis in np.indices((rules.size, rules.size)))
    points, gift, records, forced = np.array(ends, np.int64).T
    is_free = points < 0  # no dice, which score by the cell
    forward = points * width + gift
    forward[is_free] = 0
    ahead = (forward + forced * height * width).astype(np.int32)
    found = (own * width + opponent).astype(np.int32)[:, None] + ahead
    kept = np.repeat(records.astype(np.int16)[None], len(found), axis=0)
    rises = points + gift > 0
    for end in np.flatnonzero(is_free):
        earned, given, record = (column.ravel() for column in free_turns(rules, int(gift[end])))
        earned = earned + records[end]  # the bonus
        found[:, end] += earned * width + given
        kept[:, end] = record
        rises[end] = (earned + given > 0).all()
    return found, kept, np.flatnonzero(~rises)  # landings lower no total


def _landed(rules: Rules, goal: int, other_goal: int) -> tuple[Ints, Ints]:
    """Kind of landing and next cell by place, where the mover has a goal and the other has one."""
    ends = landings(rules)
    kind = decided(ends, goal, other_goal).ravel()
    kinds = np.concatenate([kind, np.where(kind == OTHER, AGAIN, kind)])
    own, opponent = (np.tile(scores.ravel(), 2) for scores in (ends.own, ends.opponent))
    stays = kinds == AGAIN
    cell = np.where(stays, own, opponent) * rules.size + np.where(stays, opponent, own)
    return kinds, np.where(kinds >= WIN, 0, cell)


def _edges(
    total: Ints, kind: Ints, cell: Ints, places: NDArray[np.int32], is_used: NDArray[np.bool_]
) -> tuple[Ints, Ints]:
    """List the edges between cells of one total, along `places` (G * G, n) that are used."""
    goes_on, after = kind[places] < WIN, cell[places]
    source, end = np.nonzero(is_used & goes_on & (total[after] == total[:, None]))
    return source, after[source, end]


def _following(
    seat: tuple[Ints, Ints], mover: int, number: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int16]]:
    """Next position, or payoff, by place, and whether the same player moves there.

    `number` (2, G * G) has the positions of cells: of the mover, then of the other.
    """
    kind, cell = seat
    won = (kind == WIN) == (mover == 0)  # payoff 1 of two, else payoff 0
    goes_on = np.where(kind == AGAIN, number[0, cell], number[1, cell])
    after = np.where(kind >= WIN, -1 - won, goes_on)
    return after.astype(np.int32), (kind == AGAIN).astype(np.int16)
