"""Exact evaluation: win rates, values, reach probabilities, beliefs over the hidden memory.

Everything here is a sum over all dice, never a sample.  A strategy is a matrix or a policy; both
are turned into policies, and a matrix costs less because the passes skip rolls that are never made.
Where turns only swap what is remembered, a pair of matrices has a pass of its own.
"""

from functools import lru_cache
from threading import get_ident
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from hogeq.game import Game
from hogeq.kernels import passes
from hogeq.kernels.duel import can_duel
from hogeq.strategy import as_policy, check_matrix, check_policy
from hogeq.workspace import Duels, WinRate, Workspace

Floats = NDArray[np.float64]
RegretWeight = Literal["reach", "counterfactual", "belief"]


def shared_workspace(game: Game, players: int, dtype: DTypeLike = np.float64) -> Workspace:
    """Workspace that calls in one thread share; what it holds lasts until its next use."""
    return _kept_workspace(game, players, np.dtype(dtype), get_ident())


def quick_workspace(game: Game, players: int) -> Workspace:
    """Shared workspace for what need not be exact: most of a search, weights of an average.

    In single precision in games that have a plan, where that takes half to two thirds of the time.
    """
    return shared_workspace(game, players, np.float64 if game.plan is None else np.float32)


@lru_cache(maxsize=12)
def _kept_workspace(
    game: Game,
    players: int,
    dtype: DTypeLike,
    thread: int,  # noqa: ARG001
) -> Workspace:
    return game.workspace(players, dtype)


def shared_duels(game: Game) -> Duels | None:
    """Arrays for pairs of matrices that calls in one thread share; None if the game has none."""
    return _kept_duels(game, get_ident()) if can_duel(game.tables) else None


@lru_cache(maxsize=4)
def _kept_duels(game: Game, thread: int) -> Duels:  # noqa: ARG001
    return Duels(game.tables)


def policy_of(game: Game, strategy: ArrayLike) -> Floats:
    """Policy of a strategy, validated.

    Parameters
    ----------
    game : Game
    strategy : array_like
        A matrix (G, G) or a policy (G, G, K).

    Returns
    -------
    float64 (G, G, K)

    Raises
    ------
    ValueError
        If it is neither, naming the first bad cell.
    """
    table = np.asarray(strategy)
    if table.ndim == 3:
        return check_policy(table, game.goal, game.rules.max_dice)
    return as_policy(check_matrix(table, game.goal, game.rules.max_dice), game.rolls)


def pair(game: Game, a: ArrayLike, b: ArrayLike) -> Floats:
    """Policies of two strategies, float64 (2, G, G, K)."""
    return np.stack([policy_of(game, a), policy_of(game, b)])


def win_rate(game: Game, a: ArrayLike, b: ArrayLike) -> WinRate:
    """Exact win rate of strategy `a` against strategy `b`.

    Parameters
    ----------
    game : Game
    a, b : array_like
        Each a matrix (G, G) or a policy (G, G, K).

    Returns
    -------
    WinRate
        As probabilities; ``win_rate(a, b) + win_rate(b, a) = 1``.

    Raises
    ------
    ValueError
        If a strategy is malformed.

    Examples
    --------
    To 4 points with one die of two sides, a square raised to the next: no dice score 1, hence 4.

    >>> from hogeq.game import compile_game
    >>> from hogeq.rules import rules_from
    >>> rules = rules_from({"edition": "fa22", "goal": 4, "max_dice": 1, "sides": 2})
    >>> game = compile_game(rules)
    >>> win_rate(game, np.zeros((4, 4)), np.ones((4, 4))).first
    1.0
    """
    tables = [np.asarray(a), np.asarray(b)]
    duels = shared_duels(game) if all(table.ndim == 2 for table in tables) else None
    if duels is None:
        return shared_workspace(game, 2).win_rate(pair(game, a, b))
    most = game.rules.max_dice
    return duels.win_rate(
        np.stack([check_matrix(table, game.goal, most) for table in tables]).astype(np.int64)
    )


def mover_value(game: Game, strategy: ArrayLike) -> float:
    """Win probability at the start of whoever moves first, both playing `strategy`."""
    return game.workspace(1).backward(policy_of(game, strategy)[None])[0]


