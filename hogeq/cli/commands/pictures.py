"""Pages that open without a network: board, report; pictures of strategies: show."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from hogeq.cli import options
from hogeq.cli.inputs import AnyChosen, Chosen, default_rules
from hogeq.cli.options import PAGE, PICTURE, SEARCH, argument, option
from hogeq.cli.result import Result
from hogeq.cli.shell import computing, refusing
from hogeq.support.files import write_whole
from hogeq.support.messages import BadInputError, Table, Text, counted, percent

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hogeq.rules import Rules
    from hogeq.runs.index import Run
    from hogeq.strategies.strategy import Strategy
    from hogeq.trees.flat import FlatTree


Open = Annotated[bool, option("Open the page in a browser.", name="--open")]


def board(
    rules: Annotated[
        list[str] | None,
        option("Edition, or YAML file of rule parts (may be repeated). [HOGEQ_RULES or su20]"),
    ] = None,
    out: Annotated[Path, option("A name ending in .html.", "FILE"), PAGE] = Path("board.html"),
    opponent: Annotated[
        list[str] | None, option("A table to play against too (may be repeated).", "S")
    ] = None,
    start: options.Start = None,
    open_: Open = False,
    trust: options.Trust = False,
) -> Result:
    """One self-contained page to play Hog on, which opens without a network.

    Play against best play, the champion, a table of your own or a friend; see the exact win
    probability of every roll; learn where a game was lost.
    """
    from hogeq.baselines.registry import is_builtin
    from hogeq.pages import board as page
    from hogeq.pages.board import BoardError, check_work

    given = opponent or []
    games = []
    for spec in dict.fromkeys(rules or [default_rules()]):
        chosen = Chosen(spec, trust=trust)
        game = chosen.load(own_goals=True)
        check_work(chosen.engine)
        chosen.expect("full memory", "reach", strategies=[*page.OPPONENTS, *given])
        found = [game.second.strategy(one) for one in given]
        both = zip(given, found, strict=True)
        names = [Path(spec).name if one.name == spec else one.name for spec, one in both]
        # No player has the name of another, of a built-in, or of those that are always there.
        taken = {name for name in names if name not in given and is_builtin(name)}
        taken |= {name for name in names if names.count(name) > 1 or name in page.ALWAYS}
        more = [
            (spec if name in taken else name, one.array)
            for name, spec, one in zip(names, given, found, strict=True)
        ]
        with refusing():
            tables = page.opponents(chosen.engine, more)
        games.append(page.Shown(chosen.engine, chosen.title, tables, chosen.start(start)))
    try:
        content = page.make(games).encode()
    except BoardError as error:
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
    runs: Annotated[list[Path], argument("RUN ...", "Directories of finished runs.")],
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
    """One self-contained page to explore runs of one game, which opens without a network.

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
    rivals = [(name, chosen.table(name).array) for name in against or ()]
    budget = Budget(**plain(page.effort_of(loaded[0])) | given) if given else None
    entries = page.entries(chosen.engine, loaded, rivals, matrices=matrices, budget=budget)
    try:
        with computing(None, jobs):
            made = page.make(chosen.engine, loaded, entries)
    except page.ReportError as error:
        raise BadInputError(f"report: {error}") from error
    content = made.html.encode()
    write_whole(out, content)
    counters: dict[str, Any] = {
        name: {"attack": search.value, "bound": search.bound}
        for name, search in made.counters.items()
    }
    data = {
        **chosen.facts,
        "out": out,
        "bytes": len(content),
        "runs": [run.name for run in loaded],
        "counters": counters,
        "entries": made.names,
        "win_rates": made.win_rates.tolist(),
    }
    rows = [(name, *map(percent, ends.values())) for name, ends in counters.items()]
    size = f"{len(content) / 1e6:.1f} MB written to {out}"
    text: Text = [Table(rows, ("strategy", "attack", "bound")), "", size]
    return Result(data, [*text, *_opened(out, open_)])


def _report_on_tree(runs: "list[Run]", against: list[str], out: Path, open_: bool) -> Result:
    from hogeq.pages import tree_report

    game, config = runs[0].game, runs[0].config
    with refusing():
        rivals = {name: game.strategy(name) for name in against}
    page, found = tree_report.make(runs, rivals)
    content = page.encode()
    write_whole(out, content)
    named = {"out": out, "bytes": len(content), "runs": [run.name for run in runs]}
    data = {"game": config.game, **config.how, **named, **found}
    rows = [
        (name, *game.units.ends(ends["attack"], ends["bound"], are_one=False))
        for name, ends in found["counters"].items()
    ]
    size = f"{len(content) / 1e6:.1f} MB written to {out}"
    text: Text = [Table(rows, ("strategy", "attack", "bound")), "", size]
    return Result(data, [*text, *_opened(out, open_)])


