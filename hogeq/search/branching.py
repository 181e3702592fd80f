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
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.graph.graph import FORM, Graph
from hogeq.kernels import forgetting
from hogeq.kernels import responding as kernels
from hogeq.kernels.forgetting import Decisions, Workspace
from hogeq.kernels.responding import Corners, Others, States
from hogeq.support.aliases import Floats, Ints
from hogeq.support.deadline import FOREVER, Deadline
from hogeq.support.messages import HogeqError

ROUNDING = 2.0**-53
BATCH = 100  # relaxations between two looks at the clock, at most
VALUED = 1_000_000  # states that these value, but for the last
PRICING = 100.0  # outcomes that a pass for a row meets in the time of making an entry of an array
MOST_QUESTIONS = 20_000_000

Arrays: Any = namedtuple("Arrays", [*FORM])  # type: ignore[misc]  # noqa: PYI024
"""Arrays of a graph, as kernels take them."""


class Status(IntEnum):
    """How a search ended."""

    CLOSED = forgetting.CLOSED  # no response gets more than the target
    FOUND = forgetting.FOUND  # one does
    OPEN = forgetting.OPEN  # the effort was used up


class Closing(NamedTuple):
    """Result of a search for a response that gets more than a target."""

    status: Status
    value: float  # of `response`, if one was found
    bound: float  # proved on all responses, rounding included, if the search is closed
    response: Ints  # (R,), corner of each row
    questions: Ints  # the proof: rows that the search branched on, depth first, and -1 at leaves

    @classmethod
    def found(cls, response: Ints, value: float) -> "Closing":
        """End with a response (R,) that gets more than the target."""
        return cls(Status.FOUND, value, np.inf, response, np.zeros(0, np.int64))

    @classmethod
    def unknown(cls) -> "Closing":
        """End before the first relaxation."""
        none = np.zeros(0, np.int64)
        return cls(Status.OPEN, -np.inf, np.inf, none, none)


def sum_error(probabilities: Floats) -> float:
    """By how much distributions along the last axis miss a sum of 1 at most, rounding included."""
    if not probabilities.size:
        return 0.0
    largest = float(np.abs(probabilities.sum(axis=-1) - 1.0).max())
    return largest + probabilities.shape[-1] * ROUNDING


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
        """List the states of a graph in which player 0 responds, and nobody else decides."""
        if (graph.player == 1).any():
            raise HogeqError("graph: two players decide; allowed: one, and fixed tables")
        arrays = Arrays(*(np.ascontiguousarray(getattr(graph, name)) for name in FORM))
        # By position and memory, (C, H): whether play can come there, and the number of the state.
        is_reached = np.zeros((len(graph.player), len(graph.lane)), np.int8)
        num_outcomes = kernels.mark(arrays, is_reached)
        count = is_reached.cumsum(dtype=np.int64).reshape(is_reached.shape)
        number = np.where(is_reached, count - 1, -1)
        num_states = int(is_reached.sum())
        num_actions = graph.way.shape[2]
        states = States(
            row=np.zeros(num_states, np.int64),
            is_own=np.zeros(num_states, np.bool_),
            first=np.zeros(num_states * num_actions + 1, np.int64),
            chance=np.zeros(num_outcomes),
            after=np.zeros(num_outcomes, np.int64),
            won=np.zeros((num_states, num_actions)),
            start=number[tuple(graph.start.T)],
            start_chance=graph.start_chance,
        )
        kernels.lay_out(arrays, number, states)
        chance_sums = np.add.reduceat(graph.chance, graph.first[:-1])
        most_outcomes = int(np.diff(graph.first).max())
        return cls(
            states=states,
            legal=graph.legal,
            size=float(np.abs(graph.payoff).max()),
            turns=len(graph.level),
            outcomes=most_outcomes,
            misses=float(np.abs(chance_sums - 1.0).max()) + most_outcomes * ROUNDING,
        )

    @property
    def pure(self) -> list[Floats]:
        """Corners of each row, (n, K): its pure actions."""
        actions = np.eye(self.legal.shape[1])
        return [actions[legal] for legal in self.legal]

    def without_opponents(self, corners: Sequence[Floats] | None = None) -> "Responses":
        """Pose the problem of a best response where all others have one action, number 0."""
        only_action = np.zeros((1, *self.legal.shape))
        only_action[..., 0] = 1.0
        return self.against(np.ones(1), only_action, corners)

    def against(
        self, weights: Floats, tables: Floats, corners: Sequence[Floats] | None = None
    ) -> "Responses":
        """Pose the problem of a best response to a mixture of opponents, all others together.

        Parameters
        ----------
        weights : float64 (n,)
        tables : float64 (n, F, K)
            Policies of the components, for all rows of others.
        corners : sequence of float64 (c, K), optional
            The c distributions that each row may play; by default its pure actions.
        """
        corners = self.pure if corners is None else corners
        states = self.states
        first_corner = np.concatenate([[0], np.cumsum([len(row) for row in corners])])
        choices = Corners(first_corner, np.concatenate(corners))
        reached = []  # states that play can come to against each component
        for table in tables:
            is_reached = np.zeros(len(states.row), np.int8)
            kernels.meet(states, choices, table, is_reached)
            reached.append(np.flatnonzero(is_reached))
        first_reached = np.concatenate([[0], np.cumsum([len(numbers) for numbers in reached])])
        others = Others(np.asarray(weights), tables, first_reached, np.concatenate(reached))
        errors = self._payoff_errors(np.asarray(weights), tables, choices.play)
        return Responses(states, choices, others, *errors)

    def _payoff_errors(self, weights: Floats, tables: Floats, play: Floats) -> tuple[float, float]:
        """Bound how far a computed payoff may be off, `play` (N, K) being all corners.

        By the rounding of each operation, and by probabilities that miss a sum of 1. Also, how far
        a pass is off where rows pay prices, if no number is larger than 1.
        """
        states, actions = self.states, play.shape[1]
        # An edge has the outcomes of all actions that are played there.
        roundings = self.turns * (self.outcomes * actions + 2 * actions + 6)
        roundings += len(tables) * len(states.start) + 4
        used_rows = tables[:, np.unique(states.row[~states.is_own])]
        misses_of_turn = self.misses + sum_error(used_rows) + sum_error(play)
        misses = self.turns * misses_of_turn + sum_error(weights) + sum_error(states.start_chance)
        error = 1.02 * self.size * (roundings * ROUNDING + misses) + 1e-300
        roundings_of_turn = 4 * self.outcomes * actions + 2 * len(play) + 14
        error_of_turn = 2 * roundings_of_turn * ROUNDING + misses_of_turn
        return error, 2 * (self.turns + 1) * error_of_turn


