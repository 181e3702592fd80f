"""The form of an instance: positions, hidden memory, ways to end a turn; no rules of any game.

A *state* is a position and a value of the memory. Players see the row of the position alone.
``docs/benchmark.md`` describes every array.
"""

import hashlib
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.model.game import HogEngine
from hogeq.model.tables import lanes_of, ways_of
from hogeq.model.turn_lists import AGAIN, WIN, turn_lists
from hogeq.rules.memory import Memory
from hogeq.rules.turn import total_rises
from hogeq.support.aliases import Floats
from hogeq.trees.flat import CHANCE, TERMINAL, FlatTree, Indices

NATURE: Final = 2  # who moves where all probabilities are fixed
REAL: Final = ("fixed", "chance", "payoff", "start_chance")


class Instance(NamedTuple):
    """A decision problem of one player, or a zero-sum game of two, without recurring positions."""

    level: Indices  # (L + 1,), first position of each level; a turn ends in a later level
    player: NDArray[np.int8]  # (C,), who moves at a position: 0, 1 or `NATURE`
    row: Indices  # (C,), row of the player's strategy, or of `fixed`
    fixed: Floats  # (F, K), probabilities of nature's actions
    situation: Indices  # (C,)
    way: Indices  # (S, H, K), how an action plays; -1 if there is none
    lane: Indices  # (H,), part of the memory that is handed on
    following: Indices  # (labels, lanes), memory after a turn
    first: Indices  # (W + 1,), first outcome of each way
    chance: Floats  # (outcomes,)
    end: Indices  # (outcomes,), number of an end, counted at each position anew
    place: Indices  # (C,), where the ends of a position begin
    next: Indices  # (ends,), next position, or -1 - t for payoff t
    label: NDArray[np.int16]  # (ends,), what memory learns
    payoff: Floats  # (T,), to player 0
    start: Indices  # (n, 2), position and memory
    start_chance: Floats  # (n,)

    @property
    def digest(self) -> str:
        """SHA-256 of names, types, shapes and bytes of all arrays, in their order."""
        found = hashlib.sha256()
        for name, array in self._asdict().items():
            found.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
            found.update(np.ascontiguousarray(array).tobytes())
        return found.hexdigest()

    @property
    def states(self) -> int:
        """Number of states in which a player moves."""
        return int((self.player != NATURE).sum()) * len(self.lane)

    @property
    def rows(self) -> int:
        """Number of rows of both players."""
        return int(self.row[self.player != NATURE].max()) + 1


TYPES: Final[dict[str, Any]] = {
    **dict.fromkeys(Instance._fields, np.int32),
    **dict.fromkeys(REAL, np.float64),
    "player": np.int8,
    "label": np.int16,
}


def from_hog(game: HogEngine, opponent: Floats) -> Instance:
    """Respond to a policy (G, G, K): player 0 responds, a fair coin chooses the first player."""
    rules, size = game.rules, game.goal
    if not total_rises(rules):
        raise ValueError(f"rules {rules.name}: allowed: rules under which the total score rises")
    turns, (situation, way, _), lanes = turn_lists(rules), ways_of(rules), lanes_of(rules)
    total = np.add(*np.indices((size, size))).ravel()
    order = np.argsort(total, kind="stable")
    rank = np.argsort(order, kind="stable")
    cell, mover = np.repeat(order, 2), np.tile([0, 1], len(order))
    kind, there = turns.kind[cell].astype(int), turns.cell[cell].astype(int)
    again = kind == AGAIN
    goes_on = 2 * rank[there] + np.where(again, mover[:, None], 1 - mover[:, None])
    won = (kind == WIN) == (mover[:, None] == 0)  # payoff 1 of two, else payoff 0
    following = lanes.following.reshape(-1, lanes.following.shape[2])
    label = turns.record[cell] + again * lanes.following.shape[1]
    ends = kind.shape[1]
    return _narrow(
        level=np.concatenate([np.searchsorted(total[order], np.arange(2 * size - 1)), [size**2]])
        * 2,
        player=np.where(mover == 0, 0, NATURE),
        row=cell,
        fixed=opponent.reshape(size**2, -1),
        situation=situation.ravel()[cell],
        way=way,
        lane=lanes.lane,
        following=following,
        first=turns.first,
        chance=turns.chance,
        end=turns.end,
        place=np.arange(len(cell)) * ends,
        next=np.where(kind >= WIN, -1 - won, goes_on).ravel(),
        label=np.where(kind >= WIN, 0, label).ravel(),
        payoff=np.array([0.0, 1.0]),
        start=np.array([[side, game.memories.index(Memory())] for side in (0, 1)]),
        start_chance=np.array([0.5, 0.5]),
    )


