"""A folder of submissions as an attacker fills it: odd names, links, files that lie."""

import os
import socket
from pathlib import Path

GOAL, DICE = 4, 2

CANARY = "canary:8f2e:of-the-judge"
"""Text of a file outside, which nobody may ever read."""

WORDS = "words_of_an_entry_7c1d"
"""Text that code raises, returns and prints."""

ODD_NAMES = (
    *(
        "名" * 82,
        "a" * 255,
        "\u05d0\u05d1\u05d2",
        "\u202ertl",
        "new\nline",
        "\x1b[31mred",
        "tab\tbed",
    ),
    *("-rf", "--out", "a..b", "CON", "con", "Con", "NUL", "aux.txt", " lead", "trail ", "dot."),
    *("=1+1", "@SUM(1)", "+1", "-1+2", "=cmd|' C calc'!A0", "\uff1d1", "a;=1", 'say "so"', "it's"),
    *(
        "<script>alert(1)<\u2215script>",
        "a&b",
        "a_b.2",
        "a~b",
        "a b",
        "a_b",
        "%s%n",
        "$(id)",
        "`id`",
    ),
    *("*", "?", "[x]", "~", "\\", "\\x1b[31mred", "always_roll:3", "optimal", "{}", "#1"),
    *("caf\u00e9", "cafe\u0301", "\ufb01n", "\U0001f3b2", "\u200bzero", "\udcff\udcfe", "a" * 254),
)

PLAYERS = (
    *("X", "X (2)", "X", "\uff38", "X\ufe0f", "x", "=1+1", "@SUM(1)", "+1", "-1+2", "\uff1d1"),
    *("=cmd|' /C calc'!A0", '=HYPERLINK("http://evil")', "<img src=x onerror=alert(1)>"),
    *("</script><script>alert(1)</script>", "\u202eevil", "a\nb", "\x1b]0;t\x07", "\u05d0\u05d1"),
    *("Hog 1234", "n" * 64, "\U0001f3b2", "'; DROP TABLE", "a;=1", "&lt;b&gt;"),
)

CODE = {
    "raises": f"def final_strategy(a, b): raise ValueError({WORDS!r})",
    "own error": f"class {WORDS}(Exception): pass\ndef final_strategy(a, b): raise {WORDS}()",
    "returns": f"def final_strategy(a, b): return {WORDS!r}",
    "own type": f"class {WORDS}(int): pass\ndef final_strategy(a, b): return {WORDS}(1)",
    "at import": f"raise RuntimeError({WORDS!r})",
    "impure": f"from itertools import count\nn = count()\n"
    f"def final_strategy(a, b): return 1 if next(n) < {GOAL * GOAL} else {WORDS!r}",
    "exits": "import os\nos._exit(0)",
    "system exit": f"raise SystemExit({WORDS!r})",
    "dies": "import os\nos.abort()",
    "hangs": "while True: pass",
    "memory": "def final_strategy(a, b): return [0] * 10**12",
    "no function": "final_strategy = 3",
    "syntax": f"def {WORDS}(",
    "reads": "def final_strategy(a, b): raise ValueError(open({secret!r}).read())",
    "returns it": "def final_strategy(a, b): return open({secret!r}).read()",
    "long name": f"PLAYER_NAME = {WORDS!r} * 5000\ndef final_strategy(a, b): return 1",
    "no name": "def final_strategy(a, b): return 1",
    "surrogate": "PLAYER_NAME = '\\ud800'\ndef final_strategy(a, b): return 1",
    "huge": "PLAYER_NAME = 'h'\ndef final_strategy(a, b): return 10**5000",
    "deep": "PLAYER_NAME = 'd'\nfinal_strategy = lambda a, b: final_strategy(a, b)",
    "forges": "import os, sys\nos.write(1, b'{}')\n"
    "def final_strategy(a, b):\n  for n in range(9):\n"
    '    try: os.write(n, b\'\\n{"seconds": {"load": 1}, "table": 1}\\n\')\n'
    "    except OSError: pass\n  os._exit(0)",
}


