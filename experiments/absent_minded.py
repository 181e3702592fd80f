"""Absent-minded decision problems: values with bounds, and the methods of the suite of 61.

    python experiments/absent_minded.py                  # problems with seeds of our own
    python experiments/absent_minded.py --problems FOLDER --seconds 14400

Problems are files in the text format of the suite or names of games; of a folder all files in it
that end in .txt or have no suffix. A file that cannot be read is named and left out; Ctrl-C ends
with the tables of the problems so far. The methods, their settings and the protocol are those of E.
Tewolde, B. H. Zhang, I. Anagnostides, T. Sandholm and V. Conitzer, "Decision making under imperfect
recall: algorithms and benchmarks", arXiv 2602.15252, 2026: regret matching, RM+, and predictive
PRM, PRM+; projected gradient PGD and optimistic OGD, 4 rates each; AMSGrad, 27 settings; seeds 33
to 44 draw the starts, and a run ends after 6,000 iterations or at a KKT gap of 1e-6.

Two tables go to the folder of results: `absent_minded.md`, with the nodes, the rows and how often
one is met at most, the best value known, a bound on all policies by branch and bound in so many
seconds, and the three gaps of the best policy; and `absent_minded_methods.md`, where of each
method the best setting of a problem counts, the one of most runs that end in time. Values are
shares of the best known. Curves of the median gap go to `absent_minded.png`.
"""

import sys
import time
from argparse import Namespace
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import problems  # noqa: F401 - registers games
from common import Points, arguments, draw, publish

import hogeq
from hogeq.support.aliases import Floats, Ints
from hogeq.trees.absent import Decision
from hogeq.trees.flat import FlatTree
from hogeq.trees.text import from_text

OWN: Final = (
    "am_simulation(scenarios=2,tests=3,cases=1)",
    "am_simulation(scenarios=3,tests=4,cases=2)",
    "am_detection(height=2,width=3,length=2,rounds=2)",
    "am_detection(height=3,width=3,length=3,rounds=3)",
    "am_random(least=4,most=8,width=2,sets=2)",
    "am_random(least=5,most=9,width=3,sets=4)",
)
TINY: Final = 1e-8  # squares of derivatives below are taken for this

Step = Callable[[Floats, Floats, Any], tuple[Floats, Any]]  # of policy, derivatives and state


def matching(policy: Floats, slopes: Floats, regrets: Any, *, plus: bool, predicts: bool) -> Any:
    """Regret matching, on derivatives as if they were payoffs."""
    gains = slopes - (policy * slopes).sum(axis=1, keepdims=True)
    regrets = gains + (0.0 if regrets is None else regrets)
    regrets = np.maximum(regrets, 0.0) if plus else regrets
    aimed = np.maximum(regrets + gains * predicts, 0.0)
    total = aimed.sum(axis=1, keepdims=True)
    return np.where(total > 0.0, aimed / np.where(total > 0.0, total, 1.0), policy), regrets


def gradient(policy: Floats, slopes: Floats, _: Any, *, rate: float) -> Any:
    """Projected gradient ascent."""
    return projected(policy + rate * slopes, np.ones_like(policy)), None


def optimistic(policy: Floats, slopes: Floats, kept: Any, *, rate: float) -> Any:
    """Optimistic gradient ascent: a second point follows, and the last derivative is expected."""
    even = np.ones_like(policy)
    kept = policy if kept is None else projected(kept + rate * slopes, even)
    return projected(kept + rate * slopes, even), kept


def amsgrad(policy: Floats, slopes: Floats, kept: Any, *, rate: float, b: float, c: float) -> Any:
    """AMSGrad (Reddi, Kale and Kumar 2018), projected in the norm of its weights."""
    mean, square, most = kept or (0.0, 0.0, 0.0)
    mean = b * mean + (1.0 - b) * slopes
    square = c * square + (1.0 - c) * slopes**2
    most = np.maximum(most, square)
    weights = np.sqrt(np.maximum(most, TINY))
    return projected(policy + rate * mean / weights, weights), (mean, square, most)


