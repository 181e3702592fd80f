"""Methods for decision problems of imperfect recall: searches by gradients, and exact ones.

A search is a course of policies that goes on for ever. Its effort is counted in evaluations: one
is a pass forward and one backward, for a value and gradient, a step of annealing, or a sweep of
coordinate ascent. A problem is played by the engine of its game; in a tree nature plays for the
other seat.

- first-order steps from one random policy (steps.py), and some that begin anew;
- softmax annealing and coordinate ascent (hogeq.search.ascent); the attack (hogeq.search.attack);
- annealing of pure strategies (hogeq.trees.annealing);
- enumeration and an integer program (hogeq.trees.best_response), and multiple policy updating (D.
  D. Maua, C. P. de Campos and M. Zaffalon, "Solving limited memory influence diagrams", JAIR 44,
  2012), written anew here, in Python; its variables are the sequences of a tree.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import count
from time import perf_counter
from typing import Final

import numpy as np
from steps import AMSGRAD, MATCHING, RATES, Step, amsgrad, gradient, optimistic

from hogeq import Hog, TreeGame
from hogeq.benchmark.catalogue import Entry
from hogeq.model.protocol import Engine, Role
from hogeq.search.ascent import ith_start, random_policy
from hogeq.search.attack import AttackSearch
from hogeq.search.results import Budget
from hogeq.strategies.arrays import one_hot
from hogeq.strategies.conversion import strategy_of
from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Floats, Ints
from hogeq.support.progress import Phase
from hogeq.trees.annealing import anneal_in_slices, walk_length
from hogeq.trees.engine import TreeEngine
from hogeq.trees.enumeration import enumerate_responses
from hogeq.trees.flat import CHANCE, FlatTree, payoff
from hogeq.trees.integer_program import solve_by_program
from hogeq.trees.sequences import LEAST_GAIN, SequenceForm, sequence_form

Random = np.random.Generator
Course = Iterator[tuple[int, float, Floats]]
"""Evaluations of a step, a win rate, and the policy that has it, which the next step overwrites."""

ANNEALED: Final = 500  # evaluations of an annealing from one strategy
STEP_EVALUATIONS: Final = 10  # of an annealing between two values
HOG_TEMPERATURES: Final = (0.03, 0.0003)  # in win rate
PATIENCE: Final = 50  # steps that must gain
LEAST: Final = 1e-7  # so much, in win rate, or a start is over
MANY: Final = 10**9


class Problem:
    """A problem of one player: value and gradient of a policy, and what a search needs."""

    def __init__(self, engine: Engine, opponent: Strategy, even: float, scale: float) -> None:
        self.engine, self.opponent = engine, opponent
        self.even, self.scale = even, scale  # payoff of a win rate of 1/2, and of 1 more
        self.shape = engine.shape
        self.work = engine.workspace(2)
        self.policies = np.stack([opponent.mean, opponent.mean])

    def gradient(self, policy: Floats) -> tuple[float, Floats]:
        """Win rate of a policy, and the derivatives of its payoff."""
        self.policies[0] = policy
        reach = self.work.forward(self.policies)
        met = self.work.backward(reach, self.policies, Role.COUNTERFACTUAL)
        return met.win_rate, self.scale * met.values

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
    game, seat = entry.load(), entry.seat
    if isinstance(game, Hog):
        assert entry.opponent is not None  # noqa: S101 - instances of Hog have one
        return Problem(game.engine, game.strategy(entry.opponent), 0.5, 1.0)
    assert isinstance(game, TreeGame)  # noqa: S101 - all others are trees
    tree = game.tree
    if entry.opponent is not None:
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
        chance_probabilities=chances[after],
        chance_numbers=tree.incoming_number[after],
        seat=tree.seat[own],
        num_legal=tree.num_legal[own],
        action_numbers=tree.actions_of(own),
        names=[tree.names[row] for row in own.tolist()],
        states=None,
    )


def improved(problem: Problem, policy: Floats, ascends: bool) -> tuple[int, float, Floats]:
    """Sweep once, or until no row alone can be improved; never worse."""
    policies, sweeps, changes = np.stack([policy, problem.opponent.mean]), 0, 1
    while not sweeps or (changes and ascends):
        swept = problem.work.backward(problem.work.forward(policies), policies, Role.ASCEND)
        sweeps, changes = sweeps + 1, swept.changes
    return sweeps, swept.win_rate, policies[0]


# --- searches -------------------------------------------------------------------------------------


def restarting(once: "Search", problem: Problem, random: Random, *setting: float) -> Course:
    """Begin at another random policy whenever a start gains no more."""
    while True:
        best, at, left = -1.0, np.zeros(0), PATIENCE
        for cost, value, policy in once(problem, random, *setting):
            yield cost, value, policy
            left -= 1
            if value > best + LEAST:
                best, at, left = value, policy.copy(), PATIENCE
            if not left:
                break
        yield improved(problem, at, False)


def first_order(step: Step, problem: Problem, random: Random, *setting: float) -> Course:
    """Make one step after the other, from a random policy."""
    policy, state = random_policy(problem.engine, random), None
    while True:
        value, slopes = problem.gradient(policy)
        yield 1, value, policy
        rows = (one.reshape(-1, problem.shape[-1]) for one in (policy, slopes))
        moved, state = step(*rows, state, *setting)
        policy = moved.reshape(problem.shape)


def annealing(problem: Problem, random: Random) -> Course:
    """Cool a softmax responder, from the starts of the attack and then from random ones."""
    budget, policies = Budget(kicks=0), problem.policies.copy()
    for start in count():
        policies[0], cooling = ith_start(problem.engine, problem.opponent.mean, start, random)
        for temperature in np.geomspace(*cooling, budget.anneal_steps):
            softened = problem.work.backward(
                problem.work.forward(policies),
                policies,
                Role.SOFTMAX,
                temperature=float(temperature),
                damping=budget.damping,
            )
            yield 1, softened.win_rate, policies[0]
        yield improved(problem, policies[0], False)


def coordinate_ascent(problem: Problem, random: Random) -> Course:
    """Set row by row to its best action, from random pure strategies."""
    while True:
        rows = random.integers(problem.shape[-1], size=problem.shape[:-1])
        yield improved(problem, one_hot(rows, problem.shape[-1]), True)


def attack(problem: Problem, random: Random) -> Course:
    """Search as `hogeq attack` does, with kicks without end."""
    budget = Budget(starts=2, kicks=MANY, seed=int(random.integers(MANY)))
    meeting, spent = (problem.engine, problem.opponent), 0
    search = AttackSearch(*meeting, budget, Phase("attack"))
    search.begin([one.run(*meeting) for one in search.starts()])
    while True:
        found = search.result()
        yield found.sweeps - spent, found.win_rate, one_hot(found.matrix, problem.shape[-1])
        spent = found.sweeps
        searches = search.next_round(budget.starts)
        search.learn(searches, [one.run(*meeting) for one in searches])


def plan_annealing(problem: Problem, random: Random) -> Course:
    """Anneal pure strategies, from one random one after the other.

    In a tree an evaluation is as many steps as meet what passes forward and backward meet: all
    refined information sets twice. In Hog a step costs an evaluation.
    """
    if not isinstance(problem.engine, TreeEngine):
        while True:
            yield from _hog_annealing(problem, random)
    tree = problem.engine.tree
    form = sequence_form(tree, int(tree.seat[0]))
    inner, payoffs = form.inflated, form.payoffs_against(tree.uniform())
    while True:
        start = random.integers(inner.tree.num_legal)
        every = max(1, STEP_EVALUATIONS * 2 * inner.num_refined // walk_length(inner, start))
        steps = every * (ANNEALED // STEP_EVALUATIONS)
        policy = one_hot(form.likeliest_actions(inner.pure_realisation(start)), problem.shape[-1])
        for best in anneal_in_slices(inner, payoffs, start, steps, random, every):
            actions = form.likeliest_actions(inner.pure_realisation(best))
            policy = one_hot(actions, problem.shape[-1])
            yield STEP_EVALUATIONS, problem.gradient(policy)[0], policy
        yield improved(problem, policy, True)


def _hog_annealing(problem: Problem, random: Random) -> Course:
    """Change a cell at a time, from a random matrix."""
    cells = random.integers(problem.shape[-1], size=problem.shape[:-1])
    rate = problem.gradient(one_hot(cells, problem.shape[-1]))[0]
    for temperature in np.geomspace(*HOG_TEMPERATURES, ANNEALED):
        at = tuple(random.integers(problem.shape[:-1]))
        before, cells[at] = cells[at], random.integers(problem.shape[-1])
        policy = one_hot(cells, problem.shape[-1])
        changed = problem.gradient(policy)[0]
        if changed >= rate or random.random() < np.exp((changed - rate) / temperature):
            rate = changed
        else:
            cells[at] = before
        yield 1, changed, policy


Search = Callable[..., Course]
SEARCHES: Final[dict[str, Search]] = {
    "attack": attack,
    "annealing": annealing,
    "ascent": coordinate_ascent,
    **{name: partial(first_order, step) for name, step in MATCHING.items()},
    "RM restarted": partial(restarting, partial(first_order, MATCHING["RM"])),
    "PRM+ restarted": partial(restarting, partial(first_order, MATCHING["PRM+"])),
    "PGD": partial(first_order, gradient),
    "OGD": partial(first_order, optimistic),
    "AMSGrad": partial(first_order, amsgrad),
    "PGD restarted": partial(restarting, partial(first_order, gradient)),
    "plan annealing": plan_annealing,
}
"""Methods that go on for ever, by the names of the tables."""

STEPS: Final = tuple((rate,) for rate in RATES)
GRIDS: Final[dict[str, tuple[tuple[float, ...], ...]]] = {
    "PGD": STEPS,
    "OGD": STEPS,
    "PGD restarted": (*STEPS, (1e1,), (1e2,), (1e3,)),
    "AMSGrad": AMSGRAD,
}
"""Settings of each method; restarts may have longer steps, too."""


# --- exact methods --------------------------------------------------------------------------------

Answer = tuple[float, float]
"""Share of the largest payoff that a strategy has, and a bound on all; infinite if unknown."""


def enumeration(form: SequenceForm, payoffs: Floats, seconds: float) -> Answer:
    """Enumerate depth first, from any strategy; it sets 2^22 parts at most, in about a second."""
    del seconds
    acts = np.zeros(len(form.tree.num_legal), np.int64)
    payoff = float(form.pure_realisation(acts) @ payoffs)
    _, best, bound = enumerate_responses(form, payoffs, acts, payoff)
    return best, bound


def integer_program(form: SequenceForm, payoffs: Floats, seconds: float) -> Answer:
    """Solve an integer program by HiGHS."""
    acts, bound = solve_by_program(form, payoffs, seconds)
    if acts is None:
        return -np.inf, bound
    return float(form.pure_realisation(acts) @ payoffs), bound


def multiple_policy_updating(form: SequenceForm, payoffs: Floats, seconds: float) -> Answer:
    """Set rows from the last to the first, in all ways that are not dominated.

    A way to set the rows so far is a vector: what each sequence of the rows before is then worth.
    """
    end = perf_counter() + seconds
    vectors, left = payoffs[None], np.ones(len(payoffs), bool)
    assert form.rank_of_row is not None  # noqa: S101 - of all trees of the benchmark
    for row in np.argsort(-form.rank_of_row, kind="stable"):
        pasts = np.flatnonzero(form.row_of_refined == row)
        sequences = form.sequence_offsets[pasts, None] + np.arange(form.tree.num_legal[row])
        left[sequences] = False
        ways = []
        for taken in sequences.T:
            way = vectors.copy()
            np.add.at(way.T, form.parent_sequence[pasts], vectors[:, taken].T)
            ways.append(way)
        vectors = np.concatenate(ways)
        differ = left & (np.ptp(vectors, axis=0) > 0.0)
        vectors = vectors[np.argsort(-vectors[:, left].sum(axis=1), kind="stable")]
        kept = np.zeros(len(vectors), bool)
        for place, one in enumerate(vectors[:, differ]):
            if perf_counter() > end:
                return -np.inf, np.inf
            others = vectors[kept][:, differ]
            kept[place] = not (others >= one - LEAST_GAIN).all(axis=1).any()
        vectors = vectors[kept]
    return float(vectors[0, 0]), float(vectors[0, 0])


EXACT: Final[dict[str, Callable[[SequenceForm, Floats, float], Answer]]] = {
    "enumeration": enumeration,
    "integer program": integer_program,
    "MPU": multiple_policy_updating,
}
"""Methods for game trees that end with a proof, or at a limit of time."""
