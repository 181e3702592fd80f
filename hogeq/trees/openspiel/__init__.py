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

from hogeq.strategies.strategy import strategy_of_shape
from hogeq.support.files import redirected
from hogeq.support.messages import HogeqError, nearest, not_installed, one_line, shown, unknown_key
from hogeq.support.teams import Teams
from hogeq.trees.building import Node, flatten
from hogeq.trees.flat import CHANCE, TERMINAL, FlatTree, Forget
from hogeq.trees.forgetting import coarser
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
    game: Any, *, forget: str | Forget | None = None, teams: Teams = None
) -> FlatTree:
    """Build the tree of a game of OpenSpiel, or of its name; moves at once become turns."""
    if isinstance(game, str):
        game = _load(game)
    sides = sides_of(teams, game.num_players(), game.get_type().short_name)
    check(game, is_one_team=sides is not None and not any(sides))
    name, kind = str(game), game.get_type()
    if kind.dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
        game = pyspiel.convert_to_turn_based(game)
    look = partial(_seen, kind.provides_information_state_string)
    root, describe = game.new_initial_state(), partial(history, game)
    return coarser(flatten(name, root, look, describe, forget=forget, sides=sides), forget)


def _load(name: str) -> Any:
    """Load a game by its name and parameters."""
    known = pyspiel.registered_names()
    if name.partition("(")[0] not in known:  # OpenSpiel would list them all
        raise HogeqError(
            f"game: got {shown(name)}; allowed: a game of OpenSpiel{nearest(name, known)}"
        )
    if "efg_game" in name:  # OpenSpiel reads another game, or ends, where labels are equal, say
        raise HogeqError(f"game: got {shown(name)}; allowed: the name of the file, FILE.efg")
    top = re.sub(r"\([^()]*\)", "", name.partition("(")[2].removesuffix(")"))  # not of inner games
    given = re.findall(r"(\w+)=", top)
    kinds = {kind.short_name: kind for kind in pyspiel.registered_games()}
    takes = kinds[name.partition("(")[0]].parameter_specification
    if unknown := [one for one in given if one not in takes]:
        where = f"game {name.partition('(')[0]}"
        raise HogeqError(unknown_key(where, unknown[0], name, takes))
    if again := [one for one in given if given.count(one) > 1]:
        raise HogeqError(f"game: got {shown(name)}; {again[0]} is given twice; allowed: once")
    try:
        with redirected(2):  # it writes lines of its own before it raises
            return pyspiel.load_game(name)
    except Exception as error:  # noqa: BLE001 - OpenSpiel raises what C++ throws
        reason = one_line(error)
        if _SOURCE.search(reason):  # a condition of C++, with the line of its file
            reason = "OpenSpiel refuses a value; allowed: those that its game takes"
        raise HogeqError(f"game: got {shown(name)}: {reason}") from None


def check(game: Any, *, is_one_team: bool = False) -> None:
    """Refuse games that no theory of one side, or of two with a constant sum, covers."""
    kind, name = game.get_type(), game.get_type().short_name
    turns, at_once = pyspiel.GameType.Dynamics.SEQUENTIAL, pyspiel.GameType.Dynamics.SIMULTANEOUS
    if kind.dynamics not in (turns, at_once):
        raise HogeqError(f"{name}: is a mean field game; allowed: games of one or two players")
    sums = pyspiel.GameType.Utility.ZERO_SUM, pyspiel.GameType.Utility.CONSTANT_SUM
    if game.num_players() == 2 and kind.utility not in sums and not is_one_team:
        raise HogeqError(f"{name}: is not zero-sum; allowed: zero-sum and constant-sum games")
    if kind.chance_mode == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC:
        raise HogeqError(f"{name}: chance is sampled; allowed: games that list its outcomes")
    sees_all = kind.information == pyspiel.GameType.Information.PERFECT_INFORMATION
    if not kind.provides_information_state_string and not (sees_all and kind.dynamics == turns):
        raise HogeqError(f"{name}: has no information states; allowed: games that name them")


def _seen(has_states: bool, state: Any) -> Node:
    player = int(state.current_player())
    if player >= 0:
        legal = state.legal_actions()
        known = state.information_state_string(player) if has_states else state.history_str()
        return Node(player, known, 0.0, [*zip(legal, repeat(1.0), map(state.child, legal))])
    if state.is_terminal():
        return Node(TERMINAL, payoffs=state.returns())
    moves = [(move, chance, state.child(move)) for move, chance in state.chance_outcomes()]
    return Node(CHANCE, moves=moves)


def history(game: Any, moves: Sequence[int]) -> list[str]:
    """Write the moves of a history in the game's own words."""
    state, words = game.new_initial_state(), []
    for move in moves:
        words.append(state.action_to_string(state.current_player(), move))
        state.apply_action(move)
    return words
