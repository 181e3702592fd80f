"""Types of what users give: games, what players forget, and strategies."""

from collections.abc import Callable, Hashable, Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias

from hogeq.strategies.conversion import StrategyLike

HogName: TypeAlias = Literal[
    "fa13", "fa14", "fa15", "fa17", "fa18", "fa19", "fa20", "fa21", "fa22", "fa23", "fa24",
    "fa25", "hog12", "hw13", "sp13", "sp14", "sp17", "sp18", "sp19", "sp20", "sp21", "sp22",
    "sp23", "sp24", "sp25", "sp26", "su14", "su15", "su15_contest", "su17", "su18", "su19",
    "su20", "su21", "su22", "su23", "su24", "su25",
]  # fmt: skip
"""Names of the editions, so that an editor knows that ``Game("fa25")`` is a `Hog`."""

Forget: TypeAlias = str | Callable[[int, str], Hashable] | None
"""``own_actions``, ``order`` or ``last:K``; or a function of a player and an information state that
gives the key of the information set."""

StrategySpec: TypeAlias = StrategyLike | str | Path | Mapping[Any, Any]
"""A strategy, or its function, array, name, file, run's folder, dictionary or a result.

Of an `Equilibrium` it is the `profile`, of other results the `strategy`.
"""
