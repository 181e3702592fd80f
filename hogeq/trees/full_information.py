"""Play by positions: values with full information, every action at one, exact best responses."""

from dataclasses import dataclass, field, replace
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
from hogeq.search.values import UNSEEN, Value
from hogeq.strategies.strategy import Strategy
from hogeq.support import html
from hogeq.support.aliases import Floats
from hogeq.support.deadline import FOREVER, Deadline
from hogeq.support.messages import BadInputError, HogeqError, Table, refusal
from hogeq.support.short_fractions import meant
from hogeq.trees.exact_numbers import distribution
from hogeq.trees.positions import Positions
from hogeq.trees.strategies import playable

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
    """Most by which payoffs and their sum miss what was given, where no double stands for it."""

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
        lower, upper = map(Fraction, start_of(self.graph, self.values))
        if self.mover == 1:
            total = meant(self.graph.total)
            lower, upper = total - upper, total - lower
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
        rows = [
            ("value", self.units.exact(self.value), f"payoff to player {self.mover}, who is first"),
            ("error", f"{self.error:.1e}", "at most: proved by bounds from both sides"),
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
        rows = [(str(one.action), *map(units.exact, one[1:])) for one in self.actions]
        return Table(rows, ("action", "payoff", "loss"), left=1)

    def _repr_html_(self) -> str:
        """Write the actions, in a notebook."""
        rows = [(str(one.action), f"{one.value:.9g}", f"{one.loss:.3g}") for one in self.actions]
        return html.table(rows, ("action", "payoff", "loss"), f"Player {self.player} to move")


def analyze(positions: Positions, solved: FullInformation, state: Any) -> PositionAnalysis:
    """Value every action of the player to move at a state, who sees everything."""
    try:
        position = positions.numbers.get(state)
    except TypeError:
        position = None
    graph = positions.graph
    if position is None or graph.player[position] == NATURE:
        moves = int(np.argmax(graph.player != NATURE))
        allowed = f"a state at which a player moves, {positions.states[moves]!r} say"
        raise BadInputError(refusal("state", state, allowed))
    player = int(graph.player[position])
    actions = positions.actions[graph.row[position]]
    worth, error, missed = list[float](), 0.0, Fraction(solved.missed)
    for number in range(len(actions)):
        there = int(graph.next[graph.place[position] + number])
        if there < 0:
            lower = upper = meant(float(graph.payoff[-1 - there]))
        else:
            ends = solved.values.lower[there, 0], solved.values.upper[there, 0]
            lower, upper = map(Fraction, map(float, ends))
        if player == 1:
            lower, upper = meant(graph.total) - upper, meant(graph.total) - lower
        worth.append(float((lower + upper) / 2))
        error = max(error, above(upper + missed - Fraction(worth[-1])))
        error = max(error, above(Fraction(worth[-1]) - lower + missed))
    best = max(worth)
    found = [
        ActionValue(action, value, best - value if best - value > 2 * error else 0.0)
        for action, value in zip(actions, worth, strict=True)
    ]
    return PositionAnalysis(state, player, tuple(sorted(found, key=lambda one: one.loss)), error)


# --- strategies -----------------------------------------------------------------------------------


class InSeat(NamedTuple):
    """Bounds on the payoff to one player in a seat."""

    least: Fraction
    most: Fraction
    values: Enclosure  # against the last component of a mixture


def payoff_in_seat(
    positions: Positions,
    mine: Floats | None,
    target: Strategy,
    seat: int,
    deadline: Deadline = FOREVER,
) -> InSeat:
    """Bound what a policy, or a player who sees everything (None), gets from a strategy in a seat.

    Who sees everything knows what was drawn from a mixture, too. Bounds hold whenever time is over.
    """
    graph, least, most = positions.graph, Fraction(), Fraction()
    for weight, theirs in zip(distribution(target.chances.tolist()), target.policies, strict=True):
        pair = (mine, theirs) if seat == 0 else (theirs, mine)
        values = enclose(graph, pair, deadline=deadline)
        lower, upper = map(Fraction, start_of(graph, values))
        if seat == 1:
            lower, upper = meant(graph.total) - upper, meant(graph.total) - lower
        least, most = least + weight * lower, most + weight * upper
    return InSeat(least, most, values)


def value(positions: Positions, a: Strategy, b: Strategy) -> Value:
    """Payoff to a strategy against another one, in either seat.

    It is the middle of proved bounds. Where play goes on for so long that these are apart, it is
    what elimination finds, which loses no digit.
    """
    a, b = a.whole(), b.whole()
    each = [[Fraction()] * 3, [Fraction()] * 3]  # in each seat: at least, found, at most
    for share, mine in zip(distribution(a.chances.tolist()), a.policies, strict=True):
        for chance, theirs in zip(distribution(b.chances.tolist()), b.policies, strict=True):
            for seat in (0, 1):
                part = _payoff(positions, mine, theirs, seat)
                weighed = (share * chance * one for one in part)
                each[seat] = [*map(add, each[seat], weighed)]
    first, second = ((least, most) for least, _, most in each)
    return Value.between(first, second, found=[found for _, found, _ in each])


def _payoff(
    positions: Positions, mine: Floats, theirs: Floats, seat: int
) -> tuple[Fraction, Fraction, Fraction]:
    """Payoff in a seat: at least, as found, at most."""
    pair, graph = ((mine, theirs) if seat == 0 else (theirs, mine)), positions.graph
    lower, upper = start_of(graph, enclose(graph, pair))
    ends, apart = (Fraction(lower), Fraction(upper)), PROVED * positions.units.per_rate
    found = (ends[0] + ends[1]) / 2
    can_be_exact = not graph.recurring.any() and not positions.is_rounded
    if upper - lower > UNSEEN and can_be_exact and len(graph.next) <= MOST_ENDS:
        found = _payoff_in_fractions(graph, pair)
        ends = found, found
    elif upper - lower > apart:
        passes = GraphPasses(positions.graph)
        starts, _ = passes.backward(Role.EVALUATE, np.stack(pair), np.ones(1))
        found = Fraction(float(starts[0] @ positions.graph.start_chance))
        if passes.error > apart:
            allowed = "strategies that end it sooner"
            raise HogeqError(
                f"{positions.name}: play goes on for too long to be valued: from {lower:.6g} to "
                f"{upper:.6g}; allowed: {allowed}"
            )
    if seat == 0:
        return ends[0], found, ends[1]
    total = meant(graph.total)
    return total - ends[1], total - found, total - ends[0]


def _payoff_in_fractions(graph: Graph, pair: tuple[Floats, Floats]) -> Fraction:
    """Payoff to player 0 of two policies, (R, K), where no position recurs and there is no memory.

    Numbers are what they stand for in a tree, too.
    """
    worth = [Fraction()] * graph.positions
    paid = [*map(meant, graph.payoff.tolist())]

    def value_of_way(position: int, way: int) -> Fraction:
        total, (first, last) = Fraction(), graph.first[way : way + 2]
        chances = distribution(graph.chance[first:last].tolist())
        for outcome, chance in zip(range(first, last), chances, strict=True):
            after = int(graph.next[graph.place[position] + graph.end[outcome]])
            total += chance * (worth[after] if after >= 0 else paid[-1 - after])
        return total

    for position in range(graph.positions - 1, -1, -1):
        player, row = int(graph.player[position]), int(graph.row[position])
        policy = graph.fixed[row] if player == NATURE else pair[player][row]
        ways = graph.way[graph.situation[position], 0]
        taken = [action for action in np.flatnonzero(policy).tolist() if ways[action] >= 0]
        shares = distribution(policy[taken].tolist())
        values = [value_of_way(position, int(ways[action])) for action in taken]
        worth[position] = sum(map(mul, shares, values), Fraction())
    starts = distribution(graph.start_chance.tolist())
    begun = zip(starts, graph.start[:, 0].tolist(), strict=True)
    return sum((chance * worth[one] for chance, one in begun), Fraction())


def bound(positions: Positions, target: Strategy) -> float:
    """Bound what a responder that sees everything gets from a strategy, mean of both seats."""
    first, second = (payoff_in_seat(positions, None, target, seat) for seat in (0, 1))
    return above((first.most + second.most) / 2)


def respond_in_positions(
    positions: Positions, engine: GraphEngine, target: Strategy, budget: Budget
) -> Response:
    """Best response in either seat: exact where nothing is hidden, elsewhere searched for.

    The best actions of a responder that sees everything hang on the position alone. If that is its
    row, they are a strategy; if not, what they get is a bound. Both ends hold whatever was rounded.
    """
    if budget.exact_seconds:
        allowed = "games that have a tree: a game by its positions has no integer program"
        raise BadInputError(f"{positions.name}: exact seconds: allowed: {allowed}")
    deadline, search = Deadline(budget.limit), None
    bounding = deadline.share(0.5)
    best = [
        payoff_in_seat(positions, None, target, seat, bounding.share(share))
        for seat, share in enumerate((0.5, 1.0))
    ]
    has_choice = positions.graph.legal.sum(axis=1).max(initial=0) > 1
    joint = target.policies[0].copy()
    if positions.is_open and target.kind != "mixture":
        for seat in (0, 1):
            _choose(joint, positions, best[seat].values, seat)
    elif has_choice and not are_passes_slow(positions, bounding):
        searching = deadline.share(0.5)
        if searching.left < inf and _annealing_step(positions, joint, searching) > searching.left:
            budget = replace(budget, anneal_steps=0)
        search = attack(engine, target, budget, deadline=searching)
        if search.win_rate >= 0.5 or target.kind == "mixture":  # else the strategy itself wins more
            joint = playable(positions, engine.legal, search.matrix, "response").policy
    first, second = (
        payoff_in_seat(positions, joint, target, seat, deadline.share(share)).least
        for seat, share in enumerate((0.5, 1.0))
    )
    value, bound = below((first + second) / 2), above((best[0].most + best[1].most) / 2)
    units = positions.units
    return Response(
        strategy=Strategy.unchecked(joint),
        value=value,
        bound=bound,
        full_memory=bound,
        is_proved=bound - value <= PROVED * units.per_rate and units.are_one(value, bound),
        method=FULL_INFORMATION,
        seconds=deadline.spent,
        seats=(below(first), below(second)),
        seat_bounds=(above(best[0].most), above(best[1].most)),
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
    """Estimate the seconds of a step of annealing, which nothing interrupts.

    It values a block of positions that lead to each other anew after each row of it.
    """
    passes = GraphPasses(positions.graph)
    if not passes.lists.recurs.any():
        return 0.0
    begun = clock.spent
    passes.backward(Role.EVALUATE, np.stack([policy, policy]), np.ones(1))
    return (clock.spent - begun) * positions.graph.rows


def optimal(positions: Positions, deadline: Deadline) -> tuple[Strategy, int]:
    """Optimal play of a game in which nothing is hidden, which is pure; and the rounds it took."""
    found, joint = enclose(positions.graph, deadline=deadline), positions.uniform()
    for seat in (0, 1):
        _choose(joint, positions, found, seat)
    return Strategy.unchecked(joint), found.rounds


def secured(positions: Positions, profile: Strategy, deadline: Deadline) -> Interval:
    """Bound the value of a game: what each side's part of a profile secures, whoever answers it.

    The answers see everything, and what was drawn from a mixture, too.
    """
    theirs = [
        payoff_in_seat(positions, None, profile, seat, deadline.share(share)).most
        for seat, share in enumerate((0.5, 1.0))
    ]
    return Interval(below(meant(positions.graph.total) - theirs[1]), above(theirs[0]))


def _choose(joint: np.ndarray, positions: Positions, found: Enclosure, seat: int) -> None:
    """Set the rows of a player to the actions that were chosen; others stay."""
    graph = positions.graph
    moves = (graph.player == seat) & (found.chosen[:, 0] >= 0)
    joint[graph.row[moves]] = 0.0
    joint[graph.row[moves], found.chosen[moves, 0]] = 1.0