@dataclass(frozen=True, eq=False)
class Responses:
    """All responses of one player, of the corners that each row has.

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
    def free(self) -> Ints:
        """-1 for each row of several corners, (R,); else 0, its corner."""
        return np.where(np.diff(self.corners.first) > 1, -1, 0)

    @property
    def relaxed(self) -> Ints:
        """Best corner of each row as a player who forgets nothing reaches it, (R,)."""
        _, corner_values = self.gradient(self.free)
        corners_of_rows = pairwise(self.corners.first)
        return np.array([corner_values[first:end].argmax() for first, end in corners_of_rows])

    def value(self, response: Ints) -> float:
        """Payoff of a response (R,), but for `error`; the best corner of every state where -1."""
        return float(forgetting.evaluate(self.decisions, response, self._work))

    def values(self, response: Ints) -> Floats:
        """Payoffs of a response (R,) against each component of the mixture, (n,)."""
        self.value(response)
        start_values = self._work.values[self.decisions.start]
        return start_values.reshape(len(self.others.weight), -1) @ self.states.start_chance

    def gradient(self, response: Ints) -> tuple[float, Floats]:
        """Payoff of a response (R,), and the counterfactual value of every corner, (N,).

        It is the sum of the values of the corner in all states of its row, weighted by reach.
        """
        payoff = forgetting.differentiate(self.decisions, response, self._work)
        num_corners = self.decisions.corners
        corner_values = self._work.sums[: len(num_corners)]
        exists = np.arange(corner_values.shape[1]) < num_corners[:, None]
        return float(payoff), corner_values[exists]

    def improve(self, response: Ints, deadline: Deadline = FOREVER) -> tuple[Ints, float]:
        """Change the row that gains most, again and again, until no row alone gains.

        Give the response (R,) and its payoff, those so far when the time is over.
        """
        response = response.copy()
        first = self.corners.first
        while True:
            payoff, corner_values = self.gradient(response)
            best_values = np.maximum.reduceat(corner_values, first[:-1])  # (R,)
            gains = best_values - corner_values[first[:-1] + response]
            row = int(gains.argmax())
            if gains[row] <= self.error or deadline.is_over:
                return response, payoff
            response[row] = corner_values[first[row] : first[row + 1]].argmax()

    def ascend(self, starts: Iterable[Ints], deadline: Deadline = FOREVER) -> tuple[Ints, float]:
        """Improve the relaxed response and other ones (R,); give the best, and its payoff."""
        improved = [self.improve(self.relaxed, deadline)]
        for start in starts:
            if deadline.is_over:
                break
            improved.append(self.improve(start, deadline))
        return max(improved, key=lambda pair: pair[1])

    def respond(
        self,
        starts: Iterable[Ints],
        target: float,
        most: int = MOST_QUESTIONS,
        deadline: Deadline = FOREVER,
        is_priced: bool = True,
    ) -> Closing:
        """Find a response that gets more than a target, or prove that there is none.

        First ascend from some responses (R,); `most` relaxations are solved at most.
        """
        response, value = self.ascend(starts, deadline)
        if value > target:
            return Closing.found(response, value)
        return self.close(target, most, deadline, is_priced)

    def close(
        self,
        target: float,
        most: int = MOST_QUESTIONS,
        deadline: Deadline = FOREVER,
        is_priced: bool = True,
    ) -> Closing:
        """Prove that no response gets more than a target, or find one that does.

        Parameters
        ----------
        target : float
            The proof is of this and `error`.
        most : int
            Relaxations that are solved at most.
        deadline : Deadline, optional
        is_priced : bool
            Whether leaves may have prices, which take fewer relaxations; fractions prove no such.
            Those for which there is no time have none.

        Raises
        ------
        ValueError
            For prices where a play can meet a row twice.
        """
        # The kernel searches depth first, and goes on where the arrays say that it stopped.
        dag, work = self.decisions, self._work
        num_rows = len(dag.corners)
        work.largest[:] = work.claims[:] = 0
        # All rows may claim, a few passes each; so many find what is before each.
        pricing = num_rows * len(dag.after) / PRICING
        is_priced = is_priced and deadline.allows(pricing)
        if is_priced:
            dag = dag._replace(is_before=np.zeros((num_rows, len(dag.row)), np.int8))
            if not forgetting.mark_before(dag):
                raise HogeqError("prices: allowed where no play meets a row twice")
        fixed = self.free
        response = fixed.copy()
        branched = np.zeros(num_rows, np.int64)  # rows fixed on the way to the present node
        bounds = np.array([-np.inf, -np.inf])  # payoff of the response; highest bound of a leaf
        counts = np.zeros(2, np.int64)  # of rows in `branched`, and of numbers in `questions`
        batches = [np.zeros(0, np.int64)]
        most_valued = len(dag.row) * (num_rows if is_priced else 1)  # of a relaxation
        batch = min(1 + VALUED // (1 + most_valued), BATCH)
        status = Status.OPEN
        while status == Status.OPEN and most > 0 and not deadline.is_over:
            questions = np.zeros(min(most, batch), np.int64)
            counts[1] = 0
            is_priced = is_priced and deadline.allows(pricing)
            status = Status(
                forgetting.close(
                    dag, target, len(questions), fixed, branched, questions, counts, response,
                    bounds, is_priced, work,
                )
            )  # fmt: skip
            batches.append(questions[: counts[1]])
            most -= len(questions)
        if status == Status.FOUND:
            return Closing.found(*self.improve(response, deadline))
        bound = float(bounds[1]) + self.error
        if work.claims[0]:
            largest = max(1.0, float(work.largest[0]))
            bound += (int(work.claims[0]) + 2) * largest * self.error_of_pass
        return Closing(status, -np.inf, bound, fixed, np.concatenate(batches))

    @cached_property
    def decisions(self) -> Decisions:
        """The problem as nodes, each a state and a table."""
        num_nodes, num_corners = len(self.others.member), np.diff(self.corners.first)
        shape = num_nodes, int(num_corners.max())
        num_starts = len(self.others.weight) * len(self.states.start)
        dag = Decisions(
            row=np.zeros(num_nodes, np.int64),
            first=np.zeros(num_nodes * shape[1] + 1, np.int64),
            chance=np.zeros(0),
            after=np.zeros(0, np.int64),
            won=np.zeros(shape),
            start=np.zeros(num_starts, np.int64),
            start_chance=np.zeros(num_starts),
            corners=num_corners,
            is_before=np.zeros((0, 0), np.int8),
        )
        number = np.zeros(len(self.states.row), np.int64)
        count = forgetting.lay_out(self.states, self.corners, self.others, number, dag)
        room = 1 + count  # for one more, since without any outcomes are only counted
        dag = dag._replace(chance=np.zeros(room), after=np.zeros(room, np.int64))
        forgetting.lay_out(self.states, self.corners, self.others, number, dag)
        return dag

    @cached_property
    def _work(self) -> Workspace:
        """What the kernels write."""
        shape, num_rows = self.decisions.won.shape, len(self.decisions.corners)
        return Workspace(
            prices=np.zeros(shape),
            values=np.zeros(shape[0]),
            edge_values=np.zeros(shape),
            worths=np.zeros(shape),
            reach=np.zeros(shape[0]),
            loss=np.zeros(num_rows),
            round=np.zeros(num_rows, np.int64),
            largest=np.zeros(1),
            claims=np.zeros(1, np.int64),
            sums=np.zeros((max(num_rows, 2), shape[1])),
            gained=np.zeros((shape[1], shape[1])),
        )
