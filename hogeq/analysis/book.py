"""Why optimal play looks strange at some positions: the rule that is the reason.

One turn is played without a rule, and all others with it. If the best roll changes, the rule on
this very turn is the reason. The loss of the roll that would be best without it says how strong a
reason. Both are exact.
"""

from itertools import product
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.analysis.advice import dice_in_words
from hogeq.analysis.losses import turn_values, values_without_rules
from hogeq.baselines.registry import builtin
from hogeq.evaluation.tablebase import solve
from hogeq.evaluation.values import reach
from hogeq.model.game import HogEngine
from hogeq.model.rows import TIE
from hogeq.rules.turn import TurnTable, dice_sides, end_effects, part_name, play_turn, turn_effects
from hogeq.strategies.arrays import at_actions, one_hot
from hogeq.support.aliases import Floats
from hogeq.support.messages import counted, percent, pp

MIN_COST: Final = 0.005
"""Least loss of forgetting a rule, in win probability, for a position to be listed."""

NEIGHBOURHOOD: Final = 2  # distance in scores to which positions count as neighbours
MAX_PER_RULE: Final = 6  # positions listed for each rule


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


def book(game: HogEngine) -> list[tuple[str, int, int, int, int, bool, str]]:
    """List the reasons of strange positions as tuples for JSON; none if each player has a goal.

    A tuple has the rule's name, the scores of the player to move and of the other, the index of the
    memory, the action of the best roll, whether the rule helps that roll rather than harms another,
    and a text.
    """
    listed = [] if game.has_own_goals else reasons(game)
    return [
        (
            part_name(game.rules, reason.rule),
            reason.own,
            reason.other,
            reason.memory,
            reason.best,
            reason.helps,
            text_of(game, reason),
        )
        for reason in listed
    ]


def text_of(game: HogEngine, reason: Reason) -> str:
    """Explain a reason: the rule's effect on the best roll, or on the best one without it."""
    best_dice = game.choices[reason.best]
    dice_without = game.choices[reason.forgot]
    if reason.helps:
        gain = pp(reason.gain_best, signed=False)
        effect = f"{_effect_text(game, reason, best_dice)}: that is worth {gain}"
    else:
        harm = pp(-reason.gain_forgot, signed=False)
        effect = f"{_effect_text(game, reason, dice_without)}: that takes {harm}"
    mistake = f"rolls {dice_in_words(dice_without)}, and loses {pp(reason.cost, signed=False)}"
    return f"{effect}. A player who forgets it {mistake}."


def _effect_text(game: HogEngine, reason: Reason, dice: int) -> str:
    """Describe what a rule does to a choice, for the text of a reason.

    For no dice or the choice -1, whose result is certain, it is that result; for a roll of dice it
    is the probability that the rule has an effect.
    """
    rules = game.rules
    name = part_name(rules, reason.rule)
    memory = game.memories[reason.memory]
    if dice <= 0:
        turn = play_turn(rules, reason.own, reason.other, memory, dice, ())
        score_text = "No dice score" if dice == 0 else "-1 scores"
        faces = () if dice == 0 else None
        # The first effect is the score itself.
        _, *effects = turn_effects(rules, reason.own, reason.other, faces, turn)
        return "; ".join([f"{score_text} {counted(turn.points, 'point')}", *effects])
    if reason.rule == "hog_wild":
        dice_text = "the die" if dice == 1 else f"the {dice} dice"
        sides = dice_sides(rules, reason.own, reason.other, memory)
        return f"{name} makes {dice_text} {sides}-sided"
    probability = fires(game, reason, dice)
    if probability is None:
        return f"{name} counts with {dice_in_words(dice)}"
    return f"{name} fires in {percent(probability)} of rolls of {dice_in_words(dice)}"


def fires(game: HogEngine, reason: Reason, dice: int) -> float | None:
    """Probability that the reason's rule has an effect on a roll of so many dice at its position.

    None for rules that change only the points of dice: they have no probability to name.
    """
    if reason.rule in {"prime_boost", "hog_wild"}:
        return None
    own = reason.own
    other = reason.other
    prefix = f"{part_name(game.rules, reason.rule)}: "  # begins each line about the rule's effects
    probabilities = []  # of the outcomes in which the rule has an effect
    for turn in TurnTable(game.rules).outcomes(own, other, game.memories[reason.memory], dice):
        effects = end_effects(game.rules, own, other, turn)
        if any(line.startswith(prefix) for line in effects):
            probabilities.append(turn.probability)
    return float(sum(probabilities))


