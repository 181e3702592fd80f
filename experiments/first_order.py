"""How far down the strongest of many known counters could be pushed, if effects added up.

    python experiments/first_order.py --jobs 2

A win rate is linear in every row of a policy.  Kicked starts find counters to a champion; a linear
program finds, among all policies, the one whose rows, each counted alone, leave the strongest of
the n strongest counters least.  Effects do not add up, so this proves nothing; but no small change
does better than its share of it.  Beside it: what the strongest counter really wins there, and what
an attack then finds.  Prints a Markdown table and writes results/first_order_EDITION.md.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np
from report import arguments, publish, small_game

from hogeq.evaluate import policy_of
from hogeq.executor import compute
from hogeq.formats import read_strategy
from hogeq.purify.pool import Pool, Slopes, best_moves
from hogeq.respond import Effort, attack, search


def main() -> None:
    """Print and write the table."""
    given = arguments(
        __doc__,
        edition="su20",
        goal=0,
        dice=0,
        strategy="results/champions/su20/policy.npz",
        counters=(16, 32, 64, 128, 256),
        kicks=40,
        seed=9,
        jobs=1,
    )
    game = small_game(given.edition, given.goal, given.dice)
    strategy = read_strategy(given.strategy, game.goal, game.rules.max_dice)
    policy = policy_of(game, strategy)
    effort = Effort(kicks=given.kicks, seed=given.seed, jobs=given.jobs)
    found = compute(partial(search, game, policy, effort), range(max(given.counters)), given.jobs)
    pool = Pool(game, np.array([matrix for matrix, _, _ in found]), given.jobs)
    slopes = pool.slopes(policy)
    order = np.argsort(-slopes.rates, kind="stable")

    def rows() -> Iterator[list[object]]:
        for number in given.counters:
            chosen = np.sort(order[:number])
            moves = best_moves(
                Slopes(*(part[chosen] for part in slopes)),
                np.ones(policy.shape, dtype=bool),
                policy[..., 0].size,
            )
            shares = np.zeros(policy.shape)
            np.add.at(shares, (moves.own, moves.opponent, moves.rolls), moves.shares)
            moved = policy * np.maximum(0.0, 1.0 - shares.sum(axis=-1, keepdims=True)) + shares
            moved /= moved.sum(axis=-1, keepdims=True)
            there = Pool(game, pool.matrices[chosen], given.jobs).rates(moved)
            again = attack(game, moved, replace(effort, starts=4))
            rates = [slopes.rates.max(), slopes.rates[chosen].min(), moves.expected]
            yield [number, *(f"{rate:.6f}" for rate in (*rates, there.max(), again.win_rate))]

    header = ["counters", "strongest", "weakest", "to first order", "really", "attack there"]
    publish(given.out, f"first_order_{given.edition}", header, rows())


if __name__ == "__main__":
    main()
