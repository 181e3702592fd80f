"""Tablebases: optimal play by players with full memory; rolls of one position.

With the memory in view Hog is a game of perfect information, solved by one backward induction. In
editions without memory that is also the solution of the contest's game.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hogeq.evaluation.values import (
    belief,
    check_position,
    hidden_action_values,
    mean_win_rate,
    remembering_win_rate,
    win_rate,
)
from hogeq.model.game import HogEngine
from hogeq.model.graph_layout import GraphLayout
from hogeq.model.one_turn import roll_values, values_at
from hogeq.model.protocol import WinRate
from hogeq.model.rows import TIE
from hogeq.model.state_values import best_rolls
from hogeq.rules import Rules
from hogeq.rules.memory import Memory, memory_columns, memory_fields, memory_line
from hogeq.strategies.conversion import StrategyLike, strategy_of, table_of
from hogeq.strategies.strategy import Strategy
from hogeq.support import html
from hogeq.support.aliases import Floats
from hogeq.support.messages import HogeqError, Table, loss, one_line, percent

Rolls = NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class Tablebase:
    """Optimal play from every position of a game, both players remembering everything.

    Where each player has a goal, it is the first player's: that of a game with the goals exchanged
    is the second's.

    Attributes
    ----------
    game : HogEngine
    value : float
        Win probability of whoever moves first.
    rolls : int8 (G, G, H)
        Best action by own score, opponent's score and memory (`HogEngine.memories`); the fewest
        dice of those that tie within `TIE`.

    Examples
    --------
    >>> import hogeq
    >>> game = hogeq.Game({"edition": "fa22", "goal": 20, "max_dice": 4})
    >>> tablebase = game.tablebase()
    >>> tablebase.first_roll, round(tablebase.value, 6)
    (3, 0.597846)
    >>> game.win_rate(tablebase.matrix, "always_roll:3").win_rate > 0.5
    True
    """

    game: HogEngine
    value: float
    rolls: Rolls = field(repr=False)
    _passes: GraphLayout = field(repr=False)  # with the values of what follows every roll

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel between processes as a game, and be solved once in each."""
        return solve, (self.game,)

    @property
    def start(self) -> int:
        """Index of the memory before the first turn."""
        return self.game.memories.index(Memory())

    @property
    def first_roll(self) -> int:
        """Dice to roll on the first turn, or -1."""
        return self.game.rules.choices[int(self.rolls[0, 0, self.start])]

    @property
    def matrix(self) -> Rolls:
        """Best rolls as a matrix, (G, G).

        Raises
        ------
        ValueError
            If the best roll depends on a memory that no matrix sees.
        """
        if self.game.has_memory:
            raise HogeqError(
                f"tablebase: rules {self.game.rules.name} have {self.game.memory_size} memories, "
                "allowed for a matrix are rules without memory"
            )
        return self.rolls[:, :, 0].copy()

    @cached_property
    def values(self) -> Floats:
        """Win probability of the player to move, (G, G, H)."""
        goal = self.game.goal
        state_values = np.zeros((goal**2, self.game.memory_size))
        for cells, values_of_rolls in roll_values(self._passes):
            state_values[cells] = values_of_rolls.max(axis=2)
        return state_values.reshape(goal, goal, -1)

    def roll_values(self, score: int, opponent: int) -> Floats:
        """Win probability of every roll at a position, play going on optimally, (H, K)."""
        check_position(self.game, score, opponent)
        return values_at(self._passes, score, opponent)

    def opening(self, score: int = 0, opponent: int = 0) -> tuple[float, int]:
        """Win probability of the player to move at the start of a game, and its best dice.

        A game may start from other scores than 0; the memory is that before the first turn.
        """
        values_of_rolls = self.roll_values(score, opponent)[self.start]  # (K,)
        best_action = int(self.rolls[score, opponent, self.start])
        return float(values_of_rolls.max()), self.game.rules.choices[best_action]

    def against(self, strategy: StrategyLike) -> WinRate:
        """Exact win rate of the tablebase's rolls against a strategy, which sees no memory.

        The rolls stay those that are best against optimal play: this is no response to `strategy`.
        """
        target = strategy_of(self.game, strategy)
        if not self.game.has_memory:
            return win_rate(self.game, self.matrix, target)
        rates = [
            (weight, remembering_win_rate(self.game, self.rolls, component))
            for weight, component in target.drawn()
        ]
        return mean_win_rate(rates)


