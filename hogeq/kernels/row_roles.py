"""What a pass or a regret minimiser does to one row of a policy: in every compiled loop.

:mod:`hogeq.model.rows` is the same in numpy; staged kernels emit it, for vectors of rows.
"""

import math
from typing import NamedTuple

import numpy as np

from hogeq.kernels import LEAST_WEIGHT, TIE
from hogeq.kernels.cache import part
from hogeq.support.aliases import Floats


@part
def take_best(row, action_values, reach):
    """Put all probability of a row, (K,), on its best action; return 1 if that changes it, else 0.

    Values, weighted by `reach`, that are within `TIE` of the best are as good. A row that is sure
    of such an action stays; else the first of them is taken.
    """
    best_value = -np.inf
    for action in range(len(row)):
        best_value = max(best_value, action_values[action])
    chosen = -1
    for action in range(len(row)):
        is_best = action_values[action] >= best_value - TIE * reach
        if is_best and (chosen < 0 or row[action] == 1.0):
            chosen = action
    changed = 1 if row[chosen] != 1.0 else 0
    for action in range(len(row)):
        row[action] = 1.0 if action == chosen else 0.0
    return changed


@part
def soften(row, action_values, reach, temperature, damping):
    """Move a row, (K,), a share `damping` of the way to the softmax of its action values, in place.

    `action_values`, (K,), are weighted by `reach`, and are overwritten. The softmax is of values
    given that play comes to the row, divided by the temperature.
    """
    best_value = -np.inf
    for action in range(len(row)):
        best_value = max(best_value, action_values[action])
    divisor = max(reach * temperature, LEAST_WEIGHT)  # values are weighted by reach
    total = 0.0
    for action in range(len(row)):
        # The best value is subtracted, so that no exponential overflows.
        action_values[action] = math.exp((action_values[action] - best_value) / divisor)
        total += action_values[action]
    for action in range(len(row)):
        row[action] += damping * (action_values[action] / total - row[action])


class RegretTables(NamedTuple):
    """What a regret minimiser keeps."""

    regrets: Floats  # (R, K), discounted sums
    prediction: Floats  # (R, K), regrets of the last iteration; (0, K) if they are not used
    strategy_sum: Floats  # (R, K), of policies, each times its weight in the average


@part
def match_regrets(regrets, prediction, row, actions, epsilon, policy):
    """Set the first `actions` of a row of `policy`, (R, K), by regret matching.

    An action's regret is that in `regrets`, (R, K), plus its last one if `prediction` is (R, K),
    not (0, K). Each probability is proportional to the positive part of this sum; all are equal if
    no sum is positive. Then probabilities are shrunk so that none is below `epsilon`.
    """
    positive_sum, probability_sum = 0.0, 0.0
    for action in range(actions):
        regret = regrets[row, action]
        if len(prediction):
            regret += prediction[row, action]
        policy[row, action] = max(regret, 0.0)
        positive_sum += policy[row, action]
    for action in range(actions):
        positive = policy[row, action]
        policy[row, action] = positive / positive_sum if positive_sum > 0.0 else 1.0 / actions
        probability_sum += policy[row, action]
    # A second time, since rows of tiny sums can miss 1 by more than rounding allows.
    for action in range(actions):
        policy[row, action] /= probability_sum
        if epsilon > 0.0:
            policy[row, action] = epsilon + (1.0 - actions * epsilon) * policy[row, action]


@part
def add_regret(row, action, instant_regret, discounts, plus, regrets, prediction):
    """Add an action's regret of one iteration, `instant_regret`, to its sum in `regrets`, (R, K).

    If `plus`, as in CFR+, sums below 0 become 0. Then the sum is multiplied by ``discounts[0]`` if
    it is positive, else by ``discounts[1]``. `prediction`, if not (0, K), gets the new one alone.
    """
    regret = regrets[row, action] + instant_regret
    if plus:
        regret = max(regret, 0.0)
    regrets[row, action] = regret * (discounts[0] if regret > 0.0 else discounts[1])
    if len(prediction):
        prediction[row, action] = instant_regret
