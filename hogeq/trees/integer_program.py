"""Best responses of a player who forgets, by an integer program over the sequence form."""

from typing import Final

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array, csr_array, hstack

from hogeq.support.aliases import Floats, Ints
from hogeq.support.deadline import Deadline
from hogeq.support.workers import interruptible
from hogeq.trees.beliefs import remembering
from hogeq.trees.sequences import SequenceForm, first_of_most, ranges

FINE: Final = 2.0**16
"""What shares of payoffs are multiplied by for HiGHS, whose tolerances are absolute: it ends a
search at a gap of 1e-6, and takes coefficients below 1e-9 for 0."""
CHAINING: Final = 0.5  # share of a program's time in which chains of pasts are found
PRESOLVED: Final = (
    16  # entries in the time that HiGHS takes to begin, for each sequence of a program
)
SOLVED: Final = 0  # a status of HiGHS
ENDED: Final = (SOLVED, 1)  # 1: at a limit of time


def by_program(
    form: SequenceForm, payoffs: Floats, limit: float | Deadline
) -> tuple[Ints | None, float]:
    """Give the best strategy met within a time limit, actions (R,) or None, and the proved bound.

    The payoff is linear in the realisation weights of sequences, with coefficients `payoffs`, (S,).
    One binary for each action of a shared row makes the player act alike in all its refined
    information sets; without binaries the player has full memory.
    """
    shared, sequences = form.shared, len(payoffs)
    counts = form.tree.num_legal[shared]
    first, binaries = np.cumsum(counts) - counts, int(counts.sum())
    limit = Deadline.of(limit)
    chains = form.chains_within(limit.share(CHAINING))
    if limit.is_over or chains is None or not limit.allows(PRESOLVED * sequences):
        return None, np.inf
    flow = remembering(form).equations()
    once = (np.arange(flow.shape[0]) == 0).astype(float)
    constraints = [LinearConstraint(hstack([flow, csr_array((len(once), binaries))]), once, once)]
    if len(shared):
        # Every shared row has one action.
        places = np.repeat(np.arange(len(shared)), counts), sequences + np.arange(binaries)
        one = csr_array((np.ones(binaries), places), (len(shared), sequences + binaries))
        # Pasts of a chain give an action no more weight in all than its row: a line for each.
        row_number = np.searchsorted(shared, [form.row[chain[0]] for chain in chains])
        chain_of_past = np.repeat(np.arange(len(chains)), [len(chain) for chain in chains])
        sizes = counts[row_number]
        lines = ranges((np.cumsum(sizes) - sizes)[chain_of_past], sizes[chain_of_past])
        weights = ranges(form.start[np.concatenate(chains)], sizes[chain_of_past])
        choices = ranges(first[row_number], sizes)
        size = len(choices)
        coupled = hstack(
            [
                coo_array((np.ones(len(lines)), (lines, weights)), (size, sequences)),
                coo_array((-np.ones(size), (np.arange(size), choices)), (size, binaries)),
            ]
        )
        constraints += [LinearConstraint(one, 1.0, 1.0), LinearConstraint(coupled, -np.inf, 0.0)]
    answer = interruptible(
        milp,
        np.concatenate([-FINE * payoffs, np.zeros(binaries)]),
        integrality=(np.arange(sequences + binaries) >= sequences).astype(int),
        bounds=Bounds(0.0, 1.0),
        constraints=constraints,
        options={"time_limit": max(limit.left, 0.01), "mip_rel_gap": 0.0},
    )
    # A program may end without any of these, or fail.
    bound, chosen = np.inf, answer.x
    if answer.status in ENDED and answer.mip_dual_bound is not None:
        bound = -float(answer.mip_dual_bound) / FINE
    bound = bound if np.isfinite(bound) else np.inf
    if chosen is None or not np.isfinite(chosen).all():
        return None, bound
    acts = form.acts(chosen[:sequences])
    acts[shared] = first_of_most(chosen[sequences:], first) - first
    return acts, bound
