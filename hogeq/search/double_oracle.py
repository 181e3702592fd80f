"""The double oracle: equilibria of few strategies of a game, which grow by best responses."""

from collections.abc import Iterator, Sequence
from typing import Protocol, TypeVar

from hogeq.support.deadline import Deadline

Mixtures = TypeVar("Mixtures")


class RestrictedGame(Protocol[Mixtures]):
    """A zero-sum game whose players mix some of their strategies, to which responses are added."""

    @property
    def players(self) -> Sequence[int]:
        """Players who respond; one in a symmetric game, whose players have the same strategies."""

    def equilibrium(self, deadline: Deadline) -> Mixtures | None:
        """Find optimal mixtures of the restricted game; None if there is no time for a round."""

    def respond(self, player: int, mixtures: Mixtures, deadline: Deadline) -> bool:
        """Add a player's best response to the mixtures; return whether it is new and gains."""


def double_oracle_rounds(
    game: RestrictedGame[Mixtures], deadline: Deadline, first: Mixtures | None = None
) -> Iterator[Mixtures]:
    """Run the double oracle; after each round, yield the mixtures that the players responded to.

    1. Find an equilibrium of the restricted game.
    2. Add each player's best response to it, from the whole game.
    3. Repeat until no response gains: the last mixtures are an equilibrium of the whole game.

    A round before these responds to the mixtures `first`, if given, which may be any. McMahan,
    Gordon and Blum, "Planning in the presence of cost functions controlled by an adversary", ICML
    2003. It ends, given time, if strategies are finite in number.
    """
    has_grown = True
    while has_grown:
        mixtures = game.equilibrium(deadline) if first is None else first
        if mixtures is None:
            return
        is_new = [game.respond(player, mixtures, deadline) for player in game.players]
        has_grown = first is not None or any(is_new)
        first = None
        yield mixtures