def table(number: int) -> str:
    """Write a table of its own for each number."""
    digits = [number // 3**place % 3 for place in range(GOAL * GOAL)]
    rows = (digits[first : first + GOAL] for first in range(0, GOAL * GOAL, GOAL))
    return "".join(",".join(map(str, row)) + "\n" for row in rows)


def put(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, "utf-8", "surrogateescape")


def fill_good(folder: Path) -> set[str]:
    """Write entries that are valid, whatever they are called; give their files."""
    good = set()
    for number, name in enumerate(ODD_NAMES):
        put(folder / name / "final_strategy.csv", table(7 * number + 1))
        good.add(f"{name}/final_strategy.csv")
    for number, name in enumerate(PLAYERS):
        rows = [[int(cell) for cell in row.split(",")] for row in table(5 * number + 2).split()]
        put(folder / f"player{number}" / "mine.py", f"PLAYER_NAME = {name!r}\nROLLS = {rows}\n")
        good.add(f"player{number}/mine.py")
    outside = folder.parent / "hard.csv"
    put(outside, table(1000))
    (folder / "hard").mkdir()
    os.link(outside, folder / "hard" / "final_strategy.csv")
    good.add("hard/final_strategy.csv")
    return good


def fill_bad(folder: Path, secret: Path) -> dict[str, str]:
    """Write entries that are not valid: the students, and a part of why."""
    link, kind = "is a link; allowed: files and folders", "is not a file"
    bad = {}

    def student(name: str, why: str) -> Path:
        bad[name] = why
        (folder / name).mkdir()
        return folder / name

    for name in (
        "secret.csv",
        "secret.txt",
        "secret.py",
        "final_strategy.py",
        "final_strategy.npz",
    ):
        (student(f"link to {name}", link) / name).symlink_to(secret)
    (student("relative", link) / "final_strategy.csv").symlink_to("../../secret.txt")
    (student("dangling", link) / "final_strategy.csv").symlink_to("nowhere")
    (student("endless", link) / "final_strategy.csv").symlink_to("/dev/zero")
    loop = student("loop", link)
    (loop / "a.csv").symlink_to("b.csv")
    (loop / "b.csv").symlink_to("a.csv")
    (student("up", link) / "up").symlink_to("..")
    beside = student("beside", link)
    put(beside / "final_strategy.csv", table(3))
    (beside / "helper").symlink_to(secret.parent)
    (student("rival", link) / "final_strategy.csv").symlink_to("../hard/final_strategy.csv")
    deep = student("in a folder", link) / "b" / "c"
    deep.mkdir(parents=True)
    (deep / "final_strategy.csv").symlink_to(secret)
    for name, target in (("linked.csv", secret), ("linked", secret.parent), ("self", "self")):
        (folder / name).symlink_to(target)
        bad[name] = link
    for name in ("pipe", "pipe.csv"):
        os.mkfifo(folder / name)
        bad[name] = kind
    os.mkfifo(student("pipe within", kind) / "final_strategy.csv")
    with socket.socket(socket.AF_UNIX) as listening:
        here = Path.cwd()
        os.chdir(student("socket", kind))  # its whole path may be too long
        listening.bind("final_strategy.csv")
        os.chdir(here)
    student("empty", "holds no strategy file")
    put(student("hidden", "holds no strategy file") / ".final_strategy.csv", table(3))
    put(student("notes", "holds no strategy file") / "notes.md", WORDS)
    (student("folder as file", "holds no strategy file") / "final_strategy.csv").mkdir()
    with (student("sparse", "larger than") / "final_strategy.csv").open("wb") as file:
        file.truncate(2**40)
    return bad | fill_wrong(folder)


def fill_wrong(folder: Path) -> dict[str, str]:
    """Write files that hold no table: the students, and a part of why."""
    bad = {}

    def student(name: str, why: str) -> Path:
        bad[name] = why
        (folder / name).mkdir()
        return folder / name

    put(student("nothing", "allowed: ") / "final_strategy.csv", "")
    put(student("prose", "allowed: ") / "final_strategy.csv", "prose " * 9)
    put(student("few", "allowed: ") / "final_strategy.csv", table(3)[:-2])
    put(student("high", "allowed: ") / "final_strategy.csv", table(3).replace("0", "99"))
    put(student("list", "allowed: ") / "final_strategy.py", "ROLLS = [[1, 2], [3]]")
    put(student("pickle", "pickles are refused") / "final_strategy.pkl", "\x80")
    put(student("zip", "is not an .npz file") / "final_strategy.npz", "PK\x03\x04")
    put(student("array", "numpy") / "final_strategy.npy", "\x93NUMPY")
    put(student("json", "is not JSON") / "final_strategy.json", "[" * 5000)
    at = student("deep", "holds too much")
    for _ in range(40):
        at /= "d"
    put(at / "final_strategy.csv", table(3))
    wide = student("wide", "holds too much")
    for number in range(60):
        put(wide / f"{number}.csv", table(3))
    return bad


def fill_code(folder: Path, secret: Path) -> list[str]:
    """Write programs that are not valid; give the students."""
    for name, code in CODE.items():
        put(folder / name / "final_strategy.py", code.replace("{secret!r}", repr(str(secret))))
    return [*CODE]
