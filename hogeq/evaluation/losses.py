"""Where a strategy loses: its loss to a response, split over positions and rolls, in groups.

The performance difference theorem (Kakade and Langford 2002, lemma 6.1). A strategy M and a
response R play against the same opponent. Let d(h) be the probability that M, playing, comes to
move in state h, and Q(h, k) the win probability of roll k there if R plays on. Then

    W(R) - W(M)  =  sum over h of  d(h) * sum over k of  M(k | h) * (Q(h, R) - Q(h, k)).

Proof: let M play the first t turns and R all others. From t to t + 1 the win probability falls by
the terms of turn t, and the falls add up to W(R) - W(M) but for games that never end: what these
lose is the rest, `Losses.endless`. States of one position differ in the hidden memory alone, and
their terms add up, so hidden memory needs no belief. A term is negative only where R is not best.

A rule is forgotten where this one turn, played without it, makes the roll as good as R's.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.evaluation.values import values
from hogeq.model.game import HogEngine, compile_game
from hogeq.model.hidden import hidden_reach
from hogeq.model.one_turn import follow_with, roll_values
from hogeq.model.protocol import Role
from hogeq.model.rows import TIE
from hogeq.model.shared import shared_workspace
from hogeq.rules import Rules
from hogeq.rules.memory import remembered
from hogeq.rules.turn import part_name
from hogeq.strategies.strategy import Strategy, policies_of
from hogeq.support.aliases import Floats, Matrix

OFF: Final[dict[str, Any]] = {
    "landing": "none",
    "square_swine": False,
    "swap": "none",
    "more_boar": "none",
    "piggy_back": False,
    "prime_boost": False,
    "hog_wild": False,
    "effect": "none",
}
"""Fields of `Rules` that a turn can be played without, and what they are then."""

PHASES: Final = (0.0, 0.3, 0.6, 0.8)  # shares of the goal at which phases begin


class Losses(NamedTuple):
    """Loss of a strategy to a response, in win rate."""

    rolls: Floats  # (G, G, K), by position and roll
    response: Matrix  # (G, G), rolls of the response, as actions
    reach: Floats  # (G, G), of the strategy: expected number of turns there
    endless: float  # by games that never end


class Group(NamedTuple):
    """Loss of positions that have something in common."""

    kind: str
    loss: float
    positions: int  # that lose anything


def losses(
    game: HogEngine, strategy: Strategy, response: Matrix, against: Strategy, total: float
) -> Losses:
    """Split the loss of a matrix or a policy; `total` is the difference of the win rates."""
    work = shared_workspace(game, 2)
    reach = work.forward(policies_of(game, strategy, against))
    policies = policies_of(game, response, against)
    found = work.backward(reach, policies, Role.COUNTERFACTUAL).values
    at_response = np.take_along_axis(found, response[..., None].astype(np.int64), axis=2)
    if not game.has_memory:  # the response is best everywhere: rounding makes no losses
        at_response = found.max(axis=2, keepdims=True)
    rolls = strategy.policy * (at_response - found)
    rest = total - float(rolls.sum()) if game.positions_recur else 0.0
    return Losses(rolls, response, reach.rows.copy(), rest)


def by_kind(game: HogEngine, lost: Losses, forgotten: Mapping[str, NDArray[Any]]) -> list[Group]:
    """Group the losses by the mistake, the largest first: by rules first, then by dice."""
    choices = np.array(game.choices)
    rolled, best = choices[None, None, :], choices[lost.response][..., None]
    kinds = {
        "better than the response": lost.rolls < 0.0,
        **{f"{rule} forgotten": mask for rule, mask in forgotten.items()},
        "too many dice": (rolled > best) & (best > 0),
        "too few dice": (best > rolled) & (rolled > 0),
        "no dice missed": (best == 0) & (rolled > 0),
        "no dice where rolling is better": (rolled == 0) & (best > 0),
        "-1 missed": (best < 0) & (rolled >= 0),
        "-1 where dice are better": (rolled < 0) & (best >= 0),
    }
    return sorted(_groups(lost, kinds), key=lambda one: -one.loss)


def by_phase(game: HogEngine, lost: Losses) -> list[Group]:
    """Group the losses by the own score."""
    begins = sorted({int(share * game.goal) for share in PHASES})
    own = np.arange(game.goal)[:, None, None]
    return _groups(
        lost,
        {
            f"own score {begin} to {end - 1}": (own >= begin) & (own < end)
            for begin, end in zip(begins, [*begins[1:], game.goal], strict=True)
        },
    )


def by_lead(game: HogEngine, lost: Losses) -> list[Group]:
    """Group the losses by the player who has fewer points to go."""
    one, two = game.rules.goals
    ahead = np.subtract.outer(np.arange(game.goal) - one, np.arange(game.goal) - two)[..., None]
    return _groups(lost, {"behind": ahead < 0, "level": ahead == 0, "ahead": ahead > 0})


def _groups(lost: Losses, masks: Mapping[str, NDArray[Any]]) -> list[Group]:
    """Add up each loss in the first group that has it; none is left over."""
    left, found = lost.rolls.copy(), list[Group]()
    for kind, mask in masks.items():
        part = np.where(mask, left, 0.0)
        left[np.broadcast_to(mask, left.shape)] = 0.0
        positions = int((np.abs(part) > TIE).any(axis=2).sum())
        if positions:
            found.append(Group(kind, float(part.sum()), positions))
    if abs(lost.endless) > TIE:
        found.append(Group("games that never end", lost.endless, 0))
    return found


# --- rules that are forgotten ---------------------------------------------------------------------


def forgotten_rules(
    game: HogEngine, strategy: Strategy, lost: Losses, against: Strategy
) -> dict[str, NDArray[np.bool_]]:
    """Find the rolls (G, G, K) that are as good as the response's without a rule, by its name.

    The memory is that with which the strategy comes there. None where each player has a goal.
    """
    if game.has_own_goals:
        return {}
    visits = b""
    if game.has_memory:
        visits = hidden_reach(game, policies_of(game, strategy, against)).tobytes()
    behind = _behind(game, lost.response.tobytes(), against, visits)
    if not behind:
        return {}
    most = np.min([*behind.values()], axis=0)  # of several rules the one that matters most
    return {name: (one <= TIE) & (one == most) for name, one in behind.items()}


@lru_cache(maxsize=2)
def _behind(
    game: HogEngine, response: bytes, against: Strategy, visits: bytes
) -> dict[str, Floats]:
    """Measure how far each roll is behind the response's, (G, G, K), without each rule this turn.

    Where nothing is hidden that is the same for all strategies, and computed once.
    """
    shape = game.goal, game.goal, game.memory_size
    rolls = np.frombuffer(response, np.int8).reshape(shape[:2])
    reach = np.frombuffer(visits).reshape(shape) if visits else np.ones(shape)
    weights = reach / np.maximum(reach.sum(axis=2, keepdims=True), np.finfo(float).tiny)
    follow = np.stack([values(game, rolls, against), values(game, against, rolls)])
    behind = {}
    for rule, worth in worth_without(game, follow, weights):
        best = np.take_along_axis(worth, rolls[..., None].astype(np.int64), axis=2)
        behind[part_name(game.rules, rule)] = best - worth
    return behind


def worth_without(game: HogEngine, follow: Floats, weights: Floats) -> Iterator[tuple[str, Floats]]:
    """Give rules by their fields, and the worth of rolls without each, as `turn_values` does."""
    for rule, off in OFF.items():
        if getattr(game.rules, rule) == off:
            continue
        try:
            worth = turn_values(game, follow, weights, replace(game.rules, **{rule: off}))
        except ValueError:  # the dice of extra turns go with the last that gives any
            continue
        if worth is not None:
            yield rule, worth


def turn_values(game: HogEngine, follow: Floats, weights: Floats, rules: Rules) -> Floats | None:
    """Win probability of every roll if this one turn is played by other rules, (G, G, K).

    `follow` (Q, G, G, H) are the values of all that follows, of each player; `weights` (G, G, H)
    those of the memories. None where turns by those rules leave other memories, or none that raises
    the sum of the scores.
    """
    other = compile_game(rules)
    same = remembered(rules).values == remembered(game.rules).values
    if not same or other.memories != game.memories or other.positions_recur:
        return None
    passes, worth = other.interpreter(len(follow)), np.zeros((game.goal**2, game.num_actions))
    shares = weights.reshape(game.goal**2, 1, -1)
    follow_with(passes, follow[0], follow[-1])
    for cells, rolls in roll_values(passes):
        worth[cells] = (shares[cells] @ rolls)[:, 0]
    return worth.reshape(game.shape)
