"""Responders that know every state and pay dual prices for their actions, and claims of rows.

Against a policy of Hog there is one; against a mixture one for each component, as if it were told
the draw: what was drawn is one more thing to know, kept to the end. In other games each seat has
one as well. So an information set (row) has the states of all responders that move there, side by
side. A row's *claims* raise the prices of actions in its states, *loans* lower prices in states
before it, and the *refund* of an action is the most that one plan of it collects of the row's
prices: ``docs/exact-response.md``.

Sizes: R rows, K actions, H memories, O positions of one responder; a row has n states, those of m
positions of each responder in turn, each with all H memories.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import frexp
from typing import NamedTuple

import numpy as np

from hogeq.graph.graph import Graph
from hogeq.kernels import priced as kernels
from hogeq.kernels.arrays import Play
from hogeq.kernels.priced import Responder
from hogeq.model.game import MEMORY_LIMIT
from hogeq.model.seat_passes import WIDTH, SeatPasses
from hogeq.support.aliases import Floats, Ints
from hogeq.support.messages import HogeqError

EPSILON = float(np.finfo(float).eps)
MOST_ACTIONS = 64  # of a row: their claims are valued side by side
MOST_REFUNDS = WIDTH - 1  # of one pass; the last number is the fall of the responder's value


def width_of(actions: int) -> int:
    """Numbers side by side in a pass over the claims of all actions: a power of two."""
    return max(WIDTH, 1 << (actions - 1).bit_length())


def _vector(width: int) -> tuple[float, ...]:
    """Zeros that tell a kernel by their type how many numbers go side by side."""
    return (0.0,) * width


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


class Claim(NamedTuple):
    """Claims of one row; see :mod:`hogeq.search.lifted_bound`."""

    actions: Ints  # (A,), the actions that claim, the first claims most
    price_rises: Floats  # (A, n), of each of them in each state
    value_fall: Floats  # (n,), by how much the responder's value falls in each state
    covered_share: float  # of what a claim gains by another action before, by loans
    lent_share: float  # largest share of the reduced cost of an action that is lent

    @property
    def num_refunds(self) -> int:
        """Number of refunds that a pass computes: the last may be that of several actions."""
        return min(len(self.actions), MOST_REFUNDS)


class RowPrices(NamedTuple):
    """One row's part of a responder's prices, so that it can be revised: its claims and loans."""

    own_positions: Ints  # (j,), from which play can come to the row, and those of the row
    prices: Floats  # (j, H, K)


class PricedResponders:
    """Responders that know every state and pay for their actions, one for each problem.

    `passes` and `parts` have the arrays of a graph and seat, and the responder, by problem. Payoffs
    are in units of `scale`, a power of two that is no less than the largest. Nothing is computed
    before :meth:`begin`.
    """

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = problems
        self.scale = _scale_of(problems)
        passes_by_seat: dict[tuple[int, int], SeatPasses] = {}  # by graph and seat
        self.passes: list[SeatPasses] = []
        for problem in problems:
            _require_solvable(problem.graph)
            key = id(problem.graph), problem.seat
            if key not in passes_by_seat:
                new_passes = SeatPasses(problem.graph, problem.seat, problem.order, self.scale)
                passes_by_seat[key] = new_passes
            self.passes.append(passes_by_seat[key])
        needed_bytes = sum(passes.bytes_of_responder() for passes in self.passes)
        if needed_bytes > MEMORY_LIMIT:
            raise HogeqError(
                f"mixture: {len(problems)} parts need {needed_bytes / 2**30:.1f} GiB in a game of "
                f"this size; allowed: {MEMORY_LIMIT >> 30}: fewer parts, lower goal or max_dice"
            )
        self.parts = [
            _responder(passes, problem.policy)
            for passes, problem in zip(self.passes, problems, strict=True)
        ]
        self._chances = np.array([problem.chance for problem in problems])
        self._reach: list[Floats] = []  # of the own states, as last chosen, (O, H), by part
        self._most_reach: dict[int, float] = {}  # by row

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and actions, (R, K)."""
        rows = max(passes.graph.rows for passes in self.passes)
        return rows, self.passes[0].graph.num_actions

    def begin(self) -> None:
        """Find the states and the ways to play that play can reach, and solve the responders."""
        for passes, part in zip(self.passes, self.parts, strict=True):
            pass_graph = passes.pass_graph
            lanes = pass_graph.next_memory.shape[1]
            part.is_reachable[:] = self._reach_of_states(passes, part) > 0.0
            way_numbers = pass_graph.action_slot // lanes  # (S, K, H), counted in each situation
            situation = pass_graph.situation[passes.positions]  # (O,)
            is_reachable = part.is_reachable[passes.positions] > 0  # (O, H)
            for way in range(part.is_used_way.shape[1]):
                is_played = (way_numbers == way).any(axis=1)  # (S, H), by some action
                part.is_used_way[:, way] = (is_reachable & is_played[situation]).any(axis=1)
        self.remember()

    @property
    def hides(self) -> bool:
        """Whether some row has several states, so that its player does not know the state."""
        states = np.zeros(self.shape[0])
        for passes in self.passes:
            own, memories, _ = passes.shape
            count = passes.sum_by_row(np.full(own, float(memories)))
            states[: len(count)] += count
        return bool(states.max(initial=0.0) > 1.0)

    @property
    def value(self) -> float:
        """Expected payoff less prices, in units of `scale`: the mean over problems and starts."""
        total = 0.0
        for chance, passes, part in zip(self._chances, self.passes, self.parts, strict=True):
            position, memory = passes.graph.start.T
            total += chance * float(part.values[position, memory] @ passes.graph.start_chance)
        return float(total)

    def remember(self) -> float:
        """Solve every responder by one backward induction at its prices; return the value."""
        for passes, part in zip(self.passes, self.parts, strict=True):
            kernels.remember(passes.pass_graph, part, passes.scratch)
        return self.value

    def visit(self) -> None:
        """Compute the reach of all own states, by the actions chosen when last solved."""
        self._reach = [
            chance * self._reach_of_states(passes, part)[passes.positions]
            for chance, passes, part in zip(self._chances, self.passes, self.parts, strict=True)
        ]

    def row_reach(self) -> Floats:
        """Reach of every row, (R,), as last visited."""
        row_reach = np.zeros(self.shape[0])
        for passes, reach in zip(self.passes, self._reach, strict=True):
            row_reach[: passes.graph.rows] += passes.sum_by_row(reach.sum(axis=1))
        return row_reach

    def reach(self, row: int) -> Floats:
        """Reach of the states of a row, (n,), as last visited."""
        by_part = [
            reach[passes.positions_of_row(row)].ravel()
            for passes, reach in zip(self.passes, self._reach, strict=True)
        ]
        return np.concatenate(by_part)

    @staticmethod
    def _reach_of_states(passes: SeatPasses, part: Responder) -> Floats:
        """Reach of all states, (C, H), by the actions chosen; by all actions before any is."""
        reach = np.zeros(part.values.shape)
        states = passes.graph.start.astype(np.int64)
        chances = passes.graph.start_chance.copy()
        kernels.reach(passes.pass_graph, part, passes.scratch, states, chances, reach)
        return reach

    def reduced_costs(self, row: int) -> Floats:
        """Reduced cost of every action in a row's states, (K, n): by how much it is worse.

        It is 0 where play never comes.
        """
        by_part = []
        for passes, part in zip(self.passes, self.parts, strict=True):
            members = passes.positions_of_row(row)
            positions = passes.positions[members]
            situations = passes.pass_graph.situation[positions]
            # Indices (m, H, K) into `way_values`, of the ways by which the actions play.
            slots = passes.pass_graph.action_slot[situations].transpose(0, 2, 1)
            action_values = part.way_values[members[:, None, None], slots] - part.prices[members]
            costs = np.maximum(part.values[positions][..., None] - action_values, 0.0)
            costs[part.is_reachable[positions] == 0] = 0.0
            by_part.append(costs.reshape(-1, costs.shape[2]).T)
        return np.concatenate(by_part, axis=1)

    def largest_price(self) -> float:
        """Largest size so far of a price, of a row's part of one, or of the worth of a claim."""
        return max(float(part.largest_size[0]) for part in self.parts)

    def largest_value(self) -> float:
        """Size of the largest value when they were last solved."""
        return max(float(np.abs(part.values).max()) for part in self.parts)

    def missing(self) -> float:
        """Return by how much probabilities that should sum to 1 miss it at most.

        Chances of problems, rows of the other player and of nature, and outcomes of ways, of which
        rounding of each chance is no fault.
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
        return max(int(np.diff(passes.graph.first).max()) for passes in self.passes)

    def levels(self) -> int:
        """Most positions of a play."""
        return max(len(passes.graph.level) - 1 for passes in self.passes)

    # --- claims ---

    def lift(self, row: int, claim: Claim) -> tuple[Floats, float]:
        """Value the claims of a row, without charging them: refunds, and the fall of the value.

        Refunds are worths of the claims at the start: one for each action that claims, but those of
        the last may share one that is no less. The second is by how far the responders' value
        falls.
        """
        refunds = np.zeros(claim.num_refunds)
        total_fall = 0.0
        for number, claim_on_part in self._by_part(row, claim):
            refunds_of_part, fall = self._lift(number, row, claim_on_part)
            refunds += self._chances[number] * refunds_of_part
            total_fall += self._chances[number] * fall
        return refunds, total_fall

    def take(
        self, row: int, claim: Claim, row_prices: dict[int, RowPrices] | None, lifted: Floats | None
    ) -> Floats:
        """Charge claims: add them to the prices, subtract their loans, and return the refunds.

        `row_prices` is the row's own part of the prices, changed alike, by number of the responder;
        None if it is not stored. `lifted` are the refunds if the last pass was :meth:`lift` of the
        same claim: with one responder no other pass is then made.
        """
        if lifted is not None and len(self.parts) == 1:
            self.lend(0, row, claim, row_prices)
            return lifted
        refunds = np.zeros(claim.num_refunds)
        for number, claim_on_part in self._by_part(row, claim):
            refunds_of_part, _ = self._lift(number, row, claim_on_part)
            refunds += self._chances[number] * refunds_of_part
            self.lend(number, row, claim_on_part, row_prices)
        return refunds

    def _by_part(self, row: int, claim: Claim) -> Iterator[tuple[int, Claim]]:
        """Split a claim by responder: yield the number of each that moves there, and its claim."""
        for number, states in self._states(row):
            rises, fall = claim.price_rises[:, states], claim.value_fall[states]
            yield number, claim._replace(price_rises=rises, value_fall=fall)

    def _states(self, row: int) -> Iterator[tuple[int, slice]]:
        """Yield the number of each responder that moves in a row, and its slice of the n states."""
        first = 0
        for number, passes in enumerate(self.passes):
            count = len(passes.positions_of_row(row)) * passes.graph.memories
            if count:
                yield number, slice(first, first + count)
            first += count

    def _lift(self, number: int, row: int, claim: Claim) -> tuple[Floats, float]:
        """Value a claim by one pass over one responder: its refunds, and how far its value falls.

        Columns of the pass are the claims of actions and, last, the fall of the row's value.
        """
        passes = self.passes[number]
        count = claim.num_refunds
        columns = np.zeros((len(claim.value_fall), WIDTH))
        weights = np.zeros(WIDTH)
        weights[:count] = claim.covered_share
        columns[:, -1] = claim.value_fall
        if count:
            columns[:, :count] = claim.price_rises[:count].T
            # Actions for which there is no column share the last one, as the best of them.
            columns[:, count - 1] = claim.price_rises[count - 1 :].max(axis=0)
        is_met_once = kernels.lift(
            passes.pass_graph,
            self.parts[number],
            passes.claim_pass(WIDTH),
            passes.positions[passes.positions_of_row(row)],
            columns.ravel(),
            weights,
            claim.lent_share,
            _vector(WIDTH),
        )
        _require_once(row, is_met_once)
        start_worths = passes.mean_at_start(WIDTH)
        return start_worths[:count], float(start_worths[-1])

    def lend(
        self, number: int, row: int, claim: Claim, row_prices: dict[int, RowPrices] | None
    ) -> None:
        """Charge one responder for a row's claims, and subtract the loans of the last pass over it.

        `row_prices` is the row's own part of the prices, by number of the responder, None if it is
        not stored; the responder's entry is made at the first claim of the row.
        """
        part = self.parts[number]
        passes = self.passes[number]
        claim_pass = passes.claim_pass(WIDTH)
        price_shape = part.prices.shape[1:]  # (H, K), of a position
        stored = RowPrices(np.zeros(0, np.int64), np.zeros((0, *price_shape)))
        if row_prices is not None:
            if number not in row_prices:
                lenders = np.flatnonzero(claim_pass.relation[passes.positions])
                row_prices[number] = RowPrices(lenders, np.zeros((len(lenders), *price_shape)))
            stored = row_prices[number]
        members = passes.positions_of_row(row)
        charged = np.zeros((len(members), *price_shape))  # (m, H, K)
        charged[:, :, claim.actions] = claim.price_rises.T.reshape(*charged.shape[:2], -1)
        index = passes.numbers_among(stored.own_positions)
        kernels.lend(passes.pass_graph, part, claim_pass, index, stored.prices, _vector(WIDTH))
        part.prices[members] += charged
        _note_largest(part, charged, part.prices[members])
        if row_prices is not None:
            stored.prices[index[members]] += charged
            _note_largest(part, stored.prices[index[members]])

    # --- revisions ---

    def revise(
        self, row: int, row_prices: dict[int, RowPrices], more: Floats, lent: float
    ) -> Floats:
        """Charge `more` claims in a row, (K, n), and move its loans to lower the bound most.

        `row_prices` is the row's part of the prices, by number of the responder, revised in place;
        `lent` the largest share of an action's reduced cost that is lent. Returns the refunds of
        all claims of the row, (K,).
        """
        refunds = np.zeros(len(more))
        for number, states in self._states(row):
            part = self.parts[number]
            passes = self.passes[number]
            stored = row_prices[number]
            members = passes.positions_of_row(row)
            is_reachable = part.is_reachable[passes.positions[members]][..., None] > 0  # (m, H, 1)
            charged = more[:, states].T.reshape(len(members), -1, len(more))  # (m, H, K)
            charged = np.where(is_reachable, charged, 0.0)
            index = np.searchsorted(stored.own_positions, members)
            stored.prices[index] += charged
            part.prices[members] += charged
            _note_largest(part, stored.prices[index], part.prices[members])
            claims = stored.prices[index]
            refunds_of_part = self._revise(number, row, stored, claims, lent, returned=1.0)
            refunds += self._chances[number] * refunds_of_part
        return refunds

    def most_reach(self, row: int, row_prices: dict[int, RowPrices]) -> float:
        """Return the highest reach of a row that a responder can have, whatever it plays.

        It is the refund of a claim of 1 on every state and action, without loans; computed once.
        """
        if row not in self._most_reach:
            most_reach = 0.0
            for number, stored in row_prices.items():
                members = self.passes[number].positions_of_row(row)
                ones = np.ones((len(members), *stored.prices.shape[1:]))
                no_prices = stored._replace(prices=np.zeros_like(stored.prices))
                reach = self._revise(number, row, no_prices, ones, 0.0, returned=0.0).max()
                most_reach += self._chances[number] * reach
            self._most_reach[row] = float(most_reach)
        return self._most_reach[row]

    def _revise(
        self, number: int, row: int, stored: RowPrices, claims: Floats, lent: float, returned: float
    ) -> Floats:
        """Value all claims (m, H, K) of a row by one pass, which moves its loans: refunds, (K,).

        `lent` is the largest share of reduced costs that is lent, `returned` the share of needless
        loans that is given back. Columns of the pass are actions, then idle ones to a power of two.
        """
        passes = self.passes[number]
        positions, memories, actions = claims.shape
        width = width_of(actions)
        idle = np.full(width, -2.0 * kernels.NONE)
        idle[:actions] = 0.0
        columns = np.zeros((positions, memories, width))
        columns[:, :, :actions] = claims
        is_met_once = kernels.revise(
            passes.pass_graph,
            self.parts[number],
            passes.claim_pass(width),
            passes.scratch,
            passes.positions[passes.positions_of_row(row)],
            passes.numbers_among(stored.own_positions),
            stored.prices,
            columns.ravel(),
            idle,
            lent,
            returned,
            _vector(width),
        )
        _require_once(row, is_met_once)
        return passes.mean_at_start(width)[:actions]

    def is_met_once(self, row: int) -> bool:
        """Whether no play meets a row twice."""
        return all(self.passes[number].count_before(row) >= 0 for number, _ in self._states(row))

    def bytes_kept(self, row: int) -> int:
        """Bytes that it takes to store the part of the prices that is a row's."""
        total = 0
        for number, _ in self._states(row):
            passes = self.passes[number]
            _, memories, actions = passes.shape
            total += passes.count_before(row) * memories * actions * 8
        return total


