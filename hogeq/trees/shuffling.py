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
    """List the sequences of a player, once, in an order of A-loss recall if there is one.

    Only sequences at ends, `at`, have a meaning after that, and payoffs and rows are the same. The
    order stays in games that are too large, since nothing interrupts the search for another.
    """
    form = sequence_form(tree, player)
    if form.is_absent_minded or not len(form.inflated.shared) or is_too_large(form):
        return form
    return shuffled(form) or form


def is_too_large(form: SequenceForm) -> bool:
    """Whether an order might take long to find: each of its rows is taken from all plays by it."""
    return form.size * len(form.tree.levels) ** 2 > MOST_STEPS


def shuffled(form: SequenceForm) -> SequenceForm | None:
    """Order own actions anew so that A-loss recall holds; None if no order does that.

    Raises
    ------
    ValueError
        If the player is absent-minded.
    """
    form.require_once()
    ends = np.flatnonzero(form.tree.player == TERMINAL)
    sequences, which = np.unique(form.at[ends], return_inverse=True)
    plays = [dict(form.steps(sequence)) for sequence in sequences.tolist()]
    ordered = order(plays, form.tree.num_legal)
    if ordered is None:
        return None
    rows, before, new_sequences = ordered
    at = np.zeros_like(form.at)
    at[ends] = new_sequences[which]
    none = np.full(len(rows), -1)
    return replace(form, row=rows, before=before, at=at, first=none, refined=np.full_like(at, -1))


def order(plays: list[Acts], counts: Ints) -> tuple[Ints, Ints, Ints] | None:
    """Order the rows of plays, of so many actions, (R,); None if a component has none in common.

    Gives rows and sequences before, as in a form, and the sequence of each play.
    """
    rows: list[int] = []
    befores: list[int] = []
    play_sequences = np.zeros(len(plays), np.int64)
    # A sequence, and the plays that begin with it, by number, with the acts that are left of each.
    waiting, next_sequence = [(0, [*enumerate(plays)])], 1
    while waiting:
        before, group = waiting.pop()
        for play, acts in group:
            if not acts:
                play_sequences[play] = before
        for component in _components([(play, acts) for play, acts in group if acts]):
            common = set.intersection(*(set(acts) for _, acts in component))
            if not common:
                return None
            row = next(row for row in component[0][1] if row in common)  # the first that was met
            parts: dict[int, list[tuple[int, Acts]]] = defaultdict(list)  # by the action there
            for play, acts in component:
                others = {other: action for other, action in acts.items() if other != row}
                parts[acts[row]].append((play, others))
            waiting += [(next_sequence + action, part) for action, part in sorted(parts.items())]
            next_sequence += int(counts[row])
            rows.append(row)
            befores.append(before)
    return np.array(rows, np.int64), np.array(befores, np.int64), play_sequences


def _components(group: list[tuple[int, Acts]]) -> list[list[tuple[int, Acts]]]:
    """Part plays into components that share no row."""
    plays_of_row: dict[int, list[int]] = defaultdict(list)
    for place, (_, acts) in enumerate(group):
        for row in acts:
            plays_of_row[row].append(place)
    components, seen = [], [False] * len(group)
    for start in range(len(group)):
        if seen[start]:
            continue
        seen[start], component = True, [start]
        for place in component:  # grows
            for row in group[place][1]:
                for other in plays_of_row.pop(row, ()):
                    if not seen[other]:
                        seen[other] = True
                        component.append(other)
        components.append([group[place] for place in component])
    return components
