"""Methods for decision problems of imperfect recall, each a course of policies that go on for ever.

A problem is played by the engine of its game; in a tree nature plays for the other seat. A policy
is made pure by one sweep of coordinate ascent, which loses nothing; a method that has come to an
end begins anew at random.

- regret matching, also plus (O. Tammelin, arXiv 1407.5042, 2014) and predictive (G. Farina,
  C. Kroer and T. Sandholm, "Faster game solving via predictive Blackwell approachability", AAAI
  2021), on the gradient, as E. Tewolde and others do (arXiv 2602.15252, 2026);
- projected gradient ascent; AMSGrad with projection (S. J. Reddi, S. Kale and S. Kumar, "On the
  convergence of Adam and beyond", ICLR 2018);
- softmax annealing and coordinate ascent (hogeq.search.ascent); the attack (hogeq.search.attack).
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import cycle
from typing import Final

import numpy as np

from hogeq.benchmark.catalogue import Entry
from hogeq.model.protocol import Engine, Role
from hogeq.search.ascent import ith_start, random_policy
from hogeq.search.attack import ROUND, AttackSearch
from hogeq.search.results import Budget
from hogeq.strategies.arrays import one_hot
from hogeq.strategies.strategy import Strategy, strategy_of
from hogeq.support.aliases import Floats, Ints
from hogeq.support.progress import Phase
from hogeq.trees.engine import TreeEngine
from hogeq.trees.flat import CHANCE, FlatTree, payoff

Course = Iterator[tuple[float, Floats]]
"""Win rates and the policies that have them; a policy is overwritten by the next step."""

PATIENCE: Final = 50  # steps that must gain
LEAST: Final = 1e-7  # so much, in win rate, or a start is over
MANY: Final = 10**9

# Lengths of steps, start by start: of the largest derivative's, and of a probability.
GRADIENT_STEPS: Final = (1.0, 10.0, 0.1, 100.0)
ADAM_STEPS: Final = (0.1, 0.01, 0.5)
BETAS: Final = (0.9, 0.999)


class Problem:
    """A problem of one player: value and gradient of a policy, and what a search needs."""

    def __init__(self, engine: Engine, opponent: Strategy, even: float, scale: float) -> None:
        self.engine, self.opponent = engine, opponent
        self.even, self.scale = even, scale  # payoff of a win rate of 1/2, and of 1 more
        self.shape = engine.shape
        self.work = engine.workspace(2)
        self.policies = np.stack([opponent.mean, opponent.mean])

    def gradient(self, policy: Floats) -> tuple[float, Floats]:
        """Win rate of a policy, and its derivatives."""
        self.policies[0] = policy
        reach = self.work.forward(self.policies)
        met = self.work.backward(reach, self.policies, Role.COUNTERFACTUAL)
        return met.win_rate, met.values

    def payoff(self, rate: float) -> float:
        """Payoff of a win rate."""
        return self.even + (rate - 0.5) * self.scale

    def rows(self, policy: Floats) -> Ints:
        """Likeliest action of every row that it has."""
        if isinstance(self.engine, TreeEngine):
            policy = np.where(self.engine.tree.legal, policy, -1.0)
        return policy.reshape(-1, policy.shape[-1]).argmax(axis=1)


def problem_of(entry: Entry) -> Problem:
    """Make the problem of an instance."""
    if entry.tree is None:
        return Problem(*entry.match(), 0.5, 1.0)
    tree, seat = entry.tree(), entry.seat or 0
    if entry.seat is not None:
        tree = against_nature(tree, seat)
    engine, uniform = TreeEngine(tree), tree.uniform()
    # An engine plays both seats; in the other one the opponent's payoff is that of its own policy.
    even = (1 - 2 * seat) * payoff(tree, uniform, uniform)
    return Problem(engine, strategy_of(engine, uniform), even, 2.0 * engine.payoff_per_win_rate)


def against_nature(tree: FlatTree, seat: int) -> FlatTree:
    """Let nature play for the other seat, every action as likely as the others."""
    others, own = tree.player == 1 - seat, np.flatnonzero(tree.seat == seat)
    number = np.full(tree.num_rows + 1, -1)  # the last of what is no row
    number[own] = np.arange(len(own))
    chances = np.where(
        tree.mover == 1 - seat, 1.0 / tree.num_legal[tree.row[tree.parent]], tree.chance
    )
    player = np.where(others, CHANCE, tree.player).astype(np.int8)
    after = np.flatnonzero(player[tree.parent] == CHANCE)
    after = after[after > 0]
    return replace(
        tree,
        player=player,
        row=number[tree.row].astype(np.int32),
        odds=chances[after],
        drawn=tree.move[after],
        seat=tree.seat[own],
        num_legal=tree.num_legal[own],
        moves=tree.moves[own],
        names=[tree.names[row] for row in own.tolist()],
        states=None,
    )


def improved(problem: Problem, policy: Floats, ascends: bool) -> tuple[float, Floats]:
    """Sweep once, or until no row alone can be improved; never worse."""
    policies = problem.policies
    policies[0] = policy
    while True:
        swept = problem.work.backward(problem.work.forward(policies), policies, Role.ASCEND)
        if not (swept.changes and ascends):
            return swept.win_rate, policies[0].copy()


def restarting(
    once: Callable[[Problem, Floats, float], Course], steps: tuple[float, ...], problem: Problem
) -> Course:
    """Begin at the uniform policy and, whenever a start gains no more, at a random one."""
    random = np.random.default_rng(0)
    policy = np.full(problem.shape, 1.0 / problem.shape[-1])
    for step in cycle(steps):
        best, at, left = -1.0, policy, PATIENCE
        for value, now in once(problem, policy, step):
            yield value, now
            left -= 1
            if value > best + LEAST:
                best, at, left = value, now.copy(), PATIENCE
            if not left:
                break
        yield improved(problem, at, False)
        policy = random_policy(problem.engine, random)


def regret_matching(
    problem: Problem, start: Floats, step: float, *, plus: bool, predictive: bool
) -> Course:
    """Play what would have been better, in proportion to the regret."""
    del step  # there is none
    policy, regrets = start, np.zeros(problem.shape)
    while True:
        value, gradient = problem.gradient(policy)
        yield value, policy
        instant = gradient - (gradient * policy).sum(axis=-1, keepdims=True)
        regrets += instant
        if plus:
            np.maximum(regrets, 0.0, out=regrets)
        positive = np.maximum(regrets + instant if predictive else regrets, 0.0)
        total = positive.sum(axis=-1, keepdims=True)
        policy = np.where(total > 0.0, positive / np.where(total > 0.0, total, 1.0), policy)


def projected(rows: Floats) -> Floats:
    """Nearest probabilities, row by row."""
    falling = -np.sort(-rows, axis=-1)
    excess = falling.cumsum(axis=-1) - 1.0
    count = np.arange(1, rows.shape[-1] + 1)
    last = (falling * count > excess).sum(axis=-1, keepdims=True) - 1
    over = np.take_along_axis(excess, last, axis=-1) / (last + 1)
    return np.maximum(rows - over, 0.0)


def projected_gradient(problem: Problem, start: Floats, step: float) -> Course:
    """Go along the gradient and back to probabilities."""
    policy, length = start, 0.0
    while True:
        value, gradient = problem.gradient(policy)
        yield value, policy
        length = length or step / max(float(np.abs(gradient).max()), 1e-300)
        policy = projected(policy + length * gradient)


def amsgrad(problem: Problem, start: Floats, step: float) -> Course:
    """Adam with the largest second moment so far, and back to probabilities."""
    policy = start
    mean, square, largest = np.zeros((3, *problem.shape))
    one, two = BETAS
    while True:
        value, gradient = problem.gradient(policy)
        yield value, policy
        mean += (1.0 - one) * (gradient - mean)
        square += (1.0 - two) * (gradient**2 - square)
        np.maximum(largest, square, out=largest)
        policy = projected(policy + step * mean / np.sqrt(largest + 1e-30))


def annealing(problem: Problem) -> Course:
    """Cool a softmax responder, from the starts of the attack and then from random ones."""
    budget, start = Budget(kicks=0), 0
    policies = problem.policies
    while True:
        random = np.random.default_rng([0, start])
        policy, cooling = ith_start(problem.engine, problem.opponent.mean, start, random)
        policies[0] = policy
        for temperature in np.geomspace(*cooling, budget.anneal_steps):
            softened = problem.work.backward(
                problem.work.forward(policies),
                policies,
                Role.SOFTMAX,
                temperature=float(temperature),
                damping=budget.damping,
            )
            yield softened.win_rate, policies[0]
        yield improved(problem, policies[0], False)
        start += 1


def coordinate_ascent(problem: Problem) -> Course:
    """Set row by row to its best action, from random pure strategies."""
    random = np.random.default_rng(0)
    while True:
        rows = random.integers(problem.shape[-1], size=problem.shape[:-1])
        yield improved(problem, one_hot(rows, problem.shape[-1]), True)


def attack(problem: Problem) -> Course:
    """Search as `hogeq attack` does, with kicks without end."""
    budget = Budget(starts=2, kicks=MANY)
    meeting = problem.engine, problem.opponent
    search = AttackSearch(*meeting, budget, Phase("attack"))
    search.begin([one.run(*meeting) for one in search.starts()])
    while True:
        found = search.result()
        yield found.win_rate, one_hot(found.matrix, problem.shape[-1])
        searches = search.round(ROUND * budget.starts)
        search.learn(searches, [one.run(*meeting) for one in searches])


def _matching(plus: bool, predictive: bool) -> Callable[[Problem], Course]:
    once = partial(regret_matching, plus=plus, predictive=predictive)
    return partial(restarting, once, (1.0,))


METHODS: Final[dict[str, Callable[[Problem], Course]]] = {
    "attack": attack,
    "RM": _matching(False, False),
    "RM+": _matching(True, False),
    "PRM+": _matching(True, True),
    "gradient": partial(restarting, projected_gradient, GRADIENT_STEPS),
    "AMSGrad": partial(restarting, amsgrad, ADAM_STEPS),
    "annealing": annealing,
    "ascent": coordinate_ascent,
}
"""All methods, by the names of the tables."""
