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
from hogeq.trees.absent_results import FINEST, solve_decision
from hogeq.trees.beliefs import BeliefDag, recall_dag
from hogeq.trees.best_response import (
    BELIEF_DAG,
    BOUND_METHODS,
    BRANCH_AND_BOUND,
    FULL_MEMORY,
    INTEGER_PROGRAM,
    Answer,
    ascend_from_starts,
    best_response,
    pure_strategy_of_plan,
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


class BoundedResponse(NamedTuple):
    """A response, and bounds between which the best payoff lies."""

    answer: Answer
    response_payoff: Fraction  # payoff of the response, rounded down
    upper_bound: Fraction  # upper bound on the payoff of any response
    full_memory_bound: Fraction  # upper bound on the payoff of a player with perfect recall
    is_certain: bool  # whether `upper_bound` is proved; otherwise HiGHS reports it
    bound_method: str  # how `upper_bound` was found, one of `BOUND_METHODS`


class _UpperBound(NamedTuple):
    """An upper bound on the payoff of any response."""

    payoff: Fraction
    is_certain: bool  # whether it is proved; otherwise HiGHS reports it
    method: str  # one of `BOUND_METHODS`


def respond_with_bounds(
    payoffs: Payoffs,
    limit: float | Deadline,
    begin: Floats | None = None,
    dag: BeliefDag | None = None,
    deadline: Deadline = FOREVER,
    gap_share: float = 1.0,
) -> BoundedResponse:
    """Find a best response to a strategy in one seat, and bounds that hold despite rounding.

    1. Where payoffs are known exactly, rescale those that the search takes (float64) to the losses
       of good responses: larger losses are cut off, so that small differences keep their digits.
    2. Search for a response.
    3. Compute its payoff anew, rounded down, and an upper bound, rounded up.

    `payoffs` are those of the responder's sequences against the strategy, and may be rescaled in
    place. A program or branch and bound ends by the `limit`, all other searches by the `deadline`.
    An ascent begins at the strategy `begin`, (R, K). By the responder's `dag` the response is exact
    without a search. `gap_share`, for an absent-minded player, is the largest gap of the bounds, as
    a share of the usual one.
    """
    form = payoffs.form
    limit = Deadline.of(limit)
    full_memory_bound = payoffs.best_response_bound(recall_dag(form))
    if dag is not None or not form.is_absent_minded:
        if dag is None and payoffs.exact_payoffs is not None:
            begin = _rescale_to_losses(payoffs, begin, full_memory_bound, deadline)
        answer = best_response(form, payoffs.upper_ends, limit, begin, dag=dag, deadline=deadline)
        least = payoffs.least_payoff(answer.strategy)
    else:  # until both bounds print alike
        solved, least, *_ = solve_decision(payoffs, limit, form.tree.units, gap_share, begin)
        values = solved.value, solved.bound
        answer = Answer(payoffs.upper_ends, solved.policy, *values, BRANCH_AND_BOUND)
    by_full_memory = _UpperBound(full_memory_bound, is_certain=True, method=FULL_MEMORY)
    if dag is not None:
        bound = _UpperBound(payoffs.best_response_bound(dag), is_certain=True, method=BELIEF_DAG)
    elif least >= full_memory_bound or answer.method == FULL_MEMORY:
        bound = by_full_memory
    else:
        bound = _bound_of_search(payoffs, answer, limit)
    if bound.payoff >= full_memory_bound:
        bound = by_full_memory  # which is proved
    most = max(bound.payoff, least)
    return BoundedResponse(answer, least, most, full_memory_bound, bound.is_certain, bound.method)


def _rescale_to_losses(
    payoffs: Payoffs, begin: Floats | None, full_memory_bound: Fraction, deadline: Deadline
) -> Floats | None:
    """Rescale payoffs, in place, to the losses of good responses; return the last response.

    Losses are against full memory. Larger ones than that of an ascent are cut off, and the ascent
    is repeated, as long as the loss is far less than the unit of the payoffs. Ascents begin at the
    strategy `begin`, (R, K), which is returned if there is no time for one.
    """
    form = payoffs.form
    while not deadline.is_over:
        _, actions, _ = ascend_from_starts(form, payoffs.upper_ends, begin, deadline)
        begin = pure_strategy_of_plan(form, form.inflated.pure_realisation(actions))
        loss = full_memory_bound - payoffs.least_payoff(begin)
        if not 0 < RESCALING_RATIO * loss < payoffs.unit:
            break
        payoffs.rescale(loss)
    return begin


def _bound_of_search(payoffs: Payoffs, answer: Answer, limit: Deadline) -> _UpperBound:
    """Bound the payoff of any response by the search that found `answer`.

    A belief DAG replaces the bound of an integer program, whose arithmetic rounds, if it can be
    built in time.
    """
    if answer.method == INTEGER_PROGRAM:
        dag = bounding_dag(payoffs.form, limit)
        if dag is not None:
            bound = payoffs.best_response_bound(dag)
            return _UpperBound(bound, is_certain=True, method=BELIEF_DAG)
    is_certain = answer.method != INTEGER_PROGRAM
    return _UpperBound(payoffs.payoff(answer.bound), is_certain, answer.method)


def respond_in_both_seats(
    tree: FlatTree,
    given: Strategy | Floats,
    limit: float | Deadline,
    begin: Floats | None = None,
    whole_dags: Sequence[BeliefDag | None] = (None, None),
    deadline: Deadline = FOREVER,
) -> Response:
    """Find a best response to a strategy in either seat; its value is the mean of both seats.

    If bounds of single seats print as one number but those of the mean do not, branch and bound is
    repeated for a gap that is 16 times smaller.

    `given` is a strategy, or a policy (R, K); ascents begin at the strategy `begin`, (R, K). The
    `limit` is for programs and branch and bound of both seats together, the `deadline` for all
    other searches. `whole_dags` are the players' belief DAGs: one who has it needs no program.
    """
    target = tree_strategy(tree, given)
    unit = stakes(tree)
    limit = Deadline.of(limit)
    inflated_forms(tree, deadline)  # keeps them: `solving_form` uses them
    gap_share = 1.0
    while True:
        first, second = (
            _respond_in_seat(
                tree, player, target, limit, begin, whole_dags[player], deadline, gap_share
            )
            for player in (0, 1)
        )
        rows = np.where(tree.seat[:, None] == 0, first.answer.strategy, second.answer.strategy)
        value = (first.response_payoff + second.response_payoff) / 2
        bound = (first.upper_bound + second.upper_bound) / 2
        is_met = bound - value <= LARGEST_GAP * Fraction(unit)
        are_alike = tree.units.are_one(below(value), above(bound))  # whether they print alike
        is_branching = BRANCH_AND_BOUND in (first.bound_method, second.bound_method)
        can_be_finer = is_branching and gap_share > FINEST
        if are_alike or not is_met or not can_be_finer or limit.is_over:
            break
        gap_share /= 16.0
        begin = rows
    return _response_of_seats(tree, rows, first, second, limit.spent)


def _response_of_seats(
    tree: FlatTree, rows: Floats, first: BoundedResponse, second: BoundedResponse, seconds: float
) -> Response:
    """Join the responses in both seats, whose rows are `rows`, (R, K), to one result."""
    units = tree.units
    exact_value = (first.response_payoff + second.response_payoff) / 2
    exact_bound = (first.upper_bound + second.upper_bound) / 2
    value = below(exact_value)
    bound = above(exact_bound)
    seats = below(first.response_payoff), below(second.response_payoff)
    seat_bounds = above(first.upper_bound), above(second.upper_bound)
    is_met = exact_bound - exact_value <= LARGEST_GAP * Fraction(stakes(tree))
    are_certain = first.is_certain and second.is_certain
    is_pure = bool((rows.max(axis=1, initial=0.0) == 1.0).all())
    return Response(
        strategy=tree_strategy(tree, rows.argmax(axis=1) if is_pure else rows),
        value=value,
        bound=bound,
        full_memory=above((first.full_memory_bound + second.full_memory_bound) / 2),
        is_proved=are_certain
        and is_met
        and units.are_one(value, bound)
        and all(map(units.are_one, seats, seat_bounds)),
        method=max(first.bound_method, second.bound_method, key=BOUND_METHODS.index),
        seconds=seconds,
        seats=seats,
        seat_bounds=seat_bounds,
        units=units,
    )


def _respond_in_seat(
    tree: FlatTree,
    player: int,
    target: Strategy,
    limit: Deadline,
    begin: Floats | None,
    whole: BeliefDag | None,
    deadline: Deadline,
    gap_share: float,
) -> BoundedResponse:
    """Respond to a strategy in the seat of a player, within its share of both limits of time.

    `whole` is the player's belief DAG; other arguments are as for `respond_with_bounds`.
    """
    form = solving_form(tree, player)
    unshuffled_form = sequence_form(tree, player)
    seats_left = 1 + bool((tree.seat > player).any())  # with decisions, from this seat on
    program_limit = limit.share(1.0 / seats_left)
    seat_limit = deadline.share(1.0 / seats_left)
    plan = plan_of(solving_form(tree, 1 - player), target, seat_limit)
    payoffs = Payoffs(tree, player, plan, seat_limit)
    search_limit = seat_limit.share(SEARCH_SHARE)
    result = respond_with_bounds(payoffs, program_limit, begin, whole, search_limit, gap_share)
    if form is unshuffled_form:
        return result
    # Perfect recall refers to the order in which the game itself asks the player.
    in_game_order = Payoffs(tree, player, plan, deadline, unshuffled_form)
    full_memory_bound = in_game_order.best_response_bound(recall_dag(unshuffled_form))
    return result._replace(full_memory_bound=full_memory_bound)


def bound_full_memory(tree: FlatTree, target: Strategy) -> float:
    """Bound the payoff of a responder with perfect recall from above, in the mean of both seats."""
    forms = [sequence_form(tree, player) for player in (0, 1)]
    sum_of_seats = Fraction()
    for player, form in enumerate(forms):
        payoffs = Payoffs(tree, player, plan_of(forms[1 - player], target), FOREVER, form)
        sum_of_seats += payoffs.best_response_bound(recall_dag(form))
    return above(sum_of_seats / 2)
