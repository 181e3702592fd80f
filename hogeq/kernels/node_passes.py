"""Passes over the nodes of deep trees and graphs: one loop over nodes, however many levels.

The N nodes of a tree lie by depth: a parent comes before its children. `parent` (N,) is the node
before each; `child_offsets` (N + 1,) packs the children of nodes, see
:func:`hogeq.kernels.segments.segment`. Numpy, level by level, makes the same numbers of trees that
are not deep, without a compiler: :mod:`hogeq.trees.passes`.
"""

from hogeq.kernels.cache import kernel
from hogeq.kernels.segments import segment

HASH_FACTOR = -7046029254386353131  # 2**64 over the golden ratio, as int64: Fibonacci hashing


@kernel
def multiply_down(parent, numbers):
    """Multiply the number of each node, (N,), by those of all nodes on the path to it, in place."""
    for node in range(1, len(parent)):
        numbers[node] *= numbers[parent[node]]


@kernel
def add_down(parent, numbers):
    """Add to the number of each node, (N,), those of all nodes on the path to it, in place."""
    for node in range(1, len(parent)):
        numbers[node] += numbers[parent[node]]


@kernel
def add_up(parent, numbers):
    """Add to the number of each node, (N,), those of all nodes below it, in place."""
    for node in range(len(parent) - 1, 0, -1):
        numbers[parent[node]] += numbers[node]


@kernel
def add_products_up(child_offsets, factors, values):
    """Add to the value of each node, (N,), the values of its children times their factors, (N,)."""
    for node in range(len(values) - 1, -1, -1):
        for child in segment(child_offsets, node):
            values[node] += factors[child] * values[child]


@kernel
def rise_largest(child_offsets, is_chosen, is_set, factors, values):
    """Set values of nodes, (N,), bottom-up: the largest or the mean of the children's values.

    Only nodes that `is_set`, (N,), names are set: to the largest value of a child if `is_chosen`,
    (N,), else to the sum of their values times their `factors`, (N,). The sum is the first term
    plus the sum of all others, as in numpy's `reduceat`, whose bits it has for up to 8 children.
    """
    for node in range(len(values) - 1, -1, -1):
        if is_set[node]:
            first_child = child_offsets[node]
            largest, others_sum = values[first_child], 0.0
            for child in range(first_child + 1, child_offsets[node + 1]):
                largest = max(largest, values[child])
                others_sum += factors[child] * values[child]
            mean = factors[first_child] * values[first_child] + others_sum
            values[node] = largest if is_chosen[node] else mean


@kernel
def list_sequences(
    nodes, num_legal, slots, sequence_of_node, refined_of_node, sequence_offsets, first_node
):
    """List the sequences and refined information sets of a player, in the order of nodes.

    A refined information set is a row and the sequence that leads to it. Returns their number, J.

    Parameters
    ----------
    nodes : (parent, action, row), each (N,)
        The node before each node, the action to it, and the player's row there, -1 elsewhere.
    num_legal : (R,)
        Number of actions of each row.
    slots : (2**n,), all -1
        Scratch space: a hash table with open addressing, of more slots than nodes of the player.
    sequence_of_node, refined_of_node : (N,)
        Filled: the sequence at each node, and the refined information set, -1 for none.
    sequence_offsets, first_node : (J + 1,) and (J,), or longer
        Filled: the first sequence of each refined information set, then their number, S; and its
        first node.
    """
    parent, action, row = nodes
    shift = 64
    while 1 << (64 - shift) < len(slots):
        shift -= 1
    last_slot = len(slots) - 1
    num_refined = 0
    sequence_offsets[0] = 1
    for node in range(len(parent)):
        sequence = 0
        if node > 0:
            sequence = sequence_of_node[parent[node]]
            refined_before = refined_of_node[parent[node]]
            if refined_before >= 0:
                sequence = sequence_offsets[refined_before] + action[node]
        sequence_of_node[node] = sequence
        refined_of_node[node] = -1
        if row[node] >= 0:
            pair = sequence * len(num_legal) + row[node]
            slot = ((pair * HASH_FACTOR) >> shift) & last_slot
            while slots[slot] >= 0:
                other = first_node[slots[slot]]
                if sequence_of_node[other] == sequence and row[other] == row[node]:
                    break
                slot = (slot + 1) & last_slot
            if slots[slot] < 0:
                slots[slot] = num_refined
                first_node[num_refined] = node
                num_after = sequence_offsets[num_refined] + num_legal[row[node]]
                sequence_offsets[num_refined + 1] = num_after
                num_refined += 1
            refined_of_node[node] = slots[slot]
    return num_refined


@kernel
def count_visits(parent_refined, row_of_refined, scratch, visits):
    """Count how often a play has met the row of each refined information set, itself included.

    A refined information set is a row and a sequence of own actions. `parent_refined` (J,) is the
    one before each, -1 for none; `visits` (J,) is filled by a depth-first walk. `scratch` is
    (num_met, child, sibling): (R,) of 0, (J + 1,) and (J,) of -1.
    """
    num_met, child, sibling = scratch
    num_refined = len(parent_refined)
    for refined in range(num_refined - 1, -1, -1):
        before = parent_refined[refined]
        if before < 0:
            before = num_refined  # stands for the begin of play
        sibling[refined] = child[before]
        child[before] = refined
    refined = child[num_refined]
    while refined >= 0:
        num_met[row_of_refined[refined]] += 1
        visits[refined] = num_met[row_of_refined[refined]]
        if child[refined] >= 0:
            refined = child[refined]
        else:
            while refined >= 0:  # walk up to the next sibling
                num_met[row_of_refined[refined]] -= 1
                if sibling[refined] >= 0:
                    refined = sibling[refined]
                    break
                refined = parent_refined[refined]


@kernel
def extend_longest_paths(edge_offsets, target, queue, num_queued, num_unplaced_before, depths):
    """Find the depth of all vertices that follow those in a queue: their longest path (Kahn 1962).

    Edges are packed by source in `target`. A vertex joins the `queue`, (V,), of `num_queued` so
    far, when the last of its predecessors leaves it; `num_unplaced_before`, (V,), counts those that
    have not left. `depths`, (V,), are known for queued vertices, and are filled for all others that
    no cycle leads to.
    """
    first = 0
    while first < num_queued:
        vertex = queue[first]
        first += 1
        for edge in segment(edge_offsets, vertex):
            successor = target[edge]
            num_unplaced_before[successor] -= 1
            if num_unplaced_before[successor] == 0:
                depths[successor] = depths[vertex] + 1
                queue[num_queued] = successor
                num_queued += 1
