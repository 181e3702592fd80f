"""Best responses of a player who forgets, proved by branch and bound over its rows.

It serves every graph (:class:`hogeq.graph.graph.Graph`) in which one player moves and all
others are fixed, memory included, if no play meets a row twice. ``docs/existence.md`` has the
theorem.
"""

from collections import namedtuple
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.graph.graph import FORM, Graph
from hogeq.kernels import responding as kernels
from hogeq.kernels.responding import Corners, Others, Scratch, States
from hogeq.support.aliases import Floats, Ints
from hogeq.support.deadline import FOREVER, Deadline
from hogeq.support.messages import HogeqError

ROUNDING = 2.0**-53
BATCH = 500  # relaxations between two looks at the clock
MOST_QUESTIONS = 20_000_000

Arrays: Any = namedtuple("Arrays", [*FORM])  # type: ignore[misc]  # noqa: PYI024
"""Arrays of a graph, as kernels take them."""


class Status(IntEnum):
    """How a search ended."""

    CLOSED = kernels.CLOSED  # no response gets more than the target
    FOUND = kernels.FOUND  # one does
    OPEN = kernels.OPEN  # the effort was used up


class Closing(NamedTuple):
    """Result of a search for a response that gets more than a target."""

    status: Status
    value: float  # of `response`, if one was found
    bound: float  # proved on all responses, rounding included, if the search is closed
    response: Ints  # (R,), corner of each row
    questions: Ints  # the proof: rows in the order of a walk, -1 at leaves

    @classmethod
    def found(cls, response: Ints, value: float) -> "Closing":
        """End with a response (R,) that gets more than the target."""
        return cls(Status.FOUND, value, np.inf, response, np.zeros(0, np.int64))


def miss(chances: Floats) -> float:
    """By how much distributions along the last axis miss a sum of 1 at most, rounding included."""
    if not chances.size:
        return 0.0
    return float(np.abs(chances.sum(axis=-1) - 1.0).max()) + chances.shape[-1] * ROUNDING


@dataclass(frozen=True, eq=False)
class ResponseGraph:
    """The states that play can come to in a graph of one player."""

    states: States
    legal: NDArray[np.bool_]
    """(R, K)"""
    size: float
    """Largest payoff."""
    turns: int
    """No play has more."""
    outcomes: int
    """No action has more."""
    misses: float
    """By how much chances of outcomes may miss 1, of one turn."""

    @classmethod
    def of(cls, graph: Graph) -> "ResponseGraph":
        """Lay a graph out; player 0 responds, and nobody else decides."""
        if (graph.player == 1).any():
            raise HogeqError("graph: two players decide; allowed: one, and fixed tables")
        arrays = Arrays(*(np.ascontiguousarray(getattr(graph, name)) for name in FORM))
        reached = np.zeros((len(graph.player), len(graph.lane)), np.int8)
        outcomes = kernels.mark(arrays, reached)
        size, actions = int(reached.sum()), graph.way.shape[2]
        number = np.where(reached, reached.cumsum(dtype=np.int64).reshape(reached.shape) - 1, -1)
        states = States(
            row=np.zeros(size, np.int64),
            is_own=np.zeros(size, np.bool_),
            first=np.zeros(size * actions + 1, np.int64),
            chance=np.zeros(outcomes),
            after=np.zeros(outcomes, np.int64),
            won=np.zeros((size, actions)),
            start=number[tuple(graph.start.T)],
            start_chance=graph.start_chance,
        )
        kernels.lay_out(arrays, number, states)
        sums = np.add.reduceat(graph.chance, graph.first[:-1])
        longest = int(np.diff(graph.first).max())
        return cls(
            states=states,
            legal=graph.legal,
            size=float(np.abs(graph.payoff).max()),
            turns=len(graph.level),
            outcomes=longest,
            misses=float(np.abs(sums - 1.0).max()) + longest * ROUNDING,
        )

    @property
    def pure(self) -> list[Floats]:
        """Corners of each row, (n, K): its pure actions."""
        actions = np.eye(self.legal.shape[1])
        return [actions[legal] for legal in self.legal]

    def solitary(self, corners: Sequence[Floats] | None = None) -> "Responses":
        """Pose the problem of a best response where nobody else decides."""
        nobody = np.zeros((1, *self.legal.shape))
        nobody[..., 0] = 1.0
        return self.against(np.ones(1), nobody, corners)

    def against(
        self, weights: Floats, tables: Floats, corners: Sequence[Floats] | None = None
    ) -> "Responses":
        """Pose the problem of a best response, of corners (n, K) for each row.

        `weights` (n,) and `tables` (n, F, K) are those of all others.
        """
        corners = self.pure if corners is None else corners
        first = np.concatenate([[0], np.cumsum([len(one) for one in corners])])
        play, states = np.concatenate(corners), self.states
        choices = Corners(first, play)
        met = []
        for table in tables:
            marks = np.zeros(len(states.row), np.int8)
            kernels.meet(states, choices, table, marks)
            met.append(np.flatnonzero(marks))
        begin = np.concatenate([[0], np.cumsum([len(one) for one in met])])
        others = Others(np.asarray(weights), tables, begin, np.concatenate(met))
        scratch = Scratch(
            worth=np.zeros((len(tables), len(states.row))),
            value=np.zeros((len(others.member), int(np.diff(first).max()))),
            pick=np.zeros(len(others.member), np.int64),
            reach=np.zeros((len(tables), len(states.row))),
            gain=np.zeros(len(play)),
            most=np.zeros(len(corners)),
        )
        actions = play.shape[1]
        roundings = self.turns * (self.outcomes + 2 * actions + 6)
        roundings += len(tables) * len(states.start) + 4
        used = tables[:, np.unique(states.row[~states.is_own])]
        misses = self.misses + miss(used) + miss(play)
        misses = self.turns * misses + miss(np.asarray(weights)) + miss(states.start_chance)
        error = 1.02 * self.size * (roundings * ROUNDING + misses) + 1e-300
        return Responses(states, choices, others, scratch, error)


