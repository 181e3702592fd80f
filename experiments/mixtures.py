"""The smallest games of Hog in which a mixture can do what no policy can, and how mixtures begin.

    python experiments/mixtures.py
    python experiments/mixtures.py --goals 2 --dice 1 2 3 --sides 2 3 4 6     # search
    python experiments/mixtures.py --goals 30 --dice 6 --beginnings 1 2 3 4 5

Without sizes: the games of docs/mixtures.md. With sizes: all games of these sizes that one way to
score without dice, one swap, and one memory can make (Feral Hogs, or Time Trot of period 2 to 8),
each game once. A mixture is never beaten by more than 1/2; for the others the table says by how
much the best matrix and the best policy are, less 1/2: the latter from both sides, by branch and
bound (normal_form.py). Prints a Markdown table and writes results/mixtures.md.

With --beginnings, seeds: su20 to the first goal and number of dice by `mixture_bundle`, with equal
processor time for three ways to begin, each attacked with a seed that training did not use. The
components are random policies to a share of 0.1, or of 0.5, or they are taken to both sides of a
policy along the directions in which the win rate against its counters curves upward most: the
leading eigenvectors of the second derivatives, by Lanczos, each roll scaled by the root of its
probability. The policy takes 0.3 of the time. Writes results/beginnings.md.
"""

import argparse
import time
from collections.abc import Iterator
from itertools import product
from math import prod
from typing import Any

import numpy as np
from common import arguments, publish, small_game
from normal_form import TinyGame, policy_value, solve
from numpy.typing import NDArray
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from hogeq.model.game import HogEngine
from hogeq.rules import Rules, rules_from
from hogeq.rules.parts import SWAPS, ZERO_DICE
from hogeq.rules.turn import total_rises
from hogeq.search.ascent import random_policy
from hogeq.search.attack import attack
from hogeq.search.results import Budget
from hogeq.solvers import SOLVERS
from hogeq.solvers.bundle import SHAPING, counters_of
from hogeq.solvers.cuts import Counters, cut, modelled
from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Floats

TROT = {"time_trot": True, "time_trot_period": 2}
CUBES = {"zero_dice": "alternating_cube_digits"}
DOUBLE = {"zero_dice": "twice_tens_minus_ones", "swap": "double"}
GAMES: tuple[dict[str, Any], ...] = (
    {"goal": 4, "max_dice": 2, "sides": 2, **CUBES, **TROT},
    *({"goal": 3, "max_dice": 1, "sides": sides, **DOUBLE, **TROT} for sides in (2, 3, 6)),
    {"goal": 4, "max_dice": 1, "sides": 3, **DOUBLE, "feral_hogs": "points"},
    {"edition": "sp20", "goal": 10, "max_dice": 1, "sides": 4},
)
MEMORIES: tuple[dict[str, Any], ...] = (
    {"feral_hogs": "points"},
    {"feral_hogs": "dice"},
    *({"time_trot": True, "time_trot_period": period} for period in range(2, 9)),
)
PURE = 1e-9  # a best matrix that is beaten by no more is not beaten
HEADER = [
    *("game", "goal", "dice", "sides", "states", "cells", "matrices", "mixed"),
    *("best matrix", "best policy, at least", "found", "programs"),
]
BEGINNINGS = ("random 0.1", "random 0.5", "curvature")
UNUSED = 777_000_000  # added to the seed of training: that of the attack
SHARE = 0.3  # of the time, for the policy
ACTIVE = 8  # counters whose curvature counts, at most
MIXED = 0.02  # share of a random policy in a component
FARTHEST = 0.95  # of the way to where a roll would vanish
LENGTHS = (0.5, 1.0, 2.0, 4.0, 8.0, 32.0, 128.0, 1e4)  # tried, along each direction


def main() -> None:
    """Print and write the table."""
    given = arguments(
        __doc__,
        goals=(0,),
        dice=(0,),
        sides=(0,),
        most=64,
        beginnings=(0,),
        parts=4,
        seconds=60.0,
        starts=8,
        kicks=40,
    )
    if max(given.beginnings):
        publish(given.out, "beginnings", ["seed", *BEGINNINGS], compared(given))
    else:
        publish(given.out, "mixtures", HEADER, lines(given))


