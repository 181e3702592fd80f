"""NashConv of a strategy by player: what each gains who alone deviates, of a team each member.

A member deviates from a policy, not from a common draw of its team. Ends are rounded outward.
"""

from collections.abc import Callable
from dataclasses import replace
from math import inf
from typing import Any, NamedTuple

from hogeq.search.results import Budget, Response
from hogeq.search.units import above, below
from hogeq.strategies.strategy import Strategy
from hogeq.support.deadline import Deadline
from hogeq.trees.enclosures import Payoffs, plan_of
from hogeq.trees.flat import FlatTree
from hogeq.trees.recall import against_all_others
from hogeq.trees.responses import respond_with_bounds
from hogeq.trees.sequences import INFLATION_SHARE, sequence_form


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
        """Make the rows that the command prints: label, gain, and what the gain is of."""
        units = self.response.units
        bounds = [(self.lower, self.upper), *((one.lower, one.upper) for one in self.members)]
        gain_texts = [  # one number if both bounds print alike, otherwise both
            units.exact(lower) if units.are_one(lower, upper) else units.gap(lower, upper)
            for lower, upper in bounds
        ]
        member_rows = [
            (f"player {one.player}", gain, "gain of its side if it alone deviates")
            for one, gain in zip(self.members, gain_texts[1:], strict=True)
        ]
        return [("NashConv", gain_texts[0], "gains of both sides"), *member_rows]


def nash_conv(
    tree: FlatTree,
    target: Strategy,
    attack: Callable[[Strategy, Budget], Response],
    budget: Budget,
    limit: Deadline,
) -> NashConv:
    """Compute NashConv of a policy: gains of both sides, and of each player who deviates alone.

    1. Bound the gains of single players, within half of the time.
    2. Find the best responses of both sides by `attack`, with `budget` in the time that is left.
    3. Bound the gains of the players that step 1 had no time for. Those still without a bound gain
       at least 0, and at most what both sides gain together.

    Raises `HogeqError` if `target` is a mixture.
    """
    target.unmixed("NashConv")
    num_players = tree.num_players if tree.sides is None else len(tree.sides)
    deviations = dict[int, Deviation | None].fromkeys(range(num_players))  # None: no time yet
    _find_deviations(deviations, tree, target, limit.share(0.5))
    response = attack(target, replace(budget, seconds=limit.left) if limit.left < inf else budget)
    _find_deviations(deviations, tree, target, limit)
    # A response's value is the mean of both seats, so the sum of both gains is twice as much.
    lower, upper = (2.0 * end for end in tree.units.beyond(response.value, response.bound))
    lower = max(lower, 0.0)  # no gain is negative: the policy is a response to itself
    members = [found or Deviation(player, 0.0, upper) for player, found in deviations.items()]
    return NashConv(lower, upper, tuple(members), response)


def _find_deviations(
    deviations: dict[int, Deviation | None], tree: FlatTree, target: Strategy, deadline: Deadline
) -> None:
    """Fill in the `deviations`, by player, that are None; these players share the time."""
    for player, found in deviations.items():
        if found is None and not deadline.is_over:
            share = deadline.share(1.0 / (len(deviations) - player))
            deviations[player] = _deviation(tree, target, player, share)


def _deviation(tree: FlatTree, target: Strategy, player: int, limit: Deadline) -> Deviation:
    """Bound what a player gains by a best response while all others keep to the policy."""
    own_rows = tree.member == player
    if not own_rows.any():  # the player never moves
        return Deviation(player, lower=0.0, upper=0.0)
    side = int(tree.seat[own_rows][0])
    two_player_tree = against_all_others(tree, own_rows, side)
    # Others play a policy, and need no order in which they would forget less.
    others_plan = plan_of(sequence_form(two_player_tree, 1 - side), target, limit)
    # Payoffs are of the inflated form, which has no limit unless it is made before.
    sequence_form(two_player_tree, side).inflate(limit.share(INFLATION_SHARE))
    payoffs = Payoffs(two_player_tree, side, others_plan, limit)
    least_now, most_now = payoffs.payoff_bounds(plan_of(payoffs.form, target, limit))
    best = respond_with_bounds(payoffs, limit, deadline=limit)
    lower = max(0.0, below(best.response_payoff - most_now))
    upper = max(0.0, above(best.upper_bound - least_now))
    return Deviation(player, lower, upper)
