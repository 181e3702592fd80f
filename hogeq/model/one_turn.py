"""One turn from many positions at once, in numpy: values of all rolls backward, reach forward."""

from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from hogeq.graph.graph import Graph
from hogeq.model.graph_layout import GraphLayout
from hogeq.model.pass_graph import pass_graph_of
from hogeq.support.aliases import Floats, Ints

MOST_ENTRIES = 200_000  # of an array: so many stay in a processor's cache


def follow_with(passes: GraphLayout, first: Floats, other: Floats) -> None:
    """Set the values that turns lead to: win probabilities (G, G, H) of who moves after the turn.

    `first` are player 0's where it moves, `other` those of player 1.
    """
    graph, values = passes.graph, passes.passes.values[0]
    # Values are payoffs to player 0.
    payoffs = first.reshape(-1, graph.memories), 1.0 - other.reshape(-1, graph.memories)
    for player in (0, 1):
        positions = np.flatnonzero(graph.player == player)
        values[positions] = payoffs[player][graph.row[positions]]


def values_at(passes: GraphLayout, own: int, opponent: int, player: int = 0) -> Floats:
    """Win probability of a player's rolls at a cell, (H, K); 0 where play never is."""
    size, _, actions = passes.action_values.shape
    graph = passes.graph
    cell = own * size + opponent
    positions = np.flatnonzero((graph.player == player) & (graph.row == cell))
    for _, payoffs in payoffs_at(passes, positions):  # of one position, if any
        return np.asarray(payoffs[0] if player == 0 else 1.0 - payoffs[0])
    return np.zeros((graph.memories, actions))


def roll_values(passes: GraphLayout) -> Iterator[tuple[Ints, Floats]]:
    """Win probability of player 0's rolls at all cells: cells (n,), and (n, H, K)."""
    graph = passes.graph
    for positions, payoffs in payoffs_at(passes, np.flatnonzero(graph.player == 0)):
        yield graph.row[positions].astype(np.int64), payoffs


def payoffs_at(passes: GraphLayout, positions: Ints) -> Iterator[tuple[Ints, Floats]]:
    """Yield some positions at a time, (n,), with the payoffs to player 0 of all rolls, (n, H, K).

    They come from the values of passes, whoever moves there. Positions of one situation (the same
    dice, used alike) share their chances, and come in chunks small enough for the cache. A way is a
    distribution over the ends of a turn, a lane what a memory hands on: an end and a lane give the
    next memory.
    """
    graph, pass_graph = passes.graph, passes.passes.pass_graph
    lanes = graph.following.shape[1]
    values, payoff = passes.passes.values[0], passes.passes.payoff
    situations = graph.situation[positions]
    for situation in np.unique(situations).tolist():
        chances, slot = _turns_of_situations(graph)[situation]
        ways, num_ends = chances.shape
        same_situation = positions[situations == situation]
        entries_of_position = max(lanes * (ways + num_ends), slot.size)
        num_chunks = 1 + len(same_situation) * entries_of_position // MOST_ENTRIES
        chunks = np.array_split(same_situation, num_chunks) if num_chunks > 1 else [same_situation]
        for chunk in chunks:
            entries = pass_graph.end_start[chunk, None] + np.arange(num_ends)
            after = pass_graph.next_position[entries][..., None]  # position, or -1 - payoff
            next_memories = graph.following.take(pass_graph.end_label[entries], axis=0)
            states = after * graph.memories + next_memories
            # Read everywhere (n, E, J), clipped, and then replaced where play is over.
            end_values = values.ravel().take(states, mode="clip")
            np.copyto(end_values, payoff.take(-1 - after, mode="clip"), where=after < 0)
            way_values = (chances @ end_values).reshape(len(chunk), -1)  # (n, U * J)
            yield chunk, np.take(way_values, slot, axis=1)


def send_on(graph: Graph, positions: Ints, rolls: Floats, reach: Floats) -> None:
    """Add to `reach` (C,), in place, that of what follows positions if `rolls` (n, K) are played.

    Of a graph without hidden memory: the transpose of values. Chances of a roll's ends are by
    situation, the kind of position; a way is a distribution over ends, by which a roll is played.
    """
    situations = graph.situation[positions]
    for situation in np.unique(situations).tolist():
        chances, slot = _turns_of_situations(graph)[situation]
        way_of_roll = slot[0]  # with one memory there is one lane
        is_same = situations == situation
        same_situation = positions[is_same]
        flows = (reach[same_situation, None] * rolls[is_same]) @ chances[way_of_roll]
        after = graph.next[graph.place[same_situation, None] + np.arange(chances.shape[1])]
        goes_on = after >= 0  # else play is over
        np.add.at(reach, after[goes_on], flows[goes_on])


@lru_cache(maxsize=4)
def _turns_of_situations(graph: Graph) -> list[tuple[Floats, Ints]]:
    """List by situation how turns end: (chances, slot).

    - chances (U, E): probability of each of E ends of a turn, by way to play it (dice, and bonus);
    - slot (H, K): by memory and roll, way * J + lane, where the lane is what the memory hands on:
      an index of values (U, J) of ways, once they are flattened.
    """
    pass_graph, turns = pass_graph_of(graph), []
    for situation, num_ends in enumerate(pass_graph.num_ends.tolist()):
        first, last = pass_graph.situation_start[situation : situation + 2]
        ways = pass_graph.situation_ways[first:last]
        chances = np.zeros((len(ways), num_ends))
        for row, way in zip(chances, ways, strict=True):
            outcomes = slice(*pass_graph.outcome_start[way : way + 2])
            np.add.at(row, pass_graph.outcome_end[outcomes], pass_graph.outcome_chance[outcomes])
        # Kernels number slots with their own, padded number of lanes.
        padded_lanes = pass_graph.next_memory.shape[1]
        way_of_roll, lane = np.divmod(pass_graph.action_slot[situation], padded_lanes)
        slot = way_of_roll * graph.following.shape[1] + lane
        turns.append((chances, slot.T.astype(np.int64)))
    return turns
