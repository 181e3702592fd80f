"""Tiny games of Hog in normal form: all matrices, and the least that a policy can be beaten by.

Three steps, each exact up to rounding in float64, the first two with fractions if asked for.

1. A roll is *dominated* at a cell if another one wins at least as much there in every memory,
   whatever both players do later. Rolls are eliminated until none is dominated; few cells remain.
   Neither what mixtures nor what policies can guarantee changes by it: whoever rolls a dominated
   number of dice can roll the other one instead, and no opponent gains.
2. The win rate of every matrix that is left against every other one.
3. The value over policies, the least over policies of the most that a matrix wins from them, by
   branch and bound. The win rate is linear in each row of a policy. So if every row is kept in a
   segment or triangle between some corners, a policy is a mixture of the policies at the corners,
   one with independent draws. Let the draws depend on each other: that is a matrix game, solved by
   a linear program, and no policy in the box does better than its value. Cut the box, and go on.
"""

import heapq
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, count, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from hogeq.rules import Rules
from hogeq.rules.memory import Memory
from hogeq.rules.turn import TurnTable

MOST_STATES = 2000
MOST_NODES = 5000  # linear programs of a branch and bound
GAP = 1e-7  # between bounds that are as good as equal

Position = tuple[int, int, Memory]
Branch = tuple[Any, list[tuple[int, Any]], list[tuple[int, Any]]]
"""Of a roll: probability of winning at once; next states with the same mover; with the other."""


class TinyGame:
    """A game as a list of hidden states, later ones reached from earlier ones."""

    def __init__(self, rules: Rules, *, exact: bool = False) -> None:
        number = Fraction if exact else float
        self.rules, self.exact = rules, exact
        turns = TurnTable(rules)
        levels: list[dict[Position, None]] = [{} for _ in range(2 * rules.size - 1)]
        levels[0][0, 0, Memory()] = None
        states: list[Position] = []
        found = []
        for level in levels:
            for position in level:
                states.append(position)
                if len(states) > MOST_STATES:
                    raise OverflowError(f"more than {MOST_STATES} hidden states")
                ways = [turns.outcomes(*position, dice) for dice in range(rules.max_dice + 1)]
                found.append(ways)
                for way in (way for rolled in ways for way in rolled):
                    if way.landing.winner is None:
                        levels[sum(way.landing[:2])][way.following] = None
        place = {position: index for index, position in enumerate(states)}
        self.states = states
        self.cell = [(own, other) for own, other, _ in states]
        self.ways: list[list[Branch]] = []
        for ways in found:
            rows: list[Branch] = []
            for rolled in ways:
                win = number(sum(way.probability for way in rolled if way.landing.winner == 0))
                again, other = (_after(rolled, place, again, number) for again in (True, False))
                rows.append((win, again, other))
            self.ways.append(rows)
        self.rolls = {cell: list(range(rules.max_dice + 1)) for cell in dict.fromkeys(self.cell)}

    def eliminate(self) -> list[tuple[int, int]]:
        """Eliminate dominated rolls, until none is; give the cells at which two or more remain."""
        tolerance = 0 if self.exact else 1e-13
        while True:
            before = sum(map(len, self.rolls.values()))
            most, least, seen = self._extremes()
            for cell, rolls in self.rolls.items():
                here = [state for state in seen if self.cell[state] == cell]
                for roll in rolls if here else rolls[1:]:
                    others = [other for other in self.rolls[cell] if other != roll]
                    if any(
                        all(least[at, other] >= most[at, roll] - tolerance for at in here)
                        for other in others
                    ):
                        self.rolls[cell] = others
            if sum(map(len, self.rolls.values())) == before:
                return [cell for cell, rolls in self.rolls.items() if len(rolls) > 1]

    def _extremes(self) -> tuple[dict[Any, Any], dict[Any, Any], list[int]]:
        """Most and least that each roll can win, both players doing whatever is left to them."""
        most: dict[Any, Any] = {}
        least: dict[Any, Any] = {}
        high: list[Any] = [0] * len(self.states)
        low: list[Any] = [0] * len(self.states)
        seen = [True] + [False] * (len(self.states) - 1)
        for state, cell in enumerate(self.cell):
            for roll in self.rolls[cell] if seen[state] else ():
                _, again, other = self.ways[state][roll]
                for after, _ in (*again, *other):
                    seen[after] = True
        for state in reversed(range(len(self.states))):
            for roll in self.rolls[self.cell[state]]:
                win, again, other = self.ways[state][roll]
                for table, mine, theirs in ((most, high, low), (least, low, high)):
                    table[state, roll] = (
                        win
                        + sum(chance * mine[after] for after, chance in again)
                        + sum(chance * (1 - theirs[after]) for after, chance in other)
                    )
            rolls = self.rolls[self.cell[state]]
            high[state] = max(most[state, roll] for roll in rolls)
            low[state] = min(least[state, roll] for roll in rolls)
        return most, least, [state for state, met in enumerate(seen) if met]

    def matrices(self, cells: Sequence[tuple[int, int]]) -> list[dict[tuple[int, int], int]]:
        """All matrices that differ at these cells; elsewhere the first roll that is left."""
        usual = {cell: rolls[0] for cell, rolls in self.rolls.items()}
        free = [self.rolls[cell] for cell in cells]
        return [usual | dict(zip(cells, rolls, strict=True)) for rolls in product(*free)]

    def payoffs(self, matrices: Sequence[dict[tuple[int, int], int]]) -> NDArray[Any]:
        """Win rate of each matrix, a row, against each other, a column."""
        number = len(matrices)
        dtype = object if self.exact else np.float64
        zero, one = (Fraction(0), Fraction(1)) if self.exact else (0.0, 1.0)
        # By state, (n, n): win probability of the row's player, that one or the other to move.
        mine = np.full((len(self.states), number, number), zero, dtype)
        theirs = np.full((len(self.states), number, number), zero, dtype)
        for state in reversed(range(len(self.states))):
            cell = self.cell[state]
            rolled = np.array([matrix[cell] for matrix in matrices])
            for roll in set(rolled.tolist()):
                win, again, other = self.ways[state][roll]
                rows = rolled == roll
                value = np.full((number, number), win, dtype)
                lost = np.full((number, number), one - win - _total(again) - _total(other), dtype)
                for after, chance in again:
                    value += chance * mine[after]
                    lost += chance * theirs[after]
                for after, chance in other:
                    value += chance * theirs[after]
                    lost += chance * mine[after]
                mine[state][rows] = value[rows]
                theirs[state][:, rows] = lost[:, rows]
        return (mine[0] + theirs[0]) / 2


