"""The loops of :mod:`hogeq.kernels.sequences` on a GPU, by numba: the same steps and rules of rows.

A thread does a sequence, a refined information set, a row or one of its actions, and adds up what
lies in its segment of a list in the order of the list. So no digit depends on the order of threads,
and no atomic operation is needed. What a core scatters is gathered here:

- *weigh*, down: one launch for each rank of rows, a thread for each refined information set;
- *meet* and *pay*, across: rows of sparse matrices times the weights;
- *rise*, up: some launches for each rank, the last first. *gather* adds to what a sequence is paid
  what the refined information sets after it are worth; *value* sums that over the sequences of an
  action of a row; *act* centres a row's values and sets it by a role; *note* computes what a
  refined information set is then worth.

What is done to a row (centring, ascent, softmax, regrets, matching) is code of the core's. Policies
and tables come and go once a call, however many iterations of a regret minimiser it does.

With ``NUMBA_ENABLE_CUDASIM=1`` numba runs all this as Python, without a device.
"""

from functools import cached_property
from itertools import product
from typing import NamedTuple

import numpy as np
from numba import cuda
from numba.core import config
from scipy.sparse import csr_array

from hogeq.kernels import sequences
from hogeq.kernels.recurrence import ASCEND, COUNTERFACTUAL, FULL_MEMORY, SOFTMAX
from hogeq.kernels.sequences import SEAT, WIN

THREADS = 1 if config.ENABLE_CUDASIM else 128  # of a block
BLOCKS = 2 if config.ENABLE_CUDASIM else 65_536  # at most: then threads take several places each

device = cuda.jit(device=True)
spread = device(sequences.spread.py_func)
centre_row = device(sequences.centre_row.py_func)
ascend_row = device(sequences.ascend_row.py_func)
soften_row = device(sequences.soften_row.py_func)
match_row = device(sequences.match.py_func)
learn_row = device(sequences.learn.py_func)


class Span(NamedTuple):
    """Places from `low` to before `high`, then those from `again` to before `stop`."""

    low: int
    high: int
    again: int = 0
    stop: int = 0


@device
def place_of(number, span):
    """Give the place of a number in a span."""
    place = span.low + number
    return place if place < span.high else span.again + place - span.high


# --- kernels: each thread takes every n-th number, n being the number of threads ------------------


@cuda.jit
def weigh(count, span, at, row, legal, before, first, policy, weights):
    """Weigh the sequences that end in refined information sets."""
    for number in range(cuda.grid(1), count, cuda.gridsize(1)):
        member = place_of(number, span)
        mine, many = row[at[member]], legal[at[member]]
        here, more = weights[before[member]], spread(policy, mine, many)
        for action in range(many):
            weights[first[member] + action] = here * (policy[mine, action] + more)


@cuda.jit
def mix(count, span, kept, share, weights, mixture):
    """Add a share of weights to those of a mixture."""
    for number in range(cuda.grid(1), count, cuda.gridsize(1)):
        mixture[number] = kept * mixture[number] + share * weights[number]


@cuda.jit
def multiply(count, span, start, column, entry, weights, product):
    """Multiply rows of a sparse matrix with weights: meet, and pay."""
    for number in range(cuda.grid(1), count, cuda.gridsize(1)):
        place, total = place_of(number, span), 0.0
        for one in range(start[place], start[place + 1]):
            total += entry[one] * weights[column[one]]
        product[place] = total


@cuda.jit
def sum_sets(count, span, members, row, before, own, factor, share, total):
    """Sum a factor, times own weights, over the refined information sets of rows."""
    for number in range(cuda.grid(1), count, cuda.gridsize(1)):
        at, found = place_of(number, span), 0.0
        for member in range(members[at], members[at + 1]):
            found += share * factor[member] * (own[before[member]] if len(own) else 1.0)
        total[row[at]] = found


@cuda.jit
def gather(count, span, after, child, rise, worth):
    """Add to the worth of sequences that of the refined information sets after them."""
    for number in range(cuda.grid(1), count, cuda.gridsize(1)):
        sequence = place_of(number, span)
        won = worth[sequence]
        for one in range(after[sequence], after[sequence + 1]):
            won += rise[child[one]]
        worth[sequence] = won


