"""Ascent and annealing of a responder, by passes of a game: the parts of every search."""

from collections.abc import Callable
from typing import Any

import numpy as np

from hogeq.model.protocol import Engine, Passes, Role
from hogeq.model.shared import quick_workspace, shared_workspace
from hogeq.strategies.arrays import one_hot
from hogeq.support.aliases import Floats, Matrix
from hogeq.support.deadline import FOREVER, Deadline

TEMPERATURES = (0.1, 1e-4)  # temperatures of the softmax responder, in win probability
WARM_TEMPERATURE = 5e-3  # first temperature of a start from the strategy itself
SWEEP_LIMIT = 1000  # of coordinate ascent, which has always ended in fewer than 60
STAYING = 1e-12  # what to stay for ever must gain, in win probability
SINGLE_ERROR = 1e-6  # in win probability; single precision errs by a tenth of it


def ascend(
    work: Passes,
    policies: Floats,
    limit: int = SWEEP_LIMIT,
    least_gain: float = -1.0,
    to_beat: float = -1.0,
    weights: Floats | None = None,
    deadline: Deadline = FOREVER,
) -> tuple[float, int]:
    """Ascend by row 0 of policies (1 + n, G, G, K), in place; give its win rate, and the sweeps.

    Without time, one sweep is left.
    """
    # A sweep that gains less than `least_gain` is the last; so is one after which the same gain
    # again would stay below `to_beat`.
    sweeps, changes, rate, gain = 0, -1, -1.0, 1.0
    while changes != 0 and sweeps < limit and gain >= least_gain:
        found = work.backward(work.forward(policies, weights), policies, Role.ASCEND)
        sweeps, changes = sweeps + 1, found.changes
        rate, gain = found.win_rate, found.win_rate - rate
        if (rate + gain < to_beat and sweeps > 1) or deadline.is_over:
            break
    return rate, sweeps


def stay_for_ever(game: Engine, policies: Floats, rate: float) -> bool:
    """Let player 0 stay at a position for ever, if a draw is better there; whether it now does."""
    # No sweep of an ascent finds that: to stay once is worth as much as to play on.
    for place, action in game.ways_to_stay(policies):
        row = policies[0][place]
        before = row.copy()
        row[:] = np.arange(len(row)) == action
        if shared_workspace(game, 2).win_rate(policies).win_rate > rate + STAYING:
            return True
        row[:] = before
    return False


def climb(
    game: Engine,
    policies: Floats,
    weights: Floats | None = None,
    deadline: Deadline = FOREVER,
) -> tuple[float, int]:
    """:func:`ascend` to the end, in single precision first and then in double."""
    quick, exact = (make(game, len(policies)) for make in (quick_workspace, shared_workspace))
    how: dict[str, Any] = {"weights": weights, "deadline": deadline}
    sweeps = 0 if deadline.is_over else ascend(quick, policies, least_gain=SINGLE_ERROR, **how)[1]
    rate, more = ascend(exact, policies, **how)
    sweeps += more
    while len(policies) == 2 and stay_for_ever(game, policies, rate):
        rate, more = ascend(exact, policies, deadline=deadline)
        sweeps += more
    return rate, sweeps


def anneal(
    work: Passes,
    policies: Floats,
    steps: int,
    damping: float,
    cooling: tuple[float, float] = TEMPERATURES,
    progress: Callable[[], object] = lambda: None,
    weights: Floats | None = None,
    deadline: Deadline = FOREVER,
) -> None:
    """Anneal a softmax responder, row 0 of policies (1 + n, G, G, K), in place."""
    for temperature in np.geomspace(*cooling, steps):
        if deadline.is_over:
            break
        reach = work.forward(policies, weights)
        work.backward(reach, policies, Role.SOFTMAX, temperature=temperature, damping=damping)
        progress()


def random_policy(game: Engine, random: np.random.Generator, concentration: float = 1.0) -> Floats:
    """Policy (G, G, K) whose rows are drawn from a Dirichlet distribution, uniform by default."""
    return random.dirichlet(np.full(game.num_actions, concentration), game.shape[:-1])


def log_uniform(random: np.random.Generator, limits: tuple[float, float]) -> float:
    """Draw a number whose logarithm is uniform between those of two limits."""
    return float(np.exp(random.uniform(*np.log(limits))))


def ith_start(
    game: Engine, target: Floats, start: int, random: np.random.Generator
) -> tuple[Floats, tuple[float, float]]:
    """Give the initial policy and the temperature range of the i-th start against `target`."""
    # Far from equilibrium the best counters are found by cooling the uniform policy from a high
    # temperature; close to it, by cooling the target itself from a low one. Later starts mix both.
    if start == 0:
        return np.full_like(target, 1.0 / target.shape[-1]), TEMPERATURES
    if start == 1:
        return target.copy(), (WARM_TEMPERATURE, TEMPERATURES[1])
    noise = random_policy(game, random)
    if start % 2 == 0:
        hot = log_uniform(random, (0.1 * TEMPERATURES[0], TEMPERATURES[0]))
        return noise, (hot, TEMPERATURES[1])
    share = random.uniform(0.5, 1.0)
    blend = share * target + (1.0 - share) * noise
    hot = log_uniform(random, (0.4 * WARM_TEMPERATURE, 4.0 * WARM_TEMPERATURE))
    return blend, (hot, TEMPERATURES[1])


def to_pure(policy: Floats) -> None:
    """Make a policy pure, in place: every row makes its most probable roll, the lower on ties."""
    policy[:] = one_hot(policy.argmax(axis=-1), policy.shape[-1])


def with_random_rolls(
    matrix: Matrix, share: float, num_actions: int, random: np.random.Generator
) -> Matrix:
    """Matrix with random rolls in some cells, each chosen with chance `share`."""
    cells = random.random(matrix.shape) < share
    changed = matrix.copy()
    changed[cells] = random.integers(num_actions, size=int(cells.sum()))
    return changed
