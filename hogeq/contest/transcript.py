"""Transcripts of games as JSON, and their reviews; docs/review.md describes the file.

Whatever is written and follows from the rules is checked.
"""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from pathlib import Path
from textwrap import wrap
from typing import Annotated, Any, Final, Literal, NamedTuple, Self, TypeVar

from pydantic import Field

from hogeq.contest.turns import Engine, Situation, Tally, Turn, advance, tally
from hogeq.model.game import HogEngine
from hogeq.rules import EDITIONS, Rules, rules_from
from hogeq.rules.memory import memory_columns, memory_fields, memory_texts
from hogeq.support import html
from hogeq.support.files import parse_json, read_whole
from hogeq.support.messages import (
    BadInputError,
    HogeqError,
    Table,
    Text,
    is_title,
    loss,
    one_line,
    percent,
    pp,
    printable,
    refusal,
    shown,
    unknown_key,
)
from hogeq.support.parameters import Seed, check, keys, parameters, plain

MAX_BYTES: Final = 2**20  # of a transcript: some 10,000 turns
LONGEST_NAME: Final = 60  # of a player

MOST_GOAL: Final = 200
MOST_DICE: Final = 20
"""Limits of rules that nobody but the transcript names: larger games take long to solve."""

_FEW: Final = 3  # best rolls that are named
_LONGEST: Final = 10  # characters of a name beside every turn
_NAMES: Final = f"two different names of 1 to {LONGEST_NAME} printable characters"
_PAIR: Final = "the scores of both players, two whole numbers"
_Kind = TypeVar("_Kind")
_Pair = Annotated[list[int], Field(min_length=2, max_length=2, description=_PAIR)]


class TranscriptError(BadInputError):
    """A transcript that cannot be read, or does not follow from its rules."""


@parameters
class _Top:  # its turns are not yet looked into
    format: Literal["hogeq transcript"]
    version: Literal[1]
    rules: Annotated[
        str | dict[str, Any], Field(description="an edition's name or a mapping of parts")
    ]
    players: Annotated[list[str], Field(min_length=2, max_length=2, description=_NAMES)]
    turns: Annotated[list[Any], Field(min_length=1, description="a list of at least one turn")]
    winner: Annotated[int, Field(ge=0, le=1)] | None
    seed: Seed | None = None


@parameters
class _Turn:
    player: Annotated[int, Field(ge=0, le=1)]
    before: _Pair
    roll: Annotated[int, Field(ge=-1)]
    dice: Annotated[list[int], Field(description="a list of whole numbers, one a die")]
    points: int
    fired: Annotated[list[str], Field(description="a list of rules' names")]
    after: _Pair


