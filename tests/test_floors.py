"""Floors of the cost model, counted by hand on games that are small enough."""

import runpy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hogeq.kernels.planning import plan_of
from hogeq.model import side_by_side
from hogeq.model.game import Game, compile_game
from hogeq.rules import rules_from

FLOORS: dict[str, Any] = runpy.run_path(
    str(Path(__file__).parents[1] / "benchmarks" / "floors.py"), run_name="floors"
)


def tiny(edition: str) -> Game:
    """Compile a game to 4 points with one die of two sides: 16 cells, on 7 diagonals."""
    return compile_game(rules_from({"edition": edition, "goal": 4, "max_dice": 1, "sides": 2}))


def test_by_diagonals() -> None:
    values = FLOORS["diagonal_work"](tiny("fa22").diagonals).values
    # Two outcomes of the die and two rolls that are mixed, a multiplication and an addition each,
    # and one afterstate that lands.
    assert values.operations == 16 * (2 * 2 + 2 * 2 + 1)
    # The weights of two rolls, 8 bytes, and where a roll and no dice land, 4.
    assert values.moved == 16 * (2 * 8 + 2 * 4)
    # A diagonal is one vector of cells: 2 outcomes, 2 rolls, and what becomes of the value.
    assert values.slots == 7 * (2 + 2 + 1)
    # 2 outcomes, 1 kind of dice and 2 rolls, and 3 gathers of eight numbers: a landing, 2 weights.
    assert values.loads == 7 * (2 + 1 + 2 + 3 * 8)
    assert values.near == 0


def test_orbits() -> None:
    terms = {"edition": "fa18", "goal": 4, "max_dice": 1, "sides": 2, "time_trot_period": 1}
    plain, stays = (
        FLOORS["diagonal_work"](
            compile_game(rules_from({**terms, "swap": "none", "pig_out": pig_out})).diagonals
        ).values
        for pig_out in (1, 0)
    )
    # All orbits of two players on a diagonal are one vector. An orbit is a player at a cell and the
    # other at its mirror image, each with 2 memories; of both it takes the chance of staying and of
    # leaving. Of 4 states 2 recur: the chance of leaving them is a sum of a chance, a product and a
    # copy, and there is one division; then each state takes one product, a recurring one two.
    assert stays.slots - plain.slots == 7 * (4 + 5) // 2
    assert stays.loads - plain.loads == 7 * 8 * (4 + 4) / 2
    assert stays.stores - plain.stores == 7 * 8 * 4 / 2


def test_with_lanes() -> None:
    tables = tiny("su20").tables
    # From 0 or 1 point neither outcome of the die wins, from 2 one does; and no dice.
    corrections = 4 * (2 + 2 + 1 + 0) + 16
    assert FLOORS["dice_terms"](tables) == (0, corrections)
    # Either roll plays otherwise for one of 5 memories.
    assert FLOORS["memory_terms"](tables) == (16 * 2, 16 * 2, 16 * 5)
    work = FLOORS["value_work"](tables)
    mixing = 16 * 2 * 2 + 2 * 16 * 2 + 16 * 2
    assert work.operations == 8 * (2 * corrections + mixing + 16 * 5)
    assert work.moved == 16 * 2 * 2 * 8
    # 24 shuffles exchange 8 rows with 8 lanes. A roll is mixed, and otherwise: a difference too.
    assert work.slots == corrections + 16 * (2 + 2 * 2 + 2) + 16 * 24


def test_matches_side_by_side_have_no_padding() -> None:
    tables = compile_game(rules_from({"edition": "su20"})).tables
    one, packed = (FLOORS["_cell"](tables, FLOORS["SINGLE"], pairs) for pairs in (1, 8))
    # 14 lanes fill one vector of 16, and those of 8 matches 7 vectors, not 8.
    assert (one.pieces, packed.pieces) == (1, 7 / 8)
    # 16 rows of 16 lanes take 4 shuffles each; 7 times 7 blocks of 2 rows and 2 lanes take 2.
    assert (one.turned, packed.turned) == (16 * 4, 7 * 7 * 2 / 8)


def test_matches_passed_forward_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    game = tiny("su20")
    game = replace(game, plan=plan_of(game.tables, smallest=0))
    together, columns = FLOORS["mixture_work"](game, 8, 8), FLOORS["kept_bytes"](game, 2, 8, 8)
    monkeypatch.setattr(side_by_side, "LARGEST_KEPT", 0)
    monkeypatch.setattr(side_by_side, "LEAST_IN_USE", 0.0)
    apart = FLOORS["mixture_work"](game, 8, 8)
    one, packed = (FLOORS["reach_work"](game.tables, 8, pairs) for pairs in (1, 8))
    # Landings are collected, and added up by memory; members are; then the rolls, two of them
    # otherwise, and 24 shuffles. Corrections are 36, as in values.
    assert one.slots == 16 * (5 + 5 + 2 + 2 + 3 * 2 + 24) + 36
    # A memory has three weights: everyone's, and of those who play either roll otherwise. These are
    # two vectors of each match, which three rounds of shuffles turn and one product weighs.
    assert apart.slots - together.slots == 8 * (2 * (one.slots - packed.slots) + 16 * 2 * (3 + 1))
    assert apart.loads - together.loads == 8 * (2 * (one.loads - packed.loads) + 16 * 2)
    # Stored are those of all matches for one memory.
    assert apart.stores - together.stores == 8 * 2 * (one.stores - packed.stores) + 16 * 3 * 5
    assert apart.moved == together.moved
    # A match that is alone stays in the first level.
    assert together.near - apart.near == 8 * 2 * 64 * (packed.loads + packed.stores)
    # Cells come in strips of 16 scores, not of 40 for all matches together.
    assert FLOORS["kept_bytes"](game, 2, 8, 8) * (40 // 8 + 1) == columns * (16 + 1)


def test_a_cell_that_the_first_level_cannot_hold_comes_from_the_second() -> None:
    ten, thirty = (
        compile_game(rules_from({"edition": "su20", "goal": 40, "max_dice": dice})).tables
        for dice in (10, 30)
    )
    work = FLOORS["value_work"](thirty)
    assert FLOORS["value_work"](ten).near == 0
    # All that is loaded or stored, in vectors of 64 bytes.
    assert work.near == pytest.approx(64 * (work.loads + work.stores), rel=1e-6)


def test_the_floor_is_the_longest_of_all() -> None:
    most = FLOORS["Ceilings"](16.0, 10.0, 5.0, 4.0, 100.0, 50.0)
    work = FLOORS["Work"](0, moved=30, slots=2, loads=10, stores=4)
    assert most.floor(work, 0) == (3.0, "memory")  # beside 2 s, 2 s and 1 s
    assert most.floor(work + FLOORS["Work"](0, 0, 2, 0, 0), 0) == (4.0, "arithmetic")
    twice = work.times(2).without(60)
    assert most.floor(twice, 0)[0] == 4.0
    near = FLOORS["Work"](0, 0, 0, 0, 0, near=800)
    assert most.floor(near, 0) == (pytest.approx(8.0), "second level")
    # Of so much seven eighths do not fit the second level: 700 bytes at 50 a second.
    assert most.floor(near, 8 * FLOORS["SECOND_LEVEL"]) == (pytest.approx(14.0), "third level")
