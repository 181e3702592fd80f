"""Best responses of one player under imperfect recall, with a bound that no response exceeds.

All here is in float64: :mod:`hogeq.trees.responses` says what of it holds.
"""

from typing import Final, NamedTuple

import numpy as np

from hogeq.strategies.arrays import one_hot
from hogeq.support.aliases import Floats, Ints
from hogeq.support.deadline import FOREVER, Deadline
from hogeq.trees.absent import Decision
from hogeq.trees.beliefs import BeliefDag, Mask
from hogeq.trees.enumeration import enumerate_responses
from hogeq.trees.integer_program import solve_by_program
from hogeq.trees.rows import is_too_wide
from hogeq.trees.sequences import LEAST_GAIN, SequenceForm

FULL_MEMORY: Final = "full memory"
BELIEF_DAG: Final = "belief DAG"
ENUMERATION: Final = "enumeration"
INTEGER_PROGRAM: Final = "integer program"
BRANCH_AND_BOUND: Final = "branch and bound"
BOUND_METHODS: Final = (FULL_MEMORY, BELIEF_DAG, ENUMERATION, INTEGER_PROGRAM, BRANCH_AND_BOUND)
"""Methods that prove the bound of a response, the simplest first."""
CONVERGED_GAP: Final = 2.0**-36  # largest gap at which searches end, as a share of the stakes
STARTS: Final = 15  # pure strategies that ascents start from
MOST_SHARED_ROWS: Final = 64  # up to so many shared rows, enumeration comes before a program


class Answer(NamedTuple):
    """A response of one player, its payoff, and an upper bound on that of any response."""

    payoffs: Floats  # (S,), of the player's sequences, to which it responds
    strategy: Floats  # (R, K), pure unless absent-minded; rows of the other player are not used
    payoff: float  # in the units of `payoffs`, as is the bound
    bound: float
    method: str
    """Proves the bound: one of `BOUND_METHODS`."""
    choices: Mask | None = None  # (C,), those of a belief DAG that it comes to

    @property
    def is_proved(self) -> bool:
        """Whether no response is better, up to `CONVERGED_GAP`."""
        return self.bound - self.payoff <= CONVERGED_GAP


def best_response(
    original: SequenceForm,
    payoffs: Floats,
    limit: float | Deadline,
    begin: Floats | None = None,
    enough: float = np.inf,
    dag: BeliefDag | None = None,
    deadline: Deadline = FOREVER,
) -> Answer:
    """Find the best response of a player to payoffs of its sequences, (S,), and a bound on all.

    A sequence is the own actions so far. A row is an information set, shared if it joins several.
    With the whole belief `dag`, one backward pass is exact. An absent-minded player has branch and
    bound, and its response need not be pure. Elsewhere, each step if the one before left a gap:

    1. Ascents from several pure strategies, the first one `begin`, (R, K). The bound is the payoff
       with full memory; with A-loss recall an ascent reaches it.
    2. Enumeration, if few rows are shared.
    3. An integer program within `limit`; 0 seconds leave it out.

    A response that gets more than `enough` ends the search. `deadline` is that of steps 1 and 2;
    one ascent is made even when it is over.
    """
    limit = Deadline.of(limit)
    if dag is not None:
        return _respond_by_dag(original, payoffs, dag)
    if original.is_absent_minded:
        solved = Decision(original, payoffs).solve(limit, begin, enough=enough)
        return Answer(payoffs, solved.policy, solved.value, solved.bound, BRANCH_AND_BOUND)
    form = original.inflate(deadline)
    bound, actions, best = ascend_from_starts(original, payoffs, begin, deadline)
    method = FULL_MEMORY
    goes_on = bound - best > CONVERGED_GAP and best <= enough
    if goes_on and can_enumerate(form) and not deadline.is_over:
        actions, best, new_bound = enumerate_responses(form, payoffs, actions, best, deadline)
        if new_bound < bound:
            bound = new_bound
            method = ENUMERATION
        goes_on = bound - best > CONVERGED_GAP and best <= enough
    if goes_on:
        program_actions, new_bound = solve_by_program(form, payoffs, limit)
        if program_actions is not None:
            payoff = float(form.pure_realisation(program_actions) @ payoffs)
            if payoff > best:
                actions = program_actions
                best = payoff
        # A response that gets more refutes a bound; an infinite one says nothing.
        if best - CONVERGED_GAP <= new_bound < bound:
            bound = new_bound
            method = INTEGER_PROGRAM
    strategy = pure_strategy_of_plan(original, form.pure_realisation(actions))
    return Answer(payoffs, strategy, best, max(best, bound), method)


def can_enumerate(form: SequenceForm) -> bool:
    """Whether best responses of an inflated form can be enumerated: few rows are shared.

    An enumeration has tables by pairs of rows and by actions.
    """
    num_own_rows = len(np.unique(form.row_of_refined))
    is_small = not is_too_wide(num_own_rows**2, form.tree.num_actions)
    return len(form.shared_rows) <= MOST_SHARED_ROWS and form.has_row_order and is_small


def _respond_by_dag(form: SequenceForm, payoffs: Floats, dag: BeliefDag) -> Answer:
    """Find the best response to payoffs of sequences, (S,), by one pass over a whole belief DAG."""
    best, chosen = dag.respond(payoffs)
    flow = dag.flow(chosen)
    strategy = pure_strategy_of_plan(form, dag.plan_matrix @ flow)
    return Answer(payoffs, strategy, best, best, BELIEF_DAG, flow > 0.0)


def pure_strategy_of_plan(form: SequenceForm, plan: Floats) -> Floats:
    """Give the pure strategy, (R, K), that has a realisation plan, (S,) of zeros and ones.

    A pure strategy comes to one part at most of a row that inflation split: that part decides.
    """
    return one_hot(form.likeliest_actions(plan), form.tree.num_actions)


def ascend_from_starts(
    original: SequenceForm, payoffs: Floats, begin: Floats | None, deadline: Deadline
) -> tuple[float, Ints, float]:
    """Find a good pure response to payoffs of sequences, (S,), by ascents from several starts.

    They start from the strategy `begin`, (R, K), from the actions of a player with full memory, and
    at random, and end once a response reaches the bound of full memory. Returns this bound, the
    actions of the inflated rows, (R',), and their payoff.
    """
    form = original.inflate(deadline)
    bound = form.upper_bound(payoffs)
    best = -np.inf
    for start in _starts(original, payoffs, begin):
        improved = form.ascend(start, payoffs, deadline)
        payoff = float(form.pure_realisation(improved) @ payoffs)
        if payoff > best:
            response = improved
            best = payoff
        if bound - best <= LEAST_GAIN or deadline.is_over:
            break
    return bound, response, best


def _starts(original: SequenceForm, payoffs: Floats, begin: Floats | None) -> list[Ints]:
    """List the pure strategies that ascents start from: an action of each inflated row, (R',).

    The first is that of `begin`, (R, K), if there is one; then comes one with the best actions of a
    player with full memory; the others are random.
    """
    form = original.inflated
    starts = []
    if begin is not None:
        actions = np.where(original.tree.legal, begin, -1.0).argmax(axis=1)
        starts.append(actions[original.original_row])
    _, remembered = form.perfect_recall_values(payoffs)  # an action at each, (J,)
    with_memory = np.zeros(form.tree.num_rows, np.int64)
    with_memory[form.row_of_refined] = remembered  # of a shared row, the last one stays
    starts.append(with_memory)
    random = np.random.default_rng(0)
    num_random = STARTS + 1 - len(starts)
    return starts + [random.integers(form.tree.num_legal) for _ in range(num_random)]
