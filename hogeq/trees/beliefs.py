"""Belief DAG of a forgetful player: all of its mixtures, as flows.

B. H. Zhang, G. Farina and T. Sandholm, "Team belief DAG: generalizing the sequence form to team
games", ICML 2023, arXiv 2202.00789. Here beliefs hold refined information sets in place of nodes,
so nodes that others alone tell apart count once; and a decision sets one row, not all of a belief.

A *belief* is a set of refined information sets at which the player may act next, as others and
chance have it, by its own choices so far. It falls apart into components: two are linked if one row
lies at or below both. A *decision* takes an action of the first row of a belief; in place of its
refined information sets come those after the action, and what results falls apart again. Equal
beliefs are one decision. Rows come by rank, and rows of one rank in a fixed order. Hence:

1. After a decision play comes to its row no more: not from the rest of the belief, whose ranks are
   no lower, nor from other beliefs, which share no row with it. So a pure strategy is a choice at
   each decision that it comes to, and such choices are a pure strategy.
2. A pure strategy comes to a decision in one way at most. So *flows*, which pass on at a decision
   what comes in, are the convex hull of pure strategies: the mixtures of the player.
3. Each choice takes the action in the refined information sets of its row in the belief. Summed
   over decisions this gives the realisation weight of each sequence: a linear map of flows.

A player who forgets nothing has one decision for each information set: the sequence form.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, eye_array, vstack

from hogeq.graph.levels import distinct, spans
from hogeq.kernels import dag_flows
from hogeq.support.aliases import Floats, Ints
from hogeq.support.deadline import FOREVER, Deadline
from hogeq.support.messages import HogeqError
from hogeq.trees.packed import components_by_key, first_entries, first_maximum, offsets
from hogeq.trees.sequences import LEAST_GAIN, SequenceForm

MOST: Final = 20_000_000
"""Most entries of a DAG that is built whole: some ten seconds, and some gigabytes."""

MOST_DRAWN: Final = 1000  # most strategies of a mixture in a result

Choices = NDArray[np.bool_]


class TooLargeError(HogeqError):
    """Refusal of a DAG of too many entries."""


class TooSlowError(TooLargeError):
    """Refusal of a DAG for which there is no time."""


@dataclass(frozen=True, eq=False)
class BeliefDag:
    """D decisions in an order of plays, E edges into them, and C choices.

    Choice ``choice_offsets[d] + a`` is action a at decision d. A flow x, (C,), has the reach
    probabilities of choices. Choice 0 is the begin of play, of probability 1.
    """

    form: SequenceForm
    row_of_decision: Ints  # (D,), row that it sets; -1 for a draw of a strategy
    edge_source: Ints  # (E,), choice that each edge comes from
    edge_target: Ints  # (E,), decision that each edge leads to, in rising order
    plan_matrix: csr_array  # (S, C), 1 where a choice takes a sequence: turns a flow into a plan
    choice_offsets: Ints  # (D + 1,), first choice of each decision; then C
    allowed_choices: Choices  # (C,), False for choices that the DAG leaves out

    @property
    def num_decisions(self) -> int:
        """Number of decisions, D."""
        return len(self.row_of_decision)

    @property
    def num_choices(self) -> int:
        """Number of choices, the begin included, C."""
        return len(self.allowed_choices)

    @cached_property
    def decision_of_choice(self) -> Ints:
        """Decision of each choice, -1 for the begin, (C,)."""
        num_choices = np.diff(self.choice_offsets, prepend=0)  # of the begin, of each decision
        return np.repeat(np.arange(-1, self.num_decisions), num_choices)

    def equations(self) -> csr_array:
        """Return the matrix A, (1 + D, C), of the flows x with A x = (1, 0, 0, ...).

        The begin is 1; the choices of a decision sum to what its edges bring in.
        """
        rows = 1 + np.append(self.decision_of_choice, self.edge_target)
        columns = np.append(np.arange(self.num_choices), self.edge_source)
        values = np.append(np.ones(self.num_choices), -np.ones(len(self.edge_source)))
        return csr_array((values, (rows, columns)), (1 + self.num_decisions, self.num_choices))

    @property
    def inflow(self) -> Floats:
        """Right sides of the equations of a flow, (1 + D,): 1 for the begin, else 0."""
        return (np.arange(1 + self.num_decisions) == 0).astype(float)

    @cached_property
    def kernel_dag(self) -> dag_flows.Dag:
        """Edges and choices as kernels take them: edges lie in the order of their targets."""
        edge_offsets = np.searchsorted(self.edge_target, np.arange(1 + self.num_decisions))
        return dag_flows.Dag(edge_offsets, self.edge_source, self.choice_offsets)

    def flow(self, probabilities: Floats) -> Floats:
        """Compute the flow, (C,), of probabilities of choices at decisions, (C,)."""
        flow = np.zeros(self.num_choices)
        dag_flows.flow_on(self.kernel_dag, probabilities, self.choice_offsets, flow)
        return flow

    def best_choices(self, values: Floats) -> Ints:
        """Find the best choice at each decision by backward induction, (D,).

        `values`, (C,), are those of choices alone; the value of the best choices that follow is
        added in place.
        """
        chosen = self.choice_offsets[:-1].copy()
        dag_flows.rise_best(self.kernel_dag, self.allowed_choices, values, chosen)
        return chosen

    def upper_bound(self, values: Floats) -> float:
        """Bound a best response's payoff from above by values of choices, (C,): sums round up."""
        values = values.copy()
        dag_flows.rise_above(self.kernel_dag, self.allowed_choices, values)
        return float(values[0])

    def respond(self, payoffs: Floats) -> tuple[float, Floats]:
        """Find a best response to payoffs of sequences, (S,): its payoff, and its choices, (C,)."""
        values = self.plan_matrix.T @ payoffs
        probabilities = np.zeros(len(values))
        probabilities[self.best_choices(values)] = 1.0
        return float(values[0]), probabilities

    def decision_totals(self, weights: NDArray[Any]) -> Floats:
        """For each choice, sum the weights of all choices at its decision, (C,)."""
        decision = 1 + self.decision_of_choice  # of each choice; 0 for the begin
        return np.bincount(decision, weights)[decision].astype(np.float64)

    def likeliest_choices(self, weights: Floats) -> Ints:
        """Give the allowed choice of most weight at each decision, (D,)."""
        allowed_weights = np.where(self.allowed_choices, weights, -1.0)
        without_begin = allowed_weights[1:], self.choice_offsets[:-1] - 1
        return 1 + first_maximum(*without_begin)

    def choice_probabilities(self, flow: Floats) -> Floats:
        """Compute probabilities at decisions, (C,), of a flow that may be inexact.

        A decision that the flow does not reach is uniform over its allowed choices.
        """
        weights = np.where(self.allowed_choices, np.maximum(flow, 0.0), 0.0)
        total = self.decision_totals(weights)
        num_allowed = self.decision_totals(self.allowed_choices)
        uniform = self.allowed_choices / np.maximum(num_allowed, 1.0)  # 0 if none is allowed
        return np.where(total > 0.0, weights / np.where(total > 0.0, total, 1.0), uniform)

    def by_choice(self, of_decisions: Choices, of_begin: bool) -> Choices:
        """Spread answers for decisions, (D,), to their choices, (C,), with one for the begin."""
        return np.append(of_decisions, of_begin)[self.decision_of_choice]  # -1 takes the last

    def restrict(self, kept: Choices) -> tuple["BeliefDag", Ints]:
        """Return the sub-DAG of some choices, (C,), and the numbers that its choices have here.

        Decisions that these choices do not reach are left out. Other decisions have as many choices
        as before, of which those not in `kept` are not allowed.
        """
        kept = kept & self.allowed_choices
        kept[0] = True  # the begin
        is_used = self.flow(kept.astype(float))[self.edge_source] > 0.0  # (E,)
        is_reached = np.zeros(self.num_decisions, bool)
        is_reached[self.edge_target[is_used]] = True
        stays = self.by_choice(is_reached, of_begin=True)
        choices = np.flatnonzero(stays)
        new_choice = np.cumsum(stays) - 1
        new_decision = np.cumsum(is_reached) - 1
        dag = BeliefDag(
            self.form,
            row_of_decision=self.row_of_decision[is_reached],
            edge_source=new_choice[self.edge_source[is_used]],
            edge_target=new_decision[self.edge_target[is_used]],
            plan_matrix=self.plan_matrix[:, choices],
            choice_offsets=1 + offsets(np.diff(self.choice_offsets)[is_reached]),
            allowed_choices=kept[choices],
        )
        return dag, choices

    def decompose(self, flow: Floats) -> Iterator[tuple[float, Floats]]:
        """Split a flow, (C,), into policies: yield weights, of sum 1, and realisation plans, (S,).

        A policy has one distribution for each row; so it must reach one decision of a row at most.

        1. Above rows of several decisions take the likeliest choice, with probability 1.
        2. Elsewhere take the probabilities of the flow that is left. This is a policy.
        3. Give it the largest weight that the flow allows, subtract it, and go to 1. Each round
           uses up a choice of step 1.
        """
        dag, choices = self.restrict(flow > 0.0)
        remaining = flow[choices]
        is_pure = dag.choices_to_fix()  # (C,), choices of step 1
        is_pure_decision = is_pure[dag.choice_offsets[:-1]]
        while True:
            probabilities = dag.choice_probabilities(remaining)
            probabilities[is_pure] = 0.0
            probabilities[dag.likeliest_choices(remaining)[is_pure_decision]] = 1.0
            policy_flow = dag.flow(probabilities)
            quotient = np.full(len(remaining), np.inf)
            np.divide(remaining, policy_flow, out=quotient, where=is_pure & (policy_flow > 0.0))
            weight = float(quotient.min())
            if weight <= LEAST_GAIN or remaining[0] <= weight:
                break
            yield weight, dag.plan_matrix @ policy_flow
            remaining = np.maximum(remaining - weight * policy_flow, 0.0)
            remaining[quotient.argmin()] = 0.0  # exactly, so that the loop ends
        yield float(remaining[0]), dag.plan_matrix @ policy_flow  # with all that is left

    def choices_to_fix(self) -> Choices:
        """Mark choices, (C,), at decisions that a policy must take purely; and the begin.

        They are decisions above rows that several decisions set, and draws of a whole strategy. If
        each of them takes one choice, a policy reaches one decision of a row at most.
        """
        row = self.form.original_row[self.row_of_decision]
        is_draw = self.row_of_decision < 0
        is_repeated = is_draw | np.isin(row, np.flatnonzero(np.bincount(row) > 1))  # (D,)
        repeated = self.by_choice(is_repeated, of_begin=False).astype(float)  # (C,), 1 or 0
        # With these as values, backward induction counts repeated rows from each choice on.
        repeated_from_choice = repeated.copy()
        self.best_choices(repeated_from_choice)
        is_above = self.decision_totals(repeated_from_choice - repeated > 0.0) > 0.0
        return self.by_choice(is_draw, of_begin=True) | is_above


