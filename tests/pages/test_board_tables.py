"""Tables and exports that are dropped on the board: read and refused as by Python."""

import base64
import json
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hogeq
from hogeq.analysis.transcript import Transcript
from hogeq.rules import rules_from
from hogeq.strategies.arrays import StrategyError
from hogeq.strategies.files import read_strategy
from hogeq.strategies.writing import contest_code
from tests.cli.calls import ask, ok
from tests.pages.boards import HIDDEN, OPEN, Played
from tests.strategies import test_forms

pytestmark = pytest.mark.slow


# --- tables out of files ------------------------------------------------------------------------


def whole(row: int = 0, column: int = 0, cell: Any = 0) -> list[list[Any]]:
    """Give a table to 24, with one cell as it is given."""
    rows: list[list[Any]] = [[(own + other) % 5 for other in range(24)] for own in range(24)]
    rows[row][column] = cell
    return rows


def csv(rows: list[list[Any]]) -> bytes:
    return "\n".join(",".join(map(str, row)) for row in rows).encode()


FILES: dict[str, bytes] = {
    "empty.csv": b"",
    "short.csv": csv(whole()[:-1]),
    "wide.csv": csv([row + [1] * (i == 3) for i, row in enumerate(whole())]),
    "high.csv": csv(whole(2, 5, 11)),
    "word.csv": csv(whole(23, 23, "<b>six</b>")),
    "nan.csv": csv(whole(1, 1, "nan")),
    "gap.csv": csv(whole(1, 1, "")),
    "true.json": json.dumps(whole(4, 4, True)).encode(),
    "text.json": json.dumps(whole(4, 4, "3")).encode(),
}

OWN_WORDS: dict[str, tuple[bytes, str]] = {
    "table.npy": (
        b"\x93NUMPY",
        "a page reads text alone; make a plain table of it with: hogeq export table.npy --rules",
    ),
    "x.py": (
        b"raise SystemExit",
        "a page runs no code, and takes a .py as hogeq export writes it; make a plain table of ",
    ),
    "bytes.csv": (b"\xff\xfe1", "is not UTF-8 text"),
    "deep.json": (b"[" * 100_000, "is not JSON"),
    "game.json": (
        b'{"format": "hogeq transcript"}',
        "is a saved game; allowed here: a table; Learn",
    ),
    "key.json": (b'{"1,2": 3}', "is no list of lists in JSON; make a plain table of it with"),
}
"""What a page says in words of its own: Python reads the file, or its own parser says so."""

PLAIN = {"tabs.tsv", "semicolons.csv", "python.txt", "larger.csv", "larger.json"}
"""Forms that a page reads; `hogeq export` makes one of the others."""

READ = """([name, data, goal, maxDice, least]) => {
  try {
    const { buffer } = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
    return Array.from(readTable(name, buffer, { goal, maxDice, least }).table);
  } catch (error) {
    return error instanceof TableError ? error.message : `not refused: ${error}`;
  }
}"""


def read(board: Played, name: str, data: bytes, *sizes: int) -> Any:
    return board.page.evaluate(READ, [name, base64.b64encode(data).decode(), *sizes])


def test_tables_are_read_and_refused_as_by_python(board: Played, tmp_path: Path) -> None:
    for name, data in FILES.items():
        (tmp_path / name).write_bytes(data)
        with pytest.raises(StrategyError) as error:
            read_strategy(tmp_path / name, 24, 4)
        assert read(board, name, data, 24, 4, 0) == str(error.value).replace(f"{tmp_path}/", "")
    for name, (data, says) in OWN_WORDS.items():
        assert read(board, name, data, 24, 4, 0).startswith(f"{name}: {says}")
    sizes = test_forms.GOAL, test_forms.DICE, 0
    for name, text in test_forms.FORMS.items():
        if not name.endswith(".py"):
            found = read(board, name, text.encode(), *sizes)
            if name in PLAIN:
                assert found == [*chain(*test_forms.ROWS)], name
            else:  # never another table than Python reads
                assert isinstance(found, str), name
    for name, (text, _) in test_forms.REFUSED.items():
        assert isinstance(read(board, name, text.encode(), *sizes), str), name
    told = read(board, "column.csv", test_forms.FORMS["column.csv"].encode(), *sizes)
    assert told.startswith(
        "column.csv: is not 14 rows of 14 numbers; make a plain table of it with"
    )
    # The choice -1, which is the last action of a game that has it.
    (tmp_path / "m.csv").write_bytes(csv(whole(1, 2, -1)))
    wanted = read_strategy(tmp_path / "m.csv", 24, 4, least=-1).array.ravel().tolist()
    assert read(board, "m.csv", csv(whole(1, 2, -1)), 24, 4, -1) == wanted
    told = read(board, "m.csv", csv(whole(1, 2, -2)), 24, 4, -1)
    assert told == "m.csv: cell (row 1, column 2) is -2; allowed: whole numbers from -1 to 4"


