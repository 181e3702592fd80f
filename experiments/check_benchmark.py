"""Check the benchmark of imperfect recall: values, bounds and proofs, by numpy alone.

    hogeq bench-games write instances
    python experiments/check_benchmark.py instances results/benchmark

This file shares no code with hogeq. It reads the instances, whose arrays docs/benchmark.md
describes, and of the second folder known.json, strategies.npz and proofs.npz. It computes the value
of every strategy and every bound anew, and refuses what differs in a digit.

A bound. Some pure strategy is best, since no row is met twice in a play (checked). Who knows the
state wins at least as much: one backward induction. A *proof* is a binary tree of questions "does
the row play this action?", so each leaf leaves some actions to each row, and the bound is the
largest of the leaves. In a game tree the player knows its own past, no more: the row and all own
moves before. A leaf may there have *prices* p >= 0 on (own past, action): for a pure strategy with
weights r and choices z, r <= z, so its payoff is at most

    max over players who remember of (payoff - sum of p r) + sum over rows of max over a of sum of p
"""

import hashlib
import json
import math
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

FIELDS = (
    *("level", "player", "row", "fixed", "situation", "way", "lane", "following", "first"),
    *("chance", "end", "place", "next", "label", "payoff", "start", "start_chance"),
)
NATURE = 2
FORMAT = "benchmark of imperfect recall 1"
UNIT = 1e-10  # of values, which are rounded down, and of bounds, which are rounded up
ROUNDING = 1e-13  # what sums of products may be off
SUM = 1e-9  # by which probabilities may miss 1

Array = np.ndarray[Any, Any]


class RefusedError(Exception):
    """Something is not as it is said to be; one line."""


WRONG = (RefusedError, OSError, ValueError, TypeError, LookupError, zipfile.BadZipFile, zlib.error)


def demand(holds: object, line: str) -> None:
    """Refuse with a line unless something holds."""
    if not holds:
        raise RefusedError(line)


def are_chances(given: Array) -> bool:
    """Whether rows are probabilities."""
    return bool((given >= 0.0).all() and (np.abs(given.sum(axis=-1) - 1.0) < SUM).all())


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
        for name in ("fixed", "start_chance"):
            demand(are_chances(self[name]), f"{name}: no probabilities")
        highest = np.zeros(len(own), np.int64)
        for level, end in pairwise(self["level"]):
            highest[level:end] = end
        for step in self.steps:
            demand(are_chances(step.ways), "chance: no probabilities")
            goes_on, later = step.after >= 0, highest[step.positions][:, None]
            demand((~goes_on | (step.after >= later)).all(), "next: an earlier position")
            exists = step.plays < len(step.ways)
            same = exists[:, 0].all() and (exists == exists[:1]).all()
            demand(same or not own[step.positions].any(), "way: actions hang on memory")
        if self.memories > 1:  # positions do not recur, so neither do rows of one position each
            for player in (0, 1):
                rows = self["row"][self["player"] == player]
                met = np.bincount(rows, minlength=1).max(initial=0)
                demand(met <= 1, "row: a row of two positions, with memory")

    def may(self) -> Array:
        """Which actions rows have, bool (R, K), in all memories alike."""
        legal = np.zeros((self.rows, self.actions), bool)
        for step in self.steps:
            own = step.positions[self["player"][step.positions] != NATURE]
            legal[self["row"][own]] = step.plays[0] < len(step.ways)
        return legal

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

    def bound(self, allowed: Array, kept: dict[int, Array] | None = None) -> float:
        """Payoff of a player who knows every state, rows having actions (R, K); keep all values."""

        def choose(positions: Array, values: Array) -> Array:
            if kept is not None:
                kept[len(kept)] = values
            found = self._chosen(positions, values, np.eye(1, self.actions))
            own = self["player"][positions] != NATURE
            may = allowed[self["row"][positions[own]]][:, None]
            usable = np.where(may & ~np.isnan(values[own]), values[own], -np.inf)
            found[own] = usable.max(axis=2)
            return found

        return self.backward(choose)


