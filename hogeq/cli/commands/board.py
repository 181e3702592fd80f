"""A page to play on and to learn from: board."""

from pathlib import Path
from typing import Annotated

from hogeq.cli.inputs import Chosen, check_output, default_rules, write
from hogeq.cli.options import TrustOption, option
from hogeq.cli.result import Result
from hogeq.cli.shell import BadInputError, refusing
from hogeq.support.numbers import counted


def board(
    rules: Annotated[
        list[str] | None,
        option("Edition, or YAML file of rule parts (may be given again). [HOGEQ_RULES or su20]"),
    ] = None,
    out: Annotated[Path, option("A name ending in .html.", metavar="FILE")] = Path("board.html"),
    opponent: Annotated[
        list[str] | None, option("A table to play against too (may be given again).", metavar="S")
    ] = None,
    trust: TrustOption = False,
) -> Result:
    """One self-contained page to play Hog on, which opens without a network.

    Play against best play, the champion, a table of your own or a friend; see the exact win
    probability of every roll; learn where a game was lost.
    """
    check_output(out, (".html", ".htm"))
    from hogeq.baselines.registry import is_builtin
    from hogeq.pages import board as page
    from hogeq.pages.board import BoardError, check_work

    given = opponent or []
    names = [one if is_builtin(one) else Path(one).name for one in given]
    games = []
    for spec in dict.fromkeys(rules or [default_rules()]):
        game = Chosen(spec, trust)
        engine = game.load()
        with refusing():
            check_work(engine)
        game.expect("full memory", "reach", strategies=[*page.OPPONENTS, *given])
        more = [
            (name if names.count(name) == 1 else one, game.any(one))
            for name, one in zip(names, given, strict=True)
        ]
        with refusing():
            games.append(page.Shown(engine, game.title, page.opponents(engine, more)))
    try:
        content = page.make(games).encode()
    except BoardError as error:
        raise BadInputError(f"board: {error}") from error
    write(out, content)
    data = {
        "out": str(out),
        "bytes": len(content),
        "rules": [one.game.rules.name for one in games],
        "opponents": {one.game.rules.name: list(one.tables) for one in games},
    }
    size = f"{len(content) / 1e3:.0f} kB"
    return Result(data, [f"{counted(len(games), 'game')}, {size} written to {out}"])
