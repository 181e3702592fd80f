"""The plugins of a run: named by its config, kept with its files, compared when it goes on."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hogeq.runs.errors import ResultsError
from hogeq.runs.filenames import CONFIG, PLUGINS
from hogeq.support.plugins import Plugin, PluginError, named_plugins, read_plugin
from hogeq.support.yaml import read_yaml


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
