"""The course's sample strategies, held to its own examples, docs/sources.md [6]."""

import numpy as np
import pytest

from hogeq.baselines.registry import builtin, names
from hogeq.baselines.simple import SAMPLES, samples_of
from hogeq.rules import EDITIONS, rules_from
from hogeq.strategies.arrays import StrategyError
from tests.baselines.small_games import rules_only as game
from tests.slow import one_in


@pytest.mark.parametrize(
    ("edition", "sample", "score", "opponent", "dice"),
    one_in(
        4,
        [
            # Fall 2023 and later, questions 10 and 11.
            ("fa25", "boar:9,5", 40, 31, 0),
            ("fa25", "boar:10,5", 40, 31, 5),
            ("fa25", "boar:15,2", 40, 52, 0),
            ("fa25", "boar:16,2", 40, 52, 2),
            ("fa25", "sus:10,2", 31, 21, 2),
            ("fa25", "sus:10,2", 30, 41, 0),
            ("fa25", "sus:14,2", 53, 60, 0),
            ("fa25", "sus:15,2", 53, 60, 2),
            ("fa25", "sus:4,2", 23, 54, 0),
            ("fa25", "sus:8,2", 14, 21, 2),
            ("fa25", "sus:12,5", 14, 21, 5),
            # Fall 2022, question 11.
            ("fa22", "square:7,2", 40, 51, 0),
            ("fa22", "square:7,2", 40, 53, 2),
            ("fa22", "square:7,2", 44, 53, 0),
            # Fall 2021, question 11: 2 + 8 points make the opponent's 10.
            ("fa21", "hog_pile:10,6", 2, 10, 0),
            ("fa21", "hog_pile:10,6", 30, 54, 6),
            # Spring 2021, questions 10 and 11.
            ("sp21", "piggypoints:6,5", 9, 0, 5),
            ("sp21", "piggypoints:7,5", 50, 2, 0),
            ("sp21", "piggypoints:8,4", 32, 0, 4),
            ("sp21", "piggypoints:1,4", 20, 1, 0),
            ("sp21", "more_boar:8,6", 3, 19, 0),
            ("sp21", "more_boar:7,6", 30, 54, 6),
            ("sp21", "more_boar:100,6", 17, 36, 0),
            # Fall 2020, question 11.
            ("fa20", "extra_turn:8,6", 10, 19, 0),
            ("fa20", "extra_turn:7,6", 30, 54, 6),
        ],
    ),
)
def test_samples_do_what_the_course_shows(
    edition: str, sample: str, score: int, opponent: int, dice: int
) -> None:
    assert builtin(sample, game(rules_from(edition))).array[score, opponent] == dice


def test_pigs_on_prime_by_hand() -> None:
    of = game(EDITIONS["su22"])
    # Against 42, no dice score 6. From 5 that is 11, a prime; from 6 it is 12.
    assert builtin("pigs_on_prime:8,6", of).array[5, 42] == 0
    assert builtin("pigs_on_prime:8,6", of).array[6, 42] == 6
    assert builtin("oink_points:8,6", of).array[5, 42] == 6
    # Against 60 they score 12, which is enough.
    assert (
        builtin("oink_points:8,6", of).array[5, 60]
        == builtin("pigs_on_prime:8,6", of).array[5, 60]
        == 0
    )


def test_numbers_left_out_are_the_courses() -> None:
    of = game(EDITIONS["fa23"])
    for short in ("boar", "boar:11"):
        assert np.array_equal(builtin(short, of), builtin("boar:11,6", of))
    assert np.array_equal(builtin("sus:9", of), builtin("sus:9,6", of))
    assert names()["sus:THRESHOLD,N"].endswith("(:11,6 if not given)")
    with pytest.raises(StrategyError, match="3 parameters given, to be written as boar:THR"):
        builtin("boar:1,2,3", of)
    with pytest.raises(StrategyError, match="0 parameters given, to be written as rise:THR"):
        builtin("rise", of)
    with pytest.raises(StrategyError, match="N is 6; allowed: 0 to 3"):
        builtin("boar", game(rules_from({"edition": "fa23", "max_dice": 3})))


def test_an_edition_keeps_its_samples_with_another_goal() -> None:
    for edition, samples in SAMPLES.items():
        if edition in EDITIONS:
            rules = rules_from({"edition": edition, "goal": 66})
            assert samples_of(rules) == samples
    assert samples_of(rules_from("sp26")) == SAMPLES["fa23"]
    assert samples_of(EDITIONS["hw13"]) == ()
