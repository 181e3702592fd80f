"""One strategy against a whole field: what wins most, and what that costs in safety.

A player meets one rival of the field, not knowing which, so the objective is a mean of win rates
and the value of a roll the mean over rivals of its counterfactual value.  Rivals differ in what
their play reaches, hence in the hidden states behind a position, and no single strategy stands for
all of them: every pass is made against each.

Annealing and ascent are those of :mod:`hogeq.respond` but change all cells at once, and so need a
check: a step that does not raise the objective is halved, down to the one cell that gains most,
where for a mean the gain is exact.

Safety is bought as Johanson, Zinkevich and Bowling (2007) do, "Computing robust
counter-strategies": in the restricted game a share of the opponents plays as the field does, and
the others are free to exploit.  Regret matching stands in for the equilibrium of that game, which
under imperfect recall no method is known to find; what comes out is judged by attacks on it.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import local
from types import TracebackType
from typing import Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hogeq.evaluate import counterfactual_values, policy_of
from hogeq.game import Game
from hogeq.kernels import passes
from hogeq.limits import check_number
from hogeq.respond import COOLING, Effort, attack, full_memory_bound
from hogeq.solvers.matching import given_arrival, match_regrets, normalised, softmax
from hogeq.strategy import as_policy
from hogeq.tournament import WIN
from hogeq.workspace import Workspace

Floats = NDArray[np.float64]
Matrix = NDArray[np.int8]
Progress = Callable[[], object]
Objective = Literal["mean", "beaten"]

OBJECTIVES = ("mean", "beaten")
WIN_EDGES = (0.03, 0.01, 0.003, 0.001)  # widths of a win's smooth edge, in win rate, one by one
STEP_LIMIT = 1000  # ascents have ended in fewer than 100
KICKED = 0.03  # share of cells
BISECTIONS = 6
EXPLORED = 1e-3  # probability of every roll while learning: what nobody reaches teaches nothing
HEAD_START = 0.02  # regret of the rolls that regret matching starts from, in win rate
TARGETS = 8  # rivals not yet beaten that are tried one by one


class Answer(NamedTuple):
    """What was found to play against a field, with its exact win rates."""

    strategy: NDArray[np.int8] | Floats
    """(G, G), or (G, G, K) where a policy was asked for."""
    win_rates: Floats
    """(n,), against every rival."""
    mean: float
    """Their mean."""
    beaten: int
    """How many are matches won, above 0.500001."""


class Point(NamedTuple):
    """One point of the trade-off between winning from a field and giving away little."""

    share: float
    """Of opponents that are free to exploit, p: 0 answers the field, 1 plays safe."""
    answer: Answer
    attack: float
    """Win rate of the strongest counter-matrix found against it."""
    bound: float
    """Win rate of the best responder that remembers everything."""


class CapError(ValueError):
    """No strategy was found that the attacks leave below the cap."""


# --- passes against every rival -------------------------------------------------------------------


class _Measured(NamedTuple):
    values: Floats
    """(G, G, K), weighted sum of counterfactual values."""
    mass: Floats
    """(G, G), the same of reach."""
    rates: Floats
    """(n,)"""


class _Field:
    """The rivals, and threads to pass over the game against each."""

    def __init__(self, game: Game, rivals: Sequence[ArrayLike], jobs: int) -> None:
        if not len(rivals):
            raise ValueError("field: 0 strategies, allowed are 1 or more")
        self.game = game
        self.rivals = [policy_of(game, rival) for rival in rivals]
        self._kept = local()
        self._pool = ThreadPoolExecutor(min(jobs, len(rivals)))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._pool.shutdown(cancel_futures=True)

    def rates(self, policy: Floats) -> Floats:
        """Exact win rate against every rival, (n,)."""

        def rate(rival: Floats) -> float:
            return self._work().win_rate(np.stack([policy, rival])).win_rate

        return np.array(list(self._pool.map(rate, self.rivals)))

    def measure(self, policy: Floats, weights: Floats) -> _Measured:
        """Sum what one pass each finds, by weights (n,)."""

        def one(rival: Floats) -> tuple[Floats, Floats, float]:
            work = self._work()
            policies = np.stack([policy, rival])
            work.forward(policies)
            first, other, _ = work.backward(policies, passes.MEASURE)
            return work.row_values.copy(), work.mass.copy(), (first + 1.0 - other) / 2.0

        values, mass = np.zeros(policy.shape), np.zeros(policy.shape[:-1])
        rates = []
        for weight, found in zip(weights, self._pool.map(one, self.rivals), strict=True):
            values += weight * found[0]
            mass += weight * found[1]
            rates.append(found[2])
        return _Measured(values, mass, np.array(rates))

    def answer(self, strategy: NDArray[np.int8] | Floats) -> Answer:
        """Judge a strategy."""
        rates = self.rates(policy_of(self.game, strategy))
        return Answer(strategy, rates, float(rates.mean()), _beaten(rates))

    def _work(self) -> Workspace:
        if not hasattr(self._kept, "work"):
            self._kept.work = self.game.workspace(2)
        work: Workspace = self._kept.work
        return work


# --- objectives -----------------------------------------------------------------------------------


def _beaten(rates: Floats) -> int:
    return int((rates > WIN).sum())


class _Mean:
    """The mean win rate."""

    def score(self, rates: Floats) -> float:
        return float(rates.mean())

    def weights(self, rates: Floats) -> Floats:
        """Gradient of the score."""
        return np.full(len(rates), 1.0 / len(rates))


class _SoftWins:
    """The share of rivals beaten, every win's edge smoothed to a width."""

    def __init__(self, width: float) -> None:
        self.width = width

    def score(self, rates: Floats) -> float:
        return float(self._wins(rates).mean())

    def weights(self, rates: Floats) -> Floats:
        """Gradient of the score."""
        wins = self._wins(rates)
        return wins * (1.0 - wins) / (self.width * len(rates))

    def _wins(self, rates: Floats) -> Floats:
        return 0.5 + 0.5 * np.tanh((rates - WIN) / (2.0 * self.width))


