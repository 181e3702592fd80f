"""Every engine, on small games."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from hogeq.graph.hog import of_hog
from hogeq.model.cell_passes import CellPasses
from hogeq.model.game import HogEngine, compile_game
from hogeq.model.graph_engine import GraphEngine
from hogeq.model.graph_layout import GraphLayout
from hogeq.model.memory_passes import MemoryDuel, MemoryPasses
from hogeq.model.protocol import Engine, MatrixPasses, Precision
from hogeq.model.workspace import Layout
from hogeq.rules import rules_from
from hogeq.support.aliases import Floats
from hogeq.trees.graphs import of_tree
from tests import toys
from tests.toy_engine import TwoNumbers


class InCells(HogEngine):
    """Hog, a vector holding cells of one diagonal."""

    def layout(self, players: int, dtype: DTypeLike = np.float64, opponents: int = 1) -> Layout:
        return CellPasses(self.tables, players, dtype, opponents)

    def duels(self) -> MatrixPasses:
        return CellPasses(self.tables, 2)

    def quick_dtype(self, opponents: int = 1) -> Precision:  # noqa: ARG002
        return np.float32


class InMemories(InCells):
    """Hog, a vector holding the memories of a cell."""

    def layout(self, players: int, dtype: DTypeLike = np.float64, opponents: int = 1) -> Layout:
        return MemoryPasses(self.tables, players, dtype, opponents)

    def duels(self) -> MatrixPasses:
        return MemoryDuel(self.tables)


def hog(kind: type[HogEngine], edition: str, goal: int, **changes: Any) -> HogEngine:
    """Compile a game for a layout."""
    game = compile_game(rules_from({"edition": edition, "goal": goal, **changes}))
    if kind is HogEngine:
        assert isinstance(game.layout(2), GraphLayout)
        return game
    return kind(game.rules, game.tables, game.memories)


def graph_of(edition: str, goal: int, **changes: Any) -> GraphEngine:
    """Compile a game of Hog to a graph, and that to the reference engine."""
    return GraphEngine(of_hog(rules_from({"edition": edition, "goal": goal, **changes})))


ENGINES: dict[str, Callable[[], Any]] = {
    "graph layout": lambda: hog(HogEngine, "su20", 6, max_dice=2),
    "positions recur": lambda: hog(HogEngine, "fa15", 8, max_dice=2, piggy_back=False),
    "cells": lambda: hog(InCells, "su21", 6, max_dice=3),
    "memories": lambda: hog(InMemories, "su20", 5),
    "tree": toys.kuhn,
    "tree of imperfect recall": toys.bits,
    "graph of Hog": lambda: graph_of("su20", 5, max_dice=2),
    "graph that recurs": lambda: graph_of("fa15", 6, max_dice=2, piggy_back=False),
    "graph of a tree": lambda: GraphEngine(of_tree(toys.kuhn().tree)),
    "graph of imperfect recall": lambda: GraphEngine(of_tree(toys.bits().tree)),
    "numpy": TwoNumbers,
}


@cache
def engine_of(name: str) -> Any:
    return ENGINES[name]()


def drawn(game: Engine, number: int, seed: int = 0) -> Floats:
    """Draw policies."""
    random = np.random.default_rng(seed)
    return random.dirichlet(np.ones(game.num_actions), (number, *game.shape[:-1]))
