"""Equilibria in mixtures by a double oracle over sequence forms and belief DAGs."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

import numpy as np

from hogeq.search.double_oracle import double_oracle_rounds
from hogeq.search.matrix_games import contains
from hogeq.search.results import Equilibrium
from hogeq.search.units import above, below
from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Floats
from hogeq.support.deadline import FOREVER, Deadline
from hogeq.trees.beliefs import BeliefDag, Choices, drawing, remembering, spanned
from hogeq.trees.best_response import CONVERGED_GAP, INTEGER_PROGRAM, Answer, best_response
from hogeq.trees.enclosures import Payoffs, Plan, fits, plan_of, plan_of_flow, shortened
from hogeq.trees.flat import FlatTree
from hogeq.trees.responses import LARGEST_GAP
from hogeq.trees.restricted import Mixed, solve_restricted
from hogeq.trees.sequence_payoffs import against, sequence_payoffs, stakes
from hogeq.trees.sequences import SequenceForm, inflated_forms
from hogeq.trees.shuffling import solving_form
from hogeq.trees.strategies import seated
from hogeq.trees.teams import side_names
from hogeq.trees.whole_dags import bounding_dag, dags_of, require_dags

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
        self.kept_choices: Choices | None = None  # of the whole DAG in the game; None for all
        dtype = np.float64 if form.is_absent_minded else np.bool_
        self.pool: Floats = np.zeros((0, form.tree.num_rows, form.tree.num_actions), dtype)
        # Of the restricted game.
        self.restricted_dag = drawing(form, self.pool) if whole is None else whole

    def restrict(self, kept: Choices) -> None:
        """Restrict the whole belief DAG to some of its choices, (C,)."""
        assert self.whole_dag is not None  # noqa: S101 - callers have it
        self.kept_choices, self.restricted_dag = kept, self.whole_dag.restricted(kept)[0]

    def best(
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
        begin, enough = None, value + LEAST_NEW
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
                self.restricted_dag = spanned(self.form, self.pool, deadline)
            else:
                self.restricted_dag = drawing(self.form, self.pool)
            return True
        if self.kept_choices is None or answer.choices is None:
            return False
        if not (answer.choices & ~self.kept_choices).any():
            return False
        self.restrict(self.kept_choices | answer.choices)
        return True


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
            Side(form, None if len(form.inflated.shared_rows) else remembering(form))
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

    def learn(
        self, mixed: Sequence[Mixed], player: int, bound: float, response: Answer | None = None
    ) -> None:
        """Record a bound on a player's payoff against the other's mixture, if it is the lowest."""
        self.best = self.best or [*mixed]
        if bound < self.bounds[player]:
            self.bounds[player] = bound
            self.best[1 - player] = mixed[1 - player]
            self.responses[player] = response

    def columns(self, deadline: Deadline) -> None:
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
            answer = side.best(against(self.payoffs, plan, player), -np.inf, deadline)
            side.add(answer, deadline.share(SPANNING_SHARE))
        first = None
        if not self.has_begun and any(side.whole_dag is None for side in self.sides):
            dags = [remembering(form) for form in self.forms]
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
        payoffs = against(self.payoffs, mixtures[1 - player].plan, player)
        value = float(mixtures[player].plan @ payoffs)
        answer = self.sides[player].best(payoffs, value, limit, self.gap)
        self.learn(mixtures, player, answer.bound, answer)
        limit = deadline.share(SPANNING_SHARE)
        if answer.payoff - value > LEAST_NEW and self.sides[player].add(answer, limit):
            return True
        # A search that ended at a share of the gap can go on if the gap is much smaller.
        return self.is_absent_minded and sum(self.bounds) < self.gap / 2.0

    def result(self, method: str) -> Equilibrium:
        """Make the result from the best mixture of each player.

        1. Draw strategies from both flows, the smaller one first, for the time left and for a tenth
           of all time at least. Of a large mixture it may be a part, which is then weighed anew.
        2. Bound what whole flows and strategies secure, rounded outward.
        3. If these bounds are not one number, try probabilities with small denominators.
        """
        deadline = self.deadline
        tree, best = self.tree, self.best
        drawing_seconds = max(deadline.left, DRAWING_SHARE * deadline.seconds)
        drawing_limit = Deadline(drawing_seconds, deadline.clock)
        smaller_first = sorted((0, 1), key=lambda player: best[player].dag.num_decisions)
        half = drawing_limit.share(0.5)
        drawn_by_player = {player: best[player].strategies(half) for player in smaller_first}
        strategies = [drawn_by_player[player][0] for player in (0, 1)]
        shares = [drawn_by_player[player][1] for player in (0, 1)]  # of the flows
        # Payoffs to player 0 that each player's flow and strategies secure.
        by_flow, by_drawn = [Fraction(), Fraction()], [Fraction(), Fraction()]
        are_certain = True  # whether theorems prove them
        for player, share in enumerate(shares):
            response = self.responses[1 - player]
            if share < 1.0:  # the strategies are a part of the mixture
                plan = plan_of_flow(best[player].dag, best[player].flow, drawing_limit)
                by_flow[player], _ = self._secured(player, plan, response, drawing_limit)
                drawn = strategies[player]
                strategies[player], response = self._weighed(player, drawn, drawing_limit)
            plan = plan_of(self.forms[player], strategies[player], drawing_limit)
            by_drawn[player], is_certain = self._secured(player, plan, response, drawing_limit)
            by_flow[player] = by_drawn[player] if share == 1.0 else by_flow[player]
            are_certain &= is_certain
        if min(shares) == 1.0 and not tree.units.are_one(*_outward(by_drawn)) and fits(tree):
            for player, drawn in enumerate(strategies):
                strategies[player], by_drawn[player] = self._with_short_fractions(
                    player, drawn, by_drawn[player], drawing_limit
                )
            by_flow = [*by_drawn]
        if are_certain:  # a part with new weights may secure more than the whole flow
            by_flow = [max(by_flow[0], by_drawn[0]), min(by_flow[1], by_drawn[1])]
        are_certain &= by_drawn[0] <= by_drawn[1]  # if they cross, the bound of a search is false
        lower, upper = _outward(by_flow)
        secured = _outward(by_drawn)
        is_proved = are_certain and by_drawn[1] - by_drawn[0] <= LARGEST_GAP * Fraction(self.unit)
        return Equilibrium(
            lower=lower,
            upper=upper,
            strategies=(seated(tree, strategies[0], 0), seated(tree, strategies[1], 1)),
            is_proved=is_proved and tree.units.are_one(*secured),
            method=method,
            effort={
                "iterations": self.iterations,
                "components": [len(strategy.weights) for strategy in strategies],
                "decisions": [mixed.dag.num_decisions for mixed in best],
                **({"shares": shares} if min(shares) < 1.0 else {}),
            },
            seconds=self.deadline.spent,
            units=tree.units,
            sides=side_names(tree.sides),
            secured=secured if min(shares) < 1.0 else None,
            seats=tree.seat,
        )

    def _with_short_fractions(
        self, player: int, strategy: Strategy, secured: Fraction, deadline: Deadline
    ) -> tuple[Strategy, Fraction]:
        """Round a strategy to short fractions if it then surely secures more than before.

        Returns the strategy and the payoff to player 0 that it secures, at first `secured`.
        """
        short = shortened(strategy)
        plan = plan_of(self.forms[player], short)
        response = self.responses[1 - player]
        payoff, is_certain = self._secured(player, plan, response, deadline)
        is_better = payoff > secured if player == 0 else payoff < secured
        return (short, payoff) if is_certain and is_better else (strategy, secured)

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
        most_of_other = payoffs.best_response_bound(remembering(other.form))
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

    def _weighed(self, player: int, drawn: Strategy, deadline: Deadline) -> tuple[Strategy, Answer]:
        """Give new weights to a part of a mixture, if it secures more with them.

        `drawn` has some strategies of the player's mixture. A linear program finds the weights
        against all that the other player's belief DAG has, unless this is too large for one.
        Returns the strategy, and the other player's response to it.
        """
        other = self.sides[1 - player]
        dag = drawing(self.forms[player], drawn.policies)
        candidates = [drawn.chances]
        if other.restricted_dag.num_decisions <= MOST_WEIGHED:
            dags = [dag, other.restricted_dag] if player == 0 else [other.restricted_dag, dag]
            mixed = solve_restricted(self.payoffs, dags, deadline.within(MOST_PROGRAM_SECONDS))
            if mixed is not None:
                candidates.append(mixed[player].flow[1:])  # all but the root's, which is 1
        responses = []
        for weights in candidates:
            payoffs = against(self.payoffs, dag.plan_matrix @ np.append(1.0, weights), 1 - player)
            responses.append(other.best(payoffs, np.inf, deadline.within(RESPONSE_SECONDS)))
        best = int(np.argmin([response.bound for response in responses]))
        weights = candidates[best]
        is_used = weights > 0.0
        return Strategy.unchecked_mixture(drawn.policies[is_used], weights[is_used]), responses[
            best
        ]


def _outward(payoffs: Sequence[Fraction]) -> tuple[float, float]:
    """Sort two payoffs, and round them outward."""
    return below(min(payoffs)), above(max(payoffs))


def by_columns(tree: FlatTree, limit: float | Deadline, method: str = "columns") -> Equilibrium:
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
        dags = require_dags(tree, dags_of(tree, deadline=solving.deadline))
        if dags:
            solving.sides = [*map(Side, solving.forms, dags)]
        else:  # there was no time to build them
            method = "columns"
    solving.columns(solving.deadline)
    return solving.result(method if solving.is_forgetful else "lp")
