"""Code of kernels, compiled before it is needed."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from hogeq.games.hog import Hog
from hogeq.model.compiling import cache, missing, parts_of
from hogeq.support.progress import phase
from hogeq.support.workers import cores


class CompiledCode(NamedTuple):
    """Compiled code that is kept.

    Examples
    --------
    >>> import hogeq
    >>> code = hogeq.compiled_code()
    >>> code.kernels == 0 or code.bytes > 0
    True
    """

    folder: Path
    problem: str
    """Why kernels cannot be kept; empty if they can."""
    state: str
    """Digest of the sources and versions that they belong to."""
    kernels: int
    bytes: int

    @property
    def is_writable(self) -> bool:
        """Whether kernels can be kept."""
        return not self.problem

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        fields = self._asdict()
        first_fields = {key: fields.pop(key) for key in ("folder", "problem")}
        return {**first_fields, "writable": self.is_writable, **fields}


def compiled_code() -> CompiledCode:
    """Describe the compiled code that is kept: its folder, and what is in it.

    Examples
    --------
    >>> import hogeq
    >>> hogeq.compiled_code().state.partition("-")[0]
    'kernels'
    """
    sizes = [file.stat().st_size for file in cache.stored()]
    return CompiledCode(cache.root(), cache.problem(), cache.state(), len(sizes), sum(sizes))


def warmup(games: Iterable[Hog], parts: Iterable[str] = (), jobs: int | None = None) -> None:
    """Compile the code of games now, on all cores, so that first uses are fast.

    Parameters
    ----------
    games : iterable of Hog
    parts : iterable of str
        As `Hog.prepare` takes them; by default all.
    jobs : int, optional
        Processes that compile; by default one for each core.

    Examples
    --------
    >>> import hogeq
    >>> hogeq.warmup([hogeq.Hog("fa22")], ["matches"])
    """
    part_names = [*parts]
    kernel_by_file: dict[str, Any] = {}  # games share kernels: each file is compiled once
    for game in games:
        for kernel in missing(game.engine, *(part_names or parts_of(game.engine))):
            kernel_by_file[kernel.file] = kernel
    kernels = list(kernel_by_file.values())
    num_processes = min(cores() if jobs is None else jobs, len(kernels))
    with phase("compiling kernels", len(kernels), "kernel") as progress:
        cache.compile_all(kernels, num_processes, progress.step)
