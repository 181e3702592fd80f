"""Equilibrium in mixtures, by double oracle with exact responses.

Under imperfect recall a mixture draws one pure strategy before the game and keeps to it; an
equilibrium among mixtures exists, one among behaviour strategies need not. A player who forgets is
restricted to mixtures of a pool of pure strategies, which grows by best responses (McMahan, Gordon
and Blum, "Planning in the presence of cost functions controlled by an adversary", ICML 2003). A
player with perfect recall needs no pool: the sequence form has all strategies (Koller, Megiddo and
von Stengel 1996).
"""

from time import perf_counter
from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import block_array, csr_array

from hogeq.support.aliases import Floats
from hogeq.trees.exact import MEETING, Opponent, best_response
from hogeq.trees.flat import TERMINAL, FlatTree, reach
from hogeq.trees.sequences import SequenceForm, sequence_form


class Equilibrium(NamedTuple):
    """Mixtures of both players, and where the value of the game lies."""

    lower: float
    """Payoff to player 0 that the first mixture secures, at least."""
    upper: float
    """Payoff to player 0 that the second mixture allows, at most."""
    mixtures: tuple[Opponent, Opponent]
    iterations: int

    @property
    def is_proved(self) -> bool:
        """Whether both bounds meet."""
        return self.upper - self.lower <= MEETING


class Side:
    """Strategies of one player in the restricted game: all, or mixtures of a pool."""

    def __init__(self, form: SequenceForm) -> None:
        self.form = form
        self.forgets = False
        self.pool: list[Floats] = []

    def plans(self) -> csr_array:
        """Realisation weights by what is chosen: of the pool's strategies, or of all sequences."""
        if self.forgets:
            return csr_array(np.array([self.form.realisation(one) for one in self.pool]).T)
        size = 1 + len(self.form.row) * self.form.tree.num_actions
        return csr_array((np.ones(size), (np.arange(size), np.arange(size))))

    def equations(self) -> csr_array:
        """Equations of what is chosen, with (1, 0, 0, ...) on the other side."""
        return csr_array(np.ones((1, len(self.pool)))) if self.forgets else self.form.flow()

    def illegal(self) -> Floats:
        """Mark what cannot be chosen: sequences that end with an action that there is not."""
        if self.forgets:
            return np.zeros(len(self.pool))
        legal = self.form.tree.legal[self.form.row].ravel()
        return np.concatenate([[0.0], 1.0 - legal])

    def mixture(self, chosen: Floats) -> Opponent:
        """Strategies to be drawn from; with perfect recall one strategy that has the weights."""
        if self.forgets:
            weights = np.maximum(chosen, 0.0) / np.maximum(chosen, 0.0).sum()
            played = weights > 0.0
            return Opponent(weights[played], np.array(self.pool)[played])
        return Opponent.alone(self.by_rows(chosen))

    def by_rows(self, plan: Floats) -> Floats:
        """Strategy whose rows average what a plan does in their refined information sets."""
        tree = self.form.tree
        weights = np.zeros((tree.num_rows, tree.num_actions))
        np.add.at(weights, self.form.row, np.maximum(plan[1:], 0.0).reshape(-1, tree.num_actions))
        total = weights.sum(axis=1, keepdims=True)
        return np.where(total > 1e-14, weights / np.maximum(total, 1e-14), tree.uniform())


def sequence_payoffs(first: SequenceForm, second: SequenceForm) -> csr_array:
    """Payoff to player 0 by the sequences of both, chance's probability included."""
    tree = first.tree
    ends = tree.player == TERMINAL
    # Nobody's actions but chance's: every action of player 0 counts 1, and so do those of 1.
    chance = reach(tree, np.ones((tree.num_rows, tree.num_actions)), 0)
    size = [1 + len(form.row) * tree.num_actions for form in (first, second)]
    worth = (chance * tree.payoff)[ends]
    return csr_array((worth, (first.at[ends], second.at[ends])), size)


def solve_restricted(payoffs: csr_array, sides: tuple[Side, Side]) -> tuple[Floats, Floats]:
    """Solve the game in which both choose among what their sides allow."""
    first, second = sides
    worth = first.plans().T @ payoffs @ second.plans()  # chosen by one, chosen by the other
    mine, theirs = first.equations(), second.equations()
    once = [np.concatenate([[1.0], np.zeros(one.shape[0] - 1)]) for one in (mine, theirs)]
    # Maximise the least payoff, written by its dual: `theirs` transposed times q is at most worth.
    blocked = np.where(second.illegal() > 0.0, np.inf, 0.0)
    upper = block_array([[-worth.T, theirs.T]]).tocsr()
    upper = upper[blocked == 0.0]
    answer = linprog(
        np.concatenate([np.zeros(mine.shape[1]), -once[1]]),
        A_ub=upper,
        b_ub=np.zeros(upper.shape[0]),
        A_eq=block_array([[mine, csr_array((mine.shape[0], theirs.shape[0]))]]),
        b_eq=once[0],
        bounds=[(0.0, 0.0 if no else None) for no in first.illegal()]
        + [(None, None)] * theirs.shape[0],
        method="highs",
    )
    chosen = np.zeros(len(blocked))
    chosen[blocked == 0.0] = -answer.ineqlin.marginals
    return answer.x[: mine.shape[1]], chosen


def equilibrium(tree: FlatTree, seconds: float) -> Equilibrium:
    """Solve a game in mixtures; when the time is over, the bounds reached so far are given."""
    end = perf_counter() + seconds
    sides = (Side(sequence_form(tree, 0)), Side(sequence_form(tree, 1)))
    payoffs = sequence_payoffs(sides[0].form, sides[1].form)
    bounds = [np.inf, np.inf]  # what each player's opponent allows, to that player
    # Pools begin with what both would do if they forgot nothing, as far as rows can say it.
    plans = solve_restricted(payoffs, sides)
    for side, plan in zip(sides, plans, strict=True):
        side.pool.append(side.by_rows(plan))
        side.forgets = bool(len(side.form.shared))
    best = [Opponent.alone(side.pool[0]) for side in sides]
    iterations = 0
    while True:
        iterations += 1
        chosen = solve_restricted(payoffs, sides)
        mixtures = [side.mixture(one) for side, one in zip(sides, chosen, strict=True)]
        gains = []
        for player, side in enumerate(sides):
            left = max(end - perf_counter(), 0.0) / (2 - player)
            worth = mixtures[1 - player].sequence_payoffs(side.form)
            answer = best_response(side.form, worth, left)
            if answer.bound < bounds[player]:
                bounds[player], best[1 - player] = answer.bound, mixtures[1 - player]
            mine = zip(*mixtures[player], strict=True)
            value = sum(weight * (side.form.realisation(one) @ worth) for weight, one in mine)
            gains.append(answer.payoff - value)
            if side.forgets and gains[-1] > MEETING:
                side.pool.append(answer.strategy)
        lower, upper = -bounds[1], bounds[0]
        if upper - lower <= MEETING or max(gains) <= MEETING or perf_counter() >= end:
            return Equilibrium(lower, upper, (best[0], best[1]), iterations)
