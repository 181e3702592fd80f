"""Rules from files: of rule parts, of a config, of a run; their tables may be CSV files."""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from hogeq.rules.edition import ALIASES, EDITIONS, is_semester, rules_from
from hogeq.rules.rules import Rules
from hogeq.rules.tables import SHAPES
from hogeq.support.kinds import ARCHIVE, CODE, EFG, TEXT, YAML, kind_of
from hogeq.support.messages import BadInputError, one_line, printable, refusal, shown
from hogeq.support.plugins import load_named
from hogeq.support.yaml import ConfigError, parse_yaml, read_text

SUFFIXES: Final = (".yaml", ".yml")

RUN_FILES: Final = ("config.yaml", "manifest.json")
"""Files of a run's folder that may hold its config, the first that is there."""

OPENSPIEL: Final = "openspiel:"
"""Begins the name of a game that is OpenSpiel's, whatever else has that name."""

TREES: Final = (".efg", ".npz", ".txt")
"""Suffixes of files of games other than Hog; those with the first two are written, too."""

_KINDS: Final = {EFG: TREES[0], ARCHIVE: TREES[1], TEXT: TREES[2], YAML: "", CODE: ""}

_ALLOWED: Final = "an edition's name, a YAML file of rule parts, or a run"


class GameName:
    """What a user calls a game: an edition, a file or a run, of Hog or another; nothing is built.

    Examples
    --------
    >>> import hogeq
    >>> name = hogeq.GameName("FA25")
    >>> name.text, name.is_hog, name.rules().goal, hogeq.GameName("kuhn_poker").is_hog
    ('fa25', True, 100, False)
    """

    def __init__(self, text: object) -> None:
        self.text = text = str(text)  # of an edition in its own spelling
        lower = text.lower()
        is_edition = text not in EDITIONS and lower in {*EDITIONS, *ALIASES}
        if is_edition and not os.path.lexists(text):
            self.text = lower

    @property
    def is_run(self) -> bool:
        """Whether it is the folder of a run."""
        return run_file(Path(self.text)) is not None

    @property
    def config(self) -> Mapping[str, Any]:
        """Config of the run whose folder or config.yaml it is; empty if it is of none."""
        path = Path(self.text)
        is_folder = os.path.isdir(path)  # noqa: PTH112 - never raises
        is_file = os.path.isfile(path) and _is_yaml(path)  # noqa: PTH113
        file = run_file(path) if is_folder else path if is_file else None
        tree = None if file is None else _plain(file)
        return tree if isinstance(tree, Mapping) and "solver" in tree else {}

    @property
    def how(self) -> dict[str, Any]:
        """Teams of the game of the run, and its forgetting."""
        return {key: self.config.get(key) or None for key in ("forget", "teams")}

    @property
    def tree_suffix(self) -> str:
        """How the file of a game other than Hog is read, by its content; empty if it is none.

        The suffix of the name counts only where the content is of no known kind.
        """
        suffix = Path(self.text).suffix.lower()
        return _KINDS.get(kind_of(self.text), suffix if suffix in TREES else "")

    @property
    def is_hog(self) -> bool:
        """Whether it means rules of Hog rather than another game."""
        name, game = self.text, self.config.get("game")
        if game:
            return GameName(game).is_hog
        if name.startswith(OPENSPIEL) or name.lower().endswith(".py") or self.tree_suffix:
            return False
        return is_path(name) or not name.strip() or is_semester(name)

    def rules(self, trust: bool = False) -> Rules:
        """Find its rules of Hog, by an edition's name, a YAML file, or a run's folder or config."""
        return find_rules(self.text, trust)

    def load_plugins(self, trust: bool) -> None:
        """Load the plugins of the run whose folder or config.yaml it is."""
        path = Path(self.text)
        folder = path if path.is_dir() else path.parent
        load_named(self.config, folder, one_line(path), trust)

    def require_unchanged(self, digest: str) -> None:
        """Refuse a run whose game, other than Hog, now has another hash than its manifest says."""
        if made_of(Path(self.text)).get("tree_sha256") not in (None, digest):
            changed = f"{self.config.get('game')} has changed since this run"
            raise BadInputError(f"{printable(self.text)}: {changed}")

    @staticmethod
    def with_tables(rules: Any, folder: Path, source: str) -> Any:
        """Read the tables that rules, as plain values, name as files seen from `folder`."""
        if not isinstance(rules, Mapping):
            return rules
        files = table_files(rules, folder)
        return {**rules, **{key: _table(path, f"{source}: rules.{key}") for key, path in files}}