def spanned_dag(form: SequenceForm, strategies: Floats, deadline: Deadline = FOREVER) -> BeliefDag:
    """Build the part of a player's belief DAG that some pure strategies, (n, R, K), reach.

    One decision draws one of the strategies where rows have no order, so that there is no DAG, and
    where the part is too large or there is no time to build it. These may be policies, too.
    """
    if form.inflated.has_row_order:
        with suppress(TooLargeError):
            plans = strategies.argmax(axis=2)[:, form.original_row]
            return build_belief_dag(form, plans, deadline=deadline)
    return mixture_dag(form, strategies)


def mixture_dag(form: SequenceForm, strategies: Floats) -> BeliefDag:
    """Make a belief DAG of one decision, which draws one of some strategies, (n, R, K).

    Its row is -1, for it is no information set; choice 0 is the begin, choice 1 + i takes strategy
    i.
    """
    begin_plan = csr_array((1, form.num_sequences))  # choice 0 takes no sequence
    # One by one, since a plan has few sequences.
    plans = [
        csr_array(form.realisation(np.asarray(strategy, np.float64))[None])
        for strategy in strategies
    ]
    sequences = vstack([begin_plan, *plans]).T.tocsr()
    begin = np.zeros(1, np.int64)  # choice 0, with an edge to decision 0
    allowed = np.ones(1 + len(strategies), bool)
    return BeliefDag(
        form,
        row_of_decision=np.full(1, -1),
        edge_source=begin,
        edge_target=np.zeros(1, np.int64),
        plan_matrix=sequences,
        choice_offsets=np.array([1, len(allowed)]),
        allowed_choices=allowed,
    )


