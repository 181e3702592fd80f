"""Hog's game tree, one node at a time; counted, laid out as a flat tree, and written for Gambit.

Different histories may lead to equal states, so a tree can be counted without being walked.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, Final, NamedTuple, Self

import numpy as np

from hogeq.rules import Rules
from hogeq.rules.memory import Memory
from hogeq.rules.turn import Turn, TurnTable, scoreless_turn, total_rises
from hogeq.support.messages import HogeqError, printable
from hogeq.trees.building import Node
from hogeq.trees.efg import ROUNDED
from hogeq.trees.flat import CHANCE, TERMINAL, FlatTree
from hogeq.trees.rules import END, NODES_CACHED, GameRules, node_of
from hogeq.trees.teams import Known, Sides

PLAYERS = ("A", "B")

MOST_WRITTEN: Final = 2_000_000  # nodes of a file: some 100 MB
START = -1  # the state before the coin is tossed has no mover


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


class HogRules(GameRules):
    """Hog as rules of a tree: a coin; then turns, each a choice of dice and, if any, chance."""

    def __init__(self, rules: Rules, *, memory: bool = False) -> None:
        rules.require_one_goal()
        self.rules = rules
        self.memory = memory
        self.turns = TurnTable(rules)
        self._known: dict[tuple[int, int, Memory, int], dict[int, Turn]] = {}

    def __deepcopy__(self, memo: object) -> Self:
        """Give itself: only its cache changes."""
        return self

    def initial(self) -> TreePosition:
        """Before the coin is tossed."""
        past = "" if self.memory else None
        return TreePosition(START, own=0, opponent=0, memory=Memory(), past=past)

    def to_move(self, state: TreePosition) -> int:
        """Player to move, chance, or the end."""
        if state.winner is not None:
            return END
        return CHANCE if state.mover == START or state.dice is not None else state.mover

    def actions(self, state: TreePosition) -> Sequence[Hashable]:
        """Sides of the coin, numbers of dice, or points of the dice being rolled."""
        if state.mover == START:
            return [f"{name} begins" for name in PLAYERS]
        return self.rules.choices if state.dice is None else [*self._turns_by_points(state)]

    def chances(self, state: TreePosition) -> Mapping[Any, Any]:
        """Probabilities of the coin or of points, exact."""
        if state.mover == START:
            return dict.fromkeys(self.actions(state), Fraction(1, 2))
        return {points: turn.probability for points, turn in self._turns_by_points(state).items()}

    def knows(self, state: TreePosition, player: int) -> Hashable:
        """Both scores, or with memory all that happened."""
        del player
        return state.past if self.memory else (state.own, state.opponent)

    def payoffs(self, state: TreePosition) -> tuple[float, float]:
        """1 to the winner, -1 to the loser."""
        return (1.0, -1.0) if state.winner == 0 else (-1.0, 1.0)

    def next(self, state: TreePosition, action: Any) -> TreePosition:
        """Position after the coin, a choice or a roll; rolling no dice leaves nothing to chance."""
        if state.mover == START:
            player = self.actions(state).index(action)
            return _add_event(state._replace(mover=player), f"player {player} begins")
        if state.dice is None:
            state = _add_event(
                state._replace(dice=action), f", player {state.mover} rolls {action}"
            )
            if action > 0:
                return state  # chance moves next: it rolls these dice
            (action,) = self._turns_by_points(state)  # no dice score one known number of points
        turn = self._turns_by_points(state)[action]
        mover = state.mover
        own, opponent, _, relative_winner = turn.landing  # 0 is the mover, 1 the opponent
        if relative_winner is None and not turn.again:  # the other player moves
            mover, own, opponent = 1 - mover, opponent, own
        winner = None if relative_winner is None else abs(state.mover - relative_winner)
        after = TreePosition(mover, own, opponent, turn.memory, None, winner, state.past)
        return _add_event(after, f" for {turn.points}")

    def _turns_by_points(self, state: TreePosition) -> dict[int, Turn]:
        """List the ways in which a roll can end by their points, which all differ."""
        assert state.dice is not None  # noqa: S101
        key = state.own, state.opponent, state.memory, state.dice
        if key not in self._known:
            self._known[key] = {turn.points: turn for turn in self.turns.outcomes(*key)}
        return self._known[key]


def _add_event(state: TreePosition, event: str) -> TreePosition:
    """Add an event to the past of a position, if players remember it."""
    return state if state.past is None else state._replace(past=state.past + event)


def refuse_endless(rules: Rules, where: str) -> None:
    """Raise `HogeqError` for rules of Hog under which a game may never end.

    A game ends if the sum of both scores rises in every turn. `where` begins the message.
    """
    if total_rises(rules):
        return
    endless = f"{where}: a game that may never end has no finite tree"
    scores = scoreless_turn(rules)
    if scores is not None:
        raise HogeqError(
            f"{endless}: rolling no dice at {scores[0]} to {scores[1]} scores nothing; allowed: a "
            f"zero_dice that always scores, other than {rules.zero_dice}"
        )
    raise HogeqError(
        f"{endless}: pig_out is {rules.pig_out} and piggy_back false; allowed: pig_out 1 or "
        "piggy_back true"
    )


class Sizes(NamedTuple):
    """Numbers of nodes of a tree."""

    nodes: int
    choices: int  # nodes at which a player moves
    chances: int  # nodes at which chance moves
    ends: int  # terminal nodes
    infosets: tuple[int, ...]  # information sets, by player
    depth: int  # most moves, of players and chance, in one play
    exact: bool  # whether everything was counted; otherwise the figures are lower bounds

    @property
    def most(self) -> int:
        """Most nodes of a tree that is written."""
        return MOST_WRITTEN

    def __str__(self) -> str:
        """Write the numbers of nodes and information sets, and the depth."""
        if not self.exact:
            return f"more than {_number(self.nodes)} nodes"
        sets = " + ".join(f"{number:,}" for number in self.infosets)
        return (
            f"{_number(self.nodes)} nodes ({_number(self.choices)} choices, "
            f"{_number(self.chances)} of chance, {_number(self.ends)} ends), {sets} information "
            f"sets, at most {self.depth} moves deep"
        )


def count_nodes(rules: GameRules, most: int = 2_000_000) -> Sizes:
    """Count the nodes of a game tree, depth by depth, expanding equal states of a depth once.

    A state counts as many nodes as histories lead to it. Counting stops beyond `most` nodes.
    """
    level: Counter[Any] = Counter([rules.initial()])  # states of a depth: histories to each
    totals: Counter[int] = Counter()  # nodes by who moves
    infosets: tuple[set[Hashable], set[Hashable]] = (set(), set())
    depth = -1
    nodes = 1
    while level and nodes <= most:
        depth += 1
        following: Counter[Any] = Counter()
        for state, histories in level.items():
            node = node_of(rules, state)
            totals[node.player] += histories
            if node.player >= 0:
                infosets[node.player].add(node.infoset)
            for _, _, after in node.moves:
                following[after] += histories
            nodes += histories * len(node.moves)
            if nodes > most:
                break
        level = following
    return Sizes(
        nodes=nodes,
        choices=totals[0] + totals[1],
        chances=totals[CHANCE],
        ends=totals[TERMINAL],
        infosets=(len(infosets[0]), len(infosets[1])),
        depth=depth,
        exact=nodes <= most,
    )


def has_at_most(rules: GameRules, most: int) -> bool:
    """Whether a game tree has at most `most` nodes, counted depth first; all plays must end.

    A state is expanded once, and counts as many nodes as the tree below it. So a tree that is far
    larger is known as such by few of its states, those near the ends of its first plays.
    """

    def following(state: Any) -> list[Any]:
        return [after for _, _, after in node_of(rules, state).moves]

    sizes: dict[Any, int] = {}  # nodes of the tree below a state, the state's own node included
    path = [rules.initial()]
    states_ahead = [following(path[0])]  # of each state of the path, still to be counted
    nodes = [1]  # of each state of the path, so far
    while nodes[-1] <= most:
        if states_ahead[-1]:
            state = states_ahead[-1].pop()
            if state in sizes:
                nodes[-1] += sizes[state]
            else:
                path.append(state)
                states_ahead.append(following(state))
                nodes.append(1)
            continue
        size = nodes.pop()
        if not nodes:
            return True
        sizes[path.pop()] = size
        states_ahead.pop()
        nodes[-1] += size
    return False


def _number(value: int) -> str:
    return f"{value:,}" if value < 10**9 else f"{float(value):.1e}"


def tree_sizes(rules: Rules) -> Sizes:
    """Sizes of the tree of a game, counted up to `MOST_WRITTEN` nodes."""
    refuse_endless(rules, "export")
    return count_nodes(HogRules(rules), most=MOST_WRITTEN)


def hog_efg(rules: Rules) -> str:
    """Text of the file of a game of Hog that must end."""
    title = (
        f"Hog, {rules.name}, to {rules.goal} with 0 to {rules.max_dice} dice, only the scores seen"
    )
    return "".join(efg_lines(HogRules(rules), title))


def efg_lines(rules: GameRules, title: str) -> Iterator[str]:
    """Write the tree of a game of two players in Gambit's extensive form, version 2."""
    node_of_state = lru_cache(NODES_CACHED)(partial(node_of, rules))
    return _efg_lines(rules.initial(), node_of_state, title, PLAYERS)