def find_rules(spec: str | Path, trust: bool = False) -> Rules:
    """Find rules by an edition's name, a YAML file, or a run's folder or config."""
    name, path = str(spec), Path(spec)
    if not name.strip():
        raise ConfigError(f"rules: the name is empty; allowed: {_ALLOWED}")
    if name in {*EDITIONS, *ALIASES} or not is_path(name):
        try:
            return rules_from(name)
        except ValueError as error:
            raise ConfigError(f"{error}; or a YAML file of rule parts, or a run") from error
    return read_rules(path, trust)


def read_rules(path: str | Path, trust: bool = False) -> Rules:
    """Read a file of rule parts, or the config of a run or its folder."""
    path = Path(path)
    if path.is_dir():
        file = run_file(path)
        if file is None:
            raise ConfigError(
                f"{one_line(path)}: cannot be read: Is a directory, without a config.yaml"
            )
        path = file
    source = one_line(path)
    kind = kind_of(path)
    if _KINDS.get(kind):
        raise ConfigError(f"{source}: holds {kind}; allowed: {_ALLOWED}; --game takes other games")
    if path.suffix.lower() == ".py":
        raise ConfigError(python_file(source, "rules"))
    if kind == CODE:
        raise ConfigError(f"{source}: holds {kind}; allowed: {_ALLOWED}; --plugin takes a .py")
    tree = _plain(path)
    if isinstance(tree, Mapping) and "solver" in tree and "rules" in tree:
        load_named(tree, path.parent, source, trust)
        tree = tree["rules"]
    elif isinstance(tree, Mapping) and "plugins" in tree:  # of parts that these rules name
        load_named(tree, path.parent, source, trust)
        tree = {key: value for key, value in tree.items() if key != "plugins"}
    if not isinstance(tree, str | Mapping):
        given = refusal("", tree, "a mapping of rule parts or an edition's name")
        raise ConfigError(f"{source}: {given}")
    tree = GameName.with_tables(tree, path.parent, source)
    try:
        return rules_from(tree)
    except (ValueError, TypeError) as error:
        raise ConfigError(f"{source}: {one_line(error, 500)}") from error


def _is_yaml(path: Path) -> bool:
    """Whether a file holds YAML; what begins as JSON does may be a strategy."""
    kind = kind_of(path)
    return kind == YAML or (not kind and path.suffix.lower() in SUFFIXES)


def made_of(path: Path) -> Mapping[str, Any]:
    """Give what the manifest of a run, by its folder or config.yaml, says of its game, if any."""
    folder = path if os.path.isdir(path) else path.parent  # noqa: PTH112 - never raises
    file = folder / RUN_FILES[1]
    if not os.path.isfile(file):  # noqa: PTH113 - never raises
        return {}
    tree = parse_yaml(read_text(file), one_line(file))
    game = tree.get("game") if isinstance(tree, Mapping) else None
    return game if isinstance(game, Mapping) else {}


def python_file(source: str, option: str) -> str:
    """Say how a Python file brings rules or games."""
    return (
        f"{source}: is Python code; allowed: --plugin {source} --{option} NAME, a name that the "
        "file registers"
    )


def is_path(name: str) -> bool:
    """Whether a text that names a game is meant as a file or folder."""
    separators = {os.sep, os.altsep or os.sep}
    is_file = Path(name).suffix.lower() in SUFFIXES or not separators.isdisjoint(name)
    return is_file or os.path.lexists(name)


def _plain(path: Path) -> Any:
    tree = parse_yaml(read_text(path), one_line(path))
    if path.name == RUN_FILES[1]:
        return tree.get("config") if isinstance(tree, Mapping) else None
    return tree


def run_file(folder: Path) -> Path | None:
    """Find the file of a folder that holds the config of a run, if it is the folder of one."""
    return next((folder / name for name in RUN_FILES if os.path.isfile(folder / name)), None)  # noqa: PTH113 - never raises


def table_files(rules: object, folder: Path) -> Iterator[tuple[str, Path]]:
    """Give the keys of rules, as plain values, that name tables as files, and these."""
    if isinstance(rules, Mapping):
        for key in SHAPES:
            value = rules.get(key)
            if isinstance(value, str) and value.lower().endswith(".csv"):
                yield key, folder / value


def _table(path: Path, source: str) -> list[Any]:
    try:
        text = read_text(path)
    except ConfigError as error:
        raise ConfigError(f"{source}: {error}") from error
    rows: list[list[int]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        cells = [cell.strip() for cell in line.split(",")]
        if cells == [""]:
            continue
        for column, cell in enumerate(cells, start=1):
            if not re.fullmatch(r"-?[0-9]{1,9}", cell):
                raise ConfigError(
                    f"{source}: {one_line(path)}: line {number}, cell {column}: got {shown(cell)}; "
                    "allowed: whole numbers, with a comma between two"
                )
        rows.append([int(cell) for cell in cells])
    if len(rows) == 1:
        return rows[0]
    if rows and all(len(row) == 1 for row in rows):
        return [row[0] for row in rows]
    return rows
