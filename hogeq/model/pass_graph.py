"""A graph in the order of a pass: blocks of positions, ways of one action each, padded lanes."""

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.graph.graph import NATURE, Graph
from hogeq.graph.levels import distinct, levels_of, spans
from hogeq.kernels.arrays import STEP, PassGraph
from hogeq.support.aliases import Ints

NO_MIRROR = np.zeros(0, np.int32)  # in place of mirrors, if positions have none
VECTOR = len(STEP)  # numbers that a kernel takes at a time


def _whole_vectors(lanes: Any) -> Any:
    """Round numbers of lanes up to whole vectors."""
    return (lanes + VECTOR - 1) // VECTOR * VECTOR


class _ActionWays(NamedTuple):
    """The ways of a graph, each split by the actions that play by it: W new ways."""

    original: Ints  # (W,) number of the way in the graph
    action: Ints  # (W,) action that plays by it
    # (S, H, K), which new way an action plays in a situation and memory; of an action that does not
    # exist, the way of the first that does.
    number: Ints


@lru_cache(maxsize=4)
def pass_graph_of(graph: Graph) -> PassGraph:
    """Put a graph of a game into the arrays that passes over it read, :class:`PassGraph`.

    A state of the game is a position and one of H memories, hidden from the other player. What an
    action does in a state is said by these:

    - A situation is a kind of position. It and the memory decide the way of each action.
    - A way is a distribution over the ends of a turn. Here each is played by one action alone.
    - An end leads to a position, and by its label and the lane to a memory. A lane is a class of
      memories from which each label leads to the same one; lanes are padded to whole vectors.

    A slot is the number of a way in its situation, times the padded number of lanes, plus a lane:
    so a turn's value has an index in the memories that share it. Blocks are sets of positions that
    are valued together, in the order of play.
    """
    is_legal = np.asarray((graph.way >= 0).all(axis=1))  # (S, K)
    ways = _split_by_action(graph, is_legal)
    num_ways = len(ways.original)
    outcomes, outcome_start = _outcomes_of(graph, ways)
    outcome_end = graph.end[outcomes].astype(np.int64)
    labels, lanes = graph.following.shape
    width = int(_whole_vectors(lanes))
    way_lanes, end_lanes = _lane_ranges(ways, graph.lane, outcome_start, outcome_end, width)
    next_memory = np.zeros((labels, width), np.uint32)
    next_memory[:, :lanes] = graph.following
    situation_start, situation_ways, local_way = _ways_by_situation(ways.number, num_ways)
    action_slot = (local_way * width + graph.lane[:, None]).transpose(0, 2, 1)  # (S, K, H)
    # How many ends a way, and a situation, can have: 1 more than the largest number of one.
    ends_of_way = np.maximum.reduceat(outcome_end, outcome_start[:-1]) + 1
    num_ends = np.maximum.reduceat(ends_of_way[situation_ways], situation_start[:-1])
    mirror_position = _mirror(graph)
    position_order, block_start, block_recurs = _blocks(graph, mirror_position)
    return PassGraph(
        position_order=position_order.astype(np.int32),
        block_start=block_start,
        block_recurs=block_recurs.astype(np.uint8),
        mirror_position=mirror_position,
        player=graph.player.copy(),
        row=graph.row.copy(),
        nature_policy=graph.fixed.copy(),
        situation=graph.situation.copy(),
        action_slot=action_slot.astype(np.uint32, order="C"),
        is_legal=np.asarray(is_legal, np.uint8),
        situation_ways=situation_ways.astype(np.int32),
        situation_start=situation_start,
        num_ends=num_ends,
        way_action=ways.action.astype(np.int32),
        way_lanes=way_lanes,
        end_lanes=end_lanes,
        next_memory=next_memory,
        outcome_start=outcome_start,
        outcome_chance=graph.chance[outcomes],
        outcome_end=outcome_end,
        end_start=graph.place.astype(np.int64),
        next_position=graph.next.copy(),
        end_label=graph.label.astype(np.uint16),
    )


