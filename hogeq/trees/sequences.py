"""Sequence form: information sets refined by the own past of the player; inflation.

Koller, Megiddo and von Stengel, "Efficient computation of equilibria for extensive two-person
games", 1996. A *sequence* is what a player met and did so far. A *refined* information set is a row
and the sequence that led to it: the coarsest refinement of a row with perfect recall.

Inflation splits rows where the player's own actions exclude each other (A. Okada, "Complete
inflation and perfect recall in extensive games", International Journal of Game Theory 16, 1987).
``docs/recall.md`` has the theorem: no pure strategy comes to two parts of a row, so nothing is lost
or won by telling them apart, in mixtures and by best responses.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from math import inf
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from hogeq.graph.levels import longest_paths
from hogeq.support.aliases import Floats, Ints
from hogeq.support.deadline import FOREVER, Deadline
from hogeq.support.messages import HogeqError
from hogeq.trees.flat import TERMINAL, FlatTree, reach
from hogeq.trees.inflation import chains_of, split_rows
from hogeq.trees.packed import first_entries, first_maximum, offsets
from hogeq.trees.passes import is_deep
from hogeq.trees.teams import side_names

if TYPE_CHECKING:
    from hogeq.kernels.dag_flows import Dag
    from hogeq.kernels.row_search import Treeplex

LEAST_GAIN: Final = 1e-12  # by which a change of a row must improve a response
INFLATION_SHARE: Final = 0.5  # share of the time for inflation
FORMS_CACHED: Final = 6  # in the cache: of a game, and of it where either player remembers


@dataclass(frozen=True, eq=False)
class SequenceForm:
    """Sequences of one player, S of them, and its refined information sets, J of them.

    Sequence 0 is the empty one; ``sequence_offsets[j] + a`` takes action a at refined information
    set j.
    """

    tree: FlatTree
    player: int
    row_of_refined: Ints  # (J,), row of every refined information set
    parent_sequence: Ints  # (J,), sequence that leads to it
    sequence_of_node: Ints  # (N,), sequence at every node, before the player's action there
    first_node: Ints  # (J,), a shortest node of every refined information set
    refined_of_node: Ints  # (N,), refined information set at the player's nodes, -1 elsewhere
    cache: dict[str, Any] = field(default_factory=dict, init=False, repr=False)
    """Results that take time: chains, the inflated form, the belief DAG."""

    def steps(self, sequence: int) -> list[tuple[int, int]]:
        """List the rows and actions of a sequence, from the first to the last."""
        steps = []
        while sequence:  # 0 is the empty sequence
            refined = self.refined_of_sequence[sequence]
            row = self.row_of_refined[refined]
            action = self.action_of_sequence[sequence]
            steps.append((int(row), int(action)))
            sequence = int(self.parent_sequence[refined])
        return steps[::-1]

    @cached_property
    def sequence_offsets(self) -> Ints:
        """First sequence of each refined information set; then their number, S, (J + 1,)."""
        return 1 + offsets(self.tree.num_legal[self.row_of_refined])  # after the empty sequence

    @property
    def num_sequences(self) -> int:
        """Number of sequences, S."""
        return int(self.sequence_offsets[-1])

    @property
    def num_refined(self) -> int:
        """Number of refined information sets, J."""
        return len(self.row_of_refined)

    @cached_property
    def refined_of_sequence(self) -> Ints:
        """Refined information set at which each sequence ends, -1 for the empty one, (S,)."""
        num_sequences = np.diff(self.sequence_offsets, prepend=0)  # the empty one, of each
        return np.repeat(np.arange(-1, self.num_refined), num_sequences)

    @cached_property
    def action_of_sequence(self) -> Ints:
        """Last action of each sequence, (S,); below 0 for the empty one, which has none."""
        return np.arange(self.num_sequences) - self.sequence_offsets[self.refined_of_sequence]

    @cached_property
    def legal_action_of_sequence(self) -> Ints:
        """Last action of all sequences but the empty one, (S - 1,).

        It is an index into the list of the legal actions of all rows, row by row.
        """
        row = self.row_of_refined[self.refined_of_sequence[1:]]
        return first_entries(self.tree.num_legal)[row] + self.action_of_sequence[1:]

    @cached_property
    def parent_refined(self) -> Ints:
        """Refined information set at which the sequence before each ends, -1 for none, (J,)."""
        return self.refined_of_sequence[self.parent_sequence]

    @cached_property
    def kernel_dag(self) -> "Dag":
        """The form as a DAG: a refined information set is a decision, with one edge into it."""
        from hogeq.kernels.dag_flows import Dag

        edge_offsets = np.arange(1 + self.num_refined)
        return Dag(edge_offsets, self.parent_sequence, self.sequence_offsets)

    @cached_property
    def refined_by_depth(self) -> list[Ints]:
        """Refined information sets by the number of own actions before them, the fewest first."""
        depth = np.zeros(self.num_refined, np.int64)
        for refined, parent in enumerate(self.parent_refined.tolist()):  # the parent comes before
            if parent >= 0:
                depth[refined] = depth[parent] + 1
        order = np.argsort(depth, kind="stable")
        return np.split(order, np.flatnonzero(np.diff(depth[order])) + 1) if len(order) else []

    @cached_property
    def rank_of_row(self) -> Ints | None:
        """Order of rows in plays, (R,); None if two come in either order, or one comes twice.

        The rank of a row is the largest number of rows that can come before it, one by one.
        """
        if self.is_absent_minded:
            return None
        later = np.flatnonzero(self.parent_sequence)  # after an own action
        row_before = self.row_of_refined[self.parent_refined[later]]
        return longest_paths(self.tree.num_rows, row_before, self.row_of_refined[later])

    @property
    def has_row_order(self) -> bool:
        """Whether rows have an order that all plays keep: `rank_of_row`."""
        return self.rank_of_row is not None

    def payoffs_against(self, joint: Floats) -> Floats:
        """Sum the payoffs of plays by their last own sequence, (S,), as shares of the largest.

        Each is weighed by the reach of chance and the other player, whose rows `joint`, (R, K),
        holds; own rows are not used.
        """
        others_reach = reach(self.tree, joint, self.player)
        ends = self.tree.player == TERMINAL
        sign = 1.0 if self.player == 0 else -1.0
        payoffs = sign * others_reach[ends] * self.tree.payoff_shares[ends]
        sums = np.bincount(self.sequence_of_node[ends], payoffs, self.num_sequences)
        return sums.astype(np.float64)

    def perfect_recall_values(self, payoffs: Floats) -> tuple[Floats, Ints]:
        """Compute by backward induction the best payoff after each sequence with perfect recall.

        `payoffs`, (S,), are those of sequences. Returns the best payoffs, (S,), and the best
        action at each refined information set, (J,).
        """
        from hogeq.kernels import dag_flows

        values = payoffs.copy()
        allowed = np.ones(self.num_sequences, bool)
        best_sequences = self.sequence_offsets[:-1].copy()  # filled in place, and so are values
        dag_flows.rise_best(self.kernel_dag, allowed, values, best_sequences)
        return values, best_sequences - self.sequence_offsets[:-1]

    def upper_bound(self, payoffs: Floats) -> float:
        """Bound the payoff of a best response with perfect recall from above: sums round up."""
        from hogeq.kernels import dag_flows

        values = payoffs.copy()
        allowed = np.ones(self.num_sequences, bool)
        dag_flows.rise_above(self.kernel_dag, allowed, values)
        return float(values[0])

    def realisation(self, strategy: Floats) -> Floats:
        """Compute the realisation plan, (S,), of a strategy, (R, K).

        The weight of a sequence is the product of the probabilities of its own actions.
        """
        from hogeq.kernels import dag_flows

        first_cells = self.row_of_refined * strategy.shape[1]  # in the flat strategy
        weights = np.ones(self.num_sequences)
        dag_flows.flow_on(self.kernel_dag, np.ravel(strategy), first_cells, weights)
        return weights

    def pure_realisation(self, acts: Ints) -> Floats:
        """Compute the realisation plan, (S,) of zeros and ones, of a pure strategy, (R,)."""
        from hogeq.kernels import dag_flows

        probabilities = np.zeros(self.num_sequences)
        weights = np.ones(self.num_sequences)
        probabilities[self.sequence_offsets[:-1] + acts[self.row_of_refined]] = 1.0
        dag_flows.flow_on(self.kernel_dag, probabilities, self.sequence_offsets, weights)
        return weights

    def action_weights(self, plan: Floats) -> Floats:
        """Sum a realisation plan, (S,), over the pasts of rows: one sum for each legal action.

        Sums are in one array, row by row.
        """
        weights = np.maximum(plan[1:], 0.0)
        num_legal_actions = self.tree.num_legal.sum()
        sums = np.bincount(self.legal_action_of_sequence, weights, num_legal_actions)
        return sums.astype(np.float64)

    def likeliest_actions(self, plan: Floats) -> Ints:
        """Choose in each row the action of most weight in a plan, (S,), the first of ties: (R,)."""
        first = first_entries(self.tree.num_legal)  # legal action of each row
        return first_maximum(self.action_weights(plan), first) - first

    def chains_within(self, deadline: Deadline) -> list[Ints] | None:
        """List the chains of all shared rows: pasts of a row of which a play meets one at most.

        A past is a refined information set: a row after one sequence of own actions. Fix what
        chance and others do after each sequence: of the pasts of a row that can then be met, the
        own actions pick one. They are such a chain. Chains of most pasts come first. The result is
        cached; it is None if there is no time for all rows.
        """
        if "chains" not in self.cache:
            refined_by_row = np.argsort(self.row_of_refined, kind="stable")
            row_offsets = offsets(np.bincount(self.row_of_refined, minlength=self.tree.num_rows))
            chains: list[Ints] = []
            for row in self.shared_rows.tolist():
                if deadline.is_over:
                    return None
                pasts = refined_by_row[row_offsets[row] : row_offsets[row + 1]].tolist()
                row_chains = chains_of(pasts, self.parent_sequence, self.parent_refined, deadline)
                if row_chains is None:
                    return None
                chains += [np.array(sorted(chain)) for chain in row_chains]
            self.cache["chains"] = chains
        return cast("list[Ints]", self.cache["chains"])

    @property
    def inflated(self) -> "SequenceForm":
        """The same sequences, rows split where own actions exclude each other; new ones are last.

        What a pure strategy does with these rows one of the rows before does too. The theorem is
        for players who meet no row twice.
        """
        return self.inflate(FOREVER)

    def inflate(self, deadline: Deadline) -> "SequenceForm":
        """Split rows whose pasts exclude each other by own actions (Okada 1987); cached.

        Rows that there is no time for are not split: slower, but not wrong.
        """
        if "inflated" not in self.cache:
            seconds = deadline.left
            inflated, is_complete = self._split(deadline)
            inflated.cache["inflated"] = inflated  # its rows cannot be split further
            self.cache["inflated"] = inflated
            # Time that it had: `inflated_forms` inflates again if there is more.
            self.cache["seconds"] = inf if is_complete else seconds
        return cast("SequenceForm", self.cache["inflated"])

    def _split(self, deadline: Deadline) -> tuple["SequenceForm", bool]:
        """Split rows whose pasts exclude each other; return also whether there was time for all.

        Inflation: a row is an information set, a past (refined information set) a row after one
        sequence of own actions. Two exclude each other if own actions lead to one of them at most.
        """
        if self.is_absent_minded or not len(self.shared_rows):
            return self, True
        tree = self.tree
        # Last own action before each past; below 0 if there is none.
        acts = self.action_of_sequence[self.parent_sequence]
        rows = self.row_of_refined
        parts, is_complete = split_rows(rows, self.parent_refined, acts, deadline)
        # Part 0 of a row keeps its number; other parts become new rows.
        num_parts = parts.max() + 1
        pairs, pair_of_refined = np.unique(rows * num_parts + parts, return_inverse=True)
        old_row, part = np.divmod(pairs, num_parts)
        new_row = old_row.copy()
        added = np.flatnonzero(part)
        new_row[added] = tree.num_rows + np.arange(len(added))
        new_row_of_refined = new_row[pair_of_refined]
        origin = np.append(np.arange(tree.num_rows), old_row[added])
        row_of_node = tree.row.copy()
        is_own = self.refined_of_node >= 0
        row_of_node[is_own] = new_row_of_refined[self.refined_of_node[is_own]]
        split = replace(
            tree,
            row=row_of_node,
            seat=tree.seat[origin],
            num_legal=tree.num_legal[origin],
            action_numbers=np.append(tree.action_numbers, tree.actions_of(old_row[added])),
            names=[tree.names[old] for old in origin.tolist()],
            states=None,
        )
        return replace(self, tree=split, row_of_refined=new_row_of_refined), is_complete

    @cached_property
    def original_row(self) -> Ints:
        """Row that each row after inflation is a part of."""
        origin = np.arange(len(self.inflated.tree.seat))
        origin[self.inflated.row_of_refined] = self.row_of_refined
        return origin

    @cached_property
    def treeplex(self) -> "Treeplex":
        """Arrays for the kernels that search over rows, information sets; these must have an order.

        A refined information set is a row after one sequence of own actions.
        """
        from hogeq.kernels.row_search import Treeplex

        assert self.rank_of_row is not None  # noqa: S101 - callers ask
        rows = np.unique(self.row_of_refined)
        rows = rows[np.argsort(self.rank_of_row[rows], kind="stable")]  # in the order of plays
        index_in_order = np.zeros(self.tree.num_rows, np.int64)  # by row
        index_in_order[rows] = np.arange(len(rows))
        row_of_refined = index_in_order[self.row_of_refined]
        return Treeplex(
            policy_row=rows,
            num_legal=self.tree.num_legal[rows],
            row_of_refined=row_of_refined,
            parent_sequence=self.parent_sequence,
            parent_refined=self.parent_refined,
            first_sequence=self.sequence_offsets,
            refined_by_row=np.argsort(row_of_refined, kind="stable"),
            row_offsets=offsets(np.bincount(row_of_refined, minlength=len(rows))),
            refined_by_parent=np.argsort(self.parent_sequence, kind="stable"),
            child_offsets=offsets(np.bincount(self.parent_sequence, minlength=self.num_sequences)),
        )

    def ascend(self, start: Ints, payoffs: Floats, deadline: Deadline = FOREVER) -> Ints:
        """Improve a pure strategy, one row at a time, to a local maximum of the player's payoff.

        `start` and the result have an action for each row, (R,); `payoffs`, (S,), are those that
        follow each of the player's sequences, against a fixed opponent. Stops early when the time
        is over; does nothing if rows have no order in plays.
        """
        from hogeq.kernels import row_search

        acts = start.copy()
        if self.has_row_order:
            chosen = acts[self.treeplex.policy_row]
            weights = np.ones(self.num_refined)  # scratch space, as are the values
            values = payoffs.copy()
            # A pass improves `chosen` in place; it returns whether a row has changed.
            while row_search.ascend(self.treeplex, payoffs, LEAST_GAIN, chosen, weights, values):
                if deadline.is_over:
                    break
            acts[self.treeplex.policy_row] = chosen
        return acts

    def anneal(
        self, payoffs: Floats, drawn: Floats, temperatures: Floats, chosen: Ints, best: Ints
    ) -> None:
        """Anneal: walk at random from the pure strategy `chosen`, and store the best one in `best`.

        Both hold actions of the rows, in the order of `treeplex`, and are changed in place.
        `drawn`, (n, 5), are random numbers for n steps, `temperatures`, (2,), the first and the
        last one.
        """
        from hogeq.kernels import row_search

        stack = np.zeros(self.num_refined + 1, np.int64)
        row_search.anneal(self.treeplex, payoffs, drawn, temperatures, chosen, best, stack)

    @cached_property
    def shared_rows(self) -> Ints:
        """Rows that join several refined information sets."""
        return np.flatnonzero(np.bincount(self.row_of_refined, minlength=self.tree.num_rows) > 1)

    @cached_property
    def visits(self) -> Ints:
        """Visits of a play to the row of each refined information set, up to this one, (J,).

        A refined one is a row (information set) after one sequence of own actions.
        """
        visits = np.ones(self.num_refined, np.int64)
        if is_deep(self.tree) and len(self.shared_rows):
            from hogeq.kernels import node_passes

            num_met = np.zeros(self.tree.num_rows, np.int64)
            child = np.full(self.num_refined + 1, -1)
            scratch = num_met, child, child[1:].copy()
            node_passes.count_visits(self.parent_refined, self.row_of_refined, scratch, visits)
            return visits
        # A row that is met again joins two pasts. From all of such rows at once, go up to the one
        # before, and so on.
        refined = np.flatnonzero(np.isin(self.row_of_refined, self.shared_rows))
        earlier = self.parent_refined[refined]
        while len(refined):
            has_earlier = earlier >= 0
            refined = refined[has_earlier]
            earlier = earlier[has_earlier]
            visits[refined] += self.row_of_refined[earlier] == self.row_of_refined[refined]
            earlier = self.parent_refined[earlier]
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


@lru_cache(maxsize=FORMS_CACHED)
def sequence_form(tree: FlatTree, player: int) -> SequenceForm:
    """List the sequences of a player, once."""
    return replace(_list_sequences(tree, player))


@lru_cache(maxsize=FORMS_CACHED)
def _list_sequences(tree: FlatTree, player: int) -> SequenceForm:
    """Build the sequence form of a player in one pass over the levels of the tree.

    Refined information sets are numbered level by level, in the order of their first nodes.
    """
    if is_deep(tree):
        return _list_sequences_of_deep_tree(tree, player)
    sequence_of_node = np.zeros(tree.num_nodes, np.int64)
    refined_of_node = np.full(tree.num_nodes, -1)
    numbers: dict[int, int] = {}  # of refined information sets, by parent sequence * R + row
    first_nodes = [np.zeros(0, np.int64)]  # of refined information sets
    action = tree.action
    # As in the form, with room for one refined information set at each node.
    sequence_offsets = np.ones(1 + np.count_nonzero(tree.player == player), np.int64)
    for level in tree.levels:
        nodes = np.arange(level.start, level.stop)
        parent = np.maximum(tree.parent[nodes], 0)
        longer_sequence = sequence_offsets[refined_of_node[parent]] + action[nodes]
        is_after_own = tree.mover[nodes] == player
        sequence_of_node[nodes] = np.where(is_after_own, longer_sequence, sequence_of_node[parent])
        own = nodes[tree.player[nodes] == player]
        num_before = len(numbers)
        refined, new = _number_pairs(sequence_of_node[own] * tree.num_rows + tree.row[own], numbers)
        refined_of_node[own] = refined
        first_nodes.append(own[new])
        num_new_sequences = np.cumsum(tree.num_legal[tree.row[own[new]]])
        new_offsets = sequence_offsets[num_before] + num_new_sequences
        sequence_offsets[num_before + 1 : len(numbers) + 1] = new_offsets
    parent_sequence, rows = np.divmod(np.array([*numbers], np.int64), tree.num_rows)
    first_node = np.concatenate(first_nodes)
    of_refined_and_nodes = rows, parent_sequence, sequence_of_node, first_node, refined_of_node
    return SequenceForm(tree, player, *of_refined_and_nodes)


def _list_sequences_of_deep_tree(tree: FlatTree, player: int) -> SequenceForm:
    """Build the same sequence form in one pass over the nodes of the tree, compiled."""
    from hogeq.kernels import node_passes

    own_row = np.where(tree.player == player, tree.row, -1)
    num_own = int(np.count_nonzero(own_row >= 0))
    sequence_of_node = np.zeros(tree.num_nodes, np.int64)
    refined_of_node = np.zeros(tree.num_nodes, np.int64)
    sequence_offsets = np.ones(1 + num_own, np.int64)
    first_node = np.zeros(num_own, np.int64)
    num_refined = node_passes.list_sequences(
        (tree.parent, tree.action, own_row),
        tree.num_legal,
        np.full(2 ** (2 * num_own + 1).bit_length(), -1),
        sequence_of_node,
        refined_of_node,
        sequence_offsets,
        first_node,
    )
    first_node = first_node[:num_refined]
    rows = tree.row[first_node].astype(np.int64)
    parent_sequence = sequence_of_node[first_node]
    of_refined_and_nodes = rows, parent_sequence, sequence_of_node, first_node, refined_of_node
    return SequenceForm(tree, player, *of_refined_and_nodes)


def _number_pairs(pairs: Ints, numbers: dict[int, int]) -> tuple[Ints, Ints]:
    """Assign numbers to pairs of a sequence and a row, (n,), each coded as one integer.

    New pairs get the next numbers, in the order in which they come, and are added to `numbers`.
    Returns the number of each pair, (n,), and the index of the first of each new one.
    """
    distinct, first_index, inverse = np.unique(pairs, return_index=True, return_inverse=True)
    order = np.argsort(first_index)
    num_before = len(numbers)
    number_of_pair = np.empty(len(distinct), np.int64)
    number_of_pair[order] = [
        numbers.setdefault(pair, len(numbers)) for pair in distinct[order].tolist()
    ]
    is_new = number_of_pair[order] >= num_before
    return number_of_pair[inverse], first_index[order[is_new]]


def inflated_forms(tree: FlatTree, deadline: Deadline) -> tuple[SequenceForm, SequenceForm]:
    """Inflate the sequence forms of both players, each within its share of the time.

    Forms whose inflation an earlier deadline cut short are inflated anew if there is more time now.
    """
    forms = [sequence_form(tree, player) for player in (0, 1)]
    seconds_for_each = INFLATION_SHARE * deadline.left / 2.0
    if any(form.cache.get("seconds", inf) < seconds_for_each for form in forms):
        sequence_form.cache_clear()
        forms = [sequence_form(tree, player) for player in (0, 1)]
    for player, form in enumerate(forms):
        form.inflate(deadline.share(INFLATION_SHARE / (2 - player)))
    return forms[0], forms[1]
