"""The value of each side in policies, by the search of :mod:`hogeq.trees.maxmin`."""

import operator
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Final

from hogeq.search.results import Equilibrium, InPolicies
from hogeq.search.units import above, below
from hogeq.strategies.strategy import Strategy
from hogeq.support.deadline import Deadline
from hogeq.support.floats import UNIT_ROUNDOFF
from hogeq.support.messages import HogeqError
from hogeq.trees.enclosures import Payoffs, exact_numbers_of, plan_of
from hogeq.trees.flat import CENTRING_ROUNDINGS, FlatTree
from hogeq.trees.maxmin import SMALL_GAP, Maxmin
from hogeq.trees.responses import respond_with_bounds
from hogeq.trees.restricted import average_policy
from hogeq.trees.sequence_payoffs import stakes, unmoved_payoff
from hogeq.trees.shuffling import solving_form
from hogeq.trees.strategies import restrict_to_seat

MOST_COMPONENTS: Final = 50  # components of a mixture that the search starts from
ENTRIES_PER_NODE: Final = 2  # time to begin and end a search, in entries of sparse arrays
PROOF_SHARE: Final = 0.1  # share of the time in which the bounds of the policy are proved


def in_policies(tree: FlatTree, solved: Equilibrium, limit: float | Deadline) -> InPolicies:
    """Enclose the most that each side secures by a policy (its maxmin in policies).

    `solved` is an equilibrium in mixtures: its bounds are bounds for both sides. Raises
    `HogeqError` for games without decisions.
    """
    if not tree.num_rows:
        raise HogeqError(f"{tree.name}: nobody decides; allowed: games with decisions")
    deadline = Deadline.of(limit)
    num_forgetful = [len(solving_form(tree, player).shared_rows) for player in (0, 1)]
    first = int(num_forgetful[1] < num_forgetful[0])  # it forgets less, and may leave time over
    first_value = enclose_side(tree, solved, first, deadline.share(0.5))
    # The value in mixtures is no worse for a side than what it secures by a policy.
    if first == 0:
        narrower = replace(solved, lower=max(solved.lower, first_value.lower))
    else:
        narrower = replace(solved, upper=min(solved.upper, first_value.upper))
    other_value = enclose_side(tree, narrower, 1 - first, deadline)
    values = (first_value, other_value) if first == 0 else (other_value, first_value)
    return replace(values[0], mixtures=solved, second=replace(values[1], mixtures=solved))


def enclose_side(
    tree: FlatTree, solved: Equilibrium, player: int, limit: float | Deadline
) -> InPolicies:
    """Enclose the most that one side secures by a policy, as payoffs to player 0.

    A side may have imperfect recall, so that a mixture of policies, as in the equilibrium `solved`,
    can secure more than one policy.

    1. Branch and bound starts from the components of the side's mixture in `solved`, and from its
       average; the bound of `solved` is its ceiling. Without time for it, a mixture of one
       component is the policy, with the bounds that it has in `solved`.
    2. The payoff that the best policy secures is by the opponent's best response, rounded outward.
    3. The bound of the search is converted from its units to a payoff.
    """
    deadline = Deadline.of(limit)
    mixture = solved.strategies[player]
    if len(mixture.chances) == 1 and not deadline.allows(ENTRIES_PER_NODE * tree.num_nodes):
        return _bounds_of_component(tree, solved, player, deadline)
    search = Maxmin(tree, player, deadline.share(1.0 - PROOF_SHARE))
    average = average_policy(search.form, mixture)
    known_bound = solved.upper if player == 0 else solved.lower
    ceiling = _share_of_stakes(tree, player, known_bound) + search.programs.relative_error
    result = search.solve([average, *mixture.policies[:MOST_COMPONENTS][::-1]], ceiling)
    policy = Strategy.unchecked(result.policy)
    payoffs = Payoffs(tree, 1 - player, plan_of(search.form, policy, deadline), deadline)
    response = respond_with_bounds(
        payoffs, deadline, dag=search.opponent.whole_dag, deadline=deadline
    )
    most_of_opponent = response.upper_bound
    secured = most_of_opponent if player == 1 else payoffs.payoff_sum - most_of_opponent
    least, greatest = sorted((secured, _payoff_of_share(tree, player, result.upper)))
    are_met = greatest - least <= Fraction(SMALL_GAP) * Fraction(stakes(tree))
    return InPolicies(
        lower=below(least),
        upper=above(greatest),
        strategy=restrict_to_seat(tree, policy, player),
        is_proved=response.is_certain and are_met,
        method="branch and bound",
        effort={"boxes": result.boxes, "programs": result.programs},
        mixtures=solved,
        seconds=deadline.spent,
        player=player,
    )


