"""Who solves the benchmark of imperfect recall: eight methods at equal processor time, and proofs.

    python experiments/benchmark.py                  # everything anew
    python experiments/benchmark.py --only random    # some instances
    python experiments/benchmark.py --redraw 1       # tables and figure from what is there

Every method gets so many seconds of the processor on every problem of one player, `--large` on
those of 100 points; compiling is not counted. Then a proof of an upper bound is looked for, in at
most `--proof` seconds, and both players of a game get mixtures. Each instance is kept in a file of
`--work` as soon as it is done, and not done again. At the end tables, figure, strategies and proofs
are written: results/benchmark.md, benchmark_instances.md and benchmark.png, and to the folder
results/benchmark what experiments/check_benchmark.py checks.
"""

import hashlib
import json
import time
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from check_benchmark import FORMAT, Instance, Known, Proof, Tree
from common import arguments
from research.decision import Problem, player_tree, problem_of
from research.methods import METHODS, improved
from research.proofs import FullMemory, LinearProgram, branch_and_bound

from hogeq.benchmark.catalogue import GAMES, LARGEST, Entry, catalogue
from hogeq.support.aliases import Floats, Ints
from hogeq.support.files import replacing, write_arrays
from hogeq.trees.equilibrium import equilibrium
from hogeq.trees.game import load_tree

GAIN = 1e-9  # that counts as another point of a curve
EQUAL = 1e-6  # payoffs this close are equal
CLOSED = 1e-4  # a gap that counts as closed
DRAWN = 40  # points of a curve in the figure
LEAST = 1e-6  # shown as this much or less

Record = dict[str, Any]


def main() -> None:
    """Do what is not done yet, and write all tables."""
    given = arguments(
        __doc__,
        only=("",),
        seconds=1.0,
        large=5.0,
        proof=20.0,
        work="build/benchmark",
        part="0/1",
        redraw=0,
    )
    work = Path(given.work)
    work.mkdir(parents=True, exist_ok=True)
    entries = [one for one in catalogue().values() if any(part in one.name for part in given.only)]
    first, width = map(int, given.part.split("/"))
    for entry in entries[first::width]:
        if not given.redraw and not (work / f"{entry.name}.npz").exists():
            done = play(entry, given) if entry.family == "game" else solve(entry, given)
            write_arrays(work / f"{entry.name}.npz", **done)
            print(entry.name, flush=True)
    records = {
        entry.name: recorded(work / f"{entry.name}.npz")
        for entry in entries
        if (work / f"{entry.name}.npz").exists()
    }
    if first == 0 and records:
        keep(given.out, records)
        # tables(given.out, {name: catalogue()[name].family for name in records}, records)


# --- one instance ---------------------------------------------------------------------------------


def solve(entry: Entry, given: Namespace) -> dict[str, Any]:
    """Let all methods search, and prove a bound on what the best one finds."""
    instance, problem = Instance(dict(entry.make()._asdict())), problem_of(entry)
    seconds = given.large if is_large(entry) else given.seconds
    courses, found = {}, list[Ints]()
    for method in METHODS:
        courses[method], policy = course(problem, method, seconds)
        found.append(pure_rows(problem, policy))
    values = [instance.value(rows) for rows in found]
    for method, value in zip(METHODS, values, strict=True):
        courses[method][-1][1] = value
    best = found[int(np.argmax(values))]
    relaxed: Instance | Tree = instance
    if instance.memories == 1:
        relaxed = player_tree(instance)
    best, value, proof = proved(instance, relaxed, best, given.proof)
    text = json.dumps({"courses": courses, "value": value, "seconds": seconds})
    return {"strategy": best.astype(np.int16), "record": np.array(text), **parts("proof", proof)}


def is_large(entry: Entry) -> bool:
    """Whether it is a game of Hog at full size."""
    return entry.hog is not None and entry.hog[1] == LARGEST


