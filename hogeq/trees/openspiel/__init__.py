"""OpenSpiel's games, and Hog as one of them; the only package that imports OpenSpiel.

Importing it registers ``python_hog`` (Lanctot et al. 2019, "OpenSpiel: a framework for
reinforcement learning in games"), ``python_hog(edition=su20,goal=6,max_dice=2)`` say. Other
parameters are ``sides``; ``parts``, ``swap:double+hog_wild:true`` say; and ``memory``: without it a
player sees the scores alone and has imperfect recall, which OpenSpiel's best responses, NashConv
and CFR assume away (docs/openspiel-best-response.md).
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

from numpy.typing import ArrayLike

from hogeq.strategies.strategy import strategy_of_shape
from hogeq.support.messages import nearest, not_installed, one_line, shown
from hogeq.trees.flat import CHANCE, MOST_NODES, TERMINAL, FlatTree, Node, flatten
from hogeq.trees.forgetting import Forget, coarser

try:
    import pyspiel
    from open_spiel.python.policy import TabularPolicy
except ImportError as _missing:
    raise ImportError(not_installed("OpenSpiel", "its games", "open_spiel")) from _missing

from hogeq.trees.openspiel.game import game_of as game_of
from hogeq.trees.openspiel.game import rules_of


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
    """Build the tree of a game of OpenSpiel, or of its name; see `hogeq.Game.from_openspiel`."""
    if isinstance(game, str):
        known = pyspiel.registered_names()
        if game.partition("(")[0] not in known:  # OpenSpiel would list them all
            raise ValueError(
                f"game: got {shown(game)}; allowed: a game of OpenSpiel{nearest(game, known)}"
            )
        if "efg_game" in game:  # OpenSpiel reads another game, or ends, where labels are equal, say
            raise ValueError(f"game: got {shown(game)}; allowed: the name of the file, FILE.efg")
        try:
            game = pyspiel.load_game(game)
        except Exception as error:  # noqa: BLE001 - OpenSpiel raises what C++ throws
            raise ValueError(f"game: {one_line(error)}") from None
    check(game)
    look = partial(_seen, forget if callable(forget) else (lambda _, known: known))
    describe = partial(history, game)
    tree = flatten(str(game), game.new_initial_state(), look, describe, most_nodes)
    return coarser(tree, forget) if isinstance(forget, str) else tree


def check(game: Any) -> None:
    """Refuse games that no zero-sum theory of two players covers."""
    kind, name = game.get_type(), game.get_type().short_name
    if game.num_players() != 2:
        raise ValueError(f"{name}: has {game.num_players()} players; allowed: 2")
    if kind.dynamics != pyspiel.GameType.Dynamics.SEQUENTIAL:
        raise ValueError(f"{name}: players move at once; allowed: sequential games")
    if kind.utility != pyspiel.GameType.Utility.ZERO_SUM:
        raise ValueError(f"{name}: is not zero-sum; allowed: zero-sum games")
    if kind.chance_mode == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC:
        raise ValueError(f"{name}: chance is sampled; allowed: games that list its outcomes")
    if not kind.provides_information_state_string:
        raise ValueError(f"{name}: has no information states; allowed: games that name them")


def _seen(forget: Forget, state: Any) -> Node:
    if state.is_terminal():
        return Node(TERMINAL, payoff=state.returns()[0])
    if state.is_chance_node():
        moves = [(move, chance, state.child(move)) for move, chance in state.chance_outcomes()]
        return Node(CHANCE, moves=moves)
    player = state.current_player()
    known = forget(player, state.information_state_string(player))
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
