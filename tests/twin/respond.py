"""Best responses of small games, proved by branch and bound, from what single turns can do.

A responder sees both scores and must roll alike whatever is hidden there. One who remembers
everything wins at least as much, and is found by one backward induction. Where that one's rolls
differ at a position, the search branches on the roll made there, until no open branch can win more
than the best rolls found.
"""

import heapq
from itertools import count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from tests.twin.turn import Play, State

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

GAP = 1e-10  # win rates closer than this are treated as equal


class Level(NamedTuple):
    """Hidden states of one sum of scores, m of n, with either player to move."""

    start: int  # index of the first of them
    cell: Ints  # (m,), own * G + opponent
    win: Floats  # (m, K), probability that a roll of the responder wins at once
    after: csr_array  # (m * K, 2 * n), probability of every next state otherwise
    other_win: Floats  # (m,), probability that the opponent's turn makes the responder win
    other_after: csr_array  # (m, 2 * n), probability of every next state otherwise

    def of(self, values: Floats) -> tuple[Floats, Floats]:
        """Give views (m,) of values (2 * n,) at this level: the responder's, the opponent's."""
        here = slice(self.start, self.start + len(self.cell))
        first, second = values.reshape(2, -1)
        return first[here], second[here]


class Process(NamedTuple):
    """States 0 to n - 1 have the responder to move, states n to 2 * n - 1 the opponent."""

    states: list[tuple[int, State]]  # of the n: what was drawn, and where play is
    cells: int
    num_actions: int
    levels: list[Level]  # by the sum of scores
    chances: tuple[float, ...]  # of states 0, 1 and so on at the start: what is drawn

    def at_start(self, values: Floats) -> float:
        """Mean of values (2 * n,) over what is drawn and over who moves first."""
        mine, theirs = (values.reshape(2, -1)[player, : len(self.chances)] for player in (0, 1))
        return float(np.dot(self.chances, (mine + theirs) / 2.0))


def process_of(play: Play, policies: Floats, chances: tuple[float, ...]) -> Process:
    """List all that a responder to a mixture of policies (n, G, G, K) may come to."""
    found: list[dict[tuple[int, State], None]] = [{} for _ in range(2 * play.goal - 1)]
    found[0] = {(part, State(0, 0)): None for part in range(len(policies))}
    for level in found:
        for (part, state), dice in ((one, dice) for one in level for dice in play.rolls()):
            for branch in play.branches(state, dice):
                if branch.winner is None:
                    found[sum(branch.state[:2])][part, branch.state] = None
    index = {one: number for number, one in enumerate(one for level in found for one in level)}
    levels = [_level(play, policies, level, index) for level in found]
    return Process(list(index), play.goal**2, len(play.rolls()), levels, chances)


def _level(
    play: Play,
    policies: Floats,
    states: dict[tuple[int, State], None],
    index: dict[tuple[int, State], int],
) -> Level:
    size, rolls = len(index), play.rolls()
    win, other_win = np.zeros((len(states), len(rolls))), np.zeros(len(states))
    mine: list[tuple[float, int, int]] = [(0.0, 0, 0)]
    theirs: list[tuple[float, int, int]] = [(0.0, 0, 0)]
    for row, (part, state) in enumerate(states):
        for roll, dice in enumerate(rolls):
            weight = policies[part][state.own, state.opponent, roll]
            for branch in play.branches(state, dice):
                chance = float(branch.chance)
                win[row, roll] += chance * (branch.winner == 0)
                other_win[row] += weight * chance * (branch.winner == 1)
                if branch.winner is None:
                    stays = index[part, branch.state]
                    first, second = (stays, size + stays)[:: 1 if branch.again else -1]
                    mine.append((chance, row * len(rolls) + roll, first))
                    theirs.append((weight * chance, row, second))
    tables = [
        coo_array((chances, (rows, columns)), shape=(number, 2 * size)).tocsr()
        for (chances, rows, columns), number in (
            (zip(*mine, strict=True), max(1, win.size)),
            (zip(*theirs, strict=True), max(1, len(states))),
        )
    ]
    cells = np.array([state.own * play.goal + state.opponent for _, state in states], np.int64)
    start = index[next(iter(states))] if states else 0
    return Level(start, cells, win, tables[0][: win.size], other_win, tables[1][: len(states)])


