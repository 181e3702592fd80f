"""Responses to a strategy that learns: how searches begin, and who runs them and checks models."""

from collections.abc import Sequence
from functools import partial
from hashlib import sha256
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.model.protocol import Engine
from hogeq.search.ascent import log_uniform, random_policy
from hogeq.search.counter_search import CounterSearch
from hogeq.solvers.cuts import Cut, Modelling
from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Floats, Matrix
from hogeq.support.workers import compute

COLD: Final = 2e-4  # last temperature of the responses, in win probability
NEAR_HEAT: Final = (2e-3, 1e-2)  # range of the first temperature of a start near the strategy ...
FAR_HEAT: Final = (5e-3, 1e-1)  # ... and of a random start
NEARLY_UNIFORM: Final = 1e3  # concentration of a Dirichlet distribution
DAMPING: Final = 0.6  # of the annealing of responses
DEEP: Final = 5  # times as many steps of annealing in a deep iteration


class Depth(NamedTuple):
    """How far the responses of an iteration go."""

    deep: bool
    turn: int
    """How many iterations of this kind there were, to take turns by."""
    steps: int
    """Of annealing."""
    sweeps: int | None
    """Most sweeps of the ascent; None: to its end."""

    @classmethod
    def of(cls, iteration: int, deep_every: int, steps: int, sweeps: int) -> "Depth":
        """Every so many iterations one is deep."""
        times, rest = divmod(iteration, deep_every)
        if rest == 0:
            return cls(deep=True, turn=times, steps=DEEP * steps, sweeps=None)
        return cls(deep=False, turn=iteration - times, steps=steps, sweeps=sweeps)


def annealed(
    game: Engine,
    policy: Floats,
    number: int,
    depth: Depth,
    random: np.random.Generator,
) -> list[CounterSearch]:
    """List starts that anneal, from near a policy (G, G, K) and at random in turn."""
    starts = []
    for place in range(number):
        near = (depth.turn + place) % 2 == 0
        share = random.uniform(0.5, 1.0) if near else 0.0
        noise = random_policy(game, random, NEARLY_UNIFORM if depth.deep else 1.0)
        heat = log_uniform(random, NEAR_HEAT if near else FAR_HEAT)
        at = share * policy + (1.0 - share) * noise
        cooling = heat, COLD
        starts.append(CounterSearch(at, depth.steps, cooling, DAMPING, depth.sweeps))
    return starts


def ascents(pool: Matrix, weights: Floats, number: int, sweeps: int | None) -> list[CounterSearch]:
    """List starts that ascend from the counters of largest weight."""
    heaviest = np.argsort(-weights, kind="stable")[:number]
    return [CounterSearch(pool[counter], sweeps=sweeps) for counter in heaviest]


class Check(NamedTuple):
    """A counter whose model is checked, and taken anew where it misses by more than is trusted."""

    counter: Matrix
    """(G, G)"""
    modelled: float
    """Win rate of the counter, by its model."""
    trusted: float
    """Largest error that is tolerated, in win probability."""


class Checked(NamedTuple):
    """What checks have brought; m is their number."""

    rates: Floats
    """(m,), win rates of the counters."""
    errors: Floats
    """(m,), by how much their models missed these."""
    failed: NDArray[np.int64]
    """Which of them have new models."""


class Searched(NamedTuple):
    """What searches have brought."""

    reached: list[Matrix]
    """Where the trails are now, each (G, G)."""
    checked: Checked
    responses: list[Matrix]
    """Counters (G, G) that the pool does not hold, each once."""
    cuts: list[Cut]
    """Models of the counters whose checks failed, then of the responses."""


def search(
    game: Engine,
    strategy: Strategy,
    modelling: Modelling,
    starts: Sequence[CounterSearch],
    trails: Sequence[CounterSearch],
    pool: Matrix,
    checks: Sequence[Check],
) -> Searched:
    """Respond from every start, let the trails go on, model what they come to; check known models.

    All of it is computed at once, by whatever workers were chosen. Searches are few and differ in
    length; so the longest begin first, each models what it finds, and checks come last, for whoever
    is idle by then. The pool holds the counters that are known, (n, G, G).
    """
    annealed = [start for start in starts if start.steps]
    climbing = [start for start in starts if not start.steps]
    tasks = [*annealed, *trails, *climbing, *checks]
    held = frozenset(map(_digest, pool))
    answers = compute(partial(_answer, game, strategy, modelling, held), tasks)
    found, known = answers[: len(tasks) - len(checks)], answers[len(tasks) - len(checks) :]
    reached = [answer.counter for answer in found[len(annealed) :][: len(trails)]]
    new = {_digest(answer.counter): answer for answer in found if answer.cut}.values()
    rates = np.array([answer.rate for answer in known])
    checked = Checked(
        rates,
        np.abs(rates - [check.modelled for check in checks]),
        np.flatnonzero([answer.cut is not None for answer in known]),
    )
    cuts = [answer.cut for answer in [*known, *new] if answer.cut]
    return Searched(reached, checked, [answer.counter for answer in new], cuts)


class _Answer(NamedTuple):
    """What a task has come to."""

    counter: Matrix
    """(G, G)"""
    cut: Cut | None
    """Its model; None if the pool has one that is good enough."""
    rate: float = 0.0
    """Win rate of a counter that was checked."""


def _answer(
    game: Engine,
    strategy: Strategy,
    modelling: Modelling,
    held: frozenset[bytes],
    task: CounterSearch | Check,
) -> _Answer:
    if isinstance(task, Check):
        rate = modelling.rate(game, strategy, task.counter)
        is_good = abs(rate - task.modelled) <= task.trusted
        cut = None if is_good else modelling.cut(game, strategy, task.counter)
        return _Answer(task.counter, cut, rate)
    counter = task.run(game, strategy).matrix
    is_known = _digest(counter) in held
    return _Answer(counter, None if is_known else modelling.cut(game, strategy, counter))


def _digest(counter: Matrix) -> bytes:
    return sha256(np.ascontiguousarray(counter, np.int8).data).digest()
