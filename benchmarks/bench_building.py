"""Trees built and read: OpenSpiel's games and one's own, and what a node takes.

    python benchmarks/bench_building.py NODES       memory of a tree of about so many nodes

``make bench`` times a game of OpenSpiel beside a bare walk through its states, a game of one's own
in Python, and a saved tree.
"""

import resource
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyspiel
import pytest

import hogeq
from hogeq.trees.flat import FlatTree
from hogeq.trees.rules import GameRules, from_rules
from hogeq.trees.saved import load_tree_file, save_tree

Benchmark = Any  # pytest-benchmark ships no types

GAME = "liars_dice"
NODES = 294_883
NUMBERS = ("action_numbers", "chance_numbers", "chance_probabilities")
ARRAYS = ("player", "parent", "row", "terminal_payoffs", "seat", "num_legal", *NUMBERS)


class Cards(GameRules):
    """Two players are dealt a card of six each, and choose one of four actions in turn."""

    def __init__(self, moves: int) -> None:
        self.moves = moves

    def initial(self) -> tuple[Any, ...]:
        return ()

    def to_move(self, state: tuple[Any, ...]) -> int:
        if len(state) < 2:
            return hogeq.CHANCE
        return len(state) % 2 if len(state) < 2 + self.moves else hogeq.END

    def actions(self, state: tuple[Any, ...]) -> Any:
        return range(6) if len(state) < 2 else "abcd"

    def next(self, state: tuple[Any, ...], action: Any) -> tuple[Any, ...]:
        return (*state, action)

    def knows(self, state: tuple[Any, ...], player: int) -> Any:
        return state[player], state[2:]

    def payoffs(self, state: tuple[Any, ...]) -> tuple[float, float]:
        won = float(state[0] - state[1])
        return won, -won


def walk(name: str) -> int:
    """Walk through the states of a game, and ask what a tree needs."""
    waiting, count = [pyspiel.load_game(name).new_initial_state()], 0
    while waiting:
        state = waiting.pop()
        count += 1
        if state.is_terminal():
            state.returns()
        elif state.is_chance_node():
            waiting += [state.child(move) for move, _ in state.chance_outcomes()]
        else:
            state.information_state_string()
            waiting += [state.child(move) for move in state.legal_actions()]
    return count


@pytest.mark.benchmark(group=f"the tree of {GAME}, {NODES:,} nodes")
@pytest.mark.parametrize("way", ["bare walk of OpenSpiel", "hogeq", "saved"])
def bench_openspiel(benchmark: Benchmark, way: str, tmp_path: Path) -> None:
    if way == "saved":
        hogeq.Game(GAME).write(tmp_path / "tree.npz")
    run: Callable[[], Any] = {
        "bare walk of OpenSpiel": lambda: walk(GAME),
        "hogeq": lambda: hogeq.Game(f"openspiel:{GAME}").tree,
        "saved": lambda: load_tree_file(tmp_path / "tree.npz"),
    }[way]
    found = benchmark.pedantic(run, rounds=3, warmup_rounds=1)
    assert getattr(found, "num_nodes", found) == NODES


@pytest.mark.benchmark(group="a game of one's own in Python")
def bench_own_game(benchmark: Benchmark) -> None:
    tree = benchmark.pedantic(lambda: from_rules(Cards(7)), rounds=2)
    assert tree.num_nodes == 43 + 36 * sum(4**moves for moves in range(1, 8))


def per_node(tree: FlatTree) -> dict[str, float]:
    """Bytes a node of each array."""
    return {name: getattr(tree, name).nbytes / tree.num_nodes for name in ARRAYS}


def main() -> None:
    """Print what a large tree takes while it is built, and in a file."""
    moves, nodes = 0, int(sys.argv[1])
    while 36 * 4 ** (moves + 1) * 4 / 3 < nodes:
        moves += 1
    tree = from_rules(Cards(moves))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(f"{tree}; the process took {peak / 2**20:.0f} MiB at most")
    for name, size in per_node(tree).items():
        print(f"{name:10} {size:5.2f} bytes a node")
    print(f"together   {sum(per_node(tree).values()):5.2f}")
    save_tree(tree, "build/tree.npz")
    print(f"file       {Path('build/tree.npz').stat().st_size / tree.num_nodes:5.2f}")


if __name__ == "__main__":
    main()
