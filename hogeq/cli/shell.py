"""What all commands share: the application, its exit statuses, and how bad input ends."""

import errno
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, redirect_stdout
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer
from typer.core import TyperGroup
from typer.models import CommandFunctionType

from hogeq.cli import INTERRUPTED, leave_the_prompt, options
from hogeq.cli.options import Output
from hogeq.cli.result import Result, encodable, show
from hogeq.cli.uses import NEVER, uses
from hogeq.support.messages import DIGITS, BadInputError, digits, one_line
from hogeq.support.plugins import load_plugin
from hogeq.support.progress import show_progress

if TYPE_CHECKING:
    from hogeq.support.workers import Workers

LONGEST = 2000  # characters of a message
NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}  # a disk is full


def warn(what: object, status: int = 0) -> int:
    """Print one line to standard error and give back the exit status."""
    line = one_line(what, LONGEST)
    typer.echo(encodable(f"hogeq: {line}", sys.stderr.encoding), err=True)
    return status


@contextmanager
def refusing() -> Iterator[None]:
    """Count errors of values, types and files in the block as bad input.

    Only for what uses what the user gave: such an error from the middle of a computation is a
    failure of ours. A `BadInputError`, or an error that names a file, needs no such block.
    """
    try:
        yield
    except BadInputError:
        raise
    except (ValueError, TypeError) as error:
        raise BadInputError(str(error)) from error
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        raise BadInputError(f"{where}{error.strerror or error}") from error


@contextmanager
def computing(on: str | None = None, jobs: int | None = None) -> Iterator["Workers"]:
    """Choose who computes in a block (:func:`hogeq.support.workers.workers`), and show progress."""
    from hogeq.support.workers import ExecutorError, WorkersLostError, workers

    try:
        with workers(jobs, on) as chosen, show_progress():
            yield chosen
    except ExecutorError as error:
        where = "--" if str(error).startswith("on: ") else ""
        raise BadInputError(f"{where}{error}") from error
    except WorkersLostError as error:
        raise typer.Exit(warn(f"{error}; what is done is kept", 1)) from None


class _Commands(TyperGroup):
    """Ends every command with the right status, and one line where something is wrong."""

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
    """Say in one line how a command ended, and its status."""
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
    if os.environ.get("HOGEQ_DEBUG"):
        raise error
    kind = type(error).__name__
    return f"internal failure: {kind}: {error} (HOGEQ_DEBUG=1 shows where)", 1


def _drop_what_is_left() -> None:
    """Drop what standard output could not take, or Python would try again when it ends."""
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
    """Give a function the options of all commands, and print what it returns.

    A parameter of type `Chosen` or `AnyChosen` becomes the options by which a game is chosen.
    Before anything is computed, it is checked that every `Output` can be written.
    """
    from hogeq.cli.inputs import AnyChosen, Chosen, check_output

    own = get_type_hints(function, include_extras=True)
    outputs = {
        name: kind.__metadata__[-1]
        for name, kind in own.items()
        if isinstance(getattr(kind, "__metadata__", (None,))[-1], Output)
    }
    choice = next((one for one in own.items() if one[1] in {Chosen, AnyChosen}), None)
    shared: dict[str, tuple[Any, Any]] = {
        "as_json": (options.Json, False),
        "decimals": (options.Digits, DIGITS),
        "trust": (options.Trust, False),
        "plugins": (options.Plugins, None),
    }
    if any(output.is_kept for output in outputs.values()):
        shared = {"overwrite": (options.Overwrite, False), **shared}
    never = {option for option, when in uses(written, ()) if when is NEVER}
    shared = {key: one for key, one in shared.items() if _written(key, one[0]) not in never}
    by = {} if choice is None else get_type_hints(choice[1].__init__, include_extras=True)
    chosen_by = [name for name in by if name not in {"trust", "return"}]
    parameters = [
        *(_keyword(name, by[name], None) for name in chosen_by),
        *(
            _keyword(name, own[name], one.default)
            for name, one in signature(function).parameters.items()
            if name not in shared and (choice is None or name != choice[0])
        ),
        *(_keyword(name, *shared[name]) for name in shared),
    ]

    def checked(given: dict[str, Any], trust: bool) -> dict[str, Any]:
        overwrite = given.pop("overwrite") if "overwrite" in shared else True
        reads = [value for name, value in given.items() if name not in outputs]
        for name, output in outputs.items():
            check_output(
                given[name],
                (given.get("game") and output.of_games) or output.suffixes,
                reads=reads,
                replace=overwrite or not output.is_kept,
                option=_written(name, own[name]),
            )
        if choice is not None:
            chosen = {name: given.pop(name) for name in chosen_by}
            given[choice[0]] = choice[1](**chosen, trust=trust)
        return {**given, "trust": trust} if "trust" in own else given

    @wraps(function)
    def command(
        *,
        as_json: bool,
        decimals: int = DIGITS,
        trust: bool = False,
        plugins: list[Path] | None = None,
        **given: Any,
    ) -> None:
        with _asked(decimals):
            with _answer_alone() if as_json else nullcontext():
                for path in plugins or ():
                    load_plugin(path, trust)
                result = function(**checked(given, trust))
            if isinstance(result, Result):
                show(result, as_json)
                if result.status:
                    raise typer.Exit(result.status)

    command.__annotations__ = {one.name: one.annotation for one in parameters}
    command.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return command


def _written(name: str, kind: Any) -> str:
    """Write an option as users do."""
    declared = kind.__metadata__[0].default
    return declared if isinstance(declared, str) else f"--{name.replace('_', '-')}"


def _keyword(name: str, kind: Any, default: Any) -> Parameter:
    """Declare an option; of what is true or false there is no --no-NAME unless it is named."""
    if getattr(kind, "__args__", ()) == (bool,) and kind.__metadata__[0].default is ...:
        kind.__metadata__[0].default = f"--{name.replace('_', '-')}"  # where typer looks for it
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=kind)


@contextmanager
def _asked(decimals: int) -> Iterator[None]:
    """Write numbers as the user asks, and end with one line if the user interrupts."""
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

    What commands and plugins print there, in processes of ours too, goes to standard error.
    """
    sys.stdout.flush()
    before = os.dup(1)
    os.dup2(2, 1)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(before, 1)
        os.close(before)


app = _App(
    cls=_Commands,
    help="Hog, the dice game: exact win rates, optimal play, and how exploitable strategies are.",
    add_completion=False,
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