class Proof(NamedTuple):
    """Questions in the order of a walk, and prices at the leaves, those that are not 0."""

    questions: Array  # (n, 2), row and action, yes before no; -1, -1 at a leaf
    first: Array  # (leaves + 1,)
    place: Array  # in prices (J, K), flattened
    price: Array

    def bound(self, relaxed: "Instance | Tree", legal: Array) -> float:
        """Highest bound of all leaves: each leaves some actions to the rows."""
        leaf, found, stack = 0, -np.inf, [legal]
        for row, action in self.questions.tolist():
            demand(stack, "proof: more than one tree")
            allowed = stack.pop()
            if row < 0:
                if (allowed.any(axis=1) >= legal.any(axis=1)).all():  # else no strategy is left
                    found = max(found, self._leaf(relaxed, allowed, leaf))
                leaf += 1
                continue
            demand(0 <= row < len(legal) and 0 <= action < legal.shape[1], "proof: no such action")
            no, yes = allowed.copy(), allowed.copy()
            no[row, action] = False
            yes[row] &= np.arange(legal.shape[1]) == action
            stack += [no, yes]
        demand(not stack and leaf == len(self.first) - 1, "proof: ends too early")
        return found

    def _leaf(self, relaxed: "Instance | Tree", allowed: Array, leaf: int) -> float:
        span = slice(*self.first[leaf : leaf + 2])
        if isinstance(relaxed, Instance):
            demand(not len(self.place[span]), "proof: prices where there is memory")
            return relaxed.bound(allowed)
        prices = np.zeros((len(relaxed.row), relaxed.actions))
        prices.ravel()[self.place[span]] = self.price[span]
        return relaxed.bound(allowed, prices)


class Tree:
    """What one player of a game tree can do, others playing a mixture; it remembers its own past.

    Sequence 0 is the empty one. After action a at *past* j, a row and the sequence that led there,
    the sequence is 1 + j K + a.
    """

    def __init__(self, instance: Instance, player: int, weights: Array, others: Array) -> None:
        demand(instance.memories == 1, "tree: has memory")
        fits = others.shape == (len(weights), instance.rows, instance.actions)
        demand(fits, "policies: not of this instance")
        self.actions, self.rows = instance.actions, instance.rows
        positions = len(instance["player"])
        sequence = np.zeros(positions, np.int64)
        reach = np.zeros((len(weights), positions))  # own moves count 1
        reach[:, instance["start"][:, 0]] = instance["start_chance"]
        met = np.bincount(instance["start"][:, 0], minlength=positions)
        numbers: dict[int, int] = {}
        row, before = list[int](), list[int]()
        self.mass, payoff = np.zeros(positions), np.zeros(1 + positions * self.actions)
        self.legal = np.zeros((self.rows, self.actions), bool)
        nature, rows = (instance["player"] == NATURE)[:, None], instance["row"]
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
                self.legal[[row[one] for one in past[mine]], action] = True
                chosen = [np.where(mine, 1.0, one[step.positions, action]) for one in policies]
                after = 1 + past * self.actions + action
                after = np.where(mine, after, sequence[step.positions])
                for end in np.flatnonzero(step.ways[way]):
                    comes = reach[:, step.positions] * chosen * step.ways[way, end]
                    to = step.after[:, end]
                    stops = to < 0
                    won = (weights @ comes)[stops] * instance["payoff"][-1 - to[stops]]
                    np.add.at(payoff, after[stops], won)
                    sequence[to[~stops]] = after[~stops]
                    reach[:, to[~stops]] = comes[:, ~stops]
                    met += np.bincount(to[~stops], minlength=positions)
        demand((met <= 1).all(), "next: a position with two ways to it is none of a tree")
        self.row, self.before = np.array(row, np.int64), np.array(before, np.int64)
        self.payoff = payoff[: 1 + len(row) * self.actions] * (1 - 2 * player)
        self.mass = self.mass[: len(row)]
        self.levels = list(self._levels())

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
        """Payoff of a player who remembers its past, at prices (J, K) and with what they refund."""
        worth, refund = self.payoff.copy(), 0.0
        may = (allowed & self.legal)[self.row]
        demand(may.any(axis=1).all(), "proof: a row is left without an action")
        if prices is not None:
            demand((prices >= 0.0).all(), "proof: a negative price")
            worth[1:] -= prices.ravel()
            total = np.zeros((self.rows, self.actions))
            np.add.at(total, self.row, prices)
            refund = float(np.where(allowed & self.legal, total, 0.0).max(axis=1).sum())
        actions = worth[1:].reshape(-1, self.actions)
        for pasts in self.levels:
            best = np.where(may[pasts], actions[pasts], -np.inf).max(axis=1)
            np.add.at(worth, self.before[pasts], best)
        return float(worth[0]) + refund


