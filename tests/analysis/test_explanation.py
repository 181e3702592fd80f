import re
from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest

from hogeq import Hog
from hogeq.analysis import explanation
from hogeq.analysis.explanation import Assessment, assess
from hogeq.baselines import always_roll, bacon, optimal
from hogeq.baselines.opponents import opponents, strongest
from hogeq.baselines.registry import builtin
from hogeq.contest.assessment import outcomes
from hogeq.evaluation.values import values, win_rate
from hogeq.model.game import HogEngine, compile_game
from hogeq.rules import EDITIONS, rules_from
from hogeq.rules.memory import Memory
from hogeq.rules.turn import TurnTable
from hogeq.search.attack import attack
from hogeq.search.bounds import full_memory_bound
from hogeq.search.results import Budget
from hogeq.strategies.conversion import strategy_of


def game(edition: str, **more: object) -> HogEngine:
    return compile_game(rules_from({"edition": edition, "goal": 14, "max_dice": 3, **more}))


@pytest.mark.slow
@pytest.mark.parametrize("edition", ["fa22", "fa15"])  # fa15: positions recur
def test_costs_sum_to_what_is_lost_against_a_best_response(edition: str) -> None:
    of = game(edition)
    matrix = np.random.default_rng(0).integers(1, of.num_actions, (14, 14)).astype(np.int8)
    for name in ("optimal", "always_roll:2"):
        found = assess(of, matrix, builtin(name, of).array)
        assert found.best_response >= 0.5 - 1e-12
        assert (found.bound, found.effort) == (found.best_response, None)
        assert found.costs.sum() == pytest.approx(found.best_response - found.win_rate, abs=1e-12)
        assert found.costs.min() >= 0.0
        losses = [one.loss for one in found.losses]
        assert losses[0] == found.costs.max()
        assert losses == sorted(losses, reverse=True)
        for one in found.losses:
            assert matrix[one.score, one.opponent] == one.roll != one.best


def written(of: HogEngine, matrix: np.ndarray, against: np.ndarray) -> Assessment:
    found = assess(of, matrix, against)
    whole = found.best_response - found.win_rate
    if not of.positions_recur:
        assert found.endless == 0.0
        assert found.costs.sum() == pytest.approx(whole, abs=1e-12)
    for groups in (found.loss, found.loss_by_phase, found.loss_by_lead):
        assert sum(one.loss for one in groups) == pytest.approx(whole, abs=1e-12)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("edition", EDITIONS)
def test_groups_sum_to_the_loss(edition: str) -> None:
    of = game(edition, goal=9)
    random = np.random.default_rng(7)
    least, shape = min(of.choices), (9, 9)
    against = random.integers(1, of.num_actions, shape).astype(np.int8)
    matrix = random.integers(0, of.num_actions + least, shape).astype(np.int8)
    written(of, matrix, against)
    written(of, random.dirichlet(np.ones(of.num_actions), shape), against)


@pytest.mark.parametrize("edition", ["fa25", "su20"])
def test_groups_are_those_of_their_positions(edition: str) -> None:
    of = game(edition)
    random = np.random.default_rng(3)
    matrix = random.integers(0, of.num_actions, (14, 14)).astype(np.int8)
    found = written(of, matrix, always_roll(of, 2))
    mistakes, phases, leads = (defaultdict[str, float](float) for _ in range(3))
    for (own, other), cost in np.ndenumerate(found.costs):
        roll, best = int(found.rolls[own, other]), int(found.best[own, other])
        begin = max(one for one in (0, 4, 8, 11) if one <= own)
        end = {0: 3, 4: 7, 8: 10, 11: 13}[begin]
        phases[f"own score {begin} to {end}"] += cost
        leads["ahead" if own > other else "behind" if own < other else "level"] += cost
        kind = "too many dice" if roll > best > 0 else "too few dice" if 0 < roll < best else ""
        none = "no dice missed" if best == 0 else "no dice where rolling is better"
        mistakes["better than the response" if cost < 0 else kind or none] += cost
    met = {kind: cost for kind, cost in phases.items() if cost}
    assert met == pytest.approx({one.kind: one.loss for one in found.loss_by_phase})
    assert dict(leads) == pytest.approx({one.kind: one.loss for one in found.loss_by_lead})
    forgotten = sum(one.loss for one in found.loss if one.kind.endswith(" forgotten"))
    assert forgotten > 0.0
    less = {one.kind: one.loss for one in found.loss if not one.kind.endswith(" forgotten")}
    assert all(less[kind] <= mistakes[kind] + 1e-12 for kind in less)
    assert sum(mistakes.values()) - sum(less.values()) == pytest.approx(forgotten)


