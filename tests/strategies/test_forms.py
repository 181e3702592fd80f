"""The forms in which people keep tables: each is read exactly, or refused with what it is."""

import gc
import json
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from hogeq.strategies.arrays import StrategyError
from hogeq.strategies.files import read_form, read_strategy

GOAL, DICE = 14, 10

# Not symmetric, so that a table that is read the other way round is noticed.
ROWS = [[(3 * own + other) % 11 for other in range(GOAL)] for own in range(GOAL)]
LARGER = [[*row, 0] for row in ROWS] + [[0] * (GOAL + 1)]
SMALL = [[min(cell, 9) for cell in row] for row in ROWS]
LONG = [(own, other, ROWS[own][other]) for own in range(GOAL) for other in range(GOAL)]


def lines(rows: Iterable[Sequence[float]], mark: str = ",", end: str = "") -> str:
    return "".join(mark.join(map(str, row)) + end + "\n" for row in rows)


def labelled(mark: str = ",", corner: str = "") -> str:
    head = mark.join([corner, *map(str, range(GOAL))])
    return f"{head}\n" + lines([[own, *row] for own, row in enumerate(ROWS)], mark)


def out_of_order() -> list[tuple[int, int, int]]:
    return sorted(LONG, key=lambda one: (one[2], one[0]))


def records(rows: list[tuple[int, int, int]]) -> list[dict[str, int]]:
    return [{"opponent": other, "dice": dice, "score": own} for own, other, dice in rows]


WITH_REST = [{**record, "p": 0.5} for record in records(LONG)]
BRACES = lines(ROWS).replace("\n", "},\n{").removesuffix(",\n{")

FORMS: dict[str, str] = {
    "long.csv": "score,opponent_score,rolls\n" + lines([list(one) for one in out_of_order()]),
    "turned.csv": "rolls;Opponent Score;p;Score\n"
    + "".join(f"{dice};{other};0.5;{own}\n" for own, other, dice in LONG),
    "best.csv": "score,opponent_score,best_roll,win_prob\n"
    + lines([[*one, 0.5] for one in out_of_order()]),
    "chances.csv": lines([[*one, (14 + one[0] - one[1]) / 28] for one in out_of_order()]),
    "chances.txt": lines([[*one, 0.5] for one in LONG], " "),
    "tabs.tsv": lines(ROWS, "\t"),
    "semicolons.csv": lines(ROWS, ";"),
    "trailing.csv": lines(ROWS, ",", ","),
    "quoted.csv": lines(ROWS, '","').replace("\n", '"\n"').removesuffix('"').join(['"', ""]),
    "labels.csv": labelled(),
    "labels.tsv": labelled("\t", "own"),
    "labels.txt": labelled(" "),
    "header.csv": lines([list(range(GOAL)), *ROWS]),
    "column.csv": lines([[own, *row] for own, row in enumerate(ROWS)]),
    "python.txt": str(ROWS),
    "tuples.txt": f"table = {tuple(map(tuple, ROWS))}",
    "numpy.txt": str(np.array(ROWS)),
    "repr.txt": f"np.{np.array(ROWS, np.int8)!r}",
    "table.c": f"/* mine */\nconst int roll[{GOAL}][{GOAL}] = {{\n{{{BRACES}\n}};\n",
    "Table.java": f"class Table {{ static int[][] ROLLS = {{{{{BRACES}}}; }}",
    "digits": "\n".join("".join("0123456789a"[cell] for cell in row) for row in ROWS),
    "named.txt": "Team Rocket\n" + lines(ROWS, " "),
    "object.json": json.dumps({"name": "Me", "m": ROWS}),
    "rows.json": json.dumps({str(own): row for own, row in enumerate(ROWS)}),
    "nested.json": json.dumps(
        {
            str(own): {str(other): cell for other, cell in enumerate(row)}
            for own, row in enumerate(ROWS)
        }
    ),
    "records.json": json.dumps(WITH_REST),
    "list.py": f'"""Mine."""\nPLAYER_NAME = "Me"\nROLLS = {ROWS}\n' + "#" * 10_000,
    "keys.py": f"ROLLS = { {(own, other): dice for own, other, dice in LONG} }",
    "larger.csv": lines(LARGER),
    "larger.json": json.dumps(LARGER),
}


