"""The graph of a game of Hog: both players live, and a fair coin says who moves first."""

from dataclasses import replace
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.graph.graph import Graph
from hogeq.graph.levels import levels_of
from hogeq.graph.turns import (
    AGAIN,
    OTHER,
    WIN,
    landing_kinds,
    landings,
    lanes_of,
    no_dice_turns,
    ways_of,
)
from hogeq.rules import Rules
from hogeq.rules.memory import Memory, all_memories
from hogeq.rules.turn import TurnTable
from hogeq.support.aliases import Floats, Ints

ENDLESS: Final = 0.5  # payoff of a game that never ends: it is a draw
NO_DICE: Final = -1  # stands for the points of rolling no dice, which depend on the cell
BATCH_SIZE: Final = 1024  # positions in a batch, which bounds the memory for their ends


@lru_cache(maxsize=4)
def of_hog(rules: Rules) -> Graph:
    """Compile the rules of Hog to a graph.

    Player 0 has the first goal, if there are two. A position is a cell, scores of who moves and of
    the other, and the player who moves; its row is the cell, own score * G + opponent's score, so
    that one table (G, G) plays both seats. The payoff of a win is 1, of a loss 0.

    A *place* is an index of the flat tables of landings: scores after a turn, and whether the turn
    forces another. E is the number of ends.

    1. List ways, outcomes and ends, and the place of each end in each cell.
    2. Sort cells into levels by total score; turns that do not change it are edges between cells.
    3. Number positions, and look up the next position of each end.
    """
    goals, size = rules.goals, rules.size
    rules = replace(rules, goal=size)
    ways, lanes = ways_of(rules), lanes_of(rules)
    situation = ways.situation.ravel()  # (G * G,)
    first, chance, end, ends = _outcomes(rules)
    places, records, level_ends = _landing_places(rules, ends)
    own, opponent = (axis.ravel() for axis in np.indices((size, size)))
    total = own + opponent
    seat_goals = goals, goals[::-1]  # the mover's, then the other's
    successors = [_successors(rules, *pair) for pair in seat_goals]
    is_below_goals = [(own < goal) & (opponent < other) for goal, other in seat_goals]
    is_used = _used_ends(ways.way_number, first, end, len(ends))[:, level_ends]
    edges = []
    for (kind, next_cell), is_below in zip(successors, is_below_goals, strict=True):
        is_possible = is_used[situation] & is_below[:, None]
        edges.append(_edges_of_total(total, kind, next_cell, places[:, level_ends], is_possible))
    source, target = (np.concatenate(cells) for cells in zip(*edges, strict=True))
    level_of = levels_of(total, source, target)
    positions = _number_positions(level_of, is_below_goals)
    following, label = _next_of_ends(
        positions, places, records, successors, num_records=lanes.next_memory.shape[1]
    )
    cell = positions.cell
    _, level_start = np.unique(level_of[cell], return_index=True)
    recurs = bool((level_of[source] == level_of[target]).any())
    no_memory = all_memories(rules).index(Memory())
    return Graph.unchecked(
        level=np.append(level_start, len(cell)),
        player=positions.mover,
        row=cell,
        fixed=np.zeros((0, rules.num_actions)),
        situation=situation[cell],
        way=ways.way_number,
        lane=lanes.memory_lane,
        following=lanes.next_memory.reshape(-1, lanes.next_memory.shape[2]),
        first=first,
        chance=chance,
        end=end,
        place=np.arange(len(cell)) * len(ends),
        next=following.ravel(),
        label=label.ravel(),
        payoff=np.array([0.0, 1.0]),
        start=np.stack([positions.number[:, 0], [no_memory, no_memory]], axis=1),
        start_chance=np.array([0.5, 0.5]),
        total=1.0,
        endless=ENDLESS if recurs else None,
    )


class _Positions(NamedTuple):
    """Positions: cells in order of their levels, and for each the players who can move there."""

    cell: Ints  # (C,)
    mover: Ints  # (C,)
    number: NDArray[np.int32]  # (2, G * G), of the position by mover and cell


