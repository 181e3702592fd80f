"""Input of users: rules, strategies, and files to write."""

import contextlib
import errno
import os
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from hogeq.cli.shell import refusing, warn
from hogeq.rules import ALIASES, Rules
from hogeq.rules.reading import edition_name
from hogeq.support.messages import BadInputError, one_line, unreadable
from hogeq.trees.teams import teams_text, title_of

if TYPE_CHECKING:
    from hogeq.game import Game
    from hogeq.model.game import HogEngine
    from hogeq.strategies.strategy import Strategy

DEFAULT = "fa25"
VARIABLE = "HOGEQ_RULES"

ENDLESS = "a game that never ends counts as half a win"
"""What to say of win probabilities where two players can leave the scores as they are for ever."""


class Chosen:
    """The game that a user chooses: by --rules, --game, a run given as a strategy, or by default.

    Commands are of Hog alone, for the reason `hog_alone`, unless that is empty.
    """

    game: "Game"
    engine: "HogEngine"

    def __init__(
        self,
        rules: str | None = None,
        game: str | None = None,
        forget: str | None = None,
        teams: str | None = None,
        *,
        trust: bool = False,
        hog_alone: str = "the command is of Hog",
    ) -> None:
        for option, named in (("--rules", rules), ("--game", game)):
            if named is not None and not named.strip():
                raise BadInputError(
                    f"{option}: the name is empty; allowed: an edition's name, a YAML file of rule "
                    "parts, or a run"
                )
        self.spec = rules if game is None else game
        self.is_any, self.is_hog, self.rules = game is not None, True, Rules()
        self.trust, self.hog_alone = trust, hog_alone
        with refusing():
            self.how = {"forget": forget, "teams": teams and teams_text(teams)}
        self.is_settled, self._run, self.scores = False, "", (0, 0)

    @classmethod
    def of(cls, rules: Rules, trust: bool = False) -> "Chosen":
        """Choose rules that are known, those of a file say."""
        chosen = cls(rules.name, trust=trust)
        chosen.rules = rules
        chosen.compile()
        return chosen

    def _settle(self, strategies: Iterable[str | None], own_goals: bool) -> None:
        """Settle the game, with a notice where none was named."""
        from hogeq.rules.reading import config_of, find_rules, how_of, is_hog, load_plugins_of

        spec = self.spec or self._brought(strategies) or default_rules()
        config = config_of(Path(spec))
        game, how = config.get("game"), how_of(config)
        if game and all(given in {None, how[key]} for key, given in self.how.items()):
            self._run = spec
            load_plugins_of(Path(spec), self.trust)
            spec, self.how = str(game), how
        self.spec = spec = edition_name(str(spec))
        self.is_hog = not (game or self.is_any) or is_hog(spec)
        if self.is_hog:
            self.rules = find_rules(spec, self.trust)
            if not own_goals:
                with refusing():
                    self.rules.require_one_goal()
        elif self.hog_alone:
            raise BadInputError(f"{spec}: allowed: games of Hog ({self.hog_alone})")

    def _brought(self, strategies: Iterable[str | None]) -> str | None:
        """Give the run among strategies whose game is chosen; runs of two games are refused."""
        from hogeq.rules.reading import config_of, find_rules, how_of, run_file

        brought: dict[object, str] = {}
        for name in strategies:
            if name and run_file(Path(name)):
                config = config_of(Path(name))
                other = config.get("game") and (config["game"], *how_of(config).values())
                brought[other or find_rules(name, self.trust)] = name
        if len(brought) > 1:
            names = " and ".join(list(brought.values())[:2])
            what, option = "rules", "--rules"
            if any(isinstance(one, tuple) for one in brought):
                what, option = "games", "--game"
            raise BadInputError(f"{names}: runs of different {what}; {option} chooses")
        return next(iter(brought.values()), None)

    def choose(self, strategies: Iterable[str | None] = (), *, own_goals: bool = False) -> Rules:
        """Settle the rules of Hog; a goal for each player is refused unless they are allowed."""
        if not self.is_settled:
            self._settle(strategies, own_goals)
            self.is_settled = True
        return self.rules

    def load(
        self,
        *parts: str,
        strategies: Iterable[str | None] = (),
        own_goals: bool = False,
        at: tuple[int, int] | None = None,
        start: str | None = None,
        device: str = "cpu",
    ) -> "Game":
        """Settle the game and build it, and announce the kernels of Hog to compile.

        All that users name is looked at before libraries are imported: strategies, the scores `at`
        a position, and those at the `start`.
        """
        named = [name for name in strategies if name]
        self.choose(named, own_goals=own_goals)
        if self.is_hog:
            self.scores = self.start(start)
            if at is not None:
                self._check_position(*at)
        self._check_named(named)
        if not self.is_hog:
            from hogeq.game import Game

            with refusing():
                self.game = Game(
                    self._run or self.spec, **self.how, trust=self.trust, device=device
                )
            return self.game
        self.compile()
        self.expect(*parts, strategies=named)
        return self.game

    def _check_named(self, strategies: Sequence[str]) -> None:
        """Refuse names of no game and no strategy, and runs of other games."""
        if not self.is_hog:
            from hogeq.trees.loading import require_game
            from hogeq.trees.strategies import require_named

            with refusing():
                for name in strategies:
                    require_named(name)
                require_game(self._run or str(self.spec))
            return
        from hogeq.baselines.registry import require_known
        from hogeq.rules.reading import config_of

        for name in strategies:
            game = config_of(Path(name)).get("game")
            if game:
                line = f"{name}: plays {one_line(game)}; allowed with --rules: runs of Hog"
                raise BadInputError(line)
            if not set("*?[") & set(name):  # a pattern of files
                require_known(name)

    def compile(self) -> None:
        """Make the game of the rules."""
        check_numba()
        from hogeq.game import Game
        from hogeq.model.game import compile_game

        with refusing():
            self.game = Game(self.rules, trust=self.trust)
            self.engine = compile_game(self.rules, own_goals=True)

    def expect(self, *parts: str, strategies: Sequence[str | None] = ()) -> None:
        """Announce the kernels to compile (:func:`hogeq.model.compiling.expect`)."""
        from hogeq.baselines.registry import solves
        from hogeq.model.compiling import expect

        expect(self.engine, *["full memory"] * any(map(solves, strategies)), *parts)

    @property
    def name(self) -> str:
        """Name of the rules in JSON: the semester that was asked for."""
        return self.spec if self.spec and self.spec in ALIASES else self.rules.name

    @property
    def facts(self) -> dict[str, Any]:
        """Entries of the game in JSON."""
        if self.is_hog:
            return {"rules": self.name}
        return {"game": self.spec, **self.how}

    @property
    def title(self) -> str:
        """Name of the game in texts."""
        if self.is_hog:
            return self.name
        return title_of(str(self.spec), **self.how)

    @property
    def endless(self) -> list[str]:
        """Lines about games that never end, if there are any."""
        return ["", ENDLESS] if self.engine.can_be_endless else []

    def table(self, spec: str) -> "Strategy":
        """Matrix or policy from a built-in's name or a file; a mixture is refused."""
        from hogeq.baselines.registry import find_table

        return find_table(spec, self.engine, self.trust)

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

    def _check_position(self, score: int, opponent: int) -> None:
        """Refuse scores at which no one is to move."""
        given = ("--score", "--opponent"), (score, opponent), self.rules.goals
        for name, own, goal in zip(*given, strict=True):
            if not 0 <= own < goal:
                raise BadInputError(f"{name}: {own}; allowed: 0 to {goal - 1}")


