"""Linear models of win rates against counters, and the pool of counters that has them."""

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.evaluation.counterfactual import counterfactual_values
from hogeq.model.many import quick_many, quick_workspace
from hogeq.model.protocol import Engine
from hogeq.model.workspace import Role
from hogeq.search.population import Population
from hogeq.strategies.arrays import one_hot
from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Floats, Matrix, Singles


class Cut(NamedTuple):
    """Model of the win rate against one counter: of a policy, or of each of n parts of a mixture.

    Shapes are those of a policy; parts have one more axis, (n,), in front.
    """

    won: Floats
    """(), win rate where the model was taken: exact, of parts in the precision of searches."""
    gradients: Singles
    """(G * G, K), counterfactual values there."""
    constants: Floats
    """(), what the gradients leave."""
    reach: Singles
    """(G * G,), reach probability of every cell there."""


class Counters(NamedTuple):
    """A pool of m counters, as the states of the bundle methods hold it."""

    pool: Matrix
    """(m, G, G)"""
    gradients: Singles
    """(m, ...), of their cuts, as the next two."""
    constants: Floats
    reach: Singles
    weights: Floats
    """(m,), weight of each in the last step."""
    used: NDArray[np.int64]
    """(m,), iteration in which each last had weight."""

    @classmethod
    def of(cls, state: Any) -> "Counters":
        """Give those of a state, whose fields have the same names."""
        return cls(*(getattr(state, name) for name in cls._fields))

    def renewed(
        self,
        failed: NDArray[np.int64],
        new: Sequence[Matrix],
        cuts: Sequence[Cut],
        iteration: int,
        most: int,
    ) -> "Counters":
        """Counters with new cuts where old ones failed, and with new counters.

        These take the places of those without weight for longest, once there are `most`; a pool
        that has more already keeps its size, and what is more than a pool's worth is left out. The
        arrays are changed in place as far as they go.
        """
        size = max(most, len(self.pool))
        new, cuts = new[:size], cuts[: len(failed) + size]
        excess = max(0, len(self.pool) + len(new) - size)
        self.used[failed] = iteration
        dropped = np.argsort(self.used, kind="stable")[:excess]
        if excess:
            self.pool[dropped] = new[:excess]
        self.weights[dropped], self.used[dropped] = 0.0, iteration
        for place, cut in zip([*failed, *dropped], cuts, strict=False):
            self.gradients[place], self.constants[place] = cut.gradients, cut.constants
            self.reach[place] = cut.reach
        more = cuts[len(failed) + excess :]
        if not more:
            return self
        return Counters(
            np.concatenate([self.pool, new[excess:]]),
            np.concatenate([self.gradients, *(cut.gradients[None] for cut in more)]),
            np.concatenate([self.constants, [cut.constants for cut in more]]),
            np.concatenate([self.reach, *(cut.reach[None] for cut in more)]),
            np.append(self.weights, np.zeros(len(more))),
            np.append(self.used, np.full(len(more), iteration)),
        )


class Modelling(NamedTuple):
    """How counters (G, G) are modelled at a strategy that they meet."""

    rate: Callable[[Engine, Strategy, Matrix], float]
    """Win rate of a counter."""
    cut: Callable[[Engine, Strategy, Matrix], Cut]
    """Model of the win rate against it."""


def rate(game: Engine, strategy: Strategy, counter: Matrix) -> float:
    """Exact win rate of a counter (G, G) against a policy."""
    return float(Population(game, [counter]).rates_against(strategy.policies[0])[0])


def rate_of_mixture(game: Engine, strategy: Strategy, counter: Matrix) -> float:
    """Win rate of a counter (G, G) against a mixture, in the precision of searches."""
    work = quick_many(game, len(strategy.policies))
    work.face(strategy.policies, strategy.chances)
    rates = work.win_rates(one_hot(counter, game.num_actions))
    return float(np.average(rates, weights=strategy.chances))


def cut(game: Engine, strategy: Strategy, counter: Matrix) -> Cut:
    """Model of the win rate of a policy against a counter (G, G), which is exact there."""
    policy = strategy.policies[0]
    won = float(Population(game, [counter]).rates_of(policy)[0])
    policies = np.stack([policy, one_hot(counter, game.num_actions)])
    found = counterfactual_values(quick_workspace(game, 2), policies)
    gradients = found.values.reshape(-1, game.num_actions).astype(np.float32)
    reach = found.infoset_reach.reshape(-1).astype(np.float32)
    modelled = float(gradients.reshape(-1) @ policy.reshape(-1))
    return Cut(np.array(won), gradients, np.array(won - modelled), reach)


def cut_of_parts(game: Engine, strategy: Strategy, counter: Matrix) -> Cut:
    """Models of the win rates of a mixture's n parts against a counter (G, G)."""
    parts = strategy.policies
    work = quick_many(game, len(parts))
    work.face(one_hot(counter, game.num_actions))
    work.forward(parts)
    won = work.backward(parts.copy(), Role.COUNTERFACTUAL).win_rates
    rows = len(parts), -1, game.num_actions
    gradients = work.each.reshape(rows).astype(np.float32)
    modelled = np.einsum("nrk,nrk->n", gradients, parts.reshape(rows))
    reach = work.each_reach.reshape(rows[:2]).astype(np.float32)
    return Cut(won, gradients, won - modelled, reach)


OF_POLICY: Final = Modelling(rate, cut)
OF_PARTS: Final = Modelling(rate_of_mixture, cut_of_parts)
