"""Games turn by turn, and an engine to play against.

For either player: start - own losses + own luck + other's losses - other's luck = result, exactly.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple

import numpy as np

from hogeq.evaluation.tablebase import RollValue, best_first, rank_rolls, solve
from hogeq.model.game import HogEngine, compile_game
from hogeq.model.one_turn import values_at
from hogeq.model.rows import TIE
from hogeq.model.state_values import hidden_values, settled
from hogeq.rules import Rules
from hogeq.rules.memory import Memory
from hogeq.rules.turn import Turn as Outcome
from hogeq.rules.turn import dice_sides, play_turn, throw_of, turn_effects
from hogeq.strategies.conversion import policy_of
from hogeq.support.aliases import Floats
from hogeq.support.messages import HogeqError
from hogeq.support.parameters import Seed, check

GRADES: Final = {"best": 0.0, "good": 0.005, "inaccuracy": 0.02, "mistake": 0.05, "blunder": 1.0}
"""Grades of a turn, and the loss of win probability that each stays below; "best" loses nothing."""

COSTLIEST: Final = 3  # turns of a player that a review points out
YOU, ENGINE = 0, 1
PLAYERS = ("you", "engine")


def grade(loss: float) -> str:
    """Name a loss of win probability: a key of `GRADES`."""
    if loss <= TIE:
        return "best"
    return next((name for name, limit in GRADES.items() if loss < limit), "blunder")


class Situation(NamedTuple):
    """State of a game.

    Examples
    --------
    >>> import hogeq
    >>> hogeq.Situation.start(1, (10, 0)).view
    (10, 0)
    """

    scores: tuple[int, int]  # of players 0 and 1
    mover: int  # the player to move; once the game is over, the one who moved last
    memory: Memory
    turns: int  # turns played so far, extra turns counted
    winner: int | None

    @classmethod
    def start(cls, mover: int, scores: tuple[int, int] = (0, 0)) -> "Situation":
        """Beginning of a game, by the scores of its first mover and of the other."""
        by_player = scores if mover == 0 else scores[::-1]
        return cls(by_player, mover, Memory(), turns=0, winner=None)

    @property
    def view(self) -> tuple[int, int]:
        """Scores of the player to move and of the other."""
        return self.scores[self.mover], self.scores[1 - self.mover]


class Turn(NamedTuple):
    """One turn of a game; win probabilities are its mover's.

    Examples
    --------
    >>> import hogeq
    >>> played = hogeq.Transcript.of([[3, 5], [6]], hogeq.rules_from("fa25"), ("Ann", "Bob"))
    >>> isinstance(played.turns[1], hogeq.Turn), played.turns[1].after.scores
    (True, (11, 7))
    """

    before: Situation
    dice: int  # dice rolled, or -1 for that choice
    faces: tuple[int, ...]
    outcome: Outcome
    after: Situation
    rolls: Mapping[int, float] = MappingProxyType({})
    """Win probability of every choice, before the dice are seen; empty where it is not valued."""
    value_after: float = 0.0  # win probability where the dice led; 0 where it is not valued

    @property
    def number(self) -> int:
        """Number of the turn, from 1."""
        return self.after.turns

    @property
    def best(self) -> tuple[int, ...]:
        """The best rolls, which tie within `TIE`, the fewest dice first."""
        enough = self.best_value - TIE
        return tuple(dice for dice, value in self.rolls.items() if value >= enough)

    @property
    def best_value(self) -> float:
        """Win probability of the best roll."""
        return max(self.rolls.values())

    @property
    def value(self) -> float:
        """Win probability of the roll chosen."""
        return self.rolls[self.dice]

    @property
    def loss(self) -> float:
        """Win probability that the choice gave away; 0 for a tie."""
        return 0.0 if self.dice in self.best else self.best_value - self.value

    @property
    def luck(self) -> float:
        """Win probability that the dice gave beyond their average."""
        return self.value_after - self.value

    @property
    def grade(self) -> str:
        """Name of the loss, a key of `GRADES`."""
        return grade(self.loss)

    def effects(self, rules: Rules) -> list[str]:
        """Describe the turn's effects, as :func:`hogeq.rules.turn.turn_effects` does."""
        faces = None if self.dice < 0 else self.faces
        return turn_effects(rules, *self.before.view, faces, self.outcome)

    def fired(self, rules: Rules) -> list[str]:
        """Name the rules that did something, in the order of the turn."""
        return [line.partition(":")[0] for line in self.effects(rules)[1:]]

    def plain(self, rules: Rules) -> dict[str, Any]:
        """Give the turn as plain values, as a transcript has it."""
        return {
            "player": self.before.mover,
            "before": list(self.before.scores),
            "roll": self.dice,
            "dice": list(self.faces),
            "points": self.outcome.points,
            "fired": self.fired(rules),
            "after": list(self.after.scores),
        }


