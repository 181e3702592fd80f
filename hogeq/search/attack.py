"""Search for a best response to a strategy: the attack, and an estimate for more effort.

Under imperfect recall a best response is NP-hard to find in general. The win rate of the best
counter-matrix found is a true lower bound on it; ``docs/attack.md`` says how the search goes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import Any, Final, NamedTuple

from hogeq.model.protocol import Engine
from hogeq.model.shared import shared_workspace
from hogeq.search.ascent import SearchContext, to_pure
from hogeq.search.budget import Budget
from hogeq.search.counter_search import (
    PROGRESS_OF_ASCENT,
    CounterSearch,
    CurrentSolution,
    MoveGain,
    SearchState,
)
from hogeq.search.moves import HOG_MOVES, MOVES, bandits
from hogeq.search.units import WIN_RATES, Units, write_rate
from hogeq.strategies.arrays import likeliest, one_hot
from hogeq.strategies.conversion import StrategyLike, strategy_of
from hogeq.strategies.strategy import Strategy
from hogeq.support import html
from hogeq.support.aliases import Floats, Matrix
from hogeq.support.deadline import Deadline
from hogeq.support.messages import counted, percent, pp, refusal
from hogeq.support.progress import Phase, phase
from hogeq.support.workers import compute

# A kick is a step of iterated local search: a perturbation of the matrix, and another ascent.
KICKS_PER_ROUND: Final = 5  # kicks of every start's search before all learn from one another
LEAST_CANDIDATES: Final = 2  # starts that are never given up
EVEN_RATE: Final = 0.5  # win rate of an equilibrium: a fair coin decides who moves first
SATURATION_GAIN: Final = 3e-4  # win rate; a search is saturated if doubling it would gain less
LEAST_ROUNDS: Final = 12  # rounds of kicks that an estimate of further gains needs
ORDER_STATISTICS_RATIO: Final = 0.4
"""What the best of four gains on the best of two, as a share of how far two are apart.

