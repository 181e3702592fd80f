"""Passes over the sequences of a game tree, of both players at once.

A *sequence* is all that a player met and did up to one of its actions; the empty one is its *root*.
A *refined* information set is a row and the sequence that leads to it. A pass takes four steps:

- *weigh*, down: a sequence weighs what the one before it weighs, times the probability of its last
  action (the own reach, or realisation weight, of Koller, Megiddo and von Stengel 1996);
- *meet*, across: how often chance and the other player lead to a refined information set;
- *pay*, across: the payoff of the ends that a sequence comes to, likewise;
- *rise*, up: a row's values are sums over its refined information sets; what each of these is then
  worth is added to the sequence before it.

Across, the weights of opponents add up: a mixture costs what one opponent costs, but for its
weights. A player's own changes do not move them. So rows are set on the way up, each after all that
follow it, and a whole sweep of ascent costs what a pass costs.

Rows lie by seat and in the order of plays, the refined information sets of a row side by side, and
so do sequences: arrays are read in order, but for the weights across and those before.
"""

import math
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from hogeq.kernels import LEAST_WEIGHT, TIE
from hogeq.kernels.arrays import ASCEND, COUNTERFACTUAL, FULL_MEMORY, SOFTMAX
from hogeq.kernels.cache import kernel, part

Indices = NDArray[np.int32]
Floats = NDArray[np.float64]

WIN = 0.5  # win rate that the largest payoff is worth
SEAT = 0.5  # share of the games in which a player has a seat


class Sequences(NamedTuple):
    """A tree by its sequences: R rows, J refined information sets, S sequences, E ends, M meetings.

    Ends, and nodes of a refined information set, are one where the sequences of both are the same.
    """

    row: Indices  # (R,), number of each row in a policy
    legal: Indices  # (R,), actions of each
    members: Indices  # (R + 1,), where its refined information sets begin
    before: Indices  # (J,), sequence that leads to each
    first: Indices  # (J,), sequence of its first action
    seats: Indices  # (3,), where the rows of each player begin
    roots: Indices  # (3,), where its sequences begin, its root ahead
    end: Indices  # (S + 1,), where the ends of each sequence begin
    end_other: Indices  # (2 E,), the other player's sequence there
    payoff: Floats  # (2 E,), times the probability of chance: a share of the largest
    node: Indices  # (J + 1,), where the meetings of each refined information set begin
    node_other: Indices  # (M,), the other player's sequence there
    chance: Floats  # (M,), probability of chance


@part
def spread(policy, row, legal):
    """Probability that each legal action has from illegal ones; 0 if it may be rounding alone."""
    illegal, ones = 0.0, True
    for action in range(legal, policy.shape[1]):
        illegal += policy[row, action]
    if illegal > TIE:
        for action in range(policy.shape[1]):
            ones &= policy[row, action] == 1.0  # such a row says that own actions count 1
    return 0.0 if illegal <= TIE or ones else illegal / legal


@part
def weigh(tree, policy, low, high, weights):
    """Weigh the sequences that end in these rows."""
    for at in range(low, high):
        row, legal = tree.row[at], tree.legal[at]
        more = spread(policy, row, legal)
        for member in range(tree.members[at], tree.members[at + 1]):
            here, first = weights[tree.before[member]], tree.first[member]
            for action in range(legal):
                weights[first + action] = here * (policy[row, action] + more)


@part
def weigh_all(tree, policy, weights):
    """Weigh all sequences of both players."""
    weights[tree.roots[0]] = weights[tree.roots[1]] = 1.0
    weigh(tree, policy, 0, len(tree.row), weights)


@part
def meet(tree, weights, member):
    """Probability that chance and the other player lead to a refined information set."""
    met = 0.0
    for node in range(tree.node[member], tree.node[member + 1]):
        met += tree.chance[node] * weights[tree.node_other[node]]
    return met


@part
def pay(tree, weights, low, high, worth):
    """Payoffs at the ends of all sequences, to the players from `low` to before `high`."""
    for sequence in range(tree.roots[low], tree.roots[high]):
        won = 0.0
        for end in range(tree.end[sequence], tree.end[sequence + 1]):
            won += tree.payoff[end] * weights[tree.end_other[end]]
        worth[sequence] = won


@part
def value_row(tree, at, own, worth, values):
    """Sum what a row's actions are worth over its refined information sets."""
    legal = tree.legal[at]
    values[:] = 0.0
    for member in range(tree.members[at], tree.members[at + 1]):
        weight, first = own[tree.before[member]], tree.first[member]
        for action in range(legal):
            values[action] += weight * worth[first + action]


