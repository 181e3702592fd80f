"""Positions that recur: cells that feed each other by turns that leave the total as it was.

A game never ends where two strategies leave the scores as they are, turn after turn.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.kernels.recurring import Loops
from hogeq.model.turn_lists import AGAIN, WIN, TurnLists, turn_lists
from hogeq.rules import Rules
from hogeq.rules.turn import total_rises
from hogeq.support.aliases import Floats, Ints
from hogeq.support.messages import BadInputError, HogeqError

MOST_STAY = 0.999
"""Probability to which a turn may stay where values are iterated: then some 20,000 times."""


class EndlessError(BadInputError):
    """Two strategies between which a game may never end."""


class Recurrence(NamedTuple):
    """How positions of a game recur."""

    loops: Loops
    certain: Ints
    """(n, 4), turns that stay for certain and can follow each other for ever: cell, roll, cell on
    which it lands, 1 if the same player moves again."""

    def endless_turns(self, policies: Floats) -> NDArray[np.bool_]:
        """Whether a game never ends after a turn, (2, n), by mover; policies (2, G, G, K)."""
        return self._for_ever(self._staying(policies))

    def ways_to_stay(self, policies: Floats) -> list[tuple[tuple[int, ...], int]]:
        """List scores and rolls by which player 0 of policies (2, G, G, K) could stay for ever.

        Staying there, and wherever player 0 comes to move before that again, is for ever, since the
        other player stays too.
        """
        if not len(self.certain):
            return []
        stays = self._staying(policies)
        can = np.stack([np.ones_like(stays[0]), stays[1]])
        goal = policies.shape[1]
        is_first = self.certain[:, 0] < goal**2
        found = self.certain[self._for_ever(can)[0] & ~stays[0] & is_first]
        return [(divmod(cell, goal), roll) for cell, roll, *_ in found.tolist()]

    def _staying(self, policies: Floats) -> NDArray[np.bool_]:
        """Whether a player always plays the turns that stay for certain, (2, n), n of them."""
        cell, roll = self.certain[:, :2].T
        goal, num_actions = policies.shape[1], policies.shape[3]
        rows = policies.reshape(2, goal * goal, num_actions)[:, cell % goal**2]
        only = (rows > 0.0).sum(axis=2) == 1
        return np.asarray(only & (rows[:, np.arange(len(cell)), roll] > 0.0))

    def _for_ever(self, for_ever: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Of turns that stay, by the player to move, those after which all that follow stay too."""
        cell, _, target, again = self.certain.T
        place = np.full(self.certain[:, [0, 2]].max() + 1, -1)
        place[cell] = np.arange(len(cell))
        mover = np.where(again, [[0], [1]], [[1], [0]])
        while True:
            goes_on = for_ever & for_ever[mover, place[target]]
            if (goes_on == for_ever).all():
                return for_ever
            for_ever = goes_on


def find_recurrence(rules: Rules) -> Recurrence | None:
    """Find how positions of a game recur; None if they do not.

    Raises
    ------
    ValueError
        If a game could go on for ever, or nearly for ever, and it is not so that nothing is hidden
        and just two positions lead to each other.
    """
    if total_rises(replace(rules, goal=rules.size)):
        return None
    turns = turn_lists(rules)
    total, end = turns.scores.sum(axis=1), turns.end[turns.first[:-1]]
    kind, there = turns.kind[:, end], turns.cell[:, end].astype(np.int64)
    stays = (kind < WIN) & (total[there] == total[:, None])
    source, way = np.nonzero(stays & (turns.usable[turns.situation] > 0))
    if not len(source):
        return None
    target, again = there[source, way], (kind[source, way] == AGAIN).astype(np.int64)
    cells, memories = len(total), turns.place.shape[2]
    is_certain = turns.later[way] == 0.0
    trapped = _joined(cells, source[is_certain], target[is_certain])
    stuck = is_certain & (trapped[source] == trapped[target])
    certain = np.stack([source, turns.dice[way], target, again], axis=1)[stuck]

    label = _joined(cells, source, target)
    inside = label[source] == label[target]
    outward = label[source[~inside]], label[target[~inside]]
    source, way, target, again = (x[inside] for x in (source, way, target, again))
    size, cell = np.bincount(label)[label], np.arange(cells)
    other = np.bincount(label, cell)[label] - np.where(size == 1, 0, cell)
    in_pairs = memories == 1 and not again.any() and size.max() <= 2
    in_pairs = bool(in_pairs and (other[source] == target).all())
    if len(source) and not in_pairs:
        chance = turns.chance[turns.first[way]]
        often = int(np.argmax(chance))
        if len(certain) or chance[often] > MOST_STAY:
            scores = divmod(int(source[often]) % rules.size**2, rules.size)
            raise HogeqError(
                f"a game could go on for ever: at scores {scores[0]} and {scores[1]}, rolling "
                f"{turns.dice[way[often]]} dice leaves both as they were with probability "
                f"{chance[often]:.6g}, and so it can go on; allowed: at most {MOST_STAY}, or any "
                "where nothing is hidden and the other player moves next"
            )
    record = turns.record[source, end[way]].astype(np.int64)
    stays_inside = source, way, target, again, record
    entered = _entered_from(turns, stays_inside, np.ones((cells, memories), np.uint8))
    entered += _entered_from(turns, stays_inside, entered)
    depth = np.zeros(cells, np.int64)  # of blocks: how far the turns of one can lead, by others
    while (deeper := _after(depth, *outward)).max() > depth.max():
        depth = deeper
    order = np.lexsort((cell, label, depth[label], -total))
    start = np.flatnonzero(np.diff(label[order], prepend=-1))
    member = np.empty(cells, np.int64)
    member[order] = cell - np.repeat(start, np.diff(np.append(start, cells)))
    block = np.full(cells, -1)
    block[source] = label[source]
    loops = Loops(np.append(start, cells), order, block, member, entered, in_pairs)
    return Recurrence(loops, certain)


def _entered_from(
    turns: TurnLists, stays: tuple[Ints, ...], states: NDArray[np.uint8]
) -> NDArray[np.uint8]:
    """States, (C, H), to which turns that stay lead from some states, (C, H)."""
    found = np.zeros_like(states)
    ways, lanes = np.divmod(turns.place, turns.following.shape[2])
    for one in np.unique(stays[1]):
        here = stays[1] == one
        source, _, target, again, record = (column[here] for column in stays)
        rolls = (ways == one).any(axis=1)  # (S, H)
        turn, memory = np.nonzero(states[source] & rolls[turns.situation[source]])
        follow = turns.following[again[turn], record[turn], lanes[0, 0][memory]]
        found[target[turn], follow] = 1
    return found


def _after(depth: Ints, source: Ints, target: Ints) -> Ints:
    """Depth of blocks, one more than of those that they lead to."""
    found = np.zeros_like(depth)
    np.maximum.at(found, source, depth[target] + 1)
    return found


def _joined(cells: int, source: Ints, target: Ints) -> Ints:
    """Label cells; those that lead to each other alike."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    edges = coo_array((np.ones(len(source), bool), (source, target)), shape=(cells, cells))
    _, labels = connected_components(edges, connection="strong")
    return np.asarray(labels, np.int64)
