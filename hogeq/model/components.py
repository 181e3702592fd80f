"""Strongly connected components of cells, in games whose positions can recur."""

import numpy as np
from numpy.typing import NDArray

from hogeq.kernels.tables import Ints, Tables

MOST_UNKNOWNS = 256  # U of the largest component that is solved


def find_components(tables: Tables, lanes: int) -> Tables:
    """Find the components of a game and put them into its tables.

    Parameters
    ----------
    tables : Tables
        With `cycles.stay`, `leave` and `stay_offset`, but no components yet.
    lanes : int
        Lanes in use, without the padding.

    Returns
    -------
    Tables
        With `has_cycles` and the components set.

    Raises
    ------
    ValueError
        If a game could go on for ever, since rolls exist that together keep it within a
        component for certain, or if a component's chain has too many states.
    """
    goal, num_actions = tables.dimensions.goal, tables.dimensions.num_actions
    strides = tables.strides
    ends = 1 + int(tables.plane_again.max())
    cells = goal * goal
    lands = np.full((ends, goal, goal), -1)  # cell on which an afterstate (e, t, u) lands
    again = np.zeros((ends, goal, goal), np.int64)
    end, rest = np.divmod(tables.arrival_base - strides.origin, strides.ends)
    opponent, rest = np.divmod(rest, strides.columns)
    own = rest // strides.scores
    counts = np.diff(tables.arrival_start)
    lands[end, own, opponent] = np.repeat(np.arange(cells), counts)
    again[end, own, opponent] = tables.arrival_again

    # Edges: where a roll that stays leads, and whether it does so for certain.
    total = np.add.outer(np.arange(goal), np.arange(goal))
    landed = np.add(*np.divmod(lands, goal))
    inside = (lands >= 0) & (landed == total)
    usable = _plain_rolls(tables)
    idle = (tables.zero_points == 0) & (tables.zero_gift == 0)
    can = np.zeros((ends, goal, goal), bool)
    must = np.full((ends, goal, goal), -1)  # a roll that leads there for certain, or -1
    kept = set()
    for plane, (dice, last) in enumerate(zip(tables.plane_dice, tables.plane_again, strict=True)):
        for roll in range(num_actions):
            if roll == 0:
                stays, sure = idle, idle
            else:
                stays = np.full(goal, tables.cycles.stay[dice, roll] > 0.0)
                sure = np.full(goal, tables.cycles.leave[dice, roll] == 0.0)
            here = usable[tables.situation, roll, plane] & inside[last]
            can[last] |= here & stays
            must[last][here & sure] = roll
            if (here & stays).any():
                offsets = (
                    tables.zero_offset[idle] if roll == 0 else [tables.cycles.stay_offset[roll]]
                )
                kept |= {int(offset) // strides.records for offset in offsets}
    if not can.any():
        return tables

    end, own, opponent = np.nonzero(can)
    source, target = own * goal + opponent, lands[can]
    certain = must[can] >= 0
    trapped = _strong_components(cells, source[certain], target[certain])
    stuck = certain & (trapped[source] == trapped[target])
    if stuck.any():
        x = int(np.argmax(stuck))
        raise ValueError(
            f"a game could go on for ever: at scores {own[x]} and {opponent[x]}, rolling "
            f"{must[can][x]} dice leaves both as they were for certain, and so it can go on"
        )

    component_of = _strong_components(cells, source, target)
    looped = component_of[source] == component_of[target]
    depth = np.zeros(cells, np.int64)
    between = ~looped
    while True:
        deeper = depth.copy()
        np.maximum.at(
            deeper, component_of[source[between]], depth[component_of[target[between]]] + 1
        )
        if (deeper == depth).all():
            break
        depth = deeper
    order = np.lexsort((np.arange(cells), component_of, depth[component_of], -total.ravel()))
    starts = np.flatnonzero(np.diff(component_of[order], prepend=-1))
    place = np.zeros(cells, np.int64)  # of a component in the order, by its label
    place[component_of[order[starts]]] = np.arange(len(starts))

    recorded = np.array(sorted(kept))[:, None]
    lane = np.arange(lanes)
    end, own, opponent = (axis[looped][:, None, None] for axis in (end, own, opponent))
    position = strides.origin + end * strides.ends + opponent * strides.columns
    position = position + own * strides.scores + recorded * strides.records + lane
    shape = position.shape
    repeat = np.broadcast_to(again[can][looped][:, None, None], shape)
    arrives = np.broadcast_to(target[looped][:, None, None], shape)
    slot = tables.next_memory[repeat, recorded, lane].astype(np.int64)
    home = np.broadcast_to(place[component_of[source[looped]]][:, None, None], shape)
    by_component = np.argsort(home.ravel(), kind="stable")
    entry_start = np.searchsorted(home.ravel()[by_component], np.arange(len(starts) + 1))
    unknowns = 2 * int(np.diff(entry_start).max())
    if unknowns > MOST_UNKNOWNS:
        raise ValueError(
            f"{unknowns} unknowns where positions can recur, allowed are {MOST_UNKNOWNS}: too much "
            "is remembered of a turn that leaves both scores as they were"
        )
    entry_position = position.ravel()[by_component]
    left = [np.broadcast_to(x, shape).ravel() for x in (end, opponent, recorded, own)]
    entry_at = np.full(ends * strides.ends, -1, np.int64)
    entry_at[entry_position] = np.arange(len(entry_position))
    return tables._replace(
        has_cycles=True,
        cycles=tables.cycles._replace(
            component_start=np.append(starts, cells).astype(np.int64),
            component_cells=order.astype(np.int64),
            entry_start=entry_start.astype(np.int64),
            entry_position=entry_position,
            entry_from=np.stack(left, axis=1)[by_component].astype(np.int64),
            entry_cell=arrives.ravel()[by_component].astype(np.int64),
            entry_slot=slot.ravel()[by_component],
            entry_again=repeat.ravel()[by_component].astype(np.int64),
            entry_at=entry_at,
        ),
    )


def _plain_rolls(tables: Tables) -> NDArray[np.bool_]:
    """Whether a roll can be played on a plane without a bonus, by (situation, roll, plane)."""
    situations, num_actions = tables.default_mode.shape
    usable = np.zeros((situations, num_actions, len(tables.plane_dice)), bool)
    for place in range(situations):
        first, last = tables.exception_start[place, [0, -1]]
        roll = np.append(np.arange(num_actions), tables.exception_roll[first:last])
        mode = np.append(tables.default_mode[place], tables.exception_mode[first:last])
        plain = tables.mode_bonus[mode] == 0
        usable[place, roll[plain], tables.mode_plane[mode[plain]]] = True
    return usable


def _strong_components(cells: int, source: Ints, target: Ints) -> Ints:
    """Label the cells by strongly connected component; one without a loop has a label of its own.

    An edge from a cell to itself does not join it to anything, but the labels of its ends agree.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    edges = coo_array((np.ones(len(source), bool), (source, target)), shape=(cells, cells))
    _, labels = connected_components(edges, connection="strong")
    return np.asarray(labels, np.int64)
