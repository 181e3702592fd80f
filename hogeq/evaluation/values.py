"""Exact values of Hog: win rates, values, reach, beliefs; sums, never a sample.

Hidden states are in the order of `HogEngine.memories`. Whoever plays a mixture knows what was
drawn; nobody else does: the draw is hidden as the memory is.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hogeq.graph.endless import EndlessError
from hogeq.model import hidden
from hogeq.model.game import HogEngine
from hogeq.model.one_turn import roll_values, values_at
from hogeq.model.protocol import WinRate
from hogeq.model.shared import shared_duels, shared_workspace
from hogeq.rules import Rules
from hogeq.rules.memory import (
    Memory,
    memory_columns,
    memory_fields,
    memory_sizes,
    memory_texts,
    states,
)
from hogeq.strategies.arrays import one_hot
from hogeq.strategies.strategy import (
    Strategy,
    StrategyLike,
    check_game,
    policies_of,
    strategy_of,
    table_of,
)
from hogeq.support.aliases import Floats, Ints
from hogeq.support.messages import HogeqError, Table, Text, percent, refusal


def win_rate(
    game: HogEngine,
    a: StrategyLike,
    b: StrategyLike,
    *,
    endless_is_draw: bool = False,
    start: tuple[int, int] = (0, 0),
) -> WinRate:
    """Exact win rate of `a` against `b`; `start` has the first player's score and the other's.

    An `EndlessError` if a game between the two may never end, unless that counts as half a win, as
    in the tablebase and where a game begins with other scores than 0.
    """
    check_position(game, *start)
    check_position(game, *start[::-1])  # each may be the one who moves first
    one, two = strategy_of(game, a).drawn(), strategy_of(game, b).drawn()
    rates = [
        (weight * other, _of_tables(game, mine, theirs, start, endless_is_draw))
        for weight, mine in one
        for other, theirs in two
    ]
    return mean_win_rate(rates) if len(rates) > 1 else rates[0][1]


def mean_win_rate(found: Iterable[tuple[float, WinRate]]) -> WinRate:
    """Mean of win rates, each with its probability."""
    every = list(found)
    shares = np.array([share for share, _ in every])
    columns = np.array([rate for _, rate in every]).T.copy()
    return WinRate(*(float(np.dot(shares, column)) for column in columns))


def _of_tables(
    game: HogEngine,
    a: NDArray[Any],
    b: NDArray[Any],
    start: tuple[int, int],
    endless_is_draw: bool,
) -> WinRate:
    if start != (0, 0):
        return _from_scores(game, a, b, start)
    duels = shared_duels(game) if a.ndim == b.ndim == len(game.shape) - 1 else None
    if duels is not None:
        return duels.win_rate(np.stack([a, b]).astype(np.int64))
    policies = np.stack(
        [one_hot(one, game.num_actions) if one.ndim == 2 else one for one in (a, b)]
    )
    found = None if endless_is_draw else game.endless_position(policies)
    if found is not None:
        raise EndlessError(
            f"win rate: a game between the two may never end: at {found[0]} to {found[1]} and "
            "from there on both leave the scores as they are; allowed: strategies whose games end"
        )
    return shared_workspace(game, 2).win_rate(policies)


def _from_scores(
    game: HogEngine, a: NDArray[Any], b: NDArray[Any], start: tuple[int, int]
) -> WinRate:
    """Win rate of games that begin with some scores, and nothing to remember."""
    policies = policies_of(game, a, b)
    valued, nothing = hidden.hidden_values(game, policies), game.memories.index(Memory())
    rolls = (values_at(valued, *start, player)[nothing] for player in (0, 1))
    first, other = (np.dot(one, policy[start]) for one, policy in zip(rolls, policies, strict=True))
    return WinRate.from_starts(float(first), float(other))


def remembering_win_rate(game: HogEngine, rolls: NDArray[Any], strategy: StrategyLike) -> WinRate:
    """Exact win rate of rolls (G, G, H), by the hidden memory too, against a matrix or a policy."""
    if game.has_memory and game.positions_recur:
        raise HogeqError(
            f"rules {game.rules.name}: positions can recur and rolls depend on hidden memory; "
            "allowed: rules of which only one is true"
        )
    other = table_of(game, strategy)
    if not game.has_memory:
        return win_rate(game, rolls[:, :, 0], other)
    policy = other.policy.reshape(game.goal**2, 1, -1, 1)
    best = rolls.reshape(game.goal**2, 1, -1, 1).astype(np.int64)

    def memory_values(player: int, cells: Ints, found: Floats) -> Floats:
        if player == 1:
            return (found @ policy[cells])[..., 0]
        return np.take_along_axis(found, best[cells], axis=3)[..., 0]

    _, starts = hidden.backward_by(game, 2, memory_values)
    return WinRate.from_starts(*starts[0])


# --- by hidden state ------------------------------------------------------------------------------


def values(game: HogEngine, a: StrategyLike, b: StrategyLike | None = None) -> Floats:
    """Win probability of the player to move in every hidden state, (G, G, H)."""
    policies = _policies(game, a, b)
    valued, plays = hidden.hidden_values(game, policies), policies[0].reshape(game.goal**2, -1)
    each = np.zeros((game.goal**2, game.memory_size))
    for cells, rolls in roll_values(valued):
        each[cells] = (rolls @ plays[cells, :, None])[..., 0]
    return each.reshape(game.goal, game.goal, -1)


def mean_values(game: HogEngine, a: StrategyLike, b: StrategyLike | None = None) -> Floats:
    """Win probability of the player to move, averaged over the belief, (G, G); NaN if unreached."""
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
    a: StrategyLike,
    b: StrategyLike | None = None,
    cells: list[tuple[int, int]] | None = None,
) -> Floats:
    """Win probability of every roll in hidden states, (len(cells), H, K), by default of all."""
    valued = hidden.hidden_values(game, _policies(game, a, b))
    if cells is not None:
        return np.stack([values_at(valued, *cell) for cell in cells])
    found = np.zeros((game.goal**2, game.memory_size, game.num_actions))
    for there, rolls in roll_values(valued):
        found[there] = rolls
    return found


def reach(game: HogEngine, a: StrategyLike, b: StrategyLike | None = None) -> Floats:
    """Probability of reaching every hidden state with the player of `a` to move, (G, G, H).

    Where positions recur, the expected number of visits. Play that can never end is followed to
    where that is certain, and no further.
    """
    return hidden.hidden_reach(game, policies_of(game, a, a if b is None else b))


def belief(
    game: HogEngine, a: StrategyLike, b: StrategyLike | None, score: int, opponent: int
) -> Floats | None:
    """Distribution of the hidden memory at a position, (H,); None if play never gets there."""
    check_position(game, score, opponent)
    weights = reach(game, a, b)[score, opponent]
    total = weights.sum()
    return None if total <= 0.0 else weights / total


def fold(rules: Rules, shares: ArrayLike) -> Floats:
    """Sum a distribution (..., H) over the memory to a table by `hogeq.rules.memory.axes`."""
    turns, extras, records = memory_sizes(rules)
    table = np.asarray(shares, np.float64)
    parts = table.reshape(*table.shape[:-1], states(rules), turns, extras, records, records)
    if records > 1:
        return parts.sum(axis=(-5, -4, -3))
    whole = parts[..., 0, 0]  # state, turn, extra turn
    if rules.memory == "none":
        return whole[..., 0, :, :]
    return whole.sum(axis=-1 if turns > 1 else -2)


def check_position(game: HogEngine, score: int, opponent: int) -> None:
    """Refuse scores at which nobody is to move, with a `ValueError`; -1 is not the last one."""
    check_game(game)
    given = ("score", "opponent"), (score, opponent), game.rules.goals
    for name, points, goal in zip(*given, strict=True):
        whole = isinstance(points, int | np.integer) and not isinstance(points, bool)
        if not (whole and 0 <= points < goal):
            raise HogeqError(refusal(name, points, f"whole numbers from 0 to {goal - 1}"))


def _policies(game: HogEngine, a: StrategyLike, b: StrategyLike | None) -> Floats:
    return policies_of(game, a) if b is None else policies_of(game, a, b)


# --- mixtures -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ComponentsAt:
    """Posterior of the components drawn, given that a position is reached.

    Attributes
    ----------
    reach : float
        Probability of coming to move there in a game; the expected number of visits where positions
        recur.
    own : float64 (n,)
        Probability that each component of the player to move was drawn; one, if it is no mixture.
    other : float64 (m,)
        The same of the other player.
    memory : float64 (H,)
        Distribution of the hidden memory.

    Examples
    --------
    >>> import hogeq
    >>> game = hogeq.Game({"edition": "su20", "goal": 20, "max_dice": 4})
    >>> one, four = (game.strategy(f"always_roll:{dice}") for dice in (1, 4))
    >>> drawn = hogeq.Mixture([0.5, 0.5], [one, four])
    >>> game.components_at(16, 4, drawn, one).own.round(3).tolist()  # well ahead: four dice
    [0.078, 0.922]
    """

    reach: float
    own: Floats
    other: Floats
    memory: Floats

    def to_json(self, game: HogEngine, one: Strategy, two: Strategy) -> dict[str, Any]:
        """Return it as plain values.

        ``reach``; ``parts`` and ``parts_against`` (part, weight, probability) of mixtures;
        ``memories``, the most probable first, each with its probability.
        """
        data: dict[str, Any] = {"reach": self.reach}
        drawn = ("parts", one, self.own), ("parts_against", two, self.other)
        for key, strategy, chances in drawn:
            if strategy.kind == "mixture":
                pairs = zip(strategy.weights.tolist(), chances.tolist(), strict=True)
                data[key] = [
                    {"part": number, "weight": weight, "probability": chance}
                    for number, (weight, chance) in enumerate(pairs, 1)
                ]
        data["memories"] = [
            {**memory_fields(game.rules, memory), "probability": share}
            for memory, share in self._memories(game)
        ]
        return data

    def text(
        self, game: HogEngine, one: Strategy, two: Strategy, names: tuple[str, str], top: int
    ) -> Text:
        """Lay it out, with the `top` memories; `names` are of both strategies."""
        found: Text = [f"reached in a game with probability {percent(self.reach)}"]
        facts = self.to_json(game, one, two)
        whose = {"parts": f"{names[0]}, to move", "parts_against": f"{names[1]}, the other"}
        for key, who in whose.items():
            rows = [
                (row["part"], percent(row["weight"]), percent(row["probability"]))
                for row in facts.get(key, ())
            ]
            if rows:
                table = Table(rows, ("component", "drawn", "here"), left=0)
                found += ["", f"what was drawn from {who}", table]
        if not game.has_memory:
            return found
        memories = self._memories(game)
        listed = [
            (*memory_texts(game.rules, memory), percent(share)) for memory, share in memories[:top]
        ]
        found += ["", Table(listed, (*memory_columns(game.rules), "probability"), left=0)]
        if len(memories) > top:
            rest = 1.0 - sum(share for _, share in memories[:top])
            found.append(f"and {len(memories) - top} more, together {percent(rest)}")
        return found

    def _memories(self, game: HogEngine) -> list[tuple[Memory, float]]:
        """List the memories that have a share, the most probable first."""
        pairs = zip(game.memories, self.memory.tolist(), strict=True)
        return sorted((pair for pair in pairs if pair[1] > 0), key=lambda pair: -pair[1])


def components_at(
    game: HogEngine,
    strategy: StrategyLike,
    score: int,
    opponent: int,
    against: StrategyLike | None = None,
) -> ComponentsAt | None:
    """Posterior of the components, given that a position is reached; None if it never is."""
    # By Bayes' rule: a component's weight times its probability of coming there, over the sum.
    check_position(game, score, opponent)
    one = strategy_of(game, strategy)
    two = one if against is None else strategy_of(game, against)
    parts = [[strategy_of(game, part) for part in each.components] for each in (one, two)]
    weights = np.zeros((len(one.weights), len(two.weights), game.memory_size))
    for row, column in np.argwhere(np.multiply.outer(one.weights, two.weights)).tolist():
        met = reach(game, parts[0][row], parts[1][column])[score, opponent]
        weights[row, column] = one.weights[row] * two.weights[column] * met
    total = float(weights.sum())
    if total <= 0.0:
        return None
    shares = weights / total
    return ComponentsAt(
        total, shares.sum(axis=(1, 2)), shares.sum(axis=(0, 2)), shares.sum(axis=(0, 1))
    )
