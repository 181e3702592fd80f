"""Absent-minded decisions: published values, and random trees against a twin in fractions."""

import itertools
import os
import re
import runpy
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

import hogeq
from hogeq.solvers import dags
from hogeq.support.aliases import Floats
from hogeq.support.deadline import Deadline
from hogeq.trees import absent, building
from hogeq.trees import text as text_format
from hogeq.trees.absent import Decision, Step
from hogeq.trees.building import Node, flatten
from hogeq.trees.flat import TERMINAL, FlatTree, payoff, reach
from hogeq.trees.loading import load_tree
from hogeq.trees.rules import from_rules
from hogeq.trees.strategies import met, tree_strategy
from tests.cli.calls import ok
from tests.trees.absent_twin import Problem

PROBLEMS = Path(__file__).parents[2] / "experiments" / "problems.py"

# E. Tewolde et al., arXiv 2602.15252: the small problems of its repository. Each value follows by
# hand: 4x(1 - x) at 1/2; 27(1 - x)xx at 2/3; of Piccione and Rubinstein's, "On the interpretation
# of decision problems with imperfect recall", GEB 20, 1997, all are best pure.
DRIVER = """# two exits that look alike, the second pays 4
node / player 1 actions exit on
node /P1:exit leaf payoffs 1=0
node /P1:on player 1 actions exit on
node /P1:on/P1:exit leaf payoffs 1=4
node /P1:on/P1:on leaf payoffs 1={last}
infoset highway nodes / /P1:on
"""
EXTENDED = """node / player 1 actions exit on
node /P1:exit leaf payoffs 1=0
node /P1:on player 1 actions exit on
node /P1:on/P1:exit leaf payoffs 1=0
node /P1:on/P1:on player 1 actions exit on
node /P1:on/P1:on/P1:exit leaf payoffs 1=27
node /P1:on/P1:on/P1:on leaf payoffs 1=0
infoset highway nodes / /P1:on /P1:on/P1:on
"""
FIGURE_2 = """node / chance actions heads=1/2 tails=0.5
node /C:heads player 1 actions stay go
node /C:heads/P1:stay leaf payoffs 1=2
node /C:heads/P1:go player 1 actions left right
node /C:heads/P1:go/P1:left leaf payoffs 1=3
node /C:heads/P1:go/P1:right leaf payoffs 1=0
node /C:tails player 1 actions stay go
node /C:tails/P1:stay leaf payoffs 1=2
node /C:tails/P1:go player 1 actions left right
node /C:tails/P1:go/P1:left leaf payoffs 1=0
node /C:tails/P1:go/P1:right leaf payoffs 1=4
infoset first nodes /C:heads
infoset other nodes /C:tails
infoset last nodes /C:heads/P1:go /C:tails/P1:go
"""
FIGURE_3 = """node / player 1 actions l r
node /P1:l player 1 actions L R
node /P1:l/P1:L leaf payoffs 1=1
node /P1:l/P1:R leaf payoffs 1=0
node /P1:r player 1 actions L R
node /P1:r/P1:L leaf payoffs 1=0
node /P1:r/P1:R leaf payoffs 1=2
infoset first nodes /
infoset last nodes /P1:l /P1:r
"""
FIGURE_6 = """node / chance actions l=0.5 r=0.5
node /C:l player 1 actions stay go
node /C:l/P1:stay leaf payoffs 1=3
node /C:l/P1:go player 1 actions stop on
node /C:l/P1:go/P1:stop leaf payoffs 1=0
node /C:l/P1:go/P1:on leaf payoffs 1=2
node /C:r player 1 actions stop on
node /C:r/P1:stop leaf payoffs 1=3
node /C:r/P1:on player 1 actions stay go
node /C:r/P1:on/P1:stay leaf payoffs 1=0
node /C:r/P1:on/P1:go leaf payoffs 1=2
infoset one nodes /C:r /C:l/P1:go
infoset two nodes /C:l /C:r/P1:on
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def seeds(few: int, many: int) -> list[Any]:
    """Give seeds, of which some are for long tests."""
    return [*range(few), *(pytest.param(one, marks=pytest.mark.slow) for one in range(few, many))]


def game(text: str) -> hogeq.Game:
    Path("problem.txt").write_text(text)
    return hogeq.Game("problem.txt")


def tree_of(text: str) -> FlatTree:
    tree = game(text).tree
    assert tree is not None
    return tree


@pytest.fixture(scope="module")
def problems() -> Any:
    """Games that `experiments/problems.py` registers, while these tests run."""
    from hogeq.trees.rules import GAMES

    before = dict(GAMES)
    for name in [name for name, kind in GAMES.items() if not kind.__module__.startswith("hogeq.")]:
        del GAMES[name]  # another test may have run the script
    yield SimpleNamespace(**runpy.run_path(str(PROBLEMS)))
    GAMES.clear()
    GAMES.update(before)


def drawn(problems: Any, seed: int, **more: int) -> FlatTree:
    """Draw a small tree with a decision or more."""
    tree = from_rules(problems.RandomTree(**{"most": 4, "sets": 1, "seed": seed, **more}))
    return tree if tree.num_rows else drawn(problems, seed + 1000, **more)


def random_policy(tree: FlatTree, random: Any) -> Floats:
    weights = random.random((tree.num_rows, tree.num_actions)) * tree.legal
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


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


def efg(*lines: str) -> hogeq.Game:
    """Read Gambit's format: `p player set` of two actions, or `u` of one, `t number payoff`."""
    full = []
    for kind, first, last in (line.split(maxsplit=2) for line in lines):
        actions = {"p": '"1" "2"', "u": '"1"'}.get(kind)
        tail = f'{first} {last} "" {{ {actions} }} 0' if actions else f'{first} ""'
        tail = f"{tail} {{ {last}, -{last} }}" if kind == "t" else tail
        full.append(f'{"p" if actions else kind} "" {last if kind == "c" else tail}\n')
    Path("game.efg").write_text('EFG 2 R "game" { "one" "two" }\n' + "".join(full))
    return hogeq.Game("game.efg")


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


