"""Measure a policy and a matrix as champions of an edition, and keep what is better than before.

    python experiments/champion.py --policy results/cfr_br/policy.npz
    python experiments/champion.py --matrix results/m/matrix.csv --matrix-config configs/m.yaml

Attacks with starts and perturbations of a seed that no config here uses. A strategy that is not
more exploitable than the champion so far, attacked anew, goes into results/champions/EDITION with
the strongest counter found; the manifest has its interval, the search budget, the attack without
perturbations, and the config that made it.
"""

import argparse
import dataclasses
import json
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

UNUSED_SEED = 777_000_001
FILES = {"average_policy": "policy.npz", "matrix": "matrix.csv"}


def main() -> None:
    """Measure, compare, keep."""
    given = arguments(
        __doc__,
        edition="su20",
        policy="",
        policy_config="configs/cfr_br.yaml",
        policy_note="",
        matrix="",
        matrix_config="configs/cfr_br_matrix.yaml",
        matrix_note="",
        starts=16,
        anneal_steps=60,
        kicks=100,
        jobs=2,
    )
    with workers(given.jobs):
        compare(given)


def compare(given: argparse.Namespace) -> None:
    """Attack the candidates and the champions so far; keep what is attacked with less."""
    game = compile_game(rules_from({"edition": given.edition}))
    folder = given.out / "champions" / given.edition
    budget = SearchBudget(
        given.starts, given.anneal_steps, perturbations=given.kicks, seed=UNUSED_SEED
    )
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
        made_with = load_config(config)
        if made_with.rules != game.rules:
            raise SystemExit(
                f"{config}: rules of {made_with.rules.name}; allowed: those of {game.rules.name}"
            )
        strategy = read_strategy(source, game.goal, game.rules.max_dice)
        found = attack(game, strategy, budget)
        starts_alone = attack(game, strategy, dataclasses.replace(budget, perturbations=0)).win_rate
        before = 1.0
        champion = folder / FILES[kind]
        if kind in manifest["figures"] and not champion.samefile(source):
            rival = read_strategy(champion, game.goal, game.rules.max_dice)
            before = attack(game, rival, budget).win_rate
        print(f"{kind}: attack {found.win_rate:.6f}, without kicks {starts_alone:.6f}")
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
            "attack_without_kicks": starts_alone,
            "effort": plain(budget),
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
