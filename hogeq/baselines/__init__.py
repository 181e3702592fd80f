"""Strategies that past contestants used, rebuilt, and the names by which users ask for them.

A module enters its strategies by :func:`baseline` when it is imported. The sources are listed in
``docs/sources.md``.
"""

from hogeq.baselines.registry import BASELINES, baseline, builtin, find_strategy, names
from hogeq.baselines.simple import always_roll, bacon, hog_wild_heuristic, swap
from hogeq.baselines.solved import full_memory, ignore_memory, optimal

__all__ = [
    "BASELINES",
    "always_roll",
    "bacon",
    "baseline",
    "builtin",
    "find_strategy",
    "full_memory",
    "hog_wild_heuristic",
    "ignore_memory",
    "names",
    "optimal",
    "swap",
]
