"""Inflation and chains of a row whose pasts follow one another: their number squared is refused."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components

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


def test_a_row_that_falls_apart_past_by_past_looks_at_the_time() -> None:
    """Each set has an action that leads to the row: parts are split off one after the other."""
    count = 300
    row, parent, action, _ = _nested_pasts(count)
    action[count:] = 1
    looks = 0

    def clock() -> float:
        nonlocal looks
        looks += 1
        return float(looks)

    pasts = np.arange(count, 2 * count)
    table = inflation.tabulate_earlier_actions(pasts, row, parent, action, FOREVER)
    assert table is not None
    assert len([*inflation._inseparable_parts(table, FOREVER)]) == count
    parts = [*inflation._inseparable_parts(table, Deadline(20.0, clock))]
    assert len(parts) <= 21
    assert sorted(np.concatenate(parts)) == [*range(count)]  # the rest is one part


def test_a_row_that_falls_apart_past_by_past_is_read_few_times(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A table of n pasts and rows has n * n cells; n times as many are not looked at."""
    count = 1000
    row, parent, action, _ = _nested_pasts(count)
    action[count:] = 1
    pasts = np.arange(count, 2 * count)
    table = inflation.tabulate_earlier_actions(pasts, row, parent, action, FOREVER)
    assert table is not None
    cells_read = 0

    class Table(np.ndarray[Any, Any]):
        def __getitem__(self, key: Any) -> Any:
            nonlocal cells_read
            found = np.asarray(self)[key]
            cells_read += found.size
            return found

    monkeypatch.setattr(inflation, "tabulate_earlier_actions", lambda *_: table.view(Table))
    parts, _ = inflation.split_rows(row, parent, action, FOREVER)
    assert sorted(parts[count:]) == [*range(count)]
    assert cells_read < 5 * table.size


def test_parts_of_tables_drawn_at_random() -> None:
    """They are the components of the pasts that do not exclude each other."""
    draw = np.random.default_rng(0)
    for _ in range(300):
        count, num_rows, num_actions = draw.integers(1, [14, 7, 4])
        is_met = draw.random((count, num_rows)) > 0.6 * draw.random(num_rows)
        acts = np.where(is_met, draw.integers(0, num_actions, (count, num_rows)), -1)
        both_met = is_met[:, None] & is_met[None]
        is_excluded = (both_met & (acts[:, None] != acts[None])).any(axis=2)
        _, component = connected_components(~is_excluded)
        found = inflation._inseparable_parts(acts.astype(np.int32), FOREVER)
        expected = [np.flatnonzero(component == one).tolist() for one in np.unique(component)]
        assert sorted(sorted(part.tolist()) for part in found) == sorted(expected)
