"""How the cost of one iteration of CFR grows with the goal: OpenSpiel's compiled solver and ours.

Same game, same algorithm (CFR, alternating updates, own reach left out of the regrets), same
iterate: regrets after the first iteration are compared, to 1e-12. OpenSpiel walks the tree of
histories, ours the hidden states. OpenSpiel gets the game as registered, whose states are Python
objects, and once more as a tree of its own (``efg_game``), which costs no Python at all.

``python benchmarks/bench_growth.py`` measures goals from 3 until OpenSpiel needs 30 seconds for an
iteration on the registered game and cannot hold the tree either, then ours alone up to 100, and
writes ``growth.json`` and ``growth.png`` to ``results/``. It takes some ten minutes; seconds are of
processor time, since both solvers have one thread. ``make bench`` times two goals of it.
"""

import argparse
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyspiel
import pytest
from timing import context

from hogeq.figures.style import number_log_axis
from hogeq.model.game import HogEngine, compile_game
from hogeq.rules import EDITIONS, Rules
from hogeq.solvers import SOLVERS
from hogeq.support.aliases import Floats
from hogeq.support.files import replacing
from hogeq.trees.openspiel.game import game_of
from hogeq.trees.tree import HogRules, count_nodes, efg_lines

LIMIT = 30.0
"""Seconds of an iteration at which OpenSpiel is not asked further."""

ALONE = (10, 15, 20, 30, 50, 70, 100)
"""Goals at which ours is measured alone."""

MOST = 3_000_000
"""Nodes of the largest tree that OpenSpiel is asked to hold as its own: some 6 GB."""

NODES_COUNTED = 20_000_000
"""Nodes beyond which a tree is not counted on."""

ROUNDS = 5
"""Iterations of ours of which the median counts."""


class Point(NamedTuple):
    """Seconds at one goal; None where it was not measured."""

    goal: int
    max_dice: int
    nodes: int | None
    """Of the tree; None where they were not counted."""
    hidden_states: int
    """Scores times memories."""
    registered: float | None
    """First iteration of OpenSpiel's solver, on the registered game."""
    registered_later: float | None
    """The second one, in which OpenSpiel leaves out what neither player reaches any more."""
    native: float | None
    """First iteration of OpenSpiel's solver, on the tree loaded from a file."""
    ours: float
    """Median iteration of ours."""


def rules_to(goal: int, max_dice: int) -> Rules:
    return replace(EDITIONS["su20"], goal=goal, max_dice=max_dice)


def ours(game: HogEngine) -> Callable[[], Any]:
    """One iteration of ours after another; each call gives the state."""
    solver = SOLVERS["cfr"](alternating=True, regret_weight="counterfactual")
    state = solver.init(game)

    def iterate() -> Any:
        nonlocal state
        state = solver.step(game, state)
        return state

    return iterate


def timed(run: Callable[[], Any]) -> float:
    begin = time.process_time()
    run()
    return time.process_time() - begin


def registered(rules: Rules) -> Any:
    """OpenSpiel's solver on the registered game."""
    return pyspiel.CFRSolver(game_of(rules))


def native(rules: Rules) -> Any:
    """OpenSpiel's solver on the same tree, held by OpenSpiel itself."""
    text = "".join(efg_lines(HogRules(rules), "Hog"))
    return pyspiel.CFRSolver(pyspiel.load_efg_game(text))


def regrets_of(rules: Rules, state: str) -> Floats:
    """Read regrets out of the text of a solver's state, a table for each player."""
    regrets = np.zeros((2, rules.size, rules.size, rules.num_actions))
    cells = iter(state.partition("[SolverValuesTable]")[2].strip().split("<~>"))
    # Information state and its values take turns; a table that is still empty is one empty text.
    for key, values in zip(cells, cells, strict=False):
        player, _, scores = key.removeprefix("player ").partition(": ")
        numbers = values.split(";")[1].split(",")
        regrets[(int(player), *map(int, scores.split("-")))] = [*map(float.fromhex, numbers)]
    return regrets


