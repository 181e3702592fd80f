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
METHODS: Final = (FULL_MEMORY, BELIEF_DAG, ENUMERATION, INTEGER_PROGRAM, BRANCH_AND_BOUND)
"""What the bound of a response is of, the simplest first."""
MEETING: Final = 2.0**-36  # largest gap at which searches and programs end, a share of the stakes
STARTS: Final = 15
FEW: Final = 64  # shared rows, up to which responses are enumerated first


class Answer(NamedTuple):
    """A response of one player, its payoff, and a bound on any."""

    strategy: Floats  # (R, K), a pure one; rows of the other player are not used
    payoff: float  # a share, as are the payoffs responded to; so is the bound
    bound: float
    method: str
    """What the bound is of, as in :class:`~hogeq.search.results.Response`."""
    choices: Choices | None = None  # that it comes to in a belief DAG, (C,)

    @property
    def is_proved(self) -> bool:
        """Whether no response is better."""
        return self.bound - self.payoff <= MEETING


def best_response(
    original: SequenceForm,
    payoffs: Floats,
    limit: float | Deadline,
    begin: Floats | None = None,
    enough: float = np.inf,
    dag: BeliefDag | None = None,
    deadline: Deadline = FOREVER,
) -> Answer:
    """Find the best response of a player, and a bound that no response exceeds.

    It is pure unless the player is absent-minded. With the whole belief DAG one pass does. With
    A-loss recall full memory is the bound, and is met. Elsewhere ascents are followed by
    enumeration if few rows are shared, and that by an integer program. `begin`, (R, K), is where
    the first ascent begins. After an ascent to more than `enough` nothing else is tried.

    `limit` is that of the program, which 0 seconds leave out; `deadline` that of all before it.
    When that is over, one ascent and full memory are left.
    """
    limit = Deadline.of(limit)
    if dag is not None:
        best, chosen = dag.respond(payoffs)
        flow = dag.flow(chosen)
        return Answer(pure_rows(original, dag.sequences @ flow), best, best, BELIEF_DAG, flow > 0.0)
    if original.is_absent_minded:
        solved = Decision(original, payoffs).solve(limit, begin, enough=enough)
        return Answer(solved.policy, solved.value, solved.bound, BRANCH_AND_BOUND)
    form = original.inflate(deadline)
    full, found, best = by_ascent(original, payoffs, begin, deadline)  # bound, actions, payoff
    is_small = len(form.shared) <= FEW and form.rank is not None
    is_small &= not is_too_wide(len(np.unique(form.row)) ** 2, form.tree.num_actions)
    method = FULL_MEMORY
    if full - best > MEETING and best <= enough and is_small and not deadline.is_over:
        found, best, bound = enumerated(form, payoffs, found, best, deadline)
        if bound < full:
            full, method = bound, ENUMERATION
    if full - best > MEETING and best <= enough:
        acts, bound = by_program(form, payoffs, limit)
        if acts is not None and form.pure(acts) @ payoffs > best:
            found, best = acts, float(form.pure(acts) @ payoffs)
        if best - MEETING <= bound < full:  # else the response found refutes it, or it is none
            full, method = bound, INTEGER_PROGRAM
    return Answer(pure_rows(original, form.pure(found)), best, max(best, full), method)


def pure_rows(form: SequenceForm, plan: Floats) -> Floats:
    """Pure strategy, (R, K), that has a plan; of parts of a row it comes to one at most."""
    return one_hot(form.acts(plan), form.tree.num_actions)


def by_ascent(
    original: SequenceForm, payoffs: Floats, begin: Floats | None, deadline: Deadline
) -> tuple[float, Ints, float]:
    """Give the payoff of full memory, and the best response of ascents: actions, (R',), and payoff.

    Those are of inflated rows. Ascents begin with `begin`, what full memory does, and at random.
    """
    form, starts = original.inflated, []
    _, remembered = form.remember(payoffs)
    full, random = form.most(payoffs), np.random.default_rng(0)
    response = np.zeros(form.tree.num_rows, np.int64)
    response[form.row] = remembered
    if begin is not None:
        acts = np.where(original.tree.legal, begin, -1.0).argmax(axis=1)
        starts.append(acts[original.origin])
    starts.append(response)
    starts += [random.integers(form.tree.num_legal) for _ in range(STARTS + 1 - len(starts))]
    best = -np.inf
    for start in starts:
        improved = form.ascend(start, payoffs, deadline)
        payoff = float(form.pure(improved) @ payoffs)
        if payoff > best:
            response, best = improved, payoff
        if full - best <= LEAST_GAIN or deadline.is_over:  # the first, if nothing was forgotten
            break
    return full, response, best
