"""Positions that recur: cells that feed each other by turns that leave the total as it was."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.kernels.recurring import Loops
from hogeq.model.turn_lists import AGAIN, WIN, TurnLists, turn_lists
from hogeq.rules import Rules
from hogeq.rules.turn import total_rises
from hogeq.support.aliases import Ints

MOST_UNKNOWNS = 256  # hidden states of a component that turns which stay lead to, by both players


class Recurrence(NamedTuple):
    """How positions of a game recur."""

    loops: Loops
    certain: Ints
    """(n, 4), turns that stay for certain and can follow each other for ever: cell, roll, cell on
    which it lands, 1 if the same player moves again."""


class _Stays(NamedTuple):
    """Turns that leave the total score as it was: their first outcomes do."""

    source: Ints
    way: Ints
    target: Ints
    again: Ints
    record: Ints


def find_recurrence(rules: Rules) -> Recurrence | None:
    """Find how positions of a game recur; None if they do not.

    Raises
    ------
    ValueError
        If a game with hidden memory could go on for ever, since rolls exist that together keep it
        within a component for certain, or if a component's chain has too many states.
    """
    if total_rises(replace(rules, goal=rules.size)):
        return None
    turns = turn_lists(rules)
    stays = _stays(turns)
    if not len(stays.source):
        return None
    certain = _certain_turns(turns, stays)
    if len(certain) and turns.place.shape[2] > 1:
        scores = divmod(int(certain[0, 0]) % rules.size**2, rules.size)
        raise ValueError(
            f"a game could go on for ever: at scores {scores[0]} and {scores[1]}, rolling "
            f"{certain[0, 1]} dice leaves both as they were for certain, and so it can go on; "
            "allowed: only where nothing is hidden"
        )
    cells = len(turns.situation)
    label = _strong_components(cells, stays.source, stays.target)
    inside = label[stays.source] == label[stays.target]
    order, start = _backward_order(turns, label, stays.source[~inside], stays.target[~inside])
    home = np.zeros(cells, np.int64)
    home[order] = np.repeat(np.arange(len(start)), np.diff(np.append(start, cells)))
    inner = _Stays(*(column[inside] for column in stays))
    everywhere = np.ones((cells, turns.place.shape[2]), bool)
    entered = _entered_from(turns, inner, everywhere)
    core = _entered_from(turns, inner, entered)
    component = np.full(cells, -1)
    component[inner.source] = home[inner.source]
    unknowns = 2 * int(np.bincount(home, entered.sum(axis=1)).max())
    if unknowns > MOST_UNKNOWNS:
        raise ValueError(
            f"{unknowns} unknowns where positions can recur; allowed: {MOST_UNKNOWNS}: too much "
            "is remembered of a turn that leaves both scores as they were"
        )
    cell, memory = np.nonzero(entered)
    place = np.empty(cells, np.int64)
    place[order] = np.arange(cells)
    by_component = np.lexsort((memory, place[cell], ~core[cell, memory], home[cell]))
    cell, memory = cell[by_component], memory[by_component]
    first = np.searchsorted(home[cell], np.arange(len(start) + 1))
    number = np.zeros(entered.shape, np.int32)
    number[cell, memory] = np.arange(len(cell)) - first[home[cell]]
    loops = Loops(
        start=np.append(start, cells),
        cells=order,
        component=component,
        number=number,
        entered=first,
        core=np.bincount(home[cell], core[cell, memory], len(start)).astype(np.int64),
        member=place[cell] - start[home[cell]],
        memory=memory,
        **_moves(turns, component, number, cell, memory),
    )
    return Recurrence(loops, certain)


def _moves(
    turns: TurnLists, component: Ints, number: NDArray[np.int32], cell: Ints, memory: Ints
) -> dict[str, NDArray[Any]]:
    """Say what every roll does at the entered states, as :class:`Loops` has it."""
    place = turns.place[turns.situation[cell], :, memory]
    way, lane = np.divmod(place, turns.following.shape[2])
    end, cell = turns.end[turns.first[way]], cell[:, None]
    there, again = turns.cell[cell, end], (turns.kind[cell, end] == AGAIN).astype(np.uint8)
    stays = (turns.kind[cell, end] < WIN) & (component[there] == component[cell])
    follow = turns.following[again, turns.record[cell, end], lane]
    return {
        "place": place,
        "stay": np.where(stays, turns.chance[turns.first[way]], 0.0),
        "leave": np.where(stays, turns.later[way], 1.0),
        "to": np.where(stays, number[there, follow], 0).astype(np.int64),
        "again": again,
    }


def _stays(turns: TurnLists) -> _Stays:
    """List the turns that leave the total score as it was, by cell and way to roll."""
    end = turns.end[turns.first[:-1]]
    kind, there = turns.kind[:, end], turns.cell[:, end].astype(np.int64)
    total = turns.scores.sum(axis=1)
    stays = (kind < WIN) & (total[there] == total[:, None])
    source, way = np.nonzero(stays & (turns.usable[turns.situation] > 0))
    place = source, way
    record = turns.record[:, end].astype(np.int64)[place]
    return _Stays(source, way, there[place], (kind[place] == AGAIN).astype(np.int64), record)


def _certain_turns(turns: TurnLists, stays: _Stays) -> Ints:
    """List the turns that stay for certain and can follow each other for ever."""
    certain = turns.later[stays.way] == 0.0
    trapped = _strong_components(len(turns.situation), stays.source[certain], stays.target[certain])
    stuck = certain & (trapped[stays.source] == trapped[stays.target])
    dice = turns.dice[stays.way]
    return np.stack([stays.source, dice, stays.target, stays.again], axis=1)[stuck]


def _entered_from(turns: TurnLists, stays: _Stays, states: Ints) -> Ints:
    """States, (C, H), to which turns that stay lead from some states, (C, H)."""
    found = np.zeros_like(states)
    for way in np.unique(stays.way):
        here = stays.way == way
        source, target, again, record = (
            column[here] for column in (stays.source, stays.target, stays.again, stays.record)
        )
        ways, lanes = np.divmod(turns.place, turns.following.shape[2])
        rolls = (ways == way).any(axis=1)  # (S, H)
        turn, memory = np.nonzero(states[source] & rolls[turns.situation[source]])
        follow = turns.following[again[turn], record[turn], lanes[0, 0][memory]]
        found[target[turn], follow] = True
    return found


def _backward_order(
    turns: TurnLists, component_of: Ints, source: Ints, target: Ints
) -> tuple[Ints, Ints]:
    """Order of the cells, each component after those it leads to, and where components begin.

    `source` and `target` are the edges between components.
    """
    total = turns.scores.sum(axis=1)
    depth = np.zeros(len(total), np.int64)
    while True:
        deeper = depth.copy()
        np.maximum.at(deeper, component_of[source], depth[component_of[target]] + 1)
        if (deeper == depth).all():
            break
        depth = deeper
    order = np.lexsort((np.arange(len(total)), component_of, depth[component_of], -total))
    return order, np.flatnonzero(np.diff(component_of[order], prepend=-1))


def _strong_components(cells: int, source: Ints, target: Ints) -> Ints:
    """Label the cells by strongly connected component."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    edges = coo_array((np.ones(len(source), bool), (source, target)), shape=(cells, cells))
    _, labels = connected_components(edges, connection="strong")
    return np.asarray(labels, np.int64)
