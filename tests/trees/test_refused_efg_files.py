"""Files that are no game in Gambit's extensive form: refused in one line."""

import os
import re
import tracemalloc
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import hogeq
from hogeq.trees import building, efg, gambit
from hogeq.trees.flat import payoff
from hogeq.trees.gambit import from_efg
from hogeq.trees.tree import flat_efg
from tests.refusals import refuses
from tests.trees.efg_texts import GOOD, HEAD, read, worth, written

FIRST = 'p "" 1 1 "x" { "l" "r" } 1'

SECOND = 'p "" 1 1 "x" { "l" "r" } 0'


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("EFG", "NFG", "line 1: file: got 'NFG'; allowed: EFG"),
        (GOOD, "", "line 1: file: got ''; allowed: EFG"),
        ("EFG 2", "EFG 3", "line 1: version: got '3'; allowed: 2"),
        ("2 R", "2 X", "line 1: numbers: got 'X'; allowed: R or D"),
        ('R ""', "R", "line 1: title: got '{'; allowed: text in quotes"),
        ('{ "A" "B" }', '[ "A" "B" ]', "line 1: players: got '['; allowed: {"),
        ('{ "A" "B" }', "{ }", "line 1: players: got '}'; allowed: one or more"),
        ('"B" }', '"B"', "line 2: player's name: got 'c'; allowed: text in quotes"),
        ('{ "A" "B" }', '{ "A" }', "line 3: end of 1 payoff: got ','; allowed: }"),
        ('t "" 2', 'T "" 2', "line 4: node: got 'T'; allowed: c, p or t"),
        ('t "" 2', '"t" "" 2', "line 4: node: got '\"t\"'; allowed: c, p or t"),
        ('t "" 2', "t 2", "line 4: name of a node: got '2'; allowed: text in quotes"),
        ('t "" 0\n', "", "line 8: node: got ''; allowed: c, p or t"),
        ('t "" 0\n', 't "" 0 t "" 0', "line 8: after the last node: got 't'; allowed: the end"),
        ('t "" 0\n', 't "" 0 }', "line 8: after the last node: got '}'; allowed: the end"),
        ('"" 0\n', '" 0\n', "line 8: quoted text: got "),
        ('p "" 1', 'p "" 3', "line 3: player: got '3'; allowed: whole numbers from 1 to 2"),
        ('p "" 1', 'p "" 0', "line 3: player: got '0'; allowed: whole numbers from 1 to 2"),
        ('p "" 1', 'p "" -1', "line 3: player: got '-1'; allowed: whole numbers from 1 to 2"),
        ('p "" 1', 'p "" 2000000000', "line 3: player: got '2000000000'; allowed"),
        ('p "" 1', 'p "" 1.0', "line 3: player: got '1.0'; allowed"),
        ('p "" 1', 'p "" \u0661', "line 3: player: got '\\u0661'; allowed"),
        ('p "" 1 1', 'p "" 1 -1', "line 3: information set: got '-1'; allowed: whole numbers"),
        (' "deal" { "h" 1/2 "t" 1/2 }', "", "line 2: information set 1 of chance, its first node"),
        (FIRST, 'p "" 1 1 1', "line 3: information set 1 of player 1, its first node: got '1'"),
        ('{ "l" "r" } 1', "{ } 1", "line 3: actions: got '}'; allowed: one or more"),
        (SECOND, 'p "" 1 1 "x" { "r" "l" } 0', "line 6: information set 1 of player 1, its ac"),
        (SECOND, 'p "" 1 1 "x" { "l" } 0', "got 'l'; allowed: those of its first node, l, r"),
        (SECOND, 'p "" 1 1 "x" { "l" "q" } 0', "got 'l, q'; allowed: those of its first node, l,"),
        (SECOND, 'p "" 1 1 "y" { "l" "r" } 0', "its name: got 'y'; allowed: that of its first"),
        (SECOND, 'c "" 1 "" { "h" 1/3 "t" 2/3 } 0', "got 'h 1/3, t 2/3'; allowed: those of"),
        ("} 0\nt", "}\nt", "line 7: outcome: got 't'; allowed: whole numbers from 0"),
        ('"" 2', '"" 9/1', "line 4: outcome: got '9/1'; allowed: whole numbers from 0"),
        ('t "" 1', 't "" 9', "line 7: outcome 9, its first node: got '9'; allowed: a list of pay"),
        ('t "" 1', 't "" 1 "" { 2, -2 }', "line 7: outcome 1, its payoffs: got '1'; allowed: th"),
        ('t "" 0', 't "" 0 "" { 1, -1 }', "line 8: payoffs of outcome 0: got '0'; allowed: none"),
        ("{ 0, 0 }", "{ 0 }", "line 5: payoff to player 2: got '}'; allowed: a number"),
        ("{ 0, 0 }", "{ 0, 0, 0 }", "line 5: end of 2 payoffs: got ','; allowed: }"),
        ("{ 0, 0 }", "{ 0,, 0 }", "line 5: payoff to player 2: got ','; allowed: a number"),
        ("{ 0, 0 }", "{ 0, 0, }", "line 5: end of 2 payoffs: got ','; allowed: }"),
        ("{ 0, 0 }", "{ 0x10, -16 }", "line 5: payoff to player 1: got '0x10'; allowed: a number"),
        ("{ 0, 0 }", "{ nan, 0 }", "line 5: payoff to player 1: got 'nan'; allowed: a number"),
        ("{ 0, 0 }", "{ inf, -inf }", "payoff to player 1: got 'inf'; allowed: a number"),
        ("{ 0, 0 }", "{ 1/0, 0 }", "payoff to player 1: got '1/0'; allowed: a number"),
        ("{ 0, 0 }", "{ 1_0, -10 }", "payoff to player 1: got '1_0'; allowed: a number"),
        ("{ 0, 0 }", "{ --1, 1 }", "payoff to player 1: got '--1'; allowed: a number"),
        ("{ 0, 0 }", "{ 1e301, -1e301 }", "got '1e301'; allowed: 0, or sizes from 1e-300 to"),
        ("{ 0, 0 }", "{ 1e-301, -1e-301 }", "got '1e-301'; allowed: 0, or sizes from 1e-300 to"),
        ("{ 0, 0 }", "{ 1e999999999, 0 }", "got '1e999999999'; allowed: a number"),
        ("{ 0, 0 }", "{ 1e-999999999, 0 }", "got '1e-999999999'; allowed: a number"),
        ("{ 0, 0 }", "{ 1e99999999999, 0 }", "got '1e99999999999'; allowed: a number"),
        ("{ 0, 0 }", "{ " + "9" * 5000 + ", 0 }", "allowed: numbers of at most 500 characters"),
        ("1/2 }", "1/3 }", "line 2: sum of probabilities: got '5/6'; allowed: 1"),
        ("1/2 }", "0.4999999 }", "got '9999999/10000000'; allowed: 1, which decimals may miss by"),
        # Decimals may miss 1 by 1e-9, fractions by nothing.
        ("1/2 }", "5000000001/10000000000 }", "line 2: sum of probabilities: got '100"),
        ('{ "h" 1/2 "t" 1/2 }', '{ "h" -1/2 "t" 3/2 }', "probability: got '-1/2'; allowed: 0 to"),
        ('{ "h" 1/2 "t" 1/2 }', '{ "h" 3/2 "t" 0 }', "probability: got '3/2'; allowed: 0 to 1"),
        ('{ "h" 1/2 "t" 1/2 }', '{ "h" 0 "t" 0 }', "sum of probabilities: got '0'; allowed: 1"),
        ('"t" 1/2', '"t"', "line 2: probability: got '}'; allowed: a number"),
        (
            "{ 0, 0 }",
            "{ 0, 1 }",
            "line 5: is not zero-sum: payoffs sum to 1, at the first end to 0; a",
        ),
        ('t "" 0', 't "" 0 \0', "line 8: after the last node: got '\\x00'; allowed: the end"),
        ('t "" 2', '\x1b]0;t "" 2', "line 4: node: got '\\x1b]0;t'; allowed: c, p or t"),
        ('t "" 2', 't\u00a0"" 2', "line 4: node: got 't\\xa0'; allowed: c, p or t"),
    ],
)
def test_what_a_file_may_not_say(old: str, new: str, message: str, tmp_path: Path) -> None:
    assert worth(read(tmp_path, GOOD)) == pytest.approx(1.0)  # 1 + 1/2 on heads, 1/2 on tails
    path = written(tmp_path, GOOD.replace(old, new, 1))
    with pytest.raises(ValueError, match=re.escape(message)) as refusal:
        from_efg(path)
    line = str(refusal.value)
    assert line.isprintable()
    assert line.startswith(f"{path}: ")
    assert len(line) < 400 + len(str(path))


