"""Measurements of runs that never were."""

from dataclasses import replace

from hogeq.runs.files import Metrics

METRICS = [
    Metrics(t, 0.1 * t, 0.5 + 0.3 / t**0.5, 0.6 + 0.3 / t, 0.1, 0.1, 0.5 + 0.4 / t**0.4)
    for t in (1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 200)
]
BEGUN = [replace(METRICS[0], iteration=0), *METRICS]
MIXED = [
    replace(row, mixture_attack=0.5 + (row.attack - 0.5) / 4, mixture_bound=row.bound)
    for row in METRICS
]
SOLVED = [
    Metrics(t, 0.1, 0.5 + 0.3 / t**2, 0.5 + 0.3 / t**2, 0.1, 0.1, attack)
    for t, attack in ((1, 0.9), (2, 0.6), (3, 0.5), (5, 0.5 - 1e-16), (6, 0.5))
]
RESULT = {"average policy": (0.53, 0.6015), "matrix": (0.56, 0.68)}
EFFORTS = "2 starts, 30 anneal steps, 0 kicks", "4 starts, 60 anneal steps, 20 kicks or more"
