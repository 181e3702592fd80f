"""The problem of a player of a tree who remembers the own past, as a graph of pasts.

A *past* is a row and what its player met and did before it: a refined information set of
:mod:`hogeq.trees.sequences`. Against a strategy of the other player it is all that there is to
know: what follows an action has conditional probabilities.
"""

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.graph.graph import NATURE, Graph
from hogeq.graph.levels import spans
from hogeq.model.priced import Problem, require_few_actions
from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Floats, Ints
from hogeq.support.floats import UNIT_ROUNDOFF
from hogeq.support.messages import HogeqError
from hogeq.trees.flat import TERMINAL, FlatTree, reach
from hogeq.trees.packed import first_entries, offsets
from hogeq.trees.sequences import SequenceForm, sequence_form

MOST_NODES: Final = 2_000_000  # of a tree whose pasts are listed
MARGIN: Final = 8.0  # factor of the bound on errors, which counts them to first order


def pose_problems(tree: FlatTree, target: Strategy) -> list[Problem]:
    """Pose the problem of each player against a strategy; a coin says which seat one has.

    Payoffs are around that of an even game, :attr:`FlatTree.shift`.
    """
    if tree.num_nodes > MOST_NODES:
        raise HogeqError(
            f"{tree.name}: has {tree.num_nodes:,} nodes; allowed for certificates: {MOST_NODES:,}"
        )
    require_few_actions(tree.num_actions)  # before arrays of pasts by actions are made
    return [_pose_problem(tree, target, player) for player in (0, 1)]


def _pose_problem(tree: FlatTree, target: Strategy, player: int) -> Problem:
    """Pose the decision problem of one player against a strategy, perhaps mixed, of the other.

    Its states are the player's pasts: an information set after one sequence of own actions.
    """
    form = sequence_form(tree, player)
    # (N,): probability of each node by chance and the other player, the mean of all components.
    others_reach = np.zeros(tree.num_nodes)
    for probability, policy in zip(target.chances, target.policies, strict=True):
        others_reach += probability * reach(tree, policy, player)
    graph = _graph_of_pasts(form, others_reach)
    opponent_rows = np.zeros((max(graph.rows, 1), tree.num_actions))  # the graph has no opponent
    error = _bound_error(tree, target, graph)
    return Problem(
        graph=graph,
        seat=0,
        policy=opponent_rows,
        chance=0.5,  # one of two problems, one for each side
        payoff_offset=tree.shift,
        payoff_error=error,
    )


class _Outcomes(NamedTuple):
    """What can follow each sequence of a player: n outcomes, sorted by sequence."""

    sequence: Ints  # (n,), before the outcome
    next_past: Ints  # (n,), the past that is met next, -1 for the end of the game
    probability: Floats  # (n,), by chance and the other player
    payoff: Floats  # (S,), mean where a sequence is the last


def _outcomes(form: SequenceForm, others_reach: Floats) -> _Outcomes:
    """List the pasts and terminal nodes that can follow each sequence of a player.

    A past is an information set after one sequence of own actions. `others_reach`, (N,), is the
    probability of each node by chance and the other player.
    """
    tree = form.tree
    sign = 1.0 if form.player == 0 else -1.0
    is_end = tree.player == TERMINAL
    is_own = form.refined_of_node >= 0
    last_sequence = form.sequence_of_node[is_end]
    reach_of_ends = np.bincount(last_sequence, others_reach[is_end], form.num_sequences)
    payoffs = sign * others_reach[is_end] * tree.payoff[is_end]
    sum_of_payoffs = np.bincount(last_sequence, payoffs, form.num_sequences)
    past = form.refined_of_node[is_own]
    reach_of_pasts = np.bincount(past, others_reach[is_own], form.num_refined)
    pasts = np.flatnonzero(reach_of_pasts > 0.0)
    final = np.flatnonzero(reach_of_ends > 0.0)  # sequences that can be the last
    sequence = np.concatenate([form.parent_sequence[pasts], final])
    order = np.argsort(sequence, kind="stable")
    mean = sum_of_payoffs / np.where(reach_of_ends > 0.0, reach_of_ends, 1.0)
    largest = np.abs(tree.payoff).max()  # a mean is no larger; rounding must not make it so
    next_past = np.concatenate([pasts, np.full(len(final), -1)])
    probability = np.concatenate([reach_of_pasts[pasts], reach_of_ends[final]])
    payoff = np.clip(mean, -largest, largest)
    return _Outcomes(sequence[order], next_past[order], probability[order], payoff)


