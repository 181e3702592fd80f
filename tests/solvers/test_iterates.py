"""Mixtures of iterates: their bounds hold in any game, and meet where belief DAGs are too large."""

from collections import defaultdict
from fractions import Fraction
from itertools import count

import numpy as np
import pytest

import hogeq
from hogeq.solvers import dags, iterates
from hogeq.solvers.iterates import mix_iterates, recalling
from hogeq.support.deadline import FOREVER, Deadline
from hogeq.trees import restricted, rows
from hogeq.trees.columns import Solving
from hogeq.trees.flat import FlatTree
from hogeq.trees.sequences import sequence_form
from tests.slow import fast_and_slow
from tests.toys import tree_of
from tests.trees.random_games import payoffs, random_game, value


def dice(sides: int, suffix: str = "_ir") -> FlatTree:
    tree = hogeq.Game(f"liars_dice{suffix}(dice_sides={sides})").tree
    assert tree is not None
    return tree


def partition(tree: FlatTree, player: int) -> set[tuple[int, ...]]:
    """Nodes of each information set of a player."""
    nodes = defaultdict(list)
    for node, row in enumerate(tree.row.tolist()):
        if tree.player[node] == player:
            nodes[row].append(node)
    return set(map(tuple, nodes.values()))


@pytest.mark.parametrize("player", [0, 1])
def test_who_recalls_has_the_information_sets_of_the_game_with_perfect_recall(player: int) -> None:
    forgetful, perfect = dice(3), dice(3, "")
    tree = recalling(forgetful, player)
    assert partition(tree, player) == partition(perfect, player)
    assert partition(tree, 1 - player) == partition(forgetful, 1 - player)
    assert tree.seat.tolist() == sorted(tree.seat.tolist())
    hogeq.Game(tree).attack("uniform")  # its arrays fit each other


@pytest.mark.parametrize(
    ("sides", "worth"),
    [
        (3, Fraction(1, 9)),
        (4, Fraction(1, 16)),
        pytest.param(5, Fraction(1, 125), marks=pytest.mark.slow),
    ],
)
def test_bounds_of_liars_dice_meet(sides: int, worth: Fraction) -> None:
    """Player 0 gets as much as with perfect recall of both: values by linear programs."""
    solving = Solving(dice(sides), FOREVER)
    mix_iterates(solving, FOREVER)
    assert solving.is_proved
    assert solving.ends == pytest.approx((float(worth), float(worth)), abs=1e-9)
    perfect = hogeq.Game(dice(sides, "")).equilibrium(60.0)
    assert perfect.lower <= worth <= perfect.upper


@pytest.mark.parametrize("games", fast_and_slow([20], [60]))
def test_bounds_hold_in_any_game(games: int) -> None:
    """Beside the matrix of all pure strategies."""
    gaps = []
    for seed in range(games):
        root = random_game(seed)
        tree = tree_of(root)
        if {*tree.seat.tolist()} != {0, 1}:
            continue
        solving = Solving(tree, FOREVER)
        mix_iterates(solving, FOREVER)
        found = solving.result("iterates")
        assert found.lower - 1e-9 <= value(payoffs(root)) <= found.upper + 1e-9, seed
        gaps.append(found.upper - found.lower)
    assert len(gaps) >= games / 2
    assert min(gaps) < 1e-9 < max(gaps)  # who forgets may get less than who remembers


@pytest.mark.parametrize("seed", [27, 47])
def test_bounds_hold_where_only_one_player_has_a_mixture(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other's is what it can play of a strategy with perfect recall, which would get more."""
    solve, begun = restricted.solve_restricted, count()
    monkeypatch.setattr(restricted, "MOST_DRAWN", 1)
    monkeypatch.setattr(
        iterates, "solve_restricted", lambda *given: None if next(begun) else solve(*given)
    )
    root = random_game(seed, depth=5)
    solving = Solving(tree_of(root), FOREVER)
    mix_iterates(solving, FOREVER)
    assert next(begun) == 2  # one round, for the program of player 1 failed
    assert np.isinf(solving.bounds).tolist() == [True, False]
    found = solving.result("iterates")
    assert found.lower - 1e-9 <= value(payoffs(root)) <= found.upper + 1e-9


def test_nothing_is_begun_without_room(monkeypatch: pytest.MonkeyPatch) -> None:
    solving = Solving(dice(3), FOREVER)
    monkeypatch.setattr(rows, "MOST_CELLS", iterates.MOST_ITERATES * solving.tree.legal.size)
    mix_iterates(solving, FOREVER)
    assert np.isinf(solving.bounds).all()


def test_where_dags_are_too_large_iterates_prove_the_value(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = dice(4)
    monkeypatch.setattr(dags, "build_dags", lambda *_, **__: [None, None])
    monkeypatch.setattr(dags, "FIRST_SECONDS", 0.0)
    found = dags.solve_tree(tree, 600.0)
    assert (found.method, found.is_proved) == ("iterates", True)
    game = hogeq.Game(tree)
    assert game.exploitability(found).upper < 1e-9  # of the mixtures, which are what is given
    told = found.to_json()
    assert told["lower"] == told["upper"] == 0.0625


def test_what_is_known_of_the_game_is_kept() -> None:
    """To inflate it again would take time that nothing limits."""
    solving = Solving(dice(3), FOREVER)
    forms = [sequence_form(solving.tree, player) for player in (0, 1)]
    mix_iterates(solving, FOREVER)
    for player, form in enumerate(forms):
        assert sequence_form(solving.tree, player) is form


@pytest.mark.parametrize(("is_better", "method"), [(False, "iterates"), (True, "columns")])
def test_the_result_names_what_its_ends_come_from(
    is_better: bool, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Iterates stall after a round of three; columns that follow tighten an end, or none."""

    def run_double_oracle(solving: Solving, *_: object) -> None:
        if solving.best and is_better:
            solving.bounds[0] -= 1e-6

    monkeypatch.setattr(dags, "build_dags", lambda *_, **__: [None, None])
    monkeypatch.setattr("hogeq.solvers.iterates.MOST_ITERATES", 3)
    monkeypatch.setattr("hogeq.solvers.iterates.LARGEST_GAP_RATIO", 0.0)
    monkeypatch.setattr(Solving, "run_double_oracle", run_double_oracle)
    assert dags.solve_tree(dice(4), 600.0).method == method


def test_nothing_is_begun_without_time() -> None:
    solving = Solving(dice(3), FOREVER)
    mix_iterates(solving, Deadline(0.0))
    assert np.isinf(solving.bounds).all()
