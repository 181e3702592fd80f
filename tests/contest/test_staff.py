"""A contest as its staff runs it: twenty entries in several forms."""

import csv
import json
import re
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hogeq.analysis import tournament
from hogeq.evaluation.values import win_rate
from hogeq.model.game import compile_game
from hogeq.model.protocol import WinRate
from hogeq.rules.reading import find_rules
from hogeq.support.kinds import SUFFIXES
from hogeq.support.sandbox import isolation
from tests.cli.calls import ask, ok, refused
from tests.slow import mostly_slow

Rows = list[list[int]]


def rows_of(seed: int, goal: int) -> Rows:
    """Give a table that rolls 3 to 5 dice, and none now and then."""
    rng = np.random.default_rng(seed)
    table = np.where(rng.random((goal, goal)) < 0.1, 0, rng.integers(3, 6, (goal, goal)))
    found: Rows = table.tolist()
    return found


def lines(rows: Rows, mark: str = ",") -> str:
    return "".join(mark.join(map(str, row)) + "\n" for row in rows)


def code(rows: Rows, name: str | None, before: str = "") -> str:
    called = "" if name is None else f"PLAYER_NAME = {name!r}\n"
    function = "def final_strategy(score, opponent):\n    return TABLE[score][opponent]\n"
    return f"{before}{called}TABLE = {rows}\n{function}"


def long_form(rows: Rows) -> str:
    cells = ((own, other, dice) for own, row in enumerate(rows) for other, dice in enumerate(row))
    return "score,opponent_score,rolls\n" + "".join(f"{s},{o},{k}\n" for s, o, k in cells)


FORMS: dict[str, Callable[[Rows], str]] = {
    "table.csv": lines,
    "long.csv": long_form,
    "named.txt": lambda rows: "The Dice\n" + lines(rows, " "),
    "larger.json": lambda rows: json.dumps([*([*row, 0] for row in rows), [0] * (len(rows) + 1)]),
    "list.py": lambda rows: f"TEAM_NAME = 'Listers'\nROLLS = {rows}\n",
}

BAD: dict[str, Callable[[Rows], str]] = {
    "short.csv": lambda rows: lines(rows[:-1]),
    "high.csv": lambda rows: lines([[99, *rows[0][1:]], *rows[1:]]),
    "three.csv": lambda rows: long_form(rows).partition("\n")[2],
    "nameless/final_strategy.py": lambda rows: code(rows, None),
    "raises/final_strategy.py": lambda rows: code(rows, "Oops", "1 / 0\n"),
    "random/final_strategy.py": lambda rows: (
        "import random\n"
        + code(rows, "Dicey").replace("return TABLE", "return random.randrange(3) or TABLE")
    ),
    "hangs/final_strategy.py": lambda rows: code(rows, "Zzz").replace(
        "    return", "    while score == 2: pass\n    return"
    ),
    "forger/final_strategy.py": lambda rows: code(rows, "x" * 65),
}


def fill(folder: Path, goal: int) -> dict[str, Rows]:
    """Write 20 submissions: the tables of the valid ones by their file, the bad ones in `BAD`."""
    valid: dict[str, Rows] = {}

    def put(file: str, content: str) -> None:
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)

    for seed, (file, written) in enumerate(FORMS.items()):
        rows = rows_of(seed, goal)
        put(file, written(rows))
        valid[file] = rows
    for seed in range(20, 24):
        rows = rows_of(seed, goal)
        file = f"student{seed}/final_strategy.py"
        put(file, code(rows, f"Player {seed}"))
        valid[file] = rows
    # A second and a tenth attempt, the last of which counts, and a copy of another's.
    rows = rows_of(50, goal)
    put("again/attempt2/final_strategy.py", code(rows_of(51, goal), "Again"))
    put("again/attempt10/final_strategy.py", code(rows, "Again"))
    valid["again/attempt10/final_strategy.py"] = rows
    put("copycat/final_strategy.py", code(valid["table.csv"], "Copycat"))
    valid["copycat/final_strategy.py"] = valid["table.csv"]
    put("bell/final_strategy.py", code(rows_of(52, goal), "Bell\x1b[31m\u202e\n1 Forged"))
    valid["bell/final_strategy.py"] = rows_of(52, goal)
    for seed, (file, written) in enumerate(BAD.items(), 60):
        put(file, written(rows_of(seed, goal)))
    put("notes.md", "not a table")
    put("__MACOSX/._table.csv", "rubbish")
    return valid


