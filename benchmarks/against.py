"""Compare this checkout with another one: time for the same work, and the same answers.

    python benchmarks/against.py OLD_CHECKOUT                  passes, some ten minutes
    python benchmarks/against.py OLD_CHECKOUT --only commands  whole commands, warm
    python benchmarks/against.py OLD_CHECKOUT --only first     commands from empty caches
    python benchmarks/against.py OLD_CHECKOUT --rules su20 fa22 --rounds 20

Both checkouts work in turn on one machine, each in a process of its own, so that a busy moment
meets both. What counts is the least processor time of many calls, and the ratio new to old. Answers
of passes must agree to 1e-11, in single precision to 1e-4.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from time import thread_time
from types import SimpleNamespace
from typing import Any

NEW = Path(__file__).resolve().parents[1]
GAMES = (
    *("su20", "sp20", "fa19", "fa22", "fa23", "hw13", "fa15", "su15", "fa18", "sp19", "fa17"),
    *("sp18", "su21", "sp21", "fa20", "fa21", "su19", "su22", "su23", "sp17", "sp22"),
)
PASSES = ("values", "reach", "weighted", "sweep", "cfr_plus", "pair", "mixture")
ATTACK = ("attack", "always_roll:6", "--starts", "2", "--kicks", "4", "--jobs", "1", "--json")
COMMANDS = {
    "attack, su20": (*ATTACK, "--rules", "su20"),
    "attack, fa25": (*ATTACK, "--rules", "fa25"),
    "run configs/cfr.yaml": ("run", str(NEW / "configs" / "cfr.yaml"), "--out-root", "."),
    "tablebase, su20": ("tablebase", "--rules", "su20", "--json"),
    "tablebase, fa25": ("tablebase", "--rules", "fa25", "--json"),
    "tournament of 151, su20": ("tournament", "entries", "--rules", "su20", "--json"),
    "tournament of 151, fa25": ("tournament", "entries", "--rules", "fa25", "--json"),
}
FIRST = {
    "compare, su20": ("compare", "always_roll:6", "always_roll:4", "--rules", "su20"),
    "compare, fa25": ("compare", "always_roll:6", "always_roll:4", "--rules", "fa25"),
    "attack, su20": (*ATTACK, "--rules", "su20"),
    "attack, fa25": (*ATTACK, "--rules", "fa25"),
    "attack, su21": (*ATTACK, "--rules", "su21"),
    "tablebase, su20": ("tablebase", "--rules", "su20"),
    "tablebase, sp22": ("tablebase", "--rules", "sp22"),
    "analyze, fa25": ("analyze", "--rules", "fa25", "--score", "3", "--opponent", "4"),
    "warmup, all editions": ("warmup", *(part for name in GAMES for part in ("--rules", name))),
}


# --- in the process of one checkout ---------------------------------------------------------------


COUNTERFACTUAL, ASCEND = 1, 2  # roles


class Before:
    """Passes of an older checkout, called as those of this one are."""

    def __init__(self, work: Any) -> None:
        self.work = work

    def win_rate(self, policies: Any) -> Any:
        """Win rates of a policy that plays itself."""
        return SimpleNamespace(first=self.work.backward(policies)[0])

    def forward(self, policies: Any) -> Any:
        """Compute reach."""
        if hasattr(self.work, "face"):
            self.work.face(policies[1:])
            self.work.forward(policies[0])
        else:
            self.work.forward(policies)
        return SimpleNamespace(rows=self.work.infoset_reach)

    def backward(self, _: Any, policies: Any, role: int) -> Any:
        """Compute values."""
        if hasattr(self.work, "face"):
            return SimpleNamespace(win_rate=self.work.backward(policies[0], role).win_rates.mean())
        first, other, _ = self.work.backward(policies, role)
        values = self.work.counterfactual_values
        return SimpleNamespace(win_rate=(first + 1.0 - other) / 2.0, values=values)


class Work:
    """What can be timed of one game: each method returns the call, and that a number to compare."""

    def __init__(self, rules: str, *, single: bool) -> None:
        import numpy as np

        from hogeq.model.game import compile_game
        from hogeq.rules import EDITIONS

        self.game = compile_game(EDITIONS[rules])
        self.dtype: Any = np.float32 if single else np.float64
        self.found: Any = None  # where the last sweep led
        random, actions = np.random.default_rng(0), self.game.num_actions
        self.policies = random.dirichlet(np.ones(actions), (9, *self.game.shape[:2]))
        # From one die on: where no dice score nothing, two matrices might never end their game.
        self.matrices = random.integers(1, actions, size=(2, *self.game.shape[:2]))

    def passes(self, players: int) -> Any:
        """Give passes of this checkout, or of one from before they returned what they fill."""
        if players > 2 and not hasattr(import_module("hogeq.model.protocol"), "Reach"):
            many = import_module("hogeq.model.many").ManyWorkspace
            return Before(many(self.game, players - 1, self.dtype))
        work: Any = self.game.workspace(players, self.dtype)
        return Before(work) if hasattr(work, "infoset_reach") else work

    def values(self) -> Callable[[], float]:
        """Values of all actions, a policy playing itself."""
        work = self.passes(1)
        return lambda: float(work.win_rate(self.policies[:1]).first)

    def reach(self) -> Callable[[], float]:
        """Reach of both players."""
        work = self.passes(2)
        return lambda: float(work.forward(self.policies[:2]).rows.sum())

    def weighted(self) -> Callable[[], float]:
        """Values of all actions, weighted by reach."""
        work = self.passes(2)
        reach = work.forward(self.policies[:2])
        return lambda: float(work.backward(reach, self.policies[:2], COUNTERFACTUAL).values.sum())

    def sweep(self, players: int = 2) -> Callable[[], float]:
        """Sweep as a responder: reach, then the best roll at every cell."""
        work = self.passes(players)

        def run() -> float:
            policies = self.policies[:players].copy()
            self.found = policies[0]
            return float(work.backward(work.forward(policies), policies, ASCEND).win_rate)

        return run

    def mixture(self) -> Callable[[], float]:
        """Sweep against eight opponents at once."""
        return self.sweep(9)

    def cfr_plus(self) -> Callable[[], float]:
        """One iteration of CFR+."""
        from hogeq.solvers import SOLVERS

        solver = SOLVERS["cfr_plus"](regret_weight="reach", alternating=False)
        states = [solver.init(self.game)]

        def run() -> float:
            states[0] = solver.step(self.game, states[0])
            return 0.0

        return run

    def pair(self) -> Callable[[], float]:
        """Win rate of one matrix against another."""
        evaluation: Any
        try:
            evaluation = import_module("hogeq.evaluation.values").win_rate
        except ImportError:
            evaluation = import_module("hogeq.evaluation.win_rates").win_rate
        return lambda: float(evaluation(self.game, *self.matrices).win_rate)


def serve() -> None:
    """Answer lines of standard input: prepare some work, or do it so many times."""
    run: Callable[[], float] = lambda: 0.0  # noqa: E731 - replaced by the first line
    for line in sys.stdin:
        asked = json.loads(line)
        if "what" in asked:
            run = getattr(Work(asked["rules"], single=asked["single"]), asked["what"])()
            answer: dict[str, Any] = {"value": run()}
        else:
            taken = []
            for _ in range(asked["times"]):
                begun = thread_time()
                run()
                taken.append(thread_time() - begun)
            answer = {"seconds": min(taken)}
        print(json.dumps(answer), flush=True)


# --- in the process that compares -----------------------------------------------------------------


class Checkout:
    """A process that works with the code of one checkout."""

    def __init__(self, folder: Path) -> None:
        self.process = subprocess.Popen(  # noqa: S603 - ourselves
            [sys.executable, __file__, "--serve", str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment(folder),
        )

    def ask(self, **asked: Any) -> Any:
        """Send a line, and wait for the answer."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(json.dumps(asked), file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())


