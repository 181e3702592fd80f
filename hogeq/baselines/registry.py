"""Strategies that have a name."""

import os
import re
from collections.abc import Callable
from functools import partial
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from hogeq.strategies.arrays import StrategyError
from hogeq.strategies.conversion import StrategyLike, check_game, strategy_of
from hogeq.strategies.files import read_strategy, sizes_of
from hogeq.strategies.profiles import read_profile, read_table
from hogeq.strategies.strategy import Strategy
from hogeq.support.kinds import PICKLES, SUFFIXES
from hogeq.support.messages import HogeqError, nearest, raised, refusal, shown, unreadable
from hogeq.support.plugins import Registry, enter, is_ours, named

if TYPE_CHECKING:
    from hogeq.model.game import HogEngine

MOST_DIGITS = 9  # most digits of a whole number
SOLVE = ("optimal", "ignore_memory", "champion")
"""Names of strategies that are made by solving a game, by the kernels of full memory."""


class Builtin(NamedTuple):
    """A strategy that has a name."""

    parameters: tuple[str, ...]  # names of the whole numbers after the colon
    about: str  # one line for people
    make: Callable[..., StrategyLike]
    """Makes it of the game and one int for each parameter."""
    defaults: tuple[int, ...] = ()  # of the last parameters
    solves: bool = False  # whether it is made by solving the game

    def usage(self, name: str) -> str:
        """Give the form in which users write it, ``name:PARAMETER,...``."""
        return f"{name}:{','.join(self.parameters)}" if self.parameters else name

    @property
    def text(self) -> str:
        """One line for people, with the values of parameters that may be left out."""
        defaults = ",".join(map(str, self.defaults))
        return f"{self.about} (:{defaults} if not given)" if defaults else self.about


class BaselineRegistry(Registry[Builtin]):
    """Built-in strategies by name."""

    @staticmethod
    def line(name: str, entry: Builtin) -> str:
        """Write the form in which users write a strategy, and the line about it."""
        return f"{entry.usage(name)}: {entry.text}"


BASELINES: Final = BaselineRegistry()
"""Strategies by name."""

_Maker = TypeVar("_Maker", bound=Callable[..., StrategyLike])


def baseline(usage: str, about: str) -> Callable[[_Maker], _Maker]:
    """Make a function the maker of a strategy that users can name.

    Parameters
    ----------
    usage : str
        The name, and after a colon what its parameters are called: ``"bacon:CUTOFF,N"``.
        Parameters are whole numbers; one called N is a number of dice and is checked as such.
        A word in lower case after the colon belongs to the name: ``"champion:policy"``.
    about : str
        One line for people.

    Returns
    -------
    decorator
        For a function of the game and one int for each parameter, which users may leave out if it
        has a default.

    Raises
    ------
    ValueError
        When the function is decorated: the name is taken, or the function does not take the
        parameters.

    Examples
    --------
    >>> import hogeq
    >>> import numpy as np
    >>> @hogeq.baseline("alternating:M,N", "rolls M dice at even scores and N at odd ones")
    ... def alternating(game, even, odd):
    ...     own = np.arange(game.goal) % 2
    ...     return np.repeat(np.where(own, odd, even)[:, None], game.goal, axis=1)
    >>> game = hogeq.Game("fa22")
    >>> game.strategy("alternating:2,6").array[:4, 0].tolist()
    [2, 6, 2, 6]
    """
    name, _, after_colon = usage.partition(":")
    if after_colon.islower():  # a part of the name
        name = usage
        after_colon = ""
    parameters = tuple(after_colon.split(",")) if after_colon else ()

    def decorate(make: _Maker) -> _Maker:
        """Enter the function that makes the strategy, after a check of its parameters."""
        try:
            accepted = signature(make)
            accepted.bind(*range(len(parameters) + 1))
        except TypeError:
            allowed = f"a function of a game and {len(parameters)} whole numbers"
            raise HogeqError(refusal(f"baseline {shown(usage)}", make, allowed)) from None
        after_game = list(accepted.parameters.values())[1 : len(parameters) + 1]
        all_defaults = (parameter.default for parameter in after_game)
        defaults = tuple(default for default in all_defaults if type(default) is int)
        entry = Builtin(parameters, about, make, defaults, solves(name))
        enter(BASELINES, "baseline", name, entry)
        return make

    return decorate


def is_builtin(spec: str) -> bool:
    """Whether a text begins with the name of a built-in strategy, so that it is no file."""
    return spec.partition(":")[0] in BASELINES


def solves(spec: str | None) -> bool:
    """Whether a text names a strategy that is made by solving the game."""
    return spec is not None and spec.partition(":")[0] in SOLVE


def names() -> dict[str, str]:
    """List the built-in strategies: a line about each, by the form in which users write it."""
    return {entry.usage(name): entry.text for name, entry in BASELINES.items()}


