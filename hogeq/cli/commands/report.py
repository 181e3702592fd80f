"""A page to explore runs: report."""

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from hogeq.cli.inputs import check_output, expect_kernels, load_strategy
from hogeq.cli.shell import (
    BadInputError,
    DigitsOption,
    JobsOption,
    JsonOption,
    TrustOption,
    computing,
    emit,
    refusing,
    table,
)
from hogeq.support.numbers import DIGITS, percent
from hogeq.support.progress import show_progress


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(report)


def report(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN ...", help="Directories of finished runs.")
    ],
    out: Annotated[Path, typer.Option(metavar="FILE", help="A name ending in .html.")] = Path(
        "report.html"
    ),
    against: Annotated[
        list[str] | None,
        typer.Option(metavar="S", help="A strategy to compare with (may be given again)."),
    ] = None,
    matrices: Annotated[
        bool,
        typer.Option(
            "--matrices/--no-matrices", help="Explore the runs' matrices too: a larger page."
        ),
    ] = True,
    starts: Annotated[
        int | None, typer.Option(help="Starts of the search for counters. [as the run's figures]")
    ] = None,
    anneal_steps: Annotated[
        int | None, typer.Option(help="Its steps from each start. [as the run's figures]")
    ] = None,
    kicks: Annotated[
        int | None, typer.Option(help="Its kicks for each start. [as the run's figures]")
    ] = None,
    jobs: JobsOption = None,
    trust: TrustOption = False,
    digits: DigitsOption = DIGITS,
    as_json: JsonOption = False,
) -> None:
    """One self-contained page to explore runs of one game, which opens without a network.

    Exploitability curves, maps of the strategies, every roll's win probability and the belief over
    the hidden memory at each position, counter-matrices and what they gain where, a tournament,
    and the configs that made it all.

    Counters are searched for anew, by the effort behind the final figures of each run: seconds for
    the main job, minutes for a champion's folder, which asks for 1,600 kicks. With --starts,
    --anneal-steps or --kicks all get the effort of the first run, so changed.
    """
    check_output(out, (".html", ".htm"))
    from hogeq.model.game import compile_game
    from hogeq.report import page
    from hogeq.report.finished import load
    from hogeq.runs.measuring import KERNELS
    from hogeq.search.attack import SearchBudget
    from hogeq.support.parameters import plain

    runs = list({os.path.realpath(run): run for run in runs}.values())  # one given twice is one
    with refusing():
        found = load(runs, trust)
        game = compile_game(found[0].config.rules)
    expect_kernels(game, "matches", *KERNELS, strategies=[*page.OTHERS, *(against or ())])
    rivals = [(name, load_strategy(name, game, trust)) for name in against or ()]
    with refusing():
        changes = {"starts": starts, "anneal_steps": anneal_steps, "kicks": kicks}
        given: dict[str, Any] = {key: value for key, value in changes.items() if value is not None}
        budget = SearchBudget(**plain(page.effort_of(found[0])) | given) if given else None
    strategies = page.entries(game, found, rivals, matrices=matrices, budget=budget)
    with (
        computing(None, jobs),
        show_progress(),
    ):
        try:
            made = page.make(game, found, strategies)
        except page.ReportError as error:
            raise BadInputError(f"report: {error}") from error
    content = made.html.encode()
    from hogeq.support.files import write_whole

    with refusing():
        write_whole(out, content)
    data = {
        "rules": game.rules.name,
        "out": str(out),
        "bytes": len(content),
        "runs": [run.name for run in found],
        "counters": {
            name: {"attack": counter.win_rate, "bound": counter.bound}
            for name, counter in made.counters.items()
        },
        "entries": made.names,
        "win_rates": made.win_rates.tolist(),
    }
    rows = [
        (name, percent(of.win_rate, digits), percent(of.bound, digits))
        for name, of in made.counters.items()
    ]
    found_text = table(rows, ("strategy", "attack", "bound"))
    emit(data, f"{found_text}\n\n{len(content) / 1e6:.1f} MB written to {out}", as_json)
