"""Fold a mixture of all others into chance; play tells no more of the draw than it shows."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from hogeq.kernels.responding import States
from hogeq.search.branching import ROUNDING, ResponseGraph, miss
from hogeq.support.aliases import Floats

Edges = tuple[tuple[tuple[float, int], ...], ...]
"""Of each action, chances and new states."""


def folded(graph: ResponseGraph, weights: Floats, tables: Floats) -> ResponseGraph:
    """Fold a mixture of tables (n, F, K) into a graph.

    A new state is a state and the components left: those that play as all rows met so far did. So
    the draw is told only as rows differ. New states of one state whose futures are equal are one.
    """
    found = _Folding(graph, weights, tables)
    misses = miss(tables) + miss(weights) + (2 * len(weights) + 6) * ROUNDING
    states = found.states()
    longest = int(np.diff(states.first).max())
    return replace(graph, states=states, outcomes=longest, misses=graph.misses + misses)


class _Folding:
    """Components left are bits of a whole number."""

    def __init__(self, graph: ResponseGraph, weights: Floats, tables: Floats) -> None:
        states, self.weights, self.tables = graph.states, weights.tolist(), tables
        self.old, self.every = states, (1 << len(weights)) - 1
        self.legal = [np.flatnonzero(legal).tolist() for legal in graph.legal]
        self.row, self.is_own = states.row.tolist(), states.is_own.tolist()
        self.first, self.chance = states.first.tolist(), states.chance.tolist()
        self.after, self.won = states.after.tolist(), states.won.tolist()
        self.known = dict[tuple[int, int], list[tuple[int, float, int]]]()

    def groups(self, left: int, row: int) -> list[tuple[int, float, int]]:
        """Actions of those left, their chances, and which are left then."""
        if (left, row) not in self.known:
            parts = dict[tuple[float, ...], int]()
            for one in range(len(self.weights)):
                if left >> one & 1:
                    plays = tuple(self.tables[one, row].tolist())
                    parts[plays] = parts.get(plays, 0) | 1 << one
            whole = self.weight(left)
            self.known[left, row] = [
                (action, share if then == left else self.weight(then) / whole * share, then)
                for plays, then in parts.items()
                for action, share in enumerate(plays)
                if share > 0.0
            ]
        return self.known[left, row]

    def weight(self, left: int) -> float:
        return sum(weight for one, weight in enumerate(self.weights) if left >> one & 1)

    def moves(self, state: int, left: int) -> Iterator[tuple[int, float, int]]:
        """Give each action, a factor of its chances, and the components left then."""
        row = self.row[state]
        if self.is_own[state]:
            return iter([(action, 1.0, left) for action in self.legal[row]])
        return iter(self.groups(left, row))

    def outcomes(self, state: int, action: int) -> Iterator[tuple[float, int]]:
        edge = state * len(self.won[state]) + action
        for outcome in range(self.first[edge], self.first[edge + 1]):
            yield self.chance[outcome], self.after[outcome]

    def met(self) -> list[dict[int, int]]:
        """For each state the sets of components that play can come to it with."""
        found: list[dict[int, int]] = [{} for _ in self.row]
        for state in self.old.start.tolist():
            found[state][self.every] = -1
        for state, sets in enumerate(found):
            for left in sets:
                for action, _, then in self.moves(state, left):
                    for _, after in self.outcomes(state, action):
                        found[after][then] = -1
        return found

    def state(self, state: int, left: int, new: list[dict[int, int]]) -> tuple[list[float], Edges]:
        """Payoffs and outcomes of a new state; if others move, all are of its first action."""
        won, edges = (
            [0.0] * len(self.won[state]),
            [list[tuple[float, int]]() for _ in self.won[state]],
        )
        for action, share, then in self.moves(state, left):
            place = action if self.is_own[state] else 0
            won[place] += share * self.won[state][action]
            edges[place] += [
                (share * chance, new[after][then]) for chance, after in self.outcomes(state, action)
            ]
        return won, tuple(map(tuple, edges))

    def states(self) -> States:
        """Build new states from the end of play, and turn them into its order."""
        new, found, olds = self.met(), list[tuple[list[float], Edges]](), list[int]()
        for state in reversed(range(len(new))):
            same = dict[Edges, int]()
            for left in new[state]:
                won, edges = self.state(state, left, new)
                key = (*edges, tuple((one, 0) for one in won))
                if key not in same:
                    same[key] = len(found)
                    found.append((won, edges))
                    olds.append(state)
                new[state][left] = same[key]
        last, outcomes = len(found) - 1, [edge for _, edges in reversed(found) for edge in edges]
        return States(
            row=np.array([self.row[state] for state in reversed(olds)]),
            is_own=np.array([self.is_own[state] for state in reversed(olds)]),
            first=np.concatenate([[0], np.cumsum([len(edge) for edge in outcomes])]),
            chance=np.array([chance for edge in outcomes for chance, _ in edge]),
            after=last - np.array([after for edge in outcomes for _, after in edge], np.int64),
            won=np.array([won for won, _ in reversed(found)]),
            start=last - np.array([new[state][self.every] for state in self.old.start]),
            start_chance=self.old.start_chance,
        )
