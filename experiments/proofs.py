"""Search for proofs of upper bounds, as check_benchmark.py reads them: trees of questions.

Branch and bound, the branch with the highest bound first. In game trees a linear program gives the
prices: its variables are the weights r of sequences and the choices z of rows, which may be mixed
there, and the duals of r <= z are prices. Elsewhere there are no prices.
"""

import heapq
from collections.abc import Callable
from itertools import count
from time import process_time
from typing import Any, NamedTuple

import highspy
import numpy as np
from check_benchmark import Proof
from check_instances import NATURE, Instance, compiled, played, worths
from check_trees import Tree
from numpy.typing import NDArray
from scipy.sparse import csc_array
from strict_files import RefusedError

from hogeq.support.aliases import Floats, Ints

Allowed = NDArray[np.bool_]

LEAST = 1e-9  # prices below are none
BROKEN = 1e-6  # by how much a cut is broken
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
    relax: Relax, everything: Allowed, value: Callable[[Ints], float], pure: Ints, seconds: float
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
        np.zeros(0),
    )


def searched(
    tree: Tree, value: Callable[[Ints], float], pure: Ints, most: int
) -> tuple[Ints, Proof | None]:
    """Search for the best strategy, and prove it by a leaf, unless that takes too many parts."""
    best, left = value(pure), tree.legal.copy()
    try:
        bound = tree.searched(left, best + CLOSE, most)
        if bound > best + 2.0 * CLOSE:
            for row, action in np.argwhere(tree.legal).tolist():
                one = left.copy()
                one[row] &= np.arange(tree.actions) == action
                if one[row].any() and tree.searched(one, bound - CLOSE, most) > bound - CLOSE / 2.0:
                    left = one
            pure = left.argmax(axis=1)
            best = value(pure)
    except RefusedError:
        return pure, None
    leaf = Branch((-1, -1), 0, 0, Relaxed(best + CLOSE, None, -1, -1, pure))
    return pure, _proof([leaf])._replace(target=np.array([best + CLOSE]))


# --- game trees -----------------------------------------------------------------------------------


