"""A game tree as one player of it remembers it, for check_benchmark.py: its bounds."""

from collections.abc import Callable, Iterator
from graphlib import CycleError, TopologicalSorter
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numba import njit
from strict_files import Array, RefusedError, demand, error

NATURE = 2
Kernel = TypeVar("Kernel", bound=Callable[..., Any])
CELLS = 2**27  # of an array that is computed
MOST = 2**26  # parts of a search
SEARCHED, ABOVE, FULL = range(3)


class Tree:
    """What one player of a game tree can do, others playing a mixture; it remembers its own past.

    Sequence 0 is the empty one. After action a at *past* j, a row and the sequence that led there,
    the sequence is 1 + j K + a.
    """

    def __init__(self, instance: Any, player: int, weights: Array, others: Array) -> None:
        demand(instance.memories == 1, "tree: has memory")
        fits = others.shape == (len(weights), instance.rows, instance.actions)
        demand(fits and others.size, "policies: not of this instance")
        self.actions, self.rows = instance.actions, instance.rows
        positions = len(instance["player"])
        demand(len(weights) * positions * self.actions <= CELLS, "policies: too many")
        demand(not others[:, ~instance.legal].any(), "policies: an action that does not exist")
        sequence = np.zeros(positions, np.int64)
        reach = np.zeros((len(weights), positions))  # own moves count 1
        reach[:, instance["start"][:, 0]] = instance["start_chance"]
        met = np.bincount(instance["start"][:, 0], minlength=positions)
        numbers: dict[int, int] = {}
        row, before = list[int](), list[int]()
        self.mass, payoff = np.zeros(positions), np.zeros(1 + positions * self.actions)
        terms = np.zeros(len(payoff), np.int64)
        nature, rows = ~instance.own[:, None], instance["row"]
        fixed = instance["fixed"][np.where(nature[:, 0], rows, 0)]
        policies = [np.where(nature, fixed, one[np.where(nature[:, 0], 0, rows)]) for one in others]
        for step in reversed(instance.steps):
            mine = instance["player"][step.positions] == player
            keys = sequence[step.positions] * self.rows + instance["row"][step.positions]
            for key in np.unique(keys[mine]).tolist():
                if numbers.setdefault(key, len(numbers)) == len(row):
                    row.append(key % self.rows)
                    before.append(key // self.rows)
            past = np.array([numbers.get(key, 0) for key in keys.tolist()], np.int64)
            here = weights @ reach[:, step.positions]
            np.add.at(self.mass, past[mine], here[mine])
            for action in range(self.actions):
                way = step.plays[0, action]
                if way == len(step.ways):
                    continue
                chosen = [np.where(mine, 1.0, one[step.positions, action]) for one in policies]
                after = 1 + past * self.actions + action
                after = np.where(mine, after, sequence[step.positions])
                for end in np.flatnonzero(step.ways[way]):
                    comes = reach[:, step.positions] * chosen * step.ways[way, end]
                    to = step.after[:, end]
                    stops = to < 0
                    won = (weights @ comes)[stops] * instance["payoff"][-1 - to[stops]]
                    np.add.at(payoff, after[stops], won)
                    np.add.at(terms, after[stops], 1)
                    sequence[to[~stops]] = after[~stops]
                    reach[:, to[~stops]] = comes[:, ~stops]
                    met += np.bincount(to[~stops], minlength=positions)
        demand((met <= 1).all(), "next: a position with two ways to it is none of a tree")
        self.row, self.before = np.array(row, np.int64), np.array(before, np.int64)
        self.payoff = payoff[: 1 + len(row) * self.actions] * (1 - 2 * player)
        self.mass = self.mass[: len(row)]
        self.legal = instance.legal & (np.bincount(self.row, minlength=self.rows) > 0)[:, None]
        self.levels = list(self._levels())
        self.size, self.misses = instance.size, instance.misses
        after = [int(np.bincount(self.before[pasts]).max()) + 2 for pasts in self.levels]
        self.roundings = instance.roundings + len(weights) + int(terms.max()) + sum(after)

    def _levels(self) -> Iterator[Array]:
        """Pasts by the number of own moves before, and no row twice in a play."""
        depth, earlier = np.zeros(len(self.row), np.int64), self.before
        while earlier.any():
            depth += earlier > 0
            past = np.maximum(earlier - 1, 0) // self.actions
            demand(not ((self.row[past] == self.row) & (earlier > 0)).any(), "row: met twice")
            earlier = np.where(earlier > 0, self.before[past], 0)
        for one in range(int(depth.max(initial=-1)), -1, -1):
            yield np.flatnonzero(depth == one)

    def bound(self, allowed: Array, prices: Array | None = None) -> float:
        """Most that a player wins who remembers its past, at prices (J, K) with their refund."""
        may = self.may(allowed)
        worth = self.worth(may, prices)
        if prices is None:
            return float(worth[0]) + error(self.size, self.roundings, self.misses)
        refund = 0.0
        for row in np.unique(self.row[prices.any(axis=1)]):
            met = self.met(row, may, prices)[self.before == 0].sum(axis=0)
            refund += float(met[(allowed & self.legal)[row]].max())
        return float(worth[0]) + refund + self.slack(prices)

    def may(self, allowed: Array) -> Array:
        """Mark which actions are allowed at each past, (J, K)."""
        may: Array = (allowed & self.legal)[self.row]
        demand(may.any(axis=1).all(), "proof: a row is left without an action")
        return may

    def slack(self, prices: Array) -> float:
        """Bound all rounding errors of a bound at these prices."""
        added = self.roundings + len(self.row) + self.rows
        return error(self.size + 2.0 * float(prices.sum()), 3 * added, self.misses)

    def worth(self, may: Array, prices: Array | None) -> Array:
        """Compute what sequences are worth to a player who pays prices, and remembers."""
        worth = self.payoff.copy()
        if prices is not None:
            demand((prices >= 0.0).all(), "proof: a negative price")
            worth[1:] -= prices.ravel()
        actions = worth[1:].reshape(-1, self.actions)
        for pasts in self.levels:
            best = np.where(may[pasts], actions[pasts], -np.inf).max(axis=1)
            np.add.at(worth, self.before[pasts], best)
        return worth

    def met(self, row: int, may: Array, prices: Array) -> Array:
        """Most that a plan meets, from each past on, of the prices of a row by action, (J, K)."""
        met = np.zeros((len(self.row), self.actions))
        after = np.zeros((1 + met.size, self.actions))
        leads = np.zeros(1 + met.size, bool)  # sequences after which prices can be met
        for pasts in self.levels:
            own = self.row[pasts] == row
            here = pasts[own | leads[1:].reshape(met.shape)[pasts].any(axis=1)]
            best = after[1:].reshape(*met.shape, -1)[here]
            best = np.where(may[here][:, :, None], best, -np.inf).max(axis=1)
            met[here] = np.where((self.row[here] == row)[:, None], prices[here], best)
            np.add.at(after, self.before[here], met[here])
            leads[self.before[here]] = True
        return met

    def searched(self, allowed: Array, target: float, most: int = MOST) -> float:
        """Highest bound of the parts of a search; refuse one above the target, or too many."""
        found = search(self, allowed, target, most)
        demand(found.status != FULL, "search: too many parts")
        demand(found.status != ABOVE, "search: a strategy above the target")
        return found.bound + error(self.size, 2 * self.roundings + len(self.row), self.misses)


class Ways(NamedTuple):
    """What is met after what, for a search."""

    follows: Array  # pasts, by the sequence before them
    ends: Array  # where those of each sequence begin, and end
    row: Array  # of each past, by the order in which rows are set
    begins: Array  # of each row, the number of pasts of rows before it
    payoff: Array  # of sequences


class Found(NamedTuple):
    """How a search ended."""

    bound: float
    status: int
    strategy: Array  # (R,), above the target if the status is ABOVE


def search(tree: Tree, allowed: Array, target: float, most: int = MOST) -> Found:
    """Set rows in turn, those first that are met first, while a part has a bound above the target.

    The rows that are set say which pasts are met next, before those that are not set. A row plays
    one action at all these pasts: the most that this is worth to a player who remembers from then
    on bounds the row, and the sum over rows bounds the part.
    """
    before = np.where(tree.before > 0, tree.row[(tree.before - 1) // tree.actions], -1)
    order = TopologicalSorter({row: set() for row in tree.row.tolist()})
    for row, earlier in np.unique(np.stack([tree.row, before], 1)[before >= 0], axis=0).tolist():
        order.add(row, earlier)
    try:
        rows = np.array(list(order.static_order()), np.int64)
    except CycleError as wrong:
        raise RefusedError("search: rows are met in two orders") from wrong
    places = np.argsort(rows)[np.searchsorted(np.sort(rows), tree.row)]
    begins = np.searchsorted(np.sort(places), np.arange(len(rows)))
    follows = np.argsort(tree.before, kind="stable")
    ends = np.searchsorted(tree.before[follows], np.arange(len(tree.payoff) + 1))
    worth = tree.worth(tree.may(allowed), None)[1:].reshape(-1, tree.actions)
    legal, ways = allowed & tree.legal, Ways(follows, ends, places, begins, tree.payoff)
    bound, status, chosen = _search(ways, worth, legal[rows], most, target)
    strategy = legal.argmax(axis=1)
    strategy[rows] = np.where(legal[rows, chosen], chosen, strategy[rows])
    return Found(bound, status, strategy)


def compiled(kernel: Kernel) -> Kernel:
    """Compile a function into those that call it."""
    return cast("Kernel", njit(kernel, inline="always"))


@compiled
def _meet(ways: Ways, sequence: int, worth: Array, met: Array, count: Array, gain: Array) -> None:
    """Meet the pasts that follow a sequence."""
    for past in ways.follows[ways.ends[sequence] : ways.ends[sequence + 1]]:
        row = ways.row[past]
        met[ways.begins[row] + count[row]] = past
        count[row] += 1
        for action in range(gain.shape[1]):
            gain[row, action] += worth[past, action]


@compiled
def _most(gain: Array, legal: Array) -> float:
    """Most that rows gain, each by one action."""
    total = 0.0
    for row in range(len(gain)):
        best = -np.inf
        for action in range(gain.shape[1]):
            if legal[row, action]:
                best = max(best, gain[row, action])
        total += best
    return total


@compiled
def _search(
    ways: Ways, worth: Array, legal: Array, most: int, target: float
) -> tuple[float, int, Array]:
    rows, actions = legal.shape
    met = np.zeros(len(ways.row), np.int64)  # pasts by row, of which so many are met:
    count = np.zeros((rows + 1, rows), np.int64)  # when so many rows are set
    gain = np.zeros((rows + 1, rows, actions))
    won = np.full(rows + 1, ways.payoff[0])
    _meet(ways, 0, worth, met, count[0], gain[0])
    chosen, highest, parts, now = np.full(rows, -1), -np.inf, 0, 0
    while 0 <= now < rows and parts <= most:
        chosen[now] += 1
        if chosen[now] == actions or (chosen[now] > 0 and count[now, now] == 0):
            chosen[now] = -1
            now -= 1
        elif legal[now, chosen[now]] or count[now, now] == 0:  # what is not met plays anything
            parts += 1
            count[now + 1, now + 1 :] = count[now, now + 1 :]
            gain[now + 1, now + 1 :] = gain[now, now + 1 :]
            won[now + 1] = won[now]
            for past in met[ways.begins[now] :][: count[now, now]]:
                sequence = 1 + past * actions + chosen[now]
                won[now + 1] += ways.payoff[sequence]
                _meet(ways, sequence, worth, met, count[now + 1], gain[now + 1])
            bound = won[now + 1] + _most(gain[now + 1, now + 1 :], legal[now + 1 :])
            if bound <= target:
                highest = max(highest, bound)
            else:
                now += 1
    return highest, FULL if parts > most else ABOVE if now == rows else SEARCHED, chosen
