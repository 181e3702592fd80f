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
from hogeq.trees.beliefs import drawing, remembering
from hogeq.trees.columns import Solving
from hogeq.trees.engine import TreeEngine
from hogeq.trees.flat import FlatTree
from hogeq.trees.restricted import Mixed, played, solve_restricted
from hogeq.trees.rows import is_too_wide
from hogeq.trees.sequence_payoffs import against
from hogeq.trees.sequences import sequence_form

KEPT: Final = 120
"""Iterates of a player that a linear program weighs."""

DISTANCE: Final = 5
"""Iterations between two of them, in the first round."""

PASSES: Final = 0.25
"""Time for an iteration of both pools, in that of making an entry of a sparse array a node."""

STALLED: Final = 0.9
"""Share of the distance between the bounds that two rounds must leave less than."""


def mix_iterates(solving: Solving, deadline: Deadline) -> None:
    """Let `solving` learn bounds from mixtures of iterates, until they meet, stall or time is over.

    Nothing is begun where there is no time for the iterations of a first round, or no room for what
    is kept; or where the information sets of a player have no order, in which an iteration takes
    them.
    """
    tree = solving.tree
    forms = [sequence_form(tree, player) for player in (0, 1)]
    rows = KEPT * tree.num_rows + sum(len(form.row) for form in forms)
    has_order = all(form.rank is not None for form in forms)
    has_time = deadline.allows(PASSES * KEPT * DISTANCE * tree.num_nodes)
    if not (has_order and has_time) or is_too_wide(rows, tree.num_actions):
        return
    pools = [_Pool(solving, player) for player in (0, 1)]
    distance, gap = DISTANCE, np.inf
    while not (solving.is_proved or deadline.is_over):
        for pool in pools:
            pool.renew(distance, deadline)
            pool.weigh(deadline)
        last_gap, gap = gap, sum(solving.bounds)
        if np.isinf(gap) or gap > STALLED * last_gap:  # no program was solved, or little gained
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
        """Drop the first third of the iterates, and fill the pool with new ones."""
        self.iterates = self.iterates[len(self.iterates) // 3 :]
        while len(self.iterates) < KEPT:
            for _ in range(distance):
                if deadline.is_over:
                    return
                self.state = self.minimiser.step(self.engine, self.state)
            self.iterates.append(self._current())

    def _current(self) -> Floats:
        """Give the current strategy, (R, K), rows of the tree itself."""
        played, tree = self.engine.tree, self.solving.tree
        legal = played.legal * self.minimiser.current(self.state)
        strategy = normalised(legal, played.uniform())
        rows = tree.uniform()
        rows[tree.seat == self.player] = strategy[played.seat == self.player]
        return rows

    def weigh(self, deadline: Deadline) -> None:
        """Weigh the iterates against the other player; `solving` learns what the mixture allows."""
        if not self.iterates:
            return
        solving, player, other = self.solving, self.player, 1 - self.player
        payoffs = solving.payoffs if player == 0 else csr_array(-solving.payoffs.T)
        dags = (
            drawing(solving.forms[player], np.array(self.iterates)),
            remembering(solving.forms[other]),
        )
        flows = solve_restricted(payoffs, dags, deadline)
        if flows is None:
            return
        own, recalled = (Mixed.of(dag, flow) for dag, flow in zip(dags, flows, strict=True))
        bound, _ = dags[1].respond(against(solving.payoffs, own.plan, other))
        # What the other can play of it who forgets: until its own mixture is weighed.
        rows = played(dags[1].form, recalled.plan)
        others = Mixed.of(drawing(dags[1].form, rows[None]), np.ones(2))
        solving.learn((own, others) if player == 0 else (others, own), other, bound)


def recalling(tree: FlatTree, player: int) -> FlatTree:
    """Make the tree in which a player remembers all that it met and did.

    Its rows are the refined information sets of its sequence form; the other player's are as they
    were, in their order.
    """
    form = sequence_form(tree, player)
    others = np.flatnonzero(tree.seat != player)
    # Rows of player 0 are ahead of those of player 1.
    first_refined, first_other = (0, len(form.row)) if player == 0 else (len(others), 0)
    kept = np.concatenate([form.row, others] if player == 0 else [others, form.row])
    moved = np.full(tree.num_rows + 1, -1)  # the last is of nodes where nobody moves
    moved[others] = first_other + np.arange(len(others))
    row = np.where(form.refined >= 0, form.refined + first_refined, moved[tree.row])
    return replace(
        tree,
        row=row.astype(np.int32),
        seat=tree.seat[kept],
        num_legal=tree.num_legal[kept],
        moves=tree.moves[kept],
        names=[tree.names[one] for one in kept],
        states=None,
    )
