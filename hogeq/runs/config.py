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

from hogeq import PURIFIERS, SOLVERS, Budget, GameName, Purifier, Rules, Solver, rules_from
from hogeq.runs.directory import plugin_facts, plugin_path
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

    @property
    def final_effort(self) -> Budget:
        """Effort behind the final figures of a run."""
        return self.final_attack or self.attack


@parameters
class PurifyConfig:
    """Method that makes a policy a matrix; files have the method's parameters beside its name."""

    method: str
    params: Annotated[InstanceOf[Purifier], WithJsonSchema({})]


def _split_section(
    content: object, seed: int, name_key: str, registry: Mapping[str, Any], *other_keys: str
) -> dict[str, Any]:
    """Split a config section into its own keys and the parameters of what it names.

    `name_key` is the key that names an entry of the registry, and `other_keys` are the section's
    other own keys. All further keys are parameters of the entry's class, and the result has an
    instance of it under "params". `seed` is the default of a key "seed", if there is one.
    """
    if not isinstance(content, Mapping):
        raise NotAllowedError(f"a mapping with {name_key} and parameters of what it names")
    allowed = f"one of {', '.join(sorted(registry))}"
    if name_key not in content:
        raise ParameterError(missing(name_key, allowed))
    name = content[name_key]
    if not isinstance(name, str) or name not in registry:
        raise ParameterError(refusal(name_key, name, allowed, registry))
    params_class = registry[name]
    own_keys = keys(params_class)
    require_known(content, {name_key, *other_keys, *own_keys})
    if "seed" in {*other_keys, *own_keys}:
        content = {"seed": seed, **content}
    section_values = {key: content[key] for key in (name_key, *other_keys) if key in content}
    params = params_class(**{key: content[key] for key in own_keys if key in content})
    return {**section_values, "params": params}


def _seed_of(info: ValidationInfo) -> int:
    """Seed of the config whose section is read; the field `seed` is validated before sections."""
    return int(info.data.get("seed", 0))


def _solver(content: object, info: ValidationInfo) -> SolverConfig:
    """Read the section `solver`."""
    seed = _seed_of(info)
    return SolverConfig(**_split_section(content, seed, "name", SOLVERS, "iterations", "seed"))


def _measure(content: object, info: ValidationInfo) -> object:
    """Give the seed of the config to searches that have none of their own."""
    if not isinstance(content, Mapping):
        return content
    searches = {"attack": {}, **content}
    for name in ("attack", "final_attack"):
        if isinstance(searches.get(name), Mapping):
            searches[name] = {"seed": _seed_of(info), **searches[name]}
    return searches


def purify_from(content: object, seed: int = 0) -> PurifyConfig:
    """Read the section `purify`; `seed` is the default for methods that take a seed."""
    if isinstance(content, Mapping):
        content = {"method": "argmax", **content}
    return PurifyConfig(**_split_section(content, seed, "method", PURIFIERS))


