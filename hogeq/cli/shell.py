"""What all commands share: the application, its exit statuses, and how results are printed."""

import errno
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, redirect_stdout
from contextvars import ContextVar
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO, get_type_hints

import typer
from typer.core import TyperGroup
from typer.models import CommandFunctionType

from hogeq.cli.startup import INTERRUPTED
from hogeq.support.messages import one_line
from hogeq.support.numbers import counted
from hogeq.support.parameters import MOST_JOBS
from hogeq.support.plugins import load_plugin

if TYPE_CHECKING:
    from hogeq.search.attack import SearchBudget
    from hogeq.search.saturation import Saturation
    from hogeq.support.executors import Workers

LONGEST = 2000  # characters of a message
NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}  # a disk is full


class BadInputError(ValueError):
    """What a user gave cannot be used; the message is one line."""


def say(what: object, status: int) -> int:
    """Print one line to standard error and give back the exit status."""
    line = one_line(what, LONGEST)
    typer.echo(encodable(f"hogeq: {line}", sys.stderr.encoding), err=True)
    return status


@contextmanager
def refusing() -> Iterator[None]:
    """Count errors of values, types and files in the block as bad input.

    For reading what the user gave and writing where the user said, and for nothing else: such an
    error from the middle of a computation is a failure of ours.
    """
    try:
        yield
    except BadInputError:
        raise
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        raise BadInputError(f"{where}{error.strerror or error}") from error
    except (ValueError, TypeError) as error:
        raise BadInputError(str(error)) from error


class _Commands(TyperGroup):
    """Ends every command with the right status, and one line where something is wrong."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise typer.Exit(say("stopped", INTERRUPTED)) from None

    def main(self, *args: Any, standalone_mode: bool = True, **extra: Any) -> Any:
        status = self._status(*args, **{**extra, "prog_name": "hogeq", "standalone_mode": False})
        if standalone_mode:
            sys.exit(status)
        return status

    def _status(self, *args: Any, **extra: Any) -> int:
        try:
            _require_output()
            found = super().main(*args, **extra)
        except BadInputError as error:
            return say(error, 2)
        except typer.Abort:
            return say("stopped", INTERRUPTED)
        except Exception as error:
            if isinstance(error, OSError) and error.errno in NO_ROOM:
                _drop_what_is_left(sys.stdout)
                where = f"{error.filename}:" if error.filename else "output"
                return say(f"{where} cannot be written: {error.strerror}", 2)
            usage = getattr(error, "format_message", None)
            if usage is not None:
                context = getattr(error, "ctx", None)
                command = context.command_path if context else "hogeq"
                return say(f"{usage().rstrip('.')}; see {command} --help", 2)
            if os.environ.get("HOGEQ_DEBUG"):
                raise
            kind = type(error).__name__
            return say(f"internal failure: {kind}: {error} (HOGEQ_DEBUG=1 shows where)", 1)
        return found if isinstance(found, int) else 0


def _require_output() -> None:
    if sys.stdout is None:
        raise BadInputError("standard output is closed; allowed: a file, say /dev/null")


def _drop_what_is_left(stream: TextIO) -> None:
    """Drop what a stream could not write, or Python would try once more when it ends."""
    try:
        stream.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


class _App(typer.Typer):
    """An application all of whose commands take plugins."""

    def command(
        self, *arguments: Any, **options: Any
    ) -> Callable[[CommandFunctionType], CommandFunctionType]:
        enter = super().command(*arguments, **options)

        def decorate(function: CommandFunctionType) -> CommandFunctionType:
            enter(_with_plugins(function))
            return function

        return decorate


def _with_plugins(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the option --plugin, and --trust if it has none of its own."""

    @wraps(function)
    def command(*, plugins: list[Path] | None, trust: bool, **given: Any) -> Any:
        with _answers_alone() if given.get("as_json") else nullcontext():
            with refusing():
                for path in plugins or ():
                    load_plugin(path, trust)
            return function(**({**given, "trust": trust} if "trust" in own else given))

    own = get_type_hints(function, include_extras=True)
    ours = {"trust": TrustOption, "plugins": PluginOption}
    added: dict[str, Any] = {name: kind for name, kind in ours.items() if name not in own}
    defaults = {"trust": False, "plugins": None}
    options = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=defaults[name], annotation=kind)
        for name, kind in added.items()
    ]
    before = [
        parameter.replace(annotation=own[parameter.name], kind=Parameter.KEYWORD_ONLY)
        for parameter in signature(function).parameters.values()
    ]
    command.__annotations__ = {**own, **added}
    command.__signature__ = Signature([*before, *options])  # type: ignore[attr-defined]
    return command


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


