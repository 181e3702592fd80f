"""Win rates and values at full size: theorems, published figures, what is refused."""

import json
from pathlib import Path

import numpy as np
import pytest

from hogeq.analysis.turns import Situation, advance
from hogeq.baselines.registry import builtin
from hogeq.evaluation.counterfactual import counterfactual_values
from hogeq.evaluation.values import hidden_action_values, reach, win_rate
from hogeq.model.game import HogEngine, compile_game
from hogeq.rules import EDITIONS, rules_from
from hogeq.rules.memory import Memory
from hogeq.rules.turn import play_turn
from hogeq.search.bounds import full_memory_bound
from hogeq.strategies.conversion import policy_of
from tests.evaluation.players import EXACT, random_policy
from tests.slow import mostly_slow
from tests.twin import State

# --- theorems, at full size -----------------------------------------------------------------------


FULL_SIZE = ["su20", "hw13", "su21", "fa15", "fa19"]


@pytest.fixture(params=mostly_slow(FULL_SIZE, "su20"))
def full(request: pytest.FixtureRequest) -> HogEngine:
    return compile_game(EDITIONS[request.param])


def test_win_rates_of_two_sum_to_one(full: HogEngine) -> None:
    random = np.random.default_rng(7)
    policy = random_policy(random, full.shape, "sparse")
    matrix = random.integers(0, full.num_actions, full.shape[:2])
    there, back = win_rate(full, policy, matrix), win_rate(full, matrix, policy)
    assert there.win_rate + back.win_rate == pytest.approx(1.0, abs=EXACT)
    assert there.first + back.second == pytest.approx(1.0, abs=EXACT)
    assert there.win_rate == pytest.approx((there.first + there.second) / 2, abs=EXACT)
    assert there.first != there.second
    assert win_rate(full, policy, policy).win_rate == pytest.approx(0.5, abs=EXACT)


def test_the_win_rate_is_linear_in_each_row_and_reach_gives_its_slope(full: HogEngine) -> None:
    """Adjointness: what the forward and the backward pass say together is an exact gradient."""
    random = np.random.default_rng(9)
    a, b = (random_policy(random, full.shape, "mixed") for _ in range(2))
    found = counterfactual_values(full.workspace(2), np.stack([a, b]), "reach")
    before = win_rate(full, a, b).win_rate
    cells = [(0, 0), (6, 0), (13, 22), (40, 37), (99, 99)]
    reached, values = reach(full, a, b), hidden_action_values(full, a, b, cells)
    for cell, rolls in zip(cells, values, strict=True):
        changed = a.copy()
        changed[cell] = random.dirichlet(np.ones(full.num_actions))
        rise = float(found.values[cell] @ (changed[cell] - a[cell]))
        after = win_rate(full, changed, b).win_rate
        assert after - before == pytest.approx(rise, abs=EXACT)
        assert found.values[cell] == pytest.approx(reached[cell] @ rolls, abs=EXACT)
    np.testing.assert_allclose(reached.sum(axis=2), found.infoset_reach, rtol=0, atol=EXACT)


@pytest.mark.parametrize("name", mostly_slow(EDITIONS, "fa22", "su20", "su21", "sp13"))
def test_without_dice_the_game_is_a_walk(name: str) -> None:
    """Who always rolls 0 dice meets chance nowhere: one path for each seat, at full size."""
    rules = EDITIONS[name]
    game = compile_game(rules)
    zero = builtin("always_roll:0", game)
    visits: dict[State, int] = {}
    state, winner, mover = State(0, 0), None, 0
    while winner is None:
        visits[state] = visits.get(state, 0) + 1
        turn = play_turn(rules, state.own, state.opponent, Memory(*state.memory), 0, [])
        mine, theirs, _, ends = turn.landing
        if ends is not None:
            winner = mover if ends == 0 else 1 - mover
        state = State(mine, theirs, turn.memory) if turn.again else State(theirs, mine, turn.memory)
        mover = mover if turn.again else 1 - mover
    reached = reach(game, zero)
    assert win_rate(game, zero, zero, endless_is_draw=True).first == 1 - winner
    # Each turn of the walk belongs to a given player in one of the two seatings.
    assert reached.sum() == pytest.approx(sum(visits.values()) / 2, abs=1e-9)
    for (own, opponent, memory), count in visits.items():
        at = game.memories.index(memory)
        assert reached[own, opponent, at] == pytest.approx(count / 2, abs=EXACT)


# --- published figures ----------------------------------------------------------------------------


OFFICIAL = json.loads((Path(__file__).parents[1] / "data" / "su20_always_roll.json").read_text())


def test_the_file_of_official_figures() -> None:
    assert len({(pair["a"], pair["b"]) for pair in OFFICIAL["pairs"]}) == 15
    assert "cs61a-apps" in OFFICIAL["source"]


@pytest.mark.parametrize("pair", OFFICIAL["pairs"], ids=lambda pair: f"{pair['a']}-{pair['b']}")
def test_win_rates_of_the_official_server(pair: dict[str, float]) -> None:
    game = compile_game(EDITIONS["su20"])
    a, b = (builtin(f"always_roll:{pair[who]}", game) for who in "ab")
    assert win_rate(game, a, b).win_rate == pytest.approx(pair["win_rate"], abs=EXACT)
    assert win_rate(game, b, a).win_rate == pytest.approx(1.0 - pair["win_rate"], abs=EXACT)


def test_best_response_to_always_five_in_hog_wild() -> None:
    game = compile_game(EDITIONS["hw13"])
    found = full_memory_bound(game, builtin("always_roll:5", game))
    assert found == pytest.approx(0.8079894352, abs=1e-9)


# --- what is refused ------------------------------------------------------------------------------


def test_strategies_are_left_as_they_were() -> None:
    game = compile_game(rules_from({"edition": "su20", "goal": 7, "max_dice": 2}))
    policy = random_policy(np.random.default_rng(0), game.shape, "mixed")
    kept = policy.copy()
    policy_of(game, policy)[:] = 0.0
    win_rate(game, policy, policy)
    np.testing.assert_array_equal(policy, kept)


@pytest.mark.parametrize("edition", ["fa25", "su20", "su21"])
def test_win_rates_from_scores_are_those_of_games_played_out(edition: str) -> None:
    """Every way the dice fall is followed, turn by turn, by the rules alone."""
    rules = rules_from({"edition": edition, "goal": 9, "max_dice": 2, "sides": 3})
    random = np.random.default_rng(5)
    tables = random.integers(0, 3, (2, 9, 9))
    known: dict[tuple[int, tuple[int, int], Memory, int], float] = {}

    def won(here: Situation) -> float:
        """Probability that player 0 wins."""
        if here.winner is not None:
            return float(here.winner == 0)
        key = (here.mover, here.scores, here.memory, here.turns % 8)
        if key not in known:
            dice = int(tables[here.mover][here.view])
            sides = (here.memory.extra and rules.extra_turn_sides) or rules.sides
            ways = list(np.ndindex((sides,) * dice))
            after = [advance(rules, here, tuple(int(f) + 1 for f in way)).after for way in ways]
            known[key] = sum(map(won, after)) / len(after)
        return known[key]

    game = compile_game(rules)
    for start in ((0, 0), (4, 1), (0, 7)):
        first = won(Situation(start, 0, Memory(), 0, None))
        second = won(Situation((start[1], start[0]), 1, Memory(), 0, None))
        rate = win_rate(game, *tables, start=start)
        assert (rate.first, rate.second) == pytest.approx((first, second), abs=1e-12)
        assert rate.win_rate == pytest.approx((first + second) / 2, abs=1e-12)
