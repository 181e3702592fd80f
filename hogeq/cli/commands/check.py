"""What the contest would say of a submission, and how it does: check."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hogeq.cli.inputs import (
    ENDLESS,
    check_output,
    expect_kernels,
    load_game,
    load_strategy,
    title_of,
)
from hogeq.cli.shell import (
    DigitsOption,
    JsonOption,
    RulesOption,
    TrustOption,
    budget_fields,
    emit,
    refusing,
    table,
)
from hogeq.support.numbers import DIGITS, duration, percent, pp

if TYPE_CHECKING:
    from hogeq.contest.assessment import Assessment
    from hogeq.model.game import HogEngine
    from hogeq.strategies.submission import Submission
    from hogeq.support.aliases import Matrix

NOT_VALID = 2  # exit status


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(check)


def check(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A submission, or a table.")],
    rules: RulesOption = "su20",
    against: Annotated[
        str | None,
        typer.Option(
            metavar="S",
            help="Opponent of losses and changes. [optimal; with hidden memory, champion]",
        ),
    ] = None,
    page: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write the same as a page.")
    ] = None,
    time_limit: Annotated[
        float, typer.Option(min=0.1, help="Seconds that the code of a .py is given.")
    ] = 60.0,
    digits: DigitsOption = DIGITS,
    trust: TrustOption = False,
    as_json: JsonOption = False,
) -> None:
    """Check a submission as the contest would, and say how it does.

    Every fault is listed, and the exit status is 2 if there is one. A valid submission is played
    against one number of dice all the time and the strategies of the package; then come the
    positions where it loses most against a strong opponent, and the three changes of single cells
    that gain most. With hidden memory nobody can compute a best response: losses are measured by
    the best one that a short search finds, which is said with its effort, and with a bound that
    none exceeds.

    JSON: rules, file, valid, player_name, name (the same), bytes, answered (positions), asked (the
    one at which it was stopped), files (other files that it used), alone (whether it works without
    them), seconds (load, table, slowest; null for a table),
    faults (kind, count, told), and, null if not valid: win_rates (strategy, win_rate, first,
    second), against, win_rate, best_response (with hidden memory, win rate of the best found),
    bound (no response wins more), effort (of that search: starts, anneal_steps, damping, kicks,
    seed; null if best_response is exact), losses (score, opponent, roll, best, cost, reach),
    changes (score, opponent, roll, instead, gain), changed (win rate with all the changes), endless
    (win rate lost by games that never end).
    """
    check_output(page, (".html",))
    game = load_game(rules)
    from hogeq.strategies.submission import inspect_submission

    with refusing():
        found = inspect_submission(file, game.rules, trust, time_limit=time_limit)
    title = title_of(rules, game.rules)
    data = _faults(file, game, found)
    assessed = None
    if found.matrix is not None:
        figures, assessed = _assessed(game, found.matrix, against)
        data |= figures
    if page is not None:
        from hogeq.report.checked import checked_page
        from hogeq.support.files import write_whole

        with refusing():
            write_whole(page, checked_page({**data, "rules": title}, found.matrix, assessed))
    text = _text({**data, "rules": title}, digits)
    if assessed is not None and game.can_be_endless:
        text += f"\n\n{ENDLESS}"
    emit(data, text, as_json)
    if not data["valid"]:
        raise typer.Exit(NOT_VALID)


def _faults(file: Path, game: "HogEngine", found: "Submission") -> dict[str, Any]:
    return {
        "rules": game.rules.name,
        "file": str(file),
        "valid": not found.faults,
        "player_name": found.name,
        "bytes": found.size,
        "name": found.name,
        "answered": found.answered,
        "asked": found.asked,
        "files": list(found.files),
        "alone": found.alone,
        "seconds": found.seconds or None,
        "faults": [
            {"kind": fault.kind, "count": fault.times, "told": [fault.line]}
            for fault in found.faults
        ],
        **dict.fromkeys(
            (
                *("win_rates", "against", "win_rate", "best_response", "bound", "effort"),
                *("losses", "changes", "changed", "endless"),
            )
        ),
    }


def _assessed(
    game: "HogEngine", matrix: "Matrix", against: str | None
) -> tuple[dict[str, Any], "Assessment"]:
    from hogeq.contest.assessment import OPPONENTS, assess, opponents, outcomes, usual_reference

    expect_kernels(game, "matches", "search", "full memory", strategies=[against or "", *OPPONENTS])
    name = against or usual_reference(game)
    opponent = load_strategy(name, game, trust=False)
    rates = outcomes(game, matrix, opponents(game))
    found = assess(game, matrix, opponent)
    return {
        "win_rates": [rate._asdict() for rate in rates],
        "against": name,
        "win_rate": found.win_rate,
        "best_response": found.best_response,
        "bound": found.bound,
        "effort": None if found.effort is None else budget_fields(found.effort),
        "losses": [one._asdict() for one in found.losses],
        "changes": [one._asdict() for one in found.changes],
        "changed": found.changed,
        "endless": found.endless,
    }, found


# --- for people -----------------------------------------------------------------------------------


def _text(data: dict[str, Any], digits: int) -> str:
    if not data["valid"]:
        return _refusals(data)
    name = f", by {data['player_name']}" if data["player_name"] else ""
    lines = [f"valid for {data['rules']}{name}: {data['bytes']:,} bytes"]
    if data["seconds"]:
        lines.append(_speed(data["seconds"]))
    rates = [
        (
            one["strategy"],
            "never ends" if one["win_rate"] is None else percent(one["win_rate"], digits),
        )
        for one in data["win_rates"]
    ]
    parts = ["\n".join(lines), f"wins against\n\n{table(rates)}", _losses(data, digits)]
    if data["changes"]:
        parts.append(_changes(data, digits))
    return "\n\n".join(parts)


def _refusals(data: dict[str, Any]) -> str:
    lines = [f"{data['file']}: not valid for {data['rules']}"]
    for fault in data["faults"]:
        more = f" ({fault['count']:,} like this)" if fault["count"] > 1 else ""
        lines += ["", *(f"  {line}{more}" for line in fault["told"])]
    return "\n".join(lines)


def _speed(seconds: dict[str, float]) -> str:
    return (
        f"asked for every position it takes {duration(seconds['table'])}, for one at most "
        f"{duration(seconds['slowest'])}; to load, {duration(seconds['load'])}"
    )


def _losses(data: dict[str, Any], digits: int) -> str:
    from hogeq.report.checked import response_text

    head = (
        f"against {data['against']} it wins {percent(data['win_rate'], digits)}; "
        f"{response_text(data, digits)}"
    )
    if not data["losses"] and data["endless"]:
        return f"{head}; no single turn loses anything"
    if not data["losses"]:
        measured = "; by that," if data["effort"] else ":"
        return f"{head}{measured} nothing is lost at any position"
    rows = _rows(data["losses"], ("score", "opponent", "roll", "best"), "cost", digits)
    header = ("score", "opponent", "rolls", "best", "loss")
    return f"{head}; most is lost at\n\n{table(rows, header, left=0)}"


def _changes(data: dict[str, Any], digits: int) -> str:
    rows = _rows(data["changes"], ("score", "opponent", "roll", "instead"), "gain", digits)
    header = ("score", "opponent", "rolls", "instead", "gain")
    return (
        f"changes of one cell that gain most against {data['against']}\n\n"
        f"{table(rows, header, left=0)}\n\ntogether: {percent(data['changed'], digits)}"
    )


def _rows(
    found: Sequence[dict[str, Any]], keys: Sequence[str], last: str, digits: int
) -> list[tuple[Any, ...]]:
    return [(*(one[key] for key in keys), pp(one[last], digits, signed=False)) for one in found]
