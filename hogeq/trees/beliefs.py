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

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, eye_array
from scipy.sparse.csgraph import connected_components

from hogeq.kernels import dag_flows
from hogeq.strategies.arrays import one_hot
from hogeq.support.aliases import Floats, Ints
from hogeq.support.deadline import FOREVER, Deadline
from hogeq.support.messages import HogeqError
from hogeq.trees.flat import FlatTree
from hogeq.trees.sequences import (
    LEAST_GAIN,
    SequenceForm,
    first_of_most,
    ranges,
    sequence_form,
)
from hogeq.trees.shuffling import solving_form
from hogeq.trees.teams import side_names

MOST: Final = 20_000_000
"""Most entries of a DAG that is built whole: some ten seconds, and some gigabytes."""

MOST_ENTRIES: Final = 2_000_000  # of a DAG that bounds what an integer program found
MOST_DRAWN: Final = 1000  # strategies of a mixture that are given

Choices = NDArray[np.bool_]


class TooLargeError(HogeqError):
    """Refusal of a DAG of too many entries."""


class TooSlowError(TooLargeError):
    """Refusal of a DAG for which there is no time."""


@dataclass(frozen=True, eq=False)
class BeliefDag:
    """D decisions in an order of plays, and flows x: x[0] = 1, x[start[d] + a] is a taken at d."""

    form: SequenceForm
    row: Ints  # (D,), row that each decision sets, after inflation; -1 for a draw of a strategy
    source: Ints  # (E,), choice that each edge begins with
    target: Ints  # (E,), decision that it leads to, in rising order
    sequences: csr_array  # (S, C), 1 where a choice takes a sequence
    start: Ints  # (D + 1,), first choice of each decision, and the number of all, C
    allowed: Choices  # (C,), choices that there are

    @cached_property
    def owner(self) -> Ints:
        """Decision of each choice, -1 for the begin, (C,)."""
        return np.repeat(np.arange(-1, len(self.row)), np.diff(self.start, prepend=0))

    def equations(self) -> csr_array:
        """Equations of flows, with (1, 0, 0, ...) on the other side."""
        size = len(self.allowed)
        rows = 1 + np.append(self.owner, self.target)
        columns = np.append(np.arange(size), self.source)
        values = np.append(np.ones(size), -np.ones(len(self.source)))
        return csr_array((values, (rows, columns)), (1 + len(self.row), size))

    @cached_property
    def ends(self) -> Ints:
        """First edge to each decision, and the number of all: edges lie by target, (D + 1,)."""
        return np.searchsorted(self.target, np.arange(1 + len(self.row)))

    def flow(self, shares: Floats) -> Floats:
        """Compute the flow, (C,), of probabilities of choices at decisions, (C,)."""
        flow = np.zeros(len(self.allowed))
        dag_flows.flow_on(self.ends, self.source, self.start, shares, self.start, flow)
        return flow

    def best_choices(self, values: Floats) -> Ints:
        """Find the best choice at each decision by backward induction, (D,).

        All that follows by best choices is added to the values of choices, (C,), in place.
        """
        chosen = self.start[:-1].copy()
        dag_flows.rise_best(self.ends, self.source, self.start, self.allowed, values, chosen)
        return chosen

    def most(self, values: Floats) -> float:
        """Bound the payoff of a best response by values of choices, (C,): sums are rounded up."""
        values = values.copy()
        dag_flows.rise_above(self.ends, self.source, self.start, self.allowed, values)
        return float(values[0])

    def respond(self, payoffs: Floats) -> tuple[float, Floats]:
        """Find a best response to payoffs of sequences, (S,): its payoff, and its choices, (C,)."""
        values = self.sequences.T @ payoffs
        probabilities = np.zeros(len(values))
        probabilities[self.best_choices(values)] = 1.0
        return float(values[0]), probabilities

    def total(self, weights: NDArray[Any]) -> Floats:
        """Sum weights of choices over each decision, for each choice of it, (C,)."""
        return np.bincount(1 + self.owner, weights)[1 + self.owner].astype(np.float64)

    def likeliest(self, weights: Floats) -> Ints:
        """Give the allowed choice of most weight at each decision, (D,)."""
        return 1 + first_of_most(np.where(self.allowed, weights, -1.0)[1:], self.start[:-1] - 1)

    def normalised(self, flow: Floats) -> Floats:
        """Probabilities at decisions, (C,), of weights of choices that may be no exact flow."""
        weights = np.where(self.allowed, np.maximum(flow, 0.0), 0.0)
        total = self.total(weights)
        uniform = self.allowed / np.maximum(self.total(self.allowed), 1.0)  # 0 where none is left
        return np.where(total > 0.0, weights / np.where(total > 0.0, total, 1.0), uniform)

    def restricted(self, kept: Choices) -> tuple["BeliefDag", Ints]:
        """Drop all but some choices, (C,), and decisions out of reach then.

        The second result has the places of the choices that are left.
        """
        kept = kept & self.allowed
        kept[0] = True
        is_used = self.flow(kept.astype(float))[self.source] > 0.0  # (E,), edges
        is_reached = np.zeros(len(self.row), bool)
        is_reached[self.target[is_used]] = True
        stays = np.append(is_reached, True)[self.owner]  # (C,); the begin, of owner -1, does
        places = np.flatnonzero(stays)
        new_choice, new_decision = np.cumsum(stays) - 1, np.cumsum(is_reached) - 1
        return BeliefDag(
            self.form,
            self.row[is_reached],
            new_choice[self.source[is_used]],
            new_decision[self.target[is_used]],
            self.sequences[:, places],
            np.cumsum(np.append(1, np.diff(self.start)[is_reached])),
            kept[places],
        ), places

    def mixture(self, flow: Floats) -> Iterator[tuple[float, Floats]]:
        """Split a flow, (C,), into weights, of sum 1, of policies, by weights of sequences, (S,).

        Above a decision of a row that has others as well, choices are drawn once and for all: so a
        policy comes to one decision of a row at most, and its row can act as that does. Each policy
        takes as much of the flow as it can, so that some choice has nothing left.
        """
        dag, places = self.restricted(flow > 0.0)
        left = flow[places]
        row, is_draw = dag.form.origin[dag.row], dag.row < 0
        is_repeated = is_draw | np.isin(row, np.flatnonzero(np.bincount(row) > 1))  # (D,)
        repeated = np.append(is_repeated, False)[dag.owner].astype(float)  # (C,), 1 or 0
        repeated_from_here = repeated.copy()
        dag.best_choices(repeated_from_here)
        is_above = dag.total(repeated_from_here - repeated > 0.0) > 0.0
        is_drawn = np.append(is_draw, True)[dag.owner] | is_above  # (C,), once and for all
        while True:
            probabilities = dag.normalised(left)
            probabilities[is_drawn] = 0.0
            probabilities[dag.likeliest(left)[is_drawn[dag.start[:-1]]]] = 1.0
            policy_flow = dag.flow(probabilities)
            quotient = np.full(len(left), np.inf)
            np.divide(left, policy_flow, out=quotient, where=is_drawn & (policy_flow > 0.0))
            weight = float(quotient.min())
            if weight <= LEAST_GAIN or left[0] <= weight:
                break
            yield weight, dag.sequences @ policy_flow
            left = np.maximum(left - weight * policy_flow, 0.0)
            left[quotient.argmin()] = 0.0
        yield float(left[0]), dag.sequences @ policy_flow  # what rounding left


