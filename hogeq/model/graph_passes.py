"""Passes over any graph by the interpreting kernels, in double precision."""

from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.graph.graph import Graph
from hogeq.kernels.arrays import (
    ASCEND,
    COUNTERFACTUAL,
    EVALUATE,
    FULL_MEMORY,
    IMPROVE,
    IS_STALE,
    LEAVE,
    MOST_DENSE,
    NO_CHOICE,
    PHASE,
    PROGRESS,
    ROUNDS,
    STAY,
    Matches,
    PassGraph,
    PassRule,
    Play,
    RecurringBlocks,
    RowSums,
    Scratch,
)
from hogeq.model.pass_graph import pass_graph_of, without_mirrors
from hogeq.support.aliases import Floats, Ints, matrix_type

PLAIN, SMALL, LARGE = range(3)  # kinds of blocks: that do not recur, with few states, with many
SLICE = 4e9  # operations on small blocks, about, before a kernel returns and can be interrupted


class Run(NamedTuple):
    """Blocks side by side, of one kind: from `first`, below `last`."""

    first: int
    last: int
    kind: int  # PLAIN, SMALL or LARGE


def _runs(pass_graph: PassGraph, memories: int) -> list[Run]:
    """Cut the blocks of a pass into runs of one kind, each for one call of a kernel.

    A block is a set of positions, of `memories` states each. One that recurs, to which play can
    return, is SMALL, solved by elimination, or LARGE, iterated; others are PLAIN. A run of small
    blocks is also cut where its operations, summed from the first block on, reach a multiple of
    `SLICE`, so that a call does not take long.
    """
    states = np.diff(pass_graph.block_start) * memories  # of each block
    kind_if_recurs = np.where(states <= MOST_DENSE, SMALL, LARGE)
    kind = np.where(pass_graph.block_recurs > 0, kind_if_recurs, PLAIN)
    # Setting a small block's rows one by one solves it anew for each. It has no more rows than its
    # n states, and an elimination takes n ** 3 operations.
    operations = np.where(kind == SMALL, states.astype(np.float64) ** 4, 0.0)
    slice_number = np.cumsum(operations) // SLICE
    next_is_other = (np.diff(kind) != 0) | (np.diff(slice_number) != 0)  # by block but the last
    bounds = [0, *(np.flatnonzero(next_is_other) + 1).tolist(), len(kind)]
    return [Run(first, last, int(kind[first])) for first, last in pairwise(bounds)]


def scratch_for(pass_graph: PassGraph, matches: int) -> Scratch:
    """Allocate the arrays that a pass works in: values and reach of the ways and ends of a turn.

    `matches` is the number of opponents. A way is a distribution over ends, by which an action is
    played; a lane is the part of the memory that an end hands on.
    """
    lanes = pass_graph.next_memory.shape[1]
    num_slots = int(np.diff(pass_graph.situation_start).max()) * lanes  # of the ways of a situation
    ends = len(pass_graph.end_lanes) * lanes
    return Scratch(
        way_values=np.zeros((matches, num_slots)),
        end_values=np.zeros(ends),
        way_reach=np.zeros(num_slots),
        end_reach=np.zeros(ends),
        all_actions=np.ones(pass_graph.action_slot.shape[1]),
        iteration_error=np.zeros(1),
    )