def _rules(content: object) -> Rules:
    """Read the section `rules`; runs are of rules by which both players have the same goal."""
    if not isinstance(content, str | Mapping | Rules):
        raise NotAllowedError("an edition's name or a mapping of parts")
    rules = content if isinstance(content, Rules) else rules_from(content)
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
        PlainSerializer(lambda plugins: [plugin_path(plugin) for plugin in plugins]),
        WithJsonSchema({}),
    ]
    game: str = ""  # other than Hog, as ``--game`` takes it; rules then have no meaning
    forget: str = ""
    teams: str = ""
    rules: Annotated[Rules, BeforeValidator(_rules)]
    solver: Annotated[SolverConfig, BeforeValidator(_solver)]
    measure: Annotated[MeasureConfig, section(MeasureConfig), BeforeValidator(_measure)]
    purify: Annotated[
        PurifyConfig, BeforeValidator(lambda content, info: purify_from(content, _seed_of(info)))
    ]

    def resolved(self) -> dict[str, Any]:
        """Return the config as plain values, with every default filled in."""
        tree = plain(self)
        for key in ("plugins", "game", "forget", "teams"):
            if not tree[key]:  # not used; hashes of configs without these keys stay valid
                del tree[key]
        if self.game:
            del tree["rules"]
        for name in ("solver", "purify"):  # files have the parameters beside the name
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
        effort = tree["measure"]["attack"]
        # Older checkpoints lack these limits, and their hashes must stay valid.
        for limit in ("seconds", "exact_seconds"):
            if effort[limit] is None:
                del effort[limit]
        if self.plugins:
            tree["plugins"] = plugin_facts(self.plugins)
        text = json.dumps(tree, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()


_ALLOWED_MAPPING: Final = f"a mapping with {', '.join(sorted(keys(Config)))}"


def config_from(tree: object, source: str = "config") -> Config:
    """Check plain values (as YAML gives them) and build the config that they describe.

    `source` begins the message of a `ConfigError`.
    """
    if isinstance(tree, Mapping):
        if tree.get("game"):
            if "rules" in tree:
                problem = refusal("rules", tree["rules"], "none where a game is given")
                raise ConfigError(f"{source}: {problem}")
            tree = {"rules": {}, **tree}  # the default rules, which such a run does not use
            # A game may be an edition of Hog, which the config has as its rules.
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


def build(kind: type[Kind], content: object, source: str) -> Kind:
    """Make a class's instance from plain values; `source` begins the message of an error."""
    try:
        return read(kind, content)
    except NotAllowedError as error:
        raise ConfigError(f"{source}: {refusal('', content, error.allowed)}") from error
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
        raise ConfigError(f"{source}: the file is empty; allowed: {_ALLOWED_MAPPING}")
    if overrides:
        tree = apply_overrides(tree, overrides)
        source = f"{source} with {' '.join(f'--set {item}' for item in overrides)}"
        source = one_line(source)
    load_named(tree, Path(path).parent, source, trust)
    return config_from(read_tables(tree, Path(path).parent, source), source)


def read_tables(tree: Any, folder: Path, source: str) -> Any:
    """Replace the file names of tables in a config's rules by the tables that the files hold.

    The config then needs no other file. `tree` has the config's plain values; paths are relative to
    `folder`, and `source` begins the message of an error.
    """
    if not isinstance(tree, Mapping) or "rules" not in tree:
        return tree
    return {**tree, "rules": GameName.with_tables(tree["rules"], folder, source)}


# --- keys set by their paths ----------------------------------------------------------------------


def apply_overrides(tree: object, overrides: Sequence[str]) -> dict[str, Any]:
    """Set values in a copy of a config's plain values, by overrides such as "solver.name=dcfr"."""
    if not isinstance(tree, Mapping):
        raise ConfigError(f"config: {refusal('', tree, _ALLOWED_MAPPING)}")
    result = dict(tree)
    settings = [parse_override(override) for override in overrides]
    if any(path == "game" and value for path, value in settings):
        # The base's rules are of Hog, not of this game. Rules that an override sets are refused.
        result.pop("rules", None)
    for override, (path, value) in zip(overrides, settings, strict=True):
        set_key(result, path, value, f"--set {one_line(override)}")
    return result


def parse_override(item: str, option: str = "--set") -> tuple[str, Any]:
    """Split ``"solver.iterations=50"`` into a key's path and a value, which is YAML."""
    where = f"{option} {one_line(item)}"
    path, equals, text = item.partition("=")
    if not equals or not path.strip():
        raise ConfigError(f"{where}: not understood; allowed: key=value, seed=1 say")
    return path.strip(), parse_yaml(text, where)


def set_key(tree: dict[str, Any], path: str, value: object, where: str) -> None:
    """Set a value in place by its path, keys joined by dots.

    Mappings on the path are made if missing, and otherwise copied: other trees may share them.
    `where` begins the message of an error.
    """
    keys_on_path = path.split(".")
    if not all(keys_on_path) or len(keys_on_path) > MAX_DEPTH:
        raise ConfigError(f"{where}: not a key's path; solver.name is one")
    mapping = tree
    for depth, key in enumerate(keys_on_path[:-1], start=1):
        inner = mapping.get(key)
        if depth == 1 and key == "rules" and isinstance(inner, str):
            inner = {"edition": inner}  # the long form of an edition's name, which has keys
        if not isinstance(inner, Mapping | None):
            inner_path = ".".join(keys_on_path[:depth])
            raise ConfigError(f"{where}: {inner_path} is {shown(inner)}, which has no keys")
        copy = dict(inner or {})
        mapping[key] = copy
        mapping = copy
    mapping[keys_on_path[-1]] = value
