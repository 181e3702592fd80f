"""Best responses to strategies of Hog, bounded from below and above.

The lower end is an attack, the upper end a responder with full memory: ``docs/mixtures.md`` has its
bounds against a mixture.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from math import comb, inf
from typing import Final, NamedTuple

import numpy as np

from hogeq.evaluation import enclosures
from hogeq.evaluation.values import win_rate
from hogeq.model.game import HogEngine
from hogeq.model.hidden import backward_by
from hogeq.model.protocol import Engine, Role, WinRate
from hogeq.rules.rules import kinds_of_dice
from hogeq.search.attack import attack
from hogeq.search.results import PROVED, WIN_RATES, Budget, Response
from hogeq.strategies.strategy import Strategy, StrategyLike, strategy_of
from hogeq.support.aliases import Floats, Ints, Matrix
from hogeq.support.deadline import FOREVER, Deadline
from hogeq.support.messages import HogeqError, refusal

ON_GRID: Final = 1e-9  # likelihoods this close to a point of the grid, in its steps, are on it
SEARCHING: Final = 0.8  # share of a limited time
BOUNDING: Final = 0.5  # share of it, at most, for the bound that comes first
MOST_BELIEFS: Final = 500  # most beliefs of a grid; each has a workspace of its own
UNIT: Final = float(np.finfo(float).eps) / 2.0  # rounding of a double
MOST_BYTES: Final = 2**30  # of the workspaces of a grid that was not asked for


def respond(
    game: HogEngine,
    strategy: StrategyLike,
    budget: Budget | None = None,
    known: Sequence[Matrix] = (),
) -> Response:
    """Search for the best response to a strategy of Hog: an attack, and a bound on all others."""
    limit = None if budget is None else budget.seconds
    deadline, target = Deadline(inf if limit is None else limit), strategy_of(game, strategy)
    full = full_memory_bound(game, target, deadline.share(BOUNDING))
    seconds = deadline.spent
    search = attack(game, target, budget, known, deadline.share(SEARCHING))
    least = bound_in_time(game, target, deadline, full, seconds)
    # Where a response is exact, the two are one figure, but for rounding.
    bound = max(least, search.win_rate)
    response = strategy_of(game, search.matrix)
    rate = win_rate(game, response, target, endless_is_draw=True)
    found = Response(
        strategy=response,
        value=search.win_rate,
        bound=bound,
        full_memory=full,
        is_proved=False,
        method="full memory",
        seconds=deadline.spent,
        seats=(rate.first, rate.second),
        search=search,
        is_told=target.kind == "mixture",
    )
    return proved_if_one(game, found, target)


def proved_if_one(game: HogEngine, found: Response, target: Strategy) -> Response:
    """Say that a response is proved if its ends are written alike, whatever was rounded."""
    margin = bound_margin(game, found.bound, target)
    if game.positions_recur:
        margin = max(margin, found.value - _enclosed(game, found.strategy, target).lower)
    found = replace(found, margin=margin)
    meet = found.bound - found.value <= PROVED
    return replace(found, is_proved=meet and WIN_RATES.are_one(*found.ends))


def is_half(game: HogEngine, strategy: Strategy, bound: float) -> bool:
    """Whether a strategy is proved to win half of its games, of a bound on all responses."""
    upper = bound + bound_margin(game, bound, strategy)
    return upper - 0.5 <= PROVED / 2.0 and WIN_RATES.are_one(1.0 - upper, upper)


def bound_margin(game: HogEngine, bound: float, target: Strategy) -> float:
    """Most by which rounding left a bound on responses too small.

    A turn adds (2n + 2K + 4) u at most, with n outcomes and K rolls (docs/exact-response.md,
    "Rounding"); there are 4G turns at most. Where positions recur no number bounds the turns, and
    iteration encloses the best response that remembers everything instead.
    """
    if game.positions_recur:
        return max(_enclosed(game, None, target).upper - bound, 0.0)
    totals = game.goal + game.rules.max_dice * max(kinds_of_dice(game.rules))
    outcomes = 2 * totals * game.memory_size  # a swap may follow
    turn = 2 * outcomes + 2 * game.num_actions + 4
    return 4 * game.goal * turn * UNIT


def _enclosed(game: HogEngine, responder: Strategy | None, target: Strategy) -> enclosures.Interval:
    """Enclose what a policy wins against a strategy; None remembers everything, the draw too."""
    policy = None if responder is None else _by_row(responder.policies[0])
    lower = upper = 0.0
    for chance, opponent in zip(target.chances, target.policies, strict=True):
        found = enclosures.enclose(game.graph, (policy, _by_row(opponent)))
        start = enclosures.start_of(game.graph, found)
        lower, upper = lower + chance * start.lower, upper + chance * start.upper
    weighing = (len(target.chances) + 2) * UNIT
    return enclosures.Interval(lower - weighing, upper + weighing)


def _by_row(policy: Floats) -> Floats:
    return policy.reshape(-1, policy.shape[-1])


def bound_in_time(
    game: HogEngine, target: Strategy, deadline: Deadline, full: float, seconds: float
) -> float:
    """Upper bound without the draw if there is time for it; else that of full memory, given.

    Given are the seconds that this took, too: a backward pass for each component.
    """
    resolution, parts = default_resolution(game, target), len(target.chances)
    passes = comb(resolution + parts - 1, parts - 1)  # each as long as those of full memory
    if resolution == 1 or passes * seconds / parts > deadline.left:
        return full
    return upper_bound(game, target, resolution)


def full_memory_bound(game: Engine, strategy: StrategyLike, deadline: Deadline = FOREVER) -> float:
    """Win rate of the best responder with full memory and knowledge of the draw.

    Components of a mixture for which there is no time, but for the first, lose every game.
    """
    target = strategy_of(game, strategy)
    work, rates = game.workspace(2), np.ones(len(target.policies))
    for place, policy in enumerate(target.policies):
        if place and deadline.is_over:
            break
        pair = np.stack([policy, policy])
        rates[place] = work.win_rate(pair, Role.FULL_MEMORY).win_rate
    return float(target.chances @ rates)


def default_resolution(game: HogEngine, strategy: Strategy) -> int:
    """Resolution of a grid that has the draw on it: the components; or 1 if that is too much."""
    components = len(strategy.chances)
    number = comb(2 * components - 1, components - 1)
    if components == 1 or number > MOST_BELIEFS or game.positions_recur:
        return 1
    values = 2 * 8 * game.goal**2 * game.memory_size
    return components if number * values <= MOST_BYTES else 1


def upper_bound(game: HogEngine, strategy: StrategyLike, resolution: int | None = None) -> float:
    """Upper bound on any attack: a responder with full memory, but without the draw of a mixture.

    At a resolution of 1 the responder is told the draw. Multiples of the number n of components are
    best. Passes and memory grow as C(resolution + n - 1, n - 1), the beliefs of the grid. By
    default the bound is the lowest that takes seconds.
    """
    target = strategy_of(game, strategy)
    if resolution is None:
        resolution = default_resolution(game, target)
    if resolution == 1:
        return full_memory_bound(game, target)
    components = len(target.chances)
    number = comb(resolution + components - 1, components - 1) if resolution > 0 else 0
    if not 1 <= number <= MOST_BELIEFS:
        raise HogeqError(
            refusal(
                "resolution",
                resolution,
                f"1 or more, of which {components} components make at most {MOST_BELIEFS} beliefs",
            )
        )
    grid = Grid.of(target.chances, resolution)
    respond = partial(_responding, grid, target.policies.reshape(components, game.goal**2, -1))
    _, roots = backward_by(game, 2, respond, len(grid.points))
    rates = np.array([WinRate.from_starts(*root).win_rate for root in roots])
    return float((grid.chords(target.chances[None]) @ rates)[0])


class Grid(NamedTuple):
    """Beliefs on a simplex, with an index to find those around another one.

    A grid point stands for likelihoods of the parts, whole multiples of 1 / `resolution` that sum
    to 1; the belief is the weights of the draw times these. So if `resolution` is a multiple of
    the number of parts, the draw itself is on the grid: equal likelihoods.
    """

    weights: Floats  # (n,), of the draw, all positive
    resolution: int
    points: Ints  # (N, n), whole numbers of sum `resolution`, in lexicographic order
    later: Ints  # (resolution + n, n), what comes after in that order: binomial coefficients

    @classmethod
    def of(cls, weights: Floats, resolution: int) -> "Grid":
        """Make the grid of a resolution."""
        parts = len(weights)
        bars = list(combinations(range(resolution + parts - 1), parts - 1))
        cuts = np.array(bars, np.int64).reshape(len(bars), parts - 1)
        ends = np.full((len(cuts), 1), resolution + parts - 1)
        points = np.diff(np.hstack([-np.ones_like(ends), cuts, ends]), axis=1) - 1
        later = [[comb(left, bars) for bars in range(parts)] for left in range(resolution + parts)]
        return cls(weights, resolution, points, np.array(later))

    @property
    def beliefs(self) -> Floats:
        """(N, n), probability of each part at every point."""
        masses = self.points * self.weights
        return np.asarray(masses / masses.sum(axis=1, keepdims=True))

    def chords(self, beliefs: Floats) -> Floats:
        """Shares (m, N) of the corners of Freudenthal's simplex around each belief (m, n)."""
        likelihoods = beliefs / self.weights
        likelihoods *= self.resolution / likelihoods.sum(axis=1, keepdims=True)
        # Sums from the right: steps of one unit move a unit from a part to the one before it.
        sums = likelihoods[:, ::-1].cumsum(axis=1)[:, ::-1]
        sums[:, 0] = self.resolution
        floor = np.floor(sums + ON_GRID)
        rest = sums - floor
        rest[rest < ON_GRID] = 0.0
        rest[:, 0] = 0.0
        order = np.argsort(-rest[:, 1:], axis=1, kind="stable") + 1
        shared = np.zeros((len(beliefs), len(self.points)))
        rows = np.arange(len(beliefs))
        at = floor.astype(np.int64)
        ones, zeros = (np.full((len(beliefs), 1), value) for value in (1.0, 0.0))
        falling = np.hstack([ones, np.take_along_axis(rest, order, axis=1), zeros])
        shares = falling[:, :-1] - falling[:, 1:]
        for place, share in enumerate(shares.T):
            met = share > 0.0
            shared[rows[met], self._indices(at[met])] += share[met]
            if place < order.shape[1]:
                at[rows, order[:, place]] += 1
        # Likelihoods are a mean of the points'; beliefs are, weighted by how likely each is.
        shared *= self.points @ self.weights
        return np.asarray(shared / shared.sum(axis=1, keepdims=True))

    def _indices(self, sums: Ints) -> Ints:
        """Find points (m,) given by their sums from the right (m, n)."""
        # A point is the gaps between bars among `resolution` units; those before it in
        # lexicographic order are counted bar by bar.
        bars = sums.shape[1] - 1
        left = sums[:, 1:] + np.arange(bars)[::-1]  # units and bars behind each bar
        last = len(self.points) - 1
        return np.asarray(last - self.later[left, bars - np.arange(bars)].sum(axis=1))


def _responding(grid: Grid, policies: Floats, player: int, cells: Ints, rolled: Floats) -> Floats:
    """Values (m, N, H) of memories: of player 0's best roll, or of player 1's drawn policies."""
    if player == 0:
        return np.asarray(rolled.max(axis=3))
    return np.stack(
        [_drawn(grid, policies[:, cell], rolls) for cell, rolls in zip(cells, rolled, strict=True)]
    )


def _drawn(grid: Grid, policies: Floats, rolled: Floats) -> Floats:
    """Values (N, H) of the memories of one cell, (N, H, K), if a policy (n, K) was drawn."""
    joint = grid.beliefs * policies.T[:, None]  # (K, N, n)
    total = joint.sum(axis=2)
    met = total > 0.0
    shares = np.zeros((*total.shape, len(grid.points)))
    shares[met] = grid.chords(joint[met] / total[met, None]) * total[met, None]
    return np.asarray(np.einsum("knm,mhk->nh", shares, rolled, optimize=True))
