"""Why optimal play looks strange at some positions: the rule that is the reason.

One turn is played without a rule, and all others with it. If the best roll changes, the rule on
this very turn is the reason. The loss of the roll that would be best without it says how strong a
reason. Both are exact.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.baselines.registry import builtin
from hogeq.evaluation.tablebase import solve
from hogeq.evaluation.values import reach
from hogeq.model.game import HogEngine
from hogeq.model.workspace import TIE
from hogeq.rules import Rules
from hogeq.rules.memory import next_memory, record, remembered
from hogeq.rules.rules import zero_points
from hogeq.rules.turn import Branch, TurnTable, dice_sides, land, memory_effect, turn_parts
from hogeq.support.aliases import Floats

OFF: Final[dict[str, Any]] = {
    "landing": "none",
    "square_swine": False,
    "swap": "none",
    "more_boar": "none",
    "piggy_back": False,
    "prime_boost": False,
    "hog_wild": False,
    "feral_hogs": "none",
    "time_trot": False,
    "memory": "none",
}
"""Fields of `Rules` that a turn can be played without, and what they are then."""

_NAMES: Final = {
    "square_swine": "Square Swine",
    "swap": "Swap",
    "more_boar": "More Boar",
    "piggy_back": "Piggy Back",
    "prime_boost": "Hogtimus Prime",
    "hog_wild": "Hog Wild",
}

DIGITS: Final = 6
"""Decimals of losses and gains on the page."""

LEAST: Final = 0.005
"""Least loss of forgetting a rule, in win probability, for a position to be listed."""

AROUND: Final = 2
"""Distance to which a position is compared with those around it."""

MOST: Final = 6
"""Most positions listed for each rule."""


class Reason(NamedTuple):
    """A position where a rule makes the best roll a strange one."""

    rule: str
    """Field of `Rules`."""
    own: int
    other: int
    memory: int
    """Index in `HogEngine.memories`: the one with which play most often comes there."""
    best: int
    """The best roll."""
    forgot: int
    """The best roll of a player who forgets the rule on this turn."""
    cost: float
    """Loss of that roll."""
    gain_best: float
    """Win probability that the rule, on this turn, adds to the best roll."""
    gain_forgot: float
    """The same of the other roll."""


def turn_values(
    game: HogEngine, values: Floats, memories: NDArray[np.int64], rules: Rules
) -> Floats:
    """Win probability of every roll if this one turn is played by other rules."""
    turn = TurnTable(rules)
    bonuses, forces = _effects(game, rules)
    lands = _Landings(turn, int(bonuses.max()))
    own, other = np.indices((game.goal, game.goal))
    worth = np.zeros(game.shape)
    for action, dice in enumerate(game.choices):
        bonus, forced = bonuses[action][memories], forces[action][memories]
        for here, branches in _rolls(game, turn, dice, memories):
            for points, gift, _, probability in branches:
                mine, theirs = (
                    _after(game, dice, points, again)[memories[here]] for again in (True, False)
                )
                scores = (own + points + bonus)[here], (other + gift)[here]
                worth[here, action] += float(probability) * lands.worth(
                    values, scores, forced[here], mine, theirs
                )
    if rules.num_actions < game.num_actions:
        # The choice -1 is the part's: without it, only what it adds to the others can be told.
        worth[..., -1] = worth[..., :-1].max(axis=2)
    return worth


def _effects(game: HogEngine, rules: Rules) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Give bonus and extra turn, (K, H) each, that the game's memories add to rolls by other rules.

    A part's values have other numbers, or are fewer, in a game by those rules.
    """
    turn_rules = replace(rules, memory="none")
    effects = []
    for dice, memory in product(game.choices, game.memories):
        bonus, forced = memory_effect(turn_rules, memory._replace(state=0), max(dice, 0))
        forced = forced and dice >= 0  # no other part looks at the choice -1
        if rules.memory != "none":
            more, again = remembered(game.rules).effect(memory.state, dice)
            bonus, forced = bonus + more, forced or again
        effects.append((bonus, forced))
    bonuses, forces = np.array(effects).T.reshape(2, game.num_actions, game.memory_size)
    return bonuses, forces.astype(bool)


def _after(game: HogEngine, dice: int, points: int, again: bool) -> NDArray[np.int64]:
    """Index of the next memory after each of the game's, (H,), also for points by other rules."""
    rules = game.rules
    number = {memory: index for index, memory in enumerate(game.memories)}
    recorded, following = record(rules, dice, points), []
    for memory in game.memories:
        after = next_memory(rules, memory, recorded, again)
        if rules.memory != "none":
            state = remembered(rules).after_turn(memory.state, dice, points, again)
            after = after._replace(state=state)
        following.append(number[after])
    return np.array(following)


