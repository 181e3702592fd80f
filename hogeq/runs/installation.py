"""The installation: versions, extras, isolation of others' code, and compiled kernels."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

from hogeq import Hog, compiled_code, warmup
from hogeq.runs.files import environment, extras, vector_bits
from hogeq.support.sandbox import isolation


def installation(games: Mapping[str, Hog]) -> dict[str, Any]:
    """Describe this installation, and the compiled kernels of some games by name."""
    machine = environment()
    return {
        **{key: machine[key] for key in ("hogeq", "python", "platform", "packages", "cores")},
        "extras": extras(),
        "vector_bits": vector_bits(),
        "isolation": isolation().text,
        "cache": compiled_code(),
        "compiled": {name: game.compiled() for name, game in games.items()},
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


def compiled_ahead(games: Sequence[Hog], jobs: int | None) -> dict[str, Any]:
    """Compile the kernels of games, on all cores; give the number compiled, and the time."""
    begun = time.monotonic()
    num_before = compiled_code()["kernels"]
    warmup(games, jobs=jobs)
    stored = compiled_code()
    return {
        "compiled": stored["kernels"] - num_before,
        "kernels": stored["kernels"],
        "folder": stored["folder"],
        "seconds": time.monotonic() - begun,
    }
