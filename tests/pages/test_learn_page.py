"""Learn, Train, Map and Opening in a browser: every figure is that of Python."""

import base64
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect

from hogeq import Hog
from hogeq.analysis.book import MIN_COST
from hogeq.analysis.review import Review, review
from hogeq.analysis.transcript import Transcript, TranscriptError, parse_transcript
from hogeq.analysis.turns import Situation, advance
from hogeq.evaluation.tablebase import best_first, solve
from hogeq.model.game import HogEngine, compile_game
from hogeq.pages.board import Shown, make, opponents
from hogeq.rules import Rules, rules_from
from hogeq.rules.memory import Memory
from hogeq.rules.turn import TurnTable, dice_sides
from hogeq.support.messages import percent, pp
from hogeq.support.parameters import plain
from tests.analysis.test_transcript import HOSTILE, NOT_FOLLOWING, SHORT
from tests.browsers import Tab

pytestmark = pytest.mark.slow

GAMES: list[dict[str, Any]] = [
    {"edition": "fa23", "goal": 40, "max_dice": 5},
    {"edition": "su20", "goal": 24, "max_dice": 3},
    {"edition": "su21", "goal": 24, "max_dice": 3},
    {"edition": "fa15", "goal": 24, "max_dice": 3},
    SHORT,
    {"edition": "fa13", "goal": 24, "max_dice": 3},
    {"edition": "su20", "goal": [18, 24], "max_dice": 3},
]

EDITIONS = """async () => {
  const packed = JSON.parse(document.getElementById("data").textContent);
  window.editions ??= await Promise.all(packed.map((one) => unpackEdition(one.packed)));
}"""

REVIEW = """async (text) => {
  const game = readTranscript("g.json", new TextEncoder().encode(text), window.editions);
  const { start, result, tallies, turns } = reviewOf(await game.edition.solved(), game);
  const plain = (tally) => ({ ...tally, costliest: tally.costliest.map((one) => one.number) });
  return { start, result, again: transcriptText(game), tallies: tallies.map(plain),
    turns: turns.map(({ before, chosen, after, best, loss, luck, grade, number, player }) =>
      ({ before, chosen, after, loss, luck, grade, number, player,
        best: best.map((dice) => game.edition.choices[dice]) })) };
}"""

REFUSAL = """(letters) => {
  try {
    const bytes = Uint8Array.from(atob(letters), (letter) => letter.charCodeAt(0));
    readTranscript("g.json", bytes, window.editions);
    return null;
  } catch (error) {
    return error instanceof TranscriptError ? error.message : `not refused: ${error}`;
  }
}"""


@cache
def compiled(place: int) -> HogEngine:
    return compile_game(rules_from(GAMES[place]), own_goals=True)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("board") / "board.html"
    games = [Hog(rules_from(rules)) for rules in GAMES]
    shown = [Shown(game, f"game {i}", opponents(game)) for i, game in enumerate(games)]
    out.write_text(make(shown), "utf-8")
    return out


@pytest.fixture
def tab(browser: Any, written: Path) -> Iterator[Tab]:
    opened = Tab(browser, written, reduced_motion="reduce", viewport={"width": 1280, "height": 900})
    yield opened
    assert opened.said == []
    assert {*opened.asked} == {written.as_uri()}
    opened.page.context.close()


def show(tab: Tab, name: str) -> Any:
    tab.page.click(f"a.tab[href='#{name}']")
    return tab.page


def random_game(rules: Rules, seed: int, leave: int = 1000) -> Transcript:
    """Play a game in which both players roll as many dice as they like."""
    random = np.random.default_rng(seed)
    place, rolls = Situation.start(seed % 2), list[list[int] | None]()
    while place.winner is None and len(rolls) < leave:
        sides = dice_sides(rules, *place.view, place.memory)
        dice = rules.choices[random.integers(rules.num_actions)]
        faces = tuple(random.integers(1, sides + 1, dice).tolist()) if dice >= 0 else None
        rolls.append(faces if faces is None else list(faces))
        place = advance(rules, place, faces).after
    return Transcript.of(rolls, rules, ("Ann", "Bob <b>"), seed % 2, seed)


