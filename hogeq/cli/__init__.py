"""The command line: ``hogeq COMMAND ...``; one file for each command, in `commands`.

Commands read their arguments, call the library and print; libraries are imported where they are
used, so that small commands start fast.
"""

from collections.abc import Sequence

from hogeq.cli.commands import COMMANDS
from hogeq.cli.shell import app
from hogeq.cli.startup import rest_the_garbage_collector

__all__ = ["app", "main"]

for _command in COMMANDS:
    _command.register(app)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments; by default those of the process.

    Returns
    -------
    int
        Exit status: 0; 2 after one line on bad input; 1 after an internal failure; 130 if
        interrupted.
    """
    rest_the_garbage_collector()
    status: int = app(args=argv, standalone_mode=False)
    return status
