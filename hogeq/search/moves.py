"""Moves of a search for a response: anneal, make pure, ascend, perturb."""

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hogeq.model.endless import ways_to_stay
from hogeq.model.game import HogEngine
from hogeq.model.shared import quick_many, quick_workspace, shared_many, shared_workspace
from hogeq.model.workspace import Role, WinRate, Workspace
from hogeq.strategies.arrays import one_hot
from hogeq.support.aliases import Floats, Ints, Matrix

TEMPERATURES = (0.1, 1e-4)  # temperatures of the softmax responder, in win probability

WARM_TEMPERATURE = 5e-3  # first temperature of a start from the strategy itself

PERTURBED_SHARES = (0.01, 0.3)  # shares of the cells: few pay in large games, many in small ones

SWEEP_LIMIT = 1000  # of coordinate ascent, which has always ended in fewer than 60

STAYING = 1e-12  # what to stay for ever must gain, in win probability

ROUNDING = 1e-6  # in win probability; single precision errs by a tenth of it


class Passes(Protocol):
    """What a search asks of a workspace: of the responder, row 0, and those whom it meets."""

    def forward(self, policies: Floats) -> object:
        """Compute reach probabilities."""

    def backward(
        self, policies: Floats, role: Role, *, temperature: float = 1.0, damping: float = 1.0
    ) -> tuple[float, float, int]:
        """Compute values and move row 0; win probability of both who begin, cells changed."""


class MixturePasses:
    """Passes of a responder, row 0 of policies, against a mixture of those in the other rows.

    Parameters
    ----------
    game : HogEngine
    weights : float64 (n,)
        Of the strategies in the mixture, one of which is drawn before the game.
    exact : bool
        In double precision.
    """

    def __init__(self, game: HogEngine, weights: Floats, *, exact: bool) -> None:
        self._many = (shared_many if exact else quick_many)(game, len(weights))
        self._weights = weights

    def forward(self, policies: Floats) -> None:
        """Compute reach probabilities under policies (1 + n, G, G, K)."""
        self._many.face(policies[1:], self._weights)
        self._many.forward(policies[0])

    def backward(
        self, policies: Floats, role: Role, *, temperature: float = 1.0, damping: float = 1.0
    ) -> tuple[float, float, int]:
        """Compute values and move row 0; as of a workspace, averaged over the mixture."""
        found = self._many.backward(policies[0], role, temperature=temperature, damping=damping)
        first, other = self._weights @ found.first, self._weights @ found.other
        return float(first), float(other), int(found.changes)


def passes(game: HogEngine, weights: Floats | None = None, *, exact: bool = False) -> Passes:
    """Give passes against one strategy, or a mixture by weights (n,); exact: in double precision.

    The arrays are those of the calling thread, and last until its next search.
    """
    if weights is not None:
        return MixturePasses(game, weights, exact=exact)
    return shared_workspace(game, 2) if exact else quick_workspace(game, 2)


def ascend(
    work: Passes,
    policies: Floats,
    limit: int = SWEEP_LIMIT,
    least_gain: float = -1.0,
    to_beat: float = -1.0,
) -> tuple[float, int]:
    """Coordinate ascent by the responder, row 0, to a matrix that no change of one cell improves.

    Parameters
    ----------
    work : Passes
        Of the responder and all whom it meets.
    policies : float64 (1 + n, G, G, K)
        Row 0 is rewritten in place; it may start mixed.
    limit : int
        Most sweeps over the table.
    least_gain : float
        A sweep that gains less, in win probability, is the last; the default is below any loss by
        rounding.
    to_beat : float
        The ascent ends early if it would stay below this win rate even if the next sweeps gained as
        much as the last: they gain less and less.

    Returns
    -------
    tuple of float, int
        Win rate, and sweeps over the table.
    """
    sweeps, changes, rate, gain = 0, -1, -1.0, 1.0
    while changes != 0 and sweeps < limit and gain >= least_gain:
        work.forward(policies)
        first, other, changes = work.backward(policies, Role.ASCEND)
        sweeps += 1
        now = WinRate.from_starts(first, other).win_rate
        rate, gain = now, now - rate
        if rate + gain < to_beat and sweeps > 1:
            break
    return rate, sweeps


def stay_for_ever(work: Workspace, policies: Floats, rate: float) -> bool:
    """Let player 0 stay at a position for ever, if a draw there is better than to play on.

    No sweep of an ascent finds that: to stay once is worth as much as to play on.

    Parameters
    ----------
    work : Workspace
        Of two players.
    policies : float64 (2, G, G, K)
        Row 0 is rewritten in place.
    rate : float
        Win rate as it is.

    Returns
    -------
    bool
        Whether a row was changed.
    """
    for own, opponent, roll in ways_to_stay(work, policies):
        row = policies[0, own, opponent]
        before = row.copy()
        row[:] = np.arange(len(row)) == roll
        if work.win_rate(policies).win_rate > rate + STAYING:
            return True
        row[:] = before
    return False


