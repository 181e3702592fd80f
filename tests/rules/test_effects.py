"""What a turn did, in words."""

import pytest

from hogeq.rules import EDITIONS
from hogeq.rules.memory import Memory
from hogeq.rules.turn import play_turn, turn_effects


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