def compared(given: argparse.Namespace) -> Iterator[list[object]]:
    """Train from each beginning for equal time, and give what an attack wins beyond 1/2."""
    game = small_game("su20", given.goals[0], given.dice[0])
    for parts in (1, given.parts):  # compile
        solver = solver_of(parts, 0, 0.1)
        solver.step(game, solver.init(game))
    for seed in given.beginnings:
        effort = Budget(given.starts, kicks=given.kicks, seed=UNUSED + seed)
        excess = {}
        for turn in range(3):  # each way is the first in turn
            name = BEGINNINGS[(turn + 1 - seed) % 3]
            end = time.process_time() + given.seconds
            spread = 0.5 if name == "random 0.5" else 0.1
            solver = solver_of(given.parts, seed, spread)
            curved = name == "curvature"
            state = split(game, solver, end) if curved else solver.init(game)
            mixture = solver.mixture(game, trained(game, solver, state, end))
            excess[name] = attack(game, mixture, effort).win_rate - 0.5
        yield [seed, *(f"{excess[name]:.6f}" for name in BEGINNINGS)]


def solver_of(parts: int, seed: int, spread: float) -> Any:
    """Give the solver."""
    return SOLVERS["mixture_bundle"](parts=parts, seed=seed, spread=spread)


def trained(game: HogEngine, solver: Any, state: Any, end: float) -> Any:
    """State when the process has used so many seconds."""
    while time.process_time() < end:
        state = solver.step(game, state)
    return state


