"""What a turn can do, from the rules' text: the order of events, and what is remembered.

A turn from scores s and o goes

1. points of the roll, or of no dice: at 49 with 49ers a 1 does no harm; with Touchdown a multiple
   of 6 gains a sixth; prime points become the next prime; Pig Fest multiplies them;
2. Feral Hogs' bonus, which is not part of the points; points and bonus raise s;
3. Piggy Back: points of 0 raise o by the number of dice;
4. Square Swine, then the landing: s may become another score;
5. More Boar looks at both scores as they are now;
6. the swap looks at them too, and may make them trade places;
7. the goal: whoever has it wins;
8. Time Trot.

With Ham Hijinks a player may choose -1, which scores 1 in place of 1. While it has been chosen an
odd number of times, six-sided dice are rolled for four-sided ones and four-sided for six-sided.
Pig Fest has that too, and counts each player's Pig Outs in a row, up to 3: the next turn without
one scores as many times its points. With Perfect Piggy, all dice are four-sided while points have
been a square or a cube, but not 1, an odd number of times. With Hog Tied, a player who asks for
more dice where the scores' sum ends in 7 rolls one.

With a least number of dice, a player who chooses fewer has lost.

The turn is over unless 5 or 8 give another. Memory stays with its player, swap or not. The text
does not say who wins if both players have the goal, which no edition allows: here the one who is
further past it, and the mover if both are as far. Each player may have a goal of its own.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, is_dataclass
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any, NamedTuple

from tests.twin.parts import (
    EFFECTS,
    LANDINGS,
    MORE_BOAR,
    SWAPS,
    ZERO_DICE,
    is_perfect,
    points_of_rolls,
    prime_boost,
    square_swine,
    touchdown,
)

SWITCHES: dict[str, Any] = {
    "goal": 100,
    "max_dice": 10,
    "min_dice": 0,
    "sides": 6,
    "zero_dice": "ten_minus_ones_plus_tens",
    "pig_out": 1,
    "prime_boost": False,
    "touchdown": False,
    "hog_wild": False,
    "hog_tied": False,
    "forty_niners": False,
    "feral_hogs": "none",
    "square_swine": False,
    "landing": "none",
    "piggy_back": False,
    "swap": "none",
    "more_boar": "none",
    "time_trot": False,
    "time_trot_period": 8,
    "extra_turn_sides": None,
    "memory": "none",
    "effect": "none",
}
"""Every switch, with what it is if nothing is said."""


HIDDEN: dict[str, int] = {"none": 1, "ham_hijinks": 2, "perfect_piggy": 2, "pig_fest": 32}
"""Parts that remember, and how many values they have."""


def fest_after(value: tuple[int, int, int], *, exchange: bool, pig: bool, again: bool) -> Any:
    """Say what Pig Fest remembers: exchanges modulo 2, Pig Outs of the next mover and the other."""
    exchanged, own, other = value
    exchanged, own = (exchanged + exchange) % 2, min(3, own + 1) if pig else 0
    return (exchanged, own, other) if again else (exchanged, other, own)


FEST: list[tuple[int, int, int]] = [(0, 0, 0)]
"""Values of Pig Fest, as they are met: after an exchange, after another turn, after a Pig Out."""
for _value in FEST:
    for _exchange, _pig in ((True, False), (False, False), (False, True)):
        _after = fest_after(_value, exchange=_exchange, pig=_pig, again=False)
        if _after not in FEST:
            FEST.append(_after)


class Memory(NamedTuple):
    """What the rules remember, for the player to move."""

    turn: int = 0
    extra: int = 0
    own: int = 0
    opponent: int = 0
    state: Any = 0
    """Times that the dice were exchanged, modulo 2; or of a part of no edition.

    With Pig Fest, the place in `FEST`.
    """


class State(NamedTuple):
    """All that matters to the player to move."""

    own: int
    opponent: int
    memory: tuple[int, ...] = Memory()


class Landing(NamedTuple):
    """Scores after everything, who has won (0 the mover, 1 the opponent), and More Boar."""

    score: int
    opponent: int
    winner: int | None
    again: bool


class Branch(NamedTuple):
    """One way in which a turn can end."""

    chance: Fraction
    points: int
    winner: int | None
    """0 the mover, 1 the opponent, None while the game goes on."""
    state: State
    """Of whoever moves next; meaningless once the game is over."""
    again: bool


def switches(rules: Any) -> dict[str, Any]:
    """Complete a mapping of switches, or a dataclass whose fields are switches."""
    given = asdict(rules) if is_dataclass(rules) and not isinstance(rules, type) else dict(rules)
    given.pop("name", None)
    strange = {name: value for name, value in given.items() if name not in SWITCHES}
    if any(value not in {None, False, "none"} for value in strange.values()):
        raise ValueError(f"twin: {strange}; allowed: {', '.join(SWITCHES)}")
    if given.get("memory", "none") not in HIDDEN:
        raise ValueError(f"twin: memory is {given['memory']}; allowed: {', '.join(HIDDEN)}")
    return SWITCHES | {name: value for name, value in given.items() if name in SWITCHES}


class Play:
    """What turns can do in one game."""

    def __init__(self, rules: Any) -> None:
        self.on: Mapping[str, Any] = switches(rules)
        goal = self.on["goal"]
        self.goals: tuple[int, int] = (goal, goal) if isinstance(goal, int) else tuple(goal)
        """Of the player to move, who is the first, and of the other."""
        self.goal = max(self.goals)
        self.start = State(0, 0)
        self._known: dict[tuple[State, int], list[Branch]] = {}
        self._stay: dict[tuple[State, int], list[Branch]] = {}
        self.land = cache(self._land)

    def of_second(self) -> "Play":
        """Say what turns of the second player can do."""
        if self.goals[0] == self.goals[1]:
            return self
        return Play({**self.on, "goal": self.goals[::-1]})

    @property
    def _ham(self) -> bool:
        return self.on["memory"] in {"ham_hijinks", "pig_fest"}

    @property
    def _fest(self) -> bool:
        return bool(self.on["memory"] == "pig_fest")

    def rolls(self) -> list[int]:
        """List what a player may choose; -1 is the last column of a policy."""
        return [*range(self.on["max_dice"] + 1), *[-1] * self._ham]

    # --- one turn, event by event -----------------------------------------------------------------

    def sides(self, state: State) -> int:
        """Count the sides of the dice: those of extra turns come before Hog Wild's."""
        _, extra, _, _, hidden = state.memory
        exchanged = FEST[hidden][0] if self._fest else hidden
        sides = int(self.on["sides"])
        if extra and self.on["extra_turn_sides"] is not None:
            sides = int(self.on["extra_turn_sides"])
        elif self.on["hog_wild"] and (state.own + state.opponent) % 7 == 0:
            sides = 4
        if self._ham and exchanged and sides in {4, 6}:
            return 10 - sides
        if self.on["memory"] == "perfect_piggy" and exchanged:
            return 4
        return sides

    def rolled(self, state: State, dice: int) -> int:
        """Count the dice that are rolled if a player asks for so many."""
        if self.on["hog_tied"] and (state.own + state.opponent) % 10 == 7 and dice > 1:
            return 1
        return dice

    def loses(self, dice: int) -> bool:
        """Whether so many dice are fewer than a player may choose."""
        return 0 <= dice < int(self.on["min_dice"])

    def times(self, memory: tuple[int, ...], dice: int, points: int) -> int:
        """By how much Pig Fest multiplies the points."""
        if not self._fest or (dice > 0 and points == 1):
            return 1
        return max(1, FEST[memory[4]][1])

    def points(self, state: State, dice: int) -> dict[int, Fraction]:
        """Give the probability of each number of points."""
        if dice == -1:
            found = {1: Fraction(1)}
        elif dice == 0:
            own_way = ZERO_DICE[self.on["zero_dice"]]
            found = {own_way(state.own, state.opponent): Fraction(1)}
        else:
            harmless = bool(self.on["forty_niners"]) and state.own == 49
            rolled = dice, self.sides(state), self.on["pig_out"]
            found = points_of_rolls(*rolled, harmless=harmless)
        boosted: dict[int, Fraction] = {}
        for points, chance in found.items():
            more = touchdown(points) if self.on["touchdown"] else points
            more = prime_boost(more) if self.on["prime_boost"] else more
            boosted[more] = boosted.get(more, Fraction(0)) + chance
        return boosted

    def bonus(self, memory: tuple[int, ...], dice: int) -> int:
        last, rolled = memory[2], max(0, dice)
        return 3 if self.on["feral_hogs"] != "none" and abs(rolled - last) == 2 else 0

    def effect(self, state: State, dice: int) -> tuple[int, bool]:
        """Points more, and an extra turn, by all that a turn begins with."""
        return EFFECTS[self.on["effect"]](state.own, state.opponent, dice)

    def gift(self, dice: int, points: int) -> int:
        return dice if self.on["piggy_back"] and points == 0 else 0

    def _land(self, score: int, opponent: int) -> Landing:
        if self.on["square_swine"]:
            score = square_swine(score)
        for landing in self.on["landing"].split("+"):
            score = LANDINGS[landing](score, opponent)
        again = MORE_BOAR[self.on["more_boar"]](score, opponent)
        if SWAPS[self.on["swap"]](score, opponent):
            score, opponent = opponent, score
        mine, theirs = self.goals
        winner = None
        if score >= mine and opponent >= theirs:
            winner = 0 if score - mine >= opponent - theirs else 1
        elif score >= mine:
            winner = 0
        elif opponent >= theirs:
            winner = 1
        return Landing(score, opponent, winner, again and winner is None)

    def trots(self, memory: tuple[int, ...], dice: int) -> bool:
        turn, extra, *_ = memory
        return bool(self.on["time_trot"]) and not extra and turn == dice

    # --- memory -----------------------------------------------------------------------------------

    def sizes(self) -> tuple[int, int, int]:
        """Count the turn numbers, kinds of turn and own records that can matter."""
        dice = self.on["max_dice"]
        turns = self.on["time_trot_period"] if self.on["time_trot"] else 1
        # Dice of extra turns come before Hog Wild's, so with it they matter even if as usual.
        usual = {None} if self.on["hog_wild"] else {None, self.on["sides"]}
        other_dice = self.on["extra_turn_sides"] not in usual
        extras = 2 if self.on["time_trot"] or other_dice else 1
        # Points of more than dice + 2 are no two away from any roll: one class.
        return (
            turns,
            extras,
            {"none": 1, "points": dice + 4, "dice": dice + 1}[self.on["feral_hogs"]],
        )

    def memories(self) -> list[Memory]:
        turns, extras, records = self.sizes()
        parts = (range(turns), range(extras), range(records), range(records))
        exchanged = range(HIDDEN[self.on["memory"]])
        return [
            Memory(*values)._replace(state=state) for state, *values in product(exchanged, *parts)
        ]

    def after(self, memory: tuple[int, ...], dice: int, points: int, again: bool) -> Memory:
        """Say what whoever moves next remembers."""
        turns, extras, records = self.sizes()
        turn, _, _, opponent, state = memory
        noted = {"none": 0, "points": points, "dice": max(0, dice)}[self.on["feral_hogs"]]
        noted = min(noted, records - 1)
        following = (turn + 1) % turns
        if self._fest:
            pig = dice > 0 and points == 1
            value = fest_after(FEST[state], exchange=dice == -1, pig=pig, again=again)
            state = FEST.index(value)
        elif self.on["memory"] == "perfect_piggy":
            state = (state + is_perfect(points)) % 2
        else:
            state = (state + (dice == -1)) % 2 if self._ham else 0
        if again:
            return Memory(following, extras - 1, noted, opponent, state)
        return Memory(following, 0, opponent, noted, state)

    # --- all of it --------------------------------------------------------------------------------

    def branches(self, state: State, dice: int) -> list[Branch]:
        """List what can come of rolling this many dice."""
        if (state, dice) not in self._known:
            self._known[state, dice] = list(self._branches(state, dice))
        return self._known[state, dice]

    def staying(self, state: State, dice: int) -> list[Branch]:
        """List the branches that leave the sum of scores as it is."""
        if (state, dice) not in self._stay:
            total = state.own + state.opponent
            self._stay[state, dice] = [
                branch
                for branch in self.branches(state, dice)
                if branch.winner is None and branch.state.own + branch.state.opponent == total
            ]
        return self._stay[state, dice]

    def _branches(self, state: State, dice: int) -> Iterator[Branch]:
        own, opponent, memory = state
        if self.loses(dice):
            yield Branch(Fraction(1), 0, 1, State(0, 0), False)
            return
        dice = self.rolled(state, dice)
        for points, chance in self.points(state, dice).items():
            scored = points * self.times(memory, dice, points)
            more, forced = self.effect(state, dice)
            gained = scored + more + self.bonus(memory, dice)
            there = self.land(own + gained, opponent + self.gift(dice, points))
            forced = forced or self.trots(memory, dice)
            again = there.winner is None and (there.again or forced)
            after = self.after(memory, dice, points, again)
            mine, theirs = there.score, there.opponent
            following = State(mine, theirs, after) if again else State(theirs, mine, after)
            yield Branch(chance, scored, there.winner, following, again)

    def states(self) -> list[State]:
        """List every hidden state, reachable or not, in the order of scores, then of memory."""
        scores, others = map(range, self.goals)
        cells, memories = product(scores, others), self.memories()
        return [State(*cell, memory) for cell in cells for memory in memories]
