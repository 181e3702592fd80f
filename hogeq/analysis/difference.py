"""How two strategies differ: every change, and what each alone gains against some opponents."""

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from hogeq.analysis.field import Field, matrix_of
from hogeq.evaluation.counterfactual import gains_alone, gains_and_error
from hogeq.evaluation.values import win_rate
from hogeq.model.game import HogEngine
from hogeq.model.protocol import Engine, Role
from hogeq.search.results import WIN_RATES, Units
from hogeq.search.values import Value, gains_by_values, mean_of, written_between
from hogeq.strategies.arrays import one_hot
from hogeq.strategies.conversion import StrategyLike, table_of
from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Floats
from hogeq.support.messages import Table, Text, counted, digits, listed_actions, percent, pp
from hogeq.trees.flat import FlatTree
from hogeq.trees.rows import Rows
from hogeq.trees.values import gains_between

MAX_LISTED: Final = 10  # changes in each table of a text


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
    return listed_actions(value)


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
            if listed:
                text += ["", heading, "", self._table(listed[:MAX_LISTED], is_hog)]
        return text

    def _table(self, changes: Sequence[tuple[Any, str]], is_hog: bool) -> Table:
        """Lay out changes, each with the text of its gain, as a table."""
        rows = []
        for change, gain in changes:
            *fields, _, reach = change
            reach_text = _visits(reach) if self.counts_visits else percent(reach)
            rows.append((*map(_with_actions, fields), gain, reach_text))
        where = ("score", "opponent") if is_hog else ("player", "information set")
        met = "met" if self.counts_visits else "met in"
        return Table(rows, (*where, "before", "after", "alone", met), left=0 if is_hog else 4)


def diff(
    game: HogEngine, first: StrategyLike, second: StrategyLike, against: Sequence[StrategyLike]
) -> Difference:
    """Value every cell in which two matrices differ, by its gain against some opponents.

    A gain is of changing this cell alone from `first` to `second`, and is exact; several changes
    together may gain more or less than the sum of their gains.
    """
    old = matrix_of(game, first)
    new = matrix_of(game, second)
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


def _actions_played(tree: Rows, row: int, policy: Floats) -> list[tuple[str, float]]:
    """List the actions that a policy (R, K) plays in a row, with their probabilities."""
    pairs = zip(tree.labels[row], policy[row].tolist(), strict=False)  # K may be larger
    return [(label, probability) for label, probability in pairs if probability > 0.0]


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
    win_rates, win_rate_error = gains_and_error(engine, policies, weights, after, first_order)
    gains = engine.payoff_per_win_rate * win_rates
    rows = np.flatnonzero((before != after).any(axis=1)).tolist()
    scale = tree.scale if isinstance(tree, FlatTree) else engine.payoff_per_win_rate
    # Ends between which the gain of each changed row lies, by row.
    if isinstance(tree, FlatTree):
        ends = gains_between(tree, first, second, against, rows, gains)
    else:
        changed = {row: after[row] for row in rows}
        error = scale * win_rate_error
        ends = gains_by_values(value, first, against, changed, gains, scale, error)
    for row, (least, most) in ends.items():
        gains[row] = least / 2.0 + most / 2.0
    changes = [
        RowChange(
            player=int(tree.seat[row]),
            infoset=str(tree.names[row]),
            before=_actions_played(tree, row, before),
            after=_actions_played(tree, row, after),
            gain=float(gains[row]),
            reach=float(reach[row]),
        )
        for row in ends
    ]
    changes_and_ends = list(zip(changes, ends.values(), strict=True))
    changes_and_ends.sort(key=lambda pair: -pair[0].gain)
    mean_before, before_ends = mean_of([value(first, rival) for rival in against], scale)
    mean_after, after_ends = mean_of([value(second, rival) for rival in against], scale)
    match, match_ends = mean_of([value(second, first)], scale)
    return Difference(
        before=mean_before,
        after=mean_after,
        match=match,
        changes=tuple(change for change, _ in changes_and_ends),
        gains=gains,
        reach=reach,
        counts_visits=engine.positions_recur,
        ends=(before_ends, after_ends, match_ends),
        gain_ends=tuple(gain_ends for _, gain_ends in changes_and_ends),
    )