def recall_dag(form: SequenceForm) -> BeliefDag:
    """Make the DAG of a player with perfect recall, the sequence form: choices are sequences."""
    return BeliefDag(
        form,
        row_of_decision=form.row_of_refined,  # inflation, which takes long, would not matter
        edge_source=form.parent_sequence,
        edge_target=np.arange(form.num_refined),  # one edge into each decision
        plan_matrix=csr_array(eye_array(form.num_sequences)),
        choice_offsets=form.sequence_offsets,
        allowed_choices=np.ones(form.num_sequences, bool),
    )


def build_belief_dag(
    form: SequenceForm, plans: Ints | None = None, most: int = MOST, deadline: Deadline = FOREVER
) -> BeliefDag:
    """Build a player's belief DAG, or the part of it that some pure strategies reach.

    `plans`, (n, R'), are these strategies, an action of each inflated row. `TooLargeError` if the
    DAG has more than `most` entries, or `TooSlowError` if more than there is time for.
    """
    if plans is None and not len(form.inflated.shared_rows):
        return recall_dag(form)
    return _Builder(form, plans, most, deadline).dag()


class _Beliefs(NamedTuple):
    """B beliefs to which choices lead; a belief that several choices lead to is there each time."""

    parent_choice: Ints  # (B,), the choice that leads there
    sizes: Ints  # (B,), number of members
    members: Ints  # (sum of sizes,), refined information sets, belief by belief, in rising order
    num_strategies: Ints  # (B,), how many of the pure strategies come there
    strategies: Ints  # (sum of num_strategies,), their numbers, belief by belief


