"""Commands that list rules and strategies, and look after the installation."""

import contextlib
import importlib.metadata
import re
import time
from collections.abc import Mapping
from typing import Annotated, Any

import hogeq
from hogeq.cli.inputs import Chosen, default_rules
from hogeq.cli.options import TEXT, Editions, Jobs, Trust, When, argument, option
from hogeq.cli.shell import Result
from hogeq.support.messages import HogeqError, Table, Text, counted


def rules_(
    name: Annotated[
        str | None, argument("RULES", "An edition, a YAML file or a run, shown in full.")
    ] = None,
    dice: Annotated[bool, option("Mean points by dice and sides.", name="--dice"), TEXT] = False,
    parts: Annotated[
        bool,
        option("Keys of a YAML file of rules, and what their values mean.", name="--parts"),
        TEXT,
        When("without RULES", lambda given: "name" not in given),
    ] = False,
    trust: Trust = False,
) -> Result:
    """List the editions, or show the rules of one.

    With --parts the keys of a YAML file of rules, and what each value means.

    JSON: editions (by name; mean_points: by sides of the dice, of 1 die, 2 dice and so on), parts.
    """
    if dice and name is None:
        raise HogeqError("--dice: allowed for one game: hogeq rules fa25 --dice")
    from hogeq.cli.listing import describe_rules, list_editions, list_rule_keys, mean_points

    chosen = Chosen.hog(name, trust)
    rules_by_name = hogeq.EDITIONS
    if name is not None:
        chosen_rules = chosen.choose(own_goals=True)  # which learns the name
        rules_by_name = {chosen.name: chosen_rules}
    data = {
        "editions": {edition: hogeq.rule_facts(rules) for edition, rules in rules_by_name.items()},
        "parts": {key: list(parts) for key, parts in hogeq.rule_parts().items()},
    }
    if parts:
        return Result(data, list_rule_keys())
    if name is None:
        return Result(data, list_editions(default_rules(warns=False)))
    text: Text = []
    for edition, rules in rules_by_name.items():
        text += [*describe_rules(rules, edition), ""]
        if dice:
            text += [*mean_points(rules), ""]
    return Result(data, text[:-1])  # without the last empty line


def strategies() -> Result:
    """List the strategies that have a name."""
    texts = {baseline.usage(name): baseline.text for name, baseline in hogeq.BASELINES.items()}
    return Result({"strategies": texts}, [Table(list(texts.items()), left=2)])


COMPILED = ("fa25", "su20")
"""Editions whose kernels are compiled by default: they serve games with memory and without."""


def doctor(
    editions: Editions = None,
    trust: Trust = False,
) -> Result:
    """Versions, cores, and which kernels are compiled.

    Exit status 1 if compiled kernels cannot be kept, so that every command would compile them.
    """
    games = {name: Chosen.hog(name, trust).load_hog() for name in editions or COMPILED}
    kept = hogeq.compiled_code()
    facts = _installation(games, kept)
    table = Table(_installation_rows(facts, kept), left=2)
    return Result(facts, [table], 0 if kept.is_writable else 1)


def _installation(games: "Mapping[str, hogeq.Hog]", kept: "hogeq.CompiledCode") -> dict[str, Any]:
    """Describe this installation, and the compiled kernels of some games by name, as plain values.

    `kept` are the kernels in the cache.
    """
    from hogeq.runs.files import environment
    from hogeq.support.sandbox import isolation

    machine = environment()
    return {
        **{key: machine[key] for key in ("hogeq", "python", "platform", "packages", "cores")},
        "extras": _extras(),
        "vector_bits": _vector_bits(),
        "isolation": isolation().text,
        "cache": kept.to_json(),
        "compiled": {name: game.compiled() for name, game in games.items()},
    }


def _installation_rows(
    facts: Mapping[str, Any], kept: "hogeq.CompiledCode"
) -> list[tuple[str, object]]:
    """Lay out the values of `_installation`, as rows of a title and a value."""
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
    from hogeq.runs.files import version_of

    versions: dict[str, str | None] = {}
    # Without metadata, as in a checkout that is not installed, no extras are known.
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        for requirement in importlib.metadata.requires("hogeq") or ():
            # Such as: matplotlib>=3.9; extra == "plot"
            match = re.match(r"""([\w.-]+).*extra == ['"]([\w-]+)['"]""", requirement)
            if match:
                package, extra = match.groups()
                if extra not in {"dev", "docs"}:  # users do not need these
                    versions[extra] = version_of(package)
    return versions


def _vector_bits() -> int:
    """Give the width of the processor's vectors, which sets the speed of kernels."""
    from llvmlite import binding

    features = binding.get_host_cpu_features()
    widths = {"avx512f": 512, "avx": 256, "sse2": 128, "neon": 128}  # the widest first
    return next((width for feature, width in widths.items() if features.get(feature)), 64)


def warmup(
    editions: Editions = None,
    jobs: Jobs = None,
    trust: Trust = False,
) -> Result:
    """Compile an edition's code now, so that first uses are fast.

    All cores are used. Compiled code is kept, and not compiled again. The two editions of the
    default cover the games with points remembered and those without a memory.
    """
    chosen = list(editions or COMPILED)
    games = [Chosen.hog(name, trust).load_hog() for name in chosen]
    start = time.monotonic()
    num_before = hogeq.compiled_code().kernels
    hogeq.warmup(games, jobs=jobs)
    kept = hogeq.compiled_code()
    seconds = time.monotonic() - start
    num_compiled = kept.kernels - num_before
    data = {"rules": chosen, "compiled": num_compiled, "kernels": kept.kernels}
    data |= {"folder": kept.folder, "seconds": seconds}
    compiled = f"{counted(num_compiled, 'kernel')} compiled in {seconds:.1f} s"
    return Result(data, [f"{compiled}, {kept.kernels} in {kept.folder}"])
