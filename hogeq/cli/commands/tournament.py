"""Exact win rates: of two strategies (compare), of many against each other (tournament)."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from hogeq.cli import options
from hogeq.cli.inputs import AnyChosen, Chosen, check_output
from hogeq.cli.options import ENTRIES, FOLDER, OF_HOG, PAGE, Output, argument, beside, option
from hogeq.cli.shell import Result, computing, json_text, refusing
from hogeq.support.files import write_whole
from hogeq.support.messages import BadInputError, Table, Text, percent
from hogeq.support.progress import phase

if TYPE_CHECKING:
    from hogeq.contest.entries import Entries
    from hogeq.game import Game
    from hogeq.model.protocol import WinRate

FULL_MEMORY = "full_memory"

NoSandbox = Annotated[
    bool,
    option("Run code of a folder though nothing isolates it.", None, "--no-sandbox", options.CODE),
    beside("--trust"),
]


def compare(
    a: Annotated[str, argument("A", "A strategy: name, file or run.")],
    b: Annotated[str, argument("B", "The other.")],
    chosen: AnyChosen,
    start: Annotated[options.Start, OF_HOG] = None,
) -> Result:
    """Exact win rate of A against B.

    full_memory is optimal play by players with full memory.
    With a goal for each player, goal: [50, 65], the first is A's and the second B's.
    """
    game = chosen.load("matches", strategies=[a, b], own_goals=True, start=start)
    more: Text = []
    if game.tree is not None:
        with refusing():
            found = game.value(a, b)
        rates = {"payoff": found.mean, "first": found.first, "second": found.second}
        names = ("payoff", "as player 0", "as player 1")
        figures = [game.units.exact(rate) for rate in rates.values()]
    else:
        rates = _win_rate(game, a, b, None if start is None else chosen.scores)._asdict()
        names = ("win rate", "moving first", "moving second")
        figures = [percent(rate) for rate in rates.values()]
        if chosen.engine.has_own_goals:
            more = ["", "the goals are A's and B's: {} and {}".format(*game.rules.goals)]
        if _remembers(game, a, b):
            more += ["", f"{FULL_MEMORY} remembers what a strategy may not see"]
    begins = "" if start is None else f", from {start}"
    rows = list(zip(names, figures, strict=True))
    data = {**chosen.facts, "a": a, "b": b, **rates}
    return Result(data, [f"{a} against {b}, {chosen.title}{begins}", "", Table(rows), *more])


def _remembers(game: "Game", a: str, b: str) -> bool:
    return len(game.memories) > 1 and FULL_MEMORY in {a, b}


def _win_rate(game: "Game", a: str, b: str, start: tuple[int, int] | None) -> "WinRate":
    from hogeq.model.protocol import WinRate

    if not _remembers(game, a, b):
        return game.win_rate(a, b, start or (0, 0))
    if start is not None:
        raise BadInputError(f"--start: allowed without {FULL_MEMORY}")
    with refusing():
        if a == b:
            return WinRate.from_starts(game.tablebase().value, game.second.tablebase().value)
        if a == FULL_MEMORY:
            return game.tablebase().against(game.second.strategy(b))
        return game.second.tablebase().against(game.strategy(a)).reversed()


def tournament(
    entries: Annotated[
        list[str],
        argument("S", "Strategies: names, files, runs, folders, patterns ('entries/*.csv')."),
    ],
    chosen: Chosen,
    skip_bad: Annotated[
        bool, option("Leave out, and list, bad files.", name="--skip-bad"), ENTRIES
    ] = False,
    ranks: Annotated[
        Path | None, option("Write the table of ranks.", "FILE", "--csv"), Output((".csv",))
    ] = None,
    page: Annotated[
        Path | None, option("Write a page: ranks to sort, all win rates.", "FILE", "--html"), PAGE
    ] = None,
    out: Annotated[
        Path | None,
        option("Write all win rates, .csv or .json; of a folder, a folder of pages.", "FILE"),
    ] = None,
    pseudonyms: Annotated[
        bool, option("No names on public pages.", name="--pseudonyms"), FOLDER
    ] = False,
    plot: options.Plot = None,
    start: options.Start = None,
    goals: Annotated[
        Path | None, option("A goal for each entry: lines entry,goal.", "FILE")
    ] = None,
    threshold: Annotated[
        float, option("A match is won by a win rate above this.", min=0.5, max=0.999999)
    ] = 0.500001,
    tie_break: Annotated[
        str | None,
        option("Of as many matches won the higher win rate against S ranks first.", "S|bytes"),
    ] = None,
    time_limit: options.TimeLimit = 60.0,
    no_sandbox: NoSandbox = False,
    jobs: options.Jobs = None,
    on: options.On = None,
) -> Result:
    """All-play-all: win rates, matches won, ranks of the contest.

    JSON has the field's Nash equilibrium, too.

    A file is one entry, however often it is met. Output files are never read as entries of a folder
    or a pattern, so that the same command can be given again.

    Staff of a contest: tournament DIR --out FOLDER takes a folder for each student, or files, and
    leaves out invalid ones. FOLDER/public is for everybody: a page and ranks.csv, with names of
    players alone (--pseudonyms: without). FOLDER/staff is not: names of students, invalid entries,
    and a page for each entrant. The same command again computes only new matches.

    With --goals each entry has its own goal, that of the rules at most and unless the file names
    it. Each cell of a table is still dice by own and opponent's score. With --out FOLDER entries
    are named as in the column student of staff/ranks.csv.

    Equals share a rank, unless --tie-break tells them apart: by the win rate against a strategy,
    always_roll:5 say, or by bytes, where the smaller file ranks first.

    JSON: rules, and the keys of `hogeq.contest.ranking.Ranking.to_json`.
    """
    is_folder = out is not None and not out.suffix
    if not is_folder:
        check_output(out, (".csv", ".json"), reads=[*entries, chosen.spec])
    chosen.choose(entries)
    from hogeq.baselines.registry import solves

    parts = ["matches", *["full memory"] * any(map(solves, entries))]
    engine = chosen.load(*parts, start=start).hog
    from hogeq.contest.entries import read_goals
    from hogeq.contest.ranking import Ranking
    from hogeq.contest.staff import Contest
    from hogeq.contest.tournament import round_robin
    from hogeq.strategies.sandbox import require_isolation

    own_goals, made = None, []
    written = [path for path in (ranks, page, plot) if path is not None]
    scores, contest = chosen.scores, None
    with computing(on, jobs):
        if out is not None and is_folder:
            with refusing():
                contest = Contest(_only_folder(entries), out, engine, scores, goals, written)
            if chosen.trust and contest.has_code and not no_sandbox:
                require_isolation()
            field = contest.judge(chosen.trust, time_limit)
            rates, own_goals = contest.play(field), contest.goals
        else:
            written += [] if out is None else [out]
            field = _read(entries, written, chosen, skip_bad, time_limit, no_sandbox)
            count = len(field.entries)
            with phase("tournament", count * (count - 1) // 2, "matches") as progress, refusing():
                own_goals = read_goals(goals, field.entries, engine.goal)
                rates = round_robin(
                    engine, field.strategies, progress.step, start=scores, goals=own_goals
                )
        folder = Path(entries[0]) if contest is not None else Path()
        broken = _tie_break(chosen, field, tie_break, scores, folder)
        found = Ranking(field, rates, scores, threshold, own_goals, tie_break, broken)
        data = {**chosen.facts, **found.to_json()}
        if contest is not None:
            from hogeq.pages.contest import write_contest

            made = ["", *write_contest(contest, data, chosen.title, pseudonyms)]
    if ranks is not None:
        write_whole(ranks, found.ranks_csv())
    if page is not None:
        from hogeq.pages.field import field_page

        write_whole(page, field_page({**data, "rules": chosen.title}, found.names))
    if out is not None and not is_folder:
        is_csv = out.suffix.lower() == ".csv"
        write_whole(out, found.rates_csv() if is_csv else f"{json_text(data, 1)}\n")
    if plot is not None:
        from hogeq import figures

        figures.win_rates(rates, found.names, plot, chosen.title)
    return Result(data, [*found.text(chosen.title), *made, *chosen.endless])


def _only_folder(entries: Sequence[str]) -> Path:
    if len(entries) != 1 or not Path(entries[0]).is_dir():
        raise BadInputError("tournament: --out FOLDER: allowed for one folder of submissions")
    return Path(entries[0])


def _read(
    named: Sequence[str],
    written: Sequence[Path],
    chosen: Chosen,
    skip_bad: bool,
    time_limit: float,
    no_sandbox: bool,
) -> "Entries":
    from hogeq.contest.entries import folder_of, named_entries, read_field
    from hogeq.strategies.sandbox import require_isolation

    with refusing():
        entries = named_entries(named, written)
    if len(entries) < 2:
        raise BadInputError(
            f"tournament: {len(entries)} strategy given; allowed: 2 or more, and a file counts once"
        )
    others = [one for one in entries if folder_of(one, named) is not None]
    if chosen.trust and not no_sandbox and any(one.lower().endswith(".py") for one in others):
        require_isolation()
    with phase("reading", len(entries), "files") as progress:
        field = read_field(
            chosen.engine,
            entries,
            chosen.trust,
            lambda _: progress.step(),
            skip_bad=skip_bad,
            time_limit=time_limit,
            named=named,
        )
    if field.refused and not skip_bad:
        reasons = "; ".join(one.reason for one in field.refused)
        skip = "; --skip-bad leaves out what cannot be read" if len(entries) > 2 else ""
        raise BadInputError(f"{reasons}{skip}")
    if len(field.entries) < 2:
        first = field.refused[0].reason
        raise BadInputError(
            f"tournament: {len(field.entries)} of {len(entries)} files can be read; allowed: 2 or "
            f"more; {first}"
        )
    return field


def _tie_break(
    chosen: Chosen, field: "Entries", by: str | None, start: tuple[int, int], folder: Path
) -> list[float] | None:
    """Give each entry's number to break ties by; the higher ranks first."""
    if by is None:
        return None
    if by == "bytes":
        from hogeq.strategies.files import file_size

        with refusing():
            return [-float(file_size(folder / entry)) for entry in field.entries]
    game = chosen.game
    with refusing():
        rival = game.strategy(by, trust=chosen.trust)
        rates = [game.win_rate(one, rival, start).win_rate for one in field.strategies]
    return [round(rate, 12) for rate in rates]  # what differs by rounding is a tie
