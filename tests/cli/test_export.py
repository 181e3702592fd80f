"""hogeq export and show: what is written is what was meant, in every format."""

import ast
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from hogeq.strategies.files import WRITTEN, read_strategy
from tests.cli.calls import ok, refused

R = ("--rules", "fa22")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def matrix(folder: Path) -> NDArray[np.int64]:
    """Give a matrix of the contest's size, which is also in a file."""
    table = np.random.default_rng(8).integers(0, 11, (100, 100))
    np.savetxt(folder / "given.csv", table, fmt="%d", delimiter=",")
    return table


@pytest.mark.parametrize("suffix", WRITTEN)
def test_a_matrix_comes_back_from_every_format(
    folder: Path, matrix: NDArray[np.int64], suffix: str
) -> None:
    out = f"m{suffix}"
    name = ("--player-name", "A team") if suffix == ".py" else ()
    ok("export", "given.csv", "--out", out, *name)
    back = read_strategy(folder / out, trust=True)
    assert back.array.dtype == np.int8
    assert np.array_equal(back, matrix)
    ok("export", out, "--out", "again.csv", "--trust")
    assert (folder / "again.csv").read_text() == (folder / "given.csv").read_text()


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
    line = refused("export", "always_roll:1", *R, "--player-name", "\u3000\n")
    assert line == "hogeq: --player-name: blank, needed for a .py file: the entrant's name\n"
    assert not (folder / "final_strategy.py").exists()


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
