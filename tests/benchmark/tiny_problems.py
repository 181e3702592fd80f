"""Tiny decision problems as entries of the benchmark, and instances as its checker reads them."""

from typing import Any

from check_instances import Instance

from hogeq import TreeGame
from hogeq.benchmark.catalogue import Entry
from hogeq.graph.graph import Graph
from hogeq.trees.decision_problems import Interview, RandomTree, Trials
from hogeq.trees.flat import FlatTree
from hogeq.trees.rules import from_rules


def read(graph: Graph) -> Any:
    return Instance(graph.arrays())


TINY = (
    from_rules(RandomTree(2, 2, 2, 1)),
    from_rules(Trials(2, 3, 2, 1)),
    from_rules(Interview(2, 2, 2, 1)),
)


def entry(tree: FlatTree) -> Entry:
    return Entry(tree.name, "tiny", "", lambda: TreeGame(tree))
