"""The hidden memory as two axes, for tables and pictures."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hogeq.rules import Rules
from hogeq.rules.turn import memory_sizes


class Axis(NamedTuple):
    """One part of the memory."""

    name: str
    ticks: tuple[str, ...]
    """Names of its values."""


def axes(rules: Rules) -> tuple[Axis, Axis]:
    """Name the two parts of the memory of the player to move that are worth a picture.

    Parameters
    ----------
    rules : Rules

    Returns
    -------
    rows, columns : Axis
        Own and opponent's last turn where the rules remember them, otherwise number of the turn
        and whether it is an extra one; of one value each where the rules remember nothing.
    """
    turns, extras, records = memory_sizes(rules)
    if records > 1:
        ticks = [str(value) for value in range(records)]
        if rules.feral_hogs == "points":
            ticks[-1] += "+"
        unit = "points" if rules.feral_hogs == "points" else "dice"
        return Axis(f"own last {unit}", tuple(ticks)), Axis(f"opponent's last {unit}", tuple(ticks))
    numbers = tuple(str(value) for value in range(turns))
    return Axis(f"turn (mod {turns})", numbers), Axis("extra turn", ("no", "yes")[:extras])


def fold(rules: Rules, shares: ArrayLike) -> NDArray[np.float64]:
    """Lay a distribution over the memory out along `axes`, summed over what they leave out.

    Parameters
    ----------
    rules : Rules
    shares : array_like, shape (..., H)
        By memory, in the order of `Game.memories`.

    Returns
    -------
    float64 array, shape (..., rows, columns)
    """
    turns, extras, records = memory_sizes(rules)
    table = np.asarray(shares, np.float64)
    parts = table.reshape(*table.shape[:-1], turns, extras, records, records)
    return parts.sum(axis=(-4, -3)) if records > 1 else parts.sum(axis=(-2, -1))
