"""The application, with all commands: exit statuses, and the list of commands."""

import os
import sys
import traceback
from collections.abc import Callable
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.models import CommandFunctionType

import hogeq
from hogeq.cli import INTERRUPTED
from hogeq.cli.command import Command, with_game_options
from hogeq.cli.commands import GROUPS, name_of
from hogeq.cli.shell import DISK_FULL_ERRORS, MAX_MESSAGE_LENGTH, warn
from hogeq.support.messages import ExplainedError, HogeqError

# How errors of the loader of libraries, of the system and of Python say that memory is too small.
OUT_OF_MEMORY = "failed to map segment", "annot allocate memory", "can't start new thread"


class _Commands(TyperGroup):
    """Ends every command with the right status, and one line where something is wrong."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands by groups, each with the first sentence of its help."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for name in self.list_commands(ctx):
            command = self.commands[name]
            group = str(getattr(command, "rich_help_panel", None) or "Commands")
            groups.setdefault(group, []).append(
                (name, command.get_short_help_str(MAX_MESSAGE_LENGTH))
            )
        for group, rows in groups.items():
            with formatter.section(group):
                formatter.write_dl(rows)

    def main(self, *args: Any, standalone_mode: bool = True, **extra: Any) -> Any:
        """Run a command, and return its exit status, or exit if in standalone mode."""
        settings = {**extra, "prog_name": "hogeq", "standalone_mode": False}
        if sys.stdout is None:
            status = warn("standard output is closed; allowed: a file, say /dev/null", 2)
        elif sys.flags.optimize > 1:
            allowed = "0 or 1, since docstrings say what rules are"
            status = warn(f"PYTHONOPTIMIZE: got {sys.flags.optimize}; allowed: {allowed}", 2)
        else:
            try:
                result = super().main(*args, **settings)
                status = result if isinstance(result, int) else 0
            except Exception as error:  # noqa: BLE001 - the command ends with it
                status = warn(*_message_and_status(error))
        if standalone_mode:
            sys.exit(status)
        return status


def _message_and_status(error: Exception) -> tuple[object, int]:
    """Give the message and the exit status for an error that ended a command.

    If the error is a failure of hogeq's own, or if HOGEQ_DEBUG is set, its traceback is printed.
    """
    if os.environ.get("HOGEQ_DEBUG"):
        traceback.print_exc()
    if isinstance(error, HogeqError):
        return error, 2
    if isinstance(error, typer.Abort):
        return "stopped", INTERRUPTED
    if isinstance(error, OSError) and (error.filename or error.errno in DISK_FULL_ERRORS):
        _drop_unwritten_output()
        problem = "cannot be written: " if error.errno in DISK_FULL_ERRORS else ""
        where = f"{error.filename}: " if error.filename else "output "
        return f"{where}{problem}{error.strerror}", 2
    usage = getattr(error, "format_message", None)
    if usage is not None:  # an error of the command line, from typer
        context = getattr(error, "ctx", None)
        command = context.command_path if context else "hogeq"
        # Messages of pydantic, which typer passes on, begin with these words.
        line = usage().rstrip(".").replace("Value error, ", "")
        return f"{line}; see {command} --help", 2
    if isinstance(error, ExplainedError):
        return error, 1
    return _failure(error), 1


def _failure(error: Exception) -> str:
    """Give the message for an error that is a failure of hogeq's own, or of the system's memory.

    The traceback of a failure of hogeq's own is printed.
    """
    refused = _refused_memory(error)
    if refused is not None:
        return f"not enough memory: {refused}; allowed: a larger limit, see ulimit -v"
    if not os.environ.get("HOGEQ_DEBUG"):
        traceback.print_exc()
    return f"internal failure: {type(error).__name__}: {error}"


def _refused_memory(error: BaseException | None) -> BaseException | None:
    """Find the error, of an error and its causes, by which a library or thread got no memory."""
    while error is not None:
        if any(reason in str(error) for reason in OUT_OF_MEMORY):
            return error
        error = error.__cause__ or error.__context__
    return None


def _drop_unwritten_output() -> None:
    """Discard output that could not be written; otherwise Python would try again when it ends."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class _App(typer.Typer):
    """An application whose commands are each a `Command`."""

    def command(
        self, name: str | None = None, **settings: Any
    ) -> Callable[[CommandFunctionType], CommandFunctionType]:
        """Make a decorator that adds a function as a command."""
        add = super().command(name, **{"cls": Command, **settings})

        def decorate(function: CommandFunctionType) -> CommandFunctionType:
            add(with_game_options(function, name or ""))
            return function

        return decorate


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
    # Called before every command, and alone if none is named. A docstring would become the help.
    if version:
        typer.echo(hogeq.__version__)
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


for _group, _commands in GROUPS.items():
    for _command, _words in _commands.items():
        _name = name_of(_command)
        _example = f"Example: hogeq {_name} {_words}".rstrip()
        app.command(_name, epilog=_example, rich_help_panel=_group)(_command)
