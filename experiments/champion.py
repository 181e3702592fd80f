"""Measure a policy, a matrix or a mixture as a champion, and keep what is better than before.

    python experiments/champion.py --policy results/champion/policy.npz
    python experiments/champion.py --edition su21 --matrix results/champion_matrix/matrix.csv
    python experiments/champion.py --mixture results/mixture_bundle/mixture.npz

    python experiments/champion.py --matrix results/champions/su20/matrix.csv --kicks 320 --seeds 11

Attacks with seeds that no training uses. A strategy that is not more exploitable than the champion
so far, by the counter known to that or attacked anew, goes into results/champions/EDITION with the
strongest counter found or given. The manifest has its interval, what each seed found with how many
kicks, the search budget, the estimate for one doubling of it, the attack without kicks, and
the config that made it. A champion attacked anew, as in the last line, keeps what was known; of a
seed's attacks that with more kicks counts, and the strongest attack of all always does.
A newcomer needs as many kicks as the champion's manifest has: fewer find less, and so flatter it.
Counters of training, or of other searches, can be given (--counters, as `hogeq purify` takes them):
where one of them wins more than the attacks found, that decides, for both; figures remain those of
the attacks, and what the strongest of these counters wins stands beside them, in the last column.
A counter whose longer search the manifest names (known_effort) decides nothing.
The upper bound of the table is the least of full memory's and of those that certificates prove, in
the folder of results and in the benchmark's.
The parts of a mixture lose rolls of less than a thousandth and are rounded to four decimals, so
that its file is small, and what is measured is the file. results/champions.md is a table of all
champions, written anew each time.
"""

import argparse
import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from common import arguments, publish
from numpy.typing import ArrayLike

from hogeq.evaluation.values import win_rate
from hogeq.model.game import HogEngine, compile_game
from hogeq.purification.base import thresholded
from hogeq.rules import EDITIONS, rules_from
from hogeq.runs.config import load_config
from hogeq.runs.files import MANIFEST, SCHEMA, environment, now
from hogeq.search.attack import SearchResult, attack
from hogeq.search.bounds import upper_bound
from hogeq.search.certificate_files import Certificate
from hogeq.search.population import read_counters
from hogeq.search.results import Budget
from hogeq.strategies.conversion import policy_of, strategy_of
from hogeq.strategies.files import read_strategy, sizes_of
from hogeq.strategies.strategy import Mixture, Strategy
from hogeq.support.aliases import Floats, Matrix
from hogeq.support.files import write_whole
from hogeq.support.parameters import plain
from hogeq.support.workers import workers

UNUSED_SEEDS = (777_000_001, 777_000_002)
FILES = {"average_policy": "policy.npz", "matrix": "matrix.csv", "mixture": "mixture.npz"}
HEADER = [
    "edition",
    "strategy",
    "starts x kicks",
    "starts alone",
    "attack found",
    "upper bound",
    "full memory",
    "the last half found",
    "twice the effort",
    "known counters",
]
SHOWN = 10**6  # digits of bounds, which are rounded up
RARE = 1e-3  # probability of a roll below which a part of a mixture loses it
UNITS = 10_000
ROUNDING = 1e-6  # of a unit, by which a whole number of them may fall short

Figures = dict[str, Any]
NOBODY: Figures = {"attack": 1.0, "kicks": {}}  # loses to everybody: the champion before the first


class Candidate(NamedTuple):
    """A strategy that may become the champion of its kind, or is it and is attacked anew."""

    kind: str
    strategy: Strategy
    champion: Path
    """File of the champion so far, which this strategy may replace."""
    known: Figures
    """Figures of the champion so far."""
    is_champion: bool
    made_by: dict[str, Any]
    """Config, resolved."""
    note: str


class Counter(NamedTuple):
    """A counter given, and its exact win rate."""

    win_rate: float
    matrix: Matrix


class Opposition(NamedTuple):
    """What a strategy is measured by: an attack for each budget, and the counters given."""

    game: HogEngine
    budgets: list[Budget]
    counters: Matrix
    """(n, G, G)"""

    def attacks(self, strategy: Strategy) -> list[SearchResult]:
        """Attack a strategy."""
        return [attack(self.game, strategy, budget) for budget in self.budgets]

    def given(self, strategy: Strategy) -> list[Counter]:
        """Let the counters given play against a strategy."""
        return [Counter(win_rate(self.game, one, strategy).win_rate, one) for one in self.counters]


class Measured(NamedTuple):
    """A strategy measured."""

    found: SearchResult
    """The strongest attack."""
    figures: Figures
    counter: Matrix
    """The strongest counter, found or given."""

    def __str__(self) -> str:
        found, known = self.found, self.figures.get("known", 0.0)
        return f"attack {found.win_rate:.6f}, {found.saturation}, known {known:.6f}"


Found = TypeVar("Found", bound=SearchResult | Counter)


