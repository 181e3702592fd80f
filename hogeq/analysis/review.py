"""Reviews of games: what the choice of every turn lost, and what was luck of its dice."""

from collections.abc import Sequence
from textwrap import wrap
from typing import Any, Final, NamedTuple

from hogeq.analysis.transcript import Transcript
from hogeq.analysis.turns import Engine, Situation, Tally, Turn, tally
from hogeq.model.game import HogEngine
from hogeq.rules import Rules
from hogeq.rules.memory import memory_columns, memory_fields, memory_texts
from hogeq.support import html
from hogeq.support.messages import HogeqError, Table, Text, indented, loss, one_line, percent, pp

_MAX_BEST_NAMED: Final = 3  # rolls that tie for the best, in the table of turns
_MAX_NAME_LENGTH: Final = 10  # characters of a player's name in the table of turns


class Review(NamedTuple):
    """Worth of every turn of a game, loss of its choice, and luck of its dice.

    Win probabilities are those of optimal play from there on by both, who remember everything.

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
    """The same at the end: 1 and 0, or in between if the game was left."""
    tallies: tuple[Tally, Tally]

    def _repr_html_(self) -> str:
        """Write a line for each turn, in a notebook."""
        names = self.transcript.players
        rows = []
        for turn in self.turns:
            own, other = turn.before.view
            position = (turn.number, names[turn.before.mover], f"{own} to {other}")
            figures = (turn.dice, turn.best[0], loss(turn.loss), pp(turn.luck), turn.grade)
            rows.append((*position, *figures))
        header = ("turn", "player", "scores", "rolled", "best", "loss", "luck", "grade")
        first_loss, second_loss = (loss(tally.loss) for tally in self.tallies)
        title = f"Lost by choices: {names[0]} {first_loss}, {names[1]} {second_loss}"
        return html.table(rows, header, title)

    def to_json(self) -> dict[str, Any]:
        """Return the review as plain values."""
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
                    "loss": turn.loss,
                    "luck": turn.luck,
                    "grade": turn.grade,
                }
                for turn in self.turns
            ],
            "tallies": [
                {"player": name, **tally.plain()}
                for name, tally in zip(transcript.players, self.tallies, strict=True)
            ],
        }

    def text(self, title: str, notes: Sequence[str] = ()) -> Text:
        """Lay out all turns, the gain of each choice and of the dice, and the costliest rolls."""
        costliest = Text([])
        for name, own in zip(self.transcript.players, self.tallies, strict=True):
            if own.costliest:
                costliest += ["", f"costliest rolls of {name}"]
                costliest += indented(map(_costly_roll, own.costliest))
        return [
            _heading(title, self.transcript),
            "",
            *self._text_of_turns(),
            *notes,
            "",
            *self._text_of_players(),
            *costliest,
        ]

    def _text_of_turns(self) -> Text:
        """Lay out the play of every turn, then its values, and a note on the columns of values."""
        rules = self.transcript.rules
        names = self.transcript.players
        memory_names = [  # shortened, since tables have to fit 80 columns
            name.replace("opponent's", "their").replace("last points", "last")
            for name in memory_columns(rules)
        ]
        played_rows = [_played_row(turn, names, rules) for turn in self.turns]
        valued_rows = [_valued_row(turn, rules.max_dice) for turn in self.turns]
        played_columns = ("player", "turn", "scores", *memory_names, "rolled", "dice", "rules")
        valued_columns = (
            *("turn", "rolled", "best", "before", "chosen", "after", "loss", "luck", "grade"),
        )
        play = "optimal play that remembers everything" if memory_names else "optimal play"
        return [
            Table(played_rows, played_columns),
            "",
            Table(valued_rows, valued_columns, left=0),
            "",
            *wrap(
                f"Win probabilities, with {play} from there on, are those of whoever moves: "
                "before, by the best roll; by the roll chosen; after the dice. Loss, in percentage "
                "points, is what the choice lost of the first; luck is what the dice added to the "
                "second.",
                79,
            ),
        ]

    def _text_of_players(self) -> Text:
        """Lay out the grades and the accuracy of each player, and the changes from start to end."""
        grade_rows = []
        change_rows = []
        accuracies = []
        for player, own in enumerate(self.tallies):
            name = self.transcript.players[player]
            other = self.tallies[1 - player]
            # start - own losses + own luck + other's losses - other's luck = result
            changes = _without_unit(*map(pp, (-own.loss, own.luck, other.loss, -other.luck)))
            start = percent(self.start[player])
            change_rows.append((name, start, *changes, percent(self.result[player])))
            grade_rows.append((name, own.moves, *own.grades.values(), loss(own.loss)))
            accuracies.append(f"{name} {percent(own.accuracy)}")
        columns = ("player", "start", "own choices", "dice", "their choices", "dice", "result")
        return [
            Table(grade_rows, ("player", "turns", *self.tallies[0].grades, "loss")),
            "",
            *wrap(
                "Accuracy, the mean of what a choice kept of the best roll's win probability: "
                f"{', '.join(accuracies)}.",
                79,
            ),
            "",
            Table(change_rows, columns),
        ]


def review(game: HogEngine, transcript: Transcript) -> Review:
    """Value every turn of a game by optimal play from there on.

    The loss of a turn compares its roll with the best one, its luck compares the win probability
    after the dice with that of the roll. The transcript has to be by the rules of `game`.
    """
    if transcript.rules != game.rules:
        raise HogeqError(
            f"review: a game by {transcript.rules.name}; allowed: one by {game.rules.name}"
        )
    engine = Engine(game)
    end = transcript.end
    last_value = float(end.winner == end.mover)  # win probability of the mover at the end
    if end.winner is None:  # the game was left
        last_value = max(engine.rolls(end).values())
    rolls = [engine.rolls(turn.before) for turn in transcript.turns]
    # Win probabilities after each turn, of the player who moves next.
    next_values = [*(max(values.values()) for values in rolls[1:]), last_value]
    turns = []
    for turn, values, next_value in zip(transcript.turns, rolls, next_values, strict=True):
        moves_again = turn.after.mover == turn.before.mover
        own_value = next_value if moves_again else 1.0 - next_value
        turns.append(turn._replace(rolls=values, value_after=own_value))
    return Review(
        transcript=transcript,
        turns=tuple(turns),
        start=_of_both_players(turns[0].before, turns[0].best_value),
        result=_of_both_players(end, last_value),
        tallies=(tally(turns, 0), tally(turns, 1)),
    )


def _heading(title: str, transcript: Transcript) -> str:
    """Say who played, with which seed, and how the game ended."""
    first, second = transcript.players
    seed = "" if transcript.seed is None else f", seed {transcript.seed}"
    scores = transcript.end.scores
    winner = transcript.end.winner
    if winner is None:
        end = f"left at {scores[0]} to {scores[1]}"
    else:
        end = f"{transcript.players[winner]} wins, {max(scores)} to {min(scores)}"
    return f"{title}, {first} against {second}{seed}: {end}"


def _played_row(turn: Turn, names: Sequence[str], rules: Rules) -> tuple[Any, ...]:
    """Lay out what happened in a turn: its position, the roll, the dice, and rules with effects."""
    own, other = turn.before.view
    name = one_line(names[turn.before.mover], _MAX_NAME_LENGTH)
    memory = memory_texts(rules, turn.before.memory)
    faces = " ".join(map(str, turn.faces))
    fired = ", ".join(turn.fired(rules))
    return (name, turn.number, f"{own} to {other}", *memory, turn.dice, faces, fired)


def _valued_row(turn: Turn, max_dice: int) -> tuple[Any, ...]:
    """Lay out what a turn was worth: best rolls, win probabilities, loss, luck and grade."""
    best = " ".join(map(str, turn.best[:_MAX_BEST_NAMED]))
    if len(turn.best) > _MAX_BEST_NAMED:
        best += " ..."
    if len(turn.best) > max_dice:  # all rolls, 0 to max_dice, tie
        best = "any"
    probabilities = map(percent, (turn.best_value, turn.value, turn.value_after))
    changes = _without_unit(loss(turn.loss), pp(turn.luck))
    return (turn.number, turn.dice, best, *probabilities, *changes, turn.grade)


def _without_unit(*texts: str) -> list[str]:
    """Leave out the unit "pp" of texts."""
    return [text.removesuffix(" pp") for text in texts]


def _costly_roll(turn: Turn) -> str:
    """Describe a turn whose roll lost much: where it was, and the roll beside the best one."""
    own, other = turn.before.view
    return (
        f"turn {turn.number}, {own} to {other}: rolled {turn.dice}, {percent(turn.value)}; "
        f"{turn.best[0]} has {percent(turn.best_value)}: {loss(turn.loss)}, {turn.grade}"
    )


def _of_both_players(situation: Situation, value: float) -> tuple[float, float]:
    """Win probabilities of players 0 and 1, from the mover's."""
    return (value, 1.0 - value) if situation.mover == 0 else (1.0 - value, value)


def _memory(turn: Turn, rules: Rules) -> dict[str, Any]:
    """Give the memory before a turn under the key ``memory``, if the rules have any."""
    fields = memory_fields(rules, turn.before.memory)
    return {"memory": fields} if fields else {}
