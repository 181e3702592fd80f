"""Commands that list rules and strategies, and look after the installation."""

import time
from typing import Annotated

from hogeq.cli import options
from hogeq.cli.inputs import Chosen
from hogeq.cli.options import TEXT, argument, option
from hogeq.cli.result import Result
from hogeq.rules import EDITIONS
from hogeq.support.messages import BadInputError, Table, Text, counted


def rules_(
    name: Annotated[
        str | None, argument("RULES", "An edition, a YAML file or a run, shown in full.")
    ] = None,
    dice: Annotated[bool, option("Mean points by dice and sides.", name="--dice"), TEXT] = False,
    trust: options.Trust = False,
) -> Result:
    """List the editions, their parts and switches.

    JSON: editions (by name; mean_points: by sides of the dice, of 1 die, 2 dice and so on), parts.
    """
    if dice and name is None:
        raise BadInputError("--dice: allowed for one game: hogeq rules fa25 --dice")
    from hogeq.rules.listing import KNOWN, described, facts, mean_points, switches

    one = Chosen(name, trust=trust)
    asked = EDITIONS
    if name is not None:
        rules = one.choose(own_goals=True)
        asked = {one.name: rules}
    data = {
        "editions": {known: facts(rules) for known, rules in asked.items()},
        "parts": {key: list(parts) for key, parts in KNOWN.items()},
    }
    text: Text = []
    for known, rules in asked.items():
        text += [*described(rules, known), ""]
        text += [*mean_points(rules), ""] if dice else []
    return Result(data, [*text, *switches()] if name is None else text[:-1])


def strategies() -> Result:
    """List the strategies that have a name."""
    from hogeq.baselines.registry import names

    known = names()
    return Result({"strategies": known}, [Table(list(known.items()), left=2)])


COMPILED = ("fa25", "su20")
"""They cover the games with points remembered and those without a memory."""


def doctor(rules: options.ManyRules = None, trust: options.Trust = False) -> Result:
    """Versions, cores, and which kernels are compiled.

    Exit status 1 if compiled kernels cannot be kept, so that every command would compile them.
    """
    games = {name: Chosen(name, trust=trust).load().hog for name in rules or COMPILED}
    from hogeq.model.compiling import cache, missing, parts_of
    from hogeq.runs.files import environment, extras, vector_bits
    from hogeq.strategies.sandbox import isolation

    made, problem = environment(), cache.problem()
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
            "writable": not problem,
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
        ("kernels in", f"{cache.root()}{f': cannot be used, {problem}' if problem else ''}"),
        ("compiled", f"{len(sizes)}, {sum(sizes) / 1e6:.1f} MB"),
    ]
    for name, parts in compiled.items():
        lacking = [part for part, is_there in parts.items() if not is_there]
        rows.append((f"for {name}", f"not yet: {', '.join(lacking)}" if lacking else "all"))
    return Result(data, [Table(rows, left=2)], 1 if problem else 0)


def warmup(
    rules: options.ManyRules = None, jobs: options.Jobs = None, trust: options.Trust = False
) -> Result:
    """Compile an edition's code now, so that first uses are fast.

    All cores are used. Compiled code is kept, and not compiled again. The two editions of the
    default cover the games with points remembered and those without a memory.
    """
    chosen = list(rules or COMPILED)
    games = [Chosen(name, trust=trust).load().hog for name in chosen]
    from hogeq.model.compiling import cache, missing, parts_of
    from hogeq.support.progress import phase
    from hogeq.support.workers import cores

    begun, before = time.monotonic(), len(cache.stored())
    by_file = {kernel.file: kernel for game in games for kernel in missing(game, *parts_of(game))}
    kernels = list(by_file.values())
    width = min(cores() if jobs is None else jobs, len(kernels))
    with phase("compiling kernels", len(kernels), "kernel") as progress:
        cache.compile_all(kernels, width, progress.step)
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