def _require_solvable(graph: Graph) -> None:
    """Refuse graphs on which one backward induction is not enough, or with too many actions."""
    if graph.recurring.any():
        raise HogeqError("certificate: positions recur; allowed: games in which none does")
    if graph.num_actions > MOST_ACTIONS:
        given = f"an information set has {graph.num_actions:,} actions"
        raise HogeqError(f"certificate: {given}; allowed: {MOST_ACTIONS}")


def _scale_of(problems: Sequence[Problem]) -> float:
    """Return the least power of two that is no less than all payoffs: dividing by it is exact."""
    largest = 0.0
    for problem in problems:
        payoff = problem.graph.payoff
        if problem.seat == 1:
            payoff = problem.graph.total - payoff
        largest = max(largest, float(np.abs(payoff).max()))
    if largest == 0.0:
        return 1.0
    mantissa, exponent = frexp(largest)  # mantissa * 2**exponent, mantissa from 1/2 to below 1
    is_power_of_two = mantissa == 0.5
    return 2.0 ** (exponent - 1 if is_power_of_two else exponent)


def _responder(passes: SeatPasses, policy: Floats) -> Responder:
    """Make the arrays of a responder to a policy (R, K) of the other player, at prices of 0."""
    own, memories, _ = passes.shape
    positions = passes.graph.positions
    ways = len(passes.claim_pass(WIDTH).has_gains)
    return Responder(
        play=Play(passes.seat, np.ascontiguousarray(np.stack([policy, policy])), 0),
        payoff=passes.payoff,
        own_index=passes.own_index,
        prices=np.zeros(passes.shape),
        is_reachable=np.ones((positions, memories), np.uint8),
        is_used_way=np.ones((own, ways), np.uint8),
        values=np.zeros((positions, memories)),
        way_values=np.zeros((own, passes.num_slots)),
        best_action=np.full((own, memories), -1, np.int8),
        largest_size=np.zeros(1),
    )


def _require_once(row: int, is_met_once: bool) -> None:
    """Refuse claims of a row that a play can meet twice."""
    if not is_met_once:
        raise HogeqError(f"row {row}: can be met twice in a play; allowed: once, to claim")


def _note_largest(part: Responder, *arrays: Floats) -> None:
    """Raise the responder's `largest_size` to the largest size of the numbers of some arrays."""
    for array in arrays:
        part.largest_size[0] = max(part.largest_size[0], float(np.abs(array).max(initial=0.0)))
