"""Self-play by counterfactual values: regret minimisers, and magnetic mirror descent.

By default a solver is the algorithm of its paper. Under perfect recall a player's own reach is the
same at every history of an information set, so CFR leaves it out of regrets. In Hog it differs, and
`regret_weight` names three algorithms, none with a guarantee (``docs/theory.md``). An average by
the reach of self-play misses the solution even without hidden memory: rows that the opponent learns
to avoid keep their first strategies.
"""

from typing import Annotated, Final, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import AllowInfNan, BeforeValidator, Field

from hogeq.evaluation.counterfactual import Counterfactual, RegretWeight, counterfactual_values
from hogeq.model.protocol import Engine, Minimiser, Rows
from hogeq.model.rows import softmax
from hogeq.model.shared import quick_workspace, shared_minimiser, shared_workspace
from hogeq.solvers.base import Solver, solver
from hogeq.strategies.arrays import given_arrival, match_regrets, normalised
from hogeq.support.aliases import Floats
from hogeq.support.deadline import FOREVER, Deadline
from hogeq.support.messages import HogeqError, refusal
from hogeq.support.parameters import (
    NotAllowedError,
    NotNegative,
    Positive,
    PositiveShare,
    parameters,
)

GAMMA_BY_AVERAGING: Final = {"uniform": 0.0, "linear": 1.0, "quadratic": 2.0}  # names of gamma
SELF_PLAY_ITERATIONS: Final = 100  # iterations of `self_played`


def _no_nan(value: object) -> object:
    """Refuse NaN as a parameter; give any other value as it is."""
    if value != value:  # noqa: PLR0124 - only NaN is not itself
        raise NotAllowedError("numbers or .inf")
    return value


Discount: TypeAlias = Annotated[float, AllowInfNan(True), BeforeValidator(_no_nan)]
"""Exponent of a discount; infinity for none."""


class RegretState(NamedTuple):
    """State of a run: S tables, 1, or 2 where both seats have all rows and take turns."""

    regrets: Floats  # (S, G, G, K), cumulative
    prediction: Floats  # (S, G, G, K), the last instantaneous regrets; empty where not used
    strategy_sum: Floats  # (S, G, G, K), not normalised
    iteration: NDArray[np.int64]  # (), iterations done


