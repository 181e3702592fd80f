"""A review: what every turn of a game was worth, what its choice lost, and what was luck.

Win probabilities are those of optimal play from there on by both players, who remember everything.
"""

from typing import Any, NamedTuple

from hogeq.contest.transcript import Transcript
from hogeq.contest.turns import Engine, Situation, Tally, Turn, tally
from hogeq.model.game import HogEngine
from hogeq.rules import Rules
from hogeq.rules.memory import memory_fields


class Review(NamedTuple):
    """A game, turn by turn.

    Examples
    --------
    >>> import hogeq
    >>> rules = hogeq.rules_from({"edition": "fa22", "goal": 9, "max_dice": 2})
    >>> played = hogeq.Transcript.of([[1, 5], [5, 6]], rules, ("Ann", "Bob"))
    >>> round(hogeq.Game(rules).review(played).tallies[1].loss, 3)
    0.694
    """

    transcript: Transcript
    turns: tuple[Turn, ...]
    """All valued."""
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
                    **turn.plain(rules),
                    **_memory(turn, rules),
                    "best_rolls": list(turn.best),
                    "win_probability": {
                        "before": turn.best_value,
                        "chosen": turn.value,
                        "after": turn.value_after,
                    },
                    "cost": turn.loss,
                    "luck": turn.luck,
                    "grade": turn.grade,
                }
                for turn in self.turns
            ],
            "tallies": [
                {
                    "player": name,
                    "moves": one.moves,
                    "grades": one.grades,
                    "cost": one.loss,
                    "luck": one.luck,
                    "accuracy": one.accuracy,
                    "dearest": [turn.number for turn in one.costliest],
                }
                for name, one in zip(transcript.players, self.tallies, strict=True)
            ],
        }


def review(game: HogEngine, transcript: Transcript) -> Review:
    """Value every turn of a game, played by the rules that `game` is compiled from."""
    if transcript.rules != game.rules:
        raise ValueError(
            f"review: a game by {transcript.rules.name}; allowed: one by {game.rules.name}"
        )
    engine, end = Engine(game), transcript.end
    rolls = [engine.rolls(turn.before) for turn in transcript.turns]
    value = float(end.winner == end.mover)
    if end.winner is None:
        value = max(engine.rolls(end).values())
    after = [*(max(values.values()) for values in rolls[1:]), value]
    turns = []
    for turn, values, value in zip(transcript.turns, rolls, after, strict=True):
        own = value if turn.after.mover == turn.before.mover else 1.0 - value
        turns.append(turn._replace(rolls=values, value_after=own))
    return Review(
        transcript,
        tuple(turns),
        _of_both(turns[0].before, turns[0].best_value),
        _of_both(end, after[-1]),
        (tally(turns, 0), tally(turns, 1)),
    )


def _of_both(here: Situation, value: float) -> tuple[float, float]:
    """Win probabilities of players 0 and 1, given that of the mover."""
    return (value, 1.0 - value) if here.mover == 0 else (1.0 - value, value)


def _memory(turn: Turn, rules: Rules) -> dict[str, Any]:
    fields = memory_fields(rules, turn.before.memory)
    return {"memory": fields} if fields else {}
