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
from hogeq.search.ascent import ascend, climb
from hogeq.search.counter_search import ASCENT, CounterSearch, Excursion, MoveGain, SearchState
from hogeq.search.moves import MOVES, USUAL, SearchContext, bandits
from hogeq.search.results import WIN_RATES, Budget, Units, write_rate
from hogeq.strategies.arrays import likeliest, one_hot
from hogeq.strategies.strategy import Strategy, StrategyLike, strategy_of
from hogeq.support import html
from hogeq.support.aliases import Floats, Matrix
from hogeq.support.deadline import Deadline
from hogeq.support.messages import at_least, counted, pp, refusal
from hogeq.support.progress import Phase, phase
from hogeq.support.workers import compute

ROUND: Final = 5  # kicks of every trail between one comparison of notes and the next
FEWEST: Final = 2  # starts that are never given up
VALUE: Final = 0.5  # win rate of an equilibrium: a fair coin says who moves first
ENOUGH: Final = 3e-4  # win rate; `saturated` is a search of which twice the effort would find less
ROUNDS: Final = 12  # rounds of kicks from which on anything can be said
LUCK: Final = 0.4
"""What the best of four gains on the best of two, as a share of how far two are apart.

Of numbers drawn from a normal distribution the means are 1.03 and 0.56 deviations above the
centre, and two are 1.13 apart: 0.41 (Royston 1982, "Expected normal order statistics").
"""


class Saturation(NamedTuple):
    """Gain of the last half of a search, and an estimate for one doubling, not for more."""

    last_half: float  # win rate gained in the last half of the effort
    left: float | None  # estimate of what twice the effort would gain; None if none is possible

    @property
    def saturated(self) -> bool:
        """Whether twice the effort would gain less than `ENOUGH`, by the estimate."""
        return self.left is not None and self.left < ENOUGH

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {**self._asdict(), "saturated": self.saturated}


def saturation(curve: Sequence[tuple[int, float]], apart: float = 0.0) -> Saturation:
    """Judge a search by its curve."""
    effort, best = curve[-1]

    def at(share: float) -> float:
        return max((rate for spent, rate in curve if spent <= share * effort), default=curve[0][1])

    last, before = best - at(0.5), at(0.5) - at(0.25)
    left = max(last, 0.5 * (last + before), LUCK * apart)
    return Saturation(last, left if len(curve) > ROUNDS else None)


class MovePay(NamedTuple):
    """Attempts, gain and effort of a move."""

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
    moves: dict[str, MovePay]
    """What each move has brought, by its name: ``near.drawn_rolls``, ``far.crossover``."""
    curve: tuple[tuple[int, float], ...]
    """Sweeps spent and best win rate: after the starts, and after every round of kicks."""
    known: float | None = None
    """Win rate of the strongest counter that was known before and begun with."""

    def to_json(self, units: Units = WIN_RATES) -> dict[str, Any]:
        """Return its course as plain values, in the units of a game.

        ``sweeps``; the budget: ``starts``, ``anneal_steps``, ``damping``, ``kicks``, ``seed``;
        ``found`` (value of each start), ``saturated``, ``last_half`` and ``left`` (gained by the
        last half of the sweeps, and by twice as many by an estimate), ``moves`` (of each the times
        ``tried``, what it ``gained``, ``sweeps``), ``known`` (of the known counter begun with).
        """
        scale, left = units.per_rate, self.saturation.left
        paid = {
            name: {**pay._asdict(), "gained": scale * pay.gained}
            for name, pay in self.moves.items()
            if pay.tried
        }
        return {
            "sweeps": self.sweeps,
            **self.budget.fields(),
            "found": [units.value(rate) for rate in self.found],
            "saturated": self.saturation.saturated,
            "last_half": scale * self.saturation.last_half,
            "left": None if left is None else scale * left,
            "moves": paid,
            **({} if self.known is None else {"known": self.known}),
        }

    def lines(self, units: Units = WIN_RATES) -> list[str]:
        """Describe its effort, the gain of the last half, and the estimate for one doubling."""
        last, left = self.saturation.last_half, self.saturation.left
        course = "too few kicks to estimate what more would find"
        if left is not None:
            part, rest = (units.gain(units.per_rate * gain) for gain in (last, left))
            course = (
                f"the last half of the sweeps found {part}, one doubling about {rest} by estimate"
            )
        effort = f"effort: {self.budget}: {counted(self.sweeps, 'sweep')}"
        if self.known is not None:
            effort += f"; begun, too, with a known counter that gets {units.lower(self.known)}"
        return [effort, course]

    def _repr_html_(self) -> str:
        """Write the figures, in a notebook."""
        effort = f"{counted(len(self.found), 'start')}, {counted(self.sweeps, 'sweep')}"
        return html.table([(at_least(self.win_rate), effort)], ("wins", "effort"), "Attack")


