"""OpenSpiel's games, and Hog as one of them; the only package that imports OpenSpiel.

Importing it registers ``python_hog`` (Lanctot et al. 2019, "OpenSpiel: a framework for
reinforcement learning in games"), ``python_hog(edition=su20,goal=6,max_dice=2)`` say. Other
parameters are ``sides``; ``parts``, ``swap:double+hog_wild:true`` say; and ``memory``: without it a
player sees the scores alone and has imperfect recall, which OpenSpiel's best responses, NashConv
and CFR assume away (docs/openspiel-best-response.md).
"""

import re
from collections.abc import Sequence
from functools import partial
from itertools import repeat
from typing import Any, Final

from numpy.typing import ArrayLike

from hogeq.strategies.conversion import strategy_of_shape
from hogeq.support.files import redirected
from hogeq.support.messages import HogeqError, nearest, not_installed, one_line, shown, unknown_key
from hogeq.support.teams import Teams
from hogeq.trees.building import Node, flatten
from hogeq.trees.flat import CHANCE, TERMINAL, FlatTree, Forget
from hogeq.trees.forgetting import forget_by_name
from hogeq.trees.teams import sides_of

try:
    import pyspiel
    from open_spiel.python.policy import TabularPolicy
except ImportError as _missing:
    raise ImportError(not_installed("OpenSpiel", "its games", "open_spiel")) from _missing

from hogeq.trees.openspiel.game import game_of as game_of
from hogeq.trees.openspiel.game import rules_of

_SOURCE: Final = re.compile(r"\.(?:cc|h):\d+")


def to_tabular(game: Any, first: ArrayLike, second: ArrayLike | None = None) -> Any:
    """Convert two strategies of Hog to a tabular policy of OpenSpiel's game ``python_hog``.

    `first` and `second` are by own and opponent's score, as matrices or policies; without `second`
    both players use `first`.
    """
    rules = rules_of(game.get_parameters())
    shape = (rules.size, rules.size, rules.num_actions)
    strategies = (first, first if second is None else second)
    tables = [strategy_of_shape(shape, strategy, has_scores=True).policy for strategy in strategies]
    policy = TabularPolicy(game)
    for row, state in zip(policy.action_probability_array, policy.states, strict=True):
        player = state.current_player()
        row[:] = tables[player][state.scores(player)]
    return policy


def from_openspiel(
    game: Any, *, forget: str | Forget | None = None, teams: Teams = None
) -> FlatTree:
    """Build the tree of a game of OpenSpiel, or of its name.

    Simultaneous moves become turns, in which a player does not see the moves before. Raises
    `HogeqError` for games that hogeq's theory does not cover.
    """
    if isinstance(game, str):
        game = _load(game)
    sides = sides_of(teams, game.num_players(), game.get_type().short_name)
    check(game, is_one_team=sides is not None and not any(sides))
    name = str(game)
    game_type = game.get_type()
    if game_type.dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
        game = pyspiel.convert_to_turn_based(game)
    node_of_state = partial(_node, game_type.provides_information_state_string)
    root = game.new_initial_state()
    describe = partial(history, game)
    # A function that forgets makes the information sets of the tree; a name of one merges those of
    # the whole tree afterwards.
    tree = flatten(name, root, node_of_state, describe, forget=forget, sides=sides)
    return forget_by_name(tree, forget)


def _load(name: str) -> Any:
    """Load a game of OpenSpiel by its name and parameters, ``leduc_poker(players=3)`` say.

    Raises `HogeqError` for unknown games, for unknown or repeated parameters, and for values that
    OpenSpiel refuses.
    """
    registered_names = pyspiel.registered_names()
    short_name, _, inside = name.partition("(")
    if short_name not in registered_names:  # OpenSpiel would list them all
        near = nearest(name, registered_names)
        raise HogeqError(f"game: got {shown(name)}; allowed: a game of OpenSpiel{near}")
    if "efg_game" in name:  # it misreads files with equal labels, or ends the process
        raise HogeqError(f"game: got {shown(name)}; allowed: the name of the file, FILE.efg")
    outer = re.sub(r"\([^()]*\)", "", inside.removesuffix(")"))  # without those of inner games
    parameters = re.findall(r"(\w+)=", outer)
    types = {game_type.short_name: game_type for game_type in pyspiel.registered_games()}
    allowed = types[short_name].parameter_specification
    if unknown := [parameter for parameter in parameters if parameter not in allowed]:
        raise HogeqError(unknown_key(f"game {short_name}", unknown[0], name, allowed))
    if repeated := [parameter for parameter in parameters if parameters.count(parameter) > 1]:
        raise HogeqError(f"game: got {shown(name)}; {repeated[0]} is given twice; allowed: once")
    try:
        with redirected(2):  # standard error: OpenSpiel writes to it before it raises
            return pyspiel.load_game(name)
    except Exception as error:  # noqa: BLE001 - OpenSpiel raises what C++ throws
        reason = one_line(error)
        if _SOURCE.search(reason):  # an assertion in C++, with file and line: no use to the user
            reason = "OpenSpiel refuses a value; allowed: those that its game takes"
        raise HogeqError(f"game: got {shown(name)}: {reason}") from None


def check(game: Any, *, is_one_team: bool = False) -> None:
    """Raise `HogeqError` unless a game has one side, or two of a constant sum, and explicit chance.

    `is_one_team` says that all players are one team. A game must name its information states, or be
    of perfect information and turns, so that its histories do.
    """
    game_type = game.get_type()
    name = game_type.short_name
    sequential = pyspiel.GameType.Dynamics.SEQUENTIAL
    simultaneous = pyspiel.GameType.Dynamics.SIMULTANEOUS
    if game_type.dynamics not in (sequential, simultaneous):
        raise HogeqError(f"{name}: is a mean field game; allowed: games of one or two players")
    sums = pyspiel.GameType.Utility.ZERO_SUM, pyspiel.GameType.Utility.CONSTANT_SUM
    if game.num_players() == 2 and game_type.utility not in sums and not is_one_team:
        raise HogeqError(f"{name}: is not zero-sum; allowed: zero-sum and constant-sum games")
    if game_type.chance_mode == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC:
        raise HogeqError(f"{name}: chance is sampled; allowed: games that list its outcomes")
    sees_all = game_type.information == pyspiel.GameType.Information.PERFECT_INFORMATION
    history_tells = sees_all and game_type.dynamics == sequential
    if not game_type.provides_information_state_string and not history_tells:
        raise HogeqError(f"{name}: has no information states; allowed: games that name them")


def _node(has_information_states: bool, state: Any) -> Node:
    """Read the node of a state of OpenSpiel; without information states, histories name them."""
    player = int(state.current_player())
    if player >= 0:
        legal = state.legal_actions()
        if has_information_states:
            infoset = state.information_state_string(player)
        else:
            infoset = state.history_str()
        return Node(player, infoset, [*zip(legal, repeat(1.0), map(state.child, legal))])
    if state.is_terminal():
        return Node(TERMINAL, payoffs=state.returns())
    moves = [(move, chance, state.child(move)) for move, chance in state.chance_outcomes()]
    return Node(CHANCE, moves=moves)


def history(game: Any, moves: Sequence[int]) -> list[str]:
    """Write the moves of a history in the game's own words."""
    state = game.new_initial_state()
    words = []
    for move in moves:
        words.append(state.action_to_string(state.current_player(), move))
        state.apply_action(move)
    return words
