"""Lower bounds on the exploitability of all policies: boxes, each beaten by a mixture of counters.

``docs/existence.md``, "Boxes", has the theorem and its proof.
"""

from typing import Any, Final, NamedTuple

import numpy as np

from hogeq.search.branching import ResponseSearch, Status
from hogeq.search.matrix_games import NEGLIGIBLE_WEIGHT, contains, matrix_game
from hogeq.solvers.counter_policies import (
    LEAST_GAIN,
    MOST_POLICIES,
    PROBABILITY_UNIT,
    CounterMixture,
    CounterPolicies,
    policy_of_response,
)
from hogeq.solvers.symmetric import SymmetricGame, dyadic_weights
from hogeq.support.aliases import Floats, Ints
from hogeq.support.deadline import Deadline

MOST_CUTS: Final = 2_000  # of boxes, after which the proof is given up
MOST_RELAXATIONS: Final = 100_000  # of the proof of a leaf, after which its box is cut
FEW_RELAXATIONS: Final = 2_000  # of a proof with many matrices, before few policies are tried
NUM_STARTS: Final = 3  # latest counters of the pool, from which a search for a response ascends
NEGLIGIBLE_GAIN: Final = 1e-9  # a counter is better only if it wins more than this above the pool
NEGLIGIBLE_COVARIANCE: Final = 1e-13  # size that rounding alone may give a covariance


class Box(NamedTuple):
    """A set of policies: each row is a mixture of its corners, distributions over the K actions.

    A response (R,) takes one corner for each row.
    """

    corners: list[Floats]  # of each row, (n, K)
    responses: Ints  # (n, R), responses that mattered for the box that this one was cut from

    def policy(self, response: Ints) -> Floats:
        """Policy (R, K) of a response of corners (R,)."""
        return policy_of_response(self.corners, response)


class Leaf(NamedTuple):
    """A mixture of counters that beats every policy of a box, with proof."""

    counters: CounterMixture
    search: ResponseSearch


class Split(NamedTuple):
    """A cut of a box at the middle of an edge: it replaces either corner in one of two parts."""

    row: int
    first: int  # corner that the middle replaces in the first part
    second: int  # likewise in the second part


