"""Levels of positions: an end leads to a later level, or a level recurs and is iterated."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.support.aliases import Ints


class Levels(NamedTuple):
    """An order of C positions, and where levels begin in it."""

    order: Ints  # (C,)
    start: Ints  # (L + 1,)


def levels_of(rank: Ints, source: Ints, target: Ints) -> Levels:
    """Sort positions into levels by the edges between them.

    Positions that lead to each other, a strongly connected component, are one level, which recurs.
    All others lie at the length of the longest path of edges that leads to them, components counted
    as one step: those of one rank and length are one level.

    Parameters
    ----------
    rank : ndarray of int64 (C,)
        A number that is known not to fall along any edge, by which positions are sorted first.
        Edges along which it rises may be left out.
    source, target : ndarray of int64 (n,)
        The edges.
    """
    count = len(rank)
    components, label = _components(count, source, target)
    inside = label[source] == label[target]
    recurs = np.zeros(components, bool)
    recurs[label[source[inside]]] = True
    depth = _depths(components, label[source[~inside]], label[target[~inside]])[label]
    own_level = np.where(recurs[label], label, -1)  # a component that recurs is a level alone
    order = np.lexsort((np.arange(count), own_level, depth, rank))
    key = np.stack([rank, depth, own_level])[:, order]
    start = np.flatnonzero(np.append(True, (np.diff(key) != 0).any(axis=0)))
    return Levels(order, np.append(start, count))


def _components(count: int, source: Ints, target: Ints) -> tuple[int, Ints]:
    """Find strongly connected components: how many, and the one of each vertex."""
    if not len(source):
        return count, np.arange(count)
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    edges = coo_array((np.ones(len(source), bool), (source, target)), shape=(count, count))
    components, label = connected_components(edges, connection="strong")
    return int(components), label


def _depths(count: int, source: Ints, target: Ints) -> Ints:
    """Length of the longest path to each of `count` vertices of an acyclic graph (Kahn 1962)."""
    edges = np.unique(np.stack([source, target]), axis=1)
    source, target = edges if edges.size else (source, target)
    first_edge = np.searchsorted(source, np.arange(count + 1))
    num_waiting_for = np.bincount(target, minlength=count)  # predecessors
    depths = np.zeros(count, np.int64)
    front = np.flatnonzero(num_waiting_for == 0)
    depth = 0
    while len(front):
        depths[front] = depth
        reached = target[spans(first_edge[front], first_edge[front + 1])]
        np.subtract.at(num_waiting_for, reached, 1)
        candidates = np.unique(reached)
        front = candidates[num_waiting_for[candidates] == 0]
        depth += 1
    return depths


def spans(first: NDArray[np.integer], last: NDArray[np.integer]) -> Ints:
    """Numbers from each first one up to but not including the last, one span after another."""
    lengths = np.asarray(last - first, np.int64)
    begins = np.cumsum(lengths) - lengths
    return np.arange(int(lengths.sum())) - np.repeat(begins - first, lengths)
