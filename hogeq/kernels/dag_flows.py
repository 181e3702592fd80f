"""Passes over the decisions of a belief DAG, and regret matching at each.

There are D decisions, in an order in which plays meet them, and C choices. Choice 0 is the begin;
``starts[d] + a``, before ``starts[d + 1]``, takes action a at decision d. Edges lie by the decision
that they lead to: those into d are ``ends[d]`` to before ``ends[d + 1]``, and edge e comes from
choice ``source[e]``. So `starts` and `ends` are (D + 1,). A sequence form is such a DAG: decisions
are its refined information sets, each with one edge, and choices are sequences. A pass costs one
step for each edge and choice.
"""

import numpy as np

from hogeq.kernels.cache import kernel
from hogeq.kernels.row_roles import add_regret, match_regrets


@kernel
def flow_on(ends, source, starts, shares, places, flow):
    """Fill the reach probability of every choice, `flow` (C,), top-down.

    Into decision d lead the choices ``source[ends[d]:ends[d + 1]]``, whose reach is summed; its own
    choices are ``starts[d]`` to before ``starts[d + 1]``, with the probabilities that begin at
    ``shares[places[d]]``. Choice 0 is the begin.
    """
    flow[0] = 1.0
    for decision in range(len(starts) - 1):
        reach = 0.0
        for edge in range(ends[decision], ends[decision + 1]):
            reach += flow[source[edge]]
        for choice in range(starts[decision], starts[decision + 1]):
            action = choice - starts[decision]
            probability = shares[places[decision] + action]
            # 0 stays 0 even where numbers of ways are infinite.
            flow[choice] = reach * probability if probability > 0.0 else 0.0


@kernel
def rise_best(ends, source, starts, allowed, values, best):
    """Compute best-response values of all choices, bottom-up, and the best choice of each decision.

    Decision d has the choices ``starts[d]`` to before ``starts[d + 1]``; into it lead the choices
    ``source[ends[d]:ends[d + 1]]``. `values` (C,) has the payoff of each choice alone; the best
    value of the decisions that follow is added: ``values[0]`` is then the best response's. `best`
    (D,) gets the first best choice of those that are `allowed`, (C,).
    """
    for decision in range(len(starts) - 2, -1, -1):
        best_value = -np.inf
        for choice in range(starts[decision], starts[decision + 1]):
            if allowed[choice] and values[choice] > best_value:
                best_value = values[choice]
                best[decision] = choice
        for edge in range(ends[decision], ends[decision + 1]):
            values[source[edge]] += best_value


@kernel
def rise_above(ends, source, starts, allowed, values):
    """Bound the best-response values of all choices from above, bottom-up: sums are rounded upward.

    `values` (C,) has the payoff of each choice alone, and gets an upper bound on this and the best
    value of the decisions that follow it, by the choices that are `allowed`, (C,).
    """
    for decision in range(len(starts) - 2, -1, -1):
        best_value = -np.inf
        for choice in range(starts[decision], starts[decision + 1]):
            if allowed[choice]:
                best_value = max(best_value, values[choice])
        for edge in range(ends[decision], ends[decision + 1]):
            earlier_choice = source[edge]
            values[earlier_choice] = np.nextafter(values[earlier_choice] + best_value, np.inf)


@kernel
def match_all(regrets, prediction, starts, epsilon, strategy):
    """Set all decisions of a player, `strategy` (D, K), by regret matching.

    `regrets` is (D, K), `prediction` (D, K) or empty, `epsilon` the least probability.
    """
    for decision in range(len(strategy)):
        actions = starts[decision + 1] - starts[decision]
        match_regrets(regrets, prediction, decision, actions, epsilon, strategy)


@kernel
def learn(
    ends, source, starts, factors, plus, epsilon, flow, values,
    regrets, prediction, strategy_sum, strategy,
):  # fmt: skip
    """Do one iteration of a regret minimiser at all decisions of a player, the last first.

    1. Counterfactual value of the decision: the mean of ``values[choice]`` by `strategy`, (D, K).
    2. Add it to `values`, (C,), of the choices before it; these had their own payoffs alone.
    3. Add each action's regret to `regrets`, (D, K), cut off at 0 if `plus`, and discounted by its
       sign; `prediction`, (D, K) or empty, gets the regret alone.
    4. Add the reach of choices, `flow` (C,), to `strategy_sum`, (D, K), times the weight.
    5. Match regrets in `strategy`, with the least probability `epsilon`.

    `factors` has the weight and the discounts of positive and of negative regrets.
    """
    weight, positive_discount, negative_discount = factors
    discounts = positive_discount, negative_discount
    for decision in range(len(strategy) - 1, -1, -1):
        actions = starts[decision + 1] - starts[decision]
        expected = 0.0
        for action in range(actions):
            expected += strategy[decision, action] * values[starts[decision] + action]
        for edge in range(ends[decision], ends[decision + 1]):
            values[source[edge]] += expected
        for action in range(actions):
            choice = starts[decision] + action
            instant_regret = values[choice] - expected
            add_regret(decision, action, instant_regret, discounts, plus, regrets, prediction)
            strategy_sum[decision, action] += weight * flow[choice]
        match_regrets(regrets, prediction, decision, actions, epsilon, strategy)
