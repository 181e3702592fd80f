"""States of one player who forgets, where others are fixed.

A *state* is a position and a value of the memory that play can come to. Each row of the player may
play some *corners*, which are distributions over the K actions: pure ones, or those of a box.

Sizes: R rows of the player, F of a table of all others, K actions, S states, n tables, N corners, M
*members*: pairs of a table and a state that play can come to against it. Members of table t are
``begin[t]`` to before ``begin[t + 1]``, corners of row r ``first[r]`` to before ``first[r + 1]``.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.kernels.cache import kernel
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


@kernel
def mark(graph, reached):
    """Mark the states, `reached` (C, H), that play can come to; count outcomes that go on."""
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
                for outcome in range(graph.first[way], graph.first[way + 1]):
                    end = graph.place[position] + graph.end[outcome]
                    if graph.next[end] >= 0:  # else it is -1 - t, of payoff t
                        next_memory = graph.following[graph.label[end], graph.lane[memory]]
                        reached[graph.next[end], next_memory] = 1
                        num_outcomes += 1
    return num_outcomes


@kernel
def lay_out(graph, number, states):
    """Fill the arrays of `states`, a :class:`States`, from those of a graph.

    `number` (C, H) is the number of each state, -1 where play cannot come.
    """
    actions = graph.way.shape[2]
    num_outcomes = 0
    for position in range(number.shape[0]):
        for memory in range(number.shape[1]):
            state = number[position, memory]
            if state < 0:
                continue
            states.row[state] = graph.row[position]
            states.is_own[state] = graph.player[position] == 0
            for action in range(actions):
                states.first[state * actions + action] = num_outcomes
                way = graph.way[graph.situation[position], memory, action]
                if way < 0:  # no action
                    continue
                for outcome in range(graph.first[way], graph.first[way + 1]):
                    chance = graph.chance[outcome]
                    end = graph.place[position] + graph.end[outcome]
                    next_position = graph.next[end]
                    if next_position < 0:  # -1 - t, of payoff t
                        states.won[state, action] += chance * graph.payoff[-1 - next_position]
                    else:
                        next_memory = graph.following[graph.label[end], graph.lane[memory]]
                        states.chance[num_outcomes] = chance
                        states.after[num_outcomes] = number[next_position, next_memory]
                        num_outcomes += 1
    states.first[len(states.row) * actions] = num_outcomes


@kernel
def meet(states, corners, table, is_reachable):
    """Mark the states, `is_reachable` (S,), that play can come to against one table, (F, K).

    The player may play all `corners` of its rows, all others play their rows of the table. States
    come in an order in which play meets them.
    """
    actions = states.won.shape[1]
    for start in states.start:
        is_reachable[start] = 1
    for state in range(len(is_reachable)):
        if not is_reachable[state]:
            continue
        row = states.row[state]
        for action in range(actions):
            can_play = False
            if states.is_own[state]:
                for corner in range(corners.first[row], corners.first[row + 1]):
                    can_play |= corners.play[corner, action] > 0.0
            else:
                can_play = table[row, action] > 0.0
            if can_play:
                edge = state * actions + action
                for outcome in range(states.first[edge], states.first[edge + 1]):
                    is_reachable[states.after[outcome]] = 1
