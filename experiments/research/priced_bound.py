"""An upper bound on best responses, tighter than full memory: memory has a price.

Let mu(x, a) be how often a responder is in state x and rolls a, and R(x) at least as large as the
reach of x under any responder. A responder who forgets makes one roll a(I) in all states of an
information set I, so with z(I, a) = 1 for that roll and 0 for the others

    mu(x, a) <= R(x) z(I, a)        for every state x of I and every roll a.

A responder who remembers breaks this: it rolls differently in states of one information set. Put
a price p(x, a) >= 0 on every roll. Then, for every responder who forgets,

    win rate  <=  win rate - sum over x, a of p(x, a) (mu(x, a) - R(x) z(I, a))
              <=  max over responders with memory of (win rate - sum of p mu)
                  + sum over I of max over a of sum over x in I of R(x) p(x, a),

the first since p >= 0, the second by maximising over mu and z separately. The first term is one
backward induction in which every roll costs its price, the second is a sum. So *any* prices give a
bound; prices of 0 give that of full memory. The best prices are the dual solution of the linear
program that this relaxes (Lagrangian duality). Rounding errors of that program cannot invalidate
the bound, since the prices are evaluated afresh.

Mixed responders win no more: a win rate is linear in each row of a policy, so some matrix is best.
"""

import numpy as np
from research.process import Process, remember
from scipy.sparse import csr_array, diags_array, eye_array, hstack, kron, vstack

from hogeq.support.aliases import Floats

BLOCK = 256  # states whose largest reach is computed at once
LEAST = 1e-9  # reach below which a state has no price


def largest_reach(process: Process) -> Floats:
    """Largest probability with which a responder can come to each state, memory allowed.

    Returns
    -------
    float64 (2 * n,)
        The responder's states, then the opponent's.
    """
    size, found = process.size, np.zeros(2 * process.size)
    for first in range(0, 2 * size, BLOCK):
        targets = np.arange(first, min(first + BLOCK, 2 * size))
        values = np.zeros((2 * size, len(targets)))
        values[targets, np.arange(len(targets))] = 1.0
        for level in reversed(process.levels):
            here = slice(level.start, level.start + len(level.set))
            there = slice(size + here.start, size + here.stop)
            rolled = (level.after @ values).reshape(len(level.set), process.num_actions, -1)
            passed = level.other_after @ values
            # No state is met twice, so a target is worth 1 and not also what follows it.
            values[here] = np.maximum(values[here], rolled.max(axis=1, initial=0.0))
            values[there] = np.maximum(values[there], passed)
        found[targets] = process.at_start(values)
    return found


def priced_bound(process: Process, reach: Floats, prices: list[Floats]) -> float:
    """Upper bound on the win rate of any responder who rolls alike throughout an information set.

    Parameters
    ----------
    process : Process
    reach : float64 (2 * n,)
        Result of :func:`largest_reach`, or anything above it.
    prices : list of float64 (m, K)
        By level, none below 0.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If a price is below 0.
    """
    if any(price.min(initial=0.0) < 0.0 for price in prices):
        raise ValueError("prices: some are below 0; allowed: numbers from 0")
    refunds = np.zeros((process.sets, process.num_actions))
    for level, price in zip(process.levels, prices, strict=True):
        np.add.at(refunds, level.set, level.of(reach)[0][:, None] * price)
    return remember(process, prices=prices).value + float(refunds.max(axis=1).sum())


def best_prices(process: Process, reach: Floats) -> list[Floats]:
    """Prices of the lowest bound: the dual solution of the relaxed linear program.

    Parameters
    ----------
    process : Process
        Of at most some ten thousand states: goal 18 with 4 dice takes half a minute.
    reach : float64 (2 * n,)
        Result of :func:`largest_reach`.

    Returns
    -------
    list of float64 (m, K)
        By level.

    Raises
    ------
    RuntimeError
        If the linear program is not solved.
    """
    from scipy.optimize import linprog

    size, rolls, cells = process.size, process.num_actions, process.sets
    cell = np.concatenate([level.set for level in process.levels])
    # Rows are state and roll for the responder, states alone for the opponent; all divided by
    # their reach, or tiny numbers would stand beside 1.
    owner = np.concatenate([np.repeat(np.arange(size), rolls), size + np.arange(size)])
    after = vstack(
        [*(level.after for level in process.levels), *(lv.other_after for lv in process.levels)]
    )
    win = np.concatenate(
        [
            *(level.win.ravel() for level in process.levels),
            *(level.other_win for level in process.levels),
        ]
    )
    kept = reach > LEAST
    inverse = np.divide(1.0, reach, out=np.zeros_like(reach), where=kept)
    leaves = csr_array(
        (np.ones(len(owner)), (owner, np.arange(len(owner)))), shape=(2 * size, len(owner))
    )
    comes = (diags_array(reach[owner]) @ after @ diags_array(inverse)).T
    begins = np.zeros(2 * size)
    for start, chance in enumerate(process.starts):
        here = [start, size + start]
        begins[here] = 0.5 * chance * inverse[here]
    choices = size * rolls
    column = np.repeat(cell, rolls) * rolls + np.tile(np.arange(rolls), size)
    priced = np.flatnonzero(kept[owner[:choices]])
    one_roll = hstack([csr_array((cells, len(owner))), kron(eye_array(cells), np.ones((1, rolls)))])
    flow = hstack([leaves - comes, csr_array((2 * size, cells * rolls))]).tocsr()[kept]
    coupled = hstack(
        [
            eye_array(choices, len(owner)),
            csr_array((-np.ones(choices), (np.arange(choices), column)), (choices, cells * rolls)),
        ]
    ).tocsr()[priced]
    most = np.concatenate([kept[owner].astype(float), np.ones(cells * rolls)])
    result = linprog(
        -np.concatenate([win * reach[owner], np.zeros(cells * rolls)]),
        A_ub=coupled,
        b_ub=np.zeros(len(priced)),
        A_eq=vstack([flow, one_roll]).tocsr(),
        b_eq=np.concatenate([begins[kept], np.ones(cells)]),
        bounds=np.column_stack([np.zeros(len(most)), most]),
        method="highs",
    )
    if not result.success:
        raise RuntimeError(f"prices of {size} states: {result.message}")
    found = np.zeros(choices)
    found[priced] = np.maximum(-result.ineqlin.marginals, 0.0) * inverse[owner[priced]]
    ends = np.cumsum([len(level.set) for level in process.levels])[:-1]
    return np.split(found.reshape(size, rolls), ends)


def tighter_bound(process: Process) -> float:
    """Upper bound by the best prices, never above that of full memory; see the module."""
    reach = largest_reach(process)
    free = remember(process).value
    return min(free, priced_bound(process, reach, best_prices(process, reach)))
