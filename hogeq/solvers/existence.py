"""Whether a symmetric game has an equilibrium in policies, with proof.

1. A double oracle finds an equilibrium in mixtures: an exact best response ends it.
2. A component that no matrix beats is an equilibrium; so is a policy that none beats, which is
   looked for from Kuhn's policy by linear programs. Rational arithmetic proves both.
3. Else every equilibrium policy is a best response to the mixture. Actions that no best response
   takes are removed; policies of the others lie in boxes, each beaten by a mixture of counters.

``docs/existence.md`` has the lemma, its proof, and what else is known.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from time import perf_counter
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.model.protocol import Engine
from hogeq.search.branching import (
    Closing,
    ExactStates,
    Policy,
    ResponseGraph,
    Responses,
    Status,
    rational,
)
from hogeq.search.results import PROVED, Equilibrium
from hogeq.solvers.responses import SUPPORT, equilibrium
from hogeq.strategies.strategy import Mixture, strategy_of
from hogeq.support.aliases import Floats, Ints
from hogeq.support.deadline import Deadline

TIE: Final = 1e-10  # win rates this close to 1/2 count as 1/2 until they are proved
SMALLEST: Final = 1e-9  # a roll that loses less is kept
MOST: Final = 200_000  # relaxations of one proof
MOST_EXACT: Final = 8  # components whose weights are solved for in rational numbers
MOST_CUTS: Final = 2_000  # of boxes
BITS: Final = (8, 12, 16, 20, 26)  # of probabilities that are tried
TARGETS: Final = ((0.5, 0.3), (0.05, 0.5), (0.005, 1.0))
"""What is to be proved of boxes, of the exploitability known, and in what part of the time left."""


class Oracle(NamedTuple):
    """A pool of matrices, and an equilibrium of it."""

    pool: Ints  # (n, R)
    payoffs: Floats  # (n, n), win rate of row against column
    weights: Floats  # (n,)
    closing: Closing  # of the mixture against all matrices

    @property
    def mixture(self) -> tuple[Floats, Ints]:
        """Weights (n,) and matrices (n, R) of the components."""
        used = self.weights > 0.0
        return self.weights[used], self.pool[used]


class SymmetricGame:
    """A game in which both players have the same rows, as a graph in which one is fixed."""

    def __init__(self, graph: ResponseGraph) -> None:
        self.graph = graph
        self.rows, self.actions = graph.legal.shape
        self.eye = np.eye(self.actions)

    def policy(self, matrix: Ints) -> Floats:
        """Matrix (..., R) as a policy (..., R, K)."""
        return np.asarray(self.eye[matrix])

    def against(
        self, weights: Floats, policies: Floats, corners: Sequence[Floats] | None = None
    ) -> Responses:
        """Responses to a mixture of policies (n, R, K)."""
        return self.graph.against(weights, policies, corners)

    def alone(self, policy: Floats) -> Responses:
        """Responses to one policy (R, K)."""
        return self.against(np.ones(1), policy[None])

    def rates(self, matrix: Ints, pool: Ints) -> Floats:
        """Win rate of a matrix against each of a pool, (n,)."""
        problem = self.against(np.full(len(pool), 1.0 / len(pool)), self.policy(pool))
        return problem.values(problem.corners.first[:-1] + matrix)

    def best(self, problem: Responses, starts: Ints) -> tuple[Ints, float]:
        """Improve the relaxed response and some matrices (n, R); give the best."""
        first = problem.corners.first[:-1]
        begin = [problem.settled(problem.free), *(first + start for start in starts)]
        found, value = max((problem.improve(one) for one in begin), key=lambda one: one[1])
        return found - first, value


def double_oracle(game: SymmetricGame, deadline: Deadline, first: Ints) -> Iterator[Oracle]:
    """Add a best response to the equilibrium of a pool to it, until there is none that gains.

    Each yields an equilibrium of the pool; the last is one of the game if its search is closed.
    """
    pool, payoffs, weights = first[None], np.full((1, 1), 0.5), np.ones(1)
    while deadline.left:
        used = np.flatnonzero(weights > 0.0)
        problem = game.against(weights[used], game.policy(pool[used]))
        new, rate = game.best(problem, pool[[*used, -1]])
        closing = Closing(Status.FOUND, rate, np.inf, new, np.zeros(0, np.int64), 0)
        if rate <= 0.5 + TIE:
            closing = problem.close(0.5 + TIE, deadline=deadline)
            if closing.status == Status.FOUND:
                response, _ = problem.improve(closing.response)
                new = response - problem.corners.first[:-1]
        yield Oracle(pool, payoffs, weights, closing)
        if closing.status != Status.FOUND:
            return
        wins = game.rates(new, pool)
        pool = np.concatenate([pool, new[None]])
        payoffs = np.block([[payoffs, 1.0 - wins[:, None]], [wins[None], np.full((1, 1), 0.5)]])
        weights = polished(payoffs, equilibrium(payoffs))


def polished(payoffs: Floats, weights: Floats) -> Floats:
    """Solve the equations of the components of an equilibrium: all win 1/2."""
    used = np.flatnonzero(weights > SUPPORT)
    ones = np.ones((1, len(used)))
    matrix = np.concatenate([payoffs[np.ix_(used, used)] - 0.5, ones])
    begin = weights[used] / weights[used].sum()
    goal = np.append(np.zeros(len(used)), 1.0)
    step = np.linalg.lstsq(matrix, goal - matrix @ begin, rcond=None)[0]
    better = begin + step
    if (better < 0.0).any():
        better = begin
    found = np.zeros(len(weights))
    found[used] = better / better.sum()
    return found


def fewer(oracle: Oracle) -> Floats:
    """Drop components of an equilibrium of the pool, one after the other, where others suffice."""
    from scipy.optimize import linprog

    payoffs, kept = oracle.payoffs, oracle.weights.copy()
    for one in np.argsort(kept):
        if kept[one] <= 0.0 or (kept > 0.0).sum() == 1:
            continue
        used = np.flatnonzero((kept > 0.0) & (np.arange(len(kept)) != one))
        found = linprog(
            np.zeros(len(used)),
            A_ub=payoffs[:, used],
            b_ub=np.full(len(payoffs), 0.5 + TIE / 10),
            A_eq=np.ones((1, len(used))),
            b_eq=[1.0],
            method="highs",
        )
        if found.success:
            kept = np.zeros(len(kept))
            kept[used] = found.x
            kept = polished(payoffs, kept)
    return kept


def kuhn(game: SymmetricGame, weights: Floats, matrices: Ints) -> Floats:
    """Policy of a mixture: in each row its components by their reach against the mixture."""
    total = np.zeros((game.rows, game.actions))
    policies = game.policy(matrices)
    for weight, matrix in zip(weights, matrices, strict=True):
        problem = game.against(weights, policies)
        problem.gradient(problem.corners.first[:-1] + matrix)
        total[np.arange(game.rows), matrix] += weight * reached(problem, game.rows)
    mean = np.tensordot(weights, policies, 1)
    sums = total.sum(axis=1, keepdims=True)
    return np.where(sums > 0.0, total / np.where(sums > 0.0, sums, 1.0), mean)


def reached(problem: Responses, rows: int) -> Floats:
    """How often the last response comes to each row, (R,)."""
    mass = np.zeros(rows)
    states, others = problem.states, problem.others
    for one in range(len(others.weight)):
        member = others.member[others.begin[one] : others.begin[one + 1]]
        own = member[states.is_own[member]]
        np.add.at(mass, states.row[own], problem.scratch.reach[one, own])
    return mass


class Removed(NamedTuple):
    """Proof that equilibrium policies do not make a roll in a row."""

    row: int
    action: int
    closing: Closing


def reduce(
    game: SymmetricGame, weights: Floats, matrices: Ints, deadline: Deadline
) -> tuple[NDArray[np.bool_], list[Removed]]:
    """Remove actions that no best response to an equilibrium mixture takes; give those kept.

    What is not proved in time is kept.
    """
    problem = game.against(weights, game.policy(matrices))
    first, removed = problem.corners.first, list[Removed]()
    kept = game.graph.legal.copy()
    begin = [first[:-1] + one for one in matrices]
    begin.append(problem.settled(problem.free))
    for row in range(game.rows):
        for action in range(game.actions):
            if not kept[row, action] or (matrices[:, row] == action).any() or not deadline.left:
                continue
            fixed = problem.free
            fixed[row] = first[row] + action
            rate = 0.0
            for one in begin:
                start = one.copy()
                start[row] = fixed[row]
                rate = max(rate, problem.improve(start, fixed)[1])
                if rate > 0.5 - SMALLEST:
                    break
            closing = None
            while rate <= 0.5 - SMALLEST:
                closing = problem.close((0.5 + rate) / 2.0, fixed, MOST, deadline)
                if closing.status != Status.FOUND:
                    break
                rate = problem.improve(closing.response, fixed)[1]
            if closing is not None and closing.status == Status.CLOSED:
                removed.append(Removed(row, action, closing))
                kept[row, action] = False
    return kept, removed


class Box(NamedTuple):
    """Policies whose rows lie between corners, and where they came from."""

    corners: list[Floats]  # of each row, (n, K)
    responses: Ints  # (n, R), corners that mattered for the box before


class Leaf(NamedTuple):
    """Counters that beat every policy of a box, with proof."""

    weights: Floats  # (n,)
    counters: Ints  # (n,), in the pool
    closing: Closing


class Split(NamedTuple):
    """A box is cut at the middle of an edge of a row: the first part keeps the second corner."""

    row: int
    first: int
    second: int


class Enclosure:
    """Least exploitability of the policies of a box, from below by a proof, from above by one."""

    def __init__(self, game: SymmetricGame, pool: Ints, target: float, deadline: Deadline) -> None:
        self.game, self.pool, self.target, self.deadline = game, pool, target, deadline
        self.steps = list[Split | Leaf]()

    def run(self, corners: list[Floats], responses: Ints) -> bool:
        """Prove that no policy has less exploitability than the target; False if that fails."""
        stack = [Box(corners, responses)]
        while stack:
            box = stack.pop()
            step, found = self.close(box)
            if step is None or len(self.steps) > MOST_CUTS:
                return False
            self.steps.append(step)
            if isinstance(step, Split):
                stack += [self.part(box, found, step, at) for at in (1, 0)]
        return True

    def proof(self) -> dict[str, Any]:
        """Write the cuts in the order of a walk, and the counters of each leaf with their proof."""
        cuts: list[Any] = []
        for step in self.steps:
            if isinstance(step, Split):
                cuts.append(list(step))
            else:
                tree = step.closing.questions.tolist()
                cuts.append([whole(step.weights), step.counters.tolist(), tree])
        return {"counters": self.pool.tolist(), "boxes": cuts}

    @staticmethod
    def part(box: Box, responses: Ints, split: Split, at: int) -> Box:
        """Replace the first corner of an edge by its middle, or the second."""
        corners = list(box.corners)
        row = corners[split.row].copy()
        row[(split.first, split.second)[at]] = (row[split.first] + row[split.second]) / 2.0
        corners[split.row] = row
        return Box(corners, responses)

    def close(self, box: Box) -> tuple[Split | Leaf | None, Ints]:
        """Find counters that beat the whole box; or where to cut it."""
        game = self.game
        responses = box.responses
        first = np.concatenate([[0], np.cumsum([len(one) for one in box.corners])])
        rates = np.zeros((len(responses), 0))
        problem: Responses | None = None
        while self.deadline.left:
            if problem is None:
                count = len(self.pool)
                problem = game.against(
                    np.full(count, 1.0 / count), game.policy(self.pool), box.corners
                )
                rates = np.stack([problem.values(first[:-1] + one) for one in responses])
            value, weights, mixed = matrix_game(rates)
            if value > 0.5 - self.target:  # the mixture of responses is not beaten enough
                used = np.flatnonzero(mixed > SUPPORT)
                policies = np.stack(
                    [
                        np.stack([box.corners[row][at] for row, at in enumerate(responses[one])])
                        for one in used
                    ]
                )
                shares = mixed[used] / mixed[used].sum()
                mean = np.tensordot(shares, policies, 1)
                new = list[Ints]()
                counter, rate = game.best(game.alone(mean), self.pool[-3:])
                new.append(counter)
                counter, rate = game.best(
                    game.against(shares, policies), np.concatenate([self.pool[-3:], counter[None]])
                )
                new.append(counter)
                fresh = [one for one in new if not (self.pool == one).all(axis=1).any()]
                if rate <= 1.0 - value + 1e-9 or not fresh:
                    beaters = np.flatnonzero(weights > SUPPORT)
                    against = np.concatenate([self.pool[beaters], np.stack(new)])
                    spread = self.spread(
                        box,
                        responses[used],
                        shares,
                        against,
                        np.concatenate([weights[beaters], np.full(2, 0.5)]),
                    )
                    row = int(np.argmax(spread))
                    if spread[row] <= 1e-13:
                        return None, responses
                    ends = box.corners[row]
                    share = np.bincount(responses[used, row], shares, len(ends))
                    one, two = np.argsort(-share)[:2].tolist()
                    return Split(row, min(one, two), max(one, two)), responses[used]
                self.pool = np.concatenate([self.pool, *(one[None] for one in fresh[:2])])
                problem = None
                continue
            used = np.flatnonzero(weights > SUPPORT)
            shares = dyadic(weights[used])
            relaxed = game.against(shares, game.policy(self.pool[used]), box.corners)
            begin = np.concatenate([relaxed.settled(relaxed.free)[None] - first[:-1], responses])
            found, rate = max(
                (relaxed.improve(first[:-1] + one) for one in begin), key=lambda x: x[1]
            )
            if rate <= 0.5 - self.target / 2.0:
                closing = relaxed.close(0.5 - self.target / 2.0, None, MOST, self.deadline)
                if closing.status == Status.CLOSED:
                    return Leaf(shares, used, closing), responses
                if closing.status == Status.OPEN:
                    return None, responses
                found, _ = relaxed.improve(closing.response)
            responses = np.concatenate([responses, (found - first[:-1])[None]])
            rates = np.concatenate([rates, problem.values(found)[None]])
        return None, responses

    def spread(
        self, box: Box, responses: Ints, shares: Floats, counters: Ints, weights: Floats
    ) -> Floats:
        """How much it matters to each row, (R,), that it knows which response was drawn.

        It is the covariance of what a row plays with its gradient, summed over some counters.
        """
        first = np.concatenate([[0], np.cumsum([len(one) for one in box.corners])])
        plays, found = first[:-1] + responses, np.zeros(self.game.rows)
        for counter, weight in zip(counters, weights, strict=True):
            problem = self.game.against(np.ones(1), self.game.policy(counter[None]), box.corners)
            gains = np.stack([problem.gradient(one)[1] for one in plays])
            own = np.take_along_axis(gains, plays, axis=1)
            mean = shares @ gains
            found += weight * np.abs(shares @ (own - mean[plays]))
        return found


def dyadic(weights: Floats) -> Floats:
    """Round weights to multiples of 2**-40 that sum to 1."""
    found = np.round(weights / weights.sum() * 2.0**40)
    found[found.argmax()] += 2.0**40 - found.sum()
    return found / 2.0**40


def matrix_game(rates: Floats) -> tuple[float, Floats, Floats]:
    """Value to the rows of a matrix game, weights of columns and of rows."""
    from scipy.optimize import linprog

    rows, columns = rates.shape
    # The columns minimise the most that a row wins.
    result = linprog(
        np.append(np.zeros(columns), 1.0),
        A_ub=np.column_stack([rates, -np.ones(rows)]),
        b_ub=np.zeros(rows),
        A_eq=np.append(np.ones(columns), 0.0)[None],
        b_eq=[1.0],
        bounds=[*[(0.0, None)] * columns, (None, None)],
        method="highs",
    )
    if not result.success:
        raise RuntimeError(f"matrix game: {result.message}")
    weights = np.maximum(result.x[:columns], 0.0)
    mixed = np.maximum(-result.ineqlin.marginals, 0.0)
    return float(result.x[-1]), weights / weights.sum(), mixed / mixed.sum()


def descend(  # noqa: C901 - one loop
    game: SymmetricGame, policy: Floats, pool: Ints, deadline: Deadline
) -> tuple[Floats, float, Ints]:
    """Lower the exploitability of a policy by linear programs within a trust region.

    Gives the policy, the win rate of the best counter found, and the counters.
    """
    from scipy.optimize import linprog

    legal = game.graph.legal & (game.graph.legal.sum(axis=1, keepdims=True) > 1)
    rows, actions = np.nonzero(legal)
    sums = np.zeros((game.rows, len(rows)))
    sums[rows, np.arange(len(rows))] = 1.0
    radius, best = 0.5, np.inf

    def worst(one: Floats, pool: Ints) -> tuple[float, Ints]:
        problem = game.alone(one)
        counter, rate = game.best(problem, pool[-6:])
        if rate <= 0.5 + SMALLEST:
            closing = problem.close(0.5 + TIE, None, MOST, deadline)
            if closing.status == Status.FOUND:
                found, rate = problem.improve(closing.response)
                counter = found - problem.corners.first[:-1]
            rate = max(rate, 0.5)
        if not (pool == counter).all(axis=1).any():
            pool = np.concatenate([pool, counter[None]])
        return rate, pool

    best, pool = worst(policy, pool)
    while radius > 1e-7 and best > 0.5 + TIE / 10 and deadline.left:
        corners = [
            np.concatenate([game.eye[legal], one[None]])
            for legal, one in zip(game.graph.legal, policy, strict=True)
        ]
        last = np.cumsum([len(one) for one in corners]) - 1
        lines, rates = list[Floats](), list[float]()
        for counter in pool:
            problem = game.against(np.ones(1), game.policy(counter[None]), corners)
            rate, gain = problem.gradient(last)
            rates.append(rate)
            slope = np.zeros((game.rows, game.actions))
            slope[game.graph.legal] = np.delete(gain, last)
            lines.append(slope[rows, actions])
        slopes, now = np.stack(lines), policy[rows, actions]
        near = np.array(rates) <= min(rates) + 0.05
        while radius > 1e-7:
            found = linprog(
                np.append(np.zeros(len(rows)), -1.0),
                A_ub=np.column_stack([-slopes[near], np.ones(near.sum())]),
                b_ub=np.array(rates)[near],
                A_eq=np.column_stack([sums[legal.any(axis=1)], np.zeros(legal.any(axis=1).sum())]),
                b_eq=np.zeros(legal.any(axis=1).sum()),
                bounds=[
                    *zip(np.maximum(-now, -radius), np.minimum(1.0 - now, radius), strict=True),
                    (None, None),
                ],
                method="highs",
            )
            if not found.success:
                radius /= 4.0
                continue
            moved = policy.copy()
            moved[rows, actions] = np.maximum(now + found.x[:-1], 0.0)
            moved /= moved.sum(axis=1, keepdims=True)
            rate, pool = worst(moved, pool)
            if rate < best:
                policy, best, radius = moved, rate, min(0.5, 2.0 * radius)
                break
            radius /= 3.0
            if len(pool) > len(rates):
                break
    return policy, best, pool


# --- policies in rational numbers -----------------------------------------------------------------


def exact_kuhn(exact: ExactStates, matrices: Ints) -> Policy | None:
    """Policy of the mixture in which all these matrices win 1/2, in rational numbers.

    None if there is no such mixture or several, or if weights are negative.
    """
    count, half = len(matrices), Fraction(1, 2)
    every = range(len(exact.row))
    pure = [[[Fraction(int(a == one)) for a in range(exact.actions)] for one in matrix]
            for matrix in matrices]  # fmt: skip
    rates = [[half] * count for _ in range(count)]
    for one in range(count):
        for two in range(one):
            rates[one][two] = exact.value(pure[two], every, matrices[one].tolist())
            rates[two][one] = 1 - rates[one][two]
    lines = [[rate - half for rate in row] + [Fraction(0)] for row in rates]
    weights = solved([*lines, [Fraction(1)] * (count + 1)])
    if weights is None or min(weights) <= 0:
        return None
    mean = [[sum((one[row][a] for one in pure), Fraction(0)) / count for a in range(exact.actions)]
            for row in range(len(pure[0]))]  # fmt: skip
    policy = [[Fraction(0)] * exact.actions for _ in mean]
    for weight, matrix in zip(weights, matrices, strict=True):
        for row, met in enumerate(exact.reach(matrix.tolist(), mean)):
            policy[row][matrix[row]] += weight * met
    return [
        [one / sum(row) for one in row] if any(row) else pure[0][number]
        for number, row in enumerate(policy)
    ]


def solved(lines: list[list[Fraction]]) -> list[Fraction] | None:
    """Solve equations, each its coefficients and right side; None unless one solution exists."""
    lines, count = [list(line) for line in lines], len(lines[0]) - 1
    for column in range(count):
        place = next((at for at in range(column, len(lines)) if lines[at][column]), None)
        if place is None:
            return None
        lines[column], lines[place] = lines[place], lines[column]
        pivot = lines[column][column]
        lines[column] = [one / pivot for one in lines[column]]
        for at, line in enumerate(lines):
            if at != column and line[column]:
                factor = line[column]
                lines[at] = [a - factor * b for a, b in zip(line, lines[column], strict=True)]
    if any(line[-1] for line in lines[count:]):
        return None
    return [line[-1] for line in lines[:count]]


# --- decision -------------------------------------------------------------------------------------


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
        return [
            ("exists", *known),
            ("lower", f"{self.lower:.3e}", least),
            ("upper", f"{self.upper:.3e}", f"{least}, by the policy found"),
        ]

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values, without the policy and the proof."""
        ends = {"lower": self.lower, "upper": self.upper, "exists": self.exists}
        return {
            **ends,
            "kind": self.kind,
            "components": self.components,
            "seconds": self.seconds,
        }


