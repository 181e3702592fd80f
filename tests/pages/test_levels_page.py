"""The opponent's levels, the score over games and days, a review that plays by itself."""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hogeq
from hogeq.evaluation.tablebase import solve
from hogeq.model.game import compile_game
from hogeq.pages.board import Shown, make, opponents
from hogeq.rules import rules_from
from hogeq.search.bounds import full_memory_bound
from hogeq.support.messages import percent
from tests.browsers import Tab, wait_until

pytestmark = pytest.mark.slow

RULES: dict[str, Any] = {"edition": "fa25", "goal": 20, "max_dice": 3}
HALVINGS = 0.16, 0.08, 0.04, 0.02, 0.01, 0.005, 0.0025


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a page of one small game without hidden memory."""
    game = hogeq.Hog(rules_from(RULES))
    path = tmp_path_factory.mktemp("levels") / "board.html"
    path.write_text(make([Shown(game, "small", opponents(game))]), "utf-8")
    return path


@pytest.fixture
def tab(browser: Any, written: Path) -> Iterator[Tab]:
    size = {"width": 1920, "height": 1000}
    opened = Tab(browser, written, reduced_motion="reduce", viewport=size)
    yield opened
    assert opened.said == []
    opened.page.context.close()


def begin(tab: Tab, opponent: str, seed: int) -> None:
    tab.page.click("a.tab[href='#play']")
    tab.page.click("text=New game")
    tab.page.select_option("#opponent", opponent)
    tab.page.select_option("#first", "you")
    tab.page.fill("#seed", str(seed))
    tab.page.click("dialog button[type=submit]")


def play_out(tab: Tab, dice: str = "2") -> None:
    while True:
        tab.page.wait_for_selector("#play .choice:not([disabled]), .ending:not([hidden])")
        if tab.page.is_visible(".ending"):
            return
        tab.page.keyboard.press(dice)


def softened(halving: float) -> np.ndarray[Any, Any]:
    """Give the level's policy from its definition, one position after the other."""
    game = compile_game(rules_from(RULES))
    solved = solve(game)
    policy = np.zeros((game.goal, game.goal, game.num_actions))
    for own, other in np.ndindex(game.goal, game.goal):
        rolls = solved.roll_values(own, other)[0]
        weights = [2.0 ** ((value - max(rolls)) / halving) for value in rolls]
        policy[own, other] = np.array(weights) / sum(weights)
    return policy


def test_levels_win_what_python_says(tab: Tab) -> None:
    game = hogeq.Game(RULES)
    optimal = game.strategy(game.tablebase().matrix)
    tab.page.click("text=New game")
    for number, halving in enumerate(HALVINGS, 1):
        tab.page.select_option("#opponent", f"level {number}")
        policy = softened(halving)
        wins = game.win_rate(game.strategy(policy), optimal).win_rate
        most = full_memory_bound(game.engine, policy)
        said = f"It wins {percent(wins)} of games against optimal play. You can win {percent(most)}"
        wait_until(tab.page, f"document.querySelector('.rates').innerText.startsWith('{said}')")
        name = f"Level {number}: {percent(wins)}"
        wait_until(tab.page, f"document.querySelector('#opponent').innerText.includes('{name}')")


def test_a_level_follows_from_the_seed(tab: Tab) -> None:
    games = []
    for seed in (8, 8, 9, 10):
        begin(tab, "level 1", seed)
        play_out(tab)
        games.append(tab.page.locator(".moves li").all_inner_texts())
    assert games[0] == games[1]
    assert "best play against Level 1" in tab.text(".seed")
    dice = {row.split("\n")[1].split(",")[0] for row in chain(*games) if row[0] == "L"}
    assert len(dice) > 1  # it does not roll the same everywhere


