"""Strategies of a tree as arrays, files, and policies and profiles of other programs."""

import os
from pathlib import Path
from typing import Any

import numpy as np

from hogeq.strategies.profiles import Infoset, profile_rows, profile_text
from hogeq.support.aliases import Floats, Ints
from hogeq.support.messages import printable, shown
from hogeq.trees.flat import FlatTree

POLICY = "policy.npz"
"""The policy in the folder of a run."""

FORMS = "uniform, a run, a file .npz, a policy of OpenSpiel as JSON or a profile of Gambit"


def tree_strategy(tree: FlatTree, given: Any) -> Floats:
    """Check a strategy of both seats, (R, K), however it is given."""
    if isinstance(given, str | os.PathLike):
        return tree.uniform() if given == "uniform" else _read(tree, Path(given))
    if isinstance(given, np.ndarray | list | tuple):
        return tree.check_strategy(given)
    return _of_profile(tree, given, "strategy")


def _read(tree: FlatTree, path: Path) -> Floats:
    path = path / POLICY if path.is_dir() else path
    name = printable(path)
    if not path.exists():
        raise ValueError(f"strategy: got {shown(str(path))}; allowed: {FORMS}")
    if path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as arrays:
            if "policy" not in arrays:
                raise ValueError(f"{name}: holds no array policy")
            return tree.check_strategy(arrays["policy"], name)
    text = profile_text(path)
    if text is None:
        raise ValueError(f"{name}: is no strategy of a tree; allowed: {FORMS}")
    return _of_profile(tree, text, name)


def _of_profile(tree: FlatTree, given: Any, where: str) -> Floats:
    moves = np.zeros((tree.num_rows, tree.num_actions), int)
    chosen = np.flatnonzero(tree.edge >= 0)
    moves.ravel()[tree.edge[chosen]] = tree.move[chosen]
    rows = order_of_rows(tree)
    counts = tree.num_legal
    infosets = [
        Infoset((str(tree.names[row]),), moves[row, : counts[row]].tolist()) for row in rows
    ]
    strategy: Floats = np.zeros(moves.shape)
    for row, chances in zip(rows, profile_rows(given, infosets, where), strict=True):
        strategy[row, : counts[row]] = chances
    return strategy


def order_of_rows(tree: FlatTree) -> Ints:
    """Rows by seat, in the order in which a walk through the tree first meets them."""
    sizes = np.ones(tree.num_nodes, int)  # of the tree below each node
    for level in reversed(tree.levels[1:]):
        np.add.at(sizes, tree.parent[level], sizes[level])
    place = np.zeros(tree.num_nodes, int)
    for level, starts, _ in tree.families:
        before = np.cumsum(sizes[level]) - sizes[level]
        older = before - np.repeat(before[starts], np.diff(starts, append=len(before)))
        place[level] = place[tree.parent[level]] + 1 + older
    first = np.full(tree.num_rows, tree.num_nodes)
    moves = tree.row >= 0
    np.minimum.at(first, tree.row[moves], place[moves])
    return np.lexsort((first, tree.seat))
