"""What changes of a table are worth, and tables made better."""

from typing import Any

import numpy as np
import pytest

import hogeq

GAMES = [
    {"edition": "fa25", "goal": 12, "max_dice": 3},
    {"edition": "su20", "goal": 12, "max_dice": 3},
]


@pytest.mark.parametrize("rules", GAMES, ids=["open", "hidden"])
def test_each_change_gains_what_it_gains_alone(rules: dict[str, Any]) -> None:
    game = hogeq.Game(rules)
    random = np.random.default_rng(3)
    one, two = random.integers(0, 4, (2, 12, 12))
    against = ["always_roll:2", "ignore_memory" if game.engine.has_memory else "optimal"]
    found = game.diff(one, two, against=list(against))

    def mean(table: Any) -> float:
        return float(np.mean([game.win_rate(table, rival).win_rate for rival in against]))

    assert found.before == pytest.approx(mean(one), abs=1e-12)
    assert found.after == pytest.approx(mean(two), abs=1e-12)
    assert found.match == pytest.approx(game.win_rate(two, one).win_rate, abs=1e-12)
    assert len(found.changes) == (one != two).sum()
    for change in (*found.changes[:3], *found.changes[-3:]):
        table = one.copy()
        assert table[change.score, change.opponent] == change.before
        table[change.score, change.opponent] = change.after
        assert mean(table) - found.before == pytest.approx(change.gain, abs=1e-12)
    gains = [change.gain for change in found.changes]
    assert gains == sorted(gains, reverse=True)


@pytest.mark.parametrize("rules", GAMES, ids=["open", "hidden"])
def test_an_improved_table_wins_more_by_as_many_cells_as_allowed(rules: dict[str, Any]) -> None:
    game = hogeq.Game(rules)
    start = np.full((12, 12), 1)
    rival = game.strategy("always_roll:2")
    few, all_cells = game.improve(start, rival, cells=4), game.improve(start, rival)
    assert (few.array != start).sum() == 4
    rates = [game.win_rate(table, rival).win_rate for table in (start, few, all_cells)]
    assert rates[0] < rates[1] < rates[2]
    best = game.diff(start, few, rival).changes
    every = [game.diff(start, np.full((12, 12), dice), rival) for dice in (0, 2, 3)]
    assert max(one.changes[0].gain for one in every) == best[0].gain
    if not game.engine.has_memory:
        assert rates[2] == pytest.approx(game.bound(rival), abs=1e-12)
