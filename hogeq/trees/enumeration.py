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

    This is depth-first branch and bound: rows are set in the order in which plays meet them. Those
    that are set say which refined information sets are met next, of those between which no row is
    open. A row acts alike in all of these; so the most that one action gets there, if the player
    remembers everything from then on, bounds what the row can still add; what follows an open row
    counts in that. The sum over rows bounds all responses that begin so, and none of them is looked
    at if it is no more than the best response known; when all rows are set, it is exact.

    The bound is infinite if that takes too long. It holds whatever is rounded: what is added up are
    the payoffs of one plan of a player with perfect recall, in fewer than four steps for each of
    its refined information sets and two for each row.
    """
    plays = form.plays
    count, actions = len(plays.rows), form.tree.num_actions
    remembered = form.remember(payoffs)[0]  # (S,), most that follows each sequence
    size = float(form.remember(np.abs(payoffs))[0][0])  # of the payoffs of any plan
    margin = 2.0 * gamma(4 * len(form.row) + 2 * count + 8) * size
    while True:
        progress = Progress(
            np.zeros(len(plays.row), np.int64),
            np.zeros((count + 1, count), np.int64),
            np.zeros((count + 1, count, actions)),
            np.zeros(count + 1),
        )
        chosen, bound = np.full(count, -1), np.full(1, -np.inf)  # both are filled by the search
        target = value + LEAST_GAIN
        # How many rows are set: -1 at first, and when all responses are bounded.
        rows_set, parts_left = -1, PARTS
        slice_parts = max(1, SLICE // (count * actions))
        while parts_left > 0:
            parts = min(slice_parts, parts_left)
            rows_set = search_rows(
                plays, progress, payoffs, remembered, chosen, bound, target, rows_set, parts
            )
            if rows_set < 0 or rows_set == count or deadline.is_over:
                break
            parts_left -= parts
        if rows_set < count:
            highest = float(bound[0]) + margin if rows_set < 0 else np.inf
            return response, value, max(value, highest)
        better = response.copy()
        better[plays.rows] = chosen
        better_value = float(form.pure(better) @ payoffs)
        if better_value <= value:  # it is above the target by rounding alone
            return response, value, np.inf
        response, value = better, better_value
