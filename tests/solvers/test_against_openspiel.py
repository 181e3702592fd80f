"""Every CFR variant, by its defaults, is OpenSpiel's, iteration by iteration."""

from typing import Any

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms import cfr, discounted_cfr

from hogeq.model.game import compile_game
from hogeq.model.protocol import Role
from hogeq.rules import rules_from
from hogeq.solvers import SOLVERS
from hogeq.trees.engine import TreeEngine
from hogeq.trees.openspiel import from_openspiel
from hogeq.trees.openspiel.game import game_of
from tests.slow import mostly_slow
from tests.solvers.family import FAMILY, run


class PredictiveCFRPlus(cfr._CFRSolver):  # type: ignore[misc]  # OpenSpiel has no types
    """Predictive CFR+ (Farina et al. 2021), which OpenSpiel lacks, on its walk over the tree."""

    def __init__(self, game: Any) -> None:
        super().__init__(game, True, linear_averaging=True, regret_matching_plus=True)
        self.passed = 0

    def evaluate_and_update_policy(self) -> None:
        self.passed += 1
        self._iteration = self.passed**2  # the weight of an iteration in the average
        for player in range(2):
            before = {name: dict(node.cumulative_regret) for name, node in self.nodes(player)}
            reach = np.ones(3)
            self._compute_counterfactual_regret_for_player(self._root_node, None, reach, player)
            for name, node in self.nodes(player):
                row = self._current_policy.policy_for_key(name)
                row[:] = 0.0
                for action, regret in node.cumulative_regret.items():
                    last = regret - before[name].get(action, 0.0)
                    node.cumulative_regret[action] = max(0.0, regret)
                    row[action] = max(0.0, node.cumulative_regret[action] + last)
                if row.sum() == 0.0:
                    row[node.legal_actions] = 1.0
                row /= row.sum()

    def nodes(self, player: int) -> list[tuple[str, Any]]:
        """Information sets of a player, by name."""
        states = self._current_policy.states_per_player[player]
        return [(name, self._info_state_nodes[name]) for name in states]


THEIRS: dict[str, Any] = {
    "cfr": cfr.CFRSolver,
    "cfr_plus": cfr.CFRPlusSolver,
    "linear": discounted_cfr.LCFRSolver,
    "dcfr": discounted_cfr.DCFRSolver,
    "pcfr_plus": PredictiveCFRPlus,
}


def compare(theirs: Any, solver: Any, engine: TreeEngine, state: Any) -> None:
    """Compare rows of current and average strategies; legal actions alone."""
    now, average = theirs.current_policy(), theirs.average_policy()
    sums, current = engine.legal(state.strategy_sum[0]), engine.legal(solver.current(state))
    for row, known in enumerate(engine.tree.names):
        legal = theirs._info_state_nodes[known].legal_actions
        pairs = [(current[row], now)]
        if sums[row].sum() > 0.0:  # else our average is the current row, OpenSpiel's a uniform one
            pairs.append((sums[row] / sums[row].sum(), average))
        for ours, policy in pairs:
            expected = policy.policy_for_key(known)[legal]
            np.testing.assert_allclose(ours[: len(legal)], expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("game", "iterations"),
    [("kuhn_poker", 30), pytest.param("leduc_poker", 5, marks=pytest.mark.slow)],
)
@pytest.mark.parametrize("name", FAMILY)
def test_the_defaults_are_those_of_openspiel(name: str, game: str, iterations: int) -> None:
    engine = TreeEngine(from_openspiel(game))
    solver: Any = SOLVERS[name]()
    state, theirs = solver.init(engine), THEIRS[name](pyspiel.load_game(game))
    for _ in range(iterations):
        state = solver.step(engine, state)
        theirs.evaluate_and_update_policy()
        compare(theirs, solver, engine, state)


@pytest.mark.parametrize("alternating", [False, True])
@pytest.mark.parametrize("plus", [False, True])
def test_either_order_of_updates_is_that_of_openspiel(plus: bool, alternating: bool) -> None:
    engine = TreeEngine(from_openspiel("kuhn_poker"))
    solver: Any = SOLVERS["cfr_plus" if plus else "cfr"](alternating=alternating)
    theirs = cfr._CFRSolver(pyspiel.load_game("kuhn_poker"), alternating, plus, plus)
    state = solver.init(engine)
    for _ in range(8):
        state = solver.step(engine, state)
        theirs.evaluate_and_update_policy()
        compare(theirs, solver, engine, state)


@pytest.mark.parametrize("name", mostly_slow(FAMILY, "cfr_plus", "dcfr"))
def test_two_tables_of_hog_take_turns_as_two_players_of_openspiel(name: str) -> None:
    """Current strategies: averages differ, as own reach is not one number where rows forget."""
    game = compile_game(rules_from({"edition": "su20", "goal": 4, "max_dice": 2}))
    solver: Any = SOLVERS[name]()
    state, theirs = solver.init(game), THEIRS[name](game_of(game.rules))
    for _ in range(3):
        state = solver.step(game, state)
        theirs.evaluate_and_update_policy()
        for known in theirs._info_state_nodes:
            player, _, scores = known.removeprefix("player ").partition(": ")
            at = (int(player), *map(int, scores.split("-")))
            ours = solver._current(state, at[0])[at[1:]]
            expected = theirs.current_policy().policy_for_key(known)
            np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-9)


def test_cfr_plus_solves_leduc_poker_as_openspiel_does() -> None:
    """OpenSpiel's CFR+ comes to a NashConv of 0.0268 in 100 iterations."""
    engine = TreeEngine(from_openspiel("leduc_poker"))
    solver, state = run(engine, "cfr_plus", 100)
    policy = solver.average(engine, state)
    work = engine.workspace(2)
    rate = work.win_rate(np.stack([policy, policy]), Role.FULL_MEMORY).win_rate
    assert 4.0 * engine.tree.largest_payoff * (rate - 0.5) == pytest.approx(0.0268, abs=1e-4)
