"""When an option has a use: with one kind of game only, or beside another option.

An option that is given where it has no use is refused, whatever the command.
"""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from hogeq.rules.reading import config_of, is_hog
from hogeq.support.messages import BadInputError, one_line

Given = Mapping[str, Any]
"""Options and arguments that were given, by name, ``--starts`` say; no defaults."""


class When(NamedTuple):
    """A condition on a call, in the words of help and refusals: allowed only ..."""

    words: str
    holds: Callable[[Given], object]


def beside(*options: str) -> When:
    """Require one of some options."""
    return When(f"with {' or '.join(options)}", lambda given: not given.keys().isdisjoint(options))


def without(option: str, more: str = "") -> When:
    """Require that an option is not given."""
    return When(f"without {option}{more}", lambda given: option not in given)


def _is_folder(given: Given) -> bool:
    return "--out" in given and not Path(given["--out"]).suffix


PICTURES: Final = ("--html", "--plot", "--out")
"""Options of the commands that write per cents to files."""

TREE_NAME: Final = "the game other than Hog"
"""Key, beside those of the options, of the game that a call is about if that is not Hog."""

NEVER: Final = When("elsewhere", lambda _: False)
"""Of options of all commands: this one does not take it."""

HOG: Final = When("for Hog", lambda given: TREE_NAME not in given)
TREE: Final = When("for games other than Hog", lambda given: TREE_NAME in given)
FOLDER: Final = When("with --out FOLDER", _is_folder)
ENTRIES: Final = When("without --out FOLDER", lambda given: not _is_folder(given))
NEW_RUN: Final = without("--resume")
SOLVING: Final = When("with run", lambda given: given["what"] == "run")
TEXT: Final = without("--json", ", which gives all")
DRAWN: Final = When(
    "without --json, or with a page or a picture",
    lambda given: "--json" not in given or not given.keys().isdisjoint(PICTURES),
)
CODE: Final = When(
    "for Hog, or with --plugin or a run that has plugins",
    lambda given: (
        TREE_NAME not in given
        or "--plugin" in given
        or config_of(Path(given[TREE_NAME])).get("plugins")
    ),
)

ALWAYS: Final = When("everywhere", lambda _: True)
"""Of ``--digits``: this command has per cents beside ``--json`` too."""

USES: Final[dict[str, dict[When, str]]] = {
    "attack": {
        HOG: "--certify --certificate --digits",
        CODE: "--trust",
        beside("--certify"): "--certificate",
        beside("--until-saturated"): "--most-kicks",
        beside("--out", "--certificate"): "--overwrite",
    },
    "attack-field": {beside("--out"): "--overwrite"},
    "audit": {HOG: "--goal --max-dice", CODE: "--trust", NEVER: "--digits"},
    "beliefs": {TEXT: "--top", DRAWN: "--digits"},
    "bench-games": {SOLVING: "--kicks --seconds", NEVER: "--plugin --trust --digits"},
    "board": {NEVER: "--digits"},
    "check": {DRAWN: "--digits"},
    "compare": {HOG: "--start --digits", CODE: "--trust"},
    "diff": {HOG: "--plot", CODE: "--trust"},
    "doctor": {NEVER: "--digits"},
    "equilibrium": {
        TREE: "--method --policies",
        HOG: "--digits",
        CODE: "--trust",
        beside("--out"): "--overwrite",
    },
    "export": {NEVER: "--digits"},
    "export-game": {HOG: "--goal --max-dice", CODE: "--trust", NEVER: "--digits"},
    "play": {beside("--save"): "--overwrite", ALWAYS: "--digits"},
    "purify": {HOG: "--checkpoint", CODE: "--trust", NEVER: "--digits"},
    "report": {ALWAYS: "--digits"},
    "rules": {TEXT: "--dice", NEVER: "--digits"},
    "run": {HOG: "--digits", NEW_RUN: "--out-root"},
    "runs": {beside("--plugin"): "--trust"},
    "show": {HOG: "--out", CODE: "--trust", DRAWN: "--digits"},
    "strategies": {beside("--plugin"): "--trust", NEVER: "--digits"},
    "tournament": {
        FOLDER: "--pseudonyms",
        ENTRIES: "--skip-bad",
        beside("--trust"): "--no-sandbox",
        DRAWN: "--digits",
    },
    "warmup": {NEVER: "--digits"},
}
"""Options of commands that do not always have a use, and when they have one."""


HOG_ALONE: Final[dict[str, str]] = {
    "analyze": "a position is two scores",
    "attack-field": "rivals meet in contests of Hog",
    "beliefs": "the hidden memory is that of Hog's rules",
    "board": "the page is a board of Hog",
    "check": "submissions are of Hog's contest",
    "certify": "a certificate is of rules of Hog",
    "export": "a submission is a table of dice; hogeq purify --out FILE.npz writes other games'",
    "improve": "cells are positions, of two scores",
    "play": "turns are Hog's",
    "review": "turns are Hog's",
    "tablebase": "optimal play knows all that Hog hides; hogeq equilibrium solves other games",
    "tournament": "the contest is Hog's",
}
"""Why commands are of Hog alone, in the words of a refusal of another game."""


def tree_of(params: Mapping[str, Any]) -> str | None:
    """Name the game other than Hog that a call is about, if it is about one; nothing is built.

    It is that of --game, or of a run that is given.
    """
    game, rules = params.get("game"), params.get("rules")
    if game is None:
        named = params.values() if rules is None else [rules]
        texts = [one for given in named for one in (given if isinstance(given, list) else [given])]
        paths = [Path(one) for one in texts if isinstance(one, str | Path)]
        game = next((str(path) for path in paths if config_of(path).get("game")), None)
    return None if game is None or is_hog(game) else game


def uses(command: str, options: Collection[str]) -> list[tuple[str, When]]:
    """List the conditions of a command's options."""
    own = USES.get(command, {})
    found = [(option, when) for when, names in own.items() for option in names.split()]
    if {"--game", "--rules"}.issubset(options):
        found += [("--rules", without("--game")), ("--forget", TREE), ("--teams", TREE)]
    if "--digits" not in f"{own.get(ALWAYS)} {own.get(DRAWN)}":
        found.append(("--digits", TEXT))
    return [(option, when) for option, when in found if when is not ALWAYS]


def require_use(context: Any) -> None:
    """Refuse an option that has no use in this call; defaults have not been given."""
    parameters = {one.opts[0]: one.name for one in context.command.get_params(context)}
    given = {
        option: context.params[name]
        for option, name in parameters.items()
        if (source := context.get_parameter_source(name)) and source.name == "COMMANDLINE"
    }
    tree = tree_of(context.params) if "--game" in parameters else None
    if tree is not None:
        given[TREE_NAME] = tree
    conditions = uses(context.info_name, parameters)
    for option, when in conditions:
        if option in given and not when.holds(given):
            allowed = f"allowed only {when.words}"
            if when is HOG:
                others = {name for name, one in conditions if one is HOG}
                others |= {"--game", "--rules", "--help"}
                options = [name for name in parameters if name.startswith("--")]
                taken = [name for name in options if name not in others]
                allowed += f"; {one_line(tree)} takes {', '.join(taken)}"
            raise BadInputError(f"{option}: {allowed}")