def from_tree(tree: FlatTree, seat: int | None = None, joint: Floats | None = None) -> Instance:
    """Take a game tree; or the problem of one seat, the other playing the rows of a strategy."""
    inner = np.flatnonzero(tree.player != TERMINAL)
    outer = np.flatnonzero(tree.player == TERMINAL)
    number = np.zeros(tree.num_nodes, np.int64)
    number[inner] = np.arange(len(inner))
    payoff, number[outer] = np.unique(tree.payoff[outer], return_inverse=True)
    number[outer] = -1 - number[outer]
    # Children of one node lie side by side, in the order of their parents.
    degree = np.bincount(tree.parent[1:], minlength=tree.num_nodes)[inner]
    children = number[1:]
    ways = [np.ones(1)] * tree.num_actions  # an action of a player ends in one way for certain
    ends = [np.array([action]) for action in range(tree.num_actions)]
    kinds: dict[bytes, int] = {}
    table: list[list[int]] = []
    situation = np.zeros(len(inner), np.int64)
    at = np.concatenate([[0], np.cumsum(degree)])
    for position, node in enumerate(inner):
        chances = tree.chance[1:][at[position] : at[position + 1]]
        if tree.player[node] == CHANCE:
            key, line = chances.tobytes(), [len(ways)]
        else:
            key, line = b"%d" % len(chances), list(range(len(chances)))
        if key not in kinds:
            kinds[key] = len(table)
            table.append(line + [-1] * (tree.num_actions - len(line)))
            if tree.player[node] == CHANCE:
                ways.append(chances)
                ends.append(np.arange(len(chances)))
        situation[position] = kinds[key]
    player = np.where(tree.player[inner] == CHANCE, NATURE, tree.player[inner])
    fixed = np.eye(1, tree.num_actions)  # chance has one action; then the other seat's rows
    row = np.where(player == NATURE, 0, tree.row[inner])
    sign = 1.0
    if seat is not None and joint is not None:
        own, theirs = (np.flatnonzero(tree.seat == one) for one in (seat, 1 - seat))
        renamed = np.zeros(tree.num_rows, np.int64)
        renamed[own], renamed[theirs] = np.arange(len(own)), 1 + np.arange(len(theirs))
        row = np.where(player == NATURE, 0, renamed[tree.row[inner]])
        fixed = np.concatenate([fixed, joint[theirs]])
        player = np.where(player == seat, 0, NATURE)
        sign = 1.0 - 2.0 * seat
    level = tree.shift + sign * tree.centre
    inner_levels = [one.start for one in tree.levels]
    return _narrow(
        level=np.append(np.unique(np.searchsorted(inner, inner_levels)), len(inner)),
        player=player,
        row=row,
        fixed=fixed,
        situation=situation,
        way=np.array(table)[:, None],
        lane=np.zeros(1),
        following=np.zeros((1, 1)),
        first=np.concatenate([[0], np.cumsum([len(one) for one in ways])]),
        chance=np.concatenate(ways),
        end=np.concatenate(ends),
        place=at[:-1],
        next=children,
        label=np.zeros(len(children)),
        payoff=sign * payoff + level if level else sign * payoff,  # -0.0 and its digest stay
        start=np.zeros((1, 2)),
        start_chance=np.ones(1),
    )


def _narrow(**arrays: NDArray[Any]) -> Instance:
    """Store every array in the type that the form names."""
    typed: Any = {name: np.asarray(arrays[name], TYPES[name]) for name in Instance._fields}
    return Instance(**typed)
