"""Cutting planes: linear models of win rates against counters, the pool of counters, and searches.

A cut is taken at a strategy of n components: the policies of a mixture, or one policy. It is exact
there, since the win rate is linear in each row while the others are fixed.
"""

from collections.abc import Sequence
from functools import partial
from hashlib import sha256
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.evaluation.counterfactual import counterfactual_values
from hogeq.model.protocol import Engine, WinRate
from hogeq.model.shared import quick_workspace, shared_workspace
from hogeq.search.counter_search import CounterSearch
from hogeq.search.population import Population
from hogeq.strategies.arrays import one_hot
from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Floats, Ints, Matrix, Singles
from hogeq.support.workers import compute

ARRAYS_OF_COUNTERS: Final = ("pool", "gradients", "constants", "reach", "weights", "used")
"""Names of the arrays of a state that have an entry for each counter."""


class Cut(NamedTuple):
    """Linear model of a win rate: for each of n components, constant plus gradient times policy."""

    gradients: Singles  # (n, G * G, K), counterfactual values at the strategy of the cut
    constants: Floats  # (n,), win rates there, less gradient times policy
    reach: Singles  # (n, G * G), reach probability of every cell there


class Point(NamedTuple):
    """The learned strategy: n policies, and the probability of each to be drawn before a game."""

    components: Floats  # (n, G, G, K)
    draw: Floats  # (n,)


class BundleState(NamedTuple):
    """State of a run: n components (1 in a single policy), and m counter-matrices in the pool.

    The win rate of a counter is constants plus gradients times the components.
    """

    parts: Floats  # (n, G, G, K)
    draw: Floats  # (n,), weights of the components
    pool: Matrix  # (m, G, G)
    gradients: Singles  # (m, n, G * G, K), counterfactual values where each was last taken
    constants: Floats  # (m, n)
    reach: Singles  # (m, n, G * G), reach probability of every cell there
    weights: Floats  # (m,), weight of each counter in the last step
    used: Ints  # (m,), iteration in which each counter last had weight
    worst: Floats  # (), largest win rate of any counter against the mixture, by the models
    step_size: Floats  # (), of the next step, in logits per win probability
    recent: Floats  # (n, G, G, K), average of the components over recent iterations
    recent_draw: Floats  # (n,), the same of their weights
    trails: Matrix  # (t, G, G), current matrices of the ongoing searches
    kicks_left: Ints  # (t,), kicks left of each such search; negative where it is to begin
    iteration: Ints  # ()

    @property
    def point(self) -> Point:
        """The present strategy."""
        return Point(self.parts, self.draw)

    @property
    def recent_point(self) -> Point:
        """Average over recent iterations, in the arrays of the state."""
        return Point(self.recent, self.recent_draw)

    def renewed(
        self, failed: Ints, new: Sequence[Matrix], cuts: Sequence[Cut], iteration: int, most: int
    ) -> "BundleState":
        """State with new cuts of counters whose cuts failed, and with new counters in the pool.

        A cut is a linear model of the win rate against a counter, a matrix that the pool holds.
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
            longer = {name: _longer(getattr(self, name), appended) for name in ARRAYS_OF_COUNTERS}
            grown = self._replace(**longer)
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


def _longer(array: NDArray[Any], number: int) -> NDArray[Any]:
    """Append so many entries of zeros to an array."""
    return np.concatenate([array, np.zeros((number, *array.shape[1:]), array.dtype)])


def modelled_rates(state: BundleState, components: Floats, counters: Ints | None = None) -> Floats:
    """Win rates (m, n) of n policies (n, G, G, K) against m counters, by linear models.

    A win rate is the constant of the counter's cut plus its gradient times the policy. `counters`
    are indices of the pool, by default all.
    """
    chosen = slice(None) if counters is None else counters
    flat_policies = components.reshape(len(components), -1).astype(np.float32)
    gradients = state.gradients.reshape(len(state.pool), *flat_policies.shape)
    linear_term = partial(_linear_term, gradients, flat_policies, chosen)
    # Side by side, in threads.
    terms = compute(linear_term, range(len(components)), local=True)
    return state.constants[chosen] + np.stack(terms, axis=1)


def _linear_term(
    gradients: Singles, policies: Singles, chosen: slice | Ints, component: int
) -> Singles:
    """Gradients (m, n, G * G * K) of chosen counters times the policy of a component, (m,)."""
    return gradients[chosen, component] @ policies[component]


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

    reached: list[Matrix]  # matrices that the ongoing searches came to, each (G, G)
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
    ongoing: Sequence[CounterSearch],
    pool: Matrix,
    checks: Sequence[Check],
) -> Searched:
    """Search for counters to a strategy, and check cuts of known counters.

    The searches are `starts`, and `ongoing` ones, which continue those of another iteration. Each
    result that is not in the `pool`, (m, G, G), gets a cut, a linear model of the win rate against
    it. So does each counter in `checks` whose old cut misses its win rate by too much.
    """
    # All run side by side, by any workers: the longest begin first, and checks come last, for
    # workers that are idle by then.
    annealing = [start for start in starts if start.steps]
    ascending = [start for start in starts if not start.steps]
    searches = [*annealing, *ongoing, *ascending]
    known_digests = frozenset(map(_digest, pool))
    tasks = [*searches, *checks]
    results = compute(partial(_search_or_check, game, strategy, known_digests), tasks)
    search_results = results[: len(searches)]
    check_results = results[len(searches) :]
    ongoing_results = search_results[len(annealing) : len(annealing) + len(ongoing)]
    # Several searches may come to one counter, which is listed once.
    by_digest = {_digest(result.counter): result for result in search_results if result.cut}
    new = by_digest.values()
    return Searched(
        reached=[result.counter for result in ongoing_results],
        errors=np.array([result.error for result in check_results]),
        failed=np.flatnonzero([result.cut is not None for result in check_results]),
        responses=[result.counter for result in new],
        cuts=[result.cut for result in (*check_results, *new) if result.cut],
    )


def _search_or_check(
    game: Engine, strategy: Strategy, known: frozenset[bytes], task: CounterSearch | Check
) -> _Result:
    """Search for a counter, or check the cut of a known one; give it a new cut if it needs one.

    A cut is a linear model of the win rate against a counter-matrix. A counter needs one if its old
    cut is off, or if it is not in the pool, of which `known` has the digests.
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
