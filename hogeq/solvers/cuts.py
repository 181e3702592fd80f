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

    gradients: Singles  # (n, G * G, K), counterfactual values at the strategy of the cut
    constants: Floats  # (n,), win rates there, less gradient times policy
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
    def empty(cls, game: Engine, components: int) -> "Counters":
        """Pool of no counters, whose cuts will be of strategies with so many components."""
        rows = int(np.prod(game.shape[:-1]))
        return cls(
            pool=zero_matrices(0, game.shape),
            gradients=np.zeros((0, components, rows, game.num_actions), np.float32),
            constants=np.zeros((0, components)),
            reach=np.zeros((0, components, rows), np.float32),
            weights=np.zeros(0),
            used=np.zeros(0, np.int64),
        )

    def renewed(
        self, failed: Ints, new: Sequence[Matrix], cuts: Sequence[Cut], iteration: int, most: int
    ) -> "Counters":
        """Pool with new cuts of counters whose cuts failed, and with new counters.

        Changes its arrays in place, but those of the result are copies if it grows.

        1. Counters whose cuts failed get the first `cuts`, and count as used in this `iteration`.
        2. If there would be more than `most` counters, the first `new` ones replace those without
           weight for longest. A pool that has more keeps its size.
        3. All other new counters are appended.

        `failed` has indices of the pool, and `new` matrices (G, G); `cuts` are of the failed
        counters, then of the new ones.
        """
        size = max(most, len(self.pool))
        new = new[:size]
        excess = max(0, len(self.pool) + len(new) - size)
        self.used[failed] = iteration
        replaced = np.argsort(self.used, kind="stable")[:excess]
        appended = len(new) - excess
        grown = self
        if appended:
            grown = Counters(
                *(
                    np.concatenate([array, np.zeros((appended, *array.shape[1:]), array.dtype)])
                    for array in self
                )
            )
        indices_of_new = [*replaced, *range(len(self.pool), len(grown.pool))]
        for index, counter in zip(indices_of_new, new, strict=True):
            grown.pool[index] = counter
        grown.weights[indices_of_new] = 0.0
        grown.used[indices_of_new] = iteration
        indices_of_cuts = [*failed, *indices_of_new]
        # More cuts than indices if there are more new counters than the pool may hold.
        for index, cut in zip(indices_of_cuts, cuts, strict=False):
            grown.gradients[index] = cut.gradients
            grown.constants[index] = cut.constants
            grown.reach[index] = cut.reach
        return grown


def modelled_rates(models: Counters, components: Floats, counters: Ints | None = None) -> Floats:
    """Win rates (m, n) of n policies (n, G, G, K) against m counters, by linear models.

    A win rate is the constant of the counter's cut plus its gradient times the policy. `counters`
    are indices of the pool, by default all.
    """
    chosen = slice(None) if counters is None else counters
    rates = models.constants[chosen].copy()
    flat_policies = components.reshape(len(components), -1).astype(np.float32)
    gradients = models.gradients.reshape(len(models.pool), *flat_policies.shape)

    def add_linear_term(component: int) -> None:
        rates[:, component] += gradients[chosen, component] @ flat_policies[component]

    # Side by side, by threads that write to different columns.
    compute(add_linear_term, range(len(components)), local=True)
    return rates


def _counter_rate(game: Engine, strategy: Strategy, counter: Matrix) -> float:
    """Win rate of a counter (G, G): exact, but against a mixture in the precision of searches."""
    if len(strategy.policies) == 1:
        return float(Population(game, [counter]).rates_against(strategy.policies[0])[0])
    policies = np.stack([one_hot(counter, game.num_actions), *strategy.policies])
    work = quick_workspace(game, len(policies))
    return work.win_rate(policies, weights=strategy.chances).win_rate


def cut(game: Engine, strategy: Strategy, counter: Matrix) -> Cut:
    """Linear model of the win rate against a counter (G, G), taken at a strategy of n components.

    Gradients are counterfactual values, constants win rates less gradient times policy. The win
    rate of a single policy is exact; those of a mixture have the precision of searches.
    """
    policies = strategy.policies
    work = shared_workspace(game, 2, game.quick_dtype(len(policies)))
    opponent = one_hot(counter, game.num_actions)
    passes = [counterfactual_values(work, np.stack([policy, opponent])) for policy in policies]
    if len(policies) == 1:
        win_rates = Population(game, [counter]).rates_of(policies[0])
    else:
        win_rates = np.array([WinRate.from_starts(*played.starts).win_rate for played in passes])
    flat_shape = len(policies), -1, game.num_actions
    values = np.array([played.values for played in passes])
    gradients = values.reshape(flat_shape).astype(np.float32)
    linear_terms = np.einsum("nrk,nrk->n", gradients, policies.reshape(flat_shape))
    reach = np.array([played.infoset_reach for played in passes], np.float32)
    return Cut(gradients, win_rates - linear_terms, reach.reshape(len(policies), -1))


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
    """Search for counters to a strategy, and check cuts of known counters.

    The searches are those of `starts`, and `trails`, which go on from an earlier iteration. Each
    result that is not in the `pool`, (m, G, G), gets a cut, a linear model of the win rate against
    it. So does each counter in `checks` whose old cut misses its win rate by too much.
    """
    # All run side by side, by any workers: the longest begin first, and checks come last, for
    # workers that are idle by then.
    annealing = [start for start in starts if start.steps]
    ascending = [start for start in starts if not start.steps]
    searches = [*annealing, *trails, *ascending]
    known_digests = frozenset(map(_digest, pool))
    tasks = [*searches, *checks]
    results = compute(partial(_search_or_check, game, strategy, known_digests), tasks)
    search_results = results[: len(searches)]
    check_results = results[len(searches) :]
    trail_results = search_results[len(annealing) : len(annealing) + len(trails)]
    # Several searches may come to one counter, which is listed once.
    by_digest = {_digest(result.counter): result for result in search_results if result.cut}
    new = by_digest.values()
    return Searched(
        reached=[result.counter for result in trail_results],
        errors=np.array([result.error for result in check_results]),
        failed=np.flatnonzero([result.cut is not None for result in check_results]),
        responses=[result.counter for result in new],
        cuts=[result.cut for result in (*check_results, *new) if result.cut],
    )


def _search_or_check(
    game: Engine, strategy: Strategy, known: frozenset[bytes], task: CounterSearch | Check
) -> _Result:
    """Search for a counter, or check the cut of a known one; give it a new cut if it needs one.

    It does if its old cut is off, or if it is not in the pool, of which `known` has the digests.
    """
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
