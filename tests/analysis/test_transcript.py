"""Transcripts: what is written is read again, and what does not follow is refused."""

import copy
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hogeq.analysis.transcript import (
    MAX_BYTES,
    Transcript,
    TranscriptError,
    parse_transcript,
    read_transcript,
    written_rules,
)
from hogeq.rules import EDITIONS, rules_from

# A game of spring 2023, that is of fa22, to 9 points: 1 and 4 are squares, which become the next.
SHORT: dict[str, Any] = {"edition": "fa22", "goal": 9, "max_dice": 2}
GAME: dict[str, Any] = {
    "format": "hogeq transcript",
    "version": 1,
    "rules": SHORT,
    "seed": 3,
    "players": ["Ann", "Bob"],
    "turns": [
        {"player": 1, "before": [0, 0], "roll": 0, "dice": [], "points": 1}
        | {"fired": ["Square Swine"], "after": [0, 4]},
        {"player": 0, "before": [0, 4], "roll": 2, "dice": [3, 4], "points": 7}
        | {"fired": [], "after": [7, 4]},
        {"player": 1, "before": [7, 4], "roll": 1, "dice": [5], "points": 5}
        | {"fired": ["Square Swine"], "after": [7, 16]},
    ],
    "winner": 1,
}


def parsed(content: object, **more: Any) -> Transcript:
    return parse_transcript(json.dumps(content).encode(), "g.json", **more)


def test_a_game_is_read() -> None:
    found = parsed(GAME)
    assert found.rules == rules_from(SHORT)
    assert (found.players, found.seed) == (("Ann", "Bob"), 3)
    assert [turn.before.mover for turn in found.turns] == [1, 0, 1]
    assert (found.end.scores, found.end.winner) == ((7, 16), 1)
    assert found.plain() == GAME


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "game.json"
    path.write_text(parsed(GAME).to_json())
    assert read_transcript(path) == parsed(GAME)
    assert len(path.read_text().splitlines()) == len(GAME["turns"]) + 7


def test_a_game_that_was_left_has_no_winner() -> None:
    content = {**GAME, "turns": GAME["turns"][:2], "winner": None}
    assert parsed(content).end.winner is None


def test_a_game_that_cannot_be_is_not_made() -> None:
    rules = rules_from(SHORT)
    for rolls, says in (
        ([], "turns: got none; allowed: at least one turn"),
        ([[6, 6], [1]], r"turns\[1\]: got a turn; allowed: none, the game is over"),
        ([[6, 7]], r"turns\[0\].dice: face is 7; allowed: 1 to 6"),
        ([[1, 1, 1]], r"turns\[0\].dice: dice is 3; allowed: 0 to 2"),
    ):
        with pytest.raises(ValueError, match=says):
            Transcript.of(rolls, rules, ("Ann", "Bob"))
    for given, says in (
        ({"players": ("Ann", 61 * "b")}, "players: got .*; allowed: two different names"),
        ({"players": (1, 2)}, "players: got .*; allowed: two different names"),
        ({"first": 2}, "first: got 2; allowed: 0 or 1"),
        ({"rolls": [[1.0, 5]]}, r"turns\[0\]: got \[1.0, 5\]; allowed: whole numbers"),
    ):
        asked: dict[str, Any] = {"rolls": [[6, 6]], "rules": rules, "players": ("Ann", "Bob")}
        with pytest.raises(ValueError, match=says):
            Transcript.of(**asked | given)


def test_dice_may_be_an_array() -> None:
    made = Transcript.of(np.array([[1, 5], [6, 6]]), rules_from(SHORT), ["Ann", "Bob"])
    assert parse_transcript(made.to_json().encode(), "it") == made


def test_rules_are_written_by_name_if_they_have_one() -> None:
    assert written_rules(EDITIONS["fa23"], "fa25") == "fa25"
    assert written_rules(EDITIONS["fa23"], "rules.yaml") == "fa23"
    short = rules_from(SHORT)
    assert rules_from(written_rules(short, "rules.yaml")) == short


def test_rules_that_are_asked_for() -> None:
    wanted = rules_from({**SHORT, "name": "another name"})
    assert parsed(GAME, rules=wanted).rules == wanted
    with pytest.raises(TranscriptError) as refused:
        parsed(GAME, rules=rules_from("fa22"))
    says = "g.json: rules: got fa22 with goal=9, max_dice=2; allowed: those asked for, fa22"
    assert str(refused.value) == says


def test_large_games_are_read_only_if_asked_for() -> None:
    large = {"goal": 500, "max_dice": 30, "zero_dice": "two_plus_digit_gap"}
    turn = {"player": 0, "before": [0, 0], "roll": 0, "dice": [], "points": 2}
    content = {**GAME, "rules": large, "winner": None}
    content["turns"] = [turn | {"fired": [], "after": [2, 0]}]
    with pytest.raises(TranscriptError, match=r"rules\.goal: got 500; allowed: up to 200, unless"):
        parsed(content)
    assert parsed(content, rules=rules_from(large)).end.scores == (2, 0)
    for limits, is_read in (
        ({"goal": 200, "max_dice": 20}, True),
        ({"goal": 201, "max_dice": 20}, False),
        ({"goal": 200, "max_dice": 21}, False),
    ):
        content["rules"] = {**large, **limits}
        if is_read:
            assert parsed(content).end.scores == (2, 0)
        else:
            with pytest.raises(TranscriptError, match="allowed: up to"):
                parsed(content)