def _efg_lines(
    root: Any,
    node_of_state: Callable[[Any], Node],
    title: str,
    players: Sequence[str],
    comment: str = "",
) -> Iterator[str]:
    """Write a game tree in Gambit's extensive form: a heading, then a line for each node.

    Nodes are in prefix order, depth first. See R. D. McKelvey, A. M. McLennan and T. L. Turocy,
    "Gambit: the package for computation in game theory".
    """
    yield f"EFG 2 R {_quoted(title)} {{ {' '.join(map(_quoted, players))} }}\n"
    if comment:
        yield f"{_quoted(comment)}\n"
    numbering = _EfgNumbering()
    stack = [root]  # states of nodes still to be written, the next one last
    while stack:
        node = node_of_state(stack.pop())
        yield numbering.line(node)
        stack.extend(after for _, _, after in reversed(node.moves))


class _EfgNumbering:
    """Numbers of information sets and outcomes in a Gambit file, as they first occur."""

    def __init__(self) -> None:
        """Begin without nodes."""
        self.num_chance_nodes = 0
        self.outcomes: dict[tuple[Fraction | float, ...], int] = {}  # by vector of payoffs
        self.infosets: defaultdict[int, dict[Hashable, int]] = defaultdict(dict)  # by player

    def line(self, node: Node) -> str:
        """Write the line of a node: ``t`` is a terminal one, ``c`` chance's, ``p`` a player's.

        Probabilities are fractions, so nothing is rounded.
        """
        if node.player == TERMINAL:
            payoffs = [_short_fraction(payoff) for payoff in node.payoffs]
            outcome = self.outcomes.setdefault(tuple(payoffs), len(self.outcomes) + 1)
            payoff_list = ", ".join(map(str, payoffs))
            return f't "" {outcome} "" {{ {payoff_list} }}\n'
        if node.player == CHANCE:
            self.num_chance_nodes += 1
            actions = " ".join(f"{_quoted(str(label))} {chance}" for label, chance, _ in node.moves)
            return f'c "" {self.num_chance_nodes} "" {{ {actions} }} 0\n'
        numbers = self.infosets[node.player]
        number = numbers.setdefault(node.infoset, len(numbers) + 1)
        actions = " ".join(_quoted(str(label)) for label, _, _ in node.moves)
        name = _quoted(str(node.infoset))
        return f'p "" {node.player + 1} {number} {name} {{ {actions} }} 0\n'


