"""Hog, the dice game: exact win rates, equilibria without memory, how exploitable they are.

What a script needs can be had from here; each name is imported when it is first asked for.

Examples
--------
>>> import hogeq
>>> rules = hogeq.rules_from({"edition": "fa22", "goal": 3, "max_dice": 1, "sides": 2})
>>> game = hogeq.compile_game(rules)
>>> none, one = (hogeq.builtin(f"always_roll:{dice}", game) for dice in (0, 1))
>>> hogeq.win_rate(game, none, one)  # no dice: 1 point, a square, becomes 4 and wins
WinRate(win_rate=0.75, first=1.0, second=0.5)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hogeq import audit, gambit, plots, purify, tablebase, tournament
    from hogeq.evaluate import belief, mover_value, reach, values, win_rate
    from hogeq.formats import export_python, read_strategy, write_strategy
    from hogeq.game import Game, compile_game
    from hogeq.respond import Effort, attack, exploitability, full_memory_bound
    from hogeq.rules import EDITIONS, Rules, rules_from
    from hogeq.solvers import SOLVERS
    from hogeq.strategy import builtin

__version__ = "0.1.0"

_HOME = {
    "belief": "evaluate",
    "mover_value": "evaluate",
    "reach": "evaluate",
    "values": "evaluate",
    "win_rate": "evaluate",
    "export_python": "formats",
    "read_strategy": "formats",
    "write_strategy": "formats",
    "Game": "game",
    "compile_game": "game",
    "Effort": "respond",
    "attack": "respond",
    "exploitability": "respond",
    "full_memory_bound": "respond",
    "EDITIONS": "rules",
    "Rules": "rules",
    "rules_from": "rules",
    "SOLVERS": "solvers",
    "builtin": "strategy",
}
_MODULES = {"audit", "gambit", "plots", "purify", "tablebase", "tournament"}

__all__ = [
    "EDITIONS",
    "SOLVERS",
    "Effort",
    "Game",
    "Rules",
    "attack",
    "audit",
    "belief",
    "builtin",
    "compile_game",
    "exploitability",
    "export_python",
    "full_memory_bound",
    "gambit",
    "mover_value",
    "plots",
    "purify",
    "reach",
    "read_strategy",
    "rules_from",
    "tablebase",
    "tournament",
    "values",
    "win_rate",
    "write_strategy",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
