"""Why optimal play looks strange at some positions: the rule that is the reason.

One turn is played without a rule, and all others with it. If the best roll changes, the rule on
this very turn is the reason. The loss of the roll that would be best without it says how strong a
reason. Both are exact.
"""

from itertools import product
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.baselines.registry import builtin
from hogeq.contest.advice import dice_in_words
from hogeq.evaluation.losses import turn_values, values_without_rules
from hogeq.evaluation.tablebase import solve
from hogeq.evaluation.values import reach
from hogeq.model.game import HogEngine
from hogeq.model.rows import TIE
from hogeq.rules.turn import (
    TurnTable,
    dice_sides,
    end_effects,
    part_name,
    play_turn,
    turn_effects,
)
from hogeq.strategies.arrays import one_hot
from hogeq.support.aliases import Floats
from hogeq.support.messages import counted, percent, pp

LEAST: Final = 0.005
"""Least loss of forgetting a rule, in win probability, for a position to be listed."""

AROUND: Final = 2  # distance to which a position is compared with those around it

MOST: Final = 6  # most positions listed for each rule


class Reason(NamedTuple):
    """A position where a rule makes the best roll a strange one."""

    rule: str  # field of `Rules`
    own: int
    other: int
    memory: int  # index in `HogEngine.memories`: the one with which play most often comes there
    best: int  # the best roll
    forgot: int  # the best roll of a player who forgets the rule on this turn
    cost: float  # loss of that roll
    gain_best: float  # win probability that the rule, on this turn, adds to the best roll
    gain_forgot: float  # the same of the other roll

    @property
    def helps(self) -> bool:
        """Whether the rule helps the best roll more than it harms the other."""
        return self.gain_best >= -self.gain_forgot


def book(game: HogEngine) -> list[tuple[Any, ...]]:
    """Reasons of strange positions, fit for JSON; none where each player has a goal.

    Each has the rule's name, the position, the best roll, whether the rule helps that roll rather
    than harms another, and a text.
    """
    listed = [] if game.has_own_goals else reasons(game)
    return [
        (part_name(game.rules, one.rule), *one[1:5], one.helps, text_of(game, one))
        for one in listed
    ]


def text_of(game: HogEngine, reason: Reason) -> str:
    """Explain a reason: the rule's effect on the best roll, or on the one that would be best."""
    best, forgot = game.choices[reason.best], game.choices[reason.forgot]
    worth, takes, cost = (
        pp(loss, signed=False) for loss in (reason.gain_best, -reason.gain_forgot, reason.cost)
    )
    if reason.helps:
        mostly = f"{_on_roll(game, reason, best)}: that is worth {worth}"
    else:
        mostly = f"{_on_roll(game, reason, forgot)}: that takes {takes}"
    return f"{mostly}. A player who forgets it rolls {dice_in_words(forgot)}, and loses {cost}."


def _on_roll(game: HogEngine, reason: Reason, dice: int) -> str:
    """Describe the result of no dice, otherwise how often the rule fires."""
    rules, name = game.rules, part_name(game.rules, reason.rule)
    view = reason.own, reason.other, game.memories[reason.memory]
    if dice <= 0:
        turn = play_turn(rules, *view, dice, ())
        scored = "No dice score" if dice == 0 else "-1 scores"
        effects = turn_effects(rules, *view[:2], () if dice == 0 else None, turn)
        return "; ".join([f"{scored} {counted(turn.points, 'point')}", *effects[1:]])
    if reason.rule == "hog_wild":
        thrown = "the die" if dice == 1 else f"the {dice} dice"
        return f"{name} makes {thrown} {dice_sides(rules, *view)}-sided"
    often = fires(game, reason, dice)
    if often is None:
        return f"{name} counts with {dice_in_words(dice)}"
    return f"{name} fires in {percent(often)} of rolls of {dice_in_words(dice)}"


def fires(game: HogEngine, place: Reason, dice: int) -> float | None:
    """Probability that a rule does something in a roll; None of one that changes points alone."""
    if place.rule in {"prime_boost", "hog_wild"}:
        return None
    rules, begins = game.rules, f"{part_name(game.rules, place.rule)}: "
    turns = TurnTable(rules).outcomes(place.own, place.other, game.memories[place.memory], dice)
    fired = (
        turn.probability
        for turn in turns
        if any(line.startswith(begins) for line in end_effects(rules, place.own, place.other, turn))
    )
    return float(sum(fired))


def reasons(game: HogEngine) -> list[Reason]:
    """List the positions where optimal play looks strange, and a rule is the reason.

    A position looks strange if its best roll is not the commonest one around it. Of a hidden memory
    the value is taken with which play most often comes there.
    """
    solved = solve(game)
    often = reach(game, builtin("ignore_memory", game))
    memories = often.argmax(axis=2)
    values = solved.values
    weights = np.eye(game.memory_size)[memories]
    rolls = turn_values(game, values[None], weights, game.rules)
    if rolls is None:
        return []
    best = _best(rolls)
    strange = best != _commonest(best, game.num_actions)
    candidates = []
    for rule, without in values_without_rules(game, values[None], weights):
        forgot = _best(without)
        at = np.take_along_axis
        cost = rolls.max(axis=2) - at(rolls, forgot[..., None], 2)[..., 0]
        for own, other in np.argwhere(strange & (cost >= LEAST)).tolist():
            roll, instead = int(best[own, other]), int(forgot[own, other])
            gains = rolls[own, other] - without[own, other]
            reason = Reason(
                rule,
                own,
                other,
                int(memories[own, other]),
                roll,
                instead,
                float(cost[own, other]),
                float(gains[roll]),
                float(gains[instead]),
            )
            candidates.append((float(often[own, other].sum()) * reason.cost, reason))
    return _apart([reason for _, reason in sorted(candidates, key=lambda one: -one[0])])


def _best(rolls: Floats) -> NDArray[np.int64]:
    """Best rolls, the fewest dice of those that tie."""
    return (rolls >= rolls.max(axis=2, keepdims=True) - TIE).argmax(axis=2)


def _commonest(best: NDArray[np.int64], actions: int) -> NDArray[np.int64]:
    """Commonest roll around each position, itself left out."""
    goal = len(best)
    counts = np.zeros((goal + 2 * AROUND, goal + 2 * AROUND, actions))
    chosen = one_hot(best, actions)
    for down, right in product(range(2 * AROUND + 1), repeat=2):
        if (down, right) != (AROUND, AROUND):
            counts[down : down + goal, right : right + goal] += chosen
    return counts[AROUND:-AROUND, AROUND:-AROUND].argmax(axis=2)


def _apart(reasons: list[Reason]) -> list[Reason]:
    """Choose the first reasons of each rule, and none beside one that is chosen."""
    chosen: list[Reason] = []
    for reason in reasons:
        near = any(
            max(abs(one.own - reason.own), abs(one.other - reason.other)) <= AROUND
            for one in chosen
        )
        if not near and sum(one.rule == reason.rule for one in chosen) < MOST:
            chosen.append(reason)
    return chosen