def in_mixtures(game: SymmetricGame, engine: Engine, deadline: Deadline) -> Equilibrium | None:
    """Solve a game in mixtures by a double oracle that an exact response ends; None if none does.

    A component that is an equilibrium alone is given in place of the mixture.
    """
    steps = list(double_oracle(game, deadline, game.graph.legal.argmax(axis=1)))
    if not steps or steps[-1].closing.status != Status.CLOSED:
        return None
    oracle, bound = steps[-1], steps[-1].closing.bound
    weights, pool = oracle.mixture
    for one in candidates(oracle):
        closing = game.alone(game.policy(oracle.pool[one])).close(0.5 + TIE, None, MOST, deadline)
        if closing.status == Status.CLOSED:
            weights, pool, bound = np.ones(1), oracle.pool[one][None], closing.bound
            break
    tables = pool.reshape(-1, *engine.shape[:-1]).astype(np.int8)
    found = strategy_of(engine, Mixture(weights, tables) if len(tables) > 1 else tables[0])
    return Equilibrium(
        lower=1.0 - bound,
        upper=bound,
        strategies=(found, found),
        is_proved=bound - 0.5 <= PROVED / 2.0,
        method="double oracle",
        effort={"iterations": len(steps), "components": [len(tables)] * 2},
        seconds=deadline.spent,
    )