class _Losses:
    """What is short of a win against the rivals of a target, to the smooth edge of a width."""

    def __init__(self, target: NDArray[np.bool_], width: float) -> None:
        self.target, self.width = target, width

    def score(self, rates: Floats) -> float:
        short = np.logaddexp(0.0, (WIN - rates[self.target]) / self.width)
        return -self.width * float(short.sum())

    def weights(self, rates: Floats) -> Floats:
        """Gradient of the score."""
        wins = 0.5 + 0.5 * np.tanh((rates - WIN) / (2.0 * self.width))
        return np.where(self.target, 1.0 - wins, 0.0)


_Score = _Mean | _SoftWins | _Losses


def _rank(answer: Answer, objective: Objective) -> tuple[float, ...]:
    return (answer.mean,) if objective == "mean" else (answer.beaten, answer.mean)


def _check_objective(objective: str) -> None:
    if objective not in OBJECTIVES:
        raise ValueError(f"objective: {objective!r}, allowed are {', '.join(OBJECTIVES)}")


# --- the matrix that wins most --------------------------------------------------------------------


def answer_field(
    game: Game,
    rivals: Sequence[ArrayLike],
    objective: Objective = "mean",
    effort: Effort | None = None,
    progress: Progress | None = None,
) -> Answer:
    """Search for the matrix that does best against a field.

    Parameters
    ----------
    game : Game
    rivals : sequence of array_like
        Each a matrix (G, G) or a policy (G, G, K).
    objective : {"mean", "beaten"}
        The mean win rate; or the number of rivals beaten and, of equals, the mean.
    effort : Effort, optional
        `jobs` threads share the rivals of one pass.
    progress : callable, optional
        Called after every pass over the field.

    Returns
    -------
    Answer
        Never worse with more starts or kicks.

    Raises
    ------
    ValueError
        If a rival is malformed, there is none, or the objective is unknown.
    """
    effort = effort or Effort()
    _check_objective(objective)
    with _Field(game, rivals, effort.jobs) as field:
        found = [
            _search(field, objective, effort, start, progress) for start in range(effort.starts)
        ]
    return max(found, key=lambda answer: _rank(answer, objective))


