"""A heat table of a strategy of a game tree."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hogeq
from hogeq import figures
from hogeq.figures import heat_tables
from tests.own_rules import Moves


def texts(axes: Any) -> list[str]:
    return [label.get_text() for label in axes.get_yticklabels()]


def test_every_information_set_has_a_row_and_every_action_a_column(tmp_path: Path) -> None:
    game = hogeq.Game("kuhn")
    strategy = game.solve("cfr_plus", 10).strategy
    figure = figures.policy(strategy, tmp_path / "kuhn.png", "Kuhn poker")
    first, second = figure.axes[:2]
    assert [axes.get_title() for axes in (first, second)] == ["player 0", "player 1"]
    assert texts(first) + texts(second) == game.infosets
    columns = [label.get_text() for label in first.get_xticklabels()]
    assert columns == ["check", "bet", "fold", "call"]
    images: list[Any] = [axes.images[0].get_array() for axes in (first, second)]
    shown = np.vstack([image.filled(np.nan) for image in images])
    for infoset, row in zip(game.infosets, shown, strict=True):
        drawn = {name: x for name, x in zip(columns, row, strict=True) if np.isfinite(x)}
        assert drawn == pytest.approx(strategy[infoset])
    assert (tmp_path / "kuhn.png").stat().st_size > 1000


def test_a_strategy_of_one_seat_shows_its_own_rows_alone() -> None:
    game = hogeq.Game("kuhn")
    second = game.equilibrium().strategies[1]
    (axes,) = figures.policy(second).axes
    assert axes.get_title() == "player 1"
    assert texts(axes) == list(second.to_dict())


def test_of_many_information_sets_the_first_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heat_tables, "MAX_INFOSETS", 9)
    monkeypatch.setattr(heat_tables, "PANEL_ROWS", 4)
    game = hogeq.Game("kuhn")
    figure = figures.policy(game.attack("uniform").strategy, title="Kuhn poker")
    assert figure.get_suptitle() == "Kuhn poker\nthe first 9 of 12 information sets"
    panels = [axes for axes in figure.axes if axes.images]
    assert [len(texts(axes)) for axes in panels] == [3, 3, 3]


class Wide(Moves):
    """Player 0 chooses one of 500 numbers, then player 1 says whether it is odd."""

    def actions(self, state: Any) -> range:
        return range(2 if state else 500)

    def knows(self, state: Any, player: int) -> str:  # noqa: ARG002 - nothing
        return f"player {player}"

    def payoffs(self, state: Any) -> list[float]:
        number, guess = state
        return [-1.0, 1.0] if number % 2 == guess else [1.0, -1.0]


def test_of_many_actions_the_first_are_drawn() -> None:
    figure = figures.policy(hogeq.Game(Wide()).strategy("uniform"), title="Odd or even")
    assert figure.get_suptitle() == "Odd or even\nthe first 30 of 500 actions"
    first, second = (axes for axes in figure.axes if axes.images)
    images: Any = first.images[0], second.images[0]
    assert images[0].get_array().shape == (1, 30)
    drawn = images[1].get_array().filled(np.nan)[0]
    assert drawn[:2].tolist() == [0.5, 0.5]
    assert np.isnan(drawn[2:]).all()
    assert figure.get_size_inches()[0] < 24


def test_a_mixture_is_no_table() -> None:
    game = hogeq.Game("kuhn")
    matrix = game.purify("uniform").array
    drawn = game.strategy(hogeq.Mixture([0.5, 0.5], [matrix, matrix]))
    with pytest.raises(hogeq.HogeqError, match=r"mixture"):
        figures.policy(drawn)
