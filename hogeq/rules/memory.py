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
from hogeq.support.messages import HogeqError, refusal, shown

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
    state: int = 0  # number of what the part `Rules.memory` remembers (see `MemoryTables`)


def memory_sizes(rules: Rules) -> tuple[int, int, int]:
    """Count the values of the fields turn, extra, and own (or opponent) of `Memory`.

    A field that the rules never look at has one value, 0.
    """
    num_turns = rules.time_trot_period if rules.time_trot else 1
    num_extras = 2 if tracks_extra_turns(rules) else 1
    num_records = {
        "none": 1,
        # More points than max_dice + FERAL_DISTANCE are too far from any number of dice: one value.
        "points": rules.max_dice + FERAL_DISTANCE + 2,
        "dice": rules.max_dice + 1,
    }[rules.feral_hogs]
    return num_turns, num_extras, num_records


def tracks_extra_turns(rules: Rules) -> bool:
    """Whether it matters that a turn is an extra turn: for Time Trot, or for its dice."""
    if rules.time_trot:
        return True
    other_dice = {rules.sides, HOG_WILD_SIDES} if rules.hog_wild else {rules.sides}
    return rules.extra_turn_sides is not None and other_dice != {rules.extra_turn_sides}


def all_memories(rules: Rules) -> tuple[Memory, ...]:
    """List all values: by state, turn, extra, own and opponent's record, the last fastest."""
    num_turns, num_extras, num_records = memory_sizes(rules)
    sizes = states(rules), num_turns, num_extras, num_records, num_records
    return tuple(
        Memory(turn, extra, own, opponent, state)
        for state, turn, extra, own, opponent in product(*map(range, sizes))
    )


def states(rules: Rules) -> int:
    """Count the values of `Memory.state`."""
    return len(memory_tables(rules).values)


def count_records(rules: Rules) -> int:
    """Count the numbers by which `record` encodes turns."""
    return memory_sizes(rules)[2] * memory_tables(rules).num_classes


def record(rules: Rules, dice: int, points: int) -> int:
    """Encode a turn as it is remembered: a number for Feral Hogs, and a class for `Rules.memory`.

    The class is the lower digit of a number in base `num_classes`.
    """
    tables = memory_tables(rules)
    turn_class = tables.class_of_turn(dice, points)
    return feral_record(rules, dice, points) * tables.num_classes + turn_class


def feral_record(rules: Rules, dice: int, points: int) -> int:
    """Encode a turn as Feral Hogs remembers it: by points, by dice, or as 0 without it."""
    if rules.feral_hogs == "points":
        return min(points, rules.max_dice + FERAL_DISTANCE + 1)
    return max(dice, 0) if rules.feral_hogs == "dice" else 0


def next_memory(rules: Rules, memory: Memory, recorded: int, again: bool) -> Memory:
    """Return the memory after a turn, from the side of the next player to move.

    `recorded` is the turn's `record`; `again` says whether the same player moves next. A swap of
    scores swaps no records.
    """
    turn = (memory.turn + 1) % rules.time_trot_period if rules.time_trot else 0
    tables = memory_tables(rules)
    last_turn, turn_class = divmod(recorded, tables.num_classes)  # as `record` encodes them
    state = tables.next_state(memory.state, turn_class, again)
    if again:
        is_extra = int(tracks_extra_turns(rules))
        return Memory(turn, is_extra, own=last_turn, opponent=memory.opponent, state=state)
    # The other player moves next, so own and opponent's records change places.
    return Memory(turn, extra=0, own=memory.opponent, opponent=last_turn, state=state)


def memory_of_dice(rules: Rules, memory: Memory) -> tuple[int, int]:
    """Return the fields of a memory on which a throw can depend: extra, and state or 0."""
    part = type(MEMORY_PARTS[rules.memory])
    overrides_neither = part.sides is MemoryPart.sides and part.scored is MemoryPart.scored
    return memory.extra, 0 if overrides_neither else memory.state


# --- the memory of a part -------------------------------------------------------------------------