def _search(
    field: _Field, objective: Objective, effort: Effort, start: int, progress: Progress | None
) -> Answer:
    game = field.game
    random = np.random.default_rng([effort.seed, start])
    policy = np.full(game.shape, 1.0 / game.rolls)
    weights = np.full(len(field.rivals), 1.0 / len(field.rivals))
    if start > 0:
        policy = random.dirichlet(np.ones(game.rolls), game.shape[:2])
    if start > 0 and objective == "beaten":
        # Who can be beaten together is not known: each start leans to some of the rivals.
        weights = random.dirichlet(np.ones(len(weights)))
    _anneal(field, policy, weights, effort, progress)
    best = _climb(field, policy.argmax(axis=2).astype(np.int8), objective, progress)
    for _ in range(effort.kicks):
        matrix = np.array(best.strategy, np.int8)
        cells = random.random(matrix.shape) < KICKED
        matrix[cells] = random.integers(game.rolls, size=int(cells.sum()))
        again = _climb(field, matrix, objective, progress)
        best = max(best, again, key=lambda answer: _rank(answer, objective))
    return best


def _anneal(
    field: _Field, policy: Floats, weights: Floats, effort: Effort, progress: Progress | None
) -> None:
    """Cool a softmax responder to the field, all cells at once; the policy is rewritten."""
    for temperature in np.geomspace(*COOLING, effort.anneal_steps):
        found = field.measure(policy, weights)
        target = softmax(given_arrival(found.values, found.mass) / temperature)
        met = found.mass > 0.0
        policy[met] += effort.damping * (target[met] - policy[met])
        if progress is not None:
            progress()


def _climb(
    field: _Field, matrix: Matrix, objective: Objective, progress: Progress | None
) -> Answer:
    """Ascend, for "beaten" on ever sharper scores; the best matrix on the way.

    `matrix` is rewritten.
    """
    best = field.answer(matrix.copy())

    def climb(score: _Score) -> None:
        nonlocal best
        for answer in _ascend(field, matrix, score, progress):
            best = max(best, answer, key=lambda answer: _rank(answer, objective))

    if objective == "mean":
        climb(_Mean())
        return best
    for width in WIN_EDGES:
        climb(_SoftWins(width))
    # One more rival each time, those beaten already kept: the nearest to a win first.
    missed = [rival for rival in np.argsort(-best.win_rates) if best.win_rates[rival] <= WIN]
    for rival in missed[:TARGETS]:
        target = best.win_rates > WIN
        target[rival] = True
        matrix = np.array(best.strategy, np.int8)
        climb(_Losses(target, WIN_EDGES[1]))
    matrix = np.array(best.strategy, np.int8)
    climb(_Mean())
    return best


def _ascend(
    field: _Field, matrix: Matrix, score: _Score, progress: Progress | None
) -> Iterator[Answer]:
    """Raise a score until no step does; the matrix is rewritten, and given after every step."""
    rolls = field.game.rolls
    rates = field.rates(as_policy(matrix, rolls))
    size = matrix.size
    for _ in range(STEP_LIMIT):
        found = field.measure(as_policy(matrix, rolls), score.weights(rates))
        if progress is not None:
            progress()
        present = np.take_along_axis(found.values, matrix[..., None].astype(np.int64), axis=2)
        gains = (found.values.max(axis=2) - present[..., 0]).ravel()
        better = np.argsort(-gains, kind="stable")
        better = better[gains[better] > passes.TIE * found.mass.ravel()[better]]
        choice = found.values.argmax(axis=2).astype(np.int8).ravel()
        size = min(2 * size, len(better))
        while size > 0:
            changed = matrix.copy()
            cells = better[:size]
            changed.ravel()[cells] = choice[cells]
            after = field.rates(as_policy(changed, rolls))
            if score.score(after) > score.score(rates):
                break
            size //= 2
        if size == 0:
            return
        matrix[...], rates = changed, after
        yield Answer(changed, rates, float(rates.mean()), _beaten(rates))