def test_a_forgotten_rule_is_no_loss_without_it() -> None:
    of, without = game("fa25"), game("fa25", landing="none")
    forgets = optimal(without)
    kinds = {one.kind: one.loss for one in written(of, forgets, optimal(of)).loss}
    assert max(kinds, key=lambda kind: kinds[kind]) == "Sus Fuss forgotten"
    found = written(without, always_roll(without, 1), optimal(without))
    assert not [one for one in found.loss if one.kind.endswith(" forgotten")]


def test_a_rule_is_forgotten_where_the_roll_is_as_good_without_it() -> None:
    of = game("fa25")
    best = optimal(of)
    after, turns = values(of, best, best)[..., 0], TurnTable(replace(of.rules, landing="none"))

    def worth(own: int, other: int, dice: int) -> float:
        ways = turns.outcomes(own, other, Memory(), dice)
        lands = [(float(way.probability), way.landing) for way in ways]
        return sum(
            chance * (to.winner == 0 if to.winner is not None else 1 - after[to.opponent, to.score])
            for chance, to in lands
        )

    for dice in (1, 3):
        found = written(of, always_roll(of, dice), best)
        lost = [
            cost
            for (own, other), cost in np.ndenumerate(found.costs)
            if worth(own, other, dice) >= worth(own, other, int(found.best[own, other])) - 1e-12
        ]
        kinds = {one.kind: one.loss for one in found.loss}
        assert kinds["Sus Fuss forgotten"] == pytest.approx(sum(lost), abs=1e-12)
        assert len(kinds) > 1


def test_a_simple_change_is_found_and_measured() -> None:
    of = game("fa25")
    best = optimal(of)
    spoiled = best.copy()
    spoiled[9:][best[9:] > 0] = 1
    found = written(of, spoiled, best)
    first = found.rule_changes[0]
    words = re.fullmatch(r"(\d) dice instead of 1 die from (\d+) points on", first.change)
    assert words is not None, first.change
    changed, begin = spoiled.copy(), int(words[2])
    changed[begin:][spoiled[begin:] == 1] = int(words[1])
    gain = win_rate(of, changed, best).win_rate - found.win_rate
    assert first.gain == pytest.approx(gain, abs=1e-12)
    assert [one.gain for one in found.rule_changes] == sorted(
        (one.gain for one in found.rule_changes), reverse=True
    )
    assert assess(of, best, best).rule_changes == []


@pytest.mark.parametrize("cutoff", [3, 15])
def test_a_threshold_is_advised_in_the_terms_of_a_student(cutoff: int) -> None:
    of = compile_game(rules_from({"edition": "fa25", "goal": 30, "max_dice": 6, "landing": "none"}))
    best = optimal(of)
    rates = {n: win_rate(of, bacon(of, n, 5), best).win_rate for n in (1, *range(3, 28, 3))}
    changes = assess(of, bacon(of, cutoff, 5), best).rule_changes
    words = [
        (re.fullmatch(rf"no dice from (\d+) points on, not from {cutoff}", one.change), one.gain)
        for one in changes
    ]
    ((said, gain),) = [(int(match[1]), gain) for match, gain in words if match]
    assert gain == pytest.approx(rates[said] - rates[cutoff], abs=1e-12)
    assert rates[said] == max(rates.values())


def test_the_best_rolls_lose_nothing() -> None:
    of = game("fa22")
    best = optimal(of)
    found = assess(of, best, best)
    assert found.win_rate == found.best_response == pytest.approx(0.5, abs=1e-12)
    assert (found.losses, found.changes) == ((), ())
    assert found.changed == found.win_rate
    assert np.array_equal(found.best, best)


