"""Recall of a player, with two histories wherever something is forgotten.

docs/recall.md defines the properties, with their sources. X(h) is what the player met and did on
the way to history h, Y(h) what the opponent met and did.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

import numpy as np

from hogeq.support.aliases import Ints
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
        one, two = ("; ".join(str(step) for step in way) for way in (self.first, self.second))
        return one, two

    def lines(self, heading: str, histories: Iterable[str]) -> list[str]:
        """Lay it out, with its histories in words."""
        numbered = [f"  {number}. {one}" for number, one in enumerate(histories, 1)]
        return ["", heading, *numbered, *[f"  ({self.note})"] * bool(self.note)]


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
        words = {True: "", False: "not ", None: "undecided: "}
        found = ", ".join(f"{words[one.holds]}{name}" for name, one in self.findings.items())
        sizes = f"{len(self.infosets)} information sets, {self.histories:,} histories"
        return f"Audit(player {self.player}: {sizes}; {found})"

    def forgotten_at(self, infoset: Hashable) -> tuple[str, ...]:
        """Kinds of memory that an information set loses, in the order of `forgets`."""
        return tuple(what for what, loss in self.forgets.items() if infoset in loss.infosets)

    def witnesses(self) -> dict[Witness, tuple[str, ...]]:
        """Give every witness with all that it shows, ``forgotten chance`` say."""
        shown: dict[Witness, tuple[str, ...]] = {}
        losses = [(f"forgotten {what}", loss.witness) for what, loss in self.forgets.items()]
        failures = [
            (f"not {what}".replace("not no ", ""), finding.witness)
            for what, finding in self.findings.items()
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
        known: dict[str, Any] = {}
        for name, finding in self.findings.items():
            holds, witness, key = finding.holds, finding.witness, name
            if name == "no absent-mindedness":
                key, holds = "absent_minded", None if holds is None else not holds
            known[key.lower().replace("-", "_").replace(" ", "_")] = {
                "holds": holds,
                "witness": list(witness.texts) if witness else [],
                "note": finding.note or (witness.note if witness else ""),
            }
        known["absent_minded"]["infosets"] = {
            str(name): most for name, most in self.met_again.items()
        }
        known["free_in_mixtures"] = {"count": len(self.free), "of": len(self.forgetful)}
        if self.members:
            known["members"] = {str(one.player): one.to_json() for one in self.members}
        return known


VERDICTS: Final = {True: "yes", False: "no", None: "not decided"}


def recall_text(players: Sequence[Audit], sides: Sequence[str]) -> Text:
    """Lay out the recall of both players, by their names, and all witnesses."""
    rows = [
        (name, *(VERDICTS[player.findings[name].holds] for player in players))
        for name in players[0].findings
    ]
    free = (f"{len(player.free):,} of {len(player.forgetful):,}" for player in players)
    rows.append(("forgetting free in mixtures", *free))
    text: Text = [Table(rows, ("property", *sides), left=3)]
    members = sorted((one for team in players for one in team.members), key=lambda one: one.player)
    if members:
        alone = [
            (name, *(VERDICTS[one.findings[name].holds] for one in members))
            for name in members[0].findings
        ]
        header = ("each member alone", *(f"player {one.player}" for one in members))
        text += ["", Table(alone, header, left=len(header))]
    for side, player in zip(sides, players, strict=True):
        if player.met_again:
            often = [f"{printable(name)} ({most} times)" for name, most in player.met_again.items()]
            often[MOST_NAMED:] = [f"and {len(often) - MOST_NAMED} more"] * (len(often) > MOST_NAMED)
            heading = f"{side.capitalize()} can meet again in a play, at most so often"
            text += ["", f"{heading}: {', '.join(often)}"]
        for witness, names in player.witnesses().items():
            heading = (
                f"{side.capitalize()}, {', '.join(names)}: one information set after either of"
            )
            text += witness.lines(heading, (one or "the start" for one in witness.texts))
    return text


def audit_of(tree: FlatTree, player: int) -> Audit:
    """Audit a player, or a team and each of its members."""
    found = Recall(tree, player).audit()
    if tree.sides is None or tree.sides.count(player) < 2:
        return found
    members = [one for one, side in enumerate(tree.sides) if side == player]
    alone = [replace(Recall(_alone(tree, one), 0).audit(), player=one) for one in members]
    return replace(found, members=tuple(alone))


def _alone(tree: FlatTree, member: int) -> FlatTree:
    """Play a tree with one member as player 0, against all others as player 1."""
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


class _Alike:
    """Own pasts that met the same rows, by their numbers."""

    def __init__(self, met: frozenset[int]) -> None:
        self.met = met
        self.pasts: list[tuple[int, dict[int, int]]] = []
        self.tables: dict[tuple[int, ...], dict[tuple[int, ...], int]] = {}  # by rows, then acts

    def add(self, number: int, acts: dict[int, int]) -> None:
        """Add a past, later than all before."""
        self.pasts.append((number, acts))
        for rows, table in self.tables.items():
            table.setdefault(tuple(acts[row] for row in rows), number)

    def first(self, acts: dict[int, int]) -> int | None:
        """Give the first past that acted as another did at all rows that both met."""
        rows = tuple(sorted(self.met & acts.keys()))
        if rows not in self.tables:
            table = self.tables[rows] = {}
            for number, past in self.pasts:
                table.setdefault(tuple(past[row] for row in rows), number)
        return self.tables[rows].get(tuple(acts[row] for row in rows))


class Recall:
    """Histories of one player, by the observations and actions of that player."""

    def __init__(self, tree: FlatTree, player: int) -> None:
        self.tree, self.player = tree, player
        self.form, self.other = sequence_form(tree, player), sequence_form(tree, 1 - player)
        self.depth = np.zeros(tree.num_nodes, np.int32)
        for number, level in enumerate(tree.levels):
            self.depth[level] = number
        self.parts: dict[int, list[int]] = defaultdict(list)
        """Refined information sets of every row, those that are met first ahead."""
        for refined, row in enumerate(self.form.row.tolist()):
            self.parts[row].append(refined)
        self.shared = {row: parts for row, parts in self.parts.items() if len(parts) > 1}

    def audit(self, *, whole: bool = True, ranked: bool = False) -> Audit:
        """Audit a tree of which all was laid out, or the beginning."""
        findings = {
            "perfect recall": self._finding(smallest(self._two_pasts()), whole),
            "A-loss recall": self._finding(self._untraced(), whole),
            "no absent-mindedness": self._finding(smallest(self._twice()), whole),
        }
        if whole and not ranked:
            in_place = findings["A-loss recall"]
            findings["shuffled A-loss recall"] = in_place if in_place.holds else self._shuffled()
        names = ("well-formed", "skew well-formed", "chance-relaxed skew well-formed")
        findings |= zip(names, self._well_formed(whole=whole, ranked=ranked), strict=True)
        if self.form.is_absent_minded:  # their theorem is for other players
            unknown = dict.fromkeys(names, Finding(None, None, ONCE))
            findings |= {name: one for name, one in unknown.items() if findings[name].holds}
        tree, form = self.tree, self.form
        free = [*self.shared] if findings["no absent-mindedness"].holds else []
        in_order = findings.get("shuffled A-loss recall")
        if free and not (in_order and in_order.holds):
            kept = np.isin(form.inflated.row, form.inflated.shared)
            free = sorted({*free} - {*form.row[kept].tolist()})
        sets: list[frozenset[Hashable]] = [
            frozenset(tree.names[row] for row in rows)
            for rows in (np.flatnonzero(tree.seat == self.player).tolist(), self.shared, free)
        ]
        histories = int((tree.player == self.player).sum())
        often = sorted(zip(form.visits.tolist(), form.row.tolist(), strict=True))
        again = {tree.names[row]: visits for visits, row in often if visits > 1}
        known = self.player, sets[0], histories, whole, findings
        return Audit(*known, sets[1], sets[2], {}, met_again=again)

    def pair(self, first: int, second: int, note: str = "") -> Pair:
        """Pair two nodes."""
        return Pair(int(self.depth[first] + self.depth[second]), first, second, note)

    def witness(self, pair: Pair) -> Witness:
        """Write two nodes of one information set as histories."""
        infoset = self.tree.names[self.tree.row[pair.second]]
        first, second = self.tree.history(pair.first), self.tree.history(pair.second)
        return Witness(infoset, first, second, pair.note)

    def _finding(self, refuted: Pair | None, whole: bool) -> Finding:
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

    def _two_pasts(self) -> Iterator[Pair]:
        """Pair shortest histories with different own pasts."""
        for parts in self.shared.values():
            yield self.pair(*self.form.first[parts[:2]].tolist())

    def _untraced(self) -> Pair | None:
        """Pair histories whose different own pasts no different act explains.

        Pasts that met the same rows are looked up by what they did at those which the other met.
        """
        best: Pair | None = None
        for parts in self.shared.values():
            nodes = self.form.first[parts].tolist()  # the shortest histories first
            groups: dict[frozenset[int], _Alike] = {}
            for number, two in enumerate(nodes):
                if best is not None and self.pair(nodes[0], two).moves >= best.moves:
                    break
                acts = dict(self.form.steps(int(self.form.before[parts[number]])))
                found = [group.first(acts) for group in groups.values()]
                earliest = min((one for one in found if one is not None), default=None)
                if earliest is not None:
                    pair = self.pair(nodes[earliest], two)
                    if best is None or pair.moves < best.moves:
                        best = pair
                met = frozenset(acts)
                groups.setdefault(met, _Alike(met)).add(number, acts)
        return best

    def _twice(self) -> Iterator[Pair]:
        """Pair the first and a later visit of one information set in a play."""
        tree, fewest = self.tree, self.tree.num_nodes
        for later in self.form.first[self.form.visits > 1].tolist():
            if self.depth[later] >= fewest:  # those that follow are as deep
                return
            first, row = later, tree.row[later]
            node = int(tree.parent[later])
            while node >= 0:
                first = node if tree.row[node] == row else first
                node = int(tree.parent[node])
            pair = self.pair(first, later)
            fewest = min(fewest, pair.moves)
            yield pair

    # --- well-formedness ---------------------------------------------------------------------

    def _well_formed(self, *, whole: bool, ranked: bool) -> list[Finding]:
        """Decide the three kinds, the strictest first.

        The coarsest refinement with perfect recall splits an information set by the player's past.
        Others split its parts further: a play that no play of a whole part matches is matched by
        none of a piece either. The finest one tells all histories apart. Those between are not
        tried.
        """
        refuted: Pair | None = None
        if not self.shared:
            return [Finding(whole or None, None, COARSEST * whole)] * 3
        if ranked:
            refuted = smallest(self._unmatched_pasts())
        if refuted is None and not whole:
            return [Finding(None, None, "only the whole tree can tell")] * 3
        if refuted is None and self._plays() > MOST_PLAYS:
            return [Finding(None, None, f"more than {MOST_PLAYS:,} plays through histories")] * 3
        if refuted is None:
            plays = Plays.of(self.form, self.other)
            coarse = self.form.refined[plays.node]
            refuted = self._differing(plays.forms(coarse, 3), NO_PLAY)
        if refuted is not None:
            return [Finding(False, self.witness(refuted), EVERY)] * 3
        return [self._kind(plays, coarse, kind) for kind in range(3)]

    def _plays(self) -> int:
        """Count the plays through every history."""
        own = (self.tree.player == self.player).astype(np.int64)
        for level in self.tree.levels[1:]:
            own[level] += own[self.tree.parent[level]]
        return int(own[self.tree.player == TERMINAL].sum())

    def _kind(self, plays: "Plays", coarse: Ints, kind: int) -> Finding:
        refuted = self._differing(plays.forms(coarse, kind), "")
        if refuted is None:
            return Finding(True, None, COARSEST)
        if int((self.tree.player == self.player).sum()) == len(self.form.row):
            return Finding(False, self.witness(refuted), EVERY)
        if self._matched_singly(plays.forms(plays.node, kind)):
            return Finding(True, None, FINEST)
        return Finding(None, self.witness(refuted), NEITHER)

    def _matched_singly(self, forms: Mapping[int, bytes]) -> bool:
        """Whether histories of one information set have equal forms."""
        return len({(self.tree.row[node], form) for node, form in forms.items()}) == len(self.parts)

    def _differing(self, forms: Mapping[int, bytes], note: str) -> Pair | None:
        """Pair shortest histories of two parts whose forms differ."""
        pairs = []
        for parts in self.shared.values():
            kinds: dict[bytes, int] = {}
            for part in parts:
                kinds.setdefault(forms[part], part)
            if len(kinds) > 1:
                first, second = self.form.first[list(kinds.values())[:2]].tolist()
                pairs.append(self.pair(first, second, note))
        return smallest(pairs)

    def _unmatched_pasts(self) -> Iterator[Pair | None]:
        """Pair a history with an own past that never goes with its past of the opponent."""
        # Where ranks rise along plays, the opponent's moves before an information set are those at
        # lower ranks: plays that match must then match up to there.
        theirs: dict[int, dict[int, int]] = defaultdict(dict)
        own = np.flatnonzero(self.tree.player == self.player)
        for node, part, past in zip(
            own.tolist(), self.form.refined[own].tolist(), self.other.at[own].tolist(), strict=True
        ):
            theirs[part].setdefault(past, node)
        for parts in self.shared.values():
            best: Pair | None = None
            for second in parts:
                for first in parts:
                    end = int(self.form.first[second])
                    if best and self.pair(int(self.form.first[first]), end).moves >= best.moves:
                        break
                    for past, node in theirs[first].items():
                        if past not in theirs[second]:
                            best = smallest((best, self.pair(node, end, NEVER)))
                            break
            yield best
