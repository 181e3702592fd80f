"""Games that never end: two strategies that leave the scores as they are, turn after turn."""

import numpy as np
from numpy.typing import NDArray

from hogeq.model.workspace import Workspace
from hogeq.support.aliases import Floats, Ints
from hogeq.support.messages import BadInputError


class EndlessError(BadInputError):
    """Two strategies between which a game may never end."""


def endless_position(work: Workspace, policies: Floats) -> tuple[int, int] | None:
    """Find where a game between two policies can come to and then never ends.

    Inside the solvers a game that never ends is a draw. Its win rate is no sum of chances to win.

    Parameters
    ----------
    work : Workspace
        Of a game, for two players.
    policies : float64 (2, G, G, K)

    Returns
    -------
    tuple of int or None
        Scores of the player to move and of the other, None if every game ends.
    """
    certain = work.certain_turns
    if not len(certain):
        return None
    half, cell = np.divmod(certain[:, 0], policies.shape[1] ** 2)
    for_ever = _for_ever(certain, _staying(certain, policies))
    for player in np.flatnonzero(for_ever.any(axis=1)):
        reach = work.cell_reach(policies, int(player)).ravel()
        moves = half == player * work.has_own_goals
        met = cell[for_ever[player] & moves & (reach[cell] > 0.0)]
        if len(met):
            own, opponent = divmod(int(met[0]), policies.shape[1])
            return own, opponent
    return None


def ways_to_stay(work: Workspace, policies: Floats) -> list[tuple[int, int, int]]:
    """List the rolls by which player 0 can keep a game from ending, and does not play.

    Parameters
    ----------
    work : Workspace
        Of a game, for two players.
    policies : float64 (2, G, G, K)

    Returns
    -------
    list of tuple
        Scores of player 0 and of the other, and the roll: staying there, and wherever player 0
        comes to move before that again, is for ever, since the other player stays too.
    """
    certain = work.certain_turns
    if not len(certain):
        return []
    stays = _staying(certain, policies)
    can = np.stack([np.ones_like(stays[0]), stays[1]])
    goal = policies.shape[1]
    found = certain[_for_ever(certain, can)[0] & ~stays[0] & (certain[:, 0] < goal**2)]
    return [(*divmod(cell, goal), roll) for cell, roll, *_ in found.tolist()]


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