class BoxProof:
    """Proof that all policies of a box have at least some exploitability, `proved`.

    Either a mixture of counters beats all policies of the box (a leaf), or the box is cut in two,
    at the row that matters most, and both parts are enclosed. Cost: a double oracle in each box.
    """

    def __init__(
        self, game: SymmetricGame, pool: Ints, target: float, proved: float, deadline: Deadline
    ) -> None:
        """Begin a proof with a pool of counter-matrices; it is given up at the deadline."""
        self.game = game
        self.pool = pool  # (m, R), counters, to which more are added
        self.target = target  # win rate beyond 1/2 of a leaf's counters against known responses
        self.proved = proved  # and against all responses, less than the target
        self.deadline = deadline
        self.steps = list[Split | Leaf]()
        self.policy: Floats | None = None
        """(R, K), a policy whose exploitability seems to be below the target; None if none is."""

    def prove(self, corners: list[Floats], responses: Ints) -> bool:
        """Prove that no policy of a box has less exploitability than `proved`.

        A box is a set of policies: each row (information set) mixes some distributions over
        actions, its corners. A leaf is a box that one mixture of counters beats. The box has
        `corners` (n, K) of each row; `responses` (n, R) to begin with take one corner in each row.
        Boxes are cut depth first, and `steps` lists the cuts and leaves. False on failure.
        """
        stack = [Box(corners, responses)]
        while stack:
            box = stack.pop()
            step, responses = self._find_leaf_or_cut(box)
            if step is None or len(self.steps) > MOST_CUTS:
                return False
            self.steps.append(step)
            if isinstance(step, Split):
                first, second = self._halves(box, responses, step)
                stack += [second, first]  # the first is the next to be taken
        return True

    def proof(self) -> dict[str, Any]:
        """Give the proof as plain values: all counters, and the boxes depth first.

        A counter is a matrix (R,), or a policy (R, K) in units of 2**-10. A cut is its row and both
        corners. A leaf is the weights of a mixture, in units of 2**-40, the numbers of its
        counters, and the tree of a branch and bound that it beats the box.
        """
        counters: list[Any] = []
        boxes: list[Any] = []
        for step in self.steps:
            if isinstance(step, Split):
                boxes.append(list(step))
                continue
            members = []
            for policy in step.counters.policies:
                is_pure = bool((policy.max(axis=-1) == 1.0).all())
                counter = policy.argmax(axis=-1) if is_pure else np.int64(policy / PROBABILITY_UNIT)
                if counter.tolist() not in counters:
                    counters.append(counter.tolist())
                members.append(counters.index(counter.tolist()))
            tree = step.search.tree.tolist()
            boxes.append([_numerators(step.counters.weights), members, tree])
        return {"counters": counters, "boxes": boxes}

    @staticmethod
    def _halves(box: Box, responses: Ints, split: Split) -> list[Box]:
        """Both parts of a box: the middle of an edge replaces its first corner, or its second.

        A box has, for each row (information set), corners: distributions that the row may mix.
        """
        parts = []
        for corner in (split.first, split.second):
            corners = list(box.corners)
            row = corners[split.row].copy()
            row[corner] = (row[split.first] + row[split.second]) / 2.0
            corners[split.row] = row
            parts.append(Box(corners, responses))
        return parts

    def _find_leaf_or_cut(self, box: Box) -> tuple[Split | Leaf | None, Ints]:
        """Find counters that beat the whole box, or where to cut it, by a double oracle.

        A box is a set of policies: each row (information set) mixes some corners, distributions.
        The players choose a response, a policy of corners in the box, and a counter-matrix.

        1. Solve the matrix game of the responses so far against the pool of counters.
        2. If the counters win it by the target, prove that their mixture beats the box; a response
           that does better joins the others.
        3. Else search for counters to the responses' mixture and to its mean, to join the pool.
        4. If none is better than the pool, the responses' mixture is not beaten: cut the box.

        Also returns the responses (n, R) with which the parts of the box begin. None in place of a
        leaf or cut if a policy of the box seems to be less exploitable than the target, if no proof
        is found, or if the time is over.
        """
        responses = box.responses
        rates = self._win_rates(box, responses, self.pool)  # (n, m), of responses
        while self.deadline.left:
            value, response_weights, counter_weights = matrix_game(rates)
            is_open = False
            if value <= 0.5 - self.target:
                leaf = self._try_leaf(box, responses, counter_weights)
                if leaf.search.status == Status.CLOSED:
                    return leaf, responses
                if leaf.search.status == Status.FOUND:
                    better_response = leaf.search.response[None]
                    responses = np.concatenate([responses, better_response])
                    new_rates = self._win_rates(box, better_response, self.pool)
                    rates = np.concatenate([rates, new_rates])
                    continue
                is_open = True
            support = np.flatnonzero(response_weights > NEGLIGIBLE_WEIGHT)
            weights = response_weights[support] / response_weights[support].sum()
            components = responses[support]
            found = self._search_counters(box, components, weights)
            if found is None:
                return None, responses
            counters, rate = found
            distinct = np.unique(counters, axis=0)
            new_counters = distinct[[not contains(self.pool, counter) for counter in distinct]]
            if is_open or rate <= 1.0 - value + NEGLIGIBLE_GAIN or not len(new_counters):
                used = np.flatnonzero(counter_weights > NEGLIGIBLE_WEIGHT)
                all_counters = np.concatenate([self.pool[used], counters])
                all_weights = np.append(counter_weights[used], [0.5, 0.5])
                cut = self._choose_cut(box, components, weights, all_counters, all_weights)
                return cut, components
            self.pool = np.concatenate([self.pool, new_counters])
            new_rates = self._win_rates(box, responses, new_counters)
            rates = np.concatenate([rates, new_rates], axis=1)
        return None, responses

    def _search_counters(
        self, box: Box, responses: Ints, weights: Floats
    ) -> tuple[Ints, float] | None:
        """Search for counters to a mixture of responses of a box, and to its mean policy.

        Returns the counter-matrices, (2, R), to the mean first, and the win rate of the second
        against the mixture. None if the mean policy, which then becomes `policy`, seems to be less
        exploitable than the target.
        """
        policies = np.stack([box.policy(response) for response in responses])
        mean_policy = np.tensordot(weights, policies, 1)
        latest_counters = self.pool[-NUM_STARTS:]
        against_mean = self.game.against_policy(mean_policy)
        to_mean, rate_to_mean = against_mean.ascend(latest_counters, self.deadline)
        if rate_to_mean < 0.5 + self.target:
            self.policy = mean_policy
            return None
        against_mixture = self.game.graph.against(weights, policies)
        to_mixture, rate = against_mixture.ascend([*latest_counters, to_mean], self.deadline)
        return np.stack([to_mean, to_mixture]), rate

    def _win_rates(self, box: Box, responses: Ints, counters: Ints) -> Floats:
        """Win rates, (n, m), of policies of corners (n, R) of a box against counters (m, R)."""
        problem = self.game.against(counters, corners=box.corners)
        return np.stack([problem.values(response) for response in responses])

    def _try_leaf(self, box: Box, responses: Ints, weights: Floats) -> Leaf:
        """Try to prove that a mixture of counters beats all of a box's policies by `proved`.

        `weights` (m,) are those of the pool's counters. The search in the leaf is for a response of
        the box that the mixture does not beat; it ascends from `responses` (n, R) first. If a short
        proof does not suffice for a mixture of many matrices, one of few policies replaces it.
        """
        used = np.flatnonzero(weights > NEGLIGIBLE_WEIGHT)
        weights = dyadic_weights(weights[used])
        matrices = self.pool[used]
        mixture = CounterMixture(weights, self.game.policy(matrices))
        problem = self.game.against(matrices, weights, box.corners)
        response, rate = problem.ascend_and_escape(responses, 0.5 - self.target, self.deadline)
        if rate > 0.5 - self.target + LEAST_GAIN:
            return Leaf(mixture, ResponseSearch.succeeded(response, rate))
        is_large = len(used) > MOST_POLICIES
        leaf = self._prove_leaf(box, mixture, FEW_RELAXATIONS if is_large else MOST_RELAXATIONS)
        if leaf.search.status != Status.OPEN or not is_large:
            return leaf
        few = CounterPolicies(self.game, box.corners, responses, self.deadline)
        few_counters = few.search(weights, matrices)
        rates = few.win_rates(few_counters.policies, few.responses) @ few_counters.weights
        is_enough = rates.max() <= 0.5 - 2.0 * self.proved
        return self._prove_leaf(box, few_counters if is_enough else mixture, MOST_RELAXATIONS)

    def _prove_leaf(self, box: Box, mixture: CounterMixture, most_relaxations: int) -> Leaf:
        """Prove that a mixture of counters beats a box by `proved`, in so many relaxations."""
        problem = self.game.pose_folded(*mixture, box.corners, self.deadline)
        if problem is None:
            return Leaf(mixture, ResponseSearch.not_begun())
        return Leaf(
            mixture, problem.branch_and_bound(0.5 - self.proved, most_relaxations, self.deadline)
        )

    def _choose_cut(
        self, box: Box, responses: Ints, weights: Floats, counters: Ints, counter_weights: Floats
    ) -> Split | None:
        """Choose where to cut a box: the row in which a mixture is most unlike its mean policy.

        A box is a set of policies: in each row (information set), the mixtures of some corners, or
        distributions over actions. It is cut at the middle between two corners of a row.

        The mixture draws one of the `responses` (n, R) by `weights` (n,). Its win rate differs from
        that of the mean policy by covariances of a row's corner with the corner's gradient: the cut
        is in the row of the largest, summed over `counters` (m, R) by `counter_weights`, and
        at the edge of most variance. None if all covariances are 0.
        """
        covariance = np.zeros(self.game.rows)
        for counter, weight in zip(counters, counter_weights, strict=True):
            problem = self.game.against(counter[None], corners=box.corners)
            gradients = np.stack([problem.gradient(response)[1] for response in responses])
            # Columns of the gradients, (n, R).
            corners = problem.corners.corner_offsets[:-1] + responses
            mean_gradient = weights @ gradients
            own_gradient = np.take_along_axis(gradients, corners, axis=1)
            covariance += weight * np.abs(weights @ (own_gradient - mean_gradient[corners]))
        row = int(covariance.argmax())
        if covariance[row] <= NEGLIGIBLE_COVARIANCE:
            return None
        corner_weights = np.zeros(len(box.corners[row]))
        np.add.at(corner_weights, responses[:, row], weights)
        return Split(row, *edge_of_most_variance(box.corners[row], corner_weights))


def edge_of_most_variance(corners: Floats, weights: Floats) -> tuple[int, int]:
    """Two corners (n, K) of a row, drawn by `weights` (n,): their edge adds most to the variance.

    The variance of the draw is a sum over all edges: of weight times weight times squared length.
    So the edge is not one between corners that cuts have made nearly equal.
    """
    squared_lengths = ((corners[:, None] - corners) ** 2).sum(axis=-1)
    variances = weights[:, None] * weights * squared_lengths
    first, second = np.unravel_index(variances.argmax(), variances.shape)
    return int(first), int(second)


def _numerators(weights: Floats) -> list[int]:
    """Numerators of dyadic weights, in units of 2**-40."""
    return [int(numerator) for numerator in weights * 2.0**40]
