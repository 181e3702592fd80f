"""Strategies of the seeds, rebuilt; importing this package makes their names known.

One file for each way of making them.  The kernels are imported where they are used: listing names
needs none.
"""

from hogeq.seeds.hog_wild import hog_wild_heuristic
from hogeq.seeds.second_place import delta_distribution, huan2020
from hogeq.seeds.tablebases import (
    fa15_optimal,
    fa22_optimal,
    full_memory,
    ignore_memory,
    optimal,
)

__all__ = [
    "delta_distribution",
    "fa15_optimal",
    "fa22_optimal",
    "full_memory",
    "hog_wild_heuristic",
    "huan2020",
    "ignore_memory",
    "optimal",
]
