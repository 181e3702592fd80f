"""Certificates of trees and of own games: no bound below the truth, by the theorem's own parts."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hogeq
from hogeq.games.game import Game
from hogeq.graph.graph import NATURE
from hogeq.model.game import compile_game
from hogeq.model.priced import Problem
from hogeq.search.certificate import certify
from hogeq.search.lifted_bound import LiftedBound, Revision, Step, replay
from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Floats
from hogeq.trees.positions import of_rules
from tests.refusals import refuses
from tests.search.games import best_response, ticks
from tests.slow import mostly_slow
from tests.trees.own_hog import OwnHog
from tests.trees.test_example_games import example
from tests.trees.test_flat import DRIVER, read
from tests.trees.test_random_trees import drawn

SHORT = {"goal": 10, "max_dice": 3}


class ShortHog(OwnHog):
    goal: int = SHORT["goal"]
    max_dice: int = SHORT["max_dice"]


def random_strategy(game: Game, seed: int, components: int = 1) -> Strategy:
    rows: Any = game._rows
    chance = np.random.default_rng(seed)
    policies = chance.dirichlet(np.full(rows.num_actions, 0.5), (components, rows.num_rows))
    policies = policies * rows.legal + 1e-9 * rows.legal
    policies /= policies.sum(axis=2, keepdims=True)
    if components == 1:
        return game.strategy(policies[0])
    return game.strategy(hogeq.Mixture(chance.dirichlet(np.ones(components)), policies))


def random_games() -> list[Game]:
    return [hogeq.Game(drawn(seed)[2].tree) for seed in range(12)]


def random_steps(found: LiftedBound, seed: int, number: int) -> list[Step | Revision]:
    chance, steps = np.random.default_rng(seed), list[Step | Revision]()
    rows, actions = found.shape
    some = chance.integers(rows, size=4)
    while len(steps) < number:
        row = int(chance.choice(some) if chance.random() < 0.5 else chance.integers(rows))
        if found.is_met_once(row):
            share, lent, weight, cover = chance.random(4)
            steps.append(Step(row, int(chance.integers(actions)), share, lent, weight, 4.0 * cover))
            if chance.random() < 0.4:
                steps.append(Revision(row, *chance.random(2)))
    return steps


# --- the theorem, slowly --------------------------------------------------------------------------


def best(problem: Problem, prices: Floats, pays: float, fixed: tuple[int, int] | None) -> float:
    """Give the most that a player of every state gets: `pays` times payoffs, less prices (C, H, K).

    In the row `fixed` only the action there is taken.
    """
    graph = problem.graph
    values = np.zeros((graph.positions, graph.memories))
    for position in range(graph.positions - 1, -1, -1):
        mover, row = graph.player[position], graph.row[position]
        for memory in range(graph.memories):
            worth = []
            for way in graph.way[graph.situation[position], memory]:
                total = 0.0
                for x in range(graph.first[way], graph.first[way + 1]) if way >= 0 else ():
                    end = graph.place[position] + graph.end[x]
                    there = graph.next[end]
                    after = graph.following[graph.label[end], graph.lane[memory]]
                    paid = graph.payoff[-1 - there] if there < 0 else 0.0
                    paid = pays * (paid if problem.seat == 0 else graph.total - paid)
                    total += graph.chance[x] * (values[there, after] if there >= 0 else paid)
                if way >= 0 or mover != problem.seat:
                    worth.append(total)
            if mover == problem.seat:
                asked = np.array(worth) - prices[position, memory, : len(worth)]
                one = fixed is not None and fixed[0] == row
                values[position, memory] = asked[fixed[1]] if fixed and one else asked.max()
            else:
                shares = graph.fixed[row] if mover == NATURE else problem.policy[row]
                values[position, memory] = shares @ np.array(worth)
    position, memory = graph.start.T
    return float(graph.start_chance @ values[position, memory])


def check_parts(problems: list[Problem], steps: list[Step | Revision]) -> None:
    """Compare what steps lead to with the theorem."""
    found = LiftedBound(problems)
    responder, charged = found._responder, dict[int, list[Floats]]()

    def tables() -> list[Floats]:
        every = []
        for part in responder.responders:
            passes = part.passes
            table = np.zeros((passes.graph.positions, *part.arrays.prices.shape[1:]))
            table[passes.positions] = part.arrays.prices * found.unit
            every.append(table)
        return every

    before = tables()
    for step in steps:
        found.take(step)
        now = tables()
        old = charged.get(step.row, [0.0 * one for one in now])
        charged[step.row] = [x + y - z for x, y, z in zip(old, now, before, strict=True)]
        before = now
    for part in responder.responders:  # what was kept between passes must not matter
        part.arrays.values[:] = part.arrays.way_values[:] = -1.0
    bound = found.bound()
    value = sum(
        one.chance * (best(one, paid, 1.0, None) + one.payoff_offset)
        for one, paid in zip(problems, before, strict=True)
    )
    assert responder.value * found.unit + found._payoff_offset == pytest.approx(value, abs=1e-11)
    for row, collected in charged.items():
        legal = np.logical_or.reduce(
            [one.graph.legal[row] for one in problems if row < one.graph.rows]
        )
        for action in np.flatnonzero(legal).tolist():
            most = sum(
                one.chance * best(one, -table, 0.0, (row, action))
                for one, table in zip(problems, collected, strict=True)
            )
            assert found._action_maxima[row, action] * found.unit >= most - 1e-11
        value += float(found._action_maxima[row].max()) * found.unit
    assert value <= bound + 1e-12


@pytest.mark.parametrize("components", [1, 2])
def test_a_bound_has_the_parts_of_the_theorem(components: int) -> None:
    few = [hogeq.Game("liars_dice(dice_sides=2)", forget="last:1"), *random_games()[:6]]
    for number, game in enumerate(few):
        problems = game._problems(random_strategy(game, number, components))
        steps = random_steps(LiftedBound(problems), number, 8)
        check_parts([*problems], steps)


def test_a_bound_of_positions_has_the_parts_of_the_theorem() -> None:
    class Tiny(OwnHog):
        goal: int = 3
        max_dice: int = 1

    game = hogeq.Game(of_rules(Tiny()))
    for components in (1, 2):
        problems = game._problems(random_strategy(game, components, components))
        check_parts([*problems], random_steps(LiftedBound(problems), components, 6))


# --- the truth ------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", mostly_slow(range(12), 0, 1, 2))
def test_no_certificate_is_below_a_best_response(seed: int) -> None:
    game = hogeq.Game(drawn(seed)[2].tree)
    for components in (1, 2):
        strategy = random_strategy(game, seed, components)
        best_payoff = game.attack(strategy).value
        problems = game._problems(strategy)
        found = LiftedBound(problems)
        assert found.full_memory == pytest.approx(game.bound(strategy), abs=1e-12)
        for step in random_steps(found, seed, 20):
            found.take(step)
            assert found.bound() >= best_payoff
        assert certify(problems, 60.0, ticks()).bound() >= best_payoff


@pytest.mark.slow
@pytest.mark.parametrize("missed", [-9e-10, 9e-10])
def test_rows_that_miss_1_are_made_good(missed: float) -> None:
    for game in random_games():
        rows = (1.0 + missed) * random_strategy(game, 3).policy
        best_payoff = game.attack(game.strategy(rows)).value
        assert LiftedBound(game._problems(rows)).bound() > best_payoff


@pytest.mark.slow
def test_it_closes_most_of_the_gap_of_a_tree_whose_players_forget() -> None:
    game = hogeq.Game("leduc_poker", forget="last:1")
    strategy = random_strategy(game, 0)
    found = game.certify(strategy, 4.0, "leduc_poker", "last:1")
    exact = game.attack(strategy)
    assert exact.value <= found.bound < found.full_memory
    assert found.full_memory - found.bound > 0.8 * (found.full_memory - exact.value)
    assert found.full_memory == pytest.approx(exact.full_memory, abs=1e-12)
    again = game.check(found)
    assert (again.bound, again.full_memory, again.steps) == (*found[2:4], found.steps)


@pytest.mark.slow
def test_own_hog_has_the_bounds_of_hog() -> None:
    """A responder of it has a table for each seat, so it wins no less."""
    own, hog = hogeq.Game(of_rules(ShortHog())), hogeq.Game({"edition": "su20"} | SHORT)
    uniform = np.full((10, 10, 4), 0.25)
    problems = own._problems("uniform")
    found = certify(problems, 400.0, ticks())
    best_rate = best_response(compile_game(hog.rules), uniform).win_rate
    assert found.full_memory == pytest.approx(hog.bound(uniform), abs=1e-12)
    assert best_rate <= found.bound() < found.full_memory - 1e-4
    assert replay(problems, found.steps).bound() == found.bound()


# --- what has no meaning --------------------------------------------------------------------------


def test_a_row_that_a_play_can_meet_twice_claims_nothing(tmp_path: Path) -> None:
    game = hogeq.Game(read(tmp_path, DRIVER))
    problems = game._problems("uniform")
    found = certify(problems, 4.0, ticks())
    assert not found.steps
    assert found.bound() >= game.attack("uniform").value
    refuses(lambda: found.take(Step(0, 0, 0.5, 0.5, 0.5, 1.0)), "row 0: can be met twice in a play")


def test_positions_that_recur_have_no_certificate() -> None:
    game = hogeq.Game(f"{example('pig')}(goal=4)")
    with pytest.raises(ValueError, match="positions recur; allowed: games in which none does"):
        game.certify("uniform", 1.0, "pig")


def test_a_certificate_is_of_the_game_that_it_names() -> None:
    game = hogeq.Game("kuhn_poker")
    found = game.certify("uniform", 0.1, "kuhn_poker")
    refuses(lambda: hogeq.Game("leduc_poker").check(found), r"game\.digest: got")
    with pytest.raises(ValueError, match="game: got 'su20'; allowed: games other than Hog"):
        hogeq.Game("su20").check(found)


def test_a_certificate_of_hog_is_checked_by_its_own_rules_alone() -> None:
    """Tables of two editions have one shape: a bound for one says nothing about the other."""
    small = {"goal": 6, "max_dice": 2}
    game = hogeq.Game({"edition": "su20", **small})
    proof = game.certify("always_roll:1", 0.1)
    assert game.check(proof).bound == proof.bound
    renamed = hogeq.Game({"edition": "su20", "name": "ours", **small})
    assert renamed.check(proof).bound == proof.bound
    for other in ({"edition": "fa19", **small}, {"edition": "su20", "goal": 6, "max_dice": 3}):
        with pytest.raises(
            ValueError, match=r"^certificate: got 'su20.*; allowed: one of .*, by the same rules"
        ):
            hogeq.Game(other).check(proof)


def test_a_bound_that_is_a_little_below_the_best_response_is_refused() -> None:
    """Processors may add up differently, but not by more than the margin for rounding."""
    game = hogeq.Game("kuhn_poker")
    proof = game.certify("uniform", 0.1)
    game.check(proof).require_same(proof, "proof.json")
    best = game.attack("uniform").value
    assert best <= proof.bound < best + 1e-10
    false = proof._replace(bound=best - 1e-10)
    refuses(lambda: game.check(false).require_same(false, "false.json"), "its steps prove")