def opened(tab: Tab, played: Transcript) -> Any:
    """Open a saved game on the page."""
    page = show(tab, "learn")
    file = {"name": "game.json", "mimeType": "", "buffer": played.to_json().encode()}
    page.set_input_files("#open-game", files=[file])
    # Until then the review may be that of the game in play, in which the opponent has begun.
    page.wait_for_selector(f"#learn h2 >> text={played.players[0]} against {played.players[1]}")
    return page


def reviewed(played: Transcript) -> Review:
    return review(compile_game(played.rules, own_goals=True), played)


# --- review -----------------------------------------------------------------------------------


@pytest.mark.parametrize("place", range(len(GAMES)))
def test_a_review_is_that_of_python(tab: Tab, place: int) -> None:
    tab.page.evaluate(EDITIONS)
    for seed, leave in ((1, 1000), (2, 1000), (3, 2)):
        played = random_game(compiled(place).rules, seed, leave)
        want, found = reviewed(played), tab.page.evaluate(REVIEW, played.to_json())
        assert parse_transcript(found["again"].encode(), "page") == played
        for key in ("start", "result"):
            np.testing.assert_allclose(found[key], getattr(want, key), rtol=0, atol=1e-11)
        for told, turn in zip(found["turns"], want.turns, strict=True):
            assert told["player"] == turn.before.mover
            assert (told["number"], told["grade"]) == (turn.number, turn.grade)
            assert told["best"] == list(turn.best)
            values = turn.best_value, turn.value, turn.value_after, turn.loss, turn.luck
            for key, value in zip(
                ("before", "chosen", "after", "loss", "luck"), values, strict=True
            ):
                assert told[key] == pytest.approx(value, abs=1e-11)
        for told, tally in zip(found["tallies"], want.tallies, strict=True):
            assert (told["moves"], told["grades"]) == (tally.moves, tally.grades)
            assert told["costliest"] == [turn.number for turn in tally.costliest]
            assert told["loss"] == pytest.approx(tally.loss, abs=1e-11)
            assert told["luck"] == pytest.approx(tally.luck, abs=1e-11)
            assert told["accuracy"] == pytest.approx(tally.accuracy, abs=1e-11)


def test_a_saved_game_is_opened_and_told(tab: Tab) -> None:
    played = random_game(compiled(1).rules, 5)
    want, page = reviewed(played), opened(tab, played)
    assert page.input_value("#edition") == "1"
    rows = page.locator(".review tbody tr").all_inner_texts()
    for row, turn in zip(rows, want.turns, strict=True):
        scores = " to ".join(map(str, turn.before.view))
        assert row.split("\t")[1:3] == [played.players[turn.before.mover], scores]
        assert percent(turn.value_after) in row
        assert turn.grade in row
    verdict = tab.text("#learn .verdict-said")
    assert verdict.startswith(
        f"Ann began with {percent(want.start[0])} and ended with {percent(want.result[0])}: "
    )
    assert f"{pp(want.tallies[0].loss, signed=False)} by own" in verdict
    lines = page.locator(".costliest .instead").all_inner_texts()
    costs = [turn.loss for tally in want.tallies for turn in tally.costliest]
    for line, cost in zip(lines, costs, strict=True):
        assert line.endswith(pp(cost, signed=False))
    page.set_viewport_size({"width": 360, "height": 900})
    page.wait_for_timeout(100)
    cut = page.eval_on_selector(".every-turn", "part => part.scrollWidth - part.clientWidth")
    assert cut == 0
    # The graph goes by keys, and what it says is what the turn was.
    page.focus(".graph-frame")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    assert page.get_attribute(".graph-frame", "aria-valuenow") == "2"
    after = want.turns[1].value_after
    after = after if played.turns[1].before.mover == 0 else 1 - after
    assert f"Ann then has {percent(after)}" in str(
        page.get_attribute(".graph-frame", "aria-valuetext")
    )
    assert "Turn 2: " in tab.text("#learn .turn-head h2")
    # From there the game can be played on.
    own, other = played.turns[1].before.view
    page.click("#learn button >> text=Play on from here")
    assert page.is_visible("#play .choices")
    assert (tab.text(".you .score"), tab.text(".them .score")) == (str(own), str(other))
    assert [tab.text(f".{who} .name") for who in ("you", "them")] == ["You", "Optimal play"]


def turns_shown(tab: Tab) -> list[str]:
    return list(tab.page.locator(".review tbody tr").all_inner_texts())


