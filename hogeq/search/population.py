"""A population of strategies that one policy plays: opponents of a responder, or responders to it.

A win rate is linear in each row of a policy, so one pass forward and one back give the exact effect
of every change of a single cell on the win rate against one opponent; weighted sums of these give
the effect on the win rate against a mixture. Effects of several cells do not add up exactly, so a
change of many cells must be evaluated before it is accepted.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.evaluation.counterfactual import Counterfactual
from hogeq.model.many import quick_workspace, shared_duels, shared_workspace
from hogeq.model.protocol import Engine
from hogeq.model.workspace import Role, WinRate, Workspace
from hogeq.search.ascent import TEMPERATURES, random_policy
from hogeq.search.counter_search import CounterSearch, SearchState, run
from hogeq.strategies.arrays import given_arrival, one_hot, softmax
from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Floats, Matrix
from hogeq.support.workers import compute

BATCH = 32  # passes whose tables are held in memory together


class Pass(NamedTuple):
    """Result of one pass of a policy against one member."""

    starts: tuple[float, float]
    """Win probability of whoever moves first: the policy, or the member."""
    values: Floats
    """(G, G, K), counterfactual values of the policy's rolls."""
    infoset_reach: Floats
    """(G, G), probability that the policy comes to move at a cell."""


class Measured(NamedTuple):
    """Results of passes of a policy against all members, summed over the mixture."""

    values: Floats
    """(G, G, K), weighted sum of counterfactual values."""
    infoset_reach: Floats
    """(G, G), weighted sum of reach probabilities."""
    rates: Floats
    """(n,), win rate of the policy against every member."""


class Slopes(NamedTuple):
    """First-order effects on the win rates of n members of making one cell of a policy pure."""

    rates: Floats
    """(n,), win rate of every member now."""
    changes: Floats
    """(n, G, G, K), change of that win rate if the policy made this roll in this cell for sure."""
    reach: Floats
    """(n, G, G), probability that the policy comes to move at a cell."""


class Population:
    """A mixture of strategies, and passes of a policy against all of them.

    Passes are computed by threads of this process (:func:`hogeq.support.workers.compute`).

    Parameters
    ----------
    game : Engine
    members : sequence of arrays
        Valid matrices (G, G) or policies (G, G, K).
    weights : float64 (n,), optional
        Weights of the members in the mixture; by default equal.
    """

    def __init__(
        self,
        game: Engine,
        members: Sequence[NDArray[Any]] | NDArray[Any],
        weights: Floats | None = None,
    ) -> None:
        self.game = game
        self.members = members
        self.weights = np.full(len(members), 1.0 / max(1, len(members)))
        if weights is not None:
            self.weights = weights

    def rates_of(self, policy: Floats) -> Floats:
        """Exact win rate of a policy (G, G, K) against every member, float64 (n,)."""
        return np.array(compute(partial(_rate, self.game, policy), self.members, local=True))

    def rates_against(self, policy: Floats) -> Floats:
        """Exact win rate of every member against a policy (G, G, K), float64 (n,).

        It is quicker if no row is mixed: members that are matrices meet a matrix then.
        """
        return _rates_of_members(self.game, policy, self.members)

    def passes(self, policy: Floats, *, exact: bool = True) -> Iterator[Pass]:
        """Pass with a policy (G, G, K) against each member, in their order.

        Unless `exact`, in the precision of searches.
        """
        for start in range(0, len(self.members), BATCH):
            batch = self.members[start : start + BATCH]
            one = partial(_pass, self.game, policy, exact=exact)
            yield from compute(one, batch, local=True)

    def measure(self, policy: Floats, weights: Floats | None = None) -> Measured:
        """Counterfactual values and reach of a policy (G, G, K) against the mixture."""
        rates = []

        def measured() -> Iterator[Counterfactual]:
            for one in self.passes(policy):
                rates.append(WinRate.from_starts(*one.starts).win_rate)
                yield Counterfactual(one.values, one.infoset_reach)

        total = mixed(policy, self.weights if weights is None else weights, measured())
        return Measured(total.values, total.infoset_reach, np.array(rates))

    def slopes(self, policy: Floats) -> Slopes:
        """Effects on the members of every change of one cell of a policy (G, G, K)."""
        found = compute(partial(_slope, self.game, policy), self.members, local=True)
        rates, changes, reach = zip(*found, strict=True)
        return Slopes(np.array(rates), np.stack(changes), np.stack(reach))

    def anneal(
        self,
        policy: Floats,
        steps: int,
        damping: float,
        *,
        weights: Floats | None = None,
        everywhere: bool = False,
        progress: Callable[[], object] = lambda: None,
    ) -> None:
        """Anneal a softmax responder to the mixture, all cells at once.

        Against a single opponent :func:`hogeq.search.moves.anneal` is better: it updates the
        cells one after the other, each with the new values of those that follow it.
        """
        for temperature in np.geomspace(*TEMPERATURES, steps):
            found = self.measure(policy, weights)
            wanted = softmax(given_arrival(found.values, found.infoset_reach) / temperature)
            moving = everywhere | (found.infoset_reach > 0.0)
            policy[moving] += damping * (wanted[moving] - policy[moving])
            progress()


