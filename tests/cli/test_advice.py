"""Advice that is printed works when it is typed."""

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

import hogeq
from hogeq.cli import app
from tests.cli.calls import ask, ok, refused
from tests.cli.commands.test_check import not_valid
from tests.slow import mostly_slow

BESIDE = "{}from beside import dice\ndef final_strategy(score, opponent): return dice\n"
R = ("--rules", "small.yaml")


def typed(command: str) -> str:
    """Type a command."""
    program, *words = shlex.split(command)
    assert program == "hogeq"
    return ok(*words)


def after(mark: str, text: str) -> str:
    """Give the command in a line after a mark."""
    return text.partition(mark)[2].partition("\n")[0]


@pytest.mark.parametrize(
    "named",
    mostly_slow(["", "PLAYER_NAME = 'Ana'\n", "PLAYER_NAME = ''\n"], "PLAYER_NAME = 'Ana'\n"),
)
def test_the_command_that_makes_one_file_makes_one(folder: Path, named: str) -> None:
    (folder / "my project").mkdir()
    Path("my project/beside.py").write_text("dice = 2\n")
    Path("my project/hog.py").write_text(BESIDE.format(named))
    text = not_valid("check", "my project/hog.py", "--rules", "fa22", "--trust")
    typed(after("this command makes one: ", text))
    assert "valid for fa22, by " in ok("check", "one.py", "--rules", "fa22", "--trust")


@pytest.mark.slow
@pytest.mark.usefixtures("registries")
def test_the_command_has_the_plugin_of_the_rules(folder: Path) -> None:
    Path("my part.py").write_text(
        "import hogeq\n@hogeq.rule_part('zero_dice')\ndef two_for_none(score, opponent):\n"
        "    'Two points.'\n    return 2\n"
    )
    Path("own.yaml").write_text("{edition: su20, goal: 20, max_dice: 3, zero_dice: two_for_none}")
    Path("beside.py").write_text("dice = 2\n")
    Path("hog.py").write_text(BESIDE.format(""))
    call = ("check", "hog.py", "--rules", "own.yaml", "--trust", "--plugin", "my part.py")
    command = after("this command makes one: ", not_valid(*call))
    assert "--plugin 'my part.py'" in command
    typed(command)
    ok("check", "one.py", *call[2:])


@pytest.mark.slow
def test_a_file_that_is_not_valid_for_its_imports_alone_is_judged(folder: Path) -> None:
    Path("beside.py").write_text("dice = 2\n")
    Path("hog.py").write_text(BESIDE.format("PLAYER_NAME = 'Ana'\n"))
    text = not_valid("check", "hog.py", *R, "--trust", "--html", "page.html")
    assert "\nits table, all the same:\n\nagainst " in text
    page = Path("page.html").read_text()
    assert "Not valid." in page
    assert "Why it loses" in page
    Path("one.csv").write_text("2 " * 20 + "\n" + ("2 " * 20 + "\n") * 19)
    found = CliRunner().invoke(app, ["check", "hog.py", *R, "--trust", "--json"]).stdout
    alone = ask("check", "one.csv", *R)
    assert '"valid": false' in found
    assert f'"win_rate": {alone["win_rate"]}' in found


@pytest.mark.slow
def test_commands_about_files_take_any_name(folder: Path) -> None:
    play = ["play", *R, "--seed", "3", "--save", "my game.json", "--start", "2:1"]
    text = CliRunner().invoke(app, play, input="2\n" * 60).stdout
    review = after("saved to my game.json: ", text).removesuffix(" says what each turn cost")
    assert "You against optimal play" in typed(review)
    certify = ("--certify", "1", "--certificate", "my proof.json.gz")
    text = ok("attack", "always_roll:2", *R, "--starts", "1", *certify)
    typed(after("certificate written to my proof.json.gz: ", text))


@pytest.mark.slow
def test_the_part_of_a_mixture_is_written_as_said(folder: Path) -> None:
    game = hogeq.Game("small.yaml")
    both = [game.strategy(f"always_roll:{dice}").array for dice in (1, 2)]
    game.strategy(hogeq.Mixture([0.5, 0.5], both)).write("mix.npz")
    line = refused("check", "mix.npz", *R)
    command = line[line.index("hogeq export") :].partition(" writes")[0]
    typed(f"{command.replace('MIXTURE', 'mix.npz')} --rules small.yaml")
    ok("check", "part.npz", *R)


def strings() -> Iterator[str]:
    """Give all texts in the package's code but docstrings, values in them as X."""
    for path in Path(hogeq.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.JoinedStr):
                values = [getattr(part, "value", "") for part in node.values]
                yield "".join(one if isinstance(one, str) else "X" for one in values)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


@pytest.mark.slow
def test_every_command_that_a_text_names_has_the_options_that_it_is_given() -> None:
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    found = 0
    for text in strings():
        for name, rest in re.findall(r"\bhogeq ([a-z][a-z-]+)((?: [^\s;,:`]+)*)", text):
            command = commands.get(name)
            options = re.findall(r"(?<= )--[a-z-]+", rest)
            if command is None:
                assert not options, text
                continue
            known = {
                option for one in command.params for option in (*one.opts, *one.secondary_opts)
            }
            assert {*options} <= known | {"--help"}, text
            found += 1
    assert found > 10


@pytest.mark.parametrize("command", ["tablebase", "show", "diff a b", "compare a b", "purify a"])
def test_an_option_that_a_game_is_said_to_take_goes_with_others_that_it_takes(command: str) -> None:
    call = (*command.split(), *(["a"] if command == "show" else []), "--game", "kuhn_poker")
    of_hog = "--checkpoint" if command == "purify a" else "--digits"
    line = refused(*call, of_hog, "x.npz" if of_hog == "--checkpoint" else "3")
    taken = after("kuhn_poker takes ", line).strip().split(", ")
    assert "--json" in taken
    assert ("--overwrite" in taken) == (command == "purify a")
