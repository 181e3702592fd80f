"""What a file is follows from its content, at every door, under every name."""

import bz2
import gzip
import itertools
import json
import lzma
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hogeq
from hogeq.rules import Rules
from hogeq.rules.reading import find_rules
from hogeq.support.kinds import ARCHIVE, ARRAY, CODE, EFG, TEXT, YAML, kind_of
from hogeq.trees.flat import FlatTree
from hogeq.trees.loading import find_game
from tests.refusals import refuses
from tests.slow import mostly_slow

COIN = """node / player 1 actions left right
node /P1:left player 2 actions left right
node /P1:left/P2:left leaf payoffs 1=-3 2=3
node /P1:left/P2:right leaf payoffs 1=2 2=-2
node /P1:right player 2 actions left right
node /P1:right/P2:left leaf payoffs 1=1 2=-1
node /P1:right/P2:right leaf payoffs 1=0 2=0
infoset two nodes /P1:left /P1:right
"""
GAMBIT = """EFG 2 R "coin" { "one" "two" }
p "" 1 1 "" { "left" "right" } 0
p "" 2 1 "" { "left" "right" } 0
t "" 1 "" { -3 3 }
t "" 2 "" { 2 -2 }
p "" 2 1 "" { "left" "right" } 0
t "" 3 "" { 1 -1 }
t "" 4 "" { 0 0 }
"""
CODE_TEXTS = (
    '"""1, 2"""\nPLAYER_NAME = "x"\n\ndef final_strategy(score, opponent):\n    return 5\n',
    "from hog import always_roll\nfinal_strategy = always_roll(6)\n",
    "import os\n",
    '"""hog.py: mine"""\nimport os\n',
    "# 1 2 3\nclass Roll:\n    pass\n",
)
PARTS = "edition: su20\ngoal: 12\nmax_dice: 3\n"
NAMES = (
    *("a", "a.game", "a.txt", "a.efg", "a.npz", "a.yaml", "a.yml", "a.json", "a.csv"),
    *("A.TXT", "a.b.c", "kuhn_poker", "uniform", "fa99", "3K4", "a b", "a.npz.txt", "\u00e9.game"),
)


@pytest.fixture(autouse=True)
def _inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def saved() -> bytes:
    hogeq.Game(write("coin.txt", COIN.encode())).write("saved.npz")
    return Path("saved.npz").read_bytes()


def write(name: str, content: bytes) -> str:
    Path(name).write_bytes(content)
    return name


def forms(content: str) -> list[bytes]:
    """Write a text as editors and systems do."""
    texts = [content, content.replace("\n", "\r\n"), f"\ufeff{content}", f"\n\n{content}"]
    if not content.startswith("EFG"):
        texts.append(f"# said first\n\n  # {'x' * 9000}\n{content}")
    return [one.encode() for one in texts]


@pytest.mark.parametrize("name", NAMES)
def test_a_game_is_the_same_under_every_name(name: str) -> None:
    contents = [*forms(COIN), *forms(GAMBIT), saved()]
    for content in contents:
        tree = find_game(write(name, content))
        assert isinstance(tree, FlatTree)
        assert (tree.num_nodes, tree.num_rows) == (7, 2)
        assert sorted(tree.terminal_payoffs + tree.centre) == pytest.approx([-3, 0, 1, 2])
        refuses(lambda: find_rules(f"./{name}"), r"holds .*; --game takes other games$")
    for content in forms(PARTS):
        rules = find_game(write(name, content))
        assert isinstance(rules, Rules)
        assert (rules.goal, rules.max_dice) == (12, 3)
        assert find_rules(f"./{name}") == rules


def test_kinds() -> None:
    for content, kind in ((COIN, TEXT), (GAMBIT, EFG), (PARTS, YAML)):
        for one in forms(content):
            assert kind_of(write("x", one)) == kind
    assert kind_of(write("x", saved())) == ARCHIVE
    for text in CODE_TEXTS:
        assert kind_of(write("x", text.encode())) == CODE
    for content in (COIN, GAMBIT, PARTS):  # of old systems
        kind = kind_of(write("x", content.encode()))
        assert kind_of(write("y", content.replace("\n", "\r").encode())) == kind
    lists = b"[[1, 2]]", b"final_strategy = [[1, 2]]"
    for nothing in (b"", b"\n", b"# nothing\n", b"\0", b"su20", b"NE,1/2", *lists, b"1,2\n"):
        assert kind_of(write("x", nothing)) == ""
    for missing in ("nowhere", ".", "\0", "x/y"):
        assert kind_of(missing) == ""
    # In linear time, whatever the comments.
    assert kind_of(write("x", b"#\n" * 600_000)) == ""
    assert kind_of(write("x", b" " * 1_200_000)) == ""
    assert kind_of(write("x", b"a" * 1_200_000)) == ""


