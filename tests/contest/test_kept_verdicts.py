"""What one call keeps for the next: verdicts, and what is left of a call that was stopped."""

import errno
import json
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from hogeq.cli import app
from hogeq.contest import folders, judging
from hogeq.contest.submission import inspect_submission
from hogeq.strategies.submissions import Fault, Submission
from hogeq.support import files
from tests.cli.calls import ask, ok
from tests.cli.calls import refused as refused_by
from tests.contest.hostile import DICE, GOAL, put, table
from tests.contest.hostile_calls import RUN, UNSAFE, three, written

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="names that Linux alone has")


# --- what is kept ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "is_kept"),
    [
        *(
            ({"strategy": None, "faults": (Fault(kind, 1, "line"),)}, True)
            for kind in ("range", "code", "time")
        ),
        *(
            ({"strategy": None, "faults": (Fault(kind, 1, "line"),)}, False)
            for kind in ("crash", "unread")
        ),
        ({"strategy": None, "faults": (Fault("range", 1, "a"), Fault("crash", 1, "b"))}, False),
        ({"files": ("helper.csv",), "alone": True}, False),
        ({}, True),
    ],
    ids=str,
)
def test_a_verdict_that_another_call_may_not_find_is_not_kept(
    here: Path, monkeypatch: pytest.MonkeyPatch, change: dict[str, Any], is_kept: bool
) -> None:
    three()
    asked: list[str] = []
    inspect = inspect_submission

    def changed(path: Path, *given: Any, **more: Any) -> Submission:
        content = path.read_text()
        asked.append(content)
        found = inspect(path, *given, **more)
        return replace(found, **change) if content == table(3) else found  # files are read at once

    monkeypatch.setattr(judging, "inspect_submission", changed)
    assert ask(*RUN) == ask(*RUN)
    assert asked.count(table(1)) == asked.count(table(2)) == 1
    assert asked.count(table(3)) == (1 if is_kept else 2)


@pytest.mark.slow
def test_a_file_that_comes_beside_code_makes_it_another_entry(here: Path) -> None:
    three()
    code = "PLAYER_NAME = 'D'\nn = int(open('n.txt').read())\nfinal_strategy = lambda a, b: n\n"
    put(Path("class/dan/final_strategy.py"), code.replace("'n.txt'", "__file__[:-17] + 'n.txt'"))
    assert "left out: dan/final_strategy.py: " in ok(*RUN, "--trust", *UNSAFE)
    put(Path("class/dan/n.txt"), "1")
    assert "left out" not in ok(*RUN, "--trust", *UNSAFE)


def test_no_more_is_read_to_look_a_folder_up_than_may_be_judged(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "MAX_BYTES", 1000)
    read: list[int] = []
    read_whole = files.read_whole

    def counted(*given: Any, **more: Any) -> bytes:
        content = read_whole(*given, **more)
        read.append(len(content))
        return content

    monkeypatch.setattr(folders, "read_whole", counted)
    three()
    put(Path("class/dan/final_strategy.py"), "final_strategy = max")
    for number in range(9):
        put(Path(f"class/dan/{number}"), "0" * 400)
    text = ok(*RUN, "--trust", *UNSAFE)
    assert re.search("left out: dan/final_strategy.py: .*is larger than", text)
    assert sum(read) < 2 * 1000 + 3 * 2 * len(table(1))


def test_a_changed_file_is_another_entry(here: Path) -> None:
    three()
    ok(*RUN)
    put(Path("class/cid/final_strategy.csv"), "9")
    assert "left out: cid/final_strategy.csv: cell" in ok(*RUN)
    shutil.rmtree("class/cid")
    assert "left out" not in ok(*RUN)
    assert len(written("out/staff/entrants")) == 2  # none of who has gone


@pytest.mark.slow
def test_what_a_call_writes_is_no_entry_of_the_next(here: Path) -> None:
    three()
    call = (*RUN[:-3], "class/out", *RUN[-2:])
    more = ("--csv", "class/ranks.csv", "--html", "class/ann/page.html", "--plot", "class/plot.png")
    before = ask(*call, *more)
    assert ask(*call, *more) == before
    named = dict.fromkeys(("ranks", "page", "plot"))  # the files that each call writes
    # A table in a student's folder is of the student, but not where the call writes it.
    Path("class/ranks.csv").unlink()
    inside = ("--csv", "class/ann/ranks.csv")
    assert ask(*call, *inside) | named == ask(*call, *inside) | named == before | named


PART = """
import hogeq
@hogeq.rule_part("zero_dice")
def given(score: int, opponent: int) -> int:
    "A number of points."
    return POINTS
hogeq.edition(hogeq.Rules(name="mine", goal=GOAL, max_dice=DICE, zero_dice="given"))
"""