def main() -> None:
    """Measure, compare, keep."""
    given = arguments(
        __doc__,
        edition="su20",
        policy="",
        policy_config="configs/champion.yaml",
        policy_note="",
        matrix="",
        matrix_config="configs/champion_matrix.yaml",
        matrix_note="",
        mixture="",
        mixture_config="configs/champion_mixture.yaml",
        mixture_note="",
        starts=16,
        anneal_steps=60,
        kicks=100,
        seeds=UNUSED_SEEDS,
        counters="",
        jobs=2,
    )
    with workers(given.jobs):
        compare(given)
    publish(given.out, "champions", HEADER, rows(given.out / "champions"))


def compare(given: argparse.Namespace) -> None:
    """Attack the candidates and the champions so far; keep what is attacked with less."""
    game = compile_game(rules_from({"edition": given.edition}))
    budget = Budget(given.starts, given.anneal_steps, kicks=given.kicks)
    budgets = [replace(budget, seed=seed) for seed in given.seeds]
    none = np.zeros((0, *game.shape[:2]), np.int8)
    counters = read_counters(Path(given.counters), game) if given.counters else none
    opposition = Opposition(game, budgets, counters)
    for candidate in candidates(given, game):
        measured = measure(opposition, candidate.strategy)
        print(f"{candidate.kind}: {measured}")
        if is_kept(opposition, candidate, most_won(measured.figures)):
            keep(game, candidate, measured)


def candidates(given: argparse.Namespace, game: HogEngine) -> Iterator[Candidate]:
    """Read the strategies given; refuse a newcomer that would be attacked less than its champion.

    Mixtures are rounded.
    """
    folder = given.out / "champions" / given.edition
    champions = read_manifest(folder)["figures"]
    for kind, file in FILES.items():
        name = Path(file).stem
        source, config, note = (vars(given)[name + part] for part in ("", "_config", "_note"))
        if not source:
            continue
        made_by = load_config(config, [f"rules={{edition: {given.edition}}}"]).resolved()
        known, champion = champions.get(kind, NOBODY), folder / file
        is_champion = kind in champions and champion.exists() and champion.samefile(source)
        if not is_champion:
            check_kicks(given.kicks, max(known["kicks"].values(), default=0))
        strategy = read_strategy(source, **sizes_of(game))
        if strategy.kind == "mixture":
            parts = [rounded(game, part) for part in strategy.components]
            strategy = strategy_of(game, Mixture(strategy.weights, parts))
        yield Candidate(kind, strategy, champion, known, is_champion, made_by, note)


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read the manifest of an edition's champions, empty if there is none."""
    try:
        found: dict[str, Any] = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {"schema": SCHEMA, "status": "complete", "figures": {}}
    return found


def check_kicks(kicks: int, least: int) -> None:
    """Refuse a newcomer that would be attacked less than the champion was."""
    if kicks < least:
        raise SystemExit(f"--kicks: got {kicks}; allowed: from {least}, as the champion had")


def measure(opposition: Opposition, strategy: Strategy) -> Measured:
    """Measure a strategy: the strongest attack, what each seed found, and the counters given."""
    attacks, given = opposition.attacks(strategy), opposition.given(strategy)
    found = strongest(attacks)
    figures = {
        "attack": found.win_rate,
        "bound": upper_bound(opposition.game, strategy),
        "found": found.found,
        "attack_without_kicks": found.curve[0][1],  # after the starts
        "effort": plain(found.budget),
        "seeds": {str(one.budget.seed): one.win_rate for one in attacks},
        "kicks": {str(one.budget.seed): one.budget.kicks for one in attacks},
        "saturation": found.saturation.to_json(),
    }
    if given:
        figures["known"] = strongest(given).win_rate
    both: list[SearchResult | Counter] = [*attacks, *given]
    return Measured(found, figures, strongest(both).matrix)


def strongest(counters: Iterable[Found]) -> Found:
    """Give the counter that wins most, the first of equals."""
    return max(counters, key=lambda one: one.win_rate)


def most_won(figures: Figures) -> float:
    """Give what the strongest counter known to a strategy wins, found by an attack or given."""
    return max(figures["attack"], figures.get("known", 0.0))


def is_kept(opposition: Opposition, candidate: Candidate, reached: float) -> bool:
    """Whether a candidate, against which `reached` is won, is the champion from now on."""
    if candidate.is_champion:
        return True
    # A counter that a longer search found says nothing about a newcomer that had no such search.
    known = candidate.known
    met = known["attack"] if "known_effort" in known else most_won(known)
    before = exploited(opposition, candidate.champion, met, reached)
    print(f"champion so far: attack {before:.6f}")
    return reached <= before


