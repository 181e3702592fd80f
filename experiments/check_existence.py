"""Check proofs about equilibria of Hog in policies: that one exists, or that none does.

    python experiments/check_existence.py results/existence/proofs [NAME ...]

It shares no code with hogeq: turns come from tests/twin, which was written from the rules' text.
docs/existence.md has the theorem by which it accepts a proof. `error` bounds what roundings miss;
what must be exactly 1/2 is computed in fractions. Files of anybody: nothing in them is believed.
"""

import gzip
import io
import math
import sys
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from check_prices import priced_worth
from numba import njit
from strict_files import BYTES, Array, RefusedError, demand, parse, read

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.twin import Play
from tests.twin.editions import EDITIONS

FORMAT = "equilibria of hog 1"
HALF = Fraction(1, 2)
WHOLE = 2**40  # weights are multiples of one part in so many
CHANCES = 2**10  # probabilities of counters that are no matrices are multiples of one part
ROUNDING = 2.0**-53
TRIES = 2_000  # parts in which a priced leaf is cut, if other roundings choose other prices
compiled: Any = njit


def game_of(rules: Any) -> "Hog":
    """Take the rules of a proof."""
    keys = ["edition", "goal", "max_dice", "sides"]
    demand(isinstance(rules, dict) and sorted(rules) == keys, "rules: not these four keys")
    edition, *sizes = (rules[key] for key in keys)
    demand(isinstance(edition, str) and edition in EDITIONS, "rules: no such edition")
    for size, most in zip(sizes, (30, 6, 20), strict=True):
        demand(type(size) is int and 1 <= size <= most, "rules: a size that is none")
    return made(edition, *sizes)


class Hog:
    """All positions of one game, each for either player to move, in the order of their sums."""

    def __init__(self, edition: str, goal: int, max_dice: int, sides: int) -> None:
        sizes = {"goal": goal, "max_dice": max_dice, "sides": sides}
        play = Play({**EDITIONS[edition], **sizes})
        self.goal, rolls = play.goal, play.rolls()
        self.rows, self.actions = self.goal**2, len(rolls)
        levels: list[dict[Any, None]] = [{} for _ in range(2 * self.goal)]
        levels[0][play.start] = None
        for level in levels:
            for state, dice in ((state, dice) for state in level for dice in rolls):
                for branch in play.branches(state, dice):
                    if branch.winner is None:
                        total = sum(branch.state[:2])
                        demand(total > sum(state[:2]), "rules: the total score does not rise")
                        levels[total][branch.state] = None
        states = [state for level in levels for state in level]
        number = {state: place for place, state in enumerate(states)}
        self.row = [state.own * self.goal + state.opponent for state in states]
        self.branches: list[tuple[list[Any], Fraction, Fraction]] = []
        for state, dice in ((state, dice) for state in states for dice in rolls):
            over = [Fraction(0), Fraction(0)]
            goes_on = list[Any]()
            for branch in play.branches(state, dice):
                if branch.winner is None:
                    goes_on.append((branch.chance, number[branch.state], branch.again))
                else:
                    over[branch.winner] += branch.chance
            self.branches.append((goes_on, over[0], over[1]))
            whole = sum((chance for chance, _, _ in goes_on), over[0] + over[1])
            demand(whole == 1, "rules: chances do not sum to 1")

    def exact(self, policy: list[list[Fraction]], fixed: Array) -> Fraction:
        """Most that a player with full memory wins against a policy, some rows fixed, (R,)."""
        known: dict[tuple[int, int], Fraction] = {}

        def worth(mover: int, state: int) -> Fraction:
            if (mover, state) not in known:
                row = self.row[state]
                found = []
                for action in range(self.actions):
                    share = policy[row][action] if mover else Fraction(1)
                    is_played = share > 0 if mover else fixed[row] in {-1, action}
                    if not is_played:
                        continue
                    goes_on, won, lost = self.branches[state * self.actions + action]
                    total = lost if mover else won
                    for chance, then, again in goes_on:
                        total += chance * worth(mover if again else 1 - mover, then)
                    found.append(share * total)
                known[mover, state] = sum(found, Fraction(0)) if mover else max(found)
            return known[mover, state]

        return (worth(0, 0) + worth(1, 0)) / 2


made = cache(Hog)


