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
        count, size = len(self.row), len(self.allowed)
        rows, columns = (
            1 + np.append(self.owner, self.target),
            np.append(np.arange(size), self.source),
        )
        values = np.append(np.ones(size), -np.ones(len(self.source)))
        return csr_array((values, (rows, columns)), (1 + count, size))

    @cached_property
    def ends(self) -> Ints:
        """Where the edges to each decision begin, (D + 1,)."""
        return np.searchsorted(self.target, np.arange(1 + len(self.row)))

    def flow(self, shares: Floats) -> Floats:
        """Flow of the probabilities of choices at each decision, (C,)."""
        flow = np.zeros(len(self.allowed))
        dag_flows.flow_on(self.ends, self.source, self.start, shares, self.start, flow)
        return flow

    def rise(self, worth: Floats) -> Ints:
        """Add to the worth of each choice all that follows by best choices, (D,), and give them."""
        chosen = self.start[:-1].copy()
        dag_flows.rise_best(self.ends, self.source, self.start, self.allowed, worth, chosen)
        return chosen

    def most(self, worth: Floats) -> float:
        """Most that choices of such worth get, every sum rounded upward."""
        worth = worth.copy()
        dag_flows.rise_above(self.ends, self.source, self.start, self.allowed, worth)
        return float(worth[0])

    def respond(self, payoffs: Floats) -> tuple[float, Floats]:
        """Best payoff, given that of each sequence, and a pure strategy that has it, (C,)."""
        worth = self.sequences.T @ payoffs
        shares = np.zeros(len(worth))
        shares[self.rise(worth)] = 1.0
        return float(worth[0]), shares

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
        kept[0], met = True, np.zeros(len(self.row), bool)
        used = self.flow(kept.astype(float))[self.source] > 0.0
        met[self.target[used]] = True
        stays = np.append(met, True)[self.owner]
        places, renamed = np.flatnonzero(stays), np.cumsum(stays) - 1
        return BeliefDag(
            self.form,
            self.row[met],
            renamed[self.source[used]],
            (np.cumsum(met) - 1)[self.target[used]],
            self.sequences[:, places],
            np.cumsum(np.append(1, np.diff(self.start)[met])),
            kept[places],
        ), places

    def mixture(self, flow: Floats) -> Iterator[tuple[float, Floats]]:
        """Split a flow into weights, of sum 1, of policies, each by its weights of sequences.

        Above a decision of a row that has others as well, choices are drawn once and for all: so a
        policy comes to one decision of a row at most, and its row can act as that does. Each policy
        takes as much of the flow as it can, so that some choice has nothing left.
        """
        dag, places = self.restricted(flow > 0.0)
        left = flow[places]
        row, is_draw = dag.form.origin[dag.row], dag.row < 0
        waits = is_draw | np.isin(row, np.flatnonzero(np.bincount(row) > 1))
        marks = np.append(waits, False)[dag.owner].astype(float)
        below = marks.copy()
        dag.rise(below)
        counts = np.append(is_draw, True)[dag.owner] | (dag.total(below - marks > 0.0) > 0.0)
        while True:
            shares = dag.normalised(left)
            shares[counts] = 0.0
            shares[dag.likeliest(left)[counts[dag.start[:-1]]]] = 1.0
            one = dag.flow(shares)
            part = np.full(len(left), np.inf)
            np.divide(left, one, out=part, where=counts & (one > 0.0))
            weight = float(part.min())
            if weight <= LEAST_GAIN or left[0] <= weight:
                break
            yield weight, dag.sequences @ one
            left = np.maximum(left - weight * one, 0.0)
            left[part.argmin()] = 0.0
        yield float(left[0]), dag.sequences @ one  # what rounding left


def spanned(form: SequenceForm, strategies: Floats, deadline: Deadline = FOREVER) -> BeliefDag:
    """Build the part of the DAG that some pure strategies (n, R, K) come to.

    Where rows have no order, there is no DAG: then one decision draws one of the strategies, which
    may be policies. So it does where there is no time to build the part.
    """
    if form.inflated.rank is not None:
        with suppress(TooSlowError):
            plans = strategies.argmax(axis=2)[:, form.origin]
            return belief_dag(form, plans, deadline=deadline)
    return drawing(form, strategies)


