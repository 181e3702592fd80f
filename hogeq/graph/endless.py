"""Plays that never end: states from which two strategies never leave a level that recurs."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hogeq.graph.graph import NATURE, Graph
from hogeq.support.aliases import Floats
from hogeq.support.messages import BadInputError

State = tuple[int, int]  # position and memory


class EndlessError(BadInputError):
    """Two strategies between which a game may never end."""


class Staying(NamedTuple):
    """An action that stays in a level for certain."""

    action: int
    after: frozenset[State]  # states that can follow


def staying_actions(graph: Graph) -> dict[State, list[Staying]]:
    """List the actions that stay in their level for certain, by state."""
    situations, _, _ = graph.way.shape
    pairs = [np.unique(ways[ways >= 0]) for ways in graph.way]
    found: dict[State, list[Staying]] = {}
    level = graph.level_of
    for situation in range(situations):
        positions = np.flatnonzero(
            (graph.situation == situation) & graph.recurring[level] & (graph.player != NATURE)
        )
        for way in pairs[situation] if len(positions) else ():
            outcomes = np.arange(graph.first[way], graph.first[way + 1])
            entries = graph.place[positions, None] + graph.end[outcomes][graph.chance[outcomes] > 0]
            after = graph.next[entries]
            stays = (after >= 0) & (level[np.maximum(after, 0)] == level[positions, None])
            memories, actions = np.nonzero(graph.way[situation] == way)
            for place in np.flatnonzero(stays.all(axis=1)):
                for memory, action in zip(memories.tolist(), actions.tolist(), strict=True):
                    learned = graph.following[graph.label[entries[place]], graph.lane[memory]]
                    states = frozenset(zip(after[place].tolist(), learned.tolist(), strict=True))
                    state = int(positions[place]), memory
                    found.setdefault(state, []).append(Staying(action, states))
    return found


def never_left(
    graph: Graph,
    staying: dict[State, list[Staying]],
    policies: Sequence[Floats | None],
) -> dict[State, list[int]]:
    """Largest set of states that play never leaves, each with the actions that stay in it.

    Players 0 and 1 play policies (R, K); one of None may choose any action.
    """
    actions = dict(staying)
    for (position, memory), certain in staying.items():
        policy = policies[graph.player[position]]
        if policy is not None:
            known = {one.action for one in certain}
            if not {*np.flatnonzero(policy[graph.row[position]]).tolist()} <= known:
                del actions[position, memory]
    while True:
        left = {
            state: [one for one in certain if one.after <= actions.keys()]
            for state, certain in actions.items()
        }
        kept = {}
        for state, certain in left.items():
            policy = policies[graph.player[state[0]]]
            if policy is not None:
                played = {*np.flatnonzero(policy[graph.row[state[0]]]).tolist()}
                if played <= {one.action for one in certain}:
                    kept[state] = certain
            elif certain:
                kept[state] = certain
        if len(kept) == len(actions):
            return {state: [one.action for one in certain] for state, certain in kept.items()}
        actions = kept


def ways_to_stay(
    graph: Graph, staying: dict[State, list[Staying]], policies: Floats
) -> list[tuple[int, int]]:
    """List rows and actions by which player 0 of policies (2, R, K) could stay for ever.

    Staying there, and wherever player 0 comes to move before that again, is for ever, since the
    other player stays too.
    """
    found = dict[int, int]()
    for (position, _), actions in never_left(graph, staying, [None, policies[1]]).items():
        row = int(graph.row[position])
        stays = not {*np.flatnonzero(policies[0][row]).tolist()} - {*actions}
        if graph.player[position] == 0 and not stays:
            found.setdefault(row, actions[0])
    return [*found.items()]
