"""Which averaging, and which weighting: CFR self-play and CFR-BR.

    python experiments/averaging.py

For self-play: the weight of regrets (reach, counterfactual, belief) with that of the average (own,
reach) and its exponent.  For CFR-BR: last, windowed and linear averages with each weight of
regrets.  Prints a Markdown table and writes results/averaging.md.
"""

from collections.abc import Iterator
from itertools import product
from typing import Any

from report import arguments, publish, small_game, solved

from hogeq.game import Game
from hogeq.purify import argmax
from hogeq.respond import Effort, attack, full_memory_bound


def main() -> None:
    """Print and write the table."""
    given = arguments(
        __doc__, edition="su20", goal=0, dice=0, iterations=100, starts=2, anneal_steps=40
    )
    game = small_game(given.edition, given.goal, given.dice)
    effort = Effort(given.starts, given.anneal_steps)
    runs: list[tuple[str, dict[str, Any]]] = [
        ("dcfr", {"regret_weight": regret, "average_weight": average, "gamma": gamma, "alpha": 1.0})
        for regret, average, gamma in product(
            ("reach", "counterfactual", "belief"), ("own", "reach"), (0.0, 1.0, 2.0)
        )
    ] + [
        ("cfr_br", {"regret_weight": regret, "averaging": averaging, "responder_sweeps": 2})
        for regret, averaging in product(
            ("reach", "counterfactual", "belief"), ("last", "window", "linear")
        )
    ]
    header = ["solver", "regrets by", "average by", "average", "attack", "argmax, attack", "bound"]
    publish(given.out, "averaging", header, lines(game, runs, given.iterations, effort))


def lines(
    game: Game, runs: list[tuple[str, dict[str, Any]]], iterations: int, effort: Effort
) -> Iterator[list[object]]:
    """Measure every run."""
    for name, parameters in runs:
        policy = solved(game, name, iterations, **parameters)
        matrix = argmax(game, policy)
        average = parameters.get("averaging", f"t^{parameters.get('gamma', 0.0):.0f}")
        yield (
            [
                name,
                parameters["regret_weight"],
                parameters.get("average_weight", "reach"),
                average,
                *(f"{attack(game, each, effort).win_rate:.5f}" for each in (policy, matrix)),
                f"{full_memory_bound(game, policy):.5f}",
            ]
        )


if __name__ == "__main__":
    main()
