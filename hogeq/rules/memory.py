"""The hidden memory: facts of earlier turns that the rules use and a strategy may not see.

First its values and how a turn changes them, then the tables of the part `Rules.memory`, last the
names for tables, pictures and people.
"""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any, Final, NamedTuple

from hogeq.rules.register import EFFECTS, MEMORY_PARTS, MemoryPart, asked
from hogeq.rules.rules import (
    FERAL_DISTANCE,
    HOG_WILD_SIDES,
    Rules,
    kinds_of_dice,
    minus_one_points,
    points_distribution,
    zero_points,
)
from hogeq.support.messages import BadInputError, HogeqError, refusal, shown

MOST_VALUES: Final = 64  # most values of the memory of a part `Rules.memory`

MOST_BONUS: Final = 100  # most points that such a part may add to a turn

MOST_SCORED: Final = 1000  # most points that such a part may make of a turn's


class Effect(NamedTuple):
    """Bonus and extra turn that a turn's beginning brings."""

    bonus: int = 0  # points for the mover
    forced: bool = False  # whether the roll earns an extra turn, wherever it lands


class Memory(NamedTuple):
    """Facts of earlier turns, hidden from strategies, from the side of the player to move.

    Fields that the rules in play never look at stay 0.

    Examples
    --------
    >>> import hogeq
    >>> game = hogeq.Game({"edition": "su20", "goal": 20, "max_dice": 4})
    >>> game.memory_line(hogeq.Memory(own=3))
    "own last points: 3, opponent's last points: 0"
    """

    turn: int = 0
    """Number of this turn over both players, extra turns counted, modulo the Time Trot period."""
    extra: int = 0  # 1 if this turn is an extra turn
    own: int = 0  # record (see `record`) of this player's last turn
    opponent: int = 0  # record of the opponent's last turn
    state: int = 0  # number of the value that the part `Rules.memory` remembers (see `Remembered`)


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
    other_dice = {rules.sides, HOG_WILD_SIDES} if rules.hog_wild else {rules.sides}
    return rules.extra_turn_sides is not None and other_dice != {rules.extra_turn_sides}


def all_memories(rules: Rules) -> tuple[Memory, ...]:
    """List all values: by state, turn, extra, own and opponent's record, the last fastest."""
    turns, extras, records = memory_sizes(rules)
    sizes = states(rules), turns, extras, records, records
    return tuple(
        Memory(turn, extra, own, opponent, state)
        for state, turn, extra, own, opponent in product(*map(range, sizes))
    )


def states(rules: Rules) -> int:
    """Count the values of `Memory.state`."""
    return len(remembered(rules).values)


def records_left(rules: Rules) -> int:
    """Count the values of `record`."""
    return memory_sizes(rules)[2] * remembered(rules).classes


def record(rules: Rules, dice: int, points: int) -> int:
    """Encode a turn as it is remembered, for Feral Hogs and for `Rules.memory`."""
    part = remembered(rules)
    return feral_record(rules, dice, points) * part.classes + part.class_of(dice, points)


def feral_record(rules: Rules, dice: int, points: int) -> int:
    """Class of a turn that each player's record keeps, for Feral Hogs alone."""
    if rules.feral_hogs == "points":
        return min(points, rules.max_dice + FERAL_DISTANCE + 1)
    return max(dice, 0) if rules.feral_hogs == "dice" else 0


def next_memory(rules: Rules, memory: Memory, recorded: int, again: bool) -> Memory:
    """Memory of the next player to move; a swap of scores does not swap the records."""
    turn = (memory.turn + 1) % rules.time_trot_period if rules.time_trot else 0
    part = remembered(rules)
    recorded, kind = divmod(recorded, part.classes)
    state = part.after(memory.state, kind, again)
    if again:
        return Memory(turn, int(tracks_extra_turns(rules)), recorded, memory.opponent, state)
    return Memory(turn, 0, memory.opponent, recorded, state)


def memory_of_dice(rules: Rules, memory: Memory) -> tuple[int, int]:
    """Give the parts of a memory on which a throw can depend."""
    part = type(MEMORY_PARTS[rules.memory])
    plain = part.sides is MemoryPart.sides and part.scored is MemoryPart.scored
    return memory.extra, 0 if plain else memory.state


# --- the memory of a part -------------------------------------------------------------------------


