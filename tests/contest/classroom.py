"""A class: folders and files as students hand them in, in several forms."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np

Rows = list[list[int]]


def rows_of(seed: int, goal: int) -> Rows:
    """Give a table that rolls 3 to 5 dice, and none now and then."""
    rng = np.random.default_rng(seed)
    table = np.where(rng.random((goal, goal)) < 0.1, 0, rng.integers(3, 6, (goal, goal)))
    found: Rows = table.tolist()
    return found


def lines(rows: Rows, mark: str = ",") -> str:
    return "".join(mark.join(map(str, row)) + "\n" for row in rows)


def code(rows: Rows, name: str | None, before: str = "") -> str:
    called = "" if name is None else f"PLAYER_NAME = {name!r}\n"
    function = "def final_strategy(score, opponent):\n    return TABLE[score][opponent]\n"
    return f"{before}{called}TABLE = {rows}\n{function}"


def long_form(rows: Rows) -> str:
    cells = ((own, other, dice) for own, row in enumerate(rows) for other, dice in enumerate(row))
    return "score,opponent_score,rolls\n" + "".join(f"{s},{o},{k}\n" for s, o, k in cells)


FORMS: dict[str, Callable[[Rows], str]] = {
    "table.csv": lines,
    "long.csv": long_form,
    "named.txt": lambda rows: "The Dice\n" + lines(rows, " "),
    "larger.json": lambda rows: json.dumps([*([*row, 0] for row in rows), [0] * (len(rows) + 1)]),
    "list.py": lambda rows: f"TEAM_NAME = 'Listers'\nROLLS = {rows}\n",
}

BAD: dict[str, Callable[[Rows], str]] = {
    "short.csv": lambda rows: lines(rows[:-1]),
    "high.csv": lambda rows: lines([[99, *rows[0][1:]], *rows[1:]]),
    "three.csv": lambda rows: long_form(rows).partition("\n")[2],
    "nameless/final_strategy.py": lambda rows: code(rows, None),
    "raises/final_strategy.py": lambda rows: code(rows, "Oops", "1 / 0\n"),
    "random/final_strategy.py": lambda rows: (
        "import random\n"
        + code(rows, "Dicey").replace("return TABLE", "return random.randrange(3) or TABLE")
    ),
    "hangs/final_strategy.py": lambda rows: code(rows, "Zzz").replace(
        "    return", "    while score == 2: pass\n    return"
    ),
    "forger/final_strategy.py": lambda rows: code(rows, "x" * 65),
}


def fill(folder: Path, goal: int) -> dict[str, Rows]:
    """Write 20 submissions: the tables of the valid ones by their file, the bad ones in `BAD`."""
    valid: dict[str, Rows] = {}

    def put(file: str, content: str) -> None:
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)

    for seed, (file, written) in enumerate(FORMS.items()):
        rows = rows_of(seed, goal)
        put(file, written(rows))
        valid[file] = rows
    for seed in range(20, 24):
        rows = rows_of(seed, goal)
        file = f"student{seed}/final_strategy.py"
        put(file, code(rows, f"Player {seed}"))
        valid[file] = rows
    # A second and a tenth attempt, the last of which counts, and a copy of another's.
    rows = rows_of(50, goal)
    put("again/attempt2/final_strategy.py", code(rows_of(51, goal), "Again"))
    put("again/attempt10/final_strategy.py", code(rows, "Again"))
    valid["again/attempt10/final_strategy.py"] = rows
    put("copycat/final_strategy.py", code(valid["table.csv"], "Copycat"))
    valid["copycat/final_strategy.py"] = valid["table.csv"]
    put("bell/final_strategy.py", code(rows_of(52, goal), "Bell\x1b[31m\u202e\n1 Forged"))
    valid["bell/final_strategy.py"] = rows_of(52, goal)
    for seed, (file, written) in enumerate(BAD.items(), 60):
        put(file, written(rows_of(seed, goal)))
    put("notes.md", "not a table")
    put("__MACOSX/._table.csv", "rubbish")
    return valid