def advance(rules: Rules, before: Situation, roll: tuple[int, ...] | None) -> Turn:
    """Play the mover's turn by the faces of its dice, None for the choice -1.

    Raises ValueError if the rules do not allow this roll.
    """
    dice = -1 if roll is None else len(roll)
    faces = () if roll is None else roll
    mover = before.mover
    rules = rules if mover == 0 else rules.for_second()  # the players may have different goals
    outcome = play_turn(rules, *before.view, before.memory, dice, faces)
    landing = outcome.landing  # numbers players as the mover sees them: 0 is the mover
    own = landing.score
    other = landing.opponent
    winner = None
    if landing.winner is not None:
        winner = mover if landing.winner == 0 else 1 - mover
    after = Situation(
        scores=(own, other) if mover == 0 else (other, own),
        mover=mover if outcome.again or winner is not None else 1 - mover,
        memory=outcome.memory,
        turns=before.turns + 1,
        winner=winner,
    )
    return Turn(before, dice, faces, outcome, after)


class Tally(NamedTuple):
    """The turns of one player: sums of losses and luck, and the number of turns of each grade."""

    moves: int
    grades: dict[str, int]
    loss: float
    luck: float
    accuracy: float
    """Mean of what a choice kept of the win probability of the best roll, 0 to 1; 1 of no turns."""
    costliest: tuple[Turn, ...]
    """Turns that lost most, at most `COSTLIEST`, the worst first; none that lost nothing."""

    def plain(self) -> dict[str, Any]:
        """Give the sums as plain values, with the numbers of the costliest turns as ``dearest``."""
        plain = self._asdict()
        plain["dearest"] = [turn.number for turn in plain.pop("costliest")]
        return plain


def tally(turns: Sequence[Turn], player: int) -> Tally:
    """Sum up a player's turns, of the turns of both, which have to be valued."""
    own_turns = [turn for turn in turns if turn.before.mover == player]
    accuracies = [turn.value / turn.best_value if turn.best_value else 1.0 for turn in own_turns]
    mistakes = [turn for turn in own_turns if turn.loss > 0.0]
    mistakes.sort(key=lambda turn: -turn.loss)
    return Tally(
        moves=len(own_turns),
        grades={name: sum(turn.grade == name for turn in own_turns) for name in GRADES},
        loss=sum(turn.loss for turn in own_turns),
        luck=sum(turn.luck for turn in own_turns),
        accuracy=sum(accuracies) / len(accuracies) if accuracies else 1.0,
        costliest=tuple(mistakes[:COSTLIEST]),
    )


# --- a person against an engine -------------------------------------------------------------------


class Engine:
    """Chooses rolls by a strategy, or without one optimally.

    Its values of rolls assume that both players play on as it does.
    """

    def __init__(self, game: HogEngine, strategy: Any = None) -> None:
        """Value all rolls: by optimal play, or as if both players followed the strategy."""
        self.optimal = strategy is None
        self._choices = game.choices
        self._memory_index = {memory: index for index, memory in enumerate(game.memories)}
        self._policy: Floats | None = None  # (G, G, K)
        # Functions that give values (M, K) at two scores: one for each player, or one for both.
        self._values: list[Callable[[int, int], Floats]]
        if strategy is None:
            second_game = compile_game(game.rules.for_second(), own_goals=True)
            # Without duplicates: if both players have the same rules, the game is solved once.
            games = dict.fromkeys((game, second_game))
            self._values = [solve(player_game).roll_values for player_game in games]
            return
        self._policy = policy_of(game, strategy)
        num_players = 2 if game.has_own_goals else 1
        hidden = settled(hidden_values(game, np.stack([self._policy] * num_players)))
        self._values = [partial(values_at, hidden, player=player) for player in range(num_players)]

    def values(self, situation: Situation) -> Floats:
        """Win probability of every choice of the player to move, float64 (K,)."""
        values = self._values[situation.mover % len(self._values)]
        return values(*situation.view)[self._memory_index[situation.memory]]

    def rolls(self, situation: Situation) -> dict[int, float]:
        """Win probability of every choice of the player to move, by its dice."""
        return dict(zip(self._choices, self.values(situation).tolist(), strict=True))

    def choose(self, situation: Situation, random: np.random.Generator) -> int:
        """Choose the number of dice: the fewest of the best rolls, or a draw from the policy."""
        if self._policy is None:
            return self._choices[best_first(self.values(situation))[0]]
        probabilities = self._policy[situation.view]
        # Not Generator.choice, which refuses rows that miss 1 by the rounding policies may have.
        number = random.random() * probabilities.sum()
        action = int(np.searchsorted(probabilities.cumsum(), number, side="right"))
        # Rounding might draw an action after the last one that has a positive probability.
        last_action = int(probabilities.nonzero()[0][-1])
        return self._choices[min(action, last_action)]


