"""Packed arrays: lists of different lengths, one after another; see `hogeq.kernels.segments`."""

import numpy as np

from hogeq.support.aliases import Floats, Ints


def first_entries(sizes: Ints) -> Ints:
    """Index of the first entry of each list, (n,), by the sizes of lists, (n,)."""
    return np.cumsum(sizes) - sizes


def offsets(sizes: Ints) -> Ints:
    """Index of the first entry of each list, then the number of all entries, (n + 1,)."""
    return np.append(0, np.cumsum(sizes))


def ranges(starts: Ints, sizes: Ints) -> Ints:
    """Concatenate ranges of whole numbers, each from a start on, of a size."""
    shifts = np.repeat(starts - first_entries(sizes), sizes)
    return np.arange(len(shifts)) + shifts


def first_of_most(values: Floats, starts: Ints) -> Ints:
    """Index of the largest value of each list, the first if several tie.

    A list goes from one of `starts` to before the next.
    """
    largest = np.repeat(np.maximum.reduceat(values, starts), np.diff(starts, append=len(values)))
    indices = np.flatnonzero(values == largest)
    return indices[np.searchsorted(indices, starts)]
