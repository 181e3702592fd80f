"""The builder of flat trees: a game that names the moves at a state is walked once, depth first."""

import math
from array import array
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import lru_cache, partial
from operator import itemgetter
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.support.aliases import Floats, Ints
from hogeq.support.messages import HogeqError, counted, one_line, raised, shown
from hogeq.support.progress import Phase, phase
from hogeq.support.short_fractions import short_fraction
from hogeq.support.workers import memory
from hogeq.trees.exact_numbers import MOST_EXACT, are_exact_doubles, is_exact_double
from hogeq.trees.flat import (
    CHANCE,
    IN_RANGE,
    LARGEST,
    TERMINAL,
    FlatTree,
    Forget,
    Indices,
    history_text,
)
from hogeq.trees.lasting_names import NoLastingNameError, lasting_name
from hogeq.trees.rows import ROW_SUM
from hogeq.trees.teams import Known, Sides, paid_to, teams_of

MOST_NODES: Final = 20_000_000  # of a tree of which no file tells the size: a minute's wait
MOST_MOVES: Final = 100_000  # of a play, unless a file says that it ends
# Memory of a tree while it is built. All information sets have room for as many actions.
NODE_BYTES: Final = 25  # of a node
LEVEL_BYTES: Final = 1000  # of a depth
ROW_BYTES: Final = 300  # of an information set
ACTION_BYTES: Final = 12  # of an action of an information set
# Progress, memory and size are checked first after a few nodes, then at regular intervals.
FIRST_CHECK: Final = 64
CHECK_INTERVAL: Final = 2**14
WALKED_PER_PLAYED: Final = 10  # nodes of a walk for each move of the plays that estimate its size
FIRST_PLAYED: Final = 200  # moves of the first such plays
SURE: Final = 20 * math.log(10)  # logarithm of a fortune that refuses 1 in 10**20 small games
ENOUGH: Final = 1e60  # estimated nodes at which a play ends
RECURS: Final = "has a play in which a position comes again, so no tree; allowed: games that end"
LEAST: Final = 1e-300  # smallest probability of chance other than 0: below it digits are lost
PAYOFFS_CACHED: Final = 4096  # different payoffs at terminal nodes that are checked once
ROUNDED: Final = 1e-12  # largest rounding error of a sum of payoffs, as a share of the largest one

Moves = Sequence[tuple[Any, Fraction | float, Any]]
"""Name or number of each move, its probability (1 of a player's), the state it leads to."""


class Node(NamedTuple):
    """Node of a game at a state: the player to move, and the moves."""

    player: int  # who moves: a number from 0, `CHANCE` or `TERMINAL`
    infoset: Hashable = None  # all that the player knows; equal ones are one information set
    moves: Moves = ()
    payoffs: Sequence[Fraction | float] = ()  # to every player at the end


class NodeError(HogeqError):
    """Refusal of a node; `flatten` puts the game and the history before it."""


def reason_of(error: Exception) -> str:
    """Give the message of a refusal of a node, and class and message of an error of the rules."""
    is_refusal = isinstance(error, NodeError | NoLastingNameError)
    return str(error) if is_refusal else raised(error)


class NoTreeError(HogeqError):
    """Refusal of a tree that is endless, or too large; the positions may be few."""


