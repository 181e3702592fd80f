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