class Mixture:
    """A game against a mixture of tables (n, R, K), as nodes; each comes after those it leads to.

    A node is who moves, a position, and which tables are left: those that are equal in all rows
    which the opponent has met. It says no more of the draw. Nodes of equal content are one.
    """

    def __init__(self, hog: Hog, weights: Array, tables: Array) -> None:
        self.hog, self.weights, self.tables = hog, weights, tables
        self.contents = dict[Any, int]()
        self.known = dict[Any, int]()
        self.longest = 2  # terms of the longest sum of a worth, and two more
        every = tuple(range(len(weights)))
        self.starts = np.array([self.node(mover, 0, every) for mover in (0, 1)])
        row, won, edges = zip(*self.contents, strict=True)
        flat = [edge for content in edges for edge in content]
        first = np.cumsum([0, *map(len, flat)])
        chances = np.array([chance for edge in flat for chance, _ in edge])
        after = np.array([then for edge in flat for _, then in edge], np.int64)
        self.arrays = np.array(row), first, chances, after, np.array(won)
        # A worth is a sum of n outcomes over K corners and K actions, one turn later; the theorem
        # of docs/benchmark.md. Chances are rounded, and so may be the tables' rows.
        a_turn = 2 * self.longest + 4 * hog.actions + 2 * len(weights) + 16
        roundings = 2 * hog.goal * a_turn + 8
        self.error = 1.02 * roundings * ROUNDING + 1e-200  # underflow

    def node(self, mover: int, state: int, left: tuple[int, ...]) -> int:
        """Give the number of a node; make it if it is new."""
        key = mover, state, left
        if key not in self.known:
            hog, row = self.hog, self.hog.row[state]
            won, edges = [0.0] * hog.actions, [list[Any]() for _ in range(hog.actions)]
            moves = self.moves(mover, row, left)
            for action, share, then in moves:
                place = 0 if mover else action
                goes_on, wins, loses = hog.branches[state * hog.actions + action]
                won[place] += share * float(loses if mover else wins)
                for chance, after, again in goes_on:
                    new = self.node(mover if again else 1 - mover, after, then)
                    edges[place].append((share * float(chance), new))
            # Each move adds what it wins at once to a sum, and then its outcomes.
            self.longest = max(self.longest, len(moves) + max(map(len, edges)) + 2)
            content = -1 if mover else row, tuple(won), tuple(map(tuple, edges))
            self.known[key] = self.contents.setdefault(content, len(self.contents))
        return self.known[key]

    def moves(self, mover: int, row: int, left: tuple[int, ...]) -> Any:
        """Actions, their chances, and the tables left then."""
        if mover == 0:
            return [(action, 1.0, left) for action in range(self.hog.actions)]
        parts = dict[bytes, list[int]]()
        for one in left:
            parts.setdefault(self.tables[one, row].tobytes(), []).append(one)
        whole = self.weights[list(left)].sum()
        return [
            (action, float(self.weights[part].sum() / whole * self.tables[part[0], row, action]),
             tuple(part))
            for part in parts.values() for action in np.flatnonzero(self.tables[part[0], row])
        ]  # fmt: skip


@compiled
def worth_of(arrays: Any, starts: Array, first: Array, corners: Array, fixed: Array) -> float:
    """Win rate of the best corners in each node, some rows fixed."""
    row, edges, chance, after, won = arrays
    nodes, actions = won.shape
    worth, values = np.zeros(nodes), np.zeros(actions)
    for node in range(nodes):
        for action in range(actions):
            values[action] = won[node, action]
            for at in range(edges[node * actions + action], edges[node * actions + action + 1]):
                values[action] += chance[at] * worth[after[at]]
        here, best = row[node], -1.0
        if here < 0:
            worth[node] = values[0]
            continue
        for corner in range(first[here], first[here + 1]):
            if fixed[here] < 0 or corner == first[here] + fixed[here]:
                value = 0.0
                for action in range(actions):
                    value += corners[corner, action] * values[action]
                best = max(best, value)
        worth[node] = best
    return (worth[starts[0]] + worth[starts[1]]) / 2.0


def numbers(given: Any, what: str, low: int, high: int) -> list[int]:
    """Take a list of whole numbers from `low` to before `high`."""
    demand(isinstance(given, list), f"{what}: not a list")
    for one in given:
        demand(type(one) is int and low <= one < high, f"{what}: a number out of range")
    return list(given)


