"""Transcripts: a game that was played, as JSON, every turn of which follows from the rules.

A transcript is one object::

    {"format": "hogeq transcript", "version": 1,
     "rules": "fa25", "seed": 7, "players": ["You", "optimal play"],
     "turns": [{"player": 0, "before": [0, 0], "roll": 2, "dice": [3, 5], "points": 8,
                "fired": ["Sus Fuss"], "after": [11, 0]}],
     "winner": null}

``rules`` is an edition's name or the fields of `hogeq.Rules`. Scores are those of the two players,
in the order of ``players``, and ``player`` is the one who moves. ``points`` are those of the dice,
or for rolling none, without any bonus. ``fired`` names the rules that did something. ``winner`` is
null in a game that was left. What the rules remember beyond the scores is not written: it follows.
Whatever is written and follows is checked. The seed is not: other programs roll other dice by it.
"""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self, TypeVar

from pydantic import Field

from hogeq.contest.turns import Situation, Turn, advance
from hogeq.rules import EDITIONS, Rules, rules_from
from hogeq.support.files import parse_json, read_whole
from hogeq.support.messages import (
    BadInputError,
    is_title,
    one_line,
    printable,
    refusal,
    shown,
    unknown_key,
)
from hogeq.support.parameters import Seed, check, keys, parameters, plain

FORMAT: Final = "hogeq transcript"
VERSION: Final = 1

MAX_BYTES: Final = 2**20
"""Size of the largest transcript read, in bytes: some 10,000 turns."""

LONGEST_NAME: Final = 60
"""Most characters of a player's name."""

MOST_GOAL: Final = 200
"""Highest goal of rules that nobody but the transcript names: larger games take long to solve."""

MOST_DICE: Final = 20
"""Most dice of such rules."""

_NAMES: Final = f"two different names of 1 to {LONGEST_NAME} printable characters"
_PAIR: Final = "the scores of both players, two whole numbers"
_Kind = TypeVar("_Kind")
_Pair = Annotated[list[int], Field(min_length=2, max_length=2, description=_PAIR)]


class TranscriptError(BadInputError):
    """A transcript that cannot be read, or does not follow from its rules; one line."""


@parameters
class _Top:
    """A transcript, its turns not yet looked into."""

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
    """One turn as it is written."""

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

    Attributes
    ----------
    rules : Rules
    rules_given : str or dict
        What the transcript says under ``rules``.
    players : tuple of str
        Names of players 0 and 1.
    turns : tuple of Turn
        In the order in which they were played, extra turns as turns of their own.
    seed : int or None
        Of the dice, if it is known.

    Examples
    --------
    >>> import hogeq
    >>> played = hogeq.Transcript.of([[3, 5], [], [4]], hogeq.rules_from("fa25"), ("Ann", "Bob"))
    >>> played.end.scores, played.turns[0].fired(played.rules)
    ((17, 3), ['Sus Fuss'])
    """

    rules: Rules
    rules_given: str | dict[str, Any]
    players: tuple[str, str]
    turns: tuple[Turn, ...]
    seed: int | None

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
            The two.
        first : int
            Who moves first, 0 or 1.
        seed : int, optional
        rules_given : str or dict, optional
            What to write under ``rules``; by default a name if they have one, else their parts.
        start : tuple of int
            Scores that the game begins with: of the player who moves first, and of the other.

        Returns
        -------
        Transcript

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
            "format": FORMAT,
            "version": VERSION,
            "rules": self.rules_given,
            "seed": self.seed,
            "players": list(self.players),
            "turns": [turn.plain(self.rules) for turn in self.turns],
            "winner": self.end.winner,
        }

    def to_json(self) -> str:
        """Give the text of a file, one turn a line."""
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

    Returns
    -------
    Transcript

    Raises
    ------
    OSError
        The file cannot be read, or is too large.
    TranscriptError
        It is no transcript, or something in it does not follow from the rules: the first such thing
        is named, with what it should be.

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
    """Check the bytes of a transcript, named `source`; otherwise as `read_transcript`."""
    try:
        return _checked(parse_json(data), rules, start)
    except ValueError as error:
        raise TranscriptError(f"{source}: {one_line(error, 1000)}") from error


def _checked(content: object, wanted: Rules | None, start: tuple[int, int]) -> Transcript:
    top = _read(_Top, content, "")
    rules = _rules(top.rules, wanted)
    players = _two_players(top.players)
    given = [_read(_Turn, turn, f"turns[{number}]") for number, turn in enumerate(top.turns)]
    rolls = (None if turn.roll < 0 else turn.dice for turn in given)
    turns = []
    for number, follows in enumerate(_replay(rules, given[0].player, start, rolls)):
        for key, value in follows.plain(rules).items():
            _same(f"turns[{number}].{key}", getattr(given[number], key), value)
        turns.append(follows)
    _same("winner", top.winner, turns[-1].after.winner)
    return Transcript(rules, top.rules, players, tuple(turns), top.seed)


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
    fit = all(
        isinstance(name, str) and is_title(name) and len(name) <= LONGEST_NAME for name in given
    )
    if len(given) != 2 or not fit or given[0] == given[1]:
        raise TranscriptError(refusal("players", list(given), _NAMES))
    return given[0], given[1]


def _replay(
    rules: Rules, first: int, start: tuple[int, int], rolls: Iterable[Sequence[int] | None]
) -> Iterator[Turn]:
    """Play a game by its dice."""
    lower = min(rules.goals)
    if not 0 <= min(start) <= max(start) < lower:
        raise TranscriptError(refusal("start", start, f"scores from 0 to {lower - 1}"))
    here = Situation.start(first, start)
    for number, given in enumerate(rolls):
        at = f"turns[{number}]"
        if here.winner is not None:
            raise TranscriptError(f"{at}: got a turn; allowed: none, the game is over")
        faces = None if given is None else tuple(given)
        if any(isinstance(face, bool) or not isinstance(face, Integral) for face in faces or ()):
            raise TranscriptError(refusal(at, list(faces or ()), "whole numbers, one a die"))
        try:
            turn = advance(rules, here, None if faces is None else tuple(map(int, faces)))
        except ValueError as error:
            raise TranscriptError(f"{at}.dice: {str(error).removeprefix('turn: ')}") from error
        here = turn.after
        yield turn


def _rules(given: str | dict[str, Any], wanted: Rules | None) -> Rules:
    try:
        rules = rules_from(given)
    except TypeError as error:
        raise TranscriptError(str(error)) from error
    if wanted is not None:
        if replace(rules, name=wanted.name) != wanted:
            other = f"other rules named {rules.name}" if rules.name == wanted.name else rules.name
            raise TranscriptError(f"rules: got {other}; allowed: those asked for, {wanted.name}")
        return wanted
    if rules in EDITIONS.values():
        return rules
    for key, value, most in (
        ("goal", rules.size, MOST_GOAL),
        ("max_dice", rules.max_dice, MOST_DICE),
    ):
        if value > most:
            allowed = f"up to {most}, unless the same rules are asked for"
            raise TranscriptError(refusal(f"rules.{key}", value, allowed))
    return rules


def _same(path: str, given: object, follows: object) -> None:
    if given != follows:
        raise TranscriptError(refusal(path, given, "null" if follows is None else shown(follows)))