@pytest.mark.parametrize(
    ("lines", "again", "reached", "gained", "best", "value"),
    [
        # noPR-AM-driver-one-player: once 1, then 5 pays 4 + a - 4aa, best at 1/8; uniform 53/16.
        (
            ("p 1 1", "p 1 2", "p 1 1", "t 1 1", "p 1 3", "t 2 2", "t 3 5", "t 4 3", "t 5 4"),
            ({"(1)": 2}, {}),
            [1, 1 / 2, 1 / 8],
            (12 / 16, 0),
            65 / 16,
            65 / 16,
        ),
        # noPR-action-AM: always 2 gets the mean of 7 and 8, not of 1 to 8; the other takes 1/2. If
        # that takes all, x gets 7 - 6x.
        (
            (
                *("p 1 1", "p 1 1", "p 2 1", "t 1 1", "t 2 2", "p 2 2", "t 3 3", "t 4 4"),
                *("p 1 1", "p 2 3", "t 5 5", "t 6 6", "p 2 4", "t 7 7", "t 8 8"),
            ),
            ({"(1)": 2}, {}),
            [1, 1 / 4, 1 / 4, 1 / 4, 1 / 4],
            (3, 1 / 2),
            15 / 2,
            7,
        ),
        # noPR-action-AM-three-chain: 2 at once gets 7, uniform 353/64; and the other, met with
        # 1/16, pays 5 - q - qq, at least 3 and 17/4 at 1/2.
        (
            (
                *("p 1 1", "p 1 2", "p 1 1", "t 1 1", "p 1 1", "t 2 2", "p 2 1", "p 2 1"),
                *("t 3 3", "t 4 4", "t 5 5", "t 6 6", "t 7 7"),
            ),
            ({"(1)": 3}, {"(1)": 2}),
            [1, 1 / 2, 1 / 16],
            (95 / 64, 5 / 64),
            7,
            7,
        ),
    ],
)
def test_games_of_gambit(
    lines: Any, again: Any, reached: list[float], gained: Any, best: float, value: float
) -> None:
    """Games of Gambit's tests, met again and reached once at least as its tests say, uniformly.

    tests/test_games, ABSENT_MINDEDNESS_CASES and test_absent_minded_infoset_prob (#676, #835). It
    has no payoffs: those, against the uniform policy, are by hand.
    """
    made = efg(*lines)
    assert tuple(one.met_again for one in made.audit()) == again
    tree = made.tree
    assert tree is not None
    order = {int(row): None for row in tree.row[tree.row >= 0]}
    assert made.met("uniform")[[*order]] == pytest.approx(reached)
    for one, gain in zip(made.gaps("uniform", 60.0), gained, strict=True):
        assert one.ex_ante == pytest.approx((gain, gain), abs=1e-8)
    assert made.attack("uniform").seats[0] == pytest.approx(best)
    solved = made.equilibrium()
    assert solved.is_proved
    assert (solved.lower, solved.upper) == pytest.approx((value, value), abs=1e-7)


@pytest.mark.parametrize("seed", seeds(4, 20))
def test_a_play_meets_a_row_or_does_not(seed: int, problems: Any) -> None:
    """By the list of all plays, each with the set of rows that it meets."""
    tree = drawn(problems, seed, most=5, sets=2)
    policy = random_policy(tree, np.random.default_rng(seed))
    come, expected = reach(tree, policy), np.zeros(tree.num_rows)
    for end in np.flatnonzero(tree.player == TERMINAL).tolist():
        rows, node = set[int](), int(tree.parent[end])
        while node >= 0:
            rows.add(int(tree.row[node]))
            node = int(tree.parent[node])
        expected[[*(rows - {-1})]] += come[end]
    one = tree_strategy(tree, policy)
    assert met(tree, one, one) == pytest.approx(expected, abs=1e-12)
    visits = np.bincount(tree.row[tree.row >= 0], come[tree.row >= 0], tree.num_rows)
    assert (expected <= visits + 1e-12).all()
    assert seed or (expected < visits - 1e-3).any()