# --- safety ---------------------------------------------------------------------------------------


def restricted_response(
    game: Game,
    rivals: Sequence[ArrayLike],
    share: float,
    objective: Objective = "mean",
    *,
    start: ArrayLike | None = None,
    steps: int = 100,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Floats:
    """Policy for a field of which a share is free to exploit it: a restricted Nash response.

    Regret matching+ of both sides of the restricted game, the free opponent's too; regrets are
    weighted by full reach, steps averaged linearly.

    Parameters
    ----------
    game : Game
    rivals : sequence of array_like
        Each a matrix (G, G) or a policy (G, G, K).
    share : float
        Of opponents that are free, from 0 to 1.
    objective : {"mean", "beaten"}
        What the other opponents are weighted for: all alike, or those near the edge of a win more.
    start : array_like, optional
        Strategy of the first step, uniform by default. The answer to the field alone is a better
        one: from there regret matching stays above where it gets by itself.
    steps : int
        At least 1.
    jobs : int
        Threads that share the rivals of one pass.
    progress : callable, optional
        Called after every step.

    Returns
    -------
    float64 (G, G, K)

    Raises
    ------
    ValueError
        If something is malformed or out of range.
    """
    _check_objective(objective)
    check_number("share", share, least=0, most=1)
    check_number("steps", steps, whole=True, least=1)
    check_number("jobs", jobs, whole=True, least=1)
    with _Field(game, rivals, jobs) as field:
        first = None if start is None else policy_of(game, start)
        return _restricted(field, share, objective, first, steps, progress)


def _restricted(
    field: _Field,
    share: float,
    objective: Objective,
    first: Floats | None,
    steps: int,
    progress: Progress | None,
) -> Floats:
    game = field.game
    work = game.workspace(2)
    regrets, free_regrets, total = (np.zeros(game.shape) for _ in range(3))
    score: _Score = _Mean() if objective == "mean" else _SoftWins(WIN_EDGES[0])
    weights = np.full(len(field.rivals), 1.0 / len(field.rivals))
    if first is not None:
        regrets += HEAD_START * field.measure(first, weights).mass[..., None] * first
    for step in range(1, steps + 1):
        policy, free = (match_regrets(these, EXPLORED) for these in (regrets, free_regrets))
        values, mass = np.zeros(game.shape), np.zeros(game.shape[:2])
        if share < 1.0:
            found = field.measure(policy, (1.0 - share) * weights)
            values += found.values
            mass += found.mass
            weights = score.weights(found.rates)
            weights /= weights.sum()
        if share > 0.0:
            seen = counterfactual_values(work, np.stack([policy, free]))
            values += share * seen.values
            mass += share * seen.mass
        total += step * mass[..., None] * match_regrets(regrets)
        _learn(regrets, policy, values)
        if share > 0.0:
            pair = np.stack([free, match_regrets(regrets, EXPLORED)])
            _learn(free_regrets, free, counterfactual_values(work, pair).values)
        if progress is not None:
            progress()
    return normalised(total)


def _learn(regrets: Floats, policy: Floats, values: Floats) -> None:
    regrets += values - (values * policy).sum(axis=-1, keepdims=True)
    np.maximum(regrets, 0.0, out=regrets)


def tradeoff(
    game: Game,
    rivals: Sequence[ArrayLike],
    shares: Sequence[float],
    objective: Objective = "mean",
    *,
    mixed: bool = False,
    effort: Effort | None = None,
    steps: int = 100,
    progress: Progress | None = None,
) -> list[Point]:
    """How much of the win rate against a field is the price of safety.

    Parameters
    ----------
    game : Game
    rivals : sequence of array_like
        Each a matrix (G, G) or a policy (G, G, K).
    shares : sequence of float
        Shares of free opponents, from 0 to 1.
    objective : {"mean", "beaten"}
    mixed : bool
        Judge policies; otherwise the matrices of their most probable rolls.
    effort : Effort, optional
        Of the attacks, and of the answer to the field alone.
    steps : int
        Of the regret matching.
    progress : callable, optional
        Called after every pass over the field, of which there are many a share.

    Returns
    -------
    list of Point
        By share, ascending.

    Raises
    ------
    ValueError
        If something is malformed or out of range.
    """
    judge = _Judge(game, rivals, objective, mixed, effort or Effort(), steps, progress)
    return [judge.point(share) for share in sorted(set(shares))]


def answer_below(
    game: Game,
    rivals: Sequence[ArrayLike],
    cap: float,
    objective: Objective = "mean",
    *,
    mixed: bool = False,
    effort: Effort | None = None,
    steps: int = 100,
    progress: Progress | None = None,
) -> tuple[Point, list[Point]]:
    """Search for what does best against a field and is attacked with no more than a cap.

    The share of free opponents is bisected between 0 and 1.

    Parameters
    ----------
    game : Game
    rivals : sequence of array_like
        Each a matrix (G, G) or a policy (G, G, K).
    cap : float
        Win rate that the strongest attack found may have, from 0.5 to 1.
    objective, mixed, effort, steps, progress
        As in :func:`tradeoff`.

    Returns
    -------
    Point, list of Point
        The best that keeps the cap, and all that were tried, by share.

    Raises
    ------
    CapError
        If nothing keeps the cap; the message says how low attacks got.
    ValueError
        If something is malformed or out of range.
    """
    if not 0.5 <= cap <= 1.0:
        raise ValueError(f"cap: {cap!r}, allowed are win rates from 0.5 to 1")
    judge = _Judge(game, rivals, objective, mixed, effort or Effort(), steps, progress)
    tried = [judge.point(0.0)]
    if tried[0].attack > cap:
        tried.append(judge.point(1.0))
        low, high = 0.0, 1.0
        for _ in range(BISECTIONS):
            point = judge.point((low + high) / 2.0)
            tried.append(point)
            if point.attack <= cap:
                high = point.share
            else:
                low = point.share
    tried.sort(key=lambda point: point.share)
    kept = [point for point in tried if point.attack <= cap]
    if not kept:
        lowest = min(tried, key=lambda point: point.attack)
        kind = "policy" if mixed else "matrix"
        raise CapError(
            f"cap: {cap!r}, but every {kind} found is attacked with more; the lowest attack is "
            f"{lowest.attack:.6f}, of the one with {lowest.share:g} of the opponents free"
        )
    return max(kept, key=lambda point: _rank(point.answer, objective)), tried


class _Judge:
    """Makes the answer for a share, and attacks it."""

    def __init__(
        self,
        game: Game,
        rivals: Sequence[ArrayLike],
        objective: Objective,
        mixed: bool,
        effort: Effort,
        steps: int,
        progress: Progress | None,
    ) -> None:
        self.game, self.rivals, self.objective, self.mixed = game, rivals, objective, mixed
        self.effort, self.steps, self.progress = effort, steps, progress
        self._alone = answer_field(game, rivals, objective, effort, progress)

    def point(self, share: float) -> Point:
        answer = self._answer(share)
        found = attack(self.game, answer.strategy, self.effort)
        bound = full_memory_bound(self.game, answer.strategy)
        return Point(share, answer, found.win_rate, bound)

    def _answer(self, share: float) -> Answer:
        if share == 0.0:  # a matrix is as good as any policy
            return self._alone
        policy = restricted_response(
            self.game,
            self.rivals,
            share,
            self.objective,
            start=self._alone.strategy,
            steps=self.steps,
            jobs=self.effort.jobs,
            progress=self.progress,
        )
        with _Field(self.game, self.rivals, self.effort.jobs) as field:
            return field.answer(policy if self.mixed else policy.argmax(axis=2).astype(np.int8))
