"""The table of editions: memory, mover's value, first roll, cost of ignoring the memory.

    python experiments/editions.py

prints it as Markdown and writes results/editions.md.
"""

from dataclasses import replace

from common import arguments, publish

from hogeq.baselines.registry import builtin
from hogeq.evaluation.tablebase import solve
from hogeq.model.game import Game, compile_game
from hogeq.response.bounds import best_response_interval
from hogeq.response.search import SearchBudget
from hogeq.rules import EDITIONS, Rules
from hogeq.support.workers import workers

EFFORT = SearchBudget(starts=4)
VARIANTS = {
    "fa15 without Piggy Back": replace(EDITIONS["fa15"], piggy_back=False),
    "su21 without Time Trot, six-sided extra turns": replace(
        EDITIONS["su21"], time_trot=False, extra_turn_sides=6
    ),
}


def row(name: str, rules: Rules) -> list[object]:
    """Format one edition's line."""
    game = compile_game(rules)
    best = solve(game)
    interval = best_response_interval(game, builtin("ignore_memory", game), EFFORT)
    exploited = f"{interval.lower:.4f} to {interval.upper:.4f}" if game.has_memory else "0.5000"
    return [name, memory(game), f"{best.value:.10f}", best.first_roll, exploited]


def memory(game: Game) -> str:
    """Say how much is hidden."""
    return f"{game.memory_size} states" if game.has_memory else "none"


def main() -> None:
    """Print and write the table."""
    given = arguments(__doc__)
    games = {**EDITIONS, **VARIANTS}
    header = [
        "edition",
        "hidden memory",
        "mover's value",
        "first roll",
        "best response to ignore_memory",
    ]
    with workers():
        publish(given.out, "editions", header, (row(name, rules) for name, rules in games.items()))


if __name__ == "__main__":
    main()
