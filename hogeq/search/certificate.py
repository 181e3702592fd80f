"""Upper bounds on best responses, with a proof that anyone can check: search, and check again.

The bound is a Lagrangian dual (``docs/exact-response.md``): a responder that knows the whole state
pays *dual prices* for its actions, by state. A *row* is an information set, whose states a player
who forgets cannot tell apart. A certificate lists the *steps*, each of which changes the prices of
one row. :mod:`hogeq.search.certificate_files` has the file.
"""

from collections.abc import Callable, Sequence
from typing import cast

import numpy as np

from hogeq.graph.hog import of_hog
from hogeq.model.graph_layout import near_first
from hogeq.model.priced import Problem, require_few_actions
from hogeq.rules import Rules
from hogeq.search.certificate_files import Certificate, OtherGame
from hogeq.search.lifted_bound import (
    MOST_STEPS,
    NEGLIGIBLE_LOSS,
    NEGLIGIBLE_PRICE,
    LiftedBound,
    Revision,
    Step,
    replay,
)
from hogeq.strategies.strategy import Strategy
from hogeq.support.deadline import Deadline
from hogeq.support.messages import percent
from hogeq.support.progress import phase

# Parameters of steps, as in `Step` and `Revision`:
LARGEST_CUT_SHARE = 0.25  # largest share of an action's reduced cost by which its price is cut
COVER = 1.2  # how far falls of prices outweigh rises at most
RAISED_SHARE = 0.4  # share of a reduced cost that a row charges; later visits charge more
LOWERED_SHARE = 0.1  # share of reduced costs by which prices in a row are lowered
# Order of visits:
LEAST_SHARE_OF_LOSS = 0.003  # of a row's loss by forgetting, by which a step must lower the bound
ROWS_PER_BATCH = 100  # rows that are visited before all are put in order again
ROWS_PER_CLOCK_CHECK = 100  # rows whose losses are computed between two looks at the clock
LEAST_PROMISE = 1e-10  # expected gain of a row that is visited, in units of the largest payoff
LEAST_SUCCESS = 0.02  # of a row, so that it is visited again some time
STEPS_OF_A_VISIT = 2  # at most: a revision and a rise of prices
LEAST_GAIN_OF_BATCH = 1e-8  # the search ends after a batch that lowers the bound by less


def hog_problems(rules: Rules, strategy: Strategy) -> list[Problem]:
    """Pose the problem of a best responder in Hog, against each policy that a strategy may draw.

    The responder is player 0. A mixture draws one of several policies, so it poses several
    problems, each with the probability of its policy; a policy or a matrix poses one.
    """
    require_few_actions(rules.num_actions)  # before the graph is made
    graph = of_hog(rules)
    order = near_first(graph, rules.size)  # of positions, for the cache
    components = zip(strategy.policies, strategy.chances.tolist(), strict=True)
    return [
        Problem(
            graph=graph,
            seat=0,
            policy=policy.reshape(-1, rules.num_actions),
            chance=chance,
            order=order,
        )
        for policy, chance in components
    ]


def check_certificate(
    certificate: Certificate, problems: Sequence[Problem] | None = None
) -> Certificate:
    """Prove a certificate's bound on responses again, from its steps; trust none of its numbers.

    A step changes dual prices. The problems are those of a responder to the certificate's strategy,
    by default in Hog, one for each policy that the strategy may draw.
    """
    strategy = certificate.strategy
    if problems is None:
        problems = hog_problems(certificate.rules, strategy)
    return certificate_of(certificate.game, strategy, replay(problems, certificate.steps))


def certificate_of(game: Rules | OtherGame, strategy: Strategy, proved: LiftedBound) -> Certificate:
    """Make the certificate of a proved bound on responses to a strategy.

    It has the steps of the proof, which are changes of dual prices, and the margin for rounding
    that the bound includes. Win rates in Hog are at most 1.
    """
    largest_payoff = 1.0 if isinstance(game, Rules) else np.inf
    bound = min(largest_payoff, proved.bound())
    return Certificate(
        game=game,
        strategy=strategy,
        bound=float(bound),
        full_memory=proved.full_memory,
        steps=tuple(proved.steps),
        unit=proved.unit,
        is_told=proved.is_told,
        margin=proved.margin() * proved.unit,
        full_memory_bound=float(min(largest_payoff, proved.full_memory_bound)),
    )


def certify(
    problems: Sequence[Problem],
    seconds: float,
    clock: Callable[[], float] | None = None,
    shown: Callable[[float], str] = percent,
) -> LiftedBound:
    """Search for a low upper bound on a player's best payoff, and its proof, in so many seconds.

    The problems are those of one responder against each policy of its opponent's mixture. The proof
    is a list of steps, each a change of the dual prices of one row (information set).

    1. The bound begins as the value of a responder with full memory.
    2. Visit the rows by their expected gains: a visit changes the prices that the responder pays
       for its actions, if that lowers the bound.
    3. End if a batch of rows gains nothing, or time or steps are used up.

    `shown` formats the bound for the progress line; `clock` returns the seconds.
    """
    deadline = Deadline(seconds, clock)
    search = _Search(problems, deadline)
    bound = search.bound
    if not bound.hides:  # full memory is a best response
        return bound
    with phase("certificate", 100) as progress:
        while rows := search.next_rows():
            progress.measured(f"bound {shown(bound.payoff)}")
            for row in rows:
                if search.has_ended:
                    break
                search.visit(row)
                progress.reach(int(100.0 * deadline.spent / seconds))
    return bound


