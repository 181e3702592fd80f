"""Exact best responses on small games, by branch and bound over a relaxation with full memory.

Against a fixed strategy a responder faces a decision process whose states it half forgets: it sees
the cell (own score, opponent's score) and not the memory, and must do the same in every state of a
cell. That is NP-hard in general. A responder who remembers can do no worse, and is found by one
backward induction; wherever what it does differs within a cell, the search branches on what is
rolled there. It ends when nothing that is left can win more than the best matrix found.

Everything here is by the table of single turns (`hogeq.rules.outcomes.TurnTable`), not by the
kernels.
"""

import heapq
from itertools import count
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hogeq.model.game import Game
from hogeq.response.process import GAP, Process, decision_process, remember, value_of
from hogeq.response.search import attack
from hogeq.support.aliases import Ints, Matrix
from hogeq.support.progress import progress_bar


class BestResponse(NamedTuple):
    """A best response, or how far the search for it came."""

    rolls: NDArray[np.signedinteger]
    """For each information set."""
    win_rate: float
    """Of these rolls, exact."""
    bound: float
    """What no others exceed; the win rate itself if the search was finished."""
    nodes: int
    """Relaxations solved."""

    @property
    def is_exact(self) -> bool:
        """Whether no others win more."""
        return self.bound <= self.win_rate + GAP


def best_response(
    game: Game, strategy: ArrayLike, most: int = 100_000, start: Matrix | None = None
) -> BestResponse:
    """Find the matrix that wins most against a strategy, and prove it.

    Parameters
    ----------
    game : Game
        A small one: goal 12 with 3 dice takes seconds to minutes.
    strategy : array_like
        A matrix (G, G) or a policy (G, G, K).
    most : int
        Relaxations after which to give up.
    start : int8 (G, G), optional
        A good response; by default the search begins with that of
        `hogeq.response.search.attack`.

    Returns
    -------
    BestResponse
        Its rolls are a matrix (G, G).

    Raises
    ------
    ValueError
        If the strategy is malformed, the game too large, or its positions can recur.
    """
    process = decision_process(game, strategy)
    first = attack(game, strategy).matrix if start is None else start
    found = branch_and_bound(process, first.astype(np.int64).ravel(), most)
    return found._replace(rolls=found.rolls.reshape(game.goal, game.goal).astype(np.int8))


def branch_and_bound(process: Process, start: Ints | None, most: int = 100_000) -> BestResponse:
    """Find the rolls, one for each information set, that win most.

    Parameters
    ----------
    process : Process
    start : int (I,), optional
        Good ones; by default the search begins with what the relaxation suggests.
    most : int
        Relaxations after which to give up.

    Returns
    -------
    BestResponse
        Its rolls are (I,).
    """
    ticket, nodes = count(), 0
    root = _node(process, np.full(process.sets, -1))
    best = root.settled if start is None else start
    best_rate = value_of(process, best)
    heap = [(-root.bound, next(ticket), root)]
    with progress_bar("branching", unit="node") as bar:
        while heap and -heap[0][0] > best_rate + GAP and nodes + process.num_actions <= most:
            node = heapq.heappop(heap)[2]
            for roll in range(process.num_actions):
                fixed = node.fixed.copy()
                fixed[node.set] = roll
                child = _node(process, fixed)
                if child.bound <= best_rate + GAP:
                    continue
                rate = value_of(process, child.settled)
                if rate > best_rate:
                    best, best_rate = child.settled, rate
                heapq.heappush(heap, (-child.bound, next(ticket), child))
            nodes += process.num_actions
            bar.update(process.num_actions)
            bar.set_postfix_str(f"{best_rate:.6f} to {node.bound:.6f}")
    bound = max(-heap[0][0], best_rate) if heap else best_rate
    bound = best_rate if bound <= best_rate + GAP else bound
    return BestResponse(best, best_rate, bound, nodes)


class _Node(NamedTuple):
    """A part of what responders can do: all that agrees with what is fixed."""

    bound: float
    fixed: Ints  # (I,) roll, -1 where free
    set: int  # where forgetting costs the relaxed responder most
    settled: Ints  # (I,) what it would roll most gainfully on average in every set


def _node(process: Process, fixed: Ints) -> _Node:
    optimum = remember(process, fixed)
    sums = np.zeros((process.sets, process.num_actions))
    best = np.zeros(process.sets)
    for level, infoset_reach, values in zip(
        process.levels, optimum.occupancy, optimum.values, strict=True
    ):
        np.add.at(sums, level.set, infoset_reach[:, None] * values)
        np.add.at(best, level.set, infoset_reach * values.max(axis=1))
    loss = np.where(fixed >= 0, -np.inf, best - sums.max(axis=1))
    settled = np.where(fixed >= 0, fixed, sums.argmax(axis=1))
    return _Node(optimum.value, fixed, int(loss.argmax()), settled)
