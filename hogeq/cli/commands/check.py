"""What the contest would say of a submission, and how it does: check; of a folder of them."""

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from hogeq.cli import options
from hogeq.cli.inputs import Chosen, write_csv
from hogeq.cli.options import PAGE, argument, option
from hogeq.cli.result import Result, Table, Text, digits, loss, percent
from hogeq.cli.shell import refusing
from hogeq.support.files import write_whole
from hogeq.support.messages import BadInputError, counted, duration, printable
from hogeq.support.progress import phase

if TYPE_CHECKING:
    from hogeq.contest.assessment import Reference
    from hogeq.contest.entries import Entries
    from hogeq.contest.staff import Entrant, Judged
    from hogeq.model.game import HogEngine
    from hogeq.support.aliases import Floats

NOT_VALID = 2  # exit status


def check(
    file: Annotated[Path, argument("FILE", "A submission, or a table.")],
    chosen: Chosen,
    against: Annotated[
        str | None,
        option("Opponent of losses and changes. [optimal; with hidden memory, champion]"),
    ] = None,
    page: Annotated[
        Path | None, option("Write the same as a page.", "FILE", "--html"), PAGE
    ] = None,
    time_limit: options.TimeLimit = 60.0,
    trust: options.Trust = False,
) -> Result:
    """Check a submission as the contest would, and say how it does.

    Every kind of fault is listed with its count, and the exit status is 2 if there is one. A valid
    submission is played against one number of dice all the time and the strategies of the package;
    then come the positions where it loses most against a strong opponent, and the three changes of
    single cells that gain most. With hidden memory nobody can compute a best response: losses are
    measured by the best one that a short search finds, with its effort, and by a bound that none
    exceeds.

    JSON: rules, file, valid, player_name, name (the same), bytes, answered (positions), asked (the
    one at which it was stopped), files (other files that it used), alone (whether it works without
    them), prints (whether it prints, which is lost), seconds (load, table, slowest; null for a
    table), faults (kind, count, told), and, null if not valid: win_rates (strategy, win_rate,
    first, second), against, win_rate, best_response (with hidden memory, win rate of the best
    found), bound (no response wins more), effort (of that search: starts, anneal_steps, damping,
    kicks, seed; null if best_response is exact), losses (score, opponent, roll, best, cost, reach),
    changes (score, opponent, roll, instead, gain), changed (win rate with all the changes), endless
    (win rate lost by games that never end).
    """
    engine = chosen.load().engine
    from hogeq.contest.assessment import OPPONENTS, facts_of, usual_reference
    from hogeq.contest.submission import inspect_submission
    from hogeq.pages.contest import checked_page, contest_notes

    with refusing():
        submission = inspect_submission(file, chosen.rules, trust, time_limit=time_limit)
    reference = None
    if submission.matrix is not None:
        named = against or usual_reference(engine)
        chosen.expect("matches", "search", "full memory", strategies=[against or "", *OPPONENTS])
        reference = _reference(chosen, named)
    data, assessed = facts_of(engine, str(file), chosen.name, submission, reference)
    about = {**data, "rules": chosen.title}
    if page is not None:
        with refusing():
            write_whole(page, checked_page(about, assessed))
    notes = contest_notes(data)
    if assessed is None:
        refusal: Text = [f"{file}: not valid for {chosen.title}"]
        for fault in submission.faults:
            more = f" ({fault.times:,} like this)" if fault.times > 1 else ""
            refusal += ["", f"  {fault.line}{more}"]
        return Result(data, [*refusal, *([""] if notes else []), *notes], NOT_VALID)
    name = f", by {data['player_name']}" if data["player_name"] else ""
    verdict: Text = [f"valid for {chosen.title}{name}: {data['bytes']:,} bytes"]
    if data["seconds"]:
        load, table, slowest = (
            duration(data["seconds"][key]) for key in ("load", "table", "slowest")
        )
        verdict.append(
            f"asked for every position it takes {table}, for one at most {slowest}; to load, {load}"
        )
    return Result(data, [*verdict, *notes, *_assessment(data), *chosen.endless])


def _reference(chosen: Chosen, name: str) -> "Reference":
    from hogeq.contest.assessment import Reference, opponents

    return Reference(name, chosen.table(name).array, opponents(chosen.engine))


