"""A game between a person and an engine, turn by turn; nothing here reads or prints.

Every roll has an exact win probability: that of winning from here on if both players then play as
the engine does.  What a person's roll falls short of the best is its cost, exact as well.
"""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from hogeq.evaluation.tablebase import TIE, best_first, solve
from hogeq.evaluation.win_rates import policy_of
from hogeq.model.game import Game
from hogeq.rules import Rules
from hogeq.rules.memory import Memory
from hogeq.rules.parts import SWAPS, ZERO_DICE, square_swine
from hogeq.rules.turn import Turn, dice_sides, play_turn
from hogeq.support.aliases import Floats
from hogeq.support.limits import check_number

YOU, ENGINE = 0, 1
PLAYERS = ("you", "engine")

First = Literal["you", "engine", "coin"]


class Engine:
    """Plays turns, and says what rolls are worth when both players go on as it does.

    Parameters
    ----------
    game : Game
    strategy : array_like, optional
        A matrix (G, G) or a policy (G, G, K); without one it plays optimally and remembers
        everything.

    Raises
    ------
    ValueError
        If the strategy is malformed, or if there is none and positions of the game can recur.
    """

    def __init__(self, game: Game, strategy: ArrayLike | None = None) -> None:
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


class Position(NamedTuple):
    """Where a game stands."""

    scores: tuple[int, int]
    """Of `YOU` and `ENGINE`."""
    mover: int
    """Whose turn it is; once the game is over, whose turn was the last."""
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


class Odds(NamedTuple):
    """One roll at a position."""

    dice: int
    win_probability: float
    behind: float
    """Win probability short of the best roll's; 0 for a tie."""


class Move(NamedTuple):
    """One turn that was played."""

    before: Position
    dice: int
    faces: tuple[int, ...]
    turn: Turn
    odds: Odds
    """Of the dice that were rolled."""
    best: Odds
    """Of the best roll, the fewest dice of those that tie."""
    after: Position

    @property
    def cost(self) -> float:
        """Win probability that the choice of dice gave away."""
        return self.odds.behind


class Meter(NamedTuple):
    """What a person's choices cost."""

    moves: int
    """Choices made."""
    mistakes: int
    """Those that cost anything."""
    total: float
    """Sum of the costs, in win probability."""
    worst: Move | None
    """The costliest of the mistakes, the first of equals."""


