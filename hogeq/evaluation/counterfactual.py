"""Counterfactual values, and the policy of a mixture, for every engine."""

from typing import Final, Literal, NamedTuple, get_args

import numpy as np

from hogeq.evaluation.rounding import value_roundings
from hogeq.graph.graph import NATURE, Graph
from hogeq.model.graph_engine import GraphEngine
from hogeq.model.protocol import Engine, Passes, Role
from hogeq.model.rows import plain
from hogeq.model.shared import shared_workspace
from hogeq.strategies.arrays import given_arrival, normalised
from hogeq.strategies.conversion import StrategyLike, policies_of
from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Floats
from hogeq.support.floats import UNIT_ROUNDOFF
from hogeq.support.messages import HogeqError, refusal, shown

RegretWeight = Literal["reach", "counterfactual", "belief"]
"""How hidden states are weighted: see :meth:`hogeq.Game.action_values`."""


# Of a gain where positions recur, beside what iteration misses. Elimination subtracts nothing, so
# that gains are right to some units; but its proved bound, by the cube of a block's states
# (O'Cinneide, "Entrywise perturbation theory", 1993), is of no use.
UNPROVED_ERROR: Final = 2.0**-40


class Counterfactual(NamedTuple):
    """One pass of a policy: counterfactual values, from which regrets are computed, and reach."""

    values: Floats  # (G, G, K), of every action at every information set
    infoset_reach: Floats  # (G, G), of every information set: the sum of the weights
    starts: tuple[float, float]  # win probability of whoever moves first: the policy, or the other


def action_values(
    game: Engine,
    policy: StrategyLike,
    opponent: StrategyLike | None = None,
    weight: RegretWeight = "reach",
) -> Floats:
    """Counterfactual values of every action, (G, G, K); the opponent plays the same by default.

    "reach" includes the player's own actions, "counterfactual" counts each of them as 1
    (Zinkevich et al. 2007, equation 5), "belief" divides by the reach of the information set.

    Examples
    --------
    >>> import hogeq
    >>> game = hogeq.Game("kuhn_poker")
    >>> values = hogeq.action_values(game.engine, game.strategy("uniform"))
    >>> values.shape == game.engine.shape
    True
    """
    require_weight(weight)
    policies = policies_of(game, policy, policy if opponent is None else opponent)
    return counterfactual_values(shared_workspace(game, 2), policies, weight).values


def graph_action_values(graph: Graph, policies: Floats, weight: RegretWeight) -> Floats:
    """Counterfactual payoff of every action to the player of its row, (R, K), of a graph.

    That player plays the first of two policies (2, R, K), the other player the second; NaN where
    there is no such action. `weight` says how positions are weighted, as in `action_values`.
    """
    from hogeq.model.graph_passes import GraphPasses  # imports compiled code

    require_weight(weight)
    reach_policies = policies.copy()  # from which the reach of rows is computed
    if weight == "counterfactual":
        reach_policies[0] = graph.legal  # every own action counts as 1
    values = np.full(policies.shape[1:], np.nan)
    for seat in (0, 1):
        passes = GraphPasses(graph, me=seat)
        if weight == "counterfactual" and passes.pass_graph.block_recurs.any():
            allowed = "reach or belief where a play can come to an information set twice"
            raise HogeqError(refusal("weight", weight, allowed))
        row_reach = passes.forward(reach_policies)[0]  # (R,), against the one opponent
        weight_of_opponent = np.ones(1)
        passes.backward(Role.COUNTERFACTUAL, policies.copy(), weight_of_opponent)
        seat_values = passes.action_values
        if weight == "belief":
            seat_values = given_arrival(seat_values, row_reach)
        seat_rows = graph.rows_of(seat)
        values[seat_rows] = seat_values[seat_rows]
    return np.where(graph.legal, values, np.nan)


def gains_alone(
    game: Engine, policies: Floats, weights: Floats, after: Floats, gains: Floats
) -> Floats:
    """Exact gain of win rate if one row alone changes to that of `after`, for each row, (*rows).

    The first of `policies` (1 + n, *rows, K) is changed; the others are opponents, of `weights`
    (n,). `gains` (*rows) are those to first order, reach times the difference of action values.
    They are exact if no play meets a row twice, since a win rate is then linear in each row.
    """
    return gains_and_error(game, policies, weights, after, gains)[0]


def gains_and_error(
    game: Engine, policies: Floats, weights: Floats, after: Floats, gains: Floats
) -> tuple[Floats, float]:
    """Gains of :func:`gains_alone`, and by how far rounding and iteration may have moved each.

    Values of a large block of positions that recur are iterated, which ends after so many rounds.
    The flow into later blocks is iterated alike, and misses as much of a win rate again.
    """
    from hogeq.model.game import HogEngine  # imports the compiler
    from hogeq.model.graph_passes import GraphPasses  # imports compiled code

    error = gain_error(game, len(weights))
    if not isinstance(game, HogEngine | GraphEngine) or not game.positions_recur:
        return gains, error

    actions = game.num_actions
    exact_gains = gains.ravel().copy()  # updated in place below
    flat_policies = policies.reshape(len(policies), -1, actions)
    new_rows = after.reshape(-1, actions)
    if isinstance(game, GraphEngine):
        flat_policies = game.legal(flat_policies)
        new_rows = game.legal(new_rows)
    seats = (0,) if game.seats_share_rows else (0, 1)
    iteration_error = 0.0
    for seat in seats:
        passes = GraphPasses(game.graph, len(weights), seat, rows=len(new_rows))
        error_of_seat = passes.value_changes(
            plain(flat_policies), weights / len(seats), new_rows, exact_gains
        )
        iteration_error = max(iteration_error, error_of_seat / len(seats))
    return exact_gains.reshape(gains.shape), error + 2.0 * iteration_error


