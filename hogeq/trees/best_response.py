"""Best responses of one player under imperfect recall, with a bound that no response exceeds.

All here is in float64: :mod:`hogeq.trees.responses` says what of it holds.
"""

from typing import Final, NamedTuple

import numpy as np

from hogeq.strategies.arrays import one_hot
from hogeq.support.aliases import Floats, Ints
from hogeq.support.deadline import FOREVER, Deadline
from hogeq.trees.absent import Decision
from hogeq.trees.beliefs import BeliefDag, Choices
from hogeq.trees.enumeration import enumerated
from hogeq.trees.integer_program import by_program
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
    choices: Choices | None = None  # (C,), those of a belief DAG that it comes to

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
        best, chosen = dag.respond(payoffs)
        flow = dag.flow(chosen)
        strategy = pure_rows(original, dag.plan_matrix @ flow)
        return Answer(payoffs, strategy, best, best, BELIEF_DAG, flow > 0.0)
    if original.is_absent_minded:
        solved = Decision(original, payoffs).solve(limit, begin, enough=enough)
        return Answer(payoffs, solved.policy, solved.value, solved.bound, BRANCH_AND_BOUND)
    form = original.inflate(deadline)
    bound, actions, best = by_ascent(original, payoffs, begin, deadline)
    method = FULL_MEMORY
    can_enumerate = len(form.shared_rows) <= MOST_SHARED_ROWS and form.has_row_order
    # An enumeration has tables by pairs of rows and by actions.
    num_own_rows = len(np.unique(form.row_of_refined))
    can_enumerate &= not is_too_wide(num_own_rows**2, form.tree.num_actions)
    if bound - best > CONVERGED_GAP and best <= enough and can_enumerate and not deadline.is_over:
        actions, best, new_bound = enumerated(form, payoffs, actions, best, deadline)
        if new_bound < bound:
            bound, method = new_bound, ENUMERATION
    if bound - best > CONVERGED_GAP and best <= enough:
        program_actions, new_bound = by_program(form, payoffs, limit)
        if program_actions is not None and form.pure_realisation(program_actions) @ payoffs > best:
            actions = program_actions
            best = float(form.pure_realisation(actions) @ payoffs)
        # A response that gets more refutes a bound; an infinite one says nothing.
        if best - CONVERGED_GAP <= new_bound < bound:
            bound, method = new_bound, INTEGER_PROGRAM
    strategy = pure_rows(original, form.pure_realisation(actions))
    return Answer(payoffs, strategy, best, max(best, bound), method)


def pure_rows(form: SequenceForm, plan: Floats) -> Floats:
    """Return the pure strategy, (R, K), whose realisation plan, (S,), is given.

    A pure strategy comes to one part at most of a row that inflation split: that part decides.
    """
    return one_hot(form.likeliest_actions(plan), form.tree.num_actions)


def by_ascent(
    original: SequenceForm, payoffs: Floats, begin: Floats | None, deadline: Deadline
) -> tuple[float, Ints, float]:
    """Ascend from several pure strategies: the bound of full memory, best actions, their payoff.

    The actions, (R',), are those of the inflated rows. Ascents start from `begin`, (R, K), from the
    actions of a player with full memory, and at random. They end once a response reaches the bound.
    """
    form = original.inflated
    _, remembered = form.perfect_recall_values(payoffs)  # an action at each, (J,)
    bound = form.upper_bound(payoffs)
    random = np.random.default_rng(0)
    response = np.zeros(form.tree.num_rows, np.int64)
    response[form.row_of_refined] = remembered  # of a shared row, the last one stays
    starts = []
    if begin is not None:
        actions = np.where(original.tree.legal, begin, -1.0).argmax(axis=1)
        starts.append(actions[original.original_row])
    starts.append(response)
    starts += [random.integers(form.tree.num_legal) for _ in range(STARTS + 1 - len(starts))]
    best = -np.inf
    for start in starts:
        improved = form.ascend(start, payoffs, deadline)
        payoff = float(form.pure_realisation(improved) @ payoffs)
        if payoff > best:
            response, best = improved, payoff
        if bound - best <= LEAST_GAIN or deadline.is_over:
            break
    return bound, response, best
