"""Measure a policy and a matrix as champions of an edition, and keep what is better than before.

    python experiments/champion.py --policy results/champion/policy.npz
    python experiments/champion.py --edition su21 --matrix results/champion_matrix/matrix.csv

Attacks with seeds that no training uses. A strategy that is not more exploitable than the champion
so far, attacked anew, goes into results/champions/EDITION with the strongest counter found. The
manifest has its interval, what each seed found, the search budget, whether the strongest attack
had saturated, the attack without kicks, and the config that made it.
"""

import argparse
import json
from dataclasses import replace
from typing import Any

from common import arguments

from hogeq.model.game import compile_game
from hogeq.response.bounds import full_memory_bound
from hogeq.response.search import SearchBudget, attack
from hogeq.rules import rules_from
from hogeq.runs.config import load_config
from hogeq.runs.environment import environment, now
from hogeq.runs.filenames import MANIFEST, SCHEMA
from hogeq.strategies.read import read_strategy
from hogeq.strategies.write import write_strategy
from hogeq.support.files import write_whole
from hogeq.support.parameters import plain
from hogeq.support.workers import workers

UNUSED_SEEDS = (777_000_001, 777_000_002)
FILES = {"average_policy": "policy.npz", "matrix": "matrix.csv"}


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
        starts=16,
        anneal_steps=60,
        kicks=100,
        seeds=UNUSED_SEEDS,
        jobs=2,
    )
    with workers(given.jobs):
        compare(given)


def compare(given: argparse.Namespace) -> None:
    """Attack the candidates and the champions so far; keep what is attacked with less."""
    game = compile_game(rules_from({"edition": given.edition}))
    folder = given.out / "champions" / given.edition
    budget = SearchBudget(given.starts, given.anneal_steps, perturbations=given.kicks)
    try:
        manifest: dict[str, Any] = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except FileNotFoundError:
        manifest = {"schema": SCHEMA, "status": "complete", "figures": {}}
    for kind, source, config, note in (
        ("average_policy", given.policy, given.policy_config, given.policy_note),
        ("matrix", given.matrix, given.matrix_config, given.matrix_note),
    ):
        if not source:
            continue
        made_with = load_config(config, [f"rules={{edition: {given.edition}}}"])
        strategy = read_strategy(source, game.goal, game.rules.max_dice)
        every = [attack(game, strategy, replace(budget, seed=seed)) for seed in given.seeds]
        found = max(every, key=lambda one: one.win_rate)
        alone = attack(game, strategy, replace(found.budget, perturbations=0)).win_rate
        before = 1.0
        champion = folder / FILES[kind]
        if kind in manifest["figures"] and not champion.samefile(source):
            rival = read_strategy(champion, game.goal, game.rules.max_dice)
            before = max(
                attack(game, rival, replace(budget, seed=seed)).win_rate for seed in given.seeds
            )
        print(f"{kind}: attack {found.win_rate:.6f}, without kicks {alone:.6f}, {found.saturation}")
        print(f"champion so far: attack {before:.6f}")
        if found.win_rate > before:
            continue
        folder.mkdir(parents=True, exist_ok=True)
        write_strategy(folder / FILES[kind], strategy, game.goal, game.rules.max_dice)
        write_strategy(folder / f"counter_to_{FILES[kind].split('.')[0]}.csv", found.matrix)
        made_by = made_with.resolved()
        manifest["figures"][kind] = {
            "attack": found.win_rate,
            "bound": full_memory_bound(game, strategy),
            "found": found.found,
            "attack_without_kicks": alone,
            "effort": plain(found.budget),
            "seeds": {str(one.budget.seed): one.win_rate for one in every},
            "saturation": found.saturation.to_json(),
            "config": made_by,
            "note": note,
        }
        if kind == "average_policy":
            manifest["config"] = made_by
            manifest["iterations"] = made_by["solver"]["iterations"]
        manifest["ended"], manifest["environment"] = now(), environment()
        write_whole(folder / MANIFEST, json.dumps(manifest, indent=2) + "\n")


if __name__ == "__main__":
    main()
