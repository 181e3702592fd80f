"""Linear models of the win rates of a mixture's parts against one counter."""

from typing import NamedTuple

import numpy as np

from hogeq.model.game import Game
from hogeq.model.shared import quick_many
from hogeq.model.workspace import Role
from hogeq.strategies.arrays import one_hot
from hogeq.support.aliases import Floats, Matrix, Singles


class Cut(NamedTuple):
    """Linear models of the parts' win rates against one counter."""

    won: Floats
    """(n,), exact win rate of every part where the models were taken."""
    gradients: Singles
    """(n, G * G, K)"""
    constants: Floats
    """(n,)"""
    reach: Singles
    """(n, G * G)"""


def linearised(game: Game, parts: Floats, counter: Matrix) -> Cut:
    """Linear models of the win rates of parts (n, G, G, K) against a counter."""
    work = quick_many(game, len(parts))
    work.face(one_hot(counter, game.num_actions))
    work.forward(parts)
    won = work.backward(parts.copy(), Role.COUNTERFACTUAL).win_rates
    rows = len(parts), -1, game.num_actions
    gradients = work.each.reshape(rows).astype(np.float32)
    modelled = np.einsum("nrk,nrk->n", gradients, parts.reshape(rows))
    reach = work.each_reach.reshape(rows[:2]).astype(np.float32)
    return Cut(won, gradients, won - modelled, reach)
