"""Values of all rolls at all cells of a game, by the values of what follows: one turn at once."""

from collections.abc import Iterator

import numpy as np

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


def values_at(passes: Interpreter, own: int, opponent: int) -> Floats:
    """Win probability of player 0's rolls at a cell, (H, K); 0 where play never is."""
    size, _, actions = passes.action_values.shape
    for _, rolls in roll_values(passes, own * size + opponent):
        return np.asarray(rolls[0])
    return np.zeros((passes.graph.memories, actions))


def roll_values(passes: Interpreter, only: int | None = None) -> Iterator[tuple[Ints, Floats]]:
    """Win probability of player 0's rolls, by the values of passes: cells (n,), and (n, H, K).

    At all cells, or at one of them, own score * G + opponent's.
    """
    graph, lists = passes.graph, passes.passes.lists
    values, payoff = passes.passes.values[0], passes.passes.payoff
    is_mine = graph.player == 0 if only is None else (graph.player == 0) & (graph.row == only)
    mine, lanes = np.flatnonzero(is_mine), graph.following.shape[1]
    for situation in np.unique(graph.situation[mine]).tolist():
        ways = lists.ways[lists.ways_start[situation] : lists.ways_start[situation + 1]]
        chances = np.zeros((len(ways), lists.ends[situation]))
        for number, way in enumerate(ways):
            outcomes = slice(lists.first[way], lists.first[way + 1])
            np.add.at(chances[number], lists.end[outcomes], lists.chance[outcomes])
        way, lane = np.divmod(lists.place[situation], lists.following.shape[1])
        place = (way * lanes + lane).T  # of rolls, by memory
        here = mine[graph.situation[mine] == situation]
        size = max(lanes * sum(chances.shape), place.size)
        for cells in np.array_split(here, 1 + len(here) * size // MOST_ENTRIES):
            ends = lists.base[cells, None] + np.arange(chances.shape[1])
            after = lists.next[ends][..., None]
            learned = graph.following[lists.label[ends]]
            paid = payoff[np.where(after < 0, -1 - after, 0)]
            worth = np.where(after < 0, paid, values[np.maximum(after, 0), learned])
            rolled = (chances @ worth).reshape(len(cells), -1)
            yield graph.row[cells], np.take(rolled, place, axis=1)
