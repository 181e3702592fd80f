"""OpenSpiel's own solvers, iteration by iteration."""

import warnings
from typing import Any

import numpy as np
import pyspiel

from hogeq.rules import Rules
from hogeq.support.aliases import Floats
from hogeq.trees.openspiel.game import game_of

ALGORITHMS = {
    "cfr": pyspiel.CFRSolver,
    "cfr_plus": pyspiel.CFRPlusSolver,
    "external_mccfr": pyspiel.ExternalSamplingMCCFRSolver,
    "outcome_mccfr": pyspiel.OutcomeSamplingMCCFRSolver,
}
"""OpenSpiel's own solvers, compiled, by the names of our configs."""

_TABLE = "[SolverValuesTable]"

_alive: dict[str, Any] = {}  # the last CFR+ solver, by its state


def start(algorithm: str, rules: Rules, seed: int) -> str:
    """State of a new solver, as OpenSpiel writes it."""
    return str(_new(algorithm, rules, seed).__getstate__())


def advance(algorithm: str, rules: Rules, seed: int, state: str, done: int, more: int) -> str:
    """Run a solver on from its state."""
    solver = _alive.pop(state, None)
    if solver is None and algorithm == "cfr_plus":
        # A restored CFR+ solver goes on as plain CFR (OpenSpiel 2.0.2): do it all again.
        solver = _new(algorithm, rules, seed)
        _iterate(solver, done)
    elif solver is None:
        kind = ALGORITHMS[algorithm]
        solver = kind.__new__(kind)
        solver.__setstate__(state)
    _iterate(solver, more)
    state = str(solver.__getstate__())
    if algorithm == "cfr_plus":
        _alive.clear()
        _alive[state] = solver
    return state


def _new(algorithm: str, rules: Rules, seed: int) -> Any:
    with warnings.catch_warnings():  # none of these takes a best response
        warnings.simplefilter("ignore")
        game, make = game_of(rules), ALGORITHMS[algorithm]
    return make(game, seed=seed) if algorithm.endswith("mccfr") else make(game)


def _iterate(solver: Any, times: int) -> None:
    for _ in range(times):
        if hasattr(solver, "run_iteration"):
            solver.run_iteration()
        else:
            solver.evaluate_and_update_policy()


def tables_of(rules: Rules, state: str) -> tuple[Floats, Floats]:
    """Read regrets and cumulative policies out of a solver's state."""
    if "[Meta]\nVersion: 1\n" not in state or _TABLE not in state:
        raise ValueError("OpenSpiel: a solver's state of unknown format; allowed: version 1")
    regrets = np.zeros((2, rules.goal, rules.goal, rules.max_dice + 1))
    sums = np.zeros_like(regrets)
    cells = iter(state.partition(_TABLE)[2].strip().split("<~>"))
    # Information state and its values take turns; a table that is still empty is one empty text.
    for key, values in zip(cells, cells, strict=False):
        player, _, scores = key.removeprefix("player ").partition(": ")
        at = (int(player), *map(int, scores.split("-")))
        _, regret, policy, _ = values.split(";")
        regrets[at] = [float.fromhex(number) for number in regret.split(",")]
        sums[at] = [float.fromhex(number) for number in policy.split(",")]
    return regrets, sums
