"""Recall of a player, with two histories wherever something is forgotten.

docs/recall.md defines the properties, with their sources. X(h) is what the player met and did on
the way to history h, Y(h) what the opponent met and did.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

import numpy as np

from hogeq.support.messages import Table, Text, printable
from hogeq.trees.flat import TERMINAL, FlatTree, History
from hogeq.trees.sequences import sequence_form
from hogeq.trees.shuffling import is_too_large, shuffled
from hogeq.trees.well_formed import Plays

MOST_PLAYS: Final = 20_000_000
"""Pairs of a history of a player and a play through it, up to which well-formedness is decided;
that takes some ten seconds."""


MOST_NAMED: Final = 20  # information sets that are met again

# Notes of findings, as people read them.
EVERY: Final = "whatever the refinement"
COARSEST: Final = "with respect to the coarsest refinement that has perfect recall"
FINEST: Final = "with respect to perfect information"
NEITHER: Final = (
    "neither the coarsest refinement that has perfect recall nor perfect information will do"
)
NEVER: Final = "the opponent's past of the first never goes with the own past of the second"
ONCE: Final = "the theorem is for players without absent-mindedness"
NO_PLAY: Final = "no play with the own past of the second can end as one through the first can"


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
        """Lay it out, with its histories in words."""
        numbered = [f"  {number}. {history}" for number, history in enumerate(histories, 1)]
        note = [f"  ({self.note})"] if self.note else []
        return ["", heading, *numbered, *note]


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
        """Say what was found in a line; information sets and witnesses are in the attributes."""
        prefixes = {True: "", False: "not ", None: "undecided: "}
        properties = [prefixes[finding.holds] + name for name, finding in self.findings.items()]
        sizes = f"{len(self.infosets)} information sets, {self.histories:,} histories"
        return f"Audit(player {self.player}: {sizes}; {', '.join(properties)})"

    def forgotten_at(self, infoset: Hashable) -> tuple[str, ...]:
        """Kinds of memory that an information set loses, in the order of `forgets`."""
        return tuple(kind for kind, loss in self.forgets.items() if infoset in loss.infosets)

    def witnesses(self) -> dict[Witness, tuple[str, ...]]:
        """Give every witness with all that it shows, ``forgotten chance`` say."""
        shown: dict[Witness, tuple[str, ...]] = {}
        losses = [(f"forgotten {kind}", loss.witness) for kind, loss in self.forgets.items()]
        failures = [
            (f"not {name}".replace("not no ", ""), finding.witness)  # "absent-mindedness"
            for name, finding in self.findings.items()
        ]
        for name, witness in [*losses, *failures]:
            if witness is not None:
                shown[witness] = (*shown.get(witness, ()), name)
        return shown

    def to_json(self) -> dict[str, Any]:
        """Return the properties, by name, as plain values.

        Each with ``holds``, ``witness`` (two histories) and ``note``; ``absent_minded`` holds if
        the player is, with ``infosets``: how often a play can meet each one that it can meet again.
        ``free_in_mixtures`` is the ``count`` of information sets that forget nothing in mixtures,
        ``of`` those that join different own pasts.
        """
        properties: dict[str, Any] = {}
        for name, finding in self.findings.items():
            holds, witness = finding.holds, finding.witness
            if name == "no absent-mindedness":  # the property here is its opposite
                key, holds = "absent_minded", None if holds is None else not holds
            else:
                key = name.lower().replace("-", "_").replace(" ", "_")
            properties[key] = {
                "holds": holds,
                "witness": list(witness.texts) if witness else [],
                "note": finding.note or (witness.note if witness else ""),
            }
        often = {str(infoset): most for infoset, most in self.met_again.items()}
        properties["absent_minded"]["infosets"] = often
        properties["free_in_mixtures"] = {"count": len(self.free), "of": len(self.forgetful)}
        if self.members:
            properties["members"] = {str(one.player): one.to_json() for one in self.members}
        return properties


VERDICTS: Final = {True: "yes", False: "no", None: "not decided"}


def recall_text(players: Sequence[Audit], sides: Sequence[str]) -> Text:
    """Lay out the recall of both players, by their names, and all witnesses."""
    rows = _verdicts(players)
    free = (f"{len(player.free):,} of {len(player.forgetful):,}" for player in players)
    rows.append(("forgetting free in mixtures", *free))
    text: Text = [Table(rows, ("property", *sides), left=3)]
    members = [member for team in players for member in team.members]
    members.sort(key=lambda member: member.player)
    if members:
        header = ("each member alone", *(f"player {member.player}" for member in members))
        text += ["", Table(_verdicts(members), header, left=len(header))]
    for side, player in zip(sides, players, strict=True):
        if player.met_again:
            often = player.met_again.items()
            visits = [f"{printable(name)} ({most} times)" for name, most in often]
            if len(visits) > MOST_NAMED:
                visits[MOST_NAMED:] = [f"and {len(visits) - MOST_NAMED} more"]
            heading = f"{side.capitalize()} can meet again in a play, at most so often"
            text += ["", f"{heading}: {', '.join(visits)}"]
        for witness, names in player.witnesses().items():
            what = ", ".join(names)
            heading = f"{side.capitalize()}, {what}: one information set after either of"
            text += witness.lines(heading, (moves or "the start" for moves in witness.texts))
    return text


def _verdicts(players: Sequence[Audit]) -> list[tuple[str, ...]]:
    """Make a row of a table for each property: its name, and whether it holds of each player."""
    return [
        (name, *(VERDICTS[player.findings[name].holds] for player in players))
        for name in players[0].findings
    ]


def audit_of(tree: FlatTree, player: int) -> Audit:
    """Audit a player, or a team and each of its members."""
    found = Recall(tree, player).audit()
    if tree.sides is None or tree.sides.count(player) < 2:
        return found
    members = [member for member, side in enumerate(tree.sides) if side == player]
    audits = {member: Recall(_against_all_others(tree, member), 0).audit() for member in members}
    numbered = (replace(alone, player=member) for member, alone in audits.items())
    return replace(found, members=tuple(numbered))


def _against_all_others(tree: FlatTree, member: int) -> FlatTree:
    """Give a tree in which one member is player 0, and all others and the opponents player 1."""
    seat = (tree.member != member).astype(np.int8)
    player = np.where(tree.row >= 0, seat[tree.row], tree.player).astype(np.int8)
    return replace(tree, seat=seat, player=player)


class Pair(NamedTuple):
    """Two nodes that show something, as small as was found."""

    moves: int  # of both histories
    first: int
    second: int
    note: str = ""


def smallest(pairs: Iterable[Pair | None]) -> Pair | None:
    """Pick the pair of the fewest moves, None if there is none."""
    return min((pair for pair in pairs if pair), key=lambda pair: pair.moves, default=None)


class _PastsOfRows:
    """Own pasts that met the same rows, each with its number and its actions by row."""

    def __init__(self, rows: frozenset[int]) -> None:
        self.rows = rows
        self.pasts: list[tuple[int, dict[int, int]]] = []
        # For some of the rows: the first past that acted so there, by its actions.
        self.tables: dict[tuple[int, ...], dict[tuple[int, ...], int]] = {}

    def add(self, number: int, actions: dict[int, int]) -> None:
        """Add a past, whose number is larger than all before."""
        self.pasts.append((number, actions))
        for rows, first_past in self.tables.items():
            first_past.setdefault(tuple(actions[row] for row in rows), number)

    def first_alike(self, actions: dict[int, int]) -> int | None:
        """Give the first past that acted as another did at all rows that both met."""
        common = tuple(sorted(self.rows & actions.keys()))
        if common not in self.tables:
            first_past = self.tables[common] = {}
            for number, past_actions in self.pasts:
                first_past.setdefault(tuple(past_actions[row] for row in common), number)
        return self.tables[common].get(tuple(actions[row] for row in common))


class Recall:
    """Histories of one player, by the observations and actions of that player."""

    def __init__(self, tree: FlatTree, player: int) -> None:
        self.tree, self.player = tree, player
        self.form, self.other = sequence_form(tree, player), sequence_form(tree, 1 - player)
        self.depth = np.zeros(tree.num_nodes, np.int32)  # moves before each node
        for number, level in enumerate(tree.levels):
            self.depth[level] = number
        self.parts: dict[int, list[int]] = defaultdict(list)
        """Refined information sets of every row, those that are met first ahead."""
        for refined, row in enumerate(self.form.row.tolist()):
            self.parts[row].append(refined)
        # The rows that forget something: they join several own pasts.
        self.shared = {row: parts for row, parts in self.parts.items() if len(parts) > 1}

    def audit(self, *, whole: bool = True, ranked: bool = False) -> Audit:
        """Audit a tree of which all was laid out, or the beginning if not `whole`.

        `ranked`: information sets have ranks which rise along plays, as scores do.
        """
        findings = {
            "perfect recall": self._finding(smallest(self._pairs_of_pasts()), whole),
            "A-loss recall": self._finding(self._untraced(), whole),
            "no absent-mindedness": self._finding(smallest(self._pairs_in_a_play()), whole),
        }
        if whole and not ranked:
            in_place = findings["A-loss recall"]
            findings["shuffled A-loss recall"] = in_place if in_place.holds else self._shuffled()
        kinds = ("well-formed", "skew well-formed", "chance-relaxed skew well-formed")
        for name, finding in zip(kinds, self._well_formed(whole=whole, ranked=ranked), strict=True):
            is_unproved = finding.holds and self.form.is_absent_minded
            findings[name] = Finding(None, None, ONCE) if is_unproved else finding
        visits = sorted(zip(self.form.visits.tolist(), self.form.row.tolist(), strict=True))
        return Audit(
            player=self.player,
            infosets=self._names(np.flatnonzero(self.tree.seat == self.player).tolist()),
            histories=int((self.tree.player == self.player).sum()),
            whole=whole,
            findings=findings,
            forgetful=self._names(self.shared),
            free=self._names(self._free_in_mixtures(findings)),
            forgets={},
            met_again={self.tree.names[row]: number for number, row in visits if number > 1},
        )

    def _names(self, rows: Iterable[int]) -> frozenset[Hashable]:
        return frozenset(self.tree.names[row] for row in rows)

    def _free_in_mixtures(self, findings: Mapping[str, Finding]) -> set[int]:
        """Rows that join different own pasts, and forget nothing in mixtures.

        All with A-loss recall in some order; else those that inflation splits by past.
        """
        if not self.shared or not findings["no absent-mindedness"].holds:
            return set()
        in_some_order = findings.get("shuffled A-loss recall")
        if in_some_order is not None and in_some_order.holds:
            return {*self.shared}
        inflated = self.form.inflated
        still_joined = np.isin(inflated.row, inflated.shared)
        return {*self.shared} - {*self.form.row[still_joined].tolist()}

    def pair(self, first: int, second: int, note: str = "") -> Pair:
        """Pair two nodes."""
        return Pair(int(self.depth[first] + self.depth[second]), first, second, note)

    def witness(self, pair: Pair) -> Witness:
        """Write two nodes of one information set as histories."""
        infoset = self.tree.names[self.tree.row[pair.second]]
        first, second = self.tree.history(pair.first), self.tree.history(pair.second)
        return Witness(infoset, first, second, pair.note)

    def _finding(self, refuted: Pair | None, whole: bool) -> Finding:
        """Say that a property holds unless a pair refutes it, if the whole tree was walked."""
        if refuted is not None:
            return Finding(False, self.witness(refuted))
        return Finding(True if whole else None, None)

    def _shuffled(self) -> Finding:
        """Decide whether own actions, in another order, leave nothing forgotten in mixtures.

        None does if a row is met twice: the past of the first time is a part of the other's.
        """
        form = self.form
        if not form.is_absent_minded and is_too_large(form):
            return Finding(None, None, "the game is too large for the search")
        return Finding(not form.is_absent_minded and shuffled(form) is not None, None)

    def _pairs_of_pasts(self) -> Iterator[Pair]:
        """Pair shortest histories with different own pasts, for each row that joins some."""
        for parts in self.shared.values():
            yield self.pair(*self.form.first[parts[:2]].tolist())

    def _untraced(self) -> Pair | None:
        """Pair histories whose different own pasts no different act explains: a breach of A-loss.

        Pasts that met the same rows are looked up by what they did at those which the other met.
        The pair is the shortest.
        """
        best: Pair | None = None
        for parts in self.shared.values():
            nodes = self.form.first[parts].tolist()  # the shortest histories first
            groups: dict[frozenset[int], _PastsOfRows] = {}
            for number, node in enumerate(nodes):
                if best is not None and self.pair(nodes[0], node).moves >= best.moves:
                    break
                actions = dict(self.form.steps(int(self.form.before[parts[number]])))
                alike = [group.first_alike(actions) for group in groups.values()]
                earlier = [past for past in alike if past is not None]
                if earlier:
                    best = smallest((best, self.pair(nodes[min(earlier)], node)))
                rows = frozenset(actions)
                groups.setdefault(rows, _PastsOfRows(rows)).add(number, actions)
        return best

    def _pairs_in_a_play(self) -> Iterator[Pair]:
        """Pair the first and a later visit of one information set in a play."""
        tree, fewest_moves = self.tree, self.tree.num_nodes
        for later in self.form.first[self.form.visits > 1].tolist():
            if self.depth[later] >= fewest_moves:  # those that follow are as deep
                return
            first, row = later, tree.row[later]
            node = int(tree.parent[later])
            while node >= 0:
                if tree.row[node] == row:
                    first = node
                node = int(tree.parent[node])
            pair = self.pair(first, later)
            fewest_moves = min(fewest_moves, pair.moves)
            yield pair

    def _well_formed(self, *, whole: bool, ranked: bool) -> list[Finding]:
        """Decide the three kinds, the strictest first.

        The coarsest refinement with perfect recall splits an information set by the player's past.
        Others split its parts further: a play that no play of a whole part matches is matched by
        none of a piece either. The finest one tells all histories apart. Those between are not
        tried.
        """
        refuted: Pair | None = None
        if not self.shared:  # the game itself is the coarsest refinement
            return [Finding(True, None, COARSEST) if whole else Finding(None, None)] * 3
        if ranked:
            refuted = smallest(self._unmatched_pasts())
        if refuted is None and not whole:
            return [Finding(None, None, "only the whole tree can tell")] * 3
        if refuted is None and self._count_plays() > MOST_PLAYS:
            return [Finding(None, None, f"more than {MOST_PLAYS:,} plays through histories")] * 3
        if refuted is None:
            plays = Plays.of(self.form, self.other)
            any_end = plays.forms(self.form.refined[plays.node], 3)
            refuted = self._differing(any_end, NO_PLAY)
        if refuted is not None:
            return [Finding(False, self.witness(refuted), EVERY)] * 3
        return [self._well_formed_of_kind(plays, kind) for kind in range(3)]

    def _count_plays(self) -> int:
        """Count the pairs of a history of the player and a play through it."""
        own_before = (self.tree.player == self.player).astype(np.int64)
        for level in self.tree.levels[1:]:
            own_before[level] += own_before[self.tree.parent[level]]
        return int(own_before[self.tree.player == TERMINAL].sum())

    def _well_formed_of_kind(self, plays: "Plays", kind: int) -> Finding:
        """Decide one kind, the strictest being 0, by the coarsest and the finest refinement."""
        refuted = self._differing(plays.forms(self.form.refined[plays.node], kind), "")
        if refuted is None:
            return Finding(True, None, COARSEST)
        histories = int((self.tree.player == self.player).sum())
        if histories == len(self.form.row):  # it is the finest as well
            return Finding(False, self.witness(refuted), EVERY)
        if self._matched_singly(plays.forms(plays.node, kind)):
            return Finding(True, None, FINEST)
        return Finding(None, self.witness(refuted), NEITHER)

    def _matched_singly(self, forms: Mapping[int, bytes]) -> bool:
        """Whether all histories of each information set have equal forms, which are by node."""
        return len({(self.tree.row[node], form) for node, form in forms.items()}) == len(self.parts)

    def _differing(self, forms: Mapping[int, bytes], note: str) -> Pair | None:
        """Pair shortest histories of two parts of a row whose forms, by part, differ."""
        pairs = []
        for parts in self.shared.values():
            first_part: dict[bytes, int] = {}  # by form
            for part in parts:
                first_part.setdefault(forms[part], part)
            if len(first_part) > 1:
                first, second = self.form.first[list(first_part.values())[:2]].tolist()
                pairs.append(self.pair(first, second, note))
        return smallest(pairs)

    def _unmatched_pasts(self) -> Iterator[Pair | None]:
        """Pair a history with an own past that never goes with its past of the opponent.

        Where ranks rise along plays, the opponent's moves before an information set are those at
        lower ranks: plays that match must then match up to there.
        """
        # By refined information set: a node of each of the opponent's sequences there.
        node_by_past: dict[int, dict[int, int]] = defaultdict(dict)
        own = np.flatnonzero(self.tree.player == self.player)
        refined, opponent_pasts = self.form.refined[own].tolist(), self.other.at[own].tolist()
        for node, part, past in zip(own.tolist(), refined, opponent_pasts, strict=True):
            node_by_past[part].setdefault(past, node)
        for parts in self.shared.values():
            best: Pair | None = None
            for second in parts:
                second_node = int(self.form.first[second])
                for first in parts:
                    shortest = self.pair(int(self.form.first[first]), second_node)
                    if best and shortest.moves >= best.moves:
                        break
                    for past, node in node_by_past[first].items():
                        if past not in node_by_past[second]:
                            best = smallest((best, self.pair(node, second_node, NEVER)))
                            break
            yield best
