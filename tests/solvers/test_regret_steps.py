"""Single steps of the CFR family, by hand and by the textbook."""

from typing import Any

import numpy as np
import pytest

from hogeq.solvers import SOLVERS
from hogeq.support.aliases import Floats
from tests import toys
from tests.solvers.family import FAMILY, SOLVABLE, run
from tests.toys import Chance, Choice, Node, Toy


@pytest.mark.parametrize(
    ("weight", "regrets", "infoset_reach"),
    [
        # Uniform play wins (0.9 + 0.6 + 0 + 0.5) / 4 = 0.5. First move: 0.75 and 0.25; second
        # move: 0.9 and 0 come to 0.45, 0.6 and 0.5 to 0.55.
        ("reach", [[0.25, -0.25], [-0.05, 0.05]], [1.0, 1.0]),
        ("belief", [[0.25, -0.25], [-0.05, 0.05]], [1.0, 1.0]),
        # Each first move counted once, and half as much for the seat: (0.9 + 0) / 2 against
        # (0.6 + 0.5) / 2 at the second move; averages count visits, one half each.
        ("counterfactual", [[0.125, -0.125], [-0.05, 0.05]], [0.5, 0.5]),
    ],
)
def test_one_iteration_by_hand(
    weight: str, regrets: list[list[float]], infoset_reach: list[float]
) -> None:
    options = {"regret_weight": weight, "average_weight": "reach", "alternating": False}
    _, state = run(toys.forgetful(), "cfr", 1, **options)
    np.testing.assert_allclose(state.regrets[0], regrets, rtol=0, atol=1e-12)
    np.testing.assert_allclose(state.strategy_sum[0].sum(axis=1), infoset_reach, rtol=0, atol=1e-12)
    assert int(state.iteration) == 1


def matched(regrets: Floats) -> Floats:
    """Regret matching, row by row."""
    rows = []
    for row in regrets:
        positive = [max(0.0, regret) for regret in row]
        total = sum(positive)
        rows.append([p / total for p in positive] if total > 0 else [1 / len(row)] * len(row))
    return np.array(rows)


def textbook(toy: Toy, policy: Floats) -> Floats:
    """Instantaneous regrets of Zinkevich et al. 2007, equations 5 and 7, both seats."""
    regrets = np.zeros(toy.shape)

    def walk(node: Node, others: tuple[float, float]) -> float:
        # others[seat]: probability of coming here if that seat always wanted to.
        if isinstance(node, Chance):
            return sum(
                p * walk(child, (others[0] * p, others[1] * p)) for p, child in node.branches
            )
        if not isinstance(node, Choice):
            return node
        row = policy[node.infoset]
        values = []
        for p, child in zip(row, node.children, strict=True):
            to = (others[0], others[1] * p) if node.seat == 0 else (others[0] * p, others[1])
            values.append(walk(child, to))
        value = float(row @ values)
        sign = 1.0 if node.seat == 0 else -1.0
        regrets[node.infoset] += sign * others[node.seat] * (np.array(values) - value)
        return value

    walk(toy.root, (1.0, 1.0))
    return regrets


@pytest.mark.parametrize("toy_name", ["kuhn", "rooms", "bits"])
@pytest.mark.parametrize("name", FAMILY)
def test_regrets_are_those_of_the_textbook(name: str, toy_name: str) -> None:
    toy = {**SOLVABLE, "bits": toys.bits}[toy_name]()
    solver: Any = SOLVERS[name](alternating=False)
    state = solver.init(toy)
    regrets, last = np.zeros(toy.shape), np.zeros(toy.shape)
    for t in range(1, 13):
        policy = matched(regrets + last if name == "pcfr_plus" else regrets)
        np.testing.assert_allclose(solver.current(state), policy, rtol=0, atol=1e-10)
        last = textbook(toy, policy) / 2.0  # the coin for the seats
        regrets += last
        if name in ("cfr_plus", "pcfr_plus"):
            regrets = np.maximum(regrets, 0.0)
        if name == "linear":
            regrets *= t / (t + 1)
        if name == "dcfr":
            up, down = t**1.5 / (t**1.5 + 1), 1 / 2
            regrets = np.where(regrets > 0.0, regrets * up, regrets * down)
        state = solver.step(toy, state)
        np.testing.assert_allclose(state.regrets[0], regrets, rtol=0, atol=1e-10)
        positive = sum(max(0.0, *row) for row in regrets)
        assert solver.stats(toy, state)["average_regret"] == pytest.approx(positive / t, abs=1e-10)
