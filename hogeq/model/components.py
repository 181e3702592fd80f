"""Strongly connected components of cells, in games whose positions can recur."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hogeq.kernels.tables import Tables
from hogeq.support.aliases import Ints

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
        If a game with hidden memory could go on for ever, since rolls exist that together keep it
        within a component for certain, or if a component's chain has too many states.
    """
    goal = tables.dimensions.goal
    lands, again = _landings(tables)
    can, must, records = _staying_turns(tables, lands)
    if not can.any():
        return tables
    end, own, opponent = np.nonzero(can)
    source, target = own * goal + opponent, lands[can]
    certain = _certain_turns(goal, source, target, must[can], again[can])
    if len(certain) and len(tables.memory_slot) > 1:
        scores = divmod(int(certain[0, 0]), goal)
        raise ValueError(
            f"a game could go on for ever: at scores {scores[0]} and {scores[1]}, rolling "
            f"{certain[0, 1]} dice leaves both as they were for certain, and so it can go on; "
            "allowed: only where nothing is hidden"
        )
    component_of = _strong_components(goal**2, source, target)
    looped = component_of[source] == component_of[target]
    order, starts = _backward_order(goal, component_of, source[~looped], target[~looped])
    place = np.zeros(goal**2, np.int64)  # of a component in the order, by its label
    place[component_of[order[starts]]] = np.arange(len(starts))
    entries = _entries(
        tables,
        lanes,
        records,
        [axis[looped] for axis in (end, own, opponent)],
        again[can][looped],
        target[looped],
        place[component_of[source[looped]]],
        len(starts),
    )
    return tables._replace(
        has_cycles=True,
        cycles=tables.cycles._replace(
            certain=certain,
            component_start=np.append(starts, goal**2).astype(np.int64),
            component_cells=order.astype(np.int64),
            **entries,
        ),
    )


def _landings(tables: Tables) -> tuple[Ints, Ints]:
    """Cell on which an afterstate lands, -1 if on none, and 1 if the mover moves again.

    Both by end (extra turn or not), own and opponent's score.
    """
    goal, strides = tables.dimensions.goal, tables.strides
    ends = 1 + int(tables.plane_again.max())
    lands = np.full((ends, goal, goal), -1)
    again = np.zeros((ends, goal, goal), np.int64)
    end, rest = np.divmod(tables.arrival_base - strides.origin, strides.ends)
    opponent, rest = np.divmod(rest, strides.columns)
    own = rest // strides.scores
    counts = np.diff(tables.arrival_start)
    lands[end, own, opponent] = np.repeat(np.arange(goal**2), counts)
    again[end, own, opponent] = tables.arrival_again
    return lands, again


