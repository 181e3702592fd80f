"""Passes over the decisions of a belief DAG, and regret matching at each.

There are D decisions of K actions in an order in which plays meet them; choice 0 is the begin, and
choice 1 + d * K + a takes action a at decision d. Edges lie by the decision that they lead to:
those to decision d are from ``ends[d]`` to before ``ends[d + 1]``, and begin with choice `source`.
"""

import numpy as np

from hogeq.kernels.cache import kernel
from hogeq.kernels.sequences import match


@kernel
def flow_on(ends, source, strategy, flow):
    """Fill the flow of probabilities of actions, (D, K), that come in at the begin."""
    actions = strategy.shape[1]
    flow[0] = 1.0
    for at in range(len(strategy)):
        into = 0.0
        for edge in range(ends[at], ends[at + 1]):
            into += flow[source[edge]]
        for action in range(actions):
            share = strategy[at, action]  # 0 even where numbers of ways are infinite
            flow[1 + at * actions + action] = into * share if share > 0.0 else 0.0


@kernel
def rise_best(ends, source, legal, worth, best):
    """Add all that follows best choices, which `best`, (D,), takes; the first of some that tie."""
    actions = legal.shape[1]
    for at in range(len(legal) - 1, -1, -1):
        value = -np.inf
        for action in range(actions):
            here = worth[1 + at * actions + action]
            if legal[at, action] and here > value:
                value, best[at] = here, action
        for edge in range(ends[at], ends[at + 1]):
            worth[source[edge]] += value


@kernel
def rise_above(ends, source, legal, worth):
    """Add all that follows best choices, every sum rounded upward: no choices are worth more."""
    actions = legal.shape[1]
    for at in range(len(legal) - 1, -1, -1):
        value = -np.inf
        for action in range(actions):
            if legal[at, action]:
                value = max(value, worth[1 + at * actions + action])
        for edge in range(ends[at], ends[at + 1]):
            worth[source[edge]] = np.nextafter(worth[source[edge]] + value, np.inf)


@kernel
def match_all(regrets, prediction, counts, epsilon, strategy):
    """Set all decisions of a player by their regrets."""
    for at in range(len(strategy)):
        match(regrets, prediction, at, counts[at], epsilon, strategy)


@kernel
def learn(
    ends,
    source,
    counts,
    factors,
    plus,
    epsilon,
    flow,
    worth,
    regrets,
    prediction,
    strategy_sum,
    strategy,
):
    """Add an iteration to the tables of a player, and set all decisions by them.

    The first of `counts`, (D,), actions are legal. `flow` is that of `strategy`; `worth`, that of
    the choices alone, gets what follows as well.
    """
    actions = strategy.shape[1]
    weight, gained, lost = factors
    for at in range(len(strategy) - 1, -1, -1):
        now = 0.0
        for action in range(actions):
            now += strategy[at, action] * worth[1 + at * actions + action]
        for edge in range(ends[at], ends[at + 1]):
            worth[source[edge]] += now
        for action in range(counts[at]):
            choice = 1 + at * actions + action
            instant = worth[choice] - now
            regret = regrets[at, action] + instant
            if plus:
                regret = max(regret, 0.0)
            regrets[at, action] = regret * (gained if regret > 0.0 else lost)
            strategy_sum[at, action] += weight * flow[choice]
            if len(prediction):
                prediction[at, action] = instant
        match(regrets, prediction, at, counts[at], epsilon, strategy)
