"""The registries of solvers and purifiers, and what their bases ask for."""

import io
from typing import Any

import numpy as np
import pytest

from hogeq.model.game import compile_game
from hogeq.purification import PURIFIERS, Purifier, purifier
from hogeq.rules import rules_from
from hogeq.solvers import SOLVERS, Solver, solver
from hogeq.support.parameters import plain
from hogeq.support.workers import workers
from tests.defaults import told
from tests.solvers.family import FAMILY, WEIGHTS, run


def test_a_name_is_given_once() -> None:
    with pytest.raises(ValueError, match=r"^solver cfr: name is taken by CFR$"):
        solver("cfr")(SOLVERS["dcfr"])
    with pytest.raises(ValueError, match=r"^purifier argmax: name is taken by Argmax$"):
        purifier("argmax")(PURIFIERS["integer"])


@pytest.mark.parametrize("base", [Solver, Purifier])
def test_a_base_alone_is_nothing(base: Any) -> None:
    with pytest.raises(TypeError, match="abstract"):
        base()


OPTIONS: dict[str, dict[str, Any]] = {
    **{name: {} for name in SOLVERS},
    "cfr_br": {"responders": 4, "newcomers": 2, "trails": 2, "kicks": 2, "life": 4},
    "fictitious": {"keep_matrices": True},
    "double_oracle": {"responders": 2},
    "bundle": {"trails": 2, "kicks": 2, "life": 4},
    "mixture_bundle": {"parts": 2, "trails": 2, "kicks": 2, "life": 4, "patience": 1},
    "openspiel": {"algorithm": "outcome_mccfr"},
}
CASES = [
    *OPTIONS.items(),
    *(
        (name, {"alternating": alternating, "regret_weight": weight})
        for name in FAMILY
        for alternating in (False, True)
        for weight in WEIGHTS
    ),
]


@pytest.mark.parametrize(("name", "options"), CASES)
def test_a_saved_run_goes_on_with_the_same_bits_by_any_number_of_threads(
    name: str, options: dict[str, Any]
) -> None:
    """It counts its iterations, gives a fresh policy, and only arrays that say so grow."""
    game = compile_game(rules_from({"edition": "su20", "goal": 6, "max_dice": 2}))
    made, state = run(game, name, 2, **options)
    shapes = {field: array.shape for field, array in state._asdict().items()}
    assert set(shapes) >= made.GROWS
    file = io.BytesIO()
    np.savez(file, **state._asdict())
    saved = state._asdict()
    for field, array in made.restore(state, saved)._asdict().items():
        assert not np.shares_memory(array, saved[field])
    for _ in range(3):
        state = made.step(game, state)
    file.seek(0)
    with np.load(file) as arrays, workers(2):
        again = SOLVERS[name](**options).restore(state, arrays)
        assert int(again.iteration) == 2
        for _ in range(3):
            again = made.step(game, again)
    assert int(again.iteration) == 5
    for field, expected in state._asdict().items():
        found = getattr(again, field)
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        assert found.tobytes() == expected.tobytes(), field
        assert field in made.GROWS or found.shape == shapes[field]
    average = made.average(game, again)
    assert average.sum(axis=-1) == pytest.approx(1.0, abs=1e-12)
    assert made.stats(game, again) == made.stats(game, state)
    kept = average.copy()
    average[:] = -1.0
    np.testing.assert_array_equal(made.average(game, again), kept)


@pytest.mark.parametrize("name", SOLVERS)
def test_what_is_left_out_is_as_the_page_says(name: str) -> None:
    known = plain(SOLVERS[name]())
    assert {key: known[key] for key in told()[name]} == told()[name]


def test_choices_from_python_are_as_strict_as_in_files() -> None:
    for bad in (2.5, True, 0):
        with pytest.raises(ValueError, match=f"^responders: got {bad}; allowed: whole numbers"):
            SOLVERS["cfr_br"](responders=bad)