ANY_GAME = "any game"

AnyChosen: TypeAlias = Annotated[Chosen, ANY_GAME]
"""Marks a command that takes games other than Hog as well, by --game."""


def default_rules() -> str:
    """Give the rules where none are named, with a notice unless HOGEQ_RULES has them."""
    chosen = os.environ.get(VARIABLE, "").strip()
    if not chosen:
        warn(f"rules {DEFAULT}, the default; --rules or {VARIABLE} chooses others")
    return chosen or DEFAULT


def check_numba() -> None:
    """Import numba; refuse settings with which it does not work, or which it cannot read."""
    threads, disabled = (
        os.environ.get(name, "").strip() for name in ("NUMBA_NUM_THREADS", "NUMBA_DISABLE_JIT")
    )
    if threads.lstrip("+-").isdecimal() and int(threads) < 1:
        raise BadInputError(f"NUMBA_NUM_THREADS: got {threads}; allowed: whole numbers from 1")
    if disabled.isdecimal() and int(disabled):
        allowed = "0, since hogeq runs compiled code only"
        raise BadInputError(f"NUMBA_DISABLE_JIT: got {disabled}; allowed: {allowed}")
    try:
        with warnings.catch_warnings():
            # numba would go on without what it cannot read, after a traceback.
            warnings.filterwarnings("error", "Environment variable 'NUMBA_", RuntimeWarning)
            import numba  # noqa: F401
    except RuntimeWarning as error:
        raise BadInputError(str(error).partition("\n")[0]) from error


@contextlib.contextmanager
def reading(path: Path) -> Iterator[None]:
    """Within the block a file is read: if the system cannot, say so in one line."""
    with refusing():
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
    reads: Iterable[object] = (),
    replace: bool = True,
    option: str = "--out",
) -> None:
    """Refuse a file that could not be written, or must not be.

    It is not written over if the command `reads` it, by names of strategies, rules and files, alone
    or in lists; nor, without `replace`, if it is there.
    """
    if path is None:
        return
    endings = {"".join(path.suffixes[-number:]).lower() for number in (1, 2)}
    if endings.isdisjoint(suffixes):
        allowed = f"names ending in {', '.join(suffixes)}"
        raise BadInputError(f"{path}: cannot be written; allowed: {allowed}")
    why = ""
    if path.is_dir():
        why = "it is a folder"
    elif not path.parent.is_dir():
        why = f"there is no folder {path.parent}"
    elif not os.access(path if path.exists() else path.parent, os.W_OK):
        why = "permission denied"
    elif path.exists() and any(path.samefile(file) for file in _files_of(reads)):
        why = f"it is read as well; {option} FILE leaves it alone"
    if why:
        raise BadInputError(f"{path}: cannot be written: {why}")
    if path.exists() and not replace:
        raise BadInputError(
            f"{path}: exists already; --overwrite replaces it, {option} FILE leaves it alone"
        )


def _files_of(reads: Iterable[object]) -> Iterator[Path]:
    """Find the files that are read for strategies, runs or rules that a user names."""
    from hogeq.rules.reading import RUN_FILES, files_of_tables
    from hogeq.strategies.files import IN_FOLDER

    named = [one for given in reads for one in (given if isinstance(given, list) else [given])]
    names = [str(one) for one in named if isinstance(one, str | Path)]
    for name in filter(None, [*names, *(name.partition("=")[2] for name in names)]):
        given = Path(name)
        inside = [given / file for file in (IN_FOLDER, *RUN_FILES)]
        with contextlib.suppress(OSError, ValueError):  # a name may be no path at all
            yield from (file for file in (given, *inside, *files_of_tables(given)) if file.exists())
