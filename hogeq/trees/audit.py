"""Recall of a player of Hog that sees the scores alone, and its consequences for theory.

All histories of a small game are laid out as a flat tree; each loss is shown by a smallest witness.
"""

from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, pairwise
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
ROWS: Final = 0  # parity of a path's places with rows, and ...
ACTIONS: Final = 1  # ... with the actions there
_NEVER_TWICE = "whatever the goal, since every turn raises the sum of both scores"


def audit_tree(
    rules: GameRules, player: int = 0, *, ranked: bool = False, longest: int | None = None
) -> Audit:
    """Audit one player of a game tree, or of its first moves."""
    recall = Recall(from_rules(rules, longest=longest, once=True), player)
    found = recall.audit(whole=longest is None, ranked=ranked)
    return replace(found, forgets=_forgets(recall))


def _forgets(recall: Recall) -> dict[str, Loss]:
    """Find, for each kind of information, the information sets that forget it, and a witness.

    One forgets a kind if two of its nodes lie on paths that first differ in an event of the kind.
    A path has, in turn, what came before an event and the event: of own moves the rows that the
    player met and its actions there, of chance all moves of players and all moves of chance.
    """
    tree, form, other = recall.tree, recall.form, recall.other
    coin = np.arange(tree.num_nodes)  # (N,), side of the coin: the node after the first move
    for level in tree.levels[2:]:
        coin[level] = coin[tree.parent[level]]
    by_chance = tree.mover == CHANCE
    # With the coin, which is the seat, and without anything else of chance.
    decisions = _numbers_of_pasts(recall, ~by_chance) * (coin.max() + 1) + coin
    dice = _numbers_of_pasts(recall, by_chance)
    nothing = np.zeros_like(coin)
    lost: dict[str, dict[Hashable, Pair | None]] = defaultdict(dict)
    own_nodes = np.flatnonzero(tree.player == recall.player)
    for row, refined_sets in recall.parts.items():
        infoset, nodes = tree.names[row], own_nodes[tree.row[own_nodes] == row]
        own_paths = [
            (int(form.first[refined]), [*chain(*form.steps(int(form.before[refined]))), row])
            for refined in refined_sets
        ]
        lost["own action"][infoset] = _first_difference(own_paths, ACTIONS, recall.pair)
        lost["own observation"][infoset] = _first_difference(own_paths, ROWS, recall.pair)
        _, places = np.unique(other.at[nodes], return_index=True)
        first = nodes[np.sort(places)]  # node after each sequence of the opponent
        other_paths = [(node, [*chain(*other.steps(int(other.at[node])))]) for node in first]
        lost["opponent's action"][infoset] = _first_difference(other_paths, ACTIONS, recall.pair)
        for what, columns in (("chance", (decisions, dice)), ("seat", (nothing, coin))):
            paths = zip(nodes.tolist(), np.stack(columns, axis=1)[nodes].tolist(), strict=True)
            lost[what][infoset] = _first_difference(paths, ACTIONS, recall.pair)
    return {what: _loss(recall, pairs) for what, pairs in lost.items()}


def _first_difference(
    paths: Iterable[tuple[int, Sequence[Hashable]]], parity: int, pair: Callable[[int, int], Pair]
) -> Pair | None:
    """Find the smallest pair of nodes whose paths first differ at even or at odd places.

    `paths` are nodes with their paths; `parity` is 0 for even places; `pair` makes one of nodes.
    """
    # By what came before a place, then by what stands there: a node. Shorter histories come first.
    nodes: dict[Hashable, dict[Hashable, int]] = defaultdict(dict)
    for node, path in paths:
        for place in range(parity, len(path), 2):
            nodes[tuple(path[:place])].setdefault(path[place], node)
    differing = ([*after.values()][:2] for after in nodes.values() if len(after) > 1)
    return smallest(pair(first, second) for first, second in differing)


def _loss(recall: Recall, pairs: dict[Hashable, Pair | None]) -> Loss:
    """Collect the information sets that have a pair of nodes; the smallest is the witness."""
    pair = smallest(pairs.values())
    lost = frozenset(infoset for infoset, shown in pairs.items() if shown)
    return Loss(lost, recall.witness(pair) if pair else None)


def _numbers_of_pasts(recall: Recall, is_counted: NDArray[np.bool_]) -> Ints:
    """Give each node a number of the sequence of counted moves to it, (N,); of equal ones one."""
    tree = recall.tree
    numbers: dict[tuple[int, int, int], int] = {}
    past = [0] * tree.num_nodes  # the root's is 0; parents come before their children
    columns = (tree.parent, tree.mover, tree.move, is_counted)
    steps = zip(*(column[1:].tolist() for column in columns), strict=True)
    for node, (parent, mover, move, counts) in enumerate(steps, 1):
        past[node] = past[parent]
        if counts:
            longer = past[parent], mover, move
            past[node] = numbers.setdefault(longer, len(numbers) + 1)
    return np.array(past)


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
    ...     print(history_text(rules, history))
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
    """Give the same rules with at most this goal and these dice; by default a goal of an audit."""
    goals = range(USUAL_GOAL, 0, -1) if goal is None else (goal,)
    for highest in goals:
        walked = replace(
            rules, goal=min(highest, rules.goal), max_dice=min(max_dice, rules.max_dice)
        )
        if not total_rises(walked) or count(HogTree(walked), most=MOST_NODES).exact:
            break
    return walked


