"""Players of a simple rule: always the same dice, no dice where that does enough, expected points.

Among them are the sample strategies that the course's project asks for, by the names of each term.
Every term has two of them. The first rolls no dice where that scores enough points. The second
counts what the term's special rule adds: to the score, or as a turn to be rolled for.
Names, meanings and numbers are those of the project's files [6].
"""

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from hogeq.baselines.registry import baseline
from hogeq.rules import EDITIONS, Rules
from hogeq.rules.memory import Memory
from hogeq.rules.parts import MORE_BOAR
from hogeq.rules.rules import HOG_WILD_MULTIPLE, Throw
from hogeq.rules.turn import Landing, TurnTable, land, throw_of
from hogeq.support.aliases import Matrix

if TYPE_CHECKING:
    from hogeq.model.game import HogEngine

_POINTS = "roll 0 dice for at least THRESHOLD points, else N"
_RISE = "roll 0 dice if the own score rises by at least THRESHOLD, {} counted, else N"
_ACTS = "roll 0 dice if {}, or for at least THRESHOLD points, else N"


@baseline("always_roll:N", "roll N dice, whatever the scores")
def always_roll(game: "HogEngine", dice: int) -> Matrix:
    """Matrix that rolls `dice` dice everywhere."""
    return np.full((game.goal, game.goal), dice, np.int8)


def _zero_dice_where(
    game: "HogEngine", dice: int, is_good: Callable[[int, int, int, Landing], bool]
) -> Matrix:
    """Matrix that rolls no dice at pairs of scores where `is_good` is true, else `dice`.

    The arguments of `is_good` are own score, opponent's score, the points of rolling no dice, and
    the scores where these land.
    """
    matrix = always_roll(game, dice)
    turns = TurnTable(game.rules)
    for score in range(game.goal):
        for opponent in range(game.goal):
            points = turns.branch_of_no_dice(score, opponent).points
            landing = land(game.rules, score + points, opponent)
            if is_good(score, opponent, points, landing):
                matrix[score, opponent] = 0
    return matrix


@baseline("bacon:CUTOFF,N", "roll 0 dice for at least CUTOFF points, else N")
def bacon(game: "HogEngine", cutoff: int, dice: int) -> Matrix:
    """Matrix that rolls no dice where that scores `cutoff` points or more, else `dice`."""
    return _zero_dice_where(game, dice, lambda _own, _other, points, _landing: points >= cutoff)


@baseline("swap:CUTOFF,N", "as bacon, but roll 0 for any swap that helps and for none that hurts")
def swap(game: "HogEngine", cutoff: int, dice: int) -> Matrix:
    """Matrix that rolls no dice for a good swap, or for `cutoff` points and no bad one.

    A swap is good if it leaves the mover ahead and bad if it leaves the mover behind. Feral Hogs
    are not counted: they depend on what a strategy may not see.
    """

    def is_good(_own: int, opponent: int, points: int, landing: Landing) -> bool:
        # Only a swap changes the score of the player who is not moving.
        if landing.opponent != opponent:
            return landing.score > landing.opponent
        return points >= cutoff

    return _zero_dice_where(game, dice, is_good)


@baseline("rise:THRESHOLD,N", _RISE.format("landings and swaps"))
def rise(game: "HogEngine", threshold: int, dice: int) -> Matrix:
    """Matrix that rolls no dice where that raises the own score by `threshold` or more.

    Points, landings and swaps are counted; Feral Hogs are not, since they depend on what a strategy
    may not see.
    """
    return _zero_dice_where(
        game, dice, lambda own, _other, _points, landing: landing.score - own >= threshold
    )


@baseline("special:THRESHOLD,N", _ACTS.format("a score changes or a turn is earned"))
def special(game: "HogEngine", threshold: int, dice: int) -> Matrix:
    """Matrix that rolls no dice where that makes a special rule act, or scores `threshold` points.

    A rule acts if it changes a score, or if the scores after the turn earn another one.
    """
    earns_turn = MORE_BOAR[game.rules.more_boar]

    def is_good(own: int, opponent: int, points: int, landing: Landing) -> bool:
        changes_score = landing.score != own + points or landing.opponent != opponent
        is_enough = points >= threshold
        return is_enough or changes_score or earns_turn(landing.score, landing.opponent)

    return _zero_dice_where(game, dice, is_good)


def _sample(
    name: str, about: str, make: Callable[["HogEngine", int, int], Matrix], cutoff: int
) -> None:
    """Enter a strategy under the name of a term's sample, with the course's numbers as defaults."""

    @baseline(f"{name}:THRESHOLD,N", about)
    def sample(game: "HogEngine", threshold: int = cutoff, dice: int = 6) -> Matrix:
        """Make the matrix of the sample."""
        return make(game, threshold, dice)