def _number_positions(level_of: Ints, is_below_goals: list[NDArray[np.bool_]]) -> _Positions:
    """Assign numbers to the positions of cells, pairs of scores, in order of levels, (G * G,).

    A player can move at the cells at which both scores are below the goals, (G * G,) by player.
    """
    order = np.argsort(level_of, kind="stable")
    is_position = np.stack(is_below_goals, axis=1)[order]  # (G * G, 2)
    index, mover = np.nonzero(is_position)
    cell = order[index]
    number = np.zeros((2, len(level_of)), np.int32)
    number[mover, cell] = np.arange(len(cell))
    return _Positions(cell, mover, number)


def _next_of_ends(
    positions: _Positions,
    places: NDArray[np.int32],
    records: NDArray[np.int16],
    successors: list[tuple[Ints, Ints]],
    num_records: int,
) -> tuple[NDArray[np.int32], NDArray[np.int16]]:
    """Look up next position and label of each of E ends of a turn at each position, (C, E).

    A position below 0 is a payoff. A label encodes the record of the turn and whether the same
    player moves again. `places` and `records`, of each end at each cell, are of
    :func:`_landing_places`; `successors` are those of each mover, by place.
    """
    next_position, moves_again = _next_positions(successors, positions.number)
    num_places = len(next_position) // 2  # of one mover
    num_positions, num_ends = len(positions.cell), places.shape[1]
    following = np.empty((num_positions, num_ends), np.int32)
    label = np.empty((num_positions, num_ends), np.int16)
    for low in range(0, num_positions, BATCH_SIZE):
        batch = slice(low, low + BATCH_SIZE)
        cell, mover = positions.cell[batch], positions.mover[batch]
        place_of_mover = places[cell] + (mover * num_places)[:, None]
        following[batch] = next_position[place_of_mover]
        learned = records[cell] + moves_again[place_of_mover] * num_records
        label[batch] = np.where(following[batch] < 0, 0, learned)  # payoffs need no label
    return following, label


End = tuple[int, int, int, bool]
"""An end, wherever a turn with it begins: points, gift and record of the turn, and whether the turn
forces another. No dice have `NO_DICE`, how the memory changes points, and a bonus in their place.
"""


@lru_cache(maxsize=4)
def _outcomes(rules: Rules) -> tuple[Ints, Floats, Ints, list[End]]:
    """List the outcomes of every way to roll: an action with its dice, bonus and extra turn.

    Returns the first outcome of each way, (W + 1,), the probability and the number of the end of
    each outcome, and the ends.
    """
    turns = TurnTable(rules)
    first = [0]
    chances: list[float] = []
    end_of_outcome: list[int] = []
    numbers: dict[End, int] = {}
    for way in ways_of(rules).ways:
        if way.action == 0:
            # The score of no dice depends on the cell: the end says how, not how much.
            outcomes = [((NO_DICE, way.throw.way_to_score, way.bonus, way.forced), 1.0)]
        else:
            # What ends with the same scores and record is one end.
            outcomes = [
                (
                    (branch.points + way.bonus, branch.gift, branch.record, way.forced),
                    float(branch.probability),
                )
                for branch in turns.branches(rules.choices[way.action], way.throw)
            ]
        for end, probability in outcomes:
            end_of_outcome.append(numbers.setdefault(end, len(numbers)))
            chances.append(probability)
        first.append(len(end_of_outcome))
    return np.array(first), np.array(chances), np.array(end_of_outcome), [*numbers]


def _used_ends(way: Ints, first: Ints, end: Ints, num_ends: int) -> NDArray[np.bool_]:
    """Which of the E ends of a turn the ways of each situation, a kind of position, have, (S, E).

    `way`, (S, H, K), are the ways of each situation; the outcomes of way w are those from
    ``first[w]`` on, and `end` is the end of each.
    """
    num_ways = len(first) - 1
    has_end = np.zeros((num_ways, num_ends), bool)
    has_end[np.repeat(np.arange(num_ways), np.diff(first)), end] = True
    return np.stack([has_end[np.unique(ways)].any(axis=0) for ways in way])