def flatten(
    name: str,
    root: Any,
    look: Callable[[Any], Node],
    describe: Callable[[Sequence[int]], list[str]],
    longest: int | None = None,
    deepest: int | None = None,
    forget: str | Forget | None = None,
    sides: Sides | None = None,
) -> FlatTree:
    """Lay out a game as a flat tree, by a depth-first walk that holds few states at a time.

    `root` is the first state. `look` gives the node at a state; its moves are numbers, and
    `describe` gives the words of the moves of a history. With `longest` play is cut after so many
    moves of players. With `deepest`, the number of nodes of a file, `look` is asked once for each
    node, in the order of the walk; else random plays estimate the number of nodes beforehand.
    `forget`, if it is a function, maps what a player knows to the key of an information set;
    `sides` puts the players into two teams.

    `NoTreeError` if the tree is too large or has no end; `HogeqError` for other faults of the game.
    """
    walk = _Walk(forget if callable(forget) else None, sides)
    # The size of a tree that is cut is not estimated, nor one that a file tells.
    estimate = _Estimate(root, look) if deepest is None and longest is None else None
    limits = _SizeLimits(name, walk, deepest, estimate)
    waiting: list[Iterator[Any]] = [iter([(0, 1.0, root)])]  # siblings still to come, by depth
    path: list[int] = []  # number 0 for the root, then the moves to the current node
    movers: list[int] = []  # who made these moves
    with phase(f"tree of {name}", unit="nodes") as progress:
        while waiting:
            move = next(waiting[-1], None)
            if move is None:
                waiting.pop()
                continue
            number, _, state = move
            depth = len(waiting) - 1
            path[depth:] = [number]
            movers[depth:] = []
            try:
                node = look(state)
                is_last = longest is not None and sum(mover >= 0 for mover in movers) >= longest
                moves = walk.add(node, depth, is_last)
            except Exception as error:
                where = history_text(movers, path[1:], describe)
                raise HogeqError(f"{name}: {where}: {reason_of(error)}") from error
            if moves:
                waiting.append(iter(moves))
                movers.append(node.player)
            limits.check(len(moves), depth, progress)
    limits.check_memory()
    tree = walk.tree(name, describe)
    least = 1.0 / LARGEST
    if tree.largest_payoff < least:
        largest = f"the largest payoff is {tree.largest_payoff:g}"
        raise HogeqError(f"{name}: {largest}; {IN_RANGE}, the largest {least:g} or more, or all 0")
    return tree