def gain_error(game: Engine, num_opponents: int) -> float:
    """Bound by how far rounding alone moves a gain of :func:`gains_alone`, in win rates.

    A gain is the sum over a row's states of reach times the difference of two mean values. Win
    rates and reach are at most 1, and two rows of a policy differ by at most 2. So it is enough to
    count the roundings of one term: :mod:`hogeq.evaluation.rounding`. Where a play can meet a row
    twice nothing bounds the turns: there, and for an engine without a graph, it is not proved.
    """
    if not isinstance(game, GraphEngine) or game.positions_recur:
        return UNPROVED_ERROR
    graph = game.graph
    memories, actions = graph.memories, graph.num_actions
    outcomes = int(np.diff(graph.first).max())
    successors = graph.next[graph.ends.entry]
    most_predecessors = int(np.bincount(successors[successors >= 0], minlength=1).max())
    own_rows = graph.row[graph.player != NATURE]
    most_positions = int(np.bincount(own_rows, minlength=1).max())  # of a row
    # A turn adds up reach by way, by end and by state, and multiplies it by 2 chances.
    reach_roundings = memories * (actions * (1 + outcomes) + most_predecessors) + 2
    sum_roundings = num_opponents * most_positions * memories + 2 * actions
    # Each payoff, chance and probability is rounded itself, and payoffs are mapped to win rates.
    turn_roundings = reach_roundings + value_roundings(outcomes, actions) + 2
    roundings = len(graph.level) * turn_roundings + sum_roundings + 4
    return 2.0 * roundings * UNIT_ROUNDOFF / max(1.0 - roundings * UNIT_ROUNDOFF, UNIT_ROUNDOFF)


def require_weight(weight: str) -> None:
    """Refuse a name that is no way to weight hidden states."""
    if weight not in get_args(RegretWeight):
        raise HogeqError(f"weight: {shown(weight)}; allowed: {', '.join(get_args(RegretWeight))}")


def counterfactual_values(
    work: Passes, policies: Floats, weight: RegretWeight = "reach"
) -> Counterfactual:
    """Counterfactual values of the first of Q policies, (Q, G, G, K), against the others.

    A pass forward computes reach, a pass backward the values. A workspace of one player is for
    self-play, with any weight but "counterfactual"; the turns of both seats count then, so that
    reach is twice what two players have. The arrays returned are copies.
    """
    reach_policies = policies  # from which reach is computed
    if weight == "counterfactual":
        reach_policies = policies.copy()
        reach_policies[0] = 1.0  # every own action counts as 1
    reach = work.forward(reach_policies)
    backward = work.backward(reach, policies, Role.COUNTERFACTUAL)
    infoset_reach = reach.rows.copy()
    # The workspace overwrites its own values in the next pass.
    values = backward.values.copy()
    if weight == "belief":
        values = given_arrival(values, infoset_reach)
    return Counterfactual(values, infoset_reach, (backward.first, backward.other))


def kkt_gap(game: Engine, policy: Floats) -> float:
    """Measure how far a policy is from a stationary point of self-play, in units of win rate.

    The sum over information sets of the largest regret of an action, weighted by reach. It is 0
    where the Karush-Kuhn-Tucker conditions of a best response to itself hold, which under imperfect
    recall is necessary for an equilibrium, not sufficient.
    """
    values = counterfactual_values(shared_workspace(game, 2), np.stack([policy, policy])).values
    best_values = values.max(axis=-1)
    policy_values = (values * policy).sum(axis=-1)
    return float((best_values - policy_values).sum())


def policy_of_mixture(game: Engine, weights: Floats, components: Floats) -> Floats:
    """Policy (G, G, K) of a mixture: in every cell its components, weighted by their reach.

    `weights` (n,) are probabilities of the components (n, G, G, K). Reach is that against their
    mean; cells that none reaches have the mean. Under perfect recall the policy plays as the
    mixture does (Kuhn 1953); under imperfect recall it is another strategy.
    """
    mean = normalised(np.tensordot(weights, components, 1))
    work = shared_workspace(game, 2)
    weighted_sum = np.zeros(game.shape)
    for weight, component in zip(weights, components, strict=True):
        if weight > 0.0:
            cell_reach = work.cell_reach(np.stack([component, mean]))[..., None]
            weighted_sum += weight * cell_reach * component
    return normalised(weighted_sum, mean)


class Spread(NamedTuple):
    """Entropy of the next roll at every position, in bits, and how much of it the draw decides."""

    mean: Floats  # (G, G, K), probability of every roll, components weighted as they are drawn
    total: Floats  # (G, G), entropy of the roll for who knows neither the draw nor the game so far
    drawn: Floats  # (G, G), mutual information of draw and roll: a Jensen-Shannon divergence


def spread(strategy: Strategy) -> Spread:
    """Split the entropy of each roll between the draw before the game and the roll itself."""
    mean = strategy.mean
    total = entropy(mean)
    entropy_given_draw = np.tensordot(strategy.chances, entropy(strategy.policies), axes=1)
    return Spread(mean, total, np.maximum(total - entropy_given_draw, 0.0))


def entropy(rows: Floats) -> Floats:
    """Entropy in bits of distributions along the last axis."""
    logs = np.log2(rows, out=np.zeros_like(rows), where=rows > 0.0)
    return np.asarray(-np.einsum("...k,...k->...", rows, logs))
