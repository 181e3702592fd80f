"""The key `jobs`, which configs had once: how many threads compute is no part of an experiment."""

from collections.abc import Mapping
from typing import Any, Final

from hogeq.support.messages import shown
from hogeq.support.yaml import ConfigError

_SECTIONS: Final = (("solver",), ("measure", "attack"), ("measure", "final_attack"), ("purify",))


def refuse_jobs(tree: object, source: str) -> None:
    """Say where the key has gone, with a `ConfigError`, if it is in a config."""
    for path in _SECTIONS:
        section = _at(tree, path)
        if isinstance(section, Mapping) and "jobs" in section:
            raise ConfigError(
                f"{source}: {'.'.join(path)}.jobs: got {shown(section['jobs'])}, which is not part"
                " of a config any more; allowed: the option --jobs N of hogeq run, or in Python"
                " `with hogeq.workers(N)`"
            )


def without_jobs(tree: Any) -> Any:
    """Copy the config that a run of an older version wrote, less the key."""
    for path in _SECTIONS:
        tree = _dropped(tree, (*path, "jobs"))
    return tree


def _dropped(tree: Any, path: tuple[str, ...]) -> Any:
    first, *rest = path
    if not isinstance(tree, Mapping) or first not in tree:
        return tree
    if not rest:
        return {key: value for key, value in tree.items() if key != first}
    return {**tree, first: _dropped(tree[first], tuple(rest))}


def _at(tree: object, path: tuple[str, ...]) -> object:
    for key in path:
        tree = tree.get(key) if isinstance(tree, Mapping) else None
    return tree
