"""One strategy against a whole field: the one that wins most, and the gains of its changes.

A player meets one rival and does not know which, so the value of a roll is the mean of its
counterfactual values against the rivals. Annealing and ascent change all cells at once, unlike
those against a single rival (:mod:`hogeq.search.ascent`). So a step of the ascent that does not
raise the objective is halved, down to the one cell that gains most.
"""

from collections.abc import Callable, Iterator, Sequence
from math import inf
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.analysis.tournament import WIN
from hogeq.evaluation.counterfactual import gains_alone
from hogeq.evaluation.values import win_rate
from hogeq.model.game import HogEngine
from hogeq.model.protocol import Engine, Role
from hogeq.model.rows import improvable
from hogeq.search.ascent import random_policy, with_random_rolls
from hogeq.search.attack import search_steps
from hogeq.search.counter_search import ASCENT
from hogeq.search.population import Measured, OutOfTimeError, Population
from hogeq.search.results import WIN_RATES, Budget, Units
from hogeq.search.values import Value, gains_by_values, mean_of, written_between
from hogeq.strategies.arrays import StrategyError, likeliest, one_hot
from hogeq.strategies.strategy import Strategy, StrategyLike, strategy_of, table_of
from hogeq.support.aliases import Floats, Matrix
from hogeq.support.deadline import FOREVER, Deadline
from hogeq.support.messages import HogeqError, Table, Text, counted, digits, percent, pp, shown
from hogeq.support.progress import Phase, phase
from hogeq.trees.flat import FlatTree
from hogeq.trees.rows import Rows
from hogeq.trees.values import gains_between

Objective = Literal["mean", "beaten"]

MAX_LISTED: Final = 10  # changes in each table of a text
STEP_LIMIT: Final = 1000  # steps of an ascent; every ascent so far took fewer than 100
PERTURBED_SHARE: Final = 0.03  # share of the cells that a perturbation changes
MAX_TARGETS: Final = 8  # rivals not yet beaten that are tried one by one
WIN_EDGES: Final = (0.03, 0.01, 0.003, 0.001)  # widths of the smooth step at a win, used in turn


Score = Callable[[Floats], tuple[float, Floats]]
"""Score of win rates (n,) against the rivals, the greater the better, and its gradient."""


def mean_wins(rates: Floats) -> tuple[float, Floats]:
    """Score by the mean win rate."""
    return float(rates.mean()), np.full(len(rates), 1.0 / len(rates))


def smooth_wins(width: float) -> Score:
    """Score by the share of rivals beaten, a win being a smooth step of this width."""

    def score(rates: Floats) -> tuple[float, Floats]:
        wins = _smooth_step(rates, width)
        return float(wins.mean()), wins * (1.0 - wins) / (width * len(rates))

    return score


def shortfall(target: NDArray[np.bool_], width: float) -> Score:
    """Score by minus the sum of what the win rates against some rivals lack to a win.

    `target` (n,) marks the rivals. The kink at a win is smoothed over the given width.
    """

    def score(rates: Floats) -> tuple[float, Floats]:
        missing = np.logaddexp(0.0, (WIN - rates[target]) / width)  # a smooth max(0, x)
        gradient = np.where(target, 1.0 - _smooth_step(rates, width), 0.0)
        return -width * float(missing.sum()), gradient

    return score


def _smooth_step(rates: Floats, width: float) -> Floats:
    """Rise from 0 to 1 at a win, as the logistic function does."""
    return 0.5 + 0.5 * np.tanh((rates - WIN) / (2.0 * width))


