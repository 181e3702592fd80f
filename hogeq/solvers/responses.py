"""Responses to a strategy that learns: how searches begin, and who runs them and checks models."""

from collections.abc import Sequence
from functools import partial
from hashlib import sha256
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.model.game import HogEngine
from hogeq.search.kicks import Against
from hogeq.search.moves import log_uniform, random_policy, respond, to_matrix
from hogeq.search.trails import TrailTask
from hogeq.solvers.cuts import Cut, Modelling
from hogeq.strategies.arrays import one_hot
from hogeq.support.aliases import Floats, Matrix
from hogeq.support.workers import compute

COLD: Final = 2e-4  # last temperature of the responses, in win probability
NEAR_HEAT: Final = (2e-3, 1e-2)  # range of the first temperature of a start near the strategy ...
FAR_HEAT: Final = (5e-3, 1e-1)  # ... and of a random start
NEARLY_UNIFORM: Final = 1e3  # concentration of a Dirichlet distribution
DAMPING: Final = 0.6  # of the annealing of responses
DEEP: Final = 5  # times as many steps of annealing in a deep iteration


class Start(NamedTuple):
    """Start of a response; without steps of annealing it only ascends."""

    at: Floats | Matrix
    """A policy (G, G, K), or a matrix (G, G) of int8, which travels lighter."""
    sweeps: int | None
    """Most sweeps of the ascent; None: to its end."""
    steps: int = 0
    heat: float = 1.0

    def search(self, against: Against, known: Matrix) -> Matrix:  # noqa: ARG002 - as of trails
        """Counter-matrix (G, G), by annealing and ascent."""
        game = against.game
        pure = self.at.dtype.kind == "i"
        policy = one_hot(self.at, game.num_actions) if pure else np.asarray(self.at, np.float64)
        policies = against.met_by(policy)
        cooling, weights = (self.heat, COLD), against.weights
        respond(game, policies, self.steps, DAMPING, cooling, self.sweeps, weights=weights)
        return to_matrix(policies[0])


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
    game: HogEngine,
    policy: Floats,
    number: int,
    depth: Depth,
    random: np.random.Generator,
) -> list[Start]:
    """List starts that anneal, from near a policy (G, G, K) and at random in turn."""
    starts = []
    for place in range(number):
        near = (depth.turn + place) % 2 == 0
        share = random.uniform(0.5, 1.0) if near else 0.0
        noise = random_policy(game, random, NEARLY_UNIFORM if depth.deep else 1.0)
        heat = log_uniform(random, NEAR_HEAT if near else FAR_HEAT)
        at = share * policy + (1.0 - share) * noise
        starts.append(Start(at, depth.sweeps, depth.steps, heat))
    return starts


def ascents(pool: Matrix, weights: Floats, number: int, sweeps: int | None) -> list[Start]:
    """List starts that ascend from the counters of largest weight."""
    heaviest = np.argsort(-weights, kind="stable")[:number]
    return [Start(pool[counter], sweeps) for counter in heaviest]


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
    against: Against,
    modelling: Modelling,
    starts: Sequence[Start],
    trails: Sequence[TrailTask],
    pool: Matrix,
    crossed: NDArray[np.int64],
    checks: Sequence[Check],
) -> Searched:
    """Respond from every start, let the trails go on, model what they come to; check known models.

    All of it is computed at once, by whatever workers were chosen. Searches are few and differ in
    length; so the longest begin first, each models what it finds, and checks come last, for whoever
    is idle by then.

    Parameters
    ----------
    against : Against
        The strategy.
    modelling : Modelling
        How counters are modelled at that strategy.
    starts : sequence of Start
    trails : sequence of TrailTask
    pool : int8 (n, G, G)
        Counters that are known.
    crossed : int64
        Which of them trails cross with.
    checks : sequence of Check
    """
    annealed = [start for start in starts if start.steps]
    climbing = [start for start in starts if not start.steps]
    tasks = [*annealed, *trails, *climbing, *checks]
    held = frozenset(map(_digest, pool))
    answers = compute(partial(_answer, against, modelling, pool[crossed], held), tasks)
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
    against: Against,
    modelling: Modelling,
    crossed: Matrix,
    held: frozenset[bytes],
    task: Start | TrailTask | Check,
) -> _Answer:
    if isinstance(task, Check):
        rate = modelling.rate(against, task.counter)
        good = abs(rate - task.modelled) <= task.trusted
        return _Answer(task.counter, None if good else modelling.cut(against, task.counter), rate)
    counter = task.search(against, crossed)
    known = _digest(counter) in held
    return _Answer(counter, None if known else modelling.cut(against, counter))


def _digest(counter: Matrix) -> bytes:
    return sha256(np.ascontiguousarray(counter, np.int8).data).digest()
