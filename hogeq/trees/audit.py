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
from hogeq.support.messages import HogeqError, Table, Text, indented
from hogeq.trees.flat import CHANCE, History, HistoryStep
from hogeq.trees.passes import add_down
from hogeq.trees.recall import Pair, Recall, smallest
from hogeq.trees.recall_results import VERDICTS, Audit, Finding, Loss, Witness
from hogeq.trees.rules import GameRules, from_rules, node_of
from hogeq.trees.tree import PLAYERS, START, HogRules, TreePosition, count_nodes

USUAL_GOAL = 6  # of a small game, or less where its tree would be too large
MOST_NODES = 1_000_000  # most nodes of a tree to walk: some ten seconds
MOST_POSITIONS = 300_000  # most positions to search for a recurrence: some ten seconds
HORIZON = 4  # turns to look ahead in a game that may never end
# A path lists rows and actions in turn: parity of the indices at which each of them stand.
ROWS: Final = 0
ACTIONS: Final = 1
_NEVER_TWICE = "whatever the goal, since every turn raises the sum of both scores"


def audit_tree(
    rules: GameRules, player: int = 0, *, ranked: bool = False, longest: int | None = None
) -> Audit:
    """Audit the recall of one player of a game tree, or of its `longest` first moves."""
    recall = Recall(from_rules(rules, longest=longest, once=True), player)
    result = recall.audit(whole=longest is None, ranked=ranked)
    return replace(result, forgets=_forgets(recall))


def _forgets(recall: Recall) -> dict[str, Loss]:
    """Find, for each kind of information, the information sets that forget it, and a witness.

    An information set forgets a kind if the paths to two of its nodes first differ in an event of
    that kind. A path lists in turn all that came before an event and the event: rows and own
    actions; all moves of players and all moves of chance; or nothing and the seat.
    """
    tree, form, other = recall.tree, recall.form, recall.other
    coin = np.arange(tree.num_nodes)  # (N,), side of the coin: the node after the first move
    coin[tree.parent > 0] = 0
    add_down(tree, coin)
    by_chance = tree.mover == CHANCE
    # The coin decides the seats; it counts with the players' moves, and as no other chance.
    decisions = _numbers_of_pasts(recall, ~by_chance) * (coin.max() + 1) + coin
    dice = _numbers_of_pasts(recall, by_chance)
    nothing = np.zeros_like(coin)
    # By kind and information set: the pair of nodes that shows the loss.
    lost: dict[str, dict[Hashable, Pair | None]] = defaultdict(dict)
    own_nodes = np.flatnonzero(tree.player == recall.player)
    for row, refined_sets in recall.parts.items():
        infoset = tree.names[row]
        nodes = own_nodes[tree.row[own_nodes] == row]
        own_steps = [form.steps(int(form.parent_sequence[refined])) for refined in refined_sets]
        own_nodes_and_steps = zip(form.first_node[refined_sets].tolist(), own_steps, strict=True)
        own_paths = [(node, [*chain(*steps), row]) for node, steps in own_nodes_and_steps]
        lost["own action"][infoset] = _first_difference(own_paths, ACTIONS, recall.pair)
        lost["own observation"][infoset] = _first_difference(own_paths, ROWS, recall.pair)
        _, indices = np.unique(other.sequence_of_node[nodes], return_index=True)
        first_nodes = nodes[np.sort(indices)]  # one for each sequence of the opponent
        other_steps = [other.steps(int(other.sequence_of_node[node])) for node in first_nodes]
        other_nodes_and_steps = zip(first_nodes, other_steps, strict=True)
        other_paths = [(node, [*chain(*steps)]) for node, steps in other_nodes_and_steps]
        lost["opponent's action"][infoset] = _first_difference(other_paths, ACTIONS, recall.pair)
        for kind, columns in (("chance", (decisions, dice)), ("seat", (nothing, coin))):
            paths = zip(nodes.tolist(), np.stack(columns, axis=1)[nodes].tolist(), strict=True)
            lost[kind][infoset] = _first_difference(paths, ACTIONS, recall.pair)
    return {kind: _loss(recall, pairs) for kind, pairs in lost.items()}