@part
def centre_row(values, legal, share, reach, more):
    """Take their mean off a row's values; ties are 0 to the last digit."""
    mean, least = 0.0, 0.0
    for action in range(legal):
        mean += values[action]
    mean /= legal
    for action in range(legal):
        centred = share * (values[action] - mean)
        values[action] = centred if abs(centred) > TIE * reach else 0.0
        least = min(least, values[action])
    # Illegal actions are worth that mean if the policy plays them, else as little as the worst.
    for action in range(legal, len(values)):
        values[action] = least if more == 0.0 else 0.0


@part
def ascend_row(policy, row, legal, values, reach):
    """Set a row that is reached to the first of its best actions, unless it is sure of one."""
    most, choice = -np.inf, -1
    for action in range(legal):
        most = max(most, values[action])
    stays = reach <= 0.0
    for action in range(legal):
        if values[action] >= most - TIE * reach:
            choice = action if choice < 0 else choice
            stays |= policy[row, action] == 1.0
    if not stays:
        policy[row] = 0.0
        policy[row, choice] = 1.0
    return not stays


@part
def soften_row(policy, row, legal, values, reach, temperature, damping):
    """Move a row that is reached towards the softmax of its values, given arrival."""
    if reach > 0.0:
        unit, most, total = max(reach * temperature, LEAST_WEIGHT), -np.inf, 0.0
        for action in range(legal):
            most = max(most, values[action])
        for action in range(legal):
            values[action] = math.exp((values[action] - most) / unit)
            total += values[action]
        values[legal:] = 0.0
        for action in range(policy.shape[1]):
            policy[row, action] += damping * (values[action] / total - policy[row, action])


@part
def rise(tree, at, policy, worth):
    """Add the worth of a row under a policy to the sequences before it."""
    row, legal = tree.row[at], tree.legal[at]
    more = spread(policy, row, legal)
    for member in range(tree.members[at], tree.members[at + 1]):
        first, total = tree.first[member], 0.0
        for action in range(legal):
            total += (policy[row, action] + more) * worth[first + action]
        worth[tree.before[member]] += total


@part
def rise_best(tree, at, worth):
    """Add the worth of the best action of each refined information set."""
    for member in range(tree.members[at], tree.members[at + 1]):
        first, best = tree.first[member], -np.inf
        for action in range(tree.legal[at]):
            best = max(best, worth[first + action])
        worth[tree.before[member]] += best


@kernel
def forward(tree, policies, shares, own, other, scratch, reach):
    """Weigh the sequences of player 0 and its opponents; fill the reach of rows, (R,) or (0,)."""
    weigh_all(tree, policies[0], own)
    share = SEAT
    if len(policies) > 1:
        other[:] = 0.0
    else:
        weigh_all(tree, policies[0], other)
        share = 1.0
    for opponent in range(1, len(policies)):
        weigh_all(tree, policies[opponent], scratch)
        for sequence in range(len(other)):
            other[sequence] += shares[opponent - 1] * scratch[sequence]
    for at in range(len(reach)):
        total = 0.0
        for member in range(tree.members[at], tree.members[at + 1]):
            total += own[tree.before[member]] * meet(tree, other, member)
        reach[tree.row[at]] = share * total


@kernel
def backward(role, tree, policies, own, other, worth, reach, values, temperature, damping):
    """Value the sequences of player 0, who acts by a role; count the rows that ASCEND changed.

    `worth` of the roots is then the payoff to it in each seat, a share of the largest.
    """
    policy, changes = policies[0], 0
    if len(policies) == 1:
        weigh_all(tree, policy, other)
    share = WIN if len(policies) == 1 else WIN * SEAT
    pay(tree, other, 0, 2, worth)
    for at in range(len(tree.row) - 1, -1, -1):
        row, legal = tree.row[at], tree.legal[at]
        if role in (COUNTERFACTUAL, ASCEND, SOFTMAX):
            value_row(tree, at, own, worth, values[row])
            more = spread(policy, row, legal)
            centre_row(values[row], legal, share, reach[row], more)
        if role == ASCEND:
            changes += ascend_row(policy, row, legal, values[row], reach[row])
        elif role == SOFTMAX:
            soften_row(policy, row, legal, values[row], reach[row], temperature, damping)
        if role == FULL_MEMORY:
            rise_best(tree, at, worth)
        else:
            rise(tree, at, policy, worth)
    return changes


