"""Values, reach probabilities and beliefs, by hidden state."""

import numpy as np
from numpy.typing import ArrayLike

from hogeq.model.game import HogEngine
from hogeq.model.workspace import Workspace
from hogeq.strategies.policies import policies_of, policy_of
from hogeq.support.aliases import Floats
from hogeq.support.messages import refusal


def values(game: HogEngine, a: ArrayLike, b: ArrayLike | None = None) -> Floats:
    """Win probability of the player to move, at every hidden state.

    Parameters
    ----------
    game : HogEngine
    a : array_like
        Strategy of the player to move.
    b : array_like, optional
        Strategy of the other; by default the same.

    Returns
    -------
    float64 (G, G, H)
        By own score, opponent's score and memory (`HogEngine.memories`). Play that never ends
        counts as half a win.

    Raises
    ------
    StrategyError
        If a strategy is malformed.

    Examples
    --------
    >>> import hogeq
    >>> rules = hogeq.rules_from({"edition": "su20", "goal": 20, "max_dice": 4})
    >>> game = hogeq.compile_game(rules)
    >>> three = hogeq.builtin("always_roll:3", game)
    >>> hogeq.values(game, three).shape  # own score, opponent's score, memory
    (20, 20, 64)
    """
    policy = policy_of(game, a)
    work = _played(game, policy, b)
    found = np.zeros((game.goal, game.goal, game.memory_size))
    for own in range(game.goal):
        for opponent in range(game.goal):
            found[own, opponent] = work.hidden_values(own, opponent) @ policy[own, opponent]
    return found


def mean_values(game: HogEngine, a: ArrayLike, b: ArrayLike | None = None) -> Floats:
    """Win probability of the player to move, averaged over the belief about the hidden memory.

    Parameters
    ----------
    game : HogEngine
    a, b : array_like
        As in :func:`values`.

    Returns
    -------
    float64 (G, G)
        In games with a hidden memory NaN where play never comes.

    Raises
    ------
    StrategyError
        If a strategy is malformed.

    Examples
    --------
    >>> from hogeq.model.game import compile_game
    >>> from hogeq.rules import rules_from
    >>> rules = rules_from({"edition": "su20", "goal": 3, "max_dice": 1, "sides": 2})
    >>> mean_values(compile_game(rules), np.ones((3, 3), int)).shape
    (3, 3)
    """
    by_memory = values(game, a, b)
    if not game.has_memory:
        return by_memory[:, :, 0]
    weights = reach(game, a, b)
    totals = weights.sum(axis=2)
    average = np.full(totals.shape, np.nan)
    np.divide((by_memory * weights).sum(axis=2), totals, out=average, where=totals > 0.0)
    return average


def hidden_action_values(
    game: HogEngine,
    a: ArrayLike,
    b: ArrayLike | None = None,
    cells: list[tuple[int, int]] | None = None,
) -> Floats:
    """Win probability of every roll in every hidden state, play going on by the strategies.

    Parameters
    ----------
    game : HogEngine
    a, b : array_like
        As in :func:`values`.
    cells : list of (own score, opponent's score), optional
        The cells asked for; by default all, row by row.

    Returns
    -------
    float64 (len(cells), H, K)

    Raises
    ------
    StrategyError
        If a strategy is malformed.
    """
    work = _played(game, policy_of(game, a), b)
    if cells is None:
        cells = [(own, other) for own in range(game.goal) for other in range(game.goal)]
    return np.stack([work.hidden_values(*cell) for cell in cells])


def reach(game: HogEngine, a: ArrayLike, b: ArrayLike | None = None) -> Floats:
    """Probability of reaching every hidden state with the player of `a` to move.

    Parameters
    ----------
    game : HogEngine
    a : array_like
        Strategy of the player to move.
    b : array_like, optional
        Strategy of the other; by default the same.

    Returns
    -------
    float64 (G, G, H)
        A fair coin says who starts. The sum is the expected number of turns of that player, and
        where positions recur a value is an expected number of visits. Play that can never end is
        followed to where that is certain, and no further.

    Raises
    ------
    StrategyError
        If a strategy is malformed.

    Examples
    --------
    >>> import hogeq
    >>> rules = hogeq.rules_from({"edition": "su20", "goal": 20, "max_dice": 4})
    >>> game = hogeq.compile_game(rules)
    >>> three = hogeq.builtin("always_roll:3", game)
    >>> reach = hogeq.reach(game, three)
    >>> float(reach[0, 0].sum())  # the coin says who begins
    0.5
    """
    policies = policies_of(game, a, a if b is None else b)
    work = game.workspace(2)
    work.forward(policies, keep=True)
    return work.hidden_reach()


def belief(
    game: HogEngine, a: ArrayLike, b: ArrayLike | None, score: int, opponent: int
) -> Floats | None:
    """Distribution of the hidden memory at an information set.

    Parameters
    ----------
    game : HogEngine
    a, b : array_like
        As in :func:`reach`.
    score, opponent : int
        Scores of the player to move and of the other.

    Returns
    -------
    float64 (H,) or None
        Sums to 1; None if play never gets there.

    Raises
    ------
    StrategyError
        If a strategy is malformed.
    ValueError
        If a score is not from 0 to the goal less 1.

    Examples
    --------
    >>> import hogeq
    >>> rules = hogeq.rules_from({"edition": "su20", "goal": 20, "max_dice": 4})
    >>> game = hogeq.compile_game(rules)
    >>> three = hogeq.builtin("always_roll:3", game)
    >>> belief = hogeq.belief(game, three, three, 9, 9)
    >>> game.memories[belief.argmax()], round(float(belief.max()), 3)
    (Memory(turn=0, extra=0, own=1, opponent=1, state=0), 0.711)
    """
    check_position(game, score, opponent)
    weights = reach(game, a, b)[score, opponent]
    total = weights.sum()
    return None if total <= 0.0 else weights / total


def check_position(game: HogEngine, score: int, opponent: int) -> None:
    """Refuse scores at which nobody is to move, with a `ValueError`; -1 is not the last one."""
    for name, points in (("score", score), ("opponent", opponent)):
        whole = isinstance(points, int | np.integer) and not isinstance(points, bool)
        if not (whole and 0 <= points < game.goal):
            raise ValueError(refusal(name, points, f"whole numbers from 0 to {game.goal - 1}"))


def _played(game: HogEngine, policy: Floats, b: ArrayLike | None) -> Workspace:
    policies = policy[None] if b is None else np.stack([policy, policy_of(game, b)])
    work = game.workspace(len(policies))
    work.backward(policies, keep=True)
    return work
