"""One turn, and every way in which it can end: points, scores, the next player, the memory.

A turn runs in this order: points (0, 1, or the dice's sum), Touchdown, prime boost, points given
away, the memory's points and bonus, Square Swine, the landing part, More Boar, swap, goal.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product
from math import lcm
from typing import Final, NamedTuple

from hogeq.rules.memory import (
    Effect,
    Memory,
    memory_line,
    memory_tables,
    next_memory,
    record,
)
from hogeq.rules.parts import LANDINGS, MORE_BOAR, SWAPS, square_swine
from hogeq.rules.register import title
from hogeq.rules.rules import (
    FERAL_BONUS,
    FERAL_DISTANCE,
    FORTY_NINERS,
    HOG_TIED_DIGIT,
    HOG_WILD_MULTIPLE,
    HOG_WILD_SIDES,
    MOST_DICE,
    Rules,
    Throw,
    kinds_of_dice,
    minus_one_points,
    points_distribution,
    prime_boost,
    rolled_points,
    touchdown,
    zero_points,
)
from hogeq.rules.tables import is_table
from hogeq.support.messages import HogeqError, shown

FORFEIT: Final = MOST_DICE
"""Points past a goal to which fewer dice than `Rules.min_dice` raise the opponent, who wins.

No gift of Piggy Back comes as far.
"""


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


class Turn(NamedTuple):
    """One turn, as it was played or can be."""

    points: int  # points of the dice, or for rolling none, without the bonus
    bonus: int  # points of Feral Hogs and of the parts `Rules.memory` and `Rules.effect`
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
    """Return the sides of this turn's dice; `extra_turn_sides` takes precedence over Hog Wild."""
    sides = rules.sides
    if memory.extra and rules.extra_turn_sides is not None:
        sides = rules.extra_turn_sides
    elif rules.hog_wild and (score + opponent) % HOG_WILD_MULTIPLE == 0:
        sides = HOG_WILD_SIDES
    return memory_tables(rules).sides(memory.state, sides)


def denominator(rules: Rules) -> int:
    """Return a common denominator of all probabilities of a turn."""
    return lcm(*kinds_of_dice(rules)) ** rules.max_dice


def throw_of(rules: Rules, score: int, opponent: int, memory: Memory) -> Throw:
    """Return how this turn's dice are thrown, by Hog Wild, Hog Tied, 49ers and the memory part."""
    is_tied = rules.hog_tied and (score + opponent) % 10 == HOG_TIED_DIGIT
    return Throw(
        sides=dice_sides(rules, score, opponent, memory),
        most=1 if is_tied else MOST_DICE,
        ones_hurt=not (rules.forty_niners and score == FORTY_NINERS),
        way_to_score=memory_tables(rules).ways_to_score[memory.state],
    )


def effect(rules: Rules, score: int, opponent: int, memory: Memory, dice: int) -> Effect:
    """Return the bonus and extra turn of Feral Hogs, Time Trot, and parts `memory` and `effect`.

    `dice` are those rolled; -1 for that choice.
    """
    bonus, again = memory_tables(rules).effect(score, opponent, memory.state, dice)
    if rules.feral_hogs != "none" and abs(max(dice, 0) - memory.own) == FERAL_DISTANCE:
        bonus += FERAL_BONUS
    is_on_time = rules.time_trot and memory.turn % rules.time_trot_period == dice
    # Time Trot earns no extra turn on an extra turn.
    return Effect(bonus, again or (is_on_time and memory.extra == 0))


def given(rules: Rules, dice: int, points: int) -> int:
    """Piggy Back: a turn of 0 points gives the opponent one point for each die rolled."""
    return dice if rules.piggy_back and points == 0 else 0


# --- scores and who moves next --------------------------------------------------------------------


def land(rules: Rules, score: int, opponent: int) -> Landing:
    """Land a turn: apply Square Swine, the landing part, More Boar, the swap and the goals.

    The arguments are the scores with the turn's points, bonus and gift. Should both players have
    reached their goals, the one further past it wins, and the mover on a tie. A turn with fewer
    dice than allowed loses the game; :func:`branch_of` encodes this as a gift to the opponent that
    is larger than any other.
    """
    is_forfeited = rules.min_dice > 0 and opponent >= rules.size + FORFEIT
    if is_forfeited:
        return Landing(0, opponent, again=False, winner=1)
    if rules.square_swine:
        score = square_swine(score)
    score = LANDINGS[rules.landing](score, opponent)
    again = MORE_BOAR[rules.more_boar](score, opponent)
    if SWAPS[rules.swap](score, opponent):
        score, opponent = opponent, score
    excess = score - rules.goals[0]
    opponent_excess = opponent - rules.goals[1]
    if max(excess, opponent_excess) < 0:
        return Landing(score, opponent, again, winner=None)
    return Landing(score, opponent, again=False, winner=0 if excess >= opponent_excess else 1)