class MemoryTables:
    """Tables of a memory part in one game: its values, and how turns change them.

    The number of a value is its state: `values` and `texts` list them by it, and `ways_to_score`
    the numbers of the ways in which they change the points of turns. There are `num_classes`
    classes of turns that change every value alike. The constructor asks the part once about every
    possible turn: so its values are known before anything is computed, and its faults are refused
    then. The part "none" has one value.
    """

    def __init__(self, rules: Rules) -> None:
        """Ask the memory part about all turns, and tabulate its values and their effects."""
        self._part = MEMORY_PARTS[rules.memory]
        self._rules = replace(rules, goal=rules.size)
        self._where = f"memory: {rules.memory}"
        turns = sorted(_possible_turns(rules))  # (dice, points)
        # Effects of all choices at one pair of scores and state: each distinct row has a number.
        self._effect_rows: dict[tuple[Effect, ...], int] = {}
        self._row_numbers: list[list[int]] = []  # by state and pair of scores
        states, next_states = self._find_values(turns)
        self.values = tuple(states)
        self.texts = tuple(str(self._ask(self._part.shown, value)) for value in states)
        self._class_of_turn: dict[tuple[int, int], int] = {}  # by dice and points
        self._next_states: list[tuple[list[int], list[int]]] = []  # by class, again and state
        self._classify_turns(turns, next_states)
        self.num_classes = len(self._next_states)
        self._effects_by_row = list(self._effect_rows)
        kinds = kinds_of_dice(rules)
        self._sides = {
            (state, sides): self._ask_sides(value, sides, kinds)
            for (state, value), sides in product(enumerate(states), kinds)
        }
        self.ways_to_score: tuple[int, ...] = ()  # by state, numbers of ways to change points
        self._points_by_way: dict[int, dict[tuple[int, int], int]] = {}  # by way and turn
        self._number_ways_to_score(turns)

    def _find_values(
        self, turns: list[tuple[int, int]]
    ) -> tuple[dict[Hashable, int], dict[tuple[int, int, bool], list[int]]]:
        """Find all values: breadth-first from the start value, by every turn (dice, points).

        Returns the state of each value, in the order of discovery; and by (dice, points, whether
        the same player moves again) the list of next states, one for each state.
        """
        start = self._require_hashable("start", self._part.start)
        values = [start]
        states = {start: 0}
        next_states: dict[tuple[int, int, bool], list[int]] = {}
        any_turn_repeats = self._rules.time_trot or self._rules.more_boar != "none"
        for value in values:  # the loop appends the values that it discovers
            forcing_dice = self._ask_effects(value)
            for (dice, points), again in product(turns, (False, True)):
                # Where the player cannot move again, `state` stays that of the pass before.
                if not again or any_turn_repeats or dice in forcing_dice:
                    next_value = self._ask(self._part.update, value, dice, points, again)
                    next_value = self._require_hashable("update", next_value)
                    state = states.setdefault(next_value, len(states))
                next_states.setdefault((dice, points, again), []).append(state)
            values.extend(list(states)[len(values) :])
            if len(states) > MOST_VALUES:
                raise HogeqError(
                    f"{self._where}: more than {MOST_VALUES} values, the last {shown(next_value)}; "
                    f"allowed: at most {MOST_VALUES}"
                )
        return states, next_states

    def _classify_turns(
        self, turns: list[tuple[int, int]], next_states: dict[tuple[int, int, bool], list[int]]
    ) -> None:
        """Put turns (dice, points) that change every value of the memory alike into one class.

        Fills `_class_of_turn` and `_next_states` from the second result of `_find_values`.
        """
        classes: dict[tuple[tuple[int, ...], ...], int] = {}  # by the next states of all states
        for dice, points in turns:
            after_pass = next_states[dice, points, False]  # the other player moves next
            after_again = next_states[dice, points, True]
            key = tuple(after_pass), tuple(after_again)
            if key not in classes:
                classes[key] = len(classes)
                self._next_states.append((after_pass, after_again))
            self._class_of_turn[dice, points] = classes[key]

    def _number_ways_to_score(self, turns: list[tuple[int, int]]) -> None:
        """Give numbers to the distinct ways in which values change the points of turns.

        `turns` are pairs (dice, points). Fills `ways_to_score` and `_points_by_way`. Way 0 leaves
        all points as they are.
        """
        points_by_state = [self._ask_points_of_turns(turns, value) for value in self.values]
        ways = {tuple(points for _, points in turns): 0}
        for points_of_turns in points_by_state:
            ways.setdefault(points_of_turns, len(ways))
        self.ways_to_score = tuple(ways[points_of_turns] for points_of_turns in points_by_state)
        for points_of_turns, way in ways.items():
            self._points_by_way[way] = dict(zip(turns, points_of_turns, strict=True))

    def _ask_points_of_turns(
        self, turns: list[tuple[int, int]], value: Hashable
    ) -> tuple[int, ...]:
        """Ask what a value makes of the points of every turn; different ones must stay apart."""
        scored = tuple(self._ask_points(value, dice, points) for dice, points in turns)
        scored_turns = {(dice, after) for (dice, _), after in zip(turns, scored, strict=True)}
        if len(scored_turns) < len(turns):
            fault = "different points of as many dice become the same"
            raise HogeqError(f"{self._where}: scored: {fault}; allowed: points that stay apart")
        return scored

    def class_of_turn(self, dice: int, points: int) -> int:
        """Return the class of a turn, of those that change the memory alike; 0 if impossible."""
        return self._class_of_turn.get((dice, points), 0)

    def next_state(self, state: int, turn_class: int, again: bool) -> int:
        """Return the state after a turn of a class, of turns that change the memory alike.

        `again` says whether the same player moves next, which the memory may depend on.
        """
        after_pass, after_again = self._next_states[turn_class]  # by state
        return (after_again if again else after_pass)[state]

    def effect(self, score: int, opponent: int, state: int, dice: int) -> Effect:
        """Return the bonus and extra turn for rolling so many dice at a pair of scores."""
        if not self._rules.has_effects:
            return Effect()
        pair = score * self._rules.size + opponent
        row = self._row_numbers[state][pair]
        return self._effects_by_row[row][dice]  # the choice -1 is the last of a row

    def effects_at(self, score: int, opponent: int) -> tuple[int, ...]:
        """Return a number for the effects at a pair of scores, by state; equal for equal effects.

        Empty in games without effects.
        """
        if not self._row_numbers:
            return ()
        pair = score * self._rules.size + opponent
        return tuple([row_by_pair[pair] for row_by_pair in self._row_numbers])

    def sides(self, state: int, sides: int) -> int:
        """Return the sides that the part gives to dice which would have so many without it."""
        return self._sides[state, sides]

    def points_after(self, way_to_score: int, dice: int, points: int) -> int:
        """Return the points that the part makes of a turn's `points`.

        `way_to_score` is the number of the way, `self.ways_to_score[state]`.
        """
        return self._points_by_way[way_to_score].get((dice, points), points)

    def _ask_points(self, value: Hashable, dice: int, points: int) -> int:
        """Ask the part what it makes of a turn's points, and refuse fewer, or too many."""
        scored = self._ask(self._part.scored, value, dice, points)
        if not isinstance(scored, int) or not points <= scored <= max(points, MOST_SCORED):
            where = f"{self._where}: scored({shown(value)}, {dice}, {points})"
            allowed = f"whole numbers from {points} to {MOST_SCORED}"
            raise HogeqError(refusal(where, scored, allowed))
        return int(scored)

    def _ask_sides(self, value: Hashable, sides: int, kinds: tuple[int, ...]) -> int:
        """Ask the part for the sides of dice, and refuse others than `kinds`."""
        answer = self._ask(self._part.sides, value, sides)
        if answer not in kinds:
            where = f"{self._where}: sides({shown(value)}, {sides})"
            allowed = f"{', '.join(map(str, kinds))}; more_sides lists others"
            raise HogeqError(refusal(where, answer, allowed))
        return int(answer)

    def _ask_effects(self, value: Hashable) -> set[int]:
        """Ask for the effects of every choice at every pair of scores, with one value.

        Appends to `_row_numbers`. Returns the choices that force an extra turn at some pair.
        """
        rules = self._rules
        forcing_dice: set[int] = set()
        if not rules.has_effects:
            return forcing_dice
        row_numbers = []  # by pair of scores
        for score, opponent in product(range(rules.size), repeat=2):
            row = []  # by choice
            for dice in rules.choices:
                arguments = rules, score, opponent, value, dice
                by_memory = _ask_effect(self._where, self._part.effect, *arguments)
                by_part = _ask_effect(f"effect: {rules.effect}", EFFECTS[rules.effect], *arguments)
                forced = by_memory.forced or by_part.forced
                row.append(Effect(by_memory.bonus + by_part.bonus, forced))
                if forced:
                    forcing_dice.add(dice)
            row_numbers.append(self._effect_rows.setdefault(tuple(row), len(self._effect_rows)))
        self._row_numbers.append(row_numbers)
        return forcing_dice

    def _ask(self, method: Callable[..., Any], *arguments: Any) -> Any:
        """Call a method of the part; its exception is refused in one line that shows the call."""

        def call() -> str:
            return f"{self._where}: {method.__name__}({', '.join(map(shown, arguments))})"

        return asked(call, method, *arguments)

    def _require_hashable(self, what: str, value: object) -> Hashable:
        """Return a value of the memory, `start` or a result of `update` (`what`), if hashable."""
        try:
            hash(value)
        except TypeError:
            raise HogeqError(
                refusal(f"{self._where}: {what}", value, "a hashable value: a number, text, tuple")
            ) from None
        return value


