"""Tables of rules from CSV files: read when a config is, so that what is kept needs no file."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hogeq.rules.tables import SHAPES
from hogeq.runs.errors import ConfigError
from hogeq.runs.yaml import read_text
from hogeq.support.messages import one_line, shown


def with_tables(tree: Any, folder: Path, source: str) -> Any:
    """Read the tables that a config names as files.

    Parameters
    ----------
    tree : object
        Plain values of a config; not modified.
    folder : Path
        Where it lies.
    source : str
        The start of an error's line.

    Raises
    ------
    ConfigError
        A file cannot be read, or a cell of it is no whole number.
    """
    if not isinstance(tree, Mapping) or not isinstance(tree.get("rules"), Mapping):
        return tree
    return {**tree, "rules": rules_with_tables(tree["rules"], folder, source)}


def rules_with_tables(rules: Mapping[Any, Any], folder: Path, source: str) -> dict[Any, Any]:
    """Read the tables that rules name as files; as `with_tables`."""
    tables = {
        key: _table(path, f"{source}: rules.{key}") for key, path in table_files(rules, folder)
    }
    return {**rules, **tables}


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
        for place, cell in enumerate(cells, start=1):
            if not re.fullmatch(r"-?[0-9]{1,9}", cell):
                raise ConfigError(
                    f"{source}: {one_line(path)}: line {number}, cell {place}: got {shown(cell)}; "
                    "allowed: whole numbers, with a comma between two"
                )
        rows.append([int(cell) for cell in cells])
    if len(rows) == 1:
        return rows[0]
    if rows and all(len(row) == 1 for row in rows):
        return [row[0] for row in rows]
    return rows