@pytest.mark.parametrize(
    ("lines", "again", "value"),
    [
        # AM-driver-one-infoset: x for the first action gets 3 - x - xx.
        (("p 1 1", "p 1 1", "t 1 1", "t 2 2", "t 3 3"), ({"(1)": 2}, {}), 3),
        # AM-driver-subgame: against 2, 4 - 2x - xx; against 3 more.
        (
            ("p 1 1", "p 1 1", "t 1 1", "p 2 1", "t 2 2", "t 3 3", "t 4 4"),
            ({"(1)": 2}, {}),
            4,
        ),
        # AM-subgames: against the first actions xx + 3x(1 - x) + 5(1 - x), 5 - 2x - 2xx.
        (
            (
                *("p 1 1", "p 1 1", "p 2 1", "t 1 1", "t 2 2", "p 2 2", "t 3 3", "t 4 4"),
                *("p 2 3", "t 5 5", "t 6 6"),
            ),
            ({"(1)": 2}, {}),
            5,
        ),
        # noPR-action-AM2: both at their best later, 2xx + 3x(1 - x) + 6x(1 - x) + 7(1 - x)(1 - x).
        (
            (
                *("p 1 1", "p 1 1", "p 1 2", "t 1 1", "t 2 2", "p 2 1", "t 3 3", "t 4 4"),
                *("p 1 1", "p 1 3", "t 5 5", "t 6 6", "p 2 2", "t 7 7", "t 8 8"),
            ),
            ({"(1)": 2}, {}),
            7,
        ),
        # noPR-action-big-AM: 2 thrice, then 2 gets 18 or more; the other can keep it at 18.
        (
            (
                *("p 1 1", "p 1 1", "p 1 1", "p 2 1", "t 1 1", "t 2 2", "p 2 2", "t 3 3", "t 4 4"),
                *("p 1 1", "p 2 3", "t 5 5", "t 6 6", "p 2 3", "t 7 7", "t 8 8", "p 1 1", "p 1 1"),
                *("p 2 4", "t 9 9", "t 10 10", "p 2 4", "t 11 11", "t 12 12", "p 1 1", "p 1 2"),
                *("p 1 3", "t 13 13", "t 14 14", "p 2 5", "t 15 15", "t 16 16", "p 1 2", "t 17 17"),
                *("p 2 6", "t 18 18", "p 1 4", "t 19 19", "t 20 20"),
            ),
            ({"(1)": 3}, {}),
            18,
        ),
        # AM-unary-branches: the other opens; it leaves a choice between 1 and 2, or gives 3.
        (
            (
                *("p 2 1", "u 1 1", "u 1 1", "u 1 2", "u 2 2", "p 1 3", "u 2 2", "t 1 1", "t 2 2"),
                *("u 1 2", "t 3 3"),
            ),
            ({"(1)": 2}, {"(2)": 2}),
            2,
        ),
    ],
)
def test_more_games_of_gambit(lines: Any, again: Any, value: float) -> None:
    """Games of its tests/test_games; its tests have no values: these are by hand."""
    made = efg(*lines)
    assert tuple(one.met_again for one in made.audit()) == again
    solved = made.equilibrium()
    assert solved.is_proved
    assert (solved.lower, solved.upper) == pytest.approx((value, value), abs=1e-7)


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


def both(
    seed: int, most: int = 2, depth: int = 4, sets: int = 1, scale: float = 1.0, above: float = 0.0
) -> FlatTree:
    """Draw a game of players who see the number of actions and one of some sets, no more."""

    def look(path: tuple[int, ...]) -> Node:
        draw = np.random.default_rng([seed, *(1 + place for place in path)])
        if len(path) == depth:
            return Node(TERMINAL, payoff=above + scale * float(draw.integers(9)))
        mover, width, key = (int(draw.integers(*one)) for one in ((-1, 2), (2, most + 1), (sets,)))
        moves = [(place, 1 / width, (*path, place)) for place in range(width)]
        return Node(mover, f"{width}, {key}" if mover >= 0 else None, moves=moves)

    return flatten("both", (), look, lambda moves: [*map(str, moves)])


@pytest.mark.parametrize("seed", seeds(4, 20))
def test_no_policy_of_a_grid_beats_an_equilibrium(seed: int) -> None:
    """The twin: every policy of a grid against each mixture, and the program of the whole grid."""
    tree = both(seed)
    if {*tree.seat.tolist()} != {0, 1}:
        return
    solved = dags.solve_tree(tree, Deadline(10.0, time.process_time))  # some 4 s
    shares = np.linspace(0.0, 1.0, 41)
    every = [np.array([[one, 1.0 - one]] * 2) for one in shares]
    worth = np.array([[payoff(tree, one, two) for two in every] for one in every])
    first, second = solved.strategies
    drawn = [*zip(first.chances, first.policies, strict=True)]
    for policy in every:
        assert sum(w * payoff(tree, one, policy) for w, one in drawn) >= solved.lower - 1e-12
    drawn = [*zip(second.chances, second.policies, strict=True)]
    for policy in every:
        assert sum(w * payoff(tree, policy, one) for w, one in drawn) <= solved.upper + 1e-12
    ends = np.append(np.zeros(41), -1.0), np.append(np.ones(41), 0.0)[None]
    limits = [*[(0.0, None)] * 41, (None, None)]
    above = np.column_stack([-worth.T, np.ones(41)])
    found = linprog(ends[0], above, np.zeros(41), *(ends[1], [1.0]), limits)
    assert solved.lower - 1e-2 <= -found.fun <= solved.upper + 1e-2
    assert solved.upper - solved.lower <= 1e-6


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


