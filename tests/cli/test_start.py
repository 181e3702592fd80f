"""Games that begin with other scores than 0, thresholds and ties."""

from pathlib import Path

import pytest

import hogeq
from tests.cli.calls import ask, ok, refused


def test_commands_begin_where_they_are_told(folder: Path) -> None:
    rules = ("--rules", "fa22.yaml")
    game = hogeq.Game("fa22.yaml")
    found = ask("compare", "always_roll:1", "optimal", *rules, "--start", "10:3")
    assert found["win_rate"] == game.win_rate("always_roll:1", "optimal", (10, 3)).win_rate
    assert ", from 10:3" in ok("compare", "always_roll:1", "optimal", *rules, "--start", "10:3")
    solved = ask("tablebase", *rules, "--start", "10:3", "--against", "always_roll:1")
    assert solved["value"] == pytest.approx(
        max(one.win_probability for one in game.analyze(10, 3).rolls), abs=1e-12
    )
    assert solved["against"] == pytest.approx(1.0 - found["win_rate"], abs=1e-12)
    field = ("tournament", "always_roll:1", "always_roll:2", "optimal", *rules)
    rates = ask(*field, "--start", "10:3")["win_rates"]
    assert rates[0][2] == pytest.approx(found["win_rate"], abs=1e-12)
    assert (
        rates == game.round_robin(["always_roll:1", "always_roll:2", "optimal"], (10, 3)).tolist()
    )
    assert "matches each, from 10:3" in ok(*field, "--start", "10:3")
    for given in ("20:0", "1", "-1:0"):
        line = refused("compare", "boar", "sus", *rules, "--start", given)
        assert f"--start: got {given}; allowed: FIRST:OTHER, scores from 0 to 19" in line


def test_thresholds_and_ties(folder: Path) -> None:
    rules = ("--rules", "fa22.yaml")
    field = ("tournament", "always_roll:1", "always_roll:1", "always_roll:2", *rules)
    lines = ask(*field)["ranking"]
    assert [(line["wins"], line["ties"]) for line in lines] in (
        [(2, 0), (0, 1), (0, 1)],
        [(1, 1), (1, 1), (0, 0)],
    )
    assert "  tied  " in ok(*field)
    strict = ask(*field, "--threshold", "0.99")
    assert [(line["wins"], line["ties"]) for line in strict["ranking"]] == [(0, 2)] * 3
    ok(*field, "--threshold", "0.5000000001", "--html", "field.html")
    assert "above 50.00000001&nbsp;%" in Path("field.html").read_text()
    with pytest.raises(ValueError, match=r"threshold: got 0\.4; allowed: numbers from 0\.5"):
        hogeq.rank([[0.5]], 0.4)


def test_a_review_from_other_scores(folder: Path) -> None:
    played = hogeq.Transcript.of([[3, 5], [2]], hogeq.rules_from("fa22"), "AB", 1, start=(50, 7))
    assert played.turns[0].before.scores == (7, 50)
    Path("game.json").write_text(played.to_json())
    line = refused("review", "game.json")
    assert "game.json: turns[0].before: got [7, 50]; allowed: [0, 0]" in line
    told = ask("review", "game.json", "--start", "50:7")
    assert [turn["before"][::-1] for turn in told["turns"]][:1] == [[50, 7]]
    value = ask("tablebase", "--rules", "fa22", "--start", "50:7")["value"]
    assert told["start"][1] == pytest.approx(value, abs=1e-12)
    assert "--start: got 100:0; allowed: FIRST:OTHER, scores from 0 to 99" in refused(
        "review", "game.json", "--start", "100:0"
    )
    short = played.to_json().replace('"fa22"', '{"edition": "fa22", "goal": 40}')
    Path("short.json").write_text(short)
    line = refused("review", "short.json", "--start", "50:7")
    assert "short.json: start: got (50, 7); allowed: scores from 0 to 39" in line
