"""Hog's game tree, one node at a time; counted, and laid out as a flat tree.

A tree is a root and a function from states to nodes. Different histories may lead to equal states,
so a tree can be counted without being walked.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple, Protocol

from hogeq.rules import Rules
from hogeq.rules.memory import Memory
from hogeq.rules.turn import Turn, TurnTable, scoreless_turn, total_rises
from hogeq.trees.flat import CHANCE, MOST_NODES, TERMINAL, FlatTree, Seen, flatten

PLAYERS = ("A", "B")

START = -1  # the state before the coin is tossed has no mover


class Chance(NamedTuple):
    """A random move."""

    branches: tuple[tuple[Fraction | float, str, Hashable], ...]
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

    payoff: float
    """To player 0."""


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
        rules.require_one_goal()
        self.rules = rules
        self.memory = memory
        self.turns = TurnTable(rules)
        self._known: dict[tuple[int, int, Memory, int], tuple[Turn, ...]] = {}

    @property
    def root(self) -> TreePosition:
        """Before the coin is tossed."""
        return TreePosition(START, 0, 0, Memory(), past=() if self.memory else None)

    def node(self, state: Hashable) -> Node:
        """Tell what a position is."""
        assert isinstance(state, TreePosition)  # noqa: S101 - the protocol promises less
        if state.winner is not None:
            return End(1.0 - 2.0 * state.winner)  # the winner gets 1, the loser -1
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
            for dice in self.rules.choices:
                chosen = self._after(state._replace(dice=dice), str(dice))
                # Rolling no dice leaves nothing to chance.
                branches.append((str(dice), chosen if dice > 0 else self.ends(chosen)[0][2]))
            seen = state.past if self.memory else (state.own, state.opponent)
            return Choice(state.mover, seen, tuple(branches))
        return Chance(
            tuple((way.probability, str(way.points), after) for _, way, after in self.ends(state))
        )

    def outcomes(self, own: int, opponent: int, memory: Memory, dice: int) -> tuple[Turn, ...]:
        """As `TurnTable.outcomes`, each computed once."""
        key = own, opponent, memory, dice
        if key not in self._known:
            self._known[key] = self.turns.outcomes(*key)
        return self._known[key]

    def ends(self, state: TreePosition) -> list[tuple[int, Turn, TreePosition]]:
        """How the turn can end for which dice are being rolled: points, outcome, what follows."""
        assert state.dice is not None  # noqa: S101
        ways = []
        for way in self.outcomes(state.own, state.opponent, state.memory, state.dice):
            mover, (own, opponent, _, won) = state.mover, way.landing
            if won is None and not way.again:
                mover, own, opponent = 1 - mover, opponent, own
            winner = None if won is None else abs(state.mover - won)
            after = TreePosition(mover, own, opponent, way.memory, None, winner, state.past)
            if state.dice > 0:
                after = self._after(after, str(way.points))
            ways.append((way.points, way, after))
        return ways

    def _after(self, state: TreePosition, event: str) -> TreePosition:
        return state if state.past is None else state._replace(past=(*state.past, event))


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


def flat_tree(tree: Tree, name: str = "tree", longest: int | None = None) -> FlatTree:
    """Lay a tree out."""
    numbers: dict[str, int] = {}

    @lru_cache(maxsize=100_000)
    def look(state: Hashable) -> Seen:
        node = tree.node(state)
        if isinstance(node, End):
            return Seen(TERMINAL, payoff=node.payoff)
        moves = []
        for branch in node.branches:
            chance = float(branch[0]) if isinstance(node, Chance) else 1.0
            moves.append((numbers.setdefault(branch[-2], len(numbers)), chance, branch[-1]))
        if isinstance(node, Chance):
            return Seen(CHANCE, moves=moves)
        return Seen(node.player, node.infoset, moves=moves)

    def describe(moves: Sequence[int]) -> list[str]:
        labels = list(numbers)
        return [labels[move] for move in moves]

    return flatten(name, tree.root, look, describe, MOST_NODES, longest)


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
    """Count the nodes of a tree without walking it: equal states are looked at once."""
    level = Counter([tree.root])
    totals: Counter[type] = Counter()
    infosets: tuple[set[Hashable], set[Hashable]] = (set(), set())
    depth, nodes = -1, 1
    while level and nodes <= most:
        depth += 1
        following: Counter[Hashable] = Counter()
        for state, histories in level.items():
            node = tree.node(state)
            totals[type(node)] += histories
            if isinstance(node, Choice):
                infosets[node.player].add(node.infoset)
            if not isinstance(node, End):
                for branch in node.branches:
                    following[branch[-1]] += histories
                nodes += histories * len(node.branches)
            if nodes > most:
                break
        level = following
    sets = len(infosets[0]), len(infosets[1])
    exact = nodes <= most
    return Sizes(nodes, totals[Choice], totals[Chance], totals[End], sets, depth, exact)


def _number(value: int) -> str:
    return f"{value:,}" if value < 10**9 else f"{float(value):.1e}"