@parameters
class RegretMinimiser(Solver[RegretState]):
    """CFR by self-play with all its options; the named variants below set the defaults.

    Iteration t (Zinkevich et al. 2007), for all rows or for those of one seat after the other:

    1. Regret matching: each row I plays actions in proportion to their positive regrets R(I, a),
       or, if ``predictive``, to those of R plus the last increment.
    2. Counterfactual values v(I, a), by `regret_weight`, come from a pass of self-play.
    3. R(I, a) grows by v(I, a) less the value of what the row plays.
    4. Negative regrets are cut to zero if ``plus`` (Tammelin 2014, CFR+). Positive ones are
       multiplied by ``t**alpha / (t**alpha + 1)``, negative ones by ``t**beta / (t**beta + 1)``
       (Brown and Sandholm 2019, discounted CFR).
    5. The sum of strategies grows by ``t**gamma`` times reach (`average_weight`) times strategy;
       it is normalised to the average strategy.

    Cost: a forward and a backward pass, once or for each seat, and a forward pass for own reach;
    compiled loops do without passes where regrets are "counterfactual" and averages "own".

    Attributes
    ----------
    plus : bool
        Cut negative regrets to zero.
    alpha, beta : float
        Discounts of positive and negative regrets; infinity for none.
    gamma : float
        Iteration t counts ``t**gamma`` in the average strategy.
    averaging : {"uniform", "linear", "quadratic", "gamma"}
        Names of `gamma` 0, 1 and 2; "gamma" leaves it as it is.
    predictive : bool
        Match the regrets plus the last instantaneous regrets (Farina et al. 2021).
    alternating : bool
        Update the rows of one seat, then those of the other against the new strategy; in Hog, where
        both seats have all rows, two tables play each other and take turns. Otherwise all rows are
        updated at once.
    regret_weight : {"counterfactual", "reach", "belief"}
        "counterfactual" takes own actions as probability 1 (Zinkevich et al. 2007, eq. 5); "reach"
        weighs by the full reach probability, the exact gradient; "belief" divides that by the
        reach of the row, so that all rows learn at the same pace.
    average_weight : {"own", "reach"}
        "own" is the reach of a row against an opponent who plays at random, which under perfect
        recall is CFR's own reach; "reach" the full reach of self-play, cheaper.
    epsilon : float
        Least probability of every action: CFR on the perturbed game.
    """

    plus: bool = False
    alpha: Discount = np.inf
    beta: Discount = np.inf
    gamma: NotNegative = 0.0
    averaging: Literal["uniform", "linear", "quadratic", "gamma"] = "gamma"
    predictive: bool = False
    alternating: bool = False
    regret_weight: RegretWeight = "counterfactual"
    average_weight: Literal["own", "reach"] = "own"
    epsilon: Annotated[float, Field(ge=0, lt=1)] = 0.0

    def init(self, game: Rows) -> RegretState:
        """State without regrets, so that every row plays all actions alike."""
        if self.epsilon * game.num_actions > 1.0:
            allowed = f"at most 1/{game.num_actions} with {game.num_actions} rolls"
            raise HogeqError(refusal("epsilon", self.epsilon, allowed))
        check_weight(game, self.regret_weight)
        # Seats that share all rows, and take turns, have a table each.
        tables = 2 if self.alternating and game.seats_share_rows else 1
        shape = tables, *game.shape
        prediction = np.zeros(shape if self.predictive else (0,))
        return RegretState(
            regrets=np.zeros(shape),
            prediction=prediction,
            strategy_sum=np.zeros(shape),
            iteration=np.array(0, np.int64),
        )

    def step(self, game: Engine, state: RegretState) -> RegretState:
        """State after one more iteration, steps 1 to 5; arrays are changed in place."""
        return self._iterate(game, state, 1)[0]

    def steps(self, game: Engine, state: RegretState, most: int) -> tuple[RegretState, int]:
        """State after some more iterations, at most `most`, and how many."""
        has_own_step = type(self).step is not RegretMinimiser.step  # as a plugin's subclass may
        if has_own_step:
            return super().steps(game, state, most)
        return self._iterate(game, state, most)

    def _iterate(self, game: Engine, state: RegretState, most: int) -> tuple[RegretState, int]:
        """Do `most` iterations in compiled loops, or one by passes; the state, and how many.

        Only the weights of vanilla CFR have loops, and not in all games.
        """
        loops = None
        if (self.regret_weight, self.average_weight) == ("counterfactual", "own"):
            loops = shared_minimiser(game)
        if loops is None:
            return self._iterate_by_passes(game, state), 1
        return self.iterate_by_loops(loops, state, most)

    def iterate_by_loops(
        self, loops: Minimiser, state: RegretState, most: int
    ) -> tuple[RegretState, int]:
        """Do `most` iterations by compiled loops; the state, and how many were done.

        The loops change its tables in place. Iteration t has factors: its weight in the average,
        and the discounts of positive and of negative regrets. If one overflows, a single iteration
        is done, until the error is raised at the iteration itself.
        """
        done = int(state.iteration)
        try:
            factors = [self._factors(done + number) for number in range(1, most + 1)]
        except OverflowError:
            if most == 1:
                raise
            return self.iterate_by_loops(loops, state, 1)
        table = 0  # games that have compiled loops have one table
        loops.run(
            state.regrets[table],
            state.prediction[table] if self.predictive else None,
            state.strategy_sum[table],
            np.array(factors),
            alternating=self.alternating,
            plus=self.plus,
            epsilon=float(self.epsilon),
        )
        return state._replace(iteration=np.array(done + most, np.int64)), most

    def _iterate_by_passes(self, game: Engine, state: RegretState) -> RegretState:
        """Do an iteration by passes over the game, for any weights of regrets and averages.

        Changes the tables of the state in place. It has one table for all rows; or, if both seats
        share all rows and take turns, one for each seat.
        """
        iteration = int(state.iteration) + 1
        average_factor, positive_factor, negative_factor = self._factors(iteration)
        num_tables = len(state.regrets)
        policies = np.stack([self._current(state, table) for table in range(num_tables)])
        # A turn updates some rows of a table: all of the only one, or those of one seat.
        turns = [(0, slice(None))]
        if self.alternating:
            turns = [(seat % num_tables, rows) for seat, rows in enumerate(game.seat_rows)]
        players = 2 if self.regret_weight == "counterfactual" else num_tables
        work = shared_workspace(game, players)
        for table, rows in turns:
            opponent = num_tables - 1 - table  # the other table, or the only one
            players_policies = policies if players == 1 else policies[[table, opponent]]
            played = counterfactual_values(work, players_policies, self.regret_weight)
            reach = self._average_reach(game, players_policies, played)
            strategy = policies[table, rows]
            increments = played.values[rows]
            increments -= np.einsum("...k,...k->...", increments, strategy)[..., None]
            average_weights = average_factor * reach[rows]
            state.strategy_sum[table, rows] += average_weights[..., None] * strategy
            regrets = state.regrets[table, rows]  # a view, so that the state changes
            self._add_regrets(regrets, increments, positive_factor, negative_factor)
            if self.predictive:
                state.prediction[table, rows] = increments
            if self.alternating:  # the opponent is updated against the new strategy
                policies[table] = self._current(state, table)
        return state._replace(iteration=np.array(iteration, np.int64))

    def _add_regrets(
        self, regrets: Floats, increments: Floats, positive_factor: float, negative_factor: float
    ) -> None:
        """Add increments to regrets (..., K) in place; then cut and discount these, as set."""
        regrets += increments
        if self.plus:
            np.maximum(regrets, 0.0, out=regrets)
        if self.alpha != np.inf or self.beta != np.inf:
            regrets *= np.where(regrets > 0.0, positive_factor, negative_factor)

    def _average_reach(self, game: Engine, policies: Floats, played: Counterfactual) -> Floats:
        """Reach (G, G) by which the strategy of the first of two policies is averaged.

        It is that against an opponent who plays at random ("own"), or that of self-play ("reach"),
        which the pass of the regrets, `played`, has computed unless it left own actions out.
        """
        if self.average_weight == "own":
            opponent = np.full(game.shape, 1.0 / game.num_actions)
        elif self.regret_weight == "counterfactual":
            opponent = policies[-1]
        else:
            return played.infoset_reach
        return quick_workspace(game, 2).cell_reach(np.stack([policies[0], opponent]))

    def average(self, game: Rows, state: RegretState) -> Floats:
        """Average strategy, (G, G, K); the current one where no iteration had reach."""
        return normalised(state.strategy_sum.sum(axis=0), self.current(state))

    def current(self, state: RegretState) -> Floats:
        """Strategy of the next iteration, (G, G, K)."""
        policies = [self._current(state, table) for table in range(len(state.regrets))]
        return np.mean(policies, axis=0)

    def stats(self, game: Rows, state: RegretState) -> dict[str, float]:
        """Average regret: each row's largest, summed over rows, per table and iteration."""
        regret = float(np.maximum(state.regrets, 0.0).max(axis=-1).sum()) / len(state.regrets)
        return {"average_regret": regret / max(1, int(state.iteration))}

    def caveat(self, game: Engine) -> str:
        """Say why CFR's theorems promise no convergence on this game; an empty text if they do.

        They ask for its own weights of regrets and averages, for actions of any probability, for
        exponents in a range, and for perfect recall, or for a well-formed game.
        """
        has_weights_of_cfr = (self.regret_weight, self.average_weight) == ("counterfactual", "own")
        # A player whose rows are those of both seats forgets its seat.
        if game.seats_share_rows or (game.has_memory and not has_weights_of_cfr):
            return "no guarantee: imperfect recall"
        if self.epsilon > 0.0:  # the average converges to an equilibrium of another game
            return f"no guarantee: perturbed game, epsilon {self.epsilon:g}"
        if not self._exponents_converge():
            gamma = self._average_exponent()
            return f"no guarantee: alpha {self.alpha:g}, beta {self.beta:g}, gamma {gamma:g}"
        if game.has_memory:
            return "imperfect recall: no guarantee unless well-formed"
        if has_weights_of_cfr:
            return ""
        weights = f"regret_weight {self.regret_weight}, average_weight {self.average_weight}"
        return f"no guarantee: {weights}"

    def _exponents_converge(self) -> bool:
        """Whether average regrets are known to vanish with these exponents.

        Brown and Sandholm 2019 prove it of linear CFR (all exponents 1) and of alpha 3/2, beta 0
        and gamma 2. ``docs/theory.md`` has the range in which the same steps do. Without discounts
        they do for the predictive variant as well.
        """
        if self.predictive and (self.alpha < np.inf or (self.beta < np.inf and not self.plus)):
            return False
        gamma = self._average_exponent()
        # Negative regrets are cut, are forgotten fast enough, or count all alike.
        bounded_below = self.plus or self.beta < 1.0 or (self.beta == 1.0 and gamma <= 1.0)
        return self.alpha > 0.0 and (bounded_below or gamma == 0.0)

    def _average_exponent(self) -> float:
        """Exponent of the weight of iteration t in the average, ``t**gamma``."""
        return GAMMA_BY_AVERAGING.get(self.averaging, self.gamma)

    def _factors(self, iteration: int) -> tuple[float, float, float]:
        """Weight of an iteration in the average, discounts of positive and negative regrets."""
        weight = float(iteration) ** self._average_exponent()
        return weight, _discount(iteration, self.alpha), _discount(iteration, self.beta)

    def _current(self, state: RegretState, table: int) -> Floats:
        """Strategy of a table, (G, G, K), by regret matching."""
        regrets = state.regrets[table]
        if self.predictive:
            regrets = regrets + state.prediction[table]
        return match_regrets(regrets, self.epsilon)


