from fractions import Fraction
from itertools import product

import pytest

from hogeq.rules import EDITIONS
from hogeq.rules.points import kinds_of_dice, rolled_points, score_distribution


@pytest.mark.parametrize("edition", ["su20", "fa15"])
@pytest.mark.parametrize(("dice", "sides"), [(1, 6), (3, 6), (4, 4), (2, 8)])
def test_agrees_with_counting_all_rolls(edition: str, dice: int, sides: int) -> None:
    rules = EDITIONS[edition]
    rolls = list(product(range(1, sides + 1), repeat=dice))
    points = [rolled_points(rules, roll) for roll in rolls]
    found = score_distribution(rules, dice, sides)
    want = {value: Fraction(points.count(value), len(rolls)) for value in sorted(set(points))}
    assert found.probability == want
    assert found.mean == Fraction(sum(points), len(rolls))
    assert found.variance == sum((value - found.mean) ** 2 for value in points) / len(rolls)
    assert found.pig_out == Fraction(sum(1 in roll for roll in rolls), len(rolls))


def test_five_and_six_dice_score_about_the_same() -> None:
    # By hand: 20/5 points a die that shows no 1, (5/6)^n that none does, and 1 point otherwise.
    means = {dice: score_distribution(EDITIONS["fa22"], dice).mean for dice in range(1, 11)}
    for dice, mean in means.items():
        safe = Fraction(5, 6) ** dice
        assert mean == 4 * dice * safe + 1 - safe
    assert max(means, key=lambda dice: means[dice]) == 6
    assert float(means[6] - means[5]) < 0.1


def test_kinds_of_dice() -> None:
    assert kinds_of_dice(EDITIONS["su20"]) == {6: "usual dice"}
    assert list(kinds_of_dice(EDITIONS["hw13"])) == [6, 4]
    assert list(kinds_of_dice(EDITIONS["su21"])) == [6, 8]


@pytest.mark.parametrize(
    ("dice", "sides", "says"),
    [
        (0, 6, "dice: got 0; allowed: whole numbers from 1 to 10"),
        (11, 6, "dice: got 11; allowed: whole numbers from 1 to 10"),
        (3, 1, "sides: got 1; allowed: whole numbers from 2 to 100"),
        (3, 101, "sides: got 101; allowed: whole numbers from 2 to 100"),
    ],
)
def test_impossible_dice_are_refused(dice: int, sides: int, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        score_distribution(EDITIONS["su20"], dice, sides)
