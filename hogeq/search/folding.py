"""Fold a mixture of opponents into chance, so that one player is left who decides."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Final

import numpy as np

from hogeq.kernels.responding import States
from hogeq.search.branching import ResponseGraph, sum_error
from hogeq.support.aliases import Floats
from hogeq.support.deadline import FOREVER, Deadline
from hogeq.support.floats import UNIT_ROUNDOFF

STATES_PER_CLOCK_CHECK: Final = 256  # old states between two looks at the clock

Move = tuple[int, float, int]
"""An action, its probability, and the set of components that are possible after it."""

Edges = tuple[tuple[tuple[float, int], ...], ...]
"""The outcomes of each action: probability, and number of the next new state."""


def folded(
    graph: ResponseGraph, weights: Floats, tables: Floats, deadline: Deadline = FOREVER
) -> ResponseGraph | None:
    """Fold a mixture of opponents into chance: a graph in which the player alone decides.

    `tables` (n, F, K) are the policies of the components, of probabilities `weights` (n,).

    1. A new state is an old state and the set of components that are possible there: those whose
       rows were equal at all turns so far. So chance draws among components only where their rows
       differ.
    2. New states of one old state are merged if their payoffs and outcomes are equal.

    None if the time is over before.
    """
    if deadline.is_over:
        return None
    # A chance is a product of three numbers, one of them a quotient of sums over components.
    roundings = 2 * len(weights) + 6
    misses = sum_error(tables) + sum_error(weights) + roundings * UNIT_ROUNDOFF
    states = _Folding(graph, weights, tables).new_states(deadline)
    if states is None:
        return None
    # Where play ends at once, a payoff of a new state has no outcomes, but is a sum over components
    # and actions of payoffs of old ones, which are sums over outcomes.
    components, _, actions = tables.shape
    summands = components * actions + graph.outcomes
    most_outcomes = int(np.diff(states.outcome_offsets).max()) + summands
    return replace(graph, states=states, outcomes=most_outcomes, misses=graph.misses + misses)


@dataclass
class _NewStates:
    """New states, numbered from the end of play on."""

    numbers: list[dict[int, int]]  # of new states: for each old state, by set of components
    payoffs: list[list[float]] = field(default_factory=list)  # of each new state, by action
    edges: list[Edges] = field(default_factory=list)  # of each new state
    old_states: list[int] = field(default_factory=list)  # that each new state stands for


class _Folding:
    """The old states as lists, which are read one by one faster than arrays, and the mixture.

    A set of components is an int: bit c stands for component number c.
    """

    def __init__(self, graph: ResponseGraph, weights: Floats, tables: Floats) -> None:
        """Read the states of a graph, and the mixture that an opponent draws one component of.

        Components are policies of all fixed rows, `tables` (n, F, K), with `weights` (n,). Folding
        makes them moves of chance: a new state is an old one, and the components still possible.
        """
        states = graph.states
        self.old_states = states
        self.weights = weights.tolist()  # (n,)
        self.tables = tables  # (n, F, K)
        self.all_components = (1 << len(weights)) - 1  # the set of all, as bits
        self.legal_actions = [np.flatnonzero(legal).tolist() for legal in graph.legal]
        self.row = states.row_of_state.tolist()  # (S,)
        self.is_own = states.is_own.tolist()  # (S,), whether the player who responds moves
        self.first_outcome = states.outcome_offsets.tolist()  # (S * K + 1,)
        self.probability = states.outcome_probability.tolist()  # of each outcome
        self.next_state = states.outcome_state.tolist()  # of each outcome
        self.payoffs = states.immediate_payoff.tolist()  # (S, K)
        self.known_moves = dict[tuple[int, int], list[Move]]()  # by set of components and row

    def members(self, components: int) -> list[int]:
        """List the numbers of the components in a set: its bits that are 1."""
        return [number for number in range(len(self.weights)) if components >> number & 1]

    def total_weight(self, components: int) -> float:
        """Sum the weights of a set of components."""
        return sum(self.weights[component] for component in self.members(components))

    def opponent_moves(self, components: int, row: int) -> list[Move]:
        """List the moves at a row (information set) of an opponent drawn from a set of components.

        Chance first draws one group of components that play this row alike, then an action. A move
        is the action, its probability, and the group, which is the set of components from then on.
        A set is an int: bit c stands for component number c.
        """
        key = components, row
        if key in self.known_moves:
            return self.known_moves[key]
        groups = dict[tuple[float, ...], int]()  # sets of components by their row of the policy
        for component in self.members(components):
            policy = tuple(self.tables[component, row].tolist())
            groups[policy] = groups.get(policy, 0) | 1 << component
        total = self.total_weight(components)
        moves = list[Move]()
        for policy, group in groups.items():
            # A single group is not drawn, so that its probability is not rounded.
            group_probability = 1.0 if group == components else self.total_weight(group) / total
            moves += [
                (action, group_probability * probability, group)
                for action, probability in enumerate(policy)
                if probability > 0.0
            ]
        self.known_moves[key] = moves
        return moves

    def moves(self, state: int, components: int) -> list[Move]:
        """List the moves at an old state; an action of the player has probability 1."""
        row = self.row[state]
        if self.is_own[state]:
            return [(action, 1.0, components) for action in self.legal_actions[row]]
        return self.opponent_moves(components, row)

    def outcomes(self, state: int, action: int) -> Iterator[tuple[float, int]]:
        """Give the probability and the next old state of every outcome of an action."""
        # Outcomes of all states and actions are in two flat lists, edge after edge.
        edge = state * len(self.payoffs[state]) + action
        for outcome in range(self.first_outcome[edge], self.first_outcome[edge + 1]):
            yield self.probability[outcome], self.next_state[outcome]

    def reachable(self, deadline: Deadline) -> list[dict[int, None]] | None:
        """List for each old state the sets of components with which play can come to it.

        A set is an int: bit c stands for component number c. The sets are the keys of a dictionary,
        in the order in which they are met, so that all runs number states alike. None if the time
        is over before.
        """
        reached: list[dict[int, None]] = [{} for _ in self.row]
        for state in self.old_states.start_state.tolist():
            reached[state][self.all_components] = None
        # An outcome leads to a later state, so that the sets of a state are complete at its turn.
        for state, sets in enumerate(reached):
            if state % STATES_PER_CLOCK_CHECK == 0 and deadline.is_over:
                return None
            for components in sets:
                for action, _, remaining in self.moves(state, components):
                    for _, next_state in self.outcomes(state, action):
                        reached[next_state][remaining] = None
        return reached

    def payoffs_and_edges(
        self, state: int, components: int, numbers: list[dict[int, int]]
    ) -> tuple[list[float], Edges]:
        """Give the payoffs (K,) and the outcomes of each action in a new state.

        The new state is an old state and the set of a mixture's components that are possible there,
        given the opponent's play so far. If an opponent moves there, chance does so in its place,
        and all payoffs and outcomes are those of action 0. `numbers` has, for each later old state,
        the number of the new state by set of components. An outcome is a probability and the number
        of a new state.
        """
        payoffs = [0.0] * len(self.payoffs[state])
        edges = [list[tuple[float, int]]() for _ in payoffs]
        for action, probability, remaining in self.moves(state, components):
            new_action = action if self.is_own[state] else 0
            payoffs[new_action] += probability * self.payoffs[state][action]
            for chance, next_state in self.outcomes(state, action):
                edges[new_action].append((probability * chance, numbers[next_state][remaining]))
        return payoffs, tuple(map(tuple, edges))

    def new_states(self, deadline: Deadline) -> States | None:
        """Make the new states from the end of play to its start, and list them in reverse.

        A new state is an old state and a set of components. Sets of one old state share a new state
        if their payoffs and outcomes are equal. None if the time is over before.
        """
        reached = self.reachable(deadline)
        if reached is None:
            return None
        new = _NewStates(numbers=[{} for _ in reached])
        for state in reversed(range(len(reached))):
            if state % STATES_PER_CLOCK_CHECK == 0 and deadline.is_over:
                return None
            self.add_new_states(new, state, reached[state])
        return self.list_in_order(new)

    def add_new_states(self, new: _NewStates, state: int, sets: Iterable[int]) -> None:
        """Add the states of the folded graph that stand for one state of the graph as it was.

        A state of the folded graph is an old state and a set of components of the opponent's
        mixture, an int with bit c for component c: those that can have been drawn there. `sets` are
        the sets for the old state. Two sets share a new state if the payoffs of the actions, and
        the new states that follow them with their probabilities (`edges`), are equal. So the states
        that follow the old state must have been added before.
        """
        equal_states = dict[tuple[tuple[float, ...], Edges], int]()
        for components in sets:
            payoffs, edges = self.payoffs_and_edges(state, components, new.numbers)
            key = (tuple(payoffs), edges)
            if key not in equal_states:
                equal_states[key] = len(new.edges)
                new.payoffs.append(payoffs)
                new.edges.append(edges)
                new.old_states.append(state)
            new.numbers[state][components] = equal_states[key]

    def list_in_order(self, new: _NewStates) -> States:
        """List new states, which were made from the end of play on, in the order of play."""
        last = len(new.edges) - 1  # new state n comes at last - n
        old_states = new.old_states[::-1]
        outcome_lists = [outcomes for edges in reversed(new.edges) for outcomes in edges]
        outcomes = list(chain.from_iterable(outcome_lists))
        starts = [new.numbers[state][self.all_components] for state in self.old_states.start_state]
        return States(
            row_of_state=np.array([self.row[state] for state in old_states]),
            is_own=np.array([self.is_own[state] for state in old_states]),
            outcome_offsets=np.append(0, np.cumsum([len(outcomes) for outcomes in outcome_lists])),
            outcome_probability=np.array([chance for chance, _ in outcomes]),
            outcome_state=last - np.array([next_state for _, next_state in outcomes], np.int64),
            immediate_payoff=np.array(new.payoffs[::-1]),
            start_state=last - np.array(starts),
            start_probability=self.old_states.start_probability,
        )
