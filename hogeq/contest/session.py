"""A game between a person and an engine, turn by turn; nothing here reads or prints.

Every roll has an exact win probability: that of winning if both players go on as the engine does.
The cost of a roll is its win probability below that of the best roll, exact as well.
"""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from hogeq.evaluation.tablebase import best_first, solve
from hogeq.model.game import HogEngine
from hogeq.model.workspace import TIE
from hogeq.rules import Rules
from hogeq.rules.effects import turn_effects
from hogeq.rules.memory import Memory
from hogeq.rules.turn import Turn, dice_sides, play_turn
from hogeq.strategies.policies import policy_of
from hogeq.support.aliases import Floats
from hogeq.support.messages import shown
from hogeq.support.parameters import Seed, check

YOU, ENGINE = 0, 1
PLAYERS = ("you", "engine")

First = Literal["you", "engine", "coin"]


class Engine:
    """Chooses rolls, and gives win probabilities of rolls if both players go on as it does.

    Parameters
    ----------
    game : HogEngine
    strategy : array_like, optional
        A matrix (G, G) or a policy (G, G, K); without one it plays optimally and remembers
        everything.

    Raises
    ------
    ValueError
        If the strategy is malformed.
    """

    def __init__(self, game: HogEngine, strategy: ArrayLike | None = None) -> None:
        self.optimal = strategy is None
        self._memory = {memory: index for index, memory in enumerate(game.memories)}
        self._policy: Floats | None = None
        self._values: Callable[[int, int], Floats]
        if strategy is None:
            self._values = solve(game).roll_values
            return
        self._policy = policy_of(game, strategy)
        work = game.workspace(1)
        work.backward(self._policy[None], keep=True)
        self._values = work.hidden_values

    def roll_values(self, score: int, opponent: int, memory: Memory) -> Floats:
        """Win probability of every roll of the player to move, float64 (K,)."""
        return self._values(score, opponent)[self._memory[memory]]

    def choose(self, score: int, opponent: int, memory: Memory, random: np.random.Generator) -> int:
        """Dice that the engine rolls; the fewest of the best, or drawn from its policy."""
        if self._policy is None:
            return best_first(self.roll_values(score, opponent, memory))[0]
        row = self._policy[score, opponent]
        # Not Generator.choice, which refuses rows that miss 1 by the rounding policies may have.
        limit = random.random() * row.sum()
        return min(
            int(np.searchsorted(row.cumsum(), limit, side="right")), int(row.nonzero()[0][-1])
        )


class Situation(NamedTuple):
    """State of a game."""

    scores: tuple[int, int]
    """Of `YOU` and `ENGINE`."""
    mover: int
    """The player to move; once the game is over, the one who moved last."""
    memory: Memory
    """Of the player to move."""
    turns: int
    """Turns played so far, extra turns counted."""
    winner: int | None
    """None while the game goes on."""

    @property
    def view(self) -> tuple[int, int]:
        """Scores of the player to move and of the other."""
        return self.scores[self.mover], self.scores[1 - self.mover]


def advance(
    rules: Rules, situation: Situation, dice: int, faces: tuple[int, ...]
) -> tuple[Turn, Situation]:
    """Play the mover's turn with dice that have been rolled.

    Parameters
    ----------
    rules : Rules
    situation : Situation
        Of a game that goes on.
    dice : int
        Dice rolled.
    faces : tuple of int
        What they show.

    Returns
    -------
    turn : Turn
    after : Situation

    Raises
    ------
    ValueError
        As :func:`hogeq.rules.turn.play_turn`.
    """
    turn = play_turn(rules, *situation.view, situation.memory, dice, faces)
    landing, mover = turn.landing, situation.mover
    own, other = landing.score, landing.opponent
    winner = None
    if landing.winner is not None:
        winner = mover if landing.winner == 0 else 1 - mover
    after = Situation(
        scores=(own, other) if mover == 0 else (other, own),
        mover=mover if turn.again or winner is not None else 1 - mover,
        memory=turn.memory,
        turns=situation.turns + 1,
        winner=winner,
    )
    return turn, after


class Odds(NamedTuple):
    """One roll in a situation."""

    dice: int
    win_probability: float
    behind: float
    """Win probability short of the best roll's; 0 for a tie."""


class PlayedTurn(NamedTuple):
    """One turn that was played."""

    before: Situation
    dice: int
    faces: tuple[int, ...]
    turn: Turn
    odds: Odds
    """Of the dice that were rolled."""
    best: Odds
    """Of the best roll, the fewest dice of those that tie."""
    after: Situation

    @property
    def cost(self) -> float:
        """Win probability that the choice of dice gave away."""
        return self.odds.behind

    def effects(self, rules: Rules) -> list[str]:
        """Say what the turn did, as :func:`hogeq.rules.effects.turn_effects` does."""
        return turn_effects(rules, *self.before.view, self.faces, self.turn)


class Meter(NamedTuple):
    """Costs of a person's choices."""

    moves: int
    """Choices made."""
    mistakes: int
    """Those that cost anything."""
    total: float
    """Sum of the costs, in win probability."""
    worst: PlayedTurn | None
    """The costliest of the mistakes, the first of equals."""