def flat_efg(tree: FlatTree) -> str:
    """Text of a flat tree as a Gambit file; probabilities without a short fraction are decimal.

    With teams, each member is a player of the file. A team's payoff goes to its first member, and
    the others get 0. A comment says if numbers of the game were rounded.
    """
    first_child = np.searchsorted(tree.parent, np.arange(tree.num_nodes + 1)).tolist()
    word_number, words = tree.words(np.arange(tree.num_nodes))  # words of the move into each node
    word_of_node = [words[number] for number in word_number.tolist()]
    sides = tuple(range(tree.num_players)) if tree.sides is None else tree.sides
    node_of_number = partial(_flat_node, tree, sides, first_child, word_of_node)
    players = [str(player) for player in range(len(sides))]
    comment = ROUNDED if tree.is_rounded else ""
    return "".join(_efg_lines(0, node_of_number, tree.name, players, comment))


def _flat_node(
    tree: FlatTree, sides: Sides, first_child: Sequence[int], words: Sequence[str], node: int
) -> Node:
    """Make a node of a flat tree, with its members as players and fractions as payoffs.

    `sides` is the team, 0 or 1, of each player; by node, `first_child` is the number of its first
    child, and `words` names the move that leads to it.
    """
    moves = [
        (words[child], _short_fraction(float(tree.chance[child])), child)
        for child in range(first_child[node], first_child[node + 1])
    ]
    row = int(tree.row[node])
    if row >= 0:
        name = tree.names[row]
        infoset = name.state if isinstance(name, Known) else name
        return Node(int(tree.member[row]), infoset, moves)
    return Node(int(tree.player[node]), moves=moves, payoffs=_payoffs_of_members(tree, sides, node))


def _payoffs_of_members(tree: FlatTree, sides: Sides, node: int) -> list[Fraction | float]:
    """List the payoffs to all players at a terminal node: a side's goes to its first member."""
    difference = float(tree.payoff[node])  # of the payoff to player 0 from shift + centre
    side_payoffs: list[Fraction | float] = [difference, -difference]
    if tree.shift or tree.centre:  # fractions, so that the sums of all nodes are equal
        payoff = Fraction(_short_fraction(difference + (tree.shift + tree.centre)))
        sum_of_payoffs = Fraction(_short_fraction(2.0 * tree.shift))  # to both sides
        side_payoffs = [payoff, sum_of_payoffs - payoff]
    payoffs: list[Fraction | float] = [0.0] * len(sides)
    for side in {*sides}:
        payoffs[sides.index(side)] = side_payoffs[side]
    return payoffs


def _short_fraction(value: Fraction | float) -> Fraction | float:
    """Give the fraction of a small denominator that a double stands for, else the double."""
    if isinstance(value, Fraction):
        return value
    fraction = Fraction(value).limit_denominator(10**6)
    return fraction if float(fraction) == value else value


def _quoted(text: str) -> str:
    seen = "\n".join(map(printable, text.split("\n")))  # OpenSpiel's names have several lines
    escaped = seen.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
