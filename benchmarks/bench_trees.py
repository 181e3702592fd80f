"""An iteration of CFR+ on game trees: OpenSpiel's and LiteEFG's C++, and ours; and our passes.

    python benchmarks/bench_trees.py
    python benchmarks/bench_trees.py --cards 10 50   # large trees, up to 8 million nodes

All do the same iterations in turn, in one thread, and come to policies of the same value. LiteEFG
(``pip install '.[bench]'``) is left out where it is not installed, and in games of imperfect
recall, which it does not take.
"""

import argparse
import contextlib
import io
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.util import find_spec
from time import process_time
from typing import Any, NamedTuple

import numpy as np
import pyspiel
from timing import OURS, Timing, in_turn, report

from hogeq.games.game import Game
from hogeq.model.protocol import Role
from hogeq.model.shared import shared_minimiser, shared_workspace
from hogeq.solvers import SOLVERS
from hogeq.support.aliases import Floats
from hogeq.trees.engine import TreeEngine
from hogeq.trees.flat import CHANCE, TERMINAL, FlatTree

GAMES = {
    "kuhn_poker": "kuhn_poker",
    "leduc_poker": "leduc_poker",
    "liars_dice": "liars_dice(numdice=1)",
    "liars_dice_ir(dice_sides=4)": "",
    "liars_dice_ir": "",
}
"""Games, and LiteEFG's name of each."""
LITE = "LiteEFG, C++"
TURN = 0.1  # seconds of a turn, about
SECONDS = 4.0  # of all turns of a game
FIRST = 20  # iterations after which values are compared
MOVES, ACTIONS = 7, 3  # of the game in which they are dealt


class Way(NamedTuple):
    """A solver of CFR+ at work."""

    name: str
    run: Callable[[int], object]  # do so many more iterations
    value: Callable[[], float]  # payoff to player 0 if both play the last policy


def ours(game: Game) -> Way:
    """Give ours."""
    engine: Any = game.engine
    solver: Any = SOLVERS["cfr_plus"]()
    states = [solver.init(engine)]

    def run(iterations: int) -> None:
        while iterations:
            states[0], done = solver.steps(engine, states[0], iterations)
            iterations -= done

    def value() -> float:
        last = game.strategy(engine.legal(solver.current(states[0])))
        return game.value(last, last).first

    return Way(OURS, run, value)


def openspiel(name: str) -> Way:
    """Give OpenSpiel's compiled solver."""
    game = pyspiel.load_game(name)
    solver = pyspiel.CFRPlusSolver(game)

    def run(iterations: int) -> None:
        for _ in range(iterations):
            solver.evaluate_and_update_policy()

    def value() -> float:
        start, last = game.new_initial_state(), solver.current_policy()
        return float(pyspiel.expected_returns(start, last, -1, True)[0])

    return Way("OpenSpiel, C++", run, value)


def lite(name: str) -> Way:
    """Give LiteEFG's: a graph of its operations, and the averages that it keeps."""
    import LiteEFG
    from LiteEFG.baselines import CFRplus

    make: Any = CFRplus.graph  # without types

    with contextlib.redirect_stdout(io.StringIO()):
        LiteEFG.set_threads(1)
        game = LiteEFG.OpenSpielEnv(pyspiel.load_game(name), regenerate=False)
        graph = make()
        game.set_graph(graph)

    def run(iterations: int) -> None:
        for _ in range(iterations):
            graph.update_graph(game)
            game.update_strategy(graph.current_strategy())

    def value() -> float:
        return float(game.utility(graph.current_strategy(), "last-iterate")[0])

    return Way(LITE, run, value)


def ways(name: str) -> list[Way]:
    """List the solvers that take a game, ours last."""
    known = [openspiel(name)]
    if GAMES[name] and find_spec("LiteEFG"):
        known.append(lite(GAMES[name]))
    return [*known, ours(Game(name))]


def turn(way: Way) -> tuple[Callable[[], object], int]:
    """Give a call of some iterations that takes about a turn, and how many they are."""
    number = 1
    while True:
        begun = process_time()
        way.run(number)
        spent = process_time() - begun
        if spent > TURN / 4.0:
            break
        number *= 2
    count = max(1, round(number * TURN / spent))
    return (lambda: way.run(count)), count


def floor(game: Game) -> float:
    """Seconds that the arrays of an iteration take from memory, at the speed of a plain copy.

    Ends and meetings are read once a player; tables of regrets and of the average are read and
    written; every sequence's weight and worth likewise.
    """
    engine: Any = game.engine
    tree = engine.sequences
    read = 2 * sum(one.nbytes for one in (tree.terminal_payoff, tree.terminal_other_sequence))
    meetings = tree.meeting_chance, tree.meeting_other_sequence
    read += sum(one.nbytes for one in (*meetings, tree.parent_sequence, tree.first_sequence))
    tables = 6 * 8 * int(np.prod(engine.shape))
    sequences = 6 * 8 * int(tree.root_sequences[2])
    source = np.ones(2**24)
    target = np.zeros_like(source)
    _, _, (copy,) = in_turn([lambda: np.copyto(target, source)], 0.5)
    return (read + tables + sequences) * copy / (2 * source.nbytes)