def spanned(form: SequenceForm, strategies: Floats, deadline: Deadline = FOREVER) -> BeliefDag:
    """Build the part of the DAG that some pure strategies (n, R, K) come to.

    Where rows have no order, there is no DAG: then one decision draws one of the strategies, which
    may be policies. So it does where the part is too large, or there is no time to build it.
    """
    if form.inflated.rank is not None:
        with suppress(TooLargeError):
            plans = strategies.argmax(axis=2)[:, form.origin]
            return belief_dag(form, plans, deadline=deadline)
    return drawing(form, strategies)


def drawing(form: SequenceForm, strategies: Floats) -> BeliefDag:
    """Make a DAG of one decision, which draws one of some strategies (n, R, K)."""
    weights = map(form.realisation, np.asarray(strategies, np.float64))
    columns = csr_array(np.array([np.zeros(form.size), *weights]).T)
    zero, draw = np.zeros(1, np.int64), np.full(1, -1)  # one edge, from the begin to the decision
    allowed = np.ones(1 + len(strategies), bool)
    return BeliefDag(form, draw, zero, zero, columns, np.array([1, len(allowed)]), allowed)


def remembering(form: SequenceForm) -> BeliefDag:
    """Make the DAG of a player who would forget nothing: the sequence form."""
    choices, order = csr_array(eye_array(form.size)), np.arange(len(form.row))
    every = np.ones(form.size, bool)
    return BeliefDag(form, form.inflated.row, form.before, order, choices, form.start, every)