def test_gaps_of_two_players_sum_to_nash_conv() -> None:
    """NashConv is what both gain by best responses (Lanctot et al., NIPS 2017)."""
    game = hogeq.Game("kuhn_poker")
    first, second = game.gaps("uniform")
    gained = first.ex_ante[0] + second.ex_ante[0]
    assert gained == pytest.approx(2.0 * game.exploitability("uniform").lower)
    assert first.kkt == pytest.approx(first.edt[1])  # no row is met twice
    nothing = game.gaps(game.joined(*game.equilibrium().strategies))[0]
    assert max(nothing.kkt, nothing.edt[1], nothing.ex_ante[1]) < 1e-8


@pytest.mark.parametrize("seed", seeds(5, 15))
def test_payoffs_and_derivatives(seed: int, problems: Any) -> None:
    random, tree = np.random.default_rng(seed), drawn(problems, seed, most=5)
    policy = random_policy(tree, random)
    decision, twin = Decision.of(tree, policy), Problem(tree, 0, policy)
    assert decision.value(policy) == pytest.approx(float(twin.value(policy)))
    _, slopes, gaps = decision.values(policy[..., None])
    step = 1e-6
    for row in decision.rows:
        assert decision.visits[row] == twin.visits()[row]
        for action in np.flatnonzero(tree.legal[row]):
            moved = [policy.copy(), policy.copy()]
            for sign, one in zip((-1, 1), moved, strict=True):
                one[row, action] += sign * step
            down, up = map(decision.value, moved)
            assert slopes[row, action, 0] == pytest.approx((up - down) / (2 * step), abs=1e-6)
        best = slopes[row, tree.legal[row], 0].max()
        assert gaps[row, 0] == pytest.approx(best - policy[row] @ slopes[row, :, 0])


def grid(tree: FlatTree, parts: int) -> Iterator[Floats]:
    """Policies whose probabilities are multiples of 1 / parts."""
    rows = [
        [one for one in product(range(parts + 1), repeat=int(count)) if sum(one) == parts]
        for count in tree.num_legal
    ]
    for chosen in product(*rows):
        policy = np.zeros((tree.num_rows, tree.num_actions))
        for row, one in enumerate(chosen):
            policy[row, : len(one)] = np.array(one) / parts
        yield policy


# Of 31 the bound is loose until a row that is met once is pinned.
@pytest.mark.parametrize("seed", [31, *seeds(6, 31)])
def test_no_policy_of_a_grid_is_better(seed: int, problems: Any) -> None:
    width, sets = (3, 1) if seed == 0 else (2, 1 + seed % 2)
    tree = drawn(problems, seed, width=width, sets=sets, most=5)
    decision, twin = Decision.of(tree, tree.uniform()), Problem(tree, 0, tree.uniform())
    solved = decision.solve(5.0)
    assert solved.value == pytest.approx(float(twin.value(solved.policy)), abs=1e-12)
    best = max(map(decision.value, grid(tree, 12 if tree.num_rows > 1 else 200)))
    assert best - 1e-12 <= solved.value <= solved.bound
    assert solved.bound <= solved.value + 1e-3  # most are closed, and all nearly
    assert decision.solve(0.0).bound >= solved.value - 1e-12


@pytest.mark.parametrize("seed", seeds(8, 40))
def test_no_policy_in_a_box_exceeds_its_bound(seed: int, problems: Any) -> None:
    """Pinned rows that are met once bound all of their free selves, too."""
    random = np.random.default_rng(seed)
    tree = drawn(problems, seed, most=5, width=3, sets=1 + seed % 3)
    decision = Decision.of(tree, tree.uniform())
    for size in (1.0, 0.3, 0.01):
        points = np.stack([random_policy(tree, random) for _ in range(50)], axis=2)
        points = points[..., :1] + size * (points - points[..., :1])
        lower, upper = points.min(axis=2), points.max(axis=2)
        bound = decision.bounds(lower[..., None], upper[..., None])[0][0]
        worth = decision.values(points)[0]
        assert worth.max() <= bound + 1e-12
        if size < 0.1:  # by the square of the width
            assert bound <= worth.max() + 0.1


@pytest.mark.parametrize("seed", seeds(8, 40))
def test_steps_prove_the_bound_in_fractions(seed: int, problems: Any) -> None:
    tree = drawn(problems, seed, width=2 + seed % 2, sets=1 + seed % 2)
    decision = Decision.of(tree, tree.uniform())
    solved = decision.solve(0.05)
    assert len(solved.steps) < 2000
    steps = solved.steps[:40]
    proved = float(Problem(tree, 0, tree.uniform()).proved(steps))
    # A part of the steps proves less.
    assert (proved <= solved.bound + 1e-12) or len(steps) < len(solved.steps)
    assert proved >= solved.value - 1e-12


