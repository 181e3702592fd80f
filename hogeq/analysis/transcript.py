"""Transcripts of games as JSON; docs/review.md describes the file.

Whatever is written and follows from the rules is checked.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal, Self, TypeVar

from pydantic import Field

from hogeq.analysis.turns import Situation, Turn, advance
from hogeq.rules import EDITIONS, Rules, rules_from
from hogeq.support.files import json_entries, read_whole
from hogeq.support.messages import (
    HogeqError,
    is_title,
    one_line,
    printable,
    refusal,
    shown,
    unknown_key,
)
from hogeq.support.parameters import Seed, check, keys, parameters, plain
from hogeq.support.text import parse_json

MAX_BYTES: Final = 2**20  # of a transcript: some 10,000 turns
LONGEST_NAME: Final = 60  # of a player
MOST_GOAL: Final = 200
MOST_DICE: Final = 20
"""Limits of rules that nobody but the transcript names: larger games take long to solve."""

_NAMES: Final = f"two different names of 1 to {LONGEST_NAME} printable characters"
_PAIR: Final = "the scores of both players, two whole numbers"
_Kind = TypeVar("_Kind")
_Pair = Annotated[list[int], Field(min_length=2, max_length=2, description=_PAIR)]


class TranscriptError(HogeqError):
    """A transcript that cannot be read, or does not follow from its rules."""


@parameters
class _Top:  # its turns are not yet looked into
    format: Literal["hogeq transcript"]
    version: Annotated[int, Field(ge=1, le=1, description="1")]  # to a Literal, true is 1
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

    LONGEST_NAME: ClassVar = LONGEST_NAME

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
            What to write under ``rules``, if it is a name that they have; by default another name
            if they have one, else their parts.
        start : tuple of int
            Scores that the game begins with: of the player who moves first, and of the other.

        Raises
        ------
        ValueError
            If there are no turns, if there are more after the game is over, if a turn has too many
            dice or shows what they cannot, or if `players`, `first` or `seed` cannot be written.
        """
        player_pair = _two_players(players)
        if first not in {0, 1}:
            raise TranscriptError(refusal("first", first, "0 or 1"))
        if seed is not None:
            check(Seed, seed=seed)
        turns = tuple(_replay(rules, first, start, rolls))
        if not turns:
            raise TranscriptError("turns: got none; allowed: at least one turn")
        if not isinstance(rules_given, dict):
            rules_given = written_rules(rules, rules_given or "")
        return cls(rules, rules_given, player_pair, turns, seed)

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
        turns = ",\n  ".join(json_entries(content.pop("turns")))
        *head, winner = json_entries(content)
        lines = ",\n ".join([*head, f'"turns": [\n  {turns}]', winner])
        return f"{{{lines}}}\n"


def written_rules(rules: Rules, named: str = "") -> str | dict[str, Any]:
    """Serialise rules for a transcript: a name that stands for them, otherwise their parts.

    `named` is tried first, then the rules' own name.
    """
    for name in (named, rules.name):
        try:
            if rules_from(name) == rules:
                return name
        except ValueError:  # no edition has the name
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
    """Parse the bytes of a transcript, and play its game again to check all that it says.

    `source` names it in error messages. With `rules` the game must have been played by them;
    `start` has the scores that it must begin with, of the first mover and of the other. Raises
    `TranscriptError` with the path of the first fault.
    """
    try:
        content = _parse_record(_Top, parse_json(data), "")
        rules = _parse_rules(content.rules, rules)
        players = _two_players(content.players)
        written = [
            _parse_record(_Turn, turn, f"turns[{n}]") for n, turn in enumerate(content.turns)
        ]
        rolls = (None if turn.roll < 0 else turn.dice for turn in written)  # roll -1 has no dice
        turns = []
        for number, turn in enumerate(_replay(rules, written[0].player, start, rolls)):
            for key, value in turn.plain(rules).items():
                _check_same(f"turns[{number}].{key}", getattr(written[number], key), value)
            turns.append(turn)
        _check_same("winner", content.winner, turns[-1].after.winner)
        return Transcript(rules, content.rules, players, tuple(turns), content.seed)
    except ValueError as error:
        raise TranscriptError(f"{source}: {one_line(error, 1000)}") from error


