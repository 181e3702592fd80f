"""The installation: versions, extras, isolation of others' code, and compiled kernels."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from hogeq import CompiledCode, Hog, compiled_code, warmup
from hogeq.runs.files import environment, extras, vector_bits
from hogeq.support.sandbox import isolation


@dataclass(frozen=True)
class Installation:
    """The installation at hand, and the compiled kernels of some games."""

    hogeq: str  # versions
    python: str
    platform: str
    packages: Mapping[str, str]
    cores: int
    extras: Mapping[str, str | None]  # version of the package of each; None if that is missing
    vector_bits: int
    isolation: str  # how the code of others is isolated
    cache: CompiledCode
    compiled: Mapping[str, Mapping[str, bool]]  # of each game, which parts are

    @classmethod
    def of(cls, games: Mapping[str, Hog]) -> "Installation":
        """Describe this installation, and the compiled kernels of some games by name."""
        machine = environment()
        return cls(
            **{key: machine[key] for key in ("hogeq", "python", "platform", "packages", "cores")},
            extras=extras(),
            vector_bits=vector_bits(),
            isolation=isolation().text,
            cache=compiled_code(),
            compiled={name: game.compiled() for name, game in games.items()},
        )

    def to_json(self) -> dict[str, Any]:
        """Return the facts as plain values."""
        return {**vars(self), "cache": self.cache.to_json()}

    def rows(self) -> list[tuple[str, object]]:
        """Lay out the facts as rows of a title and a value, as ``hogeq doctor`` prints them."""
        kernels = self.cache
        compiled_rows = []
        for name, parts in self.compiled.items():
            missing = ", ".join(part for part, is_compiled in parts.items() if not is_compiled)
            compiled_rows.append((f"for {name}", f"not yet: {missing}" if missing else "all"))
        return [
            ("hogeq", self.hogeq),
            ("Python", f"{self.python}, {self.platform}"),
            *self.packages.items(),
            *((f"[{name}]", version or "not installed") for name, version in self.extras.items()),
            ("cores", f"{self.cores}, vectors of {self.vector_bits} bits"),
            ("code of others is isolated", self.isolation),
            ("kernels in", kernels.folder),
            *([("kernels cannot be kept", kernels.problem)] if kernels.problem else []),
            ("compiled", f"{kernels.kernels}, {kernels.bytes / 1e6:.1f} MB"),
            *compiled_rows,
        ]


class CompiledAhead(NamedTuple):
    """What was compiled before it was needed."""

    compiled: int  # kernels now, and ...
    kernels: int  # ... all that are kept
    folder: Path
    seconds: float


def compile_ahead(games: Sequence[Hog], jobs: int | None) -> CompiledAhead:
    """Compile the kernels of games by `jobs` processes, by default one for each core."""
    start = time.monotonic()
    num_before = compiled_code().kernels
    warmup(games, jobs=jobs)
    code = compiled_code()
    seconds = time.monotonic() - start
    return CompiledAhead(code.kernels - num_before, code.kernels, code.folder, seconds)
