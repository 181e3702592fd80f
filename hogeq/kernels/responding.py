"""Best responses of one player who forgets, by branch and bound over rows; others are fixed.

A *state* is a position and a value of the memory that play can come to. Each row of the player may
play some *corners*, which are distributions over the K actions: pure ones, or those of a box. A
relaxation knows the state, and what was drawn of the others: it takes the best corner everywhere.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.kernels.cache import kernel, part
from hogeq.support.aliases import Floats, Ints

CLOSED, FOUND, OPEN = 0, 1, 2


class States(NamedTuple):
    """States in an order in which play meets them; action a at state s is edge s * K + a."""

    row: Ints  # (S,), of the player, or of the tables of all others
    is_own: NDArray[np.bool_]  # (S,)
    first: Ints  # (S * K + 1,), first outcome of each edge
    chance: Floats  # (outcomes,)
    after: Ints  # (outcomes,), the next state
    won: Floats  # (S, K), payoff of the ends that follow at once, times their chances
    start: Ints  # (n,)
    start_chance: Floats  # (n,)


class Corners(NamedTuple):
    """What each row may play."""

    first: Ints  # (R + 1,), first corner of each row
    play: Floats  # (N, K)


class Others(NamedTuple):
    """A mixture of n tables of all others, and the states that each lets play come to."""

    weight: Floats  # (n,)
    table: Floats  # (n, F, K)
    begin: Ints  # (n + 1,), first member of each
    member: Ints  # (M,), states in their order


class Scratch(NamedTuple):
    """What passes write: of the last pass backward, and of the last forward."""

    worth: Floats  # (n, S)
    value: Floats  # (M, largest number of corners)
    pick: Ints  # (M,), corner played at each member
    reach: Floats  # (n, S)
    gain: Floats  # (N,), worth of each corner in all states of its row, as they are reached
    most: Floats  # (R,), worth of the best corner in each of these states


@kernel
def mark(graph, reached):
    """Mark the states (C, H) that play can come to, in one pass over positions in their order."""
    for at in range(len(graph.start)):
        reached[graph.start[at, 0], graph.start[at, 1]] = 1
    outcomes = 0
    for position in range(reached.shape[0]):
        for memory in range(reached.shape[1]):
            if not reached[position, memory]:
                continue
            for action in range(graph.way.shape[2]):
                way = graph.way[graph.situation[position], memory, action]
                if way < 0:
                    continue
                for outcome in range(graph.first[way], graph.first[way + 1]):
                    end = graph.place[position] + graph.end[outcome]
                    if graph.next[end] >= 0:
                        then = graph.following[graph.label[end], graph.lane[memory]]
                        reached[graph.next[end], then] = 1
                        outcomes += 1
    return outcomes


@kernel
def lay_out(graph, number, states):
    """Fill the arrays of states, numbered by (C, H), that play can come to."""
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
                if way < 0:
                    continue
                for outcome in range(graph.first[way], graph.first[way + 1]):
                    end, chance = graph.place[position] + graph.end[outcome], graph.chance[outcome]
                    if graph.next[end] < 0:
                        states.won[state, action] += chance * graph.payoff[-1 - graph.next[end]]
                    else:
                        then = graph.following[graph.label[end], graph.lane[memory]]
                        states.chance[at] = chance
                        states.after[at] = number[graph.next[end], then]
                        at += 1
    states.first[len(states.row) * actions] = at


@kernel
def meet(states, corners, table, met):
    """Mark the states (S,) that play can come to against one table of all others."""
    actions = states.won.shape[1]
    for start in states.start:
        met[start] = 1
    for state in range(len(met)):
        if met[state]:
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
                        met[states.after[outcome]] = 1


@part
def _action(states, worth, state, action):
    """Worth of an action, of the worth (S,) of later states."""
    edge = state * states.won.shape[1] + action
    total = states.won[state, action]
    for outcome in range(states.first[edge], states.first[edge + 1]):
        total += states.chance[outcome] * worth[states.after[outcome]]
    return total


@part
def _backward(states, corners, others, fixed, values_all, scratch):
    """Compute the payoff; rows play corner `fixed`, (R,), and the best in each state where -1.

    Corners that are not played are valued too at rows that are not fixed; at others if asked for.
    """
    actions, total = states.won.shape[1], 0.0
    for one in range(len(others.weight)):
        worth, table = scratch.worth[one], others.table[one]
        for at in range(others.begin[one + 1] - 1, others.begin[one] - 1, -1):
            state = others.member[at]
            row, here = states.row[state], 0.0
            if not states.is_own[state]:
                for action in range(actions):
                    if table[row, action] > 0.0:
                        here += table[row, action] * _action(states, worth, state, action)
                worth[state] = here
                continue
            low, high = corners.first[row], corners.first[row + 1]
            if fixed[row] >= 0 and not values_all:
                low, high = fixed[row], fixed[row] + 1
            base = corners.first[row]
            for corner in range(low, high):
                scratch.value[at, corner - base] = 0.0
            for action in range(actions):
                is_used = False
                for corner in range(low, high):
                    is_used |= corners.play[corner, action] > 0.0
                if is_used:
                    value = _action(states, worth, state, action)
                    for corner in range(low, high):
                        scratch.value[at, corner - base] += corners.play[corner, action] * value
            best = fixed[row]
            if best < 0:
                best = low
                for corner in range(low + 1, high):
                    if scratch.value[at, corner - base] > scratch.value[at, best - base]:
                        best = corner
            scratch.pick[at] = best
            worth[state] = scratch.value[at, best - base]
        for at in range(len(states.start)):
            total += others.weight[one] * states.start_chance[at] * worth[states.start[at]]
    return total


@part
def _forward(states, corners, others, fixed, values_all, scratch):
    """Compute reach by the corners that the last pass backward took, and what corners are worth."""
    actions = states.won.shape[1]
    scratch.gain[:] = 0.0
    scratch.most[:] = 0.0
    for one in range(len(others.weight)):
        reach, table = scratch.reach[one], others.table[one]
        for at in range(others.begin[one], others.begin[one + 1]):
            reach[others.member[at]] = 0.0
        for at in range(len(states.start)):
            reach[states.start[at]] += others.weight[one] * states.start_chance[at]
        for at in range(others.begin[one], others.begin[one + 1]):
            state = others.member[at]
            row, mass = states.row[state], reach[state]
            if mass == 0.0:
                continue
            pick = scratch.pick[at]
            if states.is_own[state] and (fixed[row] < 0 or values_all):
                base = corners.first[row]
                for corner in range(base, corners.first[row + 1]):
                    scratch.gain[corner] += mass * scratch.value[at, corner - base]
                scratch.most[row] += mass * scratch.value[at, pick - base]
            for action in range(actions):
                share = corners.play[pick, action] if states.is_own[state] else table[row, action]
                if share > 0.0:
                    edge = state * actions + action
                    for outcome in range(states.first[edge], states.first[edge + 1]):
                        reach[states.after[outcome]] += mass * share * states.chance[outcome]


@kernel
def evaluate(states, corners, others, fixed, scratch):
    """Compute the payoff where rows play corners (R,), the best in each state where -1."""
    return _backward(states, corners, others, fixed, False, scratch)


@kernel
def differentiate(states, corners, others, fixed, scratch):
    """Compute the payoff, and its gradient: `gain` of all corners, as rows are reached."""
    total = _backward(states, corners, others, fixed, True, scratch)
    _forward(states, corners, others, fixed, True, scratch)
    return total


@part
def _settle(corners, fixed, scratch, pure):
    """Take the best corner of each row, on average; give the row that loses most by it."""
    worst, at = 0.0, -1
    for row in range(len(fixed)):
        pure[row] = fixed[row]
        if fixed[row] < 0:
            best = corners.first[row]
            for corner in range(best + 1, corners.first[row + 1]):
                if scratch.gain[corner] > scratch.gain[best]:
                    best = corner
            pure[row] = best
            if scratch.most[row] - scratch.gain[best] > worst:
                worst, at = scratch.most[row] - scratch.gain[best], row
    return at


@kernel
def close(states, corners, others, target, most, fixed, stack, questions, now, pure, ends, scratch):
    """Prove that no corners get more than a target, or find some; depth first, and resumable.

    Parameters
    ----------
    most : int
        Relaxations to solve in this call.
    fixed : (R,)
        -1 at rows that branch; other rows play this corner.
    stack : (R,)
        Rows fixed on the way to the present part.
    questions : (n,)
        The tree in the order of a walk: rows, whose corners are taken in their order; -1 at leaves.
    now : (2,)
        Depth of the stack, and questions written; (-1, n) when all is closed.
    pure : (R,)
        Corners of the best response found.
    ends : (2,)
        What these get; the highest bound of all leaves so far.
    """
    while now[0] >= 0:
        if most == 0 or now[1] == len(questions):
            return OPEN
        most -= 1
        row = -1
        bound = _backward(states, corners, others, fixed, False, scratch)
        if bound > target:
            _forward(states, corners, others, fixed, False, scratch)
            row = _settle(corners, fixed, scratch, pure)
            ends[0] = bound
            if row >= 0:
                ends[0] = _backward(states, corners, others, pure, False, scratch)
            if ends[0] > target or row < 0:
                return FOUND
        questions[now[1]] = row
        now[1] += 1
        if row >= 0:
            stack[now[0]] = row
            fixed[row] = corners.first[row]
            now[0] += 1
            continue
        ends[1] = max(ends[1], bound)
        while now[0] > 0:
            row = stack[now[0] - 1]
            fixed[row] += 1
            if fixed[row] < corners.first[row + 1]:
                break
            fixed[row] = -1
            now[0] -= 1
        if now[0] == 0:
            now[0] = -1
    return CLOSED
