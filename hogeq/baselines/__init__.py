"""Strategies that past contestants used, rebuilt, and the names by which users ask for them.

`BASELINES` is the one list of names; :func:`baseline` adds to them. The sources are listed in
``docs/sources.md``.
"""

from collections.abc import Callable

from hogeq.baselines import champion
from hogeq.baselines.hog_wild import hog_wild_heuristic
from hogeq.baselines.registry import baseline, builtin, find_strategy, names
from hogeq.baselines.samples import SAMPLES
from hogeq.baselines.second_place import delta_distribution, huan2020
from hogeq.baselines.simple import always_roll, bacon, swap
from hogeq.baselines.tablebases import (
    fa15_optimal,
    fa22_optimal,
    full_memory,
    ignore_memory,
    optimal,
)
from hogeq.strategies.mixtures import AnyStrategy

BASELINES: tuple[tuple[str, str, Callable[..., AnyStrategy]], ...] = (
    ("always_roll:N", "roll N dice, whatever the scores", always_roll),
    ("bacon:CUTOFF,N", "roll 0 dice for at least CUTOFF points, else N", bacon),
    (
        "swap:CUTOFF,N",
        "as bacon, but roll 0 for any swap that helps and for none that hurts",
        swap,
    ),
    *SAMPLES,
    (
        "hog_wild_heuristic",
        "expected points with the three adjustments of Hog Wild!",
        hog_wild_heuristic,
    ),
    ("huan2020", "second place of summer 2020: counted guesses of the memory", huan2020),
    (
        "delta_distribution",
        "as huan2020, but the memory as probable as it is in self-play",
        delta_distribution,
    ),
    ("optimal", "play optimally, in rules without hidden memory", optimal),
    (
        "ignore_memory",
        "play optimally as if the rules that need a hidden memory did not exist",
        ignore_memory,
    ),
    ("full_memory", "play optimally, remembering everything; only to be compared", full_memory),
    (
        "fa15_optimal",
        "play optimally by the rules of fa15, whatever the rules in force",
        fa15_optimal,
    ),
    (
        "fa22_optimal",
        "play optimally by the rules of fa22, whatever the rules in force",
        fa22_optimal,
    ),
    *((name, champion.about(name), champion.champion(name)) for name in champion.FILES),
)
"""How to write each, one line about it, and what makes it."""

for _usage, _about, _make in BASELINES:
    baseline(_usage, _about)(_make)

__all__ = [
    "BASELINES",
    "always_roll",
    "bacon",
    "baseline",
    "builtin",
    "delta_distribution",
    "fa15_optimal",
    "fa22_optimal",
    "find_strategy",
    "full_memory",
    "hog_wild_heuristic",
    "huan2020",
    "ignore_memory",
    "names",
    "optimal",
    "swap",
]