class Remembered:
    """The values of a part's memory in one game, by number, and how turns change them.

    The part is asked about every turn that can be, once: so its values are known before anything is
    computed, and its faults are found then. The part "none" has one value.
    """

    def __init__(self, rules: Rules) -> None:
        self._part = MEMORY_PARTS[rules.memory]
        self._rules = replace(rules, goal=rules.size)
        self._where = f"memory: {rules.memory}"
        turns = sorted(_turns(rules))
        self._effects: dict[tuple[Effect, ...], int] = {}  # of all choices at one place, numbered
        self._places: list[list[int]] = []  # their numbers, by state and pair of scores
        numbers, following = self._find_values(turns)
        self.values = tuple(numbers)
        self.texts = tuple(str(self._asked(self._part.shown, value)) for value in numbers)
        self._class: dict[tuple[int, int], int] = {}  # of turns, by dice and points
        self._after: list[tuple[list[int], list[int]]] = []  # next states, by class and again
        self._classify_turns(turns, following)
        self.classes = len(self._after)
        self._of_place = list(self._effects)
        kinds = kinds_of_dice(rules)
        self._sides = {
            (number, sides): self._sides_of(value, sides, kinds)
            for (number, value), sides in product(enumerate(numbers), kinds)
        }
        scored = [self._scored_turns(turns, value) for value in numbers]
        # Ways to score, numbered: 0 leaves points as they are.
        ways = {tuple(points for _, points in turns): 0}
        for points_of_turns in scored:
            ways.setdefault(points_of_turns, len(ways))
        self.scores = tuple(ways[points_of_turns] for points_of_turns in scored)  # by state
        self._points = {number: dict(zip(turns, way, strict=True)) for way, number in ways.items()}

    def _find_values(
        self, turns: list[tuple[int, int]]
    ) -> tuple[dict[Hashable, int], dict[tuple[int, int, bool], list[int]]]:
        """Find all values: try every turn (dice, points) from the start value, then from others.

        Returns the number of each value, and by dice, points and whether the same player moves
        again the numbers of the next values, of each value in order.
        """
        start = self._hashable("start", self._part.start)
        values, numbers = [start], {start: 0}
        following: dict[tuple[int, int, bool], list[int]] = {}
        any_turn_repeats = self._rules.time_trot or self._rules.more_boar != "none"
        for value in values:  # while they become more
            forcing = self._ask_effects(value)
            for (dice, points), again in product(turns, (False, True)):
                # Where the player cannot move again, the number stays that of when it does not.
                if not again or any_turn_repeats or dice in forcing:
                    after = self._asked(self._part.update, value, dice, points, again)
                    number = numbers.setdefault(self._hashable("update", after), len(numbers))
                following.setdefault((dice, points, again), []).append(number)
            values.extend(list(numbers)[len(values) :])
            if len(numbers) > MOST_VALUES:
                raise HogeqError(
                    f"{self._where}: more than {MOST_VALUES} values, the last {shown(after)}; "
                    f"allowed: at most {MOST_VALUES}"
                )
        return numbers, following

    def _classify_turns(
        self, turns: list[tuple[int, int]], following: dict[tuple[int, int, bool], list[int]]
    ) -> None:
        """Put turns that change every value alike into one class."""
        classes: dict[tuple[tuple[int, ...], ...], int] = {}
        for dice, points in turns:
            next_states = following[dice, points, False], following[dice, points, True]
            key = tuple(map(tuple, next_states))
            if key not in classes:
                classes[key] = len(classes)
                self._after.append(next_states)
            self._class[dice, points] = classes[key]

    def _scored_turns(self, turns: list[tuple[int, int]], value: Hashable) -> tuple[int, ...]:
        """Ask what a value makes of the points of every turn; different ones must stay apart."""
        scored = tuple(self._scored(value, dice, points) for dice, points in turns)
        if len({(dice, more) for (dice, _), more in zip(turns, scored, strict=True)}) < len(turns):
            raise HogeqError(
                f"{self._where}: scored: different points of as many dice become the same; "
                "allowed: points that stay apart"
            )
        return scored

    def class_of(self, dice: int, points: int) -> int:
        """Class of a turn, of those that change the memory alike; any of one that cannot be."""
        return self._class.get((dice, points), 0)

    def after(self, state: int, kind: int, again: bool) -> int:
        """Give the number of the next value, after a turn of class `kind`."""
        return self._after[kind][again][state]

    def effect(self, score: int, opponent: int, state: int, dice: int) -> Effect:
        """Bonus and extra turn for rolling so many dice at a pair of scores."""
        if not self._rules.has_effects:
            return Effect()
        place = self._places[state][score * self._rules.size + opponent]
        return self._of_place[place][dice]  # -1 is the last

    def effects_at(self, score: int, opponent: int) -> tuple[int, ...]:
        """Give numbers of the effects at a pair of scores, by state: equal ones are alike."""
        if not self._places:
            return ()
        return tuple([places[score * self._rules.size + opponent] for places in self._places])

    def sides(self, state: int, sides: int) -> int:
        """Sides of dice that would have so many."""
        return self._sides[state, sides]

    def scored(self, scores: int, dice: int, points: int) -> int:
        """Points that the part makes of a turn's; `scores` is that of the value."""
        return self._points[scores].get((dice, points), points)

    def _scored(self, value: Hashable, dice: int, points: int) -> int:
        given = self._asked(self._part.scored, value, dice, points)
        if not isinstance(given, int) or not points <= given <= max(points, MOST_SCORED):
            where = f"{self._where}: scored({shown(value)}, {dice}, {points})"
            raise HogeqError(refusal(where, given, f"whole numbers from {points} to {MOST_SCORED}"))
        return int(given)

    def _sides_of(self, value: Hashable, sides: int, kinds: tuple[int, ...]) -> int:
        given = self._asked(self._part.sides, value, sides)
        if given not in kinds:
            allowed = f"{', '.join(map(str, kinds))}; more_sides lists others"
            raise HogeqError(
                refusal(f"{self._where}: sides({shown(value)}, {sides})", given, allowed)
            )
        return int(given)

    def _ask_effects(self, value: Hashable) -> set[int]:
        """Ask for the effects at all pairs of scores; give the choices that can force a turn."""
        rules = self._rules
        forcing: set[int] = set()
        if not rules.has_effects:
            return forcing
        effect_of_part = f"effect: {rules.effect}", EFFECTS[rules.effect]
        numbers = []  # of the effects, by pair of scores
        for pair in product(range(rules.size), repeat=2):
            effects = []
            for dice in rules.choices:
                asked_for = rules, *pair, value, dice
                by_memory = _effect(self._where, self._part.effect, *asked_for)
                by_part = _effect(*effect_of_part, *asked_for)
                forced = by_memory.forced or by_part.forced
                effects.append(Effect(by_memory.bonus + by_part.bonus, forced))
                if forced:
                    forcing.add(dice)
            numbers.append(self._effects.setdefault(tuple(effects), len(self._effects)))
        self._places.append(numbers)
        return forcing

    def _asked(self, method: Callable[..., Any], *given: Any) -> Any:
        def call() -> str:
            return f"{self._where}: {method.__name__}({', '.join(map(shown, given))})"

        return asked(call, method, *given)

    def _hashable(self, what: str, value: object) -> Hashable:
        try:
            hash(value)
        except TypeError:
            raise HogeqError(
                refusal(f"{self._where}: {what}", value, "a hashable value: a number, text, tuple")
            ) from None
        return value


