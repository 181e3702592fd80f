"""Hog of summer 2020 as rules of one's own: scores in sight, the last turns of both hidden."""

from itertools import product
from typing import Any

import hogeq

COIN = ("coin",)


class OwnHog(hogeq.GameRules):
    """A turn of 2 dice more or less than the points of one's last turn has 3 points more."""

    goal: int = 20
    max_dice: int = 4

    def initial(self) -> Any:
        return COIN

    def to_move(self, state: Any) -> int:
        if state == COIN:
            return hogeq.CHANCE
        scores, _, mover, dice = state
        return hogeq.END if max(scores) >= self.goal else hogeq.CHANCE if dice else mover

    def actions(self, state: Any) -> Any:
        return range(2) if state == COIN else range(self.max_dice + 1)

    def chances(self, state: Any) -> Any:
        if state == COIN:
            return {0: 0.5, 1: 0.5}
        rolled = [
            1 if 1 in faces else sum(faces) for faces in product(range(1, 7), repeat=state[3])
        ]
        return {points: rolled.count(points) / len(rolled) for points in {*rolled}}

    def next(self, state: Any, action: Any) -> Any:
        if state == COIN:
            return (0, 0), (0, 0), action, 0
        scores, last, mover, dice = state
        if dice == 0 and action > 0:
            return scores, last, mover, action
        other = scores[1 - mover]
        points = action if dice else 10 - other % 10 + other // 10
        own = scores[mover] + points + 3 * (abs(dice - last[mover]) == 2)
        if abs(own % 10 - other % 10) == other // 10:  # below 100
            own, other = other, own
        noted = min(points, self.max_dice + 3)  # more are all alike
        if mover == 0:
            return (own, other), (noted, last[1]), 1, 0
        return (other, own), (last[0], noted), 0, 0

    def knows(self, state: Any, player: int) -> Any:
        return state[0][player], state[0][1 - player]

    def payoffs(self, state: Any) -> Any:
        first, second = state[0]
        return (1, 0) if first > second or (first == second and state[2]) else (0, 1)
