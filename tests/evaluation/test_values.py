"""Win rates and values at full size: theorems, published figures, what is refused."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hogeq
from hogeq.analysis.turns import Situation, advance
from hogeq.baselines.registry import builtin
from hogeq.evaluation.counterfactual import counterfactual_values
from hogeq.evaluation.tablebase import UnreachedError, analyze, solve
from hogeq.evaluation.values import (
    belief,
    fold,
    hidden_action_values,
    mean_values,
    reach,
    values,
    win_rate,
)
from hogeq.model import graph_passes
from hogeq.model.game import HogEngine, compile_game
from hogeq.rules import EDITIONS, rules_from
from hogeq.rules.memory import Memory, all_memories, axes
from hogeq.rules.turn import play_turn
from hogeq.search.bounds import full_memory_bound
from hogeq.strategies.arrays import StrategyError
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


# --- every roll at a position ---------------------------------------------------------------------

GAME = compile_game(rules_from({"edition": "su20", "goal": 12, "max_dice": 3}))
PLAIN = compile_game(rules_from({"edition": "fa22", "goal": 12, "max_dice": 3}))
POLICY = np.random.default_rng(0).dirichlet(np.ones(4), (12, 12))
MATRIX = np.random.default_rng(1).integers(0, 4, (12, 12))


def test_optimal_play_from_a_known_memory() -> None:
    memory = GAME.memories[7]
    found = analyze(GAME, 3, 5, memory=memory)
    want = solve(GAME).roll_values(3, 5)[7]
    assert (found.source, found.memory) == ("given", memory)
    assert [roll.win_probability for roll in found.rolls] == want[
        [r.dice for r in found.rolls]
    ].tolist()
    assert found.rolls[0].win_probability == want.max()
    assert [roll.loss for roll in found.rolls] == sorted(roll.loss for roll in found.rolls)
    assert {roll.played for roll in found.rolls} == {None}


def test_memory_where_none_is_given() -> None:
    start = analyze(GAME, 0, 0)
    assert (start.source, start.memory) == ("start", Memory())
    average = analyze(GAME, 3, 5, POLICY)
    shares = belief(GAME, POLICY, None, 3, 5)
    assert shares is not None
    want = shares @ hidden_action_values(GAME, POLICY, None, [(3, 5)])[0]
    assert (average.source, average.memory) == ("belief", None)
    for roll in average.rolls:
        assert roll.win_probability == want[roll.dice]
        assert roll.played == POLICY[3, 5, roll.dice]


def test_optimal_play_after_a_past_that_makes_the_belief() -> None:
    found = analyze(GAME, 3, 5, past=POLICY)
    shares = belief(GAME, POLICY, None, 3, 5)
    assert shares is not None
    want = shares @ solve(GAME).roll_values(3, 5)
    assert (found.source, found.memory) == ("belief", None)
    assert {roll.dice: roll.win_probability for roll in found.rolls} == dict(enumerate(want))
    plain = analyze(PLAIN, 3, 5, past=MATRIX)  # nothing is hidden, whatever was played
    assert (plain.source, plain.memory) == ("start", Memory())
    assert plain.rolls == analyze(PLAIN, 3, 5).rolls


def test_a_position_where_play_never_comes() -> None:
    stay = np.zeros((12, 12), int)  # nobody rolls: some scores are jumped over
    never = np.argwhere(reach(GAME, stay).sum(axis=2) == 0.0)[0].tolist()
    own, other = never
    with pytest.raises(UnreachedError, match=f"never comes to {own} points"):
        analyze(GAME, own, other, stay)
    assert np.isnan(mean_values(GAME, stay)[tuple(never)])


def test_mean_values_are_averaged_over_the_belief() -> None:
    found = mean_values(GAME, POLICY, MATRIX)
    shares = belief(GAME, POLICY, MATRIX, 3, 5)
    assert shares is not None
    assert found[3, 5] == pytest.approx(shares @ values(GAME, POLICY, MATRIX)[3, 5], abs=1e-14)
    np.testing.assert_array_equal(mean_values(PLAIN, MATRIX), values(PLAIN, MATRIX)[:, :, 0])


@pytest.mark.parametrize(
    ("score", "opponent"), [(-1, 0), (0, -1), (6, 0), (0, 6), (1.0, 0), (True, 0)]
)
def test_scores_out_of_range_are_refused(score: Any, opponent: Any) -> None:
    game = compile_game(rules_from({"edition": "su20", "goal": 6, "max_dice": 2}))
    table = np.zeros((6, 6), np.int8)
    for ask in (
        lambda: analyze(game, score, opponent),
        lambda: analyze(game, score, opponent, table),
        lambda: belief(game, table, table, score, opponent),
        lambda: solve(game).roll_values(score, opponent),
    ):
        with pytest.raises(ValueError, match=r"(score|opponent): got .*; allowed: .* from 0 to 5"):
            ask()


@pytest.mark.parametrize("game", [GAME, PLAIN])
@pytest.mark.parametrize("past", [np.zeros((2, 2)), "x", np.full((12, 12, 4), 0.3)])
def test_the_past_is_checked_also_where_it_makes_no_belief(game: Any, past: Any) -> None:
    with pytest.raises(StrategyError, match="allowed"):
        analyze(game, 3, 3, past=past)


def test_a_memory_and_a_past_that_would_say_it_exclude_each_other() -> None:
    with pytest.raises(ValueError, match="past: allowed only without memory"):
        analyze(GAME, 3, 3, memory=Memory(), past=POLICY)


@pytest.mark.parametrize("memory", [Memory(turn=5), 5, Memory(own=99), Memory(state=-1)])
def test_a_memory_of_another_game_is_told_with_those_of_this_one(memory: Any) -> None:
    says = (
        r"^memory: got (Memory\(|5).*; allowed: .* turn 0, extra 0, own 0 to 6, opponent 0 to 6, "
    )
    with pytest.raises(ValueError, match=says):
        analyze(GAME, 3, 3, memory=memory)


# --- beliefs over the hidden memory ---------------------------------------------------------------


class Parity(hogeq.MemoryPart):
    """An extra turn for two dice after an odd number of them."""

    start = 0
    text = "were the dice rolled last odd?"

    def update(self, value: Any, dice: int, points: int, again: bool) -> Any:
        del value, points, again
        return dice % 2

    def effect(self, rules: Any, score: int, opponent: int, memory: Any, dice: int) -> Any:
        del rules, score, opponent
        return 0, memory == 1 and dice == 2


FOLDED: dict[str, dict[str, Any]] = {
    **{name: {"edition": name} for name in EDITIONS},
    "records and turns": {"feral_hogs": "points", "time_trot": True, "time_trot_period": 3},
    "a part": {"memory": "Parity", "extra_turn_sides": 8},
    "a part with turns": {"memory": "Parity", "time_trot": True, "time_trot_period": 3},
    "a part with extra turns": {"memory": "Parity", "time_trot": True, "time_trot_period": 1},
}


@pytest.mark.usefixtures("registries")
@pytest.mark.parametrize("name", FOLDED)
def test_folding_sums_over_what_has_no_axis(name: str) -> None:
    hogeq.rule_part("memory")(Parity)
    rules = hogeq.rules_from({"goal": 9, "max_dice": 2, **FOLDED[name]})
    memories = all_memories(rules)
    shares = np.random.default_rng(0).dirichlet(np.ones(len(memories)), (2, 3))
    folded = fold(rules, shares)
    assert folded.shape == (2, 3, *(len(axis.ticks) for axis in axes(rules)))
    want = np.zeros_like(folded)
    for index, memory in enumerate(memories):
        at = (memory.turn, memory.extra)
        if rules.feral_hogs != "none":
            at = (memory.own, memory.opponent)
        elif rules.memory != "none":
            at = (memory.state, memory.turn if "with turns" in name else memory.extra)
        want[..., *at] += shares[..., index]
    assert folded == pytest.approx(want, abs=1e-15)
    np.testing.assert_array_equal(fold(rules, shares[1, 2]), folded[1, 2])


@pytest.mark.parametrize("start", [(0, 0), (1, 0)])
def test_a_win_rate_of_games_that_go_on_for_long_is_right_or_refused(
    monkeypatch: pytest.MonkeyPatch, start: tuple[int, int]
) -> None:
    """An iteration of 100,000 rounds is not near the end if a turn ends with chance 1e-6."""
    monkeypatch.setattr(graph_passes, "MOST_DENSE", 0)  # by iteration, as large blocks are
    game = compile_game(rules_from({"goal": 2, "max_dice": 3, "sides": 2, "zero_dice": [0, 0]}))

    def rarely(chance: float) -> np.ndarray:
        """Roll three coins now and then, otherwise none, which leaves all as it is."""
        policy = np.zeros(game.shape)
        policy[..., [0, 3]] = 1.0 - chance, chance
        return policy

    small, smaller = rarely(1e-5), rarely(1e-7)
    with pytest.raises(ValueError, match="goes on for too long to be valued; allowed: strategies"):
        win_rate(game, small, smaller, start=start)
    with pytest.raises(ValueError, match="goes on for too long"):
        win_rate(game, small, smaller, endless_is_draw=True, start=start)
    never = np.zeros((2, 2), int)
    # Bounds from both sides meet, though an iteration ends far from both.
    assert win_rate(game, small, never, endless_is_draw=True, start=start)[0] == 1.0
    assert win_rate(game, never, never, endless_is_draw=True, start=start)[0] == 0.5
    monkeypatch.undo()
    by_elimination = rules_from(
        {"goal": 2, "max_dice": 3, "sides": 2, "zero_dice": [0, 0], "name": "same"}
    )
    often, seldom = rarely(0.5), rarely(1e-3)
    exact = win_rate(compile_game(by_elimination), often, seldom, start=start)
    assert win_rate(game, often, seldom, start=start) == pytest.approx(exact, abs=1e-11)
