"""Equilibria in mixtures by a double oracle over sequence forms and belief DAGs."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Final, NamedTuple

import numpy as np

from hogeq.search.double_oracle import double_oracle_rounds
from hogeq.search.matrix_games import contains
from hogeq.search.results import Equilibrium
from hogeq.search.units import above, below
from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Floats
from hogeq.support.deadline import FOREVER, Deadline
from hogeq.trees.beliefs import BeliefDag, Mask, mixture_dag, recall_dag, spanned_dag
from hogeq.trees.best_response import CONVERGED_GAP, INTEGER_PROGRAM, Answer, best_response
from hogeq.trees.enclosures import (
    Payoffs,
    Plan,
    has_fractions,
    plan_of,
    plan_of_flow,
    round_to_short_fractions,
)
from hogeq.trees.flat import FlatTree
from hogeq.trees.responses import LARGEST_GAP
from hogeq.trees.restricted import Mixed, solve_restricted
from hogeq.trees.sequence_payoffs import payoffs_against, sequence_payoffs, stakes
from hogeq.trees.sequences import SequenceForm, inflated_forms
from hogeq.trees.shuffling import solving_form
from hogeq.trees.strategies import restrict_to_seat
from hogeq.trees.teams import side_names
from hogeq.trees.whole_dags import bounding_dag, build_dags, require_dags

LEAST_NEW: Final = CONVERGED_GAP / 8.0  # least gain of a response that is new
ENOUGH_SHARE: Final = 1 / 64  # of the gap: gain at which an absent-minded search may end
SPANNING_SHARE: Final = 0.25  # share of the time left in which the part of a DAG is built
DRAWING_SHARE: Final = 0.1  # share of all time in which strategies are drawn, even if none is left
MOST_WEIGHED: Final = 5_000  # decisions of a player against whom a part gets new weights
MOST_PROGRAM_SECONDS: Final = 60.0  # seconds of the program that finds these weights
RESPONSE_SECONDS: Final = 1.0  # of a response to the strategies with old and with new weights


class Side:
    """Strategies of one player in the restricted game: flows of its belief DAG, or of a part.

    The part is reached by a pool of pure strategies, or has some choices of a whole DAG. An
    absent-minded player has a pool of policies, one of which is drawn.
    """

    def __init__(self, form: SequenceForm, whole: BeliefDag | None = None) -> None:
        """Begin with an empty pool of strategies, or with the player's whole belief DAG."""
        self.form = form
        self.whole_dag = whole  # the whole DAG; None for a pool
        self.kept_choices: Mask | None = None  # of the whole DAG in the game; None for all
        dtype = np.float64 if form.is_absent_minded else np.bool_
        self.pool: Floats = np.zeros((0, form.tree.num_rows, form.tree.num_actions), dtype)
        # Of the restricted game.
        self.restricted_dag = mixture_dag(form, self.pool) if whole is None else whole

    def restrict(self, kept: Mask) -> None:
        """Restrict the whole belief DAG to some of its choices, (C,)."""
        assert self.whole_dag is not None  # noqa: S101 - callers have it
        self.kept_choices = kept
        self.restricted_dag, _ = self.whole_dag.restrict(kept)

    def respond(
        self,
        payoffs: Floats,
        value: float,
        limit: Deadline,
        gap: float = 0.0,
        deadline: Deadline | None = None,
    ) -> Answer:
        """Find a best response to payoffs, (S,), of sequences; `value` is that of the own mixture.

        With the whole DAG one pass does. Without it a program runs within `limit` if no ascent
        gains on the value; `deadline`, by default the same, is that of all before it. The search of
        an absent-minded player ends when a share of the gap is gained, or surely cannot be.
        """
        begin = None
        enough = value + LEAST_NEW  # payoff of a response that ends the search
        if self.form.is_absent_minded and len(self.pool):
            payoffs_of_pool = (self.restricted_dag.plan_matrix.T @ payoffs)[1:]  # 0 is the begin
            begin = self.pool[payoffs_of_pool.argmax()]
            enough = max(enough, value + ENOUGH_SHARE * gap) if np.isfinite(gap) else -np.inf
        return best_response(
            self.form, payoffs, limit, begin, enough, self.whole_dag, deadline or limit
        )

    def add(self, answer: Answer, deadline: Deadline = FOREVER) -> bool:
        """Add a response to the restricted game of a double oracle; return whether it is new there.

        Without a whole belief DAG it joins a pool of strategies, of which the part of the DAG is
        built anew that they reach. Else its choices join those that are allowed.
        """
        if self.whole_dag is None:
            if contains(self.pool, answer.strategy):
                return False
            self.pool = np.append(self.pool, answer.strategy[None].astype(self.pool.dtype), axis=0)
            # After a part that could not be built in time, larger ones are not tried: then one
            # decision draws a strategy of the pool. Its row is -1.
            is_drawing = self.restricted_dag.row_of_decision[:1] < 0
            if len(self.pool) == 1 or not is_drawing.any():
                self.restricted_dag = spanned_dag(self.form, self.pool, deadline)
            else:
                self.restricted_dag = mixture_dag(self.form, self.pool)
            return True
        if self.kept_choices is None or answer.choices is None:
            return False
        if not (answer.choices & ~self.kept_choices).any():
            return False
        self.restrict(self.kept_choices | answer.choices)
        return True


