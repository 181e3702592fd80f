"""Equilibria in mixtures by a double oracle over sequence forms and belief DAGs."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Final, NamedTuple

import numpy as np

from hogeq.search.results import Equilibrium
from hogeq.search.units import above, below
from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Floats
from hogeq.support.deadline import FOREVER, Deadline
from hogeq.trees.beliefs import (
    BeliefDag,
    Choices,
    drawing,
    remembering,
    spanned,
)
from hogeq.trees.best_response import CONVERGED_GAP, INTEGER_PROGRAM, Answer, best_response
from hogeq.trees.enclosures import (
    Payoffs,
    Plan,
    fits,
    plan_of,
    plan_of_flow,
    shortened,
)
from hogeq.trees.flat import FlatTree
from hogeq.trees.responses import LARGEST_GAP
from hogeq.trees.restricted import Mixed, played, solve_restricted
from hogeq.trees.sequence_payoffs import against, sequence_payoffs, stakes
from hogeq.trees.sequences import SequenceForm, inflated_forms
from hogeq.trees.shuffling import solving_form
from hogeq.trees.strategies import seated
from hogeq.trees.teams import side_names
from hogeq.trees.whole_dags import bounding_dag, dags_of, require_dags

LEAST_NEW: Final = CONVERGED_GAP / 8.0  # by which a response must gain to be new
SHARE: Final = 1 / 64  # of the gap; an absent-minded response must gain it, or prove none does
MOST_WEIGHED: Final = 5_000  # decisions of a player against whom a part of them is weighed anew
LONGEST: Final = 60.0  # seconds of that
SPANNING: Final = 0.25  # share of the time left in which the part of a DAG is built
DRAWN: Final = 0.1  # share of the time in which strategies are drawn, though it is over
RESPONDING: Final = 1.0  # seconds of a response to these


class Side:
    """Strategies of one player in the restricted game: flows of its belief DAG, or of a part.

    The part is what a pool of pure strategies comes to, or some choices of a whole DAG. Of an
    absent-minded player the pool has policies, one of which is drawn.
    """

    def __init__(self, form: SequenceForm, whole: BeliefDag | None = None) -> None:
        self.form, self.whole = form, whole
        self.kept: Choices | None = None
        dtype = np.float64 if form.is_absent_minded else np.bool_
        self.pool: Floats = np.zeros((0, form.tree.num_rows, form.tree.num_actions), dtype)
        self.dag = drawing(form, self.pool) if whole is None else whole

    def restrict(self, kept: Choices) -> None:
        """Keep some choices of the whole DAG."""
        assert self.whole is not None  # noqa: S101 - callers have it
        self.kept, self.dag = kept, self.whole.restricted(kept)[0]

    def best(
        self,
        payoffs: Floats,
        value: float,
        limit: Deadline,
        gap: float = 0.0,
        deadline: Deadline | None = None,
    ) -> Answer:
        """Respond: exactly by the whole DAG; else a program runs if no ascent gains on a value.

        That of an absent-minded player ends when a share of the gap is gained, or cannot be.
        `deadline` is that of all before the program, by default the same.
        """
        begin, enough = None, value + LEAST_NEW
        if self.form.is_absent_minded and len(self.pool):
            begin = self.pool[(self.dag.sequences.T @ payoffs)[1:].argmax()]  # the best of it
            enough = max(enough, value + SHARE * gap) if np.isfinite(gap) else -np.inf
        return best_response(
            self.form, payoffs, limit, begin, enough, self.whole, deadline or limit
        )

    def takes(self, answer: Answer, deadline: Deadline = FOREVER) -> bool:
        """Take a response into the restricted game, if it is new there."""
        if self.whole is None:
            if (self.pool == answer.strategy).all(axis=(1, 2)).any():
                return False
            self.pool = np.append(self.pool, answer.strategy[None].astype(self.pool.dtype), axis=0)
            # One part that is not done in time is the last to be begun: those after it are larger.
            was_drawing = self.dag.row[:1] < 0  # from the pool, in place of a part of a DAG
            if len(self.pool) == 1 or not was_drawing.any():
                self.dag = spanned(self.form, self.pool, deadline)
            else:
                self.dag = drawing(self.form, self.pool)
            return True
        if self.kept is None or answer.choices is None or not (answer.choices & ~self.kept).any():
            return False
        self.restrict(self.kept | answer.choices)
        return True


class Met(NamedTuple):
    """Payoffs of sequences that a search responded to, and its bound."""

    payoffs: Floats  # shares of the stakes
    bound: float
    method: str


class Solving:
    """A game while it is solved in mixtures: bounds on its value, and mixtures that prove them.

    Bounds are what best responses win from mixtures. These are made of probabilities at decisions,
    so whatever program those came from, a bound is one on the value of the game.
    """

    def __init__(self, tree: FlatTree, limit: float | Deadline) -> None:
        self.deadline = Deadline.of(limit)
        self.tree, self.unit = tree, stakes(tree)
        inflated_forms(tree, self.deadline)
        self.forms = solving_form(tree, 0), solving_form(tree, 1)
        for form in self.forms:  # those in another order, too
            form.inflate(self.deadline.share(0.5))
        self.payoffs = sequence_payoffs(*self.forms)
        self.bounds = [np.inf, np.inf]  # most that each player gets from the other's best mixture
        self.met: list[Met | None] = [None, None]  # the search that each bound is of
        self.best: list[Mixed] = []  # the mixture of each player with the best bound
        self.iterations, self.has_begun = 0, False
        self.is_absent_minded = any(form.is_absent_minded for form in self.forms)

    @property
    def is_forgetful(self) -> bool:
        """Whether a player forgets more than inflation gives back."""
        return any(len(form.inflated.shared) for form in self.forms)

    @property
    def ends(self) -> tuple[float, float]:
        """Bounds on the value; by rounding they may cross."""
        lower, upper = sorted((-self.bounds[1], self.bounds[0]))
        return lower, upper

    @property
    def is_proved(self) -> bool:
        """Whether the bounds meet."""
        return self.ends[1] - self.ends[0] <= CONVERGED_GAP

    def without_dags(self) -> list[Side]:
        """Begin with nothing of players who forget, and all of others."""
        return [
            Side(form, None if len(form.inflated.shared) else remembering(form))
            for form in self.forms
        ]

    def learn(
        self, mixed: Sequence[Mixed], player: int, bound: float, met: "Met | None" = None
    ) -> None:
        """Take a bound on what a player wins from the other's mixture."""
        self.best = self.best or [*mixed]
        if bound < self.bounds[player]:
            self.bounds[player], self.best[1 - player] = bound, mixed[1 - player]
            self.met[player] = met

    def columns(self, sides: Sequence[Side], deadline: Deadline) -> None:
        """Grow a restricted game by best responses until none gains.

        Without time one round is left: what is played at random, or drawn from the pools. No other
        is begun unless there is time to value what it gives.
        """
        valuing = self.tree.num_nodes
        if self.best and not deadline.allows(valuing):
            return
        for player, side in enumerate(sides):  # pools begin with responses to the uniform strategy
            if len(side.pool):
                continue
            plan = self.forms[1 - player].realisation(self.tree.uniform())
            answer = side.best(against(self.payoffs, plan, player), -np.inf, deadline)
            side.takes(answer, deadline.share(SPANNING))
        mixed = None
        if not self.has_begun and any(side.whole is None for side in sides):
            mixed = self._remembered(deadline.share(0.25))
            self.has_begun = mixed is not None
        is_growing = True
        while is_growing:
            is_growing = mixed is not None  # which are no equilibrium of the restricted game
            mixed = mixed or self._restricted_equilibrium(sides, deadline)
            if not mixed:
                break
            self.iterations += 1
            gap = sum(self.bounds) if self.is_absent_minded else 0.0
            for player, side in enumerate(sides):
                response_limit = deadline.share(1.0 / (2 - player))
                payoffs = against(self.payoffs, mixed[1 - player].plan, player)
                value = float(mixed[player].plan @ payoffs)
                answer = side.best(payoffs, value, response_limit, gap)
                self.learn(mixed, player, answer.bound, Met(payoffs, answer.bound, answer.method))
                growth_limit = deadline.share(SPANNING)
                is_growing |= answer.payoff - value > LEAST_NEW and side.takes(answer, growth_limit)
            # A smaller share of a smaller gap can be sought.
            is_growing |= self.is_absent_minded and sum(self.bounds) < gap / 2.0
            is_growing &= not self.is_proved and deadline.allows(valuing)
            mixed = None

    def _restricted_equilibrium(self, sides: Sequence[Side], deadline: Deadline) -> list[Mixed]:
        """Solve the restricted game; without time nothing, or at first uniform mixtures."""
        dags = [side.dag for side in sides]
        flows = solve_restricted(self.payoffs, dags, deadline)
        if flows is None and self.best:
            return []
        weights = flows or [np.zeros(len(dag.allowed)) for dag in dags]
        return [Mixed.of(dag, one) for dag, one in zip(dags, weights, strict=True)]

    def _remembered(self, deadline: Deadline) -> list[Mixed] | None:
        """Give the strategies of both if they forgot nothing, as far as rows can say them.

        In some games they are all but an equilibrium, as in imperfect-recall liar's dice.
        """
        dags = [remembering(form) for form in self.forms]
        flows = solve_restricted(self.payoffs, dags, deadline)
        if flows is None:
            return None
        mixed = []
        for dag, flow in zip(dags, flows, strict=True):
            policy = played(dag.form, Mixed.of(dag, flow).plan)
            mixed.append(Mixed.of(drawing(dag.form, policy[None]), np.ones(2)))  # it alone
        return mixed

    def result(self, sides: Sequence[Side], method: str) -> Equilibrium:
        """Make the result of the mixtures of both players.

        The ends are of whole flows. Where strategies are fewer, best responses are to these again.
        Large mixtures are drawn from until the time is over, the smaller one first, and for a tenth
        of it in any case.
        """
        time, tree, best = self.deadline, self.tree, self.best
        drawing_time = Deadline(max(time.left, DRAWN * time.seconds), time.clock)
        smaller_first = sorted((0, 1), key=lambda player: len(best[player].dag.row))
        half = drawing_time.share(0.5)
        drawn_by_player = {player: best[player].strategies(half) for player in smaller_first}
        strategies = [drawn_by_player[player][0] for player in (0, 1)]
        shares = [drawn_by_player[player][1] for player in (0, 1)]  # of the flows
        # What flows and strategies secure, as payoffs to player 0; and whether by theorems.
        whole, given, certain = [Fraction(), Fraction()], [Fraction(), Fraction()], True
        for player, share in enumerate(shares):
            met, other = self.met[1 - player], sides[1 - player]
            if share < 1.0:
                plan = plan_of_flow(best[player].dag, best[player].flow, drawing_time)
                whole[player], _ = self._secured(player, plan, other, met, drawing_time)
                drawn = strategies[player]
                strategies[player], met = self._weighed(sides, player, drawn, drawing_time)
            plan = plan_of(self.forms[player], strategies[player], drawing_time)
            given[player], is_certain = self._secured(player, plan, other, met, drawing_time)
            whole[player] = given[player] if share == 1.0 else whole[player]
            certain &= is_certain
        if min(shares) == 1.0 and not self._are_one(given) and fits(tree):
            for player, drawn in enumerate(strategies):
                short = shortened(drawn)
                plan, met = plan_of(self.forms[player], short), self.met[1 - player]
                other = sides[1 - player]
                secured, is_certain = self._secured(player, plan, other, met, drawing_time)
                is_better = secured > given[0] if player == 0 else secured < given[1]
                if is_certain and is_better:
                    given[player] = whole[player] = secured
                    strategies[player] = short
        if certain:  # strategies that are fewer may secure more than the flows
            whole = [max(whole[0], given[0]), min(whole[1], given[1])]
        certain &= given[0] <= given[1]  # else a bound of a search is false
        (first, last), (least_given, most_given) = sorted(whole), sorted(given)
        lower, upper = below(first), above(last)
        least, most = below(least_given), above(most_given)
        is_proved = certain and given[1] - given[0] <= LARGEST_GAP * Fraction(self.unit)
        return Equilibrium(
            lower=lower,
            upper=upper,
            strategies=(seated(tree, strategies[0], 0), seated(tree, strategies[1], 1)),
            is_proved=is_proved and tree.units.are_one(least, most),
            method=method,
            effort={
                "iterations": self.iterations,
                "components": [len(one.weights) for one in strategies],
                "decisions": [len(one.dag.row) for one in best],
                **({"shares": shares} if min(shares) < 1.0 else {}),
            },
            seconds=self.deadline.spent,
            units=tree.units,
            sides=side_names(tree.sides),
            secured=(least, most) if min(shares) < 1.0 else None,
            seats=tree.seat,
        )

    def _are_one(self, given: Sequence[Fraction]) -> bool:
        """Whether ends are written alike."""
        least, most = sorted(given)
        return self.tree.units.are_one(below(least), above(most))

    def _secured(
        self, player: int, plan: Plan, other: Side, met: "Met | None", deadline: Deadline
    ) -> tuple[Fraction, bool]:
        """Payoff to player 0 that a plan secures to its player, and whether by a theorem.

        The other player gets no more than with perfect recall, or by the whole belief DAG, or than
        a search allows that met nearly the same plan.
        """
        payoffs, certain = Payoffs(self.tree, 1 - player, plan, deadline), True
        most = payoffs.most(remembering(other.form))
        if len(other.form.inflated.shared):
            whole = other.whole
            if whole is None and met is not None and met.method == INTEGER_PROGRAM:
                whole = bounding_dag(other.form, deadline)
            if whole is not None:
                most = min(most, payoffs.most(whole))
            elif met is not None:
                moved = payoffs.moved(met.payoffs, self.unit, met.bound)
                certain = met.method != INTEGER_PROGRAM or moved >= most
                most = min(most, moved)
        return (most if player else payoffs.total - most), certain

    def _weighed(
        self, sides: Sequence[Side], player: int, drawn: Strategy, deadline: Deadline
    ) -> tuple[Strategy, "Met"]:
        """Weigh a part of a mixture anew where that secures more; give what the other can get.

        A linear program finds the weights, unless the other player's DAG is too large for one.
        """
        other, dag = sides[1 - player], drawing(self.forms[player], drawn.policies)
        weights = [drawn.chances]
        if len(other.dag.row) <= MOST_WEIGHED:
            dags = [dag, other.dag] if player == 0 else [other.dag, dag]
            flows = solve_restricted(self.payoffs, dags, deadline.within(LONGEST))
            if flows is not None:
                weights.append(Mixed.of(dag, flows[player]).flow[1:])
        tried: list[Met] = []
        for chances in weights:
            payoffs = against(self.payoffs, dag.sequences @ np.append(1.0, chances), 1 - player)
            answer = other.best(payoffs, np.inf, deadline.within(RESPONDING))
            tried.append(Met(payoffs, answer.bound, answer.method))
        best = int(np.argmin([met.bound for met in tried]))
        used = weights[best] > 0.0
        return Strategy.unchecked(drawn.policies[used], weights[best][used]), tried[best]


