"""Optimal play: tablebase."""

from pathlib import Path
from typing import Annotated, Any

import typer

from hogeq.cli.inputs import (
    ENDLESS,
    MATRIX_SUFFIXES,
    check_output,
    expect_kernels,
    load_game,
    load_strategy,
    title_of,
)
from hogeq.cli.shell import (
    BadInputError,
    DigitsOption,
    JsonOption,
    RulesOption,
    TrustOption,
    emit,
    refusing,
    table,
)
from hogeq.support.numbers import DIGITS, percent


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(tablebase)


def tablebase(
    rules: RulesOption = "su20",
    against: Annotated[
        str | None, typer.Option(metavar="S", help="Win rate of its rolls against a strategy.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write its matrix (rules without memory).")
    ] = None,
    trust: TrustOption = False,
    digits: DigitsOption = DIGITS,
    as_json: JsonOption = False,
) -> None:
    """Solve with full information: players remember everything."""
    check_output(out, MATRIX_SUFFIXES, reads=[rules, against])
    game = load_game(rules)
    expect_kernels(game, "full memory", strategies=[against])
    target = None if against is None else load_strategy(against, game, trust)
    from hogeq.evaluation.tablebase import solve
    from hogeq.model.endless import EndlessError

    if out is not None and game.has_memory:
        raise BadInputError(
            f"--out: rules {game.rules.name} have hidden memory, and the best roll depends on it: "
            "allowed without memory"
        )
    with refusing():
        solved = solve(game)
    try:
        found = None if target is None else solved.against(target)
    except EndlessError as error:
        raise BadInputError(str(error)) from error
    data: dict[str, Any] = {
        "rules": game.rules.name,
        "memory_size": game.memory_size,
        "value": solved.value,
        "first_roll": solved.first_roll,
        "against": None if found is None else found.win_rate,
    }
    rows: list[tuple[str, object, str]] = [
        ("value", percent(solved.value, digits), "win probability of whoever moves first"),
        ("first roll", solved.first_roll, "dice"),
    ]
    if found is not None:
        data |= {"against_first": found.first, "against_second": found.second}
        sees = " (remembering; the other does not)" if game.has_memory else ""
        rows.append(
            ("against", percent(found.win_rate, digits), f"win rate against {against}{sees}")
        )
    if out is not None:
        from hogeq.strategies.write import write_strategy

        with refusing():
            write_strategy(out, solved.matrix)
        data["out"] = str(out)
        rows.append(("written to", out, ""))
    memory = f"{game.memory_size} memories" if game.has_memory else "no hidden memory"
    text = f"{title_of(rules, game.rules)}, {memory}\n\n{table(rows, left=3)}"
    emit(data, f"{text}\n\n{ENDLESS}" if game.can_be_endless else text, as_json)