def _recurring_blocks(graph: Graph, pass_graph: PassGraph, me: int) -> RecurringBlocks | None:
    """Make the arrays for blocks that recur, in a pass of the player `me`; None if none does.

    A block is a set of positions; it recurs if play can return to one of them.
    """
    if not pass_graph.block_recurs.any():
        return None
    block_of_position = np.full(graph.positions, -1)
    index_in_block = np.zeros(graph.positions, np.int64)
    is_first_of_row = np.zeros(graph.positions, np.uint8)
    for block in np.flatnonzero(pass_graph.block_recurs).tolist():
        positions = pass_graph.block_positions(block)
        block_of_position[positions] = block
        index_in_block[positions] = np.arange(len(positions))
        rows = np.stack([pass_graph.player[positions], pass_graph.row[positions]])
        _, first_of_row = np.unique(rows, axis=1, return_index=True)
        is_first_of_row[positions[first_of_row]] = 1
    states = np.diff(pass_graph.block_start)[pass_graph.block_recurs > 0] * graph.memories
    largest_small = int(states[states <= MOST_DENSE].max(initial=0))
    shape = graph.positions, graph.memories
    endless = float(graph.payoff[0] if graph.endless is None else graph.endless)
    turns_or_waiting = np.zeros(shape)
    return RecurringBlocks(
        block_of_position=block_of_position,
        index_in_block=index_in_block,
        is_first_of_row=is_first_of_row,
        endless_payoff=endless if me == 0 else graph.total - endless,
        largest_payoff=float(np.abs(graph.paid).max()),
        transition=np.zeros((largest_small, largest_small)),
        state_values=np.zeros(largest_small),
        leave_probability=np.zeros(largest_small),
        pivot=np.zeros(largest_small),
        visits=np.zeros(largest_small),
        row_before=np.zeros(graph.num_actions),
        turns=turns_or_waiting,
        waiting_reach=turns_or_waiting,
        progress=np.zeros(PROGRESS),
        new_values=np.zeros(graph.memories),
        sent_reach=np.zeros(graph.memories),
        zero_payoffs=np.zeros(len(graph.payoff)),
        no_choice=np.full(shape, NO_CHOICE, matrix_type(graph.num_actions)),
    )


