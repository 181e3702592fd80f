"""Passes for boxes of policies against linear programs and plain recursion."""

from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from hogeq.kernels import box_passes
from tests.slow import mostly_slow

Boxes = tuple[Any, Any]


def boxes(random: np.random.Generator, rows: int, actions: int, count: int) -> Boxes:
    """Draw boxes, (R, K, S), each of which has a distribution in every row."""
    inside = random.dirichlet(np.ones(actions), (rows, count)).transpose(0, 2, 1)
    width = random.choice([0.0, 0.1, 1.0], inside.shape)
    lower = np.clip(inside - width * random.random(inside.shape), 0.0, 1.0)
    upper = np.clip(inside + width * random.random(inside.shape), 0.0, 1.0)
    return np.ascontiguousarray(lower), np.ascontiguousarray(upper)


def sequences(random: np.random.Generator, refined: int, rows: int, actions: int) -> Any:
    """Draw a form: the sequence before each refined information set, and the row of each."""
    before = [int(random.integers(1 + one * actions)) for one in range(refined)]
    return np.array(before), random.integers(rows, size=refined)


def most_by_program(worth: Any, lower: Any, upper: Any) -> float:
    """Maximise a linear function over a box and the simplex."""
    ends = list(zip(lower, upper, strict=True))
    found = linprog(-worth, A_eq=np.ones((1, len(worth))), b_eq=[1.0], bounds=ends)
    return -float(found.fun)


@pytest.mark.parametrize("seed", range(20))
def test_the_most_in_a_box_is_that_of_a_linear_program(seed: int) -> None:
    random = np.random.default_rng(seed)
    rows, actions, count = 3, int(random.integers(1, 7)), 4
    lower, upper = boxes(random, rows, actions, count)
    worth = random.integers(-2, 3, (rows, actions, count)).astype(float)  # many ties
    most = np.empty((rows, count))
    flat = worth.reshape(-1, count)
    box_passes.most_in_boxes(np.arange(rows), flat, lower, upper, most)
    for row in range(rows):
        for one in range(count):
            ends = lower[row, :, one], upper[row, :, one]
            known = most_by_program(worth[row, :, one], *ends)
            assert most[row, one] == pytest.approx(known, abs=1e-9)


def test_a_box_of_one_point_and_one_that_rounding_leaves_empty() -> None:
    worth, most = np.array([[3.0], [1.0]]), np.empty((1, 1))
    for lower, known in (([0.25, 0.75], 1.5), ([0.25, 0.75 + 1e-16], 1.5), ([0.25, 0.5], 1.25)):
        point = np.array(lower).reshape(1, 2, 1)
        box_passes.most_in_boxes(np.zeros(1, int), worth, point, point, most)
        assert most[0, 0] == pytest.approx(known, abs=1e-12), "what has no room is left"


@pytest.mark.parametrize("seed", mostly_slow(range(20), *range(6)))
def test_passes_are_plain_sums_over_what_follows(seed: int) -> None:
    random = np.random.default_rng(seed)
    refined, rows, actions, count = 9, 4, int(random.integers(1, 5)), 3
    before, row = sequences(random, refined, rows, actions)
    lower, upper = boxes(random, rows, actions, count)
    policies = np.ascontiguousarray(lower / lower.sum(axis=1, keepdims=True) if seed % 2 else lower)
    payoffs = random.normal(size=1 + refined * actions)
    shape = len(payoffs), count
    worth, most = np.repeat(payoffs[:, None], count, axis=1), np.repeat(payoffs[:, None], count, 1)
    reach = np.empty(shape)
    box_passes.value_policies(before, row, policies, worth)
    box_passes.value_boxes(before, row, lower, upper, most)
    box_passes.reach_sequences(before, row, policies, reach)

    def follow(sequence: int, one: int, in_box: bool) -> float:
        """Sum what a sequence is paid, and what is expected at all that follows it."""
        total = payoffs[sequence]
        for at in np.flatnonzero(before == sequence).tolist():
            after = [follow(1 + at * actions + act, one, in_box) for act in range(actions)]
            if in_box:
                ends = lower[row[at], :, one], upper[row[at], :, one]
                total += most_by_program(np.array(after), *ends)
            else:
                total += policies[row[at], :, one] @ after
        return float(total)

    def reached(sequence: int, one: int) -> float:
        """Multiply the probabilities of all steps of a sequence."""
        if not sequence:
            return 1.0
        at, action = divmod(sequence - 1, actions)
        return float(policies[row[at], action, one]) * reached(int(before[at]), one)

    for one in range(count):
        for sequence in range(len(payoffs)):
            assert worth[sequence, one] == pytest.approx(follow(sequence, one, False), abs=1e-12)
            assert most[sequence, one] == pytest.approx(follow(sequence, one, True), abs=1e-8)
            assert reach[sequence, one] == pytest.approx(reached(sequence, one), abs=1e-12)
