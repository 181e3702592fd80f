"""Mixtures of iterates of CFR+, for game trees whose belief DAGs are too large to be built.

Method
------
For each player in turn:

1. Run CFR+ in the game in which the other player remembers all that it met and did. Where the
   player itself forgets no theorem says that its regrets vanish; what follows needs none.
2. Keep some iterates at even distances.
3. The player draws one of them. Against that the other, who remembers, has its sequence form, and a
   linear program weighs the iterates (Koller, Megiddo and von Stengel 1996).
4. A best response of the other, exact in its sequence form, bounds what the mixture allows. Who
   forgets gets no more than who remembers.
5. Keep the last two thirds, and go on with twice the distance, until bounds meet or stall.

An iteration of CFR+ takes two passes over the tree. The program has a row for each sequence of the
other player, and a column for each of its information sets and each iterate.
"""

from dataclasses import replace
from typing import Final

import numpy as np
from scipy.sparse import csr_array

from hogeq.solvers.regret import CFRPlus
from hogeq.strategies.arrays import normalised
from hogeq.support.aliases import Floats
from hogeq.support.deadline import Deadline
from hogeq.trees.beliefs import mixture_dag, recall_dag
from hogeq.trees.columns import Solving
from hogeq.trees.engine import TreeEngine
from hogeq.trees.flat import FlatTree
from hogeq.trees.restricted import solve_restricted
from hogeq.trees.rows import is_too_wide
from hogeq.trees.sequence_payoffs import payoffs_against
from hogeq.trees.sequences import sequence_form

MOST_ITERATES: Final = 120
"""Iterates of a player that a linear program weighs."""

FIRST_DISTANCE: Final = 5
"""Iterations of CFR+ between two iterates, in the first round."""

PASS_EFFORT: Final = 0.25
"""Time for an iteration of both pools, in that of making an entry of a sparse array a node."""

LARGEST_GAP_RATIO: Final = 0.9
"""A round must lower the distance between the bounds to this share of it, or it is the last."""


def mix_iterates(solving: Solving, deadline: Deadline) -> None:
    """Bound the value of a game by mixtures of iterates of CFR+, and let `solving` learn them.

    1. Fill a pool of iterates for each player, at even distances, in a game in which the other
       player remembers everything.
    2. Weigh them by a linear program; the other player's best response is a bound.
    3. Repeat with a part of the iterates, at twice the distance, until the bounds meet or stall, or
       the time is over.

    It does not begin without time for a first round or without room for the iterates; nor if the
    information sets of a player have no order of play, which an iteration needs.
    """
    tree = solving.tree
    forms = [sequence_form(tree, player) for player in (0, 1)]
    rows_stored = MOST_ITERATES * tree.num_rows + sum(form.num_refined for form in forms)
    has_order = all(form.has_row_order for form in forms)
    has_time = deadline.allows(PASS_EFFORT * MOST_ITERATES * FIRST_DISTANCE * tree.num_nodes)
    if not (has_order and has_time) or is_too_wide(rows_stored, tree.num_actions):
        return
    pools = [_Pool(solving, player) for player in (0, 1)]
    distance = FIRST_DISTANCE
    gap = np.inf
    while not (solving.is_proved or deadline.is_over):
        for pool in pools:
            pool.renew(distance, deadline)
            pool.weigh(deadline)
        last_gap = gap
        gap = sum(solving.bounds)
        has_no_bound = np.isinf(gap)  # a linear program was not solved in time
        if has_no_bound or gap > LARGEST_GAP_RATIO * last_gap:
            break
        distance *= 2


class _Pool:
    """Iterates of a player, made in the game in which the other player remembers."""

    def __init__(self, solving: Solving, player: int) -> None:
        self.solving, self.player = solving, player
        self.minimiser = CFRPlus(alternating=True)
        self.engine = TreeEngine(recalling(solving.tree, 1 - player))
        self.state = self.minimiser.init(self.engine)
        self.iterates: list[Floats] = []  # of all rows of the tree, the other's being uniform

    def renew(self, distance: int, deadline: Deadline) -> None:
        """Drop the first third of the iterates, and make new ones until the pool is full."""
        self.iterates = self.iterates[len(self.iterates) // 3 :]
        while len(self.iterates) < MOST_ITERATES:
            for _ in range(distance):
                if deadline.is_over:
                    return
                self.state = self.minimiser.step(self.engine, self.state)
            self.iterates.append(self._current())

    def _current(self) -> Floats:
        """Give the current strategy of the player as a policy (R, K) of the tree itself.

        The rows of the other player, whose information sets differ in the game of CFR+, are
        uniform.
        """
        recalling_tree = self.engine.tree
        tree = self.solving.tree
        probabilities = recalling_tree.legal * self.minimiser.current(self.state)
        strategy = normalised(probabilities, recalling_tree.uniform())
        policy = tree.uniform()
        policy[tree.seat == self.player] = strategy[recalling_tree.seat == self.player]
        return policy

    def weigh(self, deadline: Deadline) -> None:
        """Find an optimal mixture of the iterates, and let `solving` learn the bound that it gives.

        A linear program solves a restricted game: the player draws one of the iterates, and the
        other player, with perfect recall, answers. `solving` gets the equilibrium of it as a pair,
        player 0's strategy first: the mixture of iterates, and the other player's strategy, as a
        policy that it can play though it forgets. The bound that comes with them is on the payoff
        of the other player against the mixture, by an exact best response.
        """
        if not self.iterates:
            return
        solving = self.solving
        player = self.player
        other = 1 - self.player
        payoffs = solving.payoffs if player == 0 else csr_array(-solving.payoffs.T)  # to the player
        own_dag = mixture_dag(solving.forms[player], np.array(self.iterates))  # draws an iterate
        other_dag = recall_dag(solving.forms[other])  # has perfect recall
        mixtures = solve_restricted(payoffs, (own_dag, other_dag), deadline)
        if mixtures is None:
            return
        own_mixture, remembering_mixture = mixtures
        sequence_values = payoffs_against(solving.payoffs, own_mixture.plan, other)
        bound, _ = other_dag.respond(sequence_values)  # value of a best response
        other_policy = remembering_mixture.as_policy()
        by_player = [own_mixture, other_policy] if player == 0 else [other_policy, own_mixture]
        solving.record_bound(by_player, other, bound)


def recalling(tree: FlatTree, player: int) -> FlatTree:
    """Make the tree in which a player has perfect recall: it remembers all that it saw and did.

    Its rows are the refined information sets of its sequence form; the other player's are as they
    were, in their order.
    """
    form = sequence_form(tree, player)
    other_rows = np.flatnonzero(tree.seat != player)
    # Rows of player 0 come before those of player 1. `old_row` has the old row of each new one.
    if player == 0:
        first_refined = 0
        first_other = form.num_refined
        old_row = np.concatenate([form.row_of_refined, other_rows])
    else:
        first_refined = len(other_rows)
        first_other = 0
        old_row = np.concatenate([other_rows, form.row_of_refined])
    # New row of each old row of the other player. The last entry is for nodes where nobody moves,
    # whose row is -1.
    new_row = np.full(tree.num_rows + 1, -1)
    new_row[other_rows] = first_other + np.arange(len(other_rows))
    refined = form.refined_of_node
    row = np.where(refined >= 0, refined + first_refined, new_row[tree.row])
    return replace(
        tree,
        row=row.astype(np.int32),
        seat=tree.seat[old_row],
        num_legal=tree.num_legal[old_row],
        action_numbers=tree.actions_of(old_row),
        names=[tree.names[number] for number in old_row],
        states=None,
    )
