"""How far certificates take the bound on best responses below that of full memory, by size of game.

    python experiments/certificates.py --sizes 16x4 24x5 40x6 --seconds 60
    python experiments/certificates.py --against cfr bundle --sizes 16x4 24x5 40x6 --seconds 60
    python experiments/certificates.py --benchmark fa18-100x10 --seconds 300

Against the average policy of discounted CFR: the attack found, the certified bound
(hogeq/search/lifted_bound.py), the full-memory bound, and what share of the distance between
attack and full memory the certificate takes off. 100x10 means the champion policy of the edition.
Against a mixture full memory is told the draw; "not told" is who remembers all but the draw. `cfr`
draws one of three policies, by discounted CFR, by CFR+ and by CFR against best responders; `bundle`
is a mixture of four by `mixture_bundle`, in a quarter of the iterations; 100x10 means the champion.
Seconds are the processor's. Prints a Markdown table and writes results/certificates.md.

With --benchmark, instances of Hog with such parts in their names: a certificate that is in
results/benchmark/certificates is proved again, for the game and opponent of the instance; one that
is missing is made. The table of all that are there, as they say, is results/certified.md.
"""

import argparse
import json
import math
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, cast

import numpy as np
from common import HOG, arguments, publish, small_game, solved

from hogeq import Hog
from hogeq.baselines.registry import find_strategy
from hogeq.benchmark.catalogue import catalogue
from hogeq.graph.hog import of_hog
from hogeq.model.game import HogEngine
from hogeq.search.attack import attack
from hogeq.search.bounds import upper_bound
from hogeq.search.certificate import (
    certify,
    check_certificate,
    hog_problems,
)
from hogeq.search.certificate_files import Certificate
from hogeq.search.results import Budget
from hogeq.solvers import SOLVERS
from hogeq.strategies.conversion import strategy_of
from hogeq.strategies.strategy import Mixture, Strategy

SHOWN = 10**6  # digits of bounds, which are rounded up


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
        benchmark=("",),
    )
    if given.benchmark != ("",):
        header = ["instance", "value", "certified", "full memory", "taken off", "steps"]
        publish(given.out, "certified", header, certified(given))
        return
    columns = ["edition", "goal", "dice", "against", "attack", "certified", "not told"]
    header = [*columns, "full memory", "taken off", "steps", "seconds"]
    publish(given.out, "certificates", header, lines(given))


def certified(given: argparse.Namespace) -> Iterator[list[object]]:
    """Prove certificates of the benchmark's instances again, and make those that are missing."""
    folder: Path = given.out / "benchmark"
    known = json.loads((folder / "known.json").read_text(encoding="utf-8"))["instances"]
    (folder / "certificates").mkdir(exist_ok=True)
    for name, entry in catalogue().items():
        path = folder / "certificates" / f"{name}.json.gz"
        is_named = entry.family == "hog" and any(part in name for part in given.benchmark)
        if is_named and not path.exists():
            game = cast("Hog", entry.load())
            game.certify(entry.opponent or "", given.seconds).write(path)
        if not path.exists():
            continue
        said, value = Certificate.read(path), known[name]["value"]
        if is_named:
            about = of_hog(said.rules).against(said.strategy.policy).digest
            if about != known[name]["instance"]:
                raise SystemExit(f"{path.name}: is about another game or opponent")
            check_certificate(said).require_same(said, path.name)
        share = taken_off(said.full_memory, said.bound, value)
        ends = (math.ceil(end * SHOWN) / SHOWN for end in (said.bound, said.full_memory))
        yield [name, f"{value:.6f}", *(f"{end:.6f}" for end in ends), share, len(said.steps)]


def lines(given: argparse.Namespace) -> Iterator[list[object]]:
    """Measure games, a line each."""
    for edition, size, against in product(given.editions, given.sizes, given.against):
        goal, dice = map(int, size.split("x"))
        game = small_game(edition, goal, dice)
        strategy = opponent(game, against, given.iterations)
        found = attack(game, strategy, Budget(kicks=given.kicks)).win_rate
        problems = hog_problems(game.rules, strategy)
        certify(problems, 0.0)  # what is compiled is not counted
        began = time.process_time()
        proved = certify(problems, given.seconds, time.process_time)
        spent, bound, full = time.process_time() - began, proved.bound(), proved.full_memory
        figures = [f"{rate:.6f}" for rate in (found, bound)]
        untold = f"{upper_bound(game, strategy):.6f}" if strategy.kind == "mixture" else ""
        counted = [f"{full:.6f}", taken_off(full, bound, found), len(proved.steps), f"{spent:.0f}"]
        yield [edition, goal, dice, against, *figures, untold, *counted]


def taken_off(full: float, bound: float, found: float) -> str:
    """Write how much of the distance between full memory and what is found a bound takes off."""
    return f"{(full - bound) / (full - found) if full - found > 1e-9 else 0.0:.0%}"


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
    others = [solved(game, "cfr_plus", iterations, **HOG), solved(game, "cfr_br", iterations)]
    return strategy_of(game, Mixture(np.full(3, 1 / 3), [average, *others]))


if __name__ == "__main__":
    main()
