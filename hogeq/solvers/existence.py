"""Whether a symmetric game has an equilibrium in policies, with proof.

1. A double oracle finds an equilibrium in mixtures: an exact best response ends it.
2. A component that no matrix beats is an equilibrium; so is a policy that none beats, which is
   looked for from Kuhn's policy by linear programs. Rational arithmetic proves both.
3. Else all policies are cut in boxes, each beaten by a mixture of counters.

``docs/existence.md`` has the theorems, their proofs, and what else is known.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm
from time import perf_counter
from typing import Any, Final, Literal

import numpy as np

from hogeq.search.branching import Status
from hogeq.search.rationals import ExactStates, Policy, exact_kuhn, floats, rational
from hogeq.solvers.boxes import Enclosure, Leaf
from hogeq.solvers.descent import centre, descend
from hogeq.solvers.symmetric import (
    MOST,
    TIE,
    Oracle,
    SymmetricGame,
    double_oracle,
    minimal_support,
    unbeaten_members,
)
from hogeq.support.aliases import Floats, Ints
from hogeq.support.deadline import Deadline

MOST_EXACT: Final = 8  # components whose weights are solved for in rational numbers
STARTS: Final = 4  # counters of the pool, the latest, from which a search for a response ascends
SMALLEST: Final = 1e-9  # an exploitability below it counts as 0 until that is proved
DENOMINATORS: Final = (2**8, 2**12, 2**16, 2**20)  # largest, of probabilities that are tried
GAPS: Final = (30.0, 10.0, 3.0, 1.0, 0.3, 0.1, 0.0)
"""Gaps between a proved exploitability and one that is known, as parts of the latter."""
TARGETS: Final = ((0.5, 0.3), (0.05, 0.5), (0.005, 0.6))
"""Targets of boxes, as parts of the exploitability known; and of the time left, for each."""

Kind = Literal["matrix", "policy", "none", "open"]


@dataclass(frozen=True, eq=False, repr=False)
class Existence:
    """Whether an equilibrium in policies exists, and the least exploitability of a policy."""

    kind: Kind
    """An equilibrium that is one matrix, or a policy; none exists; or it is open."""
    lower: float
    """No policy has a lower exploitability: proved."""
    upper: float
    """The policy has no higher one: proved."""
    policy: Floats
    """(R, K), the best one known."""
    components: int
    """Of the equilibrium mixture found; 0 if none is proved."""
    memory: float | None
    """What full memory wins beyond 1/2 against the equilibrium found; None if none is proved.

    Also None if there was no time for it."""
    proof: dict[str, Any]
    """What a checker needs."""
    seconds: float

    @property
    def exists(self) -> bool | None:
        """Whether an equilibrium in policies exists; None if that is open."""
        return {"matrix": True, "policy": True, "none": False, "open": None}[self.kind]

    def __repr__(self) -> str:
        """Say what is known, and both ends."""
        return f"Existence({self.kind}; {self.lower:.2e} to {self.upper:.2e})"

    def rows(self) -> list[tuple[str, str, str]]:
        """Lay out what is known, as the command prints it."""
        answer = {
            "matrix": ("yes", "a matrix is one: no matrix wins more than 1/2 against it"),
            "policy": ("yes", "a policy is one: no matrix wins more than 1/2 against it"),
            "none": ("no", "every policy loses to some matrix"),
            "open": ("open", "neither is proved"),
        }[self.kind]
        least = "least exploitability of a policy, proved"
        remembered = "full memory wins so much beyond 1/2 against the equilibrium found"
        return [
            ("exists", *answer),
            ("lower", f"{self.lower:.3e}", least),
            ("upper", f"{self.upper:.3e}", f"{least}, by the policy found"),
            ("memory", "" if self.memory is None else f"{self.memory:.3e}", remembered),
        ]

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values, without the policy and the proof."""
        names = ("lower", "upper", "exists", "kind", "components", "memory", "seconds")
        return {name: getattr(self, name) for name in names}


def pure_existence(policy: Floats) -> Existence:
    """Existence in a game in which nothing is hidden, of which (R, K) is a pure equilibrium."""
    return Existence("matrix", 0.0, 0.0, policy, components=1, memory=0.0, proof={}, seconds=0.0)


def decide(
    game: SymmetricGame, denominator: int, seconds: float, clock: Callable[[], float] = perf_counter
) -> Existence:
    """Decide whether an equilibrium in policies exists.

    Parameters
    ----------
    game : SymmetricGame
    denominator : int
        Common denominator of all chances of outcomes.
    seconds : float
    clock : callable
        Tells the seconds.
    """
    return _Decision(game, denominator, Deadline(seconds, clock)).run()


