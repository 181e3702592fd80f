"""Why a strategy loses to an opponent: what its rolls lose, and what changes gain."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.analysis.advice import RuleChange, dice_in_words, rule_changes
from hogeq.analysis.losses import Group, by_kind, by_lead, by_phase, forgotten_rules
from hogeq.analysis.losses import losses as losses_of
from hogeq.evaluation.counterfactual import counterfactual_values
from hogeq.evaluation.values import win_rate
from hogeq.model.game import HogEngine
from hogeq.model.rows import TIE
from hogeq.model.shared import shared_workspace
from hogeq.model.state_values import best_rolls
from hogeq.search.attack import attack
from hogeq.search.bounds import bound_margin, upper_bound
from hogeq.search.results import Budget
from hogeq.strategies.conversion import StrategyLike, policies_of, table_of
from hogeq.strategies.strategy import Strategy
from hogeq.support import html
from hogeq.support.aliases import Floats, Matrix
from hogeq.support.messages import (
    EXACT,
    Part,
    Table,
    Text,
    as_dicts,
    at_most,
    counted,
    laid_out,
    loss,
    percent,
    pp,
)

MAX_POSITIONS = 10  # positions that are listed as those that cost most
MAX_CHANGES = 3  # changes of single cells that are listed
MAX_MEASURED = 12  # changes of single cells that are measured, to list the best of them

GROUP_HEADINGS = {"loss": "mistake", "loss_by_phase": "phase", "loss_by_lead": "lead"}
"""Fields of `Assessment` that group the loss, and the headings of their tables."""

MIN_ENDLESS = 1e-9  # loss by games that never end above which it is more than rounding
SEARCH_BUDGET = Budget(starts=1, kicks=0)
"""Effort of the search for a response with hidden memory: small, since a user waits for it."""


class Loss(NamedTuple):
    """A position at which a strategy gives something away."""

    score: int
    opponent: int  # its score
    roll: int  # dice of the strategy
    best: int  # dice of the response
    loss: float
    """Win rate lost there: the reach of the position times what its roll falls short of the best,
    all later turns being played as the best response does."""
    reach: float  # probability of coming to move there


class Change(NamedTuple):
    """A change of one cell, measured."""

    score: int
    opponent: int  # its score
    roll: int  # dice of the strategy
    instead: int  # dice in their place
    gain: float  # gain of win rate, all other cells as they are


class Assessment(NamedTuple):
    """How a strategy does against one opponent, and why.

    Examples
    --------
    >>> import hogeq
    >>> game = hogeq.Game({"edition": "fa25", "goal": 20, "max_dice": 4})
    >>> found = game.explain("always_roll:3")
    >>> found.loss[0].kind, round(found.loss[0].loss, 4)
    ('no dice missed', 0.063)
    """

    win_rate: float
    best_response: float
    """Win rate of a best response to the same opponent; with hidden memory, of the best found, the
    strategy itself among them."""
    bound: float
    """No response wins more, rounding included. Without hidden memory that is `best_response`."""
    effort: Budget | None  # of the search for the response; None if it is exact
    loss: list[Group]  # by kind of mistake; these, and each of the next two, sum to the whole
    loss_by_phase: list[Group]
    loss_by_lead: list[Group]
    rule_changes: list[RuleChange]  # simple changes that gain most, the best first
    costs: Floats  # (G, G), of every position as in `Loss`
    rolls: Matrix  # (G, G), dice of the strategy, the likeliest of a policy, or -1 for that choice
    best: Matrix  # (G, G), those of the response
    losses: tuple[Loss, ...]  # the positions that cost most, the worst first
    changes: tuple[Change, ...]  # the changes of single cells that gain most, the best first
    changed: float  # win rate with all of these changes together
    endless: float
    """What is lost by games that never end, half a win each: none of their turns costs anything,
    since it could be made up for later."""

    def __repr__(self) -> str:
        """Give the win rates: the tables would fill pages."""
        return f"Assessment(win_rate={self.win_rate:.6f}, best_response={self.best_response:.6f})"

    def _repr_html_(self) -> str:
        """Write the groups of the loss and the simple changes, in a notebook."""
        best = percent(self.best_response)
        title = f"Wins {percent(self.win_rate)}; a best response found, {best}"
        tables = [
            html.table(part.table.rows, part.table.header, part.heading or "Loss")
            for part in self.reasons()
        ]
        return f"<p>{title}</p>{''.join(tables)}"

    def summary(self, against: str) -> str:
        """Say how the strategy does against an opponent of this name, and whether it loses."""
        rates = f"against {against} it wins {percent(self.win_rate)}; {response_text(self)}"
        if self.loss:
            return f"{rates}; what it loses is in these groups"
        link = ":" if self.effort is None else "; by that,"
        return f"{rates}{link} nothing is lost at any position"

    def reasons(self) -> Iterator[Part]:
        """Give the tables of the groups of the loss, then of the changes that gain most."""
        total = self.best_response - self.win_rate or 1.0  # 1 avoids a division by 0
        if self.loss:
            for field, heading in GROUP_HEADINGS.items():
                groups: list[Group] = getattr(self, field)  # by kind, by phase, or by lead
                rows = [(group.kind, loss(group.loss), f"{group.positions:,}") for group in groups]
                bars = [(group.loss / total, "bad") for group in groups]
                yield Part("", Table(rows, (heading, "loss", "positions")), bars)
        yield from _advice(self)

    def positions(self) -> Iterator[Part]:
        """Give the table of the positions that cost most, if there are any."""
        if self.losses:
            rows = [
                (cell.score, cell.opponent, cell.roll, cell.best, loss(cell.loss))
                for cell in self.losses
            ]
            header = ("score", "opponent", "rolls", "best", "loss")
            yield Part("most is lost at", Table(rows, header, left=0))

    def text(self, against: str, extra_parts: Iterable[Part] = ()) -> Text:
        """Lay out the assessment: reasons, `extra_parts`, and the costliest positions last."""
        parts = chain(self.reasons(), extra_parts, self.positions())
        return ["", self.summary(against), *laid_out(parts)]

    def to_json(self) -> dict[str, Any]:
        """Return the assessment as plain values, without the arrays."""
        plain = self._asdict()
        for array in ("costs", "rolls", "best"):
            del plain[array]
        for rows in (*GROUP_HEADINGS, "rule_changes", "losses", "changes"):
            plain[rows] = as_dicts(plain[rows])
        plain["effort"] = self.effort and self.effort.fields()
        return plain


def assess(game: HogEngine, strategy: StrategyLike, against: StrategyLike) -> Assessment:
    """Explain how a matrix or a policy does against an opponent: its losses, and changes that gain.

    1. Compute a best response to the opponent; with hidden memory, search for one.
    2. Split the difference of the win rates of response and strategy by position, and group it.
    3. Measure changes of single cells and of thresholds; combine those of the best cells.

    A game that never ends counts as half a win.
    """
    against = table_of(game, against)
    table = table_of(game, strategy)
    rate = _win_rate(game, table.array, against)
    response = _best_response(game, table.array, against, rate)
    response_rate = _win_rate(game, response, against)
    losses = losses_of(game, table, response, against, response_rate - rate)
    costs = losses.rolls.sum(axis=2)
    choices = np.array(game.choices, np.int8)  # dice of each action
    rolls = choices[table.likeliest]
    best = choices[response]
    costliest = [
        Loss(
            *cell, int(rolls[cell]), int(best[cell]), float(costs[cell]), float(losses.reach[cell])
        )
        for cell in _largest_cells(costs, MAX_POSITIONS)  # pairs of scores
    ]
    changes = _cell_changes(game, table, against, rate)
    changed_table = table.array.copy()  # with all of these changes
    for change in changes:
        changed_table[change.score, change.opponent] = _pure_cell(game, table, change.instead)
    bound = response_rate
    if game.has_memory:
        bound = upper_bound(game, against)
        bound = min(bound + bound_margin(game, bound, against), 1.0)
    return Assessment(
        win_rate=rate,
        best_response=response_rate,
        bound=bound,
        effort=SEARCH_BUDGET if game.has_memory else None,
        loss=by_kind(game, losses, forgotten_rules(game, table, losses, against)),
        loss_by_phase=by_phase(game, losses),
        loss_by_lead=by_lead(game, losses),
        rule_changes=rule_changes(game, table.likeliest, against) if table.is_pure else [],
        costs=costs,
        rolls=rolls,
        best=best,
        losses=tuple(costliest),
        changes=tuple(changes),
        changed=_win_rate(game, changed_table, against) if changes else rate,
        endless=losses.endless if abs(losses.endless) > MIN_ENDLESS else 0.0,
    )


def _win_rate(game: HogEngine, table: NDArray[Any], against: Strategy) -> float:
    """Win rate of a matrix or a policy, a game that never ends being half a win."""
    return win_rate(game, table, against, endless_is_draw=True).win_rate


def _best_response(
    game: HogEngine, table: NDArray[Any], against: Strategy, table_rate: float
) -> Matrix:
    """Compute a best response at every position, reached or not, as actions (G, G).

    With hidden memory it is the best matrix that a search finds. It is `table`, the strategy to
    assess, instead if that is a matrix and its win rate `table_rate` is at least as high.
    """
    if not game.has_memory:
        best_actions, *_ = best_rolls(game, policies_of(game, against, against))
        return best_actions[:, :, 0]  # of the only memory
    searched = attack(game, against, SEARCH_BUDGET)
    is_matrix = table.ndim == searched.matrix.ndim  # a policy has one axis more
    if is_matrix and table_rate >= searched.win_rate:
        return table.astype(np.int8)
    return searched.matrix


def _cell_changes(game: HogEngine, table: Strategy, against: Strategy, rate: float) -> list[Change]:
    """Find the changes of single cells that gain most win rate, the best first.

    Counterfactual values say what a change gains to first order; those that gain most by that are
    measured. `rate` is the win rate of the table.
    """
    policies = policies_of(game, table, against)
    action_values = counterfactual_values(shared_workspace(game, 2), policies).values  # (G, G, K)
    # Values of actions that are not played may be infinite, and infinity times 0 is NaN.
    played_values = np.where(policies[0] > 0.0, action_values, 0.0)
    gains = action_values.max(axis=2) - (played_values * policies[0]).sum(axis=2)
    best_actions = action_values.argmax(axis=2)
    changes = []
    for cell in _largest_cells(gains, MAX_MEASURED):
        instead = game.choices[best_actions[cell]]
        changed = table.array.copy()
        changed[cell] = _pure_cell(game, table, instead)
        gain = _win_rate(game, changed, against) - rate
        changes.append(Change(*cell, game.choices[table.likeliest[cell]], instead, gain))
    return sorted(changes, key=lambda change: -change.gain)[:MAX_CHANGES]


def _pure_cell(game: HogEngine, table: Strategy, choice: int) -> Any:
    """Make a cell of a table that always takes one choice: its action, or a row of a policy."""
    action = game.choices.index(choice)
    return action if table.is_pure else np.eye(game.num_actions)[action]


def _largest_cells(table: Floats, count: int) -> list[tuple[int, int]]:
    """Find at most `count` cells of a square table, those of its largest numbers above rounding.

    The largest comes first.
    """
    order = np.argsort(-table, axis=None, kind="stable")[:count].tolist()
    cells = [divmod(index, len(table)) for index in order]
    return [cell for cell in cells if table[cell] > TIE]


# --- in words -------------------------------------------------------------------------------------


def response_text(assessed: Assessment) -> str:
    """Describe the win rate of a best response.

    If a search found the response, the text has its effort, and a bound on all responses.
    """
    rate = percent(assessed.best_response)
    effort = assessed.effort
    if effort is None:  # the response is exact
        text = f"a best response wins {rate}"
        if not assessed.endless:
            return text
        return f"{text}; {loss(assessed.endless)} of that are lost by games that never end"
    kicks = counted(effort.kicks, "kick") if effort.kicks else "no kicks"
    search = f"({counted(effort.starts, 'start')}, {kicks})"
    text = f"none found {search} wins more"
    if assessed.best_response > assessed.win_rate + EXACT:
        text = f"the best response found {search} wins {rate}"
    return f"{text}, and none can win more than {at_most(assessed.bound)}"


def _advice(assessed: Assessment) -> Iterator[Part]:
    """Give a table of the changes that gain most, of rules and of single cells, the best first.

    There is none if no change gains anything.
    """
    changes = [(simple.gain, simple.change, simple.positions) for simple in assessed.rule_changes]
    for cell in assessed.changes:
        rolls = f"{dice_in_words(cell.instead)}, not {dice_in_words(cell.roll)}"
        num_positions = 1
        changes.append((cell.gain, f"{rolls}, at {cell.score} to {cell.opponent}", num_positions))
    changes.sort(key=lambda change: -change[0])
    rows = [(change, pp(gain), f"{positions:,}") for gain, change, positions in changes]
    if rows:
        table = Table(rows, ("roll", "gain", "positions"))
        after = ""
        if assessed.changes:
            cells = counted(len(assessed.changes), "cell")
            after = f"with the {cells}: {percent(assessed.changed)}"
        yield Part("changes that gain most, each alone", table, after=after)
