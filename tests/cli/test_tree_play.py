"""Play of a game tree in the terminal."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import hogeq
from hogeq.cli import app
from hogeq.cli.tree_play import TreePlay
from hogeq.trees.flat import TERMINAL
from tests.cli.calls import refused

KUHN = "kuhn(players=2,ranks=3)"


def play(lines: str, *more: str) -> str:
    result = CliRunner().invoke(app, ["play", "--game", KUHN, "--seed", "3", *more], input=lines)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_a_person_plays_and_is_told_nothing_hidden() -> None:
    told = play("?\nfly\n1\n1\n1\n", "--first", "you")
    assert "you are player 0, against an equilibrium, seed 3" in told
    before = told.partition("payoff to you")[0]
    assert "chance:" not in before  # the other's card
    assert "'fly': allowed: a number or a name of an action, ? and quit" in told
    assert "payoff to you: " in told
    assert told.count("chance: ") == 1 or told.count("chance: ") == 2


def test_the_answer_has_the_history_and_the_payoff() -> None:
    tree = hogeq.Game(KUHN).tree
    ends = {
        tuple(map(str, tree.history(node))): tree.payoff[node]
        for node in np.flatnonzero(tree.player == TERMINAL)
    }
    for first, seat in (("you", 0), ("engine", 1)):
        found = json.loads(play("2\n2\n", "--first", first, "--json"))
        assert found["seat"] == seat
        assert found["payoff"] == ends[tuple(found["history"])] * (1, -1)[seat]
    left = json.loads(play("quit\n", "--first", "you", "--json"))
    assert left["payoff"] is None


def test_a_strategy_is_played_against_and_draws_as_it_says() -> None:
    assert "against uniform" in play("1\n1\n", "--engine", "uniform")
    tree = hogeq.Game(KUHN).tree
    uniform = hogeq.Game(KUHN).strategy("uniform")
    counts = np.zeros(tree.num_nodes)
    for seed in range(2000):
        one = TreePlay(tree, uniform, 0, seed)
        for _ in range(2):
            one.move()
        one.move(1)
        counts[one.node] += 1
        one.move()
        counts[one.node] += 1
    dealt = counts[np.flatnonzero(tree.row == -1)]
    assert counts.sum() == 4000
    nodes = np.flatnonzero(counts)
    answers = [node for node in nodes if tree.player[node] == TERMINAL]
    assert len(answers) == 12  # six deals, the other passes or calls
    assert all(abs(counts[node] - 2000 / 12) < 60 for node in answers)  # four deviations
    assert dealt.sum() == 2000


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--game", KUHN, "--start", "1:0"), "only for Hog"),
        (("--game", KUHN, "--save", "g.json"), "only for Hog"),
        (("--game", KUHN, "--engine", "always_roll:6"), "allowed: uniform, a run"),
    ],
)
def test_what_is_no_play_is_refused(words: tuple[str, ...], reason: str) -> None:
    assert reason in refused("play", *words)


@pytest.mark.usefixtures("registries")
def test_a_game_without_a_tree_is_refused(tmp_path: Path) -> None:
    plugin = tmp_path / "endless.py"  # by another name than the example, which others may load
    plugin.write_text(
        (Path(__file__).parents[2] / "examples/games/pig.py")
        .read_text()
        .replace('"pig"', '"endless"')
    )
    words = ("--game", "endless(goal=4)", "--plugin", str(plugin), "--trust")
    assert "games that have a tree" in refused("play", *words)


def test_an_end_of_input_leaves(monkeypatch: Any) -> None:
    monkeypatch.setattr("sys.stdin", None)
    assert "left" in play("")
