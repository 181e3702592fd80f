"""Strategy files: export."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperOption

from hogeq.cli.inputs import check_output, expect_kernels, load_any, load_game
from hogeq.cli.shell import (
    BadInputError,
    JsonOption,
    RulesOption,
    TrustOption,
    emit,
    refusing,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hogeq.model.game import HogEngine
    from hogeq.strategies.mixtures import Mixture

METHODS_HELP = {"purify": "Make a policy a matrix first", "method": "How"}
"""What is said of options that take a purifier, by their names."""

EXPORT_SUFFIXES = (".py", ".csv", ".txt", ".json", ".npy", ".npz")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(cls=ListsPurifiers)(export)


class ListsPurifiers(TyperCommand):
    """Lists the purifiers in its help, and only there: to import them takes a while."""

    def get_help(self, ctx: Any) -> str:
        """Help of the command."""
        from hogeq.purification import PURIFIERS

        for option in self.params:
            if isinstance(option, TyperOption) and option.name in METHODS_HELP:
                option.help = f"{METHODS_HELP[option.name]}: {', '.join(PURIFIERS)}."
        return super().get_help(ctx)


def export(
    strategy: Annotated[str, typer.Argument(metavar="S", help="A strategy: name, file or run.")],
    rules: RulesOption = "su20",
    player_name: Annotated[
        str | None, typer.Option(metavar="NAME", help="What the contest calls you; for .py.")
    ] = None,
    out: Annotated[Path, typer.Option(metavar="FILE", help="Its suffix says the format.")] = Path(
        "final_strategy.py"
    ),
    purify: Annotated[
        str | None,
        typer.Option(metavar="METHOD", help=METHODS_HELP["purify"]),
    ] = None,
    part: Annotated[
        int | None, typer.Option(metavar="N", help="Of a mixture: its N-th part alone, from 1.")
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace a file that is there.")
    ] = False,
    trust: TrustOption = False,
    as_json: JsonOption = False,
) -> None:
    """Write a strategy file: the one to submit, or another format.

    A .py file is what a contest entrant submits, self-contained; the others are .csv and .txt
    tables, .json, and numpy's .npy and .npz, which alone can hold a policy; .npz alone a mixture.
    """
    check_output(out, EXPORT_SUFFIXES, reads=[strategy, rules], replace=overwrite)
    if out.suffix.lower() != ".py" and player_name is not None:
        raise BadInputError(f"--player-name: allowed only where --out ends in .py, not for {out}")
    if out.suffix.lower() == ".py" and not (player_name or "").strip():
        given = "missing" if player_name is None else "blank"
        raise BadInputError(f"--player-name: {given}, needed for a .py file: the entrant's name")
    from hogeq.strategies.write import check_player_name, write_strategy

    with refusing():
        if player_name is not None:
            check_player_name(player_name)
    game = load_game(rules)
    expect_kernels(game, strategies=[strategy])
    found = load_any(strategy, game, trust)
    written, kind = _written(game, found, strategy, out, purify, part)
    with refusing():
        write_strategy(out, written, game.goal, game.rules.max_dice, player_name)
    data = {
        "rules": game.rules.name,
        "strategy": strategy,
        "kind": kind,
        "player_name": player_name,
        "out": str(out),
    }
    emit(data, f"{kind} of {strategy} written to {out}", as_json)


def _written(
    game: "HogEngine",
    found: "NDArray[Any] | Mixture",
    strategy: str,
    out: Path,
    purify: str | None,
    part: int | None,
) -> "tuple[NDArray[Any] | Mixture, str]":
    """Give what is to be written, and what it is; or refuse what `out` cannot hold."""
    from hogeq.purification import purify as made_pure
    from hogeq.strategies.mixtures import Mixture

    if isinstance(found, Mixture):
        if part is None:
            if purify is not None or out.suffix.lower() != ".npz":
                given = f"--purify {purify}" if purify is not None else str(out)
                raise BadInputError(
                    f"{given}: not for a mixture, and {strategy} is one of {len(found)} "
                    f"{found.kind}; --part 1 takes a part (hogeq show lists them), --out FILE.npz "
                    "all"
                )
            return found, "mixture"
        if not 1 <= part <= len(found):
            raise BadInputError(f"--part: {part}; allowed: 1 to {len(found)} in {strategy}")
        table: NDArray[Any] = found.parts[part - 1]
    else:
        if part is not None:
            raise BadInputError(f"--part: allowed for mixtures, and {strategy} is none")
        table = found
    if purify is not None:
        with refusing():
            table = made_pure(game, table, purify)
    elif table.ndim == 3 and out.suffix.lower() not in {".npy", ".npz"}:
        raise BadInputError(
            f"strategy {strategy}: is a policy, which {out.suffix} cannot hold; "
            "--purify argmax makes it a matrix"
        )
    return table, "policy" if table.ndim == 3 else "matrix"
