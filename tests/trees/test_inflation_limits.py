"""Inflation and chains of a row whose pasts follow one another: their number squared is refused."""

import numpy as np

from hogeq.support.aliases import Ints
from hogeq.support.deadline import FOREVER, Deadline
from hogeq.trees import inflation


def _nested_pasts(count: int) -> tuple[Ints, Ints, Ints, Ints]:
    """Make a row with a past after each of so many sets on one path.

    Past i is set i, past `count` + i the row after it; sequence 1 + i is the own action at set i.
    Returns rows, the past before each, the action there, and the sequence before each.
    """
    sets = np.arange(count)
    row = np.append(sets, np.full(count, count))
    parent = np.append(sets - 1, sets)
    action = np.append(np.zeros(count, np.int64), np.zeros(count, np.int64))
    return row, parent, action, 1 + parent


def test_a_table_of_all_earlier_actions_is_bounded() -> None:
    row, parent, action, _ = _nested_pasts(30_000)  # a table of 900,000,000 cells
    parts, is_complete = inflation.split_rows(row, parent, action, FOREVER)
    assert not is_complete
    assert not parts.any()


def test_a_row_of_many_pasts_looks_at_the_time() -> None:
    looks = 0

    def clock() -> float:
        nonlocal looks
        looks += 1
        return float(looks)

    _, parent, _, parent_sequence = _nested_pasts(1000)
    pasts = [*range(1000, 2000)]
    assert inflation.chains_of(pasts, parent_sequence, parent, Deadline(20.0, clock)) is None
    chains = inflation.chains_of(pasts, parent_sequence, parent)
    assert chains is not None
    assert sorted(past for chain in chains for past in chain) == pasts
