"""An upper bound on best responses to a policy or a mixture, below full memory, in any graph.

Lagrangian decomposition. A responder with full memory pays dual prices for its actions by state,
the sum over rows I of their prices c_I: prices of the actions in I, less *cuts* of prices before I
that keep it from steering towards them. The *maximum* of an action of I is the most that a
responder can pay of c_I if it takes only this action in I. The responder's value and the sum of the
rows' largest maxima are the bound. ``docs/exact-response.md`` has the equation, the proof and the
sources.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hogeq.evaluation.rounding import priced_turn_error
from hogeq.model.priced import PricedResponders, Problem
from hogeq.model.responder import PriceRise, RowPrices
from hogeq.support.aliases import Floats, Ints
from hogeq.support.messages import HogeqError
from hogeq.support.progress import phase

NEGLIGIBLE_PRICE = 1e-12  # prices below this count as 0
MOST_STORED_BYTES = 4 * 2**30  # of rows' prices that are stored, so that they can be revised
MOST_REPLAYED_BYTES = 8 * 2**30  # the same where the rows to be revised are known beforehand
MOST_STEPS = 100_000  # of a certificate
LARGEST_PRICE = 1e6  # largest size allowed of a price, and of a maximum of prices
STEPS_PER_REFRESH = 25  # steps after which choices and reach are computed anew
NEGLIGIBLE_LOSS = 1e-8  # losses by forgetting below this count as 0


class Step(NamedTuple):
    """A rise of one row's prices, in the symbols of the page; all steps together define the prices.

    Prices of actions before the row are cut by some of their reduced cost, their loss against the
    best one. Fields have the names of a certificate file.
    """

    row: int
    action: int  # b, the action whose reduced cost is charged
    share: float  # s, the share of that cost that is charged
    lent: float  # largest share of an action's reduced cost by which its price is cut
    weight: float  # share of the gain by steering towards the row that cuts cover
    cover: float  # k, how far falls of prices outweigh rises at most


class Revision(NamedTuple):
    """Move all prices of one row, and the cuts before it, to lower the bound most."""

    row: int
    lowered: float  # share of its reduced cost by which a price in the row falls
    lent: float  # largest share of an action's reduced cost by which its price is cut


class LiftedBound:
    """The bound, step by step, on a player's best payoff: the mean over some problems.

    A problem is one seat against one policy of the other. The prices of the rows `revised` are
    stored, and no others; by default those of all rows, in the order of their first steps, as long
    as they fit into 4 GiB. Raises `HogeqError` if those of the rows `revised` take more than 8 GiB.
    """

    def __init__(self, problems: Sequence[Problem], revised: frozenset[int] | None = None) -> None:
        """Solve the responders with full memory, whose mean value is the first bound."""
        self.steps: list[Step | Revision] = []
        self._responder = PricedResponders(problems)
        self._responder.begin()
        self._responder.visit()
        self._action_maxima = np.zeros(self._responder.shape)  # (R, K), of each row's prices
        self._largest = 0.0  # largest size so far of a price, or of a maximum of prices
        # Step that `gain` valued last, its rise, and the maxima; None after a step is taken.
        self._valued: tuple[Step, PriceRise, Floats] | None = None
        self._revised = revised  # rows whose prices are stored; None: as many as fit
        # By row and problem; None: not stored.
        self._stored: dict[int, dict[int, RowPrices] | None] = {}
        self._room = MOST_STORED_BYTES  # bytes left for them
        if revised is not None:
            size = sum(self._responder.bytes_kept(row) for row in sorted(revised))
            if size > MOST_REPLAYED_BYTES:
                raise HogeqError(
                    f"steps: claims of {len(revised)} revised rows need up to {size / 2**30:.1f} "
                    f"GiB; allowed: {MOST_REPLAYED_BYTES >> 30}"
                )
        self._payoff_error = sum(problem.chance * problem.payoff_error for problem in problems)
        self._payoff_offset = sum(problem.chance * problem.payoff_offset for problem in problems)
        self.full_memory = self.payoff
        self.full_memory_bound = self._rounded_up()

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and actions, (R, K)."""
        return self._responder.shape

    @property
    def unit(self) -> float:
        """Power of two that is no less than all payoffs."""
        return self._responder.scale

    @property
    def is_told(self) -> bool:
        """Whether a responder knows the draw of a mixture: some seat has several problems."""
        problems = self._responder.problems
        seats = {(id(problem.graph), problem.seat) for problem in problems}
        return len(problems) > len(seats)

    @property
    def hides(self) -> bool:
        """Whether a row joins several states; else full memory is a best response."""
        return self._responder.hides

    @property
    def value(self) -> float:
        """The bound without its margin, in units of the scale."""
        return self._responder.value + math.fsum(self.row_maxima())

    @property
    def payoff(self) -> float:
        """The bound without its margin, as a payoff."""
        return self.value * self.unit + self._payoff_offset

    def margin(self) -> float:
        """Bound the sum of all rounding errors of the bound, in units of the largest payoff.

        The bound sums the value of a responder that pays dual prices for its actions, solved by one
        backward pass a step, and for each row the most that can be paid of its prices. An
        error of each number in a turn adds up over all turns and passes (docs/exact-response.md,
        "Rounding").
        """
        responder = self._responder
        _, actions = responder.shape
        error_of_turn = priced_turn_error(responder.outcomes(), actions, responder.missing())
        # Values and prices each add an error in every turn and at the start, and so does the sum
        # over the parts: responders to the components of a mixture.
        turns = 2 * (responder.levels() + 1) + len(responder.responders) - 1
        largest = max(2.0, self._largest, responder.largest_value())
        passes = len(self.steps) + 2  # one a step, the last one, and the sum of the maxima
        return passes * turns * largest * error_of_turn

    def bound(self) -> float:
        """Bound the payoff of every responder who forgets, rounding included.

        The bound is the value of a responder with full memory, solved anew at the current dual
        prices of its actions, and for each row the most that can be paid of its prices.
        """
        self._responder.remember()
        return self._rounded_up()

    def _rounded_up(self) -> float:
        """Give the bound at the values computed last, as a payoff, rounding included."""
        payoff = (self.value + self.margin()) * self._responder.scale
        for summand in (self._payoff_error, self._payoff_offset):
            if summand:  # the sum rounds, so it goes to the next double above
                payoff = math.nextafter(payoff + summand, math.inf)
        return payoff

    def row_maxima(self) -> Floats:
        """Give the most that a responder who forgets can pay of each row's dual prices, (R,).

        It is the largest of the maxima of the row's actions: such a responder takes one of them.
        """
        return self._action_maxima.max(axis=1)

    def reached_rows(self) -> Ints:
        """List the rows that the responder comes to as it plays now: no others lose anything."""
        return np.flatnonzero(self._responder.row_reach() > NEGLIGIBLE_LOSS)

    def loss(self, row: int) -> Floats:
        """Give what full memory loses by the same action in all states of a row: float64 (K,)."""
        return self._responder.reduced_costs(row) @ self._responder.reach(row)

    def price_rise(self, step: Step) -> PriceRise:
        """Give the change of dual prices in a row that a step makes: a share of a reduced cost.

        The row is an information set of n states; the reduced cost of an action in a state is by
        how much it is worth less there than the best one. The price of each action in each state of
        the row changes by the difference of the reduced cost of the step's action and its own.
        """
        # Cuts before the row keep a responder from steering towards rises; they use up reduced
        # costs of other actions. Changes of 0 in the mean over the states as they are reached are
        # enough, so negative ones shrink and leave some for other rows. They shrink by less than
        # that (`cover`): a responder who steers towards rises meets positive changes more often.
        reduced_costs = self._responder.reduced_costs(step.row)  # (K, n), of the row's states
        reach = self._responder.reach(step.row)  # (n,)
        all_changes = step.share * (reduced_costs[step.action] - reduced_costs)
        changed_actions = np.flatnonzero((all_changes > NEGLIGIBLE_PRICE).any(axis=1))
        changes = all_changes[changed_actions]
        positive_mean = np.maximum(changes, 0.0) @ reach
        negative_mean = np.maximum(-changes, 0.0) @ reach
        shrinking = np.minimum(
            1.0, step.cover * positive_mean / np.maximum(negative_mean, NEGLIGIBLE_PRICE**2)
        )
        price_rises = np.where(changes < 0.0, shrinking[:, None] * changes, changes)
        most_first = np.argsort(-positive_mean, kind="stable")
        return PriceRise(
            actions=changed_actions[most_first],
            price_rises=price_rises[most_first],
            value_fall=step.share * reduced_costs[step.action],
            covered_share=step.weight,
            cut_share=step.lent,
        )

    def gain(self, step: Step) -> tuple[float, float]:
        """Give by how much a step would lower a responder's value, and raise its row's maximum.

        A step changes the dual prices of one row (information set). The bound on responders who
        forget is the value of one with full memory that pays these prices, plus each row's maximum:
        the most that a responder who takes one action in the whole row can pay of them. So the
        bound falls by the difference of the two. The step is valued by one pass, but not taken.
        """
        rise = self.price_rise(step)
        rise_maxima, fall = self._responder.value_rise(step.row, rise)
        self._valued = step, rise, rise_maxima  # so that `take` need not make the pass again
        maxima_before = self._action_maxima[step.row]
        maxima_after = maxima_before + self._maxima_by_action(rise, rise_maxima)
        return fall, float(maxima_after.max() - maxima_before.max())

    def take(self, step: Step | Revision) -> None:
        """Take a step of the proof: raise dual prices in its row, or revise those of its row.

        Raises `HogeqError` if prices get too large for the bound on rounding errors.
        """
        if isinstance(step, Revision):
            self._revise(step)
        else:
            self._raise_prices(step)
        self._valued = None
        self.steps.append(step)
        largest_maximum = float(np.abs(self._action_maxima[step.row]).max())
        self._largest = max(self._largest, largest_maximum, self._responder.largest_price())
        if not self._largest <= LARGEST_PRICE:
            raise HogeqError(
                f"{step}: leads to prices of {self._largest:g}; allowed: {LARGEST_PRICE:g}"
            )
        is_time_to_refresh = len(self.steps) % STEPS_PER_REFRESH == 0
        if is_time_to_refresh:  # solve the responder anew, and its reach of states
            self._responder.remember()
            self._responder.visit()

    def _raise_prices(self, step: Step) -> None:
        """Add a step's change of its row's prices to the dual prices of all rows.

        Dual prices (Lagrange multipliers) charge a player who knows more than its information set,
        the row, for acting differently at its states. An action's maximum is the most that play
        which takes it in the whole row can pay of the change; it is added to the row's maxima,
        (K,). The row's part of the prices is stored as well, for later revisions, if it has room.
        """
        row = step.row
        rise_maxima = None
        if self._valued is not None and self._valued[0] == step:
            _, rise, rise_maxima = self._valued  # a trial of this step has computed both
        else:
            rise = self.price_rise(step)
        if row not in self._stored:
            self._stored[row] = {} if self._reserve_room(row) else None
        row_prices = self._stored[row]
        maxima = self._responder.take(row, rise, row_prices, known_maxima=rise_maxima)
        self._action_maxima[row] += self._maxima_by_action(rise, maxima)

    def _reserve_room(self, row: int) -> bool:
        """Whether to store the prices of a row, to revise them; if so, take its bytes off the room.

        If the rows to be revised are known, only theirs are stored; else as many as fit.
        """
        if self._revised is not None:
            return row in self._revised
        size = self._responder.bytes_kept(row)
        if size > self._room:
            return False
        self._room -= size
        return True

    def _revise(self, step: Revision) -> None:
        """Move a row's dual prices by four changes, none of which raises the bound.

        A row is an information set, n states in which a player who forgets acts alike. A
        responder that knows the state pays dual prices for its actions; the row's part of them are
        the prices of its K actions in the n states, and cuts of the prices of actions before it. An
        action's maximum is the most that a responder who takes it in the whole row can pay of this
        part; the largest of them is a summand of the bound.

        In the row, by `rises` (K, n):

        1. Prices of an action whose maximum is not the largest rise, up to that.
        2. Prices of an action with a maximum above 0 fall, by a share of its reduced cost: its loss
           against the best action in a state.

        Before the row, where responders could steer towards its prices, by the pass of
        :meth:`PricedResponders.revise`, which returns the new maxima, (K,):

        3. An action after which less of all prices can be paid than after others loses its cut.
        4. One after which more of some price can be paid than after the best actions gets a larger
           cut, if it has a reduced cost.
        """
        row = step.row
        row_prices = self._stored.get(row)  # the row's part of the prices, by problem
        if row_prices is None:
            raise HogeqError(f"{step}: allowed where claims are kept")
        maxima = self._action_maxima[row]  # (K,)
        # Of a price of 1 in all states at most the highest reach of the row is paid.
        most_reach = self._responder.most_reach(row, row_prices)
        full_raise = (maxima.max() - maxima) / max(most_reach, NEGLIGIBLE_PRICE)  # (K,)
        raised = np.minimum(full_raise, 1.0)
        is_collected = (maxima > 0.0)[:, None]
        lowered = step.lowered * self._responder.reduced_costs(row) * is_collected  # (K, n)
        rises = raised[:, None] - lowered
        self._action_maxima[row] = self._responder.revise(
            row, row_prices, rises, cut_share=step.lent
        )

    def is_met_once(self, row: int) -> bool:
        """Whether no play meets a row twice: else it cannot have prices."""
        return self._responder.is_met_once(row)

    def can_revise(self, row: int) -> bool:
        """Whether the prices of a row are stored, so that they can be revised."""
        return self._stored.get(row) is not None

    def _maxima_by_action(self, rise: PriceRise, rise_maxima: Floats) -> Floats:
        """Give the most paid of a rise of prices by a responder that always takes one action, (K,).

        The prices are of one row (information set). `rise_maxima` are in the order of
        `rise.actions`; if there are fewer, the last bounds those of all actions left. Actions whose
        prices stay have 0.
        """
        maxima = np.zeros(self._responder.shape[1])
        if len(rise_maxima):
            indices = np.minimum(np.arange(len(rise.actions)), len(rise_maxima) - 1)
            maxima[rise.actions] = rise_maxima[indices]
        return maxima


def replay(problems: Sequence[Problem], steps: Sequence[Step | Revision]) -> LiftedBound:
    """Give the bound that the steps of a proof show, by taking them one by one."""
    revised = frozenset(step.row for step in steps if isinstance(step, Revision))
    bound = LiftedBound(problems, revised)
    with phase("proof", len(steps), "steps") as progress:
        for step in steps:
            bound.take(step)
            progress.step()
    return bound
