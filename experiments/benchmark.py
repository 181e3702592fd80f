"""Who solves the benchmark of imperfect recall: eight methods at equal processor time, and proofs.

    python experiments/benchmark.py                  # everything anew
    python experiments/benchmark.py --only random    # some instances
    python experiments/benchmark.py --redraw 1       # tables and figure from what is there
    python experiments/benchmark.py --renew 1        # proofs alone, of the strategies in results

Every method gets so many seconds of the processor on every problem of one player, `--large` on
those of 100 points; compiling is not counted. Then a proof of an upper bound is looked for, in at
most `--proof` seconds (below 100 points), and a better strategy, by attacks of four starts and 40
kicks with seeds 0, 1, ... until `--longer` seconds are over. Both players of a game get mixtures.
Each instance is kept in a file of `--work` as soon as it is done, and not done again. At the end
tables, figure, strategies and proofs are written: results/benchmark.md, benchmark_instances.md and
benchmark.png, and to the folder results/benchmark what experiments/check_benchmark.py checks.
"""

import hashlib
import json
import time
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from check_benchmark import FORMAT, Instance, Known, Proof
from check_trees import Tree
from common import arguments, draw, publish
from methods import METHODS, Problem, improved, problem_of
from proofs import FullMemory, LinearProgram, branch_and_bound, player_tree, searched

from hogeq.benchmark.catalogue import GAMES, LARGEST, Entry, catalogue
from hogeq.search.attack import SearchResult, attack
from hogeq.search.results import Budget
from hogeq.strategies.arrays import one_hot
from hogeq.support.aliases import Floats, Ints
from hogeq.support.files import replacing, write_arrays
from hogeq.trees.exact import equilibrium
from hogeq.trees.loading import load_tree

FEW = 64  # rows that are set in turn
GAIN = 1e-9  # that counts as another point of a curve
EQUAL = 1e-6  # payoffs this close are equal
DRAWN = 40  # points of a curve in the figure
LEAST = 1e-7  # added to what is drawn, since axes are logarithmic

Record = dict[str, Any]


def main() -> None:
    """Do what is not done yet, and write all tables."""
    given = arguments(
        __doc__,
        only=("",),
        seconds=1.0,
        large=5.0,
        proof=20.0,
        longer=20.0,
        work="build/benchmark",
        part="0/1",
        redraw=0,
        renew=0,
    )
    work = Path(given.work)
    work.mkdir(parents=True, exist_ok=True)
    entries = [one for one in catalogue().values() if any(part in one.name for part in given.only)]
    if given.renew:
        renew(entries, work, given)
        return
    first, width = map(int, given.part.split("/"))
    for entry in entries[first::width]:
        if not given.redraw and not (work / f"{entry.name}.npz").exists():
            done = play(entry, given) if entry.family == "game" else solve(entry, given)
            write_arrays(work / f"{entry.name}.npz", **done)
            print(entry.name, flush=True)
        if not given.redraw and entry.family != "game":
            strengthen(entry, work / f"{entry.name}.npz", given)
    records = {
        entry.name: recorded(work / f"{entry.name}.npz")
        for entry in entries
        if (work / f"{entry.name}.npz").exists()
    }
    if first == 0 and records:
        keep(given.out, records)
        tables(given.out, records)


# --- one instance ---------------------------------------------------------------------------------


def solve(entry: Entry, given: Namespace) -> dict[str, Any]:
    """Let all methods search, and prove a bound on what the best one finds."""
    instance, problem = Instance(dict(entry.make()._asdict())), problem_of(entry)
    seconds = given.large if is_large(entry) else given.seconds
    courses, found = {}, list[Ints]()
    for method in METHODS:
        courses[method], policy = course(problem, method, seconds)
        found.append(problem.rows(policy))
    values = [instance.value(rows) for rows in found]
    for method, value in zip(METHODS, values, strict=True):
        courses[method][-1][1] = value
    best = found[int(np.argmax(values))]
    best, value, proof = proved(instance, best, 0.0 if is_large(entry) else given.proof)
    record = {"courses": courses, "value": value, "seconds": seconds, "proof": given.proof}
    text = np.array(json.dumps(record))
    return {"strategy": best.astype(np.int16), "record": text, **parts("proof", proof)}


def renew(entries: list[Entry], work: Path, given: Namespace) -> None:
    """Prove anew what is known, and write it; the courses of methods stay."""
    folder = given.out / "benchmark"
    known = json.loads((folder / "known.json").read_text(encoding="utf-8"))
    with np.load(folder / "strategies.npz") as one, np.load(folder / "proofs.npz") as other:
        strategies, proofs = dict(one), dict(other)
    for entry in entries:
        path = work / f"{entry.name}.proof.npz"
        if not path.exists():
            if entry.family == "game":
                done = play(entry, given)
            else:
                instance = Instance(dict(entry.make()._asdict()))
                best = strategies[entry.name].astype(np.int64)
                best, _, proof = proved(instance, best, given.proof)
                done = {"strategy": best.astype(np.int16), **parts("proof", proof)}
            write_arrays(path, **done)
            print(entry.name, flush=True)
        with np.load(path) as arrays:
            found = {name: array for name, array in arrays.items() if name != "record"}
        sort(entry.name, found, strategies, proofs)
    reader = finish(folder, strategies, proofs, known["instances"])
    for entry in entries:
        instance = Instance(dict(entry.make()._asdict()))
        known["instances"][entry.name] = reader.facts(entry.name, instance)
        finish(folder, strategies, proofs, known["instances"])
    table = given.out / "benchmark_instances.md"
    rows = [line.split(" | ") for line in table.read_text(encoding="utf-8").splitlines()]
    for row in rows:
        if (name := row[0].removeprefix("| ")) in known["instances"]:
            row[3:7] = map(str, ends(known["instances"][name]))
    table.write_text("\n".join(map(" | ".join, rows)) + "\n", encoding="utf-8")