# --- the contest ---------------------------------------------------------------------------------

GOAL = 14
R = ("--rules", "class.yaml")
# Code of our own, where nothing isolates it.
UNSAFE = () if isolation().bubblewrap else ("--no-sandbox",)
RUN = ("tournament", "class", *R, "--trust", *UNSAFE, "--time-limit", "4", "--out", "out")
PUBLIC = Path("out/public/index.html")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("class.yaml").write_text(f"edition: fa25\ngoal: {GOAL}\n")
    Path("class").mkdir()
    return tmp_path


def ranks() -> list[dict[str, str]]:
    with Path("out/staff/ranks.csv").open() as file:
        return list(csv.DictReader(file))


@pytest.mark.slow
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
        page = (Path("out/staff") / row["page"]).read_text()
        assert ("Not valid." in page) == (row["rank"] == "") == (row["file"] in BAD)
        if row["rank"]:
            assert f"Rank {row['rank']} of 12: {row['wins']} of 11 matches won" in page
            assert "Most is lost at" in page
    assert "final_strategy.py" not in PUBLIC.read_text()
    again = next(row for row in rows if row["name"] == "Again")
    assert again["file"] == "again/attempt10/final_strategy.py"
    told = (Path("out/staff") / again["page"]).read_text()
    assert "the last by name counts: again/attempt2/final_strategy.py" in told
    assert {"The Dice", "Listers"} <= {row["name"] for row in rows}
    assert "out of time: 1; another --time-limit runs such code again" in ok(*RUN)


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
    mostly_slow(
        [
            {},
            {"made_by": None},
            {"sha256": None},
            {"files": {"a": {}}},
            {"files": 1},
            {"rates": [[0.5]]},
            {"rates": [["x"]]},
            {"tables": 3},
            {"tables": [[], [], []]},
            {"rates": [[0.5, 0.9, 0.9], [0.9, 0.5, 0.9], [0.9, 0.9, 0.5]]},
        ],
        {"sha256": None},
        {"rates": [[0.5, 0.9, 0.9], [0.9, 0.5, 0.9], [0.9, 0.9, 0.5]]},
    ),
)
def test_a_cache_that_nobody_wrote_is_made_anew(here: Path, change: dict[str, Any]) -> None:
    for number in range(3):
        Path(f"class/s{number}.csv").write_text(lines(rows_of(number, GOAL)))
    found = ask(*RUN)
    cache = Path("out/staff/cache.json")
    cache.write_text(json.dumps({**json.loads(cache.read_text()), **change}) if change else "[]")
    assert ask(*RUN) == found


@pytest.mark.slow
def test_pseudonyms_stay_and_tell_nothing(here: Path) -> None:
    for number in range(4):
        Path(f"class/s{number}.py").write_text(code(rows_of(number, GOAL), f"Name{number}"))
    ok(*RUN, "--pseudonyms")
    public = {row["name"]: row["public_name"] for row in ranks()}
    assert {row["lowest_against"] for row in ranks()} <= {*public}  # staff has no pseudonyms
    page = PUBLIC.read_text()
    assert all(name.startswith("Hog ") and name in page for name in public.values())
    assert "Name" not in page.split("<body>")[1].split("<script>")[0]
    Path("class/s0.py").unlink()
    ok(*RUN, "--pseudonyms")
    assert {row["name"]: row["public_name"] for row in ranks()} == {
        name: public[name] for name in ("Name1", "Name2", "Name3")
    }
    data = json.loads(page.split('id="data">')[1].split("</script>")[0])
    assert data["index"] == [0, 1, 2, 3]


