"""Best responses where few rows are shared: branch and bound over their actions, depth first."""

from typing import Final

import numpy as np

from hogeq.kernels.row_search import Progress, search_rows
from hogeq.support.aliases import Floats, Ints
from hogeq.support.deadline import FOREVER, Deadline
from hogeq.trees.enclosures import gamma
from hogeq.trees.sequences import LEAST_GAIN, SequenceForm

MOST_SEARCH_NODES: Final = 2**22  # most nodes of a search tree: about a second
ENTRIES_PER_LOOK: Final = 2**23  # numbers to be set, R * K for a node, before the time is looked at


def enumerate_responses(
    form: SequenceForm, payoffs: Floats, response: Ints, value: float, deadline: Deadline = FOREVER
) -> tuple[Ints, float, float]:
    """Improve a pure response, (R,), by enumeration; return it, its payoff and a bound on all.

    `payoffs`, (S,), are those of sequences, and `value` is the payoff of `response`. Searches for a
    response above the value, from the start again after each. The bound is infinite if that takes
    too long. It holds in spite of rounding: its terms are payoffs of one plan of a player with
    perfect recall, added up in fewer than four steps for each of the plan's refined information
    sets and two for each row.
    """
    rows = form.treeplex.policy_row
    sizes, _ = form.perfect_recall_values(np.abs(payoffs))
    # The error of a sum by the number of its roundings, relative to its size; twice that, since
    # what is compared was computed, too.
    margin = 2.0 * gamma(4 * form.num_refined + 2 * len(rows) + 8) * float(sizes[0])
    while True:
        chosen, bound = _find_better_response(form, payoffs, value + LEAST_GAIN, deadline)
        if chosen is None:
            return response, value, max(value, bound + margin)
        better = response.copy()
        better[rows] = chosen
        better_value = float(form.pure_realisation(better) @ payoffs)
        if better_value <= value:  # it was above the target by rounding alone
            return response, value, np.inf
        response = better
        value = better_value


def _find_better_response(
    form: SequenceForm, payoffs: Floats, target: float, deadline: Deadline
) -> tuple[Ints | None, float]:
    """Find a pure response with a payoff above the target, by depth-first branch and bound.

    1. Set the action of the next row, in the order in which plays meet rows.
    2. Find the refined information sets that the actions so far lead to. A row acts alike in all of
       its own. So its best action there, with perfect recall from then on, bounds what it can add;
       what follows a row that is not set counts in that.
    3. The sum over rows bounds all responses that begin so; once all rows are set, it is exact.
       Leave these responses out if it is no more than the target.

    `payoffs`, (S,), are those of sequences. Returns the actions of the rows in the order of
    ``form.treeplex.policy_row``; or None, and an upper bound on all payoffs, infinite if the search
    took too long.
    """
    treeplex = form.treeplex
    num_rows = len(treeplex.policy_row)
    num_actions = form.tree.num_actions
    remembered, _ = form.perfect_recall_values(payoffs)  # (S,), most after each sequence
    progress = Progress(
        reached=np.zeros(form.num_refined, np.int64),
        num_reached=np.zeros((num_rows + 1, num_rows), np.int64),
        action_values=np.zeros((num_rows + 1, num_rows, num_actions)),
        settled_payoff=np.zeros(num_rows + 1),
    )
    chosen = np.full(num_rows, -1)  # changed by the search: a better response
    bound = np.full(1, -np.inf)  # changed by the search: bound on the responses left out
    rows_set = -1  # to begin a search; -1 again when all responses are bounded
    nodes_left = MOST_SEARCH_NODES
    nodes_in_slice = max(1, ENTRIES_PER_LOOK // (num_rows * num_actions))
    while nodes_left > 0:
        num_nodes = min(nodes_in_slice, nodes_left)
        rows_set = search_rows(
            treeplex, progress, payoffs, remembered, chosen, bound, target, rows_set, num_nodes
        )
        if rows_set == num_rows:
            return chosen, np.inf
        if rows_set < 0:
            return None, float(bound[0])
        if deadline.is_over:
            break
        nodes_left -= num_nodes
    return None, np.inf
