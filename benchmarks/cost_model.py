"""What a pass over a game must compute and move, and how near the kernels come to it.

    python benchmarks/cost_model.py --rules su20 fa22 ... [--goal 100] [--json or --markdown]

What is counted from the game's arrays is said in docs/cost-model.md. The machine's ceilings
are measured here too, on one core: the triad ``a = b + c * d`` over arrays far larger than the
caches, multiplications fused with additions that never leave the registers, vectors loaded from and
stored to the first-level cache, and loaded from the others. A pass cannot take less time than any
of these needs for its part; that floor over the time measured is how much of the machine it uses.
"""

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, astuple, dataclass
from time import thread_time
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray
from timing import context

from hogeq.kernels import lanes
from hogeq.kernels.diagonals import Diagonals
from hogeq.kernels.storage import zeros
from hogeq.kernels.tables import Tables
from hogeq.model.game import Game, compile_game
from hogeq.model.workspace import Role, Workspace
from hogeq.rules import rules_from

NUMBER = 8  # bytes
VECTOR = 8  # numbers
TURNED = 24  # shuffles that transpose eight vectors of eight
SECOND_LEVEL = 2 << 20  # bytes
FIRST_LEVEL = 32 << 10
FIRST = 1 << 11  # doubles that a first-level cache holds, 16 KiB
SECOND = 1 << 17  # doubles that a second-level cache holds, 1 MiB
THIRD = 1 << 21  # doubles that a third-level cache holds, 16 MiB
TRIAD = 1 << 23  # doubles of each of four arrays, 64 MiB
FUSED = 1 << 20  # rounds of ten vectors of 16 lanes
LANE = (0,) * 16
TURNS = 5
ALONE = ("values of all actions", "reach of one player", "values, weighted by reach")


@dataclass(frozen=True)
class Work:
    """Of one player in one pass."""

    operations: int
    """Floating-point; a fused multiplication and addition counts two."""
    moved: int
    """Bytes that have to reach a kernel from beyond the cache, or leave it, once each.

    Not afterstates: those alive at a time fit in a cache.
    """
    slots: int
    """Arithmetic and shuffles of whole vectors, which take the same two units."""
    loads: int
    """Vectors from the first-level cache; a gather of eight numbers counts eight."""
    stores: int
    """Vectors to it; a number alone counts as much."""
    near: int = 0
    """Bytes of sums that the order of visits takes from beyond the first-level cache."""

    def __add__(self, other: "Work") -> "Work":
        """Add what two passes do."""
        return Work(*map(sum, zip(astuple(self), astuple(other), strict=True)))

    def times(self, players: int) -> "Work":
        """Return the same for several players."""
        return Work(*(players * count for count in astuple(self)))


@dataclass(frozen=True)
class Ceilings:
    """What one core manages in a second."""

    operations: float
    moved: float
    loads: float
    stores: float
    near: float
    far: float

    def floor(self, work: Work, kept: int) -> float:
        """Seconds that work takes at least, when so many bytes of sums are kept."""
        spilled = max(0.0, 1.0 - SECOND_LEVEL / max(1, kept))
        return max(
            work.slots * 2 * VECTOR / self.operations,
            work.moved / self.moved,
            work.loads / self.loads,
            work.stores / self.stores,
            work.near / self.near,
            work.near * spilled / self.far,
        )


@dataclass(frozen=True)
class Row:
    """One pass, counted and timed."""

    name: str
    operations: int
    moved: int
    seconds: float
    generic: float | None
    """Seconds of the passes that read the game's terms from tables; None if they were not timed."""
    floor: float
    achieved: float


def dice_terms(tables: Tables) -> tuple[int, int]:
    """Count additions of sums and terms of corrections, over all cells and planes."""
    goal, num_actions = tables.dimensions.goal, tables.dimensions.num_actions
    own = np.arange(goal)
    needed = tables.plane_needed.astype(np.int64).sum(axis=1)  # by own score and plane
    chain = corrections = 0
    for plane, dice in enumerate(tables.plane_dice):
        faces = np.clip(np.minimum(tables.sides[dice], goal - 1 - own) - 1, 0, None)
        chain += int(goal * tables.sum_depth[dice] * faces.sum())
        start = tables.term_start[dice, 1:num_actions, None]
        terms = (tables.term_stop[dice, 1:num_actions, :goal] - start).sum(axis=0)
        corrections += int((terms + 1) @ needed[:, plane])  # 1 for rolling no dice
    return chain, corrections


