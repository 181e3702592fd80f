"""Value of a game that forgets, in mixtures: equilibrium."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hogeq.cli.games import load_tree
from hogeq.cli.inputs import check_output
from hogeq.cli.shell import JsonOption, emit, refusing, table
from hogeq.support.messages import printable

if TYPE_CHECKING:
    from hogeq.trees.equilibrium import Equilibrium


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(equilibrium)


def equilibrium(
    game: Annotated[
        str,
        typer.Option(
            "--game",
            metavar="GAME",
            help="A game of OpenSpiel, liars_dice_ir(dice_sides=4) say, or a .efg file.",
        ),
    ],
    seconds: Annotated[
        float, typer.Option(min=0.0, help="When they are over, both bounds stand as they are.")
    ] = 60.0,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE.npz", help="Write the mixtures of both players.")
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace what --out names.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Solve a two-player zero-sum game in mixtures, and prove its value from both sides.

    A mixture draws one strategy before the game and keeps to it. With imperfect recall an
    equilibrium exists among mixtures; one among policies need not.
    """
    from hogeq.trees import equilibrium as solving

    check_output(out, (".npz",), replace=overwrite)
    tree = load_tree(game)
    with refusing():
        solved = solving.equilibrium(tree, seconds)
    if out is not None:
        with refusing():
            _write(out, solved)
    data = {
        "game": game,
        "lower": solved.lower,
        "upper": solved.upper,
        "proved": solved.is_proved,
        "iterations": solved.iterations,
        "components": [len(one.weights) for one in solved.mixtures],
    }
    rows = (
        ("lower", f"{solved.lower:.9f}", "payoff that player 0 secures"),
        ("upper", f"{solved.upper:.9f}", "payoff that player 1 allows"),
    )
    sizes = " and ".join(str(len(one.weights)) for one in solved.mixtures)
    text = f"{printable(game)}: value to player 0, in mixtures of {sizes}\n\n{table(rows, left=3)}"
    emit(data, text, as_json)


def _write(path: Path, solved: "Equilibrium") -> None:
    import numpy as np

    from hogeq.support.files import replacing

    arrays = {
        f"{name}_{player}": getattr(one, name)
        for player, one in enumerate(solved.mixtures)
        for name in ("weights", "strategies")
    }
    with replacing(path) as temporary:
        np.savez_compressed(temporary, **arrays)
