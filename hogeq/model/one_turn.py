"""One turn from many positions at once, in numpy: values of all rolls backward, reach forward."""

from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from hogeq.graph.graph import Graph
from hogeq.model.graph_passes import lists_of
from hogeq.model.interpreter import Interpreter
from hogeq.support.aliases import Floats, Ints

MOST_ENTRIES = 200_000  # of an array: so many stay in a processor's cache


def follow_with(passes: Interpreter, first: Floats, other: Floats) -> None:
    """Set the values of what follows, to the player who moves there: player 0, and the other.

    They are (G, G, H).
    """
    graph, values = passes.graph, passes.passes.values[0]
    worth = first.reshape(-1, graph.memories), 1.0 - other.reshape(-1, graph.memories)
    for player in (0, 1):
        there = np.flatnonzero(graph.player == player)
        values[there] = worth[player][graph.row[there]]


def values_at(passes: Interpreter, own: int, opponent: int, player: int = 0) -> Floats:
    """Win probability of a player's rolls at a cell, (H, K); 0 where play never is."""
    size, _, actions = passes.action_values.shape
    graph = passes.graph
    here = np.flatnonzero((graph.player == player) & (graph.row == own * size + opponent))
    for _, rolls in payoffs_at(passes, here):
        return np.asarray(rolls[0] if player == 0 else 1.0 - rolls[0])
    return np.zeros((graph.memories, actions))


def roll_values(passes: Interpreter) -> Iterator[tuple[Ints, Floats]]:
    """Win probability of player 0's rolls at all cells: cells (n,), and (n, H, K)."""
    graph = passes.graph
    for positions, rolls in payoffs_at(passes, np.flatnonzero(graph.player == 0)):
        yield graph.row[positions].astype(np.int64), rolls


def payoffs_at(passes: Interpreter, positions: Ints) -> Iterator[tuple[Ints, Floats]]:
    """Payoff to player 0 of the rolls of who moves at positions: some of them (n,), and (n, H, K).

    By the values of passes.
    """
    graph, lists, lanes = passes.graph, passes.passes.lists, passes.graph.following.shape[1]
    values, payoff = passes.passes.values[0], passes.passes.payoff
    situations = graph.situation[positions]
    for situation in np.unique(situations).tolist():
        chances, place = _rolls_in(graph)[situation]
        here = positions[situations == situation]
        size = max(lanes * sum(chances.shape), place.size)
        parts = 1 + len(here) * size // MOST_ENTRIES
        for some in np.array_split(here, parts) if parts > 1 else [here]:
            ends = lists.base[some, None] + np.arange(chances.shape[1])
            after = lists.next[ends][..., None]
            states = after * graph.memories + graph.following.take(lists.label[ends], axis=0)
            worth = values.ravel().take(states, mode="clip")  # below 0 are payoffs
            np.copyto(worth, payoff.take(-1 - after, mode="clip"), where=after < 0)
            rolled = (chances @ worth).reshape(len(some), -1)
            yield some, np.take(rolled, place, axis=1)


def send_on(graph: Graph, positions: Ints, rolls: Floats, reach: Floats) -> None:
    """Add to the `reach` (C,) of what follows positions, if `rolls` (n, K) are played there.

    Of a graph without hidden memory: the transpose of values.
    """
    situations = graph.situation[positions]
    for situation in np.unique(situations).tolist():
        chances, place = _rolls_in(graph)[situation]
        is_here = situations == situation
        here = positions[is_here]
        flows = (reach[here, None] * rolls[is_here]) @ chances[place[0]]
        after = graph.next[graph.place[here, None] + np.arange(chances.shape[1])]
        np.add.at(reach, after[after >= 0], flows[after >= 0])


@lru_cache(maxsize=4)
def _rolls_in(graph: Graph) -> list[tuple[Floats, Ints]]:
    """Chances of the ends of each way of a situation, (U, E), and the place of rolls, (H, K)."""
    lists, found = lists_of(graph), []
    for situation, count in enumerate(lists.ends.tolist()):
        ways = lists.ways[lists.ways_start[situation] : lists.ways_start[situation + 1]]
        chances = np.zeros((len(ways), count))
        for number, way in enumerate(ways):
            outcomes = slice(lists.first[way], lists.first[way + 1])
            np.add.at(chances[number], lists.end[outcomes], lists.chance[outcomes])
        way, lane = np.divmod(lists.place[situation], lists.following.shape[1])
        place = way * graph.following.shape[1] + lane
        found.append((chances, place.T.astype(np.int64)))
    return found
