"""Best responses where few rows are shared: all of these are set, depth first."""

from typing import Final

import numpy as np

from hogeq.kernels.row_search import Progress, search_rows
from hogeq.strategies.arrays import one_hot
from hogeq.support.aliases import Floats
from hogeq.support.deadline import FOREVER, Deadline
from hogeq.trees.enclosures import gamma
from hogeq.trees.sequences import LEAST_GAIN, SequenceForm

PARTS: Final = 2**22  # of an enumeration: about a second
SLICE: Final = 2**23  # numbers of parts that are set before the time is looked at


def enumerated(
    form: SequenceForm,
    payoffs: Floats,
    response: Floats,
    value: float,
    deadline: Deadline = FOREVER,
) -> tuple[Floats, float, float]:
    """Improve a response, (R, K), as long as enumeration can; give its payoff, and a bound on all.

    Rows are set depth first, in the order in which plays meet them. Those that are set say which
    refined information sets are met next, of those between which no row is open. A row acts alike
    in all of these; so the most that one action is worth there, to a player who remembers
    everything from then on, bounds what the row can still add. What follows an open row counts in
    the worth of its actions. The sum over rows bounds all responses that begin so, and none of them
    is looked at if it is no more than the best response known; when all rows are set, it is exact.

    The bound is infinite if that takes too long. It holds whatever is rounded: what is added up are
    the payoffs of one plan of a player with perfect recall, in fewer than four steps for each of
    its refined information sets and two for each row.
    """
    plays, legal = form.plays, form.tree.legal
    count, actions = plays.legal.shape
    worth = form.remember(payoffs)[0][1:].reshape(-1, actions)
    size = float(form.remember(np.abs(payoffs))[0][0])  # of the payoffs of any plan
    margin = 2.0 * gamma(4 * len(form.row) + 2 * count + 8) * size
    worth = np.where(legal[form.row], worth, -np.inf)
    while True:
        progress = Progress(
            np.zeros(len(plays.row), np.int64),
            np.zeros((count + 1, count), np.int64),
            np.zeros((count + 1, count, actions)),
            np.zeros(count + 1),
        )
        chosen, bound = np.full(count, -1), np.full(1, -np.inf)
        target = value + LEAST_GAIN
        end, left, most = -1, PARTS, max(1, SLICE // (count * actions))
        while left > 0:
            part = min(most, left)
            end = search_rows(plays, progress, payoffs, worth, chosen, bound, target, end, part)
            left = 0 if end < 0 or end == count or deadline.is_over else left - part
        if end < count:
            return response, value, max(value, float(bound[0]) + margin) if end < 0 else np.inf
        found = response.copy()
        is_met = plays.legal[np.arange(count), chosen]
        acts = np.where(is_met, chosen, plays.legal.argmax(axis=1))
        found[plays.rows] = one_hot(acts, actions)
        gained = float(form.realisation(found) @ payoffs)
        if gained <= value:  # it is above the target by rounding alone
            return response, value, np.inf
        response, value = found, gained
