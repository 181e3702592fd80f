"""Exact values of Hog: win rates, values, reach, beliefs; sums, never a sample.

Hidden states are in the order of `HogEngine.memories`. Whoever plays a mixture knows what was
drawn; nobody else does: the draw is hidden as the memory is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hogeq.graph.endless import EndlessError
from hogeq.model import state_values
from hogeq.model.game import HogEngine
from hogeq.model.one_turn import roll_values, values_at
from hogeq.model.protocol import WinRate
from hogeq.model.shared import shared_duels, shared_workspace
from hogeq.model.state_values import MOST_MISSED, settled
from hogeq.model.workspace import Workspace
from hogeq.rules import Rules
from hogeq.rules.memory import (
    Memory,
    all_memories,
    memory_columns,
    memory_fields,
    memory_sizes,
    memory_texts,
    states,
)
from hogeq.strategies.arrays import one_hot
from hogeq.strategies.conversion import StrategyLike, check_game, policies_of, strategy_of, table_of
from hogeq.strategies.strategy import Strategy
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
    """Exact win rate of `a` against `b`, the mean over the components of mixtures.

    Games begin at `start`: the score of the player who moves first, then the other's. Raises
    `EndlessError` if a game between the two may never end, unless that counts as half a win: by
    `endless_is_draw`, and in games that begin with other scores than 0. `HogeqError` if a game goes
    on for so long that its win rate cannot be told within `MOST_MISSED`.
    """
    rate, error = win_rate_and_error(game, a, b, endless_is_draw=endless_is_draw, start=start)
    if error > MOST_MISSED:
        raise HogeqError(
            "win rate: a game between the two goes on for too long to be valued; allowed: "
            "strategies that end it sooner"
        )
    return rate


def win_rate_and_error(
    game: HogEngine,
    a: StrategyLike,
    b: StrategyLike,
    *,
    endless_is_draw: bool = False,
    start: tuple[int, int] = (0, 0),
) -> tuple[WinRate, float]:
    """Win rate of `a` against `b`, as of :func:`win_rate`, and a bound on what iteration missed.

    Only where positions recur, and play may go on for long, are win rates limits of an iteration.
    """
    check_position(game, *start)
    check_position(game, *start[::-1])  # each may be the one who moves first
    drawn_a = strategy_of(game, a).drawn()  # weights and components
    drawn_b = strategy_of(game, b).drawn()
    rates = []
    largest_error = 0.0
    for weight_a, part_a in drawn_a:
        for weight_b, part_b in drawn_b:
            rate, error = _component_win_rate(game, part_a, part_b, start, endless_is_draw)
            rates.append((weight_a * weight_b, rate))
            largest_error = max(largest_error, error)
    return mean_win_rate(rates) if len(rates) > 1 else rates[0][1], largest_error


def mean_win_rate(rates: Sequence[tuple[float, WinRate]]) -> WinRate:
    """Mean of win rates, each with its probability."""
    probabilities = np.array([probability for probability, _ in rates])
    columns = np.array([rate for _, rate in rates]).T.copy()  # one for each field of WinRate
    return WinRate(*(float(np.dot(probabilities, column)) for column in columns))


def _component_win_rate(
    game: HogEngine, a: NDArray[Any], b: NDArray[Any], start: tuple[int, int], endless_is_draw: bool
) -> tuple[WinRate, float]:
    """Win rate of a matrix (G, G) or a policy (G, G, K) against another, neither a mixture.

    Also bounds what iteration missed, where positions recur.
    """
    if start != (0, 0):
        return _win_rate_from_scores(game, a, b, start)
    are_matrices = a.ndim == b.ndim == len(game.shape) - 1  # no axis of actions
    duels = shared_duels(game) if are_matrices else None  # faster code, if the game has it
    if duels is not None:
        return duels.win_rate(np.stack([a, b]).astype(np.int64)), 0.0
    policies = np.stack(
        [one_hot(table, game.num_actions) if table.ndim == 2 else table for table in (a, b)]
    )
    endless_scores = None if endless_is_draw else game.endless_position(policies)
    if endless_scores is not None:
        raise EndlessError(
            "win rate: a game between the two may never end: "
            f"at {endless_scores[0]} to {endless_scores[1]} and "
            "from there on both leave the scores as they are; allowed: strategies whose games end"
        )
    work = shared_workspace(game, 2)
    rate = work.win_rate(policies)
    error = work.error if isinstance(work, Workspace) else 0.0
    return (rate, error) if error <= MOST_MISSED else _enclosed_win_rate(game, policies, start)


def _win_rate_from_scores(
    game: HogEngine, a: NDArray[Any], b: NDArray[Any], start: tuple[int, int]
) -> tuple[WinRate, float]:
    """Win rate of two policies in games that begin at `start`, with the memory of a first turn.

    Also bounds what iteration missed, where positions recur.
    """
    policies = policies_of(game, a, b)
    passes = state_values.hidden_values(game, policies)
    error = passes.passes.error
    if error > MOST_MISSED:
        return _enclosed_win_rate(game, policies, start)
    start_memory = game.memories.index(Memory())
    win_probabilities = []  # of each player if it moves first
    for player, policy in enumerate(policies):
        values_of_rolls = values_at(passes, *start, player)[start_memory]  # (K,)
        win_probabilities.append(float(np.dot(values_of_rolls, policy[start])))
    return WinRate.from_starts(*win_probabilities), error


def _enclosed_win_rate(
    game: HogEngine, policies: Floats, start: tuple[int, int]
) -> tuple[WinRate, float]:
    """Win rate of policies (2, G, G, K) by the middles of proved bounds, and its largest error.

    An iteration that ends early is not near the win rate. A play without end is worth half a win,
    and its bounds meet at once.
    """
    from hogeq.evaluation.enclosures import enclose

    graph = game.graph
    bounds = enclose(graph, [*policies.reshape(2, game.goal**2, -1)])
    cell = start[0] * game.goal + start[1]
    start_memory = game.memories.index(Memory())
    payoffs = []  # to player 0, if each of both players moves first
    error = 0.0
    for player in (0, 1):
        (position,) = np.flatnonzero((graph.player == player) & (graph.row == cell))
        lower = float(bounds.lower[position, start_memory])
        upper = float(bounds.upper[position, start_memory])
        payoffs.append((lower + upper) / 2.0)
        error = max(error, (upper - lower) / 2.0)
    return WinRate.from_starts(payoffs[0], 1.0 - payoffs[1]), error


def remembering_win_rate(game: HogEngine, rolls: NDArray[Any], strategy: StrategyLike) -> WinRate:
    """Exact win rate of a player who sees the memory, against a matrix or a policy.

    `rolls`, (G, G, H), are that player's, by both scores and the memory. Raises `HogeqError` where
    positions recur and there is hidden memory.
    """
    if game.has_memory and game.positions_recur:
        raise HogeqError(
            f"rules {game.rules.name}: positions can recur and rolls depend on hidden memory; "
            "allowed: rules of which only one is true"
        )
    other = table_of(game, strategy)
    if not game.has_memory:
        return win_rate(game, rolls[:, :, 0], other)
    policy = other.policy.reshape(game.goal**2, 1, -1, 1)  # by cell, 1, action, 1
    roll_of_memory = rolls.reshape(game.goal**2, 1, -1, 1).astype(np.int64)  # by cell, 1, memory, 1

    def values_by_memory(player: int, cells: Ints, values_of_rolls: Floats) -> Floats:
        """Values (m, 1, H) of m cells, by those of rolls (m, 1, H, K): player 0 makes `rolls`."""
        if player == 1:
            return (values_of_rolls @ policy[cells])[..., 0]
        return np.take_along_axis(values_of_rolls, roll_of_memory[cells], axis=3)[..., 0]

    _, starts = state_values.backward_by(game, 2, values_by_memory)
    return WinRate.from_starts(*starts[0])


# --- by hidden state ------------------------------------------------------------------------------


def values(game: HogEngine, a: StrategyLike, b: StrategyLike | None = None) -> Floats:
    """Win probability of the player to move in every hidden state, (G, G, H)."""
    policies = _policies(game, a, b)
    policy = policies[0].reshape(game.goal**2, -1)  # (G * G, K), of the player to move
    win_probability = np.zeros((game.goal**2, game.memory_size))
    for cells, values_of_rolls in roll_values(settled(state_values.hidden_values(game, policies))):
        win_probability[cells] = (values_of_rolls @ policy[cells, :, None])[..., 0]
    return win_probability.reshape(game.goal, game.goal, -1)


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
    """Win probability of every roll in every hidden state of `cells`, (len(cells), H, K).

    `cells` are pairs of own and opponent's score; by default all cells, row by row. After the roll
    the player to move follows `a`, and the other player `b`, by default `a` too.
    """
    passes = settled(state_values.hidden_values(game, _policies(game, a, b)))
    if cells is not None:
        return np.stack([values_at(passes, *cell) for cell in cells])
    action_values = np.zeros((game.goal**2, game.memory_size, game.num_actions))
    for cell_numbers, values_of_rolls in roll_values(passes):
        action_values[cell_numbers] = values_of_rolls
    return action_values


def reach(game: HogEngine, a: StrategyLike, b: StrategyLike | None = None) -> Floats:
    """Probability of reaching every hidden state with the player of `a` to move, (G, G, H).

    Where positions recur, the expected number of visits. Play that can never end is followed to
    where that is certain, and no further.
    """
    return state_values.hidden_reach(game, policies_of(game, a, a if b is None else b))


def belief(
    game: HogEngine, a: StrategyLike, b: StrategyLike | None, score: int, opponent: int
) -> Floats | None:
    """Distribution of the hidden memory at a position, (H,); None if play never gets there."""
    check_position(game, score, opponent)
    weights = reach(game, a, b)[score, opponent]
    total = weights.sum()
    return None if total <= 0.0 else weights / total


def fold(rules: Rules, shares: ArrayLike) -> Floats:
    """Sum a distribution (..., H) over the memory to a table of two parts of it, (..., m, n).

    The parts are those of `hogeq.rules.memory.axes`: both last records if rules keep any; turn and
    extra turn without a state; else the state and whichever of the two there is.
    """
    turns, extras, records = memory_sizes(rules)
    distribution = np.asarray(shares, np.float64)
    sizes = (states(rules), turns, extras, records, records)
    by_part = distribution.reshape(*distribution.shape[:-1], *sizes)
    if records > 1:
        return by_part.sum(axis=(-5, -4, -3))  # over state, turn and extra turn
    by_turn = by_part[..., 0, 0]  # state, turn, extra turn
    if rules.memory == "none":
        return by_turn[..., 0, :, :]
    extra_axis, turn_axis = -1, -2
    return by_turn.sum(axis=extra_axis if turns > 1 else turn_axis)


def check_position(game: HogEngine, score: int, opponent: int) -> None:
    """Raise `HogeqError` for scores at which nobody is to move; -1 does not mean the last one."""
    check_game(game)
    own_goal, opponent_goal = game.rules.goals
    for name, points, goal in (("score", score, own_goal), ("opponent", opponent, opponent_goal)):
        is_whole = isinstance(points, int | np.integer) and not isinstance(points, bool)
        if not (is_whole and 0 <= points < goal):
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

    def to_json(self, rules: Rules, own: Strategy, other: Strategy) -> dict[str, Any]:
        """Return it as plain values, given the strategies of the player to move and of the other.

        ``reach``; ``parts`` and ``parts_against`` (part, weight, probability) of mixtures;
        ``memories``, the most probable first, each with its probability.
        """
        data: dict[str, Any] = {"reach": self.reach}
        if own.kind == "mixture":
            data["parts"] = _component_fields(own, self.own)
        if other.kind == "mixture":
            data["parts_against"] = _component_fields(other, self.other)
        data["memories"] = [
            {**memory_fields(rules, memory), "probability": probability}
            for memory, probability in self._memories(rules)
        ]
        return data

    def text(
        self, rules: Rules, own: Strategy, other: Strategy, names: tuple[str, str], top: int
    ) -> Text:
        """Lay out the posterior as text, with the `top` most probable memories.

        `own` and `other` are the strategies of the player to move and of the other, `names` theirs.
        """
        lines: Text = [f"reached in a game with probability {percent(self.reach)}"]
        if own.kind == "mixture":
            table = _component_table(own, self.own)
            lines += ["", f"what was drawn from {names[0]}, to move", table]
        if other.kind == "mixture":
            table = _component_table(other, self.other)
            lines += ["", f"what was drawn from {names[1]}, the other", table]
        if len(self.memory) == 1:
            return lines
        memories = self._memories(rules)
        rows = [
            (*memory_texts(rules, memory), percent(probability))
            for memory, probability in memories[:top]
        ]
        lines += ["", Table(rows, (*memory_columns(rules), "probability"), left=0)]
        if len(memories) > top:
            rest = 1.0 - sum(probability for _, probability in memories[:top])
            lines.append(f"and {len(memories) - top} more, together {percent(rest)}")
        return lines

    def _memories(self, rules: Rules) -> list[tuple[Memory, float]]:
        """List the memories of positive probability, with it, the most probable first."""
        pairs = zip(all_memories(rules), self.memory.tolist(), strict=True)
        possible = [(memory, probability) for memory, probability in pairs if probability > 0]
        return sorted(possible, key=lambda pair: -pair[1])


def _component_fields(mixture: Strategy, posterior: Floats) -> list[dict[str, Any]]:
    """List the number, the weight and the posterior probability (n,) of every component."""
    pairs = zip(mixture.weights.tolist(), posterior.tolist(), strict=True)
    return [
        {"part": number, "weight": weight, "probability": probability}
        for number, (weight, probability) in enumerate(pairs, 1)
    ]


def _component_table(mixture: Strategy, posterior: Floats) -> Table:
    rows = [
        (fields["part"], percent(fields["weight"]), percent(fields["probability"]))
        for fields in _component_fields(mixture, posterior)
    ]
    return Table(rows, ("component", "drawn", "here"), left=0)


def components_at(
    game: HogEngine,
    strategy: StrategyLike,
    score: int,
    opponent: int,
    against: StrategyLike | None = None,
) -> ComponentsAt | None:
    """Posterior of the components, given that a position is reached; None if it never is.

    By Bayes' rule: the weight of a component times its probability of coming there, over the sum.
    """
    check_position(game, score, opponent)
    own = strategy_of(game, strategy)
    other = own if against is None else strategy_of(game, against)
    own_components = [strategy_of(game, component) for component in own.components]
    other_components = [strategy_of(game, component) for component in other.components]
    joint = np.zeros((len(own.weights), len(other.weights), game.memory_size))
    for row, own_weight in enumerate(own.weights):
        for column, other_weight in enumerate(other.weights):
            if own_weight * other_weight == 0.0:  # never drawn: its reach need not be computed
                continue
            state_reach = reach(game, own_components[row], other_components[column])
            joint[row, column] = own_weight * other_weight * state_reach[score, opponent]
    total = float(joint.sum())
    if total <= 0.0:
        return None
    posterior = joint / total
    return ComponentsAt(
        reach=total,
        own=posterior.sum(axis=(1, 2)),
        other=posterior.sum(axis=(0, 2)),
        memory=posterior.sum(axis=(0, 1)),
    )
