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
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from check_trees import CELLS, NATURE, Tree
from strict_files import (
    Array,
    RefusedError,
    arrays_of,
    demand,
    error,
    parse,
    read,
    rises,
    short,
    typed,
)

FIELDS = (  # type and number of axes
    "level i4 1, player i1 1, row i4 1, fixed f8 2, situation i4 1, way i4 3, lane i4 1, "
    "following i4 2, first i4 1, chance f8 1, end i4 1, place i4 1, next i4 1, label i2 1, "
    "payoff f8 1, start i4 2, start_chance f8 1"
)
FORM = {name: (kind, int(axes)) for name, kind, axes in map(str.split, FIELDS.split(","))}
MIXTURE = ("weights", "policies")
FORMAT = "benchmark of imperfect recall 2"
DIGITS = 10  # of values, which are rounded down, and of bounds, which are rounded up
LEAST = Fraction(1, 10**13)  # error: more than underflow, or the last place of a claim, can be


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
        demand(sorted(arrays) == sorted(FORM), "arrays: not those of the form")
        for name, (kind, axes) in FORM.items():
            typed(name, arrays[name], kind, axes)
            demand(arrays[name].size, f"{name}: is empty")
        self.arrays = arrays
        self.memories, self.actions = self["way"].shape[1:]
        self.own = self["player"] != NATURE
        self.rows = int(self["row"][self.own].max()) + 1  # somebody moves, or this raises
        self.states = int(self.own.sum()) * self.memories
        self._check_ranges()
        counts = np.diff(self["first"])
        ways = np.zeros((len(counts), 1 + int(self["end"].max())))
        np.add.at(ways, (np.repeat(np.arange(len(ways)), counts), self["end"]), self["chance"])
        self.steps = list(self._steps(ways))
        self.legal = self._legal_actions()
        levels, most = len(self["level"]), int(counts.max())
        start = short("start_chance", self["start_chance"], len(self["start"]))
        chance = short("chance", ways, most)
        fixed = short("fixed", self["fixed"], self.actions)
        self.misses = start + levels * (chance + fixed)
        self.roundings = levels * (most + self.actions + 2) + len(self["start"]) + 2
        self.size = float(np.abs(self["payoff"]).max())
        self.error = error(self.size, self.roundings, self.misses)

    def __getitem__(self, name: str) -> Array:
        return self.arrays[name]

    def digest(self) -> str:
        """SHA-256 of names, types, shapes and bytes."""
        found = hashlib.sha256()
        for name in FORM:
            array = self[name]
            found.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
            found.update(np.ascontiguousarray(array).tobytes())
        return found.hexdigest()

    def _check_ranges(self) -> None:
        positions, ends, outcomes = (len(self[name]) for name in ("player", "next", "chance"))
        ways, starts = len(self["first"]) - 1, len(self["start_chance"])
        labels, lanes = self["following"].shape
        demand(positions * self.memories * self.actions <= CELLS, "way: too large")
        demand(ways * (1 + int(self["end"].max())) <= CELLS, "end: too large")
        columns = self["start"].shape[1] == 2 and self["fixed"].shape[1] == self.actions
        demand(columns, "start, fixed: another number of columns")
        ranges = {  # length; least number, and the first that is too large
            "player": (positions, 0, NATURE + 1),
            "row": (positions, 0, np.where(self.own, positions, len(self["fixed"]))),
            "situation": (positions, 0, len(self["way"])),
            "way": (len(self["way"]), -1, ways),
            "lane": (self.memories, 0, lanes),
            "following": (labels, 0, self.memories),
            "end": (outcomes, 0, ends),
            "place": (positions, 0, ends),
            "next": (ends, -len(self["payoff"]), positions),
            "label": (ends, 0, labels),
            "start": (starts, 0, np.array([positions, self.memories])),
        }
        for name, (length, least, most) in ranges.items():
            demand(len(self[name]) == length, f"{name}: its length is not {length}")
            inside = (self[name] >= least) & (self[name] < most)
            demand(inside.all(), f"{name}: a number out of range")
        rises("level", self["level"], positions)
        rises("first", self["first"], outcomes)

    def _steps(self, ways: Array) -> Iterator[Step]:
        for low, high in reversed(list(pairwise(self["level"]))):
            situations = self["situation"][low:high]
            for kind in np.unique(situations):
                positions, way = low + np.flatnonzero(situations == kind), self["way"][kind]
                used = np.unique(way[way >= 0])
                plays = np.where(way < 0, len(used), np.searchsorted(used, way))
                most = 1 + int(np.flatnonzero(ways[used].any(axis=0)).max(initial=0))
                room = (len(used) + len(positions) * self["following"].shape[1]) * most
                demand(room <= CELLS, "end: too many")
                at = self["place"][positions][:, None] + np.arange(most)
                demand(at.max() < len(self["next"]), "place: beyond all ends")
                after = self["next"][at]
                demand(((after < 0) | (after >= high)).all(), "next: an earlier position")
                yield Step(positions, after, self["label"][at], ways[used, :most], plays)

    def _legal_actions(self) -> Array:
        """Which actions rows have, (R, K), in all memories and at all positions alike."""
        player, row = self["player"], self["row"]
        met = [np.bincount(row[player == one], minlength=self.rows) for one in (0, 1)]
        demand(((met[0] > 0) ^ (met[1] > 0)).all(), "row: of nobody, or of both players")
        # With memory, positions do not recur, so neither do rows of one position each.
        demand(self.memories == 1 or max(map(np.max, met)) == 1, "row: twice, with memory")
        legal = np.zeros((self.rows, self.actions), bool)
        for step in self.steps:
            exists = step.plays < len(step.ways)
            own = self.own[step.positions]
            fixed = self["fixed"][row[step.positions[~own]]]
            demand(not fixed[:, ~exists.all(axis=0)].any(), "fixed: an action that is none")
            demand((exists == exists[0]).all() or not own.any(), "way: actions hang on memory")
            known = legal[row[step.positions[own]]]
            known = known[known.any(axis=1)]
            demand((known == exists[0]).all(), "way: actions hang on the position")
            legal[row[step.positions[own]]] = exists[0]
        return legal

    def value(self, strategies: Array) -> float:
        """Payoff to player 0 where rows play pure strategies, (R,), but for `error`."""
        demand(strategies.shape == (self.rows,), "strategy: not one action for each row")
        chosen = strategies[:, None] == np.arange(self.actions)
        demand((chosen & self.legal).any(axis=1).all(), "strategy: an action that does not exist")
        return self._best(chosen)

    def bound(self, allowed: Array, kept: dict[int, Array] | None = None) -> float:
        """Most that a player wins who knows every state, of actions (R, K); keep all values."""
        return self._best(allowed, kept) + self.error

    def _best(self, allowed: Array, kept: dict[int, Array] | None = None) -> float:
        worth, lanes = np.zeros((len(self.own), self.memories)), self["following"].shape[1]
        for step in self.steps:
            memory = self["following"][step.label]  # (n, E, lanes)
            ends = worth[np.maximum(step.after, 0)[:, :, None], memory]
            payoff = self["payoff"][np.maximum(-1 - step.after, 0)]
            ends = np.where(step.after[:, :, None] >= 0, ends, payoff[:, :, None])
            played = np.full((len(ends), len(step.ways) + 1, lanes), np.nan)
            played[:, :-1] = step.ways @ ends
            values = played[:, step.plays, self["lane"][:, None]]  # (n, H, K)
            if kept is not None:
                kept[len(kept)] = values
            own, rows = self.own[step.positions], self["row"][step.positions]
            fixed = self["fixed"][rows[~own]][:, None]
            exists = ~np.isnan(values)
            drawn = np.where(exists, values, 0.0)[~own] * fixed
            worth[step.positions[~own]] = drawn.sum(axis=2)
            may = allowed[rows[own]][:, None] & exists[own]
            worth[step.positions[own]] = np.where(may, values[own], -np.inf).max(axis=2)
        at, memory = self["start"].T
        return float(self["start_chance"] @ worth[at, memory])


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
        every = len(self.target) in {0, len(self.first) - 1}
        demand(every, "target: not one for each leaf")
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
        place, target = self.place[span], self.target[leaf : leaf + 1]
        if isinstance(relaxed, Instance):
            demand(not len(place) + len(target), "proof: prices or targets where there is memory")
            return relaxed.bound(allowed)
        if len(target):
            demand(not len(place), "proof: prices of a search")
            return relaxed.searched(allowed, float(target[0]))
        prices = np.zeros((len(relaxed.row), relaxed.actions))
        inside = ((place >= 0) & (place < prices.size)).all() and (place[1:] > place[:-1]).all()
        demand(inside, "place: beyond all prices, or not rising")
        prices.ravel()[place] = self.price[span]
        return relaxed.bound(allowed, prices)


