"""Strategy files: exported in every format, made pure, and changed for the better."""

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from hogeq.analysis import field
from hogeq.model.game import compile_game
from hogeq.purification import PURIFIERS, argmax
from hogeq.purification.integer import IntegerRounding
from hogeq.rules import rules_from
from hogeq.strategies.conversion import strategy_of_shape
from hogeq.strategies.files import read_strategy
from tests.cli.calls import ask, ok, refused

TWELVE = "--rules", "twelve.yaml"
MISSING = "hogeq: none.npz: cannot be read: No such file or directory\n"
SEARCH = "purify", "policy.npz", *TWELVE, "--method", "integer", "--set", "trails=2"


@pytest.fixture(autouse=True)
def _policy(folder: Path) -> None:
    Path("twelve.yaml").write_text("{edition: su20, goal: 12, max_dice: 3}")
    strategy_of_shape(None, np.random.default_rng(0).dirichlet(np.ones(4), (12, 12))).write(
        "policy.npz"
    )


@pytest.fixture
def matrix(folder: Path) -> NDArray[np.int64]:
    """Give a matrix of the contest's size, which is also in a file."""
    table = np.random.default_rng(8).integers(0, 11, (100, 100))
    np.savetxt(folder / "given.csv", table, fmt="%d", delimiter=",")
    return table


@pytest.mark.parametrize("name", ["A team", 'it\'s "us"', "Zürich 猪", "a\\nb\n", "x" * 64])
def test_the_file_to_submit_passes_a_contests_check(
    folder: Path, matrix: NDArray[np.int64], name: str
) -> None:
    ok("export", "given.csv", "--player-name", name)
    source = (folder / "final_strategy.py").read_text(encoding="utf-8")
    tree = ast.parse(source)
    assert not any(isinstance(node, ast.Import | ast.ImportFrom) for node in ast.walk(tree))
    # As a server that trusts nobody would: no built-ins but those a table needs.
    space: dict[str, Any] = {"__builtins__": {"int": int}}
    exec(compile(source, "final_strategy.py", "exec"), space)  # noqa: S102 - our own file
    assert space["PLAYER_NAME"] == name
    answers = [[space["final_strategy"](own, other) for other in range(100)] for own in range(100)]
    assert answers == matrix.tolist()
    assert {type(answer) for row in answers for answer in row} == {int}


def test_nobody_submits_without_a_name(folder: Path) -> None:
    line = refused("export", "always_roll:1", "--rules", "fa22", "--player-name", "\u3000\n")
    assert line == "hogeq: --player-name: blank, needed for a .py file: the entrant's name\n"
    assert not (folder / "final_strategy.py").exists()


@pytest.mark.slow
def test_a_py_keeps_the_name_of_its_player(folder: Path) -> None:
    code = "{}def final_strategy(score, opponent):\n    return 1\n"
    for file, name in (("named.py", "PLAYER_NAME = 'Ana'\n"), ("nameless.py", "")):
        Path(file).write_text(code.format(name))
    call = ("export", "named.py", *TWELVE, "--trust", "--out")
    assert ask(*call, "one.py")["player_name"] == "Ana"
    assert "PLAYER_NAME = 'Ana'\n" in Path("one.py").read_text()
    assert ask(*call, "two.py", "--player-name", "Bob")["player_name"] == "Bob"
    assert ask(*call, "table.csv")["player_name"] is None
    ok("improve", "named.py", *TWELVE, "--trust", "--cells", "1", "--out", "better.py")
    assert "PLAYER_NAME = 'Ana'\n" in Path("better.py").read_text()
    line = refused("export", "nameless.py", *TWELVE, "--trust", "--out", "three.py")
    assert line == "hogeq: --player-name: missing, needed for a .py file: the entrant's name\n"


@pytest.mark.slow
def test_show_tells_what_it_draws(folder: Path, matrix: NDArray[np.int64]) -> None:
    ok("show", "given.csv", "--rules", "fa22", "--out", "m.png")
    np.savez(folder / "given.npz", policy=np.full((100, 100, 11), 1 / 11))
    ok("show", "given.npz", "--rules", "fa22", "--out", "p.png")
    pictures = {path.read_bytes() for path in folder.glob("*.png")}
    assert len(pictures) == 2
    found = json.loads(ok("show", "given.csv", "--json"))
    counts = np.bincount(matrix.ravel(), minlength=11)
    assert list(found["positions_by_roll"].values()) == counts.tolist()
    lines = ok("show", "given.csv").splitlines()
    letters = "0123456789A"
    assert lines[3] == "99 " + "".join(letters[dice] for dice in matrix[99])
    assert lines[102] == " 0 " + "".join(letters[dice] for dice in matrix[0])


# --- purify ---------------------------------------------------------------------------------------


