"""Keys of a config set by their paths."""

from collections.abc import Mapping, Sequence
from typing import Any

from hogeq.runs.schema import Top
from hogeq.runs.validation import listed_keys, refuse
from hogeq.support.messages import shortened, shown_value
from hogeq.support.yaml import ConfigError, parse_yaml


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
        refuse("config", "", tree, f"a mapping with {listed_keys(Top)}")
    result = dict(tree)
    for item in overrides:
        path, value = parse_override(item)
        set_at(result, path.split("."), value, f"--set {shortened(item)}")
    return result


def parse_override(item: str, option: str = "--set") -> tuple[str, Any]:
    """Take ``"solver.iterations=50"`` apart: a key's path, and a value in YAML.

    Raises
    ------
    ConfigError
        There is no ``=`` or no key, or the value is not YAML.
    """
    where = f"{option} {shortened(item)}"
    path, equals, text = item.partition("=")
    path = path.strip()
    if not equals or not all(path.split(".")):
        raise ConfigError(f"{where}: not understood; allowed: key=value, seed=1 say")
    return path, parse_yaml(text, where)


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
            raise ConfigError(f"{source}: {shortened(path)}: not a key's path; solver.name is one")
        set_at(result, keys, value, f"{source}: {shortened(path)}")
    return result


def set_at(tree: dict[str, Any], keys: Sequence[str], value: object, where: str) -> None:
    node = tree
    for depth, key in enumerate(keys[:-1], start=1):
        below = node.get(key)
        if depth == 1 and key == "rules" and isinstance(below, str):
            below = {"edition": below}
        if below is None:
            below = {}
        if not isinstance(below, Mapping):
            above = ".".join(keys[:depth])
            raise ConfigError(f"{where}: {above} is {shown_value(below)}, which has no keys")
        node[key] = node = dict(below)
    node[keys[-1]] = value
