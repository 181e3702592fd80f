"""Best responses of one player who forgets, by branch and bound with dual prices.

The player has *corners* in each row: distributions over actions. A *decision* is a state in which
the player moves, each corner an edge; at every other node chance moves by edge 0. The relaxation is
a player who knows the node. Where its bound is too high, rows *claim*: dual prices on corners take
away what it gains by playing different corners at the nodes of one row. *Loans* lower the prices at
earlier nodes, by at most the reduced cost there, so that it does not steer towards the claims. The
most that one corner for the whole row can collect is *refunded*. ``docs/existence.md``, "Prices",
has the theorem, by which any prices give a bound; these are found row by row.

Sizes: R rows, N nodes in an order in which play meets them, C corners at most.
"""

from typing import NamedTuple

import numpy as np

from hogeq.kernels.cache import kernel, part
from hogeq.kernels.decisions import BEFORE, IN_ROW, edge_outcomes
from hogeq.support.aliases import Floats, Ints

# Results of `close`: the bound is proved, a response above it is found, or the search goes on.
CLOSED, FOUND, OPEN = 0, 1, 2
AS_GOOD = 1e-11  # edges worth less than this apart are as good, however a processor rounds
NO_LOSS = 1e-12  # a row that loses no more by forgetting has nothing to claim
COVER = 1.2  # most that negative claims of a corner sum to, as a multiple of its positive ones
PLAIN, PRICED = -1, -2  # leaves: of the relaxation alone, and of one that pays prices


class Workspace(NamedTuple):
    """Arrays that the kernels write, and scratch."""

    dual_prices: Floats  # (N, C), dual price of each corner at each node
    node_values: Floats  # (N,), payoff less prices, from each node on
    edge_values: Floats  # (N, C)
    claim_worths: Floats  # (N, C), most that is collected from a node on of each corner's claims
    node_reach: Floats  # (N,), by the edges of highest value
    row_loss: Floats  # (R,), loss by playing one corner, the best, at all nodes of a row
    response: Ints  # (R,), this corner: the relaxation, rounded to a response
    largest: Floats  # (1,), size of a price, a worth or a value, at any time
    most_claims: Ints  # (1,), most rows that claimed for one leaf
    corner_sums: Floats  # (at least 2 and R, C), values of a corner at all nodes of its row
    collected: Floats  # (C, C), by edge of a node and corner of the row: claims collected after it


@part
def _edge_value(dag, values, node, corner):
    """Return the mean of the nodes' `values`, (N,), over the outcomes of an edge."""
    total = 0.0
    for outcome in edge_outcomes(dag, node, corner):
        total += dag.outcome_probability[outcome] * values[dag.outcome_node[outcome]]
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
def _note_size(number, work):
    """Raise ``work.largest`` to the size of a number that rounding errors are relative to."""
    work.largest[0] = max(work.largest[0], abs(number))


