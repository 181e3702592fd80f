"""How our time grows: with the goal, the dice, the memory, the iterations, and over threads.

    python benchmarks/bench_scaling.py             # part of `make bench`
    python benchmarks/bench_scaling.py --cluster   # training on a cluster; tables of its own

Win rates are checked by computing them in two ways, and what two threads compute is the same, bit
for bit, as what one does.

With --cluster the bundle method learns at full size, and everything that a cluster would be handed
is timed and weighed here, in one thread; what Dask adds is measured on a cluster of two workers of
this machine. From both follows how long an iteration takes on one worker to a thousand.
"""

import argparse
import heapq
import pickle
import tempfile
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import psutil
from bench_sweep import crew, used
from numpy.typing import NDArray
from timing import Timing, in_turn, least, report

from hogeq.contest.tournament import round_robin
from hogeq.evaluation.win_rates import mover_value, win_rate
from hogeq.model.game import Game, compile_game
from hogeq.response.population import CounterPool
from hogeq.response.search import SearchBudget, attack
from hogeq.response.trails import TrailTask, no_trails
from hogeq.rules import EDITIONS, Rules
from hogeq.solvers import SOLVERS
from hogeq.solvers.responses import Check, Start
from hogeq.strategies.policies import policies_of
from hogeq.support.executors import Workers
from hogeq.support.workers import Threads, _choosing, cores, workers

Floats = NDArray[np.float64]

GOALS = (20, 50, 100, 150, 200)
DICE = (2, 5, 10, 15)
EDITIONS_BY_MEMORY = ("fa22", "fa18", "su21", "fa19", "su20")
ITERATIONS = (10, 20, 40, 80)
THREADS = (1, 2)


def mixed(game: Game, count: int) -> Floats:
    """Random policies (count, G, G, K)."""
    return np.random.default_rng(0).dirichlet(np.ones(game.num_actions), (count, *game.shape[:2]))


def matrices(game: Game, count: int) -> NDArray[np.int64]:
    """Random matrices (count, G, G)."""
    return np.random.default_rng(1).integers(game.num_actions, size=(count, *game.shape[:2]))


def all_actions(rules: Rules) -> float:
    """Seconds of one pass over the values of all actions."""
    game = compile_game(rules)
    policy = mixed(game, 1)
    work = game.workspace(1)
    (first, _, _), seconds = least(lambda: work.backward(policy))
    assert abs(first - win_rate(game, policy[0], policy[0]).first) < 1e-12
    return seconds


def two_matrices(rules: Rules) -> float:
    """Seconds of the win rate of one matrix against another."""
    game = compile_game(rules)
    one, two = matrices(game, 2)
    found, seconds = least(lambda: win_rate(game, one, two))
    by_passes = game.workspace(2).win_rate(policies_of(game, one, two))
    assert abs(found.win_rate - by_passes.win_rate) < 1e-12
    return seconds


def sizes() -> Iterator[Timing]:
    """Time one pass and one pair, by goal, dice and memory."""
    for what, run in (("values of all actions", all_actions), ("two matrices", two_matrices)):
        for goal in GOALS:
            seconds = run(replace(EDITIONS["su20"], goal=goal))
            yield Timing(f"su20 by goal: {what}", f"{goal}", seconds)
        for dice in DICE:
            seconds = run(replace(EDITIONS["su20"], max_dice=dice))
            yield Timing(f"su20 by dice: {what}", f"{dice}", seconds)
        for name in EDITIONS_BY_MEMORY:
            memory = compile_game(EDITIONS[name]).memory_size
            seconds = run(EDITIONS[name])
            yield Timing(f"goal 100 by memory: {what}", f"{memory} ({name})", seconds)


def iterations() -> Iterator[Timing]:
    """Time runs of discounted CFR, from the start."""
    game = compile_game(EDITIONS["su20"])
    solver = SOLVERS["dcfr"](average_weight="reach")

    def solve(count: int) -> Any:
        state = solver.init(game)
        for _ in range(count):
            state = solver.step(game, state)
        return solver.average(game, state)

    for count in ITERATIONS:
        average, seconds = least(partial(solve, count), 0.0)
        assert 0.0 < mover_value(game, average) < 1.0
        yield Timing("su20 by iterations of discounted CFR", f"{count}", seconds)


