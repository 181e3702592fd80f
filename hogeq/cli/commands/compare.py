"""Two strategies against each other: compare."""

from typing import TYPE_CHECKING, Annotated

import typer

from hogeq.cli.inputs import expect_kernels, load_any, load_game, title_of
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

if TYPE_CHECKING:
    from hogeq.model.game import HogEngine
    from hogeq.model.workspace import WinRate

FULL_MEMORY = "full_memory"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(compare)


def compare(
    a: Annotated[str, typer.Argument(metavar="A", help="A strategy: name, file or run.")],
    b: Annotated[str, typer.Argument(metavar="B", help="The other.")],
    rules: RulesOption = "su20",
    trust: TrustOption = False,
    digits: DigitsOption = DIGITS,
    as_json: JsonOption = False,
) -> None:
    """Exact win rate of A against B.

    full_memory is the player who remembers everything and plays best against one who does too.
    """
    game = load_game(rules)
    expect_kernels(game, "matches", strategies=[a, b])
    remembering = game.has_memory and FULL_MEMORY in {a, b}
    if remembering:
        found = _of_full_memory(a, b, game, trust)
    else:
        one, two = load_any(a, game, trust), load_any(b, game, trust)
        from hogeq.evaluation.win_rates import win_rate
        from hogeq.model.endless import EndlessError

        try:
            found = win_rate(game, one, two)
        except EndlessError as error:
            raise BadInputError(str(error)) from error
    data = {"rules": game.rules.name, "a": a, "b": b, **found._asdict()}
    rows = [
        ("win rate", percent(found.win_rate, digits)),
        ("moving first", percent(found.first, digits)),
        ("moving second", percent(found.second, digits)),
    ]
    text = f"{a} against {b}, {title_of(rules, game.rules)}\n\n{table(rows)}"
    if remembering:
        text += "\n\nfull_memory remembers what a strategy may not see"
    emit(data, text, as_json)


def _of_full_memory(a: str, b: str, game: "HogEngine", trust: bool) -> "WinRate":
    """Win rate of A against B, one of whom remembers everything, or both."""
    others = [load_any(name, game, trust) for name in (a, b) if name != FULL_MEMORY]
    from hogeq.evaluation.tablebase import full_memory_win_rate

    with refusing():
        found = full_memory_win_rate(game, *others)
    return found if a == FULL_MEMORY else found.reversed()
