"""Hog's game tree, one node at a time; counted, laid out as a flat tree, and written for Gambit.

Different histories may lead to equal states, so a tree can be counted without being walked.
"""

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final, NamedTuple, Protocol, Self

import numpy as np

from hogeq.rules import Rules
from hogeq.rules.memory import Memory
from hogeq.rules.turn import Turn, TurnTable, scoreless_turn, total_rises
from hogeq.trees.flat import CHANCE, TERMINAL, FlatTree, Node, flatten

PLAYERS = ("A", "B")

MOST_WRITTEN: Final = 2_000_000  # nodes of a file: some 100 MB
START = -1  # the state before the coin is tossed has no mover


class Tree(Protocol):
    """Protocol of a game tree; its moves have names."""

    @property
    def root(self) -> Hashable:
        """State at the start."""

    def node(self, state: Hashable) -> Node:
        """Give the node of a state."""


class TreePosition(NamedTuple):
    """Position of a game of Hog."""

    mover: int  # player to move, 0 or 1; `START` before the coin is tossed
    own: int  # the mover's score
    opponent: int
    memory: Memory  # of the mover
    dice: int | None = None  # dice being rolled; None before the mover has chosen
    winner: int | None = None  # player, 0 or 1, once the game is over
    past: str | None = None  # all that happened in words, if players remember it

    def __deepcopy__(self, memo: object) -> Self:
        """Nothing in it changes, so OpenSpiel need not copy it with a state."""
        return self


class HogTree:
    """The tree of a game of Hog: a coin; then turns, each a choice of dice and, if any, chance."""

    def __init__(self, rules: Rules, *, memory: bool = False) -> None:
        rules.require_one_goal()
        self.rules = rules
        self.memory = memory
        self.turns = TurnTable(rules)
        self._known: dict[tuple[int, int, Memory, int], tuple[Turn, ...]] = {}

    def __deepcopy__(self, memo: object) -> Self:
        """Give itself: only its cache changes."""
        return self

    @property
    def root(self) -> TreePosition:
        """Before the coin is tossed."""
        return TreePosition(START, 0, 0, Memory(), past="" if self.memory else None)

    def node(self, state: Hashable) -> Node:
        """Give the node of a position."""
        assert isinstance(state, TreePosition)  # noqa: S101 - the protocol promises less
        if state.winner is not None:
            return Node(TERMINAL, payoff=1.0 - 2.0 * state.winner)  # the loser gets -1
        if state.mover == START:
            coin = [
                (f"{name} begins", Fraction(1, 2), self.begun(player))
                for player, name in enumerate(PLAYERS)
            ]
            return Node(CHANCE, moves=coin)
        if state.dice is None:
            choices = [(str(dice), 1.0, self.chosen(state, dice)) for dice in self.rules.choices]
            infoset = state.past if self.memory else (state.own, state.opponent)
            return Node(state.mover, infoset, moves=choices)
        ends = self.ends(state)
        return Node(
            CHANCE, moves=[(str(way.points), way.probability, after) for _, way, after in ends]
        )

    def begun(self, player: int) -> TreePosition:
        """Give the position after the coin."""
        return _after(self.root._replace(mover=player), f"player {player} begins")

    def chosen(self, state: TreePosition, dice: int) -> TreePosition:
        """Give the position after a choice; rolling no dice leaves nothing to chance."""
        chosen = _after(state._replace(dice=dice), f", player {state.mover} rolls {dice}")
        return chosen if dice > 0 else self.ends(chosen)[0][2]

    def ends(self, state: TreePosition) -> list[tuple[int, Turn, TreePosition]]:
        """List the ends of a roll: points, outcome and next state of each."""
        assert state.dice is not None  # noqa: S101
        key = state.own, state.opponent, state.memory, state.dice
        if key not in self._known:
            self._known[key] = self.turns.outcomes(*key)
        ways = []
        for way in self._known[key]:
            mover, (own, opponent, _, won) = state.mover, way.landing
            if won is None and not way.again:
                mover, own, opponent = 1 - mover, opponent, own
            winner = None if won is None else abs(state.mover - won)
            after = TreePosition(mover, own, opponent, way.memory, None, winner, state.past)
            ways.append((way.points, way, _after(after, f" for {way.points}")))
        return ways


def _after(state: TreePosition, event: str) -> TreePosition:
    return state if state.past is None else state._replace(past=state.past + event)


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
    def look(state: Hashable) -> Node:
        node = tree.node(state)
        moves = [
            (numbers.setdefault(label, len(numbers)), float(chance), after)
            for label, chance, after in node.moves
        ]
        return node._replace(moves=moves)

    def describe(moves: Sequence[int]) -> list[str]:
        labels = list(numbers)
        return [labels[move] for move in moves]

    return flatten(name, tree.root, look, describe, longest)


