"""A game between a person and an engine, turn by turn; nothing here reads or prints.

Every roll has an exact win probability: that of winning if both players go on as the engine does.
"""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from hogeq.contest.turns import Situation, Tally, Turn, advance, tally
from hogeq.evaluation.analysis import RollValue, ranked
from hogeq.evaluation.tablebase import best_first, solve
from hogeq.model.game import HogEngine
from hogeq.rules.memory import Memory
from hogeq.rules.turn import dice_sides
from hogeq.strategies.strategy import policy_of
from hogeq.support.aliases import Floats
from hogeq.support.messages import shown
from hogeq.support.parameters import Seed, check

YOU, ENGINE = 0, 1
PLAYERS = ("you", "engine")

First = Literal["you", "engine", "coin"]


class Engine:
    """Chooses rolls, and gives win probabilities of rolls if both players go on as it does.

    Without a strategy, a matrix (G, G) or a policy (G, G, K), it plays optimally and remembers
    everything.
    """

    def __init__(self, game: HogEngine, strategy: Any = None) -> None:
        self.optimal = strategy is None
        self._choices = game.choices
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

    def values_at(self, here: Situation) -> dict[int, float]:
        """Win probability of every choice of the player to move in a situation."""
        values = self.roll_values(*here.view, here.memory).tolist()
        return dict(zip(self._choices, values, strict=True))

    def choose(self, score: int, opponent: int, memory: Memory, random: np.random.Generator) -> int:
        """Choose the engine's action: the fewest dice of the best, or drawn from its policy."""
        if self._policy is None:
            return best_first(self.roll_values(score, opponent, memory))[0]
        row = self._policy[score, opponent]
        # Not Generator.choice, which refuses rows that miss 1 by the rounding policies may have.
        limit = random.random() * row.sum()
        return min(
            int(np.searchsorted(row.cumsum(), limit, side="right")), int(row.nonzero()[0][-1])
        )


class Session:
    """One game between a person and an engine.

    All chance follows from the seed: the coin and, by the number of the turn, the dice and the
    engine's draws. A turn taken back and played again with the same dice has the same outcome.
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
        self._start = Situation.start(mover)
        self._turns: list[Turn] = []

    # --- where the game stands ------------------------------------------------------------------

    @property
    def situation(self) -> Situation:
        """Where the game stands."""
        return self._turns[-1].after if self._turns else self._start

    @property
    def turns(self) -> tuple[Turn, ...]:
        """Turns of both players that stand, in order."""
        return tuple(self._turns)

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
    def legal(self) -> tuple[int, ...]:
        """Numbers of dice that may be rolled, and -1 where it may be chosen; none at the end."""
        return () if self.over else self.game.choices

    def odds(self) -> tuple[RollValue, ...]:
        """Exact win probability of every roll of the player to move, best first."""
        if self.over:
            raise ValueError("odds: the game is over")
        values = self.engine.values_at(self.situation)
        return ranked(self.game.choices, np.array(list(values.values())))

    @property
    def tally(self) -> Tally:
        """The person's turns so far."""
        return tally(self._turns, YOU)

    # --- playing --------------------------------------------------------------------------------

    def roll(self, dice: int) -> Turn:
        """Play the person's turn, with dice one of `legal`."""
        if not self.yours:
            reason = "the game is over" if self.over else "the engine is to move"
            raise ValueError(f"dice: {shown(dice)}, but {reason}")
        if type(dice) is not int or dice not in self.legal:
            allowed = f"{min(self.legal)} to {max(self.legal)}"
            raise ValueError(f"dice: {shown(dice)}; allowed: {allowed}")
        return self._play(dice, self._random(self.situation.turns + 1))

    def engine_turn(self) -> Turn:
        """Play the engine's turn."""
        if self.over or self.yours:
            raise ValueError("engine: it is not to move")
        situation = self.situation
        random = self._random(situation.turns + 1)
        action = self.engine.choose(*situation.view, situation.memory, random)
        return self._play(self.game.choices[action], random)

    def undo(self) -> tuple[Turn, ...]:
        """Take back, and give, the person's last turn and what the engine played since."""
        last = max(
            (i for i, turn in enumerate(self._turns) if turn.before.mover == YOU), default=-1
        )
        if last < 0:
            return ()
        taken = tuple(self._turns[last:])
        del self._turns[last:]
        return taken

    def record(self) -> dict[str, Any]:
        """Give the whole game as plain numbers and texts, fit for JSON."""
        rules, own, situation = self.game.rules, self.tally, self.situation
        return {
            "rules": rules.name,
            "seed": self.seed,
            "first": PLAYERS[self._start.mover],
            "winner": None if situation.winner is None else PLAYERS[situation.winner],
            "you": situation.scores[YOU],
            "engine": situation.scores[ENGINE],
            "turns": [_plain(turn) for turn in self._turns],
            "meter": {
                "moves": own.moves,
                "mistakes": own.grades["mistake"],
                "grades": own.grades,
                "total": own.loss,
            },
        }

    def _play(self, dice: int, random: np.random.Generator) -> Turn:
        faces = None
        if dice >= 0:
            faces = tuple(int(face) for face in random.integers(1, self.sides + 1, dice))
        values = self.engine.values_at(self.situation)
        turn = advance(self.game.rules, self.situation, faces)._replace(rolls=values)
        self._turns.append(turn)
        return turn

    def _random(self, turn: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, turn])


def _plain(turn: Turn) -> dict[str, Any]:
    return {
        "turn": turn.number,
        "player": PLAYERS[turn.before.mover],
        "before": {"you": turn.before.scores[YOU], "engine": turn.before.scores[ENGINE]},
        "memory": turn.before.memory._asdict(),
        "dice": turn.dice,
        "faces": list(turn.faces),
        "points": turn.outcome.points,
        "bonus": turn.outcome.bonus,
        "given": turn.outcome.given,
        "after": {"you": turn.after.scores[YOU], "engine": turn.after.scores[ENGINE]},
        "again": turn.outcome.again,
        "win_probability": turn.value,
        "best_roll": turn.best[0],
        "best_win_probability": turn.best_value,
        "cost": turn.loss,
    }
