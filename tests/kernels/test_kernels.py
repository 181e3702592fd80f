"""Dice sums by recurrence against the outcomes summed as they stand."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from hogeq.kernels.plan import NONE, OPPONENT, OWN
from hogeq.kernels.planning import plan_of
from hogeq.kernels.windowed import windowed_arrays
from hogeq.model.duels import Duels
from hogeq.model.game import HogEngine, compile_game
from hogeq.model.workspace import Role, Workspace
from hogeq.rules import EDITIONS, Rules
from hogeq.strategies.arrays import one_hot

GAMES = {
    "records, one kind of dice": replace(EDITIONS["su20"], goal=30),
    "no memory, gifts, boosted points": replace(EDITIONS["fa15"], goal=30),
    "two kinds of dice on one plane of landings": Rules(
        goal=24, max_dice=7, hog_wild=True, feral_hogs="points"
    ),
    "extra turns with dice of their own": replace(EDITIONS["su21"], goal=24),
}

ALL_AT_ONCE = replace(
    EDITIONS["su20"],
    goal=30,
    max_dice=5,
    hog_wild=True,
    piggy_back=True,
    pig_out=0,
    more_boar="digit_range",
)


@cache
def compiled(name: str) -> HogEngine:
    return compile_game(GAMES[name])


def policies(game: HogEngine, share: float) -> NDArray[np.float64]:
    """Draw two policies that use about this share of the rolls."""
    random = np.random.default_rng(7)
    found = random.dirichlet(np.ones(game.num_actions), (2, *game.shape[:2]))
    found *= random.random(found.shape) < share
    found[..., 0] += 1e-3
    normal: NDArray[np.float64] = found / found.sum(axis=-1, keepdims=True)
    return normal


def both_ways(game: HogEngine) -> tuple[Workspace, Workspace]:
    """Make a workspace that always sums by recurrence, and one that never does."""
    always = game.tables._replace(direct_terms=1 << 30)
    never = game.tables._replace(sum_depth=np.zeros_like(game.tables.sum_depth))
    return Workspace(always, 2), Workspace(never, 2)


@pytest.mark.parametrize("name", GAMES)
def test_some_rolls_are_sums(name: str) -> None:
    tables = compiled(name).tables
    assert tables.is_sum.any()
    assert tables.sum_terms + tables.corrections < tables.direct_terms


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("share", [1.0, 0.2])
def test_sums_agree_with_outcomes(name: str, share: float) -> None:
    game = compiled(name)
    played = policies(game, share)
    by_sums, direct = both_ways(game)
    for work in (by_sums, direct):
        work.forward(played)
        work.backward(played, Role.COUNTERFACTUAL)
    assert by_sums.counterfactual_values == pytest.approx(direct.counterfactual_values, abs=1e-13)
    assert by_sums.values == pytest.approx(direct.values, abs=1e-13)
    assert by_sums.reach == pytest.approx(direct.reach, abs=1e-13)
    # What play never reaches holds exactly nothing, though sums take back what they gave too much.
    assert np.array_equal(by_sums.hidden_reach() > 0.0, direct.hidden_reach() > 0.0)


def test_an_edition_that_remembers_dice_keeps_its_outcomes() -> None:
    tables = compile_game(replace(EDITIONS["fa19"], goal=20)).tables
    assert not tables.is_sum.any()
    assert not tables.sum_depth.any()


@pytest.mark.parametrize("edition", ["su20", "sp20", "fa19"])
@pytest.mark.parametrize(("goal", "dice"), [(8, 2), (30, 10), (31, 5), (18, 15)])
def test_a_duel_is_the_passes_over_two_matrices(edition: str, goal: int, dice: int) -> None:
    game = compile_game(replace(EDITIONS[edition], goal=goal, max_dice=dice))
    duels, work = Duels(game.tables), game.workspace(2)
    random = np.random.default_rng(goal)
    for _ in range(3):  # the second and third find the arrays in use
        matrices = random.integers(game.num_actions, size=(2, goal, goal))
        expected = work.win_rate(one_hot(matrices, game.num_actions))
        assert duels.win_rate(matrices) == pytest.approx(expected, abs=1e-13)
    few = matrices % 3  # whose outcomes are no windows
    expected = work.win_rate(one_hot(few, game.num_actions))
    assert duels.win_rate(few) == pytest.approx(expected, abs=1e-13)


@pytest.mark.parametrize("goal", [1, 20, 60, 100])
def test_slots_of_a_duel_are_not_taken_before_they_are_read(goal: int) -> None:
    """The twin follows the visits, and remembers which afterstate lies in a slot."""
    tables = compile_game(replace(EDITIONS["su20"], goal=goal)).tables
    arrays, _ = windowed_arrays(tables)
    slot_of = dict(zip(tables.arrival_row.tolist(), arrays.landed_slot.tolist(), strict=True))
    reach = int(arrays.outcomes[:, 0].max()) + tables.dimensions.ring - 1
    landed: dict[int, tuple[int, int]] = {}
    for cell in tables.cell_order[::-1]:
        own, opponent = divmod(int(cell), goal)
        for score in range(own + 1, min(own + reach, goal - 1) + 1):
            assert landed[slot_of[opponent * goal + score]] == (opponent, score)
        for arrival in range(*tables.arrival_start[cell : cell + 2]):
            landed[int(arrays.landed_slot[arrival])] = divmod(
                int(tables.arrival_row[arrival]), goal
            )


@pytest.mark.parametrize("edition", ["su21", "fa15", "fa22"])
def test_other_games_refuse_duels(edition: str) -> None:
    with pytest.raises(ValueError, match=r"^duels: allowed: games that only swap"):
        Duels(compile_game(replace(EDITIONS[edition], goal=20)).tables)


@pytest.mark.parametrize(
    "rules",
    [*GAMES.values(), replace(EDITIONS["su20"], goal=24, max_dice=5, time_trot=True)],
    ids=[*GAMES, "records and turns counted"],
)
def test_nothing_is_left_of_an_earlier_pass_forward(rules: Rules) -> None:
    game = compile_game(rules)
    played = policies(game, 1.0)
    used, fresh = Workspace(game.tables, 2), Workspace(game.tables, 2)
    used.reach[:] = np.nan
    used.forward(played[::-1].copy())
    for work in (used, fresh):
        work.forward(played)
    assert np.array_equal(used.infoset_reach, fresh.infoset_reach)
    assert np.array_equal(used.hidden_reach(), fresh.hidden_reach())


def test_certain_rows_are_published_as_mixed_ones_are() -> None:
    game = compiled("records, one kind of dice")
    matrices = np.random.default_rng(3).integers(game.num_actions, size=(2, *game.shape[:2]))
    certain = one_hot(matrices, game.num_actions)
    one_by_one = Workspace(game.tables, 2)
    mixed = Workspace(game.tables._replace(only_swaps=False), 2)
    assert game.tables.only_swaps
    rates = [work.win_rate(certain).win_rate for work in (one_by_one, mixed)]
    assert rates[0] == pytest.approx(rates[1], abs=1e-14)
    lanes = game.tables.dimensions.records  # lanes beyond the records are padding
    shape = (2, -1, len(game.tables.lane))
    found, expected = (work.values.reshape(shape)[..., :lanes] for work in (one_by_one, mixed))
    assert found == pytest.approx(expected, abs=1e-13)


def planned(game: HogEngine, players: int) -> Workspace:
    """Make a workspace whose passes are compiled for this game, small as it is."""
    return Workspace(game.tables, players, plan=plan_of(game.tables, smallest=0))


@pytest.mark.parametrize("players", [1, 2])
@pytest.mark.parametrize("share", [1.0, 0.2])
def test_passes_with_a_plan_are_the_passes_without(players: int, share: float) -> None:
    game = compiled("records, one kind of dice")
    played = policies(game, share)[:players]
    fast, slow = planned(game, players), Workspace(game.tables, players)
    for _ in range(2):  # the second finds the columns in use
        found: list[NDArray[np.float64]] = []
        expected: list[NDArray[np.float64]] = []
        for work, results in ((fast, found), (slow, expected)):
            work.forward(played)
            results.append(work.infoset_reach.copy())
            results.append(np.array(work.backward(played, Role.COUNTERFACTUAL)))
            results.append(work.counterfactual_values.copy())
            for role in (Role.ASCEND, Role.SOFTMAX):
                moved = played.copy()
                results.append(np.array(work.backward(moved, role, temperature=0.1, damping=0.3)))
                results.append(moved)
            results.append(np.array(work.backward(played, keep=True)))
            results.append(work.hidden_values(3, 5))
        for one, other in zip(found, expected, strict=True):
            assert one == pytest.approx(other, abs=1e-13)
        assert np.array_equal(found[0] > 0.0, expected[0] > 0.0)


@pytest.mark.parametrize(
    "rules",
    [
        replace(EDITIONS["sp20"], goal=30),
        replace(EDITIONS["fa19"], goal=30),
        replace(EDITIONS["su20"], goal=20, max_dice=3),  # lanes of 8
        replace(EDITIONS["su20"], goal=27, max_dice=15),  # and of 24
        replace(EDITIONS["su20"], goal=28, max_dice=24),  # and of 32, vector by vector
        replace(EDITIONS["su20"], goal=30, max_dice=4, sides=4),
        replace(EDITIONS["su20"], goal=30, max_dice=5, hog_wild=True),
        replace(EDITIONS["su20"], goal=30, max_dice=5, piggy_back=True, pig_out=0),
        replace(EDITIONS["fa19"], goal=30, max_dice=5, piggy_back=True, pig_out=0),
        replace(EDITIONS["su20"], goal=30, max_dice=5, more_boar="digit_range"),
        replace(EDITIONS["su20"], goal=40, max_dice=5, square_swine=True),
        replace(EDITIONS["su20"], goal=40, max_dice=5, landing="hog_pile_double"),
        ALL_AT_ONCE,
        replace(ALL_AT_ONCE, max_dice=24, square_swine=True),
    ],
    ids=[
        "sp20",
        "fa19",
        "3 dice",
        "15 dice",
        "24 dice",
        "4 sides",
        "two kinds of dice",
        "gifts",
        "gifts, dice remembered",
        "extra turns",
        "landings that raise scores",
        "landings that double them",
        "all at once",
        "all at once, vector by vector",
    ],
)
def test_plans_of_other_games(rules: Rules) -> None:
    game = compile_game(rules)
    assert plan_of(game.tables, smallest=0) is not None
    played = policies(game, 1.0)
    fast, slow = planned(game, 2), Workspace(game.tables, 2)
    results = []
    for work in (fast, slow):
        for _ in range(2):  # the second finds the columns in use
            work.forward(played)
            rate = work.win_rate(played, Role.COUNTERFACTUAL)
        moved = played.copy()
        work.backward(moved, Role.ASCEND)
        results.append((rate, moved))
    assert results[0][0] == pytest.approx(results[1][0], abs=1e-13)
    assert np.array_equal(results[0][1], results[1][1])
    assert fast.infoset_reach == pytest.approx(slow.infoset_reach, abs=1e-13)
    assert np.array_equal(fast.infoset_reach > 0.0, slow.infoset_reach > 0.0)
    assert fast.counterfactual_values == pytest.approx(slow.counterfactual_values, abs=1e-13)


def test_passes_with_a_plan_take_any_layout_of_policies() -> None:
    game = compiled("records, one kind of dice")
    played = policies(game, 1.0)
    slow, fast = Workspace(game.tables, 2), planned(game, 2)
    spread = np.zeros((*played.shape, 2))
    spread[..., 0] = played
    for work, rows in ((slow, played), (fast, spread[..., 0])):
        work.forward(rows)
        work.backward(rows, Role.ASCEND)
    assert np.array_equal(spread[..., 0], played)


def test_single_precision_is_as_exact_as_it_can_be() -> None:
    game = compiled("records, one kind of dice")
    played = policies(game, 1.0)
    plan = plan_of(game.tables, smallest=0)
    single, double = (Workspace(game.tables, 2, dtype, plan) for dtype in (np.float32, np.float64))
    for work in (single, double):
        work.forward(played)
        work.backward(played, Role.COUNTERFACTUAL)
    error = np.abs(single.counterfactual_values - double.counterfactual_values).max()
    assert 0.0 < error < 1e-6


def test_reach_of_cells_alone_is_that_of_their_memories() -> None:
    game = compiled("records, one kind of dice")
    played = policies(game, 1.0)
    work = planned(game, 2)
    cells = work.cell_reach(played)
    with pytest.raises(RuntimeError, match=r"^reach: the last pass forward kept that of the cells"):
        work.backward(played, Role.COUNTERFACTUAL)
    work.forward(played)
    with pytest.raises(RuntimeError, match=r"^hidden_reach: the last pass was not asked"):
        work.hidden_reach()
    work.forward(played, keep=True)
    assert cells == pytest.approx(work.hidden_reach().sum(axis=2), abs=1e-13)


def test_values_that_were_not_kept_are_refused() -> None:
    game = compiled("records, one kind of dice")
    work = planned(game, 1)
    played = policies(game, 1.0)[:1]
    work.backward(played)
    with pytest.raises(RuntimeError, match=r"^hidden_values: the last pass was not asked"):
        work.hidden_values(0, 0)
    work.backward(played, keep=True)
    assert work.hidden_values(0, 0).shape == (game.memory_size, game.num_actions)


@pytest.mark.parametrize(
    "rules",
    [
        replace(EDITIONS["su20"], goal=30),
        replace(EDITIONS["fa19"], goal=60, max_dice=4),
        replace(ALL_AT_ONCE, goal=40),
        replace(EDITIONS["su20"], goal=40, square_swine=True),
    ],
    ids=["su20", "fa19", "all at once", "landings that raise scores"],
)
def test_afterstates_that_share_a_place_live_at_different_times(rules: Rules) -> None:
    tables, goal = compile_game(rules).tables, rules.goal
    plan = plan_of(tables, smallest=0)
    assert plan is not None
    places, constants = plan.places, plan.constants
    lanes = constants.lanes
    assert places.spare < goal * constants.records * lanes / 2  # or sharing would save nothing
    targets = [target for dice in constants.dice for target in dice.targets]
    assert any(target.gift for target in targets) == rules.piggy_back
    far = np.zeros(constants.records, np.int64)
    far[constants.many] = max(dice.sides for dice in constants.dice)
    np.maximum.at(far, [target.record for target in targets], [x.points for x in targets])
    np.maximum.at(far, tables.zero_record, tables.zero_points)
    holder: dict[tuple[int, int], int] = {}

    def touch(opponent: int, score: int, record: int, place: int, *, first: bool) -> None:
        if score < goal:
            assert place == places.landing[score, record]
            assert first or holder.get((opponent, place), score) == score
            holder[opponent, place] = score

    for own, opponent, none in places.order[:, [OWN, OPPONENT, NONE]].tolist():
        cell = own * goal + opponent
        for arrival in range(*tables.arrival_start[cell : cell + 2]):
            other, score = divmod(int(tables.arrival_row[arrival]), goal)
            for record in constants.kept:
                touch(other, score, record, places.landing[score, record], first=False)
        row = places.source[own].tolist()
        for record, place in zip(constants.shared, row[constants.last_row :], strict=True):
            for score in range(own + far[record] if own else 0, own + far[record] + 1):
                taken = places.landing[min(score, goal - 1), record] if own == 0 else place
                touch(opponent, score, record, taken, first=True)
        free = int(tables.zero_points[0, own, opponent]), int(tables.zero_record[0, own, opponent])
        found = [(0, *free, none)]
        for target, place in zip(targets, row[constants.target_row(0) :], strict=False):
            there = place - target.gift * places.column
            found.append((target.gift, target.points, target.record, there))
        for gift, points, record, place in found:
            taken = record in constants.sole
            touch(opponent + gift, own + points, record, place, first=taken)


@pytest.mark.parametrize("edition", ["su21", "fa15", "fa22", "fa18"])
def test_other_games_have_no_plan(edition: str) -> None:
    assert plan_of(compile_game(replace(EDITIONS[edition], goal=20)).tables, smallest=0) is None