@cuda.jit
def value(count, span, members, row, legal, before, first, own, worth, values):
    """Sum what each action of rows is worth over its sequences."""
    actions = values.shape[1]
    for number in range(cuda.grid(1), count, cuda.gridsize(1)):
        at, action, found = place_of(number // actions, span), number % actions, 0.0
        if action < legal[at]:
            for member in range(members[at], members[at + 1]):
                found += (own[before[member]] if len(own) else 1.0) * worth[first[member] + action]
        values[row[at], action] = found


@cuda.jit
def act(count, span, role, row, legal, reach, share, policy, values, changed, temperature, damping):
    """Centre the values of rows, and set the rows by a role."""
    for number in range(cuda.grid(1), count, cuda.gridsize(1)):
        at = place_of(number, span)
        mine, many = row[at], legal[at]
        met, found = reach[mine], values[mine]
        centre_row(found, many, share, met, spread(policy, mine, many))
        if role == ASCEND:
            changed[mine] = 1.0 if ascend_row(policy, mine, many, found, met) else 0.0
        elif role == SOFTMAX:
            soften_row(policy, mine, many, found, met, temperature, damping)


@cuda.jit
def note(count, span, is_best, at, row, legal, first, policy, worth, rise):
    """Note what refined information sets are worth: by the policy, or by the best action."""
    for number in range(cuda.grid(1), count, cuda.gridsize(1)):
        member = place_of(number, span)
        mine, many = row[at[member]], legal[at[member]]
        more, total, best = spread(policy, mine, many), 0.0, -np.inf
        for action in range(many):
            won = worth[first[member] + action]
            total += (policy[mine, action] + more) * won
            best = max(best, won)
        rise[member] = best if is_best else total


@cuda.jit
def learn(count, span, row, factors, visited, plus, policy, values, regrets, predicted, sums):
    """Add an iteration to the regrets and averages of rows."""
    weight, gained, lost = factors
    for number in range(cuda.grid(1), count, cuda.gridsize(1)):
        mine = row[place_of(number, span)]
        added, found = weight * visited[mine], values[mine]
        learn_row(mine, added, gained, lost, plus, policy, found, regrets, predicted, sums)


@cuda.jit
def match(count, span, row, regrets, predicted, epsilon, policy):
    """Set rows in proportion to their positive regrets."""
    for number in range(cuda.grid(1), count, cuda.gridsize(1)):
        mine = row[place_of(number, span)]
        match_row(regrets, predicted, mine, policy.shape[1], epsilon, policy)


# --- the loops ------------------------------------------------------------------------------------


def launch(kernel, span, *given, width=1):
    """Let threads take the places of a span, each `width` times."""
    count = width * (span.high - span.low + span.stop - span.again)
    if count:
        kernel[min(-(-count // THREADS), BLOCKS), THREADS](count, span, *given)


def filled(shape, number=0.0):
    """Fill an array on the device."""
    return cuda.to_device(np.full(shape, number))


class DeviceTree:
    """The arrays of a tree on the device, what follows each sequence, and what is of each rank."""

    def __init__(self, tree, rank):
        sets, size = len(tree.before), int(tree.roots[2])
        at = np.repeat(np.arange(len(tree.row), dtype=np.int32), np.diff(tree.members))
        following = csr_array((np.ones(sets, bool), (tree.before, np.arange(sets))), (size, sets))
        arrays = {**tree._asdict(), "at": at, "after": following.indptr, "child": following.indices}
        for name, array in arrays.items():
            setattr(self, name, cuda.to_device(np.ascontiguousarray(array)))
        self.core, self.size, self.roots = tree, size, tree.roots.tolist()
        begin, end = np.append(tree.first, 0), np.append(0, tree.first + tree.legal[at])
        self.levels = {seats: [] for seats in ((0, 1), (1, 2), (0, 2))}
        for seats, number in product(self.levels, range(int(rank.max(initial=-1)) + 1)):
            spans = np.zeros((3, 2, 2), int)  # rows, sets and sequences; of each seat; their ends
            for seat in range(*seats):
                low, high = tree.seats[seat : seat + 2]
                rows = low + np.searchsorted(rank[tree.row[low:high]], [number, number + 1])
                first, last = tree.members[rows]
                if first < last:
                    spans[:, seat] = rows, (first, last), (begin[first], end[last])
            self.levels[seats].append([Span(*map(int, one.ravel())) for one in spans])


class Loops:
    """The loops over a tree on a device, and the arrays that they fill there."""

    def __init__(self, tree):
        self.tree, sets, shape = (
            tree,
            len(tree.before),
            (len(tree.row), tree.core.legal.max(initial=1)),
        )
        self.own, self.other, self.scratch = (filled(tree.size, 1.0) for _ in range(3))
        self.worth, self.met, self.rise, self.none = map(filled, (tree.size, sets, sets, 0))
        self.values, self.reach, self.changed = map(filled, (shape, shape[0], shape[0]))

    def forward(self, policies, shares, reach):
        """Weigh all sequences; fill the reach of rows, (R,) or (0,)."""
        own, *others = map(cuda.to_device, policies)
        shares, kept = shares if others else [1.0], 0.0
        self._weigh(own, self.own)
        for share, policy in zip(shares, others or [own], strict=True):
            self._weigh(policy, self.scratch)
            launch(mix, Span(0, self.tree.size), kept, share, self.scratch, self.other)
            kept = 1.0
        if len(reach):
            for rows, sets, _ in self.tree.levels[0, 2]:
                self._meet(self.other, sets)
                self._sum(rows, self.own, self.met, SEAT if others else 1.0, self.reach)
            self.reach.copy_to_host(reach)

    def backward(self, role, policies, reach, values, temperature, damping):
        """Value all sequences; number of rows that changed, and payoffs to player 0 by seat."""
        tree, role, policy = self.tree, int(role), cuda.to_device(policies[0])
        if len(policies) == 1:
            self._weigh(policy, self.other)
        self._pay(self.other, 0, 2)
        acts = role in (COUNTERFACTUAL, ASCEND, SOFTMAX)
        if acts:
            self.reach.copy_to_device(reach)
        share = WIN if len(policies) == 1 else WIN * SEAT
        for rows, sets, ends in reversed(tree.levels[0, 2]):
            self._gather(ends)
            if acts:
                self._act(rows, self.own, role, self.reach, share, policy, temperature, damping)
            self._note(sets, policy, role == FULL_MEMORY)
        if acts:
            self.values.copy_to_host(values)
            policies[0] = policy.copy_to_host()
        roots = tree.roots[:2]
        self._gather(Span(roots[0], roots[0] + 1, roots[1], roots[1] + 1))
        changes = int(self.changed.copy_to_host().sum()) if role == ASCEND else 0
        return changes, [float(self.worth[root]) for root in roots]

    @cached_property
    def visits(self):
        """Those of the loops on a core."""
        return cuda.to_device(sequences.Loops(self.tree.core).visits)

    def run(self, regrets, prediction, strategy_sum, factors, *, alternating, plus, epsilon):
        """Do an iteration of a regret minimiser for each row of `factors`, in place."""
        tree, weights, met, visited = self.tree, self.other, self.reach, filled(len(regrets))
        hosts = regrets, strategy_sum[:0] if prediction is None else prediction, strategy_sum
        tables, policy = [cuda.to_device(table) for table in hosts], filled(regrets.shape)
        everyone = Span(0, len(tree.row))
        launch(match, everyone, tree.row, *tables[:2], epsilon, policy)
        self._weigh(policy, weights)
        for factor in map(tuple, factors.tolist()):
            for seats in ((0, 1), (1, 2)) if alternating else ((0, 2),):
                self._pay(weights, *seats)
                for rows, sets, ends in reversed(tree.levels[seats]):
                    self._gather(ends)
                    self._meet(weights, sets)
                    self._sum(rows, self.none, self.met, SEAT, met)
                    self._sum(rows, weights, self.visits, SEAT, visited)
                    self._act(rows, self.none, COUNTERFACTUAL, met, WIN * SEAT, policy, 1.0, 1.0)
                    self._note(sets, policy, False)
                    given = tree.row, factor, visited, plus, policy, self.values, *tables
                    launch(learn, rows, *given)
                    launch(match, rows, tree.row, *tables[:2], epsilon, policy)
                self._weigh(policy, weights, seats)
        for table, host in zip(tables, hosts, strict=True):
            table.copy_to_host(host)

    # --- steps, of the places of some spans -------------------------------------------------------

    def _weigh(self, policy, weights, seats=(0, 2)):
        tree = self.tree
        for _, sets, _ in tree.levels[seats]:
            given = tree.at, tree.row, tree.legal, tree.before, tree.first
            launch(weigh, sets, *given, policy, weights)

    def _meet(self, weights, sets):
        tree = self.tree
        launch(multiply, sets, tree.node, tree.node_other, tree.chance, weights, self.met)

    def _pay(self, weights, low, high):
        tree = self.tree
        ends = tree.end, tree.end_other, tree.payoff
        launch(multiply, Span(tree.roots[low], tree.roots[high]), *ends, weights, self.worth)

    def _sum(self, rows, own, factor, share, total):
        tree = self.tree
        launch(sum_sets, rows, tree.members, tree.row, tree.before, own, factor, share, total)

    def _gather(self, ends):
        launch(gather, ends, self.tree.after, self.tree.child, self.rise, self.worth)

    def _act(self, rows, own, role, reach, share, policy, temperature, damping):
        tree, values = self.tree, self.values
        lists = tree.members, tree.row, tree.legal, tree.before, tree.first
        launch(value, rows, *lists, own, self.worth, values, width=values.shape[1])
        given = tree.row, tree.legal, reach, share, policy, values, self.changed
        launch(act, rows, role, *given, temperature, damping)

    def _note(self, sets, policy, is_best):
        tree = self.tree
        given = is_best, tree.at, tree.row, tree.legal, tree.first, policy, self.worth, self.rise
        launch(note, sets, *given)