class Problem:
    """Responses of corners (n, K) for each row to a mixture."""

    def __init__(self, mixture: Mixture, corners: list[Array]) -> None:
        self.mixture, self.rows = mixture, len(corners)
        self.first = np.cumsum([0, *map(len, corners)])
        self.corners = np.concatenate(corners)
        self.nears: Array | None = None

    def relaxed(self, fixed: Array) -> float:
        """Bound on what responses with some rows fixed win, (R,): they know the node."""
        known = self.mixture.arrays, self.mixture.starts, self.first, self.corners, fixed
        return math.nextafter(worth_of(*known) + self.mixture.error, math.inf)

    def near(self) -> Array:
        """Find the nodes of each row (2), and those from which play can come to it (1)."""
        row, edges, _, after, won = self.mixture.arrays
        found = np.zeros((self.rows, len(row)), np.int8)
        for node, here in enumerate(row):
            actions = won.shape[1]
            then = after[edges[node * actions] : edges[(node + 1) * actions]]
            found[:, node] = found[:, then].max(axis=1, initial=0) > 0
            if here >= 0:
                demand(not found[here, node], "rules: a row is met twice")
                found[here, node] = 2
        return found

    def priced(self, fixed: Array, target: Fraction | float) -> None:
        """Refuse unless no response with some rows fixed, (R,), wins more than a target."""
        stop = float(target) - 1e-9  # a bound below it surely suffices
        if self.nears is None:
            self.nears = self.near()
        actions, most = self.mixture.hog.actions, int(np.diff(self.first).max())
        turn = 4 * self.mixture.longest * actions + 2 * most + 2 * len(self.mixture.weights) + 30
        a_pass = 4.08 * (2 * self.mixture.hog.goal + 1) * turn * ROUNDING
        parts = [fixed.copy()]
        for _ in range(TRIES):
            part = parts.pop()
            known = self.mixture.arrays, self.mixture.starts, self.first, self.corners
            bound, claims, largest, worst = priced_worth(*known, part, self.nears, stop)
            error = (claims + 2) * max(1.0, largest) * a_pass + self.mixture.error
            if not (math.isfinite(bound + error) and Fraction(bound) + Fraction(error) <= target):
                demand(part[worst] < 0, "tree: a priced leaf is not proved")
                for corner in range(self.first[worst + 1] - self.first[worst]):
                    parts.append(part.copy())
                    parts[-1][worst] = corner
            if not parts:
                return
        raise RefusedError("tree: a priced leaf is not proved")

    def leaves(self, given: Any, begin: Array, lowest: int = -1) -> Any:
        """Walk a tree of rows: each is set to its corners in turn; below 0 are leaves.

        Gives what leaf it is, -1 or -2 for one that pays prices, and the rows that are set.
        """
        tree, fixed, stack = numbers(given, "tree", lowest, len(begin)), begin.copy(), list[int]()
        for place, row in enumerate(tree):
            if row >= 0:
                demand(fixed[row] < 0, "tree: a row that is set")
                fixed[row] = 0
                stack.append(row)
                continue
            yield row, fixed
            while (
                stack and fixed[stack[-1]] == self.first[stack[-1] + 1] - self.first[stack[-1]] - 1
            ):
                fixed[stack.pop()] = -1
            if not stack:
                demand(place == len(tree) - 1, "tree: more than one")
                return
            fixed[stack[-1]] += 1
        raise RefusedError("tree: ends too early")

    def loss(self, tree: Any, claim: float) -> float:
        """Give what each response loses at least below 1/2; the claim, if some leaf is priced."""
        least = np.inf
        for leaf, fixed in self.leaves(tree, np.full(self.rows, -1), lowest=-2):
            if leaf == -2:
                self.priced(fixed, HALF - Fraction(claim))
                least = min(least, claim)
            else:
                least = min(least, math.nextafter(0.5 - self.relaxed(fixed), -math.inf))
        return float(least)


