"""Passes over the decisions of a belief DAG, and regret matching at each.

There are D decisions in an order in which plays meet them; choice 0 is the begin, and choice
``starts[d] + a``, before ``starts[d + 1]``, takes action a at decision d. Edges lie by the decision
that they lead to: those to d are from ``ends[d]`` to before ``ends[d + 1]``, and begin with choice
`source`.
"""

import numpy as np

from hogeq.kernels.cache import kernel
from hogeq.kernels.sequences import match


@kernel
def flow_on(ends, source, starts, shares, places, flow):
    """Fill the flow of probabilities: those of a decision are `shares` from its place on."""
    flow[0] = 1.0
    for at in range(len(starts) - 1):
        into = 0.0
        for edge in range(ends[at], ends[at + 1]):
            into += flow[source[edge]]
        shift = places[at] - starts[at]
        for choice in range(starts[at], starts[at + 1]):
            share = shares[choice + shift]  # 0 even where numbers of ways are infinite
            flow[choice] = into * share if share > 0.0 else 0.0


@kernel
def rise_best(ends, source, starts, allowed, worth, best):
    """Add all that follows best choices, which `best`, (D,), takes; the first of some that tie."""
    for at in range(len(starts) - 2, -1, -1):
        value = -np.inf
        for choice in range(starts[at], starts[at + 1]):
            if allowed[choice] and worth[choice] > value:
                value, best[at] = worth[choice], choice
        for edge in range(ends[at], ends[at + 1]):
            worth[source[edge]] += value


@kernel
def rise_above(ends, source, starts, allowed, worth):
    """Add all that follows best choices, every sum rounded upward: no choices are worth more."""
    for at in range(len(starts) - 2, -1, -1):
        value = -np.inf
        for choice in range(starts[at], starts[at + 1]):
            if allowed[choice]:
                value = max(value, worth[choice])
        for edge in range(ends[at], ends[at + 1]):
            worth[source[edge]] = np.nextafter(worth[source[edge]] + value, np.inf)


@kernel
def match_all(regrets, prediction, starts, epsilon, strategy):
    """Set all decisions of a player, (D, K), by their regrets."""
    for at in range(len(strategy)):
        match(regrets, prediction, at, starts[at + 1] - starts[at], epsilon, strategy)


@kernel
def learn(
    ends,
    source,
    starts,
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
    """Add an iteration to the tables of a player, (D, K), and set all decisions by them.

    `flow` is that of `strategy`; `worth`, that of the choices alone, gets what follows as well.
    """
    weight, gained, lost = factors
    for at in range(len(strategy) - 1, -1, -1):
        actions, now = starts[at + 1] - starts[at], 0.0
        for action in range(actions):
            now += strategy[at, action] * worth[starts[at] + action]
        for edge in range(ends[at], ends[at + 1]):
            worth[source[edge]] += now
        for action in range(actions):
            choice = starts[at] + action
            instant = worth[choice] - now
            regret = regrets[at, action] + instant
            if plus:
                regret = max(regret, 0.0)
            regrets[at, action] = regret * (gained if regret > 0.0 else lost)
            strategy_sum[at, action] += weight * flow[choice]
            if len(prediction):
                prediction[at, action] = instant
        match(regrets, prediction, at, actions, epsilon, strategy)