class Answer(NamedTuple):
    """Best strategy found against a field, with its exact win rates."""

    strategy: NDArray[np.int8] | Floats  # (G, G), or (G, G, K) where a policy was asked for
    win_rates: Floats  # (n,), against every rival

    @property
    def mean(self) -> float:
        """Mean win rate."""
        return float(self.win_rates.mean())

    @property
    def beaten(self) -> int:
        """Number of matches won, by a win rate above 0.500001."""
        return int((self.win_rates > WIN).sum())

    def to_json(self) -> dict[str, Any]:
        """Return the win rates as plain values, without the strategy."""
        return {"win_rates": self.win_rates.tolist(), "mean": self.mean, "beaten": self.beaten}

    def rows(self, names: Sequence[str]) -> list[tuple[str, str, str]]:
        """Lay out the win rates against the rivals of these names."""
        rows = [
            (name, percent(rate), "beaten" if rate > WIN else "")
            for name, rate in zip(names, self.win_rates.tolist(), strict=True)
        ]
        return [*rows, ("mean", percent(self.mean), f"{self.beaten} of {len(rows)} beaten")]

    def rank(self, objective: Objective) -> tuple[float, ...]:
        """Give the key by which answers are compared: higher is better."""
        return (self.mean,) if objective == "mean" else (self.beaten, self.mean)


class Field(Population):
    """Population of all that the n rivals may play, components of mixtures by their weights."""

    def __init__(self, game: HogEngine, rivals: Sequence[StrategyLike]) -> None:
        if not len(rivals):
            raise HogeqError("field: 0 strategies; allowed: 1 or more")
        strategies = [strategy_of(game, rival) for rival in rivals]
        policies = [policy for strategy in strategies for policy in strategy.policies]
        super().__init__(game, policies)
        self.weights = np.full(len(rivals), 1.0 / len(rivals))
        # Row i of the matrix has the chances of the policies of rival i, and 0 for other policies.
        owners = np.repeat(np.arange(len(rivals)), [len(one.chances) for one in strategies])
        chances = np.concatenate([strategy.chances for strategy in strategies])
        self.shares = one_hot(owners, len(rivals)).T * chances  # (n, policies)

    def rates_of(self, policy: Floats) -> Floats:
        """Exact win rate of a policy (G, G, K) against every rival, float64 (n,)."""
        return self.shares @ super().rates_of(policy)

    def measure(
        self, policy: Floats, weights: Floats | None = None, deadline: Deadline = FOREVER
    ) -> Measured:
        """Counterfactual values and reach of a policy against the rivals, by weights (n,)."""
        rival_weights = self.weights if weights is None else weights
        measured = super().measure(policy, rival_weights @ self.shares, deadline)
        return measured._replace(rates=self.shares @ measured.rates)

    def answer(self, strategy: Matrix | Floats) -> Answer:
        """Judge a valid strategy, a matrix or a policy."""
        return Answer(strategy, self.rates_of(strategy_of(self.game, strategy).policy))


def answer_field(
    game: HogEngine,
    rivals: Sequence[StrategyLike],
    objective: Objective = "mean",
    budget: Budget | None = None,
) -> Answer:
    """Search for the matrix with the best mean win rate, or for the one that beats most rivals.

    `objective` is "mean" or "beaten". The result is the best of `budget.starts` searches.
    """
    if objective not in {"mean", "beaten"}:
        raise HogeqError(f"objective: {shown(objective)}; allowed: mean, beaten")
    budget = budget or Budget(kicks=0)
    field = Field(game, rivals)
    answers: list[Answer] = []
    with phase("field", budget.starts * search_steps(budget)) as progress:
        for start in range(budget.starts):
            answers.append(_search(field, objective, budget, progress, start))
            best = max(answers, key=lambda answer: answer.rank(objective))
            beaten = f"{best.beaten} of {len(rivals)} beaten"
            progress.measured(f"best {percent(best.mean)}, {beaten}")
    return best


