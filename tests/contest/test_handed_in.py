"""Submissions as Gradescope and Canvas hand them out, groups, points and the sheet of grades."""

import csv
import errno
import io
import os
import stat
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from hogeq.contest import handed_in
from hogeq.contest.handed_in import submissions_in
from hogeq.contest.roster import HandedIn, Roster, parse_rule_for_points, points, unpack_submissions
from hogeq.support.messages import HogeqError
from tests.cli.calls import ok, refused
from tests.contest.hostile import DICE, GOAL, table

FILE = "final_strategy.csv"

ROSTER = """# points: valid = 1; rank 1 = 3; always_roll:1 1 % = 0.5
# assignment: Hog contest (1234)
account,name,group
ann@x.edu,"Lee, Ann",
bob@x.edu,"Ray, Bob",
cy@x.edu,"Young, Cy",
di@x.edu,"Moe, Di",team/7
fay@x.edu,"Zed, Fay",team/7
gil@x.edu,"Null, Gil",
"""

METADATA = """---
submission_{number}:
  :submitters:
{people}  :created_at: &1 2025-11-28 23:59:59.123456000 Z
  :score: 0.0
  :results: !ruby/hash:ActiveSupport::HashWithIndifferentAccess
    tests:
    - :submitters: nobody
  :history:
  - :id: 3
    :created_at: *1
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("small.yaml").write_text(f"{{edition: fa25, goal: {GOAL}, max_dice: {DICE}}}\n")
    Path("roster.csv").write_text(ROSTER)
    Path("to").mkdir()


def zipped(name: str, files: Mapping[str, str | bytes]) -> Path:
    with zipfile.ZipFile(name, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            archive.writestr(path, content)
    return Path(name)


def gradescope(**more: str | bytes) -> Path:
    """Write an export of Gradescope, as a zip."""
    files: dict[str, str | bytes] = {}
    about = ""
    for number, mails, content in (
        (9, ["ann", "bob"], table(1)),
        (10, ["cy"], table(1)),  # the table of Ann and Bob once more
        (11, ["di"], table(2)),
        (12, ["fay"], table(3)),  # later than that of Di, of the same group
        (13, ["xi"], table(4)),  # whom the roster does not have
    ):
        files[f"assignment_5_export/submission_{number}/{FILE}"] = content
        people = "".join(
            f"  - :name: {one}\n    :sid: '{number}'\n    :email: {one}@x.edu\n" for one in mails
        )
        about += METADATA.format(number=number, people=people).removeprefix("---\n")
    files["assignment_5_export/submission_metadata.yml"] = f"---\n{about}"
    files["__MACOSX/._assignment_5_export"] = b"\0"
    files |= {f"assignment_5_export/{path}": content for path, content in more.items()}
    return zipped("export.zip", files)


def run(source: str, *more: str) -> str:
    rules = ("--rules", "small.yaml", "--roster", "roster.csv", "--out", "contest")
    return ok("tournament", source, *rules, *more)


def grades() -> dict[str, str]:
    with Path("contest/staff/grades.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == [
        *("Student", "ID", "SIS User ID", "SIS Login ID", "Section"),
        "Hog contest (1234)",
    ]
    return {row[0].strip(): row[-1] for row in rows[1:]}


def test_a_zip_of_gradescope_becomes_a_sheet_of_grades() -> None:
    text = run(str(gradescope()))
    ranks = {
        row["student"]: row["rank"]
        for row in csv.DictReader(io.StringIO(Path("contest/staff/ranks.csv").read_text()))
    }
    assert set(ranks) == {"ann@x.edu+bob@x.edu", "cy@x.edu", "xi@x.edu", *ranks}
    (team,) = (student for student in ranks if student.startswith("team_7~"))
    assert len(ranks) == 4
    assert ranks["cy@x.edu"] == ""  # plays once

    def worth(student: str) -> str:
        return f"{(3 if ranks[student] == '1' else 1) + 0.5:g}"

    pair = worth("ann@x.edu+bob@x.edu")
    assert grades() == {
        "Points Possible": "3.5",
        "Lee, Ann": pair,
        "Ray, Bob": pair,
        "Young, Cy": pair,
        "Moe, Di": worth(team),
        "Zed, Fay": worth(team),
        "Null, Gil": "",
    }
    assert "the same table, played once: ann@x.edu+bob@x.edu = cy@x.edu" in text
    assert "not in the roster: submission_13\n" in text
    assert "grades.csv: points of 6 students, of whom 5 handed in something" in text
    lines = text[text.index("\nstrategy ") :].splitlines()
    assert max(map(len, lines)) <= 100
    first = grades()
    with zipfile.ZipFile("export.zip") as archive:  # and the same, unpacked
        archive.extractall()
    run("assignment_5_export")
    assert grades() == first


def test_names_are_in_no_public_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handed_in, "MOST_TOTAL", 10**6)
    run(str(gradescope()), "--pseudonyms", "--csv", "ranks.csv", "--html", "ranks.html")
    files = [Path("ranks.csv"), Path("ranks.html"), *Path("contest/public").iterdir()]
    assert len(files) == 4
    for file in files:
        for word in ("ann", "x.edu", "team", "Lee", "submission_1", FILE):
            assert word not in file.read_text("utf-8").split("<body>")[-1], (file, word)


def handed(source: Path, roster: str | None = "roster.csv") -> HandedIn:
    return unpack_submissions(source, Path("to"), None if roster is None else Roster(Path(roster)))


CODE = "final_strategy.py"

GRADEBOOK = """Student,ID,SIS User ID,SIS Login ID,Section,Quiz (77)
    Points Possible,,,,,10
