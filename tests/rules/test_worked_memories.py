"""Worked examples of rules that remember: Feral Hogs, and extra turns."""

from dataclasses import replace

import pytest

from hogeq.rules import EDITIONS, Rules
from hogeq.rules.memory import Memory, next_memory
from hogeq.rules.turn import Landing, dice_sides, effect, play_turn
from tests.rules.test_worked_examples import FA18, FA19, HW13, SP21, START, SU20, SU21, twin
from tests.twin import State
from tests.twin.turn import Memory as TwinMemory

# --- Feral Hogs -----------------------------------------------------------------------------------


def bonuses(rules: Rules, memory: Memory) -> list[int]:
    """Numbers of dice that earn a bonus."""
    return [dice for dice in range(11) if effect(rules, 0, 0, memory, dice).bonus]


def test_feral_hogs_of_summer_2020() -> None:
    assert bonuses(SU20, START) == [2]  # a first turn of two dice
    assert bonuses(SU20, Memory(own=2)) == [0, 4]  # 0 dice count too
    assert bonuses(SU20, Memory(own=12)) == [10]
    assert bonuses(SU20, Memory(own=13)) == []
    assert effect(SU20, 0, 0, Memory(opponent=2), 4).bonus == 0
    assert effect(SU20, 0, 0, Memory(own=2), 4).bonus == 3


def test_feral_hogs_remembers_points_without_the_bonus() -> None:
    turn = play_turn(SU20, 0, 0, START, 2, [2, 2])
    assert (turn.points, turn.bonus, turn.landing.score) == (4, 3, 7)
    assert turn.memory == Memory(own=0, opponent=4)  # of the other player, who moves next


def test_feral_hogs_of_fall_2019_remembers_dice() -> None:
    turn = play_turn(FA19, 0, 2, START, 3, [6, 6, 6])
    assert (turn.bonus, turn.memory) == (0, Memory(own=0, opponent=3))
    assert bonuses(FA19, Memory(own=3)) == [1, 5]


def test_a_swap_leaves_each_player_their_own_memory() -> None:
    turn = play_turn(SU20, 30, 33, Memory(own=5, opponent=9), 1, [6])
    assert (turn.landing.score, turn.landing.opponent) == (33, 36)
    assert turn.memory == Memory(own=9, opponent=6)


# --- extra turns ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("rules", "period"), [(SU21, 8), (FA18, 5)], ids=["su21", "fa18"])
def test_time_trot(rules: Rules, period: int) -> None:
    for turn in range(period):
        assert [k for k in range(11) if effect(rules, 0, 0, Memory(turn), k).forced] == [turn]
        assert not any(effect(rules, 0, 0, Memory(turn, extra=1), k).forced for k in range(11))
    assert next_memory(rules, Memory(period - 1), 0, again=False) == Memory(0)


def test_time_trot_counts_extra_turns_and_is_rearmed_by_a_normal_one() -> None:
    first = play_turn(FA18, 0, 0, START, 0, [])
    assert (first.again, first.memory) == (True, Memory(turn=1, extra=1))
    second = play_turn(FA18, 1, 0, first.memory, 1, [3])
    assert (second.again, second.memory) == (False, Memory(turn=2))
    third = play_turn(FA18, 0, 4, second.memory, 2, [3, 4])
    assert (third.again, third.memory) == (True, Memory(turn=3, extra=1))


def test_more_boar_chains_with_eight_sided_dice_in_summer_2021() -> None:
    first = play_turn(SU21, 20, 43, Memory(turn=4), 1, [5])  # More Boar example 1: 25 against 43
    assert first.landing == Landing(25, 43, again=True, winner=None)
    assert first.memory == Memory(turn=5, extra=1)
    assert dice_sides(SU21, 25, 43, first.memory) == 8
    second = play_turn(SU21, 25, 43, first.memory, 3, [1, 8, 8])  # example 4: 26, More Boar again
    assert (second.landing.score, second.again) == (26, True)
    assert second.memory == Memory(turn=6, extra=1)


def test_six_sided_extra_turns_by_default() -> None:
    assert dice_sides(FA18, 3, 4, Memory(extra=1)) == 6
    assert dice_sides(SP21, 3, 4, START) == 6


def test_dice_of_extra_turns_come_before_hog_wild() -> None:
    rules = replace(SU21, hog_wild=True)
    assert dice_sides(rules, 3, 4, START) == 4
    assert dice_sides(rules, 3, 4, Memory(extra=1)) == 8


def test_no_extra_turn_once_the_game_is_over() -> None:
    turn = play_turn(SU21, 99, 22, Memory(turn=1), 1, [6])  # 105 has digits on both sides of 22's
    assert turn.landing == Landing(105, 22, again=False, winner=0)
    assert not turn.again


def test_ham_hijinks() -> None:
    """The game that the pages of all three contests play [6], turn by turn."""
    rules, memory, state = EDITIONS["fa13"], START, State(0, 0)
    turns = [
        # Faces, None for -1; sides of the dice; the mover's score and the other's after the turn.
        (None, None, (1, 0)),
        ([3, 3], 4, (6, 1)),  # "four-sided dice due to the previous exchange"
        ([3, 3, 3, 4], 6, (14, 6)),  # "six-sided dice (because of Hog Wild)"
        (None, None, (14, 7)),  # "exchanging the dice again and invoking Swine Swap"
    ]
    for faces, sides, scores in turns:
        own, opponent, _ = state
        dice = -1 if faces is None else len(faces)
        if sides is not None:
            assert dice_sides(rules, own, opponent, memory) == sides
            assert twin("fa13").sides(state) == sides
        turn = play_turn(rules, own, opponent, memory, dice, faces or [])
        assert (turn.landing.score, turn.landing.opponent) == scores
        branches = twin("fa13").branches(state, dice)
        state = next(branch.state for branch in branches if branch.points == turn.points)
        memory = turn.memory
        assert state == State(scores[1], scores[0], TwinMemory(*memory))
    # "Player 0 would next roll four-sided dice because of Hog Wild": exchanged twice, at 7 to 14.
    assert dice_sides(rules, 7, 14, memory) == twin("fa13").sides(state) == 4


def test_minus_one_is_no_choice_of_other_games() -> None:
    assert EDITIONS["fa13"].choices == (*range(11), -1)
    with pytest.raises(ValueError, match="dice is -1; allowed: 0 to 10"):
        play_turn(HW13, 0, 0, START, -1, [])
