"""Which of the CFR family converge, on games with known answers.

On these games of perfect recall all five do, in both orders of updating, whether or not regrets are
weighted by own reach (on Leduc poker they must not be). Under imperfect recall the weighting
decides, and there are games that none of them can solve.
"""

import pytest

from tests import toys
from tests.slow import mostly_slow
from tests.solvers.family import FAMILY, SOLVABLE, WEIGHTS, averages

EARLY, LATE = [20, 25, 30, 35, 40], [260, 270, 280, 290, 300]


@pytest.mark.parametrize("toy_name", mostly_slow(["rock_paper_scissors", "kuhn", "rooms"], "kuhn"))
@pytest.mark.parametrize("weight", ["reach", "counterfactual"])
@pytest.mark.parametrize("alternating", [False, True], ids=["simultaneous", "alternating"])
@pytest.mark.parametrize("name", FAMILY)
def test_averages_converge_on_games_of_perfect_recall(
    name: str, alternating: bool, weight: str, toy_name: str
) -> None:
    toy = SOLVABLE[toy_name]()
    options = {"alternating": alternating, "regret_weight": weight}
    policies = list(averages(toy, name, EARLY + LATE, **options))
    gaps = [toys.exploitability(toy, policy) for policy in policies]
    early, late = max(gaps[: len(EARLY)]), max(gaps[len(EARLY) :])
    # A tenfold time divides a gap of order T ** -1/2 by 3.2; half of that in logarithms is asked.
    assert late < early / 10**0.25
    # Alternating updates are the faster ones everywhere.
    assert late < (0.004 if alternating else 0.02)
    value = {"rooms": 1 / 3, "kuhn": (2 - 1 / 18) / 4, "rock_paper_scissors": 0.5}
    assert toys.seat_value(toy, policies[-1]) == pytest.approx(value[toy_name], abs=0.002)


@pytest.mark.parametrize("alternating", [False, True], ids=["simultaneous", "alternating"])
@pytest.mark.parametrize("name", FAMILY)
def test_own_reach_in_the_weights_decides_under_imperfect_recall(
    name: str, alternating: bool
) -> None:
    """Regrets that leave own reach out settle on 0.6 where 0.9 is to be had, for ever."""
    toy = toys.forgetful()
    wins = {}
    for weight in WEIGHTS:
        options = {"alternating": alternating, "regret_weight": weight}
        wins[weight] = toys.seat_value(toy, next(averages(toy, name, [200], **options)))
    assert wins["reach"] == pytest.approx(0.9, abs=0.01)
    assert wins["belief"] == pytest.approx(0.9, abs=0.01)
    assert wins["counterfactual"] == pytest.approx(0.6, abs=0.002)


@pytest.mark.parametrize("weight", WEIGHTS)
@pytest.mark.parametrize("name", FAMILY)
def test_where_no_policy_is_an_equilibrium_none_is_found(name: str, weight: str) -> None:
    """The 1/8 that every policy leaves to be gained is left: stuck on the uniform policy."""
    toy = toys.bits()
    policy = next(averages(toy, name, [50], regret_weight=weight))
    assert toys.exploitability(toy, policy) == pytest.approx(1 / 8, abs=1e-12)
