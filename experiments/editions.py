"""The table of editions: memory, value of moving first, and win rates of best responses.

    python experiments/editions.py

prints it as Markdown and writes results/editions.md. It also writes results/edition_rules.md,
the rules of each edition as `hogeq rules` prints them.
"""

from dataclasses import replace
from pathlib import Path

from common import arguments, publish
from typer.testing import CliRunner

from hogeq.baselines.registry import builtin
from hogeq.cli import app
from hogeq.evaluation.tablebase import solve
from hogeq.model.game import HogEngine, compile_game
from hogeq.rules import EDITIONS, Rules
from hogeq.search.bounds import respond_in_hog
from hogeq.search.results import Budget
from hogeq.support.files import replacing
from hogeq.support.workers import workers

EFFORT = Budget(starts=4, kicks=0)
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
    advantage = f"{100 * (best.value - 0.5):+.2f}"
    exploited = [best_response(game, strategy) for strategy in ("always_roll:6", "ignore_memory")]
    return [name, memory(game), f"{best.value:.10f}", best.first_roll, advantage, *exploited]


def best_response(game: HogEngine, strategy: str) -> str:
    """Say what a best response to a strategy wins."""
    response = respond_in_hog(game, builtin(strategy, game), EFFORT)
    if game.has_memory:
        return f"{response.value:.4f} to {response.bound:.4f}"
    return f"{response.bound:.4f}"


def memory(game: HogEngine) -> str:
    """Say how much is hidden."""
    return f"{game.memory_size} states" if game.has_memory else "none"


def write_rules(out: Path) -> None:
    """Write the rules of each edition, with a heading, as Markdown."""
    sections = []
    for name in EDITIONS:
        printed = CliRunner().invoke(app, ["rules", name]).stdout
        sections.append(f"### {name}\n\n```console\n$ hogeq rules {name}\n{printed}```\n")
    out.mkdir(parents=True, exist_ok=True)
    with replacing(out / "edition_rules.md") as path:
        path.write_text("\n".join(sections), encoding="utf-8")


def main() -> None:
    """Print and write the table, and write the rules."""
    given = arguments(__doc__)
    write_rules(given.out)
    games = {**EDITIONS, **VARIANTS}
    header = [
        "edition",
        "hidden memory",
        "mover's value",
        "first roll",
        "advantage",
        "best response to always 6",
        "best response to `ignore_memory`",
    ]
    with workers():
        publish(given.out, "editions", header, (row(name, rules) for name, rules in games.items()))


if __name__ == "__main__":
    main()
