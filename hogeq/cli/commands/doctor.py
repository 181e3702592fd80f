"""What this installation is, and what is compiled: doctor."""

from typing import Any

from hogeq.cli.inputs import Chosen
from hogeq.cli.options import ManyRules
from hogeq.cli.result import Result, Table

USUAL = ("su20", "fa22")
"""They cover the games with points remembered and those without a memory."""


def doctor(rules: ManyRules = None) -> Result:
    """Versions, cores, and which kernels are compiled.

    Exit status 1 if compiled kernels cannot be kept, so that every command would compile them.
    """
    games = {name: Chosen(name).load() for name in rules or USUAL}
    from hogeq.model.compiling import cache, missing, parts_of
    from hogeq.runs.environment import environment, extras, vector_bits
    from hogeq.strategies.sandbox import isolation

    made, is_writable = environment(), not cache.problem()
    sizes = [file.stat().st_size for file in cache.stored()]
    data: dict[str, Any] = {
        **{key: made[key] for key in ("hogeq", "python", "platform", "packages", "cores")},
        "extras": extras(),
        "vector_bits": vector_bits(),
        "isolation": isolation().text,
        "cache": {
            "folder": str(cache.root()),
            "writable": is_writable,
            "state": cache.state(),
            "kernels": len(sizes),
            "bytes": sum(sizes),
        },
        "compiled": {
            name: {part: not any(missing(game, part)) for part in parts_of(game)}
            for name, game in games.items()
        },
    }
    rows: list[tuple[str, object]] = [
        ("hogeq", data["hogeq"]),
        ("Python", f"{data['python']}, {data['platform']}"),
        *data["packages"].items(),
        *((f"[{name}]", version or "not installed") for name, version in data["extras"].items()),
        ("cores", f"{data['cores']}, vectors of {data['vector_bits']} bits"),
        ("code of others is isolated", data["isolation"]),
        ("kernels in", f"{cache.root()}{'' if is_writable else ': cannot be written'}"),
        ("compiled", f"{len(sizes)}, {sum(sizes) / 1e6:.1f} MB"),
    ]
    for name, compiled in data["compiled"].items():
        lacking = [part for part, is_there in compiled.items() if not is_there]
        rows.append((f"for {name}", f"not yet: {', '.join(lacking)}" if lacking else "all"))
    return Result(data, [Table(rows, left=2)], 0 if is_writable else 1)