@part
def match(regrets, prediction, row, actions, epsilon, policy):
    """Set the first actions of a row in proportion to positive regrets, none below `epsilon`."""
    total, scaled = 0.0, 0.0
    for action in range(actions):
        regret = regrets[row, action]
        if len(prediction):
            regret += prediction[row, action]
        policy[row, action] = max(regret, 0.0)
        total += policy[row, action]
    for action in range(actions):
        policy[row, action] = policy[row, action] / total if total > 0.0 else 1.0 / actions
        scaled += policy[row, action]
    # A second time, since rows of tiny sums can miss 1 by more than rounding allows.
    for action in range(actions):
        policy[row, action] /= scaled
        if epsilon > 0.0:
            policy[row, action] = epsilon + (1.0 - actions * epsilon) * policy[row, action]


@part
def learn(row, added, gained, lost, plus, policy, values, regrets, prediction, strategy_sum):
    """Add an iteration to a row's regrets, discount them, and add to the average."""
    actions, now = policy.shape[1], 0.0
    for action in range(actions):
        now += policy[row, action] * values[action]
    for action in range(actions):
        strategy_sum[row, action] += added * policy[row, action]
        instant = values[action] - now
        regret = regrets[row, action] + instant
        if plus:
            regret = max(regret, 0.0)
        regrets[row, action] = regret * (gained if regret > 0.0 else lost)
        if len(prediction):
            prediction[row, action] = instant


@kernel
def minimise(
    tree,
    regrets,
    prediction,
    strategy_sum,
    factors,
    alternating,
    plus,
    epsilon,
    visits,
    ones,
    policy,
    weights,
    worth,
    values,
):
    """Do iterations of a regret minimiser in self-play, one for each row of `factors`.

    ``visits``, (J,), is how often chance and an opponent at random lead to a refined information
    set; `policy`, `weights`, `worth` and `values` are scratch.
    """
    for row in range(len(policy)):
        match(regrets, prediction, row, policy.shape[1], epsilon, policy)
    weigh_all(tree, policy, weights)
    for iteration in range(len(factors)):
        weight, gained, lost = factors[iteration]
        for turn in range(2 if alternating else 1):
            low, high = (turn, turn + 1) if alternating else (0, 2)
            pay(tree, weights, low, high, worth)
            for at in range(tree.seats[high] - 1, tree.seats[low] - 1, -1):
                row, met, visited = tree.row[at], 0.0, 0.0
                for member in range(tree.members[at], tree.members[at + 1]):
                    met += SEAT * meet(tree, weights, member)
                    visited += SEAT * weights[tree.before[member]] * visits[member]
                value_row(tree, at, ones, worth, values)
                legal = tree.legal[at]
                centre_row(values, legal, WIN * SEAT, met, spread(policy, row, legal))
                rise(tree, at, policy, worth)
                added = weight * visited
                learn(
                    row,
                    added,
                    gained,
                    lost,
                    plus,
                    policy,
                    values,
                    regrets,
                    prediction,
                    strategy_sum,
                )
                match(regrets, prediction, row, policy.shape[1], epsilon, policy)
            weigh(tree, policy, tree.seats[low], tree.seats[high], weights)


class Loops:
    """The loops over a tree, and the arrays that they fill."""

    def __init__(self, tree):
        self.tree = tree
        self.own, self.other, self.worth = (np.zeros(tree.roots[2]) for _ in range(3))

    def forward(self, policies, shares, reach):
        """Weigh all sequences; fill the reach of rows, (R,) or (0,)."""
        forward(self.tree, policies, shares, self.own, self.other, self.worth, reach)

    def backward(self, role, policies, reach, values, temperature, damping):
        """Value all sequences; number of rows that changed, and payoffs to player 0 by seat."""
        arrays = self.own, self.other, self.worth, reach, values
        changes = backward(int(role), self.tree, policies, *arrays, temperature, damping)
        return int(changes), self.worth[self.tree.roots[:2]]

    @cached_property
    def visits(self):
        """How often chance and an opponent at random lead to each refined information set."""
        tree, weights = self.tree, np.zeros(self.tree.roots[2])
        actions = int(tree.legal.max(initial=1))
        evenly = np.full((1, len(tree.row), actions), 1.0 / actions)
        forward(tree, evenly, np.ones(1), weights, weights, weights, weights[:0])
        shape = len(tree.before), len(weights)
        return csr_array((tree.chance, tree.node_other, tree.node), shape) @ weights

    def run(self, regrets, prediction, strategy_sum, factors, *, alternating, plus, epsilon):
        """Do an iteration of a regret minimiser for each row of `factors`, in place."""
        policy, ones = np.zeros(regrets.shape), np.ones(len(self.own))
        predicted = strategy_sum[:0] if prediction is None else prediction
        tables = regrets, predicted, strategy_sum, factors, alternating, plus, epsilon
        scratch = policy, self.other, self.worth, np.zeros(regrets.shape[1])
        minimise(self.tree, *tables, self.visits, ones, *scratch)
