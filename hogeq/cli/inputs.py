"""Input of users: rules, strategies, and files to write."""

import os
import re
import shlex
import warnings
from collections.abc import Iterable, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Annotated, Any

import hogeq
from hogeq.cli.options import HOG_ALONE
from hogeq.cli.shell import refusing, warn
from hogeq.support.messages import HogeqError, one_line, printable, shown
from hogeq.support.teams import teams_text, title_of

DEFAULT = "fa25"
VARIABLE = "HOGEQ_RULES"

POSITION = "--score", "--opponent"

ENDLESS = "a game that never ends counts as half a win"
"""Note on win probabilities, in games where two players can leave the scores as they are."""

plugins_given: ContextVar[Sequence[Path]] = ContextVar("plugins_given", default=())
"""Files of --plugin; commands that hogeq suggests to the user must name them, too."""


class Chosen:
    """The game that a user chooses: by --rules, --game, a run among strategies, or by default."""

    game: "hogeq.Game"
    hog_game: "hogeq.Hog"  # the same, of Hog

    def __init__(
        self,
        rules: str | None = None,
        game: str | None = None,
        forget: str | None = None,
        teams: str | None = None,
        *,
        trust: bool = False,
    ) -> None:
        """Note what the options name; `choose` settles later which game that is."""
        for option, name in (("--rules", rules), ("--game", game)):
            if name is not None and not name.strip():
                raise HogeqError(
                    f"{option}: the name is empty; allowed: an edition's name, a YAML file of rule "
                    "parts, or a run"
                )
        self.spec = rules if game is None else game  # what names the game; None until it is settled
        self.is_any = game is not None  # whether --game was given, which may name any game
        self.is_hog = True
        self.trust = trust
        self.hog_alone = ""  # why games other than Hog are refused, if they are
        self.how = {"forget": forget, "teams": teams and teams_text(teams)}
        self._rules: hogeq.Rules | None = None  # of Hog, once settled
        self._run = ""  # the run of another game that names it, if one does
        self.scores = (0, 0)  # at the start of a game

    @classmethod
    def hog(cls, rules: str | None, trust: bool = False, command: str = "") -> "Chosen":
        """Choose a game that has to be of Hog; a refusal of others has the reason of the command.

        Reasons are in `HOG_ALONE`, by the names of commands.
        """
        chosen = cls(rules, trust=trust)
        chosen.hog_alone = HOG_ALONE.get(command, "the command is of Hog")
        return chosen

    @classmethod
    def of(cls, rules: hogeq.Rules, trust: bool = False) -> "Chosen":
        """Choose rules that have been read already, such as those of a file."""
        chosen = cls(rules.name, trust=trust)
        chosen._rules = rules
        check_numba()
        chosen._build_hog()
        return chosen

    @property
    def rules(self) -> hogeq.Rules:
        """The rules of a game of Hog."""
        return self._rules or hogeq.Rules()

    def command(self, *words: object) -> str:
        """Write a command of hogeq that a user may type, with the plugins of this call."""
        plugins = [word for path in plugins_given.get() for word in ("--plugin", path)]
        trust = ["--trust"] if plugins and "--trust" not in words else []
        return shlex.join(map(str, ["hogeq", *words, *plugins, *trust]))

    def choose(
        self, strategies: Iterable[str | None] = (), *, own_goals: bool = False
    ) -> hogeq.Rules:
        """Settle which game is meant, and return the rules of Hog, or the default ones of another.

        The game is that of --rules or --game, otherwise that of a run among the strategies,
        otherwise the default, which a warning names. Rules by which each player has a goal are
        refused without `own_goals`.
        """
        if self._rules is not None or self._run:  # settled by an earlier call
            return self.rules
        spec = self.spec or _run_among(strategies, self.trust) or default_rules()
        name = hogeq.GameName(spec)
        game = name.config.get("game")  # of a run of another game than Hog
        how = name.how if game else {}  # forgetting and teams of the run
        # A run stands for its game, unless an option asks for other forgetting or teams.
        if game and all(value in {None, how[key]} for key, value in self.how.items()):
            self._run = spec
            name.load_plugins(self.trust)
            name = hogeq.GameName(game)
            self.how = how
        self.spec = spec = name.text
        self.is_hog = not (game or self.is_any) or name.is_hog
        if not self.is_hog:
            if self.hog_alone:
                raise HogeqError(f"{spec}: allowed: games of Hog ({self.hog_alone})")
            return self.rules
        self._rules = name.rules(self.trust)
        if not own_goals:
            self._rules.require_one_goal()
        return self._rules

    def load(
        self,
        *,
        kernels: Iterable[str] = (),
        strategies: Iterable[str | None] = (),
        own_goals: bool = False,
        at: tuple[int, int] | None = None,
        start: str | None = None,
    ) -> "hogeq.Game":
        """Settle the game, check all names, and build the game.

        Names and scores are checked before slow libraries are imported.

        Parameters
        ----------
        kernels : iterable of str
            Kernels of Hog that the command needs, keys of `hogeq.model.compiling.PARTS`: they are
            compiled before they are used.
        strategies : iterable of str or None
            Names of strategies; None for an option without a value.
        own_goals : bool
            Whether each player may have a goal.
        at : tuple of int, optional
            Scores of a position: of the player to move, and of the other.
        start : str, optional
            Scores at the start of a game, as "10:0".
        """
        names = [name for name in strategies if name]
        self.choose(names, own_goals=own_goals)
        if self.is_hog:
            self.scores = self.start(start)
            for option, score, goal in zip(POSITION, at or (), self.rules.goals, strict=False):
                if not 0 <= score < goal:
                    raise HogeqError(f"{option}: {score}; allowed: 0 to {goal - 1}")
        check_numba()
        self.require_names(names)
        if self.is_hog:
            self._build_hog()
            self.hog_game.prepare(*kernels, strategies=names)
            return self.game
        with refusing():
            self.game = hogeq.Game(self._run or self.spec, **self.how, trust=self.trust)
        return self.game

    def load_hog(self, **more: Any) -> "hogeq.Hog":
        """Settle and build a game of Hog, with the arguments of `load`."""
        self.load(**more)
        return self.hog_game

    def require_names(self, strategies: Sequence[str]) -> None:
        """Raise `HogeqError` for an unknown strategy, or an unknown game other than Hog."""
        for name in strategies:
            if self.is_hog:
                game = hogeq.GameName(name).config.get("game")
                if game:
                    line = f"{name}: plays {one_line(game)}; allowed with --rules: runs of Hog"
                    raise HogeqError(line)
            is_pattern = bool(set("*?[") & set(name))
            if not (self.is_hog and is_pattern):  # the files of a pattern are not looked into
                hogeq.Game.require_strategy(name, hog=self.is_hog)
        if not self.is_hog:
            hogeq.Game.require(self._run or str(self.spec))

    def _build_hog(self) -> None:
        """Build the game of the rules."""
        with refusing():
            self.game = self.hog_game = hogeq.Hog(self.rules, trust=self.trust)

    @property
    def name(self) -> str:
        """Name of the rules in JSON: the semester that was asked for."""
        return self.spec if self.spec and self.spec in hogeq.ALIASES else self.rules.name

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

    def table(self, spec: str) -> "hogeq.Strategy":
        """Matrix or policy from a built-in's name or a file; a mixture is refused."""
        from hogeq.contest.folders import is_builtin

        name = f"strategy {shown(spec)}" if is_builtin(spec) else printable(Path(spec))
        return self.hog_game.strategy(spec).unmixed(name)

    def start(self, given: str | None) -> tuple[int, int]:
        """Parse the scores that games begin with, as a user writes them: ``10:0``.

        The first score is of the player who moves first, the second of the other.
        """
        match = re.fullmatch(r"([0-9]{1,4}):([0-9]{1,4})", given or "0:0")
        lower_goal = min(self.rules.goals)  # either player may be the one who moves first
        if match is None or max(int(match[1]), int(match[2])) >= lower_goal:
            raise HogeqError(
                f"--start: got {given}; allowed: FIRST:OTHER, scores from 0 to "
                f"{lower_goal - 1}, 10:0 say"
            )
        return int(match[1]), int(match[2])


