"""Games turn by turn: where they stand, what a turn did, and what its choice of dice was worth.

A win probability is exact, and counts on how both players go on. A turn changes it twice. The
*choice* takes it from that of the best roll to that of the roll chosen: the difference is the
*loss*, never negative. The *dice* take it from there to where they led: the difference is the
*luck*. So for either player::

    start - own losses + own luck + the other's losses - the other's luck = result

exactly: nothing is left that is neither skill nor luck.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

from hogeq.model.workspace import TIE
from hogeq.rules import Rules
from hogeq.rules.memory import Memory
from hogeq.rules.turn import Turn as Outcome
from hogeq.rules.turn import play_turn, turn_effects

GRADES: Final = {
    "best": 0.0,
    "good": 0.005,
    "inaccuracy": 0.02,
    "mistake": 0.05,
    "blunder": 1.0,
}
"""Names of losses: a best roll loses nothing, a good one less than 0.5 pp, an inaccuracy less than
2 pp, a mistake less than 5 pp, a blunder 5 pp or more."""

COSTLIEST: Final = 3
"""Mistakes of a player that a review points out."""


def grade(loss: float) -> str:
    """Name a loss of win probability: a key of `GRADES`."""
    if loss <= TIE:
        return "best"
    return next((name for name, most in GRADES.items() if loss < most), "blunder")


class Situation(NamedTuple):
    """State of a game."""

    scores: tuple[int, int]
    """Of players 0 and 1."""
    mover: int
    """The player to move; once the game is over, the one who moved last."""
    memory: Memory
    """Of the player to move."""
    turns: int
    """Turns played so far, extra turns counted."""
    winner: int | None
    """None while the game goes on."""

    @classmethod
    def start(cls, mover: int, scores: tuple[int, int] = (0, 0)) -> "Situation":
        """Where a game begins, by the scores of who moves first and of the other."""
        return cls(scores if mover == 0 else scores[::-1], mover, Memory(), 0, None)

    @property
    def view(self) -> tuple[int, int]:
        """Scores of the player to move and of the other."""
        return self.scores[self.mover], self.scores[1 - self.mover]


class Turn(NamedTuple):
    """One turn of a game; win probabilities are those of the player who took it."""

    before: Situation
    dice: int
    """Dice rolled, or -1 for that choice."""
    faces: tuple[int, ...]
    """What the dice showed."""
    outcome: Outcome
    after: Situation
    rolls: Mapping[int, float] = MappingProxyType({})
    """Win probability of every choice, before the dice are seen; empty where it is not valued."""
    value_after: float = 0.0
    """Win probability where the dice led; 0 where it is not valued."""

    @property
    def number(self) -> int:
        """From 1."""
        return self.after.turns

    @property
    def best(self) -> tuple[int, ...]:
        """The best rolls, those that tie within `TIE`, the fewest dice first."""
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
        """What the dice gave beyond what they give on average."""
        return self.value_after - self.value

    @property
    def grade(self) -> str:
        """Name of the loss, a key of `GRADES`."""
        return grade(self.loss)

    def effects(self, rules: Rules) -> list[str]:
        """Say what the turn did, as :func:`hogeq.rules.turn.turn_effects` does."""
        return turn_effects(
            rules, *self.before.view, self.faces if self.dice >= 0 else None, self.outcome
        )

    def fired(self, rules: Rules) -> list[str]:
        """Name the rules that did something, in the order of the turn."""
        return [line.partition(":")[0] for line in self.effects(rules)[1:]]


def advance(rules: Rules, before: Situation, given: tuple[int, ...] | None) -> Turn:
    """Play the mover's turn by the faces of its dice, None for the choice -1; or a ValueError."""
    dice, faces = (-1, ()) if given is None else (len(given), given)
    outcome = play_turn(rules, *before.view, before.memory, dice, faces)
    landing, mover = outcome.landing, before.mover
    own, other = landing.score, landing.opponent
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
    """The turns of one player."""

    moves: int
    grades: dict[str, int]
    """Number of turns by the keys of `GRADES`."""
    loss: float
    """Sum of losses: what skill fell short of perfection."""
    luck: float
    """Sum of luck."""
    accuracy: float
    """Mean of what a choice kept of the win probability of the best roll, 0 to 1; 1 of no turns."""
    costliest: tuple[Turn, ...]
    """Turns that lost most, at most `COSTLIEST`, the worst first; none that lost nothing."""


def tally(turns: Sequence[Turn], player: int) -> Tally:
    """Sum up a player's turns, which are valued."""
    own = [turn for turn in turns if turn.before.mover == player]
    kept = [turn.value / turn.best_value if turn.best_value else 1.0 for turn in own]
    wrong = sorted((turn for turn in own if turn.loss > 0.0), key=lambda turn: -turn.loss)
    return Tally(
        moves=len(own),
        grades={name: sum(turn.grade == name for turn in own) for name in GRADES},
        loss=sum(turn.loss for turn in own),
        luck=sum(turn.luck for turn in own),
        accuracy=sum(kept) / len(kept) if kept else 1.0,
        costliest=tuple(wrong[:COSTLIEST]),
    )
