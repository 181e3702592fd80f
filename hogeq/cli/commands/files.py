"""Strategy files: export writes one in another format, purify makes a policy a matrix."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from hogeq.cli.commands.trees import purify_game
from hogeq.cli.inputs import MATRIX_SUFFIXES, Chosen, check_output
from hogeq.cli.options import (
    PURIFIERS,
    ForgetOption,
    GameOption,
    JobsOption,
    OnOption,
    OverwriteOption,
    StrategyArgument,
    argument,
    option,
)
from hogeq.cli.result import Result
from hogeq.cli.shell import BadInputError, computing, refusing

if TYPE_CHECKING:
    from hogeq.purification import Purifier
    from hogeq.strategies.strategy import Strategy
    from hogeq.support.aliases import Matrix

SUFFIXES = (".py", ".csv", ".txt", ".json", ".npy", ".npz")


def export(
    strategy: StrategyArgument,
    game: Chosen,
    player_name: Annotated[
        str | None, option("What the contest calls you; for .py.", "NAME")
    ] = None,
    out: Annotated[Path, option("Its suffix says the format.", "FILE")] = Path("final_strategy.py"),
    purify: Annotated[
        str | None, option(f"Make a policy a matrix first: {PURIFIERS}.", "METHOD")
    ] = None,
    part: Annotated[
        int | None, option("Of a mixture: its N-th component alone, from 1.", "N")
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
    from hogeq.strategies.files import check_player_name

    with refusing():
        if player_name is not None:
            check_player_name(player_name)
    game.load(strategies=[strategy])
    written = _exported(game, strategy, out, purify, part)
    game.write(out, written, player_name)
    data = {
        "rules": game.name,
        "strategy": strategy,
        "kind": written.kind,
        "player_name": player_name,
        "out": out,
    }
    return Result(data, [f"{written.kind} of {strategy} for {game.title} written to {out}"])


def _exported(
    game: Chosen, name: str, out: Path, purify: str | None, part: int | None
) -> "Strategy":
    """Give what is to be written; or refuse what `out` cannot hold."""
    from hogeq.purification import purify as purified
    from hogeq.strategies.strategy import strategy_of

    strategy = game.strategy(name)
    if strategy.kind != "mixture":
        if part is not None:
            raise BadInputError(f"--part: allowed for mixtures, and {name} is none")
    elif part is not None:
        count = len(strategy.weights)
        if not 1 <= part <= count:
            raise BadInputError(f"--part: {part}; allowed: 1 to {count} in {name}")
        strategy = strategy_of(game.engine, strategy.components[part - 1])
    elif purify is not None or out.suffix.lower() != ".npz":
        given = f"--purify {purify}" if purify is not None else str(out)
        kind = "matrices" if strategy.is_pure else "policies"
        raise BadInputError(
            f"{given}: not for a mixture, and {name} is one of {len(strategy.weights)} {kind}; "
            "--part 1 takes a component (hogeq show lists them), --out FILE.npz all"
        )
    if purify is not None:
        with refusing():
            return strategy_of(game.engine, purified(game.engine, strategy, purify))
    if strategy.kind == "policy" and out.suffix.lower() not in {".npy", ".npz"}:
        raise BadInputError(
            f"strategy {name}: is a policy, which {out.suffix} cannot hold; "
            "--purify argmax makes it a matrix"
        )
    return strategy


def purify_(
    strategy: Annotated[str, argument("S", "A policy, or a matrix to search near.")],
    game: Chosen,
    method: Annotated[str, option(f"How: {PURIFIERS}.", "METHOD")] = "argmax",
    overrides: Annotated[
        list[str] | None, option("Set a parameter: rounds=100", "KEY=VALUE", "--set")
    ] = None,
    out: Annotated[Path, option("Its suffix says the format.", "FILE")] = Path("matrix.csv"),
    checkpoint: Annotated[
        Path | None,
        option(
            "With a method of rounds: keep every round, and go on from it if it is there.",
            "FILE.npz",
        ),
    ] = None,
    overwrite: OverwriteOption = False,
    other_game: GameOption = None,
    forget: ForgetOption = None,
    jobs: JobsOption = None,
    on: OnOption = None,
) -> Result:
    """Make a policy a matrix, or search for a better matrix near one.

    docs/parameters.md lists the parameters of each method. `hogeq attack` says how much wins from
    what was made.
    """
    values = [item.partition("=")[2] for item in overrides or ()]  # counters=FILE among them
    reads = [strategy, game.spec, *values]
    suffixes = MATRIX_SUFFIXES if other_game is None else (".npz",)
    check_output(out, suffixes, reads=[*reads, checkpoint], replace=overwrite)
    check_output(checkpoint, (".npz",), reads=reads, option="--checkpoint")
    from hogeq.purification import PURIFIERS as METHODS
    from hogeq.runs.config import parse_override, purify_from, set_keys
    from hogeq.support.messages import refusal
    from hogeq.support.parameters import ParameterError, plain

    if method not in METHODS:
        raise BadInputError(refusal("--method", method, ", ".join(METHODS), METHODS))
    with refusing():
        given = dict(parse_override(item) for item in overrides or ())
        try:
            chosen = purify_from(set_keys({"method": method}, given))
        except ParameterError as error:
            raise BadInputError(f"--set: purify.{error}") from error
    if other_game is not None:
        with computing(on, jobs):
            return purify_game(other_game, forget, strategy, chosen.params, out)
    game.load(strategies=[strategy])
    with computing(on, jobs):
        matrix = _purified(game, chosen.method, chosen.params, game.table(strategy), checkpoint)
    game.write(out, matrix)
    data = {
        "rules": game.name,
        "strategy": strategy,
        "method": chosen.method,
        "parameters": plain(chosen.params),
        "out": out,
    }
    return Result(data, [f"matrix of {strategy} by {chosen.method} written to {out}"])


def _purified(
    game: Chosen, method: str, purifier: "Purifier", table: Any, checkpoint: Path | None
) -> "Matrix":
    from hogeq.purification import purified
    from hogeq.purification.base import SearchPurifier
    from hogeq.runs.directory import saved_rounds
    from hogeq.runs.files import ResultsError
    from hogeq.strategies.arrays import StrategyError

    with refusing(ResultsError, StrategyError):
        if checkpoint is None:
            return purified(method, purifier, game.engine, table)
        if not isinstance(purifier, SearchPurifier):
            raise BadInputError("--checkpoint: allowed with --method local_search, integer")
        matrix: Matrix = table
        for state in saved_rounds(game.engine, purifier, table, checkpoint):
            matrix = state.matrix
        return matrix