"Lee, Ann",501,3031,1111,DIS 1,9
"De la Cruz, Bob",502,3032,1112,DIS 1,8
"Student, Test",599,,abc,DIS 1,
"""


def test_files_of_canvas_are_sorted_by_student() -> None:
    project = zipped("p.zip", {f"hogproj/{CODE}": table(2), "hogproj/hog.py": "1"}).read_bytes()
    Path("gradebook.csv").write_text(GRADEBOOK, encoding="utf-8-sig")
    files: dict[str, str | bytes] = {
        f"leeann_501_9001_{CODE}": table(1),
        "leeann_501_9002_hog-2.py": "x = 1",
        "delacruzbob_LATE_502_9003_hog.zip": project,
        f"delacruzbob_LATE_502_9004_{CODE.replace('.', '-1.')}": table(3),
        f"nobody_777_9005_{CODE}": table(4),
        f"anon_Xy12Z_9006_{CODE}": table(5),
    }
    for source in (zipped("bcourses.zip", files), Path("folder")):
        if not source.exists():
            source.mkdir()
            for name, content in files.items():
                data = content.encode() if isinstance(content, str) else content
                (source / name).write_bytes(data)
            Path("to").rename("before")
            Path("to").mkdir()
        found = handed(source, "gradebook.csv")
        assert {one.name for one in found.entrants} == {
            f"1111/{CODE}",
            f"1112/hogproj/{CODE}",  # of several the last by name
            f"nobody_777/{CODE}",
            f"anon_xy12z/{CODE}",
        }
        assert Path("to/1111/hog.py").read_text() == "x = 1"
        assert Path(f"to/1112/hogproj/{CODE}").read_text() == table(2)
        assert (found.students["1111"], found.students["1112"]) == ([0], [1])
        assert found.unknown == ["anon_Xy12Z", "nobody_777"]
    people = Roster(Path("gradebook.csv")).people
    assert [(one["id"], one["sid"], one["section"]) for one in people] == [
        ("501", "3031", "DIS 1"),
        ("502", "3032", "DIS 1"),
    ]


def link(path: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(path)
    info.create_system = 3
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return info


def test_what_a_student_hands_in_is_a_fault_of_that_student_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(handed_in, "MOST_BYTES", 2**20)
    monkeypatch.setattr(handed_in, "MOST_FILES", 50)
    inner = zipped("inner.zip", {f"a/{FILE}": table(1), "a/../../../evil": "x"}).read_bytes()
    twice = zipped("twice.zip", {"inner.zip": inner, FILE: table(1)}).read_bytes()
    with zipfile.ZipFile("class.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for number in (1, 2):
            archive.writestr(f"good{number}/{FILE}", table(number))
        archive.writestr(link(f"links/{FILE}"), "/etc/passwd")
        archive.writestr(link("linksdir"), "/etc")
        archive.writestr(f"up/../../up/{FILE}", table(1))
        archive.writestr("back\\slash/x/y.csv", "1")
        archive.writestr(f"bomb/{FILE}", b"1" * 2**22)
        archive.writestr("inner/hog.zip", inner)
        archive.writestr("twice/hog.zip", twice)
        archive.writestr("not a zip/hog.zip", b"PK\3\4 no")
        archive.writestr("long/" + "n" * 300, "1")
        archive.writestr("null/" + "a\0b", "1")
        archive.writestr(f"both/{FILE}", table(1))
        archive.writestr(f"both/{FILE}/x.csv", table(1))
        for number in range(60):
            archive.writestr(f"many/{number}.csv", "1")
        archive.writestr("deep/" + "a/" * 1500 + FILE, table(1))
        archive.writestr("con/\x1b[2J\u202e.csv", table(1))
        archive.writestr(f"=cmd/{FILE}", table(3))
    data = bytearray(Path("class.zip").read_bytes())
    Path("class.zip").write_bytes(data)
    found = handed(Path("class.zip"), None)
    faults = {one.student: one.fault for one in found.entrants}
    for student, words in {
        "links": "is a link, or not a file",
        "linksdir": "is a link, or not a file",
        "up": "leads out of its folder",
        "bomb": "holds too much; allowed: 50 files, 1,048,576 bytes",
        "inner": "leads out of its folder",
        "not a zip": "cannot be unpacked: it is no zip, or one damaged or encrypted",
        "long": "cannot be unpacked: ",
        "both": "cannot be unpacked: ",
        "many": "holds too much; ",
        "deep": "holds too much; allowed: 50 files, 1,048,576 bytes, folders 32 deep",
    }.items():
        assert words in faults[student], student
        assert faults[student].isprintable()
    for student in ("good1", "good2", "twice"):
        assert faults[student] == ""
    assert not any(path.is_symlink() for path in Path("to").rglob("*"))
    outside = {path.name for path in Path().iterdir()}
    assert outside == {*("to", "small.yaml", "roster.csv", "class.zip", "inner.zip", "twice.zip")}
    names = [one.student for one in found.entrants]
    assert all(name.isprintable() for name in names)
    assert any(name.startswith(("cmd~", "_cmd")) for name in names)


@pytest.mark.parametrize("kind", ["crc", "encrypted", "method"])
def test_a_file_that_cannot_be_unzipped_is_one_students(kind: str) -> None:
    zipped("class.zip", {f"good/{FILE}": table(1), f"bad/{FILE}": table(2)})
    data = bytearray(Path("class.zip").read_bytes())
    entry = data.rindex(b"PK\1\2")  # that of bad, in the directory
    if kind == "crc":
        data[entry + 16] ^= 1
    elif kind == "encrypted":
        data[entry + 8] |= 1
    else:
        data[entry + 10] = 99
    Path("class.zip").write_bytes(data)
    found = {one.student: one.fault for one in handed(Path("class.zip"), None).entrants}
    assert found["good"] == ""
    assert found["bad"] == "cannot be unpacked: it is no zip, or one damaged or encrypted"


def test_a_full_disk_is_no_damaged_zip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def write(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    zipped("class.zip", {f"good/{FILE}": table(1)})
    submission = submissions_in(Path("class.zip"))[0]
    monkeypatch.setattr(Path, "write_bytes", write)
    _, fault = handed_in.unpack(submission, tmp_path / "unpacked", 0)
    assert fault == "cannot be unpacked: No space left on device"


def test_a_folder_with_a_link_is_one_students(tmp_path: Path) -> None:
    for student in ("good", "bad"):
        Path("class", student).mkdir(parents=True)
        Path("class", student, FILE).write_text(table(1))
    Path("class/bad/link").symlink_to(tmp_path)
    found = {one.student: one.fault for one in handed(Path("class"), None).entrants}
    assert found == {"good": "", "bad": "bad/link: is a link; allowed: files and folders"}


@pytest.mark.parametrize("limit", ["MOST_TOTAL", "MOST_MEMBERS"])
def test_all_together_are_bounded(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handed_in, limit, 3)
    with pytest.raises(HogeqError, match=r"more than 3 (bytes|files)"):
        handed(gradescope(), None)


@pytest.mark.parametrize("cut", [0, 10, -30])
def test_a_broken_zip_is_refused_in_one_line(cut: int) -> None:
    whole = gradescope().read_bytes()
    Path("cut.zip").write_bytes(whole[:cut])
    line = refused("tournament", "cut.zip", "--rules", "small.yaml", "--out", "contest")
    assert "allowed for one folder of submissions, or one zip" in line or "cut.zip: cannot" in line


@pytest.mark.parametrize("kind", ["pipe", "device", "link to a device"])
def test_what_never_ends_is_no_zip(kind: str) -> None:
    if kind == "pipe":
        os.mkfifo("class.zip")
    else:
        Path("class.zip").symlink_to("/dev/zero")
    source = "/dev/zero" if kind == "device" else "class.zip"
    line = refused("tournament", source, "--rules", "small.yaml", "--out", "contest")
    assert "allowed for one folder of submissions, or one zip" in line
    with pytest.raises(HogeqError, match="is neither a folder nor a zip"):
        handed(Path(source), None)


def test_metadata_that_is_no_text_is_named() -> None:
    Path("class").mkdir()
    Path("class/submission_metadata.yml").write_bytes("ann:\n".encode("utf-16"))
    with pytest.raises(HogeqError, match=r"metadata.yml: is not UTF-8 text at byte 0, it"):
        handed(Path("class"), None)


HOSTILE_YAML = {
    "deep": "submission_9:\n  :submitters:\n  - " + "[" * 500,
    "bomb": "submission_9:\n  :submitters:\n"
    + "".join(f"  - &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)),
    "tag": "submission_9:\n  :submitters:\n  - !!python/object/apply:os.system ['touch pwned']\n",
    "long": "submission_9:\n  :submitters:\n  - :name: " + "x" * 9999 + "\n",
}


@pytest.mark.parametrize("kind", HOSTILE_YAML)
def test_metadata_are_plain_and_bounded(kind: str) -> None:
    source = gradescope(**{"submission_metadata.yml": HOSTILE_YAML[kind]})
    with pytest.raises(HogeqError, match=r"^export.zip: submission_metadata.yml: submission_9: "):
        submissions_in(source)
    assert not Path("pwned").exists()


def test_points_are_by_rank_and_by_win_rate() -> None:
    rule = parse_rule_for_points(
        "valid = 1; rank 1 = 3; rank 3 = 2.5; boar:11,6 50% = 1; boar:11,6 60.5 % = 2"
    )
    rates = {"boar:11,6": 0.5}
    assert [points(rule, rank, rates) for rank in (1, 2, 3, 4)] == [4, 3.5, 3.5, 2]
    assert points(rule, 9, {"boar:11,6": 0.605}) == 3
    assert points(rule, 9, {"boar:11,6": 0.4999}) == 1
    assert parse_rule_for_points("") == []
    for text in ("rank = 1", "valid: 1", "boar = 1", "rank 1 = -2", "valid = 1, rank 2 = 1"):
        with pytest.raises(HogeqError, match=r"points: got .*; allowed: valid = 1; rank 10 = 2"):
            parse_rule_for_points(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("# pionts: valid = 1\naccount\na\n", "nearest: points"),
        ("mail;name\na;b\n", "columns account, name, group"),
        ("", "columns account, name, group"),
        ("account\n\xff", "is not UTF-8 text at byte 8"),
        (f"account\n{'x' * 200_000}\n", "line 2: got 'xxx"),
        ('account,name\na,"Ann\nb,Bob\n', "line 2: got 'a,"),
        ("account,name\na,Ann\nA,Bob\n", "account a comes twice; allowed: each account and"),
    ],
)
def test_a_roster_is_refused_in_one_line(text: str, words: str) -> None:
    Path("roster.csv").write_bytes(text.encode("latin-1"))
    call = ("tournament", str(gradescope()), "--rules", "small.yaml", "--out", "contest")
    assert words in refused(*call, "--roster", "roster.csv")


def test_a_rule_names_a_strategy_that_there_is() -> None:
    call = ("tournament", str(gradescope()), "--rules", "small.yaml", "--out", "contest")
    roster = ("--roster", "roster.csv", "--points")
    assert "nearest: boar" in refused(*call, *roster, "baor 50 % = 1")
    assert "allowed only with --roster" in refused(*call, "--points", "valid = 1")
    assert "allowed only with --out FOLDER" in refused(*call[:4], *roster[:2])
    assert "is an archive; --out FOLDER takes that of a class" in refused(*call[:4])


def test_students_are_known_by_number_and_by_name_if_it_is_one_persons() -> None:
    Path("roster.csv").write_text(
        "First Name,Last Name,SID,Email,Role\nAnn,Lee,1,ann@x.edu,Student\n"
        "Ann,Lee,2,lee@x.edu,Student\nBob,de Ray,3,bob@x.edu,Student\nTA,Who,4,ta@x.edu,TA\n"
        "Cher,,5,cher@x.edu,Student\n"
    )
    roster = Roster(Path("roster.csv"))
    assert [one["name"] for one in roster.people] == ["Ann Lee", "Ann Lee", "Bob de Ray", "Cher"]
    for given, numbers in (
        ({"email": "LEE@x.edu", "name": "Ann Lee"}, [1]),
        ({"email": "other@y.edu", "sid": "1"}, [0]),
        ({"name": "Ann Lee"}, []),
        ({"name": "Cher"}, [3]),
        ({"name": "raybobde"}, [2]),
        ({"account": "ta@x.edu"}, []),
    ):
        assert roster.group_of([given]) == numbers
