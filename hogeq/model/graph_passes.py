"""Passes over any graph by the interpreting kernels, in double precision."""

from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.graph.graph import NATURE, Graph
from hogeq.graph.levels import levels_of, spans
from hogeq.kernels.arrays import (
    ASCEND,
    COUNTERFACTUAL,
    COURSE,
    EVALUATE,
    FULL_MEMORY,
    IMPROVE,
    LEAVE,
    MOST_DENSE,
    NO_CHOICE,
    STALE,
    STAY,
    STEP,
    Lists,
    Loop,
    Scratch,
)
from hogeq.support.aliases import Floats, Ints, matrix_type

NO_MIRROR = np.zeros(0, np.int32)  # in place of mirrors, if positions have none
VECTOR = len(STEP)  # numbers that a kernel takes at a time
PLAIN, SMALL, LARGE = range(3)  # kinds of blocks: that do not recur, with few states, with many
SLICE = 4e9  # operations on small blocks, about, before a kernel returns and can be interrupted


def _whole_vectors(lanes: Any) -> Any:
    """Round numbers of lanes up to whole vectors."""
    return (lanes + VECTOR - 1) // VECTOR * VECTOR


class _ActionWays(NamedTuple):
    """The ways of a graph, each split by the actions that play by it: W new ways."""

    original: Ints  # (W,) number of the way in the graph
    action: Ints  # (W,) action that plays by it
    number: Ints  # (S, H, K) of the way by which an action plays; of no action that of the first


