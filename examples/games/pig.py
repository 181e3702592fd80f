"""Pig: two players to 100; the first player wins 0.5306 (Neller and Presser 2004)."""
# ruff: noqa: D102 - the base class says what each method does

import hogeq

State = tuple[int, int, int, int, bool]  # scores, points of this turn, whose turn, is a die rolled


@hogeq.register_game("pig")
class Pig(hogeq.GameRules):
    """Roll until you hold; a 1 loses the points of the turn."""

    goal: int = 100

    def initial(self) -> State:
        return 0, 0, 0, 0, False

    def to_move(self, state: State) -> int:
        *scores, turn, player, rolled = state
        over = scores[player] + turn >= self.goal
        return hogeq.END if over else hogeq.CHANCE if rolled else player

    def actions(self, state: State) -> list[int] | list[str]:
        *_, turn, _, rolled = state
        return [1, 2, 3, 4, 5, 6] if rolled else ["roll", "hold"] if turn else ["roll"]

    def next(self, state: State, action: int | str) -> State:
        first, second, turn, player, _ = state
        if action == "roll":
            return first, second, turn, player, True
        if action == "hold":
            scores = (first + turn, second) if player == 0 else (first, second + turn)
            return *scores, 0, 1 - player, False
        if action == 1:
            return first, second, 0, 1 - player, False
        return first, second, turn + int(action), player, False

    def payoffs(self, state: State) -> tuple[int, int]:
        return (1, 0) if state[3] == 0 else (0, 1)
