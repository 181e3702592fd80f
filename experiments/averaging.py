"""Which averaging, and which weighting: CFR self-play and CFR-BR.

    python experiments/averaging.py

For self-play: the weight of regrets (reach, counterfactual, belief) with that of the average (own,
reach) and its exponent. For CFR-BR: last, windowed and linear averages with each weight of
regrets. Prints a Markdown table and writes results/averaging_su20.md, or of another edition.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import get_args

from common import EFFORT, arguments, effort, publish, small_game, solved

from hogeq.evaluation.counterfactual import RegretWeight
from hogeq.model.game import HogEngine
from hogeq.purification import argmax
from hogeq.search.attack import SearchBudget, attack
from hogeq.search.bounds import full_memory_bound
from hogeq.solvers.cfr_br import CFRBR
from hogeq.support.aliases import Floats

WEIGHTS: tuple[RegretWeight, ...] = get_args(RegretWeight)


def main() -> None:
    """Print and write the table."""
    given = arguments(__doc__, edition="su20", goal=0, dice=0, iterations=100, **EFFORT)
    game = small_game(given.edition, given.goal, given.dice)
    header = ["solver", "regrets by", "average by", "average", "attack", "argmax, attack", "bound"]
    rows = lines(game, given.iterations, effort(given))
    publish(given.out, f"averaging_{given.edition}", header, rows)


def lines(game: HogEngine, iterations: int, budget: SearchBudget) -> Iterator[list[object]]:
    """Measure every average."""
    for *labels, policy in averages(game, iterations):
        found = [attack(game, each, budget).win_rate for each in (policy, argmax(game, policy))]
        bound = full_memory_bound(game, policy)
        yield [*labels, *(f"{rate:.5f}" for rate in (*found, bound))]


def averages(game: HogEngine, iterations: int) -> Iterator[tuple[str, str, str, str, Floats]]:
    """Solve, and average: solver, weight of regrets and of the average, its name, the policy."""
    for regret, average, gamma in product(WEIGHTS, ("own", "reach"), (0.0, 1.0, 2.0)):
        parameters = {"regret_weight": regret, "average_weight": average, "gamma": gamma}
        policy = solved(game, "dcfr", iterations, alpha=1.0, **parameters)
        yield "dcfr", regret, average, f"t^{gamma:.0f}", policy
    for regret in WEIGHTS:
        solver = CFRBR(regret_weight=regret, responders=1, responder_sweeps=2)
        state = solver.init(game)
        for _ in range(iterations):
            state = solver.step(game, state)
        for averaging in ("last", "window", "linear"):  # one run, read three times
            policy = replace(solver, averaging=averaging).average(game, state)
            yield "cfr_br", regret, "reach", averaging, policy


if __name__ == "__main__":
    main()
