"""What this installation is, and what is compiled: doctor."""

from typing import Annotated, Any

import typer

from hogeq.cli.inputs import load_game
from hogeq.cli.shell import JsonOption, emit, table


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(doctor)


def doctor(
    rules: Annotated[
        list[str] | None,
        typer.Option(
            "--rules",
            metavar="RULES",
            help="Whose kernels to look for; may be repeated. [su20 and fa22]",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Versions, cores, and which kernels are compiled.

    Exit status 1 if compiled kernels cannot be kept, so that every command would compile them.
    """
    chosen = rules or ["su20", "fa22"]
    games = {name: load_game(name) for name in chosen}
    from hogeq.model.compiling import cache_facts, parts
    from hogeq.runs.environment import environment, extras, vector_bits
    from hogeq.strategies.sandbox import isolation

    facts = cache_facts()
    made = environment()
    data: dict[str, Any] = {
        **{key: made[key] for key in ("hogeq", "python", "platform", "packages", "cores")},
        "extras": extras(),
        "vector_bits": vector_bits(),
        "isolation": isolation().text,
        "cache": {
            "folder": str(facts.folder),
            "writable": facts.writable,
            "state": facts.state,
            "kernels": facts.kernels,
            "bytes": facts.size,
        },
        "compiled": {
            name: {part.name: part.is_compiled() for part in parts([game.rules])}
            for name, game in games.items()
        },
    }
    emit(data, _text(data), as_json)
    if not facts.writable:
        raise typer.Exit(1)


def _text(data: dict[str, Any]) -> str:
    cache = data["cache"]
    facts: list[tuple[str, object]] = [
        ("hogeq", data["hogeq"]),
        ("Python", f"{data['python']}, {data['platform']}"),
        *data["packages"].items(),
        *((f"[{name}]", found or "not installed") for name, found in data["extras"].items()),
        ("cores", f"{data['cores']}, vectors of {data['vector_bits']} bits"),
        ("code of others is isolated", data["isolation"]),
        ("kernels in", cache["folder"] + ("" if cache["writable"] else ": cannot be written")),
        ("compiled", f"{cache['kernels']}, {cache['bytes'] / 1e6:.1f} MB"),
    ]
    for name, found in data["compiled"].items():
        missing = [part for part, there in found.items() if not there]
        here = "all" if not missing else f"not yet: {', '.join(missing)}"
        facts.append((f"for {name}", here))
    return table(facts, left=2)