@pytest.mark.parametrize(("total", "value"), [("0", 0.5), ("1", 1.0), ("16/5", 2.1)])
def test_a_constant_sum_is_taken(total: str, value: float, tmp_path: Path) -> None:
    """Matching pennies, in which the first player has half of the sum and 1/2 on average."""
    half = Fraction(total) / 2
    paid = [(half + Fraction(own), half - Fraction(own)) for own in ("3/2", "-1/2", "-1/2", "3/2")]
    text = 'p "" 1 1 "" { "h" "t" } 0 p "" 2 1 "" { "h" "t" } 0 T T p "" 2 1 0 T T'
    for number, (first, second) in enumerate(paid, 1):
        text = text.replace("T", f't "" {number} "" {{ {first}, {second} }}', 1)
    tree = read(tmp_path, HEAD + text)
    assert tree.shift == pytest.approx(float(half))
    assert worth(tree) == pytest.approx(value)
    pure = np.eye(2)[[0, 0]]
    assert payoff(tree, pure, pure) == pytest.approx(1.5 + float(half))
    assert hogeq.Game(tree).value(pure, "uniform").mean == pytest.approx(float(half))
    again = from_efg(written(tmp_path, flat_efg(tree)))
    assert again.shift == tree.shift
    np.testing.assert_array_equal(again.payoff, tree.payoff)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"EFG \xff", "is not UTF-8 text at byte 4; allowed: UTF-8"),
        (GOOD.encode("utf-16"), "is not UTF-8 text at byte 0, it is UTF-16; allowed: UTF-8"),
        (b"\0" * 100, r"line 1: file: got '\x00"),
    ],
)
def test_what_is_no_text_is_refused(data: bytes, message: str, tmp_path: Path) -> None:
    refuses(lambda: from_efg(written(tmp_path, data)), re.escape(message))


