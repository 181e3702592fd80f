"""Absent-minded games of papers: their values, equilibria and solution concepts."""

from typing import Any

import numpy as np
import pytest

import hogeq
from hogeq.trees.absent import Decision
from hogeq.trees.rules import from_rules
from tests.slow import mostly_slow
from tests.trees.absent_games import (
    DRIVER,
    EXTENDED,
    FIGURE_2,
    FIGURE_3,
    FIGURE_6,
    efg,
    game,
    tree_of,
)

pytestmark = pytest.mark.usefixtures("in_folder")


@pytest.mark.parametrize(
    ("text", "value", "policy"),
    [
        # Piccione and Rubinstein's own driver, 0, 4 and 1: 4x - 3xx.
        (DRIVER.format(last=1), 4 / 3, [1 / 3, 2 / 3]),
        (DRIVER.format(last=0), 1.0, [1 / 2, 1 / 2]),
        (EXTENDED, 4.0, [1 / 3, 2 / 3]),
        (FIGURE_2, 3.0, None),
        (FIGURE_3, 2.0, None),
        (FIGURE_6, 3.0, None),
    ],
)
def test_published_values(text: str, value: float, policy: Any) -> None:
    solved = game(text).equilibrium(10.0)
    assert solved.is_proved
    assert solved.lower == pytest.approx(value, abs=1e-9)
    assert solved.upper == pytest.approx(value, abs=1e-8)
    if policy is not None:
        assert solved.strategies[0].policy[0] == pytest.approx(policy, abs=1e-5)


def test_examples_of_gilboa() -> None:
    """I. Gilboa, "A comment on the absent-minded driver paradox", GEB 20, 1997, figures 1 and 2.

    As Gambit's catalogue has them, gilboa1997/fig1 and fig2. By hand, with exits at e and f: the
    driver gets (1-e)(1+3e), which is 4/3 at 1/3; two selves in either order get half of
    (1-e)(1+3f) + (1-f)(1+3e), which is 2 if one exits. Both slopes are 0 at 1/3: the driver's
    optimum is an equilibrium of the selves, though 2/3 below theirs.
    """
    driver = efg("p 1 1", "t 1 0", "p 1 1", "t 2 4", "t 3 1")
    assert driver.audit()[0].met_again == {"(1)": 2}
    assert driver.equilibrium().lower == pytest.approx(4 / 3)
    gaps = driver.gaps([[1 / 3, 2 / 3]])[0]
    assert max(gaps.kkt, gaps.edt[1], gaps.ex_ante[1]) < 1e-8
    first = "p 1 1", "t 1 0", "p 1 2", "t 2 4", "t 3 1"
    second = "p 1 2", "t 4 0", "p 1 1", "t 5 4", "t 6 1"
    selves = efg('c - 1 "" { "a" 1/2 "b" 1/2 } 0', *first, *second)
    assert selves.audit()[0].met_again == {}
    assert selves.equilibrium().lower == pytest.approx(2.0)
    gaps = selves.gaps([[1 / 3, 2 / 3]] * 2)[0]
    assert max(gaps.kkt, gaps.edt[1]) < 1e-8
    assert gaps.ex_ante == pytest.approx((2 / 3, 2 / 3), abs=1e-8)