@dataclass(frozen=True)
class Transcript:
    """A game that was played by the rules.

    Examples
    --------
    >>> import hogeq
    >>> played = hogeq.Transcript.of([[3, 5], [], [4]], hogeq.rules_from("fa25"), ("Ann", "Bob"))
    >>> played.end.scores, played.turns[0].fired(played.rules)
    ((17, 3), ['Sus Fuss'])
    """

    rules: Rules
    rules_given: str | dict[str, Any]
    """What the transcript says under ``rules``."""
    players: tuple[str, str]
    turns: tuple[Turn, ...]
    """In the order in which they were played, extra turns as turns of their own."""
    seed: int | None
    """Of the dice, if it is known."""

    @classmethod
    def of(
        cls,
        rolls: Iterable[Sequence[int] | None],
        rules: Rules,
        players: Sequence[str],
        first: int = 0,
        seed: int | None = None,
        rules_given: str | dict[str, Any] | None = None,
        start: tuple[int, int] = (0, 0),
    ) -> Self:
        """Make the transcript of a game from its dice: all else follows.

        Parameters
        ----------
        rolls : iterable of sequence of int
            What the dice showed, turn by turn; empty where none were rolled, None for the choice
            -1.
        rules : Rules
        players : sequence of str
        first : int
            Who moves first, 0 or 1.
        seed : int, optional
        rules_given : str or dict, optional
            What to write under ``rules``; by default a name if they have one, else their parts.
        start : tuple of int
            Scores that the game begins with: of the player who moves first, and of the other.

        Raises
        ------
        ValueError
            If there are no turns, if there are more after the game is over, if a turn has too many
            dice or shows what they cannot, or if `players`, `first` or `seed` cannot be written.
        """
        two = _two_players(players)
        if first not in {0, 1}:
            raise TranscriptError(refusal("first", first, "0 or 1"))
        if seed is not None:
            check(Seed, seed=seed)
        turns = tuple(_replay(rules, first, start, rolls))
        if not turns:
            raise TranscriptError("turns: got none; allowed: at least one turn")
        return cls(rules, rules_given or written_rules(rules), two, turns, seed)

    @property
    def end(self) -> Situation:
        """Where the game ended, or was left."""
        return self.turns[-1].after

    def plain(self) -> dict[str, Any]:
        """Give the transcript as plain values, fit for JSON."""
        return {
            "format": "hogeq transcript",
            "version": 1,
            "rules": self.rules_given,
            "seed": self.seed,
            "players": list(self.players),
            "turns": [turn.plain(self.rules) for turn in self.turns],
            "winner": self.end.winner,
        }

    def to_json(self) -> str:
        """Write the text of a file, one turn a line."""
        content = self.plain()
        turns = ",\n  ".join(json.dumps(turn) for turn in content.pop("turns"))
        winner = json.dumps(content.pop("winner"))
        head = ",\n ".join(f"{json.dumps(key)}: {json.dumps(content[key])}" for key in content)
        return f'{{{head},\n "turns": [\n  {turns}],\n "winner": {winner}}}\n'


def written_rules(rules: Rules, named: str = "") -> str | dict[str, Any]:
    """Serialise rules for a transcript: an edition's name, else their parts."""
    for name in (named, rules.name):
        try:
            if rules_from(name) == rules:
                return name
        except ValueError:
            continue
    return plain(rules)


# --- reading --------------------------------------------------------------------------------------


def read_transcript(
    path: str | os.PathLike[str], rules: Rules | None = None, start: tuple[int, int] = (0, 0)
) -> Transcript:
    """Read a transcript, and play its game again.

    Parameters
    ----------
    path : path
        A file of at most `MAX_BYTES`.
    rules : Rules, optional
        What the game must have been played by; by default what the transcript says.
    start : tuple of int
        Scores that it must begin with: of the player who moves first, and of the other.

    Raises
    ------
    OSError
        The file cannot be read, or is too large.
    TranscriptError
        It is no transcript, or something in it does not follow from the rules.

    Examples
    --------
    >>> import hogeq
    >>> from pathlib import Path
    >>> played = hogeq.Transcript.of([[3, 5], [], [4]], hogeq.rules_from("fa25"), ("Ann", "Bob"))
    >>> _ = Path("game.json").write_text(played.to_json())
    >>> hogeq.read_transcript("game.json") == played
    True
    """
    path = Path(path)
    return parse_transcript(read_whole(path, MAX_BYTES), printable(path), rules, start)


def parse_transcript(
    data: bytes, source: str, rules: Rules | None = None, start: tuple[int, int] = (0, 0)
) -> Transcript:
    """Read the bytes of a transcript, named `source`; otherwise as `read_transcript`."""
    try:
        top = _read(_Top, parse_json(data), "")
        rules, players = _rules(top.rules, rules), _two_players(top.players)
        given = [_read(_Turn, turn, f"turns[{number}]") for number, turn in enumerate(top.turns)]
        rolls = (None if turn.roll < 0 else turn.dice for turn in given)
        turns = []
        for number, follows in enumerate(_replay(rules, given[0].player, start, rolls)):
            for key, value in follows.plain(rules).items():
                _same(f"turns[{number}].{key}", getattr(given[number], key), value)
            turns.append(follows)
        _same("winner", top.winner, turns[-1].after.winner)
        return Transcript(rules, top.rules, players, tuple(turns), top.seed)
    except ValueError as error:
        raise TranscriptError(f"{source}: {one_line(error, 1000)}") from error


