"""Cutting planes: linear models of win rates against counters, the pool of counters, and searches.

A cut is taken at a strategy of n components: the policies of a mixture, or one policy. It is exact
there, since the win rate is linear in each row while the others are fixed.
"""

from collections.abc import Sequence
from functools import partial
from hashlib import sha256
from typing import NamedTuple

import numpy as np

from hogeq.evaluation.counterfactual import counterfactual_values
from hogeq.model.protocol import Engine, WinRate
from hogeq.model.shared import quick_workspace, shared_workspace
from hogeq.search.counter_search import CounterSearch
from hogeq.search.population import Population
from hogeq.strategies.arrays import one_hot, zero_matrices
from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Floats, Ints, Matrix, Singles
from hogeq.support.workers import compute


class Cut(NamedTuple):
    """Linear model of a win rate: for each of n components, constant plus gradient times policy."""

    gradients: Singles  # (n, G * G, K), counterfactual values where it was taken
    constants: Floats  # (n,), what the gradients leave
    reach: Singles  # (n, G * G), reach probability of every cell there


class Counters(NamedTuple):
    """A pool of m counters, as the states of the bundle methods hold it."""

    pool: Matrix  # (m, G, G)
    gradients: Singles  # (m, n, G * G, K), of their cuts
    constants: Floats  # (m, n), of their cuts
    reach: Singles  # (m, n, G * G), of their cuts
    weights: Floats  # (m,), weight of each in the last step
    used: Ints  # (m,), iteration in which each last had weight

    @classmethod
    def empty(cls, game: Engine, parts: int) -> "Counters":
        """Pool of no counters, whose cuts will be of `parts` components."""
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
        self, failed: Ints, new: Sequence[Matrix], cuts: Sequence[Cut], iteration: int, most: int
    ) -> "Counters":
        """Pool with new cuts of counters whose cuts failed, and with new counters, in place.

        `failed` has indices of the pool; `cuts` are of the failed, then of the `new`. Once there
        are `most` counters, new ones take the places of those without weight for longest; a pool
        that has more keeps its size. What grows is copied.
        """
        size = max(most, len(self.pool))
        new = new[:size]
        cuts = cuts[: len(failed) + size]
        excess = max(0, len(self.pool) + len(new) - size)
        self.used[failed] = iteration
        replaced = np.argsort(self.used, kind="stable")[:excess]
        if excess:
            self.pool[replaced] = new[:excess]
        self.weights[replaced] = 0.0
        self.used[replaced] = iteration
        for place, cut in zip([*failed, *replaced], cuts, strict=False):
            self.gradients[place] = cut.gradients
            self.constants[place] = cut.constants
            self.reach[place] = cut.reach
        appended = cuts[len(failed) + excess :]
        if not appended:
            return self
        return Counters(
            np.concatenate([self.pool, new[excess:]]),
            np.concatenate([self.gradients, *(cut.gradients[None] for cut in appended)]),
            np.concatenate([self.constants, [cut.constants for cut in appended]]),
            np.concatenate([self.reach, *(cut.reach[None] for cut in appended)]),
            np.append(self.weights, np.zeros(len(appended))),
            np.append(self.used, np.full(len(appended), iteration)),
        )


def modelled_rates(models: Counters, parts: Floats, counters: Ints | None = None) -> Floats:
    """Win rates (m, n) of n components (n, G, G, K) against m counters, by their cuts.

    `counters` are indices of the pool, by default all.
    """
    chosen = slice(None) if counters is None else counters
    rates = models.constants[chosen].copy()
    flat_parts = parts.reshape(len(parts), -1).astype(np.float32)
    gradients = models.gradients.reshape(len(models.pool), *flat_parts.shape)

    def add_linear_term(part: int) -> None:
        rates[:, part] += gradients[chosen, part] @ flat_parts[part]

    compute(add_linear_term, range(len(parts)), local=True)
    return rates


def _counter_rate(game: Engine, strategy: Strategy, counter: Matrix) -> float:
    """Win rate of a counter (G, G): exact, but against a mixture in the precision of searches."""
    if len(strategy.policies) == 1:
        return float(Population(game, [counter]).rates_against(strategy.policies[0])[0])
    policies = np.stack([one_hot(counter, game.num_actions), *strategy.policies])
    work = quick_workspace(game, len(policies))
    return work.win_rate(policies, weights=strategy.chances).win_rate