@pytest.mark.parametrize("name", FORMS)
def test_a_form_is_read_exactly(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(FORMS[name])
    assert read_strategy(path, GOAL, DICE).array.tolist() == ROWS


@pytest.mark.parametrize("name", ["header.csv", "column.csv"])
def test_scores_that_may_be_rolls_are_no_labels(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(FORMS[name])
    assert read_strategy(path, GOAL, GOAL - 2).array.tolist() == ROWS
    with pytest.raises(StrategyError, match=r"one too many|is missing"):
        read_strategy(path, GOAL, GOAL - 1)


def test_arrays_are_known_by_their_bytes(tmp_path: Path) -> None:
    with (tmp_path / "array.dat").open("wb") as file:
        np.save(file, np.array(LARGER))
    with (tmp_path / "arrays.csv").open("wb") as file:
        np.savez(file, anything=np.array(ROWS))
    for name in ("array.dat", "arrays.csv"):
        assert read_strategy(tmp_path / name, GOAL, DICE).array.tolist() == ROWS


@pytest.mark.parametrize(
    ("name", "player"),
    [("named.txt", "Team Rocket"), ("object.json", "Me"), ("list.py", "Me"), ("labels.csv", None)],
)
def test_a_file_may_name_its_player(tmp_path: Path, name: str, player: str | None) -> None:
    read = read_form(tmp_path / name, FORMS[name].encode(), GOAL, DICE)
    assert read is not None
    assert read.player_name == player


REFUSED: dict[str, tuple[str, str]] = {
    "falling.csv": (
        lines([[own, other, rolls, 1 - own / 14] for own, other, rolls in LONG]),
        "has lines of 4 cells and no header, whose chance falls with the first; allowed: the own",
    ),
    "counted.csv": (
        lines([[own, other, rolls, 1] for own, other, rolls in LONG]),
        "cell (row 0, column 4) is missing",
    ),
    "certain.csv": (
        lines([[own, other, rolls, 1.5] for own, other, rolls in LONG]),
        "cell (row 0, column 3) is 1.5",
    ),
    "nameless.csv": (
        lines([list(one) for one in LONG]),
        "has 196 lines of 3 cells and no header; allowed: a first line that says which",
    ),
    "corner.csv": (labelled(",", "opponent"), "has the corner 'opponent', by which rows may be"),
    "twice.csv": (FORMS["long.csv"] + "0,0,1\n", "stands twice, in record 197 too"),
    "gap.csv": (
        "score,opponent_score,rolls\n" + lines([list(one) for one in LONG[:-1]]),
        "cell (row 13, column 13) is missing; allowed: 196 entries",
    ),
    "columns.csv": (
        FORMS["long.csv"].replace("rolls", "x"),
        "has columns ['score', 'opponent_score', 'x']; allowed: one called score",
    ),
    "shortened.txt": ("[[0 3 ... 2 1]\n ...\n [1 2 ... 2 1]]", "printed with parts left out"),
    "deeper.txt": ("[[[1 2]]]", "is no list of 14 lists of 14 numbers"),
    "broken.txt": (FORMS["numpy.txt"].replace("]]", ""), "is no list of 14 lists"),
    "few.txt": (
        "[[1 2]\n [3 4]]",
        " (read as printed lists): cell (row 0, column 2) is missing; allowed: 14 rows",
    ),
    "keys.json": (
        FORMS["nested.json"].replace('"13"', '"x"', 1),
        "key '0,x'; allowed: two scores from 0 to 13",
    ),
    "game.json": ('{"format": "hogeq transcript", "turns": []}', "a saved game; allowed: a table;"),
    "records.json": (json.dumps([*records(LONG), {"score": 1}]), "records whose keys differ"),
    "code.py": ("import os\nROLLS = [[1]]", "reading a .py runs its code"),
    "square.csv": (lines([[1] * 30] * 30), "cell (row 0, column 14) is one too many"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_read_for_sure_is_refused(tmp_path: Path, name: str) -> None:
    content, says = REFUSED[name]
    (tmp_path / name).write_text(content)
    with pytest.raises(StrategyError) as error:
        read_strategy(tmp_path / name, GOAL, DICE)
    assert says in str(error.value)
    assert str(error.value).startswith(str(tmp_path / name))


@pytest.mark.parametrize(
    "text",
    ["[[" * 200_000, "= " * 200_000, "a" * 400_000, ";" * 400_000, "{{1," * 100_000, '"' * 400_000],
    ids=["lists", "equals", "letters", "semicolons", "braces", "quotes"],
)
def test_hostile_text_is_refused_at_once(tmp_path: Path, text: str) -> None:
    for name in ("a.txt", "a.json", "a.py"):
        (tmp_path / name).write_text(text)
        with pytest.raises(StrategyError):
            read_strategy(tmp_path / name, GOAL, DICE)


def test_tables_in_code_are_read_by_several_threads_at_once(tmp_path: Path) -> None:
    """Syntax trees are made one after another: Python 3.11.7 raises `SystemError` otherwise."""
    source = f"PLAYER_NAME = 'a'\nTABLE = {[[1] * 100] * 100}".encode()

    def read_often(_: int) -> list[bool]:
        forms = [read_form(tmp_path / "table.py", source, 100, 10) for _ in range(10)]
        return [form is not None for form in forms]

    def give_way(*_: object) -> None:
        time.sleep(0)  # collections happen in the middle of a tree: another thread begins its own

    gc.callbacks.append(give_way)
    try:
        with ThreadPoolExecutor(4) as threads:
            assert all(is_read for reads in threads.map(read_often, range(4)) for is_read in reads)
    finally:
        gc.callbacks.remove(give_way)