def solve(game: HogEngine) -> Tablebase:
    """Solve a game by backward induction over scores and memory, exactly where positions recur."""
    rolls, value, passes = best_rolls(game, np.zeros((1, *game.shape)))
    return Tablebase(game, value, rolls, passes)


def best_first(values: ArrayLike) -> list[int]:
    """Order rolls by falling win probability, the fewest dice first where they tie within `TIE`."""
    # A roll ties with the best one that remains, not with the last one: ties do not add up.
    remaining = dict(enumerate(np.asarray(values, np.float64).tolist()))
    order = []
    while remaining:
        least_value = max(remaining.values()) - TIE
        fewest_dice = min(roll for roll, value in remaining.items() if value >= least_value)
        order.append(fewest_dice)
        del remaining[fewest_dice]
    return order


# --- every roll at one position -------------------------------------------------------------------

MemorySource = Literal["given", "start", "belief"]


class UnreachedError(HogeqError):
    """Play never comes to the position that was asked for.

    Examples
    --------
    >>> import hogeq
    >>> try:
    ...     hogeq.Game("su20").analyze(99, 99, "always_roll:0")
    ... except hogeq.UnreachedError as error:
    ...     print(error)
    play never comes to 99 points against 99
    """


class RollValue(NamedTuple):
    """One roll at a position."""

    dice: int
    win_probability: float
    loss: float  # of win probability, against the best roll; not negative
    played: float | None  # probability with which the strategy rolls it; None in optimal play