def _bounds_of_component(
    tree: FlatTree, solved: Equilibrium, player: int, deadline: Deadline
) -> InPolicies:
    """Take a side's mixture of one component for the policy, with its bounds in the equilibrium."""
    secured = solved.secured or (solved.lower, solved.upper)
    return InPolicies(
        lower=secured[0] if player == 0 else solved.lower,
        upper=secured[1] if player == 1 else solved.upper,
        strategy=restrict_to_seat(tree, solved.strategies[player], player),
        is_proved=solved.is_proved,
        method="branch and bound",
        effort={"boxes": 0, "programs": 0},
        mixtures=solved,
        seconds=deadline.spent,
        player=player,
    )


def _share_of_stakes(tree: FlatTree, player: int, bound: float) -> float:
    """Convert a bound on the payoff to player 0 to the units of the search for a player's policy.

    These are shares of the stakes, to the player. The search leaves out the tree's level and
    payoffs that come without a move: of the bounds on the latter, the one that is worst for the
    player keeps the result an upper bound.
    """
    sign = 1.0 - 2.0 * player  # 1 for player 0, -1 for player 1
    worst_unmoved = _unmoved_ends(tree)[player]
    return sign * (bound - (tree.shift + tree.centre) - float(worst_unmoved)) / stakes(tree)


def _payoff_of_share(tree: FlatTree, player: int, share: float) -> Fraction:
    """Convert an upper bound of the search, a share of the stakes, to a payoff to player 0.

    It is widened by the rounding of payoffs, and holds for the payoff that the player secures.
    """
    sign = 1 - 2 * player  # 1 for player 0, -1 for player 1
    level = Fraction(tree.shift + tree.centre)  # the tree's payoffs are relative to it
    best_unmoved = _unmoved_ends(tree)[1 - player]
    share_to_first = sign * Fraction(stakes(tree)) * Fraction(share)
    return level + best_unmoved + share_to_first + sign * _missed_by_centring(tree)


@lru_cache(maxsize=1)
def _unmoved_ends(tree: FlatTree) -> tuple[Fraction, Fraction]:
    """Bound the payoff to player 0 of plays without a player's move, from below and above."""
    return unmoved_payoff(solving_form(tree, 0), solving_form(tree, 1))


def _missed_by_centring(tree: FlatTree) -> Fraction:
    """Bound the error by which payoffs were rounded when a constant, the level, was subtracted.

    A play misses no more than the most of all plays, and all plays together no more than the sum of
    what each misses, times its probability by chance alone.
    """
    level = Fraction(tree.shift + tree.centre)
    numbers = exact_numbers_of(tree)
    if numbers is not None:
        pairs = zip(numbers.terminal_payoffs, tree.terminal_payoffs.tolist(), strict=True)
        misses = [abs(given - level - Fraction(paid)) for given, paid in pairs]
        expected = sum(map(operator.mul, numbers.reach_by_chance, misses), Fraction())
        return min(max(misses), expected)
    missed = CENTRING_ROUNDINGS * UNIT_ROUNDOFF * (abs(tree.shift) + abs(tree.centre))
    if tree.is_rounded:  # each payoff stands for one within a rounding of it; twice that
        missed += 2.0 * UNIT_ROUNDOFF * (abs(float(level)) + tree.largest_payoff)
    return Fraction(missed)