AnyGame = Annotated[Chosen, "--rules, --game, --forget and --teams"]
"""A parameter of a command: the game that these options name, or a run among strategies."""

HogGame = Annotated[Chosen, "--rules"]
"""The same for a command of Hog alone, which refuses other games."""


def _run_among(strategies: Iterable[str | None], trust: bool) -> str | None:
    """Give the run among strategies, which names the game of a call; None if there is none.

    Runs of two different games raise `HogeqError`, since either game could be meant.
    """
    run_of: dict[object, str] = {}  # by rules of Hog, or by name and settings of another game
    for name in strategies:
        game_name = hogeq.GameName(name)
        if name and game_name.is_run:
            game = game_name.config.get("game")
            other_game = game and (game, *game_name.how.values())
            run_of[other_game or game_name.rules(trust)] = name
    if len(run_of) > 1:
        has_other_games = any(isinstance(key, tuple) for key in run_of)
        noun, option = ("games", "--game") if has_other_games else ("rules", "--rules")
        names = " and ".join(list(run_of.values())[:2])
        raise HogeqError(f"{names}: runs of different {noun}; {option} chooses")
    return next(iter(run_of.values()), None)


def default_rules(*, warns: bool = True) -> str:
    """Name the rules for a call that names none: those of HOGEQ_RULES, otherwise the default.

    With `warns` a warning says that it is the default.
    """
    name = os.environ.get(VARIABLE, "").strip()
    if not name and warns:
        warn(f"rules {DEFAULT}, the default; --rules or {VARIABLE} chooses others")
    return name or DEFAULT