def check_weight(game: Rows, regret_weight: RegretWeight) -> None:
    """Refuse counterfactual weights, which leave own rolls out, where positions can recur."""
    if regret_weight == "counterfactual" and game.positions_recur:
        allowed = "reach or belief where positions can recur"
        raise HogeqError(refusal("regret_weight", regret_weight, allowed))


def _discount(iteration: int, exponent: float) -> float:
    """Factor ``t**exponent / (t**exponent + 1)`` of iteration t; 1 for an infinite exponent."""
    power = float(iteration) ** exponent
    return 1.0 if exponent == np.inf else power / (power + 1.0)


@solver("cfr")
@parameters
class CFR(RegretMinimiser):
    """Vanilla CFR (Zinkevich et al. 2007): steps 1, 2, 3 and 5, one seat after the other."""

    alternating: bool = True


@solver("cfr_plus")
@parameters
class CFRPlus(RegretMinimiser):
    """CFR+ (Tammelin 2014): in step 4 negative regrets are cut; iterations averaged linearly."""

    plus: bool = True
    gamma: NotNegative = 1.0
    alternating: bool = True


@solver("linear")
@parameters
class LinearCFR(RegretMinimiser):
    """Linear CFR (Brown and Sandholm 2019): iteration t counts t in regrets and average.

    In step 4 all regrets are multiplied by ``t / (t + 1)``, which weights increments by t.
    """

    alpha: Discount = 1.0
    beta: Discount = 1.0
    gamma: NotNegative = 1.0
    alternating: bool = True


