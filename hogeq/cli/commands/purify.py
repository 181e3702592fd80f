"""From a policy to a matrix: purify."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from hogeq.cli.inputs import MATRIX_SUFFIXES, Chosen, check_output
from hogeq.cli.options import (
    PURIFIERS,
    JobsOption,
    OnOption,
    OverwriteOption,
    argument,
    option,
)
from hogeq.cli.result import Result
from hogeq.cli.shell import BadInputError, computing, refusing

if TYPE_CHECKING:
    from hogeq.runs.config import PurifyConfig
    from hogeq.support.aliases import Matrix


def purify_(
    strategy: Annotated[str, argument("S", "A policy, or a matrix to search near.")],
    game: Chosen,
    method: Annotated[str, option(f"How: {PURIFIERS}.", metavar="METHOD")] = "argmax",
    overrides: Annotated[
        list[str] | None, option("Set a parameter: rounds=100", "--set", metavar="KEY=VALUE")
    ] = None,
    out: Annotated[Path, option("Its suffix says the format.", metavar="FILE")] = Path(
        "matrix.csv"
    ),
    checkpoint: Annotated[
        Path | None,
        option(
            "With a method of rounds: keep every round, and go on from it if it is there.",
            metavar="FILE.npz",
        ),
    ] = None,
    overwrite: OverwriteOption = False,
    jobs: JobsOption = None,
    on: OnOption = None,
) -> Result:
    """Make a policy a matrix, or search for a better matrix near one.

    docs/parameters.md lists the parameters of each method. `hogeq attack` says how much wins from
    what was made.
    """
    values = [item.partition("=")[2] for item in overrides or ()]  # counters=FILE among them
    reads = [strategy, game.spec, *values]
    check_output(out, MATRIX_SUFFIXES, reads=[*reads, checkpoint], replace=overwrite)
    check_output(checkpoint, (".npz",), reads=reads, option="--checkpoint")
    from hogeq.purification import PURIFIERS as METHODS
    from hogeq.runs.config import parse_override, purify_from, set_keys
    from hogeq.strategies.write import write_strategy
    from hogeq.support.messages import refusal
    from hogeq.support.parameters import ParameterError, plain
    from hogeq.support.progress import show_progress

    if method not in METHODS:
        raise BadInputError(refusal("--method", method, ", ".join(METHODS), METHODS))
    with refusing():
        given = dict(parse_override(item) for item in overrides or ())
        try:
            chosen = purify_from(set_keys({"method": method}, given))
        except ParameterError as error:
            raise BadInputError(f"--set: purify.{error}") from error
    engine = game.load(strategies=[strategy])
    with computing(on, jobs), show_progress():
        matrix = _made(game, chosen, strategy, checkpoint)
    with refusing():
        write_strategy(out, matrix, engine.goal, game.rules.max_dice)
    data = {
        "rules": game.name,
        "strategy": strategy,
        "method": chosen.method,
        "parameters": plain(chosen.params),
        "out": str(out),
    }
    return Result(data, [f"matrix of {strategy} by {chosen.method} written to {out}"])


def _made(game: Chosen, chosen: "PurifyConfig", name: str, checkpoint: Path | None) -> "Matrix":
    from hogeq.purification import purified
    from hogeq.purification.base import SearchPurifier
    from hogeq.runs.files import ResultsError
    from hogeq.runs.searches import saved_rounds
    from hogeq.strategies.arrays import StrategyError

    purifier, table = chosen.params, game.strategy(name)
    try:
        if checkpoint is None:
            return purified(chosen.method, purifier, game.engine, table)
        if not isinstance(purifier, SearchPurifier):
            raise BadInputError("--checkpoint: allowed with --method local_search, integer")
        matrix = table
        for state in saved_rounds(game.engine, purifier, table, checkpoint):
            matrix = state.matrix
    except (ResultsError, StrategyError) as error:
        raise BadInputError(str(error)) from error
    return matrix
