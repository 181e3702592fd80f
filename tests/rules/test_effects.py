"""What a turn did, in words."""

import pytest

from hogeq.rules import EDITIONS
from hogeq.rules.effects import turn_effects
from hogeq.rules.memory import Memory
from hogeq.rules.turn import play_turn


@pytest.mark.parametrize(
    ("edition", "score", "other", "faces", "memory", "says"),
    [  # by hand
        ("su20", 5, 30, (2, 6), Memory(), ["rolled 2: 2 6, 8 points", "Feral Hogs: 3 points more"]),
        (
            "su20",
            0,
            0,
            (),
            Memory(),
            ["rolled no dice, 10 points", "Swap: the scores trade places"],
        ),
        ("su20", 5, 30, (1, 6), Memory(own=9), ["rolled 2: 1 6, with a 1, 1 point"]),
        (
            "fa22",
            94,
            7,
            (6,),
            Memory(),
            ["rolled 1: 6, 6 points", "Square Swine: 100 becomes 121"],
        ),
        (
            "fa15",
            2,
            9,
            (1, 4),
            Memory(),
            ["rolled 2: 1 4, with a 1, 0 points", "Piggy Back: 2 points to the other"],
        ),
        (
            "fa15",
            2,
            9,
            (6, 6, 4, 3),
            Memory(),
            ["rolled 4: 6 6 4 3, 19 points", "Hogtimus Prime: 23 points instead of 19"],
        ),
        (
            "su21",
            0,
            50,
            (3, 4),
            Memory(turn=2),
            ["rolled 2: 3 4, 7 points", "Time Trot: an extra turn"],
        ),
        (
            "su21",
            40,
            22,
            (4, 6),
            Memory(turn=5),
            ["rolled 2: 4 6, 10 points", "More Boar: an extra turn"],
        ),
    ],
)
def test_effects(
    edition: str, score: int, other: int, faces: tuple[int, ...], memory: Memory, says: list[str]
) -> None:
    rules = EDITIONS[edition]
    turn = play_turn(rules, score, other, memory, len(faces), faces)
    assert turn_effects(rules, score, other, faces, turn) == says