class _DrawnStrategy(NamedTuple):
    """A strategy drawn from a player's flow, and the payoffs to player 0 that both secure."""

    strategy: Strategy
    share: float  # of the flow that the strategy covers
    by_flow: Fraction
    by_strategy: Fraction
    is_certain: bool  # whether theorems prove the payoff that the strategy secures


class Solving:
    """A game while it is solved in mixtures: bounds on its value, and mixtures that prove them.

    A bound is the payoff of a best response to a mixture. Mixtures are made of probabilities at
    decisions: so it bounds the value of the game, whatever program found them. For the double
    oracle it is a :class:`hogeq.search.double_oracle.RestrictedGame`.
    """

    players = (0, 1)

    def __init__(self, tree: FlatTree, limit: float | Deadline) -> None:
        """Set up both players, with bounds that are infinite, and no mixtures yet."""
        self.deadline = Deadline.of(limit)
        self.tree = tree
        self.unit = stakes(tree)
        inflated_forms(tree, self.deadline)
        self.forms = solving_form(tree, 0), solving_form(tree, 1)
        for form in self.forms:  # some are in another order than those inflated above
            form.inflate(self.deadline.share(0.5))
        self.sides = [  # of the restricted game: whole sequence forms, or pools of who forgets
            Side(form, None if len(form.inflated.shared_rows) else recall_dag(form))
            for form in self.forms
        ]
        self.payoffs = sequence_payoffs(*self.forms)
        self.bounds = [np.inf, np.inf]  # most that each player gets from the other's best mixture
        self.responses: list[Answer | None] = [None, None]  # that have these bounds
        self.gap = np.inf  # between the bounds at the begin of the last round
        self.best: list[Mixed] = []  # the mixture of each player with the best bound
        self.iterations = 0
        self.has_begun = False  # whether the mixtures of full memory were responded to
        self.is_absent_minded = any(form.is_absent_minded for form in self.forms)

    @property
    def is_forgetful(self) -> bool:
        """Whether a player forgets more than inflation gives back."""
        return any(len(form.inflated.shared_rows) for form in self.forms)

    @property
    def ends(self) -> tuple[float, float]:
        """Bounds on the value; by rounding they may cross."""
        lower, upper = sorted((-self.bounds[1], self.bounds[0]))
        return lower, upper

    @property
    def is_proved(self) -> bool:
        """Whether the bounds meet."""
        return self.ends[1] - self.ends[0] <= CONVERGED_GAP

    def record_bound(
        self, mixed: Sequence[Mixed], player: int, bound: float, response: Answer | None = None
    ) -> None:
        """Record a bound on a player's payoff against the other's mixture, if it is the lowest."""
        self.best = self.best or [*mixed]
        if bound < self.bounds[player]:
            self.bounds[player] = bound
            self.best[1 - player] = mixed[1 - player]
            self.responses[player] = response

    def run_double_oracle(self, deadline: Deadline) -> None:
        """Grow the restricted game by the double oracle, until no response gains.

        Each pool begins with a response to the uniform strategy. If a player forgets, the first
        mixtures are policies by full memory, averaged over what it forgets: in some games these
        are nearly an equilibrium, as in imperfect-recall liar's dice.
        """
        if self.best and not deadline.allows(self.tree.num_nodes):
            return
        for player, side in enumerate(self.sides):
            if len(side.pool):
                continue
            plan = self.forms[1 - player].realisation(self.tree.uniform())
            answer = side.respond(payoffs_against(self.payoffs, plan, player), -np.inf, deadline)
            side.add(answer, deadline.share(SPANNING_SHARE))
        first = None
        if not self.has_begun and any(side.whole_dag is None for side in self.sides):
            dags = [recall_dag(form) for form in self.forms]
            mixed = solve_restricted(self.payoffs, dags, deadline.share(0.25))
            if mixed is not None:
                self.has_begun = True
                first = [own.as_policy() for own in mixed]
        for _ in double_oracle_rounds(self, deadline, first):
            self.iterations += 1

    def equilibrium(self, deadline: Deadline) -> Sequence[Mixed] | None:
        """Solve the restricted game of a double oracle; None if it fails, or if the bounds meet.

        If there are no mixtures so far, one round is made even without time, with uniform ones;
        another one only if its result can be valued in time.
        """
        if self.best and (self.is_proved or not deadline.allows(self.tree.num_nodes)):
            return None
        dags = [side.restricted_dag for side in self.sides]
        mixed = solve_restricted(self.payoffs, dags, deadline)
        if mixed is None and not self.best:
            return [Mixed.of(dag, np.zeros(dag.num_choices)) for dag in dags]
        return mixed

    def respond(self, player: int, mixtures: Sequence[Mixed], deadline: Deadline) -> bool:
        """Add a player's best response if it gains, and record the bound that it proves.

        Returns whether it is new, or whether another search may now find one.
        """
        if player == 0:
            self.gap = sum(self.bounds)
        limit = deadline.share(1.0 / (2 - player))  # player 1 follows, in the time left
        payoffs = payoffs_against(self.payoffs, mixtures[1 - player].plan, player)
        value = float(mixtures[player].plan @ payoffs)
        answer = self.sides[player].respond(payoffs, value, limit, self.gap)
        self.record_bound(mixtures, player, answer.bound, answer)
        limit = deadline.share(SPANNING_SHARE)
        if answer.payoff - value > LEAST_NEW and self.sides[player].add(answer, limit):
            return True
        # A search that ended at a share of the gap can go on if the gap is much smaller.
        return self.is_absent_minded and sum(self.bounds) < self.gap / 2.0

    def result(self, method: str) -> Equilibrium:
        """Make the result from the best mixture of each player.

        1. Draw strategies from both flows, the smaller one first, for the time left and for a tenth
           of all time at least. Of a large mixture it may be a part, which is then weighed anew.
        2. Bound the payoffs that whole flows and strategies secure, rounded outward.
        3. If these bounds are not one number, try probabilities with small denominators.
        """
        tree = self.tree
        drawing_seconds = max(self.deadline.left, DRAWING_SHARE * self.deadline.seconds)
        limit = Deadline(drawing_seconds, self.deadline.clock)
        drawn = self._draw_strategies(limit.share(0.5))
        parts = [self._bound_drawn(player, *drawn[player], limit) for player in (0, 1)]
        shares = [part.share for part in parts]
        is_one_number = tree.units.are_one(*_outward([part.by_strategy for part in parts]))
        if min(shares) == 1.0 and not is_one_number and has_fractions(tree):
            parts = [
                self._with_short_fractions(player, part, limit) for player, part in enumerate(parts)
            ]
        by_strategy = [part.by_strategy for part in parts]
        by_flow = [part.by_flow for part in parts]
        are_certain = all(part.is_certain for part in parts)
        if are_certain:  # a part with new weights may secure more than the whole flow
            by_flow = [max(by_flow[0], by_strategy[0]), min(by_flow[1], by_strategy[1])]
        gap = by_strategy[1] - by_strategy[0]  # below 0 if the bound of a search is false
        is_proved = are_certain and 0 <= gap <= LARGEST_GAP * Fraction(self.unit)
        lower, upper = _outward(by_flow)
        secured = _outward(by_strategy)
        first, second = (part.strategy for part in parts)
        return Equilibrium(
            lower=lower,
            upper=upper,
            strategies=(restrict_to_seat(tree, first, 0), restrict_to_seat(tree, second, 1)),
            is_proved=is_proved and tree.units.are_one(*secured),
            method=method,
            effort={
                "iterations": self.iterations,
                "components": [len(part.strategy.weights) for part in parts],
                "decisions": [mixed.dag.num_decisions for mixed in self.best],
                **({"shares": shares} if min(shares) < 1.0 else {}),
            },
            seconds=self.deadline.spent,
            units=tree.units,
            sides=side_names(tree.sides),
            secured=secured if min(shares) < 1.0 else None,
            seats=tree.seat,
        )

    def _draw_strategies(self, limit: Deadline) -> dict[int, tuple[Strategy, float]]:
        """Draw strategies from the best flow of each player, the smaller flow first.

        Returns by player a mixture of strategies, and the share of the flow that it covers.
        """
        smaller_first = sorted((0, 1), key=lambda player: self.best[player].dag.num_decisions)
        return {player: self.best[player].strategies(limit) for player in smaller_first}

    def _bound_drawn(
        self, player: int, strategy: Strategy, share: float, limit: Deadline
    ) -> _DrawnStrategy:
        """Bound the payoffs to player 0 that a player's flow and the strategy drawn from it secure.

        `share` is the share of the flow that the strategy covers: below 1 it gets new weights.
        """
        best = self.best[player]
        response = self.responses[1 - player]
        by_flow = None
        if share < 1.0:
            flow_plan = plan_of_flow(best.dag, best.flow, limit)
            by_flow, _ = self._secured(player, flow_plan, response, limit)
            strategy, response = self._reweigh(player, strategy, limit)
        plan = plan_of(self.forms[player], strategy, limit)
        by_strategy, is_certain = self._secured(player, plan, response, limit)
        if by_flow is None:
            by_flow = by_strategy
        return _DrawnStrategy(strategy, share, by_flow, by_strategy, is_certain)

    def _with_short_fractions(
        self, player: int, part: _DrawnStrategy, deadline: Deadline
    ) -> _DrawnStrategy:
        """Round a player's strategy to short fractions if it then surely secures more than before.

        The strategy covers the whole flow.
        """
        short = round_to_short_fractions(part.strategy)
        plan = plan_of(self.forms[player], short)
        payoff, is_certain = self._secured(player, plan, self.responses[1 - player], deadline)
        is_better = payoff > part.by_strategy if player == 0 else payoff < part.by_strategy
        if not (is_certain and is_better):
            return part
        return part._replace(strategy=short, by_flow=payoff, by_strategy=payoff)

    def _secured(
        self, player: int, plan: Plan, response: Answer | None, deadline: Deadline
    ) -> tuple[Fraction, bool]:
        """Bound the payoff to player 0 that a plan secures; say whether a theorem proves the bound.

        A plan has the realisation weights of a player's sequences. The bound is an upper one on
        what the other player gets against it, the least of these:

        - its best response with perfect recall;
        - if it forgets, its best response in its whole belief DAG, if that is small enough;
        - else what a search proved of its `response` to nearly the same plan, plus the difference
          that the two plans can make (`moved_bound`).

        The last is no theorem if the search is an integer program, whose arithmetic rounds; it is
        certain all the same where perfect recall shows as much.
        """
        other = self.sides[1 - player]
        payoffs = Payoffs(self.tree, 1 - player, plan, deadline)
        is_certain = True
        most_of_other = payoffs.best_response_bound(recall_dag(other.form))
        forgets = len(other.form.inflated.shared_rows) > 0  # rows that join several pasts
        if forgets:
            dag = other.whole_dag
            is_by_program = response is not None and response.method == INTEGER_PROGRAM
            if dag is None and is_by_program:
                dag = bounding_dag(other.form, deadline)
            if dag is not None:
                most_of_other = min(most_of_other, payoffs.best_response_bound(dag))
            elif response is not None:
                search_most = payoffs.moved_bound(response.payoffs, self.unit, response.bound)
                is_certain = not is_by_program or search_most >= most_of_other
                most_of_other = min(most_of_other, search_most)
        secured = most_of_other if player == 1 else payoffs.payoff_sum - most_of_other
        return secured, is_certain

    def _reweigh(self, player: int, drawn: Strategy, deadline: Deadline) -> tuple[Strategy, Answer]:
        """Give new weights to a part of a mixture, if it secures more with them.

        `drawn` has some strategies of the player's mixture. A linear program finds the weights
        against all that the other player's belief DAG has, unless this is too large for one.
        Returns the strategy, and the other player's response to it.
        """
        other = self.sides[1 - player]
        dag = mixture_dag(self.forms[player], drawn.policies)
        candidates = [drawn.chances]
        if other.restricted_dag.num_decisions <= MOST_WEIGHED:
            dags = [dag, other.restricted_dag] if player == 0 else [other.restricted_dag, dag]
            mixed = solve_restricted(self.payoffs, dags, deadline.within(MOST_PROGRAM_SECONDS))
            if mixed is not None:
                candidates.append(mixed[player].flow[1:])  # all but the root's, which is 1
        responses = []
        for weights in candidates:
            plan = dag.plan_matrix @ np.append(1.0, weights)
            payoffs = payoffs_against(self.payoffs, plan, 1 - player)
            responses.append(other.respond(payoffs, np.inf, deadline.within(RESPONSE_SECONDS)))
        best = int(np.argmin([response.bound for response in responses]))
        weights = candidates[best]
        is_used = weights > 0.0
        strategy = Strategy.unchecked_mixture(drawn.policies[is_used], weights[is_used])
        return strategy, responses[best]


