"""The YAML config of a run: read, checked whole before anything runs, and written back resolved.

Every problem is a `ConfigError` of one line: where (the key's path), what was given, what is
allowed, and the nearest known key where one was misspelt.
"""

import dataclasses
import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NoReturn, TypeAlias, TypeVar

import yaml
from pydantic import Field

from hogeq.purification import PURIFIERS, Purifier
from hogeq.rules import Rules
from hogeq.rules.reading import rules_of, with_tables
from hogeq.runs.files import CONFIG, PLUGINS, ResultsError
from hogeq.search.attack import SearchBudget
from hogeq.solvers import SOLVERS, Solver
from hogeq.support.messages import missing, one_line, refusal, shown, unknown_key
from hogeq.support.parameters import Count, Seed, keys, parameters, plain
from hogeq.support.plugins import (
    Plugin,
    PluginError,
    load_named,
    loaded,
    named_plugins,
    read_plugin,
)
from hogeq.support.yaml import MAX_DEPTH, ConfigError, parse_yaml, read_text, read_yaml

NAME_ALLOWED: Final = (
    "a folder's name: up to 100 letters, digits and . _ - + = , @, the first a letter or digit and "
    "the last no dot"
)

Name: TypeAlias = Annotated[
    str,
    Field(
        pattern=r"^[A-Za-z0-9]([A-Za-z0-9._=+,@-]{0,98}[A-Za-z0-9_=+,@-])?$",
        description=NAME_ALLOWED,
    ),
]
"""A name that can be a folder's."""


@parameters
class ConfigKeys:
    """A config, its sections not yet looked into."""

    name: Name
    rules: Annotated[
        str | dict[str, Any], Field(description="an edition's name or a mapping of parts")
    ]
    solver: dict[str, Any]
    measure: dict[str, Any] = Field(default_factory=dict)
    purify: dict[str, Any] = Field(default_factory=dict)
    seed: Seed = 0
    plugins: list[str] = Field(default_factory=list)


@parameters
class SolverKeys:
    """What the section of the solver holds besides the solver's own parameters."""

    name: str
    iterations: Count
    seed: Seed = 0


@parameters
class MeasureKeys:
    """The section of the measurements."""

    every: Literal["log"] | Count = "log"
    attack: dict[str, Any] = Field(default_factory=dict)
    final_attack: dict[str, Any] | None = None


_Kind = TypeVar("_Kind")


def build(
    kind: type[_Kind], given: object, path: str, source: str, around: Collection[str] = ()
) -> _Kind:
    """Build parameters from a mapping, or refuse it with a `ConfigError` on its first problem."""
    known = {*keys(kind), *around}
    if not isinstance(given, Mapping):
        refuse(source, path, given, f"a mapping with {', '.join(sorted(known))}")
    require_known(given, known, path, source)
    try:
        return kind(**given)
    except (ValueError, TypeError) as error:
        where = f"{path}." if path else ""
        raise ConfigError(f"{source}: {where}{one_line(error, 500)}") from error


def require_known(given: Mapping[Any, Any], known: Collection[str], path: str, source: str) -> None:
    """Refuse a mapping with a key that is not known."""
    for key, value in given.items():
        if key not in known:
            raise ConfigError(f"{source}: {unknown_key(path, key, value, known)}")


def refuse(
    source: str, path: str, given: object, allowed: str, choices: Iterable[str] = ()
) -> NoReturn:
    """Refuse the value of a key."""
    raise ConfigError(f"{source}: {refusal(path, given, allowed, choices)}")


def refuse_missing(source: str, path: str, allowed: str) -> NoReturn:
    """Refuse a mapping that lacks a key."""
    raise ConfigError(f"{source}: {missing(path, allowed)}")


def apply_overrides(tree: object, overrides: Sequence[str]) -> dict[str, Any]:
    """Set values by their paths in a copy of a config's plain values."""
    if not isinstance(tree, Mapping):
        refuse("config", "", tree, f"a mapping with {', '.join(sorted(keys(ConfigKeys)))}")
    result = dict(tree)
    for item in overrides:
        path, value = parse_override(item)
        _set_at(result, path, value, f"--set {one_line(item)}")
    return result


def parse_override(item: str, option: str = "--set") -> tuple[str, Any]:
    """Take ``"solver.iterations=50"`` apart: a key's path, and a value in YAML."""
    where = f"{option} {one_line(item)}"
    path, equals, text = item.partition("=")
    path = path.strip()
    if not equals or not all(path.split(".")) or path.count(".") > MAX_DEPTH:
        raise ConfigError(f"{where}: not understood; allowed: key=value, seed=1 say")
    return path, parse_yaml(text, where)