def by_columns(tree: FlatTree, limit: float | Deadline, method: str = "columns") -> Equilibrium:
    """Solve a game in mixtures; when the time is over, the bounds reached so far are given.

    Flows of the belief DAG are all mixtures of a player (:mod:`hogeq.trees.beliefs`); with perfect
    recall, also after inflation, they are the sequence form (Koller, Megiddo and von Stengel 1996).
    One linear program over both is ``dag``. For ``columns``, a player who forgets has the part of
    it that a pool of pure strategies comes to, which grows by best responses (McMahan, Gordon and
    Blum, "Planning in the presence of cost functions controlled by an adversary", ICML 2003; of
    teams, Celli and Gatti 2018; of DAGs, Zhang, An and Zeng 2024). Absent-minded players respond by
    policies, which are not finite in number: bounds meet in the limit (Adam, Horčík, Kasl and
    Kroupa, "Double oracle algorithm for computing equilibria in continuous games", AAAI 2021).
    """
    solving = Solving(tree, limit)
    sides = solving.without_dags()
    if method == "dag":
        dags = require_dags(tree, dags_of(tree, deadline=solving.deadline))
        method = "dag" if dags else "columns"
        sides = [*map(Side, solving.forms, dags)] or sides
    solving.columns(sides, solving.deadline)
    return solving.result(sides, method if solving.is_forgetful else "lp")
