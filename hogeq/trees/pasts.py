"""The problem of a player of a tree who remembers the own past, as a graph of pasts.

A *past* is a row and what its player met and did before it: a refined information set of
:mod:`hogeq.trees.sequences`. Against a strategy of the other player it is all that there is to
know: what follows an action has conditional probabilities.
"""

from typing import Any, Final, NamedTuple

import numpy as np

from hogeq.graph.graph import NATURE, Graph
from hogeq.graph.levels import spans
from hogeq.model.priced import Problem
from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Floats, Ints
from hogeq.support.messages import HogeqError
from hogeq.trees.flat import TERMINAL, FlatTree, reach
from hogeq.trees.sequences import SequenceForm, sequence_form

MOST_NODES: Final = 2_000_000  # of a tree whose pasts are listed
UNIT: Final = float(np.finfo(float).eps) / 2.0  # rounding of a double


def problems(tree: FlatTree, target: Strategy) -> list[Problem]:
    """Pose the problem of each player against a strategy; a coin says which seat one has.

    Payoffs are around that of an even game, :attr:`FlatTree.shift`.
    """
    if tree.num_nodes > MOST_NODES:
        raise HogeqError(
            f"{tree.name}: has {tree.num_nodes:,} nodes; allowed for certificates: {MOST_NODES:,}"
        )
    return [_problem(tree, target, player) for player in (0, 1)]


def _problem(tree: FlatTree, target: Strategy, player: int) -> Problem:
    """Pose the problem of one player against a strategy of the other."""
    form = sequence_form(tree, player)
    components = zip(target.chances, target.policies, strict=True)
    reached = [probability * reach(tree, policy, player) for probability, policy in components]
    graph = _graph(form, _outcomes(form, np.sum(reached, axis=0)))
    nothing = np.zeros((max(graph.rows, 1), tree.num_actions))
    return Problem(graph, 0, nothing, 0.5, level=tree.shift, error=_error(tree, target, graph))


class _Outcomes(NamedTuple):
    """What can follow each sequence, by sequence."""

    sequence: Ints  # (n,), ascending
    past: Ints  # (n,), the past that is met next, or -1 for the end of the game
    mass: Floats  # (n,), probability by chance and the other player
    paid: Floats  # (S,), mean payoff where a sequence is the last


def _outcomes(form: SequenceForm, others: Floats) -> _Outcomes:
    """List what follows sequences; `others`, (N,), is the reach by chance and the other player."""
    tree = form.tree
    sign = 1.0 if form.player == 0 else -1.0
    is_end, is_own = tree.player == TERMINAL, form.refined >= 0
    mass_of_ends = np.bincount(form.at[is_end], others[is_end], form.size)
    payoffs = sign * others[is_end] * tree.payoff[is_end]
    sum_of_payoffs = np.bincount(form.at[is_end], payoffs, form.size)
    mass_of_pasts = np.bincount(form.refined[is_own], others[is_own], len(form.row))
    pasts, final = np.flatnonzero(mass_of_pasts > 0.0), np.flatnonzero(mass_of_ends > 0.0)
    sequence = np.concatenate([form.before[pasts], final])
    order = np.argsort(sequence, kind="stable")
    largest = np.abs(tree.payoff).max()  # which no mean exceeds, though rounded
    return _Outcomes(
        sequence=sequence[order],
        past=np.concatenate([pasts, np.full(len(final), -1)])[order],
        mass=np.concatenate([mass_of_pasts[pasts], mass_of_ends[final]])[order],
        paid=np.clip(
            sum_of_payoffs / np.where(mass_of_ends > 0.0, mass_of_ends, 1.0), -largest, largest
        ),
    )


def _graph(form: SequenceForm, outcomes: _Outcomes) -> Graph:
    """Make the graph: nature first, then all pasts that can be met, by the own actions before."""
    actions, legal = form.tree.num_actions, form.tree.num_legal
    is_met = np.zeros(len(form.row), bool)
    is_met[outcomes.past[outcomes.past >= 0]] = True
    levels = [level[is_met[level]] for level in form.levels]
    pasts = np.concatenate([*levels, np.zeros(0, np.int64)]).astype(np.int64)
    number = np.full(len(form.row) + 1, -1)  # position of each past; the last one is for no past
    number[pasts] = 1 + np.arange(len(pasts))
    # Sequences, which are the ways, position by position: the empty one, then those of each past.
    start, count = form.start[pasts], legal[form.row[pasts]]
    sequences = np.append(0, spans(start, start + count))
    ways = np.append(1, count)
    begin = np.searchsorted(outcomes.sequence, sequences)
    end = np.searchsorted(outcomes.sequence, sequences, "right")
    if (begin == end).any():
        raise HogeqError(f"{form.tree.name}: has chances that are too small for a certificate")
    chosen = spans(begin, end)  # outcomes, way by way
    first_outcome = np.append(0, np.cumsum(end - begin))
    mass = outcomes.mass[chosen]
    way_of_outcome = np.repeat(np.arange(len(sequences)), end - begin)
    first_way = np.cumsum(ways) - ways  # of each position
    place = first_outcome[first_way]
    outcomes_at = np.add.reduceat(end - begin, first_way)
    next_position = number[outcomes.past[chosen]]
    is_end, payoff_code = outcomes.past[chosen] < 0, -1 - outcomes.sequence[chosen]
    way = first_way[:, None] + np.arange(actions)
    arrays: dict[str, Any] = {
        "level": np.cumsum([0, 1, *(len(level) for level in levels if len(level))]),
        "player": np.append(NATURE, np.zeros(len(pasts))),
        "row": np.append(0, form.row[pasts]),
        "fixed": np.eye(1, actions),
        "situation": np.arange(1 + len(pasts)),
        "way": np.where(np.arange(actions) < ways[:, None], way, -1)[:, None],
        "lane": np.zeros(1),
        "following": np.zeros((1, 1)),
        "first": first_outcome,
        "chance": mass / np.bincount(way_of_outcome, mass)[way_of_outcome],
        "end": np.arange(len(chosen)) - np.repeat(place, outcomes_at),
        "place": place,
        "next": np.where(is_end, payoff_code, next_position),
        "label": np.zeros(len(chosen)),
        "payoff": outcomes.paid,
        "start": np.zeros((1, 2)),
        "start_chance": np.ones(1),
    }
    return Graph(**arrays)


def _error(tree: FlatTree, target: Strategy, graph: Graph) -> float:
    """Bound what rounding, and rows that miss 1, change a payoff by.

    The probability of coming to a node has a relative error for each step to it, and a sum over
    nodes one for each of these; a conditional probability has those of two. A mean payoff has them,
    too, and a play has as many of all as levels.
    """
    misses = np.abs(target.policies.sum(axis=2) - 1.0).max(initial=0.0) + UNIT
    steps = (tree.num_actions + 2) * misses + 4.0 * UNIT
    relative = len(tree.levels) * steps + (tree.num_nodes + len(target.chances)) * UNIT
    largest = float(np.abs(tree.payoff).max()) + abs(tree.shift) + abs(tree.centre)
    return float(8.0 * (len(graph.level) + 1) * relative * largest)
