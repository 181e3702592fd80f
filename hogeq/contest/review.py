"""A review: what every turn of a game was worth, what its choice cost, and what was luck.

A win probability is exact, and that of optimal play from there on by both players, who remember
everything. A turn changes it twice. The *choice* takes it from that of the best roll to that of
the roll chosen: the difference is the cost, never negative. The *dice* take it from there, which is
what they yield on average, to where they led: the difference is the luck. So for either player::

    start - own costs + own luck + the other's costs - the other's luck = result

exactly: nothing is left that is neither skill nor luck.
"""

from itertools import pairwise
from typing import Any, Final, NamedTuple

from hogeq.contest.session import Engine, Situation
from hogeq.contest.transcript import RecordedTurn, Transcript
from hogeq.model.game import HogEngine
from hogeq.model.workspace import TIE
from hogeq.rules import Rules
from hogeq.rules.memory import memory_fields

GRADES: Final = {
    "best": 0.0,
    "good": 0.005,
    "inaccuracy": 0.02,
    "mistake": 0.05,
    "blunder": 1.0,
}
"""Names of costs, in win probability: a best roll costs nothing, a good one less than half a point,
an inaccuracy less than 2 points, a mistake less than 5, a blunder 5 points or more."""

DEAREST: Final = 3
"""Mistakes of a player that a review points out."""


class ReviewedTurn(NamedTuple):
    """One turn of a game, valued. Win probabilities are those of the player who took it."""

    number: int
    """From 1."""
    played: RecordedTurn
    before: float
    """Win probability if the best roll is chosen."""
    chosen: float
    """That of the roll chosen, before the dice are seen."""
    after: float
    """Where the dice led."""
    best: tuple[int, ...]
    """The best rolls, those that tie within `TIE`, the fewest dice first."""

    @property
    def cost(self) -> float:
        """Win probability that the choice gave away; 0 for a tie."""
        return 0.0 if self.played.dice in self.best else self.before - self.chosen

    @property
    def luck(self) -> float:
        """What the dice gave beyond what they give on average."""
        return self.after - self.chosen

    @property
    def grade(self) -> str:
        """Name of the cost, a key of `GRADES`."""
        return grade(self.cost)


class Tally(NamedTuple):
    """The turns of one player."""

    moves: int
    grades: dict[str, int]
    """Number of turns by the keys of `GRADES`."""
    cost: float
    """Sum of costs: what skill fell short of perfection."""
    luck: float
    """Sum of luck."""
    dearest: tuple[ReviewedTurn, ...]
    """Turns that cost most, at most `DEAREST`, the dearest first; none that cost nothing."""


class Review(NamedTuple):
    """A game, turn by turn.

    Examples
    --------
    >>> import hogeq
    >>> rules = hogeq.rules_from({"edition": "fa22", "goal": 9, "max_dice": 2})
    >>> played = hogeq.Transcript.of([[1, 5], [5, 6]], rules, ("Ann", "Bob"))
    >>> round(hogeq.Game(rules).review(played).tallies[1].cost, 3)
    0.694
    """

    transcript: Transcript
    turns: tuple[ReviewedTurn, ...]
    start: tuple[float, float]
    """Win probability of either player before the first turn."""
    result: tuple[float, float]
    """At the end: 1 for the winner and 0 for the other, or in between if the game was left."""
    tallies: tuple[Tally, Tally]

    def plain(self) -> dict[str, Any]:
        """Give the review as plain values, fit for JSON."""
        transcript = self.transcript
        rules = transcript.rules
        return {
            "rules": rules.name,
            "seed": transcript.seed,
            "players": list(transcript.players),
            "winner": transcript.end.winner,
            "start": list(self.start),
            "result": list(self.result),
            "turns": [
                {
                    "turn": turn.number,
                    "player": turn.played.before.mover,
                    "before": list(turn.played.before.scores),
                    **_memory(turn, rules),
                    "roll": turn.played.dice,
                    "dice": list(turn.played.faces),
                    "points": turn.played.turn.points,
                    "fired": turn.played.fired(rules),
                    "after": list(turn.played.after.scores),
                    "best_rolls": list(turn.best),
                    "win_probability": {
                        "before": turn.before,
                        "chosen": turn.chosen,
                        "after": turn.after,
                    },
                    "cost": turn.cost,
                    "luck": turn.luck,
                    "grade": turn.grade,
                }
                for turn in self.turns
            ],
            "tallies": [
                {
                    "player": name,
                    "moves": tally.moves,
                    "grades": tally.grades,
                    "cost": tally.cost,
                    "luck": tally.luck,
                    "dearest": [turn.number for turn in tally.dearest],
                }
                for name, tally in zip(transcript.players, self.tallies, strict=True)
            ],
        }


