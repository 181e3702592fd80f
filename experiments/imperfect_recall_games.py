"""A dozen games of imperfect recall: what they forget, what they are worth, what OpenSpiel says.

    python experiments/imperfect_recall_games.py
    python experiments/imperfect_recall_games.py --only kuhn wichardt --seconds 5

For every game: nodes, information sets and recall of both players; NashConv of the policy that CFR+
learns, by OpenSpiel and by an integer program; and three intervals of payoffs to player 0, each
what player 0 is proved to secure and player 1 to allow: in mixtures, also by what the benchmark
ships, by the best policies of CFR+, and by the best pure strategies found. Prints a Markdown table
and writes results/imperfect_recall_games.md, and the course of CFR on die-roll poker and liar's
dice to results/imperfect_recall_curves.md and .png.
"""

import json
import time
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyspiel
from common import arguments, draw, publish

import hogeq
import hogeq.trees.openspiel
from hogeq.solvers import SOLVERS
from hogeq.solvers.dags import solve_tree
from hogeq.support.aliases import Floats
from hogeq.trees.best_response import best_response
from hogeq.trees.building import Node, flatten
from hogeq.trees.engine import TreeEngine
from hogeq.trees.flat import CHANCE, TERMINAL, FlatTree
from hogeq.trees.openspiel import from_openspiel
from hogeq.trees.recall import Recall
from hogeq.trees.responses import respond_in_both_seats
from hogeq.trees.sequences import sequence_form
from hogeq.trees.tree import flat_efg

# Player 0 picks a side twice and forgets the first pick. Who picks it again plays matching pennies,
# who does not loses 5 (P. C. Wichardt, "Existence of Nash equilibria in finite extensive form games
# with imperfect recall: a counterexample", Games and Economic Behavior 63, 2008).
WICHARDT: Final = {"RRB": 1.0, "RRT": -1.0, "LLB": -1.0, "LLT": 1.0}

FORGETFUL: Final[dict[tuple[int, ...], float]] = {(0, 0, 0): 4.0, (1, 0, 1): 6.0}

SHIPPED: Final = {
    "leduc_poker, own_actions": "leduc_poker-own_actions-game",
    "leduc_poker, last:1": "leduc_poker-last_1-game",
    "dark_hex_ir 3x2": "dark_hex_ir-3x2-game",
    "fa13 to 5, 1 die": "hog_fa13-5x1-game",
    "liars_dice_ir(4)": "liars_dice_ir-4-game",
    "liars_dice_ir(6)": "liars_dice_ir-6-game",
}
"""Games of the benchmark."""

WEIGHTS: Final = ("reach", "counterfactual", "belief")
"""Of the three CFR+ from which policies are taken."""


def main() -> None:
    """Print and write the table and the curves."""
    given = arguments(__doc__, only=("",), seconds=60.0, iterations=400)
    header = [
        *("game", "nodes", "information sets", "perfect recall", "A-loss", "well-formed"),
        *("NashConv of CFR+: OpenSpiel", "proved", "in mixtures", "by CFR+", "by pure"),
        "seconds",
    ]
    chosen = {name: make for name, make in GAMES.items() if any(one in name for one in given.only)}
    rows = (line(name, make(), given) for name, make in chosen.items())
    publish(given.out, "imperfect_recall_games", header, rows)
    curves(given)