def is_large(entry: Entry) -> bool:
    """Whether it is a game of Hog at full size."""
    return entry.hog is not None and entry.hog[1] == LARGEST


def strengthen(entry: Entry, path: Path, given: Namespace) -> None:
    """Give what was kept the longer attacks, or the seconds for a proof, that it has not had."""
    record = recorded(path)
    arrays = record.pop("arrays")
    is_searched = record.get("longer", 0.0) >= given.longer
    is_proved = is_large(entry) or record["proof"] >= given.proof
    if is_searched and is_proved:
        return
    instance = Instance(dict(entry.make()._asdict()))
    if not is_searched:
        problem = problem_of(entry)
        rate, policy = longest(problem, given.longer)
        record["longer"] = given.longer
        if problem.payoff(rate) > record["value"]:
            rows = problem.rows(policy)
            arrays["strategy"], record["value"] = rows.astype(np.int16), instance.value(rows)
    if not is_proved:
        best, value, proof = proved(instance, arrays["strategy"].astype(np.int64), given.proof)
        arrays |= {"strategy": best.astype(np.int16), **parts("proof", proof)}
        record |= {"value": value, "proof": given.proof}
    write_arrays(path, **arrays, record=np.array(json.dumps(record)))
    print(f"{entry.name}, longer", flush=True)


def longest(problem: Problem, seconds: float) -> tuple[float, Floats]:
    """Best win rate and policy of attacks with other seeds, until so many seconds are over."""
    end, seed = time.process_time() + seconds, 0
    found: list[SearchResult] = []
    while not found or time.process_time() < end:
        budget = Budget(starts=4, kicks=40, seed=seed)
        found.append(attack(problem.engine, problem.opponent, budget))
        seed += 1
    best = max(found, key=lambda one: one.win_rate)
    return best.win_rate, one_hot(best.matrix, problem.shape[-1])


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


def proved(instance: Instance, best: Ints, seconds: float) -> tuple[Ints, float, Proof]:
    """Prove a bound, and perhaps find a better strategy."""
    if instance.memories > 1:
        full, legal = FullMemory(instance), instance.legal
        return branch_and_bound(full, legal, instance.value, best, seconds)
    tree = player_tree(instance)
    if len(np.unique(tree.row)) <= FEW:
        best, value, found = searched(tree, instance.value, best)
        if found is not None:
            return best, value, found
    return branch_and_bound(LinearProgram(tree, seconds), tree.legal, instance.value, best, seconds)


def play(entry: Entry, given: Namespace) -> dict[str, Any]:
    """Find mixtures of both players, and prove how much each allows the other."""
    instance = Instance(dict(entry.make()._asdict()))
    name, forget = GAMES[entry.name.removesuffix("-game")]
    mixtures = equilibrium(load_tree(name, forget), given.proof).strategies
    done: dict[str, Any] = {"record": np.array(json.dumps({"courses": {}}))}
    for player, mixture in enumerate(mixtures):
        weights = mixture.chances / mixture.chances.sum()
        tree = Tree(instance, 1 - player, weights, mixture.policies)
        relax = LinearProgram(tree, given.proof)

        def value(rows: Ints, tree: Tree = tree) -> float:
            return tree.bound(tree.legal & (np.arange(tree.actions) == rows[:, None]))

        start = tree.legal.argmax(axis=1)
        _, _, proof = branch_and_bound(relax, tree.legal, value, start, given.proof)
        done |= {f"{player}.weights": weights, f"{player}.policies": mixture.policies}
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
    return {"proof": 0.0, **json.loads(str(kept.pop("record"))), "arrays": kept}


def keep(out: Path, records: Mapping[str, Record]) -> None:
    """Write strategies, proofs and what is known, to the digit."""
    folder = out / "benchmark"
    folder.mkdir(parents=True, exist_ok=True)
    strategies, proofs = dict[str, Any](), dict[str, Any]()
    for name, record in records.items():
        sort(name, record["arrays"], strategies, proofs)
    reader = finish(folder, strategies, proofs, {})
    found = {
        name: reader.facts(name, Instance(dict(catalogue()[name].make()._asdict())))
        for name in records
    }
    finish(folder, strategies, proofs, found)
    for name, record in records.items():
        record["known"] = found[name]


