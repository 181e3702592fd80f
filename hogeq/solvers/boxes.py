"""Lower bounds on the exploitability of all policies: boxes, each beaten by a mixture of counters.

``docs/existence.md``, "Boxes", has the theorem and its proof.
"""

from typing import Any, Final, NamedTuple

import numpy as np

from hogeq.search.branching import ResponseSearch, Status
from hogeq.solvers.responses import SUPPORT, matrix_game
from hogeq.solvers.symmetric import SymmetricGame, contains, dyadic_weights
from hogeq.support.aliases import Floats, Ints
from hogeq.support.deadline import Deadline

MOST_CUTS: Final = 2_000  # of boxes
STARTS: Final = 3  # counters of the pool, the latest, from which a search for a response ascends
NO_GAIN: Final = 1e-9  # a counter that wins no more than this above the pool is no better
NO_COVARIANCE: Final = 1e-13  # that of rounding alone


class Box(NamedTuple):
    """Policies whose rows are mixtures of corners; a response of corners takes one for each row."""

    corners: list[Floats]  # of each row, (n, K)
    responses: Ints  # (n, R), responses that mattered for the box that this one was cut from

    def policy(self, response: Ints) -> Floats:
        """Policy (R, K) of a response of corners (R,)."""
        chosen = zip(self.corners, response, strict=True)
        return np.stack([row_corners[corner] for row_corners, corner in chosen])


class Leaf(NamedTuple):
    """A mixture of counters that beats every policy of a box, with proof."""

    weights: Floats  # (n,), dyadic
    counters: Ints  # (n,), indices of the pool
    search: ResponseSearch


class Split(NamedTuple):
    """A cut of a box at the middle of an edge: it replaces either corner in one of two parts."""

    row: int
    first: int  # corner that the middle replaces in the first part
    second: int  # likewise in the second part


