"""Plays that never end: states from which two strategies never leave a level that recurs."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hogeq.graph.graph import NATURE, Graph
from hogeq.support.aliases import Floats
from hogeq.support.messages import HogeqError

State = tuple[int, int]  # position and memory


class EndlessError(HogeqError):
    """Two strategies between which a game may never end.

    Examples
    --------
    >>> import hogeq
    >>> game = hogeq.Game({"goal": 6, "max_dice": 2, "zero_dice": [0] * 6})
    >>> try:
    ...     game.win_rate("always_roll:0", "always_roll:0")
    ... except hogeq.EndlessError:
    ...     print("never ends")
    never ends
    """


class Staying(NamedTuple):
    """An action that stays in a level for certain."""

    action: int
    after: frozenset[State]  # states that can follow


def staying_actions(graph: Graph) -> dict[State, list[Staying]]:
    """List by state the actions after which play is still in the same level, whatever chance does.

    A state is a position and a memory, a level a set of positions. Only states of players in levels
    that recur (play may return to them) have any. A way is a distribution over outcomes by which
    actions are played; the next memory follows from an outcome's label and the lane of the memory.
    """
    staying: dict[State, list[Staying]] = {}
    level = graph.level_of
    can_stay = graph.recurring[level] & (graph.player != NATURE)  # (C,)
    for situation, ways in enumerate(graph.way):
        positions = np.flatnonzero((graph.situation == situation) & can_stay)
        for way in np.unique(ways[ways >= 0]) if len(positions) else ():
            outcomes = np.arange(graph.first[way], graph.first[way + 1])
            ends = graph.end[outcomes][graph.chance[outcomes] > 0]
            entries = graph.place[positions, None] + ends  # (positions, ends)
            after = graph.next[entries]
            stays = (after >= 0) & (level[np.maximum(after, 0)] == level[positions, None])
            memories, actions = np.nonzero(ways == way)  # all that play this way
            for index in np.flatnonzero(stays.all(axis=1)):  # positions at which every end stays
                for memory, action in zip(memories.tolist(), actions.tolist(), strict=True):
                    learned = graph.following[graph.label[entries[index]], graph.lane[memory]]
                    states = frozenset(zip(after[index].tolist(), learned.tolist(), strict=True))
                    state = int(positions[index]), memory
                    staying.setdefault(state, []).append(Staying(action, states))
    return staying


def never_left(
    graph: Graph,
    staying: dict[State, list[Staying]],
    policies: Sequence[Floats | None],
) -> dict[State, list[int]]:
    """Find the largest set of states that play never leaves, each with the actions that stay in it.

    Players 0 and 1 play `policies`, (R, K); a player without one, None, may choose any action.
    `staying` is from :func:`staying_actions`. Beginning with all its states, remove those in which
    play may leave the set, until there are no more of them.
    """
    remaining = staying
    while True:
        smaller = {}
        for (position, memory), actions in remaining.items():
            within = [stay for stay in actions if stay.after <= remaining.keys()]
            played = policies[graph.player[position]]
            # A policy must stay by all that it plays; a player without one by any action.
            if _stays(within, None if played is None else played[graph.row[position]]):
                smaller[position, memory] = within
        if len(smaller) == len(remaining):
            return {state: [stay.action for stay in actions] for state, actions in smaller.items()}
        remaining = smaller


def _stays(actions: list[Staying], probabilities: Floats | None) -> bool:
    """Whether all that is played with some probability, (K,), is among actions; of None any is."""
    if probabilities is None:
        return bool(actions)
    return {*np.flatnonzero(probabilities).tolist()} <= {stay.action for stay in actions}


def ways_to_stay(
    graph: Graph, staying: dict[State, list[Staying]], policies: Floats
) -> list[tuple[int, int]]:
    """List changes of player 0's policy, (row, action), that let a game go on for ever.

    `policies`, (2, R, K), are those of both players; player 1 keeps to its own. The rows are those
    of states that play need never leave if player 0 stays, but that player 0 may leave by now.
    """
    action_by_row: dict[int, int] = {}
    for (position, _), actions in never_left(graph, staying, [None, policies[1]]).items():
        row = int(graph.row[position])
        played = np.flatnonzero(policies[0][row]).tolist()
        stays_already = {*played} <= {*actions}
        if graph.player[position] == 0 and not stays_already:
            action_by_row.setdefault(row, actions[0])
    return [*action_by_row.items()]