ROLLS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"  # one letter a roll

MINUS_ONE = "x"

SHOWN = 100  # information sets of the text; JSON has all

PLANS = 8  # of each side, in the text

AXES = "own score upward, opponent's score to the right"


def show(
    strategy: options.Strategy,
    chosen: AnyChosen,
    out: Annotated[
        Path | None, option("Draw to a file. [text in the terminal]", "PNG"), PICTURE
    ] = None,
) -> Result:
    """Picture of a strategy: the dice it rolls at every position, or its actions elsewhere.

    Of a mixture of Hog: its components, and where they differ; of other games: the plans that each
    side draws from.
    """
    game = chosen.load(strategies=[strategy])
    with refusing():
        one = game.strategy(strategy)
    if game.tree is not None:
        return _of_tree(chosen, game.tree, one, strategy)
    if out is not None and one.kind != "matrix":
        chosen.expect("reach", "hidden states")
    if one.kind == "mixture":
        return _of_mixture(chosen, one, out, strategy)
    counts = {
        choice: int((one.likeliest == action).sum())
        for action, choice in enumerate(game.rules.choices)
    }
    data = {
        **chosen.facts,
        "strategy": strategy,
        "kind": one.kind,
        "positions_by_roll": counts,
        "out": out,
    }
    if out is not None:
        from hogeq import figures

        title = f"{strategy}, {chosen.title}"
        with refusing():
            if one.kind == "policy":
                figures.policy(one, out, title, game.reach(one).sum(axis=2))
            else:
                figures.matrix(one, out, title, game.engine.num_actions)
        return Result(data, [f"drawn to {out}"])
    most = ", most probable roll" if one.kind == "policy" else ""
    rows = [(roll, count, percent(count / game.rules.size**2)) for roll, count in counts.items()]
    heading = f"{strategy}, {chosen.title}{most}"
    shares = Table(rows, ("dice", "positions", "share"), left=0)
    drawn = _map(one.likeliest, game.rules)
    return Result(data, [heading, *_axes(chosen.rules), "", *drawn, "", shares])


def _of_tree(chosen: Chosen, tree: "FlatTree", strategy: "Strategy", name: str) -> Result:
    """List the actions of every information set, in the game's words."""
    rows = [
        {
            "player": seat,
            "infoset": str(infoset),
            "actions": list(zip(labels, shares, strict=False)),
        }
        for seat, infoset, labels, shares in zip(
            tree.seat.tolist(), tree.names, tree.labels, strategy.mean.tolist(), strict=True
        )
    ]
    data = {**chosen.facts, "strategy": name, "kind": strategy.kind, "rows": rows}
    if strategy.kind == "mixture":
        return _of_plans(data, chosen, tree, strategy)
    text = [
        (
            row["player"],
            row["infoset"],
            ", ".join(f"{action} {percent(share)}" for action, share in row["actions"]),
        )
        for row in rows[:SHOWN]
    ]
    table = Table(text, ("player", "information set", "actions"), left=3)
    return Result(data, [f"{name}, {chosen.title}", "", table, *_more(len(rows), "rows")])


def _more(many: int, what: str, shown: int = SHOWN) -> list[str]:
    return [f"and {many - shown:,} more {what}; --json has all"] if many > shown else []


