"""Linear models of what counters win, and the programs that choose rolls by them.

A *counter* is a matrix that wins against a policy. A row is *open* if several rolls are to choose
from; all others make their likeliest roll. A *choice* is an x (v,) that is 1 at one roll of each
open row.

The program is ``min EXCESS_PRICE * t - share``, where ``t >= 0`` and ``rates + changes @ x <= level
+ t`` for a choice ``x``, and ``share`` is the part of the gains of all rolls that it keeps. With 0
nodes it is a linear program, and each row makes the roll of the largest x.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hogeq.model.protocol import WinRate
from hogeq.search.population import Population
from hogeq.support.aliases import Floats, Ints, Singles
from hogeq.support.deadline import FOREVER, Deadline
from hogeq.support.files import redirected
from hogeq.support.messages import HogeqError
from hogeq.support.workers import interruptible

EXCESS_PRICE: Final = 1e3  # price of win rate above a level, in shares of all gains
MOST_MODELLED: Final = 2**29  # numbers in the linear models of counters: 2 GiB
RELATIVE_GAP: Final = 1e-4  # relative gap at which an integer program ends
MOST_PROGRAM_SECONDS: Final = 60.0  # one program in 360 ends so, and depends on the machine


def require_time(deadline: Deadline) -> None:
    """Raise `TimeoutError` if the time is over: a round that was cut short does not count."""
    if deadline.is_over:
        raise TimeoutError


def mean_reach(pool: Population, policy: Floats, deadline: Deadline) -> Floats:
    """Reach probability of each cell by a policy (G, G, K): the mean over counters, (G, G)."""
    passes = pool.values_against_each(policy, exact=False, deadline=deadline)
    return np.mean([played.infoset_reach for played in passes], axis=0)


def linear_models(
    pool: Population, policy: Floats, choices: Ints, deadline: Deadline
) -> tuple[Floats, Singles]:
    """Linear models of n counters' win rates by the choice of rolls in open rows.

    `choices` (v,) are the indices in the flat policy of all rolls to choose from. A counter wins
    ``rates`` (n,) plus the sum of its ``changes`` (n, v) at the rolls that are chosen; all rows
    without a choice make their likeliest roll. The models are exact to first order at the policy
    (G, G, K), and leave out interactions of rows.
    """
    width = policy.shape[-1]
    rows = policy.reshape(-1, width)
    likeliest_rolls = width * np.arange(len(rows)) + rows.argmax(axis=1)
    open_rows = np.unique(choices // width)
    rolls_of_closed_rows = np.delete(likeliest_rolls, open_rows)
    count = len(pool.members)
    if count * len(choices) > MOST_MODELLED:
        raise HogeqError(
            f"counters: {count:,} with models of {len(choices):,} rolls to choose from; "
            f"allowed: products up to {MOST_MODELLED:,}"
        )
    rates = np.zeros(count)
    changes = np.zeros((count, len(choices)), np.float32)
    passes = pool.values_against_each(policy, exact=False, deadline=deadline)
    for number, played in enumerate(passes):
        # The policy loses what the counter wins if a row makes a roll of lower value.
        row_values = (played.values * policy).sum(axis=-1, keepdims=True)
        losses = (row_values - played.values).ravel()
        changes[number] = losses[choices]
        counter_rate = 1.0 - WinRate.from_starts(*played.starts).win_rate
        rates[number] = counter_rate + losses[rolls_of_closed_rows].sum()
    return rates, changes


def nearest_choice(
    rates: Floats,
    changes: NDArray[np.floating],
    rows: Ints,
    gain: Floats,
    level: float,
    nodes: int,
    deadline: Deadline = FOREVER,
) -> tuple[NDArray[np.bool_], float]:
    """Choose a roll in each row: those of the largest gain, with no counter above a level.

    An integer program of at most `nodes` nodes; with 0 nodes a linear program, in which rows may
    mix, and then make the likeliest roll. If no choice is below the level, it minimises the excess.

    `rows` (v,) has the row of each roll, in ascending order, and `gain` (v,) the gain of choosing
    it. `rates` (n,) and `changes` (n, v) are linear models of n counters: each wins its rate plus
    its changes at the rolls chosen. Returns whether each roll is chosen, (v,), and the win rate
    that no choice gets below, if there are no gains. Raises `TimeoutError` if the time is over
    before.
    """
    size = len(rows)
    if size == 0:
        return np.zeros(0, np.bool_), float(rates.max())
    _, row_number = np.unique(rows, return_inverse=True)  # of each roll, from 0 on
    result = _solve_program(rates, changes, row_number, gain, level, nodes, deadline)
    if result.x is None:
        require_time(deadline)
    if result.x is None and nodes:  # no choice in time: take that of the relaxation, rounded
        return nearest_choice(rates, changes, rows, gain, level, 0, deadline)
    if result.x is None:
        raise RuntimeError(f"purify: integer program of {size} rolls: {result.message}")
    chosen = np.zeros(size, np.bool_)
    row_starts = np.flatnonzero(np.diff(row_number)) + 1
    for rolls in np.split(np.arange(size), row_starts):
        chosen[rolls[result.x[rolls].argmax()]] = True
    objective_bound = result.mip_dual_bound if nodes else result.fun
    # Without gains the objective is the price of the excess over the level.
    return chosen, level + float(objective_bound or 0.0) / EXCESS_PRICE


def _solve_program(
    rates: Floats,
    changes: NDArray[np.floating],
    row_number: Ints,
    gain: Floats,
    level: float,
    nodes: int,
    deadline: Deadline,
) -> Any:
    """Solve the integer program of `nearest_choice` by HiGHS; its result, as `milp` gives it.

    The variables are whether each of v rolls is chosen, and the excess over the level. Each row
    chooses one roll; no counter wins more than the level and the excess.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array, hstack

    size = len(row_number)
    total_gain = gain.sum()
    one_roll_a_row = csr_array((np.ones(size), (row_number, np.arange(size))))
    excess_column = csr_array((one_roll_a_row.shape[0], 1))
    below_level = csr_array(np.column_stack([changes, -np.ones(len(rates))]))
    with redirected(1):  # HiGHS leaves a line of its developers' there
        return interruptible(
            milp,
            np.append(-gain / total_gain if total_gain else gain, EXCESS_PRICE),
            constraints=[
                LinearConstraint(below_level, ub=level - rates),
                LinearConstraint(hstack([one_roll_a_row, excess_column]), lb=1.0, ub=1.0),
            ],
            integrality=np.append(np.full(size, nodes > 0), False),
            bounds=Bounds(0.0, 1.0),
            options={
                "node_limit": max(1, nodes),
                "mip_rel_gap": RELATIVE_GAP,
                "time_limit": min(MOST_PROGRAM_SECONDS, deadline.left),
            },
        )
