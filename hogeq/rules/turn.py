"""One turn, and every way in which it can end: points, scores, the next player, the memory.

A turn runs in this order: points (0, 1, or the dice's sum), prime boost, points given away,
bonus, Square Swine, the landing part, More Boar, swap, goal.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product
from typing import NamedTuple

from hogeq.rules.memory import (
    Memory,
    memory_line,
    next_memory,
    record,
    remembered,
)
from hogeq.rules.parts import LANDINGS, MORE_BOAR, SWAPS, square_swine
from hogeq.rules.register import title
from hogeq.rules.rules import (
    FERAL_BONUS,
    FERAL_DISTANCE,
    HOG_WILD_MULTIPLE,
    HOG_WILD_SIDES,
    Rules,
    kinds_of_dice,
    minus_one_points,
    points_distribution,
    rolled_points,
    zero_points,
)
from hogeq.rules.tables import is_table
from hogeq.support.messages import shown


class Landing(NamedTuple):
    """Where a turn ends."""

    score: int  # the mover's score
    opponent: int  # the opponent's score
    again: bool  # whether More Boar gives the mover an extra turn; never once the game is over
    winner: int | None  # 0 the mover, 1 the opponent, None while the game goes on


class Branch(NamedTuple):
    """One result of a roll."""

    points: int  # points for the mover, without the bonus
    gift: int  # points for the opponent
    record: int  # of `hogeq.rules.memory.record`: how the turn is remembered
    probability: Fraction


class MemoryEffect(NamedTuple):
    """Bonus and extra turn by the memory."""

    bonus: int  # points for the mover
    forced: bool  # whether the roll earns an extra turn, wherever it lands


class Turn(NamedTuple):
    """One turn, as it was played or can be."""

    points: int  # points of the dice, or for rolling none, without the bonus
    bonus: int  # points of Feral Hogs or of the part `Rules.memory`
    given: int  # points given to the opponent
    landing: Landing  # scores after everything
    again: bool  # whether the mover takes an extra turn, wherever it comes from
    memory: Memory  # memory of the next player to move
    probability: Fraction = Fraction(1)

    @property
    def following(self) -> tuple[int, int, Memory]:
        """Scores of the next player to move and of the other, and the memory."""
        score, opponent, _, _ = self.landing
        return (score, opponent, self.memory) if self.again else (opponent, score, self.memory)


# --- points ---------------------------------------------------------------------------------------


def dice_sides(rules: Rules, score: int, opponent: int, memory: Memory) -> int:
    """Sides of this turn's dice; those of extra turns take precedence over Hog Wild."""
    sides = rules.sides
    if memory.extra and rules.extra_turn_sides is not None:
        sides = rules.extra_turn_sides
    elif rules.hog_wild and (score + opponent) % HOG_WILD_MULTIPLE == 0:
        sides = HOG_WILD_SIDES
    return remembered(rules).sides(memory.state, sides)


def memory_effect(rules: Rules, memory: Memory, dice: int) -> MemoryEffect:
    """Bonus and extra turn that the memory adds: Feral Hogs, Time Trot, the part `Rules.memory`."""
    added, again = remembered(rules).effect(memory.state, dice)
    if rules.feral_hogs != "none" and abs(max(dice, 0) - memory.own) == FERAL_DISTANCE:
        added += FERAL_BONUS
    on_time = rules.time_trot and memory.turn % rules.time_trot_period == dice
    return MemoryEffect(added, again or (on_time and memory.extra == 0))


def given(rules: Rules, dice: int, points: int) -> int:
    """Piggy Back: a turn of 0 points gives the opponent one point for each die rolled."""
    return dice if rules.piggy_back and points == 0 else 0


# --- scores and who moves next --------------------------------------------------------------------


