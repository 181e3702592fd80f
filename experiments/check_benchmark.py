"""Check the benchmark of imperfect recall: values, bounds and proofs, by numpy alone.

    hogeq bench-games write instances
    python experiments/check_benchmark.py instances results/benchmark

This file shares no code with hogeq. It reads the instances, whose arrays docs/benchmark.md
describes, and of the second folder known.json, strategies.npz and proofs.npz. It computes the value
of every strategy and every bound anew, and refuses what differs in a digit.

A bound. A strategy plays one action in all states of a row. A player who knows the state wins at
least as much: one backward induction. A *proof* is a binary tree of questions "does the row play
this action?", so each leaf leaves some actions to each row, and the bound is the largest of the
leaves. In a game tree the player knows its own past, no more: the row and all own moves before.
There a leaf may also have *prices* p >= 0 on (own past, action): for a pure strategy with weights
r and choices z, r <= z, so its payoff is at most

    max over players who remember of (payoff - sum of p r) + sum over rows of max over a of sum of p

Some pure strategy is best, since no row is met twice in a play, which is checked as well.
"""

import hashlib
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

FIELDS = (
    *("level", "player", "row", "fixed", "situation", "way", "lane", "following", "first"),
    *("chance", "end", "place", "next", "label", "payoff", "start", "start_chance"),
)
NATURE = 2
DIGITS = 10  # of values, rounded down, and of bounds, rounded up
ROUNDING = 1e-13  # what sums of products may be off
SUM = 1e-9  # by which probabilities may miss 1

Array = np.ndarray[Any, Any]


class RefusedError(Exception):
    """Something is not as it is said to be; one line."""


def demand(holds: object, line: str) -> None:
    """Refuse with a line unless something holds."""
    if not holds:
        raise RefusedError(line)


class Step(NamedTuple):
    """Positions of one level and one situation, and all that an action can lead to."""

    positions: Array  # (n,)
    after: Array  # (n, E), next position, or -1 - t
    label: Array  # (n, E)
    ways: Array  # (W, E), probability of each end
    plays: Array  # (H, K), which way, W where there is no such action


class Instance:
    """An instance, its arrays checked."""

    def __init__(self, arrays: dict[str, Array]) -> None:
        demand(sorted(arrays) == sorted(FIELDS), "arrays: not those of the form")
        self.__dict__.update(arrays)
        self.arrays = arrays
        self.memories, self.actions = arrays["way"].shape[1:]
        moving = self["player"] != NATURE
        self.rows = int(self["row"][moving].max()) + 1
        self.states = int(moving.sum()) * self.memories
        self.steps = list(self._steps())
        self._check()

    def __getitem__(self, name: str) -> Array:
        return self.arrays[name]

    def digest(self) -> str:
        """SHA-256 of names, types, shapes and bytes."""
        found = hashlib.sha256()
        for name in FIELDS:
            array = self[name]
            found.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
            found.update(np.ascontiguousarray(array).tobytes())
        return found.hexdigest()

    def _steps(self) -> Iterator[Step]:
        levels, situations = self["level"], self["situation"]
        demand(levels[0] == 0 and levels[-1] == len(situations), "level: not all positions")
        for low, high in reversed(list(pairwise(levels))):
            here = np.arange(low, high)
            for kind in np.unique(situations[low:high]):
                positions = here[situations[low:high] == kind]
                used, plays = np.unique(self["way"][kind], return_inverse=True)
                plays = plays.reshape(self["way"].shape[1:])
                if used[0] < 0:
                    used, plays = used[1:], np.where(plays == 0, len(used) - 1, plays - 1)
                spans = [slice(*self["first"][way : way + 2]) for way in used]
                most = 1 + max(int(self["end"][span].max()) for span in spans)
                ways = np.zeros((len(used), most))
                for line, span in zip(ways, spans, strict=True):
                    np.add.at(line, self["end"][span], self["chance"][span])
                at = self["place"][positions][:, None] + np.arange(most)
                yield Step(positions, self["next"][at], self["label"][at], ways, plays)

    def _check(self) -> None:
        own = self["player"] != NATURE
        for name in ("chance", "fixed", "start_chance"):
            demand((self[name] >= 0.0).all(), f"{name}: negative probabilities")
        demand(abs(self["start_chance"].sum() - 1.0) < SUM, "start_chance: does not sum to 1")
        demand((np.abs(self["fixed"].sum(axis=1) - 1.0) < SUM).all(), "fixed: does not sum to 1")
        highest = np.zeros(len(own), np.int64)
        for level, end in pairwise(self["level"]):
            highest[level:end] = end
        for step in self.steps:
            demand((np.abs(step.ways.sum(axis=1) - 1.0) < SUM).all(), "chance: does not sum to 1")
            goes_on, later = step.after >= 0, highest[step.positions][:, None]
            demand((~goes_on | (step.after >= later)).all(), "next: an earlier position")
            owned = own[step.positions].any()
            demand(not owned or (step.plays[:, 0] < len(step.ways)).all(), "way: no first action")
        if self.memories > 1:  # positions do not recur, so neither do rows of one position each
            for player in (0, 1):
                rows = self["row"][self["player"] == player]
                met = np.bincount(rows, minlength=1).max(initial=0)
                demand(met <= 1, "row: a row of two positions, with memory")

    def backward(self, choose: Callable[[Array, Array], Array]) -> float:
        """Payoff to player 0, by a function of positions and action values (n, H, K) to (n, H)."""
        worth = np.zeros((len(self["player"]), self.memories))
        lanes = self["following"].shape[1]
        for step in self.steps:
            memory = self["following"][step.label]  # (n, E, lanes)
            ends = worth[np.maximum(step.after, 0)[:, :, None], memory]
            payoff = self["payoff"][np.maximum(-1 - step.after, 0)]
            ends = np.where(step.after[:, :, None] >= 0, ends, payoff[:, :, None])
            played = np.full((len(ends), len(step.ways) + 1, lanes), np.nan)
            played[:, :-1] = step.ways @ ends
            values = played[:, step.plays, self["lane"][:, None]]
            worth[step.positions] = choose(step.positions, values)
        at, memory = self["start"].T
        return float(self["start_chance"] @ worth[at, memory])

    def value(self, strategies: Array) -> float:
        """Payoff to player 0 where rows play pure strategies, (R,)."""
        demand(strategies.shape == (self.rows,), "strategy: one action for each row")

        def choose(positions: Array, values: Array) -> Array:
            return self._chosen(positions, values, np.eye(self.actions)[strategies])

        return self.backward(choose)

    def _chosen(self, positions: Array, values: Array, policy: Array) -> Array:
        own = self["player"][positions] != NATURE
        rows = self["row"][positions]
        table = np.where(
            own[:, None],
            policy[np.minimum(rows, len(policy) - 1)],
            self["fixed"][np.minimum(rows, len(self["fixed"]) - 1)],
        )[:, None]
        illegal = np.isnan(values)
        demand(not (illegal & (table > 0.0)).any(), "strategy: an action that does not exist")
        return np.asarray((np.where(illegal, 0.0, values) * table).sum(axis=2))

    def bound(self, allowed: Array) -> float:
        """Payoff of a player who knows every state, rows choosing among actions, bool (R, K)."""

        def choose(positions: Array, values: Array) -> Array:
            found = self._chosen(positions, values, np.eye(1, self.actions))
            own = self["player"][positions] != NATURE
            may = allowed[self["row"][positions[own]]][:, None]
            usable = np.where(may & ~np.isnan(values[own]), values[own], -np.inf)
            found[own] = usable.max(axis=2)
            return found

        return self.backward(choose)