def _ask_effect(where: str, function: Callable[..., Any], *arguments: Any) -> Effect:
    """Call a part's effect function, and refuse any result but a bonus, or (bonus, extra turn).

    `where` names the part in messages; the arguments are (rules, score, opponent, memory, dice).
    """

    def call() -> str:
        _, score, opponent, memory, dice = arguments
        pair = f"score, opponent = {score}, {opponent}"
        return f"{where}: effect at {pair}, memory {shown(memory)}, {dice} dice"

    answer = asked(call, function, *arguments)
    is_pair = isinstance(answer, tuple) and len(answer) == 2
    bonus, again = answer if is_pair else (answer, False)
    is_bonus = isinstance(bonus, int) and 0 <= bonus <= MOST_BONUS
    if not is_bonus or not isinstance(again, bool):
        allowed = f"whole numbers from 0 to {MOST_BONUS}, or such a number and True or False"
        raise HogeqError(refusal(call(), answer, allowed))
    return Effect(int(bonus), again)


@cache
def memory_tables(rules: Rules) -> MemoryTables:
    """Make the tables of the memory part in play, once for each game."""
    return MemoryTables(rules)


def _possible_turns(rules: Rules) -> set[tuple[int, int]]:
    """Collect the (dice, points) of all possible turns; the choice -1 counts as -1 dice."""
    if rules.memory == "none":
        return {(0, 0)}  # this part ignores turns: any one stands for all
    scores = range(rules.size)
    turns = {(0, zero_points(rules, *pair)) for pair in product(scores, scores)}
    do_ones_hurt = (True, False) if rules.forty_niners else (True,)
    throws = product(kinds_of_dice(rules), range(1, rules.max_dice + 1), do_ones_hurt)
    for sides, dice, ones_hurt in throws:
        distribution = points_distribution(rules, dice, sides, ones_hurt=ones_hurt)
        turns |= {(dice, points) for points in distribution}
    if -1 in rules.choices:
        turns.add((-1, minus_one_points(rules)))
    return turns