def test_a_table_of_ones_own_is_played_against(board: Played) -> None:
    board.begin("perfect", seed=-1)
    assert board.text("dialog .alert") == "seed: got '-1'; allowed: up to 9 digits"
    board.page.fill("#seed", "1")
    file = {"name": "mine.csv", "mimeType": "", "buffer": csv(whole())}
    board.page.set_input_files("#own-table", files=[file])
    board.page.wait_for_selector("#opponent option:checked >> text=mine.csv", state="attached")
    board.page.select_option("#first", "them")
    board.page.click("dialog button[type=submit]")
    board.wait()
    assert board.turns()[0].split("\n")[1].startswith("no dice")  # cell (0, 0)


def test_a_file_is_dropped_on_the_page(board: Played) -> None:
    drop = """([name, text]) => {
      const data = new DataTransfer();
      data.items.add(new File([text], name));
      dispatchEvent(new DragEvent("dragover", {dataTransfer: data, cancelable: true}));
      dispatchEvent(new DragEvent("drop", {dataTransfer: data, cancelable: true}));
    }"""
    board.page.evaluate(drop, ["bad.csv", "1,2\n"])
    board.page.wait_for_selector("#play .side > .alert >> text=/^bad.csv: is not 24 rows/")
    board.page.evaluate(drop, ["good.csv", csv(whole()).decode()])
    board.page.wait_for_selector(".them .name >> text=good.csv")
    assert not board.page.is_visible("#play .side > .alert")
    assert "counts on best play against this table: good.csv" in board.text(".seed")
    # What hogeq export wrote: named by its player.
    board.page.evaluate(drop, ["final_strategy.py", contest_code(np.array(whole()), "Ana <Good>")])
    board.page.wait_for_selector(".them .name >> text=Ana <Good>")
    # A saved game, wherever it is dropped, is reviewed, and what was refused before it is no more.
    board.page.evaluate(drop, ["bad.csv", "1,2\n"])
    board.page.wait_for_selector("#play .side > .alert >> text=/^bad.csv/")
    rules = rules_from(HIDDEN)
    played = Transcript.of([[3, 4], [2], [3]], rules, ("Eve", "Bob"))
    board.page.evaluate(drop, ["game.json", played.to_json()])
    board.page.wait_for_selector("#learn .review tbody tr >> text=Eve")
    assert board.page.text_content("#play .side > .alert") == ""
    assert board.page.text_content("#play .turn-line") == "Bob: how many dice?"


# --- what hogeq export writes ---------------------------------------------------------------------

NAMES = [
    "Ana Good",
    'O\'Neil "the" dice',
    "tab\t \\ and line\n",
    "Zoë \N{PIG} \N{DIGIT ONE}",
    "\x7f\u2028",
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("dice", "least"), [(4, 0), (34, 0), (60, 0), (4, -1)])
def test_an_export_is_read_without_running_it(
    board: Played, name: str, dice: int, least: int
) -> None:
    rows = np.random.default_rng(1).integers(least, dice + 1, (24, 24), np.int8)
    code = contest_code(rows, name)
    for text in (code, code.replace("\n", "\r\n"), f"\ufeff{code}"):
        data = base64.b64encode(text.encode()).decode()
        found = board.page.evaluate(PLAYER, ["final.py", data, 24, dice, least])
        assert found["player"] == name
        wanted = np.where(rows < 0, dice + 1, rows)
        assert found["cells"] == wanted.ravel().tolist()


PLAYER = """([name, data, goal, maxDice, least]) => {
  const { buffer } = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
  const { table, player } = readTable(name, buffer, { goal, maxDice, least });
  return { player, cells: Array.from(table) };
}"""


def run(code: str) -> list[int] | None:
    """Ask a program for every position, as a contest would; None if it gives no table."""
    scope: dict[str, Any] = {}
    try:
        exec(code, scope)  # noqa: S102 - changed copies of our own export
        return [scope["final_strategy"](own, other) for own in range(6) for other in range(6)]
    except Exception:  # noqa: BLE001 - whatever a change breaks
        return None


def changed(code: str, random: np.random.Generator) -> str:
    """Change an export in one place: a letter, a line, or a word that means something else."""
    at, kind = int(random.integers(len(code))), random.integers(5)
    if kind == 0:
        return code[:at] + str(random.choice([*"0123456789abz-\"'\\()[]\n #;+"])) + code[at + 1 :]
    if kind == 1:
        return code[:at] + code[at + 1 :]
    lines = code.split("\n")
    row = int(random.integers(len(lines)))
    if kind == 2:
        return "\n".join(lines[:row] + lines[row + 1 :])
    if kind == 3:
        more = ["ROLLS = ROLLS[::-1]", "int = len", "    return 1", "PLAYER_NAME = 'B'; ROLLS = []"]
        return "\n".join([*lines[:row], str(random.choice(more)), *lines[row:]])
    old, new = [
        ("score", "opponent_score"),
        ("36", "8"),
        ("- 1", "- 0"),
        ("Me'", "Me'; int = len"),
    ][int(random.integers(4))]
    return code.replace(old, new, int(random.integers(1, 6)))


