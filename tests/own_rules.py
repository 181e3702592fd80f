"""Games of one's own of a few moves each, for tests to fill in."""

from collections.abc import Hashable, Sequence
from typing import Any

import hogeq


class Moves(hogeq.GameRules):
    """Base of games in which a state is the tuple of all moves until then.

    `movers` lists who makes each move, `choices` what there is to choose from, and `known` is all
    that a player knows at any move. A game gives its payoffs, and whatever differs from this.
    """

    movers: Sequence[int] = (0, 1)
    choices: Sequence[Any] = ("h", "t")
    known: Hashable = "nothing"

    def initial(self) -> Any:
        return ()

    def to_move(self, state: Any) -> int:
        return (*self.movers, hogeq.END)[len(state)]

    def actions(self, state: Any) -> Any:
        del state
        return self.choices

    def next(self, state: Any, action: Any) -> Any:
        return (*state, action)

    def knows(self, state: Any, player: int) -> Any:
        del state, player
        return self.known


class Pennies(Moves):
    """Matching pennies, one after the other, unseen: the first player wins if they match."""

    def payoffs(self, state: Any) -> tuple[float, float]:
        return (1, -1) if state[0] == state[1] else (-1, 1)
