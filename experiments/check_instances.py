"""Instances of the benchmark, checked: values of strategies, and bounds with full memory.

`error` bounds what is missed by rounding, and by probabilities that miss their sums. It is added to
bounds and taken off values.
"""

import hashlib
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from strict_files import Array, demand, rises, typed

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
SUM = 1e-9  # by which probabilities may miss 1
ROUNDING = 2.0**-53
LARGE = 1e300  # larger numbers might overflow
compiled: Any = njit

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
