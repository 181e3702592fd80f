"""Best responses of one player who forgets, by branch and bound with dual prices.

The player has *corners* in each row: distributions over actions. A *decision* is a state in which
the player moves, each corner an edge; at every other node chance moves by edge 0. The relaxation is
a player who knows the node. Where its bound is too high, dual prices are raised at the nodes of a
row: they take away what it gains by playing different corners there. Prices at earlier nodes are
cut, by at most the reduced cost there, so that it does not steer towards the row. The most that one
corner for the whole row can collect of these prices is added to the bound. ``docs/existence.md``,
"Prices", has the theorem, by which any prices give a bound; these are found row by row.

Sizes: R rows, N nodes in an order in which play meets them, C corners at most.
"""

from typing import NamedTuple

import numpy as np

from hogeq.kernels.cache import kernel, part
from hogeq.kernels.decisions import BEFORE, IN_ROW, edge_outcomes
from hogeq.support.aliases import Floats, Ints

# Results of `close`: the bound is proved, a response above it is found, or the search goes on.
CLOSED, FOUND, OPEN = 0, 1, 2
VALUE_TIE = 1e-11  # values less than this apart are equal, however a processor rounds
NO_LOSS = 1e-12  # a row that loses no more by forgetting has no prices
COVER = 1.2  # most that negative prices of a corner sum to, as a multiple of its positive ones
PLAIN, PRICED = -1, -2  # leaves: of the relaxation alone, and of one that pays prices
EXCEEDED = -3  # no node of a search tree: a response gets more than the target


class Workspace(NamedTuple):
    """Arrays that the kernels write, and scratch."""

    dual_prices: Floats  # (N, C), dual price of each corner at each node
    node_values: Floats  # (N,), payoff less prices, from each node on
    edge_values: Floats  # (N, C)
    collected_later: Floats  # (N, C), most that is collected from a node on of each corner's prices
    node_reach: Floats  # (N,), by the edges of highest value
    row_loss: Floats  # (R,), loss by playing one corner, the best, at all nodes of a row
    response: Ints  # (R,), this corner: the relaxation, rounded to a response
    largest: Floats  # (1,), size of a price, a worth or a value, at any time
    most_priced_rows: Ints  # (1,), most rows that had prices of their own for one leaf
    corner_sums: Floats  # (at least 2 and R, C), values of a corner at all nodes of its row
    collected: Floats  # (C, C), by edge of a node and corner of the row: collected after it


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
def _edges_played(dag, fixed, node):
    """Return the edges that a node may play: the first, and the one after the last.

    Its row (information set) plays the edge ``fixed[row]``, or if that is -1 any. Chance moves by
    edge 0.
    """
    row = dag.row_of_node[node]
    if row < 0:
        return 0, 1
    if fixed[row] < 0:
        return 0, dag.num_corners[row]
    return fixed[row], fixed[row] + 1


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
        low, high = _edges_played(dag, fixed, node)
        if values_all:
            low, high = 0, dag.num_corners[row]
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
def _best_corner_of_row(dag, row, work):
    """Return the corner with the largest sum of values at the nodes of a row, weighted by reach.

    A corner is one of the distributions over actions that the row, an information set, may play.
    The first row of ``work.corner_sums`` is scratch, for these sums.
    """
    sums = work.corner_sums[0]
    sums[:] = 0.0
    for node in _related(dag, row):
        if dag.relation_to_row[row, node] == IN_ROW:
            for corner in range(dag.num_corners[row]):
                sums[corner] += work.node_reach[node] * work.edge_values[node, corner]
    return _first_best(sums, dag.num_corners[row], VALUE_TIE)