def candidates(oracle: Oracle) -> list[int]:
    """Matrices of the pool that none of it beats, the heaviest in the mixture first."""
    worst = oracle.payoffs.max(axis=0)
    order = np.argsort(-oracle.weights, kind="stable")
    return [int(one) for one in order[worst[order] <= 0.5 + TIE]]


def known(policy: Floats) -> Existence:
    """Give the pure equilibrium (R, K) of a game in which nothing is hidden: it has one."""
    return Existence("matrix", 0.0, 0.0, policy, 1, {}, 0.0)


def least(loss: float, gap: float, excess: float) -> float:
    """Least exploitability of all policies, by the lemma.

    Policies of the actions that are left lose `loss` at least; others win less than 1/2 by `gap`
    less `excess` against a mixture, against which none wins more than 1/2 plus `excess`.
    """
    half = 0.5 + loss
    found = min(gap - excess, (gap * loss - half * excess) / (gap + half))
    return max(0.0, found * (1.0 - 1e-9))


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
        self.upper, self.policy = 0.5, game.policy(game.graph.legal.argmax(axis=1))
        self.components, self.pool = 0, np.zeros((0, game.rows), np.int64)

    def run(self) -> Existence:
        oracle: Oracle | None = None
        for step in double_oracle(self.game, self.deadline, self.game.graph.legal.argmax(axis=1)):
            oracle = step
        if oracle is None or oracle.closing.status != Status.CLOSED:
            return self.result("open")
        self.pool = oracle.pool
        weights = fewer(oracle)
        if (oracle.payoffs @ weights).max() > 0.5 + TIE:
            weights = oracle.weights
        used = weights > 0.0
        self.components = int(used.sum())
        return (
            self.by_matrix(oracle)
            or self.by_policy(weights[used], oracle.pool[used])
            or self.by_boxes(*oracle.mixture)
            or self.result("open")
        )

    def result(self, kind: Kind, lower: float = 0.0, **proof: Any) -> Existence:
        upper = 0.0 if kind in {"matrix", "policy"} else self.upper
        components = 1 if kind == "matrix" else self.components
        spent = self.deadline.spent
        return Existence(kind, lower, upper, self.policy, components, proof, spent)

    def certified(self, policy: Policy, kind: Kind) -> Existence | None:
        """Prove that no matrix wins more than 1/2 against a policy, exactly."""
        game, rates = self.game, np.array([[float(one) for one in row] for row in policy])
        problem = game.alone(rates)
        if game.best(problem, self.pool[-4:])[1] > 0.5 + TIE:
            return None
        closing = problem.close(0.5 + TIE, None, MOST, self.deadline)
        if closing.status != Status.CLOSED:
            return None
        if closing.bound - 0.5 < self.upper:
            self.upper, self.policy = closing.bound - 0.5, rates
        if not self.exact.is_at_most(Fraction(1, 2), policy, problem, closing.questions):
            return None
        self.policy, common = rates, [lcm(*(one.denominator for one in row)) for row in policy]
        rows = [[int(one * of) for one in row] for row, of in zip(policy, common, strict=True)]
        return self.result(kind, policy=rows, tree=closing.questions.tolist())

    def by_matrix(self, oracle: Oracle) -> Existence | None:
        """Try matrices that none of the pool beats, the heaviest in the mixture first."""
        for one in candidates(oracle):
            found = self.certified(rational(self.game.policy(oracle.pool[one]), 0), "matrix")
            if found is not None:
                return found
        return None

    def by_policy(self, weights: Floats, matrices: Ints) -> Existence | None:
        """Try Kuhn's policy of the mixture, and what linear programs make of it."""
        game = self.game
        if len(matrices) <= MOST_EXACT:
            exact = exact_kuhn(self.exact, matrices)
            found = None if exact is None else self.certified(exact, "policy")
            if found is not None:
                return found
        share = self.deadline.share(0.25)
        begin, rate, self.pool = descend(game, kuhn(game, weights, matrices), self.pool, share)
        rate = self.bounded(begin, rate, share)
        for bits in BITS if rate <= 0.5 + SMALLEST else ():
            found = self.certified(rational(begin, bits), "policy")
            if found is not None:
                return found
        return None

    def bounded(self, policy: Floats, rate: float, deadline: Deadline) -> float:
        """Bound the exploitability of a policy, whose best counter known wins at this rate."""
        problem = self.game.alone(policy)
        while deadline.left:
            closing = problem.close(rate + TIE, None, MOST, deadline)
            if closing.status != Status.FOUND:
                break
            rate = problem.improve(closing.response)[1]
        else:
            return rate
        if closing.status == Status.CLOSED and closing.bound - 0.5 < self.upper:
            self.upper, self.policy = closing.bound - 0.5, policy
        return rate

    def by_boxes(self, weights: Floats, matrices: Ints) -> Existence | None:
        """Remove what best responses to the mixture do not do, and enclose what is left."""
        game, shares = self.game, dyadic(weights)
        closing = game.against(shares, game.policy(matrices)).close(
            0.5 + TIE, None, MOST, self.deadline
        )
        if closing.status != Status.CLOSED:
            return None
        kept, removed = reduce(game, shares, matrices, self.deadline.share(0.5))
        excess = max(closing.bound - 0.5, 0.0)
        removed = [one for one in removed if one.closing.bound < 0.5]
        gap = min((0.5 - one.closing.bound for one in removed), default=0.5) + excess
        places = kept.cumsum(axis=1) - 1
        begin = places[np.arange(game.rows), matrices]
        corners = [game.eye[one] for one in kept]
        for share, part in TARGETS:
            target = share * min(self.upper, 0.1)
            boxes = Enclosure(game, self.pool, target, self.deadline.share(part))
            is_closed = boxes.run(corners, begin)
            self.pool = boxes.pool
            leaves = [step for step in boxes.steps if isinstance(step, Leaf)]
            if is_closed:
                loss = min(0.5 - leaf.closing.bound for leaf in leaves)
                lower = least(loss, gap, excess)
                if lower > 0.0:
                    return self.result(
                        "none",
                        lower,
                        weights=whole(shares),
                        matrices=matrices.tolist(),
                        tree=closing.questions.tolist(),
                        removed=[
                            [one.row, one.action, one.closing.questions.tolist()] for one in removed
                        ],
                        **boxes.proof(),
                    )
        return None


def whole(shares: Floats) -> list[int]:
    """Write dyadic weights as whole numbers of 2**-40."""
    return [int(one) for one in shares * 2.0**40]
