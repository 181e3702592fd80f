"""The hidden memory: what the rules remember of earlier turns and a strategy may not see.

First its values and how a turn changes them, then its names for tables, pictures and people.
"""

from itertools import product
from typing import Any, NamedTuple

from hogeq.rules.memory_part import MEMORY_PARTS
from hogeq.rules.parts import FERAL_DISTANCE, HOG_WILD_SIDES
from hogeq.rules.remembered import remembered
from hogeq.rules.rules import Rules


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
    """Count the values of turn, extra and either record; 1 where the rules never look."""
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
    """List all values: by state, turn, extra, own and opponent's record, the last fastest."""
    turns, extras, records = memory_sizes(rules)
    parts = product(range(turns), range(extras), range(records), range(records))
    every = [Memory(*values) for values in parts]
    return tuple(memory._replace(state=state) for state in range(states(rules)) for memory in every)


def memory_numbers(rules: Rules, memory: Memory) -> tuple[int, ...]:
    """Give a memory as numbers: turn, extra, own, opponent, and the state where there is one."""
    return tuple(memory) if rules.memory != "none" else tuple(memory)[:-1]


def states(rules: Rules) -> int:
    """How many values `Memory.state` can take."""
    return len(remembered(rules).values) if rules.memory != "none" else 1


def state_texts(rules: Rules) -> tuple[str, ...]:
    """Write all values of `Memory.state` for people; nothing where they mean nothing."""
    return remembered(rules).texts if rules.memory != "none" else ()


def records_left(rules: Rules) -> int:
    """How many numbers `record` can give."""
    classes = remembered(rules).classes if rules.memory != "none" else 1
    return memory_sizes(rules)[2] * classes


def forces_turns(rules: Rules) -> bool:
    """Whether a roll can earn an extra turn by what is remembered, wherever it lands."""
    return rules.time_trot or (rules.memory != "none" and remembered(rules).forces_turns)


def record(rules: Rules, dice: int, points: int) -> int:
    """Give the number that a turn is remembered by: of Feral Hogs and of `Rules.memory`."""
    number = feral_record(rules, dice, points)
    if rules.memory == "none":
        return number
    part = remembered(rules)
    return number * part.classes + part.class_of(dice, points)


def feral_record(rules: Rules, dice: int, points: int) -> int:
    """Class of a turn that each player's record keeps, for Feral Hogs alone."""
    if rules.feral_hogs == "points":
        return min(points, rules.max_dice + FERAL_DISTANCE + 1)
    return dice if rules.feral_hogs == "dice" else 0


def next_memory(rules: Rules, memory: Memory, recorded: int, again: bool) -> Memory:
    """Memory of whoever moves next; a swap of scores leaves both records with their players."""
    turn = (memory.turn + 1) % rules.time_trot_period if rules.time_trot else 0
    state = 0
    if rules.memory != "none":
        part = remembered(rules)
        recorded, kind = divmod(recorded, part.classes)
        state = part.after(memory.state, kind, again)
    if again:
        return Memory(turn, int(tracks_extra_turns(rules)), recorded, memory.opponent, state)
    return Memory(turn, 0, memory.opponent, recorded, state)


def memory_effect(rules: Rules, memory: Memory, dice: int) -> tuple[int, bool]:
    """Bonus and extra turn that the part `Rules.memory` gives for rolling so many dice."""
    return remembered(rules).effect(memory.state, dice)


# --- names and texts ------------------------------------------------------------------------------


class Axis(NamedTuple):
    """One part of the memory."""

    name: str
    ticks: tuple[str, ...]
    """Names of its values."""


def axes(rules: Rules) -> tuple[Axis, Axis]:
    """Name the two parts of the memory of the player to move that are worth a picture."""
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
    """Give the parts of a memory that the rules look at, by name."""
    turns, extras, records = memory_sizes(rules)
    fields: dict[str, Any] = {}
    if turns > 1:
        fields["turn"] = memory.turn
    if extras > 1:
        fields["extra"] = bool(memory.extra)
    if records > 1:
        fields |= {"own_last": memory.own, "opponent_last": memory.opponent}
    if rules.memory != "none":
        fields["remembered"] = state_texts(rules)[memory.state]
    return fields


def memory_texts(rules: Rules, memory: Memory) -> list[str]:
    """Write the parts of a memory for people."""
    cells = []
    for name, value in memory_fields(rules, memory).items():
        if name in {"own_last", "opponent_last"} and rules.feral_hogs == "points":
            more = "+" if value == memory_sizes(rules)[2] - 1 else ""
            cells.append(f"{value}{more}")
        else:
            cells.append({True: "yes", False: "no"}[value] if name == "extra" else str(value))
    return cells


def memory_columns(rules: Rules) -> list[str]:
    """Name the parts of a memory that the rules look at, for people."""
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
    """Write a memory in one line, with the names of its parts."""
    parts = zip(memory_columns(rules), memory_texts(rules, memory), strict=True)
    return ", ".join(f"{name}: {value}" for name, value in parts)
