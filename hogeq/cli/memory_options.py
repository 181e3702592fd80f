"""Options by which users say what the hidden memory is."""

from dataclasses import dataclass

from hogeq.cli.shell import BadInputError
from hogeq.rules import Rules
from hogeq.rules.memory import (
    Memory,
    feral_record,
    memory_columns,
    memory_fields,
    memory_sizes,
    state_texts,
)
from hogeq.support.messages import refusal


@dataclass(frozen=True)
class MemoryOptions:
    """What a user said of the memory; None where nothing was said."""

    own_last: int | None
    opponent_last: int | None
    turn: int | None
    extra: bool | None
    remembered: str | None

    def memory(self, rules: Rules) -> Memory | None:
        """Read the memory of the player to move.

        What was not said is as before the first turn; None if nothing was said.
        """
        turns, extras, records = memory_sizes(rules)
        given = {
            "--own-last": (self.own_last, records),
            "--opponent-last": (self.opponent_last, records),
            "--turn": (self.turn, turns),
            "--extra": (self.extra, extras),
        }
        for option, (value, size) in given.items():
            if value is not None and size == 1:
                raise _not_remembered(option, rules)
        for option, (value, _) in given.items():
            if value is not None and value < 0:
                raise BadInputError(f"{option}: {value}; allowed: whole numbers from 0")
        for option in ("--own-last", "--opponent-last"):
            dice = given[option][0]
            if rules.feral_hogs == "dice" and dice is not None and dice > rules.max_dice:
                raise BadInputError(f"{option}: {dice} dice; allowed: 0 to {rules.max_dice}")
        state = self._state(rules)
        if state is None and all(value is None for value, _ in given.values()):
            return None
        own, opponent = (
            feral_record(rules, value or 0, value or 0)
            for value in (self.own_last, self.opponent_last)
        )
        if rules.time_trot and self.extra and not self.turn:
            raise BadInputError("--extra: turn 0 is no extra turn; allowed: --turn from 1")
        turn = (self.turn or 0) % rules.time_trot_period if rules.time_trot else 0
        return Memory(turn, int(self.extra or 0), own, opponent, state or 0)

    def left_out(self, rules: Rules) -> list[str]:
        """List the parts of the memory of which nothing was said, by their names in JSON."""
        return [name for name in memory_fields(rules, Memory()) if getattr(self, name) is None]

    def _state(self, rules: Rules) -> int | None:
        if self.remembered is None:
            return None
        if rules.memory == "none":
            raise _not_remembered("--remembered", rules)
        texts = state_texts(rules)
        if self.remembered not in texts:
            given = refusal("--remembered", self.remembered, ", ".join(texts), texts)
            raise BadInputError(given)
        return texts.index(self.remembered)


def _not_remembered(option: str, rules: Rules) -> BadInputError:
    """Say what the rules remember instead, and by which options."""
    names = [f"--{name.replace('_', '-')}" for name in memory_fields(rules, Memory())]
    parts = zip(names, memory_columns(rules), strict=True)
    known = ", ".join(f"{name} ({about})" for name, about in parts)
    return BadInputError(
        f"{option}: rules {rules.name} do not remember that; "
        f"allowed: {known or 'no such option, as they remember nothing'}"
    )