def projected(points: Floats, weights: Floats) -> Floats:
    """Nearest probabilities, (R, K, S), by squares that are weighed; illegal points are -inf.

    They are max(0, point - level / weight): with breakpoints in falling order the level follows.
    """
    order = np.argsort(-points * weights, axis=1)
    sorted_points = np.take_along_axis(points, order, 1)
    inverse = 1.0 / np.take_along_axis(weights, order, 1)
    is_real = np.isfinite(sorted_points)
    total = np.cumsum(np.where(is_real, sorted_points, 0.0), axis=1) - 1.0
    levels = total / np.cumsum(np.where(is_real, inverse, 0.0), axis=1)
    counts = (is_real & (sorted_points > levels * inverse)).sum(axis=1, keepdims=True)
    level = np.take_along_axis(levels, np.maximum(counts - 1, 0), 1)
    return np.maximum(points - level / weights, 0.0)


RATES: Final = (1e-3, 1e-2, 1e-1, 1.0)
METHODS: Final[dict[str, dict[str, Step]]] = {
    "RM": {"rm": partial(matching, plus=False, predicts=False)},
    "RM+": {"rm+": partial(matching, plus=True, predicts=False)},
    "PRM": {"prm": partial(matching, plus=False, predicts=True)},
    "PRM+": {"prm+": partial(matching, plus=True, predicts=True)},
    "PGD": {f"pgd {rate:g}": partial(gradient, rate=rate) for rate in RATES},
    "OGD": {f"ogd {rate:g}": partial(optimistic, rate=rate) for rate in RATES},
    "AMSGrad": {
        f"ams {rate:g} {b:g} {c:g}": partial(amsgrad, rate=rate, b=b, c=c)
        for rate, b, c in product(RATES[1:], (0.8, 0.9, 0.99), (0.99, 0.999, 0.9999))
    },
}
"""Settings of each method."""


class Runs(NamedTuple):
    """Runs of one setting, one for each seed."""

    values: Floats  # (S,), at the last point
    gaps: Floats  # (S,)
    iterations: Ints  # (S,), until the gap was small, or the run was over
    seconds: float  # a run, all of them having been done together
    policy: Floats  # (R, K), the best
    curve: Points  # median gap by iterations


def starts(decision: Decision, seeds: tuple[int, ...]) -> Floats:
    """Draw policies by exponential weights, (R, K, S)."""
    legal = decision.legal
    drawn = []
    for seed in seeds:
        random = np.random.RandomState(seed)  # as the suite has it
        weights = np.zeros(legal.shape)
        weights[legal] = random.exponential(size=int(legal.sum()))
        drawn.append(weights / weights.sum(axis=1, keepdims=True))
    return np.stack(drawn, axis=2)


def run(decision: Decision, step: Step, given: Namespace) -> Runs:
    """Run a setting from all starts at once; a run that has ended stays where it is."""
    policy, state, began = starts(decision, given.seeds), None, time.process_time()
    legal, curve = decision.legal[..., None], []
    ended = np.full(policy.shape[2], given.iterations, np.int64)
    for iteration in range(given.iterations):
        values, slopes, gaps = decision.values(policy)
        gap = gaps.max(axis=0)
        ended = np.where((gap <= given.gap) & (ended == given.iterations), iteration, ended)
        if not (iteration & (iteration - 1)):  # powers of two
            curve.append((iteration + 1, max(float(np.median(gap)), given.gap)))
        is_late = time.process_time() - began > given.seconds
        if (ended < given.iterations).all() or is_late or iteration + 1 == given.iterations:
            break
        moved, state = step(policy, np.where(legal, slopes, 0.0), state)
        moved = np.where(legal, moved, 0.0)
        moved /= moved.sum(axis=1, keepdims=True)
        policy = np.where(ended == given.iterations, moved, policy)
    curve.append((iteration + 1, max(float(np.median(gap)), given.gap)))
    seconds = (time.process_time() - began) / len(ended)
    return Runs(values, gap, ended, seconds, policy[..., values.argmax()], curve)


def load(name: str) -> FlatTree:
    """Find a problem: a file of the suite, or a game by its name."""
    if Path(name).is_file() and Path(name).suffix in {"", ".txt"}:
        return from_text(name)
    tree = hogeq.Game(name).tree
    if tree is None:
        raise ValueError(f"{name}: is Hog; allowed: problems of one player")
    return tree


