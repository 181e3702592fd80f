"""Absent-minded decision problems: values with bounds, and the methods of the suite of 61.

    python experiments/absent_minded.py                  # problems with seeds of our own
    python experiments/absent_minded.py --problems FOLDER --seconds 14400

Problems are files in the text format of the suite or names of games; of a folder all files in it
that end in .txt or have no suffix. A file that cannot be read is named and left out. Each search
and each setting of a method is kept in a file of `--work` as soon as it is done, and not done again
unless the problem or the options change; Ctrl-C ends with the tables of the problems so far.

The methods, their settings and the protocol are those of E. Tewolde, B. H. Zhang, I.
Anagnostides, T. Sandholm and V. Conitzer, "Decision making under imperfect recall: algorithms and
benchmarks", arXiv 2602.15252, 2026: regret matching, RM+, and predictive PRM, PRM+; projected
gradient PGD and optimistic OGD, 4 rates each; AMSGrad, 27 settings; seeds 33 to 44 draw the starts,
and a run ends after 6,000 iterations or at a KKT gap of 1e-6.

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
from functools import cached_property, partial
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any, Final

import numpy as np
import problems  # noqa: F401 - registers games
from common import Points, arguments, draw, publish
from steps import AMSGRAD, MATCHING, RATES, Step, amsgrad, gradient, optimistic

import hogeq
from hogeq.support.aliases import Floats, Ints
from hogeq.support.files import write_arrays
from hogeq.support.messages import printable
from hogeq.support.progress import phase
from hogeq.trees.absent import Decision
from hogeq.trees.flat import FlatTree
from hogeq.trees.text import from_text

OWN: Final = (
    "am_simulation(scenarios=2,tests=3,cases=1)",
    "am_simulation(scenarios=3,tests=4,cases=2)",
    "am_detection(height=2,width=3,length=2,rounds=2)",
    "am_detection(height=3,width=3,length=3,rounds=3)",
    "det",
    "am_random(least=4,most=8,width=2,sets=2)",
    "am_random(least=5,most=9,width=3,sets=4)",
)
SETTINGS: Final = ("seeds", "iterations", "gap", "seconds")  # that results depend on
ENTRIES: Final = 2**26  # of an array of a pass over several policies

STARTS: Final = "in the order of sets"  # how starts are drawn
LONGEST_NAME: Final = 2**16  # bytes of a line of a file that hold its information set's name

Making = Callable[[Decision, Namespace, Ints], dict[str, Any]]


METHODS: Final[dict[str, dict[str, Step]]] = {
    **{name: {name.lower(): step} for name, step in MATCHING.items()},
    "PGD": {f"pgd {rate:g}": partial(gradient, rate=rate) for rate in RATES},
    "OGD": {f"ogd {rate:g}": partial(optimistic, rate=rate) for rate in RATES},
    "AMSGrad": {
        f"ams {rate:g} {b:g} {c:g}": partial(amsgrad, rate=rate, b=b, c=c) for rate, b, c in AMSGRAD
    },
}
"""Settings of each method."""


def starts(decision: Decision, seeds: tuple[int, ...], order: Ints) -> Floats:
    """Draw policies by exponential weights, (R, K, S), row by row in the suite's order."""
    legal = decision.legal[order]
    drawn = []
    for seed in seeds:
        random = np.random.RandomState(seed)  # as the suite has it
        weights, policy = np.zeros(legal.shape), np.zeros(legal.shape)
        weights[legal] = random.exponential(size=int(legal.sum()))
        policy[order] = weights / weights.sum(axis=1, keepdims=True)
        drawn.append(policy)
    return np.stack(drawn, axis=2)


def by_first_visit(tree: FlatTree) -> Ints:
    """Order rows by the first of their nodes that a walk meets, depth first: (R,)."""
    size, place = np.ones(tree.num_nodes, np.int64), np.zeros(tree.num_nodes, np.int64)
    for nodes in reversed(tree.levels[1:]):
        np.add.at(size, tree.parent[nodes], size[nodes])
    for nodes in tree.levels[1:]:
        parent, before = tree.parent[nodes], np.cumsum(size[nodes]) - size[nodes]
        place[nodes] = place[parent] + 1 + before - before[parent.searchsorted(parent)]
    own, first = tree.player >= 0, np.full(tree.num_rows, tree.num_nodes)
    np.minimum.at(first, tree.row[own], place[own])
    return np.argsort(first, kind="stable")


