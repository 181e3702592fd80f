"""Play by positions: values with full information, every action at one, exact best responses."""

from dataclasses import dataclass, field, replace
from decimal import ROUND_CEILING
from fractions import Fraction
from functools import cached_property
from math import inf
from operator import add, mul
from typing import Any, Final, NamedTuple

import numpy as np

from hogeq.evaluation.enclosures import Enclosure, Interval, enclose, start_of
from hogeq.graph.graph import NATURE, Graph
from hogeq.model.graph_engine import GraphEngine
from hogeq.model.graph_passes import GraphPasses
from hogeq.model.protocol import Role
from hogeq.search.attack import attack
from hogeq.search.results import FULL_INFORMATION, PROVED, Budget, Response, Units
from hogeq.search.units import above, below
from hogeq.search.values import INVISIBLE_ERROR, Value
from hogeq.strategies.strategy import Strategy
from hogeq.support import html
from hogeq.support.aliases import Floats
from hogeq.support.deadline import FOREVER, Deadline
from hogeq.support.messages import HogeqError, Table, refusal, scientific
from hogeq.support.short_fractions import short_fraction
from hogeq.trees.exact_numbers import distribution
from hogeq.trees.positions import Positions
from hogeq.trees.strategies import make_playable

MOST_ENDS: Final = 100_000  # of a graph that is valued in fractions, in some two seconds


