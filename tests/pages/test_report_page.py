"""The page of `hogeq report` in a real browser."""

import base64
import json
import re
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect
from typer.testing import CliRunner

from hogeq.baselines.simple import always_roll
from hogeq.cli import app
from hogeq.contest.entries import Entries
from hogeq.contest.ranking import Ranked, Ranking
from hogeq.evaluation.values import belief, hidden_action_values, reach, win_rate
from hogeq.model.game import HogEngine
from hogeq.pages.field import field_page
from hogeq.rules import rules_from
from hogeq.runs.files import MANIFEST, METRICS, read_metrics
from hogeq.support.messages import at_least, at_most, counted, percent, pp
from tests.browsers import Tab, wait_until
from tests.pages.runs import data_of, table_of

pytestmark = pytest.mark.slow


class Opened(Tab):
    """The page in a browser, and what went wrong there."""

    def rows(self, selector: str) -> list[list[str]]:
        found = self.page.eval_on_selector_all(
            f"{selector} tbody tr", "rows => rows.map(r => [...r.cells].map(c => c.textContent))"
        )
        return [list(row) for row in found]

    def chosen(self) -> tuple[int, int]:
        return tuple(int(self.page.input_value(f"#{name}")) for name in ("own", "opponent"))  # type: ignore[return-value]

    def explore(self, name: str) -> None:
        self.page.select_option("#strategy", label=name)
        self.page.wait_for_selector("#frame[aria-busy=false]")

    def choose(self, own: int, opponent: int) -> None:
        for name, value in (("own", own), ("opponent", opponent)):
            self.page.fill(f"#{name}", str(value))
            self.page.press(f"#{name}", "Enter")

    def middle(self, own: int, opponent: int) -> dict[str, float]:
        """Where a position lies on the map, in the map's own pixels."""
        found = self.page.evaluate(
            """([own, opponent]) => {
              const {xaxis, yaxis} = document.getElementById("map")._fullLayout;
              return {x: xaxis._offset + xaxis.d2p(opponent), y: yaxis._offset + yaxis.d2p(own)};
            }""",
            [own, opponent],
        )
        return {"x": found["x"], "y": found["y"]}


@pytest.fixture(scope="module")
def opened(browser: Any, written: Path) -> Opened:
    return Opened(browser, written, viewport={"width": 1280, "height": 900})


def test_the_position_shows_what_the_run_holds(
    opened: Opened, folder: Path, game: HogEngine
) -> None:
    policy = table_of(folder)
    rival = table_of(folder, "second")
    opened.page.select_option("#other", label="second: average policy")
    for own, other in ((0, 0), (7, 11), (19, 19)):
        opened.choose(own, other)
        shares = belief(game, policy, None, own, other)
        assert shares is not None
        values = shares @ hidden_action_values(game, policy, None, [(own, other)])[0]
        expected = [
            [
                str(dice),
                *(percent(of[dice]) for of in (values, policy[own, other], rival[own, other])),
            ]
            for dice in range(game.num_actions)
        ]
        assert [[row[0], row[1], *row[3:]] for row in opened.rows("#rolls")] == expected
        likely = game.memories[int(shares.argmax())]
        met = float(reach(game, policy)[own, other].sum())
        often = opened.page.evaluate(f"chance({met})")
        assert f"a given player comes to move here in {often} of games" in opened.text("#summary")
        told = f"{100 * shares.max():.2f} % own last points {likely.own}"
        assert told in opened.text("#belief-note")


def test_a_position_out_of_reach_says_so(opened: Opened, folder: Path, game: HogEngine) -> None:
    gone = np.argwhere(reach(game, table_of(folder)).sum(axis=2) == 0.0)
    opened.choose(*map(int, gone[0]))
    assert {tuple(row[1:3]) for row in opened.rows("#rolls")} == {("\N{EN DASH}", "\N{EN DASH}")}
    assert "Play never comes here" in opened.text("#summary")
    assert "there is no belief" in opened.text("#belief-note")
    assert not opened.page.is_visible("#belief")
    assert {row[1] for row in opened.rows("#rolls")} == {"–"}  # noqa: RUF001 - as shown