def _search(
    field: Field, objective: Objective, budget: Budget, progress: Phase, start: int
) -> Answer:
    """Search from one start by iterated local search.

    1. Anneal a policy against the rivals: the uniform one at start 0, then random ones.
    2. Take the likeliest roll of every cell, and ascend from this matrix.
    3. `budget.kicks` times: perturb the best matrix, and ascend again.
    """
    game = field.game
    random = np.random.default_rng([budget.seed, start])
    policy = np.full(game.shape, 1.0 / game.num_actions)
    weights = field.weights
    if start > 0:
        policy = random_policy(game, random)
        if objective == "beaten":
            # Who can be beaten together is not known: each start leans to some of the rivals.
            weights = random.dirichlet(np.ones(len(weights)))
    start_text = f"start {start + 1} of {budget.starts}"
    progress.now(f"{start_text}, annealing")
    field.anneal(
        policy, budget.anneal_steps, budget.damping, weights=weights, progress=progress.step
    )
    progress.now(f"{start_text}, ascent")
    best = _climb(field, likeliest(policy), objective)
    progress.step(ASCENT)
    for perturbation in range(1, budget.kicks + 1):
        best_matrix = np.array(best.strategy, np.int8)
        perturbed = with_random_rolls(best_matrix, PERTURBED_SHARE, game.num_actions, random)
        answer = _climb(field, perturbed, objective)
        best = max(best, answer, key=lambda answer: answer.rank(objective))
        progress.step(ASCENT, f"{start_text}, kick {perturbation}/{budget.kicks}")
    return best


def _climb(field: Field, matrix: Matrix, objective: Objective) -> Answer:
    """Ascend from a matrix (G, G), changed in place; return the best answer on the way.

    For "mean" the score is the mean win rate. "beaten" counts wins, which has no gradient, so:

    1. Ascend by smoothed shares of rivals beaten, whose steps get ever sharper.
    2. For the rivals that are nearest to being beaten, one by one, ascend by the shortfall against
       this rival and all rivals beaten so far.
    3. Ascend by the mean win rate.
    """
    best = field.answer(matrix.copy())

    def best_of_ascent(start: Matrix, score: Score) -> Answer:
        answers = [best, *ascend(field, start, score)]
        return max(answers, key=lambda answer: answer.rank(objective))

    if objective == "mean":
        return best_of_ascent(matrix, mean_wins)
    for width in WIN_EDGES:
        best = best_of_ascent(matrix, smooth_wins(width))
    unbeaten = [rival for rival in np.argsort(-best.win_rates) if best.win_rates[rival] <= WIN]
    for rival in unbeaten[:MAX_TARGETS]:
        target = best.win_rates > WIN
        target[rival] = True
        best = best_of_ascent(np.array(best.strategy, np.int8), shortfall(target, WIN_EDGES[1]))
    return best_of_ascent(np.array(best.strategy, np.int8), mean_wins)


def ascend(
    field: Field,
    matrix: Matrix,
    score: Score,
    max_cells: int | None = None,
    deadline: Deadline = FOREVER,
) -> Iterator[Answer]:
    """Raise a score step by step until no step raises it; yield the answer after each step.

    1. Order the cells by what their best roll gains to first order, by the score's gradient.
    2. Change the first of them to their best rolls: twice as many cells as in the last step, at
       most `max_cells`.
    3. While the score does not rise, change half as many. Stop if not even one cell raises it.

    A step costs one counterfactual evaluation, and one of win rates for each size tried. None is
    begun in less time than the longest so far took, and one that the end of the time cuts short
    does not count. `matrix` (G, G) is changed in place.
    """
    num_actions = field.game.num_actions
    rates = field.rates_of(one_hot(matrix, num_actions))
    step_size = matrix.size  # number of cells
    longest = 0.0  # seconds of a step
    for _ in range(STEP_LIMIT):
        begun = deadline.spent
        if deadline.left < longest:
            return
        current_score, weights = score(rates)
        policy = one_hot(matrix, num_actions)
        try:
            measured = field.measure(policy, weights, deadline)
        except OutOfTimeError:
            return
        cells = improvable(policy, measured.values, measured.infoset_reach)
        best_actions = measured.values.argmax(axis=2).astype(np.int8).ravel()
        step_size = min(2 * step_size, len(cells), max_cells or matrix.size)
        while step_size > 0:
            if deadline.is_over:
                return
            changed = matrix.copy()
            changed.ravel()[cells[:step_size]] = best_actions[cells[:step_size]]
            changed_rates = field.rates_of(one_hot(changed, num_actions))
            if score(changed_rates)[0] > current_score:
                break
            step_size //= 2
        if step_size == 0:
            return
        matrix[...] = changed
        rates = changed_rates
        longest = max(longest, deadline.spent - begun)
        yield Answer(changed, rates)


