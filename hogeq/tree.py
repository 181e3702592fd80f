"""Game trees, one node at a time: what other programs and the audit of recall walk over.

A tree is a root and a function from states to nodes.  Different histories may lead to equal
states, so a tree can be counted without being walked.  Hog's own tree is :class:`HogTree`; any
other object of the same two members will do.
"""

from collections.abc import Hashable, Iterator, Mapping
from fractions import Fraction
from typing import NamedTuple, Protocol

from hogeq.rules import Rules
from hogeq.rules.turn import (
    Memory,
    bonus,
    dice_sides,
    given,
    land,
    next_memory,
    points_distribution,
    record,
    trots,
    zero_points,
)

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


# --- Hog ------------------------------------------------------------------------------------------


class Outcome(NamedTuple):
    """One way in which a turn can end."""

    points: int
    """Of the dice, or for rolling none; without the bonus, before any boost of the new score."""
    probability: Fraction
    score: int
    """The mover's score after the turn."""
    opponent: int
    """The other's score after the turn."""
    winner: int | None
    """0 the mover, 1 the other, None while the game goes on."""
    again: bool
    """Whether the mover takes an extra turn."""
    memory: Memory
    """Of whoever moves next."""


def outcomes(
    rules: Rules, score: int, opponent: int, memory: Memory, dice: int
) -> tuple[Outcome, ...]:
    """List what can come of one turn.

    Parameters
    ----------
    rules : Rules
    score, opponent : int
        Of the player to move and of the other, both below the goal.
    memory : Memory
        Of the player to move.
    dice : int
        How many are rolled.

    Returns
    -------
    tuple of Outcome
        By points, ascending; probabilities sum to exactly 1.

    Examples
    --------
    >>> from hogeq.rules import EDITIONS
    >>> from hogeq.rules.turn import Memory
    >>> for way in outcomes(EDITIONS["fa22"], 90, 0, Memory(), 1):
    ...     print(way.points, way.probability, way.score, way.winner)
    1 1/6 91 None
    2 1/6 92 None
    3 1/6 93 None
    4 1/6 94 None
    5 1/6 95 None
    6 1/6 96 None
    """
    ways = {zero_points(rules, opponent): Fraction(1)}
    if dice:
        ways = points_distribution(rules, dice, dice_sides(rules, score, opponent, memory))
    extra, trot = bonus(rules, memory, dice), trots(rules, memory, dice)
    found = []
    for points, probability in ways.items():
        there = land(rules, score + points + extra, opponent + given(rules, dice, points))
        again = there.winner is None and (there.again or trot)
        after = next_memory(rules, memory, record(rules, dice, points), again)
        found.append(
            Outcome(points, probability, there.score, there.opponent, there.winner, again, after)
        )
    return tuple(found)


def total_rises(rules: Rules) -> bool:
    """Whether every turn raises the sum of both scores, so that no position comes twice."""
    return rules.pig_out > 0 or rules.piggy_back


class Position(NamedTuple):
    """Where a game of Hog stands."""

    mover: int
    """Player to move, 0 or 1; `START` before the coin is tossed."""
    own: int
    """The mover's score."""
    opponent: int
    memory: Memory
    """Of the mover."""
    dice: int | None = None
    """Dice being rolled; None while the mover has not decided."""
    winner: int | None = None
    """Player, 0 or 1, once the game is over."""
    past: tuple[str, ...] | None = None
    """Everything that has happened, where players remember it."""