@dataclass(frozen=True, eq=False)
class Responses:
    """All responses of one player, of the corners that each row has."""

    states: States
    corners: Corners
    others: Others
    scratch: Scratch
    error: float
    """How far a computed payoff may be off."""

    @property
    def _arrays(self) -> tuple[States, Corners, Others]:
        return self.states, self.corners, self.others

    @property
    def free(self) -> Ints:
        """-1 for each row of several corners, (R,); else 0, its corner."""
        return np.where(np.diff(self.corners.first) > 1, -1, 0)

    @property
    def relaxed(self) -> Ints:
        """Best corner of each row as a player who forgets nothing reaches it, (R,)."""
        _, gain = self.gradient(self.free)
        ends = zip(self.corners.first, self.corners.first[1:], strict=False)
        return np.array([gain[low:high].argmax() for low, high in ends])

    def value(self, response: Ints) -> float:
        """Payoff of corners (R,), but for `error`; the best of every state where -1."""
        return float(kernels.evaluate(*self._arrays, self._places(response), self.scratch))

    def values(self, response: Ints) -> Floats:
        """Payoffs of corners (R,) against each table of all others, (n,), but for `error`."""
        self.value(response)
        return np.asarray(self.scratch.worth[:, self.states.start] @ self.states.start_chance)

    def gradient(self, response: Ints) -> tuple[float, Floats]:
        """Payoff of corners (R,), and what each corner adds, (N,), as its row is reached."""
        payoff = kernels.differentiate(*self._arrays, self._places(response), self.scratch)
        return float(payoff), self.scratch.gain.copy()

    def improve(self, response: Ints) -> tuple[Ints, float]:
        """Change the row that gains most, again and again, until none alone does."""
        first, response = self.corners.first, response.copy()
        while True:
            payoff, gain = self.gradient(response)
            best = np.maximum.reduceat(gain, first[:-1]) - gain[first[:-1] + response]
            row = int(best.argmax())
            if best[row] <= self.error:
                return response, payoff
            response[row] = gain[first[row] : first[row + 1]].argmax()

    def ascend(self, starts: Iterable[Ints]) -> tuple[Ints, float]:
        """Improve the relaxed response and others (R,); give the best."""
        improved = map(self.improve, [self.relaxed, *starts])
        return max(improved, key=lambda found: found[1])

    def respond(
        self,
        starts: Iterable[Ints],
        target: float,
        most: int = MOST_QUESTIONS,
        deadline: Deadline = FOREVER,
    ) -> Closing:
        """Find a response that gets more than a target, from some (R,); or prove there is none."""
        response, value = self.ascend(starts)
        if value > target:
            return Closing.found(response, value)
        return self.close(target, most, deadline)

    def close(
        self, target: float, most: int = MOST_QUESTIONS, deadline: Deadline = FOREVER
    ) -> Closing:
        """Prove that no response gets more than a target, or find one that does.

        Parameters
        ----------
        target : float
            The proof is of this and `error`.
        most : int
            Relaxations that are solved at most.
        deadline : Deadline, optional
        """
        fixed = self._places(self.free)
        rows, response, ends = len(fixed), fixed.copy(), np.array([-np.inf, -np.inf])
        now, stack = np.zeros(2, np.int64), np.zeros(rows, np.int64)
        parts, status = list[Ints](), Status.OPEN
        while status == Status.OPEN and most > 0 and not deadline.is_over:
            questions = np.zeros(min(most, BATCH), np.int64)
            now[1] = 0
            status = Status(
                kernels.close(
                    *self._arrays, target, len(questions), fixed, stack, questions, now, response,
                    ends, self.scratch,
                )
            )  # fmt: skip
            parts.append(questions[: now[1]])
            most -= len(questions)
        if status == Status.FOUND:
            return Closing.found(*self.improve(response - self.corners.first[:-1]))
        tree = np.concatenate(parts) if parts else np.zeros(0, np.int64)
        return Closing(status, -np.inf, float(ends[1]) + self.error, fixed, tree)

    def _places(self, response: Ints) -> Ints:
        """Numbers of corners (R,) among those of all rows; -1 where -1."""
        return np.where(response >= 0, self.corners.first[:-1] + response, -1)
