"""How far certificates take the bound on best responses below that of full memory, by size of game.

    python experiments/certificates.py --sizes 16x4 24x5 40x6 --seconds 60

Against the average policy of discounted CFR: the attack found, the certified bound
(hogeq/response/lifted_bound.py), the full-memory bound, and what share of the distance between
attack and full memory the certificate takes off. 100x10 means the champion policy of the edition.
Seconds are the processor's. Prints a Markdown table and writes results/certificates.md.
"""

import time
from collections.abc import Iterator

from common import arguments, publish, small_game, solved

from hogeq.baselines.registry import find_strategy
from hogeq.response.lifted_bound import certify
from hogeq.response.search import SearchBudget, attack
from hogeq.strategies.policies import policy_of


def main() -> None:
    """Print and write the table."""
    given = arguments(
        __doc__,
        editions=("su20",),
        sizes=("16x4", "24x5", "40x6"),
        seconds=60.0,
        iterations=100,
        kicks=20,
    )
    header = ["edition", "goal", "dice", "attack", "certified", "full memory", "taken off"]
    rows = lines(given.editions, given.sizes, given.seconds, given.iterations, given.kicks)
    publish(given.out, "certificates", [*header, "steps", "seconds"], rows)


def lines(
    editions: list[str], sizes: list[str], seconds: float, iterations: int, kicks: int
) -> Iterator[list[object]]:
    """Measure games, a line each."""
    for edition in editions:
        for size in sizes:
            goal, dice = map(int, size.split("x"))
            game = small_game(edition, goal, dice)
            if (goal, dice) == (100, 10):
                policy = policy_of(game, find_strategy("champion:policy", game))
            else:
                policy = solved(
                    game, "dcfr", iterations, alpha=1.0, gamma=1.0, average_weight="reach"
                )
            found = attack(game, policy, SearchBudget(perturbations=kicks)).win_rate
            certify(game.rules, policy, 0.0)  # what is compiled is not counted
            began = time.process_time()
            proved = certify(game.rules, policy, seconds, time.process_time)
            spent, bound, full = time.process_time() - began, proved.bound(), proved.full_memory
            share = (full - bound) / (full - found) if full - found > 1e-9 else 0.0
            figures = [f"{rate:.6f}" for rate in (found, bound, full)]
            yield [edition, goal, dice, *figures, f"{share:.0%}", len(proved.steps), f"{spent:.0f}"]


if __name__ == "__main__":
    main()
