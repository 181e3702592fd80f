"""Actions that no best response to an equilibrium mixture takes, with proof."""

from typing import Final, NamedTuple

import numpy as np

from hogeq.search.branching import MOST_QUESTIONS, Closing, Responses, Status
from hogeq.solvers.symmetric import TIE, SymmetricGame
from hogeq.support.aliases import Floats, Ints
from hogeq.support.deadline import Deadline

SMALLEST: Final = 1e-9  # an action that loses less is kept
FIRST: Final = 64  # relaxations of the first attempts
FAILURES: Final = 3  # attempts in a row that are left open before they may take more


class Removed(NamedTuple):
    """Proof that best responses take neither this action nor one that was removed before it."""

    row: int
    action: int
    closing: Closing


class Removal:
    """Remove one action after the other; each is proved of responses that take none before it.

    So every proof helps those that follow. Attempts begin with few relaxations and the actions of
    lowest bound. At the end all that is left is proved to win no more than 1/2.
    """

    def __init__(
        self, game: SymmetricGame, weights: Floats, matrices: Ints, deadline: Deadline
    ) -> None:
        self.game, self.matrices, self.deadline = game, matrices, deadline
        self.folded = game.folded(weights, matrices)
        self.kept, self.removed = game.graph.legal.copy(), list[Removed]()
        self.problem = self.left()
        self.closing: Closing | None = None
        """That responses of actions kept win no more than 1/2."""
        self.better: Ints | None = None
        """A matrix (R,) that wins more against the mixture, so that it is no equilibrium."""

    @property
    def corners(self) -> list[Floats]:
        """Actions kept, (n, K) for each row."""
        return [self.game.eye[kept] for kept in self.kept]

    def places(self, matrices: Ints) -> Ints:
        """Corners of matrices (..., R), numbered within each row."""
        return (self.kept.cumsum(axis=1) - 1)[np.arange(self.game.rows), matrices]

    def left(self) -> Responses:
        """Pose the problem of a response of the actions kept."""
        return self.folded.solitary(self.corners)

    def run(self, share: float) -> None:
        """Remove what can be in a share of the time left, and close what is left in all of it."""
        rates, most, deadline = self.rates(), FIRST, self.deadline.share(share)
        while rates and self.better is None and deadline.left:
            if not self.attempt(rates, most, deadline):
                most *= 4
        if self.better is not None:
            return
        closing = self.problem.close(0.5 + TIE, None, MOST_QUESTIONS, self.deadline)
        if closing.status == Status.FOUND:
            self.found(self.problem.improve(closing.response)[0])
        elif closing.status == Status.CLOSED:
            self.closing = closing

    def found(self, response: Ints) -> None:
        """Keep a response that beats the mixture."""
        places = response - self.problem.corners.first[:-1]
        self.better = np.array(
            [np.flatnonzero(kept)[at] for kept, at in zip(self.kept, places, strict=True)]
        )

    def fixed(self, row: int, action: int) -> Ints:
        """Set a row to an action, (R,)."""
        found = self.problem.free
        found[row] = self.problem.corners.first[row] + self.kept[row, :action].sum()
        return found

    def rates(self) -> dict[tuple[int, int], float]:
        """Rows and actions that no response known takes, and what the best one that does wins."""
        problem, rates = self.problem, dict[tuple[int, int], float]()
        starts = [problem.corners.first[:-1] + one for one in self.places(self.matrices)]
        starts.append(problem.settled(problem.free))
        taken = np.zeros_like(self.kept)
        for matrix in self.matrices:
            taken[np.arange(self.game.rows), matrix] = True
        for row, action in zip(*np.nonzero(self.kept & ~taken), strict=True):
            fixed, rate = self.fixed(row, action), 0.0
            for one in starts:
                start = np.where(np.arange(len(one)) == row, fixed, one)
                rate = max(rate, problem.improve(start, fixed)[1])
                if rate > 0.5 - SMALLEST:
                    break
            else:
                rates[int(row), int(action)] = rate
        return rates

    def attempt(self, rates: dict[tuple[int, int], float], most: int, deadline: Deadline) -> bool:
        """Try to remove actions by so many relaxations each; False if none was."""
        failures, before = 0, len(rates)
        for row, action in sorted(rates, key=lambda one: self.problem.value(self.fixed(*one))):
            fixed, rate = self.fixed(row, action), rates[row, action]
            closing = self.problem.close((0.5 + rate) / 2.0, fixed, most, deadline)
            while closing.status == Status.FOUND:
                response, rate = self.problem.improve(closing.response, fixed)
                rates[row, action] = rate
                if rate > 0.5 + TIE:
                    self.found(response)
                    return True
                if rate > 0.5 - SMALLEST:
                    break
                closing = self.problem.close((0.5 + rate) / 2.0, fixed, most, deadline)
            if closing.status == Status.OPEN:
                failures += 1
                if failures == FAILURES or not deadline.left:
                    break
                continue
            failures = 0
            del rates[row, action]
            if closing.status == Status.CLOSED:
                self.removed.append(Removed(row, action, closing))
                self.kept[row, action] = False
                self.problem = self.left()
        return len(rates) < before
