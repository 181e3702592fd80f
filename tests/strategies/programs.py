"""Programs that play, and those that a sandbox must isolate."""

from pathlib import Path

import pytest

from hogeq.support import sandbox
from tests.strategies.strategy_files import file


def code(folder: Path, body: str) -> Path:
    return file(folder, "final_strategy.py", f"def final_strategy(score, opponent):\n    {body}\n")


# --- what it sees of the machine ------------------------------------------------------------------

ISOLATED = bool(sandbox.isolation().bubblewrap)

boxed = pytest.mark.skipif(not ISOLATED, reason=sandbox.isolation().reason)