class Optimum(NamedTuple):
    """An optimal responder who remembers everything."""

    value: float  # its win rate
    reach: list[Floats]  # by level, (m,): probability that it comes to move in each state
    values: list[Floats]  # by level, (m, K): value of every roll, whether allowed or not


def remember(
    process: Process, fixed: Ints | None = None, prices: list[Floats] | None = None
) -> Optimum:
    """Find it; at cells (G * G,) that are not -1 it makes the fixed roll, and rolls may cost."""
    values = np.zeros(2 * len(process.states))
    chosen, found = [], []
    for depth in range(len(process.levels) - 1, -1, -1):
        level = process.levels[depth]
        worth = level.win + (level.after @ values).reshape(level.win.shape)
        if prices is not None:
            worth = worth - prices[depth]
        best = worth.argmax(axis=1)
        if fixed is not None:
            best = np.where(fixed[level.cell] >= 0, fixed[level.cell], best)
        mine, theirs = level.of(values)
        theirs[:] = level.other_win + level.other_after @ values
        mine[:] = worth[np.arange(len(best)), best]
        chosen.append(best)
        found.append(worth)
    reach = np.zeros(2 * len(process.states))
    for player in (0, 1):
        reach.reshape(2, -1)[player, : len(process.chances)] = process.chances
    reach /= 2.0
    for level, rolls in zip(process.levels, reversed(chosen), strict=True):
        mine, theirs = level.of(reach)
        rows = np.arange(len(rolls)) * process.num_actions + rolls
        reach += level.after[rows].T @ mine + level.other_after.T @ theirs
    came = [level.of(reach)[0] for level in process.levels]
    return Optimum(process.at_start(values), came, found[::-1])


class BestResponse(NamedTuple):
    """A best response; or, if the search was stopped, the best found and a bound."""

    rolls: Ints  # (G * G,), places among the rolls
    win_rate: float
    bound: float  # on all others; the win rate itself if the search finished
    nodes: int  # problems of memory that were solved

    @property
    def is_exact(self) -> bool:
        """Whether it is proved that no other rolls win more."""
        return self.bound <= self.win_rate + GAP


class _Node(NamedTuple):
    bound: float
    fixed: Ints  # (G * G,), -1 where free
    cell: int  # where rolling alike costs the responder most
    settled: Ints  # (G * G,), roll of most value, averaged over what is hidden


def best_response(process: Process, most: int = 100_000) -> BestResponse:
    """Find the rolls that win most, with proof, or stop after so many problems."""
    ticket, nodes = count(), 0
    root = _node(process, np.full(process.cells, -1))
    best, best_rate = root.settled, remember(process, root.settled).value
    heap = [(-root.bound, next(ticket), root)]
    while heap and -heap[0][0] > best_rate + GAP and nodes + process.num_actions <= most:
        node = heapq.heappop(heap)[2]
        for roll in range(process.num_actions):
            fixed = node.fixed.copy()
            fixed[node.cell] = roll
            child = _node(process, fixed)
            if child.bound > best_rate + GAP:
                rate = remember(process, child.settled).value
                if rate > best_rate:
                    best, best_rate = child.settled, rate
                heapq.heappush(heap, (-child.bound, next(ticket), child))
        nodes += process.num_actions
    bound = max(-heap[0][0], best_rate) if heap else best_rate
    return BestResponse(best, best_rate, best_rate if bound <= best_rate + GAP else bound, nodes)


def _node(process: Process, fixed: Ints) -> _Node:
    optimum = remember(process, fixed)
    sums, best = np.zeros((process.cells, process.num_actions)), np.zeros(process.cells)
    for level, reach, values in zip(process.levels, optimum.reach, optimum.values, strict=True):
        np.add.at(sums, level.cell, reach[:, None] * values)
        np.add.at(best, level.cell, reach * values.max(axis=1))
    loss = np.where(fixed >= 0, -np.inf, best - sums.max(axis=1))
    settled = np.where(fixed >= 0, fixed, sums.argmax(axis=1))
    return _Node(optimum.value, fixed, int(loss.argmax()), settled)
