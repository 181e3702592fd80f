"""Decisions of one player who forgets: a DAG of nodes, against the tables of a mixture.

A *decision* is a node at which the player moves, each of its corners an edge; at every other node
chance moves by edge 0. Sizes are those of :mod:`hogeq.kernels.forgetting`.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.kernels.cache import kernel, part
from hogeq.kernels.responding import action_outcomes
from hogeq.kernels.segments import segment
from hogeq.support.aliases import Floats, Ints

# Values of `relation_to_row`: play can come from the node to the row; the node is of the row.
BEFORE, IN_ROW = 1, 2


class Decisions(NamedTuple):
    """A problem of one player: a DAG of N nodes, at each of which corner c is an edge.

    An edge has outcomes, the nodes that it may lead to: see `edge_outcomes`.
    """

    row_of_node: Ints  # (N,); -1 where chance moves
    outcome_offsets: Ints  # (N * C + 1,), first outcome of each edge, node by node
    outcome_probability: Floats  # (outcomes,)
    outcome_node: Ints  # (outcomes,), the next node
    immediate_payoff: Floats  # (N, C), payoff of the ends that follow at once, times their chances
    start_node: Ints  # (starts,)
    start_probability: Floats  # (starts,)
    num_corners: Ints  # (R,), number of corners of each row
    relation_to_row: NDArray[np.int8]  # (R, N), `BEFORE` or `IN_ROW`, else 0
    related_offsets: Ints  # (R + 1,), where the related nodes of each row begin
    related_nodes: Ints  # nodes of a relation to each row, in their order, row by row


@kernel
def fill_decisions(states, corners, others, number, dag):
    """Fill `dag`, a problem against the tables of a mixture, and return its number of outcomes.

    A node is a member of `others`: a pair of a table and a state that play can come to against it.
    Its edges are the `corners` of the state's row: the distributions over actions that the row, an
    information set, may play. Called twice: if ``dag.outcome_probability`` is empty, outcomes are
    only counted; then there is room for all.

    The other arguments are those of :mod:`hogeq.kernels.responding`; `number`, (S,), is scratch.
    """
    num_starts, most_corners = len(states.start_state), dag.immediate_payoff.shape[1]
    num_outcomes = 0
    for table in range(len(others.table_weight)):
        for node in segment(others.member_offsets, table):
            number[others.member_state[node]] = node
        for start in range(num_starts):
            probability = others.table_weight[table] * states.start_probability[start]
            dag.start_node[table * num_starts + start] = number[states.start_state[start]]
            dag.start_probability[table * num_starts + start] = probability
        for node in segment(others.member_offsets, table):
            state = others.member_state[node]
            row = states.row_of_state[state]
            is_own = states.is_own[state]
            dag.row_of_node[node] = row if is_own else -1
            num_edges = dag.num_corners[row] if is_own else 1  # others move by edge 0
            for edge in range(most_corners):
                dag.outcome_offsets[node * most_corners + edge] = num_outcomes
                if edge < num_edges:
                    probabilities = others.tables[table, row]
                    if is_own:
                        probabilities = corners.probabilities[corners.corner_offsets[row] + edge]
                    num_outcomes = _add_outcomes(
                        states, number, state, probabilities, dag, node, edge, num_outcomes
                    )
    dag.outcome_offsets[len(dag.row_of_node) * most_corners] = num_outcomes
    return num_outcomes


@part
def _add_outcomes(states, number, state, probabilities, dag, node, edge, num_outcomes):
    """Add the outcomes of an edge, of which there are `num_outcomes` so far; return the new number.

    An edge leads from a node of the problem, `dag`, by one corner of its row: a distribution over
    the actions of its `state`, `probabilities` (K,). If the arrays are still empty, outcomes are
    only counted. `number`, (S,), is the node of each state.
    """
    fills_outcomes = len(dag.outcome_probability) > 0
    for action in range(len(probabilities)):
        probability = probabilities[action]
        if probability == 0.0:
            continue
        if fills_outcomes:
            payoff = states.immediate_payoff[state, action]
            dag.immediate_payoff[node, edge] += probability * payoff
        for outcome in action_outcomes(states, state, action):
            if fills_outcomes:
                chance = states.outcome_probability[outcome]
                dag.outcome_probability[num_outcomes] = probability * chance
                dag.outcome_node[num_outcomes] = number[states.outcome_state[outcome]]
            num_outcomes += 1
    return num_outcomes


@part
def edge_outcomes(dag, node, corner):
    """Return the range of the outcomes of an edge: edges lie node by node, C at each."""
    return segment(dag.outcome_offsets, node * dag.immediate_payoff.shape[1] + corner)


@kernel
def mark_before(dag):
    """Mark, by row, the nodes of the row and those before it; False if a play can meet a row twice.

    A row is an information set. Filled is ``dag.relation_to_row``, (R, N), of zeros, bottom-up.
    """
    most_corners = dag.immediate_payoff.shape[1]
    for row in range(len(dag.num_corners)):
        relation = dag.relation_to_row[row]
        for node in range(len(dag.row_of_node) - 1, -1, -1):
            first = dag.outcome_offsets[node * most_corners]  # of the outcomes of all edges
            for outcome in range(first, dag.outcome_offsets[(node + 1) * most_corners]):
                if relation[dag.outcome_node[outcome]]:
                    relation[node] = BEFORE
            if dag.row_of_node[node] == row:
                if relation[node]:
                    return False
                relation[node] = IN_ROW
    return True
