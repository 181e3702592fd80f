"""Optimal play: tablebase."""

from pathlib import Path
from typing import Annotated, Any

from hogeq.cli.inputs import MATRIX_SUFFIXES, Chosen, check_output
from hogeq.cli.options import option
from hogeq.cli.result import Result, Table, percent
from hogeq.cli.shell import BadInputError, refusing


def tablebase(
    game: Chosen,
    against: Annotated[
        str | None, option("Win rate of its rolls against a strategy.", metavar="S")
    ] = None,
    out: Annotated[
        Path | None, option("Write its matrix (rules without memory).", metavar="FILE")
    ] = None,
) -> Result:
    """Solve with full information: players remember everything."""
    check_output(out, MATRIX_SUFFIXES, reads=[game.spec, against])
    engine = game.load("full memory", strategies=[against])
    target = None if against is None else game.strategy(against)
    if out is not None and engine.has_memory:
        raise BadInputError(
            f"--out: rules {game.title} have hidden memory, and the best roll depends on it: "
            "allowed without memory"
        )
    from hogeq.evaluation.tablebase import solve
    from hogeq.model.endless import EndlessError

    with refusing():
        solved = solve(engine)
    with refusing(EndlessError):
        rate = None if target is None else solved.against(target)
    data: dict[str, Any] = {
        "rules": game.name,
        "memory_size": engine.memory_size,
        "value": solved.value,
        "first_roll": solved.first_roll,
        "against": None if rate is None else rate.win_rate,
    }
    rows: list[tuple[str, object, str]] = [
        ("value", percent(solved.value), "win probability of whoever moves first"),
        ("first roll", solved.first_roll, "dice"),
    ]
    if rate is not None:
        data |= {"against_first": rate.first, "against_second": rate.second}
        sees = " (remembering; the other does not)" if engine.has_memory else ""
        rows.append(("against", percent(rate.win_rate), f"win rate against {against}{sees}"))
    if out is not None:
        from hogeq.strategies.write import write_strategy

        with refusing():
            write_strategy(out, solved.matrix)
        data["out"] = str(out)
        rows.append(("written to", out, ""))
    memory = f"{engine.memory_size} memories" if engine.has_memory else "no hidden memory"
    return Result(data, [f"{game.title}, {memory}", "", Table(rows, left=3), *game.endless])