def drawing(form: SequenceForm, strategies: Floats) -> BeliefDag:
    """Make a DAG of one decision, which draws one of some strategies (n, R, K)."""
    strategies = np.asarray(strategies, np.float64)
    columns = csr_array(np.array([np.zeros(form.size), *map(form.realisation, strategies)]).T)
    begin, allowed = np.zeros(1, np.int64), np.ones(1 + len(strategies), bool)
    return BeliefDag(form, begin - 1, begin, begin, columns, np.array([1, len(allowed)]), allowed)


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
    """Beliefs to which choices lead."""

    choice: Ints  # (B,)
    sizes: Ints  # (B,), members of each
    members: Ints  # refined information sets of one after the other, in rising order
    who: Choices  # (B, n), pure strategies that come there


class _Builder:
    """Takes beliefs in the order of their rows, those of one turn together."""

    def __init__(
        self, form: SequenceForm, plans: Ints | None, most: int, deadline: Deadline
    ) -> None:
        self.form, self.inner = form, form.inflated
        self.most, self.deadline, self.entries = most, deadline, 0
        self.is_whole, self.tree = plans is None, self.inner.tree
        self.plans = np.zeros((0, self.tree.num_rows), np.int64) if plans is None else plans
        self.below, self.turn = _below_and_turns(self.inner, deadline)
        self.waiting: list[list[_Beliefs]] = [[] for _ in range(1 + int(self.turn.max(initial=0)))]
        self.by_sequence = np.argsort(self.inner.before, kind="stable")
        sequences = np.arange(1 + self.inner.size)
        self.starts = np.searchsorted(self.inner.before[self.by_sequence], sequences)
        size = 2, len(self.inner.row)
        self.keys = np.random.default_rng(0).integers(2**63, size=size, dtype=np.uint64)
        self.rows, self.number, self.choices = [np.zeros(0, np.int64)], 0, 1
        self.edges, self.taken = [np.zeros((2, 0), np.int64)], [np.zeros((2, 1), np.int64)]
        self.allowed = [np.ones(1, bool)]

    def dag(self) -> BeliefDag:
        """Build it."""
        begin = self.by_sequence[: self.starts[1]]
        who = np.ones((len(begin), len(self.plans)), bool)
        self.enter(np.zeros(len(begin), np.int64), begin, who)
        for now, beliefs in enumerate(self.waiting):
            while beliefs:  # again, where one belief had two rows of this turn
                met = _Beliefs(*map(np.concatenate, zip(*beliefs, strict=True)))
                beliefs.clear()
                self.decide(now, met)
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
        """Let the beliefs after some choices wait for the turns of their first rows."""
        if not len(refined):
            return
        self.require(int(np.diff(self.below.indptr)[refined].sum()))
        part = _components(choice, self.below[refined])
        order = np.lexsort((refined, part))
        refined = refined[order]
        first = np.flatnonzero(np.diff(part[order], prepend=-1))
        turns = np.minimum.reduceat(self.turn[refined], first)
        sizes = np.diff(first, append=len(refined))
        for now in np.unique(turns).tolist():
            these = turns == now
            heads = order[first[these]]
            members = refined[np.repeat(these, sizes)]
            self.waiting[now].append(_Beliefs(choice[heads], sizes[these], members, who[heads]))

    def require(self, more: int) -> None:
        """Refuse so many entries more than there are, if they are too many or too late."""
        if self.entries + more > self.most:
            raise TooLargeError(f"a belief DAG of more than {self.most:,} entries")
        if not self.deadline.allows(more):
            raise TooSlowError(f"a belief DAG of more than {self.entries:,} entries")

    def decide(self, now: int, met: _Beliefs) -> None:
        """Make a decision of each set of equal beliefs; enter the beliefs after it."""
        first = np.cumsum(met.sizes) - met.sizes
        codes = np.add.reduceat(self.keys[:, met.members], first, axis=1)
        _, same, which = np.unique(codes[0], return_index=True, return_inverse=True)
        if not np.array_equal(codes[1, same[which]], codes[1]):
            raise ArithmeticError("two beliefs have one code")  # by a chance of 2**-63
        self.edges.append(np.stack([met.choice, self.number + which]))
        sizes = met.sizes[same]
        members = met.members[ranges(first[same], sizes)]
        decision = np.repeat(np.arange(len(same)), sizes)
        rows = np.where(self.turn[members] == now, self.inner.row[members], self.tree.num_rows)
        row = np.minimum.reduceat(rows, np.cumsum(sizes) - sizes)
        acts = rows == row[decision]
        counts = self.tree.num_legal[row]
        owner = np.repeat(np.arange(len(row)), counts)
        action = ranges(np.zeros_like(counts), counts)
        able, takes = self.able(row, owner, action, which, met.who)
        many = np.bincount(owner[able], minlength=len(row))
        more = len(met.choice) + int((sizes * many).sum())
        self.require(more)
        self.entries += more
        # Every member by every action: those that act give way to what follows.
        member = np.repeat(np.arange(len(members)), many[decision])
        place = ranges((np.cumsum(many) - many)[decision], many[decision])
        place = np.flatnonzero(able)[place]
        is_act, refined = acts[member], members[member]
        sequence = (self.inner.start[refined] + action[place])[is_act]
        self.taken.append(np.stack([sequence, self.choices + place[is_act]]))
        many = self.starts[sequence + 1] - self.starts[sequence]
        after = self.by_sequence[ranges(self.starts[sequence], many)]
        place = np.append(np.repeat(place[is_act], many), place[~is_act])
        self.enter(self.choices + place, np.append(after, refined[~is_act]), takes[place])
        self.number += len(row)
        self.choices += len(owner)
        self.rows.append(row)
        self.allowed.append(able)

    def able(
        self, row: Ints, owner: Ints, action: Ints, which: Ints, who: Choices
    ) -> tuple[Choices, Choices]:
        """Mark the actions at decisions, (C',), and the pure strategies with each, (C', n)."""
        if self.is_whole:
            return np.ones(len(owner), bool), np.zeros((len(owner), 0), bool)
        comes = np.zeros((len(row), who.shape[1]), bool)
        np.logical_or.at(comes, which, who)
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
    up = np.flatnonzero(np.isin(form.row, form.shared))
    rows, pairs = form.row[up], [np.zeros((2, 0), np.int64)]
    while len(up):
        if not deadline.allows(len(up)):
            raise TooSlowError("a belief DAG of too many rows below others")
        pairs.append(np.unique(np.stack([up, rows]), axis=1))
        up, rows = form.above[pairs[-1][0]], pairs[-1][1]
        up, rows = up[up >= 0], rows[up >= 0]
    places = np.unique(np.concatenate(pairs, axis=1), axis=1)
    shape = len(form.row), form.tree.num_rows
    return csr_array((np.ones(places.shape[1], np.int8), (places[0], places[1])), shape)


