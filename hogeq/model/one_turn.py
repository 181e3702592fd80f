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
    """Set win probabilities (G, G, H) after a turn, of who moves there: player 0, and the other."""
    graph, values = passes.graph, passes.passes.values[0]
    payoffs = first.reshape(-1, graph.memories), 1.0 - other.reshape(-1, graph.memories)
    for player in (0, 1):
        positions = np.flatnonzero(graph.player == player)
        values[positions] = payoffs[player][graph.row[positions]]


def values_at(passes: Interpreter, own: int, opponent: int, player: int = 0) -> Floats:
    """Win probability of a player's rolls at a cell, (H, K); 0 where play never is."""
    size, _, actions = passes.action_values.shape
    graph = passes.graph
    positions = np.flatnonzero((graph.player == player) & (graph.row == own * size + opponent))
    for _, payoffs in payoffs_at(passes, positions):  # of one position, if any
        return np.asarray(payoffs[0] if player == 0 else 1.0 - payoffs[0])
    return np.zeros((graph.memories, actions))


def roll_values(passes: Interpreter) -> Iterator[tuple[Ints, Floats]]:
    """Win probability of player 0's rolls at all cells: cells (n,), and (n, H, K)."""
    graph = passes.graph
    for positions, payoffs in payoffs_at(passes, np.flatnonzero(graph.player == 0)):
        yield graph.row[positions].astype(np.int64), payoffs


def payoffs_at(passes: Interpreter, positions: Ints) -> Iterator[tuple[Ints, Floats]]:
    """Payoff to player 0 of the rolls at positions, by values of passes, whoever moves there.

    Positions of one situation (the same dice, used alike) share their chances, and come in parts
    small enough for the cache: yields some positions (n,), and their payoffs (n, H, K).
    """
    graph, lists, lanes = passes.graph, passes.passes.lists, passes.graph.following.shape[1]
    values, payoff = passes.passes.values[0], passes.passes.payoff
    situations = graph.situation[positions]
    for situation in np.unique(situations).tolist():
        chances, place = _turns_of_situations(graph)[situation]
        of_situation = positions[situations == situation]
        size = max(lanes * sum(chances.shape), place.size)
        parts = 1 + len(of_situation) * size // MOST_ENTRIES
        for part in np.array_split(of_situation, parts) if parts > 1 else [of_situation]:
            entries = lists.base[part, None] + np.arange(chances.shape[1])
            after = lists.next[entries][..., None]  # position, or -1 - number of a payoff
            states = after * graph.memories + graph.following.take(lists.label[entries], axis=0)
            end_values = values.ravel().take(states, mode="clip")  # (n, E, J), also of payoffs
            np.copyto(end_values, payoff.take(-1 - after, mode="clip"), where=after < 0)
            way_values = (chances @ end_values).reshape(len(part), -1)  # (n, U * J)
            yield part, np.take(way_values, place, axis=1)


def send_on(graph: Graph, positions: Ints, rolls: Floats, reach: Floats) -> None:
    """Add to the `reach` (C,) of what follows positions, if `rolls` (n, K) are played there.

    Of a graph without hidden memory: the transpose of values.
    """
    situations = graph.situation[positions]
    for situation in np.unique(situations).tolist():
        chances, place = _turns_of_situations(graph)[situation]
        way_of_roll = place[0]  # with one memory there is one lane
        is_here = situations == situation
        here = positions[is_here]
        flows = (reach[here, None] * rolls[is_here]) @ chances[way_of_roll]
        after = graph.next[graph.place[here, None] + np.arange(chances.shape[1])]
        np.add.at(reach, after[after >= 0], flows[after >= 0])


@lru_cache(maxsize=4)
def _turns_of_situations(graph: Graph) -> list[tuple[Floats, Ints]]:
    """List by situation how turns end: (chances, place).

    - chances (U, E): probability of each of E ends of a turn, by way to play it (dice, and bonus);
    - place (H, K): by memory and roll, way * J + lane, where the lane is what the memory hands on:
      an index of values (U, J) of ways, once they are flattened.
    """
    lists, turns = lists_of(graph), []
    for situation, num_ends in enumerate(lists.ends.tolist()):
        ways = lists.ways[lists.ways_start[situation] : lists.ways_start[situation + 1]]
        chances = np.zeros((len(ways), num_ends))
        for row, way in zip(chances, ways, strict=True):
            outcomes = slice(lists.first[way], lists.first[way + 1])
            np.add.at(row, lists.end[outcomes], lists.chance[outcomes])
        # Kernels number places with their own, padded number of lanes.
        way_of_roll, lane = np.divmod(lists.slot[situation], lists.following.shape[1])
        place = way_of_roll * graph.following.shape[1] + lane
        turns.append((chances, place.T.astype(np.int64)))
    return turns