def scaled(seed: int) -> tuple[FlatTree, Floats, Any]:
    """Draw a game with payoffs of any size, a policy of both players, and a generator."""
    random = np.random.default_rng([1, seed])
    most, sets = int(random.integers(2, 4)), int(random.integers(1, 3))
    scale = float(10.0 ** random.integers(-6, 7))
    above = float(random.choice([0.0, -4.0, 100.0])) * scale
    depth = int(random.integers(3, 6 if most == 2 else 5))
    tree = both(seed + 1000, most, depth, sets, scale, above)
    return (tree, random_policy(tree, random), random) if tree.num_rows else scaled(seed + 10_000)


def climbed(worth: Callable[[Floats], float], policy: Floats, rows: Any, legal: Any) -> float:
    """Climb by differences, one action of one row at a time: the best payoff on the way."""
    best, step = worth(policy), 0.5
    while step > 1e-3:
        moves = []
        for row in rows:
            for action in np.flatnonzero(legal[row]):
                moved = policy.copy()
                moved[row] *= 1.0 - step
                moved[row, action] += step
                moves.append((worth(moved), moved))
        top, moved = max(moves, key=lambda one: one[0])
        policy, step = (moved, step) if top > best else (policy, step / 2.0)
        best = max(best, top)
    return best


@pytest.mark.parametrize("seed", seeds(30, 400))
def test_no_policy_beats_a_bound(seed: int) -> None:
    """The attack: random policies, pure ones and climbs, in payoffs of the tree itself."""
    tree, policy, random = scaled(seed)
    player = int(random.choice(tree.seat))
    own = np.flatnonzero(tree.seat == player)
    decision = Decision.of(tree, policy, player)

    def worth(one: Floats) -> float:
        first, second = (one, policy) if player == 0 else (policy, one)
        paid = payoff(tree, first, second)
        return paid if player == 0 else 2.0 * tree.shift - paid

    def moved(rows: Floats) -> Floats:
        return np.where(tree.seat[:, None] == player, rows, policy)

    tries = [moved(random_policy(tree, random)) for _ in range(40)]
    eye = np.eye(tree.num_actions)
    tries += [moved(eye[random.integers(tree.num_legal)]) for _ in range(40)]
    best = max(map(worth, tries))
    for one in (max(tries, key=worth), tries[0], moved(tree.uniform())):
        best = max(best, climbed(worth, one, own, tree.legal))
    slack = 1e-12 * decision.unit + 1e-15 * float(np.abs(decision.payoffs).max())
    for seconds in (0.0, 0.1):
        solved = decision.solve(seconds)
        assert worth(moved(solved.policy)) == pytest.approx(solved.value, abs=slack, rel=1e-12)
        assert max(best, solved.value) <= solved.bound + slack
    rows = own[random.random(len(own)) < 0.5]  # the others stay as they are
    found = decision.solve(0.05, policy, rows)
    assert climbed(worth, policy, rows, tree.legal) <= found.bound + slack if len(rows) else True


def forged(steps: list[Step], tree: FlatTree, twin: Problem, random: Any) -> list[Any]:
    """Make a proof false in one of many ways."""
    steps, at, rows = [*steps], int(random.integers(len(steps))), [*twin.visits()]
    one, way = steps[at], int(random.integers(10))
    if way == 0:
        del steps[at]
    elif way == 1:
        steps.insert(at, one)
    elif way == 2:
        steps[at] = one._replace(leaf=int(random.integers(-2, 2 * len(steps) + 3)))
    elif way == 3:
        steps[at] = one._replace(row=int(random.integers(-1, tree.num_rows + 1)))
    elif way == 4:
        steps[at] = one._replace(
            cut=float(random.choice([0, 1, -0.5, 2.0, np.nan, random.random()]))
        )
    elif way == 5:
        steps[at] = one._replace(action=int(random.integers(-3, tree.num_actions + 1)))
    elif way == 6:
        steps[at] = Step(one.leaf, int(random.choice(rows)), -1, 0.0)
    elif way == 7:
        random.shuffle(steps)
    elif way == 8:
        steps = steps[:at]
    else:
        steps[at] = Step(one.leaf, int(random.choice(rows)), 0, float(random.random()))
    return steps


@pytest.mark.parametrize("seed", seeds(12, 150))
def test_no_false_proof_is_taken(seed: int) -> None:
    """The twin refuses it, or what it proves is true all the same; and a lower bound never is."""
    tree, policy, random = scaled(seed)
    twin = Problem(tree, int(random.choice(tree.seat)), policy)
    if tree.num_nodes > 120:
        return
    decision = Decision.of(tree, policy, twin.player)
    solved = decision.solve(0.05)
    steps, best = solved.steps[:12], twin.value(solved.policy)
    true = twin.proved(steps)
    assert true >= best
    if len(steps) == len(solved.steps):
        assert float(true) <= solved.bound + 1e-12 * max(decision.unit, abs(solved.bound))
    for _ in range(10 if steps else 0):
        with suppress(ValueError):
            assert twin.proved(forged(steps, tree, twin, random)) >= best