class Enclosure:
    """Proof that all policies of a box have at least half of a target as exploitability.

    A mixture of counters beats all of the box (a leaf), or the box is cut in two parts, at the row
    that matters most, and both are enclosed. Cost: a double oracle in each box.
    """

    def __init__(self, game: SymmetricGame, pool: Ints, target: float, deadline: Deadline) -> None:
        self.game = game
        self.pool = pool  # (m, R), counters, to which more are added
        self.target = target
        self.deadline = deadline
        self.steps = list[Split | Leaf]()
        self.policy: Floats | None = None
        """One (R, K) whose exploitability seems to be below the target, if such was met."""

    def prove(self, corners: list[Floats], responses: Ints) -> bool:
        """Prove that no policy has less exploitability than half the target; False on failure."""
        stack = [Box(corners, responses)]
        while stack:
            box = stack.pop()
            step, responses = self._leaf_or_cut(box)
            if step is None or len(self.steps) > MOST_CUTS:
                return False
            self.steps.append(step)
            if isinstance(step, Split):
                first, second = self._parts(box, responses, step)
                stack += [second, first]
        return True

    def proof(self) -> dict[str, Any]:
        """Write the cuts in the order of a walk, and the counters of each leaf with their proof."""
        cuts: list[Any] = []
        for step in self.steps:
            if isinstance(step, Split):
                cuts.append(list(step))
            else:
                tree = step.search.tree.tolist()
                cuts.append([_numerators(step.weights), step.counters.tolist(), tree])
        return {"counters": self.pool.tolist(), "boxes": cuts}

    @staticmethod
    def _parts(box: Box, responses: Ints, split: Split) -> list[Box]:
        """Both parts of a box: the middle of an edge replaces its first corner, or its second."""
        parts = []
        for corner in (split.first, split.second):
            corners = list(box.corners)
            row = corners[split.row].copy()
            row[corner] = (row[split.first] + row[split.second]) / 2.0
            corners[split.row] = row
            parts.append(Box(corners, responses))
        return parts

    def _leaf_or_cut(self, box: Box) -> tuple[Split | Leaf | None, Ints]:
        """Find counters that beat the whole box, or where to cut it, by a double oracle.

        1. Solve the matrix game of the responses of corners so far against the pool of counters.
        2. If the counters win it by the target, prove that their mixture beats the box; a response
           that does better joins the others.
        3. Else search for counters to the responses' mixture and to its mean, to join the pool.
        4. Where none is better than the pool, the responses' mixture is not beaten: cut the box.

        Also gives the responses (n, R) that matter. None if a policy of the box seems to be less
        exploitable than the target, if no proof is found, or if the time is over.
        """
        responses = box.responses
        rates = self._win_rates(box, responses, self.pool)
        while self.deadline.left:
            value, response_weights, counter_weights = matrix_game(rates)
            if value <= 0.5 - self.target:
                leaf = self._leaf(box, responses, counter_weights)
                if leaf.search.status != Status.FOUND:
                    return leaf if leaf.search.status == Status.CLOSED else None, responses
                better = leaf.search.response[None]
                responses = np.concatenate([responses, better])
                rates = np.concatenate([rates, self._win_rates(box, better, self.pool)])
                continue
            used = np.flatnonzero(response_weights > SUPPORT)
            shares = response_weights[used] / response_weights[used].sum()
            drawn = responses[used]
            policies = np.stack([box.policy(response) for response in drawn])
            mean_policy = np.tensordot(shares, policies, 1)
            to_policy = self.game.against_policy(mean_policy)
            to_mean, rate = to_policy.ascend(self.pool[-STARTS:], self.deadline)
            if rate < 0.5 + self.target:
                self.policy = mean_policy
                return None, responses
            to_policies = self.game.graph.against(shares, policies)
            starts = [*self.pool[-STARTS:], to_mean]
            to_mixture, rate = to_policies.ascend(starts, self.deadline)
            counters = np.unique([to_mean, to_mixture], axis=0)
            new = counters[[not contains(self.pool, counter) for counter in counters]]
            if rate <= 1.0 - value + NO_GAIN or not len(new):
                beaters = np.flatnonzero(counter_weights > SUPPORT)
                counters = np.concatenate([self.pool[beaters], [to_mean, to_mixture]])
                weights = np.append(counter_weights[beaters], [0.5, 0.5])
                return self._cut(box, drawn, shares, counters, weights), drawn
            self.pool = np.concatenate([self.pool, new])
            rates = np.concatenate([rates, self._win_rates(box, responses, new)], axis=1)
        return None, responses

    def _win_rates(self, box: Box, responses: Ints, counters: Ints) -> Floats:
        """Win rate of each response of corners (n, R) against each counter (m, R), (n, m)."""
        problem = self.game.against(counters, corners=box.corners)
        return np.stack([problem.values(response) for response in responses])

    def _leaf(self, box: Box, responses: Ints, weights: Floats) -> Leaf:
        """Try to prove that a mixture of counters beats the whole box by half of the target."""
        counters = np.flatnonzero(weights > SUPPORT)
        shares = dyadic_weights(weights[counters])
        problem = self.game.folded(shares, self.pool[counters], box.corners, self.deadline)
        if problem is None:
            return Leaf(shares, counters, ResponseSearch.not_begun())
        target = 0.5 - self.target / 2.0
        return Leaf(shares, counters, problem.respond(responses, target, deadline=self.deadline))

    def _cut(
        self, box: Box, responses: Ints, shares: Floats, counters: Ints, weights: Floats
    ) -> Split | None:
        """Cut the row to which it matters most which response was drawn; None if it does to none.

        That is the covariance of what a row plays with its gradient, summed over counters (m, R).
        """
        covariance = np.zeros(self.game.rows)
        for counter, weight in zip(counters, weights, strict=True):
            problem = self.game.against(counter[None], corners=box.corners)
            gradients = np.stack([problem.gradient(response)[1] for response in responses])
            played = problem.corners.first[:-1] + responses  # columns of the gradients, (n, R)
            mean_gradient = shares @ gradients
            own_gradient = np.take_along_axis(gradients, played, axis=1)
            covariance += weight * np.abs(shares @ (own_gradient - mean_gradient[played]))
        row = int(covariance.argmax())
        if covariance[row] <= NO_COVARIANCE:
            return None
        corner_shares = np.bincount(responses[:, row], shares, len(box.corners[row]))
        first, second = sorted(np.argsort(-corner_shares)[:2].tolist())
        return Split(row, first, second)


def _numerators(shares: Floats) -> list[int]:
    """Numerators of dyadic weights, in units of 2**-40."""
    return [int(numerator) for numerator in shares * 2.0**40]
