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

HOT: Final = 0.1  # first temperature, a share of the gap from the start to perfect recall
COLD: Final = 0.003  # last temperature, such a share
SLICE: Final = 2**14  # steps between looks at the time
WALKED: Final = 16.0  # refined information sets walked in the time of a sparse array's entry
WORK: Final = 2**20  # refined information sets to walk for a start and a perturbation of a budget


def anneal_rows(
    tree: FlatTree, policy: Floats, begin: Floats, budget: Budget, deadline: Deadline
) -> Floats:
    """Improve a pure response to a policy by annealing, in both seats; all are (R, K).

    `begin` is the response to start from, and the result is no worse. Rows are information sets;
    inflation splits those that no pure strategy reaches in two ways. The rows of a player who is
    absent-minded, or whose rows have no order, stay as they begin. The steps take as much work as
    the starts and perturbations (`kicks`) of the budget.
    """
    response = begin.copy()
    for player in (0, 1):
        form = sequence_form(tree, player)
        if form.is_absent_minded or not form.has_row_order or deadline.is_over:
            continue
        inflated = form.inflate(deadline)
        payoffs = form.payoffs_against(policy)
        start = np.where(tree.legal, begin, -1.0).argmax(axis=1)[form.original_row]
        steps = budget.starts * budget.kicks * WORK // walk_length(inflated, start)
        random = np.random.default_rng([budget.seed, player])
        actions = anneal_strategy(inflated, payoffs, start, steps, random, deadline)
        is_own = tree.seat == player
        likeliest = form.likeliest_actions(inflated.pure_realisation(actions))
        response[is_own] = one_hot(likeliest, tree.num_actions)[is_own]
    return response


def walk_length(form: SequenceForm, actions: Ints) -> int:
    """Count the refined information sets that a pure strategy, (R,), leads to; at least 1."""
    is_reached = form.pure_realisation(actions)[form.parent_sequence] > 0.0
    return max(1, int(np.count_nonzero(is_reached)))


def anneal_strategy(
    form: SequenceForm,
    payoffs: Floats,
    start: Ints,
    steps: int,
    random: np.random.Generator,
    deadline: Deadline = FOREVER,
) -> Ints:
    """Anneal a pure strategy, (R,), and ascend from the best one of the walk; rows need an order.

    `payoffs`, (S,), are those of sequences. The result gets no less than `start`. No slice of steps
    is begun that should not end in time.
    """
    best = start
    best_after_slices = anneal_in_slices(form, payoffs, start, steps, random)
    entries = min(SLICE, steps) * walk_length(form, start) / WALKED
    while deadline.allows(entries) and (next_best := next(best_after_slices, None)) is not None:
        best = next_best
    return form.ascend(best, payoffs, deadline)


def anneal_in_slices(
    form: SequenceForm,
    payoffs: Floats,
    start: Ints,
    steps: int,
    random: np.random.Generator,
    every: int = SLICE,
) -> Iterator[Ints]:
    """Anneal a pure strategy, (R,); yield the best one so far after every slice of `every` steps.

    Simulated annealing: a random walk that takes losses the more rarely the lower the temperature.
    `payoffs`, (S,), are those of sequences. The temperature falls geometrically from `HOT` to
    `COLD`. The array that is yielded is changed in place by the next slice.
    """
    rows = form.treeplex.policy_row  # the player's rows in the order of plays
    chosen = start[rows]  # where the walk is: the action of each of these rows
    best = chosen.copy()
    best_strategy = start.copy()
    # An upper bound on what can be gained: by perfect recall.
    gap = form.upper_bound(payoffs) - float(form.pure_realisation(start) @ payoffs)
    if gap <= 0.0 or not len(chosen):
        return
    slices = [min(every, steps - done) for done in range(0, steps, every)]
    ends = np.cumsum([0, *slices]) / max(1, steps)  # of slices, as shares of the walk
    temperatures = gap * HOT ** (1.0 - ends) * COLD**ends
    for number, size in enumerate(slices):
        drawn = random.random((size, 5))  # five random numbers a step
        between = temperatures[number : number + 2]  # first and last temperature of the slice
        form.anneal(payoffs, drawn, between, chosen, best)  # changes the last two
        best_strategy[rows] = best
        yield best_strategy
