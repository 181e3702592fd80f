"""Solvers, attacks and bounds on games of OpenSpiel, by the passes of a tree engine."""

from typing import Any

import numpy as np
import pyspiel
import pytest
from open_spiel.python import policy as openspiel_policy
from open_spiel.python.algorithms import exploitability

from hogeq.model.protocol import Role
from hogeq.search.attack import attack
from hogeq.search.results import Budget
from hogeq.solvers import SOLVERS, regret
from hogeq.support.aliases import Floats
from hogeq.trees.building import Node, flatten
from hogeq.trees.engine import TreeEngine
from hogeq.trees.flat import CHANCE, TERMINAL
from hogeq.trees.openspiel import from_openspiel
from hogeq.trees.responses import respond_in_both_seats

FORGETFUL = "liars_dice_ir(dice_sides=3)"


def engine_of(name: str) -> TreeEngine:
    return TreeEngine(from_openspiel(name))


def solved(engine: TreeEngine, name: str, iterations: int, **parameters: Any) -> Floats:
    solver = SOLVERS[name](**parameters)
    state = solver.init(engine)
    for _ in range(iterations):
        state = solver.step(engine, state)
    return engine.legal(solver.average(engine, state))


def coins() -> TreeEngine:
    """Two rows: the first has two actions, the second three."""

    def look(moves: tuple[int, ...]) -> Node:
        if len(moves) == 2:
            payoff = float(moves[0] == moves[1])
            return Node(TERMINAL, payoffs=(payoff, -payoff))
        moved = [(move, 1.0, (*moves, move)) for move in range(2 + len(moves))]
        return Node(len(moves), "coin", moves=moved)

    return TreeEngine(flatten("coins", (), look, lambda moves: [str(move) for move in moves]))


def test_probability_of_illegal_actions_is_spread_evenly() -> None:
    third = np.full(3, 1.0 / 3.0)
    for row, spread in (
        ([0.0, 0.0, 1.0], [0.5, 0.5, 0.0]),
        ([0.5, 0.0, 0.5], [0.75, 0.25, 0.0]),
        ([1.0, 0.0, 0.0], [1.0, 0.0, 0.0]),
        ([1.0, 1.0, 1.0], [1.0, 1.0, 0.0]),  # own actions count 1
    ):
        rows = coins().legal(np.array([row, third]))
        np.testing.assert_allclose(rows, np.array([spread, third]), atol=1e-15)


def test_ties_have_no_gradient_to_the_last_digit() -> None:
    sevenths = [(place, 1.0 / 7.0, place / 6.0) for place in range(7)]
    assert sum(chance * payoff for _, chance, payoff in sevenths) != 0.5

    def tie(sure: float) -> TreeEngine:
        def look(state: object) -> Node:
            if state == "start":
                return Node(0, "row", moves=[(0, 1.0, "chance"), (1, 1.0, sure)])
            if state == "chance":
                return Node(CHANCE, moves=sevenths)
            payoff = float(str(state))
            return Node(TERMINAL, payoffs=(payoff, -payoff))

        return TreeEngine(flatten("tie", "start", look, lambda moves: [*map(str, moves)]))

    def values(engine: TreeEngine) -> Floats:
        even = np.full((2, 1, 2), 0.5)
        work = engine.workspace(2)
        return work.backward(work.forward(even), even, Role.COUNTERFACTUAL).values.copy()

    assert not values(tie(0.5)).any()
    # Half of the games, a win is twice the largest payoff, and the mean is half way.
    off = np.array([-1e-9, 1e-9])
    assert values(tie(0.5 + 1e-9))[0] == pytest.approx(off / 8, rel=1e-6)
    solver: Any = SOLVERS["cfr"]()
    for sure, regrets in ((0.5, 0.0 * off), (0.5 + 1e-9, off / 8)):
        engine = tie(sure)
        state = solver.step(engine, solver.init(engine))
        assert state.regrets[0, 0] == pytest.approx(regrets, rel=1e-6, abs=0.0)


def test_rows_are_set_in_place_however_they_lie_in_memory() -> None:
    engine = coins()
    here = np.stack([engine.tree.uniform()] * 2)
    there = np.asfortranarray(here)
    work = engine.workspace(2)
    for policies in (here, there):
        assert work.backward(work.forward(policies), policies, Role.ASCEND).changes
    np.testing.assert_array_equal(here, there)


def in_openspiel(engine: TreeEngine, name: str, rows: Floats) -> Any:
    """Give a strategy of both seats as a tabular policy."""
    game = pyspiel.load_game(name)
    table = openspiel_policy.TabularPolicy(game)
    at = dict(zip(zip(engine.tree.seat, engine.tree.names, strict=True), rows, strict=True))
    for index, state in enumerate(table.states):
        player = state.current_player()
        row = at[player, state.information_state_string(player)]
        table.action_probability_array[index, :] = 0.0
        for place, move in enumerate(state.legal_actions()):
            table.action_probability_array[index, move] = row[place]
    return game, table


@pytest.mark.parametrize("name", ["leduc_poker", FORGETFUL])
def test_loops_are_the_passes_where_rows_differ_in_their_actions(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, solver = engine_of(name), SOLVERS["dcfr"]()
    assert len(np.unique(engine.tree.num_legal)) > 1
    loops, _ = solver.steps(engine, solver.init(engine), 30)
    monkeypatch.setattr(regret, "shared_minimiser", lambda _: None)
    passes = solver.init(engine)
    for _ in range(30):
        passes = solver.step(engine, passes)
    # Sums of weights up to 900 are as exact as doubles of their size are.
    for one, other in zip(loops, passes, strict=True):
        assert one == pytest.approx(other, abs=1e-12 * max(1.0, np.abs(other).max(initial=0.0)))


@pytest.mark.parametrize("name", ["kuhn_poker", "leduc_poker"])
def test_cfr_plus_finds_a_policy_that_openspiel_finds_safe(name: str) -> None:
    engine = engine_of(name)
    policy = solved(engine, "cfr_plus", 60)
    game, table = in_openspiel(engine, name, policy)
    theirs = exploitability.exploitability(game, table)
    assert respond_in_both_seats(engine.tree, policy, 20.0).value == pytest.approx(theirs, abs=1e-9)
    uniform = respond_in_both_seats(engine.tree, engine.tree.uniform(), 20.0).value
    assert theirs < uniform / 20


def test_the_attack_finds_what_the_exact_response_wins() -> None:
    engine = engine_of(FORGETFUL)
    weights = np.random.default_rng(0).random(engine.shape)
    policy = weights / weights.sum(axis=1, keepdims=True)
    exact = respond_in_both_seats(engine.tree, engine.legal(policy), 20.0)
    assert exact.is_proved
    found = attack(engine, policy, Budget(starts=2, kicks=10))
    value = engine.tree.units.value
    assert value(found.win_rate) == pytest.approx(exact.value, abs=1e-9)
    known = engine.workspace(2).win_rate(np.stack([policy, policy]), Role.FULL_MEMORY)
    assert value(known.win_rate) == pytest.approx(exact.full_memory, abs=1e-9)


def test_a_player_who_can_meet_a_row_twice_is_refused(tmp_path: Any) -> None:
    from hogeq.trees.gambit import from_efg
    from tests.trees.test_flat import DRIVER

    path = tmp_path / "driver.efg"
    path.write_text(DRIVER)
    with pytest.raises(ValueError, match="allowed: games without absent-mindedness"):
        TreeEngine(from_efg(path))