def values(game: Game, a: ArrayLike, b: ArrayLike | None = None) -> Floats:
    """Win probability of the player to move, at every hidden state.

    Parameters
    ----------
    game : Game
    a : array_like
        Strategy of the player to move.
    b : array_like, optional
        Strategy of the other; by default the same.

    Returns
    -------
    float64 (G, G, H)
        By own score, opponent's score and memory (`Game.memories`).
    """
    policy = policy_of(game, a)
    work = _played(game, policy, b)
    found = np.zeros((game.goal, game.goal, game.memory_size))
    for own in range(game.goal):
        for opponent in range(game.goal):
            rolls = work.hidden_values(own, opponent)[game.memory_slot]
            found[own, opponent] = rolls @ policy[own, opponent]
    return found


def action_values(
    game: Game,
    a: ArrayLike,
    b: ArrayLike | None = None,
    cells: list[tuple[int, int]] | None = None,
) -> Floats:
    """Win probability of every roll in every hidden state, play going on by the strategies.

    Parameters
    ----------
    game : Game
    a, b : array_like
        As in :func:`values`.
    cells : list of (own score, opponent's score), optional
        The cells asked for; by default all, row by row.

    Returns
    -------
    float64 (len(cells), H, K)
    """
    work = _played(game, policy_of(game, a), b)
    if cells is None:
        cells = [(own, other) for own in range(game.goal) for other in range(game.goal)]
    return np.stack([work.hidden_values(*cell)[game.memory_slot] for cell in cells])


def reach(game: Game, a: ArrayLike, b: ArrayLike | None = None) -> Floats:
    """Probability of reaching every hidden state with the player of `a` to move.

    Parameters
    ----------
    game : Game
    a : array_like
        Strategy of the player to move.
    b : array_like, optional
        Strategy of the other; by default the same.

    Returns
    -------
    float64 (G, G, H)
        A fair coin says who starts.  The sum is the expected number of turns of that player.
    """
    policies = pair(game, a, a if b is None else b)
    work = game.workspace(2)
    work.forward(policies, keep=True)
    return work.hidden_reach()[:, :, game.memory_slot]


def belief(
    game: Game, a: ArrayLike, b: ArrayLike | None, score: int, opponent: int
) -> Floats | None:
    """Distribution of the hidden memory at an information set.

    Parameters
    ----------
    game : Game
    a, b : array_like
        As in :func:`reach`.
    score, opponent : int
        Scores of the player to move and of the other.

    Returns
    -------
    float64 (H,) or None
        Sums to 1; None if play never gets there.
    """
    masses = reach(game, a, b)[score, opponent]
    total = masses.sum()
    return None if total <= 0.0 else masses / total


class Counterfactual(NamedTuple):
    """What regret is made of."""

    values: Floats
    """(G, G, K), of every roll, weighted as asked."""
    mass: Floats
    """(G, G), reach probability of every cell, the weights' sum."""


def counterfactual_values(
    work: Workspace, policies: Floats, weight: RegretWeight = "reach"
) -> Counterfactual:
    """Counterfactual value of every roll of player 0 at every information set.

    An information set here joins hidden states that the player's own rolls reach with different
    probability, so the player's own reach does not cancel as it does under perfect recall.

    Parameters
    ----------
    work : Workspace
        Of two players, or of one for self-play (any weight but "counterfactual").
    policies : float64 (Q, G, G, K)
    weight : {"reach", "counterfactual", "belief"}
        "reach" weights a hidden state by its full reach probability, the player's own rolls
        included: the exact gradient of the win rate, since no information set is met twice.
        "counterfactual" leaves the player's own rolls out (each counts 1), as CFR is defined in
        Zinkevich et al. 2007, equation 5.  "belief" divides the first by the reach of the
        information set: the value given that it is reached.

    Returns
    -------
    Counterfactual
        Arrays of the workspace: copy what must outlive its next use.
    """
    if weight == "counterfactual":
        open_minded = policies.copy()
        open_minded[0] = 1.0
        work.forward(open_minded)
    else:
        work.forward(policies)
    work.backward(policies, passes.MEASURE)
    if weight == "belief":
        np.divide(
            work.row_values,
            work.mass[..., None],
            out=work.row_values,
            where=work.mass[..., None] > 0.0,
        )
    return Counterfactual(work.row_values, work.mass)


def _played(game: Game, policy: Floats, b: ArrayLike | None) -> Workspace:
    policies = policy[None] if b is None else np.stack([policy, policy_of(game, b)])
    work = game.workspace(len(policies))
    work.backward(policies, keep=True)
    return work
