"""Measure a policy and a matrix as champions of an edition, and keep what is better than before.

    python experiments/champion.py --policy results/bundle/policy.npz
    python experiments/champion.py --matrix results/m/matrix.csv --matrix-config configs/m.yaml

Attacks with starts of a seed that no config here uses.  What is less exploitable than the champion
so far goes into results/champions/EDITION: strategy, strongest counter found, and in the manifest
its interval, the effort behind it and the config that made it.
"""

import dataclasses
import json
from typing import Any

from report import arguments

from hogeq.config import load_config
from hogeq.files import write_whole
from hogeq.formats import read_strategy, write_strategy
from hogeq.game import compile_game
from hogeq.respond import Effort, attack, full_memory_bound
from hogeq.results import MANIFEST, SCHEMA, environment, now
from hogeq.rules import rules_from

UNUSED_SEED = 777_000_001
FILES = {"average_policy": "policy.npz", "matrix": "matrix.csv"}


def main() -> None:
    """Measure, compare, keep."""
    given = arguments(
        __doc__,
        edition="su20",
        policy="",
        policy_config="configs/bundle.yaml",
        policy_note="",
        matrix="",
        matrix_config="configs/bundle.yaml",
        matrix_note="",
        starts=16,
        anneal_steps=60,
        jobs=2,
    )
    game = compile_game(rules_from({"edition": given.edition}))
    folder = given.out / "champions" / given.edition
    effort = Effort(given.starts, given.anneal_steps, seed=UNUSED_SEED, jobs=given.jobs)
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
                f"{config}: rules of {made_with.rules.name}, allowed are those of {game.rules.name}"
            )
        strategy = read_strategy(source, game.goal, game.rules.max_dice)
        found = attack(game, strategy, effort)
        before = manifest["figures"].get(kind, {}).get("attack", 1.0)
        print(f"{kind}: attack {found.win_rate:.6f}, champion so far {before:.6f}")
        if found.win_rate >= before:
            continue
        folder.mkdir(parents=True, exist_ok=True)
        write_strategy(folder / FILES[kind], strategy, game.goal, game.rules.max_dice)
        write_strategy(folder / f"counter_to_{FILES[kind].split('.')[0]}.csv", found.matrix)
        made_by = made_with.resolved()
        manifest["figures"][kind] = {
            "attack": found.win_rate,
            "bound": full_memory_bound(game, strategy),
            "found": found.found,
            "effort": {k: v for k, v in dataclasses.asdict(effort).items() if k != "jobs"},
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
