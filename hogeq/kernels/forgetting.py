"""Best responses of one player who forgets, by branch and bound with dual prices.

The player has *corners* in each row: distributions over actions. A *decision* is a state in which
the player moves, each corner an edge; at every other node chance moves by edge 0. The relaxation is
a player who knows the node. Where its bound is too high, rows *claim*: dual prices on corners take
away what it gains by playing different corners at the nodes of one row. *Loans* lower the prices at
earlier nodes, by at most the slack (reduced cost) there, so that it does not steer towards the
claims. The most that one corner for the whole row can collect is *refunded*. ``docs/existence.md``,
"Prices", has the theorem, by which any prices give a bound; these are found row by row.

Sizes: R rows, N nodes in an order in which play meets them, C corners at most.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.kernels.cache import kernel, part
from hogeq.support.aliases import Floats, Ints

# Results of `close`: the bound is proved, a response above it is found, or the search goes on.
CLOSED, FOUND, OPEN = 0, 1, 2
AS_GOOD = 1e-11  # edges worth less than this apart are as good, however a processor rounds
NO_LOSS = 1e-12  # a row that loses no more by forgetting has nothing to claim
COVER = 1.2  # most that negative claims of a corner sum to, as a multiple of its positive ones
PLAIN, PRICED = -1, -2  # leaves: of the relaxation alone, and of one that pays prices
# Values of `Decisions.is_before`: play can come from the node to the row; the node is of the row.
_BEFORE, _IN_ROW = 1, 2


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
    """Arrays that the kernels write, and scratch."""

    prices: Floats  # (N, C), dual price of each corner at each node
    values: Floats  # (N,), payoff less prices, from each node on
    edge_values: Floats  # (N, C)
    worths: Floats  # (N, C), most that is collected from a node on of each corner's claims
    reach: Floats  # (N,), by the edges of highest value
    loss: Floats  # (R,), loss by playing one corner, the best, at all nodes of a row
    round: Ints  # (R,), this corner: the relaxation, rounded to a response
    largest: Floats  # (1,), size of a price, a worth or a value, at any time
    claims: Ints  # (1,), most rows that claimed for one leaf
    sums: Floats  # (at least 2 and R, C), values of each corner at all nodes of its row, by reach
    gained: Floats  # (C, C), by edge of a node and corner of the row: claims collected after it


@kernel
def lay_out(states, corners, others, number, dag):
    """Fill `dag`, a problem against the tables of a mixture, and return its number of outcomes.

    A node is a member of `others`: a pair of a table and a state that play can come to against it.
    Called twice: if ``dag.chance`` is empty, outcomes are only counted; then there is room for all.

    The other arguments are those of :mod:`hogeq.kernels.responding`; `number`, (S,), is scratch.
    """
    most_corners = dag.won.shape[1]
    fills_outcomes = len(dag.chance) > 0
    num_outcomes = 0
    for table in range(len(others.weight)):
        for node in range(others.begin[table], others.begin[table + 1]):
            number[others.member[node]] = node
        for start in range(len(states.start)):
            dag_start = table * len(states.start) + start
            dag.start[dag_start] = number[states.start[start]]
            dag.start_chance[dag_start] = others.weight[table] * states.start_chance[start]
        for node in range(others.begin[table], others.begin[table + 1]):
            state = others.member[node]
            row = states.row[state]
            dag.row[node] = row if states.is_own[state] else -1
            for corner in range(most_corners):
                dag.first[node * most_corners + corner] = num_outcomes
                # At a node of the others only edge 0 has outcomes; a row may have few corners.
                probabilities = others.table[table, row]
                if states.is_own[state]:
                    if corner >= dag.corners[row]:
                        continue
                    probabilities = corners.play[corners.first[row] + corner]
                elif corner > 0:
                    continue
                for action in range(len(probabilities)):
                    probability = probabilities[action]
                    if probability == 0.0:
                        continue
                    edge = state * len(probabilities) + action
                    if fills_outcomes:
                        dag.won[node, corner] += probability * states.won[state, action]
                    for outcome in range(states.first[edge], states.first[edge + 1]):
                        if fills_outcomes:
                            dag.chance[num_outcomes] = probability * states.chance[outcome]
                            dag.after[num_outcomes] = number[states.after[outcome]]
                        num_outcomes += 1
    dag.first[len(dag.row) * most_corners] = num_outcomes
    return num_outcomes


@kernel
def mark_before(dag):
    """Fill ``dag.is_before``, (R, N), of zeros, bottom-up; False if a play can meet a row twice."""
    most_corners = dag.won.shape[1]
    for row in range(len(dag.corners)):
        is_before = dag.is_before[row]
        for node in range(len(dag.row) - 1, -1, -1):
            first_outcome = dag.first[node * most_corners]
            for outcome in range(first_outcome, dag.first[(node + 1) * most_corners]):
                if is_before[dag.after[outcome]]:
                    is_before[node] = _BEFORE
            if dag.row[node] == row:
                if is_before[node]:
                    return False
                is_before[node] = _IN_ROW
    return True


@part
def _edge_value(dag, values, edge):
    """Return the mean of the nodes' `values`, (N,), over the outcomes of an edge."""
    total = 0.0
    for outcome in range(dag.first[edge], dag.first[edge + 1]):
        total += dag.chance[outcome] * values[dag.after[outcome]]
    return total


