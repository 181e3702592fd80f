"""The worth of a table's cells: losses against an opponent, and gains of changes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.baselines.registry import builtins_of, find_strategy
from hogeq.baselines.simple import samples_of
from hogeq.contest.advice import RuleChange, dice_in_words, rule_changes
from hogeq.contest.tournament import WIN
from hogeq.evaluation.counterfactual import counterfactual_values
from hogeq.evaluation.losses import Group, by_kind, by_lead, by_phase, forgotten_rules
from hogeq.evaluation.losses import losses as losses_of
from hogeq.evaluation.values import win_rate
from hogeq.graph.endless import EndlessError
from hogeq.model.game import HogEngine, compile_game
from hogeq.model.hidden import best_rolls
from hogeq.model.protocol import WinRate
from hogeq.model.rows import TIE
from hogeq.model.shared import shared_workspace
from hogeq.search.attack import attack
from hogeq.search.bounds import upper_bound
from hogeq.search.results import Budget
from hogeq.strategies.strategy import Strategy, StrategyLike, policies_of, table_of
from hogeq.strategies.submissions import Submission
from hogeq.support import html
from hogeq.support.aliases import Floats, Matrix
from hogeq.support.messages import EXACT, Table, Text, at_most, counted, loss, percent, pp

OPPONENTS = ("ignore_memory", "huan2020", "hog_wild_heuristic")
"""Strategies of the package that a submission is played against, if the rules allow them: these and
the strongest."""

LISTED = 10  # positions that are listed as those that cost most

CHANGES = 3  # changes of single cells that are listed

MEASURED = 12
"""Changes that are measured to find these: where positions recur, gains are exact only so."""

ASSESSED = (
    *("win_rates", "against", "win_rate", "best_response", "bound", "effort"),
    *("loss", "loss_by_phase", "loss_by_lead", "rule_changes"),
    *("losses", "changes", "changed", "endless"),
)
"""Facts about a submission that are None if it has no valid table."""

GROUPED = {"loss": "mistake", "loss_by_phase": "phase", "loss_by_lead": "lead"}
"""Groupings of the loss, and how they are headed."""

SUBMITTED = ("name", "answered", "asked", "files", "alone", "prints", "draws")
"""Facts that a `Submission` has by the same names."""

ENDLESS = 1e-9  # what is lost by games that never end, if it is more than rounding

SEARCH = Budget(starts=1, kicks=0)
"""Of the search for a response where something is hidden: little, since an answer is awaited."""


class Loss(NamedTuple):
    """A position at which a strategy gives something away."""

    score: int
    opponent: int
    roll: int
    best: int
    loss: float
    """Win rate lost there: the reach of the position times what its roll falls short of the best,
    all later turns being played as the best response does."""
    reach: float  # probability of coming to move there


class Change(NamedTuple):
    """A change of one cell, measured."""

    score: int
    opponent: int
    roll: int
    instead: int
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
    bound: float  # no response wins more. Without hidden memory that is `best_response`
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
        title = (
            f"Wins {percent(self.win_rate)}; a best response found, {percent(self.best_response)}"
        )
        parts = [
            html.table(part.table.rows, part.table.header, part.heading or "Loss")
            for part in reasons(assessed_facts(self))
        ]
        return f"<p>{title}</p>{''.join(parts)}"


def _group_rows(groups: Iterable[Group]) -> list[tuple[str, str, str]]:
    return [(one.kind, loss(one.loss), f"{one.positions:,}") for one in groups]


class Reference(NamedTuple):
    """Whom submissions are compared with."""

    against: Strategy  # the opponent of losses and changes
    opponents: list[Strategy]  # those that a submission is played against


def facts_of(
    game: HogEngine,
    file: str,
    rules: str,
    submission: Submission,
    reference: Reference | None,
) -> tuple[dict[str, Any], Assessment | None]:
    """Give a submission as plain values, fit for JSON, and how it does if its table is valid.

    ``rules``, ``file``, ``valid``, ``player_name``, ``name`` (the same), ``bytes``, ``answered``
    (positions), ``asked`` (the one at which it was stopped), ``files`` (other files that it says
    it used), ``alone`` (whether it works without them), ``prints`` (whether it says that it prints,
    which is lost), ``draws`` (whether it says that it draws random numbers without a seed),
    ``seconds`` (load, table, slowest: the longest wait for an answer; None for a table), ``faults``
    (kind, count, told); and, None if there is no valid table: ``win_rates`` (strategy,
    win_rate, first, second), ``against``, ``win_rate``, ``best_response`` (with hidden memory, win
    rate of the best found), ``bound`` (no response wins more), ``effort`` (of that search: starts,
    anneal_steps, damping, kicks, seed; None if best_response is exact), ``loss`` (kind, loss,
    positions: of each kind of mistake, with the sum best_response - win_rate), ``loss_by_phase``
    and ``loss_by_lead`` (the same), ``rule_changes`` (change, positions, gain: simple changes of
    the table), ``losses`` (score, opponent, roll, best, loss, reach), ``changes`` (score, opponent,
    roll, instead, gain), ``changed`` (win rate with all the changes), ``endless`` (win rate lost by
    games that never end).
    """
    assessed, facts = None, dict.fromkeys(ASSESSED)
    if submission.strategy is not None and reference is not None:
        assessed = assess(game, submission.strategy, reference.against)
        facts |= {
            "win_rates": outcomes(game, submission.strategy, reference.opponents),
            "against": reference.against.name,
            **assessed_facts(assessed),
        }
    described = {
        "rules": rules,
        "file": file,
        "valid": not submission.faults,
        "player_name": submission.name,
        "bytes": submission.size,
        **{key: getattr(submission, key) for key in SUBMITTED},
        "seconds": submission.seconds or None,
        "faults": [
            {"kind": kind, "count": times, "told": [line]}
            for kind, times, line in submission.faults
        ],
    }
    return described | facts, assessed


def assessed_facts(assessed: Assessment) -> dict[str, Any]:
    """Give an assessment as plain values, without its tables."""
    found = {key: getattr(assessed, key) for key in ASSESSED if hasattr(assessed, key)}
    found["effort"] = assessed.effort and assessed.effort.fields()
    return {
        key: _plain(value) if isinstance(value, list | tuple) else value
        for key, value in found.items()
    }


def _plain(rows: Iterable[Any]) -> list[dict[str, Any]]:
    return [row._asdict() for row in rows]


def usual_reference(game: HogEngine) -> str:
    """Name the strongest opponent that the package has for a game."""
    if not game.has_memory:
        return "optimal"
    return "champion" if builtins_of(game, ["champion"]) else "ignore_memory"


def opponents(game: HogEngine) -> list[Strategy]:
    """List the opponents of submissions: numbers of dice and names, each table once."""
    always = [f"always_roll:{dice}" for dice in range(game.num_actions)]
    named = builtins_of(game, [*always, *samples_of(game.rules), usual_reference(game), *OPPONENTS])
    found: dict[bytes, Strategy] = {}
    for name, one in named.items():
        found.setdefault(one.array.tobytes(), one.named(name))
    return [*found.values()]


def game_to(game: HogEngine, goal: int) -> tuple[HogEngine, Reference]:
    """Give the game of an entrant with this goal, and its opponents with the goal of the rules."""
    if goal == game.goal:
        return game, _reference(game)
    own = compile_game(replace(game.rules, goal=(goal, game.goal)), own_goals=True)
    other = compile_game(own.rules.for_second(), own_goals=True)
    return own, _reference(other)


def _reference(game: HogEngine) -> Reference:
    return Reference(find_strategy(usual_reference(game), game), opponents(game))


def outcomes(
    game: HogEngine, strategy: Strategy, opponents: Iterable[Strategy]
) -> list[dict[str, Any]]:
    """Exact win rates against some opponents, by name; None against one if games never end."""
    found = []
    for opponent in opponents:
        rate: dict[str, Any] = dict.fromkeys(WinRate._fields)
        with suppress(EndlessError):
            rate = win_rate(game, strategy, opponent)._asdict()
        found.append({"strategy": opponent.name, **rate})
    return found


def assess(game: HogEngine, strategy: StrategyLike, against: StrategyLike) -> Assessment:
    """Find the losses of a matrix or a policy and the best changes.

    Games that never end are half wins.
    """
    against, table = table_of(game, against), table_of(game, strategy)
    rate = _rate(game, table.array, against)
    response = _best_response(game, table.array, against, rate)
    most = _rate(game, response, against)
    lost = losses_of(game, table, response, against, most - rate)
    costs, likeliest = lost.rolls.sum(axis=2), table.likeliest
    dice, ideal = (np.array(game.choices, np.int8)[each] for each in (likeliest, response))
    changes = _changes(game, table, against, rate)
    changed = table.array.copy()
    for one in changes:
        changed[one.score, one.opponent] = _choosing(game, table, one.instead)
    return Assessment(
        win_rate=rate,
        best_response=most,
        bound=upper_bound(game, against) if game.has_memory else most,
        effort=SEARCH if game.has_memory else None,
        loss=by_kind(game, lost, forgotten_rules(game, table, lost, against)),
        loss_by_phase=by_phase(game, lost),
        loss_by_lead=by_lead(game, lost),
        rule_changes=rule_changes(game, likeliest, against) if table.is_pure else [],
        costs=costs,
        rolls=dice,
        best=ideal,
        losses=tuple(
            Loss(*at, int(dice[at]), int(ideal[at]), float(costs[at]), float(lost.reach[at]))
            for at in _largest(costs, LISTED)
        ),
        changes=tuple(changes),
        changed=_rate(game, changed, against) if changes else rate,
        endless=lost.endless if abs(lost.endless) > ENDLESS else 0.0,
    )


def _rate(game: HogEngine, table: NDArray[Any], against: Strategy) -> float:
    return win_rate(game, table, against, endless_is_draw=True).win_rate


def _best_response(game: HogEngine, table: NDArray[Any], against: Strategy, rate: float) -> Matrix:
    """Give a best response at every position, played to or not; with memory, the best found.

    Where the strategy's own roll is as good, it is the response's.
    """
    if not game.has_memory:
        return best_rolls(game, policies_of(game, against, against))[0][:, :, 0]
    found = attack(game, against, SEARCH)
    if table.ndim > found.matrix.ndim or found.win_rate > rate:
        return found.matrix
    return table.astype(np.int8)


def _changes(game: HogEngine, table: Strategy, against: Strategy, rate: float) -> list[Change]:
    policies = policies_of(game, table, against)
    found = counterfactual_values(shared_workspace(game, 2), policies)
    played = np.where(policies[0] > 0.0, found.values, 0.0)  # others may be infinite
    gains = found.values.max(axis=2) - (played * policies[0]).sum(axis=2)
    instead = found.values.argmax(axis=2)
    changes = []
    for at in _largest(gains, MEASURED):
        choice = game.choices[instead[at]]
        changed = table.array.copy()
        changed[at] = _choosing(game, table, choice)
        gain = _rate(game, changed, against) - rate
        changes.append(Change(*at, game.choices[table.likeliest[at]], choice, gain))
    return sorted(changes, key=lambda one: -one.gain)[:CHANGES]


def _choosing(game: HogEngine, table: Strategy, choice: int) -> Any:
    """Give a cell of a table that has one choice: its action, or a row of a policy."""
    action = game.choices.index(choice)
    return action if table.is_pure else np.eye(game.num_actions)[action]


def _largest(table: Floats, count: int) -> list[tuple[int, int]]:
    """Cells of the largest numbers above rounding, the largest first."""
    cells = np.argsort(-table, axis=None, kind="stable")[:count].tolist()
    places = [divmod(cell, len(table)) for cell in cells]
    return [at for at in places if table[at] > TIE]


def contest_notes(found: Mapping[str, Any]) -> list[str]:
    """List notes for a contest that are no faults."""
    notes = []
    if found["files"]:
        alone = "works without them" if found["alone"] else "does not work without them"
        notes.append(f"it reads other files, and {alone}: {', '.join(found['files'])}")
    if found["draws"]:
        seed = "without a seed of its own: another run may give other answers"
        notes.append(f"it draws random numbers {seed}")
    if found["prints"]:
        notes.append("it prints: what it prints is not shown")
    return notes


def response_text(found: Mapping[str, Any]) -> str:
    """Describe the win rate of a best response; or of the best found, with effort and bound."""
    rate, effort = percent(found["best_response"]), found["effort"]
    if effort is None:
        told = f"a best response wins {rate}"
        if not found["endless"]:
            return told
        return f"{told}; {loss(found['endless'])} of that are lost by games that never end"
    kicks = counted(effort["kicks"], "kick") if effort["kicks"] else "no kicks"
    spent = f"({counted(effort['starts'], 'start')}, {kicks})"
    better = found["best_response"] > found["win_rate"] + EXACT
    told = (
        f"the best response found {spent} wins {rate}"
        if better
        else f"none found {spent} wins more"
    )
    return f"{told}, and none can win more than {at_most(found['bound'])}"


class Part(NamedTuple):
    """A table about a submission, for a text and for a page."""

    heading: str  # none: it goes on with the part before
    table: Table
    bars: Sequence[tuple[float, str]] = ()
    """On a page, of each row: a share from 0 to 1, and its look."""
    after: str = ""  # a line


def assessed_text(data: Mapping[str, Any]) -> Text:
    """Lay out how a valid submission does, by its facts: what to change first, positions last."""
    return [*explained_text(data), *_laid_out(results(data)), *positions_text(data)]


def explained_text(data: Mapping[str, Any]) -> Text:
    """Lay out why a strategy loses: kinds of mistakes, phases, and simple changes."""
    return ["", summary(data), *_laid_out(reasons(data))]


def positions_text(data: Mapping[str, Any]) -> Text:
    """Lay out the positions that cost most."""
    return _laid_out(positions(data))


def _laid_out(parts: Iterable[Part]) -> Text:
    text: Text = []
    for part in parts:
        heading = ["", part.heading] if part.heading else []
        text += [*heading, "", part.table, *(["", part.after] if part.after else [])]
    return text


def summary(data: Mapping[str, Any]) -> str:
    """Say how a submission does against one opponent, and whether it loses anything."""
    head = f"against {data['against']} it wins {percent(data['win_rate'])}; {response_text(data)}"
    if data["loss"]:
        return f"{head}; what it loses is in these groups"
    return f"{head}{'; by that,' if data['effort'] else ':'} nothing is lost at any position"


def reasons(data: Mapping[str, Any]) -> Iterator[Part]:
    """Give the groups of what is lost, and the simple changes that gain most."""
    whole = data["best_response"] - data["win_rate"] or 1.0
    for key, heading in GROUPED.items() if data["loss"] else ():
        groups = [Group(**one) for one in data[key]]
        bars = [(one.loss / whole, "bad") for one in groups]
        yield Part("", Table(_group_rows(groups), (heading, "loss", "positions")), bars)
    yield from _advice(data)


def _advice(data: Mapping[str, Any]) -> Iterator[Part]:
    """Give the changes that gain most, of thresholds and of single cells, the best first."""
    changes = [(one["gain"], one["change"], one["positions"]) for one in data["rule_changes"]]
    for one in data["changes"]:
        rolls = f"{dice_in_words(one['instead'])}, not {dice_in_words(one['roll'])}"
        changes.append((one["gain"], f"{rolls}, at {one['score']} to {one['opponent']}", 1))
    changes.sort(key=lambda change: -change[0])
    rows = [(change, pp(gain), f"{positions:,}") for gain, change, positions in changes]
    if rows:
        table = Table(rows, ("roll", "gain", "positions"))
        cells = counted(len(data["changes"]), "cell")
        after = f"with the {cells}: {percent(data['changed'])}" if data["changes"] else ""
        yield Part("changes that gain most, each alone", table, after=after)


def results(data: Mapping[str, Any]) -> Iterator[Part]:
    """Give the win rates against all opponents."""
    rates = [(one["strategy"], one["win_rate"]) for one in data["win_rates"]]
    rows = [(name, "never ends" if rate is None else percent(rate)) for name, rate in rates]
    bars = [(rate or 0.0, f"half {outcome(rate)}") for _, rate in rates]
    yield Part("wins against (`hogeq strategies` says how they play)", Table(rows), bars)


def outcome(rate: float | None, threshold: float = WIN) -> str:
    """Tell a match that is won, good, from one that is lost, bad, or neither."""
    if rate is None:
        return ""
    return "good" if rate > threshold else "bad" if 1.0 - rate > threshold else ""


def positions(data: Mapping[str, Any]) -> Iterator[Part]:
    """Give the positions that cost most."""
    if data["losses"]:
        keys = "score", "opponent", "roll", "best"
        rows = [(*(one[key] for key in keys), loss(one["loss"])) for one in data["losses"]]
        header = ("score", "opponent", "rolls", "best", "loss")
        yield Part("most is lost at", Table(rows, header, left=0))