def rounded_up(value: float) -> float:
    """Round up to a decimal number."""
    return math.ceil((Fraction(value) + LEAST) * 10**DIGITS) / 10**DIGITS


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
        """Bound that a proof gives, and its leaves; the past of a tree is less than its states."""
        proof = Proof(*(self.arrays[1][f"{name}.{field}"] for field in Proof._fields))
        if isinstance(problem, Instance) and problem.memories == 1:
            nobody = np.zeros((1, problem.rows, problem.actions))
            problem = Tree(problem, 0, np.ones(1), nobody)
        return rounded_up(proof.bound(problem, problem.legal)), len(proof.first) - 1

    def facts(self, name: str, instance: Instance) -> dict[str, Any]:
        """Compute anew all that known.json says of an instance."""
        strategies = self.arrays[0]
        facts: dict[str, Any] = {"instance": instance.digest()}
        facts |= {"states": instance.states, "rows": instance.rows}
        if name in strategies:
            demand(not (instance["player"] == 1).any(), "player: a game, no problem of one player")
            typed("strategy", strategies[name], "i2", 1)
            facts["value"] = 0.0 - rounded_up(instance.error - instance.value(strategies[name]))
            facts["bound"], facts["leaves"] = self.bound(name, instance)
            demand(facts["value"] <= facts["bound"], "value: above the bound, so one is wrong")
            return facts
        # What a mixture of one player allows the other, from the side of player 0.
        ends, leaves = [], []
        for player in (0, 1):
            weights, policies = (strategies[f"{name}.{player}.{what}"] for what in MIXTURE)
            typed("weights", weights, "f8", 1)
            typed("policies", policies, "f8", 3)
            tree = Tree(instance, 1 - player, weights, policies)
            tree.misses += short("weights", weights, len(weights))
            tree.misses += len(instance["level"]) * short("policies", policies, instance.actions)
            bound, count = self.bound(f"{name}.{player}", tree)
            ends.append(bound)
            leaves.append(count)
        facts |= {"lower": 0.0 - ends[0], "upper": ends[1], "leaves": leaves}
        demand(facts["lower"] <= facts["upper"], "lower: above upper, so one is wrong")
        return facts

    def check(self, name: str, folder: Path) -> None:
        """Refuse what known.json says of an instance, unless it is found anew."""
        demand(name in self.listed, "known.json: does not list it")
        said = self.listed[name]
        found = self.facts(name, Instance(arrays_of(read(folder / f"{name}.npz"))))
        demand(sorted(said) == sorted(found), f"known.json: has not {', '.join(sorted(found))}")
        for key, fact in found.items():
            same = json.dumps(said[key]) == json.dumps(fact)  # 1, 1.0 and true are three
            demand(same, f"{key}: {said[key]} is said, {fact} is found")


