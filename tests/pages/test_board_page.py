"""The board as a person has it: a game played, tables dropped, keys pressed, nothing amiss."""

import base64
import json
import re
import zlib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hogeq
from hogeq.analysis.transcript import Transcript
from hogeq.baselines.registry import builtin
from hogeq.evaluation.tablebase import analyze, solve
from hogeq.model.game import HogEngine, compile_game
from hogeq.pages import board as board_page
from hogeq.pages.board import BoardError, Shown, make
from hogeq.rules import rules_from
from hogeq.rules.memory import Memory
from hogeq.strategies.arrays import StrategyError
from hogeq.strategies.files import contest_code, read_strategy
from hogeq.support.messages import percent
from tests.browsers import Tab, wait_until
from tests.cli.calls import ask, ok, refused
from tests.strategies import test_forms

pytestmark = pytest.mark.slow

HIDDEN: dict[str, Any] = {"edition": "su20", "goal": 24, "max_dice": 4}
OPEN = {"edition": "fa23", "goal": 30, "max_dice": 5}


@pytest.fixture(scope="module")
def hidden() -> HogEngine:
    return compile_game(rules_from(HIDDEN))


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory, hidden: HogEngine) -> Path:
    """Write the page of two games, by the command."""
    folder = tmp_path_factory.mktemp("board")
    specs = []
    for number, rules in enumerate((HIDDEN, OPEN)):
        file = folder / f"game{number}.yaml"
        file.write_text(json.dumps(rules))
        specs += ["--rules", str(file)]
    out = folder / "board.html"
    told = ask("board", *specs, "--out", str(out), "--opponent", "always_roll:2")
    assert told["bytes"] == out.stat().st_size
    assert [list(names)[-1] for names in told["opponents"].values()] == ["always_roll:2"] * 2
    return out


class Played(Tab):
    """A board on which somebody plays."""

    def begin(self, opponent: str, seed: int, first: str = "you") -> None:
        self.page.keyboard.press("n")
        self.page.select_option("#opponent", opponent)
        self.page.select_option("#first", first)
        self.page.fill("#seed", str(seed))
        self.page.click("dialog button[type=submit]")

    def wait(self) -> bool:
        """Wait for the person's turn, or for the end; tell whether the game goes on."""
        self.page.wait_for_selector(".choice:not([disabled]), .ending:not([hidden])")
        return not self.page.is_visible(".ending")

    def scores(self) -> tuple[int, int]:
        return int(self.text(".you .score")), int(self.text(".them .score"))

    def turns(self) -> list[str]:
        return list(self.page.locator(".moves li").all_inner_texts())

    def odds(self) -> list[float]:
        found = self.page.eval_on_selector_all(
            "#play .odds tbody tr", "rows => rows.map((row) => Number(row.dataset.value))"
        )
        return list(found)


@pytest.fixture
def board(browser: Any, written: Path) -> Iterator[Played]:
    tab = Played(browser, written, reduced_motion="reduce", viewport={"width": 1280, "height": 900})
    yield tab
    assert tab.said == []
    assert tab.asked == [written.as_uri()]
    tab.page.context.close()


def test_a_whole_game_by_keys_has_the_odds_of_python(board: Played, hidden: HogEngine) -> None:
    solved = solve(hidden)
    board.begin("perfect", seed=3)
    board.page.keyboard.press("o")
    rolls = 0
    while board.wait():
        own, other = board.scores()
        told = board.text(".you .memory")
        found = re.fullmatch(r"own last points: (\d+)\+?, opponent's last points: (\d+)\+?", told)
        assert found
        number = hidden.memories.index(Memory(own=int(found[1]), opponent=int(found[2])))
        values = solved.roll_values(own, other)[number]
        board.page.wait_for_selector(f'.bar[aria-valuenow="{100 * values.max():.2f}"]')
        np.testing.assert_allclose(board.odds(), values, atol=1e-12)
        shown = board.page.locator("#play .odds .chance").all_inner_texts()
        assert [text.strip() for text in shown] == [percent(value) for value in values]
        board.page.keyboard.press("h")
        board.page.wait_for_selector(".hint:not(:empty)")
        assert f"win probability {percent(values.max())}" in board.text(".hint")
        board.page.keyboard.press(str(3 + rolls % 2))
        rolls += 1
    assert rolls >= 2
    winner = "You win" if board.scores()[0] >= board.scores()[1] else "Optimal play wins"
    assert winner in board.text(".ending")
    assert board.page.get_attribute(".bar", "aria-valuenow") in {"0.00", "100.00"}
    board.page.click("#play button >> text=Review this game")
    board.page.wait_for_selector("#learn .review tbody tr")


