"""Whole games played out with the rules alone, slowly and plainly, against known figures.

Numbers in brackets are those of docs/sources.md.
"""

from functools import cache
from typing import Any

import pytest

from hogeq.rules import Rules, rules_from
from hogeq.rules.memory import Memory, memory_sizes, next_memory, record
from hogeq.rules.points import points_distribution, zero_points
from hogeq.rules.turn import Landing, bonus, dice_sides, given, land, trots


class Board:
    """What can come of a turn, with the landings and distributions of one game remembered."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.land = cache(lambda score, opponent: land(rules, score, opponent))
        self.roll = cache(
            lambda dice, sides: [
                (points, float(chance))
                for points, chance in points_distribution(rules, dice, sides).items()
            ]
        )

    def outcomes(
        self, score: int, opponent: int, memory: Memory, dice: int
    ) -> list[tuple[float, Landing, bool, int]]:
        """List (probability, landing, same player again, points) for this number of dice."""
        rules = self.rules
        ways = [(zero_points(rules, score, opponent), 1.0)]
        if dice:
            ways = self.roll(dice, dice_sides(rules, score, opponent, memory))
        extra, trot = bonus(rules, memory, dice), trots(rules, memory, dice)
        landings = [
            (
                chance,
                self.land(score + points + extra, opponent + given(rules, dice, points)),
                points,
            )
            for points, chance in ways
        ]
        return [
            (chance, there, there.winner is None and (there.again or trot), points)
            for chance, there, points in landings
        ]


def solve(rules: Rules) -> tuple[float, int]:
    """Mover's value and fewest best dice at 0-0, by backward induction over the scores' sum.

    For rules that remember no records.
    """
    board = Board(rules)
    turns, extras, records = memory_sizes(rules)
    assert records == 1
    memories = [Memory(turn, extra) for turn in range(turns) for extra in range(extras)]
    value: dict[tuple[int, int, Memory], float] = {}
    roll = -1
    for total in range(2 * rules.goal - 2, -1, -1):
        for score in range(max(0, total - rules.goal + 1), min(rules.goal, total + 1)):
            for memory in reversed(memories):
                stay, leave = (next_memory(rules, memory, 0, again) for again in (True, False))
                best = 0.0
                for dice in range(rules.max_dice + 1):
                    worth = 0.0
                    for chance, there, again, _ in board.outcomes(
                        score, total - score, memory, dice
                    ):
                        if there.winner is not None:
                            worth += chance * (there.winner == 0)
                        elif again:
                            worth += chance * value[there.score, there.opponent, stay]
                        else:
                            worth += chance * (1 - value[there.opponent, there.score, leave])
                    if worth > best + 1e-12:
                        best, roll = worth, dice
                value[score, total - score, memory] = best
    return best, roll


def win_rate(rules: Rules, dice: tuple[int, int]) -> float:
    """Coin-averaged win rate of always rolling dice[0] against always rolling dice[1]."""
    board = Board(rules)
    won = 0.0
    for first in (0, 1):
        sums: list[dict[tuple[int, int, Memory, int], float]]
        sums = [{} for _ in range(2 * rules.goal)]
        sums[0][0, 0, Memory(), first] = 0.5
        for positions in sums:
            for (score, opponent, memory, mover), reach in positions.items():
                for chance, there, again, points in board.outcomes(
                    score, opponent, memory, dice[mover]
                ):
                    if there.winner is not None:
                        won += reach * chance * ((there.winner == 0) == (mover == 0))
                        continue
                    recorded = record(rules, dice[mover], points)
                    after = next_memory(rules, memory, recorded, again)
                    mine, theirs = there.score, there.opponent
                    key = (
                        (mine, theirs, after, mover) if again else (theirs, mine, after, 1 - mover)
                    )
                    later = sums[mine + theirs]
                    later[key] = later.get(key, 0.0) + reach * chance
            positions.clear()
    return won


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spec", "value", "roll", "digits"),
    [
        ({"edition": "su20", "feral_hogs": "none"}, 0.5010298598, None, 1e-10),
        ("hw13", 0.5002728824, 4, 1e-10),
        ("fa15", 0.4899205974, 4, 1e-10),
        ("fa22", 0.51736, 3, 1e-5),  # and about 52 %, three dice first: Tong (2023) [4]
        (
            {"edition": "su21", "time_trot": False, "extra_turn_sides": 6},
            *(0.5230744513, None, 1e-10),
        ),
        ("su21", 0.5504431438, 3, 1e-10),
    ],
    ids=["su20 without Feral Hogs", "hw13", "fa15", "fa22", "su21 without Time Trot", "su21"],
)
def test_value_of_the_game(
    spec: str | dict[str, Any], value: float, roll: int | None, digits: float
) -> None:
    """Known values, found independently of this code [8]."""
    found, first = solve(rules_from(spec))
    assert found == pytest.approx(value, abs=digits)
    assert roll in (None, first)


@pytest.mark.parametrize(
    ("dice", "expected"), [((0, 6), 0.560052926770), ((0, 10), 0.571630254755)]
)
def test_win_rates_of_the_official_server(dice: tuple[int, int], expected: float) -> None:
    """Summer 2020's contest server [7], which played with Feral Hogs and Swine Swap."""
    assert win_rate(rules_from("su20"), dice) == pytest.approx(expected, abs=1e-12)


def test_longest_game_of_hogfish() -> None:
    """Fall 2022: a game lasts at most 181 turns, Tong (2023) [4]."""
    rules = rules_from("fa22")
    board = Board(rules)
    longest: dict[tuple[int, int], int] = {}
    for total in range(2 * rules.goal - 2, -1, -1):
        for score in range(max(0, total - rules.goal + 1), min(rules.goal, total + 1)):
            ends = [
                there
                for dice in range(rules.max_dice + 1)
                for _, there, _, _ in board.outcomes(score, total - score, Memory(), dice)
            ]
            longest[score, total - score] = 1 + max(
                0 if there.winner is not None else longest[there.opponent, there.score]
                for there in ends
            )
    assert longest[0, 0] == 181
