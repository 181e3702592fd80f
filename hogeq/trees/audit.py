"""Recall of a player of Hog that sees the scores alone, and its consequences for theory.

All histories of a small game are laid out as a flat tree; each loss is shown by a smallest witness.
"""

from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from hogeq.rules import Rules
from hogeq.rules.turn import TurnTable, effect, throw_of, total_rises
from hogeq.support.aliases import Ints
from hogeq.support.messages import HogeqError, Table, Text
from hogeq.trees.flat import CHANCE, History, HistoryStep
from hogeq.trees.recall import VERDICTS, Audit, Finding, Loss, Pair, Recall, Witness, smallest
from hogeq.trees.rules import GameRules, from_rules, node_of
from hogeq.trees.tree import PLAYERS, START, HogTree, TreePosition, count

USUAL_GOAL = 6  # of a small game, or less where its tree would be too large
MOST_NODES = 1_000_000  # most nodes of a tree to walk: some ten seconds
MOST_POSITIONS = 300_000  # among which one that recurs is looked for: some ten seconds
HORIZON = 4  # turns to look ahead in a game that may never end
_NEVER_TWICE = "whatever the goal, since every turn raises the sum of both scores"


def audit_tree(
    rules: GameRules, player: int = 0, *, ranked: bool = False, longest: int | None = None
) -> Audit:
    """Audit one player of a game tree, or of its first moves."""
    recall = Recall(from_rules(rules, longest=longest, once=True), player)
    found = recall.audit(whole=longest is None, ranked=ranked)
    return replace(found, forgets=_forgets(recall))


def _forgets(recall: Recall) -> dict[str, Loss]:
    tree, form, other = recall.tree, recall.form, recall.other
    coin = np.arange(tree.num_nodes)
    for level in tree.levels[2:]:
        coin[level] = coin[tree.parent[level]]
    chance = tree.mover == CHANCE
    # With the coin, which is the seat, and without anything else of chance.
    rolls = _trail(recall, ~chance) * (coin.max() + 1) + coin
    dice, none = _trail(recall, chance), np.zeros_like(coin)
    lost: dict[str, dict[Hashable, Pair | None]] = defaultdict(dict)
    own_nodes = np.flatnonzero(tree.player == recall.player)
    for row, parts in recall.parts.items():
        infoset, nodes = tree.names[row], own_nodes[tree.row[own_nodes] == row]
        # Information sets at even places, acts at odd ones.
        own = [
            (int(form.first[part]), [*_path(form.steps(int(form.before[part]))), row])
            for part in parts
        ]
        lost["own action"][infoset] = _first_difference(own, 1, recall.pair)
        lost["own observation"][infoset] = _first_difference(own, 0, recall.pair)
        _, first = np.unique(other.at[nodes], return_index=True)
        theirs = [(node, _path(other.steps(int(other.at[node])))) for node in nodes[np.sort(first)]]
        lost["opponent's action"][infoset] = _first_difference(theirs, 1, recall.pair)
        for what, both in (("chance", (rolls, dice)), ("seat", (none, coin))):
            paths = zip(nodes.tolist(), np.stack(both, axis=1)[nodes].tolist(), strict=True)
            lost[what][infoset] = _first_difference(paths, 1, recall.pair)
    return {what: _loss(recall, pairs) for what, pairs in lost.items()}


def _first_difference(
    paths: Iterable[tuple[int, Sequence[Hashable]]], first: int, pair: Callable[[int, int], Pair]
) -> Pair | None:
    """Pair two nodes whose paths first differ at an even place, or at an odd one by `first`."""
    # Shorter histories come first.
    shortest: dict[Hashable, dict[Hashable, int]] = defaultdict(dict)
    for node, steps in paths:
        for index in range(first, len(steps), 2):
            shortest[tuple(steps[:index])].setdefault(steps[index], node)
    return smallest(pair(*list(ways.values())[:2]) for ways in shortest.values() if len(ways) > 1)


def _loss(recall: Recall, pairs: dict[Hashable, Pair | None]) -> Loss:
    pair = smallest(pairs.values())
    lost = frozenset(infoset for infoset, shown in pairs.items() if shown)
    return Loss(lost, recall.witness(pair) if pair else None)


def _path(steps: list[tuple[int, int]]) -> list[Hashable]:
    return [part for step in steps for part in step]


def _trail(recall: Recall, counted: NDArray[np.bool_]) -> Ints:
    """Give a number to each sequence of those moves that are counted, (N,)."""
    tree = recall.tree
    numbers: dict[tuple[int, int, int], int] = {}
    trail = [0] * tree.num_nodes
    columns = (tree.parent, tree.mover, tree.move, counted)
    steps = zip(*(column.tolist() for column in columns), strict=True)
    for node, (parent, mover, move, counts) in enumerate(steps):
        if node:
            before = trail[parent]
            step = before, mover, move
            trail[node] = numbers.setdefault(step, len(numbers) + 1) if counts else before
    return np.array(trail)