def _turns(form: SequenceForm, below: csr_array) -> Ints:
    """Order in which rows are set: by rank, and one after another where they are linked.

    Two rows of one belief may still have one turn, linked by another rank: then one waits.
    """
    assert form.rank is not None  # noqa: S101 - asked before
    rank = form.rank[form.row]
    part = _components(rank, below)
    pairs, which = np.unique(np.stack([part, form.row]), axis=1, return_inverse=True)
    first = np.searchsorted(pairs[0], pairs[0])
    later = np.arange(pairs.shape[1]) - first  # rows of the same part before
    return np.unique(np.stack([rank, later[which]]), axis=1, return_inverse=True)[1]


def _components(group: Ints, below: csr_array) -> Ints:
    """Give the component of each refined information set: of its group, linked by rows below."""
    size, lengths = len(group), np.diff(below.indptr)
    keys = np.repeat(group, lengths) * below.shape[1] + below.indices
    rows, key = np.unique(keys, return_inverse=True)
    nodes = size + len(rows)
    links = np.ones(len(key), np.int8), (np.repeat(np.arange(size), lengths), size + key)
    return connected_components(coo_array(links, (nodes, nodes)), directed=False)[1][:size]


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
    acts = np.zeros((1, form.tree.num_rows), np.int64)
    for row in rows.tolist():
        acts = np.repeat(acts, counts[row], axis=0)
        acts[:, row] = np.arange(len(acts)) % counts[row]
    return drawing(form, one_hot(acts, form.tree.num_actions))


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
