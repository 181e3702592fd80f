"""Pages that open without a network: board, report; pictures of strategies: show."""

import os
from pathlib import Path
from typing import Annotated, Any

from hogeq.cli.inputs import Chosen, default_rules
from hogeq.cli.options import (
    OF_HOG,
    PICTURE,
    SEARCH,
    AnyRulesName,
    Forget,
    GameName,
    Jobs,
    OpenPage,
    Output,
    PageOut,
    StartOfHog,
    StrategyName,
    Teams,
    Trust,
    argument,
    option,
    readable,
    without,
)
from hogeq.cli.shell import Result, computing, refusing, warn
from hogeq.support.files import write_whole
from hogeq.support.messages import BadInputError, Table, Text, counted, one_line, printable


def board(
    rules: Annotated[
        list[str] | None,
        option(
            "Edition, or YAML file of rule parts (may be repeated). [HOGEQ_RULES or fa25]", "RULES"
        ),
        without("--game"),
    ] = None,
    game_name: GameName = None,
    forget: Forget = None,
    teams: Teams = None,
    out: PageOut = Path("board.html"),
    opponent: Annotated[
        list[str] | None,
        option("A table to play against too (may be repeated).", "S", name="--against --opponent"),
        OF_HOG,
    ] = None,
    start: StartOfHog = None,
    open_: OpenPage = False,
    trust: Trust = False,
) -> Result:
    """Write a page to play and learn on, which needs no network.

    Play against optimal play, seven levels below it, the champion, a table of your own or a friend;
    see the exact win probability of every roll; learn where a game was lost. Of a small game other
    than Hog: its tree, folded, with probabilities and payoffs of an equilibrium, to play against.
    """
    if game_name is not None:
        chosen = Chosen(None, game_name, forget, teams, trust=trust)
        chosen.choose()
        if not chosen.is_hog:
            return _tree_page(chosen, out, open_)
        rules = [game_name]
    given, games = opponent or [], []
    for spec in dict.fromkeys(rules or [default_rules()]):
        chosen = Chosen.hog(spec, trust)
        hog = chosen.load_hog(strategies=given, own_goals=True, start=start)
        from hogeq import BASELINES
        from hogeq.pages import board as page

        page.check_work(hog)
        chosen.expect("values", "search", strategies=[*page.OPPONENTS, *given])
        found = [hog.second.strategy(one) for one in given]
        both = zip(given, found, strict=True)
        names = [Path(spec).name if one.name == spec else one.name for spec, one in both]
        # No player has the name of another, of a built-in, or of those that are always there.
        taken = {
            name for name in names if name not in given and name.partition(":")[0] in BASELINES
        }
        taken |= {name for name in names if names.count(name) > 1 or name in page.ALWAYS}
        more = [
            (spec if name in taken else name, one)
            for name, spec, one in zip(names, given, found, strict=True)
        ]
        with refusing():
            tables = page.opponents(hog, more)
        games.append(page.Shown(hog, chosen.title, tables, chosen.scores))
    try:
        content = page.make(games).encode()
    except page.BoardError as error:
        raise BadInputError(f"board: {error}") from error
    write_whole(out, content)
    data = {
        "bytes": len(content),
        "rules": [one.game.rules.name for one in games],
        "opponents": {one.game.rules.name: list(one.tables) for one in games},
    }
    size = f"{len(content) / 1e3:.0f} kB"
    written = f"{counted(len(games), 'game')}, {size} written to {out}"
    return Result(data, [written, *_opened(out, open_)])


def _tree_page(chosen: Chosen, out: Path, open_: bool) -> Result:
    """Write the page of a game that has a small tree."""
    from hogeq.pages import tree_page

    with refusing(), computing():
        game = tree_page.require_small(chosen.load())
        content = tree_page.make(game, chosen.title).encode()
    write_whole(out, content)
    written = f"{counted(game.rows.num_rows, 'information set')}, {len(content) / 1e3:.0f} kB"
    data = {**chosen.facts, "bytes": len(content)}
    return Result(data, [f"{written} written to {out}", *_opened(out, open_)])


def _opened(page: Path, wanted: bool) -> list[str]:
    """Open a page in a browser, if wanted; a line if there is none."""
    import webbrowser

    is_open = not wanted or webbrowser.open(page.resolve().as_uri())
    return [] if is_open else [f"no browser was found: open {page} in one"]