@solver("dcfr")
@parameters
class DiscountedCFR(RegretMinimiser):
    """Discounted CFR (Brown and Sandholm 2019), in steps 4 and 5 with their exponents 1.5, 0, 2."""

    alpha: Discount = 1.5
    beta: Discount = 0.0
    gamma: NotNegative = 2.0
    alternating: bool = True


REACH_DCFR: Final = DiscountedCFR(average_weight="reach", regret_weight="reach", alternating=False)
"""Discounted CFR by the full reach, two passes an iteration: what starts are computed by."""


def self_played(
    game: Engine, minimiser: RegretMinimiser = REACH_DCFR, deadline: Deadline = FOREVER
) -> tuple[Floats, int]:
    """Average policy (G, G, K) of a hundred iterations of a minimiser, and how many it did.

    Without time they are fewer.
    """
    state = minimiser.init(game)
    for _ in range(SELF_PLAY_ITERATIONS):
        state = minimiser.step(game, state)
        if deadline.is_over:
            break
    return minimiser.average(game, state), int(state.iteration)


@solver("pcfr_plus")
@parameters
class PredictiveCFRPlus(RegretMinimiser):
    """Predictive CFR+ (Farina, Kroer and Sandholm 2021): CFR+ that in step 1 predicts."""

    plus: bool = True
    gamma: NotNegative = 2.0
    predictive: bool = True
    alternating: bool = True