class LinearProgram:
    """The relaxation of a tree in which rows may mix, though never by their pasts.

    Its variables are the weights r of sequences and the choices z of rows. Let chance, and who else
    plays, choose what follows each sequence: of the pasts of a row that can then be met at most one
    is. So their weights r(j, a) sum to z(I, a) at most. Such cuts are added where they are broken.
    """

    def __init__(self, tree: Tree, seconds: float) -> None:
        self.tree, self.seconds = tree, seconds
        pasts, actions = len(tree.row), tree.actions
        self.sequences = 1 + pasts * actions
        self.shared = np.flatnonzero(np.bincount(tree.row, minlength=tree.rows) > 1)
        self.cuts: list[tuple[Ints, int]] = []  # of each cut, its pasts and its choice
        rows = np.concatenate([[0], 1 + np.repeat(np.arange(pasts), actions), 1 + np.arange(pasts)])
        columns = np.concatenate([np.arange(self.sequences), tree.before])
        ones = np.concatenate([np.ones(self.sequences), -np.ones(pasts)])
        choices = np.arange(len(self.shared) * actions)
        rows = np.concatenate([rows, 1 + pasts + choices // actions])
        columns = np.concatenate([columns, self.sequences + choices])
        ones = np.concatenate([ones, np.ones(len(choices))])
        size = 1 + pasts + len(self.shared), self.sequences + len(choices)
        equal = csc_array((ones, (rows, columns)), size)
        right = np.concatenate([np.arange(1 + pasts) == 0, np.ones(len(self.shared))]).astype(float)
        self.solver = highspy.Highs()  # type: ignore[no-untyped-call]
        self.solver.silent()
        model = highspy.HighsLp()
        model.num_row_, model.num_col_ = size
        model.sense_ = highspy.ObjSense.kMaximize
        model.col_cost_ = np.concatenate([tree.payoff, np.zeros(len(choices))])
        model.col_lower_, model.col_upper_ = np.zeros(size[1]), np.ones(size[1])
        model.row_lower_ = model.row_upper_ = right
        model.a_matrix_.start_, model.a_matrix_.index_ = equal.indptr, equal.indices
        model.a_matrix_.value_ = equal.data
        self.solver.passModel(model)

    def __call__(self, allowed: Allowed, before: Floats | None) -> Relaxed:
        """Solve it where rows have these actions; prices of the branch before may be better."""
        tree, actions, end = self.tree, self.tree.actions, process_time() + self.seconds
        may = allowed & tree.legal
        most = np.concatenate([[True], may[tree.row].ravel(), may[self.shared].ravel()])
        every = np.arange(len(most), dtype=np.int32)
        self.solver.changeColsBounds(len(most), every, np.zeros(len(most)), most.astype(float))
        pure = may.argmax(axis=1)
        best, priced, solved = tree.bound(may, before), before, None
        while (left := end - process_time()) > 0.0:
            self.solver.setOptionValue("time_limit", self.solver.getRunTime() + left)
            self.solver.run()
            if self.solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
                break
            solution = self.solver.getSolution()
            solved = np.array(solution.col_value)
            prices = self._prices(np.array(solution.row_dual))
            if (bound := tree.bound(may, prices)) < best:
                best, priced = bound, prices
            if not self._cut(solved):
                break
        if solved is None:
            return Relaxed(best, priced, -1, -1, pure)
        mass = np.zeros((tree.rows, actions))
        np.add.at(mass, tree.row, solved[1 : self.sequences].reshape(-1, actions))
        choices = solved[self.sequences :].reshape(-1, actions)
        mass[self.shared] = choices
        pure = np.where(may, mass + 1e-12, -1.0).argmax(axis=1)
        doubt = np.minimum(choices, 1.0 - choices).max(axis=1, initial=0.0)
        place = int(doubt.argmax()) if len(doubt) else -1
        row = int(self.shared[place]) if len(doubt) and doubt[place] > 1e-7 else -1
        action = int(choices[place].argmax()) if row >= 0 else -1
        return Relaxed(best, priced, row, action, pure)

    def _prices(self, duals: Floats) -> Floats:
        """Sum the duals of cuts by past and action."""
        prices = np.zeros((len(self.tree.row), self.tree.actions))
        for (pasts, choice), dual in zip(
            self.cuts, duals[len(duals) - len(self.cuts) :], strict=True
        ):
            if abs(dual) > LEAST:
                prices[pasts, choice % self.tree.actions] += abs(dual)
        return prices.astype(np.float32).astype(np.float64)

    def _cut(self, solved: Floats) -> int:
        """Add the cut that is broken most, of each action of each row; count them."""
        tree, found = self.tree, []
        weights = solved[1 : self.sequences].reshape(-1, tree.actions)
        for place, row in enumerate(self.shared):
            most, chain = _chains(tree.before, tree.row, weights, row)
            for action in np.flatnonzero(tree.legal[row]):
                choice = place * tree.actions + int(action)
                if most[action] > solved[self.sequences + choice] + BROKEN:
                    pasts = np.flatnonzero(chain[:, action])
                    self.cuts.append((pasts, choice))
                    found.append(
                        np.append(1 + pasts * tree.actions + action, self.sequences + choice)
                    )
        if found:
            values = [np.append(np.ones(len(one) - 1), -1.0) for one in found]
            starts = np.cumsum([0, *map(len, found)])[:-1].astype(np.int32)
            index = np.concatenate(found).astype(np.int32)
            lower, upper = np.full(len(found), -np.inf), np.zeros(len(found))
            self.solver.addRows(
                len(found), lower, upper, len(index), starts, index, np.concatenate(values)
            )
        return len(found)


@compiled
def _chains(before: Ints, row: Ints, weights: Floats, mine: int) -> tuple[Floats, Allowed]:
    """Most that choices of what follows let the weights of a row sum to, and their pasts."""
    pasts, actions = weights.shape
    sums, chain = np.zeros((pasts, actions)), np.zeros((pasts, actions), np.bool_)
    after = np.zeros((1 + pasts * actions, actions))
    best = np.zeros(after.shape, np.int64)
    for past in range(pasts - 1, -1, -1):
        first = 1 + past * actions
        sums[past] = after[first : first + actions].sum(axis=0)
        if row[past] == mine:
            sums[past] = weights[past]
        for action in range(actions):
            if sums[past, action] >= after[before[past], action]:
                after[before[past], action] = sums[past, action]
                best[before[past], action] = past
    for past in range(pasts):
        last = before[past]
        for action in range(actions):
            is_best = best[last, action] == past
            chain[past, action] = is_best and (not last or chain[(last - 1) // actions, action])
    for past in range(pasts):
        chain[past] &= row[past] == mine
    return after[0], chain


# --- hidden memory --------------------------------------------------------------------------------


class FullMemory:
    """The relaxation in which every state is known."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance

    def __call__(self, allowed: Allowed, before: Floats | None) -> Relaxed:
        """Solve it where rows have these actions."""
        del before  # there are no prices
        bound = self.instance.bound(allowed)
        lost = _losses(self.instance.form, allowed)
        best = np.where(allowed, lost, np.inf)
        pure = best.argmin(axis=1)
        least = np.where(np.isfinite(best.min(axis=1)), best.min(axis=1), 0.0)
        row = int(least.argmax())
        if least[row] <= LEAST:
            return Relaxed(bound, None, -1, -1, pure)
        return Relaxed(bound, None, row, int(pure[row]), pure)


@compiled
def _losses(form: Any, allowed: Allowed) -> Floats:
    """Compute what one action in all states of a row loses, (R, K), as play comes there."""
    worth, lost = worths(form, allowed), np.zeros(allowed.shape)
    mass = np.zeros(worth.shape)
    for at in range(len(form.start)):
        mass[form.start[at, 0], form.start[at, 1]] += form.start_chance[at]
    for position in range(len(mass)):
        row, is_fixed = form.row[position], form.player[position] == NATURE
        for memory in range(mass.shape[1]):
            plays, here = np.zeros(allowed.shape[1]), mass[position, memory]
            if is_fixed:
                plays[:] = form.fixed[row]
            elif here > 0.0:
                values = np.full(len(plays), -np.inf)
                for action in np.flatnonzero(allowed[row]):
                    values[action] = played(form, worth, position, memory, action)
                plays[values.argmax()] = 1.0
                lost[row] += here * np.where(allowed[row], values.max() - values, 1.0)
            for action in np.flatnonzero(plays * here):
                way = form.way[form.situation[position], memory, action]
                for outcome in range(form.first[way], form.first[way + 1]):
                    end = form.place[position] + form.end[outcome]
                    if form.next[end] >= 0:
                        after = form.following[form.label[end], form.lane[memory]]
                        goes = here * plays[action] * form.chance[outcome]
                        mass[form.next[end], after] += goes
    return lost
