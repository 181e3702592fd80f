"""Games of one's own of a few moves each, for tests to fill in."""

from collections.abc import Hashable, Mapping, Sequence
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


class Choice(Moves):
    """Player 0 chooses between ends, of which the payoffs are given."""

    movers = (0,)

    def __init__(self, players: int, *ends: Sequence[Any]) -> None:
        self.players, self.ends = players, ends
        self.choices = range(len(ends))

    def payoffs(self, state: Any) -> Any:
        return self.ends[state[0]]


class States(hogeq.GameRules):
    """A game by a table: of each state, who moves and to which state each action leads.

    The first state is the start, and those that are not listed are ends. `odds` are the actions of
    chance at a state, with their probabilities. Players know the state, or `known` alone.
    """

    known: Hashable = None

    def __init__(
        self,
        moves: Mapping[Any, tuple[int, Mapping[Any, Any]]],
        paid: Mapping[Any, Sequence[Any]],
        odds: Mapping[Any, Any] | None = None,
    ) -> None:
        self.moves, self.paid, self.odds = moves, paid, odds or {}

    def initial(self) -> Any:
        return next(iter(self.moves))

    def to_move(self, state: Any) -> int:
        return self.moves[state][0] if state in self.moves else hogeq.END

    def actions(self, state: Any) -> Any:
        return [*self.moves[state][1]]

    def chances(self, state: Any) -> Any:
        return self.odds[state]

    def next(self, state: Any, action: Any) -> Any:
        return self.moves[state][1][action]

    def knows(self, state: Any, player: int) -> Any:
        del player
        return state if self.known is None else self.known

    def payoffs(self, state: Any) -> Any:
        return self.paid[state]
