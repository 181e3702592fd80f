"""What a part with a memory remembers in one game, as tables of whole numbers.

The part is asked about every turn that can be, once. So its values are known before anything is
computed, and what it does wrong is found then.
"""

from collections.abc import Callable, Hashable
from functools import cache
from itertools import product
from typing import Any, Final

from hogeq.rules.memory_part import MEMORY_PARTS
from hogeq.rules.points import kinds_of_dice, points_distribution, zero_points
from hogeq.rules.rules import Rules
from hogeq.support.messages import one_line, refusal, shown

MOST_VALUES: Final = 64
"""Most values of a part's memory."""

MOST_BONUS: Final = 100
"""Most points that it may add to a turn."""


class Remembered:
    """The values of a part's memory in one game, by number, and what turns do to them."""

    def __init__(self, rules: Rules) -> None:
        self._part = MEMORY_PARTS[rules.memory]
        self._where = f"memory: {rules.memory}"
        turns = sorted(_turns(rules))
        ends = (False, True) if rules.gives_extra_turns else (False,)
        numbers: dict[Hashable, int] = {self._hashable("start", self._part.start): 0}
        following: dict[tuple[int, int, bool], list[int]] = {}  # by dice, points and again
        for value in _growing(numbers):
            for (dice, points), again in product(turns, ends):
                after = self._asked(self._part.update, value, dice, points, again)
                number = numbers.setdefault(self._hashable("update", after), len(numbers))
                following.setdefault((dice, points, again), []).append(number)
            if len(numbers) > MOST_VALUES:
                raise ValueError(
                    f"{self._where}: more than {MOST_VALUES} values, the last {shown(after)}; "
                    f"allowed: at most {MOST_VALUES}"
                )
        self.values = tuple(numbers)
        self.texts = tuple(str(self._asked(self._part.shown, value)) for value in numbers)
        self._class: dict[tuple[int, int], int] = {}
        self._after: list[tuple[list[int], ...]] = []  # by class and again
        seen: dict[tuple[tuple[int, ...], ...], int] = {}
        for dice, points in turns:
            columns = [following[dice, points, again] for again in ends]
            key = tuple(map(tuple, columns))
            if key not in seen:
                seen[key] = len(seen)
                self._after.append((columns[0], columns[-1]))
            self._class[dice, points] = seen[key]
        self.classes = len(seen)
        self._effects = {
            (number, dice): (self._bonus(value, dice), self._again(value, dice))
            for (number, value), dice in product(enumerate(numbers), range(rules.max_dice + 1))
        }

    def class_of(self, dice: int, points: int) -> int:
        """Class of a turn; any class of one that cannot be."""
        return self._class.get((dice, points), 0)

    def after(self, state: int, kind: int, again: bool) -> int:
        """Value after a turn of a class."""
        return self._after[kind][again][state]

    def after_turn(self, state: int, dice: int, points: int, again: bool) -> int:
        """Value after any turn, one that cannot be in this game among them.

        Where such a turn would leave what is never remembered, the value after any class.
        """
        if (dice, points) in self._class:
            return self.after(state, self._class[dice, points], again)
        value = self._asked(self._part.update, self.values[state], dice, points, again)
        known = value in self.values
        return self.values.index(value) if known else self.after(state, 0, again)

    def effect(self, state: int, dice: int) -> tuple[int, bool]:
        """Bonus and extra turn for rolling so many dice."""
        return self._effects[state, dice]

    @property
    def forces_turns(self) -> bool:
        """Whether any roll ever earns an extra turn."""
        return any(again for _, again in self._effects.values())

    def _bonus(self, value: Hashable, dice: int) -> int:
        given = self._asked(self._part.bonus, value, dice)
        if not isinstance(given, int) or not 0 <= given <= MOST_BONUS:
            where = f"{self._where}: bonus({shown(value)}, {dice})"
            raise ValueError(refusal(where, given, f"whole numbers from 0 to {MOST_BONUS}"))
        return int(given)

    def _again(self, value: Hashable, dice: int) -> bool:
        given = self._asked(self._part.again, value, dice)
        if not isinstance(given, Hashable) or given not in (True, False):
            raise ValueError(
                refusal(f"{self._where}: again({shown(value)}, {dice})", given, "True or False")
            )
        return bool(given)

    def _asked(self, method: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return method(*arguments)
        except Exception as error:
            call = f"{method.__name__}({', '.join(map(shown, arguments))})"
            kind = f"{type(error).__name__}: {one_line(error)}"
            raise ValueError(f"{self._where}: {call}: {kind}") from error

    def _hashable(self, what: str, value: object) -> Hashable:
        try:
            hash(value)
        except TypeError:
            raise ValueError(
                refusal(f"{self._where}: {what}", value, "a hashable value: a number, text, tuple")
            ) from None
        return value


@cache
def remembered(rules: Rules) -> Remembered:
    """Tabulate what the part in play remembers, once for each game."""
    return Remembered(rules)


def _growing(numbers: dict[Hashable, int]) -> Any:
    """Go through the keys of a mapping that grows at its end."""
    done = 0
    while done < len(numbers):
        yield list(numbers)[done]
        done += 1


def _turns(rules: Rules) -> set[tuple[int, int]]:
    """List all dice and points that turns can have."""
    scores = range(rules.goal)
    turns = {(0, zero_points(rules, *pair)) for pair in product(scores, scores)}
    for sides, dice in product(kinds_of_dice(rules), range(1, rules.max_dice + 1)):
        turns |= {(dice, points) for points in points_distribution(rules, dice, sides)}
    return turns
