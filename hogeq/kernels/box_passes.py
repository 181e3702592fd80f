"""Passes over a player's refined information sets, for policies and for boxes of them.

There are J refined information sets, those that come first in plays first; `row`, (J,), is the row
of each, and `before`, (J,), the sequence that leads to it. Sequence 0 is the empty one, and
sequence 1 + j * K + a takes action a at j. Policies, and the ends of boxes, are (R, K, S): S at
once. Every pass touches each refined information set once, however many levels the game has.
"""

import numpy as np

from hogeq.kernels.cache import kernel, part


@kernel
def reach_sequences(before, row, policies, reach):
    """Fill the probabilities of all sequences by the own actions, (1 + J K, S)."""
    actions, count = policies.shape[1:]
    reach[0] = 1.0
    for refined in range(len(row)):
        first = 1 + refined * actions
        for action in range(actions):
            for one in range(count):
                probability = policies[row[refined], action, one]
                reach[first + action, one] = reach[before[refined], one] * probability


@kernel
def value_policies(before, row, policies, worth):
    """Add what is expected at refined information sets to `worth`, (1 + J K, S), last first."""
    actions, count = policies.shape[1:]
    for refined in range(len(row) - 1, -1, -1):
        first = 1 + refined * actions
        for one in range(count):
            expected = 0.0
            for action in range(actions):
                expected += policies[row[refined], action, one] * worth[first + action, one]
            worth[before[refined], one] += expected


@part
def most_in_box(worth, first, lower, upper, row, one):
    """Most that probabilities between two ends are worth: the best actions are filled up first.

    Actions are taken in order of their worth without sorting them. A row needs few: those that
    have room for all that is left end it.
    """
    most, left = 0.0, 1.0
    for action in range(lower.shape[1]):
        most += lower[row, action, one] * worth[first + action, one]
        left -= lower[row, action, one]
    last, last_worth = -1, np.inf
    while left > 0.0:
        best, best_worth = -1, -np.inf
        for action in range(lower.shape[1]):
            value = worth[first + action, one]
            has_room = upper[row, action, one] > lower[row, action, one]
            is_later = value < last_worth or (value == last_worth and action > last)
            if has_room and is_later and value > best_worth:
                best, best_worth = action, value
        if best < 0:  # rounding left a little that has no room
            break
        room = min(upper[row, best, one] - lower[row, best, one], left)
        most += room * best_worth
        left -= room
        last, last_worth = best, best_worth
    return most


@kernel
def value_boxes(before, row, lower, upper, worth):
    """Add the most that boxes allow at refined information sets to `worth`, last first."""
    actions, count = lower.shape[1:]
    for refined in range(len(row) - 1, -1, -1):
        for one in range(count):
            most = most_in_box(worth, 1 + refined * actions, lower, upper, row[refined], one)
            worth[before[refined], one] += most


@kernel
def most_in_boxes(row, worth, lower, upper, most):
    """Fill the most that boxes of rows allow, (n, S), where actions are worth (n K, S)."""
    actions, count = lower.shape[1:]
    for at in range(len(row)):
        for one in range(count):
            most[at, one] = most_in_box(worth, at * actions, lower, upper, row[at], one)
