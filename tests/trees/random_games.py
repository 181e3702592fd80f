"""Random games of chance and two players, and what all pure strategies together say of them."""

import itertools
from collections.abc import Iterator

import numpy as np
from scipy.optimize import linprog

from hogeq.support.aliases import Floats
from tests import toys
from tests.toys import Chance, Choice, first_wins, following


def random_game(seed: int, depth: int = 4, *, seats: tuple[int, ...] = (0, 1)) -> toys.Node:
    """Draw a game of forgetful players, in which chance does not play all that it could."""
    draw = np.random.default_rng(seed)

    def node(depth: int, moved: tuple[int, ...]) -> toys.Node:
        who = int(draw.choice([-1, *seats, *seats])) if depth else -2
        if who == -2 or (depth < 3 and draw.random() < 0.15):
            return float(draw.integers(-3, 4))
        if who == -1:
            chances = draw.dirichlet(np.ones(3)) * (draw.random(3) > 0.3)
            chances = np.array([1.0, 0.0, 0.0]) if not chances.any() else chances / chances.sum()
            return Chance(tuple((float(one), node(depth - 1, moved)) for one in chances))
        # A seat knows how often it has moved, and one bit of anything else: it never meets a set
        # twice, and forgets.
        known = 10 * who + 2 * moved[who] + int(draw.integers(2))
        after = tuple(many + (seat == who) for seat, many in enumerate(moved))
        return Choice(who, known, tuple(node(depth - 1, after) for _ in range(2)))

    return node(depth, (0, 0))


def infosets(root: toys.Node, seat: int) -> list[int]:
    own = root.infoset if isinstance(root, Choice) and root.seat == seat else None
    below = {known for child in following(root) for known in infosets(child, seat)}
    return sorted(below | ({own} if own is not None else set()))


def pure(root: toys.Node, seat: int) -> Iterator[dict[int, list[float]]]:
    known = infosets(root, seat)
    for actions in itertools.product(([1.0, 0.0], [0.0, 1.0]), repeat=len(known)):
        yield dict(zip(known, actions, strict=True))


def payoffs(root: toys.Node) -> Floats:
    """Payoff of every pure strategy of the first seat against every one of the second."""
    second = list(pure(root, 1))
    return np.array([[first_wins(root, (one, two)) for two in second] for one in pure(root, 0)])


def value(matrix: Floats) -> float:
    """Value of a matrix game, by a linear program."""
    rows, columns = matrix.shape
    answer = linprog(
        np.append(np.zeros(rows), -1.0),
        A_ub=np.hstack([-matrix.T, np.ones((columns, 1))]),
        b_ub=np.zeros(columns),
        A_eq=np.append(np.ones(rows), 0.0)[None],
        b_eq=[1.0],
        bounds=[(0.0, None)] * rows + [(None, None)],
    )
    assert answer.status == 0
    return -float(answer.fun)
