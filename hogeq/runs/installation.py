"""The installation: versions, extras, isolation of others' code, and compiled kernels."""

import contextlib
import importlib.metadata
import re
from collections.abc import Mapping
from typing import Any, Final

from hogeq import CompiledCode, Hog
from hogeq.runs.files import environment, version_of
from hogeq.support.sandbox import isolation

_DEVELOPER_EXTRAS: Final = {"dev", "docs"}  # not listed, since users do not need them


def installation(games: Mapping[str, Hog], kept: CompiledCode) -> dict[str, Any]:
    """Describe this installation, and the compiled kernels of some games by name, as plain values.

    `kept` are the kernels in the cache.
    """
    machine = environment()
    return {
        **{key: machine[key] for key in ("hogeq", "python", "platform", "packages", "cores")},
        "extras": _extras(),
        "vector_bits": _vector_bits(),
        "isolation": isolation().text,
        "cache": kept.to_json(),
        "compiled": {name: game.compiled() for name, game in games.items()},
    }


def rows(facts: Mapping[str, Any], kept: CompiledCode) -> list[tuple[str, object]]:
    """Lay out the values of `installation`, as rows of a title and a value."""
    compiled_rows = []
    for name, parts in facts["compiled"].items():
        missing = ", ".join(part for part, is_compiled in parts.items() if not is_compiled)
        compiled_rows.append((f"for {name}", f"not yet: {missing}" if missing else "all"))
    return [
        ("hogeq", facts["hogeq"]),
        ("Python", f"{facts['python']}, {facts['platform']}"),
        *facts["packages"].items(),
        *((f"[{name}]", version or "not installed") for name, version in facts["extras"].items()),
        ("cores", f"{facts['cores']}, vectors of {facts['vector_bits']} bits"),
        ("code of others is isolated", facts["isolation"]),
        ("kernels in", kept.folder),
        *([("kernels cannot be kept", kept.problem)] if kept.problem else []),
        ("compiled", f"{kept.kernels}, {kept.bytes / 1e6:.1f} MB"),
        *compiled_rows,
    ]


def _extras() -> dict[str, str | None]:
    """Give the version of the package that each optional extra installs; None if it is missing."""
    versions: dict[str, str | None] = {}
    # Without metadata, as in a checkout that is not installed, no extras are known.
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        for requirement in importlib.metadata.requires("hogeq") or ():
            # Such as: matplotlib>=3.9; extra == "plot"
            match = re.match(r"""([\w.-]+).*extra == ['"]([\w-]+)['"]""", requirement)
            if match:
                package, extra = match.groups()
                if extra not in _DEVELOPER_EXTRAS:
                    versions[extra] = version_of(package)
    return versions


def _vector_bits() -> int:
    """Give the width of the processor's vectors, which sets the speed of kernels."""
    from llvmlite import binding

    features = binding.get_host_cpu_features()
    widths = {"avx512f": 512, "avx": 256, "sse2": 128, "neon": 128}  # the widest first
    return next((width for feature, width in widths.items() if features.get(feature)), 64)
