"""Best responses and equilibria by trees, as results for users; of Hog too, where it is small."""

from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from math import inf
from typing import Final

import numpy as np

from hogeq.evaluation.values import win_rate
from hogeq.model.game import HogEngine
from hogeq.rules import Rules
from hogeq.rules.turn import total_rises
from hogeq.search import bounds
from hogeq.search.attack import attack
from hogeq.search.results import WIN_RATES, Budget, Equilibrium, InPolicies, Response
from hogeq.search.units import above, below
from hogeq.strategies.arrays import one_hot
from hogeq.strategies.conversion import strategy_of
from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Floats
from hogeq.support.deadline import Deadline
from hogeq.support.messages import HogeqError
from hogeq.trees import columns, responses
from hogeq.trees.annealing import anneal_rows
from hogeq.trees.best_response import INTEGER_PROGRAM
from hogeq.trees.engine import TreeEngine
from hogeq.trees.flat import FlatTree
from hogeq.trees.policy_values import enclose_side
from hogeq.trees.rules import from_rules
from hogeq.trees.sequences import sequence_form
from hogeq.trees.tree import HogRules, has_at_most
from hogeq.trees.whole_dags import build_dags

EXACT_SECONDS: Final = 60.0  # for an integer program, unless a budget says otherwise
MOST_ENTRIES: Final = 2_000_000  # of belief DAGs that respond in place of a search
MOST_NODES: Final = 1_000_000  # of a game of Hog that is laid out as a tree


def respond_in_tree(tree: FlatTree, target: Strategy, budget: Budget) -> Response:
    """Find the best response to a strategy, in either seat, and a bound on all responses.

    Each step if no response is proved yet:

    1. Ascents without a program: exact where the responder forgets nothing or has no choice.
    2. For teams and against mixtures, a backward pass over both belief DAGs, if these are small.
    3. The search of :mod:`hogeq.search.attack` and annealing, if rows have an order.
    4. An integer program that begins with that response.
    """
    deadline = Deadline(budget.limit)
    quick = responses.respond_in_both_seats(tree, target, limit=0.0, deadline=deadline.share(0.5))
    quick_seconds = deadline.spent  # step 4 takes at least as long
    has_no_choice = tree.num_legal.max(initial=1) == 1
    if quick.is_proved or has_no_choice or deadline.is_over:
        return quick
    # A search passes over every component of a mixture each time, and teams' bounds are loose.
    if tree.sides is not None or target.kind == "mixture":
        dags = build_dags(tree, MOST_ENTRIES, deadline.share(0.5))
        if None not in dags:
            return responses.respond_in_both_seats(tree, target, limit=0.0, whole_dags=dags)
    search = None
    begin = None
    if all(sequence_form(tree, player).has_row_order for player in (0, 1)):
        engine = TreeEngine(tree)
        search = attack(engine, target, budget, deadline=deadline.share(0.7))
        begin = engine.legal(one_hot(search.matrix, tree.num_actions))
        if target.kind != "mixture":
            begin = anneal_rows(tree, target.policy, begin, budget, deadline.share(0.5))
    if search is None and deadline.left < quick_seconds:
        return quick
    seconds = EXACT_SECONDS if budget.exact_seconds is None else budget.exact_seconds
    program_limit = deadline.share(responses.SEARCH_SHARE).within(seconds)
    response = responses.respond_in_both_seats(
        tree, target, program_limit, begin, deadline=deadline
    )
    return replace(response, search=search, seconds=deadline.spent)


# --- Hog ------------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def hog_tree(rules: Rules) -> FlatTree | None:
    """Lay out a game of Hog as a tree, once; None if it is too large, or may never end."""
    tree = HogRules(rules)
    is_small = total_rises(rules) and has_at_most(tree, MOST_NODES)
    return from_rules(tree, name=rules.name, once=True) if is_small else None


def _required_tree(engine: HogEngine, fault: str) -> FlatTree:
    """Lay out a game of Hog as a tree; `HogeqError`, beginning with `fault`, if there is none."""
    tree = hog_tree(engine.rules)
    if tree is None:
        allowed = f"games of at most {MOST_NODES:,}: lower goal or max_dice"
        raise HogeqError(f"{fault}; allowed: {allowed}")
    return tree


def _policies_of_rows(tree: FlatTree, policies: Floats) -> Floats:
    """Convert policies by scores, (n, G, G, K), to those by rows of a tree of Hog, (n, R, K)."""
    own, other = np.array(tree.names).T
    return np.asarray(policies[:, own, other])


def _policies_of_scores(tree: FlatTree, engine: HogEngine, rows: Floats, seat: int = 0) -> Floats:
    """Convert policies by rows of a tree of Hog, (n, R, K), to those by scores, (n, G, G, K).

    They are those of the player in a seat. At scores where it never moves it rolls no dice.
    """
    policies = np.zeros((len(rows), *engine.shape))
    policies[..., 0] = 1.0
    is_own = tree.seat == seat
    own_score, opponent_score = np.array(tree.names)[is_own].T  # rows are named by both scores
    policies[:, own_score, opponent_score] = rows[:, is_own]
    return policies