@part
def _argmax(numbers):
    """Return the index of the largest number, the first on ties."""
    best = 0
    for index in range(1, len(numbers)):
        if numbers[index] > numbers[best]:
            best = index
    return best


@part
def _start_value(dag, values):
    """Return the mean of the nodes' `values`, (N,), over the nodes in which play begins."""
    total = 0.0
    for start in range(len(dag.start)):
        total += dag.start_chance[start] * values[dag.start[start]]
    return total


@part
def _first_best(values, count, tolerance):
    """Return the first of `count` corners whose value is within `tolerance` of the best."""
    best_value = values[0]
    for corner in range(1, count):
        best_value = max(best_value, values[corner])
    chosen = 0
    while values[chosen] < best_value - tolerance:
        chosen += 1
    return chosen


@part
def _solve(dag, fixed, values_all, work):
    """Solve the relaxation at the present prices by backward induction; return its payoff.

    A row plays the corner ``fixed[row]`` throughout, or if that is -1 the best one at each node.
    Written are ``work.values``, (N,), and ``work.edge_values``, (N, C): of all corners at rows that
    are not fixed, or everywhere if `values_all`; of the played corner alone at other rows.
    """
    most_corners = dag.won.shape[1]
    for node in range(len(dag.row) - 1, -1, -1):
        row = dag.row[node]
        first_edge = node * most_corners
        if row < 0:  # chance moves
            value = _edge_value(dag, work.values, first_edge)
            work.values[node] = dag.won[node, 0] + value
            continue
        low, high = 0, dag.corners[row]
        if fixed[row] >= 0 and not values_all:
            low, high = fixed[row], fixed[row] + 1
        best_value = -np.inf
        for corner in range(low, high):
            value = _edge_value(dag, work.values, first_edge + corner)
            value += dag.won[node, corner] - work.prices[node, corner]
            work.edge_values[node, corner] = value
            best_value = max(best_value, value)
        work.values[node] = best_value if fixed[row] < 0 else work.edge_values[node, fixed[row]]
    return _start_value(dag, work.values)


@part
def _visit(dag, fixed, work, tolerance):
    """Fill ``work.reach``, (N,): the reach probability of every node in the relaxation, top-down.

    A row plays the corner ``fixed[row]``, or if that is -1 at each node the first whose value is
    within `tolerance` of the best.
    """
    work.reach[:] = 0.0
    for start in range(len(dag.start)):
        work.reach[dag.start[start]] += dag.start_chance[start]
    for node in range(len(dag.row)):
        node_reach = work.reach[node]
        if node_reach == 0.0:
            continue
        row = dag.row[node]
        corner = 0  # chance moves by edge 0
        if row >= 0:
            corner = fixed[row]
            if corner < 0:
                corner = _first_best(work.edge_values[node], dag.corners[row], tolerance)
        edge = node * dag.won.shape[1] + corner
        for outcome in range(dag.first[edge], dag.first[edge + 1]):
            work.reach[dag.after[outcome]] += node_reach * dag.chance[outcome]


@part
def _sum_by_row(dag, work):
    """Sum the values at the nodes of each row, weighted by ``work.reach``.

    ``work.sums`` (R, C) gets the counterfactual values of corners, ``work.loss`` (R,) of nodes.
    """
    work.sums[:] = 0.0
    work.loss[:] = 0.0
    for node in range(len(dag.row)):
        row = dag.row[node]
        node_reach = work.reach[node]
        if row >= 0 and node_reach > 0.0:
            for corner in range(dag.corners[row]):
                work.sums[row, corner] += node_reach * work.edge_values[node, corner]
            work.loss[row] += node_reach * work.values[node]


@part
def _round_to_response(dag, fixed, work):
    """Round the relaxation to a response: to the corner of each row that loses least.

    Written are the response, ``work.round`` (R,), and ``work.loss``, (R,), by how much the values
    of a row's nodes are above that corner's there; 0 for rows that are fixed.
    """
    _sum_by_row(dag, work)
    for row in range(len(fixed)):
        work.round[row] = fixed[row]
        if fixed[row] >= 0:
            work.loss[row] = 0.0
        else:
            work.round[row] = _first_best(work.sums[row], dag.corners[row], 0.0)
            work.loss[row] -= work.sums[row, work.round[row]]


