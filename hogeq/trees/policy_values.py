"""The value of each side in policies, by the search of :mod:`hogeq.trees.maxmin`."""

from dataclasses import replace
from fractions import Fraction
from typing import Final

import numpy as np

from hogeq.search.results import Equilibrium, InPolicies
from hogeq.search.units import above, below
from hogeq.strategies.strategy import Strategy
from hogeq.support.deadline import Deadline
from hogeq.support.messages import HogeqError
from hogeq.trees.enclosures import ROUNDING, Payoffs, numbers_of, plan_of
from hogeq.trees.flat import FlatTree
from hogeq.trees.maxmin import MEETING, Maxmin
from hogeq.trees.responses import settle
from hogeq.trees.restricted import averaged
from hogeq.trees.sequence_payoffs import stakes, unmoved
from hogeq.trees.shuffling import solving_form
from hogeq.trees.strategies import seated

COMPONENTS: Final = 50  # of a mixture that are tried alone
ENTRIES: Final = 2  # of each node, in the time in which a search begins and ends
PROVING: Final = 0.1  # share of the time in which what was found is valued with a margin


def in_policies(tree: FlatTree, solved: Equilibrium, limit: float | Deadline) -> InPolicies:
    """Enclose what each side secures by a policy; the value in mixtures is a bound of both."""
    if not tree.num_rows:
        raise HogeqError(f"{tree.name}: nobody decides; allowed: games with decisions")
    deadline = Deadline.of(limit)
    shared = [len(solving_form(tree, player).shared) for player in (0, 1)]
    first = int(shared[1] < shared[0])  # who forgets less, and may need no time
    first_value = one_side(tree, solved, first, deadline.share(0.5))
    # The value in mixtures is no worse for a side than what it secures by a policy.
    if first == 0:
        narrower = replace(solved, lower=max(solved.lower, first_value.lower))
    else:
        narrower = replace(solved, upper=min(solved.upper, first_value.upper))
    other_value = one_side(tree, narrower, 1 - first, deadline)
    values = (first_value, other_value) if first == 0 else (other_value, first_value)
    return replace(values[0], mixtures=solved, second=replace(values[1], mixtures=solved))


def one_side(
    tree: FlatTree, solved: Equilibrium, player: int, limit: float | Deadline
) -> InPolicies:
    """Enclose what one side secures by a policy, as payoffs to player 0.

    The search begins with the side's mixture: components and average. Its ceiling is by `solved`.
    Without time for a search, a mixture of one component is the policy, and has its ends already.
    """
    deadline, sign = Deadline.of(limit), 1.0 - 2.0 * player
    mixture = solved.strategies[player]
    if len(mixture.chances) == 1 and not deadline.allows(ENTRIES * tree.num_nodes):
        secured_ends = solved.secured or (solved.lower, solved.upper)
        return InPolicies(
            lower=secured_ends[0] if player == 0 else solved.lower,
            upper=secured_ends[1] if player == 1 else solved.upper,
            strategy=seated(tree, mixture, player),
            is_proved=solved.is_proved,
            method="branch and bound",
            effort={"boxes": 0, "programs": 0},
            mixtures=solved,
            seconds=deadline.spent,
            player=player,
        )
    unit, level = stakes(tree), tree.shift + tree.centre
    search = Maxmin(tree, player, deadline.share(1.0 - PROVING))
    starts = np.concatenate([mixture.policies[:COMPONENTS], averaged(search.form, mixture)[None]])
    known = solved.upper if player == 0 else solved.lower
    # The search leaves out payoffs that come without a move: its bounds are widened by these.
    unmoved_ends = unmoved(solving_form(tree, 0), solving_form(tree, 1))
    worst_unmoved, best_unmoved = unmoved_ends if player == 0 else unmoved_ends[::-1]
    ceiling = sign * (known - level - float(worst_unmoved)) / unit + search.rounding
    result = search.solve(starts[::-1], ceiling)
    # The opponent's best response to the policy, rounded outward.
    policy = Strategy.unchecked(result.policy)
    payoffs = Payoffs(tree, 1 - player, plan_of(search.form, policy, deadline), deadline)
    most = settle(payoffs, deadline, dag=search.opponent.whole, deadline=deadline).most
    secured = most if player == 1 else payoffs.total - most
    bound = Fraction(level) + best_unmoved + int(sign) * Fraction(unit) * Fraction(result.upper)
    least, greatest = sorted((secured, bound + int(sign) * _missed_by_centring(tree)))
    return InPolicies(
        lower=below(least),
        upper=above(greatest),
        strategy=seated(tree, policy, player),
        is_proved=bool(result.upper - result.lower <= MEETING),
        method="branch and bound",
        effort={"boxes": result.boxes, "programs": result.programs},
        mixtures=solved,
        seconds=deadline.spent,
        player=player,
    )


def _missed_by_centring(tree: FlatTree) -> Fraction:
    """Bound what the payoffs of a tree, and the level they are above, miss of those given."""
    level = Fraction(tree.shift + tree.centre)
    numbers = numbers_of(tree)
    if numbers is not None:
        pairs = zip(numbers.paid, tree.paid.tolist(), strict=True)
        return max(abs(given - level - Fraction(paid)) for given, paid in pairs)
    missed = 4.0 * ROUNDING * (abs(tree.shift) + abs(tree.centre))
    if tree.is_rounded:
        missed += 2.0 * ROUNDING * (abs(float(level)) + tree.largest_payoff)
    return Fraction(missed)
