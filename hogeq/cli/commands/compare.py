"""Two strategies against each other: compare."""

from typing import TYPE_CHECKING, Annotated

from hogeq.cli.inputs import Chosen
from hogeq.cli.options import argument
from hogeq.cli.result import Result, Table, Text, percent
from hogeq.cli.shell import refusing

if TYPE_CHECKING:
    from hogeq.model.workspace import WinRate

FULL_MEMORY = "full_memory"


def compare(
    a: Annotated[str, argument("A", "A strategy: name, file or run.")],
    b: Annotated[str, argument("B", "The other.")],
    game: Chosen,
) -> Result:
    """Exact win rate of A against B.

    full_memory is the player who remembers everything and plays best against one who does too.
    """
    game.load("matches", strategies=[a, b])
    remembers = game.engine.has_memory and FULL_MEMORY in {a, b}
    rate = _win_rate(game, a, b, remembers)
    data = {"rules": game.name, "a": a, "b": b, **rate._asdict()}
    rows = [
        ("win rate", percent(rate.win_rate)),
        ("moving first", percent(rate.first)),
        ("moving second", percent(rate.second)),
    ]
    text: Text = [f"{a} against {b}, {game.title}", "", Table(rows)]
    if remembers:
        text += ["", "full_memory remembers what a strategy may not see"]
    return Result(data, text)


def _win_rate(game: Chosen, a: str, b: str, remembers: bool) -> "WinRate":
    from hogeq.evaluation.tablebase import full_memory_win_rate
    from hogeq.evaluation.win_rates import win_rate
    from hogeq.model.endless import EndlessError

    others = [game.any(name) for name in (a, b) if not remembers or name != FULL_MEMORY]
    if not remembers:
        with refusing(EndlessError):
            return win_rate(game.engine, *others)
    with refusing():
        rate = full_memory_win_rate(game.engine, *others)
    return rate if a == FULL_MEMORY else rate.reversed()
