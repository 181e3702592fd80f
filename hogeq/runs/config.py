"""The YAML config of a run: read, checked whole before anything runs, and written back resolved.

Every problem is a `ConfigError` of one line: where (the key's path), what was given, what is
allowed, and the nearest known key where one was misspelt.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeAlias, TypeVar

import yaml
from pydantic import (
    BeforeValidator,
    Field,
    InstanceOf,
    PlainSerializer,
    ValidationInfo,
    WithJsonSchema,
)

from hogeq import (
    PURIFIERS,
    SOLVERS,
    Budget,
    GameName,
    Purifier,
    Rules,
    Solver,
    rules_from,
)
from hogeq.runs.directory import facts, stored_as
from hogeq.support.messages import missing, one_line, refusal, shown
from hogeq.support.parameters import (
    Count,
    NotAllowedError,
    ParameterError,
    Seed,
    keys,
    parameters,
    plain,
    read,
    require_known,
    section,
)
from hogeq.support.plugins import Plugin, load_named, loaded
from hogeq.support.teams import teams_text, title_of
from hogeq.support.yaml import MAX_DEPTH, ConfigError, parse_yaml, read_text

Kind = TypeVar("Kind")

Name: TypeAlias = Annotated[
    str,
    Field(
        pattern=r"^[A-Za-z0-9]([A-Za-z0-9._=+,@-]{0,98}[A-Za-z0-9_=+,@-])?$",
        description="a folder's name: up to 100 letters, digits and . _ - + = , @, the first a "
        "letter or digit and the last no dot",
    ),
]

Effort: TypeAlias = Annotated[Budget, section(Budget)]

# --- sections -------------------------------------------------------------------------------------


@parameters
class SolverConfig:
    """Solver, iterations, seed, and its own parameters, which files have beside these."""

    name: str
    iterations: Count
    params: Annotated[InstanceOf[Solver[Any]], WithJsonSchema({})]
    seed: Seed = 0


@parameters
class MeasureConfig:
    """Schedule of measurements, and effort of attacks."""

    every: Literal["log"] | Count = "log"
    attack: Effort = Budget()
    final_attack: Effort | None = None


@parameters
class PurifyConfig:
    """Method that makes a policy a matrix; files have the method's parameters beside its name."""

    method: str
    params: Annotated[InstanceOf[Purifier], WithJsonSchema({})]


def _parts(
    given: object, seed: int, choice: str, registry: Mapping[str, Any], *others: str
) -> dict[str, Any]:
    """Split a section: a name in a registry, other keys, the parameters of the entry."""
    if not isinstance(given, Mapping):
        raise NotAllowedError(f"a mapping with {choice} and parameters of what it names")
    allowed = f"one of {', '.join(sorted(registry))}"
    if choice not in given:
        raise ParameterError(missing(choice, allowed))
    name = given[choice]
    if not isinstance(name, str) or name not in registry:
        raise ParameterError(refusal(choice, name, allowed, registry))
    kind = registry[name]
    own_keys = keys(kind)
    require_known(given, {choice, *others, *own_keys})
    if "seed" in {*others, *own_keys}:
        given = {"seed": seed, **given}
    section_values = {key: given[key] for key in (choice, *others) if key in given}
    params = kind(**{key: given[key] for key in own_keys if key in given})
    return {**section_values, "params": params}


def _seed_of(info: ValidationInfo) -> int:
    return int(info.data.get("seed", 0))


def _solver(given: object, info: ValidationInfo) -> SolverConfig:
    return SolverConfig(**_parts(given, _seed_of(info), "name", SOLVERS, "iterations", "seed"))


def _measure(given: object, info: ValidationInfo) -> object:
    """Give the seed of the config to searches that have none of their own."""
    if not isinstance(given, Mapping):
        return given
    searches = {"attack": {}, **given}
    for name in ("attack", "final_attack"):
        if isinstance(searches.get(name), Mapping):
            searches[name] = {"seed": _seed_of(info), **searches[name]}
    return searches


def purify_from(given: object, seed: int = 0) -> PurifyConfig:
    """Read the section `purify`; a method that takes a seed has this one if it is given none."""
    if isinstance(given, Mapping):
        given = {"method": "argmax", **given}
        if given["method"] == "sample":  # its name up to 0.2
            given = {"threshold": 0.0, **given, "method": "threshold"}
    return PurifyConfig(**_parts(given, seed, "method", PURIFIERS))


def _rules(given: object) -> Rules:
    if not isinstance(given, str | Mapping | Rules):
        raise NotAllowedError("an edition's name or a mapping of parts")
    rules = given if isinstance(given, Rules) else rules_from(given)
    rules.require_one_goal()
    return rules


