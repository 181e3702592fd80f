"""Responses to a strategy of a tree whose ends hold whatever is rounded."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Final, NamedTuple

import numpy as np

from hogeq.search.results import Response
from hogeq.search.units import above, below
from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Floats
from hogeq.support.deadline import FOREVER, Deadline
from hogeq.trees.absent_results import FINEST, settled
from hogeq.trees.beliefs import BeliefDag, remembering
from hogeq.trees.best_response import (
    BELIEF_DAG,
    BOUND_METHODS,
    BRANCH_AND_BOUND,
    FULL_MEMORY,
    INTEGER_PROGRAM,
    Answer,
    best_response,
    by_ascent,
    pure_rows,
)
from hogeq.trees.enclosures import Payoffs, plan_of
from hogeq.trees.flat import FlatTree
from hogeq.trees.sequence_payoffs import stakes
from hogeq.trees.sequences import inflated_forms, sequence_form
from hogeq.trees.shuffling import solving_form
from hogeq.trees.strategies import tree_strategy
from hogeq.trees.whole_dags import bounding_dag

LARGEST_GAP: Final = 1e-9  # between bounds that count as equal, a share of the stakes
RESCALING_RATIO: Final = 1000  # rescale payoffs whose unit exceeds the loss by more than that
SEARCH_SHARE: Final = 0.9  # share of the time for the search; the rest is for exact payoffs


class Settled(NamedTuple):
    """A response, and bounds between which the best payoff lies."""

    answer: Answer
    response_payoff: Fraction  # payoff of the response, rounded down
    upper_bound: Fraction  # upper bound on the payoff of any response
    full_memory_bound: Fraction  # upper bound on the payoff of a player with perfect recall
    is_certain: bool  # whether `upper_bound` is proved; otherwise HiGHS reports it
    bound_method: str  # how `upper_bound` was found, one of `BOUND_METHODS`


def settle(
    payoffs: Payoffs,
    limit: float | Deadline,
    begin: Floats | None = None,
    dag: BeliefDag | None = None,
    deadline: Deadline = FOREVER,
    finer: float = 1.0,
) -> Settled:
    """Find a best response to a strategy in one seat, and bounds that hold despite rounding.

    1. Where payoffs are known exactly, rescale those that the search takes (float64) to the losses
       of good responses: larger losses are cut off, so that small differences keep their digits.
    2. Search for a response.
    3. Compute its payoff anew, rounded down, and an upper bound, rounded up.

    `payoffs` are those of the responder's sequences against the strategy, and may be rescaled in
    place. A program or branch and bound ends by the `limit`, all other searches by the `deadline`.
    An ascent begins at the strategy `begin`, (R, K). By the responder's `dag` the response is exact
    without a search. `finer`, for an absent-minded player, is the largest gap of the bounds, as a
    share of the usual one.
    """
    form = payoffs.form
    limit = Deadline.of(limit)
    full_memory_payoff = payoffs.best_response_bound(remembering(form))
    can_rescale = payoffs.exact_payoffs is not None and dag is None and not form.is_absent_minded
    # Cut off losses larger than what an ascent loses to full memory, as long as that is far less.
    while can_rescale and not deadline.is_over:
        acts = by_ascent(form, payoffs.upper_ends, begin, deadline)[1]
        begin = pure_rows(form, form.inflated.pure_realisation(acts))
        loss = full_memory_payoff - payoffs.least_payoff(begin)
        if not 0 < RESCALING_RATIO * loss < payoffs.unit:
            break
        payoffs.rescale(loss)
    if form.is_absent_minded and dag is None:  # until both bounds print alike
        solved, least, *_ = settled(payoffs, limit, form.tree.units, finer, begin)
        values = solved.value, solved.bound
        answer = Answer(payoffs.upper_ends, solved.policy, *values, BRANCH_AND_BOUND)
    else:
        answer = best_response(form, payoffs.upper_ends, limit, begin, dag=dag, deadline=deadline)
        least = payoffs.least_payoff(answer.strategy)
    most, is_certain, method = full_memory_payoff, True, FULL_MEMORY
    if dag is not None:
        most, method = payoffs.best_response_bound(dag), BELIEF_DAG
    elif least < full_memory_payoff and answer.method == INTEGER_PROGRAM:
        whole_dag = bounding_dag(form, limit)
        is_certain = whole_dag is not None
        if whole_dag is not None:
            most, method = payoffs.best_response_bound(whole_dag), BELIEF_DAG
        else:  # no proof in time: the bound that HiGHS reports
            most, method = payoffs.payoff(answer.bound), INTEGER_PROGRAM
    elif least < full_memory_payoff and answer.method != FULL_MEMORY:
        most, method = payoffs.payoff(answer.bound), answer.method
    if most >= full_memory_payoff:  # perfect recall is the better bound, and proved
        most, is_certain, method = full_memory_payoff, True, FULL_MEMORY
    return Settled(answer, least, max(most, least), full_memory_payoff, is_certain, method)


def enclosed_response(
    tree: FlatTree,
    given: Strategy | Floats,
    limit: float | Deadline,
    begin: Floats | None = None,
    wholes: Sequence["BeliefDag | None"] = (None, None),
    deadline: Deadline = FOREVER,
) -> Response:
    """Find a best response to a strategy in either seat; its value is the mean of both seats.

    If bounds of single seats print as one number but those of the mean do not, branch and bound is
    repeated for a gap that is 16 times smaller.

    `given` is a strategy, or a policy (R, K); ascents begin at the strategy `begin`, (R, K). The
    `limit` is for programs and branch and bound of both seats together, the `deadline` for all
    other searches. `wholes` are belief DAGs of the players: one who has it needs no program.
    """
    target = tree_strategy(tree, given)
    unit = stakes(tree)
    limit = Deadline.of(limit)
    inflated_forms(tree, deadline)  # keeps them: `solving_form` uses them
    finer = 1.0
    while True:
        first, second = (
            _settled_in_seat(tree, player, target, limit, begin, wholes[player], deadline, finer)
            for player in (0, 1)
        )
        rows = np.where(tree.seat[:, None] == 0, first.answer.strategy, second.answer.strategy)
        value = (first.response_payoff + second.response_payoff) / 2
        bound = (first.upper_bound + second.upper_bound) / 2
        is_met = bound - value <= LARGEST_GAP * Fraction(unit)
        are_alike = tree.units.are_one(below(value), above(bound))  # whether they print alike
        methods = first.bound_method, second.bound_method
        can_be_finer = BRANCH_AND_BOUND in methods and finer > FINEST
        if are_alike or not is_met or not can_be_finer or limit.is_over:
            break
        finer /= 16.0
        begin = rows
    is_pure = bool((rows.max(axis=1, initial=0.0) == 1.0).all())
    seats = below(first.response_payoff), below(second.response_payoff)
    seat_bounds = above(first.upper_bound), above(second.upper_bound)
    is_proved = first.is_certain and second.is_certain and is_met and are_alike
    return Response(
        strategy=tree_strategy(tree, rows.argmax(axis=1) if is_pure else rows),
        value=below(value),
        bound=above(bound),
        full_memory=above((first.full_memory_bound + second.full_memory_bound) / 2),
        is_proved=is_proved and all(map(tree.units.are_one, seats, seat_bounds)),
        method=max(methods, key=BOUND_METHODS.index),
        seconds=limit.spent,
        seats=seats,
        seat_bounds=seat_bounds,
        units=tree.units,
    )


def _settled_in_seat(
    tree: FlatTree,
    player: int,
    target: Strategy,
    limit: Deadline,
    begin: Floats | None,
    whole: BeliefDag | None,
    deadline: Deadline,
    finer: float,
) -> Settled:
    """Respond to a strategy in the seat of a player, within its share of both limits of time.

    `whole` is the player's belief DAG; other arguments are as for `settle`.
    """
    form = solving_form(tree, player)
    unshuffled_form = sequence_form(tree, player)
    seats_left = 1 + bool((tree.seat > player).any())  # with decisions, from this seat on
    program_limit = limit.share(1.0 / seats_left)
    seat_limit = deadline.share(1.0 / seats_left)
    plan = plan_of(solving_form(tree, 1 - player), target, seat_limit)
    payoffs = Payoffs(tree, player, plan, seat_limit)
    search_limit = seat_limit.share(SEARCH_SHARE)
    result = settle(payoffs, program_limit, begin, whole, search_limit, finer)
    if form is unshuffled_form:
        return result
    # Perfect recall refers to the order in which the game itself asks the player.
    in_game_order = Payoffs(tree, player, plan, deadline, unshuffled_form)
    full_memory_bound = in_game_order.best_response_bound(remembering(unshuffled_form))
    return result._replace(full_memory_bound=full_memory_bound)


def full_memory(tree: FlatTree, target: Strategy) -> float:
    """Best payoff of a responder with perfect recall, in the mean of both seats, rounded up."""
    forms = [sequence_form(tree, player) for player in (0, 1)]
    sum_of_seats = Fraction()
    for player, form in enumerate(forms):
        payoffs = Payoffs(tree, player, plan_of(forms[1 - player], target), FOREVER, form)
        sum_of_seats += payoffs.best_response_bound(remembering(form))
    return above(sum_of_seats / 2)