@part
def _start_value(dag, values):
    """Return the mean of the nodes' `values`, (N,), over the nodes in which play begins."""
    total = 0.0
    for start in range(len(dag.start_node)):
        total += dag.start_probability[start] * values[dag.start_node[start]]
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

    The relaxation is a player who knows the node. A corner is one of the distributions over actions
    that a row (information set) may play: ``fixed[row]`` throughout, or if that is -1 the best one
    at each node. Written are ``work.node_values``, (N,), and ``work.edge_values``, (N, C): of all
    corners at rows that are not fixed, or everywhere if `values_all`; of the played corner alone at
    other rows.
    """
    for node in range(len(dag.row_of_node) - 1, -1, -1):
        row = dag.row_of_node[node]
        if row < 0:  # chance moves
            value = _edge_value(dag, work.node_values, node, 0)
            work.node_values[node] = dag.immediate_payoff[node, 0] + value
            continue
        low, high = 0, dag.num_corners[row]
        if fixed[row] >= 0 and not values_all:
            low, high = fixed[row], fixed[row] + 1
        best_value = -np.inf
        for corner in range(low, high):
            value = _edge_value(dag, work.node_values, node, corner)
            value += dag.immediate_payoff[node, corner] - work.dual_prices[node, corner]
            work.edge_values[node, corner] = value
            best_value = max(best_value, value)
        if fixed[row] >= 0:
            best_value = work.edge_values[node, fixed[row]]
        work.node_values[node] = best_value
    return _start_value(dag, work.node_values)


@part
def _related(dag, row):
    """Return the nodes of a row and before it, in their order."""
    return dag.related_nodes[dag.related_offsets[row] : dag.related_offsets[row + 1]]


@part
def _visit(dag, fixed, work, tolerance, nodes):
    """Fill ``work.node_reach``, (N,), at some nodes: reach probabilities in the relaxation.

    `nodes`, in their order, are all from which play can come to one of them. A node's row
    (information set) plays the corner ``fixed[row]``, a distribution over actions; if that is -1,
    at each node the first corner whose value is within `tolerance` of the best.
    """
    for node in nodes:
        work.node_reach[node] = 0.0
    for start in range(len(dag.start_node)):
        work.node_reach[dag.start_node[start]] += dag.start_probability[start]
    for node in nodes:
        node_reach = work.node_reach[node]
        if node_reach == 0.0:
            continue
        row = dag.row_of_node[node]
        corner = 0  # chance moves by edge 0
        if row >= 0:
            corner = fixed[row]
            if corner < 0:
                corner = _first_best(work.edge_values[node], dag.num_corners[row], tolerance)
        for outcome in edge_outcomes(dag, node, corner):
            outcome_reach = node_reach * dag.outcome_probability[outcome]
            work.node_reach[dag.outcome_node[outcome]] += outcome_reach


@part
def _sum_by_row(dag, work):
    """Sum the values at the nodes of each row (information set), weighted by ``work.node_reach``.

    A corner is a distribution over actions that the row may play. ``work.corner_sums`` (R, C) gets
    the counterfactual values of corners, ``work.row_loss`` (R,) those of nodes.
    """
    work.corner_sums[:] = 0.0
    work.row_loss[:] = 0.0
    for node in range(len(dag.row_of_node)):
        row = dag.row_of_node[node]
        node_reach = work.node_reach[node]
        if row >= 0 and node_reach > 0.0:
            for corner in range(dag.num_corners[row]):
                work.corner_sums[row, corner] += node_reach * work.edge_values[node, corner]
            work.row_loss[row] += node_reach * work.node_values[node]


@part
def _round_to_response(dag, fixed, work):
    """Round the relaxation to a response: to the corner of each row that loses least.

    The relaxation knows the node and may play another corner (a distribution over actions) at each
    node of a row; a response plays one. Written are the response, ``work.response`` (R,), and
    ``work.row_loss``, (R,), by how much the values of a row's nodes are above that corner's there;
    0 for rows that are fixed.
    """
    _sum_by_row(dag, work)
    for row in range(len(fixed)):
        work.response[row] = fixed[row]
        if fixed[row] >= 0:
            work.row_loss[row] = 0.0
        else:
            work.response[row] = _first_best(work.corner_sums[row], dag.num_corners[row], 0.0)
            work.row_loss[row] -= work.corner_sums[row, work.response[row]]


@part
def _claim(dag, row, work):
    """Charge a row's claims: add them to the dual prices at the nodes of the row.

    A claim is a Lagrange multiplier on the constraint that a row, an information set, plays one
    corner (a distribution over actions) at all its nodes: a price for each corner at each node,
    which takes away what a player who knows the node gains by playing different ones.

    1. Find the corner that is best for the whole row, by reach.
    2. The claim of a corner at a node is its value there less that corner's.
    3. Shrink a corner's negative claims so that, weighted by reach, they sum to at most `COVER`
       times its positive ones: then reduced costs are left for other rows.

    Written at these nodes are `dual_prices`, `claim_worths` (the claims), `edge_values` and
    `node_values`. The first two rows of `corner_sums` are scratch: in step 3 the sums of positive
    and of negative claims.
    """
    num_corners, sums = dag.num_corners[row], work.corner_sums
    sums[:2] = 0.0
    for node in _related(dag, row):
        if dag.relation_to_row[row, node] == IN_ROW:
            for corner in range(num_corners):
                sums[0, corner] += work.node_reach[node] * work.edge_values[node, corner]
    row_best = _first_best(sums[0], num_corners, AS_GOOD)
    sums[:2] = 0.0
    for node in _related(dag, row):
        if dag.relation_to_row[row, node] == IN_ROW:
            for corner in range(num_corners):
                claim = work.edge_values[node, corner] - work.edge_values[node, row_best]
                sums[int(claim < 0.0), corner] += work.node_reach[node] * abs(claim)
    for node in _related(dag, row):
        if dag.relation_to_row[row, node] == IN_ROW:
            # It stays that of `row_best` but for rounding, since no other corner is left with more.
            node_value = work.edge_values[node, row_best]
            for corner in range(num_corners):
                claim = work.edge_values[node, corner] - node_value
                if claim < 0.0 and COVER * sums[0, corner] < sums[1, corner]:
                    claim *= COVER * sums[0, corner] / sums[1, corner]
                work.claim_worths[node, corner] = claim
                work.dual_prices[node, corner] += claim
                work.edge_values[node, corner] -= claim
                _note_size(claim, work)
                node_value = max(node_value, work.edge_values[node, corner])
            work.node_values[node] = node_value


@part
def _lend(dag, row, fixed, work):
    """Carry a row's claims to all nodes before it, lower prices there, and return the refund.

    Claims are the dual prices of the row's nodes; the refund is the most that a player collects of
    them who plays one corner (distribution over actions) in the whole row. At each node before the
    row, the last first:

    1. Values of its edges, and what is collected after each edge of the row's claims.
    2. The best edge, the first on ties, is the reference.
    3. A loan lowers the price of every other edge: by the most that a claim collects more by this
       edge than by the reference, but no more than its reduced cost: the edge stays no better.
    4. The node's worth of a claim is the largest over its edges, less the loan.

    The refund is the largest mean worth of a claim at the start. Written are `dual_prices`,
    `claim_worths`, `edge_values`, `node_values` and `largest` of `work`; `collected` is scratch.
    """
    num_claims = dag.num_corners[row]  # one for each corner of the row
    for node in _related(dag, row)[::-1]:
        if dag.relation_to_row[row, node] != BEFORE:
            continue
        mover_row = dag.row_of_node[node]
        low, high = 0, 1  # chance moves by edge 0
        if mover_row >= 0:
            high = dag.num_corners[mover_row]
            if fixed[mover_row] >= 0:
                low, high = fixed[mover_row], fixed[mover_row] + 1
        best_value = -np.inf
        for corner in range(low, high):
            _collect_after_edge(dag, row, node, corner, work)
            best_value = max(best_value, work.edge_values[node, corner])
        reference = low
        while work.edge_values[node, reference] < best_value - AS_GOOD:
            reference += 1
        for claim in range(num_claims):
            work.claim_worths[node, claim] = work.collected[reference, claim]
        for corner in range(low, high):
            loan = 0.0  # at first, the most that a claim collects more than by the reference
            for claim in range(num_claims):
                gain = work.collected[corner, claim] - work.collected[reference, claim]
                loan = max(loan, gain)
            reduced_cost = max(0.0, best_value - work.edge_values[node, corner])
            loan = min(loan, reduced_cost)
            _note_size(work.dual_prices[node, corner], work)
            work.dual_prices[node, corner] -= loan
            work.edge_values[node, corner] += loan
            for claim in range(num_claims):
                worth = work.collected[corner, claim] - loan
                work.claim_worths[node, claim] = max(work.claim_worths[node, claim], worth)
        for claim in range(num_claims):
            _note_size(work.claim_worths[node, claim], work)
        work.node_values[node] = best_value
    refund = -np.inf
    for claim in range(num_claims):
        start_worth = 0.0
        for start in range(len(dag.start_node)):
            node = dag.start_node[start]
            if dag.relation_to_row[row, node]:
                start_worth += dag.start_probability[start] * work.claim_worths[node, claim]
        refund = max(refund, start_worth)
    return refund


@part
def _collect_after_edge(dag, row, node, corner, work):
    """Fill an edge's value, ``work.edge_values[node, corner]``, and what it collects of claims.

    Claims are the dual prices of the row, one for each of its corners (distributions over actions),
    further on. The latter, ``work.collected[corner]``, is the mean worth of each claim of a row
    after the edge.
    """
    num_claims = dag.num_corners[row]
    value = dag.immediate_payoff[node, corner] - work.dual_prices[node, corner]
    for claim in range(num_claims):
        work.collected[corner, claim] = 0.0
    for outcome in edge_outcomes(dag, node, corner):
        after = dag.outcome_node[outcome]
        chance = dag.outcome_probability[outcome]
        value += chance * work.node_values[after]
        if dag.relation_to_row[row, after]:
            for claim in range(num_claims):
                work.collected[corner, claim] += chance * work.claim_worths[after, claim]
    work.edge_values[node, corner] = value


@part
def _price(dag, target, fixed, work):
    """Lower the relaxation's bound by dual prices until it is the target; return the bound.

    The relaxation is Lagrangian: a player knows the node, and pays for playing differently at nodes
    of one row (information set). A row's claim is its dual prices, a refund the most that one way
    to play the row collects of them. Rows claim one after the other, that which loses most by
    forgetting first. The bound is the payoff of the relaxation at the prices, plus the refunds of
    all claims; infinite if no prices were found that meet the target. Begins at the relaxation
    without prices, which is solved and visited; all prices are 0 again afterwards.
    """
    refunds, num_claims, bound = 0.0, 0, np.inf
    while True:
        row = _argmax(work.row_loss)
        if work.row_loss[row] <= NO_LOSS:
            break
        work.row_loss[row] = 0.0  # each row claims once
        if num_claims:
            _visit(dag, fixed, work, AS_GOOD, _related(dag, row))
        _claim(dag, row, work)
        refunds += _lend(dag, row, fixed, work)
        num_claims += 1
        if _start_value(dag, work.node_values) + refunds <= target:
            # Solved anew: the proof rests on the prices alone, not on values that were updated.
            bound = _solve(dag, fixed, False, work) + refunds
            work.most_claims[0] = max(work.most_claims[0], num_claims)
            for node in range(len(dag.row_of_node)):
                _note_size(work.node_values[node], work)
                for corner in range(work.dual_prices.shape[1]):
                    _note_size(work.dual_prices[node, corner], work)
            if bound <= target:
                break
    work.dual_prices[:] = 0.0
    return bound


@kernel
def evaluate(dag, fixed, work):
    """Return the payoff if each row plays the corner ``fixed[row]``; where -1, each node's best."""
    return _solve(dag, fixed, False, work)


