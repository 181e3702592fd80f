"""Strategies of the seeds, rebuilt; importing this package makes their names known.

One file for each way of making them.  The kernels are imported where they are used: listing names
needs none.
"""

from hogeq.baselines.hog_wild import hog_wild_heuristic
from hogeq.baselines.registry import builtin, find_strategy, is_builtin, names, register
from hogeq.baselines.second_place import delta_distribution, huan2020
from hogeq.baselines.simple import always_roll, bacon, swap
from hogeq.baselines.tablebases import (
    fa15_optimal,
    fa22_optimal,
    full_memory,
    ignore_memory,
    optimal,
)

__all__ = [
    "always_roll",
    "bacon",
    "builtin",
    "delta_distribution",
    "fa15_optimal",
    "fa22_optimal",
    "find_strategy",
    "full_memory",
    "hog_wild_heuristic",
    "huan2020",
    "ignore_memory",
    "is_builtin",
    "names",
    "optimal",
    "register",
    "swap",
]
