"""Best responses of a player who forgets, by an integer program over the sequence form."""

from typing import Final

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, OptimizeResult, milp
from scipy.sparse import coo_array, csr_array, hstack

from hogeq.graph.levels import spans
from hogeq.support.aliases import Floats, Ints
from hogeq.support.deadline import Deadline
from hogeq.support.workers import interruptible
from hogeq.trees.beliefs import recall_dag
from hogeq.trees.packed import first_entries, first_maximum, offsets
from hogeq.trees.sequences import SequenceForm

PROGRAM_SCALE: Final = 2.0**16
"""Factor of payoffs for HiGHS, whose tolerances are absolute: it ends a search at a gap of 1e-6,
and takes coefficients below 1e-9 for 0."""
CHAINING_SHARE: Final = 0.5  # share of a program's time for finding chains of pasts
PRESOLVED: Final = 16  # presolving takes the time of so many sparse entries for each sequence
SOLVED: Final = 0  # a status of HiGHS
ENDED: Final = (SOLVED, 1)  # 1: at the limit of time


def solve_by_program(
    form: SequenceForm, payoffs: Floats, limit: float | Deadline
) -> tuple[Ints | None, float]:
    """Find a best response by HiGHS: its actions, (R,), and an upper bound on all payoffs.

    Maximise the payoff, which is linear in the realisation weights, with coefficients `payoffs`,
    (S,), over weights and one binary for each action of a shared row:

    1. The weights are those of a player with perfect recall (flows of the sequence form).
    2. Each shared row takes one action.
    3. A chain is a list of refined information sets of one row of which a play meets one at most.
       Over a chain, the weights of an action sum to no more than its binary: the row acts alike.

    Without time there are no actions, None, and the bound may be infinite.
    """
    limit = Deadline.of(limit)
    chains = form.chains_within(limit.share(CHAINING_SHARE))
    if limit.is_over or chains is None or not limit.allows(PRESOLVED * form.num_sequences):
        return None, np.inf
    answer = _run_solver(form, payoffs, chains, limit)
    # At the limit of time HiGHS may have no solution, or no bound.
    bound = np.inf
    if answer.status in ENDED and answer.mip_dual_bound is not None:
        bound = -float(answer.mip_dual_bound) / PROGRAM_SCALE
    bound = bound if np.isfinite(bound) else np.inf
    solution = answer.x
    if solution is None or not np.isfinite(solution).all():
        return None, bound
    weights = solution[: form.num_sequences]
    binaries = solution[form.num_sequences :]
    actions = form.likeliest_actions(weights)
    first = first_entries(form.tree.num_legal[form.shared_rows])  # first binary of each shared row
    actions[form.shared_rows] = first_maximum(binaries, first) - first
    return actions, bound


def _run_solver(
    form: SequenceForm, payoffs: Floats, chains: list[Ints], limit: Deadline
) -> OptimizeResult:
    """Run HiGHS on the program: its variables are weights of sequences, (S,), then binaries."""
    num_sequences = form.num_sequences
    num_binaries = int(form.tree.num_legal[form.shared_rows].sum())
    flow_dag = recall_dag(form)
    inflow = flow_dag.inflow
    flow_of_weights = hstack([flow_dag.equations(), csr_array((len(inflow), num_binaries))])
    constraints = [LinearConstraint(flow_of_weights, inflow, inflow)]
    if num_binaries:
        constraints += _constraints_of_rows(form, chains)
    return interruptible(
        milp,
        np.append(-PROGRAM_SCALE * payoffs, np.zeros(num_binaries)),
        integrality=np.repeat([0, 1], [num_sequences, num_binaries]),
        bounds=Bounds(0.0, 1.0),
        constraints=constraints,
        options={"time_limit": max(limit.left, 0.01), "mip_rel_gap": 0.0},
    )


def _constraints_of_rows(form: SequenceForm, chains: list[Ints]) -> list[LinearConstraint]:
    """Constrain shared rows, of several refined information sets (pasts), to take one action each.

    Variables are the weights of all sequences, then a binary for each action of each shared row.

    1. The binaries of a row sum to 1.
    2. Over a chain, pasts of a row of which a play meets one at most, the weights of an action sum
       to no more than its binary: an inequality for each action of each chain.
    """
    shared = form.shared_rows
    num_sequences = form.num_sequences
    counts = form.tree.num_legal[shared]  # of actions
    first = first_entries(counts)  # first binary of each shared row
    num_binaries = int(counts.sum())
    row_of_binary = np.repeat(np.arange(len(shared)), counts)
    entries = row_of_binary, num_sequences + np.arange(num_binaries)
    shape = len(shared), num_sequences + num_binaries
    of_rows = csr_array((np.ones(num_binaries), entries), shape)
    chain_row = np.searchsorted(shared, [form.row_of_refined[chain[0]] for chain in chains])
    chain_of_past = np.repeat(np.arange(len(chains)), [len(chain) for chain in chains])
    sizes = counts[chain_row]  # inequalities of each chain
    begin = offsets(sizes)
    inequality = spans(begin[chain_of_past], begin[chain_of_past + 1])
    pasts = np.concatenate(chains)
    sequence = spans(form.sequence_offsets[pasts], form.sequence_offsets[pasts + 1])
    binary = spans(first[chain_row], first[chain_row] + sizes)
    size = len(binary)
    ones = np.ones(len(inequality))
    of_sequences = coo_array((ones, (inequality, sequence)), (size, num_sequences))
    of_binaries = coo_array((-np.ones(size), (np.arange(size), binary)), (size, num_binaries))
    of_chains = hstack([of_sequences, of_binaries])
    return [
        LinearConstraint(of_rows, lb=1.0, ub=1.0),
        LinearConstraint(of_chains, lb=-np.inf, ub=0.0),
    ]