class Proof:
    """What a file claims, and the check of it."""

    def __init__(self, said: Any) -> None:
        demand(isinstance(said, dict) and said.get("format") == FORMAT, "format: another one")
        self.said, self.kind = said, said.get("kind")
        exists = {"policy", "tree"}
        none = {"counters", "boxes"}
        demand(self.kind in ("matrix", "policy", "none"), "kind: not one of the three")
        keys = {"format", "rules", "kind", "lower", *(none if self.kind == "none" else exists)}
        demand(set(said) == keys, "proof: has other keys")
        self.hog = game_of(said["rules"])
        self.eye = np.eye(self.hog.actions)
        self.every = [self.eye] * self.hog.rows

    def check(self) -> float:
        """Refuse what is not proved; give the least exploitability that is."""
        claim = self.said["lower"]
        demand(type(claim) is float and 0.0 <= claim <= 0.5, f"lower: {claim}")
        lower = self.none(claim) if self.kind == "none" else self.exists()
        demand(claim <= lower, f"lower: {claim}, not {lower}")
        demand(self.kind != "none" or claim > 0.0, "lower: not above 0")
        return lower

    def exists(self) -> float:
        """Check that no matrix wins more than 1/2 against the policy."""
        hog, policy = self.hog, list[list[Fraction]]()
        rows = self.said["policy"]
        demand(isinstance(rows, list) and len(rows) == hog.rows, "policy: not a list of all rows")
        for given in rows:
            row = numbers(given, "policy", 0, 2**4096)
            demand(len(row) == hog.actions and sum(row) > 0, "policy: a row of no probabilities")
            is_pure = sum(one > 0 for one in row) == 1
            demand(is_pure or self.kind == "policy", "policy: is no matrix")
            policy.append([Fraction(one, sum(row)) for one in row])
        table = np.array([[float(one) for one in row] for row in policy])
        problem = Problem(Mixture(hog, np.ones(1), table[None]), self.every)
        for _, fixed in problem.leaves(self.said["tree"], np.full(hog.rows, -1)):
            if problem.relaxed(fixed) >= 0.5:
                demand(hog.exact(policy, fixed) <= HALF, "policy: may lose more than 1/2")
        return 0.0

    def counters(self) -> Array:
        """Take counters as policies, (n, R, K): matrices, or rows in parts of `CHANCES`."""
        given, found = self.said["counters"], list[Array]()
        demand(isinstance(given, list) and 0 < len(given) <= 10_000, "counters: not a list of some")
        for one in given:
            demand(isinstance(one, list) and len(one) == self.hog.rows, "counters: not of all rows")
            if not isinstance(one[0], list):
                found.append(self.eye[np.array(numbers(one, "counters", 0, self.hog.actions))])
                continue
            rows = [numbers(row, "counters", 0, CHANCES + 1) for row in one]
            for row in rows:
                is_whole = len(row) == self.hog.actions and sum(row) == CHANCES
                demand(is_whole, "counters: a row of no probabilities")
            found.append(np.array(rows) / CHANCES)
        return np.array(found)

    @staticmethod
    def shares(given: Any, count: int) -> Array:
        """Take weights of so many tables."""
        found = numbers(given, "weights", 1, WHOLE + 1)
        demand(len(found) == count and sum(found) == WHOLE, "weights: do not sum to 1")
        return np.array(found) / WHOLE

    def none(self, claim: float) -> float:
        """Walk the cuts of all policies; give the least that counters win beyond 1/2 in a box.

        Of boxes that are proved by prices nothing is known beyond what the file claims.
        """
        counters, least = self.counters(), np.inf
        stack, given = [self.every], self.said["boxes"]
        demand(isinstance(given, list), "boxes: not a list")
        for step in given:
            demand(stack and isinstance(step, list) and len(step) == 3, "boxes: no walk")
            box = stack.pop()
            if isinstance(step[0], list):
                members = numbers(step[1], "counters", 0, len(counters))
                weights = self.shares(step[0], len(members))
                problem = Problem(Mixture(self.hog, weights, counters[members]), box)
                least = min(least, problem.loss(step[2], claim))
                continue
            (row,) = numbers(step[:1], "boxes", 0, self.hog.rows)
            one, two = numbers(step[1:], "boxes", 0, len(box[row]))
            demand(one != two, "boxes: an edge of one corner")
            middle = (box[row][one] + box[row][two]) / 2.0
            # Exact: sums of whole numbers of 2**-40.
            demand((middle * WHOLE == np.round(middle * WHOLE)).all(), "boxes: cut too finely")
            for out in (two, one):
                part = list(box)
                part[row] = box[row].copy()
                part[row][out] = middle
                stack.append(part)
        demand(not stack, "boxes: end too early")
        return float(least)


def rounded_down(loss: float) -> str:
    """Write a loss that is proved in three digits, none of which says more."""
    digits = Context(prec=3, rounding=ROUND_FLOOR).create_decimal(Decimal(loss))
    return f"{float(digits):.2e}"


def load(path: Path) -> Any:
    """Read a proof, of no more than it may unpack to."""
    with gzip.open(io.BytesIO(read(path))) as packed:
        data = packed.read(BYTES + 1)
    demand(len(data) <= BYTES, f"{path.name}: unpacks to over {BYTES} bytes")
    return parse(data)


def main(folder: str, *only: str) -> int:
    """Check all proofs of a folder, or those named; 0 if all are accepted."""
    refused = 0
    paths = sorted(Path(folder).glob("*.json.gz"))
    if only:
        paths = [Path(folder) / f"{name}.json.gz" for name in only]
    for path in paths:
        try:
            proof = Proof(load(path))
            lower = proof.check()
            rules = proof.said["rules"]
            name = f"{rules['edition']}-{rules['goal']}x{rules['max_dice']}"
            name += "" if rules["sides"] == 6 else f"-{rules['sides']}_sides"
            demand(path.name == f"{name}.json.gz", f"name: is about {name}")
            line = f"accepted: a {proof.kind} is an equilibrium"
            if proof.kind == "none":
                least = rounded_down(lower)
                line = f"accepted: no equilibrium, every policy loses at least {least}"
        except Exception as wrong:  # noqa: BLE001 - whatever prevents a check
            kind = "" if isinstance(wrong, RefusedError) else f"{type(wrong).__name__}: "
            line, refused = f"refused: {kind}{ascii(str(wrong))[1:-1]:.300}", refused + 1
        print(f"{ascii(path.name)[1:-1]}: {line}", flush=True)
    print(f"{refused} refused" if refused else f"all {len(paths)} accepted")
    return min(refused + (not paths), 1)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
