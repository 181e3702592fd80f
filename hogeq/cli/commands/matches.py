"""Exact values: compare two strategies, or solve the game."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from hogeq.cli.commands.trees import OtherGame, compare_game
from hogeq.cli.inputs import Chosen, compiled
from hogeq.cli.options import (
    MATRIX_SUFFIXES,
    ForgetOption,
    GameOption,
    Output,
    StartOption,
    argument,
    option,
)
from hogeq.cli.result import Result, Table, Text, percent
from hogeq.cli.shell import refusing
from hogeq.support.messages import BadInputError

if TYPE_CHECKING:
    from hogeq.evaluation.tablebase import Tablebase
    from hogeq.model.workspace import WinRate

FULL_MEMORY = "full_memory"


def compare(
    a: Annotated[str, argument("A", "A strategy: name, file or run.")],
    b: Annotated[str, argument("B", "The other.")],
    game: Chosen,
    start: StartOption = None,
    other_game: GameOption = None,
    forget: ForgetOption = None,
) -> Result:
    """Exact win rate of A against B.

    full_memory is the player who remembers everything and plays best against one who does too.
    With a goal for each player, goal: [50, 65], the first is A's and the second B's.
    """
    if other_game is not None:
        return compare_game(OtherGame(other_game, forget), a, b)
    game.load("matches", strategies=[a, b], own_goals=True)
    remembers = game.engine.has_memory and FULL_MEMORY in {a, b}
    scores = game.start(start)
    if remembers and start is not None:
        raise BadInputError(f"--start: allowed without {FULL_MEMORY}")
    rate = _win_rate(game, a, b, remembers, scores)
    data = {"rules": game.name, "a": a, "b": b, **rate._asdict()}
    begins = "" if start is None else f", from {start}"
    rows = [
        ("win rate", percent(rate.win_rate)),
        ("moving first", percent(rate.first)),
        ("moving second", percent(rate.second)),
    ]
    text: Text = [f"{a} against {b}, {game.title}{begins}", "", Table(rows)]
    if game.engine.has_own_goals:
        text += ["", "the goals are A's and B's: {} and {}".format(*game.rules.goals)]
    if remembers:
        text += ["", "full_memory remembers what a strategy may not see"]
    return Result(data, text)


def _win_rate(game: Chosen, a: str, b: str, remembers: bool, start: tuple[int, int]) -> "WinRate":
    from hogeq.evaluation.tablebase import full_memory_win_rate
    from hogeq.evaluation.values import win_rate

    others = [
        game.strategy(name, of_second=is_second)
        for name, is_second in ((a, False), (b, True))
        if not remembers or name != FULL_MEMORY
    ]
    if not remembers:
        return win_rate(game.engine, *others, start=start)
    with refusing():
        if a == FULL_MEMORY:
            return full_memory_win_rate(game.engine, *others)
        return full_memory_win_rate(compiled(game.rules.for_second()), *others).reversed()


def tablebase(
    game: Chosen,
    against: Annotated[str | None, option("Win rate of its rolls against a strategy.", "S")] = None,
    out: Annotated[
        Path | None,
        option("Write its matrix (rules without memory).", "FILE"),
        Output(MATRIX_SUFFIXES),
    ] = None,
    start: StartOption = None,
) -> Result:
    """Solve with full information: players remember everything.

    With a goal for each player, goal: [50, 65], the rolls are those of the player with the first,
    and S has the second.
    """
    engine = game.load("full memory", strategies=[against], own_goals=True)
    target = None if against is None else game.strategy(against, of_second=True)
    if out is not None and engine.has_memory:
        raise BadInputError(
            f"--out: rules {game.title} have hidden memory, and the best roll depends on it: "
            "allowed without memory"
        )
    scores = game.start(start)
    if start is not None and against is not None and engine.has_memory:
        raise BadInputError("--start: allowed with --against for rules without hidden memory")
    from hogeq.evaluation.tablebase import solve
    from hogeq.evaluation.values import win_rate

    with refusing():
        solved = solve(engine)
    rate = None if target is None else solved.against(target)
    if target is not None and start is not None:
        rate = win_rate(engine, solved.matrix, target, start=scores)
    value, first_roll = _begins(solved, scores)
    data = {
        "rules": game.name,
        "memory_size": engine.memory_size,
        "value": value,
        "first_roll": first_roll,
        "against": None if rate is None else rate.win_rate,
    }
    rows: list[tuple[str, object, str]] = [
        ("value", percent(value), "win probability of whoever moves first"),
        ("first roll", first_roll, "dice"),
    ]
    if engine.has_own_goals:
        second, roll = _begins(solve(compiled(game.rules.for_second())), scores)
        data |= {"second_value": second, "second_first_roll": roll}
        first, other = game.rules.goals
        rows = [
            ("value", percent(value), f"win probability of the player to {first}, moving first"),
            ("first roll", first_roll, "dice"),
            ("value", percent(second), f"win probability of the player to {other}, moving first"),
            ("first roll", roll, "dice"),
        ]
    if rate is not None:
        data |= {"against_first": rate.first, "against_second": rate.second}
        sees = " (remembering; the other does not)" if engine.has_memory else ""
        rows.append(("against", percent(rate.win_rate), f"win rate against {against}{sees}"))
    if out is not None:
        game.write(out, solved.matrix)
        data["out"] = out
        rows.append(("written to", out, ""))
    begins = "" if start is None else f", from {start}"
    memory = f"{engine.memory_size} memories" if engine.has_memory else "no hidden memory"
    return Result(data, [f"{game.title}, {memory}{begins}", "", Table(rows, left=3), *game.endless])


def _begins(solved: "Tablebase", scores: tuple[int, int]) -> tuple[float, int]:
    """Value of whoever moves first, and the best roll."""
    value = solved.roll_values(*scores)[solved.start].max()
    best = int(solved.rolls[(*scores, solved.start)])
    return float(value), solved.game.choices[best]
