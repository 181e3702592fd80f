"""A command: the options that all share, refusals before anything is computed, help by groups."""

import re
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, redirect_stdout
from functools import cache, wraps
from inspect import signature, unwrap
from pathlib import Path
from typing import Any, get_type_hints

import typer
from typer.core import TyperCommand

import hogeq
from hogeq.cli import leave_the_prompt, options
from hogeq.cli.inputs import AnyGame, Chosen, HogGame, check_output, plugins_given
from hogeq.cli.options import (
    CODE,
    HOG_ALONE,
    OF_HOG,
    OF_TREES,
    OPTIMAL,
    OUTPUT,
    TREE_NAME,
    WORKERS,
    Output,
    When,
)
from hogeq.cli.shell import Result, show, warn
from hogeq.support.files import redirected
from hogeq.support.messages import DIGITS, HogeqError, digits, one_line
from hogeq.support.plugins import load_plugin

STRATEGIES = ("strategy", "a", "b", "table", "against", "opponent", "engine", "strategies")
"""Parameters that name strategies."""


class Command(TyperCommand):
    """A command made of a function that returns a `Result`, which is printed.

    It takes the options of all commands too, and passes to the function only those that the
    function declares. Parameters are annotated with `Output`, a file to be written, and `When`, a
    condition of use. Before the function is called every condition must hold, and it must be
    possible to write every file.
    """

    def __init__(self, *args: Any, **settings: Any) -> None:
        """Make typer's command, and read the marks of the function's parameters."""
        super().__init__(*args, **settings)
        function: Callable[..., Any] = unwrap(settings["callback"])
        hints = get_type_hints(function, include_extras=True)
        # Of each parameter the objects in its ``Annotated[...]``.
        metadata_by_name = {name: getattr(hint, "__metadata__", ()) for name, hint in hints.items()}
        # Parameters that name files to write.
        self.outputs = {
            name: mark
            for name, metadata in metadata_by_name.items()
            for mark in metadata
            if isinstance(mark, Output)
        }
        # Outputs whose existing files are replaced only with --overwrite.
        self.kept_outputs = [name for name, mark in self.outputs.items() if mark.is_kept]
        declared = {parameter.name for parameter in self.params}
        # Shared options that the function does not declare, and is not called with.
        self.added_parameters = [
            parameter
            for parameter in _shared_parameters()
            if parameter.name not in declared
            and (parameter.name != "overwrite" or self.kept_outputs)
        ]
        self.params += self.added_parameters
        self.parameter_of = {parameter.name: parameter for parameter in self.params}
        # Conditions of use, by option.
        self.conditions_of = {
            self.parameter_of[name].opts[0]: [
                condition for condition in metadata if isinstance(condition, When)
            ]
            for name, metadata in metadata_by_name.items()
            if name in self.parameter_of
        }
        if self.kept_outputs and all(
            self.parameter_of[name].default is None for name in self.kept_outputs
        ):
            output_options = (self.parameter_of[name].opts[0] for name in self.kept_outputs)
            self.conditions_of["--overwrite"] = [options.beside(*output_options)]
        if {"rules_name", "game_name"} <= self.parameter_of.keys():
            self.conditions_of["--digits"] = [OF_HOG]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments; explain an unknown --game or --rules, which most commands have."""
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            unknown_option = getattr(error, "option_name", "")
            name = str(ctx.info_name)
            if unknown_option == "--game" and name in HOG_ALONE:
                line = f"--game: {name} is of Hog alone ({HOG_ALONE[name]}); allowed: --rules"
            elif unknown_option == "--rules" and name == "rules":
                line = "--rules: no option here; allowed: the name alone, hogeq rules fa25"
            else:
                raise
            raise HogeqError(line) from error

    def invoke(self, ctx: Any) -> Any:
        """Call the function, and print its result.

        Before the call the conditions of all options and the files to write are checked, and
        plugins are loaded.
        """
        self.require_use(ctx)
        self.fit_default_outputs(ctx)
        values = dict(ctx.params)
        plugins = [Path(path) for path in values["plugins"] or ()]
        for parameter in self.added_parameters:
            del ctx.params[parameter.name]
        files = {name: Path(values[name]) for name in self.outputs if values[name] is not None}
        with _writing_numbers(values["decimals"]):
            with _stdout_for_answer() if values["as_json"] else nullcontext():
                for path in plugins:
                    load_plugin(path, values["trust"])
                plugins_given.set(plugins)
                if files:
                    self.check_files(files, values)
                result = super().invoke(ctx)
            if isinstance(result, Result):
                all_files = {name: files.get(name) for name in self.outputs}
                show(result.with_files(all_files), values["as_json"])
                if result.status:
                    raise typer.Exit(result.status)

    def require_use(self, ctx: Any) -> None:
        """Raise `HogeqError` for an option whose condition of use does not hold in this call."""
        options_given = {  # without defaults
            parameter.opts[0]: ctx.params[name]
            for name, parameter in self.parameter_of.items()
            if (source := ctx.get_parameter_source(name)) and source.name == "COMMANDLINE"
        }
        uses = [
            (option, when)
            for option, conditions in self.conditions_of.items()
            for when in conditions
            if option in options_given
        ]
        tree = None
        if "game_name" in self.parameter_of and any(when in {OF_HOG, OF_TREES} for _, when in uses):
            tree = name_of_tree_game(ctx.params)
        if tree is not None:
            options_given[TREE_NAME] = tree
        for option, when in uses:
            if not when.holds(options_given):
                allowed = f"allowed only {when.words}"
                if when is OF_HOG:
                    allowed += f"; {one_line(tree)} takes {', '.join(self._options_of_trees())}"
                raise HogeqError(f"{option}: {allowed}")

    def fit_default_outputs(self, ctx: Any) -> None:
        """Give default names of files, matrix.csv say, the suffix for a game other than Hog: .npz.

        A default is changed only if the command names such a game, and if its suffix is not one of
        `Output.of_games`, those of files of such games.
        """
        for name, output in self.outputs.items():
            path, source = ctx.params[name], ctx.get_parameter_source(name)
            is_default = path is not None and source and source.name == "DEFAULT"
            has_wrong_suffix = output.of_games and is_default and path.suffix not in output.of_games
            if has_wrong_suffix and name_of_tree_game(ctx.params) is not None:
                ctx.params[name] = path.with_suffix(output.of_games[0])

    def _options_of_trees(self) -> list[str]:
        """List the options of the command that apply to games other than Hog, by their long names.

        Left out are --game and --rules, which name a game, and options whose conditions of use
        fail: for Hog alone, or only beside an option for Hog alone, as --overwrite with an --out
        for Hog.
        """
        of_hog = {
            option for option, conditions in self.conditions_of.items() if OF_HOG in conditions
        }
        left_out = of_hog | {"--game", "--rules"}
        names = (parameter.opts[0] for parameter in self.params)
        of_trees = [name for name in names if name.startswith("--") and name not in left_out]
        all_given = dict.fromkeys([*of_trees, TREE_NAME], "")
        return [
            option
            for option in of_trees
            if all(
                when.holds(all_given) or when.holds({option: "", TREE_NAME: ""})
                for when in self.conditions_of.get(option, ())
            )
        ]

    def check_files(self, files: Mapping[str, Path], values: Mapping[str, Any]) -> None:
        """Raise `HogeqError` if a file to write has a wrong suffix or cannot be written.

        `files` has the path of each output that is given, `values` the values of all parameters.
        """
        try:
            for name, path in files.items():
                output = self.outputs[name]
                is_tree = output.of_games and name_of_tree_game(values) is not None
                check_output(
                    path,
                    output.of_games if is_tree else output.suffixes,
                    reads=texts(values[other] for other in values.keys() - self.outputs.keys()),
                    replace=not output.is_kept or values["overwrite"],
                    option=self.parameter_of[name].opts[0],
                )
        except HogeqError:
            self.require_names(values)  # an error about a misspelt name comes before this one
            raise

    def require_names(self, values: Mapping[str, Any]) -> None:
        """Raise `HogeqError` if a parameter names an unknown game or strategy.

        `values` has the values of all parameters. Nothing is built.
        """
        strategies = texts(values[name] for name in STRATEGIES if name in values)
        strategies = [name for name in strategies if name not in OPTIMAL]
        is_of_one_game = "rules_name" in self.parameter_of
        all_rules = [values["rules_name"]] if is_of_one_game else texts([values.get("rules")])
        for rules in all_rules:
            chosen = _choose_game({**values, "rules_name": rules}, str(self.name))
            chosen.choose(strategies, own_goals=True)
            chosen.require_names(strategies)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Write arguments by their names, in brackets if they may be left out."""
        pieces = [str(self.options_metavar)]
        for parameter in self.get_params(ctx):
            if parameter.param_type_name == "argument":
                piece = f"{parameter.metavar}{'' if parameter.nargs == 1 else ' ...'}"
                pieces.append(piece if parameter.required else f"[{piece}]")
        return pieces

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the help on arguments and options, by groups, with their conditions of use."""
        groups: dict[str, list[tuple[str, str]]] = {"Arguments": []}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is None:
                continue
            kind = "Arguments" if parameter.param_type_name == "argument" else "Options"
            group = getattr(parameter, "rich_help_panel", None) or kind
            conditions = self.conditions_of.get(parameter.opts[0], ())
            about = _without_program_signs(record[1])
            about += "".join(f" [only {when.words}]" for when in conditions)
            # The names end with a type: numbers become N, choices stay, other types are left out.
            names = re.sub(r"<(int|float)( range)?>", "N", record[0])
            names = re.sub(r"<(\w+\|[^>]*)>", r"\1", names)
            names = re.sub(r" *<[^>]*>", "", names)
            groups.setdefault(group, []).append((names, about))
        for name in (WORKERS, OUTPUT, CODE):  # most commands have these groups: they come last
            groups[name] = groups.pop(name, [])
        for name, records in groups.items():
            if records:
                with formatter.section(name):
                    formatter.write_dl(records)


def with_game_options(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Put options in place of the parameter of a command that is an `AnyGame` or a `HogGame`.

    The command returned takes the values of the options, and passes the game that they name to the
    function, as a `Chosen`. `name` is the command's, for refusals. A function without such a
    parameter is returned as it is.
    """
    parameters = list(signature(function, eval_str=True).parameters.values())
    hints = [parameter.annotation for parameter in parameters]
    game_hint = next((hint for hint in _GAME_OPTIONS if hint in hints), None)
    if game_hint is None:
        return function
    index = hints.index(game_hint)
    game_parameter = parameters[index].name
    game_options = signature(_GAME_OPTIONS[game_hint]).parameters
    parameters[index : index + 1] = game_options.values()

    @wraps(function)
    def command(**values: Any) -> Any:
        settings = {option: values.pop(option) for option in game_options}
        return function(**{game_parameter: _choose_game(settings, name)}, **values)

    del command.__wrapped__  # typer has to see the options, and not the function's own parameters
    vars(command)["__signature__"] = signature(function).replace(parameters=parameters)
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command