def report(
    runs: Annotated[
        list[Path], argument("RUN", "Directories of finished runs.", callback=readable)
    ],
    out: PageOut = Path("report.html"),
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
    open_: OpenPage = False,
    jobs: Jobs = None,
    trust: Trust = False,
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
    from hogeq import Budget, Hog
    from hogeq.pages import report as page
    from hogeq.runs.index import load_runs
    from hogeq.runs.runner import KERNELS
    from hogeq.support.parameters import plain

    given_runs = list({os.path.realpath(run): run for run in runs}.values())
    folders = [run for run in given_runs if not run.is_file()]
    left_out = [printable(run) for run in given_runs if run.is_file()]
    if not folders:
        allowed = "allowed: directories of finished runs, results/cfr say"
        raise BadInputError(f"{left_out[0]}: is a file; {allowed}")
    with refusing():
        loaded = load_runs(folders, trust)
    if left_out:  # RESULTS/* names the table and the picture of a sweep, too
        warn(f"left out, files and no runs: {one_line(', '.join(left_out))}")
    effort = {"starts": starts, "anneal_steps": anneal_steps, "kicks": kicks}
    given: dict[str, Any] = {key: value for key, value in effort.items() if value is not None}
    game, config = loaded[0].game, loaded[0].config
    if not isinstance(game, Hog):
        from hogeq.pages import tree_report

        if given or not matrices:
            option = f"--{next(iter(given), 'no-matrices').replace('_', '-')}"
            raise BadInputError(f"{option}: allowed only for Hog; other games' runs have figures")
        facts = {"game": config.game, **config.how}
        with refusing():
            rivals = {name: game.strategy(name) for name in against or ()}
        content, found = tree_report.make(loaded, rivals)
    else:
        chosen = Chosen.of(config.rules, trust)
        chosen.expect("matches", *KERNELS, strategies=[*page.OTHERS, *(against or ())])
        facts, tables = chosen.facts, [(name, chosen.table(name)) for name in against or ()]
        budget = Budget(**plain(page.effort_of(loaded[0])) | given) if given else None
        entries = page.entries(game, loaded, tables, matrices=matrices, budget=budget)
        try:
            with computing(None, jobs):
                content, found = page.make(game, loaded, entries)
        except page.ReportError as error:
            raise BadInputError(f"report: {error}") from error
    write_whole(out, content)
    rows = [
        (name, *game.units.ends(ends["attack"], ends["bound"], are_one=False))
        for name, ends in found["counters"].items()
    ]
    size = len(content.encode())
    data = {**facts, "bytes": size, "runs": [run.name for run in loaded], **found}
    text: Text = [Table(rows, ("strategy", "attack", "bound")), ""]
    written = f"{size / 1e6:.1f} MB written to {out}"
    return Result(data, [*text, written, *_opened(out, open_)])


def show(
    strategy: StrategyName,
    rules_name: AnyRulesName = None,
    game_name: GameName = None,
    forget: Forget = None,
    teams: Teams = None,
    out: Annotated[
        Path | None,
        option("Draw to a file. [text in the terminal]", "PNG"),
        Output(PICTURE.suffixes, is_kept=True),
        OF_HOG,
    ] = None,
    trust: Trust = False,
) -> Result:
    """Picture of a strategy: its dice by position, or its actions.

    Of a mixture of Hog: its components, and where they differ; of other games: the plans that each
    side draws from.
    """
    chosen = Chosen(rules_name, game_name, forget, teams, trust=trust)
    game = chosen.load(strategies=[strategy])
    with refusing():
        one = game.strategy(strategy).whole()
    from hogeq import Hog, figures

    title = f"{strategy}, {chosen.title}"
    data = {**chosen.facts, "strategy": strategy, "kind": one.kind}
    if not isinstance(game, Hog):
        more, lines = figures.text.infosets(one, game.rows)
        if one.kind == "mixture" and hasattr(game, "tree"):
            title += ": each side draws a plan before the game"
            more["plans"], lines = figures.text.plans_of_sides(one, game.tree)
        return Result({**data, **more}, [title, "", *lines])
    if one.kind != "mixture":
        more, lines = figures.text.positions(one, game.rules.choices)
        title += ", most probable roll" * (one.kind == "policy" and out is None)
    else:
        apart = game.spread(one)
        more, lines = figures.text.components(one, game.rules.choices, apart)
        of = f"a mixture of {len(one.weights)} {more['of']}: one is drawn before a game"
        lines.insert(0, "")
    data |= more
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
            size = game.rules.num_actions
            figures.mixture(one.weights, usual, *spreads, out, title, size, met, min(choices))
        elif one.kind == "policy":
            figures.policy(one, out, title, game.reach(one).sum(axis=2))
        else:
            figures.matrix(one, out, title, game.rules.num_actions)
    return Result(data, [f"drawn to {out}"])
