"""`hogeq review`: the game that `hogeq play` saved, move by move."""

import doctest
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hogeq.analysis.review import Review, review
from hogeq.analysis.transcript import read_transcript
from hogeq.cli import app
from hogeq.model.game import compile_game
from hogeq.support.messages import loss, percent, pp
from tests.cli.calls import ask, in_full, ok, refused


def save(rules: str, *more: str, rolls: str = "2\n" * 60) -> str:
    """Play a game at the terminal, and give what was said."""
    arguments = ["play", "--rules", rules, "--seed", "3", "--first", "you", "--save", "game.json"]
    found = CliRunner().invoke(app, [*arguments, *more], input=rolls)
    assert found.exit_code == 0, found.stderr
    return found.stdout


def reviewed() -> Review:
    played = read_transcript("game.json")
    return review(compile_game(played.rules), played)


@pytest.mark.parametrize("rules", ["small.yaml", "turns.yaml"])
def test_a_saved_game_is_reviewed(folder: Path, rules: str) -> None:
    save(rules)
    found, text = reviewed(), ok("review", "game.json", "--digits", "10")
    assert ask("review", "game.json", "--rules", rules) == json.loads(json.dumps(found.to_json()))
    you, engine = found.transcript.end.scores
    winner = found.transcript.players[found.transcript.end.winner or 0]
    most, least = max(you, engine), min(you, engine)
    assert f"You against optimal play, seed 3: {winner} wins, {most} to {least}\n" in text
    _, played, valued, *_ = text.split("\n\n")
    for turn, fields, worth in zip(
        found.turns, played.splitlines()[1:], valued.splitlines()[1:], strict=True
    ):
        own, other = turn.before.view
        assert f" {turn.number} " in fields[:20]
        assert f" {own} to {other} " in fields
        for figure in (turn.best_value, turn.value, turn.value_after):
            assert in_full(percent, figure) in worth
        assert in_full(pp, turn.luck).removesuffix(" pp") in worth
        assert worth.endswith(f"  {turn.grade}")
    assert max(map(len, ok("review", "game.json").splitlines()[1:])) <= 80
    mine = found.tallies[0]
    for turn in mine.costliest:
        lost, best = in_full(loss, turn.loss), in_full(percent, turn.best_value)
        assert f"; {turn.best[0]} has {best}: {lost}, {turn.grade}\n" in text
    assert f"costliest rolls of {found.transcript.players[0]}" in text
    assert "costliest rolls of optimal play" not in text


def test_a_game_by_an_alias_says_so(folder: Path) -> None:
    save("fa25", rolls="4\nquit\n")
    assert json.loads(Path("game.json").read_text())["rules"] == "fa25"
    lines = ok("review", "game.json").splitlines()
    assert lines[0].startswith("fa25, You against optimal play, seed 3: left at")
    assert ok("review", "game.json", "--rules", "sp26").startswith("sp26, ")


def test_a_game_of_no_turns_is_not_saved(folder: Path) -> None:
    said = save("small.yaml", rolls="quit\n")
    assert said.endswith("no turn was played: game.json is not written\n")
    assert not Path("game.json").exists()


def test_the_page_shows_what_is_printed() -> None:
    root = Path(__file__).parents[2]
    page = (root / "docs" / "review.md").read_text("utf-8")
    printed = ok("review", str(root / "examples" / "game.json"))
    assert (root / "results" / "review_example.md").read_text("utf-8") == f"```text\n{printed}```\n"
    shown = page.split("```text\n")[1].split("```")[0]
    assert doctest.OutputChecker().check_output(shown, printed, doctest.ELLIPSIS)
    runner = doctest.DocTestRunner()
    examples = doctest.DocTestParser().get_doctest(page.split("```pycon\n")[1][:-4], {}, "", "", 0)
    assert runner.run(examples) == (0, 5)


def test_refusals(folder: Path) -> None:
    save("fa22.yaml")
    assert "none.json: cannot be read: No such file" in refused("review", "none.json")
    line = refused("review", "game.json", "--rules", "fa23")
    assert "game.json: rules: got fa22 with goal=20, max_dice=3; allowed: those asked" in line
    path = Path("game.json")
    text = path.read_text()
    path.write_text(text.replace('"dice": [', '"dice": [9, '))
    assert "game.json: turns[0].dice: face is 9; allowed: 1 to 6" in refused("review", "game.json")
    assert "allowed: names ending in .json" in refused("play", "--save", "game.txt")
