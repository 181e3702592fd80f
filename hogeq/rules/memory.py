"""The hidden memory: what the rules remember of earlier turns and a strategy may not see.

First its values and how a turn changes them, then its names for tables, pictures and people.
"""

from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from hogeq.rules.edition import Rules
from hogeq.rules.memory_part import MEMORY_PARTS
from hogeq.rules.parts import FERAL_DISTANCE, HOG_WILD_SIDES

if TYPE_CHECKING:
    from hogeq.rules.remembered import Remembered


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
    state: int = 0
    """What the part `Rules.memory` remembers: number of its value (`hogeq.rules.remembered`)."""


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
        By state, turn, extra turn, own record and opponent's record, the last of these varying
        fastest.
    """
    turns, extras, records = memory_sizes(rules)
    parts = product(range(turns), range(extras), range(records), range(records))
    every = [Memory(*values) for values in parts]
    return tuple(memory._replace(state=state) for state in range(states(rules)) for memory in every)


def memory_numbers(rules: Rules, memory: Memory) -> tuple[int, ...]:
    """Give a memory as numbers: turn, extra, own, opponent, and the state where there is one."""
    return tuple(memory) if rules.memory != "none" else tuple(memory)[:-1]


def states(rules: Rules) -> int:
    """How many values `Memory.state` can take."""
    return len(_part(rules).values) if rules.memory != "none" else 1


def state_texts(rules: Rules) -> tuple[str, ...]:
    """Write all values of `Memory.state` for people; nothing where they mean nothing."""
    return _part(rules).texts if rules.memory != "none" else ()


def records_left(rules: Rules) -> int:
    """How many numbers `record` can give."""
    classes = _part(rules).classes if rules.memory != "none" else 1
    return memory_sizes(rules)[2] * classes


def forces_turns(rules: Rules) -> bool:
    """Whether a roll can earn an extra turn by what is remembered, wherever it lands."""
    return rules.time_trot or (rules.memory != "none" and _part(rules).forces_turns)


def _part(rules: Rules) -> "Remembered":
    from hogeq.rules.remembered import remembered

    return remembered(rules)


def record(rules: Rules, dice: int, points: int) -> int:
    """Class under which a turn will be remembered.

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
        For Feral Hogs the points, all numbers too large for any roll to be 2 away from sharing the
        last class; or the dice; or 0 if it is not in play. Where another part remembers something,
        this times its classes, plus the turn's class of these.
    """
    found = feral_record(rules, dice, points)
    if rules.memory == "none":
        return found
    part = _part(rules)
    return found * part.classes + part.class_of(dice, points)


def feral_record(rules: Rules, dice: int, points: int) -> int:
    """Class of a turn that each player's record keeps, for Feral Hogs alone."""
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
    state = 0
    if rules.memory != "none":
        part = _part(rules)
        recorded, kind = divmod(recorded, part.classes)
        state = part.after(memory.state, kind, again)
    if again:
        return Memory(turn, int(tracks_extra_turns(rules)), recorded, memory.opponent, state)
    return Memory(turn, 0, memory.opponent, recorded, state)


def memory_effect(rules: Rules, memory: Memory, dice: int) -> tuple[int, bool]:
    """Bonus and extra turn that the part `Rules.memory` gives for rolling so many dice."""
    return _part(rules).effect(memory.state, dice)


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
        Own and opponent's last turn where the rules remember them, otherwise what the part `memory`
        remembers, number of the turn and whether it is an extra one, the first two of these that
        are in use; of one value each where the rules remember nothing.
    """
    turns, extras, records = memory_sizes(rules)
    if records > 1:
        ticks = [str(value) for value in range(records)]
        if rules.feral_hogs == "points":
            ticks[-1] += "+"
        unit = "points" if rules.feral_hogs == "points" else "dice"
        return Axis(f"own last {unit}", tuple(ticks)), Axis(f"opponent's last {unit}", tuple(ticks))
    if rules.memory != "none":
        remembered = Axis(MEMORY_PARTS[rules.memory].text, state_texts(rules))
        return remembered, _turn_axis(turns) if turns > 1 else _extra_axis(extras)
    return _turn_axis(turns), _extra_axis(extras)


def _turn_axis(turns: int) -> Axis:
    return Axis(f"turn (mod {turns})", tuple(str(value) for value in range(turns)))


def _extra_axis(extras: int) -> Axis:
    return Axis("extra turn", ("no", "yes")[:extras])


def memory_fields(rules: Rules, memory: Memory) -> dict[str, Any]:
    """Give the parts of a memory that the rules look at, by name.

    Parameters
    ----------
    rules : Rules
    memory : Memory

    Returns
    -------
    dict
        ``turn`` (int), ``extra`` (bool), ``own_last`` and ``opponent_last`` (int), ``remembered``
        (str), those that are in use.
    """
    turns, extras, records = memory_sizes(rules)
    found: dict[str, Any] = {}
    if turns > 1:
        found["turn"] = memory.turn
    if extras > 1:
        found["extra"] = bool(memory.extra)
    if records > 1:
        found |= {"own_last": memory.own, "opponent_last": memory.opponent}
    if rules.memory != "none":
        found["remembered"] = state_texts(rules)[memory.state]
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
        "remembered": MEMORY_PARTS[rules.memory].text,
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
