"""Payoffs of one player who forgets, and their gradients; others are fixed.

A *state* is a position and a value of the memory that play can come to. Each row of the player may
play some *corners*, which are distributions over the K actions: pure ones, or those of a box. A
relaxation knows the state, and what was drawn of the others: it takes the best corner everywhere.

Sizes: R rows of the player, F of a table of all others, K actions, S states, n tables, N corners, M
*members*: pairs of a table and a state that play can come to against it. Members of table t are
``begin[t]`` to before ``begin[t + 1]``, corners of row r ``first[r]`` to before ``first[r + 1]``.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.kernels.cache import kernel, part
from hogeq.support.aliases import Floats, Ints


class States(NamedTuple):
    """States in an order in which play meets them; action a at state s is edge e = s * K + a.

    Its outcomes are ``first[e]`` to before ``first[e + 1]``; ends that follow are in `won`.
    """

    row: Ints  # (S,), of the player, or of the tables of all others
    is_own: NDArray[np.bool_]  # (S,)
    first: Ints  # (S * K + 1,), first outcome of each edge
    chance: Floats  # (outcomes,)
    after: Ints  # (outcomes,), the next state
    won: Floats  # (S, K), payoff of the ends that follow at once, times their chances
    start: Ints  # (starts,), states in which play begins
    start_chance: Floats  # (starts,)


class Corners(NamedTuple):
    """What each row may play."""

    first: Ints  # (R + 1,), first corner of each row
    play: Floats  # (N, K), probabilities of actions


class Others(NamedTuple):
    """A mixture of n tables of all others, and the states that each lets play come to."""

    weight: Floats  # (n,)
    table: Floats  # (n, F, K)
    begin: Ints  # (n + 1,), first member of each
    member: Ints  # (M,), states in their order


class Scratch(NamedTuple):
    """What passes write: of the last pass backward, and of the last forward."""

    state_values: Floats  # (n, S), payoff from each state on
    corner_values: Floats  # (M, most corners), of each corner of its row at each member
    pick: Ints  # (M,), corner played at each member
    reach: Floats  # (n, S), probability of coming to each state
    row_values: Floats  # (N,), values of each corner in all states of its row, weighted by reach


@kernel
def mark(graph, reached):
    """Mark the states (C, H) that play can come to, by position; give the number of outcomes."""
    for at in range(len(graph.start)):
        reached[graph.start[at, 0], graph.start[at, 1]] = 1
    outcomes = 0
    for position in range(reached.shape[0]):
        for memory in range(reached.shape[1]):
            if not reached[position, memory]:
                continue
            for action in range(graph.way.shape[2]):
                way = graph.way[graph.situation[position], memory, action]
                if way < 0:  # no action
                    continue
                for outcome in range(graph.first[way], graph.first[way + 1]):
                    end = graph.place[position] + graph.end[outcome]
                    if graph.next[end] >= 0:  # else it is -1 - t, of payoff t
                        next_memory = graph.following[graph.label[end], graph.lane[memory]]
                        reached[graph.next[end], next_memory] = 1
                        outcomes += 1
    return outcomes


@kernel
def lay_out(graph, number, states):
    """Fill the arrays of `states` from a graph's; `number` (C, H) is -1 where play cannot come."""
    actions, at = graph.way.shape[2], 0
    for position in range(number.shape[0]):
        for memory in range(number.shape[1]):
            state = number[position, memory]
            if state < 0:
                continue
            states.row[state] = graph.row[position]
            states.is_own[state] = graph.player[position] == 0
            for action in range(actions):
                states.first[state * actions + action] = at
                way = graph.way[graph.situation[position], memory, action]
                if way < 0:  # no action
                    continue
                for outcome in range(graph.first[way], graph.first[way + 1]):
                    end, chance = graph.place[position] + graph.end[outcome], graph.chance[outcome]
                    if graph.next[end] < 0:  # -1 - t, of payoff t
                        states.won[state, action] += chance * graph.payoff[-1 - graph.next[end]]
                    else:
                        next_memory = graph.following[graph.label[end], graph.lane[memory]]
                        states.chance[at] = chance
                        states.after[at] = number[graph.next[end], next_memory]
                        at += 1
    states.first[len(states.row) * actions] = at


