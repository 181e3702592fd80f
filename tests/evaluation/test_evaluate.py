"""Exact evaluation: against the slow twin, against theorems, and against published figures."""

import json
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from hogeq.baselines.registry import builtin
from hogeq.evaluation.counterfactual import RegretWeight, action_values, counterfactual_values
from hogeq.evaluation.hidden import belief, hidden_action_values, reach, values
from hogeq.evaluation.win_rates import mover_value, win_rate
from hogeq.model.game import Game, compile_game
from hogeq.model.workspace import Role
from hogeq.response.bounds import full_memory_bound
from hogeq.rules import EDITIONS, Rules, rules_from
from hogeq.rules.memory import Memory, memory_sizes
from hogeq.rules.parts import FERAL_HOGS, MORE_BOAR, SWAPS, ZERO_DICE
from hogeq.rules.turn import dice_sides, play_turn
from hogeq.strategies.arrays import one_hot
from hogeq.strategies.policies import policy_of
from tests.naive import Match, Play, State, arrays, counterfactual

Floats = NDArray[np.float64]

EXACT = 1e-12

# Every edition at sizes that the twin can manage, several of them past a score of 10 so that digits
# matter, with both widths to which memory is padded.
SMALL: dict[str, dict[str, Any]] = {
    "su20": {"edition": "su20", "goal": 11, "max_dice": 3},
    "su20, many dice": {"edition": "su20", "goal": 5, "max_dice": 6},
    "hw13": {"edition": "hw13", "goal": 20, "max_dice": 3},
    "su21": {"edition": "su21", "goal": 12, "max_dice": 3},
    "sp21 as su21": {"edition": "su21", "goal": 14, "time_trot": False, "extra_turn_sides": 6},
    "fa22": {"edition": "fa22", "goal": 20, "max_dice": 3},
    "fa15": {"edition": "fa15", "goal": 20, "max_dice": 3},
    "sp20": {"edition": "sp20", "goal": 9, "max_dice": 4},
    "fa19": {"edition": "fa19", "goal": 11, "max_dice": 4},
    "fa18": {"edition": "fa18", "goal": 13, "max_dice": 3},
    "sp21": {"edition": "sp21", "goal": 16, "max_dice": 4},
}


def random_policy(random: np.random.Generator, shape: tuple[int, int, int], kind: str) -> Floats:
    """Make a policy that is mixed everywhere, mixed with many rolls left out, or pure."""
    policy = random.dirichlet(np.ones(shape[2]), shape[:2])
    if kind == "sparse":
        policy *= random.random(shape) < 0.5
        policy[policy.sum(axis=2) == 0.0, 0] = 1.0
        policy /= policy.sum(axis=2, keepdims=True)
    if kind == "pure":
        policy = one_hot(policy.argmax(axis=2), shape[2])
    return policy


class Case(NamedTuple):
    game: Game
    play: Play
    a: Floats
    b: Floats
    match: Match


@cache
def case(name: str) -> Case:
    game = compile_game(rules_from(SMALL[name]))
    random = np.random.default_rng(61)
    a, b = (random_policy(random, game.shape, kind) for kind in ("mixed", "sparse"))
    play = Play(game.rules)
    return Case(game, play, a, b, Match(play, a, b))


@pytest.fixture(params=SMALL)
def small(request: pytest.FixtureRequest) -> Case:
    return case(request.param)


# --- against the slow twin ------------------------------------------------------------------------


def test_small_games_cover_every_edition() -> None:
    assert {spec["edition"] for spec in SMALL.values()} == set(EDITIONS)