Of numbers drawn from a normal distribution the means are 1.03 and 0.56 deviations above the
centre, and two are 1.13 apart: 0.41 (Royston 1982, "Expected normal order statistics").
"""


class Saturation(NamedTuple):
    """Gain of the last half of a search, and an estimate for one doubling, not for more.

    Examples
    --------
    >>> import hogeq
    >>> hogeq.Saturation(last_half=0.0, left=0.0).saturated
    True
    """

    last_half: float  # win rate gained in the last half of the effort
    left: float | None  # estimate of what twice the effort would gain; None if none is possible

    @property
    def saturated(self) -> bool:
        """Whether twice the effort would gain less than `SATURATION_GAIN`, by the estimate."""
        return self.left is not None and self.left < SATURATION_GAIN

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {**self._asdict(), "saturated": self.saturated}


def saturation(curve: Sequence[tuple[int, float]], apart: float = 0.0) -> Saturation:
    """Estimate what twice the effort of a search would gain, in win rate.

    The estimate is the largest of three: the gain of the last half of the effort, the mean of that
    and of the second quarter's gain, and a share of how far the two best candidates are apart.
    There is none after too few rounds.

    `curve` has pairs of the sweeps spent and the best win rate; `apart` is the difference of the
    win rates of the two best candidates.
    """
    sweeps_spent, best_rate = curve[-1]
    rate_at_half = _best_rate_by(0.5 * sweeps_spent, curve)
    last_half = best_rate - rate_at_half
    second_quarter = rate_at_half - _best_rate_by(0.25 * sweeps_spent, curve)
    doubling_gain = max(
        last_half, 0.5 * (last_half + second_quarter), ORDER_STATISTICS_RATIO * apart
    )
    has_enough_rounds = len(curve) > LEAST_ROUNDS
    return Saturation(last_half, doubling_gain if has_enough_rounds else None)


def _best_rate_by(most_sweeps: float, curve: Sequence[tuple[int, float]]) -> float:
    """Best win rate when so many sweeps were spent, or else at the first point of a curve."""
    rates = [rate for sweeps, rate in curve if sweeps <= most_sweeps]
    return max(rates, default=curve[0][1])


class MoveTotals(NamedTuple):
    """Attempts, gain and effort of a move, over all starts."""

    tried: int  # how often it was chosen
    gained: float  # win rate gained, summed over all starts
    sweeps: int  # over the table, ascents included; of a far move, with the near ones after it


@dataclass(frozen=True, eq=False)
class SearchResult:
    """The strongest counter-matrix found.

    Examples
    --------
    >>> import hogeq
    >>> game = hogeq.Game({"edition": "su20", "goal": 20, "max_dice": 4})
    >>> found = game.attack("always_roll:3", hogeq.Budget(starts=2)).search
    >>> found.matrix.shape, len(found.found)
    ((20, 20), 2)
    """

    matrix: Matrix
    """(G, G)"""
    win_rate: float
    """Its exact win rate against the strategy attacked."""
    budget: Budget
    """Budget of the search."""
    sweeps: int
    """Sweeps over the whole table, annealing and ascent, summed over the starts."""
    found: tuple[float, ...]
    """Win rate that each start came to, before it was given up if it was."""
    saturation: Saturation
    """How much the last half of the effort found, and what twice the effort would."""
    moves: dict[str, MoveTotals]
    """What each move has brought, by its name: ``near.drawn_rolls``, ``far.crossover``."""
    curve: tuple[tuple[int, float], ...]
    """Sweeps spent and best win rate: after the starts, and after every round of kicks."""
    known: float | None = None
    """Win rate of the strongest counter that was known before and begun with."""

    def to_json(self, units: Units = WIN_RATES) -> dict[str, Any]:
        """Return the course of the search as plain values, in the units of a game.

        ``sweeps``; the budget: ``starts``, ``anneal_steps``, ``damping``, ``kicks``, ``seed``;
        ``found`` (value of each start), ``saturated``, ``last_half`` and ``left`` (gained by the
        last half of the sweeps, and by twice as many by an estimate), ``moves`` (of each the times
        ``tried``, what it ``gained``, ``sweeps``), ``known`` (of the known counter begun with).
        """
        scale = units.per_rate
        left = self.saturation.left
        moves = {
            name: {**totals._asdict(), "gained": scale * totals.gained}
            for name, totals in self.moves.items()
            if totals.tried
        }
        return {
            "sweeps": self.sweeps,
            **self.budget.fields(),
            "found": [units.value(rate) for rate in self.found],
            "saturated": self.saturation.saturated,
            "last_half": scale * self.saturation.last_half,
            "left": None if left is None else scale * left,
            "moves": moves,
            **({} if self.known is None else {"known": self.known}),
        }

    def lines(self, units: Units = WIN_RATES) -> list[str]:
        """Describe the effort, the gain of its last half, and the estimate for one doubling."""
        doubling_gain = self.saturation.left
        course = "too few kicks to estimate what more would find"
        if doubling_gain is not None:
            last_half = units.gain(units.per_rate * self.saturation.last_half)
            doubling = units.gain(units.per_rate * doubling_gain)
            course = (
                f"the last half of the sweeps found {last_half}, "
                f"one doubling about {doubling} by estimate"
            )
        effort = f"effort: {self.budget}: {counted(self.sweeps, 'sweep')}"
        if self.known is not None:
            effort += f"; begun, too, with a known counter that gets {units.exact(self.known)}"
        return [effort, course]

    def _repr_html_(self) -> str:
        """Write the figures, in a notebook."""
        effort = f"{counted(len(self.found), 'start')}, {counted(self.sweeps, 'sweep')}"
        return html.table([(percent(self.win_rate), effort)], ("wins", "effort"), "Attack")


def attack(
    game: Engine,
    strategy: StrategyLike,
    budget: Budget | None = None,
    known: Sequence[Matrix] = (),
    deadline: Deadline | None = None,
) -> SearchResult:
    """Search for the matrix that wins most against a strategy, or against a mixture of several.

    1. From each start anneal a softmax responder, make it pure, and ascend to a local optimum. If
       the first start ends below 1/2, another ascent starts from the strategy itself, so that no
       attack wins less. `known` counter-matrices (G, G) are starts, too, of an ascent alone.
    2. Kick every search in rounds: perturb its best matrix and ascend again. After each round learn
       which perturbations gain most; from time to time give up the weaker searches.

    Action values are weighted by the reach of each hidden state under the responder's own play. The
    reach of a cell depends on cells not yet changed, its values on cells already changed, so every
    step of the ascent is exact. When the time is over, searches that have begun end after one more
    sweep of ascent, and only the first start still begins.
    """
    budget = Budget() if budget is None else budget
    if not isinstance(budget, Budget):
        raise TypeError(refusal("budget", budget, "a Budget"))
    target = strategy_of(game, strategy)
    most_steps = None if budget.until_saturated else budget.starts * search_steps(budget)
    steps_of_start = budget.anneal_steps + PROGRESS_OF_ASCENT
    with phase("attack", most_steps) as progress:
        progress.write = partial(write_rate, game)
        search = AttackSearch(game, target, budget, progress, deadline)
        run_start = partial(_run_in_time, game=game, strategy=target, progress=progress)
        # Searches run in any threads or processes.
        states = compute(
            run_start,
            search.starts(),
            lambda number: progress.reach((number + 1) * steps_of_start),
        )
        search.begin([state for state in states if state is not None], known)
        run_kicks = partial(CounterSearch.run, game=game, strategy=target, progress=progress)
        while search.kicks_left:
            searches = search.next_round(search.kicks_left)
            search.learn(searches, compute(run_kicks, searches))
        return search.result()


def _run_in_time(start: CounterSearch, **context: Any) -> SearchState | None:
    """Run a start, in any process; None if the time is over before it, unless it is the first."""
    is_first = start.start == 0
    return start.run(**context) if is_first or not start.deadline.is_over else None


def search_steps(budget: Budget) -> int:
    """Count the steps of one start, as its progress is shown."""
    return budget.anneal_steps + PROGRESS_OF_ASCENT * (1 + budget.kicks)


@dataclass
class _Candidate:
    """The best matrix of one start, and the state of the search that improves it."""

    start: int  # number of the start; other ascents and known counters have later numbers
    state: SearchState
    compared_rate: float  # its win rate when candidates were compared last

    @property
    def rate(self) -> float:
        """Win rate of the best matrix."""
        return self.state.rate

    @property
    def extrapolated_rate(self) -> float:
        """Win rate that it would have after the same gain again as since it was compared last."""
        return 2.0 * self.rate - self.compared_rate


class AttackSearch:
    """A search from several starts, which share their results."""

    def __init__(
        self,
        game: Engine,
        strategy: Strategy,
        budget: Budget,
        progress: Phase,
        deadline: Deadline | None = None,
    ) -> None:
        """Begin a search with no candidates yet; its budget or `deadline` limits it."""
        self.game = game
        self.strategy = strategy
        self.budget = budget
        self.progress = progress
        self.bandits = bandits(game.num_actions, HOG_MOVES if game.seats_share_rows else MOVES)
        self.moves: dict[str, MoveTotals] = {}  # by kind and name: "near.drawn_rolls"
        self.sweeps = 0  # of all candidates together
        self.kicks = 0  # of all candidates together
        self.candidates: list[_Candidate] = []  # that go on
        self.given_up: list[_Candidate] = []
        self.start_rates: list[float] = []  # win rate that each start has come to
        self.known_rate: float | None = None  # of the strongest known counter
        self.curve: list[tuple[int, float]] = []  # sweeps spent, best win rate
        # Kicks after which candidates are compared:
        self.compare_at = KICKS_PER_ROUND * budget.starts
        self.deadline = deadline or Deadline(inf if budget.seconds is None else budget.seconds)

    @property
    def kicks_left(self) -> int:
        """Kicks left of the budget for all starts together; until saturation, if it says so."""
        budget = self.budget
        if self.deadline.is_over:
            return 0
        kicks_left = budget.starts * budget.kicks - self.kicks
        if kicks_left <= 0 and budget.until_saturated and not self._saturation().saturated:
            kicks_left = budget.starts * budget.most_kicks - self.kicks
        return max(0, kicks_left)

    @property
    def best(self) -> _Candidate:
        """The candidate that wins most, the first of several."""
        return max(self.candidates, key=lambda candidate: candidate.rate)

    def result(self) -> SearchResult:
        """Give the result of the search."""
        best = self.best
        return SearchResult(
            matrix=best.state.matrix,
            win_rate=best.rate,
            budget=self.budget,
            sweeps=self.sweeps,
            found=tuple(self.start_rates),
            saturation=self._saturation(),
            moves=self.moves,
            curve=tuple(self.curve),
            known=self.known_rate,
        )

    def _saturation(self) -> Saturation:
        """Estimate what twice the effort would gain: nothing in games without hidden memory."""
        best_first = sorted((candidate.rate for candidate in self.candidates), reverse=True)
        apart = best_first[0] - best_first[1] if len(best_first) > 1 else 0.0
        estimate = saturation(self.curve, apart)
        # Without hidden memory an ascent ends in a best response.
        return estimate if self.game.has_memory else estimate._replace(left=0.0)

    def starts(self) -> list[CounterSearch]:
        """List the searches of the starts, each by annealing and an ascent."""
        budget = self.budget
        return [
            CounterSearch(
                start,
                budget.anneal_steps,
                damping=budget.damping,
                seed=(budget.seed, start),
                name=f"start {start + 1} of {budget.starts}",
                deadline=self.deadline,
            )
            for start in range(budget.starts)
        ]

    def begin(self, states: Sequence[SearchState], known: Sequence[Matrix] = ()) -> None:
        """Make a candidate of the result of each start, and of each known counter-matrix (G, G).

        If the first start does not win half of its games, an ascent from the strategy attacked
        gives one more.
        """
        for start, state in enumerate(states):
            # Kicks first refine the matrix of a start, before they lead away from it.
            refining = state._replace(current=CurrentSolution.from_best(state.matrix, state.rate))
            self.candidates.append(_Candidate(start, refining, state.rate))
            self.start_rates.append(state.rate)
            self.sweeps += state.sweeps
        context = SearchContext.of(self.game, self.strategy, deadline=self.deadline)
        next_start = self.budget.starts
        if self.start_rates[0] < EVEN_RATE:
            self._ascend_from_strategy(context, next_start)
        for start, matrix in enumerate(known, next_start + 1):
            if self.deadline.is_over:
                break
            context.policies[0] = one_hot(matrix, self.game.num_actions)
            rate, sweeps = context.ascend(is_exact=True)  # changes policies[0]
            self.known_rate = max(self.known_rate or 0.0, rate)
            self._add_candidate(start, context.policies[0], rate, sweeps)
        self._record_progress()

    def _ascend_from_strategy(self, context: SearchContext, start: int) -> None:
        """Ascend from the strategy attacked to a candidate, number `start`, that wins 1/2 or more.

        The mean of a mixture's components stands for the mixture.
        """
        policies = context.policies  # row 0 is the responder, which an ascent changes in place
        policies[0] = self.strategy.mean
        rate, sweeps = context.climb()
        if self.deadline.is_over:  # rows that the last sweep did not come to may be mixed
            to_pure(policies[0])
            exact = shared_workspace(self.game, len(policies))
            rate = exact.win_rate(policies, weights=context.weights).win_rate
        self._add_candidate(start, policies[0], rate, sweeps)

    def _add_candidate(self, start: int, policy: Floats, rate: float, sweeps: int) -> None:
        """Add a pure policy (G, G, K), the result of an ascent, to the candidates to be kicked."""
        self.sweeps += sweeps
        self.candidates.append(_Candidate(start, SearchState(likeliest(policy), rate), rate))

    def next_round(self, most_kicks: int) -> list[CounterSearch]:
        """List the searches of a round, which kick every candidate, the best first.

        Sorts the candidates. All kicks of the round together are `most_kicks` at most.
        """
        self.candidates.sort(key=lambda candidate: -candidate.rate)
        kicked = self.candidates[:most_kicks]
        all_candidates = [*self.candidates, *self.given_up]
        kicks_each = min(KICKS_PER_ROUND, most_kicks // len(kicked))
        searches = []
        for candidate in kicked:
            # A matrix crosses over only with weaker ones, or all would become the best.
            weaker = [other for other in all_candidates if other.rate < candidate.rate]
            search = CounterSearch(
                candidate.state,
                kicks=kicks_each,
                seed=(self.budget.seed, candidate.start, 1 + self.kicks),
                bandits=self.bandits,
                partners=[other.state.matrix for other in weaker],
                deadline=self.deadline,
            )
            searches.append(search)
        return searches

    def learn(self, searches: Sequence[CounterSearch], states: Sequence[SearchState]) -> None:
        """Take the results of a round, learn which moves gain most, and give up weak candidates.

        `searches` kicked the first candidates, and `states` are their results, in that order.
        """
        for candidate, state in zip(self.candidates, states, strict=False):
            candidate.state = state
            self.sweeps += state.sweeps
            if candidate.start < len(self.start_rates):  # no further ascent or known counter
                self.start_rates[candidate.start] = state.rate
            for kind, choices in state.choices.items():
                self._learn_gains(kind, choices)
        self.kicks += sum(search.kicks for search in searches)
        self._record_progress()
        if self.kicks >= self.compare_at:
            self.compare_at *= 2
            self._give_up_weakest()

    def _learn_gains(self, kind: str, choices: list[MoveGain]) -> None:
        """Report the gains of moves to the bandit of their kind, and add them up by move.

        `kind` is "near", "far", or "roll", whose choices are rolls instead of moves.
        """
        for choice in choices:
            self.bandits[kind].report(choice.move, choice.gain, choice.sweeps)
            if kind == "roll":  # its gain is counted as that of a near move
                continue
            name = f"{kind}.{choice.move}"
            before = self.moves.get(name, MoveTotals(tried=0, gained=0.0, sweeps=0))
            self.moves[name] = MoveTotals(
                tried=before.tried + 1,
                gained=before.gained + choice.gain,
                sweeps=before.sweeps + choice.sweeps,
            )

    def _record_progress(self) -> None:
        """Add a point to the curve, (sweeps spent, best win rate), and show it as progress.

        A kick is one step of iterated local search.
        """
        best_rate = self.best.rate
        self.curve.append((self.sweeps, best_rate))
        if not self.kicks:
            return
        total = f"/{self.budget.starts * self.budget.kicks}"
        if self.budget.until_saturated:
            total = f" of at most {self.budget.starts * self.budget.most_kicks}"
        doubling_gain = self._saturation().left
        estimate = ""
        if self.game.pays_wins and doubling_gain is not None:
            estimate = f", twice the effort would find {pp(doubling_gain)}"
        self.progress.now(f"kick {self.kicks}{total}")
        self.progress.measured(f"best {self.progress.write(best_rate)}{estimate}")

    def _give_up_weakest(self) -> None:
        """Keep the best candidate and the larger half of all, by the rates that they should reach.

        At least two are kept, and a quarter of the number of starts.
        """
        best = self.best
        best_first = sorted(
            self.candidates, key=lambda other: (other is not best, -other.extrapolated_rate)
        )
        fewest = max(LEAST_CANDIDATES, self.budget.starts // 4)
        number_kept = max(fewest, (len(best_first) + 1) // 2)
        self.candidates = best_first[:number_kept]
        self.given_up += best_first[number_kept:]
        for candidate in self.candidates:
            candidate.compared_rate = candidate.rate