def test_a_side_line_leaves_the_game_and_comes_back(tab: Tab, tmp_path: Path) -> None:
    game, path = compiled(1), tmp_path / "line.json"
    played = random_game(game.rules, 5)
    page = opened(tab, played)
    told, title = turns_shown(tab), tab.text("#learn h2 >> nth=0")
    page.focus(".graph-frame")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    there = played.turns[1].before
    rolls = solve(game).roll_values(*there.view)[game.memories.index(there.memory)]
    tries = page.locator("[aria-label='Try another roll'] button")
    shares = [one.rpartition(", ")[2] for one in _labels(tries)]
    assert shares == [percent(value) for value in rolls]
    tries.nth(3).click()
    assert tab.text("#learn h2 >> nth=0").startswith("Side line from turn 2: Ann against Bob")
    line = turns_shown(tab)
    assert (len(line), line[0], line[1].split("\t")[3]) == (2, told[0], "3")
    other = rolls.max() - rolls[3]
    assert float(page.get_attribute(".review tbody tr >> nth=1", "data-loss")) == pytest.approx(
        other, abs=1e-11
    )
    page.click("[aria-label^='Go on: '] button >> nth=0")
    assert len(turns_shown(tab)) == 3
    # What is saved is the line, by the rules of Python too.
    with page.expect_download() as saving:
        page.click("#learn button >> text=Save this game")
    saving.value.save_as(path)
    saved = parse_transcript(path.read_bytes(), "line", game.rules)
    assert (saved.turns[0], saved.turns[2].dice) == (played.turns[0], 0)
    page.click("text=Back to the game")
    assert (turns_shown(tab), tab.text("#learn h2 >> nth=0")) == (told, title)
    assert "Turn 2: " in tab.text("#learn .turn-head h2")
    assert not page.is_visible("text=Back to the game")


def _labels(buttons: Any) -> list[str]:
    labels: list[str] = buttons.evaluate_all("all => all.map((one) => one.ariaLabel)")
    return labels


@pytest.mark.parametrize("place", [1, 4, 5, 6])
def test_a_link_opens_the_review(tab: Tab, place: int) -> None:
    page = opened(tab, random_game(compiled(place).rules, 5))
    told = turns_shown(tab)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.click("text=Copy link")
    page.wait_for_selector("#learn [role=status] >> text=Copied")
    link = page.evaluate("navigator.clipboard.readText()")
    page.goto("about:blank")
    page.goto(link)
    page.wait_for_selector("#learn .review tbody tr")
    assert (turns_shown(tab), page.input_value("#edition")) == (told, str(place))
    assert tab.text("#learn h2 >> nth=0").startswith("Ann against Bob <b>: ")
    tab.asked.clear()
    tab.asked.append(page.url.partition("#")[0])


@pytest.mark.slow
def test_a_slow_page_comes_from_one_game_to_another_without_an_error(tab: Tab) -> None:
    """What one edition still computes must not meet the lists of the next."""
    page = tab.page
    page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": 20})
    for place in (1, 5, 1, 5):
        page.goto("about:blank")
        page.goto(f"{tab.asked[0]}#know/game {place}")
        page.wait_for_selector("body[data-ready]")
    tab.asked[:] = tab.asked[:1]


def test_a_link_that_holds_no_game_is_refused(tab: Tab) -> None:
    page, (good, names) = tab.page, ("0.0.0-35-0-4", "Ann/Bob")
    for code, who, why in (
        ("0.0.0-35-9", names, "turn 2: a die shows 9; allowed: 1 to 6"),
        ("0.0.0-3555", names, "turn 1: 4 dice; allowed: 0 to 3"),
        ("0.0.24-3", names, "address: got '0.0.24-3'; allowed: a game of game 1"),
        ("2.0.0-3", names, "address: got '2.0.0-3'; allowed: a game of game 1"),
        (good, "Ann/Ann", "players: got ['Ann', 'Ann']; allowed: two different names"),
        (good, "Ann", "players: got ['Ann']; allowed: two different names"),
    ):
        page.evaluate("(hash) => { location.hash = hash; }", f"learn/game%201/{code}/{who}")
        expect(page.locator("#learn .alert")).to_contain_text(f"The address: {why}")
        page.evaluate("document.querySelector('#learn .alert').textContent = ''")
    page.evaluate("(hash) => { location.hash = hash; }", f"learn/game%201/{good}/{names}")
    page.wait_for_selector("#learn .review tbody tr")
    assert len(turns_shown(tab)) == 3