def _in_slices(
    kernel: Any,
    pass_graph: PassGraph,
    recurring: RecurringBlocks | None,
    block: int,
    *arguments: Any,
) -> None:
    """Call a kernel until it is done with a block that recurs; between calls Python can interrupt.

    The last of its arguments are `arguments`.
    """
    assert recurring is not None  # noqa: S101 - some block recurs
    recurring.progress[[PHASE, ROUNDS]] = 0  # the kernel begins
    while not kernel(pass_graph, recurring, block, *arguments):
        pass


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
        """Order the positions for passes of player `me`, and allocate the arrays."""
        num_rows = graph.rows if rows is None else rows
        self.graph = graph
        self.me = me
        self.use_mirrors = use_mirrors
        self.pass_graph = pass_graph_of(graph)
        if order is not None:
            self.pass_graph = self.pass_graph._replace(position_order=order.astype(np.int32))
        states = matches, graph.positions, graph.memories
        self.values = np.zeros(states)
        self.reach = np.zeros(states)
        self.choice = np.zeros(states[1:], matrix_type(graph.num_actions))
        self.action_values = np.zeros((num_rows, graph.num_actions))
        self.row_reach = np.zeros((matches, num_rows))
        self._total_row_reach = np.zeros(num_rows)  # of the mixture of opponents
        self.payoff = graph.payoff.copy() if me == 0 else graph.total - graph.payoff
        self._scratch = scratch_for(self.pass_graph, matches)
        self._runs = _runs(self.pass_graph, graph.memories)
        self._recurring = _recurring_blocks(graph, self.pass_graph, me)

    @cached_property
    def _forward_arrays(self) -> tuple[PassGraph, list[Run], RecurringBlocks | None]:
        """Arrays of a pass forward, which may leave out one of two mirrored positions."""
        if not self.use_mirrors:
            return self.pass_graph, self._runs, self._recurring
        pass_graph = without_mirrors(self.pass_graph)
        recurring = _recurring_blocks(self.graph, pass_graph, self.me)
        return pass_graph, _runs(pass_graph, self.graph.memories), recurring

    def forward(self, policies: Floats, entering: Floats | None = None) -> Floats:
        """Fill `reach` and `row_reach`, and return the latter.

        Of n opponents, in turn. Runs are blocks of positions of one kind: a PLAIN one is passed
        once, in one that recurs (SMALL, LARGE) reach goes round. `entering` (n, C, H), of zeros,
        gets the reach with which play comes into the states of each such block before.
        """
        self.row_reach.fill(0.0)
        pass_graph, runs, recurring = self._forward_arrays
        if recurring is not None:
            recurring.waiting_reach.fill(0.0)  # of a pass that was interrupted
        self._fill_start_reach(pass_graph)
        for match in range(len(self.reach)):
            match_policies = policies if len(policies) <= 2 else policies[[0, match + 1]]
            for run in runs:
                if entering is None or run.kind == PLAIN:
                    self._send(run, match, match_policies)
                    continue
                for block in range(run.first, run.last):
                    positions = pass_graph.block_positions(block)
                    entering[match, positions] = self.reach[match, positions]
                    self._send(Run(block, block + 1, run.kind), match, match_policies)
        return self.row_reach

    def _fill_start_reach(self, pass_graph: PassGraph) -> None:
        """Set `reach` to the probabilities that play begins in each state, against each opponent.

        Where one of two mirrored positions is left out, the other has the probabilities of both.
        """
        self.reach.fill(0.0)
        starts = zip(self.graph.start, self.graph.start_chance, strict=True)
        for (position, memory), chance in starts:
            is_left_out = self.use_mirrors and self.graph.player[position] == 1
            visited = pass_graph.mirror_position[position] if is_left_out else position
            self.reach[:, visited, memory] += chance

    def _send(self, run: Run, match: int, policies: Floats) -> None:
        """Send the reach of a run's states on to the states that follow, against one opponent.

        A run is blocks of one kind: PLAIN ones are passed once, in a SMALL one, to which play can
        return, expected visits are solved for, and in a LARGE one reach goes round. `policies` are
        the player's and the opponent's, (2, R, K), or one for both.
        """
        from hogeq.kernels import graph_passes, recurring_reach

        pass_graph, _, recurring = self._forward_arrays
        arrays = self.me, policies, self.reach[match], self.row_reach[match], self._scratch
        if run.kind == PLAIN:
            graph_passes.forward(pass_graph, run.first, run.last, *arrays)
        elif run.kind == SMALL:
            recurring_reach.visit(pass_graph, recurring, run.first, run.last, *arrays)
        else:
            for block in range(run.first, run.last):
                _in_slices(recurring_reach.circulate, pass_graph, recurring, block, *arrays)

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
        """Fill `values` of all states by backward induction; `role` says how the player acts.

        COUNTERFACTUAL, ASCEND and SOFTMAX fill `action_values` too, weighted by `reach`, and the
        last two set the player's rows. In FULL_MEMORY the player takes its best actions, in
        `choice`, and if `both_respond` the other too. `weights` (n,) are the probabilities of the
        opponents. Returns values at the starts, (n, starts), and how many rows ASCEND changed.

        Blocks are sets of positions, passed from the last run of one kind to the first; to those
        that are SMALL or LARGE play can return, so that values are solved for or iterated.
        """
        from hogeq.kernels import graph_passes, recurring_rows

        self._scratch.iteration_error[0] = 0.0
        before = policies[0].copy()
        rule = self._rule(role, temperature, damping, other_responds=both_respond)
        sums = RowSums(self.action_values, self._total_row_reach)
        matches = self._matches(policies, weights)
        arguments = rule, matches, sums, self._scratch
        recurring = self._recurring
        for run in reversed(self._runs):
            if role in {EVALUATE, FULL_MEMORY}:
                self._value(run, matches, rule)
            elif run.kind == PLAIN or recurring is None:  # None if no block recurs
                graph_passes.value_and_set_rows(self.pass_graph, run.first, run.last, *arguments)
            elif run.kind == SMALL:
                recurring_rows.settle(self.pass_graph, recurring, run.first, run.last, *arguments)
            else:
                for block in reversed(range(run.first, run.last)):
                    self._settle_large(recurring, block, *arguments)
        changes = (policies[0] != before).any(axis=-1).sum() if role == ASCEND else 0
        position, memory = self.graph.start.T
        return self.values[:, position, memory], int(changes)

    def value_changes(
        self, policies: Floats, weights: Floats, after: Floats, gains: Floats
    ) -> float:
        """Fill `gains` (R,): by how much the payoff rises if one row alone is as in `after` (R, K).

        Only of rows (information sets) in blocks that recur, sets of positions to which play can
        return; the gains of others, which a play meets once, stay as they are. A row's change moves
        neither the flow into its block nor the values of later blocks, so it gains the flow times
        the change of the block's values.

        Large blocks are valued by iteration, which stops a little off. Returns a bound on the error
        of a gain by that: of the values before the change plus the values after it; else 0.
        """
        pass_graph = self.pass_graph
        entering = np.zeros_like(self.reach)  # reach with which play comes into each block
        self.forward(policies, entering)
        self.backward(EVALUATE, policies, weights)
        changed = policies.copy()  # one row at a time is replaced by that of `after`
        matches, rule = self._matches(changed, weights), self._rule(EVALUATE)
        own = pass_graph.player == self.me
        is_new = own.copy()  # (C,) positions whose rows change
        is_new[own] = (after != policies[0]).any(axis=1)[pass_graph.row[own]]
        blocks = [(run.kind, block) for run in self._runs for block in range(run.first, run.last)]
        error_before, largest_error = self.error, 0.0
        for kind, block in blocks:
            positions = pass_graph.block_positions(block)
            flow, before = entering[:, positions], self.values[:, positions]
            if not flow.any():  # of blocks that do not recur it is not kept
                continue
            new_positions = positions[is_new[positions]]
            for row in set(pass_graph.row[new_positions].tolist()):
                changed[0, row] = after[row]
                self._scratch.iteration_error[0] = 0.0
                self._value(Run(block, block + 1, kind), matches, rule)
                gains[row] = weights @ (flow * (self.values[:, positions] - before)).sum((1, 2))
                largest_error = max(largest_error, self.error)
                changed[0, row] = policies[0, row]
            self.values[:, positions] = before
        return error_before + largest_error

    def _settle_large(
        self,
        recurring: RecurringBlocks,
        block: int,
        rule: PassRule,
        matches: Matches,
        sums: RowSums,
        scratch: Scratch,
    ) -> None:
        """Value a large block, and set its rows one by one as the role has it.

        A block is a set of positions that play can return to. Its values are those of a Markov
        chain, found by value iteration, again whenever a row has changed. Otherwise this is
        :func:`hogeq.kernels.recurring_rows.settle`, of which the arguments are.
        """
        from hogeq.kernels.recurring_rows import begin_settling, settle_row

        # In this role rows stay, so that the values are the result, and their error is bounded.
        is_result = rule.role == COUNTERFACTUAL
        begin_settling(self.pass_graph, recurring, block, rule, matches)
        goes_on = True
        while goes_on:
            if recurring.progress[IS_STALE] > 0:
                for match in range(len(self.values)):
                    play = Play(self.me, matches.policies, match)
                    self._iterate(block, play, recurring.no_choice, bounds=is_result)
            goes_on = settle_row(self.pass_graph, recurring, block, rule, matches, sums, scratch)

    def _iterate(self, block: int, play: Play, choice: NDArray[Any], *, bounds: bool) -> None:
        """Value a large block by value iteration; if `bounds`, also bound what it misses.

        A block is a set of positions that play can return to. States act by their rows of the
        policies; a state that has a `choice`, (C, H), an action in place of `NO_CHOICE`, acts by
        the best action. The bound is added to :attr:`error`.
        """
        from hogeq.kernels import recurring_values

        values = self.values[play.opponent]
        arguments = play, choice, values, self.payoff, bounds, self._scratch
        _in_slices(recurring_values.iterate, self.pass_graph, self._recurring, block, *arguments)

    def _rule(
        self,
        role: int,
        temperature: float = 1.0,
        damping: float = 1.0,
        *,
        other_responds: bool = False,
    ) -> PassRule:
        """Give the rule of a pass; its values are of the types that kernels are compiled for."""
        numbers = float(temperature), float(damping), self.use_mirrors, float(self.graph.total)
        return PassRule(self.me, int(role), other_responds, *numbers)

    def _matches(self, policies: Floats, weights: Floats) -> Matches:
        """Give the player's matches against the opponents of a pass, whose values it fills."""
        return Matches(policies, weights, self.payoff, self.reach, self.values)

    def _value(self, run: Run, matches: Matches, rule: PassRule) -> None:
        """Value a run of blocks under the policies of matches; in FULL_MEMORY by best actions.

        A block is a set of positions. PLAIN ones are passed once; in one that recurs, to which play
        can return, values are those of a Markov chain: solved if SMALL, else iterated.
        """
        from hogeq.kernels import graph_passes, recurring_values

        pass_graph, recurring, scratch = self.pass_graph, self._recurring, self._scratch
        if run.kind == PLAIN or recurring is None:  # None if no block recurs
            arguments = rule, matches, self.choice, scratch
            graph_passes.value(pass_graph, run.first, run.last, *arguments)
            return
        blocks_backward = range(run.last - 1, run.first - 1, -1)
        for match, values in enumerate(self.values):
            play = Play(self.me, matches.policies, match)
            arrays_of_match = recurring.no_choice, values, self.payoff
            if rule.role == FULL_MEMORY:
                for block in blocks_backward:
                    self._optimise(run, block, play, both_respond=rule.other_responds)
            elif run.kind == SMALL:
                recurring_values.solve(
                    pass_graph, recurring, run.first, run.last, play, *arrays_of_match
                )
            else:
                for block in blocks_backward:
                    self._iterate(block, play, recurring.no_choice, bounds=True)

    def _optimise(self, run: Run, block: int, play: Play, *, both_respond: bool) -> None:
        """Find best actions in a block that recurs: policy iteration, or if large value iteration.

        A block is a set of positions that play can return to.

        1. Begin with the actions that stay in the block most.
        2. A small block: value it, improve the player's actions, until none improves. If both
           choose, the other answers best before the player improves (Hoffman and Karp 1966).
        3. At the end take actions that leave the block, where these are as good.
        """
        from hogeq.kernels import recurring_values

        pass_graph, values = self.pass_graph, self.values[play.opponent]
        self.choice[pass_graph.block_positions(block)] = NO_CHOICE
        players = [1 - play.me, play.me] if both_respond else [play.me]
        for player in players:
            self._choose(block, play, player, STAY)
        if run.kind == SMALL:
            improves = True
            while improves:
                arguments = block, block + 1, play, self.choice, values, self.payoff
                recurring_values.solve(pass_graph, self._recurring, *arguments)
                # The player improves only where the other no longer does.
                improves = any(self._choose(block, play, player, IMPROVE) for player in players)
        else:
            self._iterate(block, play, self.choice, bounds=True)
        for player in players:
            self._choose(block, play, player, LEAVE)

    def _choose(self, block: int, play: Play, player: int, aim: int) -> bool:
        """Choose actions, in `choice`, where a player moves in a block; whether one is better.

        The aim is STAY, IMPROVE or LEAVE.
        """
        from hogeq.kernels.recurring_values import choose

        filled = self.choice, self.values[play.opponent], self.payoff
        arguments = block, play.me, player, aim, *filled, self._scratch
        return bool(choose(self.pass_graph, self._recurring, *arguments))

    @property
    def error(self) -> float:
        """Bound on what iteration of positions that recur may have missed in the last pass."""
        return float(self._scratch.iteration_error[0])
