"""Findings about the recall of players, and both players' as text."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from hogeq.support.messages import Table, Text, indented, printable
from hogeq.trees.flat import History
from hogeq.trees.rows import distinct_texts

MOST_NAMED: Final = 20  # information sets that a play can meet again, listed by name
VERDICTS: Final = {True: "yes", False: "no", None: "not decided"}


class Witness(NamedTuple):
    """Two histories of one information set that show a loss or refute a property."""

    infoset: Hashable  # where both end
    first: History
    second: History
    note: str = ""

    @property
    def texts(self) -> tuple[str, str]:
        """Both histories in the game's own words."""
        return "; ".join(map(str, self.first)), "; ".join(map(str, self.second))

    def lines(self, heading: str, histories: Iterable[str]) -> list[str]:
        """Lay out a heading, the histories in words, numbered, and the note, as lines of text."""
        numbered = [f"{number}. {history}" for number, history in enumerate(histories, 1)]
        note = [f"({self.note})"] if self.note else []
        return ["", heading, *indented([*numbered, *note])]


class Loss(NamedTuple):
    """Information sets that forget one kind of information."""

    infosets: frozenset[Hashable]  # those that forget it
    witness: Witness | None


class Finding(NamedTuple):
    """Whether a property holds."""

    holds: bool | None  # None if that was not decided
    witness: Witness | None  # why it does not
    note: str = ""


@dataclass(frozen=True)
class Audit:
    """Findings about one player.

    Attributes
    ----------
    player : int
    infosets : frozenset
        Information sets of the player.
    histories : int
        Histories at which the player moves.
    whole : bool
        Whether the whole tree was walked.
    findings : dict of str to Finding
        By property: ``perfect recall``, ``A-loss recall``, ``no absent-mindedness``,
        ``well-formed``, ``skew well-formed``, ``chance-relaxed skew well-formed``; of games other
        than Hog ``shuffled A-loss recall``.
    forgetful, free : frozenset
        Information sets that join different own pasts; and those among them that forget nothing in
        mixtures, as inflation splits them by past, perhaps after a shuffle. None are free if a
        player is absent-minded or only a part of the tree was walked.
    forgets : dict of str to Loss
        Of Hog, by what is lost: ``own action``, ``own observation``, ``opponent's action``,
        ``chance``, ``seat``.
    met_again : dict of hashable to int
        Information sets that a play can meet again, and how often at most, in the part walked.
    members : tuple of Audit
        Of a team, by their numbers: recall of each player as if all others were one opponent.

    Examples
    --------
    >>> import hogeq
    >>> found = hogeq.audit(hogeq.rules_from({"edition": "fa22", "goal": 4, "max_dice": 1}))
    >>> found.findings["no absent-mindedness"].holds
    True
    """

    player: int
    infosets: frozenset[Hashable]
    histories: int
    whole: bool
    findings: dict[str, Finding]
    forgetful: frozenset[Hashable]
    free: frozenset[Hashable]
    forgets: dict[str, Loss]
    met_again: dict[Hashable, int] = field(default_factory=dict)
    members: tuple["Audit", ...] = ()

    def __repr__(self) -> str:
        """Name sizes and properties in a line; information sets and witnesses are left out."""
        prefixes = {True: "", False: "not ", None: "undecided: "}
        properties = [prefixes[finding.holds] + name for name, finding in self.findings.items()]
        sizes = f"{len(self.infosets)} information sets, {self.histories:,} histories"
        return f"Audit(player {self.player}: {sizes}; {', '.join(properties)})"

    def forgotten_at(self, infoset: Hashable) -> tuple[str, ...]:
        """Kinds of memory that an information set loses, in the order of `forgets`."""
        return tuple(kind for kind, loss in self.forgets.items() if infoset in loss.infosets)

    def witnesses(self) -> dict[Witness, tuple[str, ...]]:
        """Map every witness to all that it shows: ``forgotten chance``, ``not well-formed``..."""
        names_of_witness: dict[Witness, tuple[str, ...]] = {}
        losses = [(f"forgotten {kind}", loss.witness) for kind, loss in self.forgets.items()]
        failures = [
            # "not no absent-mindedness" becomes "absent-mindedness".
            (f"not {name}".replace("not no ", ""), finding.witness)
            for name, finding in self.findings.items()
        ]
        for name, witness in [*losses, *failures]:
            if witness is not None:
                names_of_witness[witness] = (*names_of_witness.get(witness, ()), name)
        return names_of_witness

    def to_json(self) -> dict[str, Any]:
        """Return the properties, by name, as plain values.

        Each with ``holds``, ``witness`` (two histories) and ``note``; ``absent_minded`` holds if
        the player is, with ``infosets``: how often a play can meet each one that it can meet again.
        ``free_in_mixtures`` is the ``count`` of information sets that forget nothing in mixtures,
        ``of`` those that join different own pasts.
        """
        properties: dict[str, Any] = {}
        for name, finding in self.findings.items():
            holds = finding.holds
            witness = finding.witness
            key = name.lower().replace("-", "_").replace(" ", "_")
            if name == "no absent-mindedness":  # the property here is its opposite
                key = "absent_minded"
                holds = None if holds is None else not holds
            properties[key] = {
                "holds": holds,
                "witness": list(witness.texts) if witness else [],
                "note": finding.note or (witness.note if witness else ""),
            }
        names = distinct_texts([*map(str, self.met_again)])
        visits = dict(zip(names, self.met_again.values(), strict=True))
        properties["absent_minded"]["infosets"] = visits
        properties["free_in_mixtures"] = {"count": len(self.free), "of": len(self.forgetful)}
        if self.members:
            properties["members"] = {str(one.player): one.to_json() for one in self.members}
        return properties


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
