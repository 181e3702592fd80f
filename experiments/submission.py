"""Does a better equilibrium give a better submission? From a mixture to a matrix, many ways.

    python experiments/submission.py --goal 30 --dice 6 --seconds 20

A policy by `bundle` and a mixture by `mixture_bundle`, trained for equal processor time. Then
matrices: the likeliest rolls of the policy, of each part, and of the policy that Kuhn would put in
the mixture's place; the best of samples of either; and what is found near the first of each by
local search, which for the mixture begins with the counters that it was trained against. One attack
with other seeds measures all. Prints a Markdown table and writes results/submission.md.
"""

import argparse
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from common import EFFORT, arguments, course, effort, publish, small_game

from hogeq.model.game import HogEngine
from hogeq.purification import argmax
from hogeq.purification.local_search import LocalSearch
from hogeq.purification.sampling import Sample
from hogeq.search.attack import SearchBudget, attack
from hogeq.solvers import SOLVERS
from hogeq.support.aliases import Matrix

HEADER = ["from", "made by", "attack", "processor seconds"]
TRAINING = 1  # seed; the attack has others


def main() -> None:
    """Print and write the table."""
    given = arguments(
        __doc__,
        edition="su20",
        goal=30,
        dice=6,
        parts=4,
        seconds=20.0,
        samples=8,
        rounds=20,
        **EFFORT,
    )
    publish(given.out, "submission", HEADER, lines(given))


def lines(given: argparse.Namespace) -> Iterator[list[object]]:
    """Train both, make matrices of both, and attack everything."""
    game = small_game(given.edition, given.goal, given.dice)
    budget = effort(given)

    def line(source: str, way: str, strategy: Any, seconds: float) -> list[object]:
        won = attack(game, strategy, budget).win_rate
        return [source, way, f"{won:.6f}", f"{seconds:.1f}"]

    single, one = trained(game, "bundle", given.seconds, {})
    mixed, several = trained(game, "mixture_bundle", given.seconds, {"parts": given.parts})
    policy, mixture = single.average(game, one), mixed.mixture(game, several)
    kuhn = mixed.average(game, several)
    yield line("policy", "itself", policy, given.seconds)
    yield line("mixture", "itself", mixture, given.seconds)
    yield line("mixture", "Kuhn's policy", kuhn, given.seconds)
    yield line("policy", "likeliest rolls", argmax(game, policy), 0.0)
    yield line("mixture", "likeliest rolls of Kuhn's policy", argmax(game, kuhn), 0.0)
    likeliest = [argmax(game, part) for part in mixture.parts]
    yield line("mixture", "likeliest rolls of a part, the best", *best(game, likeliest))
    drawn, _ = Sample(given.samples).drawn(game, policy)
    yield line("policy", f"best of {given.samples} samples", *best(game, list(drawn)))
    each = -(-given.samples // len(mixture))
    drawn = np.concatenate([Sample(each).drawn(game, part)[0] for part in mixture.parts])
    yield line("mixture", f"best of {len(drawn)} samples", *best(game, list(drawn)))
    for source, start, counters in (
        ("policy", policy, one.pool),
        ("mixture", kuhn, several.pool),
    ):
        began = time.process_time()
        search = LocalSearch(rounds=given.rounds)
        state = search.init(game, start, counters)
        for _ in range(given.rounds):
            state = search.step(game, state)
        spent = time.process_time() - began
        yield line(source, "local search against its counters", state.matrix, spent)


def trained(game: HogEngine, name: str, seconds: float, options: dict[str, Any]) -> tuple[Any, Any]:
    """Run a solver for so much processor time."""
    solver = SOLVERS[name](seed=TRAINING, **options)
    return solver, next(state for state, spent in course(game, solver) if spent >= seconds)


def best(game: HogEngine, matrices: list[Matrix]) -> tuple[Matrix, float]:
    """Matrix that a weaker attack beats least, and the seconds of choosing it."""
    began = time.process_time()
    weak = SearchBudget(2, anneal_steps=30, seed=TRAINING)
    chosen = min(matrices, key=lambda matrix: attack(game, matrix, weak).win_rate)
    return chosen, time.process_time() - began


if __name__ == "__main__":
    main()
