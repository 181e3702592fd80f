"""Passes over any graph by the interpreting kernels, in double precision."""

from functools import cached_property, lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.graph.graph import NATURE, Graph
from hogeq.graph.levels import levels_of, spans
from hogeq.kernels.arrays import (
    ASCEND,
    EVALUATE,
    FULL_MEMORY,
    IMPROVE,
    LEAVE,
    MOST_DENSE,
    NO_CHOICE,
    STAY,
    STEP,
    Lists,
    Loop,
    Scratch,
)
from hogeq.support.aliases import Floats, Ints, matrix_type

NONE = np.zeros(0, np.int32)
PLAIN, SMALL, LARGE = range(3)  # kinds of blocks: that do not recur, with few states, with many


@lru_cache(maxsize=4)
def lists_of(graph: Graph) -> Lists:
    """Put a graph into the order of a pass."""
    situations, _, actions = graph.way.shape
    exists = graph.way >= 0
    legal = exists.all(axis=1)
    # Each way is of one action.
    key = graph.way.astype(np.int64) * actions + np.arange(actions)
    keys, number = np.unique(key, return_inverse=True)
    there = np.flatnonzero(np.isin(keys, key[exists]))
    old, action = keys[there] // actions, keys[there] % actions
    way = np.searchsorted(there, number.reshape(graph.way.shape))
    chosen = legal.argmax(axis=1)  # stands for actions that do not exist
    way = np.where(exists, way, np.take_along_axis(way, chosen[:, None, None], axis=2))
    outcomes = spans(graph.first[old], graph.first[old + 1])
    first = np.append(0, np.cumsum(graph.first[old + 1] - graph.first[old]))
    end = graph.end[outcomes].astype(np.int64)

    lanes = graph.following.shape[1]
    width = -(-lanes // len(STEP)) * len(STEP)
    can = np.zeros((len(old), width), bool)
    can[way, graph.lane[:, None]] = True
    ranges = np.stack([can.argmax(axis=1), width - can[:, ::-1].argmax(axis=1)], axis=1)
    end_lanes = np.repeat([[width, 0]], int(end.max()) + 1, axis=0)
    way_of = np.repeat(np.arange(len(old)), np.diff(first))
    np.minimum.at(end_lanes[:, 0], end, ranges[way_of, 0])
    np.maximum.at(end_lanes[:, 1], end, ranges[way_of, 1])
    # Lanes are taken a vector at a time, which must not reach beyond a way's own.
    whole = -(-(ranges[:, 1] - ranges[:, 0]) // len(STEP)) * len(STEP)
    ranges[:, 0] -= np.maximum(0, ranges[:, 0] + whole - width)
    following = np.zeros((len(graph.following), width), np.uint32)
    following[:, :lanes] = graph.following

    pairs = np.unique(np.arange(situations)[:, None, None] * len(old) + way)
    most = np.maximum.reduceat(end, first[:-1]) + 1
    begins = np.searchsorted(pairs // len(old), np.arange(situations + 1))
    used = pairs % len(old)
    # Ways are counted in each situation anew.
    local = np.searchsorted(pairs, np.arange(situations)[:, None, None] * len(old) + way)
    local -= begins[:-1, None, None]
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
        place=(local * width + graph.lane[:, None]).transpose(0, 2, 1).astype(np.uint32, order="C"),
        legal=np.asarray(legal, np.uint8),
        ways=used.astype(np.int32),
        ways_start=begins,
        ends=np.maximum.reduceat(most[used], begins[:-1]),
        action=action.astype(np.int32),
        lanes=ranges,
        end_lanes=end_lanes,
        following=following,
        first=first,
        chance=graph.chance[outcomes],
        end=end,
        base=graph.place.astype(np.int64),
        next=graph.next.copy(),
        label=graph.label.astype(np.uint16),
    )


def _blocks(graph: Graph, mirror: NDArray[np.int32]) -> tuple[Ints, Ints, NDArray[np.bool_]]:
    """Sort positions into blocks: order, where each begins, and which recur.

    A block has the positions of one row of a player, or of nature one. Blocks that lead to each
    other, or to themselves, are one that recurs; it has the mirrors of its positions, too.
    """
    positions = np.arange(graph.positions)
    moves = graph.player != NATURE
    key = np.where(
        moves, graph.player.astype(np.int64) * graph.rows + graph.row, 2 * graph.rows + positions
    )
    _, group = np.unique(key, return_inverse=True)
    groups, level = int(group.max()) + 1, graph.level_of
    alone = groups == graph.positions
    if alone and not graph.recurring.any():
        return positions, np.arange(graph.positions + 1), np.zeros(graph.positions, bool)
    both = group.copy()
    if len(mirror):
        _, both = np.unique(np.minimum(group, group[mirror]), return_inverse=True)
    sets = int(both.max()) + 1
    low, high = np.full(sets, len(graph.level)), np.zeros(sets, np.int64)
    np.minimum.at(low, both, level)
    np.maximum.at(high, both, level)
    rank = low if (low == high).all() else np.zeros(sets, np.int64)
    source, after = graph.ends.position, graph.next[graph.ends.entry]
    source, target = both[source[after >= 0]], both[after[after >= 0]]
    found = levels_of(rank, source, target)
    # Of those that do not recur each group is a block.
    block_of = np.zeros(sets, np.int64)
    block_of[found.order] = np.repeat(np.arange(len(found.start) - 1), np.diff(found.start))
    inside = block_of[source] == block_of[target]
    recurs = np.isin(block_of, np.unique(block_of[source[inside]]))[both]
    block_of = block_of[both]
    key = np.where(recurs, groups, group)
    order = np.lexsort((positions, key, block_of))
    changes = np.diff(key[order], prepend=-1) | np.diff(block_of[order], prepend=-1)
    start = np.flatnonzero(changes)
    return order, np.append(start, graph.positions), recurs[order[start]]


def _mirror(graph: Graph) -> NDArray[np.int32]:
    """Give each position's mirror, in which the players are exchanged; empty if there is none.

    They are looked for side by side, as those of Hog with one goal lie.
    """
    size = graph.positions
    twin = np.arange(size, dtype=np.int32) ^ 1
    first, second = (array for array in (slice(0, None, 2), slice(1, None, 2)))
    if size % 2 or (graph.player[first] != 0).any() or (graph.player[second] != 1).any():
        return NONE
    for array in (graph.row, graph.situation):
        if (array[first] != array[second]).any():
            return NONE
    begin, ends = graph.ends_of_situation
    if not all(
        _are_mirrored(graph, positions, ends[begin[situation] : begin[situation + 1]])
        for situation in range(len(begin) - 1)
        if len(positions := 2 * np.flatnonzero(graph.situation[first] == situation))
    ):
        return NONE
    states = zip(graph.start.tolist(), graph.start_chance.tolist(), strict=True)
    starts = {(*state, share) for state, share in states}
    turned = {(place ^ 1, memory, share) for place, memory, share in starts}
    even = graph.endless is None or 2.0 * graph.endless == graph.total
    return twin if starts == turned and even else NONE


def _are_mirrored(graph: Graph, positions: Ints, ends: Ints) -> bool:
    """Whether these ends of positions lead to mirrors of where those of the next ones lead."""
    here, there = (graph.place[one, None] + ends for one in (positions, positions + 1))
    after, its = graph.next[here], graph.next[there]
    goes_on = after >= 0
    if (goes_on != (its >= 0)).any() or (goes_on & (its != after ^ 1)).any():
        return False
    if (goes_on & (graph.label[here] != graph.label[there])).any():
        return False
    paid = graph.payoff[-1 - after[~goes_on]] + graph.payoff[-1 - its[~goes_on]]
    return bool((paid == graph.total).all())


def _folded(lists: Lists) -> Lists:
    """Leave out positions of player 1: what comes to one goes to its mirror."""
    stays = lists.player[lists.order] != 1
    before = np.append(0, np.cumsum(stays))[lists.start]
    holds = np.diff(before) > 0
    positions = np.arange(len(lists.player), dtype=np.int32)
    leads = np.where(lists.player == 1, lists.mirror, positions)
    # Payoff t is -1 - t: the last ones, so that they stay what they are.
    leads = np.append(leads, np.arange(lists.next.min(initial=0), 0, dtype=np.int32))
    return lists._replace(
        order=lists.order[stays],
        start=np.append(before[:-1][holds], before[-1]),
        recurs=lists.recurs[holds],
        next=leads[lists.next],
    )


class Run(NamedTuple):
    """Blocks side by side, of one kind."""

    first: int
    last: int
    kind: int  # PLAIN, SMALL or LARGE


def _runs(lists: Lists, memories: int) -> list[Run]:
    """Cut the blocks of a pass into runs."""
    sizes = np.diff(lists.start) * memories
    kind = np.where(lists.recurs > 0, np.where(sizes <= MOST_DENSE, SMALL, LARGE), PLAIN)
    ends = [0, *(np.flatnonzero(np.diff(kind)) + 1).tolist(), len(kind)]
    return [Run(low, high, int(kind[low])) for low, high in pairwise(ends)]


def scratch_for(lists: Lists, matches: int) -> Scratch:
    """Fresh arrays for passes against so many opponents."""
    places = int(np.diff(lists.ways_start).max()) * lists.following.shape[1]
    ends = len(lists.end_lanes) * lists.following.shape[1]
    rolled, masses = np.zeros((matches, places)), np.zeros(places)
    return Scratch(rolled, np.zeros(ends), masses, np.zeros(ends), np.zeros(1))


def _loop(graph: Graph, lists: Lists, me: int) -> Loop:
    """Make arrays for blocks that recur."""
    sizes = np.diff(lists.start)
    block, member = np.full(graph.positions, -1), np.zeros(graph.positions, np.int64)
    leads = np.zeros(graph.positions, np.uint8)
    for number in np.flatnonzero(lists.recurs):
        positions = lists.order[lists.start[number] : lists.start[number + 1]]
        block[positions], member[positions] = number, np.arange(len(positions))
        rows = np.stack([lists.player[positions], lists.row[positions]])
        leads[positions[np.unique(rows, axis=1, return_index=True)[1]]] = 1
    states = sizes[lists.recurs > 0] * graph.memories
    small = int(states[states <= MOST_DENSE].max(initial=0))
    values = graph.positions, graph.memories
    endless = float(graph.payoff[0] if graph.endless is None else graph.endless)
    return Loop(
        block=block,
        member=member,
        leads=leads,
        endless=endless if me == 0 else graph.total - endless,
        size=float(np.abs(graph.paid).max()),
        matrix=np.zeros((small, small)),
        gain=np.zeros(small),
        leave=np.zeros(small),
        pivot=np.zeros(small),
        before=np.zeros(graph.num_actions),
        turns=np.zeros(values),
        fresh=np.zeros(graph.memories),
        nothing=np.zeros(len(graph.payoff)),
        no_choice=np.full(values, NO_CHOICE, matrix_type(graph.num_actions)),
    )


class GraphPasses:
    """Values and reach of every state of a graph, for one player against n opponents.

    `values` (n, C, H) are payoffs to that player, `reach` (n, C, H) and `row_reach` (n, R)
    probabilities or expected visits, `action_values` (R, K) counterfactual values, -inf where
    there is no action; `choice` (C, H) is of FULL_MEMORY. Policies are (1 + n, R, K), the player's
    first. One alone is self-play; `sole` values only half of positions that have a mirror. Rows are
    those of the graph, or more. `order` is one of positions that is better for a cache: all that
    follows a position comes later, and none recurs.
    """

    def __init__(
        self,
        graph: Graph,
        matches: int = 1,
        me: int = 0,
        *,
        sole: bool = False,
        rows: int | None = None,
        order: Ints | None = None,
    ) -> None:
        size = graph.rows if rows is None else rows
        self.graph, self.me, self.sole = graph, me, sole
        self.lists = lists = lists_of(graph)
        if order is not None:
            self.lists = lists = lists._replace(order=order.astype(np.int32))
        states = matches, graph.positions, graph.memories
        self.values, self.reach = np.zeros(states), np.zeros(states)
        self.choice = np.zeros(states[1:], matrix_type(graph.num_actions))
        self.action_values = np.zeros((size, graph.num_actions))
        self.row_reach = np.zeros((matches, size))
        self._rows = np.zeros(size)
        self.payoff = graph.payoff.copy() if me == 0 else graph.total - graph.payoff
        self._scratch = scratch_for(lists, matches)
        self._runs = _runs(lists, graph.memories)
        self._loop = _loop(graph, lists, me) if lists.recurs.any() else None

    @cached_property
    def _onward(self) -> tuple[Lists, list[Run], Loop | None]:
        """What a pass forward takes: only half of positions that have a mirror, if `sole`."""
        if not self.sole:
            return self.lists, self._runs, self._loop
        lists = _folded(self.lists)
        loop = None if self._loop is None else _loop(self.graph, lists, self.me)
        return lists, _runs(lists, self.graph.memories), loop

    def forward(self, policies: Floats) -> Floats:
        """Fill `reach` and `row_reach`, and return the latter."""
        from hogeq.kernels import graph_loops, graph_passes

        self.reach.fill(0.0)
        self.row_reach.fill(0.0)
        graph, (lists, runs, loop) = self.graph, self._onward
        for (position, memory), share in zip(graph.start, graph.start_chance, strict=True):
            folds = self.sole and graph.player[position] == 1
            self.reach[:, lists.mirror[position] if folds else position, memory] += share
        for match, filled in enumerate(zip(self.reach, self.row_reach, strict=True)):
            played = policies if len(policies) <= 2 else policies[[0, match + 1]]
            arrays = self.me, played, *filled, self._scratch
            for first, last, kind in runs:
                if kind != PLAIN:
                    graph_loops.visit(lists, loop, first, last, *arrays)
                else:
                    graph_passes.forward(lists, first, last, *arrays)
        return self.row_reach

    def backward(
        self,
        role: int,
        policies: Floats,
        weights: Floats,
        temperature: float = 1.0,
        damping: float = 1.0,
        *,
        both: bool = False,
    ) -> tuple[Floats, int]:
        """Fill `values`; of COUNTERFACTUAL `action_values`, of FULL_MEMORY `choice`.

        In FULL_MEMORY `both` players take their best actions. Returns values at the starts, (n,
        starts), and how many rows ASCEND changed.
        """
        from hogeq.kernels import graph_loops, graph_passes

        self._scratch.error[0] = 0.0
        before = policies[0].copy()
        best = both if role == FULL_MEMORY else None
        filled = self.action_values, self._rows
        numbers = float(temperature), float(damping), self.me, self.sole, float(self.graph.total)
        acting = policies, weights, self.payoff, self.reach, self.values, filled, self._scratch
        for run in reversed(self._runs):
            if role in {EVALUATE, FULL_MEMORY}:
                self._value(run, policies, best)
            elif run.kind == PLAIN:
                graph_passes.act(self.lists, run.first, run.last, (int(role), *numbers), *acting)
            else:
                large = None if run.kind == SMALL else True
                span = self._loop, run.first, run.last
                graph_loops.settle(self.lists, *span, (int(role), *numbers), large, *acting)
        changes = (policies[0] != before).any(axis=-1).sum() if role == ASCEND else 0
        position, memory = self.graph.start.T
        return self.values[:, position, memory], int(changes)

    def _value(self, run: Run, policies: Floats, best: bool | None) -> None:
        """Value a run of blocks: by rows, or by best actions, of both players if `best`."""
        from hogeq.kernels import graph_loops, graph_passes

        me, payoff, scratch = self.me, self.payoff, self._scratch
        loop, blocks = self._loop, range(run.last - 1, run.first - 1, -1)
        if run.kind == PLAIN or loop is None:  # then all are
            how = me, best is not None, best is True, self.sole, float(self.graph.total)
            arrays = policies, payoff, self.values, self.choice, scratch
            graph_passes.value(self.lists, run.first, run.last, how, *arrays)
            return
        for match, values in enumerate(self.values):
            played, rest = (me, policies, match), (loop.no_choice, values, payoff)
            if best is not None:
                for block in blocks:
                    self._optimise(run, block, played, both=best)
            elif run.kind == SMALL:
                graph_loops.solve(self.lists, loop, run.first, run.last, *played, *rest)
            else:
                for block in blocks:
                    graph_loops.iterate(self.lists, loop, block, *played, *rest, True, scratch)

    def _optimise(
        self, run: Run, block: int, played: tuple[int, Floats, int], *, both: bool
    ) -> None:
        """Find best actions in a block: policy iteration, or iteration of values if it is large.

        If both players choose, the other answers best before the player improves (Hoffman and Karp
        1966).
        """
        from hogeq.kernels import graph_loops

        (me, _, match), lists, loop = played, self.lists, self._loop
        rest, scratch = (self.choice, self.values[match], self.payoff), self._scratch
        self.choice[lists.order[lists.start[block] : lists.start[block + 1]]] = NO_CHOICE
        players = [1 - me, me] if both else [me]

        def choose(player: int, aim: int) -> bool:
            return bool(graph_loops.choose(lists, loop, block, me, player, aim, *rest, scratch))

        for player in players:
            choose(player, STAY)
        if run.kind == SMALL:
            improves = True
            while improves:
                graph_loops.solve(lists, loop, block, block + 1, *played, *rest)
                improves = any(choose(player, IMPROVE) for player in players)
        else:
            graph_loops.iterate(lists, loop, block, *played, *rest, True, scratch)
        for player in players:
            choose(player, LEAVE)

    @property
    def error(self) -> float:
        """Bound on what iteration of positions that recur may have missed in the last pass."""
        return float(self._scratch.error[0])
