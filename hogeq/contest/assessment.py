"""How a submission does: against whom it wins what, where it loses most, what to change first."""

from collections.abc import Iterable
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.baselines.registry import builtins_of
from hogeq.baselines.simple import samples_of
from hogeq.evaluation.counterfactual import counterfactual_values
from hogeq.evaluation.win_rates import win_rate
from hogeq.model.endless import EndlessError
from hogeq.model.game import HogEngine
from hogeq.model.many import shared_workspace
from hogeq.model.workspace import TIE, Role, WinRate
from hogeq.search.attack import SearchBudget, attack
from hogeq.search.bounds import upper_bound
from hogeq.strategies.strategy import policies_of, policy_of
from hogeq.strategies.submission import Submission
from hogeq.support.aliases import Floats, Matrix

OPPONENTS = ("optimal", "champion", "ignore_memory", "huan2020", "hog_wild_heuristic")
"""Strategies of the package that a submission is played against, if the rules allow them."""

LISTED = 10
"""Positions that are listed as those that cost most."""

CHANGES = 3
"""Changes of single cells that are listed."""

MEASURED = 12
"""Changes that are measured to find these: where positions recur, gains are exact only so."""

ASSESSED = (
    *("win_rates", "against", "win_rate", "best_response", "bound", "effort"),
    *("losses", "changes", "changed", "endless"),
)
"""Facts about a submission that are None if it is not valid."""

ENDLESS = 1e-9
"""What is lost by games that never end, if it is more than rounding."""

SEARCH = SearchBudget(starts=1)
"""Of the search for a response where something is hidden: little, since an answer is awaited."""


class Loss(NamedTuple):
    """A position at which a strategy gives something away."""

    score: int
    opponent: int
    roll: int
    best: int
    cost: float
    """Win rate lost there: the reach of the position times what its roll falls short of the best,
    all later turns being played as the best response does."""
    reach: float
    """Probability of coming to move there."""


class Change(NamedTuple):
    """A change of one cell, measured."""

    score: int
    opponent: int
    roll: int
    instead: int
    gain: float
    """Gain of win rate, all other cells as they are."""


class Assessment(NamedTuple):
    """How a strategy does against one opponent, and why."""

    win_rate: float
    best_response: float
    """Win rate of a best response to the same opponent; with hidden memory, of the best found, the
    strategy itself among them."""
    bound: float
    """No response wins more. Without hidden memory that is `best_response`."""
    effort: SearchBudget | None
    """Of the search for the response; None if it is exact."""
    costs: Floats
    """(G, G), of every position as in `Loss`. Without hidden memory they and `endless` sum to what
    `win_rate` falls short of `best_response`."""
    best: Matrix
    """(G, G), the rolls that cost nothing."""
    losses: tuple[Loss, ...]
    """The positions that cost most, the worst first."""
    changes: tuple[Change, ...]
    """The changes of single cells that gain most, the best first."""
    changed: float
    """Win rate with all of these changes together."""
    endless: float
    """What is lost by games that never end, half a win each: none of their turns costs anything,
    since it could be made up for later. 0 where something is hidden."""


class Reference(NamedTuple):
    """Whom submissions are compared with."""

    name: str
    """Of the opponent of losses and changes."""
    table: NDArray[np.generic]
    opponents: list[tuple[str, NDArray[np.generic]]]
    """Whom a submission is played against, by name."""


def facts_of(
    game: HogEngine, file: str, rules: str, submission: Submission, reference: Reference | None
) -> tuple[dict[str, Any], Assessment | None]:
    """Give a submission as plain values, fit for JSON, and how it does if it is valid.

    Facts in `ASSESSED` are None if it is not, or without a reference.
    """
    facts: dict[str, Any] = {
        "rules": rules,
        "file": file,
        "valid": not submission.faults,
        "player_name": submission.name,
        "bytes": submission.size,
        "name": submission.name,
        "answered": submission.answered,
        "asked": submission.asked,
        "files": list(submission.files),
        "alone": submission.alone,
        "prints": submission.prints,
        "seconds": submission.seconds or None,
        "faults": [
            {"kind": kind, "count": times, "told": [line]}
            for kind, times, line in submission.faults
        ],
        **dict.fromkeys(ASSESSED),
    }
    if submission.matrix is None or reference is None:
        return facts, None
    assessed = assess(game, submission.matrix, reference.table)
    plain = assessed._asdict() | {"against": reference.name}
    plain |= {name: [one._asdict() for one in plain[name]] for name in ("losses", "changes")}
    plain["effort"] = None if assessed.effort is None else assessed.effort.fields()
    plain["win_rates"] = outcomes(game, submission.matrix, reference.opponents)
    return facts | {name: plain[name] for name in ASSESSED}, assessed


def usual_reference(game: HogEngine) -> str:
    """Name the strongest opponent that the package has for a game."""
    if not game.has_memory:
        return "optimal"
    return "champion" if builtins_of(game, ["champion"]) else "ignore_memory"


