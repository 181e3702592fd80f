"""A growing pool of counter-matrices, and the changes of a strategy that they like least.

A win rate is linear in each row of a policy, so one pass forward and one back give the exact effect
of every change of a single cell on what a counter wins.  Effects of several cells do not add up
exactly: what is chosen by their sums must be evaluated before it is believed.
"""

from typing import NamedTuple

import numpy as np

from hogeq.model.game import Game
from hogeq.model.shared import shared_workspace
from hogeq.model.workspace import Role
from hogeq.response.moves import anneal, climb, to_pure
from hogeq.support.aliases import Floats, Matrix
from hogeq.support.workers import compute

DAMPING = 0.5


class Slopes(NamedTuple):
    """First-order effects on n counters of making single cells pure."""

    rates: Floats
    """(n,), win rate of every counter now."""
    changes: Floats
    """(n, G, G, K), what would be added to it if this cell rolled so many dice for sure."""
    reach: Floats
    """(n, G, G), probability that the strategy comes to move at a cell."""


class Population:
    """Counter-matrices, and passes of a strategy against all of them.

    Attributes
    ----------
    matrices : int8 (n, G, G)
    """

    def __init__(self, game: Game, matrices: Matrix | None = None) -> None:
        self.game = game
        empty = np.zeros((0, *game.shape[:2]), np.int8)
        self.matrices: Matrix = empty if matrices is None else np.array(matrices, np.int8)

    def rates(self, policy: Floats) -> Floats:
        """Exact win rate of every counter against a policy (G, G, K), float64 (n,)."""

        def rate(matrix: Matrix) -> float:
            work = shared_workspace(self.game, 2)
            return work.win_rate(np.stack([self._one_hot(matrix), policy])).win_rate

        return np.array(compute(rate, self.matrices, local=True))

    def slopes(self, policy: Floats, most: int | None = None) -> Slopes:
        """Effects of all changes of single cells of a policy (G, G, K).

        On the `most` counters that win most, the oldest on ties; by default on all of them.
        """
        chosen = self.matrices
        if most is not None and most < len(chosen):
            order = np.argsort(-self.rates(policy), kind="stable")
            chosen = chosen[np.sort(order[:most])]

        def slope(matrix: Matrix) -> tuple[float, Floats, Floats]:
            work = shared_workspace(self.game, 2)
            policies = np.stack([policy, self._one_hot(matrix)])
            work.forward(policies)
            first, other, _ = work.backward(policies, Role.COUNTERFACTUAL)
            kept = (work.counterfactual_values * policy).sum(axis=2, keepdims=True)
            return (
                (1.0 - first + other) / 2.0,
                kept - work.counterfactual_values,
                work.infoset_reach.copy(),
            )

        rates, changes, reach = zip(*compute(slope, chosen, local=True), strict=True)
        return Slopes(np.array(rates), np.stack(changes), np.stack(reach))

    def climb(self, policy: Floats, warm: int) -> float:
        """Let the `warm` counters that win most climb further; keep them, return the best rate."""
        order = np.argsort(-self.rates(policy), kind="stable")[:warm]

        def further(start: int) -> tuple[float, Matrix]:
            return self._climbed(self._one_hot(self.matrices[start]), policy)

        return self._keep(compute(further, order, local=True))

    def attack(self, policy: Floats, starts: int, anneal_steps: int, seed: list[int]) -> float:
        """Search for new counters as :func:`hogeq.response.search.attack` does; the best rate."""

        def search(start: int) -> tuple[float, Matrix]:
            random = np.random.default_rng([*seed, start])
            first = random.dirichlet(np.ones(self.game.num_actions), policy.shape[:2])
            policies = np.stack([first, policy])
            anneal(self.game, policies, anneal_steps, DAMPING)
            to_pure(policies[0])
            return self._climbed(policies[0], policy)

        return self._keep(compute(search, range(starts), local=True))

    def shrink(self, policy: Floats, most: int) -> None:
        """Keep only the `most` counters that win most against a policy, the oldest on ties."""
        if len(self.matrices) > most:
            kept = np.argsort(-self.rates(policy), kind="stable")[:most]
            self.matrices = self.matrices[np.sort(kept)]

    def _climbed(self, start: Floats, policy: Floats) -> tuple[float, Matrix]:
        policies = np.stack([start, policy])
        rate, _ = climb(self.game, policies)
        return rate, policies[0].argmax(axis=2).astype(np.int8)

    def _keep(self, found: list[tuple[float, Matrix]]) -> float:
        for _, matrix in found:
            if not (self.matrices == matrix).all(axis=(1, 2)).any():
                self.matrices = np.concatenate([self.matrices, matrix[None]])
        return max(rate for rate, _ in found)

    def _one_hot(self, matrix: Matrix) -> Floats:
        return np.eye(self.game.num_actions)[matrix]
