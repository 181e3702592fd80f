"""The belief DAG of each player of a tree, built once and kept beside its sequence form."""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from hogeq.strategies.arrays import one_hot
from hogeq.support.deadline import FOREVER, Deadline
from hogeq.support.messages import HogeqError
from hogeq.trees.beliefs import MOST, BeliefDag, TooLargeError, TooSlowError, belief_dag, drawing
from hogeq.trees.flat import FlatTree
from hogeq.trees.sequences import SequenceForm, sequence_form
from hogeq.trees.shuffling import solving_form
from hogeq.trees.teams import side_names

MOST_ENTRIES: Final = 2_000_000  # of a belief DAG that bounds what an integer program found
MOST_DRAWN: Final = 1000  # strategies of a mixture that are given


def whole_dag(
    form: SequenceForm, most: int = MOST, deadline: Deadline = FOREVER
) -> BeliefDag | None:
    """Build the belief DAG of a player once; None if it is too large or rows have no order."""
    known = vars(form)  # beside its cached properties
    inner = form.inflate(deadline)
    if inner.rank is not None and "dag" not in known and known.get("most", -1) < most:
        try:
            known["dag"] = belief_dag(form, most=most, deadline=deadline)
        except TooSlowError:
            pass
        except TooLargeError:
            known["most"] = most
    return known.get("dag")


def dags_of(
    tree: FlatTree, most: int = MOST, deadline: Deadline = FOREVER
) -> list[BeliefDag | None]:
    """Build the belief DAG of each player once, until some time at most."""
    return [whole_dag(solving_form(tree, player), most, deadline) for player in (0, 1)]


def bounding_dag(form: SequenceForm, deadline: Deadline) -> BeliefDag | None:
    """Build a DAG that bounds what an integer program found: of beliefs, or a draw of anything."""
    rows, counts = np.unique(form.row), form.tree.num_legal
    if form.inflated.rank is not None or math.prod(counts[rows].tolist()) > MOST_DRAWN:
        return whole_dag(form, MOST_ENTRIES, deadline)
    acts = np.zeros((1, form.tree.num_rows), np.int64)
    for row in rows.tolist():
        acts = np.repeat(acts, counts[row], axis=0)
        acts[:, row] = np.arange(len(acts)) % counts[row]
    return drawing(form, one_hot(acts, form.tree.num_actions))


def require_dags(tree: FlatTree, dags: Sequence[BeliefDag | None]) -> list[BeliefDag]:
    """Refuse a game without a DAG of each side; give none if there was no time to build one."""
    for player, dag in enumerate(dags):
        form = sequence_form(tree, player)
        if dag is None and (form.inflated.rank is None or vars(form).get("most", -1) >= MOST):
            raise HogeqError(
                f"{tree.name}: {side_names(tree.sides)[player]} has a belief DAG of more than"
                f" {MOST:,} entries, or information sets in no order; allowed: columns"
            )
    return [] if None in dags else [dag for dag in dags if dag is not None]