class HogTree:
    """The tree of a game of Hog.

    First a fair coin says who begins.  A turn is a choice of dice and, unless none are rolled, a
    random move whose branches are the points they can score.

    Parameters
    ----------
    rules : Rules
    memory : bool
        Whether players remember everything that happened.  Otherwise an information set is the
        pair (own score, opponent's score), as a strategy of the contest sees it.

    Examples
    --------
    >>> from hogeq.rules import rules_from
    >>> tree = HogTree(rules_from({"edition": "fa22", "goal": 3, "max_dice": 1, "sides": 2}))
    >>> print(*tree.node(tree.root).branches[0][:2])
    1/2 A begins
    >>> count(tree).nodes
    27
    """

    def __init__(self, rules: Rules, *, memory: bool = False) -> None:
        self.rules = rules
        self.memory = memory
        self._known: dict[tuple[int, int, Memory, int], tuple[Outcome, ...]] = {}

    @property
    def root(self) -> Position:
        """Before the coin is tossed."""
        return Position(START, 0, 0, Memory(), past=() if self.memory else None)

    def node(self, state: Hashable) -> Node:
        """Tell what a position is."""
        assert isinstance(state, Position)  # noqa: S101 - the protocol promises less
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
        """As the function of this name, and remembered."""
        key = own, opponent, memory, dice
        if key not in self._known:
            self._known[key] = outcomes(self.rules, *key)
        return self._known[key]

    def ends(self, state: Position) -> list[tuple[int, Outcome, Position]]:
        """How the turn can end for which dice are being rolled: points, outcome, what follows."""
        assert state.dice is not None  # noqa: S101
        found = []
        for way in self.outcomes(state.own, state.opponent, state.memory, state.dice):
            mover, own, opponent = state.mover, way.score, way.opponent
            if way.winner is None and not way.again:
                mover, own, opponent = 1 - mover, opponent, own
            winner = None if way.winner is None else abs(state.mover - way.winner)
            after = Position(mover, own, opponent, way.memory, None, winner, state.past)
            if state.dice:
                after = self._after(after, str(way.points))
            found.append((way.points, way, after))
        return found

    def _after(self, state: Position, event: str) -> Position:
        return state if state.past is None else state._replace(past=(*state.past, event))


# --- sizes ----------------------------------------------------------------------------------------


class Sizes(NamedTuple):
    """How big a tree is."""

    nodes: int
    choices: int
    """Nodes at which a player moves."""
    chances: int
    """Nodes at which chance moves."""
    ends: int
    """Terminal nodes."""
    infosets: tuple[int, ...]
    """Information sets, by player."""
    depth: int
    """Most moves, of players and chance, in one play."""
    exact: bool
    """Whether everything was counted; otherwise the figures are lower bounds."""

    def __str__(self) -> str:
        if not self.exact:
            return f"more than {_number(self.nodes)} nodes"
        sets = " + ".join(f"{number:,}" for number in self.infosets)
        return (
            f"{_number(self.nodes)} nodes ({_number(self.choices)} choices, "
            f"{_number(self.chances)} of chance, {_number(self.ends)} ends), {sets} information "
            f"sets, at most {self.depth} moves deep"
        )


def count(tree: Tree, most: int = 2_000_000) -> Sizes:
    """Count the nodes of a tree without walking it: equal states are looked at once.

    Parameters
    ----------
    tree : Tree
    most : int
        Go no further once there are more nodes than this.

    Returns
    -------
    Sizes
    """
    level: dict[Hashable, int] = {tree.root: 1}
    totals = {Chance: 0, Choice: 0, End: 0}
    infosets: dict[int, set[Hashable]] = {0: set(), 1: set()}
    depth = 0
    nodes = 1
    while level:
        following: dict[Hashable, int] = {}
        for state, histories in level.items():
            node = tree.node(state)
            totals[type(node)] += histories
            if isinstance(node, Choice):
                infosets.setdefault(node.player, set()).add(node.infoset)
            for child in children(node):
                following[child] = following.get(child, 0) + histories
                nodes += histories
            if nodes > most:
                return _sizes(totals, infosets, nodes, depth, exact=False)
        level = following
        depth += bool(level)
    return _sizes(totals, infosets, nodes, depth, exact=True)


def _sizes(
    totals: Mapping[type, int],
    infosets: Mapping[int, set[Hashable]],
    nodes: int,
    depth: int,
    *,
    exact: bool,
) -> Sizes:
    sets = tuple(len(infosets[player]) for player in sorted(infosets))
    return Sizes(nodes, totals[Choice], totals[Chance], totals[End], sets, depth, exact)


def children(node: Node) -> Iterator[Hashable]:
    """States that can follow a node, in the order of its branches."""
    if not isinstance(node, End):
        for branch in node.branches:
            yield branch[-1]


def _number(value: int) -> str:
    return f"{value:,}" if value < 10**9 else f"{float(value):.1e}"
