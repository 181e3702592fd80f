"""A folder of submissions that wants to stop, fool or rob those who judge it."""

import csv
import html
import json
import re
import shutil
import sys
import unicodedata
from collections import Counter
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any

import numpy as np
import pytest

from hogeq import Hog
from hogeq.contest import judging
from hogeq.contest.assessment import outcome
from hogeq.contest.entries import entries_of
from hogeq.contest.folders import entrants, named_entries
from hogeq.contest.judging import Judge, from_json, to_json
from hogeq.contest.submission import inspect_submission
from hogeq.pages.entrants import _without_own_text
from hogeq.rules import rules_from
from hogeq.strategies.submissions import Fault, Submission
from hogeq.support.messages import printable
from hogeq.support.sandbox import isolation
from tests.cli.calls import ask, ok
from tests.cli.calls import refused as refused_by
from tests.contest.hostile import (
    CANARY,
    CODE,
    DICE,
    GOAL,
    WORDS,
    fill_bad,
    fill_code,
    fill_good,
    put,
    table,
)
from tests.contest.hostile_calls import RUN, UNSAFE, three, written

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="names that Linux alone has")

GAME = Hog(rules_from({"edition": "fa25", "goal": GOAL, "max_dice": DICE}))


def rows(path: str) -> list[dict[str, str]]:
    with Path(path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def without_secrets(*words: str) -> None:
    for name, content in written("out").items():
        assert CANARY.encode() not in content, name
    for name, content in written("out/public").items():
        for word in (
            *words,
            WORDS,
            str(Path.cwd()),
            "final_strategy",
            "entrants",
            "staff",
            "hogeq-entry",
        ):
            assert word.encode() not in content, (name, word)
    for path in Path("out/staff/entrants").iterdir():
        assert WORDS not in path.read_text("utf-8").split("<body>")[1], path


def checked(good: set[str], bad: dict[str, str]) -> None:
    """Check what a contest wrote of entries that are good and bad."""
    ranked = rows("out/staff/ranks.csv")
    assert len(ranked) == len(good) + len(bad)
    valid = [row for row in ranked if not row["not_valid"]]
    told = {row["student"].lstrip("'"): row["not_valid"] for row in ranked if row["not_valid"]}
    assert len(valid) == len(good)
    assert told.keys() == {*bad}
    for student, why in bad.items():
        assert why in told[student], (student, told[student])
        assert len(told[student]) < 600
        assert told[student].isprintable()
    # A page for each, on every file system, and that of one's own.
    pages = [row["page"] for row in ranked]
    assert len({page.lower() for page in pages}) == len(ranked)
    for row in ranked:
        assert re.fullmatch(r"entrants/[a-z0-9._]{1,40}-[0-9a-f]{16}\.html", row["page"])
        page = (Path("out/staff") / row["page"]).read_text("utf-8")
        assert html.escape(row["file"].replace("'", "")) in page.replace("&#x27;", "")
        assert ("Not valid." in page) == bool(row["not_valid"])
    public = rows("out/public/ranks.csv")
    assert [*public[0]][:4] == ["rank", "name", "file", "wins"]
    assert Counter(row["rank"] for row in public) == Counter(row["rank"] for row in valid)
    names = [row["name"] for row in public]
    assert len({name.casefold() for name in names}) == len(good)
    for table_of_ranks in (ranked, public):
        for cell in (cell for row in table_of_ranks for cell in row.values()):
            assert not cell.lstrip().startswith(tuple("=+-@\t\r\uff1d\uff0b\uff0d\uff20"))


@pytest.mark.slow
def test_a_folder_full_of_attacks_without_code(here: Path) -> None:
    good = fill_good(Path("class"))
    bad = fill_bad(Path("class"), here / "secret.csv")
    assert len(good) + len(bad) > 110
    text = ok(*RUN)
    assert all(char.isprintable() or char == "\n" for char in text)
    assert text.count("left out: ") == len(bad)
    checked(good, bad)
    without_secrets("caf\u00e9", "always_roll:3", "player1", "mine.py")
    before = written("out/public")
    assert ok(*RUN).split("out/public")[0] == text.split("out/public")[0]
    assert written("out/public") == before
    # The same with the right to run code, which makes no difference to tables.
    assert {*ask(*RUN, "--trust", *UNSAFE)["entries"]} == {printable(name) for name in good}
    assert written("out/public") == before


needs_isolation = pytest.mark.skipif(not isolation().bubblewrap, reason="needs bubblewrap")


@pytest.mark.slow
@needs_isolation
def test_a_folder_of_hostile_programs(here: Path) -> None:
    good = {"ann/final_strategy.py", "bob/final_strategy.py"}
    put(Path("class/ann/final_strategy.py"), "PLAYER_NAME = 'Ann'\nfinal_strategy = lambda a, b: 1")
    put(Path("class/bob/final_strategy.py"), "PLAYER_NAME = 'Bob'\nfinal_strategy = lambda a, b: 2")
    students = fill_code(Path("class"), here / "secret.txt")
    assert students == [*CODE]
    found = ask(*RUN, "--trust")
    checked(good, dict.fromkeys(students, ""))
    for name, content in written("out/public").items():
        assert not any(word.encode() in content for word in (WORDS, "raised", "class/")), name
    for path in Path("out/staff/entrants").iterdir():
        assert WORDS[:12] not in path.read_text("utf-8").split("<body>")[1].split("<script")[0], (
            path
        )
    assert {line["name"] for line in found["ranking"]} == {"Ann", "Bob"}
    before = written("out/public")
    ok(*RUN, "--trust")
    assert written("out/public") == before


# --- one entry is one fault -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "error",
    [
        KeyError("table"),
        MemoryError(),
        *(
            pytest.param(error, marks=pytest.mark.slow)
            for error in (OverflowError(), RecursionError(), OSError(5, "no"))
        ),
    ],
)
def test_whatever_an_entry_raises_is_its_own_fault(
    here: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    for number, name in enumerate(("ann", "bob", "culprit")):
        put(Path(f"class/{name}/final_strategy.csv"), table(number + 1))
    inspect = inspect_submission

    def failing(path: Path, *given: Any, **more: Any) -> Submission:
        if table(3).encode() == path.read_bytes():
            raise error
        return inspect(path, *given, **more)

    monkeypatch.setattr(judging, "inspect_submission", failing)
    text = ok(*RUN)
    assert "left out: culprit/final_strategy.csv: cannot be judged: " in text
    checked({"ann", "bob"}, {"culprit": "cannot be judged: "})
    (page,) = Path("out/staff/entrants").glob("culprit-*")
    assert "ask those who run the contest" in page.read_text()
    monkeypatch.setattr(judging, "inspect_submission", inspect_submission)
    assert "left out" not in ok(*RUN)  # it was not kept


def test_a_field_by_name_names_the_culprit_too(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number, name in enumerate(("a.csv", "b.csv", "c.csv")):
        put(Path("class") / name, table(number + 1))

    def failing(*given: Any, **more: Any) -> Submission:
        raise KeyError("table")

    put(Path("class/d.py"), "1")
    monkeypatch.setattr(judging, "inspect_submission", failing)
    found = entries_of(Judge(GAME, trust=True).judge(named_entries(["class"])))
    assert len(found.entries) == 3
    ((file, why),) = map(tuple, found.refused)
    assert file == "class/d.py"
    assert why.startswith("class/d.py: cannot be judged: KeyError: 'table' (test_hostile_folder.py")


def test_a_verdict_is_kept_whole(here: Path) -> None:
    put(Path("class/ann.csv"), table(5))
    put(Path("class/bob.csv"), "1,2\n")
    put(Path("class/cid/final_strategy.py"), f"PLAYER_NAME = {CANARY!r}\nx = 1 / 0")
    judged = Judge(GAME, trust=True, is_contest=True).judge(entrants(Path("class"), ()))
    for one in judged:
        known = json.loads(json.dumps(to_json(one.submission)))
        again = from_json(known, GAME)
        assert to_json(again) == to_json(one.submission)
        assert again.faults == one.submission.faults
    assert [bool(one.submission.faults) for one in judged] == [False, True, True]


# --- files that change while they are read --------------------------------------------------------


def to_link(path: Path, target: Path) -> None:
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    path.symlink_to(target)


@pytest.mark.parametrize(
    ("swapped", "target", "name"),
    [
        ("class/eve/final_strategy.csv", "secret.csv", "final_strategy.csv"),
        ("class/eve", "elsewhere", "final_strategy.csv"),
        ("class/eve/deep", "elsewhere", "deep/final_strategy.csv"),
        ("class/eve/final_strategy.csv", "class/ann/final_strategy.csv", "final_strategy.csv"),
    ],
)
def test_a_link_put_there_while_files_are_read_is_not_followed(
    here: Path, monkeypatch: pytest.MonkeyPatch, swapped: str, target: str, name: str
) -> None:
    three()
    put(Path("elsewhere/final_strategy.csv"), f"{CANARY},1\n")
    put(Path("class/eve") / name, table(9))
    apart = Judge._judge_copy

    def late(judge: Judge, folder: Path, path: PurePath, **more: Any) -> Submission:
        if path.parts[0] == "eve":
            to_link(here / swapped, here / target)
        return apart(judge, folder, path, **more)

    monkeypatch.setattr(Judge, "_judge_copy", late)
    text = ok(*RUN)
    assert re.search(r"left out: eve/\S+: is a link; allowed: files and folders", text)
    without_secrets()


def test_a_file_that_is_swapped_while_it_is_read_gives_no_verdict_for_another(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    three()
    ok(*RUN)
    before = Path("out/staff/ranks.csv").read_text()
    shutil.rmtree("out")
    twin = Path("class/eve/final_strategy.csv")
    put(twin, table(1))  # as ann's
    apart = Judge._judge_copy

    def late(judge: Judge, folder: Path, path: PurePath, **more: Any) -> Submission:
        if path.parts[0] == "eve":
            put(twin, table(0))
        found = apart(judge, folder, path, **more)
        put(twin, table(1))
        return found

    monkeypatch.setattr(Judge, "_judge_copy", late)
    ok(*RUN)
    shutil.rmtree("class/eve")
    ok(*RUN)
    assert [row["mean_win_rate"] for row in rows("out/staff/ranks.csv")] == [
        row["mean_win_rate"] for row in csv.DictReader(before.splitlines())
    ]


def test_a_link_put_there_while_a_field_is_read_is_not_followed(here: Path) -> None:
    three()
    entries = named_entries(["class"])
    to_link(here / "class/cid/final_strategy.csv", here / "secret.csv")
    found = entries_of(Judge(GAME).judge(entries))
    assert len(found.entries) == 2
    assert [one.reason for one in found.refused] == [
        "class/cid/final_strategy.csv: is a link; allowed: files and folders"
    ]


@pytest.mark.slow
def test_a_file_of_the_folder_itself_sees_no_other(here: Path) -> None:
    put(Path("class/rival.csv"), table(8))
    look = "import os\nPLAYER_NAME = 'Look'\nn = len(os.listdir(os.path.dirname(__file__)))\n"
    put(Path("class/flat.py"), f"{look}final_strategy = lambda a, b: min(n, 2)\n")
    needs = "PLAYER_NAME = 'Own'\nn = int(open(__file__[:-17] + 'helper.txt').read())\n"
    put(Path("class/own/final_strategy.py"), f"{needs}final_strategy = lambda a, b: n\n")
    put(Path("class/own/helper.txt"), "2")
    for again in (RUN, ("tournament", "class", *RUN[2:4])):
        found = ask(*again, "--trust", *UNSAFE)
        rates, at = (
            found["win_rates"],
            {Path(one).name: n for n, one in enumerate(found["entries"])},
        )
        ones, twos = (np.full((GOAL, GOAL), n) for n in (1, 2))
        expected = GAME.win_rate(ones, twos).win_rate
        got = rates[at["flat.py"]][at["final_strategy.py"]]
        assert got == pytest.approx(expected, abs=1e-12)


# --- isolation ------------------------------------------------------------------------------------


def test_code_of_others_is_refused_where_nothing_isolates_it(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    none = isolation()._replace(bubblewrap=None, reason="bwrap is not installed")
    monkeypatch.setattr("hogeq.support.sandbox.isolation", lambda: none)
    three()
    listed = "tournament", "class", *RUN[2:4], "--trust"
    assert ok(*RUN, "--trust")
    assert ok(*listed)
    put(Path("class/eve/final_strategy.py"), "open('../../was_run', 'w')")
    shutil.rmtree("out")
    for call in ((*RUN, "--trust"), listed, ("tournament", "class/*/*", *RUN[2:4], "--trust")):
        line = refused_by(*call)
        assert "bwrap is not installed" in line
        assert "--no-sandbox" in line
    assert not Path("out").exists()
    assert not [*here.rglob("was_run")]


# --- words ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "line", "told"),
    [
        (
            "raises",
            "final_strategy(0, 41) raised IndexError: SECRET",
            "final_strategy(0, 41) raised IndexError",
        ),
        (
            "raises",
            "final_strategy(0, 41) raised SECRET: x",
            "final_strategy(0, 41) raised an error of its own",
        ),
        (
            "raises",
            "final_strategy(0, 41) raised eval: x",
            "final_strategy(0, 41) raised an error of its own",
        ),
        ("code", "raised SyntaxError: SECRET (x.py, line 3)", "raised SyntaxError in line 3"),
        (
            "raises",
            "final_strategy(0, 0) raised KeyError: SECRET (in SECRET, line 12)",
            "final_strategy(0, 0) raised KeyError in line 12",
        ),
        ("code", "raised SECRET", "raised an error of its own"),
        ("code", "defines no function final_strategy(score, opponent_score)", ...),
        ("code", "SECRET", "gave what is not allowed"),
        ("range", "final_strategy(0, 0) is 11 (int); allowed: ints from 0 to 10", ...),
        ("range", "final_strategy(0, 0) is -3 (int); allowed: ints from 0 to 10", ...),
        (
            "range",
            "final_strategy(0, 0) is 'SECRET' (str); allowed: x",
            "final_strategy(0, 0) gave what is not allowed",
        ),
        (
            "range",
            "final_strategy(0, 0) is 1 (SECRET); allowed: x",
            "final_strategy(0, 0) gave what is not allowed",
        ),
        (
            "range",
            "final_strategy(0, 0) is 12345678901234567890 (int); allowed: x",
            "final_strategy(0, 0) gave what is not allowed",
        ),
        ("impure", "final_strategy(3, 1) is 6, and 7 when asked again: it must depend", ...),
        (
            "impure",
            "final_strategy(3, 1) is 6, and 'SECRET' when asked again: x",
            "final_strategy(3, 1) gave what is not allowed when asked again",
        ),
        (
            "impure",
            "final_strategy(3, 1) is 6, and when asked again raised KeyError: SECRET",
            "final_strategy(3, 1) when asked again, it raised KeyError",
        ),
        (
            "time",
            "final_strategy(2, 1) gave no answer within 60 seconds; 201 of 10,000 positions",
            ...,
        ),
        ("range", "cell (row 0, column 1) is 'raised'; allowed: whole numbers", ...),
        (
            "name",
            "player name 'SECRET': has 9",
            "PLAYER_NAME: allowed: a text of 1 to 64 characters",
        ),
        (
            "unread",
            "cannot be judged: KeyError: 'SECRET'",
            "cannot be judged: ask those who run the contest",
        ),
    ],
)
def test_a_page_says_a_fault_without_the_words_of_its_code(kind: str, line: str, told: Any) -> None:
    assert _without_own_text(Fault(kind, 1, line)) == (line if told is ... else told)


@pytest.mark.parametrize(
    ("rate", "kind"),
    [
        (0.499998, "bad"),
        (0.4999995, ""),
        (0.5, ""),
        (0.5000005, ""),
        (0.500001, ""),
        (0.500002, "good"),
    ],
)
def test_even_is_as_wide_as_in_the_contest(rate: float, kind: str) -> None:
    """A match is won by a win rate above 0.500001, by the contest's server."""
    assert outcome(rate) == kind


@pytest.mark.slow
def test_public_names_are_never_the_same(here: Path) -> None:
    names = ["X", "X (2)", "X", "x", "\uff38", "X\ufe0f", "X (3)", "X", "\u3164", "", "Hog 0000"]
    for number, name in enumerate(names):
        code = f"PLAYER_NAME = {name!r}\nROLLS = {[[number % 3] * GOAL] * GOAL}\n"
        put(Path(f"class/s{number:02}.py"), code)
    for options in ((), ("--pseudonyms",)):
        ok(*RUN, *options)
        public = [row["name"] for row in rows("out/public/ranks.csv")]
        alike = {unicodedata.normalize("NFKC", name).casefold() for name in public}
        assert len(alike) == len(public) == len(names)
        for word in ("s00", "s08", ".py"):
            assert word not in " ".join(public)
    assert all(re.fullmatch("Hog [0-9a-f]+", name) for name in public)


def test_staff_hears_what_an_entry_reads_and_tried(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    three()
    inspect = inspect_submission

    def reading(path: Path, *given: Any, **more: Any) -> Submission:
        found = inspect(path, *given, **more)
        read = (f"{path.parent}/{WORDS}.txt", "b" * 900)
        return replace(found, files=read, alone=True) if path.read_text() == table(3) else found

    monkeypatch.setattr(judging, "inspect_submission", reading)
    remark = f"reads other files: {WORDS}.txt, bbb"
    (one,) = ask(*RUN)["remarks"]
    assert one["entry"] == "cid/final_strategy.csv"
    assert one["remark"].startswith(remark)
    assert len(one["remark"]) <= 500
    assert f"remark: cid/final_strategy.csv: {remark}" in ok(*RUN)
    (row,) = [row for row in rows("out/staff/ranks.csv") if row["remark"]]
    assert row["remark"].startswith(remark)
    assert remark in Path("out/staff/index.html").read_text()
    (page,) = Path("out/staff/entrants").glob("cid-*")
    assert "it reads other files, and works without them: 2 files" in page.read_text().replace(
        "It ", "it "
    )
    without_secrets()
