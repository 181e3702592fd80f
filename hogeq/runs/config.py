"""The YAML config of a run: read, checked whole before anything runs, and written back resolved.

Every problem is a `ConfigError` of one line: where (the key's path), what was given, what is
allowed, and the nearest known key where one was misspelt.
"""

import dataclasses
import hashlib
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, Literal

import yaml

from hogeq.purification import METHODS
from hogeq.response.search import SearchBudget
from hogeq.rules import Rules, rules_from
from hogeq.runs.overrides import apply_overrides
from hogeq.runs.schema import NAME_ALLOWED, MeasureKeys, SolverKeys, Top
from hogeq.runs.validation import (
    built_dataclass,
    checked,
    known_keys,
    listed_keys,
    refuse,
    refuse_missing,
)
from hogeq.solvers import SOLVERS
from hogeq.support.messages import error_line, shortened
from hogeq.support.yaml import ConfigError, parse_yaml, read_text

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._=+,@-]{0,99}")


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
    attack: SearchBudget
    final_attack: SearchBudget | None


@dataclasses.dataclass(frozen=True)
class PurifyConfig:
    """How a policy becomes a matrix.

    Attributes
    ----------
    method : str
        A name in `hogeq.purification.METHODS`.
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
    source = shortened(str(path))
    overrides = list(overrides)
    tree = parse_yaml(read_text(Path(path)), source)
    if tree is None:
        raise ConfigError(
            f"{source}: the file is empty; allowed: a mapping with {listed_keys(Top)}"
        )
    if overrides:
        tree = apply_overrides(tree, overrides)
        source = f"{source} with {' '.join(f'--set {item}' for item in overrides)}"
        source = shortened(source)
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
    source = shortened(str(path))
    tree = parse_yaml(read_text(Path(path)), source)
    if not isinstance(tree, str | dict):
        refuse(source, "", tree, "a mapping of rule parts or an edition's name")
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
    top = checked(Top, tree, "", source)
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
        refuse(source, "name", name, NAME_ALLOWED)


def _rules(given: str | dict[str, Any], source: str) -> Rules:
    if isinstance(given, dict):
        known = {"edition", *(field.name for field in dataclasses.fields(Rules))}
        known_keys(given, known, "rules", source)
    try:
        return rules_from(given)
    except (ValueError, TypeError) as error:
        # "rules: goal is 0, ..." names the field, but not as the paths of other lines do.
        path = re.sub(r"^rules: (\w+) is ", r"rules.\1: got ", error_line(error))
        raise ConfigError(f"{source}: {shortened(path)}") from error


def _solver(given: dict[str, Any], seed: int, source: str) -> SolverConfig:
    common = {key: given[key] for key in SolverKeys.model_fields if key in given}
    common.setdefault("seed", seed)
    # The name first: what else is allowed depends on it.
    name = common.get("name")
    if not isinstance(name, str) or name not in SOLVERS:
        allowed = f"one of {', '.join(sorted(SOLVERS))}"
        if "name" not in common:
            refuse_missing(source, "solver.name", allowed)
        refuse(source, "solver.name", name, allowed, SOLVERS)
    kind = SOLVERS[name]
    own = {field.name for field in dataclasses.fields(kind)} - set(SolverKeys.model_fields)
    known_keys(given, {*own, *SolverKeys.model_fields}, "solver", source)
    head = checked(SolverKeys, common, "solver", source)
    params = {key: value for key, value in given.items() if key in own}
    if any(field.name == "seed" for field in dataclasses.fields(kind)):
        params["seed"] = head.seed
    return SolverConfig(
        name, head.iterations, head.seed, built_dataclass(kind, params, "solver", source)
    )


def _purify(given: dict[str, Any], seed: int, source: str) -> PurifyConfig:
    parameters = dict(given)
    method = parameters.pop("method", "argmax")
    if not isinstance(method, str) or method not in METHODS:
        allowed = f"one of {', '.join(METHODS)}"
        refuse(source, "purify.method", method, allowed, METHODS)
    kind = METHODS[method]
    own = {field.name for field in dataclasses.fields(kind)}
    known_keys(given, {"method", *own}, "purify", source)
    if "seed" in own:
        parameters = {"seed": seed, **parameters}
    return PurifyConfig(method, built_dataclass(kind, parameters, "purify", source))


def _measure(given: dict[str, Any], seed: int, source: str) -> MeasureConfig:
    head = checked(MeasureKeys, given, "measure", source)
    efforts = [
        None
        if part is None
        else built_dataclass(SearchBudget, {"seed": seed, **part}, f"measure.{key}", source)
        for key, part in (("attack", head.attack), ("final_attack", head.final_attack))
    ]
    attack, final = efforts
    assert attack is not None  # noqa: S101 - head.attack is never None
    return MeasureConfig(head.every, attack, final)


def _plain(parameters: Any) -> dict[str, Any]:
    """Return a dataclass as plain values, tuples as lists, as YAML has them."""
    tree = json.loads(json.dumps(dataclasses.asdict(parameters)))
    return dict(tree)