@part
def _raise_prices(dag, row, work):
    """Add to the dual prices at the nodes of a row what a player who knows the node gains there.

    A dual price is a Lagrange multiplier on the constraint that a row, an information set, plays
    one corner (a distribution over actions) at all its nodes: for each corner at each node.

    1. Find the corner that is best for the whole row.
    2. The price of a corner at a node is its value there less that corner's.
    3. Shrink a corner's negative prices so that, weighted by reach, they sum to at most `COVER`
       times its positive ones: then reduced costs are left for other rows.

    Written at these nodes are `dual_prices`, `collected_later` (the prices), `edge_values` and
    `node_values`. The first two rows of `corner_sums` are scratch: in step 3 the sums of positive
    and of negative prices.
    """
    num_corners, sums = dag.num_corners[row], work.corner_sums
    row_best = _best_corner_of_row(dag, row, work)
    sums[:2] = 0.0
    for node in _related(dag, row):
        if dag.relation_to_row[row, node] == IN_ROW:
            for corner in range(num_corners):
                price = work.edge_values[node, corner] - work.edge_values[node, row_best]
                sums[int(price < 0.0), corner] += work.node_reach[node] * abs(price)
    for node in _related(dag, row):
        if dag.relation_to_row[row, node] == IN_ROW:
            # It stays that of `row_best` but for rounding, since no other corner is left with more.
            node_value = work.edge_values[node, row_best]
            for corner in range(num_corners):
                price = work.edge_values[node, corner] - node_value
                if price < 0.0 and COVER * sums[0, corner] < sums[1, corner]:
                    price *= COVER * sums[0, corner] / sums[1, corner]
                work.collected_later[node, corner] = price
                work.dual_prices[node, corner] += price
                work.edge_values[node, corner] -= price
                _note_size(price, work)
                node_value = max(node_value, work.edge_values[node, corner])
            work.node_values[node] = node_value


@part
def _collect_after_edge(dag, row, node, edge, work):
    """Fill an edge's value, ``work.edge_values[node, edge]``, and what it collects later on.

    The latter, ``work.collected[edge]``, is the mean over the edge's outcomes of
    ``collected_later``: what is collected of the dual prices of a row, for each of its corners
    (distributions over actions).
    """
    value = dag.immediate_payoff[node, edge] - work.dual_prices[node, edge]
    collected = work.collected[edge]
    for corner in range(dag.num_corners[row]):
        collected[corner] = 0.0
    for outcome in edge_outcomes(dag, node, edge):
        after = dag.outcome_node[outcome]
        chance = dag.outcome_probability[outcome]
        value += chance * work.node_values[after]
        if dag.relation_to_row[row, after]:
            for corner in range(dag.num_corners[row]):
                collected[corner] += chance * work.collected_later[after, corner]
    work.edge_values[node, edge] = value


@part
def _cut_prices_at_node(dag, row, fixed, node, work):
    """Cut the dual prices of edges at a node before a row, and fill what the node collects later.

    1. Values of the edges, and what is collected after each of the prices of the row, by corner
       (distribution over actions) of the row.
    2. The best edge, the first on ties, is the reference.
    3. The price of every other edge falls by the most that a corner collects more by this edge than
       by the reference, but no more than its reduced cost: the edge stays no better.
    4. The node collects the largest over its edges, less this cut.

    Written are `dual_prices`, `collected_later`, `edge_values`, `node_values` and `largest` of
    `work`; `collected` is scratch.
    """
    num_corners = dag.num_corners[row]
    low, high = _edges_played(dag, fixed, node)
    best_value = -np.inf
    for edge in range(low, high):
        _collect_after_edge(dag, row, node, edge, work)
        best_value = max(best_value, work.edge_values[node, edge])
    reference = low
    while work.edge_values[node, reference] < best_value - VALUE_TIE:
        reference += 1
    for corner in range(num_corners):
        work.collected_later[node, corner] = work.collected[reference, corner]
    for edge in range(low, high):
        largest_gain = 0.0
        for corner in range(num_corners):
            gain = work.collected[edge, corner] - work.collected[reference, corner]
            largest_gain = max(largest_gain, gain)
        reduced_cost = max(0.0, best_value - work.edge_values[node, edge])
        cut = min(largest_gain, reduced_cost)
        _note_size(work.dual_prices[node, edge], work)
        work.dual_prices[node, edge] -= cut
        work.edge_values[node, edge] += cut
        for corner in range(num_corners):
            collected = work.collected[edge, corner] - cut
            work.collected_later[node, corner] = max(work.collected_later[node, corner], collected)
    for corner in range(num_corners):
        _note_size(work.collected_later[node, corner], work)
    work.node_values[node] = best_value


