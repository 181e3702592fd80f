"""A game of your own in thirty lines: Kuhn poker, with three cards and one bet."""
# ruff: noqa: D102 - the base class says what each method does

import hogeq

State = tuple[str, str]  # cards dealt, player 0's first; bets so far, p or b


class Kuhn(hogeq.GameRules):
    """Both know their card and all bets; a bet that is passed is lost."""

    def initial(self) -> State:
        return "", ""

    def to_move(self, state: State) -> int:
        if len(state[0]) < 2:
            return hogeq.CHANCE
        return hogeq.END if state[1] in {"pp", "bp", "bb", "pbp", "pbb"} else len(state[1]) % 2

    def actions(self, state: State) -> list[str]:
        return ["p", "b"] if len(state[0]) == 2 else [c for c in "012" if c not in state[0]]

    def next(self, state: State, action: str) -> State:
        cards, bets = state
        return (cards, bets + action) if len(cards) == 2 else (cards + action, bets)

    def knows(self, state: State, player: int) -> str:
        return state[0][player] + state[1]

    def payoffs(self, state: State) -> tuple[int, int]:
        cards, bets = state
        wins = len(bets) % 2 == 0 if bets.endswith("bp") else cards[0] > cards[1]
        stake = 2 if bets.endswith("bb") else 1
        return (stake, -stake) if wins else (-stake, stake)


print(f"value {hogeq.Game(Kuhn()).equilibrium().lower:.6f}; Kuhn 1950: -1/18")
