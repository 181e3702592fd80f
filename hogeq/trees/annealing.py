"""Best responses of a player who forgets: simulated annealing over pure strategies.

S. Kirkpatrick, C. D. Gelatt and M. P. Vecchi, "Optimization by simulated annealing", Science 220,
1983. A step changes the actions of one row or two. Its payoff is a walk over the refined
information sets that the strategy leads to, which are few where the player has many actions: so a
step costs far less than a pass over the tree.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np

from hogeq.search.results import Budget
from hogeq.strategies.arrays import one_hot
from hogeq.support.aliases import Floats, Ints
from hogeq.support.deadline import FOREVER, Deadline
from hogeq.trees.flat import FlatTree
from hogeq.trees.sequences import SequenceForm, sequence_form

HOT: Final = 0.1  # first temperature, as a share of what perfect recall gets beyond the start
COLD: Final = 0.003  # and the last one
SLICE: Final = 2**14  # steps between looks at the time
WALKED: Final = 16.0  # refined information sets are met so many times as fast as entries are made
WORK: Final = 2**20  # refined information sets that are met for a start and a kick of a search


def annealed_rows(
    tree: FlatTree, policy: Floats, begin: Floats, budget: Budget, deadline: Deadline
) -> Floats:
    """Anneal a pure response, (R, K), to a policy in both seats, as long as kicks of a search say.

    It is no worse than `begin`. Absent-minded players keep that.
    """
    found = begin.copy()
    for player in (0, 1):
        form = sequence_form(tree, player)
        if form.is_absent_minded or form.rank is None or deadline.is_over:
            continue
        inner, payoffs = form.inflate(deadline), form.payoffs(policy)
        start = np.where(tree.legal, begin, -1.0).argmax(axis=1)[form.origin]
        steps = budget.starts * budget.kicks * WORK // walk_length(inner, start)
        random = np.random.default_rng([budget.seed, player])
        acts = annealed(inner, payoffs, start, steps, random, deadline)
        mine = tree.seat == player
        found[mine] = one_hot(form.acts(inner.pure(acts)), tree.num_actions)[mine]
    return found


def walk_length(form: SequenceForm, acts: Ints) -> int:
    """Count the refined information sets that a pure strategy, (R,), leads to; at least 1."""
    taken = form.pure(acts)[form.before] > 0.0
    return max(1, int(np.count_nonzero(taken)))


def annealed(
    form: SequenceForm,
    payoffs: Floats,
    start: Ints,
    steps: int,
    random: np.random.Generator,
    deadline: Deadline = FOREVER,
) -> Ints:
    """Anneal a pure strategy, (R,), and ascend from the best that was met; rows need an order.

    The payoff is no less than that of `start`. No slice is begun that should not end in time.
    """
    found, course = start, courses(form, payoffs, start, steps, random)
    entries = min(SLICE, steps) * walk_length(form, start) / WALKED
    while deadline.allows(entries) and (best := next(course, None)) is not None:
        found = best
    return form.ascend(found, payoffs, deadline)


def courses(
    form: SequenceForm,
    payoffs: Floats,
    start: Ints,
    steps: int,
    random: np.random.Generator,
    every: int = SLICE,
) -> Iterator[Ints]:
    """Give the best strategy so far, (R,), after `every` so many steps of an annealing."""
    rows = form.plays.rows
    chosen = start[rows]
    best, kept = chosen.copy(), start.copy()
    distance = form.most(payoffs) - float(form.pure(start) @ payoffs)
    if distance <= 0.0 or not len(chosen):
        return
    slices = [min(every, steps - done) for done in range(0, steps, every)]
    ends = np.cumsum([0, *slices]) / max(1, steps)
    temperatures = distance * HOT ** (1.0 - ends) * COLD**ends
    for number, size in enumerate(slices):
        drawn = random.random((size, 5))
        between = temperatures[number : number + 2]
        form.anneal(payoffs, drawn, between, chosen, best)
        kept[rows] = best
        yield kept
