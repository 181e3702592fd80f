"""Game trees, one node at a time, for export and for the audit of recall.

A tree is a root and a function from states to nodes. Different histories may lead to equal
states, so a tree can be counted without being walked. Hog's own tree is :class:`HogTree`; any
other object of the same two members will do.
"""

from collections.abc import Hashable, Iterator
from fractions import Fraction
from typing import NamedTuple, Protocol

from hogeq.rules import Rules
from hogeq.rules.memory import Memory
from hogeq.rules.outcomes import Outcome, TurnTable, scoreless_turn, total_rises

PLAYERS = ("A", "B")

START = -1  # the state before the coin is tossed has no mover


class Chance(NamedTuple):
    """A random move."""

    branches: tuple[tuple[Fraction, str, Hashable], ...]
    """Probability, what happens, and the state it leads to."""


class Choice(NamedTuple):
    """A move of a player."""

    player: int
    infoset: Hashable
    """All that the player knows; equal ones of one player are one information set."""
    branches: tuple[tuple[str, Hashable], ...]
    """The action, and the state it leads to."""


class End(NamedTuple):
    """The game is over."""

    winner: int


Node = Chance | Choice | End


class Tree(Protocol):
    """What a game tree offers."""

    @property
    def root(self) -> Hashable:
        """State at the start."""

    def node(self, state: Hashable) -> Node:
        """Tell what a state is."""


class TreePosition(NamedTuple):
    """Where a game of Hog stands."""

    mover: int
    """Player to move, 0 or 1; `START` before the coin is tossed."""
    own: int
    """The mover's score."""
    opponent: int
    memory: Memory
    """Of the mover."""
    dice: int | None = None
    """Dice being rolled; None before the mover has chosen."""
    winner: int | None = None
    """Player, 0 or 1, once the game is over."""
    past: tuple[str, ...] | None = None
    """Everything that has happened, if players remember it; otherwise None."""


class HogTree:
    """The tree of a game of Hog.

    First a fair coin says who begins. A turn is a choice of dice and, unless none are rolled, a
    random move whose branches are the points they can score.
    """

    def __init__(self, rules: Rules, *, memory: bool = False) -> None:
        self.rules = rules
        self.memory = memory
        self.turns = TurnTable(rules)
        self._known: dict[tuple[int, int, Memory, int], tuple[Outcome, ...]] = {}

    @property
    def root(self) -> TreePosition:
        """Before the coin is tossed."""
        return TreePosition(START, 0, 0, Memory(), past=() if self.memory else None)

    def node(self, state: Hashable) -> Node:
        """Tell what a position is."""
        assert isinstance(state, TreePosition)  # noqa: S101 - the protocol promises less
        if state.winner is not None:
            return End(state.winner)
        if state.mover == START:
            half = Fraction(1, 2)
            labels = [f"{name} begins" for name in PLAYERS]
            return Chance(
                tuple(
                    (half, label, self._after(state._replace(mover=player), label))
                    for player, label in enumerate(labels)
                )
            )
        if state.dice is None:
            branches = []
            for dice in range(self.rules.max_dice + 1):
                chosen = self._after(state._replace(dice=dice), str(dice))
                # Rolling no dice leaves nothing to chance.
                branches.append((str(dice), chosen if dice else self.ends(chosen)[0][2]))
            seen = state.past if self.memory else (state.own, state.opponent)
            return Choice(state.mover, seen, tuple(branches))
        return Chance(
            tuple((way.probability, str(way.points), after) for _, way, after in self.ends(state))
        )

    def outcomes(self, own: int, opponent: int, memory: Memory, dice: int) -> tuple[Outcome, ...]:
        """As `TurnTable.outcomes`, each computed once."""
        key = own, opponent, memory, dice
        if key not in self._known:
            self._known[key] = self.turns.outcomes(*key)
        return self._known[key]

    def ends(self, state: TreePosition) -> list[tuple[int, Outcome, TreePosition]]:
        """How the turn can end for which dice are being rolled: points, outcome, what follows."""
        assert state.dice is not None  # noqa: S101
        ways = []
        for way in self.outcomes(state.own, state.opponent, state.memory, state.dice):
            mover, own, opponent = state.mover, way.score, way.opponent
            if way.winner is None and not way.again:
                mover, own, opponent = 1 - mover, opponent, own
            winner = None if way.winner is None else abs(state.mover - way.winner)
            after = TreePosition(mover, own, opponent, way.memory, None, winner, state.past)
            if state.dice:
                after = self._after(after, str(way.points))
            ways.append((way.points, way, after))
        return ways

    def _after(self, state: TreePosition, event: str) -> TreePosition:
        return state if state.past is None else state._replace(past=(*state.past, event))


def children(node: Node) -> Iterator[Hashable]:
    """States that can follow a node, in the order of its branches."""
    if not isinstance(node, End):
        for branch in node.branches:
            yield branch[-1]


def refuse_endless(rules: Rules, where: str) -> None:
    """Refuse rules under which a game may never end."""
    if total_rises(rules):
        return
    endless = f"{where}: a game that may never end has no finite tree"
    free = scoreless_turn(rules)
    if free is not None:
        raise ValueError(
            f"{endless}: rolling no dice at {free[0]} to {free[1]} scores nothing; allowed: a "
            f"zero_dice that always scores, other than {rules.zero_dice}"
        )
    raise ValueError(
        f"{endless}: pig_out is {rules.pig_out} and piggy_back false; allowed: pig_out 1 or "
        "piggy_back true"
    )
