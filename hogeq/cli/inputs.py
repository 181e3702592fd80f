"""What users name: rules, strategies, and files to write."""

import contextlib
import errno
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hogeq.cli.shell import BadInputError, refusing, warn
from hogeq.cli.startup import load_numba_without_blas
from hogeq.rules import ALIASES, Rules
from hogeq.support.messages import unreadable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hogeq.model.game import HogEngine
    from hogeq.strategies.strategy import Strategy, StrategyLike

DEFAULT = "su20"
VARIABLE = "HOGEQ_RULES"

ENDLESS = "a game that never ends counts as half a win"
"""What to say of win probabilities where two players can leave the scores as they are for ever."""

MATRIX_SUFFIXES = (".csv", ".txt", ".json", ".npy", ".npz")


class Chosen:
    """The game that a user chooses: by --rules, by a run given as a strategy, or by default."""

    def __init__(self, given: str | None, trust: bool = False) -> None:
        if given is not None and not given.strip():
            raise BadInputError(
                "--rules: the name is empty; allowed: an edition's name, a YAML file of rule "
                "parts, or a run"
            )
        self.spec = given
        self.trust = trust
        self.rules = Rules()
        self.engine: HogEngine

    @classmethod
    def of(cls, rules: Rules, trust: bool = False) -> "Chosen":
        """Choose rules that are known, those of a file say."""
        game = cls(None, trust)
        game.rules, game.engine = rules, compiled(rules)
        return game

    def choose(self, strategies: Iterable[str | None] = (), *, own_goals: bool = False) -> Rules:
        """Settle the rules, and say so first where nobody named any.

        A goal for each player is refused unless `own_goals` are allowed.
        """
        from hogeq.rules.reading import find_rules, run_file

        with refusing():
            if self.spec is None:
                runs = [name for name in strategies if name and run_file(Path(name))]
                brought = {find_rules(name, self.trust): name for name in runs}
                if len(brought) > 1:
                    names = " and ".join(list(brought.values())[:2])
                    raise BadInputError(f"{names}: runs of different rules; --rules chooses")
                self.spec = next(iter(brought.values()), None)
            if self.spec is None:
                self.spec = default_rules()
            self.rules = find_rules(self.spec, self.trust)
            if not own_goals:
                self.rules.require_one_goal()
        return self.rules

    def load(
        self, *parts: str, strategies: Iterable[str | None] = (), own_goals: bool = False
    ) -> "HogEngine":
        """Settle the rules, compile them, and say what else will be compiled."""
        strategies = list(strategies)
        self.choose(strategies, own_goals=own_goals)
        self.engine = compiled(self.rules)
        self.expect(*parts, strategies=strategies)
        return self.engine

    def expect(self, *parts: str, strategies: Sequence[str | None] = ()) -> None:
        """Say what a command is about to compile (:func:`hogeq.model.compiling.expect`)."""
        from hogeq.model.compiling import expect

        expect(self.engine, *parts, strategies=strategies)

    @property
    def name(self) -> str:
        """What JSON calls the rules: the semester that was asked for."""
        return self.spec if self.spec in ALIASES else self.rules.name

    @property
    def title(self) -> str:
        """What people call them, with the edition that a semester plays."""
        return title_of(self.name, self.rules)

    @property
    def endless(self) -> list[str]:
        """Lines about games that never end, if there are any."""
        return ["", ENDLESS] if self.engine.can_be_endless else []

    def strategy(self, spec: str, *, of_second: bool = False) -> "Strategy":
        """Matrix, policy or mixture of a player from a built-in's name or a file."""
        from hogeq.baselines.registry import find_strategy

        engine = compiled(self.rules.for_second()) if of_second else self.engine
        with refusing():
            return find_strategy(spec, engine, self.trust)

    def table(self, spec: str) -> "NDArray[Any]":
        """Matrix or policy from a built-in's name or a file."""
        from hogeq.baselines.registry import find_table

        with refusing():
            return find_table(spec, self.engine, self.trust).array

    def write(self, path: Path, strategy: "StrategyLike", player_name: str | None = None) -> None:
        """Write a strategy in the format of the file's suffix."""
        from hogeq.strategies.files import write_strategy

        with refusing():
            write_strategy(path, strategy, self.rules.size, self.rules.max_dice, player_name)

    def start(self, given: str | None) -> tuple[int, int]:
        """Scores that games begin with, as a user writes them: ``10:0``."""
        scores = re.fullmatch(r"([0-9]{1,4}):([0-9]{1,4})", given or "0:0")
        lower = min(self.rules.goals)  # either player may be the one who moves first
        if scores is None or max(int(scores[1]), int(scores[2])) >= lower:
            raise BadInputError(
                f"--start: got {given}; allowed: FIRST:OTHER, scores from 0 to "
                f"{lower - 1}, 10:0 say"
            )
        return int(scores[1]), int(scores[2])

    def check_position(self, score: int, opponent: int) -> None:
        """Refuse scores at which no one is to move."""
        given = ("--score", "--opponent"), (score, opponent), self.rules.goals
        for name, own, goal in zip(*given, strict=True):
            if not 0 <= own < goal:
                raise BadInputError(f"{name}: {own}; allowed: 0 to {goal - 1}")


def default_rules() -> str:
    """Give the rules of users who name none, and say so unless they chose them once for all."""
    chosen = os.environ.get(VARIABLE, "").strip()
    if not chosen:
        warn(f"rules {DEFAULT}, the default; --rules or {VARIABLE} chooses others")
    return chosen or DEFAULT


def compiled(rules: Rules) -> "HogEngine":
    """Compile a game."""
    load_numba_without_blas()
    from hogeq.model.game import compile_game

    with refusing():
        return compile_game(rules, own_goals=True)


def title_of(name: str, rules: Rules) -> str:
    """Name rules as headings do: by both names, if a semester plays the edition of another."""
    return f"{name} (the game of {rules.name})" if name in ALIASES else rules.name


@contextlib.contextmanager
def reading(path: Path) -> Iterator[None]:
    """Within the block a file is read: if the system cannot, say so in one line."""
    try:
        yield
    except OSError as error:
        if error.errno == errno.EFBIG:  # it can, but should not: the reader's own words say why
            raise
        raise BadInputError(unreadable(path, error)) from error


def write(path: Path, content: str | bytes) -> None:
    """Write a file whole."""
    from hogeq.support.files import write_whole

    data = content if isinstance(content, bytes) else content.encode("utf-8", "backslashreplace")
    with refusing():
        write_whole(path, data)


def check_output(
    path: Path | None,
    suffixes: Sequence[str],
    *,
    reads: Iterable[str | Path | None] = (),
    replace: bool = True,
    option: str = "--out",
) -> None:
    """Refuse a file that could not be written, or must not be, before anything is computed.

    It is not written over if it is among what the command `reads`, by names of strategies and
    rules; nor, without `replace`, if it is there.
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
    from hogeq.rules.reading import RUN_FILES, files_of_tables
    from hogeq.strategies.files import IN_FOLDER

    given = Path(given)
    inside = [given / name for name in (IN_FOLDER, *RUN_FILES)]
    for file in (given, *inside, *files_of_tables(given)):
        with contextlib.suppress(OSError, ValueError):  # a name may be no path at all
            if path.samefile(file):
                return True
    return False