@lru_cache(maxsize=4)
def lists_of(graph: Graph) -> Lists:
    """Put a graph into the order of a pass: blocks, ways of one action each, padded lanes."""
    situations, _, _ = graph.way.shape
    legal = np.asarray((graph.way >= 0).all(axis=1))  # (S, K)
    ways = _split_by_action(graph, legal)
    num_ways = len(ways.original)
    first_outcome, last_outcome = graph.first[ways.original], graph.first[ways.original + 1]
    outcomes = spans(first_outcome, last_outcome)
    first = np.append(0, np.cumsum(last_outcome - first_outcome))  # of the new ways
    end = graph.end[outcomes].astype(np.int64)
    labels, lanes = graph.following.shape
    width = int(_whole_vectors(lanes))
    way_lanes, end_lanes = _lane_ranges(ways, graph.lane, first, end, width)
    following = np.zeros((labels, width), np.uint32)
    following[:, :lanes] = graph.following
    # Pairs of a situation and a way that it has; ways are counted in each situation anew.
    pair_of = np.arange(situations)[:, None, None] * num_ways + ways.number  # (S, H, K)
    pairs = np.unique(pair_of)
    ways_start = np.searchsorted(pairs // num_ways, np.arange(situations + 1))
    ways_of_situation = pairs % num_ways
    local_way = np.searchsorted(pairs, pair_of) - ways_start[:-1, None, None]
    slot = (local_way * width + graph.lane[:, None]).transpose(0, 2, 1)
    ends_of_way = np.maximum.reduceat(end, first[:-1]) + 1  # 1 more than the largest number
    mirror = _mirror(graph)
    order, start, recurs = _blocks(graph, mirror)
    return Lists(
        order=order.astype(np.int32),
        start=start,
        recurs=recurs.astype(np.uint8),
        mirror=mirror,
        player=graph.player.copy(),
        row=graph.row.copy(),
        fixed=graph.fixed.copy(),
        situation=graph.situation.copy(),
        slot=slot.astype(np.uint32, order="C"),
        legal=np.asarray(legal, np.uint8),
        ways=ways_of_situation.astype(np.int32),
        ways_start=ways_start,
        ends=np.maximum.reduceat(ends_of_way[ways_of_situation], ways_start[:-1]),
        action=ways.action.astype(np.int32),
        lanes=way_lanes,
        end_lanes=end_lanes,
        following=following,
        first=first,
        chance=graph.chance[outcomes],
        end=end,
        base=graph.place.astype(np.int64),
        next=graph.next.copy(),
        label=graph.label.astype(np.uint16),
    )


def _split_by_action(graph: Graph, legal: NDArray[np.bool_]) -> _ActionWays:
    """Make one way of each pair of a way and an action; `legal` (S, K) says which actions exist."""
    actions = graph.num_actions
    exists = graph.way >= 0  # (S, H, K)
    pair_of = graph.way.astype(np.int64) * actions + np.arange(actions)  # way, then action
    pairs, index = np.unique(pair_of, return_inverse=True)
    existing = np.flatnonzero(np.isin(pairs, pair_of[exists]))
    number = np.searchsorted(existing, index.reshape(graph.way.shape))
    first_action = legal.argmax(axis=1)  # stands for actions that do not exist
    way_of_first = np.take_along_axis(number, first_action[:, None, None], axis=2)
    number = np.where(exists, number, way_of_first)
    return _ActionWays(pairs[existing] // actions, pairs[existing] % actions, number)


def _lane_ranges(
    ways: _ActionWays, lane: NDArray[np.int32], first: Ints, end: Ints, width: int
) -> tuple[Ints, Ints]:
    """Find the lanes, first and past the last, in which each way and each end can be.

    Arrays (W, 2) and (E, 2). `lane` (H,) is that of each memory, `width` the padded number of
    lanes; way w has the ends ``end[first[w]:first[w + 1]]``.
    """
    num_ways = len(ways.original)
    can_be_in = np.zeros((num_ways, width), bool)
    can_be_in[ways.number, lane[:, None]] = True
    low = can_be_in.argmax(axis=1)
    high = width - can_be_in[:, ::-1].argmax(axis=1)
    way_of_outcome = np.repeat(np.arange(num_ways), np.diff(first))
    end_lanes = np.repeat([[width, 0]], int(end.max()) + 1, axis=0)
    np.minimum.at(end_lanes[:, 0], end, low[way_of_outcome])
    np.maximum.at(end_lanes[:, 1], end, high[way_of_outcome])
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
    """Sort sets of positions into levels by the turns between them.

    `joined` (C,) is the number of each position's set. Sets that lead to each other have one level.
    Returns each position's level, (C,), and whether a turn leads from this level to itself, (C,).
    """
    num_sets = int(joined.max()) + 1
    lowest = np.full(num_sets, len(graph.level))  # level of the graph
    highest = np.zeros(num_sets, np.int64)
    np.minimum.at(lowest, joined, graph.level_of)
    np.maximum.at(highest, joined, graph.level_of)
    # Levels of the graph are a rank, that never falls, if no set is in two of them.
    rank = lowest if (lowest == highest).all() else np.zeros(num_sets, np.int64)
    successor = graph.next[graph.ends.entry]
    goes_on = successor >= 0  # else play ends
    source = joined[graph.ends.position[goes_on]]
    target = joined[successor[goes_on]]
    levels = levels_of(rank, source, target)
    level_of_set = np.zeros(num_sets, np.int64)
    level_numbers = np.arange(len(levels.start) - 1)
    level_of_set[levels.order] = np.repeat(level_numbers, np.diff(levels.start))
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
    """Whether `ends` of turns at positions, (n,), and at the ones after them are mirrored."""
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


def _without_mirrors(lists: Lists) -> Lists:
    """Leave out positions of player 1: turns that lead to one lead to its mirror instead."""
    is_included = lists.player[lists.order] != 1
    num_before = np.append(0, np.cumsum(is_included))[lists.start]  # positions before each block
    has_positions = np.diff(num_before) > 0  # of blocks
    positions = np.arange(len(lists.player), dtype=np.int32)
    target = np.where(lists.player == 1, lists.mirror, positions)
    # Entries of `next` below 0 are payoffs, and index from the end: they stay what they are.
    payoffs = np.arange(lists.next.min(initial=0), 0, dtype=np.int32)
    target = np.append(target, payoffs)
    return lists._replace(
        order=lists.order[is_included],
        start=np.append(num_before[:-1][has_positions], num_before[-1]),
        recurs=lists.recurs[has_positions],
        next=target[lists.next],
    )


class Run(NamedTuple):
    """Blocks side by side, of one kind: from `first`, below `last`."""

    first: int
    last: int
    kind: int  # PLAIN, SMALL or LARGE


def _runs(lists: Lists, memories: int) -> list[Run]:
    """Cut the blocks of a pass into runs of one kind; small blocks also by what they may take."""
    states = np.diff(lists.start) * memories  # of each block
    kind_if_recurs = np.where(states <= MOST_DENSE, SMALL, LARGE)
    kind = np.where(lists.recurs > 0, kind_if_recurs, PLAIN)
    # A row for each state at most, and an elimination, a cube of states, for each row.
    operations = np.where(kind == SMALL, states.astype(np.float64) ** 4, 0.0)
    slice_number = np.cumsum(operations) // SLICE
    is_cut = (np.diff(kind) != 0) | (np.diff(slice_number) != 0)
    bounds = [0, *(np.flatnonzero(is_cut) + 1).tolist(), len(kind)]
    return [Run(first, last, int(kind[first])) for first, last in pairwise(bounds)]


def scratch_for(lists: Lists, matches: int) -> Scratch:
    """Make fresh arrays for passes against so many opponents."""
    lanes = lists.following.shape[1]
    num_slots = int(np.diff(lists.ways_start).max()) * lanes  # of the ways of a situation
    ends = len(lists.end_lanes) * lanes
    return Scratch(
        rolled=np.zeros((matches, num_slots)),
        ends=np.zeros(ends),
        masses=np.zeros(num_slots),
        flows=np.zeros(ends),
        error=np.zeros(1),
    )


def _loop(graph: Graph, lists: Lists, me: int) -> Loop:
    """Make the arrays for blocks that recur, in a pass of the player `me`."""
    block = np.full(graph.positions, -1)
    member = np.zeros(graph.positions, np.int64)
    leads = np.zeros(graph.positions, np.uint8)
    for number in np.flatnonzero(lists.recurs):
        positions = lists.order[lists.start[number] : lists.start[number + 1]]
        block[positions] = number
        member[positions] = np.arange(len(positions))
        rows = np.stack([lists.player[positions], lists.row[positions]])
        _, first_of_row = np.unique(rows, axis=1, return_index=True)
        leads[positions[first_of_row]] = 1
    states = np.diff(lists.start)[lists.recurs > 0] * graph.memories
    largest_small = int(states[states <= MOST_DENSE].max(initial=0))
    shape = graph.positions, graph.memories
    endless = float(graph.payoff[0] if graph.endless is None else graph.endless)
    return Loop(
        block=block,
        member=member,
        leads=leads,
        endless=endless if me == 0 else graph.total - endless,
        size=float(np.abs(graph.paid).max()),
        matrix=np.zeros((largest_small, largest_small)),
        gain=np.zeros(largest_small),
        leave=np.zeros(largest_small),
        pivot=np.zeros(largest_small),
        before=np.zeros(graph.num_actions),
        turns=np.zeros(shape),
        course=np.zeros(COURSE),
        fresh=np.zeros(graph.memories),
        nothing=np.zeros(len(graph.payoff)),
        no_choice=np.full(shape, NO_CHOICE, matrix_type(graph.num_actions)),
    )


def _in_slices(kernel: Any, lists: Lists, loop: Loop | None, block: int, *arrays: Any) -> None:
    """Call a kernel until it is done with a block; between calls it can be interrupted."""
    is_done = kernel(lists, loop, block, True, *arrays)
    while not is_done:
        is_done = kernel(lists, loop, block, False, *arrays)


class GraphPasses:
    """Values and reach of every state of a graph, for one player against n opponents.

    - `values` (n, C, H): payoffs to that player, `me`.
    - `reach` (n, C, H), `row_reach` (n, R): probabilities or expected visits.
    - `action_values` (R, K): counterfactual values, -inf where there is no action.
    - `choice` (C, H): best actions, of FULL_MEMORY.

    Policies are (1 + n, R, K), the player's first. One alone is self-play; `use_mirrors` then
    values only one of two mirrored positions. Policies may have more `rows` than the graph. `order`
    is one of positions that is better for a cache: all that follows a position comes later, and
    none recurs.
    """

    def __init__(
        self,
        graph: Graph,
        matches: int = 1,
        me: int = 0,
        *,
        use_mirrors: bool = False,
        rows: int | None = None,
        order: Ints | None = None,
    ) -> None:
        num_rows = graph.rows if rows is None else rows
        self.graph = graph
        self.me = me
        self.use_mirrors = use_mirrors
        self.lists = lists_of(graph)
        if order is not None:
            self.lists = self.lists._replace(order=order.astype(np.int32))
        states = matches, graph.positions, graph.memories
        self.values = np.zeros(states)
        self.reach = np.zeros(states)
        self.choice = np.zeros(states[1:], matrix_type(graph.num_actions))
        self.action_values = np.zeros((num_rows, graph.num_actions))
        self.row_reach = np.zeros((matches, num_rows))
        self._total_row_reach = np.zeros(num_rows)  # of the mixture of opponents
        self.payoff = graph.payoff.copy() if me == 0 else graph.total - graph.payoff
        self._scratch = scratch_for(self.lists, matches)
        self._runs = _runs(self.lists, graph.memories)
        self._loop = _loop(graph, self.lists, me) if self.lists.recurs.any() else None

    @cached_property
    def _forward_arrays(self) -> tuple[Lists, list[Run], Loop | None]:
        """Arrays of a pass forward, which may leave out one of two mirrored positions."""
        if not self.use_mirrors:
            return self.lists, self._runs, self._loop
        lists = _without_mirrors(self.lists)
        loop = None if self._loop is None else _loop(self.graph, lists, self.me)
        return lists, _runs(lists, self.graph.memories), loop

    def forward(self, policies: Floats, entering: Floats | None = None) -> Floats:
        """Fill `reach` and `row_reach`, and return the latter.

        `entering` (n, C, H), of zeros, gets the reach with which play comes into the states of each
        block that recurs, before it goes round there.
        """
        from hogeq.kernels import graph_loops, graph_passes

        self.reach.fill(0.0)
        self.row_reach.fill(0.0)
        lists, runs, loop = self._forward_arrays
        if loop is not None:
            loop.turns.fill(0.0)  # of a pass that was interrupted
        starts = zip(self.graph.start, self.graph.start_chance, strict=True)
        for (position, memory), chance in starts:
            is_left_out = self.use_mirrors and self.graph.player[position] == 1
            visited = lists.mirror[position] if is_left_out else position
            self.reach[:, visited, memory] += chance
        for match, (reach, row_reach) in enumerate(zip(self.reach, self.row_reach, strict=True)):
            match_policies = policies if len(policies) <= 2 else policies[[0, match + 1]]
            arrays = self.me, match_policies, reach, row_reach, self._scratch
            for first, last, kind in runs:
                if kind == PLAIN:
                    graph_passes.forward(lists, first, last, *arrays)
                elif kind == SMALL and entering is None:
                    graph_loops.visit(lists, loop, first, last, *arrays)
                else:
                    for block in range(first, last):
                        if entering is not None:
                            positions = lists.order[lists.start[block] : lists.start[block + 1]]
                            entering[match, positions] = reach[positions]
                        if kind == SMALL:
                            graph_loops.visit(lists, loop, block, block + 1, *arrays)
                        else:
                            _in_slices(graph_loops.circulate, lists, loop, block, *arrays)
        return self.row_reach

    def backward(
        self,
        role: int,
        policies: Floats,
        weights: Floats,
        temperature: float = 1.0,
        damping: float = 1.0,
        *,
        both_respond: bool = False,
    ) -> tuple[Floats, int]:
        """Value all states with the player acting by its role; fill `values`.

        COUNTERFACTUAL, ASCEND and SOFTMAX fill `action_values` too, weighted by `reach`, and the
        last two set the player's rows. In FULL_MEMORY the player takes its best actions, in
        `choice`, and if `both_respond` the other too. `weights` (n,) are the probabilities of the
        opponents. Returns values at the starts, (n, starts), and how many rows ASCEND changed.
        """
        from hogeq.kernels import graph_loops, graph_passes

        self._scratch.error[0] = 0.0
        before = policies[0].copy()
        responders = 0
        if role == FULL_MEMORY:
            responders = 2 if both_respond else 1
        total = float(self.graph.total)
        how = int(role), float(temperature), float(damping), self.me, self.use_mirrors, total
        filled = self.action_values, self._total_row_reach
        arrays = policies, weights, self.payoff, self.reach, self.values, filled, self._scratch
        loop = self._loop
        for run in reversed(self._runs):
            if role in {EVALUATE, FULL_MEMORY}:
                self._value(run, policies, responders)
            elif run.kind == PLAIN or loop is None:  # None if no block recurs
                graph_passes.act(self.lists, run.first, run.last, how, *arrays)
            elif run.kind == SMALL:
                graph_loops.settle(self.lists, loop, run.first, run.last, how, *arrays)
            else:
                for block in reversed(range(run.first, run.last)):
                    self._settle_large(loop, block, how, *arrays)
        changes = (policies[0] != before).any(axis=-1).sum() if role == ASCEND else 0
        position, memory = self.graph.start.T
        return self.values[:, position, memory], int(changes)

    def value_changes(
        self, policies: Floats, weights: Floats, after: Floats, gains: Floats
    ) -> None:
        """Fill `gains` (R,), of payoff: by each row's change to its row in `after` (R, K) alone.

        Only of rows in blocks that recur; others, which a play meets once, stay as they are. A
        row's change moves neither the flow into its block nor the values of later blocks, so it
        gains the flow times the change of the block's values.
        """
        lists, changed, entering = self.lists, policies.copy(), np.zeros_like(self.reach)
        self.forward(policies, entering)
        self.backward(EVALUATE, policies, weights)
        own = lists.player == self.me
        is_new = own.copy()  # (C,) positions whose rows change
        is_new[own] = (after != policies[0]).any(axis=1)[lists.row[own]]
        blocks = [(run.kind, block) for run in self._runs for block in range(run.first, run.last)]
        for kind, block in blocks:
            positions = lists.order[lists.start[block] : lists.start[block + 1]]
            flow, before = entering[:, positions], self.values[:, positions]
            if not flow.any():  # of blocks that do not recur it is not kept
                continue
            for row in set(lists.row[positions[is_new[positions]]].tolist()):
                changed[0, row] = after[row]
                self._value(Run(block, block + 1, kind), changed, 0)
                gains[row] = weights @ (flow * (self.values[:, positions] - before)).sum((1, 2))
                changed[0, row] = policies[0, row]
            self.values[:, positions] = before

    def _settle_large(self, loop: Loop, block: int, how: tuple[Any, ...], *arrays: Any) -> None:
        """Value a large block, and set its rows one by one as the role has it.

        `how` and `arrays` are as of :func:`hogeq.kernels.graph_passes.act`.
        """
        from hogeq.kernels import graph_loops

        lists, (policies, *_) = self.lists, arrays
        role = how[0]
        bounds = role == COUNTERFACTUAL  # rows then stay, so that the last values are the result
        goes_on = graph_loops.settle_large(lists, loop, block, True, how, *arrays)
        while goes_on:
            if loop.course[STALE]:
                for match in range(len(self.values)):
                    self._iterate(block, (self.me, policies, match), loop.no_choice, bounds=bounds)
            goes_on = graph_loops.settle_large(lists, loop, block, False, how, *arrays)

    def _iterate(
        self, block: int, played: tuple[int, Floats, int], choice: NDArray[Any], *, bounds: bool
    ) -> None:
        """Value a large block by value iteration; if `bounds`, also bound what it misses.

        `played` is the player, the policies and the number of the opponent. States act by their
        rows, or if they have a `choice` (C, H) by the best action.
        """
        from hogeq.kernels import graph_loops

        _, _, match = played
        arrays = *played, choice, self.values[match], self.payoff, bounds, self._scratch
        _in_slices(graph_loops.iterate, self.lists, self._loop, block, *arrays)

    def _value(self, run: Run, policies: Floats, responders: int) -> None:
        """Value a run of blocks under `policies` (1 + n, R, K), or with best actions.

        All act by their rows if there are no `responders`; of one the player `me` takes its best
        actions, of two both players do.
        """
        from hogeq.kernels import graph_loops, graph_passes

        lists, loop, scratch = self.lists, self._loop, self._scratch
        if run.kind == PLAIN or loop is None:  # None if no block recurs
            total = float(self.graph.total)
            how = self.me, responders >= 1, responders == 2, self.use_mirrors, total
            arrays = policies, self.payoff, self.values, self.choice, scratch
            graph_passes.value(lists, run.first, run.last, how, *arrays)
            return
        blocks_backward = range(run.last - 1, run.first - 1, -1)
        for match, values in enumerate(self.values):
            played = self.me, policies, match
            arrays_of_match = loop.no_choice, values, self.payoff
            if responders:
                for block in blocks_backward:
                    self._optimise(run, block, played, both_respond=responders == 2)
            elif run.kind == SMALL:
                graph_loops.solve(lists, loop, run.first, run.last, *played, *arrays_of_match)
            else:
                for block in blocks_backward:
                    self._iterate(block, played, loop.no_choice, bounds=True)

    def _optimise(
        self, run: Run, block: int, played: tuple[int, Floats, int], *, both_respond: bool
    ) -> None:
        """Find best actions in a block that recurs: policy iteration, or if large value iteration.

        1. Begin with the actions that stay in the block most.
        2. A small block: value it, improve the player's actions, until none improves. If both
           choose, the other answers best before the player improves (Hoffman and Karp 1966).
        3. At the end take actions that leave the block, where these are as good.

        `played` is the player, the policies and the number of the opponent.
        """
        from hogeq.kernels import graph_loops

        me, _, match = played
        lists, loop, scratch = self.lists, self._loop, self._scratch
        filled = self.choice, self.values[match], self.payoff
        self.choice[lists.order[lists.start[block] : lists.start[block + 1]]] = NO_CHOICE
        players = [1 - me, me] if both_respond else [me]

        def choose(player: int, aim: int) -> bool:
            return bool(graph_loops.choose(lists, loop, block, me, player, aim, *filled, scratch))

        for player in players:
            choose(player, STAY)  # changes `self.choice`, as every call
        if run.kind == SMALL:
            improves = True
            while improves:
                graph_loops.solve(lists, loop, block, block + 1, *played, *filled)
                # The player improves only where the other no longer does.
                improves = any(choose(player, IMPROVE) for player in players)
        else:
            self._iterate(block, played, self.choice, bounds=True)
        for player in players:
            choose(player, LEAVE)

    @property
    def error(self) -> float:
        """Bound on what iteration of positions that recur may have missed in the last pass."""
        return float(self._scratch.error[0])