def _assessment(data: dict[str, Any]) -> Text:
    from hogeq.pages.contest import response_text

    rates = [
        (one["strategy"], "never ends" if one["win_rate"] is None else percent(one["win_rate"]))
        for one in data["win_rates"]
    ]
    text: Text = ["", "wins against (`hogeq strategies` says how they play)", "", Table(rates), ""]
    response = response_text(data, digits.get())
    head = f"against {data['against']} it wins {percent(data['win_rate'])}; {response}"
    if data["losses"]:
        text += [f"{head}; most is lost at", "", _cells(data["losses"], "best", "cost", "loss")]
    elif data["endless"]:
        text.append(f"{head}; no single turn loses anything")
    else:
        measured = "; by that," if data["effort"] else ":"
        text.append(f"{head}{measured} nothing is lost at any position")
    if data["changes"]:
        text += [
            "",
            f"changes of one cell that gain most against {data['against']}",
            "",
            _cells(data["changes"], "instead", "gain", "gain"),
            "",
            f"together: {percent(data['changed'])}",
        ]
    return text


def _cells(cells: list[dict[str, Any]], better: str, worth: str, heading: str) -> Table:
    keys = ("score", "opponent", "roll", better)
    rows = [(*(cell[key] for key in keys), loss(cell[worth])) for cell in cells]
    return Table(rows, ("score", "opponent", "rolls", better, heading), left=0)


# --- a contest as its staff runs it: tournament DIR --out FOLDER ----------------------------------

RANKS = (
    *("rank", "name", "student", "file", "page", "wins", "ties", "mean_win_rate", "nash"),
    *("lowest_win_rate", "lowest_against", "public_name", "not_valid"),
)
"""Columns of ranks.csv."""

LATEST = "of a student's files the last by name counts"


class Folder:
    """The folder that a contest is written to, and what is in it."""

    judged: "list[Judged]"
    valid: "list[Judged]"

    def __init__(
        self,
        named: Sequence[str],
        out: Path,
        chosen: Chosen,
        start: tuple[int, int],
        goals: Path | None,
    ) -> None:
        from hogeq.contest.entries import read_goals
        from hogeq.contest.staff import CACHE, Contest, entrants

        if len(named) != 1 or not Path(named[0]).is_dir():
            raise BadInputError("tournament: --out FOLDER: allowed for one folder of submissions")
        is_other = out.is_dir() and any(out.iterdir()) and not (out / CACHE).exists()
        if is_other or out.resolve() == Path(named[0]).resolve():
            raise BadInputError(f"{out}: has other files; allowed: a new folder, or an earlier one")
        with refusing():
            self.entrants: list[Entrant] = entrants(Path(named[0]), out)
            students = [one.student for one in self.entrants]
            own = read_goals(goals, students, chosen.engine.goal)
            self._goals = None if own is None else dict(zip(students, own, strict=True))
            (out / "entrants").mkdir(parents=True, exist_ok=True)
        self.out, self.chosen = out, chosen
        self.contest = Contest(chosen.engine, out, start)

    def read(self, time_limit: float) -> "Entries":
        """Judge every submission, and give those that are valid."""
        from hogeq.contest.entries import Entries, Refused
        from hogeq.strategies.strategy import strategy_of

        self.judged = self.contest.judge(self.entrants, self.chosen.trust, time_limit)
        tables = {
            one.entrant.file: strategy_of(self.chosen.engine, one.submission.matrix)
            for one in self.judged
            if one.submission.matrix is not None
        }
        self.valid = [one for one in self.judged if one.entrant.file in tables]
        refused = [
            Refused(one.entrant.file, f"{one.entrant.file}: {_reason(one)}")
            for one in self.judged
            if one.entrant.file not in tables
        ]
        if len(tables) < 2:
            told = "".join(f"; {one.reason}" for one in refused)
            raise BadInputError(
                f"tournament: {len(tables)} of {len(self.judged)} submissions are valid; allowed: "
                f"2 or more{told}"
            )
        names: list[str | None] = [printable(_name(one)) for one in self.valid]
        return Entries(list(tables), names, list(tables.values()), refused)

    @property
    def goals(self) -> list[int] | None:
        """Goals of the valid submissions, if each has its own."""
        goals = self._goals
        return None if goals is None else [goals[one.entrant.student] for one in self.valid]

    def play(self, field: "Entries") -> "Floats":
        """Play the pairs that were not played before."""
        from numpy import asarray

        return self.contest.play([asarray(one) for one in field.strategies], self.goals)

    def write(self, data: dict[str, Any], pseudonyms: bool) -> Text:
        """Write pages, ranks and what is known for the next time; say what was written."""
        from hogeq.pages.contest import public_page

        public = self.contest.pseudonyms([one.entrant for one in self.valid])
        if not pseudonyms:  # namesakes by numbers: files say who is who
            given = [printable(_name(one)) for one in self.valid]
            before = [given[:number].count(name) for number, name in enumerate(given)]
            public = [
                f"{name} ({count + 1})" if count else name
                for name, count in zip(given, before, strict=True)
            ]
        lines = {self.valid[line["index"]].entrant.file: line for line in data["ranking"]}
        pages: list[str] = []  # of each entrant
        for one in self.judged:
            plain = re.sub(r"[^\w.-]+", "_", one.entrant.student)[:80]
            same = sum(name.lower().startswith(f"{plain.lower()}.") for name in pages)
            pages.append(f"{plain}.{same + 1}.html" if same else f"{plain}.html")
        write_whole(
            self.out / "index.html", public_page({**data, "rules": self.chosen.title}, public)
        )
        self._write_pages(lines, public, pages)
        header = RANKS if self._goals is None else ("goal", *RANKS)
        rows = []
        for one, page in zip(self.judged, pages, strict=True):
            line = lines.get(one.entrant.file, {})
            row = {key: line.get(key, "") for key in header}
            if line:
                against = public[line["lowest_against"]]
                row |= {"lowest_against": against, "public_name": public[line["index"]]}
            row |= {"student": one.entrant.student, "file": one.entrant.file, "name": _name(one)}
            rows.append({**row, "page": f"entrants/{page}", "not_valid": _reason(one)})
        unranked = len(rows) + 1
        rows.sort(key=lambda row: row["rank"] or unranked)
        write_csv(self.out / "ranks.csv", header, [list(row.values()) for row in rows])
        self.contest.keep()
        earlier = sum(len(one.entrant.earlier) for one in self.judged)
        pages_written = counted(len(self.judged), "page")
        return [
            "",
            f"{self.out}: index.html (public), ranks.csv, {pages_written} in entrants/",
            *([f"{counted(earlier, 'earlier file')} left out: {LATEST}"] if earlier else []),
        ]

    def _write_pages(
        self, lines: dict[str, dict[str, Any]], public: Sequence[str], pages: Sequence[str]
    ) -> None:
        from hogeq.contest.assessment import usual_reference
        from hogeq.pages.contest import standing, with_standing
        from hogeq.support.workers import compute

        engine = self.chosen.engine
        new: list[tuple[Judged, str, str, int]] = []
        paths: list[Path] = []
        for one, name in zip(self.judged, pages, strict=True):
            entrant, line = one.entrant, lines.get(one.entrant.file)
            goal = engine.goal if self._goals is None else self._goals[entrant.student]
            notes = [f"Judged: {entrant.file}."]
            if goal != engine.goal:
                notes.append(f"Its goal is {goal}. The opponents below have {engine.goal}.")
            if line is not None:
                notes.append(f"On the page of all it is called {public[line['index']]}.")
            if entrant.earlier:
                notes.append(f"Not judged, since {LATEST}: {', '.join(entrant.earlier)}.")
            text, path = standing(line, public, notes), self.out / "entrants" / name
            facts = json.dumps([one.facts(), self.contest.made_by, goal])
            key = hashlib.sha256(facts.encode()).hexdigest()
            known = path.read_text("utf-8") if path.exists() else ""
            page = with_standing(known, key, text)
            if page is None:
                new.append((one, key, text, goal))
                paths.append(path)
            elif page != known:
                write_whole(path, page)
        self.chosen.expect("full memory", strategies=[usual_reference(engine)])
        with phase("assessing", len(new), "entrants") as progress:
            games = {goal: _to_goal(engine, goal) for goal in {goal for *_, goal in new}}
            make = partial(_page, games, self.chosen.title)
            made = compute(make, new, lambda _: progress.step(), local=True)
        for path, page in zip(paths, made, strict=True):
            write_whole(path, page)