def test_the_twin_lists_what_turns_do() -> None:
    """The twin's own ground: every throw of the dice, played out one by one."""
    rules = rules_from({"edition": "su20", "goal": 12, "max_dice": 3})
    play = Play(rules)
    state = State(5, 7, Memory(own=1, opponent=4))
    for dice in (0, 1, 3):
        sides = dice_sides(rules, *state)
        throws = [
            play_turn(
                rules, *state, dice, [1 + number // sides**die % sides for die in range(dice)]
            )
            for number in range(sides**dice)
        ]
        for branch in play.branches(state, dice):
            same = [
                turn
                for turn in throws
                if turn.points == branch.points
                and turn.landing.winner == branch.winner
                and turn.memory == branch.state.memory
            ]
            assert Fraction(len(same), len(throws)) == branch.chance
        assert sum(branch.chance for branch in play.branches(state, dice)) == 1


def test_win_rates(small: Case) -> None:
    found = win_rate(small.game, small.a, small.b)
    assert found == pytest.approx(small.match.win_rate(), abs=EXACT)


def test_values_at_every_hidden_state(small: Case) -> None:
    expected = arrays(small.play, lambda state: small.match.value(0, state))
    found = values(small.game, small.a, small.b)
    assert found.shape == (*small.game.shape[:2], small.game.memory_size)
    np.testing.assert_allclose(found, expected, rtol=0, atol=EXACT)


def test_action_values_at_every_hidden_state(small: Case) -> None:
    rolls = small.play.rolls()
    expected = arrays(
        small.play, lambda state: [small.match.action_value(0, state, dice) for dice in rolls]
    )
    found = hidden_action_values(small.game, small.a, small.b)
    assert found.shape == (small.game.goal**2, small.game.memory_size, small.game.num_actions)
    np.testing.assert_allclose(found.reshape(expected.shape), expected, rtol=0, atol=EXACT)
    some = [(3, 1), (0, 4), (3, 1)]
    asked = hidden_action_values(small.game, small.a, small.b, some)
    np.testing.assert_array_equal(asked, [found[own * small.game.goal + o] for own, o in some])


def test_values_in_self_play(small: Case) -> None:
    itself = Match(small.play, small.b, small.b)
    assert mover_value(small.game, small.b) == pytest.approx(
        itself.value(0, State(0, 0)), abs=EXACT
    )
    found = values(small.game, small.b)
    cell = (small.game.goal - 2, 1)
    expected = [itself.value(0, State(*cell, memory)) for memory in small.game.memories]
    np.testing.assert_allclose(found[cell], expected, rtol=0, atol=EXACT)


def test_reach_of_every_hidden_state(small: Case) -> None:
    expected_reach = small.match.reach()
    expected = arrays(small.play, lambda state: expected_reach[0, state])
    found = reach(small.game, small.a, small.b)
    np.testing.assert_allclose(found, expected, rtol=0, atol=EXACT)


def test_reach_in_self_play(small: Case) -> None:
    expected_reach = Match(small.play, small.a, small.a).reach()
    expected = arrays(small.play, lambda state: expected_reach[0, state])
    np.testing.assert_allclose(reach(small.game, small.a), expected, rtol=0, atol=EXACT)


def test_beliefs(small: Case) -> None:
    expected_reach = small.match.reach()
    for cell in ((0, 0), (2, 3), (small.game.goal - 1, 4)):
        weights = np.array([float(expected_reach[0, State(*cell, m)]) for m in small.game.memories])
        found = belief(small.game, small.a, small.b, *cell)
        if weights.sum() == 0.0:
            assert found is None
            continue
        assert found is not None
        assert found.sum() == pytest.approx(1.0, abs=EXACT)
        np.testing.assert_allclose(found, weights / weights.sum(), rtol=0, atol=EXACT)


@pytest.mark.parametrize("weight", ["reach", "counterfactual", "belief"])
def test_counterfactual_values(small: Case, weight: RegretWeight) -> None:
    own_reach = weight != "counterfactual"
    values, infoset_reach = counterfactual(small.play, small.a, small.b, own_reach=own_reach)
    work = small.game.workspace(2)
    found = counterfactual_values(work, np.stack([small.a, small.b]), weight)
    np.testing.assert_allclose(found.infoset_reach, infoset_reach, rtol=EXACT, atol=EXACT)
    if weight == "belief":
        reached = infoset_reach > 0.0
        mean = values[reached] / infoset_reach[reached][:, None]
        np.testing.assert_allclose(found.values[reached], mean, rtol=0, atol=1e-10)
    else:
        np.testing.assert_allclose(found.values, values, rtol=EXACT, atol=EXACT)


@pytest.mark.parametrize("alone", [False, True], ids=["opponent", "self-play"])
@pytest.mark.parametrize("weight", ["reach", "counterfactual", "belief"])
def test_action_values_by_information_set(small: Case, weight: RegretWeight, alone: bool) -> None:
    a, b = small.a, small.a if alone else small.b
    expected, infoset_reach = counterfactual(small.play, a, b, own_reach=weight != "counterfactual")
    if weight == "belief":
        reached = infoset_reach > 0.0
        expected[reached] /= infoset_reach[reached][:, None]
    found = action_values(small.game, a, None if alone else b, weight)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, expected, rtol=EXACT, atol=1e-10)


