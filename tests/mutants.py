"""Mutation testing: change one thing in the code, and see whether the tests notice.

    make mutants                        every target, both cores, about an hour
    python tests/mutants.py rules       the targets whose name holds a word
    python tests/mutants.py --again     only mutants that were neither caught nor explained

Cosmic Ray makes the mutants. Of each module a fixed number is drawn, one operator at each drawn
position, the same ones every time while the code stays; what a test cannot see is left out: type
annotations, messages, decorators that only cache or compile. A mutant is caught when the tests of
its target fail or hang. Survivors that docs/mutants.md explains are counted as explained; any other
makes the command end with status 1.

The code is changed in copies below build/mutants, never in place.
"""

import argparse
import ast
import json
import os
import random
import resource
import shlex
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from queue import Queue

from tqdm import tqdm

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "mutants"
VERDICTS = BUILD / "verdicts.json"
EXPLAINED = ROOT / "docs" / "mutants.md"
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
    modules: tuple[str, ...]
    """Paths below hogeq/, without ending."""
    tests: str
    """What pytest is told, quick tests first."""
    each: int
    """Mutants of each module."""


def _files(room: str, names: str) -> str:
    return " ".join(f"tests/{room}/test_{name}.py" for name in names.split())


TARGETS = (
    Target(
        "rules",
        modules=(
            "rules/turn",
            "rules/parts",
            "rules/memory",
            "rules/outcomes",
            "rules/distributions",
            "rules/effects",
        ),
        tests="tests/rules tests/model/test_endless_games.py tests/evaluation/test_random_games.py"
        " -k 'not value_of_the_game'",
        each=10,
    ),
    Target(
        "compiler",
        modules=(
            "model/game",
            "model/tables",
            "model/components",
        ),
        tests="tests/model/test_game.py tests/model/test_components.py"
        " tests/evaluation/test_random_games.py"
        " tests/model/test_endless_games.py tests/model/test_cycles.py"
        " -k 'not late_turns and not linear_equations and not many'",
        each=6,
    ),
    Target(
        "evaluation",
        modules=(
            "evaluation/win_rates",
            "evaluation/counterfactual",
            "evaluation/tablebase",
            "evaluation/hidden",
            "evaluation/analysis",
        ),
        tests=_files(
            "evaluation",
            "analysis beliefs stationarity win_rates tablebase random_games against_the_twin",
        )
        + " -k 'not many'",
        each=4,
    ),
    Target(
        "search",
        modules=(
            "search/attack",
            "search/counter_search",
            "search/moves",
            "search/population",
            "search/bounds",
            "search/gains",
        ),
        tests="tests/search/test_population.py tests/search/test_respond.py"
        " tests/search/test_kicks.py"
        " tests/search/test_untold_bound.py tests/search/test_exact_response.py"
        " -k 'not strategy_that_ignores_memory'",
        each=6,
    ),
    Target(
        "purification",
        modules=(
            "purification/local_search",
            "purification/integer",
            "purification/programs",
            "purification/sampling",
        ),
        tests="tests/purification",
        each=7,
    ),
    Target(
        "solvers",
        modules=(
            "solvers/regret",
            "solvers/cfr_br",
            "solvers/fictitious",
            "solvers/mirror",
            "solvers/proximal",
            "solvers/bundle",
            "solvers/bundle_method",
            "solvers/cuts",
            "solvers/double_oracle",
            "solvers/dynamic_programming",
        ),
        tests="tests/solvers/test_regret_steps.py tests/solvers/test_steps.py"
        " tests/solvers/test_base.py tests/solvers/test_regret_hog.py"
        " tests/solvers/test_regret_convergence.py tests/solvers/test_solvers.py"
        " tests/solvers/test_bundle.py -k 'not value_of_kuhn and not (falls and kuhn)'",
        each=4,
    ),
    Target(
        "formats",
        modules=("strategies/read", "strategies/arrays", "strategies/rows", "strategies/write"),
        tests="tests/strategies",
        each=8,
    ),
    Target(
        "contest",
        modules=(
            "contest/tournament",
            "contest/field",
            "contest/guesses",
            "contest/assessment",
        ),
        tests=_files("contest", "tournament guesses assessment field")
        + " -k 'not judged_by_attacks and not cap_is_kept'",
        each=6,
    ),
    Target(
        "kernels",
        modules=("kernels/recurrence", "kernels/cell_values", "kernels/cell_reach"),
        tests="tests/kernels/test_cells.py tests/kernels/test_program.py"
        " tests/evaluation/test_random_games.py"
        " tests/evaluation/test_tablebase.py",
        each=4,
    ),
)


@dataclass(frozen=True)
class Mutant:
    """One change of one module."""

    target: Target
    module: str
    operator: str
    occurrence: int
    line: int
    source: str = field(repr=False)
    """Of the module, as it is."""

    @property
    def path(self) -> Path:
        """Of the module, from the root of the project."""
        return Path("hogeq", f"{self.module}.py")

    def changed(self) -> str:
        """Code of the module with the change."""
        from cosmic_ray.mutating import mutate_code
        from cosmic_ray.plugins import get_operator

        changed = mutate_code(self.source, get_operator(self.operator)(), self.occurrence)
        if changed is None:
            raise RuntimeError(f"mutants: {self} changes nothing")
        return changed

    def change(self) -> str:
        """Write ``module: old line -> new line``, as docs/mutants.md quotes it."""
        lines = zip(self.source.splitlines(), self.changed().splitlines(), strict=False)
        old, new = next(pair for pair in lines if pair[0] != pair[1])
        return f"{self.module}: {old.strip()} -> {new.strip()}"


