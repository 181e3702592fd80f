"""Every page with all of it open: nothing on it is a thing that was to be a text or a number."""

import re
from pathlib import Path
from typing import Any

import pytest

import hogeq
from tests.cli.calls import ok
from tests.pages.runs import CONFIG

pytestmark = pytest.mark.slow

BROKEN = r"\[object|undefined|\bNaN\b|\[native code|=>"

SAID = """() => {
  const parts = [document.title];
  const skip = ["SCRIPT", "STYLE"];
  const walk = (element) => {
    if (skip.includes(element.tagName)) return;
    for (const { name, value } of element.attributes ?? []) {
      if (!/^(class|style|d|src|href)$/.test(name)) parts.push(value);
    }
    for (const child of element.childNodes) {
      if (child.nodeType === Node.TEXT_NODE) parts.push(child.data);
      else if (child.nodeType === Node.ELEMENT_NODE) walk(child);
    }
  };
  walk(document.body);
  return [...parts, document.body.innerText, ...globalThis.drawn.splice(0)].join("\\n");
}"""

# What is drawn on a canvas is text too.
CANVAS = """() => {
  globalThis.drawn = [];
  const draw = CanvasRenderingContext2D.prototype.fillText;
  CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
    globalThis.drawn.push(String(text));
    draw.call(this, text, ...rest);
  };
}"""

OPEN = "() => document.querySelectorAll('details').forEach((one) => { one.open = true; })"


def check(page: Any, where: str) -> None:
    """Open every fold, and read all that is said, hidden parts too."""
    page.evaluate(OPEN)
    page.wait_for_timeout(20)
    text = page.evaluate(SAID)
    assert len(text) > 500
    found = re.search(f".*(?:{BROKEN}).*", text)
    assert found is None, f"{where}: {found[0] if found else ''}"


def walk(page: Any, where: str) -> None:
    """Choose everything that can be chosen in what is shown."""
    check(page, where)
    for number in range(page.locator("select:visible").count()):
        options = page.locator("select:visible").nth(number).locator("option")
        for place in range(options.count()):
            select = page.locator("select:visible").nth(number)
            select.select_option(index=min(place, select.locator("option").count() - 1))
            check(page, f"{where}, choice {place} of list {number}")
        page.locator("select:visible").nth(number).select_option(index=0)


def opened(browser: Any, path: Path, errors: list[str]) -> Any:
    page = browser.new_page(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(path.as_uri())
    page.evaluate(CANVAS)
    return page


@pytest.fixture
def errors() -> Any:
    found: list[str] = []
    yield found
    assert found == []


GAMES = {
    "hidden": {"edition": "su20", "goal": 16, "max_dice": 3},
    "open": {"edition": "fa25", "goal": 20, "max_dice": 3},
    "minus": {"edition": "fa13", "goal": 12, "max_dice": 2},
    "goals": {"edition": "fa22", "goal": [9, 14], "max_dice": 3},
}


@pytest.mark.parametrize("name", GAMES)
def test_the_board(browser: Any, tmp_path: Path, errors: list[str], name: str) -> None:
    rules, out = tmp_path / "rules.yaml", tmp_path / "board.html"
    rules.write_text(str(GAMES[name]))
    ok("board", "--rules", str(rules), "--out", str(out), "--opponent", "always_roll:2")
    page = opened(browser, out, errors)
    page.wait_for_selector("body[data-ready]")
    walk(page, "before a game")
    page.keyboard.press("o")
    for opponent in ("always_roll:2", "friend"):
        page.click("a.tab[href='#play']")
        page.wait_for_selector("#play", state="visible")  # before, keys are of another tab
        page.keyboard.press("n")
        check(page, "new game")
        page.select_option("#opponent", opponent)
        page.click("dialog button[type=submit]")
        for turn in range(40):
            page.wait_for_selector(".choice:not([disabled]), .ending:not([hidden])")
            if page.is_visible(".ending"):
                break
            page.keyboard.press("h")
            if turn < 3:
                check(page, f"turn {turn}")
            page.keyboard.press("21"[turn % 2])
        check(page, "a game that is over")
        for tab in page.eval_on_selector_all("a.tab", "all => all.map((one) => one.hash)"):
            page.click(f"a.tab[href='{tab}']")
            page.wait_for_timeout(200)
            walk(page, tab)
            choices = page.locator("#train .choice:not([disabled]):visible")
            if choices.count():
                choices.first.click()
                check(page, "an answer")
    page.close()


def test_the_report(browser: Any, written: Path, errors: list[str]) -> None:
    page = opened(browser, written, errors)
    page.wait_for_selector("body[data-ready]")
    assert CONFIG["name"] in page.inner_text("body")
    walk(page, "report")
    page.close()


def test_the_pages_of_a_contest(browser: Any, in_folder: Path, errors: list[str]) -> None:
    Path("small.yaml").write_text("edition: fa25\ngoal: 12\nmax_dice: 3\n")
    game = hogeq.Game("small.yaml")
    for number, name in enumerate(("Ann", "undone", "Bob")):
        Path(f"entries/s{number}").mkdir(parents=True)
        table = game.strategy(f"always_roll:{1 + number % 2}")
        table.write(f"entries/s{number}/final_strategy.py", name)
    Path("entries/s9").mkdir()
    Path("entries/s9/final_strategy.py").write_text("def final_strategy(a, b):\n    return 99\n")
    rules = ("--rules", "small.yaml", "--trust")
    ok("tournament", "entries", *rules, "--out", "contest")
    for number, entry in enumerate(sorted(Path("entries").rglob("*.py"))):
        if number < 3:
            ok("check", str(entry), *rules, "--html", f"check{number}.html")
    pages = [*in_folder.glob("contest/**/*.html"), *in_folder.glob("*.html")]
    assert len(pages) > 6
    for path in pages:
        page = opened(browser, path, errors)
        for key in ("ArrowUp", "ArrowRight"):
            if page.locator(".grid-frame").count():
                page.locator(".grid-frame").first.press(key)
        walk(page, path.name)
        page.close()