def rounded(value: float, *, up: bool) -> float:
    """Round so that rounding errors of the computation do no harm."""
    most = math.ceil(((value if up else -value) + ROUNDING) / UNIT) * UNIT
    return round(most if up else -most, 10)


class Known:
    """The folder of results: known.json, and the arrays of strategies.npz and proofs.npz."""

    def __init__(self, folder: Path) -> None:
        self.known = json.loads((folder / "known.json").read_text("utf-8"))
        demand(self.known.get("format") == FORMAT, f"known.json: its format is not {FORMAT}")
        self.arrays: list[dict[str, Array]] = []
        for name in ("strategies", "proofs"):
            path = folder / f"{name}.npz"
            found = hashlib.sha256(path.read_bytes()).hexdigest()
            demand(found == self.known[name], f"{path.name}: its SHA-256 is not that of known.json")
            self.arrays.append(read(path))

    def bound(self, name: str, problem: Instance | Tree) -> tuple[float, int]:
        """Bound that a proof gives, and its leaves; the past of a tree is less than its states."""
        proof = Proof(*(self.arrays[1][f"{name}.{field}"] for field in Proof._fields))
        if isinstance(problem, Instance) and problem.memories == 1:
            nobody = np.zeros((1, problem.rows, problem.actions))
            problem = Tree(problem, 0, np.ones(1), nobody)
        legal = problem.legal if isinstance(problem, Tree) else problem.may()
        return rounded(proof.bound(problem, legal), up=True), len(proof.first) - 1

    def facts(self, name: str, instance: Instance) -> dict[str, Any]:
        """Compute anew all that known.json says of an instance."""
        strategies = self.arrays[0]
        facts = {"instance": instance.digest(), "states": instance.states, "rows": instance.rows}
        if name in strategies:
            value = rounded(instance.value(strategies[name].astype(np.int64)), up=False)
            bound, number = self.bound(name, instance)
            return facts | {"value": value, "bound": bound, "leaves": number}
        # What a mixture of one player allows the other, from the side of player 0.
        ends, leaves = [], []
        for player in (0, 1):
            mixture = [strategies[f"{name}.{player}.{what}"] for what in ("weights", "policies")]
            demand(all(map(are_chances, mixture)), "mixture: no probabilities")
            bound, count = self.bound(f"{name}.{player}", Tree(instance, 1 - player, *mixture))
            ends.append(bound)
            leaves.append(count)
        return facts | {"lower": 0.0 - ends[0], "upper": ends[1], "leaves": leaves}


def read(path: Path) -> dict[str, Array]:
    """Read all arrays of a file."""
    with np.load(path) as arrays:
        return dict(arrays)


def main(instances: str, folder: str, *only: str) -> int:
    """Check all instances, or those with a part of their names given; 1 if one is refused."""
    known, refused = Known(Path(folder)), 0
    listed = known.known["instances"]
    demand({key.split(".")[0] for key in known.arrays[0]} == set(listed), "known.json: its names")
    for name, said in listed.items():
        if only and not any(part in name for part in only):
            continue
        try:
            found = known.facts(name, Instance(read(Path(instances, f"{name}.npz"))))
            demand(sorted(said) == sorted(found), f"known.json: has not {', '.join(sorted(found))}")
            for key, fact in found.items():
                demand(said[key] == fact, f"{key}: {said[key]} is said, {fact} is found")
            print(f"{name}: accepted", flush=True)
        except WRONG as error:
            print(f"{name}: refused: {error}", flush=True)
            refused += 1
    print(f"{refused} refused" if refused else "all accepted")
    return min(refused, 1)


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except WRONG as wrong:
        sys.exit(f"refused: {wrong}")
