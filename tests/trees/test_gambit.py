"""Exported game trees: what the file says, and that others read it as we mean it.

Gambit itself is not installed with the development tools, since it has to be compiled: ``make
gambit`` installs it and runs these tests.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from hogeq.cli import app
from hogeq.evaluation.values import win_rate
from hogeq.model.game import compile_game
from hogeq.rules import EDITIONS, Rules, rules_from
from hogeq.trees.audit import audit
from hogeq.trees.building import Node
from hogeq.trees.flat import CHANCE, TERMINAL, payoff
from hogeq.trees.gambit import from_efg
from hogeq.trees.recall import Recall
from hogeq.trees.rules import node_of
from hogeq.trees.tree import HogRules, count_nodes, efg_lines, has_at_most, hog_efg, tree_sizes
from tests.slow import mostly_slow

TINY = rules_from({"edition": "fa22", "goal": 3, "max_dice": 1, "sides": 2})


def nodes(tree: HogRules) -> Iterator[Node]:
    waiting = [tree.initial()]
    while waiting:
        node = node_of(tree, waiting.pop())
        yield node
        waiting += [after for _, _, after in node.moves]


# --- the tree -------------------------------------------------------------------------------------


@pytest.mark.parametrize("memory", [False, True])
@pytest.mark.parametrize("edition", mostly_slow(EDITIONS, "fa22", "su20", "su21"))
def test_counted_as_walked(edition: str, memory: bool) -> None:
    tree = HogRules(replace(EDITIONS[edition], goal=4, max_dice=2, sides=3), memory=memory)
    found, walked = count_nodes(tree), list(nodes(tree))
    assert found.exact
    movers = Counter(node.player for node in walked)
    assert movers[0] + movers[1] == found.choices
    assert (movers[CHANCE], movers[TERMINAL]) == (found.chances, found.ends)
    assert found.nodes == len(walked)
    assert has_at_most(tree, found.nodes)
    assert not has_at_most(tree, found.nodes - 1)
    met = {(node.player, node.infoset) for node in walked if node.player >= 0}
    assert found.infosets == tuple(sum(p == player for p, _ in met) for player in (0, 1))
    if memory:
        assert sum(found.infosets) == found.choices


@pytest.mark.parametrize("edition", ["su20", "fa17"])
def test_a_vast_tree_is_known_by_few_of_its_states(
    edition: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    expanded: list[Any] = []

    def expand(rules: Any, state: Any) -> Node:
        expanded.append(state)
        return node_of(rules, state)

    monkeypatch.setattr("hogeq.trees.tree.node_of", expand)
    assert not has_at_most(HogRules(EDITIONS[edition]), 1_000_000)
    assert len(expanded) < 20_000


def test_sizes_by_hand() -> None:
    """For each beginner: choice, win, chance, win, and so on to choice, win, chance, two wins.

    No dice always win: 1, 2 x |0 - 2| + 1 = 5 or 1 more point, squares raised. One die of two sides
    wins with 1, raised to 4, or from 2 with anything.
    """
    found = tree_sizes(TINY)
    assert (found.choices, found.chances, found.ends) == (6, 7, 14)
    assert found.infosets == (3, 3)
    assert found.depth == 7
    assert str(found) == (
        "27 nodes (6 choices, 7 of chance, 14 ends), 3 + 3 information sets, at most 7 moves deep"
    )


# --- the file -------------------------------------------------------------------------------------


def test_the_smallest_file_in_full() -> None:
    rules = rules_from({"edition": "fa22", "goal": 1, "max_dice": 1, "sides": 2})
    assert "".join(efg_lines(HogRules(rules), 'A "test"')) == (
        'EFG 2 R "A \\"test\\"" { "A" "B" }\n'
        'c "" 1 "" { "A begins" 1/2 "B begins" 1/2 } 0\n'
        'p "" 1 1 "(0, 0)" { "0" "1" } 0\n'
        't "" 1 "" { 1, -1 }\n'
        'c "" 2 "" { "1" 1/2 "2" 1/2 } 0\n'
        't "" 1 "" { 1, -1 }\n'
        't "" 1 "" { 1, -1 }\n'
        'p "" 2 1 "(0, 0)" { "0" "1" } 0\n'
        't "" 2 "" { -1, 1 }\n'
        'c "" 3 "" { "1" 1/2 "2" 1/2 } 0\n'
        't "" 2 "" { -1, 1 }\n'
        't "" 2 "" { -1, 1 }\n'
    )


GAMES = [
    {"edition": "su20", "goal": 4, "max_dice": 2},
    {"edition": "fa15", "goal": 4, "max_dice": 2, "sides": 3},
    {"edition": "su21", "goal": 3, "max_dice": 2, "sides": 4},
    {"edition": "hw13", "goal": 4, "max_dice": 1},
]


@pytest.mark.parametrize("spec", GAMES, ids=lambda spec: spec["edition"])
def test_hogeq_reads_the_game_we_mean(spec: dict[str, Any], tmp_path: Path) -> None:
    """Information sets are those of the file."""
    rules = rules_from(spec)
    found = tree_sizes(rules)
    (tmp_path / "hog.efg").write_text(hog_efg(rules))
    tree = from_efg(tmp_path / "hog.efg")
    seats = np.asarray(tree.seat)
    assert ((seats == 0).sum(), (seats == 1).sum()) == found.infosets
    assert set(tree.num_legal) == {rules.num_actions}
    assert not Recall(tree, 0).audit().findings["perfect recall"].holds
    shape = (2, rules.size, rules.size)
    tables = np.random.default_rng(2).dirichlet(np.ones(rules.num_actions), shape)
    cells = [tuple(map(int, re.findall(r"\((\d+), (\d+)\)$", name)[0])) for name in tree.names]
    first, second = (np.array([table[cell] for cell in cells]) for table in tables)
    utility = 2.0 * win_rate(compile_game(rules), *tables).win_rate - 1.0
    assert payoff(tree, first, second) == pytest.approx(utility, abs=1e-12)


@pytest.fixture(scope="module")
def gambit() -> Any:
    return pytest.importorskip("pygambit", reason="pygambit is not installed: make gambit")


@pytest.mark.parametrize("spec", GAMES, ids=lambda spec: spec["edition"])
def test_gambit_reads_the_game_we_mean(spec: dict[str, Any], gambit: Any, tmp_path: Path) -> None:
    rules = rules_from(spec)
    found = tree_sizes(rules)
    (tmp_path / "hog.efg").write_text(hog_efg(rules))
    game = gambit.read_efg(tmp_path / "hog.efg")
    assert rules.name in game.title
    assert len(game.nodes) == found.nodes == count_nodes(HogRules(rules)).nodes
    assert tuple(len(player.infosets) for player in game.players) == found.infosets
    assert game.is_perfect_recall is audit(rules).findings["perfect recall"].holds is False

    shape = (rules.size, rules.size)
    tables = np.random.default_rng(2).dirichlet(np.ones(rules.num_actions), (2, *shape))
    profile = game.mixed_behavior_profile()
    for player, table in zip(game.players, tables, strict=True):
        for infoset in player.infosets:
            own, opponent = map(int, infoset.label.strip("()").split(","))
            actions = list(infoset.actions)
            assert [action.label for action in actions] == [str(k) for k in range(len(actions))]
            for action, probability in zip(actions, table[own, opponent], strict=True):
                profile[action] = float(probability)
    utility = 2.0 * win_rate(compile_game(rules), *tables).win_rate - 1.0
    payoffs = [profile.payoff(player) for player in game.players]
    assert payoffs == pytest.approx([utility, -utility], abs=1e-12)


# --- refusals -------------------------------------------------------------------------------------


def test_trees_without_end_are_refused() -> None:
    endless: Rules = replace(EDITIONS["fa15"], goal=4, max_dice=1, piggy_back=False)
    with pytest.raises(ValueError, match=r"never end.*allowed: pig_out 1 or piggy_back true"):
        tree_sizes(endless)


# --- the command ----------------------------------------------------------------------------------


def export(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["export-game", *arguments])


def test_the_command_says_sizes_before_it_writes(tmp_path: Path) -> None:
    path = tmp_path / "hog.efg"
    arguments = ("--rules", "su20", "--goal", "4", "--max-dice", "2", "--out", str(path))
    found = export(*arguments)
    assert found.exit_code == 0
    assert found.stderr == (
        "hogeq: su20 to 4 with 0 to 2 dice: 3,385 nodes (178 choices, 357 of chance, 2,850 ends), "
        "13 + 13 information sets, at most 15 moves deep\n"
    )
    assert found.stdout == f"3,385 nodes written to {path}\n"
    assert len(path.read_text().splitlines()) == 3386
    data = json.loads(export(*arguments, "--overwrite", "--json").stdout)
    assert (data["nodes"], data["infosets"], data["out"]) == (3385, [13, 13], str(path))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--out", "hog.efg"), "the tree has more than 2,000,000 nodes, the most allowed"),
        (("--goal", "4", "--out", "hog.txt"), r"allowed: names ending in \.efg"),
        (("--goal", "4000", "--out", "hog.efg"), "goal: got 4000"),
        (("--goal", "4", "--out", "nowhere/hog.efg"), "there is no folder"),
    ],
)
def test_the_command_refuses(arguments: tuple[str, ...], message: str, in_folder: Path) -> None:
    found = export("--rules", "su20", *arguments)
    assert found.exit_code == 2
    assert found.stdout == ""
    (line,) = found.stderr.splitlines()
    assert line.startswith("hogeq: ")
    assert re.search(message, line)
    assert not any(in_folder.iterdir())
