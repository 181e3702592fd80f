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
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hogeq.cli.application import app
    from hogeq.cli.inputs import AnyGame, Chosen, HogGame
    from hogeq.cli.options import RulesName, StrategyName, Trust
    from hogeq.cli.shell import Result
    from hogeq.support.messages import Table, pp
else:

    def __getattr__(name: str) -> object:
        """Import a public name when it is first asked for."""
        if name in __all__:
            modules = (import_module(f"hogeq.{module}") for module in _MODULES)
            return next(getattr(module, name) for module in modules if hasattr(module, name))
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "AnyGame",
    "Chosen",
    "HogGame",
    "Result",
    "RulesName",
    "StrategyName",
    "Table",
    "Trust",
    "app",
    "main",
    "pp",
]

_MODULES = (
    "cli.inputs",
    "cli.options",
    "cli.shell",
    "support.messages",
    "cli.application",
)  # where the names live; imported when a name is first needed

INTERRUPTED = 130  # 128 + SIGINT, as shells have it

KEPT_OBJECTS = 500_000  # new objects after which Python's garbage collector runs


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status.

    The status is 0 after success, 2 after bad input, 1 after a failure, 130 if interrupted. `argv`
    has the words after the program's name, by default those of the process.
    """
    _set_up_process()
    words = list(sys.argv[1:] if argv is None else argv)
    first_word = words[0] if words else ""
    if first_word == "help":  # hogeq help COMMAND, as of other programs
        words = [*words[1:], "--help"]
    elif first_word in {"version", "-V"}:
        words = ["--version"]
    try:
        from typer.main import get_command

        from hogeq.cli.application import app

        status: int = get_command(app).main(args=words, standalone_mode=False)
    except KeyboardInterrupt:  # commands handle it themselves: this one came during imports
        leave_the_prompt()
        with suppress(OSError):
            os.write(2, b"hogeq: stopped\n")
        return INTERRUPTED
    return status


def _set_up_process() -> None:
    """Set what must be set before other modules are imported: a fast start, and safe output."""
    # Imported modules are never garbage, and a collection would take longer than most commands.
    gc.set_threshold(KEPT_OBJECTS)
    atexit.register(gc.freeze)
    if sys.stderr is None:  # standard error is closed: messages go nowhere
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        sys.stderr = os.fdopen(2, "w")
    os.environ["MPLBACKEND"] = "agg"  # matplotlib draws to files only
    # Numpy's threads take time to start, and hogeq computes in workers of its own.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def leave_the_prompt() -> None:
    """Begin a new line of a terminal, which has just shown ^C."""
    with suppress(OSError):
        if os.isatty(2):
            os.write(2, b"\n")