def _outward(payoffs: Sequence[Fraction]) -> tuple[float, float]:
    """Sort two payoffs, and round them outward."""
    return below(min(payoffs)), above(max(payoffs))


def solve_by_columns(
    tree: FlatTree, limit: float | Deadline, method: str = "columns"
) -> Equilibrium:
    """Solve a game in mixtures, with proved bounds; without time they are those reached so far.

    Flows of the belief DAG are all mixtures of a player (:mod:`hogeq.trees.beliefs`); with perfect
    recall, also after inflation, they are the sequence form (Koller, Megiddo and von Stengel 1996).
    One linear program over both is ``dag``. For ``columns``, a player who forgets has the part of
    it that a pool of pure strategies reaches, which grows by best responses (McMahan, Gordon and
    Blum, "Planning in the presence of cost functions controlled by an adversary", ICML 2003; of
    teams, Celli and Gatti 2018; of DAGs, Zhang, An and Zeng 2024). Absent-minded players respond by
    policies, which are not finite in number: bounds meet in the limit (Adam, Horčík, Kasl and
    Kroupa, "Double oracle algorithm for computing equilibria in continuous games", AAAI 2021).
    """
    solving = Solving(tree, limit)
    if method == "dag":
        dags = require_dags(tree, build_dags(tree, deadline=solving.deadline))
        if dags:
            solving.sides = [*map(Side, solving.forms, dags)]
        else:  # there was no time to build them
            method = "columns"
    solving.run_double_oracle(solving.deadline)
    return solving.result(method if solving.is_forgetful else "lp")