def _first_difference(
    paths: Iterable[tuple[int, Sequence[Hashable]]], parity: int, pair: Callable[[int, int], Pair]
) -> Pair | None:
    """Find the smallest pair of nodes whose paths first differ at an even or at an odd index.

    `paths` are nodes with their paths; `parity` is 0 for even indices, 1 for odd ones; `pair` makes
    a pair of two nodes. None if there is no such pair.
    """
    # By the path before an index, then by the element there: the first node that has it.
    nodes: dict[Hashable, dict[Hashable, int]] = defaultdict(dict)
    for node, path in paths:
        for index in range(parity, len(path), 2):
            nodes[tuple(path[:index])].setdefault(path[index], node)
    # Nodes with short histories come first: two of them are enough.
    differing = ([*by_element.values()][:2] for by_element in nodes.values() if len(by_element) > 1)
    return smallest(pair(first, second) for first, second in differing)


def _loss(recall: Recall, pairs: dict[Hashable, Pair | None]) -> Loss:
    """Collect the information sets that have a pair of nodes; the smallest pair is the witness."""
    smallest_pair = smallest(pairs.values())
    lost = frozenset(infoset for infoset, pair in pairs.items() if pair)
    return Loss(lost, recall.witness(smallest_pair) if smallest_pair else None)


def _numbers_of_pasts(recall: Recall, is_counted: NDArray[np.bool_]) -> Ints:
    """Assign a number to the past of each node of a tree, (N,): the counted moves that lead to it.

    Equal pasts have one number. `is_counted`, (N,), says if the move to a node counts.
    """
    tree = recall.tree
    numbers: dict[tuple[int, int, int], int] = {}  # by number of the past before, mover and move
    past = [0] * tree.num_nodes  # the root's is 0; parents come before their children
    columns = (tree.parent, tree.mover, tree.incoming_number, is_counted)
    steps = zip(*(column[1:].tolist() for column in columns), strict=True)
    for node, (parent, mover, move, counts) in enumerate(steps, 1):
        past[node] = past[parent]
        if counts:
            key = past[parent], mover, move
            past[node] = numbers.setdefault(key, len(numbers) + 1)
    return np.array(past)


def audit(rules: Rules, *, full: Rules | None = None) -> Audit:
    """Audit a game of Hog by walking all of its histories.

    A coin decides who begins, so both players are alike: player A alone is audited.

    Parameters
    ----------
    rules : Rules
        Of a small game: see :func:`small`.
    full : Rules, optional
        The game that `rules` are a small version of. If a game may never end, positions that recur
        are searched for up to the goal of this one. By default `rules`.

    Returns
    -------
    Audit
        Of the first turns alone, if the game may never end.

    Raises
    ------
    ValueError
        If the tree is too big to walk.

    Examples
    --------
    >>> import hogeq
    >>> from hogeq.trees.audit import history_text
    >>> rules = hogeq.rules_from({"edition": "su20", "goal": 4, "max_dice": 1})
    >>> found = hogeq.audit(rules).findings
    >>> found["perfect recall"].holds, found["no absent-mindedness"].holds
    (False, True)
    >>> for history in found["perfect recall"].witness[1:3]:
    ...     print(history_text(rules, history))
    A begins. A rolls 1 for 1: 1-0. B rolls 1 for 2: 1-2.
    B begins. B rolls 1 for 1: 0-1. A rolls 1 for 1: 1-1. B rolls 1 for 1: 1-2.
    """
    surely_ends = total_rises(rules)  # every turn raises the sum of both scores
    tree = HogRules(rules)
    if surely_ends:
        sizes = count_nodes(tree, most=MOST_NODES)
        if not sizes.exact:
            raise HogeqError(
                f"audit: {rules.name} to {rules.goal} with 0 to {rules.max_dice} dice is a tree of "
                f"{sizes}; allowed: at most {MOST_NODES:,}: lower goal or max_dice"
            )
    result = audit_tree(tree, ranked=surely_ends, longest=None if surely_ends else HORIZON)
    finding = result.findings["no absent-mindedness"]
    if surely_ends:
        result.findings["no absent-mindedness"] = finding._replace(note=_NEVER_TWICE)
    elif finding.holds is None:  # the first turns do not decide it
        goal = (full or rules).goal
        full_tree = HogRules(replace(rules, goal=goal))
        witness, is_complete = recurrence(full_tree, result.player, MOST_POSITIONS)
        if witness is not None or is_complete:
            note = f"in the game to {goal} with 0 to {rules.max_dice} dice"
            result.findings["no absent-mindedness"] = Finding(witness is None, witness, note)
    return result


