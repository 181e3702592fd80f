"""Games and a policy that tests of purifiers share."""

from typing import Any

import numpy as np
import pytest

from hogeq.model.game import HogEngine, compile_game
from hogeq.rules import rules_from


@pytest.fixture(scope="session")
def game() -> HogEngine:
    return compile_game(rules_from({"edition": "su20", "goal": 10, "max_dice": 2}))


@pytest.fixture(scope="session")
def larger() -> HogEngine:
    """Large enough for the memory to count, and for kicks to find what annealing does not."""
    return compile_game(rules_from({"edition": "su20", "goal": 20, "max_dice": 4}))


@pytest.fixture(scope="session")
def policy() -> Any:
    return np.random.default_rng(5).dirichlet(np.ones(3), (10, 10))