def _after(rolled: Any, place: Any, again: bool, number: Any) -> list[tuple[int, Any]]:
    chances: dict[int, Fraction] = {}
    for way in rolled:
        if way.landing.winner is None and way.again == again:
            after = place[way.following]
            chances[after] = chances.get(after, Fraction(0)) + way.probability
    return [(after, number(chance)) for after, chance in chances.items()]


def _total(ways: list[tuple[int, Any]]) -> Any:
    return sum(chance for _, chance in ways)


def solve(payoffs: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
    """Least over mixtures of the columns of the most that a row wins, and that mixture."""
    rows, columns = payoffs.shape
    found = linprog(
        np.append(np.zeros(columns), 1.0),
        A_ub=np.column_stack([payoffs, -np.ones(rows)]),
        b_ub=np.zeros(rows),
        A_eq=np.append(np.ones(columns), 0.0)[None],
        b_eq=[1.0],
        bounds=[*[(0.0, None)] * columns, (None, None)],
        method="highs",
    )
    mixture = np.maximum(found.x[:columns], 0.0)
    return float(found.x[-1]), mixture / mixture.sum()


class PolicyValue(NamedTuple):
    """The value over policies, and a policy that reaches it."""

    lower: float
    """No policy is beaten by less: proved, up to rounding."""
    upper: float
    """The policy found is beaten by this."""
    rows: list[NDArray[np.float64]]
    """Its rows at the cells that matter."""
    nodes: int
    """Linear programs solved."""


def policy_value(payoffs: NDArray[np.float64], shape: Sequence[int]) -> PolicyValue:
    """Least over policies of the most that a matrix wins from it, by branch and bound.

    Parameters
    ----------
    payoffs : float64 (n, n)
        Win rates of matrices, as `TinyGame.payoffs` gives them.
    shape : sequence of int
        Number of rolls at each cell; their product is n.
    """
    search = _Search(payoffs.reshape(-1, *shape))
    search.add([np.eye(rolls) for rolls in shape])
    while search.open and search.open[0][0] < search.best - GAP and search.nodes < MOST_NODES:
        _, _, corners, cell = heapq.heappop(search.open)
        here = corners[cell]
        first, second = max(
            combinations(range(len(here)), 2),
            key=lambda pair: np.abs(here[pair[0]] - here[pair[1]]).sum(),
        )
        for moved in (first, second):
            part = here.copy()
            part[moved] = (here[first] + here[second]) / 2.0
            search.add([*corners[:cell], part, *corners[cell + 1 :]])
    lower = min(search.open[0][0], search.best) if search.open else search.best
    return PolicyValue(lower, search.best, search.rows, search.nodes)


class _Search:
    """Open boxes of policies, and the best policy found."""

    def __init__(self, wins: NDArray[np.float64]) -> None:
        self.wins = wins
        self.best = 1.0
        self.rows: list[NDArray[np.float64]] = []
        self.nodes = 0
        self.open: list[tuple[float, int, list[NDArray[np.float64]], int]] = []
        self._ticket = count()

    def add(self, corners: list[NDArray[np.float64]]) -> None:
        """Bound a box from below, try the policy in it that the bound suggests, and keep it."""
        self.nodes += 1
        wins = self.wins
        for cell, here in enumerate(corners):
            wins = np.moveaxis(np.tensordot(wins, here, axes=(cell + 1, 1)), -1, cell + 1)
        bound, drawn = solve(wins.reshape(len(wins), -1))
        drawn = drawn.reshape(wins.shape[1:])
        shares = [
            drawn.sum(axis=tuple(other for other in range(drawn.ndim) if other != cell))
            for cell in range(drawn.ndim)
        ]
        rows = [share @ here for share, here in zip(shares, corners, strict=True)]
        reached = self.wins
        for row in reversed(rows):
            reached = reached @ row
        if reached.max() < self.best:
            self.best, self.rows = float(reached.max()), rows
        if bound < self.best - GAP:
            spread = [
                float(share @ np.abs(here - row).sum(axis=1))
                for share, here, row in zip(shares, corners, rows, strict=True)
            ]
            node = (bound, next(self._ticket), corners, int(np.argmax(spread)))
            heapq.heappush(self.open, node)
