"""Rules from files: of rule parts, of a config, of a run; their tables may be CSV files."""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from hogeq.rules.edition import ALIASES, EDITIONS, is_semester, rules_from
from hogeq.rules.rules import Rules
from hogeq.rules.tables import SHAPES
from hogeq.support.kinds import ARCHIVE, CODE, EFG, TEXT, YAML, is_folder, kind_of
from hogeq.support.messages import HogeqError, one_line, printable, refusal, shown
from hogeq.support.plugins import load_named
from hogeq.support.yaml import ConfigError, parse_yaml, read_text

SUFFIXES: Final = (".yaml", ".yml")

RUN_FILES: Final = ("config.yaml", "manifest.json")
"""Files of a run's folder that may hold its config, the first that is there."""

MOST_RUNS: Final = 10
"""Most runs of which each is the game of the one before."""

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
        """Keep a name, of an edition in lower case unless a file or plugin has it as written."""
        self.text = text = str(text)
        lower = text.lower()
        is_edition_in_capitals = text not in EDITIONS and lower in {*EDITIONS, *ALIASES}
        if is_edition_in_capitals and not os.path.lexists(text):
            self.text = lower

    @property
    def is_run(self) -> bool:
        """Whether it is the folder of a run."""
        return run_file(Path(self.text)) is not None

    @property
    def config(self) -> Mapping[str, Any]:
        """Config of the run whose folder or config.yaml it is; empty if it is of none.

        The game of a run may be another run. Raises `ConfigError` if there are more than
        `MOST_RUNS` before a game: they may lead back to this one.
        """
        config = _read_config(self.text)
        game = config.get("game")
        for _ in range(MOST_RUNS):
            game = game and _read_config(str(game)).get("game")
        if game:
            allowed = f"a game by at most {MOST_RUNS} runs; one of these may be its own game"
            raise ConfigError(f"{one_line(self.text)}: {refusal('game', config['game'], allowed)}")
        return config

    @property
    def how(self) -> dict[str, Any]:
        """How the game of the run was changed: its `forget` and `teams`, None where it was not."""
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
        """Whether the name means rules of Hog rather than another game."""
        game_of_run = self.config.get("game")
        if game_of_run:
            return GameName(game_of_run).is_hog
        name = self.text
        if name.startswith(OPENSPIEL) or name.lower().endswith(".py") or self.tree_suffix:
            return False
        is_here = Path(name).name == name
        if is_here and is_folder(name) and not self.is_run:  # it has the name of a game at most
            return is_semester(name)
        # An empty name is Hog's, too: there it is refused in a sentence of its own.
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
        """Refuse a run whose game, other than Hog, has changed since.

        `digest` is the hash of its tree now; the manifest of the run has that of its time.
        """
        if manifest_game(Path(self.text)).get("tree_sha256") not in (None, digest):
            changed = f"{self.config.get('game')} has changed since this run"
            raise HogeqError(f"{printable(self.text)}: {changed}")

    @staticmethod
    def with_tables(rules: Any, folder: Path, source: str) -> Any:
        """Replace files of tables that rules name by the tables.

        `rules` are plain values, of a file `source` in `folder`. A new mapping is returned.
        """
        if not isinstance(rules, Mapping):
            return rules
        tables = {
            key: _read_table(path, f"{source}: rules.{key}")
            for key, path in table_files(rules, folder)
        }
        return {**rules, **tables}


def _read_config(name: str) -> Mapping[str, Any]:
    """Read the config of the run whose folder or config.yaml a text names; empty if of none."""
    path = Path(name)
    file: Path | None = None
    if os.path.isdir(path):  # noqa: PTH112 - never raises
        file = run_file(path)
    elif os.path.isfile(path) and _is_yaml(path):  # noqa: PTH113 - never raises
        file = path
    content = None if file is None else _read_plain(file)
    return content if isinstance(content, Mapping) and "solver" in content else {}


def find_rules(spec: str | Path, trust: bool = False) -> Rules:
    """Find rules by an edition's name, a YAML file, or a run's folder or config.

    `trust` says whether plugins that a file names may be loaded.
    """
    name = str(spec)
    if not name.strip():
        raise ConfigError(f"rules: the name is empty; allowed: {_ALLOWED}")
    if name in {*EDITIONS, *ALIASES} or not is_path(name):
        try:
            return rules_from(name)
        except ValueError as error:
            raise ConfigError(f"{error}; or a YAML file of rule parts, or a run") from error
    return read_rules(spec, trust)


