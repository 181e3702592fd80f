"""Teams of players: each is one forgetful player, for its members cannot talk in the game.

A team agrees on a mixture before the game (ex ante coordination), and each member plays by what it
knows itself. So the team is one player of the tree, and its rows are the information sets of the
members. Its value in mixtures is that of the TMECor (Celli and Gatti, "Computational results for
extensive-form adversarial team games", AAAI 2018). There are two teams of a constant sum, or one of
all players, against chance alone, whose payoff is the mean of its members': of partners with one
payoff that payoff.
"""

from collections.abc import Hashable, Sequence
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

from hogeq.support.messages import HogeqError, refusal

Sides: TypeAlias = tuple[int, ...]
"""Which team, 0 or 1, each player is in."""

Teams: TypeAlias = str | Sequence[Sequence[int]] | None
"""Players of both teams: ``"01/2"``, ``"0,1/2"`` or ``[[0, 1], [2]]``; of one team ``"01"``."""


class Known(NamedTuple):
    """Name of an information set of a member of a team."""

    player: int
    state: Hashable  # what the member knows there, in the game's words

    def __str__(self) -> str:
        """Name the member and its knowledge."""
        return f"player {self.player}: {self.state}"


def teams_text(teams: Teams) -> str:
    """Write teams as a text, 01/2; `ValueError` if they are none."""
    return _text(_players(teams))


def _players(teams: Teams) -> list[list[int]]:
    lists: Any = teams
    if isinstance(teams, str):
        given = teams.replace(" ", "")
        lists = [part.split(",") if "," in given else [*part] for part in given.split("/")]
        if given.isascii() and all(one.isdecimal() for part in lists for one in part):
            lists = [[*map(int, part)] for part in lists]
    are_lists = isinstance(lists, Sequence) and all(isinstance(part, Sequence) for part in lists)
    if are_lists and all(type(one) is int for part in lists for one in part):
        return [sorted(part) for part in lists]
    raise HogeqError(refusal("teams", teams, "numbers of players in two teams, 01/2 say"))


def _text(lists: Sequence[Sequence[int]]) -> str:
    comma = "," if any(player > 9 for part in lists for player in part) else ""
    return "/".join(comma.join(map(str, part)) for part in lists)


def members_of(sides: Sides) -> list[list[int]]:
    """Players of both teams."""
    return [[player for player, one in enumerate(sides) if one == side] for side in (0, 1)]


def teams_of(sides: Sides) -> str:
    """Write the teams as a text."""
    return _text([part for part in members_of(sides) if part])


def side_names(sides: Sides | None) -> tuple[str, str]:
    """Name both sides, a team with its members: team 0 (players 0, 1)."""
    if sides is None:
        return "player 0", "player 1"
    if not any(sides):
        return f"the team (players {', '.join(map(str, range(len(sides))))})", "chance"
    first, second = (
        f"team {side} (player{'s' * (len(part) > 1)} {', '.join(map(str, part))})"
        for side, part in enumerate(members_of(sides))
    )
    return first, second


def title_of(game: str, forget: str | None, teams: str | None) -> str:
    """Name a game with its teams and its way to forget."""
    forgetting = f", forgetting {forget}" if forget else ""
    return f"{game}{f', teams {teams}' if teams else ''}{forgetting}"


def sides_of(teams: Teams, players: int, name: str) -> Sides | None:
    """Check the teams of a game of so many players; None for one or two players without teams."""
    if teams is None:
        if players not in {1, 2}:
            raise HogeqError(f"{name}: has {players} players; allowed: 1 or 2, or two teams")
        return None
    lists = _players(teams)
    if players > 1 and lists == [[*range(players)]]:
        return (0,) * players
    if len(lists) != 2 or not all(lists) or sorted(chain(*lists)) != [*range(players)]:
        whole = f"two teams that share players 0 to {players - 1} out"
        two, one = _text([range(players - 1), [players - 1]]), _text([range(players)])
        allowed = f"{whole}, {two} say, or one of all, {one}"
        allowed = allowed if players > 1 else "none"
        raise HogeqError(f"{name}: {refusal('teams', _text(lists), allowed)}")
    return tuple(int(player in lists[1]) for player in range(players))


def paid_to(payoffs: Sequence[Any], sides: Sides) -> tuple[Any, ...]:
    """Give the payoff of each team: the sum of its members', of a team of all the mean."""
    if len(payoffs) != len(sides):
        raise HogeqError(f"{len(payoffs)} payoffs; allowed: {len(sides)}")
    if not any(sides):
        return (payoffs[0] if len({*payoffs}) == 1 else sum(payoffs) / len(payoffs),)
    first, second = (
        sum(paid for paid, side in zip(payoffs, sides, strict=True) if side == team)
        for team in (0, 1)
    )
    return first, second
