"""How rolls can play in each hidden state: kinds of dice, bonuses, forced extra turns."""

from collections import Counter
from itertools import groupby, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.model.layout import Layout
from hogeq.rules.memory import Memory
from hogeq.rules.outcomes import TurnTable
from hogeq.support.aliases import Ints

Mode = tuple[int, int, bool]  # kind of turn, bonus, whether the roll forces an extra turn


class TurnKind(NamedTuple):
    """What rolls from a base score, and no dice from its cell."""

    sides: int
    """Of the dice."""
    extra: int
    """Bonus that no dice earn: where what they score depends on the mover's own score, a bonus on
    them is not the same as a base further on."""


def find_modes(
    layout: Layout, turns: TurnTable, *, own_counts: bool
) -> tuple[list[TurnKind], NDArray[np.uint8], list[Mode], Ints]:
    """Find how rolls can play.

    Parameters
    ----------
    layout : Layout
    turns : TurnTable
    own_counts : bool
        Whether what no dice score depends on the mover's own score.

    Returns
    -------
    kinds : list of TurnKind, length D
    situation : uint8 (G, G)
        Of every cell.
    modes : list of Mode, length M
    chosen : int64 (S, J, lanes, K)
        Mode of every roll, by situation, active memory and lane.

    Raises
    ------
    ValueError
        If bonuses differ in size.
    """
    rules, goal = layout.rules, layout.goal
    seen: dict[tuple[int, ...], int] = {}
    situation = np.zeros((goal, goal), np.uint8)
    example: list[tuple[int, int]] = []
    usually = [Memory(extra=extra) for extra in range(layout.extras)]
    for own, opponent in product(range(goal), repeat=2):
        usual = tuple([turns.dice_sides(own, opponent, memory) for memory in usually])
        if usual not in seen:
            seen[usual] = len(seen)
            example.append((own, opponent))
        situation[own, opponent] = seen[usual]
    kinds = [TurnKind(sides, 0) for sides in sorted(set().union(*seen))]
    modes: list[Mode] = []
    chosen = np.zeros((len(seen), layout.active, layout.lanes, rules.max_dice + 1), np.int64)
    for place, (own, opponent) in enumerate(example):
        for active, lane in product(range(layout.active), range(layout.lanes)):
            memory = layout.memory(active, lane)
            sides = turns.dice_sides(own, opponent, memory)
            for roll in range(rules.max_dice + 1):
                extra, forced = turns.memory_effect(memory, roll)
                kind = TurnKind(sides, 0)
                if own_counts and roll == 0 and extra:
                    kind, extra = TurnKind(sides, extra), 0
                    if kind not in kinds:
                        kinds.append(kind)
                mode = (kinds.index(kind), extra, forced)
                if mode not in modes:
                    modes.append(mode)
                chosen[place, active, lane, roll] = modes.index(mode)
    if len({extra for _, extra, _ in modes} - {0}) > 1:
        raise ValueError("rules: bonuses of different sizes cannot be compiled together")
    return kinds, situation, modes, chosen


def find_exceptions(layout: Layout, chosen: Ints) -> tuple[Ints, dict[str, Any]]:
    """Split modes into the most common one of every roll and the exceptions to it."""
    situations, active, _, rolls = chosen.shape
    default = np.zeros((situations, rolls), np.int64)
    start = np.zeros((situations, active + 1), np.int64)
    found: list[tuple[int, int, int, int]] = []
    for place in range(situations):
        for roll in range(rolls):
            default[place, roll] = Counter(chosen[place, :, :, roll].flat).most_common(1)[0][0]
        for memory in range(active):
            start[place, memory] = len(found)
            for roll in range(rolls):
                low = 0
                for mode, run in groupby(chosen[place, memory, :, roll]):
                    high = low + len(list(run))
                    if mode != default[place, roll]:
                        whole = low == 0 and high == layout.lanes
                        found.append((roll, mode, low, layout.width if whole else high))
                    low = high
        start[place, active] = len(found)
    columns = np.array(found, np.int64).reshape(-1, 4).T.copy()
    names = ("exception_roll", "exception_mode", "exception_low", "exception_high")
    return default, {"exception_start": start, **dict(zip(names, columns, strict=True))}