class _Builder:
    """Builds a belief DAG: beliefs are taken in the order of their rows, all of one turn at once.

    With `plans`, (n, R'), it is the part of the DAG that these pure strategies reach.
    """

    def __init__(
        self, form: SequenceForm, plans: Ints | None, most: int, deadline: Deadline
    ) -> None:
        """Begin a DAG without decisions; `plans`, (n, R), are pure strategies, or None for all."""
        self.form = form
        self.inflated = form.inflated
        self.tree = self.inflated.tree
        self.most = most  # entries allowed
        self.deadline = deadline
        self.is_whole = plans is None
        self.plans = np.zeros((0, self.tree.num_rows), np.int64) if plans is None else plans
        self.below, self.turn = _below_and_turns(self.inflated, deadline)
        # Beliefs by the turn of their first row.
        self.waiting: list[list[_Beliefs]] = [[] for _ in range(1 + int(self.turn.max(initial=0)))]
        # Refined information sets by the sequence before them, and the first after each sequence.
        self.refined_by_parent = np.argsort(self.inflated.parent_sequence, kind="stable")
        parents = self.inflated.parent_sequence
        self.child_offsets = offsets(np.bincount(parents, minlength=self.inflated.num_sequences))
        size = 2, self.inflated.num_refined  # two random numbers of each, to hash beliefs by
        self.keys = np.random.default_rng(0).integers(2**63, size=size, dtype=np.uint64)
        # The DAG so far: its size, choice 0 included, and its arrays in parts, to be joined.
        self.entries = 0
        self.num_decisions = 0
        self.num_choices = 0
        self.rows = [np.zeros(0, np.int64)]  # of decisions
        self.allowed = [np.ones(1, bool)]  # of choices
        self.edges = [np.zeros((2, 0), np.int64)]  # choices, and the decisions that they lead to
        self.taken = [np.zeros((2, 1), np.int64)]  # sequences, and the choices that take them

    def dag(self) -> BeliefDag:
        """Build the DAG: decide the beliefs of each turn, then join the parts of the arrays.

        A belief is a set of refined information sets at which the player may act next. Those before
        any own action come first; a turn is the place of a row in the order of decisions.
        """
        first_refined = self.refined_by_parent[: self.child_offsets[1]]  # after the empty sequence
        every_strategy = np.arange(len(self.plans))
        takers = np.array([len(self.plans)]), every_strategy  # of choice 0, the begin
        self.enter(np.zeros(len(first_refined), np.int64), first_refined, takers)
        self.num_choices = 1
        for turn, waiting in enumerate(self.waiting):
            while waiting:  # again if a belief had two rows of this turn
                beliefs = _Beliefs(*map(np.concatenate, zip(*waiting, strict=True)))
                waiting.clear()
                self.decide(turn, beliefs)
        return self.join()

    def join(self) -> BeliefDag:
        """Join the parts of the arrays to a DAG, with edges in the order of their targets."""
        sequences, choices = np.concatenate(self.taken, axis=1)
        allowed = np.concatenate(self.allowed)
        rows = np.concatenate(self.rows)
        source, target = np.concatenate(self.edges, axis=1)
        order = np.argsort(target, kind="stable")
        shape = self.inflated.num_sequences, len(allowed)
        return BeliefDag(
            self.form,
            row_of_decision=rows,
            edge_source=source[order],
            edge_target=target[order],
            plan_matrix=csr_array((np.ones(len(sequences)), (sequences, choices)), shape),
            choice_offsets=1 + offsets(self.tree.num_legal[rows]),
            allowed_choices=allowed,
        )

    def enter(self, choice: Ints, refined: Ints, takers: tuple[Ints, Ints]) -> None:
        """Split what follows choices into beliefs, which wait for the turns of their first rows.

        A belief is a set of refined information sets (a row after one sequence of own actions) at
        which the player may act next, and which must be decided together. Each refined information
        set, (m,), comes after a new choice, (m,), and is reached by the pure strategies that take
        this. `takers` are their number, of each new choice, and the strategies, choice by choice.
        """
        if not len(refined):
            return
        num_takers, strategies = takers
        first_strategy = offsets(num_takers)
        self.require(int(np.diff(self.below.indptr)[refined].sum()))
        belief = _components(choice, self.below[refined])
        order = np.lexsort((refined, belief))
        refined = refined[order]
        first = np.flatnonzero(np.diff(belief[order], prepend=-1))  # first member of each belief
        turns = np.minimum.reduceat(self.turn[refined], first)
        sizes = np.diff(first, append=len(refined))
        for turn in np.unique(turns).tolist():
            is_due = turns == turn
            first_due = order[first[is_due]]
            members = refined[np.repeat(is_due, sizes)]
            new_choice = choice[first_due]
            beliefs = _Beliefs(
                self.num_choices + new_choice,
                sizes[is_due],
                members,
                num_takers[new_choice],
                strategies[spans(first_strategy[new_choice], first_strategy[new_choice + 1])],
            )
            self.waiting[turn].append(beliefs)

    def require(self, new_entries: int) -> None:
        """Raise an error if so many new entries are too many, or if there is no time for them."""
        if self.entries + new_entries > self.most:
            raise TooLargeError(f"a belief DAG of more than {self.most:,} entries")
        if not self.deadline.allows(new_entries):
            raise TooSlowError(f"a belief DAG of more than {self.entries:,} entries")

    def decide(self, turn: int, beliefs: _Beliefs) -> None:
        """Add a decision for each set of equal beliefs of a turn; enter the beliefs after it.

        A belief is a set of refined information sets at which the player may act next, a decision a
        node of the belief DAG, a choice an action there.

        1. A decision sets the first row of this turn that a member of its belief has.
        2. A choice takes an action at the members of this row. In place of these members come the
           refined information sets after the action.
        3. The other members stay, and all that results is split into beliefs.
        """
        representative, decision_of = self.distinct(beliefs)
        self.edges.append(np.stack([beliefs.parent_choice, self.num_decisions + decision_of]))
        sizes = beliefs.sizes[representative]
        begin = first_entries(beliefs.sizes)[representative]
        members = beliefs.members[spans(begin, begin + sizes)]
        decision = np.repeat(np.arange(len(sizes)), sizes)  # of each member
        # 1. Which row each decision sets, (D',).
        row, is_of_row = self.rows_to_set(turn, members, sizes)
        # 2. Pairs of every member with every allowed choice of its decision.
        counts = self.tree.num_legal[row]
        owner = np.repeat(np.arange(len(row)), counts)  # (C',), decision of each new choice
        action = np.arange(len(owner)) - first_entries(counts)[owner]  # (C',)
        takers = self.list_takers(row, decision_of, beliefs)
        allowed = (takers[0] > 0) | self.is_whole
        num_allowed = np.bincount(owner[allowed], minlength=len(row))
        new_entries = len(beliefs.parent_choice) + int((sizes * num_allowed).sum())
        self.require(new_entries)
        self.entries += new_entries
        member, choice = _pair_with_choices(decision, allowed, num_allowed)
        acts = is_of_row[member]  # of each pair
        refined = members[member]
        sequence = (self.inflated.sequence_offsets[refined] + action[choice])[acts]
        self.taken.append(np.stack([sequence, self.num_choices + choice[acts]]))
        # 3. What follows the sequences, and the members that stay, each after a choice.
        begin = self.child_offsets[sequence]
        end = self.child_offsets[sequence + 1]
        after = self.refined_by_parent[spans(begin, end)]
        before = np.append(np.repeat(choice[acts], end - begin), choice[~acts])
        self.enter(before, np.append(after, refined[~acts]), takers)
        self.num_decisions += len(row)
        self.num_choices += len(owner)
        self.rows.append(row)
        self.allowed.append(allowed)

    def rows_to_set(self, turn: int, members: Ints, sizes: Ints) -> tuple[Ints, Choices]:
        """Choose the first row of a turn that each of D' beliefs has, (D',), and mark its members.

        `members` are refined information sets, those of one belief after another, by the sizes of
        beliefs, (D',).
        """
        # Rows of later turns count as R, which is larger than any row.
        is_due = self.turn[members] == turn
        rows = np.where(is_due, self.inflated.row_of_refined[members], self.tree.num_rows)
        row = np.minimum.reduceat(rows, first_entries(sizes))
        return row, rows == np.repeat(row, sizes)

    def distinct(self, beliefs: _Beliefs) -> tuple[Ints, Ints]:
        """Find equal beliefs by hashes: one of each kind, (D',), and the kind of each, (B,).

        A belief is a set of refined information sets at which the player may act next, its members.
        Its hash is the pair of sums of two random numbers of each member.
        """
        first = first_entries(beliefs.sizes)
        hashes = np.add.reduceat(self.keys[:, beliefs.members], first, axis=1)  # (2, B)
        _, representative, kind = np.unique(hashes[0], return_index=True, return_inverse=True)
        if not np.array_equal(hashes[1, representative[kind]], hashes[1]):
            raise ArithmeticError("two beliefs have one code")  # of probability 2**-63
        return representative, kind

    def list_takers(self, row: Ints, decision_of: Ints, beliefs: _Beliefs) -> tuple[Ints, Ints]:
        """List the pure strategies that take each of C' new choices.

        A strategy takes one choice at each decision that it reaches. Given are the row of each new
        decision, (D',), and the decision of each belief, (B,). Returns the number of strategies
        that take a choice, (C',), and the strategies, choice by choice.
        """
        num_plans = max(len(self.plans), 1)
        # Pairs of a decision and a strategy that reaches it, each as one number.
        decision = np.repeat(decision_of, beliefs.num_strategies)
        decision, strategy = np.divmod(
            distinct(decision * num_plans + beliefs.strategies), num_plans
        )
        counts = self.tree.num_legal[row]
        choice = first_entries(counts)[decision] + self.plans[strategy, row[decision]]
        num_takers = np.bincount(choice, minlength=int(counts.sum()))
        return num_takers, strategy[np.argsort(choice, kind="stable")]