def _options_of_any_game(
    rules_name: options.AnyRulesName = None,
    game_name: options.GameName = None,
    forget: options.Forget = None,
    teams: options.Teams = None,
    trust: options.Trust = False,
) -> None:
    """Declare the options that stand for an `AnyGame`."""


def _options_of_hog(rules_name: options.RulesName = None, trust: options.Trust = False) -> None:
    """Declare the options that stand for a `HogGame`."""


_GAME_OPTIONS: dict[Any, Callable[..., None]] = {
    AnyGame: _options_of_any_game,
    HogGame: _options_of_hog,
}


def _choose_game(values: Mapping[str, Any], command: str) -> Chosen:
    """Choose the game that a command is called with, by the values of its options."""
    if "game_name" in values:
        # A command of somebody else may declare fewer options.
        settings = [values.get(name) for name in ("rules_name", "game_name", "forget", "teams")]
        return Chosen(*settings, trust=values["trust"])
    return Chosen.hog(values["rules_name"], values["trust"], command)


def _shared_options(
    trust: options.Trust = False,
    plugins: options.Plugins = None,
    as_json: options.AsJson = False,
    decimals: options.Decimals = DIGITS,
    overwrite: options.Overwrite = False,
) -> None:
    """Declare the options of every command; `overwrite` is only of those that keep files."""