def _split_by_action(graph: Graph, is_legal: NDArray[np.bool_]) -> _ActionWays:
    """Make one way of each pair of a way (an outcome distribution) and an action that plays it.

    `is_legal`, (S, K), marks the actions of each kind of position.
    """
    actions = graph.num_actions
    exists = graph.way >= 0  # (S, H, K)
    pair_of = graph.way.astype(np.int64) * actions + np.arange(actions)  # way, then action
    pairs, index = np.unique(pair_of, return_inverse=True)
    existing = np.flatnonzero(np.isin(pairs, pair_of[exists]))
    number = np.searchsorted(existing, index.reshape(graph.way.shape))
    first_action = is_legal.argmax(axis=1)  # stands for actions that do not exist
    way_of_first = np.take_along_axis(number, first_action[:, None, None], axis=2)
    number = np.where(exists, number, way_of_first)
    return _ActionWays(pairs[existing] // actions, pairs[existing] % actions, number)


def _outcomes_of(graph: Graph, ways: _ActionWays) -> tuple[Ints, Ints]:
    """List the outcomes of each new way, one way after another, by their numbers in the graph.

    And where those of each way begin, (W + 1,).
    """
    first, last = graph.first[ways.original], graph.first[ways.original + 1]
    return spans(first, last), np.append(0, np.cumsum(last - first))


def _ways_by_situation(number: Ints, num_ways: int) -> tuple[Ints, Ints, Ints]:
    """List the ways that actions play by in each situation, a kind of position, ascending.

    `number` (S, H, K) is the way, one of `num_ways`, of each action in each memory. Returns where
    the ways of each situation begin, (S + 1,); the ways, one situation after another; and which of
    its situation's ways each action plays by, (S, H, K).
    """
    situations = len(number)
    pair_of = np.arange(situations)[:, None, None] * num_ways + number  # situation, then way
    pairs = distinct(pair_of)
    start = np.searchsorted(pairs // num_ways, np.arange(situations + 1))
    local_number = np.searchsorted(pairs, pair_of) - start[:-1, None, None]
    return start, pairs % num_ways, local_number


def _lane_ranges(
    ways: _ActionWays, lane: NDArray[np.int32], outcome_start: Ints, outcome_end: Ints, width: int
) -> tuple[Ints, Ints]:
    """Find the lanes, first and past the last, in which each way and each end can be.

    A lane is a class of memories that hand on the same; a way (a distribution over ends of a turn)
    is in those of the memories that play it. Arrays (W, 2) and (E, 2). `lane` (H,) is that of each
    memory, `width` the padded number of lanes; the outcomes of way w begin at ``outcome_start[w]``.
    """
    num_ways = len(ways.original)
    can_be_in = np.zeros((num_ways, width), bool)
    can_be_in[ways.number, lane[:, None]] = True
    low = can_be_in.argmax(axis=1)
    high = width - can_be_in[:, ::-1].argmax(axis=1)
    way_of_outcome = np.repeat(np.arange(num_ways), np.diff(outcome_start))
    end_lanes = np.repeat([[width, 0]], int(outcome_end.max()) + 1, axis=0)
    np.minimum.at(end_lanes[:, 0], outcome_end, low[way_of_outcome])
    np.maximum.at(end_lanes[:, 1], outcome_end, high[way_of_outcome])
    # Kernels take a way's lanes by whole vectors from its first on, within the padded ones.
    low -= np.maximum(0, low + _whole_vectors(high - low) - width)
    return np.stack([low, high], axis=1), end_lanes


def _blocks(graph: Graph, mirror: NDArray[np.int32]) -> tuple[Ints, Ints, NDArray[np.bool_]]:
    """Sort positions into blocks: order (C,), where each begins (B + 1,), and which recur (B,).

    A block has the positions of one row of a player, or of nature one. Blocks that lead to each
    other, or to themselves, are one that recurs; it has the mirrors of its positions, too.
    """
    positions = np.arange(graph.positions)
    # A key for each row of a player, and for each position of nature.
    row_of_player = graph.player.astype(np.int64) * graph.rows + graph.row
    key = np.where(graph.player != NATURE, row_of_player, 2 * graph.rows + positions)
    _, group = np.unique(key, return_inverse=True)  # (C,) the block, if it does not recur
    num_groups = int(group.max()) + 1
    if num_groups == graph.positions and not graph.recurring.any():
        return positions, np.arange(graph.positions + 1), np.zeros(graph.positions, bool)
    joined = group.copy()  # (C,) a group together with its mirror
    if len(mirror):
        _, joined = np.unique(np.minimum(group, group[mirror]), return_inverse=True)
    component, recurs = _joined_components(graph, joined)
    block_key = np.where(recurs, num_groups, group)  # a component that recurs is one block
    order = np.lexsort((positions, block_key, component))
    is_first = np.diff(block_key[order], prepend=-1) | np.diff(component[order], prepend=-1)
    start = np.flatnonzero(is_first)
    return order, np.append(start, graph.positions), recurs[order[start]]


def _joined_components(graph: Graph, joined: Ints) -> tuple[Ints, NDArray[np.bool_]]:
    """Sort sets of positions into levels in the order of play: no turn leads to an earlier level.

    `joined` (C,) is the number of each position's set. Sets that turns lead to and fro between, a
    strongly connected component, are one level; see :func:`hogeq.graph.levels.levels_of`.

    Returns each position's level, (C,), and whether a turn leads from this level to itself, (C,).
    """
    num_sets = int(joined.max()) + 1
    lowest = np.full(num_sets, len(graph.level))  # level of the graph
    highest = np.zeros(num_sets, np.int64)
    np.minimum.at(lowest, joined, graph.level_of)
    np.maximum.at(highest, joined, graph.level_of)
    # Levels of the graph are a rank that never falls along a turn, if no set is in two of them.
    rank = lowest if (lowest == highest).all() else np.zeros(num_sets, np.int64)
    successor = graph.next[graph.ends.entry]
    goes_on = successor >= 0  # else play ends
    source = joined[graph.ends.position[goes_on]]
    target = joined[successor[goes_on]]
    level_of_set = levels_of(rank, source, target)
    stays = level_of_set[source] == level_of_set[target]
    recurring = np.unique(level_of_set[source[stays]])
    return level_of_set[joined], np.isin(level_of_set, recurring)[joined]


def _mirror(graph: Graph) -> NDArray[np.int32]:
    """Return each position's mirror, (C,), in which the players are exchanged; (0,) if none.

    Mirrors are looked for side by side, as those of Hog with one goal lie: 2 i of player 0 and
    2 i + 1 of player 1. All that is the same for both, or exchanged, is compared.
    """
    even, odd = slice(0, None, 2), slice(1, None, 2)
    if graph.positions % 2 or (graph.player[even] != 0).any() or (graph.player[odd] != 1).any():
        return NO_MIRROR
    for array in (graph.row, graph.situation):
        if (array[even] != array[odd]).any():
            return NO_MIRROR
    begin, ends = graph.ends_of_situation
    for situation in range(len(begin) - 1):
        positions = 2 * np.flatnonzero(graph.situation[even] == situation)
        ends_of_situation = ends[begin[situation] : begin[situation + 1]]
        if len(positions) and not _are_mirrored(graph, positions, ends_of_situation):
            return NO_MIRROR
    positions, memories = graph.start.T.tolist()
    starts = {*zip(positions, memories, graph.start_chance.tolist(), strict=True)}
    # The mirror of position x is x ^ 1: 2 i and 2 i + 1 change places.
    if starts != {(position ^ 1, memory, chance) for position, memory, chance in starts}:
        return NO_MIRROR
    if graph.endless is not None and 2.0 * graph.endless != graph.total:
        return NO_MIRROR
    return np.arange(graph.positions, dtype=np.int32) ^ 1


def _are_mirrored(graph: Graph, positions: Ints, ends: Ints) -> bool:
    """Whether turns at positions, (n,), and at their mirrors end alike, with the players exchanged.

    The mirror of an even position is the next one. Each of the `ends` then leads both to mirrored
    positions with one label, or to payoffs that sum to the total.
    """
    entry = graph.place[positions, None] + ends  # (n, ends)
    mirror_entry = graph.place[positions + 1, None] + ends
    after, mirror_after = graph.next[entry], graph.next[mirror_entry]
    goes_on = after >= 0
    if (goes_on != (mirror_after >= 0)).any() or (goes_on & (mirror_after != after ^ 1)).any():
        return False
    if (goes_on & (graph.label[entry] != graph.label[mirror_entry])).any():
        return False
    # Below 0 stands -1 - t for payoff t.
    payoff_sums = graph.payoff[-1 - after[~goes_on]] + graph.payoff[-1 - mirror_after[~goes_on]]
    return bool((payoff_sums == graph.total).all())


def without_mirrors(pass_graph: PassGraph) -> PassGraph:
    """Leave out positions of player 1: turns that lead to one lead to its mirror instead.

    The mirror of a position is the one with the players exchanged. For self-play, in which both
    players follow one policy.
    """
    is_included = pass_graph.player[pass_graph.position_order] != 1
    num_included = np.append(0, np.cumsum(is_included))
    num_before = num_included[pass_graph.block_start]  # positions before each block
    has_positions = np.diff(num_before) > 0  # of blocks
    positions = np.arange(len(pass_graph.player), dtype=np.int32)
    target = np.where(pass_graph.player == 1, pass_graph.mirror_position, positions)
    # Entries of `next_position` below 0 are payoffs, and index from the end: they stay as they are.
    payoffs = np.arange(pass_graph.next_position.min(initial=0), 0, dtype=np.int32)
    target = np.append(target, payoffs)
    return pass_graph._replace(
        position_order=pass_graph.position_order[is_included],
        block_start=np.append(num_before[:-1][has_positions], num_before[-1]),
        block_recurs=pass_graph.block_recurs[has_positions],
        next_position=target[pass_graph.next_position],
    )
