"""Input of users: rules, strategies, and files to write."""

import os
import re
import shlex
import warnings
from collections.abc import Iterable, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hogeq import ALIASES, GameName, Rules
from hogeq.cli.shell import refusing, warn
from hogeq.support.messages import BadInputError, one_line, printable, shown
from hogeq.support.teams import teams_text, title_of

if TYPE_CHECKING:
    from hogeq import Game, Hog, Strategy

DEFAULT = "fa25"
VARIABLE = "HOGEQ_RULES"

POSITION = "--score", "--opponent"

ENDLESS = "a game that never ends counts as half a win"
"""What to say of win probabilities where two players can leave the scores as they are for ever."""

plugins_given: ContextVar[Sequence[Path]] = ContextVar("plugins_given", default=())
"""Files of --plugin, which commands that we print repeat."""


class Chosen:
    """The game that a user chooses: by --rules, --game, a run among strategies, or by default."""

    game: "Game"
    hog_game: "Hog"  # the same, of Hog

    def __init__(
        self,
        rules: str | None = None,
        game: str | None = None,
        forget: str | None = None,
        teams: str | None = None,
        *,
        trust: bool = False,
    ) -> None:
        for option, named in (("--rules", rules), ("--game", game)):
            if named is not None and not named.strip():
                raise BadInputError(
                    f"{option}: the name is empty; allowed: an edition's name, a YAML file of rule "
                    "parts, or a run"
                )
        self.spec = rules if game is None else game
        self.is_any, self.is_hog = game is not None, True
        self.trust = trust
        self.hog_alone = ""  # why games other than Hog are refused, if they are
        with refusing():
            self.how = {"forget": forget, "teams": teams and teams_text(teams)}
        self._rules: Rules | None = None
        self._run, self.scores = "", (0, 0)

    @classmethod
    def hog(cls, rules: str | None, trust: bool = False, why: str = "") -> "Chosen":
        """Choose a game of Hog alone; `why` is the reason in a refusal of others, if there is one.

        Reasons of hogeq's own commands are in `hogeq.cli.options.HOG_ALONE`.
        """
        chosen = cls(rules, trust=trust)
        chosen.hog_alone = why or "the command is of Hog"
        return chosen

    @classmethod
    def of(cls, rules: Rules, trust: bool = False) -> "Chosen":
        """Choose rules that are known, those of a file say."""
        chosen = cls(rules.name, trust=trust)
        chosen._rules = rules
        return chosen._compiled()

    @classmethod
    def other(cls, game: Any, trust: bool = False) -> "Chosen":
        """Choose the game other than Hog that a certificate is about, and build it."""
        how = {"forget": game.forget, "teams": game.teams}
        chosen = cls(None, game.name, **how, trust=trust)
        chosen.load()
        return chosen

    @property
    def rules(self) -> Rules:
        """The rules of a game of Hog."""
        return self._rules or Rules()

    def command(self, *words: object) -> str:
        """Write a command of hogeq that a user may type, with the plugins that this one has."""
        plugins = [word for path in plugins_given.get() for word in ("--plugin", path)]
        trust = ["--trust"] if plugins and "--trust" not in words else []
        return shlex.join(map(str, ["hogeq", *words, *plugins, *trust]))

    def choose(self, strategies: Iterable[str | None] = (), *, own_goals: bool = False) -> Rules:
        """Settle the game, with a notice where none was named; give the rules of Hog.

        A goal for each player is refused unless they are allowed.
        """
        if self._rules is not None or self._run:
            return self.rules
        spec = self.spec or _brought(strategies, self.trust) or default_rules()
        name = GameName(spec)
        game, how = name.config.get("game"), name.how
        if game and all(given in {None, how[key]} for key, given in self.how.items()):
            self._run = spec
            name.load_plugins(self.trust)
            name, self.how = GameName(game), how
        self.spec = spec = name.text
        self.is_hog = not (game or self.is_any) or name.is_hog
        if not self.is_hog:
            if self.hog_alone:
                raise BadInputError(f"{spec}: allowed: games of Hog ({self.hog_alone})")
            return self.rules
        self._rules = name.rules(self.trust)
        if not own_goals:
            with refusing():
                self._rules.require_one_goal()
        return self._rules

    def load(
        self,
        *parts: str,
        strategies: Iterable[str | None] = (),
        own_goals: bool = False,
        at: tuple[int, int] | None = None,
        start: str | None = None,
    ) -> "Game":
        """Settle the game and build it, and announce the kernels of Hog to compile.

        All that users name is looked at before libraries are imported: strategies, the scores `at`
        a position, and those at the `start`.
        """
        named = [name for name in strategies if name]
        self.choose(named, own_goals=own_goals)
        if self.is_hog:
            self.scores = self.start(start)
            for option, own, goal in zip(POSITION, at or (), self.rules.goals, strict=False):
                if not 0 <= own < goal:
                    raise BadInputError(f"{option}: {own}; allowed: 0 to {goal - 1}")
        self._require(named)
        if self.is_hog:
            self._compiled().expect(*parts, strategies=named)
            return self.game
        with refusing():
            from hogeq import Game

            self.game = Game(self._run or self.spec, **self.how, trust=self.trust)
        return self.game

    def load_hog(self, *parts: str, **more: Any) -> "Hog":
        """Settle a game of Hog alone, and build it, as `load` does."""
        self.load(*parts, **more)
        return self.hog_game

    def settle(self, named: Sequence[str], *, own_goals: bool = False) -> None:
        """Settle the game, and refuse names of no game and no strategy; nothing is built."""
        self.choose(named, own_goals=own_goals)
        self._require(named)

    def _require(self, named: Sequence[str]) -> None:
        if self.is_hog:
            _require_known(named)
            return
        from hogeq import Game

        with refusing():
            for name in named:
                Game.require_strategy(name, hog=False)
            Game.require(self._run or str(self.spec))

    def _compiled(self) -> "Chosen":
        """Make the game of the rules."""
        check_numba()
        from hogeq import Hog

        with refusing():
            self.game = self.hog_game = Hog(self.rules, trust=self.trust)
        return self

    def expect(self, *parts: str, strategies: Sequence[str | None] = ()) -> None:
        """Announce the kernels to compile."""
        self.hog_game.prepare(*parts, strategies=strategies)

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
        return ["", ENDLESS] if self.hog_game.can_be_endless else []

    def table(self, spec: str) -> "Strategy":
        """Matrix or policy from a built-in's name or a file; a mixture is refused."""
        from hogeq import BASELINES

        is_named = spec.partition(":")[0] in BASELINES
        return self.hog_game.strategy(spec).unmixed(
            f"strategy {shown(spec)}" if is_named else printable(Path(spec))
        )

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


