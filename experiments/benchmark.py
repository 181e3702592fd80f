"""Who comes how near to the best, at equal effort: the benchmark's second edition, and its proofs.

    python experiments/benchmark.py                  # everything from nothing, in 45 minutes
    python experiments/benchmark.py --only random    # some problems
    python experiments/benchmark.py --redraw 1       # tables and figure from the runs shipped
    python experiments/benchmark.py --renew 1        # proofs of the instances of one seed
    python experiments/benchmark.py --only random --anneal 100  # better strategies

Problems are ten open and ten held-out seeds of each generated parameter, and `OTHERS`. One run
of every setting of the methods with a grid chooses one, by three open problems of each parameter.
Then every search has `--seeds` random seeds and `--evaluations`; its best policy is made pure by a
sweep, which loses nothing. Exact methods have `--exact` seconds by the clock on those not open. At
last a proof for each generated problem is looked for, in `--proof` seconds where it is no search.
Instances of trees of one seed are annealed for `--anneal` seconds of processor time, from one
random start after the other; a better strategy takes the place of the shipped one, whose proof
stays.

Each part is kept in a file of `--work` as soon as it is done, and not done again. To the folder of
results go benchmark.md, benchmark_groups.md, benchmark_instances.md, benchmark.png, and the folder
benchmark/seeds: all runs, and what experiments/check_benchmark.py checks.
"""

import hashlib
import json
import time
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from benchmark_tables import OTHERS, Record, group, instances, instances_in, seed_of, tables
from check_benchmark import FORMAT, Known, Proof
from check_instances import Instance
from check_trees import Tree, player_tree
from common import arguments, publish
from methods import EXACT, GRIDS, SEARCHES, Problem, improved, problem_of
from proofs import FullMemory, LinearProgram, branch_and_bound, searched

from hogeq import TreeGame
from hogeq.benchmark.catalogue import OPEN, Entry, catalogue, seeded
from hogeq.support.aliases import Floats, Ints
from hogeq.support.files import replacing, write_arrays
from hogeq.trees.annealing import anneal_strategy
from hogeq.trees.sequences import SequenceForm, sequence_form

MOST_PARTS = 2**24  # of a search: a minute or two
STEPS = 4_000_000  # of an annealing: some seconds
CHOOSING = 3  # of the open seeds choose settings
MARKS = 5  # powers of two of evaluations at which courses are known
LEAST = 1e-7  # share of the largest payoff that a better strategy gains


def main() -> None:
    """Do what is not done yet, and write all tables."""
    given = arguments(
        __doc__,
        only=("",),
        evaluations=1000,
        seeds=10,
        exact=10.0,
        proof=20.0,
        work="build/benchmark",
        redraw=0,
        renew=0,
        anneal=0.0,
    )
    work, folder = Path(given.work), given.out / "benchmark"
    work.mkdir(parents=True, exist_ok=True)
    all_listed, all_seeded = catalogue(), seeded()
    compared = [all_listed[name] for names in OTHERS.values() for name in names]
    listed, generated, compared = (
        [one for one in entries if any(part in one.name for part in given.only)]
        for entries in (all_listed.values(), all_seeded.values(), compared)
    )
    if given.renew:
        certify(folder, listed, arrays_in(folder, "strategies"), work, given.proof)
    elif given.anneal:
        anneal(folder, [one for one in listed if is_tree(one)], given.anneal)
    elif given.redraw:
        runs = arrays_in(folder / "seeds", "runs")
        entries = [*generated, *compared]
        records = {
            one.name: {part: runs[f"{one.name}.{part}"] for part in PARTS} for one in entries
        }
        tables(given.out, records, given.exact)
    else:
        compare([*generated, *compared], work, given)
        records = {one.name: recorded(work, one.name) for one in [*generated, *compared]}
        strategies = {one.name: records[one.name]["strategy"] for one in generated}
        certify(folder / "seeds", generated, strategies, work, given.proof)
        runs = {f"{name}.{part}": one[part] for name, one in records.items() for part in PARTS}
        write_arrays(folder / "seeds" / "runs.npz", **runs)
        tables(given.out, records, given.exact)
    header = ["instance", "states", "rows", "value", "bound", "gap", "proof"]
    publish(given.out, "benchmark_instances", header, instances(folder))


# --- runs -----------------------------------------------------------------------------------------

PARTS: Final = ("courses", "seconds", "exact", "largest", "marks")


def compare(entries: Sequence[Entry], work: Path, given: Namespace) -> None:
    """Run all methods on all problems."""
    chosen = settings(entries, work, given)
    for entry in entries:
        path = work / f"{entry.name}.npz"
        if not path.exists():
            write_arrays(path, **run(entry, chosen[group(entry.name)], given))
            print(entry.name, flush=True)


