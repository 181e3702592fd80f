"""Changes of a strategy after which its best counter wins least, by linear and integer programs."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.search.population import Slopes
from hogeq.support.aliases import Floats, Ints

GENERATIONS = 30  # of columns of the linear program; 3 to 8 are usual

WORTH = 1e-10  # win rate; a column that gains less is a rounding error
EXCESS = 1e3  # price of win rate above a level, in shares of what is dear
GAP = 1e-4  # relative gap at which an integer program ends
PATIENCE = 60.0  # seconds after which it ends too: one has stalled at its root in 360 rounds


class Moves(NamedTuple):
    """Cells to make pure, m moves; several moves can share a cell."""

    cells: tuple[Ints, ...]
    """Index of each by axis, each (m,)."""
    rolls: Ints
    shares: Floats
    """Both (m,); a share of 1 is the whole cell."""
    expected: float
    """Win rate of the best counter if effects added up."""


def best_moves(slopes: Slopes, allowed: NDArray[np.bool_], count: int) -> Moves:
    """Choose the moves after which the best counter wins least, if effects added up.

    The linear program ``min t: rates + changes @ x <= t``, ``x`` a share of every allowed move,
    at most 1 in a cell and `count` in all. A vertex has at most as many fractional cells as there
    are counters. Columns are generated: in each round those of negative reduced cost enter, until
    there are none. Moves are chosen from those allowed, (G, G, K).
    """
    number, *shape = slopes.changes.shape
    rolls = shape[-1]
    changes = slopes.changes.reshape(number, -1, rolls)
    rows = allowed.reshape(-1, rolls)
    count = min(count, int(rows.any(axis=1).sum()))
    weights = np.zeros(number)
    weights[slopes.rates.argmax()] = 1.0
    cell_price, move_price = np.zeros(len(rows)), 0.0
    columns: Ints = np.zeros(0, np.int64)
    shares, expected = np.zeros(0), float(slopes.rates.max())
    for _ in range(GENERATIONS if count else 0):
        scores = np.where(rows, np.tensordot(weights, changes, 1), np.inf)
        choice = scores.argmin(axis=1)
        costs = scores[np.arange(len(rows)), choice] + cell_price
        worth = costs < move_price - WORTH
        order = np.flatnonzero(worth)[np.argsort(costs[worth], kind="stable")[: 2 * count]]
        new = np.setdiff1d(order * rolls + choice[order], columns)
        if len(new) == 0:
            break
        columns = np.concatenate([columns, new])
        flat = changes.reshape(number, -1)[:, columns]
        result = _program(slopes.rates, flat, columns // rolls, count)
        shares, expected = result.x[:-1], float(result.x[-1])
        prices = -result.ineqlin.marginals
        weights = prices[:number]
        cell_price = np.zeros(len(rows))
        cell_price[np.unique(columns // rolls)] = prices[number:-1]
        move_price = -float(prices[-1])
    used = shares > 1e-9
    *cells, roll = np.unravel_index(columns[used], shape)
    return Moves(tuple(cells), roll, shares[used], expected)


def _program(rates: Floats, changes: Floats, cells: Ints, count: int) -> Any:
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, hstack, vstack

    number, size = changes.shape
    _, place = np.unique(cells, return_inverse=True)
    groups = csr_array((np.ones(size), (place, np.arange(size))))
    above = vstack(
        [
            csr_array(np.column_stack([changes, -np.ones(number)])),
            hstack([groups, csr_array((groups.shape[0], 1))]),
            csr_array(np.append(np.ones(size), 0.0)[None]),
        ]
    )
    result = linprog(
        np.append(np.zeros(size), 1.0),
        A_ub=above.tocsr(),
        b_ub=np.concatenate([-rates, np.ones(groups.shape[0]), [count]]),
        bounds=[*[(0.0, None)] * size, (None, None)],
        method="highs",
    )
    if not result.success:
        raise RuntimeError(f"purify: linear program of {size} moves: {result.message}")
    return result


class ChosenRolls(NamedTuple):
    """One roll for each row."""

    chosen: NDArray[np.bool_]
    """(v,), of the rolls to choose from."""
    bound: float
    """Largest win rate that no choice is known to get below, where nothing is dear."""


def nearest_choice(
    rates: Floats,
    changes: NDArray[np.floating],
    rows: Ints,
    dear: Floats,
    level: float,
    nodes: int,
) -> ChosenRolls:
    """Choose a roll in each row: those most dear, but against which no counter wins above a level.

    The integer program ``min EXCESS * t - share``, where ``t >= 0`` and ``rates + changes @ x <=
    level + t`` for a choice ``x``, and ``share`` is the share of what is dear that it keeps: a win
    rate of 0.001 above the level costs as much as everything that is dear.

    Rates (n,) are those of the counters but for the choice, changes (n, v) what each roll adds, and
    rows (v,), ascending, which row each roll is of. With level 0 and nothing dear the largest win
    rate is minimised. With 0 nodes it is a linear program, and each row makes the roll of the
    largest share.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array, hstack

    size, total = len(rows), dear.sum()
    if size == 0:
        return ChosenRolls(np.zeros(0, np.bool_), float(rates.max()))
    _, place = np.unique(rows, return_inverse=True)
    once = csr_array((np.ones(size), (place, np.arange(size))))
    below = csr_array(np.column_stack([changes, -np.ones(len(rates))]))
    with _quiet():
        result = milp(
            np.append(-dear / total if total else dear, EXCESS),
            constraints=[
                LinearConstraint(below, ub=level - rates),
                LinearConstraint(hstack([once, csr_array((once.shape[0], 1))]), 1.0, 1.0),
            ],
            integrality=np.append(np.full(size, nodes > 0), False),
            bounds=Bounds(0.0, 1.0),
            options={"node_limit": max(1, nodes), "mip_rel_gap": GAP, "time_limit": PATIENCE},
        )
    if result.x is None:
        raise RuntimeError(f"purify: integer program of {size} rolls: {result.message}")
    chosen = np.zeros(size, np.bool_)
    for here in np.split(np.arange(size), np.flatnonzero(np.diff(place)) + 1):
        chosen[here[result.x[here].argmax()]] = True
    least = result.mip_dual_bound if nodes else result.fun
    return ChosenRolls(chosen, level + float(least or 0.0) / EXCESS)


@contextmanager
def _quiet() -> Iterator[None]:
    """Drop what is written to standard output: HiGHS leaves a line of its developers' there."""
    sys.stdout.flush()
    with Path(os.devnull).open("wb") as nowhere:
        output = os.dup(1)
        try:
            os.dup2(nowhere.fileno(), 1)
            yield
        finally:
            os.dup2(output, 1)
            os.close(output)