def _parse_record(kind: type[_Kind], content: object, path: str) -> _Kind:
    """Make a record of a class from a JSON object; an error names the first fault by its path.

    `path` is where the object is in the transcript, empty for the whole.
    """
    allowed_keys = keys(kind)
    if not isinstance(content, dict):
        raise TranscriptError(refusal(path, content, f"an object with {', '.join(allowed_keys)}"))
    for key, value in content.items():
        if key not in allowed_keys:
            raise TranscriptError(unknown_key(path, key, value, allowed_keys))
    try:
        return kind(**content)
    except ValueError as error:
        raise TranscriptError(f"{path}.{error}" if path else str(error)) from error


def _two_players(names: Sequence[str]) -> tuple[str, str]:
    """Validate the two player names."""
    are_names = all(
        isinstance(name, str) and is_title(name) and len(name) <= LONGEST_NAME for name in names
    )
    if len(names) != 2 or not are_names or names[0] == names[1]:
        raise TranscriptError(refusal("players", list(names), _NAMES))
    return names[0], names[1]


def _replay(
    rules: Rules, first: int, start: tuple[int, int], rolls: Iterable[Sequence[int] | None]
) -> Iterator[Turn]:
    """Play a game by the faces of its dice, turn by turn; None is the choice -1.

    `first` is the player who moves first, and `start` has the scores of this player and of the
    other. Raises `TranscriptError` with the path of the first turn that the rules do not allow.
    """
    highest_score = min(rules.goals) - 1
    if not 0 <= min(start) <= max(start) <= highest_score:
        raise TranscriptError(refusal("start", start, f"scores from 0 to {highest_score}"))
    situation = Situation.start(first, start)
    for number, roll in enumerate(rolls):
        path = f"turns[{number}]"
        if situation.winner is not None:
            raise TranscriptError(f"{path}: got a turn; allowed: none, the game is over")
        faces = [] if roll is None else list(roll)
        # Numpy's integers are allowed; a bool is an Integral too, but no face.
        if any(isinstance(face, bool) or not isinstance(face, Integral) for face in faces):
            raise TranscriptError(refusal(path, faces, "whole numbers, one a die"))
        try:
            turn = advance(rules, situation, None if roll is None else tuple(map(int, faces)))
        except ValueError as error:
            raise TranscriptError(f"{path}.dice: {str(error).removeprefix('turn: ')}") from error
        situation = turn.after
        yield turn


def _parse_rules(written: str | dict[str, Any], required: Rules | None) -> Rules:
    """Read the rules of a transcript.

    They have to be the `required` ones, if there are any; only the name may differ. Otherwise they
    must be an edition or within the limits of size, since larger games take long to solve.
    """
    rules = rules_from(written)
    if required is not None:
        if replace(rules, name=required.name) != required:
            has_same_name = rules.name == required.name
            other = f"other rules named {rules.name}" if has_same_name else rules.name
            raise TranscriptError(f"rules: got {other}; allowed: those asked for, {required.name}")
        return required
    if rules in EDITIONS.values():
        return rules
    limits = ("goal", rules.size, MOST_GOAL), ("max_dice", rules.max_dice, MOST_DICE)
    for key, value, limit in limits:
        if value > limit:
            allowed = f"up to {limit}, unless the same rules are asked for"
            raise TranscriptError(refusal(f"rules.{key}", value, allowed))
    return rules


def _check_same(path: str, written: object, value: object) -> None:
    """Raise an error if the value in a transcript is not the one that follows from the rules."""
    if written != value:
        raise TranscriptError(refusal(path, written, "null" if value is None else shown(value)))