GAMES = {
    # Once 1, then 5 pays 4 + a - 4aa, best at 1/8; uniform 53/16.
    "noPR-AM-driver-one-player": "p 1 1, p 1 2, p 1 1, t 1 1, p 1 3, t 2 2, t 3 5, t 4 3, t 5 4",
    # Always 2 gets the mean of 7 and 8, not of 1 to 8; the other takes 1/2. If that takes all, x
    # gets 7 - 6x.
    "noPR-action-AM": (
        "p 1 1, p 1 1, p 2 1, t 1 1, t 2 2, p 2 2, t 3 3, t 4 4, p 1 1, p 2 3, t 5 5, t 6 6, p 2 "
        "4, t 7 7, t 8 8"
    ),
    # 2 at once gets 7, uniform 353/64; and the other, met with 1/16, pays 5 - q - qq, at least 3
    # and 17/4 at 1/2.
    "noPR-action-AM-three-chain": (
        "p 1 1, p 1 2, p 1 1, t 1 1, p 1 1, t 2 2, p 2 1, p 2 1, t 3 3, t 4 4, t 5 5, t 6 6, t 7 7"
    ),
    # x for the first action gets 3 - x - xx.
    "AM-driver-one-infoset": "p 1 1, p 1 1, t 1 1, t 2 2, t 3 3",
    # Against 2, 4 - 2x - xx; against 3 more.
    "AM-driver-subgame": "p 1 1, p 1 1, t 1 1, p 2 1, t 2 2, t 3 3, t 4 4",
    # Against the first actions xx + 3x(1 - x) + 5(1 - x), 5 - 2x - 2xx.
    "AM-subgames": "p 1 1, p 1 1, p 2 1, t 1 1, t 2 2, p 2 2, t 3 3, t 4 4, p 2 3, t 5 5, t 6 6",
    # Both at their best later, 2xx + 3x(1 - x) + 6x(1 - x) + 7(1 - x)(1 - x).
    "noPR-action-AM2": (
        "p 1 1, p 1 1, p 1 2, t 1 1, t 2 2, p 2 1, t 3 3, t 4 4, p 1 1, p 1 3, t 5 5, t 6 6, p 2 "
        "2, t 7 7, t 8 8"
    ),
    # 2 thrice, then 2 gets 18 or more; the other can keep it at 18.
    "noPR-action-big-AM": (
        "p 1 1, p 1 1, p 1 1, p 2 1, t 1 1, t 2 2, p 2 2, t 3 3, t 4 4, p 1 1, p 2 3, t 5 5, t 6 "
        "6, p 2 3, t 7 7, t 8 8, p 1 1, p 1 1, p 2 4, t 9 9, t 10 10, p 2 4, t 11 11, t 12 12, p "
        "1 1, p 1 2, p 1 3, t 13 13, t 14 14, p 2 5, t 15 15, t 16 16, p 1 2, t 17 17, p 2 6, t "
        "18 18, p 1 4, t 19 19, t 20 20"
    ),
    # The other opens; it leaves a choice between 1 and 2, or gives 3.
    "AM-unary-branches": (
        "p 2 1, u 1 1, u 1 1, u 1 2, u 2 2, p 1 3, u 2 2, t 1 1, t 2 2, u 1 2, t 3 3"
    ),
}

MET = {
    **dict.fromkeys(GAMES, ({"(1)": 2}, {})),
    "noPR-action-AM-three-chain": ({"(1)": 3}, {"(1)": 2}),
    "noPR-action-big-AM": ({"(1)": 3}, {}),
    "AM-unary-branches": ({"(1)": 2}, {"(2)": 2}),
}
"""Rows of both players that are met again, and how often."""

VALUES = {
    "noPR-AM-driver-one-player": 65 / 16,
    "noPR-action-AM": 7,
    "noPR-action-AM-three-chain": 7,
    "AM-driver-one-infoset": 3,
    "AM-driver-subgame": 4,
    "AM-subgames": 5,
    "noPR-action-AM2": 7,
    "noPR-action-big-AM": 18,
    "AM-unary-branches": 2,
}

UNIFORM: dict[str, tuple[list[float], tuple[float, float], float]] = {
    "noPR-AM-driver-one-player": ([1, 1 / 2, 1 / 8], (12 / 16, 0), 65 / 16),
    "noPR-action-AM": ([1, 1 / 4, 1 / 4, 1 / 4, 1 / 4], (3, 1 / 2), 15 / 2),
    "noPR-action-AM-three-chain": ([1, 1 / 2, 1 / 16], (95 / 64, 5 / 64), 7),
}
"""Of the uniform policy: how often rows are reached, what both gain ex ante, and the best reply."""

QUICK = [name for name in GAMES if name != "noPR-AM-driver-one-player"]