def _brought(strategies: Iterable[str | None], trust: bool) -> str | None:
    """Give the run among strategies whose game is chosen; runs of two games are refused."""
    brought: dict[object, str] = {}
    for name in strategies:
        named = GameName(name)
        if name and named.is_run:
            game = named.config.get("game")
            other = game and (game, *named.how.values())
            brought[other or named.rules(trust)] = name
    if len(brought) > 1:
        is_any = any(isinstance(one, tuple) for one in brought)
        what, option = ("games", "--game") if is_any else ("rules", "--rules")
        names = " and ".join(list(brought.values())[:2])
        raise BadInputError(f"{names}: runs of different {what}; {option} chooses")
    return next(iter(brought.values()), None)


def _require_known(strategies: Iterable[str]) -> None:
    """Refuse names of no strategy, and runs of games other than Hog."""
    for name in strategies:
        from hogeq import Game

        game = GameName(name).config.get("game")
        if game:
            line = f"{name}: plays {one_line(game)}; allowed with --rules: runs of Hog"
            raise BadInputError(line)
        if not set("*?[") & set(name):  # a pattern of files
            Game.require_strategy(name, hog=True)


def solves(spec: str) -> bool:
    """Whether a text names a strategy that is made by solving the game."""
    from hogeq import BASELINES

    named = BASELINES.get(spec.partition(":")[0])
    return named is not None and named.solves


def default_rules(*, is_told: bool = True) -> str:
    """Give the rules where none are named, with a notice unless HOGEQ_RULES has them."""
    chosen = os.environ.get(VARIABLE, "").strip()
    if not chosen and is_told:
        warn(f"rules {DEFAULT}, the default; --rules or {VARIABLE} chooses others")
    return chosen or DEFAULT


def check_numba() -> None:
    """Refuse settings with which numba does not work, or which it cannot read, if there are any."""
    if not any(name.startswith("NUMBA_") for name in os.environ.keys() - {"NUMBA_CACHE_DIR"}):
        return  # numba takes long to import, and some commands do without
    try:
        with warnings.catch_warnings():
            # numba would go on without what it cannot read, after a traceback.
            warnings.filterwarnings("error", "Environment variable 'NUMBA_", RuntimeWarning)
            from hogeq import Hog  # noqa: F401 - first: numba is then told of no file

            import numba  # isort: skip
    except (RuntimeWarning, ValueError) as error:
        raise BadInputError(f"numba: {str(error).partition(chr(10))[0]}") from error
    settings: Any = numba.config
    if settings.DISABLE_JIT:
        raise BadInputError("NUMBA_DISABLE_JIT: allowed: 0, since hogeq runs compiled code only")


def check_output(
    path: Path | None,
    suffixes: Sequence[str],
    *,
    reads: Iterable[str] = (),
    replace: bool = True,
    option: str = "--out",
) -> None:
    """Refuse a file that could not be written, or must not be.

    It is not written over if the command `reads` it; nor, without `replace`, if it is there.
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
    elif path.exists() and any(path.samefile(one) for one in reads if os.path.exists(one)):  # noqa: PTH110
        why = f"it is read as well; {option} FILE leaves it alone"
    if why:
        raise BadInputError(f"{path}: cannot be written: {why}")
    if path.exists() and not replace:
        raise BadInputError(
            f"{path}: exists already; --overwrite replaces it, {option} FILE leaves it alone"
        )
