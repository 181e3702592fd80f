"""What changes of a table are worth, and tables made better."""

from typing import Any

import numpy as np
import pytest

import hogeq
from hogeq.analysis import difference
from hogeq.evaluation.counterfactual import counterfactual_values
from hogeq.evaluation.values import win_rate
from hogeq.model import graph_passes
from hogeq.model.game import compile_game
from hogeq.search import population
from hogeq.search.population import gains
from hogeq.search.results import WIN_RATES
from hogeq.strategies.arrays import one_hot
from hogeq.support.deadline import Deadline
from hogeq.trees.positions import of_rules
from tests.evaluation.players import RECURRING
from tests.evaluation.test_enclosures import Walk
from tests.own_rules import States
from tests.slow import fast_and_slow, mostly_slow

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


@pytest.mark.parametrize(("seconds", "num_steps"), [(10.0, 0), (150.0, 0), (300.0, 1), (1e6, 2)])
def test_changes_of_a_table_end_in_time_against_many(
    seconds: float, num_steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of 200 opponents takes a second of a step, and a tenth of one to be played."""
    game = hogeq.Game(GAMES[0])
    spent: list[float] = []  # seconds; threads append at once
    rate_of = population._win_rate_against_member

    def slow_values(*given: Any) -> Any:
        spent.append(1.0)
        return counterfactual_values(*given)

    def slow_rate(*given: Any) -> Any:
        spent.append(0.1)
        return rate_of(*given)

    monkeypatch.setattr(Deadline, "usual_clock", staticmethod(lambda: sum(spent)))
    monkeypatch.setattr(population, "counterfactual_values", slow_values)
    monkeypatch.setattr(population, "_win_rate_against_member", slow_rate)
    rivals = [np.full((12, 12), number % 4) for number in range(200)]
    table, *steps = game.improvements(np.full((12, 12), 1), rivals, seconds=seconds)
    assert sum(spent) <= 1.2 * seconds
    assert np.isnan(table.win_rates).all() == (seconds < 20.0)
    assert min(len(steps), 2) == num_steps


@pytest.mark.parametrize("most_dense", [256, 0], ids=["elimination", "iteration"])
@pytest.mark.parametrize("name", mostly_slow(RECURRING, *(set(RECURRING) - {"primes"})))
def test_a_change_of_a_cell_that_recurs_gains_what_it_gains_alone(
    name: str, most_dense: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph_passes, "MOST_DENSE", most_dense)
    game = compile_game(RECURRING[name])
    random, shape = np.random.default_rng(3), game.shape[:2]
    one, two = random.integers(0, game.num_actions, (2, *shape))
    rivals = [two, random.dirichlet(np.ones(game.num_actions), shape)]

    def mean(table: Any) -> float:
        rates = [win_rate(game, table, rival, endless_is_draw=True) for rival in rivals]
        return float(np.mean([rate.win_rate for rate in rates]))

    found = difference.diff(game, one, two, rivals)
    assert found.counts_visits
    countered = gains(game, one, two)
    for change in (*found.changes[:5], *found.changes[-5:]):
        cell = change.score, change.opponent
        changed = one.copy()
        changed[cell] = two[cell]
        assert mean(changed) - found.before == pytest.approx(change.gain, abs=1e-12)
        rates = [win_rate(game, table, two, endless_is_draw=True) for table in (one, changed)]
        lost = rates[0].win_rate - rates[1].win_rate
        assert lost == pytest.approx(countered.gains[cell], abs=1e-12)
    assert "times" in str(found.text("a", "b", "", ["rival"], WIN_RATES))


class Forgetful(Walk):
    """Random rules over few states, of which players tell apart pairs alone."""

    def knows(self, state: Any, player: int) -> Any:
        return player, state // 2


@pytest.mark.parametrize("games", fast_and_slow([15], [40]))
def test_a_change_of_a_row_that_is_met_again_gains_what_it_gains_alone(games: int) -> None:
    changes = above_one = 0
    for seed in range(games):
        try:
            game = hogeq.Game(of_rules(Forgetful(seed, endless=(-0.5, 0.0, 0.5)[seed % 3])))
        except ValueError:
            continue  # the game is over at the start
        rows, actions = game.strategy("uniform").policy.shape
        random = np.random.default_rng(seed)
        first, second, rival = random.dirichlet(np.ones(actions), (3, rows))
        second[::2] = one_hot(second[::2].argmax(axis=1), actions)
        found = game.diff(first, second, [rival, "uniform"])
        above_one += int(found.reach.max() > 1.0)
        for row in range(rows):
            changed = first.copy()
            changed[row] = second[row]
            means = [game.value(changed, one).mean for one in (rival, "uniform")]
            assert np.mean(means) - found.before == pytest.approx(found.gains[row], abs=1e-12)
            changes += 1
    assert changes > 1.25 * games
    assert above_one > games / 4


def test_where_nobody_decides_nothing_changes() -> None:
    stays_or_pays = States(
        {0: (hogeq.CHANCE, {0: 0, 1: 1, 2: 2})},
        {1: (1, -1), 2: (-3, 3)},
        {0: [(0, 0.2), (1, 0.4), (2, 0.4)]},
    )
    found = hogeq.Game(stays_or_pays).diff("uniform", "uniform", ["uniform"])
    assert (found.before, found.after, found.gains.size) == (0.0, 0.0, 0)
