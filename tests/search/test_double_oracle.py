"""The double oracle over pools of rows and columns of a matrix, whose value a program gives."""

from typing import TypeAlias

import numpy as np
import pytest

from hogeq.search.double_oracle import double_oracle_rounds
from hogeq.search.matrix_games import matrix_game
from hogeq.support.aliases import Floats
from hogeq.support.deadline import FOREVER, Deadline

Mixtures: TypeAlias = tuple[Floats, Floats]


class Pools:
    """Rows and columns of a zero-sum matrix, of which a player has some."""

    players = (0, 1)

    def __init__(self, payoffs: Floats) -> None:
        self.payoffs = payoffs  # to the player of rows
        self.pools: list[list[int]] = [[0], [0]]

    def equilibrium(self, deadline: Deadline) -> Mixtures | None:
        if deadline.is_over:
            return None
        rows, columns = self.pools
        _, row_weights, column_weights = matrix_game(self.payoffs[np.ix_(rows, columns)])
        every = np.zeros(self.payoffs.shape[0]), np.zeros(self.payoffs.shape[1])
        every[0][rows], every[1][columns] = row_weights, column_weights
        return every

    def respond(self, player: int, mixtures: Mixtures, deadline: Deadline) -> bool:
        assert not deadline.is_over
        rows, columns = mixtures
        values = -(rows @ self.payoffs) if player else self.payoffs @ columns
        best = int(values.argmax())
        is_new = best not in self.pools[player]
        self.pools[player] += [best] * is_new
        return is_new


@pytest.mark.parametrize("seed", range(10))
def test_the_last_mixtures_are_an_equilibrium_of_the_whole_game(seed: int) -> None:
    payoffs = np.random.default_rng(seed).normal(size=(30, 20))
    game = Pools(payoffs)
    mixtures = list(double_oracle_rounds(game, FOREVER))
    rows, columns = mixtures[-1]
    value, *_ = matrix_game(payoffs)
    assert (rows @ payoffs).min() == pytest.approx(value, abs=1e-6)
    assert (payoffs @ columns).max() == pytest.approx(value, abs=1e-6)
    assert len(mixtures) <= sum(map(len, game.pools))  # each round but the last adds a strategy


def test_a_first_round_responds_to_any_mixtures() -> None:
    game = Pools(np.eye(3))
    first = np.eye(3)[0], np.eye(3)[0]  # the response of rows, 0, is in the pool
    game.pools[1] = [1]
    mixtures = list(double_oracle_rounds(game, FOREVER, first))
    assert mixtures[0] is first
    assert len(mixtures) > 1


def test_without_time_there_is_no_round() -> None:
    assert not list(double_oracle_rounds(Pools(np.eye(3)), Deadline(0.0)))