class CounterPool(Population):
    """A growing pool of counter-matrices to a strategy that changes.

    It remembers the win rates that were asked for, so that none is computed twice.

    Attributes
    ----------
    members : int8 (n, G, G)
    """

    members: Matrix

    def __init__(self, game: Engine, matrices: Matrix | None = None) -> None:
        empty = np.zeros((0, *game.shape[:-1]), np.int8)
        super().__init__(game, empty if matrices is None else np.array(matrices, np.int8))
        self._rates: dict[bytes, Floats] = {}  # of the first members, by a digest of the policy

    def rates_against(self, policy: Floats) -> Floats:
        """Exact win rate of every member against a policy (G, G, K), float64 (n,)."""
        key = sha256(np.ascontiguousarray(policy).data).digest()
        known = self._rates.get(key, np.zeros(0))
        new = _rates_of_members(self.game, policy, self.members[len(known) :])
        self._rates[key] = np.concatenate([known, new])
        return self._rates[key].copy()

    def strongest(self, policy: Floats, most: int) -> NDArray[np.int64]:
        """Give the indices of the `most` counters that win most, the oldest on ties."""
        return np.argsort(-self.rates_against(policy), kind="stable")[:most]

    def part(self, policy: Floats, most: int) -> "CounterPool":
        """Pool of the `most` counters that win most against a policy, in the same order."""
        if len(self.members) <= most:
            return self
        kept = np.sort(self.strongest(policy, most))
        part = CounterPool(self.game, self.members[kept])
        part._rates = self._rates_of_those(kept)
        return part

    def shrink(self, policy: Floats, most: int, *more: Floats) -> None:
        """Keep only the `most` counters that win most against a policy, or any of several."""
        if len(self.members) > most:
            rates = np.max([self.rates_against(one) for one in (policy, *more)], axis=0)
            kept = np.sort(np.argsort(-rates, kind="stable")[:most])
            self._rates = self._rates_of_those(kept)
            self.members = self.members[kept]

    def _rates_of_those(self, kept: NDArray[np.int64]) -> dict[bytes, Floats]:
        every = len(self.members)
        return {key: rates[kept] for key, rates in self._rates.items() if len(rates) == every}

    def climb(self, policy: Floats, warm: int) -> float:
        """Climb from the `warm` strongest counters, add the results, return the best rate."""
        starts = self.members[self.strongest(policy, warm)]
        return self._searched(policy, [CounterSearch(start) for start in starts])

    def search(self, policy: Floats, starts: int, anneal_steps: int, seed: Sequence[int]) -> float:
        """Search for counters from random policies, add the results, return the best rate."""
        randoms = [np.random.default_rng([*seed, start]) for start in range(starts)]
        begun = [random_policy(self.game, random) for random in randoms]
        return self._searched(policy, [CounterSearch(one, anneal_steps) for one in begun])

    def _searched(self, policy: Floats, searches: Sequence[CounterSearch]) -> float:
        target = Strategy.unchecked(policy)
        found: list[SearchState] = compute(partial(run, self.game, target), searches, local=True)
        self.add(state.matrix for state in found)
        return max(state.rate for state in found)

    def add(self, matrices: Iterable[Matrix]) -> None:
        """Add the matrices that it does not hold, each once."""
        for matrix in matrices:
            if not any(np.array_equal(member, matrix) for member in self.members):
                self.members = np.concatenate([self.members, matrix[None]])


def mixed(
    like: Floats, weights: Iterable[float], found: Iterable[Counterfactual]
) -> Counterfactual:
    """Counterfactual values and reach against a mixture of opponents."""
    values, infoset_reach = np.zeros_like(like), np.zeros(like.shape[:-1])
    for weight, one in zip(weights, found, strict=True):
        values += weight * one.values
        infoset_reach += weight * one.infoset_reach
    return Counterfactual(values, infoset_reach)


# --- one member -----------------------------------------------------------------------------------


def _policy(game: Engine, member: NDArray[Any]) -> Floats:
    is_policy = member.ndim == len(game.shape)
    return member if is_policy else one_hot(member, game.num_actions)


def _rate(game: Engine, policy: Floats, member: NDArray[Any]) -> float:
    policies = np.stack([policy, _policy(game, member)])
    return shared_workspace(game, 2).win_rate(policies).win_rate


def _rates_of_members(
    game: Engine, policy: Floats, members: Sequence[NDArray[Any]] | NDArray[Any]
) -> Floats:
    """Win rates of matrices or policies; of matrices against a matrix, if the policy is one."""
    rolls = policy.argmax(axis=-1)
    pure = np.count_nonzero(policy) == rolls.size
    rate = partial(_rate_of_member, game, policy, rolls if pure else None)
    return np.array(compute(rate, members, local=True))


def _rate_of_member(
    game: Engine, policy: Floats, matrix: NDArray[np.int64] | None, member: NDArray[Any]
) -> float:
    if matrix is not None and member.ndim == matrix.ndim:
        duels = shared_duels(game)
        if duels is not None:
            return duels.win_rate(np.stack([member, matrix]).astype(np.int64)).win_rate
    policies = np.stack([_policy(game, member), policy])
    return shared_workspace(game, 2).win_rate(policies).win_rate


def _meet(
    game: Engine, policy: Floats, member: NDArray[Any], *, exact: bool = True
) -> tuple[Workspace, tuple[float, float]]:
    work = (shared_workspace if exact else quick_workspace)(game, 2)
    policies = np.stack([policy, _policy(game, member)])
    work.forward(policies)
    first, other, _ = work.backward(policies, Role.COUNTERFACTUAL)
    return work, (first, other)


def _pass(game: Engine, policy: Floats, member: NDArray[Any], *, exact: bool) -> Pass:
    work, starts = _meet(game, policy, member, exact=exact)
    return Pass(starts, work.counterfactual_values.copy(), work.infoset_reach.copy())


def _slope(game: Engine, policy: Floats, member: NDArray[Any]) -> tuple[float, Floats, Floats]:
    work, (first, other) = _meet(game, policy, member)
    values = work.counterfactual_values
    changes = (values * policy).sum(axis=-1, keepdims=True) - values
    return (1.0 - first + other) / 2.0, changes, work.infoset_reach.copy()