def environment(folder: Path) -> dict[str, str]:
    """Variables with which Python takes hogeq from a folder, and linear algebra one thread.

    Bytecode is kept, as for every user: where it is not, each start compiles all sources again,
    and what is compared is the length of docstrings.
    """
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return kept | {"PYTHONPATH": str(folder), "OPENBLAS_NUM_THREADS": "1"}


def passes(old: Path, games: Sequence[str], names: Sequence[str], rounds: int) -> Iterator[str]:
    """Compare single passes at full size."""
    checkouts = [Checkout(old), Checkout(NEW)]
    for rules in games:
        for what in names:
            for single in (False, True) if what in {"reach", "weighted", "sweep"} else (False,):
                asked = {"what": what, "rules": rules, "single": single}
                values = [one.ask(**asked)["value"] for one in checkouts]
                assert abs(values[0] - values[1]) < (1e-4 if single else 1e-11), (asked, values)
                least = [float("inf")] * 2
                for _ in range(rounds):
                    for place, one in enumerate(checkouts):
                        least[place] = min(least[place], one.ask(times=5)["seconds"])
                yield row(f"{rules}, {what}{', single' * single}", least)


def commands(
    old: Path, named: dict[str, tuple[str, ...]], rounds: int, *, warm: bool
) -> Iterator[str]:
    """Compare whole commands, with kernels compiled beforehand or from empty caches."""
    with tempfile.TemporaryDirectory() as name:
        entries = Path(name) / "entries"
        entries.mkdir()
        write_entries(entries)
        for label, command in named.items():
            taken: list[list[float]] = [[], []]
            for _ in range(rounds + warm):
                for place, checkout in enumerate((old, NEW)):
                    taken[place].append(whole(checkout, command, Path(name), warm=warm))
            yield row(label, [min(times[warm:]) for times in taken])


