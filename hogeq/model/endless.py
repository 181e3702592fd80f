"""Games that never end: two strategies that leave the scores as they are, turn after turn."""

import numpy as np

from hogeq.model.workspace import Workspace
from hogeq.support.aliases import Floats


class EndlessError(ValueError):
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
    cell, roll, target, again = work.tables.cycles.certain.T
    if not len(cell):
        return None
    goal, num_actions = policies.shape[1], policies.shape[3]
    rows = policies.reshape(2, goal * goal, num_actions)[:, cell]
    place = np.full(goal * goal, -1)
    place[cell] = np.arange(len(cell))
    for_ever = (rows > 0.0).sum(axis=2) == 1  # (2, n), by the player to move
    for_ever &= rows[:, np.arange(len(cell)), roll] > 0.0
    mover = np.where(again, [[0], [1]], [[1], [0]])
    while True:
        goes_on = for_ever & for_ever[mover, place[target]]
        if (goes_on == for_ever).all():
            break
        for_ever = goes_on
    for player in np.flatnonzero(for_ever.any(axis=1)):
        reach = work.cell_reach(np.ascontiguousarray(policies[[player, 1 - player]])).ravel()
        met = cell[for_ever[player] & (reach[cell] > 0.0)]
        if len(met):
            own, opponent = divmod(int(met[0]), goal)
            return own, opponent
    return None