def _pair_with_choices(decision: Ints, allowed: Choices, num_allowed: Ints) -> tuple[Ints, Ints]:
    """Pair every member of beliefs with every allowed choice of its decision.

    Given are the decision of each member, (m,), whether each choice is allowed, (C',), decision by
    decision, and the number of those of each decision, (D',). Returns the members and the choices
    of all pairs, as their indices.
    """
    member = np.repeat(np.arange(len(decision)), num_allowed[decision])
    allowed_offsets = offsets(num_allowed)
    nth_allowed = spans(allowed_offsets[decision], allowed_offsets[decision + 1])
    return member, np.flatnonzero(allowed)[nth_allowed]


def _below_and_turns(form: SequenceForm, deadline: Deadline) -> tuple[csr_array, Ints]:
    """Find the rows below refined information sets, (J, R), and their turns, (J,), once."""
    if "below and turns" not in form.cache:
        below = _rows_below(form, deadline)
        form.cache["below and turns"] = below, _assign_turns(form, below)
    return cast("tuple[csr_array, Ints]", form.cache["below and turns"])


def _rows_below(form: SequenceForm, deadline: Deadline = FOREVER) -> csr_array:
    """Mark the shared rows at or below each refined information set, (J, R).

    A refined one is a row (information set) after one sequence of own actions; a row that has
    several is shared: there the player forgets which.
    """
    refined = np.flatnonzero(np.isin(form.row_of_refined, form.shared_rows))
    rows = form.row_of_refined[refined]
    levels = [np.zeros((2, 0), np.int64)]  # refined information sets, rows at or below them
    while len(refined):  # once for each own action above a shared row
        if not deadline.allows(len(refined)):
            raise TooSlowError("a belief DAG of too many rows below others")
        levels.append(np.unique(np.stack([refined, rows]), axis=1))
        level_refined, level_rows = levels[-1]
        above = form.parent_refined[level_refined]  # -1 where no own action comes before
        refined = above[above >= 0]
        rows = level_rows[above >= 0]
    pairs = np.unique(np.concatenate(levels, axis=1), axis=1)
    shape = form.num_refined, form.tree.num_rows
    return csr_array((np.ones(pairs.shape[1], np.int8), (pairs[0], pairs[1])), shape)


