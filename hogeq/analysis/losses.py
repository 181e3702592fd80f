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
from hogeq.model.one_turn import follow_with, roll_values
from hogeq.model.protocol import Role
from hogeq.model.rows import TIE
from hogeq.model.shared import shared_workspace
from hogeq.model.state_values import hidden_reach
from hogeq.rules import Rules
from hogeq.rules.memory import memory_tables
from hogeq.rules.turn import part_name
from hogeq.strategies.arrays import at_actions
from hogeq.strategies.conversion import policies_of
from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Floats, Matrix

RULES_OFF: Final[dict[str, Any]] = {
    "landing": "none",
    "square_swine": False,
    "swap": "none",
    "more_boar": "none",
    "piggy_back": False,
    "prime_boost": False,
    "hog_wild": False,
    "effect": "none",
}
"""Fields of `Rules` that a turn can be played without, and their values without the rule."""

PHASE_STARTS: Final = (0.0, 0.3, 0.6, 0.8)  # shares of the goal at which phases of a game begin


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
    """Split the loss of a strategy to a response over positions and rolls.

    By the performance difference theorem (Kakade and Langford 2002) the loss W(response) -
    W(strategy) is the sum over positions h and rolls k of

        d(h) * strategy(k | h) * (Q(h, response) - Q(h, k)),

    where d is the reach of the strategy, and Q the win probability of a roll if the response plays
    on. Both play against the same opponent, `against`; `total` is the difference of their win
    rates, and `response` (G, G) has actions.
    """
    work = shared_workspace(game, 2)
    reach = work.forward(policies_of(game, strategy, against))
    responders = policies_of(game, response, against)
    # Q(h, k), weighted by the strategy's reach d(h).
    action_values = work.backward(reach, responders, Role.COUNTERFACTUAL).values
    response_values = at_actions(action_values, response)
    if not game.has_memory:
        # The response is best everywhere, so that rounding should make no negative losses.
        response_values = action_values.max(axis=2)
    rolls = strategy.policy * (response_values[..., None] - action_values)
    # If positions recur, the sum may miss the total: the rest is lost in games that never end.
    endless = total - float(rolls.sum()) if game.positions_recur else 0.0
    return Losses(rolls, response, reach.rows.copy(), endless)


def by_kind(game: HogEngine, losses: Losses, forgotten: Mapping[str, NDArray[Any]]) -> list[Group]:
    """Group the losses by the kind of mistake, the group with the largest loss first.

    `forgotten` maps the name of a rule to a mask (G, G, K) of the rolls that forget it. A roll is
    counted in the first kind that fits, and forgotten rules come before the number of dice.
    """
    choices = np.array(game.choices)  # number of dice of each action, or -1 for that choice
    dice = choices[None, None, :]  # (1, 1, K), dice of every roll
    best_dice = choices[losses.response][..., None]  # (G, G, 1), dice of the response
    kinds = {
        "better than the response": losses.rolls < 0.0,
        **{f"{rule} forgotten": mask for rule, mask in forgotten.items()},
        "too many dice": (dice > best_dice) & (best_dice > 0),
        "too few dice": (best_dice > dice) & (dice > 0),
        "no dice missed": (best_dice == 0) & (dice > 0),
        "no dice where rolling is better": (dice == 0) & (best_dice > 0),
        "-1 missed": (best_dice < 0) & (dice >= 0),
        "-1 where dice are better": (dice < 0) & (best_dice >= 0),
    }
    return sorted(_groups(losses, kinds), key=lambda group: -group.loss)


def by_phase(game: HogEngine, losses: Losses) -> list[Group]:
    """Group the losses by the own score, in phases that begin at `PHASE_STARTS` of the goal."""
    first_scores = sorted({int(share * game.goal) for share in PHASE_STARTS})
    ends = [*first_scores[1:], game.goal]
    own_score = np.arange(game.goal)[:, None, None]
    phases = {
        f"own score {first} to {end - 1}": (own_score >= first) & (own_score < end)
        for first, end in zip(first_scores, ends, strict=True)
    }
    return _groups(losses, phases)


def by_lead(game: HogEngine, losses: Losses) -> list[Group]:
    """Group the losses by the player who has fewer points to go: behind, level or ahead."""
    own_goal, opponent_goal = game.rules.goals
    scores = np.arange(game.goal)
    lead = np.subtract.outer(scores - own_goal, scores - opponent_goal)[..., None]  # (G, G, 1)
    return _groups(losses, {"behind": lead < 0, "level": lead == 0, "ahead": lead > 0})