def test_a_twin_finds_a_false_proof() -> None:
    tree = tree_of(DRIVER.format(last=1))
    solved = Decision.of(tree, tree.uniform()).solve(5.0)
    twin = Problem(tree, 0, tree.uniform())
    assert float(twin.proved(solved.steps)) == pytest.approx(solved.bound, abs=1e-12)
    assert float(twin.proved(solved.steps[:-5])) > solved.bound + 1e-10
    first, *others = solved.steps
    for wrong in (
        [first._replace(action=-1)],  # pure is not enough
        [first._replace(action=-2)],
        [first._replace(action=2)],
        [first._replace(cut=1.0)],
        [first._replace(cut=np.nan)],
        [first._replace(row=1)],
        [first._replace(leaf=-1)],
        [first, first],
        others,
    ):
        with pytest.raises(ValueError, match="step "):
            twin.proved(wrong)


def test_leaves_too_thin_to_halve_keep_their_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing is halved the bound of the root is all that is proved."""
    tree = tree_of(DRIVER.format(last=1))
    decision = Decision.of(tree, tree.uniform())
    root = float(Problem(tree, 0, tree.uniform()).proved([]))
    monkeypatch.setattr(absent, "THIN", 1.0)
    solved = decision.solve(1.0)
    assert solved.steps == []
    assert solved.bound == pytest.approx(root, abs=1e-11)
    assert solved.bound > solved.value + 0.1
    monkeypatch.setattr(absent, "THIN", 0.3)
    thin = decision.solve(1.0)
    assert 4 / 3 < thin.bound < solved.bound
    assert thin.bound > thin.value + 1e-6


def test_two_players_answer_each_other() -> None:
    """The driver meets a second player, who blocks the second exit or not and sees nothing."""
    text = """node / player 1 actions exit on
