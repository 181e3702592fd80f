"""Packed arrays: lists of different lengths, one after another, by where each of them begins."""

from hogeq.kernels.cache import part


@part
def segment(offsets, number):
    """Return the range of the entries of list `number`.

    `offsets`, (n + 1,), has the first entry of each of n lists, then the number of all entries.
    """
    return range(offsets[number], offsets[number + 1])