@dataclass(frozen=True)
class Verdict:
    """What became of a mutant."""

    mutant: Mutant
    caught: bool
    change: str
    """Of :meth:`Mutant.change`."""

    @property
    def key(self) -> str:
        """Name of the mutant as long as its module stays."""
        return f"{self.mutant.line}: {self.change}"


# --- which mutants --------------------------------------------------------------------------------


def draw(target: Target) -> Iterator[Mutant]:
    """Draw the mutants of a target: positions first, then an operator at each."""
    for module in target.modules:
        source = (ROOT / "hogeq" / f"{module}.py").read_text(encoding="utf-8")
        at: dict[tuple[int, int], list[Mutant]] = {}
        blind = list(_unseen(ast.parse(source)))
        for operator, occurrence, start in _mutations(source):
            if not any(low <= start < high for low, high in blind):
                found = Mutant(target, module, operator, occurrence, start[0], source)
                at.setdefault(start, []).append(found)
        random_ = random.Random(f"{SEED} {module}")  # noqa: S311 (not for cryptography)
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
        """Tell whether the tests fail, or take more than so many seconds of a core."""
        # By the clock a busy machine would catch mutants.
        started = [sys.executable, "-c", LIMITED, str(limit)] if limit else [sys.executable, "-m"]
        command = [*started, "pytest", "-x", "-q", "-p", "no:cacheprovider"]
        command += ["--benchmark-disable", *shlex.split(target.tests)]
        # Every mutant of a kernel would leave its machine code among the user's.
        own = {"NUMBA_CACHE_DIR": self.kernels} if target.name == "kernels" else {}
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


def try_all(targets: list[Target], workers: int, known: dict[str, bool]) -> Iterator[Verdict]:
    """Try the mutants of some targets, each worker in a copy of its own.

    Of those whose keys are known it is known whether they are caught, and they are not tried.
    """
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
                raise SystemExit(f"mutants: {target.tests}: fails with the code as it is")
            limits[target.name] = 20 + int(3 * (_seconds_of_children() - begun))
        finally:
            copies.put(copy)

    def work(mutant: Mutant) -> Verdict:
        change = mutant.change()
        key = Verdict(mutant, False, change).key
        if key in known:
            caught = known[key]
        else:
            copy = copies.get()
            try:
                caught = copy.catches(mutant, limits[mutant.target.name])
            finally:
                copies.put(copy)
        progress.update()
        if not caught:
            progress.write(f"survives: {change}")
        return Verdict(mutant, caught, change)

    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(measure, targets))
        yield from pool.map(work, mutants)


# --- what came of it ------------------------------------------------------------------------------


def table(verdicts: list[Verdict], explained: str) -> str:
    """Write the counts by target as Markdown."""
    lines = ["| code | mutants | caught | survive, explained | survive |", "|---|--:|--:|--:|--:|"]
    everything: Counter[str] = Counter()
    for name in dict.fromkeys(verdict.mutant.target.name for verdict in verdicts):
        counts = Counter(
            _fate(verdict, explained) for verdict in verdicts if verdict.mutant.target.name == name
        )
        everything += counts
        lines.append(_row(name, counts))
    return "\n".join([*lines, _row("all", everything)])


def _row(name: str, counts: Counter[str]) -> str:
    fates = [counts[fate] for fate in ("caught", "explained", "survives")]
    return " | ".join([f"| {name}", str(counts.total()), *map(str, fates)]) + " |"


def _fate(verdict: Verdict, explained: str) -> str:
    if verdict.caught:
        return "caught"
    return "explained" if _is_explained(verdict.change, explained) else "survives"


def _is_explained(change: str, explained: str) -> bool:
    return f"`{change}`" in explained


def main() -> int:
    """Try the mutants that are asked for, print the table and the survivors."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("words", nargs="*", help="targets whose name holds one of these")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument(
        "--again", action="store_true", help="only those neither caught nor explained"
    )
    asked = parser.parse_args()
    words = asked.words or [""]
    targets = [target for target in TARGETS if any(word in target.name for word in words)]
    if not targets:
        allowed = ", ".join(target.name for target in TARGETS)
        parser.error(f"no target holds {' or '.join(words)}; allowed: {allowed}")
    last = json.loads(VERDICTS.read_text(encoding="utf-8")) if VERDICTS.exists() else {}
    explained = EXPLAINED.read_text(encoding="utf-8") if EXPLAINED.exists() else ""
    known = {
        key: caught
        for key, caught in last.items()
        if asked.again and (caught or _is_explained(key.partition(": ")[2], explained))
    }
    verdicts = []
    for verdict in try_all(targets, asked.workers, known):
        verdicts.append(verdict)
        last[verdict.key] = verdict.caught
        VERDICTS.write_text(json.dumps(last, indent=1), encoding="utf-8")
    print(table(verdicts, explained))
    survivors = [v.change for v in verdicts if _fate(v, explained) == "survives"]
    print(*(f"survives: {change}" for change in survivors), sep="\n")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
