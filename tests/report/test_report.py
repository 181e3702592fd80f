"""The page of `hogeq report`: its numbers, and its life in a real browser."""

import base64
import json
import re
import shutil
import sys
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect
from typer.testing import CliRunner

from hogeq.baselines.simple import always_roll
from hogeq.cli import app
from hogeq.evaluation.hidden import belief, hidden_action_values, reach
from hogeq.evaluation.win_rates import win_rate
from hogeq.model.game import Game, compile_game
from hogeq.report import page
from hogeq.report.finished import load
from hogeq.rules import rules_from
from hogeq.runs.config import config_from
from hogeq.runs.errors import ResultsError
from hogeq.runs.filenames import MANIFEST, MATRIX, METRICS, POLICY
from hogeq.runs.metrics import read_metrics
from hogeq.runs.runner import run_experiment as run
from hogeq.support.numbers import counted, percent, points
from hogeq.support.workers import workers
from tests.browsers import Tab

CONFIG = {
    "name": "first",
    "rules": {"edition": "su20", "goal": 20, "max_dice": 3},
    "solver": {"name": "dcfr", "iterations": 8},
    "measure": {"every": "log", "attack": {"starts": 2, "anneal_steps": 10}},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder with two finished runs, and one of another game."""
    root = tmp_path_factory.mktemp("runs")
    second = CONFIG | {"name": "second", "solver": {"name": "cfr_plus", "iterations": 5}}
    other = CONFIG | {"name": "other", "rules": {"edition": "fa22", "goal": 20, "max_dice": 3}}
    for config in (CONFIG, second, other):
        run(config_from(config), root)
    return root


@pytest.fixture(scope="module")
def written(folder: Path) -> Path:
    """Give the page of both runs, and a strategy beside them."""
    out = folder / "report.html"
    names = [str(folder / name) for name in ("first", "second")]
    given = ["report", *names, "--out", str(out), "--against", "always_roll:2", "--json"]
    result = CliRunner().invoke(app, given)
    assert result.exit_code == 0, result.stderr
    (folder / "answer.json").write_text(result.stdout)
    return out


@pytest.fixture(scope="module")
def game() -> Game:
    return compile_game(rules_from(CONFIG["rules"]))  # type: ignore[arg-type]


def table_of(folder: Path, name: str = "first") -> Any:
    with np.load(folder / name / POLICY) as file:
        return file["policy"]


def data_of(page: Path) -> Any:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page.read_text())
    assert found
    return json.loads(found[1])


# --- the runs on it ---------------------------------------------------------------------------


def test_the_counter_is_the_attack_of_the_last_checkpoint(folder: Path, written: Path) -> None:
    answer = json.loads((folder / "answer.json").read_text())
    last = read_metrics(folder / "first" / METRICS)[-1]
    found = answer["counters"]
    assert found["first: average policy"]["attack"] == pytest.approx(last.attack, abs=1e-12)
    assert found["first: average policy"]["bound"] == pytest.approx(last.bound, abs=1e-12)
    assert found["first: matrix"]["attack"] == pytest.approx(last.purified_attack, abs=1e-12)
    assert answer["bytes"] == written.stat().st_size < page.MOST_BYTES


def test_the_same_runs_give_the_same_page(folder: Path, game: Game) -> None:
    runs = load([folder / "first"])
    pages = []
    for jobs in (1, 2):
        with workers(jobs):
            pages.append(page.make(game, runs, page.entries(game, runs, matrices=False)).html)
    assert pages[0] == pages[1]


def test_a_run_given_twice_is_on_the_page_once(folder: Path, tmp_path: Path) -> None:
    first = folder / "first"
    given = ["report", str(first), f"{first}/", str(folder / "second" / ".." / "first")]
    options = ["--out", str(tmp_path / "r.html"), "--no-matrices", "--json"]
    result = CliRunner().invoke(app, [*given, *options])
    assert result.exit_code == 0, result.stderr
    answer = json.loads(result.stdout)
    assert (answer["runs"], list(answer["counters"])) == (["first"], ["first: average policy"])


def test_options_change_the_effort_behind_the_final_figures(folder: Path, tmp_path: Path) -> None:
    final = {"starts": 1, "anneal_steps": 2, "kicks": 3}
    measured = CONFIG["measure"] | {"final_attack": final}  # type: ignore[operator]
    for name in (POLICY, MATRIX):
        shutil.copy(folder / "first" / name, tmp_path)
    (tmp_path / MANIFEST).write_text(json.dumps({"config": CONFIG | {"measure": measured}}))
    given = ["report", str(tmp_path), "--out", str(tmp_path / "r.html"), "--no-matrices"]
    for options, changed in (
        ([], {}),
        (["--starts", "2"], {"starts": 2}),
        (["--kicks", "0", "--anneal-steps", "4"], {"kicks": 0, "anneal_steps": 4}),
    ):
        result = CliRunner().invoke(app, [*given, *options])
        assert result.exit_code == 0, result.stderr
        spent = data_of(tmp_path / "r.html")["strategies"][0]["explored"]["counter"]["effort"]
        assert {key: spent[key] for key in final} == final | changed


def test_names_cannot_break_out_of_the_page(folder: Path, game: Game) -> None:
    runs = load([folder / "first"])
    evil = "</script><script>alert(1)</script>"
    entries = page.entries(game, runs, [(evil, always_roll(game, 1))], matrices=False)
    html = page.make(game, runs, entries).html
    assert evil not in html
    assert "\\u003c/script>" in html


def test_a_champion_has_its_config_in_its_manifest(folder: Path, tmp_path: Path) -> None:
    for name in (POLICY, MATRIX):
        shutil.copy(folder / "first" / name, tmp_path)
    with pytest.raises(ResultsError, match="nor a config in its manifest"):
        load([tmp_path])
    (tmp_path / MANIFEST).write_text(json.dumps({"config": CONFIG}))
    (champion,), (first,) = load([tmp_path]), load([folder / "first"])
    assert champion.config == first.config
    assert champion.metrics == ()


# --- bad input ------------------------------------------------------------------------------------


def refused(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["report", *arguments])
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert re.fullmatch(r"hogeq: [^\n]+\n", result.stderr), result.stderr
    return result.stderr


@pytest.mark.parametrize(
    "figures",
    [
        *(3, [], "x", {"average_policy": 3, "matrix": {}}),
        {"average_policy": {"attack": "0.6", "bound": 0.7}, "matrix": {"attack": 0.6}},
        {"average_policy": {"attack": float("nan"), "bound": 0.7}, "effort": [1]},
        {"matrix": {"attack": 0.6, "bound": 7}, "average_policy": None},
    ],
)
def test_figures_that_no_run_wrote_count_as_missing(folder: Path, figures: Any) -> None:
    (good,) = load([folder / "first"])
    one = replace(good, manifest={**good.manifest, "figures": figures})
    none = replace(good, manifest={**good.manifest, "figures": None})
    assert page._found([good], {}) != ""
    assert page._found([one], {}) == page._found([none], {}) == ""
    assert page._run(one) == page._run(none) | {"manifest": page._run(one)["manifest"]}


def test_what_is_no_finished_run_is_refused(folder: Path, tmp_path: Path) -> None:
    first, out = str(folder / "first"), str(tmp_path / "r.html")
    (tmp_path / "empty").mkdir()
    assert "No such file" in refused(str(tmp_path / "none"), "--out", out)
    assert "no policy.npz" in refused(str(tmp_path / "empty"), "--out", out)
    assert "runs of one game" in refused(first, str(folder / "other"), "--out", out)
    assert "ending in .html" in refused(first, "--out", str(tmp_path / "r.pdf"))
    assert "starts" in refused(first, "--out", out, "--starts", "0")
    assert "kicks: got -1" in refused(first, "--out", out, "--kicks", "-1")
    assert not (tmp_path / "r.html").exists()


def test_a_page_without_plotly_is_refused(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "plotly", None)
    told = refused(str(folder / "first"), "--out", str(tmp_path / "r.html"))
    assert "plotly: not installed, and needed for the page; pip install plotly brings it" in told


def test_a_page_that_is_too_large_is_refused(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "MOST_BYTES", 10**6)
    told = refused(str(folder / "first"), "--out", str(tmp_path / "r.html"))
    assert "give fewer runs, or --no-matrices" in told


# --- in a browser ---------------------------------------------------------------------------------


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


def test_the_position_shows_what_the_run_holds(opened: Opened, folder: Path, game: Game) -> None:
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
        told = f"{100 * shares.max():.2f} % own last points {likely.own}"
        assert told in opened.text("#belief-note")


def test_a_position_out_of_reach_says_so(opened: Opened, folder: Path, game: Game) -> None:
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


def test_the_page_opens_where_most_is_gained(browser: Any, written: Path) -> None:
    fresh = Opened(browser, written)
    counter = data_of(written)["strategies"][0]["explored"]["counter"]
    gains = np.frombuffer(zlib.decompress(base64.b64decode(counter["gains"]["data"])), "<f8")
    assert fresh.chosen() == divmod(int(gains.argmax()), 20)
    assert gains.max() > 0.0
    assert f"+{100 * gains.max():.4f} points of win rate" in fresh.text("#counter-here")
    assert not fresh.said


def test_the_head_says_what_was_found(opened: Opened, folder: Path) -> None:
    answer = json.loads((folder / "answer.json").read_text())["counters"]
    found = {name: answer[f"{name}: average policy"] for name in ("first", "second")}
    best = min(found, key=lambda name: float(found[name]["attack"]))
    assert opened.text("#found").startswith(f"Of 2 runs, {best} is the hardest to beat: against")
    for counter in (found[best], answer[f"{best}: matrix"]):
        attack, bound = percent(counter["attack"]), percent(counter["bound"])
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
    assert opened.page.evaluate("logTicks([0.03, 0.4]).ticktext.slice(21, 27)") == [
        "0.01",
        "0.02",
        "0.05",
        "0.1",
        "0.2",
        "0.5",
    ]


def test_curves_have_an_interval_and_colours_of_their_own(
    browser: Any, folder: Path, opened: Opened
) -> None:
    out = folder / "one.html"
    given = ["report", str(folder / "first"), "--out", str(out), "--no-matrices"]
    assert CliRunner().invoke(app, given).exit_code == 0
    alone = Opened(browser, out)
    curves = alone.page.evaluate("document.getElementById('curves').data")
    assert len({curve["line"]["color"] for curve in curves}) == len(curves) == 3
    assert [curve.get("fill") for curve in curves] == [None, "tonexty", None]
    bound = json.loads((folder / "first" / MANIFEST).read_text())["figures"]["matrix"]["bound"]
    above = curves[2]["error_y"]["array"]
    assert above[:-1] == [None] * (len(above) - 1)
    assert above[-1] + curves[2]["customdata"][-1] == pytest.approx(bound, abs=1e-12)
    assert alone.text("#found").startswith("first: against its average policy a table found wins")
    several = opened.page.evaluate("document.getElementById('curves').data")
    assert len({curve["line"]["color"] for curve in several}) == 2
    assert not alone.said


def test_numbers_are_written_as_in_the_terminal(opened: Opened) -> None:
    for share in (0.0, 1e-9, 0.00004, 0.12345, 0.5, 0.99999, 1.0 - 1e-13, 1.0):
        assert opened.page.evaluate(f"percent({share!r})") == percent(share)
    for gain in (0.0, 1e-9, 0.0024, 0.12345):
        assert opened.page.evaluate(f"points({gain!r})") == points(gain)
    for number in (0, 1, 1200):
        assert opened.page.evaluate(f"counted({number}, 'kick')") == counted(number, "kick")
    assert opened.page.evaluate("[chance(0.25), chance(1 / 5234), chance(0)]") == [
        "25.00 %",
        "1 in 5,200",
        "0.00 %",
    ]


def test_a_region_leads_to_its_position_on_the_map(opened: Opened) -> None:
    page = opened.page
    row = opened.rows("#regions")[0]
    page.focus("#regions tbody tr:first-child button")
    page.keyboard.press("Enter")
    for chosen, span in zip(opened.chosen(), row, strict=False):
        low, high = map(int, span.split(" to "))
        assert low <= chosen <= high
    assert page.input_value("#layer") == "gain"
    assert page.evaluate("document.activeElement.id") == "frame"
    page.select_option("#layer", "best")


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


def test_every_map_can_be_shown(opened: Opened, folder: Path) -> None:
    page, seen = opened.page, set()
    opened.explore("first: matrix")
    for layer in page.eval_on_selector_all("#layer option", "all => all.map(o => o.value)"):
        page.select_option("#layer", layer)
        seen.add(json.dumps(page.evaluate("document.getElementById('map').data[0].text")))
        if layer == "best":
            shown = page.evaluate("document.getElementById('map').data[0].z")
            matrix = np.loadtxt(folder / "first" / MATRIX, delimiter=",")
            np.testing.assert_array_equal(shown, matrix)
    assert len(seen) == 8
    opened.explore("first: average policy")


def test_tables_and_curves_show_the_runs_figures(
    opened: Opened, folder: Path, game: Game, written: Path
) -> None:
    manifest = json.loads((folder / "first" / MANIFEST).read_text())
    attack = manifest["figures"]["average_policy"]["attack"]
    assert opened.rows("#figures")[0][:2] == ["first: average policy", percent(attack)]
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
    regions = np.array(data_of(written)["strategies"][0]["explored"]["counter"]["regions"])
    gained = opened.rows("#regions")[0][2]
    assert gained.endswith(" points")
    assert float(gained.removesuffix(" points")) == pytest.approx(100 * regions.max(), rel=1e-3)
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


def test_nothing_was_asked_for_and_nothing_went_wrong(opened: Opened, written: Path) -> None:
    assert opened.said == []
    assert opened.asked == [written.as_uri()]
    assert opened.page.locator("[data-title*='hare']").count() == 0  # plotly's own cloud
    found = written.read_text().split('id="plotly"')[0]
    assert "connect-src" not in found
    assert "default-src 'none'" in found
