"""Check the benchmark of imperfect recall: values, bounds and proofs.

    hogeq bench-games write instances
    python experiments/check_benchmark.py instances results/benchmark

It shares no code with hogeq. docs/benchmark.md has the theorem by which it accepts a number, and
the reasons.
"""

import hashlib
import json
import math
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from check_instances import CELLS, Instance, short
from check_trees import Tree, player_tree
from strict_files import Array, RefusedError, arrays_of, demand, parse, read, rises, typed

FORMAT = "benchmark of imperfect recall 2"
DIGITS = 10  # of values, which are rounded down, and of bounds, which are rounded up
LEAST = Fraction(1, 10**13)  # error: more than underflow, or the last place of a claim, can be


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