def belief_dag(
    form: SequenceForm,
    plans: Ints | None = None,
    most: int = MOST,
    deadline: Deadline = FOREVER,
) -> BeliefDag:
    """Build the DAG, or the part of it that pure strategies come to, actions (n, R') of its rows.

    `TooLargeError` if it has too many entries, or more than there is time for.
    """
    if plans is None and not len(form.inflated.shared):
        return remembering(form)
    return _Builder(form, plans, most, deadline).dag()


class _Beliefs(NamedTuple):
    """Beliefs to which choices lead, B of them; of equal ones each."""

    choice: Ints  # (B,), the choice before
    sizes: Ints  # (B,), number of members of each
    members: Ints  # (sum of sizes,), refined information sets, belief by belief, in rising order
    who: Choices  # (B, n), which of the pure strategies come there


class _Builder:
    """Takes beliefs in the order of their rows, those of one turn together."""

    def __init__(
        self, form: SequenceForm, plans: Ints | None, most: int, deadline: Deadline
    ) -> None:
        self.form, self.inner = form, form.inflated
        self.most, self.deadline = most, deadline
        self.entries = 0
        self.is_whole, self.tree = plans is None, self.inner.tree
        self.plans = np.zeros((0, self.tree.num_rows), np.int64) if plans is None else plans
        self.below, self.turn = _below_and_turns(self.inner, deadline)
        # Beliefs by the turn of their first row.
        self.waiting: list[list[_Beliefs]] = [[] for _ in range(1 + int(self.turn.max(initial=0)))]
        # Refined information sets by the sequence before them, and the first after each sequence.
        self.by_sequence = np.argsort(self.inner.before, kind="stable")
        sequences = np.arange(1 + self.inner.size)
        self.starts = np.searchsorted(self.inner.before[self.by_sequence], sequences)
        size = 2, len(self.inner.row)  # a belief has as its code two sums of random numbers
        self.keys = np.random.default_rng(0).integers(2**63, size=size, dtype=np.uint64)
        # The DAG so far: decisions and choices, the begin among these, and parts of its arrays.
        self.number, self.choices = 0, 1
        self.rows, self.allowed = [np.zeros(0, np.int64)], [np.ones(1, bool)]
        self.edges = [np.zeros((2, 0), np.int64)]  # choices, decisions that they lead to
        self.taken = [np.zeros((2, 1), np.int64)]  # sequences, choices that take them

    def dag(self) -> BeliefDag:
        """Build it."""
        begin = self.by_sequence[: self.starts[1]]
        who = np.ones((len(begin), len(self.plans)), bool)
        self.enter(np.zeros(len(begin), np.int64), begin, who)
        for turn, beliefs in enumerate(self.waiting):
            while beliefs:  # again, where one belief had two rows of this turn
                met = _Beliefs(*map(np.concatenate, zip(*beliefs, strict=True)))
                beliefs.clear()
                self.decide(turn, met)
        sequences, choices = np.concatenate(self.taken, axis=1)
        allowed, rows = np.concatenate(self.allowed), np.concatenate(self.rows)
        shape = self.inner.size, len(allowed)
        source, target = np.concatenate(self.edges, axis=1)
        order = np.argsort(target, kind="stable")
        return BeliefDag(
            self.form,
            rows,
            source[order],
            target[order],
            csr_array((np.ones(len(sequences)), (sequences, choices)), shape),
            np.cumsum(np.append(1, self.tree.num_legal[rows])),
            allowed,
        )

    def enter(self, choice: Ints, refined: Ints, who: Choices) -> None:
        """Part what follows choices into beliefs, which wait for the turns of their first rows.

        Refined information sets, (n,), come each after a choice, (n,), by some pure strategies,
        `who` (n, number of these).
        """
        if not len(refined):
            return
        self.require(int(np.diff(self.below.indptr)[refined].sum()))
        belief = _components(choice, self.below[refined])
        order = np.lexsort((refined, belief))
        refined = refined[order]
        first = np.flatnonzero(np.diff(belief[order], prepend=-1))  # member of each belief
        turns = np.minimum.reduceat(self.turn[refined], first)
        sizes = np.diff(first, append=len(refined))
        for turn in np.unique(turns).tolist():
            is_due = turns == turn
            heads = order[first[is_due]]
            members = refined[np.repeat(is_due, sizes)]
            beliefs = _Beliefs(choice[heads], sizes[is_due], members, who[heads])
            self.waiting[turn].append(beliefs)

    def require(self, more: int) -> None:
        """Refuse so many entries more than there are, if they are too many or too late."""
        if self.entries + more > self.most:
            raise TooLargeError(f"a belief DAG of more than {self.most:,} entries")
        if not self.deadline.allows(more):
            raise TooSlowError(f"a belief DAG of more than {self.entries:,} entries")

    def decide(self, turn: int, met: _Beliefs) -> None:
        """Make a decision of each set of equal beliefs; enter the beliefs after it.

        1. It sets the first row of this turn that its members have.
        2. A choice takes its action at the members of this row: these give way to what follows
           their sequences.
        3. The other members stay, and what results is parted into beliefs.
        """
        representative, decision_of = self.distinct(met)
        self.edges.append(np.stack([met.choice, self.number + decision_of]))
        sizes = met.sizes[representative]
        begin = np.cumsum(met.sizes) - met.sizes
        members = met.members[ranges(begin[representative], sizes)]
        decision = np.repeat(np.arange(len(sizes)), sizes)  # of each member
        is_due = self.turn[members] == turn
        rows = np.where(is_due, self.inner.row[members], self.tree.num_rows)
        row = np.minimum.reduceat(rows, np.cumsum(sizes) - sizes)  # that each decision sets
        acts = rows == row[decision]
        counts = self.tree.num_legal[row]
        owner = np.repeat(np.arange(len(row)), counts)  # decision of each new choice, (C',)
        action = ranges(np.zeros_like(counts), counts)
        able, takes = self.able(row, owner, action, decision_of, met.who)
        num_able = np.bincount(owner[able], minlength=len(row))
        new_entries = len(met.choice) + int((sizes * num_able).sum())
        self.require(new_entries)
        self.entries += new_entries
        # Pairs of every member with every choice of its decision that there is.
        member = np.repeat(np.arange(len(members)), num_able[decision])
        first_able = np.cumsum(num_able) - num_able
        nth_able = ranges(first_able[decision], num_able[decision])
        choice = np.flatnonzero(able)[nth_able]
        is_act, refined = acts[member], members[member]
        sequence = (self.inner.start[refined] + action[choice])[is_act]
        self.taken.append(np.stack([sequence, self.choices + choice[is_act]]))
        num_after = self.starts[sequence + 1] - self.starts[sequence]
        after = self.by_sequence[ranges(self.starts[sequence], num_after)]
        before = np.append(np.repeat(choice[is_act], num_after), choice[~is_act])
        self.enter(self.choices + before, np.append(after, refined[~is_act]), takes[before])
        self.number += len(row)
        self.choices += len(owner)
        self.rows.append(row)
        self.allowed.append(able)

    def distinct(self, met: _Beliefs) -> tuple[Ints, Ints]:
        """Find equal beliefs by codes: one of each kind, (D',), and the kind of each, (B,)."""
        first = np.cumsum(met.sizes) - met.sizes
        codes = np.add.reduceat(self.keys[:, met.members], first, axis=1)
        _, representative, kind = np.unique(codes[0], return_index=True, return_inverse=True)
        if not np.array_equal(codes[1, representative[kind]], codes[1]):
            raise ArithmeticError("two beliefs have one code")  # by a chance of 2**-63
        return representative, kind

    def able(
        self, row: Ints, owner: Ints, action: Ints, decision_of: Ints, who: Choices
    ) -> tuple[Choices, Choices]:
        """Mark the choices, (C',), that pure strategies take, and those that take each, (C', n).

        `owner` and `action` (C',) are of choices; `decision_of` (B,) and `who` (B, n) of beliefs.
        """
        if self.is_whole:
            return np.ones(len(owner), bool), np.zeros((len(owner), 0), bool)
        comes = np.zeros((len(row), who.shape[1]), bool)
        np.logical_or.at(comes, decision_of, who)
        takes = comes[owner] & (self.plans.T[row[owner]] == action[:, None])
        return takes.any(axis=1), takes


