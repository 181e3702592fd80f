"""Mutation testing: change one thing in the code, and see whether the tests notice.

    make mutants                        every target, both cores, an hour or two
    python tests/mutants.py rules       the targets whose name contains a word
    python tests/mutants.py rules --each 1   that many mutants of each module

Cosmic Ray makes the mutants. Of each module a fixed number is drawn, one operator at each drawn
position, the same ones every time while the code stays. Left out is code that no test can see: type
annotations, messages, decorators that only cache or compile. A mutant is caught when the tests of
its target fail or hang. Survivors that tests/mutants.md explains are counted as explained; any
other makes the command end with status 1.

The code is changed in copies below build/mutants, never in place.
"""

import argparse
import ast
import os
import random
import resource
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from queue import Queue

from tqdm import tqdm

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "mutants"
EXPLAINED = ROOT / "tests" / "mutants.md"
PARTS = (
    "hogeq",
    "tests",
    "docs",
    "configs",
    "results",
    "experiments",
    "examples",
    "pyproject.toml",
)
SEED = 20
STALLED = 10
"""Seconds by the clock, for each that a core may compute, after which tests hang."""

LIMITED = """
import resource, runpy, sys
seconds = int(sys.argv.pop(1))
resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
sys.argv = sys.argv[1:]
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""
"""Run a module in at most so many seconds of a core."""


@dataclass(frozen=True)
class Target:
    """Modules that are tested together."""

    name: str
    room: str
    modules: str
    """Names in the room."""
    tests: str
    """Arguments of pytest: paths below tests/ without "test_" and ending, and what follows "-k"."""
    each: int
    """Mutants of each module."""
    without: str = ""
    """Words of the tests that take too long."""

    @property
    def paths(self) -> list[Path]:
        """Of the modules, from the root of the project."""
        return [Path("hogeq", self.room, f"{name}.py") for name in self.modules.split()]

    @property
    def arguments(self) -> list[str]:
        """Of pytest."""
        paths = [Path("tests", name) for name in self.tests.split()]
        files = [
            path.with_name(f"test_{path.name}.py") if path.parts[2:] else path for path in paths
        ]
        words = " and ".join(f"not {word}" for word in self.without.split())
        return [*map(str, files), *(["-k", words] if words else [])]


TARGETS = (
    Target(
        "rules",
        "rules",
        "turn parts memory rules tables edition",
        "rules model/tables model/memory_parts graph/endless evaluation/random_games",
        each=8,
    ),
    Target(
        "compiler",
        "model",
        "game tables graph_passes pass_graph",
        "model/game evaluation/random_games graph/endless model/cycles",
        each=6,
        without="late_turns many",
    ),
    Target(
        "evaluation",
        "evaluation",
        "values tablebase",
        "evaluation/counterfactual evaluation/values"
        " evaluation/tablebase evaluation/random_games evaluation/against_the_twin"
        " evaluation/mixtures_in_play",
        each=4,
        without="many",
    ),
    Target(
        "search",
        "search",
        "attack counter_search moves population bounds",
        "search/population search/gains search/attack search/moves search/bounds"
        " search/certificate_theorem",
        each=6,
        without="strategy_that_ignores_memory",
    ),
    Target("purification", "purification", "integer base", "purification", each=7),
    Target(
        "solvers",
        "solvers",
        "regret cfr_br responses proximal bundle cuts",
        "solvers/regret solvers/steps solvers/base"
        " solvers/solvers solvers/bundle solvers/mixtures"
        " solvers/against_openspiel",
        each=4,
    ),
    Target("formats", "strategies", "files forms arrays strategy writing", "strategies", each=8),
    Target(
        "analysis",
        "analysis",
        "tournament field difference explanation",
        "analysis/tournament analysis/explanation analysis/field analysis/difference",
        each=6,
    ),
    Target(
        "tree kernels",
        "kernels",
        "sequences dag_flows row_search",
        "test_engines.py trees/engine trees/random_trees trees/beliefs kernels/row_search",
        each=5,
        without="every_solver every_purifier too_large",
    ),
    Target("dags", "solvers", "dags", "trees/beliefs trees/teams trees/seats", each=8),
    Target(
        "kernels",
        "kernels",
        "recurrence cell_passes",
        "model/layouts kernels/program evaluation/random_games evaluation/tablebase",
        each=4,
    ),
)


@dataclass(frozen=True)
class Mutant:
    """One change of one module."""

    target: Target
    path: Path
    """Of the module, from the root of the project."""
    operator: str
    occurrence: int
    source: str = field(repr=False)
    """Of the module, as it is."""

    def changed(self) -> str:
        """Code of the module with the change."""
        from cosmic_ray.mutating import mutate_code
        from cosmic_ray.plugins import get_operator

        changed = mutate_code(self.source, get_operator(self.operator)(), self.occurrence)
        if changed is None:
            raise RuntimeError(f"mutants: {self} changes nothing")
        return changed

    def change(self) -> str:
        """Write ``module: old line -> new line``, as tests/mutants.md quotes it."""
        lines = zip(self.source.splitlines(), self.changed().splitlines(), strict=False)
        old, new = next(pair for pair in lines if pair[0] != pair[1])
        module = "/".join(self.path.with_suffix("").parts[1:])
        return f"{module}: {old.strip()} -> {new.strip()}"


# --- which mutants --------------------------------------------------------------------------------


def draw(target: Target) -> Iterator[Mutant]:
    """Draw the mutants of a target: positions first, then an operator at each."""
    for path in target.paths:
        source = (ROOT / path).read_text(encoding="utf-8")
        at: dict[tuple[int, int], list[Mutant]] = {}
        blind = list(_unseen(ast.parse(source)))
        for operator, occurrence, start in _mutations(source):
            if not any(low <= start < high for low, high in blind):
                mutant = Mutant(target, path, operator, occurrence, source)
                at.setdefault(start, []).append(mutant)
        random_ = random.Random(f"{SEED} {path}")  # noqa: S311 (not for cryptography)
        for start in sorted(random_.sample(sorted(at), min(target.each, len(at)))):
            yield random_.choice(at[start])


def _mutations(source: str) -> Iterator[tuple[str, int, tuple[int, int]]]:
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.plugins import get_operator, operator_names

    tree = get_ast(source)
    nodes = list(ast_nodes(tree))
    for name in sorted(operator_names()):
        kind = get_operator(name)
        if kind.arguments() or name.endswith("/RemoveDecorator"):
            continue
        operator = kind()
        places = (start for node in nodes for start, _ in operator.mutation_positions(node))
        for occurrence, start in enumerate(places):
            yield name, occurrence, start


def _unseen(tree: ast.Module) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    # Spans of annotations, messages of errors, and decorators.
    for node in ast.walk(tree):
        spans: list[ast.expr | None] = []
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            spans += node.decorator_list
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            spans.append(node.returns)
        if isinstance(node, ast.arg | ast.AnnAssign):
            spans.append(node.annotation)
        if isinstance(node, ast.Raise):
            spans.append(node.exc)
        if isinstance(node, ast.JoinedStr):
            spans.append(node)
        for span in spans:
            if span is not None and span.end_lineno is not None and span.end_col_offset is not None:
                low = (span.lineno, span.col_offset)
                yield low, (span.end_lineno, span.end_col_offset)


# --- trying them ----------------------------------------------------------------------------------


class Copy:
    """A copy of the project in which code may be changed."""

    def __init__(self, number: int) -> None:
        self.home = BUILD / f"tree-{number}"
        self.kernels = str(BUILD / f"cache-{number}")
        shutil.rmtree(self.home, ignore_errors=True)
        for part in PARTS:
            source, to = ROOT / part, self.home / part
            if source.is_dir():
                shutil.copytree(source, to, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source, to)
        self.environment = os.environ | {
            "PYTHONPATH": str(self.home),
            "PYTHONDONTWRITEBYTECODE": "1",  # changes come faster than its time stamps
            "OMP_NUM_THREADS": "1",
            "HOGEQ_FUZZ_GAMES": "60",
        }

    def fails(self, target: Target, limit: int | None = None) -> bool:
        """Whether the tests fail, or take more than so many seconds of a core."""
        # By the clock a busy machine would catch mutants.
        started = [sys.executable, "-c", LIMITED, str(limit)] if limit else [sys.executable, "-m"]
        command = [*started, "pytest", "-x", "-q", "-p", "no:cacheprovider"]
        command += ["--benchmark-disable", *target.arguments]
        # Every mutant of a kernel would leave its machine code among the user's.
        own = {"NUMBA_CACHE_DIR": self.kernels} if target.room == "kernels" else {}
        process = subprocess.Popen(  # noqa: S603 (our own tests)
            command,
            cwd=self.home,
            env=self.environment | own,
            stdout=subprocess.DEVNULL if limit else sys.stderr,  # the code as it is does not fail
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            return process.wait(limit and STALLED * limit) != 0
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.wait()
            return True

    def catches(self, mutant: Mutant, limit: int) -> bool:
        """Change the code, run the tests, change it back."""
        path = self.home / mutant.path
        path.write_text(mutant.changed(), encoding="utf-8")
        try:
            return self.fails(mutant.target, limit)
        finally:
            path.write_text(mutant.source, encoding="utf-8")


def _seconds_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def try_all(targets: list[Target], workers: int) -> Iterator[tuple[Mutant, bool]]:
    """Try the mutants of some targets, each worker in a copy of its own: whether each is caught."""
    copies: Queue[Copy] = Queue()
    for number in range(workers):
        copies.put(Copy(number))
    mutants = [mutant for target in targets for mutant in draw(target)]
    limits: dict[str, int] = {}
    progress = tqdm(total=len(mutants), unit="mutant", smoothing=0.05)

    def measure(target: Target) -> None:
        copy = copies.get()
        try:
            begun = _seconds_of_children()
            if copy.fails(target):
                raise SystemExit(f"mutants: {target.name}: its tests fail with the code as it is")
            limits[target.name] = 20 + int(3 * (_seconds_of_children() - begun))
        finally:
            copies.put(copy)

    def work(mutant: Mutant) -> tuple[Mutant, bool]:
        copy = copies.get()
        try:
            caught = copy.catches(mutant, limits[mutant.target.name])
        finally:
            copies.put(copy)
        progress.update()
        if not caught:
            progress.write(f"survives: {mutant.change()}")
        return mutant, caught

    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(measure, targets))
        yield from pool.map(work, mutants)


def table(fates: dict[str, Counter[str]]) -> str:
    """Write the counts by target as Markdown."""
    lines = ["| code | mutants | caught | survive, explained | survive |", "|---|--:|--:|--:|--:|"]
    for name, counts in (*fates.items(), ("all", sum(fates.values(), Counter[str]()))):
        numbers = [counts[fate] for fate in ("caught", "explained", "survives")]
        lines.append(" | ".join([f"| {name}", str(counts.total()), *map(str, numbers)]) + " |")
    return "\n".join(lines)


def main() -> int:
    """Try the mutants that are asked for, print the table and the survivors."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("words", nargs="*", help="targets whose name contains one of these")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--each", type=int, help="mutants of each module [as its target says]")
    asked = parser.parse_args()
    words = asked.words or [""]
    targets = [target for target in TARGETS if any(word in target.name for word in words)]
    if not targets:
        allowed = ", ".join(target.name for target in TARGETS)
        parser.error(f"no target contains {' or '.join(words)}; allowed: {allowed}")
    if asked.each:
        targets = [replace(target, each=asked.each) for target in targets]
    explained = EXPLAINED.read_text(encoding="utf-8")
    fates = {target.name: Counter[str]() for target in targets}
    survivors = []
    for mutant, caught in try_all(targets, asked.workers):
        fate = "caught"
        if not caught:
            fate = "explained" if f"`{mutant.change()}`" in explained else "survives"
        fates[mutant.target.name][fate] += 1
        if fate == "survives":
            survivors.append(mutant.change())
    print(table(fates))
    print(*(f"survives: {change}" for change in survivors), sep="\n")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
