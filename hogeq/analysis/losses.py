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
    """Split the loss of a matrix or a policy to a response (G, G) over positions and rolls.

    Both play against `against`; `total` is the difference of their win rates.
    """
    work = shared_workspace(game, 2)
    reach = work.forward(policies_of(game, strategy, against))
    responders = policies_of(game, response, against)
    # Win probability of every roll if the response plays on, weighted by the strategy's reach.
    action_values = work.backward(reach, responders, Role.COUNTERFACTUAL).values
    response_values = np.take_along_axis(
        action_values, response[..., None].astype(np.int64), axis=2
    )
    if not game.has_memory:  # the response is best everywhere: rounding makes no losses
        response_values = action_values.max(axis=2, keepdims=True)
    rolls = strategy.policy * (response_values - action_values)
    endless = total - float(rolls.sum()) if game.positions_recur else 0.0
    return Losses(rolls, response, reach.rows.copy(), endless)


def by_kind(game: HogEngine, lost: Losses, forgotten: Mapping[str, NDArray[Any]]) -> list[Group]:
    """Group the losses by the mistake, the largest first.

    A roll is of the first kind that fits: a rule in `forgotten`, by its name with masks (G, G, K),
    comes before the number of dice.
    """
    choices = np.array(game.choices)
    rolled = choices[None, None, :]  # (1, 1, K), dice of every roll
    best = choices[lost.response][..., None]  # (G, G, 1), dice of the response
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
    return sorted(_groups(lost, kinds), key=lambda group: -group.loss)


def by_phase(game: HogEngine, lost: Losses) -> list[Group]:
    """Group the losses by the own score."""
    first_scores = sorted({int(share * game.goal) for share in PHASES})
    ends = [*first_scores[1:], game.goal]
    own_score = np.arange(game.goal)[:, None, None]
    phases = {
        f"own score {first} to {end - 1}": (own_score >= first) & (own_score < end)
        for first, end in zip(first_scores, ends, strict=True)
    }
    return _groups(lost, phases)


def by_lead(game: HogEngine, lost: Losses) -> list[Group]:
    """Group the losses by the player who has fewer points to go."""
    own_goal, opponent_goal = game.rules.goals
    scores = np.arange(game.goal)
    lead = np.subtract.outer(scores - own_goal, scores - opponent_goal)[..., None]  # (G, G, 1)
    return _groups(lost, {"behind": lead < 0, "level": lead == 0, "ahead": lead > 0})


def _groups(lost: Losses, masks: Mapping[str, NDArray[Any]]) -> list[Group]:
    """Add up each loss in the first group whose mask (G, G, K) has it; none is left over."""
    remaining = lost.rolls.copy()
    groups = list[Group]()
    for kind, mask in masks.items():
        losses_of_kind = np.where(mask, remaining, 0.0)
        remaining[np.broadcast_to(mask, remaining.shape)] = 0.0
        positions = int((np.abs(losses_of_kind) > TIE).any(axis=2).sum())
        if positions:
            groups.append(Group(kind, float(losses_of_kind.sum()), positions))
    if abs(lost.endless) > TIE:
        groups.append(Group("games that never end", lost.endless, 0))
    return groups


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
    deficits = _deficits_by_rule(game, lost.response.tobytes(), against, visits)
    if not deficits:
        return {}
    smallest = np.min([*deficits.values()], axis=0)  # of several rules the one that matters most
    return {rule: (deficit <= TIE) & (deficit == smallest) for rule, deficit in deficits.items()}


@lru_cache(maxsize=2)
def _deficits_by_rule(
    game: HogEngine, response: bytes, against: Strategy, visits: bytes
) -> dict[str, Floats]:
    """How much less each roll wins than the response's, (G, G, K), without each rule this turn.

    Keys of a cache are hashed, so arrays are bytes: `response` (G, G) of int8; `visits` (G, G, H)
    of float64, the strategy's reach, or empty where nothing is hidden. The result then is the same
    for all strategies, and computed once.
    """
    shape = game.goal, game.goal, game.memory_size
    matrix = np.frombuffer(response, np.int8).reshape(shape[:2])
    reach = np.frombuffer(visits).reshape(shape) if visits else np.ones(shape)
    beliefs = reach / np.maximum(reach.sum(axis=2, keepdims=True), np.finfo(float).tiny)
    following_values = np.stack([values(game, matrix, against), values(game, against, matrix)])
    index = matrix[..., None].astype(np.int64)
    deficits = {}
    for rule, win_probabilities in values_without_rules(game, following_values, beliefs):
        response_values = np.take_along_axis(win_probabilities, index, axis=2)
        deficits[part_name(game.rules, rule)] = response_values - win_probabilities
    return deficits


def values_without_rules(
    game: HogEngine, following_values: Floats, beliefs: Floats
) -> Iterator[tuple[str, Floats]]:
    """Give each rule, a field of `Rules`, and win probabilities of a turn without it, (G, G, K).

    The arguments are those of :func:`turn_values`.
    """
    for rule, off in OFF.items():
        if getattr(game.rules, rule) == off:
            continue
        try:
            rules = replace(game.rules, **{rule: off})
            win_probabilities = turn_values(game, following_values, beliefs, rules)
        except ValueError:  # the dice of extra turns go with the last that gives any
            continue
        if win_probabilities is not None:
            yield rule, win_probabilities


def turn_values(
    game: HogEngine, following_values: Floats, beliefs: Floats, rules: Rules
) -> Floats | None:
    """Win probability of every roll if this one turn is played by other rules, (G, G, K).

    `following_values` (Q, G, G, H) are win probabilities of the player to move after the turn, for
    each player; `beliefs` (G, G, H) are probabilities of the memories. None where turns by those
    rules leave other memories, or where positions recur by them.
    """
    other = compile_game(rules)
    remembers_same = remembered(rules).values == remembered(game.rules).values
    if not remembers_same or other.memories != game.memories or other.positions_recur:
        return None
    passes = other.interpreter(len(following_values))
    follow_with(passes, following_values[0], following_values[-1])
    cell_beliefs = beliefs.reshape(game.goal**2, 1, -1)
    win_probabilities = np.zeros((game.goal**2, game.num_actions))
    for cells, values_by_memory in roll_values(passes):
        win_probabilities[cells] = (cell_beliefs[cells] @ values_by_memory)[:, 0]
    return win_probabilities.reshape(game.shape)
