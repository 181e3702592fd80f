"""The plugins of a run: named by its config, kept with its files, compared when it goes on."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from hogeq.model.game import Game
from hogeq.runs.errors import ConfigError, ResultsError
from hogeq.runs.filenames import CONFIG, PLUGINS
from hogeq.runs.validation import refuse
from hogeq.runs.yaml import read_yaml
from hogeq.solvers import Solver
from hogeq.support.messages import one_line, raised, shown
from hogeq.support.plugins import Plugin, PluginError, load_plugin, loaded, read_plugin

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


def is_ours(solver: Solver[Any]) -> bool:
    """Whether a solver is one of hogeq's own."""
    return type(solver).__module__.startswith("hogeq.")


def named(name: str, solver: Solver[Any]) -> str:
    """Name a solver in a message, and its plugin if it is of one."""
    path = getattr(sys.modules.get(type(solver).__module__), "__file__", None) or ""
    plugins = {plugin.file for plugin in loaded()}
    return f"solver {name}" + (f" of plugin {path}" if Path(path).name in plugins else "")


def first_state(name: str, solver: Solver[Any], game: Game) -> Any:
    """Call a solver's ``init``.

    Raises
    ------
    ValueError
        One of hogeq's own refuses the game; or any other fails, or gives no state.
    """
    try:
        state = solver.init(game)
    except Exception as error:
        if is_ours(solver):
            raise
        raise ValueError(f"{named(name, solver)}: its init raised {raised(error)}") from error
    if not hasattr(state, "_asdict"):
        given = f"{named(name, solver)}: its init gave {shown(state)}"
        raise ValueError(f"{given}; allowed: a named tuple of arrays")
    return state


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
