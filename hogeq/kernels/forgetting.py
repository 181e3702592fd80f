"""Best responses of one player who forgets, by branch and bound with dual prices.

The player has *corners* in each row: distributions over actions. A *decision* is a state in which
the player moves, each corner an edge; at every other node chance moves by edge 0. A relaxation
knows the node. Where that is too little, rows *claim*: prices on corners take away what it gains by
playing a row apart, and *loans* before the row, out of slack, keep it from steering towards them.
What one corner for the whole row may still collect is *refunded*. ``docs/existence.md``, "Prices",
has the theorem, by which any prices give a bound; these are found row by row.

Sizes: R rows, N nodes in an order in which play meets them, C corners at most.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.kernels.cache import kernel, part
from hogeq.support.aliases import Floats, Ints

CLOSED, FOUND, OPEN = 0, 1, 2
AS_GOOD = 1e-11  # edges worth less than this apart are as good, however a processor rounds
NO_LOSS = 1e-12  # by forgetting
COVER = 1.2  # claims below 0 outweigh those above at most so far, as the node is reached
PLAIN, PRICED = -1, -2  # leaves: of the relaxation alone, and of one that pays prices


class Decisions(NamedTuple):
    """A problem of one player; corner c at node i is edge e = i * C + c."""

    row: Ints  # (N,); -1 where chance moves
    first: Ints  # (N * C + 1,), first outcome of each edge
    chance: Floats  # (outcomes,)
    after: Ints  # (outcomes,), the next node
    won: Floats  # (N, C), payoff of the ends that follow at once, times their chances
    start: Ints  # (starts,)
    start_chance: Floats  # (starts,)
    corners: Ints  # (R,), number of corners of each row
    is_before: NDArray[np.int8]  # (R, N), 1 for nodes from which play can come to a row, 2 in it


class Workspace(NamedTuple):
    """What passes write."""

    prices: Floats  # (N, C)
    values: Floats  # (N,), payoff less prices, from each node on
    edge_values: Floats  # (N, C)
    worths: Floats  # (N, C), of each corner of the row that claims: the most that is collected
    reach: Floats  # (N,), by the edges of highest value
    loss: Floats  # (R,), by playing each row's best corner throughout
    round: Ints  # (R,), this corner
    largest: Floats  # (1,), size of a price, a worth or a value, at any time
    claims: Ints  # (1,), most rows that claimed for one leaf
    sums: Floats  # (at least 2 and R, C), values of each corner at all nodes of its row, by reach
    gained: Floats  # (C, C), worths of each corner that claims, by the edges of a node


@kernel
def lay_out(states, corners, others, number, dag):
    """Fill the arrays of a problem against tables, whose members are the nodes; give the outcomes.

    `number`, (S,), is scratch. Outcomes are only counted if there is no room for any.
    """
    most, at = dag.won.shape[1], 0
    for table in range(len(others.weight)):
        for node in range(others.begin[table], others.begin[table + 1]):
            number[others.member[node]] = node
        for start in range(len(states.start)):
            place = table * len(states.start) + start
            dag.start[place] = number[states.start[start]]
            dag.start_chance[place] = others.weight[table] * states.start_chance[start]
        for node in range(others.begin[table], others.begin[table + 1]):
            state = others.member[node]
            row = states.row[state]
            dag.row[node] = row if states.is_own[state] else -1
            for corner in range(most):
                dag.first[node * most + corner] = at
                shares = others.table[table, row]
                if states.is_own[state]:
                    if corner >= dag.corners[row]:
                        continue
                    shares = corners.play[corners.first[row] + corner]
                elif corner > 0:
                    continue
                for action in range(len(shares)):
                    if shares[action] == 0.0:
                        continue
                    edge = state * len(shares) + action
                    if len(dag.chance):
                        dag.won[node, corner] += shares[action] * states.won[state, action]
                    for outcome in range(states.first[edge], states.first[edge + 1]):
                        if len(dag.chance):
                            dag.chance[at] = shares[action] * states.chance[outcome]
                            dag.after[at] = number[states.after[outcome]]
                        at += 1
    dag.first[len(dag.row) * most] = at
    return at


@kernel
def mark_before(dag):
    """Fill `is_before`; False if a play can meet a row twice."""
    most = dag.won.shape[1]
    for row in range(len(dag.corners)):
        is_before = dag.is_before[row]
        for node in range(len(dag.row) - 1, -1, -1):
            for outcome in range(dag.first[node * most], dag.first[(node + 1) * most]):
                if is_before[dag.after[outcome]]:
                    is_before[node] = 1
            if dag.row[node] == row:
                if is_before[node]:
                    return False
                is_before[node] = 2
    return True


@part
def _edge_value(dag, values, edge):
    """Compute the expectation of later values over an edge."""
    total = 0.0
    for outcome in range(dag.first[edge], dag.first[edge + 1]):
        total += dag.chance[outcome] * values[dag.after[outcome]]
    return total


@part
def _most(numbers):
    """Find the first of the largest numbers."""
    at = 0
    for other in range(1, len(numbers)):
        if numbers[other] > numbers[at]:
            at = other
    return at


@part
def _at_start(dag, values):
    total = 0.0
    for at in range(len(dag.start)):
        total += dag.start_chance[at] * values[dag.start[at]]
    return total


@part
def _choose(values, count, tolerance):
    """Find the first corner that is as good as the best, but for the tolerance."""
    best = values[0]
    for corner in range(1, count):
        best = max(best, values[corner])
    chosen = 0
    while values[chosen] < best - tolerance:
        chosen += 1
    return chosen


@part
def _solve(dag, fixed, values_all, work):
    """Solve the relaxation at the prices in force by backward induction; give its payoff.

    Rows play the corner `fixed`, (R,), or the best one at each node where that is -1. Corners that
    are not played are valued too at rows that are not fixed; at others if `values_all`.
    """
    corners = dag.won.shape[1]
    for node in range(len(dag.row) - 1, -1, -1):
        row = dag.row[node]
        if row < 0:
            value = _edge_value(dag, work.values, node * corners)
            work.values[node] = dag.won[node, 0] + value
            continue
        low, high = 0, dag.corners[row]
        if fixed[row] >= 0 and not values_all:
            low, high = fixed[row], fixed[row] + 1
        best = -np.inf
        for corner in range(low, high):
            value = _edge_value(dag, work.values, node * corners + corner)
            value += dag.won[node, corner] - work.prices[node, corner]
            work.edge_values[node, corner] = value
            best = max(best, value)
        work.values[node] = best if fixed[row] < 0 else work.edge_values[node, fixed[row]]
    return _at_start(dag, work.values)


@part
def _visit(dag, fixed, work, tolerance):
    """Fill `reach` by the first edges that are best, but for a tolerance."""
    work.reach[:] = 0.0
    for at in range(len(dag.start)):
        work.reach[dag.start[at]] += dag.start_chance[at]
    for node in range(len(dag.row)):
        row, mass, edge = dag.row[node], work.reach[node], 0
        if mass == 0.0:
            continue
        if row >= 0:
            edge = fixed[row]
            if edge < 0:
                edge = _choose(work.edge_values[node], dag.corners[row], tolerance)
        edge += node * dag.won.shape[1]
        for outcome in range(dag.first[edge], dag.first[edge + 1]):
            work.reach[dag.after[outcome]] += mass * dag.chance[outcome]


@part
def _weigh(dag, work):
    """Fill `sums` by the values of all corners, and `loss` by those of nodes."""
    work.sums[:] = 0.0
    work.loss[:] = 0.0
    for node in range(len(dag.row)):
        row, mass = dag.row[node], work.reach[node]
        if row >= 0 and mass > 0.0:
            for corner in range(dag.corners[row]):
                work.sums[row, corner] += mass * work.edge_values[node, corner]
            work.loss[row] += mass * work.values[node]


@part
def _lose(dag, fixed, work):
    """Fill `loss` and `round`."""
    _weigh(dag, work)
    for row in range(len(fixed)):
        work.round[row] = fixed[row]
        if fixed[row] >= 0:
            work.loss[row] = 0.0
        else:
            work.round[row] = _choose(work.sums[row], dag.corners[row], 0.0)
            work.loss[row] -= work.sums[row, work.round[row]]


@part
def _claim(dag, row, work):
    """Put a row's claims into prices and worths; two rows of `sums` are scratch.

    A claim is what a corner gains at a node over that which is best throughout the row. Claims
    below 0 shrink, so that slack is left for other rows.
    """
    corners, sums = dag.corners[row], work.sums
    sums[:2] = 0.0
    for node in range(len(dag.row)):
        if dag.is_before[row, node] == 2:
            for corner in range(corners):
                sums[0, corner] += work.reach[node] * work.edge_values[node, corner]
    usual = _choose(sums[0], corners, AS_GOOD)
    sums[:2] = 0.0
    for node in range(len(dag.row)):
        if dag.is_before[row, node] == 2:
            for corner in range(corners):
                claim = work.edge_values[node, corner] - work.edge_values[node, usual]
                sums[int(claim < 0.0), corner] += work.reach[node] * abs(claim)
    for node in range(len(dag.row)):
        if dag.is_before[row, node] == 2:
            value = work.edge_values[node, usual]
            for corner in range(corners):
                claim = work.edge_values[node, corner] - value
                if claim < 0.0 and COVER * sums[0, corner] < sums[1, corner]:
                    claim *= COVER * sums[0, corner] / sums[1, corner]
                work.worths[node, corner] = claim
                work.prices[node, corner] += claim
                work.edge_values[node, corner] -= claim
                work.largest[0] = max(work.largest[0], abs(claim))
                value = max(value, work.edge_values[node, corner])
            work.values[node] = value


@part
def _lend(dag, row, fixed, work):
    """Value a row's claims at all nodes before it, and lend slack there; give the refund.

    A node is worth no less than by any edge, the loan taken off.
    """
    claiming, corners, gained = dag.corners[row], dag.won.shape[1], work.gained
    for node in range(len(dag.row) - 1, -1, -1):
        if dag.is_before[row, node] != 1:
            continue
        here = dag.row[node]
        low, high = 0, 1
        if here >= 0:
            high = dag.corners[here]
            if fixed[here] >= 0:
                low, high = fixed[here], fixed[here] + 1
        best = -np.inf
        for corner in range(low, high):
            edge = node * corners + corner
            value = dag.won[node, corner] - work.prices[node, corner]
            for claim in range(claiming):
                gained[corner, claim] = 0.0
            for outcome in range(dag.first[edge], dag.first[edge + 1]):
                after, chance = dag.after[outcome], dag.chance[outcome]
                value += chance * work.values[after]
                if dag.is_before[row, after]:
                    for claim in range(claiming):
                        gained[corner, claim] += chance * work.worths[after, claim]
            work.edge_values[node, corner] = value
            best = max(best, value)
        usual = low
        while work.edge_values[node, usual] < best - AS_GOOD:
            usual += 1
        for claim in range(claiming):
            work.worths[node, claim] = gained[usual, claim]
        for corner in range(low, high):
            asked = 0.0
            for claim in range(claiming):
                asked = max(asked, gained[corner, claim] - gained[usual, claim])
            loan = min(asked, max(0.0, best - work.edge_values[node, corner]))
            work.largest[0] = max(work.largest[0], abs(work.prices[node, corner]))
            work.prices[node, corner] -= loan
            work.edge_values[node, corner] += loan
            for claim in range(claiming):
                worth = gained[corner, claim] - loan
                work.worths[node, claim] = max(work.worths[node, claim], worth)
        for claim in range(claiming):
            work.largest[0] = max(work.largest[0], abs(work.worths[node, claim]))
        work.values[node] = best
    refund = -np.inf
    for claim in range(claiming):
        total = 0.0
        for at in range(len(dag.start)):
            if dag.is_before[row, dag.start[at]]:
                total += dag.start_chance[at] * work.worths[dag.start[at], claim]
        refund = max(refund, total)
    return refund


@part
def _price(dag, target, fixed, work):
    """Let rows claim, those that lose most by forgetting first, until the bound is the target.

    Begins at the relaxation without prices, which is solved and visited; gives the bound.
    """
    refunds, claims, bound = 0.0, 0, np.inf
    while True:
        row = _most(work.loss)
        if work.loss[row] <= NO_LOSS:
            break
        work.loss[row] = 0.0
        if claims:
            _visit(dag, fixed, work, AS_GOOD)
        _claim(dag, row, work)
        refunds += _lend(dag, row, fixed, work)
        claims += 1
        if _at_start(dag, work.values) + refunds <= target:
            # At prices that are in force now, whatever was kept of values.
            bound = _solve(dag, fixed, False, work) + refunds
            work.claims[0] = max(work.claims[0], claims)
            for node in range(len(dag.row)):
                work.largest[0] = max(work.largest[0], abs(work.values[node]))
                for corner in range(work.prices.shape[1]):
                    work.largest[0] = max(work.largest[0], abs(work.prices[node, corner]))
            if bound <= target:
                break
    work.prices[:] = 0.0
    return bound


@kernel
def evaluate(dag, fixed, work):
    """Compute the payoff where rows play corners `fixed` (R,), the best at each node where -1."""
    return _solve(dag, fixed, False, work)


@kernel
def differentiate(dag, fixed, work):
    """Compute the payoff, and its gradient, `sums` of all corners; `fixed` as above."""
    payoff = _solve(dag, fixed, True, work)
    _visit(dag, fixed, work, 0.0)
    _weigh(dag, work)
    return payoff


@kernel
def close(dag, target, most, fixed, stack, questions, now, pure, ends, is_priced, work):
    """Prove that no corners get more than a target, or find some; depth first, and resumable.

    At each node: bound it by the relaxation; if that is above the target, round it to a response;
    if that gets no more, let rows claim, if `is_priced`; if that does not close the node, branch on
    the row that loses most. Returns CLOSED, FOUND or OPEN.

    Parameters
    ----------
    most : int
        Nodes to visit in this call.
    fixed : (R,)
        -1 at rows that branch; other rows play this corner.
    stack : (R,)
        Rows fixed on the way to the present part.
    questions : (n,)
        The tree in the order of a walk: rows, whose corners are taken in their order; `PLAIN` or
        `PRICED` at leaves.
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
        question = PLAIN
        bound = _solve(dag, fixed, False, work)
        if bound > target:
            _visit(dag, fixed, work, 0.0)
            _lose(dag, fixed, work)
            for number in range(len(pure)):
                pure[number] = work.round[number]
            row = _most(work.loss)
            is_response = work.loss[row] <= 0.0
            ends[0] = bound if is_response else _solve(dag, pure, False, work)
            if ends[0] > target:
                return FOUND
            question = row
            if is_priced:
                _solve(dag, fixed, False, work)
                bound = _price(dag, target, fixed, work)
                if bound <= target:
                    question = PRICED
        questions[now[1]] = question
        now[1] += 1
        if question >= 0:
            stack[now[0]] = question
            fixed[question] = 0
            now[0] += 1
            continue
        ends[1] = max(ends[1], bound)
        while now[0] > 0:
            row = stack[now[0] - 1]
            fixed[row] += 1
            if fixed[row] < dag.corners[row]:
                break
            fixed[row] = -1
            now[0] -= 1
        if now[0] == 0:
            now[0] = -1
    return CLOSED