def play_turn(
    rules: Rules, score: int, opponent: int, memory: Memory, dice: int, faces: Sequence[int]
) -> Turn:
    """Play one whole turn of the first player with dice that have been rolled.

    `dice` is the choice; with Hog Tied fewer may be rolled. `faces` has one number for each die
    that is rolled, none for the choices 0 and -1. Anything impossible raises `HogeqError`.
    """
    _check("score", score, 0, rules.goals[0] - 1)
    _check("opponent", opponent, 0, rules.goals[1] - 1)
    _check("dice", dice, rules.least_answer, rules.max_dice)
    throw = throw_of(rules, score, opponent, memory)
    dice = throw.dice(dice)
    if len(faces) != max(dice, 0):
        raise HogeqError(f"turn: {len(faces)} faces for {dice} dice; allowed: one face a die")
    for face in faces:
        _check("face", face, 1, throw.sides)

    if dice > 0:
        points = rolled_points(rules, faces, ones_hurt=throw.ones_hurt)
    else:
        # What is not positive is 0 or the choice -1.
        points = zero_points(rules, score, opponent) if dice == 0 else minus_one_points(rules)
    branch = branch_of(rules, dice, points, way_to_score=throw.way_to_score)
    turn_effect = effect(rules, score, opponent, memory, dice)
    return end_turn(rules, (score, opponent), memory, branch, turn_effect)


def branch_of(
    rules: Rules,
    dice: int,
    points: int,
    probability: Fraction = Fraction(1),
    way_to_score: int = 0,
) -> Branch:
    """Make the branch in which dice (0 for none, -1 for that choice) score so many points.

    `way_to_score` is the number of the way in which the memory part changes points (see
    `MemoryTables.points_after`).
    """
    if 0 <= dice < rules.min_dice:  # forfeits the game by a gift that no other branch has
        return Branch(0, rules.size + FORFEIT, record(rules, dice, 0), probability)
    gift = given(rules, dice, points)
    own_points = memory_tables(rules).points_after(way_to_score, dice, points)
    return Branch(own_points, gift, record(rules, dice, points), probability)


def end_turn(
    rules: Rules, scores: tuple[int, int], memory: Memory, branch: Branch, turn_effect: Effect
) -> Turn:
    """End a turn whose points are known: land the scores and update the memory.

    `scores` and `memory` are those before the turn, the mover's score first.
    """
    points, gift, recorded, probability = branch
    landing = land(rules, scores[0] + points + turn_effect.bonus, scores[1] + gift)
    again = landing.winner is None and (landing.again or turn_effect.forced)
    memory_after = next_memory(rules, memory, recorded, again)
    return Turn(points, turn_effect.bonus, gift, landing, again, memory_after, probability)


def _check(what: str, value: int, low: int, high: int) -> None:
    """Refuse a value out of range; `what` names it in the message."""
    if not low <= value <= high:
        raise HogeqError(f"turn: {what} is {shown(value)}; allowed: {low} to {high}")


# --- every way in which a turn can end ------------------------------------------------------------