class _SizeLimits:
    """Limits of the size of a tree, checked at each node of a walk."""

    def __init__(
        self, name: str, walk: "_Walk", deepest: int | None, estimate: "_Estimate | None"
    ) -> None:
        """Begin without nodes; the arguments are as in `flatten`, with the estimate of the size."""
        self.name = name
        self.walk = walk
        self.deepest = deepest
        self.estimate = estimate
        self.num_visited = 0  # nodes looked at
        self.num_known = 1  # these with all their children
        self.next_check = FIRST_CHECK  # number of visited nodes at which memory is checked next

    def check(self, num_moves: int, depth: int, progress: Phase) -> None:
        """Count a node at a depth, and its moves; raise `NoTreeError` if the tree is too large.

        At regular intervals the memory is checked, the estimate refined, and progress reported.
        """
        self.num_visited += 1
        self.num_known += num_moves
        if num_moves:
            if self.deepest is None and self.num_known > MOST_NODES:
                raise NoTreeError(f"{self.name}: has more than {MOST_NODES:,} nodes")
            if depth >= (self.deepest or MOST_MOVES):
                raise NoTreeError(f"{self.name}: has plays of more than {depth:,} moves")
        if self.num_visited < self.next_check:
            return
        self.next_check = (self.num_visited // CHECK_INTERVAL + 1) * CHECK_INTERVAL
        progress.reach(self.num_visited)
        size = f"{self.name}: has more than {self.num_visited:,} nodes"
        require_memory(size, self.walk.bytes_of_tree(self.num_known))
        if self.estimate is not None:
            moves_played = max(self.num_visited // WALKED_PER_PLAYED, FIRST_PLAYED)
            progress.measured(self.estimate.refine(self.name, moves_played))

    def check_memory(self) -> None:
        """Raise `NoTreeError` if the tree of all nodes visited needs too much memory."""
        size = f"{self.name}: has {self.num_visited:,} nodes"
        require_memory(size, self.walk.bytes_of_tree(self.num_visited))


class _Estimate:
    """Estimate of the number of nodes by random plays, which is ready long before a walk.

    An estimate is the sum, over the nodes of a play, of 1 / (probability to come there). Its mean
    is the number of nodes, N (Knuth 1975, "Estimating the efficiency of backtrack programs"). Let
    M be `MOST_NODES`, and bet a tenth of a fortune on every play, which pays X / M for an estimate
    X. If N is at most M, the fortune is a supermartingale: by Ville's inequality the probability
    that it ever grows by a factor of exp(SURE) is at most exp(-SURE).
    """

    def __init__(self, root: Any, look: Callable[[Any], Node]) -> None:
        """Begin without plays; `look` gives the node at a state."""
        self.root = root
        self.look = look
        self.random = np.random.default_rng(0)
        self.log_fortune = 0.0  # logarithm of the fortune of a bettor against a small tree
        self.sum = 0.0  # of the estimates of all plays
        self.plays = self.spent = 0  # number of plays, and of moves that they looked at
        self.recurs = False  # whether a play came to a state again

    def refine(self, name: str, moves: int) -> str:
        """Play at random until so many moves were looked at; write the mean estimate as a text.

        Each play bets that the tree is too large; a fortune of exp(`SURE`) refuses it with
        `NoTreeError`. `name` is that of the game, for the message.
        """
        while self.spent <= moves and self.log_fortune < SURE and not self.recurs:
            estimate = self.play()
            self.plays += 1
            self.sum += estimate
            self.log_fortune += math.log(0.9 + 0.1 * estimate / MOST_NODES)
        if self.recurs:
            raise NoTreeError(f"{name}: {RECURS}")
        if self.log_fortune >= SURE:
            raise NoTreeError(f"{name}: has more than {MOST_NODES:,} nodes")
        mean = self.sum / self.plays
        return f"some {mean:.1g} by {counted(self.plays, 'random play')}, at most {MOST_NODES:,}"

    def play(self) -> float:
        """Estimate the number of nodes by one random play, or by its first moves."""
        state = self.root
        weight = total = 1.0  # 1 / probability of coming to the state; sum of these so far
        visited = set[Any]()
        for _ in range(MOST_MOVES):
            self.spent += 1
            with suppress(TypeError):  # states that have no hash are not compared
                self.recurs = state in visited
                visited.add(state)
            if self.recurs:  # play can go round again and again, so the tree has no end
                break
            try:
                moves = self.look(state).moves
            except Exception:  # noqa: BLE001 - the walk will come there and refuse it
                break
            if not moves or total > ENOUGH:
                break
            self.spent += len(moves)
            weight *= len(moves)
            total += weight
            state = moves[int(self.random.integers(len(moves)))][2]
        return total


def require_few_nodes(fewest: int) -> None:
    """Refuse parameters of a game whose tree has surely more nodes than may be built."""
    if fewest > MOST_NODES:
        raise HogeqError(f"has more than {MOST_NODES:,} nodes; allowed: smaller parameters")


def require_memory(size: str, num_bytes: int) -> None:
    """Refuse a tree of a size, in words, that needs more bytes than the machine has."""
    if num_bytes > memory():
        machine = f"{memory() / 2**30:.1f} GiB of this machine"
        raise NoTreeError(f"{size}, which need more memory than the {machine}")


def scale_chances(moves: Moves) -> Moves:
    """Scale probabilities of chance that nearly sum to 1; `NodeError` if they are others."""
    for _, chance, _ in moves:
        if not 0.0 <= chance <= 1.0 + ROW_SUM:
            of = f"of probability {shown(chance)}"
            raise NodeError(f"an action of chance is {of}; allowed: 0 to 1")
    chances = [float(chance) for _, chance, _ in moves]
    total = sum(chances)
    if any(0 < chance < LEAST for _, chance, _ in moves):
        allowed = f"allowed: 0, or {LEAST:g} and more"
        raise NodeError(f"an action of chance is of a probability below {LEAST:g}; {allowed}")
    if abs(total - 1.0) > ROW_SUM:
        sums = f"probabilities of chance sum to {total:.12g}"
        raise NodeError(f"{sums}; allowed: 1 within {ROW_SUM:g}")
    if abs(total - 1.0) <= np.finfo(float).eps * len(chances):  # by rounding alone
        return moves
    return [(number, float(chance) / total, state) for number, chance, state in moves]


_number: Final = itemgetter(0)  # of a move


class _Level(NamedTuple):
    """Nodes of one depth, in the order of a walk."""

    row: "array[Any]"  # of each node, its information set in the order of first visits, or -1
    num_moves: "array[Any]"  # of each node
    payoff: "array[Any]"  # of terminal nodes alone
    chance: "array[Any]"  # probabilities of the moves of chance
    drawn: "array[Any]"  # numbers of the moves of chance


class _Paid(NamedTuple):
    """Payoffs at a terminal node: to one player, to two, or to two teams."""

    players: int  # number of players or teams
    payoff: float  # to the first of them
    is_held: bool  # whether this double stands for the payoff, which may be a fraction
    total: Any  # sum of all payoffs; 0 for one player
    missed: float  # most by which totals of two terminal nodes may differ by rounding


def _check_payoffs(sides: Sides | None, *payoffs: Fraction | float) -> _Paid:
    """Check the payoffs to all players at a terminal node, and add up those of teams."""
    for payoff in payoffs:
        if not -LARGEST <= payoff <= LARGEST:
            raise NodeError(f"payoff {shown(payoff)}; {IN_RANGE}")
    # Fractions and whole numbers are exact; others may have been rounded before.
    is_exact = all(isinstance(payoff, Fraction | int) for payoff in payoffs)
    missed = 0.0 if is_exact else ROUNDED * max(abs(float(payoff)) for payoff in payoffs)
    paid = payoffs if sides is None else paid_to(_fractions(payoffs), sides)
    total: Any = sum(paid) if len(paid) > 1 else 0
    if total and any(isinstance(payoff, float) for payoff in paid):
        total = float(sum(_fractions(paid)))  # -5.0 and 5.3 make 0.3, not 0.2999999999999998
    return _Paid(len(paid), float(paid[0]), is_exact_double(paid[0]), total, missed)


def _fractions(numbers: Sequence[Fraction | float]) -> list[Fraction]:
    """Convert numbers to fractions: doubles to the short ones that they stand for."""
    return [Fraction(x) if isinstance(x, Fraction | int) else short_fraction(x) for x in numbers]


def _infoset_error(known: Hashable, problem: str) -> NodeError:
    """Make the refusal of an information set, named by all that its player knows there."""
    return NodeError(f"information state {one_line(known)}: {problem}")


class InformationSets:
    """Information sets and payoffs of the nodes of a walk, each checked."""

    def __init__(self, forget: Forget | None = None, sides: Sides | None = None) -> None:
        """Begin without nodes; `forget` coarsens information, `sides` are teams of players."""
        self.forget = forget
        self.sides = sides
        # Terminal nodes share few payoffs, and checking them takes longer than the rest of a node.
        # Typed, since 1.0 may have been rounded and 1 has not. It takes -0.0 for 0.0.
        self._paid = lru_cache(PAYOFFS_CACHED, typed=True)(partial(_check_payoffs, sides))
        self.rows: dict[int, dict[Hashable, int]] = {}  # by player or team, then by name
        self.legal: list[Sequence[int]] = []  # numbers of each row's actions
        self.lists: dict[tuple[int, ...], Sequence[int]] = {}  # the lists of `legal`, each once
        self.num_actions = 0  # of all rows
        self.num_players = 0  # 0 before the first terminal node
        self.total: Any = 0  # sum of the payoffs at every terminal node
        self.is_rounded = False  # whether some number has no double that stands for it

    def row_of(self, node: Node) -> int:
        """Return the number of a node's information set, a new one if it is met first.

        Raises `NodeError` if the actions of a new one are none or not different, and if those of
        one met before are not the same.
        """
        known = self.forget(node.player, node.infoset) if self.forget else node.infoset
        player = node.player if self.sides is None else self.sides[node.player]
        rows = self.rows.setdefault(player, {})
        row = rows.get(self.name_of(node.player, known), len(self.legal))
        is_new = row == len(self.legal)
        if is_new:
            rows[self.name_of(node.player, lasting_name(known))] = row
        actions = list(map(_number, node.moves))
        if is_new:
            self._add_actions(known, actions)
        elif self.legal[row] != actions:
            raise _infoset_error(known, "histories differ in their legal actions")
        return row

    def _add_actions(self, known: Hashable, actions: list[int]) -> None:
        """Append the actions of a new information set; raise `NodeError` if it cannot have them."""
        self.legal.append(self.lists.setdefault(tuple(actions), actions))
        self.num_actions += len(actions)
        if len(set(actions)) < len(actions):
            raise _infoset_error(known, "has two equal actions; allowed: different ones")
        if not actions:
            raise _infoset_error(known, "has no action; allowed: one or more")

    def name_of(self, player: int, known: Hashable) -> Hashable:
        """Name the information set in which a player knows this: of a team with its member."""
        return known if self.sides is None else Known(player, known)

    def payoff_of(self, end: Node) -> float:
        """Return the payoff to player 0, or to the first team, at a terminal node.

        The first terminal node sets the number of players and the sum of their payoffs, 0 if this
        is rounding alone; raises `NodeError` at a later one with others. Notes in `is_rounded`
        whether some number is not exactly the double that stands for it.
        """
        paid = self._paid(*end.payoffs)
        if not self.num_players:  # the first one
            self.num_players = paid.players
            self.total = 0 if abs(paid.total) <= paid.missed else paid.total
        if paid.players != self.num_players:
            raise NodeError(f"{paid.players} payoffs; allowed: {self.num_players}")
        if paid.total != self.total and abs(paid.total - self.total) > paid.missed:
            sums = f"{one_line(paid.total)}, at the first end to {one_line(self.total)}"
            allowed = "allowed: zero-sum and constant-sum games"
            raise NodeError(f"is not zero-sum: payoffs sum to {sums}; {allowed}")
        self.is_rounded = self.is_rounded or not (paid.is_held and is_exact_double(self.total))
        # The digest of a tree has the sign of a 0, which the cache loses.
        return paid.payoff if self.sides is not None else float(end.payoffs[0])

    def sorted_rows(self) -> "tuple[list[Hashable], array[Any], array[Any]]":
        """Sort the rows by player and by the text of their name: names, players, old numbers."""
        names: list[Hashable] = []
        seat = array("b")
        numbers = array("i")
        for player in sorted(self.rows):
            player_names = sorted(self.rows[player], key=str)
            names += player_names
            seat.extend([player] * len(player_names))
            numbers.extend(map(self.rows[player].__getitem__, player_names))
        self.rows.clear()  # to save memory
        return names, seat, numbers


class _Walk(InformationSets):
    """Nodes by depth in the order of a depth-first walk, and their information sets."""

    def __init__(self, forget: Forget | None, sides: Sides | None) -> None:
        super().__init__(forget, sides)
        self.levels: list[_Level] = []

    def add(self, node: Node, depth: int, is_last: bool) -> Moves:
        """Append a node to the arrays of its depth; return the moves that the walk is to follow.

        Moves are (number, probability, state) each. A terminal node has none; nor is a player's
        followed if it `is_last`, where play is cut. Chance's are those of positive probability.
        """
        if depth == len(self.levels):
            self.levels.append(_Level(array("i"), array("i"), array("d"), array("d"), array("i")))
        level = self.levels[depth]
        row = -1
        moves = node.moves
        if node.player >= 0:
            row = self.row_of(node)
            moves = () if is_last else moves
        elif node.player == CHANCE:
            moves = scale_chances(moves)
            chances = [chance for _, chance, _ in moves]
            self.is_rounded = self.is_rounded or not are_exact_doubles(chances)
            level.chance.extend(map(float, chances))
            level.drawn.extend(map(_number, moves))
        else:
            moves = ()
            level.payoff.append(self.payoff_of(node))
        level.row.append(row)
        level.num_moves.append(len(moves))
        return moves

    def bytes_of_tree(self, num_nodes: int) -> int:
        """Estimate the bytes of a tree of so many nodes, with the information sets so far."""
        num_bytes = NODE_BYTES * num_nodes + LEVEL_BYTES * len(self.levels)
        return num_bytes + len(self.legal) * ROW_BYTES + self.num_actions * ACTION_BYTES

    def join(self, field: str, kind: Any) -> NDArray[Any]:
        """Join an array of all levels, of numbers of a kind; the levels lose it, to save memory."""
        parts = [np.frombuffer(getattr(level, field), kind) for level in self.levels]
        self.levels = [level._replace(**{field: array("b")}) for level in self.levels]
        return np.concatenate(parts)

    def _centre(self, payoffs: Floats, half: float) -> tuple[Floats, float]:
        """Split the payoffs to player 0, (E,), into a constant and small differences from it.

        A constant that is large beside the differences would hide them in doubles. Returns the
        differences and the centre: payoff = difference + `half` + centre, where `half` is half of
        the sum of both players' payoffs. Payoffs stay as they are, with a centre that takes `half`
        back, if a difference would be rounded, and in a zero-sum game if they are around 0 already.
        """
        least = payoffs.min(initial=np.inf)
        most = payoffs.max(initial=-np.inf)
        middle = least / 2 + most / 2
        if not self.total and not abs(middle) > most - least > 0.0:
            return payoffs, 0.0
        centre = float(middle) - half
        constant = half + centre
        distinct, index = np.unique(payoffs, return_inverse=True)
        if len(distinct) <= MOST_EXACT:  # fractions have the digits that a difference loses
            exact_constant = Fraction(constant)
            distinct_differences = [
                float(short_fraction(number) - exact_constant) for number in distinct.tolist()
            ]
            differences = np.array(distinct_differences)[index]
        else:
            differences = payoffs - constant
        loses_no_digit = np.array_equal(differences + constant, payoffs)
        return (differences, centre) if loses_no_digit else (payoffs, 0.0 - half)

    def _actions_of_rows(self, rows: "array[Any]") -> tuple[Ints, Indices]:
        """Count the actions of each row, (R,), and list their numbers, row by row."""
        num_legal = np.array([len(self.legal[row]) for row in rows], np.int64)
        numbers = (action for row in rows for action in self.legal[row])
        return num_legal, np.fromiter(numbers, np.int32, self.num_actions)

    def tree(self, name: str, describe: Callable[[Sequence[int]], list[str]]) -> FlatTree:
        """Build the tree of all nodes walked; the walk's arrays are used up by it.

        Nodes are numbered depth by depth. The walk has numbered rows (information sets) as it met
        them: in the tree they are sorted by player and name.
        """
        names, seat, old_numbers = self.sorted_rows()
        # New number of a row by its old one; the last entry is for nodes without a row, -1.
        new_number = np.full(len(names) + 1, -1, np.int32)
        new_number[old_numbers] = np.arange(len(names))
        num_legal, action_numbers = self._actions_of_rows(old_numbers)
        half = float(self.total) / 2
        payoffs, centre = self._centre(self.join("payoff", np.float64), half)
        row = new_number[self.join("row", np.int32)]
        num_moves = self.join("num_moves", np.int32)
        player = np.array([*seat, CHANCE], np.int8)[row]  # index -1 takes the last, CHANCE
        player[(row < 0) & (num_moves == 0)] = TERMINAL
        # Children lie level by level in the order of their parents; the root is a child of none.
        inner = np.flatnonzero(num_moves)
        num_children = np.append(np.int32(1), num_moves[inner])
        parent = np.repeat(np.append(-1, inner).astype(np.int32), num_children)
        return FlatTree(
            name=name if self.sides is None else f"{name}, teams {teams_of(self.sides)}",
            player=player,
            parent=parent,
            row=row,
            terminal_payoffs=payoffs,
            seat=np.array(seat, np.int8),
            num_legal=num_legal,
            action_numbers=action_numbers,
            chance_numbers=self.join("drawn", np.int32),
            chance_probabilities=self.join("chance", np.float64),
            names=names,
            describe=describe,
            num_players=self.num_players or 2,
            shift=half,
            centre=centre,
            sides=self.sides,
            is_rounded=self.is_rounded,
        )
