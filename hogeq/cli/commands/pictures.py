"""Pages that open without a network: board, report; pictures of strategies: show."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import hogeq
from hogeq.cli.inputs import AnyGame, Chosen, default_rules
from hogeq.cli.options import (
    OF_HOG,
    PICTURE,
    SEARCH,
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
from hogeq.support.messages import HogeqError, Table, Text, counted, one_line, printable

if TYPE_CHECKING:
    from hogeq.runs.index import Run
    from hogeq.support.aliases import Floats


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
    opponent_specs = opponent or []
    games = []
    for rules_spec in dict.fromkeys(rules or [default_rules()]):  # each once
        chosen = Chosen.hog(rules_spec, trust)
        hog = chosen.load_hog(strategies=opponent_specs, own_goals=True, start=start)
        from hogeq.pages import board as page

        page.check_work(hog)
        hog.prepare("values", "search", strategies=[*page.OPPONENTS, *opponent_specs])
        strategies = [hog.second.strategy(spec) for spec in opponent_specs]
        names = _opponent_names(opponent_specs, strategies, page.ALWAYS)
        tables = page.opponents(hog, list(zip(names, strategies, strict=True)))
        games.append(page.Shown(hog, chosen.title, tables, chosen.scores))
    content = page.make(games).encode()
    write_whole(out, content)
    data = {
        "bytes": len(content),
        "rules": [entry.game.rules.name for entry in games],
        "opponents": {entry.game.rules.name: list(entry.tables) for entry in games},
    }
    size = f"{len(content) / 1e3:.0f} kB"
    line = f"{counted(len(games), 'game')}, {size} written to {out}"
    return Result(data, [line, *_open_page(out, open_)])


def _opponent_names(
    specs: Sequence[str], strategies: Sequence["hogeq.Strategy"], reserved: Sequence[str]
) -> list[str]:
    """Name the opponents of a page: short names where they are unique, otherwise their specs.

    `specs` are the texts by which the user named the strategies. A short name is the file's or the
    player's. It must not be that of a built-in strategy, or one of the `reserved` names.
    """
    from hogeq.contest.folders import is_builtin

    short_names = [
        Path(spec).name if strategy.name == spec else strategy.name
        for spec, strategy in zip(specs, strategies, strict=True)
    ]
    names = []
    for spec, name in zip(specs, short_names, strict=True):
        is_built_in_name = name not in specs and is_builtin(name)
        is_unique = short_names.count(name) == 1 and name not in reserved
        names.append(name if is_unique and not is_built_in_name else spec)
    return names


def _tree_page(chosen: Chosen, out: Path, open_: bool) -> Result:
    """Write the page of a game other than Hog, which has to have a small tree."""
    from hogeq.pages import tree_page

    with computing():
        game = tree_page.require_small(chosen.load())
        content = tree_page.make(game, chosen.title).encode()
    write_whole(out, content)
    size = f"{counted(game.rows.num_rows, 'information set')}, {len(content) / 1e3:.0f} kB"
    data = {**chosen.facts, "bytes": len(content)}
    return Result(data, [f"{size} written to {out}", *_open_page(out, open_)])


def _open_page(page: Path, is_wanted: bool) -> list[str]:
    """Open a page in a browser if that is wanted; return a line if there is no browser."""
    import webbrowser

    if not is_wanted or webbrowser.open(page.resolve().as_uri()):
        return []
    return [f"no browser was found: open {page} in one"]


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
    from hogeq.pages import report as page
    from hogeq.runs.runner import KERNELS
    from hogeq.support.parameters import plain

    loaded = _load_runs(runs, trust)
    efforts = {"starts": starts, "anneal_steps": anneal_steps, "kicks": kicks}
    effort_options: dict[str, Any] = {
        key: value for key, value in efforts.items() if value is not None
    }
    game = loaded[0].game
    config = loaded[0].config
    if not isinstance(game, hogeq.Hog):
        from hogeq.pages import tree_report

        if effort_options or not matrices:
            option = f"--{next(iter(effort_options), 'no-matrices').replace('_', '-')}"
            raise HogeqError(f"{option}: allowed only for Hog; other games' runs have figures")
        facts = {"game": config.game, **config.how}
        rivals = {name: game.strategy(name) for name in against or ()}
        content, figures_on_page = tree_report.make(loaded, rivals)
    else:
        chosen = Chosen.of(config.rules, trust)
        chosen.hog_game.prepare(
            "matches", *KERNELS, strategies=[*page.BUILT_IN_NAMES, *(against or ())]
        )
        facts = chosen.facts
        tables = [(name, chosen.table(name)) for name in against or ()]
        budget = None  # that of each run
        if effort_options:
            budget = hogeq.Budget(**plain(config.measure.final_effort) | effort_options)
        entries = page.entries(game, loaded, tables, matrices=matrices, budget=budget)
        with computing(None, jobs):
            content, figures_on_page = page.make(game, loaded, entries)
    write_whole(out, content)
    rows = [
        (name, *game.units.ends(ends["attack"], ends["bound"], are_one=False))
        for name, ends in figures_on_page["counters"].items()
    ]
    size = len(content.encode())
    data = {**facts, "bytes": size, "runs": [run.name for run in loaded], **figures_on_page}
    text: Text = [Table(rows, ("strategy", "attack", "bound")), ""]
    line = f"{size / 1e6:.1f} MB written to {out}"
    return Result(data, [*text, line, *_open_page(out, open_)])


def _load_runs(runs: Sequence[Path], trust: bool) -> "list[Run]":
    """Read the runs in folders, each once, also if links lead to it; files are left out."""
    from hogeq.runs.index import load_runs

    distinct_runs = list({os.path.realpath(run): run for run in runs}.values())
    folders = [run for run in distinct_runs if not run.is_file()]
    left_out = [printable(run) for run in distinct_runs if run.is_file()]
    if not folders:
        allowed = "allowed: directories of finished runs, results/cfr say"
        raise HogeqError(f"{left_out[0]}: is a file; {allowed}")
    loaded = load_runs(folders, trust)
    if left_out:  # the pattern RESULTS/* matches the table and the picture of a sweep, too
        warn(f"left out, files and no runs: {one_line(', '.join(left_out))}")
    return loaded


def show(
    strategy: StrategyName,
    chosen: AnyGame,
    out: Annotated[
        Path | None,
        option("Draw to a file. [text in the terminal]", "PNG"),
        Output(PICTURE.suffixes, is_kept=True),
        OF_HOG,
    ] = None,
) -> Result:
    """Picture of a strategy: its dice by position, or its actions.

    Of a mixture of Hog: its components, and where they differ; of other games: the plans that each
    side draws from.
    """
    game = chosen.load(strategies=[strategy])
    shown = game.strategy(strategy).whole()
    title = f"{strategy}, {chosen.title}"
    data = {**chosen.facts, "strategy": strategy, "kind": shown.kind}
    if not chosen.is_hog:
        strategy_data, lines = hogeq.figures.text.infosets(shown, game.rows)
        if shown.kind == "mixture" and hasattr(game, "tree"):
            title += ": each side draws a plan before the game"
            strategy_data["plans"], lines = hogeq.figures.text.plans_of_sides(shown, game.tree)
        return Result({**data, **strategy_data}, [title, "", *lines])
    game = chosen.hog_game
    heading = title
    if shown.kind == "mixture":
        spread = game.spread(shown)
        strategy_data, lines = hogeq.figures.text.components(shown, game.rules.choices, spread)
        num_components = len(shown.weights)
        noun = strategy_data["of"]  # matrices or policies
        heading += f", a mixture of {num_components} {noun}: one is drawn before a game"
        lines.insert(0, "")
    else:
        strategy_data, lines = hogeq.figures.text.positions(shown, game.rules.choices)
        if shown.kind == "policy":
            heading += ", most probable roll"
    data |= strategy_data
    if out is None:
        return Result(data, [heading, *lines])
    if shown.kind != "matrix":
        game.prepare("reach", "hidden states")
    with refusing():
        if shown.kind == "mixture":
            entropies = (spread.total, spread.drawn)
            _draw_mixture(game, shown, spread.mean, entropies, out, title)
        elif shown.kind == "policy":
            hogeq.figures.policy(shown, out, title, game.reach(shown).sum(axis=2))
        else:
            hogeq.figures.matrix(shown, out, title, game.rules.num_actions)
    return Result(data, [f"drawn to {out}"])


def _draw_mixture(
    game: "hogeq.Hog",
    mixture: "hogeq.Strategy",
    mean: "Floats",
    entropies: "tuple[Floats, Floats]",
    out: Path,
    title: str,
) -> None:
    """Draw the components of a mixture of Hog, and where they differ, to a file.

    `mean` (G, G, K) is its mean policy, and `entropies` (G, G) are those of all rolls at a pair of
    scores, and of them what the draw of a component explains.
    """
    from numpy import array

    choices = game.rules.choices
    component_actions = [game.strategy(component).likeliest for component in mixture.components]
    hogeq.figures.mixture(
        mixture.weights,
        array(choices)[array(component_actions)],
        *entropies,
        out,
        title,
        game.rules.num_actions,
        game.reach(mean).sum(axis=2),
        min(choices),
    )
