"""States of one player who forgets, where others are fixed.

A *state* is a position and a value of the memory that play can come to. Each row of the player may
play some *corners*, which are distributions over the K actions: pure ones, or those of a box.

Sizes: R rows of the player, F of a table of all others, K actions, S states, n tables, N corners, M
*members*: pairs of a table and a state that play can come to against it. Corners of a row, members
of a table and outcomes are packed (:func:`hogeq.kernels.segments.segment`).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.kernels.cache import kernel, part
from hogeq.kernels.segments import segment
from hogeq.support.aliases import Floats, Ints


class States(NamedTuple):
    """States in an order in which play meets them.

    The outcomes of an action are states: see `action_outcomes`. Ends are in `immediate_payoff`.
    """

    row_of_state: Ints  # (S,), of the player, or of the tables of all others
    is_own: NDArray[np.bool_]  # (S,)
    outcome_offsets: Ints  # (S * K + 1,), first outcome of each action, state by state
    outcome_probability: Floats  # (outcomes,)
    outcome_state: Ints  # (outcomes,), the next state
    immediate_payoff: Floats  # (S, K), payoff of the ends that follow at once, times their chances
    start_state: Ints  # (starts,), states in which play begins
    start_probability: Floats  # (starts,)


class Corners(NamedTuple):
    """What each row may play."""

    corner_offsets: Ints  # (R + 1,), first corner of each row
    probabilities: Floats  # (N, K), probabilities of actions


class Others(NamedTuple):
    """A mixture of n tables of all others, and the states that each lets play come to."""

    table_weight: Floats  # (n,)
    tables: Floats  # (n, F, K)
    member_offsets: Ints  # (n + 1,), first member of each
    member_state: Ints  # (M,), states in their order


@part
def action_outcomes(states, state, action):
    """Return the range of the outcomes of an action: they lie state by state, action by action."""
    return segment(states.outcome_offsets, state * states.immediate_payoff.shape[1] + action)


@kernel
def mark_states(graph, reached):
    """Mark the states, `reached` (C, H), that play can come to; count outcomes that go on.

    A state is a position and a memory; positions are in an order in which play meets them. How the
    arrays of the graph lead from a state to the next, by indices into each other:

    - ``way[situation, memory, action]``, by the kind of the position, is an action's distribution
      over outcomes, -1 if there is no such action;
    - ``place[position] + end[outcome]`` is an entry of `next` and `label`: the position after an
      outcome, or -1 - t if play is over with payoff number t;
    - ``following[label, lane]`` is the memory after it; a lane is a class of memories.
    """
    for start in range(len(graph.start)):
        reached[graph.start[start, 0], graph.start[start, 1]] = 1
    num_outcomes = 0
    for position in range(reached.shape[0]):
        for memory in range(reached.shape[1]):
            if not reached[position, memory]:
                continue
            for action in range(graph.way.shape[2]):
                way = graph.way[graph.situation[position], memory, action]
                if way < 0:  # no action
                    continue
                for outcome in segment(graph.first, way):
                    entry = graph.place[position] + graph.end[outcome]
                    next_position = graph.next[entry]
                    if next_position >= 0:  # else play is over
                        next_memory = graph.following[graph.label[entry], graph.lane[memory]]
                        reached[next_position, next_memory] = 1
                        num_outcomes += 1
    return num_outcomes


@kernel
def fill_states(graph, number, states):
    """Fill the arrays of `states`, a :class:`States`, from those of a graph.

    `number` (C, H) is the number of each state, a position and a memory; -1 where play cannot come.
    Outcomes of a state's action lie one after another: the states that they lead to, and their
    probabilities; those with which play is over are summed up as the immediate payoff. How the
    graph leads to them: :func:`mark_states`.
    """
    actions = graph.way.shape[2]
    num_outcomes = 0
    for position in range(number.shape[0]):
        for memory in range(number.shape[1]):
            state = number[position, memory]
            if state < 0:
                continue
            states.row_of_state[state] = graph.row[position]
            states.is_own[state] = graph.player[position] == 0
            for action in range(actions):
                states.outcome_offsets[state * actions + action] = num_outcomes
                way = graph.way[graph.situation[position], memory, action]
                if way < 0:  # no action
                    continue
                for outcome in segment(graph.first, way):
                    chance = graph.chance[outcome]
                    entry = graph.place[position] + graph.end[outcome]
                    next_position = graph.next[entry]
                    if next_position < 0:  # play is over: it is -1 - t, of payoff number t
                        payoff = graph.payoff[-1 - next_position]
                        states.immediate_payoff[state, action] += chance * payoff
                    else:
                        next_memory = graph.following[graph.label[entry], graph.lane[memory]]
                        states.outcome_probability[num_outcomes] = chance
                        states.outcome_state[num_outcomes] = number[next_position, next_memory]
                        num_outcomes += 1
    states.outcome_offsets[len(states.row_of_state) * actions] = num_outcomes


@kernel
def mark_met_states(states, corners, table, is_reachable):
    """Mark the states, `is_reachable` (S,), that play can come to against one table, (F, K).

    The player may play all `corners` of its rows, distributions over actions; all others play their
    rows of the table. States come in an order in which play meets them.
    """
    actions = states.immediate_payoff.shape[1]
    for start in states.start_state:
        is_reachable[start] = 1
    for state in range(len(is_reachable)):
        if not is_reachable[state]:
            continue
        row = states.row_of_state[state]
        for action in range(actions):
            can_play = False
            if states.is_own[state]:
                for corner in segment(corners.corner_offsets, row):
                    can_play |= corners.probabilities[corner, action] > 0.0
            else:
                can_play = table[row, action] > 0.0
            if can_play:
                for outcome in action_outcomes(states, state, action):
                    is_reachable[states.outcome_state[outcome]] = 1