def test_a_score_that_moves_is_never_less_than_it_was(board: Played) -> None:
    board.page.emulate_media(reduced_motion="no-preference")
    early = """() => {
        const element = document.createElement("span");
        element.textContent = "0";
        const frames = [];
        const real = window.requestAnimationFrame;
        window.requestAnimationFrame = (draw) => frames.push(draw);
        countTo(element, 17);
        window.requestAnimationFrame = real;
        frames[0](performance.now() - 100);
        return element.textContent;
    }"""
    assert board.page.evaluate(early) == "0"


def test_a_seed_gives_the_same_game_and_a_turn_taken_back_the_same_dice(board: Played) -> None:
    games = []
    for _ in range(2):
        board.begin("always_roll:2", seed=11, first="coin")
        for roll in (4, 3, 4):
            if board.wait():
                board.page.click(f".choice >> nth={roll}")
        board.wait()
        games.append(board.turns())
    assert games[0] == games[1]
    before = board.turns()
    board.page.keyboard.press("u")
    board.wait()
    assert len(board.turns()) < len(before)
    board.page.keyboard.press("4")
    wait_until(board.page, f"document.querySelectorAll('.moves li').length === {len(before)}")
    assert board.turns() == before


def test_the_bar_counts_on_the_table_that_is_played_against(
    board: Played, hidden: HogEngine
) -> None:
    board.begin("always_roll:2", seed=1)
    board.wait()
    told = str(board.page.get_attribute(".bar", "aria-valuetext"))
    assert "best play against this table: Always rolls 2" in told
    assert float(board.page.get_attribute(".bar", "data-value") or 0) > solve(hidden).value + 0.01
    board.page.keyboard.press("b")
    assert not board.page.is_visible(".bar")


def test_know_opens_averaged_as_analyze_does(board: Played, hidden: HogEngine) -> None:
    board.page.click("a.tab >> text=Know")
    for field, score in enumerate((7, 9)):
        board.page.fill(f"#know input[type=number] >> nth={field}", str(score))
        board.page.keyboard.press("Tab")
    past = builtin("ignore_memory", hidden)
    found = analyze(hidden, 7, 9, past=past).rolls[0]
    dice = "no dice" if found.dice == 0 else f"{found.dice} di"
    best = f"text=/Best: {dice}.*, {percent(found.win_probability)}/"
    board.page.wait_for_selector(f"#know .verdict >> {best}")


def test_memories_are_read_and_chosen_by_keys(board: Played, hidden: HogEngine) -> None:
    board.page.click("a.tab >> text=Know")
    board.page.select_option("#know select >> nth=-1", "value")
    board.page.focus("#know .heat .here")
    for key in ("ArrowDown", "ArrowRight", "ArrowRight", "ArrowUp", "ArrowUp"):
        board.page.keyboard.press(key)  # the last leads nowhere
    number = hidden.memories.index(Memory(own=0, opponent=2))
    told = percent(solve(hidden).roll_values(0, 0)[number].max())
    cell = board.page.get_by_role("gridcell", name=told, exact=True, selected=True)
    cell.wait_for()
    assert cell.evaluate("cell => cell === document.activeElement")
    selects = board.page.locator("#know .fields.inner select")
    assert [selects.nth(i).input_value() for i in range(2)] == ["0", "2"]


