"""What a pass over a game must compute and move, and how near the kernels come to it.

    python benchmarks/cost_model.py --rules su20 fa22 ... [--goal 100] [--json or --markdown]
    python benchmarks/cost_model.py --own benchmarks/rules_of_ones_own.yaml --markdown

What is counted from the game's arrays is said in docs/cost-model.md. The machine's ceilings
are measured here too, on one core: the triad ``a = b + c * d`` over arrays far larger than the
caches, multiplications fused with additions that never leave the registers, vectors loaded from and
stored to the first-level cache, and loaded from the others. A pass cannot take less time than any
of these needs for its part; that floor over the time measured is how much of the machine it uses.
"""

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import thread_time
from typing import Any

import numpy as np
import yaml
from floors import (
    NUMBER,
    SINGLE,
    VECTOR,
    Ceilings,
    Work,
    average_work,
    diagonal_work,
    duel_work,
    kept_bytes,
    kept_work,
    mixture_work,
    reach_work,
    value_work,
)
from numba import njit
from numpy.typing import NDArray
from timing import context

from hogeq.kernels import lanes
from hogeq.kernels.storage import zeros
from hogeq.model.game import Game, compile_game
from hogeq.model.side_by_side import many_workspace
from hogeq.model.workspace import Role, Workspace
from hogeq.rules import rules_from

