"""Which pasts of a row must stay together, for inflation, and which exclude each other.

A *past* is a refined information set (:mod:`hogeq.trees.sequences`): a row and the own steps that
led to it.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from heapq import heapify, heappop, heappush
from itertools import chain, zip_longest
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.support.aliases import Ints
from hogeq.support.deadline import FOREVER, Deadline

CELLS_PER_ENTRY: Final = 10  # of a dense table, made in the time of one entry of a sparse one
MOST_CELLS: Final = 2**27  # of a dense table: 512 MiB
MOST_STEPS: Final = 2**24  # up from all pasts of a row: a GiB


def split_rows(row: Ints, parent: Ints, action: Ints, deadline: Deadline) -> tuple[Ints, bool]:
    """Split the pasts of each row into inseparable parts, numbered from 0, (J,): inflation.

    A past is a row (information set) after one sequence of own actions. Parts are separable if no
    pure strategy comes to both. Of each past, (J,), are given the row, the past before it, -1 for
    none, and the action there. Returns also whether there was time for all rows.
    """
    parts = np.zeros(len(row), np.int64)
    is_complete = True
    by_row = np.argsort(row, kind="stable")
    for pasts in np.split(by_row, np.flatnonzero(np.diff(row[by_row])) + 1):
        if len(pasts) <= 1:
            continue
        if deadline.is_over:
            return parts, False
        table = tabulate_earlier_actions(pasts, row, parent, action, deadline)
        if table is None:
            is_complete = False
            continue
        for number, part in enumerate(_inseparable_parts(table, deadline)):
            parts[pasts[part]] = number
    return parts, is_complete and not deadline.is_over


def tabulate_earlier_actions(
    pasts: Ints, row: Ints, parent: Ints, action: Ints, deadline: Deadline
) -> NDArray[np.int32] | None:
    """Tabulate the actions of n pasts at all rows met before, (n, M); None if it is too large.

    That is if it has more than `MOST_CELLS` cells, if all pasts together go up more than
    `MOST_STEPS` steps, or if there is no time.

    A past is a row (information set) after one sequence of own actions. The action is -1 where a
    past did not meet the row, and the last one where it did so twice. The arguments after `pasts`
    are as for `split_rows`. All pasts go up at once, a step at a time.
    """
    index = np.arange(len(pasts))
    current = pasts
    steps = []
    num_steps = 0  # of all pasts together
    while len(index):
        has_earlier = parent[current] >= 0
        index = index[has_earlier]
        current = current[has_earlier]
        steps.append((index, row[parent[current]], action[current]))
        current = parent[current]
        num_steps += len(index)
        if num_steps > MOST_STEPS or not deadline.allows(num_steps / CELLS_PER_ENTRY):
            return None
    # The first steps of a past come first, and later ones overwrite them.
    past_index, met_row, met_action = map(np.concatenate, zip(*reversed(steps), strict=True))
    rows, column = np.unique(met_row, return_inverse=True)
    num_cells = len(pasts) * len(rows)
    if num_cells > MOST_CELLS or not deadline.allows(num_cells / CELLS_PER_ENTRY):
        return None
    table = np.full((len(pasts), len(rows)), -1, np.int32)
    table[past_index, column] = met_action
    return table


class _Columns(NamedTuple):
    """What a group of pasts did at the M rows that pasts met before, as far as it is known."""

    num_met: Ints  # (M,), pasts that met each row
    may_differ: NDArray[np.bool_]  # (M,), whether those who met a row may have acted differently


def _inseparable_parts(acts: NDArray[np.int32], deadline: Deadline) -> Iterator[Ints]:
    """Split the n pasts of one row into inseparable parts; yield the indices of each.

    A past is a sequence of own actions that leads to the row, an information set. `acts`, (n, M),
    holds their actions at the rows met before, -1 at those not met. Two pasts exclude each other if
    both met a row and acted differently there. A part is a component of the graph of pasts that do
    not. When the time is over, the rest is one part.

    A group is split by the first row that all of it met, but not with one action. If there is none,
    one component is collected. The largest group of a split gets its columns from the group before,
    so that each past is counted again only in a group of half the size: n * M * log(n) numbers.
    """
    waiting: list[tuple[Ints, _Columns | None]] = [(np.arange(len(acts)), None)]
    while waiting:
        group, known = waiting.pop()
        if len(group) == 1 or deadline.is_over:
            yield group
            continue
        columns = known or _Columns(_count_met(acts, group), np.ones(acts.shape[1], bool))
        splitting_row = _find_splitting_row(acts, group, columns)
        if splitting_row is not None:
            waiting += _split_group(acts, group, columns, splitting_row)
            continue
        component = [group[:1]]
        others = group[1:]
        for neighbours in component:  # grows while it is read
            for past in neighbours.tolist():
                both_met = (acts[others] >= 0) & (acts[past] >= 0)
                is_excluded = (both_met & (acts[others] != acts[past])).any(axis=1)
                is_excluded &= not deadline.is_over
                component.append(others[~is_excluded])
                others = others[is_excluded]
                if not len(others):
                    break
        yield np.concatenate(component)
        if len(others):
            waiting.append((others, None))


def _count_met(acts: NDArray[np.int32], group: Ints) -> Ints:
    """Count the pasts of a group that met each row, (M,); `acts`, (n, M), is -1 if one did not."""
    return np.count_nonzero(acts[group] >= 0, axis=0)


def _find_splitting_row(acts: NDArray[np.int32], group: Ints, columns: _Columns) -> int | None:
    """Find the first row that all pasts of a group met, but not with one action; None without one.

    Rows at which all acted alike are marked in `columns`. They are looked at in blocks that double,
    so few rows behind the first one are.
    """
    common = np.flatnonzero((columns.num_met == len(group)) & columns.may_differ)
    first = 0
    size = 1
    while first < len(common):
        block = common[first : first + size]
        table = acts[group[:, None], block]
        differs = (table != table[0]).any(axis=0)
        num_alike = int(differs.argmax()) if differs.any() else len(block)
        columns.may_differ[block[:num_alike]] = False
        if num_alike < len(block):
            return int(block[num_alike])
        first += size
        size *= 2
    return None


def _split_group(
    acts: NDArray[np.int32], group: Ints, columns: _Columns, row: int
) -> list[tuple[Ints, _Columns | None]]:
    """Split a group of pasts by their actions at a row; the largest new group gets columns."""
    order = np.argsort(acts[group, row], kind="stable")
    chosen = acts[group[order], row]
    groups = np.split(group[order], np.flatnonzero(np.diff(chosen)) + 1)
    largest = max(range(len(groups)), key=lambda number: len(groups[number]))
    num_met = columns.num_met.copy()
    for number, other in enumerate(groups):
        if number != largest:
            num_met -= _count_met(acts, other)
    inherited = _Columns(num_met, columns.may_differ)
    return [(part, inherited if number == largest else None) for number, part in enumerate(groups)]


def chains_of(
    pasts: Sequence[int],
    parent_sequence: Ints,
    parent_refined: Ints,
    deadline: Deadline = FOREVER,
) -> list[list[int]] | None:
    """List the chains of one row, those of most pasts first: no play meets two pasts of a chain.

    None if there is no time: a chain is carried up past by past, so many may take long.
    A past is a refined information set: a row after one sequence of own actions. Goes up from the
    last past, by the parents of refined information sets, and lists the chains after each sequence:

    1. A past of the row that no other follows is a chain by itself.
    2. At a past that others follow, own actions exclude each other. So the longest chains after
       each action join to one, then the second longest, and so on.
    3. After a sequence, chance and others choose the past that comes next: its chains are those of
       all these pasts.
    """
    chains_after: dict[int, list[_Chain]] = defaultdict(list)  # by sequence
    heap = [-past for past in pasts]  # the last first: numbers rise along plays
    heapify(heap)
    sequences: dict[int, list[int]] = {past: [] for past in pasts}  # that begin at each past
    while heap:
        if deadline.is_over:
            return None
        past = -heappop(heap)
        joined = _join_chains([chains_after.pop(after) for after in sequences[past]]) or [[past]]
        sequence = int(parent_sequence[past])
        if sequence and sequence not in chains_after:
            earlier = int(parent_refined[past])
            if earlier not in sequences:
                sequences[earlier] = []
                heappush(heap, -earlier)
            sequences[earlier].append(sequence)
        chains_after[sequence] += [_Chain(-len(met), past, met) for met in joined]
    return [item.pasts for item in sorted(chains_after[0])]


class _Chain(NamedTuple):
    """Pasts of which a play meets one at most; chains of most pasts are the first in an order."""

    minus_length: int
    joined_at: int  # past at which the chain was joined
    pasts: list[int]


def _join_chains(groups: list[list[_Chain]]) -> list[list[int]]:
    """Join the longest chains of all groups to one, then the second longest, and so on."""
    pasts_by_group = [[item.pasts for item in sorted(group)] for group in groups]
    by_place = zip_longest(*pasts_by_group, fillvalue=[])
    return [[*chain.from_iterable(parts)] for parts in by_place]
