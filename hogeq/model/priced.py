"""Responders that know every state and pay dual prices for their actions, and their changes.

Against a policy of Hog there is one; against a mixture one for each component, as if it were told
the draw: what was drawn is one more thing to know, kept to the end. In other games each seat has
one as well. So an information set (row) has the states of all responders that move there, side by
side. A row's part of the prices are the prices of actions in its states, and *cuts*, which lower
prices in states before it. The *maximum* of an action of the row is the most that a responder who
takes it in the whole row can pay of this part: ``docs/exact-response.md``.

Sizes: R rows, K actions, H memories, O positions of one responder; a row has n states, those of m
positions of each responder in turn, each with all H memories.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import frexp

import numpy as np

from hogeq.graph.graph import Graph
from hogeq.model.game import MEMORY_LIMIT
from hogeq.model.responder import PricedResponder, PriceRise, RowPrices, SeatPasses
from hogeq.support.aliases import Floats, Ints
from hogeq.support.messages import HogeqError

EPSILON = float(np.finfo(float).eps)
MOST_ACTIONS = 64  # of a row: their prices are valued side by side


@dataclass(frozen=True, eq=False)
class Problem:
    """The problem of the player in one seat of a graph against a policy of the other."""

    graph: Graph
    seat: int
    policy: Floats  # (R, K), of which the rows of the other player count
    chance: float  # that play meets this problem, rather than another of the list
    # (C,), of positions, better for a cache; taken if all that follows a position is later.
    order: Ints | None = None
    payoff_offset: float = 0.0  # to be added to all payoffs, of which the graph has the differences
    payoff_error: float = 0.0  # most that rounding of the graph's numbers changes a payoff by


class PricedResponders:
    """Responders that know every state and pay dual prices for their actions, one for each problem.

    They are the `responders`, by problem; what they do is summed by the chances of the problems.
    Payoffs are in units of `scale`, a power of two that is no less than the largest. Nothing is
    computed before :meth:`begin`.
    """

    def __init__(self, problems: Sequence[Problem]) -> None:
        """Make a responder for each problem, in units of the largest payoff of all."""
        self.problems = problems
        passes_by_seat: dict[tuple[int, int], SeatPasses] = {}  # by graph and seat
        all_passes = []  # by problem
        for problem in problems:
            _require_solvable(problem.graph)
            key = id(problem.graph), problem.seat
            if key not in passes_by_seat:
                passes_by_seat[key] = SeatPasses(problem.graph, problem.seat, problem.order)
            all_passes.append(passes_by_seat[key])
        needed_bytes = sum(passes.bytes_of_responder() for passes in all_passes)
        if needed_bytes > MEMORY_LIMIT:
            raise HogeqError(
                f"mixture: {len(problems)} parts need {needed_bytes / 2**30:.1f} GiB in a game of "
                f"this size; allowed: {MEMORY_LIMIT >> 30}: fewer parts, lower goal or max_dice"
            )
        largest_payoff = max(float(np.abs(passes.payoff).max()) for passes in all_passes)
        self.scale = _power_of_two(largest_payoff)
        self.responders = [
            PricedResponder(passes, problem.policy, self.scale)
            for passes, problem in zip(all_passes, problems, strict=True)
        ]
        self._chances = np.array([problem.chance for problem in problems])
        self._reach: list[Floats] = []  # of the own states, as last chosen, (O, H), by responder
        self._most_reach: dict[int, float] = {}  # by row

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and actions, (R, K)."""
        rows = max(problem.graph.rows for problem in self.problems)
        return rows, self.problems[0].graph.num_actions

    def begin(self) -> None:
        """Find the states and the ways that play can reach, and solve the responders.

        A way is a distribution over outcomes, by which an action is played in some memories. A
        responder, one for each problem, is a best response at the dual prices so far.
        """
        for responder in self.responders:
            responder.begin()

    @property
    def hides(self) -> bool:
        """Whether some row has several states, so that its player does not know the state."""
        states = np.zeros(self.shape[0])
        for responder in self.responders:
            own, memories, _ = responder.passes.shape
            count = responder.passes.sum_by_row(np.full(own, float(memories)))
            states[: len(count)] += count
        return bool(states.max(initial=0.0) > 1.0)

    @property
    def value(self) -> float:
        """Expected payoff less prices, in units of `scale`: the mean over problems and starts."""
        pairs = zip(self._chances, self.responders, strict=True)
        return float(sum(chance * responder.value for chance, responder in pairs))

    def remember(self) -> float:
        """Solve every responder by one backward induction at its prices; return the value."""
        for responder in self.responders:
            responder.remember()
        return self.value

    def visit(self) -> None:
        """Compute the reach of all own states, by the actions chosen when last solved."""
        self._reach = [
            chance * responder.reach_of_states()[responder.passes.positions]
            for chance, responder in zip(self._chances, self.responders, strict=True)
        ]

    def row_reach(self) -> Floats:
        """Reach of every row, (R,), as last visited."""
        row_reach = np.zeros(self.shape[0])
        for responder, reach in zip(self.responders, self._reach, strict=True):
            row_reach[: responder.passes.graph.rows] += responder.passes.sum_by_row(
                reach.sum(axis=1)
            )
        return row_reach

    def reach(self, row: int) -> Floats:
        """Reach of the states of a row, (n,), as last visited."""
        pairs = zip(self.responders, self._reach, strict=True)
        return np.concatenate(
            [reach[responder.passes.positions_of_row(row)].ravel() for responder, reach in pairs]
        )

    def reduced_costs(self, row: int) -> Floats:
        """Reduced cost of every action in a row's states, (K, n): by how much it is worse."""
        return np.concatenate(
            [responder.reduced_costs(row) for responder in self.responders], axis=1
        )

    def largest_price(self) -> float:
        """Largest size so far of a price, of a row's part of one, or of a maximum of prices."""
        return max(float(responder.arrays.largest_size[0]) for responder in self.responders)

    def largest_value(self) -> float:
        """Size of the largest value when they were last solved."""
        return max(float(np.abs(responder.arrays.values).max()) for responder in self.responders)

    def missing(self) -> float:
        """Return by how much probabilities that should sum to 1 miss it at most.

        They are the chances of the problems, each row of the other player's policy and of nature's,
        and the outcomes of each way, a distribution over ends of a turn; rounding of each outcome's
        chance is no fault.
        """
        errors = [abs(float(self._chances.sum()) - 1.0)]
        for problem in self.problems:
            graph = problem.graph
            other_rows = np.unique(graph.row[graph.player == 1 - problem.seat])
            policy_sums = problem.policy[other_rows].sum(axis=1)
            row_sums = np.concatenate([policy_sums, graph.fixed.sum(axis=1)])
            errors.append(float(np.abs(row_sums - 1.0).max(initial=0.0)))
            way_sums = np.add.reduceat(graph.chance, graph.first[:-1])
            rounding = np.diff(graph.first) * EPSILON
            errors.append(float((np.abs(way_sums - 1.0) - rounding).max()))
        return max(errors)

    def outcomes(self) -> int:
        """Most outcomes of a way."""
        return max(int(np.diff(problem.graph.first).max()) for problem in self.problems)

    def levels(self) -> int:
        """Most positions of a play."""
        return max(len(problem.graph.level) - 1 for problem in self.problems)

    # --- rises of prices ---

    def value_rise(self, row: int, rise: PriceRise) -> tuple[Floats, float]:
        """Value a rise of prices without charging it: its maxima, and the fall of the value.

        Dual prices rise of some actions in the states of one row, an information set. An action's
        maximum is the most that a responder who takes it in the whole row can pay of the rise, in
        the mean over the starts. The maxima are in the order of `rise.actions`; one pass values
        ``rise.num_maxima`` of them, and if more actions get dearer, the last number is an upper
        bound on the maxima of all that are left. The fall is by how much the responders, who know
        the state and pay the prices, get less. Both are means over the problems.
        """
        maxima = np.zeros(rise.num_maxima)
        total_fall = 0.0
        for number, rise_of_one in self._split_rise(row, rise):
            maxima_of_one, fall = self.responders[number].value_rise(row, rise_of_one)
            maxima += self._chances[number] * maxima_of_one
            total_fall += self._chances[number] * fall
        return maxima, total_fall

    def take(
        self,
        row: int,
        rise: PriceRise,
        row_prices: dict[int, RowPrices] | None,
        known_maxima: Floats | None,
    ) -> Floats:
        """Charge a rise: add it to dual prices, cut prices before its row; the maxima.

        The row is an information set; cuts keep responders from steering towards it. A maximum is
        the most that a responder who takes one action in the whole row can pay of the rise.
        `row_prices` is the row's own part of the prices, changed alike, by number of the responder;
        None if it is not stored. `known_maxima` are the maxima if the last pass was
        :meth:`value_rise` of the same rise: with one responder no other pass is then made. Returns
        the maxima of the actions that get dearer, as :meth:`value_rise` does.
        """
        if len(self.responders) > 1:
            known_maxima = None  # the arrays of the responders are not all of that pass
        maxima = np.zeros(rise.num_maxima) if known_maxima is None else known_maxima
        for number, rise_of_one in self._split_rise(row, rise):
            responder = self.responders[number]
            if known_maxima is None:
                maxima_of_one, _ = responder.value_rise(row, rise_of_one)
                maxima += self._chances[number] * maxima_of_one
            stored = None
            if row_prices is not None:
                if number not in row_prices:
                    row_prices[number] = responder.no_prices()
                stored = row_prices[number]
            responder.charge(row, rise_of_one, stored)
        return maxima

    def _split_rise(self, row: int, rise: PriceRise) -> Iterator[tuple[int, PriceRise]]:
        """Split a rise by responder: yield the number of each that moves there, and its rise."""
        for number, states in self._states(row):
            rises, fall = rise.price_rises[:, states], rise.value_fall[states]
            yield number, rise._replace(price_rises=rises, value_fall=fall)

    def _states(self, row: int) -> Iterator[tuple[int, slice]]:
        """Yield the number of each responder that moves in a row, and its slice of the n states.

        A row is an information set; its states of all responders, one for each problem, lie side by
        side.
        """
        first = 0
        for number, responder in enumerate(self.responders):
            count = len(responder.passes.positions_of_row(row)) * responder.passes.graph.memories
            if count:
                yield number, slice(first, first + count)
            first += count

    # --- revisions ---

    def revise(
        self, row: int, row_prices: dict[int, RowPrices], more: Floats, cut_share: float
    ) -> Floats:
        """Raise dual prices in a row by `more`, (K, n), and move cuts to lower the bound most.

        The row is an information set of n states, in which K actions have prices; cuts lower the
        prices of actions before it. An action before the row after which less of all the row's
        prices can be paid than after others loses its cut as far; one after which more of some can
        be paid than after the best actions gets a larger cut.

        `row_prices` is the row's part of the prices, by number of the responder, revised in place;
        `cut_share` the largest share of an action's reduced cost by which its price is cut. Returns
        the maximum of each action, (K,): the most that a responder who takes it in the whole row
        can pay of the row's prices.
        """
        maxima = np.zeros(len(more))
        for number, states in self._states(row):
            responder = self.responders[number]
            maxima_of_one = responder.revise(row, row_prices[number], more[:, states], cut_share)
            maxima += self._chances[number] * maxima_of_one
        return maxima

    def most_reach(self, row: int, row_prices: dict[int, RowPrices]) -> float:
        """Return the highest reach of a row that a responder can have, whatever it plays.

        Of `row_prices`, the row's part of the prices by number of the responder, it needs the
        positions before the row alone.
        """
        if row not in self._most_reach:
            most_reach = 0.0
            for number, stored in row_prices.items():
                most_reach += self._chances[number] * self.responders[number].most_reach(
                    row, stored
                )
            self._most_reach[row] = float(most_reach)
        return self._most_reach[row]

    def is_met_once(self, row: int) -> bool:
        """Whether no play meets a row twice."""
        passes_of_row = (self.responders[number].passes for number, _ in self._states(row))
        return all(passes.count_before(row) >= 0 for passes in passes_of_row)

    def bytes_kept(self, row: int) -> int:
        """Bytes that it takes to store the part of the prices that is a row's."""
        total = 0
        for number, _ in self._states(row):
            passes = self.responders[number].passes
            _, memories, actions = passes.shape
            total += passes.count_before(row) * memories * actions * 8
        return total


def _require_solvable(graph: Graph) -> None:
    """Refuse graphs on which one backward induction is not enough, or with too many actions."""
    if graph.recurring.any():
        raise HogeqError("certificate: positions recur; allowed: games in which none does")
    require_few_actions(graph.num_actions)


def require_few_actions(num_actions: int) -> None:
    """Refuse a game for certificates by the most actions that an information set has."""
    if num_actions > MOST_ACTIONS:
        given = f"an information set has {num_actions:,} actions"
        raise HogeqError(f"certificate: {given}; allowed: {MOST_ACTIONS}")


def _power_of_two(size: float) -> float:
    """Return the least power of two that is no less than a size, 1 for 0: to divide by is exact."""
    if size == 0.0:
        return 1.0
    mantissa, exponent = frexp(size)  # mantissa * 2**exponent, mantissa from 1/2 to below 1
    is_power_of_two = mantissa == 0.5
    return 2.0 ** (exponent - 1 if is_power_of_two else exponent)
