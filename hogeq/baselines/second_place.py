"""Backward induction over beliefs about the hidden memory, as the second place of summer 2020 did.

A strategy sees the scores and not the points of the last turns, on which Feral Hogs depends. Huan
(2020) [1] believes some distribution of the memory and rolls best by it; docs/huan2020.md has the
method, and experiments/second_place.py the counts that were the beliefs there.

Sizes: G goal, K actions, H memories. A *seat* is 0 for the player who moved first in the game and 1
for the other.
"""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from hogeq.rules.memory import memory_sizes
from hogeq.strategies.strategy import policy_of
from hogeq.support.aliases import Floats, Matrix, Policy
from hogeq.support.messages import HogeqError
from hogeq.support.parameters import Share, check

if TYPE_CHECKING:
    from hogeq.model.game import HogEngine


def countable(game: "HogEngine") -> bool:
    """Whether memory states can be counted: turns alternate, and every turn scores."""
    try:
        require_countable(game)
    except ValueError:
        return False
    return True


def require_countable(game: "HogEngine") -> None:
    """Refuse games in which turns do not alternate or do not always score."""
    rules = game.rules
    turns, extras, _ = memory_sizes(rules)
    where, only = f"delta distribution: rules {rules.name}", "whose only memory is Feral Hogs'"
    if rules.memory != "none":
        raise HogeqError(f"{where} remember {rules.memory}; allowed: rules {only}")
    if rules.effect != "none":
        raise HogeqError(f"{where} have {rules.effect}; allowed: rules without, {only}")
    if turns > 1 or extras > 1 or rules.gives_extra_turns:
        raise HogeqError(f"{where} give extra turns; allowed: rules without, {only}")
    if rules.forty_niners:
        raise HogeqError(f"{where} have 49ers; allowed: rules without, {only}")
    if rules.piggy_back or game.positions_recur:
        raise HogeqError(f"{where} have turns that score 0; allowed: rules where every turn scores")


def exact_distribution(game: "HogEngine", strategy: ArrayLike, tremble: float = 0.0) -> Floats:
    """Exact distribution of the memory in self-play, which counting estimates."""
    from hogeq.evaluation.values import reach

    weights = reach(game, trembling(game, strategy, tremble))
    return over_seats(weights[None])


def trembling(game: "HogEngine", strategy: ArrayLike, epsilon: float) -> Policy:
    """Strategy that errs: with probability `epsilon`, a uniformly random number of dice."""
    check(Share, epsilon=epsilon)
    return (1.0 - epsilon) * policy_of(game, strategy) + epsilon / game.num_actions


def over_seats(weights: ArrayLike) -> Floats:
    """Distribution of the memory, (..., H), averaged over the seats that have weight: (2, ..., H).

    A strategy does not see its seat. Where no seat has weight, the result is 0.
    """
    table = np.asarray(weights, np.float64)
    sums = table.sum(axis=-1, keepdims=True)
    shares = np.divide(table, sums, out=np.zeros_like(table), where=sums > 0.0)
    seats = np.maximum((sums > 0.0).sum(axis=0), 1)
    return np.asarray(shares.sum(axis=0) / seats)


def respond_to_beliefs(game: "HogEngine", beliefs: ArrayLike, epsilon: float = 0.0) -> Matrix:
    """Matrix that is optimal if the memory is always distributed as believed.

    Neither player knows more than the belief, and the opponent errs: with probability `epsilon`,
    a uniformly random number of dice (Huan 2020 [1], "Error Modeling").
    """
    require_countable(game)
    check(Share, epsilon=epsilon)
    shares = np.asarray(beliefs, np.float64)
    shape = (game.goal, game.goal, game.memory_size)
    if shares.shape != shape:
        raise HogeqError(f"beliefs: shape is {shares.shape}; allowed: {shape}")
    believed = shares.reshape(-1, game.memory_size)[game.graph.row]
    # What is not believed is the last memory: of so many points that there is never a bonus.
    believed[:, -1] += 1.0 - believed.sum(axis=1)
    work = game.interpreter(2)
    work.passes.believe(believed, epsilon)
    return work.of_states(work.passes.choice)[..., 0]