def audit(rules: Rules, *, full: Rules | None = None) -> Audit:
    """Audit a game of Hog by walking all of its histories.

    The coin makes both players alike, so one is audited.

    Parameters
    ----------
    rules : Rules
        Of a small game: see :func:`small`.
    full : Rules, optional
        The game that `rules` are a small part of: where positions can recur, they are looked for
        up to its goal. By default `rules`.

    Returns
    -------
    Audit
        Of the first turns only, if the game may never end.

    Raises
    ------
    ValueError
        If the tree is too big to walk.

    Examples
    --------
    >>> from hogeq.rules import rules_from
    >>> rules = rules_from({"edition": "su20", "goal": 4, "max_dice": 1})
    >>> found = audit(rules).findings
    >>> found["perfect recall"].holds, found["no absent-mindedness"].holds
    (False, True)
    >>> for history in found["perfect recall"].witness[1:3]:
    ...     print(tell(rules, history))
    A begins. A rolls 1 for 1: 1-0. B rolls 1 for 2: 1-2.
    B begins. B rolls 1 for 1: 0-1. A rolls 1 for 1: 1-1. B rolls 1 for 1: 1-2.
    """
    ends = total_rises(rules)
    tree = HogTree(rules)
    if ends:
        sizes = count(tree, most=MOST_NODES)
        if not sizes.exact:
            raise HogeqError(
                f"audit: {rules.name} to {rules.goal} with 0 to {rules.max_dice} dice is a tree of "
                f"{sizes}; allowed: at most {MOST_NODES:,}: lower goal or max_dice"
            )
    result = audit_tree(tree, ranked=ends, longest=None if ends else HORIZON)
    if ends:
        proven = result.findings["no absent-mindedness"]._replace(note=_NEVER_TWICE)
        result.findings["no absent-mindedness"] = proven
    elif result.findings["no absent-mindedness"].holds is None:
        goal = (full or rules).goal
        searched = HogTree(replace(rules, goal=goal))
        witness, complete = recurrence(searched, result.player, MOST_POSITIONS)
        if witness is not None or complete:
            note = f"in the game to {goal} with 0 to {rules.max_dice} dice"
            result.findings["no absent-mindedness"] = Finding(witness is None, witness, note)
    return result


def small(rules: Rules, goal: int | None, max_dice: int) -> Rules:
    """Give the same rules with a goal and dice of at most these; by default those of an audit."""
    for highest in range(USUAL_GOAL, 0, -1) if goal is None else (goal,):
        walked = replace(
            rules, goal=min(highest, rules.goal), max_dice=min(max_dice, rules.max_dice)
        )
        if not total_rises(walked) or count(HogTree(walked), most=MOST_NODES).exact:
            break
    return walked


def recurrence(tree: HogTree, player: int, most: int) -> tuple[Witness | None, bool]:
    """Find a position of a player that comes twice; and say whether so many were all there are."""
    for number, (state, way) in enumerate(_ways(tree, tree.initial())):
        if number == most:
            return None, False
        node = node_of(tree, state)
        if node.player == player:
            ahead = _ways(tree, state, state.own + state.opponent)
            next(ahead)  # the position itself
            for after, more in ahead:
                if node_of(tree, after)[:2] == node[:2]:
                    return Witness(node.infoset, way, way + more), True
    return None, True


def _ways(
    tree: HogTree, start: TreePosition, total: int | None = None
) -> Iterator[tuple[TreePosition, History]]:
    """List the positions that follow, each with a shortest way; the start too, if it recurs."""
    known: set[TreePosition] = set()
    waiting: deque[tuple[TreePosition, History]] = deque([(start, ())])
    while waiting:
        state, way = waiting.popleft()
        yield state, way
        node = node_of(tree, state)
        mover = None if node.player == CHANCE else node.player
        for label, _, after in node.moves:
            # The sum of scores never falls, so a way back keeps it.
            if after not in known and total in {None, after.own + after.opponent}:
                known.add(after)
                waiting.append((after, (*way, HistoryStep(mover, node.infoset, str(label)))))


def replay(rules: Rules, history: History) -> list[TreePosition]:
    """Positions that a history goes through, the last one being where it ends."""
    tree = HogTree(rules)
    positions = [tree.initial()]
    for move in history:
        node = node_of(tree, positions[-1])
        after = [state for label, _, state in node.moves if str(label) == move.action]
        if not after or (node.player >= 0 and move[:2] != node[:2]):
            raise HogeqError(f"history: {move} is not possible under {rules.name}")
        positions.append(after[0])
    return positions


def shows(rules: Rules, witness: Witness) -> bool:
    """Whether both histories of a witness lead to its information set under these rules."""
    for history in (witness.first, witness.second):
        try:
            last = replay(rules, history)[-1]
        except ValueError:
            return False
        ongoing = last.dice is None and last.winner is None and last.mover != START
        if not ongoing or (last.own, last.opponent) != witness.infoset:
            return False
    return True


