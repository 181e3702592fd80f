"""Options that many commands take, the calls in which an option has a use, and help by groups."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

import typer
from typer.core import TyperCommand

from hogeq.rules.reading import config_of, is_hog
from hogeq.support.messages import BadInputError, one_line, unreadable
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
    """Declare an option: its help, how it is written, its names, and its group in help."""
    return typer.Option(*name.split(), help=about, metavar=metavar, rich_help_panel=group, **more)


def argument(name: str, about: str, **more: Any) -> Any:
    """Declare an argument."""
    return typer.Argument(metavar=name, help=about, **more)


def readable(paths: Any) -> Any:
    """Refuse files that are not there, before libraries are imported."""
    for path in paths if isinstance(paths, list) else filter(None, [paths]):
        try:
            path.stat()
        except (OSError, ValueError) as error:
            raise BadInputError(unreadable(path, error)) from error
    return paths


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
TREE = Output((".efg",), of_games=(".efg", ".npz"))

# --- when an option has a use ---------------------------------------------------------------------

Given = Mapping[str, Any]
"""Options and arguments that were given, by name, ``--starts`` say; no defaults."""


class When(NamedTuple):
    """Marks an option that has a use in some calls alone, in the words of help and refusals."""

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


TREE_NAME: Final = "the game other than Hog"
"""Key, beside those of the options, of the game that a call is about if that is not Hog."""

OF_HOG: Final = When("for Hog", lambda given: TREE_NAME not in given)
OF_TREES: Final = When("for games other than Hog", lambda given: TREE_NAME in given)
FOLDER: Final = When("with --out FOLDER", _is_folder)
ENTRIES: Final = When("without --out FOLDER", lambda given: not _is_folder(given))
TEXT: Final = without("--json", ", which gives all")
DRAWN: Final = When(
    "without --json, or with a page or a picture",
    lambda given: (
        "--json" not in given or not given.keys().isdisjoint(("--html", "--plot", "--out"))
    ),
)
TRUSTED: Final = When(
    "for Hog, or with --plugin or a run that has plugins",
    lambda given: (
        TREE_NAME not in given
        or "--plugin" in given
        or config_of(Path(given[TREE_NAME])).get("plugins")
    ),
)

PER_CENTS: Final[dict[str, list[When] | None]] = {
    **dict.fromkeys(("audit", "bench-games", "board", "doctor", "export", "export-game")),
    **dict.fromkeys(("purify", "rules", "strategies", "warmup")),
    **{name: [OF_HOG, TEXT] for name in ("attack", "compare", "equilibrium", "run")},
    **{name: [DRAWN] for name in ("beliefs", "check", "show", "tournament")},
    **{name: [] for name in ("play", "report")},
}
"""When ``--digits`` has a use, by command; None if it is no option, `TEXT` where none is named."""

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


class Command(TyperCommand):
    """A command that refuses options without a use, and lists its options by groups."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments; say why --game or --rules is no option here."""
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            wrong, name = getattr(error, "option_name", ""), str(ctx.info_name)
            if wrong == "--game" and name in HOG_ALONE:
                line = f"--game: {name} is of Hog alone ({HOG_ALONE[name]}); allowed: --rules"
            elif wrong == "--rules" and name == "rules":
                line = "--rules: no option here; allowed: the name alone, hogeq rules fa25"
            else:
                raise
            raise BadInputError(line) from error

    def invoke(self, ctx: Any) -> Any:
        """Call the command, if every option that was given has a use."""
        self.require_use(ctx)
        return super().invoke(ctx)

    def _uses(self) -> dict[str, list[When]]:
        return getattr(self.callback, "uses", {})

    def require_use(self, ctx: Any) -> None:
        """Refuse an option that has no use in this call; defaults have not been given."""
        parameters = {one.opts[0]: one.name for one in self.get_params(ctx)}
        given = {
            option: ctx.params[name]
            for option, name in parameters.items()
            if (source := ctx.get_parameter_source(name)) and source.name == "COMMANDLINE"
        }
        tree = tree_of(ctx.params) if "--game" in parameters else None
        if tree is not None:
            given[TREE_NAME] = tree
        for option, conditions in self._uses().items():
            for when in conditions if option in given else ():
                if when.holds(given):
                    continue
                allowed = f"allowed only {when.words}"
                if when is OF_HOG:
                    others = {name for name, found in self._uses().items() if OF_HOG in found}
                    others |= {"--game", "--rules", "--help"}
                    taken = [one for one in parameters if one[:2] == "--" and one not in others]
                    allowed += f"; {one_line(tree)} takes {', '.join(taken)}"
                raise BadInputError(f"{option}: {allowed}")

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Write arguments by their names, in brackets if they may be left out."""
        pieces = [str(self.options_metavar)]
        for one in self.get_params(ctx):
            if one.param_type_name == "argument":
                more = "" if one.nargs == 1 else " ..."
                pieces.append(f"{one.metavar}{more}" if one.required else f"[{one.metavar}{more}]")
        return pieces

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """List the options by groups."""
        groups: dict[str, list[tuple[str, str]]] = {"Arguments": []}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is None:
                continue
            kind = "Arguments" if parameter.param_type_name == "argument" else "Options"
            group = getattr(parameter, "rich_help_panel", None) or kind
            about = _plain(record[1])
            about += "".join(
                f" [only {when.words}]" for when in self._uses().get(parameter.opts[0], ())
            )
            names = re.sub(r"<(int|float)( range)?>", "N", record[0])
            names = re.sub(r"<(\w+\|[^>]*)>", r"\1", names)  # choices
            groups.setdefault(group, []).append((re.sub(r" *<[^>]*>", "", names), about))
        for name in (WORKERS, OUTPUT, CODE):  # of most commands, and so the last
            groups[name] = groups.pop(name, [])
        for name, records in groups.items():
            if records:
                with formatter.section(name):
                    formatter.write_dl(records)


def _plain(about: str) -> str:
    """Write an option's help without the signs of programs: 0 to 16 for 0<=x<=16."""
    if PURIFIERS in about:
        from hogeq.purification import PURIFIERS as KNOWN

        about = about.replace(PURIFIERS, ", ".join(KNOWN))
    about = re.sub(r" *\[required\]", "", about)
    about = re.sub(r"([0-9.]+)<=x<=([0-9.]+)", r"\1 to \2", about)
    return re.sub(r"x>=([0-9.]+)", r"\1 or more", about).replace("  ", " ")