def test_the_focus_stays_on_what_was_pressed(tab: Tab) -> None:
    focused = "document.activeElement.textContent"
    page = opened(tab, random_game(compiled(1).rules, 5))
    page.focus(".graph-frame")
    page.keyboard.press("Home")
    page.focus("#learn button >> text=Turn after")
    page.keyboard.press("Enter")
    assert "Turn 2: " in tab.text("#learn .turn-head h2")
    assert page.evaluate(focused) == "Turn after"
    page.focus("#learn button >> text=Turn before")
    page.keyboard.press("Enter")
    assert "Turn 1: " in tab.text("#learn .turn-head h2")
    assert page.evaluate(focused) == "Turn after"  # the other is disabled
    show(tab, "opening")
    page.focus("#opening .book-rolls button >> nth=1")
    page.keyboard.press("Enter")
    pressed = "document.activeElement.matches('.book-rolls [aria-pressed=true]')"
    assert page.evaluate(f"{pressed} && document.activeElement.previousSibling !== null")
    page.focus("#opening button >> text=Back")
    page.keyboard.press("Enter")
    assert page.evaluate(pressed)


def test_what_python_refuses_the_page_refuses(tab: Tab, tmp_path: Path) -> None:
    tab.page.evaluate(EDITIONS)
    short, whole = (json.dumps(rules).encode() for rules in (SHORT, plain(rules_from(SHORT))))
    given = [data for data, _ in HOSTILE]
    given += [json.dumps(content).encode() for content, _ in NOT_FOLLOWING]
    cases = [data.replace(short, whole) for data in given]
    for data in cases:
        with pytest.raises(TranscriptError) as refused:
            parse_transcript(data, "g.json")
        line = tab.page.evaluate(REFUSAL, base64.b64encode(data).decode())
        assert line is not None, data[:300]
        assert line.startswith("g.json: ")
        assert line.isprintable()
        assert len(line) < 1100
        where, told = str(refused.value).split(": ")[1], line.split(": ")[1]
        other = "is not JSON", "got ", "format"  # the page asks first whether it is a game
        assert where.startswith(told) or told.startswith(other), (where, line)
    path = tmp_path / "bad.json"
    path.write_bytes(cases[-1])
    page = show(tab, "learn")
    page.set_input_files("#open-game", path)
    page.wait_for_selector("#learn .alert >> text=/^bad.json: winner: got 1; allowed: null$/")


# --- training, map, opening -------------------------------------------------------------------


def test_training_asks_again_what_went_wrong(tab: Tab) -> None:
    solved = solve(compiled(0))
    page = show(tab, "train")
    wrong = set()
    for asked in range(1, 9):
        page.wait_for_selector("#train .choice:not([disabled])")
        place = tab.text("#train h2")
        own, other = (int(word.strip(",")) for word in place.split() if word.strip(",").isdigit())
        rolls = solved.roll_values(own, other)[0]
        order = best_first(rolls)
        roll = order[-1] if asked == 1 else order[0]
        assert (place in wrong) == (asked == 5)
        page.keyboard.press(str(roll))
        assert page.is_visible(f"#train .choice.right >> nth=0 >> text=/^{order[0]}/")
        assert percent(rolls[order[0]]) in tab.text("#train .answer")
        if asked == 1:
            wrong.add(place)
            cost = pp(rolls[order[0]] - rolls[roll], signed=False)
            assert f"{cost} less" in tab.text("#train .answer")
        assert f"{asked - 1} of {asked} right" in tab.text("#train .card")
        page.keyboard.press("Enter")  # on the button of the next position


def test_progress_of_training_is_kept_in_the_browser(tab: Tab) -> None:
    page = show(tab, "train")
    page.wait_for_selector("#train .choice:not([disabled])")
    page.keyboard.press("0")
    told = tab.text("#train .tally")
    assert re.match(r"[01] of 1 right", told)
    page.reload()
    page.wait_for_selector("body[data-ready]")
    page = show(tab, "train")
    page.wait_for_selector("#train .choice:not([disabled])")
    assert tab.text("#train .tally").startswith(told)
    page.click("text=Start anew")
    assert tab.text("#train .tally") == ""


