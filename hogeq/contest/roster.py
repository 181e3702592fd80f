"""The roster of a class: who handed in what, groups, points, and the sheet of grades.

A roster is a CSV with the columns of `COLUMNS`, in any order: made by hand, or the gradebook of
Canvas or the roster of Gradescope as they are downloaded. Lines before its header that begin with
``#`` are settings. The sheet has the columns of Canvas' gradebook, which imports it.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from hogeq import Fault
from hogeq.contest.entries import Entries, entries_of
from hogeq.contest.folders import Entrant, entrants
from hogeq.contest.handed_in import Submission, submissions_in, unpack
from hogeq.contest.staff import Contest
from hogeq.support.files import csv_text
from hogeq.support.messages import HogeqError, counted, printable, refusal, refusals_of
from hogeq.support.text import csv_rows
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

LISTED: Final = 10  # most submissions of unknown students that a line names

_TERM: Final = re.compile(
    r"(valid|rank +(\d{1,6})|(\S+) +(\d{1,3}(?:\.\d+)?) *%) *= *(\d{1,6}(?:\.\d{1,6})?)"
)


class Term(NamedTuple):
    """Points for being valid, for a rank at least as good, or for a win rate at least as high."""

    rival: str  # a strategy; empty for a rank
    limit: float
    points: float


def parse_rule_for_points(text: str) -> list[Term]:
    """Read a rule for points: ``valid = 1; rank 10 = 2; boar 50 % = 1``."""
    terms = []
    for part in filter(None, map(str.strip, text.split(";"))):
        match = _TERM.fullmatch(part)
        if match is None:
            allowed = "valid = 1; rank 10 = 2; always_roll:6 55 % = 1, say"
            raise HogeqError(refusal("points", part, allowed))
        limit = float(match[4]) / 100 if match[4] else float(match[2] or "inf")
        terms.append(Term(match[3] or "", limit, float(match[5])))
    return terms


def points(rule: Sequence[Term], rank: float, rates: Mapping[str, float]) -> float:
    """Add up the points of a valid entry: the most for its rank, and the most for each rival.

    `rates` are its win rates by rival.
    """
    points_by_rival: dict[str, float] = {}  # those for the rank by the empty name
    for term in rule:
        is_fulfilled = rank <= term.limit
        if term.rival:
            is_fulfilled = rates[term.rival] >= term.limit - 1e-12  # win rates are rounded
        if is_fulfilled:
            most_so_far = points_by_rival.get(term.rival, 0.0)
            points_by_rival[term.rival] = max(term.points, most_so_far)
    return sum(points_by_rival.values())


class Roster:
    """Students by account, number and name; their groups, and the settings of the contest."""

    def __init__(self, path: Path) -> None:
        """Read a roster; `HogeqError` if it is none, or two students share an account."""
        self._path = printable(path)
        lines = read_text(path).split("\n")
        num_lines = len(lines)
        self.settings = _take_settings(lines, self._path)
        # Empty lines stand for the settings, so that messages count the lines of the file.
        text = "\n".join([""] * (num_lines - len(lines)) + lines)
        with refusals_of(self._path):
            rows = [[cell.strip() for cell in row] for _, row in csv_rows(text) if row]
        header = [cell.lower() for cell in rows[0]] if rows else []
        columns: dict[str, int] = {}  # by their keys in `COLUMNS`
        for kind, titles in COLUMNS.items():
            present = [title for title in titles if title in header]
            if present:
                columns[kind] = header.index(present[0])
        if columns.keys().isdisjoint({"account", "sid", "id", "name"}):
            raise HogeqError(refusal(self._path, header, "columns account, name, group"))
        self.people: list[dict[str, str]] = []  # cells of each student, by keys of `COLUMNS`
        self._by_word: dict[str, int | None] = {}  # index of a student; None if two have the word
        for row in rows[1:]:
            person = dict.fromkeys(COLUMNS, "")
            person |= {kind: row[column] for kind, column in columns.items() if column < len(row)}
            full_name = f"{person['first name']} {person['last name']}".strip()
            person["name"] = person["name"] or full_name
            is_student = person["role"].lower() in {"", "student"}
            is_row_of_canvas = person["name"] in {"Points Possible", "Student, Test"}
            if is_student and any(row) and not is_row_of_canvas:
                self._add(person)

    def _add(self, person: dict[str, str]) -> None:
        """Add a student; a name that two have means neither.

        An account or a number that two have raises `HogeqError`.
        """
        for word in dict.fromkeys(_identifying_words(person)):
            if word in self._by_word and not word.startswith("name "):
                allowed = "each account and number once"
                raise HogeqError(f"{self._path}: {printable(word)} comes twice; allowed: {allowed}")
            self._by_word[word] = None if word in self._by_word else len(self.people)
        self.people.append(person)

    def group_of(self, people: Sequence[Mapping[str, str]]) -> list[int]:
        """Find students, and all members of their groups; return their indices, ascending.

        `people` has for each what is known, by keys of `COLUMNS`; the surest word that the roster
        knows decides.
        """
        indices = set()
        for person in people:
            matches = [self._by_word.get(word) for word in _identifying_words(person)]
            indices.update([index for index in matches if index is not None][:1])
        groups = {self.people[index]["group"] for index in indices} - {""}
        members = [index for index, person in enumerate(self.people) if person["group"] in groups]
        return sorted(indices.union(members))


def _take_settings(lines: list[str], where: str) -> dict[str, str]:
    """Remove the settings from the lines of a roster, in place, and return them by name."""
    settings = dict(SETTINGS)
    while lines and lines[0].startswith("#"):
        key, _, value = (part.strip() for part in lines.pop(0)[1:].partition(":"))
        if key not in SETTINGS:
            raise HogeqError(refusal(where, key, ", ".join(SETTINGS), SETTINGS))
        settings[key] = value
    return settings


def _identifying_words(person: Mapping[str, str]) -> list[str]:
    """List the words that identify a student, the surest first: account, numbers, name.

    `person` has what is known, by keys of `COLUMNS`. Each word begins with its kind.
    """
    person = {**person, "account": person.get("account") or person.get("email", "")}
    words = [
        f"{kind} {person[kind].lower()}" for kind in ("account", "sid", "id") if person.get(kind)
    ]
    name = person.get("name", "").lower()
    parts = re.findall(r"\w+", name)
    # The family name stands last, unless there is a comma.
    family_first = parts if "," in name else parts[-1:] + parts[:-1]
    return [*words, *(f"name {''.join(order)}" for order in (parts, family_first) if order)]


class HandedIn(NamedTuple):
    """Submissions of a class, one for each group, in a folder of their own."""

    entrants: list[Entrant]
    students: dict[str, list[int]]  # numbers in the roster, by names of entrants
    unknown: list[str]  # submissions of nobody in the roster


def unpack_submissions(source: Path, target: Path, roster: Roster | None) -> HandedIn:
    """Unpack the last submission of each group, or student, of a zip or a folder.

    1. Name the folder of each submission: by its group, or by the accounts of its students.
    2. Unpack the last submission of each folder into `target`.
    3. List the entrants there, each with its faults and the submissions that do not count.
    """
    submissions: dict[str, list[Submission]] = {}  # by folder, the last one counts
    students: dict[str, list[int]] = {}
    unknown: list[str] = []
    for submission in submissions_in(source):
        people = submission.submitters
        indices = [] if roster is None else roster.group_of(people)
        if roster is not None and indices:
            people = [roster.people[index] for index in indices]
        elif roster is not None:
            unknown.append(submission.name)
        name = submission.name
        groups = [person["group"] for person in people if person.get("group")]
        accounts = [person.get("account") or person.get("email") or name for person in people]
        group = groups[0] if groups else "+".join(accounts)
        folder = _folder_name((group or name).lower())
        submissions.setdefault(folder, []).append(submission)
        students[folder] = indices
    total_bytes = 0
    faults: dict[str, str] = {}
    for folder, attempts in submissions.items():
        unpacked_bytes, faults[folder] = unpack(attempts[-1], target / folder, total_bytes)
        total_bytes += unpacked_bytes
    unpacked = []
    for entrant in entrants(target, ()):
        folder = entrant.path.parts[0]
        earlier = [printable(attempt.name) for attempt in submissions[folder][:-1]]
        fault = faults[folder] or entrant.fault
        unpacked.append(entrant._replace(fault=fault, earlier=(*entrant.earlier, *earlier)))
    return HandedIn(unpacked, students, unknown)


def _folder_name(name: str) -> str:
    """Make a name that file systems allow; two names never become one."""
    allowed_name = re.sub(r"[^\w.@+ -]", "_", name)[:80].strip(" .")
    if allowed_name == name and not allowed_name.startswith(("_", "-")):
        return allowed_name
    digest = hashlib.sha256(name.encode(errors="replace")).hexdigest()[:8]
    return f"{allowed_name.strip('_-')}~{digest}"


class Grades:
    """Submissions of a class, and the points that they earn by its roster, if there is one."""

    def __init__(self, source: Path, target: Path, roster: Path | None, rule: str | None) -> None:
        """Unpack the submissions of `source` into `target`; `rule` replaces that of the roster."""
        self.roster = None if roster is None else Roster(roster)
        roster_rule = self.roster.settings["points"] if self.roster else ""
        self.rule = parse_rule_for_points(roster_rule if rule is None else rule)
        self.handed = unpack_submissions(source, target, self.roster)
        # Entrants whose table another hands in too, and the other, who plays for both.
        self.same: dict[str, str] = {}

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
        """Let a table that several students hand in play once, if there is a roster.

        Later ones become faulty in `contest.judged`, and `same` says who plays for them. Returns
        the entries that are valid and those that are not.
        """
        first_students: dict[object, str] = {}  # by table and goal
        for index, judged in enumerate(contest.judged if self.roster else ()):
            table = judged.submission.strategy
            if table is None:
                continue
            student = judged.entrant.student
            goal = contest.own_goals.get(judged.entrant)
            player = first_students.setdefault((table.array.tobytes(), goal), student)
            if player != student:
                self.same[student] = player
                line = "is the table of another entry too; it plays once, for both"
                faults = (Fault("same", 1, line),)
                duplicate = replace(judged.submission, strategy=None, faults=faults)
                contest.judged[index] = judged._replace(submission=duplicate)
        return entries_of(contest.judged, inside=True)

    @property
    def notes(self) -> list[str]:
        """Lines for staff about what was handed in."""
        lines = [
            f"the same table, played once: {player} = {student}"
            for student, player in self.same.items()
        ]
        unknown = [*map(printable, self.handed.unknown)]
        if unknown:
            more = f", and {len(unknown) - LISTED} more" if len(unknown) > LISTED else ""
            lines.append(f"not in the roster: {', '.join(unknown[:LISTED])}{more}")
        return lines

    def csv(self, ranks: Mapping[str, float], rates: Mapping[str, Mapping[str, float]]) -> str:
        """Write the sheet of grades, from ranks and win rates of valid entrants by name.

        An entry that is not valid earns 0 points. A student who handed in nothing has an empty
        cell.
        """
        points_by_index: dict[int, float] = {}  # in the roster
        for student, indices in self.handed.students.items():
            player = self.same.get(student, student)
            own = points(self.rule, ranks[player], rates[player]) if player in ranks else 0.0
            points_by_index |= {
                index: max(own, points_by_index.get(index, 0.0)) for index in indices
            }
        perfect_rates = dict.fromkeys((term.rival for term in self.rule), 1.0)
        most_points = points(self.rule, 0, perfect_rates)
        fields = ("name", "id", "sid", "account", "section")
        # Canvas knows this line by its name, with four spaces before it.
        rows: list[tuple[str, ...]] = [("    Points Possible", "", "", "", "", f"{most_points:g}")]
        for index, person in enumerate(self.roster.people if self.roster else ()):
            score = f"{points_by_index[index]:g}" if index in points_by_index else ""
            rows.append((*(person[field] for field in fields), score))
        title = self.roster.settings["assignment"] if self.roster else ""
        header = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section", title)
        return csv_text(header, rows)
