"""Teams of players as texts, 01/2, and games with teams by name."""

from collections.abc import Sequence
from typing import Any, TypeAlias

from hogeq.support.messages import HogeqError, refusal

Teams: TypeAlias = str | Sequence[Sequence[int]] | None
"""Players of both teams: ``"01/2"``, ``"0,1/2"`` or ``[[0, 1], [2]]``; of one team ``"01"``."""


def teams_text(teams: Teams) -> str:
    """Write teams as a text, 01/2; `ValueError` if they are none."""
    return written(players_of(teams))


def players_of(teams: Teams) -> list[list[int]]:
    """Read the players of each team, in rising order; `ValueError` if they are no whole numbers."""
    lists: Any = teams
    if isinstance(teams, str):
        lists = _split(teams.replace(" ", ""))
    are_lists = isinstance(lists, Sequence) and all(isinstance(team, Sequence) for team in lists)
    if are_lists and all(type(player) is int for team in lists for player in team):
        return [sorted(team) for team in lists]
    raise HogeqError(refusal("teams", teams, "numbers of players in two teams, 01/2 say"))


def _split(text: str) -> list[list[int]] | list[list[str]]:
    """Split a text, 01/2 or 0,1/2, into teams of players; they stay texts unless all are digits."""
    parts = [team.split(",") if "," in text else [*team] for team in text.split("/")]
    if text.isascii() and all(player.isdecimal() for team in parts for player in team):
        return [[*map(int, team)] for team in parts]
    return parts


def written(lists: Sequence[Sequence[int]]) -> str:
    """Write teams, 01/2; with commas, 0,10/2, where a number has two digits."""
    has_long_numbers = any(player > 9 for team in lists for player in team)
    comma = "," if has_long_numbers else ""
    return "/".join(comma.join(map(str, team)) for team in lists)


def title_of(game: str, forget: str | None, teams: str | None) -> str:
    """Name a game with its teams and its way to forget."""
    title = f"{game}, teams {teams}" if teams else game
    return f"{title}, forgetting {forget}" if forget else title
