"""Options that several commands take, and marks of options: files to write, and their use."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

import typer

import hogeq
from hogeq.support.messages import HogeqError, unreadable
from hogeq.support.parameters import MOST_JOBS

MEMORY = "Memory of the player to move"
SEARCH = "Effort of the search"
PROOF = "Proof"
WORKERS = "Workers"
OUTPUT = "Output"
CODE = "Code of others"


def option(
    about: str, metavar: str | None = None, group: str | None = None, name: str = "", **more: Any
) -> Any:
    """Declare an option of a command.

    `about` is its help, `metavar` stands for its value there, `group` is its group, and `name` has
    its names if they do not follow from the parameter's, separated by spaces.
    """
    return typer.Option(*name.split(), help=about, metavar=metavar, rich_help_panel=group, **more)


def argument(name: str, about: str, **more: Any) -> Any:
    """Declare an argument of a command, which help calls by this name."""
    return typer.Argument(metavar=name, help=about, **more)


def readable(paths: Any) -> Any:
    """Check that a file, or each file of a list, exists; done before slow libraries are imported.

    It is a callback of typer, which passes the value of a parameter, or None, and takes it back.
    """
    for path in paths if isinstance(paths, list) else filter(None, [paths]):
        try:
            path.stat()
        except (OSError, ValueError) as error:
            raise HogeqError(unreadable(path, error)) from error
    return paths


class Output(NamedTuple):
    """Marks an option as a file to be written, with the checks made beforehand."""

    suffixes: tuple[str, ...]
    is_kept: bool = False  # whether an existing file is replaced only with --overwrite
    of_games: tuple[str, ...] = ()  # suffixes for games other than Hog, if they differ


MATRIX_SUFFIXES = (".csv", ".txt", ".json", ".npy", ".npz")
PICTURE = Output((".png",))
PAGE = Output((".html", ".htm"))
MATRIX = Output(MATRIX_SUFFIXES, is_kept=True, of_games=(".npz",))
SUBMISSION = Output((".py", *MATRIX_SUFFIXES), is_kept=True)

# --- when an option has a use ---------------------------------------------------------------------

Given = Mapping[str, Any]
"""Options and arguments that were given, by name, ``--starts`` say; no defaults."""


class When(NamedTuple):
    """Marks an option that has a use in some calls alone, in the words of help and refusals."""

    words: str  # "with --out", to follow "only" in help and "allowed only" in an error
    holds: Callable[[Given], object]  # truth of the condition, of the options given


def beside(*options: str) -> When:
    """Condition that at least one of some options is given."""
    return When(f"with {' or '.join(options)}", lambda given: not given.keys().isdisjoint(options))


def without(option: str, more: str = "") -> When:
    """Condition that an option is not given; `more` adds to its words."""
    return When(f"without {option}{more}", lambda given: option not in given)


def _is_folder(given: Given) -> bool:
    """Whether --out names a folder: a path without a suffix."""
    return "--out" in given and not Path(given["--out"]).suffix


TREE_NAME: Final = "the game other than Hog"
"""Key in `Given` of the game that a call is about if that is not Hog."""

OF_HOG: Final = When("for Hog", lambda given: TREE_NAME not in given)
OF_TREES: Final = When("for games other than Hog", lambda given: TREE_NAME in given)
FOLDER: Final = When("with --out FOLDER", _is_folder)
ENTRIES: Final = When("without --out FOLDER", lambda given: not _is_folder(given))
TEXT: Final = without("--json", ", which gives all")
RUN: Final = When("with run", lambda given: given["what"] == "run")

HOG_ALONE: Final[dict[str, str]] = {
    "analyze": "a position is two scores",
    "attack-field": "rivals meet in contests of Hog",
    "beliefs": "the hidden memory is that of Hog's rules",
    "check": "submissions are of Hog's contest",
    "export": "a submission is a table of dice; hogeq purify --out FILE.npz writes other games'",
    "improve": "cells are positions, of two scores",
    "review": "turns are Hog's",
    "tournament": "the contest is Hog's",
}
"""Why commands are of Hog alone, in the words of a refusal of another game."""


def _editions(incomplete: str) -> list[str]:
    """Complete the name of an edition in a shell."""
    return [
        name for name in (*hogeq.EDITIONS, *hogeq.ALIASES) if name.startswith(incomplete.lower())
    ]


def _strategies(incomplete: str) -> list[str]:
    """Complete the name of a strategy in a shell."""
    return [name for name in hogeq.BASELINES if name.startswith(incomplete)]


OPTIMAL: Final = ("optimal", "memory")
"""Best play that remembers everything, which `play` takes beside strategies."""

# --- options of several commands ------------------------------------------------------------------

_RULES: Final = option(
    "An edition, a YAML file of rule parts, or a run. [that of a run given as a strategy; "
    "else HOGEQ_RULES; else fa25]",
    "RULES",
    name="--rules",
    autocompletion=_editions,
)
RulesName = Annotated[str | None, _RULES]
AnyRulesName = Annotated[str | None, _RULES, without("--game")]
Editions = Annotated[
    list[str] | None,
    option(
        "As elsewhere; may be repeated. [fa25 and su20]",
        "RULES",
        name="--rules",
        autocompletion=_editions,
    ),
]
GameName = Annotated[
    str | None,
    option(
        "Any game: of OpenSpiel, kuhn_poker say; of the papers, 3K4; a .efg file; a run; an "
        "edition of Hog.",
        "GAME",
        name="--game",
    ),
]
Forget = Annotated[
    str | None,
    option("Memory to drop: own_actions, order (of moves), or last:K (all else).", "WAY"),
    OF_TREES,
]
Teams = Annotated[
    str | None,
    option("Two teams of the players, for a game of any number: 01/2 say.", "TEAMS"),
    OF_TREES,
]
StrategyName = Annotated[
    str, argument("S", "A strategy: name, file or run.", autocompletion=_strategies)
]
Against = Annotated[
    list[str] | None,
    option("Opponent, or a folder of them (may be repeated). [optimal, or champion]", "S"),
]

START: Final = option("Scores at the start: of the first to move, and of the other. [0:0]", "A:B")
Start = Annotated[str | None, START]
StartOfHog = Annotated[str | None, START, OF_HOG]
Score = Annotated[int, option("Points of the player to move.")]
Opponent = Annotated[int, option("Points of the other player.")]

Starts = Annotated[int, option("Independent starts of the search.", group=SEARCH)]
AnnealSteps = Annotated[
    int, option("Steps of the softmax responder from each start.", group=SEARCH)
]
Kicks = Annotated[int, option("Rounds of iterated local search from each start.", group=SEARCH)]
Seed = Annotated[int, option("Seed of random starts and kicks.", group=SEARCH, min=0)]

Overrides = Annotated[
    list[str] | None, option("Set a key: solver.iterations=50", "KEY=VALUE", name="--set")
]
TimeLimit = Annotated[
    float,
    option(
        "Time limit of each run of the code of a .py; two runs, or four with its folder. If it is "
        "random, up to 8 start within it.",
        "SECONDS",
        min=0.1,
    ),
]
PlayerName = Annotated[
    str | None, option("Your name in the contest; for .py. [PLAYER_NAME of a .py read]", "NAME")
]

PageOut = Annotated[
    Path, option("A name ending in .html.", "FILE"), Output(PAGE.suffixes, is_kept=True)
]
OpenPage = Annotated[bool, option("Open the page in a browser.", name="--open")]
Plot = Annotated[Path | None, option("Draw the result.", "PNG"), PICTURE]
Overwrite = Annotated[bool, option("Replace files that are there.", name="--overwrite")]

Jobs = Annotated[
    int | None,
    option(
        "Threads, or processes; the result does not depend on it. [all cores]",
        group=WORKERS,
        min=1,
        max=MOST_JOBS,
    ),
]
ComputeOn = Annotated[
    str | None,
    option(
        "Compute on local (processes) or dask://HOST:PORT, with the same result. [threads]",
        "WHERE",
        WORKERS,
    ),
]
Trust = Annotated[
    bool,
    option(
        "Run somebody's code: plugins, and strategies in .py files.", group=CODE, name="--trust"
    ),
]
Plugins = Annotated[
    list[Path] | None,
    option(
        "A file that registers rule parts, editions, strategies, solvers or purifiers.",
        "FILE.py",
        CODE,
        "--plugin",
    ),
]
AsJson = Annotated[bool, option("Print one JSON object.", group=OUTPUT, name="--json")]
Decimals = Annotated[
    int,
    option(
        "Decimals of per cents and percentage points. Past 6, all but bounds may show rounding.",
        group=OUTPUT,
        name="--digits",
        min=0,
        max=16,
    ),
]