def changed(*path: Any, to: Any) -> dict[str, Any]:
    """Give the game above with one value changed."""
    content: Any = copy.deepcopy(GAME)
    at = content
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = to
    return dict(content)


NOT_FOLLOWING: list[tuple[object, str]] = [
    ([], "got []; allowed: an object with format, version, rules, players, turns, winner, "),
    ({}, "format: missing; allowed: hogeq transcript"),
    (changed("format", to="pgn"), "format: got 'pgn'; allowed: hogeq transcript"),
    (changed("version", to=2), "version: got 2; allowed: 1"),
    (changed("version", to=True), "version: got True; allowed: 1"),
    (changed("version", to=1.0), "version: got 1.0; allowed: 1"),
    (changed("moves", to=[]), "moves: unknown key, given []; allowed: format, players, "),
    (changed("rules", to="fa99"), "rules: 'fa99' is not here: its rules are not known; allowed: "),
    (changed("rules", to={"goal": 0}), "rules.goal: got 0; allowed: whole numbers from 1"),
    (changed("seed", to=-1), "seed: got -1; allowed: whole numbers from 0 to 4294967295 or n"),
    (changed("players", to=["Ann", "Ann"]), "players: got ['Ann', 'Ann']; allowed: two diffe"),
    (changed("players", to=["Ann", "\x1b[2J"]), "players: got ['Ann', '\\x1b[2J']"),
    (changed("turns", to=[]), "turns: got []; allowed: a list of at least one turn"),
    (changed("turns", 1, to=7), "turns[1]: got 7; allowed: an object with player, before, "),
    (changed("turns", 1, "k", to=7), "turns[1].k: unknown key, given 7; allowed: after, "),
    (changed("turns", 1, to={"player": 0}), "turns[1].before: missing; allowed: the scores"),
    (changed("turns", 1, "player", to=1), "turns[1].player: got 1; allowed: 0"),
    (changed("turns", 1, "before", to=[0, 5]), "turns[1].before: got [0, 5]; allowed: [0, 4]"),
    (changed("turns", 1, "before", to=[0]), "turns[1].before: got [0]; allowed: the scores of"),
    (changed("turns", 1, "roll", to=3), "turns[1].roll: got 3; allowed: 2"),
    (changed("turns", 1, "dice", to=[3, 7]), "turns[1].dice: face is 7; allowed: 1 to 6"),
    (changed("turns", 1, "dice", to=[3, "4"]), "turns[1].dice: got '4'; allowed: a list of"),
    (changed("turns", 1, "points", to=8), "turns[1].points: got 8; allowed: 7"),
    (changed("turns", 1, "points", to=10**4000), "turns[1].points: got <whole number of"),
    (changed("turns", 1, "fired", to=["Swap"]), "turns[1].fired: got ['Swap']; allowed: []"),
    (changed("turns", 2, "fired", to=[]), "turns[2].fired: got []; allowed: ['Square Swine']"),
    (changed("turns", 1, "after", to=[8, 4]), "turns[1].after: got [8, 4]; allowed: [7, 4]"),
    (changed("winner", to=0), "winner: got 0; allowed: 1"),
    (changed("turns", to=GAME["turns"] * 2), "turns[3]: got a turn; allowed: none, the game i"),
    ({**GAME, "turns": GAME["turns"][:2]}, "winner: got 1; allowed: null"),
]
"""What is no transcript of the game above, and how the line begins that says so."""


DEEP = b"[" * 100_000
KEYS = b"{" + b",".join(b'"k%d":0' % number for number in range(80_000)) + b',"k1":0}'


HOSTILE: list[tuple[bytes, str]] = [
    (b"", "line 1, column 1: is not JSON: got the end of the file; allowed: a value"),
    (b"\xff", "is not UTF-8 text at byte 0"),
    (b"NaN", "is not JSON: got NaN; allowed: finite numbers"),
    (b'{"seed": 1, "seed": 2}', "key 'seed' stands twice"),
    (DEEP, "is not JSON: "),
    (KEYS, "key 'k1' stands twice"),
    (KEYS.replace(b',"k1":0}', b"}"), "k0: unknown key, given 0; allowed: format, players, "),
    (json.dumps({**GAME, "turns": [0] * 300_000}).encode(), "turns[0]: got 0; allowed: an "),
    (json.dumps({**GAME, "players": ["a"] * 200_000}).encode(), "players: got ['a', 'a', "),
]


@pytest.mark.parametrize(
    ("data", "says"),
    [*((json.dumps(content).encode(), says) for content, says in NOT_FOLLOWING), *HOSTILE],
)
def test_what_is_no_transcript_is_refused_at_once(data: bytes, says: str) -> None:
    start = time.process_time()
    with pytest.raises(TranscriptError) as refused:
        parse_transcript(data, "g.json")
    assert time.process_time() - start < 1.0
    line = str(refused.value)
    assert line.startswith(f"g.json: {says}")
    assert line.isprintable()
    assert len(line) < 1100


def test_large_files_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "game.json"
    path.write_bytes(b" " * (MAX_BYTES + 1))
    with pytest.raises(OSError, match=f"is larger than {MAX_BYTES} bytes"):
        read_transcript(path)
