"""What a contest would say of a file."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from hogeq.cli import app
from hogeq.support.messages import percent
from hogeq.support.sandbox import isolation
from tests.cli.calls import ask, ok, said

R = ("--rules", "fa22.yaml")


def not_valid(*arguments: str) -> str:
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2
    assert said(result.stderr) == ""
    return result.stdout


def test_a_valid_submission_and_how_it_does(folder: Path) -> None:
    submission = "one.py"
    ok("export", "always_roll:1", *R, "--player-name", "One <b>", "--out", submission)
    found = ask("check", submission, *R, "--trust", "--html", "check.html")
    assert (found["valid"], found["player_name"], found["faults"]) == (True, "One <b>", [])
    assert found["bytes"] == Path(submission).stat().st_size
    rates = {one["strategy"]: one["win_rate"] for one in found["win_rates"]}
    for name in ("always_roll:3", "optimal"):
        want = ask("compare", "always_roll:1", name, *R)["win_rate"]
        assert rates[name] == pytest.approx(want, abs=1e-12)
    assert found["against"] == "optimal"
    assert found["win_rate"] == rates["optimal"]
    assert found["best_response"] == pytest.approx(0.5, abs=1e-12)
    assert (found["bound"], found["effort"]) == (found["best_response"], None)
    assert found["losses"][0]["loss"] >= found["losses"][1]["loss"] > 0.0
    assert len(found["changes"]) == 3
    assert found["changed"] > found["win_rate"]
    text = ok("check", submission, *R, "--trust")
    assert text.startswith("valid for fa22 with goal=20, max_dice=3, by One <b>: ")
    assert "against optimal it wins " in text
    assert "; a best response wins 50.00 %; what it loses is in these groups" in text
    assert text.index("\nmistake ") < text.index("\nchanges that gain most")
    assert text.index("\nwins against") < text.index("\nmost is lost at")
    gains = [float(gain) for gain in re.findall(r"[+](\d+[.]\d+) pp +\d", text)]
    assert len(gains) > 3  # thresholds and single cells, the best first
    assert gains == sorted(gains, reverse=True)
    assert "Why it loses" in Path("check.html").read_text()
    page = Path("check.html").read_text()
    assert "One &lt;b&gt;" in page
    assert "One <b>" not in page
    packed = json.loads(page.split('<script type="application/json" id="data">')[1].split("<")[0])
    assert len(packed["dice"]) == len(packed["losses"]) == 20
    assert "http" not in page.split("</style>")[1]
    chosen = ask("check", submission, *R, "--trust", "--against", "always_roll:2")
    assert chosen["against"] == "always_roll:2"
    assert chosen["best_response"] == pytest.approx(
        ask("attack", "always_roll:2", *R, "--starts", "1")["bound"], abs=1e-9
    )


@pytest.mark.slow
def test_the_reasons_of_a_file_and_of_a_policy(folder: Path) -> None:
    Path("rule.py").write_text(
        "PLAYER_NAME = 'Me'\ndef final_strategy(score, opponent):\n"
        "    return 1 if score >= 12 else 2\n"
    )
    found = ask("check", "rule.py", *R, "--trust")
    why = ask("improve", "rule.py", "--explain", *R, "--trust")["why"]
    for key in ("loss", "loss_by_phase", "loss_by_lead"):
        whole = found["best_response"] - found["win_rate"]
        assert sum(one["loss"] for one in found[key]) == pytest.approx(whole, abs=1e-12)
        assert why[key] == found[key]
    assert "constant_changes" not in found
    assert ask("check", "rule.py", "--rules", "small.yaml", "--trust")["loss"]
    np.save("uniform.npy", np.full((20, 20, 4), 0.25))
    assert "\nmistake " in ok("improve", "uniform.npy", "--explain", *R)
    ok("improve", "rule.py", "--explain", "--out", "better.csv", *R, "--trust")


@pytest.mark.slow
def test_what_is_printed_is_noted_and_not_shown(folder: Path) -> None:
    for name, roll in (("good", 1), ("bad", 9)):
        Path(f"{name}.py").write_text(
            "PLAYER_NAME = 'Me'\nprint('secret')\n"
            f"def final_strategy(score, opponent): return {roll}\n"
        )
    good = ok("check", "good.py", *R, "--trust")
    assert "other files" not in good
    for text in (good, not_valid("check", "bad.py", *R, "--trust")):
        assert "\nit prints: what it prints is not shown\n" in text
        assert "secret" not in text


@pytest.mark.slow
@pytest.mark.skipif(isolation().bubblewrap is None, reason=isolation().reason)
def test_what_an_entry_tried_is_told_and_on_no_page(folder: Path) -> None:
    Path("one.py").write_text(
        "PLAYER_NAME = 'Me'\ntry: open('/secret/\\x1b[2J')\nexcept OSError: pass\n"
        "def final_strategy(score, opponent): return 1\n"
    )
    text = ok("check", "one.py", *R, "--trust", "--html", "check.html")
    assert "\nit tried, in its own words: open /secret/\\x1b[2J\n" in text
    assert "secret" not in Path("check.html").read_text()
    assert ask("check", "one.py", *R, "--trust")["attempts"] == [r"open /secret/\x1b[2J"]


def test_a_name_turns_no_page_around(folder: Path) -> None:
    Path("one.py").write_text(
        "PLAYER_NAME = '\\u202eMe'\ndef final_strategy(score, opponent): return 1\n"
    )
    ok("check", "one.py", *R, "--trust", "--html", "check.html")
    page = Path("check.html").read_text()
    assert r"<title>\u202eMe, fa22" in page
    assert "\u202e" not in page


def test_a_search_is_not_shown_as_the_most(folder: Path) -> None:
    of = ("--rules", "small.yaml")
    ok("export", "always_roll:1", *of, "--out", "one.csv")
    found = ask("check", "one.csv", *of)
    attack = ask("attack", "ignore_memory", *of, "--starts", "1", "--kicks", "0")
    assert found["best_response"] == pytest.approx(attack["attack"], abs=1e-12)
    assert found["bound"] == pytest.approx(attack["bound"], abs=1e-9)
    assert found["effort"] == {
        key: attack[key] for key in ("starts", "anneal_steps", "damping", "kicks", "seed")
    }
    most, bound = percent(found["best_response"]), percent(found["bound"])
    told = (
        f"the best response found (1 start, no kicks) wins {most}, and none can win more than "
        f"{bound}"
    )
    text = ok("check", "one.csv", *of, "--html", "check.html")
    assert f"; {told}; what it loses is in these groups" in text
    page = (folder / "check.html").read_text()
    assert f"; {told}; what it loses is in these groups.</p>" in page
    for shown in (text, page):
        assert "a best response" not in shown


def test_what_loses_nothing_to_a_search_says_so(folder: Path) -> None:
    of = ("--rules", "small.yaml")
    ok("attack", "ignore_memory", *of, "--starts", "1", "--kicks", "0", "--out", "best.csv")
    text = ok("check", "best.csv", *of, "--html", "check.html")
    assert "%; none found (1 start, no kicks) wins more, and none can win more than " in text
    assert " %; by that, nothing is lost at any position" in text
    assert "; by that, nothing is lost at any position.</p>" in (folder / "check.html").read_text()


@pytest.mark.slow
def test_every_fault_is_listed_and_the_status_is_2(folder: Path) -> None:
    (folder / "bad.py").write_text(
        "def final_strategy(score, opponent):\n"
        "    return 4 if score == 3 else [].pop() if score == 4 else 1\n"
    )
    text = not_valid("check", "bad.py", *R, "--trust", "--html", "bad.html")
    assert text.startswith("bad.py: not valid for fa22 with goal=20, max_dice=3\n")
    assert "PLAYER_NAME is missing" in text
    assert "final_strategy(3, 0) is 4 (int); allowed: ints from 0 to 3" in text
    assert "final_strategy(4, 0) raised IndexError" in text
    assert text.count("(20 like this)") == 2
    found = json.loads(not_valid("check", "bad.py", *R, "--trust", "--json"))
    assert found["valid"] is False
    assert [(one["kind"], one["count"]) for one in found["faults"]] == [
        ("name", 1),
        ("raises", 20),
        ("range", 20),
    ]
    assert found["win_rates"] is None
    assert "Not valid" in (folder / "bad.html").read_text()