def grade(cost: float) -> str:
    """Name a cost.

    Parameters
    ----------
    cost : float
        In win probability, at least 0.

    Returns
    -------
    str
        A key of `GRADES`.

    Examples
    --------
    >>> grade(0.0), grade(0.004), grade(0.005), grade(0.03), grade(0.05)
    ('best', 'good', 'inaccuracy', 'mistake', 'blunder')
    """
    if cost <= TIE:
        return "best"
    return next((name for name, most in GRADES.items() if cost < most), "blunder")


def review(game: HogEngine, transcript: Transcript) -> Review:
    """Value every turn of a game.

    Parameters
    ----------
    game : HogEngine
        Compiled from ``transcript.rules``.
    transcript : Transcript
        As :func:`hogeq.read_transcript` gives it.

    Returns
    -------
    Review

    Raises
    ------
    ValueError
        If the game was played by other rules.
    """
    if transcript.rules != game.rules:
        raise ValueError(
            f"review: a game by {transcript.rules.name}; allowed: one by {game.rules.name}"
        )
    engine = Engine(game)
    values = [
        engine.roll_values(*turn.before.view, turn.before.memory) for turn in transcript.turns
    ]
    end = transcript.end
    places = [*(turn.before for turn in transcript.turns), end]
    bests = [float(rolls.max()) for rolls in values]
    if end.winner is None:
        bests.append(float(engine.roll_values(*end.view, end.memory).max()))
    else:
        bests.append(1.0 if end.winner == end.mover else 0.0)
    turns = []
    for number, (here, there) in enumerate(pairwise(range(len(places))), start=1):
        rolls = values[here]
        same = places[here].mover == places[there].mover
        enough = bests[here] - TIE
        turns.append(
            ReviewedTurn(
                number=number,
                played=transcript.turns[here],
                before=bests[here],
                chosen=float(rolls[transcript.turns[here].dice]),
                after=bests[there] if same else 1.0 - bests[there],
                best=tuple(roll for roll, value in enumerate(rolls) if value >= enough),
            )
        )
    return Review(
        transcript,
        tuple(turns),
        _of_both(places[0], bests[0]),
        _of_both(end, bests[-1]),
        (_tally(turns, 0), _tally(turns, 1)),
    )


def _of_both(place: Situation, value: float) -> tuple[float, float]:
    """Win probabilities of players 0 and 1, given that of the mover."""
    return (value, 1.0 - value) if place.mover == 0 else (1.0 - value, value)


def _tally(turns: list[ReviewedTurn], player: int) -> Tally:
    own = [turn for turn in turns if turn.played.before.mover == player]
    wrong = sorted((turn for turn in own if turn.cost > 0.0), key=lambda turn: -turn.cost)
    return Tally(
        moves=len(own),
        grades={name: sum(turn.grade == name for turn in own) for name in GRADES},
        cost=sum(turn.cost for turn in own),
        luck=sum(turn.luck for turn in own),
        dearest=tuple(wrong[:DEAREST]),
    )


def _memory(turn: ReviewedTurn, rules: Rules) -> dict[str, Any]:
    fields = memory_fields(rules, turn.played.before.memory)
    return {"memory": fields} if fields else {}
