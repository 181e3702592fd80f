"""Inflation: rows are split where the player's own actions exclude each other.

A. Okada, "Complete inflation and perfect recall in extensive games", International Journal of Game
Theory 16, 1987. ``docs/recall.md`` has the theorem: no pure strategy comes to two parts of a row,
so nothing is lost or won by telling them apart, in mixtures and by best responses.
"""

from collections.abc import Iterator

import numpy as np

from hogeq.support.aliases import Ints


def parts_of_rows(row: Ints, above: Ints, act: Ints) -> Ints:
    """Part the pasts of each row, and number its parts from 0, (J,).

    Given are the row of each past, the past before it, -1 for none, and the action there.
    """
    parts = np.zeros(len(row), np.int64)
    by_row = np.argsort(row, kind="stable")
    for pasts in np.split(by_row, np.flatnonzero(np.diff(row[by_row])) + 1):
        if len(pasts) > 1:
            for number, part in enumerate(_parts(_acts(pasts, row, above, act))):
                parts[pasts[part]] = number
    return parts


def _acts(pasts: Ints, row: Ints, above: Ints, act: Ints) -> Ints:
    """Tabulate actions by the rows met, (n, M), -1 for those not met."""
    each, up = np.arange(len(pasts)), pasts
    steps = []
    while len(each):
        each, up = each[above[up] >= 0], up[above[up] >= 0]
        steps.append((each, row[above[up]], act[up]))
        up = above[up]
    which, met, chosen = map(np.concatenate, zip(*steps, strict=True))
    rows, column = np.unique(met, return_inverse=True)
    acts = np.full((len(pasts), len(rows)), -1)
    acts[which, column] = chosen
    return acts


def _parts(acts: Ints) -> Iterator[Ints]:
    """Part the pasts of one row.

    Two pasts exclude each other if a row was met in both, and the actions there differ. A part is a
    component of the graph of those that do not.
    """
    waiting = [np.arange(len(acts))]
    while waiting:
        group = waiting.pop()
        table = acts[group]
        telling = np.flatnonzero((table >= 0).all(axis=0) & (table != table[0]).any(axis=0))
        if len(telling):  # all met this row, and did not act alike
            chosen = table[:, telling[0]]
            waiting += [group[chosen == one] for one in np.unique(chosen)]
            continue
        part, left = [group[:1]], group[1:]
        for found in part:  # grows
            for one in found.tolist():
                both = (acts[left] >= 0) & (acts[one] >= 0)
                excluded = (both & (acts[left] != acts[one])).any(axis=1)
                part.append(left[~excluded])
                left = left[excluded]
                if not len(left):
                    break
        yield np.concatenate(part)
        if len(left):
            waiting.append(left)