def exploited(opposition: Opposition, champion: Path, known: float, reached: float) -> float:
    """Give what wins most against the champion so far: attacked anew where a newcomer loses more.

    That is `reached`; `known` is what the champion's manifest says.
    """
    if not champion.exists():
        return known
    rival = read_strategy(champion, **sizes_of(opposition.game))
    rates = [known, *(one.win_rate for one in opposition.given(rival))]
    if max(rates) < reached:
        rates += [one.win_rate for one in opposition.attacks(rival)]
    return max(rates)


def keep(game: HogEngine, candidate: Candidate, measured: Measured) -> None:
    """Write a champion, the strongest counter to it if that is new, and the manifest."""
    folder = candidate.champion.parent
    folder.mkdir(parents=True, exist_ok=True)
    manifest = read_manifest(folder)
    if candidate.is_champion:
        figures = attacked_anew(candidate.known, measured.figures)
    else:
        figures = measured.figures | {"config": candidate.made_by, "note": candidate.note}
        strategy_of(game, candidate.strategy).write(candidate.champion)
        if candidate.kind == "average_policy":
            manifest["config"] = candidate.made_by
            manifest["iterations"] = candidate.made_by["solver"]["iterations"]
    if most_won(measured.figures) == most_won(figures):
        counter = strategy_of(game, measured.counter)
        counter.write(folder / f"counter_to_{candidate.champion.stem}.csv")
    manifest["figures"][candidate.kind] = figures
    manifest["ended"], manifest["environment"] = now(), environment()
    write_whole(folder / MANIFEST, json.dumps(manifest, indent=2) + "\n")


def attacked_anew(known: Figures, figures: Figures) -> Figures:
    """Give the figures of a champion after one more attack: of the strongest, and every seed."""
    both = known, figures
    best = max(both, key=lambda one: (one["attack"], one["effort"]["kicks"]))
    before, anew = map(by_seed, both)
    seeds = before | {seed: max(one, before.get(seed, one)) for seed, one in anew.items()}
    # More starts and fewer kicks may have found more: the strongest attack stays whatever it took.
    seeds[str(best["effort"]["seed"])] = best["effort"]["kicks"], best["attack"]
    merged = known | best
    merged["seeds"] = {seed: rate for seed, (_, rate) in seeds.items()}
    merged["kicks"] = {seed: kicks for seed, (kicks, _) in seeds.items()}
    given = [one["known"] for one in both if "known" in one]
    if given:
        merged["known"] = max(given)
    return merged


def by_seed(figures: Figures) -> dict[str, tuple[int, float]]:
    """Give the kicks of each seed's attack, and what it found."""
    return {seed: (figures["kicks"][seed], rate) for seed, rate in figures["seeds"].items()}


def rounded(game: HogEngine, part: ArrayLike) -> Floats:
    """Policy (G, G, K) without rolls that are hardly ever made, to four decimals.

    One that is rounded stays as it is.
    """
    units = np.floor(UNITS * thresholded(game, policy_of(game, part), RARE) + ROUNDING)
    most = units.argmax(axis=2)[..., None]
    lacking = UNITS - units.sum(axis=2, keepdims=True)
    np.put_along_axis(units, most, np.take_along_axis(units, most, 2) + lacking, 2)
    return units / UNITS


def proved_bound(folder: Path, edition: str, file: str, bound: float) -> float:
    """Give the least of full memory's bound and those of certificates about this champion."""
    for path in (
        folder.parent / f"certificate_{edition}.json.gz",
        folder.parent / "benchmark" / "certificates" / f"{edition}-100x10-champion.json.gz",
    ):
        if path.exists():
            said, sizes = Certificate.read(path), sizes_of(compile_game(EDITIONS[edition]))
            champion = read_strategy(folder / edition / file, **sizes)
            is_about = said.rules == EDITIONS[edition] and said.strategy.kind == champion.kind
            if is_about and np.array_equal(said.strategy.array, champion.array):
                bound = min(bound, said.bound)
    return bound


def rows(folder: Path) -> Iterator[list[str]]:
    """Rows of the table of all champions, the editions in their order."""
    for edition in EDITIONS:
        try:
            manifest = json.loads((folder / edition / MANIFEST).read_text(encoding="utf-8"))
        except FileNotFoundError:
            continue
        for kind, file in FILES.items():
            if kind in manifest["figures"]:
                one = manifest["figures"][kind]
                effort = f"{one['effort']['starts']} x {one['effort']['kicks']}"
                least = proved_bound(folder, edition, file, one["bound"])
                ends = [f"{one[key]:.6f}" for key in ("attack_without_kicks", "attack")]
                ends += [f"{math.ceil(end * SHOWN) / SHOWN:.6f}" for end in (least, one["bound"])]
                left = one["saturation"]["left"]  # None: too few starts to say
                told = "unknown" if left is None else f"{left:.4f}"
                last = f"{one['saturation']['last_half']:.4f}"
                others = f"{one['known']:.6f}" if "known" in one else ""
                yield [edition, Path(file).stem, effort, *ends, last, told, others]


if __name__ == "__main__":
    main()
