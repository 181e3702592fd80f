"""Search for proofs of upper bounds, as check_benchmark.py reads them: trees of questions.

Branch and bound, the branch with the highest bound first. In game trees a linear program gives the
prices: its variables are the weights r of sequences and the choices z of rows, which may be mixed
there, and the duals of r <= z are prices. Elsewhere there are no prices.
"""

import heapq
from collections.abc import Callable
from itertools import count
from time import process_time
from typing import NamedTuple

import numpy as np
from check_benchmark import NATURE, Instance, Proof, Tree
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import coo_array, csr_array, hstack, vstack

from hogeq.support.aliases import Floats, Ints

Allowed = NDArray[np.bool_]

LEAST = 1e-9  # prices below are none
CLOSE = 1e-8  # of a bound to a value that counts as met


class Relaxed(NamedTuple):
    """A bound on what is left of a problem, and where to branch."""

    bound: float
    prices: Floats | None
    row: int
    action: int
    pure: Ints
    """(R,), a strategy that the relaxation suggests."""


Relax = Callable[[Allowed, Floats | None], Relaxed]
"""Of the actions allowed and prices that gave the bound before."""


class Branch(NamedTuple):
    """A question asked, or a leaf."""

    question: tuple[int, int]
    """Row and action; (-1, -1) for a leaf."""
    yes: int
    no: int
    relaxed: Relaxed


def branch_and_bound(
    relax: Relax,
    everything: Allowed,
    value: Callable[[Ints], float],
    pure: Ints,
    seconds: float,
) -> tuple[Ints, float, Proof]:
    """Best strategy found, the bound proved, and its proof."""
    began, number = process_time(), count()
    best = value(pure)
    first = relax(everything, None)
    branches = [Branch((-1, -1), 0, 0, first)]
    queue = [(-first.bound, next(number), 0, everything)]
    closed = -np.inf  # highest bound of branches that are left as they are
    while queue and process_time() - began < seconds:
        bound, _, place, allowed = queue[0]
        relaxed = branches[place].relaxed
        if (found := value(relaxed.pure)) > best + LEAST:
            pure, best = relaxed.pure, found
        if -bound <= max(best, closed) + CLOSE:
            break
        heapq.heappop(queue)
        if relaxed.row < 0:  # nothing to branch on: the bound stays
            closed = max(closed, -bound)
            continue
        after = []
        for says_yes in (True, False):
            left = allowed.copy()
            left[relaxed.row, relaxed.action] = says_yes
            if says_yes:
                left[relaxed.row] = np.arange(left.shape[1]) == relaxed.action
            one = relax(left, relaxed.prices)
            after.append(len(branches))
            branches.append(Branch((-1, -1), 0, 0, one))
            heapq.heappush(queue, (-one.bound, next(number), after[-1], left))
        question = relaxed.row, relaxed.action
        branches[place] = Branch(question, after[0], after[1], relaxed)
    return pure, best, _proof(branches)


def _proof(branches: list[Branch]) -> Proof:
    """Write questions in the order of a walk, yes before no, and the prices of the leaves."""
    questions, prices, stack = list[tuple[int, int]](), list[Floats | None](), [0]
    while stack:
        branch = branches[stack.pop()]
        questions.append(branch.question)
        if branch.question[0] >= 0:
            stack += [branch.no, branch.yes]
        else:
            prices.append(branch.relaxed.prices)
    flat = [np.zeros(0) if one is None else one.ravel() for one in prices]
    places = [np.flatnonzero(one) for one in flat]
    return Proof(
        np.array(questions, np.int32),
        np.cumsum([0, *map(len, places)]).astype(np.int32),
        np.concatenate(places).astype(np.int32),
        np.concatenate([one[at] for one, at in zip(flat, places, strict=True)]).astype(np.float32),
    )


# --- game trees -----------------------------------------------------------------------------------