def line(name: str, tree: FlatTree, given: Namespace) -> list[object]:
    """Give all figures of a game."""
    began = time.process_time()
    audits = [Recall(tree, player).audit().findings for player in (0, 1)]
    recalls = [
        "/".join({True: "yes", False: "no", None: "?"}[found[what].holds] for found in audits)
        for what in ("perfect recall", "A-loss recall", "well-formed")
    ]
    sets = "+".join(str(int((tree.seat == player).sum())) for player in (0, 1))
    policies = [
        policy
        for weight in WEIGHTS
        for policy in learnt(TreeEngine(tree), weight, given.iterations)
    ]
    plain = policies[2]  # CFR+ as it is known: counterfactual weights, averaged
    proved = respond_in_both_seats(tree, plain, given.seconds / 4)
    solved = solve_tree(tree, given.seconds)
    known = shipped(given.out, name)
    pure = [np.eye(tree.num_actions)[policy.argmax(axis=1)] for policy in policies]
    pure += [*solved.strategies[0].policies, *solved.strategies[1].policies]
    pure = [one for one in pure if (one.max(axis=1) == 1.0).all()]
    best, best_pure = (
        secured(tree, strategies, given.seconds / 4)
        for strategies in ([*policies, *pure[:24]], pure[:24])
    )
    return [
        *(name, f"{tree.num_nodes:,}", sets, *recalls),
        *(
            number(openspiel_nash_conv(tree, plain)),
            interval(2.0 * proved.value, 2.0 * proved.bound),
        ),
        # A policy is a mixture too, so its bounds hold for both.
        interval(max(solved.lower, best[0], known[0]), min(solved.upper, best[1], known[1])),
        *(interval(*best), interval(*best_pure)),
        round(time.process_time() - began),
    ]


def shipped(out: Path, name: str) -> tuple[float, float]:
    """Give the ends in mixtures that the benchmark's checker proves, if it has the game."""
    path = out / "benchmark" / "known.json"
    if name not in SHIPPED or not path.exists():
        return -np.inf, np.inf
    known = json.loads(path.read_text(encoding="utf-8"))["instances"][SHIPPED[name]]
    return known["lower"], known["upper"]