node /P1:exit leaf payoffs 1=0 2=0
node /P1:on player 1 actions exit on
node /P1:on/P1:exit player 2 actions block open
node /P1:on/P1:exit/P2:block leaf payoffs 1=-2 2=2
node /P1:on/P1:exit/P2:open leaf payoffs 1=4 2=-4
node /P1:on/P1:on leaf payoffs 1=1 2=-1
infoset highway nodes / /P1:on
infoset gate nodes /P1:on/P1:exit
"""
    made = game(text)
    assert made.tree is not None
    found = made.attack(np.array([[0.5, 0.5], [0.0, 1.0]]))
    # The driver meets an open gate: 4/3. The gatekeeper meets 1/2: 2/4 - 1/4.
    assert found.is_proved
    assert found.seats == pytest.approx((4 / 3, 1 / 4))
    assert found.strategy.policy[0] == pytest.approx([1 / 3, 2 / 3], abs=1e-5)
    assert found.strategy.policy[1] == pytest.approx([1.0, 0.0])
    # Against a gate that is open half of the time, the middle of both payoffs counts: 1.
    half = made.attack(hogeq.Mixture([0.5, 0.5], [[[1, 0], [1, 0]], [[1, 0], [0, 1]]]))
    assert half.seats[0] == pytest.approx(1.0)  # x(1 - x) + xx: on for ever
    # On for ever gets 1; a gate blocked with 1/3 or more allows x(1 - x)c + xx, c <= 2: no more.
    solved = made.equilibrium(5.0)
    assert solved.is_proved
    assert (solved.lower, solved.upper) == pytest.approx((1.0, 1.0), abs=1e-8)
    with pytest.raises(
        ValueError, match="allowed: auto or columns, where an information set can be met twice"
    ):
        made.equilibrium(1.0, "cfr")


LINEAR: list[Callable[[hogeq.Game], Any]] = [
    lambda made: made.solve("cfr", 1),
    lambda made: made.solve("bundle", 1),
    lambda made: made.purify("uniform"),
    lambda made: made.diff("uniform", "uniform"),
    lambda made: made.engine,
]


@pytest.mark.parametrize("ask", LINEAR)
def test_what_needs_linear_rows_refuses(ask: Callable[[hogeq.Game], Any]) -> None:
    with pytest.raises(ValueError, match="allowed: games without absent-mindedness"):
        ask(game(DRIVER.format(last=1)))


def test_payoffs_far_from_0_keep_their_digits() -> None:
    text = DRIVER.format(last=1).replace("1=0", "1=1000000000000").replace("1=4", "1=1000000000004")
    found = game(text.replace("1=1\n", "1=1000000000001\n")).equilibrium(2.0)
    assert found.is_proved
    assert found.strategies[0].policies[0, 0] == pytest.approx([1 / 3, 2 / 3], abs=1e-4)


def test_an_audit_names_the_rows_that_are_met_again() -> None:
    found = game(EXTENDED).audit()[0]
    assert found.met_again == {"highway": 3}
    assert found.to_json()["absent_minded"]["infosets"] == {"highway": 3}
    text = ok("audit", "--game", "problem.txt")
    assert "Player 0 can meet again in a play, at most so often: highway (3 times)\n" in text
    assert game(FIGURE_3).audit()[0].met_again == {}


def test_text_is_written_and_read_alike(problems: Any) -> None:
    trees = [drawn(problems, seed, most=5, sets=2) for seed in range(5)]
    trees += [load_tree("2K3"), from_rules(problems.Simulation(tests=2, cases=2))]
    trees += [from_rules(problems.Detection(rounds=2))]
    for tree in trees:
        Path("again.txt").write_text("".join(problems.text_of(tree)))
        again = load_tree("again.txt")
        for field in ("player", "parent"):
            assert np.array_equal(getattr(again, field), getattr(tree, field))
        # Rows have other numbers; nodes share one as before.
        own = tree.row >= 0
        assert len({*zip(tree.row[own], again.row[own], strict=True)}) == tree.num_rows
        assert again.num_rows == tree.num_rows
        assert again.payoff + again.centre == pytest.approx(tree.payoff + tree.centre)
        assert again.chance == pytest.approx(tree.chance)


ENDS = "node /P1:a leaf payoffs 1=0\nnode /P1:b leaf payoffs 1=1\n"
ROOT = "node / player 1 actions a b\n"
SET = "infoset here nodes /\n"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "at the start: no node /"),
        ("hello\n", "line 1: got 'hello'; allowed: node PATH player 1 actions"),
        ("node start player 1 actions a b\n", "at the start: no node /"),
        (ROOT + SET, "after player 0: a: no node /P1:a"),
        (ROOT + ENDS + SET + SET, "line 5: / is there twice"),
        (ROOT + ROOT + ENDS + SET, "line 2: / is there twice"),
        (ROOT + ENDS + SET.replace("/", "/ /P1:c"), "1 path of no node, or after no action"),
        (ROOT + ENDS + SET + "node /P1:c leaf payoffs 1=0", "1 path of no node, or after no"),
        (ROOT + ENDS.replace("=1", "=x") + SET, "1=x'; allowed: a number"),
        (ROOT + ENDS.replace("=1", "=1e999") + SET, "1=1e999'; allowed: a number"),
        (ROOT.replace("b", "b=1") + ENDS + SET, "line 1: got 'player 1 actions a b=1'; allowed"),
        ("node / chance actions a=1 b\n", "line 1: got 'chance actions a=1 b'; allowed"),
        ("node / chance actions a=1 b=\n", "b='; allowed: a number"),
        (ROOT + ENDS.replace("1=1", "2=1") + SET, "line 3: got 'leaf payoffs 2=1'; allowed"),
        (ROOT.replace("1", "2") + ENDS + SET, "line 1: got 'player 2 actions a b'; allowed"),
        (ROOT + ENDS.replace("=1", "=1e99999999") + SET, "1=1e99999999'; allowed: a number"),
        (ROOT + ENDS.replace("=1", "=1_0") + SET, "1=1_0'; allowed: a number"),
        (ROOT.replace("b", "b/P1:c") + ENDS + SET, "allowed: names of actions without /"),
        (ROOT + ENDS + SET.replace("/", "/ /P1:a"), "line 2: is in infoset here; allowed there"),
        (
            ROOT
            + "node /P1:a player 2 actions c\nnode /P1:a/P2:c leaf payoffs 1=0 2=0\n"
            + "node /P1:b leaf payoffs 1=1 2=-1\ninfoset here nodes / /P1:a\n",
            "line 2: infoset here is of two players",
        ),
        ("node / chance actions a=-1 b=2\n", "an action of chance is of probability -1"),
        ("node / chance actions a=-1 b=-3\n", "an action of chance is of probability -0.25"),
        ("node / chance actions a=0 b=0\n", "line 1: weights of chance sum to 0"),
    ],
)
def test_other_texts_are_refused_in_a_line(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=re.escape(reason)) as refused:
        game(text)
    assert "\n" not in str(refused.value)


def test_texts_of_any_kind_of_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows' breaks, a mark of the order of bytes, tabs, comments, no break at the end."""
    monkeypatch.setattr(building, "MOST_NODES", 2)  # of trees whose size no file tells
    lines = ["# é", "", "\t infoset  h\u00e9re nodes\t/", *(ROOT + ENDS).split("\n"), " #"]
    for end in ("\n", "\r\n"):
        Path("problem.txt").write_bytes(("\ufeff" + end.join(lines)).encode())
        tree = load_tree("problem.txt")
        assert tree.num_nodes == 3
        assert tree.names == ["h\u00e9re"]
    Path("problem.txt").write_bytes((ROOT + SET + ENDS).encode() + b"\xff")
    with pytest.raises(ValueError, match=r"line 5: got '.ufffd'; allowed: node PATH player"):
        load_tree("problem.txt")
    Path("problem.txt").write_bytes((SET + ENDS).encode() + b"node / player 1 actions a \xff")
    with pytest.raises(ValueError, match="line 4: 'utf-8' codec can't decode"):
        load_tree("problem.txt")


@pytest.mark.parametrize("number", [0, 7])
def test_paths_of_one_hash_are_not_taken_for_each_other(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_format, "hash", lambda _: number, raising=False)
    for given, reason in (
        (ROOT + ENDS + SET, "line 2: /P1:a has another's hash: read it again"),
        (ROOT + SET + SET, "line 3: / is there twice"),
        (ROOT + SET, "after player 0: a: no node /P1:a"),
        (ROOT + SET.replace("/", "/P1:a"), "line 1: /P1:a has another's hash: read it again"),
    ):
        with pytest.raises(ValueError, match=re.escape(reason)):
            game(given)


