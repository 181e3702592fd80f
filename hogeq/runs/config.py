"""The YAML config of a run: read, checked whole before anything runs, and written back resolved.

Every problem is a `ConfigError` of one line: where (the key's path), what was given, what is
allowed, and the nearest known key where one was misspelt.
"""

import dataclasses
import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

import yaml

from hogeq.purification import PURIFIERS, Purifier
from hogeq.rules import Rules
from hogeq.rules.reading import rules_of, with_tables
from hogeq.runs.jobs import refuse_jobs, without_jobs
from hogeq.runs.overrides import apply_overrides
from hogeq.runs.plugins import facts, kept_as
from hogeq.runs.schema import ConfigKeys, MeasureKeys, SolverKeys
from hogeq.runs.validation import build, refuse, refuse_missing, require_known
from hogeq.search.attack import SearchBudget
from hogeq.solvers import SOLVERS, Solver
from hogeq.support.messages import one_line
from hogeq.support.parameters import keys, plain
from hogeq.support.plugins import Plugin, load_named, loaded
from hogeq.support.yaml import ConfigError, parse_yaml, read_text


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
    params : Solver
        The solver itself, an instance of ``SOLVERS[name]``.
    """

    name: str
    iterations: int
    seed: int
    params: Solver[Any]


@dataclasses.dataclass(frozen=True)
class MeasureConfig:
    """When to measure, and how hard to search for an attack.

    Attributes
    ----------
    every : int or "log"
        Iterations between two measurements, or "log" for 1, 2, 3, 5, 8, 13, ... The last iteration
        is measured always.
    attack : SearchBudget
        Search budget of every measurement.
    final_attack : SearchBudget or None
        Budget of the search on the finished policy and matrix; None: that of `attack`.
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
        A name in `hogeq.purification.PURIFIERS`.
    params : Purifier
        The purifier itself, an instance of ``PURIFIERS[method]``.
    """

    method: str
    params: Purifier


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
    plugins : tuple of Plugin
        Those of the process that read the config, named by it or not.
    """

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
    """Read the `config.yaml` that a run wrote, of this version or of an older one.

    Its plugins run if they are trusted or were loaded before, just as they are.

    Raises
    ------
    ConfigError
        The file cannot be read, is not plain YAML, or does not describe a run.
    """
    source = one_line(path)
    tree = without_jobs(parse_yaml(read_text(path), source))
    load_named(tree, path.parent, source, trust)
    return config_from(tree, source)


def tables_read(tree: Any, folder: Path, source: str) -> Any:
    """Read the tables that the rules of a config name as files, so that a run needs no file."""
    if not isinstance(tree, Mapping) or "rules" not in tree:
        return tree
    return {**tree, "rules": with_tables(tree["rules"], folder, source)}


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
    refuse_jobs(tree, source)
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
    """Build the section `purify`; a method that takes a seed has this one if it is given none.

    Raises
    ------
    ConfigError
        As `config_from`.
    """
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
