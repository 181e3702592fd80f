import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from hogeq.analysis.tournament import WIN, WinRates, rank, round_robin
from hogeq.contest.assessment import outcome
from hogeq.evaluation.values import reach, win_rate
from hogeq.model.game import compile_game
from hogeq.rules import rules_from
from hogeq.support.workers import workers

GAME = compile_game(rules_from({"edition": "su20", "goal": 20, "max_dice": 3}))
# The official results, docs/sources.md [7], where they lie beside the repository: too large to
# keep in it.
OFFICIAL = Path(__file__).parents[3] / "shared" / "data" / "su20_winrates.json"


def test_every_pair_is_the_exact_win_rate() -> None:
    """Of matrices, which are computed in blocks, and of a policy."""
    random = np.random.default_rng(1)
    matrices = random.integers(GAME.num_actions, size=(6, 20, 20))
    field: list[NDArray[Any]] = [*matrices, random.dirichlet(np.ones(4), (20, 20))]
    seen: list[int] = []
    with workers(3):
        rates = round_robin(GAME, field, lambda: seen.append(1))
    assert len(seen) == 7 * 6 / 2
    for row, a in enumerate(field):
        for column, b in enumerate(field):
            want = 0.5 if row == column else win_rate(GAME, a, b).win_rate
            assert rates[row, column] == pytest.approx(want, abs=1e-12)
    assert np.array_equal(round_robin(GAME, field), rates)


def test_a_malformed_entry_is_refused_before_play() -> None:
    good = np.zeros((20, 20), int)
    bad = good.copy()
    bad[3, 4] = 4
    with pytest.raises(ValueError, match=r"row 3, column 4\) is 4"):
        round_robin(GAME, [good, bad], progress=lambda: pytest.fail("a match was played"))


def test_tables_that_play_alike_tie_by_a_threshold_of_a_half() -> None:
    """They win 1/2 but for rounding, which gave the match to one of them."""
    random = np.random.default_rng(0)
    rates = []
    for _ in range(8):
        one = random.integers(GAME.num_actions, size=(20, 20))
        is_met = reach(GAME, one, one).sum(axis=2) > 0.0
        other = np.where(is_met, one, (one + 1) % GAME.num_actions)
        rates.append(round_robin(GAME, [one, other]))
        assert [standing[1:] for standing in rank(rates[-1], 0.5)] == [(1, 0, 1), (1, 0, 1)]
        assert outcome(rates[-1].max(), 0.5) == outcome(rates[-1].min(), 0.5) == ""
    assert max(rate.max() for rate in rates) > 0.5  # rounding does show


def test_equal_counts_share_a_rank_and_the_next_rank_skips() -> None:
    close = WIN  # not above: no win
    rates = [
        [0.5, 0.4, close, 0.7, 0.6],
        [0.6, 0.5, 0.6, 0.3, 0.5],
        [1 - close, 0.4, 0.5, 0.9, 0.9],
        [0.3, 0.7, 0.1, 0.5, 0.4],
        [0.4, 0.5, 0.1, 0.6, 0.5],
    ]
    assert [tuple(standing) for standing in rank(rates)] == [
        (0, 1, 2, 1),
        (1, 1, 2, 1),
        (2, 1, 2, 1),
        (3, 4, 1, 0),
        (4, 4, 1, 1),
    ]


def test_a_tie_break_tells_equal_counts_apart_and_no_others() -> None:
    rates = [[0.5, 0.6, 0.4, 0.6], [0.4, 0.5, 0.6, 0.6], [0.6, 0.4, 0.5, 0.6], [0.4, 0.4, 0.4, 0.5]]
    found = [(one.entry, one.rank, one.wins) for one in rank(rates, tie_break=[0.1, 0.3, 0.3, 0.9])]
    assert found == [(1, 1, 2), (2, 1, 2), (0, 3, 2), (3, 4, 0)]
    with pytest.raises(ValueError, match=r"^tie_break: got '2 numbers'; allowed: 4, one for each"):
        rank(rates, tie_break=[0.1, 0.3])


@pytest.mark.parametrize(
    ("rates", "says"),
    [
        ([[0.5, 0.5]], r"shape is \(1, 2\)"),
        ([[0.5, 1.0], [-0.001, 0.5]], r"row 1, column 0\) is -0.001"),
        ([[0.5, 0.5], [float("nan"), 0.5]], r"row 1, column 0\) is nan"),
        ([[0.5, 0.4], [0.6]], r"^win rates: got \[\[0.5, 0.4\], \[0.6\]\]; allowed: numbers"),
    ],
)
def test_what_is_no_table_of_win_rates_is_refused(rates: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        rank(rates)


def test_ranks_do_not_look_at_the_diagonal() -> None:
    rates = np.array([[np.nan, 0.4], [0.6, 7.0]])
    assert rank(rates) == rank([[0.5, 0.4], [0.6, 0.5]])
    assert np.isnan(rates[0, 0])  # left as it was


@pytest.mark.skipif(not OFFICIAL.exists(), reason="the official results are not at hand")
def test_the_official_ranking() -> None:
    # The contest's published ranking [7].
    standings = rank(json.loads(OFFICIAL.read_text())["winrate"])
    assert [standing.entry for standing in standings[:10]] == list(range(10))
    wins = [93, 92, 91, 89, 89, 88, 86, 86, 85, 85]
    assert [standing.wins for standing in standings[:10]] == wins
    assert [standing.rank for standing in standings[:10]] == [1, 2, 3, 4, 4, 6, 7, 7, 9, 9]


def test_means_and_lowest_win_rates_leave_the_diagonal_out() -> None:
    rates = [[0.5, 0.75, 0.25], [0.25, 0.5, 0.25], [0.75, 0.75, 0.5]]
    assert WinRates.of(rates).means() == [0.5, 0.25, 0.75]
    assert WinRates.of(rates).lowest() == [(0.25, 2), (0.25, 0), (0.75, 0)]


def test_a_match_is_won_strictly_above_the_contest_s_edge() -> None:
    for rate, wins in ((0.5000009, 0), (0.500001, 0), (0.5000011, 1)):
        table = [[0.5, rate], [1.0 - rate, 0.5]]
        assert rank(table)[0].wins == wins


@pytest.mark.parametrize(
    "table", [[[0.5, 0.9], [0.9, 0.5]], [[0.5, 0.1], [0.1, 0.5]], [[0.5, 0.5], [0.9, 0.5]]]
)
def test_a_table_that_contradicts_itself_is_refused(table: list[list[float]]) -> None:
    """It had a number of ties below 0, and an equilibrium that was none."""
    for check in (WinRates.of, rank):
        with pytest.raises(ValueError, match=r"cell \(row 0, column 1\) is 0\.\d; allowed: 1 less"):
            check(table)


def test_ties_are_broken_by_any_sequence_of_numbers() -> None:
    rates = [[0.5, 0.5], [0.5, 0.5]]
    for numbers in ([0.25, 0.75], (0.25, 0.75), np.array([0.25, 0.75])):
        assert [standing.entry for standing in rank(rates, tie_break=numbers)] == [1, 0]