def test_a_table_for_everybody_with_pseudonyms_has_no_name(here: Path) -> None:
    for number in range(3):
        Path(f"class/s{number}.py").write_text(code(rows_of(number, GOAL), f"Name{number}"))
    ok(*RUN, "--pseudonyms", "--csv", "ranks.csv", "--html", "page.html")
    given = Path("ranks.csv").read_text()
    assert given == Path("out/public/ranks.csv").read_text()
    page = Path("page.html").read_text().split("<body>")[1]
    assert not re.search(r"Name\d|s\d\.py", given + page)


def test_tie_breaks_stand_in_every_table_of_ranks(here: Path) -> None:
    """Two files of one table tie, and the smaller one ranks first."""
    rows = rows_of(1, GOAL)
    sizes = {}
    for name, after in (("small", ""), ("large", "# more\n")):
        path = Path(f"class/{name}.py")
        path.write_text(code(rows, name) + after)
        sizes[name] = path.stat().st_size
    text = ok(*RUN, "--tie-break", "bytes", "--csv", "plain.csv")
    assert re.search(r"\nsmall +1 +0 +1 +" + f"{sizes['small']} ", text)
    for file in ("plain.csv", "out/staff/ranks.csv", "out/public/ranks.csv"):
        with Path(file).open() as read:
            found = {row["name"]: row for row in csv.DictReader(read)}
        assert {name: float(row["tie_break"]) for name, row in found.items()} == sizes
        assert [found[name]["rank"] for name in ("small", "large")] == ["1", "2"]
    data = json.loads(PUBLIC.read_text().split('id="data">')[1].split("</script>")[0])
    (column,) = (n for n, one in enumerate(data["columns"]) if one["name"] == "tie-break")
    assert data["columns"][column]["narrow"]
    assert [row[column] for row in data["rows"]] == sorted(sizes.values())
    assert f"<td>{sizes['small']}" in re.sub(
        "<td[^>]*>", "<td>", Path("out/staff/index.html").read_text()
    )
    ok(*RUN)
    assert "tie_break" not in Path("out/public/ranks.csv").read_text()


def test_ranks_are_printed_last_and_in_a_hundred_columns(here: Path) -> None:
    for number in range(3):
        folder = Path(f"class/student {number} whose name is as long as those of some are")
        folder.mkdir()
        name = "The Same Name Of Some Length" if number else "Another Name That Is Not Short"
        (folder / "final_strategy.py").write_text(code(rows_of(number, GOAL), name))
    Path("class/bad.csv").write_text("1")
    text = ok(*RUN, "--csv", "ranks.csv", "--tie-break", "bytes").splitlines()
    ranked = text[-4:]
    assert ranked[0].split()[:3] == ["strategy", "rank", "won"]
    assert max(map(len, ranked)) <= 100
    assert sum(line.startswith("The Same N") for line in ranked) == 2
    assert any(line.endswith("student 1 ...") for line in ranked)
    assert "written to ranks.csv" in text
    assert any(line.startswith("left out: bad.csv") for line in text)


def test_namesakes_are_told_apart_without_their_files(here: Path) -> None:
    for number in range(3):
        name = "Same" if number else "Other"
        Path(f"class/s{number}.py").write_text(code(rows_of(number, GOAL), name))
    ok(*RUN)
    assert {row["public_name"] for row in ranks()} == {"Other", "Same", "Same (2)"}
    assert "s1.py" not in PUBLIC.read_text()