def threads() -> Iterator[Timing]:
    """Time what is computed in parallel on one thread and on two."""
    game = compile_game(EDITIONS["su20"])
    target, *others = mixed(game, 13)
    field = matrices(game, 24)

    def climbed() -> Any:
        pool = CounterPool(game, field.astype(np.int8))
        return pool.climb(target, len(field)), pool.members

    def iterated(name: str, **options: int) -> Callable[[], Any]:
        solver = SOLVERS[name](**options)
        begun = solver.step(game, solver.init(game))

        def iterate() -> Any:
            return solver.step(game, solver.step(game, solver.restore(begun, begun._asdict())))

        return iterate

    works: dict[str, Callable[[], Any]] = {
        "attack, 8 starts": lambda: attack(game, target, SearchBudget(starts=8)),
        "tournament of 24 matrices": lambda: round_robin(game, list(field)),
        "tournament of 12 policies": lambda: round_robin(game, others),
        "pool, 24 counters climb": climbed,
        "cfr_br, 64 responders, 2 iterations": iterated("cfr_br", responders=64, newcomers=16),
        "bundle, 2 iterations": iterated("bundle"),
    }
    jobs = [count for count in THREADS if count <= cores()]
    for what, work in works.items():
        found, wall, processor = in_turn([partial(by, count, work) for count in jobs], 3.0)
        assert all(equal(found[0], other) for other in found[1:]), what
        for clock, times in (("wall", wall), ("processor", processor)):
            for count, seconds in zip(jobs, times, strict=True):
                name = f"{count} thread{'s' if count > 1 else ''}"
                yield Timing(f"su20 by threads: {what}", name, seconds, clock)


def by(jobs: int, work: Callable[[], Any]) -> Any:
    with workers(jobs):
        return work()


def equal(one: Any, two: Any) -> bool:
    """Whether results are the same, bit for bit."""
    if isinstance(one, tuple):
        return len(one) == len(two) and all(map(equal, one, two))
    return bool(np.array_equal(one, two))


# --- a cluster ------------------------------------------------------------------------------------

TRAINING: dict[str, Any] = {  # configs/champion.yaml, begun from the champion
    "trails": 12,
    "responses": 1,
    "pool_size": 600,
    "largest_step": 40.0,
    "start": str(Path(__file__).parents[1] / "results" / "champions" / "su20" / "policy.npz"),
}
FILLING = {"trails": 0, "ascents": 0, "responses": 60, "responder_steps": 1, "deep_every": 1000}
FILLED = 8  # iterations that fill the pool before anything is measured
MEASURED = 10  # iterations; one of them is deep
CREWS = (1, 2, 4, 8, 16, 100, 1000)
KICKS = (5, 50, 500)  # of a trail in an iteration; it is timed with the first number
MEGABYTE = 1e6
IDLE = 200  # tasks that do next to nothing, of which the cost of handing them out is measured


class Task(NamedTuple):
    """What a cluster would have been handed, computed here."""

    kind: str
    seconds: float
    sent: int  # bytes
    returned: int  # bytes


class Call(NamedTuple):
    """Tasks computed together."""

    shared: int  # bytes that all of them need
    tasks: list[Task]


class Weighed(Workers):
    """The calling thread, which notes what a cluster would have been handed."""

    width = 1
    here = False

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.noting = 0.0  # seconds

    def outcomes(
        self,
        function: Callable[[Any], Any],
        tasks: Sequence[Any],
        grace: float = 0.0,  # noqa: ARG002 - nothing is in flight
    ) -> Generator[tuple[int, Any], None, None]:
        """Compute tasks one after another."""
        began = time.thread_time()
        noted: list[Task] = []
        self.calls.append(Call(len(pickle.dumps(function)), noted))
        self.noting += time.thread_time() - began
        for index, task in enumerate(tasks):
            began = time.thread_time()
            result = function(task)
            ended = time.thread_time()
            sent, returned = (len(pickle.dumps(each)) for each in (task, result))
            noted.append(Task(_kind(task), ended - began, sent, returned))
            self.noting += time.thread_time() - ended
            yield index, result

    def each(self) -> list[Task]:
        return [task for call in self.calls for task in call.tasks]


def _kind(task: TrailTask | Start | Check) -> str:
    if isinstance(task, TrailTask):
        return "trail that begins" if task.new else "trail that goes on"
    if isinstance(task, Start):
        return "response, annealed" if task.steps else "response, ascent alone"
    return "model, checked"


class Overhead(NamedTuple):
    """Processor seconds of the busier one, the run or Dask's scheduler."""

    task: float
    megabyte_shared: float
    megabyte_returned: float


def learn() -> tuple[Weighed, float]:
    """Let the bundle method learn: what a cluster would have been handed, and seconds of the rest.

    The latter are those of an iteration.
    """
    game = compile_game(EDITIONS["su20"])
    solver: Any = SOLVERS["bundle"](**TRAINING)
    filling = replace(solver, **FILLING)
    state = filling.init(game)
    for _ in range(FILLED):
        state = filling.step(game, state)
    trails = no_trails(game, solver.trails, solver.life)
    state = state._replace(trails=trails.matrices, kicks_left=trails.left)
    weighed = Weighed()
    began = time.thread_time()
    with _choosing(weighed, Threads(1)):
        for _ in range(MEASURED):
            state = solver.step(game, state)
    spent = weighed.noting + sum(task.seconds for task in weighed.each())
    return weighed, (time.thread_time() - began - spent) / MEASURED


