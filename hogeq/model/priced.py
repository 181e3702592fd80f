"""Responders that know every state and pay dual prices for their actions, and claims of rows.

Against a policy of Hog there is one; against a mixture one for each component, as if it were told
the draw: what was drawn is one more thing to know, kept to the end. In other games each seat has
one as well. So a row has the states of all responders that move there, side by side.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import frexp
from typing import NamedTuple

import numpy as np

from hogeq.graph.graph import Graph
from hogeq.kernels import priced as kernels
from hogeq.kernels.priced import Claims, Responder
from hogeq.model.game import MEMORY_LIMIT
from hogeq.model.graph_passes import lists_of, scratch_for
from hogeq.support.aliases import Floats, Ints
from hogeq.support.messages import HogeqError

EPSILON = float(np.finfo(float).eps)
MOST_ACTIONS = 64  # whose claims are valued side by side
WIDTH = 8  # numbers side by side in a pass over claims


def width_of(actions: int) -> int:
    """Numbers side by side in a pass over the claims of all actions."""
    return max(WIDTH, 1 << (actions - 1).bit_length())


@dataclass(frozen=True, eq=False)
class Problem:
    """The problem of the player in one seat of a graph against a policy of the other."""

    graph: Graph
    seat: int
    policy: Floats  # (R, K), of which the rows of the other player count
    chance: float  # that this problem is the one that is met
    order: Ints | None = (
        None  # of positions, better for a cache; taken if all that follows is later
    )
    level: float = 0.0  # of payoffs, which the graph's are around
    error: float = 0.0  # most that numbers of the graph which are rounded change a payoff by


class Claim(NamedTuple):
    """Claims of one row; see :mod:`hogeq.search.lifted_bound`."""

    actions: Ints  # (A,), the actions that claim, the first claims most
    claims: Floats  # (A, n), of each of them on each state
    fall: Floats  # (n,), by how much the row's value falls
    weight: float  # share that is asked for of what a claim can gain by another action before
    lent: float  # largest share of the slack of an action that is lent


class Kept(NamedTuple):
    """One row's part of a responder's prices, so that it can be revised: its claims and loans."""

    own: Ints  # (n,), own positions from which play can come to it, and its own
    prices: Floats  # (n, H, K)


class _Passes:
    """What passes over one graph need, by the player in one seat: for responders to all policies.

    It moves at O positions, its own.
    """

    def __init__(self, graph: Graph, seat: int, order: Ints | None, scale: float) -> None:
        self.graph, self.seat = graph, seat
        self._before = _before(graph)
        if order is None or not _is_forward(order, *self._before):
            order = np.arange(graph.positions)
        self.lists = lists_of(graph)._replace(order=order.astype(np.int32))
        paid = graph.payoff if seat == 0 else graph.total - graph.payoff
        self.payoff = paid / scale
        self.scratch = scratch_for(self.lists, 1)
        self.positions = np.flatnonzero(graph.player == seat)
        self.own = np.full(graph.positions, -1)
        self.own[self.positions] = np.arange(len(self.positions))
        self._row = graph.row[self.positions].astype(np.int64)
        self._by_row = np.argsort(self._row, kind="stable")
        self._starts = np.searchsorted(self._row[self._by_row], np.arange(graph.rows + 1))
        self._claims: dict[int, Claims] = {}

    @property
    def ways(self) -> int:
        """Most ways to play at a position, and lanes: U * J."""
        return len(self.scratch.masses)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Shape of prices, (O, H, K)."""
        return len(self.positions), self.graph.memories, self.graph.num_actions

    def members(self, row: int) -> Ints:
        """Own positions of a row, (m,): numbers below O."""
        if row >= self.graph.rows:
            return np.zeros(0, np.int64)
        return self._by_row[self._starts[row] : self._starts[row + 1]]

    def by_row(self, numbers: Floats) -> Floats:
        """Sum numbers of the own positions, (O,), for each row: (R,)."""
        return np.bincount(self._row, numbers, self.graph.rows).astype(np.float64)

    def claims_of(self, width: int) -> Claims:
        """Give the arrays of a pass over so many numbers side by side."""
        if width not in self._claims:
            (own, memories, actions), ways = self.shape, self.ways
            shared = next(iter(self._claims.values()), None)
            lanes = self.lists.following.shape[1]
            before, start = self._before
            self._claims[width] = Claims(
                before=shared.before if shared else before.astype(np.int32),
                before_start=start,
                alive=shared.alive if shared else np.zeros(self.graph.positions, np.uint8),
                values=np.zeros(self.graph.positions * memories * width),
                loans=shared.loans if shared else np.zeros(self.shape),
                falls=shared.falls if shared else np.zeros((own, ways)),
                ends=np.zeros(len(self.scratch.ends) * width),
                rolled=np.zeros(ways * width),
                gaps=np.zeros((ways // lanes, ways // lanes)),
                compared=np.zeros(ways // lanes, np.uint8),
                row=np.zeros((2, actions)),
                by_lane=np.argsort(self.graph.lane, kind="stable"),
            )
        return self._claims[width]

    def count_before(self, row: int) -> int:
        """Count the own positions from which play can come to a row, and its own.

        -1 if a play can meet the row twice.
        """
        here = self.positions[self.members(row)]
        return int(kernels.count_before(self.lists, self.own, self.claims_of(WIDTH), here))

    def numbers(self, own: Ints) -> Ints:
        """Count own positions off among some of them, (O,); -1 for others."""
        found = np.full(len(self.positions), -1)
        found[own] = np.arange(len(own))
        return found

    def at_start(self, width: int) -> Floats:
        """Give the last pass's values of claims at the start: float64 (W,)."""
        claims, (position, memory) = self.claims_of(width), self.graph.start.T
        here = claims.values.reshape(self.graph.positions, -1, width)[position, memory]
        is_led = claims.alive[position] > 0
        return np.asarray((self.graph.start_chance * is_led) @ here)


class PricedResponders:
    """Responders that know every state and pay for their actions, one for each problem.

    Payoffs are in units of `scale`, a power of two that is no less than the largest. Nothing is
    computed before :meth:`begin`.
    """

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.scale = _scale_of(problems)
        made: dict[tuple[int, int], _Passes] = {}
        self.passes, self.parts, need = list[_Passes](), list[Responder](), 0.0
        for one in problems:
            if one.graph.recurring.any():
                raise HogeqError("certificate: positions recur; allowed: games in which none does")
            if one.graph.num_actions > MOST_ACTIONS:
                many = f"an information set has {one.graph.num_actions:,} actions"
                raise HogeqError(f"certificate: {many}; allowed: {MOST_ACTIONS}")
            key = id(one.graph), one.seat
            if key not in made:
                made[key] = _Passes(one.graph, one.seat, one.order, self.scale)
            self.passes.append(made[key])
            need += _bytes_of(made[key])
        if need > MEMORY_LIMIT:
            raise HogeqError(
                f"mixture: {len(problems)} parts need {need / 2**30:.1f} GiB in a game of this "
                f"size; allowed: {MEMORY_LIMIT >> 30}: fewer parts, lower goal or max_dice"
            )
        self.problems = problems
        self.parts = [_responder(*pair) for pair in zip(self.passes, problems, strict=True)]
        self._weights = np.array([one.chance for one in problems])
        self._reach: list[Floats] = []  # of the own states, as last chosen, (O, H), by part
        self._most_reach: dict[int, float] = {}  # by row

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and actions, (R, K)."""
        rows = max(one.graph.rows for one in self.passes)
        return rows, self.passes[0].graph.num_actions

    def begin(self) -> None:
        """Find out where play can come, and solve."""
        for passes, part in zip(self.passes, self.parts, strict=True):
            lists, visits = passes.lists, self._visits(passes, part)
            part.is_reachable[:] = visits > 0.0
            part.used[:] = 0
            ways, situation = lists.place // lists.following.shape[1], lists.situation
            for action, memory in np.ndindex(ways.shape[1:]):
                here = passes.positions[part.is_reachable[passes.positions, memory] > 0]
                part.used[passes.own[here], ways[situation[here], action, memory]] = 1
        self.remember()

    @property
    def hides(self) -> bool:
        """Whether some row has several states."""
        states = np.zeros(self.shape[0])
        for passes in self.passes:
            count = passes.by_row(np.full(len(passes.positions), float(passes.graph.memories)))
            states[: len(count)] += count
        return bool(states.max(initial=0.0) > 1.0)

    @property
    def value(self) -> float:
        """Payoff less the payments, in units of `scale`: the mean over problems and starts."""
        total = 0.0
        for weight, passes, part in zip(self._weights, self.passes, self.parts, strict=True):
            position, memory = passes.graph.start.T
            total += weight * float(part.values[position, memory] @ passes.graph.start_chance)
        return float(total)

    def remember(self) -> float:
        """Solve every responder by one backward induction."""
        for passes, part in zip(self.passes, self.parts, strict=True):
            kernels.remember(passes.lists, part, passes.scratch)
        return self.value

    def visit(self) -> None:
        """Compute the reach of all states as chosen when they were last solved."""
        self._reach = [
            weight * self._visits(passes, part)[passes.positions]
            for weight, passes, part in zip(self._weights, self.passes, self.parts, strict=True)
        ]

    def row_reach(self) -> Floats:
        """Reach of every row, as last visited: float64 (R,)."""
        found = np.zeros(self.shape[0])
        for passes, reach in zip(self.passes, self._reach, strict=True):
            found[: passes.graph.rows] += passes.by_row(reach.sum(axis=1))
        return found

    def reach(self, row: int) -> Floats:
        """Reach of the states of a row, as last visited: float64 (n,)."""
        found = zip(self.passes, self._reach, strict=True)
        return np.concatenate([reach[passes.members(row)].ravel() for passes, reach in found])

    @staticmethod
    def _visits(passes: _Passes, part: Responder) -> Floats:
        """Reach of all states, (C, H)."""
        graph, found = passes.graph, np.zeros(part.values.shape)
        start = graph.start.astype(np.int64), graph.start_chance.copy()
        kernels.reach(passes.lists, part, passes.scratch, *start, found)
        return found

    def slack(self, row: int) -> Floats:
        """Loss by every action in a row, float64 (K, n); 0 where play never comes."""
        found = []
        for passes, part in zip(self.passes, self.parts, strict=True):
            members = passes.members(row)
            here = passes.positions[members]
            places = passes.lists.place[passes.lists.situation[here]].transpose(0, 2, 1)
            worth = part.way_values[members[:, None, None], places] - part.prices[members]
            short = np.maximum(part.values[here][..., None] - worth, 0.0)
            short[part.is_reachable[here] == 0] = 0.0
            found.append(short.reshape(-1, short.shape[2]).T)
        return np.concatenate(found, axis=1)

    def largest_price(self) -> float:
        """Size of the largest price that there ever was, of a row's part, or of its worth."""
        return max(float(part.largest[0]) for part in self.parts)

    def largest_value(self) -> float:
        """Size of the largest value when they were last solved."""
        return max(float(np.abs(part.values).max()) for part in self.parts)

    def missing(self) -> float:
        """Give by how much probabilities that sum to 1 miss it at most."""
        missed = [abs(float(self._weights.sum()) - 1.0)]
        for one in self.problems:
            graph, first = one.graph, one.graph.first
            other = np.unique(graph.row[graph.player == 1 - one.seat])
            sums = np.concatenate([one.policy[other].sum(axis=1), graph.fixed.sum(axis=1)])
            missed.append(float(np.abs(sums - 1.0).max(initial=0.0)))
            # What so many chances miss by the rounding of each is no fault.
            sums, rounding = np.add.reduceat(graph.chance, first[:-1]), np.diff(first) * EPSILON
            missed.append(float((np.abs(sums - 1.0) - rounding).max()))
        return max(missed)

    def outcomes(self) -> int:
        """Most outcomes of a way."""
        return max(int(np.diff(passes.graph.first).max()) for passes in self.passes)

    def levels(self) -> int:
        """Most positions of a play."""
        return max(len(passes.graph.level) - 1 for passes in self.passes)

    # --- claims ---

    def lift(self, row: int, claim: Claim) -> tuple[Floats, float]:
        """Value at the start of the claims, float64, and how far the responders' value falls.

        Each action's claim has a value, but those of the last may share one that is no less.
        """
        worths, falls = np.zeros(min(len(claim.actions), WIDTH - 1)), 0.0
        for number, own in self._own(row, claim):
            worth, lowered = self._lift(number, row, own)
            worths += self._weights[number] * worth
            falls += self._weights[number] * lowered
        return worths, falls

    def take(
        self, row: int, claim: Claim, kept: dict[int, Kept] | None, lifted: Floats | None
    ) -> Floats:
        """Add claims and loans to the prices, and to the sums kept of the row, by part.

        Return the claims' value at the start: `lifted`, if the last pass was that of this claim. No
        other is then made, if there is one part.
        """
        worths = np.zeros(min(len(claim.actions), WIDTH - 1))
        if lifted is not None and len(self.parts) == 1:
            self.lend(0, row, claim, kept)
            return lifted
        for number, own in self._own(row, claim):
            worths += self._weights[number] * self._lift(number, row, own)[0]
            self.lend(number, row, own, kept)
        return worths

    def _own(self, row: int, claim: Claim) -> Iterator[tuple[int, Claim]]:
        """Take a claim on the states of all parts apart: those that have some."""
        for number, states in self._states(row):
            own = claim.claims[:, states], claim.fall[states]
            yield number, claim._replace(claims=own[0], fall=own[1])

    def _states(self, row: int) -> Iterator[tuple[int, slice]]:
        """Give the parts that have states in a row, and where these are."""
        first = 0
        for number, passes in enumerate(self.passes):
            count = len(passes.members(row)) * passes.graph.memories
            if count:
                yield number, slice(first, first + count)
            first += count

    def _lift(self, number: int, row: int, claim: Claim) -> tuple[Floats, float]:
        passes, asked = self.passes[number], min(len(claim.actions), WIDTH - 1)
        claims, weights = np.zeros((len(claim.fall), WIDTH)), np.zeros(WIDTH)
        if asked:  # actions for which there is no place are valued together, as the best of them
            claims[:, :asked] = claim.claims[:asked].T
            claims[:, asked - 1] = claim.claims[asked - 1 :].max(axis=0)
        claims[:, -1] = claim.fall
        weights[:asked] = claim.weight
        here, found = passes.positions[passes.members(row)], passes.claims_of(WIDTH)
        asked_for = here, claims.ravel(), weights, claim.lent, (0.0,) * WIDTH
        _require_once(row, kernels.lift(passes.lists, self.parts[number], found, *asked_for))
        start = passes.at_start(WIDTH)
        return start[:asked], float(start[-1])

    def lend(self, number: int, row: int, claim: Claim, kept: dict[int, Kept] | None) -> None:
        """Add the claims and loans of the last pass, of one part, to its prices."""
        part, passes = self.parts[number], self.passes[number]
        claims, shape = passes.claims_of(WIDTH), part.prices.shape[1:]
        own = Kept(np.zeros(0, np.int64), np.zeros((0, *shape)))
        if kept is not None:
            if number not in kept:  # zeros, at the own positions from which the pass came to it
                led = np.flatnonzero(claims.alive[passes.positions])
                kept[number] = Kept(led, np.zeros((len(led), *shape)))
            own = kept[number]
        members = passes.members(row)
        more = np.zeros((len(members), *shape))
        more[:, :, claim.actions] = claim.claims.T.reshape(*more.shape[:2], -1)
        numbers = passes.numbers(own.own)
        kernels.lend(part, claims, numbers, own.prices, (0.0,) * WIDTH)
        part.prices[members] += more
        if kept is not None:
            own.prices[numbers[members]] += more
        _note(part, more, part.prices[members], own.prices[numbers[members]] if kept else more)

    # --- revisions ---

    def revise(self, row: int, kept: dict[int, Kept], more: Floats, lent: float) -> Floats:
        """Claim more in a row, (K, n), and move its prices to lower the bound most.

        Return the value of its claims by action, (K,).
        """
        worths = np.zeros(len(more))
        for number, states in self._states(row):
            part, passes, own = self.parts[number], self.passes[number], kept[number]
            members = passes.members(row)
            places = np.searchsorted(own.own, members)
            added = more[:, states].T.reshape(len(members), -1, len(more))
            is_reachable = part.is_reachable[passes.positions[members]] > 0
            added = np.where(is_reachable[..., None], added, 0.0)
            own.prices[places] += added
            part.prices[members] += added
            _note(part, own.prices[places], part.prices[members])
            asked = own, own.prices[places], lent, 1.0
            worths += self._weights[number] * self._revise(number, row, *asked)
        return worths

    def most_reach(self, row: int, kept: dict[int, Kept]) -> float:
        """Give the highest reach of a row that a responder can have."""
        if row not in self._most_reach:
            found = 0.0
            for number, own in kept.items():
                nothing = Kept(own.own, np.zeros_like(own.prices))
                ones = np.ones((len(self.passes[number].members(row)), *own.prices.shape[1:]))
                most = self._revise(number, row, nothing, ones, 0.0, 0.0).max()
                found += self._weights[number] * most
            self._most_reach[row] = float(found)
        return self._most_reach[row]

    def _revise(
        self, number: int, row: int, kept: Kept, claims: Floats, lent: float, returned: float
    ) -> Floats:
        passes, actions = self.passes[number], claims.shape[2]
        width = width_of(actions)
        idle = np.full(width, -2.0 * kernels.NONE)
        idle[:actions] = 0.0
        claimed = np.zeros((*claims.shape[:2], width))
        claimed[:, :, :actions] = claims
        is_once = kernels.revise(
            passes.lists,
            self.parts[number],
            passes.claims_of(width),
            passes.scratch,
            passes.positions[passes.members(row)],
            passes.numbers(kept.own),
            kept.prices,
            claimed.ravel(),
            idle,
            lent,
            returned,
            (0.0,) * width,
        )
        _require_once(row, is_once)
        return passes.at_start(width)[:actions]

    def is_met_once(self, row: int) -> bool:
        """Whether no play meets a row twice."""
        return all(self.passes[number].count_before(row) >= 0 for number, _ in self._states(row))

    def bytes_kept(self, row: int) -> int:
        """Bytes of the part of the prices that is a row's."""
        found = 0
        for number, _ in self._states(row):
            passes = self.passes[number]
            found += passes.count_before(row) * passes.graph.memories * passes.graph.num_actions * 8
        return found


def _before(graph: Graph) -> tuple[Ints, Ints]:
    """Positions before each, one after another, and where those of each begin, (C + 1,)."""
    size, (position, entry) = graph.positions, graph.ends
    after = graph.next[entry].astype(np.int64)
    links = np.unique((after * size + position)[after >= 0])
    return links % size, np.searchsorted(links // size, np.arange(size + 1))


def _is_forward(order: Ints, before: Ints, start: Ints) -> bool:
    """Whether an order has every position once, and after all those before it."""
    rank = np.full(len(start) - 1, -1)
    rank[order] = np.arange(len(order))
    if len(order) != len(rank) or (rank < 0).any():
        return False
    return bool((rank[before] < np.repeat(rank, np.diff(start))).all())


def _scale_of(problems: Sequence[Problem]) -> float:
    """Least power of two that is no less than all payoffs: to divide by it rounds nothing."""
    most = 0.0
    for one in problems:
        paid = one.graph.payoff if one.seat == 0 else one.graph.total - one.graph.payoff
        most = max(most, float(np.abs(paid).max()))
    mantissa, exponent = frexp(most)
    return 2.0 ** (exponent - (mantissa == 0.5)) if most else 1.0


def _bytes_of(passes: _Passes) -> int:
    (own, memories, actions), ways = passes.shape, passes.ways
    states = 8 * (actions + 2) + 3
    return own * (memories * states + 8 * ways)


def _responder(passes: _Passes, problem: Problem) -> Responder:
    (own, memories, _), positions = passes.shape, passes.graph.positions
    ways = len(passes.claims_of(WIDTH).compared)
    return Responder(
        me=passes.seat,
        policies=np.ascontiguousarray(np.stack([problem.policy] * 2)),
        payoff=passes.payoff,
        own_number=passes.own,
        prices=np.zeros(passes.shape),
        is_reachable=np.ones((positions, memories), np.uint8),
        used=np.ones((own, ways), np.uint8),
        values=np.zeros((positions, memories)),
        way_values=np.zeros((own, passes.ways)),
        chosen=np.full((own, memories), -1, np.int8),
        largest=np.zeros(1),
    )


def _require_once(row: int, is_once: bool) -> None:
    if not is_once:
        raise HogeqError(f"row {row}: can be met twice in a play; allowed: once, to claim")


def _note(part: Responder, *numbers: Floats) -> None:
    """Keep the size of the largest of some numbers, if it is the largest of all."""
    most = max(float(np.abs(array).max(initial=0.0)) for array in numbers)
    part.largest[0] = max(part.largest[0], most)