def test_action_values_are_fresh_and_take_matrices(small: Case) -> None:
    matrix = small.a.argmax(axis=2)
    found = action_values(small.game, matrix, small.b)
    kept = found.copy()
    pure = one_hot(matrix, small.game.num_actions)
    np.testing.assert_array_equal(action_values(small.game, pure, small.b), kept)
    action_values(small.game, small.b)
    np.testing.assert_array_equal(found, kept)


def test_action_values_refuse_what_is_malformed(small: Case) -> None:
    with pytest.raises(
        ValueError, match=r"^weight: 'own', allowed are reach, counterfactual, belief$"
    ):
        action_values(small.game, small.a, weight="own")  # type: ignore[arg-type]
    for policy, opponent in ((small.a[:-1], None), (small.a, small.b * 0.5)):
        with pytest.raises(ValueError, match="allowed is"):
            action_values(small.game, policy, opponent)


@pytest.mark.parametrize("weight", ["reach", "belief"])
def test_self_play_counts_both_seats(small: Case, weight: RegretWeight) -> None:
    one, two = small.game.workspace(1), small.game.workspace(2)
    alone = counterfactual_values(one, small.a[None], weight)
    paired = counterfactual_values(two, np.stack([small.a, small.a]), weight)
    seats = 2.0 if weight == "reach" else 1.0
    np.testing.assert_allclose(alone.infoset_reach, 2.0 * paired.infoset_reach, rtol=0, atol=EXACT)
    np.testing.assert_allclose(alone.values, seats * paired.values, rtol=0, atol=EXACT)


def test_expected_number_of_turns(small: Case) -> None:
    turns = [small.match.expected_turns(player, State(0, 0)) for player in (0, 1)]
    own = reach(small.game, small.a, small.b).sum()
    other = reach(small.game, small.b, small.a).sum()
    assert own + other == pytest.approx(sum(turns) / 2, abs=1e-11)


def test_player_with_full_memory(small: Case) -> None:
    expected = Match(small.play, None, small.b).win_rate()[0]
    assert full_memory_bound(small.game, small.b) == pytest.approx(expected, abs=EXACT)


def tablebase(game: Game) -> tuple[float, NDArray[np.int8]]:
    """Mover's value when both remember everything, and the best rolls (G, G, H)."""
    work = game.workspace(1)
    choice = np.zeros((game.goal, game.goal, game.memory_size), np.int8)
    anything = np.full((1, *game.shape), 1.0 / game.num_actions)
    value = work.backward(anything, Role.FULL_MEMORY, choice=choice)[0]
    return value, choice


def test_best_play_of_two_who_remember(small: Case) -> None:
    best = Match(small.play, None, None)
    value, rolls = tablebase(small.game)
    assert value == pytest.approx(best.value(0, State(0, 0)), abs=EXACT)
    expected = arrays(small.play, lambda state: best.best_roll(0, state))
    np.testing.assert_array_equal(rolls, expected)