# --- names and texts ------------------------------------------------------------------------------


class Axis(NamedTuple):
    """A field of `Memory` as an axis of a picture, or a column of a table."""

    name: str
    ticks: tuple[str, ...]  # names of its values


def _all_axes(rules: Rules) -> dict[str, Axis]:
    """List the axes of all fields of `Memory`, in its order; unused fields have one tick."""
    num_turns, num_extras, num_records = memory_sizes(rules)
    unit = "points" if rules.feral_hogs == "points" else "dice"
    record_ticks = [str(value) for value in range(num_records)]
    if unit == "points":
        record_ticks[-1] += "+"  # the last record stands for all higher points, too
    return {
        "turn": Axis(f"turn (mod {num_turns})", tuple(map(str, range(num_turns)))),
        "extra": Axis("extra turn", ("no", "yes")[:num_extras]),
        "own_last": Axis(f"own last {unit}", tuple(record_ticks)),
        "opponent_last": Axis(f"opponent's last {unit}", tuple(record_ticks)),
        "remembered": Axis(MEMORY_PARTS[rules.memory].text, memory_tables(rules).texts),
    }


def axes(rules: Rules) -> tuple[Axis, Axis]:
    """Choose two fields of the memory of the player to move as the axes of a picture."""
    turn, extra, own, opponent, states = _all_axes(rules).values()
    if len(own.ticks) > 1:
        return own, opponent
    if rules.memory != "none":
        return states, turn if len(turn.ticks) > 1 else extra
    return turn, extra


