"""Hog as a game of OpenSpiel, and policies both ways; the only package that imports OpenSpiel.

Importing it registers ``python_hog`` (Lanctot et al. 2019, "OpenSpiel: a framework for
reinforcement learning in games")::

    import hogeq.trees.openspiel
    game = pyspiel.load_game("python_hog(edition=su20,goal=6,max_dice=2)")

Its parameters are ``edition``, ``goal``, ``max_dice``, ``sides``; ``parts``, other parts of the
rules to override, ``swap:double+hog_wild:true``, say; and ``memory``. Without memory an
information state is the pair (own score, opponent's score) and nothing else, as a strategy of the
contest sees the game. That game has imperfect recall, which much of OpenSpiel assumes away: CFR
loses its guarantee there, and best responses, NashConv and exploitability may be wrong. With
memory an information state is everything that happened. Both are texts; there are no tensors.

A fair coin is tossed first. Then turns follow: a choice of dice and, unless none are rolled, a
chance node whose outcomes are the points that can be scored, with exact probabilities. The winner
gets 1, the loser -1.
"""

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hogeq.rules import Rules
from hogeq.strategies.profiles import seat_tables
from hogeq.strategies.strategy import strategy_of_shape
from hogeq.support.aliases import Floats
from hogeq.support.messages import not_installed

try:
    import pyspiel
    from open_spiel.python.policy import TabularPolicy
except ImportError as _missing:
    raise ImportError(
        not_installed("OpenSpiel", "its games and its solvers", "open_spiel")
    ) from _missing

from hogeq.trees.openspiel.game import NAME, game_of, rules_of

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
    regrets = np.zeros((2, rules.size, rules.size, rules.num_actions))
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


def to_tabular(game: Any, first: ArrayLike, second: ArrayLike | None = None) -> Any:
    """Give strategies as a tabular policy of OpenSpiel."""
    rules = rules_of(game.get_parameters())
    shape = (rules.size, rules.size, rules.num_actions)
    tables = [
        strategy_of_shape(shape, given).policy
        for given in (first, first if second is None else second)
    ]
    policy = TabularPolicy(game)
    for row, state in zip(policy.action_probability_array, policy.states, strict=True):
        player = state.current_player()
        row[:] = tables[player][state.scores(player)]
    return policy


def from_tabular(game: Any, policy: Any, player: int = 0) -> Floats:
    """Give one player's part of a tabular policy of OpenSpiel as a policy."""
    parameters = game.get_parameters()
    if parameters["memory"]:
        raise ValueError(f"{NAME}: a policy of the game with memory; allowed: memory=False")
    return seat_tables(policy, rules_of(parameters), "OpenSpiel's policy")[player]
