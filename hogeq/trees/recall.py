"""Histories of a tree by information set, and what an audit of recall finds in them."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from hogeq.trees.tree import Chance, Choice, Tree


class HistoryStep(NamedTuple):
    """One move of a player or of chance in a history."""

    player: int | None
    """Who moved; None for chance."""
    infoset: Hashable
    """Information set of the player; None for chance."""
    action: str


History = tuple[HistoryStep, ...]

Experience = tuple[tuple[Hashable, str], ...]
"""Information sets that a player met and what the player did there."""


class Witness(NamedTuple):
    """Two histories of one information set that show a loss or refute a property."""

    infoset: Hashable
    """Where both end."""
    first: History
    second: History
    note: str = ""


class Loss(NamedTuple):
    """What information sets forget, of one kind."""

    infosets: frozenset[Hashable]
    """Those that forget it."""
    witness: Witness | None


class Finding(NamedTuple):
    """Whether a property holds."""

    holds: bool | None
    """None if that was not decided."""
    witness: Witness | None
    """Why it does not."""
    note: str = ""


@dataclass(frozen=True)
class Audit:
    """What was found about one player.

    Attributes
    ----------
    player : int
    infosets : frozenset
        Information sets of the player.
    histories : int
        Histories at which the player moves.
    whole : bool
        Whether the whole tree was walked.
    forgets : dict of str to Loss
        By what is lost: ``own action``, ``own observation``, ``opponent's action``, ``chance``,
        ``seat``.
    findings : dict of str to Finding
        By property: ``perfect recall``, ``A-loss recall``, ``no absent-mindedness``,
        ``well-formed``, ``skew well-formed``.

    Examples
    --------
    >>> import hogeq
    >>> found = hogeq.audit(hogeq.rules_from({"edition": "fa22", "goal": 4, "max_dice": 1}))
    >>> found.findings["no absent-mindedness"].holds
    True
    """

    player: int
    infosets: frozenset[Hashable]
    histories: int
    whole: bool
    forgets: dict[str, Loss]
    findings: dict[str, Finding]

    def forgotten_at(self, infoset: Hashable) -> tuple[str, ...]:
        """Kinds of memory that an information set loses, in the order of `forgets`."""
        return tuple(what for what, loss in self.forgets.items() if infoset in loss.infosets)

    def witnesses(self) -> dict[Witness, tuple[str, ...]]:
        """Give every witness with all that it shows.

        Returns
        -------
        dict of Witness to tuple of str
            What is lost as ``forgotten chance``, a property that does not hold as ``not perfect
            recall``; in the order of `forgets`, then of `findings`.
        """
        shown: dict[Witness, tuple[str, ...]] = {}
        losses = [(f"forgotten {what}", loss.witness) for what, loss in self.forgets.items()]
        failures = [
            (f"not {what}".replace("not no ", ""), finding.witness)
            for what, finding in self.findings.items()
        ]
        for name, witness in [*losses, *failures]:
            if witness is not None:
                shown[witness] = (*shown.get(witness, ()), name)
        return shown


class Walk:
    """Every history of a tree at which a player moves, by information set, shortest first."""

    def __init__(self, tree: Tree, player: int, longest: int | None) -> None:
        self.player = player
        self.whole = True
        self.at: dict[Hashable, list[History]] = defaultdict(list)
        level: list[tuple[Hashable, History]] = [(tree.root, ())]
        while level:
            level = [after for pair in level for after in self._step(tree, *pair, longest)]

    def _step(
        self, tree: Tree, state: Hashable, history: History, longest: int | None
    ) -> Iterator[tuple[Hashable, History]]:
        node = tree.node(state)
        if isinstance(node, Chance):
            for _, label, after in node.branches:
                yield after, (*history, HistoryStep(None, None, label))
        elif isinstance(node, Choice):
            if node.player == self.player:
                self.at[node.infoset].append(history)
            if longest is not None and sum(move.player is not None for move in history) >= longest:
                self.whole = False
                return
            for label, after in node.branches:
                yield after, (*history, HistoryStep(node.player, node.infoset, label))


def experience(history: History, player: int) -> Experience:
    """List the information sets that a player met on a history, and what the player did there."""
    return tuple((move.infoset, move.action) for move in history if move.player == player)


def size(witness: Witness) -> int:
    """Count the moves of both histories of a witness."""
    return len(witness.first) + len(witness.second)


def smallest(witnesses: Iterable[Witness | None]) -> Witness | None:
    """Pick the witness of the fewest moves, None if there is no witness."""
    return min((witness for witness in witnesses if witness is not None), key=size, default=None)


Key = Callable[[History], Hashable]


def first_difference(
    infoset: Hashable,
    histories: Sequence[History],
    path: Callable[[Hashable, History], list[Hashable]],
    first: int,
) -> Witness | None:
    """Find two shortest histories whose paths first differ at an even place, or at an odd one.

    `path` lists what happened, one kind of step at even places and another at odd ones; `first` is
    0 to look at the even places, 1 to look at the odd ones.
    """
    shortest: dict[Hashable, dict[Hashable, History]] = defaultdict(dict)
    for history in histories:  # shortest first
        steps = path(infoset, history)
        for index in range(first, len(steps), 2):
            shortest[tuple(steps[:index])].setdefault(steps[index], history)
    pairs = (sorted(ways.values(), key=len)[:2] for ways in shortest.values() if len(ways) > 1)
    return smallest(Witness(infoset, one, two) for one, two in pairs)


def disagreement(histories: Sequence[History], same: Key, other: Key) -> Witness | None:
    """Find two shortest histories that agree in one respect and not in another."""
    first: dict[Hashable, tuple[Hashable, History]] = {}
    witnesses = []
    for history in histories:  # shortest first
        known, shortest = first.setdefault(same(history), (other(history), history))
        if known != other(history):
            witnesses.append(Witness(None, shortest, history))
    return smallest(witnesses)


Pasts = dict[Experience, list[History]]
"""Histories of one information set by what the player went through, shortest first."""


def by_past(walk: Walk, infoset: Hashable) -> Pasts:
    """Group the histories of an information set by what the player went through."""
    pasts: Pasts = {}
    for history in walk.at[infoset]:
        pasts.setdefault(experience(history, walk.player), []).append(history)
    return pasts


def each(
    pasts: dict[Hashable, Pasts], find: Callable[[Hashable, Pasts], Witness | None]
) -> Iterator[Witness | None]:
    """Look for a witness in every information set."""
    return (find(infoset, parts) for infoset, parts in pasts.items())