class LinearProgram:
    """The relaxation of a tree in which rows may mix, though never by their pasts."""

    def __init__(self, tree: Tree, seconds: float) -> None:
        self.tree, self.seconds = tree, seconds
        pasts, actions = len(tree.row), tree.actions
        sequences = 1 + pasts * actions
        rows = np.concatenate([[0], 1 + np.repeat(np.arange(pasts), actions), 1 + np.arange(pasts)])
        columns = np.concatenate([np.arange(sequences), tree.before])
        ones = np.concatenate([np.ones(sequences), -np.ones(pasts)])
        flow = csr_array((ones, (rows, columns)), (1 + pasts, sequences))
        self.shared = np.flatnonzero(np.bincount(tree.row, minlength=tree.rows) > 1)
        number = np.full(tree.rows, -1)
        number[self.shared] = np.arange(len(self.shared))
        self.coupled = np.flatnonzero(number[tree.row] >= 0)
        choices = len(self.shared) * actions
        at = (self.coupled[:, None] * actions + np.arange(actions)).ravel()
        chosen = (number[tree.row[self.coupled]][:, None] * actions + np.arange(actions)).ravel()
        lines = np.arange(len(at))
        one = np.ones(len(at))
        weights = coo_array((one, (lines, 1 + at)), (len(at), sequences))
        rolled = coo_array((-one, (lines, chosen)), (len(at), choices))
        self.at = at
        self.upper = csr_array(hstack([weights, rolled]))
        sums = csr_array(
            (np.ones(choices), (np.arange(choices) // actions, np.arange(choices))),
            (len(self.shared), choices),
        )
        empty = csr_array((len(self.shared), sequences))
        nothing = csr_array((1 + pasts, choices))
        self.equal = csr_array(vstack([hstack([flow, nothing]), hstack([empty, sums])]))
        start = np.arange(1 + pasts) == 0
        self.right = np.concatenate([start, np.ones(len(self.shared))])
        self.cost = np.concatenate([-tree.payoff, np.zeros(choices)])

    def __call__(self, allowed: Allowed, before: Floats | None) -> Relaxed:
        """Solve it where rows have these actions; prices of the branch before may be better."""
        tree, actions = self.tree, self.tree.actions
        may = allowed & tree.legal
        most = np.concatenate([[True], may[tree.row].ravel(), may[self.shared].ravel()])
        answer = linprog(
            self.cost,
            A_ub=self.upper,
            b_ub=np.zeros(len(self.at)),
            A_eq=self.equal,
            b_eq=self.right,
            bounds=np.stack([np.zeros(len(most)), most.astype(float)], axis=1),
            method="highs",
            options={"time_limit": self.seconds},
        )
        pure = may.argmax(axis=1)
        if answer.x is None or answer.status != 0:
            return Relaxed(tree.bound(may, before), before, -1, -1, pure)
        prices = np.zeros(len(tree.row) * actions)
        duals = -answer.ineqlin.marginals
        prices[self.at] = np.where(duals > LEAST, duals, 0.0).astype(np.float32)
        priced = prices.reshape(-1, actions)
        weight = answer.x[1 : 1 + len(prices)].reshape(-1, actions)
        mass = np.zeros((tree.rows, actions))
        np.add.at(mass, tree.row, weight)
        choices = answer.x[1 + len(prices) :].reshape(-1, actions)
        mass[self.shared] = choices
        pure = np.where(may, mass + 1e-12, -1.0).argmax(axis=1)
        doubt = np.minimum(choices, 1.0 - choices).max(axis=1, initial=0.0)
        place = int(doubt.argmax()) if len(doubt) else -1
        row = int(self.shared[place]) if len(doubt) and doubt[place] > 1e-7 else -1
        action = int(choices[place].argmax()) if row >= 0 else -1
        bound = tree.bound(may, priced)
        if before is not None and (known := tree.bound(may, before)) < bound:
            bound, priced = known, before
        return Relaxed(bound, priced, row, action, pure)


# --- hidden memory --------------------------------------------------------------------------------


class FullMemory:
    """The relaxation in which every state is known."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance

    def __call__(self, allowed: Allowed, before: Floats | None) -> Relaxed:
        """Solve it where rows have these actions."""
        del before  # there are no prices
        instance = self.instance
        values: dict[int, Floats] = {}
        bound = instance.bound(allowed, values)
        lost = self._losses(allowed, values)
        best = np.where(allowed, lost, np.inf)
        pure = best.argmin(axis=1)
        least = np.where(np.isfinite(best.min(axis=1)), best.min(axis=1), 0.0)
        row = int(least.argmax())
        if least[row] <= LEAST:
            return Relaxed(bound, None, -1, -1, pure)
        return Relaxed(bound, None, row, int(pure[row]), pure)

    def _losses(self, allowed: Allowed, values: dict[int, Floats]) -> Floats:
        """Compute what one action in all states of a row loses, (R, K), as play comes there."""
        instance = self.instance
        mass = np.zeros((len(instance["player"]), instance.memories))
        np.add.at(mass, tuple(instance["start"].T), instance["start_chance"])
        lost = np.zeros((instance.rows, instance.actions))
        lanes = instance["following"].shape[1]
        for place in range(len(instance.steps) - 1, -1, -1):
            step, worth = instance.steps[place], values[place]
            own = instance["player"][step.positions] != NATURE
            rows = instance["row"][step.positions]
            here = mass[step.positions]
            may = np.where(own[:, None], allowed[np.minimum(rows, len(allowed) - 1)], True)
            usable = np.where(may[:, None] & ~np.isnan(worth), worth, -np.inf)
            best = usable.max(axis=2)
            with np.errstate(invalid="ignore"):
                short = np.where(np.isfinite(usable), best[:, :, None] - usable, 1.0)
            losses = (here[:, :, None] * short).sum(axis=1)
            np.add.at(lost, rows[own], losses[own])
            chosen = np.eye(instance.actions)[usable.argmax(axis=2)]
            fixed = instance["fixed"][np.minimum(rows, len(instance["fixed"]) - 1)]
            chosen = np.where(own[:, None, None], chosen, fixed[:, None])
            rolled = np.zeros((len(here), len(step.ways) + 1, lanes))
            flat = here[:, :, None] * chosen  # (n, H, K)
            for memory in range(instance.memories):
                lane = instance["lane"][memory]
                for action in range(instance.actions):
                    rolled[:, step.plays[memory, action], lane] += flat[:, memory, action]
            ends = np.einsum("we,nwl->nel", step.ways, rolled[:, :-1])
            goes_on = step.after >= 0
            memories = instance["following"][step.label]
            np.add.at(mass, (step.after[goes_on][:, None], memories[goes_on]), ends[goes_on])
        return lost