def test_only_files_of_some_size_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "zero.efg").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "pipe.efg")
    (tmp_path / "folder.efg").mkdir()
    for name in ("zero.efg", "pipe.efg"):
        with pytest.raises(ValueError, match=f"{name}: cannot be read: is not a file"):
            from_efg(tmp_path / name)
    for name in ("none.efg", "folder.efg", "a\0.efg"):
        with pytest.raises(ValueError, match="cannot be read: "):
            from_efg(tmp_path / name)
    path = written(tmp_path, GOOD)
    monkeypatch.setattr(efg, "MOST_NODES", 6)
    refuses(lambda: from_efg(path), r"game\.efg: has more than 6 nodes")
    monkeypatch.setattr(efg, "MOST_NODES", 7)
    assert from_efg(path).num_nodes == 7
    monkeypatch.setattr(gambit, "MOST_BYTES", 100)
    refuses(lambda: from_efg(path), "cannot be read: is larger than 100 bytes")


def test_sums_that_would_take_long_are_refused(tmp_path: Path) -> None:
    """Payoffs on one path, and probabilities of one event, with denominators that share nothing."""
    odd = [10**250 + one for one in range(1, 60, 2)]
    path = "".join(
        f'p "" 1 1 "" {{ "a" }} {at + 1} "" {{ 1/{one}, -1/{one} }}\n' for at, one in enumerate(odd)
    )
    large = 'p "" 1 1 "" { "a" } 1 "" { 1e300, -1e300 }'
    with pytest.raises(ValueError, match=r"line 3: payoffs add up out of range; allowed: 0, or"):
        read(tmp_path, f'{HEAD}{large}\nt "" 1')
    with pytest.raises(ValueError, match=r"line \d+: payoffs sum to a fraction of more than 4096"):
        read(tmp_path, f'{HEAD}{path}t "" 0')
    chance = " ".join(f'"" 1/{one}' for one in odd)
    with pytest.raises(ValueError, match=r"line 2: sum of probabilities: .* of 4096 bits"):
        read(tmp_path, f'{HEAD}c "" 1 "" {{ {chance} }} 0')


def test_a_set_of_many_actions_cannot_be_repeated_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A few bytes repeat an information set: nodes to come are counted before they are listed."""
    monkeypatch.setattr(efg, "MOST_NODES", 100_000)
    many = 'p "" 1 1 "" { ' + '"" ' * 10_000 + "} 0\n"
    text = HEAD + many + 'p "" 1 1 0\n' * 1_000  # 10,010,000 nodes, had they all come
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=r"game\.efg: has more than 100,000 nodes"):
            read(tmp_path, text)
        assert tracemalloc.get_traced_memory()[1] < 20e6
    finally:
        tracemalloc.stop()


def test_a_wide_set_at_the_end_of_many_is_refused_before_it_is_laid_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last nodes and actions count, which come after the last of the regular looks."""
    narrow, wide = 2_000, 5_000
    chain = "".join(f'p "" 1 {row} "" {{ "l" "r" }} 0\nt "" 0\n' for row in range(1, narrow + 1))
    text = HEAD + chain + 'p "" 2 1 "" { ' + '"" ' * wide + "} 0\n" + 't "" 0\n' * wide
    monkeypatch.setattr(building, "memory", lambda: 900_000)
    with pytest.raises(ValueError, match=r"has 9,001 nodes, which need more memory than the 0\.0"):
        read(tmp_path, text)
