"""Two teams of players: each is one forgetful player, for its members cannot talk in the game.

A team agrees on a mixture before the game (ex ante coordination), and each member plays by what it
knows itself. So the team is one player of the tree, and its rows are the information sets of the
members. Its value in mixtures is that of the TMECor (Celli and Gatti, "Computational results for
extensive-form adversarial team games", AAAI 2018).
"""

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple, TypeAlias

from hogeq.support.messages import refusal

Sides: TypeAlias = tuple[int, ...]
"""Which team, 0 or 1, each player is in."""

Teams: TypeAlias = str | Sequence[Sequence[int]] | None
"""Players of both teams: ``"01/2"``, ``"0,1/2"`` or ``[[0, 1], [2]]``."""


class Known(NamedTuple):
    """Name of an information set of a member of a team."""

    player: int
    state: Hashable  # what the member knows there, in the game's words

    def __str__(self) -> str:
        """Name the member and its knowledge."""
        return f"player {self.player}: {self.state}"


def teams_text(teams: Teams) -> str:
    """Write teams as a text, 01/2; `ValueError` if they are none."""
    if isinstance(teams, str):
        given = teams.replace(" ", "")
        parts = [part.split(",") if "," in given else [*part] for part in given.split("/")]
        if given.isascii() and all(one.isdecimal() for part in parts for one in part):
            return _text([list(map(int, part)) for part in parts])
    elif isinstance(teams, Sequence):
        lists = [[*part] for part in teams if isinstance(part, Sequence)]
        if len(lists) == len(teams) and all(type(one) is int for part in lists for one in part):
            return _text(lists)
    raise ValueError(refusal("teams", teams, "numbers of players in two teams, 01/2 say"))


def _text(lists: list[list[int]]) -> str:
    comma = "," if any(player > 9 for part in lists for player in part) else ""
    return "/".join(comma.join(map(str, sorted(part))) for part in lists)


def teams_of(sides: Sides) -> str:
    """Write the teams as a text."""
    players = range(len(sides))
    return _text([[one for one in players if sides[one] == side] for side in (0, 1)])


def title_of(game: str, forget: str | None, teams: str | None) -> str:
    """Name a game with its teams and its way to forget."""
    forgetting = f", forgetting {forget}" if forget else ""
    return f"{game}{f', teams {teams}' if teams else ''}{forgetting}"


def sides_of(teams: Teams, players: int, name: str) -> Sides | None:
    """Check the teams of a game of so many players; None for one or two players without teams."""
    if teams is None:
        if players not in {1, 2}:
            raise ValueError(f"{name}: has {players} players; allowed: 1 or 2, or two teams")
        return None
    text = teams_text(teams)
    lists = [part.split(",") if "," in text else [*part] for part in text.split("/")]
    members = sorted(int(player) for part in lists for player in part)
    if len(lists) != 2 or not all(lists) or members != list(range(players)):
        whole = f"two teams that share players 0 to {players - 1} out"
        allowed = f"{whole}, {_text([[*range(players - 1)], [players - 1]])} say"
        raise ValueError(f"{name}: {refusal('teams', text, allowed if players > 1 else 'none')}")
    return tuple(int(str(player) in lists[1]) for player in range(players))


def summed(payoffs: Sequence[Any], sides: Sides) -> tuple[Any, Any]:
    """Sum the payoffs of each team."""
    if len(payoffs) != len(sides):
        raise ValueError(f"{len(payoffs)} payoffs; allowed: {len(sides)}")
    first, second = (
        sum(paid for paid, side in zip(payoffs, sides, strict=True) if side == team)
        for team in (0, 1)
    )
    return first, second