def _assign_turns(form: SequenceForm, below: csr_array) -> Ints:
    """Assign turns to refined information sets, (J,), in which their rows are set.

    A refined one is a row (information set) after one sequence of own actions. Turns follow the
    ranks of rows; rows of one rank that share a row below have turns one after the other. Two rows
    of a belief that are linked by another rank may still have one turn.
    """
    assert form.rank_of_row is not None  # noqa: S101 - callers check
    rank = form.rank_of_row[form.row_of_refined]
    component = _components(rank, below)  # of sets of one rank, linked by a row below both
    pairs, pair = np.unique(np.stack([component, form.row_of_refined]), axis=1, return_inverse=True)
    first = np.searchsorted(pairs[0], pairs[0])  # first pair of the same component
    num_rows_before = np.arange(pairs.shape[1]) - first
    ranks = np.stack([rank, num_rows_before[pair]])
    return np.unique(ranks, axis=1, return_inverse=True)[1]


def _components(group: Ints, below: csr_array) -> Ints:
    """Find the components of refined information sets, (n,), each of which is in a group, (n,).

    Two are linked if they are in one group and a row lies at or below both, `below` (n, R).
    """
    refined = np.repeat(np.arange(len(group)), np.diff(below.indptr))  # of each row below
    group_and_row = group[refined] * below.shape[1] + below.indices  # as one number
    return components_by_key(len(group), refined, group_and_row)
