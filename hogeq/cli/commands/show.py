"""Pictures of strategies: show."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hogeq.cli.inputs import check_output, load_game, load_strategy, title_of
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
    from numpy.typing import NDArray

    from hogeq.model.game import Game

ROLLS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"  # one letter a roll


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(show)


def show(
    strategy: Annotated[str, typer.Argument(metavar="S", help="A strategy: name, file or run.")],
    rules: RulesOption = "su20",
    out: Annotated[
        Path | None, typer.Option(metavar="PNG", help="Draw to a file. [text in the terminal]")
    ] = None,
    minus: Annotated[
        str | None, typer.Option(metavar="T", help="Show the dice of S less those of T.")
    ] = None,
    values: Annotated[
        bool, typer.Option("--values", help="Show win probabilities when both play S.")
    ] = False,
    trust: TrustOption = False,
    digits: DigitsOption = DIGITS,
    as_json: JsonOption = False,
) -> None:
    """Picture of a strategy: the dice it rolls at every position."""
    check_output(out, (".png",))
    if values and minus is not None:
        raise BadInputError("--values and --minus exclude each other")
    if out is None and (values or minus is not None):
        raise BadInputError(
            f"{'--values' if values else '--minus'}: needs --out FILE.png to draw to"
        )
    game = load_game(rules)
    one = load_strategy(strategy, game, trust)
    two = None if minus is None else load_strategy(minus, game, trust)
    about = title_of(rules, game.rules)
    if out is not None:
        _draw(game, one, two, values, out, (strategy, minus or ""), about)
    from hogeq.strategies.usual import positions_by_roll, usual_rolls

    counts = dict(enumerate(positions_by_roll(one, game.num_actions)))
    data = {
        "rules": game.rules.name,
        "strategy": strategy,
        "kind": "policy" if one.ndim == 3 else "matrix",
        "positions_by_roll": counts,
        "out": None if out is None else str(out),
    }
    if out is not None:
        text = f"drawn to {out}"
    else:
        kind = ", most probable roll" if one.ndim == 3 else ""
        share = [
            (roll, count, percent(count / game.goal**2, digits)) for roll, count in counts.items()
        ]
        text = "\n".join(
            [
                f"{strategy}, {about}{kind}",
                "own score upward, opponent's score to the right",
                "",
                _map(usual_rolls(one)),
                "",
                table(share, ("dice", "positions", "share"), left=0),
            ]
        )
    emit(data, text, as_json)


def _draw(
    game: "Game",
    one: "NDArray[Any]",
    two: "NDArray[Any] | None",
    values: bool,
    out: Path,
    names: tuple[str, str],
    about: str,
) -> None:
    from hogeq import figures
    from hogeq.evaluation.hidden import mean_values

    title = f"{names[0]}, {about}"
    with refusing():
        if two is not None:
            figures.difference(one, two, out, about, names)
        elif values:
            figures.values(mean_values(game, one), out, title)
        elif one.ndim == 3:
            figures.policy(one, out, title)
        else:
            figures.matrix(one, out, title, game.num_actions)


def _map(likely: "NDArray[Any]") -> str:
    """One letter a position, the highest own score on top."""
    width = len(str(len(likely) - 1))
    rows = [
        f"{own:{width}} {''.join(ROLLS[roll] for roll in likely[own].tolist())}"
        for own in reversed(range(len(likely)))
    ]
    scale = "".join(f"{other:<10}" for other in range(0, len(likely), 10))
    return "\n".join([*rows, f"{'':{width}} {scale}".rstrip()])