class _Decision:
    """The course of a decision: matrices met, and the best policy so far."""

    def __init__(self, game: SymmetricGame, denominator: int, deadline: Deadline) -> None:
        self.game = game
        self.deadline = deadline
        self.denominator = denominator
        self.policy = game.policy(game.first[0])  # (R, K), the best one so far
        self.loss = 0.5  # what the best counter known wins against it beyond 1/2
        self.components = 0  # of the equilibrium mixture; 0 until one is proved
        self.pool = game.first  # (n, R)
        self.memory: float | None = None  # as in `Existence`

    @cached_property
    def exact(self) -> ExactStates:
        """Lay the states out for fractions."""
        return ExactStates(self.game.graph, self.denominator)

    @property
    def has_time_for_fractions(self) -> bool:
        """Whether a pass in fractions should end in time."""
        return self.deadline.allows(len(self.game.graph.states.chance))

    def run(self) -> Existence:
        """Solve the game in mixtures in a part of the time, and decide by that; else it is open."""
        decided = None
        share = self.deadline.share(0.3)
        steps = list(double_oracle(self.game, share, self.pool, MOST))
        if steps:
            self.pool = steps[-1].pool
            decided = self.by_mixture(steps[-1])
        return decided or self.result("open")

    def by_mixture(self, oracle: Oracle) -> Existence | None:
        """Decide by an equilibrium of a pool: try its matrices, policies near it, then boxes."""
        weights = minimal_support(oracle)
        if (oracle.payoffs @ weights).max() > 0.5 + TIE:
            weights = oracle.weights
        used = weights > 0.0
        weights, matrices = weights[used], oracle.pool[used]
        if oracle.search.status == Status.CLOSED:
            self.components = len(weights)
            problem = self.game.folded(weights, matrices, deadline=self.deadline)
            if problem is not None:
                self.memory = problem.value(problem.unfixed) - 0.5
        decided = self.by_matrix(oracle) or self.by_policy(weights, matrices)
        return decided or self.by_boxes(matrices)

    def result(self, kind: Kind, lower: float = 0.0, **proof: Any) -> Existence:
        """Give the best policy so far, with a proved bound on its exploitability."""
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
        """Bound the best policy's exploitability by full memory, then by branch and bound."""
        problem = self.game.against_policy(self.policy)
        _, value = problem.ascend(self.pool[-STARTS:], self.deadline)
        bound = problem.value(problem.unfixed) + problem.error
        gaps = list(GAPS)
        while gaps:
            target = value + gaps[0] * (value - 0.5) + TIE
            search = problem.close(target, MOST, self.deadline)
            if search.status == Status.OPEN:
                break
            if search.status == Status.FOUND:
                value = search.value
            else:
                bound = min(bound, search.bound)
                gaps.pop(0)
        return min(bound - 0.5, 0.5)

    def certified(self, policy: Policy, kind: Kind) -> Existence | None:
        """Prove by branch and bound, checked in fractions, that no matrix beats a policy."""
        probabilities = floats(policy)
        problem = self.game.against_policy(probabilities)
        starts = self.pool[-STARTS:]
        search = problem.respond(starts, 0.5 + TIE, 10 * MOST, self.deadline, is_priced=False)
        if search.status != Status.CLOSED or not self.has_time_for_fractions:
            return None
        self.policy = probabilities
        self.loss = search.bound - 0.5
        half, tree = Fraction(1, 2), search.tree
        if not self.exact.is_at_most(half, policy, problem, tree, self.deadline):
            return None
        self.memory = problem.value(problem.unfixed) - 0.5
        numerators = []  # of each row, whose common denominator is their sum
        for row in policy:
            common = lcm(*(probability.denominator for probability in row))
            numerators.append([int(probability * common) for probability in row])
        return self.result(kind, policy=numerators, tree=search.tree.tolist())

    def by_matrix(self, oracle: Oracle) -> Existence | None:
        """Try matrices that none of the pool beats, the heaviest in the mixture first."""
        for member in unbeaten_members(oracle):
            policy = self.game.policy(oracle.pool[member])
            decided = self.certified(rational(policy, 1), "matrix")
            if decided is not None:
                return decided
        return None

    def by_policy(self, weights: Floats, matrices: Ints) -> Existence | None:
        """Try Kuhn's policy of a mixture of matrices (n, R), and descend from it."""
        policy = np.tensordot(weights, self.game.policy(matrices), 1)
        kuhn = None
        if len(matrices) <= MOST_EXACT and self.has_time_for_fractions:
            kuhn = exact_kuhn(self.exact, matrices, self.deadline)
        if kuhn is not None:
            decided = self.certified(kuhn, "policy")
            if decided is not None:
                return decided
            policy = floats(kuhn)
        return self.by_descent(policy)

    def by_descent(self, policy: Floats) -> Existence | None:
        """Lower the exploitability of a policy; if to 0, try to prove that of fractions near it."""
        policy, rate, self.pool = descend(self.game, policy, self.pool, self.deadline.share(0.25))
        if rate - 0.5 < self.loss:
            self.policy, self.loss = policy, rate - 0.5
        if rate > 0.5 + SMALLEST:
            return None
        decided = self.by_fractions(policy)
        if decided is None:
            centred = centre(self.game, policy, self.pool, self.deadline)
            if centred is not policy:
                decided = self.by_fractions(centred)
        return decided

    def by_fractions(self, policy: Floats) -> Existence | None:
        """Try fractions near a policy, of ever larger denominators."""
        for largest_denominator in DENOMINATORS:
            decided = self.certified(rational(policy, largest_denominator), "policy")
            if decided is not None:
                return decided
        return None

    def by_boxes(self, matrices: Ints) -> Existence | None:
        """Prove that boxes of all policies are beaten, by ever smaller targets.

        They begin with the matrices (n, R) of the mixture as responses. A descent starts from a
        policy met that seems to be less exploitable; if it is, the target is tried again.
        """
        decided = None
        for target_share, time_share in TARGETS:
            while decided is None and self.loss > SMALLEST:
                loss = self.loss
                deadline = self.deadline.share(time_share)
                target = target_share * min(loss, 0.1)
                boxes = Enclosure(self.game, self.pool, target, deadline)
                is_proved = boxes.prove(self.game.graph.pure, matrices)
                self.pool = boxes.pool
                if is_proved:
                    leaves = [step for step in boxes.steps if isinstance(step, Leaf)]
                    lower = min(0.5 - leaf.search.bound for leaf in leaves)
                    return self.result("none", lower, **boxes.proof())
                if boxes.policy is not None:
                    decided = self.by_descent(boxes.policy)
                if self.loss >= loss:
                    break
        return decided
