"""Least exploitability of policies, by boxes and mixtures of counters that beat them."""

from typing import Any, Final, NamedTuple

import numpy as np

from hogeq.search.branching import Closing, Status
from hogeq.solvers.responses import SUPPORT, matrix_game
from hogeq.solvers.symmetric import SymmetricGame, dyadic
from hogeq.support.aliases import Floats, Ints
from hogeq.support.deadline import Deadline

MOST_CUTS: Final = 2_000  # of boxes


class Box(NamedTuple):
    """Policies whose rows lie between corners, and where they came from."""

    corners: list[Floats]  # of each row, (n, K)
    responses: Ints  # (n, R), corners that mattered for the box before

    def policy(self, response: Ints) -> Floats:
        """Policy (R, K) of corners (R,)."""
        return np.stack([row[at] for row, at in zip(self.corners, response, strict=True)])


class Leaf(NamedTuple):
    """Counters that beat every policy of a box, with proof."""

    weights: Floats  # (n,)
    counters: Ints  # (n,), in the pool
    closing: Closing


class Split(NamedTuple):
    """A box is cut at the middle of an edge of a row: the first part keeps the second corner."""

    row: int
    first: int
    second: int


class Enclosure:
    """Least exploitability of the policies of a box, from below by a proof, from above by one."""

    def __init__(self, game: SymmetricGame, pool: Ints, target: float, deadline: Deadline) -> None:
        self.game, self.pool, self.target, self.deadline = game, pool, target, deadline
        self.steps = list[Split | Leaf]()
        self.policy: Floats | None = None
        """One (R, K) whose exploitability seems to be below the target, if such was met."""

    def run(self, corners: list[Floats], responses: Ints) -> bool:
        """Prove that no policy has less exploitability than the target; False if that fails."""
        stack = [Box(corners, responses)]
        while stack:
            box = stack.pop()
            step, found = self.close(box)
            if step is None or len(self.steps) > MOST_CUTS:
                return False
            self.steps.append(step)
            if isinstance(step, Split):
                stack += [self.part(box, found, step, at) for at in (1, 0)]
        return True

    def proof(self) -> dict[str, Any]:
        """Write the cuts in the order of a walk, and the counters of each leaf with their proof."""
        cuts: list[Any] = []
        for step in self.steps:
            if isinstance(step, Split):
                cuts.append(list(step))
            else:
                tree = step.closing.questions.tolist()
                cuts.append([whole(step.weights), step.counters.tolist(), tree])
        return {"counters": self.pool.tolist(), "boxes": cuts}

    @staticmethod
    def part(box: Box, responses: Ints, split: Split, at: int) -> Box:
        """Replace the first corner of an edge by its middle, or the second."""
        corners = list(box.corners)
        row = corners[split.row].copy()
        row[(split.first, split.second)[at]] = (row[split.first] + row[split.second]) / 2.0
        corners[split.row] = row
        return Box(corners, responses)

    def close(self, box: Box) -> tuple[Split | Leaf | None, Ints]:
        """Find counters that beat the whole box, or where to cut it; and responses that matter."""
        responses, rates = box.responses, self.rates(box, box.responses, self.pool)
        while self.deadline.left:
            value, mixed, weights = matrix_game(rates)
            if value <= 0.5 - self.target:
                leaf = self.leaf(box, responses, weights)
                if leaf.closing.status != Status.FOUND:
                    return leaf if leaf.closing.status == Status.CLOSED else None, responses
                response = leaf.closing.response[None]
                responses = np.concatenate([responses, response])
                rates = np.concatenate([rates, self.rates(box, response, self.pool)])
                continue
            used = np.flatnonzero(mixed > SUPPORT)
            shares, drawn = mixed[used] / mixed[used].sum(), responses[used]
            policies = np.stack([box.policy(response) for response in drawn])
            mean = np.tensordot(shares, policies, 1)
            one, rate = self.game.alone(mean).ascend(self.pool[-3:])
            if rate < 0.5 + self.target:
                self.policy = mean
                return None, responses
            mixture = self.game.graph.against(shares, policies)
            two, rate = mixture.ascend([*self.pool[-3:], one])
            new = np.unique([one, two], axis=0)
            new = new[[not (self.pool == counter).all(axis=1).any() for counter in new]]
            if rate <= 1.0 - value + 1e-9 or not len(new):
                beaters = np.flatnonzero(weights > SUPPORT)
                counters = np.concatenate([self.pool[beaters], [one, two]])
                weights = np.append(weights[beaters], [0.5, 0.5])
                return self.split(box, drawn, shares, counters, weights), drawn
            self.pool = np.concatenate([self.pool, new])
            rates = np.concatenate([rates, self.rates(box, responses, new)], axis=1)
        return None, responses

    def rates(self, box: Box, responses: Ints, counters: Ints) -> Floats:
        """Win rate of each response of corners (n, R) against each counter (m, R), (n, m)."""
        problem = self.game.against(counters, corners=box.corners)
        return np.stack([problem.values(response) for response in responses])

    def leaf(self, box: Box, responses: Ints, weights: Floats) -> Leaf:
        """Try to prove that a mixture of counters beats the whole box by half of the target."""
        counters = np.flatnonzero(weights > SUPPORT)
        shares = dyadic(weights[counters])
        problem = self.game.folded(shares, self.pool[counters], box.corners)
        target = 0.5 - self.target / 2.0
        return Leaf(shares, counters, problem.respond(responses, target, deadline=self.deadline))

    def split(
        self, box: Box, responses: Ints, shares: Floats, counters: Ints, weights: Floats
    ) -> Split | None:
        """Cut the row to which it matters most which response was drawn.

        It is the covariance of what a row plays with its gradient, summed over some counters.
        """
        covariance = np.zeros(self.game.rows)
        for counter, weight in zip(counters, weights, strict=True):
            problem = self.game.against(counter[None], corners=box.corners)
            gains = np.stack([problem.gradient(response)[1] for response in responses])
            plays = problem.corners.first[:-1] + responses
            own, mean = np.take_along_axis(gains, plays, axis=1), shares @ gains
            covariance += weight * np.abs(shares @ (own - mean[plays]))
        row = int(covariance.argmax())
        if covariance[row] <= 1e-13:
            return None
        share = np.bincount(responses[:, row], shares, len(box.corners[row]))
        return Split(row, *sorted(np.argsort(-share)[:2].tolist()))


def whole(shares: Floats) -> list[int]:
    """Write dyadic weights as whole numbers of 2**-40."""
    return [int(one) for one in shares * 2.0**40]
