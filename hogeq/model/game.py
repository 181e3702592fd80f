"""The compiler: from rules, one turn at a time, to the flat arrays that kernels read."""

from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from hogeq.graph.endless import State, Staying, never_left, staying_actions, ways_to_stay
from hogeq.graph.graph import Graph
from hogeq.graph.hog import of_hog
from hogeq.model.graph_layout import GraphLayout
from hogeq.model.protocol import MatrixPasses, Passes, PlainEngine, Precision
from hogeq.model.rows import plain
from hogeq.model.tables import Tables, tables_of
from hogeq.model.workspace import Layout, Workspace
from hogeq.rules import Rules
from hogeq.rules.memory import Memory, all_memories, memory_sizes, states
from hogeq.rules.turn import total_rises
from hogeq.support.aliases import Floats
from hogeq.support.messages import HogeqError, refusal

LARGE = 32  # goal from which on diagonals are long enough to fill vectors
MEMORY_LIMIT = 4 << 30  # bytes of one game's largest arrays


@dataclass(frozen=True, eq=False, repr=False)
class HogEngine(PlainEngine):
    """A compiled game.

    Its `tables` are what the staged kernels read; `memories`, H of them, are the values of the
    hidden memory of the player to move.
    """

    rules: Rules
    tables: Tables
    memories: tuple[Memory, ...]

    @cached_property
    def graph(self) -> Graph:
        """The game as arrays, both players live."""
        return of_hog(self.rules)

    def __repr__(self) -> str:
        """Name the game: its tables would fill pages."""
        size = self.memory_size
        return f"HogEngine({self.rules.name}; {size} {'memory' if size == 1 else 'memories'})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel between processes as rules, and be compiled once in each."""
        return compile_game, (self.rules, True)

    @cached_property
    def goal(self) -> int:
        """Points that win, G: the higher goal where each player has its own."""
        return self.rules.size

    @cached_property
    def num_actions(self) -> int:
        """Number of actions, K: 0 to the most dice, and in some games -1."""
        return self.rules.num_actions

    @property
    def choices(self) -> tuple[int, ...]:
        """Actions: numbers of dice, and in some games -1 as the last."""
        return self.rules.choices

    @property
    def memory_size(self) -> int:
        """Number of values of the hidden memory, H."""
        return len(self.memories)

    @property
    def has_memory(self) -> bool:
        """Whether the rules look at anything that a strategy does not see."""
        return self.memory_size > 1

    @property
    def has_own_goals(self) -> bool:
        """Whether each player has a goal of its own: `rules` are the first player's."""
        return isinstance(self.rules.goal, tuple)

    @cached_property
    def positions_recur(self) -> bool:
        """Whether a position can come again, so that a row can be reached more than once."""
        return not self.totals_rise and bool(self.graph.recurring.any())

    @cached_property
    def totals_rise(self) -> bool:
        """Whether every turn raises the total score, as staged layouts need."""
        if total_rises(replace(self.rules, goal=self.goal)):
            return True
        # The rules may let a total stay where no position has it: so look at all positions.
        graph = self.graph
        own, opponent = np.divmod(graph.row, self.goal)
        total = np.add(own, opponent)
        position, entry = graph.ends
        after = graph.next[entry]
        stays = total[np.maximum(after, 0)] == total[position]
        return not stays[after >= 0].any()  # below 0 are payoffs

    @cached_property
    def _staying(self) -> dict[State, list[Staying]]:
        """By state, the actions that can leave the scores as they are."""
        return staying_actions(self.graph) if self.positions_recur else {}

    @cached_property
    def can_be_endless(self) -> bool:
        """Whether two players can leave the scores as they are for ever; that is then a draw."""
        return bool(never_left(self.graph, self._staying, [None, None]))

    payoff_per_win_rate = 1.0
    pays_wins = seats_share_rows = has_scores = True
    seat_rows = slice(None), slice(None)

    @cached_property
    def shape(self) -> tuple[int, int, int]:
        """Shape of a policy, (G, G, K)."""
        return self.goal, self.goal, self.num_actions

    def ways_to_stay(self, policies: Floats) -> list[tuple[tuple[int, ...], int]]:
        """List scores and rolls of policies (2, G, G, K) by which player 0 could stay for ever.

        Player 0 must stay there, and wherever it comes to move before that again; then the game
        never ends, since the other player stays too. Each is ((own, opponent's score), roll).
        """
        if not self.can_be_endless:
            return []
        rows = policies.reshape(2, -1, self.num_actions)
        ways = ways_to_stay(self.graph, self._staying, rows)
        return [(divmod(cell, self.goal), action) for cell, action in ways]

    def endless_position(self, policies: Floats) -> tuple[int, int] | None:
        """Find scores, the mover's first, from which a game of policies (2, G, G, K) never ends.

        None if the game ends for certain. Of several the lowest, by seat, own and opponent's score.
        """
        if not self.can_be_endless:
            return None
        graph, rows = self.graph, plain(policies).reshape(2, -1, self.num_actions)
        endless = never_left(graph, self._staying, [*rows])
        if not endless:
            return None
        passes = self.graph_layout(2).passes
        passes.forward(rows)
        reached = [position for position, memory in endless if passes.reach[0, position, memory]]
        cells = [(int(graph.player[position]), int(graph.row[position])) for position in reached]
        return divmod(min(cells)[1], self.goal) if cells else None

    def workspace(self, players: int, dtype: DTypeLike = np.float64) -> Passes:
        """Make fresh passes for so many policies, Q; see :mod:`hogeq.model.protocol`."""
        opponents, seats = max(1, players - 1), min(2, players)
        layout = self.layout(seats, dtype, opponents)
        graph_layout = partial(self.graph_layout, seats, opponents)
        shape = players, *self.shape
        return Workspace(shape, layout, graph_layout, recurs=self.positions_recur)

    def layout(self, players: int, dtype: DTypeLike = np.float64, opponents: int = 1) -> Layout:
        """Make fresh arrays for passes, laid out as suits the game.

        Compiling takes seconds, and pays in large games only. There, if much is remembered, a
        vector holds the memories of a cell; else it holds cells of one diagonal. Everything else is
        interpreted: small games, and rules of which no edition is made.
        """
        from hogeq.model.cell_passes import CellPasses
        from hogeq.model.memory_passes import MemoryPasses

        if self.has_large_memory:
            return MemoryPasses(self.tables, players, dtype, opponents)
        if self.has_cell_vectors:
            return CellPasses(self.tables, players, dtype, opponents)
        return self.graph_layout(players, opponents)

    def graph_layout(self, players: int, opponents: int = 1) -> GraphLayout:
        """Fresh arrays for interpreted passes, which keep values and reach by memory."""
        rises = self.totals_rise
        return GraphLayout(self.graph, self.shape, players, opponents, totals_rise=rises)

    @cached_property
    def has_large_memory(self) -> bool:
        """Whether vectors hold the memories of a cell."""
        from hogeq.model.memory_passes import suit_memory_vectors

        if self.has_own_goals or not self.totals_rise:
            return False
        return suit_memory_vectors(self.tables)

    @cached_property
    def has_cell_vectors(self) -> bool:
        """Whether vectors hold cells of one diagonal."""
        from hogeq.model.cell_passes import suit_cell_vectors

        if self.has_own_goals or self.has_large_memory or self.goal < LARGE:
            return False
        return self.totals_rise and suit_cell_vectors(self.tables)

    def duels(self) -> MatrixPasses | None:
        """Fresh arrays for win rates of two matrices; None if they are those of policies."""
        from hogeq.model.cell_passes import CellPasses
        from hogeq.model.memory_passes import MemoryDuel, can_duel

        if not self.has_own_goals and can_duel(self.tables):
            return MemoryDuel(self.tables)
        return CellPasses(self.tables, 2) if self.has_cell_vectors else None

    def quick_dtype(self, opponents: int = 1) -> Precision:
        """Precision for passes that need not be exact, against so many opponents.

        Single where kernels for it take half to two thirds of the time. Without memory a pass over
        cells is so short that it takes many pairs to be worth kernels of its own.
        """
        has_long_passes = self.has_cell_vectors and (self.has_memory or opponents > 1)
        return np.float32 if self.has_large_memory or has_long_passes else np.float64