def learnt(engine: TreeEngine, weight: str, iterations: int) -> list[Floats]:
    """Policies of CFR+: the average, and the last."""
    solver: Any = SOLVERS["cfr_plus"](regret_weight=weight, alternating=False)
    state = solver.init(engine)
    for _ in range(iterations if engine.tree.num_nodes < 2e5 else iterations // 8):
        state = solver.step(engine, state)
    return [engine.legal(solver.average(engine, state)), engine.legal(solver.current(state))]


def secured(tree: FlatTree, strategies: list[Floats], seconds: float) -> tuple[float, float]:
    """Payoff to player 0 that the best of strategies are proved to secure and to allow."""
    ends = []
    for player in (1, 0):  # the responder
        form = sequence_form(tree, player)
        payoffs = [form.payoffs_against(one) for one in strategies]
        # Those that a responder with full memory exploits least, first.
        order = np.argsort([form.perfect_recall_values(one)[0][0] for one in payoffs])[:6]
        ends.append(min(best_response(form, payoffs[one], seconds / 12).bound for one in order))
    return -ends[0] * tree.largest_payoff, ends[1] * tree.largest_payoff


def openspiel_nash_conv(tree: FlatTree, policy: Floats) -> float:
    """Sum of what OpenSpiel's best responses win, the game being read from a file of Gambit's."""
    game = pyspiel.load_efg_game(flat_efg(tree))
    read = from_openspiel(game)  # nodes of both trees have one order
    table: dict[str, list[tuple[int, float]]] = {}
    for node in np.flatnonzero(read.mover >= 0):
        before = read.parent[node]
        played = float(policy[tree.row[before], tree.action[node]])
        known = table.setdefault(read.names[read.row[before]], [])
        if len(known) < tree.num_legal[tree.row[before]]:
            known.append((int(read.incoming_number[node]), played))
    root = game.new_initial_state()
    return sum(
        float(pyspiel.TabularBestResponse(game, player, table).value_from_state(root))
        for player in (0, 1)
    )


def number(value: float) -> str:
    """Write a payoff."""
    return f"{value:.4f}".replace("-0.0000", "0.0000")


def interval(low: float, high: float) -> str:
    """Both ends, or one number where they agree."""
    return number(low) if high - low < 5e-5 else f"{number(low)} to {number(high)}"


def wichardt() -> FlatTree:
    """Wichardt's game without an equilibrium in policies."""

    def look(moves: str) -> Node:
        if len(moves) == 3:
            payoff = WICHARDT.get(moves, -5.0)
            return Node(TERMINAL, payoffs=(payoff, -payoff))
        known = ("first", "second", "reply")[len(moves)]
        letters = "BT" if known == "reply" else "RL"
        after = [(place, 1.0, moves + letter) for place, letter in enumerate(letters)]
        return Node(int(known == "reply"), known, moves=after)

    return flatten("wichardt2008", "", look, words)


def words(moves: Sequence[int]) -> list[str]:
    """Write moves by their numbers."""
    return [f"move: {move}" for move in moves]


def forgetful() -> FlatTree:
    """Make the game of docs/how-to/any-game.md."""

    def look(moves: tuple[int, ...]) -> Node:
        if not moves:
            return Node(CHANCE, moves=[(card, 0.5, (card,)) for card in (0, 1)])
        if moves[1:] == (1,) or len(moves) == 3:
            pay = 1.0 if moves[1] else FORGETFUL.get(moves, 0.0)
            return Node(TERMINAL, payoffs=(pay, -pay))
        known = "later" if len(moves) == 2 else f"card {moves[0]}"
        return Node(0, known, moves=[(move, 1.0, (*moves, move)) for move in (0, 1)])

    return flatten("forgetful", (), look, words)


def hog(edition: str, goal: int, max_dice: int) -> FlatTree:
    """Make an edition to a small goal, with few dice."""
    return from_openspiel(f"python_hog(edition={edition},goal={goal},max_dice={max_dice})")


GAMES: Final[dict[str, Callable[[], FlatTree]]] = {
    "forgetful": forgetful,
    "wichardt2008": wichardt,
    "kuhn_poker, own_actions": partial(from_openspiel, "kuhn_poker", forget="own_actions"),
    "kuhn_poker, last:1": partial(from_openspiel, "kuhn_poker", forget="last:1"),
    "leduc_poker, own_actions": partial(from_openspiel, "leduc_poker", forget="own_actions"),
    "leduc_poker, last:1": partial(from_openspiel, "leduc_poker", forget="last:1"),
    "dark_hex_ir 2x2": partial(from_openspiel, "dark_hex_ir(board_size=2)"),
    "su20 to 4, 2 dice": partial(hog, "su20", 4, 2),
    "su20 to 5, 1 die": partial(hog, "su20", 5, 1),
    "fa13 to 4, 1 die": partial(hog, "fa13", 4, 1),
    "fa13 to 5, 1 die": partial(hog, "fa13", 5, 1),
    "liars_dice_ir(4)": partial(from_openspiel, "liars_dice_ir(dice_sides=4)"),
    "die_roll_poker": lambda: hogeq.Game("die_roll_poker").tree,
    "die_roll_poker_ir": lambda: hogeq.Game("die_roll_poker(forgets=true)").tree,
    "dark_hex_ir 3x2": partial(from_openspiel, "dark_hex_ir(num_cols=3,num_rows=2)"),
    "liars_dice_ir(6)": partial(from_openspiel, "liars_dice_ir"),
}


def curves(given: Namespace) -> None:
    """Write the course of CFR: NashConv of the average with full memory, and as attacked."""
    points: dict[str, list[tuple[float, float]]] = {}
    publish(
        given.out,
        "imperfect_recall_curves",
        ["game", "iterations", "attack", "full memory"],
        course(given, points),
    )
    if points:
        panels = {"iterations of CFR": points}
        draw(given.out, "imperfect_recall_curves", panels, "NashConv of the average")


def course(
    given: Namespace, points: dict[str, list[tuple[float, float]]]
) -> Iterator[list[object]]:
    """Measure CFR at powers of two."""
    for name in ("die_roll_poker", "die_roll_poker_ir", "liars_dice_ir(4)"):
        if not any(one in name for one in given.only):
            continue
        engine = TreeEngine(GAMES[name]())
        solver: Any = SOLVERS["cfr"](alternating=False)
        state = solver.init(engine)
        for iteration in range(1, given.iterations + 1):
            state = solver.step(engine, state)
            if iteration & (iteration - 1) == 0:
                found = respond_in_both_seats(
                    engine.tree, engine.legal(solver.average(engine, state)), 0.0
                )
                points.setdefault(name, []).append((iteration, 2.0 * found.value))
                yield [name, iteration, number(2 * found.value), number(2 * found.full_memory)]


if __name__ == "__main__":
    main()