@pytest.mark.parametrize("name", EDITIONS)
def test_win_rates_in_exact_fractions(name: str) -> None:
    rules = rules_from({"edition": name, "goal": 7, "max_dice": 2})
    game = compile_game(rules)
    # Quarters, so that policies are exact in floats too.
    random = np.random.default_rng(15)
    quarters = random.multinomial(4, [1 / 3] * 3, (2, 7, 7))
    exact = [
        [[[Fraction(int(q), 4) for q in row] for row in rows] for rows in table]
        for table in quarters
    ]
    expected = Match(Play(rules), *exact).win_rate()
    assert all(isinstance(rate, Fraction) for rate in expected)
    found = win_rate(game, *(quarters / 4.0))
    assert found == pytest.approx([float(rate) for rate in expected], abs=1e-14)


def test_what_is_never_reached_has_no_reach_at_all() -> None:
    """Beliefs and conditional values ask whether reach is positive: 1e-19 is an answer too."""
    small = case("su20")
    expected_reach = small.match.reach()
    expected = arrays(small.play, lambda state: expected_reach[0, state])
    found = reach(small.game, small.a, small.b)
    np.testing.assert_array_equal(found > 0.0, expected > 0.0)


def test_a_game_that_every_turn_ends() -> None:
    """To 1 point with Square Swine, a score of 0 counts 1: whatever is rolled wins."""
    game = compile_game(Rules(goal=1, square_swine=True))
    matrix = np.zeros((1, 1), np.int8)
    assert win_rate(game, matrix, matrix) == (0.5, 1.0, 0.0)


