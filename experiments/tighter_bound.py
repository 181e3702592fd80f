"""How far prices take the bound on best responses below that of full memory, by size of the game.

    python experiments/tighter_bound.py

Against the average policy of discounted CFR: the attack found, the bound from prices on all states
(research/priced_bound.py), the full-memory bound. At full size prices are put on the states
of the first turns alone, up to a sum of scores. Prints a Markdown table and writes
results/tighter_bound.md.
"""

from common import arguments, publish, small_game, solved
from research.priced_bound import tighter_bound
from research.process import decision_process

from hogeq.model.game import HogEngine
from hogeq.search.attack import SearchBudget, attack
from hogeq.search.bounds import full_memory_bound
from hogeq.support.clock import working_time


def main() -> None:
    """Print and write the table."""
    given = arguments(
        __doc__,
        edition="su20",
        goals=(10, 12, 14, 16, 18),
        dice=4,
        full_goal=100,
        full_dice=10,
        horizons=(8, 11, 14, 17),
        iterations=100,
    )
    rows = []
    for goal in given.goals:
        rows += lines(small_game(given.edition, goal, given.dice), given.iterations, [None])
    large = small_game(given.edition, given.full_goal, given.full_dice)
    rows += lines(large, given.iterations, given.horizons)
    header = ["goal", "dice", "prices up to", "states", "attack", "bound, prices", "bound, memory"]
    publish(given.out, "tighter_bound", [*header, "taken off", "seconds"], rows)


def lines(game: HogEngine, iterations: int, horizons: list[int | None]) -> list[list[object]]:
    """Measure one game, a line for each horizon."""
    policy = solved(game, "dcfr", iterations, alpha=1.0, gamma=1.0, average_weight="reach")
    found = attack(game, policy, SearchBudget()).win_rate
    full = full_memory_bound(game, policy)
    rows: list[list[object]] = []
    for horizon in horizons:
        began = working_time()
        process = decision_process(game, policy, horizon=horizon)
        bound = tighter_bound(process)
        seconds = working_time() - began
        upto = "the end" if horizon is None else horizon
        sizes = [game.goal, game.rules.max_dice, upto, process.size]
        figures = [f"{rate:.7f}" for rate in (found, bound, full)]
        share = (full - bound) / (full - found) if full - found > 1e-9 else 0.0
        rows.append([*sizes, *figures, f"{share:.2%}", f"{seconds:.0f}"])
    return rows


if __name__ == "__main__":
    main()