def check_all(instances: str, folder: str, *only: str) -> int:
    """Check all instances, or those with a part of their names given; count what is refused."""
    known, refused = Known(Path(folder)), 0
    for arrays in known.arrays:
        same = {key.split(".")[0] for key in arrays} == set(known.listed)
        demand(same, "known.json: lists not what the arrays are of")
    names = {*known.listed, *(path.stem for path in Path(instances).glob("*.npz"))}
    for part in only or ("",):
        demand(any(part in name for name in known.listed), f"{part}: in no name of known.json")
    for name in sorted(name for name in names if any(part in name for part in only or ("",))):
        shown = ascii(name)[1:-1]  # one line, whatever the name is
        try:
            known.check(name, Path(instances))
            print(f"{shown}: accepted", flush=True)
        except Exception as wrong:  # noqa: BLE001 - whatever prevents a check
            print(f"{shown}: {line_of(wrong)}", flush=True)
            refused += 1
    print(f"{refused} refused" if refused else "all accepted")
    return refused


def line_of(wrong: Exception) -> str:
    """Say in one line why something is refused, whatever was raised."""
    kind = "" if isinstance(wrong, RefusedError) else f"{type(wrong).__name__}: "
    return f"refused: {kind}{ascii(str(wrong))[1:-1]:.300}"


def main(*given: str) -> int:
    """Check what a command line names; 0 if all is accepted."""
    try:
        return min(check_all(*given), 1)
    except Exception as wrong:  # noqa: BLE001 - as above
        print(line_of(wrong))
        return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
