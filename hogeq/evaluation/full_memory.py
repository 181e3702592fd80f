"""Win rates of players who see the hidden memory as well as the scores."""

import numpy as np
from numpy.typing import ArrayLike

from hogeq.evaluation.win_rates import win_rate
from hogeq.model.game import HogEngine
from hogeq.model.workspace import WinRate
from hogeq.strategies.policies import policy_of
from hogeq.support.aliases import Floats


def remembering_win_rate(game: HogEngine, rolls: ArrayLike, strategy: ArrayLike) -> WinRate:
    """Exact win rate of a player who knows the hidden memory against one who does not.

    Parameters
    ----------
    game : HogEngine
    rolls : array_like of int, shape (G, G, H)
        Dice rolled by own score, opponent's score and memory (`HogEngine.memories`).
    strategy : array_like
        The other's, a matrix (G, G) or a policy (G, G, K).

    Returns
    -------
    WinRate
        Of the player who remembers.

    Raises
    ------
    ValueError
        If `rolls` has the wrong shape or is out of range, if `strategy` is malformed, or if
        positions of a game with hidden memory can recur.
    """
    table = np.asarray(rolls)
    shape = (game.goal, game.goal, game.memory_size)
    if table.shape != shape or table.dtype.kind not in "iu":
        raise ValueError(f"rolls: {table.dtype} {table.shape}; allowed: whole numbers {shape}")
    if table.min() < 0 or table.max() >= game.num_actions:
        raise ValueError(
            f"rolls: {table.min()} to {table.max()}; allowed: 0 to {game.num_actions - 1}"
        )
    if game.has_memory and game.positions_recur:
        raise ValueError(
            f"rules {game.rules.name}: positions can recur and rolls depend on hidden memory; "
            "allowed: rules of which only one is true"
        )
    policy = policy_of(game, strategy)
    if not game.has_memory:
        return win_rate(game, table[:, :, 0], policy)

    def memory_values(player: int, own: int, opponent: int, found: Floats) -> Floats:
        if player == 1:
            return found @ policy[own, opponent]
        chosen = table[own, opponent].astype(np.int64)[:, None]
        return np.take_along_axis(found, chosen, axis=1)[:, 0]

    return WinRate.from_starts(*game.workspace(2).backward_by(memory_values))