class Sizes(NamedTuple):
    """Numbers of nodes of a tree."""

    nodes: int
    choices: int  # nodes at which a player moves
    chances: int  # nodes at which chance moves
    ends: int  # terminal nodes
    infosets: tuple[int, ...]  # information sets, by player
    depth: int  # most moves, of players and chance, in one play
    exact: bool  # whether everything was counted; otherwise the figures are lower bounds

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
    totals: Counter[int] = Counter()  # by who moves
    infosets: tuple[set[Hashable], set[Hashable]] = (set(), set())
    depth, nodes = -1, 1
    while level and nodes <= most:
        depth += 1
        following: Counter[Hashable] = Counter()
        for state, histories in level.items():
            node = tree.node(state)
            totals[node.player] += histories
            if node.player >= 0:
                infosets[node.player].add(node.infoset)
            for _, _, after in node.moves:
                following[after] += histories
            nodes += histories * len(node.moves)
            if nodes > most:
                break
        level = following
    sets = len(infosets[0]), len(infosets[1])
    choices, exact = totals[0] + totals[1], nodes <= most
    return Sizes(nodes, choices, totals[CHANCE], totals[TERMINAL], sets, depth, exact)


def _number(value: int) -> str:
    return f"{value:,}" if value < 10**9 else f"{float(value):.1e}"


def tree_sizes(rules: Rules) -> Sizes:
    """Sizes of the tree of a game, counted up to `MOST_WRITTEN` nodes."""
    refuse_endless(rules, "export")
    return count(HogTree(rules), most=MOST_WRITTEN)


def hog_efg(rules: Rules) -> str:
    """Text of the file of a game of Hog that must end."""
    title = (
        f"Hog, {rules.name}, to {rules.goal} with 0 to {rules.max_dice} dice, only the scores seen"
    )
    return "".join(efg_lines(HogTree(rules), title))


def efg_lines(tree: Tree, title: str, players: Sequence[str] = PLAYERS) -> Iterator[str]:
    """Write a game tree of one or two players in Gambit's extensive form, version 2.

    See R. D. McKelvey, A. M. McLennan and T. L. Turocy, "Gambit: the package for computation in
    game theory". Probabilities are written as fractions, so nothing is rounded.
    """
    yield f"EFG 2 R {_quoted(title)} {{ {' '.join(map(_quoted, players))} }}\n"
    chances = 0
    outcomes: dict[Fraction | float, int] = {}
    numbers: tuple[dict[Hashable, int], dict[Hashable, int]] = {}, {}
    waiting: list[Hashable] = [tree.root]
    while waiting:
        node = tree.node(waiting.pop())
        if node.player == TERMINAL:
            paid = node.payoffs or (_short(node.payoff), _short(-node.payoff))
            outcome = outcomes.setdefault(paid[0], len(outcomes) + 1)
            payoffs = ", ".join(map(str, paid))
            yield f't "" {outcome} "" {{ {payoffs} }}\n'
            continue
        waiting.extend(after for _, _, after in reversed(node.moves))
        if node.player == CHANCE:
            chances += 1
            actions = " ".join(f"{_quoted(label)} {chance}" for label, chance, _ in node.moves)
            yield f'c "" {chances} "" {{ {actions} }} 0\n'
        else:
            known = numbers[node.player]
            number = known.setdefault(node.infoset, len(known) + 1)
            actions = " ".join(_quoted(label) for label, _, _ in node.moves)
            name = _quoted(str(node.infoset))
            yield f'p "" {node.player + 1} {number} {name} {{ {actions} }} 0\n'


class _Nodes:
    """A flat tree, one node at a time."""

    root = 0

    def __init__(self, tree: FlatTree) -> None:
        self.tree = tree
        self.starts = np.searchsorted(tree.parent, np.arange(tree.num_nodes + 1)).tolist()

    def node(self, state: Any) -> Node:
        tree, player = self.tree, int(self.tree.player[state])
        moves = [
            (tree.label(child), _short(float(tree.chance[child])), child)
            for child in range(self.starts[state], self.starts[state + 1])
        ]
        infoset = tree.names[tree.row[state]] if player >= 0 else None
        payoff = float(tree.payoff[state])
        payoffs: Sequence[Fraction | float] = (_short(payoff),) if tree.num_players == 1 else ()
        if tree.shift:  # exactly: all sums are to be the same
            own, shift = Fraction(_short(payoff)), Fraction(_short(tree.shift))
            payoffs = shift + own, shift - own
        return Node(player, infoset, payoff, moves, payoffs)


def flat_efg(tree: FlatTree) -> str:
    """Text of the file of a flat tree; probabilities that are no short fractions are decimal."""
    return "".join(efg_lines(_Nodes(tree), tree.name, ("0", "1")[: tree.num_players]))


def _short(value: float) -> Fraction | float:
    fraction = Fraction(value).limit_denominator(10**6)
    return fraction if float(fraction) == value else value


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
