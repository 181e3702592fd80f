"""NashConv of a strategy by player: what each gains who alone deviates, of a team each member.

A member deviates from a policy, not from a common draw of its team. Ends are rounded outward.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.search.results import Response
from hogeq.search.units import above, below
from hogeq.strategies.strategy import Strategy
from hogeq.support.deadline import Deadline
from hogeq.trees.enclosures import Payoffs, plan_of
from hogeq.trees.flat import FlatTree
from hogeq.trees.responses import settle
from hogeq.trees.sequences import sequence_form


class Deviation(NamedTuple):
    """What one player gains who alone deviates, in the payoff of its side."""

    player: int
    lower: float  # by the response found
    upper: float  # no response gains more


class NashConv(NamedTuple):
    """Sum of what both sides gain by best responses, and what each player gains alone.

    Examples
    --------
    >>> import hogeq
    >>> game = hogeq.Game("kuhn(players=3,ranks=4)", teams="01/2")
    >>> found = game.nash_conv("uniform")
    >>> round(found.upper, 6), [round(one.upper, 6) for one in found.members]
    (1.302083, [0.234375, 0.3125, 0.822917])
    """

    lower: float
    upper: float
    members: tuple[Deviation, ...]
    response: Response
    """Best responses of both sides."""

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values: ``nash_conv`` (lower, upper) and ``members`` (player too)."""
        members = [one._asdict() for one in self.members]
        return {"nash_conv": {"lower": self.lower, "upper": self.upper}, "members": members}

    def rows(self) -> list[tuple[str, str, str]]:
        """Lay out what sides and players gain, as the command prints them."""
        units, ends = self.response.units, [self[:2], *(one[1:] for one in self.members)]
        written = [
            units.exact(pair[0]) if units.are_one(*pair) else units.gap(*pair) for pair in ends
        ]
        alone = [
            (f"player {one.player}", gain, "gain of its side if it alone deviates")
            for one, gain in zip(self.members, written[1:], strict=True)
        ]
        return [("NashConv", written[0], "gains of both sides"), *alone]


def nash_conv(
    tree: FlatTree, target: Strategy, respond: Callable[[], Response], limit: Deadline
) -> NashConv:
    """Measure a policy by what sides gain, given their responses, and what players gain alone.

    Players come first, in half of the time. After the responses come those that it was too short
    for; who is still left gains no more than both sides.
    """
    target.unmixed("NashConv")
    players = range(tree.num_players if tree.sides is None else len(tree.sides))
    found: dict[int, Deviation] = {}

    def deviate(deadline: Deadline) -> None:
        for player in players:
            if player not in found and not deadline.is_over:
                share = deadline.share(1.0 / (len(players) - player))
                found[player] = _deviation(tree, target, player, share)

    deviate(limit.share(0.5))
    response = respond()
    deviate(limit)
    lower, upper = (2.0 * end for end in tree.units.beyond(response.value, response.bound))
    lower = max(lower, 0.0)  # a strategy answers itself with 0
    members = tuple(found.get(player, Deviation(player, 0.0, upper)) for player in players)
    return NashConv(lower, upper, members, response)


def _deviation(tree: FlatTree, target: Strategy, player: int, limit: Deadline) -> Deviation:
    """Find what a player gains alone: all others keep to the policy."""
    own = tree.member == player
    if not own.any():
        return Deviation(player, 0.0, 0.0)
    side = int(tree.seat[own][0])
    alone = _against_all_others(tree, own, side)
    # Others play a policy, and need no order in which they would forget less.
    others = plan_of(sequence_form(alone, 1 - side), target, limit)
    payoffs = Payoffs(alone, side, others, limit)
    least, most = payoffs.payoff_bounds(plan_of(payoffs.form, target, limit))
    found = settle(payoffs, limit, deadline=limit)
    gains = below(found.least - most), above(found.most - least)
    return Deviation(player, *(max(0.0, gain) for gain in gains))


def _against_all_others(tree: FlatTree, own: NDArray[np.bool_], side: int) -> FlatTree:
    """Give a tree in which one side is a player, of some rows, and the other all others."""
    seat = np.where(own, side, 1 - side).astype(np.int8)
    if (seat == tree.seat).all():
        return tree  # whose sequences are known
    mover = np.where(tree.row >= 0, seat[tree.row], tree.player).astype(np.int8)
    return replace(tree, player=mover, seat=seat, sides=None)
