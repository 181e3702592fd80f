"""OpenSpiel's games and solvers, and Hog as one of them; the only package that imports OpenSpiel.

Importing it registers ``python_hog`` (Lanctot et al. 2019, "OpenSpiel: a framework for
reinforcement learning in games"), ``python_hog(edition=su20,goal=6,max_dice=2)`` say. Other
parameters are ``sides``; ``parts``, ``swap:double+hog_wild:true`` say; and ``memory``: without it a
player sees the scores alone and has imperfect recall, which OpenSpiel's best responses, NashConv
and CFR assume away (docs/openspiel-best-response.md).
"""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hogeq.rules import Rules
from hogeq.strategies.strategy import strategy_of_shape
from hogeq.support.aliases import Floats
from hogeq.support.messages import nearest, not_installed, one_line, shown
from hogeq.trees.flat import (
    CHANCE,
    MOST_NODES,
    TERMINAL,
    FlatTree,
    Forget,
    Node,
    flatten,
    require_players,
)
from hogeq.trees.forgetting import coarser

try:
    import pyspiel
    from open_spiel.python.policy import TabularPolicy
except ImportError as _missing:
    raise ImportError(
        not_installed("OpenSpiel", "its games and its solvers", "open_spiel")
    ) from _missing

from hogeq.trees.openspiel.game import game_of, rules_of

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


def from_openspiel(
    game: Any, *, forget: str | Forget | None = None, most_nodes: int = MOST_NODES
) -> FlatTree:
    """Build the tree of a game of OpenSpiel, or of its name; moves at once become turns."""
    if isinstance(game, str):
        game = _load(game)
    check(game)
    name, kind = str(game), game.get_type()
    if kind.dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
        game = pyspiel.convert_to_turn_based(game)
    look = partial(_seen, kind.provides_information_state_string)
    root, describe = game.new_initial_state(), partial(history, game)
    tree = flatten(name, root, look, describe, most_nodes, forget=forget)
    return coarser(replace(tree, source=f"OpenSpiel {version('open_spiel')}"), forget)


def _load(name: str) -> Any:
    """Load a game by its name and parameters."""
    known = pyspiel.registered_names()
    if name.partition("(")[0] not in known:  # OpenSpiel would list them all
        raise ValueError(
            f"game: got {shown(name)}; allowed: a game of OpenSpiel{nearest(name, known)}"
        )
    if "efg_game" in name:  # OpenSpiel reads another game, or ends, where labels are equal, say
        raise ValueError(f"game: got {shown(name)}; allowed: the name of the file, FILE.efg")
    try:
        return pyspiel.load_game(name)
    except Exception as error:  # noqa: BLE001 - OpenSpiel raises what C++ throws
        raise ValueError(f"game: {one_line(error)}") from None


def check(game: Any) -> None:
    """Refuse games that no theory of one player, or of two with a constant sum, covers."""
    kind, name = game.get_type(), game.get_type().short_name
    require_players(name, game.num_players())
    turns, at_once = pyspiel.GameType.Dynamics.SEQUENTIAL, pyspiel.GameType.Dynamics.SIMULTANEOUS
    if kind.dynamics not in (turns, at_once):
        raise ValueError(f"{name}: is a mean field game; allowed: games of one or two players")
    sums = pyspiel.GameType.Utility.ZERO_SUM, pyspiel.GameType.Utility.CONSTANT_SUM
    if game.num_players() == 2 and kind.utility not in sums:
        raise ValueError(f"{name}: is not zero-sum; allowed: zero-sum and constant-sum games")
    if kind.chance_mode == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC:
        raise ValueError(f"{name}: chance is sampled; allowed: games that list its outcomes")
    sees_all = kind.information == pyspiel.GameType.Information.PERFECT_INFORMATION
    if not kind.provides_information_state_string and not (sees_all and kind.dynamics == turns):
        raise ValueError(f"{name}: has no information states; allowed: games that name them")


def _seen(has_states: bool, state: Any) -> Node:
    if state.is_terminal():
        return Node(TERMINAL, payoffs=state.returns())
    if state.is_chance_node():
        moves = [(move, chance, state.child(move)) for move, chance in state.chance_outcomes()]
        return Node(CHANCE, moves=moves)
    player = state.current_player()
    known = state.information_state_string(player) if has_states else state.history_str()
    moves = [(move, 1.0, state.child(move)) for move in state.legal_actions()]
    return Node(player, known, moves=moves)


def history(game: Any, moves: Sequence[int]) -> list[str]:
    """Write the moves of a history in the game's own words."""
    state, words = game.new_initial_state(), []
    for move in moves:
        who = "chance" if state.is_chance_node() else f"player {state.current_player()}"
        words.append(f"{who}: {state.action_to_string(state.current_player(), move)}")
        state.apply_action(move)
    return words