def in_file(path: str, tree: FlatTree) -> Ints:
    """Order rows as a file lists their information sets; nodes without one follow: (R,)."""
    with Path(path).open("rb") as file:
        words = (line[:LONGEST_NAME].split() for line in file if line.startswith(b"infoset "))
        listed = {name.decode(): number for number, (_, name, *_) in enumerate(words)}
    row = by_first_visit(tree)
    places = [listed.get(tree.names[one], len(listed)) for one in row.tolist()]
    return row[np.argsort(places, kind="stable")]


def run(step: Step, decision: Decision, given: Namespace, order: Ints) -> dict[str, Any]:
    """Run a setting from all S starts at once; a run that has ended stays where it is."""
    policy, state, began = starts(decision, given.seeds, order), None, time.process_time()
    legal, curve = decision.legal[..., None], []
    ended = np.full(policy.shape[2], given.iterations, np.int64)
    seeds, count = np.arange(len(ended)), len(ended) * len(decision.payoffs) // ENTRIES
    groups = np.array_split(seeds, min(1 + count, len(ended)))
    for iteration in range(given.iterations):
        parts = [decision.values(policy[..., some]) for some in groups]
        values, slopes, gaps = (np.concatenate(one, axis=-1) for one in zip(*parts, strict=True))
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
    return {
        "values": values,  # (S,), at the last point
        "policy": policy[..., values.argmax()],  # (R, K), the best
        "curve": curve,  # median gap by iterations
        # The best setting has most runs that end, then the shortest ones, then the smallest gap.
        "rank": (-np.count_nonzero(gap <= given.gap), np.median(ended), np.median(gap)),
        "seconds": (time.process_time() - began) / len(ended),
    }


def search(decision: Decision, given: Namespace, _: Ints) -> dict[str, Any]:
    """Search and bound."""
    began, tree = time.process_time(), decision.form.tree
    solved = decision.solve(given.seconds)
    return {
        "policy": solved.policy,
        "ends": (solved.value, solved.bound),
        "unit": decision.unit,
        "sizes": (tree.num_nodes, tree.num_rows, int(decision.visits.max(initial=0))),
        "seconds": time.process_time() - began,
    }


class Problem:
    """A file of the suite, or a game by its name, and what is kept of it."""

    def __init__(self, name: str, given: Namespace) -> None:
        self.name, self.given, self.tree = name, given, None
        if Path(name).is_file() and Path(name).suffix in {"", ".txt"}:
            with Path(name).open("rb") as file:
                self.digest = file_digest(file, "sha256").hexdigest()
            return
        self.tree = hogeq.Game(name).tree
        self.digest = self.tree.digest()

    @cached_property
    def decision(self) -> Decision:
        """The problem, which is read only if there is something to do."""
        tree = self.tree or from_text(self.name)
        if tree.num_players > 1:
            raise ValueError(f"{self.name}: is of two players; allowed: problems of one player")
        return Decision.of(tree, tree.uniform())

    @cached_property
    def order(self) -> Ints:
        """The order of rows in which starts are drawn, (R,)."""
        tree = self.decision.form.tree
        return in_file(self.name, tree) if self.tree is None else by_first_visit(tree)

    def kept(self, what: str, make: Making) -> Namespace:
        """Read results, or make and keep them."""
        options = vars(self.given)
        key = [what, self.digest, hogeq.__version__, STARTS, *(options[one] for one in SETTINGS)]
        path = Path(self.given.work) / f"{sha256(repr(key).encode()).hexdigest()[:32]}.npz"
        if not path.exists():
            write_arrays(path, **make(self.decision, self.given, self.order))
        with np.load(path) as arrays:
            return Namespace(**arrays)