# --- changes of a table ---------------------------------------------------------------------------


class CellChange(NamedTuple):
    """A cell in which two tables differ."""

    score: int
    opponent: int
    before: int
    after: int
    gain: float  # gain of win rate by this change alone
    reach: float  # probability that the first table comes to move there; visits if they recur


class RowChange(NamedTuple):
    """An information set, of another game than Hog, in which two strategies differ."""

    player: int
    infoset: str
    before: list[tuple[str, float]]  # actions played, and their probabilities
    after: list[tuple[str, float]]
    gain: float  # of mean payoff, by this change alone
    reach: float  # probability that the first strategy, in that seat, comes there, or visits


def _with_actions(value: object) -> object:
    """Write a list of pairs (action, probability) as a text; other values stay as they are."""
    if not isinstance(value, list):
        return value
    return ", ".join(f"{action} {percent(probability)}" for action, probability in value)


def _visits(expected: float) -> str:
    """Write an expected number of visits, with as many digits as the user asked for."""
    num_digits = digits.get()
    smallest = f"{10.0**-num_digits:.{num_digits}f}"  # smaller numbers would be written as 0
    if 0.0 < expected < float(smallest):
        return f"<{smallest} times"
    return f"{expected:.{num_digits}f} times"


class Difference(NamedTuple):
    """How a strategy differs from another; figures are in the game's units.

    In all of them a game of Hog that never ends counts as half a win.

    Examples
    --------
    >>> import hogeq
    >>> game = hogeq.Game({"edition": "fa25", "goal": 20, "max_dice": 4})
    >>> found = game.diff("always_roll:3", "optimal", against="always_roll:2")
    >>> len(found.changes), round(found.after - found.before, 3)
    (336, 0.134)
    """

    before: float  # mean of the first against the opponents
    after: float  # mean of the second
    match: float  # the second against the first
    changes: tuple[Any, ...]
    """Each a `CellChange`, in other games than Hog a `RowChange`: the one that gains most first."""
    gains: Floats
    """Of every row, (G, G) in Hog: what a change gains alone; 0 where both agree."""
    reach: Floats
    """Of every row, when the first plays: a probability, or the expected number of visits."""
    counts_visits: bool = False
    """Whether `reach` is of visits, since positions recur."""
    ends: tuple[tuple[float, float], ...] = ()
    """What `before`, `after` and `match` are at least and at most; of Hog none."""
    gain_ends: tuple[tuple[float, float], ...] = ()
    """What each change gains at least and at most; of Hog none."""

    def __repr__(self) -> str:
        """Say how much changed: the arrays would fill pages."""
        return (
            f"Difference({len(self.changes)} changes, {self.before:.4f} becomes {self.after:.4f}; "
            f"match {self.match:.4f})"
        )

    def to_json(self) -> dict[str, Any]:
        """Return means, match and changes as plain values, without the arrays.

        Where rounding shows there are ``ends``, too: by these keys, and of a change of its gain.
        """
        keys = ("before", "after", "match")
        rates: dict[str, Any] = {key: getattr(self, key) for key in keys}
        if any(lower != upper for lower, upper in self.ends):
            rates["ends"] = dict(zip(keys, map(list, self.ends), strict=True))
        changes = [change._asdict() for change in self.changes]
        for change, (lower, upper) in zip(changes, self.gain_ends, strict=False):
            if lower != upper:
                change["ends"] = [lower, upper]
        return {**rates, "changes": changes}

    def text(self, a: str, b: str, title: str, against: Sequence[str], units: Units) -> Text:
        """Lay out the means, and the changes that gain and that lose most.

        `a` and `b` are the names of the first and the second strategy, `against` those of the
        opponents; `title` names the game.
        """
        is_hog = units is WIN_RATES
        noun = "cell" if is_hog else "information set"
        rivals = against[0] if len(against) == 1 else f"{len(against)} opponents, on average"
        figures = self.ends or [(one, one) for one in (self.before, self.after, self.match)]
        before, after, match = (written_between(units, *pair) for pair in figures)
        text: Text = [
            f"{b} differs from {a} in {counted(len(self.changes), noun)}, {title}",
            "",
            f"against {rivals}: {before} becomes {after}",
            f"{b} against {a}: {match}",
        ]
        names = ("score", "opponent", "before", "after")
        if not is_hog:
            names = ("player", "information set", "before", "after")
        gain_text = pp if is_hog else units.gain
        gains = [gain_text(change.gain) for change in self.changes]
        if self.gain_ends:
            gains = [written_between(units, *pair) for pair in self.gain_ends]
        pairs = [*zip(self.changes, gains, strict=True)]
        best = [pair for pair in pairs if pair[0].gain > 0]
        worst = [pair for pair in reversed(pairs) if pair[0].gain < 0]
        for heading, listed in (
            ("changes that gain most", best),
            ("changes that lose most", worst),
        ):
            rows = []
            for change, gain in listed[:MAX_LISTED]:
                *fields, _, reach = change
                reach_text = _visits(reach) if self.counts_visits else percent(reach)
                rows.append((*map(_with_actions, fields), gain, reach_text))
            if rows:
                header = (*names, "alone", "met" if self.counts_visits else "met in")
                table = Table(rows, header, left=0 if is_hog else 4)
                text += ["", heading, "", table]
        return text