def _graph_of_pasts(form: SequenceForm, others_reach: Floats) -> Graph:
    """Make the graph of the pasts of one player against fixed others.

    `others_reach`, (N,), is the probability of each node by chance and the other player.

    Position 0 is chance before the first past; then come all pasts of positive probability, sorted
    by the number of own actions before them. Each *way*, a distribution of the position after an
    action, is that of one sequence of the player.

    Raises `HogeqError` if the probability of all that follows a sequence rounds to 0.
    """
    actions = form.tree.num_actions
    outcomes = _outcomes(form, others_reach)
    is_reached = np.zeros(form.num_refined, bool)
    is_reached[outcomes.next_past[outcomes.next_past >= 0]] = True
    levels = [level[is_reached[level]] for level in form.refined_by_depth]
    pasts = np.concatenate([*levels, np.zeros(0, np.int64)]).astype(np.int64)
    num_legal = form.tree.num_legal[form.row_of_refined[pasts]]
    num_ways = np.append(1, num_legal)  # of each position: the empty sequence is a way of chance
    first_way = first_entries(num_ways)
    way = first_way[:, None] + np.arange(actions)
    arrays: dict[str, Any] = {
        "level": np.cumsum([0, 1, *(len(level) for level in levels if len(level))]),
        "player": np.append(NATURE, np.zeros(len(pasts))),
        "row": np.append(0, form.row_of_refined[pasts]),
        "fixed": np.eye(1, actions),
        "situation": np.arange(1 + len(pasts)),
        "way": np.where(np.arange(actions) < num_ways[:, None], way, -1)[:, None],
        "lane": np.zeros(1),  # the graph has no hidden memory: one lane, one label
        "following": np.zeros((1, 1)),
        **_moves_of_ways(form, outcomes, pasts, first_way),
        "payoff": outcomes.payoff,
        "start": np.zeros((1, 2)),
        "start_chance": np.ones(1),
    }
    return Graph(**arrays)


def _moves_of_ways(
    form: SequenceForm, outcomes: _Outcomes, pasts: Ints, first_way: Ints
) -> dict[str, NDArray[Any]]:
    """Lay out the outcomes of the ways of a graph of pasts, in the order of its positions.

    A past is an information set after one sequence of own actions; positions are chance before the
    first past, of number 0, and then the `pasts`, of numbers 1, 2, ... A way is the distribution of
    the position after an action: that of one sequence of the player, whose outcomes are entries of
    `outcomes`. `first_way` is the first way of each position. Returns the arrays of a
    :class:`Graph` that say how outcomes lead to positions and payoffs, by name.
    """
    # Sequences, way by way: the empty one, then those of each past.
    start = form.sequence_offsets[pasts]
    sequences = np.append(0, spans(start, form.sequence_offsets[pasts + 1]))
    begin = np.searchsorted(outcomes.sequence, sequences)
    end = np.searchsorted(outcomes.sequence, sequences, "right")
    num_outcomes = end - begin  # of each way
    if not num_outcomes.all():
        raise HogeqError(f"{form.tree.name}: has chances that are too small for a certificate")
    outcome = spans(begin, end)  # its index in `outcomes`, way by way
    way_of_outcome = np.repeat(np.arange(len(sequences)), num_outcomes)
    probability = outcomes.probability[outcome]
    sum_of_way = np.bincount(way_of_outcome, probability)
    first_outcome = offsets(num_outcomes)  # of each way
    first_move = first_outcome[first_way]  # of each position
    num_moves = np.add.reduceat(num_outcomes, first_way)
    # Position of each past. The last entry is that of past -1, which stands for the end.
    position = np.full(form.num_refined + 1, -1)
    position[pasts] = 1 + np.arange(len(pasts))
    next_past = outcomes.next_past[outcome]
    payoff_code = -1 - outcomes.sequence[outcome]  # -1 - t stands for the end with payoff t
    return {
        "first": first_outcome,
        "chance": probability / sum_of_way[way_of_outcome],
        "end": np.arange(len(outcome)) - np.repeat(first_move, num_moves),
        "place": first_move,
        "next": np.where(next_past < 0, payoff_code, position[next_past]),
        "label": np.zeros(len(outcome)),
    }


def _bound_error(tree: FlatTree, target: Strategy, graph: Graph) -> float:
    """Bound the error of a payoff by rounding, and by rows that do not sum to exactly 1.

    The graph has conditional probabilities, of what follows a sequence of own actions, and mean
    payoffs: quotients of sums of reach probabilities over nodes. The reach probability of a node
    has a relative error for each move to it, and a sum a rounding for each node and component. A
    value of the graph is a product over its levels, whose errors add up. `MARGIN` covers the
    products of errors.
    """
    worst_row_error = np.abs(target.policies.sum(axis=2) - 1.0).max(initial=0.0) + UNIT_ROUNDOFF
    error_of_move = (tree.num_actions + 2) * worst_row_error + 4.0 * UNIT_ROUNDOFF
    error_of_reach = len(tree.levels) * error_of_move
    num_terms = tree.num_nodes + len(target.chances)
    error_of_sum = num_terms * UNIT_ROUNDOFF
    relative_error = error_of_reach + error_of_sum
    largest_payoff = float(np.abs(tree.payoff).max(where=tree.is_possible, initial=0.0))
    largest_payoff += abs(tree.shift) + abs(tree.centre)
    return float(MARGIN * (len(graph.level) + 1) * relative_error * largest_payoff)
