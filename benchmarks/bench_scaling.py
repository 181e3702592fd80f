"""How our time grows: with the goal, the dice, the memory, the iterations, and over threads.

    python benchmarks/bench_scaling.py

Win rates are checked by computing them in two ways, and what two threads compute is the same, bit
for bit, as what one does.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from timing import Timing, in_turn, least, report

from hogeq.contest.tournament import round_robin
from hogeq.evaluation.win_rates import mover_value, win_rate
from hogeq.model.game import Game, compile_game
from hogeq.response.population import CounterPool
from hogeq.response.search import SearchBudget, attack
from hogeq.rules import EDITIONS, Rules
from hogeq.solvers import SOLVERS
from hogeq.strategies.policies import policies_of
from hogeq.support.workers import cores, workers

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


def timings() -> Iterator[Timing]:
    yield from sizes()
    yield from iterations()
    yield from threads()


if __name__ == "__main__":
    report("scaling", list(timings()))
