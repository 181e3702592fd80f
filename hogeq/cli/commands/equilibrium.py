"""Value of a game that forgets, in mixtures: equilibrium."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from hogeq.cli.games import load_tree
from hogeq.cli.inputs import check_output
from hogeq.cli.options import OverwriteOption, option
from hogeq.cli.result import Result, Table
from hogeq.cli.shell import refusing

if TYPE_CHECKING:
    from hogeq.trees.equilibrium import Equilibrium


def equilibrium(
    game: Annotated[
        str,
        option(
            "A game of OpenSpiel, liars_dice_ir(dice_sides=4) say, or a .efg file.",
            "--game",
            metavar="GAME",
        ),
    ],
    seconds: Annotated[
        float, option("When they are over, both bounds stand as they are.", min=0)
    ] = 60.0,
    out: Annotated[
        Path | None, option("Write the mixtures of both players.", metavar="FILE.npz")
    ] = None,
    overwrite: OverwriteOption = False,
) -> Result:
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
    heading = f"{game}: value to player 0, in mixtures of {sizes}"
    return Result(data, [heading, "", Table(rows, left=3)])


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
