"""Sequence form: information sets refined by the own past of the player; inflation.

Koller, Megiddo and von Stengel, "Efficient computation of equilibria for extensive two-person
games", 1996. A *sequence* is what a player met and did so far. A *refined* information set is a row
and the sequence that led to it: the coarsest refinement of a row with perfect recall.

Inflation splits rows where the player's own actions exclude each other (A. Okada, "Complete
inflation and perfect recall in extensive games", International Journal of Game Theory 16, 1987).
``docs/recall.md`` has the theorem: no pure strategy comes to two parts of a row, so nothing is lost
or won by telling them apart, in mixtures and by best responses.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from heapq import heapify, heappop, heappush
from itertools import chain, zip_longest
from math import inf
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np
from scipy.sparse import csr_array

from hogeq.support.aliases import Floats, Ints
from hogeq.support.deadline import FOREVER, Deadline
from hogeq.support.messages import HogeqError
from hogeq.trees.flat import TERMINAL, FlatTree, reach
from hogeq.trees.teams import side_names

if TYPE_CHECKING:
    from hogeq.kernels.row_search import Plays

LEAST_GAIN: Final = 1e-12  # by which a row must improve a response
INFLATING: Final = 0.5  # share of the time
FORMS: Final = 6  # that are kept: of a game, and of it where either player remembers
CELLS: Final = 10  # of a dense table, which are made in the time of an entry of a sparse one


@dataclass(frozen=True, eq=False)
class SequenceForm:
    """Sequences of one player, S of them: 0 is the empty one, start[j] + a takes action a at j."""

    tree: FlatTree
    player: int
    row: Ints  # (J,), row of every refined information set
    before: Ints  # (J,), sequence that leads to it
    at: Ints  # (N,), sequence at every node, before the player's action there
    first: Ints  # (J,), a shortest node of every refined information set
    refined: Ints  # (N,), refined information set at the player's nodes, -1 elsewhere
    known: dict[str, Any] = field(default_factory=dict, init=False, repr=False)
    """What was found within a limit of time: chains, the inflated form, the belief DAG."""

    def steps(self, sequence: int) -> list[tuple[int, int]]:
        """Rows and actions of a sequence, first to last."""
        steps = []
        while sequence:
            refined = self.owner[sequence]
            steps.append((int(self.row[refined]), int(sequence - self.start[refined])))
            sequence = int(self.before[refined])
        return steps[::-1]

    @cached_property
    def start(self) -> Ints:
        """First sequence of each refined information set; then their number, S, (J + 1,)."""
        return 1 + np.append(0, np.cumsum(self.tree.num_legal[self.row]))

    @property
    def size(self) -> int:
        """Number of sequences, S."""
        return int(self.start[-1])

    @cached_property
    def owner(self) -> Ints:
        """Refined information set at which each sequence ends, -1 for the empty one, (S,)."""
        return np.repeat(np.arange(-1, len(self.row)), np.diff(self.start, prepend=0))

    @cached_property
    def cells(self) -> Ints:
        """Last action of all sequences but the empty one, (S - 1,).

        It is a place in the list of the legal actions of all rows, row by row.
        """
        counts, refined = self.tree.num_legal, self.owner[1:]
        first_place = (np.cumsum(counts) - counts)[self.row]  # (J,), of each one's row
        return (first_place - self.start[:-1])[refined] + np.arange(1, self.size)

    @cached_property
    def above(self) -> Ints:
        """Refined information set at which the sequence before each ends, -1 for none, (J,)."""
        return self.owner[self.before]

    @property
    def ends(self) -> Ints:
        """Each refined information set follows one sequence, (J + 1,), as kernels take it."""
        return np.arange(1 + len(self.row))

    @cached_property
    def levels(self) -> list[Ints]:
        """Refined information sets by the number of own actions before them."""
        depth = np.zeros(len(self.row), np.int64)
        for refined, above in enumerate(self.above.tolist()):  # those before come first
            if above >= 0:
                depth[refined] = depth[above] + 1
        order = np.argsort(depth, kind="stable")
        return np.split(order, np.flatnonzero(np.diff(depth[order])) + 1) if len(order) else []

    @cached_property
    def rank(self) -> Ints | None:
        """Order of rows in plays, (R,); None if two come in either order, or one comes twice."""
        if self.is_absent_minded:
            return None
        rows, later = self.tree.num_rows, np.flatnonzero(self.before)  # after an own action
        pairs = np.unique(self.row[self.above[later]] * rows + self.row[later])  # as one number
        before, after = np.divmod(pairs, rows)
        links = csr_array((np.ones(len(before)), (before, after)), (rows, rows))
        unranked_before = np.bincount(after, minlength=rows)  # rows before each without a rank yet
        ready, rank, number = np.flatnonzero(unranked_before == 0), np.zeros(rows, np.int64), 0
        while len(ready):
            rank[ready] = number
            sizes = links.indptr[ready + 1] - links.indptr[ready]
            following = links.indices[ranges(links.indptr[ready], sizes)]
            np.subtract.at(unranked_before, following, 1)
            ready = np.unique(following[unranked_before[following] == 0])
            number += 1
        return None if unranked_before.any() else rank

    def payoffs(self, joint: Floats) -> Floats:
        """Payoff of each sequence against others' rows, (R, K): a share of the largest, (S,).

        Passes over sequences take such shares and give such, so what they compare has one scale.
        """
        others_reach = reach(self.tree, joint, self.player)
        ends = self.tree.player == TERMINAL
        sign = 1.0 if self.player == 0 else -1.0
        payoffs = sign * others_reach[ends] * self.tree.shares[ends]
        return np.bincount(self.at[ends], payoffs, self.size).astype(np.float64)

    def remember(self, payoffs: Floats) -> tuple[Floats, Ints]:
        """Best payoff after each sequence with perfect recall, (S,), and best actions, (J,)."""
        from hogeq.kernels import dag_flows

        values, best, allowed = payoffs.copy(), self.start[:-1].copy(), np.ones(self.size, bool)
        dag_flows.rise_best(self.ends, self.before, self.start, allowed, values, best)
        return values, best - self.start[:-1]

    def most(self, payoffs: Floats) -> float:
        """Most that a player with perfect recall gets, every sum rounded upward."""
        from hogeq.kernels import dag_flows

        values, allowed = payoffs.copy(), np.ones(self.size, bool)
        dag_flows.rise_above(self.ends, self.before, self.start, allowed, values)
        return float(values[0])

    def realisation(self, strategy: Floats) -> Floats:
        """Probability of every sequence by the own actions of a strategy, (R, K); (S,)."""
        from hogeq.kernels import dag_flows

        chances, first_cells = np.ravel(strategy), self.row * strategy.shape[1]
        weights = np.ones(self.size)
        dag_flows.flow_on(self.ends, self.before, self.start, chances, first_cells, weights)
        return weights

    def pure(self, acts: Ints) -> Floats:
        """Weight of every sequence, 0 or 1, by the actions of a pure strategy, (R,); (S,)."""
        from hogeq.kernels import dag_flows

        chances, weights = np.zeros(self.size), np.ones(self.size)
        chances[self.start[:-1] + acts[self.row]] = 1.0
        dag_flows.flow_on(self.ends, self.before, self.start, chances, self.start, weights)
        return weights

    def by_actions(self, plan: Floats) -> Floats:
        """Sum the weights of a plan over pasts, for each legal action, row by row."""
        weights = np.maximum(plan[1:], 0.0)
        return np.bincount(self.cells, weights, self.tree.num_legal.sum()).astype(np.float64)

    def acts(self, plan: Floats) -> Ints:
        """Give the action of most weight in each row, the first of some that tie, (R,)."""
        first = np.cumsum(self.tree.num_legal) - self.tree.num_legal
        return first_of_most(self.by_actions(plan), first) - first

    def chains_within(self, deadline: Deadline) -> list[Ints] | None:
        """List pasts of one row of which a play meets one at most, until shared rows are covered.

        Let chance and others choose what follows each sequence: of the pasts of a row that can then
        be met the own actions pick one. Chains that meet most pasts not yet covered come first.
        They are found once; None if there is no time for all.
        """
        if "chains" not in self.known:
            by_row = np.argsort(self.row, kind="stable")
            ends = np.searchsorted(self.row[by_row], np.arange(1 + self.tree.num_rows))
            chains: list[Ints] = []
            for row in self.shared.tolist():
                if deadline.is_over:
                    return None
                pasts = by_row[ends[row] : ends[row + 1]].tolist()
                of_row = _chains_of(pasts, self.before, self.above)
                chains += [np.array(sorted(chain)) for chain in of_row]
            self.known["chains"] = chains
        return cast("list[Ints]", self.known["chains"])

    @property
    def inflated(self) -> "SequenceForm":
        """The same sequences, rows split where own actions exclude each other; new ones are last.

        What a pure strategy does with these rows one of the rows before does too. The theorem is
        for players who meet no row twice.
        """
        return self.inflate(FOREVER)

    def inflate(self, deadline: Deadline) -> "SequenceForm":
        """Inflate, once. Rows that there is no time for stay whole: that is slower, not wrong."""
        if "inflated" not in self.known:
            seconds = deadline.left
            inner, is_whole = self._split(deadline)
            inner.known["inflated"] = inner  # no part can be parted again
            self.known["inflated"], self.known["seconds"] = inner, inf if is_whole else seconds
        return cast("SequenceForm", self.known["inflated"])

    def _split(self, deadline: Deadline) -> tuple["SequenceForm", bool]:
        """Split rows, as far as there is time for it; and whether all are done."""
        if self.is_absent_minded or not len(self.shared):
            return self, True
        tree = self.tree
        acts = self.before - self.start[self.above]  # where there is a step before
        parts, is_whole = _parts_of_rows(self.row, self.above, acts, deadline)
        # Part 0 of a row keeps its number; other parts become new rows.
        most_parts = parts.max() + 1
        pairs, part_at = np.unique(self.row * most_parts + parts, return_inverse=True)
        row_of_part, part = np.divmod(pairs, most_parts)
        renamed, new = row_of_part.copy(), np.flatnonzero(part)
        renamed[new] = tree.num_rows + np.arange(len(new))
        origin = np.append(np.arange(tree.num_rows), row_of_part[new])
        row, own = tree.row.copy(), self.refined >= 0
        row[own] = renamed[part_at][self.refined[own]]
        split = replace(
            tree,
            row=row,
            seat=tree.seat[origin],
            num_legal=tree.num_legal[origin],
            names=[tree.names[old] for old in origin.tolist()],
            states=None,
        )
        return replace(self, tree=split, row=renamed[part_at]), is_whole

    @cached_property
    def origin(self) -> Ints:
        """Row that each row after inflation is a part of."""
        origin = np.arange(len(self.inflated.tree.seat))
        origin[self.inflated.row] = self.row
        return origin

    @cached_property
    def plays(self) -> "Plays":
        """Layout of the refined information sets for searches; rows must have an order."""
        from hogeq.kernels.row_search import Plays

        assert self.rank is not None  # noqa: S101 - callers ask
        rows = np.unique(self.row)
        rows = rows[np.argsort(self.rank[rows], kind="stable")]
        place = np.zeros(self.tree.num_rows, np.int64)
        place[rows] = np.arange(len(rows))
        row, follows = place[self.row], np.argsort(self.before, kind="stable")
        return Plays(
            rows=rows,
            row=row,
            before=self.before,
            above=self.above,
            start=self.start,
            members=np.argsort(row, kind="stable"),
            begins=np.searchsorted(np.sort(row), np.arange(1 + len(rows))),
            follows=follows,
            ends=np.searchsorted(self.before[follows], np.arange(1 + self.size)),
            legal=self.tree.num_legal[rows],
        )

    def ascend(self, start: Ints, payoffs: Floats, deadline: Deadline = FOREVER) -> Ints:
        """Improve the actions of rows until none alone can be, or the time is over, (R,).

        The payoff never falls.
        """
        from hogeq.kernels import row_search

        acts = start.copy()
        if self.rank is not None:
            chosen, scratch = acts[self.plays.rows], (np.ones(len(self.row)), payoffs.copy())
            while row_search.ascend(self.plays, payoffs, LEAST_GAIN, chosen, *scratch):
                if deadline.is_over:
                    break
            acts[self.plays.rows] = chosen
        return acts

    def anneal(
        self, payoffs: Floats, drawn: Floats, temperatures: Floats, chosen: Ints, best: Ints
    ) -> None:
        """Walk from a pure strategy, `chosen`, by the numbers drawn, (n, 5); keep the best one met.

        Both are actions of the rows in the order of `plays`, and are changed in place.
        """
        from hogeq.kernels import row_search

        stack = np.zeros(len(self.row) + 1, np.int64)
        row_search.anneal(self.plays, payoffs, drawn, temperatures, chosen, best, stack)

    @cached_property
    def shared(self) -> Ints:
        """Rows that join several refined information sets."""
        return np.flatnonzero(np.bincount(self.row, minlength=self.tree.num_rows) > 1)

    @cached_property
    def visits(self) -> Ints:
        """How often a play has met the row at each refined information set, this time too, (J,)."""
        visits = np.ones(len(self.row), np.int64)
        # A row that is met again joins two pasts; of the others there may be very deep ones.
        refined = np.flatnonzero(np.isin(self.row, self.shared))
        earlier = self.above[refined]  # of each that has one, further and further up
        while len(refined):
            refined, earlier = refined[earlier >= 0], earlier[earlier >= 0]
            visits[refined] += self.row[earlier] == self.row[refined]
            earlier = self.above[earlier]
        return visits

    @property
    def is_absent_minded(self) -> bool:
        """Whether a row can be met twice in a play: then the payoff is not linear in it."""
        return bool(self.visits.max(initial=1) > 1)

    def require_once(self) -> None:
        """Refuse absent-mindedness."""
        if self.is_absent_minded:
            side = side_names(self.tree.sides)[self.player]
            raise HogeqError(
                f"{self.tree.name}: {side} can meet an information set twice in a play;"
                " allowed: games without absent-mindedness"
            )


@lru_cache(maxsize=FORMS)
def sequence_form(tree: FlatTree, player: int) -> SequenceForm:
    """List the sequences of a player, once."""
    return replace(_listed(tree, player))


@lru_cache(maxsize=FORMS)
def _listed(tree: FlatTree, player: int) -> SequenceForm:
    """List refined information sets level by level, in the order of their first nodes."""
    at, refined = np.zeros(tree.num_nodes, np.int64), np.full(tree.num_nodes, -1)
    numbers: dict[int, int] = {}  # by the sequence before and the row, as one number
    first, action = [np.zeros(0, np.int64)], tree.action
    start = np.ones(1 + np.count_nonzero(tree.player == player), np.int64)  # as in the form
    for level in tree.levels:
        nodes = np.arange(level.start, level.stop)
        parent = np.maximum(tree.parent[nodes], 0)
        followed = start[refined[parent]] + action[nodes]
        at[nodes] = np.where(tree.mover[nodes] == player, followed, at[parent])
        own = nodes[tree.player[nodes] == player]
        pairs = at[own] * tree.num_rows + tree.row[own]
        distinct, places, pair_of_node = np.unique(pairs, return_index=True, return_inverse=True)
        order, begun = np.argsort(places), len(numbers)  # in the order of nodes
        number_of_pair = np.empty(len(distinct), np.int64)
        number_of_pair[order] = [
            numbers.setdefault(pair, len(numbers)) for pair in distinct[order].tolist()
        ]
        new = own[places[order[number_of_pair[order] >= begun]]]
        after = np.cumsum(tree.num_legal[tree.row[new]])
        start[begun + 1 : len(numbers) + 1] = start[begun] + after
        first.append(new)
        refined[own] = number_of_pair[pair_of_node]
    befores, rows = np.divmod(np.array([*numbers], np.int64), tree.num_rows)
    return SequenceForm(tree, player, rows, befores, at, np.concatenate(first), refined)


def inflated_forms(tree: FlatTree, deadline: Deadline) -> tuple[SequenceForm, SequenceForm]:
    """Give the forms of both players, inflated; anew where an earlier deadline cut that short.

    Unless this one gives no more time.
    """
    forms = [sequence_form(tree, player) for player in (0, 1)]
    patience = INFLATING * deadline.left / 2.0
    if any(form.known.get("seconds", inf) < patience for form in forms):
        sequence_form.cache_clear()
        forms = [sequence_form(tree, player) for player in (0, 1)]
    for player, form in enumerate(forms):
        form.inflate(deadline.share(INFLATING / (2 - player)))
    return forms[0], forms[1]


def ranges(starts: Ints, sizes: Ints) -> Ints:
    """Whole numbers from each start on, so many of each, one range after the other."""
    shifts = np.repeat(starts - np.cumsum(sizes) + sizes, sizes)
    return np.arange(len(shifts)) + shifts


def first_of_most(values: Floats, starts: Ints) -> Ints:
    """Place of the first largest value from each start to before the next."""
    most = np.repeat(np.maximum.reduceat(values, starts), np.diff(starts, append=len(values)))
    places = np.flatnonzero(values == most)
    return places[np.searchsorted(places, starts)]


def _chains_of(pasts: Sequence[int], before: Ints, above: Ints) -> list[list[int]]:
    """List the chains of the pasts of one row, those of most pasts first.

    `before` and `above` are those of the form. Goes up from the last past, through those before
    them alone. Others choose what follows a sequence: its chains are those of all that follows. At
    a past there is a choice of actions: the first chains of each join, then the second, and so on.
    """
    # By sequence, with keys to sort by: fewer pasts, and the past at which the chain was joined.
    followed: dict[int, list[tuple[int, int, list[int]]]] = defaultdict(list)
    waiting = [-past for past in pasts]  # numbers rise along plays
    heapify(waiting)
    sequences: dict[int, list[int]] = {past: [] for past in pasts}  # that each past begins
    while waiting:
        past = -heappop(waiting)
        each = [sorted(followed.pop(after)) for after in sequences[past]]
        by_action = [[chain_after for *_, chain_after in chains] for chains in each]
        joined = zip_longest(*by_action, fillvalue=[])
        chains = [[*chain.from_iterable(parts)] for parts in joined] or [[past]]
        sequence = int(before[past])
        if sequence and sequence not in followed:
            earlier = int(above[past])
            if earlier not in sequences:
                sequences[earlier] = []
                heappush(waiting, -earlier)
            sequences[earlier].append(sequence)
        followed[sequence] += [(-len(pasts_met), past, pasts_met) for pasts_met in chains]
    return [pasts_met for *_, pasts_met in sorted(followed[0])]


def _parts_of_rows(row: Ints, above: Ints, act: Ints, deadline: Deadline) -> tuple[Ints, bool]:
    """Part the pasts of each row, and number its parts from 0, (J,); and whether there was time.

    Given are the row of each past, the past before it, -1 for none, and the action there.
    """
    parts, is_whole = np.zeros(len(row), np.int64), True
    by_row = np.argsort(row, kind="stable")
    for pasts in np.split(by_row, np.flatnonzero(np.diff(row[by_row])) + 1):
        if len(pasts) > 1:
            if deadline.is_over:
                return parts, False
            places, met_rows, acts = _earlier_steps(pasts, row, above, act)
            rows, columns = np.unique(met_rows, return_inverse=True)
            if not deadline.allows(len(pasts) * len(rows) / CELLS):
                is_whole = False
                continue
            table = np.full((len(pasts), len(rows)), -1)  # actions at the rows met before
            table[places, columns] = acts
            for number, part in enumerate(_inseparable(table, deadline)):
                parts[pasts[part]] = number
    return parts, is_whole and not deadline.is_over


def _earlier_steps(pasts: Ints, row: Ints, above: Ints, act: Ints) -> tuple[Ints, Ints, Ints]:
    """List the steps before each past: the past's place, the row met, and the action there."""
    places, current = np.arange(len(pasts)), pasts
    steps = []
    while len(places):
        has_earlier = above[current] >= 0
        places, current = places[has_earlier], current[has_earlier]
        steps.append((places, row[above[current]], act[current]))
        current = above[current]
    place, met_row, action = map(np.concatenate, zip(*steps, strict=True))
    return place, met_row, action


