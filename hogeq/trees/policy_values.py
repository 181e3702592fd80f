"""The value of each side in policies, by the search of :mod:`hogeq.trees.maxmin`."""

import operator
from dataclasses import replace
from fractions import Fraction
from typing import Final

import numpy as np

from hogeq.search.results import Equilibrium, InPolicies
from hogeq.search.units import above, below
from hogeq.strategies.strategy import Strategy
from hogeq.support.deadline import Deadline
from hogeq.support.floats import UNIT_ROUNDOFF
from hogeq.support.messages import HogeqError
from hogeq.trees.enclosures import Payoffs, numbers_of, plan_of
from hogeq.trees.flat import CENTRING_ROUNDINGS, FlatTree
from hogeq.trees.maxmin import SMALL_GAP, Maxmin
from hogeq.trees.responses import settle
from hogeq.trees.restricted import averaged
from hogeq.trees.sequence_payoffs import stakes, unmoved
from hogeq.trees.shuffling import solving_form
from hogeq.trees.strategies import seated

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
    """Enclose the most that one side secures by a policy, as payoffs to player 0.

    A side may have imperfect recall, so that a mixture of policies, as in the equilibrium `solved`,
    can secure more than one policy.

    1. Branch and bound starts from the components of the side's mixture in `solved`, and from its
       average; the bound of `solved` is its ceiling. Without time for it, a mixture of one
       component is the policy, with the bounds that it has in `solved`.
    2. What the policy found secures is by the opponent's best response, rounded outward.
    3. The bound of the search is turned from its units back into payoffs.
    """
    deadline = Deadline.of(limit)
    sign = 1.0 - 2.0 * player  # 1 for player 0, -1 for player 1
    mixture = solved.strategies[player]
    if len(mixture.chances) == 1 and not deadline.allows(ENTRIES_PER_NODE * tree.num_nodes):
        secured_by_side = solved.secured or (solved.lower, solved.upper)
        return InPolicies(
            lower=secured_by_side[0] if player == 0 else solved.lower,
            upper=secured_by_side[1] if player == 1 else solved.upper,
            strategy=seated(tree, mixture, player),
            is_proved=solved.is_proved,
            method="branch and bound",
            effort={"boxes": 0, "programs": 0},
            mixtures=solved,
            seconds=deadline.spent,
            player=player,
        )
    unit = stakes(tree)  # the search divides payoffs by it
    level = tree.shift + tree.centre  # the tree's payoffs are relative to it
    search = Maxmin(tree, player, deadline.share(1.0 - PROOF_SHARE))
    starts = np.concatenate(
        [mixture.policies[:MOST_COMPONENTS], averaged(search.form, mixture)[None]]
    )
    known_bound = solved.upper if player == 0 else solved.lower
    # The search leaves out payoffs that come without a move: its bounds are widened by these.
    unmoved_ends = unmoved(solving_form(tree, 0), solving_form(tree, 1))
    worst_unmoved, best_unmoved = unmoved_ends if player == 0 else unmoved_ends[::-1]
    ceiling = (
        sign * (known_bound - level - float(worst_unmoved)) / unit + search.programs.relative_error
    )
    result = search.solve(starts[::-1], ceiling)
    # The opponent's best response to the policy, rounded outward.
    policy = Strategy.unchecked(result.policy)
    payoffs = Payoffs(tree, 1 - player, plan_of(search.form, policy, deadline), deadline)
    response = settle(payoffs, deadline, dag=search.opponent.whole_dag, deadline=deadline)
    most = response.upper_bound
    secured = most if player == 1 else payoffs.payoff_sum - most
    bound = Fraction(level) + best_unmoved + int(sign) * Fraction(unit) * Fraction(result.upper)
    least, greatest = sorted((secured, bound + int(sign) * _missed_by_centring(tree)))
    are_met = greatest - least <= Fraction(SMALL_GAP) * Fraction(unit)
    return InPolicies(
        lower=below(least),
        upper=above(greatest),
        strategy=seated(tree, policy, player),
        is_proved=response.is_certain and are_met,
        method="branch and bound",
        effort={"boxes": result.boxes, "programs": result.programs},
        mixtures=solved,
        seconds=deadline.spent,
        player=player,
    )


def _missed_by_centring(tree: FlatTree) -> Fraction:
    """Bound the error by which payoffs were rounded when a constant, the level, was subtracted.

    A play misses no more than the most of all plays, and all plays together no more than the sum of
    what each misses, times its probability by chance alone.
    """
    level = Fraction(tree.shift + tree.centre)
    numbers = numbers_of(tree)
    if numbers is not None:
        pairs = zip(numbers.terminal_payoffs, tree.terminal_payoffs.tolist(), strict=True)
        misses = [abs(given - level - Fraction(paid)) for given, paid in pairs]
        expected = sum(map(operator.mul, numbers.reach_by_chance, misses), Fraction())
        return min(max(misses), expected)
    missed = CENTRING_ROUNDINGS * UNIT_ROUNDOFF * (abs(tree.shift) + abs(tree.centre))
    if tree.is_rounded:  # each payoff stands for one within a rounding of it; twice that
        missed += 2.0 * UNIT_ROUNDOFF * (abs(float(level)) + tree.largest_payoff)
    return Fraction(missed)
