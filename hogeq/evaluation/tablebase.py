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
from hogeq.model.hidden import best_rolls
from hogeq.model.interpreter import Interpreter
from hogeq.model.one_turn import roll_values, values_at
from hogeq.model.protocol import WinRate
from hogeq.model.rows import TIE
from hogeq.rules import Rules
from hogeq.rules.memory import Memory, memory_columns, memory_fields, memory_line
from hogeq.strategies.strategy import StrategyLike, strategy_of, table_of
from hogeq.support import html
from hogeq.support.aliases import Floats
from hogeq.support.messages import BadInputError, HogeqError, Table, loss, one_line, percent

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
    _values: Interpreter = field(repr=False)

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
        found = np.zeros((self.game.goal**2, self.game.memory_size))
        for cells, rolls in roll_values(self._values):
            found[cells] = rolls.max(axis=2)
        return found.reshape(self.game.goal, self.game.goal, -1)

    def roll_values(self, score: int, opponent: int) -> Floats:
        """Win probability of every roll at a position, play going on optimally, (H, K)."""
        check_position(self.game, score, opponent)
        return values_at(self._values, score, opponent)

    def opening(self, score: int = 0, opponent: int = 0) -> tuple[float, int]:
        """Give the value to the player who moves first from some scores, and the dice to roll."""
        value = float(self.roll_values(score, opponent)[self.start].max())
        action = int(self.rolls[score, opponent, self.start])
        return value, self.game.rules.choices[action]

    def against(self, strategy: StrategyLike) -> WinRate:
        """Exact win rate of the tablebase's rolls against a strategy, which sees no memory.

        The rolls stay those that are best against optimal play: this is no response to `strategy`.
        """
        target = strategy_of(self.game, strategy)
        if not self.game.has_memory:
            return win_rate(self.game, self.matrix, target)
        return mean_win_rate(
            (weight, remembering_win_rate(self.game, self.rolls, component))
            for weight, component in target.drawn()
        )


def solve(game: HogEngine) -> Tablebase:
    """Solve a game by backward induction over scores and memory, exactly where positions recur."""
    rolls, value, values = best_rolls(game, np.zeros((1, *game.shape)))
    return Tablebase(game, value, rolls, values)


def best_first(values: ArrayLike) -> list[int]:
    """Order rolls by falling win probability, the fewest dice first where they tie within `TIE`."""
    left = dict(enumerate(np.asarray(values, np.float64).tolist()))
    order = []
    while left:
        enough = max(left.values()) - TIE
        best = min(roll for roll, value in left.items() if value >= enough)
        order.append(best)
        del left[best]
    return order


# --- every roll at one position -------------------------------------------------------------------

MemorySource = Literal["given", "start", "belief"]


class UnreachedError(BadInputError):
    """Play never comes to the position that was asked for."""


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
        rolls = [
            {key: value for key, value in one._asdict().items() if value is not None}
            for one in self.rolls
        ]
        best = self.rolls[0]
        return {"value": best.win_probability, "best_roll": best.dice, "rolls": rolls}

    def memory_line(self, rules: Rules, past: str, left_out: Sequence[str] = ()) -> str:
        """Say which memory it is of; `past` is the play behind a belief, `left_out` not given."""
        if self.memory is None:
            way = "play at random" if past == "random" else past
            return f"memory not given, averaged over how {way} gets here"
        given = f"memory given, {memory_line(rules, self.memory)}"
        names = dict(zip(memory_fields(rules, Memory()), memory_columns(rules), strict=True))
        missing = ", ".join(names[name] for name in left_out)
        return (
            f"{given}; not given, taken as before the first turn: {missing}" if missing else given
        )

    def table(self) -> Table:
        """Lay out a line for each roll."""
        rows = [
            (one.dice, percent(one.win_probability), loss(one.loss))
            + (() if one.played is None else (percent(one.played),))
            for one in self.rolls
        ]
        header = ("dice", "win probability", "loss", "played")[: len(rows[0])]
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
    """Exact win probability of every roll at a position."""
    check_position(game, score, opponent)
    if memory is not None:
        _check_memory(game, memory)
        if past is not None:
            raise HogeqError("past: allowed only without memory, which it would say")
    plays = None if strategy is None else table_of(game, strategy)
    before = plays if past is None else table_of(game, past)
    source: MemorySource = "belief" if memory is None else "given"
    if memory is None and plays is None and (before is None or not game.has_memory):
        source, memory = "start", Memory()
    weights: Floats | None = np.eye(game.memory_size)[game.memories.index(memory or Memory())]
    if memory is None and game.has_memory:
        weights = None if before is None else belief(game, before, None, score, opponent)
    if weights is None:
        raise UnreachedError(f"play never comes to {score} points against {opponent}")
    if plays is None:
        by_memory, shares = solve(game).roll_values(score, opponent), None
    else:
        (by_memory,) = hidden_action_values(game, plays, None, [(score, opponent)])
        shares = plays.policy[score, opponent]
    values = weights @ by_memory
    return Analysis(source, memory, ranked(game.rules, values, shares))


def ranked(rules: Rules, values: Floats, shares: Floats | None = None) -> tuple[RollValue, ...]:
    """Sort allowed choices by win probability, best first; a tie with the best loses nothing."""
    order = [roll for roll in best_first(values) if rules.choices[roll] >= rules.least_answer]
    behind = values[order[0]] - values
    return tuple(
        RollValue(
            rules.choices[roll],
            float(values[roll]),
            float(behind[roll]) if behind[roll] > TIE else 0.0,
            None if shares is None else float(shares[roll]),
        )
        for roll in order
    )


def _check_memory(game: HogEngine, memory: object) -> None:
    """Refuse a memory that the game does not have, with a `ValueError`."""
    if isinstance(memory, tuple) and memory in game.memories:
        return
    most = zip(Memory._fields, map(max, zip(*game.memories, strict=True)), strict=True)
    allowed = ", ".join(f"{name} 0 to {top}" if top else f"{name} 0" for name, top in most)
    raise HogeqError(f"memory: got {one_line(memory)}; allowed: one of game.memories: {allowed}")
