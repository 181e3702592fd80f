"""Best responses of a player who forgets, proved by branch and bound over its rows.

A row may play some *corners*, distributions over the K actions: pure ones by default. A response
has one corner for each row. The relaxation is a player who forgets nothing and takes the best
corner in every state; branching fixes the corner of one row after the other.

It serves every graph (:class:`hogeq.graph.graph.Graph`) in which one player moves and all others
are fixed, memory included, if no play meets a row twice. ``docs/existence.md`` has the theorem.
"""

from collections import namedtuple
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from itertools import cycle, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.evaluation.rounding import SECOND_ORDER, UNDERFLOW, priced_turn_error
from hogeq.graph.graph import FORM, Graph
from hogeq.kernels import forgetting
from hogeq.kernels import responding as kernels
from hogeq.kernels.decisions import Decisions, fill_decisions, mark_before
from hogeq.kernels.forgetting import Search, Workspace
from hogeq.kernels.responding import Corners, Others, States
from hogeq.support.aliases import Floats, Ints
from hogeq.support.deadline import FOREVER, Deadline
from hogeq.support.floats import UNIT_ROUNDOFF
from hogeq.support.messages import HogeqError

MOST_RELAXATIONS_AT_ONCE = 100  # most relaxations between two looks at the clock
MOST_STATES_AT_ONCE = 1_000_000  # most states that the relaxations between two looks value
PRICING_COST = 100.0  # outcomes that a pass meets in the time of making an entry of an array
MOST_RELAXATIONS = 20_000_000  # of a proof, by default

Arrays: Any = namedtuple("Arrays", [*FORM])  # type: ignore[misc]  # noqa: PYI024
"""Arrays of a graph, as kernels take them."""


class Status(IntEnum):
    """How a search ended."""

    CLOSED = forgetting.CLOSED  # proved: no response gets more than the target
    FOUND = forgetting.FOUND  # a response gets more than the target
    OPEN = forgetting.OPEN  # undecided: the effort was used up


class ResponseSearch(NamedTuple):
    """Result of a search for a response that gets more than a target."""

    status: Status
    value: float  # payoff of `response`, if the status is FOUND
    bound: float  # on the payoffs of all responses, rounding included, if the status is CLOSED
    response: Ints  # (R,), corner of each row
    tree: Ints  # the proof, depth first: rows that the search branched on, negative at leaves

    @classmethod
    def succeeded(cls, response: Ints, value: float) -> "ResponseSearch":
        """End with a response (R,) that gets more than the target."""
        return cls(Status.FOUND, value, np.inf, response, np.zeros(0, np.int64))

    @classmethod
    def not_begun(cls) -> "ResponseSearch":
        """End before the first relaxation."""
        none = np.zeros(0, np.int64)
        return cls(Status.OPEN, -np.inf, np.inf, none, none)


def sum_error(probabilities: Floats) -> float:
    """Most by which distributions along the last axis miss a sum of 1, rounding included."""
    if not probabilities.size:
        return 0.0
    largest = float(np.abs(probabilities.sum(axis=-1) - 1.0).max())
    return largest + probabilities.shape[-1] * UNIT_ROUNDOFF