def tell(rules: Rules, history: History) -> str:
    """Write a history as sentences, with the scores of A and B after every turn."""
    sentences = []
    turns = TurnTable(rules)
    positions = replay(rules, history)
    for before, after, move in zip(positions, positions[1:], history, strict=False):
        if before.mover == START:
            sentences.append(f"{move.action}.")
        elif after.dice is None:  # a roll is written once its points are known
            throw = throw_of(rules, before.own, before.opponent, before.memory)
            dice = throw.dice(before.dice or int(move.action))
            points = int(move.action)
            if dice == 0:
                points = turns.free(before.own, before.opponent, throw.scores).points
            elif dice < 0:
                points = turns.branches(dice, throw)[0].points
            does = "rolls" if dice >= 0 else "chooses"
            extra = effect(rules, before.own, before.opponent, before.memory, dice).bonus
            more = f" and {extra} more" if extra else ""
            scores = (after.own, after.opponent)[:: 1 if after.mover == 0 else -1]
            who = PLAYERS[before.mover]
            sentences.append(f"{who} {does} {dice} for {points}{more}: {scores[0]}-{scores[1]}.")
    return " ".join(sentences)


# --- a small game in place of a large one ---------------------------------------------------------

LETTERS: Final = {
    "own action": "a",
    "own observation": "o",
    "opponent's action": "p",
    "chance": "c",
    "seat": "s",
}
MAP_GOAL: Final = 12  # goals up to which a map of the information sets fits a terminal


class SmallAudit(NamedTuple):
    """Audit of a game of Hog by a small one of the same rules, which alone is walked."""

    audit: Audit
    walked: Rules
    full: Rules

    @classmethod
    def of(cls, full: Rules, goal: int | None = None, max_dice: int = 2) -> "SmallAudit":
        """Audit a game by one of at most this goal and these dice (:func:`small`)."""
        walked = small(full, goal, max_dice)
        return cls(audit(walked, full=full), walked, full)

    def _witness(self, witness: Witness | None) -> dict[str, Any] | None:
        if witness is None:
            return None
        in_full = shows(self.full, witness)
        rules = self.full if in_full else self.walked
        return {
            "at": list(cast("Any", witness.infoset)),
            "histories": [tell(rules, witness.first), tell(rules, witness.second)],
            "note": witness.note,
            "in_full_game": in_full,
        }

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values: sizes, and by name ``forgets`` and ``properties``."""
        audit, walked, full = self
        return {
            "goal": walked.goal,
            "max_dice": walked.max_dice,
            "full_goal": full.goal,
            "full_max_dice": full.max_dice,
            "whole": audit.whole,
            "infosets": len(audit.infosets),
            "histories": audit.histories,
            "forgets": {
                kind: {
                    "count": len(loss.infosets),
                    "infosets": sorted(map(list, cast("Any", loss.infosets))),
                    "witness": self._witness(loss.witness),
                }
                for kind, loss in audit.forgets.items()
            },
            "properties": {
                name: {"holds": one.holds, "note": one.note, "witness": self._witness(one.witness)}
                for name, one in audit.findings.items()
            },
        }

    def text(self, title: str) -> Text:
        """Lay out the losses, a map of them if it fits, the properties and their witnesses."""
        audit, walked, full = self
        count = len(audit.infosets)
        how = "all histories" if audit.whole else "the first turns of all histories"
        forgotten = [
            (LETTERS[kind], kind, f"{len(loss.infosets)} of {count}")
            for kind, loss in audit.forgets.items()
        ]
        heading = (
            f"Recall in {title}, where a player sees the scores: {how} of the game to "
            f"{walked.goal} with 0 to {walked.max_dice} dice, {audit.histories:,} of them ending "
            f"in {count:,} information sets of player A"
        )
        names = ("", "forgotten", "information sets")
        text: Text = [heading, "", Table(forgotten, names, left=2), ""]
        if walked.size <= MAP_GOAL:
            text += [
                (
                    "What is forgotten at own score (down) and opponent's score (across); - "
                    "nothing, . no play comes there"
                ),
                self._map(),
                "",
            ]
        properties = [
            (name, ", ".join(filter(None, (VERDICTS[one.holds], one.note))))
            for name, one in audit.findings.items()
        ]
        text.append(Table(properties, ("property", "holds"), left=2))
        for witness, shown_by in audit.witnesses().items():
            shown: Any = self._witness(witness)
            own, opponent = shown["at"][:2]
            heading = f"{', '.join(shown_by)}: A to move at {own}-{opponent} after either of"
            text += witness.lines(heading, shown["histories"])
            if (full.goal, full.max_dice) != (walked.goal, walked.max_dice):
                same = "both lead there" if shown["in_full_game"] else "they do not both lead there"
                text.append(f"  to {full.goal} with 0 to {full.max_dice} dice: {same} too")
        return text

    def _map(self) -> Table:
        def cell(own: int, opponent: int) -> str:
            if (own, opponent) not in self.audit.infosets:
                return "."
            lost = self.audit.forgotten_at((own, opponent))
            return "".join(LETTERS[kind] for kind in lost) or "-"

        goal = range(self.walked.size)
        rows = [(str(own), *(cell(own, opponent) for opponent in goal)) for own in goal]
        header = ("own", *map(str, goal))
        return Table(rows, header, left=len(header))
