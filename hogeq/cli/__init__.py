"""The command line: ``hogeq COMMAND ...``; its commands are in `commands`.

Commands read their arguments, call the library and print; libraries are imported where they are
used, so that small commands start fast. The commands themselves are imported by :func:`main`, or
when `app` is asked for: an interrupt while they are must be caught.
"""

import atexit
import gc
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typer import Typer

    from hogeq.cli.application import app
    from hogeq.cli.inputs import Chosen
    from hogeq.cli.options import RulesName, StrategyName, Trust
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


__all__ = [
    "Chosen",
    "Result",
    "RulesName",
    "StrategyName",
    "Table",
    "Trust",
    "app",
    "main",
    "pp",
]

_HOMES = (
    "cli.inputs",
    "cli.options",
    "cli.shell",
    "support.messages",
)  # imported when they are first needed

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
    # To start threads takes longer than a refusal; while workers compute, none would be used.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    words = list(sys.argv[1:] if argv is None else argv)
    if words[:1] in (["help"], ["version"], ["-V"]):  # as other programs have it
        words = [*words[1:], "--help"] if words[0] == "help" else ["--version"]
    try:
        from typer.main import get_command

        status: int = get_command(_app()).main(args=words, standalone_mode=False)
    except KeyboardInterrupt:  # while modules were imported
        leave_the_prompt()
        with suppress(OSError):
            os.write(2, b"hogeq: stopped\n")
        return INTERRUPTED
    return status


def leave_the_prompt() -> None:
    """Begin a new line of a terminal, which has just shown ^C."""
    with suppress(OSError):
        if os.isatty(2):
            os.write(2, b"\n")