def settings(
    entries: Sequence[Entry], work: Path, given: Namespace
) -> dict[str, dict[str, tuple[float, ...]]]:
    """Choose settings of methods for each group, by problems that are not held out."""
    choosing = [one for one in entries if seed_of(one.name) <= CHOOSING]
    for entry in choosing:
        path = work / f"{entry.name}.grid.npz"
        if not path.exists():
            write_arrays(path, **grid(problem_of(entry), given.evaluations))
            print(f"{entry.name}, settings", flush=True)
    chosen: dict[str, dict[str, tuple[float, ...]]] = {}
    for name in {group(one.name) for one in choosing}:
        totals = [recorded(work, f"{one.name}.grid") for one in choosing if group(one.name) == name]
        chosen[name] = {
            method: of_method[int(np.sum([one[method] for one in totals], axis=0).argmax())]
            for method, of_method in GRIDS.items()
        }
    return chosen


def grid(problem: Problem, evaluations: int) -> Record:
    """Payoff that one run of each setting of each method comes to."""
    marks = [evaluations]
    return {
        method: [course(problem, method, setting, 0, marks)[0][-1] for setting in of_method]
        for method, of_method in GRIDS.items()
    }


def searched_by_all(
    entry: Entry, chosen: Mapping[str, tuple[float, ...]], given: Namespace
) -> tuple[Floats, Floats, Ints]:
    """Run searches on a problem: payoffs (methods, seeds, marks), seconds, and the best actions."""
    problem, best, kept = problem_of(entry), -np.inf, np.zeros(0)
    marks = marks_of(given)
    courses = np.zeros((len(SEARCHES), given.seeds, MARKS))
    seconds = np.zeros(courses.shape[:2])
    for number, method in enumerate(SEARCHES):
        setting = chosen.get(method, ())
        course(problem, method, setting, 0, [1])  # compiles
        for seed in range(given.seeds):
            began = time.process_time()
            courses[number, seed], policy = course(problem, method, setting, seed, marks)
            seconds[number, seed] = time.process_time() - began
            if courses[number, seed, -1] > best:
                best, kept = courses[number, seed, -1], policy
    return courses, seconds, problem.rows(kept)


def marks_of(given: Namespace) -> list[int]:
    """List the evaluations after which courses are known."""
    return [given.evaluations >> halved for halved in reversed(range(MARKS))]


def run(entry: Entry, chosen: Mapping[str, tuple[float, ...]], given: Namespace) -> Record:
    """Run all methods on a problem."""
    courses, seconds, best = searched_by_all(entry, chosen, given)
    largest, exact = 1.0, np.zeros((0, 3))
    game = entry.load()
    if isinstance(game, TreeGame):
        tree = game.tree
        largest, form = tree.largest_payoff, sequence_form(tree, entry.seat)
        payoffs = form.payoffs_against(tree.uniform())
        names = () if seed_of(entry.name) in OPEN else EXACT
        answers = [timed(name, form.inflated, payoffs, given.exact) for name in names]
        exact = np.array(answers).reshape(-1, 3)
    return {
        "courses": courses,
        "seconds": seconds,
        "exact": exact,
        "largest": largest,
        "marks": marks_of(given),
        "strategy": best.astype(np.int16),
    }


def course(
    problem: Problem, method: str, setting: Sequence[float], seed: int, marks: Sequence[int]
) -> tuple[list[float], Floats]:
    """Payoffs of a search after so many evaluations each, and its best policy made pure."""
    best, kept, spent = -1.0, np.full(problem.shape, 1.0 / problem.shape[-1]), 0
    payoffs = list[float]()
    for cost, rate, policy in SEARCHES[method](problem, np.random.default_rng(seed), *setting):
        spent += cost
        while spent > marks[len(payoffs)]:
            _, pure_rate, pure = improved(problem, kept, False)
            payoffs.append(problem.payoff(pure_rate))
            if len(payoffs) == len(marks):
                return payoffs, pure
        if rate > best:
            best, kept = rate, policy.copy()
    raise AssertionError("a search ends")


def timed(
    name: str, form: SequenceForm, payoffs: Floats, limit: float
) -> tuple[float, float, float]:
    """Share of the largest payoff that an exact method finds, its bound, and seconds taken."""
    began = time.process_time()
    share, bound = EXACT[name](form, payoffs, limit)
    return share, bound, time.process_time() - began


def recorded(work: Path, name: str) -> Record:
    """Read what was kept of a problem."""
    with np.load(work / f"{name}.npz") as arrays:
        return dict(arrays)


def is_tree(entry: Entry) -> bool:
    """Whether an instance is of one player in a tree."""
    return entry.family not in {"hog", "game"}


def anneal(folder: Path, entries: Sequence[Entry], seconds: float) -> None:
    """Anneal for so many seconds each; write strategies that are better, and what is then known."""
    strategies, proofs = arrays_in(folder, "strategies"), arrays_in(folder, "proofs")
    listed = instances_in(folder)
    for entry in entries:
        game, end = entry.load(), time.process_time() + seconds
        assert isinstance(game, TreeGame)  # noqa: S101 - of its family
        tree = game.tree
        form = sequence_form(tree, entry.seat)
        inner, payoffs = form.inflated, form.payoffs_against(tree.uniform())
        best, seed = listed[entry.name]["value"] / tree.largest_payoff + LEAST, 0
        while time.process_time() < end:
            random = np.random.default_rng(seed)
            start = random.integers(inner.tree.num_legal)
            plan = inner.pure_realisation(anneal_strategy(inner, payoffs, start, STEPS, random))
            if plan @ payoffs > best:
                best = float(plan @ payoffs)
                strategies[entry.name] = form.likeliest_actions(plan)[tree.seat == entry.seat]
                strategies[entry.name] = strategies[entry.name].astype(np.int16)
                print(f"{entry.name}: {best * tree.largest_payoff:.7f}, seed {seed}", flush=True)
            seed += 1
    tell(folder, entries, strategies, proofs, listed)