def test_a_changed_export_is_refused_or_read_as_it_runs(board: Played) -> None:
    random = np.random.default_rng(5)
    outcomes = {"refused": 0, "as it runs": 0}
    for number in range(500):
        least = -(number % 2)
        code = changed(contest_code(random.integers(least, 5, (6, 6), np.int8), "Me"), random)
        found = read(board, "final.py", code.encode(), 6, 4, least)
        if isinstance(found, str):
            assert found.startswith("final.py: ")
            outcomes["refused"] += 1
            continue
        answers = run(code)
        assert answers is not None, code
        assert found == [5 if dice < 0 else dice for dice in answers], code
        outcomes["as it runs"] += 1
    assert outcomes["refused"] > 150
    assert outcomes["as it runs"] > 50


def test_a_list_in_python_is_read_and_nothing_more(board: Played) -> None:
    rows = whole()
    listed = f"# mine\nPLAYER_NAME = 'Ana'\n\nTABLE = {rows}\n"
    for text in (listed, listed.replace("[", "(").replace("]", ")"), f"table={rows}"):
        assert read(board, "t.py", text.encode(), 24, 4, 0) == [*chain(*rows)]
    for text in (
        f"{listed}TABLE[0][0] = 3\n",
        f"import os\n{listed}",
        f"PLAYER_NAME = 'a'; x = 1\nTABLE = {rows}",
        f"TABLE = {rows}[::-1]",
        f"TABLE = 2 * {rows}",
        f"TABLE = {rows} or 1",
        " " * 50_000 + "#\n" * 50_000,
    ):
        assert "a page runs no code" in read(board, "t.py", text.encode(), 24, 4, 0)


def test_entries_have_the_names_of_their_players(tmp_path: Path) -> None:
    rules = tmp_path / "small.yaml"
    rules.write_text(json.dumps(OPEN))
    game = hogeq.Game(OPEN)
    players = {"a": "Ana Good", "b": "Bo", "c": "Bo", "d": "always_roll:3", "e": "friend"}
    files = []
    for folder, player in players.items():
        (tmp_path / folder).mkdir()
        files.append(tmp_path / folder / "final_strategy.py")
        game.strategy(f"always_roll:{len(files)}").write(files[-1], player)
    game.strategy("always_roll:2").write(tmp_path / "mine.csv")
    given = [*map(str, files), str(tmp_path / "mine.csv"), "always_roll:2"]
    asked = [part for one in given for part in ("--opponent", one)]
    out = str(tmp_path / "b.html")
    told = ask("board", "--rules", str(rules), *asked, "--trust", "--out", out)
    (names,) = told["opponents"].values()
    assert names[-7:] == ["Ana Good", *given[1:5], "mine.csv", "always_roll:2"]


@pytest.mark.parametrize("found", [True, False])
def test_a_page_is_opened_if_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, found: bool
) -> None:
    opened: list[str] = []

    def open_(url: str) -> bool:
        opened.append(url)
        return found

    monkeypatch.setattr("webbrowser.open", open_)
    rules, out = tmp_path / "small.yaml", tmp_path / "my board.html"
    rules.write_text(json.dumps(OPEN))
    arguments = ["board", "--rules", str(rules), "--out", str(out)]
    ok(*arguments)
    assert not opened
    told = ok(*arguments, "--open", "--overwrite")
    assert opened == [out.as_uri()]
    assert ("no browser was found: open " in told) is not found


def test_names_are_whole_and_scores_have_a_head(board: Played) -> None:
    name = "A name that is longer than its column is wide"
    file = {
        "name": "t.py",
        "mimeType": "",
        "buffer": contest_code(np.array(whole()), name).encode(),
    }
    board.page.keyboard.press("n")
    board.page.set_input_files("#own-table", files=[file])
    board.page.wait_for_selector(f"#opponent option:checked >> text={name}", state="attached")
    board.page.click("dialog button[type=submit]")
    for _ in range(2):
        board.wait()
        board.page.keyboard.press("3")
    board.wait()
    cut = board.page.locator(".moves .who").evaluate_all(
        "all => all.filter((one) => one.scrollWidth > one.clientWidth + 1).length"
    )
    assert cut == 0
    assert board.text(".moves-head") == f"scores: You : {name}"
    assert {row.split("\n")[0] for row in board.turns()} == {"You", name}