def recurrence(tree: HogTree, player: int, most: int) -> tuple[Witness | None, bool]:
    """Search the first `most` positions for one of a player that play can meet again.

    The witness has two histories, to it and once more there; a flag says if the search is complete.
    """
    for number, (position, history) in enumerate(_breadth_first(tree, tree.initial())):
        if number == most:
            return None, False
        node = node_of(tree, position)
        if node.player != player:
            continue
        following = _breadth_first(tree, position, position.own + position.opponent)
        next(following)  # the position itself
        for later, more in following:
            if node_of(tree, later)[:2] == node[:2]:  # player and information set
                return Witness(node.infoset, history, history + more), True
    return None, True


def _breadth_first(
    tree: HogTree, start: TreePosition, total: int | None = None
) -> Iterator[tuple[TreePosition, History]]:
    """List the positions from a start on, each with a shortest history from there.

    The start comes first, and once more if play comes back to it. With `total`, only positions of
    this sum of scores are listed: the sum never falls, so a way back keeps it.
    """
    known: set[TreePosition] = set()
    waiting: deque[tuple[TreePosition, History]] = deque([(start, ())])
    while waiting:
        position, history = waiting.popleft()
        yield position, history
        node = node_of(tree, position)
        mover = None if node.player == CHANCE else node.player
        for label, _, after in node.moves:
            if after not in known and total in {None, after.own + after.opponent}:
                known.add(after)
                step = HistoryStep(mover, node.infoset, str(label))
                waiting.append((after, (*history, step)))


def replay(rules: Rules, history: History) -> list[TreePosition]:
    """Positions that a history goes through, the last one being where it ends."""
    tree = HogTree(rules)
    positions = [tree.initial()]
    for step in history:
        node = node_of(tree, positions[-1])
        after = [position for label, _, position in node.moves if str(label) == step.action]
        is_same_infoset = step[:2] == node[:2]  # of the same player
        if not after or (node.player >= 0 and not is_same_infoset):
            raise HogeqError(f"history: {step} is not possible under {rules.name}")
        positions.append(after[0])
    return positions


def shows(rules: Rules, witness: Witness) -> bool:
    """Whether both histories of a witness are possible, and end in a choice at its scores."""
    for history in (witness.first, witness.second):
        try:
            end = replay(rules, history)[-1]
        except ValueError:
            return False
        is_choice = end.mover != START and end.dice is None and end.winner is None
        if not is_choice or (end.own, end.opponent) != witness.infoset:
            return False
    return True


def history_text(rules: Rules, history: History) -> str:
    """Write a history as sentences: who begins, and each turn with the scores of A and B after."""
    sentences = []
    turns = TurnTable(rules)
    positions = replay(rules, history)
    for (before, after), step in zip(pairwise(positions), history, strict=True):
        if before.mover == START:
            sentences.append(f"{step.action}.")
        elif after.dice is None:  # the dice are not still rolling: the turn is over
            sentences.append(_turn_text(turns, before, after, int(step.action)))
    return " ".join(sentences)


def _turn_text(turns: TurnTable, before: TreePosition, after: TreePosition, action: int) -> str:
    """Write a turn as a sentence; `action` ended it: points of dice, or a choice without chance."""
    rules = turns.rules
    throw = throw_of(rules, before.own, before.opponent, before.memory)
    dice = throw.dice(before.dice or action)
    points = action
    if dice == 0:
        points = turns.free(before.own, before.opponent, throw.scores).points
    elif dice < 0:
        points = turns.branches(dice, throw)[0].points
    verb = "rolls" if dice >= 0 else "chooses"
    bonus = effect(rules, before.own, before.opponent, before.memory, dice).bonus
    more = f" and {bonus} more" if bonus else ""
    scores = f"{after.own}-{after.opponent}"
    if after.mover != 0:
        scores = f"{after.opponent}-{after.own}"
    return f"{PLAYERS[before.mover]} {verb} {dice} for {points}{more}: {scores}."


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
        """Return a witness as plain values, by the full game if it is one there."""
        if witness is None:
            return None
        in_full = shows(self.full, witness)
        rules = self.full if in_full else self.walked
        return {
            "at": list(cast("Any", witness.infoset)),
            "histories": [history_text(rules, one) for one in (witness.first, witness.second)],
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
                verdict = "both lead" if shown["in_full_game"] else "they do not both lead"
                text.append(f"  to {full.goal} with 0 to {full.max_dice} dice: {verdict} there too")
        return text

    def _map(self) -> Table:
        """Lay out what is forgotten at each pair of scores, by the letters of `LETTERS`."""

        def cell(own: int, opponent: int) -> str:
            if (own, opponent) not in self.audit.infosets:
                return "."
            lost = self.audit.forgotten_at((own, opponent))
            return "".join(LETTERS[kind] for kind in lost) or "-"

        goal = range(self.walked.size)
        rows = [(str(own), *(cell(own, opponent) for opponent in goal)) for own in goal]
        header = ("own", *map(str, goal))
        return Table(rows, header, left=len(header))
