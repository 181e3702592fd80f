"""Check the benchmark of imperfect recall: values, bounds and proofs.

    hogeq bench-games write instances
    python experiments/check_benchmark.py instances results/benchmark

It shares no code with hogeq. docs/benchmark.md has the theorem by which it accepts a number, and
the reasons; `error` bounds what is missed by rounding, and by probabilities that miss their sums.
It is added to bounds and taken off values.
"""

import hashlib
import json
import math
import sys
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from strict_files import Array, RefusedError, arrays_of, demand, parse, read, rises, typed

FORM = {  # type, axes by name, and least number and the first that is too large, if it is a number
    "level": "i4 L",
    "player": "i1 C : 0 3",
    "row": "i4 C : 0 C",
    "fixed": "f8 F K",
    "situation": "i4 C : 0 S",
    "way": "i4 S H K : -1 W",
    "lane": "i4 H : 0 lanes",
    "following": "i4 labels lanes : 0 H",
    "first": "i4 W+1",
    "chance": "f8 outcomes",
    "end": "i4 outcomes : 0 ends",
    "place": "i4 C : 0 ends",
    "next": "i4 ends : -T C",
    "label": "i2 ends : 0 labels",
    "payoff": "f8 T",
    "start": "i4 n 2",
    "start_chance": "f8 n",
}
NATURE = 2
CELLS = 2**27  # of an array that is computed
MOST = 2**26  # parts of a search
DEEPEST = 1000  # of these inside each other: the stack of a processor is limited
SUM = 1e-9  # by which probabilities may miss 1
ROUNDING = 2.0**-53
LARGE = 1e300  # larger numbers might overflow
compiled: Any = njit
FORMAT = "benchmark of imperfect recall 2"
DIGITS = 10  # of values, which are rounded down, and of bounds, which are rounded up
LEAST = Fraction(1, 10**13)  # error: more than underflow, or the last place of a claim, can be

Form: Any = NamedTuple("Form", [(name, Array) for name in FORM])  # type: ignore[misc]


def short(name: str, chances: Array) -> float:
    """By how much rows of probabilities miss a sum of 1 at most."""
    demand((chances >= 0.0).all(), f"{name}: a negative probability")
    found = float(np.abs(chances.sum(axis=-1) - 1.0).max())
    demand(found <= SUM, f"{name}: no probabilities, they miss 1 by {found:.1e}")
    return found + chances.shape[-1] * ROUNDING


def error(size: float, roundings: float, misses: float) -> float:
    """How far a number may be off: 1.02 M (n u + m e), given M, n and m e."""
    share = roundings * ROUNDING + misses
    demand(share < 1 / 200 and size < LARGE, "numbers: too many, or too large")
    return 1.02 * size * share