@cache
def _shared_parameters() -> list[Any]:
    """Make typer's parameters of the options that every command takes."""
    app = typer.Typer(add_completion=False)
    app.command()(_shared_options)
    parameters = typer.main.get_command(app).params
    return [parameter for parameter in parameters if parameter.name != "help"]


def texts(values: Iterable[object]) -> list[str]:
    """List the texts and paths among the values of arguments, some of which are lists."""
    flat_values: list[object] = []
    for value in values:
        flat_values += value if isinstance(value, list) else [value]
    return [str(value) for value in flat_values if isinstance(value, str | Path)]


def name_of_tree_game(values: Mapping[str, Any]) -> str | None:
    """Name the game other than Hog that a call is about; None if it is about Hog.

    The game is that of --game, or of a run among the arguments. `values` has the values of all
    parameters. Nothing is built.
    """
    game = values.get("game_name")
    rules = values.get("rules_name")
    if game is None:
        paths = map(Path, texts(values.values() if rules is None else [rules]))
        # Only runs of other games have a "game" in their config.
        game = next((str(path) for path in paths if hogeq.GameName(path).config.get("game")), None)
    return None if game is None or hogeq.GameName(game).is_hog else game


def _without_program_signs(about: str) -> str:
    """Rewrite an option's help for people, for example 0 to 16 for 0<=x<=16."""
    about = re.sub(r" *\[required\]", "", about)
    about = re.sub(r"([0-9.]+)<=x<=([0-9.]+)", r"\1 to \2", about)
    return re.sub(r"x>=([0-9.]+)", r"\1 or more", about).replace("  ", " ")


@contextmanager
def _writing_numbers(decimals: int) -> Iterator[None]:
    """Set the decimals of numbers in a block; if the user interrupts it, exit with one line."""
    before = digits.set(decimals)
    try:
        yield
    except KeyboardInterrupt as stop:
        leave_the_prompt()
        status = 128 + getattr(stop, "signum", signal.SIGINT)  # as shells have it
        raise typer.Exit(warn(str(stop) or "stopped", status)) from None
    finally:
        digits.reset(before)


@contextmanager
def _stdout_for_answer() -> Iterator[None]:
    """Send all output of the block to standard error, so that standard output has only the answer.

    The answer is printed after the block. Output of plugins and of worker processes is sent, too.
    """
    with redirected(1, to=2), redirect_stdout(sys.stderr):
        yield
