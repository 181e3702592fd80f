"""Options that many commands take, and how help groups them: the basic ones first."""

import re
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperCommand

from hogeq.cli.uses import HOG_ALONE, require_use, uses
from hogeq.support.messages import BadInputError
from hogeq.support.parameters import MOST_JOBS

MEMORY = "Memory of the player to move"
SEARCH = "Effort of the search"
PROOF = "Proof"
WORKERS = "Workers"
OUTPUT = "Output"
CODE = "Code of others"

PURIFIERS = "{purifiers}"
"""In an option's help: the purifiers there are. They are imported only where help is printed."""


def option(
    about: str, metavar: str | None = None, name: str = "", group: str | None = None, **more: Any
) -> Any:
    """Declare an option: its help, how it is written, and its group in help."""
    names = (name,) if name else ()
    return typer.Option(*names, help=about, metavar=metavar, rich_help_panel=group, **more)


def argument(name: str, about: str) -> Any:
    """Declare an argument."""
    return typer.Argument(metavar=name, help=about)


class Output(NamedTuple):
    """Marks an option as a file to be written, with the checks made beforehand."""

    suffixes: tuple[str, ...]
    is_kept: bool = False  # whether a file that is there is replaced only with --overwrite
    of_games: tuple[str, ...] = ()  # suffixes with --game, if others


MATRIX_SUFFIXES = (".csv", ".txt", ".json", ".npy", ".npz")
PICTURE = Output((".png",))
PAGE = Output((".html", ".htm"))
MATRIX = Output(MATRIX_SUFFIXES, is_kept=True, of_games=(".npz",))
SUBMISSION = Output((".py", *MATRIX_SUFFIXES), is_kept=True)
CERTIFICATE = Output((".json", ".json.gz"), is_kept=True)
TRANSCRIPT = Output((".json",), is_kept=True)
ARRAYS = Output((".npz",), is_kept=True)
TREE = Output((".efg",), of_games=(".efg",))


class Command(TyperCommand):
    """A command whose help lists options by groups, and which refuses those without a use."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments; --game is refused with the reason where it is no option."""
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            why = HOG_ALONE.get(str(ctx.info_name))
            if getattr(error, "option_name", "") != "--game" or why is None:
                raise
            line = f"--game: {ctx.info_name} is of Hog alone ({why}); allowed: --rules"
            raise BadInputError(line) from error

    def invoke(self, ctx: Any) -> Any:
        """Call the command, if every option that was given has a use."""
        require_use(ctx)
        return super().invoke(ctx)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options, those without a group first."""
        groups: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        parameters = self.get_params(ctx)
        conditions = uses(str(ctx.info_name), {one.opts[0] for one in parameters})
        for parameter in parameters:
            record = parameter.get_help_record(ctx)
            if record is None:
                continue
            kind = "Arguments" if parameter.param_type_name == "argument" else "Options"
            group = getattr(parameter, "rich_help_panel", None) or kind
            names, about = record
            if PURIFIERS in about:
                from hogeq.purification import PURIFIERS as KNOWN

                about = about.replace(PURIFIERS, ", ".join(KNOWN))
            only = [f" [only {when.words}]" for name, when in conditions if name in parameter.opts]
            about += "".join(only)
            names = re.sub(r" <str>", "", re.sub(r"<(int|float)( range)?>", "N", names))
            groups.setdefault(group, []).append((names, about))
        for name in (WORKERS, OUTPUT, CODE):  # of most commands, and so the last
            groups[name] = groups.pop(name, [])
        for name, records in groups.items():
            if records:
                with formatter.section(name):
                    formatter.write_dl(records)


Rules = Annotated[
    str | None,
    option(
        "An edition's name, a YAML file of rule parts, or a run. [those of a run that is given as "
        "a strategy; else HOGEQ_RULES; else su20]",
        "RULES",
        "--rules",
    ),
]
Game = Annotated[
    str | None,
    option(
        "Any game: of OpenSpiel, kuhn_poker say; of the papers, 3K4; a .efg file; a run; an "
        "edition of Hog.",
        "GAME",
        "--game",
    ),
]

Forget = Annotated[
    str | None,
    option(
        "Memory to drop: own_actions, order (of moves), or last:K (all else).",
        "WAY",
        "--forget",
    ),
]
Teams = Annotated[
    str | None,
    option("Two teams of the players, for a game of any number: 01/2 say.", "TEAMS", "--teams"),
]
ManyRules = Annotated[
    list[str] | None, option("As elsewhere; may be repeated. [su20 and fa22]", "RULES")
]
Strategy = Annotated[str, argument("S", "A strategy: name, file or run.")]
Start = Annotated[
    str | None,
    option("Scores at the start: of the first to move, and of the other. [0:0]", "A:B"),
]
Score = Annotated[int, option("Points of the player to move.", name="--score")]
Opponent = Annotated[int, option("Points of the other player.", name="--opponent")]
Plot = Annotated[Path | None, option("Draw the result.", "PNG"), PICTURE]
PlayerName = Annotated[str | None, option("Your name in the contest; for .py.", "NAME")]
Overwrite = Annotated[bool, option("Replace files that are there.", name="--overwrite")]
Set = Annotated[list[str] | None, option("Set a key: solver.iterations=50", "KEY=VALUE", "--set")]
TimeLimit = Annotated[
    float, option("Time limit for the code of a .py.", "SECONDS", "--time-limit", min=0.1)
]

# --- search effort, who computes ------------------------------------------------------------------

Starts = Annotated[int, option("Independent starts of the search.", group=SEARCH)]
AnnealSteps = Annotated[
    int, option("Steps of the softmax responder from each start.", group=SEARCH)
]
Kicks = Annotated[int, option("Rounds of iterated local search from each start.", group=SEARCH)]
Seed = Annotated[int, option("Seed of random starts and kicks.", group=SEARCH, min=0)]
Jobs = Annotated[
    int | None,
    option(
        "Threads, or processes; the result does not depend on it. [all cores]",
        group=WORKERS,
        min=1,
        max=MOST_JOBS,
    ),
]
On = Annotated[
    str | None,
    option(
        "Compute on local (processes) or dask://HOST:PORT, with the same result. [threads]",
        "WHERE",
        group=WORKERS,
    ),
]

# --- of every command -----------------------------------------------------------------------------

Json = Annotated[bool, option("Print one JSON object.", name="--json", group=OUTPUT)]
Digits = Annotated[
    int,
    option("Decimals of per cents and percentage points.", None, "--digits", OUTPUT, min=0, max=16),
]
Trust = Annotated[
    bool,
    option("Run somebody's code: plugins, and strategies in .py files.", None, "--trust", CODE),
]
Plugins = Annotated[
    list[Path] | None,
    option(
        "A file that registers rule parts, editions, strategies, solvers or purifiers.",
        "FILE.py",
        "--plugin",
        CODE,
    ),
]