@st.composite
def rules_of_any_parts(draw: st.DrawFn) -> Rules:
    """Combine any parts, in sizes that the twin and the compiled widths of memory allow."""
    feral = draw(st.sampled_from(FERAL_HOGS))
    max_dice = draw(st.integers(1, 4))
    time_trot = draw(st.booleans())
    more_boar = draw(st.sampled_from(sorted(MORE_BOAR)))
    piggy_back = draw(st.booleans())
    records = {"none": 1, "points": max_dice + 4, "dice": max_dice + 1}[feral]
    sides_of_extra_turns = st.none() | st.integers(2, 8)
    rules = Rules(
        goal=draw(st.integers(2, 12 if feral == "none" else 7)),
        max_dice=max_dice,
        sides=draw(st.integers(2, 8)),
        zero_dice=draw(st.sampled_from(sorted(ZERO_DICE))),
        # Without Piggy Back a turn of 0 points would leave the sum of scores as it was.
        pig_out=draw(st.integers(0, 1)) if piggy_back else 1,
        prime_boost=draw(st.booleans()),
        hog_wild=draw(st.booleans()),
        feral_hogs=feral,
        square_swine=draw(st.booleans()),
        piggy_back=piggy_back,
        swap=draw(st.sampled_from(sorted(SWAPS))),
        more_boar=more_boar,
        time_trot=time_trot,
        time_trot_period=draw(st.integers(1, max(1, 16 // records))),
        extra_turn_sides=draw(sides_of_extra_turns) if time_trot or more_boar != "none" else None,
    )
    turns, _, records = memory_sizes(rules)
    assert turns * records <= 16
    return rules


@given(rules_of_any_parts(), st.sampled_from(["mixed", "sparse", "pure"]), st.integers(0, 99))
@settings(max_examples=60)
def test_any_combination_of_parts(rules: Rules, kind: str, seed: int) -> None:
    game, play = compile_game(rules), Play(rules)
    random = np.random.default_rng(seed)
    a, b = (random_policy(random, game.shape, which) for which in (kind, "mixed"))
    match = Match(play, a, b)
    assert win_rate(game, a, b) == pytest.approx(match.win_rate(), abs=EXACT)
    remembers = Match(play, None, b).win_rate()[0]
    assert full_memory_bound(game, b) == pytest.approx(remembers, abs=EXACT)
    weights: list[tuple[bool, RegretWeight]] = [(True, "reach"), (False, "counterfactual")]
    for own_reach, weight in weights:
        values, infoset_reach = counterfactual(play, a, b, own_reach=own_reach)
        found = counterfactual_values(game.workspace(2), np.stack([a, b]), weight)
        np.testing.assert_allclose(found.infoset_reach, infoset_reach, rtol=EXACT, atol=EXACT)
        np.testing.assert_allclose(found.values, values, rtol=EXACT, atol=EXACT)


# --- theorems, at full size -----------------------------------------------------------------------

FULL_SIZE = ["su20", "hw13", "su21", "fa15", "fa19"]


@pytest.fixture(params=FULL_SIZE)
def full(request: pytest.FixtureRequest) -> Game:
    return compile_game(EDITIONS[request.param])


def test_win_rates_of_two_sum_to_one(full: Game) -> None:
    random = np.random.default_rng(7)
    policy = random_policy(random, full.shape, "sparse")
    matrix = random.integers(0, full.num_actions, full.shape[:2])
    there, back = win_rate(full, policy, matrix), win_rate(full, matrix, policy)
    assert there.win_rate + back.win_rate == pytest.approx(1.0, abs=EXACT)
    assert there.first + back.second == pytest.approx(1.0, abs=EXACT)
    assert there.win_rate == pytest.approx((there.first + there.second) / 2, abs=EXACT)
    assert there.first != there.second
    assert win_rate(full, policy, policy).win_rate == pytest.approx(0.5, abs=EXACT)


def test_values_follow_one_another_in_two_orders(full: Game) -> None:
    """Player 1's win rate against player 0, computed with the roles of the arrays exchanged."""
    random = np.random.default_rng(8)
    a, b = (random_policy(random, full.shape, "mixed") for _ in range(2))
    work = full.workspace(2)
    first, other, changes = work.backward(np.stack([a, b]))
    swapped_first, swapped_other, _ = work.backward(np.stack([b, a]))
    assert (first, other) == pytest.approx((swapped_other, swapped_first), abs=EXACT)
    assert changes == 0


def test_the_win_rate_is_linear_in_each_row_and_reach_gives_its_slope(full: Game) -> None:
    """Adjointness: what the forward and the backward pass say together is an exact gradient."""
    random = np.random.default_rng(9)
    a, b = (random_policy(random, full.shape, "mixed") for _ in range(2))
    work = full.workspace(2)
    slope = counterfactual_values(work, np.stack([a, b]), "reach").values
    before = win_rate(full, a, b).win_rate
    for cell in [(0, 0), (6, 0), (13, 22), (40, 37), (99, 99)]:
        changed = a.copy()
        changed[cell] = random.dirichlet(np.ones(full.num_actions))
        rise = float(slope[cell] @ (changed[cell] - a[cell]))
        after = win_rate(full, changed, b).win_rate
        assert after - before == pytest.approx(rise, abs=EXACT)


def test_rows_are_worth_their_cell(full: Game) -> None:
    """Reach times value, summed over hidden states, is the policy's mean of its rolls' values."""
    random = np.random.default_rng(10)
    a, b = (random_policy(random, full.shape, "sparse") for _ in range(2))
    work = full.workspace(2)
    found = counterfactual_values(work, np.stack([a, b]), "reach")
    rows, infoset_reach = (found.values * a).sum(axis=2), found.infoset_reach
    cells = [(0, 0), (7, 12), (55, 44), (98, 3)]
    reached = reach(full, a, b)
    values = hidden_action_values(full, a, b, cells)
    for cell, rolls in zip(cells, values, strict=True):
        assert rows[cell] == pytest.approx(float(reached[cell] @ rolls @ a[cell]), abs=EXACT)
    np.testing.assert_allclose(reached.sum(axis=2), infoset_reach, rtol=0, atol=EXACT)


def test_the_first_cell_is_worth_the_win_rate_of_moving_first(full: Game) -> None:
    random = np.random.default_rng(11)
    a, b = (random_policy(random, full.shape, "mixed") for _ in range(2))
    found = counterfactual_values(full.workspace(2), np.stack([a, b]), "reach")
    # A player meets (0, 0) only by moving first, half of the time.
    assert found.infoset_reach[0, 0] == pytest.approx(0.5, abs=EXACT)
    first = win_rate(full, a, b).first
    assert float(found.values[0, 0] @ a[0, 0]) == pytest.approx(first / 2, abs=EXACT)


@pytest.mark.parametrize("name", EDITIONS)
def test_without_dice_the_game_is_a_walk(name: str) -> None:
    """Who always rolls 0 dice meets chance nowhere: one path for each seat, at full size."""
    rules = EDITIONS[name]
    game = compile_game(rules)
    zero = builtin("always_roll:0", game)
    visits: dict[State, int] = {}
    state, winner, mover = State(0, 0), None, 0
    while winner is None:
        visits[state] = visits.get(state, 0) + 1
        turn = play_turn(rules, *state, 0, [])
        mine, theirs, _, ends = turn.landing
        if ends is not None:
            winner = mover if ends == 0 else 1 - mover
        state = State(mine, theirs, turn.memory) if turn.again else State(theirs, mine, turn.memory)
        mover = mover if turn.again else 1 - mover
    reached = reach(game, zero)
    assert mover_value(game, zero) == 1 - winner
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


@pytest.mark.parametrize(
    ("spec", "value", "roll", "digits"),
    [
        # Reference figures [8] of docs/sources.md; as many digits as given.
        ({"edition": "su20", "feral_hogs": "none"}, 0.5010298598, None, 1e-10),
        ("su20", 0.5005159690, 2, 1e-10),
        ("hw13", 0.5002728824, 4, 1e-10),
        ("fa15", 0.4899205974, 4, 1e-10),
        ("fa22", 0.51736, 3, 1e-5),  # "about 52 %": Tong (2023) [4]
        ("su21", 0.5504431438, 3, 1e-10),
        (
            {"edition": "su21", "time_trot": False, "extra_turn_sides": 6},
            *(0.5230744513, None, 1e-10),
        ),
    ],
)
def test_mover_s_value_and_first_roll_with_full_memory(
    spec: str | dict[str, Any], value: float, roll: int | None, digits: float
) -> None:
    game = compile_game(rules_from(spec))
    found, rolls = tablebase(game)
    assert found == pytest.approx(value, abs=digits)
    first = rolls[0, 0, game.memories.index(Memory())]
    assert roll in (None, first)


@pytest.mark.parametrize(
    ("name", "rate"),
    [
        # The tablebase's matrix against always 5, ties within 1e-12 going to the fewest dice;
        # the author of Hog Wild! [2] reached 0.605 in hw13.
        ("hw13", 0.7208103567),
        ("fa15", 0.8130753649),
    ],
)
def test_tablebase_against_always_five(name: str, rate: float) -> None:
    game = compile_game(EDITIONS[name])
    matrix = tablebase(game)[1][:, :, 0]
    assert mover_value(game, matrix) == pytest.approx(tablebase(game)[0], abs=EXACT)
    found = win_rate(game, matrix, builtin("always_roll:5", game)).win_rate
    assert found == pytest.approx(rate, abs=1e-9)


def test_best_response_to_always_five_in_hog_wild() -> None:
    game = compile_game(EDITIONS["hw13"])
    found = full_memory_bound(game, builtin("always_roll:5", game))
    assert found == pytest.approx(0.8079894352, abs=1e-9)


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(7, 6), (7, 7, 4), (7,), (6, 6, 3)])
def test_strategies_of_another_game_are_refused(shape: tuple[int, ...]) -> None:
    game = compile_game(rules_from({"edition": "su20", "goal": 7, "max_dice": 2}))
    fine = np.zeros((7, 7), np.int8)
    with pytest.raises(ValueError, match=r"allowed") as refusal:
        win_rate(game, fine, np.zeros(shape))
    assert "\n" not in str(refusal.value)


def test_strategies_are_left_as_they_were() -> None:
    game = compile_game(rules_from({"edition": "su20", "goal": 7, "max_dice": 2}))
    policy = random_policy(np.random.default_rng(0), game.shape, "mixed")
    kept = policy.copy()
    policy_of(game, policy)[:] = 0.0
    win_rate(game, policy, policy)
    np.testing.assert_array_equal(policy, kept)