class Instance:
    """An instance, its arrays checked."""

    def __init__(self, arrays: dict[str, Array]) -> None:
        demand(sorted(arrays) == sorted(FORM), "arrays: not those of the form")
        form: Any = Form(*(np.ascontiguousarray(arrays[name]) for name in FORM))
        self.form = form
        self._check_ranges()
        self.memories, self.actions = form.way.shape[1:]
        self.own, self.prices = form.player != NATURE, 0
        self.rows = int(form.row[self.own].max()) + 1  # somebody moves, or this raises
        self.states = int(self.own.sum()) * self.memories
        self.legal = self._legal_actions()
        self._check_order()
        levels, ways = len(form.level), list(pairwise(form.first))
        chance = max(short("chance", form.chance[low:high]) for low, high in ways)
        turns = levels * (chance + short("fixed", form.fixed))
        self.misses = short("start_chance", form.start_chance) + turns
        longest = max(high - low for low, high in ways)
        self.roundings = levels * (longest + self.actions + 2) + len(form.start) + 2
        self.size = float(np.abs(form.payoff).max())
        self.error = error(self.size, self.roundings, self.misses)

    def digest(self) -> str:
        """SHA-256 of names, types, shapes and bytes."""
        found = hashlib.sha256()
        for name, array in self.form._asdict().items():
            found.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
            found.update(array.tobytes())
        return found.hexdigest()

    def _check_ranges(self) -> None:
        sizes, form = {"2": 2}, self.form
        for name, array in form._asdict().items():
            kind, *axes = FORM[name].partition(" :")[0].split()
            typed(name, array, kind, len(axes))
            demand(array.size, f"{name}: is empty")
            for axis, length in zip(axes, array.shape, strict=True):
                demand(sizes.setdefault(axis, length) == length, f"{name}: has not {axis} numbers")
        sizes |= {"0": 0, "-1": -1, "3": 3, "-T": -sizes["T"], "W": sizes["W+1"] - 1}
        for name, array in form._asdict().items():
            if ranges := FORM[name].partition(" : ")[2]:
                least, most = (sizes[one] for one in ranges.split())
                inside = (array >= least) & (array < most)
                demand(inside.all(), f"{name}: a number out of range")
        inside = (form.row < sizes["F"]) | (form.player != NATURE)
        demand(inside.all(), "row: a number out of range")
        inside = (form.start >= 0) & (form.start < (sizes["C"], sizes["H"]))
        demand(inside.all(), "start: a number out of range")
        rises("level", form.level, sizes["C"])
        rises("first", form.first, sizes["outcomes"])
        demand(sizes["C"] * sizes["H"] * sizes["K"] <= CELLS, "way: too large")
        demand(sizes["C"] * int(np.diff(form.first).max()) <= CELLS, "first: too large")

    def _legal_actions(self) -> Array:
        """Which actions rows have, (R, K), in all memories and at all positions alike."""
        form, own = self.form, self.own
        met = [np.bincount(form.row[form.player == one], minlength=self.rows) for one in (0, 1)]
        demand(((met[0] > 0) ^ (met[1] > 0)).all(), "row: of nobody, or of both players")
        # With memory, positions do not recur, so neither do rows of one position each.
        demand(self.memories == 1 or max(map(np.max, met)) == 1, "row: twice, with memory")
        always, ever = (form.way >= 0).all(axis=1), (form.way >= 0).any(axis=1)  # by situation
        here, row = always[form.situation[own]], form.row[own]
        demand((here == ever[form.situation[own]]).all(), "way: actions hang on memory")
        demand(here.any(axis=1).all(), "way: no action")
        legal = np.zeros((self.rows, self.actions), bool)
        legal[row] = here
        demand((legal[row] == here).all(), "way: actions hang on the position")
        fixed = form.fixed[form.row[~own]] * ~always[form.situation[~own]]
        demand(not fixed.any(), "fixed: an action that is none")
        return legal

    def _check_order(self) -> None:
        """Refuse a turn that does not end in a later level."""
        form = self.form
        level = np.searchsorted(form.level, np.arange(len(self.own)), side="right")
        for situation, ways in enumerate(form.way):
            positions = np.flatnonzero(form.situation == situation)[:, None]
            for way in np.unique(ways[ways >= 0]):
                at = form.place[positions] + form.end[form.first[way] : form.first[way + 1]]
                demand(at.max(initial=0) < len(form.next), "place: beyond all ends")
                after = form.next[at]
                is_later = (after < 0) | (level[np.maximum(after, 0)] > level[positions])
                demand(is_later.all(), "next: an earlier position")

    def value(self, strategies: Array) -> float:
        """Payoff to player 0 where rows play pure strategies, (R,), but for `error`."""
        demand(strategies.shape == (self.rows,), "strategy: not one action for each row")
        chosen = strategies[:, None] == np.arange(self.actions)
        demand((chosen & self.legal).any(axis=1).all(), "strategy: an action that does not exist")
        return self._best(chosen)

    def bound(self, allowed: Array, _: Array | None = None) -> float:
        """Most that a player wins who knows every state, of actions (R, K); without prices."""
        return self._best(allowed & self.legal) + self.error

    def _best(self, allowed: Array) -> float:
        at, memory = self.form.start.T
        return float(self.form.start_chance @ worths(self.form, allowed)[at, memory])


@compiled
def worths(form: Any, allowed: Array) -> Array:
    """Worth of states, (C, H), to a player who knows them, of actions (R, K)."""
    worth = np.zeros((len(form.player), len(form.lane)))
    for position in range(len(worth) - 1, -1, -1):
        row = form.row[position]
        for memory in range(len(form.lane)):
            best, drawn = -np.inf, 0.0
            for action in range(allowed.shape[1]):
                if form.player[position] == NATURE:
                    if form.fixed[row, action] > 0.0:
                        won = played(form, worth, position, memory, action)
                        drawn += form.fixed[row, action] * won
                elif allowed[row, action]:
                    best = max(best, played(form, worth, position, memory, action))
            worth[position, memory] = drawn if form.player[position] == NATURE else best
    return worth


