"""The text format of game trees: what is read, and what is refused in a line."""

import itertools
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hogeq
from hogeq.trees import building
from hogeq.trees import text as text_format
from hogeq.trees.rules import from_rules
from tests.refusals import refuses
from tests.trees.absent_games import DRIVER, drawn, game, tree_of

pytestmark = pytest.mark.usefixtures("in_folder")


def test_text_is_written_and_read_alike(problems: Any) -> None:
    trees = [drawn(problems, seed, most=5, sets=2) for seed in range(5)]
    trees += [hogeq.Game("2K3").tree, from_rules(problems.Simulation(tests=2, cases=2))]
    trees += [from_rules(problems.Detection(rounds=2))]
    for tree in trees:
        Path("again.txt").write_text("".join(problems.text_of(tree)))
        again = hogeq.Game("again.txt").tree
        for field in ("player", "parent"):
            assert np.array_equal(getattr(again, field), getattr(tree, field))
        # Rows have other numbers; nodes share one as before.
        own = tree.row >= 0
        assert len({*zip(tree.row[own], again.row[own], strict=True)}) == tree.num_rows
        assert again.num_rows == tree.num_rows
        assert again.payoff + again.centre == pytest.approx(tree.payoff + tree.centre)
        assert again.chance == pytest.approx(tree.chance)


ENDS = "node /P1:a leaf payoffs 1=0\nnode /P1:b leaf payoffs 1=1\n"

ROOT = "node / player 1 actions a b\n"

SET = "infoset here nodes /\n"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "at the start: no node /"),
        ("hello\n", "line 1: got 'hello'; allowed: node PATH player 1 actions"),
        ("node start player 1 actions a b\n", "at the start: no node /"),
        (ROOT + SET, "after player 0: a: no node /P1:a"),
        (ROOT + ENDS + SET + SET, "line 5: / is there twice"),
        (ROOT + ROOT + ENDS + SET, "line 2: / is there twice"),
        (ROOT + ENDS + SET.replace("/", "/ /P1:c"), "1 path of no node, or after no action"),
        (ROOT + ENDS + SET + "node /P1:c leaf payoffs 1=0", "1 path of no node, or after no"),
        (ROOT + ENDS.replace("=1", "=x") + SET, "1=x'; allowed: a number"),
        (ROOT + ENDS.replace("=1", "=1e999") + SET, "1=1e999'; allowed: a number"),
        (ROOT.replace("b", "b=1") + ENDS + SET, "line 1: got 'player 1 actions a b=1'; allowed"),
        ("node / chance actions a=1 b\n", "line 1: got 'chance actions a=1 b'; allowed"),
        ("node / chance actions a=1 b=\n", "b='; allowed: a number"),
        (ROOT + ENDS.replace("1=1", "2=1") + SET, "line 3: got 'leaf payoffs 2=1'; allowed"),
        (ROOT.replace("1", "2") + ENDS + SET, "line 1: got 'player 2 actions a b'; allowed"),
        (ROOT + ENDS.replace("=1", "=1e99999999") + SET, "1=1e99999999'; allowed: a number"),
        (ROOT + ENDS.replace("=1", "=1_0") + SET, "1=1_0'; allowed: a number"),
        (ROOT.replace("b", "b/P1:c") + ENDS + SET, "allowed: names of actions without /"),
        (ROOT + ENDS + SET.replace("/", "/ /P1:a"), "line 2: is in infoset here; allowed there"),
        (
            ROOT
            + "node /P1:a player 2 actions c\nnode /P1:a/P2:c leaf payoffs 1=0 2=0\n"
            + "node /P1:b leaf payoffs 1=1 2=-1\ninfoset here nodes / /P1:a\n",
            "line 2: infoset here is of two players",
        ),
        ("node / chance actions a=-1 b=2\n", "an action of chance is of probability -1"),
        ("node / chance actions a=-1 b=-3\n", "an action of chance is of probability -1/4"),
        ("node / chance actions a=0 b=0\n", "line 1: weights of chance sum to 0"),
    ],
)
def test_other_texts_are_refused_in_a_line(text: str, reason: str) -> None:
    refuses(lambda: game(text), re.escape(reason))


def test_texts_of_any_kind_of_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows' breaks, a mark of the order of bytes, tabs, comments, no break at the end."""
    monkeypatch.setattr(building, "MOST_NODES", 2)  # of trees whose size no file tells
    lines = ["# é", "", "\t infoset  h\u00e9re nodes\t/", *(ROOT + ENDS).split("\n"), " #"]
    for end in ("\n", "\r\n"):
        Path("problem.txt").write_bytes(("\ufeff" + end.join(lines)).encode())
        tree = hogeq.Game("problem.txt").tree
        assert tree.num_nodes == 3
        assert tree.names == ["h\u00e9re"]
    Path("problem.txt").write_bytes((ROOT + SET + ENDS).encode() + b"\xff")
    refuses(lambda: hogeq.Game("problem.txt"), r"line 5: got '.ufffd'; allowed: node PATH player")
    Path("problem.txt").write_bytes((SET + ENDS).encode() + b"node / player 1 actions a \xff")
    refuses(lambda: hogeq.Game("problem.txt"), r"line 4: is not UTF-8 text; allowed: UTF-8$")


