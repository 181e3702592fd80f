"""Plans that a side draws from before the game, and their actions."""

from typing import NamedTuple

import numpy as np

from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Floats
from hogeq.trees.flat import FlatTree, reach

ROUNDED = 1e-9  # probabilities below are 0


class Plan(NamedTuple):
    """One way to play, and the probability of drawing it."""

    probability: float
    policy: Floats  # (R, K), 0 at information sets that the plan never comes to

    def actions(self, tree: FlatTree, row: int) -> dict[str, float]:
        """Give the probabilities of actions at a row; none if the plan does not come there."""
        shares = zip(tree.labels[row], self.policy[row].tolist(), strict=False)
        return {name: share for name, share in shares if share}


def plans(tree: FlatTree, strategy: Strategy, player: int) -> list[Plan]:
    """List the plans of one side, the likeliest first; components that play alike are one."""
    drawn: dict[bytes, Plan] = {}
    for chance, policy in zip(strategy.chances.tolist(), strategy.policies, strict=True):
        own = np.where(policy > ROUNDED, policy, 0.0)
        comes = (tree.player == player) & (reach(tree, own, 1 - player) > 0.0)
        rows = np.zeros(tree.num_rows, bool)
        rows[tree.row[comes]] = True
        own *= rows[:, None]
        key = own.round(9).tobytes()
        before = drawn[key].probability if key in drawn else 0.0
        drawn[key] = Plan(before + chance, own)
    found = [one for one in drawn.values() if one.probability > ROUNDED]
    return sorted(found, key=lambda one: -one.probability)