def _staying_turns(tables: Tables, lands: Ints) -> tuple[NDArray[np.bool_], Ints, Ints]:
    """Whether a roll can leave the total score as it was, by (end, own, opponent's score).

    Also a roll that does so for certain, or -1, and the records that such rolls leave.
    """
    goal, strides = tables.dimensions.goal, tables.strides
    total = np.add.outer(np.arange(goal), np.arange(goal))
    landed = np.add(*np.divmod(lands, goal))
    inside = (lands >= 0) & (landed == total)
    usable = _plain_rolls(tables)
    idle = tables.cycles.zero_stays.astype(bool)
    can = np.zeros(lands.shape, bool)
    must = np.full(lands.shape, -1)
    kept = set()
    for plane, (dice, last) in enumerate(zip(tables.plane_dice, tables.plane_again, strict=True)):
        for roll in range(tables.dimensions.num_actions):
            if roll == 0:
                stays = sure = idle[dice]
            else:
                stays = np.full((goal, goal), tables.cycles.stay[dice, roll] > 0.0)
                sure = np.full((goal, goal), tables.cycles.leave[dice, roll] == 0.0)
            here = usable[tables.situation, roll, plane] & inside[last]
            can[last] |= here & stays
            must[last][here & sure] = roll
            if (here & stays).any():
                offsets = [tables.cycles.stay_offset[roll]]
                if roll == 0:
                    everywhere = np.broadcast_to(tables.zero_offset[dice], stays.shape)
                    offsets = everywhere[here & stays].tolist()
                kept |= {int(offset) // strides.records for offset in offsets}
    return can, must, np.array(sorted(kept))


def _certain_turns(goal: int, source: Ints, target: Ints, must: Ints, again: Ints) -> Ints:
    """List the turns that stay for certain and can follow each other for ever (see `Cycles`)."""
    certain = must >= 0
    trapped = _strong_components(goal**2, source[certain], target[certain])
    stuck = certain & (trapped[source] == trapped[target])
    return np.stack([source, must, target, again], axis=1)[stuck]


def _backward_order(goal: int, component_of: Ints, source: Ints, target: Ints) -> tuple[Ints, Ints]:
    """Order of the cells, each component after those it leads to, and where components begin.

    `source` and `target` are the edges between components.
    """
    total = np.add.outer(np.arange(goal), np.arange(goal))
    depth = np.zeros(goal**2, np.int64)
    while True:
        deeper = depth.copy()
        np.maximum.at(deeper, component_of[source], depth[component_of[target]] + 1)
        if (deeper == depth).all():
            break
        depth = deeper
    order = np.lexsort((np.arange(goal**2), component_of, depth[component_of], -total.ravel()))
    return order, np.flatnonzero(np.diff(component_of[order], prepend=-1))


def _entries(
    tables: Tables,
    lanes: int,
    records: Ints,
    left: list[Ints],
    again: Ints,
    target: Ints,
    home: Ints,
    components: int,
) -> dict[str, Any]:
    """List the entries of all components, as :class:`Cycles` has them.

    Of the turns, n, that stay within a component: `left` is end, own and opponent's score, (n,)
    each, `target` the cell on which they land, `home` the component.
    """
    strides = tables.strides
    recorded, lane = records[:, None], np.arange(lanes)
    end, own, opponent = (axis[:, None, None] for axis in left)
    position = strides.origin + end * strides.ends + opponent * strides.columns
    position = position + own * strides.scores + recorded * strides.records + lane
    shape = position.shape

    def repeated(column: Ints) -> Ints:
        return np.broadcast_to(column[:, None, None], shape)

    slot = tables.next_memory[repeated(again), recorded, lane].astype(np.int64)
    by_component = np.argsort(repeated(home).ravel(), kind="stable")
    start = np.searchsorted(repeated(home).ravel()[by_component], np.arange(components + 1))
    unknowns = 2 * int(np.diff(start).max())
    if unknowns > MOST_UNKNOWNS:
        raise ValueError(
            f"{unknowns} unknowns where positions can recur; allowed: {MOST_UNKNOWNS}: too much "
            "is remembered of a turn that leaves both scores as they were"
        )
    entry_position = position.ravel()[by_component]
    entry_from = [np.broadcast_to(x, shape).ravel() for x in (end, opponent, recorded, own)]
    entry_at = np.full((1 + int(tables.plane_again.max())) * strides.ends, -1, np.int64)
    entry_at[entry_position] = np.arange(len(entry_position))
    cells = repeated(target).ravel()[by_component].astype(np.int64)
    slots = slot.ravel()[by_component]
    first = np.repeat(start[:-1], np.diff(start))
    found = {
        "entry_position": entry_position,
        "entry_from": np.stack(entry_from, axis=1)[by_component].astype(np.int64),
        "entry_cell": cells,
        "entry_slot": slots,
        "entry_again": repeated(again).ravel()[by_component].astype(np.int64),
        **_moves(tables, cells, slots, first, entry_at),
    }
    return {"entry_start": start.astype(np.int64), **_cores_first(found, first, start)}


def _cores_first(found: dict[str, NDArray[Any]], first: Ints, start: Ints) -> dict[str, Any]:
    """Sort the entries of every component: first those to which its moves lead."""
    leads = found["move_stay"] > 0.0
    is_core = np.zeros(len(first), bool)
    is_core[(found["move_to"] + first[:, None])[leads]] = True
    order = np.lexsort((~is_core, first))
    place = np.argsort(order)
    moved = {name: column[order] for name, column in found.items()}
    to = place[moved["move_to"] + first[:, None]] - first[:, None]
    moved["move_to"] = np.where(leads[order], to, 0)
    cores = np.diff(np.append(0, np.cumsum(is_core))[start])
    return {"core_end": start[:-1] + cores, **moved}


def _moves(
    tables: Tables, cells: Ints, slots: Ints, first: Ints, entry_at: Ints
) -> dict[str, NDArray[Any]]:
    """Say what every roll does at the entries, n, as :class:`Cycles` has it.

    `cells` and `slots` are those of the entries, `first` the first entry of the same component.
    """
    goal, ring, strides = tables.dimensions.goal, tables.dimensions.ring, tables.strides
    width, planes = len(tables.lane), len(tables.plane_dice)
    own, opponent = (axis[:, None] for axis in np.divmod(cells, goal))
    lane = slots[:, None] % width
    modes = _modes(tables, cells, *np.divmod(slots, width))
    roll = np.arange(modes.shape[1])
    far, plane = tables.mode_bonus[modes] > 0, tables.mode_plane[modes]
    base = (own + np.where(far, ring - 1, 0)) % ring
    row = ((opponent * ring + base) * planes + plane) * len(roll) + roll
    dice = tables.plane_dice[plane]
    stay, leave = tables.cycles.stay[dice, roll], tables.cycles.leave[dice, roll]
    offset = np.broadcast_to(tables.cycles.stay_offset, modes.shape).copy()
    none = dice[:, 0], own[:, 0], opponent[:, 0]
    stay[:, 0] = tables.cycles.zero_stays[none] != 0
    leave[:, 0] = 1.0 - stay[:, 0]
    offset[:, 0] = np.broadcast_to(tables.zero_offset, (len(tables.zero_offset), goal, goal))[none]
    after = strides.origin + tables.plane_again[plane] * strides.ends
    after += opponent * strides.columns + own * strides.scores + offset + lane
    stays = (stay > 0.0) & ~far
    to = entry_at[np.where(stays, after, 0)]
    stays &= to >= 0
    return {
        "move_stay": np.where(stays, stay, 0.0),
        "move_leave": np.where(stays, leave, 1.0),
        "move_to": np.where(stays, to - first[:, None], 0),
        "move_at": row * width + lane,
    }


def _modes(tables: Tables, cells: Ints, memory: Ints, lane: Ints) -> Ints:
    """How each roll plays, (n, K), at n cells with an active memory and a lane each."""
    situation = tables.situation.ravel()[cells].astype(np.int64)
    modes = tables.default_mode[situation]
    for place, active in np.unique(np.stack([situation, memory]), axis=1).T:
        here = (situation == place) & (memory == active)
        for x in range(*tables.exception_start[place, [active, active + 1]]):
            inside = (tables.exception_low[x] <= lane) & (lane < tables.exception_high[x])
            modes[here & inside, tables.exception_roll[x]] = tables.exception_mode[x]
    return modes


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