def test_click_hover_and_keys(opened: Opened) -> None:
    page = opened.page
    page.select_option("#layer", "best")
    plot = page.locator("#map")
    for own, other in ((12, 5), (3, 18)):
        plot.click(position=opened.middle(own, other))
        expect(page.locator("#own")).to_have_value(str(own))
        assert opened.chosen() == (own, other)
        page.wait_for_timeout(500)  # two clicks at once are a double click, which zooms out
    assert page.evaluate("document.activeElement.id") == "frame"
    keys = (("ArrowUp", (4, 18)), ("ArrowLeft", (4, 17)), ("Shift+ArrowUp", (14, 17)))
    for key, place in (*keys, ("Shift+ArrowUp", (19, 17)), ("ArrowDown", (18, 17))):
        page.keyboard.press(key)
        assert opened.chosen() == place
    page.keyboard.press("+")
    low, high = page.evaluate("document.getElementById('map').layout.xaxis.range")
    assert low <= 17 <= high
    assert high - low < 20
    page.keyboard.press("0")
    plot.hover(position=opened.middle(10, 10))
    expect(page.locator("#map .hoverlayer")).to_contain_text("own score 10, opponent's 10")


def test_the_page_opens_where_games_come_and_most_is_gained(browser: Any, written: Path) -> None:
    fresh = Opened(browser, written)
    explored = data_of(written)["strategies"][0]["explored"]
    gains, met = (
        np.frombuffer(zlib.decompress(base64.b64decode(packed["data"])), "<f8")
        for packed in (explored["counter"]["gains"], explored["reach"])
    )
    gains = np.where(met >= 1e-4, gains, 0.0)
    assert fresh.chosen() == divmod(int(gains.argmax()), 20)
    assert gains.max() > 0.0
    assert f"+{100 * gains.max():.4f} pp of win rate" in fresh.text("#counter-here")
    assert not fresh.said


def test_the_head_says_what_was_found(opened: Opened, folder: Path) -> None:
    answer = json.loads((folder / "answer.json").read_text())["counters"]
    found = {name: answer[f"{name}: average policy"] for name in ("first", "second")}
    best = min(found, key=lambda name: float(found[name]["attack"]))
    assert opened.text("#found").startswith(f"Of 2 runs, {best} is the hardest to beat: against")
    for counter in (found[best], answer[f"{best}: matrix"]):
        attack, bound = at_least(counter["attack"]), at_most(counter["bound"])
        told = f"wins {attack} of games; none can win more than {bound}"
        assert told in opened.text("#found")


def test_logarithmic_axes_read_in_plain_digits(opened: Opened) -> None:
    ticks = opened.page.evaluate(
        """() => {
          const axes = document.getElementById("curves")._fullLayout;
          const seen = (axis) => [...document.querySelectorAll(`#curves .${axis} text`)]
            .map((text) => text.textContent);
          return [seen("ytick"), seen("xtick"), axes.yaxis.type];
        }"""
    )
    up, right, kind = ticks
    assert kind == "log"
    for shown in (up, right):
        assert len(shown) >= 3
        assert all(re.fullmatch(r"(0\.0*)?[125]0*", text) for text in shown), shown
        assert shown == sorted(shown, key=float)
    assert "0.1" in up
    # An exponent is nowhere, on scales of colours neither.
    assert opened.page.evaluate("logTicks([1e-7, 1]).ticktext").count("0.000001") == 1


def test_numbers_are_written_as_in_the_terminal(opened: Opened) -> None:
    for share in (0.0, 1e-9, 0.00004, 0.12345, 0.5, 0.99999, 1.0 - 1e-13, 1.0):
        assert opened.page.evaluate(f"percent({share!r})") == percent(share)
    for gain in (0.0, 1e-9, 0.0024, 0.12345):
        assert opened.page.evaluate(f"pp({gain!r})") == pp(gain)
    for tie in (1 / 32, 3 / 32):
        assert opened.page.evaluate(f"percent({tie})") == percent(tie)
        assert opened.page.evaluate(f"pp({tie})") == pp(tie)
    times = ["1.73 times", "once in 250 games", "0.00 times"]
    assert opened.page.evaluate("[1.728, 0.004, 0].map(times)") == times
    for number in (0, 1, 1200):
        assert opened.page.evaluate(f"counted({number}, 'kick')") == counted(number, "kick")
    chances = ["25.00 %", "1 in 5,200", "0.00 %"]
    assert opened.page.evaluate("[0.25, 1 / 5234, 0].map(chance)") == chances


def test_a_dark_system_gets_a_dark_page(browser: Any, written: Path) -> None:
    dark = Opened(browser, written, color_scheme="dark")

    def light() -> list[float]:
        found = dark.page.evaluate(
            """() => [getComputedStyle(document.body).backgroundColor,
              getComputedStyle(document.body).color,
              getComputedStyle(document.querySelector("#curves .ytick text")).fill,
              getComputedStyle(document.querySelector("#map .xtick text")).fill]"""
        )
        return [sum(map(int, re.findall(r"\d+", colour)[:3])) / 765 for colour in found]

    paper, *ink = light()
    assert paper < 0.2
    assert min(ink) > 0.7
    dark.page.emulate_media(color_scheme="light")
    dark.page.wait_for_timeout(300)
    paper, *ink = light()
    assert paper > 0.9
    assert max(ink) < 0.3
    assert not dark.said


