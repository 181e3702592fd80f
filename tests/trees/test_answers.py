"""Results for Hog by trees: payoffs from -1 to 1 become win rates, and bounds stay bounds."""

from dataclasses import replace
from fractions import Fraction

import pytest

import hogeq
from hogeq.search.results import WIN_RATES, Equilibrium, InPolicies
from hogeq.support.deadline import Deadline
from hogeq.support.messages import digits
from hogeq.trees import answers, columns, policy_values

ENGINE = hogeq.Hog({"edition": "fa18", "goal": 3, "max_dice": 1}).engine
NEAR = 1e-18  # of an even payoff: 1 more is 1 in doubles


def rate(payoff: float) -> Fraction:
    return (1 + Fraction(payoff)) / 2


def test_ends_of_an_equilibrium_are_rounded_outward(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = answers.hog_tree(ENGINE.rules)
    assert tree is not None
    solved = replace(
        columns.solve_by_columns(tree, 10.0), lower=-NEAR, upper=NEAR, secured=(-0.5, NEAR)
    )

    def known(*_: object) -> Equilibrium:
        return solved

    monkeypatch.setattr(columns, "solve_by_columns", known)
    found = answers.solve_hog_by_tree(ENGINE, tree, 1.0)
    assert found.units is WIN_RATES
    assert found.secured is not None
    assert found.lower <= rate(-NEAR) < rate(NEAR) <= found.upper
    assert (found.secured[0], found.secured[1]) == (0.25, found.upper)


def test_ends_of_a_value_in_policies_are_rounded_outward(monkeypatch: pytest.MonkeyPatch) -> None:
    enclose_side = policy_values.enclose_side

    def near_even(*given: object) -> InPolicies:
        return replace(enclose_side(*given), lower=-NEAR, upper=0.0)  # type: ignore[arg-type]

    monkeypatch.setattr(answers, "enclose_side", near_even)
    found = answers.hog_in_policies(ENGINE, Deadline(10.0))
    assert found.lower <= rate(-NEAR)
    assert found.upper == 0.5


@pytest.mark.parametrize(("decimals", "is_proved"), [(2, True), (10, False)])
def test_win_rates_are_proved_in_the_digits_that_are_asked_for(
    decimals: int, is_proved: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Payoffs of 4e-10 are 0 in nine decimals; half of that shows in per cent with ten."""
    tree = answers.hog_tree(ENGINE.rules)
    assert tree is not None
    solved = columns.solve_by_columns(tree, 5.0)
    apart = replace(solved, lower=-4e-10, upper=4e-10, is_proved=True)
    monkeypatch.setattr(columns, "solve_by_columns", lambda *_: apart)
    before = digits.set(decimals)
    try:
        assert answers.solve_hog_by_tree(ENGINE, tree, 1.0).is_proved == is_proved
    finally:
        digits.reset(before)
