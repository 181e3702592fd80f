"""The search for a counter from one start: anneal, ascend, and kick. Trails do it a few at a time.

The strongest counters to a policy near equilibrium differ in a third of what they roll, and are
found by a hundred kicks, passing through weaker ones. So a solver that only follows the strongest
known never meets them: its trails begin as an attack does and are kicked from iteration to
iteration, each time against the policy of today.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import takewhile
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.model.protocol import Engine
from hogeq.search.ascent import (
    SINGLE_ERROR,
    SWEEP_LIMIT,
    TEMPERATURES,
    climb,
    ith_start,
    log_uniform,
    to_pure,
)
from hogeq.search.moves import MOVES, STAY, Bandit, SearchContext, bandits
from hogeq.strategies.arrays import likeliest, one_hot, zero_matrices
from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Floats, Matrix
from hogeq.support.deadline import FOREVER, Deadline
from hogeq.support.progress import Phase
from hogeq.support.workers import compute

ASCENT: Final = 6  # steps of annealing that take about as long as an ascent, in progress shown
SHORTEST, LONGEST = 4, 10  # near moves of an excursion
PATIENCE: Final = 10  # near moves in a row that find nothing, before the best matrix is left
PERTURBED_SHARES: Final = (0.01, 0.3)  # of the cells: few pay in large games, many in small ones
STEPS: Final = 20  # of annealing, at the beginning of a trail
CROSSED: Final = 60  # counters, the strongest of a pool, that trails cross with
MATES: Final = 8  # of them, those that one trail may cross with at a time
START, KICKS = 1, 2  # a fourth number of seeds: nothing else that an iteration draws has one


class Excursion(NamedTuple):
    """Where a search is while it looks for a better matrix than its best."""

    move: str  # far move by which it began
    matrix: Matrix
    rate: float
    base: float  # its rate after that move
    begun: float  # best rate of the search before it
    sweeps: int = 0
    refined: int = 0  # number of near moves so far
    vain: int = 0  # number of the last ones that found nothing

    @classmethod
    def stay(cls, matrix: Matrix, rate: float) -> "Excursion":
        """Refine the best matrix itself."""
        return cls(STAY, matrix, rate, rate, rate)

    def is_over(self, best: float) -> bool:
        """Whether it would stay below the best if it rose once more by as much."""
        if self.move == STAY:
            return self.vain >= PATIENCE
        hopeless = 2.0 * self.rate - self.base <= best
        return self.refined >= LONGEST or (self.refined >= SHORTEST and hopeless)


class MoveGain(NamedTuple):
    """Gain and effort of one choice of a move."""

    move: str
    gain: float
    sweeps: int


class SearchState(NamedTuple):
    """State of a search."""

    matrix: Matrix  # the best, (G, G)
    rate: float  # its win rate
    sweeps: int = 0  # sweeps over the table of the last run
    away: Excursion | None = None
    choices: Mapping[str, list[MoveGain]] = {}  # in the last run: of near and far moves, of rolls


class CounterSearch(NamedTuple):
    """A search for a counter to a strategy, from a start or from where it was left."""

    start: int | Floats | Matrix | SearchState
    """Number of a start, a policy, a matrix, or where it was left, to be kicked."""
    steps: int = 0  # of annealing
    cooling: tuple[float, float] = TEMPERATURES
    damping: float = 0.5
    sweeps: int | None = None  # most of the ascent, in the precision of searches; None: to its end
    is_exact: bool = True  # whether ends of ascents and finds of kicks are confirmed in double
    kicks: int = 0
    seed: tuple[int, ...] = ()  # of the start and the kicks
    bandits: Mapping[str, Bandit] = {}  # that choose the moves to kick by
    mates: Sequence[Matrix] = ()  # matrices that kicks cross with
    name: str = ""  # in progress that is shown
    deadline: Deadline = FOREVER  # after which every part ends as soon as it can

    def run(self, game: Engine, strategy: Strategy, progress: Phase | None = None) -> SearchState:
        """Search for a counter to a strategy."""
        context, start = SearchContext.of(game, strategy, self.seed, self.mates), self.start
        context.deadline = self.deadline
        policies, cooling, progress = context.policies, self.cooling, progress or Phase("search")
        if isinstance(start, int):
            start, cooling = ith_start(game, strategy.mean, start, context.random)
        if not isinstance(start, SearchState):
            is_matrix = start.dtype.kind == "i"
            policies[0] = one_hot(start, game.num_actions) if is_matrix else start
            told = partial(progress.step, 1, f"{self.name}, annealing")
            context.anneal(self.steps, self.damping, cooling, told)
            to_pure(policies[0])
            if self.sweeps is None and self.is_exact:
                rate, sweeps = climb(game, policies, context.weights, self.deadline)
            else:
                least_gain = -1.0 if self.is_exact else SINGLE_ERROR
                limit = SWEEP_LIMIT if self.sweeps is None else self.sweeps
                rate, sweeps = context.ascend(limit, least_gain)
            start = SearchState(likeliest(policies[0]), rate, sweeps + self.steps)
            progress.step(ASCENT)
            progress.found(rate)
        return self._kicked(context, start, progress) if self.kicks else start

    def _kicked(self, context: SearchContext, state: SearchState, progress: Phase) -> SearchState:
        """Kick the best matrix, in the precision of searches."""
        game, policies, random = context.game, context.policies, context.random
        single = game.quick_dtype(len(policies) - 1) == np.float32
        margin = SINGLE_ERROR if single else 0.0
        best, rate, away = state.matrix, state.rate, state.away
        choices: dict[str, list[MoveGain]] = {kind: [] for kind in self.bandits}
        spent = 0

        def kick(matrix: Matrix, kind: str, name: str, to_beat: float) -> tuple[Matrix, float, int]:
            move = MOVES[name]
            low_high = move.near if kind == "near" else move.far
            roll = self.bandits["roll"].draw(random) if move.by_roll else "0"
            policies[0] = one_hot(matrix, game.num_actions)
            context.roll = int(roll)
            sweeps = move.go(context, log_uniform(random, low_high or (1.0, 1.0)))
            again, more = context.ascend(least_gain=margin or -1.0, to_beat=to_beat)
            if move.by_roll and kind == "near":
                choices["roll"].append(MoveGain(roll, max(0.0, again - to_beat), sweeps + more))
            return likeliest(policies[0]), again, sweeps + more

        for _ in takewhile(lambda _: not self.deadline.is_over, range(self.kicks)):
            if away is None:
                name = self.bandits["far"].draw(random)
                if name == STAY:
                    away = Excursion.stay(best, rate)
                else:
                    matrix, again, sweeps = kick(best, "far", name, -1.0)
                    away = Excursion(name, matrix, again, again, rate, sweeps)
                    spent += sweeps
            else:
                name = self.bandits["near"].draw(random)
                matrix, again, sweeps = kick(away.matrix, "near", name, away.rate)
                choices["near"].append(MoveGain(name, max(0.0, again - away.rate), sweeps))
                spent += sweeps
                away = away._replace(
                    sweeps=away.sweeps + sweeps, refined=away.refined + 1, vain=away.vain + 1
                )
                if again > away.rate + margin:
                    away = away._replace(matrix=matrix, rate=again, vain=0)
            if away.rate > rate + margin:
                best, rate = away.matrix, away.rate
                progress.found(rate)
            if away.is_over(rate):
                choices["far"].append(MoveGain(away.move, max(0.0, rate - away.begun), away.sweeps))
                has_risen = away.move != STAY and rate > away.begun
                away = Excursion.stay(best, rate) if has_risen else None
            progress.step(ASCENT)
        if rate == state.rate or not self.is_exact:
            return SearchState(best, rate, spent, away, choices)
        policies[0] = one_hot(best, game.num_actions)
        rate, sweeps = climb(game, policies, context.weights, self.deadline)
        return SearchState(likeliest(policies[0]), rate, spent + sweeps, away, choices)


class Trails(NamedTuple):
    """Searches under way; n is their number."""

    matrices: Matrix  # (n, G, G), where they are
    left: NDArray[np.int64]  # (n,), kicks that each has left; negative where it is to begin

    def searches(
        self, game: Engine, strategy: Strategy, known: Matrix, kicks: int, seed: tuple[int, ...]
    ) -> list[CounterSearch]:
        """List the searches, of so many kicks each; known are counters to cross with.

        What they find is evaluated anew anyway, so they climb in the precision of searches.
        """
        chosen_by = bandits(game.num_actions)
        searches = []
        for place, (matrix, left) in enumerate(zip(*self, strict=True)):
            random = np.random.default_rng((*seed, place, START))
            search = CounterSearch(
                matrix, is_exact=False, kicks=kicks, seed=(*seed, place, KICKS), bandits=chosen_by
            )
            if left < 0:
                number = 2 + int(random.integers(2))
                start, cooling = ith_start(game, strategy.mean, number, random)
                search = search._replace(start=start, steps=STEPS, cooling=cooling)
            mates = known
            if len(known) > MATES:
                mates = known[random.choice(len(known), MATES, replace=False)]
            searches.append(search._replace(mates=list(mates)))
        return searches

    def after(self, reached: Sequence[Matrix], kicks: int, life: int) -> "Trails":
        """Trails when so many kicks more are done, from where each has come to."""
        left = np.abs(self.left) - kicks
        matrices = np.array(reached, self.matrices.dtype).reshape(self.matrices.shape)
        return Trails(matrices, np.where(left > 0, left, -life))

    def followed(
        self,
        game: Engine,
        strategy: Strategy,
        known: Matrix,
        kicks: int,
        life: int,
        seed: tuple[int, ...],
    ) -> "Trails":
        """Let every trail climb against a strategy as it is now, and kick it."""
        searches = self.searches(game, strategy, known, kicks, seed)
        ended = compute(partial(CounterSearch.run, game=game, strategy=strategy), searches)
        return self.after([state.matrix for state in ended], kicks, life)


def no_trails(game: Engine, number: int, life: int) -> Trails:
    """Trails that are to begin, the first of them with few kicks, so that not all end at once."""
    left = -np.ceil(life * np.arange(1, number + 1) / max(1, number)).astype(np.int64)
    return Trails(zero_matrices(number, game.shape), left)
