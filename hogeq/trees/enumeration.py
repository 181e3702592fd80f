"""Best responses where few rows are shared: all of these are set, depth first."""

from typing import Final

import numpy as np

from hogeq.kernels.row_search import Progress, search_rows
from hogeq.support.aliases import Floats, Ints
from hogeq.support.deadline import FOREVER, Deadline
from hogeq.trees.enclosures import gamma
from hogeq.trees.sequences import LEAST_GAIN, SequenceForm

PARTS: Final = 2**22  # of an enumeration: about a second
SLICE: Final = 2**23  # numbers of parts that are set before the time is looked at


def enumerated(
    form: SequenceForm,
    payoffs: Floats,
    response: Ints,
    value: float,
    deadline: Deadline = FOREVER,
) -> tuple[Ints, float, float]:
    """Improve a response as long as enumeration can; give its payoff, and a bound on all.

    A response is an action of each row, (R,).

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
    plays = form.plays
    count, actions = len(plays.rows), form.tree.num_actions
    worth = form.remember(payoffs)[0]
    size = float(form.remember(np.abs(payoffs))[0][0])  # of the payoffs of any plan
    margin = 2.0 * gamma(4 * len(form.row) + 2 * count + 8) * size
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
        found[plays.rows] = chosen
        gained = float(form.pure(found) @ payoffs)
        if gained <= value:  # it is above the target by rounding alone
            return response, value, np.inf
        response, value = found, gained