def check_numba() -> None:
    """Raise `HogeqError` if environment variables disable numba, or if it cannot read them."""
    if not any(name.startswith("NUMBA_") for name in os.environ.keys() - {"NUMBA_CACHE_DIR"}):
        return  # numba takes long to import, and some commands do without
    try:
        with warnings.catch_warnings():
            # Numba ignores a setting that it cannot read, with a warning and a traceback.
            warnings.filterwarnings("error", "Environment variable 'NUMBA_", RuntimeWarning)
            # Before numba: importing hogeq stops numba from reading a file of settings.
            from hogeq import Hog  # noqa: F401

            import numba  # isort: skip
    except (RuntimeWarning, ValueError) as error:
        raise HogeqError(f"numba: {str(error).partition(chr(10))[0]}") from error
    settings: Any = numba.config
    if settings.DISABLE_JIT:
        raise HogeqError("NUMBA_DISABLE_JIT: allowed: 0, since hogeq runs compiled code only")


def check_output(
    path: Path | None,
    suffixes: Sequence[str],
    *,
    reads: Iterable[str] = (),
    replace: bool = True,
    option: str = "--out",
) -> None:
    """Raise `HogeqError` if a command cannot or must not write a file.

    The name must end with one of the suffixes. A file that the command `reads` is not overwritten,
    and without `replace` no existing file is. `option` names the file in the message.
    """
    if path is None:
        return
    endings = {"".join(path.suffixes[-number:]).lower() for number in (1, 2)}  # .gz and .json.gz
    if endings.isdisjoint(suffixes):
        allowed = f"names ending in {', '.join(suffixes)}"
        raise HogeqError(f"{path}: cannot be written; allowed: {allowed}")
    problem = ""
    if path.is_dir():
        problem = "it is a folder"
    elif not path.parent.is_dir():
        problem = f"there is no folder {path.parent}"
    elif not os.access(path if path.exists() else path.parent, os.W_OK):
        problem = "permission denied"
    elif path.exists() and any(path.samefile(file) for file in reads if os.path.exists(file)):  # noqa: PTH110
        problem = f"it is read as well; {option} FILE leaves it alone"
    if problem:
        raise HogeqError(f"{path}: cannot be written: {problem}")
    if path.exists() and not replace:
        raise HogeqError(
            f"{path}: exists already; --overwrite replaces it, {option} FILE leaves it alone"
        )
