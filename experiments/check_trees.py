"""Game trees of the benchmark: bounds on a player who remembers its own past, and a search."""

from typing import Any

import numpy as np
from check_instances import CELLS, Instance, compiled, error
from strict_files import Array, RefusedError, demand

MOST = 2**26  # parts of a search
DEEPEST = 1000  # of these inside each other: the stack of a processor is limited


class Tree:
    """What one player of a game tree can do, others playing a mixture; it remembers its own past.

    Sequence 0 is the empty one. After action a at *past* j, a row and the sequence that led there,
    the sequence is 1 + j K + a. Pasts come after those that led to them.
    """

    def __init__(self, instance: Instance, player: int, weights: Array, others: Array) -> None:
        form, own = instance.form, instance.form.player == player
        self.legal, (self.rows, self.actions) = instance.legal, instance.legal.shape
        demand(len(form.lane) == len(form.start) == 1, "tree: has memory, or more than one start")
        fits = others.shape == (len(weights), self.rows, self.actions)
        demand(fits and others.size, "policies: not of this instance")
        demand(len(weights) * len(own) * self.actions <= CELLS, "policies: too many")
        demand(not others[:, ~self.legal].any(), "policies: an action that does not exist")
        nature = ~instance.own[:, None]
        fixed = form.fixed[np.where(instance.own, 0, form.row)]
        plays = np.where(nature, fixed, others[:, np.where(instance.own, form.row, 0)])
        plays[:, own] = 1.0
        self.before, self.row, payoff, terms, met = _remembered(form, own, weights, plays)
        demand((met <= 1).all(), "next: a position with two ways to it is none of a tree")
        self.payoff, self.prices = payoff * (1 - 2 * player), len(payoff) - 1
        earlier = self.before
        while earlier.any():
            past = np.maximum(earlier - 1, 0) // self.actions
            demand(((self.row[past] != self.row) | (earlier == 0)).all(), "row: met twice")
            earlier = np.where(earlier > 0, self.before[past], 0)
        self.size, self.misses = instance.size, instance.misses
        turns = len(form.level) * (2 + int(np.bincount(self.before).max(initial=0)))
        self.roundings = instance.roundings + len(weights) + int(terms.max()) + turns

    def bound(self, allowed: Array, prices: Array | None = None) -> float:
        """Most that a player wins who remembers its past, at prices (J, K) with their refund."""
        prices = np.zeros(self.prices) if prices is None else prices.ravel()
        demand((prices >= 0.0).all(), "proof: a negative price")
        tree = self.before, self.row, allowed & self.legal
        bound = _worth(*tree, self.payoff - np.append(0.0, prices))[0]
        row, action = np.repeat(self.row, self.actions), np.arange(self.prices) % self.actions
        for one in np.unique(row[prices > 0.0]):
            priced = [prices * ((row == one) & (action == other)) for other in range(self.actions)]
            refunds = [_worth(*tree, np.append(0.0, other))[0] for other in priced]
            bound += max(refunds)
        roundings = self.roundings + len(self.row) + self.rows
        size = self.size + 2.0 * float(prices.sum())
        return float(bound) + error(size, 3 * roundings, self.misses)

    def searched(self, allowed: Array, floor: float, most: int = MOST) -> float:
        """Bound what is won with these actions; above a floor it is the most that a strategy wins.

        Pasts that are met next fall apart where no open row is at or below both. In each part the
        first row is set to one action after the other. What one action of a row is worth at its
        pasts to a player who remembers from then on bounds the row, the sum over rows the part.
        """
        legal, count = allowed & self.legal, len(self.row)
        demand(count * self.rows <= CELLS, "tree: too large for a search")
        worth = _worth(self.before, self.row, legal, self.payoff)[1:].reshape(count, -1)
        follows = np.argsort(self.before, kind="stable")  # pasts, by the sequence before them
        ends = np.searchsorted(self.before[follows], np.arange(len(self.payoff) + 1))
        below = _rows_below(self.before, self.row, legal)
        tree = self.row, follows, ends, self.payoff, worth, below
        left = np.array([most, DEEPEST])
        found = _searched(tree, legal, follows[: ends[1]], floor - self.payoff[0], left)
        roundings = 2 * (self.roundings + count + self.rows)
        return float(self.payoff[0] + found) + error(self.size, roundings, self.misses)