def test_finished_games_are_counted_and_kept(tab: Tab) -> None:
    results = []
    for opponent, seed in (("level 1", 3), ("level 4", 4), ("friend", 5)):
        begin(tab, opponent, seed)
        play_out(tab)
        results.append("You win" in tab.text(".ending"))
    tab.page.reload()
    tab.page.wait_for_selector("body[data-ready]")
    tab.page.click("a.tab[href='#learn']")
    tab.page.wait_for_selector(".record tbody tr")
    rows = [
        row.split("\t")
        for row in tab.text(".record table >> nth=0").replace("\u00a0", " ").splitlines()[1:]
    ]
    shown = {row[0]: row[1:3] for row in rows if len(row) > 2}
    won = ["100 %" if result else "0 %" for result in results]
    assert shown["Level 1"] == ["1", won[0]]
    assert shown["Level 4"] == ["1", won[1]]
    assert shown["all"][0] == "2"  # not the friend's
    tab.page.click(".record .link >> nth=0")
    assert "You against Level 4" in tab.text("#learn h2 >> nth=0")
    tab.page.click("text=Forget these games")
    wait_until(tab.page, "document.querySelector('.record').hidden")


def test_own_mistakes_of_kept_games_come_first_in_training(tab: Tab) -> None:
    begin(tab, "level 1", seed=3)
    play_out(tab, "1")
    tab.page.reload()  # what was reviewed before is forgotten; the game is kept
    tab.page.wait_for_selector("body[data-ready]")
    tab.page.click("a.tab[href='#learn']")
    tab.page.click(".record .link >> nth=0")
    losses = tab.page.eval_on_selector_all(
        ".review tbody tr",
        "rows => rows.filter((row) => row.querySelector('.who.you')).map((row) => "
        "[Number(row.dataset.loss), row.cells[2].textContent])",
    )
    places = [place for loss, place in sorted(losses, key=lambda one: -one[0]) if loss >= 0.005]
    tab.page.click("a.tab[href='#train']")
    for place in dict.fromkeys(places[:3]):
        tab.page.wait_for_selector("#train .choice:not([disabled])")
        own, other = place.split(" to ")
        assert tab.text("#train h2 >> nth=0") == f"You have {own}, the other has {other}"
        best = tab.page.evaluate("document.querySelector('#train .choices').children.length") - 1
        tab.page.keyboard.press(str(best))
        tab.page.keyboard.press("n")


def test_training_keeps_score_over_days(tab: Tab) -> None:
    for day in ("2026-03-01", "2026-03-02", "2026-03-03"):
        tab.page.clock.set_fixed_time(f"{day}T12:00:00")
        tab.page.reload()
        tab.page.wait_for_selector("body[data-ready]")
        tab.page.click("a.tab[href='#train']")
        tab.page.wait_for_selector("#train .choice:not([disabled])")
        tab.page.keyboard.press("3")
    assert tab.text(".days h2") == "3 days in a row"
    rows = tab.page.locator(".days tbody tr").all_inner_texts()
    assert [row.split("\t")[:2] for row in rows] == [[f"2026-03-0{day}", "1"] for day in (3, 2, 1)]
    tab.page.clock.set_fixed_time("2026-03-06T12:00:00")
    tab.page.keyboard.press("n")
    tab.page.keyboard.press("3")
    assert tab.text(".days h2") == "1 day in a row"


def test_a_review_plays_by_itself_until_a_turn_is_chosen(tab: Tab) -> None:
    begin(tab, "level 1", seed=3)
    play_out(tab)
    tab.page.click("a.tab[href='#learn']")
    tab.page.select_option("#learn select", "fast")
    tab.page.click("#learn .review .link >> nth=0")
    assert "Turn 1:" in tab.text("#learn .turn-head")
    tab.page.keyboard.press(" ")  # on the graph
    for turn in (2, 3):
        tab.page.wait_for_selector(f"#learn .turn-head >> text=Turn {turn}:")
    assert tab.page.is_visible("text=Pause")
    tab.page.keyboard.press("Home")
    tab.page.wait_for_timeout(1200)
    assert "Turn 1:" in tab.text("#learn .turn-head")
    assert tab.page.is_visible("text=Play by itself")


def test_a_wide_screen_is_used(tab: Tab) -> None:
    begin(tab, "level 1", seed=3)
    play_out(tab)
    ends = {"play": ".side > div", "learn": ".every-turn", "opening": ".strange", "know": ".spread"}
    for name, last in ends.items():
        tab.page.click(f"a.tab[href='#{name}']")
        tab.page.wait_for_timeout(200)
        box = tab.page.locator(f"#{name} {last} >> nth=-1").bounding_box()
        assert box
        assert box["x"] > 900, name
        assert box["x"] + box["width"] > 1750, name
        assert tab.page.evaluate("document.documentElement.scrollWidth") <= 1920
