"""The hidden memory: what the rules remember of earlier turns and a strategy may not see.

First its values and how a turn changes them, then its names for tables, pictures and people.
"""

from itertools import product
from typing import Any, NamedTuple

from hogeq.rules.edition import Rules
from hogeq.rules.parts import FERAL_DISTANCE, HOG_WILD_SIDES


class Memory(NamedTuple):
    """What the rules remember but a strategy may not see, from the side of the player to move.

    Fields that the rules in play never look at stay 0.
    """

    turn: int = 0
    """Number of this turn over both players, extra turns counted, modulo the Time Trot period."""
    extra: int = 0
    """1 if this turn is an extra turn."""
    own: int = 0
    """Record (see `record`) of this player's last turn."""
    opponent: int = 0
    """Record of the opponent's last turn."""


def memory_sizes(rules: Rules) -> tuple[int, int, int]:
    """How many values each part of `Memory` can take, 1 where the rules never look.

    Parameters
    ----------
    rules : Rules

    Returns
    -------
    turns, extras, records : int
        `Memory.turn` is below `turns`, `extra` below `extras`, `own` and `opponent` below
        `records`.
    """
    turns = rules.time_trot_period if rules.time_trot else 1
    extras = 2 if tracks_extra_turns(rules) else 1
    records = {
        "none": 1,
        "points": rules.max_dice + FERAL_DISTANCE + 2,
        "dice": rules.max_dice + 1,
    }[rules.feral_hogs]
    return turns, extras, records


def tracks_extra_turns(rules: Rules) -> bool:
    """Whether it matters that a turn is an extra turn: for Time Trot, or for its dice."""
    if rules.time_trot:
        return True
    usual_dice = {rules.sides, HOG_WILD_SIDES} if rules.hog_wild else {rules.sides}
    return rules.extra_turn_sides is not None and usual_dice != {rules.extra_turn_sides}


def all_memories(rules: Rules) -> tuple[Memory, ...]:
    """List every value of the hidden memory.

    Parameters
    ----------
    rules : Rules

    Returns
    -------
    tuple of Memory, length H
        By turn, extra turn, own record and opponent's record, the last of these varying fastest.
    """
    turns, extras, records = memory_sizes(rules)
    parts = product(range(turns), range(extras), range(records), range(records))
    return tuple(Memory(*values) for values in parts)


def record(rules: Rules, dice: int, points: int) -> int:
    """Class under which Feral Hogs will remember a turn.

    Parameters
    ----------
    rules : Rules
    dice : int
        Dice rolled.
    points : int
        Points of the turn, without any bonus.

    Returns
    -------
    int
        The points, all numbers too large for any roll to be 2 away from sharing the last class; or
        the dice; or 0 if Feral Hogs is not in play.
    """
    if rules.feral_hogs == "points":
        return min(points, rules.max_dice + FERAL_DISTANCE + 1)
    return dice if rules.feral_hogs == "dice" else 0


def next_memory(rules: Rules, memory: Memory, recorded: int, again: bool) -> Memory:
    """Memory of whoever moves next.

    Parameters
    ----------
    rules : Rules
    memory : Memory
        Of the player whose turn ends.
    recorded : int
        The `record` of that turn.
    again : bool
        Whether the same player moves again.

    Returns
    -------
    Memory
        A swap of scores leaves records as they are: each player keeps their own.
    """
    turn = (memory.turn + 1) % rules.time_trot_period if rules.time_trot else 0
    if again:
        return Memory(turn, int(tracks_extra_turns(rules)), recorded, memory.opponent)
    return Memory(turn, 0, memory.opponent, recorded)


# --- names and texts ------------------------------------------------------------------------------


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


def memory_fields(rules: Rules, memory: Memory) -> dict[str, Any]:
    """Give the parts of a memory that the rules look at, by name.

    Parameters
    ----------
    rules : Rules
    memory : Memory

    Returns
    -------
    dict
        ``turn`` (int), ``extra`` (bool), ``own_last`` and ``opponent_last`` (int), those that are
        in use.
    """
    turns, extras, records = memory_sizes(rules)
    found: dict[str, Any] = {}
    if turns > 1:
        found["turn"] = memory.turn
    if extras > 1:
        found["extra"] = bool(memory.extra)
    if records > 1:
        found |= {"own_last": memory.own, "opponent_last": memory.opponent}
    return found


def memory_texts(rules: Rules, memory: Memory) -> list[str]:
    """Write the parts of a memory for people.

    Parameters
    ----------
    rules : Rules
    memory : Memory

    Returns
    -------
    list of str
        In the order of `memory_columns`.
    """
    cells = []
    for name, value in memory_fields(rules, memory).items():
        if name in {"own_last", "opponent_last"} and rules.feral_hogs == "points":
            more = "+" if value == memory_sizes(rules)[2] - 1 else ""
            cells.append(f"{value}{more}")
        else:
            cells.append({True: "yes", False: "no"}[value] if name == "extra" else str(value))
    return cells


def memory_columns(rules: Rules) -> list[str]:
    """Name the parts of a memory that the rules look at, for people.

    Parameters
    ----------
    rules : Rules

    Returns
    -------
    list of str
    """
    unit = "points" if rules.feral_hogs == "points" else "dice"
    names = {
        "turn": f"turn (mod {rules.time_trot_period})",
        "extra": "extra turn",
        "own_last": f"own last {unit}",
        "opponent_last": f"opponent's last {unit}",
    }
    return [names[name] for name in memory_fields(rules, Memory())]


def memory_line(rules: Rules, memory: Memory) -> str:
    """Write a memory in one line, with the names of its parts.

    Parameters
    ----------
    rules : Rules
    memory : Memory

    Returns
    -------
    str
        Empty where the rules remember nothing.

    Examples
    --------
    >>> from hogeq.rules import EDITIONS
    >>> memory_line(EDITIONS["su20"], Memory(own=1, opponent=7))
    "own last points: 1, opponent's last points: 7"
    """
    parts = zip(memory_columns(rules), memory_texts(rules, memory), strict=True)
    return ", ".join(f"{name}: {value}" for name, value in parts)
