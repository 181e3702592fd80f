"""Kernels compiled ahead of their use: warmup."""

import time
from typing import Annotated

import typer

from hogeq.cli.inputs import load_game
from hogeq.cli.shell import JobsOption, JsonOption, computing, emit
from hogeq.support.numbers import counted


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(warmup)


def warmup(
    rules: Annotated[
        list[str] | None,
        typer.Option(
            "--rules", metavar="RULES", help="As elsewhere; may be repeated. [su20 and fa22]"
        ),
    ] = None,
    jobs: JobsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compile ahead what commands on an edition compile when they are first used.

    All cores are used. What is compiled is kept, and what is kept is not compiled again. The two
    editions of the default cover the games with points remembered and those without a memory.
    """
    chosen = rules or ["su20", "fa22"]
    games = [load_game(name) for name in chosen]
    from hogeq.model.compiling import cache_facts, compile_kernel, parts
    from hogeq.support.progress import phase, show_progress
    from hogeq.support.workers import compute, cores

    begun = time.monotonic()
    before = cache_facts().kernels
    found = {
        kernel.file: kernel
        for part in parts(game.rules for game in games)
        for kernel in part.missing()
    }
    missing = sorted(found.values(), key=lambda kernel: -kernel.seconds)
    width = min(cores() if jobs is None else jobs, len(missing))
    with (
        show_progress(),
        computing("local" if width > 1 else None, max(1, width)),
        phase("compiling kernels", len(missing), "kernel") as told,
    ):
        compute(compile_kernel, missing, lambda _: told.step())
    facts = cache_facts()
    data = {
        "rules": chosen,
        "compiled": facts.kernels - before,
        "kernels": facts.kernels,
        "folder": str(facts.folder),
        "seconds": time.monotonic() - begun,
    }
    text = (
        f"{counted(facts.kernels - before, 'kernel')} compiled in {data['seconds']:.1f} s, "
        f"{facts.kernels} in {facts.folder}"
    )
    emit(data, text, as_json)