def check(rules: Rules, solver: Any, state: Any) -> None:
    """Compare regrets after the first iteration; OpenSpiel's utilities span 2, ours 1."""
    theirs = regrets_of(rules, solver.__getstate__()) / 2.0
    np.testing.assert_allclose(state.regrets, theirs, rtol=0.0, atol=1e-12)
    assert np.abs(theirs).max() > 1e-6


def measure(goal: int, max_dice: int, walk: bool, hold: bool) -> Point:
    """Time one goal: ours, and OpenSpiel's if it is to walk or to hold the tree."""
    rules = rules_to(goal, max_dice)
    game = compile_game(rules)
    iterate = ours(game)
    first = iterate()
    on_registered, later, on_native = None, None, None
    if walk:
        solver = registered(rules)
        on_registered = timed(solver.evaluate_and_update_policy)
        check(rules, solver, first)
        later = timed(solver.evaluate_and_update_policy)
    if hold:
        on_native = timed(native(rules).evaluate_and_update_policy)
    nodes = count_nodes(HogRules(rules), most=NODES_COUNTED).nodes if walk or hold else None
    median = float(np.median([timed(iterate) for _ in range(ROUNDS)]))
    states = game.goal**2 * game.memory_size
    return Point(goal, max_dice, nodes, states, on_registered, later, on_native, median)


def grow(max_dice: int, limit: float, say: Callable[[str], None]) -> list[Point]:
    """Measure goals from 3 until OpenSpiel needs longer than the limit, then ours alone."""
    points: list[Point] = []
    goal, seconds_a_node = 3, 0.0
    while True:
        sizes = count_nodes(HogRules(rules_to(goal, max_dice)), most=NODES_COUNTED)
        # Seconds grow with the nodes: do not begin what would take far longer than the limit.
        done = any((point.registered or 0.0) > limit for point in points)
        walk = sizes.exact and not done and sizes.nodes * seconds_a_node < 4 * limit
        hold = sizes.exact and sizes.nodes <= MOST
        if not walk and not hold:
            break
        points.append(measure(goal, max_dice, walk, hold))
        say(str(points[-1]))
        seconds_a_node = (points[-1].registered or 0.0) / sizes.nodes
        goal += 1
    for alone in (goal, *(alone for alone in ALONE if alone > goal)):
        points.append(measure(alone, max_dice, walk=False, hold=False))
        say(str(points[-1]))
    return points


def written(seconds: float) -> str:
    """Two digits, in seconds or milliseconds."""
    return f"{seconds:.2g} s" if seconds >= 0.1 else f"{1000 * seconds:.2g} ms"


