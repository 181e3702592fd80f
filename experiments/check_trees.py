"""A game tree as one player of it remembers it, for check_benchmark.py: bounds, by numpy alone."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from strict_files import Array, demand, error

NATURE = 2
CELLS = 2**27  # of an array that is computed
MOST = 2**20  # parts of a search


class _Choice(NamedTuple):
    """What actions of a row lead to, at all pasts where it is met in a part."""

    after: list[Array]  # pasts
    payoff: Array  # (actions,)
    gain: Array  # (actions,), what is worth to a player who remembers
    met: Array  # (actions, rows, K), of the prices of later rows


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

    @property
    def is_timed(self) -> bool:
        """Whether each row is met after as many own moves wherever it is met."""
        rounds = [set(self.row[pasts].tolist()) for pasts in self.levels]
        return sum(map(len, rounds)) == len(set().union(*rounds))

    def searched(self, allowed: Array, prices: Array, target: float, most: int = MOST) -> float:
        """Highest bound of the parts of a search; refuse one above the target, or too many."""
        return Search(self, allowed, prices, target, most).highest() + self.slack(prices)


class Search:
    """Set rows in turn, round by round, as long as a part has a bound above the target.

    Rows of one round are met after as many own moves. What rows of earlier rounds do says which
    pasts are met; the bound of a part is what these are worth, and the refund of later rows.
    """

    def __init__(self, tree: Tree, allowed: Array, prices: Array, target: float, most: int) -> None:
        self.tree, self.prices, self.target = tree, prices, target
        self.found, self.entered, self.most = -np.inf, 0, most
        self.legal = allowed & tree.legal
        may = tree.may(allowed)
        self.worth = tree.worth(may, prices)[1:].reshape(-1, tree.actions)
        self.payoff = tree.payoff[1:].reshape(-1, tree.actions)
        demand(tree.is_timed, "search: a row is met in two rounds")
        self.priced = priced = np.unique(tree.row[prices.any(axis=1)])
        self.met = np.zeros((len(tree.row), len(priced), tree.actions))
        for place, row in enumerate(priced):
            self.met[:, place] = tree.met(row, may, prices)
        self.later = np.where(self.legal[priced], 0.0, -np.inf)
        self.order = np.argsort(tree.before, kind="stable")
        self.ends = np.searchsorted(tree.before[self.order], np.arange(len(tree.payoff) + 1))
        self.chosen = self.legal.argmax(axis=1)  # what the part that is searched plays

    def highest(self) -> float:
        """Highest bound of the parts, but for rounding; none may be above the target."""
        self._enter(self._following(np.zeros(1, np.int64)), float(self.tree.payoff[0]))
        return self.found

    def _following(self, sequences: Array) -> Array:
        spans = [self.order[self.ends[one] : self.ends[one + 1]] for one in sequences.tolist()]
        return np.concatenate(spans)

    def _enter(self, pasts: Array, won: float) -> None:
        """Set the rows of a round in which these pasts are met."""
        self.entered += 1
        demand(self.entered <= self.most, "search: too many parts")
        now = np.zeros(self.legal.shape)
        np.add.at(now, self.tree.row[pasts], self.worth[pasts] + self.prices[pasts])
        here = np.unique(self.tree.row[pasts])
        later = (self.met[pasts].sum(axis=0) + self.later)[~np.isin(self.priced, here)]
        bound = won + np.where(self.legal, now, -np.inf)[here].max(axis=1).sum()
        bound += later.max(axis=1).sum()
        if bound <= self.target:
            self.found = max(self.found, float(bound))
            return
        choices = []
        for row in here.tolist():
            own = pasts[self.tree.row[pasts] == row]
            actions = np.flatnonzero(self.legal[row])
            after = [self._following(1 + own * self.tree.actions + one) for one in actions]
            gain = (self.worth[own] + self.prices[own]).sum(axis=0)[actions]
            met = np.array([self.met[one].sum(axis=0) for one in after])
            choices.append(_Choice(after, self.payoff[own].sum(axis=0)[actions], gain, met))
        rest = [(0.0, np.zeros_like(self.later))]
        for one in choices[::-1]:
            gain, met = rest[-1]
            rest.append((gain + one.gain.max(), met + one.met.max(axis=0)))
        # All ways to set the rows of this round, as far as their bounds are above the target.
        ways, gain, met = np.zeros((1, 0), np.int64), np.array([won]), self.later[None]
        for place in range(len(choices) + 1):
            best, more = rest[len(choices) - place]
            bound = gain + best + (met + more).max(axis=2, initial=0.0).sum(axis=1)
            left = ~(bound <= self.target)  # also what is no number
            self.found = max(self.found, float(bound[~left].max(initial=-np.inf)))
            ways, gain, met, bound = ways[left], gain[left], met[left], bound[left]
            if not len(ways) or place == len(choices):
                break
            one = choices[place]
            again, new = np.divmod(np.arange(len(ways) * len(one.gain)), len(one.gain))
            ways = np.concatenate([ways[again], new[:, None]], axis=1)
            gain, met = gain[again] + one.gain[new], met[again] + one.met[new]
        for way in ways[np.argsort(-bound, kind="stable")].tolist():
            both = [*zip(choices, way, strict=True)]
            self.chosen[here] = [
                np.flatnonzero(self.legal[row])[action]
                for row, action in zip(here, way, strict=True)
            ]
            after = [one.after[action] for one, action in both]
            pasts = np.concatenate([np.zeros(0, np.int64), *after])
            demand(len(pasts), "search: a strategy above the target")
            self._enter(pasts, won + sum(one.payoff[action] for one, action in both))
