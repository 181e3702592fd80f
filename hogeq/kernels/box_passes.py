"""Passes over a player's refined information sets, for policies and for boxes of them.

There are J refined information sets, those that come first in plays first; `row`, (J,), is the row
of each, and `before`, (J,), the sequence that leads to it. Sequence 0 is the empty one, and
sequence 1 + j * K + a takes action a at j. Policies, and the ends of boxes, are (R, K, S): S
samples at once. Every pass touches each refined information set once, however many levels the game
has.
"""

import numpy as np

from hogeq.kernels.cache import kernel, part


@kernel
def reach_sequences(before, row, policies, reach):
    """Fill the reach of all sequences by the own actions, `reach` (1 + J K, S), top-down."""
    actions, samples = policies.shape[1:]
    reach[0] = 1.0
    for refined in range(len(row)):
        first_sequence = 1 + refined * actions
        for action in range(actions):
            for sample in range(samples):
                probability = policies[row[refined], action, sample]
                reach_before = reach[before[refined], sample]
                reach[first_sequence + action, sample] = reach_before * probability


@kernel
def value_policies(before, row, policies, values):
    """Compute the value of every sequence under policies, `values` (1 + J K, S), bottom-up.

    `values` has the payoffs of sequences alone, and gets the expected value of what follows them.
    """
    actions, samples = policies.shape[1:]
    for refined in range(len(row) - 1, -1, -1):
        first_sequence = 1 + refined * actions
        for sample in range(samples):
            expected = 0.0
            for action in range(actions):
                probability = policies[row[refined], action, sample]
                expected += probability * values[first_sequence + action, sample]
            values[before[refined], sample] += expected


@part
def greedy_maximum(values, first, lower, upper, row, sample):
    """Maximum of the sum of values times p, over lower <= p <= upper with the sum of p 1.

    The continuous knapsack, solved greedily: all take their lower end, and what is left fills up
    actions in order of their values, ``values[first + action]``, without sorting them. A row needs
    few: those that have room for all that is left end it.
    """
    maximum, left = 0.0, 1.0
    for action in range(lower.shape[1]):
        maximum += lower[row, action, sample] * values[first + action, sample]
        left -= lower[row, action, sample]
    last_action, last_value = -1, np.inf
    while left > 0.0:
        best_action, best_value = -1, -np.inf
        for action in range(lower.shape[1]):
            value = values[first + action, sample]
            has_room = upper[row, action, sample] > lower[row, action, sample]
            is_tied_later = value == last_value and action > last_action
            if has_room and (value < last_value or is_tied_later) and value > best_value:
                best_action, best_value = action, value
        if best_action < 0:  # rounding left a little that has no room
            break
        room = min(upper[row, best_action, sample] - lower[row, best_action, sample], left)
        maximum += room * best_value
        left -= room
        last_action, last_value = best_action, best_value
    return maximum


@kernel
def value_boxes(before, row, lower, upper, values):
    """Fill what the best policies from `lower` to `upper`, (R, K, S), get after every sequence."""
    actions, samples = lower.shape[1:]
    for refined in range(len(row) - 1, -1, -1):
        first = 1 + refined * actions
        for sample in range(samples):
            maximum = greedy_maximum(values, first, lower, upper, row[refined], sample)
            values[before[refined], sample] += maximum


@kernel
def most_in_boxes(row, values, lower, upper, most):
    """Fill the most that boxes of n rows allow, `most` (n, S), by action values (n K, S)."""
    actions, samples = lower.shape[1:]
    for place in range(len(row)):
        for sample in range(samples):
            first = place * actions
            most[place, sample] = greedy_maximum(values, first, lower, upper, row[place], sample)