def course(problem: Problem, method: str, seconds: float) -> tuple[list[list[float]], Floats]:
    """Improvements of a method, pairs of seconds and payoff, and its best policy made pure."""
    next(METHODS[method](problem))  # compiles
    points, best, kept = list[list[float]](), -1.0, np.zeros(problem.shape)
    began = time.process_time()
    for value, policy in METHODS[method](problem):
        spent = time.process_time() - began
        if value > best + GAIN:
            best, kept = value, policy.copy()
            points.append([round(spent, 4), problem.payoff(value)])
        if spent >= seconds:
            break
    value, kept = improved(problem, kept, False)
    points.append([round(time.process_time() - began, 4), problem.payoff(value)])
    return points, kept


def pure_rows(problem: Problem, policy: Floats) -> Ints:
    """Actions by row, of a pure policy; an action that is missing plays as the last one."""
    rows = policy.reshape(-1, policy.shape[-1]).argmax(axis=1)
    last = getattr(problem.engine, "last", None)
    return rows if last is None else np.minimum(rows, last)


def proved(
    instance: Instance, relaxed: Instance | Tree, best: Ints, seconds: float
) -> tuple[Ints, float, Proof]:
    """Prove a bound, and perhaps find a better strategy."""
    if isinstance(relaxed, Tree):
        relax, legal = LinearProgram(relaxed, seconds), relaxed.legal
        return branch_and_bound(relax, legal, instance.value, best, seconds)
    seconds = seconds if instance.rows < LARGEST**2 else 0.0
    return branch_and_bound(FullMemory(relaxed), relaxed.may(), instance.value, best, seconds)


def play(entry: Entry, given: Namespace) -> dict[str, Any]:
    """Find mixtures of both players, and prove how much each allows the other."""
    instance = Instance(dict(entry.make()._asdict()))
    name, forget = GAMES[entry.name.removesuffix("-game")]
    mixtures = equilibrium(load_tree(name, forget), given.proof).mixtures
    done: dict[str, Any] = {"record": np.array(json.dumps({"courses": {}}))}
    for player, mixture in enumerate(mixtures):
        weights = mixture.weights / mixture.weights.sum()
        tree = Tree(instance, 1 - player, weights, mixture.strategies)
        relax = LinearProgram(tree, given.proof)

        def value(rows: Ints, tree: Tree = tree) -> float:
            return tree.bound(tree.legal & (np.arange(tree.actions) == rows[:, None]))

        start = tree.legal.argmax(axis=1)
        _, _, proof = branch_and_bound(relax, tree.legal, value, start, given.proof)
        done |= {f"{player}.weights": weights, f"{player}.policies": mixture.strategies}
        done |= parts(f"proof.{player}", proof)
    return done


def parts(name: str, proof: Proof) -> dict[str, Any]:
    """Name the arrays of a proof."""
    return {f"{name}.{field}": array for field, array in proof._asdict().items()}


# --- what is written ------------------------------------------------------------------------------


def recorded(path: Path) -> Record:
    """Read what was kept of an instance."""
    with np.load(path) as arrays:
        kept = dict(arrays)
    return {**json.loads(str(kept.pop("record"))), "arrays": kept}


def keep(out: Path, records: Mapping[str, Record]) -> None:
    """Write strategies, proofs and what is known, to the digit."""
    folder = out / "benchmark"
    folder.mkdir(parents=True, exist_ok=True)
    strategies, proofs = {}, {}
    for name, record in records.items():
        for part, array in record["arrays"].items():
            if part.startswith("proof"):
                proofs[f"{name}{part.removeprefix('proof')}"] = array
            else:
                strategies[name if part == "strategy" else f"{name}.{part}"] = array
    known: dict[str, Any] = {"format": FORMAT}
    for what, arrays in (("strategies", strategies), ("proofs", proofs)):
        write_arrays(folder / f"{what}.npz", **arrays)
        known[what] = hashlib.sha256((folder / f"{what}.npz").read_bytes()).hexdigest()
    write(folder, {**known, "instances": {}})
    reader = Known(folder)
    known["instances"] = {
        name: reader.facts(name, Instance(dict(catalogue()[name].make()._asdict())))
        for name in records
    }
    write(folder, known)
    for name, record in records.items():
        record["known"] = known["instances"][name]


def write(folder: Path, known: Mapping[str, Any]) -> None:
    """Write known.json."""
    with replacing(folder / "known.json") as path:
        path.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
