"""Games that a script registers."""

import runpy
from types import SimpleNamespace
from typing import Any

import pytest

from tests.trees.absent_games import PROBLEMS


@pytest.fixture(scope="module")
def problems() -> Any:
    """Games that `experiments/problems.py` registers, while these tests run."""
    from hogeq.trees.rules import GAMES

    def taken_off() -> dict[str, Any]:
        """Take off the games of scripts; those of hogeq may have come meanwhile, and stay."""
        kinds = {name: kind.__module__ for name, kind in GAMES.items()}
        foreign = [name for name, module in kinds.items() if not module.startswith("hogeq.")]
        return {name: GAMES.pop(name) for name in foreign}

    before = taken_off()  # another test may have run the script
    yield SimpleNamespace(**runpy.run_path(str(PROBLEMS)))
    taken_off()
    GAMES.update(before)
