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

LARGEST_GAP: Final = 1e-9  # of ends that are proved
COARSE: Final = 1000  # times what a response loses, beyond which losses are cut off
SEARCHING: Final = 0.9  # share of the time after which what was found is valued


class Settled(NamedTuple):
    """A response, and ends between which the best payoff lies."""

    answer: Answer
    least: Fraction  # what the response gets, at least
    most: Fraction  # what no response exceeds
    full_memory: Fraction  # nor a player who remembers the own past
    is_certain: bool  # whether `most` is by a theorem; else HiGHS says so
    method: str


def settle(
    payoffs: Payoffs,
    limit: float | Deadline,
    begin: Floats | None = None,
    dag: BeliefDag | None = None,
    deadline: Deadline = FOREVER,
    finer: float = 1.0,
) -> Settled:
    """Find the best response to a strategy, and ends that hold whatever is rounded.

    Searches take payoffs in float64, with losses that are beyond all good responses cut off. What
    they find is valued anew. `limit` and `deadline` are those of `best_response`; ends for an
    absent-minded player are `finer` times as far apart as is usual, at most.
    """
    form, limit = payoffs.form, Deadline.of(limit)
    full = payoffs.most(remembering(form))

    def proved_payoff(strategy: Floats) -> Fraction:
        return payoffs.least_of(plan_of(form, Strategy.unchecked(strategy), payoffs.deadline))

    can_rescale = payoffs.exact is not None and dag is None and not form.is_absent_minded
    # Cut off losses larger than what an ascent loses to full memory, as long as that is far less.
    while can_rescale and not deadline.is_over:
        acts = by_ascent(form, payoffs.most_each, begin, deadline)[1]
        begin = pure_rows(form, form.inflated.pure(acts))
        loss = full - proved_payoff(begin)
        if not 0 < COARSE * loss < payoffs.unit:
            break
        payoffs.rescale(loss)
    if form.is_absent_minded and dag is None:  # until both ends are written alike
        solved, least, *_ = settled(payoffs, limit, form.tree.units, finer, begin)
        answer = Answer(solved.policy, solved.value, solved.bound, BRANCH_AND_BOUND)
    else:
        answer = best_response(form, payoffs.most_each, limit, begin, dag=dag, deadline=deadline)
        least = proved_payoff(answer.strategy)
    most, is_certain, method = full, True, FULL_MEMORY
    if dag is not None:
        most, method = payoffs.most(dag), BELIEF_DAG
    elif least < full and answer.method == INTEGER_PROGRAM:
        whole = bounding_dag(form, limit)
        is_certain = whole is not None
        if whole is not None:
            most, method = payoffs.most(whole), BELIEF_DAG
        else:  # HiGHS says so
            most, method = payoffs.payoff(answer.bound), INTEGER_PROGRAM
    elif least < full and answer.method != FULL_MEMORY:
        most, method = payoffs.payoff(answer.bound), answer.method
    if most >= full:
        most, is_certain, method = full, True, FULL_MEMORY
    return Settled(answer, least, max(most, least), full, is_certain, method)


def enclosed_response(
    tree: FlatTree,
    given: Strategy | Floats,
    limit: float | Deadline,
    begin: Floats | None = None,
    wholes: Sequence["BeliefDag | None"] = (None, None),
    deadline: Deadline = FOREVER,
) -> Response:
    """Find the best response to a strategy, in either seat, by a program within a limit.

    `begin`, (R, K), is a strategy from which it is sought. Belief DAGs need no program. `deadline`
    is that of all before it.
    """
    target, unit, limit = tree_strategy(tree, given), stakes(tree), Deadline.of(limit)
    inflated_forms(tree, deadline)

    def in_seat(player: int, begin: Floats | None, finer: float) -> Settled:
        form, plain = solving_form(tree, player), sequence_form(tree, player)
        seats = 1 + bool((tree.seat > player).any())  # that decide something, from this one on
        program_limit, seat_limit = limit.share(1.0 / seats), deadline.share(1.0 / seats)
        plan = plan_of(solving_form(tree, 1 - player), target, seat_limit)
        payoffs, search_limit = Payoffs(tree, player, plan, seat_limit), seat_limit.share(SEARCHING)
        result = settle(payoffs, program_limit, begin, wholes[player], search_limit, finer)
        if form is plain:
            return result
        # Full memory is of the order in which rows are met.
        most = Payoffs(tree, player, plan, deadline, plain).most(remembering(plain))
        return result._replace(full_memory=most)

    finer = 1.0
    while True:
        first, second = (in_seat(player, begin, finer) for player in (0, 1))
        rows = np.where(tree.seat[:, None] == 0, first.answer.strategy, second.answer.strategy)
        value, bound = (first.least + second.least) / 2, (first.most + second.most) / 2
        # Ends of each seat may be written alike, and those of the mean not.
        is_met = bound - value <= LARGEST_GAP * Fraction(unit)
        are_alike = tree.units.are_one(below(value), above(bound))
        can_be_finer = BRANCH_AND_BOUND in (first.method, second.method) and finer > FINEST
        if are_alike or not is_met or not can_be_finer or limit.is_over:
            break
        finer, begin = finer / 16.0, rows
    is_pure = bool((rows.max(axis=1, initial=0.0) == 1.0).all())
    seats = below(first.least), below(second.least)
    seat_bounds = above(first.most), above(second.most)
    is_proved = first.is_certain and second.is_certain and is_met and are_alike
    return Response(
        strategy=tree_strategy(tree, rows.argmax(axis=1) if is_pure else rows),
        value=below(value),
        bound=above(bound),
        full_memory=above((first.full_memory + second.full_memory) / 2),
        is_proved=is_proved and all(map(tree.units.are_one, seats, seat_bounds)),
        method=max((first.method, second.method), key=BOUND_METHODS.index),
        seconds=limit.spent,
        seats=seats,
        seat_bounds=seat_bounds,
        units=tree.units,
    )


def full_memory(tree: FlatTree, target: Strategy) -> float:
    """Payoff of a responder with perfect recall, in the mean of both seats, rounded up."""
    forms = [sequence_form(tree, player) for player in (0, 1)]
    most = Fraction()
    for player, form in enumerate(forms):
        payoffs = Payoffs(tree, player, plan_of(forms[1 - player], target), FOREVER, form)
        most += payoffs.most(remembering(form))
    return above(most / 2)
