"""Passes over the full-size game, each with its answer checked.

``make bench`` prints the least times, and within a group every figure as a ratio to ours.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from hogeq.contest.tournament import round_robin
from hogeq.evaluation.win_rates import mover_value, win_rate
from hogeq.model.duels import Duels
from hogeq.model.game import Game, compile_game
from hogeq.model.side_by_side import many_workspace
from hogeq.model.workspace import Role, Workspace
from hogeq.response.search import SearchBudget, attack
from hogeq.rules import EDITIONS
from hogeq.solvers import SOLVERS
from hogeq.strategies.policies import policies_of, policy_of
from hogeq.support.workers import workers
from tests import twin

Benchmark = Any  # pytest-benchmark ships no types


@cache
def full_game(edition: str = "su20") -> Game:
    return compile_game(EDITIONS[edition])


def mixed(game: Game, seed: int) -> NDArray[np.float64]:
    return np.random.default_rng(seed).dirichlet(np.ones(game.num_actions), game.shape[:2])


def timed(benchmark: Benchmark, run: Callable[[], Any]) -> Any:
    """Time after one call that compiles; return the result."""
    return benchmark.pedantic(run, rounds=15, warmup_rounds=1)


def workspace(game: Game, players: int, how: str) -> Workspace:
    """Arrays for passes compiled for the game, or for those that read its terms from tables."""
    return Workspace(game.tables, players, plan=game.plan if how == "planned" else None)


PASSES = pytest.mark.parametrize("how", ["planned", "generic"])


@pytest.mark.benchmark(group="su20, goal 100, values of all actions")
@PASSES
def bench_values_of_all_actions(benchmark: Benchmark, how: str) -> None:
    game = full_game()
    policy = mixed(game, 0)[None]
    work = workspace(game, 1, how)
    value = timed(benchmark, lambda: work.backward(policy))[0]
    two = np.concatenate([policy, policy])
    assert value == pytest.approx(Workspace(game.tables, 2).backward(two)[0], abs=1e-12)


@pytest.mark.benchmark(group="su20, goal 100, reach of both players")
@PASSES
def bench_reach_of_both_players(benchmark: Benchmark, how: str) -> None:
    game = full_game()
    policies = np.stack([mixed(game, 0), mixed(game, 1)])
    work = workspace(game, 2, how)
    timed(benchmark, lambda: work.forward(policies))
    rate = work.win_rate(policies, Role.COUNTERFACTUAL).win_rate
    # The start holds half of player 0's reach; the other half moves second.
    start = work.counterfactual_values[0, 0] @ policies[0, 0, 0]
    assert start == pytest.approx(0.5 * work.backward(policies)[0], abs=1e-12)
    assert 0.0 < rate < 1.0


@pytest.mark.benchmark(group="su20, goal 100, sweep of coordinate ascent")
@PASSES
def bench_sweep_of_coordinate_ascent(benchmark: Benchmark, how: str) -> None:
    game = full_game()
    target = mixed(game, 1)
    policies = np.stack([policy_of(game, np.full((100, 100), 5)), target])
    work = workspace(game, 2, how)

    def sweep() -> float:
        work.forward(policies)
        first, other, _ = work.backward(policies, Role.ASCEND)
        return (first + 1.0 - other) / 2.0

    rate = timed(benchmark, sweep)
    assert rate == pytest.approx(win_rate(game, policies[0], target).win_rate, abs=1e-12)


@pytest.mark.benchmark(group="su20, goal 100, tablebase")
def bench_responder_with_full_memory(benchmark: Benchmark) -> None:
    game = full_game()
    policy = mixed(game, 0)[None]
    work = game.workspace(1)
    value = timed(benchmark, lambda: work.backward(policy, Role.FULL_MEMORY))[0]
    assert value == pytest.approx(0.5005159690, abs=1e-10)  # RULES: su20, full memory


@pytest.mark.benchmark(group="su20, goal 100, one iteration")
@pytest.mark.parametrize("average_weight", ["reach", "own"])
@pytest.mark.parametrize("alternating", [False, True])
def bench_iteration_of_cfr_plus(
    benchmark: Benchmark, alternating: bool, average_weight: str
) -> None:
    game = full_game()
    method = SOLVERS["cfr_plus"](alternating=alternating, average_weight=average_weight)
    state = method.init(game)

    def step() -> None:
        nonlocal state
        state = method.step(game, state)

    timed(benchmark, step)
    assert method.average(game, state).sum(axis=2) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.benchmark(group="su20, goal 100, win rate of two matrices")
@pytest.mark.parametrize("how", ["duel", "planned", "generic"])
def bench_pair_of_matrices(benchmark: Benchmark, how: str) -> None:
    game = full_game()
    matrices = [np.full((100, 100), 6), np.full((100, 100), 7)]
    policies = policies_of(game, *matrices)
    work = workspace(game, 2, how)
    duels = Duels(game.tables)
    pairs = np.stack(matrices).astype(np.int64)
    rate = timed(
        benchmark,
        lambda: duels.win_rate(pairs) if how == "duel" else work.win_rate(policies),
    )
    # Official server, summer 2020: always-6 against always-7.
    assert rate.win_rate == pytest.approx(0.517251230405, abs=1e-12)


DUELS_BY_DIAGONALS = ("fa22", "fa23", "hw13", "fa15", "su21", "fa18", "sp19", "fa17")
BY_DIAGONALS = (*DUELS_BY_DIAGONALS, "sp22")  # where positions recur, pairs are two policies
HOW = pytest.mark.parametrize("how", ["hogeq", "generic"])


def prepared(edition: str, players: int, how: str) -> tuple[Game, Workspace]:
    """Give a game, and arrays for passes as users have them, or for generic ones."""
    game = full_game(edition)
    own = game.workspace(players) if how == "hogeq" else Workspace(game.tables, players)
    return game, own


def named(benchmark: Benchmark, edition: str, what: str) -> None:
    """Compare within an edition."""
    benchmark.group = f"{edition}, goal 100, {what}"


@pytest.mark.parametrize("edition", BY_DIAGONALS)
@HOW
def bench_values_by_diagonals(benchmark: Benchmark, how: str, edition: str) -> None:
    named(benchmark, edition, "values of all actions")
    game, work = prepared(edition, 1, how)
    policy = mixed(game, 0)
    value = timed(benchmark, lambda: work.backward(policy[None]))[0]
    twice = np.stack([policy, policy])
    assert value == pytest.approx(Workspace(game.tables, 2).backward(twice)[0], abs=1e-12)


@pytest.mark.parametrize("edition", BY_DIAGONALS)
@HOW
def bench_sweep_by_diagonals(benchmark: Benchmark, how: str, edition: str) -> None:
    named(benchmark, edition, "sweep of coordinate ascent")
    game, work = prepared(edition, 2, how)
    target = mixed(game, 1)
    policies = np.stack([policy_of(game, np.full((100, 100), 5)), target])

    def sweep() -> float:
        work.forward(policies)
        first, other, _ = work.backward(policies, Role.ASCEND)
        return (first + 1.0 - other) / 2.0

    rate = timed(benchmark, sweep)
    slow = Workspace(game.tables, 2).win_rate(policies).win_rate
    assert rate == pytest.approx(slow, abs=1e-12)


@pytest.mark.parametrize("edition", DUELS_BY_DIAGONALS)
@HOW
def bench_pair_by_diagonals(benchmark: Benchmark, how: str, edition: str) -> None:
    named(benchmark, edition, "win rate of two matrices")
    game, work = prepared(edition, 2, how)
    matrices = np.random.default_rng(0).integers(game.num_actions, size=(2, *game.shape[:2]))
    policies = policies_of(game, *matrices)
    duels = game.duels()
    assert duels is not None
    run = duels.win_rate if how == "hogeq" else lambda _: work.win_rate(policies)
    rate = timed(benchmark, lambda: run(matrices))
    assert rate == pytest.approx(Workspace(game.tables, 2).win_rate(policies), abs=1e-12)


@pytest.mark.parametrize("edition", BY_DIAGONALS)
@HOW
def bench_tablebase_by_diagonals(benchmark: Benchmark, how: str, edition: str) -> None:
    named(benchmark, edition, "tablebase")
    game, work = prepared(edition, 1, how)
    policy = mixed(game, 0)[None]
    rolls = np.zeros((100, 100, game.memory_size), np.int8)
    value = timed(benchmark, lambda: work.backward(policy, Role.FULL_MEMORY, choice=rolls))[0]
    slow = Workspace(game.tables, 1).backward(policy, Role.FULL_MEMORY)[0]
    assert value == pytest.approx(slow, abs=1e-12)


MIXED = {
    "su20, goal 30, 6 dice": replace(EDITIONS["su20"], goal=30, max_dice=6),
    "su20, goal 50": replace(EDITIONS["su20"], goal=50),
    **{f"{edition}, goal 100": EDITIONS[edition] for edition in ("su20", "fa22", "fa18")},
}


@pytest.mark.parametrize("how", ["1 opponent", "8 opponents", "8 opponents, single precision"])
@pytest.mark.parametrize("name", MIXED)
def bench_sweep_against_a_mixture(benchmark: Benchmark, name: str, how: str) -> None:
    benchmark.group = f"{name}, sweep against a mixture"
    game = compile_game(MIXED[name])
    pairs = int(how[0])
    is_quick = how.endswith("precision") and game.quick_dtype(pairs) == np.float32
    work = many_workspace(game, pairs, np.float32 if is_quick else np.float64)
    opponents = np.stack([mixed(game, 1 + pair) for pair in range(pairs)])
    work.face(opponents)
    policy = mixed(game, 0)

    def sweep() -> NDArray[np.float64]:
        work.forward(policy)
        return work.backward(policy, Role.ASCEND).win_rates

    rates = timed(benchmark, sweep)
    exact = [win_rate(game, policy, opponent).win_rate for opponent in opponents]
    assert rates == pytest.approx(exact, abs=1e-5 if is_quick else 1e-12)


@pytest.mark.benchmark(group="su20, goal 100, dice sums")
@pytest.mark.parametrize("how", ["by sums", "directly"])
def bench_dice_sums(benchmark: Benchmark, how: str) -> None:
    game = full_game()
    tables = game.tables
    if how == "directly":
        tables = tables._replace(sum_depth=np.zeros_like(tables.sum_depth))
    policy = mixed(game, 0)[None]
    work = Workspace(tables, 1)
    value = timed(benchmark, lambda: work.backward(policy))[0]
    assert value == pytest.approx(mover_value(game, policy[0]), abs=1e-12)


@pytest.mark.benchmark(group="su20, goal 100, all pairs of 12 matrices")
@pytest.mark.parametrize("jobs", [1, 2])
def bench_tournament(benchmark: Benchmark, jobs: int) -> None:
    game = full_game()
    field = list(np.random.default_rng(0).integers(game.num_actions, size=(12, *game.shape[:2])))
    with workers(jobs):
        rates = benchmark.pedantic(lambda: round_robin(game, field), rounds=3, warmup_rounds=1)
    assert rates[0, 1] == pytest.approx(win_rate(game, field[0], field[1]).win_rate, abs=1e-12)


@pytest.mark.benchmark(group="su20, goal 20, 3 dice, win rate of two policies")
@pytest.mark.parametrize("how", ["passes", "memoised recursion"])
def bench_against_recursion(benchmark: Benchmark, how: str) -> None:
    rules = replace(EDITIONS["su20"], goal=20, max_dice=3)
    game = compile_game(rules)
    one, two = mixed(game, 0), mixed(game, 1)

    def recursion() -> float:
        return float(twin.Match(twin.Play(rules), one.tolist(), two.tolist()).win_rate()[0])

    def fast() -> float:
        return win_rate(game, one, two).win_rate

    rate = benchmark.pedantic(
        fast if how == "passes" else recursion, rounds=3, warmup_rounds=how == "passes"
    )
    assert rate == pytest.approx(fast(), abs=1e-12)


@pytest.mark.benchmark(group="su20, goal 100, one start of the attack")
def bench_attack(benchmark: Benchmark) -> None:
    game = full_game()
    target = np.full((100, 100), 5)
    found = benchmark.pedantic(
        lambda: attack(game, target, SearchBudget(starts=1)), rounds=3, warmup_rounds=1
    )
    assert found.win_rate == pytest.approx(win_rate(game, found.matrix, target).win_rate, abs=1e-12)


@pytest.mark.benchmark(group="fa22, tablebase by goal, 10 dice")
@pytest.mark.parametrize("goal", [100, 200, 400, 1000])
def bench_tablebase_by_goal(benchmark: Benchmark, goal: int) -> None:
    game = compile_game(replace(EDITIONS["fa22"], goal=goal))
    policy = mixed(game, 0)[None]
    work = game.workspace(1)
    value = benchmark.pedantic(
        lambda: work.backward(policy, Role.FULL_MEMORY), rounds=5, warmup_rounds=1
    )[0]
    assert 0.5 < value < 0.52 if goal > 100 else value == pytest.approx(0.51736, abs=5e-6)


@pytest.mark.benchmark(group="fa22, tablebase by dice, goal 100")
@pytest.mark.parametrize("dice", [5, 10, 20, 40])
def bench_tablebase_by_dice(benchmark: Benchmark, dice: int) -> None:
    game = compile_game(replace(EDITIONS["fa22"], max_dice=dice))
    policy = mixed(game, 0)[None]
    work = game.workspace(1)
    rolls = np.zeros((100, 100, game.memory_size), np.int8)
    value = timed(benchmark, lambda: work.backward(policy, Role.FULL_MEMORY, choice=rolls))[0]
    assert value == pytest.approx(mover_value(game, rolls[:, :, 0]), abs=1e-12)
