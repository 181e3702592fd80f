"""The application: options of all commands, exit statuses, and help."""

import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, redirect_stdout
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_type_hints

import typer
from typer.core import TyperGroup
from typer.models import CommandFunctionType, ParameterInfo

from hogeq.cli import INTERRUPTED, leave_the_prompt, options
from hogeq.cli.inputs import AnyChosen, Chosen, check_output
from hogeq.cli.options import Output, When
from hogeq.cli.shell import LONGEST, NO_ROOM, Result, show, warn
from hogeq.support.files import redirected
from hogeq.support.messages import BadInputError, ExplainedError, digits
from hogeq.support.plugins import load_plugin


class _Commands(TyperGroup):
    """Ends every command with the right status, and one line where something is wrong."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands by groups, each with the first sentence of its help."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for name in self.list_commands(ctx):
            command = self.commands[name]
            group = str(getattr(command, "rich_help_panel", None) or "Commands")
            groups.setdefault(group, []).append((name, command.get_short_help_str(LONGEST)))
        for group, rows in groups.items():
            with formatter.section(group):
                formatter.write_dl(rows)

    def main(self, *args: Any, standalone_mode: bool = True, **extra: Any) -> Any:
        more = {**extra, "prog_name": "hogeq", "standalone_mode": False}
        if sys.stdout is None:
            status = warn("standard output is closed; allowed: a file, say /dev/null", 2)
        elif sys.flags.optimize > 1:
            allowed = "0 or 1, since docstrings say what rules are"
            status = warn(f"PYTHONOPTIMIZE: got {sys.flags.optimize}; allowed: {allowed}", 2)
        else:
            try:
                found = super().main(*args, **more)
                status = found if isinstance(found, int) else 0
            except Exception as error:  # noqa: BLE001 - the command ends with it
                status = warn(*_ending(error))
        if standalone_mode:
            sys.exit(status)
        return status


def _ending(error: Exception) -> tuple[object, int]:
    """Say in one line how a command ended, and its status; of a failure of ours also where."""
    if os.environ.get("HOGEQ_DEBUG"):
        traceback.print_exc()
    if isinstance(error, BadInputError):
        return error, 2
    if isinstance(error, typer.Abort):
        return "stopped", INTERRUPTED
    if isinstance(error, OSError) and (error.filename or error.errno in NO_ROOM):
        _drop_what_is_left()
        why = "cannot be written: " if error.errno in NO_ROOM else ""
        where = f"{error.filename}: " if error.filename else "output "
        return f"{where}{why}{error.strerror}", 2
    usage = getattr(error, "format_message", None)
    if usage is not None:
        context = getattr(error, "ctx", None)
        command = context.command_path if context else "hogeq"
        # Typer hands on the words of pydantic.
        line = usage().rstrip(".").replace("Value error, ", "")
        return f"{line}; see {command} --help", 2
    if isinstance(error, ExplainedError):
        return error, 1
    if not os.environ.get("HOGEQ_DEBUG"):
        traceback.print_exc()
    return f"internal failure: {type(error).__name__}: {error}", 1


def _drop_what_is_left() -> None:
    """Drop unwritten output, or Python would try again when it ends."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class _App(typer.Typer):
    """An application whose commands return a `Result`, and share the options of all commands."""

    def command(
        self, name: str | None = None, **more: Any
    ) -> Callable[[CommandFunctionType], CommandFunctionType]:
        enter = super().command(name, **{"cls": options.Command, **more})

        def decorate(function: CommandFunctionType) -> CommandFunctionType:
            enter(_command(function, name or function.__name__.replace("_", "-")))
            return function

        return decorate


