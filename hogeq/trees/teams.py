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
from hogeq.support.teams import Teams, players_of, written

Sides: TypeAlias = tuple[int, ...]
"""Which team, 0 or 1, each player is in."""


class Known(NamedTuple):
    """Name of an information set of a member of a team."""

    player: int
    state: Hashable  # what the member knows there, in the game's words

    def __str__(self) -> str:
        """Name the member and its knowledge."""
        return f"player {self.player}: {self.state}"


def members_of(sides: Sides) -> list[list[int]]:
    """Players of both teams."""
    return [[player for player, side in enumerate(sides) if side == team] for team in (0, 1)]


def teams_of(sides: Sides) -> str:
    """Write the teams as a text."""
    return written([team for team in members_of(sides) if team])


def side_names(sides: Sides | None) -> tuple[str, str]:
    """Name both sides, a team with its members: team 0 (players 0, 1)."""
    if sides is None:
        return "player 0", "player 1"
    if not any(sides):
        return f"the team (players {', '.join(map(str, range(len(sides))))})", "chance"
    first, second = members_of(sides)
    return _team_name(0, first), _team_name(1, second)


def _team_name(team: int, members: list[int]) -> str:
    noun = "players" if len(members) > 1 else "player"
    return f"team {team} ({noun} {', '.join(map(str, members))})"


def sides_of(teams: Teams, players: int, name: str) -> Sides | None:
    """Check the teams of a game named `name`; return the team, 0 or 1, of each of its `players`.

    None stands for no teams, in a game of one or two players. Raises `HogeqError` unless there are
    two teams, or one of all players.
    """
    if teams is None:
        if players not in {1, 2}:
            raise HogeqError(f"{name}: has {players} players; allowed: 1 or 2, or two teams")
        return None
    team_lists = players_of(teams)
    all_players = [*range(players)]
    if players > 1 and team_lists == [all_players]:
        return (0,) * players
    is_partition = all(team_lists) and sorted(chain(*team_lists)) == all_players
    if len(team_lists) != 2 or not is_partition:
        allowed = "none"
        if players > 1:
            example = written([all_players[:-1], all_players[-1:]])
            two_teams = f"two teams that share players 0 to {players - 1} out, {example} say"
            allowed = f"{two_teams}, or one of all, {written([all_players])}"
        raise HogeqError(f"{name}: {refusal('teams', written(team_lists), allowed)}")
    return tuple(1 if player in team_lists[1] else 0 for player in all_players)


def paid_to(payoffs: Sequence[Any], sides: Sides) -> tuple[Any, ...]:
    """Compute the payoff of each team from those of the players.

    Each of two teams gets the sum of its members' payoffs, one team of all players the mean.
    """
    if len(payoffs) != len(sides):
        raise HogeqError(f"{len(payoffs)} payoffs; allowed: {len(sides)}")
    if not any(sides):
        are_equal = len({*payoffs}) == 1
        return (payoffs[0] if are_equal else sum(payoffs) / len(payoffs),)  # equal: not rounded
    first, second = members_of(sides)
    return sum(payoffs[player] for player in first), sum(payoffs[player] for player in second)