def passes(name: str) -> Iterator[Timing]:
    """Time a pass, and sweeps of an attack against one opponent and against eight."""
    engine = Game(name).engine
    policies = np.random.default_rng(0).dirichlet(np.ones(engine.num_actions), (9, engine.shape[0]))
    work, mixture = engine.workspace(2), engine.workspace(9)

    def swept(passes: Any, players: int) -> float:
        now = policies[:players].copy()
        return float(passes.backward(passes.forward(now), now, Role.ASCEND).win_rate)

    def values() -> float:
        met = work.backward(work.forward(policies[:2]), policies[:2], Role.COUNTERFACTUAL)
        return met.win_rate

    runs = (values, lambda: swept(work, 2), lambda: swept(mixture, 9))
    found, _, seconds = in_turn(runs, 2.0)
    assert abs(found[0] - work.win_rate(policies[:2]).win_rate) < 1e-12
    names = "pass: reach and values", "sweep of ascent", "sweep against eight opponents"
    for what, taken in zip(names, seconds, strict=True):
        yield Timing(f"{name}: passes", what, taken)


def dealt(cards: int) -> FlatTree:
    """Lay out a game: each player sees a card of so many, then they move in turn, and see all."""
    widths = [1, *(cards**2 * ACTIONS**move for move in range(MOVES + 1))]
    ends = np.cumsum(widths)
    parent = [np.array([-1])]
    for number, (width, end) in enumerate(zip(widths[1:], ends, strict=False)):
        parent.append(end - widths[number] + np.arange(width) // (width // widths[number]))
    player, row = [np.array([CHANCE])], [np.array([-1])]
    sets = [[cards * ACTIONS**move for move in range(first, MOVES, 2)] for first in (0, 1)]
    begin = [0, sum(sets[0])]
    for move in range(MOVES):
        deal, past = np.divmod(np.arange(widths[move + 1]), ACTIONS**move)
        card = (deal // cards, deal % cards)[move % 2]
        row.append(begin[move % 2] + card * ACTIONS**move + past)
        begin[move % 2] += cards * ACTIONS**move
        player.append(np.full(widths[move + 1], move % 2))
    row.append(np.full(widths[-1], -1))
    player.append(np.full(widths[-1], TERMINAL))
    seat = np.repeat([0, 1], [sum(one) for one in sets])
    return FlatTree(
        name=f"{cards} cards",
        player=np.concatenate(player).astype(np.int8),
        parent=np.concatenate(parent).astype(np.int32),
        row=np.concatenate(row).astype(np.int32),
        terminal_payoffs=np.random.default_rng(cards).uniform(-1.0, 1.0, widths[-1]),
        seat=seat.astype(np.int8),
        num_legal=np.full(len(seat), ACTIONS),
        action_numbers=np.tile(np.arange(ACTIONS, dtype=np.int32), len(seat)),
        chance_numbers=np.arange(cards**2, dtype=np.int32),
        chance_probabilities=np.full(cards**2, 1.0 / cards**2),
        names=range(len(seat)),
        describe=lambda moves: [*map(str, moves)],
    )


def sizes(cards: Sequence[int]) -> Iterator[Timing]:
    """Time a pass and an iteration of CFR+ over large trees."""
    for number in cards:
        tree = dealt(number)
        engine = TreeEngine(tree)
        rows = np.random.default_rng(0).dirichlet(np.ones(ACTIONS), (2, tree.num_rows))

        def values(engine: TreeEngine, rows: Floats = rows) -> float:
            work = shared_workspace(engine, 2)
            met = work.backward(work.forward(rows), rows, Role.COUNTERFACTUAL)
            return float(met.win_rate + met.values.sum())

        def learnt(engine: TreeEngine, tree: FlatTree = tree) -> float:
            tables = np.zeros((2, tree.num_rows, ACTIONS))
            factors = np.ones((10, 3))
            loops = shared_minimiser(engine)
            assert loops is not None
            loops.run(tables[0], None, tables[1], factors, alternating=True, plus=True, epsilon=0.0)
            return float(tables.sum())

        for what, call, count in (("pass", values, 1), ("iteration of CFR+", learnt, 10)):
            _, _, (seconds,) = in_turn([partial(call, engine)], 10.0)
            yield Timing(f"{tree.num_nodes:,} nodes: {what}", OURS, seconds / count)


def timings() -> Iterator[Timing]:
    """Time all games."""
    for name in GAMES:
        known = ways(name)
        for way in known:
            way.run(FIRST)
        values = [way.value() for way in known]
        assert max(values) - min(values) < 1e-9, (name, values)
        runs, counts = zip(*map(turn, known), strict=True)
        _, _, seconds = in_turn(runs, SECONDS)
        for way, taken, count in zip(known, seconds, counts, strict=True):
            yield Timing(f"{name}: iteration of CFR+", way.name, taken / count)
        yield Timing(f"{name}: iteration of CFR+", "floor by bytes", floor(Game(name)))
        yield from passes(name)


if __name__ == "__main__":
    asked = argparse.ArgumentParser()
    asked.add_argument("--cards", type=int, nargs="+")
    cards = asked.parse_args().cards
    if cards:
        report("large-trees", list(sizes(cards)))
    else:
        report("trees", list(timings()))