def _inseparable(acts: Ints, deadline: Deadline) -> Iterator[Ints]:
    """Part the pasts of one row, of actions at rows met before, (n, M), -1 at those not met.

    Two pasts exclude each other if a row was met in both, and the actions there differ. A part is a
    component of the graph of those that do not. When the time is over, what is left is one.
    """
    waiting = [np.arange(len(acts))]
    while waiting:
        group = waiting.pop()
        if len(group) == 1:
            yield group
            continue
        table = acts[group]
        telling = np.flatnonzero((table >= 0).all(axis=0) & (table != table[0]).any(axis=0))
        if len(telling):  # all met this row, and did not act alike
            order = np.argsort(table[:, telling[0]], kind="stable")
            chosen = table[order, telling[0]]
            waiting += np.split(group[order], np.flatnonzero(np.diff(chosen)) + 1)
            continue
        component, left = [group[:1]], group[1:]
        for neighbours in component:  # grows
            for past in neighbours.tolist():
                both_met = (acts[left] >= 0) & (acts[past] >= 0)
                is_excluded = (both_met & (acts[left] != acts[past])).any(axis=1)
                is_excluded &= not deadline.is_over
                component.append(left[~is_excluded])
                left = left[is_excluded]
                if not len(left):
                    break
        yield np.concatenate(component)
        if len(left):
            waiting.append(left)