def set_keys(
    tree: Mapping[str, Any], values: Mapping[str, Any], source: str = "config"
) -> dict[str, Any]:
    """Set values by their paths in a copy of a config's plain values."""
    result = dict(tree)
    for path, value in values.items():
        if not all(path.split(".")) or path.count(".") > MAX_DEPTH:
            raise ConfigError(f"{source}: {one_line(path)}: not a key's path; solver.name is one")
        _set_at(result, path, value, f"{source}: {one_line(path)}")
    return result


def _set_at(tree: dict[str, Any], path: str, value: object, where: str) -> None:
    node, parts = tree, path.split(".")
    for depth, key in enumerate(parts[:-1], start=1):
        below = node.get(key)
        if depth == 1 and key == "rules" and isinstance(below, str):
            below = {"edition": below}
        if below is None:
            below = {}
        if not isinstance(below, Mapping):
            above = ".".join(parts[:depth])
            raise ConfigError(f"{where}: {above} is {shown(below)}, which has no keys")
        node[key] = node = dict(below)
    node[parts[-1]] = value


@dataclasses.dataclass(frozen=True)
class SolverConfig:
    """Which solver, for how long, and the solver's own parameters."""

    name: str
    iterations: int
    seed: int
    params: Solver[Any]


@dataclasses.dataclass(frozen=True)
class MeasureConfig:
    """When to measure, and how hard to search for an attack."""

    every: int | Literal["log"]
    attack: SearchBudget
    final_attack: SearchBudget | None


@dataclasses.dataclass(frozen=True)
class PurifyConfig:
    """How a policy becomes a matrix."""

    method: str
    params: Purifier


