"""Measure a policy, a matrix or a mixture as a champion, and keep what is better than before.

    python experiments/champion.py --policy results/champion/policy.npz
    python experiments/champion.py --edition su21 --matrix results/champion_matrix/matrix.csv
    python experiments/champion.py --mixture results/mixture_bundle/mixture.npz

    python experiments/champion.py --matrix results/champions/su20/matrix.csv --kicks 320 --seeds 11

Attacks with seeds that no training uses. A strategy that is not more exploitable than the champion
so far, by the counter known to that or attacked anew, goes into results/champions/EDITION with the
strongest counter found or given. The manifest has its interval, what each seed found with how many
kicks, the search budget, whether the strongest attack had saturated, the attack without kicks, and
the config that made it. A champion attacked anew, as in the last line, keeps what was known.
A newcomer needs as many kicks as the champion's manifest has: fewer find less, and so flatter it.
Counters of training, or of other searches, can be given (--counters, as `hogeq purify` takes them):
where one of them wins more than the attacks found, that decides, for both; figures remain those of
the attacks, and what the strongest of these counters wins stands beside them, in the last column.
The parts of a mixture lose rolls of less than a thousandth and are rounded to four decimals, so
that its file is small, and what is measured is the file. results/champions.md is a table of all
champions, written anew each time.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
from common import arguments, publish
from numpy.typing import ArrayLike

from hogeq.evaluation.win_rates import win_rate
from hogeq.model.game import Game, compile_game
from hogeq.purification.sampling import thresholded
from hogeq.response.bounds import upper_bound
from hogeq.response.counters import read_counters
from hogeq.response.search import ResponseFound, SearchBudget, attack
from hogeq.rules import EDITIONS, rules_from
from hogeq.runs.config import load_config
from hogeq.runs.environment import environment, now
from hogeq.runs.filenames import MANIFEST, SCHEMA
from hogeq.strategies.mixtures import Mixture
from hogeq.strategies.policies import policy_of
from hogeq.strategies.read import read_any
from hogeq.strategies.write import write_strategy
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
    "the last half found",
    "twice the effort",
    "known counters",
]
RARE = 1e-3  # probability of a roll below which a part of a mixture loses it
UNITS = 10_000
ROUNDING = 1e-6  # of a unit, by which a whole number of them may fall short


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
    folder = given.out / "champions" / given.edition
    budget = SearchBudget(given.starts, given.anneal_steps, perturbations=given.kicks)
    none = np.zeros((0, *game.shape[:2]), np.int8)
    counters = read_counters(Path(given.counters), game) if given.counters else none
    manifest = read_manifest(folder)
    budgets = [replace(budget, seed=seed) for seed in given.seeds]
    for kind, source, config, note in (
        ("average_policy", given.policy, given.policy_config, given.policy_note),
        ("matrix", given.matrix, given.matrix_config, given.matrix_note),
        ("mixture", given.mixture, given.mixture_config, given.mixture_note),
    ):
        if not source:
            continue
        made_with = load_config(config, [f"rules={{edition: {given.edition}}}"])
        known = manifest["figures"].get(kind, {"attack": 1.0, "seeds": {}, "kicks": {}})
        champion = folder / FILES[kind]
        anew = champion.exists() and champion.samefile(source)
        check_kicks(given.kicks, 0 if anew else max(known["kicks"].values(), default=0))
        strategy = read_any(source, game.goal, game.rules.max_dice)
        if isinstance(strategy, Mixture):
            strategy = Mixture(strategy.weights, [rounded(game, part) for part in strategy.parts])
        every = [attack(game, strategy, one) for one in budgets]
        found = max(every, key=lambda one: one.win_rate)
        figures = measured(game, strategy, found, every)
        best_known, known_counter = strongest_of(game, strategy, counters)
        reached, counter = max(
            (found.win_rate, found.matrix), (best_known, known_counter), key=itemgetter(0)
        )
        print(f"{kind}: attack {found.win_rate:.6f}, {found.saturation}, known {best_known:.6f}")
        if best_known:
            figures["known"] = best_known
        if anew:
            figures = attacked_anew(known, figures)
        else:
            before = known["attack"]
            if champion.exists():
                before = exploited(game, champion, before, counters, reached, budgets)
            print(f"champion so far: attack {before:.6f}")
            if reached > before:
                continue
            made_by = made_with.resolved()
            figures |= {"config": made_by, "note": note}
            folder.mkdir(parents=True, exist_ok=True)
            write_strategy(champion, strategy, game.goal, game.rules.max_dice)
            if kind == "average_policy":
                manifest["config"] = made_by
                manifest["iterations"] = made_by["solver"]["iterations"]
        if reached == max(figures["attack"], figures.get("known", 0.0)):
            write_strategy(folder / f"counter_to_{champion.stem}.csv", counter)
        manifest["figures"][kind] = figures
        manifest["ended"], manifest["environment"] = now(), environment()
        write_whole(folder / MANIFEST, json.dumps(manifest, indent=2) + "\n")


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read the manifest of an edition's champions, empty if there is none."""
    try:
        found: dict[str, Any] = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {"schema": SCHEMA, "status": "complete", "figures": {}}
    return found


