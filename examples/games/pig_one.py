"""Pig of Boyan and Moore (1996), in which a 1 ends the turn and is worth one point."""
# ruff: noqa: D102 - the base class says what each method does

import hogeq

State = tuple[int, int, int, int, bool]  # scores, points of this turn, whose turn, is a die rolled


@hogeq.register_game("pig_one")
class PigOne(hogeq.GameRules):
    """Roll until you hold; after a 1 the turn has one point."""

    goal: int = 40

    def initial(self) -> State:
        return 0, 0, 0, 0, False

    def to_move(self, state: State) -> int:
        first, second, turn, player, rolled = state
        if max(first, second, (first, second)[player] + turn) >= self.goal:
            return hogeq.END
        return hogeq.CHANCE if rolled else player

    def actions(self, state: State) -> list[int] | list[str]:
        *_, turn, _, rolled = state
        return [1, 2, 3, 4, 5, 6] if rolled else ["roll", "hold"] if turn else ["roll"]

    def next(self, state: State, action: int | str) -> State:
        first, second, turn, player, _ = state
        if action == "roll":
            return first, second, turn, player, True
        if action not in {1, "hold"}:
            return first, second, turn + int(action), player, False
        won = 1 if action == 1 else turn
        scores = (first + won, second) if player == 0 else (first, second + won)
        return *scores, 0, 1 - player, False

    def payoffs(self, state: State) -> tuple[int, int]:
        first, second, turn, player, _ = state
        own = (first, second)[player] + turn >= self.goal
        return (1, 0) if own == (player == 0) else (0, 1)
