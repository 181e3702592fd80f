"""What a pass over a game must compute and move, and how near the kernels come to it.

    python benchmarks/cost_model.py --rules su20 fa22 ... [--goal 100] [--json]

Operations and bytes are counted from the game's arrays, as docs/cost-model.md says. The machine's
ceilings are measured here too, on one core: the triad ``a = b + c * d`` over arrays far larger than
the caches, and multiplications fused with additions that never leave the registers. A pass cannot
take less time than either its operations or its bytes do; that floor over the time measured is how
much of the machine it uses.
"""

import argparse
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from time import thread_time
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray
from timing import context

from hogeq.kernels import lanes
from hogeq.kernels.diagonals import Diagonals
from hogeq.kernels.tables import Tables
from hogeq.model.game import Game, compile_game
from hogeq.model.workspace import Role, Workspace
from hogeq.rules import rules_from

NUMBER = 8  # bytes
TRIAD = 1 << 23  # doubles of each of four arrays, 64 MiB
FUSED = 1 << 20  # rounds of ten vectors of 16 lanes
LANE = (0,) * 16
TURNS = 5


@dataclass(frozen=True)
class Work:
    """Of one player in one pass."""

    operations: int
    """Floating-point; a fused multiplication and addition counts two."""
    moved: int
    """Bytes that have to reach a kernel from beyond the cache, or leave it, once each.

    Not afterstates: those alive at a time fit in a cache.
    """

    def __add__(self, other: "Work") -> "Work":
        """Add what two passes do."""
        return Work(self.operations + other.operations, self.moved + other.moved)

    def times(self, players: int) -> "Work":
        """Return the same for several players."""
        return Work(self.operations * players, self.moved * players)


@dataclass(frozen=True)
class Row:
    """One pass, counted and timed."""

    name: str
    operations: int
    moved: int
    seconds: float
    generic: float
    """Seconds of the passes that read the game's terms from tables."""
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


def value_work(tables: Tables) -> Work:
    """Values of every roll in every hidden state of a mixed policy, for one player."""
    goal, num_actions = tables.dimensions.goal, tables.dimensions.num_actions
    lanes = len(tables.lane)
    chain, corrections = dice_terms(tables)
    alternatives, members, landings = memory_terms(tables)
    mixing = 2 * goal**2 * num_actions + 2 * alternatives + members
    operations = lanes * (chain + 2 * corrections + mixing + landings)
    rows = goal**2 * num_actions * (1 + len(tables.plane_dice))  # policy, and what is won at once
    return Work(operations, NUMBER * rows)


def reach_work(tables: Tables) -> Work:
    """Reach of every hidden state under a mixed policy, for one player."""
    dimensions = tables.dimensions
    goal, num_actions, active = dimensions.goal, dimensions.num_actions, dimensions.active_memories
    lanes = len(tables.lane)
    chain, corrections = dice_terms(tables)
    alternatives, members, landings = memory_terms(tables)
    gathering = landings + goal**2 * active
    leaving = 2 * goal**2 * num_actions + members + 3 * alternatives
    operations = lanes * (chain + 2 * corrections + gathering + leaving)
    return Work(operations, NUMBER * (goal**2 * num_actions + _weights(tables)))


def average_work(tables: Tables) -> Work:
    """Weighting the values of one player's rolls by reach, beside the values themselves."""
    goal, num_actions = tables.dimensions.goal, tables.dimensions.num_actions
    alternatives, _, _ = memory_terms(tables)
    operations = len(tables.lane) * (2 * goal**2 * num_actions + 3 * alternatives)
    return Work(operations, NUMBER * (goal**2 * num_actions + _weights(tables)))


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
    values = Work(sums + 2 * products + 2 * rolls + landings, policy + places)
    reach = Work(sums + 2 * products + 2 * rolls + landings, policy + places + weights)
    return values, reach, Work(2 * rolls, policy + weights)


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


def ceilings() -> tuple[float, float]:
    """Measure the operations and the bytes that one core manages in a second."""
    arrays = [np.ones(TRIAD) for _ in range(4)]
    moved = 4 * TRIAD * NUMBER
    numbers = np.full(192, 0.5)
    operations = FUSED * 10 * len(LANE) * 2
    return (
        operations / by_turns(lambda: _fused(numbers, LANE, FUSED))[0],
        moved / by_turns(lambda: _triad(*arrays))[0],
    )


def measure(game: Game) -> dict[str, tuple[Work, list[float]]]:
    """Count and time the passes of a game, mixed policies throughout: its own and generic ones."""
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
        alone, both = make(1), make(2)

        def sweep() -> None:
            both.forward(played)
            both.backward(played, Role.SOFTMAX, temperature=0.01, damping=0.0)

        alone.forward(played[:1])
        return [
            lambda: alone.backward(played[:1]),
            lambda: alone.forward(played[:1]),
            lambda: both.forward(played),
            lambda: alone.backward(played[:1], Role.COUNTERFACTUAL),
            sweep,
        ]

    generic = passes_with(lambda players: Workspace(game.tables, players))
    pairs = zip(passes_with(game.workspace), generic, strict=True)
    return {
        name: (work, by_turns(*pair))
        for (name, work), pair in zip(works.items(), pairs, strict=True)
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rules", nargs="+", default=["su20"])
    parser.add_argument("--goal", type=int, default=100)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    rate, bandwidth = ceilings()
    found = [tell(rules, chosen.goal, rate, bandwidth, chosen.json) for rules in chosen.rules]
    if chosen.json:
        print(json.dumps(found if len(found) > 1 else found[0], indent=2))


def tell(rules: str, goal: int, rate: float, bandwidth: float, quiet: bool) -> dict[str, Any]:
    """Measure one edition; print its table, unless quiet."""
    game = compile_game(rules_from({"edition": rules, "goal": goal}))
    rows = []
    for name, (work, (seconds, generic)) in measure(game).items():
        floor = max(work.operations / rate, work.moved / bandwidth)
        achieved = floor / seconds
        rows.append(Row(name, work.operations, work.moved, seconds, generic, floor, achieved))
    about = {
        "rules": rules,
        "goal": goal,
        **context(),
        "fused_operations_per_second": rate,
        "triad_bytes_per_second": bandwidth,
    }
    result = {"context": about, "passes": [asdict(row) for row in rows]}
    if quiet:
        return result
    print(f"{rules}, goal {goal}, one core of {about['cpu']}")
    print(f"ceilings: {rate / 1e9:.1f} Gflop/s fused, {bandwidth / 1e9:.1f} GB/s triad")
    heads = f"{'Mflop':>8}{'MB':>8}{'floor ms':>10}{'ms':>8}{'achieved':>10}{'generic ms':>12}"
    print(f"{'':28}{heads}")
    for row in rows:
        print(
            f"{row.name:28}{row.operations / 1e6:8.1f}{row.moved / 1e6:8.1f}"
            f"{row.floor * 1e3:10.2f}{row.seconds * 1e3:8.2f}{row.achieved:10.0%}"
            f"{row.generic * 1e3:12.2f}"
        )
    return result


if __name__ == "__main__":
    main()