def land(rules: Rules, score: int, opponent: int) -> Landing:
    """Where a turn ends, once its points are counted.

    Should both be at their goals, the one further past it wins, and the mover if both are as far.
    """
    if rules.square_swine:
        score = square_swine(score)
    score = LANDINGS[rules.landing](score, opponent)
    again = MORE_BOAR[rules.more_boar](score, opponent)
    if SWAPS[rules.swap](score, opponent):
        score, opponent = opponent, score
    past, other_past = score - rules.goals[0], opponent - rules.goals[1]
    if max(past, other_past) < 0:
        return Landing(score, opponent, again, winner=None)
    return Landing(score, opponent, again=False, winner=0 if past >= other_past else 1)


def play_turn(
    rules: Rules, score: int, opponent: int, memory: Memory, dice: int, faces: Sequence[int]
) -> Turn:
    """Play one whole turn of the first player with dice that have been rolled."""
    _check("score", score, 0, rules.goals[0] - 1)
    _check("opponent", opponent, 0, rules.goals[1] - 1)
    _check("dice", dice, min(rules.choices), rules.max_dice)
    if len(faces) != max(dice, 0):
        raise ValueError(f"turn: {len(faces)} faces for {dice} dice; allowed: one face a die")
    sides = dice_sides(rules, score, opponent, memory)
    for face in faces:
        _check("face", face, 1, sides)

    if dice > 0:
        points = rolled_points(rules, faces)
    else:
        points = minus_one_points(rules) if dice else zero_points(rules, score, opponent)
    effect = memory_effect(rules, memory, dice)
    return end_turn(rules, (score, opponent), memory, branch_of(rules, dice, points), effect)


def branch_of(rules: Rules, dice: int, points: int, probability: Fraction = Fraction(1)) -> Branch:
    """Give the branch of a choice that scores so many points."""
    gift = given(rules, dice, points)
    return Branch(points, gift, record(rules, dice, points), probability)


def end_turn(
    rules: Rules, scores: tuple[int, int], memory: Memory, branch: Branch, effect: MemoryEffect
) -> Turn:
    """End a turn whose points are known."""
    points, gift, recorded, probability = branch
    landing = land(rules, scores[0] + points + effect.bonus, scores[1] + gift)
    again = landing.winner is None and (landing.again or effect.forced)
    after = next_memory(rules, memory, recorded, again)
    return Turn(points, effect.bonus, gift, landing, again, after, probability)


