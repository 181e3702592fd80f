"""The game that a name, a file or an object means: Hog by some rules, or a tree.

Trees are imported where they are used: a command about Hog needs none.
"""

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hogeq.rules import ALIASES, EDITIONS, Rules, rules_from
from hogeq.rules.reading import OPENSPIEL, GameName, python_file
from hogeq.support.messages import HogeqError, nearest, printable, refusal, shown, unreadable
from hogeq.support.teams import Teams, teams_text

if TYPE_CHECKING:
    from hogeq.trees.flat import FlatTree
    from hogeq.trees.positions import Positions
    from hogeq.trees.rules import GameRules

FEW_NODES: Final = 1_000_000  # of a tree that is built, however few its positions
FEW_POSITIONS: Final = 200_000  # that take the place of a larger tree

ALLOWED: Final = (
    "an edition of Hog, a mapping or YAML file of rule parts, a run, a .efg or .txt file, a .npz "
    "file of a tree, a game of OpenSpiel or of the papers (3K4) by its name, or rules of one's own "
    "that --plugin FILE.py brings"
)


def find_game(
    given: Any, forget: Any = None, trust: bool = False, teams: Teams = None
) -> "Rules | FlatTree | Positions":
    """Load the game that a path, a name or an object stands for.

    A path means its file. A name means an edition of Hog, a registered game or a game of OpenSpiel,
    in this order; ``openspiel:NAME`` is always a game of OpenSpiel. A mapping holds parts of Hog's
    rules. `forget` makes information sets coarser, `teams` joins players; both are for games other
    than Hog. `trust` permits running the Python plugins that a run or a file of rules names.
    """
    if isinstance(given, str | os.PathLike):
        game = _game_of_text(os.fspath(given), forget, trust, teams)
    elif isinstance(given, Rules):
        game = given
    elif isinstance(given, Mapping):
        game = rules_from(given)
    else:
        game = _game_of_object(given, forget, teams)
    for name, option in (("forget", forget), ("teams", teams)):
        if option is not None and isinstance(game, Rules):
            raise HogeqError(refusal(name, option, "for games other than Hog"))
    return game


def _game_of_object(given: Any, forget: Any, teams: Teams) -> "FlatTree | Positions":
    """Return a tree or positions as they are; build them from rules or a game of OpenSpiel."""
    from hogeq.trees.flat import FlatTree
    from hogeq.trees.positions import Positions
    from hogeq.trees.rules import GameRules

    if isinstance(given, FlatTree | Positions):
        _require_no_teams(teams)
        return given
    if isinstance(given, GameRules):
        return _build_from_rules(given, None, forget, teams)
    if not hasattr(given, "new_initial_state"):  # a method of OpenSpiel's games
        raise HogeqError(refusal("game", given, ALLOWED))
    return _build_from_openspiel(given, forget, teams)


def _build_from_rules(
    rules: "GameRules", name: str | None, forget: Any, teams: Teams
) -> "FlatTree | Positions":
    """Build the tree of a game, or the graph of its positions where the tree would be large.

    1. With `forget`, teams or three players and more it is always the tree.
    2. At most `FEW_POSITIONS` positions that stand for more than `FEW_NODES` nodes: positions.
    3. Otherwise the tree; if that is endless or too large, the positions, however many they are.
    """
    from hogeq.trees.building import NoTreeError
    from hogeq.trees.positions import TooManyError, of_rules
    from hogeq.trees.rules import from_rules

    if forget is not None or teams is not None or rules.players > 2:
        return from_rules(rules, name=name, forget=forget, teams=teams)
    with suppress(HogeqError):  # building the tree names a fault of the rules by its first history
        positions = of_rules(rules, name, FEW_POSITIONS)
        if positions.num_histories > FEW_NODES:
            return positions
    try:
        return from_rules(rules, name=name)
    except NoTreeError as no_tree:
        try:
            return of_rules(rules, name)
        except TooManyError as error:
            raise HogeqError(f"{no_tree}, and {error}") from error


def _require_no_teams(teams: Teams) -> None:
    """Refuse teams for a tree that is built already."""
    if teams is not None:
        raise HogeqError(refusal("teams", teams, "none for a tree that is built"))


