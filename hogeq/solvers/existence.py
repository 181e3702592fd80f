"""Whether a symmetric game has an equilibrium in policies, with proof.

1. A double oracle finds an equilibrium in mixtures: an exact best response ends it.
2. A component that no matrix beats is an equilibrium; so is a policy that none beats, which is
   looked for from Kuhn's policy by linear programs. Rational arithmetic proves both.
3. Else all policies are cut in boxes, each beaten by a mixture of counters.

``docs/existence.md`` has the theorems, their proofs, and what else is known.
"""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import Any, Final, Literal

import numpy as np

from hogeq.search.branching import Status
from hogeq.search.double_oracle import double_oracle_rounds
from hogeq.search.rationals import (
    MOST_DENOMINATOR,
    ExactStates,
    Policy,
    exact_kuhn,
    to_floats,
    to_fractions,
)
from hogeq.solvers.boxes import BoxProof, Leaf
from hogeq.solvers.descent import centre, descend
from hogeq.solvers.symmetric import (
    PROOF_RELAXATIONS,
    TIE_MARGIN,
    Oracle,
    SymmetricGame,
    list_unbeaten,
    minimal_support,
)
from hogeq.support.aliases import Floats, Ints
from hogeq.support.deadline import Deadline
from hogeq.support.messages import scientific

MOST_EXACT_COMPONENTS: Final = 8  # components whose weights are solved for in rational numbers
NUM_STARTS: Final = 4  # latest counters of the pool, from which a search for a response ascends
NEGLIGIBLE_EXPLOITABILITY: Final = 1e-9  # less counts as 0 until that is proved
DENOMINATORS: Final = (2**8, 2**12, 2**16, 2**20)  # largest, of probabilities that are tried
RELATIVE_GAPS: Final = (30.0, 10.0, 3.0, 1.0, 0.3, 0.1, 0.0)
"""Gaps between a proved exploitability and one that is known, as parts of the latter."""
TARGETS: Final = ((0.5, 0.25, 0.2), (0.25, 0.025, 0.6), (0.05, 0.025, 0.5), (0.005, 0.0025, 0.6))
"""Targets of boxes, and what their leaves prove, as parts of the exploitability known; and of the
time left, for each."""

Kind = Literal["matrix", "policy", "none", "open"]