def whole(checkout: Path, command: tuple[str, ...], folder: Path, *, warm: bool) -> float:
    """Seconds of processor time of a command and all that it starts."""
    with tempfile.TemporaryDirectory(dir=folder) as name:
        cache = {} if warm else {"NUMBA_CACHE_DIR": str(Path(name) / "kernels")}
        (Path(name) / "entries").symlink_to(folder / "entries")
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(  # noqa: S603 - our own commands
            [sys.executable, "-m", "hogeq", *command],
            cwd=name,
            env=environment(checkout) | cache,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise SystemExit(f"{checkout}: {' '.join(command)}: {done.stderr}")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def write_entries(folder: Path) -> None:
    """Write 151 random tables, as a contest has them."""
    import numpy as np

    random = np.random.default_rng(0)
    for entry in range(151):
        table = random.integers(11, size=(100, 100))
        np.savetxt(folder / f"entry{entry:03}.csv", table, fmt="%d", delimiter=",")


def row(label: str, seconds: Sequence[float]) -> str:
    """One line of the table."""
    old, new = seconds
    return f"| {label:32} | {old * 1e3:10.3f} | {new * 1e3:10.3f} | {new / old:5.2f} |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("old", type=Path, help="the other checkout")
    parser.add_argument("--only", choices=("passes", "commands", "first"), default="passes")
    parser.add_argument("--rules", nargs="+", default=GAMES, help="editions, for passes")
    parser.add_argument("--passes", nargs="+", default=PASSES, choices=PASSES)
    parser.add_argument("--rounds", type=int, default=0, help="how often both take their turn")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        serve()
        return
    old = given.old.resolve()
    print(f"| {'least processor time, ms':32} | {'old':>10} | {'new':>10} | ratio |")
    print(f"|---{'-' * 30}|--{'-' * 9}:|--{'-' * 9}:|------:|", flush=True)
    if given.only == "passes":
        lines = passes(old, given.rules, given.passes, given.rounds or 8)
    elif given.only == "commands":
        lines = commands(old, COMMANDS, given.rounds or 3, warm=True)
    else:
        lines = commands(old, FIRST, given.rounds or 2, warm=False)
    for line in lines:
        print(line, flush=True)


if __name__ == "__main__":
    main()
