"""Games in Gambit's extensive form, version 2, read from ``.efg`` files and laid out as trees.

:mod:`hogeq.trees.efg` reads the text, and :mod:`hogeq.trees.tree` writes such files.
"""

import os
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final

import numpy as np

from hogeq.support.files import read_whole
from hogeq.support.messages import HogeqError, printable, refusals_of, unreadable
from hogeq.support.teams import Teams
from hogeq.support.text import text_of
from hogeq.trees.building import Node, flatten
from hogeq.trees.efg import EfgReader, Infoset
from hogeq.trees.flat import CHANCE, FlatTree, Forget, Indices, MoveNames
from hogeq.trees.forgetting import forget_by_name
from hogeq.trees.packed import offsets
from hogeq.trees.teams import Known

MOST_BYTES: Final = 2**28  # of a file


def from_efg(
    path: str | os.PathLike[str], *, forget: str | Forget | None = None, teams: Teams = None
) -> FlatTree:
    """Read a game of one player, or a constant-sum game of two players or teams, from a file.

    `ValueError` says in one line where a file is wrong, and how.
    """
    path = Path(path)
    try:
        data = read_whole(path, MOST_BYTES)
    except (OSError, ValueError) as error:
        raise HogeqError(unreadable(path, error)) from None
    with refusals_of(printable(path), HogeqError):
        text = text_of(data)
    del data  # a large file is not held twice
    reader = EfgReader(printable(path), text)
    reader.read_head(teams)
    reader.read_nodes()
    return _build_tree(reader, printable(path.name), forget)


def _build_tree(game: EfgReader, name: str, forget: str | Forget | None) -> FlatTree:
    """Build the flat tree of a game; rows have the names of the file, and those of OpenSpiel."""
    infosets = game.infosets
    sides = game.sides
    names = _name_infosets(infosets)
    keys: list[Any] = [  # as OpenSpiel writes them
        f"{infoset.player}-{infoset.player}-{infoset.number}-{infoset.name}" for infoset in infosets
    ]
    name_of = dict(zip(keys, names, strict=True))
    if callable(forget):
        pairs = zip(infosets, names, strict=True)
        keys = [forget(infoset.player, name) for infoset, name in pairs]
    moves = _number_moves(infosets)
    labels = [_distinct_labels(dict(enumerate(infoset.actions, 1))) for infoset in infosets]
    inner = _nodes_of_infosets(infosets, keys, moves)
    ends = iter(game.ends)
    nodes = (inner[index] if index >= 0 else next(ends) for index in game.nodes)
    describe = partial(_words_of_history, game, moves, labels)
    # The walk asks for the nodes in the order of the file.
    tree = flatten(
        name, None, lambda _: next(nodes), describe, deepest=len(game.nodes), sides=sides
    )
    is_rounded = tree.is_rounded or game.is_rounded
    tree = replace(tree, describe=_words_of_nodes(game, labels, tree), is_rounded=is_rounded)
    if callable(forget):
        return tree
    if sides is None:
        tree_names = [name_of[key] for key in tree.names]
        states = tree.names
    else:
        states = [known.state for known in tree.names]
        tree_names = [Known(known.player, name_of[known.state]) for known in tree.names]
    return forget_by_name(replace(tree, names=tree_names, states=states), forget)


def _nodes_of_infosets(
    infosets: Sequence[Infoset], keys: Sequence[Hashable], moves: Sequence[list[int]]
) -> list[Node]:
    """Make a node for each information set, and for each event of chance.

    `keys` name the information sets, `moves` are the numbers of their actions.
    """
    nodes = []
    for infoset, key, numbers in zip(infosets, keys, moves, strict=True):
        chances: Sequence[Fraction | float] = infoset.chances or [1.0] * len(numbers)
        steps = [(number, chance, None) for number, chance in zip(numbers, chances, strict=True)]
        nodes.append(Node(infoset.player, key, moves=steps))
    return nodes


def _number_moves(infosets: Sequence[Infoset]) -> list[list[int]]:
    """Give actions their numbers, by information set: equal labels have one, as in OpenSpiel.

    Equal labels within an information set have different numbers. Players and chance have numbers
    of their own.
    """
    # Numbers by label, and by how many equal ones come before in the information set.
    of_players: dict[tuple[str, int], int] = {}
    of_chance: dict[tuple[str, int], int] = {}
    moves: list[list[int]] = []
    for infoset in infosets:
        repeats: Counter[str] = Counter()
        numbers = of_chance if infoset.player == CHANCE else of_players
        infoset_moves = []
        for label in infoset.actions:
            key = label, repeats[label]
            infoset_moves.append(numbers.setdefault(key, len(numbers)))
            repeats[label] += 1
        moves.append(infoset_moves)
    return moves


def _words_of_history(
    game: EfgReader, numbers: Sequence[list[int]], labels: Sequence[list[str]], moves: Sequence[int]
) -> list[str]:
    """Write the moves of a history, followed from the root through the nodes of the file.

    `numbers` and `labels` are those of the actions of each information set.
    """
    node = 0
    words = []
    for depth, move in enumerate(moves, 1):
        row = game.nodes[node]
        action = numbers[row].index(move)
        words.append(labels[row][action])
        # In the order of the file, the next nodes of this depth are the children.
        later = range(node + 1, len(game.nodes))
        children = (child for child in later if game.depths[child] == depth)
        node = next(islice(children, action, None))
    return words


class _Words(MoveNames):
    """Writes moves by the nodes that they lead to."""

    def __init__(self, words: list[str], number: Indices) -> None:
        self.words = words
        self.number = number  # (N,), which word names the move to each node; any at the root

    def of_steps(self, moves: Sequence[int], nodes: Sequence[int]) -> list[str]:  # noqa: ARG002
        """Write moves by the nodes that they lead to."""
        return [self.words[number] for number in self.number[nodes].tolist()]


def _words_of_nodes(game: EfgReader, labels: Sequence[list[str]], tree: FlatTree) -> _Words:
    """Name the move to each node of the tree of a game by the labels of information sets.

    The tree has the nodes by depth, those of one depth in the order of the file.
    """
    order = np.argsort(np.frombuffer(game.depths, np.int32), kind="stable")
    infoset = np.frombuffer(game.nodes, np.int32)[order]
    first_word = offsets(np.array([len(infoset_labels) for infoset_labels in labels], np.int64))
    number = first_word[infoset[tree.parent]] + tree.action
    return _Words([*chain.from_iterable(labels)], number.astype(np.int32))


def _name_infosets(infosets: Sequence[Infoset]) -> list[str]:
    """Name the information sets, so that no two of a player have the same name."""
    names = [""] * len(infosets)
    for player in {infoset.player for infoset in infosets}:
        rows = [row for row, infoset in enumerate(infosets) if infoset.player == player]
        labels = {infosets[row].number: infosets[row].name for row in rows}
        for row, name in zip(rows, _distinct_labels(labels), strict=True):
            names[row] = name
    return names


def _distinct_labels(labels: Mapping[int, str]) -> list[str]:
    """Return labels, with their numbers in brackets if they are empty or not the only ones."""
    words = [printable(label) for label in labels.values()]
    numbered = [f"{word} ({number})".lstrip() for number, word in zip(labels, words, strict=True)]
    counts = Counter(words)
    numbered_words = set(numbered)
    return [
        # A label may look like another one with its number.
        word if word and counts[word] == 1 and word not in numbered_words else numbered_word
        for word, numbered_word in zip(words, numbered, strict=True)
    ]