def _landing_places(
    rules: Rules, ends: list[End]
) -> tuple[NDArray[np.int32], NDArray[np.int16], Ints]:
    """Find the place and the record of each end of each cell, (G * G, E).

    An end is what a turn adds to the scores, a record what is remembered of it. A place is (own
    score * width + opponent's score) after the turn, in the table of landings; a second such table
    follows, for turns that force another. Returned are, last, the ends that can leave the total
    score as it was, (n,).
    """
    height, width = landings(rules).kind.shape
    own, opponent = (axis.ravel() for axis in np.indices((rules.size, rules.size)))
    points, gift, end_record, forced = np.array(ends, np.int64).T
    is_no_dice = points == NO_DICE
    offset = points * width + gift  # from the place of the scores before the turn
    offset[is_no_dice] = 0
    offset = (offset + forced * height * width).astype(np.int32)
    places = (own * width + opponent).astype(np.int32)[:, None] + offset
    records = np.repeat(end_record.astype(np.int16)[None], len(places), axis=0)
    raises_total = points + gift > 0
    for end in np.flatnonzero(is_no_dice):
        # The other fields of an end of no dice: how memory changes points, and the bonus.
        way_to_score, bonus = int(gift[end]), end_record[end]
        turns = no_dice_turns(rules, way_to_score)
        cell_points, cell_gift, record = (column.ravel() for column in turns)
        cell_points = cell_points + bonus
        places[:, end] += cell_points * width + cell_gift
        records[:, end] = record
        raises_total[end] = (cell_points + cell_gift > 0).all()
    return places, records, np.flatnonzero(~raises_total)  # no landing lowers a total


def _successors(rules: Rules, goal: int, other_goal: int) -> tuple[Ints, Ints]:
    """Find where each place leads, for a mover with `goal` against one with `other_goal`.

    A place is an index of the flat table of landings, or of its second copy: that is for turns
    that force another, in which the mover moves again unless the game is over.

    Returns by place, (places,), the kind of landing and the cell of who moves next, 0 where the
    game is over.
    """
    ends = landings(rules)
    kind = landing_kinds(ends, goal, other_goal).ravel()
    forced_kind = np.where(kind == OTHER, AGAIN, kind)
    kinds = np.concatenate([kind, forced_kind])
    own, opponent = np.tile(ends.own_score.ravel(), 2), np.tile(ends.opponent_score.ravel(), 2)
    moves_again = kinds == AGAIN
    next_own = np.where(moves_again, own, opponent)
    next_opponent = np.where(moves_again, opponent, own)
    cell = next_own * rules.size + next_opponent
    is_over = kinds >= WIN  # WIN or LOSS
    return kinds, np.where(is_over, 0, cell)


def _edges_of_total(
    total: Ints,
    kind: Ints,
    next_cell: Ints,
    places: NDArray[np.int32],
    is_possible: NDArray[np.bool_],
) -> tuple[Ints, Ints]:
    """List the turns, from cell to cell, that leave the total score as it is.

    `total` is that of each cell; `kind` and `next_cell`, by place, are of :func:`_successors`;
    `places` and `is_possible` are by cell and end, (G * G, n). Returns the cells before and after
    each turn.
    """
    goes_on = kind[places] < WIN
    keeps_total = total[next_cell[places]] == total[:, None]
    source, end = np.nonzero(is_possible & goes_on & keeps_total)
    return source, next_cell[places[source, end]]


def _next_positions(
    successors: list[tuple[Ints, Ints]], number: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int16]]:
    """Look up the next position by mover and place, (2 * places,), and whether the mover stays.

    A place is an index of the table of scores after a turn, where `kind` says who moves next or has
    won, and `cell` is the number of both scores. The end of the game is -1 - t for payoff t of
    player 0, 0 or 1. The second array is 1 where the same player moves again. `successors` are
    those of each mover; `number`, (2, G * G), are positions by the player who moves and the cell.
    """
    following, moves_again = [], []
    for mover, (kind, cell) in enumerate(successors):
        player_0_wins = (kind == WIN) == (mover == 0)  # where the game is over
        payoff = np.where(player_0_wins, 1, 0)
        position = np.where(kind == AGAIN, number[mover, cell], number[1 - mover, cell])
        following.append(np.where(kind >= WIN, -1 - payoff, position))
        moves_again.append(kind == AGAIN)
    return np.concatenate(following, dtype=np.int32), np.concatenate(moves_again, dtype=np.int16)
