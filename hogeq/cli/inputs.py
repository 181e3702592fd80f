"""What users name: rules, strategies, and files to write."""

import contextlib
import errno
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hogeq.cli.shell import BadInputError, refusing
from hogeq.cli.startup import load_numba_without_blas
from hogeq.rules import ALIASES, Rules
from hogeq.support.messages import unreadable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hogeq.model.game import HogEngine
    from hogeq.strategies.mixtures import Mixture

ENDLESS = "a game that never ends counts as half a win"
"""What to say of win probabilities where two players can leave the scores as they are for ever."""

YAML_SUFFIXES = (".yaml", ".yml")
MATRIX_SUFFIXES = (".csv", ".txt", ".json", ".npy", ".npz")


def load_rules(spec: str) -> Rules:
    """Rules from an edition's name, a YAML file of rule parts, or a run."""
    from hogeq.rules.reading import find_rules

    with refusing():
        return find_rules(spec)


def title_of(spec: str, rules: Rules) -> str:
    """Name rules as headings do: by both names, if a semester plays the edition of another."""
    return f"{spec} (the game of {rules.name})" if spec in ALIASES else rules.name


def load_game(spec: str) -> "HogEngine":
    """Compile the rules that a user names."""
    load_numba_without_blas()
    from hogeq.model.game import compile_game

    rules = load_rules(spec)
    with refusing():
        return compile_game(rules)


def expect_kernels(game: "HogEngine", *parts: str, strategies: Sequence[str | None] = ()) -> None:
    """Say what a command is about to compile (:func:`hogeq.model.compiling.expect`)."""
    from hogeq.model.compiling import expect

    expect(game, *parts, strategies=strategies)


def load_strategy(spec: str, game: "HogEngine", trust: bool) -> "NDArray[Any]":
    """Matrix or policy from a built-in's name or a file."""
    from hogeq.baselines.registry import find_strategy

    with refusing():
        return find_strategy(spec, game, trust)


def load_any(spec: str, game: "HogEngine", trust: bool) -> "NDArray[Any] | Mixture":
    """Matrix, policy or mixture from a built-in's name or a file."""
    from hogeq.baselines.registry import find_any

    with refusing():
        return find_any(spec, game, trust)


@contextlib.contextmanager
def reading(path: Path) -> Iterator[None]:
    """Within the block a file is read: if the system cannot, say so in one line."""
    try:
        yield
    except OSError as error:
        if error.errno == errno.EFBIG:  # it can, but should not: the reader's own words say why
            raise
        raise BadInputError(unreadable(path, error)) from error


def check_output(
    path: Path | None,
    suffixes: Sequence[str],
    *,
    reads: Iterable[str | Path | None] = (),
    replace: bool = True,
    option: str = "--out",
) -> None:
    """Refuse a file that could not be written, or must not be, before anything is computed.

    Parameters
    ----------
    path : Path or None
        None: nothing is to be written.
    suffixes : sequence of str
        Those allowed, of one part or two, which say the format.
    reads : iterable of str, Path or None
        What the command was given to read, names of strategies and rules too; never written over.
    replace : bool
        Whether a file that is there may be replaced.
    option : str
        What names the file; for the message.
    """
    if path is None:
        return
    endings = {"".join(path.suffixes[-number:]).lower() for number in (1, 2)}
    if endings.isdisjoint(suffixes):
        raise BadInputError(
            f"{path}: cannot be written; allowed: names ending in {', '.join(suffixes)}"
        )
    with refusing():  # a name may be longer than any file's
        is_folder = path.is_dir()
    if is_folder:
        raise BadInputError(f"{path}: cannot be written: it is a folder")
    if not path.parent.is_dir():
        raise BadInputError(f"{path}: cannot be written: there is no folder {path.parent}")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise BadInputError(f"{path}: cannot be written: permission denied")
    if any(_is_file_of(given, path) for given in reads if given):
        raise BadInputError(
            f"{path}: cannot be written: it is read as well; {option} FILE leaves it alone"
        )
    if path.exists() and not replace:
        raise BadInputError(
            f"{path}: exists already; --overwrite replaces it, {option} FILE leaves it alone"
        )


def _is_file_of(given: str | Path, path: Path) -> bool:
    """Whether a strategy, a run directory or rules that a user names are read from this file."""
    if not path.exists():
        return False
    from hogeq.strategies.read import IN_FOLDER

    for name in (Path(given), Path(given) / IN_FOLDER, *_tables_of(Path(given))):
        with contextlib.suppress(OSError, ValueError):  # a name may be no path at all
            if path.samefile(name):
                return True
    return False


def _tables_of(rules: Path) -> list[Path]:
    """Files of the tables that a YAML file of rules names; of none that cannot be read."""
    if rules.suffix.lower() not in YAML_SUFFIXES:
        return []
    from hogeq.rules.reading import table_files
    from hogeq.support.yaml import ConfigError, read_yaml

    try:
        return [path for _, path in table_files(read_yaml(rules), rules.parent)]
    except ConfigError:
        return []


def position(game: "HogEngine", score: int, opponent: int) -> None:
    """Refuse scores at which no one is to move."""
    for name, points in (("--score", score), ("--opponent", opponent)):
        if not 0 <= points < game.goal:
            raise BadInputError(f"{name}: {points}; allowed: 0 to {game.goal - 1}")
