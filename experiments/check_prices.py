"""Bound what a player who forgets wins, by prices: for the checker of proofs about existence.

It shares no code with hogeq; docs/existence.md, "Prices", has the theorem. Any prices give a bound,
so how they are found here need not be how they were found when the proof was made.

Sizes: N nodes, each after those it leads to; R rows, C corners at most. `arrays` are those of a
`check_existence.Mixture`, `state` the prices (N, C), what is collected of a row's claims (N, C),
worths (N,), those of corners (N, C), and how often nodes are met (N,).
"""

from typing import Any

import numpy as np
from numba import njit
from strict_files import Array

SAME, NOTHING = 1e-11, 1e-12  # of values that are equal, and of losses, as prices are chosen
compiled: Any = njit


@compiled
def visited(arrays: Any, starts: Array, first: Array, corners: Array, state: Any, fixed: Array,
            tolerance: float) -> None:  # fmt: skip
    """Fill how often each node is met, by the first corners that are best but for a tolerance."""
    row, edges, chance, after, won = arrays
    _, _, _, corner_worth, met = state
    actions = won.shape[1]
    met[:] = 0.0
    for start in starts:
        met[start] += 0.5
    for node in range(len(row) - 1, -1, -1):
        here: Any = row[node]
        played: Any = 0
        if here >= 0:
            low, high = first[here], first[here + 1]
            if fixed[here] >= 0:
                low, high = low + fixed[here], low + fixed[here] + 1
            played, best = low, corner_worth[node, low - first[here] : high - first[here]].max()
            while corner_worth[node, played - first[here]] < best - tolerance:
                played += 1
        for action in range(actions if here >= 0 else 1):
            share = corners[played, action] if here >= 0 else 1.0
            for at in range(edges[node * actions + action], edges[node * actions + action + 1]):
                met[after[at]] += met[node] * share * chance[at]


@compiled
def passed(arrays: Any, first: Array, corners: Array, state: Any, fixed: Array, row_of: int,
           near: Array, lends: bool) -> float:  # fmt: skip
    """Value all nodes at the prices in force; if it lends, let a row's claims be lent slack.

    Gives the largest number met. `near` is 2 at the row's nodes, 1 at those before it.
    """
    row, edges, chance, after, won = arrays
    price, collected, worth, corner_worth, _ = state
    nodes, actions = won.shape
    claims = first[row_of + 1] - first[row_of]
    by_action, gain = np.zeros(actions), np.zeros((actions, claims))
    most = price.shape[1]
    value, gained = np.zeros(most), np.zeros((most, claims))
    largest: Any = 0.0
    for node in range(nodes):
        if lends and near[node] != 1:
            continue
        here = row[node]
        for action in range(actions if here >= 0 else 1):
            by_action[action], gain[action] = won[node, action], 0.0
            for at in range(edges[node * actions + action], edges[node * actions + action + 1]):
                by_action[action] += chance[at] * worth[after[at]]
                if lends and near[after[at]] > 0:
                    gain[action] += chance[at] * collected[after[at], :claims]
        if here < 0:
            worth[node] = by_action[0]
            if lends:
                collected[node, :claims] = gain[0]
            continue
        low, high = 0, first[here + 1] - first[here]
        if fixed[here] >= 0:
            low, high = fixed[here], fixed[here] + 1
        for corner in range(low, high):
            value[corner], gained[corner] = -price[node, corner], 0.0
            for action in range(actions):
                share = corners[first[here] + corner, action]
                value[corner] += share * by_action[action]
                gained[corner] += share * gain[action]
            corner_worth[node, corner] = value[corner]
        best = value[low:high].max()
        worth[node] = best
        largest = max(largest, abs(best), np.abs(price[node]).max())
        if not lends:
            continue
        usual = int(low)
        while value[usual] < best - SAME:
            usual += 1
        collected[node, :claims] = gained[usual]
        for corner in range(low, high):
            loan = min(
                max(0.0, best - value[corner]), max(0.0, (gained[corner] - gained[usual]).max())
            )
            price[node, corner] -= loan
            corner_worth[node, corner] += loan
            for claim in range(claims):
                here_too = gained[corner, claim] - loan
                collected[node, claim] = max(collected[node, claim], here_too)
        largest = max(largest, np.abs(collected[node, :claims]).max())
    return largest


@compiled
def priced_worth(
    arrays: Any, starts: Array, first: Array, corners: Array, fixed: Array, nears: Array,
    target: float,
) -> Any:  # fmt: skip
    """Bound by the theorem on prices: the bound, rows that claimed, the largest number, a row.

    The row is that which loses most by forgetting.
    """
    row = arrays[0]
    nodes, rows = len(row), len(first) - 1
    most = np.diff(first).max()
    price, collected = np.zeros((nodes, most)), np.zeros((nodes, most))
    worth, corner_worth, met = np.zeros(nodes), np.zeros((nodes, most)), np.zeros(nodes)
    state = price, collected, worth, corner_worth, met
    largest: Any = passed(arrays, first, corners, state, fixed, 0, nears[0], False)
    bound, refunds, count = (worth[starts[0]] + worth[starts[1]]) / 2.0, 0.0, 0
    visited(arrays, starts, first, corners, state, fixed, 0.0)
    sums, loss = np.zeros((rows, most)), np.zeros(rows)
    for node in range(nodes):
        if row[node] >= 0 and fixed[row[node]] < 0:
            sums[row[node]] += met[node] * corner_worth[node]
            loss[row[node]] += met[node] * worth[node]
    for one in range(rows):
        loss[one] -= sums[one, : first[one + 1] - first[one]].max()
    worst = loss.argmax()
    while bound > target:
        claiming = loss.argmax()
        if loss[claiming] <= NOTHING:
            break
        loss[claiming], near = 0.0, nears[claiming]
        here = np.flatnonzero(near == 2)
        count += 1
        visited(arrays, starts, first, corners, state, fixed, SAME if count > 1 else 0.0)
        corners_here = first[claiming + 1] - first[claiming]
        mean = np.zeros(corners_here)
        for at in here:
            mean += met[at] * corner_worth[at, :corners_here]
        usual: Any = 0
        while mean[usual] < mean.max() - SAME:
            usual += 1
        for corner in range(corners_here):
            more, less = 0.0, 0.0
            for at in here:
                claim = corner_worth[at, corner] - corner_worth[at, usual]
                more, less = more + met[at] * max(claim, 0.0), less + met[at] * max(-claim, 0.0)
            for at in here:
                claim = corner_worth[at, corner] - corner_worth[at, usual]
                if claim < 0.0 and 1.2 * more < less:
                    claim *= 1.2 * more / less
                collected[at, corner] = claim
        for at in here:
            price[at, :corners_here] += collected[at, :corners_here]
            corner_worth[at, :corners_here] -= collected[at, :corners_here]
            worth[at] = corner_worth[at, :corners_here].max()
            largest = max(largest, np.abs(collected[at]).max())
        largest = max(largest, passed(arrays, first, corners, state, fixed, claiming, near, True))
        refund = np.zeros(corners_here)
        for start in starts:
            if near[start] > 0:
                refund += collected[start, :corners_here] / 2.0
        refunds += refund.max()
        if (worth[starts[0]] + worth[starts[1]]) / 2.0 + refunds <= target:
            again = passed(arrays, first, corners, state, fixed, 0, near, False)
            largest = max(largest, again)
            bound = min(bound, (worth[starts[0]] + worth[starts[1]]) / 2.0 + refunds)
    return bound, count, largest, worst
