"""Compute every edition's figures at full size, by the twin alone.

``python -m tests.twin`` takes every edition, one after another; ``python -m tests.twin fa23 sp22``
these; with ``--out values.json`` the file is written after each edition.
"""

import argparse
import json
from pathlib import Path

from tests.twin.editions import EDITIONS, SAME
from tests.twin.full_size import figures


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.twin", description=__doc__)
    parser.add_argument("editions", nargs="*", default=list(EDITIONS))
    parser.add_argument("--goal", type=int, default=100)
    parser.add_argument("--out", type=Path, help="JSON file; what it holds already is kept")
    asked = parser.parse_args()
    known = json.loads(asked.out.read_text()) if asked.out and asked.out.exists() else {}
    for name in asked.editions:
        found = figures(EDITIONS[SAME.get(name, name)] | {"goal": asked.goal})
        print(name, *(f"{key} {value:.13g}" for key, value in found._asdict().items()), flush=True)
        known[name] = found._asdict()
        if asked.out:
            asked.out.write_text(json.dumps(known, indent=2) + "\n")


if __name__ == "__main__":
    main()
