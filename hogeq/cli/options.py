"""Options that many commands take, the calls in which an option has a use, and help by groups."""

import re
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

import typer
from typer.core import TyperCommand
from typer.models import OptionInfo

from hogeq.rules.reading import config_of, is_hog
from hogeq.search.budget import Budget
from hogeq.support.messages import DIGITS, BadInputError, one_line, unreadable
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
    """Declare an option: its help, how its value is written, its group in help, its names."""
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


_START: Final = "Scores at the start: of the first to move, and of the other. [0:0]"
_ANY_START: Final = "board", "compare", "play", "tablebase"  # commands of other games, too


def texts(values: Iterable[object]) -> list[str]:
    """List the texts and paths among arguments, alone or in lists."""
    each = (one for given in values for one in (given if isinstance(given, list) else [given]))
    return [str(one) for one in each if isinstance(one, str | Path)]


def tree_of(params: Mapping[str, Any]) -> str | None:
    """Name the game other than Hog that a call is about, if it is about one; nothing is built.

    It is that of --game, or of a run that is given.
    """
    game, rules = params.get("game"), params.get("rules")
    if game is None:
        paths = map(Path, texts(params.values() if rules is None else [rules]))
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
    about = re.sub(r" *\[required\]", "", about)
    about = re.sub(r"([0-9.]+)<=x<=([0-9.]+)", r"\1 to \2", about)
    return re.sub(r"x>=([0-9.]+)", r"\1 or more", about).replace("  ", " ")


# --- the options of all commands ------------------------------------------------------------------


def _editions(incomplete: str) -> list[str]:
    """Complete the name of an edition in a shell."""
    from hogeq.rules import ALIASES, EDITIONS

    return [name for name in (*EDITIONS, *ALIASES) if name.startswith(incomplete.lower())]


def _strategies(incomplete: str) -> list[str]:
    """Complete the name of a strategy in a shell."""
    from hogeq.baselines.registry import names

    known = (re.sub(":[A-Z].*", "", usage) for usage in names())
    return [name for name in known if name.startswith(incomplete)]