def find_alternatives(
    layout: Layout,
    default: Ints,
    exceptions: dict[str, Any],
    modes: list[Mode],
    planes: list[tuple[int, bool]],
) -> dict[str, Any]:
    """Group the exceptions by roll and mode: what the kernels add and take away, a lane at once."""
    situations, rolls = default.shape
    width = layout.width

    def home(mode: int, roll: int) -> tuple[int, int]:
        kind, extra, trot = modes[mode]
        return int(extra > 0), (planes.index((kind, trot)) * rolls + roll) * width

    homes = np.array([[home(mode, roll) for roll, mode in enumerate(row)] for row in default])
    masks: dict[tuple[int, int], int] = {(0, width): -1}
    for low, high in zip(exceptions["exception_low"], exceptions["exception_high"], strict=True):
        masks.setdefault((int(low), int(high)), (len(masks) - 1) * width)
    lanes = [
        [low <= lane < high for lane in range(width)]
        for (low, high), at in masks.items()
        if at >= 0
    ]
    columns = [exceptions[f"exception_{name}"] for name in ("roll", "mode", "low", "high")]
    rows = [tuple(map(int, row)) for row in zip(*columns, strict=True)]
    start = np.zeros((situations, rolls + 1), np.int64)
    places: list[tuple[int, int]] = []
    members: list[list[tuple[int, int]]] = []
    gain = np.zeros(len(rows), np.int64)
    mask = np.zeros(len(rows), np.int64)
    for place in range(situations):
        bounds = exceptions["exception_start"][place]
        memory_of = np.searchsorted(bounds, np.arange(bounds[0], bounds[-1]), side="right") - 1
        for roll in range(rolls):
            start[place, roll] = len(places)
            found: dict[int, list[tuple[int, int]]] = {}
            for x, memory in enumerate(memory_of.tolist(), bounds[0]):
                if rows[x][0] == roll:
                    mode = rows[x][1]
                    mask[x] = masks[rows[x][2], rows[x][3]]
                    at = list(found).index(mode) if mode in found else len(found)
                    found.setdefault(mode, []).append((memory, int(mask[x])))
                    gain[x] = len(places) + at - start[place, 0]
            places.extend(home(mode, roll) for mode in found)
            members.extend(found.values())
        start[place, rolls] = len(places)
    flat = np.array([member for group in members for member in group], np.int64).reshape(-1, 2)
    table = np.array(places, np.int64).reshape(-1, 2)
    lanes_of = np.zeros((len(members), width), np.uint8)
    for alternative, group in enumerate(members):
        lanes_of[alternative, [memory for memory, _ in group if memory < width]] = 1
    return {
        "member_lanes": lanes_of.ravel(),
        "default_far": homes[:, :, 0].copy(),
        "default_offset": homes[:, :, 1].copy(),
        "alternative_start": start,
        "alternative_far": table[:, 0].copy(),
        "alternative_offset": table[:, 1].copy(),
        "member_start": np.cumsum([0, *map(len, members)]).astype(np.int64),
        "member_memory": flat[:, 0].copy(),
        "member_mask": flat[:, 1].copy(),
        "exception_gain": gain,
        "exception_mask": mask,
        "lane_masks": np.array(lanes, np.uint8).ravel(),
    }


def needed_planes(
    situation: NDArray[np.uint8],
    modes: list[Mode],
    chosen: Ints,
    planes: list[tuple[int, bool]],
) -> NDArray[np.uint8]:
    """Which planes a roll can be on at each base: without a bonus, or arriving there with one."""
    goal = len(situation)
    needed = np.zeros((goal, goal, len(planes)), np.uint8)
    for place in range(len(chosen)):
        here = situation == place
        for mode in np.unique(chosen[place]):
            kind, extra, trot = modes[mode]
            plane = planes.index((kind, trot))
            if extra < goal:
                needed[extra:, :, plane] |= here[: goal - extra]
    return needed
