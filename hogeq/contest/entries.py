"""The entries of a field: from names, folders and patterns, hundreds of files, to tables."""

import os
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from glob import has_magic, iglob
from itertools import islice
from pathlib import Path, PurePath
from typing import Any, Final, NamedTuple

from numpy.typing import NDArray

from hogeq.baselines.registry import find_any, is_builtin
from hogeq.model.game import HogEngine
from hogeq.strategies.arrays import StrategyError
from hogeq.strategies.mixtures import Mixture
from hogeq.strategies.read import IN_FOLDER, PICKLES, SUFFIXES, is_folder
from hogeq.support.messages import shown_path
from hogeq.support.workers import compute

MOST_MATCHES: Final = 10_000
"""Most files that a pattern may stand for: nobody waits until a whole disk is listed."""


class Refused(NamedTuple):
    """An entry that is no strategy."""

    entry: str
    reason: str
    """One line, which names it."""


class Entries(NamedTuple):
    """Entries that were read."""

    entries: list[str]
    """As they were named, files of a folder by their paths."""
    strategies: list[NDArray[Any] | Mixture]
    """Each a matrix (G, G), a policy (G, G, K), or a mixture of such."""
    refused: list[Refused]


def named_entries(names: Iterable[str], unless: Iterable[Path] = ()) -> list[str]:
    """List the entries that names stand for.

    Parameters
    ----------
    names : iterable of str
        Built-in strategies; files; folders, which stand for the strategy files in them; patterns
        such as ``entries/*.csv`` or ``**/final_strategy.py``, which stand for the files and folders
        that they match. The directory of a run is one entry.
    unless : iterable of Path
        Files that neither a folder nor a pattern stands for: those that the caller writes.

    Returns
    -------
    list of str
        Files of a folder or a pattern in natural order: ``a2.csv`` before ``a10.csv``. A file is
        one entry, however often and by whatever path it is met; a built-in strategy named twice is
        two.

    Raises
    ------
    StrategyError
        A folder holds no strategy file, or a pattern matches nothing, or more than 10,000 files.
    """
    found: list[str] = []
    written = {os.path.realpath(path) for path in unless}
    met: set[str] = set()
    for name in names:
        if is_builtin(name) or not name:  # an empty name is no folder: it is refused when read
            found.append(name)
            continue
        matched = has_magic(name) and not Path(name).exists()
        places = _in_order(_matches(name)) if matched else [name]
        if not places:
            raise StrategyError(f"{shown_path(Path(name))}: matches no file")
        for place in places:
            folder = _is_folder(Path(place))
            left_out = written if matched or folder else ()
            for entry in _files_in(Path(place)) if folder else [place]:
                file = os.path.realpath(entry)
                if file not in met and file not in left_out:
                    found.append(entry)
                    met.add(file)
    return found


def _matches(pattern: str) -> list[str]:
    found = list(islice(iglob(pattern, recursive=True), MOST_MATCHES + 1))  # noqa: PTH207
    if len(found) > MOST_MATCHES:
        raise StrategyError(
            f"{shown_path(Path(pattern))}: matches more than {MOST_MATCHES:,} files; allowed: "
            "patterns that match fewer"
        )
    return found


def _is_folder(path: Path) -> bool:
    """Whether a path is a folder of entries, not a run."""
    return is_folder(path) and not (
        (path / IN_FOLDER).exists() and (path / "manifest.json").exists()
    )


def _files_in(folder: Path) -> list[str]:
    found = [
        str(path)
        for path in folder.iterdir()
        if path.suffix.lower() in SUFFIXES + PICKLES and not path.name.startswith(".")
    ]
    if not found:
        raise StrategyError(
            f"{shown_path(folder)}: holds no strategy file; allowed: names ending in "
            f"{', '.join(SUFFIXES)}"
        )
    return _in_order(found)


def _in_order(names: Iterable[str]) -> list[str]:
    def key(name: str) -> list[tuple[int, str]]:
        return [
            (int(part), "") if part.isdecimal() and len(part) < 19 else (-1, part)
            for part in re.split(r"([0-9]+)", name)
        ]

    return sorted(names, key=lambda name: (key(name), name))


def read_field(
    game: HogEngine,
    entries: Sequence[str],
    trust: bool = False,
    progress: Callable[[int], object] = int,
) -> Entries:
    """Read all entries, several at once.

    Parameters
    ----------
    game : HogEngine
    entries : sequence of str
        Names and files, as `named_entries` lists them.
    trust : bool
        Whether to run the code of ``.py`` files.
    progress : callable, optional
        Called with the index of each entry that was read.

    Returns
    -------
    Entries
        Those that are no strategies under `refused`, in the order given.
    """
    found = compute(partial(_read, game, trust), entries, progress, local=True)
    kept = [index for index, one in enumerate(found) if not isinstance(one, Refused)]
    return Entries(
        [entries[index] for index in kept],
        [one for one in found if not isinstance(one, Refused)],
        [one for one in found if isinstance(one, Refused)],
    )


def _read(game: HogEngine, trust: bool, entry: str) -> NDArray[Any] | Mixture | Refused:
    try:
        return find_any(entry, game, trust)
    except StrategyError as error:
        return Refused(entry, str(error))


def identical_entries(strategies: Sequence[NDArray[Any] | Mixture]) -> list[list[int]]:
    """List the groups of two and more strategies that are the same, cell by cell."""
    groups: dict[tuple[object, ...], list[int]] = {}
    for index, strategy in enumerate(strategies):
        if isinstance(strategy, Mixture):
            arrays: list[NDArray[Any]] = [strategy.weights, strategy.parts]
        else:
            arrays = [strategy]
        key = tuple((array.shape, array.tobytes()) for array in arrays)
        groups.setdefault(key, []).append(index)
    return [group for group in groups.values() if len(group) > 1]


def short_names(entries: Sequence[str]) -> list[str]:
    """Give names for tables and pictures: without the folder that all files lie in."""
    folders = {PurePath(entry).parent for entry in entries if not is_builtin(entry)}
    if len(folders) != 1:
        return list(entries)
    return [entry if is_builtin(entry) else PurePath(entry).name for entry in entries]