def _of_plans(
    data: dict[str, Any], chosen: Chosen, tree: "FlatTree", strategy: "Strategy"
) -> Result:
    """List what each plan of each side does at the information sets that it comes to."""
    from hogeq.trees.plans import plans
    from hogeq.trees.teams import teams_of

    def cell(actions: dict[str, float]) -> str:
        if len(actions) == 1:
            return next(iter(actions))
        return " or ".join(f"{name} {percent(share)}" for name, share in actions.items()) or "."

    sides = ["player 0", "player 1"]
    if tree.sides is not None:
        sides = [f"team {players}" for players in teams_of(tree.sides).split("/")]
    text: Text = [f"{data['strategy']}, {chosen.title}: each side draws a plan before the game"]
    data["plans"] = []
    for side in (0, 1):
        drawn = plans(tree, strategy, side)
        met = [row for row in range(tree.num_rows) if any(one.policy[row].any() for one in drawn)]
        data["plans"] += [
            {
                "player": side,
                "probability": one.probability,
                "actions": {
                    str(tree.names[row]): actions
                    for row in met
                    if (actions := one.actions(tree, row))
                },
            }
            for one in drawn
        ]
        if not met:
            continue
        shown = drawn[:PLANS]
        lines = [
            (str(tree.names[row]), *(cell(one.actions(tree, row)) for one in shown))
            for row in met[:SHOWN]
        ]
        header = (f"{sides[side]} draws", *(percent(one.probability) for one in shown))
        text += ["", Table(lines, header, left=len(header)), *_more(len(met), "rows")]
        text += _more(len(drawn), "plans", PLANS)
    return Result(data, text)


def _of_mixture(chosen: Chosen, strategy: "Strategy", out: Path | None, name: str) -> Result:
    import numpy as np

    from hogeq.evaluation.counterfactual import entropy, spread
    from hogeq.strategies.arrays import one_hot

    engine, weights = chosen.engine, strategy.weights
    apart = spread(strategy)
    policies, of = strategy.components, "policies"
    if strategy.is_pure:
        policies, of = one_hot(policies, engine.num_actions), "matrices"
    likeliest = policies.argmax(axis=3)
    differ = (likeliest != likeliest[0]).any(axis=0)
    parts = [
        {
            "weight": weight,
            "entropy": float(entropy(policy).mean()),
            "distance": float(abs(policy - apart.mean).sum(axis=2).mean() / 2.0),
        }
        for weight, policy in zip(weights.tolist(), policies, strict=True)
    ]
    data = {
        **chosen.facts,
        "strategy": name,
        "kind": "mixture",
        "of": of,
        "parts": parts,
        "entropy": float(apart.total.mean()),
        "entropy_of_draw": float(apart.drawn.mean()),
        "positions": engine.goal**2,
        "positions_where_parts_differ": int(differ.sum()),
        "out": out,
    }
    if out is not None:
        from hogeq import figures

        met = chosen.game.reach(apart.mean).sum(axis=2)
        title, rolls = f"{name}, {chosen.title}", engine.num_actions
        usual = np.array(engine.choices)[likeliest]
        entropies = apart.total, apart.drawn
        figures.mixture(weights, usual, *entropies, out, title, rolls, met, min(engine.choices))
        return Result(data, [f"drawn to {out}"])
    rows = [
        (number, percent(part["weight"]), f"{part['entropy']:.3f}", f"{part['distance']:.3f}")
        for number, part in enumerate(parts, 1)
    ]
    header = ("component", "drawn", "entropy of its rolls, bits", "distance from the mean")
    text: Text = [
        f"{name}, {chosen.title}, a mixture of {len(weights)} {of}: one is drawn before a game",
        "",
        Table(rows, header, left=0),
        "",
        (
            f"entropy of a roll, mean over positions: {data['entropy']:.3f} bits, "
            f"of which the draw decides {data['entropy_of_draw']:.3f}"
        ),
        (
            f"the most probable rolls of the components differ at {differ.sum()} of {differ.size} "
            "positions"
        ),
        "",
        "most probable roll of the mean; - where the components do not agree on theirs",
        *_axes(chosen.rules),
        "",
        *_map(apart.mean.argmax(axis=2), chosen.rules, differ),
    ]
    return Result(data, text)


def _axes(rules: "Rules") -> list[str]:
    return [AXES, *[f"{MINUS_ONE} is the choice -1"] * (-1 in rules.choices)]


def _map(likely: "NDArray[Any]", rules: "Rules", hidden: "NDArray[Any] | None" = None) -> list[str]:
    """One letter a position, the highest own score on top; a dash where `hidden`."""
    width = len(str(len(likely) - 1))
    used = ROLLS[: rules.max_dice + 1] + MINUS_ONE
    letters = [[used[roll] for roll in row] for row in likely.tolist()]
    for own, other in () if hidden is None else zip(*hidden.nonzero(), strict=True):
        letters[own][other] = "-"
    rows = [f"{own:{width}} {''.join(letters[own])}" for own in reversed(range(len(likely)))]
    scale = "".join(f"{other:<10}" for other in range(0, len(likely), 10))
    return [*rows, f"{'':{width}} {scale}".rstrip()]
