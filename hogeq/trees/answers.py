"""Best responses and equilibria by trees, as results for users; of Hog too, where it is small."""

from dataclasses import replace
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
from hogeq.strategies.arrays import one_hot
from hogeq.strategies.strategy import Strategy, strategy_of
from hogeq.support.aliases import Floats
from hogeq.support.deadline import Deadline
from hogeq.support.messages import HogeqError
from hogeq.trees import columns, responses
from hogeq.trees.annealing import annealed_rows
from hogeq.trees.beliefs import dags_of
from hogeq.trees.best_response import INTEGER_PROGRAM
from hogeq.trees.engine import TreeEngine
from hogeq.trees.flat import FlatTree
from hogeq.trees.policy_values import one_side
from hogeq.trees.rules import from_rules
from hogeq.trees.sequences import sequence_form
from hogeq.trees.tree import HogTree, count

EXACT_SECONDS: Final = 60.0  # that an integer program is given, unless a budget says otherwise
MOST_ENTRIES: Final = 2_000_000  # of belief DAGs that respond in place of a search
MOST_NODES: Final = 1_000_000  # of a game of Hog that is laid out as a tree


def respond_in_tree(tree: FlatTree, target: Strategy, budget: Budget) -> Response:
    """Find the best response to a strategy, in either seat.

    Where the responder forgets nothing or has no choice, one pass backward does; so it does over
    the belief DAG, for teams and against mixtures, where that is not too large. Elsewhere the
    search of :mod:`hogeq.search.attack` comes first, unless rows have no order; its result is
    annealed, and an integer program begins with that.
    """
    deadline = Deadline(budget.limit)
    found = responses.enclosed_response(tree, target, 0.0, deadline=deadline.share(0.5))
    valuing = deadline.spent  # of responses that no program looked for: all but linear work
    is_decided = tree.num_legal.max(initial=1) == 1
    if found.is_proved or is_decided or deadline.is_over:
        return found
    # A search meets every component of a mixture in every pass, and teams' bounds are far.
    if tree.sides is not None or target.kind == "mixture":
        wholes = dags_of(tree, MOST_ENTRIES, deadline.share(0.5))
        if None not in wholes:
            return responses.enclosed_response(tree, target, 0.0, None, wholes)
    search, begin = None, None
    if all(sequence_form(tree, player).rank is not None for player in (0, 1)):
        engine = TreeEngine(tree)
        search = attack(engine, target, budget, deadline=deadline.share(0.7))
        begin = engine.legal(one_hot(search.matrix, tree.num_actions))
        if target.kind != "mixture":
            begin = annealed_rows(tree, target.policy, begin, budget, deadline.share(0.5))
    if search is None and deadline.left < valuing:
        return found
    seconds = EXACT_SECONDS if budget.exact_seconds is None else budget.exact_seconds
    proof = deadline.share(responses.SEARCHING).within(seconds)
    found = responses.enclosed_response(tree, target, proof, begin, deadline=deadline)
    return replace(found, search=search, seconds=deadline.spent)


# --- Hog ------------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def hog_tree(rules: Rules) -> FlatTree | None:
    """Lay a game of Hog out, once; None where it has too many histories, or may never end."""
    tree = HogTree(rules)
    few = total_rises(rules) and count(tree, MOST_NODES).exact
    return from_rules(tree, name=rules.name, once=True) if few else None


def _rows(tree: FlatTree, policies: Floats) -> Floats:
    """Rows of a tree of Hog, (n, R, K), of policies (n, G, G, K)."""
    own, other = np.array(tree.names).T
    return np.asarray(policies[:, own, other])


def _table(tree: FlatTree, engine: HogEngine, rows: Floats, seat: int = 0) -> Floats:
    """Policies (n, G, G, K) of a player in a tree of Hog, (n, R, K); elsewhere no dice."""
    policies = np.zeros((len(rows), *engine.shape))
    policies[..., 0] = 1.0
    mine = tree.seat == seat
    own, other = np.array(tree.names)[mine].T
    policies[:, own, other] = rows[:, mine]
    return policies


def _rate(payoff: float) -> float:
    return (1.0 + payoff) / 2.0


def respond_by_program(engine: HogEngine, target: Strategy, budget: Budget) -> Response:
    """Search for a response in Hog, and go on by an integer program over all histories."""
    tree = hog_tree(engine.rules)
    if tree is None:
        raise HogeqError(
            f"exact_seconds: a game to {engine.goal} has too many histories; allowed: games of at "
            f"most {MOST_NODES:,}: lower goal or max_dice"
        )
    deadline = Deadline(budget.limit)
    half = budget if deadline.left == inf else replace(budget, seconds=deadline.left / 2.0)
    response = bounds.respond_in_hog(engine, target, half)
    if response.is_proved:
        return response
    opponent = Strategy.unchecked(_rows(tree, target.policies), target.chances)
    begin = _rows(tree, response.strategy.policies)[0]
    proof = deadline.share(responses.SEARCHING).within(budget.exact_seconds or 0.0)
    found = responses.enclosed_response(tree, opponent, proof, begin, deadline=deadline)
    value, bound = max(_rate(found.value), response.value), _rate(found.bound)
    if _rate(found.value) > response.value:
        made = _table(tree, engine, found.strategy.policies)[0].argmax(axis=-1)
        strategy = strategy_of(engine, made)
        rate = win_rate(engine, strategy, target)
        seats = rate.first, rate.second
        response = replace(response, strategy=strategy, value=value, seats=seats)
    certain = True
    if bound < response.bound:
        response = replace(response, bound=max(bound, value), method=found.method)
        certain = found.method != INTEGER_PROGRAM  # which HiGHS alone says
    if certain:
        response = bounds.with_proof(engine, response, target)
    return replace(response, seconds=deadline.spent)


def solve_hog_by_tree(engine: HogEngine, tree: FlatTree, limit: float | Deadline) -> Equilibrium:
    """Solve a small game of Hog in mixtures; its value is 1/2, for both players are alike."""
    return _of_hog(engine, tree, columns.by_columns(tree, limit))


def _of_hog(engine: HogEngine, tree: FlatTree, found: Equilibrium) -> Equilibrium:
    first, second = (
        Strategy.unchecked(_table(tree, engine, one.policies, seat), one.chances)
        for seat, one in enumerate(found.strategies)
    )
    return replace(
        found,
        lower=_rate(found.lower),
        upper=_rate(found.upper),
        strategies=(first, second),
        units=WIN_RATES,
        seats=None,
    )


def hog_in_policies(engine: HogEngine, deadline: Deadline) -> InPolicies:
    """Enclose the win rate that a policy secures in a small game of Hog; it is 1/2 at most."""
    tree = hog_tree(engine.rules)
    if tree is None:
        raise HogeqError(
            f"{engine.rules.name}: a game to {engine.goal} has too many histories to be enclosed in"
            f" policies; allowed: games of at most {MOST_NODES:,}: lower goal or max_dice"
        )
    solved = columns.by_columns(tree, deadline.share(0.5))
    found = one_side(tree, replace(solved, upper=min(solved.upper, 0.0)), 0, deadline)
    return replace(
        found,
        lower=_rate(found.lower),
        upper=_rate(found.upper),
        strategy=Strategy.unchecked(_table(tree, engine, found.strategy.policies)[0]),
        mixtures=_of_hog(engine, tree, solved),
    )
