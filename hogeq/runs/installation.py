"""The installation: versions, extras, isolation of others' code, and compiled kernels."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

from hogeq.model.compiling import cache, missing, parts_of
from hogeq.model.game import HogEngine
from hogeq.runs.files import environment, extras, vector_bits
from hogeq.support.progress import phase
from hogeq.support.sandbox import isolation
from hogeq.support.workers import cores


def installation(games: Mapping[str, HogEngine]) -> dict[str, Any]:
    """Describe this installation, and the compiled kernels of some games by name."""
    machine = environment()
    sizes = [file.stat().st_size for file in cache.stored()]
    return {
        **{key: machine[key] for key in ("hogeq", "python", "platform", "packages", "cores")},
        "extras": extras(),
        "vector_bits": vector_bits(),
        "isolation": isolation().text,
        "cache": {
            "folder": cache.root(),
            "problem": cache.problem(),  # why kernels cannot be kept; empty if they can
            "writable": not cache.problem(),
            "state": cache.state(),
            "kernels": len(sizes),
            "bytes": sum(sizes),
        },
        "compiled": {
            name: {part: not any(missing(game, part)) for part in parts_of(game)}
            for name, game in games.items()
        },
    }


def installation_rows(data: Mapping[str, Any]) -> list[tuple[str, object]]:
    """Lay out an installation, as the command prints it: a title and a value in each row."""
    kernels = data["cache"]
    compiled = []
    for name, parts in data["compiled"].items():
        lacking = ", ".join(part for part, is_compiled in parts.items() if not is_compiled)
        compiled.append((f"for {name}", f"not yet: {lacking}" if lacking else "all"))
    return [
        ("hogeq", data["hogeq"]),
        ("Python", f"{data['python']}, {data['platform']}"),
        *data["packages"].items(),
        *((f"[{name}]", version or "not installed") for name, version in data["extras"].items()),
        ("cores", f"{data['cores']}, vectors of {data['vector_bits']} bits"),
        ("code of others is isolated", data["isolation"]),
        ("kernels in", kernels["folder"]),
        *([("kernels cannot be kept", kernels["problem"])] if kernels["problem"] else []),
        ("compiled", f"{kernels['kernels']}, {kernels['bytes'] / 1e6:.1f} MB"),
        *compiled,
    ]


def compiled_ahead(games: Sequence[HogEngine], jobs: int | None) -> dict[str, Any]:
    """Compile the kernels of games, on all cores; give the number compiled, and the time."""
    begun = time.monotonic()
    num_before = len(cache.stored())
    # By file, since games share kernels.
    by_file = {kernel.file: kernel for game in games for kernel in missing(game, *parts_of(game))}
    kernels = list(by_file.values())
    width = min(cores() if jobs is None else jobs, len(kernels))
    with phase("compiling kernels", len(kernels), "kernel") as progress:
        cache.compile_all(kernels, width, progress.step)
    stored = len(cache.stored())
    return {
        "compiled": stored - num_before,
        "kernels": stored,
        "folder": cache.root(),
        "seconds": time.monotonic() - begun,
    }