def test_own_mistakes_are_asked_first(tab: Tab) -> None:
    played = random_game(compiled(1).rules, 6)
    turns = sorted(reviewed(played).turns, key=lambda turn: -turn.loss)  # the costliest first
    wrong = [
        "You have {}, the other has {}".format(*turn.before.view)
        for turn in turns
        if turn.before.mover == 0 and turn.loss >= MIN_COST
    ]
    opened(tab, played)
    page = show(tab, "train")
    assert wrong
    for place in wrong[:2]:
        page.wait_for_selector("#train .choice:not([disabled])")
        assert tab.text("#train h2") == place
        page.keyboard.press("0")
        page.keyboard.press("n")


@pytest.mark.parametrize("place", [0, 1])
def test_the_map_is_walked_by_keys(tab: Tab, place: int) -> None:
    tab.page.select_option("#edition", str(place))
    page = show(tab, "map")
    page.wait_for_selector("#map .atlas-said >> text=/^0 against 0/")
    page.focus(".grid-frame")
    for key in ("Shift+ArrowUp", "ArrowUp", "ArrowRight", "ArrowRight", "ArrowDown", "ArrowLeft"):
        page.keyboard.press(key)
    solved = solve(compiled(place))
    rolls = solved.roll_values(10, 1)[solved.start]
    dice = {0: "no dice", 1: "1 die"}.get(best_first(rolls)[0], f"{best_first(rolls)[0]} dice")
    said = tab.text("#map .atlas-said")
    assert said.startswith(f"10 against 1: best is {dice}, {percent(rolls.max())}.")
    page.select_option("#map select >> nth=0", label="what the second best loses")
    page.wait_for_selector("#map .atlas-said >> text=/Here: .* pp/")
    page.click("#map button >> text=Open in Know")
    assert percent(rolls.max()) in tab.text("#know .verdict")


def first_turns(game: HogEngine, count: int) -> list[np.ndarray[Any, Any]]:
    """Probability of each number of dice, turn by turn, of the game going on so long."""
    solved, turns = solve(game), TurnTable(game.rules)
    here: dict[tuple[int, int, Memory], float] = {(0, 0, Memory()): 1.0}
    found = []
    for _ in range(count):
        rolls = np.zeros(game.num_actions)
        after: dict[tuple[int, int, Memory], float] = {}
        for (own, other, memory), share in here.items():
            values = solved.roll_values(own, other)[game.memories.index(memory)]
            dice = best_first(values)[0]
            rolls[dice] += share
            for way in turns.outcomes(own, other, memory, dice):
                if way.landing.winner is None:
                    state = way.following
                    after[state] = after.get(state, 0.0) + share * float(way.probability)
        found.append(rolls)
        here = after
    return found


@pytest.mark.parametrize("place", [0, 2])
def test_the_opening_is_that_of_best_play(tab: Tab, place: int) -> None:
    page = tab.page
    page.select_option("#edition", str(place))
    show(tab, "opening")
    page.wait_for_selector("#opening .whole tbody tr")
    page.evaluate(EDITIONS)
    told = page.evaluate(
        "async (i) => (await openingOf(window.editions[i])).map((one) => [...one.rolls])", place
    )
    want = first_turns(compiled(place), 6)
    np.testing.assert_allclose(told[:6], want, rtol=0, atol=1e-12)
    assert len(told) <= 10
    row = page.locator("#opening .whole tbody tr").first.inner_text()
    assert f"{int(want[0].argmax())}: 100 %" in row
    # A step into the tree, and back.
    page.click("#opening .book .link >> nth=0")
    assert tab.text("#opening [aria-label='Walk through the opening'] h3").startswith("Turn 2: ")
    page.click("#opening button >> text=Back")
    assert "Turn 1: first player, 0 to 0, " in tab.text(
        "#opening [aria-label='Walk through the opening']"
    )


def test_strange_places_are_told_and_lead_on(tab: Tab) -> None:
    page = show(tab, "opening")
    page.wait_for_selector("#opening .strange li")
    assert "Sus Fuss: targets" in tab.text("#opening")
    assert "A player who forgets it rolls" in tab.text("#opening .strange li")
    place = tab.text("#opening .strange .link").split(":")[0]
    page.click("#opening .strange .link >> nth=0")
    own, other = (page.input_value(f"#know input[type=number] >> nth={i}") for i in (0, 1))
    assert place == f"{own} to {other}"
