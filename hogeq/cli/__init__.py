"""The command line: ``hogeq COMMAND ...``; its commands are in `commands`.

Commands read their arguments, call the library and print; libraries are imported where they are
used, so that small commands start fast. The commands themselves are imported by :func:`main`, or
when `app` is asked for: an interrupt while they are must find a handler.
"""

import atexit
import gc
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typer import Typer

    from hogeq.cli.application import app
    from hogeq.cli.inputs import AnyChosen, Chosen
    from hogeq.cli.shell import Result
    from hogeq.support.messages import Table, pp
else:

    def __getattr__(name: str) -> object:
        if name == "app":
            return _app()
        if name in __all__:
            homes = (import_module(f"hogeq.{home}") for home in _HOMES)
            return next(getattr(home, name) for home in homes if hasattr(home, name))
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = ["AnyChosen", "Chosen", "Result", "Table", "app", "main", "pp"]

_HOMES = "cli.inputs", "cli.shell", "support.messages"  # imported when they are first needed

INTERRUPTED = 130  # 128 + SIGINT, as shells have it

KEPT_OBJECTS = 500_000  # made and kept before Python looks for garbage


@cache
def _app() -> "Typer":
    from hogeq.cli.application import app
    from hogeq.cli.commands import GROUPS, name_of

    for group, commands in GROUPS.items():
        for command, words in commands.items():
            name = name_of(command)
            example = f"Example: hogeq {name} {words}".rstrip()
            app.command(name, epilog=example, rich_help_panel=group)(command)
    return app


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the status is 2 after bad input, 1 after a failure, 130 if interrupted."""
    # What is imported is never garbage: to look through it takes longer than most commands compute.
    gc.set_threshold(KEPT_OBJECTS)
    atexit.register(gc.freeze)
    if sys.stderr is None:  # closed: what is said there is lost
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        sys.stderr = os.fdopen(2, "w")
    os.environ["MPLBACKEND"] = "agg"  # files, whatever the user's other programs draw with
    with stopping_at_once():
        from typer.main import get_command

        commands = get_command(_app())
    words = list(sys.argv[1:] if argv is None else argv)
    if words[:1] in (["help"], ["version"], ["-V"]):  # as other programs have it
        words = [*words[1:], "--help"] if words[0] == "help" else ["--version"]
    status: int = commands.main(args=words, standalone_mode=False)
    return status


@contextmanager
def stopping_at_once() -> Iterator[None]:
    """End the process quietly if it is interrupted in the block, while modules are imported.

    A `KeyboardInterrupt` would come out of the middle of somebody's module, which may catch it.
    """
    in_main_thread = threading.current_thread() is threading.main_thread()
    if not in_main_thread or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, _stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def leave_the_prompt() -> None:
    """Begin a new line of a terminal, which has just shown ^C."""
    with suppress(OSError):
        if os.isatty(2):
            os.write(2, b"\n")


def _stop(*_: object) -> None:
    leave_the_prompt()
    with suppress(OSError):
        os.write(2, b"hogeq: stopped\n")
    os._exit(INTERRUPTED)