def test_an_address_leads_to_a_position(board: Played) -> None:
    page = board.page
    board.page.click("a.tab >> text=Know")
    page.fill("#know input[type=number] >> nth=0", "7")
    page.press("#know input[type=number] >> nth=0", "Tab")
    wait_until(page, "location.hash.endsWith('/7-0')")
    page.uncheck("#know .tick input")
    wait_until(page, "/[/]7-0-[0-9]+$/.test(location.hash)")
    before = board.text("#know .verdict"), page.url
    board.page.click("a.tab >> text=Play")
    assert page.url.endswith("#play")
    page.evaluate("([hash]) => { location.hash = hash; }", [before[1].partition("#")[2]])
    page.wait_for_selector(f"#know .verdict >> text={before[0]}")
    assert page.url == before[1]
    title = page.evaluate("document.querySelector('#edition').options[1].textContent")
    page.evaluate(
        "([title]) => { location.hash = `know/${encodeURIComponent(title)}/12-20`; }", [title]
    )
    wait_until(page, "document.querySelector('#edition').value === '1'")
    wait_until(page, "location.hash.endsWith('/12-20')")
    want = analyze(compile_game(rules_from(OPEN)), 12, 20).rolls
    best = max(want, key=lambda roll: roll.win_probability)
    page.wait_for_selector(f"#know .verdict >> text={percent(best.win_probability)}")
    for bad in ("know/none/1-2", "know/%E0%A4%A/1", "know/x/999-1", "nothing"):
        page.evaluate("([hash]) => { location.hash = hash; }", [bad])
        wait_until(page, "document.querySelector('#know').hidden === false")


def test_the_skip_link_stays_on_the_screen(board: Played) -> None:
    board.page.click("a.tab >> text=Know")
    board.page.focus(".skip")
    board.page.keyboard.press("Enter")
    wait_until(board.page, "document.activeElement.id === 'screens'")
    assert board.page.is_visible("#know")
    wait_until(board.page, "location.hash.startsWith('#know/')")
    board.page.keyboard.press("Tab")
    assert board.page.evaluate("document.activeElement.closest('.screen').id") == "know"


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


# --- for everybody ----------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_axe_finds_nothing_and_nothing_scrolls_sideways(
    browser: Any, written: Path, scheme: str, width: int
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    tab = Played(
        browser,
        written,
        viewport={"width": width, "height": 780},
        color_scheme=scheme,
        reduced_motion="reduce",
        bypass_csp=True,  # axe comes as a script
    )
    tab.wait()
    tab.page.keyboard.press("3")
    tab.wait()
    tab.page.keyboard.press("o")
    names = tab.page.eval_on_selector_all("a.tab", "tabs => tabs.map((tab) => tab.hash.slice(1))")
    for name in names:
        tab.page.click(f"a.tab[href='#{name}']")
        tab.page.wait_for_timeout(150)
        found = axe.run(tab.page).response["violations"]
        assert [(one["id"], one["nodes"][0]["html"]) for one in found] == []
        assert tab.page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, name
    assert tab.said == []
    tab.page.context.close()


def test_bars_begin_at_zero_and_a_cut_one_has_its_number(board: Played) -> None:
    board.begin("perfect", seed=3)
    board.wait()
    board.page.keyboard.press("o")
    fills = board.page.locator("#play .odds .fill")
    for bar, value in zip(fills.all(), board.odds(), strict=True):
        inner, outer = bar.locator("i").bounding_box(), bar.bounding_box()
        assert inner
        assert outer
        assert inner["x"] == pytest.approx(outer["x"], abs=2)
        assert inner["width"] == pytest.approx(value * outer["width"], abs=2)
    for roll in range(5):
        board.page.click(f"#play .dice-button >> nth={roll}")
        cut = board.page.locator("#play .stick.cut b").all_inner_texts()
        assert len(cut) == board.page.locator("#play .stick.cut").count()
        odds = re.findall(r"[0-9.]+(?=\u00a0%: )", board.text("#play .spread-said"))
        assert cut in ([], [f"{float(odds[0]):.0f} %"])  # of the likeliest way, which is told


def test_a_new_game_is_begun_on_a_phone(browser: Any, written: Path) -> None:
    tab = Played(browser, written, viewport={"width": 390, "height": 780}, has_touch=True)
    tab.page.tap("text=New game")
    box = tab.page.locator("dialog").bounding_box()
    assert box
    assert box["x"] >= 8
    for field in tab.page.locator("dialog :is(select, input, button)").all():
        inner = field.bounding_box()
        assert inner
        assert inner["x"] >= box["x"] + 8
        assert inner["x"] + inner["width"] <= box["x"] + box["width"] - 8
    tab.page.tap("dialog button[type=submit]")
    tab.wait()
    # All odds lie below the screen, which goes there.
    tab.page.tap("text=All odds")
    place = "document.querySelector('#play .odds').getBoundingClientRect().top"
    wait_until(tab.page, f"{place} > 0 && {place} < innerHeight - 200")
    tab.page.context.close()


