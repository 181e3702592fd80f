"""The hidden memory as users give it and are shown it."""

from dataclasses import dataclass
from typing import Any

from hogeq.cli.shell import BadInputError
from hogeq.rules import Rules
from hogeq.rules.turn import Memory, memory_sizes, record


@dataclass(frozen=True)
class Seen:
    """What a user says of the memory; None where nothing is said."""

    own_last: int | None
    opponent_last: int | None
    turn: int | None
    extra: bool | None

    def memory(self, rules: Rules) -> Memory | None:
        """Memory of the player to move, what was not said being as before the first turn."""
        turns, extras, records = memory_sizes(rules)
        given = {
            "--own-last": (self.own_last, records),
            "--opponent-last": (self.opponent_last, records),
            "--turn": (self.turn, turns),
            "--extra": (self.extra, extras),
        }
        for option, (value, size) in given.items():
            if value is not None and size == 1:
                raise BadInputError(f"{option}: rules {rules.name} do not remember that")
        for option, (value, _) in given.items():
            if value is not None and value < 0:
                raise BadInputError(f"{option}: {value}, allowed are whole numbers from 0")
        for option in ("--own-last", "--opponent-last"):
            dice = given[option][0]
            if rules.feral_hogs == "dice" and dice is not None and dice > rules.max_dice:
                raise BadInputError(f"{option}: {dice} dice, allowed are 0 to {rules.max_dice}")
        if all(value is None for value, _ in given.values()):
            return None
        own, opponent = (
            record(rules, value or 0, value or 0) for value in (self.own_last, self.opponent_last)
        )
        turn = (self.turn or 0) % rules.time_trot_period if rules.time_trot else 0
        return Memory(turn, int(self.extra or 0), own, opponent)


def memory_fields(rules: Rules, memory: Memory) -> dict[str, Any]:
    """Give the parts of a memory that the rules look at, by name."""
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
    """Say the same for people, in the order of `memory_columns`."""
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
    }
    return [names[name] for name in memory_fields(rules, Memory())]


def memory_line(rules: Rules, memory: Memory) -> str:
    """Say a memory in one line."""
    parts = zip(memory_columns(rules), memory_texts(rules, memory), strict=True)
    return ", ".join(f"{name}: {value}" for name, value in parts)