def small(rules: Rules, goal: int | None, max_dice: int) -> Rules:
    """Lower the goal and the dice of rules to the given ones, if they are larger.

    Without a goal it is the largest one, up to `USUAL_GOAL`, whose tree an audit can walk.
    """
    goals = range(USUAL_GOAL, 0, -1) if goal is None else (goal,)
    for highest in goals:
        small_rules = replace(
            rules, goal=min(highest, rules.goal), max_dice=min(max_dice, rules.max_dice)
        )
        # Of a game that may never end only the first turns are walked, whatever the goal.
        if (
            not total_rises(small_rules)
            or count_nodes(HogRules(small_rules), most=MOST_NODES).exact
        ):
            break
    return small_rules


def recurrence(tree: HogRules, player: int, most: int) -> tuple[Witness | None, bool]:
    """Search the first `most` positions for an information set that play can meet twice.

    Returns a witness for the player or None, and whether the search is complete. The witness has
    two histories: to the information set, and on from there until it is met again.
    """
    for number, (position, history) in enumerate(_breadth_first(tree, tree.initial())):
        if number == most:
            return None, False
        node = node_of(tree, position)
        if node.player != player:
            continue
        following = _breadth_first(tree, position, position.own + position.opponent)
        next(following)  # the position itself
        for later_position, later_history in following:
            later = node_of(tree, later_position)
            if (later.player, later.infoset) == (node.player, node.infoset):
                return Witness(node.infoset, history, history + later_history), True
    return None, True


def _breadth_first(
    tree: HogRules, start: TreePosition, total: int | None = None
) -> Iterator[tuple[TreePosition, History]]:
    """Yield the positions from a start on, breadth first, each with a shortest history from there.

    The start comes first, and once more if play returns to it. With `total`, positions of another
    sum of scores are left out: the sum never falls, so a play that returns keeps it.
    """
    known: set[TreePosition] = set()  # without the start, so that a return to it is listed
    waiting: deque[tuple[TreePosition, History]] = deque([(start, ())])
    while waiting:
        position, history = waiting.popleft()
        yield position, history
        node = node_of(tree, position)
        mover = None if node.player == CHANCE else node.player
        for label, _, next_position in node.moves:
            next_total = next_position.own + next_position.opponent
            if next_position not in known and total in {None, next_total}:
                known.add(next_position)
                step = HistoryStep(mover, node.infoset, str(label))
                waiting.append((next_position, (*history, step)))


def replay(rules: Rules, history: History) -> list[TreePosition]:
    """List the positions of a history, from the start of the game to where it ends.

    `HogeqError` if a step is not possible under the rules.
    """
    tree = HogRules(rules)
    positions = [tree.initial()]
    for step in history:
        node = node_of(tree, positions[-1])
        following = [position for label, _, position in node.moves if str(label) == step.action]
        is_same_infoset = (step.player, step.infoset) == (node.player, node.infoset)
        if not following or (node.player >= 0 and not is_same_infoset):
            raise HogeqError(f"history: {step} is not possible under {rules.name}")
        positions.append(following[0])
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
        if before.mover == START:  # the coin: its move says who begins
            sentences.append(f"{step.action}.")
        elif after.dice is None:  # no dice are about to roll: the turn is over
            sentences.append(_turn_text(turns, before, after, int(step.action)))
    return " ".join(sentences)


