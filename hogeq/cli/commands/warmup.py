"""Kernels compiled ahead of their use: warmup."""

import time

from hogeq.cli.commands.doctor import USUAL
from hogeq.cli.inputs import Chosen
from hogeq.cli.options import JobsOption, ManyRules
from hogeq.cli.result import Result
from hogeq.cli.shell import computing
from hogeq.support.numbers import counted


def warmup(rules: ManyRules = None, jobs: JobsOption = None) -> Result:
    """Compile ahead what commands on an edition compile when they are first used.

    All cores are used. What is compiled is kept, and what is kept is not compiled again. The two
    editions of the default cover the games with points remembered and those without a memory.
    """
    chosen = list(rules or USUAL)
    games = [Chosen(name).load() for name in chosen]
    from hogeq.model.compiling import cache, missing, parts_of
    from hogeq.support.progress import phase, show_progress
    from hogeq.support.workers import compute, cores

    begun, before = time.monotonic(), len(cache.stored())
    by_file = {kernel.file: kernel for game in games for kernel in missing(game, *parts_of(game))}
    kernels = list(by_file.values())
    width = min(cores() if jobs is None else jobs, len(kernels))
    with (
        show_progress(),
        computing("local" if width > 1 else None, max(1, width)),
        phase("compiling kernels", len(kernels), "kernel") as progress,
    ):
        compute(cache.compile_in_worker, kernels, lambda _: progress.step())
    seconds, stored = time.monotonic() - begun, len(cache.stored())
    compiled = stored - before
    data = {
        "rules": chosen,
        "compiled": compiled,
        "kernels": stored,
        "folder": str(cache.root()),
        "seconds": seconds,
    }
    line = f"{counted(compiled, 'kernel')} compiled in {seconds:.1f} s, {stored} in {cache.root()}"
    return Result(data, [line])
