"""Packed arrays: lists of different lengths, one after another; see `hogeq.kernels.segments`."""

import numpy as np

from hogeq.support.aliases import Floats, Ints


def first_entries(sizes: Ints) -> Ints:
    """Give the index of the first entry of each list, (n,), by the sizes of lists, (n,)."""
    return np.cumsum(sizes) - sizes


def offsets(sizes: Ints) -> Ints:
    """Give the index of the first entry of each list, then the number of entries, (n + 1,)."""
    return np.append(0, np.cumsum(sizes))


def first_maximum(values: Floats, starts: Ints) -> Ints:
    """Find the index of the largest value of each list, (n,), the first if several tie.

    The lists are one after another in `values`; each goes from one of `starts`, (n,), to before the
    next.
    """
    largest = np.repeat(np.maximum.reduceat(values, starts), np.diff(starts, append=len(values)))
    indices = np.flatnonzero(values == largest)
    return indices[np.searchsorted(indices, starts)]


def components_by_key(num_items: int, item: Ints, key: Ints) -> Ints:
    """Label each of n items with its component, (n,), where items of one key are linked.

    Components are numbered in the order of their first items. Each of `item` and `key` is one end
    of an edge of a bipartite graph.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    distinct_keys, key_number = np.unique(key, return_inverse=True)
    size = num_items + len(distinct_keys)
    edges = np.ones(len(key), np.int8), (item, num_items + key_number)
    return connected_components(coo_array(edges, (size, size)), directed=False)[1][:num_items]
