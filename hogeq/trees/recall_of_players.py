"""Which recall each player of a flat tree has, with two histories where it has not.

- *Perfect recall* (Kuhn 1953): all histories of an information set have one own past, the
  information sets met and what was done there.
- *A-loss recall* (Kaneko and Kline 1995; in the form of Cermak et al. 2018): if two have different
  pasts, the player did different things at an information set that both met.
- *Absent-mindedness* (Piccione and Rubinstein 1997): an information set is met twice in a play.
"""

from typing import NamedTuple

import numpy as np

from hogeq.trees.flat import FlatTree
from hogeq.trees.sequences import SequenceForm, sequence_form


class Property(NamedTuple):
    """Whether a property holds, and the histories that show why not (why, if absent-minded)."""

    holds: bool
    witness: list[list[str]]
    """Two histories in the game's own words, a move each; none where nothing is to be shown."""


class PlayerRecall(NamedTuple):
    """What one player recalls."""

    infosets: int
    histories: int
    perfect_recall: Property
    a_loss_recall: Property
    absent_minded: Property


def recall_of_player(tree: FlatTree, player: int) -> PlayerRecall:
    """Audit the recall of one player, 0 or 1."""
    form = sequence_form(tree, player)
    return PlayerRecall(
        int((tree.seat == player).sum()),
        int((tree.player == player).sum()),
        _perfect_recall(form),
        _a_loss_recall(form),
        _absent_minded(form),
    )


def _perfect_recall(form: SequenceForm) -> Property:
    shared = np.flatnonzero(form.is_shared())
    if not len(shared):
        return Property(True, [])
    return _refuted(form, *np.flatnonzero(form.row == shared[0])[:2].tolist())


def _a_loss_recall(form: SequenceForm) -> Property:
    for row in np.flatnonzero(form.is_shared()):
        pasts: list[tuple[int, dict[int, int]]] = []
        for refined in np.flatnonzero(form.row == row).tolist():
            past = dict(form.steps(int(form.before[refined])))
            for other, known in pasts:
                if all(past.get(met, action) == action for met, action in known.items()):
                    return _refuted(form, other, refined)
            pasts.append((refined, past))
    return Property(True, [])


def _absent_minded(form: SequenceForm) -> Property:
    met = form.absent_minded()
    if met is None:
        return Property(False, [])
    refined, row = met
    later = int(form.first[refined])
    earlier = int(form.tree.parent[later])
    while form.tree.row[earlier] != row:
        earlier = int(form.tree.parent[earlier])
    return Property(True, [form.tree.history(earlier), form.tree.history(later)])


def _refuted(form: SequenceForm, one: int, two: int) -> Property:
    return Property(False, [form.tree.history(int(form.first[each])) for each in (one, two)])
