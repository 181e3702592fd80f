"""Piglet: Pig with a coin; to 2 points the first player wins 4/7 (Neller and Presser 2004)."""
# ruff: noqa: D102 - the base class says what each method does

import hogeq

State = tuple[int, int, int, int, bool]  # scores, points of this turn, whose turn, is a coin thrown


@hogeq.register_game("piglet")
class Piglet(hogeq.GameRules):
    """Throw a coin until you hold; tails lose the points of the turn."""

    goal: int = 2

    def initial(self) -> State:
        return 0, 0, 0, 0, False

    def to_move(self, state: State) -> int:
        *scores, turn, player, thrown = state
        over = scores[player] + turn >= self.goal
        return hogeq.END if over else hogeq.CHANCE if thrown else player

    def actions(self, state: State) -> list[str]:
        *_, turn, _, thrown = state
        return ["heads", "tails"] if thrown else ["throw", "hold"] if turn else ["throw"]

    def next(self, state: State, action: str) -> State:
        first, second, turn, player, _ = state
        if action == "throw":
            return first, second, turn, player, True
        if action == "heads":
            return first, second, turn + 1, player, False
        won = turn if action == "hold" else 0
        scores = (first + won, second) if player == 0 else (first, second + won)
        return *scores, 0, 1 - player, False

    def payoffs(self, state: State) -> tuple[int, int]:
        return (1, 0) if state[3] == 0 else (0, 1)
