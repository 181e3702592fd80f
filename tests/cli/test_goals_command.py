"""A goal for each player on the command line: an option of rules, and a file for a field."""

import csv
from pathlib import Path

import numpy as np
import pytest

import hogeq
from hogeq.support.messages import percent
from tests.cli.calls import ask, ok, refused

RULES = {"edition": "fa21", "goal": [9, 14], "max_dice": 3}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("rules.yaml").write_text(str(RULES).replace("'", ""))
    Path("usual.yaml").write_text("{edition: fa21, goal: 20, max_dice: 3}")
    for number in (1, 2):
        table = np.random.default_rng(number).integers(0, 4, (20, 20))
        np.savetxt(f"table{number}.csv", table, "%d", ",")
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_commands_that_take_two() -> None:
    rules = ("--rules", "rules.yaml")
    game = hogeq.Game(RULES)
    other = hogeq.Game(game.rules.for_second())
    assert "Goal             9 and 14 points" in ok("rules", "rules.yaml")

    found = ask("compare", "optimal", "optimal", *rules)
    rate = game.win_rate("optimal", "optimal")
    assert (found["first"], found["second"]) == (rate.first, rate.second)
    assert "the goals are A's and B's: 9 and 14" in ok(
        "compare", "always_roll:1", "always_roll:2", *rules
    )

    found = ask("tablebase", *rules, "--against", "always_roll:1")
    solved, second = game.tablebase(), other.tablebase()
    for prefix, one in (("", solved), ("second_", second)):
        assert found[f"{prefix}value"] == pytest.approx(one.value, abs=1e-15)
        assert found[f"{prefix}first_roll"] == one.first_roll
    assert found["against"] == game.win_rate("optimal", "always_roll:1").win_rate
    assert "win probability of the player to 14, moving first" in ok("tablebase", *rules)

    found = ask("attack", "optimal", *rules, "--starts", "1", "--kicks", "0")
    assert found["attack"] == pytest.approx(rate.win_rate, abs=1e-12)
    assert "exploitability" not in ok(
        "attack", "always_roll:1", *rules, "--starts", "1", "--kicks", "0"
    )
    assert ask("analyze", *rules, "--score", "8", "--opponent", "13")["value"] == 1.0
    assert "--score: 9; allowed: 0 to 8" in refused(
        "analyze", *rules, "--score", "9", "--opponent", "13"
    )
    assert "scores from 0 to 8" in refused(
        "compare", "always_roll:1", "always_roll:2", *rules, "--start", "0:9"
    )


@pytest.mark.usefixtures("folder")
def test_who_remembers_everything() -> None:
    rules = {"edition": "su20", "goal": [9, 14], "max_dice": 2}
    Path("hidden.yaml").write_text(str(rules).replace("'", ""))
    one = ask("compare", "full_memory", "full_memory", "--rules", "hidden.yaml")
    Path("hidden.yaml").write_text(str({**rules, "goal": [14, 9]}).replace("'", ""))
    two = ask("compare", "full_memory", "full_memory", "--rules", "hidden.yaml")
    assert one["win_rate"] == pytest.approx(1 - two["win_rate"], abs=1e-12)
    ours = ask("compare", "always_roll:1", "full_memory", "--rules", "hidden.yaml")
    solved = hogeq.Game({**rules, "goal": [9, 14]}).tablebase()
    assert ours["second"] == pytest.approx(1 - solved.against(np.ones((14, 14), int)).first)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    "command",
    [
        ("audit",),
        ("export-game", "--out", "game.efg"),
        ("tournament", "always_roll:1", "always_roll:2"),
    ],
    ids=lambda command: command[0],
)
def test_commands_that_take_one(command: tuple[str, ...]) -> None:
    line = refused(*command, "--rules", "rules.yaml")
    assert "rules.goal: got [9, 14]; allowed: one number here; compare, attack" in line


@pytest.mark.usefixtures("folder")
def test_a_goal_for_each_entry_of_a_tournament() -> None:
    field = ("tournament", "table1.csv", "table2.csv", "always_roll:2", "--rules", "usual.yaml")
    Path("goals.csv").write_text("\nentry,goal\ntable2.csv,9\n\nalways_roll:2, 14\n")
    found = ask(*field, "--goals", "goals.csv")
    game = hogeq.Game("usual.yaml")
    rates = game.round_robin(["table1.csv", "table2.csv", "always_roll:2"], goals=[20, 9, 14])
    assert found["win_rates"] == rates.tolist()
    goals = {line["entry"]: line["goal"] for line in found["ranking"]}
    assert goals == {"table1.csv": 20, "table2.csv": 9, "always_roll:2": 14}
    assert "strategy       goal  rank" in ok(*field, "--goals", "goals.csv")
    for text, told in (
        ("table3.csv,9", "goals.csv: entry: got 'table3.csv'; allowed: the entries: table1.csv"),
        ("table1.csv,x", "goals.csv: line 1: got ['table1.csv', 'x']; allowed: entry,goal"),
        ("table1.csv,9\ntable1.csv,8", "goals.csv: line 2: got"),
        ("table1.csv,21", "goals: got [21, 20, 20]; allowed: 3 whole numbers from 1 to 20"),
    ):
        Path("goals.csv").write_text(text)
        assert told in refused(*field, "--goals", "goals.csv")


@pytest.mark.usefixtures("folder")
def test_pages_of_entries_with_goals_of_their_own() -> None:
    Path("in").mkdir()
    for number in (1, 2):
        Path(f"table{number}.csv").rename(f"in/table{number}.csv")
    np.savetxt("in/table3.csv", np.full((20, 20), 2), "%d", ",")
    Path("goals.csv").write_text("entry,goal\ntable2.csv,14\n")
    asked = ("tournament", "in", "--rules", "usual.yaml", "--goals", "goals.csv", "--out", "out")
    found = ask(*asked)
    game, files = hogeq.Game("usual.yaml"), [f"in/table{number}.csv" for number in (1, 2, 3)]
    assert found["win_rates"] == game.round_robin(files, goals=[20, 14, 20]).tolist()
    ranks = list(csv.DictReader(Path("out/staff/ranks.csv").read_text().splitlines()))
    assert {line["student"]: line["goal"] for line in ranks} == {
        **dict.fromkeys(("table1.csv", "table3.csv"), "20"),
        "table2.csv": "14",
    }
    # What the page says is so in the game to 14 against 20.
    (own,) = Path("out/staff/entrants").glob("table2.csv-*.html")
    page = own.read_text()
    assert "Its goal is 14. The opponents below have 20." in page
    pair = hogeq.Game(RULES | {"goal": [14, 20]})
    wins = pair.win_rate("in/table2.csv", "optimal").win_rate
    assert f"Against optimal it wins {percent(wins)}" in page
    # The same again computes nothing; another goal is another entry.
    before = Path("out/public/index.html").read_text()
    assert ask(*asked)["win_rates"] == found["win_rates"]
    assert Path("out/public/index.html").read_text() == before
    Path("goals.csv").write_text("table2.csv,20\n")
    assert ask(*asked)["win_rates"] == game.round_robin(files).tolist()
    assert "Its goal is" not in own.read_text()