@dataclass(frozen=True, eq=False, repr=False)
class Existence:
    """Whether an equilibrium in policies exists, and the least exploitability of a policy."""

    kind: Kind
    """``matrix`` or ``policy``, which an equilibrium is; ``none`` exists; or it is ``open``."""
    lower: float
    """Lower bound on the exploitability of every policy, proved."""
    upper: float
    """Upper bound on the least exploitability, proved: that of `policy`, or 0 if one exists."""
    policy: Floats
    """(R, K), the best one known: of an equilibrium the doubles nearest to its fractions, which
    `proof` has, or without hidden memory optimal play, of which rounding decides ties."""
    components: int
    """Of the equilibrium mixture; 0 if none is proved."""
    memory: float | None
    """Win rate beyond 1/2 of a responder with full memory against the equilibrium; None if none is
    proved, or if there was no time for it."""
    proof: dict[str, Any]
    """Data from which a checker can prove it again."""
    seconds: float

    @property
    def exists(self) -> bool | None:
        """Whether an equilibrium in policies exists; None if that is open."""
        return {"matrix": True, "policy": True, "none": False, "open": None}[self.kind]

    def __repr__(self) -> str:
        """Say what is known, and both ends."""
        lower = scientific(self.lower, 2, ROUND_FLOOR)
        upper = scientific(self.upper, 2, ROUND_CEILING)
        return f"Existence({self.kind}; {lower} to {upper})"

    def rows(self) -> list[tuple[str, str, str]]:
        """Lay out the answer and its bounds, each with a name, a figure and its meaning."""
        answer = {
            "matrix": ("yes", "a matrix is one: no matrix wins more than 1/2 against it"),
            "policy": ("yes", "a policy is one: no matrix wins more than 1/2 against it"),
            "none": ("no", "every policy loses to some matrix"),
            "open": ("open", "neither is proved"),
        }[self.kind]
        least = "least exploitability of a policy, proved"
        memory = "" if self.memory is None else f"{self.memory:.3e}"
        memory_meaning = "full memory wins so much beyond 1/2 against the equilibrium found"
        return [
            ("exists", *answer),
            ("lower", scientific(self.lower, 3, ROUND_FLOOR), least),
            ("upper", scientific(self.upper, 3, ROUND_CEILING), f"{least}, by the policy found"),
            ("memory", memory, memory_meaning),
        ]

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values, without the policy and the proof."""
        names = ("lower", "upper", "exists", "kind", "components", "memory", "seconds")
        return {name: getattr(self, name) for name in names}


def pure_existence(policy: Floats) -> Existence:
    """Existence in a game in which nothing is hidden, of which (R, K) is a pure equilibrium."""
    return Existence("matrix", 0.0, 0.0, policy, components=1, memory=0.0, proof={}, seconds=0.0)


def decide(
    game: SymmetricGame,
    denominator: int,
    seconds: float,
    clock: Callable[[], float] | None = None,
) -> Existence:
    """Decide whether an equilibrium in policies exists, in so many seconds of a clock.

    All chances of outcomes have the common `denominator`.
    """
    return _Decision(game, denominator, Deadline(seconds, clock)).run()


class _Decision:
    """The course of a decision: counter-matrices so far, and the best policy so far."""

    def __init__(self, game: SymmetricGame, denominator: int, deadline: Deadline) -> None:
        self.game = game
        self.deadline = deadline
        self.denominator = denominator
        self.policy = game.policy(game.initial_pool[0])  # (R, K), the best one so far
        self.loss = 0.5  # win rate beyond 1/2 of the best counter known to it
        self.components = 0  # of the equilibrium mixture; 0 until one is proved
        self.pool = game.initial_pool  # (n, R), counter-matrices
        self.memory: float | None = None  # as in `Existence`

    @cached_property
    def exact(self) -> ExactStates:
        """The states of the game for passes in fractions, made on first use."""
        return ExactStates(self.game.graph, self.denominator)

    @property
    def has_time_for_fractions(self) -> bool:
        """Whether chances are known in fractions, and a pass in them should end in time."""
        num_outcomes = len(self.game.graph.states.outcome_probability)
        return self.denominator <= MOST_DENOMINATOR and self.deadline.allows(num_outcomes)

    def run(self) -> Existence:
        """Solve the game in mixtures in a part of the time, and decide by its last equilibrium."""
        decided = None
        oracle_deadline = self.deadline.share(0.3)
        oracle = Oracle(self.game, self.pool, PROOF_RELAXATIONS)
        if list(double_oracle_rounds(oracle, oracle_deadline)):  # there was time for a round
            self.pool = oracle.pool
            decided = self.decide_by_mixture(oracle)
        return decided or self.result("open")

    def decide_by_mixture(self, oracle: Oracle) -> Existence | None:
        """Decide by the mixture that is an equilibrium of a pool of matrices.

        Try whether one of its matrices is an equilibrium, then policies near it. If none is, try to
        prove that no policy is one, by boxes. None if nothing is proved.
        """
        weights = minimal_support(oracle)
        is_beaten = (oracle.payoffs @ weights).max() > 0.5 + TIE_MARGIN  # by a matrix of the pool
        if is_beaten:  # by errors of linear programs
            weights = oracle.weights
        used = weights > 0.0
        weights = weights[used]
        matrices = oracle.pool[used]
        if oracle.search.status == Status.CLOSED:  # the mixture is an equilibrium of the game
            self.components = len(weights)
            policies = self.game.policy(matrices)
            problem = self.game.pose_folded(weights, policies, deadline=self.deadline)
            if problem is not None:
                self.memory = problem.value(problem.unfixed) - 0.5
        decided = self.try_matrices(oracle) or self.try_kuhn_policy(weights, matrices)
        return decided or self.try_boxes(matrices)

    def result(self, kind: Kind, lower: float = 0.0, **proof: Any) -> Existence:
        """Give the best policy so far, with bounds on the exploitability, and a proof.

        `lower` is a proved bound on that of every policy; the upper bound on that of the best
        policy is computed, unless it is an equilibrium.
        """
        exists = kind in {"matrix", "policy"}
        return Existence(
            kind=kind,
            lower=lower,
            upper=0.0 if exists else self.exploitability_bound(),
            policy=self.policy,
            components=1 if kind == "matrix" else self.components,
            memory=self.memory,
            proof=proof,
            seconds=self.deadline.spent,
        )

    def exploitability_bound(self) -> float:
        """Bound the best policy's exploitability by full memory, then by branch and bound.

        Targets of branch and bound come ever nearer to the win rate of the best response known,
        until one is not decided in time.
        """
        problem = self.game.against_policy(self.policy)
        _, best_value = problem.ascend(self.pool[-NUM_STARTS:], self.deadline)
        bound = problem.value(problem.unfixed) + problem.error
        gaps = list(RELATIVE_GAPS)
        while gaps:
            target = best_value + gaps[0] * (best_value - 0.5) + TIE_MARGIN
            search = problem.branch_and_bound(target, PROOF_RELAXATIONS, self.deadline)
            if search.status == Status.OPEN:
                break
            if search.status == Status.FOUND:  # a better response: the gap is tried again
                best_value = search.value
            else:
                bound = min(bound, search.bound)
                gaps.pop(0)
        return min(bound - 0.5, 0.5)

    def certify(self, policy: Policy, kind: Kind) -> Existence | None:
        """Prove by branch and bound, checked in fractions, that no matrix beats a policy.

        `policy` has fractions; `kind` is that of the result. None if some matrix beats it, or if
        there is no time for the proof.
        """
        probabilities = to_floats(policy)
        problem = self.game.against_policy(probabilities)
        starts = self.pool[-NUM_STARTS:]
        search = problem.respond(
            starts, 0.5 + TIE_MARGIN, 10 * PROOF_RELAXATIONS, self.deadline, is_priced=False
        )
        if search.status != Status.CLOSED or not self.has_time_for_fractions:
            return None
        self.policy = probabilities
        self.loss = search.bound - 0.5
        half = Fraction(1, 2)
        if not self.exact.is_at_most(half, policy, problem, search.tree, self.deadline):
            return None
        self.memory = problem.value(problem.unfixed) - 0.5
        numerators = []  # of each row, whose common denominator is their sum
        for row in policy:
            common_denominator = lcm(*(probability.denominator for probability in row))
            numerators.append([int(probability * common_denominator) for probability in row])
        return self.result(kind, policy=numerators, tree=search.tree.tolist())

    def try_matrices(self, oracle: Oracle) -> Existence | None:
        """Try as equilibria the matrices that none of the pool beats, the heaviest first."""
        for member in list_unbeaten(oracle):
            policy = self.game.policy(oracle.pool[member])
            decided = self.certify(to_fractions(policy, 1), "matrix")
            if decided is not None:
                return decided
        return None

    def try_kuhn_policy(self, weights: Floats, matrices: Ints) -> Existence | None:
        """Try whether Kuhn's policy of a mixture of matrices (n, R) is an equilibrium.

        That is in fractions, for few matrices. If it is none, descend from it, or else from the
        mean of the matrices.
        """
        start = np.tensordot(weights, self.game.policy(matrices), 1)
        kuhn_policy = None
        if len(matrices) <= MOST_EXACT_COMPONENTS and self.has_time_for_fractions:
            kuhn_policy = exact_kuhn(self.exact, matrices, self.deadline)
        if kuhn_policy is not None:
            decided = self.certify(kuhn_policy, "policy")
            if decided is not None:
                return decided
            start = to_floats(kuhn_policy)
        return self.try_descent(start)

    def try_descent(self, policy: Floats) -> Existence | None:
        """Lower the exploitability of a policy (R, K) from where it is, and keep the best policy.

        If it falls to 0, try to prove that a policy of fractions near it is an equilibrium; then
        near another one that is off the boundary of the equilibria.
        """
        policy, rate, self.pool = descend(self.game, policy, self.pool, self.deadline.share(0.25))
        if rate - 0.5 < self.loss:
            self.policy = policy
            self.loss = rate - 0.5
        if rate > 0.5 + NEGLIGIBLE_EXPLOITABILITY:
            return None
        decided = self.try_fractions(policy)
        if decided is None:
            centred = centre(self.game, policy, self.pool, self.deadline)
            if centred is not policy:  # `centre` gives the policy itself if it has no better one
                decided = self.try_fractions(centred)
        return decided

    def try_fractions(self, policy: Floats) -> Existence | None:
        """Try to prove that fractions near a policy are an equilibrium, by rising denominators."""
        for largest_denominator in DENOMINATORS:
            decided = self.certify(to_fractions(policy, largest_denominator), "policy")
            if decided is not None:
                return decided
        return None

    def try_boxes(self, matrices: Ints) -> Existence | None:
        """Try to prove that no policy is an equilibrium: boxes of all policies are beaten.

        Each box is beaten by a mixture of counters. The targets fall. `matrices` (n, R) of an
        equilibrium mixture are the first responses. If the proof meets a policy that seems to be
        less exploitable than the target, a descent starts there; if that lowers the best
        exploitability, the target is tried again.
        """
        decided = None
        for target_share, proved_share, time_share in TARGETS:
            while decided is None and self.loss > NEGLIGIBLE_EXPLOITABILITY:
                loss_before = self.loss
                deadline = self.deadline.share(time_share)
                loss = min(loss_before, 0.1)
                target, proved = target_share * loss, proved_share * loss
                boxes = BoxProof(self.game, self.pool, target, proved, deadline)
                is_proved = boxes.prove(self.game.graph.pure, matrices)
                self.pool = boxes.pool
                if is_proved:
                    leaves = [step for step in boxes.steps if isinstance(step, Leaf)]
                    lower = min(0.5 - leaf.search.bound for leaf in leaves)
                    return self.result("none", lower, **boxes.proof())
                if boxes.policy is not None:
                    decided = self.try_descent(boxes.policy)
                if self.loss >= loss_before:
                    break
        return decided