def named(given: Namespace) -> Iterator[tuple[str, str]]:
    """Name and find the problems asked for: games, files, and the files of folders."""
    for name in given.problems:
        files = [one for one in sorted(Path(name).rglob("[!.]*")) if one.suffix in {"", ".txt"}]
        inside = [str(one) for one in files if one.is_file()] if Path(name).is_dir() else [name]
        for one in inside:
            yield printable(Path(one).relative_to(Path(name).parent)), one


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
        work="build/absent_minded",
    )
    Path(given.work).mkdir(parents=True, exist_ok=True)
    lines: dict[str, dict[str, Points]] = {}
    methods: list[list[object]] = []
    header = [
        *("problem", "nodes", "sets", "visits", "best value", "bound", "gap", "by"),
        *("CDT gap", "EDT gap", "seconds"),
    ]
    with hogeq.show_progress():
        rows = until_stopped(solved(given, lines, methods))
        publish(given.out, "absent_minded", header, rows)
    header = [
        *("problem", "method", "setting", "ended", "iterations", "KKT gap"),
        *("lower quartile", "median share", "upper quartile", "seconds"),
    ]
    publish(given.out, "absent_minded_methods", header, methods)
    first = dict(list(lines.items())[:4])  # as many panels as one can read
    if first:
        draw(given.out, "absent_minded", first, "median KKT gap")


def solved(
    given: Namespace, lines: dict[str, dict[str, Points]], methods: list[list[object]]
) -> Iterator[list[object]]:
    """Solve one problem after the other; name those that cannot be read, and leave them out."""
    names = [*named(given)]
    if not names:
        where = ", ".join(given.problems)
        raise SystemExit(
            f"{where}: no problems; allowed: folders with files named *.txt or without a suffix"
        )
    with phase("problems", len(names), "problems") as progress:
        for name, where in names:
            try:
                yield row(name, Problem(where, given), lines, methods)
            except (OSError, ValueError) as error:
                print(f"{name} is left out: {error}", file=sys.stderr)
            progress.step()


def rank(run: tuple[str, Namespace]) -> list[float]:
    """Order the settings of a method."""
    return list(run[1].rank)


def row(
    name: str, problem: Problem, lines: dict[str, dict[str, Points]], methods: list[list[object]]
) -> list[object]:
    """Solve a problem, by branch and bound and by all methods."""
    with phase(name, 1 + sum(map(len, METHODS.values()))) as progress:
        progress.now("search")
        found = problem.kept("search", search)
        (value, bound), best, by = found.ends.tolist(), found.policy, "search"
        chosen = {}
        for method, settings in METHODS.items():
            runs = {}
            for key, step in settings.items():
                progress.step(doing=key)
                one = runs[key] = problem.kept(key, partial(run, step))
                if one.values.max() > value + 1e-9 * found.unit:
                    value, best, by = float(one.values.max()), one.policy, method
            chosen[method] = min(runs.items(), key=rank)
        progress.step(doing="gaps")
        gaps = problem.kept(
            "gaps", lambda one, given, _: one.gaps(best, given.seconds / 4.0)._asdict()
        )
    lines[f"iterations, {name}"] = {label: one.curve for label, (_, one) in chosen.items()}
    for method, (key, one) in chosen.items():
        shares = np.quantile(one.values / value, (0.25, 0.5, 0.75)) if value else [np.nan] * 3
        methods.append(
            [
                *(name, method, key, f"{-one.rank[0]:.0f} of {len(one.values)}"),
                *(f"{one.rank[1]:.0f}", f"{one.rank[2]:.1e}"),
                *(f"{share:.4f}" for share in shares),
                f"{one.seconds:.3f}",
            ]
        )
    bound, (nodes, *sizes) = max(bound, value), found.sizes.tolist()
    return [
        *(name, f"{nodes:,}", *sizes, f"{value:.9f}", f"{bound:.9f}", f"{bound - value:.1e}", by),
        *(f"{gaps.kkt:.1e}", f"{gaps.edt[0]:.1e} to {gaps.edt[1]:.1e}", f"{found.seconds:.1f}"),
    ]


if __name__ == "__main__":
    main()
