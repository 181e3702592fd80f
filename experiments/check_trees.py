"""A game tree as one player of it remembers it, for check_benchmark.py: its bounds."""

from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from strict_files import Array, RefusedError, demand, error

NATURE = 2
CELLS = 2**27  # of an array that is computed
MOST = 2**26  # parts of a search
SEARCHED, ABOVE, FULL = range(3)
compiled: Any = njit


class Tree:
    """What one player of a game tree can do, others playing a mixture; it remembers its own past.

    Sequence 0 is the empty one. After action a at *past* j, a row and the sequence that led there,
    the sequence is 1 + j K + a. Pasts come after those that led to them.
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
        numbers: dict[int, int] = {}  # of pasts
        payoff = np.zeros(1 + positions * self.actions)
        terms = np.zeros(len(payoff), np.int64)
        nature, rows = ~instance.own, instance["row"]
        fixed = instance["fixed"][np.where(nature, rows, 0)]
        policies = np.where(nature[:, None], fixed, others[:, np.where(nature, 0, rows)])
        for step in reversed(instance.steps):
            at = step.positions
            mine, keys = instance["player"][at] == player, sequence[at] * self.rows + rows[at]
            for key in np.unique(keys[mine]).tolist():
                numbers.setdefault(key, len(numbers))
            past = np.array([numbers.get(key, 0) for key in keys.tolist()], np.int64)
            for action in np.flatnonzero(step.plays[0] < len(step.ways)):
                way = step.ways[step.plays[0, action]]
                chosen = np.where(mine, 1.0, policies[:, at, action])
                after = np.where(mine, 1 + past * self.actions + action, sequence[at])
                for end in np.flatnonzero(way):
                    comes, to = reach[:, at] * chosen * way[end], step.after[:, end]
                    stops = to < 0
                    won = (weights @ comes)[stops] * instance["payoff"][-1 - to[stops]]
                    np.add.at(payoff, after[stops], won)
                    np.add.at(terms, after[stops], 1)
                    sequence[to[~stops]] = after[~stops]
                    reach[:, to[~stops]] = comes[:, ~stops]
                    met += np.bincount(to[~stops], minlength=positions)
        demand((met <= 1).all(), "next: a position with two ways to it is none of a tree")
        self.before, self.row = np.divmod(np.array([*numbers], np.int64), self.rows)
        self.payoff = payoff[: 1 + len(self.row) * self.actions] * (1 - 2 * player)
        self.legal = instance.legal & (np.bincount(self.row, minlength=self.rows) > 0)[:, None]
        self.levels = list(self._levels())
        self.size, self.misses = instance.size, instance.misses
        after = [int(np.bincount(self.before[pasts]).max()) + 2 for pasts in self.levels]
        self.roundings = instance.roundings + len(weights) + int(terms.max()) + sum(after)

    def _levels(self) -> Iterator[Array]:
        """Pasts by the number of own moves before, the last first, and no row twice in a play."""
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
        prices = np.zeros((len(self.row), self.actions)) if prices is None else prices
        demand((prices >= 0.0).all(), "proof: a negative price")
        bound = self.worth(allowed, prices)[0]
        for row in np.unique(self.row[prices.any(axis=1)]):
            met = self._met(row, allowed, prices)[self.before == 0].sum(axis=0)
            bound += met[(allowed & self.legal)[row]].max()
        roundings = self.roundings + len(self.row) + self.rows
        size = self.size + 2.0 * float(prices.sum())
        return float(bound) + error(size, 3 * roundings, self.misses)

    def worth(self, allowed: Array, prices: Array) -> Array:
        """Compute what sequences are worth to a player who pays prices, and remembers."""
        worth = self.payoff.copy()
        worth[1:] -= prices.ravel()
        actions = worth[1:].reshape(-1, self.actions)
        may = (allowed & self.legal)[self.row]
        demand(may.any(axis=1).all(), "proof: a row is left without an action")
        for pasts in self.levels:
            best = np.where(may[pasts], actions[pasts], -np.inf).max(axis=1)
            np.add.at(worth, self.before[pasts], best)
        return worth

    def _met(self, row: int, allowed: Array, prices: Array) -> Array:
        """Most that a plan meets, from each past on, of the prices of a row by action, (J, K)."""
        met, may = np.zeros((len(self.row), self.actions)), (allowed & self.legal)[self.row]
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
    place = np.argsort(rows)[np.searchsorted(np.sort(rows), tree.row)]
    pasts = np.argsort(place, kind="stable")  # by row
    begins = np.searchsorted(place[pasts], np.arange(len(rows) + 1))
    follows = np.argsort(tree.before, kind="stable")  # pasts, by the sequence before them
    ends = np.searchsorted(tree.before[follows], np.arange(len(tree.payoff) + 1))
    worth = tree.worth(allowed, np.zeros((len(tree.row), tree.actions)))[1:]
    given = place, tree.before, pasts, begins, follows, ends, tree.payoff
    legal = allowed & tree.legal
    bound, status, chosen = _search(
        *given, worth.reshape(-1, tree.actions), legal[rows], most, target
    )
    strategy = legal.argmax(axis=1)
    strategy[rows] = np.where(legal[rows, chosen], chosen, strategy[rows])
    return Found(bound, status, strategy)


@compiled
def _most(gain: Array, legal: Array) -> float:
    """Most that rows gain, each by one action."""
    total = 0.0
    for row in range(len(gain)):
        total += gain[row][legal[row]].max()
    return total


@compiled
def _search(
    row: Array,
    before: Array,
    pasts: Array,
    begins: Array,
    follows: Array,
    ends: Array,
    payoff: Array,
    worth: Array,
    legal: Array,
    most: int,
    target: float,
) -> tuple[float, int, Array]:
    rows, actions = legal.shape
    met = np.zeros(len(payoff), np.bool_)  # sequences of the rows that are set
    gain = np.zeros((rows + 1, rows, actions))  # of rows, when so many are set
    won = np.full(rows + 1, payoff[0])
    for past in follows[: ends[1]]:
        gain[0, row[past]] += worth[past]
    met[0], chosen, highest, parts, now = True, np.full(rows, -1), -np.inf, 0, 0
    while 0 <= now < rows and parts <= most:
        chosen[now] += 1
        if chosen[now] == actions:
            chosen[now] = -1
            now -= 1
        elif legal[now, chosen[now]]:
            parts += 1
            bound, is_met = won[now], False
            gain[now + 1] = gain[now]
            for past in pasts[begins[now] : begins[now + 1]]:
                first = 1 + past * actions
                sequence = first + chosen[now]
                met[first : first + actions] = False
                if met[before[past]]:
                    met[sequence] = is_met = True
                    bound += payoff[sequence]
                    for after in follows[ends[sequence] : ends[sequence + 1]]:
                        gain[now + 1, row[after]] += worth[after]
            won[now + 1] = bound
            bound += _most(gain[now + 1, now + 1 :], legal[now + 1 :])
            if not is_met:  # what is not met plays anything
                chosen[now] = actions - 1
            if bound <= target:
                highest = max(highest, bound)
            else:
                now += 1
    return highest, FULL if parts > most else ABOVE if now == rows else SEARCHED, chosen
