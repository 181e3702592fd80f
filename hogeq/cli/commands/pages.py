"""Pages that open without a network: board, to play on, and report, to explore runs."""

import os
from pathlib import Path
from typing import Annotated, Any

from hogeq.cli.inputs import Chosen, default_rules, write
from hogeq.cli.options import (
    PAGE,
    SEARCH,
    JobsOption,
    StartOption,
    TrustOption,
    argument,
    option,
)
from hogeq.cli.result import Result, Table, percent
from hogeq.cli.shell import computing, refusing
from hogeq.support.messages import BadInputError
from hogeq.support.numbers import counted


def board(
    rules: Annotated[
        list[str] | None,
        option("Edition, or YAML file of rule parts (may be given again). [HOGEQ_RULES or su20]"),
    ] = None,
    out: Annotated[Path, option("A name ending in .html.", "FILE"), PAGE] = Path("board.html"),
    opponent: Annotated[
        list[str] | None, option("A table to play against too (may be given again).", "S")
    ] = None,
    start: StartOption = None,
    trust: TrustOption = False,
) -> Result:
    """One self-contained page to play Hog on, which opens without a network.

    Play against best play, the champion, a table of your own or a friend; see the exact win
    probability of every roll; learn where a game was lost.
    """
    from hogeq.baselines.registry import is_builtin
    from hogeq.pages import board as page
    from hogeq.pages.board import BoardError, check_work

    given = opponent or []
    names = [one if is_builtin(one) else Path(one).name for one in given]
    games = []
    for spec in dict.fromkeys(rules or [default_rules()]):
        game = Chosen(spec, trust)
        engine = game.load()
        check_work(engine)
        game.expect("full memory", "reach", strategies=[*page.OPPONENTS, *given])
        more = [
            (name if names.count(name) == 1 else one, game.strategy(one).array)
            for name, one in zip(names, given, strict=True)
        ]
        with refusing():
            tables = page.opponents(engine, more)
        games.append(page.Shown(engine, game.title, tables, game.start(start)))
    try:
        content = page.make(games).encode()
    except BoardError as error:
        raise BadInputError(f"board: {error}") from error
    write(out, content)
    data = {
        "out": out,
        "bytes": len(content),
        "rules": [one.game.rules.name for one in games],
        "opponents": {one.game.rules.name: list(one.tables) for one in games},
    }
    size = f"{len(content) / 1e3:.0f} kB"
    return Result(data, [f"{counted(len(games), 'game')}, {size} written to {out}"])


def report(
    runs: Annotated[list[Path], argument("RUN ...", "Directories of finished runs.")],
    out: Annotated[Path, option("A name ending in .html.", "FILE"), PAGE] = Path("report.html"),
    against: Annotated[
        list[str] | None, option("A strategy to compare with (may be given again).", "S")
    ] = None,
    matrices: Annotated[
        bool,
        option("Explore the runs' matrices too: a larger page.", name="--matrices/--no-matrices"),
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
    from hogeq.pages import report as page
    from hogeq.runs.index import load_runs
    from hogeq.runs.summary import KERNELS
    from hogeq.search.attack import SearchBudget
    from hogeq.support.parameters import plain

    folders = list({os.path.realpath(run): run for run in runs}.values())
    loaded = load_runs(folders, trust)
    game = Chosen.of(loaded[0].config.rules, trust)
    game.expect("matches", *KERNELS, strategies=[*page.OTHERS, *(against or ())])
    rivals = [(name, game.table(name)) for name in against or ()]
    changes = {"starts": starts, "anneal_steps": anneal_steps, "kicks": kicks}
    given: dict[str, Any] = {key: value for key, value in changes.items() if value is not None}
    budget = SearchBudget(**plain(page.effort_of(loaded[0])) | given) if given else None
    entries = page.entries(game.engine, loaded, rivals, matrices=matrices, budget=budget)
    try:
        with computing(None, jobs):
            made = page.make(game.engine, loaded, entries)
    except page.ReportError as error:
        raise BadInputError(f"report: {error}") from error
    content = made.html.encode()
    write(out, content)
    counters: dict[str, Any] = {
        name: {"attack": search.win_rate, "bound": search.bound}
        for name, search in made.counters.items()
    }
    data = {
        "rules": game.rules.name,
        "out": out,
        "bytes": len(content),
        "runs": [run.name for run in loaded],
        "counters": counters,
        "entries": made.names,
        "win_rates": made.win_rates.tolist(),
    }
    rows = [(name, *map(percent, ends.values())) for name, ends in counters.items()]
    size = f"{len(content) / 1e6:.1f} MB written to {out}"
    return Result(data, [Table(rows, ("strategy", "attack", "bound")), "", size])