@compiled
def played(form: Any, worth: Array, position: int, memory: int, action: int) -> float:
    """Worth of an action that exists."""
    way, total = form.way[form.situation[position], memory, action], 0.0
    for outcome in range(form.first[way], form.first[way + 1]):
        at = form.place[position] + form.end[outcome]
        if form.next[at] < 0:
            total += form.chance[outcome] * form.payoff[-1 - form.next[at]]
        else:
            after = form.following[form.label[at], form.lane[memory]]
            total += form.chance[outcome] * worth[form.next[at], after]
    return total


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


class Proof(NamedTuple):
    """Questions in the order of a walk, and prices at the leaves, those that are not 0."""

    questions: Array  # (n, 2), row and action, yes before no; -1, -1 at a leaf
    first: Array  # (leaves + 1,)
    place: Array  # in prices (J, K), flattened
    price: Array
    target: Array  # (leaves,), bound of a search below each; or (0,), no search

    def bound(self, relaxed: Instance | Tree, legal: Array) -> float:
        """Highest bound of all leaves: each leaves some actions to the rows."""
        for field, kind in zip(self._fields, ("i4", "i4", "i4", "f4", "f8"), strict=True):
            typed(field, getattr(self, field), kind, 1 + (field == "questions"))
        demand(self.questions.shape[1] == 2, "questions: not rows and actions")
        demand(len(self.place) == len(self.price), "place: not as many as prices")
        rises("first", self.first, len(self.place))
        demand(len(self.target) in {0, len(self.first) - 1}, "target: not one for each leaf")
        found, stack = list[float](), [legal]
        for row, action in self.questions.tolist():
            demand(stack, "proof: more than one tree")
            allowed = stack.pop()
            if (row, action) == (-1, -1):
                found.append(self._leaf(relaxed, allowed, len(found)))
                continue
            demand(0 <= row < len(legal) and 0 <= action < legal.shape[1], "proof: no such action")
            no, yes = allowed.copy(), allowed.copy()
            no[row, action] = False
            yes[row] &= np.arange(legal.shape[1]) == action
            demand(no[row].any() and yes[row].any(), "proof: a question whose answer is known")
            stack += [no, yes]
            demand(len(stack) * legal.size <= CELLS, "proof: too deep")
        demand(not stack and len(found) == len(self.first) - 1, "proof: ends too early")
        demand(np.isfinite(found).all(), "proof: a bound that is not finite")
        return max(found)

    def _leaf(self, relaxed: Instance | Tree, allowed: Array, leaf: int) -> float:
        demand(leaf < len(self.first) - 1, "first: too few leaves")
        span = slice(*self.first[leaf : leaf + 2])
        place, prices = self.place[span], np.zeros(relaxed.prices)
        inside = ((place >= 0) & (place < len(prices))).all() and (place[1:] > place[:-1]).all()
        demand(inside, "place: beyond all prices, or not rising")
        if len(self.target) and isinstance(relaxed, Tree) and not len(place):
            return relaxed.searched(allowed, float(self.target[leaf]))
        demand(not len(self.target), "target: of no search")
        prices[place] = self.price[span]
        return relaxed.bound(allowed, prices)


def rounded_up(value: float) -> float:
    """Round up to a decimal number, or to the next float if it has more digits than floats."""
    found = math.ceil((Fraction(value) + LEAST) * 10**DIGITS) / 10**DIGITS
    return found if found > value else math.nextafter(value, math.inf)