_sample("boar", f"{_POINTS}: Boar Brawl", bacon, 11)
_sample("sus", _RISE.format("Sus Fuss"), rise, 11)
_sample("fuzzy", _RISE.format("Fuzzy Factors"), rise, 12)
_sample("tail", f"{_POINTS}: Pig Tail", bacon, 12)
_sample("square", _RISE.format("Square Swine"), rise, 12)
_sample("oink_points", f"{_POINTS}: Oink Points", bacon, 8)
_sample("pigs_on_prime", _ACTS.format("Pigs on Prime acts"), special, 8)
_sample("hefty_hogs", f"{_POINTS}: Hefty Hogs", bacon, 8)
_sample("picky_piggy", f"{_POINTS}: Picky Piggy", bacon, 8)
_sample("hog_pile", _ACTS.format("Hog Pile acts"), special, 8)
_sample("piggypoints", f"{_POINTS}: Piggy Points", bacon, 8)
_sample("more_boar", _ACTS.format("More Boar earns a turn"), special, 8)
_sample("extra_turn", _ACTS.format("it earns a turn"), special, 8)

SAMPLES: dict[str, tuple[str, str]] = {
    "fa23": ("boar:11,6", "sus:11,6"),
    "su23": ("boar:12,6", "fuzzy:12,6"),
    "fa22": ("tail:12,6", "square:12,6"),
    "su22": ("oink_points:8,6", "pigs_on_prime:8,6"),
    "sp22": ("hefty_hogs:8,6", "hog_pile:8,6"),
    "fa21": ("picky_piggy:8,6", "hog_pile:8,6"),
    "sp21": ("piggypoints:8,6", "more_boar:8,6"),
    "su21": ("piggypoints:8,6", "more_boar:8,6"),
    "fa20": ("bacon:8,6", "extra_turn:8,6"),
}
"""The two sample strategies of each edition, with the course's own numbers."""


def samples_of(rules: Rules) -> tuple[str, ...]:
    """List the course's sample strategies of the edition with these rules.

    Its goal and number of dice may differ. Empty if no edition has the rules.
    """
    for edition, samples in SAMPLES.items():
        resized = replace(
            EDITIONS[edition], name=rules.name, goal=rules.goal, max_dice=rules.max_dice
        )
        if resized == rules:
            return samples
    return ()


# --- Hog Wild! ------------------------------------------------------------------------------------

FORCED_DICE_BONUS = 4.25  # points that [2] gives for making the opponent roll four-sided dice


@baseline("hog_wild_heuristic", "expected points with the three adjustments of Hog Wild!")
def hog_wild_heuristic(game: "HogEngine") -> Matrix:
    """Matrix that rolls for the most points, three adjustments made, in the order of [2].

    Every roll starts with its expected points. A swap that helps, if one number of points brings
    it about, raises the roll that is likeliest to score that number to the points gained times
    that chance: no dice where they score it for sure, the most dice for 1 point, one die for 2
    points up to its sides. What leaves the opponent with four-sided dice gains 4.25 points: no
    dice where they do so for sure, and the most dice, times their chance of 1 point, where 1
    point does. No dice are always rolled where twice their points reach the goal and cause no
    swap. The fewest dice win ties.
    """
    rules = game.rules
    turns = TurnTable(rules)
    matrix = np.zeros((game.goal, game.goal), np.int8)
    means: dict[Throw, list[float]] = {}  # expected points of 1, 2, ... dice, by kind of throw
    for own, opponent in product(range(game.goal), repeat=2):
        throw = throw_of(rules, own, opponent, Memory())
        free = turns.branch_of_no_dice(own, opponent).points  # of no dice
        if throw not in means:
            means[throw] = [turns.mean_points(roll, throw) for roll in range(1, rules.max_dice + 1)]
        points = [float(free), *means[throw]]
        chance_of_one = 1.0 - ((throw.sides - 1) / throw.sides) ** throw.dice(rules.max_dice)
        if rules.swap == "double":
            _raise_by_swaps(points, own, opponent, throw.sides, chance_of_one)
        # The opponent gets four-sided dice if the sum of scores is a multiple.
        if rules.hog_wild and (own + opponent + free) % HOG_WILD_MULTIPLE == 0:
            points[0] += FORCED_DICE_BONUS
        if rules.hog_wild and (own + opponent + 1) % HOG_WILD_MULTIPLE == 0:
            points[-1] += FORCED_DICE_BONUS * chance_of_one
        doubled = own + 2 * free
        # Twice the points of no dice reach the goal, and cause no swap.
        if doubled >= rules.goals[0] and land(rules, doubled, opponent).opponent == opponent:
            points[0] = float(rules.size)  # more than any other roll
        matrix[own, opponent] = np.argmax(points)
    return matrix


def _raise_by_swaps(
    points: list[float], own: int, opponent: int, sides: int, chance_of_one: float
) -> None:
    """Raise the points of rolls that may lead to a swap which helps, in place.

    `points` has those expected of 0, 1, ... dice of so many sides; `chance_of_one` is that of a 1
    among the most dice.
    """
    # A swap helps if the own score is half the opponent's.
    needed = opponent // 2 - own  # points for that
    if opponent % 2 != 0 or needed <= 0:
        return
    gained = opponent - (own + needed)
    if needed == points[0]:  # no dice score it for sure
        points[0] = max(points[0], gained)
    if needed == 1:  # the most dice, of which one is likeliest to show 1
        points[-1] = max(points[-1], gained * chance_of_one)
    if 2 <= needed <= sides:  # one die
        points[1] = max(points[1], gained / sides)