def cut(game: Engine, strategy: Strategy, counter: Matrix) -> Cut:
    """Cut of a strategy of n components against a counter (G, G).

    Gradients are counterfactual values, constants win rates less gradient times policy. The win
    rate of a policy is exact; those of a mixture have the precision of searches.
    """
    parts = strategy.policies
    work = shared_workspace(game, 2, game.quick_dtype(len(parts)))
    opponent = one_hot(counter, game.num_actions)
    passes = [counterfactual_values(work, np.stack([part, opponent])) for part in parts]
    if len(parts) == 1:
        win_rates = Population(game, [counter]).rates_of(parts[0])
    else:
        win_rates = np.array([WinRate.from_starts(*played.starts).win_rate for played in passes])
    flat_shape = len(parts), -1, game.num_actions
    values = np.array([played.values for played in passes])
    gradients = values.reshape(flat_shape).astype(np.float32)
    linear_terms = np.einsum("nrk,nrk->n", gradients, parts.reshape(flat_shape))
    reach = np.array([played.infoset_reach for played in passes], np.float32)
    return Cut(gradients, win_rates - linear_terms, reach.reshape(len(parts), -1))


class Check(NamedTuple):
    """A counter of the pool whose cut is checked, and taken anew if it is off."""

    counter: Matrix  # (G, G)
    modelled: float  # its win rate by its cut
    trusted: float  # largest error of that at which the cut is kept


class Searched(NamedTuple):
    """Results of searches and checks."""

    reached: list[Matrix]  # where the trails are now, each (G, G)
    errors: Floats  # (number of checks,), by how much the cut of each missed its win rate
    failed: Ints  # indices of the checks whose counters have new cuts
    responses: list[Matrix]  # counters (G, G) that the pool does not hold, each once
    cuts: list[Cut]  # of the counters whose checks failed, then of the responses


class _Result(NamedTuple):
    """Result of one search or check."""

    counter: Matrix  # (G, G)
    cut: Cut | None  # None if the pool has one that is good enough
    error: float  # of the cut that was checked


def search(
    game: Engine,
    strategy: Strategy,
    starts: Sequence[CounterSearch],
    trails: Sequence[CounterSearch],
    pool: Matrix,
    checks: Sequence[Check],
) -> Searched:
    """Search for counters to a strategy from all starts, continue trails, and check known cuts.

    Every counter found that is not in the `pool`, (m, G, G), gets a cut.
    """
    # All at once, by any workers: the longest begin first, and checks come last, for workers that
    # are idle by then.
    annealing = [start for start in starts if start.steps]
    ascending = [start for start in starts if not start.steps]
    searches = [*annealing, *trails, *ascending]
    known = frozenset(map(_digest, pool))
    results = compute(partial(_search_or_check, game, strategy, known), [*searches, *checks])
    found, checked = results[: len(searches)], results[len(searches) :]
    on_trails = found[len(annealing) : len(annealing) + len(trails)]
    new = {_digest(result.counter): result for result in found if result.cut}.values()
    return Searched(
        reached=[result.counter for result in on_trails],
        errors=np.array([result.error for result in checked]),
        failed=np.flatnonzero([result.cut is not None for result in checked]),
        responses=[result.counter for result in new],
        cuts=[result.cut for result in (*checked, *new) if result.cut],
    )


def _search_or_check(
    game: Engine, strategy: Strategy, known: frozenset[bytes], task: CounterSearch | Check
) -> _Result:
    """Search or check; take a cut unless the pool, of digests `known`, has a good one."""
    if isinstance(task, Check):
        counter = task.counter
        error = abs(_counter_rate(game, strategy, counter) - task.modelled)
        is_good = error <= task.trusted
    else:
        counter = task.run(game, strategy).matrix
        error = 0.0
        is_good = _digest(counter) in known
    return _Result(counter, None if is_good else cut(game, strategy, counter), error)


def _digest(counter: Matrix) -> bytes:
    return sha256(np.ascontiguousarray(counter).data).digest()