def required_bytes(rules: Rules) -> int:
    """Estimate the bytes of a game's largest arrays: values and reach of both players, tables."""
    turns, extras, records = memory_sizes(rules)
    memories = turns * extras * records**2 * states(rules)
    return rules.size**2 * 8 * (4 * memories + 6 * rules.num_actions)


def compile_game(rules: Rules, own_goals: bool = False) -> HogEngine:
    """Compile rules to flat arrays, once: the same rules give the same game again.

    A goal for each player is refused unless `own_goals` are allowed.
    """
    if not isinstance(rules, Rules):
        raise TypeError(refusal("rules", rules, "Rules, as hogeq.rules_from gives them"))
    if not own_goals:
        rules.require_one_goal()
    return _of_a_pair(rules) if isinstance(rules.goal, tuple) else _compiled(rules)


def _compile(rules: Rules) -> HogEngine:
    """Compile rules; those whose arrays do not fit in memory are refused."""
    needed_bytes = required_bytes(rules)
    if needed_bytes > MEMORY_LIMIT:
        raise HogeqError(
            f"rules: a game to {rules.size} with {rules.max_dice} dice and this memory needs "
            f"{needed_bytes / 2**30:.1f} GiB; allowed: {MEMORY_LIMIT >> 30}: lower goal or max_dice"
        )
    tables = tables_of(replace(rules, goal=rules.size))
    return HogEngine(rules, tables, all_memories(rules))


_compiled = cache(_compile)
_of_a_pair = lru_cache(maxsize=16)(_compile)  # a field has many pairs of goals