# --- proofs ---------------------------------------------------------------------------------------


def certify(
    folder: Path, entries: Sequence[Entry], strategies: dict[str, Any], work: Path, seconds: float
) -> None:
    """Prove bounds, each kept in a file as soon as it is there; write all that is known.

    Strategies that the search of a proof finds better are written instead.
    """
    listed, proofs = instances_in(folder), dict[str, Any]()
    if listed:
        proofs = arrays_in(folder, "proofs")
        strategies = arrays_in(folder, "strategies") | strategies
    for entry in entries:
        path = work / f"{entry.name}.proof.npz"
        if not path.exists():
            instance = Instance(dict(entry.make().arrays()))
            if entry.family == "game":
                done = play(entry, instance, seconds)
            else:
                best, proof = proved(instance, strategies[entry.name].astype(np.int64), seconds)
                done = {"strategy": best.astype(np.int16), **parts("proof", proof)}
            write_arrays(path, **done)
            print(f"{entry.name}, proof", flush=True)
        with np.load(path) as arrays:
            for part, array in arrays.items():
                if part.startswith("proof"):
                    proofs[f"{entry.name}{part.removeprefix('proof')}"] = array
                else:
                    name = entry.name if part == "strategy" else f"{entry.name}.{part}"
                    strategies[name] = array
    tell(folder, entries, strategies, proofs, listed)


def arrays_in(folder: Path, name: str) -> Record:
    """Read strategies or proofs."""
    with np.load(folder / f"{name}.npz") as arrays:
        return dict(arrays)


def proved(instance: Instance, best: Ints, seconds: float) -> tuple[Ints, Proof]:
    """Prove a bound, and perhaps find a better strategy."""
    if instance.memories > 1:
        full, legal = FullMemory(instance), instance.legal
        best, _, proof = branch_and_bound(full, legal, instance.value, best, seconds)
        return best, proof
    tree = player_tree(instance)
    return bounded(tree, instance.value, best, seconds)


def bounded(
    tree: Tree, value: Callable[[Ints], float], best: Ints, seconds: float
) -> tuple[Ints, Proof]:
    """Search a tree; if that takes too many parts, ask questions, with prices at the leaves."""
    best, proof = searched(tree, value, best, MOST_PARTS)
    if proof is None:
        relax = LinearProgram(tree, seconds)
        best, _, proof = branch_and_bound(relax, tree.legal, value, best, seconds)
    return best, proof


def play(entry: Entry, instance: Instance, seconds: float) -> Record:
    """Find mixtures of both players, and prove how much each allows the other."""
    mixtures = entry.load().equilibrium(seconds).strategies
    done: Record = {}
    for player, mixture in enumerate(mixtures):
        weights = mixture.chances / mixture.chances.sum()
        tree = Tree(instance, 1 - player, weights, mixture.policies)

        def value(rows: Ints, tree: Tree = tree) -> float:
            return tree.bound(tree.legal & (np.arange(tree.actions) == rows[:, None]))

        _, proof = bounded(tree, value, tree.legal.argmax(axis=1), seconds)
        done |= {f"{player}.weights": weights, f"{player}.policies": mixture.policies}
        done |= parts(f"proof.{player}", proof)
    return done


def parts(name: str, proof: Proof) -> Record:
    """Name the arrays of a proof."""
    return {f"{name}.{field}": array for field, array in proof._asdict().items()}


def tell(
    folder: Path, entries: Sequence[Entry], strategies: Record, proofs: Record, listed: Record
) -> None:
    """Write arrays, and of some instances what the checker computes from them."""
    reader = finish(folder, strategies, proofs, listed)
    for entry in entries:
        listed[entry.name] = reader.facts(entry.name, Instance(dict(entry.make().arrays())))
    finish(folder, strategies, proofs, listed)


def finish(folder: Path, strategies: Record, proofs: Record, instances: Mapping[str, Any]) -> Known:
    """Write all, and read it as the checker does."""
    folder.mkdir(parents=True, exist_ok=True)
    known: Record = {"format": FORMAT}
    for what, arrays in (("strategies", strategies), ("proofs", proofs)):
        write_arrays(folder / f"{what}.npz", **arrays)
        known[what] = hashlib.sha256((folder / f"{what}.npz").read_bytes()).hexdigest()
    with replacing(folder / "known.json") as path:
        text = json.dumps({**known, "instances": instances}, indent=1) + "\n"
        path.write_text(text, encoding="utf-8")
    return Known(folder)


if __name__ == "__main__":
    main()
