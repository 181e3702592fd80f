"""Policies of a tree as CSV, with the names of information sets and actions."""

import csv
from collections.abc import Iterator
from io import StringIO
from typing import Final

import numpy as np

from hogeq.support.aliases import Floats
from hogeq.support.messages import printable, refusal, shown
from hogeq.trees.flat import FlatTree

COLUMNS: Final = ("player", "infoset", "action", "probability")

Places = dict[tuple[str, ...], tuple[int, int]]  # player, set and action: row and column


def policy_csv(tree: FlatTree, policy: Floats) -> str:
    """Write a policy: one line for each action of each information set."""
    text = StringIO(newline="")
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(COLUMNS)
    for key, place in _places(tree).items():
        lines.writerow((*key, repr(float(policy[place]))))
    return text.getvalue()


def read_policy_csv(tree: FlatTree, text: str, where: str) -> Floats:
    """Read a policy, (R, K); actions that have no line have probability 0."""
    policy = np.full((tree.num_rows, tree.num_actions), np.nan)
    lines = csv.reader(StringIO(text, newline=""), strict=True)
    try:
        _fill(policy, _places(tree), lines)
    except (ValueError, csv.Error) as error:
        raise ValueError(f"{where}: line {lines.line_num}: {error}") from error
    return tree.check_strategy(np.nan_to_num(policy), where)


def _fill(policy: Floats, places: Places, lines: Iterator[list[str]]) -> None:
    header = tuple(next(lines, ()))
    if header != COLUMNS:
        raise ValueError(refusal("columns", ",".join(header), ",".join(COLUMNS)))
    for line in lines:
        place = places.get(tuple(line[:3])) if len(line) == len(COLUMNS) else None
        if place is None:
            allowed = "player, infoset and action of this game, and a probability"
            raise ValueError(f"got {shown(','.join(line))}; allowed: {allowed}")
        if not np.isnan(policy[place]):
            raise ValueError(f"{shown(','.join(line[:3]))} is there twice")
        policy[place] = float(line[3])
        if not 0.0 <= policy[place] <= 1.0:
            raise ValueError(refusal("probability", line[3], "0 to 1"))


def _places(tree: FlatTree) -> Places:
    """Row and column in a policy of each action, by player, information set and name."""
    names = [printable(name) for name in tree.names]
    places: Places = {}
    for row, (seat, name) in enumerate(zip(tree.seat.tolist(), names, strict=True)):
        for column, label in enumerate(tree.labels[row]):
            key, again = (str(seat), name, printable(label)), 1
            while key in places:  # two that are written alike
                again += 1
                key = (*key[:2], f"{printable(label)} ({again})")
            places[key] = (row, column)
    return places