def _rate_of_payoff(payoff: float) -> float:
    """Convert a payoff, 1 for a win and -1 for a loss, to a win rate."""
    return (1.0 + payoff) / 2.0


def _rates_of_payoffs(lower: float, upper: float) -> tuple[float, float]:
    """Convert both ends of an interval of payoffs to win rates, rounded outward."""
    return below((1 + Fraction(lower)) / 2), above((1 + Fraction(upper)) / 2)


def respond_by_program(engine: HogEngine, target: Strategy, budget: Budget) -> Response:
    """Search for a response in Hog; improve it and its bound by a program over all histories.

    1. Search for a matrix and a bound in half of the time; done if they meet.
    2. From that matrix on, solve for a response in the game tree, by an integer or linear program.
    3. Take the response of the tree if it wins more, and its bound if that is lower. Only a bound
       that does not rest on HiGHS gets a proof.
    """
    tree = _required_tree(engine, f"exact_seconds: a game to {engine.goal} has too many histories")
    deadline = Deadline(budget.limit)
    half_budget = budget if deadline.left == inf else replace(budget, seconds=deadline.left / 2.0)
    response = bounds.respond_in_hog(engine, target, half_budget)
    if response.is_proved:
        return response
    opponent = Strategy.unchecked_mixture(_policies_of_rows(tree, target.policies), target.chances)
    begin = _policies_of_rows(tree, response.strategy.policies)[0]
    program_limit = deadline.share(responses.SEARCH_SHARE).within(budget.exact_seconds or 0.0)
    in_tree = responses.respond_in_both_seats(
        tree, opponent, program_limit, begin, deadline=deadline
    )
    value = max(_rate_of_payoff(in_tree.value), response.value)
    bound = _rate_of_payoff(in_tree.bound)
    if _rate_of_payoff(in_tree.value) > response.value:
        matrix = _policies_of_scores(tree, engine, in_tree.strategy.policies)[0].argmax(axis=-1)
        strategy = strategy_of(engine, matrix)
        rate = win_rate(engine, strategy, target)
        seats = rate.first, rate.second
        response = replace(response, strategy=strategy, value=value, seats=seats)
    is_bound_certain = True
    if bound < response.bound:
        response = replace(response, bound=max(bound, value), method=in_tree.method)
        # The bound of an integer program is in float64, and HiGHS alone says that it holds.
        is_bound_certain = in_tree.method != INTEGER_PROGRAM
    if is_bound_certain:
        response = bounds.with_proof(engine, response, target)
    return replace(response, seconds=deadline.spent)


def solve_hog_by_tree(engine: HogEngine, tree: FlatTree, limit: float | Deadline) -> Equilibrium:
    """Solve a small game of Hog in mixtures; its value is 1/2, for both players are alike."""
    return _in_win_rates(engine, tree, columns.solve_by_columns(tree, limit))


def _in_win_rates(engine: HogEngine, tree: FlatTree, equilibrium: Equilibrium) -> Equilibrium:
    """Convert an equilibrium of a tree of Hog: payoffs to win rates, rows to tables by scores.

    Rows are the tree's information sets, which are named by both scores.
    """
    first, second = (
        Strategy.unchecked_mixture(
            _policies_of_scores(tree, engine, strategy.policies, seat), strategy.chances
        )
        for seat, strategy in enumerate(equilibrium.strategies)
    )
    lower, upper = _rates_of_payoffs(equilibrium.lower, equilibrium.upper)
    return replace(
        equilibrium,
        lower=lower,
        upper=upper,
        strategies=(first, second),
        # Of win rates a user may ask for digits that payoffs are not written with.
        is_proved=equilibrium.is_proved and WIN_RATES.are_one(lower, upper),
        secured=None if equilibrium.secured is None else _rates_of_payoffs(*equilibrium.secured),
        units=WIN_RATES,
        seats=None,
    )


def hog_in_policies(engine: HogEngine, deadline: Deadline) -> InPolicies:
    """Bound the largest win rate that a policy secures in a small game of Hog: 1/2 at most."""
    size = f"a game to {engine.goal} has too many histories to be enclosed in policies"
    tree = _required_tree(engine, f"{engine.rules.name}: {size}")
    mixtures = columns.solve_by_columns(tree, deadline.share(0.5))
    # Players are alike, so the value of the game is 0: policies secure no more than mixtures.
    in_mixtures = replace(mixtures, upper=min(mixtures.upper, 0.0))
    in_policies = enclose_side(tree, in_mixtures, 0, deadline)
    lower, upper = _rates_of_payoffs(in_policies.lower, in_policies.upper)
    return replace(
        in_policies,
        lower=lower,
        upper=upper,
        strategy=Strategy.unchecked(
            _policies_of_scores(tree, engine, in_policies.strategy.policies)[0]
        ),
        mixtures=_in_win_rates(engine, tree, mixtures),
    )
