"""Turns that stay: those that leave both scores as they were, in games computed by diagonals.

Cells of equal total then feed each other. Where nothing is remembered and the other player moves
next, they do so in pairs: a turn that stays at a cell leads to that cell or, the players having
changed, to its mirror image, of which one that stays leads back. So a pair is two equations with
two unknowns, and eight pairs are solved at once (:mod:`hogeq.kernels.stay_values`,
:mod:`hogeq.kernels.stay_reach`).

Symbols of shapes are those of :mod:`hogeq.kernels.diagonals`. Tables of cells are by total and
opponent's score, (2 G - 1, width).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.kernels.tables import Floats, Ints, Tables

Places = NDArray[np.int32]


class Stays(NamedTuple):
    """How turns stay, by diagonals; all arrays are empty in games without them."""

    dice: Floats  # 1 where a roll of no points and no gift stays on the diagonal
    zero: Floats  # 1 where no dice do
    can: Floats  # 1 where either can
    pair: Floats  # 1 where the cell to which this leads can stay too, and leads back
    # 1 where it can not, or leads elsewhere: what cells of pairs are worth comes first
    tail: Floats
    partner: Places  # opponent's score of that cell; where nothing stays, that of the cell itself
    share: Floats  # (S, K) probability that a roll stays, of those that `dice` is about
    leave: Floats  # (S, K) 1 - share, to the last digit
    tails: Ints  # (2 G - 1,) 1 if the diagonal has any
    beyond: Ints  # (2 G - 1,) 1 if a turn of no points and no gift can land on a later diagonal
    loops: Ints  # (2 G,) range of the components that are pairs ...
    component: Ints  # ... among those of :class:`hogeq.kernels.tables.Cycles`


def any_stays(tables: Tables) -> bool:
    """Whether a turn can leave both scores as they were, before landing rules."""
    cycles = tables.cycles
    return bool(cycles.stay.any() or cycles.zero_stays.any())


def pairs_suffice(tables: Tables) -> bool:
    """Whether turns that stay do so as this module takes for granted."""
    return not any_stays(tables) or (
        len(tables.memory_slot) == 1
        and len(np.unique(tables.plane_again)) == 1
        and not _landings(tables)[1].any()
    )


def _landings(tables: Tables) -> tuple[Ints, Ints]:
    """Opponent's score where afterstates, by both scores, land if on the same total; -1 if not.

    Also 1 if they do so and the same player moves again.
    """
    goal = tables.dimensions.goal
    lands, again = np.full((goal, goal), -1), np.zeros((goal, goal), np.int64)
    mover, other = np.divmod(np.repeat(np.arange(goal**2), np.diff(tables.arrival_start)), goal)
    opponent, own = np.divmod(tables.arrival_row, goal)
    stays = mover + other == own + opponent
    lands[own[stays], opponent[stays]] = other[stays]
    again[own[stays], opponent[stays]] = tables.arrival_again[stays]
    return lands, again


def stays_of(tables: Tables, width: int, situation: Ints, planes: Ints) -> Stays:
    """List the turns of a game that stay.

    Parameters
    ----------
    tables : Tables
    width : int
        Cells in a row.
    situation : int64 (2 G - 1,)
        Of every diagonal.
    planes : int64 (S, K)
        Plane of every roll, by situation.
    """
    goal, cycles = tables.dimensions.goal, tables.cycles
    totals = 2 * goal - 1
    kinds = tables.plane_dice[planes]
    rolls = np.arange(kinds.shape[1])
    share, leave = cycles.stay[kinds, rolls], cycles.leave[kinds, rolls]
    share[:, 0], leave[:, 0] = 0.0, 1.0
    if not any_stays(tables):
        none = np.zeros((0, width))
        nothing = np.zeros(0, np.int64)
        places = none.astype(np.int32)
        return Stays(none, none, none, none, none, places, share, leave, *[nothing] * 4)
    own, opponent = np.indices((goal, goal))
    total = own + opponent
    lands, _ = _landings(tables)
    rolled = (share > 0.0).any(axis=1)[situation[total]]
    idle = cycles.zero_stays[kinds[situation[total], 0], own, opponent] != 0
    inside = lands >= 0
    can = inside & (rolled | idle)
    partner = np.where(can, lands, opponent)
    back = partner[total - partner, partner]
    pair = can & can[total - partner, partner] & (back == opponent)

    def by_total(cells: NDArray[np.generic]) -> Floats:
        found = np.zeros((totals, width))
        found[total, opponent] = cells
        return found

    places = np.tile(np.arange(width), (totals, 1))
    places[total, opponent] = partner
    beyond, tails = np.zeros(totals, np.int64), np.zeros(totals, np.int64)
    np.maximum.at(beyond, total, (rolled | idle) & ~inside)
    np.maximum.at(tails, total, can & ~pair)
    looped = np.flatnonzero(np.diff(cycles.entry_start))
    first = cycles.component_cells[cycles.component_start[looped]]
    at = first // goal + first % goal
    order = np.argsort(at, kind="stable")
    return Stays(
        dice=by_total(inside & rolled),
        zero=by_total(inside & idle),
        can=by_total(can),
        pair=by_total(pair),
        tail=by_total(can & ~pair),
        partner=places.astype(np.int32),
        share=share,
        leave=leave,
        tails=tails,
        beyond=beyond,
        loops=np.searchsorted(at[order], np.arange(totals + 1)).astype(np.int64),
        component=looped[order].astype(np.int64),
    )
