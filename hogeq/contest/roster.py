"""The roster of a class: who handed in what, groups, points, and the sheet of grades.

A roster is a CSV with the columns of `COLUMNS`, in any order: made by hand, or the gradebook of
Canvas or the roster of Gradescope as they are downloaded. Lines before its header that begin with
``#`` are settings. The sheet has the columns of Canvas' gradebook, which imports it.
"""

import csv
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from hogeq.contest.entries import Entries, entries_of
from hogeq.contest.folders import Entrant, entrants
from hogeq.contest.handed_in import Submission, submissions_in, unpack
from hogeq.contest.staff import Contest
from hogeq.strategies.submissions import Fault
from hogeq.support.files import csv_text
from hogeq.support.messages import BadInputError, counted, printable, refusal
from hogeq.support.yaml import read_text

COLUMNS: Final = {
    "account": ("account", "email", "sis login id", "login id"),
    "sid": ("sid", "sis user id", "student id"),
    "id": ("id",),
    "name": ("name", "student"),
    "group": ("group", "group name", "team"),
    "section": ("section",),
    "first name": ("first name",),
    "last name": ("last name",),
    "role": ("role",),
}
"""Columns of a roster, and their names there; small and capital letters are the same."""

SETTINGS: Final = {"points": "valid = 1", "assignment": "Hog contest"}
"""Settings of a roster, and what they are if they are not there."""

LISTED: Final = 10  # submissions of nobody that a line names

_TERM: Final = re.compile(
    r"(valid|rank +(\d{1,6})|(\S+) +(\d{1,3}(?:\.\d+)?) *%) *= *(\d{1,6}(?:\.\d{1,6})?)"
)


class Term(NamedTuple):
    """Points for being valid, for a rank at least as good, or for a win rate at least as high."""

    rival: str  # a strategy; empty for a rank
    limit: float
    points: float


def rule_of(text: str) -> list[Term]:
    """Read a rule for points: ``valid = 1; rank 10 = 2; boar 50 % = 1``."""
    terms = []
    for part in filter(None, map(str.strip, text.split(";"))):
        match = _TERM.fullmatch(part)
        if match is None:
            allowed = "valid = 1; rank 10 = 2; always_roll:6 55 % = 1, say"
            raise BadInputError(refusal("points", part, allowed))
        limit = float(match[4]) / 100 if match[4] else float(match[2] or "inf")
        terms.append(Term(match[3] or "", limit, float(match[5])))
    return terms


def points(rule: Sequence[Term], rank: float, rates: Mapping[str, float]) -> float:
    """Give the points of a valid entry: the most for its rank, and the most against each rival."""
    earned: dict[str, float] = {}
    for rival, limit, worth in rule:
        if rates[rival] >= limit - 1e-12 if rival else rank <= limit:
            earned[rival] = max(worth, earned.get(rival, 0.0))
    return sum(earned.values())


class Roster:
    """Students by account, number and name; their groups, and the settings of the contest."""

    def __init__(self, path: Path) -> None:
        where, lines = printable(path), read_text(path).splitlines()
        self.settings = _settings(lines, where)
        try:
            rows = [[cell.strip() for cell in row] for row in csv.reader(lines, strict=True)]
        except csv.Error as error:
            raise BadInputError(f"{where}: cannot be read: {error}") from error
        header = [cell.lower() for cell in rows[0]] if rows else []
        places: dict[str, int] = {}
        for kind, names in COLUMNS.items():
            for name in names:
                if name in header:
                    places.setdefault(kind, header.index(name))
        if not {"account", "sid", "id", "name"} & {*places}:
            raise BadInputError(refusal(where, header, "columns account, name, group"))
        self.people: list[dict[str, str]] = []
        self.words: dict[str, int | None] = {}
        for row in rows[1:]:
            one = {kind: row[at] if at < len(row) else "" for kind, at in places.items()}
            one = {**dict.fromkeys(COLUMNS, ""), **one}
            one["name"] = one["name"] or f"{one['first name']} {one['last name']}".strip()
            is_student = one["role"].lower() in {"", "student"}
            if is_student and any(row) and one["name"] not in {"Points Possible", "Student, Test"}:
                # Two of the same name are known by other words alone.
                for word in dict.fromkeys(_words(one)):
                    if word in self.words and not word.startswith("name "):
                        allowed = "each account and number once"
                        raise BadInputError(
                            f"{where}: {printable(word)} comes twice; allowed: {allowed}"
                        )
                    self.words[word] = None if word in self.words else len(self.people)
                self.people.append(one)

    def group_of(self, people: Sequence[Mapping[str, str]]) -> list[int]:
        """Give the numbers of students of whom something is known, and of those in their groups."""
        known = set()
        for one in people:
            found = (self.words.get(word) for word in _words(one))
            known |= {*[number for number in found if number is not None][:1]}
        groups = {self.people[number]["group"] for number in known} - {""}
        others = (number for number, one in enumerate(self.people) if one["group"] in groups)
        return sorted({*known, *others})


def _settings(lines: list[str], where: str) -> dict[str, str]:
    """Take the settings off the lines of a roster."""
    settings = dict(SETTINGS)
    while lines and lines[0].startswith("#"):
        key, _, value = (part.strip() for part in lines.pop(0)[1:].partition(":"))
        if key not in SETTINGS:
            raise BadInputError(refusal(where, key, ", ".join(SETTINGS), SETTINGS))
        settings[key] = value
    return settings


