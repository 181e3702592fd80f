"""Best responses of a player who forgets, by enumeration of the choices of rows."""

import numpy as np

from hogeq.kernels.row_search import Plays, Progress, search_rows
from hogeq.support.aliases import Floats, Ints
from hogeq.trees.sequences import LEAST_GAIN, SequenceForm

PARTS = 2**22  # of a search: about a second


def enumerated(
    form: SequenceForm, payoffs: Floats, response: Floats, value: float
) -> tuple[Floats, float, float]:
    """Improve a response, (R, K), as long as enumeration can; give its payoff, and a bound on all.

    Rows are set depth first, in the order in which plays meet them. Those that are set say which
    refined information sets are met next, of those between which no row is open. A row acts alike
    in all of these; so the most that one action is worth there, to a player who remembers
    everything from then on, bounds what the row can still add. What follows an open row counts in
    the worth of its actions. The sum over rows bounds all responses that begin so, and none of them
    is looked at if it is no more than the best response known; when all rows are set, it is exact.

    The bound is infinite if that takes too long.
    """
    plays, rows = _plays(form, payoffs)
    legal = form.tree.legal[rows]
    while True:
        count, actions = legal.shape
        progress = Progress(
            np.zeros(len(plays.row), np.int64),
            np.zeros((count + 1, count), np.int64),
            np.zeros((count + 1, count, actions)),
            np.zeros(count + 1),
        )
        chosen, bound = np.full(count, -1), np.full(1, -np.inf)
        end = search_rows(plays, progress, chosen, bound, value + LEAST_GAIN, PARTS)
        if end < count:
            return response, value, max(value, float(bound[0])) if end < 0 else np.inf
        found = response.copy()
        is_met = legal[np.arange(count), chosen]
        found[rows] = np.eye(actions)[np.where(is_met, chosen, legal.argmax(axis=1))]
        worth = float(form.realisation(found) @ payoffs)
        if worth <= value:  # it is above the target by rounding alone
            return response, value, np.inf
        response, value = found, worth


def _plays(form: SequenceForm, payoffs: Floats) -> tuple[Plays, Ints]:
    """Lay out a player's plays, and give the rows in the order in which they are set."""
    tree, rank = form.tree, form.rank
    assert rank is not None  # noqa: S101 - callers ask
    rows = np.unique(form.row)
    rows = rows[np.argsort(rank[rows], kind="stable")]
    place = np.zeros(tree.num_rows, np.int64)
    place[rows] = np.arange(len(rows))
    row, follows = place[form.row], np.argsort(form.before, kind="stable")
    worth = form.remembered(payoffs)[1:].reshape(-1, tree.num_actions)
    plays = Plays(
        row=row,
        begins=np.searchsorted(np.sort(row), np.arange(len(rows))),
        follows=follows,
        ends=np.searchsorted(form.before[follows], np.arange(len(payoffs) + 1)),
        payoff=payoffs,
        worth=np.where(tree.legal[form.row], worth, -np.inf),
    )
    return plays, rows
