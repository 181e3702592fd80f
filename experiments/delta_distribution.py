"""How far the delta distribution that Huan (2020) counts is from the true one.

    python experiments/delta_distribution.py

For several strategies, the distribution of the hidden memory by counting ways, and by his
whole lookup, against reach probabilities in self-play: total variation distance by cell.
Prints a Markdown table and writes results/delta_distribution.md and .png.
"""

import numpy as np
from common import arguments, publish, small_game, solved

from hogeq import figures
from hogeq.baselines.delta import exact_distribution
from hogeq.baselines.registry import builtin
from hogeq.baselines.second_place import guess_by_counting
from hogeq.evaluation.beliefs import total_variation
from hogeq.evaluation.hidden import reach
from hogeq.purification import argmax


def main() -> None:
    """Print and write the table, draw the figure."""
    given = arguments(__doc__, edition="su20", goal=0, dice=0, iterations=100)
    game = small_game(given.edition, given.goal, given.dice)
    policy = solved(game, "dcfr", given.iterations, alpha=1.0, gamma=1.0, average_weight="reach")
    strategies = {
        **{name: builtin(name, game) for name in ("huan2020", "ignore_memory")},
        "always_roll:4": builtin(f"always_roll:{min(4, game.rules.max_dice)}", game),
        "dcfr": policy,
        "dcfr, argmax": argmax(game, policy),
    }
    rows = []
    for name, strategy in strategies.items():
        true, met = exact_distribution(game, strategy), reach(game, strategy).sum(axis=2)
        guess = guess_by_counting(game, strategy)
        for kind, guessed in zip(("counted", "looked up"), guess, strict=True):
            apart = np.where(met > 0.0, total_variation(guessed, true), 0.0)
            mean = (apart * met).sum() / met.sum()
            cells = apart[met > 0.0]
            quantiles = np.quantile(cells, (0.5, 0.9))
            shares = [mean, *quantiles, cells.max()]
            rows.append([name, kind, *(f"{share:.4f}" for share in shares), len(cells)])
            if (name, kind) == ("huan2020", "counted"):
                given.out.mkdir(parents=True, exist_ok=True)
                apart[met == 0.0] = np.nan
                place = given.out / "delta_distribution.png"
                figures.values(apart, place, "huan2020, memory counted and met", "total variation")
    header = [
        "strategy",
        "guess",
        "mean by reach",
        "median cell",
        "90 % of cells",
        "worst",
        "cells",
    ]
    publish(given.out, "delta_distribution", header, rows)


if __name__ == "__main__":
    main()
