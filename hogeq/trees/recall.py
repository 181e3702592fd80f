"""Recall of a player, with two histories wherever something is forgotten.

docs/recall.md defines the properties, with their sources. X(h) is what the player met and did on
the way to history h, Y(h) what the opponent met and did.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.trees.flat import TERMINAL, FlatTree
from hogeq.trees.passes import add_down
from hogeq.trees.recall_results import Audit, Finding, Witness
from hogeq.trees.sequences import sequence_form
from hogeq.trees.shuffling import is_too_large, reorder_actions
from hogeq.trees.well_formed import ENDINGS, Plays

MOST_PLAYS: Final = 20_000_000
"""Pairs of a history of a player and a play through it, up to which well-formedness is decided;
that takes some ten seconds."""

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


def audit_of(tree: FlatTree, player: int) -> Audit:
    """Audit the recall of a player; of a team also that of each member alone."""
    audit = Recall(tree, player).audit()
    if tree.sides is None or tree.sides.count(player) < 2:
        return audit
    member_audits = []
    for member, side in enumerate(tree.sides):
        if side == player:
            member_tree = against_all_others(tree, tree.member == member, 0)
            member_audit = Recall(member_tree, 0).audit()
            member_audits.append(replace(member_audit, player=member))
    return replace(audit, members=tuple(member_audits))


def against_all_others(tree: FlatTree, own_rows: NDArray[np.bool_], side: int) -> FlatTree:
    """Turn a tree of several players into one of two: a player on `side`, all others opposite.

    `own_rows`, (R,), says which information sets are that player's.
    """
    seat = np.where(own_rows, side, 1 - side).astype(np.int8)
    if (seat == tree.seat).all():
        return tree  # whose sequences are known
    mover = np.where(tree.row >= 0, seat[tree.row], tree.player).astype(np.int8)
    return replace(tree, player=mover, seat=seat, sides=None)


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
    """Own pasts that met the same rows: for each its number, and its action at every row."""

    def __init__(self, rows: frozenset[int]) -> None:
        self.rows = rows
        self.pasts: list[tuple[int, dict[int, int]]] = []
        # By some of the rows, then by the actions there: the first past with these actions.
        self.first_past_by_rows: dict[tuple[int, ...], dict[tuple[int, ...], int]] = {}

    def add(self, number: int, actions: dict[int, int]) -> None:
        """Add a past, with its action at each row; numbers must rise from one call to the next."""
        self.pasts.append((number, actions))
        for rows, first_past in self.first_past_by_rows.items():
            first_past.setdefault(tuple(actions[row] for row in rows), number)

    def first_alike(self, actions: dict[int, int]) -> int | None:
        """Find the first past that acts as another at all information sets that both met, if any.

        `actions` are those of the other past, by row. It need not have met the same rows.
        """
        common_rows = tuple(sorted(self.rows & actions.keys()))
        if common_rows not in self.first_past_by_rows:
            first_past = self.first_past_by_rows[common_rows] = {}
            for number, past_actions in self.pasts:
                first_past.setdefault(tuple(past_actions[row] for row in common_rows), number)
        return self.first_past_by_rows[common_rows].get(tuple(actions[row] for row in common_rows))


class Recall:
    """Histories of one player, by the observations and actions of that player."""

    def __init__(self, tree: FlatTree, player: int) -> None:
        """List the own pasts of each information set, from the sequences of the player."""
        self.tree = tree
        self.player = player
        self.form = sequence_form(tree, player)
        self.other = sequence_form(tree, 1 - player)
        level_sizes = [level.stop - level.start for level in tree.levels]
        # Moves before each node.
        self.depth = np.repeat(np.arange(len(level_sizes), dtype=np.int32), level_sizes)
        # Refined information sets (own pasts) of every row (information set), by shortest history.
        self.parts: dict[int, list[int]] = defaultdict(list)
        for refined, row in enumerate(self.form.row_of_refined.tolist()):
            self.parts[row].append(refined)
        # The rows that forget something: they join several own pasts.
        self.shared = {row: parts for row, parts in self.parts.items() if len(parts) > 1}

    def audit(self, *, whole: bool = True, ranked: bool = False) -> Audit:
        """Decide all properties of recall of the player.

        `whole` is False if the tree has only the beginning of the game: then no property is
        proved, but it may be refuted. `ranked` says that information sets have ranks that rise
        along plays, as scores do.
        """
        findings = {
            "perfect recall": self._finding(smallest(self._pairs_of_pasts()), whole),
            "A-loss recall": self._finding(self._untraced(), whole),
            "no absent-mindedness": self._finding(smallest(self._pairs_in_a_play()), whole),
        }
        if whole and not ranked:
            # A-loss recall in the game's own order of actions is the special case.
            unshuffled = findings["A-loss recall"]
            findings["shuffled A-loss recall"] = (
                unshuffled if unshuffled.holds else self._shuffled()
            )
        kinds = ("well-formed", "skew well-formed", "chance-relaxed skew well-formed")
        for name, finding in zip(kinds, self._well_formed(whole=whole, ranked=ranked), strict=True):
            is_unproved = finding.holds and self.form.is_absent_minded
            undecided = Finding(holds=None, witness=None, note=ONCE)
            findings[name] = undecided if is_unproved else finding
        rows = self.form.row_of_refined.tolist()
        visits = sorted(zip(self.form.visits.tolist(), rows, strict=True))
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
        """Find the rows that join different own pasts but cost nothing in mixtures.

        A row is an information set; own pasts are the player's observations and actions before it.
        With A-loss recall in some order of actions these are all such rows; else those that
        inflation splits so that each part has one past.
        """
        if not self.shared or not findings["no absent-mindedness"].holds:
            return set()
        in_some_order = findings.get("shuffled A-loss recall")
        if in_some_order is not None and in_some_order.holds:
            return {*self.shared}
        inflated = self.form.inflated
        still_joined = np.isin(inflated.row_of_refined, inflated.shared_rows)
        return {*self.shared} - {*self.form.row_of_refined[still_joined].tolist()}

    def pair(self, first: int, second: int, note: str = "") -> Pair:
        """Pair two nodes."""
        return Pair(int(self.depth[first] + self.depth[second]), first, second, note)

    def witness(self, pair: Pair) -> Witness:
        """Write two nodes of one information set as histories."""
        infoset = self.tree.names[self.tree.row[pair.second]]
        first, second = self.tree.history(pair.first), self.tree.history(pair.second)
        return Witness(infoset, first, second, pair.note)

    def _finding(self, refuted: Pair | None, whole: bool) -> Finding:
        """Conclude about a property: a pair of nodes refutes it; the whole tree without one proves.

        Otherwise it is undecided.
        """
        if refuted is not None:
            return Finding(holds=False, witness=self.witness(refuted))
        return Finding(holds=True if whole else None, witness=None)

    def _shuffled(self) -> Finding:
        """Decide whether there is an order of own actions with A-loss recall.

        There is none if a play can meet a row twice: the past of the first visit is then a part of
        that of the second.
        """
        form = self.form
        if not form.is_absent_minded and is_too_large(form):
            return Finding(holds=None, witness=None, note="the game is too large for the search")
        holds = not form.is_absent_minded and reorder_actions(form) is not None
        return Finding(holds, witness=None)

    def _pairs_of_pasts(self) -> Iterator[Pair]:
        """Pair shortest histories with different own pasts, for each row that joins some."""
        for parts in self.shared.values():
            yield self.pair(*self.form.first_node[parts[:2]].tolist())

    def _untraced(self) -> Pair | None:
        """Find the shortest pair of histories that refutes A-loss recall; None if it holds.

        A-loss recall: any two own pasts of an information set differ by an action at a row that
        both met. So two pasts that act alike at all rows they have in common refute it. For each
        row, go through its pasts, shortest histories first, and look up an earlier one that is
        alike among the groups of pasts that met the same rows. Pasts in different parts of the
        inflated row are not alike.
        """
        best: Pair | None = None
        for parts in self.shared.values():
            part = self.form.inflated.row_of_refined[parts]  # of the row, after inflation
            nodes = self.form.first_node[parts].tolist()  # the shortest histories first
            is_longer = best is not None and self.pair(*nodes[:2]).moves >= best.moves
            if is_longer or len(np.unique(part)) == len(part):
                continue
            groups: dict[frozenset[int], _PastsOfRows] = {}  # by the rows that pasts met
            for number, node in enumerate(nodes):
                if best is not None and self.pair(nodes[0], node).moves >= best.moves:
                    break  # this pair and all later ones are no shorter
                actions = dict(self.form.steps(int(self.form.parent_sequence[parts[number]])))
                alike = [group.first_alike(actions) for group in groups.values()]
                earlier = [past for past in alike if past is not None]
                if earlier:
                    best = smallest((best, self.pair(nodes[min(earlier)], node)))
                rows = frozenset(actions)
                groups.setdefault(rows, _PastsOfRows(rows)).add(number, actions)
        return best

    def _pairs_in_a_play(self) -> Iterator[Pair]:
        """Pair the first and a later visit of one information set in a play.

        Yields the nodes of both, for every later visit that may still give the shortest pair.
        """
        tree = self.tree
        fewest_moves = tree.num_nodes  # of a pair so far; at first more than any node is deep
        for later in self.form.first_node[self.form.visits > 1].tolist():
            if self.depth[later] >= fewest_moves:  # those that follow are as deep
                return
            first = later
            row = tree.row[later]
            node = int(tree.parent[later])
            while node >= 0:  # walk up to the root
                if tree.row[node] == row:
                    first = node
                node = int(tree.parent[node])
            pair = self.pair(first, later)
            fewest_moves = min(fewest_moves, pair.moves)
            yield pair

    def _well_formed(self, *, whole: bool, ranked: bool) -> list[Finding]:
        """Decide the three kinds of well-formedness, the strictest first.

        A game is well-formed if some refinement with perfect recall has matching plays. The
        coarsest such refinement splits an information set by the player's past; all others split
        its parts further, and a play without a match in a whole part has none in a piece of it.
        The finest refinement tells all histories apart. Refinements between are not tried.

        1. Refute all kinds by an opponent's past, or by a play, that has no match whatsoever.
        2. Else try the coarsest and the finest refinement for each kind.
        """
        num_kinds = 3
        refuted: Pair | None = None
        if not self.shared:  # the game itself is the coarsest refinement
            undecided = Finding(holds=None, witness=None)
            proved = Finding(holds=True, witness=None, note=COARSEST)
            return [proved if whole else undecided] * num_kinds
        if ranked:
            refuted = smallest(self._unmatched_pasts())
        if refuted is None and not whole:
            reason = "only the whole tree can tell"
            return [Finding(holds=None, witness=None, note=reason)] * num_kinds
        if refuted is None and self._count_plays() > MOST_PLAYS:
            too_many = f"more than {MOST_PLAYS:,} plays through histories"
            return [Finding(holds=None, witness=None, note=too_many)] * num_kinds
        if refuted is None:
            plays = Plays.of(self.form, self.other)
            endings = plays.forms(self.form.refined_of_node[plays.history_node], ENDINGS)
            refuted = self._differing(endings, NO_PLAY)
        if refuted is not None:
            return [Finding(holds=False, witness=self.witness(refuted), note=EVERY)] * num_kinds
        return [self._well_formed_of_kind(plays, kind) for kind in range(num_kinds)]

    def _count_plays(self) -> int:
        """Count the pairs of a history of the player and a play through it."""
        # Own nodes on the way to each node, itself included.
        num_own = (self.tree.player == self.player).astype(np.int64)
        add_down(self.tree, num_own)
        return int(num_own[self.tree.player == TERMINAL].sum())

    def _well_formed_of_kind(self, plays: "Plays", kind: int) -> Finding:
        """Decide a kind of well-formedness (Lanctot et al. 2012) by two refinements of the game.

        A game is well-formed with respect to a refinement of its information sets with perfect
        recall if the refined sets of each information set have matching plays through them: equal
        keys, by :meth:`Plays.forms`. `kind`, one of that method's, says what must match: 0 for
        well-formed, 1 for skew well-formed, 2 for chance-relaxed skew well-formed.

        1. The coarsest refinement splits an information set by own past. If it holds, the kind
           holds; if it fails and is the finest refinement as well, the kind fails.
        2. The finest tells all histories apart. If it holds, the kind holds.
        3. Else nothing is decided: a refinement between the two may do.
        """
        refined_set_of_play = self.form.refined_of_node[plays.history_node]
        refuted = self._differing(plays.forms(refined_set_of_play, kind), "")
        if refuted is None:
            return Finding(holds=True, witness=None, note=COARSEST)
        num_histories = int((self.tree.player == self.player).sum())
        coarsest_is_finest = num_histories == self.form.num_refined
        if coarsest_is_finest:
            return Finding(holds=False, witness=self.witness(refuted), note=EVERY)
        if self._matched_singly(plays.forms(plays.history_node, kind)):
            return Finding(holds=True, witness=None, note=FINEST)
        return Finding(holds=None, witness=self.witness(refuted), note=NEITHER)

    def _matched_singly(self, forms: Mapping[int, bytes]) -> bool:
        """Whether all histories of each information set have equal forms, which are by node."""
        return len({(self.tree.row[node], form) for node, form in forms.items()}) == len(self.parts)

    def _differing(self, forms: Mapping[int, bytes], note: str) -> Pair | None:
        """Find two refined information sets of one row whose plays differ.

        They are a row (information set) after different own pasts. `forms` describe, as bytes, the
        plays through each refined information set, by its number: equal forms match. Returns of all
        pairs that do not match the shortest pair of first histories, with the note; None if all
        forms of each row are equal.
        """
        pairs = []
        for parts in self.shared.values():
            first_part: dict[bytes, int] = {}  # of each form
            for part in parts:
                first_part.setdefault(forms[part], part)
            if len(first_part) > 1:
                differing_parts = list(first_part.values())[:2]
                first, second = self.form.first_node[differing_parts].tolist()
                pairs.append(self.pair(first, second, note))
        return smallest(pairs)

    def _unmatched_pasts(self) -> Iterator[Pair | None]:
        """Pair a history with another own past that its past of the opponent never goes with.

        Where ranks rise along plays, the opponent's moves before an information set are those at
        lower ranks. So plays that match must have the same past of the opponent there. Yields the
        shortest such pair of each row that joins several own pasts, None if it has none.
        """
        # By refined information set, then by the opponent's past: the first node with both.
        node_by_past: dict[int, dict[int, int]] = defaultdict(dict)
        own_nodes = np.flatnonzero(self.tree.player == self.player)
        refined = self.form.refined_of_node[own_nodes].tolist()
        opponent_pasts = self.other.sequence_of_node[own_nodes].tolist()
        for node, part, past in zip(own_nodes.tolist(), refined, opponent_pasts, strict=True):
            node_by_past[part].setdefault(past, node)
        for parts in self.shared.values():
            best: Pair | None = None
            for second_part in parts:
                second_node = int(self.form.first_node[second_part])
                for first_part in parts:  # those of the shortest histories first
                    shortest = self.pair(int(self.form.first_node[first_part]), second_node)
                    if best and shortest.moves >= best.moves:
                        break  # later ones are no shorter
                    for past, node in node_by_past[first_part].items():
                        if past not in node_by_past[second_part]:
                            best = smallest((best, self.pair(node, second_node, NEVER)))
                            break
            yield best
