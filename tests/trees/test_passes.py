"""Passes over deep trees: the compiled loops make the numbers of the loops over levels."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hogeq
from hogeq.graph import levels
from hogeq.support.deadline import Deadline
from hogeq.trees import passes
from hogeq.trees.flat import FlatTree, reach, reach_by_chance
from hogeq.trees.maxmin import Maxmin
from hogeq.trees.recall import Recall
from hogeq.trees.sequences import SequenceForm, sequence_form
from hogeq.trees.strategies import order_of_rows
from hogeq.trees.values import _PlaysThroughRows

GAMES = (
    "kuhn_poker",
    "leduc_poker",
    "liars_dice_ir(dice_sides=3)",
    "random_tree(depth=5,options=3,rows=4)",
)


def numbers_of(game: hogeq.Game) -> dict[str, Any]:
    """Compute all that passes compute of a new tree."""
    tree = game.tree
    assert isinstance(tree, FlatTree)
    uniform = tree.legal / tree.legal.sum(axis=1, keepdims=True)
    numbers: dict[str, Any] = {
        "reach": reach(tree, uniform),
        "reach of others": reach(tree, uniform, 0),
        "chance": reach_by_chance(tree),
        "possible": tree.is_possible,
        "share": tree.largest_expected_share,
        "order": order_of_rows(tree),
        "plays": _PlaysThroughRows(tree).counts,
    }
    values = tree.payoff.copy()
    passes.add_products_up(tree, tree.probabilities(uniform), values)
    numbers["values"] = values
    for player in (0, 1):
        form = sequence_form(tree, player)
        numbers[f"visits {player}"] = form.visits
        numbers[f"ranks {player}"] = form.rank_of_row
        numbers[f"depth {player}"] = Recall(tree, player).depth
        numbers |= {f"{name} {player}": array for name, array in arrays_of(form).items()}
    return numbers


def arrays_of(form: SequenceForm) -> dict[str, Any]:
    names = (
        "row_of_refined",
        "parent_sequence",
        "sequence_of_node",
        "first_node",
        "refined_of_node",
        "sequence_offsets",
    )
    return {name: getattr(form, name) for name in names}


@pytest.mark.parametrize("name", GAMES)
def test_compiled_passes_make_the_same_bits(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    compare(lambda: hogeq.Game(name), monkeypatch)


def test_compiled_passes_of_an_absent_minded_game(
    chain: Callable[..., hogeq.Game], monkeypatch: pytest.MonkeyPatch
) -> None:
    compare(lambda: chain(60, lambda move: move % 3 + 1), monkeypatch)


def compare(new_game: Callable[[], hogeq.Game], monkeypatch: pytest.MonkeyPatch) -> None:
    """Compare the numbers of a game by levels with those by nodes, each of a game made anew."""
    by_levels = numbers_of(new_game())
    monkeypatch.setattr(passes, "DEEP", 0)
    monkeypatch.setattr(levels, "DEEP", 0)
    compiled = numbers_of(new_game())
    assert compiled.keys() == by_levels.keys()
    for key, expected in by_levels.items():
        found = compiled[key]
        if expected is None:
            assert found is None, key
        elif isinstance(expected, float):
            assert found == expected, key
        else:
            assert found.dtype == expected.dtype, key
            assert found.tobytes() == expected.tobytes(), key


# --- deep trees -----------------------------------------------------------------------------------


def chain_of(depth: int, row_of: Callable[[int], int]) -> str:
    """Write a play of so many moves, by the players in turn, each of which may stop it."""
    lines = ['EFG 2 R "chain" { "A" "B" }']
    for move in range(depth):
        lines.append(f'p "" {move % 2 + 1} {row_of(move)} "" {{ "stop" "go" }} 0')
        lines.append(f't "" {move + 1} "" {{ {move % 7 - 3}, {3 - move % 7} }}')
    lines.append(f't "" {depth + 1} "" {{ 1, -1 }}')
    return "\n".join(lines)


@pytest.fixture
def chain(tmp_path: Path) -> Callable[..., hogeq.Game]:
    def game(depth: int, row_of: Callable[[int], int] = lambda move: move // 2 + 1) -> hogeq.Game:
        path = tmp_path / "chain.efg"
        path.write_text(chain_of(depth, row_of))
        return hogeq.Game(path)

    return game


def test_a_deep_chain_costs_little_at_its_first_call(chain: Callable[..., hogeq.Game]) -> None:
    """A loop over levels in numpy takes 30 times as long as one over nodes."""
    chain(1500).attack("uniform", hogeq.Budget(seconds=3.0))  # compiles
    game = chain(20_000)
    begin = time.process_time()
    response = game.attack("uniform", hogeq.Budget(seconds=3.0))
    assert time.process_time() - begin < 1.5
    assert response.is_proved


def test_visits_of_a_deep_absent_minded_chain(chain: Callable[..., hogeq.Game]) -> None:
    depth = 3000
    tree = chain(depth, lambda move: move % 3 + 1).tree
    form = sequence_form(tree, 0)
    assert form.is_absent_minded
    rows = [move % 3 for move in range(0, depth, 2)]
    expected = [rows[: number + 1].count(row) for number, row in enumerate(rows)]
    np.testing.assert_array_equal(form.visits, expected)


def test_a_linear_program_over_a_deep_chain_is_not_begun_without_time(
    chain: Callable[..., hogeq.Game], monkeypatch: pytest.MonkeyPatch
) -> None:
    """HiGHS does not look at the time in every step: here it took a minute in place of a second."""
    tree = chain(5000, lambda move: move % 4 + 1).tree
    search = Maxmin(tree, 0, Deadline(60.0))
    program = search.programs.linearise(search.normalise(tree.uniform()), 0.5)
    opponent = search.opponent.restricted_dag
    begun = []

    def begin(*_: Any, **given: Any) -> None:
        begun.append(given)
        raise TimeoutError

    monkeypatch.setattr("hogeq.trees.boxes.linprog", begin)
    assert search.programs.solve(program, opponent, 3.0) is None
    assert not begun
    with pytest.raises(TimeoutError):
        search.programs.solve(program, opponent, 1000.0)
    assert begun
