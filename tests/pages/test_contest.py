"""The pages of `check` and `tournament` as a person sees them."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.browsers import wait_until
from tests.cli.calls import ok

pytestmark = pytest.mark.slow

R = ("--rules", "small.yaml")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("small.yaml").write_text("edition: fa25\ngoal: 20\nmax_dice: 3\n")
    return tmp_path


def test_the_map_of_check_has_axes_a_scale_and_a_key(browser: Any, here: Path) -> None:
    ok("export", "always_roll:3", *R, "--out", "three.csv")
    ok("check", "three.csv", *R, "--html", "check.html")
    page = browser.new_page(viewport={"width": 390, "height": 780})
    page.goto((here / "check.html").as_uri())
    scale = page.inner_text("#scale")
    assert re.fullmatch(r"loses nothing\s+loses [0-9.]+ pp", scale)
    assert page.locator("#scale .ramp").bounding_box()["width"] > 100
    # The axes are drawn: their texts are asked of the canvas as it is drawn once more.
    drawn = page.evaluate(
        """() => {
          const texts = [], draw = CanvasRenderingContext2D.prototype.fillText;
          CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
            texts.push(text);
            draw.call(this, text, ...rest);
          };
          document.querySelector(".grid-frame").dispatchEvent(
            new KeyboardEvent("keydown", { key: "ArrowUp", bubbles: true }));
          return texts;
        }"""
    )
    assert {"own score", "opponent's score", "0", "10"} <= set(drawn)
    assert re.match(r"At 1 against 0 it rolls 3: ", page.inner_text("#position"))
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    page.close()


def test_the_page_of_a_field_has_names_beside_the_picture_and_uses_a_wide_screen(
    browser: Any, here: Path
) -> None:
    names = [f"always_roll:{dice}" for dice in (1, 2, 3)]
    ok("tournament", *names, *R, "--html", "field.html", "--title", "Ours")
    page = browser.new_page(viewport={"width": 1500, "height": 800})
    page.add_init_script(
        """globalThis.texts = [];
        const draw = CanvasRenderingContext2D.prototype.fillText;
        CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
          globalThis.texts.push(text);
          draw.call(this, text, ...rest);
        };"""
    )
    page.goto((here / "field.html").as_uri())
    wait_until(page, "globalThis.texts.includes('always_roll:2')")
    assert page.inner_text("h1") == "Ours"
    ranks, pairs = (page.locator("main section").nth(place).bounding_box() for place in (0, 1))
    assert pairs["y"] == ranks["y"]
    assert pairs["x"] > ranks["x"] + 300
    page.set_viewport_size({"width": 390, "height": 780})
    wait_until(page, "document.documentElement.scrollWidth === 390")
    assert page.locator("main section").nth(1).bounding_box()["y"] > ranks["y"] + 100
    page.close()


def test_bars_of_win_rates_have_a_mark_and_a_colour_for_a_loss(browser: Any, here: Path) -> None:
    ok("export", "always_roll:3", *R, "--out", "three.csv")
    ok("check", "three.csv", *R, "--html", "check.html")
    page = browser.new_page()
    page.goto((here / "check.html").as_uri())
    colour = "(one) => getComputedStyle(one).backgroundColor"
    bars = {kind: page.locator(f".share.half.{kind} i").first for kind in ("good", "bad")}
    assert bars["good"].evaluate(colour) == "rgb(5, 78, 145)"
    assert bars["bad"].evaluate(colour) == "rgb(165, 25, 35)"  # the most that a map can show
    page.close()


@pytest.mark.parametrize("width", [1000, 1280])
def test_a_long_name_cuts_no_column_of_an_entrants_page(
    browser: Any, here: Path, width: int
) -> None:
    Path("class").mkdir()
    for dice in (1, 2):
        name = ("--player-name", f"{dice} " + "a long name " * 5)
        ok("export", f"always_roll:{dice}", *R, *name, "--out", f"class/s{dice}.py")
    ok("tournament", "class", *R, "--trust", "--no-sandbox", "--out", "contest")
    page = browser.new_page(viewport={"width": width, "height": 900})
    for path in (here / "contest" / "staff" / "entrants").iterdir():
        page.goto(path.as_uri())
        assert "the hardest first" in page.inner_text("main")
        cut = "all => all.filter((one) => one.scrollWidth > one.clientWidth).length"
        assert page.eval_on_selector_all(".wide", cut) == 0
    page.close()
