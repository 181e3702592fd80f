"""Optimal policies of an absent-minded player and their gaps, in a game's own units.

:class:`hogeq.trees.absent.Decision` computes in float64; here its bounds are rounded outward.
"""

from dataclasses import replace
from fractions import Fraction
from typing import Final

import numpy as np

from hogeq.search.results import PROVED, Equilibrium, Units
from hogeq.search.units import above, agreed, below
from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Floats, Ints
from hogeq.support.deadline import Deadline
from hogeq.trees.absent import Decision, Gaps, Solved
from hogeq.trees.enclosures import Payoffs, plan_of
from hogeq.trees.flat import FlatTree
from hogeq.trees.sequences import INFLATION_SHARE, SequenceForm, sequence_form
from hogeq.trees.shuffling import solving_form
from hogeq.trees.teams import side_names

FINEST: Final = 1e-12  # smallest unit of gaps, as a share of the largest loss


def gaps_of(tree: FlatTree, strategy: Strategy, player: int, deadline: Deadline) -> Gaps:
    """Measure a player's part of a policy against the other's, in the game's own units.

    The payoff of plays in which the player never moves is taken off before anything is rounded.
    """
    inflation_deadline = deadline.share(INFLATION_SHARE)  # else it takes all its time
    sequence_form(tree, 1 - player).inflate(inflation_deadline)
    plan = plan_of(solving_form(tree, 1 - player), strategy, deadline)
    payoffs = Payoffs(tree, player, plan, deadline, sequence_form(tree, player))
    payoffs.midpoints[0] = payoffs.radii[0] = 0.0  # the empty sequence has those plays
    form, rows = _own_rows(payoffs.form)
    decision = Decision(form, payoffs.midpoints)
    policy = strategy.policy[rows, : form.tree.num_actions]
    in_units = decision.gaps(policy, deadline, form.upper_bound(payoffs.radii))
    edt, ex_ante, cdt = (
        (below(payoffs.unit * Fraction(least)), above(payoffs.unit * Fraction(most)))
        for least, most in (in_units.edt, in_units.ex_ante, in_units.cdt)
    )
    lower, upper = agreed(*cdt)
    kkt = float(payoffs.unit * Fraction(in_units.kkt))
    gaps = Gaps(min(max(kkt, lower), upper), edt, ex_ante)
    gaps.cdt = cdt
    return gaps


def _own_rows(form: SequenceForm) -> tuple[SequenceForm, Ints]:
    """Leave out the rows of others, which may be many and wide; return the old numbers as well."""
    tree = form.tree
    rows = np.unique(form.row_of_refined)
    names = [tree.names[row] for row in rows]
    own = replace(tree, seat=tree.seat[rows], num_legal=tree.num_legal[rows], names=names)
    return replace(form, tree=own, row_of_refined=np.searchsorted(rows, form.row_of_refined)), rows


def solve_decision(
    payoffs: Payoffs,
    limit: float | Deadline,
    units: Units,
    gap_share: float = 1.0,
    start: Floats | None = None,
) -> tuple[Solved, Fraction, Fraction, bool]:
    """Solve a decision from a policy `start`, (R, K); bound its optimum in the game's own units.

    Returns the solution, a lower and an upper bound, and whether these are one number: their gap is
    at most `gap_share` times the usual one, and `units` write both with the same digits. If only
    the gap is small enough, the search goes on from its policy for a smaller one.
    """
    deadline = Deadline.of(limit)
    decision = Decision(payoffs.form, payoffs.upper_ends)
    decision.unit *= gap_share
    while True:
        solved = decision.solve(deadline, start)
        # Branch and bound is in float64; the policy is valued again by what holds exactly.
        value = payoffs.least_payoff(solved.policy)
        bound = max(payoffs.payoff(solved.bound), value)
        is_gap_small = solved.bound - solved.value <= PROVED * decision.unit
        are_one = units.are_one(below(value), above(bound))
        if are_one or not is_gap_small or decision.unit < FINEST or deadline.is_over:
            return solved, value, bound, are_one and is_gap_small
        decision.unit /= 16.0
        start = solved.policy


def solve_absent_minded(tree: FlatTree, limit: float | Deadline) -> Equilibrium:
    """Solve a problem of one absent-minded player: the ex ante optimal policy, and a bound."""
    deadline = Deadline.of(limit)
    player = int(tree.seat[0])
    uniform = Strategy.unchecked(tree.uniform())  # of the other, who decides nothing
    plan = plan_of(solving_form(tree, 1 - player), uniform, deadline)
    payoffs = Payoffs(tree, player, plan, deadline)
    solved, value, bound, is_proved = solve_decision(payoffs, deadline, tree.units)
    least = value
    most = bound
    if player == 1:  # results are in payoffs to player 0
        least = payoffs.payoff_sum - bound
        most = payoffs.payoff_sum - value
    lower = below(least)
    upper = above(most)
    policy = Strategy.unchecked(solved.policy)
    return Equilibrium(
        lower=lower,
        upper=upper,
        strategies=(policy, policy),
        is_proved=is_proved and tree.units.are_one(lower, upper),
        method="branch and bound",
        effort={"iterations": len(solved.steps), "components": [1, 1]},
        seconds=deadline.spent,
        units=tree.units,
        sides=side_names(tree.sides),
    )
