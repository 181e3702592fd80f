"""Exact win rates: of two strategies (compare), of many against each other (tournament)."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import hogeq
from hogeq.cli.inputs import AnyGame, Chosen, HogGame, check_output
from hogeq.cli.options import (
    CODE,
    ENTRIES,
    FOLDER,
    PAGE,
    ComputeOn,
    Jobs,
    Output,
    Plot,
    Start,
    StartOfHog,
    TimeLimit,
    argument,
    beside,
    option,
    readable,
)
from hogeq.cli.shell import Result, computing
from hogeq.support.files import json_text, write_whole
from hogeq.support.messages import HogeqError, Table, Text

if TYPE_CHECKING:
    from hogeq.contest.entries import Entries
    from hogeq.contest.folders import Entrant
    from hogeq.contest.ranking import Ranking
    from hogeq.contest.roster import Grades
    from hogeq.contest.staff import Contest

FULL_MEMORY = "full_memory"  # name of optimal play by players who remember everything


def compare(
    a: Annotated[str, argument("A", "A strategy: name, file or run.")],
    b: Annotated[str, argument("B", "The other.")],
    chosen: AnyGame,
    start: StartOfHog = None,
) -> Result:
    """Exact win rate of A against B.

    full_memory is optimal play by players with full memory.
    With a goal for each player, goal: [50, 65], the first is A's and the second B's.
    """
    game = chosen.load(kernels=["matches"], strategies=[a, b], own_goals=True, start=start)
    notes: Text = []
    if not chosen.is_hog:
        value = game.value(a, b)
        numbers = value.to_json(game.units)
        texts = value.written(game.units)
        names = ("payoff", "as player 0", "as player 1")
    else:
        game = chosen.hog_game
        rates = _win_rate(game, a, b, None if start is None else chosen.scores)
        names = ("win rate", "moving first", "moving second")
        numbers = dict(zip(("win_rate", "first", "second"), rates, strict=True))
        texts = [game.units.exact(rate) for rate in rates]
        if isinstance(game.rules.goal, tuple):
            notes = ["", "the goals are A's and B's: {} and {}".format(*game.rules.goals)]
        if _has_full_memory_player(game, a, b):
            notes += ["", f"{FULL_MEMORY} remembers what a strategy may not see"]
    data = {**chosen.facts, "a": a, "b": b, **numbers}
    rows = list(zip(names, texts, strict=True))
    start_text = "" if start is None else f", from {start}"
    heading = f"{a} against {b}, {chosen.title}{start_text}"
    return Result(data, [heading, "", Table(rows), *notes])


def _has_full_memory_player(game: "hogeq.Hog", a: str, b: str) -> bool:
    """Whether a player remembers something that the strategies of the game cannot."""
    return len(game.memories) > 1 and FULL_MEMORY in {a, b}


def _win_rate(game: "hogeq.Hog", a: str, b: str, start: tuple[int, int] | None) -> "hogeq.WinRate":
    """Win rate of a strategy against another, either of which may be optimal play with memory."""
    if not _has_full_memory_player(game, a, b):
        return game.win_rate(a, b, start or (0, 0))
    if start is not None:
        raise HogeqError(f"--start: allowed without {FULL_MEMORY}")
    if a == b:  # each value is of the player who moves first
        return hogeq.WinRate.from_starts(game.tablebase().value, game.second.tablebase().value)
    if a == FULL_MEMORY:
        return game.tablebase().against(game.second.strategy(b))
    return game.second.tablebase().against(game.strategy(a)).reversed()


def tournament(
    entries: Annotated[
        list[str],
        argument("S", "Strategies: names, files, runs, folders, patterns ('entries/*.csv')."),
    ],
    chosen: HogGame,
    skip_bad: Annotated[
        bool, option("Leave out, and list, bad files.", name="--skip-bad"), ENTRIES
    ] = False,
    ranks: Annotated[
        Path | None, option("Write the table of ranks.", "FILE", name="--csv"), Output((".csv",))
    ] = None,
    page: Annotated[
        Path | None,
        option("Write a page: ranks to sort, all win rates.", "FILE", name="--html"),
        PAGE,
    ] = None,
    out: Annotated[
        Path | None,
        option("Write all win rates, .csv or .json; of a folder, a folder of pages.", "FILE"),
    ] = None,
    pseudonyms: Annotated[
        bool, option("No names on public pages.", name="--pseudonyms"), FOLDER
    ] = False,
    title: Annotated[
        str | None, option("Heading of the pages.", "TEXT"), beside("--html", "--out")
    ] = None,
    plot: Plot = None,
    start: Start = None,
    goals: Annotated[
        Path | None, option("A goal for each entry: lines entry,goal.", "FILE")
    ] = None,
    roster: Annotated[
        Path | None,
        option("Students: account,name,group. Writes staff/grades.csv.", "FILE", callback=readable),
        FOLDER,
    ] = None,
    points: Annotated[
        str | None,
        option("Points, as 'valid = 1; rank 10 = 2; boar 50 % = 1'. [the roster's]", "RULE"),
        beside("--roster"),
    ] = None,
    threshold: Annotated[
        float, option("A match is won by a win rate above this.", min=0.5, max=0.999999)
    ] = 0.500001,
    tie_break: Annotated[
        str | None,
        option("Of as many matches won the higher win rate against S ranks first.", "S|bytes"),
    ] = None,
    time_limit: TimeLimit = 60.0,
    no_sandbox: Annotated[
        bool,
        option("Run code of a folder though nothing isolates it.", group=CODE, name="--no-sandbox"),
        beside("--trust"),
    ] = False,
    jobs: Jobs = None,
    on: ComputeOn = None,
) -> Result:
    """All-play-all: win rates, matches won, ranks of the contest.

    JSON has the field's Nash equilibrium, too.

    A file is one entry, however often it is met. Output files are never read as entries of a folder
    or a pattern, so that the same command can be given again.

    Staff of a contest: tournament DIR --out FOLDER takes a folder for each student, or files, and
    leaves out invalid ones. FOLDER/public is for everybody: a page and ranks.csv, with names of
    players alone; --pseudonyms leaves them out, of --csv, --html and --plot too. FOLDER/staff is
    not: names of students, invalid entries, and a page for each entrant. The same command again
    computes only new matches.

    DIR may be the zip, or the folder, that Gradescope or Canvas (bCourses) hands out. With --roster
    a group has one entry, a table that several hand in plays once, and staff/grades.csv has points
    for the gradebook.

    With --goals each entry has its own goal, at most that of the rules, which those have that the
    file leaves out. Each cell of a table is still dice by own and opponent's score. With --out
    FOLDER entries are named as in the column student of staff/ranks.csv.

    Equals share a rank, unless --tie-break tells them apart: by the win rate against a strategy,
    always_roll:5 say, or by bytes, where the smaller file ranks first.

    JSON: rules, and the keys of `hogeq.contest.ranking.Ranking.to_json`.
    """
    is_folder = out is not None and not out.suffix  # of the pages of a contest
    if not is_folder:
        check_output(out, (".csv", ".json"), reads=[*entries, *filter(None, [chosen.spec])])
    chosen.choose(entries)
    game = chosen.load_hog(start=start)
    game.prepare("matches", strategies=entries)
    from hogeq.contest.ranking import Ranking
    from hogeq.contest.staff import Contest
    from hogeq.support.sandbox import require_isolation

    lines: list[str] = []  # notes on the files that are written
    scores = chosen.scores
    folder = out if is_folder else None
    outputs = [path for path in (ranks, page, plot, out) if path is not None]
    with computing(on, jobs), tempfile.TemporaryDirectory(prefix="hogeq-contest-") as unpacked:
        entrants, grades = _list_entrants(entries, folder, outputs, Path(unpacked), roster, points)
        contest = Contest(entrants, game, folder, scores, goals)
        # Code from a folder may be of many people.
        has_foreign_code = any(entrant.is_code and entrant.folder for entrant in entrants)
        if chosen.trust and not no_sandbox and has_foreign_code:
            require_isolation()
        field = contest.judge(chosen.trust, time_limit, skip_bad=skip_bad or is_folder)
        field = grades.count_once(contest) if grades else field
        field.require(skip_bad=skip_bad or is_folder)
        rates = contest.play(field)
        tie_numbers = _tie_break_numbers(chosen, contest, field, tie_break)
        ranking = Ranking.of(field, rates, scores, threshold, contest.goals, tie_break, tie_numbers)
        data = {**chosen.facts, **ranking.to_json()}
        if folder is not None:
            from hogeq.pages.contest import write_contest

            lines = write_contest(
                contest, folder, ranking, chosen.title, pseudonyms=pseudonyms, title=title
            )
            lines += _write_grades(grades, contest, ranking, chosen) if grades else []
    if out is not None and not is_folder:
        is_csv = out.suffix.lower() == ".csv"
        write_whole(out, ranking.rates_csv() if is_csv else f"{json_text(data, 1)}\n")
    names = contest.public_names(pseudonyms=True) if pseudonyms else None
    _write_public_files(chosen, ranking, names, title, ranks, page, plot)
    lines += [f"written to {path}" for path in outputs]
    return Result(data, ranking.text(chosen.title, [*lines, *chosen.endless[1:]]))


def _write_public_files(
    chosen: Chosen,
    ranking: "Ranking",
    pseudonyms: Sequence[str] | None,
    title: str | None,
    ranks: Path | None,
    page: Path | None,
    plot: Path | None,
) -> None:
    """Write the ranks, the page and the picture of a tournament, each if it has a path.

    If there are `pseudonyms` of the entries, no file has other names; `title` is the heading of the
    page.
    """
    names = pseudonyms or ranking.names
    if ranks is not None:
        write_whole(ranks, ranking.ranks_csv(pseudonyms))
    if page is not None:
        from hogeq.pages.field import field_page, public_page

        make_page = field_page if pseudonyms is None else public_page
        rules = chosen.hog_game.rules
        write_whole(page, make_page(ranking, names, rules, chosen.title, title))
    if plot is not None:
        hogeq.figures.win_rates(ranking.win_rates, names, plot, chosen.title)


def _list_entrants(
    entries: Sequence[str],
    folder: Path | None,
    outputs: Sequence[Path],
    unpacked: Path,
    roster: Path | None,
    points: str | None,
) -> "tuple[list[Entrant], Grades | None]":
    """List the entrants of a tournament, and the grades of a class if it is one.

    `entries` are names, files and folders. If `folder`, of the pages of a contest, is given, they
    are one folder or zip of submissions. `outputs` are never read as entries, a zip is unpacked in
    the folder `unpacked`, and `points` is the rule for grades.
    """
    from hogeq.contest.folders import entrants, named_entries
    from hogeq.contest.handed_in import METADATA, is_zip
    from hogeq.contest.roster import Grades
    from hogeq.contest.staff import check_out

    if folder is None:
        for entry in entries:
            if Path(entry).suffix.lower() == ".zip":
                raise HogeqError(f"{entry}: is an archive; --out FOLDER takes that of a class")
        return named_entries(entries, outputs), None
    source = Path(entries[0])
    if len(entries) == 1 and not source.exists():
        raise HogeqError(f"{source}: no such folder")
    if len(entries) != 1 or not (source.is_dir() or is_zip(source)):
        allowed = "allowed for one folder of submissions, or one zip"
        raise HogeqError(f"tournament: --out FOLDER: {allowed}")
    check_out(folder, source)
    # A plain folder of submissions: not from Gradescope or Canvas, and without a roster.
    if roster is None and source.is_dir() and not (source / METADATA).exists():
        return entrants(source, outputs), None
    grades = Grades(source, unpacked, roster, points)
    for rival in grades.rivals:
        hogeq.Game.require_strategy(rival, hog=True)
    return grades.handed.entrants, grades


def _write_grades(
    grades: "Grades", contest: "Contest", ranking: "Ranking", chosen: Chosen
) -> list[str]:
    """Write the sheet of grades if there is a roster; return lines about the submissions."""
    from hogeq.contest.staff import STAFF

    lines = grades.notes
    if grades.roster is None:
        return lines
    game = chosen.game
    ranks = {}  # by student
    rates = {}  # by student, then by the rival that a rule for points names
    for line in ranking.ranking:
        entry = contest.valid[line.index]
        ranks[entry.entrant.student] = line.rank
        rates[entry.entrant.student] = {
            rival: game.win_rate(entry.submission.strategy, rival, chosen.scores).win_rate
            for rival in grades.rivals
        }
    path = Path(contest.out or "") / STAFF / "grades.csv"
    write_whole(path, grades.csv(ranks, rates))
    return [*lines, f"{path}: points of {grades.counts}, for the gradebook of Canvas"]


def _tie_break_numbers(
    chosen: Chosen, contest: "Contest", field: "Entries", by: str | None
) -> list[float] | None:
    """Give a number for each entry; of entries with equally many wins the higher ranks first.

    `by` is the value of --tie-break: None, "bytes", or the strategy to win against.
    """
    if by is None:
        return None
    if by == "bytes":
        without_file = [entry.entrant.entry for entry in contest.valid if not entry.submission.size]
        if without_file:
            raise HogeqError(
                f"{without_file[0]}: cannot be read: no such file; allowed with --tie-break bytes:"
                " files"
            )
        return [-float(entry.submission.size) for entry in contest.valid]  # the smaller is better
    game = chosen.game
    rival = game.strategy(by)
    rates = [
        game.win_rate(strategy, rival, chosen.scores).win_rate for strategy in field.strategies
    ]
    return [round(rate, 12) for rate in rates]  # rates that differ by rounding are a tie
