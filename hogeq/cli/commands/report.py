"""A page to explore runs: report."""

import os
from pathlib import Path
from typing import Annotated, Any

from hogeq.cli.inputs import Chosen, check_output, write
from hogeq.cli.options import SEARCH, JobsOption, TrustOption, argument, option
from hogeq.cli.result import Result, Table, percent
from hogeq.cli.shell import BadInputError, computing, refusing
from hogeq.support.progress import show_progress


def report(
    runs: Annotated[list[Path], argument("RUN ...", "Directories of finished runs.")],
    out: Annotated[Path, option("A name ending in .html.", metavar="FILE")] = Path("report.html"),
    against: Annotated[
        list[str] | None, option("A strategy to compare with (may be given again).", metavar="S")
    ] = None,
    matrices: Annotated[
        bool, option("Explore the runs' matrices too: a larger page.", "--matrices/--no-matrices")
    ] = True,
    starts: Annotated[
        int | None, option("Starts of the search. [as the run's figures]", group=SEARCH)
    ] = None,
    anneal_steps: Annotated[
        int | None, option("Its steps from each start. [as the run's figures]", group=SEARCH)
    ] = None,
    kicks: Annotated[
        int | None, option("Its kicks for each start. [as the run's figures]", group=SEARCH)
    ] = None,
    jobs: JobsOption = None,
    trust: TrustOption = False,
) -> Result:
    """One self-contained page to explore runs of one game, which opens without a network.

    Exploitability curves, maps of the strategies, every roll's win probability and the belief over
    the hidden memory at each position, counter-matrices and what they gain where, a tournament,
    and the configs that made it all.

    Counters are searched for anew, by the effort behind the final figures of each run: seconds for
    the main job, minutes for a champion's folder, which asks for 1,600 kicks. With --starts,
    --anneal-steps or --kicks all get the effort of the first run, so changed.
    """
    check_output(out, (".html", ".htm"))
    from hogeq.pages import report as page
    from hogeq.pages.finished import load
    from hogeq.runs.measuring import KERNELS
    from hogeq.search.attack import SearchBudget
    from hogeq.support.parameters import plain

    folders = list({os.path.realpath(run): run for run in runs}.values())
    with refusing():
        loaded = load(folders, trust)
        game = Chosen.of(loaded[0].config.rules, trust)
    game.expect("matches", *KERNELS, strategies=[*page.OTHERS, *(against or ())])
    rivals = [(name, game.strategy(name)) for name in against or ()]
    with refusing():
        changes = {"starts": starts, "anneal_steps": anneal_steps, "kicks": kicks}
        given: dict[str, Any] = {key: value for key, value in changes.items() if value is not None}
        budget = SearchBudget(**plain(page.effort_of(loaded[0])) | given) if given else None
    entries = page.entries(game.engine, loaded, rivals, matrices=matrices, budget=budget)
    try:
        with computing(None, jobs), show_progress():
            made = page.make(game.engine, loaded, entries)
    except page.ReportError as error:
        raise BadInputError(f"report: {error}") from error
    content = made.html.encode()
    write(out, content)
    data = {
        "rules": game.rules.name,
        "out": str(out),
        "bytes": len(content),
        "runs": [run.name for run in loaded],
        "counters": {
            name: {"attack": counter.win_rate, "bound": counter.bound}
            for name, counter in made.counters.items()
        },
        "entries": made.names,
        "win_rates": made.win_rates.tolist(),
    }
    rows = [
        (name, percent(counter.win_rate), percent(counter.bound))
        for name, counter in made.counters.items()
    ]
    size = f"{len(content) / 1e6:.1f} MB written to {out}"
    return Result(data, [Table(rows, ("strategy", "attack", "bound")), "", size])
