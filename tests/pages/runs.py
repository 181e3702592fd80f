"""Runs with a report, and what is in it."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np

from hogeq.runs.files import POLICY

CONFIG = {
    "name": "first",
    "rules": {"edition": "su20", "goal": 20, "max_dice": 3},
    "solver": {"name": "dcfr", "iterations": 8},
    "measure": {"every": "log", "attack": {"starts": 2, "anneal_steps": 10, "kicks": 0}},
}


def table_of(folder: Path, name: str = "first") -> Any:
    with np.load(folder / name / POLICY) as file:
        return file["policy"]


def data_of(page: Path) -> Any:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page.read_text())
    assert found
    return json.loads(found[1])