@part
def _claim(dag, row, work):
    """Charge a row's claims: add them to the dual prices at the nodes of the row.

    1. Find the corner that is best for the whole row, by reach.
    2. The claim of a corner at a node is its value there less that corner's.
    3. Shrink a corner's negative claims so that, weighted by reach, they sum to at most `COVER`
       times its positive ones: then slack is left for other rows.

    Written at these nodes are `prices`, `worths` (the claims), `edge_values` and `values`. The
    first two rows of `sums` are scratch: in step 3 the sums of positive and of negative claims.
    """
    num_corners, sums = dag.corners[row], work.sums
    sums[:2] = 0.0
    for node in range(len(dag.row)):
        if dag.is_before[row, node] == _IN_ROW:
            for corner in range(num_corners):
                sums[0, corner] += work.reach[node] * work.edge_values[node, corner]
    row_best = _first_best(sums[0], num_corners, AS_GOOD)
    sums[:2] = 0.0
    for node in range(len(dag.row)):
        if dag.is_before[row, node] == _IN_ROW:
            for corner in range(num_corners):
                claim = work.edge_values[node, corner] - work.edge_values[node, row_best]
                sums[int(claim < 0.0), corner] += work.reach[node] * abs(claim)
    for node in range(len(dag.row)):
        if dag.is_before[row, node] == _IN_ROW:
            # It stays that of `row_best` but for rounding, since no other corner is left with more.
            node_value = work.edge_values[node, row_best]
            for corner in range(num_corners):
                claim = work.edge_values[node, corner] - node_value
                if claim < 0.0 and COVER * sums[0, corner] < sums[1, corner]:
                    claim *= COVER * sums[0, corner] / sums[1, corner]
                work.worths[node, corner] = claim
                work.prices[node, corner] += claim
                work.edge_values[node, corner] -= claim
                work.largest[0] = max(work.largest[0], abs(claim))
                node_value = max(node_value, work.edge_values[node, corner])
            work.values[node] = node_value


@part
def _lend(dag, row, fixed, work):
    """Carry a row's claims to all nodes before it, lower prices there, and return the refund.

    At each node before the row, the last first:

    1. Values of its edges, and what is collected after each edge of the row's claims.
    2. The best edge, the first on ties, is the reference.
    3. A loan lowers the price of every other edge: by the most that a claim collects more by this
       edge than by the reference, but no more than the slack, so that the edge stays no better.
    4. The node's worth of a claim is the largest over its edges, less the loan.

    The refund is the largest mean worth of a claim at the start. Written are `prices`, `worths`,
    `edge_values`, `values` and `largest` of `work`; ``work.gained`` is scratch.
    """
    num_claims = dag.corners[row]  # one for each corner of the row
    most_corners = dag.won.shape[1]
    gained = work.gained
    for node in range(len(dag.row) - 1, -1, -1):
        if dag.is_before[row, node] != _BEFORE:
            continue
        mover_row = dag.row[node]
        low, high = 0, 1  # chance moves by edge 0
        if mover_row >= 0:
            high = dag.corners[mover_row]
            if fixed[mover_row] >= 0:
                low, high = fixed[mover_row], fixed[mover_row] + 1
        best_value = -np.inf
        for corner in range(low, high):
            edge = node * most_corners + corner
            value = dag.won[node, corner] - work.prices[node, corner]
            for claim in range(num_claims):
                gained[corner, claim] = 0.0
            for outcome in range(dag.first[edge], dag.first[edge + 1]):
                after = dag.after[outcome]
                chance = dag.chance[outcome]
                value += chance * work.values[after]
                if dag.is_before[row, after]:
                    for claim in range(num_claims):
                        gained[corner, claim] += chance * work.worths[after, claim]
            work.edge_values[node, corner] = value
            best_value = max(best_value, value)
        reference = low
        while work.edge_values[node, reference] < best_value - AS_GOOD:
            reference += 1
        for claim in range(num_claims):
            work.worths[node, claim] = gained[reference, claim]
        for corner in range(low, high):
            most_gained = 0.0
            for claim in range(num_claims):
                gain = gained[corner, claim] - gained[reference, claim]
                most_gained = max(most_gained, gain)
            slack = max(0.0, best_value - work.edge_values[node, corner])
            loan = min(most_gained, slack)
            work.largest[0] = max(work.largest[0], abs(work.prices[node, corner]))
            work.prices[node, corner] -= loan
            work.edge_values[node, corner] += loan
            for claim in range(num_claims):
                worth = gained[corner, claim] - loan
                work.worths[node, claim] = max(work.worths[node, claim], worth)
        for claim in range(num_claims):
            work.largest[0] = max(work.largest[0], abs(work.worths[node, claim]))
        work.values[node] = best_value
    refund = -np.inf
    for claim in range(num_claims):
        start_worth = 0.0
        for start in range(len(dag.start)):
            if dag.is_before[row, dag.start[start]]:
                start_worth += dag.start_chance[start] * work.worths[dag.start[start], claim]
        refund = max(refund, start_worth)
    return refund


