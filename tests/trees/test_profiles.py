"""Strategies of OpenSpiel and Gambit come in, and are worth the same here as there."""

import io
import json
import os
import re
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms import cfr
from open_spiel.python.algorithms.exploitability import nash_conv
from open_spiel.python.policy import (
    TabularPolicy,
    UniformRandomPolicy,
    python_policy_to_pyspiel_policy,
)

import hogeq
from hogeq.rules import rules_from
from hogeq.strategies.profiles import read_profile, seat_tables
from hogeq.trees.openspiel import to_tabular
from hogeq.trees.openspiel.game import game_of
from hogeq.trees.strategies import order_of_rows
from hogeq.trees.tree import hog_efg
from tests.cli.calls import ask, refused
from tests.slow import mostly_slow
from tests.strategies.strategy_files import saved, zipped
from tests.trees.openspiel_games import small_games, two_policies

SMALL = {"edition": "fa25", "goal": 4, "max_dice": 2}


def average_policy(game: Any, iterations: int = 7) -> TabularPolicy:
    """Policy of OpenSpiel's CFR: of both seats, and the two differ."""
    solver = pyspiel.CFRSolver(game)
    for _ in range(iterations):
        solver.evaluate_and_update_policy()
    return solver.tabular_average_policy()


def by_state(policy: Any) -> dict[str, list[tuple[int, float]]]:
    found: dict[str, list[tuple[int, float]]] = policy.policy_table()
    return found