def _check(what: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise ValueError(f"turn: {what} is {shown(value)}; allowed: {low} to {high}")


# --- every way in which a turn can end ------------------------------------------------------------


class TurnTable:
    """Every way in which a turn of the first player can end, by what it depends on."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self._branches: dict[tuple[int, int], tuple[Branch, ...]] = {}
        self._free: dict[int, Branch] = {}  # by points

    def branches(self, dice: int, sides: int) -> tuple[Branch, ...]:
        """Results of a choice other than no dice, dice having `sides` sides: points ascending."""
        key = dice, sides
        if dice < 0:
            return (branch_of(self.rules, dice, minus_one_points(self.rules)),)
        if key not in self._branches:
            self._branches[key] = tuple(
                branch_of(self.rules, dice, points, probability)
                for points, probability in points_distribution(self.rules, dice, sides).items()
            )
        return self._branches[key]

    def free(self, score: int, opponent: int) -> Branch:
        """Give the one result of rolling no dice, at the mover's score and the opponent's."""
        points = zero_points(self.rules, score, opponent)
        if points not in self._free:
            self._free[points] = branch_of(self.rules, 0, points)
        return self._free[points]

    def most(self) -> tuple[int, int]:
        """Most points that a turn can score, without a bonus, and most that it can give."""
        branches = [self.free(*pair) for pair in product(range(self.rules.size), repeat=2)]
        for sides, dice in product(kinds_of_dice(self.rules), self.rules.choices[1:]):
            branches.extend(self.branches(dice, sides))
        return max(branch.points for branch in branches), max(branch.gift for branch in branches)

    def outcomes(self, score: int, opponent: int, memory: Memory, dice: int) -> tuple[Turn, ...]:
        """List every way in which one turn can end, points ascending."""
        if dice:
            branches = self.branches(dice, dice_sides(self.rules, score, opponent, memory))
        else:
            branches = (self.free(score, opponent),)
        effect = memory_effect(self.rules, memory, dice)
        scores = score, opponent
        return tuple(end_turn(self.rules, scores, memory, branch, effect) for branch in branches)


@cache
def total_rises(rules: Rules) -> bool:
    """Whether every turn raises the sum of both scores, so that no position comes twice.

    A landing never lowers a score, so it is enough that every turn scores or gives something.
    """
    return (rules.pig_out != 0 or rules.piggy_back) and scoreless_turn(rules) is None


@cache
def scoreless_turn(rules: Rules) -> tuple[int, int] | None:
    """First pair of scores, the mover's and the opponent's, at which no dice score 0; or None."""
    scores = range(rules.size)
    pairs = ((own, other) for own in scores for other in scores)
    return next((pair for pair in pairs if zero_points(rules, *pair) == 0), None)


# --- a turn in words ------------------------------------------------------------------------------


class TurnParts(NamedTuple):
    """Names of the parts that differ from game to game."""

    bonus: str  # of the part that adds points by the memory
    landing: str  # of the part that changes the mover's new score
    turn: str  # of the part that gives an extra turn by the memory


def turn_parts(rules: Rules) -> TurnParts:
    """Name the parts that act in a turn."""
    return TurnParts(
        _either("Feral Hogs", rules.feral_hogs != "none", rules),
        "New score" if is_table(rules.landing) else title(rules.landing),
        _either("Time Trot", rules.time_trot, rules),
    )


def turn_effects(
    rules: Rules, score: int, opponent: int, faces: Sequence[int] | None, turn: Turn
) -> list[str]:
    """Describe what a turn did, one part of the rules a line; without faces the choice was -1."""
    names = turn_parts(rules)
    plain, lines = _rolled(rules, score, opponent, faces, turn)
    if plain != turn.points:
        lines.append(f"Hogtimus Prime: {_points(turn.points)} instead of {plain}")
    if turn.bonus:
        lines.append(f"{names.bonus}: {_points(turn.bonus)} more")
    if turn.given:
        lines.append(f"Piggy Back: {_points(turn.given)} to the other")
    reached = score + turn.points + turn.bonus
    other = opponent + turn.given
    if rules.square_swine and square_swine(reached) != reached:
        lines.append(f"Square Swine: {reached} becomes {square_swine(reached)}")
        reached = square_swine(reached)
    becomes = LANDINGS[rules.landing](reached, other)
    if becomes != reached:
        lines.append(f"{names.landing}: {reached} becomes {becomes}")
    if SWAPS[rules.swap](becomes, other) and becomes != other:
        lines.append("Swap: the scores trade places")
    if turn.again:
        part = "More Boar" if turn.landing.again else names.turn
        lines.append(f"{part}: an extra turn")
    return lines


def _rolled(
    rules: Rules, score: int, opponent: int, faces: Sequence[int] | None, turn: Turn
) -> tuple[int, list[str]]:
    """Give the points before any boost, and describe them."""
    unboosted = replace(rules, prime_boost=False)
    if faces is None:
        exchange = f"{title(rules.memory)}: {memory_line(rules, turn.memory)}"
        return turn.points, [f"chose -1, {_points(turn.points)}", exchange]
    if not faces:
        plain = zero_points(unboosted, score, opponent)
        return plain, [f"rolled no dice, {_points(plain)}"]
    plain = rolled_points(unboosted, faces)
    pig = ", with a 1" if 1 in faces else ""
    shown_faces = " ".join(map(str, faces))
    return plain, [f"rolled {len(faces)}: {shown_faces}{pig}, {_points(plain)}"]


def _either(part: str, there: bool, rules: Rules) -> str:
    """Name of a part that remembers, of the part `Rules.memory`, or of both if either may be it."""
    other = title(rules.memory)
    if rules.memory == "none":
        return part
    return f"{part} or {other}" if there else other


def _points(number: int) -> str:
    return f"{number} point{'' if number == 1 else 's'}"