COIN = """# Coin against a guesser, who does not see it
node / player 1 actions left right
node /P1:left player 2 actions left right
node /P1:left/P2:left leaf payoffs 1=-3 2=3
node /P1:left/P2:right leaf payoffs 1=2 2=-2
node /P1:right player 2 actions left right
node /P1:right/P2:left leaf payoffs 1=1 2=-1
node /P1:right/P2:right leaf payoffs 1=0 2=0
infoset two nodes /P1:left /P1:right
"""


def test_a_node_of_no_information_set_is_one_by_itself() -> None:
    """As in LiteEFG: [[-3, 2], [1, 0]] has the value 2/6, as two lines of algebra show."""
    alone, named = game(COIN), game(COIN + "infoset one nodes /\n")
    assert tree_of(COIN).names == ["node /", "two"]
    for one in (alone, named):
        assert one.equilibrium(5.0).lower == pytest.approx(1 / 3, abs=1e-9)
        assert one.equilibrium(5.0).upper == pytest.approx(1 / 3, abs=1e-9)
    seen = game(COIN.replace("infoset", "#"))  # who sees the coin
    assert seen.equilibrium(5.0).lower == pytest.approx(0.0, abs=1e-9)
    assert tree_of(COIN.replace("two", "/")).names == ["node /", "/"]  # a name may be like a path


@pytest.mark.parametrize("block", [1, 7, 64])
@pytest.mark.parametrize("part", [1, 30, 2**20])
def test_blocks_of_any_size_hold_the_same_game(
    block: int, part: int, problems: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [COIN, COIN.replace("\n", "\r\n"), DRIVER.format(last=1)]
    texts += ["".join(problems.text_of(drawn(problems, seed, most=5, sets=2))) for seed in range(3)]
    for text in texts:
        expected = tree_of(text)
        with monkeypatch.context() as patch:
            patch.setattr(text_format, "BLOCK", block)
            patch.setattr(text_format, "BLOCKS", 2)
            patch.setattr(text_format, "PART", part)
            found = tree_of(text)
        assert found.digest() == expected.digest()


@pytest.mark.parametrize("when", ["paths", "nodes", "end"])
@pytest.mark.parametrize("change", ["cut", "emptied", "longer", "touched"])
def test_a_text_that_changes_while_it_is_read_is_refused_in_a_line(
    when: str, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A map of it would end the process with the signal SIGBUS."""
    text = COIN + "# " + "x" * 100_000 + "\n"
    Path("problem.txt").write_text(text)

    def changes() -> None:
        size = {"cut": 200, "emptied": 0}.get(change)
        if size is not None:
            os.truncate("problem.txt", size)
        elif change == "longer":
            with Path("problem.txt").open("a") as file:
                file.write("node /P1:new leaf payoffs 1=0 2=0\n")
        else:
            os.utime("problem.txt", (1, 1))

    name = {"paths": "_read", "nodes": "look", "end": "require_unchanged"}[when]
    before, calls = getattr(text_format._Text, name), itertools.count()

    def call(*given: Any) -> Any:
        if next(calls) == 0:
            changes()
        return before(*given)

    monkeypatch.setattr(text_format._Text, name, call)
    with pytest.raises(ValueError, match=r"^problem\.txt: ") as refused:
        load_tree("problem.txt")
    assert str(refused.value) == "problem.txt: cannot be read: was changed while it was read"


def test_weights_of_chance_are_scaled_and_three_players_need_teams() -> None:
    weighed = tree_of("node / chance actions a=1 b=3\n" + ENDS.replace("P1", "C"))
    assert weighed.odds == pytest.approx([1 / 4, 3 / 4])
    three = ENDS.replace("=0", "=0 2=0 3=0").replace("=1", "=1 2=0 3=-1")
    with pytest.raises(ValueError, match="has 3 players; allowed: 1 or 2, or two teams"):
        game(ROOT + three + SET)


def test_problems_with_seeds(problems: Any) -> None:
    """By hand: two lines in a row of three cells share the middle; one question finds it."""
    one = from_rules(problems.RandomTree(seed=1))
    assert one.digest() == from_rules(problems.RandomTree(seed=1)).digest()
    assert one.digest() != from_rules(problems.RandomTree(seed=2)).digest()
    detection = problems.Detection(height=1, width=3, length=2, rounds=1, seed=3)
    worth = [float(one) for one in problems._lines(1, 3, 2, 3).values()]
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


@pytest.mark.parametrize("seed", seeds(4, 20))
def test_absent_minded_players_answer_a_policy(seed: int) -> None:
    """In games of two who may meet anything again, each response is as good as a grid's."""
    random, tree = np.random.default_rng(seed), both(seed)
    if {*tree.seat.tolist()} != {0, 1}:
        return
    target = random_policy(tree, random)
    found = hogeq.Game(tree).attack(target)
    assert found.is_proved
    for player in (0, 1):
        policies = []
        for share in np.linspace(0.0, 1.0, 501):
            policy = target.copy()
            policy[tree.seat == player] = share, 1.0 - share
            policies.append(policy)
        sign = 1 - 2 * player
        worth = [sign * payoff(tree, one, one) + 2 * player * tree.shift for one in policies]
        assert max(worth) - 1e-9 <= found.seats[player] <= max(worth) + 1e-3