def diff(
    game: HogEngine, first: StrategyLike, second: StrategyLike, against: Sequence[StrategyLike]
) -> Difference:
    """Value every cell in which two matrices differ, by its gain against some opponents.

    A gain is of changing this cell alone from `first` to `second`, and is exact; several changes
    together may gain more or less than the sum of their gains.
    """
    old = _matrix(game, first)
    new = _matrix(game, second)
    field = Field(game, [table_of(game, rival) for rival in against])
    before = one_hot(old, game.num_actions)
    after = one_hot(new, game.num_actions)
    measured = field.measure(before)
    first_order = (measured.values * (after - before)).sum(axis=-1)
    policies = np.stack([before, *field.policies])
    weights = field.weights @ field.shares  # of the opponents' policies
    gains = gains_alone(game, policies, weights, after, first_order)
    reach = measured.infoset_reach
    changes = []
    for own, other in np.argwhere(old != new).tolist():
        cell = own, other
        rolls = game.choices[old[cell]], game.choices[new[cell]]
        changes.append(CellChange(*cell, *rolls, float(gains[cell]), float(reach[cell])))
    return Difference(
        before=float(measured.rates.mean()),
        after=float(field.rates_of(after).mean()),
        match=win_rate(game, new, old, endless_is_draw=True).win_rate,
        changes=tuple(sorted(changes, key=lambda change: -change.gain)),
        gains=gains,
        reach=reach,
        counts_visits=game.positions_recur,
    )