class Known:
    """The folder of results: known.json, and the arrays of strategies.npz and proofs.npz."""

    def __init__(self, folder: Path) -> None:
        known = parse(read(folder / "known.json"))
        demand(len(known) == 4, "known.json: has other keys")  # all four are looked up
        self.listed, self.arrays = known["instances"], list[dict[str, Array]]()
        demand(known["format"] == FORMAT, f"known.json: its format is not {FORMAT}")
        for what in ("strategies", "proofs"):
            data = read(folder / f"{what}.npz")
            found = hashlib.sha256(data).hexdigest()
            demand(found == known[what], f"{what}.npz: its SHA-256 is not that of known.json")
            self.arrays.append(arrays_of(data))

    def bound(self, name: str, problem: Instance | Tree) -> tuple[float, int]:
        """Bound that a proof gives, and its leaves."""
        proof = Proof(*(self.arrays[1][f"{name}.{field}"] for field in Proof._fields))
        return rounded_up(proof.bound(problem, problem.legal)), len(proof.first) - 1

    def facts(self, name: str, instance: Instance) -> dict[str, Any]:
        """Compute anew all that known.json says of an instance."""
        strategies = self.arrays[0]
        facts: dict[str, Any] = {"instance": instance.digest()}
        facts |= {"states": instance.states, "rows": instance.rows}
        if name in strategies:
            is_alone = (instance.form.player != 1).all()
            demand(is_alone, "player: a game, no problem of one player")
            typed("strategy", strategies[name], "i2", 1)
            value = 0.0 - rounded_up(instance.error - instance.value(strategies[name]))
            problem = player_tree(instance) if instance.memories == 1 else instance
            bound, leaves = self.bound(name, problem)
            demand(value <= bound, "value: above the bound, so one is wrong")
            return {**facts, "value": value, "bound": bound, "leaves": leaves}
        against = [self.against(f"{name}.{player}", instance, player) for player in (0, 1)]
        (low, fewer), (upper, more) = against  # from the side of the other player
        demand(-low <= upper, "lower: above upper, so one is wrong")
        return {**facts, "lower": 0.0 - low, "upper": upper, "leaves": [fewer, more]}

    def against(self, name: str, instance: Instance, player: int) -> tuple[float, int]:
        """Bound what a mixture of a player allows the other."""
        weights, policies = (self.arrays[0][f"{name}.{what}"] for what in ("weights", "policies"))
        typed("weights", weights, "f8", 1)
        typed("policies", policies, "f8", 3)
        tree = Tree(instance, 1 - player, weights, policies)
        tree.misses += len(instance.form.level) * short("policies", policies)
        tree.misses += short("weights", weights)
        return self.bound(name, tree)

    def check(self, name: str, folder: Path) -> None:
        """Refuse what known.json says of an instance, unless it is found anew."""
        demand(name in self.listed, "known.json: does not list it")
        said = self.listed[name]
        found = self.facts(name, Instance(arrays_of(read(folder / f"{name}.npz"))))
        demand(sorted(said) == sorted(found), f"known.json: has not {', '.join(sorted(found))}")
        for key, fact in found.items():
            same = json.dumps(said[key]) == json.dumps(fact)  # 1, 1.0 and true are three
            demand(same, f"{key}: {said[key]} is said, {fact} is found")

    def named(self, instances: Path, *only: str) -> list[str]:
        """List all instances, or those with a part of their names given."""
        demand(self.listed, "known.json: lists no instance")
        for arrays in self.arrays:
            same = {key.split(".")[0] for key in arrays} == set(self.listed)
            demand(same, "known.json: lists not what the arrays are of")
        for part in only:
            demand(any(part in name for name in self.listed), f"{part}: in no name of known.json")
        names = {*self.listed, *(path.stem for path in instances.glob("*.npz"))}
        return sorted(name for name in names if any(part in name for part in only or ("",)))


def line_of(wrong: Exception) -> str:
    """Say in one line why something is refused, whatever was raised."""
    kind = "" if isinstance(wrong, RefusedError) else f"{type(wrong).__name__}: "
    return f"refused: {kind}{ascii(str(wrong))[1:-1]:.300}"


def main(*given: str) -> int:
    """Check what a command line names; 0 if all is accepted."""
    refused = 0
    try:
        instances, folder, *only = given
        known = Known(Path(folder))
        names = known.named(Path(instances), *only)
    except Exception as wrong:  # noqa: BLE001 - whatever prevents a check
        print(line_of(wrong))
        return 1
    for name in names:
        said = "accepted"
        try:
            known.check(name, Path(instances))
        except Exception as wrong:  # noqa: BLE001 - as above
            said, refused = line_of(wrong), refused + 1
        print(f"{ascii(name)[1:-1]}: {said}", flush=True)  # one line, whatever the name is
    print(f"{refused} refused" if refused else "all accepted")
    return min(refused, 1)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