def named(given: Namespace) -> Iterator[str]:
    """List the problems asked for."""
    for name in given.problems:
        files = sorted(
            one for one in Path(name).rglob("[!.]*") if one.is_file() and one.suffix in {"", ".txt"}
        )
        yield from map(str, files) if Path(name).is_dir() else [name]


def readable(given: Namespace) -> Iterator[tuple[str, FlatTree]]:
    """Read the problems asked for; name those that cannot be read, and leave them out."""
    names = [*named(given)]
    if not names:
        where = ", ".join(given.problems)
        raise SystemExit(
            f"{where}: no problems; allowed: folders with files named *.txt or without a suffix"
        )
    for name in names:
        try:
            tree = load(name)
        except (OSError, ValueError) as error:
            print(f"left out: {error}", file=sys.stderr)
        else:
            yield name, tree


def until_stopped(rows: Iterator[list[object]]) -> Iterator[list[object]]:
    """Give rows until Ctrl-C."""
    try:
        yield from rows
    except KeyboardInterrupt:
        print("stopped; the tables have the problems so far", file=sys.stderr)


def main() -> None:
    """Write both tables and the curves."""
    given = arguments(
        __doc__,
        problems=OWN,
        seeds=tuple(range(33, 45)),
        iterations=6000,
        gap=1e-6,
        seconds=60.0,
    )
    lines: dict[str, dict[str, Points]] = {}
    methods: list[list[object]] = []
    header = [
        *("problem", "nodes", "sets", "visits", "best value", "bound", "gap", "by"),
        *("CDT gap", "EDT gap", "seconds"),
    ]
    publish(given.out, "absent_minded", header, until_stopped(rows(given, lines, methods)))
    header = ["problem", "method", "setting", "ended", "iterations", "KKT gap", "share", "seconds"]
    publish(given.out, "absent_minded_methods", header, methods)
    first = dict(list(lines.items())[:4])  # as many panels as one can read
    if first:
        draw(given.out, "absent_minded", first, "median KKT gap")


def rows(
    given: Namespace, lines: dict[str, dict[str, Points]], methods: list[list[object]]
) -> Iterator[list[object]]:
    """Solve one problem after the other, by branch and bound and by all methods."""
    for name, tree in readable(given):
        began = time.process_time()
        decision = Decision.of(tree, tree.uniform())
        solved = decision.solve(given.seconds)
        seconds, best, by = time.process_time() - began, solved.policy, "search"
        found = {}
        for method, settings in METHODS.items():
            runs = {key: run(decision, step, given) for key, step in settings.items()}
            key = min(runs, key=partial(order, runs, given.gap))
            found[method] = key, runs[key]
            for one in runs.values():
                if one.values.max() > decision.value(best) + 1e-9 * decision.unit:
                    best, by = one.policy, method
        value = decision.value(best)
        problem = Path(name).name
        lines[f"iterations, {problem}"] = {name: one.curve for name, (_, one) in found.items()}
        for method, (key, one) in found.items():
            share = float(np.median(one.values)) / value if value else float("nan")
            methods.append(
                [
                    *(problem, method, key, f"{(one.gaps <= given.gap).sum()} of {len(one.gaps)}"),
                    *(f"{np.median(one.iterations):.0f}", f"{np.median(one.gaps):.1e}"),
                    *(f"{share:.4f}", f"{one.seconds:.3f}"),
                ]
            )
        gaps = decision.gaps(best, given.seconds / 4.0)
        bound = max(solved.bound, value)
        yield [
            *(problem, f"{tree.num_nodes:,}", tree.num_rows, int(decision.visits.max(initial=0))),
            *(f"{value:.9f}", f"{bound:.9f}", f"{bound - value:.1e}", by),
            *(f"{gaps.kkt:.1e}", f"{gaps.edt[0]:.1e} to {gaps.edt[1]:.1e}", f"{seconds:.1f}"),
        ]


def order(runs: dict[str, Runs], gap: float, key: str) -> tuple[float, ...]:
    """Order settings: by runs that end, then by their median length, then by the gap."""
    one = runs[key]
    medians = float(np.median(one.iterations)), float(np.median(one.gaps))
    return -int((one.gaps <= gap).sum()), *medians


if __name__ == "__main__":
    main()