def opponents(game: HogEngine) -> list[tuple[str, NDArray[np.generic]]]:
    """List whom a submission is played against: every number of dice, and what has a name.

    Of the latter those that mean something by the rules in force, each table once.
    """
    always = [f"always_roll:{dice}" for dice in range(game.num_actions)]
    found: list[tuple[str, NDArray[np.generic]]] = []
    for name, one in builtins_of(game, [*always, *samples_of(game.rules), *OPPONENTS]).items():
        if not any(np.array_equal(one.array, other) for _, other in found):
            found.append((name, one.array))
    return found


def outcomes(
    game: HogEngine, matrix: Matrix, opponents: Iterable[tuple[str, NDArray[np.generic]]]
) -> list[dict[str, Any]]:
    """Exact win rates against some opponents, by name; None against one if games never end."""
    found = []
    for name, opponent in opponents:
        rate: dict[str, Any] = dict.fromkeys(WinRate._fields)
        with suppress(EndlessError):
            rate = win_rate(game, matrix, opponent)._asdict()
        found.append({"strategy": name, **rate})
    return found


def assess(game: HogEngine, matrix: Matrix, against: NDArray[np.generic]) -> Assessment:
    """Find where a matrix loses against an opponent, and what to change first.

    A game that never ends counts as half a win, as it does for the tablebase.
    """
    policies_of(game, matrix, against)  # refuses what is malformed
    rate = _rate(game, matrix, against)
    response = _best_response(game, matrix, against, rate)
    costs, best, reach = _costs(game, matrix, against, response)
    order = np.argsort(-costs, axis=None, kind="stable")[:LISTED]
    losses = []
    for own, other in (divmod(int(place), game.goal) for place in order):
        if costs[own, other] > TIE:
            at = own, other
            rolls = int(matrix[at]), int(best[at])
            losses.append(Loss(own, other, *rolls, float(costs[at]), float(reach[at])))
    changes = _changes(game, matrix, against, rate)
    changed = matrix.copy()
    for one in changes:
        changed[one.score, one.opponent] = one.instead
    most = _rate(game, response, against)
    endless = 0.0 if game.has_memory else most - rate - float(costs.sum())
    return Assessment(
        rate,
        most,
        upper_bound(game, against) if game.has_memory else most,
        SEARCH if game.has_memory else None,
        costs,
        best,
        tuple(losses),
        tuple(changes),
        _rate(game, changed, against) if changes else rate,
        endless if endless > ENDLESS else 0.0,
    )


def _rate(game: HogEngine, matrix: Matrix, against: NDArray[np.generic]) -> float:
    return win_rate(game, matrix, against, endless_is_draw=True).win_rate


def _best_response(
    game: HogEngine, matrix: Matrix, against: NDArray[np.generic], rate: float
) -> Matrix:
    """Give a best response at every position, played to or not; with memory, the best found."""
    if game.has_memory:
        found = attack(game, against, SEARCH)
        return found.matrix if found.win_rate > rate else matrix
    policy = policy_of(game, against)
    rolls = np.zeros((game.goal, game.goal, 1), np.int8)
    work = shared_workspace(game, 2)
    work.backward(np.stack([policy, policy]), Role.FULL_MEMORY, choice=rolls)
    return rolls[:, :, 0]


def _costs(
    game: HogEngine, matrix: Matrix, against: NDArray[np.generic], response: Matrix
) -> tuple[Floats, Matrix, Floats]:
    """Costs, best rolls and reach, (G, G) each: reach of the matrix, values of the response."""
    work = shared_workspace(game, 2)
    work.forward(policies_of(game, matrix, against))
    reach = work.infoset_reach.copy()
    work.backward(policies_of(game, response, against), Role.COUNTERFACTUAL)
    values = work.counterfactual_values
    most = values.max(axis=2)
    # The response's own roll where it ties with the best: it is the one that the tablebase shows.
    at_response = _at(values, response)
    best = np.where(at_response >= most - TIE, response, values.argmax(axis=2)).astype(np.int8)
    return np.maximum(most - _at(values, matrix), 0.0), best, reach


def _changes(
    game: HogEngine, matrix: Matrix, against: NDArray[np.generic], rate: float
) -> list[Change]:
    found = counterfactual_values(shared_workspace(game, 2), policies_of(game, matrix, against))
    gains = found.values.max(axis=2) - _at(found.values, matrix)
    instead = found.values.argmax(axis=2)
    changes = []
    for place in np.argsort(-gains, axis=None, kind="stable")[:MEASURED]:
        own, other = divmod(int(place), game.goal)
        if gains[own, other] <= TIE:
            break
        changed = matrix.copy()
        changed[own, other] = instead[own, other]
        gain = _rate(game, changed, against) - rate
        rolls = int(matrix[own, other]), int(instead[own, other])
        changes.append(Change(own, other, *rolls, gain))
    return sorted(changes, key=lambda one: -one.gain)[:CHANGES]


def _at(values: Floats, matrix: Matrix) -> Floats:
    return np.take_along_axis(values, matrix[..., None].astype(np.int64), axis=2)[..., 0]