# --- the example of the documentation ---------------------------------------------------------

EXAMPLE = Path(__file__).parents[2] / "docs" / "_static" / "board.html"

MADE_BY = (
    "hogeq board --rules fa25 --rules su20 --rules fa22 --rules hw13 --out docs/_static/board.html "
    "--overwrite"
)


def test_the_example_is_what_the_command_makes(tmp_path: Path) -> None:
    out = tmp_path / "fa22.html"
    ok("board", "--rules", "fa22", "--out", str(out))
    stored = re.compile(r'(?<=id="data">).*?(?=</script>)', re.DOTALL)
    pages = [file.read_text("utf-8") for file in (EXAMPLE, out)]
    games = [json.loads(stored.findall(html)[0]) for html in pages]
    titles = ["fa25", "su20", "fa22", "hw13"]
    assert [game["title"] for game in games[0]] == titles
    shells = [re.sub("<title>.*?</title>", "", stored.sub("", html)) for html in pages]
    assert shells[0] == shells[1], MADE_BY
    unpacked = [
        zlib.decompress(base64.b64decode(game["packed"])) for game in (games[0][2], games[1][0])
    ]
    assert json.loads(unpacked[0]) == json.loads(unpacked[1]), MADE_BY


# --- the command ------------------------------------------------------------------------------


def test_what_no_page_can_be_made_of_is_refused(tmp_path: Path) -> None:
    out = str(tmp_path / "b.html")
    large = tmp_path / "large.yaml"
    large.write_text("edition: su20\ngoal: 250\n")
    told = refused("board", "--rules", str(large), "--out", out)
    assert "12,250,000 hidden states to go through in a browser; allowed: 8,000,000" in told
    assert "is no matrix" in refused(
        "board", "--rules", "su20", "--opponent", "champion:policy", "--out", out
    )
    assert not (tmp_path / "b.html").exists()


def test_long_games_and_long_rolls_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    game = hogeq.Hog({"edition": "fa22", "goal": 20})
    for limit, told in (("MOST_WORK", "outcomes to go through"), ("MOST_STATES", "hidden states")):
        with monkeypatch.context() as patched:
            patched.setattr(board_page, limit, 300)
            with pytest.raises(BoardError, match=told):
                make([Shown(game, "fa22", {})])
    monkeypatch.setattr(board_page, "MOST_BYTES", 100)
    with pytest.raises(BoardError, match="bytes on the page; allowed: 100"):
        make([Shown(game, "fa22", {})])


def test_names_cannot_break_out_of_the_page() -> None:
    game = hogeq.Hog({"edition": "fa22", "goal": 12, "max_dice": 2})
    evil = "</script><script>alert(1)</script>"
    html = make([Shown(game, evil, {evil: game.strategy("always_roll:1")})])
    assert evil not in html


def test_games_begin_where_they_are_told(browser: Any, tmp_path: Path) -> None:
    (tmp_path / "open.yaml").write_text(json.dumps(OPEN))
    out, rules = tmp_path / "board.html", ["--rules", str(tmp_path / "open.yaml")]
    ok("board", *rules, "--out", str(out), "--start", "20:5")
    tab = Played(browser, out, reduced_motion="reduce")
    tab.begin("friend", 1, "them")
    assert tab.scores() == (5, 20)
    tab.begin("friend", 1, "you")
    assert tab.scores() == (20, 5)
    tab.page.keyboard.press("2")
    tab.page.wait_for_selector(".moves li")
    with tab.page.expect_download() as saving:
        tab.page.click("#play button >> text=Save")
    saving.value.save_as(tmp_path / "game.json")
    found = ask("review", str(tmp_path / "game.json"), *rules, "--start", "20:5")
    assert found["turns"][0]["before"] == [20, 5]
    assert tab.said == []
    tab.page.context.close()
