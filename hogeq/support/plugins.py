"""Names from outside the package: registries, and the plugins that enter names in them.

A name is given once. A plugin is a Python file that is run once in a process. It travels to other
processes as its text, with each task (`hogeq.support.workers`), so they need not see the file.
"""

import pickle
import re
import sys
import traceback
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import is_dataclass
from hashlib import sha256
from inspect import getdoc
from pathlib import Path
from threading import RLock
from types import ModuleType
from typing import Any, Final, NamedTuple, TypeVar

from hogeq.support.files import read_whole
from hogeq.support.messages import HogeqError, one_line, printable, refusal, shown
from hogeq.support.parameters import described

Registered = TypeVar("Registered", bound=type[Any])
Entry = TypeVar("Entry")

NAME: Final = r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,59}"  # of an entry of a registry


class Registry(dict[str, Entry]):
    """Entries by name, usually classes, in the order in which help and messages list them."""

    def __repr__(self) -> str:
        """Write a line for each entry, which says what it is."""
        return "\n".join(self.line(name, entry) for name, entry in self.items())

    @staticmethod
    def line(name: str, entry: Entry) -> str:
        """Write the name of a class and the first line of its docstring."""
        first_line, _, _ = (getdoc(entry) or "").partition("\n")
        return f"{name}: {printable(first_line)}"


_entered: list[tuple[MutableMapping[str, Any], str]] = []  # registry and name of every entry


def enter(registry: MutableMapping[str, Any], what: str, name: str, value: object) -> None:
    """Enter a value into a registry, under a name that is not taken; `what` begins messages."""
    if not isinstance(name, str) or not re.fullmatch(NAME, name):
        raise HogeqError(refusal(what, name, "a name of 1 to 60 letters, digits and . _ : -"))
    if name in registry:
        holder = getattr(registry[name], "__name__", None)
        raise HogeqError(f"{what} {name}: name is taken{f' by {holder}' if holder else ''}")
    registry[name] = value
    _entered.append((registry, name))


def entering(
    registry: MutableMapping[str, Any], what: str, name: str, base: type[Any]
) -> Callable[[Registered], Registered]:
    """Make the decorator that enters a class of parameters, a subclass of `base`, by its name."""

    def decorate(kind: Registered) -> Registered:
        """Check a class, and enter it; one that lacks a method of `base` is refused."""
        is_allowed = isinstance(kind, type) and issubclass(kind, base) and is_dataclass(kind)
        missing_methods = sorted(getattr(kind, "__abstractmethods__", ()))
        if not is_allowed or missing_methods:
            without = f" without {', '.join(missing_methods)}" if missing_methods else ""
            raise HogeqError(
                f"{what} {name}: got {shown(kind)}{without}; allowed: a subclass of "
                f"{base.__name__} with all its methods and the decorator parameters"
            )
        enter(registry, what, name, kind)
        kind.__doc__ = described(kind)
        return kind

    return decorate


MAX_BYTES: Final = 1 << 20  # size of the largest plugin that is read

DOORS: Final = (
    "hogeq.rule_part, hogeq.edition, hogeq.baseline, hogeq.solver, hogeq.purifier, "
    "hogeq.register_game, pyspiel.register_game"
)
"""All functions by which a plugin registers something."""


class PluginError(HogeqError):
    """A plugin that cannot be used; the message is one line that starts with its file."""


class Plugin(NamedTuple):
    """A plugin, as it was read."""

    file: str
    code: bytes

    @property
    def sha256(self) -> str:
        """Hash of the content, hexadecimal."""
        return sha256(self.code).hexdigest()


_loaded: dict[str, Plugin] = {}  # by file

_lock = RLock()  # a worker of a cluster may begin several tasks at once


def loaded() -> tuple[Plugin, ...]:
    """List the plugins of this process, in the order in which they were loaded."""
    return tuple(_loaded.values())


def load_plugin(path: str | Path, trust: bool = False) -> Plugin:
    """Run a Python file that registers names, once in a process.

    Such names can then be used wherever hogeq takes one, by every worker too
    (:func:`hogeq.workers`).

    Parameters
    ----------
    path : str or Path
        One file that imports nothing but installed packages, of at most a megabyte.
    trust : bool
        Loading runs the file's code, with all that it may do; allowed only if you trust it.

    Returns
    -------
    Plugin
        Its file's name, code and hash.

    Raises
    ------
    PluginError
        The file is not trusted, cannot be read, raises an error, registers nothing or a name that
        is taken, or another version of it is loaded already. Nothing of it stays registered.

    Examples
    --------
    >>> from pathlib import Path
    >>> import hogeq
    >>> _ = Path("teens.py").write_text('''
    ... import hogeq
    ...
    ... @hogeq.rule_part("swap")
    ... def both_teens(score, opponent):
    ...     "Both scores are 13 to 19."
    ...     return 13 <= min(score, opponent) and max(score, opponent) <= 19
    ... ''', "utf-8")
    >>> hogeq.load_plugin("teens.py", trust=True).file
    'teens.py'
    >>> hogeq.rules_from({"edition": "fa22", "swap": "both_teens"}).name
    'fa22 with swap=both_teens'
    """
    plugin = read_plugin(path)
    where = one_line(path)
    if not trust and _loaded.get(plugin.file) != plugin:
        raise PluginError(f"{where}: a plugin is somebody's code, which is run only with --trust")
    run_plugin(plugin, where)
    return plugin


