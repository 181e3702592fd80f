"""The table of the ways in which a turn can end, against the twin and by hand."""

from dataclasses import replace
from itertools import product

import pytest

from hogeq.rules import EDITIONS
from hogeq.rules.memory import Memory
from hogeq.rules.rules import zero_points
from hogeq.rules.turn import TurnTable, dice_sides, land, scoreless_turn, total_rises
from tests import twin


@pytest.mark.parametrize("edition", EDITIONS)
def test_turns_end_as_in_the_twin(edition: str) -> None:
    rules = replace(EDITIONS[edition], goal=12, max_dice=3)
    play, turns = twin.Play(rules), TurnTable(rules)
    for state in play.states()[:: 7 if len(play.states()) > 500 else 1]:
        own, opponent, memory = state
        for dice in play.rolls():
            ours = turns.outcomes(own, opponent, Memory(*memory), dice)
            assert sum(way.probability for way in ours) == 1
            assert [way.points for way in ours] == sorted(way.points for way in ours)
            found = {
                (
                    way.points,
                    way.probability,
                    way.landing.winner,
                    way.again,
                    *way.following,
                )
                for way in ours
            }
            assert found == {
                (b.points, b.chance, b.winner, b.again, *b.state[:2], b.state.memory)
                for b in play.branches(state, dice)
            }


@pytest.mark.parametrize("edition", EDITIONS)
def test_no_turn_scores_or_gives_more_than_the_most(edition: str) -> None:
    turns = TurnTable(replace(EDITIONS[edition], goal=12, max_dice=3))
    points, gifts = turns.most()
    found = [
        branch
        for sides in {
            dice_sides(turns.rules, own, 0, Memory(extra=e)) for own in range(8) for e in (0, 1)
        }
        for dice in range(1, 4)
        for branch in turns.branches(dice, sides)
    ] + [turns.free(*cell) for cell in product(range(12), repeat=2)]
    assert max(branch.points for branch in found) == points
    assert max(branch.gift for branch in found) == gifts


def test_the_total_rises_unless_a_turn_can_score_and_give_nothing() -> None:
    fa15, sp22 = EDITIONS["fa15"], EDITIONS["sp22"]
    assert total_rises(EDITIONS["su20"])
    assert total_rises(fa15)  # what scores nothing is given to the opponent
    assert not total_rises(replace(fa15, piggy_back=False))
    assert not total_rises(sp22)
    assert scoreless_turn(fa15) is None
    found = scoreless_turn(sp22)
    assert found is not None
    assert zero_points(sp22, *found) == 0
    assert all(zero_points(sp22, *pair) for pair in product(range(100), repeat=2) if pair < found)


def test_longest_game_of_hogfish() -> None:
    """Fall 2022: a game lasts at most 181 turns, Tong (2023) [4]."""
    rules = EDITIONS["fa22"]
    turns = TurnTable(rules)
    rolled = {branch.points for dice in range(1, 11) for branch in turns.branches(dice, 6)}
    longest: dict[tuple[int, int], int] = {}
    for total in range(2 * rules.size - 2, -1, -1):
        for own in range(max(0, total - rules.size + 1), min(rules.size, total + 1)):
            other = total - own
            ends = [
                land(rules, own + points, other)
                for points in {*rolled, turns.free(own, other).points}
            ]
            longest[own, other] = 1 + max(
                0 if there.winner is not None else longest[there.opponent, there.score]
                for there in ends
            )
    assert longest[0, 0] == 181