class Session:
    """One game between a person and an engine.

    All chance follows from the seed: the coin and, by the number of the turn, the dice and the
    engine's draws. A turn taken back and played again with the same dice has the same outcome.

    Parameters
    ----------
    game : HogEngine
    engine : Engine
        Of the same game.
    first : {"you", "engine", "coin"}
        Who moves first.
    seed : int
        At least 0.

    Raises
    ------
    ValueError
        If `first` or `seed` is none of those.
    """

    def __init__(
        self, game: HogEngine, engine: Engine, first: First = "coin", seed: int = 0
    ) -> None:
        if first not in {*PLAYERS, "coin"}:
            raise ValueError(f"first: {shown(first)}; allowed: you, engine, coin")
        check(Seed, seed=seed)
        self.game, self.engine, self.seed = game, engine, seed
        coin = int(self._random(0).integers(2))
        mover = coin if first == "coin" else PLAYERS.index(first)
        self._start = Situation((0, 0), mover, Memory(), 0, None)
        self._played: list[PlayedTurn] = []

    # --- where the game stands ------------------------------------------------------------------

    @property
    def situation(self) -> Situation:
        """Where the game stands."""
        return self._played[-1].after if self._played else self._start

    @property
    def played(self) -> tuple[PlayedTurn, ...]:
        """Turns of both players that stand, in order."""
        return tuple(self._played)

    @property
    def over(self) -> bool:
        """Whether somebody has won."""
        return self.situation.winner is not None

    @property
    def yours(self) -> bool:
        """Whether the person is to move."""
        return not self.over and self.situation.mover == YOU

    @property
    def sides(self) -> int:
        """Sides of the dice of this turn."""
        return dice_sides(self.game.rules, *self.situation.view, self.situation.memory)

    @property
    def legal(self) -> range:
        """Numbers of dice that may be rolled; none once the game is over."""
        return range(0 if self.over else self.game.num_actions)

    def odds(self) -> list[Odds]:
        """Exact win probability of every roll of the player to move, best first.

        Raises
        ------
        ValueError
            If the game is over.
        """
        if self.over:
            raise ValueError("odds: the game is over")
        situation = self.situation
        values = self.engine.roll_values(*situation.view, situation.memory)
        best = float(values.max())
        found = []
        for dice in best_first(values):
            behind = best - float(values[dice])
            found.append(Odds(dice, float(values[dice]), behind if behind > TIE else 0.0))
        return found

    @property
    def meter(self) -> Meter:
        """Costs of the person's choices so far."""
        own = [move for move in self._played if move.before.mover == YOU]
        wrong = [move for move in own if move.cost > 0.0]
        total = sum(move.cost for move in own)
        worst = max(wrong, key=lambda move: move.cost, default=None)
        return Meter(len(own), len(wrong), total, worst)

    # --- playing --------------------------------------------------------------------------------

    def roll(self, dice: int) -> PlayedTurn:
        """Play the person's turn.

        Parameters
        ----------
        dice : int
            One of `legal`.

        Returns
        -------
        PlayedTurn

        Raises
        ------
        ValueError
            If the person is not to move, or may not roll so many.
        """
        if not self.yours:
            reason = "the game is over" if self.over else "the engine is to move"
            raise ValueError(f"dice: {shown(dice)}, but {reason}")
        if type(dice) is not int or dice not in self.legal:
            raise ValueError(f"dice: {shown(dice)}; allowed: 0 to {self.game.rules.max_dice}")
        return self._play(dice, self._random(self.situation.turns + 1))

    def engine_turn(self) -> PlayedTurn:
        """Play the engine's turn.

        Raises
        ------
        ValueError
            If the engine is not to move.
        """
        if self.over or self.yours:
            raise ValueError("engine: it is not to move")
        situation = self.situation
        random = self._random(situation.turns + 1)
        dice = self.engine.choose(*situation.view, situation.memory, random)
        return self._play(dice, random)

    def undo(self) -> tuple[PlayedTurn, ...]:
        """Take back the person's last turn, and what the engine played since.

        Returns
        -------
        tuple of PlayedTurn
            What was taken back, in the order in which it was played; nothing if the person has
            not moved yet.
        """
        last = max(
            (i for i, move in enumerate(self._played) if move.before.mover == YOU), default=-1
        )
        if last < 0:
            return ()
        taken = tuple(self._played[last:])
        del self._played[last:]
        return taken

    def record(self) -> dict[str, Any]:
        """Give the whole game as plain numbers and texts, fit for JSON."""
        rules, meter, situation = self.game.rules, self.meter, self.situation
        return {
            "rules": rules.name,
            "seed": self.seed,
            "first": PLAYERS[self._start.mover],
            "winner": None if situation.winner is None else PLAYERS[situation.winner],
            "you": situation.scores[YOU],
            "engine": situation.scores[ENGINE],
            "turns": [_plain(move) for move in self._played],
            "meter": {"moves": meter.moves, "mistakes": meter.mistakes, "total": meter.total},
        }

    def _play(self, dice: int, random: np.random.Generator) -> PlayedTurn:
        situation, odds = self.situation, self.odds()
        sides = self.sides
        faces = tuple(int(face) for face in random.integers(1, sides + 1, dice))
        turn, after = advance(self.game.rules, situation, dice, faces)
        chosen = next(entry for entry in odds if entry.dice == dice)
        move = PlayedTurn(situation, dice, faces, turn, chosen, odds[0], after)
        self._played.append(move)
        return move

    def _random(self, turn: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, turn])


def _plain(move: PlayedTurn) -> dict[str, Any]:
    return {
        "turn": move.after.turns,
        "player": PLAYERS[move.before.mover],
        "before": {"you": move.before.scores[YOU], "engine": move.before.scores[ENGINE]},
        "memory": move.before.memory._asdict(),
        "dice": move.dice,
        "faces": list(move.faces),
        "points": move.turn.points,
        "bonus": move.turn.bonus,
        "given": move.turn.given,
        "after": {"you": move.after.scores[YOU], "engine": move.after.scores[ENGINE]},
        "again": move.turn.again,
        "win_probability": move.odds.win_probability,
        "best_roll": move.best.dice,
        "best_win_probability": move.best.win_probability,
        "cost": move.cost,
    }
