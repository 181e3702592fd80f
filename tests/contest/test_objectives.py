"""Scores of win rates against a field, and their slopes."""

import math

import numpy as np
import pytest

from hogeq.contest.objectives import MeanWins, Score, Shortfall, SmoothWins, count_beaten

WIN = 0.500001  # the contest's convention [7]
RATES = np.array([0.47, 0.495, WIN, 0.502, 0.53])


def logistic(x: float) -> float:
    return 1.0 / (1.0 + math.exp(-x))


@pytest.mark.parametrize("width", [0.03, 0.001])
def test_scores_are_what_they_say(width: float) -> None:
    assert MeanWins().score(RATES) == pytest.approx(sum(RATES) / 5, abs=1e-15)
    wins = [logistic((rate - WIN) / width) for rate in RATES]
    assert SmoothWins(width).score(RATES) == pytest.approx(sum(wins) / 5, abs=1e-14)
    target = np.array([True, False, True, False, True])
    short = sum(math.log1p(math.exp((WIN - rate) / width)) for rate in RATES[target].tolist())
    assert Shortfall(target, width).score(RATES) == pytest.approx(-width * short, abs=1e-14)


def test_a_step_without_width_counts_the_wins() -> None:
    sharp = SmoothWins(1e-9)
    rates = RATES[RATES != WIN]
    assert sharp.score(rates) == pytest.approx(0.5)
    assert count_beaten(rates) == count_beaten(RATES) == 2  # a match is won above the edge
    assert sharp.score(np.array([WIN])) == 0.5
    missing = Shortfall(np.ones(4, bool), 1e-9).score(rates)
    assert missing == pytest.approx(-(WIN - 0.47) - (WIN - 0.495), abs=1e-9)


@pytest.mark.parametrize(
    "score",
    [
        MeanWins(),
        SmoothWins(0.01),
        SmoothWins(0.03),
        Shortfall(np.array([True, True, False, False, True]), 0.01),
    ],
)
def test_weights_are_the_slope_of_the_score(score: Score) -> None:
    step = 1e-6
    slopes = [
        (score.score(RATES + shift) - score.score(RATES - shift)) / (2.0 * step)
        for shift in step * np.eye(5)
    ]
    assert score.weights(RATES) == pytest.approx(slopes, rel=1e-6, abs=1e-9)
