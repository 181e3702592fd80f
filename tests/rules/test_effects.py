"""What a turn did, in words."""

import re
from typing import Any

import numpy as np
import pytest

from hogeq.rules import EDITIONS, Rules
from hogeq.rules.memory import Memory, all_memories
from hogeq.rules.parts import LANDINGS, MORE_BOAR, SWAPS, ZERO_DICE
from hogeq.rules.turn import dice_sides, play_turn, turn_effects


@pytest.mark.parametrize(
    ("edition", "scores", "faces", "memory", "lines"),
    [  # by hand
        ("su20", (5, 30), (2, 6), {}, "rolled 2: 2 6, 8 points; Feral Hogs: 3 points more"),
        ("su20", (0, 0), (), {}, "rolled no dice, 10 points; Swap: the scores trade places"),
        ("su20", (5, 30), (1, 6), {"own": 9}, "rolled 2: 1 6, with a 1, 1 point"),
        ("fa22", (94, 7), (6,), {}, "rolled 1: 6, 6 points; Square Swine: 100 becomes 121"),
        (
            *("fa15", (2, 9), (1, 4), {}),
            "rolled 2: 1 4, with a 1, 0 points; Piggy Back: 2 points to the other",
        ),
        (
            *("fa15", (2, 9), (6, 6, 4, 3), {}),
            "rolled 4: 6 6 4 3, 19 points; Hogtimus Prime: 23 points instead of 19",
        ),
        ("su21", (0, 50), (3, 4), {"turn": 2}, "rolled 2: 3 4, 7 points; Time Trot: an extra turn"),
        (
            "su21",
            (40, 22),
            (4, 6),
            {"turn": 5},
            "rolled 2: 4 6, 10 points; More Boar: an extra turn",
        ),
    ],
)
def test_effects(
    edition: str,
    scores: tuple[int, int],
    faces: tuple[int, ...],
    memory: dict[str, int],
    lines: str,
) -> None:
    rules = EDITIONS[edition]
    turn = play_turn(rules, *scores, Memory(**memory), len(faces), faces)
    assert turn_effects(rules, *scores, faces, turn) == lines.split("; ")


def follow(score: int, other: int, says: list[str]) -> tuple[int, int, bool]:
    """Read the words again: the scores after them, and whether an extra turn follows."""
    again = False
    points = other_points = 0
    for line in says:
        numbers = [int(number) for number in re.findall(r"\d+", line.split(": ", 1)[-1])]
        if line.startswith("rolled"):
            points = int(line.split(", ")[-1].split()[0])
        elif "instead of" in line:
            assert numbers[1] == points
            points = numbers[0]
        elif line.endswith("more"):
            points += numbers[0]
        elif line.endswith("to the other"):
            other_points = numbers[0]
        elif "becomes" in line:
            assert numbers[0] == score + points
            score, points = numbers[1], 0
        elif line.startswith("Swap"):
            assert score + points != other + other_points
            score, other = other + other_points, score + points
            points = other_points = 0
        else:
            assert line.endswith(": an extra turn")
            again = True
    return score + points, other + other_points, again


def any_rules(random: np.random.Generator) -> Rules:
    def one_of(*choices: Any) -> Any:
        return choices[random.integers(len(choices))]

    return Rules(
        zero_dice=one_of(*ZERO_DICE),
        pig_out=one_of(0, 1, "count_ones"),
        prime_boost=one_of(False, True),
        feral_hogs=one_of("none", "points", "dice"),
        square_swine=one_of(False, True),
        landing=one_of(*LANDINGS),
        piggy_back=one_of(False, True),
        swap=one_of(*SWAPS),
        more_boar=one_of(*MORE_BOAR),
        time_trot=one_of(False, True),
        time_trot_period=4,
    )


def test_words_lead_to_where_the_turn_ended() -> None:
    random = np.random.default_rng(3)
    kinds = set()
    for _ in range(2000):
        rules = any_rules(random)
        memories = all_memories(rules)
        memory = memories[random.integers(len(memories))]
        score, other = random.integers(0, 40, 2).tolist()
        dice = int(random.integers(0, 5))
        faces = random.integers(1, dice_sides(rules, score, other, memory) + 1, dice).tolist()
        turn = play_turn(rules, score, other, memory, dice, faces)
        says = turn_effects(rules, score, other, faces, turn)
        there = turn.landing.score, turn.landing.opponent, turn.again
        assert follow(score, other, says) == there, (rules, score, other, memory, faces, says)
        assert any(line.startswith("More Boar") for line in says) == turn.landing.again
        kinds |= {line.split(":")[0] for line in says}
    parts = {"Feral Hogs", "Hogtimus Prime", "Piggy Back", "Square Swine", "Swap"}
    assert kinds >= parts | {"More Boar", "Time Trot"}
