"""Least exploitability of policies, by boxes and mixtures of counters that beat them."""

from typing import Any, Final, NamedTuple

import numpy as np

from hogeq.search.branching import Closing, Responses, Status
from hogeq.solvers.responses import SUPPORT
from hogeq.solvers.symmetric import SymmetricGame, dyadic
from hogeq.support.aliases import Floats, Ints
from hogeq.support.deadline import Deadline

MOST_CUTS: Final = 2_000  # of boxes


class Box(NamedTuple):
    """Policies whose rows lie between corners, and where they came from."""

    corners: list[Floats]  # of each row, (n, K)
    responses: Ints  # (n, R), corners that mattered for the box before


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
        """Find counters that beat the whole box; or where to cut it."""
        game = self.game
        responses = box.responses
        first = np.concatenate([[0], np.cumsum([len(one) for one in box.corners])])
        rates = np.zeros((len(responses), 0))
        problem: Responses | None = None
        while self.deadline.left:
            if problem is None:
                count = len(self.pool)
                problem = game.against(
                    np.full(count, 1.0 / count), game.policy(self.pool), box.corners
                )
                rates = np.stack([problem.values(first[:-1] + one) for one in responses])
            value, weights, mixed = matrix_game(rates)
            if value > 0.5 - self.target:  # the mixture of responses is not beaten enough
                used = np.flatnonzero(mixed > SUPPORT)
                policies = np.stack(
                    [
                        np.stack([box.corners[row][at] for row, at in enumerate(responses[one])])
                        for one in used
                    ]
                )
                shares = mixed[used] / mixed[used].sum()
                mean = np.tensordot(shares, policies, 1)
                new = list[Ints]()
                counter, rate = game.best(game.alone(mean), self.pool[-3:])
                if rate < 0.5 + self.target:
                    self.policy = mean
                    return None, responses
                new.append(counter)
                counter, rate = game.best(
                    game.against(shares, policies), np.concatenate([self.pool[-3:], counter[None]])
                )
                new.append(counter)
                fresh = [one for one in new if not (self.pool == one).all(axis=1).any()]
                if rate <= 1.0 - value + 1e-9 or not fresh:
                    beaters = np.flatnonzero(weights > SUPPORT)
                    against = np.concatenate([self.pool[beaters], np.stack(new)])
                    spread = self.spread(
                        box,
                        responses[used],
                        shares,
                        against,
                        np.concatenate([weights[beaters], np.full(2, 0.5)]),
                    )
                    row = int(np.argmax(spread))
                    if spread[row] <= 1e-13:
                        return None, responses
                    ends = box.corners[row]
                    share = np.bincount(responses[used, row], shares, len(ends))
                    one, two = np.argsort(-share)[:2].tolist()
                    return Split(row, min(one, two), max(one, two)), responses[used]
                self.pool = np.concatenate([self.pool, *(one[None] for one in fresh[:2])])
                problem = None
                continue
            used = np.flatnonzero(weights > SUPPORT)
            shares = dyadic(weights[used])
            relaxed = game.folded(shares, self.pool[used]).solitary(box.corners)
            begin = np.concatenate([relaxed.settled(relaxed.free)[None] - first[:-1], responses])
            found, rate = max(
                (relaxed.improve(first[:-1] + one) for one in begin), key=lambda x: x[1]
            )
            if rate <= 0.5 - self.target / 2.0:
                closing = relaxed.close(0.5 - self.target / 2.0, deadline=self.deadline)
                if closing.status == Status.CLOSED:
                    return Leaf(shares, used, closing), responses
                if closing.status == Status.OPEN:
                    return None, responses
                found, _ = relaxed.improve(closing.response)
            responses = np.concatenate([responses, (found - first[:-1])[None]])
            rates = np.concatenate([rates, problem.values(found)[None]])
        return None, responses

    def spread(
        self, box: Box, responses: Ints, shares: Floats, counters: Ints, weights: Floats
    ) -> Floats:
        """How much it matters to each row, (R,), that it knows which response was drawn.

        It is the covariance of what a row plays with its gradient, summed over some counters.
        """
        first = np.concatenate([[0], np.cumsum([len(one) for one in box.corners])])
        plays, found = first[:-1] + responses, np.zeros(self.game.rows)
        for counter, weight in zip(counters, weights, strict=True):
            problem = self.game.against(np.ones(1), self.game.policy(counter[None]), box.corners)
            gains = np.stack([problem.gradient(one)[1] for one in plays])
            own = np.take_along_axis(gains, plays, axis=1)
            mean = shares @ gains
            found += weight * np.abs(shares @ (own - mean[plays]))
        return found


def matrix_game(rates: Floats) -> tuple[float, Floats, Floats]:
    """Value to the rows of a matrix game, weights of columns and of rows."""
    from scipy.optimize import linprog

    rows, columns = rates.shape
    # The columns minimise the most that a row wins.
    result = linprog(
        np.append(np.zeros(columns), 1.0),
        A_ub=np.column_stack([rates, -np.ones(rows)]),
        b_ub=np.zeros(rows),
        A_eq=np.append(np.ones(columns), 0.0)[None],
        b_eq=[1.0],
        bounds=[*[(0.0, None)] * columns, (None, None)],
        method="highs",
    )
    if not result.success:
        raise RuntimeError(f"matrix game: {result.message}")
    weights = np.maximum(result.x[:columns], 0.0)
    mixed = np.maximum(-result.ineqlin.marginals, 0.0)
    return float(result.x[-1]), weights / weights.sum(), mixed / mixed.sum()


def whole(shares: Floats) -> list[int]:
    """Write dyadic weights as whole numbers of 2**-40."""
    return [int(one) for one in shares * 2.0**40]