def _read(kind: type[_Kind], given: object, path: str) -> _Kind:
    """Read an object, and name the first fault by its whole path."""
    known = keys(kind)
    if not isinstance(given, dict):
        raise TranscriptError(refusal(path, given, f"an object with {', '.join(known)}"))
    for key, value in given.items():
        if key not in known:
            raise TranscriptError(unknown_key(path, key, value, known))
    try:
        return kind(**given)
    except ValueError as error:
        raise TranscriptError(f"{path}.{error}" if path else str(error)) from error


def _two_players(given: Sequence[str]) -> tuple[str, str]:
    """Validate the two player names."""
    fit = all(isinstance(one, str) and is_title(one) and len(one) <= LONGEST_NAME for one in given)
    if len(given) != 2 or not fit or given[0] == given[1]:
        raise TranscriptError(refusal("players", list(given), _NAMES))
    return given[0], given[1]


def _replay(
    rules: Rules, first: int, start: tuple[int, int], rolls: Iterable[Sequence[int] | None]
) -> Iterator[Turn]:
    """Play a game by its dice."""
    most = min(rules.goals) - 1
    if not 0 <= min(start) <= max(start) <= most:
        raise TranscriptError(refusal("start", start, f"scores from 0 to {most}"))
    here = Situation.start(first, start)
    for number, given in enumerate(rolls):
        at = f"turns[{number}]"
        if here.winner is not None:
            raise TranscriptError(f"{at}: got a turn; allowed: none, the game is over")
        faces = None if given is None else tuple(given)
        if any(isinstance(face, bool) or not isinstance(face, Integral) for face in faces or ()):
            raise TranscriptError(refusal(at, list(faces or ()), "whole numbers, one a die"))
        try:
            turn = advance(rules, here, faces and tuple(map(int, faces)))
        except ValueError as error:
            raise TranscriptError(f"{at}.dice: {str(error).removeprefix('turn: ')}") from error
        here = turn.after
        yield turn


def _rules(given: str | dict[str, Any], wanted: Rules | None) -> Rules:
    rules = rules_from(given)
    if wanted is not None:
        if replace(rules, name=wanted.name) != wanted:
            other = f"other rules named {rules.name}" if rules.name == wanted.name else rules.name
            raise TranscriptError(f"rules: got {other}; allowed: those asked for, {wanted.name}")
        return wanted
    if rules in EDITIONS.values():
        return rules
    limits = ("goal", rules.size, MOST_GOAL), ("max_dice", rules.max_dice, MOST_DICE)
    for key, value, most in limits:
        if value > most:
            allowed = f"up to {most}, unless the same rules are asked for"
            raise TranscriptError(refusal(f"rules.{key}", value, allowed))
    return rules


def _same(path: str, given: object, follows: object) -> None:
    if given != follows:
        raise TranscriptError(refusal(path, given, "null" if follows is None else shown(follows)))


