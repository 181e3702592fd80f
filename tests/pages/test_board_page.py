"""The board as a person has it: a game played, keys pressed, nothing amiss."""

import base64
import json
import re
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hogeq
from hogeq.baselines.registry import builtin
from hogeq.evaluation.tablebase import analyze, solve
from hogeq.model.game import HogEngine, compile_game
from hogeq.pages import board as board_page
from hogeq.pages.board import Shown, make
from hogeq.rules import rules_from
from hogeq.rules.memory import Memory
from hogeq.support.messages import HogeqError, percent
from tests.browsers import wait_until
from tests.cli.calls import ask, ok, refused
from tests.pages.boards import OPEN, Played

pytestmark = pytest.mark.slow


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


# --- for everybody ----------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_axe_finds_nothing_and_nothing_scrolls_sideways(
    browser: Any, both_games: Path, scheme: str, width: int
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    tab = Played(
        browser,
        both_games,
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


def test_a_new_game_is_begun_on_a_phone(browser: Any, both_games: Path) -> None:
    tab = Played(browser, both_games, viewport={"width": 390, "height": 780}, has_touch=True)
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
            with pytest.raises(HogeqError, match=told):
                make([Shown(game, "fa22", {})])
    monkeypatch.setattr(board_page, "MOST_BYTES", 100)
    with pytest.raises(HogeqError, match="bytes on the page; allowed: 100"):
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
