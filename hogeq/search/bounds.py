"""Best responses to strategies of Hog, bounded from below and above.

The lower end is an attack, the upper end a responder with full memory: ``docs/mixtures.md`` has its
bounds against a mixture.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from math import comb, inf
from typing import Final, NamedTuple

import numpy as np

from hogeq.evaluation import enclosures
from hogeq.evaluation.rounding import SECOND_ORDER, value_roundings
from hogeq.evaluation.values import win_rate_and_error
from hogeq.model.game import HogEngine
from hogeq.model.protocol import Engine, Role, WinRate
from hogeq.model.state_values import backward_by
from hogeq.model.workspace import Workspace
from hogeq.rules.rules import kinds_of_dice
from hogeq.search.attack import attack
from hogeq.search.results import PROVED, WIN_RATES, Budget, Response
from hogeq.strategies.conversion import StrategyLike, strategy_of
from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Floats, Ints, Matrix
from hogeq.support.deadline import FOREVER, Deadline
from hogeq.support.floats import UNIT_ROUNDOFF
from hogeq.support.messages import HogeqError, refusal

SEARCH_TIME_SHARE: Final = 0.8  # share of a limited time for the search for a response
BOUND_TIME_SHARE: Final = 0.5  # share of a limited time, at most, for the bound that comes first
MOST_BELIEFS: Final = 500  # most beliefs of a grid; each has a workspace of its own
MOST_WORKSPACE_BYTES: Final = 2**30  # of the workspaces of a grid that was not asked for


def respond_in_hog(
    game: HogEngine,
    strategy: StrategyLike,
    budget: Budget | None = None,
    known: Sequence[Matrix] = (),
) -> Response:
    """Search for the best response to a strategy of Hog, and bound all responses from above.

    1. Bound them by a responder with full memory, who also knows a mixture's draw.
    2. Attack the strategy; `known` counter-matrices (G, G) are starts of the attack, too.
    3. If there is time, lower the bound: to a responder who does not know the draw.
    """
    seconds = inf if budget is None or budget.seconds is None else budget.seconds
    deadline = Deadline(seconds)
    target = strategy_of(game, strategy)
    full_memory = full_memory_bound(game, target, deadline.share(BOUND_TIME_SHARE))
    bounding_seconds = deadline.spent
    search = attack(game, target, budget, known, deadline.share(SEARCH_TIME_SHARE))
    upper = bound_in_time(game, target, deadline, full_memory, bounding_seconds)
    matrix = strategy_of(game, search.matrix)
    rate, seat_error = win_rate_and_error(game, matrix, target, endless_is_draw=True)
    value = search.win_rate
    if max(seat_error, abs(value - rate.win_rate)) > PROVED:  # the search's passes ended early
        value = max(rate.win_rate - seat_error, 0.0)
    response = Response(
        strategy=matrix,
        value=value,
        # Where the response is a best one, these figures are equal, but for rounding.
        bound=max(upper, value),
        full_memory=max(full_memory, value),
        is_proved=False,
        method="full memory",
        seconds=deadline.spent,
        seats=(rate.first, rate.second),
        search=search,
        is_told=target.kind == "mixture",
    )
    return with_proof(game, response, target, seat_error)


def with_proof(
    game: HogEngine, response: Response, target: Strategy, seat_error: float = 0.0
) -> Response:
    """Add the margin of rounding to a response, and whether it is proved to be a best one.

    `seat_error` is what iteration may have missed of the win rates by seat, where positions recur.
    Their errors may cancel in the mean of both.
    """
    margin = bound_margin(game, response.bound, target)
    if game.positions_recur:  # win rates are limits of an iteration, which may end too early
        value_error = response.value - _enclosed_win_rate(game, response.strategy, target).lower
        margin = max(margin, value_error)
    are_seats_exact = seat_error <= PROVED
    if are_seats_exact:
        margin = max(margin, seat_error / 2.0)  # that of a seat counts as twice the margin
    response = replace(response, margin=margin)
    ends_meet = response.bound - response.value <= PROVED and are_seats_exact
    return replace(response, is_proved=ends_meet and WIN_RATES.are_one(*response.ends))


def is_half(game: HogEngine, strategy: Strategy, bound: float) -> bool:
    """Whether a strategy is proved to win half of its games: `bound` is on all responses to it."""
    if bound - 0.5 > PROVED / 2.0:  # too large for any margin, which takes long to compute
        return False
    return is_half_or_less(bound + bound_margin(game, bound, strategy))


def is_half_or_less(upper: float) -> bool:
    """Whether an upper bound on responses, rounding included, is 1/2 in all digits written."""
    return upper - 0.5 <= PROVED / 2.0 and WIN_RATES.are_one(1.0 - upper, upper)


def bound_margin(
    game: HogEngine, bound: float, target: Strategy, deadline: Deadline = FOREVER
) -> float:
    """Most by which rounding may have left a bound on responses to a strategy too small.

    A turn adds `value_roundings` at most, and by how much a row of the strategy misses the sum 1:
    it stands for the row divided by its sum. There are 4G turns at most. Where positions recur no
    number bounds the turns. There value iteration encloses the win rate of the best response that
    remembers everything, and the margin lifts the bound to its upper end. After the deadline it
    holds as well, but is larger.
    """
    if game.positions_recur:
        upper = _enclosed_win_rate(game, None, target, deadline).upper
        # Twice, since the difference is rounded and so is the sum that the caller makes of it.
        return upper - bound + 2.0 * UNIT_ROUNDOFF if upper > bound else 0.0
    largest_score = game.goal + game.rules.max_dice * max(kinds_of_dice(game.rules))
    outcomes = 2 * largest_score * game.memory_size  # twice, as a swap may follow
    roundings = value_roundings(outcomes, game.num_actions) + _belief_roundings(game, target)
    missed = float(np.abs(target.policies.sum(axis=-1) - 1.0).max())
    return 4 * game.goal * (roundings * UNIT_ROUNDOFF + SECOND_ORDER * missed)


def _belief_roundings(game: HogEngine, target: Strategy) -> int:
    """Bound the roundings of a turn that the grid of beliefs of `default_resolution` adds.

    Each of n sums of likelihoods is off by the rounding of the grid, and as much again if it then
    counts as on the grid. All weights of the corners together are off by twice the sum of that, as
    they are continuous. A mean takes two roundings for each point of the grid, its weights as many.
    """
    resolution = default_resolution(game, target)
    if resolution == 1:
        return 0
    components = len(target.chances)
    of_sums = 2 * components * (4 * components + 12) * resolution
    return 2 * of_sums + 4 * _number_of_beliefs(resolution, components)


def _enclosed_win_rate(
    game: HogEngine,
    responder: Strategy | None,
    target: Strategy,
    deadline: Deadline = FOREVER,
) -> enclosures.Interval:
    """Bound the win rate of a responder's policy against a strategy, from below and from above.

    None in place of the policy stands for the best responder that remembers everything and knows
    which component of a mixture was drawn. Components that the time does not suffice for count as
    if their win rates were 0 and 1.
    """
    rows = game.goal**2, game.num_actions  # of a policy in the graph
    policy = None if responder is None else responder.policies[0].reshape(rows)
    lower = upper = 0.0
    chances = target.chances.tolist()
    for number, (probability, component) in enumerate(zip(chances, target.policies, strict=True)):
        if number > 0 and deadline.is_over:
            upper += probability
            continue
        values = enclosures.enclose(game.graph, (policy, component.reshape(rows)), deadline)
        at_start = enclosures.start_of(game.graph, values)
        lower += probability * at_start.lower
        upper += probability * at_start.upper
    # A product and a sum for each chance, 2 of the chances:
    rounding = (len(target.chances) + 2) * UNIT_ROUNDOFF
    return enclosures.Interval(lower - rounding, upper + rounding)


def bound_in_time(
    game: HogEngine, target: Strategy, deadline: Deadline, full_memory: float, seconds: float
) -> float:
    """Upper bound on responses without knowledge of the draw, or `full_memory` if time is short.

    `full_memory` is the bound with knowledge of the draw. It took `seconds`, for one backward pass
    against each component of the mixture; the better bound takes a pass for each belief of a grid.
    """
    resolution = default_resolution(game, target)
    components = len(target.chances)
    passes = _number_of_beliefs(resolution, components)
    # A pass over beliefs takes at least as long as one with knowledge of the draw.
    if resolution == 1 or passes * seconds / components > deadline.left:
        return full_memory
    try:
        return upper_bound(game, target, resolution, deadline)
    except TimeoutError:
        return full_memory


def full_memory_bound(game: Engine, strategy: StrategyLike, deadline: Deadline = FOREVER) -> float:
    """Win rate of the best responder with full memory and knowledge of the draw.

    The deadline can end it after the first component of a mixture. Then it counts as if the others
    lose every game, which still bounds all responses.
    """
    target = strategy_of(game, strategy)
    work = game.workspace(2)
    rates = np.ones(len(target.policies))  # of the responder against each component
    for component, policy in enumerate(target.policies):
        if component > 0 and deadline.is_over:
            break
        pair = np.stack([policy, policy])  # the first one is not used: its player responds
        rates[component] = work.win_rate(pair, Role.FULL_MEMORY).win_rate
        if isinstance(game, HogEngine) and isinstance(work, Workspace) and work.error > PROVED:
            # Positions recur, and an iteration that ended early may be far below.
            alone = strategy_of(game, policy)
            rates[component] = _enclosed_win_rate(game, None, alone, deadline).upper
    return float(target.chances @ rates)


def _number_of_beliefs(resolution: int, components: int) -> int:
    """Count the points of a belief grid: whole numbers, one a component, of sum `resolution`."""
    return comb(resolution + components - 1, components - 1)


def default_resolution(game: HogEngine, strategy: Strategy) -> int:
    """Resolution of a belief grid that has the draw of a mixture on it, or 1 if that is too much.

    The draw is on the grid if the resolution is the number of components. At resolution 1 the only
    beliefs are certainties, as of a responder who knows the draw.
    """
    components = len(strategy.chances)
    beliefs = _number_of_beliefs(components, components)
    if components == 1 or beliefs > MOST_BELIEFS or game.positions_recur:
        return 1
    bytes_of_belief = 2 * 8 * game.goal**2 * game.memory_size  # a double for each player and state
    return components if beliefs * bytes_of_belief <= MOST_WORKSPACE_BYTES else 1


def upper_bound(
    game: HogEngine,
    strategy: StrategyLike,
    resolution: int | None = None,
    deadline: Deadline = FOREVER,
) -> float:
    """Upper bound on any attack: a responder with full memory, but without the draw of a mixture.

    Backward induction over positions and beliefs about the component drawn; values between the
    beliefs of a grid are interpolated, which bounds them from above. At a resolution of 1 the
    responder knows the draw. Multiples of the number n of components are best, and n itself is the
    default. Passes and memory grow as C(resolution + n - 1, n - 1), the number of beliefs. Raises
    TimeoutError when the time is over, but not at a resolution of 1.
    """
    target = strategy_of(game, strategy)
    if resolution is None:
        resolution = default_resolution(game, target)
    if resolution == 1:
        return full_memory_bound(game, target)
    components = len(target.chances)
    beliefs = _number_of_beliefs(resolution, components) if resolution > 0 else 0
    if not 1 <= beliefs <= MOST_BELIEFS:
        raise HogeqError(
            refusal(
                "resolution",
                resolution,
                f"1 or more, of which {components} components make at most {MOST_BELIEFS} beliefs",
            )
        )
    # The responder's value is convex in its belief, so that interpolation bounds it from above.
    grid = BeliefGrid.of(target.chances, resolution)
    policies = target.policies.reshape(components, game.goal**2, -1)
    state_values = partial(_state_values, grid, policies, deadline)
    _, values_at_start = backward_by(game, 2, state_values, len(grid.points))  # of each grid point
    rates = np.array([WinRate.from_starts(*values).win_rate for values in values_at_start])
    return float((grid.interpolation_weights(target.chances[None]) @ rates)[0])


class BeliefGrid(NamedTuple):
    """Beliefs about the component drawn, with weights to interpolate between them.

    A grid point stands for likelihoods of the n components, whole multiples of 1 / `resolution`
    that sum to 1; the belief is the weights of the draw times these. So if `resolution` is a
    multiple of n, the draw itself is on the grid: equal likelihoods.
    """

    weights: Floats  # (n,), of the draw, all positive
    resolution: int
    points: Ints  # (N, n), whole numbers of sum `resolution`, in lexicographic order

    @classmethod
    def of(cls, weights: Floats, resolution: int) -> "BeliefGrid":
        """Make the grid of a resolution, with a point for each way to split it into n numbers.

        The points come from the stars and bars of combinatorics: `resolution` units in a row are
        divided by n - 1 bars, and the numbers of a point count the units between the bars.
        """
        components = len(weights)
        places = resolution + components - 1  # of units and bars
        bars = list(combinations(range(places), components - 1))
        bar_places = np.array(bars, np.int64).reshape(len(bars), components - 1)
        right_end = np.full((len(bars), 1), places)
        left_end = -np.ones_like(right_end)
        points = np.diff(np.hstack([left_end, bar_places, right_end]), axis=1) - 1
        return cls(weights, resolution, points)

    @property
    def beliefs(self) -> Floats:
        """(N, n), probability of each component at every point."""
        joint = self.points * self.weights
        return np.asarray(joint / joint.sum(axis=1, keepdims=True))

    @property
    def rounding(self) -> float:
        """Most by which rounding moves a sum of likelihoods; so close to the grid, it is on it.

        A belief takes products with a roll, their sum and a quotient, the weights of the draw,
        another sum and quotient, and a sum of at most the resolution: 4n + 12 roundings.
        """
        return (4 * len(self.weights) + 12) * self.resolution * UNIT_ROUNDOFF

    def interpolation_weights(self, beliefs: Floats) -> Floats:
        """Weights (m, N) of the N grid points by which each belief (m, n) is a mean of them.

        The points of positive weight are the corners of the simplex around the belief in
        Freudenthal's triangulation: from the point below, one coordinate after the other is raised
        by a unit, the largest fraction first.

        1. Divide the belief by the weights of the draw: the grid is of likelihoods.
        2. Walk from corner to corner, and look up each in the sorted list of points.
        3. Turn weights of likelihoods into weights of beliefs.
        """
        likelihoods = beliefs / self.weights
        likelihoods *= self.resolution / likelihoods.sum(axis=1, keepdims=True)
        # Points are in the order of their numbers, read as the digits of one whole number.
        digit_values = (self.resolution + 1) ** np.arange(self.points.shape[1])[::-1]
        point_keys = self.points @ digit_values
        weights = np.zeros((len(beliefs), len(self.points)))
        rows = np.arange(len(beliefs))
        for corner_points, corner_weights in self._simplex_corners(likelihoods):
            is_used = corner_weights > 0.0
            indices = np.searchsorted(point_keys, corner_points[is_used] @ digit_values)
            weights[rows[is_used], indices] += corner_weights[is_used]
        # So far the weights are of likelihoods. Those of beliefs are proportional to them times the
        # total probability at each point.
        weights *= self.points @ self.weights
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def _simplex_corners(self, likelihoods: Floats) -> Iterator[tuple[Ints, Floats]]:
        """Give the corners of the simplex around each of m likelihoods (m, n), one after the other.

        A corner is the grid points (m, n), one for each of the likelihoods, and their weights (m,).
        A corner of weight 0 may be no grid point.
        """
        # Coordinates are sums from the right: to raise one by a unit moves a unit from a component
        # to the one before it. The first is the sum of all, which is constant.
        sums = likelihoods[:, ::-1].cumsum(axis=1)[:, ::-1]
        sums[:, 0] = self.resolution
        floor = np.floor(sums + self.rounding)
        fractions = sums - floor
        fractions[fractions < self.rounding] = 0.0
        fractions[:, 0] = 0.0
        raised = np.argsort(-fractions[:, 1:], axis=1, kind="stable") + 1  # coordinates, in order
        # A corner's weight is the difference of the fractions raised before and after it.
        falling_fractions = np.take_along_axis(fractions, raised, axis=1)
        from_1_to_0 = np.pad(falling_fractions, ((0, 0), (1, 1)), constant_values=(1.0, 0.0))
        corner_weights = -np.diff(from_1_to_0, axis=1)
        corner = floor.astype(np.int64)  # (m, n), as sums from the right
        rows = np.arange(len(likelihoods))
        for number, weights in enumerate(corner_weights.T):
            # Differences of the sums from the right are the whole numbers of a grid point.
            yield -np.diff(corner, axis=1, append=0), weights
            if number < raised.shape[1]:
                corner[rows, raised[:, number]] += 1


def _state_values(
    grid: BeliefGrid,
    policies: Floats,
    deadline: Deadline,
    player: int,
    cells: Ints,
    roll_values: Floats,
) -> Floats:
    """Values (m, N, H) to the player to move at m pairs of scores, by grid point and memory.

    Player 0, who has full memory, responds to player 1, who has drawn one of n policies
    (n, G * G, K). `cells` (m,) are the indices of the pairs, and `roll_values` (m, N, H, K) the
    values after each roll. Raises TimeoutError when the time is over.
    """
    if player == 0:
        return np.asarray(roll_values.max(axis=3))
    values_of_cells = []
    for cell, values in zip(cells, roll_values, strict=True):
        if deadline.is_over:
            raise TimeoutError
        values_of_cells.append(_values_of_drawn(grid, policies[:, cell], values))
    return np.stack(values_of_cells)


def _values_of_drawn(grid: BeliefGrid, policies: Floats, roll_values: Floats) -> Floats:
    """Values (N, H) of a cell where an opponent rolls who has drawn one of n policies, (n, K).

    They are to the responder, by its belief about the draw, one of N grid points, and by memory.
    `roll_values` (N, H, K) are those after each roll, by the belief after it. This is that of
    Bayes' rule; the value there is interpolated between grid points.
    """
    joint = grid.beliefs * policies.T[:, None]  # (K, N, n), of roll and component
    roll_probabilities = joint.sum(axis=2)  # (K, N)
    is_possible = roll_probabilities > 0.0
    probabilities = roll_probabilities[is_possible][:, None]
    posteriors = joint[is_possible] / probabilities
    # (K, N, N): probability of a roll at a grid point, times the weight of a point after it.
    weights = np.zeros((*roll_probabilities.shape, len(grid.points)))
    weights[is_possible] = grid.interpolation_weights(posteriors) * probabilities
    return np.asarray(np.einsum("knm,mhk->nh", weights, roll_values, optimize=True))