@dataclass(frozen=True, eq=False)
class ResponseGraph:
    """The states that play can come to in a graph of one player."""

    states: States
    legal: NDArray[np.bool_]
    """Legal actions of each row, (R, K)."""
    size: float
    """Largest payoff in size."""
    turns: int
    """Most turns of a play."""
    outcomes: int
    """Most outcomes of an action."""
    misses: float
    """By how much chances of outcomes may miss a sum of 1, in one turn."""

    @classmethod
    def of(cls, graph: Graph) -> "ResponseGraph":
        """List the states of a graph in which player 0 responds, and nobody else decides.

        A state is a position and a memory; a row is an information set, which joins states.
        """
        if (graph.player == 1).any():
            raise HogeqError("graph: two players decide; allowed: one, and fixed tables")
        arrays = Arrays(*(np.ascontiguousarray(getattr(graph, name)) for name in FORM))
        # A state is a position and a value of the memory that play can come to. Arrays (C, H) have
        # for every position and memory whether there is a state, and its number, else -1.
        is_reached = np.zeros((len(graph.player), len(graph.lane)), np.int8)
        num_outcomes = kernels.mark_states(arrays, is_reached)
        states_so_far = is_reached.cumsum(dtype=np.int64).reshape(is_reached.shape)
        number = np.where(is_reached, states_so_far - 1, -1)
        num_states = int(is_reached.sum())
        num_actions = graph.way.shape[2]
        states = States(
            row_of_state=np.zeros(num_states, np.int64),
            is_own=np.zeros(num_states, np.bool_),
            outcome_offsets=np.zeros(num_states * num_actions + 1, np.int64),
            outcome_probability=np.zeros(num_outcomes),
            outcome_state=np.zeros(num_outcomes, np.int64),
            immediate_payoff=np.zeros((num_states, num_actions)),
            start_state=number[tuple(graph.start.T)],
            start_probability=graph.start_chance,
        )
        kernels.fill_states(arrays, number, states)  # fills the arrays of the states
        chance_sums = np.add.reduceat(graph.chance, graph.first[:-1])
        most_outcomes = int(np.diff(graph.first).max())
        return cls(
            states=states,
            legal=graph.legal,
            size=float(np.abs(graph.payoff).max()),
            turns=len(graph.level),
            outcomes=most_outcomes,
            misses=float(np.abs(chance_sums - 1.0).max()) + most_outcomes * UNIT_ROUNDOFF,
        )

    @property
    def pure(self) -> list[Floats]:
        """Corners of each row, (n, K): its pure actions."""
        actions = np.eye(self.legal.shape[1])
        return [actions[legal] for legal in self.legal]

    def without_opponents(self, corners: Sequence[Floats] | None = None) -> "ResponseProblem":
        """Pose the problem of a best response where all others have one action, number 0."""
        only_action = np.zeros((1, *self.legal.shape))
        only_action[..., 0] = 1.0
        return self.against(np.ones(1), only_action, corners)

    def against(
        self, weights: Floats, tables: Floats, corners: Sequence[Floats] | None = None
    ) -> "ResponseProblem":
        """Pose the problem of a best response to a mixture of opponents, by branch and bound.

        `weights`, (n,), are the probabilities of its components, and `tables`, (n, F, K), their
        policies, each for the F rows of all other players together. `corners` are the distributions
        that each row of the player may play, (c, K); by default its pure actions.
        """
        corners = self.pure if corners is None else corners
        states = self.states
        first_corner = np.concatenate([[0], np.cumsum([len(row) for row in corners])])
        choices = Corners(first_corner, np.concatenate(corners))
        reachable = []  # states that play can come to against each component
        for table in tables:
            is_reached = np.zeros(len(states.row_of_state), np.int8)
            kernels.mark_met_states(states, choices, table, is_reached)  # marks them
            reachable.append(np.flatnonzero(is_reached))
        first_reachable = np.concatenate([[0], np.cumsum([len(numbers) for numbers in reachable])])
        others = Others(np.asarray(weights), tables, first_reachable, np.concatenate(reachable))
        errors = self._payoff_errors(np.asarray(weights), tables, choices.probabilities)
        return ResponseProblem(states, choices, others, *errors)

    def _payoff_errors(self, weights: Floats, tables: Floats, play: Floats) -> tuple[float, float]:
        """Bound the error of a computed payoff, and of a pass: docs/existence.md, "Rounding".

        A sum of n products is off by n units of roundoff of the terms' sizes, gamma_n to first
        order (Higham 2002, (3.5)); `SECOND_ORDER` covers the rest.

        The causes are the rounding of each operation, and probabilities that miss a sum of 1: of
        the mixture's `weights` (n,), of the opponents' `tables` (n, F, K), and of all corners that
        rows may `play`, (N, K). Also bounds how far a pass is off in which rows pay prices, in
        units of the largest number.
        """
        states = self.states
        actions = play.shape[1]
        # The value of a corner sums the outcomes of all actions that it plays: nK + 2K + 6.
        roundings = self.turns * (self.outcomes * actions + 2 * actions + 6)
        # The mean over components and starts: a sum, and 4 of their chances.
        roundings += len(tables) * len(states.start_state) + 4
        used_rows = tables[:, np.unique(states.row_of_state[~states.is_own])]
        misses_of_turn = self.misses + sum_error(used_rows) + sum_error(play)
        misses = self.turns * misses_of_turn
        misses += sum_error(weights) + sum_error(states.start_probability)
        error = SECOND_ORDER * self.size * (roundings * UNIT_ROUNDOFF + misses) + UNDERFLOW
        # A flow visits a state of each turn, and of the start; values and prices each add an error.
        error_of_turn = priced_turn_error(self.outcomes * actions, len(play), misses_of_turn)
        return error, 2 * (self.turns + 1) * error_of_turn