class TurnTable:
    """Every way in which a turn of the first player can end; results of rolls are cached."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self._branches: dict[tuple[int, Throw], tuple[Branch, ...]] = {}
        self._no_dice: dict[tuple[int, int], Branch] = {}  # of no dice: by points and way to score

    def branches(self, choice: int, throw: Throw) -> tuple[Branch, ...]:
        """List the results of a choice other than no dice, points ascending.

        The choice -1 and too few dice, by which the game is lost, have one result each.
        """
        rules = self.rules
        dice = throw.dice(choice)
        if dice < 0:
            points = minus_one_points(rules)
            return (branch_of(rules, dice, points, way_to_score=throw.way_to_score),)
        if 0 <= choice < rules.min_dice:
            return (branch_of(rules, choice, points=0),)
        key = dice, throw
        if key not in self._branches:
            distribution = points_distribution(rules, dice, throw.sides, ones_hurt=throw.ones_hurt)
            self._branches[key] = tuple(
                branch_of(rules, dice, points, probability, throw.way_to_score)
                for points, probability in distribution.items()
            )
        return self._branches[key]

    def mean_points(self, choice: int, throw: Throw) -> float:
        """Return the mean points of a choice other than no dice."""
        branches = self.branches(choice, throw)
        return float(sum(branch.points * branch.probability for branch in branches))

    def branch_of_no_dice(self, score: int, opponent: int, way_to_score: int = 0) -> Branch:
        """Return the one result of rolling no dice, at the mover's score and the opponent's."""
        points = zero_points(self.rules, score, opponent)
        key = points, way_to_score
        if key not in self._no_dice:
            self._no_dice[key] = branch_of(self.rules, 0, points, way_to_score=way_to_score)
        return self._no_dice[key]

    def most_points_and_gift(self) -> tuple[int, int]:
        """Return the most points that a turn can score, without a bonus, and the largest gift."""
        pairs = list(product(range(self.rules.size), repeat=2))
        branches: list[Branch] = []
        ways_to_score = {0, *memory_tables(self.rules).ways_to_score}
        for sides, way_to_score in product(kinds_of_dice(self.rules), ways_to_score):
            branches += [
                self.branch_of_no_dice(score, opponent, way_to_score) for score, opponent in pairs
            ]
            for choice in self.rules.choices[1:]:  # all but no dice
                branches += self.branches(choice, Throw(sides, way_to_score=way_to_score))
        return max(branch.points for branch in branches), max(branch.gift for branch in branches)

    def outcomes(self, score: int, opponent: int, memory: Memory, dice: int) -> tuple[Turn, ...]:
        """List every way in which one turn can end, points ascending."""
        rules = self.rules
        throw = throw_of(rules, score, opponent, memory)
        branches: tuple[Branch, ...]
        if dice == 0:
            branches = (self.branch_of_no_dice(score, opponent, throw.way_to_score),)
        else:
            branches = self.branches(dice, throw)
        turn_effect = effect(rules, score, opponent, memory, throw.dice(dice))
        scores = score, opponent
        return tuple(end_turn(rules, scores, memory, branch, turn_effect) for branch in branches)


@cache
def total_rises(rules: Rules) -> bool:
    """Whether every turn raises the sum of both scores, so that no position comes twice.

    A landing never lowers a score, so it is enough that every turn scores or gives something.
    """
    return (rules.pig_out != 0 or rules.piggy_back) and scoreless_turn(rules) is None


@cache
def scoreless_turn(rules: Rules) -> tuple[int, int] | None:
    """Find the first pair of scores, mover's and opponent's, at which no dice score 0; or None."""
    scores = range(0 if rules.min_dice else rules.size)  # with min_dice nobody may roll no dice
    pairs = ((own, other) for own in scores for other in scores)
    return next((pair for pair in pairs if zero_points(rules, *pair) == 0), None)


# --- a turn in words ------------------------------------------------------------------------------


def part_name(rules: Rules, field: str) -> str:
    """Name the part of a field of `Rules` for people.

    A bonus (field `effect`) is of Feral Hogs, an extra turn (`time_trot`) of Time Trot. Parts
    `memory` and `effect` can give both: then all that are in play are named, joined by "or".
    """
    if field == "landing":
        return "New score" if is_table(rules.landing) else title(rules.landing)
    if field in {"effect", "time_trot"}:
        if field == "effect":
            switch, is_in_play = "Feral Hogs", rules.feral_hogs != "none"
        else:
            switch, is_in_play = "Time Trot", rules.time_trot
        names = [title(name) for name in (rules.memory, rules.effect) if name != "none"]
        if is_in_play or not names:
            names.insert(0, switch)
        return " or ".join(names)
    return "Hogtimus Prime" if field == "prime_boost" else title(field)


def turn_effects(
    rules: Rules, score: int, opponent: int, faces: Sequence[int] | None, turn: Turn
) -> list[str]:
    """Describe a turn's effects, one part of the rules a line; without faces the choice was -1."""
    unboosted, lines = _describe_roll(rules, score, opponent, faces, turn)
    boosts = points_effects(rules, unboosted, turn.points, boosted=faces is not None)
    return [*lines, *boosts, *end_effects(rules, score, opponent, turn)]


