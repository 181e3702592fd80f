"""A game of your own in thirty lines: Kuhn poker, with three cards and one bet."""

import hogeq
from hogeq.trees.exact import equilibrium
from hogeq.trees.rules import from_rules

State = tuple[str, str]  # cards dealt, player 0's first; bets so far, p or b


class Kuhn(hogeq.GameRules):
    """Kuhn poker; hogeq asks for a state's mover, actions, successors and payoffs."""

    def initial(self) -> State:
        """Begin with nothing dealt."""
        return "", ""

    def to_move(self, state: State) -> int:
        """Chance deals two cards, then the players take turns."""
        cards, bets = state
        if len(cards) < 2:
            return hogeq.CHANCE
        return hogeq.END if bets in {"pp", "bp", "bb", "pbp", "pbb"} else len(bets) % 2

    def actions(self, state: State) -> list[str]:
        """Pass or bet; chance draws one of the cards left."""
        cards = state[0]
        return ["p", "b"] if len(cards) == 2 else [card for card in "012" if card not in cards]

    def next(self, state: State, action: str) -> State:
        """Give the state after an action."""
        cards, bets = state
        return (cards, bets + action) if len(cards) == 2 else (cards + action, bets)

    def knows(self, state: State, player: int) -> str:
        """Own card and all bets."""
        return state[0][player] + state[1]

    def payoffs(self, state: State) -> tuple[int, int]:
        """Give the pot to the higher card, unless a bet was passed."""
        cards, bets = state
        wins = len(bets) % 2 == 0 if bets.endswith("bp") else cards[0] > cards[1]
        stake = 2 if bets.endswith("bb") else 1
        return (stake, -stake) if wins else (-stake, stake)


if __name__ == "__main__":
    tree = from_rules(Kuhn())
    print(f"{tree}; value {equilibrium(tree, 10.0).lower:.6f}, Kuhn's -1/18 is {-1 / 18:.6f}")
