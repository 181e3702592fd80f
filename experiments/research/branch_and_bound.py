"""Exact best responses on small games, by branch and bound over a relaxation with full memory.

Against a fixed strategy a responder faces a decision process whose states it sees only in part: it
sees an information set (both scores, say) and not the memory, and must roll alike in all its
states. Finding its best rolls is NP-hard in general. In the relaxation the responder remembers
everything, wins at least as much, and is solved by one backward induction. Where its rolls differ
within an information set, the search branches on the roll made there. It ends when no open branch
can win more than the best rolls found.

The process is built from the table of single turns (`hogeq.rules.turn.TurnTable`), apart from
the kernels.
"""

import heapq
from itertools import count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from research.process import GAP, Process, decision_process, remember, value_of

from hogeq.model.game import HogEngine
from hogeq.search.attack import attack
from hogeq.strategies.strategy import StrategyLike, strategy_of
from hogeq.support.aliases import Ints, Matrix
from hogeq.support.messages import percent
from hogeq.support.progress import phase


class BestResponse(NamedTuple):
    """A best response; or, if the search was stopped, the best found and a bound."""

    rolls: NDArray[np.signedinteger]
    """Roll of each information set."""
    win_rate: float
    """Exact win rate of these rolls."""
    bound: float
    """Upper bound on the win rate of all others; the win rate itself if the search finished."""
    nodes: int
    """Number of relaxations solved."""

    @property
    def is_exact(self) -> bool:
        """Whether it is proved that no other rolls win more."""
        return self.bound <= self.win_rate + GAP


def best_response(
    game: HogEngine, strategy: StrategyLike, most: int = 100_000, start: Matrix | None = None
) -> BestResponse:
    """Find the matrix that wins most against a strategy, with proof.

    Parameters
    ----------
    game : HogEngine
        A small one: goal 12 with 3 dice takes seconds to minutes.
    strategy : array_like or Mixture
        A matrix (G, G), a policy (G, G, K), or a mixture of such.
    most : int
        Most relaxations to solve before giving up.
    start : int8 (G, G), optional
        First best matrix; by default that of `hogeq.search.attack.attack`, and against a mixture
        the one that the relaxation suggests.

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
    if start is None and strategy_of(game, strategy).kind != "mixture":
        start = attack(game, strategy).matrix
    first = None if start is None else start.astype(np.int64).ravel()
    found = branch_and_bound(process, first, most)
    return found._replace(rolls=found.rolls.reshape(game.goal, game.goal).astype(np.int8))


def branch_and_bound(process: Process, start: Ints | None, most: int = 100_000) -> BestResponse:
    """Find the rolls, one for each information set, that win most, with proof.

    Parameters
    ----------
    process : Process
    start : int (I,), optional
        First best rolls; by default the rolls that the relaxation suggests.
    most : int
        Most relaxations to solve before giving up.

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
    with phase("branching", unit="nodes") as told:
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
            told.step(process.num_actions)
            told.measured(f"best response between {percent(best_rate)} and {percent(node.bound)}")
    bound = max(-heap[0][0], best_rate) if heap else best_rate
    bound = best_rate if bound <= best_rate + GAP else bound
    return BestResponse(best, best_rate, bound, nodes)


class _Node(NamedTuple):
    """A branch: all responders that make the fixed rolls."""

    bound: float
    fixed: Ints  # (I,) roll, -1 where free
    set: int  # information set where rolling alike costs the relaxed responder most
    settled: Ints  # (I,) roll of most value, averaged over the states of each set


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
