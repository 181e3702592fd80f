"""The YAML config of a run: read, checked whole before anything runs, and written back resolved.

Every problem is a `ConfigError` of one line: where (the key's path), what was given, what is
allowed, and the nearest known key where one was misspelt.
"""

import dataclasses
import difflib
import functools
import hashlib
import json
import re
import reprlib
import typing
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NoReturn, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from hogeq.purify import METHODS
from hogeq.respond import Effort
from hogeq.rules import Rules, rules_from
from hogeq.solvers import SOLVERS

MAX_BYTES: Final = 1 << 20
"""Size of the largest config read, in bytes: far above any that says something."""

MAX_SEED: Final = 2**32 - 1
"""The largest seed: what every generator in use takes."""

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._=+,@-]{0,99}")
NAME_ALLOWED: Final = (
    "a folder's name: up to 100 letters, digits and . _ - + = , @, the first a letter or digit"
)

_Model = TypeVar("_Model", bound=BaseModel)


class ConfigError(ValueError):
    """A config that cannot be run; the message is one line that names the place."""


@dataclasses.dataclass(frozen=True)
class SolverConfig:
    """Which solver, for how long, and the solver's own parameters.

    Attributes
    ----------
    name : str
        A name in `hogeq.solvers.SOLVERS`.
    iterations : int
        Number of calls of the solver's ``step``, at least 1.
    seed : int
        Seed of the solver; kept even where the solver draws nothing at random.
    params : Any
        An instance of ``SOLVERS[name]``: the solver itself.
    """

    name: str
    iterations: int
    seed: int
    params: Any


@dataclasses.dataclass(frozen=True)
class MeasureConfig:
    """When to measure, and how hard to search for an attack.

    Attributes
    ----------
    every : int or "log"
        Iterations between two measurements, or "log" for 1, 2, 3, 5, 8, 13, ... The last iteration
        is measured always.
    attack : Effort
        Search effort of every measurement.
    final_attack : Effort or None
        Effort of the search on the finished policy and matrix; None: that of `attack`.
    """

    every: int | Literal["log"]
    attack: Effort
    final_attack: Effort | None


@dataclasses.dataclass(frozen=True)
class PurifyConfig:
    """How a policy becomes a matrix.

    Attributes
    ----------
    method : str
        A name in `hogeq.purify.METHODS`.
    params : Any
        An instance of ``METHODS[method]``.
    """

    method: str
    params: Any


