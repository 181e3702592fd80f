"""Levels of positions: an end leads to a later level, or a level recurs and is iterated."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from hogeq.support.aliases import Ints

DEEP: Final = 1000
"""Levels from which on a loop over them is compiled: numpy takes microseconds for each."""


def levels_of(rank: Ints, source: Ints, target: Ints) -> Ints:
    """Level of each of C positions, (C,), so that no edge leads to an earlier level.

    1. Positions that lead to each other, a strongly connected component, are one level: it recurs.
    2. All other positions are sorted by rank, then by depth: the length of the longest path of
       edges to them, a component counted as one step. Those of one rank and depth are one level.

    Parameters
    ----------
    rank : ndarray of int64 (C,)
        A number that is known not to fall along any edge, by which positions are sorted first.
        Edges along which it rises may be left out.
    source, target : ndarray of int64 (n,)
        The edges.
    """
    num_positions = len(rank)
    num_components, component = _components(num_positions, source, target)
    is_inside = component[source] == component[target]  # of each edge
    recurs = np.zeros(num_components, bool)
    recurs[component[source[is_inside]]] = True
    outer_edges = component[source[~is_inside]], component[target[~is_inside]]
    depth_of_component = longest_paths(num_components, *outer_edges)
    assert depth_of_component is not None  # noqa: S101 - no edge leads back to a component
    depth = depth_of_component[component]
    # A component that recurs is a level alone, whatever else has its rank and depth.
    own_level = np.where(recurs[component], component, -1)
    order = np.lexsort((own_level, depth, rank))
    key = np.stack([rank, depth, own_level])[:, order]
    level = np.empty(num_positions, np.int64)
    level[order] = np.append(0, np.cumsum((np.diff(key) != 0).any(axis=0)))
    return level


def _components(num_vertices: int, source: Ints, target: Ints) -> tuple[int, Ints]:
    """Find strongly connected components: how many, and the one of each vertex."""
    if not len(source):
        return num_vertices, np.arange(num_vertices)
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    shape = num_vertices, num_vertices
    edges = coo_array((np.ones(len(source), bool), (source, target)), shape=shape)
    num_components, component = connected_components(edges, connection="strong")
    return int(num_components), component


def longest_paths(num_vertices: int, source: Ints, target: Ints) -> Ints | None:
    """Length of the longest path to each of n vertices, (n,); None in a cyclic graph (Kahn 1962).

    `source` and `target` are those of the edges.
    """
    # Distinct edges, sorted by source: each as one number, source * n + target.
    edges = np.unique(source.astype(np.int64) * num_vertices + target)
    source, target = np.divmod(edges, num_vertices)
    first_edge = np.searchsorted(source, np.arange(num_vertices + 1))
    num_unplaced_before = np.bincount(target, minlength=num_vertices)  # predecessors without depth
    depths = np.full(num_vertices, -1)
    front = np.flatnonzero(num_unplaced_before == 0)
    depth = 0
    while len(front):
        depths[front] = depth
        if depth == DEEP:
            from hogeq.kernels.node_passes import extend_longest_paths

            queue = np.append(front, np.empty(num_vertices - len(front), np.int64))
            extend_longest_paths(first_edge, target, queue, len(front), num_unplaced_before, depths)
            break
        successors = target[spans(first_edge[front], first_edge[front + 1])]
        np.subtract.at(num_unplaced_before, successors, 1)
        candidates = np.unique(successors)
        front = candidates[num_unplaced_before[candidates] == 0]
        depth += 1
    return None if num_unplaced_before.any() else depths


def distinct(numbers: Ints) -> Ints:
    """List distinct whole numbers, ascending, as `np.unique` does; that hashes millions slowly."""
    ascending = np.sort(numbers, axis=None)
    is_new = np.ones(len(ascending), bool)
    is_new[1:] = ascending[1:] != ascending[:-1]
    distinct_numbers: Ints = ascending[is_new]
    return distinct_numbers


def spans(first: NDArray[np.integer], last: NDArray[np.integer]) -> Ints:
    """Concatenate the ranges ``first[i], first[i] + 1, ..., last[i] - 1`` of all i."""
    lengths = np.asarray(last - first, np.int64)
    begins = np.cumsum(lengths) - lengths
    return np.arange(int(lengths.sum())) - np.repeat(begins - first, lengths)