def _name(one: "Judged") -> str:
    return one.submission.name or one.entrant.student


def _reason(one: "Judged") -> str:
    faults = one.submission.faults
    if not faults:
        return ""
    more = f", and {len(faults) - 1} more on the page" if len(faults) > 1 else ""
    return f"{faults[0].line}{more}"


def _to_goal(engine: "HogEngine", goal: int) -> "tuple[HogEngine, Reference]":
    """Give the game of an entrant with this goal, and its opponents with the goal of the rules."""
    from hogeq.baselines.registry import find_table
    from hogeq.contest.assessment import Reference, opponents, usual_reference
    from hogeq.model.game import compile_game

    game = other = engine
    if goal != engine.goal:
        game = compile_game(replace(engine.rules, goal=(goal, engine.goal)), own_goals=True)
        other = compile_game(game.rules.for_second(), own_goals=True)
    name = usual_reference(other)
    return game, Reference(name, find_table(name, other).array, opponents(other))


def _page(
    games: "dict[int, tuple[HogEngine, Reference]]",
    title: str,
    task: "tuple[Judged, str, str, int]",
) -> str:
    """Make the page of one entrant."""
    from hogeq.contest.assessment import facts_of
    from hogeq.pages.contest import entrant_page

    one, key, text, goal = task
    engine, reference = games[goal]
    facts, assessed = facts_of(engine, one.entrant.file, title, one.submission, reference)
    return entrant_page(facts, assessed, key, text)
