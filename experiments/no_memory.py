"""CFR and fictitious play where nothing is hidden, against the tablebase.

    python experiments/no_memory.py

For every edition without memory, both solvers' average policies and the argmax matrices are
measured by the win rate that a best response wins beyond 1/2, exactly.  Prints a Markdown table and
writes results/no_memory.md.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

from hogeq.game import Game, compile_game
from hogeq.purify import purify
from hogeq.respond import Effort, attack, full_memory_bound
from hogeq.results import replacing
from hogeq.rules import EDITIONS
from hogeq.solvers import SOLVERS

GAMES = {
    **{name: EDITIONS[name] for name in ("hw13", "fa22", "fa15", "sp21")},
    "fa15 without Piggy Back": replace(EDITIONS["fa15"], piggy_back=False),
}
RUNS: list[tuple[str, int, dict[str, Any]]] = [
    ("dcfr", 1000, {"regret_weight": "belief"}),
    ("fictitious", 50, {"step_size": "square_root"}),
]


def row(name: str, game: Game, solver: str, iterations: int, options: dict[str, Any]) -> str:
    """Solve one game by one solver and format its line."""
    method = SOLVERS[solver](**options)
    state = method.init(game)
    for _ in range(iterations):
        state = method.step(game, state)
    policy = method.average(game, state)
    matrix = purify(game, policy)
    beyond = [
        full_memory_bound(game, policy),
        full_memory_bound(game, matrix),
        attack(game, matrix, Effort(starts=1)).win_rate,
    ]
    figures = " | ".join(f"{rate - 0.5:.1e}" for rate in beyond)
    return f"| {name} | {solver} | {iterations} | {figures} |"


def main() -> None:
    """Print and write the table."""
    lines = [
        "| edition | solver | iterations | policy, bound | matrix, bound | matrix, attack |",
        "|---|---|---|---|---|---|",
        *(row(name, compile_game(rules), *run) for name, rules in GAMES.items() for run in RUNS),
    ]
    text = "\n".join(lines) + "\n"
    out = Path("results") / "no_memory.md"
    out.parent.mkdir(exist_ok=True)
    with replacing(out) as path:
        path.write_text(text)
    print(text, end="")


if __name__ == "__main__":
    main()
