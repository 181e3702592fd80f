"""Linear models of win rates against counters, the pool that has them, and searches that add to it.

A model is taken at a strategy: one policy, or n components of a mixture that may be drawn.
"""

from collections.abc import Sequence
from functools import partial
from hashlib import sha256
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.evaluation.counterfactual import counterfactual_values
from hogeq.model.protocol import Engine, WinRate
from hogeq.model.shared import quick_workspace, shared_workspace
from hogeq.search.counter_search import CounterSearch
from hogeq.search.population import Population
from hogeq.strategies.arrays import one_hot, zero_matrices
from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Floats, Matrix, Singles
from hogeq.support.workers import compute


class Cut(NamedTuple):
    """Model of a win rate: constants plus gradients times each of n components, of a policy one."""

    gradients: Singles  # (n, G * G, K), counterfactual values where it was taken
    constants: Floats  # (n,), what the gradients leave
    reach: Singles  # (n, G * G), reach probability of every cell there


class Counters(NamedTuple):
    """A pool of m counters, as the states of the bundle methods hold it."""

    pool: Matrix  # (m, G, G)
    gradients: Singles  # (m, n, G * G, K), of their cuts, as the next two
    constants: Floats  # (m, n)
    reach: Singles  # (m, n, G * G)
    weights: Floats  # (m,), weight of each in the last step
    used: NDArray[np.int64]  # (m,), iteration in which each last had weight

    @classmethod
    def none(cls, game: Engine, parts: int) -> "Counters":
        """Empty pool, for the models of so many components."""
        rows = int(np.prod(game.shape[:-1]))
        return cls(
            zero_matrices(0, game.shape),
            np.zeros((0, parts, rows, game.num_actions), np.float32),
            np.zeros((0, parts)),
            np.zeros((0, parts, rows), np.float32),
            np.zeros(0),
            np.zeros(0, np.int64),
        )

    def renewed(
        self,
        failed: NDArray[np.int64],
        new: Sequence[Matrix],
        cuts: Sequence[Cut],
        iteration: int,
        most: int,
    ) -> "Counters":
        """Take new cuts where old ones failed, and new counters, in place as far as arrays go."""
        # Once there are `most`, they take the places of those without weight for longest; a pool
        # that has more already keeps its size, and what is more than a pool's worth is left out.
        size = max(most, len(self.pool))
        new, cuts = new[:size], cuts[: len(failed) + size]
        excess = max(0, len(self.pool) + len(new) - size)
        self.used[failed] = iteration
        dropped = np.argsort(self.used, kind="stable")[:excess]
        if excess:
            self.pool[dropped] = new[:excess]
        self.weights[dropped], self.used[dropped] = 0.0, iteration
        for place, cut in zip([*failed, *dropped], cuts, strict=False):
            self.gradients[place], self.constants[place] = cut.gradients, cut.constants
            self.reach[place] = cut.reach
        more = cuts[len(failed) + excess :]
        if not more:
            return self
        return Counters(
            np.concatenate([self.pool, new[excess:]]),
            np.concatenate([self.gradients, *(cut.gradients[None] for cut in more)]),
            np.concatenate([self.constants, [cut.constants for cut in more]]),
            np.concatenate([self.reach, *(cut.reach[None] for cut in more)]),
            np.append(self.weights, np.zeros(len(more))),
            np.append(self.used, np.full(len(more), iteration)),
        )


def modelled(models: Counters, parts: Floats, counters: NDArray[np.int64] | None = None) -> Floats:
    """Modelled win rate of every component against some counters, by default all: (m, n)."""
    chosen = slice(None) if counters is None else counters
    rates = models.constants[chosen].copy()
    flat = parts.reshape(len(parts), -1).astype(np.float32)
    gradients = models.gradients.reshape(len(models.pool), *flat.shape)

    def add(part: int) -> None:
        rates[:, part] += gradients[chosen, part] @ flat[part]

    compute(add, range(len(parts)), local=True)
    return rates