class Session:
    """One game between a person and an engine.

    All chance follows from the seed: the coin, and for every turn, by its number, the dice and an
    engine's draws.  Taken back and played again alike, a turn comes out the same.

    Parameters
    ----------
    game : Game
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

    def __init__(self, game: Game, engine: Engine, first: First = "coin", seed: int = 0) -> None:
        if first not in {*PLAYERS, "coin"}:
            raise ValueError(f"first: {first!r}, allowed are you, engine, coin")
        check_number("seed", seed, whole=True, least=0)
        self.game, self.engine, self.seed = game, engine, seed
        coin = int(self._random(0).integers(2))
        mover = coin if first == "coin" else PLAYERS.index(first)
        self._start = Position((0, 0), mover, Memory(), 0, None)
        self._moves: list[Move] = []

    # --- where the game stands ------------------------------------------------------------------

    @property
    def position(self) -> Position:
        """Where the game stands."""
        return self._moves[-1].after if self._moves else self._start

    @property
    def moves(self) -> tuple[Move, ...]:
        """Turns of both players that stand, in order."""
        return tuple(self._moves)

    @property
    def over(self) -> bool:
        """Whether somebody has won."""
        return self.position.winner is not None

    @property
    def yours(self) -> bool:
        """Whether the person is to move."""
        return not self.over and self.position.mover == YOU

    @property
    def sides(self) -> int:
        """Sides of the dice of this turn."""
        return dice_sides(self.game.rules, *self.position.view, self.position.memory)

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
        position = self.position
        values = self.engine.roll_values(*position.view, position.memory)
        best = float(values.max())
        found = []
        for dice in best_first(values):
            behind = best - float(values[dice])
            found.append(Odds(dice, float(values[dice]), behind if behind > TIE else 0.0))
        return found

    @property
    def meter(self) -> Meter:
        """What the person's choices cost so far."""
        own = [move for move in self._moves if move.before.mover == YOU]
        wrong = [move for move in own if move.cost > 0.0]
        total = sum(move.cost for move in own)
        worst = max(wrong, key=lambda move: move.cost, default=None)
        return Meter(len(own), len(wrong), total, worst)

    # --- playing --------------------------------------------------------------------------------

    def roll(self, dice: int) -> Move:
        """Play the person's turn.

        Parameters
        ----------
        dice : int
            One of `legal`.

        Returns
        -------
        Move

        Raises
        ------
        ValueError
            If the person is not to move, or may not roll so many.
        """
        if not self.yours:
            reason = "the game is over" if self.over else "the engine is to move"
            raise ValueError(f"dice: {dice!r}, but {reason}")
        if type(dice) is not int or dice not in self.legal:
            raise ValueError(f"dice: {dice!r}, allowed are 0 to {self.game.rules.max_dice}")
        return self._play(dice, self._random(self.position.turns + 1))

    def engine_turn(self) -> Move:
        """Play the engine's turn.

        Raises
        ------
        ValueError
            If the engine is not to move.
        """
        if self.over or self.yours:
            raise ValueError("engine: it is not to move")
        position = self.position
        random = self._random(position.turns + 1)
        dice = self.engine.choose(*position.view, position.memory, random)
        return self._play(dice, random)

    def undo(self) -> tuple[Move, ...]:
        """Take back the person's last turn, and what the engine played since.

        Returns
        -------
        tuple of Move
            What was taken back, in the order in which it was played; nothing if the person has
            not moved yet.
        """
        last = max(
            (i for i, move in enumerate(self._moves) if move.before.mover == YOU), default=-1
        )
        if last < 0:
            return ()
        taken = tuple(self._moves[last:])
        del self._moves[last:]
        return taken

    def record(self) -> dict[str, Any]:
        """Give the whole game as plain numbers and texts, fit for JSON."""
        rules, meter, position = self.game.rules, self.meter, self.position
        return {
            "rules": rules.name,
            "seed": self.seed,
            "first": PLAYERS[self._start.mover],
            "winner": None if position.winner is None else PLAYERS[position.winner],
            "you": position.scores[YOU],
            "engine": position.scores[ENGINE],
            "turns": [_plain(move) for move in self._moves],
            "meter": {"moves": meter.moves, "mistakes": meter.mistakes, "total": meter.total},
        }

    def _play(self, dice: int, random: np.random.Generator) -> Move:
        position, odds = self.position, self.odds()
        sides = self.sides
        faces = tuple(int(face) for face in random.integers(1, sides + 1, dice))
        turn = play_turn(self.game.rules, *position.view, position.memory, dice, faces)
        landing, mover = turn.landing, position.mover
        own, other = landing.score, landing.opponent
        winner = None
        if landing.winner is not None:
            winner = mover if landing.winner == 0 else 1 - mover
        after = Position(
            scores=(own, other) if mover == YOU else (other, own),
            mover=mover if turn.again or winner is not None else 1 - mover,
            memory=turn.memory,
            turns=position.turns + 1,
            winner=winner,
        )
        chosen = next(entry for entry in odds if entry.dice == dice)
        move = Move(position, dice, faces, turn, chosen, odds[0], after)
        self._moves.append(move)
        return move

    def _random(self, turn: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, turn])


def _plain(move: Move) -> dict[str, Any]:
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


def effects(rules: Rules, move: Move) -> list[str]:
    """Say what a turn did to the scores, one part of the rules a line.

    Parameters
    ----------
    rules : Rules
    move : Move

    Returns
    -------
    list of str
        The points first, then what else took place, in the order of the turn.
    """
    turn, dice = move.turn, move.dice
    score, opponent = move.before.view
    if dice == 0:
        plain = ZERO_DICE[rules.zero_dice](opponent)
        what = "rolled no dice"
    else:
        plain = rules.pig_out if 1 in move.faces else sum(move.faces)
        what = f"rolled {dice}: {' '.join(map(str, move.faces))}" + (
            ", with a 1" if 1 in move.faces else ""
        )
    lines = [f"{what}, {_points(plain)}"]
    if plain != turn.points:
        lines.append(f"Hogtimus Prime: {_points(turn.points)} instead of {plain}")
    if turn.bonus:
        lines.append(f"Feral Hogs: {_points(turn.bonus)} more")
    if turn.given:
        lines.append(f"Piggy Back: {_points(turn.given)} to the other")
    reached = score + turn.points + turn.bonus
    other = opponent + turn.given
    if rules.square_swine and square_swine(reached) != reached:
        lines.append(f"Square Swine: {reached} becomes {square_swine(reached)}")
        reached = square_swine(reached)
    if SWAPS[rules.swap](reached, other) and reached != other:
        lines.append("Swap: the scores trade places")
    if turn.again:
        part = "More Boar" if turn.landing.again else "Time Trot"
        lines.append(f"{part}: an extra turn")
    return lines


def _points(number: int) -> str:
    return f"{number} point{'' if number == 1 else 's'}"
