"""The plugins of a run: named by its config, kept with its files, compared when it goes on."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from hogeq.runs.errors import ConfigError, ResultsError
from hogeq.runs.filenames import CONFIG, PLUGINS
from hogeq.runs.validation import refuse
from hogeq.runs.yaml import read_yaml
from hogeq.support.messages import one_line
from hogeq.support.plugins import Plugin, PluginError, load_plugin, read_plugin

ALLOWED: Final = "a list of Python files, as seen from the folder of this file"


def load_plugins(tree: object, folder: Path, source: str, trust: bool) -> None:
    """Load the plugins that a config or a sweep names.

    Parameters
    ----------
    tree : object
        Its plain values; what is wrong with them elsewhere is not this function's business.
    folder : Path
        Where it lies.
    source : str
        The start of an error's line.
    trust : bool

    Raises
    ------
    ConfigError
        A plugin is not trusted, or refused.
    """
    for path in _paths(tree, folder, source):
        try:
            load_plugin(path, trust)
        except PluginError as error:
            raise ConfigError(f"{source}: plugins: {one_line(error, 500)}") from error


def _paths(tree: object, folder: Path, source: str) -> list[Path]:
    named = tree.get("plugins", []) if isinstance(tree, Mapping) else []
    if not isinstance(named, list) or not all(isinstance(path, str) for path in named):
        refuse(source, "plugins", named, ALLOWED)
    return [folder / path for path in named]


def kept_as(plugin: Plugin) -> str:
    """Where a run directory keeps a plugin."""
    return f"{PLUGINS}/{plugin.file}"


def facts(plugins: Sequence[Plugin]) -> list[dict[str, str]]:
    """Describe plugins for a manifest: the file's name and a hash of its content."""
    return [{"file": plugin.file, "sha256": plugin.sha256} for plugin in plugins]


def require_same_plugins(directory: Path, plugins: Sequence[Plugin]) -> None:
    """Refuse to go on with a run that was made with other plugins.

    Parameters
    ----------
    directory : Path
        A run directory; one without a config has no plugins yet.
    plugins : sequence of Plugin
        Those of the run that is to go on.

    Raises
    ------
    ResultsError
    """
    path = directory / CONFIG
    if not path.exists():
        return
    tree: Any = read_yaml(path)
    try:
        before = {
            found.file: found for found in map(read_plugin, _paths(tree, directory, str(path)))
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