def memory_terms(tables: Tables) -> tuple[int, int, int]:
    """Count alternatives, their members, and afterstates that land, over all cells."""
    counts = np.bincount(tables.situation.ravel(), minlength=len(tables.default_mode))
    alternatives = tables.alternative_start[:, -1] - tables.alternative_start[:, 0]
    members = tables.exception_start[:, -1] - tables.exception_start[:, 0]
    landings = len(tables.arrival_base) * tables.dimensions.records
    return int(counts @ alternatives), int(counts @ members), landings


@dataclass(frozen=True)
class _Cell:
    """Vectors of lanes at a cell, of one player, on average over all cells."""

    pieces: int
    sums: float
    terms: float
    targets: float
    rolls: int
    others: float
    members: float
    landed: float

    @property
    def turned(self) -> int:
        """Shuffles that transpose what is handed over."""
        return TURNED * self.pieces**2


def _cell(tables: Tables) -> _Cell:
    cells = tables.dimensions.goal**2
    lanes = len(tables.lane)
    _, corrections = dice_terms(tables)
    alternatives, members, landings = memory_terms(tables)
    return _Cell(
        pieces=-(-lanes // VECTOR),
        sums=float(tables.sum_depth[tables.plane_dice].sum()),
        terms=corrections / cells,
        targets=float(tables.correction_start[-1]),
        rolls=tables.dimensions.num_actions,
        others=alternatives / cells,
        members=members / cells,
        landed=landings / cells,
    )


def value_work(tables: Tables) -> Work:
    """Values of every roll in every hidden state of a mixed policy, for one player."""
    goal, num_actions = tables.dimensions.goal, tables.dimensions.num_actions
    lanes, cells = len(tables.lane), goal**2
    chain, corrections = dice_terms(tables)
    alternatives, members, landings = memory_terms(tables)
    mixing = 2 * goal**2 * num_actions + 2 * alternatives + members
    operations = lanes * (chain + 2 * corrections + mixing + landings)
    rows = goal**2 * num_actions * (1 + len(tables.plane_dice))  # policy, and what is won at once
    one = _cell(tables)
    # Four bases share the additions of a sum: 15 operations, 6 loads and 4 stores for all.
    slots = 3.75 * one.sums + one.terms + one.sums + one.rolls + 2 * one.others + one.members
    loads = 2.5 * one.sums + one.targets + one.rolls + one.others
    stores = one.sums + one.rolls + one.landed
    return Work(
        operations,
        NUMBER * rows,
        round(cells * (one.pieces * slots + one.turned)),
        round(cells * one.pieces * loads),
        round(cells * one.pieces * stores),
    )


def reach_work(tables: Tables) -> Work:
    """Reach of every hidden state under a mixed policy, for one player."""
    dimensions = tables.dimensions
    goal, num_actions, active = dimensions.goal, dimensions.num_actions, dimensions.active_memories
    lanes, cells = len(tables.lane), goal**2
    chain, corrections = dice_terms(tables)
    alternatives, members, landings = memory_terms(tables)
    gathering = landings + goal**2 * active
    leaving = 2 * goal**2 * num_actions + members + 3 * alternatives
    operations = lanes * (chain + 2 * corrections + gathering + leaving)
    one = _cell(tables)
    slots = 3.75 * one.sums + one.terms + one.sums + one.landed + active + one.members
    slots += one.rolls + 3 * one.others
    loads = 2.5 * one.sums + one.targets + one.landed + one.others
    stores = 2 * one.sums + one.targets + one.others
    return Work(
        operations,
        NUMBER * (goal**2 * num_actions + _weights(tables)),
        round(cells * (one.pieces * slots + one.turned)),
        round(cells * one.pieces * loads),
        round(cells * one.pieces * stores) + _weights(tables) // VECTOR,
    )


def average_work(tables: Tables) -> Work:
    """Weighting the values of one player's rolls by reach, beside the values themselves."""
    goal, num_actions = tables.dimensions.goal, tables.dimensions.num_actions
    alternatives, _, _ = memory_terms(tables)
    operations = len(tables.lane) * (2 * goal**2 * num_actions + 3 * alternatives)
    one = _cell(tables)
    vectors = round(goal**2 * one.pieces * (one.rolls + one.others))
    return Work(
        operations,
        NUMBER * (goal**2 * num_actions + _weights(tables)),
        round(goal**2 * one.pieces * (one.rolls + 2 * one.others)),
        vectors + _weights(tables) // VECTOR,
        goal**2 * num_actions // VECTOR,
    )


def _weights(tables: Tables) -> int:
    """Count what is kept of reach: everyone's and every alternative's members', at each cell."""
    alternatives, _, _ = memory_terms(tables)
    return (tables.dimensions.goal**2 + alternatives) * tables.dimensions.records


def diagonal_work(game: Diagonals) -> tuple[Work, Work, Work]:
    """Values, reach and weighting of one player, where vectors run over cells (by diagonals).

    Sums of two totals share what both have: half of a die's sides less one are additions, and one
    multiplication gives each die its share.
    """
    cells = game.goal**2
    totals = np.arange(2 * game.goal - 1)
    counts = np.minimum(totals, 2 * game.goal - 2 - totals) + 1  # cells of each diagonal
    by_situation = np.bincount(game.situation, counts, len(game.line)).astype(np.int64)
    sides = game.sides[game.group_dice]
    sums = int(cells * (game.group_depth * (sides + 1)).sum() // 2)
    terms = np.zeros((len(sides), game.num_actions), np.int64)
    terms[:, 1:] = np.diff(game.term_start, axis=1)[game.group_dice, 1:]
    products = int(by_situation @ ((game.line >= 0) * terms).sum(axis=(1, 2)))
    rolls = cells * game.memories * game.num_actions
    landings = cells * len(game.page_end)
    policy = NUMBER * cells * game.num_actions
    places = game.land.itemsize * cells * (len(game.land) + len(game.zero))
    weights = NUMBER * cells * game.memories
    # Vectors of a block of cells; blocks are visited once a total.
    first, last = np.maximum(totals - game.goal + 1, 0), np.minimum(totals, game.goal - 1)
    blocks = int((last // VECTOR - first // VECTOR + 1).sum())
    levels = int(game.group_depth.sum())
    each = int((game.group_depth * sides).sum())  # rows of sums, of two totals
    lines = float(by_situation @ (game.line >= 0).sum(axis=(1, 2))) / cells
    products_of_cell = products / cells
    mixed = game.memories * game.num_actions
    pages, groups = len(game.page_end), len(sides)
    gathered = VECTOR * (pages + game.num_actions)
    near = NUMBER * game.sum_block * blocks // 2  # all sums of a block, every second total
    near = near if NUMBER * game.sum_block > FIRST_LEVEL else 0
    summing = (each + levels) / 2
    values = Work(
        sums + 2 * products + 2 * rolls + landings,
        policy + places,
        round(blocks * (summing + products_of_cell + mixed + game.memories)),
        round(blocks * (each / 2 + lines + groups + mixed + gathered)),
        round(blocks * (levels + lines + game.memories * (1 + game.any_again) + pages + groups)),
        near,
    )
    reach = Work(
        sums + 2 * products + 2 * rolls + landings,
        policy + places + weights,
        round(blocks * (summing + products_of_cell + mixed + game.memories + pages)),
        round(blocks * (each / 2 + levels + lines + groups + game.memories + gathered)),
        round(blocks * (levels + lines + groups + game.memories + VECTOR * pages)),
        near,
    )
    average = Work(
        2 * rolls,
        policy + weights,
        blocks * mixed,
        blocks * (mixed + game.memories),
        blocks * game.num_actions,
    )
    return values, reach, average


@njit(error_model="numpy", fastmath=True)
def _triad(a: Any, b: Any, c: Any, d: Any) -> None:
    for i in range(len(a)):
        a[i] = b[i] + c[i] * d[i]


_load: Any = lanes.load  # what numba calls has no types that mypy could check
_store: Any = lanes.store


@njit(error_model="numpy")
def _fused(numbers: Any, lane: Any, rounds: int) -> None:
    a, b, c = _load(numbers, 0, lane), _load(numbers, 16, lane), _load(numbers, 32, lane)
    d, e, f = _load(numbers, 48, lane), _load(numbers, 64, lane), _load(numbers, 80, lane)
    g, h, i = _load(numbers, 96, lane), _load(numbers, 112, lane), _load(numbers, 128, lane)
    j, x, y = _load(numbers, 144, lane), _load(numbers, 160, lane), _load(numbers, 176, lane)
    for _ in range(rounds):
        a, b, c, d, e = a * x + y, b * x + y, c * x + y, d * x + y, e * x + y
        f, g, h, i, j = f * x + y, g * x + y, h * x + y, i * x + y, j * x + y
    _store(numbers, 0, a + b + c + d + e + f + g + h + i + j)


@njit(error_model="numpy")
def _loaded(numbers: Any, lane: Any, rounds: int) -> None:
    a = b = c = d = _load(numbers, 0, lane)
    for _ in range(rounds):
        for at in range(0, len(numbers), 4 * len(lane)):
            a = a + _load(numbers, at, lane)
            b = b + _load(numbers, at + len(lane), lane)
            c = c + _load(numbers, at + 2 * len(lane), lane)
            d = d + _load(numbers, at + 3 * len(lane), lane)
    _store(numbers, 0, a + b + c + d)


@njit(error_model="numpy")
def _stored(numbers: Any, lane: Any, rounds: int) -> None:
    a = _load(numbers, 0, lane)
    for turn in range(rounds):
        for at in range(0, len(numbers), 4 * len(lane)):
            _store(numbers, at, a)
            _store(numbers, at + len(lane), a)
            _store(numbers, at + 2 * len(lane), a)
            _store(numbers, at + 3 * len(lane), a)
        a = (1.0 + turn) * a


def by_turns(*runs: Callable[[], object], times: int = 5) -> list[float]:
    """Seconds of processor time of the fastest of several calls, of each run.

    The runs take turns, so that what else goes on strikes all alike; in its turn each is called
    once before it is timed, which compiles it and fills the caches.
    """
    found: list[list[float]] = [[] for _ in runs]
    for _ in range(TURNS):
        for run, seconds in zip(runs, found, strict=True):
            run()
            for _ in range(times):
                start = thread_time()
                run()
                seconds.append(thread_time() - start)
    return [min(seconds) for seconds in found]


def ceilings() -> Ceilings:
    """Measure what one core manages in a second."""
    arrays = [np.ones(TRIAD) for _ in range(4)]
    moved = 4 * TRIAD * NUMBER
    numbers = np.full(192, 0.5)
    operations = FUSED * 10 * len(LANE) * 2
    small, large, larger = (zeros((size,), np.float64) for size in (FIRST, SECOND, THIRD))
    rounds, fewer, few = 20_000, 400, 20
    seconds = by_turns(
        lambda: _fused(numbers, LANE, FUSED),
        lambda: _triad(*arrays),
        lambda: _loaded(small, LANE, rounds),
        lambda: _stored(small, LANE, rounds),
        lambda: _loaded(large, LANE, fewer),
        lambda: _loaded(larger, LANE, few),
    )
    return Ceilings(
        operations / seconds[0],
        moved / seconds[1],
        rounds * FIRST / VECTOR / seconds[2],
        rounds * FIRST / VECTOR / seconds[3],
        fewer * SECOND * NUMBER / seconds[4],
        few * THIRD * NUMBER / seconds[5],
    )


def measure(game: Game, *, alone: bool) -> dict[str, tuple[Work, list[float]]]:
    """Count and time the passes of a game, mixed policies throughout.

    Its own, and unless they are to be `alone` generic ones.
    """
    random = np.random.default_rng(0)
    played: NDArray[np.float64] = random.dirichlet(np.ones(game.num_actions), (2, *game.shape[:2]))
    if game.diagonals is not None:
        values, reach, average = diagonal_work(game.diagonals)
    else:
        values, reach, average = (f(game.tables) for f in (value_work, reach_work, average_work))
    works = {
        "values of all actions": values,
        "reach of one player": reach,
        "reach of both players": reach.times(2),
        "values, weighted by reach": values + average,
        "sweep of a responder": values.times(2) + reach.times(2) + average,
    }

    def passes_with(make: Callable[[int], Workspace]) -> list[Callable[[], object]]:
        single, both = make(1), make(2)

        def sweep() -> None:
            both.forward(played)
            both.backward(played, Role.SOFTMAX, temperature=0.01, damping=0.0)

        single.forward(played[:1])
        return [
            lambda: single.backward(played[:1]),
            lambda: single.forward(played[:1]),
            lambda: both.forward(played),
            lambda: single.backward(played[:1], Role.COUNTERFACTUAL),
            sweep,
        ]

    ways = [passes_with(game.workspace)]
    if not alone:
        ways.append(passes_with(lambda players: Workspace(game.tables, players)))
    return {
        name: (work, by_turns(*runs))
        for (name, work), *runs in zip(works.items(), *ways, strict=True)
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rules", nargs="+", default=["su20"])
    parser.add_argument("--goal", type=int, default=100)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--markdown", action="store_true", help="one table of all, for docs")
    chosen = parser.parse_args()
    most = ceilings()
    quiet = chosen.json or chosen.markdown
    found = [tell(rules, chosen.goal, most, quiet, alone=chosen.markdown) for rules in chosen.rules]
    if chosen.markdown:
        print(table(found))
    if chosen.json:
        print(json.dumps(found if len(found) > 1 else found[0], indent=2))


def shares(editions: Sequence[str], goal: int = 100) -> str:
    """Markdown: the passes of several editions, and the share of the floor that each reaches."""
    most = ceilings()
    return table([tell(rules, goal, most, quiet=True, alone=True) for rules in editions])


def table(found: list[dict[str, Any]]) -> str:
    """Markdown: floor, time and share of the hot passes, and the share over the first game's."""
    names = [one["context"]["rules"] for one in found]
    head = f"| goal {found[0]['context']['goal']}, floor; achieved; share; over {names[0]}'s |"
    lines = [
        head + "|".join(f" {name} " for name in names) + "|",
        "|---" + "|--:" * len(names) + "|",
    ]
    for place, first in enumerate(found[0]["passes"]):
        cells = []
        for one in found:
            row = one["passes"][place]
            ratio = row["achieved"] / first["achieved"]
            times = f"{row['floor'] * 1e3:.2f}; {row['seconds'] * 1e3:.2f} ms"
            cells.append(f" {times}; {row['achieved']:.0%}; {ratio:.2f} ")
        lines.append(f"| {first['name']} |" + "|".join(cells) + "|")
    return "\n".join(lines)


def tell(rules: str, goal: int, most: Ceilings, quiet: bool, *, alone: bool) -> dict[str, Any]:
    """Measure one edition; print its table, unless quiet."""
    game = compile_game(rules_from({"edition": rules, "goal": goal}))
    rows = []
    for name, (work, (seconds, *others)) in measure(game, alone=alone).items():
        players = 1 if name in ALONE else 2
        kept = 0 if game.diagonals is None else NUMBER * game.diagonals.sum_size * players
        floor = most.floor(work, kept)
        achieved = floor / seconds
        generic = others[0] if others else None
        rows.append(Row(name, work.operations, work.moved, seconds, generic, floor, achieved))
    about = {
        "rules": rules,
        "goal": goal,
        **context(),
        "ceilings_per_second": asdict(most),
    }
    result = {"context": about, "passes": [asdict(row) for row in rows]}
    if quiet:
        return result
    print(f"{rules}, goal {goal}, one core of {about['cpu']}")
    print(
        f"ceilings: {most.operations / 1e9:.1f} Gflop/s fused, {most.moved / 1e9:.1f} GB/s triad, "
        f"{most.loads / 1e9:.2f} and {most.stores / 1e9:.2f} G vectors/s loaded and stored, "
        f"{most.near / 1e9:.0f} GB/s from the second level, {most.far / 1e9:.0f} from the third"
    )
    heads = f"{'Mflop':>8}{'MB':>8}{'floor ms':>10}{'ms':>8}{'achieved':>10}{'generic ms':>12}"
    print(f"{'':28}{heads}")
    for row in rows:
        print(
            f"{row.name:28}{row.operations / 1e6:8.1f}{row.moved / 1e6:8.1f}"
            f"{row.floor * 1e3:10.2f}{row.seconds * 1e3:8.2f}{row.achieved:10.0%}"
            f"{(row.generic or 0.0) * 1e3:12.2f}"
        )
    return result


if __name__ == "__main__":
    main()