def diff_rows(
    engine: Engine,
    tree: Rows,
    value: Callable[[Strategy, Strategy], Value],
    first: Strategy,
    second: Strategy,
    against: Sequence[Strategy],
) -> Difference:
    """Value every information set in which two strategies of a game other than Hog differ.

    A gain is of changing the policy there alone from `first` to `second`, in mean payoff against
    the opponents. ``value`` gives the payoff of one strategy against another. Policies are (R, K),
    with a row for each information set of either seat.
    """
    before = first.policy
    after = second.policy
    policies = np.concatenate([before[None], *(rival.policies for rival in against)])
    weights = np.concatenate([rival.chances for rival in against]) / len(against)
    work = engine.workspace(len(policies))
    forward = work.forward(policies, weights)
    values = work.backward(forward, policies, Role.COUNTERFACTUAL).values
    # A row is of one seat, which a strategy has in half of the games; reach is given that seat.
    reach = 2.0 * forward.rows
    first_order = (values * (after - before)).sum(axis=1)
    win_rates = gains_alone(engine, policies, weights, after, first_order)
    gains = engine.payoff_per_win_rate * win_rates

    def actions(row: int, policy: Floats) -> list[tuple[str, float]]:
        pairs = zip(tree.labels[row], policy[row].tolist(), strict=False)  # K may be larger
        return [(label, probability) for label, probability in pairs if probability > 0.0]

    rows = np.flatnonzero((before != after).any(axis=1)).tolist()
    scale = tree.scale if isinstance(tree, FlatTree) else engine.payoff_per_win_rate
    if isinstance(tree, FlatTree):
        ends = gains_between(tree, first, second, against, rows, gains)
    else:
        changed = {row: after[row] for row in rows}
        ends = gains_by_values(value, first, against, changed, gains, scale)
    changes = []
    for row, (least, most) in ends.items():
        gains[row] = least / 2.0 + most / 2.0
        change = RowChange(
            player=int(tree.seat[row]),
            infoset=str(tree.names[row]),
            before=actions(row, before),
            after=actions(row, after),
            gain=float(gains[row]),
            reach=float(reach[row]),
        )
        changes.append((change, (least, most)))
    changes.sort(key=lambda pair: -pair[0].gain)
    (mean_before, before_ends), (mean_after, after_ends), (match, match_ends) = (
        mean_of([value(strategy, rival) for rival in rivals], scale)
        for strategy, rivals in ((first, against), (second, against), (second, [first]))
    )
    return Difference(
        before=mean_before,
        after=mean_after,
        match=match,
        changes=tuple(change for change, _ in changes),
        gains=gains,
        reach=reach,
        counts_visits=engine.positions_recur,
        ends=(before_ends, after_ends, match_ends),
        gain_ends=tuple(pair for _, pair in changes),
    )


def improvements(
    game: HogEngine,
    table: StrategyLike,
    against: Sequence[StrategyLike],
    cells: int | None = None,
    seconds: float | None = None,
) -> Iterator[Answer]:
    """Improve a table step by step, so that it wins more on average against some opponents.

    Yields the table itself first, and then after each step a better one. With `cells` a step
    changes one cell, the one that gains most (to first order, where positions recur), and at most
    `cells` of them change in all. With `seconds` no step is begun that would end later, if it took
    as long as the longest before it.
    """
    deadline = Deadline(inf if seconds is None else seconds)
    start = _matrix(game, table)
    field = Field(game, [table_of(game, rival) for rival in against])
    yield field.answer(start)
    cells_of_step = None if cells is None else 1
    for answer in ascend(field, start.copy(), mean_wins, cells_of_step, deadline):
        num_changed = int((np.asarray(answer.strategy) != start).sum())
        if cells is not None and num_changed > cells:
            return
        yield answer


def _matrix(game: HogEngine, strategy: StrategyLike) -> Matrix:
    """Give the actions (G, G) of a strategy, which has to be a matrix."""
    table = table_of(game, strategy)
    if table.kind != "matrix":
        raise StrategyError(f"strategy: is a {table.kind}; allowed: a matrix, one roll a position")
    return np.array(table.array, np.int8)