class Session:
    """One game between a person and an engine; `Hog.play` begins it.

    All chance follows from the seed: the coin and, by the number of the turn, the dice and the
    engine's draws. A turn taken back and played again with the same dice has the same outcome.

    Examples
    --------
    >>> import hogeq
    >>> session = hogeq.Game("fa22").play("always_roll:4", first="you")
    >>> session.play(3).dice, session.yours, session.play().dice
    (3, False, 4)
    """

    PLAYERS = PLAYERS

    turns: tuple[Turn, ...] = ()  # turns of both players that stand, in order

    def __init__(
        self,
        game: HogEngine,
        engine: Engine,
        first: Literal["you", "engine", "coin"] = "coin",
        seed: int = 0,
        start: tuple[int, int] = (0, 0),
    ) -> None:
        """Begin a game: the seed draws who moves first unless `first` says it."""
        check(Seed, seed=seed)
        self.game = game
        self.engine = engine
        self.seed = seed
        coin = int(np.random.default_rng([seed, 0]).integers(2))
        self._start = Situation.start(coin if first == "coin" else PLAYERS.index(first), start)

    @property
    def situation(self) -> Situation:
        """Where the game stands."""
        return self.turns[-1].after if self.turns else self._start

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
    def tally(self) -> Tally:
        """The person's turns so far."""
        return tally(self.turns, YOU)

    def odds(self) -> tuple[RollValue, ...]:
        """Exact win probability of every roll of the player to move, best first."""
        return rank_rolls(self.game.rules, self.engine.values(self.situation))

    def play(self, dice: int | None = None) -> Turn:
        """Play the turn of the player to move, by default with the dice that the engine chooses."""
        situation = self.situation
        if situation.winner is not None:
            raise HogeqError("turn: the game is over")
        random = np.random.default_rng([self.seed, situation.turns + 1])
        if dice is None:
            dice = self.engine.choose(situation, random)
        faces = None  # stays so for the choice -1
        if dice >= 0:
            throw = throw_of(self.game.rules, *situation.view, situation.memory)
            faces = tuple(random.integers(1, throw.sides + 1, throw.dice(dice)).tolist())
        turn = advance(self.game.rules, situation, faces)
        turn = turn._replace(rolls=self.engine.rolls(situation))
        self.turns += (turn,)
        return turn

    def undo(self) -> tuple[Turn, ...]:
        """Take back the person's last turn and the engine's turns since, and return them."""
        own_turns = [index for index, turn in enumerate(self.turns) if turn.before.mover == YOU]
        num_left = own_turns[-1] if own_turns else len(self.turns)
        undone = self.turns[num_left:]
        self.turns = self.turns[:num_left]
        return undone

    def record(self) -> dict[str, Any]:
        """Give the whole game as plain numbers and texts, fit for JSON."""
        own_tally = self.tally
        situation = self.situation
        return {
            "rules": self.game.rules.name,
            "seed": self.seed,
            "first": PLAYERS[self._start.mover],
            "winner": None if situation.winner is None else PLAYERS[situation.winner],
            **dict(zip(PLAYERS, situation.scores, strict=True)),
            "turns": [
                {
                    "turn": turn.number,
                    "player": PLAYERS[turn.before.mover],
                    "before": dict(zip(PLAYERS, turn.before.scores, strict=True)),
                    "memory": turn.before.memory._asdict(),
                    "dice": turn.dice,
                    "faces": list(turn.faces),
                    "points": turn.outcome.points,
                    "bonus": turn.outcome.bonus,
                    "given": turn.outcome.given,
                    "after": dict(zip(PLAYERS, turn.after.scores, strict=True)),
                    "again": turn.outcome.again,
                    "win_probability": turn.value,
                    "best_roll": turn.best[0],
                    "best_win_probability": turn.best_value,
                    "loss": turn.loss,
                }
                for turn in self.turns
            ],
            "meter": {
                "moves": own_tally.moves,
                "mistakes": own_tally.grades["mistake"],
                "grades": own_tally.grades,
                "total": own_tally.loss,
            },
        }