def overhead(folder: Path) -> Overhead:
    """Measure what Dask takes for tasks that do next to nothing."""
    with crew("dask", 2, folder) as found:
        assert found.scheduler is not None
        hands = [psutil.Process(), found.scheduler]

        def busier(function: Callable[[Any], Any], given: Sequence[Any], times: int) -> float:
            found.workers.map(function, given)
            before = [used(process) for process in hands]
            for _ in range(times):
                found.workers.map(function, given)
            after = [used(process) for process in hands]
            return max(end - begin for begin, end in zip(before, after, strict=True)) / times

        large = np.ones(int(MEGABYTE) // 8)
        alone = busier(abs, range(IDLE), 5)
        back = busier(np.ones, [len(large)] * IDLE, 2)
        few, shared = busier(abs, range(4), 50), busier(partial(np.take, large), range(4), 50)
        return Overhead(alone / IDLE, max(0.0, shared - few), (back - alone) / IDLE)


def predicted(
    calls: Sequence[Call], serial: float, cost: Overhead, crew_size: int, trails: int, kicks: int
) -> tuple[float, float]:
    """Seconds of an iteration, and the share of the workers' time in which they compute.

    An iteration is one call. Its tasks go to whoever is free first, in their order; it takes as
    long as they do, or as handing them out and back, whichever is longer. With more trails there
    are more of those measured. What they find is modelled once, however many kicks they have; that
    is small beside kicks, and taken as one of them.
    """
    whole, work = serial * len(calls), 0.0
    for call in calls:
        found = [task for task in call.tasks if "trail" in task.kind]
        tasks = [task for task in call.tasks if "trail" not in task.kind]
        factor = kicks / KICKS[0]
        mean = sum(task.seconds for task in found) / max(1, len(found))
        for task in islice(cycle(found), round(len(found) * trails / TRAINING["trails"])):
            # What differs from kick to kick evens out over many.
            seconds = factor * mean + factor**0.5 * (task.seconds - mean)
            tasks.append(task._replace(seconds=seconds))
        free = [0.0] * crew_size
        for task in tasks:
            heapq.heapreplace(free, free[0] + task.seconds)
        handed = len(tasks) * cost.task
        handed += sum(task.returned for task in tasks) / MEGABYTE * cost.megabyte_returned
        whole += call.shared / MEGABYTE * cost.megabyte_shared + max(*free, handed)
        work += sum(task.seconds for task in tasks)
    return whole / len(calls), work / (crew_size * whole)


def cluster() -> None:
    """Print what an iteration of training consists of, and how long it takes on many workers."""
    with tempfile.TemporaryDirectory() as folder:
        cost = overhead(Path(folder))
    weighed, serial = learn()
    print("| an iteration | number | seconds each | the longest | kB sent | kB returned |")
    print("|---|---|---|---|---|---|")
    for kind in sorted({task.kind for task in weighed.each()}, reverse=True):
        found = [task for task in weighed.each() if task.kind == kind]
        seconds, sent, returned = (
            np.array(column, float) for column in list(zip(*found, strict=True))[1:]
        )
        print(
            f"| {kind} | {len(found) / MEASURED:.1f} | {seconds.mean():.3f} | {seconds.max():.3f} |"
            f" {sent.mean() / 1e3:.0f} | {returned.mean() / 1e3:.0f} |"
        )
    shared = sum(call.shared for call in weighed.calls) / len(weighed.calls) / 1e3
    print(f"| what all of them share | 1 | | | {shared:.0f} | |")
    print(f"| the rest, in the run's own thread | 1 | {serial:.3f} | | | |")
    print("\n| what Dask takes, in one thread | milliseconds |\n|---|---|")
    print(f"| a task | {1e3 * cost.task:.2f} |")
    print(f"| a megabyte that all tasks of a call share | {1e3 * cost.megabyte_shared:.2f} |")
    print(f"| a megabyte returned | {1e3 * cost.megabyte_returned:.2f} |")
    trails = TRAINING["trails"]
    print(f"\n| workers | {trails} trails, {KICKS[0]} kicks", end="")
    print("".join(f" | a trail a worker, {kicks} kicks" for kicks in KICKS), "|")
    print("|---|" + "---|" * (1 + len(KICKS)))
    for size in CREWS:
        cells = [predicted(weighed.calls, serial, cost, size, trails, KICKS[0])]
        cells += [predicted(weighed.calls, serial, cost, size, size, kicks) for kicks in KICKS]
        print(f"| {size:,} | {' | '.join(f'{s:.2f} s, {share:.0%}' for s, share in cells)} |")


def timings() -> Iterator[Timing]:
    yield from sizes()
    yield from iterations()
    yield from threads()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cluster", action="store_true", help="training on a cluster instead")
    if parser.parse_args().cluster:
        cluster()
    else:
        report("scaling", list(timings()))


if __name__ == "__main__":
    main()
