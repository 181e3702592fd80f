"""Passes over the nodes of a tree, down from the root or up to it, in place.

Trees of few levels are passed level by level in numpy, without a compiler; deep ones node by node
in compiled loops. Both make the same numbers, bit by bit, where a node has at most eight moves.
"""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hogeq.graph.levels import DEEP
from hogeq.support.aliases import Bools, Floats, Ints


class Nodes(Protocol):
    """The N nodes of a tree by depth, as :class:`hogeq.trees.flat.FlatTree` has them."""

    @property
    def parent(self) -> NDArray[np.int32]:
        """Node before each, -1 for the root, (N,)."""

    @property
    def levels(self) -> list[slice]:
        """Nodes of each depth."""

    @property
    def siblings_by_level(self) -> list[tuple[slice, Ints, NDArray[Any]]]:
        """Nodes of each level below the root's, their first siblings, and parents."""

    @property
    def child_offsets(self) -> Ints:
        """First child of each node, (N + 1,)."""


def is_deep(tree: Nodes) -> bool:
    """Whether a tree has so many levels that loops over them are slow."""
    return len(tree.levels) > DEEP


def multiply_down(tree: Nodes, numbers: Floats) -> None:
    """Multiply the number of each node, (N,), by those of all nodes on the path to it."""
    if is_deep(tree):
        from hogeq.kernels import node_passes

        node_passes.multiply_down(tree.parent, numbers)
        return
    for level in tree.levels[1:]:
        numbers[level] *= numbers[tree.parent[level]]


def add_down(tree: Nodes, numbers: Ints) -> None:
    """Add to the number of each node, (N,), those of all nodes on the path to it."""
    if is_deep(tree):
        from hogeq.kernels import node_passes

        node_passes.add_down(tree.parent, numbers)
        return
    for level in tree.levels[1:]:
        numbers[level] += numbers[tree.parent[level]]


def add_up(tree: Nodes, numbers: Ints) -> None:
    """Add to the number of each node, (N,), those of all nodes below it."""
    if is_deep(tree):
        from hogeq.kernels import node_passes

        node_passes.add_up(tree.parent, numbers)
        return
    for level in reversed(tree.levels[1:]):
        np.add.at(numbers, tree.parent[level], numbers[level])


def add_products_up(tree: Nodes, factors: Floats, values: Floats) -> None:
    """Add to the value of each node, (N,), the values of its children times their factors, (N,)."""
    if is_deep(tree):
        from hogeq.kernels import node_passes

        node_passes.add_products_up(tree.child_offsets, factors, values)
        return
    for level in reversed(tree.levels[1:]):
        np.add.at(values, tree.parent[level], factors[level] * values[level])


def rise_largest(
    tree: Nodes, is_chosen: Bools, is_set: Bools, factors: Floats, values: Floats
) -> None:
    """Set values of nodes, (N,), bottom-up: the largest or the mean of the children's values.

    Of inner nodes those that `is_set`, (N,), names are set: to the largest if `is_chosen`, (N,),
    else to the sum of the children's values times their factors, (N,).
    """
    if is_deep(tree):
        from hogeq.kernels import node_passes

        is_set = is_set & (np.diff(tree.child_offsets) > 0)
        node_passes.rise_largest(tree.child_offsets, is_chosen, is_set, factors, values)
        return
    for level, first_siblings, parents in reversed(tree.siblings_by_level):
        means = np.add.reduceat(factors[level] * values[level], first_siblings)
        largest = np.maximum.reduceat(values[level], first_siblings)
        risen = np.where(is_chosen[parents], largest, means)
        values[parents] = np.where(is_set[parents], risen, values[parents])
