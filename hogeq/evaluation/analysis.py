"""Win probability of every roll at one position."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from hogeq.evaluation.hidden import belief, check_position, hidden_action_values
from hogeq.evaluation.tablebase import best_first, solve
from hogeq.model.game import HogEngine
from hogeq.model.workspace import TIE
from hogeq.rules.memory import Memory
from hogeq.strategies.strategy import StrategyLike, check_game, table_of
from hogeq.support.aliases import Floats
from hogeq.support.messages import BadInputError, one_line

MemorySource = Literal["given", "start", "belief"]


class UnreachedError(BadInputError):
    """Play never comes to the position that was asked for."""


class RollValue(NamedTuple):
    """One roll at a position."""

    dice: int
    win_probability: float
    behind: float
    """By how much the win probability falls short of the best roll's; not negative."""
    played: float | None
    """Probability with which the strategy rolls it; None in optimal play."""


class Analysis(NamedTuple):
    """Every roll at a position.

    Examples
    --------
    >>> import hogeq
    >>> game = hogeq.Game({"edition": "fa22", "goal": 4, "max_dice": 1, "sides": 2})
    >>> game.analyze(0, 0).rolls[0]
    RollValue(dice=0, win_probability=1.0, behind=0.0, played=None)
    """

    source: MemorySource
    """Where the memory comes from: "given" by the caller, that of the "start" of a game, or the
    "belief": averaged over the memories with which the strategies' own play comes there."""
    memory: Memory | None
    """The memory at the position; None if it was averaged over."""
    rolls: tuple[RollValue, ...]
    """Best first, the fewest dice first where they tie."""


def analyze(
    game: HogEngine,
    score: int,
    opponent: int,
    strategy: StrategyLike | None = None,
    memory: Memory | None = None,
    past: StrategyLike | None = None,
) -> Analysis:
    """Exact win probability of every roll at a position."""
    check_game(game)
    check_position(game, score, opponent)
    if memory is not None:
        _check_memory(game, memory)
    plays = None if strategy is None else table_of(game, strategy)
    before = plays if past is None else table_of(game, past)
    source: MemorySource = (
        "given"
        if memory is not None
        else "start"
        if strategy is None and (past is None or not game.has_memory)
        else "belief"
    )
    if source == "start":
        memory = Memory()
    weights: Floats | None = None
    if memory is None and game.has_memory:
        weights = None if before is None else belief(game, before, None, score, opponent)
        if weights is None:
            raise UnreachedError(f"play never comes to {score} points against {opponent}")
    shares: Floats | None = None
    if plays is None:
        by_memory = solve(game).roll_values(score, opponent)
    else:
        (by_memory,) = hidden_action_values(game, plays, None, [(score, opponent)])
        shares = plays.policy[score, opponent]
    if memory is not None:
        values = by_memory[game.memories.index(memory)]
    else:
        values = by_memory[0] if weights is None else weights @ by_memory
    return Analysis(source, memory, ranked(game.choices, values, shares))


def ranked(
    choices: Sequence[int], values: Floats, shares: Floats | None = None
) -> tuple[RollValue, ...]:
    """Sort choices by their win probabilities, best first; a tie with the best loses nothing."""
    order = best_first(values)
    behind = values[order[0]] - values
    return tuple(
        RollValue(
            choices[roll],
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
    raise ValueError(f"memory: got {one_line(memory)}; allowed: one of game.memories: {allowed}")