def split(game: HogEngine, solver: Any, end: float) -> Any:
    """State with components along the directions of most curvature, and a policy's counters."""
    now = time.process_time()
    single = solver_of(1, solver.seed, 0.1)
    one = trained(game, single, single.init(game), now + SHARE * (end - now))
    policy, active = one.parts[0], np.argsort(-one.weights)[:ACTIVE]
    active = active[one.weights[active] > SHAPING]
    weights = one.weights[active] / one.weights[active].sum()
    root = np.sqrt(policy)
    curved = curvature(game, policy, one.pool[active], weights)
    random = np.random.default_rng(solver.seed)
    try:
        pairs = max(solver.parts // 2, 1)
        first = np.random.default_rng(solver.seed).normal(size=policy.size)
        lanczos = max(2 * pairs + 1, 20)
        _, found = eigsh(curved, pairs, which="LA", ncv=lanczos, maxiter=4, tol=1e-3, v0=first)
    except ArpackNoConvergence as stopped:
        found = stopped.eigenvectors
    ways = [tangent(root, way.reshape(policy.shape)) for way in found.T[::-1]]
    # Rows turn as far as their rolls allow.
    limits = [
        FARTHEST / np.maximum(np.abs(way / root).max(-1, keepdims=True), 1e-9) for way in ways
    ]

    def along(length: float) -> Floats:
        parts = [
            policy + sign * np.minimum(length, limit) * root * way
            for way, limit in zip(ways, limits, strict=True)
            for sign in (1, -1)
        ]
        return np.stack((parts + [policy] * solver.parts)[: solver.parts])

    def won(length: float) -> float:
        parts = along(length)
        return float(weights @ rates(game, parts, one.pool[active]).mean(axis=1))

    parts = along(max(LENGTHS, key=won))
    parts = np.stack([(1 - MIXED) * part + MIXED * random_policy(game, random) for part in parts])
    state = solver.init(game)._replace(parts=parts, recent=parts.copy())
    known = list(one.pool[one.used >= one.iteration - 10][-60:])
    cuts = [cut(game, Strategy.unchecked(parts, state.draw), each) for each in known]
    none = np.zeros(0, np.int64)
    counters = counters_of(state).renewed(none, known, cuts, 0, len(known))
    return state._replace(**counters._asdict())


def curvature(game: HogEngine, policy: Floats, counters: Any, weights: Floats) -> LinearOperator:
    """Second derivatives of the win rate against counters, by differences of two gradients."""
    root = np.sqrt(policy)

    def product(vector: NDArray[Any]) -> NDArray[Any]:
        way = tangent(root, vector.reshape(policy.shape))
        length = 0.9 / np.abs(way / root).max()
        ends = np.stack([policy + length * root * way, policy - length * root * way])
        total = np.zeros_like(policy)
        for counter, weight in zip(counters, weights, strict=True):
            model = cut(game, Strategy.unchecked(ends, np.full(2, 0.5)), counter)
            ahead, behind = model.gradients.astype(np.float64).reshape(2, *policy.shape)
            total += weight * (ahead - behind) / (2 * length)
        return tangent(root, root * total).ravel()

    return LinearOperator((policy.size, policy.size), matvec=product, dtype=np.float64)


def tangent(root: Floats, way: Floats) -> Floats:
    """Direction (G, G, K) along which rows keep their sums, scaled by the roots."""
    return np.asarray(way - root * (way * root).sum(axis=-1, keepdims=True))


def rates(game: HogEngine, parts: Floats, counters: Any) -> Floats:
    """Win rates (m, n) of components against counters."""
    strategy = Strategy.unchecked(parts, np.full(len(parts), 1.0 / len(parts)))
    cuts = [cut(game, strategy, counter) for counter in counters]
    none = Counters.none(game, len(parts))
    known = none.renewed(np.zeros(0, np.int64), list(counters), cuts, 0, len(cuts))
    return modelled(known, parts)


def lines(given: argparse.Namespace) -> Iterator[list[object]]:
    """Solve games one after the other; of a search, give those in which policies fall short."""
    searching = max(given.goals) > 0
    met = set()
    tried = 0
    for spec in searched(given) if searching else GAMES:
        game = tiny(spec)
        if game is None:
            continue
        if searching:
            same = repr((game.cell, game.ways))
            if same in met:
                continue
            met.add(same)
        tried += 1
        found = figures(game, given.most if searching else 10**6)
        if found is not None and (not searching or float(found[-3]) > 0.0):
            yield [named(spec), game.rules.size, game.rules.max_dice, game.rules.sides, *found]
    if searching:
        yield [f"of {tried} games", *[""] * (len(HEADER) - 1)]


def searched(given: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """List the games of a search."""
    for goal, dice, sides, memory, zero, swap in product(
        given.goals, given.dice, given.sides, MEMORIES, ZERO_DICE, SWAPS
    ):
        sizes = {"goal": goal, "max_dice": dice, "sides": sides}
        yield {**sizes, "zero_dice": zero, "swap": swap, **memory}


def tiny(spec: dict[str, Any]) -> TinyGame | None:
    """List the states of a game, if they can be listed."""
    rules: Rules = rules_from(spec)
    if not total_rises(rules):
        return None
    try:
        return TinyGame(rules)
    except OverflowError:
        return None


def figures(game: TinyGame, most: int) -> list[Any] | None:
    """Solve one game; None if there is nothing to choose, or too much."""
    cells = game.eliminate()
    shape = [len(game.rolls[cell]) for cell in cells]
    if not 2 <= prod(shape) <= most:
        return None
    payoffs = game.payoffs(game.matrices(cells))
    best_matrix = float(payoffs.max(axis=0).min()) - 0.5
    if best_matrix < PURE:
        mixed, lower, upper, nodes = 1, 0.0, 0.0, 0
    else:
        found = policy_value(payoffs, shape)
        mixed = int((solve(payoffs)[1] > PURE).sum())
        lower, upper, nodes = found.lower - 0.5, found.upper - 0.5, found.nodes
    where = " ".join(f"{own}-{other}" for own, other in cells)
    return [
        *(len(game.states), where, prod(shape), mixed, f"{best_matrix:.6f}"),
        *(f"{max(lower - 1e-9, 0.0):.6f}", f"{max(upper, 0.0):.6f}", nodes),
    ]


def named(spec: dict[str, Any]) -> str:
    """Say what makes a game, its sizes aside."""
    parts = {key: value for key, value in spec.items() if key not in {"goal", "max_dice", "sides"}}
    return ", ".join(
        key if value is True else f"{key}: {value}" if key != "edition" else str(value)
        for key, value in parts.items()
        if (key, value) != ("swap", "none")
    )


if __name__ == "__main__":
    main()
