"""Pages that open without a network: board, report; pictures of strategies: show."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from hogeq.cli import options
from hogeq.cli.inputs import AnyChosen, Chosen, default_rules
from hogeq.cli.options import OF_HOG, PAGE, PICTURE, SEARCH, argument, option, readable
from hogeq.cli.shell import Result, computing, refusing
from hogeq.support.files import write_whole
from hogeq.support.messages import BadInputError, Table, Text, counted

if TYPE_CHECKING:
    from hogeq.runs.index import Run

Open = Annotated[bool, option("Open the page in a browser.", name="--open")]


def board(
    rules: Annotated[
        list[str] | None,
        option(
            "Edition, or YAML file of rule parts (may be repeated). [HOGEQ_RULES or fa25]", "RULES"
        ),
    ] = None,
    out: Annotated[Path, option("A name ending in .html.", "FILE"), PAGE] = Path("board.html"),
    opponent: Annotated[
        list[str] | None,
        option("A table to play against too (may be repeated).", "S", "--against --opponent"),
    ] = None,
    start: options.Start = None,
    open_: Open = False,
    trust: options.Trust = False,
) -> Result:
    """Write a page to play and learn on, which needs no network.

    Play against best play, the champion, a table of your own or a friend; see the exact win
    probability of every roll; learn where a game was lost.
    """
    given, games = opponent or [], []
    for spec in dict.fromkeys(rules or [default_rules()]):
        chosen = Chosen(spec, trust=trust)
        game = chosen.load(strategies=given, own_goals=True, start=start)
        from hogeq.baselines.registry import is_builtin
        from hogeq.pages import board as page

        page.check_work(chosen.engine)
        chosen.expect("full memory", "reach", strategies=[*page.OPPONENTS, *given])
        found = [game.second.strategy(one) for one in given]
        both = zip(given, found, strict=True)
        names = [Path(spec).name if one.name == spec else one.name for spec, one in both]
        # No player has the name of another, of a built-in, or of those that are always there.
        taken = {name for name in names if name not in given and is_builtin(name)}
        taken |= {name for name in names if names.count(name) > 1 or name in page.ALWAYS}
        more = [
            (spec if name in taken else name, one)
            for name, spec, one in zip(names, given, found, strict=True)
        ]
        with refusing():
            tables = page.opponents(chosen.engine, more)
        games.append(page.Shown(chosen.engine, chosen.title, tables, chosen.scores))
    try:
        content = page.make(games).encode()
    except page.BoardError as error:
        raise BadInputError(f"board: {error}") from error
    write_whole(out, content)
    data = {
        "out": out,
        "bytes": len(content),
        "rules": [one.game.rules.name for one in games],
        "opponents": {one.game.rules.name: list(one.tables) for one in games},
    }
    size = f"{len(content) / 1e3:.0f} kB"
    written = f"{counted(len(games), 'game')}, {size} written to {out}"
    return Result(data, [written, *_opened(out, open_)])


def _opened(page: Path, wanted: bool) -> list[str]:
    """Open a page in a browser, if wanted; a line if there is none."""
    import webbrowser

    is_open = not wanted or webbrowser.open(page.resolve().as_uri())
    return [] if is_open else [f"no browser was found: open {page} in one"]


def report(
    runs: Annotated[
        list[Path], argument("RUN", "Directories of finished runs.", callback=readable)
    ],
    out: Annotated[Path, option("A name ending in .html.", "FILE"), PAGE] = Path("report.html"),
    against: Annotated[
        list[str] | None, option("A strategy to compare with (may be repeated).", "S")
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
    open_: Open = False,
    jobs: options.Jobs = None,
    trust: options.Trust = False,
) -> Result:
    """Write a page that explores runs, which needs no network.

    Exploitability curves, maps of the strategies, every roll's win probability and the belief over
    the hidden memory at each position, counter-matrices and their gains by position, a tournament,
    and the configs that made it all.

    Counters are searched for anew, by the effort behind the final figures of each run: seconds for
    the main job, minutes for a champion's folder, which asks for 1,600 kicks. With --starts,
    --anneal-steps or --kicks all get the effort of the first run, so changed. Of games other than
    Hog: curves, the runs' own intervals, payoffs of all against all, and most probable actions.
    """
    from hogeq.pages import report as page
    from hogeq.runs.index import load_runs
    from hogeq.runs.runner import KERNELS
    from hogeq.search.budget import Budget
    from hogeq.support.parameters import plain

    folders = list({os.path.realpath(run): run for run in runs}.values())
    with refusing():
        loaded = load_runs(folders, trust)
    effort = {"starts": starts, "anneal_steps": anneal_steps, "kicks": kicks}
    given: dict[str, Any] = {key: value for key, value in effort.items() if value is not None}
    if loaded[0].game.tree is not None:
        if given or not matrices:
            option = f"--{next(iter(given), 'no-matrices').replace('_', '-')}"
            raise BadInputError(f"{option}: allowed only for Hog; other games' runs have figures")
        return _report_on_tree(loaded, against or [], out, open_)
    chosen = Chosen.of(loaded[0].config.rules, trust)
    chosen.expect("matches", *KERNELS, strategies=[*page.OTHERS, *(against or ())])
    rivals = [(name, chosen.table(name)) for name in against or ()]
    budget = Budget(**plain(page.effort_of(loaded[0])) | given) if given else None
    entries = page.entries(chosen.engine, loaded, rivals, matrices=matrices, budget=budget)
    try:
        with computing(None, jobs):
            made, found = page.make(chosen.engine, loaded, entries)
    except page.ReportError as error:
        raise BadInputError(f"report: {error}") from error
    return _reported(loaded, made, found, chosen.facts, out, open_)


def _report_on_tree(runs: "list[Run]", against: list[str], out: Path, open_: bool) -> Result:
    from hogeq.pages import tree_report

    game, config = runs[0].game, runs[0].config
    with refusing():
        rivals = {name: game.strategy(name) for name in against}
    page, found = tree_report.make(runs, rivals)
    facts = {"game": config.game, **config.how}
    return _reported(runs, page, found, facts, out, open_)


def _reported(
    runs: "list[Run]",
    page: str,
    found: dict[str, Any],
    facts: dict[str, Any],
    out: Path,
    open_: bool,
) -> Result:
    """Write the page of a report, and sum it up."""
    content = page.encode()
    write_whole(out, content)
    named = {"out": out, "bytes": len(content), "runs": [run.name for run in runs]}
    write = runs[0].game.units.ends
    rows = [
        (name, *write(ends["attack"], ends["bound"], are_one=False))
        for name, ends in found["counters"].items()
    ]
    size = f"{len(content) / 1e6:.1f} MB written to {out}"
    text: Text = [Table(rows, ("strategy", "attack", "bound")), "", size]
    return Result({**facts, **named, **found}, [*text, *_opened(out, open_)])


def show(
    strategy: options.Strategy,
    chosen: AnyChosen,
    out: Annotated[
        Path | None, option("Draw to a file. [text in the terminal]", "PNG"), PICTURE, OF_HOG
    ] = None,
) -> Result:
    """Picture of a strategy: its dice by position, or its actions.

    Of a mixture of Hog: its components, and where they differ; of other games: the plans that each
    side draws from.
    """
    game = chosen.load(strategies=[strategy])
    with refusing():
        one = game.strategy(strategy)
    from hogeq import figures
    from hogeq.figures import text

    title = f"{strategy}, {chosen.title}"
    data = {**chosen.facts, "strategy": strategy, "kind": one.kind}
    if game.tree is not None:
        more, lines = text.infosets(one, game.tree)
        if one.kind == "mixture":
            title += ": each side draws a plan before the game"
            more["plans"], lines = text.plans_of_sides(one, game.tree)
        return Result({**data, **more}, [title, "", *lines])
    if one.kind != "mixture":
        more, lines = text.positions(one, game.rules.choices)
        title += ", most probable roll" * (one.kind == "policy" and out is None)
    else:
        from hogeq.evaluation.counterfactual import spread

        apart = spread(one)
        more, lines = text.components(one, game.rules.choices, apart)
        of = f"a mixture of {len(one.weights)} {more['of']}: one is drawn before a game"
        lines.insert(0, "")
    data |= {**more, "out": out}
    if out is None:
        return Result(data, [f"{title}, {of}" if one.kind == "mixture" else title, *lines])
    if one.kind != "matrix":
        chosen.expect("reach", "hidden states")
    with refusing():
        if one.kind == "mixture":
            from numpy import array

            choices, met = game.rules.choices, game.reach(apart.mean).sum(axis=2)
            parts = [game.strategy(part).likeliest for part in one.components]
            usual, spreads = array(choices)[array(parts)], (apart.total, apart.drawn)
            size = game.engine.num_actions
            figures.mixture(one.weights, usual, *spreads, out, title, size, met, min(choices))
        elif one.kind == "policy":
            figures.policy(one, out, title, game.reach(one).sum(axis=2))
        else:
            figures.matrix(one, out, title, game.engine.num_actions)
    return Result(data, [f"drawn to {out}"])