@parameters
class Config:
    """One experiment, checked and with every default filled in."""

    _: KW_ONLY
    name: Name
    seed: Seed = 0
    plugins: Annotated[
        tuple[InstanceOf[Plugin], ...],
        BeforeValidator(lambda _: loaded()),  # those that a config names are loaded before
        PlainSerializer(lambda plugins: [stored_as(plugin) for plugin in plugins]),
        WithJsonSchema({}),
    ]
    game: str = ""  # other than Hog, as ``--game`` takes it; rules then have no meaning
    forget: str = ""
    teams: str = ""
    rules: Annotated[Rules, BeforeValidator(_rules)]
    solver: Annotated[SolverConfig, BeforeValidator(_solver)]
    measure: Annotated[MeasureConfig, section(MeasureConfig), BeforeValidator(_measure)]
    purify: Annotated[
        PurifyConfig, BeforeValidator(lambda given, info: purify_from(given, _seed_of(info)))
    ]

    def resolved(self) -> dict[str, Any]:
        """Return the config as plain values, nothing left to a default."""
        tree = plain(self)
        for key in ("plugins", "game", "forget", "teams"):
            if not tree[key]:
                del tree[key]
        if self.game:
            del tree["rules"]
        for name in ("solver", "purify"):
            tree[name] |= tree[name].pop("params")
        return tree

    @property
    def title(self) -> str:
        """Name of the game."""
        return title_of(self.game, **self.how) if self.game else str(self.rules.name)

    @property
    def how(self) -> dict[str, Any]:
        """Teams of a game other than Hog, and its forgetting."""
        return {"forget": self.forget or None, "teams": self.teams or None}

    def to_yaml(self) -> str:
        """Return the resolved config as YAML, which `load_config` reads to an equal config."""
        return yaml.safe_dump(self.resolved(), sort_keys=False, allow_unicode=True)

    def fingerprint(self) -> str:
        """Hash the keys that the numbers of a checkpoint depend on (SHA-256, hexadecimal)."""
        tree = self.resolved()
        # A finished run may be continued, and what follows the last checkpoint may change.
        del tree["name"], tree["seed"], tree["solver"]["iterations"], tree["purify"]
        del tree["measure"]["final_attack"]
        effort = tree["measure"]["attack"]  # limits in seconds are newer than checkpoints
        for limit in ("seconds", "exact_seconds"):
            if effort[limit] is None:
                del effort[limit]
        if self.plugins:
            tree["plugins"] = facts(self.plugins)
        text = json.dumps(tree, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()


_MAPPING: Final = f"a mapping with {', '.join(sorted(keys(Config)))}"


def config_from(tree: object, source: str = "config") -> Config:
    """Check plain values (as YAML gives them) and build the config they describe."""
    if isinstance(tree, Mapping):
        if tree.get("game"):
            if "rules" in tree:
                problem = refusal("rules", tree["rules"], "none where a game is given")
                raise ConfigError(f"{source}: {problem}")
            tree = {"rules": {}, **tree}
            if isinstance(tree["game"], str) and GameName(tree["game"]).is_hog:
                tree = {**tree, "game": "", "rules": GameName(tree["game"]).rules()}
        for key in ("forget", "teams"):
            if not tree.get("game") and tree.get(key):
                raise ConfigError(f"{source}: {refusal(key, tree[key], 'with a game')}")
        if tree.get("teams"):
            try:
                tree = {**tree, "teams": teams_text(tree["teams"])}
            except ValueError as error:
                raise ConfigError(f"{source}: {error}") from error
        tree = {"plugins": [], "measure": {}, "purify": {}, **tree}
    return build(Config, tree, source)


def build(kind: type[Kind], given: object, source: str) -> Kind:
    """Read parameters from plain values; `source` begins an error's line."""
    try:
        return read(kind, given)
    except NotAllowedError as error:
        raise ConfigError(f"{source}: {refusal('', given, error.allowed)}") from error
    except ValueError as error:
        raise ConfigError(f"{source}: {one_line(error, 500)}") from error


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
        raise ConfigError(f"{source}: the file is empty; allowed: {_MAPPING}")
    if overrides:
        tree = apply_overrides(tree, overrides)
        source = f"{source} with {' '.join(f'--set {item}' for item in overrides)}"
        source = one_line(source)
    load_named(tree, Path(path).parent, source, trust)
    return config_from(tables_read(tree, Path(path).parent, source), source)


def tables_read(tree: Any, folder: Path, source: str) -> Any:
    """Read the tables that the rules of a config name as files, so that a run needs no file."""
    if not isinstance(tree, Mapping) or "rules" not in tree:
        return tree
    return {**tree, "rules": GameName.with_tables(tree["rules"], folder, source)}


# --- keys set by their paths ----------------------------------------------------------------------


def apply_overrides(tree: object, overrides: Sequence[str]) -> dict[str, Any]:
    """Set values by their paths in a copy of a config's plain values."""
    if not isinstance(tree, Mapping):
        raise ConfigError(f"config: {refusal('', tree, _MAPPING)}")
    result = dict(tree)
    settings = [parse_override(override) for override in overrides]
    if any(path == "game" and value for path, value in settings):
        result.pop("rules", None)  # which play another game; those that are set are refused
    for override, (path, value) in zip(overrides, settings, strict=True):
        set_key(result, path, value, f"--set {one_line(override)}")
    return result


def parse_override(item: str, option: str = "--set") -> tuple[str, Any]:
    """Take ``"solver.iterations=50"`` apart: a key's path, and a value in YAML."""
    where = f"{option} {one_line(item)}"
    path, equals, text = item.partition("=")
    if not equals or not path.strip():
        raise ConfigError(f"{where}: not understood; allowed: key=value, seed=1 say")
    return path.strip(), parse_yaml(text, where)


def set_key(tree: dict[str, Any], path: str, value: object, where: str) -> None:
    """Set a value by its path, in place; mappings on the way are copied, or made."""
    keys_on_path = path.split(".")
    if not all(keys_on_path) or len(keys_on_path) > MAX_DEPTH:
        raise ConfigError(f"{where}: not a key's path; solver.name is one")
    mapping = tree
    for depth, key in enumerate(keys_on_path[:-1], start=1):
        below = mapping.get(key)
        if depth == 1 and key == "rules" and isinstance(below, str):
            below = {"edition": below}
        if not isinstance(below, Mapping | None):
            path_to_it = ".".join(keys_on_path[:depth])
            raise ConfigError(f"{where}: {path_to_it} is {shown(below)}, which has no keys")
        copy = dict(below or {})
        mapping[key] = copy
        mapping = copy
    mapping[keys_on_path[-1]] = value
