"""Strategy files: export."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from hogeq.cli.inputs import Chosen, check_output
from hogeq.cli.options import PURIFIERS, OverwriteOption, StrategyArgument, option
from hogeq.cli.result import Result
from hogeq.cli.shell import BadInputError, refusing

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hogeq.strategies.strategy import Mixture

SUFFIXES = (".py", ".csv", ".txt", ".json", ".npy", ".npz")


def export(
    strategy: StrategyArgument,
    game: Chosen,
    player_name: Annotated[
        str | None, option("What the contest calls you; for .py.", metavar="NAME")
    ] = None,
    out: Annotated[Path, option("Its suffix says the format.", metavar="FILE")] = Path(
        "final_strategy.py"
    ),
    purify: Annotated[
        str | None, option(f"Make a policy a matrix first: {PURIFIERS}.", metavar="METHOD")
    ] = None,
    part: Annotated[
        int | None, option("Of a mixture: its N-th component alone, from 1.", metavar="N")
    ] = None,
    overwrite: OverwriteOption = False,
) -> Result:
    """Write a strategy file: the one to submit, or another format.

    A .py file is what a contest entrant submits, self-contained; the others are .csv and .txt
    tables, .json, and numpy's .npy and .npz, which alone can hold a policy; .npz alone a mixture.
    """
    check_output(out, SUFFIXES, reads=[strategy, game.spec], replace=overwrite)
    if out.suffix.lower() != ".py" and player_name is not None:
        raise BadInputError(f"--player-name: allowed only where --out ends in .py, not for {out}")
    if out.suffix.lower() == ".py" and not (player_name or "").strip():
        given = "missing" if player_name is None else "blank"
        raise BadInputError(f"--player-name: {given}, needed for a .py file: the entrant's name")
    from hogeq.strategies.write import check_player_name, write_strategy

    with refusing():
        if player_name is not None:
            check_player_name(player_name)
    engine = game.load(strategies=[strategy])
    written, kind = _written(game, strategy, out, purify, part)
    with refusing():
        write_strategy(out, written, engine.goal, game.rules.max_dice, player_name)
    data = {
        "rules": game.name,
        "strategy": strategy,
        "kind": kind,
        "player_name": player_name,
        "out": str(out),
    }
    return Result(data, [f"{kind} of {strategy} for {game.title} written to {out}"])


def _written(
    game: Chosen, name: str, out: Path, purify: str | None, part: int | None
) -> "tuple[NDArray[Any] | Mixture, str]":
    """Give what is to be written, and its kind; or refuse what `out` cannot hold."""
    from hogeq.purification import purify as purified
    from hogeq.strategies.strategy import Mixture

    strategy = game.any(name)
    if not isinstance(strategy, Mixture):
        if part is not None:
            raise BadInputError(f"--part: allowed for mixtures, and {name} is none")
        table: NDArray[Any] = strategy
    elif part is not None:
        if not 1 <= part <= len(strategy):
            raise BadInputError(f"--part: {part}; allowed: 1 to {len(strategy)} in {name}")
        table = strategy.parts[part - 1]
    elif purify is not None or out.suffix.lower() != ".npz":
        given = f"--purify {purify}" if purify is not None else str(out)
        raise BadInputError(
            f"{given}: not for a mixture, and {name} is one of {len(strategy)} {strategy.kind}; "
            "--part 1 takes a component (hogeq show lists them), --out FILE.npz all"
        )
    else:
        return strategy, "mixture"
    if purify is not None:
        with refusing():
            table = purified(game.engine, table, purify)
    elif table.ndim == 3 and out.suffix.lower() not in {".npy", ".npz"}:
        raise BadInputError(
            f"strategy {name}: is a policy, which {out.suffix} cannot hold; "
            "--purify argmax makes it a matrix"
        )
    return table, "policy" if table.ndim == 3 else "matrix"
