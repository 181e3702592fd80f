"""The registries of solvers and purifiers, and what their bases ask for."""

from typing import Any

import pytest

from hogeq.model.game import compile_game
from hogeq.purification import PURIFIERS, Purifier, purifier
from hogeq.rules import rules_from
from hogeq.solvers import SOLVERS, Solver, solver
from hogeq.support.parameters import plain
from tests.defaults import told


def test_a_name_is_given_once() -> None:
    with pytest.raises(ValueError, match=r"^solver cfr: name is taken by CFR$"):
        solver("cfr")(SOLVERS["dcfr"])
    with pytest.raises(ValueError, match=r"^purifier argmax: name is taken by Argmax$"):
        purifier("argmax")(PURIFIERS["integer"])


@pytest.mark.parametrize("base", [Solver, Purifier])
def test_a_base_alone_is_nothing(base: Any) -> None:
    with pytest.raises(TypeError, match="abstract"):
        base()


@pytest.mark.parametrize("name", sorted(set(SOLVERS) - {"openspiel"}))
def test_only_declared_arrays_grow(name: str) -> None:
    game = compile_game(rules_from({"edition": "su20", "goal": 8, "max_dice": 2}))
    made = SOLVERS[name]()
    state = made.init(game)
    assert set(state._fields) >= made.GROWS
    shapes = {field: array.shape for field, array in state._asdict().items()}
    for _ in range(3):
        state = made.step(game, state)
    grown = {field for field, array in state._asdict().items() if array.shape != shapes[field]}
    assert grown <= made.GROWS


@pytest.mark.parametrize("name", SOLVERS)
def test_what_is_left_out_is_as_the_page_says(name: str) -> None:
    known = plain(SOLVERS[name]())
    assert {key: known[key] for key in told()[name]} == told()[name]


def test_choices_from_python_are_as_strict_as_in_files() -> None:
    for bad in (2.5, True, 0):
        with pytest.raises(ValueError, match=f"^responders: got {bad}; allowed: whole numbers"):
            SOLVERS["cfr_br"](responders=bad)
