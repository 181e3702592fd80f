"""Games that never end: two strategies that leave the scores as they are, turn after turn.

`certain` (n, 4) are turns that stay for certain; see :class:`hogeq.model.components.Recurrence`.
"""

import numpy as np
from numpy.typing import NDArray

from hogeq.support.aliases import Floats, Ints
from hogeq.support.messages import BadInputError


class EndlessError(BadInputError):
    """Two strategies between which a game may never end."""


def endless_turns(certain: Ints, policies: Floats) -> NDArray[np.bool_]:
    """Whether a game never ends after a turn, (2, n), by mover; policies (2, G, G, K)."""
    return _for_ever(certain, _staying(certain, policies))


def ways_to_stay(certain: Ints, policies: Floats) -> list[tuple[tuple[int, ...], int]]:
    """List scores and rolls by which player 0 of policies (2, G, G, K) could stay for ever.

    Staying there, and wherever player 0 comes to move before that again, is for ever, since the
    other player stays too.
    """
    stays = _staying(certain, policies)
    can = np.stack([np.ones_like(stays[0]), stays[1]])
    goal = policies.shape[1]
    found = certain[_for_ever(certain, can)[0] & ~stays[0] & (certain[:, 0] < goal**2)]
    return [(divmod(cell, goal), roll) for cell, roll, *_ in found.tolist()]


def _staying(certain: Ints, policies: Floats) -> NDArray[np.bool_]:
    """Whether a player always plays the turns that stay for certain, (2, n), n of them."""
    cell, roll = certain[:, :2].T
    goal, num_actions = policies.shape[1], policies.shape[3]
    rows = policies.reshape(2, goal * goal, num_actions)[:, cell % goal**2]
    only = (rows > 0.0).sum(axis=2) == 1
    return np.asarray(only & (rows[:, np.arange(len(cell)), roll] > 0.0))


def _for_ever(certain: Ints, for_ever: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Of turns that stay, by the player to move, those after which all that follow stay too."""
    cell, _, target, again = certain.T
    place = np.full(certain[:, [0, 2]].max() + 1, -1)
    place[cell] = np.arange(len(cell))
    mover = np.where(again, [[0], [1]], [[1], [0]])
    while True:
        goes_on = for_ever & for_ever[mover, place[target]]
        if (goes_on == for_ever).all():
            return for_ever
        for_ever = goes_on
