"""From a policy to a matrix: purify."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hogeq.cli.commands.export import METHODS_HELP, ListsPurifiers
from hogeq.cli.inputs import (
    MATRIX_SUFFIXES,
    check_output,
    expect_kernels,
    load_game,
    load_strategy,
)
from hogeq.cli.shell import (
    BadInputError,
    JobsOption,
    JsonOption,
    OnOption,
    RulesOption,
    TrustOption,
    computing,
    emit,
    refusing,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hogeq.model.game import HogEngine
    from hogeq.runs.config import PurifyConfig
    from hogeq.support.aliases import Matrix


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(cls=ListsPurifiers)(purify)


def purify(
    strategy: Annotated[
        str, typer.Argument(metavar="S", help="A policy, or a matrix to search near.")
    ],
    rules: RulesOption = "su20",
    method: Annotated[str, typer.Option(metavar="METHOD", help=METHODS_HELP["method"])] = "argmax",
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Set a parameter: rounds=100"),
    ] = None,
    out: Annotated[Path, typer.Option(metavar="FILE", help="Its suffix says the format.")] = Path(
        "matrix.csv"
    ),
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.npz",
            help="With a method of rounds: keep every round, and go on from it if it is there.",
        ),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace a file that is there.")
    ] = False,
    trust: TrustOption = False,
    jobs: JobsOption = None,
    on: OnOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a policy a matrix, or search for a better matrix near one.

    docs/parameters.md lists the parameters of each method. `hogeq attack` says how much wins from
    what was made.
    """
    values = [item.partition("=")[2] for item in overrides or ()]  # counters=FILE among them
    reads = [strategy, rules, *values]
    check_output(out, MATRIX_SUFFIXES, reads=[*reads, checkpoint], replace=overwrite)
    check_output(checkpoint, (".npz",), reads=reads, option="--checkpoint")
    from hogeq.purification import PURIFIERS
    from hogeq.runs.config import purify_from
    from hogeq.runs.overrides import parse_override, set_keys
    from hogeq.strategies.write import write_strategy
    from hogeq.support.messages import refusal
    from hogeq.support.parameters import plain
    from hogeq.support.progress import show_progress

    if method not in PURIFIERS:
        raise BadInputError(refusal("--method", method, ", ".join(PURIFIERS), PURIFIERS))
    with refusing():
        given = dict(parse_override(item) for item in overrides or ())
        chosen = purify_from(set_keys({"method": method}, given), 0, "--set")
    game = load_game(rules)
    expect_kernels(game, strategies=[strategy])
    table = load_strategy(strategy, game, trust)
    with computing(on, jobs), show_progress():
        made = _made(game, chosen, table, checkpoint)
    with refusing():
        write_strategy(out, made, game.goal, game.rules.max_dice)
    data = {
        "rules": game.rules.name,
        "strategy": strategy,
        "method": chosen.method,
        "parameters": plain(chosen.params),
        "out": str(out),
    }
    emit(data, f"matrix of {strategy} by {chosen.method} written to {out}", as_json)


def _made(
    game: "HogEngine", chosen: "PurifyConfig", table: "NDArray[Any]", checkpoint: Path | None
) -> "Matrix":
    from hogeq.purification import purified
    from hogeq.purification.searching import SearchPurifier
    from hogeq.runs.errors import ResultsError
    from hogeq.runs.searches import saved_rounds
    from hogeq.strategies.arrays import StrategyError

    purifier = chosen.params
    try:
        if checkpoint is None:
            return purified(chosen.method, purifier, game, table)
        if not isinstance(purifier, SearchPurifier):
            raise BadInputError("--checkpoint: allowed with --method local_search, integer")
        made = table
        for state in saved_rounds(game, purifier, table, checkpoint):
            made = state.matrix
    except (ResultsError, StrategyError) as error:
        raise BadInputError(str(error)) from error
    return made
