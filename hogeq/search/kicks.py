"""Kicks: excursions from the best matrix that a start has come to.

A far move begins an excursion. Near moves refine what it has led to while that promises to come
above the best matrix, which is kept until then. Without a far move the excursion refines the best
matrix itself.
"""

from typing import Final, NamedTuple

import numpy as np

from hogeq.model.game import HogEngine
from hogeq.search.moves import ROUNDING, Passes, ascend, climb, log_uniform, passes, to_matrix
from hogeq.search.portfolio import MOVES, STAY, MoveOdds, Place
from hogeq.strategies.arrays import one_hot
from hogeq.support.aliases import Floats, Matrix
from hogeq.support.progress import Phase

ASCENT: Final = 6
"""Steps of annealing that take about as long as an ascent; for the progress that is shown."""

SHORTEST: Final = 4
LONGEST: Final = 10
"""Near moves of an excursion."""

PATIENCE: Final = 10
"""Near moves in a row that find nothing, after which the best matrix is left for an excursion."""


class Against(NamedTuple):
    """A game, and a strategy or a mixture to be countered."""

    game: HogEngine
    opponents: Floats  # (n, G, G, K)
    weights: Floats | None  # (n,) of a mixture

    def mean(self) -> Floats:
        """Mean policy (G, G, K) of the opponents."""
        if self.weights is None:
            return self.opponents[0]
        return np.tensordot(self.weights, self.opponents, 1)

    def met_by(self, policy: Floats) -> Floats:
        """Policies (1 + n, G, G, K): a responder's, a copy, and the opponents'."""
        return np.stack([policy, *self.opponents])

    def passes(self) -> Passes:
        """Give passes of the calling thread, in single precision where that is quicker."""
        return passes(self.game, self.weights)


class Excursion(NamedTuple):
    """Where a trail is while it looks for a better matrix."""

    move: str  # far move by which it began
    matrix: Matrix
    rate: float
    base: float  # its rate after that move
    begun: float  # best rate of the trail before it
    sweeps: int = 0
    refined: int = 0  # number of near moves so far
    vain: int = 0  # number of the last ones that found nothing

    @classmethod
    def stay(cls, matrix: Matrix, rate: float) -> "Excursion":
        """Refine the best matrix itself."""
        return cls(STAY, matrix, rate, rate, rate)

    def over(self, best: float) -> bool:
        """Whether it does not come above the best, were it to rise once more by as much."""
        if self.move == STAY:
            return self.vain >= PATIENCE
        hopeless = 2.0 * self.rate - self.base <= best
        return self.refined >= LONGEST or (self.refined >= SHORTEST and hopeless)


class MoveGain(NamedTuple):
    """What the choice of a move has brought."""

    move: str
    gain: float
    sweeps: int


class KickTask(NamedTuple):
    """Kicks of one trail: what it needs for them."""

    matrix: Matrix
    rate: float
    away: Excursion | None
    mates: list[Matrix]
    kicks: int
    seed: tuple[int, ...]


class Kicked(NamedTuple):
    """What these kicks have brought."""

    matrix: Matrix
    rate: float
    away: Excursion | None
    sweeps: int
    choices: dict[str, list[MoveGain]]
    """Of near moves, of far moves, and of the rolls of moves by one roll."""


def kicked(
    against: Against,
    odds: dict[str, MoveOdds],
    told: Phase,
    given: KickTask,
    *,
    confirm: bool = True,
) -> Kicked:
    """Kick a trail, in single precision; `confirm` what that found in double precision."""
    game, random = against.game, np.random.default_rng(given.seed)
    single = game.quick_dtype(len(against.opponents)) == np.float32
    margin = ROUNDING if single else 0.0
    best, rate, away = given.matrix, given.rate, given.away
    policies = against.met_by(one_hot(best, game.num_actions))
    work = against.passes()
    choices: dict[str, list[MoveGain]] = {kind: [] for kind in odds}
    spent = 0

    def kick(matrix: Matrix, kind: str, name: str, to_beat: float) -> tuple[Matrix, float, int]:
        move = MOVES[name]
        low_high = move.near if kind == "near" else move.far
        roll = odds["roll"].draw(random) if move.by_roll else "0"
        policies[0] = one_hot(matrix, game.num_actions)
        place = Place(work, policies, random, given.mates, int(roll))
        sweeps = move.go(place, log_uniform(random, low_high or (1.0, 1.0)))
        again, more = ascend(work, policies, least_gain=margin or -1.0, to_beat=to_beat)
        if move.by_roll and kind == "near":
            choices["roll"].append(MoveGain(roll, max(0.0, again - to_beat), sweeps + more))
        return to_matrix(policies[0]), again, sweeps + more

    for _ in range(given.kicks):
        if away is None:
            name = odds["far"].draw(random)
            if name == STAY:
                away = Excursion.stay(best, rate)
            else:
                matrix, again, sweeps = kick(best, "far", name, -1.0)
                away = Excursion(name, matrix, again, again, rate, sweeps)
                spent += sweeps
        else:
            name = odds["near"].draw(random)
            matrix, again, sweeps = kick(away.matrix, "near", name, away.rate)
            choices["near"].append(MoveGain(name, max(0.0, again - away.rate), sweeps))
            spent += sweeps
            away = away._replace(
                sweeps=away.sweeps + sweeps, refined=away.refined + 1, vain=away.vain + 1
            )
            if again > away.rate + margin:
                away = away._replace(matrix=matrix, rate=again, vain=0)
        if away.rate > rate + margin:
            best, rate = away.matrix, away.rate
            told.found(rate)
        if away.over(rate):
            choices["far"].append(MoveGain(away.move, max(0.0, rate - away.begun), away.sweeps))
            risen = away.move != STAY and rate > away.begun
            away = Excursion.stay(best, rate) if risen else None
        told.step(ASCENT)
    if rate == given.rate or not confirm:
        return Kicked(best, rate, away, spent, choices)
    policies[0] = one_hot(best, game.num_actions)
    rate, sweeps = climb(game, policies, weights=against.weights)
    return Kicked(to_matrix(policies[0]), rate, away, spent + sweeps, choices)
