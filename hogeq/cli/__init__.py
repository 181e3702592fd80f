"""The command line: ``hogeq COMMAND ...``; one file for each command, in `commands`.

Commands read their arguments, call the library and print; libraries are imported where they are
used, so that small commands start fast. The commands themselves are imported by :func:`main`, or
when `app` is asked for: an interrupt while they are must find a handler.
"""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from hogeq.cli.startup import (
    draw_without_windows,
    open_standard_error,
    rest_the_garbage_collector,
    stopping_at_once,
)

if TYPE_CHECKING:
    from typer import Typer

    from hogeq.cli.shell import app
else:

    def __getattr__(name: str) -> "Typer":
        if name == "app":
            return _app()
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = ["app", "main"]


@cache
def _app() -> "Typer":
    from hogeq.cli.commands import COMMANDS, name_of
    from hogeq.cli.shell import app

    for command in COMMANDS:
        app.command(name_of(command))(command)
    return app


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the status is 2 after bad input, 1 after a failure, 130 if interrupted."""
    rest_the_garbage_collector()
    open_standard_error()
    draw_without_windows()
    with stopping_at_once():
        from typer.main import get_command

        commands = get_command(_app())
    status: int = commands.main(args=argv, standalone_mode=False)
    return status