@dataclasses.dataclass(frozen=True)
class Config:
    """One experiment, checked and with every default filled in."""

    name: str
    seed: int
    rules: Rules
    solver: SolverConfig
    measure: MeasureConfig
    purify: PurifyConfig
    plugins: tuple[Plugin, ...] = ()

    def resolved(self) -> dict[str, Any]:
        """Return the config as plain values, nothing left to a default."""
        solver = self.solver
        measure = self.measure
        plugins = [kept_as(plugin) for plugin in self.plugins]
        return {
            "name": self.name,
            "seed": self.seed,
            **({"plugins": plugins} if plugins else {}),
            "rules": plain(self.rules),
            "solver": {
                "name": solver.name,
                "iterations": solver.iterations,
                **plain(solver.params),
                "seed": solver.seed,
            },
            "measure": {
                "every": measure.every,
                "attack": plain(measure.attack),
                "final_attack": measure.final_attack and plain(measure.final_attack),
            },
            "purify": {"method": self.purify.method, **plain(self.purify.params)},
        }

    def to_yaml(self) -> str:
        """Return the resolved config as YAML, which `load_config` reads to an equal config.

        It names plugins where a run directory keeps them.
        """
        return yaml.safe_dump(self.resolved(), sort_keys=False, allow_unicode=True)

    def fingerprint(self) -> str:
        """Hash what the numbers of a checkpoint depend on (SHA-256, hexadecimal).

        Left out: the name, the number of iterations (a finished run may be continued), and what
        comes after the last checkpoint: how the policy becomes a matrix, and the budget of the
        final search. How many threads compute is in no config.
        """
        tree = self.resolved()
        del tree["name"], tree["seed"], tree["solver"]["iterations"], tree["purify"]
        del tree["measure"]["final_attack"]
        if self.plugins:
            tree["plugins"] = facts(self.plugins)
        text = json.dumps(tree, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()


def load_config(path: str | Path, overrides: Iterable[str] = (), trust: bool = False) -> Config:
    """Read a config file.

    Parameters
    ----------
    path : str or Path
        A YAML file of at most `MAX_BYTES`.
    overrides : iterable of str
        ``"solver.iterations=50"`` and the like, applied in order: a key's path, ``=``, and a value
        in YAML.
    trust : bool
        Allow to run the code of the plugins that the config names.

    Returns
    -------
    Config

    Raises
    ------
    ConfigError
        The file cannot be read, is not plain YAML, or does not describe a run, or a plugin is not
        trusted or refused.

    Examples
    --------
    >>> from pathlib import Path
    >>> import hogeq
    >>> _ = Path("small.yaml").write_text(
    ...     "{name: small, rules: fa22, solver: {name: dcfr, iterations: 3}}", "utf-8"
    ... )
    >>> config = hogeq.load_config("small.yaml", ["rules={edition: fa22, goal: 10, max_dice: 2}"])
    >>> config.rules.goal, config.solver.iterations
    (10, 3)
    """
    source = one_line(path)
    overrides = list(overrides)
    tree = parse_yaml(read_text(Path(path)), source)
    if tree is None:
        raise ConfigError(
            f"{source}: the file is empty; allowed: a mapping with "
            f"{', '.join(sorted(keys(ConfigKeys)))}"
        )
    if overrides:
        tree = apply_overrides(tree, overrides)
        source = f"{source} with {' '.join(f'--set {item}' for item in overrides)}"
        source = one_line(source)
    load_named(tree, Path(path).parent, source, trust)
    return config_from(tables_read(tree, Path(path).parent, source), source)


def recorded_config(path: Path, trust: bool = False) -> Config:
    """Read the `config.yaml` that a run wrote.

    Its plugins run if they are trusted or were loaded before, just as they are.
    """
    source = one_line(path)
    tree = parse_yaml(read_text(path), source)
    load_named(tree, path.parent, source, trust)
    return config_from(tree, source)


def tables_read(tree: Any, folder: Path, source: str) -> Any:
    """Read the tables that the rules of a config name as files, so that a run needs no file."""
    if not isinstance(tree, Mapping) or "rules" not in tree:
        return tree
    return {**tree, "rules": with_tables(tree["rules"], folder, source)}


def config_from(tree: object, source: str = "config") -> Config:
    """Check plain values (as YAML gives them) and build the config they describe."""
    top = build(ConfigKeys, tree, "", source)
    return Config(
        name=top.name,
        seed=top.seed,
        rules=rules_of(top.rules, source),
        solver=_solver(top.solver, top.seed, source),
        measure=_measure(top.measure, top.seed, source),
        purify=purify_from(top.purify, top.seed, source),
        plugins=loaded(),
    )


def _solver(given: dict[str, Any], seed: int, source: str) -> SolverConfig:
    # The name first: what else is allowed depends on it.
    allowed = f"one of {', '.join(sorted(SOLVERS))}"
    if "name" not in given:
        refuse_missing(source, "solver.name", allowed)
    name = given["name"]
    if not isinstance(name, str) or name not in SOLVERS:
        refuse(source, "solver.name", name, allowed, SOLVERS)
    kind = SOLVERS[name]
    common = keys(SolverKeys)
    own = [key for key in keys(kind) if key not in common]
    require_known(given, [*common, *own], "solver", source)
    shared = {key: given[key] for key in common if key in given}
    head = build(SolverKeys, {"seed": seed, **shared}, "solver", source)
    params = {key: given[key] for key in own if key in given}
    if "seed" in keys(kind):
        params["seed"] = head.seed
    return SolverConfig(name, head.iterations, head.seed, build(kind, params, "solver", source))


def purify_from(given: Mapping[str, Any], seed: int, source: str) -> PurifyConfig:
    """Build the section `purify`; a method that takes a seed has this one if it is given none."""
    parameters = dict(given)
    method = parameters.pop("method", "argmax")
    if not isinstance(method, str) or method not in PURIFIERS:
        refuse(source, "purify.method", method, f"one of {', '.join(PURIFIERS)}", PURIFIERS)
    kind = PURIFIERS[method]
    if "seed" in keys(kind):
        parameters = {"seed": seed, **parameters}
    return PurifyConfig(method, build(kind, parameters, "purify", source, around=["method"]))


def _measure(given: dict[str, Any], seed: int, source: str) -> MeasureConfig:
    head = build(MeasureKeys, given, "measure", source)
    attack = build(SearchBudget, {"seed": seed, **head.attack}, "measure.attack", source)
    final = head.final_attack
    if final is None:
        return MeasureConfig(head.every, attack, None)
    budget = build(SearchBudget, {"seed": seed, **final}, "measure.final_attack", source)
    return MeasureConfig(head.every, attack, budget)


def kept_as(plugin: Plugin) -> str:
    """Where a run directory keeps a plugin."""
    return f"{PLUGINS}/{plugin.file}"


def facts(plugins: Sequence[Plugin]) -> list[dict[str, str]]:
    """Describe plugins for a manifest: the file's name and a hash of its content."""
    return [{"file": plugin.file, "sha256": plugin.sha256} for plugin in plugins]


def require_same_plugins(directory: Path, plugins: Sequence[Plugin]) -> None:
    """Refuse to go on with a run that was made with other plugins."""
    path = directory / CONFIG
    if not path.exists():
        return
    tree: Any = read_yaml(path)
    try:
        before = {
            found.file: found
            for found in map(read_plugin, named_plugins(tree, directory, str(path)))
        }
    except PluginError as error:
        raise ResultsError(str(error)) from error
    now = {plugin.file: plugin for plugin in plugins}
    for file in sorted({*before, *now}):
        if before.get(file) != now.get(file):
            change = "has changed" if file in before and file in now else "was not loaded"
            if file not in now:
                change = "is not loaded now"
            raise ResultsError(
                f"{directory} was made with other plugins: {file} {change} since; --overwrite"
                " starts anew"
            )