def _groups(losses: Losses, masks: Mapping[str, NDArray[Any]]) -> list[Group]:
    """Sum the losses of each kind; a roll counts only in the first kind whose mask has it.

    The masks, by kind, broadcast to (G, G, K) and together cover all rolls. Kinds without a loss
    are left out.
    """
    remaining = losses.rolls.copy()
    groups = list[Group]()
    for kind, mask in masks.items():
        losses_of_kind = np.where(mask, remaining, 0.0)
        remaining[np.broadcast_to(mask, remaining.shape)] = 0.0
        positions = int((np.abs(losses_of_kind) > TIE).any(axis=2).sum())
        if positions:
            groups.append(Group(kind, float(losses_of_kind.sum()), positions))
    if abs(losses.endless) > TIE:
        groups.append(Group("games that never end", losses.endless, 0))
    return groups


# --- rules that are forgotten ---------------------------------------------------------------------


def forgotten_rules(
    game: HogEngine, strategy: Strategy, losses: Losses, against: Strategy
) -> dict[str, NDArray[np.bool_]]:
    """Find the rolls that are as good as the response's if one rule is left out of this turn.

    The masks (G, G, K) are given by the name of the rule. Hidden memory is weighted by how often
    the strategy reaches the position with it. The result is empty if each player has a goal.
    """
    if game.has_own_goals:
        return {}
    visits = b""  # bytes, since the next function is cached
    if game.has_memory:
        visits = hidden_reach(game, policies_of(game, strategy, against)).tobytes()
    deficits = _deficits_by_rule(game, losses.response.tobytes(), against, visits)
    if not deficits:
        return {}
    # If several rules could be the forgotten one, it is the rule with the smallest deficit.
    smallest = np.min([*deficits.values()], axis=0)
    return {rule: (deficit <= TIE) & (deficit == smallest) for rule, deficit in deficits.items()}


@lru_cache(maxsize=2)
def _deficits_by_rule(
    game: HogEngine, response: bytes, against: Strategy, visits: bytes
) -> dict[str, Floats]:
    """Compute how much less each roll wins than the response's if this turn lacks one rule.

    The deficits (G, G, K) of win probability are given by the name of the rule. Both players play
    by all rules after this turn, `response` against `against`. The arguments are the keys of a
    cache and have to be hashable, so arrays are bytes: `response` (G, G) of int8, actions; `visits`
    (G, G, H) of float64, how often the strategy reaches each memory. `visits` is empty where
    nothing is hidden: the result is then the same for all strategies.
    """
    shape = game.goal, game.goal, game.memory_size
    matrix = np.frombuffer(response, np.int8).reshape(shape[:2])
    reach = np.frombuffer(visits).reshape(shape) if visits else np.ones(shape)
    beliefs = reach / np.maximum(reach.sum(axis=2, keepdims=True), np.finfo(float).tiny)
    following_values = np.stack([values(game, matrix, against), values(game, against, matrix)])
    deficits = {}
    for rule, win_probabilities in values_without_rules(game, following_values, beliefs):
        response_values = at_actions(win_probabilities, matrix)[..., None]
        deficits[part_name(game.rules, rule)] = response_values - win_probabilities
    return deficits


def values_without_rules(
    game: HogEngine, following_values: Floats, beliefs: Floats
) -> Iterator[tuple[str, Floats]]:
    """Give for each rule of the game the win probabilities of a turn without it, (G, G, K).

    A rule is named by its field of `Rules`. `following_values` (Q, G, G, H) are the win
    probabilities after the turn and `beliefs` (G, G, H) the probabilities of the memories, as
    :func:`turn_values` takes them. Rules that cannot be left out alone are skipped.
    """
    for rule, value_when_off in RULES_OFF.items():
        if getattr(game.rules, rule) == value_when_off:
            continue  # the game does not have the rule
        try:
            rules = replace(game.rules, **{rule: value_when_off})
            win_probabilities = turn_values(game, following_values, beliefs, rules)
        except ValueError:  # invalid rules: dice of extra turns need a rule that gives extra turns
            continue
        if win_probabilities is not None:
            yield rule, win_probabilities


def turn_values(
    game: HogEngine, following_values: Floats, beliefs: Floats, rules: Rules
) -> Floats | None:
    """Win probability of every roll if this one turn is played by other rules, (G, G, K).

    `following_values` (Q, G, G, H) are win probabilities of the player to move after the turn, of
    each of Q players (1 if both are the same); `beliefs` (G, G, H) are probabilities of the
    memories at each position. None if the other rules remember something else, or if positions
    recur by them.
    """
    other_game = compile_game(rules)
    remembers_same = memory_tables(rules).values == memory_tables(game.rules).values
    if not remembers_same or other_game.memories != game.memories or other_game.positions_recur:
        return None
    passes = other_game.graph_layout(len(following_values))
    follow_with(passes, following_values[0], following_values[-1])
    cell_beliefs = beliefs.reshape(game.goal**2, 1, -1)
    win_probabilities = np.zeros((game.goal**2, game.num_actions))
    for cells, values_by_memory in roll_values(passes):
        win_probabilities[cells] = (cell_beliefs[cells] @ values_by_memory)[:, 0]
    return win_probabilities.reshape(game.shape)
