"""What a strategy knows of its game."""

from typing import NamedTuple

import numpy as np
import pytest

import hogeq
from hogeq.strategies.arrays import StrategyError
from hogeq.strategies.conversion import strategy_of, strategy_of_shape
from hogeq.strategies.files import sizes_of
from hogeq.strategies.strategy import Mixture, Strategy


class Grid:
    """A game whose rows lie in a square, but are no scores."""

    shape = 3, 3, 2
    has_scores = False


UNIFORM = np.full(Grid.shape, 0.5)


@pytest.mark.parametrize("given", [UNIFORM, np.zeros((3, 3), int), Mixture([1.0], [UNIFORM])])
def test_a_square_of_rows_is_no_table_of_scores(given: object) -> None:
    strategy = strategy_of(Grid(), given)  # type: ignore[arg-type]
    assert not strategy.has_scores
    assert strategy._repr_html_() is None


def test_messages_of_a_square_are_those_of_other_games_than_hog() -> None:
    with pytest.raises(StrategyError, match="takes action 0 with probability 2"):
        strategy_of(Grid(), UNIFORM * 4.0)
    with pytest.raises(StrategyError, match="allowed: actions"):
        strategy_of(Grid(), np.full((3, 3), 2))
    with pytest.raises(StrategyError, match="is a function of two scores; allowed: in games of"):
        strategy_of(Grid(), lambda _, __: 1)


def test_tables_of_hog_have_scores() -> None:
    game = hogeq.Game({"edition": "su20", "goal": 3, "max_dice": 2})
    assert game.strategy("always_roll:1").has_scores
    assert game.engine.has_scores
    table = np.zeros((3, 3), int)
    for given in (table, Mixture([0.5, 0.5], [table, table]), lambda _, __: 1):
        assert strategy_of(game.engine, given).has_scores


def test_without_a_game_the_shape_decides() -> None:
    assert strategy_of_shape(None, np.zeros((3, 3), int)).has_scores
    assert Strategy.unchecked(UNIFORM).has_scores
    assert Strategy.unchecked_mixture(UNIFORM[None], np.ones(1)).has_scores
    assert not Strategy.unchecked(UNIFORM[:2]).has_scores


def test_rules_of_another_kind_say_nothing_about_dice() -> None:
    """An engine of one's own may have an attribute `rules`, which is not of Hog."""

    class OwnEngine(NamedTuple):
        shape: tuple[int, ...] = (2, 3)
        has_scores: bool = False
        rules: str = "draw a card"

    policy = np.array([[0.5, 0.25, 0.25], [0.0, 1.0, 0.0]])
    assert (strategy_of(OwnEngine(), policy).policies[0] == policy).all()
    assert sizes_of(OwnEngine()) == {"goal": 2, "max_dice": 2, "least": 0, "most": 2}