@pytest.mark.parametrize("name", mostly_slow(GAMES, *QUICK))
def test_games_of_gambit(name: str) -> None:
    """Games of Gambit's tests, met again and reached once at least as its tests say, uniformly.

    tests/test_games, ABSENT_MINDEDNESS_CASES and test_absent_minded_infoset_prob (#676, #835). It
    has no payoffs and no values: those are by hand.
    """
    made, value = efg(*GAMES[name].split(", ")), VALUES[name]
    assert tuple(one.met_again for one in made.audit()) == MET[name]
    solved = made.equilibrium()
    assert solved.is_proved
    assert (solved.lower, solved.upper) == pytest.approx((value, value), abs=1e-7)
    if name not in UNIFORM:
        return
    reached, gained, best = UNIFORM[name]
    tree = made.tree
    assert tree is not None
    order = {int(row): None for row in tree.row[tree.row >= 0]}
    assert made.met("uniform")[[*order]] == pytest.approx(reached)
    for one, gain in zip(made.gaps("uniform", 60.0), gained, strict=True):
        assert one.ex_ante == pytest.approx((gain, gain), abs=1e-8)
    assert made.attack("uniform").seats[0] == pytest.approx(best)


@pytest.mark.slow
def test_policies_of_two_players_have_no_value_but_mixtures_of_them_do() -> None:
    """An absent-minded driver and a policeman, who waits at the first exit or at the end.

    By hand: on by p the driver gets 1 - p or pp, at best (3 - 5**0.5) / 2 for sure. The policeman
    who waits with q gives away the most of q(1-p) + (1-q)pp, which is convex in p: max(q, 1 - q).
    With 1/2 that is 1/2. A driver who draws between p = 0 and p = 1 gets half of 1 + 0 wherever the
    policeman is: the value is 1/2.
    """
    made = efg(*("p 1 1", "p 1 1", "p 2 1", "t 1 0", "t 2 1", "t 3 0", "p 2 1", "t 4 1", "t 5 0"))
    on = (5**0.5 - 1) / 2
    found = made.attack([[on, 1 - on], [0.5, 0.5]])
    assert found.is_proved
    assert found.seats == pytest.approx((1 / 2, -(1 - on)))
    for share in np.linspace(0.0, 1.0, 21):
        seats = made.attack([[share, 1 - share], [share, 1 - share]]).seats
        assert seats[0] >= 1 / 2 - 1e-12
        assert -seats[1] <= 1 - on
    solved = made.equilibrium(10.0)
    assert solved.is_proved
    assert (solved.lower, solved.upper) == pytest.approx((1 / 2, 1 / 2), abs=1e-9)
    driver, policeman = solved.strategies
    assert sorted(driver.policies[:, 0, 0]) == pytest.approx([0.0, 1.0], abs=1e-6)
    assert driver.chances == pytest.approx([1 / 2, 1 / 2])
    assert policeman.policies[:, 1] == pytest.approx(np.full((1, 2), 1 / 2))
    apart = made.in_policies(20.0)
    assert apart.is_proved
    assert apart.lower <= 1 - on <= apart.upper
    assert apart.second is not None
    assert apart.second.is_proved
    assert apart.second.lower <= 1 / 2 <= apart.second.upper


@pytest.mark.slow
def test_who_cannot_act_differently_twice() -> None:
    """Two acts of one row differ with d = 2p(1-p), in mixtures anything from 0 to 1/2.

    By hand: a guesser loses 3 for "alike" if they differ, 1 for "different" if not: 3d or 1 - d,
    alike at d = 1/4, worth 3/4; to guess "alike" with 1/4 costs 3/4 whatever d is. If the other
    acts twice as well, e alike, de + (1-d)(1-e) is paid: d = 0 secures 1 - e, so 1/2 or more, and
    e = 1/2 allows 1/2. Mixtures of pure strategies have d = e = 0: there both were worth 0 and 1.
    """

    def twice(player: int, alike: Any, differ: Any) -> list[str]:
        act = f"p {player} 1"
        return [act, act, *alike, *differ, act, *differ, *alike]

    guessed = twice(1, ["p 2 1", "t 1 0", "t 2 1"], ["p 2 1", "t 3 3", "t 1 0"])
    met = twice(1, twice(2, ["t 1 1"], ["t 2 0"]), twice(2, ["t 2 0"], ["t 1 1"]))
    for lines, value in ((guessed, 3 / 4), (met, 1 / 2)):
        solved = efg(*lines).equilibrium(10.0)
        assert solved.is_proved
        assert (solved.lower, solved.upper) == pytest.approx((value, value), abs=1e-8)