@part
def _price(dag, target, fixed, work):
    """Lower the relaxation's bound by dual prices until it is the target; return the bound.

    Rows claim one after the other, that which loses most by forgetting first. The bound is the
    payoff of the relaxation at the prices, plus the refunds of all claims; infinite if no prices
    were found that meet the target. Begins at the relaxation without prices, which is solved and
    visited; all prices are 0 again afterwards.
    """
    refunds, num_claims, bound = 0.0, 0, np.inf
    while True:
        row = _argmax(work.loss)
        if work.loss[row] <= NO_LOSS:
            break
        work.loss[row] = 0.0  # each row claims once
        if num_claims:
            _visit(dag, fixed, work, AS_GOOD)
        _claim(dag, row, work)
        refunds += _lend(dag, row, fixed, work)
        num_claims += 1
        if _start_value(dag, work.values) + refunds <= target:
            # Solved anew: the proof rests on the prices alone, not on values that were updated.
            bound = _solve(dag, fixed, False, work) + refunds
            work.claims[0] = max(work.claims[0], num_claims)
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
    """Return the payoff if each row plays the corner ``fixed[row]``; where -1, each node's best."""
    return _solve(dag, fixed, False, work)


@kernel
def differentiate(dag, fixed, work):
    """Return the payoff, and fill its gradient, ``work.sums`` (R, C): by each corner's probability.

    Each row plays the corner ``fixed[row]``; where that is -1, the best one at each node.
    """
    payoff = _solve(dag, fixed, True, work)
    _visit(dag, fixed, work, 0.0)
    _sum_by_row(dag, work)
    return payoff


@kernel
def close(dag, target, most, fixed, stack, questions, now, pure, ends, is_priced, work):
    """Prove that no pure response gets more than a target, or find one, by branch and bound.

    Depth first, and resumable. At each node of the search tree:

    1. Bound it by the relaxation. If that is at most the target, the node is a leaf.
    2. Else round the relaxation to a response; if that gets more than the target, return it.
    3. If `is_priced`, lower the bound by dual prices; at most the target, the node is a leaf.
    4. Else branch on the row that loses most by the rounding: a child for each of its corners.

    Returns `CLOSED`, `FOUND` or `OPEN`: call it again then with the same arrays.

    Parameters
    ----------
    most : int
        Search nodes to visit in this call.
    fixed : (R,)
        -1 at rows that the relaxation leaves free; other rows play this corner.
    stack : (R,)
        Rows that were branched on, from the root to the present search node.
    questions : (n,)
        The search tree in preorder: rows, whose corners are taken in their order; `PLAIN` or
        `PRICED` at leaves.
    now : (2,)
        Depth of the stack, and numbers in `questions`; the depth is -1 when all is closed.
    pure : (R,)
        Corners of the last response; if `FOUND`, it gets more than the target.
    ends : (2,)
        Payoff of this response; the highest bound of all leaves so far.
    """
    while now[0] >= 0:
        if most == 0 or now[1] == len(questions):
            return OPEN
        most -= 1
        question = PLAIN
        bound = _solve(dag, fixed, False, work)
        if bound > target:
            _visit(dag, fixed, work, 0.0)
            _round_to_response(dag, fixed, work)
            for row in range(len(pure)):
                pure[row] = work.round[row]
            worst_row = _argmax(work.loss)
            loses_nothing = work.loss[worst_row] <= 0.0  # the relaxation is a response itself
            ends[0] = bound if loses_nothing else _solve(dag, pure, False, work)
            if ends[0] > target:
                return FOUND
            question = worst_row
            if is_priced:
                _solve(dag, fixed, False, work)  # again, since the response overwrote the values
                bound = _price(dag, target, fixed, work)
                if bound <= target:
                    question = PRICED
        questions[now[1]] = question
        now[1] += 1
        if question >= 0:  # go down to the first corner of the row
            stack[now[0]] = question
            fixed[question] = 0
            now[0] += 1
            continue
        ends[1] = max(ends[1], bound)
        # Go on to the next corner of the last row that has one left; unset the rows after it.
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
