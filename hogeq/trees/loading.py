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
    """Find the game: of a path its file, of a name an edition, a registered game, OpenSpiel's.

    ``openspiel:NAME`` is always a game of OpenSpiel.
    """
    if isinstance(given, str | os.PathLike):
        found = _written(os.fspath(given), forget, trust, teams)
    elif isinstance(given, Rules):
        found = given
    elif isinstance(given, Mapping):
        found = rules_from(given)
    else:
        found = _of_object(given, forget, teams)
    for name, option in (("forget", forget), ("teams", teams)):
        if option is not None and isinstance(found, Rules):
            raise HogeqError(refusal(name, option, "for games other than Hog"))
    return found


def _of_object(given: Any, forget: Any, teams: Teams) -> "FlatTree | Positions":
    """Take a tree or positions as they are; lay out rules, or a game of OpenSpiel."""
    from hogeq.trees.flat import FlatTree
    from hogeq.trees.positions import Positions
    from hogeq.trees.rules import GameRules

    if isinstance(given, FlatTree | Positions):
        _require_none(teams)
        return given
    if isinstance(given, GameRules):
        return _of_rules(given, None, forget, teams)
    return _of_openspiel(given, forget, teams)


def _of_rules(
    rules: "GameRules", name: str | None, forget: Any, teams: Teams
) -> "FlatTree | Positions":
    """Take `FEW_POSITIONS` in place of a tree of more than `FEW_NODES`; elsewhere build the tree.

    Where that is endless or too large, it is the positions again, however many. What players
    forget, and teams, need the tree.
    """
    from hogeq.trees.building import NoTreeError
    from hogeq.trees.positions import TooManyError, of_rules
    from hogeq.trees.rules import from_rules

    if forget is not None or teams is not None or rules.players > 2:
        return from_rules(rules, name=name, forget=forget, teams=teams)
    with suppress(HogeqError):  # a tree names faults of rules by their first history
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


def _require_none(teams: Teams) -> None:
    if teams is not None:
        raise HogeqError(refusal("teams", teams, "none for a tree that is built"))


def _written(name: str, forget: Any, trust: bool, teams: Teams) -> "Rules | FlatTree | Positions":
    """Load the game of a run, of a file by its suffix, or of a name."""
    config = GameName(name).config
    if config.get("game"):
        how = GameName(name).how
        for option, given in (("forget", forget), ("teams", teams and teams_text(teams))):
            if given not in {None, how[option]}:
                allowed = f"{how[option] or 'nothing'}, as the run does"
                raise HogeqError(refusal(option, given, allowed))
        GameName(name).load_plugins(trust)
        found = _written(config["game"], how["forget"], trust, how["teams"])
        if not isinstance(found, Rules):
            GameName(name).require_unchanged(found.digest())
        return found
    suffix = GameName(name).tree_suffix
    if suffix == ".efg":
        from hogeq.trees.gambit import from_efg

        return from_efg(name, forget=forget, teams=teams)
    if suffix == ".txt":
        from hogeq.trees.text import from_text

        return from_text(name, forget=forget, teams=teams)
    if suffix == ".npz":
        from hogeq.trees.forgetting import coarser
        from hogeq.trees.saved import load_tree_file

        _require_none(teams)
        if callable(forget):
            raise HogeqError(refusal("forget", forget, "texts, where a tree was saved"))
        return coarser(load_tree_file(name), forget)
    return _named(name, forget, trust, teams)


def require_game(name: str) -> None:
    """Refuse a text that names no game other than Hog; nothing is built."""
    if GameName(name).config.get("game") or name.startswith(OPENSPIEL):
        return
    if GameName(name).tree_suffix:
        try:
            os.stat(name)  # noqa: PTH116 - as a reader would
        except (OSError, ValueError) as error:
            raise HogeqError(unreadable(Path(name), error)) from error
        return
    if name.lower().endswith(".py"):
        raise HogeqError(python_file(printable(name), "game"))
    from hogeq.trees.families import full_name
    from hogeq.trees.rules import GAMES

    called = full_name(name).partition("(")[0]  # without parameters
    known, lacking = [*GAMES], ""
    if called in known:
        return
    try:
        known += _openspiel().pyspiel.registered_names()
    except ValueError as error:
        lacking = f"; {error}"
    if called not in known:
        near = nearest(called, [*EDITIONS, *ALIASES, *known])
        raise HogeqError(f"game: got {shown(name)}; allowed: {ALLOWED}{near}{lacking}")


def _named(name: str, forget: Any, trust: bool, teams: Teams) -> "Rules | FlatTree | Positions":
    """Find a game by its name: an edition of Hog, a registered game, else one of OpenSpiel."""
    if name.startswith(OPENSPIEL):
        return _of_openspiel(name.removeprefix(OPENSPIEL), forget, teams)
    if name.lower().endswith(".py"):
        require_game(name)
    if GameName(name).is_hog:
        return GameName(name).rules(trust)
    from hogeq.trees.families import full_name
    from hogeq.trees.rules import named_rules

    rules = named_rules(full_name(name))
    if rules is not None:
        return _of_rules(rules, name, forget, teams)
    require_game(name)
    return _of_openspiel(name, forget, teams)


def _of_openspiel(game: Any, forget: Any, teams: Teams) -> "FlatTree":
    tree: FlatTree = _openspiel().from_openspiel(game, forget=forget, teams=teams)
    return tree


def _openspiel() -> Any:
    try:
        from hogeq.trees import openspiel
    except ImportError as error:
        raise HogeqError(str(error)) from error
    return openspiel


def load_tree(given: Any, forget: Any = None, teams: Teams = None) -> "FlatTree":
    """Find a game other than Hog."""
    from hogeq.trees.flat import FlatTree

    found = find_game(given, forget, teams=teams)
    if isinstance(found, Rules):
        raise HogeqError(refusal("game", found.name, "games other than Hog"))
    if not isinstance(found, FlatTree):
        raise HogeqError(refusal("game", found.name, "games that have a tree"))
    return found