# --- what commands share --------------------------------------------------------------------------


def _editions(incomplete: str) -> list[str]:
    """Complete the name of an edition in a shell."""
    from hogeq.rules import ALIASES, EDITIONS

    return [name for name in (*EDITIONS, *ALIASES) if name.startswith(incomplete.lower())]


def _strategies(incomplete: str) -> list[str]:
    """Complete the name of a strategy in a shell."""
    from hogeq.baselines.registry import names

    known = (re.sub(":[A-Z].*", "", usage) for usage in names())
    return [name for name in known if name.startswith(incomplete)]


Rules = Annotated[
    str | None,
    option(
        "An edition, a YAML file of rule parts, or a run. [that of a run given as a strategy; "
        "else HOGEQ_RULES; else fa25]",
        "RULES",
        "--rules",
        autocompletion=_editions,
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
    OF_TREES,
]
Teams = Annotated[
    str | None,
    option("Two teams of the players, for a game of any number: 01/2 say.", "TEAMS", "--teams"),
    OF_TREES,
]
Device = Annotated[
    str | None,
    option(
        "What runs passes over trees: cpu, or cuda, a GPU. [cpu]",
        "DEVICE",
        "--device",
        group=WORKERS,
    ),
    OF_TREES,
]
ManyRules = Annotated[
    list[str] | None,
    option("As elsewhere; may be repeated. [fa25 and su20]", "RULES", autocompletion=_editions),
]
Strategy = Annotated[
    str, argument("S", "A strategy: name, file or run.", autocompletion=_strategies)
]
Start = Annotated[
    str | None,
    option("Scores at the start: of the first to move, and of the other. [0:0]", "A:B"),
]
Score = Annotated[int, option("Points of the player to move.", name="--score")]
Opponent = Annotated[int, option("Points of the other player.", name="--opponent")]
Plot = Annotated[Path | None, option("Draw the result.", "PNG"), PICTURE]
PlayerName = Annotated[
    str | None, option("Your name in the contest; for .py. [PLAYER_NAME of a .py read]", "NAME")
]
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