@part
def _most_collected(dag, row, work):
    """Return the most that a corner of a row (a distribution over actions) collects of its prices.

    It is the largest mean, over the nodes in which play begins, of ``work.collected_later``.
    """
    most = -np.inf
    for corner in range(dag.num_corners[row]):
        collected = 0.0
        for start in range(len(dag.start_node)):
            node = dag.start_node[start]
            if dag.relation_to_row[row, node]:
                collected += dag.start_probability[start] * work.collected_later[node, corner]
        most = max(most, collected)
    return most


@part
def _price(dag, target, fixed, work):
    """Lower the relaxation's bound by dual prices until it is the target; return the bound.

    The relaxation is Lagrangian: a player knows the node, and pays for playing differently at nodes
    of one row (information set). Rows get prices one after the other, the one that loses most by
    forgetting first. The bound is the payoff of the relaxation at the prices, plus for each of
    these rows the most that one way to play it collects; infinite if no prices were found that meet
    the target. Begins at the relaxation without prices, which is solved and visited; all prices are
    0 again afterwards.
    """
    all_collected, num_rows, bound = 0.0, 0, np.inf
    while True:
        row = _argmax(work.row_loss)
        if work.row_loss[row] <= NO_LOSS:
            break
        work.row_loss[row] = 0.0  # each row gets prices once
        if num_rows:
            _visit(dag, fixed, work, VALUE_TIE, _related(dag, row))
        _raise_prices(dag, row, work)
        for node in _related(dag, row)[::-1]:
            if dag.relation_to_row[row, node] == BEFORE:
                _cut_prices_at_node(dag, row, fixed, node, work)
        all_collected += _most_collected(dag, row, work)
        num_rows += 1
        if _start_value(dag, work.node_values) + all_collected <= target:
            # Solved anew: the proof rests on the prices alone, not on values that were updated.
            bound = _solve(dag, fixed, False, work) + all_collected
            work.most_priced_rows[0] = max(work.most_priced_rows[0], num_rows)
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


@part
def _bound_node(dag, target, is_priced, search, work):
    """Bound a node of the search tree: steps 1 to 3 of :func:`close`; return what it is, and bound.

    It is a leaf, `PLAIN` or `PRICED`, or the row to branch on; or `EXCEEDED`, if
    ``search.response`` gets more than the target.
    """
    fixed = search.fixed
    bound = _solve(dag, fixed, False, work)
    if bound <= target:
        return PLAIN, bound
    _visit(dag, fixed, work, 0.0, range(len(dag.row_of_node)))
    _round_to_response(dag, fixed, work)
    for row in range(len(fixed)):
        search.response[row] = work.response[row]
    worst_row = _argmax(work.row_loss)
    loses_nothing = work.row_loss[worst_row] <= 0.0  # the relaxation is a response itself
    payoff = bound if loses_nothing else _solve(dag, search.response, False, work)
    if payoff > target:
        return EXCEEDED, bound
    if is_priced:
        _solve(dag, fixed, False, work)  # again, since the response overwrote the values
        bound = _price(dag, target, fixed, work)
        if bound <= target:
            return PRICED, bound
    return worst_row, bound


@part
def _go_on(dag, search):
    """Go from a leaf of the search tree to the next node, depth first; ``search.depth`` -1 if none.

    The last branched row that has a corner left plays the next one; those after it are free again.
    """
    fixed, depth = search.fixed, search.depth
    while depth[0] > 0:
        row = search.branched_rows[depth[0] - 1]
        fixed[row] += 1
        if fixed[row] < dag.num_corners[row]:
            return
        fixed[row] = -1
        depth[0] -= 1
    depth[0] = -1


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
    depth = search.depth
    while depth[0] >= 0:
        if most_nodes == 0 or search.num_nodes[0] == len(search.preorder):
            return OPEN
        most_nodes -= 1
        node, bound = _bound_node(dag, target, is_priced, search, work)
        if node == EXCEEDED:
            return FOUND
        search.preorder[search.num_nodes[0]] = node
        search.num_nodes[0] += 1
        if node >= 0:  # a row: go down to its first corner
            search.branched_rows[depth[0]] = node
            search.fixed[node] = 0
            depth[0] += 1
        else:
            search.bound[0] = max(search.bound[0], bound)
            _go_on(dag, search)
    return CLOSED
