"""What a compiler may know of a game: its terms, offsets and memories as constants of a type.

The generic kernels read them from the tables, term by term.  A kernel that is given a plan, whose
numba type carries the numbers themselves, is compiled for this one game, with every loop over terms
written out (:mod:`hogeq.kernels.unrolled`).  That takes some seconds, once for each game and
machine, so small games have none.
"""

from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.core.datamodel import models, register_default
from numba.extending import NativeValue, unbox

from hogeq.kernels.tables import Tables

WIDEST = 16  # lanes; so many vectors of so many lanes just fit in a core's registers
PIECE = 8  # lanes of one vector of the machine
SMALLEST = 1 << 20  # afterstates of a player; below this a pass takes less than a millisecond or two


class Term(NamedTuple):
    """An afterstate to which rolls lead, and how."""

    offset: int
    rolls: tuple[tuple[int, float], ...]
    """Every roll that leads there, and the weight of it."""


class Other(NamedTuple):
    """How some memories play a roll: an alternative."""

    roll: int
    far: int
    """1 if it adds the bonus, and so is found at another base."""
    offset: int
    members: tuple[int, ...]


class Constants(NamedTuple):
    """One game, or as much of it as is the same in every cell."""

    lanes: int
    rolls: int
    records: int
    active: int
    record_stride: int
    start: int
    sides: int
    ring: int
    depth: int
    """Most dice whose outcomes are summed one die at a time."""
    is_sum: tuple[bool, ...]
    """By roll: whether the sum counts for it, or is only a step to the next."""
    terms: tuple[Term, ...]
    usual: tuple[tuple[int, int], ...]
    """By roll, as most memories play it: far, offset."""
    others: tuple[Other, ...]
    most_points: int
    """No term leads further, and no bonus."""


def plan_of(tables: Tables, least: int = SMALLEST) -> "Plan | None":
    """Plan of a game that is worth it, or None.

    There are plans for games in which turns only swap what players remember, all cells are alike,
    one kind of dice is thrown, and no points are given away.

    Parameters
    ----------
    tables : Tables
    least : int
        Afterstates of a player below which it is not.
    """
    goal, rolls, records, active, bonus_ring, _ = tables.sizes
    lanes = len(tables.lane)
    fits = (
        tables.only_swaps
        and not tables.has_cycles
        and lanes % PIECE == 0
        and lanes <= WIDEST
        and len(tables.plane_dice) == 1
        and len(tables.default_mode) == 1
        and not tables.mend_gift.any()
        and tables.plane_needed.all()
    )
    if not fits or goal * goal * records * lanes < least:
        return None
    dice = int(tables.plane_dice[0])
    first, last = tables.mend_start[dice : dice + 2]
    terms = tuple(
        Term(
            int(tables.mend_offset[target]),
            tuple(
                (int(tables.mend_source[i]) // lanes, float(tables.mend_prob[i]))
                for i in range(tables.mend_first[target], tables.mend_first[target + 1])
            ),
        )
        for target in range(first, last)
    )
    others = []
    for roll in range(rolls):
        for other in range(*tables.alternative_start[0, roll : roll + 2]):
            members = tables.member_memory[slice(*tables.member_start[other : other + 2])]
            others.append(
                Other(
                    roll,
                    int(tables.alternative_far[other]),
                    int(tables.alternative_offset[other]),
                    tuple(map(int, members)),
                )
            )
    constants = Constants(
        lanes,
        rolls,
        records,
        active,
        tables.strides.records,
        tables.start,
        int(tables.sides[dice]),
        tables.sum_ring,
        int(tables.sum_depth[dice]),
        tuple(map(bool, tables.is_sum[dice])),
        terms,
        tuple(zip(tables.default_far[0].tolist(), tables.default_offset[0].tolist(), strict=True)),
        tuple(others),
        max(int(tables.mend_points[first:last].max(initial=0)), bonus_ring - 1),
    )
    return Plan(constants)


class PlanType(types.Type):
    """Type of a plan: kernels are compiled anew for every other plan, and cached by it."""

    def __init__(self, constants: Constants) -> None:
        self.constants = constants
        digest = sha256(repr(constants).encode()).hexdigest()[:16]
        super().__init__(name=f"Plan({digest})")


register_default(PlanType)(models.OpaqueModel)


class Plan:
    """What is handed to a kernel: nothing at run time, everything when it is compiled."""

    def __init__(self, constants: Constants) -> None:
        self._numba_type_ = PlanType(constants)


@unbox(PlanType)
def _unbox(kind: PlanType, value: Any, handed: Any) -> NativeValue:  # noqa: ARG001
    return NativeValue(handed.context.get_dummy_value())
