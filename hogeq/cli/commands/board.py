"""A page to play on and to learn from: board."""

from pathlib import Path
from typing import Annotated

import typer

from hogeq.cli.inputs import check_output, expect_kernels, load_any, load_game, title_of
from hogeq.cli.shell import BadInputError, JsonOption, TrustOption, emit, refusing
from hogeq.support.numbers import counted


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(board)


def board(
    rules: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME|FILE",
            help="Edition, or YAML file of rule parts (may be given again). [su20]",
        ),
    ] = None,
    out: Annotated[Path, typer.Option(metavar="FILE", help="A name ending in .html.")] = Path(
        "board.html"
    ),
    opponent: Annotated[
        list[str] | None,
        typer.Option(metavar="S", help="A table to play against too (may be given again)."),
    ] = None,
    trust: TrustOption = False,
    as_json: JsonOption = False,
) -> None:
    """One self-contained page to play Hog on, which opens without a network.

    Play against best play, the champion, a table of your own or a friend; see the exact win
    probability of every roll; learn where a game was lost.
    """
    check_output(out, (".html", ".htm"))
    from hogeq.baselines.registry import is_builtin
    from hogeq.board import page
    from hogeq.board.edition import BoardError, check_work

    shown = []
    for spec in dict.fromkeys(rules or ["su20"]):
        game = load_game(spec)
        with refusing():
            check_work(game)
        expect_kernels(
            game, "full memory", "reach", strategies=[*page.OPPONENTS, *(opponent or ())]
        )
        names = [one if is_builtin(one) else Path(one).name for one in opponent or ()]
        more = [
            (name if names.count(name) == 1 else given, load_any(given, game, trust))
            for name, given in zip(names, opponent or (), strict=True)
        ]
        with refusing():
            tables = page.opponents(game, more)
        shown.append(page.Shown(game, title_of(spec, game.rules), tables))
    try:
        content = page.make(shown).encode()
    except BoardError as error:
        raise BadInputError(f"board: {error}") from error
    from hogeq.support.files import write_whole

    with refusing():
        write_whole(out, content)
    data = {
        "out": str(out),
        "bytes": len(content),
        "rules": [one.game.rules.name for one in shown],
        "opponents": {one.game.rules.name: list(one.tables) for one in shown},
    }
    games = counted(len(shown), "game")
    emit(data, f"{games}, {len(content) / 1e3:.0f} kB written to {out}", as_json)