def sort(
    name: str, arrays: Mapping[str, Any], strategies: dict[str, Any], proofs: dict[str, Any]
) -> None:
    """Name the arrays of an instance as the results do."""
    for part, array in arrays.items():
        if part.startswith("proof"):
            proofs[f"{name}{part.removeprefix('proof')}"] = array
        else:
            strategies[name if part == "strategy" else f"{name}.{part}"] = array


def finish(folder: Path, strategies: Record, proofs: Record, instances: Mapping[str, Any]) -> Known:
    """Write all, and read it as the checker does."""
    known: Record = {"format": FORMAT}
    for what, arrays in (("strategies", strategies), ("proofs", proofs)):
        write_arrays(folder / f"{what}.npz", **arrays)
        known[what] = hashlib.sha256((folder / f"{what}.npz").read_bytes()).hexdigest()
    write(folder, {**known, "instances": instances})
    return Known(folder)


def write(folder: Path, known: Mapping[str, Any]) -> None:
    """Write known.json."""
    with replacing(folder / "known.json") as path:
        path.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")


# --- tables and figure ----------------------------------------------------------------------------


def tables(out: Path, records: Mapping[str, Record]) -> None:
    """Write who is best on how many, all instances, and the courses."""
    problems = {name: one for name, one in records.items() if one["courses"]}
    header = ["method", "best", "alone", "mean short", "most short", "hog", "generated", "trees"]
    publish(out, "benchmark", header, ranking(problems))
    header = ["instance", "states", "rows", "value", "bound", "gap", "leaves", *METHODS]
    publish(out, "benchmark_instances", header, lines(records))
    if problems:
        draw(out, "benchmark", panels(problems), "mean short of the best known")


def short(record: Record, method: str, seconds: float = np.inf) -> float:
    """How far a method is below the best value known after so many seconds."""
    courses = record["courses"]
    known = [value for spent, value in courses[method] if spent <= seconds]
    worst = min(points[0][1] for points in courses.values())
    return float(record["value"] - max(known, default=worst))


def ranking(problems: Mapping[str, Record]) -> Iterator[list[object]]:
    """Compare methods at the end of their time, in all and by family."""
    best = {
        name: {
            method
            for method in METHODS
            if short(one, method) <= min(short(one, other) for other in METHODS) + EQUAL
        }
        for name, one in problems.items()
    }
    for method in METHODS:
        wins = [name for name in problems if method in best[name]]
        lags = [max(short(one, method), 0.0) for one in problems.values()]
        families = [
            f"{sum(group(name) == one for name in wins)}/{sum(group(n) == one for n in problems)}"
            for one in GROUPS
        ]
        yield [
            *(method, f"{len(wins)}/{len(problems)}", sum(len(best[name]) == 1 for name in wins)),
            *(f"{np.mean(lags):.6f}", f"{max(lags):.6f}", *families),
        ]


def group(name: str) -> str:
    """Name the column of an instance."""
    family = catalogue()[name].family
    return {"hog": "hog", "tree": "trees"}.get(family, "generated")


def lines(records: Mapping[str, Record]) -> Iterator[list[object]]:
    """List what is known of every instance, and how far below it each method ends."""
    for name, record in records.items():
        known = record["known"]
        lags = ["" for _ in METHODS]
        if record["courses"]:
            lags = [lag(short(record, method)) for method in METHODS]
        yield [
            *(name, f"{known['states']:,}", f"{known['rows']:,}", *ends(known), *lags),
        ]


def ends(known: Mapping[str, Any]) -> list[object]:
    """Write a value, its bound, their gap, and the leaves of the proof."""
    low, high = (known.get(one, known.get(two)) for one, two in ENDS)
    gap = high - low
    written = "0" if gap < EQUAL else f"{gap:.1e}"
    return [f"{low:.7f}", f"{high:.7f}", written, sum(np.atleast_1d(known["leaves"]))]


def lag(value: float) -> str:
    """Write how far a value is below another."""
    return "0" if value < EQUAL else f"{value:.1e}"


def panels(problems: Mapping[str, Record]) -> dict[str, dict[str, list[tuple[float, float]]]]:
    """Mean course of every method, by kind of problem."""
    drawn: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for title, belongs in PANELS.items():
        records = [one for name, one in problems.items() if belongs(name)]
        if not records:
            continue
        seconds = np.geomspace(FIRST, max(one["seconds"] for one in records), DRAWN)
        drawn[f"processor seconds: {title} ({len(records)})"] = {
            method: [
                (float(at), LEAST + float(np.mean([short(one, method, at) for one in records])))
                for at in seconds
            ]
            for method in METHODS
        }
    return drawn


GROUPS = ("hog", "generated", "trees")
ENDS = (("value", "lower"), ("bound", "upper"))
FIRST = 2e-3  # seconds from which on courses are drawn
PANELS: dict[str, Callable[[str], bool]] = {
    "Hog to 100 points": lambda name: is_large(catalogue()[name]),
    "smaller Hog": lambda name: group(name) == "hog" and not is_large(catalogue()[name]),
    "others": lambda name: group(name) != "hog",
}


if __name__ == "__main__":
    main()