# --- what a game was worth ------------------------------------------------------------------------


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
        rows = [
            (
                *(turn.number, names[turn.before.mover], "{} to {}".format(*turn.before.view)),
                *(turn.dice, turn.best[0], loss(turn.loss), pp(turn.luck), turn.grade),
            )
            for turn in self.turns
        ]
        header = ("turn", "player", "scores", "rolled", "best", "loss", "luck", "grade")
        one, two = (loss(tally.loss) for tally in self.tallies)
        return html.table(rows, header, f"Lost by choices: {names[0]} {one}, {names[1]} {two}")

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
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
                {
                    "player": name,
                    "moves": one.moves,
                    "grades": one.grades,
                    "loss": one.loss,
                    "luck": one.luck,
                    "accuracy": one.accuracy,
                    "dearest": [turn.number for turn in one.costliest],
                }
                for name, one in zip(transcript.players, self.tallies, strict=True)
            ],
        }

    def text(self, title: str, notes: Sequence[str] = ()) -> Text:
        """Lay out all turns, the gain of each choice and of the dice, and the costliest rolls."""
        transcript, tallies = self.transcript, self.tallies
        names, end, hidden = transcript.players, transcript.end, memory_columns(transcript.rules)
        seed = "" if transcript.seed is None else f", seed {transcript.seed}"
        one, two = end.scores
        how = f"left at {one} to {two}"
        if end.winner is not None:
            how = f"{names[end.winner]} wins, {max(one, two)} to {min(one, two)}"
        play = "optimal play that remembers everything" if hidden else "optimal play"
        # Tables fit 80 columns.
        short = [
            part.replace("opponent's", "their").replace("last points", "last") for part in hidden
        ]
        played, valued = [], []
        for turn in self.turns:
            score, theirs = turn.before.view
            played.append(
                (
                    one_line(names[turn.before.mover], _LONGEST),
                    turn.number,
                    f"{score} to {theirs}",
                    *memory_texts(transcript.rules, turn.before.memory),
                    turn.dice,
                    " ".join(map(str, turn.faces)),
                    ", ".join(turn.fired(transcript.rules)),
                )
            )
            best = " ".join(map(str, turn.best[:_FEW])) + (" ..." if len(turn.best) > _FEW else "")
            valued.append(
                (
                    turn.number,
                    turn.dice,
                    "any" if len(turn.best) > transcript.rules.max_dice else best,
                    *map(percent, (turn.best_value, turn.value, turn.value_after)),
                    *_pp(loss(turn.loss), pp(turn.luck)),
                    turn.grade,
                )
            )
        grades, sums, kept, costliest = [], [], [], []
        for name, own, other, start, result in zip(
            names, tallies, reversed(tallies), self.start, self.result, strict=True
        ):
            grades.append((name, own.moves, *own.grades.values(), loss(own.loss)))
            changes = _pp(*map(pp, (-own.loss, own.luck, other.loss, -other.luck)))
            sums.append((name, percent(start), *changes, percent(result)))
            kept.append(f"{name} {percent(own.accuracy)}")
            if own.costliest:
                costliest += ["", f"costliest rolls of {name}", *map(_mistake, own.costliest)]
        order = ("turn", "rolled", "best", "before", "chosen", "after", "loss", "luck", "grade")
        return [
            f"{title}, {names[0]} against {names[1]}{seed}: {how}",
            "",
            Table(played, ("player", "turn", "scores", *short, "rolled", "dice", "rules")),
            "",
            Table(valued, order, left=0),
            "",
            *wrap(
                f"Win probabilities, with {play} from there on, are those of whoever moves: "
                "before, by the best roll; by the roll chosen; after the dice. Loss, in percentage "
                "points, is what the choice lost of the first; luck is what the dice added to the "
                "second.",
                79,
            ),
            *notes,
            "",
            Table(grades, ("player", "turns", *tallies[0].grades, "loss")),
            "",
            *wrap(
                f"Accuracy, the mean of what a choice kept of the best roll's win probability: "
                f"{', '.join(kept)}.",
                79,
            ),
            "",
            Table(
                sums, ("player", "start", "own choices", "dice", "their choices", "dice", "result")
            ),
            *costliest,
        ]


def review(game: HogEngine, transcript: Transcript) -> Review:
    """Value every turn of a game, played by the rules that `game` is compiled from."""
    if transcript.rules != game.rules:
        raise HogeqError(
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


def _pp(*texts: str) -> list[str]:
    return [text.removesuffix(" pp") for text in texts]


def _mistake(turn: Turn) -> str:
    own, other = turn.before.view
    return (
        f"  turn {turn.number}, {own} to {other}: rolled {turn.dice}, {percent(turn.value)}; "
        f"{turn.best[0]} has {percent(turn.best_value)}: {loss(turn.loss)}, {turn.grade}"
    )


def _of_both(here: Situation, value: float) -> tuple[float, float]:
    # Win probabilities of players 0 and 1, of that of the mover.
    return (value, 1.0 - value) if here.mover == 0 else (1.0 - value, value)


def _memory(turn: Turn, rules: Rules) -> dict[str, Any]:
    fields = memory_fields(rules, turn.before.memory)
    return {"memory": fields} if fields else {}