@kernel
def differentiate(dag, fixed, work):
    """Return the payoff, and fill ``work.corner_sums``, (R, C), with its gradient.

    That is the derivative by the probability of each corner. Each row plays the corner
    ``fixed[row]``; where that is -1, the best one at each node.
    """
    payoff = _solve(dag, fixed, True, work)
    _visit(dag, fixed, work, 0.0, range(len(dag.row_of_node)))
    _sum_by_row(dag, work)
    return payoff


class Search(NamedTuple):
    """Where a branch and bound stands, so that it can stop and go on."""

    fixed: Ints  # (R,), corner that a row plays; -1 at rows that the relaxation leaves free
    branched_rows: Ints  # (R,), from the root to the present search node
    depth: Ints  # (1,), number of these; -1 when all is closed
    preorder: Ints  # (n,), the search tree: rows, whose corners follow in turn; leaves are negative
    num_nodes: Ints  # (1,), number of entries of `preorder`
    response: Ints  # (R,), corners of the last response
    bound: Floats  # (1,), highest bound of all leaves so far


@kernel
def close(dag, target, most_nodes, is_priced, search, work):
    """Prove that no pure response gets more than a target, or find one, by branch and bound.

    Pure: each row (information set) plays one of its corners, distributions over actions. Depth
    first, and resumable. At each of at most `most_nodes` nodes of the search tree:

    1. Bound it by the relaxation. If that is at most the target, the node is a leaf, `PLAIN`.
    2. Else round the relaxation to a response; if that gets more than the target, return it.
    3. If `is_priced`, lower the bound by dual prices; at most the target, the leaf is `PRICED`.
    4. Else branch on the row that loses most by the rounding: a child for each of its corners.

    Returns `CLOSED`, `FOUND` or `OPEN`: call it again then with the same `search`.
    """
    fixed, depth = search.fixed, search.depth
    while depth[0] >= 0:
        if most_nodes == 0 or search.num_nodes[0] == len(search.preorder):
            return OPEN
        most_nodes -= 1
        branching_row = PLAIN
        bound = _solve(dag, fixed, False, work)
        if bound > target:
            _visit(dag, fixed, work, 0.0, range(len(dag.row_of_node)))
            _round_to_response(dag, fixed, work)
            for row in range(len(fixed)):
                search.response[row] = work.response[row]
            worst_row = _argmax(work.row_loss)
            loses_nothing = work.row_loss[worst_row] <= 0.0  # the relaxation is a response itself
            payoff = bound if loses_nothing else _solve(dag, search.response, False, work)
            if payoff > target:
                return FOUND
            branching_row = worst_row
            if is_priced:
                _solve(dag, fixed, False, work)  # again, since the response overwrote the values
                bound = _price(dag, target, fixed, work)
                if bound <= target:
                    branching_row = PRICED
        search.preorder[search.num_nodes[0]] = branching_row
        search.num_nodes[0] += 1
        if branching_row >= 0:  # go down to the first corner of the row
            search.branched_rows[depth[0]] = branching_row
            fixed[branching_row] = 0
            depth[0] += 1
            continue
        search.bound[0] = max(search.bound[0], bound)
        # Go on to the next corner of the last row that has one left; unset the rows after it.
        while depth[0] > 0:
            row = search.branched_rows[depth[0] - 1]
            fixed[row] += 1
            if fixed[row] < dag.num_corners[row]:
                break
            fixed[row] = -1
            depth[0] -= 1
        if depth[0] == 0:
            depth[0] = -1
    return CLOSED