def points_effects(rules: Rules, plain: int, points: int, *, boosted: bool = True) -> list[str]:
    """Describe the steps from the points of a roll as it shows them to the points of the turn.

    Parameters
    ----------
    rules : Rules
    plain : int
        Points of the dice, or of no dice, before any step.
    points : int
        Points of the turn, after the memory part.
    boosted : bool
        Whether Touchdown and Hogtimus Prime apply; they do not for the choice -1.
    """
    lines = []
    boosts = (
        ("Touchdown", touchdown, rules.touchdown and boosted),
        ("Hogtimus Prime", prime_boost, rules.prime_boost and boosted),
        (title(rules.memory), lambda _: points, True),
    )
    for part, boost, is_in_play in boosts:
        raised = boost(plain) if is_in_play else plain
        if raised != plain:
            lines.append(f"{part}: {_count_points(raised)} instead of {plain}")
            plain = raised
    return lines


def end_effects(rules: Rules, score: int, opponent: int, turn: Turn) -> list[str]:
    """Describe the effects of a turn after its points: bonus, gift, landing, extra turn.

    The scores are those before the turn, the mover's first.
    """
    if turn.given > FORFEIT:
        return gift_effects(turn.given)
    new_score = score + turn.points + turn.bonus
    new_opponent = opponent + turn.given
    return [
        *bonus_effects(rules, turn.bonus),
        *gift_effects(turn.given),
        *landing_effects(rules, new_score, new_opponent),
        *([again_effect(rules, landed=turn.landing.again)] if turn.again else []),
    ]


def bonus_effects(rules: Rules, bonus: int) -> list[str]:
    """Describe a bonus, if there is one."""
    return [f"{part_name(rules, 'effect')}: {_count_points(bonus)} more"] if bonus else []


def gift_effects(gift: int) -> list[str]:
    """Describe points given away, if there are any."""
    if gift > FORFEIT:
        return ["fewer dice than allowed: the game is lost"]
    return [f"Piggy Back: {_count_points(gift)} to the other"] if gift else []


def landing_effects(rules: Rules, new_score: int, opponent: int) -> list[str]:
    """Describe the steps of `land` from scores with the turn's points, the mover's `new_score`."""
    lines = []
    squared = square_swine(new_score) if rules.square_swine else new_score
    if squared != new_score:
        lines.append(f"Square Swine: {new_score} becomes {squared}")
    landed = LANDINGS[rules.landing](squared, opponent)
    if landed != squared:
        lines.append(f"{part_name(rules, 'landing')}: {squared} becomes {landed}")
    if SWAPS[rules.swap](landed, opponent) and landed != opponent:
        lines.append("Swap: the scores trade places")
    return lines


def again_effect(rules: Rules, *, landed: bool) -> str:
    """Describe an extra turn, which More Boar gives (`landed`) or another part."""
    return f"{'More Boar' if landed else part_name(rules, 'time_trot')}: an extra turn"


def _describe_roll(
    rules: Rules, score: int, opponent: int, faces: Sequence[int] | None, turn: Turn
) -> tuple[int, list[str]]:
    """Return the points of a roll before Touchdown and Hogtimus Prime, and lines about it.

    `faces` is empty for no dice and None for the choice -1.
    """
    unboosted_rules = replace(rules, prime_boost=False, touchdown=False)
    if faces is None:
        points = minus_one_points(rules)
        memory_after = f"{title(rules.memory)}: {memory_line(rules, turn.memory)}"
        return points, [f"chose -1, {_count_points(points)}", memory_after]
    if not faces:
        points = zero_points(unboosted_rules, score, opponent)
        return points, [f"rolled no dice, {_count_points(points)}"]
    ones_hurt = not (rules.forty_niners and score == FORTY_NINERS)
    points = rolled_points(unboosted_rules, faces, ones_hurt=ones_hurt)
    pig = ", with a 1" if 1 in faces else ""
    shown_faces = " ".join(map(str, faces))
    return points, [f"rolled {len(faces)}: {shown_faces}{pig}, {_count_points(points)}"]


def _count_points(number: int) -> str:
    """Write a number of points, 1 in the singular."""
    return f"{number} point{'' if number == 1 else 's'}"