def _effect(where: str, function: Callable[..., Any], *about: Any) -> Effect:
    """Ask for one effect; any other answer is refused in one line.

    `where` names the part, and `about` is what its function takes.
    """

    def call() -> str:
        _, score, opponent, memory, dice = about
        pair = f"score, opponent = {score}, {opponent}"
        return f"{where}: effect at {pair}, memory {shown(memory)}, {dice} dice"

    given = asked(call, function, *about)
    bonus, again = given if isinstance(given, tuple) and len(given) == 2 else (given, False)
    is_number = isinstance(bonus, int) and 0 <= bonus <= MOST_BONUS
    if not is_number or not isinstance(again, bool):
        allowed = f"whole numbers from 0 to {MOST_BONUS}, or such a number and True or False"
        raise HogeqError(refusal(call(), given, allowed))
    return Effect(int(bonus), again)


@cache
def remembered(rules: Rules) -> Remembered:
    """Tables of the memory of the part in play, made once for each game."""
    return Remembered(rules)


def _turns(rules: Rules) -> set[tuple[int, int]]:
    """List all dice and points that turns can have; those of "none" do not matter."""
    if rules.memory == "none":
        return {(0, 0)}
    scores = range(rules.size)
    turns = {(0, zero_points(rules, *pair)) for pair in product(scores, scores)}
    hurts = (True, False) if rules.forty_niners else (True,)
    thrown = product(kinds_of_dice(rules), range(1, rules.max_dice + 1), hurts)
    for sides, dice, hurt in thrown:
        turns |= {
            (dice, points) for points in points_distribution(rules, dice, sides, ones_hurt=hurt)
        }
    if -1 in rules.choices:
        turns.add((-1, minus_one_points(rules)))
    return turns


# --- names and texts ------------------------------------------------------------------------------


class Axis(NamedTuple):
    """One part of the memory."""

    name: str
    ticks: tuple[str, ...]  # names of its values


