"""A small run: solve, measure, purify, export; everything is in the folder results/small."""

from pathlib import Path

import hogeq

CONFIG = """
name: small
rules: {edition: su20, goal: 20, max_dice: 4}
solver: {name: dcfr, iterations: 50, regret_weight: reach, alternating: false, seed: 0}
measure: {every: log, attack: {starts: 2}}
purify: {method: argmax}
"""

Path("small.yaml").write_text(CONFIG, encoding="utf-8")
summary = hogeq.run_experiment(hogeq.load_config("small.yaml"), overwrite=True, quiet=True)
print(f"average policy: attack {summary.average.lower:.6f}, bound {summary.average.upper:.6f}")
print(f"matrix:         attack {summary.matrix.lower:.6f}, bound {summary.matrix.upper:.6f}")
print("files:", ", ".join(sorted(path.name for path in summary.directory.glob("[!.]*"))))