def reasons(game: HogEngine) -> list[Reason]:
    """List the positions where optimal play looks strange, and a rule is the reason.

    A position looks strange if its best roll differs from the commonest one of its neighbours. Of
    the memories of a position only the one that play reaches most often is looked at.

    1. Solve the game, and value all rolls of this turn with every rule, and without each.
    2. Take the positions that look strange, and where the best roll without a rule loses at least
       `MIN_COST`.
    3. Order them by reach probability times loss, the largest first, and thin them out.
    """
    values = solve(game).values
    reach_probability = reach(game, builtin("ignore_memory", game))  # (G, G, H)
    memories = reach_probability.argmax(axis=2)
    memory_weights = np.eye(game.memory_size)[memories]  # (G, G, H): 1 for that memory, else 0
    roll_values = turn_values(game, values[None], memory_weights, game.rules)  # (G, G, K)
    if roll_values is None:
        return []
    best = _best_rolls(roll_values)
    is_strange = best != _commonest_around(best, game.num_actions)
    candidates = []  # pairs of the expected loss in a game, and the reason
    for rule, values_without in values_without_rules(game, values[None], memory_weights):
        forgot = _best_rolls(values_without)
        cost = roll_values.max(axis=2) - at_actions(roll_values, forgot)
        for own, other in np.argwhere(is_strange & (cost >= MIN_COST)).tolist():
            gains = roll_values[own, other] - values_without[own, other]
            reason = Reason(
                rule=rule,
                own=own,
                other=other,
                memory=int(memories[own, other]),
                best=int(best[own, other]),
                forgot=int(forgot[own, other]),
                cost=float(cost[own, other]),
                gain_best=float(gains[best[own, other]]),
                gain_forgot=float(gains[forgot[own, other]]),
            )
            expected_loss = float(reach_probability[own, other].sum()) * reason.cost
            candidates.append((expected_loss, reason))
    candidates.sort(key=lambda candidate: -candidate[0])
    return _without_neighbours([reason for _, reason in candidates])


def _best_rolls(roll_values: Floats) -> NDArray[np.int64]:
    """Best roll at each position, (G, G), by values (G, G, K); of ties the fewest dice."""
    is_best = roll_values >= roll_values.max(axis=2, keepdims=True) - TIE
    return is_best.argmax(axis=2)  # the first True


def _commonest_around(best: NDArray[np.int64], actions: int) -> NDArray[np.int64]:
    """Commonest of the best rolls (G, G) among the neighbours of each position.

    The neighbours are the positions within `NEIGHBOURHOOD` in both scores, without the position
    itself. `actions` is the number K of actions.
    """
    goal = len(best)
    # Counts of each roll, with a margin so that neighbours beyond the edge have an index.
    counts = np.zeros((goal + 2 * NEIGHBOURHOOD, goal + 2 * NEIGHBOURHOOD, actions))
    is_chosen = one_hot(best, actions)
    for down, right in product(range(2 * NEIGHBOURHOOD + 1), repeat=2):
        if (down, right) != (NEIGHBOURHOOD, NEIGHBOURHOOD):  # that shift is the position itself
            counts[down : down + goal, right : right + goal] += is_chosen
    return counts[NEIGHBOURHOOD:-NEIGHBOURHOOD, NEIGHBOURHOOD:-NEIGHBOURHOOD].argmax(axis=2)


def _without_neighbours(reasons: list[Reason]) -> list[Reason]:
    """Choose reasons in their order, so that no two positions are neighbours.

    Of each rule at most `MAX_PER_RULE` are chosen.
    """
    chosen: list[Reason] = []
    for reason in reasons:
        distances = [
            max(abs(earlier.own - reason.own), abs(earlier.other - reason.other))
            for earlier in chosen
        ]
        is_near = any(distance <= NEIGHBOURHOOD for distance in distances)
        num_of_rule = sum(earlier.rule == reason.rule for earlier in chosen)
        if not is_near and num_of_rule < MAX_PER_RULE:
            chosen.append(reason)
    return chosen
