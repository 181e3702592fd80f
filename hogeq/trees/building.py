"""The builder of flat trees: a game that names the moves at a state is walked once, depth first."""

import math
from array import array
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from operator import itemgetter
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.support.messages import HogeqError, counted, one_line, raised, shown
from hogeq.support.progress import phase
from hogeq.support.short_fractions import meant
from hogeq.support.workers import memory
from hogeq.trees.exact_numbers import MOST_EXACT, are_held, is_held
from hogeq.trees.flat import (
    CHANCE,
    IN_RANGE,
    LARGEST,
    TERMINAL,
    FlatTree,
    Forget,
    HistoryStep,
)
from hogeq.trees.lasting_names import NoLastingNameError, lasting
from hogeq.trees.rows import ROW_SUM
from hogeq.trees.teams import Known, Sides, paid_to, teams_of

MOST_NODES: Final = 20_000_000  # of a tree of which no file tells the size: a minute's wait
MOST_MOVES: Final = 100_000  # of a play, unless a file says that it ends
NODE_BYTES: Final = 25  # of a tree while it is built, ...
LEVEL_BYTES: Final = 1000  # ... of a depth, ...
ROW_BYTES: Final = 300  # ... of an information set, and ...
ACTION_BYTES: Final = 12  # ... of an action there, of which all sets have as many
FIRST_LOOK: Final = 64  # nodes after which ...
LOOK_UP: Final = 2**14  # ... and again after so many, progress, memory and size are looked at
ESTIMATED: Final = 10  # moves of a walk for one of the random plays that estimate its size
AT_ONCE: Final = 200  # moves of the first such plays
SURE: Final = 20 * math.log(10)  # of 10**20 games that are not too large one may be called so
ENOUGH: Final = 1e60  # nodes in an estimate, after which a play need not go on
RECURS: Final = "has a play in which a position comes again, so no tree; allowed: games that end"
LEAST: Final = 1e-300  # probability of chance other than 0: smaller ones lose digits
ROUNDED: Final = 1e-12  # share of the payoffs at an end that their sum may miss by rounding

Moves = Sequence[tuple[Any, Fraction | float, Any]]
"""Name or number of each move, its probability (1 of a player's), the state it leads to."""


class Node(NamedTuple):
    """Node of a game at a state: the player to move, and the moves."""

    player: int  # who moves: a number from 0, `CHANCE` or `TERMINAL`
    infoset: Hashable = None  # all that the player knows; equal ones are one information set
    payoff: float = 0.0  # to player 0 at the end
    moves: Moves = ()
    payoffs: Sequence[Fraction | float] = ()  # to every player, if others than payoff and -payoff