@dataclass(frozen=True, eq=False, repr=False)
class FullInformation:
    """Optimal play from every position of a game, both players seeing everything.

    Examples
    --------
    >>> import hogeq
    >>> solved = hogeq.Game("kuhn(players=2,ranks=3)").tablebase()
    >>> solved.value  # who has the higher card bets 1 at most: to all see, nobody bets more
    0.0
    """

    graph: Graph
    units: Units
    values: Enclosure = field(repr=False)
    """Bounds on the payoff to player 0 in every state."""
    missed: float = 0.0
    """Bound on the rounding of payoffs and of their sum, if no doubles stand for them."""

    def __repr__(self) -> str:
        """Say the value and its error."""
        return f"FullInformation(value={self.value:.12g}, error={self.error:.1g})"

    @property
    def mover(self) -> int:
        """Who moves first; player 0 where chance does."""
        first = {int(self.graph.player[position]) for position in self.graph.start[:, 0]}
        return first.pop() if len(first) == 1 and first <= {0, 1} else 0

    @cached_property
    def ends(self) -> tuple[float, float]:
        """Lower and upper bound on the payoff to who moves first; both are proved."""
        lower, upper = _to_player(self.graph, self.mover, *start_of(self.graph, self.values))
        return below(lower - Fraction(self.missed)), above(upper + Fraction(self.missed))

    @property
    def value(self) -> float:
        """Payoff to who moves first, the middle of both bounds."""
        return sum(self.ends) / 2.0

    @property
    def error(self) -> float:
        """Largest possible error of the value."""
        lower, upper = map(Fraction, self.ends)
        middle = Fraction(self.value)
        return above(max(upper - middle, middle - lower))

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values: value, lower, upper, player, rounds."""
        lower, upper = self.ends
        ends = {"value": self.value, "lower": lower, "upper": upper}
        return {**ends, "player": self.mover, "rounds": self.values.rounds}

    def table(self) -> Table:
        """Lay out the value and its error."""
        error = scientific(self.error, 1, ROUND_CEILING)
        rows = [
            ("value", self.units.exact(self.value), f"payoff to player {self.mover}, who is first"),
            ("error", error, "at most: proved by bounds from both sides"),
        ]
        return Table(rows, left=3)


def solve(graph: Graph, units: Units, *, is_rounded: bool = False) -> FullInformation:
    """Solve a game whose players see everything; `is_rounded` if no doubles stand for payoffs."""
    largest = float(np.abs(graph.paid).max(initial=abs(graph.total)))
    return FullInformation(graph, units, enclose(graph), 2.0**-52 * largest * is_rounded)


class ActionValue(NamedTuple):
    """One action at a position."""

    action: Any
    value: float  # to who moves there, of optimal play from then on
    loss: float  # against the best action; not negative


class PositionAnalysis(NamedTuple):
    """Every action at a position, the best first."""

    state: Any
    player: int
    actions: tuple[ActionValue, ...]
    error: float  # largest possible error of a value

    def table(self, units: Units) -> Table:
        """Lay out a line for each action."""
        rows = [(str(name), *map(units.exact, numbers)) for name, *numbers in self.actions]
        return Table(rows, ("action", "payoff", "loss"), left=1)

    def _repr_html_(self) -> str:
        """Write the actions, in a notebook."""
        rows = [(str(name), f"{value:.9g}", f"{loss:.3g}") for name, value, loss in self.actions]
        return html.table(rows, ("action", "payoff", "loss"), f"Player {self.player} to move")


def analyze(positions: Positions, solved: FullInformation, state: Any) -> PositionAnalysis:
    """Value every action of the player to move at a state, who sees everything."""
    try:
        position = positions.numbers.get(state)
    except TypeError:  # a state without a hash is none
        position = None
    graph = positions.graph
    if position is None or graph.player[position] == NATURE:
        example = positions.states[int(np.argmax(graph.player != NATURE))]
        allowed = f"a state at which a player moves, {example!r} say"
        raise HogeqError(refusal("state", state, allowed))
    player = int(graph.player[position])
    actions = positions.actions[graph.row[position]]
    values: list[float] = []  # of actions, to the player
    error = 0.0
    for number in range(len(actions)):
        lower, upper = _to_player(graph, player, *_bounds_after_move(solved, position, number))
        value = float((lower + upper) / 2)
        most_off = max(upper - Fraction(value), Fraction(value) - lower)
        error = max(error, above(most_off + Fraction(solved.missed)))
        values.append(value)
    best = max(values)
    action_values = [  # a loss within the error may be none
        ActionValue(action, value, best - value if best - value > 2 * error else 0.0)
        for action, value in zip(actions, values, strict=True)
    ]
    action_values.sort(key=lambda action: action.loss)
    return PositionAnalysis(state, player, tuple(action_values), error)


def _bounds_after_move(
    solved: FullInformation, position: int, number: int
) -> tuple[Fraction, Fraction]:
    """Give the bounds on the payoff to player 0 after a move, by its number, from a position."""
    graph = solved.graph
    next_position = int(graph.next[graph.place[position] + number])
    if next_position < 0:  # the game ends with a payoff
        payoff = short_fraction(float(graph.payoff[-1 - next_position]))
        return payoff, payoff
    lower = solved.values.lower[next_position, 0]
    upper = solved.values.upper[next_position, 0]
    return Fraction(float(lower)), Fraction(float(upper))


def _to_player(
    graph: Graph, player: int, lower: Fraction | float, upper: Fraction | float
) -> tuple[Fraction, Fraction]:
    """Convert bounds on the payoff to player 0 to bounds on that to a player, exactly."""
    if player == 0:
        return Fraction(lower), Fraction(upper)
    total = short_fraction(graph.total)  # of both players' payoffs
    return total - Fraction(upper), total - Fraction(lower)


# --- strategies -----------------------------------------------------------------------------------


class InSeat(NamedTuple):
    """Bounds on the payoff to one player in a seat."""

    least: Fraction
    most: Fraction
    values: Enclosure  # against the last component of a mixture


def payoffs_in_seats(
    positions: Positions,
    own_policy: Floats | None,
    target: Strategy,
    deadline: Deadline = FOREVER,
) -> list[InSeat]:
    """Bound the payoff to a policy, (R, K), in either seat against a strategy in the other seat.

    Without a policy, None, it is a best responder who sees everything, also the policy that was
    drawn from a mixture. The bounds hold, further apart, if the time is over early.
    """
    graph = positions.graph
    weights = distribution(target.chances.tolist())
    in_seats = []
    for seat, share in enumerate((0.5, 1.0)):  # of the time left
        limit = deadline.share(share)
        least, most = Fraction(), Fraction()
        for weight, other_policy in zip(weights, target.policies, strict=True):
            pair = (own_policy, other_policy) if seat == 0 else (other_policy, own_policy)
            values = enclose(graph, pair, deadline=limit)
            lower, upper = _to_player(graph, seat, *start_of(graph, values))
            least += weight * lower
            most += weight * upper
        in_seats.append(InSeat(least, most, values))
    return in_seats


def value(positions: Positions, a: Strategy, b: Strategy) -> Value:
    """Compute the payoff to strategy `a` against `b`, in either seat, with proved bounds.

    It is the middle of the bounds. If play goes on for so long that they are far apart, it is by
    elimination in a system of linear equations, which loses no digits.
    """
    a, b = a.whole(), b.whole()
    by_seat = [[Fraction()] * 3, [Fraction()] * 3]  # lower bound, payoff, upper bound
    for own_weight, own_policy in zip(distribution(a.chances.tolist()), a.policies, strict=True):
        for weight, other_policy in zip(distribution(b.chances.tolist()), b.policies, strict=True):
            for seat in (0, 1):
                payoffs = _payoff(positions, own_policy, other_policy, seat)
                weighed = (own_weight * weight * payoff for payoff in payoffs)
                by_seat[seat] = [*map(add, by_seat[seat], weighed)]
    first, second = ((least, most) for least, _, most in by_seat)
    return Value.between(first, second, found=[payoff for _, payoff, _ in by_seat])


def _payoff(
    positions: Positions, own_policy: Floats, other_policy: Floats, seat: int
) -> tuple[Fraction, Fraction, Fraction]:
    """Compute the payoff to a policy, (R, K), in a seat: lower bound, payoff, upper bound.

    1. Enclose it; the payoff is the middle.
    2. If the bounds differ visibly and no position recurs, compute it in fractions.
    3. Else, if they are too far apart, eliminate; `HogeqError` if its error is as large.
    """
    graph = positions.graph
    pair = (own_policy, other_policy) if seat == 0 else (other_policy, own_policy)
    lower, upper = start_of(graph, enclose(graph, pair))
    bounds = Fraction(lower), Fraction(upper)
    payoff = (bounds[0] + bounds[1]) / 2
    largest_gap = PROVED * positions.units.per_rate
    can_be_exact = not graph.recurring.any() and not positions.is_rounded
    if upper - lower > INVISIBLE_ERROR and can_be_exact and len(graph.next) <= MOST_ENDS:
        payoff = _payoff_in_fractions(graph, pair)
        bounds = payoff, payoff
    elif upper - lower > largest_gap:
        passes = GraphPasses(positions.graph)
        starts, _ = passes.backward(Role.EVALUATE, np.stack(pair), np.ones(1))
        payoff = Fraction(float(starts[0] @ positions.graph.start_chance))
        if passes.error > largest_gap:
            allowed = "strategies that end it sooner"
            raise HogeqError(
                f"{positions.name}: play goes on for too long to be valued: from {lower:.6g} to "
                f"{upper:.6g}; allowed: {allowed}"
            )
    least, most = _to_player(graph, seat, *bounds)
    payoff, _ = _to_player(graph, seat, payoff, payoff)
    return least, payoff, most


def _payoff_in_fractions(graph: Graph, pair: tuple[Floats, Floats]) -> Fraction:
    """Compute the payoff to player 0 of two policies, (R, K), by backward induction in fractions.

    No position recurs, and there is one memory. A way is an action's distribution over outcomes.
    Doubles count as the short fractions that they stand for, as they do in trees.
    """
    # Of positions, then payoffs backward: an entry of `graph.next`, a position or -1 - t for payoff
    # t, is an index of either.
    values = [Fraction()] * graph.positions
    values += map(short_fraction, graph.payoff[::-1].tolist())
    for position in range(graph.positions - 1, -1, -1):  # positions that follow come later
        player, row = int(graph.player[position]), int(graph.row[position])
        policy = graph.fixed[row] if player == NATURE else pair[player][row]
        ways = graph.way[graph.situation[position], 0]  # of each action, -1 if it is not legal
        actions = [action for action in np.flatnonzero(policy).tolist() if ways[action] >= 0]
        probabilities = distribution(policy[actions].tolist())
        action_values = []
        for way in ways[actions].tolist():
            outcomes = slice(*graph.first[way : way + 2])
            chances = distribution(graph.chance[outcomes].tolist())
            following = graph.next[graph.place[position] + graph.end[outcomes]].tolist()
            action_values.append(_mean(chances, [values[index] for index in following]))
        values[position] = _mean(probabilities, action_values)
    start_chances = distribution(graph.start_chance.tolist())
    return _mean(start_chances, [values[position] for position in graph.start[:, 0].tolist()])


def _mean(probabilities: list[Fraction], values: list[Fraction]) -> Fraction:
    """Mean of values by their probabilities."""
    return sum(map(mul, probabilities, values), Fraction())


def bound(positions: Positions, target: Strategy) -> float:
    """Bound what a responder that sees everything gets from a strategy, mean of both seats."""
    best_first, best_second = payoffs_in_seats(positions, None, target)  # None: best responses
    return above((best_first.most + best_second.most) / 2)


def respond_in_positions(
    positions: Positions, engine: GraphEngine, target: Strategy, budget: Budget
) -> Response:
    """Find a best response in either seat: exactly if nothing is hidden, else by a search.

    1. A responder that sees everything has a best action for each position: what it gets is an
       upper bound.
    2. If nothing is hidden, positions are rows, and these actions are the response. Else a search
       looks for one, unless passes over the positions are too slow for the time.
    3. Bound what the response gets in each seat from below. Payoff and bound are rounded outward.
    """
    if budget.exact_seconds:
        allowed = "games that have a tree: a game by its positions has no integer program"
        raise HogeqError(f"{positions.name}: exact seconds: allowed: {allowed}")
    deadline = Deadline(budget.limit)
    search = None
    bounding = deadline.share(0.5)
    best = payoffs_in_seats(positions, None, target, bounding)  # bounds, by seat
    has_choice = positions.graph.legal.sum(axis=1).max(initial=0) > 1
    response = target.policies[0].copy()  # a copy of the target, unless a better one is found
    is_nothing_hidden = positions.is_open and target.kind != "mixture"
    if is_nothing_hidden:
        for seat in (0, 1):
            _choose(response, positions, best[seat].values, seat)
    elif has_choice and not are_passes_slow(positions, bounding):
        limit = deadline.share(0.5)
        if limit.left < inf and _annealing_step(positions, response, limit) > limit.left:
            budget = replace(budget, anneal_steps=0)
        search = attack(engine, target, budget, deadline=limit)
        # A response that wins less than half is worse than a copy of the target, which is a tie.
        if search.win_rate >= 0.5 or target.kind == "mixture":
            response = make_playable(positions, engine.legal, search.matrix, "response").policy
    in_first_seat, in_second_seat = payoffs_in_seats(positions, response, target, deadline)
    least_first, least_second = in_first_seat.least, in_second_seat.least
    most_first, most_second = best[0].most, best[1].most
    value = below((least_first + least_second) / 2)
    bound = above((most_first + most_second) / 2)
    seats = below(least_first), below(least_second)
    seat_bounds = above(most_first), above(most_second)
    units = positions.units
    is_met = bound - value <= PROVED * units.per_rate and units.are_one(value, bound)
    return Response(
        strategy=Strategy.unchecked(response),
        value=value,
        bound=bound,
        full_memory=bound,
        is_proved=is_met and all(map(units.are_one, seats, seat_bounds)),
        method=FULL_INFORMATION,
        seconds=deadline.spent,
        seats=seats,
        seat_bounds=seat_bounds,
        units=units,
        search=search,
        is_told=target.kind == "mixture",
    )


def are_passes_slow(positions: Positions, bounding: Deadline) -> bool:
    """Whether passes may take longer than a search has time for, since bounds took all of theirs.

    A pass goes on until positions that recur stand still, and nothing interrupts it.
    """
    return bounding.is_over and bool(positions.graph.recurring.any())


def _annealing_step(positions: Positions, policy: Floats, clock: Deadline) -> float:
    """Estimate the seconds of a step of annealing, which nothing interrupts; 0 if none recurs.

    Where positions lead back to each other, a step values all of them again for every row: so it
    takes as many passes as there are rows. One pass is timed.
    """
    passes = GraphPasses(positions.graph)
    if not passes.pass_graph.block_recurs.any():
        return 0.0
    begun = clock.spent
    passes.backward(Role.EVALUATE, np.stack([policy, policy]), np.ones(1))
    return (clock.spent - begun) * positions.graph.rows


def optimal(positions: Positions, deadline: Deadline) -> tuple[Strategy, int]:
    """Compute optimal play of a game in which nothing is hidden, and the rounds that it took.

    It is pure, and takes in each row (information set, one position) the best action by bounds on
    the values of positions, which rounds of value iteration narrow. Rows for which there was no
    time are uniform.
    """
    values = enclose(positions.graph, deadline=deadline)
    joint = positions.uniform()
    for seat in (0, 1):
        _choose(joint, positions, values, seat)
    return Strategy.unchecked(joint), values.rounds


def secured(positions: Positions, profile: Strategy, deadline: Deadline) -> Interval:
    """Bound the value of a game to player 0 by what each player's part of a profile secures.

    Player 0 gets no less than the sum of both players' payoffs less what a best responder gets from
    its part, and no more than a best responder gets from player 1's part. Responders see
    everything, also the policy that was drawn from a mixture.
    """
    # None: best responses. The first is of player 0, against player 1's part.
    against_second, against_first = payoffs_in_seats(positions, None, profile, deadline)
    least = short_fraction(positions.graph.total) - against_first.most
    return Interval(below(least), above(against_second.most))


def _choose(joint: np.ndarray, positions: Positions, values: Enclosure, seat: int) -> None:
    """Set a player's rows of `joint`, (R, K), in place to the best actions that `values` has.

    Nothing is hidden, so a row (information set) has one position.
    """
    graph = positions.graph
    is_chosen = (graph.player == seat) & (values.chosen[:, 0] >= 0)
    joint[graph.row[is_chosen]] = 0.0
    joint[graph.row[is_chosen], values.chosen[is_chosen, 0]] = 1.0