def read_rules(path: str | Path, trust: bool = False) -> Rules:
    """Read rules from a YAML file of rule parts, or from a run's config or folder.

    `trust` says whether plugins that the file names may be loaded. A file of another kind, and
    faulty rules, raise `ConfigError`.
    """
    path = Path(path)
    if path.is_dir():
        file = run_file(path)
        if file is None:
            raise ConfigError(
                f"{one_line(path)}: cannot be read: Is a directory, without a config.yaml"
            )
        path = file
    source = one_line(path)
    _refuse_other_content(path)
    content = _read_plain(path)
    if isinstance(content, Mapping) and "solver" in content and "rules" in content:
        load_named(content, path.parent, source, trust)  # the config of a run
        content = content["rules"]
    elif isinstance(content, Mapping) and "plugins" in content:  # they define parts of the rules
        load_named(content, path.parent, source, trust)
        content = {key: value for key, value in content.items() if key != "plugins"}
    if not isinstance(content, str | Mapping):
        refused = refusal("", content, "a mapping of rule parts or an edition's name")
        raise ConfigError(f"{source}: {refused}")
    content = GameName.with_tables(content, path.parent, source)
    try:
        return rules_from(content)
    except (ValueError, TypeError) as error:
        raise ConfigError(f"{source}: {one_line(error, 500)}") from error


def _refuse_other_content(path: Path) -> None:
    """Refuse a file that holds another game than Hog, or code, by its content or its name."""
    source = one_line(path)
    kind = kind_of(path)
    if _KINDS.get(kind):
        raise ConfigError(f"{source}: holds {kind}; allowed: {_ALLOWED}; --game takes other games")
    if path.suffix.lower() == ".py":
        raise ConfigError(python_file(source, "rules"))
    if kind == CODE:
        raise ConfigError(f"{source}: holds {kind}; allowed: {_ALLOWED}; --plugin takes a .py")


def _is_yaml(path: Path) -> bool:
    """Whether a file holds YAML; what begins as JSON does may be a strategy."""
    kind = kind_of(path)
    return kind == YAML or (not kind and path.suffix.lower() in SUFFIXES)


def manifest_game(path: Path) -> Mapping[str, Any]:
    """Return the entry `game` of a run's manifest; empty if there is none.

    `path` is the run's folder, or its config.yaml.
    """
    folder = path if os.path.isdir(path) else path.parent  # noqa: PTH112 - never raises
    file = folder / RUN_FILES[1]
    if not os.path.isfile(file):  # noqa: PTH113 - never raises
        return {}
    manifest = parse_yaml(read_text(file), one_line(file))
    game = manifest.get("game") if isinstance(manifest, Mapping) else None
    return game if isinstance(game, Mapping) else {}


def python_file(source: str, option: str) -> str:
    """Write a message about a Python file in place of rules or a game: it is loaded as a plugin."""
    return (
        f"{source}: is Python code; allowed: --plugin {source} --{option} NAME, a name that the "
        "file registers"
    )


def is_path(name: str) -> bool:
    """Whether a text that names a game is meant as a file or folder."""
    separators = {os.sep, os.altsep or os.sep}
    is_file = Path(name).suffix.lower() in SUFFIXES or not separators.isdisjoint(name)
    return is_file or os.path.lexists(name)


def _read_plain(path: Path) -> Any:
    """Read a YAML file as plain values; of a run's manifest its config."""
    content = parse_yaml(read_text(path), one_line(path))
    if path.name == RUN_FILES[1]:
        return content.get("config") if isinstance(content, Mapping) else None
    return content


def run_file(folder: Path) -> Path | None:
    """Find the file of a folder that holds the config of a run, if it is the folder of one."""
    return next((folder / name for name in RUN_FILES if os.path.isfile(folder / name)), None)  # noqa: PTH113 - never raises


def table_files(rules: object, folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the keys of rules, as plain values, that name a table as a file, and that file."""
    if isinstance(rules, Mapping):
        for key in SHAPES:
            value = rules.get(key)
            if isinstance(value, str) and value.lower().endswith(".csv"):
                yield key, folder / value


def _read_table(path: Path, source: str) -> list[Any]:
    """Read a table of whole numbers from a CSV file.

    Returns a list of rows; of a file of one row or one column a list of numbers. `source` begins
    messages.
    """
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
