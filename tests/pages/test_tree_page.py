"""The page of a small game: its figures against Python's, play, phones and dark screens."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hogeq
from hogeq.trees.flat import TERMINAL, reach
from tests.browsers import Tab
from tests.cli.calls import ask, ok, refused

pytestmark = pytest.mark.slow

DRIVER = """EFG 2 R "Absent-minded driver" { "Driver" "Nature" }
""
p "" 1 1 "(crossing)" { "Exit" "Continue" } 0
t "" 1 "first" { 0 0 }
p "" 1 1 "(crossing)" { "Exit" "Continue" } 0
t "" 2 "second" { 4 -4 }
t "" 3 "end" { 1 -1 }
"""
KUHN = "kuhn(players=2,ranks=3)"
COMPUTED = """(() => {
  const tree = new GameTree(JSON.parse(document.getElementById("data").textContent));
  const rows = tree.names.map((_, row) => row);
  return {
    reach: [...tree.reach], values: [...tree.values], met: rows.map((row) => tree.met(row)),
    actions: rows.map((row) => tree.actionValues(row)), plans: tree.plans, weights: tree.weights,
  };
})()"""


def opened(browser: Any, folder: Path, *words: str, **device: Any) -> Tab:
    out = folder / "tree.html"
    told = ask("board", *words, "--out", str(out))
    assert told["bytes"] == out.stat().st_size
    return Tab(browser, out, **device)


def test_figures_are_those_of_python(browser: Any, tmp_path: Path) -> None:
    tab = opened(browser, tmp_path, "--game", KUHN)
    found = tab.page.evaluate(COMPUTED)
    game = hogeq.Game(KUHN)
    policy = np.array(found["plans"][0])
    strategy = game.strategy(policy)
    assert found["weights"] == [1.0]
    assert game.exploitability(strategy).upper < 1e-9
    reached = reach(game.tree, policy)
    np.testing.assert_allclose(found["reach"], reached, atol=1e-14)
    assert found["values"][0] == pytest.approx(-1 / 18, abs=1e-9)
    values = game.action_values(strategy, weight="belief")
    for row, actions in enumerate(found["actions"]):
        if found["met"][row] > 0.0:
            np.testing.assert_allclose(actions, values[row], atol=1e-9)
        nodes = np.flatnonzero(game.tree.row == row)
        assert found["met"][row] == pytest.approx(reached[nodes].sum())
    assert "-0.0555" in tab.text("#about")
    assert tab.said == []


def test_mixtures_are_worth_what_was_solved(browser: Any, tmp_path: Path) -> None:
    words = ("--game", "kuhn(players=3,ranks=4)", "--teams", "01/2")
    tab = opened(browser, tmp_path, *words)
    found = tab.page.evaluate(COMPUTED)
    solved = hogeq.Game(words[1], teams="01/2").equilibrium()
    assert len(found["weights"]) > 1
    assert found["values"][0] == pytest.approx(solved.lower, abs=1e-9)
    assert sum(found["weights"]) == pytest.approx(1.0)


def test_what_is_met_twice_counts_once(browser: Any, tmp_path: Path) -> None:
    (tmp_path / "driver.efg").write_text(DRIVER)
    tab = opened(browser, tmp_path, "--game", str(tmp_path / "driver.efg"))
    assert tab.page.evaluate(COMPUTED)["met"] == [1.0]
    assert "met in 100.00" in tab.text("#infoset p")
    assert "1.333333333" in tab.text("#about")


def test_a_person_plays_to_the_end(browser: Any, tmp_path: Path) -> None:
    tab = opened(browser, tmp_path, "--game", KUHN)
    game = hogeq.Game(KUHN)
    ends = {
        ", ".join(map(str, game.tree.history(node))): game.tree.payoff[node]
        for node in np.flatnonzero(game.tree.player == TERMINAL)
    }
    for seat in (0, 1):
        tab.page.select_option("#play select", str(seat))
        total = 0.0
        for plays in (1, 2, 3):
            while not tab.page.is_visible("text=The play is over."):
                tab.page.click("#play [role=group] button >> nth=-1")
            told = tab.text("#play > p >> nth=-2")
            payoff = float(told.split(": ")[1].split(".")[0].replace("\u2212", "-"))
            total += payoff
            history = told.partition("What happened: ")[2].removesuffix(".")
            assert payoff == ends[history] * (1, -1)[seat]
            mean = f"{abs(total / plays):.4f}".removesuffix(".0000")
            assert f"as player {seat}: mean payoff" in tab.text("#play")
            assert mean in tab.text("#play > p >> nth=-1")
            assert tab.page.locator(".node.way").count() >= 4
            tab.page.click("text=Play again")
    assert tab.said == []


def test_the_tree_is_folded_and_its_information_sets_are_chosen(
    browser: Any, tmp_path: Path
) -> None:
    tab = opened(browser, tmp_path, "--game", KUHN)
    tab.page.click("text=Fold all")
    few = tab.page.locator(".node").count()
    assert few < 10
    for _ in range(6):
        tab.page.click("text=Unfold one level")
    assert tab.page.locator(".node").count() == hogeq.Game(KUHN).tree.num_nodes
    tab.page.click(".node .link >> nth=-1")
    assert tab.page.locator(".node.same").count() == 2
    assert tab.page.locator("#infoset tbody >> nth=1 >> tr").count() == 2


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [380, 1280, 1920])
def test_axe_finds_nothing_and_nothing_scrolls_sideways(
    browser: Any, tmp_path: Path, width: int, scheme: str
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    size = {"width": width, "height": 800}
    device = {"viewport": size, "color_scheme": scheme, "bypass_csp": True}
    tab = opened(browser, tmp_path, "--game", "leduc(players=2,bets=1,ranks=3,suits=2)", **device)
    for _ in range(2):
        tab.page.click("text=Unfold one level")
    found = axe.run(tab.page).response["violations"]
    assert [(one["id"], one["nodes"][0]["html"]) for one in found] == []
    assert tab.page.evaluate("document.documentElement.scrollWidth") == width


@pytest.mark.usefixtures("registries")
def test_what_no_page_can_be_made_of_is_refused(tmp_path: Path, monkeypatch: Any) -> None:
    page = ("--out", str(tmp_path / "p.html"))
    plugin = tmp_path / "endless.py"  # by another name than the example, which others may load
    plugin.write_text(
        (Path(__file__).parents[2] / "examples/games/pig.py")
        .read_text()
        .replace('"pig"', '"endless"')
    )
    endless = ("--game", "endless(goal=4)", "--plugin", str(plugin), "--trust")
    assert "games that have a tree" in refused("board", *endless, *page)
    assert "only for Hog" in refused("board", "--game", KUHN, "--start", "1:0", *page)
    assert "without --game" in refused("board", "--game", KUHN, "--rules", "fa25", *page)
    monkeypatch.setattr("hogeq.pages.tree_page.MOST_NODES", 50)
    assert "58 nodes; allowed: 50" in refused("board", "--game", KUHN, *page)


def test_an_edition_is_a_board_by_either_option(tmp_path: Path) -> None:
    (tmp_path / "small.yaml").write_text("{edition: fa25, goal: 9, max_dice: 1}")
    pages = [tmp_path / "a.html", tmp_path / "b.html"]
    for option, page in zip(("--rules", "--game"), pages, strict=True):
        ok("board", option, str(tmp_path / "small.yaml"), "--out", str(page))
    assert pages[0].read_text() == pages[1].read_text()
