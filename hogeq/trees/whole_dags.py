"""Belief DAGs of the players of a tree, built once within limits of size and time."""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from hogeq.strategies.arrays import one_hot
from hogeq.support.deadline import FOREVER, Deadline
from hogeq.support.messages import HogeqError
from hogeq.trees.beliefs import (
    MOST_DAG_ENTRIES,
    MOST_DRAWN,
    BeliefDag,
    TooLargeError,
    TooSlowError,
    build_belief_dag,
    mixture_dag,
)
from hogeq.trees.flat import FlatTree
from hogeq.trees.sequences import SequenceForm, sequence_form
from hogeq.trees.shuffling import solving_form
from hogeq.trees.teams import side_names

MOST_ENTRIES: Final = 2_000_000  # of a DAG that bounds the result of an integer program


def whole_dag(
    form: SequenceForm, most: int = MOST_DAG_ENTRIES, deadline: Deadline = FOREVER
) -> BeliefDag | None:
    """Build the belief DAG of a player, once for each form.

    None if it has more than `most` entries, if there is no time, or if the rows, information sets,
    have no order in which plays meet them.
    """
    known = form.cache  # what was computed before: the DAG, or a size that it exceeds
    inflated = form.inflate(deadline)
    was_too_large = known.get("too few entries", -1) >= most
    if inflated.has_row_order and "dag" not in known and not was_too_large:
        try:
            known["dag"] = build_belief_dag(form, most=most, deadline=deadline)
        except TooSlowError:
            pass  # another call may have more time
        except TooLargeError:
            known["too few entries"] = most
    return known.get("dag")


def build_dags(
    tree: FlatTree, most: int = MOST_DAG_ENTRIES, deadline: Deadline = FOREVER
) -> list[BeliefDag | None]:
    """Build the belief DAGs of both players, each of at most so many entries, or None."""
    return [whole_dag(solving_form(tree, player), most, deadline) for player in (0, 1)]


def bounding_dag(form: SequenceForm, deadline: Deadline) -> BeliefDag | None:
    """Build a small DAG of all mixtures of a player, to replace the bound of an integer program.

    It is the belief DAG. Where rows have no order, there is none: then it draws one of all pure
    strategies, if they are few.
    """
    rows = np.unique(form.row_of_refined)
    counts = form.tree.num_legal
    if form.inflated.has_row_order or math.prod(counts[rows].tolist()) > MOST_DRAWN:
        return whole_dag(form, MOST_ENTRIES, deadline)
    strategies = np.zeros((1, form.tree.num_rows), np.int64)  # pure ones, (n, R)
    for row in rows.tolist():  # each strategy so far, with each action of the row
        strategies = np.repeat(strategies, counts[row], axis=0)
        strategies[:, row] = np.arange(len(strategies)) % counts[row]
    return mixture_dag(form, one_hot(strategies, form.tree.num_actions))


def require_dags(tree: FlatTree, dags: Sequence[BeliefDag | None]) -> list[BeliefDag]:
    """Return the DAGs of both players, or none if there was no time to build one.

    `HogeqError` if one is missing for another reason: it is too large, or rows have no order.
    """
    for player, dag in enumerate(dags):
        form = sequence_form(tree, player)
        if dag is None and (
            not form.inflated.has_row_order
            or form.cache.get("too few entries", -1) >= MOST_DAG_ENTRIES
        ):
            raise HogeqError(
                f"{tree.name}: {side_names(tree.sides)[player]} has a belief DAG of more than"
                f" {MOST_DAG_ENTRIES:,} entries, or information sets in no order; allowed: columns"
            )
    return [] if None in dags else [dag for dag in dags if dag is not None]