@pytest.mark.slow
def test_a_changed_plugin_is_another_game(here: Path) -> None:
    three()
    call = (*RUN[:2], "--rules", "mine", *RUN[4:], "--plugin", "part.py", "--trust", "--json")
    found = []
    for points in ("1", "2"):
        code = PART.replace("POINTS", points).replace("GOAL", f"{GOAL}")
        put(Path("part.py"), code.replace("DICE", f"{DICE}"))
        # In a process of its own, since one has one version of a plugin.
        run = [sys.executable, "-m", "hogeq", *call]
        told = subprocess.run(run, capture_output=True, text=True, check=True).stdout  # noqa: S603
        found.append(json.loads(told)["win_rates"])
    assert found[0] != found[1]


def test_code_that_was_fast_enough_is_not_for_a_shorter_time(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    three()
    put(Path("class/dan/final_strategy.py"), "PLAYER_NAME = 'D'\nfinal_strategy = lambda a, b: 1\n")
    limits: list[tuple[str, float]] = []

    def noted(path: Path, *given: Any, **more: Any) -> Submission:
        limits.append((path.suffix, more["time_limit"]))
        return inspect_submission(path, *given, **more)

    monkeypatch.setattr(judging, "inspect_submission", noted)
    for seconds in ("30", "30", "20"):
        ok(*RUN[:-1], seconds, "--trust", *UNSAFE)
    assert [one for suffix, one in limits if suffix == ".py"] == [30.0, 20.0]
    assert len(limits) == 3 + 2


# --- calls that were stopped ----------------------------------------------------------------------


def test_a_forgotten_trust_leaves_nothing(here: Path) -> None:
    for name in ("ann", "bob"):
        put(Path(f"class/{name}.py"), "PLAYER_NAME = 'a'\nfinal_strategy = lambda a, b: 1")
    assert "allowed only with --trust" in refused_by(*RUN)
    assert not Path("out").exists()
    ok(*RUN, "--trust", *UNSAFE)


@pytest.mark.slow
def test_a_full_disk_at_any_file_leaves_a_call_that_can_be_repeated(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    three()
    salt = "0" * 32
    monkeypatch.setattr("hogeq.contest.staff.secrets.token_hex", lambda _: salt)
    ok(*RUN)
    whole = written("out")
    write, left = Path.write_bytes, [0]

    def full(path: Path, data: bytes) -> int:
        if path.name.startswith(files.TEMPORARY):
            left[0] -= 1
            if left[0] < 0:
                write(path, data[: len(data) // 2])
                raise OSError(errno.ENOSPC, "No space left on device")
        return write(path, data)

    monkeypatch.setattr(Path, "write_bytes", full)
    for number in range(len(whole)):
        shutil.rmtree("out")
        left[0] = number
        line = refused_by(*RUN)
        assert re.fullmatch(r"hogeq: out/\S+: cannot be written: No space left on device\n", line)
        if number < len(whole) - 2:
            assert not [*Path("out").glob("public/*")]
        left[0] = len(whole)
        ok(*RUN)
        assert written("out") == whole

    # A temporary folder that is full is nobody's fault.
    def no_room(path: Path, data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    shutil.rmtree("out")
    monkeypatch.setattr(Path, "write_bytes", no_room)
    line = refused_by(*RUN, "--jobs", "1")  # no thread is left that still reads
    assert "cannot be written: No space left on device" in line
    assert not Path("out").exists()


@pytest.mark.parametrize("place", ["contest.judging.inspect_submission", "Hog.round_robin"])
def test_an_interrupted_call_leaves_nothing(
    here: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    three()

    def stopped(*given: Any, **more: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(f"hogeq.{place}", stopped)
        assert CliRunner().invoke(app, [*RUN, "--jobs", "1"]).exit_code == 130
    assert not Path("out").exists()
    ok(*RUN)


@pytest.mark.slow
def test_what_a_killed_call_leaves_is_an_earlier_one(here: Path) -> None:
    three()
    for left in (
        *("out", "out/staff", "out/staff/.tmp-1234-cache.json", "out/entrants"),
        "out/staff/cache.json",
    ):
        shutil.rmtree("out", ignore_errors=True)
        path = Path(left)
        put(path, "{") if path.suffix else path.mkdir(parents=True)
        ok(*RUN)
        assert Path("out/public/ranks.csv").exists()
    before = written("out/public")
    Path("out/public/index.html").write_text("")
    (page,) = Path("out/staff/entrants").glob("ann-*")
    page.write_bytes(b"\xff")
    ok(*RUN)
    assert written("out/public") == before
    assert "Rank " in page.read_text()


def test_an_earlier_hogeqs_folder_is_refused_and_stays(here: Path) -> None:
    three()
    put(Path("out/cache.json"), "{}")
    put(Path("out/entrants/ann.html"), "private")
    before = written("out")
    line = refused_by(*RUN)
    assert (
        "out: is of an earlier hogeq, private pages beside the public one; allowed: a new" in line
    )
    assert written("out") == before
    put(Path("file"), "")
    assert "cannot be made; allowed: a folder that can be" in refused_by(*RUN[:-3], "file/out")
    assert "has other files" in refused_by(*RUN[:-3], "class")
