"""A contest as its staff runs it: twenty entries in several forms."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hogeq.contest import tournament
from hogeq.evaluation.values import win_rate
from hogeq.model.game import compile_game
from hogeq.model.workspace import WinRate
from hogeq.rules.reading import find_rules
from tests.cli.calls import ask, ok, refused
from tests.contest.classroom import BAD, code, fill, lines, rows_of

GOAL = 14
R = ("--rules", "class.yaml")
RUN = ("tournament", "class", *R, "--trust", "--out", "out", "--time-limit", "2")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("class.yaml").write_text(f"edition: fa25\ngoal: {GOAL}\n")
    Path("class").mkdir()
    return tmp_path


def ranks() -> list[dict[str, str]]:
    with Path("out/ranks.csv").open() as file:
        return list(csv.DictReader(file))


def test_twenty_entries_are_judged_ranked_and_told(here: Path) -> None:
    valid = fill(Path("class"), GOAL)
    assert len(valid) + len(BAD) == 20
    found = ask(*RUN)
    assert sorted(found["entries"]) == sorted(valid)
    game = compile_game(find_rules("class.yaml"))
    rates = np.array(found["win_rates"])
    for a, b in ((0, 1), (3, 11), (10, 8)):
        tables = (np.array(valid[found["entries"][one]]) for one in (a, b))
        assert rates[a, b] == pytest.approx(win_rate(game, *tables).win_rate, abs=1e-12)
    assert {one["entry"] for one in found["refused"]} == set(BAD)
    rows = ranks()
    assert len(rows) == 20
    assert [row["rank"] for row in rows][-len(BAD) - 1 :][1:] == [""] * len(BAD)
    for row in rows:
        page = (Path("out") / row["page"]).read_text()
        assert ("Not valid." in page) == (row["rank"] == "") == (row["file"] in BAD)
        if row["rank"]:
            assert f"Rank {row['rank']} of 12: {row['wins']} of 11 matches won" in page
            assert "Where it loses" in page
    assert "final_strategy.py" not in Path("out/index.html").read_text()
    again = next(row for row in rows if row["name"] == "Again")
    assert again["file"] == "again/attempt10/final_strategy.py"
    told = (Path("out") / again["page"]).read_text()
    assert "the last by name counts: again/attempt2/final_strategy.py" in told
    assert {"The Dice", "Listers"} <= {row["name"] for row in rows}


def test_only_what_is_new_is_computed(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        Path(f"class/s{number}.py").write_text(code(rows_of(number, GOAL), f"N{number}"))
    before = ask(*RUN)
    played: list[int] = []

    def counted(*given: Any, **more: Any) -> WinRate:
        played.append(1)
        return win_rate(*given, **more)

    monkeypatch.setattr(tournament, "win_rate", counted)
    ask(*RUN)
    assert not played
    Path("class/s4.py").unlink()
    for number in (6, 7):
        Path(f"class/s{number}.py").write_text(code(rows_of(number, GOAL), f"N{number}"))
    found = ask(*RUN)
    assert len(played) == 4 * 2 + 1
    assert np.array(found["win_rates"])[:4, :4].tolist() == [
        row[:4] for row in before["win_rates"][:4]
    ]


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"made_by": None},
        {"files": {"a": {}}},
        {"files": 1},
        {"rates": [[0.5]]},
        {"rates": [["x"]]},
        {"tables": 3},
    ],
)
def test_a_cache_that_nobody_wrote_is_made_anew(here: Path, change: dict[str, Any]) -> None:
    for number in range(3):
        Path(f"class/s{number}.csv").write_text(lines(rows_of(number, GOAL)))
    found = ask(*RUN)
    cache = Path("out/cache.json")
    cache.write_text(json.dumps({**json.loads(cache.read_text()), **change}) if change else "[")
    assert ask(*RUN) == found


def test_pseudonyms_stay_and_tell_nothing(here: Path) -> None:
    for number in range(4):
        Path(f"class/s{number}.py").write_text(code(rows_of(number, GOAL), f"Name{number}"))
    ok(*RUN, "--pseudonyms")
    public = {row["name"]: row["public_name"] for row in ranks()}
    page = Path("out/index.html").read_text()
    assert all(name.startswith("Hog ") and name in page for name in public.values())
    assert "Name" not in page.split("<body>")[1].split("<script>")[0]
    Path("class/s0.py").unlink()
    ok(*RUN, "--pseudonyms")
    assert {row["name"]: row["public_name"] for row in ranks()} == {
        name: public[name] for name in ("Name1", "Name2", "Name3")
    }
    data = json.loads(page.split('id="data">')[1].split("</script>")[0])
    assert data["index"] == [0, 1, 2, 3]


def test_namesakes_are_told_apart_without_their_files(here: Path) -> None:
    for number in range(3):
        name = "Same" if number else "Other"
        Path(f"class/s{number}.py").write_text(code(rows_of(number, GOAL), name))
    ok(*RUN)
    assert {row["public_name"] for row in ranks()} == {"Other", "Same", "Same (2)"}
    assert "s1.py" not in Path("out/index.html").read_text()


def test_other_folders_are_left_alone(here: Path) -> None:
    Path("class/s0.csv").write_text("1")
    Path("other").mkdir()
    Path("other/thesis.txt").write_text("mine")
    line = refused(*RUN[:-4], "--out", "other")
    assert "other: has other files; allowed: a new folder, or an earlier one" in line
    assert "allowed for one folder of submissions" in refused(*RUN, "boar")
    assert "--pseudonyms: allowed with --out FOLDER" in refused(
        "tournament", "class", "--pseudonyms"
    )
    line = refused(*RUN)
    assert (
        "0 of 1 submissions are valid; allowed: 2 or more; s0.csv: cell (row 0, column 1)" in line
    )
