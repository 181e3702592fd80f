"""The recall of both players as text: a table of properties, and all witnesses."""

from collections.abc import Sequence
from typing import Final

from hogeq.support.messages import Table, Text, printable
from hogeq.trees.recall import VERDICTS, Audit

MOST_NAMED: Final = 20  # information sets that a play can meet again, listed by name


def recall_text(players: Sequence[Audit], sides: Sequence[str]) -> Text:
    """Lay out the audits of both players, whose names are `sides`, as text.

    A table of properties, a table of the members of teams, then for each player the information
    sets that a play can meet again, and all witnesses.
    """
    rows = _verdicts(players)
    free_counts = (f"{len(player.free):,} of {len(player.forgetful):,}" for player in players)
    rows.append(("forgetting free in mixtures", *free_counts))
    text: Text = [Table(rows, ("property", *sides), left=3)]
    members = [member for team in players for member in team.members]
    members.sort(key=lambda member: member.player)
    if members:
        header = ("each member alone", *(f"player {member.player}" for member in members))
        text += ["", Table(_verdicts(members), header, left=len(header))]
    for side, player in zip(sides, players, strict=True):
        if player.met_again:
            visits = [
                f"{printable(name)} ({times} times)" for name, times in player.met_again.items()
            ]
            if len(visits) > MOST_NAMED:
                visits[MOST_NAMED:] = [f"and {len(visits) - MOST_NAMED} more"]
            heading = f"{side.capitalize()} can meet again in a play, at most so often"
            text += ["", f"{heading}: {', '.join(visits)}"]
        for witness, names in player.witnesses().items():
            shown = ", ".join(names)
            heading = f"{side.capitalize()}, {shown}: one information set after either of"
            text += witness.lines(heading, (moves or "the start" for moves in witness.texts))
    return text


def _verdicts(players: Sequence[Audit]) -> list[tuple[str, ...]]:
    """Make a row of a table for each property: its name, and whether it holds of each player."""
    return [
        (name, *(VERDICTS[player.findings[name].holds] for player in players))
        for name in players[0].findings
    ]