def _words(given: Mapping[str, str]) -> list[str]:
    """Give the words by which a student is known, the surest first."""
    given = {**given, "account": given.get("account") or given.get("email", "")}
    words = [
        f"{kind} {given[kind].lower()}" for kind in ("account", "sid", "id") if given.get(kind)
    ]
    name = re.findall(r"\w+", given.get("name", "").lower())
    last = name[-1:] + name[:-1] if "," not in given.get("name", "") else name
    return [*words, *(f"name {''.join(parts)}" for parts in (name, last) if parts)]


class HandedIn(NamedTuple):
    """Submissions of a class, one for each group, in a folder of their own."""

    entrants: list[Entrant]
    students: dict[str, list[int]]  # numbers in the roster, by names of entrants
    unknown: list[str]  # submissions of nobody in the roster


def hand_in(source: Path, target: Path, roster: Roster | None) -> HandedIn:
    """Unpack the last submission of each group, or student, of a zip or a folder."""
    last: dict[str, list[Submission]] = {}
    students, unknown = dict[str, list[int]](), list[str]()
    for one in submissions_in(source):
        people, numbers = one.submitters, list[int]()
        if roster is not None:
            numbers = roster.group_of(people)
            people = [roster.people[number] for number in numbers] or people
            unknown += [one.name] * (not numbers)
        names = [person.get("account") or person.get("email") or one.name for person in people]
        name = next(filter(None, (person.get("group") for person in people)), "+".join(names))
        student = _folder_name((name or one.name).lower())
        last.setdefault(student, []).append(one)
        students[student] = numbers
    used, faults = 0, {}
    for student, several in last.items():
        more, faults[student] = unpack(several[-1], target / student, used)
        used += more
    found = []
    for entrant in entrants(target, ()):
        student = entrant.path.parts[0]
        earlier = [printable(one.name) for one in last[student][:-1]]
        fault = faults[student] or entrant.fault
        found.append(entrant._replace(fault=fault, earlier=(*entrant.earlier, *earlier)))
    return HandedIn(found, students, unknown)


def _folder_name(name: str) -> str:
    """Make a name that file systems take; two names never become one."""
    plain = re.sub(r"[^\w.@+ -]", "_", name)[:80].strip(" .")
    if plain == name and not plain.startswith(("_", "-")):
        return plain
    return f"{plain.strip('_-')}~{hashlib.sha256(name.encode(errors='replace')).hexdigest()[:8]}"


class Grades:
    """Submissions of a class, and the points that they earn by its roster, if there is one."""

    def __init__(self, source: Path, target: Path, roster: Path | None, rule: str | None) -> None:
        self.roster = None if roster is None else Roster(roster)
        usual = self.roster.settings["points"] if self.roster else ""
        self.rule = rule_of(usual if rule is None else rule)
        self.handed = hand_in(source, target, self.roster)
        self.same: dict[str, str] = {}
        """Entrants whose table another hands in too, and the other, who plays for both."""

    @property
    def rivals(self) -> list[str]:
        """Names of the strategies against which points can be earned."""
        return sorted({term.rival for term in self.rule} - {""})

    @property
    def counts(self) -> str:
        """How many students the sheet has, and how many of them handed in something."""
        people = self.roster.people if self.roster else []
        present = {number for numbers in self.handed.students.values() for number in numbers}
        return f"{counted(len(people), 'student')}, of whom {len(present)} handed in something"

    def count_once(self, contest: Contest) -> Entries:
        """Let a table that several hand in play once, if there is a roster; give the valid ones."""
        first: dict[object, str] = {}
        for place, one in enumerate(contest.judged if self.roster else ()):
            table, student = one.submission.strategy, one.entrant.student
            goal = contest.own_goals.get(one.entrant)
            if table is None or student == first.setdefault((table.array.tobytes(), goal), student):
                continue
            self.same[student] = first[table.array.tobytes(), goal]
            line = "is the table of another entry too; it plays once, for both"
            same = replace(one.submission, strategy=None, faults=(Fault("same", 1, line),))
            contest.judged[place] = one._replace(submission=same)
        return entries_of(contest.judged, inside=True)

    @property
    def notes(self) -> list[str]:
        """Lines for staff about what was handed in."""
        lines = [f"the same table, played once: {two} = {one}" for one, two in self.same.items()]
        unknown = [*map(printable, self.handed.unknown)]
        more = f", and {len(unknown) - LISTED} more" if len(unknown) > LISTED else ""
        return lines + [f"not in the roster: {', '.join(unknown[:LISTED])}{more}"] * bool(unknown)

    def csv(self, ranks: Mapping[str, float], rates: Mapping[str, Mapping[str, float]]) -> str:
        """Write the sheet of grades, from ranks and win rates of valid entrants by name.

        What is not valid has 0 points, and who handed in nothing has none.
        """
        earned: dict[int, float] = {}
        for student, numbers in self.handed.students.items():
            player = self.same.get(student, student)
            worth = points(self.rule, ranks[player], rates[player]) if player in ranks else 0.0
            earned |= {number: max(worth, earned.get(number, 0.0)) for number in numbers}
        best = points(self.rule, 0, dict.fromkeys((term.rival for term in self.rule), 1.0))
        fields = ("name", "id", "sid", "account", "section")
        rows: list[tuple[str, ...]] = [("    Points Possible", "", "", "", "", f"{best:g}")]
        for number, one in enumerate(self.roster.people if self.roster else ()):
            score = f"{earned[number]:g}" if number in earned else ""
            rows.append((*(one[field] for field in fields), score))
        title = self.roster.settings["assignment"] if self.roster else ""
        header = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section", title)
        return csv_text(header, rows)
