"""The registries of solvers and purifiers, and what their bases ask for."""

import io
from typing import Any

import numpy as np
import pytest

from hogeq.model.game import compile_game
from hogeq.purification import PURIFIERS, Purifier, purifier
from hogeq.rules import rules_from
from hogeq.search.results import Budget
from hogeq.solvers import SOLVERS, Solver, solver
from hogeq.support.parameters import plain
from hogeq.support.workers import workers
from tests.defaults import told
from tests.refusals import refuses
from tests.solvers.family import FAMILY, TREES_ALONE, WEIGHTS, run


def test_a_name_is_given_once() -> None:
    refuses(lambda: solver("cfr")(SOLVERS["dcfr"]), r"^solver cfr: name is taken by CFR$")
    with pytest.raises(ValueError, match=r"^purifier argmax: name is taken by Argmax$"):
        purifier("argmax")(PURIFIERS["integer"])


def test_a_registry_shows_a_line_for_each_name() -> None:
    for registry in (SOLVERS, PURIFIERS):
        lines = repr(registry).splitlines()
        assert [line.partition(": ")[0] for line in lines] == [*registry]
        assert all(len(line.partition(": ")[2]) > 20 for line in lines)
    assert "cfr_br: Regret matching+ against annealed best responders." in str(SOLVERS)


@pytest.mark.parametrize("given", ["CFR+", "cfr+", "CFR_plus"])
def test_a_plus_sign_is_read_as_a_word(given: str) -> None:
    with pytest.raises(KeyError, match=r"; nearest: cfr_plus$"):
        SOLVERS[given]


@pytest.mark.parametrize("base", [Solver, Purifier])
def test_a_base_alone_is_nothing(base: Any) -> None:
    with pytest.raises(TypeError, match="abstract"):
        base()


OPTIONS: dict[str, dict[str, Any]] = {
    **{name: {} for name in SOLVERS if name not in TREES_ALONE},
    "cfr_br": {"responders": 4, "newcomers": 2},
    "fictitious": {"responder": "stochastic"},
    "double_oracle": {"responders": 2},
    "bundle": {"trails": 2, "kicks": 2, "life": 4},
    "mixture_bundle": {"parts": 2, "trails": 2, "kicks": 2, "life": 4},
}
CASES = [
    *OPTIONS.items(),
    *(
        (name, {"alternating": alternating, "regret_weight": weight})
        for name in FAMILY
        for alternating in (False, True)
        for weight in WEIGHTS
    ),
    ("fictitious", {}),
    ("fictitious", {"keep_matrices": False}),
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


@pytest.mark.parametrize(("name", "kind"), {**SOLVERS, **PURIFIERS}.items())
def test_what_is_left_out_is_as_the_page_says(name: str, kind: Any) -> None:
    known = plain(kind())
    assert {key: known[key] for key in told()[name]} == told()[name]


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        (SOLVERS["dcfr"], {"alpha": np.nan}),
        (SOLVERS["dcfr"], {"beta": np.nan}),
        (SOLVERS["dcfr"], {"gamma": -1.0}),
        *((SOLVERS["dcfr"], {"epsilon": value}) for value in (-0.1, 1.0, np.nan)),
        (SOLVERS["cfr_br"], {"newcomers": 5, "responders": 4}),
        *((SOLVERS["cfr_br"], {"responders": value}) for value in (0, 2.5, True)),
        (SOLVERS["cfr_br"], {"window": 0}),
        (SOLVERS["cfr_br"], {"sharpen": -1.0}),
        (SOLVERS["fictitious"], {"damping": 0.0}),
        (SOLVERS["fictitious"], {"cold": 0.1}),
        (SOLVERS["double_oracle"], {"damping": 2.0}),
        (SOLVERS["bundle"], {"pool_size": 1}),
        (SOLVERS["bundle"], {"step_size": 0.0}),
        (SOLVERS["bundle"], {"least_gain": 1.0}),
        (SOLVERS["mirror"], {"cooling": 0.0}),
        (SOLVERS["mirror"], {"cold": 0.2}),
        (PURIFIERS["threshold"], {"samples": 0}),
        (PURIFIERS["threshold"], {"threshold": 1.5}),
        (PURIFIERS["integer"], {"trails": 0}),
        (Budget, {"starts": 0}),
        *((Budget, {"damping": value}) for value in (0.0, 1.1, np.nan)),
    ],
)
def test_parameters_that_mean_nothing_are_refused(kind: Any, given: dict[str, Any]) -> None:
    refuses(lambda: kind(**given), rf"^{next(iter(given))}: got .*; allowed: ")
