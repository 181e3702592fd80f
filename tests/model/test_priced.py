"""Responders that pay dual prices: the order of their passes, units of payoffs, what is refused.

What they compute is compared with the theorem in `tests/search/test_certificate_theorem.py` and
`tests/games/test_certified_games.py`.
"""

from dataclasses import replace

import numpy as np
import pytest

from hogeq.graph.hog import of_hog
from hogeq.model import priced
from hogeq.model.priced import PricedResponders, Problem
from hogeq.rules import rules_from

GRAPH = of_hog(rules_from({"edition": "su20", "goal": 8, "max_dice": 2}))
UNIFORM = np.full((64, 3), 1.0 / 3.0)


def value_of(problem: Problem) -> float:
    found = PricedResponders([problem])
    found.begin()
    return found.value * found.scale


def test_an_order_that_is_none_is_not_taken() -> None:
    right = value_of(Problem(GRAPH, 0, UNIFORM, 1.0))
    backward = np.arange(GRAPH.positions)[::-1]
    twice = np.zeros(GRAPH.positions, np.int64)
    for order in (backward, twice, np.arange(3)):
        assert value_of(Problem(GRAPH, 0, UNIFORM, 1.0, order)) == right


@pytest.mark.parametrize(("factor", "scale"), [(1.0, 1.0), (3.0, 4.0), (1e-300, 2.0**-996), (0, 1)])
def test_units_of_payoffs_round_nothing(factor: float, scale: float) -> None:
    graph = replace(GRAPH, payoff=factor * GRAPH.payoff, total=factor * GRAPH.total)
    found = PricedResponders([Problem(graph, 0, UNIFORM, 1.0)])
    assert found.scale == scale
    found.begin()
    right = factor * value_of(Problem(GRAPH, 0, UNIFORM, 1.0))
    assert found.value * found.scale == pytest.approx(right, rel=1e-12)


def test_either_seat_of_hog_is_the_same_problem() -> None:
    first, second = (value_of(Problem(GRAPH, seat, UNIFORM, 1.0)) for seat in (0, 1))
    assert first == pytest.approx(second, abs=1e-13)


def test_more_actions_than_are_valued_side_by_side_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(priced, "MOST_ACTIONS", 2)
    with pytest.raises(ValueError, match="an information set has 3 actions; allowed: 2"):
        PricedResponders([Problem(GRAPH, 0, UNIFORM, 1.0)])