class Analysis(NamedTuple):
    """Every roll at a position.

    Examples
    --------
    >>> import hogeq
    >>> game = hogeq.Game({"edition": "fa22", "goal": 4, "max_dice": 1, "sides": 2})
    >>> game.analyze(0, 0).rolls[0]
    RollValue(dice=0, win_probability=1.0, loss=0.0, played=None)
    """

    source: MemorySource
    """Where the memory comes from: "given" by the caller, that of the "start" of a game, or the
    "belief": averaged over the memories with which the strategies' own play comes there."""
    memory: Memory | None
    """The memory at the position; None if it was averaged over."""
    rolls: tuple[RollValue, ...]
    """Best first, the fewest dice first where they tie."""

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values, without the memory.

        ``value`` and ``best_roll``, of the best roll; ``rolls`` (dice, win_probability, loss, and
        where a strategy is followed, played).
        """
        rolls = [roll._asdict() for roll in self.rolls]
        for fields in rolls:
            if fields["played"] is None:
                del fields["played"]
        best = self.rolls[0]
        return {"value": best.win_probability, "best_roll": best.dice, "rolls": rolls}

    def memory_line(self, rules: Rules, past: str, left_out: Sequence[str] = ()) -> str:
        """Say in a line which memory the rolls are for.

        `past` names the play that a belief comes from; `left_out` are fields of the memory that
        were not given.
        """
        if self.memory is None:
            play = "play at random" if past == "random" else past
            return f"memory not given, averaged over how {play} gets here"
        line = f"memory given, {memory_line(rules, self.memory)}"
        if not left_out:
            return line
        titles = dict(zip(memory_fields(rules, Memory()), memory_columns(rules), strict=True))
        missing = ", ".join(titles[name] for name in left_out)
        return f"{line}; not given, taken as before the first turn: {missing}"

    def table(self) -> Table:
        """Lay out a line for each roll."""
        header = ["dice", "win probability", "loss"]
        if self.rolls[0].played is not None:  # a strategy is followed
            header.append("played")
        rows = []
        for roll in self.rolls:
            played = [] if roll.played is None else [percent(roll.played)]
            rows.append([roll.dice, percent(roll.win_probability), loss(roll.loss), *played])
        return Table(rows, header, left=0)

    def _repr_html_(self) -> str:
        """Write the same table, in a notebook."""
        rows, header, _ = self.table()
        return html.table(rows, header, f"Every roll, with the memory of the {self.source}")


def analyze(
    game: HogEngine,
    score: int,
    opponent: int,
    strategy: StrategyLike | None = None,
    memory: Memory | None = None,
    past: StrategyLike | None = None,
) -> Analysis:
    """Exact win probability of every roll at a position.

    After the roll both players follow `strategy`, or optimal play by default. If no `memory` is
    given, values are averaged over the memories with which `past` comes there, by default
    `strategy`; in optimal play without a past it is the memory before the first turn.
    """
    check_position(game, score, opponent)
    if memory is not None:
        _check_memory(game, memory)
        if past is not None:
            raise HogeqError("past: allowed only without memory, which it would say")
    future_play = None if strategy is None else table_of(game, strategy)
    past_play = future_play if past is None else table_of(game, past)
    source, memory, weights = _memory_at(game, score, opponent, memory, future_play, past_play)
    if future_play is None:
        values = weights @ solve(game).roll_values(score, opponent)
        return Analysis(source, memory, rank_rolls(game.rules, values))
    values = weights @ hidden_action_values(game, future_play, None, [(score, opponent)])[0]
    probabilities = future_play.policy[score, opponent]
    return Analysis(source, memory, rank_rolls(game.rules, values, probabilities))


def _memory_at(
    game: HogEngine,
    score: int,
    opponent: int,
    memory: Memory | None,
    future_play: Strategy | None,
    past_play: Strategy | None,
) -> tuple[MemorySource, Memory | None, Floats]:
    """Find the source of the memory at a position, the memory if it is known, and a belief (H,).

    1. A `memory` that the caller gives is certain.
    2. Without past play, or where nothing is hidden in optimal play, it is that of the start.
    3. Otherwise it is hidden: the belief follows from past play.
    """
    certain = np.eye(game.memory_size)  # row m is the belief that memory m is certain
    if memory is not None:
        return "given", memory, certain[game.memories.index(memory)]
    start = Memory()
    if past_play is None or (future_play is None and not game.has_memory):
        return "start", start, certain[game.memories.index(start)]
    if not game.has_memory:
        return "belief", None, certain[game.memories.index(start)]
    weights = belief(game, past_play, None, score, opponent)
    if weights is None:
        raise UnreachedError(f"play never comes to {score} points against {opponent}")
    return "belief", None, weights


def rank_rolls(
    rules: Rules, values: Floats, probabilities: Floats | None = None
) -> tuple[RollValue, ...]:
    """Sort the rolls that rules allow by win probability, best first.

    The loss of a roll that ties with the best is 0. `values` (K,) are win probabilities;
    `probabilities` (K,), if any, are those with which a strategy chooses each roll.
    """
    order = [roll for roll in best_first(values) if rules.choices[roll] >= rules.least_answer]
    losses = values[order[0]] - values
    ranked = []
    for roll in order:
        loss_of_roll = float(losses[roll]) if losses[roll] > TIE else 0.0
        played = None if probabilities is None else float(probabilities[roll])
        ranked.append(RollValue(rules.choices[roll], float(values[roll]), loss_of_roll, played))
    return tuple(ranked)


def _check_memory(game: HogEngine, memory: object) -> None:
    """Raise `HogeqError` for a memory that the game does not have."""
    if isinstance(memory, tuple) and memory in game.memories:
        return
    ranges = []
    values_by_field = zip(*game.memories, strict=True)
    for field_name, field_values in zip(Memory._fields, values_by_field, strict=True):
        largest = max(field_values)
        ranges.append(f"{field_name} 0 to {largest}" if largest else f"{field_name} 0")
    allowed = ", ".join(ranges)
    raise HogeqError(f"memory: got {one_line(memory)}; allowed: one of game.memories: {allowed}")