@dataclasses.dataclass(frozen=True)
class Config:
    """One experiment, checked and with every default filled in.

    Attributes
    ----------
    name : str
        Name of the run, and of its folder.
    seed : int
        Seed of every part of the run that was given none of its own.
    rules : Rules
        The game.
    solver : SolverConfig
    measure : MeasureConfig
    purify : PurifyConfig
    """

    name: str
    seed: int
    rules: Rules
    solver: SolverConfig
    measure: MeasureConfig
    purify: PurifyConfig

    def resolved(self) -> dict[str, Any]:
        """Return the config as plain values, nothing left to a default."""
        solver = self.solver
        measure = self.measure
        return {
            "name": self.name,
            "seed": self.seed,
            "rules": _plain(self.rules),
            "solver": {
                "name": solver.name,
                "iterations": solver.iterations,
                **_plain(solver.params),
                "seed": solver.seed,
            },
            "measure": {
                "every": measure.every,
                "attack": _plain(measure.attack),
                "final_attack": measure.final_attack and _plain(measure.final_attack),
            },
            "purify": {"method": self.purify.method, **_plain(self.purify.params)},
        }

    def to_yaml(self) -> str:
        """Return the resolved config as YAML, which `load_config` reads to an equal config."""
        return yaml.safe_dump(self.resolved(), sort_keys=False, allow_unicode=True)

    def fingerprint(self) -> str:
        """Hash what the numbers of a checkpoint depend on (SHA-256, hexadecimal).

        Left out: the name, the number of iterations (a finished run may be continued), the number
        of processes, and what comes after the last checkpoint: how the policy becomes a matrix, and
        the effort of the final search.
        """
        tree = self.resolved()
        del tree["name"], tree["seed"], tree["solver"]["iterations"], tree["purify"]
        del tree["measure"]["final_attack"]
        tree["measure"]["attack"].pop("jobs", None)
        text = json.dumps(tree, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()


def load_config(path: str | Path, overrides: Iterable[str] = ()) -> Config:
    """Read a config file.

    Parameters
    ----------
    path : str or Path
        A YAML file of at most `MAX_BYTES`.
    overrides : iterable of str
        ``"solver.iterations=50"`` and the like, applied in order: a key's path, ``=``, and a value
        in YAML.

    Returns
    -------
    Config

    Raises
    ------
    ConfigError
        The file cannot be read, is not plain YAML, or does not describe a run.
    """
    source = _short(str(path))
    overrides = list(overrides)
    tree = _parse(_read(Path(path)), source)
    if tree is None:
        raise ConfigError(f"{source}: the file is empty; allowed: a mapping with {_listed(_Top)}")
    if overrides:
        tree = apply_overrides(tree, overrides)
        source = f"{source} with {' '.join(f'--set {item}' for item in overrides)}"
        source = _short(source)
    return config_from(tree, source)


def load_rules(path: str | Path) -> Rules:
    """Read a file of rule parts, what `rules` of a config may hold.

    Parameters
    ----------
    path : str or Path
        A YAML file of at most `MAX_BYTES`: a mapping of parts, or an edition's name.

    Returns
    -------
    Rules

    Raises
    ------
    ConfigError
        The file cannot be read, is not plain YAML, or does not describe rules.
    """
    source = _short(str(path))
    tree = _parse(_read(Path(path)), source)
    if not isinstance(tree, str | dict):
        _refuse(source, "", tree, "a mapping of rule parts or an edition's name")
    return _rules(tree, source)


def config_from(tree: object, source: str = "config") -> Config:
    """Check plain values (as YAML gives them) and build the config they describe.

    Parameters
    ----------
    tree : object
        A mapping with the keys of a config file; anything else is refused.
    source : str
        Where the values came from: the start of an error's line.

    Returns
    -------
    Config

    Raises
    ------
    ConfigError
        A key is unknown or missing, a value has the wrong type or is impossible.
    """
    top = checked(_Top, tree, "", source)
    check_name(top.name, source)
    return Config(
        name=top.name,
        seed=top.seed,
        rules=_rules(top.rules, source),
        solver=_solver(top.solver, top.seed, source),
        measure=_measure(top.measure, top.seed, source),
        purify=_purify(top.purify, top.seed, source),
    )


def check_name(name: str, source: str) -> None:
    """Refuse, with a `ConfigError`, a name that can be no folder's."""
    if not _NAME.fullmatch(name):
        _refuse(source, "name", name, NAME_ALLOWED)


def apply_overrides(tree: object, overrides: Sequence[str]) -> dict[str, Any]:
    """Set values by their paths in a copy of a config's plain values.

    Parameters
    ----------
    tree : object
        A mapping as `config_from` takes it; not modified.
    overrides : sequence of str
        As in `load_config`.

    Returns
    -------
    dict

    Raises
    ------
    ConfigError
        `tree` is no mapping, an override has no ``=`` or no key, its value is not YAML, or its path
        leads through something that is not a mapping.
    """
    if not isinstance(tree, Mapping):
        _refuse("config", "", tree, f"a mapping with {_listed(_Top)}")
    result = dict(tree)
    for item in overrides:
        path, value = parse_override(item)
        _set(result, path.split("."), value, f"--set {_short(item)}")
    return result


def parse_override(item: str, option: str = "--set") -> tuple[str, Any]:
    """Take ``"solver.iterations=50"`` apart: a key's path, and a value in YAML.

    Raises
    ------
    ConfigError
        There is no ``=`` or no key, or the value is not YAML.
    """
    where = f"{option} {_short(item)}"
    path, equals, text = item.partition("=")
    path = path.strip()
    if not equals or not all(path.split(".")):
        raise ConfigError(f"{where}: not understood; allowed: key=value, seed=1 say")
    return path, _parse(text, where)


def set_keys(
    tree: Mapping[str, Any], values: Mapping[str, Any], source: str = "config"
) -> dict[str, Any]:
    """Set values by their paths in a copy of a config's plain values.

    Parameters
    ----------
    tree : mapping
        As `config_from` takes it; not modified.
    values : mapping
        Values by a key's path: ``{"solver.iterations": 50}``.
    source : str
        The start of an error's line.

    Returns
    -------
    dict

    Raises
    ------
    ConfigError
        A path has an empty part, or leads through something that is not a mapping.
    """
    result = dict(tree)
    for path, value in values.items():
        keys = path.split(".")
        if not all(keys):
            raise ConfigError(f"{source}: {_short(path)}: not a key's path; solver.name is one")
        _set(result, keys, value, f"{source}: {_short(path)}")
    return result


def _set(tree: dict[str, Any], keys: Sequence[str], value: object, where: str) -> None:
    node = tree
    for depth, key in enumerate(keys[:-1], start=1):
        below = node.get(key)
        if depth == 1 and key == "rules" and isinstance(below, str):
            below = {"edition": below}
        if below is None:
            below = {}
        if not isinstance(below, Mapping):
            above = ".".join(keys[:depth])
            raise ConfigError(f"{where}: {above} is {_show(below)}, which has no keys")
        node[key] = node = dict(below)
    node[keys[-1]] = value


def read_yaml(path: str | Path) -> Any:
    """Read one document of plain values from a YAML file of at most `MAX_BYTES`.

    Raises
    ------
    ConfigError
        The file cannot be read, or is not plain YAML.
    """
    return _parse(_read(Path(path)), _short(str(path)))


# --- what may stand where ----------------------------------------------------------------------


class Strict(BaseModel):
    """A mapping whose keys are all known and whose values are taken as they are."""

    # Infinity is a value to some solvers, the others refuse it themselves.
    model_config = ConfigDict(extra="forbid", strict=True)


_Seed = Annotated[int, Field(ge=0, le=MAX_SEED)]
_Count = Annotated[int, Field(ge=1, le=10**9)]


class _Top(Strict):
    name: Annotated[str, Field(description=NAME_ALLOWED)]
    rules: Annotated[
        str | dict[str, Any], Field(description="an edition's name or a mapping of parts")
    ]
    solver: dict[str, Any]
    measure: dict[str, Any] = {}
    purify: dict[str, Any] = {}
    seed: _Seed = 0


class _Solver(Strict):
    name: str
    iterations: _Count
    seed: _Seed = 0


class _Measure(Strict):
    every: Literal["log"] | _Count = "log"
    attack: dict[str, Any] = {}
    final_attack: dict[str, Any] | None = None


def _rules(given: str | dict[str, Any], source: str) -> Rules:
    if isinstance(given, dict):
        known = {"edition", *(field.name for field in dataclasses.fields(Rules))}
        _known_keys(given, known, "rules", source)
    try:
        return rules_from(given)
    except (ValueError, TypeError) as error:
        # "rules: goal is 0, ..." names the field, but not as the paths of other lines do.
        path = re.sub(r"^rules: (\w+) is ", r"rules.\1: got ", _line(error))
        raise ConfigError(f"{source}: {_short(path)}") from error


def _solver(given: dict[str, Any], seed: int, source: str) -> SolverConfig:
    common = {key: given[key] for key in _Solver.model_fields if key in given}
    common.setdefault("seed", seed)
    # The name first: what else is allowed depends on it.
    name = common.get("name")
    if not isinstance(name, str) or name not in SOLVERS:
        allowed = f"one of {', '.join(sorted(SOLVERS))}"
        if "name" not in common:
            _refuse_missing(source, "solver.name", allowed)
        _refuse(source, "solver.name", name, allowed, SOLVERS)
    kind = SOLVERS[name]
    own = {field.name for field in dataclasses.fields(kind)} - set(_Solver.model_fields)
    _known_keys(given, {*own, *_Solver.model_fields}, "solver", source)
    head = checked(_Solver, common, "solver", source)
    params = {key: value for key, value in given.items() if key in own}
    if any(field.name == "seed" for field in dataclasses.fields(kind)):
        params["seed"] = head.seed
    return SolverConfig(name, head.iterations, head.seed, _built(kind, params, "solver", source))


def _purify(given: dict[str, Any], seed: int, source: str) -> PurifyConfig:
    parameters = dict(given)
    method = parameters.pop("method", "argmax")
    if not isinstance(method, str) or method not in METHODS:
        allowed = f"one of {', '.join(METHODS)}"
        _refuse(source, "purify.method", method, allowed, METHODS)
    kind = METHODS[method]
    own = {field.name for field in dataclasses.fields(kind)}
    _known_keys(given, {"method", *own}, "purify", source)
    if "seed" in own:
        parameters = {"seed": seed, **parameters}
    return PurifyConfig(method, _built(kind, parameters, "purify", source))


def _measure(given: dict[str, Any], seed: int, source: str) -> MeasureConfig:
    head = checked(_Measure, given, "measure", source)
    efforts = [
        None if part is None else _built(Effort, {"seed": seed, **part}, f"measure.{key}", source)
        for key, part in (("attack", head.attack), ("final_attack", head.final_attack))
    ]
    attack, final = efforts
    assert attack is not None  # noqa: S101 - head.attack is never None
    return MeasureConfig(head.every, attack, final)


def _built(kind: type, given: dict[str, Any], path: str, source: str) -> Any:
    """Build a dataclass of parameters from plain values, strictly typed."""
    values = checked(_model_of(kind), given, path, source)
    try:
        return kind(**{key: getattr(values, key) for key in type(values).model_fields})
    except (ValueError, TypeError) as error:
        # "starts: 0, allowed are ..." begins with the rest of the path.
        message = _line(error)
        joint = "." if message.partition(":")[0] in given else ": "
        raise ConfigError(f"{source}: {path}{joint}{_short(message)}") from error


@functools.cache
def _model_of(kind: type) -> type[BaseModel]:
    """Make the strict model of a stdlib dataclass: same fields, types and defaults."""
    hints = typing.get_type_hints(kind, include_extras=True)
    fields: dict[str, Any] = {}
    for field in dataclasses.fields(kind):
        if not field.init:
            continue
        if field.default is not dataclasses.MISSING:
            default = field.default
        elif field.default_factory is not dataclasses.MISSING:
            default = Field(default_factory=field.default_factory)
        else:
            default = ...
        fields[field.name] = (hints[field.name], default)
    return create_model(kind.__name__, __base__=Strict, **fields)


def checked(model: type[_Model], given: object, path: str, source: str) -> _Model:
    """Validate one flat mapping, or refuse it with a `ConfigError` on its first problem.

    Parameters
    ----------
    model : type
        What the mapping must be.
    given : object
    path : str
        Of the mapping in the file; empty at the top.
    source : str
        The start of an error's line.

    Returns
    -------
    model
    """
    if not isinstance(given, dict):
        _refuse(source, path, given, f"a mapping with {_listed(model)}")
    _known_keys(given, set(model.model_fields), path, source)
    try:
        return model.model_validate(given)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        key = str(problem["loc"][0])
        where = f"{path}.{key}" if path else key
        schema = model.model_json_schema()["properties"][key]
        if problem["type"] == "missing":
            _refuse_missing(source, where, _described(schema))
        _refuse(source, where, given[key], _described(schema), _choices(schema))


def _known_keys(given: dict[Any, Any], known: set[str], path: str, source: str) -> None:
    for key, value in given.items():
        if not isinstance(key, str) or key not in known:
            where = f"{path}.{key}" if path else str(key)
            near = _nearest(key, known)
            raise ConfigError(
                f"{source}: {_short(where)}: unknown key, given {_show(value)};"
                f" allowed: {', '.join(sorted(known))}" + (f"; nearest: {near}" if near else "")
            )


def _refuse(
    source: str, path: str, given: object, allowed: str, choices: Iterable[str] = ()
) -> NoReturn:
    near = _nearest(given, choices)
    raise ConfigError(
        f"{source}: {path + ': ' if path else ''}got {_show(given)}; allowed: {allowed}"
        + (f"; nearest: {near}" if near else "")
    )


def _refuse_missing(source: str, path: str, allowed: str) -> NoReturn:
    raise ConfigError(f"{source}: {path}: missing; allowed: {allowed}")


def _described(schema: dict[str, Any]) -> str:
    """Say in words what a field's JSON schema allows."""
    if "description" in schema:
        return str(schema["description"])
    if "anyOf" in schema:
        return " or ".join(_described(part) for part in schema["anyOf"])
    if "enum" in schema or "const" in schema:
        return " or ".join(_choices(schema))
    words = {
        "integer": "a whole number",
        "number": "a number",
        "boolean": "true or false",
        "string": "text",
        "object": "a mapping",
        "array": "a list",
        "null": "null",
    }
    text = words.get(schema.get("type", ""), "a plain value")
    bounds = (
        ("minimum", ">="),
        ("exclusiveMinimum", ">"),
        ("maximum", "<="),
        ("exclusiveMaximum", "<"),
    )
    limits = [f"{sign} {schema[key]}" for key, sign in bounds if key in schema]
    return " ".join([text, " and ".join(limits)]) if limits else text


def _choices(schema: dict[str, Any]) -> list[str]:
    """Return the words that a field's JSON schema allows, if it is a choice of words."""
    parts = schema.get("anyOf", [schema])
    found = [
        value
        for part in parts
        for value in part.get("enum", [part["const"]] if "const" in part else [])
    ]
    return [str(value) for value in found]


def _listed(model: type[BaseModel]) -> str:
    return ", ".join(sorted(model.model_fields))


def _nearest(given: object, known: Iterable[str]) -> str | None:
    if not isinstance(given, str):
        return None
    by_lower = {name.lower(): name for name in sorted(known)}
    found = difflib.get_close_matches(given.lower(), by_lower, n=1, cutoff=0.0)
    return by_lower[found[0]] if found else None


_SHOW: Final = reprlib.Repr()
_SHOW.maxstring = _SHOW.maxother = _SHOW.maxlong = 60


def _show(value: object) -> str:
    return _short(_SHOW.repr(value))


def _short(text: str) -> str:
    """Keep a message to one line of reasonable length."""
    text = "".join(char if char.isprintable() else "?" for char in text)
    return text if len(text) <= 200 else text[:197] + "..."


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _line(error: BaseException) -> str:
    return _one_line(str(error)) or type(error).__name__


def _plain(parameters: Any) -> dict[str, Any]:
    """Return a dataclass as plain values, tuples as lists, as YAML has them."""
    tree = json.loads(json.dumps(dataclasses.asdict(parameters)))
    return dict(tree)


# --- YAML --------------------------------------------------------------------------------------


class _Loader(yaml.SafeLoader):
    """YAML's safe loader, less repeated keys, plus floats as people write them (``1e-3``)."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key_node, _ in node.value if isinstance(node, yaml.MappingNode) else ():
            if not isinstance(key_node, yaml.ScalarNode):
                continue
            if key_node.value in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"key {key_node.value!r} is given twice", key_node.start_mark
                )
            seen.add(key_node.value)
        return super().construct_mapping(node, deep)


# YAML 1.1 wants a dot in a float; without this rule ``1e-3`` would be text.
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"[-+]?[0-9][0-9_]*[eE][-+]?[0-9]+\Z"),
    list("-+0123456789"),
)


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a null byte in the path
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigError(f"{_short(str(path))}: cannot be read: {reason}") from error
    if len(data) > MAX_BYTES:
        raise ConfigError(f"{path}: larger than {MAX_BYTES} bytes, which no config is")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not UTF-8 text: byte {error.start} is no character") from error


def _parse(text: str, source: str) -> Any:
    """Read one YAML document of plain values."""
    try:
        return yaml.load(text, Loader=_Loader)  # noqa: S506 - a subclass of the safe loader
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        detail = _one_line(" ".join(part for part in (error.context, error.problem) if part))
        raise ConfigError(f"{source}: {place}not plain YAML: {_short(detail)}") from error
    except yaml.reader.ReaderError as error:
        raise ConfigError(
            f"{source}: not plain YAML: character {error.position} is not allowed"
        ) from error
    except (yaml.YAMLError, ValueError) as error:
        raise ConfigError(f"{source}: not plain YAML: {_short(_line(error))}") from error
    except RecursionError as error:
        raise ConfigError(f"{source}: not plain YAML: nested too deeply") from error