def draw(series: dict[int, list[Point]], path: Path) -> None:
    """Seconds of an iteration against the goal, both axes logarithmic."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.2, 3.4), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    colours = {"registered": "#D55E00", "native": "#CC79A7", "ours": "#0072B2"}
    names = {
        "registered": "OpenSpiel, registered game",
        "native": "OpenSpiel, tree of its own",
        "ours": "hogeq",
    }
    markers = dict(zip(sorted(series), "o^sD", strict=False))
    for max_dice, points in series.items():
        for what, colour in colours.items():
            known = [(p.goal, getattr(p, what)) for p in points if getattr(p, what) is not None]
            axes.plot(
                *zip(*known, strict=True),
                color=colour,
                marker=markers[max_dice],
                markersize=3.5,
                linewidth=1.2,
                label=names[what] + (f", up to {max_dice} dice" if len(series) > 1 else ""),
            )
            is_theirs = what != "ours"  # where there is room beside
            axes.annotate(
                written(known[-1][1]),
                known[-1],
                (6, 0) if is_theirs else (3, 8),
                textcoords="offset points",
                color=colour,
                fontsize=8,
                ha="left" if is_theirs else "right",
                va="center",
            )
    axes.set_xscale("log")
    axes.set_yscale("log")
    goals = (3, 4, 5, 7, 10, 20, 50, 100)
    axes.set_xticks(goals, [str(goal) for goal in goals])
    seconds = [point.ours for points in series.values() for point in points]
    number_log_axis(axes.yaxis, np.array([*seconds, 10.0]), 3.0)
    axes.minorticks_off()
    axes.set_xlabel("goal (points)")
    axes.set_ylabel("processor seconds of an iteration of CFR", fontsize=9)
    dice = f" with up to {next(iter(series))} dice" if len(series) == 1 else ""
    axes.set_title(f"su20{dice}: the same iterate, the same machine", fontsize=9)
    axes.grid(alpha=0.25, linewidth=0.5)
    axes.legend(fontsize=7)
    with replacing(path) as temporary:
        figure.savefig(temporary, format="png", dpi=200, metadata={"Software": None})


# --- make bench -----------------------------------------------------------------------------------

Benchmark = Any  # pytest-benchmark ships no types
GROUP = "CFR, su20 with 2 dice, goal {}, first iteration"


@pytest.mark.parametrize("goal", [3, 4])
def bench_openspiel_registered(benchmark: Benchmark, goal: int) -> None:
    benchmark.group = GROUP.format(goal)
    rules = rules_to(goal, 2)
    solvers: list[Any] = []

    def fresh() -> tuple[tuple[Any], dict[str, Any]]:
        solvers.append(registered(rules))
        return (solvers[-1],), {}

    benchmark.pedantic(lambda solver: solver.evaluate_and_update_policy(), setup=fresh, rounds=3)
    check(rules, solvers[-1], ours(compile_game(rules))())


@pytest.mark.parametrize("goal", [3, 4])
def bench_openspiel_native(benchmark: Benchmark, goal: int) -> None:
    benchmark.group = GROUP.format(goal)
    rules = rules_to(goal, 2)
    solvers: list[Any] = []

    def fresh() -> tuple[tuple[Any], dict[str, Any]]:
        solvers.append(native(rules))
        return (solvers[-1],), {}

    benchmark.pedantic(lambda solver: solver.evaluate_and_update_policy(), setup=fresh, rounds=3)
    known = registered(rules)
    known.evaluate_and_update_policy()
    regrets = [regrets_by_name(solver) for solver in (solvers[-1], known)]
    assert regrets[0] == pytest.approx(regrets[1], abs=1e-12)


def regrets_by_name(solver: Any) -> list[float]:
    """All regrets of a solver, in ascending order: its information sets have names of their own."""
    cells = solver.__getstate__().partition("[SolverValuesTable]")[2].strip().split("<~>")[1::2]
    texts = (number for cell in cells for number in cell.split(";")[1].split(","))
    return sorted(float.fromhex(text) for text in texts)


@pytest.mark.parametrize("goal", [3, 4, 100])
def bench_ours(benchmark: Benchmark, goal: int) -> None:
    benchmark.group = GROUP.format(goal)
    iterate = ours(compile_game(rules_to(goal, 2)))
    state = benchmark.pedantic(iterate, rounds=5, warmup_rounds=1)
    assert int(state.iteration) == 6


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--dice", type=int, nargs="+", default=[2, 10], metavar="N")
    parser.add_argument("--limit", type=float, default=LIMIT, metavar="SECONDS")
    parser.add_argument("--out", type=Path, default=Path("results"), metavar="DIR")
    options = parser.parse_args(argv)
    options.out.mkdir(parents=True, exist_ok=True)
    series = {dice: grow(dice, options.limit, print) for dice in options.dice}
    data = {
        "what": "seconds of one iteration of CFR, su20",
        "limit_seconds": options.limit,
        "context": context(),
        "points": [point._asdict() for points in series.values() for point in points],
    }
    with replacing(options.out / "growth.json") as temporary:
        temporary.write_text(json.dumps(data, indent=1) + "\n")
    draw(series, options.out / "growth.png")


if __name__ == "__main__":
    main()
