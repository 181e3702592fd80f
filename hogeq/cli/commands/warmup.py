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
    from hogeq.model.compiling import cache_facts, compile_kernel, parts
    from hogeq.support.progress import phase, show_progress
    from hogeq.support.workers import compute, cores

    begun, before = time.monotonic(), cache_facts().kernels
    by_file = {
        kernel.file: kernel
        for part in parts(game.rules for game in games)
        for kernel in part.missing()
    }
    missing = sorted(by_file.values(), key=lambda kernel: -kernel.seconds)
    width = min(cores() if jobs is None else jobs, len(missing))
    with (
        show_progress(),
        computing("local" if width > 1 else None, max(1, width)),
        phase("compiling kernels", len(missing), "kernel") as progress,
    ):
        compute(compile_kernel, missing, lambda _: progress.step())
    cache, seconds = cache_facts(), time.monotonic() - begun
    compiled = cache.kernels - before
    data = {
        "rules": chosen,
        "compiled": compiled,
        "kernels": cache.kernels,
        "folder": str(cache.folder),
        "seconds": seconds,
    }
    kernels = counted(compiled, "kernel")
    line = f"{kernels} compiled in {seconds:.1f} s, {cache.kernels} in {cache.folder}"
    return Result(data, [line])
