"""The game in the terminal: what people type, and how it ends."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from hogeq.analysis.turns import Engine, Session
from hogeq.cli import app
from hogeq.model.game import compile_game
from hogeq.rules import rules_from
from hogeq.support.messages import loss, percent
from tests.cli.calls import ask, in_full, refused, said

RULES = "fa22.yaml"
PROMPT = "roll 0 to 3 > "
ALL = ("--digits", "10")


def session() -> Session:
    game = compile_game(rules_from({"edition": "fa22", "goal": 20, "max_dice": 3}))
    return Session(game, Engine(game), "you", 1)


def play(*lines: str, options: tuple[str, ...] = (), seed: int = 1, rules: str = RULES) -> str:
    found = typed(lines, rules, seed, *options)
    assert said(found.stderr) == ""
    return found.stdout


def recorded(
    *lines: str, options: tuple[str, ...] = (), seed: int = 3, rules: str = RULES
) -> tuple[dict[str, Any], str]:
    """Give the game as --json prints it, and the talk."""
    found = typed(lines, rules, seed, *options, "--json")
    return json.loads(found.stdout), found.stderr


def typed(lines: tuple[str, ...], rules: str, seed: int, *options: str) -> Result:
    arguments = ["play", "--rules", rules, "--seed", str(seed), "--first", "you", *options]
    result = CliRunner().invoke(app, arguments, input="".join(f"{line}\n" for line in lines))
    assert result.exit_code == 0, result.stderr
    return result


def answers(*lines: str, **more: Any) -> list[str]:
    """Give what was said after each prompt."""
    return play(*lines, **more).split(PROMPT)[1:]


# --- commands -------------------------------------------------------------------------------------


def test_the_start_says_who_plays_what(folder: Path) -> None:
    text = play("quit")
    assert text.startswith("fa22 with goal=20, max_dice=3, you against optimal play, seed 1\n")
    assert "Square Swine  a new score that is a perfect square, 0 too, becomes the next one" in text
    assert "Win probabilities count on both playing optimally from the next turn on" in text
    assert "turn 1: you 0, engine 0" in text
    assert text.endswith("left at you 0, engine 0\n\n")


def test_hints_and_odds(folder: Path) -> None:
    odds = session().odds()
    hint, table, one, commands, _ = answers("?", "odds", "odds 2", "help", "quit", options=ALL)
    assert f"best: roll {odds[0].dice}" in hint
    assert in_full(percent, odds[0].win_probability) in hint
    rows = [line.split(maxsplit=1) for line in table.splitlines()[2:6]]
    assert [row[0] for row in rows] == [str(entry.dice) for entry in odds]
    for entry, (_, figures) in zip(odds, rows, strict=True):
        assert figures.startswith(in_full(percent, entry.win_probability))
        assert figures.endswith(in_full(loss, entry.loss))
    two = next(entry for entry in odds if entry.dice == 2)
    assert in_full(percent, two.win_probability) in one
    assert len(one.splitlines()) == 4  # what was typed, a header, a row, what it counts on
    assert answers("h", "quit", options=ALL)[0].splitlines()[1:] == hint.splitlines()[1:]
    for word in ("hint", "odds", "undo", "rules", "quit"):
        assert word in commands


def test_a_roll_is_played_and_its_cost_told(folder: Path) -> None:
    want = session()
    worst = next(entry for entry in reversed(want.odds()) if entry.dice > 0)
    move = want.play(worst.dice)
    said = answers(str(worst.dice), "quit", options=ALL)[0]
    cost, won = in_full(loss, worst.loss), in_full(percent, worst.win_probability)
    assert f"you rolled {worst.dice}: {' '.join(map(str, move.faces))}" in said
    assert f"loss {cost}, " in said
    assert f": win probability {won}" in said
    assert f"so far {cost}" in said
    reply = want.play()
    assert f"engine rolled {reply.dice or 'no dice'}" in said
    you, engine = want.situation.scores
    assert f"you {you}, engine {engine}" in said


def test_undo(folder: Path) -> None:
    first, again, undone, same, none, *_ = answers("2", "undo", "?", "2", "undo", "undo", "quit")
    assert "taken back: 2 turns, you rolled 2" in again
    assert "turn 1: you 0, engine 0" in again
    assert "best: roll" in undone
    assert same.splitlines()[1:] == first.splitlines()[1:]
    assert "nothing to take back" in answers("undo", "quit")[0]
    assert answers("2", "u", "quit")[1].splitlines()[1:] == again.splitlines()[1:]
    assert "mistake" not in none


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("4", "4 dice; allowed: 0 to 3"),
        ("odds 9", "9 dice; allowed: 0 to 3"),
        ("-1", "-1 dice; allowed: 0 to 3"),
        ("", "type a number of dice, or help"),
        ("9" * 5000, f"'{'9' * 40}': not understood"),
        ("\x1b[2J", "'\\x1b[2j': not understood"),
    ],
)
def test_bad_input_gets_one_line_and_another_prompt(folder: Path, line: str, says: str) -> None:
    said, last = answers(line, "quit")
    echoed, *lines = said.splitlines()
    assert echoed == line.replace("\x1b", "?")
    assert len(lines) == 1
    assert lines[0].startswith(says)
    assert "left at you 0, engine 0" in last


@pytest.mark.slow
def test_bytes_that_are_no_text_are_bad_input(folder: Path) -> None:
    command = [sys.executable, "-m", "hogeq", "play", "--rules", RULES, "--first", "you"]
    found = run(*command, given=b"\xff\xfe\n\x00\n2\n")
    assert (found.returncode, said(found.stderr.decode())) == (0, "")
    assert found.stdout.count(b"not understood") == 2
    assert b"you rolled 2" in found.stdout


# --- whole games ----------------------------------------------------------------------------------


def test_a_game_is_played_to_the_end(folder: Path) -> None:
    data, text = recorded(*["2"] * 60, options=("--engine", "memory", *ALL), rules="turns.yaml")
    assert data["winner"] in {"you", "engine"}
    assert f"{data['you']} to {data['engine']}" in text
    for turn in data["turns"]:
        if turn["player"] == "you":
            assert turn["dice"] == 2
    total = sum(turn["loss"] for turn in data["turns"] if turn["player"] == "you")
    assert data["meter"]["total"] == pytest.approx(total, abs=1e-12)
    assert f"together lost {in_full(loss, total)} of win probability" in text


def test_engines_that_are_matrices_and_policies(folder: Path) -> None:
    np.savetxt("one.csv", np.ones((20, 20)), fmt="%d", delimiter=",")
    np.savez("mixed.npz", policy=np.full((20, 20, 4), 0.25))
    for name in ("one.csv", "always_roll:1"):
        text = play("0", "quit", options=("--engine", name))
        assert "engine rolled 1: " in text
        assert f"both playing {name} from the next turn on" in text
    assert "both playing mixed.npz" in play("0", "?", "quit", options=("--engine", "mixed.npz"))


def test_what_is_drawn_from_a_mixture_does_not_show_in_the_dice(folder: Path) -> None:
    """Both parts meet low and high faces on either of the first dice."""
    parts = np.stack([np.full((20, 20), dice, np.int8) for dice in (1, 2)])
    np.savez("mix.npz", weights=[0.5, 0.5], matrices=parts)
    met = set()
    for seed in range(24):
        data, _ = recorded("2", "quit", options=("--engine", "mix.npz"), seed=seed)
        yours, theirs = data["turns"][:2]
        met |= {(place, face > 3, theirs["dice"]) for place, face in enumerate(yours["faces"])}
    assert len(met) == 2 * 2 * 2


def test_memory_is_told_where_the_rules_have_one(folder: Path) -> None:
    text = play("2", "quit", rules="small.yaml")
    assert "turn 1: you 0, engine 0; own last points: 0, opponent's last points: 0" in text
    assert "remembering everything" in text
    text = play("quit", rules="turns.yaml")
    assert "turn (mod 8): 0, extra turn: no" in text
    Path("hw13.yaml").write_text("{edition: hw13, goal: 20, max_dice: 3}")
    assert "turn 1: you 0, engine 0; 4-sided dice" in play("quit", rules="hw13.yaml")


def test_a_game_from_other_scores_is_reviewed_from_there(folder: Path) -> None:
    start = ("--start", "10:3")
    text = play("2", "quit", options=(*start, "--save", "one.json"))
    assert "turn 1: you 10, engine 3" in text
    assert "hogeq review one.json --start 10:3 says" in text
    assert ask("review", "one.json", *start)["turns"][0]["before"] == [10, 3]
    assert "one.json" in refused("review", "one.json")


def test_the_seed_is_told_and_repeats_the_game(folder: Path) -> None:
    arguments = ["play", "--rules", RULES, "--save", "one.json"]
    typing = "2\n2\nquit\n"
    found = CliRunner().invoke(app, arguments, input=typing)
    told = re.search(r"seed ([0-9]+)", found.stdout)
    assert told is not None
    first = Path("one.json").read_text()
    again = CliRunner().invoke(app, [*arguments, "--overwrite", "--seed", told[1]], input=typing)
    assert again.stdout == found.stdout
    assert Path("one.json").read_text() == first


def test_json_keeps_the_talk_off_standard_output(folder: Path) -> None:
    data, talk = recorded("2")
    assert data["engine_plays"] == "optimal"
    assert data["turns"][0]["dice"] == 2
    assert PROMPT in talk


# --- how it ends ----------------------------------------------------------------------------------


def run(*command: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(  # noqa: S603 - our own command
        command, capture_output=True, check=False, input=given, env=environment(), timeout=120
    )


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}


@pytest.mark.slow
def test_the_end_of_input_is_polite_and_a_closed_input_is_the_end_of_it(folder: Path) -> None:
    assert "end of input: left at you" in play("2")
    command = [sys.executable, "-m", "hogeq", "play", "--rules", RULES, "--first", "you"]
    found = run("/bin/sh", "-c", 'exec "$@" <&-', "sh", *command)
    assert (found.returncode, said(found.stderr.decode())) == (0, "")
    assert b"end of input" in found.stdout


@pytest.mark.slow
def test_in_a_terminal_and_interrupted(folder: Path) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "hogeq", "play", "--rules", RULES, "--first", "you"]
    process = subprocess.Popen(  # noqa: S603 - our own command
        [*command, "--seed", "1", "--save", "game.json"],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment(),
        start_new_session=True,
    )
    os.close(theirs)
    try:
        assert wait_for(ours, PROMPT).count("turn 1") == 1
        os.write(ours, b"2\n")
        said = wait_for(ours, PROMPT)
        assert said.startswith("2\r\n")  # echoed by the terminal, once
        assert "you rolled 2: " in said.splitlines()[1]
        # A signal between the prompt and the read that follows waits for the next one.
        os.write(ours, b"half a line")
        wait_for(ours, "half a line")
        for _ in range(10):
            process.send_signal(signal.SIGINT)
            if select.select([ours], [], [], 5.0)[0]:
                break
        assert "\r\nhogeq: stopped" in wait_for(ours, "stopped")
        assert process.wait(60) == 130
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    assert len(json.loads((folder / "game.json").read_text())["turns"][0]["dice"]) == 2


def wait_for(terminal: int, text: str) -> str:
    found, deadline = "", time.monotonic() + 100.0
    while text not in found:
        assert select.select([terminal], [], [], max(0.0, deadline - time.monotonic()))[0], found
        found += os.read(terminal, 4096).decode()
    return found