@compiled
def _remembered(form: Any, own: Array, weights: Array, plays: Array) -> Any:
    """Sequences before pasts, rows of pasts, payoffs of sequences, their terms, ways to positions.

    Own moves count 1 in `plays`, (components, C, K).
    """
    _, positions, actions = plays.shape
    reach, met = np.zeros((positions, len(weights))), np.zeros(positions, np.int64)
    payoff, sequence = np.zeros(1 + positions * actions), np.zeros(positions, np.int64)
    terms, before, row = np.zeros(len(payoff), np.int64), [0][:0], [0][:0]
    numbers = dict()  # noqa: C408 - numba knows no empty {}
    reach[form.start[0, 0]], met[form.start[0, 0]] = form.start_chance[0], 1
    for position in range(positions):
        key = sequence[position], form.row[position]
        if own[position] and key not in numbers:
            numbers[key] = len(row)
            before.append(key[0])
            row.append(key[1])
        for action in range(actions):
            way, after = form.way[form.situation[position], 0, action], sequence[position]
            if way < 0:
                continue
            if own[position]:
                after = 1 + numbers[key] * actions + action
            for outcome in range(form.first[way], form.first[way + 1]):
                comes = reach[position] * plays[:, position, action] * form.chance[outcome]
                then = form.next[form.place[position] + form.end[outcome]]
                if then < 0:
                    payoff[after] += (weights * comes).sum() * form.payoff[-1 - then]
                    terms[after] += 1
                else:
                    sequence[then], reach[then] = after, comes
                    met[then] += 1
    return np.array(before), np.array(row), payoff[: 1 + len(row) * actions], terms, met


@compiled
def _worth(before: Array, row: Array, allowed: Array, payoff: Array) -> Array:
    """Most that is won from each sequence on, (1 + J K,), of payoffs at sequences."""
    worth, actions = payoff.copy(), allowed.shape[1]
    for past in range(len(row) - 1, -1, -1):
        best = -np.inf
        for action in range(actions):
            if allowed[row[past], action]:
                best = max(best, worth[1 + past * actions + action])
        worth[before[past]] += best
    return worth


@compiled
def _rows_below(before: Array, row: Array, legal: Array) -> Array:
    """Which rows are at or below pasts, (J, R)."""
    below = np.zeros((len(row), len(legal)), np.bool_)
    for past in range(len(row) - 1, -1, -1):
        below[past, row[past]] = True
        if before[past]:
            below[(before[past] - 1) // legal.shape[1]] |= below[past]
    return below


@compiled
def _parts(pasts: Array, row: Array, below: Array, is_open: Array) -> Array:
    """Give pasts that are linked by open rows one number."""
    leader, part = np.arange(len(is_open)), row[pasts]
    for place in range(len(pasts)):
        first = -1
        for one in range(len(is_open)):
            if is_open[one] and below[pasts[place], one]:
                top = leader[one]
                while leader[top] != top:
                    top = leader[top]
                first = top if first < 0 else first
                leader[top], leader[one], part[place] = first, first, first
    for place in range(len(pasts)):
        while leader[part[place]] != part[place]:
            part[place] = leader[part[place]]
    return part


@compiled
def _searched(tree: Any, allowed: Array, pasts: Array, floor: float, left: Array) -> float:
    """Most that is won from pasts on, or a bound on it that is no more than the floor."""
    row, follows, ends, payoff, worth, below = tree
    left[0] -= 1
    if left.min() < 0:
        raise RefusedError("search: too many parts, or too deep")
    bound = _bound(row, worth, allowed, pasts)
    if bound <= floor:
        return bound
    left[1] -= 1
    part = _parts(pasts, row, below, allowed.sum(axis=1) > 1)
    parts = np.unique(part)
    bounds = np.array([_bound(row, worth, allowed, pasts[part == one]) for one in parts])
    for place in range(len(parts)):
        if bounds.sum() <= floor:
            break
        here, highest = pasts[part == parts[place]], -np.inf
        lowest, mine = floor - (bounds.sum() - bounds[place]), row[here[0]]
        for action in np.flatnonzero(allowed[mine]):
            acts, then, wins = allowed.copy(), [past for past in here if row[past] != mine], 0.0
            acts[mine] = False
            acts[mine, action] = True
            for past in here:
                if row[past] == mine:
                    after = 1 + past * allowed.shape[1] + action
                    wins += payoff[after]
                    then.extend(follows[ends[after] : ends[after + 1]])
            more = max(lowest, highest) - wins
            highest = max(highest, wins + _searched(tree, acts, np.array(then), more, left))
        bounds[place] = highest
    left[1] += 1
    return bounds.sum()


@compiled
def _bound(row: Array, worth: Array, allowed: Array, pasts: Array) -> float:
    """Most that is won from pasts on if each row acts alike at these, and remembers afterwards."""
    gain, bound = np.where(allowed, 0.0, -np.inf), 0.0
    for past in pasts:
        for action in range(allowed.shape[1]):
            gain[row[past], action] += worth[past, action]
    for one in range(len(gain)):
        bound += gain[one].max()
    return bound


def player_tree(instance: Instance) -> Tree:
    """Reduce a problem of one player to its pasts, which are less than its states."""
    return Tree(instance, 0, np.ones(1), np.zeros((1, *instance.legal.shape)))
