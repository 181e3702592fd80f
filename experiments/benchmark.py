"""Who comes how near to the best, at equal effort: the benchmark's second edition, and its proofs.

    python experiments/benchmark.py                  # everything from nothing, in 45 minutes
    python experiments/benchmark.py --only random    # some problems
    python experiments/benchmark.py --redraw 1       # tables and figure from the runs shipped
    python experiments/benchmark.py --renew 1        # proofs of the instances of one seed
    python experiments/benchmark.py --only random --anneal 100  # better strategies
    python experiments/benchmark.py --add 2          # the last two searches, to the runs shipped

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
import math
import time
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from check_benchmark import FORMAT, Known, Proof
from check_instances import Instance
from check_trees import Tree, player_tree
from common import arguments, draw, publish
from methods import EXACT, GRIDS, SEARCHES, Problem, improved, problem_of
from proofs import FullMemory, LinearProgram, branch_and_bound, searched

from hogeq import TreeGame
from hogeq.benchmark.catalogue import HELD_OUT, OPEN, Entry, catalogue, seeded
from hogeq.search.certificate_files import Certificate
from hogeq.support.aliases import Floats, Ints
from hogeq.support.files import replacing, write_arrays
from hogeq.trees.annealing import annealed
from hogeq.trees.enumeration import MOST_SEARCH_NODES as ENUMERATED
from hogeq.trees.sequences import SequenceForm, sequence_form

OTHERS: Final = {
    "Hog": ("su20-14x2-always", "fa18-10x3-always", "fa18-10x3-ignore", "fa13-20x4-always"),
    "poker": (
        "leduc_poker-own_actions-seat_0",
        "leduc_poker-own_actions-seat_1",
        "leduc_poker-last_1-seat_0",
    ),
}
"""Problems without seeds on which methods differ."""

PARTS_LIMIT = f"{ENUMERATED:,} parts"
MOST_PARTS = 2**24  # of a search: a minute or two
STEPS = 4_000_000  # of an annealing: some seconds
EQUAL = 1e-6  # shares of the largest payoff this close are equal
CHOOSING = 3  # of the open seeds choose settings
MARKS = 5  # powers of two of evaluations at which courses are known
LEAST = 1e-7  # added to what is drawn, since axes are logarithmic
SHOWN = 10**7  # digits of the table of instances
NOTHING = {"value": -np.inf}
ENDS = (("value", "lower"), ("bound", "upper"))

Record = dict[str, Any]


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
        add=0,
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
    elif given.redraw or given.add:
        runs = arrays_in(folder / "seeds", "runs")
        entries = [*generated, *compared]
        records = {
            one.name: {part: runs[f"{one.name}.{part}"] for part in PARTS} for one in entries
        }
        if given.add:
            add(entries, records, work, given)
            keep_runs(folder, records)
        tables(given.out, records, given.exact)
    else:
        compare([*generated, *compared], work, given)
        records = {one.name: recorded(work, one.name) for one in [*generated, *compared]}
        strategies = {one.name: records[one.name]["strategy"] for one in generated}
        certify(folder / "seeds", generated, strategies, work, given.proof)
        keep_runs(folder, records)
        tables(given.out, records, given.exact)
    header = ["instance", "states", "rows", "value", "bound", "gap", "proof"]
    publish(given.out, "benchmark_instances", header, instances(folder))


# --- runs -----------------------------------------------------------------------------------------

PARTS: Final = ("courses", "seconds", "exact", "largest", "marks")


def keep_runs(folder: Path, records: Mapping[str, Record]) -> None:
    """Write all runs to one file."""
    write_arrays(
        folder / "seeds" / "runs.npz",
        **{f"{name}.{part}": one[part] for name, one in records.items() for part in PARTS},
    )


def add(entries: Sequence[Entry], records: dict[str, Record], work: Path, given: Namespace) -> None:
    """Run the last searches on all problems, and put them after those that are there, in place."""
    last = [*SEARCHES][-given.add :]
    chosen = settings(entries, work, given, last)
    for entry in entries:
        path, record = work / f"{entry.name}.add.npz", records[entry.name]
        if not path.exists():
            courses, seconds, _ = searched_by(last, entry, chosen[group(entry.name)], given)
            write_arrays(path, courses=courses, seconds=seconds)
            print(entry.name, flush=True)
        count = len(SEARCHES) - given.add
        with np.load(path) as more:
            for part in ("courses", "seconds"):
                record[part] = np.concatenate([record[part][:count], more[part]])


def compare(entries: Sequence[Entry], work: Path, given: Namespace) -> None:
    """Run all methods on all problems."""
    chosen = settings(entries, work, given, [*SEARCHES])
    for entry in entries:
        path = work / f"{entry.name}.npz"
        if not path.exists():
            write_arrays(path, **run(entry, chosen[group(entry.name)], given))
            print(entry.name, flush=True)


def settings(
    entries: Sequence[Entry], work: Path, given: Namespace, methods: Sequence[str]
) -> dict[str, dict[str, tuple[float, ...]]]:
    """Choose settings of methods for each group, by problems that are not held out."""
    choosing = [one for one in entries if seed_of(one.name) <= CHOOSING]
    grids = {method: GRIDS[method] for method in methods if method in GRIDS}
    for entry in choosing if grids else ():
        path = work / f"{entry.name}.{'-'.join(grids)}.grid.npz"
        if not path.exists():
            write_arrays(path, **grid(problem_of(entry), grids, given.evaluations))
            print(f"{entry.name}, settings", flush=True)
    chosen: dict[str, dict[str, tuple[float, ...]]] = {}
    for name in {group(one.name) for one in choosing}:
        totals = [
            dict(np.load(work / f"{one.name}.{'-'.join(grids)}.grid.npz"))
            for one in choosing
            if grids and group(one.name) == name
        ]
        chosen[name] = {
            method: of_method[int(np.sum([one[method] for one in totals], axis=0).argmax())]
            for method, of_method in grids.items()
        }
    return chosen


def grid(problem: Problem, grids: Mapping[str, Any], evaluations: int) -> Record:
    """Payoff that one run of each setting of each method comes to."""
    marks = [evaluations]
    return {
        method: [course(problem, method, setting, 0, marks)[0][-1] for setting in of_method]
        for method, of_method in grids.items()
    }


def searched_by(
    methods: Sequence[str], entry: Entry, chosen: Mapping[str, tuple[float, ...]], given: Namespace
) -> tuple[Floats, Floats, Ints]:
    """Run searches on a problem: payoffs (methods, seeds, marks), seconds, and the best actions."""
    problem, best, kept = problem_of(entry), -np.inf, np.zeros(0)
    marks = marks_of(given)
    courses = np.zeros((len(methods), given.seeds, MARKS))
    seconds = np.zeros(courses.shape[:2])
    for number, method in enumerate(methods):
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
    courses, seconds, best = searched_by([*SEARCHES], entry, chosen, given)
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
            plan = inner.pure_realisation(annealed(inner, payoffs, start, STEPS, random))
            if plan @ payoffs > best:
                best = float(plan @ payoffs)
                strategies[entry.name] = form.likeliest_actions(plan)[tree.seat == entry.seat]
                strategies[entry.name] = strategies[entry.name].astype(np.int16)
                print(f"{entry.name}: {best * tree.largest_payoff:.7f}, seed {seed}", flush=True)
            seed += 1
    reader = finish(folder, strategies, proofs, listed)
    for entry in entries:
        instance = Instance(dict(entry.make().arrays()))
        listed[entry.name] = reader.facts(entry.name, instance)
    finish(folder, strategies, proofs, listed)


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
    reader = finish(folder, strategies, proofs, listed)
    for entry in entries:
        instance = Instance(dict(entry.make().arrays()))
        listed[entry.name] = reader.facts(entry.name, instance)
    finish(folder, strategies, proofs, listed)


def instances_in(folder: Path) -> dict[str, Any]:
    """Read what is known, if anything is."""
    if not (folder / "known.json").exists():
        return {}
    known: Record = json.loads((folder / "known.json").read_text(encoding="utf-8"))
    return dict(known["instances"])


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


# --- tables and figure ----------------------------------------------------------------------------


def seed_of(name: str) -> int:
    """Seed of a generated problem; 0 of another."""
    last = name.rpartition("-")[2]
    return int(last) if last.isdigit() else 0


def group(name: str) -> str:
    """Name the parameter of a generated problem, or the kind of another."""
    kinds = {one: kind for kind, names in OTHERS.items() for one in names}
    return kinds.get(name) or name.rpartition("-")[0]


def tables(out: Path, records: Mapping[str, Record], seconds: float) -> None:
    """Write how far methods end below the best payoff known, in all and by group, and draw it."""
    known = instances_in(out / "benchmark") | instances_in(out / "benchmark" / "seeds")
    for name, one in records.items():
        best = max(known.get(name, NOTHING)["value"], one["courses"].max()) / one["largest"]
        one["short"] = np.maximum(best - one["courses"] / one["largest"], 0.0)
        one["exact_short"] = np.maximum(best - one["exact"][:, 0], 0.0)
        one["is_solved"] = one["exact"][:, 1] - best < EQUAL
    held = [one for name, one in records.items() if seed_of(name) in HELD_OUT]
    opened = [one for name, one in records.items() if seed_of(name) in OPEN]
    header = ["method", "limit", f"best of {len(held)}", "lower quartile", "median"]
    header += ["upper quartile", "half the effort", "open", "seconds"]
    publish(out, "benchmark", header, ranking(held, opened, seconds))
    groups: dict[str, list[Record]] = {}
    for name, one in records.items():
        if seed_of(name) not in OPEN:
            groups.setdefault(group(name), []).append(one)
    rows = ([f"{name} ({len(some)})", *medians(some)] for name, some in groups.items())
    publish(out, "benchmark_groups", ["problems", *SEARCHES], rows)
    if groups:
        draw(out, "benchmark", panels(groups), "mean distance to the best known")


def ranking(
    held: Sequence[Record], opened: Sequence[Record], limit: float
) -> Iterator[list[object]]:
    """Compare methods by quartiles over random seeds, on average over problems."""
    for number, method in enumerate(SEARCHES):
        quartiles = [np.quantile(one["short"][number, :, -1], (0.25, 0.5, 0.75)) for one in held]
        is_best = sum(median < EQUAL for _, median, _ in quartiles)
        averages = [thousandths(float(one)) for one in np.mean(quartiles, axis=0)]
        less, others = medians(held, -2)[number], medians(opened)[number]
        seconds = np.median([one["seconds"][number] for one in held])
        effort = f"{held[0]['marks'][-1]:,} evaluations"
        yield [method, effort, is_best, *averages, less, others, f"{seconds:.3f}"]
    for number, method in enumerate(EXACT):
        is_best = sum(one["is_solved"][number] for one in held)
        mean = np.mean([one["exact_short"][number] for one in held])
        written = thousandths(float(mean)) if mean < np.inf else ""
        seconds = np.median([one["exact"][number, 2] for one in held])
        effort = PARTS_LIMIT if method == "enumeration" else f"{limit:g} s by the clock"
        yield [method, effort, is_best, "", written, "", "", "", f"{seconds:.3f}"]


def medians(records: Sequence[Record], mark: int = -1) -> list[str]:
    """Write the median distance of every search at a mark, on average over problems."""
    every = [np.median(one["short"][:, :, mark], axis=1) for one in records]
    return [thousandths(float(one)) for one in np.mean(every, axis=0)]


def thousandths(share: float) -> str:
    """Write a share of the largest payoff in thousandths."""
    return "0" if share < EQUAL else f"{1000.0 * share:.3f}"


def panels(
    groups: Mapping[str, Sequence[Record]],
) -> dict[str, dict[str, list[tuple[float, float]]]]:
    """Mean over problems of the median course of every search, by family."""
    families: dict[str, list[Record]] = {}
    for name, some in groups.items():
        families.setdefault(name.partition("-")[0], []).extend(some)
    drawn: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for name, some in families.items():
        lines = np.mean([np.median(one["short"], axis=1) for one in some], axis=0) + LEAST
        marks = some[0]["marks"].tolist()
        drawn[f"evaluations: {name} ({len(some)})"] = {
            method: list(zip(marks, line.tolist(), strict=True))
            for method, line in zip(SEARCHES, lines, strict=True)
        }
    return drawn


def instances(folder: Path) -> Iterator[list[object]]:
    """List what is known of every instance."""
    for part in (folder, folder / "seeds"):
        for name, known in instances_in(part).items():
            low, high = (known.get(one, known.get(two)) for one, two in ENDS)
            leaves = sum(np.atleast_1d(known["leaves"]))
            proof = f"{leaves:,} leaves" if leaves > 1 else "one leaf"
            path = part / "certificates" / f"{name}.json.gz"
            if path.exists() and (found := Certificate.read(path)).bound < high:
                high, proof = found.bound, f"{len(found.steps):,} steps"
            gap = "0" if high - low < EQUAL else f"{high - low:.1e}"
            sizes = f"{known['states']:,}", f"{known['rows']:,}"
            ends = math.floor(low * SHOWN) / SHOWN, math.ceil(high * SHOWN) / SHOWN
            yield [name, *sizes, *(f"{end:.7f}" for end in ends), gap, proof]


if __name__ == "__main__":
    main()
