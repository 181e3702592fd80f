"""Code of kernels, compiled before it is needed."""

from collections.abc import Iterable
from typing import Any

from hogeq.games.hog import Hog
from hogeq.model.compiling import cache, missing, parts_of
from hogeq.support.progress import phase
from hogeq.support.workers import cores


def compiled_code() -> dict[str, Any]:
    """Describe the compiled code that is kept: its folder, and what is in it.

    Examples
    --------
    >>> import hogeq
    >>> sorted(hogeq.compiled_code())
    ['bytes', 'folder', 'kernels', 'problem', 'state', 'writable']
    """
    sizes = [file.stat().st_size for file in cache.stored()]
    problem = cache.problem()  # why kernels cannot be kept; empty if they can
    return {
        "folder": cache.root(),
        "problem": problem,
        "writable": not problem,
        "state": cache.state(),
        "kernels": len(sizes),
        "bytes": sum(sizes),
    }


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
    named = [*parts]
    # By file, since games share kernels.
    by_file = {
        kernel.file: kernel
        for game in games
        for kernel in missing(game.engine, *(named or parts_of(game.engine)))
    }
    kernels = list(by_file.values())
    width = min(cores() if jobs is None else jobs, len(kernels))
    with phase("compiling kernels", len(kernels), "kernel") as progress:
        cache.compile_all(kernels, width, progress.step)