def builtin(spec: str, game: "HogEngine") -> Strategy:
    """Make the built-in strategy of a name with parameters, ``name:PARAMETER,...``.

    Raises `StrategyError` for an unknown name or bad parameters. A plugin's strategy may raise any
    error, which becomes a `StrategyError`, and its result is checked.
    """
    if not isinstance(spec, str):
        raise TypeError(refusal("spec", spec, "the name of a strategy, as a text"))
    check_game(game)
    name, colon, after_colon = spec.partition(":")
    if spec in BASELINES:  # a name may have a colon, as champion:policy has
        name, colon, after_colon = spec, "", ""
    if name not in BASELINES:
        allowed = f"those that `hogeq strategies` lists{nearest(name, BASELINES)}"
        raise StrategyError(f"strategy {shown(spec)}: unknown name; allowed: {allowed}")
    entry = BASELINES[name]
    texts = after_colon.split(",") if colon else []
    make = partial(entry.make, game, *_arguments(spec, name, texts, game))
    if is_ours(entry.make):
        return strategy_of(game, make())
    where = named(f"strategy {shown(spec)}", entry.make)
    try:
        strategy = make()
    except Exception as error:
        raise StrategyError(f"{where}: raised {raised(error)}") from error
    return strategy_of(game, strategy, where)


def _arguments(spec: str, name: str, texts: list[str], game: "HogEngine") -> list[int]:
    """Read the arguments of the built-in strategy `name` from the texts after the colon of `spec`.

    If the last ones are missing, they are the defaults. A number of dice, N, becomes the number of
    an action. Raises `StrategyError` for a wrong number of texts, or one out of range.
    """
    entry = BASELINES[name]
    missing = len(entry.parameters) - len(texts)
    if 0 < missing <= len(entry.defaults):
        texts = [*texts, *map(str, entry.defaults[-missing:])]
    if len(texts) != len(entry.parameters):
        # The message also lists names that begin with this one and a colon.
        names_alike = [other for other in BASELINES if f"{other}:".startswith(f"{name}:")]
        usages = " or ".join(BASELINES[other].usage(other) for other in names_alike)
        raise StrategyError(
            f"strategy {shown(spec)}: {len(texts)} parameters given, to be written as {usages}"
        )
    parameters = zip(entry.parameters, texts, strict=True)
    arguments = [_whole_number(spec, parameter, text) for parameter, text in parameters]
    if "N" in entry.parameters:
        index = entry.parameters.index("N")
        dice = arguments[index]
        rules = game.rules
        if not rules.least_answer <= dice <= rules.max_dice:
            allowed = f"{rules.least_answer} to {rules.max_dice}"
            raise StrategyError(f"strategy {shown(spec)}: N is {dice}; allowed: {allowed}")
        arguments[index] = rules.choices.index(dice)
    return arguments


def _whole_number(spec: str, name: str, text: str) -> int:
    """Read the whole number of a parameter, of few digits: int() is slow on thousands."""
    if not re.fullmatch(rf"\s*[+-]?[0-9]{{1,{MOST_DIGITS}}}\s*", text):
        raise StrategyError(
            f"strategy {shown(spec)}: {name} is {shown(text)}; "
            f"allowed: a whole number of at most {MOST_DIGITS} digits"
        )
    return int(text)


def require_known(spec: str) -> None:
    """Raise `StrategyError` for a text that names neither a built-in strategy nor a file."""
    if is_builtin(spec):
        return
    if not spec.strip():
        raise StrategyError(
            f"strategy {shown(spec)}: the name is empty; allowed: those that `hogeq strategies` "
            "lists, a file or a run directory"
        )
    try:
        os.stat(spec)  # noqa: PTH116 - any file or folder; a text may be no path at all
    except (OSError, ValueError) as error:
        if Path(spec).suffix.lower() in SUFFIXES + PICKLES:
            raise StrategyError(unreadable(Path(spec), error)) from error
        name = spec.partition(":")[0]
        known_names = [usage.partition(":")[0] for usage in names()]
        raise StrategyError(
            f"strategy {shown(spec)}: no built-in; allowed: those that `hogeq strategies` lists"
            f"{nearest(name, known_names)}; and no such folder, or file ending in "
            f"{', '.join(SUFFIXES)}"
        ) from None


def find_strategy(
    spec: str, game: "HogEngine", trust: bool = False, *, time_limit: float = 60.0
) -> Strategy:
    """Find a matrix, a policy or a mixture by its name or its file.

    `spec` is a built-in strategy with parameters, or the path of a table, a profile, a run, or any
    other file of a strategy. Only with `trust` does a ``.py`` file run, in a process of its own,
    for `time_limit` seconds at most.
    """
    require_known(spec)
    if is_builtin(spec):
        return builtin(spec, game).named(spec)
    if os.path.exists(spec):  # noqa: PTH110
        # Each reader gives None for a file of another kind.
        for read_file in (read_table, read_profile):
            strategy = read_file(Path(spec), game.rules)
            if strategy is not None:
                return strategy
    return read_strategy(spec, trust=trust, time_limit=time_limit, **sizes_of(game))
