"""The strategies that have a name: strategies."""

import typer

from hogeq.cli.shell import (
    JsonOption,
    emit,
    table,
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(strategies)


def strategies(as_json: JsonOption = False) -> None:
    """List the strategies that have a name."""
    from hogeq.baselines.registry import names

    known = names()
    emit({"strategies": known}, table(list(known.items()), left=2), as_json)