def _relevant_fields(rules: Rules, memory: Memory) -> list[tuple[str, Axis, int]]:
    """List the fields of a memory that the rules look at: name, axis and value."""
    fields = zip(_all_axes(rules).items(), memory, strict=True)
    return [
        (name, axis, value)
        for (name, axis), value in fields
        if (rules.memory != "none" if name == "remembered" else len(axis.ticks) > 1)
    ]


def memory_fields(rules: Rules, memory: Memory) -> dict[str, int | str]:
    """Return the fields of a memory that the rules look at, by name, as users write them."""
    fields: dict[str, int | str] = {
        name: value for name, _, value in _relevant_fields(rules, memory)
    }
    if "extra" in fields:
        fields["extra"] = bool(memory.extra)
    if "remembered" in fields:
        fields["remembered"] = memory_tables(rules).texts[memory.state]
    return fields


def memory_texts(rules: Rules, memory: Memory) -> list[str]:
    """Write the values of the fields of a memory that the rules look at, for people."""
    return [axis.ticks[value] for _, axis, value in _relevant_fields(rules, memory)]


def memory_columns(rules: Rules) -> list[str]:
    """List the names of the fields of a memory that the rules look at, for people."""
    return [axis.name for _, axis, _ in _relevant_fields(rules, Memory())]


def memory_line(rules: Rules, memory: Memory) -> str:
    """Write a memory in one line, with the names of its fields."""
    parts = zip(memory_columns(rules), memory_texts(rules, memory), strict=True)
    return ", ".join(f"{name}: {value}" for name, value in parts)


def memory_of(rules: Rules, given: Mapping[str, Any], *, at_start: bool) -> Memory | None:
    """Make the memory of the player to move from the fields that a user gives; None without any.

    Fields have the names of `memory_fields`; those left out are as before the first turn.
    `at_start` says whether the scores are 0 to 0, where nobody can have scored points. A refusal
    names the options of ``hogeq analyze``.
    """
    for name, value in given.items():
        _check_field(rules, name, value)
    if not given:
        return None
    turn = given.get("turn", 0)
    if rules.time_trot and given.get("extra") and not turn:
        raise HogeqError("--extra: turn 0 is no extra turn; allowed: --turn from 1")
    own_last = given.get("own_last", 0)
    opponent_last = given.get("opponent_last", 0)
    # A user gives dice or points, whichever the rules record: one number serves as either.
    own = feral_record(rules, own_last, own_last)
    opponent = feral_record(rules, opponent_last, opponent_last)
    if at_start and rules.feral_hogs == "points":
        for name, last in (("--own-last", own), ("--opponent-last", opponent)):
            if last:
                raise HogeqError(f"{name}: got {last}; allowed at 0 points against 0: 0")
    return Memory(
        turn=turn % rules.time_trot_period if rules.time_trot else 0,
        extra=int(given.get("extra", False)),
        own=own,
        opponent=opponent,
        state=memory_tables(rules).texts.index(given["remembered"]) if "remembered" in given else 0,
    )


def _check_field(rules: Rules, name: str, value: Any) -> None:
    """Refuse a field that the rules do not remember, or a value that it cannot have."""
    option = _option(name)
    known = memory_fields(rules, Memory())
    if name not in known:
        fields = zip(known, memory_columns(rules), strict=True)
        allowed = ", ".join(f"{_option(field)} ({meaning})" for field, meaning in fields)
        raise HogeqError(
            f"{option}: rules {rules.name} do not remember that; "
            f"allowed: {allowed or 'no such option, as they remember nothing'}"
        )
    if name == "remembered":
        texts = memory_tables(rules).texts
        if value not in texts:
            raise HogeqError(refusal(option, value, ", ".join(texts), texts))
    elif value < 0:
        raise HogeqError(f"{option}: {value}; allowed: whole numbers from 0")
    elif name.endswith("_last") and rules.feral_hogs == "dice" and value > rules.max_dice:
        raise HogeqError(f"{option}: {value} dice; allowed: 0 to {rules.max_dice}")


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"