def _rate(game: Engine, strategy: Strategy, counter: Matrix) -> float:
    """Win rate of a counter (G, G), against a mixture in the precision of searches."""
    if len(strategy.policies) == 1:
        return float(Population(game, [counter]).rates_against(strategy.policies[0])[0])
    policies = np.stack([one_hot(counter, game.num_actions), *strategy.policies])
    work = quick_workspace(game, len(policies))
    return work.win_rate(policies, weights=strategy.chances).win_rate


def cut(game: Engine, strategy: Strategy, counter: Matrix) -> Cut:
    """Models of the win rates of n components against a counter (G, G), taken there.

    That of a policy is exact; those of a mixture have the precision of searches.
    """
    parts = strategy.policies
    work = shared_workspace(game, 2, game.quick_dtype(len(parts)))
    opponent = one_hot(counter, game.num_actions)
    met = [counterfactual_values(work, np.stack([part, opponent])) for part in parts]
    won = np.array([WinRate.from_starts(*one.starts).win_rate for one in met])
    if len(parts) == 1:
        won = Population(game, [counter]).rates_of(parts[0])
    rows = len(parts), -1, game.num_actions
    gradients = np.array([one.values for one in met]).reshape(rows).astype(np.float32)
    there = np.einsum("nrk,nrk->n", gradients, parts.reshape(rows))
    reach = np.array([one.infoset_reach for one in met], np.float32).reshape(rows[:2])
    return Cut(gradients, won - there, reach)


class Check(NamedTuple):
    """A counter (G, G) whose model is checked, and taken anew if it misses by more than trusted."""

    counter: Matrix
    modelled: float
    trusted: float


class Searched(NamedTuple):
    """Results of searches and checks."""

    reached: list[Matrix]  # where the trails are now, each (G, G)
    errors: Floats  # by how much the model of each counter that was checked missed its win rate
    failed: NDArray[np.int64]  # which of them have new models
    responses: list[Matrix]  # counters (G, G) that the pool does not hold, each once
    cuts: list[Cut]  # models of the counters whose checks failed, then of the responses


def search(
    game: Engine,
    strategy: Strategy,
    starts: Sequence[CounterSearch],
    trails: Sequence[CounterSearch],
    pool: Matrix,
    checks: Sequence[Check],
) -> Searched:
    """Search from all starts, continue trails, model their results, and check known models."""
    # All at once, by any workers: the longest begin first, each models what it finds, and checks
    # come last, for whoever is idle by then.
    annealing = [start for start in starts if start.steps]
    searches = [*annealing, *trails, *(start for start in starts if not start.steps)]
    answer = partial(_answer, game, strategy, frozenset(map(_digest, pool)))
    answers = compute(answer, [*searches, *checks])
    found, checked = answers[: len(searches)], answers[len(searches) :]
    new = {_digest(counter): (counter, cut) for counter, cut, _ in found if cut}.values()
    return Searched(
        [counter for counter, _, _ in found[len(annealing) :][: len(trails)]],
        np.array([error for _, _, error in checked]),
        np.flatnonzero([cut is not None for _, cut, _ in checked]),
        [counter for counter, _ in new],
        [*(cut for _, cut, _ in checked if cut), *(cut for _, cut in new)],
    )


def _answer(
    game: Engine,
    strategy: Strategy,
    known: frozenset[bytes],
    task: CounterSearch | Check,
) -> tuple[Matrix, Cut | None, float]:
    """Counter; its model, None if the pool has one that is good enough; error of the known one."""
    if isinstance(task, Check):
        counter = task.counter
        error = _rate(game, strategy, counter) - task.modelled
        is_good = abs(error) <= task.trusted
    else:
        counter, error = task.run(game, strategy).matrix, 0.0
        is_good = _digest(counter) in known
    return counter, None if is_good else cut(game, strategy, counter), abs(error)


def _digest(counter: Matrix) -> bytes:
    return sha256(np.ascontiguousarray(counter).data).digest()