def _command(function: Callable[..., Any], written: str) -> Callable[..., Any]:
    """Give a function the options of all commands, and print its result.

    A parameter of type `Chosen` or `AnyChosen` becomes the options by which a game is chosen.
    Before anything is computed, it is checked that every `Output` can be written. The attribute
    ``uses`` of what is returned has the conditions of each option.
    """
    kinds = get_type_hints(function, include_extras=True)
    own = {name: (kinds[name], one.default) for name, one in signature(function).parameters.items()}
    choice = next((name for name, (kind, _) in own.items() if kind in {Chosen, AnyChosen}), "")
    is_any = kinds.get(choice) == AnyChosen
    by = options.CHOICE[: 4 if is_any else 1] if own.pop(choice, None) else ()
    taken = _declared(written, dict.fromkeys(by, (str | None, None)) | own)
    outputs = {name: mark for name, one in taken.items() for mark in _marks(one, Output)}
    kept = [name for name, output in outputs.items() if output.is_kept]
    shared = options.EVERY | ({"overwrite": (bool, False)} if kept else {})
    taken = {name: taken[name] for name in taken if name not in shared} | _declared(written, shared)
    uses = {_written(one): _marks(one, When) for one in taken.values()}
    if kept and all(taken[name].default is None for name in kept):
        uses["--overwrite"] = [options.beside(*(_written(taken[name]) for name in kept))]
    if is_any:
        uses |= {"--rules": [options.without("--game")], "--digits": [options.OF_HOG]}

    def checked(given: dict[str, Any], trust: bool, plugins: list[Path]) -> dict[str, Any]:
        overwrite = given.pop("overwrite") if kept else True
        reads = options.texts(value for name, value in given.items() if name not in outputs)
        is_tree = is_any and options.tree_of(given) is not None
        why = "" if is_any else options.HOG_ALONE.get(written, "the command is of Hog")
        files = [(given[name], output, _written(taken[name])) for name, output in outputs.items()]
        try:
            _check_files(files, reads, is_tree, overwrite)
        except BadInputError:  # but first a typo in a name
            _settle(given, {key: given[key] for key in by}, trust, why)
            raise
        if choice:
            chosen: dict[str, Any] = {name: given.pop(name) for name in by}
            given[choice] = Chosen(**chosen, trust=trust, hog_alone=why)
            given[choice].plugins = plugins
        return {**given, "trust": trust} if "trust" in own else given

    @wraps(function)
    def command(
        *, as_json: bool, decimals: int, trust: bool, plugins: list[Path] | None, **given: Any
    ) -> None:
        with _asked(decimals):
            with _answer_alone() if as_json else nullcontext():
                for path in plugins or ():
                    load_plugin(path, trust)
                result = function(**checked(given, trust, plugins or []))
            if isinstance(result, Result):
                show(result.with_files({name: given[name] for name in outputs}), as_json)
                if result.status:
                    raise typer.Exit(result.status)

    command.__annotations__ = {name: one.annotation for name, one in taken.items()}
    vars(command).update(__signature__=Signature([*taken.values()]), uses=uses)
    return command


def _check_files(
    files: Sequence[tuple[Path | None, Output, str]],
    reads: Sequence[str],
    is_tree: bool,
    overwrite: bool,
) -> None:
    """Refuse files that could not be written; each with its option."""
    for path, output, option in files:
        suffixes = (is_tree and output.of_games) or output.suffixes
        replace = overwrite or not output.is_kept
        check_output(path, suffixes, reads=reads, replace=replace, option=option)


def _settle(given: dict[str, Any], choice: dict[str, Any], trust: bool, why: str) -> None:
    """Refuse names of no game and no strategy among the arguments of a command."""
    named = options.texts(given[name] for name in options.STRATEGIES if name in given)
    strategies = [name for name in named if name not in options.PLAYERS]
    games = [choice] if choice else [{"rules": one} for one in given.get("rules") or ()]
    for game in games:
        Chosen(**game, trust=trust, hog_alone=why).settle(strategies, own_goals=True)


def _declared(command: str, wanted: dict[str, tuple[Any, Any]]) -> dict[str, Parameter]:
    """Declare the parameters of a command, given their types and defaults."""
    return {
        name: Parameter(
            name,
            Parameter.KEYWORD_ONLY,
            default=default,
            annotation=options.declared(command, name, kind),
        )
        for name, (kind, default) in wanted.items()
    }


Mark = TypeVar("Mark")


def _marks(one: Parameter, wanted: type[Mark]) -> list[Mark]:
    """List the marks of one type with which a parameter is annotated."""
    marks = getattr(one.annotation, "__metadata__", ())
    return [mark for mark in marks if isinstance(mark, wanted)]


def _written(one: Parameter) -> str:
    """Write an option as users do."""
    declared = next((mark.default for mark in _marks(one, ParameterInfo)), None)
    return declared if isinstance(declared, str) else f"--{one.name.replace('_', '-')}"


@contextmanager
def _asked(decimals: int) -> Iterator[None]:
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


app = _App(
    cls=_Commands,
    help="Games of imperfect recall, first of all Hog, the dice game: exact win rates, optimal "
    "play, and how exploitable strategies are.",
    add_completion=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def _top(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        from hogeq import __version__

        typer.echo(__version__)
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
