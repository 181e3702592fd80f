"""Shuffled A-loss recall: own actions taken in another order, after which forgetting costs nothing.

H. Gimbert, S. Paul and B. Srivathsan, "Simplifying imperfect recall games", arXiv 2502.13933, 2025.
A play pays by the *set* of own actions on it, not by their order. So a player may be asked in
another order, in each branch its own. ``docs/recall.md`` proves when some order has A-loss recall:

1. Link plays that meet a row in common; components share no row, and others choose between them.
2. In each, some row must be met by all plays. Which one is taken does not matter. It comes first.
3. Its actions part the plays; go on with each part, without that row.
"""

from collections import defaultdict
from dataclasses import replace
from functools import lru_cache
from typing import TypeAlias

import numpy as np

from hogeq.support.aliases import Ints
from hogeq.trees.flat import TERMINAL, FlatTree
from hogeq.trees.sequences import SequenceForm, sequence_form

MOST_STEPS = 1_000_000  # sequences times the square of the depth, of what is put in order

Acts: TypeAlias = dict[int, int]
"""Action by row, of those that a play meets."""


@lru_cache(maxsize=4)
def solving_form(tree: FlatTree, player: int) -> SequenceForm:
    """Make the sequence form of a player, with own actions in an order of A-loss recall if any.

    After a reordering `sequence_of_node` of the form has a meaning at terminal nodes only; rows and
    payoffs are the same. A game too large for the search for an order, which nothing interrupts,
    keeps its own.
    """
    form = sequence_form(tree, player)
    if form.is_absent_minded or not len(form.inflated.shared_rows) or is_too_large(form):
        return form
    return reorder_actions(form) or form


def is_too_large(form: SequenceForm) -> bool:
    """Whether an order might take long to find: each of its rows is taken from all plays by it."""
    return form.num_sequences * len(form.tree.levels) ** 2 > MOST_STEPS


def reorder_actions(form: SequenceForm) -> SequenceForm | None:
    """Reorder a player's own actions so that A-loss recall holds; None if no order does that.

    Raises
    ------
    ValueError
        If the player is absent-minded.
    """
    form.require_once()
    ends = np.flatnonzero(form.tree.player == TERMINAL)
    sequences, sequence_of_end = np.unique(form.sequence_of_node[ends], return_inverse=True)
    plays = [dict(form.steps(sequence)) for sequence in sequences.tolist()]
    ordered = order_actions(plays, form.tree.num_legal)
    if ordered is None:
        return None
    rows, parent_sequence, new_sequences = ordered
    sequence_of_node = np.zeros_like(form.sequence_of_node)
    sequence_of_node[ends] = new_sequences[sequence_of_end]
    return replace(
        form,
        row_of_refined=rows,
        parent_sequence=parent_sequence,
        sequence_of_node=sequence_of_node,
        # Nodes before the ends follow the old order: they have no refined information sets now.
        first_node=np.full(len(rows), -1),
        refined_of_node=np.full_like(sequence_of_node, -1),
    )


def order_actions(plays: list[Acts], num_legal: Ints) -> tuple[Ints, Ints, Ints] | None:
    """Find an order in which to ask for a player's actions so that it has A-loss recall.

    A play is the actions of the player on it, by row (information set).

    1. Take the plays that begin with a sequence; part them into components that share no row.
    2. In each component choose a row that all its plays meet. If there is none, return None.
    3. That row becomes a refined information set after the sequence; each of its actions makes a
       longer sequence, of the plays with this action, without that row. Go on with step 1.

    `num_legal`, (R,), is the number of actions of each row. Returns the row of each refined
    information set, (J,), the sequence before it, (J,), and the last sequence of each play.
    """
    rows: list[int] = []
    sequences_before: list[int] = []
    play_sequences = np.zeros(len(plays), np.int64)
    # Sequences, with the plays that begin so: number of the play, and its acts still to be ordered.
    waiting = [(0, [*enumerate(plays)])]
    next_sequence = 1
    while waiting:
        before, group = waiting.pop()
        for play, acts in group:
            if not acts:
                play_sequences[play] = before
        for component in _components([(play, acts) for play, acts in group if acts]):
            common_rows = set.intersection(*(set(acts) for _, acts in component))
            if not common_rows:
                return None
            first_play_acts = component[0][1]
            row = next(row for row in first_play_acts if row in common_rows)
            parts: dict[int, list[tuple[int, Acts]]] = defaultdict(list)  # by the action at the row
            for play, acts in component:
                other_acts = {other: action for other, action in acts.items() if other != row}
                parts[acts[row]].append((play, other_acts))
            waiting += [(next_sequence + action, part) for action, part in sorted(parts.items())]
            next_sequence += int(num_legal[row])
            rows.append(row)
            sequences_before.append(before)
    return np.array(rows, np.int64), np.array(sequences_before, np.int64), play_sequences


def _components(group: list[tuple[int, Acts]]) -> list[list[tuple[int, Acts]]]:
    """Part plays into connected components: plays that meet an information set (row) are linked.

    A play is its number and its acts. The search is breadth first, each row is followed once.
    """
    plays_of_row: dict[int, list[int]] = defaultdict(list)  # indices in the group
    for index, (_, acts) in enumerate(group):
        for row in acts:
            plays_of_row[row].append(index)
    components = []
    is_seen = [False] * len(group)
    for start in range(len(group)):
        if is_seen[start]:
            continue
        is_seen[start] = True
        component = [start]
        for index in component:  # grows while it is read
            for row in group[index][1]:
                for neighbour in plays_of_row.pop(row, ()):
                    if not is_seen[neighbour]:
                        is_seen[neighbour] = True
                        component.append(neighbour)
        components.append([group[index] for index in component])
    return components