@pytest.mark.parametrize("edition", ["fa22", "su20", "su21"])
def test_no_change_of_one_cell_gains_more_than_those_listed(edition: str) -> None:
    of = game(edition, goal=8)
    matrix = np.full((8, 8), 1, np.int8)
    against = builtin("always_roll:2", of).array
    found = assess(of, matrix, against)
    before = win_rate(of, matrix, against).win_rate
    every = []
    for own in range(8):
        for other in range(8):
            gains = []
            for roll in range(of.num_actions):
                changed = matrix.copy()
                changed[own, other] = roll
                gains.append(win_rate(of, changed, against).win_rate - before)
            every.append(max(gains))
    assert [one.gain for one in found.changes] == pytest.approx(
        sorted(every, reverse=True)[:3], abs=1e-12
    )
    changed = matrix.copy()
    for one in found.changes:
        changed[one.score, one.opponent] = one.instead
    assert found.changed == win_rate(of, changed, against).win_rate


@pytest.mark.parametrize("edition", ["su20", "su21"])
def test_with_memory_the_best_rolls_are_best_against_the_response(edition: str) -> None:
    of = game(edition, goal=8)
    random = np.random.default_rng(5)
    matrix = random.integers(0, of.num_actions, (8, 8)).astype(np.int8)
    against = random.dirichlet(np.ones(of.num_actions), (8, 8))
    found = assess(of, matrix, against)
    assert found.effort == Budget(starts=1, kicks=0)
    full_memory = full_memory_bound(of, against)
    assert full_memory < found.bound < full_memory + 1e-8  # rounding included
    assert found.win_rate < found.best_response <= found.bound + 1e-12
    worse = found.costs > 1e-12
    assert worse.sum() > 10
    assert (found.best != matrix)[worse].all()
    for one in found.losses:
        assert (one.roll, one.best) == (matrix[one.score, one.opponent], found.best[one[:2]])
        assert one.roll != one.best


def test_a_matrix_that_beats_the_search_is_the_best_found(monkeypatch: pytest.MonkeyPatch) -> None:
    of = game("su20", goal=8)
    best, against = always_roll(of, 2), always_roll(of, 1)
    poor = replace(attack(of, best, Budget(1, 0, kicks=0)), matrix=always_roll(of, 0), win_rate=0.0)
    monkeypatch.setattr(explanation, "attack", lambda *_: poor)
    found = assess(of, best, against)
    assert found.best_response == found.win_rate
    assert found.costs.min() >= 0.0


@pytest.mark.slow
def test_what_never_ends_counts_half() -> None:
    nothing = [0] * 6  # no dice score nothing, and are rolled for ever
    of = compile_game(rules_from({"goal": 6, "max_dice": 2, "zero_dice": nothing}))
    none = always_roll(of, 0)
    itself = strategy_of(of, none).named("itself")
    assert set(outcomes(Hog(of.rules), itself, {"itself": itself})[0]) == {"itself", None}
    found = assess(of, none, none)
    assert found.win_rate == pytest.approx(0.5, abs=1e-14)
    assert found.best_response > 0.9
    # Turns that wait cost nothing, since another could win; all of them together cost a half.
    assert found.losses == ()
    assert found.costs.max() == pytest.approx(0.0, abs=1e-14)
    assert found.endless == pytest.approx(found.best_response - 0.5, abs=1e-12)
    ends = assess(of, always_roll(of, 2), none)
    assert ends.win_rate > 0.9
    assert ends.endless == 0.0


def test_opponents_and_references_are_those_that_the_rules_allow() -> None:
    names = [*opponents(game("fa22"))]
    assert names[:5] == [*(f"always_roll:{dice}" for dice in range(4)), "optimal"]
    assert "champion" not in names
    assert "ignore_memory" not in names  # it is the same table as optimal
    assert strongest(game("fa22")) == "optimal"
    assert strongest(game("su20")) == "ignore_memory"  # no champion is shipped for goal 14
    assert strongest(compile_game(rules_from("su20"))) == "champion"
