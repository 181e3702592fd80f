"""A field of many files."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import hogeq
from hogeq.support.sandbox import isolation
from tests.cli.calls import ask, ok, refused

R = ("--rules", "fa22.yaml")


@pytest.fixture
def field(folder: Path) -> Path:
    (folder / "field").mkdir()
    for dice in (0, 1, 2, 3):
        row = ",".join(20 * [str(dice)]) + "\n"
        (folder / "field" / f"roll_{dice}.csv").write_text(20 * row)
    return folder


def test_a_folder_and_a_pattern_are_a_field(field: Path) -> None:
    found = ask("tournament", "field", *R)
    assert found["entries"] == [f"field/roll_{dice}.csv" for dice in range(4)]
    assert ask("tournament", "field/*.csv", *R) == found
    assert ask("tournament", "field", "./field/roll_0.csv", *R) == found
    assert found["nash_gap"] < 1e-12
    for line in found["ranking"]:
        row = found["win_rates"][line["index"]]
        assert line["lowest_win_rate"] == row[line["lowest_against"]]
        assert line["lowest_win_rate"] == min(row[: line["index"]] + row[line["index"] + 1 :])


def test_tables_and_the_page_of_a_field(field: Path) -> None:
    files = ("--csv", "ranks.csv", "--html", "field.html")
    found = ask("tournament", "field", "always_roll:3", *R, *files)
    with (field / "ranks.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["file"] for row in rows] == [line["file"] for line in found["ranking"]]
    names = [line["name"] for line in sorted(found["ranking"], key=lambda line: line["index"])]
    for line, row in zip(found["ranking"], rows, strict=True):
        assert list(row)[:4] == ["rank", "name", "file", "wins"]
        assert row["lowest_against"] == names[line["lowest_against"]]
        assert float(row["mean_win_rate"]) == line["mean_win_rate"]
    assert found["identical"] == [[3, 4]]
    page = (field / "field.html").read_text()
    assert "roll_3.csv = always_roll:3" in page
    packed = json.loads(page.split('<script type="application/json" id="data">')[1].split("<")[0])
    assert len(packed["rates"]) == len(packed["rows"]) == 5
    assert np.array(packed["rates"]) == pytest.approx(np.array(found["win_rates"]), abs=1e-8)
    assert "http" not in page.split("</style>")[1]
    text = ok("tournament", "field", "always_roll:3", *R)
    assert "the same strategy: roll_3.csv = always_roll:3" in text
    assert "no entry beats the mixture (Nash): " in text


def test_names_of_files_that_are_no_text_are_written_in_text(field: Path) -> None:
    names = ("field/\udcff.csv", "field/\x1b[31m.csv", "field/\u202e.csv", "field/\n1 x.csv")
    for name in names:
        Path(name).write_text(Path("field/roll_2.csv").read_text())
    files = ("--csv", "ranks.csv", "--out", "all.csv", "--html", "field.html", "--plot", "f.png")
    text = ok("tournament", "field", *R, *files)
    written = [(field / name).read_text("utf-8") for name in ("ranks.csv", "all.csv", "field.html")]
    for content in (text, *written):
        for escaped in (r"\udcff.csv", r"\x1b[31m.csv", r"\u202e.csv", r"\n1 x.csv"):
            assert escaped in content.replace(r"\\", "\\")
        assert not set("\x1b\u202e\udcff") & set(content)
    assert len(written[0].splitlines()) == len(written[1].splitlines()) == 1 + 8
    assert (field / "f.png").read_bytes().startswith(b"\x89PNG")


def test_a_bad_file_among_many_is_named_or_left_out(field: Path) -> None:
    (field / "field" / "bad.csv").write_text("1,2\n")
    (field / "field" / "worse.py").write_text("")
    line = refused("tournament", "field", *R)
    assert line.startswith("hogeq: field/bad.csv: cell (row 0, column 2) is missing")
    assert "; field/worse.py: reading a .py runs its code" in line
    assert "; --skip-bad leaves out what cannot be read" in line
    found = ask("tournament", "field", *R, "--skip-bad")
    assert len(found["entries"]) == 4
    assert [one["entry"] for one in found["refused"]] == ["field/bad.csv", "field/worse.py"]
    text = ok("tournament", "field", *R, "--skip-bad")
    assert "left out: field/worse.py: reading a .py runs its code" in text
    few = refused("tournament", "field/bad.csv", "field/roll_1.csv", *R, "--skip-bad")
    assert "1 of 2 entries are valid; allowed: 2 or more, and a file counts once; field/bad" in few


def test_the_same_command_again_gives_the_same(field: Path) -> None:
    files = "--csv", "field/ranks.csv", "--out", "field/all.json", "--html", "field/page.html"
    found = ask("tournament", "field", *R, *files)
    assert (field / "field" / "ranks.csv").exists()
    assert ask("tournament", "field", *R, *files) == found
    assert ask("tournament", "./field/*.*s*", *R, *files)["win_rates"] == found["win_rates"]


HOSTILE = {
    "kill": "import os; os.kill(os.getppid(), 9)",
    "limit": "import os, resource; resource.prlimit(os.getppid(), resource.RLIMIT_CPU, (1, 1))",
    "fork": "import os\nwhile True: os.fork()",
    "memory": "dice = [0] * 10**12",
    "write": "open('kept.py', 'w')",
    "flood": "import os\nfor n in range(3, 9):\n  try: os.write(n, b'9' * 10**6)\n  except: 0",
    "hang": "while True: pass",
}


@pytest.mark.slow
@pytest.mark.skipif(isolation().bubblewrap is None, reason=isolation().reason)
def test_a_folder_of_hostile_entries_keeps_its_page_and_its_other_entries(field: Path) -> None:
    good = "PLAYER_NAME = 'Ann'\ndef final_strategy(score, opponent): return 2\n"
    (field / "class").mkdir()
    (field / "class" / "kept.py").write_text(good)
    for name, code in HOSTILE.items():
        (field / "class" / f"{name}.py").write_text(f"{code}\n{good}")
    options = ("--trust", "--skip-bad", "--time-limit", "4", "--html", "class.html")
    found = ask("tournament", "class", "always_roll:3", *R, *options)
    # Two find nobody that they could harm, and play.
    harmless = {"kill", "limit"}
    names = {f"Ann ({name}.py)" for name in ("kept", *harmless)}
    assert {line["name"] for line in found["ranking"]} == names | {"always_roll:3"}
    assert {Path(one["entry"]).stem for one in found["refused"]} == set(HOSTILE) - harmless
    assert (field / "class" / "kept.py").read_text() == good
    assert "Ann" in (field / "class.html").read_text()


def test_two_entries_play_one_match(field: Path) -> None:
    two = "field/roll_1.csv", "field/roll_2.csv"
    assert "2 strategies, 1 match each" in ok("tournament", *two, *R)
    assert "3 strategies, 2 matches each" in ok("tournament", *two, "field/roll_3.csv", *R)
    line = refused("tournament", two[0], f"./{two[0]}", *R)
    assert "1 of 1 entries is valid; allowed: 2 or more, and a file counts once" in line


def test_a_semester_is_that_semester_beside_a_folder_of_its_name(folder: Path) -> None:
    (folder / "fa25").mkdir()
    assert ask("compare", "boar", "always_roll:6", "--rules", "fa25")["rules"] == "fa25"


def test_equals_are_told_apart_by_bytes_or_by_a_strategy(folder: Path) -> None:
    """Two files of one table share a rank, until the smaller file ranks first."""
    game = hogeq.Game({"edition": "fa22", "goal": 20, "max_dice": 4})
    (folder / "twenty.yaml").write_text("{edition: fa22, goal: 20, max_dice: 4}")
    for dice, mark in ((2, " "), (3, ",")):
        rows = [mark.join([str(dice)] * 20) + "\n"] * 20
        (folder / f"{dice}.csv").write_text("".join(rows))
        (folder / f"{dice} padded.csv").write_text("".join(rows) + "\n" * dice)
    files, rules = ["2.csv", "2 padded.csv", "3.csv"], ("--rules", "twenty.yaml")
    plain = ask("tournament", *files, *rules)["ranking"]
    by_bytes = ask("tournament", *files, *rules, "--tie-break", "bytes")
    assert by_bytes["tie_break"] == "bytes"
    ranks = {line["entry"]: (line["rank"], line["tie_break"]) for line in by_bytes["ranking"]}
    first = min(line["rank"] for line in plain if line["entry"].startswith("2"))
    assert ranks["2.csv"] == (first, 800)
    assert ranks["2 padded.csv"] == (first + 1, 802)
    by_four = ask("tournament", *files, *rules, "--tie-break", "always_roll:4")["ranking"]
    assert [line["rank"] for line in by_four] == [line["rank"] for line in plain]
    rates = {line["entry"]: line["tie_break"] for line in by_four}
    for file, dice in (("2.csv", 2), ("3.csv", 3)):
        exact = game.win_rate(f"always_roll:{dice}", "always_roll:4").win_rate
        assert rates[file] == pytest.approx(exact, abs=1e-11)
    assert "tie_break" not in plain[0]
    text = ok("tournament", *files, *rules, "--tie-break", "bytes", "--html", "page.html")
    assert "tie-break" in text
    assert '"tie-break"' in (folder / "page.html").read_text()
    told = refused("tournament", "2.csv", "always_roll:1", *rules, "--tie-break", "bytes")
    assert "always_roll:1: cannot be read" in told
    assert "nobody" in refused("tournament", *files, *rules, "--tie-break", "nobody")