class _Search:
    """Descent of the bound, row by row: the row with the largest expected gain is next.

    A row is an information set. Its visit changes the dual prices of actions in its states, which
    a responder that knows the state pays. This is block coordinate descent, in which a block leaves
    reduced costs that it does not need to others (Werner, Prusa and Dlask 2020, "Relative interior
    rule in block-coordinate descent").
    """

    def __init__(self, problems: Sequence[Problem], deadline: Deadline) -> None:
        """Value a responder with full memory, who knows the state: that is the first bound."""
        self.deadline = deadline
        self.bound = LiftedBound(problems)
        self.seconds_to_solve = deadline.spent
        rows, _ = self.bound.shape
        self.largest_gains = np.zeros(rows)  # (R,), most by which a row can lower the bound
        self.success = np.ones(rows)  # (R,), share of that by which recent visits lowered it
        self.value_before = np.inf  # of the bound, when the last rows were chosen

    @property
    def has_ended(self) -> bool:
        """Whether the steps of a proof are used up, or only the time for its end is left."""
        # At the end the responder is solved anew, which takes as long as the beginning did.
        has_no_time = self.deadline.left <= self.seconds_to_solve
        is_full = len(self.bound.steps) > MOST_STEPS - STEPS_OF_A_VISIT
        return has_no_time or is_full

    def next_rows(self) -> list[int]:
        """Choose the next rows to visit, the largest expected gain first; none ends the search.

        A row is an information set, and a visit changes its dual prices. Its largest gain is the
        sum of its loss by forgetting and of its maximum, the most that a responder who forgets can
        pay of its prices. The expected gain is that times the row's success, the share of it by
        which recent visits lowered the bound. The list is also empty if the search has ended,
        before or while losses are computed.
        """
        if self.has_ended:
            return []
        value = self.bound.value
        gained = self.value_before - value
        self.value_before = value
        if gained < LEAST_GAIN_OF_BATCH:  # the last rows lowered the bound too little
            return []
        least_losses = np.zeros(len(self.success))  # (R,), of each row's actions
        for number, row in enumerate(self.bound.reached_rows().tolist(), 1):
            least_losses[row] = self.bound.loss(row).min()
            # Of a large game the losses of all rows take as long as solving the responder.
            if number % ROWS_PER_CLOCK_CHECK == 0 and self.has_ended:
                return []
        self.largest_gains = least_losses + np.maximum(self.bound.row_maxima(), 0.0)
        expected_gains = self.largest_gains * self.success
        best_first = np.argsort(-expected_gains, kind="stable")[:ROWS_PER_BATCH]
        promising = best_first[expected_gains[best_first] > LEAST_PROMISE]
        return cast("list[int]", promising.tolist())

    def visit(self, row: int) -> None:
        """Change the dual prices of one row (information set), to lower the bound on responders.

        The bound is a Lagrangian dual: the value of a responder that knows every state and pays the
        prices for its actions, plus for each row its maximum, the most that a responder who
        takes one action in the whole row can pay of them. A visit is one step of block coordinate
        descent, over the prices that are the row's: it revises them, if they are stored, which
        never raises the bound; then it raises them.
        """
        value_before = self.bound.value
        if self.bound.can_revise(row):
            self.bound.take(Revision(row, lowered=LOWERED_SHARE, lent=LARGEST_CUT_SHARE))
        self.raise_prices(row)
        self.update_success(row, value_before - self.bound.value)

    def raise_prices(self, row: int) -> None:
        """Raise a row's dual prices by a share of its loss by forgetting, if the bound then falls.

        The row is an information set. Its loss is that of a responder that knows the state and
        takes the best common action in all states of the row. The bound falls by the fall of this
        responder's value less the rise of the row's maximum, the most that can be paid of its
        prices. Rows that a play meets twice cannot have prices.
        """
        losses = self.bound.loss(row)  # (K,), of the same action in all states
        action = int(losses.argmin())
        loss = float(losses[action])
        if loss > NEGLIGIBLE_LOSS / 10.0 and self.bound.is_met_once(row):
            step = Step(
                row, action, share=RAISED_SHARE, lent=LARGEST_CUT_SHARE, weight=1.0, cover=COVER
            )
            fall_of_value, rise_of_maximum = self.bound.gain(step)
            if fall_of_value - rise_of_maximum > LEAST_SHARE_OF_LOSS * loss:
                self.bound.take(step)

    def update_success(self, row: int, gain: float) -> None:
        """Update a row's success, which orders later visits, by the fall of the bound in a visit.

        It is a moving average of the gains of visits, as shares of the largest gain possible.
        """
        share_gained = gain / max(self.largest_gains[row], NEGLIGIBLE_PRICE)
        success = 0.2 * self.success[row] + 0.8 * share_gained
        self.success[row] = np.clip(success, LEAST_SUCCESS, 1.0)