def attack(
    game: Engine,
    strategy: StrategyLike,
    budget: Budget | None = None,
    known: Sequence[Matrix] = (),
    deadline: Deadline | None = None,
) -> SearchResult:
    """Search for the matrix that wins most against a strategy, or against a mixture of several.

    Action values are weighted by the reach of each hidden state under the responder's own play. The
    reach of a cell depends on cells not yet changed, its values on cells already changed, so every
    step of the ascent is exact. If the first start ends below 1/2, another ascent starts from the
    strategy itself, so that no attack wins less. With more starts the win rate is never lower,
    kicks apart. Counters that are known are starts too, so that it is not below theirs. When the
    time is over, what has begun is left one sweep of ascent, and only the first start still begins.
    """
    budget = Budget() if budget is None else budget
    if not isinstance(budget, Budget):
        raise TypeError(refusal("budget", budget, "a Budget"))
    target = strategy_of(game, strategy)
    most = None if budget.until_saturated else budget.starts * search_steps(budget)
    steps = budget.anneal_steps + ASCENT
    with phase("attack", most) as progress:
        progress.write = partial(write_rate, game)
        search = AttackSearch(game, target, budget, progress, deadline)
        run = partial(CounterSearch.run, game=game, strategy=target, progress=progress)

        def begun(start: CounterSearch) -> SearchState | None:
            is_late = search.deadline.is_over and start.start
            return None if is_late else run(start)

        starts = compute(
            begun, search.starts(), lambda number: progress.reach((number + 1) * steps)
        )
        search.begin([one for one in starts if one is not None], known)
        while search.kicks_left:
            searches = search.round(search.kicks_left)
            search.learn(searches, compute(run, searches))
        return search.result()


def search_steps(budget: Budget) -> int:
    """Count the steps of one start, as its progress is shown."""
    return budget.anneal_steps + ASCENT * (1 + budget.kicks)


