"""Win rates of players who see the hidden memory as well as the scores."""

import numpy as np
from numpy.typing import ArrayLike

from hogeq.evaluation.win_rates import policy_of, win_rate
from hogeq.kernels import passes
from hogeq.model.game import Game
from hogeq.model.workspace import WinRate, Workspace
from hogeq.support.aliases import Floats


def remembering_win_rate(game: Game, rolls: ArrayLike, strategy: ArrayLike) -> WinRate:
    """Exact win rate of a player who knows the hidden memory against one who does not.

    Parameters
    ----------
    game : Game
    rolls : array_like of int, shape (G, G, H)
        Dice rolled by own score, opponent's score and memory (`Game.memories`).
    strategy : array_like
        The other's, a matrix (G, G) or a policy (G, G, K).

    Returns
    -------
    WinRate
        Of the player who remembers.

    Raises
    ------
    ValueError
        If `rolls` has another shape or rolls that the game has not, or `strategy` is malformed.
    """
    table = np.asarray(rolls)
    shape = (game.goal, game.goal, game.memory_size)
    if table.shape != shape or table.dtype.kind not in "iu":
        raise ValueError(f"rolls: {table.dtype} {table.shape}, allowed are whole numbers {shape}")
    if table.min() < 0 or table.max() >= game.num_actions:
        raise ValueError(
            f"rolls: {table.min()} to {table.max()}, allowed are 0 to {game.num_actions - 1}"
        )
    if game.has_memory and game.tables.has_cycles:
        raise ValueError(
            f"rules {game.rules.name}: positions can recur and rolls depend on hidden memory, "
            "allowed are rules of which only one is true"
        )
    policy = policy_of(game, strategy)
    if not game.has_memory:
        return win_rate(game, table[:, :, 0], policy)
    work = game.workspace(2)
    work.values[:, game.tables.fixed_win] = 1.0
    roots = [0.0, 0.0]
    slots = np.zeros(work.slots)
    for total in range(2 * game.goal - 2, -1, -1):
        for own in range(max(0, total - game.goal + 1), min(total, game.goal - 1) + 1):
            opponent = total - own
            for player in (0, 1):
                found = _roll_values(work, player, own, opponent)[game.memory_slot]
                if player == 0:
                    chosen = table[own, opponent].astype(np.int64)[:, None]
                    slots[game.memory_slot] = np.take_along_axis(found, chosen, axis=1)[:, 0]
                else:
                    slots[game.memory_slot] = found @ policy[own, opponent]
                _publish(work, player, own, opponent, slots)
                roots[player] = float(slots[game.tables.start])
    first, other = roots
    return WinRate((first + 1.0 - other) / 2.0, first, 1.0 - other)


def _roll_values(work: Workspace, player: int, own: int, opponent: int) -> Floats:
    """Win probability of a player's rolls in every memory slot, (J * L, K)."""
    out = np.zeros((work.slots, work.counterfactual_values.shape[2]))
    passes.hidden_values(work.tables, work.values[player], own, opponent, out)
    return out


def _publish(work: Workspace, player: int, own: int, opponent: int, slots: Floats) -> None:
    """Write a cell's values by memory slot to the afterstates that land on the cell."""
    tables = work.tables
    goal, _, records, *_ = tables.sizes
    stride = tables.strides.records
    width = len(tables.lane)
    cell = own * goal + opponent
    arrivals = slice(tables.arrival_start[cell], tables.arrival_start[cell + 1])
    lanes = np.arange(records)[:, None] * stride + np.arange(width)
    at = tables.arrival_base[arrivals, None, None] + lanes
    again = tables.arrival_again[arrivals].astype(bool)
    values = slots[tables.next_memory[again.astype(np.int64)]]  # arrival, record, lane
    work.values[player][at[again]] = values[again]
    work.values[1 - player][at[~again]] = 1.0 - values[~again]