@dataclass(frozen=True, eq=False)
class ResponseProblem:
    """The problem of a best response of one player, each row of which chooses a corner.

    A response (R,) has the number of a corner for each row. In some methods -1 stands for the best
    corner in each state of a row, as a player who forgets nothing would take it.
    """

    states: States
    corners: Corners
    others: Others
    error: float
    """How far a computed payoff may be off."""
    error_of_pass: float
    """The same of each pass in which rows pay prices, in units of the largest number."""

    @property
    def unfixed(self) -> Ints:
        """Response (R,) of full memory: -1 in each row of several corners, else 0."""
        return np.where(np.diff(self.corners.corner_offsets) > 1, -1, 0)

    @property
    def relaxed_response(self) -> Ints:
        """Response (R,): the best corner of each row, as a player with full memory reaches it."""
        _, corner_values = self.gradient(self.unfixed)
        corners_of_rows = pairwise(self.corners.corner_offsets)
        return np.array([corner_values[first:end].argmax() for first, end in corners_of_rows])

    def value(self, response: Ints) -> float:
        """Payoff of a response (R,), but for `error`; the best corner of every state where -1."""
        return float(forgetting.evaluate(self.decisions, response, self._work))

    def values(self, response: Ints) -> Floats:
        """Payoffs of a response (R,) against each component of the mixture, (n,)."""
        self.value(response)  # fills the values of all states
        start_values = self._work.node_values[self.decisions.start_node]
        by_component = start_values.reshape(len(self.others.table_weight), -1)
        return by_component @ self.states.start_probability

    def gradient(self, response: Ints) -> tuple[float, Floats]:
        """Payoff of a response (R,), and the counterfactual value of every corner, (N,).

        A response has the number of a corner for each row: a distribution over actions that the
        information set may play. The value sums those of the corner in all states of its row,
        weighted by reach.
        """
        payoff = forgetting.differentiate(self.decisions, response, self._work)  # and `corner_sums`
        num_corners = self.decisions.num_corners
        # The columns of a row beyond its own number of corners are unused.
        corner_values = self._work.corner_sums[: len(num_corners)]
        exists = np.arange(corner_values.shape[1]) < num_corners[:, None]
        return float(payoff), corner_values[exists]

    def improve(
        self, response: Ints, deadline: Deadline = FOREVER, held_row: int | None = None
    ) -> tuple[Ints, float]:
        """Improve a response (R,) row by row, each time in the row that gains most.

        A response has the number of a corner for each row (information set): one of the
        distributions over actions that it may play. Ends when no row alone gains, or when the time
        is over. A `held_row` keeps its corner. Returns the improved response (R,) and its payoff.
        """
        response = response.copy()
        first = self.corners.corner_offsets
        while True:
            payoff, corner_values = self.gradient(response)
            best_values = np.maximum.reduceat(corner_values, first[:-1])  # (R,)
            gains = best_values - corner_values[first[:-1] + response]
            if held_row is not None:
                gains[held_row] = 0.0
            row = int(gains.argmax())
            if gains[row] <= self.error or deadline.is_over:
                return response, payoff
            response[row] = corner_values[first[row] : first[row + 1]].argmax()

    def ascend(self, starts: Iterable[Ints], deadline: Deadline = FOREVER) -> tuple[Ints, float]:
        """Improve the relaxed response and `starts`, each (R,); give the best, and its payoff.

        The relaxed response has the best corner (distribution) of each row as full memory reaches
        it.
        """
        improved = [self.improve(self.relaxed_response, deadline)]
        for start in starts:
            if deadline.is_over:
                break
            improved.append(self.improve(start, deadline))
        return max(improved, key=lambda pair: pair[1])

    def escape(
        self, response: Ints, target: float, deadline: Deadline = FOREVER
    ) -> tuple[Ints, float]:
        """Improve a response (R,) that no row alone improves, by a row and all others after it.

        A row is held at another corner while the others ascend; then all do. Each row and corner
        takes a turn, again and again, until none is better, until a response gets more than the
        target, or until the time is over. Returns the best response (R,), and its payoff.
        """
        payoff, corner_values = self.gradient(response)
        first = self.corners.corner_offsets
        highest = np.maximum.reduceat(corner_values, first[:-1])
        lowest = np.minimum.reduceat(corner_values, first[:-1])
        moves = [  # of rows that matter
            (row, corner)
            for row in np.flatnonzero(highest > lowest)
            for corner in range(first[row + 1] - first[row])
        ]
        moves_without_gain = 0
        for row, corner in cycle(moves):
            if payoff > target or moves_without_gain == len(moves) or deadline.is_over:
                break
            moves_without_gain += 1
            if response[row] == corner:
                continue
            changed = response.copy()
            changed[row] = corner
            changed, _ = self.improve(changed, deadline, held_row=int(row))
            changed, changed_payoff = self.improve(changed, deadline)
            if changed_payoff > payoff + self.error:
                response, payoff = changed, changed_payoff
                moves_without_gain = 0
        return response, payoff

    def ascend_and_escape(
        self, starts: Iterable[Ints], target: float, deadline: Deadline = FOREVER
    ) -> tuple[Ints, float]:
        """Ascend from `starts`, each (R,); escape from the best if it gets at most a target."""
        response, value = self.ascend(starts, deadline)
        return (response, value) if value > target else self.escape(response, target, deadline)

    def respond(
        self,
        starts: Iterable[Ints],
        target: float,
        most_relaxations: int = MOST_RELAXATIONS,
        deadline: Deadline = FOREVER,
        is_priced: bool = True,
    ) -> ResponseSearch:
        """Find a response that gets more than a target, or prove that there is none.

        1. Ascend from the responses (R,) of `starts`, row by row.
        2. If none of the results gets more, go on by branch and bound of at most
           `most_relaxations`, with prices at its leaves if `is_priced`.
        """
        response, value = self.ascend(starts, deadline)
        if value > target:
            return ResponseSearch.succeeded(response, value)
        return self.branch_and_bound(target, most_relaxations, deadline, is_priced)

    def branch_and_bound(
        self,
        target: float,
        most_relaxations: int = MOST_RELAXATIONS,
        deadline: Deadline = FOREVER,
        is_priced: bool = True,
    ) -> ResponseSearch:
        """Prove by branch and bound that no response gets more than a target, or find one.

        A response takes one corner, a distribution over actions, in each row (information set).

        1. Solve a relaxation: rows that are not fixed take their best corner in each state.
        2. If it gets more than the target, round it to a response; if that does, too, it is found.
        3. Else, and if prices do not lower the relaxation enough either, branch on the row that
           loses most by rounding: fix each of its corners in turn.

        The proved bound is the target, and what rounding may add. The search is left open after
        `most_relaxations`, or when the time is over. If `is_priced`, leaves may have prices,
        Lagrange multipliers that charge a row for different corners in its states. They save
        relaxations, but rational arithmetic cannot check such leaves. Where there is no time for
        them, leaves have none. Raises `HogeqError` for prices where a play can meet a row twice.
        """
        dag = self.decisions
        work = self._work
        num_rows = len(dag.num_corners)
        work.largest[:] = 0.0
        work.most_priced_rows[:] = 0
        # Prices take a few passes for each row, and so does marking the states before each row.
        pricing_effort = num_rows * len(dag.outcome_node) / PRICING_COST
        is_priced = is_priced and deadline.allows(pricing_effort)
        if is_priced:
            dag = _with_related_nodes(dag)
        search = _new_search(self.unfixed)
        subtrees = [np.zeros(0, np.int64)]  # nodes of each call
        states_of_relaxation = len(dag.row_of_node) * (num_rows if is_priced else 1)  # at most
        batch = min(1 + MOST_STATES_AT_ONCE // (1 + states_of_relaxation), MOST_RELAXATIONS_AT_ONCE)
        status = Status.OPEN
        while status == Status.OPEN and most_relaxations > 0 and not deadline.is_over:
            num_nodes = min(most_relaxations, batch)
            search = search._replace(preorder=np.zeros(num_nodes, np.int64))
            search.num_nodes[0] = 0
            is_priced = is_priced and deadline.allows(pricing_effort)
            status = Status(forgetting.close(dag, target, num_nodes, is_priced, search, work))
            subtrees.append(search.preorder[: search.num_nodes[0]])
            most_relaxations -= num_nodes
        if status == Status.FOUND:
            return ResponseSearch.succeeded(*self.improve(search.response, deadline))
        bound = self._raise_by_rounding(float(search.bound[0]))
        return ResponseSearch(status, -np.inf, bound, search.fixed, np.concatenate(subtrees))

    def _raise_by_rounding(self, bound: float) -> float:
        """Raise a bound of the last branch and bound by as much as rounding may have lowered it.

        Each row that changed dual prices at a leaf adds the error of a pass.
        """
        bound += self.error
        price_changes = int(self._work.most_priced_rows[0])  # most at any leaf
        if price_changes > 0:
            largest_number = max(1.0, float(self._work.largest[0]))
            bound += (price_changes + 2) * largest_number * self.error_of_pass
        return bound

    @cached_property
    def decisions(self) -> Decisions:
        """The problem as a DAG whose nodes are pairs of a state and a component of the mixture.

        A node's row chooses a corner, chance draws one of the outcomes, and play comes to the next
        node or ends with a payoff.
        """
        num_nodes = len(self.others.member_state)
        num_corners = np.diff(self.corners.corner_offsets)  # of each row
        shape = num_nodes, int(num_corners.max())
        num_starts = len(self.others.table_weight) * len(self.states.start_state)
        dag = Decisions(
            row_of_node=np.zeros(num_nodes, np.int64),
            outcome_offsets=np.zeros(num_nodes * shape[1] + 1, np.int64),
            outcome_probability=np.zeros(0),
            outcome_node=np.zeros(0, np.int64),
            immediate_payoff=np.zeros(shape),
            start_node=np.zeros(num_starts, np.int64),
            start_probability=np.zeros(num_starts),
            num_corners=num_corners,
            relation_to_row=np.zeros((0, 0), np.int8),
            related_offsets=np.zeros(0, np.int64),
            related_nodes=np.zeros(0, np.int64),
        )
        node_of_state = np.zeros(len(self.states.row_of_state), np.int64)  # scratch of the kernel
        # The first call counts the outcomes, whose arrays are empty; the second also fills these,
        # and the payoffs. Room for at least one outcome tells the calls apart.
        num_outcomes = fill_decisions(self.states, self.corners, self.others, node_of_state, dag)
        room = 1 + num_outcomes
        next_nodes = np.zeros(room, np.int64)
        dag = dag._replace(outcome_probability=np.zeros(room), outcome_node=next_nodes)
        fill_decisions(self.states, self.corners, self.others, node_of_state, dag)
        return dag

    @cached_property
    def _work(self) -> Workspace:
        """Scratch arrays of the kernels, which passes over the nodes overwrite."""
        num_nodes, most_corners = self.decisions.immediate_payoff.shape
        num_rows = len(self.decisions.num_corners)
        return Workspace(
            dual_prices=np.zeros((num_nodes, most_corners)),
            node_values=np.zeros(num_nodes),
            edge_values=np.zeros((num_nodes, most_corners)),
            collected_later=np.zeros((num_nodes, most_corners)),
            node_reach=np.zeros(num_nodes),
            row_loss=np.zeros(num_rows),
            response=np.zeros(num_rows, np.int64),
            largest=np.zeros(1),
            most_priced_rows=np.zeros(1, np.int64),
            corner_sums=np.zeros((max(num_rows, 2), most_corners)),
            collected=np.zeros((most_corners, most_corners)),
        )


def _with_related_nodes(dag: Decisions) -> Decisions:
    """Add the nodes before and in each row to a DAG, where dual prices of the row apply.

    `relation_to_row`, int8 (R, nodes), is not 0 where they are; `related_nodes` lists them row
    after row, from `related_offsets` on. Raises `HogeqError` if a play can meet a row twice.
    """
    num_rows = len(dag.num_corners)
    dag = dag._replace(relation_to_row=np.zeros((num_rows, len(dag.row_of_node)), np.int8))
    if not mark_before(dag):  # fills the relations
        raise HogeqError("prices: allowed where no play meets a row twice")
    rows, nodes = np.nonzero(dag.relation_to_row)
    offsets = np.searchsorted(rows, np.arange(num_rows + 1))
    return dag._replace(related_offsets=offsets, related_nodes=nodes)


def _new_search(unfixed: Ints) -> Search:
    """Make the arrays in which the kernel of branch and bound keeps its place between two calls.

    It searches depth first, from a root at which no row is fixed: `unfixed` (R,) has -1 for each
    row of several corners.
    """
    return Search(
        fixed=unfixed.copy(),
        branched_rows=np.zeros(len(unfixed), np.int64),
        depth=np.zeros(1, np.int64),
        preorder=np.zeros(0, np.int64),
        num_nodes=np.zeros(1, np.int64),
        response=unfixed.copy(),
        bound=np.full(1, -np.inf),
    )