@pytest.mark.parametrize("number", [0, 7])
def test_paths_of_one_hash_are_not_taken_for_each_other(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_format, "hash", lambda _: number, raising=False)
    for given, reason in (
        (ROOT + ENDS + SET, "line 2: /P1:a has another's hash: read it again"),
        (ROOT + SET + SET, "line 3: / is there twice"),
        (ROOT + SET, "after player 0: a: no node /P1:a"),
        (ROOT + SET.replace("/", "/P1:a"), "line 1: /P1:a has another's hash: read it again"),
    ):
        with pytest.raises(ValueError, match=re.escape(reason)):
            game(given)


COIN = """# Coin against a guesser, who does not see it
node / player 1 actions left right
node /P1:left player 2 actions left right
node /P1:left/P2:left leaf payoffs 1=-3 2=3
node /P1:left/P2:right leaf payoffs 1=2 2=-2
node /P1:right player 2 actions left right
node /P1:right/P2:left leaf payoffs 1=1 2=-1
node /P1:right/P2:right leaf payoffs 1=0 2=0
infoset two nodes /P1:left /P1:right
"""


def test_a_node_of_no_information_set_is_one_by_itself() -> None:
    """As in LiteEFG: [[-3, 2], [1, 0]] has the value 2/6, as two lines of algebra show."""
    alone, named = game(COIN), game(COIN + "infoset one nodes /\n")
    assert tree_of(COIN).names == ["node /", "two"]
    for one in (alone, named):
        assert one.equilibrium(5.0).lower == pytest.approx(1 / 3, abs=1e-9)
        assert one.equilibrium(5.0).upper == pytest.approx(1 / 3, abs=1e-9)
    seen = game(COIN.replace("infoset", "#"))  # who sees the coin
    assert seen.equilibrium(5.0).lower == pytest.approx(0.0, abs=1e-9)
    assert tree_of(COIN.replace("two", "/")).names == ["node /", "/"]  # a name may be like a path


@pytest.mark.parametrize("block", [1, 7, 64])
@pytest.mark.parametrize("part", [1, 30, 2**20])
def test_blocks_of_any_size_hold_the_same_game(
    block: int, part: int, problems: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [COIN, COIN.replace("\n", "\r\n"), DRIVER.format(last=1)]
    texts += ["".join(problems.text_of(drawn(problems, seed, most=5, sets=2))) for seed in range(3)]
    for text in texts:
        expected = tree_of(text)
        with monkeypatch.context() as patch:
            patch.setattr(text_format, "BLOCK_SIZE", block)
            patch.setattr(text_format, "BLOCKS_CACHED", 2)
            patch.setattr(text_format, "LINE_PART", part)
            found = tree_of(text)
        assert found.digest() == expected.digest()


def test_a_line_without_end_is_read_in_parts_that_double(monkeypatch: pytest.MonkeyPatch) -> None:
    """The line so far is searched with each part: parts of one size took a minute to refuse."""
    sizes: list[int] = []
    read_part = text_format._Text._read_part

    def count(text: Any, begin: int, size: int) -> tuple[bytes, bool]:
        sizes.append(size)
        return read_part(text, begin, size)

    monkeypatch.setattr(text_format._Text, "_read_part", count)
    monkeypatch.setattr(text_format, "LINE_PART", 16)
    Path("problem.txt").write_bytes(b"node " + bytes(100_000))
    with pytest.raises(ValueError, match="no node /"):
        text_format.from_text("problem.txt")
    assert sizes == [16 << max(number - 1, 0) for number in range(14)]


@pytest.mark.parametrize("when", ["paths", "nodes", "end"])
@pytest.mark.parametrize("change", ["cut", "emptied", "longer", "touched"])
def test_a_text_that_changes_while_it_is_read_is_refused_in_a_line(
    when: str, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A map of it would end the process with the signal SIGBUS."""
    text = COIN + "# " + "x" * 100_000 + "\n"
    Path("problem.txt").write_text(text)

    def changes() -> None:
        size = {"cut": 200, "emptied": 0}.get(change)
        if size is not None:
            os.truncate("problem.txt", size)
        elif change == "longer":
            with Path("problem.txt").open("a") as file:
                file.write("node /P1:new leaf payoffs 1=0 2=0\n")
        else:
            os.utime("problem.txt", (1, 1))

    name = {"paths": "_index_line", "nodes": "node_at", "end": "require_unchanged"}[when]
    before, calls = getattr(text_format._Text, name), itertools.count()

    def call(*given: Any) -> Any:
        if next(calls) == 0:
            changes()
        return before(*given)

    monkeypatch.setattr(text_format._Text, name, call)
    with pytest.raises(ValueError, match=r"^problem\.txt: ") as refused:
        hogeq.Game("problem.txt")
    assert str(refused.value) == "problem.txt: cannot be read: was changed while it was read"


def test_weights_of_chance_are_scaled_and_three_players_need_teams() -> None:
    weighed = tree_of("node / chance actions a=1 b=3\n" + ENDS.replace("P1", "C"))
    assert weighed.chance_probabilities == pytest.approx([1 / 4, 3 / 4])
    three = ENDS.replace("=0", "=0 2=0 3=0").replace("=1", "=1 2=0 3=-1")
    refuses(lambda: game(ROOT + three + SET), "has 3 players; allowed: 1 or 2, or two teams")