@cache
def small() -> hogeq.Game:
    return hogeq.Game({"edition": "su20", "goal": 4, "max_dice": 2})


@cache
def kuhn() -> hogeq.Game:
    return hogeq.Game("kuhn(players=2,ranks=3)")


DOORS: dict[str, Callable[[str], Any]] = {
    "game": find_game,
    "rules": find_rules,
    "table": lambda name: small().strategy(name),
    "policy": lambda name: kuhn().strategy(name),
}


@pytest.mark.parametrize("door", mostly_slow(DOORS, "rules"))
def test_whatever_a_file_is_it_is_taken_or_refused_in_a_line(door: str) -> None:
    table = np.full((4, 4), 2, np.int8)
    texts = [COIN, GAMBIT, PARTS, json.dumps(table.tolist()), "player,infoset,action,probability\n"]
    texts += ["\n".join(",".join(map(str, row)) for row in table.tolist()), "import os\n", "NE,1,0"]
    whole = [text.encode(code) for text in texts for code in ("utf-8", "utf-8-sig", "utf-16")]
    whole += [text.replace("\n", "\r\n").encode() for text in texts] + [saved(), b"", b"\n", b"\0"]
    np.save("table.npy", table)
    np.savez("tables.npz", matrix=table)
    whole += [Path("table.npy").read_bytes(), Path("tables.npz").read_bytes()]
    cut = [one[: len(one) * share // 4] for one in whole for share in (1, 3)]
    names = ("x", "x.txt", "x.npz", "x.yaml", "x.json")
    taken = 0
    for content, name in itertools.product([*whole, *cut], names):
        try:
            DOORS[door](write(name, content))
            taken += 1
        except ValueError as error:
            line = str(error)
            assert "\n" not in line
            assert name in line, (door, name, content[:50], line)
    assert taken >= 5 * {"game": 6, "rules": 3, "table": 7, "policy": 0}[door]
    for name in names:
        Path(name).unlink()
        Path(name).mkdir()
        with pytest.raises(ValueError, match=name):
            DOORS[door](name)


def test_strategies_are_known_by_their_content() -> None:
    game = small()
    table = np.arange(16).reshape(4, 4) % 3
    np.save("t.npy", table)
    np.savez("t.npz", matrix=table)
    texts = [
        json.dumps(table.tolist()).encode(),
        "\n".join(",".join(map(str, row)) for row in table.tolist()).encode(),
    ]
    contents = [Path("t.npy").read_bytes(), Path("t.npz").read_bytes(), *texts]
    for content, suffix in itertools.product(contents, ("", ".npy", ".npz", ".json", ".csv", ".x")):
        found = game.strategy(write(f"strategy{suffix}", content))
        assert np.array_equal(found.dice, table), (content[:20], suffix)
    coin = hogeq.Game(write("coin.game", COIN.encode()))
    profile = coin.equilibrium(5.0).strategies[0]
    np.savez("p.npz", policy=profile.array)
    content = Path("p.npz").read_bytes()
    for name in ("p", "p.csv", "p.json", "p.txt"):
        assert np.array_equal(coin.strategy(write(name, content)).array, profile.array)
    packed = {
        "gzip": gzip.compress(GAMBIT.encode()),
        "xz": lzma.compress(texts[0]),
        "bzip2": bz2.compress(texts[1]),
    }
    for name, one in itertools.product(("given", "given.npz", "given.csv"), (game, coin)):
        for data in (COIN.encode(), GAMBIT.encode(), saved()):
            with pytest.raises(ValueError, match=rf"^{name}: .*holds .*game"):
                one.strategy(write(name, data))
        for packer, data in packed.items():
            with pytest.raises(ValueError, match=rf"^{name}: is compressed by {packer}; allowed: "):
                one.strategy(write(name, data))
    doors = find_game, lambda name: find_rules(f"./{name}")
    for (packer, data), door, suffix in itertools.product(
        packed.items(), doors, ("gz", "efg", "txt", "npz", "yaml")
    ):
        with pytest.raises(ValueError, match=rf"packed.{suffix}: is compressed by {packer}; all"):
            door(write(f"packed.{suffix}", data))
    Path("empty.csv").mkdir()
    with pytest.raises(ValueError, match=r"^empty.csv: holds no policy.npz; allowed: folders of r"):
        coin.strategy("empty.csv")


def test_lines_may_end_with_cr_alone_or_are_named() -> None:
    tree = find_game(write("cr.efg", GAMBIT.replace("\n", "\r").encode()))
    assert isinstance(tree, FlatTree)
    assert tree.num_nodes == 7
    rules = find_game(write("cr.yaml", PARTS.replace("\n", "\r").encode()))
    assert isinstance(rules, Rules)
    assert rules.goal == 12
    table = "1,2,0,1\r2,2,2,2\r0,0,0,0\r1,1,1,1\r"
    assert small().strategy(write("cr.csv", table.encode())).array[0].tolist() == [1, 2, 0, 1]
    mixed = COIN.replace("\n", "\r", 3).replace("\r", "\n", 2)
    for name, content, line in (("a.txt", COIN.replace("\n", "\r"), 1), ("a.game", mixed, 3)):
        reason = rf"^{name}: line {line}: got CR alone; allowed: LF or CR LF at the end of a line$"
        with pytest.raises(ValueError, match=reason):
            find_game(write(name, content.encode()))


@pytest.mark.parametrize("text", CODE_TEXTS)
@pytest.mark.parametrize("suffix", ["", ".txt", ".csv", ".json", ".efg", ".npz", ".yaml"])
def test_code_is_named_under_every_name_and_not_run(text: str, suffix: str) -> None:
    name = write(f"plain{suffix}", text.encode())
    holds = rf"^{name}: holds Python code"
    with pytest.raises(ValueError, match=rf"{holds}, and its name does not end in \.py; allowed: "):
        hogeq.Game("fa25").strategy(name, trust=True)
    refuses(lambda: kuhn().strategy(name), holds)
    for door in (find_game, lambda name: find_rules(f"./{name}")):
        with pytest.raises(ValueError, match=rf"{holds}; allowed: .*; --plugin takes a \.py$"):
            door(name)


@pytest.mark.parametrize("by_score", [False, True])
def test_cells_one_level_too_deep_are_named(by_score: bool) -> None:
    """A table whose cells are [dice, chance]."""
    cell = [6, 0.5]
    table: Any = [[cell] * 100] * 100
    if by_score:
        table = {f"{own},{other}": cell for own in range(100) for other in range(100)}
    Path("pairs.json").write_text(json.dumps(table))
    reason = r"cell \(row 0, column 0\) is \[6, 0.5\]; allowed: whole numbers from 0 to 10$"
    refuses(lambda: hogeq.Game("fa25").strategy("pairs.json"), reason)


def test_python_files_are_plugins() -> None:
    Path("mine.py").write_text("import hogeq\n")
    refuses(lambda: find_game("mine.py"), r"allowed: --plugin mine.py --game NAME")
    refuses(lambda: find_rules("./mine.py"), r"allowed: --plugin mine.py --rules NAME")


@pytest.mark.parametrize("name", ["a.csv", "a.yaml", "a.efg", "a"])
def test_an_array_is_one_under_every_name(name: str) -> None:
    np.save(Path("a.npy"), np.full((4, 4), 2, np.int8))
    assert kind_of("a.npy") == ARRAY
    assert small().strategy(Path("a.npy").rename(name)).array.tolist() == [[2] * 4] * 4


@pytest.mark.parametrize("name", ["a.npy", "a.npz", "a.csv"])
def test_a_list_with_a_name_is_one_under_every_name(name: str) -> None:
    write(name, f"final_strategy = {[[2] * 4] * 4}\n".encode())
    assert small().strategy(name).array.tolist() == [[2] * 4] * 4


@pytest.mark.parametrize("name", ["a.json", "a.nfg", "a.csv"])
def test_a_policy_that_is_not_utf_8_is_refused_as_that(name: str) -> None:
    write(name, '{"0": [["check", 0.5], ["bet", 0.5]]}'.encode("utf-16"))
    refuses(lambda: kuhn().strategy(name), "is not UTF-8 text at byte 0, it is UTF-16")