# --- options that many commands take --------------------------------------------------------------

RulesOption = Annotated[
    str,
    typer.Option(
        "--rules", metavar="RULES", help="An edition's name or a YAML file of rule parts."
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
DigitsOption = Annotated[
    int,
    typer.Option("--digits", min=0, max=16, help="Decimals of per cents and percentage points."),
]
TrustOption = Annotated[
    bool,
    typer.Option("--trust", help="Run somebody's code: plugins, and strategies in .py files."),
]
PluginOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--plugin",
        metavar="FILE.py",
        help="A file that registers rule parts, editions, strategies, solvers or purifiers.",
    ),
]
JobsOption = Annotated[
    int | None,
    typer.Option(
        min=1, max=MOST_JOBS, help="Threads; the result does not depend on it. [all cores]"
    ),
]

OnOption = Annotated[
    str | None,
    typer.Option(
        metavar="WHERE",
        help="Compute on local (processes) or dask://HOST:PORT, with the same result. [threads]",
    ),
]


ScoreOption = Annotated[int, typer.Option("--score", help="Points of the player to move.")]
OpponentOption = Annotated[int, typer.Option("--opponent", help="Points of the other player.")]
MemoryOption = Annotated[
    bool, typer.Option("--memory", help="Players remember everything that happened.")
]


@contextmanager
def computing(on: str | None, jobs: int | None) -> Iterator["Workers"]:
    """Choose who computes in a block, as :func:`hogeq.support.workers.workers` does."""
    from hogeq.support.executors import ExecutorError, WorkersLostError
    from hogeq.support.workers import workers

    try:
        with workers(jobs, on) as found:
            yield found
    except ExecutorError as error:
        where = "--" if str(error).startswith("on: ") else ""
        raise BadInputError(f"{where}{error}") from error
    except WorkersLostError as error:
        raise typer.Exit(say(f"{error}; what is done is kept", 1)) from None


# --- printing -------------------------------------------------------------------------------------

_answers: ContextVar[list[str] | None] = ContextVar("answers", default=None)


@contextmanager
def _answers_alone() -> Iterator[None]:
    """Leave standard output to what is emitted in the block, which is printed after it.

    What plugins print there, in processes of ours too, goes to standard error.
    """
    found: list[str] = []
    token = _answers.set(found)
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        _answers.reset(token)
        for answer in found:
            typer.echo(answer)


def emit(data: Mapping[str, Any], text: str, as_json: bool) -> None:
    """Print a result to standard output: as one JSON object, or for people."""
    if not as_json:
        typer.echo(encodable(text, sys.stdout.encoding))
        return
    answer, answers = json.dumps(data, allow_nan=False), _answers.get()
    if answers is None:
        typer.echo(answer)
    else:
        answers.append(answer)


def table(rows: Sequence[Sequence[object]], header: Sequence[str] = (), left: int = 1) -> str:
    """Lay out rows in columns, the first `left` of them flush left and the others right.

    Parameters
    ----------
    rows : sequence of rows
        All of the same length; shown as texts.
    header : sequence of str
        Of the columns; none if empty.
    left : int
        Columns of text.
    """
    cells = [[str(cell) for cell in row] for row in rows]
    if header:
        cells.insert(0, list(header))
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if column < left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    )


def budget_fields(budget: "SearchBudget") -> dict[str, Any]:
    """Give a search budget as it stands in JSON."""
    return {
        "starts": budget.starts,
        "anneal_steps": budget.anneal_steps,
        "damping": budget.damping,
        "kicks": budget.perturbations,
        "seed": budget.seed,
    }


def budget_text(budget: "SearchBudget") -> str:
    """Say a search budget in one line."""
    more = f" or more, at most {budget.most_kicks}," if budget.until_saturated else ","
    return (
        f"effort: {counted(budget.starts, 'start')}, "
        f"{counted(budget.anneal_steps, 'anneal step')}, damping {budget.damping}, "
        f"{counted(budget.perturbations, 'kick')}{more} seed {budget.seed}"
    )


def saturation_text(found: "Saturation", digits: int) -> str:
    """Say in one line whether a search has saturated, and mark it if not."""
    from hogeq.support.numbers import pp

    if found.left is None:
        return "not saturated: too few kicks to say what more would find"
    last, left = (pp(gain, digits, signed=False) for gain in (found.last_half, found.left))
    return (
        f"{'saturated' if found.saturated else 'not saturated'}: the last half of the sweeps "
        f"found {last}, twice as many would find about {left}"
    )


def encodable(text: str, encoding: str | None) -> str:
    """Write out what an encoding cannot say."""
    encoding = encoding or "ascii"
    return text.encode(encoding, "backslashreplace").decode(encoding)