@solver("fsicfr")
@parameters
class FSICFR(RegretMinimiser):
    """CFR with one forward and one backward sweep of the game's graph per iteration.

    Fixed-strategy iteration CFR (Neller and Hnath 2011), which Huan (2020) [1] proposed for Hog.
    Dice are summed exactly where the paper samples.

    1. A forward sweep sums the reach probability of every position over all plays to it.
    2. A backward sweep values every position, and updates the regrets of each row once.
    3. Whenever the number of iterations doubles, the average loses its part from before the last
       doubling (the paper, section 5).
    """

    def init(self, game: Rows) -> RegretState:
        """State without regrets, with two sums of strategies.

        They are sums since the number of iterations last doubled, and between the last two
        doublings; the average of strategies is that of both.
        """
        if game.positions_recur:
            raise HogeqError("fsicfr: allowed: games whose positions cannot recur")
        if self.alternating:
            raise HogeqError(refusal("alternating", True, "false with fsicfr"))
        state = super().init(game)
        return state._replace(strategy_sum=np.zeros((2, *game.shape)))

    def _iterate(self, game: Engine, state: RegretState, most: int) -> tuple[RegretState, int]:
        """Do `most` iterations, or as many as lead to the next power of two; state, and how many.

        There the average forgets all before the last doubling of the number of iterations: the sum
        of strategies of the present half is entry 0, that of the half before it entry 1.
        """
        done = int(state.iteration)
        next_power = 1 << done.bit_length()
        state, count = super()._iterate(game, state, min(most, next_power - done))
        if done + count == next_power:
            state.strategy_sum[1] = state.strategy_sum[0]
            state.strategy_sum[0] = 0.0
        return state, count

    def caveat(self, game: Engine) -> str:
        """No theorem is known."""
        return "no guarantee"


class MirrorState(NamedTuple):
    """State of a run of `MirrorDescent`."""

    logits: Floats  # (G, G, K), of the current policy
    gap: Floats  # (), KKT gap of the last policy: largest gain at one information set, given reach
    iteration: NDArray[np.int64]  # ()


@solver("mirror")
@parameters
class MirrorDescent(Solver[MirrorState]):
    """Self-play by magnetic mirror descent (Sokota et al. 2023, algorithm 1).

    At a fixed temperature T the fixed point is a logit (agent quantal response) equilibrium;
    cooling traces a path of them. An iteration, at the cost of a forward and a backward pass:

    1. Compute the values v(I, a) of self-play, given that play comes to row I.
    2. Move to ``softmax((logits + rate * v) / (1 + rate * T))``: towards actions of larger value,
       and back to the uniform distribution, the magnet.
    3. Lower the temperature.

    Attributes
    ----------
    rate : float
        Step size, in logits per win probability.
    hot, cold : float
        First and last temperature, in win probability.
    cooling : float
        Factor by which the temperature falls in each iteration until it is `cold`.
    """

    rate: Positive = 20.0
    hot: Positive = 0.1
    cold: Positive = 0.0025
    cooling: PositiveShare = 0.97

    def __post_init__(self) -> None:
        """Refuse parameters that contradict each other."""
        if self.cold > self.hot:
            allowed = f"numbers above 0 up to hot, which is {self.hot}"
            raise HogeqError(refusal("cold", self.cold, allowed))

    def init(self, game: Engine) -> MirrorState:
        """State at the uniform policy."""
        return MirrorState(np.zeros(game.shape), np.array(np.inf), np.array(0, np.int64))

    def step(self, game: Engine, state: MirrorState) -> MirrorState:
        """State after one more iteration of magnetic mirror descent.

        1. Compute the values of all actions in self-play, given that play comes to their row.
        2. Move the logits towards them, and back to the uniform distribution by the temperature.

        The KKT gap in the state is that of the policy before: the largest gain in one row.
        """
        iteration = int(state.iteration) + 1
        temperature = max(self.cold, self.hot * self.cooling ** (iteration - 1))
        policy = softmax(state.logits)
        played = counterfactual_values(shared_workspace(game, 1), policy[None])
        values = given_arrival(played.values, played.infoset_reach)
        row_values = (values * policy).sum(axis=-1)
        gap = (values.max(axis=-1) - row_values).max()
        logits = (state.logits + self.rate * values) / (1.0 + self.rate * temperature)
        logits -= logits.max(axis=-1, keepdims=True)  # the softmax is the same, and none overflows
        return MirrorState(logits, np.array(gap), np.array(iteration, np.int64))

    def average(self, game: Engine, state: MirrorState) -> Floats:
        """Return the current policy (G, G, K): the method converges without averaging."""
        return softmax(state.logits)

    def stats(self, game: Engine, state: MirrorState) -> dict[str, float]:
        return {"kkt_gap": float(state.gap)}