@kernel
def meet(states, corners, table, is_reachable):
    """Mark the states (S,) that play can come to against one table of all others, (F, K)."""
    actions = states.won.shape[1]
    for start in states.start:
        is_reachable[start] = 1
    for state in range(len(is_reachable)):
        if is_reachable[state]:
            row = states.row[state]
            for action in range(actions):
                plays = False
                if states.is_own[state]:
                    for corner in range(corners.first[row], corners.first[row + 1]):
                        plays |= corners.play[corner, action] > 0.0
                else:
                    plays = table[row, action] > 0.0
                if plays:
                    edge = state * actions + action
                    for outcome in range(states.first[edge], states.first[edge + 1]):
                        is_reachable[states.after[outcome]] = 1


@part
def _action_value(states, state_values, state, action):
    """Compute the value of an action from the values (S,) of later states."""
    edge = state * states.won.shape[1] + action
    total = states.won[state, action]
    for outcome in range(states.first[edge], states.first[edge + 1]):
        total += states.chance[outcome] * state_values[states.after[outcome]]
    return total


@part
def _backward(states, corners, others, fixed, values_all, scratch):
    """Compute the payoff by backward induction; fill `state_values`, `corner_values` and `pick`.

    A row plays the corner `fixed`, (R,); where that is -1, the best one in each state: the
    relaxation. Others play their table. Corners that are not played are valued too at rows that are
    not fixed; at others if `values_all`.
    """
    actions, payoff = states.won.shape[1], 0.0
    for number in range(len(others.weight)):
        state_values, table = scratch.state_values[number], others.table[number]
        for member in range(others.begin[number + 1] - 1, others.begin[number] - 1, -1):
            state = others.member[member]
            row = states.row[state]
            if not states.is_own[state]:
                expected = 0.0
                for action in range(actions):
                    if table[row, action] > 0.0:
                        value = _action_value(states, state_values, state, action)
                        expected += table[row, action] * value
                state_values[state] = expected
                continue
            first = corners.first[row]
            low, high = first, corners.first[row + 1]
            is_fixed = fixed[row] >= 0
            if is_fixed and not values_all:
                low, high = fixed[row], fixed[row] + 1
            corner_values = scratch.corner_values[member]
            for corner in range(low, high):
                corner_values[corner - first] = 0.0
            for action in range(actions):
                is_used = False
                for corner in range(low, high):
                    is_used |= corners.play[corner, action] > 0.0
                if is_used:
                    value = _action_value(states, state_values, state, action)
                    for corner in range(low, high):
                        corner_values[corner - first] += corners.play[corner, action] * value
            best = fixed[row]
            if not is_fixed:
                best = low
                for corner in range(low + 1, high):
                    if corner_values[corner - first] > corner_values[best - first]:
                        best = corner
            scratch.pick[member] = best
            state_values[state] = corner_values[best - first]
        for start in range(len(states.start)):
            weight = others.weight[number] * states.start_chance[start]
            payoff += weight * state_values[states.start[start]]
    return payoff


@part
def _forward(states, corners, others, scratch):
    """Fill `reach` and `row_values` by the corners that the last pass backward took."""
    actions = states.won.shape[1]
    scratch.row_values[:] = 0.0
    for number in range(len(others.weight)):
        reach, table = scratch.reach[number], others.table[number]
        for member in range(others.begin[number], others.begin[number + 1]):
            reach[others.member[member]] = 0.0
        for start in range(len(states.start)):
            reach[states.start[start]] += others.weight[number] * states.start_chance[start]
        for member in range(others.begin[number], others.begin[number + 1]):
            state = others.member[member]
            row, mass = states.row[state], reach[state]
            if mass == 0.0:
                continue
            pick, corner_values = scratch.pick[member], scratch.corner_values[member]
            if states.is_own[state]:
                first = corners.first[row]
                for corner in range(first, corners.first[row + 1]):
                    scratch.row_values[corner] += mass * corner_values[corner - first]
            for action in range(actions):
                share = corners.play[pick, action] if states.is_own[state] else table[row, action]
                if share > 0.0:
                    edge = state * actions + action
                    for outcome in range(states.first[edge], states.first[edge + 1]):
                        reach[states.after[outcome]] += mass * share * states.chance[outcome]


@kernel
def evaluate(states, corners, others, fixed, scratch):
    """Compute the payoff where rows play corners `fixed` (R,), the best in each state where -1."""
    return _backward(states, corners, others, fixed, False, scratch)


@kernel
def differentiate(states, corners, others, fixed, scratch):
    """Compute the payoff, and its gradient: `row_values` of all corners; `fixed` as above."""
    payoff = _backward(states, corners, others, fixed, True, scratch)
    _forward(states, corners, others, scratch)
    return payoff
