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
            tolerance: float, nodes: Array) -> None:  # fmt: skip
    """Fill how often each node is met, by the first corners that are best but for a tolerance.

    `nodes` are all from which play can come to one of them; others are not filled.
    """
    row, edges, chance, after, won = arrays
    _, _, _, corner_worth, met = state
    actions = won.shape[1]
    for node in nodes:
        met[node] = 0.0
    for start in starts:
        met[start] += 0.5
    for node in nodes[::-1]:
        here: Any = row[node]
        if met[node] == 0.0:
            continue
        played: Any = 0
        if here >= 0:
            low, high = first[here], first[here + 1]
            if fixed[here] >= 0:
                low, high = low + fixed[here], low + fixed[here] + 1
            played, best = low, -np.inf
            for corner in range(low, high):
                best = max(best, corner_worth[node, corner - first[here]])
            while corner_worth[node, played - first[here]] < best - tolerance:
                played += 1
        for action in range(actions if here >= 0 else 1):
            share = corners[played, action] if here >= 0 else 1.0
            if share == 0.0:
                continue
            for at in range(edges[node * actions + action], edges[node * actions + action + 1]):
                met[after[at]] += met[node] * share * chance[at]


@compiled
def acted(arrays: Any, state: Any, node: int, action: int, near: Array, lends: bool,
          gain: Array) -> float:  # fmt: skip
    """Value an action of a node; if it lends, fill what it gains of each claim after it."""
    _, edges, chance, after, won = arrays
    _, collected, worth, _, _ = state
    place, total = node * won.shape[1] + action, won[node, action]
    gain[:] = 0.0
    for at in range(edges[place], edges[place + 1]):
        total += chance[at] * worth[after[at]]
        if lends and near[after[at]] > 0:
            for claim in range(len(gain)):
                gain[claim] += chance[at] * collected[after[at], claim]
    return total


@compiled
def passed(arrays: Any, first: Array, corners: Array, state: Any, fixed: Array, row_of: int,
           near: Array, lends: bool, nodes: Array) -> float:  # fmt: skip
    """Value nodes at the prices in force; if it lends, let a row's claims be lent slack.

    Gives the largest number met. `near` is 2 at the row's nodes, 1 at those before it: if it lends,
    these alone are valued.
    """
    row, _, _, _, won = arrays
    price, collected, worth, corner_worth, _ = state
    actions, most = won.shape[1], price.shape[1]
    claims = first[row_of + 1] - first[row_of]
    gain, gained = np.zeros((actions, claims)), np.zeros((most, claims))
    by_action, value, largest = np.zeros(actions), np.zeros(most), 0.0
    for node in nodes:
        if lends and near[node] != 1:
            continue
        here = row[node]
        low, high = 0, 0
        if here >= 0:
            high = first[here + 1] - first[here]
            if fixed[here] >= 0:
                low, high = fixed[here], fixed[here] + 1
        for action in range(actions if here >= 0 else 1):
            is_played = here < 0
            for corner in range(low, high):
                is_played |= corners[first[here] + corner, action] > 0.0
            if is_played:
                by_action[action] = acted(arrays, state, node, action, near, lends, gain[action])
        if here < 0:
            worth[node] = by_action[0]
            if lends:
                for claim in range(claims):
                    collected[node, claim] = gain[0, claim]
            continue
        best = -np.inf
        for corner in range(low, high):
            value[corner] = -price[node, corner]
            for claim in range(claims):
                gained[corner, claim] = 0.0
            for action in range(actions):
                share = corners[first[here] + corner, action]
                if share > 0.0:
                    value[corner] += share * by_action[action]
                    for claim in range(claims):
                        gained[corner, claim] += share * gain[action, claim]
            corner_worth[node, corner] = value[corner]
            best = max(best, value[corner])
        worth[node] = best
        largest = max(largest, abs(best))
        for corner in range(most):
            largest = max(largest, abs(price[node, corner]))
        if not lends:
            continue
        usual = int(low)
        while value[usual] < best - SAME:
            usual += 1
        for claim in range(claims):
            collected[node, claim] = gained[usual, claim]
        for corner in range(low, high):
            loan = 0.0
            for claim in range(claims):
                loan = max(loan, gained[corner, claim] - gained[usual, claim])
            loan = min(loan, max(0.0, best - value[corner]))
            price[node, corner] -= loan
            corner_worth[node, corner] += loan
            for claim in range(claims):
                here_too = gained[corner, claim] - loan
                collected[node, claim] = max(collected[node, claim], here_too)
        for claim in range(claims):
            largest = max(largest, abs(collected[node, claim]))
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
    most, every = np.diff(first).max(), np.arange(nodes)
    price, collected = np.zeros((nodes, most)), np.zeros((nodes, most))
    worth, corner_worth, met = np.zeros(nodes), np.zeros((nodes, most)), np.zeros(nodes)
    state = price, collected, worth, corner_worth, met
    largest: Any = passed(arrays, first, corners, state, fixed, 0, nears[0], False, every)
    bound, refunds, count = (worth[starts[0]] + worth[starts[1]]) / 2.0, 0.0, 0
    visited(arrays, starts, first, corners, state, fixed, 0.0, every)
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
        before, here = np.flatnonzero(near), np.flatnonzero(near == 2)
        count += 1
        visited(arrays, starts, first, corners, state, fixed, SAME if count > 1 else 0.0, before)
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
        largest = max(
            largest, passed(arrays, first, corners, state, fixed, claiming, near, True, before)
        )
        refund = np.zeros(corners_here)
        for start in starts:
            if near[start] > 0:
                refund += collected[start, :corners_here] / 2.0
        refunds += refund.max()
        if (worth[starts[0]] + worth[starts[1]]) / 2.0 + refunds <= target:
            again = passed(arrays, first, corners, state, fixed, 0, near, False, every)
            largest = max(largest, again)
            bound = min(bound, (worth[starts[0]] + worth[starts[1]]) / 2.0 + refunds)
    return bound, count, largest, worst
