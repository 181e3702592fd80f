"""The pages of `check` and `tournament` as a person sees them."""

import re
from pathlib import Path
from typing import Any

import pytest

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