def exploited(
    game: Game,
    champion: Path,
    figure: float,
    counters: Matrix,
    reached: float,
    budgets: Sequence[SearchBudget],
) -> float:
    """Give what wins most against the champion so far: attacked anew where a newcomer loses more.

    That is `reached`; `figure` is what the champion's manifest says.
    """
    rival = read_any(champion, game.goal, game.rules.max_dice)
    most = max(figure, strongest_of(game, rival, counters)[0])
    if most < reached:
        most = max(most, *(attack(game, rival, one).win_rate for one in budgets))
    return most


def strongest_of(
    game: Game, strategy: ArrayLike | Mixture, counters: Matrix
) -> tuple[float, Matrix]:
    """Give the largest exact win rate of counters against a strategy, and whose; 0 of none."""
    if len(counters) == 0:
        return 0.0, counters
    rates = [win_rate(game, one, strategy).win_rate for one in counters]
    best = int(np.argmax(rates))
    return rates[best], counters[best]


def check_kicks(kicks: int, least: int) -> None:
    """Refuse a newcomer that would be attacked less than the champion was."""
    if kicks < least:
        raise SystemExit(f"--kicks: got {kicks}; allowed: from {least}, as the champion had")


def measured(
    game: Game,
    strategy: ArrayLike | Mixture,
    found: ResponseFound,
    every: Sequence[ResponseFound],
) -> dict[str, Any]:
    """Give the figures of a strategy: the strongest attack on it, and what each seed found."""
    return {
        "attack": found.win_rate,
        "bound": upper_bound(game, strategy),
        "found": found.found,
        "attack_without_kicks": found.curve[0][1],  # after the starts
        "effort": plain(found.budget),
        "seeds": {str(one.budget.seed): one.win_rate for one in every},
        "kicks": {str(one.budget.seed): one.budget.perturbations for one in every},
        "saturation": found.saturation.to_json(),
    }


def attacked_anew(known: dict[str, Any], figures: dict[str, Any]) -> dict[str, Any]:
    """Give the figures of a champion after one more attack: of the strongest, and every seed."""
    both = {each: known[each] | figures[each] for each in ("seeds", "kicks")}
    if "known" in known or "known" in figures:
        both["known"] = max(known.get("known", 0.0), figures.get("known", 0.0))
    return known | (figures if figures["attack"] > known["attack"] else {}) | both


def rounded(game: Game, part: ArrayLike) -> Floats:
    """Policy (G, G, K) without rolls that are hardly ever made, to four decimals.

    One that is rounded stays as it is.
    """
    units = np.floor(UNITS * thresholded(game, policy_of(game, part), RARE) + ROUNDING)
    most = units.argmax(axis=2)[..., None]
    lacking = UNITS - units.sum(axis=2, keepdims=True)
    np.put_along_axis(units, most, np.take_along_axis(units, most, 2) + lacking, 2)
    return units / UNITS


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
                ends = [f"{one[key]:.6f}" for key in ("attack_without_kicks", "attack", "bound")]
                left = one["saturation"]["left"]  # None: too few starts to say
                told = "unknown" if left is None else f"{left:.4f}"
                last = f"{one['saturation']['last_half']:.4f}"
                others = f"{one['known']:.6f}" if "known" in one else ""
                yield [edition, Path(file).stem, effort, *ends, last, told, others]


if __name__ == "__main__":
    main()
