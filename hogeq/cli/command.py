"""A command: the options that all share, refusals before anything is computed, help by groups."""

import re
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, redirect_stdout
from functools import cache
from inspect import unwrap
from pathlib import Path
from typing import Any, get_type_hints

import typer
from typer.core import TyperCommand

from hogeq import GameName
from hogeq.cli import leave_the_prompt, options
from hogeq.cli.inputs import Chosen, check_output, plugins_given
from hogeq.cli.options import (
    CODE,
    HOG_ALONE,
    OF_HOG,
    OPTIMAL,
    OUTPUT,
    TREE_NAME,
    WORKERS,
    Output,
    When,
)
from hogeq.cli.shell import Result, show, warn
from hogeq.support.files import redirected
from hogeq.support.messages import DIGITS, BadInputError, digits, one_line
from hogeq.support.plugins import load_plugin

STRATEGIES = ("strategy", "a", "b", "table", "against", "opponent", "engine", "strategies")
"""Parameters that name strategies."""


class Command(TyperCommand):
    """A command made of a function that returns a `Result`, which is printed.

    It takes the options of all commands as well; of these the function is given those alone that
    it declares. Parameters are annotated with `Output`, a file to be written, and `When`, a
    condition of use. Before the function is called every condition must hold, and every file must
    be one that can be written.
    """

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        function: Callable[..., Any] = unwrap(more["callback"])
        hints = get_type_hints(function, include_extras=True)
        marks = {name: getattr(hint, "__metadata__", ()) for name, hint in hints.items()}
        self.outputs = {
            name: mark
            for name, given in marks.items()
            for mark in given
            if isinstance(mark, Output)
        }
        self.kept = [name for name, mark in self.outputs.items() if mark.is_kept]
        declared = {one.name for one in self.params}
        self.added = [
            one
            for one in _shared_parameters()
            if one.name not in declared and (one.name != "overwrite" or self.kept)
        ]
        self.params += self.added
        self.by_name = {one.name: one for one in self.params}
        self.uses = {
            self.by_name[name].opts[0]: [one for one in given if isinstance(one, When)]
            for name, given in marks.items()
            if name in self.by_name
        }
        if self.kept and all(self.by_name[name].default is None for name in self.kept):
            written = (self.by_name[name].opts[0] for name in self.kept)
            self.uses["--overwrite"] = [options.beside(*written)]
        if {"rules_name", "game_name"} <= self.by_name.keys():
            self.uses["--digits"] = [OF_HOG]

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
        """Call the function if all that was given has a use and can be written, and print."""
        self.require_use(ctx)
        given = dict(ctx.params)
        plugins = [Path(path) for path in given["plugins"] or ()]
        for one in self.added:
            del ctx.params[one.name]
        files = {name: given[name] and Path(given[name]) for name in self.outputs}
        with _writing_numbers(given["decimals"]):
            with _answer_alone() if given["as_json"] else nullcontext():
                for path in plugins:
                    load_plugin(path, given["trust"])
                plugins_given.set(plugins)
                self.check_files(files, given)
                result = super().invoke(ctx)
            if isinstance(result, Result):
                show(result.with_files(files), given["as_json"])
                if result.status:
                    raise typer.Exit(result.status)

    def require_use(self, ctx: Any) -> None:
        """Refuse an option that has no use in this call; defaults have not been given."""
        options_given = {
            one.opts[0]: ctx.params[name]
            for name, one in self.by_name.items()
            if (source := ctx.get_parameter_source(name)) and source.name == "COMMANDLINE"
        }
        tree = tree_of(ctx.params) if "game_name" in self.by_name else None
        if tree is not None:
            options_given[TREE_NAME] = tree
        for option, conditions in self.uses.items():
            for when in conditions if option in options_given else ():
                if not when.holds(options_given):
                    allowed = f"allowed only {when.words}"
                    if when is OF_HOG:
                        allowed += f"; {one_line(tree)} takes {', '.join(self._options_of_trees())}"
                    raise BadInputError(f"{option}: {allowed}")

    def _options_of_trees(self) -> list[str]:
        of_hog = {option for option, conditions in self.uses.items() if OF_HOG in conditions}
        others = of_hog | {"--game", "--rules"}
        written = (one.opts[0] for one in self.params)
        return [one for one in written if one.startswith("--") and one not in others]

    def check_files(self, files: Mapping[str, Path | None], given: Mapping[str, Any]) -> None:
        """Refuse files that could not be written, each with its option."""
        reads = texts(value for name, value in given.items() if name not in self.outputs)
        is_tree = "game_name" in self.by_name and tree_of(given) is not None
        try:
            for name, output in self.outputs.items():
                check_output(
                    files[name],
                    (is_tree and output.of_games) or output.suffixes,
                    reads=reads,
                    replace=not output.is_kept or given["overwrite"],
                    option=self.by_name[name].opts[0],
                )
        except BadInputError:  # but first a typo in a name
            self.require_names(given)
            raise

    def require_names(self, given: Mapping[str, Any]) -> None:
        """Refuse names of no game and no strategy among the arguments."""
        strategies = texts(given[name] for name in STRATEGIES if name in given)
        named = [name for name in strategies if name not in OPTIMAL]
        is_of_one_game = "rules_name" in self.by_name
        games = [given["rules_name"]] if is_of_one_game else texts([given.get("rules")])
        for one in games:
            if "game_name" in self.by_name:
                how = [given.get(name) for name in ("game_name", "forget", "teams")]
                chosen = Chosen(one, *how, trust=given["trust"])
            else:
                chosen = Chosen.hog(one, given["trust"], HOG_ALONE.get(str(self.name), ""))
            chosen.settle(named, own_goals=True)

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
            conditions = self.uses.get(parameter.opts[0], ())
            about = _plain(record[1]) + "".join(f" [only {when.words}]" for when in conditions)
            names = re.sub(r"<(int|float)( range)?>", "N", record[0])
            names = re.sub(r"<(\w+\|[^>]*)>", r"\1", names)  # choices
            groups.setdefault(group, []).append((re.sub(r" *<[^>]*>", "", names), about))
        for name in (WORKERS, OUTPUT, CODE):  # of most commands, and so the last
            groups[name] = groups.pop(name, [])
        for name, records in groups.items():
            if records:
                with formatter.section(name):
                    formatter.write_dl(records)