@dataclass
class _Trail:
    """A search of an attack, from one start."""

    start: int
    state: SearchState
    mark: float  # its rate when trails were compared last

    @property
    def rate(self) -> float:
        """Win rate of the best matrix."""
        return self.state.rate


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
        self.game, self.strategy, self.budget, self.progress = game, strategy, budget, progress
        is_tree = len(game.shape) == 2  # rows are one list
        self.bandits = bandits(game.num_actions, MOVES if is_tree else USUAL)
        self.moves: dict[str, MovePay] = {}
        self.sweeps = self.kicks = 0
        self.trails: list[_Trail] = []  # that go on
        self.given_up: list[_Trail] = []
        self.found: list[float] = []
        self.known: float | None = None
        self.curve: list[tuple[int, float]] = []
        self.compare_at = ROUND * budget.starts
        self.deadline = deadline or Deadline(inf if budget.seconds is None else budget.seconds)

    @property
    def kicks_left(self) -> int:
        """Kicks that the budget still has for all starts together."""
        budget = self.budget
        if self.deadline.is_over:
            return 0
        left = budget.starts * budget.kicks - self.kicks
        if left <= 0 and budget.until_saturated and not self._saturation().saturated:
            left = budget.starts * budget.most_kicks - self.kicks
        return max(0, left)

    def result(self) -> SearchResult:
        """Give the result of the search."""
        best = max(self.trails, key=lambda trail: trail.rate).state
        found = self.budget, self.sweeps, tuple(self.found), self._saturation()
        return SearchResult(
            best.matrix, best.rate, *found, self.moves, tuple(self.curve), self.known
        )

    def _saturation(self) -> Saturation:
        rates = sorted((trail.rate for trail in self.trails), reverse=True)
        found = saturation(self.curve, rates[0] - rates[1] if len(rates) > 1 else 0.0)
        return found if self.game.has_memory else found._replace(left=0.0)

    def starts(self) -> list[CounterSearch]:
        """List the searches that begin: annealing, and an ascent."""
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
        """Begin with the results of the starts, and with known counters."""
        for start, state in enumerate(states):
            away = Excursion.stay(state.matrix, state.rate)
            self.trails.append(_Trail(start, state._replace(away=away), state.rate))
            self.found.append(state.rate)
            self.sweeps += state.sweeps
        context = SearchContext.of(self.game, self.strategy)
        policies, number = context.policies, self.budget.starts
        if self.found[0] < VALUE and not self.deadline.is_over:
            policies[0] = self.strategy.mean
            reached = climb(self.game, policies, context.weights, self.deadline)
            self._add(number, policies, reached)
        exact = shared_workspace(self.game, len(policies))
        for place, matrix in enumerate(known, number + 1):
            if self.deadline.is_over:
                break
            policies[0] = one_hot(matrix, self.game.num_actions)
            reached = ascend(exact, policies, weights=context.weights, deadline=self.deadline)
            self.known = max(self.known or 0.0, reached[0])
            self._add(place, policies, reached)
        self._note()

    def _add(self, start: int, policies: Floats, reached: tuple[float, int]) -> None:
        """Let a search go on from where an ascent has come to."""
        rate, sweeps = reached
        self.sweeps += sweeps
        self.trails.append(_Trail(start, SearchState(likeliest(policies[0]), rate), rate))

    def round(self, most: int) -> list[CounterSearch]:
        """List a round of kicks of every trail, the best first, at most so many in all."""
        self.trails.sort(key=lambda trail: -trail.rate)
        those = self.trails[:most]
        every = [*self.trails, *self.given_up]
        return [
            CounterSearch(
                trail.state,
                kicks=min(ROUND, most // len(those)),
                seed=(self.budget.seed, trail.start, 1 + self.kicks),
                bandits=self.bandits,
                # Those that win less, or all would become the best.
                mates=[mate.state.matrix for mate in every if mate.rate < trail.rate],
                deadline=self.deadline,
            )
            for trail in those
        ]

    def learn(self, searches: Sequence[CounterSearch], states: Sequence[SearchState]) -> None:
        """Compare trails after a round, and learn which moves have paid."""
        for trail, state in zip(self.trails, states, strict=False):
            trail.state = state
            self.sweeps += state.sweeps
            if trail.start < len(self.found):
                self.found[trail.start] = state.rate
            for kind, choices in state.choices.items():
                self._learn(kind, choices)
        self.kicks += sum(search.kicks for search in searches)
        self._note()
        if self.kicks >= self.compare_at:
            self.compare_at *= 2
            self._compare()

    def _learn(self, kind: str, choices: list[MoveGain]) -> None:
        for choice in choices:
            self.bandits[kind].report(*choice)
            if kind == "roll":
                continue
            name = f"{kind}.{choice.move}"
            tried, gained, sweeps = self.moves.get(name, MovePay(0, 0.0, 0))
            self.moves[name] = MovePay(tried + 1, gained + choice.gain, sweeps + choice.sweeps)

    def _note(self) -> None:
        best = max(trail.rate for trail in self.trails)
        self.curve.append((self.sweeps, best))
        if self.kicks:
            left = self._saturation().left
            is_hog = self.game.seat_rows is None
            more = (
                f", twice the effort would find {pp(left)}" if is_hog and left is not None else ""
            )
            budget = self.budget
            starts, most = budget.starts, budget.kicks
            total = f"/{starts * most}"
            if budget.until_saturated:
                total = f" of at most {starts * budget.most_kicks}"
            self.progress.now(f"kick {self.kicks}{total}")
            self.progress.measured(f"best {self.progress.write(best)}{more}")

    def _compare(self) -> None:
        """Give up the half of the trails that promises less, but neither the best nor too many."""
        # A trail promises to rise once more by as much as since trails were compared.
        least = min(len(self.trails), max(FEWEST, self.budget.starts // 4))
        best = max(self.trails, key=lambda trail: trail.rate)
        order = sorted(
            self.trails, key=lambda trail: (trail is not best, trail.mark - 2.0 * trail.rate)
        )
        number = max(least, (len(order) + 1) // 2)
        self.trails = order[:number]
        self.given_up += order[number:]
        for trail in self.trails:
            trail.mark = trail.rate
