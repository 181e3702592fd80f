"""Whole experiments and files: run, export, show."""

import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hogeq.cli.inputs import check_output, load_game, load_strategy
from hogeq.cli.shell import (
    INTERRUPTED,
    BadInputError,
    JobsOption,
    JsonOption,
    OnOption,
    RulesOption,
    TrustOption,
    computing,
    emit,
    refusing,
    say,
    table,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hogeq.model.game import Game

EXPORT_SUFFIXES = (".py", ".csv", ".txt", ".json", ".npy", ".npz")
ROLLS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"  # one letter a roll


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(run)
    app.command()(export)
    app.command()(show)


def run(
    config: Annotated[Path, typer.Argument(metavar="CONFIG", help="YAML file: configs/cfr.yaml")],
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Set a key: solver.iterations=50"),
    ] = None,
    out_root: Annotated[Path, typer.Option(metavar="DIR", help="Where runs are kept.")] = Path(
        "results"
    ),
    resume: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Continue the run in this directory.")
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace a run of the same name.")
    ] = False,
    jobs: JobsOption = None,
    on: OnOption = None,
    as_json: JsonOption = False,
) -> None:
    """One experiment: solve, measure, purify, export."""
    if resume is not None and overwrite:
        raise BadInputError(
            "--resume and --overwrite exclude each other: continue a run, or replace it"
        )
    from hogeq.runs.config import load_config
    from hogeq.runs.manifest import finite
    from hogeq.runs.errors import ResultsError
    from hogeq.runs.runner import RunError, run_experiment
    from hogeq.runs.signals import Interrupted
    from hogeq.support.yaml import ConfigError

    try:
        loaded = load_config(config, overrides or ())
        with computing(on, jobs):
            summary = run_experiment(loaded, out_root, resume, overwrite)
    except (ConfigError, ResultsError) as error:
        raise BadInputError(str(error)) from error
    except RunError as error:
        raise typer.Exit(say(error, 1)) from error
    except Interrupted as stop:
        raise typer.Exit(say(stop, 128 + stop.signum)) from stop
    except KeyboardInterrupt as stop:
        raise typer.Exit(say("stopped before anything was written", INTERRUPTED)) from stop
    except (BadInputError, typer.Exit):
        raise
    except Exception as error:
        traceback.print_exc()  # hours of solving may lie behind it: do not ask for another run
        raise typer.Exit(say(f"internal failure: {type(error).__name__}: {error}", 1)) from error
    emit(finite(summary.to_json()), str(summary), as_json)


def export(
    strategy: Annotated[str, typer.Argument(metavar="S", help="A strategy: built-in or file.")],
    rules: RulesOption = "su20",
    player_name: Annotated[
        str | None, typer.Option(metavar="NAME", help="What the contest calls you; for .py.")
    ] = None,
    out: Annotated[Path, typer.Option(metavar="FILE", help="Its suffix says the format.")] = Path(
        "final_strategy.py"
    ),
    purify: Annotated[
        str | None,
        typer.Option(
            metavar="METHOD",
            help="Make a policy a matrix first: argmax, threshold, sample, round, local_search.",
        ),
    ] = None,
    trust: TrustOption = False,
    as_json: JsonOption = False,
) -> None:
    """Write a strategy file: the one to submit, or another format.

    A .py file is what a contest entrant submits, self-contained; the others are .csv and .txt
    tables, .json, and numpy's .npy and .npz, which alone can hold a policy.
    """
    check_output(out, EXPORT_SUFFIXES)
    if out.suffix.lower() == ".py" and not (player_name or "").strip():
        given = "missing" if player_name is None else "blank"
        raise BadInputError(f"--player-name: {given}, needed for a .py file: the entrant's name")
    game = load_game(rules)
    table_ = load_strategy(strategy, game, trust)
    from hogeq.purification import purify as made_pure
    from hogeq.strategies.write import write_strategy

    with refusing():
        if purify is not None:
            table_ = made_pure(game, table_, purify)
        elif table_.ndim == 3 and out.suffix.lower() not in {".npy", ".npz"}:
            raise BadInputError(
                f"strategy {strategy}: is a policy, which {out.suffix} cannot hold; "
                "--purify argmax makes it a matrix"
            )
        write_strategy(out, table_, game.goal, game.rules.max_dice, player_name)
    kind = "policy" if table_.ndim == 3 else "matrix"
    data = {
        "rules": game.rules.name,
        "strategy": strategy,
        "kind": kind,
        "player_name": player_name,
        "out": str(out),
    }
    emit(data, f"{kind} of {strategy} written to {out}", as_json)


def show(
    strategy: Annotated[str, typer.Argument(metavar="S", help="A strategy: built-in or file.")],
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
    if out is not None:
        _draw(game, one, two, values, out, (strategy, minus or ""))
    likely = one if one.ndim == 2 else one.argmax(axis=2)
    counts = {roll: int((likely == roll).sum()) for roll in range(game.num_actions)}
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
        share = [(roll, count, f"{count / game.goal**2:.4f}") for roll, count in counts.items()]
        text = "\n".join(
            [
                f"{strategy}, {game.rules.name}{kind}",
                "own score upward, opponent's score to the right",
                "",
                _map(likely),
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
) -> None:
    from hogeq import figures

    about = game.rules.name
    title = f"{names[0]}, {about}"
    with refusing():
        if two is not None:
            figures.difference(one, two, out, about, names)
        elif values:
            figures.values(_values(game, one), out, title)
        elif one.ndim == 3:
            figures.policy(one, out, title)
        else:
            figures.matrix(one, out, title, game.num_actions)


def _values(game: "Game", strategy: "NDArray[Any]") -> "NDArray[Any]":
    """Win probability by position, averaged over the memory as play makes it; NaN if unreached."""
    import numpy as np

    from hogeq.evaluation.hidden import reach
    from hogeq.evaluation.hidden import values as by_memory

    found = by_memory(game, strategy)
    if not game.has_memory:
        return found[:, :, 0]
    masses = reach(game, strategy)
    totals = masses.sum(axis=2)
    average = np.full(totals.shape, np.nan)
    np.divide((found * masses).sum(axis=2), totals, out=average, where=totals > 0.0)
    return average


def _map(likely: "NDArray[Any]") -> str:
    """One letter a position, the highest own score on top."""
    width = len(str(len(likely) - 1))
    rows = [
        f"{own:{width}} {''.join(ROLLS[roll] for roll in likely[own].tolist())}"
        for own in reversed(range(len(likely)))
    ]
    scale = "".join(f"{other:<10}" for other in range(0, len(likely), 10))
    return "\n".join([*rows, f"{'':{width}} {scale}".rstrip()])
