"""Why optimal play looks strange at some positions: the rule that is the reason.

One turn is played without a rule, and all others with it. If the best roll changes, the rule on
this very turn is the reason. The loss of the roll that would be best without it says how strong a
reason. Both are exact.
"""

from dataclasses import replace
from itertools import product
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.baselines.registry import builtin
from hogeq.evaluation.tablebase import solve
from hogeq.evaluation.values import reach
from hogeq.model.game import HogEngine, compile_game
from hogeq.model.hidden import backward_by
from hogeq.model.rows import TIE
from hogeq.rules import Rules
from hogeq.rules.memory import remembered
from hogeq.rules.turn import turn_parts
from hogeq.support.aliases import Floats

OFF: Final[dict[str, Any]] = {
    "landing": "none",
    "square_swine": False,
    "swap": "none",
    "more_boar": "none",
    "piggy_back": False,
    "prime_boost": False,
    "hog_wild": False,
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

DIGITS: Final = 6  # decimals of losses and gains on the page

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


def turn_values(
    game: HogEngine, values: Floats, memories: NDArray[np.int64], rules: Rules
) -> Floats | None:
    """Win probability of every roll if this one turn is played by other rules, (G, G, K).

    Values (G, G, H) are of all that follows, memories (G, G) those that count. None where turns by
    those rules leave other memories, or none that raises the sum of the scores.
    """
    other = compile_game(rules)
    same = remembered(rules).values == remembered(game.rules).values
    if not same or other.memories != game.memories or other.positions_recur:
        return None
    worth = np.zeros(game.shape)

    def as_it_goes_on(_player: int, own: int, opponent: int, rolls: Floats) -> Floats:
        worth[own, opponent] = rolls[memories[own, opponent]]
        return values[own, opponent]

    backward_by(other, 1, as_it_goes_on)
    return worth


def book(game: HogEngine) -> dict[str, Any]:
    """Reasons of strange positions, fit for JSON; none where each player has a goal."""
    listed = [] if game.has_own_goals else reasons(game)
    named = turn_parts(game.rules)
    names = {**_NAMES, "landing": named.landing}
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
    if rolls is None:
        return []
    best = _best(rolls)
    strange = best != _commonest(best, game.num_actions)
    candidates = []
    for rule, off in OFF.items():
        if getattr(game.rules, rule) == off:
            continue
        try:
            without = turn_values(game, values, memories, replace(game.rules, **{rule: off}))
        except ValueError:  # the dice of extra turns go with the last that gives any
            continue
        if without is None:
            continue
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
