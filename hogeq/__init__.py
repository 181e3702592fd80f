"""Exact evaluation and equilibrium solving for Hog, a dice game of imperfect recall.

What a script needs can be had from here; each name is imported when it is first asked for.

Examples
--------
>>> import hogeq
>>> game = hogeq.Game({"edition": "fa22", "goal": 3, "max_dice": 1, "sides": 2})
>>> none, one = (game.strategy(f"always_roll:{dice}") for dice in (0, 1))
>>> game.win_rate(none, one)  # no dice: 1 point, a square, becomes 4 and wins
WinRate(win_rate=0.75, first=1.0, second=0.5)
"""

import lazy_loader

__version__ = "0.2.0"

# The names, and where each lives, stand once, in __init__.pyi, which type checkers read too.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
