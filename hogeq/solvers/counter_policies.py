"""Mixtures of few policies as counters to a box of policies.

A mixture of few policies may win as much as one of many matrices. Full memory learns less from the
play of few, so that a proof takes fewer relaxations.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from hogeq.search.matrix_games import drop_negligible, matrix_game
from hogeq.solvers.descent import linearise, maximise_least_rate
from hogeq.solvers.symmetric import SymmetricGame, dyadic_weights
from hogeq.support.aliases import Floats, Ints
from hogeq.support.deadline import Deadline

MOST_POLICIES: Final = 6  # policies in a mixture
PROBABILITY_UNIT: Final = 2.0**-10  # probabilities of the policies are its multiples
NUM_STARTS: Final = 4  # responses, the best, from which a search for a better one ascends
MODELLED_GAP: Final = 0.03  # responses are modelled that win at most so much less than the best
LEAST_GAIN: Final = 1e-6  # of a step that counts, and of a response that does
FIRST_RADIUS, LAST_RADIUS = 0.2, 1e-3  # trust regions with which a search begins and ends


class CounterMixture(NamedTuple):
    """A mixture of counter-policies."""

    weights: Floats  # (k,), dyadic
    policies: Floats  # (k, R, K), dyadic


class CounterPolicies:
    """A search for few policies whose mixture wins much against all responses of a box.

    `corners` (n, K) of each row are those of the box, and `responses` (n, R), of corners, are those
    that the search knows at first.
    """

    def __init__(
        self, game: SymmetricGame, corners: Sequence[Floats], responses: Ints, deadline: Deadline
    ) -> None:
        self.game = game
        self.corners = corners
        self.responses = responses
        self.deadline = deadline

    def search(self, weights: Floats, matrices: Ints) -> CounterMixture:
        """Improve the heaviest components of a mixture of matrices (n, R), all at once.

        1. Linearise the win rate of each policy against each response that wins nearly most.
        2. Move the policies within a trust region to where the least win rate of their mixture, as
           modelled, is largest.
        3. Find the best weights of the policies there. If they win more than the old ones, take
           these policies and widen the region; else narrow the region.
        """
        heaviest = np.argsort(-weights, kind="stable")[:MOST_POLICIES]
        policies = self.game.policy(matrices[heaviest])
        rate, weights = self.optimise_weights(policies)
        radius = FIRST_RADIUS
        models = list[tuple[float, Floats]]()  # of the policies, for each response
        while radius > LAST_RADIUS and self.deadline.left:
            is_used = weights > 0.0
            weights = weights[is_used]
            policies = policies[is_used]
            models = models or self.linearise_mixture(weights, policies)
            rows = maximise_least_rate(models, policies.reshape(-1, self.game.actions), radius)
            new_policies = rows.reshape(policies.shape)
            new_rate, new_weights = self.optimise_weights(new_policies, rate + LEAST_GAIN)
            if new_rate > rate + LEAST_GAIN:
                rate, weights, policies = new_rate, new_weights, new_policies
                radius = min(0.5, 2.0 * radius)
                models = []
            else:
                radius /= 3.0
        policies = dyadic_policies(policies)
        rate, weights = self.optimise_weights(policies)
        is_used = weights > 0.0
        return CounterMixture(dyadic_weights(weights[is_used]), policies[is_used])

    def optimise_weights(self, policies: Floats, floor: float = 0.0) -> tuple[float, Floats]:
        """Most that a mixture of policies (k, R, K) wins against all responses; its weights (k,).

        Better responses, found by ascent, join the others, until the win rate is at most `floor`.
        """
        rates = self.win_rates(policies, self.responses)
        while True:
            response_rate, _, weights = matrix_game(rates)
            weights = drop_negligible(weights)
            if 1.0 - response_rate <= floor:
                return 1.0 - response_rate, weights
            is_used = weights > 0.0
            problem = self.game.graph.against(weights[is_used], policies[is_used], self.corners)
            best_known = np.argsort(-(rates @ weights), kind="stable")[:NUM_STARTS]
            target = response_rate + LEAST_GAIN
            starts = self.responses[best_known]
            response, found_rate = problem.ascend_and_escape(starts, target, self.deadline)
            if found_rate <= target:
                return 1.0 - response_rate, weights
            self.responses = np.concatenate([self.responses, response[None]])
            rates = np.concatenate([rates, self.win_rates(policies, response[None])])

    def win_rates(self, policies: Floats, responses: Ints) -> Floats:
        """Win rate of each response (n, R) against each policy (k, R, K), (n, k)."""
        count = len(policies)
        problem = self.game.graph.against(np.full(count, 1.0 / count), policies, self.corners)
        return np.stack([problem.values(response) for response in responses])

    def linearise_mixture(self, weights: Floats, policies: Floats) -> list[tuple[float, Floats]]:
        """Linearise the mixture's win rate against each response that wins nearly most.

        A model is the win rate, and its gradient (k * R * K,) by the probabilities of the policies.
        """
        rates = self.win_rates(policies, self.responses) @ weights
        near = self.responses[rates > rates.max() - MODELLED_GAP]
        models = []
        for response in near:
            opponent = policy_of_response(self.corners, response)
            of_policies = [linearise(self.game, policy, opponent) for policy in policies]
            rate = sum(w * rate for w, (rate, _) in zip(weights, of_policies, strict=True))
            gradients = [w * g for w, (_, g) in zip(weights, of_policies, strict=True)]
            models.append((float(rate), np.concatenate(gradients)))
        return models


def policy_of_response(corners: Sequence[Floats], response: Ints) -> Floats:
    """Policy (R, K) of a response (R,), which takes one of the `corners` (n, K) of each row."""
    chosen = zip(corners, response, strict=True)
    return np.stack([row_corners[corner] for row_corners, corner in chosen])


def dyadic_policies(policies: Floats) -> Floats:
    """Round policies (..., K) to multiples of `PROBABILITY_UNIT` that sum to 1 in each row."""
    numerators = np.round(policies / PROBABILITY_UNIT)
    likeliest = numerators.argmax(axis=-1)[..., None]
    missing = 1.0 / PROBABILITY_UNIT - numerators.sum(axis=-1, keepdims=True)
    largest = np.take_along_axis(numerators, likeliest, axis=-1)
    np.put_along_axis(numerators, likeliest, largest + missing, axis=-1)
    return np.asarray(numerators * PROBABILITY_UNIT)