def test_other_folders_are_left_alone(here: Path) -> None:
    Path("class/s0.csv").write_text("1")
    Path("other").mkdir()
    Path("other/thesis.txt").write_text("mine")
    Path("dangling").symlink_to("nowhere")
    assert "dangling: cannot be made; allowed: a folder" in refused(*RUN[:-1], "dangling")
    line = refused(*RUN[:-1], "other")
    assert "other: has other files; allowed: a new folder, or an earlier one" in line
    assert "allowed for one folder of submissions" in refused(*RUN, "boar")
    line = refused("tournament", "class", "--pseudonyms")
    assert "--pseudonyms: allowed only with --out FOLDER" in line
    line = refused(*RUN)
    assert (
        "0 of 1 entries is valid; allowed: 2 or more, and a file counts once; s0.csv: cell (row 0"
        in line
    )


@pytest.mark.slow
def test_an_entrants_page_lists_its_matches_and_the_public_page_its_contest(here: Path) -> None:
    for number in range(4):
        Path(f"class/s{number}.py").write_text(code(rows_of(number, GOAL), f"<N{number}>"))
    Path("class/s8").mkdir()
    Path("class/s9.zip").write_text("PK")
    found = ask(*RUN, "--title", "Our <contest>")
    assert [one["reason"] for one in found["refused"]] == [
        f"s8: holds no strategy file; allowed: names ending in {', '.join(SUFFIXES)}",
        "s9.zip: is an archive; allowed: a file, or a folder of files",
    ]
    public, today = PUBLIC.read_text(), date.today().isoformat()  # noqa: DTZ011
    assert "<h1>Our &lt;contest&gt;</h1>" in public
    assert f"{today}, by the rules of fa25 with goal={GOAL}; 2 more not valid." in public
    assert "<dt>Boar Brawl</dt>" in public
    names = {line["index"]: line["name"] for line in found["ranking"]}
    for row in ranks()[:4]:
        page = (Path("out/staff") / row["page"]).read_text()
        assert f"Our &lt;contest&gt;, {today}." in page
        me = next(index for index, name in names.items() if name == row["name"])
        rates = found["win_rates"][me]
        section = page.split('id="matches"')[1].split("</section>")[0]
        told = re.findall(r"<td class=.text name.>&lt;(N[0-9])&gt;</td>.*?(won|lost|tied)", section)
        order = sorted((index for index in names if index != me), key=rates.__getitem__)
        word = ["lost" if rates[index] < 0.499999 else "won" for index in order]
        assert told == list(zip([names[index][1:-1] for index in order], word, strict=True))
    pages = {path.name for path in Path("out/staff/entrants").iterdir()}
    Path("class/s3.py").unlink()
    ok(*RUN)
    left = {path.name for path in Path("out/staff/entrants").iterdir()}
    assert {name[:2] for name in pages - left} == {"s3"}
    assert "N3" not in next(Path("out/staff/entrants").glob("s0*")).read_text().split("<script")[0]


def test_code_that_may_not_be_run_has_one_line(here: Path) -> None:
    for number in range(30):
        Path(f"class/s{number}.py").write_text(code(rows_of(number, GOAL), "N", "import math\n"))
    for call in (RUN, ("tournament", "class", *R)):
        line = refused(*(word for word in call if word not in {"--trust", "--no-sandbox"}))
        assert "30 .py files: reading a .py runs its code, allowed only with --trust" in line
        assert "s1.py" not in line


@pytest.mark.parametrize("more", [(), ("--out", "new")])
def test_a_folder_that_is_not_there_is_said_to_be_missing(here: Path, more: Any) -> None:
    line = refused("tournament", "clas", *R, *more)
    assert "clas: no " in line
    assert "such folder" in line


def test_a_contest_by_other_rules_is_replaced_with_a_word(here: Path) -> None:
    for number in range(2):
        Path(f"class/s{number}.csv").write_text(lines(rows_of(number, GOAL)))
    said = "out: held a contest by other rules, which this one replaces"
    assert said not in ok(*RUN)
    assert said not in ok(*RUN)
    Path("class.yaml").write_text(f"edition: fa22\ngoal: {GOAL}\n")
    assert said in ok(*RUN)
    assert said not in ok(*RUN)