class NodeError(HogeqError):
    """Refusal of a node; `flatten` puts the game and the history before it."""


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
    """Lay out a game whose moves are numbers, or all that comes in `longest` moves of players.

    `look` gives the node at a state, `describe` the words of the moves of a history. Nodes are met
    depth first, so that few states are held at once. With `deepest`, the number of nodes of a file,
    `look` is asked once for each node, in this order.
    """
    walk = _Walk(forget if callable(forget) else None, sides)
    num_visited, num_known = 0, 1  # nodes looked at, and these with all their children
    next_check = FIRST_LOOK
    estimate = _Estimate(root, look) if deepest is longest is None else None
    waiting: list[Iterator[Any]] = [iter([(0, 1.0, root)])]  # siblings still to come, by depth
    path: list[int] = []  # numbers of the moves to the node at hand, after one for the root
    movers: list[int] = []  # who made them
    with phase(f"tree of {name}", unit="nodes") as progress:
        while waiting:
            step = next(waiting[-1], None)
            if step is None:
                waiting.pop()
                continue
            depth = len(waiting) - 1
            path[depth:], movers[depth:] = step[:1], ()
            try:
                node = look(step[2])
                is_last = longest is not None and sum(mover >= 0 for mover in movers) >= longest
                moves = walk.settle(node, depth, is_last)
            except Exception as error:
                where = history(movers, path[1:], describe)
                is_told = isinstance(error, NodeError | NoLastingNameError)
                reason = error if is_told else raised(error)
                raise HogeqError(f"{name}: {where}: {reason}") from error
            num_visited += 1
            if moves:
                waiting.append(iter(moves))
                movers.append(node.player)
                num_known += len(moves)
                if deepest is None and num_known > MOST_NODES:
                    raise NoTreeError(f"{name}: has more than {MOST_NODES:,} nodes")
                if depth >= (deepest or MOST_MOVES):
                    raise NoTreeError(f"{name}: has plays of more than {depth:,} moves")
            if num_visited == next_check:
                next_check = (num_visited // LOOK_UP + 1) * LOOK_UP
                progress.reach(num_visited)
                need = NODE_BYTES * num_known + LEVEL_BYTES * len(walk.levels)
                need += len(walk.legal) * (ROW_BYTES + ACTION_BYTES * walk.most)
                require_memory(f"{name}: has more than {num_visited:,} nodes", need)
                progress.measured(_estimated_size(estimate, num_visited, name))
    tree = walk.tree(name, describe)
    if tree.largest_payoff < 1.0 / LARGEST:
        raise HogeqError(
            f"{name}: the largest payoff is {tree.largest_payoff:g}; {IN_RANGE}, the largest "
            f"{1.0 / LARGEST:g} or more, or all 0"
        )
    return tree


class _Estimate:
    """Number of nodes by random plays, which tell that a tree is too large long before a walk does.

    The sum over the nodes of a play of one over the probability to come there has as its mean the
    number of nodes, N (Knuth 1975, "Estimating the efficiency of backtrack programs"). So if N is
    at most `MOST_NODES`, M, who bets a tenth of a fortune on every play, at odds X / M for a sum
    X, has a supermartingale: by Ville's inequality a fortune ever grows by `SURE` with a
    probability of at most 1 / SURE.
    """

    def __init__(self, root: Any, look: Callable[[Any], Node]) -> None:
        self.root, self.look = root, look
        self.random = np.random.default_rng(0)
        self.fortune = self.sum = 0.0  # logarithm of M's fortune, sum of all plays' estimates
        self.plays = self.spent = 0  # spent: moves looked at
        self.recurs = False  # whether a play came to a state again

    def problem(self, moves: int) -> str:
        """Play until so many moves were looked at; say why the tree cannot be built."""
        while self.spent <= moves and self.fortune < SURE and not self.recurs:
            estimate = self.play()
            self.plays, self.sum = self.plays + 1, self.sum + estimate
            self.fortune += math.log(0.9 + 0.1 * estimate / MOST_NODES)
        if self.recurs:
            return RECURS
        return f"has more than {MOST_NODES:,} nodes" if self.fortune >= SURE else ""

    @property
    def figure(self) -> str:
        """The estimate in words."""
        found = f"some {self.sum / self.plays:.1g} by {counted(self.plays, 'random play')}"
        return f"{found}, at most {MOST_NODES:,}"

    def play(self) -> float:
        """Estimate the number of nodes by one random play, or by its first moves."""
        state = self.root
        weight = total = 1.0  # 1 / probability of coming to the state; sum of these so far
        met = set[Any]()
        for _ in range(MOST_MOVES):
            self.spent += 1
            with suppress(TypeError):  # of states that cannot be looked up
                self.recurs = state in met
                met.add(state)
            if self.recurs:  # so it can again, and a tree has no end
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


def _estimated_size(estimate: _Estimate | None, num_visited: int, name: str) -> str:
    """Estimate by more random plays; give the size in words, or refuse a tree that is too large."""
    if estimate is None:
        return ""
    problem = estimate.problem(max(num_visited // ESTIMATED, AT_ONCE))
    if problem:
        raise NoTreeError(f"{name}: {problem}")
    return estimate.figure


def require_few_nodes(fewest: int) -> None:
    """Refuse parameters of a game whose tree has surely more nodes than may be built."""
    if fewest > MOST_NODES:
        raise HogeqError(f"has more than {MOST_NODES:,} nodes; allowed: smaller parameters")


def require_memory(given: str, need: int) -> None:
    """Refuse trees that need more bytes than there are."""
    if need > memory():
        machine = f"{memory() / 2**30:.1f} GiB of this machine"
        raise NoTreeError(f"{given}, which need more memory than the {machine}")


def drawn_moves(moves: Moves) -> Moves:
    """Scale probabilities of chance that sum to nearly 1; refuse others."""
    for _, chance, _ in moves:
        if not 0.0 <= chance <= 1.0 + ROW_SUM:
            of = f"of probability {shown(chance)}"
            raise NodeError(f"an action of chance is {of}; allowed: 0 to 1")
    chances = [float(chance) for _, chance, _ in moves]
    total = sum(chances)
    if any(0 < given < LEAST for _, given, _ in moves):
        allowed = f"allowed: 0, or {LEAST:g} and more"
        raise NodeError(f"an action of chance is of a probability below {LEAST:g}; {allowed}")
    if abs(total - 1.0) > ROW_SUM:
        sums = f"probabilities of chance sum to {total:.12g}"
        raise NodeError(f"{sums}; allowed: 1 within {ROW_SUM:g}")
    if abs(total - 1.0) <= np.finfo(float).eps * len(chances):  # by rounding alone
        return moves
    return [(number, float(chance) / total, after) for number, chance, after in moves]


_number: Final = itemgetter(0)  # of a move


class _Level(NamedTuple):
    """Nodes of one depth, as a walk meets them."""

    row: "array[Any]"  # information set of each node, in the order of first meetings; else -1
    many: "array[Any]"  # its moves
    payoff: "array[Any]"  # of ends alone
    chance: "array[Any]"  # of the moves of chance, and ...
    drawn: "array[Any]"  # ... their numbers


class _Paid(NamedTuple):
    """Payoffs at an end: to one player, to two, or to two teams."""

    players: int
    payoff: float  # to the first
    is_held: bool  # whether this number stands for it
    total: Any
    missed: float  # by which the total may miss that of another end


def _paid(given: Sequence[Fraction | float], sides: Sides | None) -> _Paid:
    """Add up payoffs; those of teams as the numbers that they stand for."""
    for payoff in given:
        if not -LARGEST <= payoff <= LARGEST:
            raise NodeError(f"payoff {shown(payoff)}; {IN_RANGE}")
    # Fractions and whole numbers are what was meant; others may have been rounded before.
    is_exact = all(isinstance(payoff, Fraction | int) for payoff in given)
    missed = 0.0 if is_exact else ROUNDED * max(abs(float(payoff)) for payoff in given)
    paid = given if sides is None else paid_to(_fractions(given), sides)
    total: Any = sum(paid) if len(paid) > 1 else 0
    if total and any(isinstance(payoff, float) for payoff in paid):
        total = float(sum(_fractions(paid)))  # -5.0 and 5.3 make 0.3, not 0.2999999999999998
    return _Paid(len(paid), float(paid[0]), is_held(paid[0]), total, missed)


def _fractions(given: Sequence[Fraction | float]) -> list[Fraction]:
    """Give fractions and whole numbers as they are, of others what they stand for."""
    return [Fraction(one) if isinstance(one, Fraction | int) else meant(one) for one in given]


class InformationSets:
    """Information sets and payoffs of the nodes that a walk meets, each checked."""

    def __init__(self, forget: Forget | None = None, sides: Sides | None = None) -> None:
        self.forget, self.sides = forget, sides
        self.rows: dict[int, dict[Hashable, int]] = {}  # by player or team
        self.legal: list[Sequence[int]] = []  # numbers of each row's actions
        self.seen: dict[tuple[int, ...], Sequence[int]] = {}  # such numbers, each once
        self.most = 1  # actions of a row
        self.num_players = 0  # 0 until an end is met
        self.total: Any = 0  # what the payoffs at every end sum to
        self.is_rounded = False  # whether a number was met that no double stands for

    def row_of(self, node: Node) -> int:
        """Find the information set of a node; all nodes of one have the same actions."""
        known = self.forget(node.player, node.infoset) if self.forget else node.infoset
        player, key = node.player, known
        if self.sides is not None:
            player, key = self.sides[node.player], Known(node.player, known)
        rows = self.rows.setdefault(player, {})
        row = rows.get(key, len(self.legal))
        if row == len(self.legal):
            rows[self.lasting(key)] = row
        numbers = list(map(_number, node.moves))
        wrong = ""
        if row == len(self.legal):
            self.legal.append(self.seen.setdefault(tuple(numbers), numbers))
            self.most = max(self.most, len(numbers))
            if len(set(numbers)) < len(numbers):
                wrong = "has two equal actions; allowed: different ones"
            elif not numbers:
                wrong = "has no action; allowed: one or more"
        elif self.legal[row] != numbers:
            wrong = "histories differ in their legal actions"
        if wrong:
            raise NodeError(f"information state {one_line(known)}: {wrong}")
        return row

    @staticmethod
    def lasting(key: Hashable) -> Hashable:
        """Give an equal name of an information set whose text is one in all processes."""
        return key._replace(state=lasting(key.state)) if isinstance(key, Known) else lasting(key)

    def payoff_of(self, end: Node) -> float:
        """Give the payoff to player 0 at an end; both players' payoffs have one sum."""
        paid = _paid(end.payoffs or (end.payoff, -end.payoff), self.sides)
        if not self.num_players:
            self.num_players = paid.players
            self.total = 0 if abs(paid.total) <= paid.missed else paid.total
        if paid.players != self.num_players:
            raise NodeError(f"{paid.players} payoffs; allowed: {self.num_players}")
        if paid.total != self.total and abs(paid.total - self.total) > paid.missed:
            sums = f"{one_line(paid.total)}, at the first end to {one_line(self.total)}"
            allowed = "allowed: zero-sum and constant-sum games"
            raise NodeError(f"is not zero-sum: payoffs sum to {sums}; {allowed}")
        self.is_rounded = self.is_rounded or not (paid.is_held and is_held(self.total))
        return paid.payoff

    def sorted_rows(self) -> "tuple[list[Hashable], array[Any], array[Any]]":
        """List what is known, player and number of each row, by player and by name."""
        names: list[Hashable] = []
        seat, numbers = array("b"), array("i")
        for player in sorted(self.rows):
            known = sorted(self.rows[player], key=str)
            names += known
            seat.extend([player] * len(known))
            numbers.extend(map(self.rows[player].__getitem__, known))
        self.rows.clear()
        return names, seat, numbers


class _Walk(InformationSets):
    """Nodes by depth in the order of a depth-first walk, and the information sets met."""

    def __init__(self, forget: Forget | None, sides: Sides | None) -> None:
        super().__init__(forget, sides)
        self.levels: list[_Level] = []

    def settle(self, node: Node, depth: int, is_last: bool) -> Moves:
        """Enter a node; give the moves that are laid out, none of a player where play is cut."""
        if depth == len(self.levels):
            self.levels.append(_Level(array("i"), array("i"), array("d"), array("d"), array("i")))
        level, row, moves = self.levels[depth], -1, node.moves
        if node.player >= 0:
            row, moves = self.row_of(node), () if is_last else moves
        elif node.player == CHANCE:
            moves = drawn_moves(moves)
            chances = [chance for _, chance, _ in moves]
            self.is_rounded = self.is_rounded or not are_held(chances)
            level.chance.extend(map(float, chances))
            level.drawn.extend(map(_number, moves))
        else:
            moves = ()
            level.payoff.append(self.payoff_of(node))
        level.row.append(row)
        level.many.append(len(moves))
        return moves

    def joined(self, field: str, kind: Any) -> NDArray[Any]:
        """Join and forget an array of all levels."""
        parts = [np.frombuffer(getattr(level, field), kind) for level in self.levels]
        self.levels = [level._replace(**{field: array("b")}) for level in self.levels]
        return np.concatenate(parts)

    def _centred(self, paid: NDArray[np.float64], half: float) -> tuple[NDArray[np.float64], float]:
        """Put payoffs of player 0, (E,), around 0: take off `FlatTree.shift`, half, and a centre.

        A constant that is large beside the stakes would hide them.
        """
        least, most = paid.min(initial=np.inf), paid.max(initial=-np.inf)
        middle = least / 2 + most / 2
        if not self.total and not abs(middle) > most - least > 0.0:
            return paid, 0.0
        centre = float(middle) - half
        level = Fraction(half + centre)
        distinct, place = np.unique(paid, return_inverse=True)
        if len(distinct) <= MOST_EXACT:  # by what numbers stand for: doubles miss it by more
            moved = np.array([float(meant(one) - level) for one in distinct.tolist()])[place]
        else:
            moved = paid - (half + centre)
        # What would not come back to the last digit stays: small payoffs beside large ones.
        if np.array_equal(moved + (half + centre), paid):
            return moved, centre
        return paid, 0.0 - half

    def tree(self, name: str, describe: Callable[[Sequence[int]], list[str]]) -> FlatTree:
        """Put the nodes in the order of their depth, with few copies at a time."""
        names, seat, first_numbers = self.sorted_rows()
        new = np.full(len(names) + 1, -1, np.int32)  # row of each set, by number; -1 for none
        new[first_numbers] = np.arange(len(names))
        num_legal = np.array([len(self.legal[number]) for number in first_numbers], np.int64)
        moves = np.zeros((len(names), self.most), np.int32)
        for row, number in enumerate(first_numbers):
            moves[row, : num_legal[row]] = self.legal[number]
        half = float(self.total) / 2
        paid, centre = self._centred(self.joined("payoff", np.float64), half)
        row = new[self.joined("row", np.int32)]
        num_moves = self.joined("many", np.int32)
        player = np.array([*seat, CHANCE], np.int8)[row]  # row -1 takes the last one
        player[(row < 0) & (num_moves == 0)] = TERMINAL
        inner = np.flatnonzero(num_moves)
        num_children = np.append(np.int32(1), num_moves[inner])  # the root is one, of no node
        parent = np.repeat(np.append(-1, inner).astype(np.int32), num_children)
        return FlatTree(
            name=name if self.sides is None else f"{name}, teams {teams_of(self.sides)}",
            player=player,
            parent=parent,
            row=row,
            paid=paid,
            seat=np.array(seat, np.int8),
            num_legal=num_legal,
            moves=moves,
            drawn=self.joined("drawn", np.int32),
            odds=self.joined("chance", np.float64),
            names=names,
            describe=describe,
            num_players=self.num_players or 2,
            shift=half,
            centre=centre,
            sides=self.sides,
            is_rounded=self.is_rounded,
        )


def history(
    movers: Sequence[int], moves: Sequence[int], describe: Callable[[Sequence[int]], list[str]]
) -> str:
    """Name a node for a refusal, by the moves to it."""
    players = [None if mover == CHANCE else mover for mover in movers]
    steps = map(HistoryStep, players, [None] * len(moves), describe(moves))
    return f"after {one_line('; '.join(map(str, steps)))}" if moves else "at the start"
