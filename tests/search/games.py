"""Small games and strategies that tests of searches and bounds share."""

from itertools import count
from typing import Any

import numpy as np

from hogeq.model.game import HogEngine, compile_game
from hogeq.rules import rules_from
from hogeq.strategies.conversion import StrategyLike, strategy_of
from hogeq.strategies.strategy import Mixture, Strategy
from hogeq.support.aliases import Floats
from tests.twin import Play
from tests.twin.respond import BestResponse, process_of
from tests.twin.respond import best_response as proved_response

# Games small enough to try every matrix (256 to 16,384 that differ), in which to forget costs the
# responder something.
_POINTS: dict[str, Any] = {
    "goal": 4,
    "max_dice": 1,
    "sides": 2,
    "zero_dice": "twice_tens_minus_ones",
    "feral_hogs": "points",
}
_TURNS: dict[str, Any] = {
    "goal": 4,
    "max_dice": 1,
    "sides": 2,
    "zero_dice": "twice_tens_minus_ones",
    "time_trot": True,
    "time_trot_period": 2,
}
TINY: dict[str, dict[str, Any]] = {
    "points": _POINTS,
    "points and extra turns": _POINTS | {"more_boar": "digit_range", "swap": "ones_gap_is_tens"},
    "turn number": _TURNS,
    "two dice": _TURNS | {"goal": 3, "max_dice": 2, "more_boar": "digit_range"},
    "three sides": _TURNS
    | {"goal": 3, "sides": 3, "more_boar": "digit_range", "swap": "ones_gap_is_tens"},
    "bacon": _TURNS | {"sides": 3, "zero_dice": "one_plus_max_digit", "swap": "ones_gap_is_tens"},
}


def small(goal: int, dice: int, edition: str = "su20") -> HogEngine:
    return compile_game(rules_from({"edition": edition, "goal": goal, "max_dice": dice}))


def random_policy(game: HogEngine, seed: int) -> Strategy:
    rows = np.random.default_rng(seed).dirichlet(np.ones(game.num_actions), game.shape[:2])
    return strategy_of(game, rows)


def small_su20() -> tuple[HogEngine, Floats]:
    game = small(16, 4)
    return game, random_policy(game, 3).policy.copy()


def mixture_of(game: HogEngine, parts: int, seed: int = 0) -> Mixture:
    random = np.random.default_rng(seed)
    rows = random.dirichlet(np.ones(game.num_actions), (parts, *game.shape[:2]))
    return Mixture(random.dirichlet(np.ones(parts)), rows)


def matrices_of(game: HogEngine, parts: int, seed: int = 0) -> Mixture:
    random = np.random.default_rng(seed)
    rolls = random.integers(game.num_actions, size=(parts, *game.shape[:2]))
    return Mixture(random.dirichlet(np.ones(parts)), rolls)


def best_response(game: HogEngine, strategy: StrategyLike, most: int = 100_000) -> BestResponse:
    """Ask the twin for the matrix that wins most."""
    target = strategy_of(game, strategy)
    process = process_of(Play(game.rules), target.policies, tuple(target.chances))
    found = proved_response(process, most)
    return found._replace(rolls=found.rolls.reshape(game.goal, game.goal))


def ticks() -> Any:
    """Give a clock by which every look takes a second."""
    return count().__next__