def _game_of_text(
    name: str, forget: Any, trust: bool, teams: Teams
) -> "Rules | FlatTree | Positions":
    """Load the game of a run's folder, of a file by its suffix, or of a name."""
    if GameName(name).config.get("game"):  # of a run; the config is empty if the text names none
        return _game_of_run(GameName(name), forget, trust, teams)
    suffix = GameName(name).tree_suffix
    if suffix == ".efg":
        from hogeq.trees.gambit import from_efg

        return from_efg(name, forget=forget, teams=teams)
    if suffix == ".txt":
        from hogeq.trees.text import from_text

        return from_text(name, forget=forget, teams=teams)
    if suffix == ".npz":
        from hogeq.trees.forgetting import forget_by_name
        from hogeq.trees.saved import load_tree_file

        _require_no_teams(teams)
        if callable(forget):
            raise HogeqError(refusal("forget", forget, "texts, where a tree was saved"))
        return forget_by_name(load_tree_file(name), forget)
    return _find_named(name, forget, trust, teams)


def _game_of_run(
    run: GameName, forget: Any, trust: bool, teams: Teams
) -> "Rules | FlatTree | Positions":
    """Load the game of a run's folder with the run's own `forget` and `teams`; refuse others.

    A game that has changed since the run is refused, too.
    """
    run_options = run.how
    for option, value in (("forget", forget), ("teams", teams and teams_text(teams))):
        if value not in {None, run_options[option]}:
            allowed = f"{run_options[option] or 'nothing'}, as the run does"
            raise HogeqError(refusal(option, value, allowed))
    run.load_plugins(trust)
    name = run.config["game"]
    game = _game_of_text(name, run_options["forget"], trust, run_options["teams"])
    if not isinstance(game, Rules):
        run.require_unchanged(game.digest())
    return game


def require_game(name: str) -> None:
    """Raise `HogeqError` unless a text names a game other than Hog; build nothing."""
    is_run = GameName(name).config.get("game")
    if is_run or name.startswith(OPENSPIEL):
        return
    if GameName(name).tree_suffix:  # a file: it must exist
        try:
            os.stat(name)  # noqa: PTH116 - raises what reading the file would
        except (OSError, ValueError) as error:
            raise HogeqError(unreadable(Path(name), error)) from error
        return
    if name.lower().endswith(".py"):
        raise HogeqError(python_file(printable(name), "game"))
    from hogeq.trees.families import full_name
    from hogeq.trees.rules import GAMES

    base_name = full_name(name).partition("(")[0]  # without parameters
    known_names = [*GAMES]
    if base_name in known_names:
        return
    openspiel_fault = ""  # why OpenSpiel's games are not known: it is not installed
    try:
        known_names += _import_openspiel().pyspiel.registered_names()
    except ValueError as error:
        openspiel_fault = f"; {error}"
    if base_name not in known_names:
        near = nearest(base_name, [*EDITIONS, *ALIASES, *known_names])
        raise HogeqError(f"game: got {shown(name)}; allowed: {ALLOWED}{near}{openspiel_fault}")


def _find_named(
    name: str, forget: Any, trust: bool, teams: Teams
) -> "Rules | FlatTree | Positions":
    """Find a game by its name: an edition of Hog, a registered game, else one of OpenSpiel."""
    if name.startswith(OPENSPIEL):
        return _build_from_openspiel(name.removeprefix(OPENSPIEL), forget, teams)
    if name.lower().endswith(".py"):
        require_game(name)  # raises: a file of code is no game
    if GameName(name).is_hog:
        return GameName(name).rules(trust)
    from hogeq.trees.families import full_name
    from hogeq.trees.rules import named_rules

    rules = named_rules(full_name(name))
    if rules is not None:
        return _build_from_rules(rules, name, forget, teams)
    require_game(name)  # raises if OpenSpiel has no game of this name
    return _build_from_openspiel(name, forget, teams)


def _build_from_openspiel(game: Any, forget: Any, teams: Teams) -> "FlatTree":
    tree: FlatTree = _import_openspiel().from_openspiel(game, forget=forget, teams=teams)
    return tree


def _import_openspiel() -> Any:
    try:
        from hogeq.trees import openspiel
    except ImportError as error:
        raise HogeqError(str(error)) from error
    return openspiel
