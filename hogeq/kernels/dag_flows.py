"""Passes over the decisions of a belief DAG, and regret matching at each.

A sequence form is such a DAG: decisions are its refined information sets, each with one edge, and
choices are sequences. A pass costs one step for each edge and choice.
"""

from typing import NamedTuple

import numpy as np

from hogeq.kernels.cache import kernel
from hogeq.kernels.row_roles import add_regret, match_regrets
from hogeq.kernels.segments import segment
from hogeq.support.aliases import Ints


class Dag(NamedTuple):
    """D decisions, in an order in which plays meet them, with E edges into them, and C choices.

    Choice 0 is the begin of play. Edges and choices are packed, decision by decision
    (:func:`hogeq.kernels.segments.segment`).
    """

    edge_offsets: Ints  # (D + 1,), first edge into each decision; then E
    edge_source: Ints  # (E,), choice that each edge comes from
    choice_offsets: Ints  # (D + 1,), first choice of each decision, that of action 0; then C


@kernel
def flow_on(dag, probabilities, probability_offsets, flow):
    """Fill the reach probability of every choice of a belief DAG, `flow` (C,), top-down.

    A choice is an action at a decision (a node of the DAG). The reach of a decision is the sum over
    the choices that lead to it, the sources of its edges. Action a has the probability
    ``probabilities[probability_offsets[decision] + a]`` there. Choice 0 is the begin of play.
    """
    flow[0] = 1.0
    for decision in range(len(dag.choice_offsets) - 1):
        reach = 0.0
        for edge in segment(dag.edge_offsets, decision):
            reach += flow[dag.edge_source[edge]]
        for choice in segment(dag.choice_offsets, decision):
            action = choice - dag.choice_offsets[decision]
            probability = probabilities[probability_offsets[decision] + action]
            # 0 stays 0 even where numbers of ways are infinite.
            flow[choice] = reach * probability if probability > 0.0 else 0.0


@kernel
def rise_best(dag, allowed, values, best):
    """Compute best-response values of all choices, bottom-up, and the best choice of each decision.

    A decision is a node of a belief DAG, a choice an action there. `values` (C,) has the payoff of
    each choice alone; the best value of each decision is added to the choices that lead to it:
    ``values[0]`` is then the best response's. `best` (D,) gets the first best choice of those that
    are `allowed`, (C,).
    """
    for decision in range(len(dag.choice_offsets) - 2, -1, -1):
        best_value = -np.inf
        for choice in segment(dag.choice_offsets, decision):
            if allowed[choice] and values[choice] > best_value:
                best_value = values[choice]
                best[decision] = choice
        for edge in segment(dag.edge_offsets, decision):
            values[dag.edge_source[edge]] += best_value


@kernel
def rise_above(dag, allowed, values):
    """Bound the best-response values of all choices from above, bottom-up: sums are rounded upward.

    A choice is an action at a decision, a node of a belief DAG. `values` (C,) has the payoff of
    each choice alone, and gets an upper bound on this and the best value of the decisions that
    follow it, by the choices that are `allowed`, (C,).
    """
    for decision in range(len(dag.choice_offsets) - 2, -1, -1):
        best_value = -np.inf
        for choice in segment(dag.choice_offsets, decision):
            if allowed[choice]:
                best_value = max(best_value, values[choice])
        for edge in segment(dag.edge_offsets, decision):
            earlier_choice = dag.edge_source[edge]
            values[earlier_choice] = np.nextafter(values[earlier_choice] + best_value, np.inf)


@kernel
def match_all(dag, tables, epsilon, strategy):
    """Set all decisions of a player, `strategy` (D, K), by regret matching.

    `tables` are the player's :class:`hogeq.kernels.row_roles.RegretTables`, `epsilon` is the least
    probability.
    """
    for decision in range(len(strategy)):
        actions = len(segment(dag.choice_offsets, decision))
        match_regrets(tables.regrets, tables.prediction, decision, actions, epsilon, strategy)


@kernel
def learn(dag, tables, factors, plus, epsilon, flow, values, strategy):
    """Do one iteration of CFR, or a variant, at all decisions of a player's belief DAG, bottom-up.

    A choice is an action at a decision.

    1. Counterfactual value of the decision: the mean of ``values[choice]`` by `strategy`, (D, K).
    2. Add it to `values`, (C,), of the choices before it; these had their own payoffs alone.
    3. Add each action's regret to `tables`, cut off at 0 if `plus`, and discounted by its sign.
    4. Add the reach of choices, `flow` (C,), to the sum of strategies, times the weight.
    5. Match regrets in `strategy`, with the least probability `epsilon`.

    `factors` has the weight and the discounts of positive and of negative regrets.
    """
    regrets, prediction, strategy_sum = tables
    weight, positive_discount, negative_discount = factors
    discounts = positive_discount, negative_discount
    for decision in range(len(strategy) - 1, -1, -1):
        first_choice = dag.choice_offsets[decision]
        actions = len(segment(dag.choice_offsets, decision))
        expected = 0.0
        for action in range(actions):
            expected += strategy[decision, action] * values[first_choice + action]
        for edge in segment(dag.edge_offsets, decision):
            values[dag.edge_source[edge]] += expected
        for action in range(actions):
            instant_regret = values[first_choice + action] - expected
            add_regret(decision, action, instant_regret, discounts, plus, regrets, prediction)
            strategy_sum[decision, action] += weight * flow[first_choice + action]
        match_regrets(regrets, prediction, decision, actions, epsilon, strategy)