def _below_and_turns(form: SequenceForm, deadline: Deadline) -> tuple[csr_array, Ints]:
    """Find the rows below refined information sets, and their turns, once."""
    if "below and turns" not in form.known:
        below = _rows_below(form, deadline)
        form.known["below and turns"] = below, _turns(form, below)
    return cast("tuple[csr_array, Ints]", form.known["below and turns"])


def _rows_below(form: SequenceForm, deadline: Deadline = FOREVER) -> csr_array:
    """Mark the shared rows at or below each refined information set, (J, R)."""
    refined = np.flatnonzero(np.isin(form.row, form.shared))
    rows = form.row[refined]
    pairs = [np.zeros((2, 0), np.int64)]  # refined information sets, rows at or below them
    while len(refined):
        if not deadline.allows(len(refined)):
            raise TooSlowError("a belief DAG of too many rows below others")
        pairs.append(np.unique(np.stack([refined, rows]), axis=1))
        above = form.above[pairs[-1][0]]  # -1 where none is
        refined, rows = above[above >= 0], pairs[-1][1][above >= 0]
    places = np.unique(np.concatenate(pairs, axis=1), axis=1)
    shape = len(form.row), form.tree.num_rows
    return csr_array((np.ones(places.shape[1], np.int8), (places[0], places[1])), shape)


