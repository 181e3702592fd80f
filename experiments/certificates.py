"""How far certificates take the bound on best responses below that of full memory, by size of game.

    python experiments/certificates.py --sizes 16x4 24x5 40x6 --seconds 60
    python experiments/certificates.py --against cfr bundle --sizes 16x4 24x5 40x6 --seconds 60

Against the average policy of discounted CFR: the attack found, the certified bound
(hogeq/search/lifted_bound.py), the full-memory bound, and what share of the distance between
attack and full memory the certificate takes off. 100x10 means the champion policy of the edition.
Against a mixture full memory is told the draw; "not told" is who remembers all but the draw. `cfr`
draws one of three policies, by discounted CFR, by CFR+ and by CFR against best responders; `bundle`
is a mixture of four by `mixture_bundle`, in a quarter of the iterations; 100x10 means the champion.
Seconds are the processor's. Prints a Markdown table and writes results/certificates.md.
"""

import argparse
import time
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
from common import HOG, arguments, publish, small_game, solved

from hogeq.baselines.registry import find_strategy
from hogeq.model.game import HogEngine
from hogeq.search.attack import attack
from hogeq.search.bounds import upper_bound
from hogeq.search.certificate import certify
from hogeq.search.results import Budget
from hogeq.solvers import SOLVERS
from hogeq.strategies.strategy import Mixture, Strategy, strategy_of


def main() -> None:
    """Print and write the table."""
    given = arguments(
        __doc__,
        editions=("su20",),
        sizes=("16x4", "24x5", "40x6"),
        against=("policy",),
        seconds=60.0,
        iterations=100,
        kicks=20,
    )
    columns = ["edition", "goal", "dice", "against", "attack", "certified", "not told"]
    header = [*columns, "full memory", "taken off", "steps", "seconds"]
    publish(given.out, "certificates", header, lines(given))


def lines(given: argparse.Namespace) -> Iterator[list[object]]:
    """Measure games, a line each."""
    for edition, size, against in product(given.editions, given.sizes, given.against):
        goal, dice = map(int, size.split("x"))
        game = small_game(edition, goal, dice)
        strategy = opponent(game, against, given.iterations)
        found = attack(game, strategy, Budget(kicks=given.kicks)).win_rate
        certify(game.rules, strategy, 0.0)  # what is compiled is not counted
        began = time.process_time()
        proved = certify(game.rules, strategy, given.seconds, time.process_time)
        spent, bound, full = time.process_time() - began, proved.bound(), proved.full_memory
        share = (full - bound) / (full - found) if full - found > 1e-9 else 0.0
        figures = [f"{rate:.6f}" for rate in (found, bound)]
        untold = f"{upper_bound(game, strategy):.6f}" if strategy.kind == "mixture" else ""
        counted = [f"{full:.6f}", f"{share:.0%}", len(proved.steps), f"{spent:.0f}"]
        yield [edition, goal, dice, against, *figures, untold, *counted]


def opponent(game: HogEngine, against: str, iterations: int) -> Strategy:
    """Give the strategy that the bound is about."""
    if (game.goal, game.rules.max_dice) == (100, 10):
        kind = "policy" if against == "policy" else "mixture"
        return strategy_of(game, find_strategy(f"champion:{kind}", game))
    if against == "bundle":
        solver: Any = SOLVERS["mixture_bundle"](parts=4)
        state = solver.init(game)
        for _ in range(iterations // 4):
            state = solver.step(game, state)
        return strategy_of(game, solver.mixture(game, state))
    options: dict[str, Any] = {"alpha": 1.0, "gamma": 1.0, "average_weight": "reach", **HOG}
    average = solved(game, "dcfr", iterations, **options)
    if against == "policy":
        return strategy_of(game, average)
    others = [
        solved(game, "cfr_plus", iterations, **HOG),
        solved(game, "cfr_br", iterations),
    ]
    return strategy_of(game, Mixture(np.full(3, 1 / 3), [average, *others]))


if __name__ == "__main__":
    main()
