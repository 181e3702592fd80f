"""Passes over a player's refined information sets, for policies and for boxes of them.

There are J refined information sets, those that come first in plays first; `row_of_refined`, (J,),
is the row of each, and `parent_sequence`, (J,), the sequence that leads to it. Sequence 0 is the
empty one; every refined information set has K others (:func:`first_sequence`). Policies, and the
ends of boxes, are (R, K, S): S samples at once. Every pass touches each refined information set
once, however many levels the game has.
"""

import numpy as np

from hogeq.kernels.cache import kernel, part


@part
def first_sequence(refined, actions):
    """Return the sequence of a refined information set's action 0; those of the others follow."""
    return 1 + refined * actions  # sequence 0 is the empty one


@kernel
def reach_sequences(parent_sequence, row_of_refined, policies, reach):
    """Fill the realisation weights of all sequences, `reach` (1 + J K, S), top-down.

    A refined information set is a row (information set) after one sequence of own actions. It acts
    by its row of `policies`, (R, K, S): S policies at once.
    """
    actions, samples = policies.shape[1:]
    reach[0] = 1.0
    for refined in range(len(row_of_refined)):
        first = first_sequence(refined, actions)
        for action in range(actions):
            for sample in range(samples):
                probability = policies[row_of_refined[refined], action, sample]
                parent_reach = reach[parent_sequence[refined], sample]
                reach[first + action, sample] = parent_reach * probability


@kernel
def value_policies(parent_sequence, row_of_refined, policies, values):
    """Compute the value of every sequence under policies, `values` (1 + J K, S), bottom-up.

    `values` begins as the payoffs at the ends of each sequence. The expected value of a refined
    information set, by its row of `policies`, (R, K, S), is added to that of the sequence that
    leads to it. ``values[0]`` is then the payoff.
    """
    actions, samples = policies.shape[1:]
    for refined in range(len(row_of_refined) - 1, -1, -1):
        first = first_sequence(refined, actions)
        for sample in range(samples):
            expected = 0.0
            for action in range(actions):
                probability = policies[row_of_refined[refined], action, sample]
                expected += probability * values[first + action, sample]
            values[parent_sequence[refined], sample] += expected


@part
def greedy_maximum(values, first, lower, upper, row, sample):
    """Return the maximum of sum values * p over lower <= p <= upper with sum p = 1.

    The continuous knapsack, solved greedily: every action gets its lower end, and the probability
    that is left fills up the actions in order of their values, ``values[first + action]``, the
    first on ties. They are not sorted: each turn looks for the next best, and few turns are needed.
    """
    maximum, probability_left = 0.0, 1.0
    for action in range(lower.shape[1]):
        maximum += lower[row, action, sample] * values[first + action, sample]
        probability_left -= lower[row, action, sample]
    last_action, last_value = -1, np.inf  # the action that was filled up last
    while probability_left > 0.0:
        best_action, best_value = -1, -np.inf
        for action in range(lower.shape[1]):
            value = values[first + action, sample]
            has_room = upper[row, action, sample] > lower[row, action, sample]
            is_tied_later = value == last_value and action > last_action
            is_open = value < last_value or is_tied_later  # not yet filled up
            if has_room and is_open and value > best_value:
                best_action, best_value = action, value
        if best_action < 0:  # rounding left a little that has no room
            break
        room = upper[row, best_action, sample] - lower[row, best_action, sample]
        added = min(room, probability_left)
        maximum += added * best_value
        probability_left -= added
        last_action, last_value = best_action, best_value
    return maximum


@kernel
def value_boxes(parent_sequence, row_of_refined, lower, upper, values):
    """Compute the value of every sequence under the best policies of boxes, bottom-up.

    A refined information set is a row after one sequence of own actions. The policy of a sample may
    be any from `lower` to `upper`, (R, K, S). `values`, (1 + J K, S), begins as the payoffs at the
    ends of each sequence; the best value of a refined information set is added to the sequence that
    leads to it. Each chooses on its own, so these are upper bounds.
    """
    actions, samples = lower.shape[1:]
    for refined in range(len(row_of_refined) - 1, -1, -1):
        first = first_sequence(refined, actions)
        for sample in range(samples):
            maximum = greedy_maximum(values, first, lower, upper, row_of_refined[refined], sample)
            values[parent_sequence[refined], sample] += maximum


@kernel
def most_in_boxes(row, values, lower, upper, most):
    """Fill `most`, (n, S): the maximum over a box of each of n rows, of its mean action value.

    Entry i is about ``row[i]`` of the boxes, (R, K, S); its action values are rows i * K to before
    (i + 1) * K of `values`, (n K, S).
    """
    actions, samples = lower.shape[1:]
    for entry in range(len(row)):
        first = entry * actions  # in `values`
        for sample in range(samples):
            most[entry, sample] = greedy_maximum(values, first, lower, upper, row[entry], sample)