def test_the_likeliest_rolls_unless_told(folder: Path) -> None:
    found = ask("purify", "policy.npz", *TWELVE)
    assert found["out"] == "matrix.csv"
    assert (found["method"], found["parameters"]) == ("argmax", {})
    game = compile_game(rules_from({"edition": "su20", "goal": 12, "max_dice": 3}))
    likeliest = argmax(game, read_strategy("policy.npz", 12, 3))
    np.testing.assert_array_equal(read_strategy("matrix.csv", 12, 3), likeliest)
    assert "--overwrite" in refused("purify", "policy.npz", *TWELVE)
    text = ok("purify", "policy.npz", *TWELVE, "--overwrite")
    assert text == "matrix of policy.npz by argmax written to matrix.csv\n"


def test_a_limit_of_time_gives_the_best_matrix_so_far(folder: Path) -> None:
    likeliest = ask("purify", "policy.npz", *TWELVE)["out"]
    late = *SEARCH, "--seconds", "0", "--set", "rounds=100000", "--checkpoint", "state.npz"
    ok(*late, "--out", "late.csv")  # the time is over before the first round
    assert Path("late.csv").read_text() == Path(likeliest).read_text()
    assert not Path("state.npz").exists()
    ok(*SEARCH, "--seconds", "1", "--set", "rounds=100000", "--out", "some.csv")
    assert read_strategy("some.csv", 12, 3).shape == (12, 12, 4)
    assert "--seconds" in refused(*SEARCH, "--seconds", "-1", "--out", "none.csv")


@pytest.mark.slow
def test_a_search_goes_on_where_it_was(folder: Path) -> None:
    kept = "--checkpoint", "state.npz", "--overwrite"
    for rounds in (2, 5):
        found = ask(*SEARCH, "--set", f"rounds={rounds}", *kept)
        assert found["parameters"]["rounds"] == rounds
    game = compile_game(rules_from({"edition": "su20", "goal": 12, "max_dice": 3}))
    search = IntegerRounding(rounds=5, trails=2)
    whole = search.matrix(game, read_strategy("policy.npz", 12, 3))
    np.testing.assert_array_equal(read_strategy("matrix.csv", 12, 3), whole)
    other = refused(*SEARCH, "--set", "rounds=6", "--set", "seed=1", *kept)
    assert "state.npz is of another search" in other
    ok(*SEARCH, "--set", "rounds=1", "--set", "counters=state.npz", "--out", "again.csv")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (("--method", "local"), f"--method: got 'local'; allowed: {', '.join(PURIFIERS)}"),
        (("--set", "rounds"), "allowed: key=value"),
        (("--method", "threshold", "--set", "sample=2"), "nearest: samples"),
        (("--checkpoint", "state.npz"), "--method integer"),
        (("--method", "integer", "--set", "counters=none.npz"), MISSING),
    ],
)
def test_what_it_cannot_do_is_refused(folder: Path, given: tuple[str, ...], says: str) -> None:
    assert says in refused("purify", "policy.npz", *TWELVE, *given)
    assert not Path("matrix.csv").exists()


# --- diff and improve -----------------------------------------------------------------------------


def test_commands_write_and_tell(folder: Path) -> None:
    rules = ("--rules", "fa22.yaml")
    ok("export", "always_roll:1", *rules, "--out", "one.csv")
    found = ask("improve", "one.csv", *rules, "--cells", "3", "--out", "better.csv")
    assert found["out"] == "better.csv"
    assert found["against"] == ["optimal"]
    again = ask("diff", "one.csv", "better.csv", *rules, "--plot", "diff.png")
    assert again.pop("plot") == "diff.png"
    assert again == {key: value for key, value in found.items() if key != "out"}
    assert len(again["changes"]) == 3
    assert Path("diff.png").stat().st_size > 1000
    text = ok("diff", "better.csv", "one.csv", *rules)
    assert "one.csv differs from better.csv in 3 cells" in text
    assert "changes that lose most" in text
    Path("rivals").mkdir()
    for name in ("one.csv", "better.csv"):
        Path("rivals", name).write_bytes(Path(name).read_bytes())
    text = ok("diff", "one.csv", "better.csv", *rules, "--against", "rivals")
    assert "against 2 opponents, on average: " in text


def test_improve_stopped_writes_the_best_so_far(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = ("--rules", "fa22.yaml")
    real = field.improvements

    def stopped(*given: Any) -> Iterator[Any]:
        for number, answer in enumerate(real(*given)):
            if number == 2:
                raise KeyboardInterrupt
            yield answer

    monkeypatch.setattr(field, "improvements", stopped)
    nine = "--cells", "9", "--out", "better.py", "--player-name", "Me"
    found = ask("improve", "always_roll:1", *rules, *nine)
    assert len(found["changes"]) == 1
    assert "PLAYER_NAME = 'Me'" in Path("better.py").read_text()
    line = refused("improve", "always_roll:1", *rules, "--out", "b.py")
    assert "--player-name: missing, needed for a .py file" in line