def _rolls(
    game: HogEngine, turn: TurnTable, dice: int, memories: NDArray[np.int64]
) -> Iterator[tuple[NDArray[np.bool_], tuple[Branch, ...]]]:
    """List where a roll has the same results, and these."""
    pairs = list(product(range(game.goal), repeat=2))
    if dice < 0:
        yield np.ones((game.goal, game.goal), bool), turn.branches(dice, 0)
        return
    if dice:
        # Dice of extra turns are the game's own, whatever the turn is played without.
        same = turn.rules.extra_turn_sides == game.rules.extra_turn_sides
        rules, known = turn.rules if same else game.rules, game.memories
        if rules.memory == "none":
            known = tuple(memory._replace(state=0) for memory in known)
        kind = [dice_sides(rules, s, o, known[memories[s, o]]) for s, o in pairs]
        results = {sides: turn.branches(dice, sides) for sides in set(kind)}
    else:
        kind = [zero_points(turn.rules, s, o) for s, o in pairs]
        results = {branch.points: (branch,) for branch in (turn.free(s, o) for s, o in pairs)}
    where = np.array(kind).reshape(game.goal, game.goal)
    for one, branches in results.items():
        yield where == one, branches


class _Landings:
    """Where turns end, by the scores that they leave, as arrays."""

    def __init__(self, turn: TurnTable, bonus: int) -> None:
        rules, (points, gift) = turn.rules, turn.most()
        shape = rules.size + points + bonus, rules.size + gift
        ends = [land(rules, s, o) for s, o in product(*map(range, shape))]
        self.goal = rules.size
        self.score = np.array([end.score for end in ends]).reshape(shape)
        self.opponent = np.array([end.opponent for end in ends]).reshape(shape)
        self.again = np.array([end.again for end in ends]).reshape(shape)

    def worth(
        self,
        values: Floats,
        scores: tuple[NDArray[np.int64], NDArray[np.int64]],
        forced: NDArray[np.bool_],
        mine: NDArray[np.int64],
        theirs: NDArray[np.int64],
    ) -> Floats:
        """Win probability of the mover once the turn is over, by scores before the landing."""
        score, opponent = self.score[scores], self.opponent[scores]
        last = self.goal - 1
        own, other = np.minimum(score, last), np.minimum(opponent, last)
        again = self.again[scores] | forced
        goes_on = np.where(again, values[own, other, mine], 1.0 - values[other, own, theirs])
        return np.where((score > last) | (opponent > last), score >= opponent, goes_on)


def book(game: HogEngine) -> dict[str, Any]:
    """Reasons of strange positions, fit for JSON; none where each player has a goal."""
    listed = [] if game.has_own_goals else reasons(game)
    named = turn_parts(game.rules)
    names = {**_NAMES, "landing": named.landing, "time_trot": named.turn}
    names |= {"feral_hogs": named.bonus, "memory": named.bonus}
    return {
        "reasons": [
            [round(part, DIGITS) if isinstance(part, float) else part for part in one]
            for one in listed
        ],
        "names": {one.rule: names[one.rule] for one in listed},
    }


def reasons(game: HogEngine) -> list[Reason]:
    """List the positions where optimal play looks strange, and a rule is the reason.

    A position looks strange if its best roll is not the commonest one around it. Of a hidden memory
    the value is taken with which play most often comes there.
    """
    solved = solve(game)
    often = reach(game, builtin("ignore_memory", game))
    memories = often.argmax(axis=2)
    values = solved.values
    rolls = turn_values(game, values, memories, game.rules)
    best = _best(rolls)
    strange = best != _commonest(best, game.num_actions)
    candidates = []
    for rule, off in OFF.items():
        if getattr(game.rules, rule) == off:
            continue
        without = turn_values(game, values, memories, _without(game.rules, rule))
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
    chosen = np.eye(actions)[best]
    for down, right in product(range(2 * AROUND + 1), repeat=2):
        if (down, right) != (AROUND, AROUND):
            counts[down : down + goal, right : right + goal] += chosen
    return counts[AROUND:-AROUND, AROUND:-AROUND].argmax(axis=2)


def _without(rules: Rules, rule: str) -> Rules:
    """Give rules without one; the dice of extra turns go with the last that gives any."""
    try:
        return replace(rules, **{rule: OFF[rule]})
    except ValueError:
        return replace(rules, **{rule: OFF[rule]}, extra_turn_sides=None)


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
