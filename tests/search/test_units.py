"""How ends and proved figures are written."""

import math

import pytest

from hogeq.search import units
from hogeq.search.results import Units


def test_ends_are_written_outward_unless_all_between_is_written_alike() -> None:
    units = Units.of_payoffs(0.0, 1.0, 1.0)
    assert units.lower(1 / 3) == "0.333333333"
    assert units.upper(1 / 3) == "0.333333334"
    assert units.lower(-1 / 3) == "-0.333333334"
    assert units.upper(0.25) == units.lower(0.25) == "0.250000000"
    assert units.exact(123456.789) == "123456.7890"
    assert units.exact(1e12) == "1.000000000e+12"
    half = 2.0**-10  # 0.0009765625 lies halfway between two figures of nine decimals
    assert units.exact(math.nextafter(half, 0.0)) == units.exact(math.nextafter(half, 1.0))
    assert not units.are_one(0.3333333331, 0.3333333339)
    assert units.are_one(0.33333333331, 0.33333333339)


def test_proved_figures_have_the_digits_that_both_ends_agree_in() -> None:
    def agreed(lower: float, upper: float) -> float:
        one, two = units.agreed(lower, upper)
        assert one == two
        return one

    assert agreed(0.25, 0.25) == 0.25
    assert agreed(0.4583333333333331, 0.4583333333333336) == 0.45833333333333
    assert agreed(-1e-17, 1e-17) == 0.0
    tiny = 7.142857142857143e-19
    assert agreed(math.nextafter(tiny, 0.0), tiny) == pytest.approx(tiny, rel=1e-14)
    assert agreed(3.3583333299748e-10, 3.3583333299749e-10) == 3.358333329975e-10
    assert agreed(0.99999999996, 1.00000000004) == 1.0
    assert agreed(9.99999999996e-20, 1.00000000004e-19) == 1e-19
    for apart in ((-51215712087053.2, -51215712087053.0), (2461538461538461.5, 2461538461538462.0)):
        assert units.agreed(*apart) == apart  # a zero for what they differ in would be false
