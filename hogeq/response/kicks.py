"""Kicks: excursions from the best matrix that a start has come to.

A far move begins an excursion. Near moves refine what it has led to while that promises to come
above the best matrix, which is kept until then. Without a far move the excursion refines the best
matrix itself.
"""

from typing import Final, NamedTuple

import numpy as np

from hogeq.model.game import Game
from hogeq.response.moves import ROUNDING, Passes, ascend, climb, log_uniform, passes, to_matrix
from hogeq.response.portfolio import MOVES, STAY, Odds, Place
from hogeq.strategies.arrays import one_hot
from hogeq.support.aliases import Floats, Matrix
from hogeq.support.progress import Phase

ASCENT: Final = 6
"""Steps of annealing that take about as long as an ascent; for the progress that is shown."""

SHORTEST: Final = 4
LONGEST: Final = 10
"""Near moves of an excursion."""


class Against(NamedTuple):
    """A game, and a strategy or a mixture to be countered."""

    game: Game
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
    sweeps: int
    refined: int  # number of near moves so far

    def over(self, best: float) -> bool:
        """Whether it does not come above the best, were it to rise once more by as much."""
        hopeless = 2.0 * self.rate - self.base <= best
        return self.refined >= LONGEST or (self.refined >= SHORTEST and hopeless)


class Choice(NamedTuple):
    """What the choice of a move has brought."""

    move: str
    gain: float
    sweeps: int


class Round(NamedTuple):
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
    near: list[Choice]
    far: list[Choice]


def kicked(against: Against, odds: dict[str, Odds], told: Phase, given: Round) -> Kicked:
    """Kick a trail, in single precision; make sure of what that found in double precision."""
    game, random = against.game, np.random.default_rng(given.seed)
    margin = 0.0 if game.plan is None else ROUNDING
    best, rate, away = given.matrix, given.rate, given.away
    policies = against.met_by(one_hot(best, game.num_actions))
    place = Place(against.passes(), policies, random, given.mates)
    near, far, spent = list[Choice](), list[Choice](), 0

    def kick(matrix: Matrix, kind: str, name: str, to_beat: float) -> tuple[Matrix, float, int]:
        low_high = MOVES[name].near if kind == "near" else MOVES[name].far
        policies[0] = one_hot(matrix, game.num_actions)
        sweeps = MOVES[name].go(place, log_uniform(random, low_high or (1.0, 1.0)))
        again, more = ascend(place.work, policies, least_gain=margin or -1.0, to_beat=to_beat)
        return to_matrix(policies[0]), again, sweeps + more

    for _ in range(given.kicks):
        if away is None:
            name = odds["far"].draw(random)
            if name == STAY:
                away = Excursion(STAY, best, rate, rate, rate, 0, 0)
            else:
                matrix, again, sweeps = kick(best, "far", name, -1.0)
                away = Excursion(name, matrix, again, again, rate, sweeps, 0)
                spent += sweeps
        else:
            name = odds["near"].draw(random)
            matrix, again, sweeps = kick(away.matrix, "near", name, away.rate)
            near.append(Choice(name, max(0.0, again - away.rate), sweeps))
            spent += sweeps
            if again > away.rate + margin:
                away = away._replace(matrix=matrix, rate=again)
            away = away._replace(sweeps=away.sweeps + sweeps, refined=away.refined + 1)
        if away.rate > rate + margin:
            best, rate = away.matrix, away.rate
            told.found(rate)
        if away.over(rate):
            far.append(Choice(away.move, max(0.0, rate - away.begun), away.sweeps))
            away = None
        told.step(ASCENT)
    if rate == given.rate:
        return Kicked(best, rate, away, spent, near, far)
    policies[0] = one_hot(best, game.num_actions)
    rate, sweeps = climb(game, policies, weights=against.weights)
    return Kicked(to_matrix(policies[0]), rate, away, spent + sweeps, near, far)
