"""What this installation is and has compiled, and compiling ahead: doctor, warmup."""

import time

from hogeq.cli.inputs import Chosen
from hogeq.cli.options import JobsOption, ManyRules
from hogeq.cli.result import Result, Table
from hogeq.cli.shell import computing
from hogeq.support.numbers import counted

EDITIONS = ("su20", "fa22")
"""They cover the games with points remembered and those without a memory."""


def doctor(rules: ManyRules = None) -> Result:
    """Versions, cores, and which kernels are compiled.

    Exit status 1 if compiled kernels cannot be kept, so that every command would compile them.
    """
    games = {name: Chosen(name).load() for name in rules or EDITIONS}
    from hogeq.model.compiling import cache, missing, parts_of
    from hogeq.runs.environment import environment, extras, vector_bits
    from hogeq.strategies.sandbox import isolation

    made, is_writable = environment(), not cache.problem()
    sizes = [file.stat().st_size for file in cache.stored()]
    compiled = {
        name: {part: not any(missing(game, part)) for part in parts_of(game)}
        for name, game in games.items()
    }
    data = {
        **{key: made[key] for key in ("hogeq", "python", "platform", "packages", "cores")},
        "extras": extras(),
        "vector_bits": vector_bits(),
        "isolation": isolation().text,
        "cache": {
            "folder": cache.root(),
            "writable": is_writable,
            "state": cache.state(),
            "kernels": len(sizes),
            "bytes": sum(sizes),
        },
        "compiled": compiled,
    }
    rows: list[tuple[str, object]] = [
        ("hogeq", data["hogeq"]),
        ("Python", f"{data['python']}, {data['platform']}"),
        *made["packages"].items(),
        *((f"[{name}]", version or "not installed") for name, version in extras().items()),
        ("cores", f"{data['cores']}, vectors of {data['vector_bits']} bits"),
        ("code of others is isolated", data["isolation"]),
        ("kernels in", f"{cache.root()}{'' if is_writable else ': cannot be written'}"),
        ("compiled", f"{len(sizes)}, {sum(sizes) / 1e6:.1f} MB"),
    ]
    for name, parts in compiled.items():
        lacking = [part for part, is_there in parts.items() if not is_there]
        rows.append((f"for {name}", f"not yet: {', '.join(lacking)}" if lacking else "all"))
    return Result(data, [Table(rows, left=2)], 0 if is_writable else 1)


def warmup(rules: ManyRules = None, jobs: JobsOption = None) -> Result:
    """Compile ahead what commands on an edition compile when they are first used.

    All cores are used. What is compiled is kept, and what is kept is not compiled again. The two
    editions of the default cover the games with points remembered and those without a memory.
    """
    chosen = list(rules or EDITIONS)
    games = [Chosen(name).load() for name in chosen]
    from hogeq.model.compiling import cache, missing, parts_of
    from hogeq.support.progress import phase
    from hogeq.support.workers import compute, cores

    begun, before = time.monotonic(), len(cache.stored())
    by_file = {kernel.file: kernel for game in games for kernel in missing(game, *parts_of(game))}
    kernels = list(by_file.values())
    width = min(cores() if jobs is None else jobs, len(kernels))
    with (
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
        "folder": cache.root(),
        "seconds": seconds,
    }
    line = f"{counted(compiled, 'kernel')} compiled in {seconds:.1f} s, {stored} in {cache.root()}"
    return Result(data, [line])
