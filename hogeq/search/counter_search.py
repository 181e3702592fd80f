"""The search for a counter from one start: anneal, ascend, and then iterated local search.

A *counter* is a matrix that wins against a given strategy; a *kick* is one step of iterated local
search, a perturbation and an ascent. The strongest counters to a policy near equilibrium differ in
a third of their rolls, and take a hundred kicks, which pass through weaker ones. A solver that only
improves the strongest known ones never meets them. So it has `OngoingSearches`, which begin as an
attack does and make a few kicks in every iteration, each time against the current policy.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.model.protocol import Engine
from hogeq.search.ascent import (
    ANY_GAIN,
    ANY_RATE,
    SINGLE_ERROR,
    SWEEP_LIMIT,
    TEMPERATURES,
    SearchContext,
    ith_start,
    log_uniform,
    to_pure,
)
from hogeq.search.moves import MOVES, STAY, Bandit, bandits
from hogeq.strategies.arrays import likeliest, one_hot, zero_matrices
from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Floats, Matrix
from hogeq.support.deadline import FOREVER, Deadline
from hogeq.support.progress import Phase
from hogeq.support.workers import compute

PROGRESS_OF_ASCENT: Final = 6  # steps of annealing that take about as long, in progress shown
LEAST_NEAR_MOVES, MOST_NEAR_MOVES = 4, 10  # between a far move and the return to the best matrix
MOST_FAILURES: Final = 10  # near moves in a row without a gain, before the best matrix is left
PERTURBED_SHARES: Final = (0.01, 0.3)  # of the cells: few pay in large games, many in small ones
ANNEALING_STEPS: Final = 20  # at the beginning of an ongoing search
MOST_CROSSED_COUNTERS: Final = 60  # strongest of a pool, with which ongoing searches cross over
MOST_PARTNERS: Final = 8  # of these counters, for the kicks of one search
# A fourth number of seeds: nothing else that an iteration draws has one.
SEED_OF_START, SEED_OF_KICKS = 1, 2


class CurrentSolution(NamedTuple):
    """The matrix that an iterated local search refines, in the hope that it becomes the best."""

    move: str  # far move that led to it from the best; STAY if it is the best matrix itself
    matrix: Matrix  # (G, G)
    rate: float  # win rate of `matrix`
    first_rate: float  # win rate after the far move
    best_before: float  # best win rate of the search before the far move
    sweeps: int = 0  # sweeps over the table, of the far move and the near ones
    near_moves: int = 0  # number of near moves so far
    failures: int = 0  # number of the last near moves, in a row, that did not raise the rate

    @classmethod
    def from_best(cls, matrix: Matrix, rate: float) -> "CurrentSolution":
        """Refine the best matrix (G, G) of a search, which has this win rate."""
        return cls(STAY, matrix, rate, first_rate=rate, best_before=rate)

    def should_be_left(self, best_rate: float) -> bool:
        """Whether iterated local search should go back to its best matrix, which has `best_rate`.

        It should after a number of near moves if this matrix would stay below the best one even if
        its win rate rose once more by as much as it has since the far move.
        """
        if self.move == STAY:
            return self.failures >= MOST_FAILURES
        rate_after_same_gain = 2.0 * self.rate - self.first_rate
        is_hopeless = rate_after_same_gain <= best_rate
        return self.near_moves >= MOST_NEAR_MOVES or (
            self.near_moves >= LEAST_NEAR_MOVES and is_hopeless
        )


class MoveGain(NamedTuple):
    """Gain and effort of one choice of a move."""

    move: str  # name of the move, or the number of the roll that it made
    gain: float  # win rate gained, at least 0
    sweeps: int  # sweeps over the table, those of the ascent included


class SearchState(NamedTuple):
    """State of a search."""

    matrix: Matrix  # the best, (G, G)
    rate: float  # its win rate
    sweeps: int = 0  # sweeps over the table of the last run
    current: CurrentSolution | None = None  # None: the next kick is a far move
    choices: Mapping[str, list[MoveGain]] = {}  # in the last run, by bandit: "near", "far", "roll"


class CounterSearch(NamedTuple):
    """A search for a counter to a strategy, from a start or from the state of an earlier search."""

    start: int | Floats | Matrix | SearchState
    """Number of a start, a policy, a matrix, or the state of a search, which is only kicked."""
    steps: int = 0  # of annealing
    cooling: tuple[float, float] = TEMPERATURES  # the first and the last, in win probability
    damping: float = 0.5  # share of the way to the softmax that a step of annealing goes
    sweeps: int | None = None  # most of the ascent, in the precision of searches; None: to its end
    is_exact: bool = True  # whether results of ascents and kicks are confirmed in double precision
    kicks: int = 0
    seed: tuple[int, ...] = ()  # of the start and the kicks
    bandits: Mapping[str, Bandit] = {}  # that choose moves: "near", "far" and "roll"
    partners: Sequence[Matrix] = ()  # matrices (G, G) that kicks cross with
    name: str = ""  # in progress that is shown
    deadline: Deadline = FOREVER  # after which every part ends as soon as it can

    def run(self, game: Engine, strategy: Strategy, progress: Phase | None = None) -> SearchState:
        """Search for a counter to a strategy: anneal and ascend from the start, then kick."""
        progress = progress or Phase("search")
        context = SearchContext.of(game, strategy, self.seed, self.partners, self.deadline)
        state = self._ascend_from_start(context, strategy, progress)
        return self._run_kicks(context, state, progress) if self.kicks else state

    def _ascend_from_start(
        self, context: SearchContext, strategy: Strategy, progress: Phase
    ) -> SearchState:
        """Anneal and ascend from the start; the state of an earlier search stays as it is.

        Both change the responder, the first of the context's policies, in place; after annealing,
        each of its rows takes its likeliest roll.
        """
        start = self.start
        if isinstance(start, SearchState):
            return start
        cooling = self.cooling
        game = context.game
        policies = context.policies  # row 0 is the responder, changed in place
        if isinstance(start, int):
            start, cooling = ith_start(game, strategy.mean, start, context.random)
        is_matrix = start.dtype.kind == "i"
        policies[0] = one_hot(start, game.num_actions) if is_matrix else start
        show_step = partial(progress.step, 1, f"{self.name}, annealing")
        context.anneal(self.steps, self.damping, cooling, show_step)
        to_pure(policies[0])
        if self.sweeps is None and self.is_exact:
            rate, sweeps = context.climb()
        else:
            # Gains of a sweep below this end the ascent; in single precision they may be rounding.
            least_gain = ANY_GAIN if self.is_exact else SINGLE_ERROR
            most_sweeps = SWEEP_LIMIT if self.sweeps is None else self.sweeps
            rate, sweeps = context.ascend(limit=most_sweeps, least_gain=least_gain)
        progress.step(PROGRESS_OF_ASCENT)
        progress.found(rate)
        return SearchState(likeliest(policies[0]), rate, sweeps + self.steps)

    def _run_kicks(
        self, context: SearchContext, state: SearchState, progress: Phase
    ) -> SearchState:
        """Improve the matrix of a state by iterated local search: `kicks` times perturb and ascend.

        The kicks have the precision of searches. If the search is exact, a better matrix ascends
        once more in double precision.
        """
        search = _IteratedLocalSearch(context, state, self.bandits)
        for _ in range(self.kicks):
            if self.deadline.is_over:
                break
            rate_before = search.best_rate
            search.kick()
            if search.best_rate > rate_before:
                progress.found(search.best_rate)
            progress.step(PROGRESS_OF_ASCENT)
        kicked = search.state
        if kicked.rate == state.rate or not self.is_exact:
            return kicked
        context.policies[0] = one_hot(kicked.matrix, context.game.num_actions)
        rate, sweeps = context.climb()  # changes policies[0]
        matrix = likeliest(context.policies[0])
        return kicked._replace(matrix=matrix, rate=rate, sweeps=kicked.sweeps + sweeps)


class _IteratedLocalSearch:
    """Iterated local search for a counter, in the precision of searches.

    A far move, a large perturbation, leads from the best matrix to another, the current solution.
    Near moves, small ones, refine it; then the search goes back to the best matrix, which may be
    that one.
    """

    def __init__(
        self, context: SearchContext, state: SearchState, bandits: Mapping[str, Bandit]
    ) -> None:
        """Go on from the best matrix of a state; bandits draw the perturbations."""
        self.context = context
        self.bandits = bandits  # "near", "far" and "roll"
        self.best = state.matrix  # (G, G)
        self.best_rate = state.rate
        self.current = state.current
        self.sweeps = 0  # sweeps over the table so far
        self.choices: dict[str, list[MoveGain]] = {kind: [] for kind in bandits}
        is_single = context.game.quick_dtype(len(context.policies) - 1) == np.float32
        self.margin = SINGLE_ERROR if is_single else 0.0  # a smaller gain may be rounding

    @property
    def state(self) -> SearchState:
        """State of the search, from which it can go on."""
        return SearchState(self.best, self.best_rate, self.sweeps, self.current, self.choices)

    def kick(self) -> None:
        """Do one step of iterated local search: perturb the current matrix, and ascend.

        Without a current matrix a far move leads to one, away from the best. The best matrix is
        replaced if the current one wins more.
        """
        present = self.current
        current = self._leave_best() if present is None else self._refine(present)
        if current.rate > self.best_rate + self.margin:
            self.best = current.matrix
            self.best_rate = current.rate
        self.current = current
        if current.should_be_left(self.best_rate):
            self._return_to_best(current)

    def _leave_best(self) -> CurrentSolution:
        """Perturb the best matrix by a far move, a large change; or refine it as it is."""
        name = self.bandits["far"].draw(self.context.random)
        if name == STAY:
            return CurrentSolution.from_best(self.best, self.best_rate)
        matrix, rate, sweeps = self._perturb_and_ascend(self.best, "far", name, ANY_RATE)
        return CurrentSolution(
            move=name,
            matrix=matrix,
            rate=rate,
            first_rate=rate,
            best_before=self.best_rate,
            sweeps=sweeps,
        )

    def _refine(self, current: CurrentSolution) -> CurrentSolution:
        """Refine the current matrix by a near move, a small perturbation, and an ascent.

        The matrix changes if the result wins more. A bandit draws the move, and learns its gain.
        """
        name = self.bandits["near"].draw(self.context.random)
        old_rate = current.rate
        matrix, rate, sweeps = self._perturb_and_ascend(current.matrix, "near", name, old_rate)
        self.choices["near"].append(MoveGain(name, max(0.0, rate - old_rate), sweeps))
        refined = current._replace(
            sweeps=current.sweeps + sweeps,
            near_moves=current.near_moves + 1,
            failures=current.failures + 1,
        )
        if rate > old_rate + self.margin:
            refined = refined._replace(matrix=matrix, rate=rate, failures=0)
        return refined

    def _perturb_and_ascend(
        self, matrix: Matrix, kind: str, name: str, rate_to_beat: float
    ) -> tuple[Matrix, float, int]:
        """Change a matrix (G, G) by the move called `name`, then ascend to a local optimum.

        `kind`, "near" or "far", sets how strong the move may be; an ascent that should not reach
        `rate_to_beat` ends early. Returns the matrix, its win rate, and the sweeps over the table.
        """
        context = self.context
        move = MOVES[name]
        strengths = move.near if kind == "near" else move.far
        # Some moves make more of one roll, which has a bandit of its own; others ignore it.
        roll = self.bandits["roll"].draw(context.random) if move.by_roll else "0"
        # The move and the ascent change row 0 of the policies in place.
        context.policies[0] = one_hot(matrix, context.game.num_actions)
        context.roll = int(roll)
        strength = log_uniform(context.random, strengths or (1.0, 1.0))
        move_sweeps = move.apply(context, strength)
        least_gain = self.margin or ANY_GAIN
        rate, ascent_sweeps = context.ascend(least_gain=least_gain, to_beat=rate_to_beat)
        sweeps = move_sweeps + ascent_sweeps
        if move.by_roll and kind == "near":
            self.choices["roll"].append(MoveGain(roll, max(0.0, rate - rate_to_beat), sweeps))
        self.sweeps += sweeps
        return likeliest(context.policies[0]), rate, sweeps

    def _return_to_best(self, current: CurrentSolution) -> None:
        """Leave the current matrix for the best one, and note what the far move to it gained.

        If that matrix has become the best one, it is refined next; else the next move is far.
        """
        gain = self.best_rate - current.best_before
        self.choices["far"].append(MoveGain(current.move, max(0.0, gain), current.sweeps))
        self.current = None
        if current.move != STAY and self.best_rate > current.best_before:
            self.current = CurrentSolution.from_best(self.best, self.best_rate)


class OngoingSearches(NamedTuple):
    """Searches for counters, n of them, that go on against a strategy while the strategy changes.

    Each is an iterated local search for so many kicks, its *life*, and then begins anew from a
    random start.
    """

    matrices: Matrix  # (n, G, G), the current matrix of each
    kicks_left: NDArray[np.int64]  # (n,), of each; negative where a search is to begin

    @classmethod
    def to_begin(cls, game: Engine, number: int, life: int) -> "OngoingSearches":
        """Make searches that have yet to begin; their lives end in turn, the last one's last."""
        lives = np.ceil(life * np.arange(1, number + 1) / max(1, number)).astype(np.int64)
        return cls(zero_matrices(number, game.shape), -lives)

    def list_searches(
        self, game: Engine, strategy: Strategy, counters: Matrix, kicks: int, seed: tuple[int, ...]
    ) -> list[CounterSearch]:
        """List the searches, each for so many kicks more: perturbations with an ascent.

        A search that has no kicks left begins anew by annealing from a random start. Kicks may
        cross over with a few of the `counters` (m, G, G), known matrices that win against the
        strategy. All results are evaluated anew anyway, so searches are not exact.
        """
        shared_bandits = bandits(game.num_actions)
        searches = []
        for number, matrix in enumerate(self.matrices):
            random = np.random.default_rng((*seed, number, SEED_OF_START))
            kicks_seed = (*seed, number, SEED_OF_KICKS)
            search = CounterSearch(matrix, is_exact=False, kicks=kicks, seed=kicks_seed)
            is_to_begin = self.kicks_left[number] < 0
            if is_to_begin:
                # Starts 2 and 3 are random; 0 and 1 would be alike for all searches.
                start_number = 2 + int(random.integers(2))
                start, cooling = ith_start(game, strategy.mean, start_number, random)
                search = search._replace(start=start, steps=ANNEALING_STEPS, cooling=cooling)
            partners = counters
            if len(counters) > MOST_PARTNERS:
                partners = counters[random.choice(len(counters), MOST_PARTNERS, replace=False)]
            searches.append(search._replace(bandits=shared_bandits, partners=list(partners)))
        return searches

    def with_results(self, matrices: Sequence[Matrix], kicks: int, life: int) -> "OngoingSearches":
        """Replace the matrices by those that so many kicks led to, and count the kicks.

        A search that has no kicks left is to begin anew, with kicks for a whole life.
        """
        kicks_left = np.abs(self.kicks_left) - kicks
        new_matrices = np.array(matrices, self.matrices.dtype).reshape(self.matrices.shape)
        begin_anew = -life  # negative: the next kicks come after a new start
        return OngoingSearches(new_matrices, np.where(kicks_left > 0, kicks_left, begin_anew))

    def run(
        self,
        game: Engine,
        strategy: Strategy,
        counters: Matrix,
        kicks: int,
        life: int,
        seed: tuple[int, ...],
        deadline: Deadline = FOREVER,
    ) -> "OngoingSearches":
        """Run each search for so many kicks against a strategy; `list_searches` says how.

        A search that the deadline cuts short gives its best matrix so far.
        """
        searches = [
            search._replace(deadline=deadline)
            for search in self.list_searches(game, strategy, counters, kicks, seed)
        ]
        states = compute(partial(CounterSearch.run, game=game, strategy=strategy), searches)
        return self.with_results([state.matrix for state in states], kicks, life)
