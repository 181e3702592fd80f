"""The same answers by other means: Python, numpy, compiled loops, OpenSpiel, and ours.

    python benchmarks/bench_alternatives.py

Win rates of two matrices, which make one roll at each position, and of a policy against itself, for
which every roll of every hidden state counts. Some two minutes, nearly all of them for one call of
the memoised recursion. Every answer is compared with ours, to 1e-12; `arrays` and `loops` compute
all hidden states, and where ours does too, all are compared.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import alternatives
import numpy as np
from numpy.typing import NDArray
from timing import OURS, Timing, least, report

from hogeq.evaluation.values import values, win_rate
from hogeq.model.game import compile_game
from hogeq.rules import EDITIONS, Rules
from hogeq.strategies.conversion import policy_of

Floats = NDArray[np.float64]

SIZES = (
    ("su20", 6, 2),  # a tree that OpenSpiel can hold
    ("fa22", 6, 2),
    ("su20", 20, 10),
    ("su20", 40, 10),
    ("su20", 100, 10),
    ("fa22", 100, 10),
)
HELD = 6
"""Highest goal at which OpenSpiel is asked."""


def same(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-12)


def others(
    rules: Rules, policies: Floats, check: Callable[[Any], None]
) -> Iterator[tuple[str, float]]:
    """Time the alternatives; what is checked is what all of them compute, or all hidden states."""
    turns = alternatives.turns_of(rules)
    found: Any
    found, seconds = least(lambda: alternatives.recursion(rules, list(policies)), 1.0, warm=False)
    check(found)
    yield "Python recursion, memoised", seconds
    for name, function in (("numpy", alternatives.arrays), ("compiled loops", alternatives.loops)):
        found, seconds = least(partial(function, turns, policies))
        check(found)
        yield name, seconds
    if rules.size <= HELD:
        found, seconds = least(alternatives.openspiel_tree(rules, list(policies)))
        check(found)
        yield "OpenSpiel, tree of its own", seconds


def pair(rules: Rules, matrices: NDArray[np.int64]) -> Iterator[tuple[str, float]]:
    """Time the win rate of one matrix against another."""
    game = compile_game(rules)
    policies = np.stack([policy_of(game, matrix) for matrix in matrices])
    ours, seconds = least(lambda: win_rate(game, *matrices))
    firsts = [ours.first, 1.0 - ours.second]

    def check(found: Any) -> None:
        same(found if isinstance(found, list) else found[:, 0, 0, 0, 0], firsts)

    yield from others(rules, policies, check)
    yield OURS, seconds


def all_actions(rules: Rules, policy: Floats) -> Iterator[tuple[str, float]]:
    """Time the values of all actions, the policy playing itself."""
    game = compile_game(rules)
    work = game.workspace(1)
    rate, seconds = least(lambda: work.win_rate(policy[None]))
    everywhere = values(game, policy)

    def check(found: Any) -> None:
        if isinstance(found, list):
            same(found, [rate.first])
        else:
            same(found.reshape(everywhere.shape), everywhere)

    yield from others(rules, policy[None], check)
    yield OURS, seconds


def timings(sizes: Sequence[tuple[str, int, int]] = SIZES) -> Iterator[Timing]:
    """Time every size, each way to compute beside the others."""
    for edition, goal, dice in sizes:
        rules = replace(EDITIONS[edition], goal=goal, max_dice=dice)
        title = f"{edition}, goal {goal}" + (f", {dice} dice" if dice < 10 else "")
        random = np.random.default_rng(0)
        fields = {"random": random.integers(dice + 1, size=(2, goal, goal))}
        if dice >= 7:
            fields["always 6, always 7"] = np.stack([np.full((goal, goal), n) for n in (6, 7)])
        policy = random.dirichlet(np.ones(dice + 1), (goal, goal))
        for name, matrices in fields.items():
            for how, seconds in pair(rules, matrices):
                yield Timing(f"{title}: two matrices ({name})", how, seconds)
        for how, seconds in all_actions(rules, policy):
            yield Timing(f"{title}: values of all actions", how, seconds)


if __name__ == "__main__":
    report("alternatives", list(timings()))