def _all_axes(rules: Rules) -> dict[str, Axis]:
    """Axes of the fields of a memory, by name and in their order; some have one value."""
    turns, extras, records = memory_sizes(rules)
    unit = "points" if rules.feral_hogs == "points" else "dice"
    last = [str(value) for value in range(records)]
    if unit == "points":
        last[-1] += "+"
    return {
        "turn": Axis(f"turn (mod {turns})", tuple(map(str, range(turns)))),
        "extra": Axis("extra turn", ("no", "yes")[:extras]),
        "own_last": Axis(f"own last {unit}", tuple(last)),
        "opponent_last": Axis(f"opponent's last {unit}", tuple(last)),
        "remembered": Axis(MEMORY_PARTS[rules.memory].text, remembered(rules).texts),
    }


def axes(rules: Rules) -> tuple[Axis, Axis]:
    """Two parts of the memory of the player to move, as the axes of a picture."""
    turn, extra, own, opponent, states = _all_axes(rules).values()
    if len(own.ticks) > 1:
        return own, opponent
    if rules.memory != "none":
        return states, turn if len(turn.ticks) > 1 else extra
    return turn, extra


def _values(rules: Rules, memory: Memory) -> list[tuple[str, Axis, int]]:
    """Parts of a memory that the rules look at: name, axis and value."""
    parts = zip(_all_axes(rules).items(), memory, strict=True)
    return [
        (name, axis, value)
        for (name, axis), value in parts
        if (rules.memory != "none" if name == "remembered" else len(axis.ticks) > 1)
    ]


def memory_fields(rules: Rules, memory: Memory) -> dict[str, Any]:
    """Parts of a memory that the rules look at, by name."""
    fields: dict[str, Any] = {name: value for name, _, value in _values(rules, memory)}
    if "extra" in fields:
        fields["extra"] = bool(memory.extra)
    if "remembered" in fields:
        fields["remembered"] = remembered(rules).texts[memory.state]
    return fields


def memory_texts(rules: Rules, memory: Memory) -> list[str]:
    """Write the parts of a memory that the rules look at, for people."""
    return [axis.ticks[value] for _, axis, value in _values(rules, memory)]


def memory_columns(rules: Rules) -> list[str]:
    """Names of the parts of a memory that the rules look at, for people."""
    return [axis.name for _, axis, _ in _values(rules, Memory())]


def memory_line(rules: Rules, memory: Memory) -> str:
    """Write a memory in one line, with the names of its parts."""
    parts = zip(memory_columns(rules), memory_texts(rules, memory), strict=True)
    return ", ".join(f"{name}: {value}" for name, value in parts)


def memory_of(rules: Rules, given: Mapping[str, Any], *, at_start: bool) -> Memory | None:
    """Make the memory of the player to move of parts that a user gave; None if of none.

    Parts are those of `memory_fields`, by name; the others are as before the first turn. A refusal
    names the options of ``hogeq analyze``.
    """
    for name, value in given.items():
        _check_part(rules, name, value)
    if not given:
        return None
    turn = given.get("turn", 0)
    if rules.time_trot and given.get("extra") and not turn:
        raise BadInputError("--extra: turn 0 is no extra turn; allowed: --turn from 1")
    own, other = (
        feral_record(rules, last, last)
        for last in (given.get("own_last", 0), given.get("opponent_last", 0))
    )
    if at_start and rules.feral_hogs == "points":
        for name, last in (("--own-last", own), ("--opponent-last", other)):
            if last:
                raise BadInputError(f"{name}: got {last}; allowed at 0 points against 0: 0")
    return Memory(
        turn % rules.time_trot_period if rules.time_trot else 0,
        int(given.get("extra", False)),
        own,
        other,
        remembered(rules).texts.index(given["remembered"]) if "remembered" in given else 0,
    )


def _check_part(rules: Rules, name: str, value: Any) -> None:
    """Refuse a part of the memory that the rules do not have."""
    option, known = _option(name), memory_fields(rules, Memory())
    if name not in known:
        parts = zip(known, memory_columns(rules), strict=True)
        allowed = ", ".join(f"{_option(part)} ({about})" for part, about in parts)
        raise BadInputError(
            f"{option}: rules {rules.name} do not remember that; "
            f"allowed: {allowed or 'no such option, as they remember nothing'}"
        )
    if name == "remembered":
        texts = remembered(rules).texts
        if value not in texts:
            raise BadInputError(refusal(option, value, ", ".join(texts), texts))
    elif value < 0:
        raise BadInputError(f"{option}: {value}; allowed: whole numbers from 0")
    elif name.endswith("_last") and rules.feral_hogs == "dice" and value > rules.max_dice:
        raise BadInputError(f"{option}: {value} dice; allowed: 0 to {rules.max_dice}")


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"