@pytest.fixture
def exported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Give the small game of Hog as OpenSpiel reads it from the file that hogeq exports."""
    monkeypatch.chdir(tmp_path)
    Path("hog.efg").write_text(hog_efg(rules_from(SMALL)))
    Path("small.yaml").write_text(json.dumps(SMALL))
    return pyspiel.load_efg_game(Path("hog.efg").read_text())


@pytest.mark.slow
def test_a_policy_of_an_exported_game_is_as_exploitable_here(exported: Any) -> None:
    policy = average_policy(exported)
    there = nash_conv(exported, policy, use_cpp_br=True) / 2
    Path("policy.json").write_text(json.dumps(by_state(policy)))
    here = ask("attack", "policy.json", "--game", "hog.efg", "--exact", "20")
    assert here["attack"] == pytest.approx(there, abs=1e-9)
    assert here["bound"] == pytest.approx(there, abs=1e-9)
    # In Hog it is a mixture of both seats' strategies, which no responder can tell apart.
    game = hogeq.Game(SMALL)
    drawn = game.strategy("policy.json")
    assert (drawn.kind, drawn.weights.tolist()) == ("mixture", [0.5, 0.5])
    wins = [game.attack(one).win_rate for one in drawn.components]
    assert sum(wins) - 1 == pytest.approx(there, abs=1e-9)
    whole = ask("compare", "policy.json", "always_roll:1", "--rules", "small.yaml")
    parts = [game.win_rate(one, "always_roll:1").win_rate for one in drawn.components]
    assert whole["win_rate"] == pytest.approx(np.mean(parts), abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("edition", ["fa25", "su20"])
def test_policies_of_python_hog_come_as_objects(edition: str) -> None:
    game, rules = hogeq.Game(SMALL | {"edition": edition}), rules_from(SMALL | {"edition": edition})
    policy = average_policy(game_of(rules))
    drawn = game.strategy(policy)
    again = game.strategy({key: dict(row) for key, row in by_state(policy).items()})
    np.testing.assert_array_equal(drawn.components, again.components)
    for player, table in enumerate(drawn.components):
        for key, row in by_state(policy).items():
            if key.startswith(f"player {player}: "):
                own, other = map(int, key.partition(": ")[2].split("-"))
                assert table[own, other].tolist() == pytest.approx([p for _, p in row], abs=1e-12)
    same = {key: [0.0, 0.25, 0.75] for key in by_state(policy)}
    one = game.strategy(same)
    assert (one.kind, one.array[0, 0].tolist()) == ("policy", [0.0, 0.25, 0.75])


def walk(state: Any, met: dict[tuple[int, str], list[float]], policy: Any) -> None:
    """Meet information sets as a reader of the file does, node by node."""
    if state.is_terminal():
        return
    if not state.is_chance_node():
        player = state.current_player()
        chances = policy.action_probabilities(state)
        row = [chances.get(action, 0.0) for action in state.legal_actions()]
        met.setdefault((player, state.information_state_string()), row)
    for action in state.legal_actions():
        walk(state.child(action), met, policy)


@pytest.mark.parametrize("name", mostly_slow(["kuhn_poker", "leduc_poker", "hog"], "kuhn_poker"))
def test_a_profile_of_gambit_says_the_same(exported: Any, name: str) -> None:
    theirs = exported if name == "hog" else pyspiel.load_game(name)
    policy, met = average_policy(theirs), dict[tuple[int, str], list[float]]()
    walk(theirs.new_initial_state(), met, policy)
    rows = [met[key] for key in sorted(met, key=lambda key: key[0])]
    spec = "hog.efg" if name == "hog" else name
    game = hogeq.Game(spec)
    want = game.strategy(policy).policy
    Path("ne.txt").write_text(",".join(["NE", *(repr(p) for row in rows for p in row)]) + "\n")
    np.testing.assert_allclose(game.strategy("ne.txt").policy, want, rtol=0, atol=1e-12)
    seats = [[met[key] for key in met if key[0] == seat] for seat in (0, 1)]
    Path("lists.txt").write_text(str(seats))
    np.testing.assert_allclose(game.strategy("lists.txt").policy, want, rtol=0, atol=1e-12)
    assert game.value("ne.txt", "uniform") == pytest.approx(game.value(policy, "uniform"))
    if name == "hog":
        hog = hogeq.Game(SMALL)
        found, other = hog.strategy("ne.txt"), hog.strategy(policy)
        np.testing.assert_allclose(found.components, other.components, rtol=0, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["leduc_poker", "hog"])
def test_policies_of_every_class_of_openspiel_are_taken(exported: Any, name: str) -> None:
    """In Leduc poker not every action is legal everywhere."""
    theirs = exported if name == "hog" else pyspiel.load_game(name)
    game = hogeq.Game("hog.efg") if name == "hog" else hogeq.Game(name)
    flat = game.strategy("uniform").policy
    for uniform in (UniformRandomPolicy(theirs), pyspiel.UniformRandomPolicy(theirs)):
        np.testing.assert_allclose(game.strategy(uniform).policy, flat, atol=1e-12)
    compiled, python = pyspiel.CFRPlusSolver(theirs), cfr.CFRPlusSolver(theirs)
    for solver in (compiled, python) * 2:
        solver.evaluate_and_update_policy()
    want = game.strategy(compiled.tabular_average_policy()).policy
    assert not np.allclose(want, flat)
    np.testing.assert_allclose(game.strategy(compiled.average_policy()).policy, want, atol=1e-12)
    np.testing.assert_allclose(game.strategy(python.average_policy()).policy, want, atol=1e-9)


def test_rows_are_numbered_as_a_walk_meets_them() -> None:
    tree = hogeq.Game("kuhn_poker").tree
    names = [tree.names[row] for row in order_of_rows(tree)]
    assert names[:6] == ["0", "0pb", "1", "1pb", "2", "2pb"]
    assert sorted(names[6:]) == ["0b", "0p", "1b", "1p", "2b", "2p"]


@pytest.mark.slow
def test_fractions_and_rounded_numbers_are_read(exported: Any) -> None:
    game = hogeq.Game("hog.efg")
    Path("ne.txt").write_text("NE," + ",".join(["1/3", "0.333333", "1/3"] * 26))
    assert game.strategy("ne.txt").policy.sum(axis=1) == pytest.approx(1.0, abs=1e-12)
    row = "[Rational(1, 3), Rational(2, 3), Rational(0, 1)]"
    seat = f"[{', '.join([row] * 13)}]"
    Path("lists.txt").write_text(f"[{seat}, {seat}]")
    assert hogeq.Game(SMALL).strategy("lists.txt").array[0, 0].tolist() == [1 / 3, 2 / 3, 0.0]


BAD = {
    "NE,1/3,1/3,1/3": "holds 3 numbers; allowed: 78, one for each action of each of the 26",
    "NE,1,0\nNE,0,1\n": "holds 2 profiles; allowed: one line NE,...",
    "NE,1/0" + ",1" * 77: "holds '1/0'; allowed: probabilities",
    "NE,-1" + ",1" * 77: "holds '-1'; allowed: probabilities",
    "NE,1e99999" + ",1" * 77: "holds '1e99999'; allowed: probabilities",
    "NE" + ",1" * 78: "information set 1: probabilities, sum 1",
    "[[[1, 2": "holds 2 numbers; allowed: 78",
    '{"player 0: 0-0": [1, 0, 0]}': "is missing",
    '{"0-0-1-(0, 0)": [1, 0, 0], ': "is not JSON",
}


@pytest.mark.slow
def test_what_is_no_profile_of_the_game_is_refused_in_a_line(exported: Any) -> None:
    for number, (text, why) in enumerate(BAD.items()):
        Path(f"bad{number}.txt").write_text(text)
        for game in (("--game", "hog.efg"), ("--rules", "small.yaml")):
            line = refused("compare", f"bad{number}.txt", f"bad{number}.txt", *game)
            assert f"bad{number}.txt: {why.partition(' ')[0]}" in line or why in line, (line, why)
            assert why in line
    states = {key: dict.fromkeys("012", 1 / 3) for key in by_state(average_policy(exported))}
    Path("more.json").write_text(json.dumps({**states, "0-0-99-(3, 9)": [1, 0, 0]}))
    line = refused("compare", "more.json", "more.json", "--rules", "small.yaml")
    assert "state '0-0-99-(3, 9)': is none of this game" in line
    first = next(iter(states))
    rows: list[Any] = [[1, 0], {"0": 0.5, "7": 0.5}, {"a": 1}, "x", [0.5, 0.4, 0], [[0, 1], [1]]]
    rows += [None, ["1", 0, 0], [True, 0, 0], [10**400, 0, 0], [[0, 10**400], [1, 0], [2, 0]]]
    rows += [[[0, 0.5], [0.5, 0.5], [2, 0]], [[0, 0], [True, 1], [2, 0]], [[0, 0], [0, 1], [1, 0]]]
    for row in rows:
        Path("row.json").write_text(json.dumps({**states, first: row}))
        line = refused("compare", "row.json", "row.json", "--rules", "small.yaml")
        assert f"row.json: state '{first}': allowed: probabilities of the actions" in line
    line = refused("compare", "more.json", "more.json", "--rules", "fa25")
    assert "is a profile of a game tree; allowed: for rules with one goal up to 40" in line
    Path("table.csv").write_text("1,2\n3,4\n")
    line = refused("compare", "table.csv", "uniform", "--game", "hog.efg")
    assert "table.csv: line 1: columns: got '1,2'; allowed: player,infoset,action" in line
    with pytest.raises(ValueError, match="got object; allowed: a policy of OpenSpiel, or a dict"):
        hogeq.Game("hog.efg").strategy(object())  # type: ignore[arg-type]


def broken_archives() -> dict[str, tuple[bytes, str]]:
    """Files .npz that hold no policy of Kuhn poker (12, 2), and why."""
    rows = np.full((12, 2), 0.5)
    good = saved(np.savez, policy=rows)
    header = saved(np.save, rows)[:128]
    huge = header.replace(b"(12, 2), }" + b" " * 12, b"(1099511627776, 2), }" + b" ")
    twice = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(twice, "w") as archive:
        warnings.simplefilter("ignore")
        for _ in range(2):
            archive.writestr("policy.npy", saved(np.save, rows))
    return {
        "empty": (b"", "is not an .npz file: no zip, or one"),
        "text": (b"0.5 0.5", "is not an .npz file: no zip, or one"),
        "flipped": (
            good[:200] + bytes([good[200] ^ 1]) + good[201:],
            "is not an .npz file: no zip, or one that is not whole",
        ),
        "cut": (good[:-30], "is not an .npz file"),
        "complex": (saved(np.savez, policy=rows * 1j), "holds values of type '<c16'"),
        "objects": (saved(np.savez, policy=rows.astype(object)), "holds values of type '|O'"),
        "other": (saved(np.savez, rows=rows), "holds ['rows']; allowed: one of matrix, "),
        "twice": (twice.getvalue(), "holds ['policy', 'policy']; allowed: each name once"),
        "huge": (zipped(huge, "policy.npy"), "has shape (1099511627776, 2); allowed: up to "),
        "bomb": (
            zipped(saved(np.save, np.zeros((2**20, 8))), "policy.npy"),
            "has shape (1048576, 8); allowed: (12, 2)",
        ),
        "short": (zipped(header, "policy.npy"), "ends before its array of shape (12, 2) does"),
        "nan": (saved(np.savez, policy=rows * np.nan), "allowed: probabilities of legal actions"),
    }


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "kind", mostly_slow(broken_archives(), "flipped", "objects", "huge", "nan")
)
def test_a_broken_archive_is_refused_in_a_line(kind: str, in_folder: Path) -> None:
    data, why = broken_archives()[kind]
    Path("policy.npz").write_bytes(data)
    line = refused("compare", "policy.npz", "uniform", "--game", "kuhn_poker")
    assert line.startswith("hogeq: policy.npz: ")
    assert why in line


@pytest.mark.parametrize("depth", [900, 100_000])
def test_nested_lists_are_no_profile_however_deep(tmp_path: Path, depth: int) -> None:
    path = tmp_path / "deep.json"
    path.write_text("[" * depth + "]" * depth)
    assert read_profile(path, rules_from("fa25")) is None


@pytest.mark.parametrize("name", ["pipe.npz", "pipe.json", "policy"])
def test_a_pipe_is_not_waited_for(name: str, in_folder: Path) -> None:
    os.mkfifo(name)
    line = refused("compare", name, "uniform", "--game", "kuhn_poker")
    assert line == f"hogeq: {name}: is not a file\n"


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("rows", "why"),
    [
        (np.full((12, 2), 0.5j), "holds complex128 values; allowed: float64 numbers"),
        ([["a", "b"]] * 12, "holds <U1 values; allowed: float64 numbers"),
        ([[1.0], [1.0, 0.0]], "rows differ in length"),
    ],
)
def test_arrays_of_no_numbers_are_refused(rows: Any, why: str) -> None:
    with pytest.raises(ValueError, match=re.escape(f"strategy: {why}")):
        hogeq.Game("kuhn_poker").strategy(rows)


# --- OpenSpiel's tabular policies -----------------------------------------------------------------


@pytest.mark.parametrize("number", [0, 7, 12])
def test_policies_come_back(number: int) -> None:
    rules = small_games()[number]
    game, (a, b) = game_of(rules), two_policies(rules, number)
    policy = to_tabular(game, a, b)
    compiled = python_policy_to_pyspiel_policy(policy)
    for player, table in enumerate((a, b)):
        reached = [
            state.scores(player) for state in policy.states if state.current_player() == player
        ]
        uniform = np.full_like(table, 1 / table.shape[2])
        for given in (policy, compiled):
            found = seat_tables(given, rules, "policy")[player]
            for own, opponent in np.ndindex(table.shape[:2]):
                expected = table if (own, opponent) in reached else uniform
                np.testing.assert_array_equal(found[own, opponent], expected[own, opponent])


def test_a_matrix_is_played_by_both_players_unless_the_second_has_one() -> None:
    rules = rules_from({"edition": "su20", "goal": 3, "max_dice": 2})
    game = game_of(rules)
    ones, twos = np.ones((3, 3), int), np.full((3, 3), 2)
    both, pair = to_tabular(game, ones), to_tabular(game, ones, twos)
    for state in both.states:
        player = state.current_player()
        assert both.action_probabilities(state)[1] == 1.0
        assert pair.action_probabilities(state)[1 + player] == 1.0


def test_policies_with_memory_have_no_table() -> None:
    rules = rules_from({"edition": "su20", "goal": 3, "max_dice": 1})
    game = game_of(rules, memory=True)
    policy = to_tabular(game, np.ones((3, 3), int))
    assert {policy.action_probabilities(state)[1] for state in policy.states} == {1.0}


def test_malformed_strategies_are_refused() -> None:
    rules = rules_from({"edition": "su20", "goal": 3, "max_dice": 1})
    game = game_of(rules)
    with pytest.raises(ValueError, match="row 0, column 0"):
        to_tabular(game, np.full((3, 3), 2))
    policy = TabularPolicy(game)
    policy.action_probability_array[:] = 0.3
    with pytest.raises(ValueError, match=r"policy: state .*, sum 1"):
        seat_tables(policy, rules, "policy")