def climb(game: HogEngine, policies: Floats, weights: Floats | None = None) -> tuple[float, int]:
    """:func:`ascend` to the end, in single precision first and then in double.

    Parameters
    ----------
    game : HogEngine
    policies : float64 (1 + n, G, G, K)
        Row 0 is rewritten in place.
    weights : float64 (n,), optional
        As in :func:`passes`.

    Returns
    -------
    tuple of float, int
        Win rate, and sweeps over the table.
    """
    _, sweeps = ascend(passes(game, weights), policies, least_gain=ROUNDING)
    rate, more = ascend(passes(game, weights, exact=True), policies)
    sweeps += more
    if weights is None and game.can_be_endless:
        work = shared_workspace(game, 2)
        while stay_for_ever(work, policies, rate):
            rate, more = ascend(work, policies)
            sweeps += more
    return rate, sweeps


def anneal(
    game: HogEngine,
    policies: Floats,
    steps: int,
    damping: float,
    cooling: tuple[float, float] = TEMPERATURES,
) -> None:
    """Anneal a softmax responder, player 0, against player 1.

    It is computed in single precision: its result only starts an ascent.

    Parameters
    ----------
    game : HogEngine
    policies : float64 (2, G, G, K)
        Row 0 is rewritten in place.
    steps : int
        Sweeps, each at its own temperature.
    damping : float
        Share of the way to the softmax that a step goes, above 0 to 1.
    cooling : tuple of float, float
        First and last temperature, in win probability; in between they fall geometrically.
    """
    cool(passes(game), policies, steps, damping, cooling)


def cool(
    work: Passes,
    policies: Floats,
    steps: int,
    damping: float,
    cooling: tuple[float, float],
    progress: Callable[[], object] = lambda: None,
) -> None:
    """:func:`anneal` by given passes; `progress` is called after every step.

    Policies are (1 + n, G, G, K), those of a responder and of all whom the passes are of.
    """
    for temperature in np.geomspace(*cooling, steps):
        work.forward(policies)
        work.backward(policies, Role.SOFTMAX, temperature=temperature, damping=damping)
        progress()


def respond(
    game: HogEngine,
    policies: Floats,
    steps: int,
    damping: float,
    cooling: tuple[float, float] = TEMPERATURES,
    sweeps: int | None = None,
    progress: Callable[[], object] = lambda: None,
    weights: Floats | None = None,
) -> tuple[float, int]:
    """Anneal a responder, make its policy pure, and ascend.

    Parameters
    ----------
    game : HogEngine
    policies : float64 (1 + n, G, G, K)
        Row 0 is rewritten in place; it ends as a matrix, one-hot.
    steps, damping, cooling
        As in :func:`anneal`.
    sweeps : int, optional
        Most sweeps of an ascent in single precision; by default it goes to the end, as
        :func:`climb`.
    progress : callable, optional
        Called after every step of annealing.
    weights : float64 (n,), optional
        As in :func:`passes`.

    Returns
    -------
    tuple of float, int
        Win rate, and sweeps of the ascent over the table.
    """
    cool(passes(game, weights), policies, steps, damping, cooling, progress)
    to_pure(policies[0])
    if sweeps is None:
        return climb(game, policies, weights=weights)
    return ascend(passes(game, weights), policies, sweeps)


def random_policy(
    game: HogEngine, random: np.random.Generator, concentration: float = 1.0
) -> Floats:
    """Policy (G, G, K) whose rows are drawn from a Dirichlet distribution, uniform by default."""
    return random.dirichlet(np.full(game.num_actions, concentration), game.shape[:-1])


def log_uniform(random: np.random.Generator, limits: tuple[float, float]) -> float:
    """Draw a number whose logarithm is uniform between those of two limits."""
    return float(np.exp(random.uniform(*np.log(limits))))


def ith_start(
    game: HogEngine, target: Floats, start: int, random: np.random.Generator
) -> tuple[Floats, tuple[float, float]]:
    """Give the initial policy and the temperature range of the i-th start.

    Far from equilibrium the best counters are found by cooling the uniform policy from a high
    temperature; close to it, by cooling the strategy attacked itself from a low one. Later starts
    mix the two at random.

    Returns
    -------
    tuple of float64 (G, G, K), (float, float)
        Policy, first and last temperature.
    """
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
    best = policy.argmax(axis=-1)
    policy[:] = 0.0
    np.put_along_axis(policy, best[..., None], 1.0, axis=-1)


def to_matrix(policy: Floats) -> Matrix:
    """Matrix (G, G) of the most probable rolls, the lower on ties."""
    return policy.argmax(axis=-1).astype(np.int8)


def perturb(policy: Floats, random: np.random.Generator) -> None:
    """Put random rolls into some cells of a policy, in place.

    The share of cells is drawn log-uniformly between the two `PERTURBED_SHARES`.
    """
    cells = policy.shape[:-1]
    share = log_uniform(random, PERTURBED_SHARES)
    chosen = random.random(cells) < share
    rolls = random.integers(policy.shape[-1], size=cells)[chosen]
    policy[chosen] = one_hot(rolls, policy.shape[-1])


def rolls_at_random(
    shape: tuple[int, ...], share: float, num_actions: int, random: np.random.Generator
) -> tuple[NDArray[np.bool_], Ints]:
    """Choose cells, each with chance `share`, and a roll for each of them.

    Rolls are drawn for the chosen cells only, so the random draws differ from those of
    :func:`perturb`.

    Returns
    -------
    tuple
        Which of the cells of this shape are chosen, bool, and their rolls, int64 (m,).
    """
    cells = random.random(shape) < share
    return cells, random.integers(num_actions, size=int(cells.sum()))