def load_named(tree: object, folder: Path, source: str, trust: bool) -> None:
    """Load the plugins that a config names, plain values of the file `source` in `folder`.

    `trust` says whether they may be run; `ConfigError` if one cannot be loaded.
    """
    from hogeq.support.yaml import ConfigError  # here: small commands need no YAML

    files = tree.get("plugins", []) if isinstance(tree, Mapping) else []
    if not isinstance(files, list) or not all(isinstance(file, str) for file in files):
        allowed = "a list of Python files, as seen from the folder of this file"
        raise ConfigError(f"{source}: {refusal('plugins', files, allowed)}")
    for file in files:
        try:
            load_plugin(folder / file, trust)
        except PluginError as error:
            raise ConfigError(f"{source}: plugins: {one_line(error, 500)}") from error


def read_plugin(path: str | Path) -> Plugin:
    """Read a plugin without running it."""
    path = Path(path)
    where = one_line(path)
    try:
        code = read_whole(path, MAX_BYTES)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise PluginError(f"{where}: plugin cannot be read: {reason}") from error
    if path.suffix != ".py":
        raise PluginError(f"{where}: no plugin; allowed: a Python file, NAME.py")
    return Plugin(path.name, code)


def run_plugin(plugin: Plugin, where: str = "") -> None:
    """Run a plugin in this process, unless it was run before; `where` names it in messages.

    If it fails, all that it registered is removed.
    """
    where = where or plugin.file
    with _lock:
        if _loaded.get(plugin.file) == plugin:
            return
        if plugin.file in _loaded:
            raise PluginError(
                f"{where}: this process has loaded another {plugin.file}, or an older version of"
                " it; allowed: one file of a name, and workers that were started after it changed"
            )
        name = re.sub(r"\W", "_", Path(plugin.file).stem)
        module = ModuleType(f"hogeq_plugin_{name}", f"The plugin {where}.")
        module.__file__ = where
        sys.modules[module.__name__] = module  # where pickles look for its classes
        num_entered = len(_entered)
        try:
            _execute(plugin, where, module)
        except BaseException:
            del sys.modules[module.__name__]
            for registry, entry in _entered[num_entered:]:
                del registry[entry]
            del _entered[num_entered:]
            raise
        _loaded[plugin.file] = plugin


def _execute(plugin: Plugin, where: str, module: ModuleType) -> None:
    """Run the code of a plugin in its module; `PluginError` if it fails or registers nothing."""
    num_entered = len(_entered)
    openspiel_games = _openspiel_games()
    try:
        exec(compile(plugin.code, where, "exec"), module.__dict__)  # noqa: S102 - trusted
    except KeyboardInterrupt:
        raise
    except SyntaxError as error:
        raise PluginError(f"{where}: line {error.lineno}: {error.msg}") from error
    except BaseException as error:
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno for frame in frames if frame.filename == where]
        line = f"line {lines[-1]}: " if lines else ""
        # A refusal of hogeq explains itself; other errors need the name of their class.
        is_refusal = isinstance(error, ValueError) and not isinstance(error, UnicodeError)
        kind = "" if is_refusal else f"{type(error).__name__}: "
        raise PluginError(f"{where}: {line}{kind}{one_line(error)}") from error
    if len(_entered) == num_entered and _openspiel_games() == openspiel_games:
        raise PluginError(f"{where}: registers nothing; allowed: {DOORS}")


def _openspiel_games() -> list[str] | None:
    """List the games of OpenSpiel, None unless that is loaded."""
    spiel = sys.modules.get("pyspiel")
    return None if spiel is None else spiel.registered_names()


def is_ours(part: object) -> bool:
    """Whether a class, an object of it, or a function is the package's own."""
    return getattr(part, "__module__", "").startswith("hogeq.")


def named(what: str, part: object) -> str:
    """Name a part in a message: its name, and its file if it is not the package's own."""
    file = getattr(sys.modules.get(getattr(part, "__module__", "")), "__file__", None)
    if not file or is_ours(part):
        return what
    plugin = "plugin " if Path(file).name in _loaded else ""
    return f"{what} of {plugin}{one_line(file)}"


def run_with(plugins: tuple[Plugin, ...], function: bytes, task: bytes) -> object:
    """Load plugins, then compute a pickled function of a pickled task, in a worker."""
    for plugin in plugins:
        run_plugin(plugin)
    # The pickles come from the process that started this one.
    return pickle.loads(function)(pickle.loads(task))  # noqa: S301
