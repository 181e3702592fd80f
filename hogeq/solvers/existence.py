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
from math import lcm
from time import perf_counter
from typing import Any, Final, Literal

import numpy as np

from hogeq.search.branching import Status
from hogeq.search.rationals import ExactStates, Policy, exact_kuhn, floats, rational
from hogeq.solvers.boxes import Enclosure, Leaf
from hogeq.solvers.descent import descend
from hogeq.solvers.symmetric import (
    MOST,
    TIE,
    Oracle,
    SymmetricGame,
    candidates,
    double_oracle,
    fewer,
)
from hogeq.support.aliases import Floats, Ints
from hogeq.support.deadline import Deadline

MOST_OF_MIXTURE: Final = 20_000  # relaxations of its proof
MOST_EXACT: Final = 8  # components whose weights are solved for in rational numbers
SMALLEST: Final = 1e-9  # an exploitability below it is none until it is proved
DENOMINATORS: Final = (2**8, 2**12, 2**16, 2**20)  # largest, of probabilities that are tried
GAPS: Final = (30.0, 10.0, 3.0, 1.0, 0.3, 0.1, 0.0)
"""Between a proved exploitability and one that is known, as parts of the latter."""
TARGETS: Final = ((0.5, 0.3), (0.05, 0.5), (0.005, 1.0))
"""What is to be proved of boxes, of the exploitability known, and in what part of the time left."""

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
    """What full memory wins beyond 1/2 against the equilibrium found; None if none is proved."""
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
        known = {
            "matrix": ("yes", "a matrix is one: no matrix wins more than 1/2 against it"),
            "policy": ("yes", "a policy is one: no matrix wins more than 1/2 against it"),
            "none": ("no", "every policy loses to some matrix"),
            "open": ("open", "neither is proved"),
        }[self.kind]
        least = "least exploitability of a policy, proved"
        remembered = "full memory wins so much beyond 1/2 against the equilibrium found"
        return [
            ("exists", *known),
            ("lower", f"{self.lower:.3e}", least),
            ("upper", f"{self.upper:.3e}", f"{least}, by the policy found"),
            ("memory", "" if self.memory is None else f"{self.memory:.3e}", remembered),
        ]

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values, without the policy and the proof."""
        ends = {"lower": self.lower, "upper": self.upper, "exists": self.exists}
        return {
            **ends,
            "kind": self.kind,
            "components": self.components,
            "memory": self.memory,
            "seconds": self.seconds,
        }


def known(policy: Floats) -> Existence:
    """Give the pure equilibrium (R, K) of a game in which nothing is hidden: it has one."""
    return Existence("matrix", 0.0, 0.0, policy, 1, 0.0, {}, 0.0)


def decide(
    game: SymmetricGame,
    denominator: int,
    seconds: float,
    clock: Callable[[], float] = perf_counter,
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
    """The course of a decision, and the best policy so far."""

    def __init__(self, game: SymmetricGame, denominator: int, deadline: Deadline) -> None:
        self.game, self.deadline = game, deadline
        self.exact = ExactStates(game.graph, denominator)
        self.policy, self.loss = game.policy(game.first[0]), 0.5
        """The best policy, and what the best counter known wins against it beyond 1/2."""
        self.components, self.pool = 0, game.first
        self.memory: float | None = None

    def run(self) -> Existence:
        share, found = self.deadline.share(0.3), None
        steps = list(double_oracle(self.game, share, self.pool, MOST_OF_MIXTURE))
        if steps:
            self.pool = steps[-1].pool
            found = self.by_mixture(steps[-1])
        return found or self.result("open")

    def by_mixture(self, oracle: Oracle) -> Existence | None:
        """Try what can follow from an equilibrium of a pool, be it one of the game or not."""
        weights = fewer(oracle)
        if (oracle.payoffs @ weights).max() > 0.5 + TIE:
            weights = oracle.weights
        weights, matrices = weights[weights > 0.0], oracle.pool[weights > 0.0]
        if oracle.closing.status == Status.CLOSED:
            problem = self.game.folded(weights, matrices)
            self.components = len(weights)
            self.memory = problem.value(problem.free) - 0.5
        return (
            self.by_matrix(oracle) or self.by_policy(weights, matrices) or self.by_boxes(matrices)
        )

    def result(self, kind: Kind, lower: float = 0.0, **proof: Any) -> Existence:
        exists = kind in {"matrix", "policy"}
        upper = 0.0 if exists else self.proved_loss()
        components = 1 if kind == "matrix" else self.components
        spent = self.deadline.spent
        return Existence(kind, lower, upper, self.policy, components, self.memory, proof, spent)

    def proved_loss(self) -> float:
        """Bound the exploitability of the best policy, ever closer to what a counter wins."""
        problem, gaps = self.game.alone(self.policy), list(GAPS)
        value, bound = problem.ascend(self.pool[-4:])[1], problem.value(problem.free)
        bound += problem.error
        while gaps:
            target = value + gaps[0] * (value - 0.5) + TIE
            closing = problem.close(target, MOST, self.deadline)
            if closing.status == Status.OPEN:
                break
            if closing.status == Status.FOUND:
                value = closing.value
            else:
                bound = min(bound, closing.bound)
                gaps.pop(0)
        return min(bound - 0.5, 0.5)

    def certified(self, policy: Policy, kind: Kind) -> Existence | None:
        """Prove that no matrix wins more than 1/2 against a policy, exactly."""
        rates = floats(policy)
        problem = self.game.alone(rates)
        closing = problem.respond(self.pool[-4:], 0.5 + TIE, MOST, self.deadline)
        if closing.status != Status.CLOSED:
            return None
        self.policy, self.loss = rates, closing.bound - 0.5
        if not self.exact.is_at_most(Fraction(1, 2), policy, problem, closing.questions):
            return None
        self.memory = problem.value(problem.free) - 0.5
        common = [lcm(*(one.denominator for one in row)) for row in policy]
        rows = [[int(one * of) for one in row] for row, of in zip(policy, common, strict=True)]
        return self.result(kind, policy=rows, tree=closing.questions.tolist())

    def by_matrix(self, oracle: Oracle) -> Existence | None:
        """Try matrices that none of the pool beats, the heaviest in the mixture first."""
        for one in candidates(oracle):
            found = self.certified(rational(self.game.policy(oracle.pool[one]), 1), "matrix")
            if found is not None:
                return found
        return None

    def by_policy(self, weights: Floats, matrices: Ints) -> Existence | None:
        """Try Kuhn's policy of the mixture, and what linear programs make of it."""
        policy = np.tensordot(weights, self.game.policy(matrices), 1)
        kuhn = exact_kuhn(self.exact, matrices) if len(matrices) <= MOST_EXACT else None
        if kuhn is not None:
            found = self.certified(kuhn, "policy")
            if found is not None:
                return found
            policy = floats(kuhn)
        return self.by_descent(policy)

    def by_descent(self, policy: Floats) -> Existence | None:
        """Lower the exploitability of a policy, and try what comes of it."""
        policy, rate, self.pool = descend(self.game, policy, self.pool, self.deadline.share(0.25))
        if rate - 0.5 < self.loss:
            self.policy, self.loss = policy, rate - 0.5
        for largest in DENOMINATORS if rate <= 0.5 + SMALLEST else ():
            found = self.certified(rational(policy, largest), "policy")
            if found is not None:
                return found
        return None

    def by_boxes(self, matrices: Ints) -> Existence | None:
        """Enclose all policies in boxes; begin with the responses that matter for mixtures."""
        found = None
        for share, part in TARGETS:
            while found is None and self.loss > SMALLEST:
                loss, deadline = self.loss, self.deadline.share(part)
                boxes = Enclosure(self.game, self.pool, share * min(loss, 0.1), deadline)
                is_closed = boxes.run(self.game.graph.pure, matrices)
                self.pool = boxes.pool
                if is_closed:
                    leaves = [step for step in boxes.steps if isinstance(step, Leaf)]
                    lower = min(0.5 - leaf.closing.bound for leaf in leaves)
                    return self.result("none", lower, **boxes.proof())
                if boxes.policy is not None:
                    found = self.by_descent(boxes.policy)
                if self.loss >= loss:
                    break
        return found