def _shared(
    trust: options.Trust = False,
    plugins: options.Plugins = None,
    as_json: options.AsJson = False,
    decimals: options.Decimals = DIGITS,
    overwrite: options.Overwrite = False,
) -> None:
    """Declare the options that every command takes, `overwrite` if it keeps files."""


@cache
def _shared_parameters() -> list[Any]:
    app = typer.Typer(add_completion=False)
    app.command()(_shared)
    return [one for one in typer.main.get_command(app).params if one.name != "help"]


def texts(values: Iterable[object]) -> list[str]:
    """List the texts and paths among arguments, alone or in lists."""
    each = (one for given in values for one in (given if isinstance(given, list) else [given]))
    return [str(one) for one in each if isinstance(one, str | Path)]


def tree_of(given: Mapping[str, Any]) -> str | None:
    """Name the game other than Hog that a call is about, if it is about one; nothing is built.

    It is that of --game, or of a run that is given.
    """
    game, rules = given.get("game_name"), given.get("rules_name")
    if game is None:
        paths = map(Path, texts(given.values() if rules is None else [rules]))
        game = next((str(path) for path in paths if GameName(path).config.get("game")), None)
    return None if game is None or GameName(game).is_hog else game


def _plain(about: str) -> str:
    """Write an option's help without the signs of programs: 0 to 16 for 0<=x<=16."""
    about = re.sub(r" *\[required\]", "", about)
    about = re.sub(r"([0-9.]+)<=x<=([0-9.]+)", r"\1 to \2", about)
    return re.sub(r"x>=([0-9.]+)", r"\1 or more", about).replace("  ", " ")


@contextmanager
def _writing_numbers(decimals: int) -> Iterator[None]:
    """Write numbers by --digits, and end with one line if interrupted."""
    before = digits.set(decimals)
    try:
        yield
    except KeyboardInterrupt as stop:
        leave_the_prompt()
        status = 128 + getattr(stop, "signum", signal.SIGINT)
        raise typer.Exit(warn(str(stop) or "stopped", status)) from None
    finally:
        digits.reset(before)


@contextmanager
def _answer_alone() -> Iterator[None]:
    """Leave standard output to the answer, which is printed after the block.

    All that commands and plugins print there, in processes of ours too, goes to standard error.
    """
    with redirected(1, to=2), redirect_stdout(sys.stderr):
        yield