FIRST = 1 << 11  # doubles that a first-level cache holds, 16 KiB
SECOND = 1 << 17  # doubles that a second-level cache holds, 1 MiB
THIRD = 1 << 21  # doubles that a third-level cache holds, 16 MiB
TRIAD = 1 << 23  # doubles of each of four arrays, 64 MiB
FUSED = 1 << 20  # rounds of ten vectors of 16 lanes
LANE = (0,) * 16
TURNS = 5
PAIRS = 8
ALONE = ("values of all actions", "reach of one player", "values, weighted by reach")
DUEL = "win rate of two random matrices"
MIXTURE = f"sweep against {PAIRS} opponents"


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
    bound: str
    """What the floor is the time of."""
    achieved: float


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
        values, reach, kept, average, _ = diagonal_work(game.diagonals)
    else:
        counts = (value_work, reach_work, kept_work, average_work)
        values, reach, kept, average = (count(game.tables) for count in counts)
    works = {
        "values of all actions": values,
        "reach of one player": reach + kept,
        "reach of both players": reach.times(2) + kept,
        "values, weighted by reach": values + average,
        "sweep of a responder": (values + reach).times(2) + kept + average,
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
    found = {
        name: (work, by_turns(*runs))
        for (name, work), *runs in zip(works.items(), *ways, strict=True)
    }
    matrices = random.integers(game.num_actions, size=(2, *game.shape[:2]))
    duel, duels = duel_work(game, matrices), game.duels()
    if duel is not None and duels is not None:
        found[DUEL] = duel, by_turns(lambda: duels.win_rate(matrices))
    mixture = mixture_work(game, PAIRS, _mixture_number(game))
    if mixture is not None:
        many = many_workspace(game, PAIRS, game.quick_dtype(PAIRS))
        many.face(random.dirichlet(np.ones(game.num_actions), (PAIRS, *game.shape[:2])))

        def sweep_many() -> None:
            many.forward(played[0])
            many.backward(played[0], Role.SOFTMAX, temperature=0.01, damping=0.0)

        found[MIXTURE] = mixture, by_turns(sweep_many, times=2)
    return found


def _mixture_number(game: Game) -> int:
    """Bytes of a number in a sweep against many opponents."""
    return SINGLE if game.quick_dtype(PAIRS) == np.float32 else NUMBER


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rules", nargs="+", default=["su20"])
    parser.add_argument("--own", type=Path, help="YAML file of rules by name, after the others")
    parser.add_argument("--goal", type=int, default=100)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--markdown", action="store_true", help="one table of all, for docs")
    chosen = parser.parse_args()
    rules: dict[str, dict[str, Any]] = {name: {"edition": name} for name in chosen.rules}
    if chosen.own is not None:
        rules |= yaml.safe_load(chosen.own.read_text("utf-8"))
    most = ceilings()
    quiet = chosen.json or chosen.markdown
    found = [
        tell(name, {"goal": chosen.goal, **terms}, most, quiet, alone=chosen.markdown)
        for name, terms in rules.items()
    ]
    if chosen.markdown:
        print(table(found))
    if chosen.json:
        print(json.dumps(found if len(found) > 1 else found[0], indent=2))


def shares(editions: Sequence[str]) -> str:
    """Markdown: the passes of several editions, and the share of the floor that each reaches."""
    most = ceilings()
    return table([tell(name, {"edition": name}, most, quiet=True, alone=True) for name in editions])


def table(found: list[dict[str, Any]]) -> str:
    """Markdown: floor, time and share of the hot passes, and the share over the first game's."""
    first = {row["name"]: row for row in found[0]["passes"]}
    head = f"| goal {found[0]['context']['goal']} |" + "".join(f" {name} |" for name in first)
    lines = [head, "|---" + "|--:" * len(first) + "|"]
    for one in found:
        rows = {row["name"]: row for row in one["passes"]}
        cells = []
        for name, own in first.items():
            if name not in rows:
                cells.append(" ")
                continue
            row = rows[name]
            ratio = row["achieved"] / own["achieved"]
            times = f"{row['floor'] * 1e3:.2f}; {row['seconds'] * 1e3:.2f} ms"
            cells.append(f" {times}; {row['achieved']:.0%}; {ratio:.2f} ")
        lines.append(f"| {one['context']['rules']} |" + "|".join(cells) + "|")
    return "\n".join(lines)


def tell(
    name: str, rules: dict[str, Any], most: Ceilings, quiet: bool, *, alone: bool
) -> dict[str, Any]:
    """Measure one game; print its table, unless quiet."""
    game = compile_game(rules_from(rules))
    rows = []
    for what, (work, (seconds, *others)) in measure(game, alone=alone).items():
        players = 1 if what in ALONE else 2
        pairs = PAIRS if what == MIXTURE else 1
        number = _mixture_number(game) if what == MIXTURE else NUMBER
        floor, bound = most.floor(work, kept_bytes(game, players, number, pairs))
        generic = others[0] if others else None
        share = floor / seconds
        rows.append(Row(what, work.operations, work.moved, seconds, generic, floor, bound, share))
    about = {
        "rules": name,
        "goal": game.goal,
        **context(),
        "ceilings_per_second": asdict(most),
    }
    result = {"context": about, "passes": [asdict(row) for row in rows]}
    if quiet:
        return result
    print(f"{name}, goal {game.goal}, one core of {about['cpu']}")
    print(
        f"ceilings: {most.operations / 1e9:.1f} Gflop/s fused, {most.moved / 1e9:.1f} GB/s triad, "
        f"{most.loads / 1e9:.2f} and {most.stores / 1e9:.2f} G vectors/s loaded and stored, "
        f"{most.near / 1e9:.0f} GB/s from the second level, {most.far / 1e9:.0f} from the third"
    )
    heads = f"{'Mflop':>8}{'MB':>8}{'floor ms':>10}{'ms':>8}{'achieved':>10}{'generic ms':>12}"
    print(f"{'':34}{heads}  floor of")
    for row in rows:
        print(
            f"{row.name:34}{row.operations / 1e6:8.1f}{row.moved / 1e6:8.1f}"
            f"{row.floor * 1e3:10.2f}{row.seconds * 1e3:8.2f}{row.achieved:10.0%}"
            f"{(row.generic or 0.0) * 1e3:12.2f}  {row.bound}"
        )
    return result


if __name__ == "__main__":
    main()