def _turns(form: SequenceForm, below: csr_array) -> Ints:
    """Order in which rows are set: by rank, and one after another where they are linked.

    Two rows of one belief may still have one turn, linked by another rank: then one waits.
    """
    assert form.rank is not None  # noqa: S101 - asked before
    rank = form.rank[form.row]
    component = _components(rank, below)
    pairs, pair = np.unique(np.stack([component, form.row]), axis=1, return_inverse=True)
    first = np.searchsorted(pairs[0], pairs[0])
    num_rows_before = np.arange(pairs.shape[1]) - first  # in the same component
    ranks = np.stack([rank, num_rows_before[pair]])
    return np.unique(ranks, axis=1, return_inverse=True)[1]


def _components(group: Ints, below: csr_array) -> Ints:
    """Give components of refined information sets, (n,): those of a group with one row below.

    A bipartite graph links each with the rows at or below it, which are others in other groups.
    """
    size, num_below = len(group), np.diff(below.indptr)
    keys = np.repeat(group, num_below) * below.shape[1] + below.indices
    rows_of_groups, row_of_group = np.unique(keys, return_inverse=True)
    num_vertices = size + len(rows_of_groups)
    ends = np.repeat(np.arange(size), num_below), size + row_of_group
    links = coo_array((np.ones(len(keys), np.int8), ends), (num_vertices, num_vertices))
    return connected_components(links, directed=False)[1][:size]


# --- of a tree ------------------------------------------------------------------------------------


def whole_dag(
    form: SequenceForm, most: int = MOST, deadline: Deadline = FOREVER
) -> BeliefDag | None:
    """Build the belief DAG of a player once; None if it is too large or rows have no order."""
    known, inner = form.known, form.inflate(deadline)
    if inner.rank is not None and "dag" not in known and known.get("too few entries", -1) < most:
        try:
            known["dag"] = belief_dag(form, most=most, deadline=deadline)
        except TooSlowError:
            pass
        except TooLargeError:
            known["too few entries"] = most
    return known.get("dag")


def dags_of(
    tree: FlatTree, most: int = MOST, deadline: Deadline = FOREVER
) -> list[BeliefDag | None]:
    """Build the belief DAG of each player once, until some time at most."""
    return [whole_dag(solving_form(tree, player), most, deadline) for player in (0, 1)]


def bounding_dag(form: SequenceForm, deadline: Deadline) -> BeliefDag | None:
    """Build a DAG that bounds what an integer program found: of beliefs, or a draw of anything."""
    rows, counts = np.unique(form.row), form.tree.num_legal
    if form.inflated.rank is not None or math.prod(counts[rows].tolist()) > MOST_DRAWN:
        return whole_dag(form, MOST_ENTRIES, deadline)
    strategies = np.zeros((1, form.tree.num_rows), np.int64)  # all pure ones, (n, R)
    for row in rows.tolist():
        strategies = np.repeat(strategies, counts[row], axis=0)
        strategies[:, row] = np.arange(len(strategies)) % counts[row]
    return drawing(form, one_hot(strategies, form.tree.num_actions))


def require_dags(tree: FlatTree, dags: Sequence[BeliefDag | None]) -> list[BeliefDag]:
    """Refuse a game without a DAG of each side; give none if there was no time to build one."""
    for player, dag in enumerate(dags):
        form = sequence_form(tree, player)
        if dag is None and (
            form.inflated.rank is None or form.known.get("too few entries", -1) >= MOST
        ):
            raise HogeqError(
                f"{tree.name}: {side_names(tree.sides)[player]} has a belief DAG of more than"
                f" {MOST:,} entries, or information sets in no order; allowed: columns"
            )
    return [] if None in dags else [dag for dag in dags if dag is not None]
