"""Toys: their known solutions, and the passes that solvers see."""

import numpy as np
import pytest

from tests import toys


def test_solution_of_pennies_and_rooms() -> None:
    heads = [1 / 3, 2 / 3]
    for toy, table in (
        (toys.pennies(), np.array([heads, heads])),
        (toys.rooms(), np.array([[0.2, 0.8], heads, heads])),
    ):
        assert toys.exploitability(toy, table) == pytest.approx(0.0, abs=1e-12)
        assert toys.seat_value(toy, table) == pytest.approx(1 / 3, abs=1e-12)
        assert toys.exploitability(toy, np.full(toy.shape, 0.5)) > 0.05


def test_solution_of_rock_paper_scissors() -> None:
    toy, table = toys.rock_paper_scissors(), np.array([[1 / 2, 1 / 6, 1 / 3]] * 2)
    assert toys.exploitability(toy, table) == pytest.approx(0.0, abs=1e-12)
    assert toys.exploitability(toy, np.full((2, 3), 1 / 3)) > 0.05


@pytest.mark.parametrize("bluff", [0.0, 0.2, 1 / 3])
def test_solutions_of_kuhn_poker(bluff: float) -> None:
    toy, table = toys.kuhn(), toys.kuhn_solution(bluff)
    assert toys.exploitability(toy, table) == pytest.approx(0.0, abs=1e-12)
    assert 4.0 * toys.seat_value(toy, table) - 2.0 == pytest.approx(-1 / 18, abs=1e-12)
    wrong = table.copy()
    wrong[10] = [0.5, 0.5]  # calls too often with a queen
    assert toys.exploitability(toy, wrong) > 0.003


def test_bits_has_an_equilibrium_of_mixtures_but_none_of_policies() -> None:
    toy = toys.bits()
    # Every policy on a grid, all at once: the recursion multiplies whatever numbers it is given.
    grid = np.linspace(0.0, 1.0, 21)
    ones = np.stack([axis.ravel() for axis in np.meshgrid(grid, grid, grid)])
    table = np.stack([1.0 - ones, ones], axis=1)
    first = [toys.first_wins(toy.root, (pure, table)) for pure in toys.pure_tables(toy, [0, 1])]
    second = [toys.first_wins(toy.root, (table, pure)) for pure in toys.pure_tables(toy, [2])]
    gains = (np.max(first, axis=0) + 1.0 - np.min(second, axis=0)) / 2.0 - 0.5
    assert gains.min() == pytest.approx(1 / 8, abs=1e-12)
    # Half 00 and half 11, each against a guess of 0 and of 1: nobody gains.
    for guess in toys.pure_tables(toy, [2]):
        tables = list(toys.pure_tables(toy, [0, 1]))
        wins = [toys.first_wins(toy.root, (tables[i], guess)) for i in (0, 3)]
        assert np.mean(wins) == 0.5
    even = np.full(toy.shape, 0.5)
    assert max(toys.first_wins(toy.root, (t, even)) for t in toys.pure_tables(toy, [0, 1])) == 0.5


def test_best_of_forgetful_by_enumeration() -> None:
    toy = toys.forgetful()
    wins = {
        tuple(table.argmax(axis=1).tolist()): toys.seat_value(toy, table)
        for table in toys.pure_tables(toy, [0, 1])
    }
    assert wins == {(0, 0): 0.9, (0, 1): 0.6, (1, 0): 0.0, (1, 1): 0.5}
