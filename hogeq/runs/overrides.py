"""Keys of a config set by their paths."""

from collections.abc import Mapping, Sequence
from typing import Any

from hogeq.runs.schema import ConfigKeys
from hogeq.runs.validation import refuse
from hogeq.support.messages import one_line, shown
from hogeq.support.parameters import keys as keys_of
from hogeq.support.yaml import MAX_DEPTH, ConfigError, parse_yaml


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
        refuse("config", "", tree, f"a mapping with {', '.join(sorted(keys_of(ConfigKeys)))}")
    result = dict(tree)
    for item in overrides:
        path, value = parse_override(item)
        _set_at(result, path.split("."), value, f"--set {one_line(item)}")
    return result


def parse_override(item: str, option: str = "--set") -> tuple[str, Any]:
    """Take ``"solver.iterations=50"`` apart: a key's path, and a value in YAML.

    Raises
    ------
    ConfigError
        There is no ``=`` or no key, or the value is not YAML.
    """
    where = f"{option} {one_line(item)}"
    path, equals, text = item.partition("=")
    path = path.strip()
    if not equals or not all(path.split(".")) or path.count(".") > MAX_DEPTH:
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
        if not all(keys) or len(keys) > MAX_DEPTH:
            raise ConfigError(f"{source}: {one_line(path)}: not a key's path; solver.name is one")
        _set_at(result, keys, value, f"{source}: {one_line(path)}")
    return result


def _set_at(tree: dict[str, Any], keys: Sequence[str], value: object, where: str) -> None:
    node = tree
    for depth, key in enumerate(keys[:-1], start=1):
        below = node.get(key)
        if depth == 1 and key == "rules" and isinstance(below, str):
            below = {"edition": below}
        if below is None:
            below = {}
        if not isinstance(below, Mapping):
            above = ".".join(keys[:depth])
            raise ConfigError(f"{where}: {above} is {shown(below)}, which has no keys")
        node[key] = node = dict(below)
    node[keys[-1]] = value