def test_a_driver_of_three_exits_has_three_cdt_equilibria() -> None:
    """By hand: 7 - 7p + 22pp - 20ppp falls at 0, and has no slope at 7/30 and 1/2; 7 is best."""
    made = efg("p 1 1", "p 1 1", "p 1 1", "t 1 2", "t 2 22", "t 3 0", "t 4 7")
    for on in (0.0, 7 / 30, 1 / 2):
        gaps = made.gaps([[on, 1 - on]])[0]
        short = 7 * on - 22 * on**2 + 20 * on**3
        assert gaps.kkt == pytest.approx(0.0, abs=1e-9)
        assert gaps.ex_ante == pytest.approx((short, short), abs=1e-7)
    assert made.gaps([[0.4, 0.6]])[0].kkt > 0.1


def test_solution_concepts_of_the_driver() -> None:
    """By hand: 4x - 3xx has the slope 1 at 1/2, half of which is moved; and 5/4 there, not 4/3."""
    tree = tree_of(DRIVER.format(last=1))
    decision = Decision.of(tree, tree.uniform())
    gaps = decision.gaps(tree.uniform())
    assert gaps.kkt == pytest.approx(1 / 2)
    assert gaps.edt == pytest.approx((1 / 12, 1 / 12), abs=1e-8)
    assert gaps.ex_ante == pytest.approx((1 / 12, 1 / 12), abs=1e-8)
    best = decision.gaps(np.array([[1 / 3, 2 / 3]]))
    assert max(best.kkt, best.edt[1], best.ex_ante[1]) < 1e-8


def test_the_concepts_differ() -> None:
    """Two rows, l and L: no row alone gains, so it is an EDT equilibrium, worth 1 of 2."""
    found = Decision.of(tree := tree_of(FIGURE_3), tree.uniform())
    worse = np.array([[1.0, 0.0], [1.0, 0.0]])
    gaps = found.gaps(worse)
    assert gaps.kkt == pytest.approx(0.0)
    assert gaps.edt == pytest.approx((0.0, 0.0))
    assert gaps.ex_ante == pytest.approx((1.0, 1.0), abs=1e-8)
    # A row that is met twice: to go on once more is worse, to go on twice is best.
    far = (
        DRIVER.format(last=3)
        .replace("1=4", "1=-1")
        .replace("exit leaf payoffs 1=0", "exit leaf payoffs 1=1")
    )
    decision = Decision.of(tree := tree_of(far), tree.uniform())
    gaps = decision.gaps(np.array([[1.0, 0.0]]))
    assert gaps.kkt == pytest.approx(0.0)
    assert gaps.edt == pytest.approx((2.0, 2.0), abs=1e-8)


def test_problems_with_seeds(problems: Any) -> None:
    """By hand: two lines in a row of three cells share the middle; one question finds it."""
    one = from_rules(problems.RandomTree(seed=1))
    assert one.digest() == from_rules(problems.RandomTree(seed=1)).digest()
    assert one.digest() != from_rules(problems.RandomTree(seed=2)).digest()
    detection = problems.Detection(height=1, width=3, length=2, rounds=1, seed=3)
    worth = [max(cells.values()) for cells in problems._lines(1, 3, 2, 3).values()]
    assert hogeq.Game(detection).equilibrium().lower == pytest.approx(sum(worth) / 2)
    # With one test and one scenario, b the probability to act badly: passing it is 1 - 0.7 b.
    simulation = problems.Simulation(scenarios=1, tests=1, cases=1, seed=0)
    ((good, bad),) = problems._rewards(1, 0)
    made = hogeq.Game(simulation)
    best = max(
        (0.3 + 0.7 * (1 - b)) * (float(good) * (1 - b) + float(bad) * b)
        for b in np.linspace(0.0, 1.0, 10_001)
    )
    assert made.audit()[0].met_again == {"scenario 0": 2}
    assert made.equilibrium().lower == pytest.approx(best, abs=1e-7)
    assert from_rules(problems.Detection(height=3, width=3, length=3, rounds=3)).num_nodes > 4000