TABLE: Final[dict[str, Any]] = {
    # Games and strategies.
    "rules": option(
        "An edition, a YAML file of rule parts, or a run. [that of a run given as a strategy; "
        "else HOGEQ_RULES; else fa25]",
        "RULES",
        autocompletion=_editions,
    ),
    "game": option(
        "Any game: of OpenSpiel, kuhn_poker say; of the papers, 3K4; a .efg file; a run; an "
        "edition of Hog.",
        "GAME",
    ),
    "forget": (
        option("Memory to drop: own_actions, order (of moves), or last:K (all else).", "WAY"),
        OF_TREES,
    ),
    "teams": (
        option("Two teams of the players, for a game of any number: 01/2 say.", "TEAMS"),
        OF_TREES,
    ),
    "editions": option(
        "As elsewhere; may be repeated. [fa25 and su20]",
        "RULES",
        name="--rules",
        autocompletion=_editions,
    ),
    "board.rules": (
        option(
            "Edition, or YAML file of rule parts (may be repeated). [HOGEQ_RULES or fa25]", "RULES"
        ),
        without("--game"),
    ),
    "review.rules": option("Refuse a game by other rules than these. [the transcript's]", "RULES"),
    "name": argument("RULES", "An edition, a YAML file or a run, shown in full."),
    "dice": (option("Mean points by dice and sides."), TEXT),
    "parts": (
        option("Keys of a YAML file of rules, and what their values mean."),
        TEXT,
        When("without RULES", lambda given: "name" not in given),
    ),
    "audit.goal": (
        option("Goal of the game walked. [6, or less where that is too large]", "G", min=1),
        OF_HOG,
    ),
    "audit.max_dice": (option("Most dice in it.", "N", min=1), OF_HOG),
    "export-game.goal": (option("Another goal.", "G", min=1), OF_HOG),
    "export-game.max_dice": (option("Another most number of dice.", "N", min=1), OF_HOG),
    "strategy": argument("S", "A strategy: name, file or run.", autocompletion=_strategies),
    "analyze.strategy": option("Both play S from then on. [optimal play]", "S"),
    "purify.strategy": argument("S", "A policy, or a matrix to search near."),
    "strategies": argument("S", "The rivals: names, files or runs."),
    "compare.a": argument("A", "A strategy: name, file or run."),
    "compare.b": argument("B", "The other."),
    "diff.a": argument("A", "A table: name, file or run; a policy of other games."),
    "diff.b": argument("B", "The strategy to compare with it."),
    "table": argument("TABLE", "A table: name, file or run."),
    "against": option(
        "Opponent, or a folder of them (may be repeated). [optimal, or champion]", "S"
    ),
    "beliefs.against": option("The opponent's strategy. [S]", "T"),
    "check.against": option(
        "Opponent of losses and changes. [optimal; with hidden memory, champion]"
    ),
    "report.against": option("A strategy to compare with (may be repeated).", "S"),
    "tablebase.against": (option("Win rate of its rolls against a strategy.", "S"), OF_HOG),
    "board.opponent": (
        option("A table to play against too (may be repeated).", "S", name="--against --opponent"),
        OF_HOG,
    ),
    "engine": option(
        "Your opponent: a strategy, or optimal (or memory): optimal play; an equilibrium.",
        "S",
        name="--against --engine",
    ),
    "of": option("Refuse a certificate of another strategy.", "S"),
    # Positions and turns.
    "start": option(_START, "A:B"),
    **{f"{name}.start": (option(_START, "A:B"), OF_HOG) for name in _ANY_START},
    "score": option("Points of the player to move."),
    "opponent": option("Points of the other player."),
    "own_last": option("Own last turn's points (or dice, as the rules have it).", group=MEMORY),
    "opponent_last": option("The opponent's last turn's points (or dice).", group=MEMORY),
    "turn": option("Number of this turn, from 0.", group=MEMORY),
    "extra": option("Is this an extra turn?", group=MEMORY, name="--extra/--no-extra"),
    "remembered": option("Memory of another part of the rules.", "VALUE", MEMORY),
    "top": (option("Lines of the table.", min=1), TEXT),
    "first": option("The player to move first."),
    "play.seed": option("Of coin and dice. [a new one each time]", min=0),
    "transcript": argument(
        "GAME.json", "A transcript: of hogeq play --save, or of a board.", callback=readable
    ),
    "save": (
        option("Save the game, for hogeq review or a board.", "GAME.json"),
        Output((".json",), is_kept=True),
        OF_HOG,
    ),
    # Searches and proofs.
    "starts": option("Independent starts of the search.", group=SEARCH),
    "anneal_steps": option("Steps of the softmax responder from each start.", group=SEARCH),
    "kicks": option("Rounds of iterated local search from each start.", group=SEARCH),
    "report.starts": option("Starts of the search. [as the run's figures]", group=SEARCH),
    "report.anneal_steps": option(
        "Its steps from each start. [as the run's figures]", group=SEARCH
    ),
    "report.kicks": option("Its kicks for each start. [as the run's figures]", group=SEARCH),
    "seeds": option("Generated problems of ten open and ten held-out seeds instead."),
    "bench-games.kicks": (
        option(f"Kicks of the search, in Hog. [{Budget.kicks}]", group=SEARCH, min=0),
        RUN,
    ),
    "bench-games.seconds": (
        option("Of each proof, in a game tree. [5]", group=SEARCH, min=0),
        RUN,
    ),
    "until_saturated": option(
        "More kicks, until an estimate for twice as many is below 0.03 pp.", group=SEARCH
    ),
    "most_kicks": (option("Most kicks for each start.", group=SEARCH), beside("--until-saturated")),
    "seed": option("Seed of random starts and kicks.", group=SEARCH, min=0),
    "objective": option("The mean win rate, or how many are beaten (above 0.500001)."),
    "attack.seconds": option(
        "Time limit of search and proofs, but --certify. [none]", group=SEARCH, min=0
    ),
    "exact": option(
        "Seconds of an integer program, and of a usual search before it."
        " [60; of Hog 0: small goals alone allow it]",
        "SECONDS",
        PROOF,
        min=0,
    ),
    "certify": option("Seconds to prove a bound below full memory.", "SECONDS", PROOF, min=0),
    "certificate": (
        option("Write the proof: certificate.json, say.", "FILE", PROOF),
        Output((".json", ".json.gz"), is_kept=True),
        beside("--certify"),
    ),
    "certify.file": argument(
        "FILE", "A certificate, of hogeq attack --certificate.", callback=readable
    ),
    "equilibrium.seconds": option("Time limit; both bounds hold at any time.", min=0),
    "equilibrium.method": (option("auto, dag, columns or cfr.", "METHOD"), OF_TREES),
    "policies": option("Policies as well, whose players draw apart; in Hog, whether one exists."),
    "purify.method": option("How: argmax, threshold or integer.", "METHOD"),
    "checkpoint": (
        option(
            "With a method of rounds: keep every round, and go on from it if it is there.",
            "FILE.npz",
        ),
        Output((".npz",)),
        OF_HOG,
    ),
    "cells": option("Most cells to change.", "N", min=1),
    "improve.seconds": option("Time limit; Ctrl-C stops too.", min=0.0),
    "explain": option("Say why TABLE loses, as check does."),
    # Runs.
    "run.config": argument(
        "CONFIG", "YAML file: configs/cfr.yaml. [with --resume, that of the run]", callback=readable
    ),
    "sweep.config": argument("SWEEP", "YAML file: configs/sweep.yaml", callback=readable),
    "overrides": option("Set a key: solver.iterations=50", "KEY=VALUE", name="--set"),
    "purify.overrides": option("Set a parameter: rounds=100 of integer", "KEY=VALUE", name="--set"),
    "run.out_root": (option("Where runs are kept.", "DIR"), without("--resume")),
    "sweep.out_root": option("Where the sweep's folder is made.", "DIR"),
    "resume": option("Continue the run in this directory.", "DIR"),
    "runs": argument("RUN", "Directories of finished runs.", callback=readable),
    "matrices": option(
        "Explore the runs' matrices too: a larger page.", name="--matrices/--no-matrices"
    ),
    "root": argument("ROOT", "Folder to look in, and in those below."),
    "where": option("Only runs with this as a column or in their configs: solver=cfr", "KEY=VALUE"),
    "sort": option("Sort by attack, bound, seconds, started, ...", "KEY"),
    "compare": option("Show the config keys that differ."),
    "what": argument("list|write|run", "The action."),
    "folder": argument("DIR", "Folder for write: one .npz file for each instance."),
    "only": option("Only names that contain this; may be given again.", "NAME"),
    # Contests.
    "check.file": argument("FILE", "A submission, or a table.", callback=readable),
    "entries": argument(
        "S", "Strategies: names, files, runs, folders, patterns ('entries/*.csv')."
    ),
    "skip_bad": (option("Leave out, and list, bad files."), ENTRIES),
    "pseudonyms": (option("No names on public pages."), FOLDER),
    "title": (option("Heading of the pages.", "TEXT"), beside("--html", "--out")),
    "goals": option("A goal for each entry: lines entry,goal.", "FILE"),
    "roster": (
        option("Students: account,name,group. Writes staff/grades.csv.", "FILE", callback=readable),
        FOLDER,
    ),
    "points": (
        option("Points, as 'valid = 1; rank 10 = 2; boar 50 % = 1'. [the roster's]", "RULE"),
        beside("--roster"),
    ),
    "threshold": option("A match is won by a win rate above this.", min=0.5, max=0.999999),
    "tie_break": option(
        "Of as many matches won the higher win rate against S ranks first.", "S|bytes"
    ),
    "time_limit": option("Time limit for the code of a .py.", "SECONDS", min=0.1),
    "player_name": option("Your name in the contest; for .py. [PLAYER_NAME of a .py read]", "NAME"),
    "part": option("Of a mixture: its N-th component alone, from 1.", "N"),
    # Files to write.
    "out": (option("A name ending in .html.", "FILE"), Output(PAGE.suffixes, is_kept=True)),
    "attack.out": (option("Write the response.", "FILE"), MATRIX),
    "attack-field.out": (option("Write the answer.", "FILE"), MATRIX),
    "equilibrium.out": (
        option("Write the mixtures, as one for both seats.", "FILE.npz"),
        Output((".npz",), is_kept=True),
    ),
    "export.out": (option("The suffix is the format.", "FILE"), SUBMISSION),
    "export-game.out": (
        option("A name ending in .efg, or with --game in .npz.", "FILE"),
        Output((".efg",), is_kept=True, of_games=(".efg", ".npz")),
    ),
    "improve.out": (option("Where the better table goes.", "FILE"), SUBMISSION),
    "purify.out": (option("The suffix is the format.", "FILE"), MATRIX),
    "show.out": (
        option("Draw to a file. [text in the terminal]", "PNG"),
        Output(PICTURE.suffixes, is_kept=True),
        OF_HOG,
    ),
    "tablebase.out": (
        option("Write its matrix (rules without memory).", "FILE"),
        Output(MATRIX_SUFFIXES, is_kept=True),
        OF_HOG,
    ),
    "tournament.out": option(
        "Write all win rates, .csv or .json; of a folder, a folder of pages.", "FILE"
    ),
    "ranks": (option("Write the table of ranks.", "FILE", name="--csv"), Output((".csv",))),
    "check.page": (option("Write the same as a page.", "FILE", name="--html"), PAGE),
    "tournament.page": (
        option("Write a page: ranks to sort, all win rates.", "FILE", name="--html"),
        PAGE,
    ),
    "open_": option("Open the page in a browser."),
    "plot": (option("Draw the result.", "PNG"), PICTURE),
    "attack.plot": (
        option("Draw the gains by position; of other games, the search.", "PNG"),
        PICTURE,
    ),
    "diff.plot": (option("Draw the result.", "PNG"), PICTURE, OF_HOG),
    "overwrite": option("Replace files that are there."),
    # Who computes; and the options of every command.
    "jobs": option(
        "Threads, or processes; the result does not depend on it. [all cores]",
        group=WORKERS,
        min=1,
        max=MOST_JOBS,
    ),
    "on": option(
        "Compute on local (processes) or dask://HOST:PORT, with the same result. [threads]",
        "WHERE",
        WORKERS,
    ),
    "sweep.on": option(
        "Workers: local (processes), or dask://HOST:PORT, those of a scheduler.", "WHERE", WORKERS
    ),
    "as_json": option("Print one JSON object.", group=OUTPUT, name="--json"),
    "decimals": option(
        "Decimals of per cents and percentage points.", group=OUTPUT, name="--digits", min=0, max=16
    ),
    "trust": option("Run somebody's code: plugins, and strategies in .py files.", group=CODE),
    "plugins": option(
        "A file that registers rule parts, editions, strategies, solvers or purifiers.",
        "FILE.py",
        CODE,
        "--plugin",
    ),
    "no_sandbox": (
        option("Run code of a folder though nothing isolates it.", group=CODE),
        beside("--trust"),
    ),
}
"""Options and arguments by the names of parameters, or those of one command; with their marks."""

STRATEGIES: Final = ("strategy", "a", "b", "table", "against", "opponent", "engine", "strategies")
"""Parameters that name strategies."""

PLAYERS: Final = ("optimal", "memory")
"""Best play that remembers everything, which `play` takes beside strategies."""

CHOICE: Final = ("rules", "game", "forget", "teams")
"""Parameters by which any game is chosen."""

EVERY: Final = {
    "as_json": (bool, False),
    "decimals": (int, DIGITS),
    "trust": (bool, False),
    "plugins": (list[Path] | None, None),
}
"""Types and defaults of the options that every command takes, whether it needs them or not."""


def declared(command: str, name: str, kind: Any) -> Any:
    """Annotate the type of a command's parameter as `TABLE` says, unless it is annotated."""
    marks = TABLE.get(f"{command}.{name}", TABLE.get(name))
    if marks is None or hasattr(kind, "__metadata__"):
        return kind
    how, *marks = marks if isinstance(marks, tuple) else (marks,)
    if isinstance(how, OptionInfo) and how.default is ...:
        how = copy(how)
        how.default = f"--{name.strip('_').replace('_', '-')}"  # and no --no-NAME
    return Annotated[(kind, how, *marks)]