def test_tables_and_curves_show_the_runs_figures(
    opened: Opened, folder: Path, game: HogEngine
) -> None:
    manifest = json.loads((folder / "first" / MANIFEST).read_text())
    found = manifest["figures"]["average_policy"]
    ends = [at_least(found["attack"]), at_most(found["bound"])]
    assert opened.rows("#figures")[0][:3] == ["first: average policy", *ends]
    metrics = read_metrics(folder / "first" / METRICS)
    curves = opened.page.evaluate("document.getElementById('curves').data")
    assert len(curves) == 6
    assert curves[0]["x"] == [row.iteration for row in metrics]
    assert curves[0]["customdata"] == [row.bound for row in metrics]
    opened.page.check("input[value=seconds]")
    curves = opened.page.evaluate("document.getElementById('curves').data")
    assert curves[1]["x"] == [row.seconds for row in metrics]
    table = opened.rows("#tournament")
    names = [row[0] for row in table]
    assert {"first: matrix", "second: matrix", "always_roll:2", "ignore_memory"} < set(names)
    row, column = names.index("always_roll:2"), names.index("first: average policy")
    rate = win_rate(game, always_roll(game, 2), table_of(folder)).win_rate
    assert table[row][3 + column] == percent(rate)
    assert "commit" in (opened.page.text_content("#made") or "")


def test_a_phone_shows_it_without_sideways_scrolling(browser: Any, written: Path) -> None:
    phone = Opened(
        browser, written, viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True
    )
    assert phone.page.evaluate("document.documentElement.scrollWidth") == 360
    told = phone.page.evaluate(
        """() => [...document.querySelectorAll(".wide")].filter((box) => box.checkVisibility())
          .map((box) => [box.scrollWidth > box.clientWidth + 1,
            getComputedStyle(box, "::before").content.includes("scroll it sideways")])"""
    )
    assert [True, True] in told
    assert all(wide == said for wide, said in told)
    phone.page.locator("#map").scroll_into_view_if_needed()
    phone.page.locator("#map").tap(position=phone.middle(8, 8))
    expect(phone.page.locator("#own")).to_have_value("8")
    assert not phone.said


def test_a_game_without_memory_has_no_belief(browser: Any, folder: Path) -> None:
    out = folder / "other.html"
    given = ["report", str(folder / "other"), "--out", str(out), "--no-matrices"]
    assert CliRunner().invoke(app, given).exit_code == 0
    plain = Opened(browser, out)
    assert not plain.page.is_visible("#belief-part")
    assert "memory" not in plain.text("#position")
    assert plain.page.locator("#strategy option").count() == 1
    assert not plain.said


def test_the_ranks_of_a_tournament_are_written_as_in_the_terminal(
    browser: Any, tmp_path: Path
) -> None:
    shares = {"mean_win_rate": 1.0, "nash": 1e-6, "lowest_win_rate": 1 / 32}
    first = Ranked(1, "one", "one", "", 0, None, 1, 0, None, **shares, lowest_against=1)
    none = dict.fromkeys(shares, 0.0)
    last = Ranked(2, "two", "two", "", 1, None, 0, 0, None, **none, lowest_against=0)
    rates, names = [[0.5, 1.0], [0.0, 0.5]], ["one", "two"]
    field = Entries(names, [None, None], [], [], [])
    found = Ranking(field, (0, 0), 0.5, rates, [first, last], 0.0, [], None)
    path = tmp_path / "field.html"
    path.write_text(field_page(found, names, rules_from("su20"), "su20"), "utf-8")
    page = browser.new_page()
    page.goto(path.as_uri())
    page.focus(".grid-frame")
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#pair") == "one wins 100.00 % against two"
    page.set_viewport_size({"width": 390, "height": 800})
    wait_until(page, "document.documentElement.scrollWidth === 390")  # once it is drawn anew
    assert page.eval_on_selector(".wide", "part => part.scrollWidth - part.clientWidth") == 0
    page.set_viewport_size({"width": 1280, "height": 800})
    rows = [row.split("\t")[4:7] for row in page.locator("#ranks tbody tr").all_inner_texts()]
    assert rows == [[*map(percent, shares.values())], ["0.00 %", "\N{EN DASH}", "0.00 %"]]


def test_nothing_was_asked_for_and_nothing_went_wrong(opened: Opened, written: Path) -> None:
    assert opened.said == []
    assert opened.asked == [written.as_uri()]
    assert opened.page.locator("[data-title*='hare']").count() == 0  # plotly's own cloud
    found = written.read_text().split('id="plotly"')[0]
    assert "connect-src" not in found
    assert "default-src 'none'" in found