def _turn_text(turns: TurnTable, before: TreePosition, after: TreePosition, action: int) -> str:
    """Write a turn as a sentence, by its last positions and the move between them.

    The move is the points that dice showed; of a turn without chance it is the player's choice.
    """
    rules = turns.rules
    throw = throw_of(rules, before.own, before.opponent, before.memory)
    dice = throw.dice(before.dice or action)
    points = action
    if dice == 0:  # by the rule for rolling no dice
        points = turns.branch_of_no_dice(before.own, before.opponent, throw.way_to_score).points
    elif dice < 0:  # a choice that rolls nothing, and has one outcome
        points = turns.branches(dice, throw)[0].points
    verb = "rolls" if dice >= 0 else "chooses"
    bonus = effect(rules, before.own, before.opponent, before.memory, dice).bonus
    bonus_text = f" and {bonus} more" if bonus else ""
    # Positions are seen by the player to move; sentences have the score of A first.
    scores = f"{after.own}-{after.opponent}"
    if after.mover != 0:
        scores = f"{after.opponent}-{after.own}"
    return f"{PLAYERS[before.mover]} {verb} {dice} for {points}{bonus_text}: {scores}."


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
    walked: Rules  # of the small game
    full: Rules  # of the game that is audited

    @classmethod
    def of(cls, full: Rules, goal: int | None = None, max_dice: int = 2) -> "SmallAudit":
        """Audit a game by a small one of at most the given goal and dice (:func:`small`)."""
        walked = small(full, goal, max_dice)
        return cls(audit(walked, full=full), walked, full)

    def _witness(self, witness: Witness | None) -> dict[str, Any] | None:
        """Convert a witness of the small game to plain values.

        It is two histories after which a player has one information set. Both are written in words
        of the full game, the one that is audited, if they are possible there, and lead there to the
        same scores; else in those of the small one.
        """
        if witness is None:
            return None
        in_full = shows(self.full, witness)
        rules = self.full if in_full else self.walked
        return {
            "at": list(cast("Any", witness.infoset)),
            "histories": [history_text(rules, path) for path in (witness.first, witness.second)],
            "note": witness.note,
            "in_full_game": in_full,
        }

    def to_json(self) -> dict[str, Any]:
        """Convert the audit to plain values: sizes; by name, ``forgets`` and ``properties``."""
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
                name: {
                    "holds": finding.holds,
                    "note": finding.note,
                    "witness": self._witness(finding.witness),
                }
                for name, finding in audit.findings.items()
            },
        }

    def text(self, title: str) -> Text:
        """Lay out the losses, a map of them if it fits, the properties and their witnesses."""
        audit, walked, full = self
        num_infosets = len(audit.infosets)
        histories = "all histories" if audit.whole else "the first turns of all histories"
        losses = [
            (LETTERS[kind], kind, f"{len(loss.infosets)} of {num_infosets}")
            for kind, loss in audit.forgets.items()
        ]
        heading = (
            f"Recall in {title}, where a player sees the scores: {histories} of the game to "
            f"{walked.goal} with 0 to {walked.max_dice} dice, {audit.histories:,} of them ending "
            f"in {num_infosets:,} information sets of player A"
        )
        names = ("", "forgotten", "information sets")
        text: Text = [heading, "", Table(losses, names, left=2), ""]
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
            (name, ", ".join(filter(None, (VERDICTS[finding.holds], finding.note))))
            for name, finding in audit.findings.items()
        ]
        text.append(Table(properties, ("property", "holds"), left=2))
        for witness, claims in audit.witnesses().items():  # what each witness shows
            values: Any = self._witness(witness)
            own, opponent = values["at"][:2]
            heading = f"{', '.join(claims)}: A to move at {own}-{opponent} after either of"
            text += witness.lines(heading, values["histories"])
            if (full.goal, full.max_dice) != (walked.goal, walked.max_dice):
                verdict = "both lead" if values["in_full_game"] else "they do not both lead"
                full_size = f"to {full.goal} with 0 to {full.max_dice} dice"
                text += indented([f"{full_size}: {verdict} there too"])
        return text

    def _map(self) -> Table:
        """Lay out the kinds of information forgotten at each pair of scores, by their letters."""
        scores = range(self.walked.size)
        rows = [(str(own), *(self._letters((own, other)) for other in scores)) for own in scores]
        header = ("own", *map(str, scores))
        return Table(rows, header, left=len(header))

    def _letters(self, scores: tuple[int, int]) -> str:
        """Write what is forgotten at a pair of scores: `-` for nothing, `.` if no play comes."""
        if scores not in self.audit.infosets:
            return "."
        return "".join(LETTERS[kind] for kind in self.audit.forgotten_at(scores)) or "-"
